//! Flows: what their packets carry, where they come from and where they go.

use spillgate_core::{Dscp, Ecn, Rng, Time};
use spillgate_endpoints::source::spec::SourceSpec;
use spillgate_endpoints::source::{Emission, Source, Split};

/// A flow. The flows of the plan come first, then the flows of acknowledgments, and of the data and
/// the acknowledgments of sessions.
pub(crate) struct Flow {
    pub(crate) origin: Origin,
    /// Its meter; [`NO_METER`] for acknowledgments.
    pub(crate) meter: u32,
    /// The index in `hops` at which its path begins.
    pub(crate) begin: u32,
    /// The word there: its first link, [`ARRIVED`](crate::engine::ARRIVED) or
    /// [`ROUTED`](crate::engine::ROUTED).
    pub(crate) first: u32,
    pub(crate) hash: u32,
    pub(crate) seq: u32,
    pub(crate) dscp: Dscp,
    pub(crate) ecn: Ecn,
    /// When its end of a connection wakes next, [`Time::MAX`] for never.
    pub(crate) wake: Time,
}

/// In place of a meter: the flow is not measured.
pub(crate) const NO_METER: u32 = u32::MAX;

/// Where a flow's packets come from, by number.
#[derive(Clone, Copy)]
pub(crate) enum Origin {
    /// A source that does not listen to the network.
    Open(u32),
    /// A workload, whose sessions' packets belong to flows of their own.
    Workload(u32),
    /// The sender of a connection.
    Data(u32),
    /// The receiver of a connection.
    Acknowledgments(u32),
    /// A capture, whose packets belong to flows of their own.
    Replay(u32),
    /// Packets of a capture, which wakes as [`Origin::Replay`].
    Replayed,
}

/// An open-loop source with its stream of random numbers.
pub(crate) struct OpenLoop {
    source: Source,
    rng: Rng,
    /// Length of the packet that it sends next.
    pub(crate) next_len: u16,
    stop: Time,
    /// It keeps a queue of a switch filled, and its packets begin there.
    pub(crate) is_backlogged: bool,
    /// Which of the packets it sends, if not all.
    split: Option<Box<Split>>,
}

impl OpenLoop {
    pub(crate) fn new(spec: &SourceSpec, rng: Rng, start: Time, stop: Time) -> Self {
        Self {
            source: Source::new(spec, start),
            rng,
            next_len: 0,
            stop,
            is_backlogged: matches!(spec, SourceSpec::Backlogged(_)),
            split: None,
        }
    }

    /// Only what `split` says is sent, and nothing from `horizon` on: what comes of a rare part is
    /// looked for no further.
    pub(crate) fn only(self, split: Split, horizon: Time) -> Self {
        Self {
            stop: self.stop.min(horizon),
            split: Some(Box::new(split)),
            ..self
        }
    }

    /// Whether it has stopped by `now`.
    pub(crate) fn is_over(&self, now: Time) -> bool {
        now >= self.stop
    }

    /// The next packet that it sends; none once it has stopped.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Emission> {
        loop {
            let e = self.source.next(&mut self.rng)?;
            if e.at >= self.stop {
                return None;
            }
            if self.split.as_mut().is_none_or(|s| s.is_own()) {
                return Some(e);
            }
        }
    }
}
