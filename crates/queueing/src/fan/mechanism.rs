//! Congestion control mechanisms: they remove flows from the protected list when a new flow meets
//! congestion.
//!
//! Sources: J. Domżał, A. Jajszczyk, "New Congestion Control Mechanisms for Flow-Aware Networks",
//! IEEE ICC 2008; J. Domżał, R. Wójcik, A. Jajszczyk, "The Impact of Congestion Control Mechanisms
//! on Network Performance after Failure in Flow-Aware Networks", 2008.
//!
//! Cost: a flush of EFM under the sticky rule closes an epoch of the list, O(1). Otherwise elastic
//! flows are kept in a heap by the time of their admission, and each removal is paid for by an
//! admission: O(log n) per admission of an elastic flow (under the instant rule, whenever a flow
//! becomes elastic again), and nothing per packet.
//!
//! RAEF and RBAEF may have to remove very many flows at once. The packet that triggers this records
//! the instant and removes a few; later packets remove a few each, and the flow of each packet is
//! checked first, so that every decision is as if all had been removed at that instant. All flows
//! are removed by the triggering packet only where the result is needed at once: under the instant
//! rule, which asks the scheduler in its present state, with a list that other links share, and
//! where that packet itself is admitted.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use spillgate_core::{Dur, Time};

use super::lists::FlowList;
use super::spec::{ElasticRule, FanMechanism};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MechanismKind {
    Basic,
    /// The shortest time between flushes.
    Efm(Dur),
    /// The age from which on a flow is removed.
    Raef(Dur),
    /// That age, and how long a removed flow is blocked.
    Rbaef(Dur, Dur),
}

/// The number of flows that the triggering packet, and each packet after it, removes at most;
/// smaller in tests, so that removals are pending more often.
const STEPS: u32 = if cfg!(test) { 1 } else { 16 };

/// The age of a flow for comparison with cuts: the time of its admission, but at least the limit of
/// the last cut before the flow was marked, and the number of cuts before that. A flow leaves with
/// the first cut whose age is not below its own.
type Age = (Time, u32);

/// An instant at which all marked flows up to some age left the list.
#[derive(Clone, Copy, Debug)]
struct Cut {
    age: Age,
    at: Time,
    /// At least one of these flows has been found.
    found: bool,
}

/// A running congestion control mechanism of a link.
#[derive(Clone, Debug)]
pub(crate) struct Mechanism {
    kind: MechanismKind,
    rule: ElasticRule,
    /// Removals may be left to later packets.
    lazy: bool,
    /// The last flush of EFM.
    last: Option<Time>,
    /// Marked flows by age, and flows that have left the list since.
    elders: BinaryHeap<Reverse<(Age, u32)>>,
    /// By flow: its age in `elders` when it was last added. Empty if the mechanism does not use it.
    ages: Vec<Age>,
    /// Cuts that may still remove some flows, in order of time and of age.
    cuts: VecDeque<Cut>,
    /// The smallest age of the next flow that is marked.
    least: Age,
    blocked: Blocked,
    acts: u64,
}

/// The blocked flow list. All blocks last equally long, so they end in the order in which they
/// began.
#[derive(Clone, Debug, Default)]
struct Blocked {
    /// By flow: the end of its block, [`Time::ZERO`] for none. Empty if the mechanism does not
    /// block.
    until: Vec<Time>,
    /// The ends of blocks and their numbers, by time.
    ends: VecDeque<(Time, u32)>,
}

impl Blocked {
    fn add(&mut self, flow: u32, end: Time) {
        self.until[flow as usize] = end;
        // Flows that send are found out of order.
        let at = self.ends.partition_point(|(e, _)| *e < end);
        match self.ends.get_mut(at).filter(|(e, _)| *e == end) {
            Some((_, n)) => *n += 1,
            None => self.ends.insert(at, (end, 1)),
        }
    }
}

impl Mechanism {
    /// `at_once`: removals must be complete when the triggering packet has been handled.
    pub(crate) fn new(spec: &FanMechanism, rule: ElasticRule, at_once: bool) -> Self {
        Self {
            lazy: rule == ElasticRule::Sticky && !at_once,
            kind: match spec {
                FanMechanism::Basic(_) => MechanismKind::Basic,
                FanMechanism::Efm(s) => MechanismKind::Efm(s.pfl_flushing_timer),
                FanMechanism::Raef(s) => MechanismKind::Raef(s.active_time),
                FanMechanism::Rbaef(s) => MechanismKind::Rbaef(s.active_time, s.blocked_time),
            },
            rule,
            last: None,
            elders: BinaryHeap::new(),
            ages: Vec::new(),
            cuts: VecDeque::new(),
            least: (Time::ZERO, 0),
            blocked: Blocked::default(),
            acts: 0,
        }
    }

    /// The key under which a scenario writes it.
    pub(crate) fn name(&self) -> &'static str {
        match self.kind {
            MechanismKind::Basic => "basic",
            MechanismKind::Efm(_) => "efm",
            MechanismKind::Raef(_) => "raef",
            MechanismKind::Rbaef(..) => "rbaef",
        }
    }

    /// Whether a flush closes an epoch of the list, so that flows need not be found one by one.
    fn by_epoch(&self) -> bool {
        matches!(self.kind, MechanismKind::Efm(_)) && self.rule == ElasticRule::Sticky
    }

    /// Whether it needs the times of listing.
    pub(crate) fn asks_age(&self) -> bool {
        self.kind != MechanismKind::Basic && !self.by_epoch()
    }

    /// How often it has acted.
    pub(crate) fn acts(&self) -> u64 {
        self.acts
    }

    pub(crate) fn expect_flows(&mut self, n: usize) {
        if self.asks_age() && n > self.ages.len() {
            self.ages.resize(n, (Time::ZERO, 0));
        }
        if matches!(self.kind, MechanismKind::Rbaef(..)) && n > self.blocked.until.len() {
            self.blocked.until.resize(n, Time::ZERO);
        }
    }

    /// Upper estimate of its memory in bytes for so many flows.
    pub(crate) fn memory_bytes(&self, flows: usize) -> u64 {
        let elder = std::mem::size_of::<(Age, u32)>() as u64;
        let age = std::mem::size_of::<Age>() as u64;
        // The heap has up to twice the marked flows, and doubles its capacity.
        let elders = if self.asks_age() { 4 * elder + age } else { 0 };
        let blocked = if matches!(self.kind, MechanismKind::Rbaef(..)) {
            8
        } else {
            0
        };
        (flows as u64).saturating_mul(elders + blocked)
    }

    /// The end of a flow's block, if it lasts.
    #[inline]
    pub(crate) fn blocked_until(&self, now: Time, flow: u32) -> Option<Time> {
        let until = self.blocked.until.get(flow as usize).copied()?;
        (now < until).then_some(until)
    }

    /// From now on the number belongs to another flow, which is not blocked.
    pub(crate) fn renew(&mut self, flow: u32) {
        if let Some(until) = self.blocked.until.get_mut(flow as usize) {
            *until = Time::ZERO;
        }
    }

    /// Flows that are blocked at `now`.
    pub(crate) fn blocked(&self, now: Time) -> u32 {
        let lasting = self.blocked.ends.iter().filter(|(end, _)| now < *end);
        lasting.map(|(_, n)| n).sum()
    }

    /// Whether a packet that was offered to the scheduler may make its flow elastic; `behind` if it
    /// was queued behind priority packets.
    #[inline]
    pub(crate) fn may_mark(&self, behind: bool) -> bool {
        match (self.kind, self.rule) {
            (MechanismKind::Basic, _) => false,
            (_, ElasticRule::Sticky) => behind,
            (_, ElasticRule::Instant) => true,
        }
    }

    /// Handles such a packet. `would_wait`: the flow's next packet would get no priority.
    #[inline]
    pub(crate) fn offered(
        &mut self,
        flow: u32,
        would_wait: impl FnOnce() -> bool,
        list: &mut FlowList,
        member: u16,
    ) {
        let elastic = self.rule == ElasticRule::Sticky || would_wait();
        if elastic && list.mark(member, flow) && !self.by_epoch() {
            let age = self.least.max((list.added(flow), self.least.1));
            self.expect_flows(flow as usize + 1);
            self.ages[flow as usize] = age;
            self.elders.push(Reverse((age, flow)));
            // Flows that end without congestion would stay in the heap.
            if self.elders.len() > 2 * list.marked(member) as usize + 64 {
                let ages = &self.ages;
                self.elders.retain(|Reverse((age, flow))| {
                    list.is_marked(member, *flow) && ages[*flow as usize] == *age
                });
            }
        }
    }

    /// A packet of an unlisted flow meets a congested link; true if the mechanism acted.
    pub(crate) fn congested(
        &mut self,
        now: Time,
        would_wait: impl Fn(u32) -> bool,
        list: &mut FlowList,
        member: u16,
    ) -> bool {
        let acted = match self.kind {
            MechanismKind::Basic => false,
            MechanismKind::Efm(timer) => {
                let due = self.last.is_none_or(|last| now.since(last) >= timer);
                if due {
                    self.last = Some(now);
                    if self.by_epoch() {
                        list.flush(now, member);
                    } else {
                        self.remove(now, Dur::ZERO, would_wait, list, member);
                    }
                }
                due
            }
            MechanismKind::Raef(active) | MechanismKind::Rbaef(active, _) => {
                let ends = &mut self.blocked.ends;
                while ends.front().is_some_and(|(end, _)| *end <= now) {
                    ends.pop_front();
                }
                if self.lazy {
                    self.cut(now, active, list, member);
                    return false; // it counts once it is known whether a flow was removed
                }
                self.remove(now, active, would_wait, list, member) > 0
            }
        };
        self.acts += u64::from(acted);
        acted
    }

    /// Removes the elastic flows that were listed at least `age` ago, and returns their number.
    fn remove(
        &mut self,
        now: Time,
        age: Dur,
        would_wait: impl Fn(u32) -> bool,
        list: &mut FlowList,
        member: u16,
    ) -> u32 {
        let mut removed = 0;
        while let Some(&Reverse((its, flow))) = self.elders.peek() {
            if now.since(its.0) < age {
                break;
            }
            self.elders.pop();
            if !list.is_marked(member, flow) || self.ages[flow as usize] != its {
                continue;
            }
            if self.rule == ElasticRule::Instant && !would_wait(flow) {
                list.unmark(flow);
                continue;
            }
            if list.remove(now, member, flow) {
                removed += 1;
                self.block(now, flow);
            }
        }
        removed
    }

    /// A flow was removed.
    fn block(&mut self, at: Time, flow: u32) {
        if let MechanismKind::Rbaef(_, time) = self.kind {
            self.expect_flows(flow as usize + 1);
            self.blocked.add(flow, at + time);
        }
    }

    /// Starts a removal as [`Self::remove`], to be completed later.
    fn cut(&mut self, now: Time, age: Dur, list: &mut FlowList, member: u16) {
        let Some(last) = now.as_ps().checked_sub(age.as_ps()) else {
            return;
        };
        let (_, before) = self.least;
        let cut = Cut {
            age: (Time::from_ps(last), before),
            at: now,
            found: false,
        };
        let due = |e: &Reverse<(Age, u32)>| e.0.0 <= cut.age;
        if self.cuts.is_empty() && !self.elders.peek().is_some_and(due) {
            return;
        }
        self.cuts.push_back(cut);
        self.least = (cut.age.0, before + 1);
        self.work(STEPS, list, member);
    }

    /// Whether removals are pending.
    #[inline]
    pub(crate) fn is_behind(&self) -> bool {
        !self.cuts.is_empty()
    }

    /// A packet of the flow arrives while removals are pending: removes that flow if a cut requires
    /// it, and some others.
    #[cold]
    pub(crate) fn go_on(&mut self, flow: u32, list: &mut FlowList, member: u16) {
        self.settle(flow, list, member);
        self.work(STEPS, list, member);
    }

    /// Completes all pending removals.
    pub(crate) fn finish(&mut self, list: &mut FlowList, member: u16) {
        self.work(u32::MAX, list, member);
    }

    /// Completes pending removals until there is room for one more flow.
    pub(crate) fn make_room(&mut self, list: &mut FlowList, member: u16) {
        while self.is_behind() && list.is_full() {
            self.work(1, list, member);
        }
    }

    fn work(&mut self, steps: u32, list: &mut FlowList, member: u16) {
        for _ in 0..steps {
            let Some(last) = self.cuts.back() else {
                break;
            };
            let next = self.elders.peek().map(|e| e.0);
            let Some((age, flow)) = next.filter(|(age, _)| *age <= last.age) else {
                self.cuts.clear();
                break;
            };
            self.elders.pop();
            if self.ages[flow as usize] == age {
                self.settle(flow, list, member);
            }
            // The remaining flows are not older.
            while self.cuts.front().is_some_and(|c| c.age < age) {
                self.cuts.pop_front();
            }
        }
        list.hold(self.is_behind());
    }

    /// Removes a flow if a cut requires it.
    fn settle(&mut self, flow: u32, list: &mut FlowList, member: u16) {
        if !list.is_marked(member, flow) {
            return;
        }
        let age = self.ages[flow as usize];
        let first = self.cuts.partition_point(|c| c.age < age);
        let Some(cut) = self.cuts.get_mut(first) else {
            return;
        };
        let at = cut.at;
        if list.remove(at, member, flow) {
            self.acts += u64::from(!std::mem::replace(&mut cut.found, true));
            self.block(at, flow);
        }
    }

    /// From now on the number belongs to another flow, to which earlier cuts do not apply.
    pub(crate) fn leave(&mut self, flow: u32, list: &mut FlowList, member: u16) {
        if self.is_behind() {
            self.settle(flow, list, member);
        }
    }
}
