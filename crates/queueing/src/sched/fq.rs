//! Fair queueing with new queues first: the scheduler of FQ-CoDel, with any AQM.
//!
//! Source: T. Hoeiland-Joergensen, P. McKenney, D. Taht, J. Gettys, E. Dumazet, RFC 8290, 2018, §4;
//! limits and batches are those of Linux (`tc-fq_codel(8)`).
//!
//! Idea: backlogged queues take turns by deficit: a queue may send while its credit is positive,
//! and gets a quantum more in each turn. A queue that was empty joins the list of new queues, which
//! is served before that of old queues, and moves to the old ones after its quantum or when it is
//! empty: flows that send less than a quantum per round hardly wait.
//!
//! Where there is no room, the queue with the most bytes loses half of them from its head, at most
//! `drop_batch` packets; its AQM is informed.
//!
//! Deviations: empty queues leave the lists as soon as all queues are empty, where Linux needs one
//! more call. The memory limit counts the bytes of packets, not of kernel buffers. Cost: O(1) per
//! packet; O(log n) while the limit is exceeded, where Linux scans all queues.

use std::collections::VecDeque;

use spillgate_core::{Limit, Packet, Rate, Size, Time};

use super::drr::{check_quantum, check_queues, default_quantum};
use super::flow_queue::{FlowQueue, FlowQueueSpec, Frame, Guard, Order, managed};
use super::flows::{Flows, Sorting};
use crate::aqm::AqmSpec;
use crate::guarantee::Load;
use crate::leaf::Bound;
use crate::line::{Line, Longest};
use crate::recipe::At;
use crate::share::{Meanwhile, Member, Others, sum};
use spillgate_core::Problem;

spillgate_core::spec! {
    /// Fair queueing with new queues first.
    pub struct FqSpec {
        /// Limit of all queues together. Default 10240 packets (RFC 8290 §5.2).
        pub limit: Limit = Limit::Packets(10_240),
        /// Limit of all queues together in bytes of packets, beside `limit`. Default 32 MiB
        /// (Linux).
        pub memory_limit: Size = Size(32 << 20),
        /// Number of queues into which flows are hashed, 1 to 65536. Default: each flow has its
        /// own.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1, max = 65536))]
        pub queues: Option<u32> = None,
        /// Bytes that a queue may send in its turn, 64 B to 1 MiB. Default 1514 B (RFC 8290
        /// §5.2), or the longest packet as the link counts it, whichever is more.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub quantum: Option<Size> = None,
        /// Packets that the longest queue loses at most when there is no room. Default 64 (Linux).
        #[schemars(range(min = 1))]
        pub drop_batch: u32 = 64,
        /// Active queue management of each queue. Default: none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub aqm: Option<AqmSpec> = None,
        /// The backlog that this AQM sees. Default `flow`.
        pub guard: Guard = Guard::Flow,
    }
}

impl FqSpec {
    /// The quantum on a line with this longest packet.
    pub fn turn(&self, longest: Longest) -> Size {
        self.quantum.unwrap_or_else(|| default_quantum(longest))
    }

    /// The fair queue without its AQM; `queues` is the key of their number.
    pub(super) fn frame(
        &self,
        name: &'static str,
        queues: &str,
        at: &mut At<'_>,
        line: &Line,
    ) -> Result<Frame<Lists>, Problem> {
        let rate = line.rate;
        at.bound("limit", self.limit, rate)?;
        at.check(
            self.memory_limit.0 > 0,
            "memory_limit",
            self.memory_limit,
            "nothing fits into it",
            "the default is 32 MiB",
        )?;
        if let Some(n) = self.queues {
            check_queues(n, queues, at)?;
        }
        at.check(
            self.drop_batch >= 1,
            "drop_batch",
            self.drop_batch,
            "at least one packet has to give",
            "the default is 64",
        )?;
        Ok(Frame {
            name,
            order: Lists {
                quantum: check_quantum(self.turn(line.longest), at)?,
                new: VecDeque::new(),
                old: VecDeque::new(),
            },
            sorting: Sorting::into_queues(self.queues),
            bound: self.bound(rate).in_4_gib(),
            batch: self.drop_batch,
            guard: self.guard,
        })
    }
}

impl FlowQueueSpec for FqSpec {
    fn resolve(&self, at: &mut At<'_>, line: &Line) -> Result<Box<dyn FlowQueue>, Problem> {
        let frame = self.frame("fq", "queues", at, line)?;
        managed(frame, self.aqm.as_ref(), at, line.rate)
    }

    fn bound(&self, rate: Rate) -> Bound {
        let bound = Bound::new(self.limit, rate);
        Bound {
            bytes: bound.bytes.min(self.memory_limit.0),
            ..bound
        }
    }

    fn aqm(&self) -> Option<AqmSpec> {
        self.aqm.clone()
    }

    fn limits(&self) -> Vec<(&'static str, Limit)> {
        vec![
            ("limit", self.limit),
            ("memory_limit", Limit::Bytes(self.memory_limit.0)),
        ]
    }

    fn quantum(&self) -> Option<Size> {
        self.quantum
    }
}

/// The scheduler's state of a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Credit {
    /// Bytes that it may send.
    pub(super) deficit: i32,
    /// It is in one of the two lists.
    listed: bool,
}

/// The lists of new and old queues.
#[derive(Clone, Debug)]
pub(crate) struct Lists {
    quantum: i32,
    /// Slots of new queues.
    pub(super) new: VecDeque<u32>,
    /// Slots of old queues: the others with packets, and some without.
    pub(super) old: VecDeque<u32>,
}

impl Lists {
    /// Removes the first queue from its list, and returns whether that is the list of new queues.
    #[inline]
    fn leave(&mut self) -> bool {
        let is_new = self.new.pop_front().is_some();
        if !is_new {
            self.old.pop_front();
        }
        is_new
    }
}

impl Order for Lists {
    type State = Credit;

    fn state(&self) -> Credit {
        Credit {
            deficit: 0,
            listed: false,
        }
    }

    #[inline]
    fn joins<V>(&mut self, flows: &mut Flows<Credit, V>, slot: u32, _: &Packet, _: Time) {
        let credit = &mut flows.at_mut(slot).own.sched;
        if !credit.listed {
            (credit.listed, credit.deficit) = (true, self.quantum);
            self.new.push_back(slot);
        }
    }

    #[inline]
    fn next<V>(&mut self, flows: &mut Flows<Credit, V>) -> Option<u32> {
        loop {
            let slot = *self.new.front().or_else(|| self.old.front())?;
            let credit = &mut flows.at_mut(slot).own.sched;
            if credit.deficit > 0 {
                return Some(slot);
            }
            credit.deficit += self.quantum;
            self.leave();
            self.old.push_back(slot);
        }
    }

    #[inline]
    fn charge<V>(
        &mut self,
        flows: &mut Flows<Credit, V>,
        slot: u32,
        packet: &Packet,
        _: Time,
    ) -> bool {
        let credit = &mut flows.at_mut(slot).own.sched;
        credit.deficit = credit.deficit.saturating_sub_unsigned(packet.len);
        false
    }

    #[inline]
    fn missed<V>(&mut self, flows: &mut Flows<Credit, V>, slot: u32) -> bool {
        if self.leave() && !self.old.is_empty() {
            // So that it does not become new again before the old ones had their turn (RFC 8290
            // §4.2).
            self.old.push_back(slot);
            return false;
        }
        flows.at_mut(slot).own.sched.listed = false;
        true
    }

    fn pushed_out<V>(&mut self, _: &mut Flows<Credit, V>, _: u32) {}

    fn withdraw<V>(&mut self, flows: &mut Flows<Credit, V>, _: Time) -> Option<u32> {
        let slot = self.new.pop_front().or_else(|| self.old.pop_front())?;
        flows.at_mut(slot).own.sched.listed = false;
        Some(slot)
    }

    fn clear(&mut self) {
        self.new.clear();
        self.old.clear();
    }

    /// Between two turns of a queue another one may end its turn as an old queue with credit left,
    /// leave, and come back as a new one, with a whole quantum, once: then it is behind. So it
    /// sends up to two quanta less a byte, and in the end a packet less a byte on credit.
    ///
    /// A queue of n whole turns has sent n - 1 quanta at least, if it began with credit. If it had
    /// none, what it had overspent is less; but then it is first, and other queues can only be new
    /// until it has moved.
    fn meanwhile(&self, own: &Member, others: &Others, _: bool, _: &Load) -> Vec<Meanwhile> {
        let quantum = u64::from(self.quantum.unsigned_abs());
        let twice = 2 * u128::from(quantum) - 1;
        let overspent = sum(others, |m| u128::from(m.longest) - 1);
        let queues = sum(others, |_| 1);
        let turns = |first: u128, early| Meanwhile::Turns {
            ahead: queues * first + overspent,
            turn: quantum,
            early,
            others: queues * twice,
        };
        vec![
            turns(twice, quantum.max(own.longest) - 1),
            turns(twice + u128::from(quantum), own.longest - 1),
        ]
    }

    fn head<'f, V>(&self, flows: &'f Flows<Credit, V>) -> Option<&'f Packet> {
        // The first queue that has credit, in the first round in which any has.
        let (mut least, mut found) = (i32::MAX, None);
        for slot in self.new.iter().chain(&self.old) {
            let Some(head) = flows.head(*slot) else {
                continue;
            };
            let deficit = flows.at(*slot).own.sched.deficit;
            if deficit > 0 {
                return Some(head);
            }
            let rounds = (-deficit).div_euclid(self.quantum) + 1;
            if rounds < least {
                (least, found) = (rounds, Some(head));
            }
        }
        found
    }
}
