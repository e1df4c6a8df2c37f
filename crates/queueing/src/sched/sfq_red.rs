//! RED in each queue of SFQ, as Linux has it (`redflowlimit`).
//!
//! Source: Linux 6.18 (net/sched/sch_sfq.c), `tc-sfq(8)`.
//!
//! A packet that finds its queue empty is not judged, and the average begins anew with it, so that
//! no average ever decays. With `headdrop` the packet at the head is marked or dropped in the place
//! of the one that arrives, if it can be.
//!
//! Deviation: when the hash is changed averages begin anew.

use spillgate_core::{DropReason, Dropped, Ecn, Packet, Problem, Rng, Time, Verdict};

use crate::aqm::{AqmSpec, Automaton, Backlog, Early, LeafFacts, Red, RedIdle};
use crate::evidence::Cause;
use crate::leaf::Bound;
use crate::line::Line;
use crate::recipe::At;

/// What becomes of an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Judged {
    Pass,
    /// It is marked.
    Mark,
    /// The packet at the head of its queue is marked.
    MarkHead,
    /// One of the queue is dropped.
    Drop(DropReason),
}

/// RED, and its state of each queue.
#[derive(Clone, Debug)]
pub(super) struct SfqRed {
    red: Early<Red>,
    vars: Vec<<Early<Red> as Automaton>::Vars>,
}

impl SfqRed {
    /// Checks the AQM of an SFQ with this limit.
    pub(super) fn new(
        aqm: &AqmSpec,
        at: &mut At<'_>,
        line: &Line,
        bound: &Bound,
    ) -> Result<Self, Problem> {
        let facts = LeafFacts {
            rate: line.rate,
            max_packets: bound.max_packets(),
            limit: bound.as_limit(),
        };
        at.key("aqm", |at| {
            let AqmSpec::Red(spec) = aqm else {
                let hint = "`drr` and `fq` take any AQM";
                return Err(at.error(
                    "",
                    aqm.kind(),
                    "queues of SFQ have RED alone, or none",
                    hint,
                ));
            };
            at.key("red", |at| {
                at.check(
                    spec.idle == RedIdle::default(),
                    "idle",
                    "none",
                    "a queue of SFQ forgets its average when it is empty",
                    "leave it out",
                )?;
                let red = spec
                    .resolve(at, &facts)
                    .map_err(|problem| problem.cite(aqm.source()))?;
                let vars = Vec::new();
                Ok(Self { red, vars })
            })
        })
    }

    /// The queue in this slot gets its first packet.
    pub(super) fn begin(&mut self, slot: u32) {
        let slot = slot as usize;
        if self.vars.len() <= slot {
            self.vars.resize(slot + 1, self.red.vars());
        }
        self.vars[slot] = self.red.vars();
    }

    /// Judges a packet that finds so much in its queue. `head` is the field of the packet at the
    /// head, where that gives.
    pub(super) fn judge(
        &mut self,
        slot: u32,
        (packets, bytes): (u32, u64),
        (packet, head): (&Packet, Option<Ecn>),
        now: Time,
        rng: &mut Rng,
    ) -> Judged {
        let backlog = Backlog {
            packets,
            bytes,
            ..Backlog::default()
        };
        let head = head.filter(|ecn| ecn.is_capable());
        let ecn = head.unwrap_or(packet.ecn);
        let judged = Packet { ecn, ..*packet };
        let vars = &mut self.vars[slot as usize];
        match self.red.arrival(vars, now, &backlog, &judged, rng) {
            Verdict::Pass => Judged::Pass,
            Verdict::Mark if head.is_some() => Judged::MarkHead,
            Verdict::Mark => Judged::Mark,
            Verdict::Drop(reason) => Judged::Drop(reason),
        }
    }

    /// Takes the thresholds of the same SFQ at another rate.
    pub(super) fn retune(&mut self, fresh: &Self) {
        self.red = fresh.red.clone();
    }

    /// Why it dropped a packet.
    pub(super) fn cause(&self, lost: &Dropped) -> Option<Cause> {
        self.red.cause(&lost.packet)
    }

    /// Memory of a queue in bytes.
    pub(super) const fn queue_bytes() -> usize {
        std::mem::size_of::<<Early<Red> as Automaton>::Vars>()
    }
}
