//! An AQM written by a user of the crate.

use std::fmt::Debug;

use spillgate_core::{DropReason, Packet, Rate, Time, Verdict};

use super::automaton::{Automaton, Backlog, Draw, DropStage};
use super::drain::{DrainRate, DrainRule};
use super::upstream::{Upstream, UpstreamUse};
use crate::stats::State;

/// An AQM of your own with its state of one queue: see [`crate::Recipe::manage`].
///
/// It is asked when a packet arrives and again when one is to leave; the queue executes the
/// verdict. A packet that is to be marked, but is not ECN-capable, is dropped.
///
/// ```
/// use std::sync::Arc;
///
/// use spillgate_core::{DropReason, Drops, Packet, Rate, Rng, Time, Verdict};
/// use spillgate_queueing::{Backlog, CustomAqm, Draw, Recipe};
///
/// /// Drops every tenth packet that arrives.
/// #[derive(Clone, Debug, Default)]
/// struct EveryTenth(u32);
///
/// impl CustomAqm for EveryTenth {
///     fn arrival(&mut self, _: Time, _: &Backlog, _: &Packet, _: &mut dyn Draw) -> Verdict {
///         self.0 += 1;
///         if self.0 % 10 == 0 { Verdict::Drop(DropReason::Early) } else { Verdict::Pass }
///     }
///     fn boxed(&self) -> Box<dyn CustomAqm> {
///         Box::new(self.clone())
///     }
/// }
///
/// // In a FIFO, and in each queue of a fair queue.
/// for (kind, lost) in [("fifo", 4), ("drr", 2 + 1)] {
///     let spec = serde_json::from_str(&format!(r#"{{"{kind}": {{"limit": "100 packets"}}}}"#))?;
///     let (mut recipe, _) = Recipe::of(spec, Rate::from_bps(10_000_000).unwrap())?;
///     recipe.manage(kind, Box::new(EveryTenth::default()))?;
///     let mut port = recipe.build(&Arc::from([]));
///     let (mut rng, mut drops) = (Rng::from_key(1), Drops::new());
///     for seq in 0..40 {
///         // Two flows, of 25 and 15 packets.
///         let packet = Packet::new(u32::from(seq < 15), seq, 1000);
///         port.enqueue(Time::ZERO, packet, &mut rng, &mut drops);
///     }
///     assert_eq!(drops.as_slice().len(), lost);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait CustomAqm: Debug + Send + Sync {
    /// The verdict on an arriving packet, with the backlog before it. The hard limit of the queue
    /// is checked after it.
    fn arrival(
        &mut self,
        _now: Time,
        _backlog: &Backlog,
        _packet: &Packet,
        _draw: &mut dyn Draw,
    ) -> Verdict {
        Verdict::Pass
    }
    /// The verdict on a packet that is about to leave, with the backlog behind it. After a drop it
    /// is asked about the next packet; it may drop all of them.
    fn departure(
        &mut self,
        _now: Time,
        _backlog: &Backlog,
        _packet: &Packet,
        _draw: &mut dyn Draw,
    ) -> Verdict {
        Verdict::Pass
    }
    /// What it takes into account of queues in front of its own, at the inputs of a switch.
    fn upstream_use(&self) -> UpstreamUse {
        UpstreamUse::Nothing
    }
    /// `bytes` arrived in front of its queue, whether they were lost there or not.
    fn upstream_arrival(&mut self, _now: Time, _upstream: &Upstream, _bytes: u32) {}
    /// Its queue is guaranteed this rate from now on: before the first packet, and where the rate
    /// of the port changes. A rate is told to AQMs that a scenario names.
    fn set_rate(&mut self, _rate: Rate) {}
    /// The hard limit refused the packet that was just passed.
    fn overflowed(&mut self) {}
    /// That many packets were dropped from the head of the queue, one of a fair queue, to make
    /// room.
    fn pushed_out(&mut self, _packets: u32) {}
    /// The last packet of the queue left. Called a second time when the end of its transmission is
    /// known, with that time.
    fn emptied(&mut self, _at: Time) {}
    /// A departure found no packet to send, since all were dropped.
    fn exhausted(&mut self, _now: Time) {}
    /// What time series show of it at `now`, in a FIFO or in a class: always the same names, each
    /// that of a series in the catalog of `spillgate-measure`, such as `drop_probability`. A run
    /// that samples panics at any other.
    fn state(&self, _now: Time) -> State {
        State::new()
    }
    /// Whether the state of its queue, which is empty, is equivalent to a new one. A fair queue
    /// forgets such queues, and keeps the state of all others.
    fn is_new(&self) -> bool {
        false
    }
    /// A copy: for a clone of the discipline, and in its initial state for each queue of a fair
    /// queue.
    fn boxed(&self) -> Box<dyn CustomAqm>;
}

/// Why a part that a user wrote ended the run: what [`fail`] was given, as the cause of a panic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnFault(pub String);

/// Ends the run of a custom AQM or discipline that cannot go on; `why` is a sentence for the user.
/// It unwinds as a panic does, without its message.
pub fn fail(why: impl Into<String>) -> ! {
    std::panic::resume_unwind(Box::new(OwnFault(why.into())))
}

impl Clone for Box<dyn CustomAqm> {
    fn clone(&self) -> Self {
        (**self).boxed()
    }
}

/// A custom AQM in its initial state, as an automaton.
#[derive(Clone, Debug)]
pub(crate) struct Custom {
    aqm: Box<dyn CustomAqm>,
    /// The rate that its queue is guaranteed, if it is to be told.
    rate: Option<Rate>,
    ecn: bool,
}

impl Custom {
    /// For a queue that is guaranteed this rate; without `ecn` its marks are drops.
    pub(crate) fn new(aqm: Box<dyn CustomAqm>, rate: Rate, ecn: bool) -> Self {
        Self {
            rate: Some(rate),
            ecn,
            ..Self::from(aqm)
        }
    }

    /// Turns a mark on a packet that is not ECN-capable into a drop.
    fn for_packet(&self, verdict: Verdict, packet: &Packet) -> Verdict {
        match verdict {
            Verdict::Mark if !(self.ecn && packet.ecn.is_capable()) => {
                Verdict::Drop(DropReason::Early)
            }
            verdict => verdict,
        }
    }
}

impl From<Box<dyn CustomAqm>> for Custom {
    fn from(aqm: Box<dyn CustomAqm>) -> Self {
        Self {
            aqm,
            rate: None,
            ecn: true,
        }
    }
}

/// A custom AQM of one queue, with the drain rate of that queue.
#[derive(Clone, Debug)]
pub(crate) struct CustomVars {
    aqm: Box<dyn CustomAqm>,
    drain: DrainRate,
    /// The rate that it was told.
    told: Option<Rate>,
}

impl CustomVars {
    /// The AQM, which knows the rate.
    fn at(&mut self, rate: Option<Rate>) -> &mut dyn CustomAqm {
        if self.told != rate {
            self.told = rate;
            if let Some(rate) = rate {
                self.aqm.set_rate(rate);
            }
        }
        &mut *self.aqm
    }
}

impl Automaton for Custom {
    type Vars = CustomVars;

    const JUDGES_DEPARTURES: bool = true;
    const ASKS_HEAD: bool = true;

    fn vars(&self) -> Self::Vars {
        CustomVars {
            aqm: self.aqm.boxed(),
            drain: DrainRate::UNKNOWN,
            told: None,
        }
    }

    fn arrival<D: Draw>(
        &mut self,
        vars: &mut Self::Vars,
        now: Time,
        backlog: &Backlog,
        packet: &Packet,
        draw: &mut D,
    ) -> Verdict {
        let verdict = vars.at(self.rate).arrival(now, backlog, packet, draw);
        self.for_packet(verdict, packet)
    }

    fn departure<D: Draw>(
        &mut self,
        vars: &mut Self::Vars,
        _: &mut DropStage,
        now: Time,
        backlog: &Backlog,
        packet: &Packet,
        draw: &mut D,
    ) -> Verdict {
        let verdict = vars.at(self.rate).departure(now, backlog, packet, draw);
        let verdict = self.for_packet(verdict, packet);
        if !matches!(verdict, Verdict::Drop(_)) {
            vars.drain
                .left(DrainRule::Linux, now, packet.len, backlog.bytes);
        }
        verdict
    }

    fn overflowed(&self, vars: &mut Self::Vars) {
        vars.aqm.overflowed();
    }

    fn pushed_out(&self, vars: &mut Self::Vars, packets: u32) {
        vars.aqm.pushed_out(packets);
    }

    fn emptied(&self, vars: &mut Self::Vars, at: Time) {
        vars.aqm.emptied(at);
    }

    fn exhausted(&self, vars: &mut Self::Vars, now: Time, _: DropStage) {
        vars.aqm.exhausted(now);
    }

    fn is_new(&self, vars: &Self::Vars) -> bool {
        vars.aqm.is_new()
    }

    fn upstream_use(&self) -> UpstreamUse {
        self.aqm.upstream_use()
    }

    fn upstream_arrival(&self, vars: &mut CustomVars, now: Time, upstream: &Upstream, bytes: u32) {
        vars.aqm.upstream_arrival(now, upstream, bytes);
    }

    fn state(&self, vars: &Self::Vars, now: Time) -> State {
        vars.aqm.state(now)
    }

    fn drain_rate(&self, vars: &Self::Vars) -> Option<f64> {
        vars.drain.bytes_per_sec()
    }
}
