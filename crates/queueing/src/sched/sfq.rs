//! Stochastic fairness queueing (SFQ), as Linux has it.
//!
//! Sources: P. McKenney, "Stochastic Fairness Queueing", INFOCOM 1990; Linux 6.18
//! (net/sched/sch_sfq.c), `tc-sfq(8)`.
//!
//! Idea: flows are hashed into few queues, which take turns. A queue sends while its allotment is
//! positive, and pays for a packet after it was sent, so it may overdraw; a queue whose allotment
//! is not positive gets a quantum and waits for its next turn. A new queue joins at the end, with a
//! quantum. Now and then the hash is changed, so that flows that collide part.
//!
//! A queue holds `depth` packets at most. Where there is no room, the longest queue in packets, of
//! several the one that became so long last, loses its last packet, or its first one with
//! `headdrop`. If all hold one packet, the queue whose turn is next loses it.
//!
//! With `as: ns2` it follows ns-2.35 (queue/sfq.cc): queues send a packet in each turn, and what
//! arrives is dropped where its queue has half as many packets as there are places left, or more
//! than its part of the limit while fewer places are left than there are queues.
//!
//! Deviations: the hash is changed when the first packet arrives after `perturb`, at multiples of
//! it since the start of the run; packets that do not fit into their new queues are then pushed
//! out, as in Linux. Cost: O(1) per packet; O(n) when the hash is changed.

use std::any::Any;
use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::rng::mix;
use spillgate_core::{
    DropReason, Dropped, Dscp, Dur, Ecn, Limit, Packet, Problem, Rate, Size, Time,
};

use super::drr::{check_quantum, default_quantum};
use super::flow_queue::{FlowQueue, FlowQueueSpec};
use super::sfq_red::{Judged, SfqRed};
use crate::aqm::AqmSpec;
use crate::evidence::{Cause, QueueLimit};
use crate::guarantee::{Load, Reason};
use crate::leaf::Bound;
use crate::line::{Line, Longest};
use crate::recipe::At;
use crate::share::{Fairness, Meanwhile, Member, Others};
use crate::stats::{Cx, State};

/// Implementations of SFQ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SfqVariant {
    /// ns-2.35: turns of a packet, and a part of the limit for each queue, of which there are
    /// `divisor`. ns-2 itself has `limit` 40 packets and `divisor` 16 where nothing else is said.
    Ns2,
}

spillgate_core::spec! {
    /// Stochastic fairness queueing.
    pub struct SfqSpec {
        /// The implementation that is followed. Default: Linux.
        #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
        pub variant: Option<SfqVariant> = None,
        /// Bytes that a queue may send in its turn, 64 B to 1 MiB. Default 1514 B, the longest
        /// packet of Ethernet, or the longest packet as the link counts it, whichever is more.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub quantum: Option<Size> = None,
        /// Limit of all queues together, at least 2 packets. Default 127 packets (Linux).
        pub limit: Limit = Limit::Packets(127),
        /// Packets that a queue holds at most, 1 to 65535. Default 127 (Linux).
        #[schemars(range(min = 1, max = 65535))]
        pub depth: u32 = 127,
        /// Queues that may hold packets at the same time, 1 to 65408. Default 128 (Linux).
        #[schemars(range(min = 1, max = 65408))]
        pub flows: u32 = 128,
        /// Values of the hash, a power of two up to 65536; with `ns2` any number up to that.
        /// Default 1024 (Linux).
        #[schemars(range(min = 1, max = 65536))]
        pub divisor: u32 = 1024,
        /// Time after which the hash is changed. Default: never (Linux).
        #[serde(skip_serializing_if = "Option::is_none")]
        pub perturb: Option<Dur> = None,
        /// Drop the first packet of a queue, which has waited longest, not its last. Default false
        /// (Linux).
        pub headdrop: bool = false,
        /// RED in each queue (Linux `redflowlimit`); no other AQM. Default: none (Linux).
        #[serde(skip_serializing_if = "Option::is_none")]
        pub aqm: Option<AqmSpec> = None,
    }
}

impl SfqSpec {
    /// The quantum on a line with this longest packet.
    pub fn turn(&self, longest: Longest) -> Size {
        self.quantum.unwrap_or_else(|| default_quantum(longest))
    }

    fn running(&self, at: &mut At<'_>, line: &Line) -> Result<Sfq, Problem> {
        let bound = at.bound("limit", self.limit, line.rate)?;
        at.check(
            bound.packets > 1,
            "limit",
            self.limit,
            "with room for one packet the one that arrives would have to give (Linux refuses it)",
            "the default is 127 packets",
        )?;
        at.check(
            (1..=65_535).contains(&self.depth),
            "depth",
            self.depth,
            "a queue must hold from 1 to 65535 packets",
            "the default is 127",
        )?;
        at.check(
            (1..=65_408).contains(&self.flows),
            "flows",
            self.flows,
            "the number of queues must be from 1 to 65408",
            "the default is 128",
        )?;
        if self.variant == Some(SfqVariant::Ns2) {
            self.check_ns2(at)
                .map_err(|problem| problem.cite(Some("ns-2")))?;
            return Ok(Sfq::new(self, 1, bound, None));
        }
        at.check(
            self.divisor.is_power_of_two() && self.divisor <= 65_536,
            "divisor",
            self.divisor,
            "the number of values of the hash must be a power of two up to 65536",
            "the default is 1024",
        )?;
        if let Some(perturb) = self.perturb {
            at.check(
                perturb >= Dur::from_ms(1),
                "perturb",
                perturb,
                "the hash cannot be changed more often than each millisecond",
                "the usual value is 10 s; leave it out to keep the hash",
            )?;
        }
        let quantum = check_quantum(self.turn(line.longest), at)?;
        let red = match &self.aqm {
            None => None,
            Some(aqm) => Some(SfqRed::new(aqm, at, line, &bound)?),
        };
        Ok(Sfq::new(self, quantum, bound, red))
    }

    /// ns-2 has a number of queues and a limit in packets, and nothing else.
    fn check_ns2(&self, at: &At<'_>) -> Result<(), Problem> {
        at.check(
            matches!(self.limit, Limit::Packets(_)),
            "limit",
            self.limit,
            "the limit of ns-2 is in packets",
            "that of ns-2 is 40 packets",
        )?;
        at.check(
            (1..=65_536).contains(&self.divisor),
            "divisor",
            self.divisor,
            "the number of queues must be from 1 to 65536",
            "that of ns-2 is 16",
        )?;
        let usual = Self::default();
        let others = [
            ("quantum", self.quantum.map(|q| q.to_string())),
            ("depth", other(self.depth, usual.depth)),
            ("flows", other(self.flows, usual.flows)),
            ("perturb", self.perturb.map(|p| p.to_string())),
            ("headdrop", other(self.headdrop, usual.headdrop)),
            ("aqm", self.aqm.as_ref().map(|a| a.kind().to_owned())),
        ];
        for (key, found) in others {
            let Some(found) = found else { continue };
            let hint = format!("leave `{key}` or `as` out");
            return Err(at.error(key, found, "the SFQ of ns-2 has no such parameter", &hint));
        }
        Ok(())
    }
}

impl FlowQueueSpec for SfqSpec {
    fn resolve(&self, at: &mut At<'_>, line: &Line) -> Result<Box<dyn FlowQueue>, Problem> {
        Ok(Box::new(self.running(at, line)?))
    }

    fn bound(&self, rate: Rate) -> Bound {
        Bound::new(self.limit, rate)
    }

    fn aqm(&self) -> Option<AqmSpec> {
        self.aqm.clone()
    }

    fn limits(&self) -> Vec<(&'static str, Limit)> {
        vec![("limit", self.limit)]
    }

    fn quantum(&self) -> Option<Size> {
        self.quantum
    }
}

/// A value that is not the usual one.
fn other<T: PartialEq + ToString>(value: T, usual: T) -> Option<String> {
    (value != usual).then(|| value.to_string())
}

const NONE: u32 = u32::MAX;

/// A queue.
#[derive(Clone, Debug)]
struct Slot {
    packets: VecDeque<Packet>,
    bytes: u64,
    /// Bytes that it may send in its turn.
    allot: i64,
    /// The value of the hash that it is for.
    value: u32,
    /// Its neighbors in the list of queues of the same length.
    before: u32,
    behind: u32,
}

/// A running SFQ.
#[derive(Clone, Debug)]
pub(crate) struct Sfq {
    quantum: i64,
    bound: Bound,
    variant: Option<SfqVariant>,
    depth: u32,
    perturb: Option<Dur>,
    headdrop: bool,
    red: Option<SfqRed>,
    /// Drawn with the first packet.
    salt: Option<u64>,
    /// When the hash is changed.
    changes: Time,
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// The queue of each value of the hash.
    table: Vec<u32>,
    /// Queues with packets, in the order of their turns.
    round: VecDeque<u32>,
    /// The first queue of each length, and the largest length.
    lengths: Vec<u32>,
    longest: u32,
    packets: u32,
    bytes: u64,
}

impl Sfq {
    fn new(spec: &SfqSpec, quantum: i32, bound: Bound, red: Option<SfqRed>) -> Self {
        let slot = Slot {
            packets: VecDeque::new(),
            bytes: 0,
            allot: 0,
            value: 0,
            before: NONE,
            behind: NONE,
        };
        // No more queues are in use than there are values, or packets with the one that arrives.
        let most = bound.packets.saturating_add(1);
        let (flows, depth) = match spec.variant {
            None => (spec.flows, spec.depth),
            Some(SfqVariant::Ns2) => (spec.divisor, bound.packets),
        };
        let flows = flows.min(spec.divisor).min(most);
        Self {
            quantum: quantum.into(),
            bound,
            variant: spec.variant,
            depth,
            perturb: spec.perturb,
            headdrop: spec.headdrop,
            red,
            salt: None,
            changes: Time::MAX,
            slots: vec![slot; flows as usize],
            free: (0..flows).rev().collect(),
            table: vec![NONE; spec.divisor as usize],
            round: VecDeque::new(),
            lengths: vec![NONE; depth as usize + 1],
            longest: 0,
            packets: 0,
            bytes: 0,
        }
    }

    /// The value of the hash of a packet.
    fn value(&self, packet: &Packet) -> u32 {
        let mixed = mix(u64::from(packet.hash) ^ self.salt.unwrap_or(0));
        (mixed % self.table.len() as u64) as u32
    }

    /// The queue of a packet, if it has one or may get one.
    fn slot(&mut self, packet: &Packet) -> Option<u32> {
        let value = self.value(packet);
        let found = self.table[value as usize];
        if found != NONE {
            return Some(found);
        }
        let slot = self.free.pop()?;
        self.table[value as usize] = slot;
        self.slots[slot as usize].value = value;
        Some(slot)
    }

    fn len(&self, slot: u32) -> u32 {
        self.slots[slot as usize].packets.len() as u32
    }

    /// A queue, which had `from` packets, is the first of those of its present length.
    fn relist(&mut self, slot: u32, from: u32) {
        let to = self.len(slot);
        let Slot { before, behind, .. } = self.slots[slot as usize];
        if from > 0 {
            match before {
                NONE => self.lengths[from as usize] = behind,
                before => self.slots[before as usize].behind = behind,
            }
            if behind != NONE {
                self.slots[behind as usize].before = before;
            }
        }
        if to > 0 {
            let next = std::mem::replace(&mut self.lengths[to as usize], slot);
            if next != NONE {
                self.slots[next as usize].before = slot;
            }
            let own = &mut self.slots[slot as usize];
            (own.before, own.behind) = (NONE, next);
        }
        self.longest = self.longest.max(to);
        while self.longest > 0 && self.lengths[self.longest as usize] == NONE {
            self.longest -= 1;
        }
    }

    fn append(&mut self, slot: u32, packet: Packet) {
        let own = &mut self.slots[slot as usize];
        own.bytes += u64::from(packet.len);
        own.packets.push_back(packet);
        self.packets += 1;
        self.bytes += u64::from(packet.len);
        let len = self.len(slot);
        if len == 1 {
            self.slots[slot as usize].allot = self.quantum;
            self.round.push_back(slot);
        }
        self.relist(slot, len - 1);
    }

    /// Takes the first packet of a queue out, or the last.
    fn take(&mut self, slot: u32, first: bool) -> Option<Packet> {
        let own = &mut self.slots[slot as usize];
        let packet = match first {
            true => own.packets.pop_front()?,
            false => own.packets.pop_back()?,
        };
        own.bytes -= u64::from(packet.len);
        let value = own.value as usize;
        self.packets -= 1;
        self.bytes -= u64::from(packet.len);
        let len = self.len(slot);
        self.relist(slot, len + 1);
        if len == 0 {
            self.table[value] = NONE;
            self.free.push(slot);
            if self.round.front() == Some(&slot) {
                self.round.pop_front();
            } else {
                self.round.retain(|s| *s != slot);
            }
        }
        Some(packet)
    }

    /// Lets RED see a packet that arrives at its queue, and mark it or the first one there. Returns
    /// why one has to be dropped.
    fn early(
        &mut self,
        slot: u32,
        packet: &mut Packet,
        marked: &mut bool,
        cx: &mut Cx<'_>,
    ) -> Option<DropReason> {
        let red = self.red.as_mut()?;
        let own = &mut self.slots[slot as usize];
        let backlog = (own.packets.len() as u32, own.bytes);
        let Some(head) = own.packets.front_mut() else {
            red.begin(slot);
            return None;
        };
        let gives = self.headdrop.then_some(head.ecn);
        match red.judge(slot, backlog, (packet, gives), cx.now, cx.rng) {
            Judged::Pass => None,
            Judged::Mark => {
                (packet.ecn, *marked) = (Ecn::Ce, true);
                None
            }
            Judged::MarkHead => {
                head.ecn = Ecn::Ce;
                cx.marked(head);
                None
            }
            Judged::Drop(reason) => Some(reason),
        }
    }

    /// Whether a queue takes no more packets.
    fn is_full(&self, slot: u32) -> bool {
        let used = self.len(slot);
        match self.variant {
            None => used >= self.depth,
            Some(SfqVariant::Ns2) => {
                let left = self.bound.packets.saturating_sub(self.packets);
                let queues = self.table.len() as u32;
                used >= left / 2 || left < queues && used > self.bound.packets / queues
            }
        }
    }

    /// The queue that has to give.
    fn victim(&self) -> Option<u32> {
        match self.longest {
            0 | 1 => self.round.front().copied(),
            most => Some(self.lengths[most as usize]),
        }
    }

    /// Changes the hash, if that is due.
    fn change(&mut self, cx: &mut Cx<'_>) {
        if self.salt.is_some() && cx.now < self.changes {
            return;
        }
        self.salt = Some(cx.rng.u64());
        self.changes = match self.perturb {
            None => Time::MAX,
            Some(every) => {
                let every = every.as_ps();
                Time::from_ps((cx.now.as_ps() / every + 1) * every)
            }
        };
        if self.packets == 0 {
            return;
        }
        self.round.clear();
        let mut all = Vec::with_capacity(self.packets as usize);
        for slot in 0..self.slots.len() as u32 {
            while let Some(packet) = self.take(slot, true) {
                all.push(packet);
            }
        }
        for packet in all {
            match self.slot(&packet).filter(|s| self.len(*s) < self.depth) {
                Some(slot) => {
                    if let Some(red) = self
                        .red
                        .as_mut()
                        .filter(|_| self.slots[slot as usize].packets.is_empty())
                    {
                        red.begin(slot);
                    }
                    self.append(slot, packet);
                }
                None => cx.evicted(packet, DropReason::PushedOut),
            }
        }
    }

    /// Drops packets until the rest fits, and returns whether the packet that arrived last, in this
    /// slot, is kept.
    fn make_room(&mut self, arrived: u32, cx: &mut Cx<'_>) -> bool {
        let mut kept = true;
        while !self.bound.holds(self.packets, self.bytes) {
            let Some(slot) = self.victim() else {
                break;
            };
            let newest = kept && slot == arrived && (!self.headdrop || self.len(slot) == 1);
            let Some(victim) = self.take(slot, self.headdrop) else {
                break;
            };
            match newest {
                true => kept = false,
                false => cx.evicted(victim, DropReason::PushedOut),
            }
        }
        kept
    }
}

impl FlowQueue for Sfq {
    fn name(&self) -> &'static str {
        "sfq"
    }

    fn offer(&mut self, packet: &mut Packet, was: Ecn, cx: &mut Cx<'_>) -> Option<i64> {
        if !self.bound.admits(0, 0, packet.len) {
            return None;
        }
        let before = self.packets;
        self.change(cx);
        let slot = self.slot(packet);
        let mut marked = packet.ecn != was;
        let early = slot.and_then(|s| self.early(s, packet, &mut marked, cx));
        let full = slot.is_some_and(|s| self.is_full(s));
        let Some(slot) = slot.filter(|_| (!full && early.is_none()) || self.headdrop) else {
            packet.ecn = was;
            cx.refused(*packet, early.unwrap_or(DropReason::Tail));
            return Some(i64::from(self.packets) - i64::from(before));
        };
        if full || early.is_some() {
            let own = &mut self.slots[slot as usize];
            own.packets.push_back(*packet);
            if let Some(victim) = own.packets.pop_front() {
                own.bytes = own.bytes + u64::from(packet.len) - u64::from(victim.len);
                self.bytes = self.bytes + u64::from(packet.len) - u64::from(victim.len);
                cx.evicted(victim, early.unwrap_or(DropReason::PushedOut));
            }
        } else {
            self.append(slot, *packet);
        }
        if self.make_room(slot, cx) {
            cx.enqueued(packet, marked);
        } else {
            packet.ecn = was;
            cx.refused(*packet, DropReason::PushedOut);
        }
        Some(i64::from(self.packets) - i64::from(before))
    }

    fn pop(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        loop {
            let slot = *self.round.front()?;
            let own = &mut self.slots[slot as usize];
            if own.allot <= 0 {
                own.allot += self.quantum;
                self.round.rotate_left(1);
                continue;
            }
            let packet = self.take(slot, true)?;
            match self.variant {
                None => self.slots[slot as usize].allot -= i64::from(packet.len),
                Some(SfqVariant::Ns2) if self.len(slot) > 0 => self.round.rotate_left(1),
                Some(SfqVariant::Ns2) => {}
            }
            cx.dequeued(&packet);
            return Some(packet);
        }
    }

    fn packets(&self) -> u32 {
        self.packets
    }

    fn transmits_until(&mut self, _: Time) {}

    fn head(&self) -> Option<&Packet> {
        // The first queue that may send, in the first round in which any may.
        let rounds = |slot: &&u32| match self.slots[**slot as usize].allot {
            allot if allot > 0 => 0,
            allot => -allot / self.quantum + 1,
        };
        let slot = self.round.iter().min_by_key(rounds)?;
        self.slots[*slot as usize].packets.front()
    }

    fn flush(&mut self, reason: DropReason, cx: &mut Cx<'_>) {
        self.round.clear();
        for slot in 0..self.slots.len() as u32 {
            while let Some(packet) = self.take(slot, true) {
                cx.evicted(packet, reason);
            }
        }
        // As at the start: the order of slots is that of drops of the next flush.
        self.free.sort_unstable_by(|a, b| b.cmp(a));
        (self.salt, self.changes) = (None, Time::MAX);
    }

    fn state(&self) -> State {
        vec![("flows_queued", self.round.len() as f64)]
    }

    fn evidence(&self, lost: &Dropped) -> Cause {
        if matches!(lost.reason, DropReason::Early | DropReason::Forced) {
            let cause = self.red.as_ref().and_then(|r| r.cause(lost));
            return cause.unwrap_or_default();
        }
        let found = self.table[self.value(&lost.packet) as usize];
        let Some(own) = self.slots.get(found as usize) else {
            return Cause::Plain;
        };
        Cause::Flow {
            packets: own.packets.len() as u32,
            bytes: own.bytes,
            limit: QueueLimit {
                packets: Some(self.depth),
                bytes: None,
            },
        }
    }

    fn bound(&self) -> &Bound {
        &self.bound
    }

    fn fairness(&self) -> &dyn Fairness {
        self
    }

    fn judges_departures(&self) -> bool {
        false
    }

    fn memory_bytes(&self, _: usize) -> u64 {
        // Each queue keeps the memory of its longest backlog, up to twice of that.
        let slots = self.slots.len() as u64;
        let packet = std::mem::size_of::<Packet>() as u64;
        let most = u64::from(self.depth.min(self.bound.packets));
        let red = self
            .red
            .as_ref()
            .map_or(0, |_| SfqRed::queue_bytes() as u64);
        let slot = std::mem::size_of::<Slot>() as u64 + 8 + red + 2 * most * packet;
        slots * slot + 4 * (self.table.len() + self.lengths.len()) as u64
    }

    fn retune(&mut self, fresh: &dyn FlowQueue) {
        if let Some(fresh) = fresh.as_any().downcast_ref::<Self>() {
            (self.bound, self.quantum) = (fresh.bound, fresh.quantum);
            if let (Some(red), Some(fresh)) = (&mut self.red, &fresh.red) {
                red.retune(fresh);
            }
        }
    }

    fn boxed(&self) -> Box<dyn FlowQueue> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Fairness for Sfq {
    fn weights(&self, _: Option<Dscp>) -> (u64, u64) {
        (1, 1)
    }

    fn hashed(&self) -> Option<u32> {
        Some(self.table.len() as u32)
    }

    fn meanwhile(&self, _: &Member, _: &Others, _: &Load) -> Vec<Meanwhile> {
        Vec::new()
    }

    fn holds(&self, _: &Member, _: &Others) -> (QueueLimit, QueueLimit) {
        let limit = self.bound.limit();
        (limit, limit)
    }

    fn unknown(&self, _: u64) -> Option<Reason> {
        Some("no guarantee of the queues of SFQ, which flows share by chance, is derived".into())
    }
}

#[cfg(test)]
#[path = "sfq_tests.rs"]
mod tests;
