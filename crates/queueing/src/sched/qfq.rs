//! Quick fair queueing (QFQ): WF2Q+ with rounded tags, at constant cost.
//!
//! Source: F. Checconi, L. Rizzo, P. Valente, "QFQ: Efficient Packet Scheduling with Tight
//! Guarantees", IEEE/ACM ToN 21(3), 2013. It is the original algorithm, not Linux's QFQ+, which
//! serves aggregates of classes by deficit round robin.
//!
//! Idea: a flow of weight w and longest packet L is in the group k of slot size σ = 2^k, the
//! smallest with σ >= L / w. Starts are rounded down to multiples of σ, so that the flows of a
//! group lie in a few buckets, in order. The group has the start S of its first bucket and the
//! finish F = S + 2σ. It is eligible if S <= V, and blocked if an eligible group of larger slots
//! has a smaller F. The first flow of the smallest group that is eligible and not blocked sends; V
//! grows by L / W. Each of the four combinations is a bit map of groups, in which one bit operation
//! finds or moves groups: a group becomes eligible when V passes a multiple of its σ.
//!
//! W is the sum of the weights of flows that have a place: those with packets, and those without
//! until they are found to have a start that V has passed. With each packet that is sent, the two
//! that were looked at longest ago are looked at.
//!
//! Deviations: a bucket is first in, first out (the paper leaves its order open). A flow that sends
//! a packet longer than the longest of the link moves to the group of that. Where the line has sent
//! all, virtual time begins anew. A flow that would be beyond the last bucket, which W prevents
//! otherwise, is put into it, as in Linux. Cost: O(1) per packet.

use std::collections::VecDeque;

use spillgate_core::{Dscp, Packet, Time};

use super::flow_queue::Order;
use super::flows::Flows;
use super::pgps::WfqWeights;
use super::tags::{UNITS, rounded_units};
use crate::guarantee::Load;
use crate::share::{Meanwhile, Member, Others, PARTS, sum};

const NONE: u32 = u32::MAX;
/// Buckets of a group. More than two are in use where flows of a group start later than V.
const BUCKETS: u32 = 32;
/// Idle flows that are looked at when a packet is sent.
const LOOKS: u8 = 2;
/// V is rebased towards 0 above this.
const REBASE: u64 = 1 << 61;

/// The state of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// The start of its next packet.
    start: u64,
    /// 0 while it has no place.
    weight: u16,
    group: u8,
    /// It is in the list of idle flows, perhaps with packets again.
    listed: bool,
    /// Its neighbors in a bucket.
    before: u32,
    behind: u32,
}

impl Slot {
    const NEW: Self = Self {
        start: 0,
        weight: 0,
        group: 0,
        listed: false,
        before: NONE,
        behind: NONE,
    };
}

/// Flows of one group whose starts are rounded to the same.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    first: u32,
    last: u32,
}

/// Flows with the same slot size.
#[derive(Clone, Debug)]
struct Group {
    /// The rounded start of its first bucket.
    start: u64,
    /// Which buckets hold flows, from the first one on.
    full: u32,
    /// Where the first bucket is in the ring.
    front: u32,
    buckets: [Bucket; BUCKETS as usize],
}

impl Group {
    const EMPTY: Self = Self {
        start: 0,
        full: 0,
        front: 0,
        buckets: [Bucket {
            first: NONE,
            last: NONE,
        }; BUCKETS as usize],
    };

    /// The bucket so many behind the first one.
    #[inline]
    fn bucket(&mut self, at: u32) -> &mut Bucket {
        &mut self.buckets[((self.front + at) % BUCKETS) as usize]
    }

    #[inline]
    fn first(&self) -> u32 {
        self.buckets[self.front as usize].first
    }

    /// The bucket for a rounded start, which is not before the first one.
    #[inline]
    fn at(&self, rounded: u64, shift: u32) -> u32 {
        let at = rounded.saturating_sub(self.start) >> shift;
        at.min(u64::from(BUCKETS) - 1) as u32
    }
}

/// States of a group; the number says which bit map it is in.
const READY: usize = 0;
const BLOCKED: usize = 1;
const LATE: usize = 2;
const LATE_BLOCKED: usize = 3;

/// Quick fair queueing.
#[derive(Clone, Debug)]
pub(crate) struct Qfq {
    weights: WfqWeights,
    /// The least sum of weights.
    least_sum: u64,
    /// The longest packet of the link, in bytes.
    longest: u32,
    /// Group k is of the slot size 2^k bytes per unit of weight.
    groups: Box<[Group; 32]>,
    /// Groups by state.
    sets: [u32; 4],
    /// Virtual time when the packet that was sent last has left.
    v: u64,
    /// The sum of the weights of flows that have a place.
    sum: u64,
    /// Flows that had no packets when they were listed.
    idle: VecDeque<u32>,
    /// How many of them are still looked at.
    looks: u8,
    /// Until when the packet that was sent last is in transmission.
    until: Time,
}

/// Groups up to `group`.
const fn up_to(group: u32) -> u32 {
    u32::MAX >> (31 - group)
}

impl Qfq {
    pub(super) fn new(weights: WfqWeights, least_sum: u64, longest: u32) -> Self {
        Self {
            weights,
            least_sum,
            longest,
            groups: Box::new([Group::EMPTY; 32]),
            sets: [0; 4],
            v: 0,
            sum: 0,
            idle: VecDeque::new(),
            looks: 0,
            until: Time::ZERO,
        }
    }

    /// The group of flows with this weight and longest packet.
    pub(super) fn group_of(weight: u32, longest: u32) -> u32 {
        longest.div_ceil(weight.max(1)).next_power_of_two().ilog2()
    }

    /// Slots of a group are 2 to the power of this, in tag units.
    const fn shift(group: u32) -> u32 {
        UNITS + group
    }

    fn start(&self, group: u32) -> u64 {
        self.groups[group as usize].start
    }

    fn finish(&self, group: u32) -> u64 {
        self.start(group) + (2 << Self::shift(group))
    }

    fn leave_sets(&mut self, group: u32) {
        for set in &mut self.sets {
            *set &= !(1 << group);
        }
    }

    /// The group takes its state by its tags.
    fn enter_sets(&mut self, group: u32) {
        let larger = self.sets[READY] & !up_to(group);
        let blocked = larger != 0 && self.finish(group) > self.finish(larger.trailing_zeros());
        let late = self.start(group) > self.v;
        self.sets[usize::from(blocked) + 2 * usize::from(late)] |= 1 << group;
    }

    fn move_groups(&mut self, which: u32, from: usize, to: usize) {
        let moved = self.sets[from] & which;
        self.sets[from] &= !moved;
        self.sets[to] |= moved;
    }

    /// A group that had this finish does not block smaller ones any more, unless the next larger
    /// one does.
    fn unblock(&mut self, group: u32, finish: u64) {
        let larger = self.sets[READY] & !up_to(group);
        if larger != 0 && self.finish(larger.trailing_zeros()) <= finish {
            return;
        }
        let smaller = up_to(group) >> 1;
        self.move_groups(smaller, BLOCKED, READY);
        self.move_groups(smaller, LATE_BLOCKED, LATE);
    }

    /// The first bucket of a group may be another one than before.
    fn regroup(&mut self, group: u32) {
        let finish = self.finish(group);
        let own = &mut self.groups[group as usize];
        if own.full & 1 != 0 {
            return;
        }
        let was_ready = self.sets[READY] & (1 << group) != 0;
        let passed = own.full.trailing_zeros();
        if own.full != 0 {
            own.front = (own.front + passed) % BUCKETS;
            own.full >>= passed;
            own.start += u64::from(passed) << Self::shift(group);
        }
        let gone = own.full == 0;
        self.leave_sets(group);
        if !gone {
            self.enter_sets(group);
        }
        if was_ready {
            self.unblock(group, finish);
        }
    }

    /// V was `old`: groups become eligible. If none is, V is the least start.
    fn release(&mut self, old: u64) {
        let late = self.sets[LATE] | self.sets[LATE_BLOCKED];
        if late == 0 {
            return;
        }
        if self.sets[READY] == 0 {
            self.v = self.v.max(self.start(late.trailing_zeros()));
        }
        let passed = (self.v ^ old) >> UNITS;
        if let Some(highest) = passed.checked_ilog2() {
            let which = up_to(highest.min(31));
            self.move_groups(which, LATE, READY);
            self.move_groups(which, LATE_BLOCKED, BLOCKED);
        }
    }

    /// Puts a flow into the bucket of its start.
    fn insert<V>(&mut self, flows: &mut Flows<Slot, V>, slot: u32) {
        let flow = flows.at(slot).own.sched;
        let (k, shift) = (u32::from(flow.group), Self::shift(flow.group.into()));
        let rounded = flow.start >> shift << shift;
        let group = &mut self.groups[k as usize];
        if group.full == 0 || rounded < group.start {
            if group.full != 0 {
                // By one: a group that is not empty starts at the next slot after V at the latest.
                let by = ((group.start - rounded) >> shift) as u32;
                group.front = (group.front + BUCKETS - by) % BUCKETS;
                group.full <<= by;
            }
            group.start = rounded;
            self.leave_sets(k);
            self.enter_sets(k);
        }
        self.append(flows, slot);
    }

    /// Appends a flow to the bucket of its start, whatever the state of its group.
    fn append<V>(&mut self, flows: &mut Flows<Slot, V>, slot: u32) {
        let flow = flows.at_mut(slot);
        let own = &mut flow.own.sched;
        let (k, shift) = (u32::from(own.group), Self::shift(own.group.into()));
        let group = &mut self.groups[k as usize];
        let at = group.at(own.start, shift);
        // One that would be behind the last bucket starts in it.
        let end = group.start + (u64::from(at + 1) << shift);
        own.start = own.start.min(end - 1);
        group.full |= 1 << at;
        let bucket = group.bucket(at);
        let last = std::mem::replace(&mut bucket.last, slot);
        (own.before, own.behind) = (last, NONE);
        match last {
            NONE => bucket.first = slot,
            last => flows.at_mut(last).own.sched.behind = slot,
        }
    }

    /// Takes a flow out of its bucket.
    fn unlink<V>(&mut self, flows: &mut Flows<Slot, V>, slot: u32) {
        let own = flows.at(slot).own.sched;
        let (before, behind) = (own.before, own.behind);
        let group = &mut self.groups[usize::from(own.group)];
        let at = group.at(own.start, Self::shift(own.group.into()));
        let bucket = group.bucket(at);
        match before {
            NONE => bucket.first = behind,
            before => flows.at_mut(before).own.sched.behind = behind,
        }
        match behind {
            NONE => bucket.last = before,
            behind => flows.at_mut(behind).own.sched.before = before,
        }
        if bucket.first == NONE {
            group.full &= !(1 << at);
        }
    }

    /// A flow that is in no bucket any more has no packets. Returns whether it lost its place.
    fn empties<V>(&mut self, flows: &mut Flows<Slot, V>, slot: u32) -> bool {
        let own = &mut flows.at_mut(slot).own.sched;
        if own.listed {
            return false;
        }
        if own.start <= self.v {
            self.sum -= u64::from(own.weight);
            *own = Slot::NEW;
            return true;
        }
        own.listed = true;
        self.idle.push_back(slot);
        false
    }

    /// Takes a flow out of its bucket, and the group of that into its new state.
    fn take_out<V>(&mut self, flows: &mut Flows<Slot, V>, slot: u32) {
        let (old, group) = (self.v, flows.at(slot).own.sched.group);
        self.unlink(flows, slot);
        self.regroup(group.into());
        self.release(old);
    }

    /// The first of the idle flows, if it is still one and its place means nothing any more, or
    /// `all` do not; else it goes to the end.
    fn look<V>(&mut self, flows: &mut Flows<Slot, V>, all: bool) -> Option<u32> {
        let slot = self.idle.pop_front()?;
        let flow = flows.at_mut(slot);
        let own = &mut flow.own.sched;
        if flow.own.packets > 0 {
            own.listed = false;
            return None;
        }
        if own.start > self.v && !all {
            self.idle.push_back(slot);
            return None;
        }
        self.sum -= u64::from(own.weight);
        *own = Slot::NEW;
        Some(slot)
    }

    /// Moves the origin of virtual time by a multiple of all slot sizes. Order depends on
    /// differences only.
    #[cold]
    fn rebase<V>(&mut self, flows: &mut Flows<Slot, V>) {
        let placed: Vec<u32> = flows.slots(|f| f.own.sched.weight > 0).collect();
        let starts = placed.iter().map(|s| flows.at(*s).own.sched.start);
        let full = self.groups.iter().filter(|g| g.full != 0);
        let least = starts.chain(full.map(|g| g.start)).min();
        let largest = Self::shift(31);
        let base = least.unwrap_or(self.v).min(self.v) >> largest << largest;
        self.v -= base;
        for slot in placed {
            flows.at_mut(slot).own.sched.start -= base;
        }
        for group in self.groups.iter_mut() {
            group.start = group.start.saturating_sub(base);
        }
    }
}

impl Order for Qfq {
    type State = Slot;

    const LINGERS: bool = true;
    const PLACE: usize = 8;

    fn state(&self) -> Slot {
        Slot::NEW
    }

    #[inline]
    fn joins<V>(&mut self, flows: &mut Flows<Slot, V>, slot: u32, packet: &Packet, _: Time) {
        let flow = flows.at_mut(slot);
        if flow.own.packets > 0 {
            return;
        }
        let own = &mut flow.own.sched;
        if own.weight == 0 {
            let weight = self.weights.of(packet);
            own.weight = weight as u16; // At most 8.
            self.sum += u64::from(weight);
        }
        let longest = self.longest.max(packet.len);
        let group = Self::group_of(own.weight.into(), longest) as u8;
        own.group = group.max(own.group);
        own.start = own.start.max(self.v);
        let old = self.v;
        self.insert(flows, slot);
        self.release(old);
    }

    #[inline]
    fn next<V>(&mut self, _: &mut Flows<Slot, V>) -> Option<u32> {
        self.first()
    }

    #[inline]
    fn charge<V>(
        &mut self,
        flows: &mut Flows<Slot, V>,
        slot: u32,
        packet: &Packet,
        _: Time,
    ) -> bool {
        let old = self.v;
        let work = u64::from(packet.len) << UNITS;
        self.v += work / self.sum.max(self.least_sum);
        (self.until, self.looks) = (Time::MAX, LOOKS);
        let next = flows.first_len(slot);
        let own = &mut flows.at_mut(slot).own.sched;
        let (start, group, weight) = (own.start, u32::from(own.group), u32::from(own.weight));
        self.unlink(flows, slot);
        let own = &mut flows.at_mut(slot).own.sched;
        own.start = start + work / u64::from(weight);
        let longer = Self::group_of(weight, packet.len.max(next.unwrap_or(0)));
        if next.is_some() && longer <= group {
            self.append(flows, slot);
        }
        self.regroup(group);
        if next.is_some() && longer > group {
            flows.at_mut(slot).own.sched.group = longer as u8;
            self.insert(flows, slot);
        }
        let lost = next.is_none() && self.empties(flows, slot);
        self.release(old);
        if self.v > REBASE {
            self.rebase(flows);
        }
        lost
    }

    fn missed<V>(&mut self, flows: &mut Flows<Slot, V>, slot: u32) -> bool {
        self.take_out(flows, slot);
        self.empties(flows, slot)
    }

    fn pushed_out<V>(&mut self, flows: &mut Flows<Slot, V>, slot: u32) {
        if flows.at(slot).queue.is_empty() {
            self.take_out(flows, slot);
            let own = &mut flows.at_mut(slot).own.sched;
            if !std::mem::replace(&mut own.listed, true) {
                self.idle.push_back(slot);
            }
        }
    }

    #[inline]
    fn expired<V>(&mut self, flows: &mut Flows<Slot, V>) -> Option<u32> {
        while self.looks > 0 {
            self.looks -= 1;
            if let Some(slot) = self.look(flows, false) {
                return Some(slot);
            }
        }
        None
    }

    fn withdraw<V>(&mut self, flows: &mut Flows<Slot, V>, now: Time) -> Option<u32> {
        if now < self.until {
            return None;
        }
        while !self.idle.is_empty() {
            if let Some(slot) = self.look(flows, true) {
                return Some(slot);
            }
        }
        self.v = 0;
        None
    }

    fn transmits_until(&mut self, end: Time) {
        self.until = end;
    }

    fn clear(&mut self) {
        *self = Self::new(self.weights, self.least_sum, self.longest);
    }

    fn retune(&mut self, fresh: &Self) {
        self.longest = fresh.longest;
    }

    fn weights(&self, dscp: Option<Dscp>) -> (u64, u64) {
        self.weights.range(dscp)
    }

    /// As WF2Q+ ([`super::tags`]), with starts S rounded down to slots, and finishes of two slots.
    /// A queue that is sent before it finishes finds that all others that have started do so two
    /// slots later at most: U is two slots of each and a packet at most. Nothing comes in a
    /// transmission but at its end. A queue that waits starts two slots after V at most, and
    /// finishes two later.
    fn meanwhile(&self, own: &Member, others: &Others, _: bool, load: &Load) -> Vec<Meanwhile> {
        let slot = |m: &Member| {
            let weight = u32::try_from(m.weight.0).unwrap_or(u32::MAX);
            1_u128 << Self::group_of(weight, self.longest)
        };
        let two_slots = |m: &Member| 2 * u128::from(m.weight.1) * slot(m);
        let all = || others.iter().map(|(m, _)| m).chain([own]);
        let longest = all().map(|m| m.longest).max().unwrap_or(0);
        let overdue = sum(others, two_slots) + two_slots(own) + u128::from(longest);
        // Starts are that much behind V at most, and two slots before it.
        let fits = |m: &Member| overdue / (u128::from(m.weight.0) * slot(m)) + 4 < BUCKETS.into();
        if longest > self.longest.into() || !all().all(fits) {
            return Vec::new();
        }
        let weights = sum(others, |m| m.weight.1.into()) + u128::from(own.weight.1);
        let weights = weights.max(self.least_sum.into());
        let starts = 4 * weights * slot(own);
        vec![Meanwhile::Evenly {
            ahead: starts + overdue + 2 * u128::from(longest) + rounded_units(weights, load),
            parts: (weights * PARTS).div_ceil(own.weight.0.into()) - PARTS,
        }]
    }

    fn nothing(&self) -> &'static str {
        "starts of so many flows may be beyond the last of the 32 slots of a group of QFQ"
    }

    fn bounds_each(&self, _: bool) -> bool {
        false
    }

    fn head<'f, V>(&self, flows: &'f Flows<Slot, V>) -> Option<&'f Packet> {
        flows.head(self.first()?)
    }
}

impl Qfq {
    /// The flow that is to send.
    #[inline]
    fn first(&self) -> Option<u32> {
        let ready = self.sets[READY];
        let group = self.groups.get(ready.trailing_zeros() as usize)?;
        Some(group.first())
    }
}

#[cfg(test)]
#[path = "qfq_tests.rs"]
mod tests;
