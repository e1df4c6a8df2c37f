//! Fair queueing by tags: the packet that starts or finishes first in virtual time leaves first.
//!
//! Sources: S. J. Golestani, "A Self-Clocked Fair Queueing Scheme for Broadband Applications",
//! INFOCOM 1994; P. Goyal, H. M. Vin, H. Cheng, "Start-Time Fair Queueing", IEEE/ACM ToN 5(5),
//! 1997; J. C. R. Bennett, H. Zhang, "Hierarchical Packet Fair Queueing Algorithms", IEEE/ACM ToN
//! 5(5), 1997 (WF2Q+); L. Zhang, "VirtualClock", SIGCOMM 1990.
//!
//! Idea: a flow of weight w has the start S of its first packet, which finishes at F = S + L / w.
//! The next one starts at F, or, of a flow that had no packets, at the virtual time V if that is
//! later.
//!
//! - SCFQ sends the least F. V is the F of the packet in service.
//! - Start-time FQ sends the least S. V is the S of the packet in service.
//! - WF2Q+ sends the least F of those with S <= V. At each choice V is at least the least S, and it
//!   grows by L / W as a packet is sent. W is the sum of the weights of flows that have packets, or
//!   whose F was later than V when the packet before was taken (the idle flows of dummynet).
//! - Virtual clock sends the least F, in time: S is the later of the packet's arrival and the F
//!   before, and a flow of weight w has the part w / W of the rate.
//!
//! Of equal tags the queue with the lower number is first. Where the line has sent all, virtual
//! time begins anew; a virtual clock goes on.
//!
//! Deviations: tags are those of the first packet of a queue, so that what is pushed out or dropped
//! by an AQM is not paid for. Tags count 2⁻²⁰ byte per unit of weight, rounded down. Cost: O(log n)
//! per packet for n flows.

use spillgate_core::{Dscp, Dur, Packet, Rate, Time};

use super::flow_queue::Order;
use super::flows::{Flows, Own};
use super::heap::MinHeap;
use super::pgps::WfqWeights;
use super::table::Flow;
use crate::guarantee::Load;
use crate::share::{Meanwhile, Member, Others, PARTS, evenly, sum};

/// Tag units per byte, as a power of two.
pub(crate) const UNITS: u32 = 20;
/// V is rebased towards 0 above this.
const REBASE: u64 = 1 << 62;

/// What tags are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TagRule {
    /// The least F: SCFQ.
    Finish,
    /// The least S.
    Start,
    /// The least F of those that have started: WF2Q+.
    Eligible,
    /// The least F, in time.
    Clock,
}

/// The tags of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag {
    /// The start of its next packet.
    start: u64,
    /// 0 while it has no place.
    weight: u32,
}

impl Tag {
    const NONE: Self = Self {
        start: 0,
        weight: 0,
    };

    /// Where a packet of so many bytes finishes.
    #[inline]
    fn finish(self, len: u32) -> u64 {
        self.start + (u64::from(len) << UNITS) / u64::from(self.weight.max(1))
    }
}

// A half of a cache line.
const _: () = assert!(std::mem::size_of::<Flow<Own<Tag, ()>>>() <= 40);

/// When a packet that `arrived` leaves a line of its own, after what is sent there until `start`,
/// in ps. The line has the part `part` / `of` of `bps`.
pub(crate) fn ends_alone(
    start: u64,
    arrived: Time,
    len: u32,
    bps: u64,
    (part, of): (u64, u64),
) -> u64 {
    let work = u128::from(len) * 8_000_000_000_000 * u128::from(of);
    let takes = work / (u128::from(bps) * u128::from(part)).max(1);
    let takes = u64::try_from(takes).unwrap_or(u64::MAX);
    start.max(arrived.as_ps()).saturating_add(takes)
}

/// Fair queueing by tags.
#[derive(Clone, Debug)]
pub(crate) struct Tags {
    rule: TagRule,
    weights: WfqWeights,
    /// The least sum of weights.
    least_sum: u64,
    bps: u64,
    /// Queues with packets by the tag that is compared; with [`TagRule::Eligible`] those that have
    /// started.
    ready: MinHeap<(u64, u32)>,
    /// Those that have not, by S and F.
    waits: MinHeap<(u64, u64, u32)>,
    /// Queues without packets that have a place, by the start of a next packet.
    idle: MinHeap<u64>,
    /// Virtual time when the packet that was sent last has left.
    v: u64,
    /// By how much it grows while that is sent.
    growth: u64,
    /// Work that is not yet a unit of V.
    carry: u64,
    /// When that was taken, and until when it is in transmission.
    sent: (Time, Time),
    /// The sum of the weights of queues that have a place.
    sum: u64,
}

impl Tags {
    pub(super) fn new(rule: TagRule, weights: WfqWeights, least_sum: u64, rate: Rate) -> Self {
        Self {
            rule,
            weights,
            least_sum,
            bps: rate.bps(),
            ready: MinHeap::default(),
            waits: MinHeap::default(),
            idle: MinHeap::default(),
            v: 0,
            growth: 0,
            carry: 0,
            sent: (Time::ZERO, Time::ZERO),
            sum: 0,
        }
    }

    /// Virtual time at `now`; what is in transmission has not been sent yet.
    fn virtual_time(&self, now: Time) -> u64 {
        match self.rule {
            // Nobody has said when the packet will have left.
            TagRule::Eligible if self.sent.1 == Time::MAX => self.v - self.growth,
            TagRule::Eligible if now < self.sent.1 => {
                let (from, until) = self.sent;
                let (passed, whole) = (now.since(from).as_ps(), until.since(from).as_ps());
                let grown = u128::from(self.growth) * u128::from(passed) / u128::from(whole);
                self.v - self.growth + grown as u64
            }
            _ => self.v,
        }
    }

    /// Where the packet of a queue with this tag finishes.
    #[inline]
    fn finish(&self, tag: Tag, packet: &Packet) -> u64 {
        match self.rule {
            TagRule::Clock => {
                let part = (u64::from(tag.weight), self.least_sum);
                ends_alone(tag.start, packet.arrived, packet.len, self.bps, part)
            }
            _ => tag.finish(packet.len),
        }
    }

    /// A queue is in its place by its first packet.
    #[inline]
    fn place(&mut self, slot: u32, id: u32, tag: Tag, first: &Packet) {
        let finish = self.finish(tag, first);
        match self.rule {
            TagRule::Start => self.ready.set(slot, (tag.start, id)),
            TagRule::Eligible if tag.start > self.v => {
                self.ready.remove(slot);
                self.waits.set(slot, (tag.start, finish, id));
            }
            _ => self.ready.set(slot, (finish, id)),
        }
    }

    /// Queues that have started are ready.
    #[inline]
    fn release(&mut self) {
        while let Some(((start, finish, id), slot)) = self.waits.first() {
            if start > self.v {
                return;
            }
            self.waits.remove(slot);
            self.ready.set(slot, (finish, id));
        }
    }

    #[inline]
    fn first(&self) -> Option<u32> {
        match self.ready.first() {
            Some((_, slot)) => Some(slot),
            // None has started: V is the least start.
            None => self.waits.first().map(|(_, slot)| slot),
        }
    }

    /// Up to where a start of a queue without packets means nothing.
    fn past(&self) -> u64 {
        match self.rule {
            TagRule::Finish | TagRule::Start => self.v,
            TagRule::Eligible => self.v - self.growth,
            TagRule::Clock => self.sent.0.as_ps(),
        }
    }

    /// A queue has no packets any more. Returns whether it lost its place.
    #[inline]
    fn empties<V>(&mut self, flows: &mut Flows<Tag, V>, slot: u32) -> bool {
        self.ready.remove(slot);
        self.waits.remove(slot);
        let tag = &mut flows.at_mut(slot).own.sched;
        let lost = tag.start <= self.past();
        if lost {
            self.sum -= u64::from(tag.weight);
            *tag = Tag::NONE;
        } else {
            self.idle.set(slot, tag.start);
        }
        lost
    }

    /// Removes the idle queue with the least start, if that is `until` at most.
    fn remove_idle<V>(&mut self, flows: &mut Flows<Tag, V>, until: u64) -> Option<u32> {
        let (_, slot) = self.idle.first().filter(|(start, _)| *start <= until)?;
        self.idle.remove(slot);
        let tag = &mut flows.at_mut(slot).own.sched;
        self.sum -= u64::from(tag.weight);
        *tag = Tag::NONE;
        Some(slot)
    }

    /// Moves the origin of virtual time to the oldest tag in use. Order depends on differences
    /// only.
    #[cold]
    fn rebase<V>(&mut self, flows: &mut Flows<Tag, V>) {
        let placed = |f: &Flow<Own<Tag, V>>| f.own.sched.weight > 0;
        let slots: Vec<u32> = flows.slots(placed).collect();
        let starts = slots.iter().map(|s| flows.at(*s).own.sched.start);
        let base = starts.min().unwrap_or(u64::MAX).min(self.past());
        self.v -= base;
        for slot in slots {
            let flow = flows.at_mut(slot);
            flow.own.sched.start -= base;
            let (id, tag) = (flow.id, flow.own.sched);
            match flows.head(slot).copied() {
                Some(first) => {
                    // It may wait or be ready.
                    self.waits.remove(slot);
                    self.place(slot, id, tag, &first);
                }
                None => self.idle.set(slot, tag.start),
            }
        }
    }
}

impl Tags {
    /// SCFQ: let a queue of weight w wait from s on. What it sends up to the finish F is w (F - V)
    /// at least. Another one of weight w' has nothing to finish before V, so until F it sends
    /// w' (F - V) and a packet at most. With start-time FQ the last packet is sent at its start, as
    /// are those of others; the first one may start as late as the one before it finishes. So what
    /// it sends counts a difference of two of its packets more. Where an AQM drops the packet that
    /// was chosen, V may be the difference to a longer one above what others were compared with.
    fn self_clocked(&self, own: &Member, others: &Others, judged: bool) -> Meanwhile {
        let spread = |m: &Member| {
            let differ = u128::from(m.longest - m.shortest) * PARTS;
            differ.div_ceil(m.weight.0.into())
        };
        let mut early = 0;
        if judged {
            early = others
                .iter()
                .map(|(m, _)| spread(m))
                .fold(spread(own), u128::max);
        }
        if self.rule == TagRule::Start {
            early += spread(own);
        }
        let ahead = |m: &Member| {
            let tags = (u128::from(m.weight.1) * early).div_ceil(PARTS);
            u128::from(m.longest) + tags
        };
        evenly(own, others, sum(others, ahead))
    }

    /// Virtual clock: as between classes (`tree/deadlines.rs`). Of a queue whose first packet is
    /// pushed out, or dropped by an AQM, by a shorter one, a packet more may be sent before.
    fn in_time(&self, own: &Member, others: &Others, judged: bool, load: &Load) -> Meanwhile {
        let rate = |weights: u128| u128::from(self.bps) * weights;
        let all = sum(others, |m| m.weight.1.into()) + u128::from(own.weight.1);
        let of = u128::from(self.least_sum.max(1));
        let bps = |rate: u128| u64::try_from(rate).unwrap_or(u64::MAX);
        let replaced = |m: &Member| match judged || m.longest > m.shortest {
            true => u128::from(m.longest),
            false => 0,
        };
        let late = others.iter().map(|(m, _)| m.longest).max().unwrap_or(0);
        Meanwhile::Clock {
            own: bps(rate(own.weight.0.into()) / of),
            all: bps(rate(all).div_ceil(of)),
            ahead: u128::from(late) + sum(others, replaced),
            rounded: Dur::from_ps(bps(load.drift().1)),
        }
    }
}

/// WF2Q+ where virtual time grows by the weights W of queues that have a place.
///
/// Where a least sum has room for all weights, W is that, and packets are late as between classes
/// (`tree/deadlines.rs`). Else:
///
/// Let u be what a queue with packets that starts at S has sent less than w (V - S), if that is
/// above 0, and U their sum. While ℓ bytes are sent V grows by ℓ / W, so U does not grow, but by a
/// queue that sends what finishes after V: then all that have started finish later, and U is less
/// than a packet of each; and by queues that come in a transmission, which start behind its growth
/// g. Each of these loses its place after V has passed its finish; if U is above a packet of each
/// and g of all weights, by g. So U is a packet of each and twice g of all weights at most. Where
/// an AQM drops the packet that was chosen, a queue may send a longer one: another packet of each,
/// and what it differs by counts as g.
///
/// A queue that waits has started at V + L / w at most, and finishes x bytes at V + (x + L) / w, or
/// later if a longer packet was pushed out before. All send up to W of that, and the packet in
/// transmission; then U is sent first.
fn eligible(own: &Member, others: &Others, judged: bool, load: &Load, least_sum: u64) -> Meanwhile {
    let all = || others.iter().map(|(m, _)| m).chain([own]);
    let each = |of: fn(&Member) -> u128| sum(others, of) + of(own);
    let weights = each(|m| m.weight.1.into()).max(least_sum.into());
    let longest = all().map(|m| u128::from(m.longest)).max().unwrap_or(0);
    let spread = |m: &Member| u128::from(m.longest - m.shortest);
    let differs = |m: &Member| if judged { spread(m) } else { 0 };
    let growth = |m: &Member| {
        let sum = least_sum.max(m.weight.0);
        // In bytes of all weights.
        let grows = (u128::from(m.longest) * weights).div_ceil(sum.into());
        2 * grows + (differs(m) * weights).div_ceil(m.weight.0.into())
    };
    let overdue = if weights == least_sum.into() {
        let replaced = |m: &Member| match judged || spread(m) > 0 {
            true => u128::from(m.longest),
            false => 0,
        };
        sum(others, replaced)
    } else {
        let packets = each(|m| m.longest.into()) * if judged { 2 } else { 1 };
        packets + all().map(growth).max().unwrap_or(0)
    };
    let weight = u128::from(own.weight.0);
    let starts = (weights * (u128::from(own.longest) + spread(own))).div_ceil(weight);
    let in_ring = if load.ring > 1 { longest } else { 0 };
    Meanwhile::Evenly {
        ahead: starts + longest + overdue + in_ring + rounded_units(weights, load),
        parts: (weights * PARTS).div_ceil(weight) - PARTS,
    }
}

/// What tags and virtual time are rounded down by, in bytes: a unit of all weights for each packet.
pub(super) fn rounded_units(weights: u128, load: &Load) -> u128 {
    ((2 * load.drift().1 * weights) >> UNITS) + 2
}

impl Order for Tags {
    type State = Tag;

    const LINGERS: bool = true;
    const PLACE: usize = 24 + 32 + 16 + 3 * 4;

    fn state(&self) -> Tag {
        Tag::NONE
    }

    #[inline]
    fn joins<V>(&mut self, flows: &mut Flows<Tag, V>, slot: u32, packet: &Packet, now: Time) {
        let v = self.virtual_time(now);
        let flow = flows.at_mut(slot);
        if flow.own.packets > 0 {
            return;
        }
        let tag = &mut flow.own.sched;
        if tag.weight == 0 {
            let slots = slot as usize + 1;
            self.ready.grow(slots);
            self.waits.grow(slots);
            self.idle.grow(slots);
            tag.weight = self.weights.of(packet);
            self.sum += u64::from(tag.weight);
        } else {
            self.idle.remove(slot);
        }
        tag.start = tag.start.max(v);
        let (id, tag) = (flow.id, *tag);
        self.place(slot, id, tag, packet);
    }

    #[inline]
    fn next<V>(&mut self, _: &mut Flows<Tag, V>) -> Option<u32> {
        self.first()
    }

    #[inline]
    fn charge<V>(
        &mut self,
        flows: &mut Flows<Tag, V>,
        slot: u32,
        packet: &Packet,
        now: Time,
    ) -> bool {
        let flow = flows.at_mut(slot);
        let finish = self.finish(flow.own.sched, packet);
        let start = std::mem::replace(&mut flow.own.sched.start, finish);
        let (id, tag) = (flow.id, flow.own.sched);
        self.sent = (now, Time::MAX);
        match self.rule {
            TagRule::Finish => self.v = self.v.max(finish),
            TagRule::Start => self.v = self.v.max(start),
            TagRule::Eligible => {
                let sum = self.sum.max(self.least_sum);
                if start > self.v {
                    (self.v, self.carry) = (start, 0);
                }
                let work = (u64::from(packet.len) << UNITS) + self.carry;
                (self.growth, self.carry) = (work / sum, work % sum);
                self.v += self.growth;
            }
            TagRule::Clock => {}
        }
        let lost = match flows.head(slot) {
            Some(first) => {
                self.waits.remove(slot);
                self.place(slot, id, tag, first);
                false
            }
            None => self.empties(flows, slot),
        };
        self.release();
        if self.v > REBASE {
            self.rebase(flows);
        }
        lost
    }

    fn missed<V>(&mut self, flows: &mut Flows<Tag, V>, slot: u32) -> bool {
        self.empties(flows, slot)
    }

    fn pushed_out<V>(&mut self, flows: &mut Flows<Tag, V>, slot: u32) {
        let flow = flows.at(slot);
        let (id, tag) = (flow.id, flow.own.sched);
        match flows.head(slot) {
            Some(first) => {
                self.waits.remove(slot);
                self.place(slot, id, tag, first);
            }
            None => {
                self.ready.remove(slot);
                self.waits.remove(slot);
                self.idle.set(slot, tag.start);
            }
        }
    }

    #[inline]
    fn expired<V>(&mut self, flows: &mut Flows<Tag, V>) -> Option<u32> {
        self.remove_idle(flows, self.past())
    }

    fn withdraw<V>(&mut self, flows: &mut Flows<Tag, V>, now: Time) -> Option<u32> {
        let until = match self.rule {
            TagRule::Clock => now.as_ps(),
            _ if now < self.sent.1 => return None,
            _ => u64::MAX,
        };
        let found = self.remove_idle(flows, until);
        if found.is_none() && self.rule != TagRule::Clock {
            (self.v, self.growth, self.carry) = (0, 0, 0);
        }
        found
    }

    fn transmits_until(&mut self, end: Time) {
        self.sent.1 = end;
    }

    fn clear(&mut self) {
        self.ready.clear();
        self.waits.clear();
        self.idle.clear();
        (self.v, self.growth, self.carry, self.sum) = (0, 0, 0, 0);
        self.sent = (Time::ZERO, Time::ZERO);
    }

    fn retune(&mut self, fresh: &Self) {
        self.bps = fresh.bps;
    }

    fn weights(&self, dscp: Option<Dscp>) -> (u64, u64) {
        self.weights.range(dscp)
    }

    fn meanwhile(
        &self,
        own: &Member,
        others: &Others,
        judged: bool,
        load: &Load,
    ) -> Vec<Meanwhile> {
        vec![match self.rule {
            TagRule::Finish | TagRule::Start => self.self_clocked(own, others, judged),
            TagRule::Eligible => eligible(own, others, judged, load, self.least_sum),
            TagRule::Clock => self.in_time(own, others, judged, load),
        }]
    }

    /// A packet of any queue that follows a dropped one may move V beyond what others expected.
    fn bounds_each(&self, judged: bool) -> bool {
        !judged && matches!(self.rule, TagRule::Finish | TagRule::Start)
    }

    fn head<'f, V>(&self, flows: &'f Flows<Tag, V>) -> Option<&'f Packet> {
        flows.head(self.first()?)
    }
}

#[cfg(test)]
#[path = "tags_tests.rs"]
mod tests;
