//! The step: marks what finds more than a threshold waiting.
//!
//! Source: S. Bensley, D. Thaler, P. Balasubramanian, L. Eggert, G. Judd, RFC 8257 (DCTCP), 2017,
//! §3.1; M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, §3.1, where an arriving
//! packet is marked if the queue is longer than K when it comes.
//!
//! Idea: the instantaneous queue, without an average and without randomness. Senders that react to
//! the share of marked packets need no more. Cost: O(1) per packet.

use spillgate_core::{DropReason, Limit, Packet, Problem, Rate, Time, Verdict};

use super::{Automaton, Backlog, Draw, LeafFacts};
use crate::Thresholds;
use crate::leaf::Bound;
use crate::recipe::At;

spillgate_core::spec! {
    /// Parameters of the step.
    pub struct StepSpec {
        /// How much has to wait at most for what arrives to pass, in packets, bytes or time; a time
        /// is the bytes that the queue's rate sends in it. Default 20 packets (K of 1 Gb/s in the
        /// paper; 65 at 10 Gb/s).
        pub threshold: Limit = Limit::Packets(20),
        /// The packet that arrives counts, too. Default false (the paper).
        pub counts_arriving: bool = false,
        /// Mark ECN-capable packets instead of dropping them. Default true.
        pub ecn: bool = true,
    }
}

impl StepSpec {
    /// The same as lower and upper threshold.
    pub(super) fn thresholds(&self, _: Limit, rate: Rate) -> Vec<Thresholds> {
        let bound = Bound::new(self.threshold, rate);
        let in_bytes = bound.packets == u32::MAX;
        let at = match in_bytes {
            true => bound.bytes as f64,
            false => f64::from(bound.packets),
        };
        vec![Thresholds {
            min: at,
            max: at,
            in_bytes,
            probability: 1.0,
            written: true,
            ..Thresholds::default()
        }]
    }

    pub(super) fn resolve(&self, at: &mut At<'_>, leaf: &LeafFacts) -> Result<Step, Problem> {
        let threshold = at.bound("threshold", self.threshold, leaf.rate)?;
        Ok(Step {
            threshold,
            counts_arriving: self.counts_arriving,
            ecn: self.ecn,
        })
    }
}

/// A running step. It remembers nothing of a queue.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    threshold: Bound,
    counts_arriving: bool,
    ecn: bool,
}

impl Automaton for Step {
    type Vars = ();

    fn vars(&self) {}

    #[inline]
    fn arrival<D: Draw>(
        &mut self,
        (): &mut (),
        _: Time,
        backlog: &Backlog,
        packet: &Packet,
        _: &mut D,
    ) -> Verdict {
        let (own, len) = match self.counts_arriving {
            true => (1.0, f64::from(packet.len)),
            false => (0.0, 0.0),
        };
        // Without a limit in packets, or in bytes, that is the largest number.
        let below = backlog.measure_packets() + own <= f64::from(self.threshold.packets)
            && backlog.measure_bytes() + len <= self.threshold.bytes as f64;
        if below {
            Verdict::Pass
        } else if self.ecn && packet.ecn.is_capable() {
            Verdict::Mark
        } else {
            Verdict::Drop(DropReason::Early)
        }
    }

    fn is_new(&self, (): &()) -> bool {
        true
    }

    fn decides_by_packets(&self) -> bool {
        self.threshold.bytes == u64::MAX
    }

    fn upstream_use(&self) -> super::UpstreamUse {
        super::UpstreamUse::Length
    }
}
