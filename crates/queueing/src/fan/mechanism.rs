//! What removes flows from the protected list when a new flow meets congestion.
//!
//! Sources: J. Domżał, A. Jajszczyk, "New Congestion Control Mechanisms for
//! Flow-Aware Networks", IEEE ICC 2008; J. Domżał, R. Wójcik, A. Jajszczyk, "The
//! Impact of Congestion Control Mechanisms on Network Performance after Failure
//! in Flow-Aware Networks", 2008.
//!
//! Cost: a flush of EFM under the sticky rule closes an epoch of the list, O(1).
//! Otherwise elastic flows wait in a heap by the time of their admission, and
//! each removal is paid for by the admission that went before: O(log n) per
//! admission of an elastic flow (per change of mind of the scheduler under the
//! instant rule), and nothing per packet.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use spillgate_core::{Dur, Time};

use super::lists::FlowList;
use super::spec::{ElasticRule, FanMechanism};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Basic,
    /// Least time between flushes.
    Efm(Dur),
    /// Least age of a flow that is removed.
    Raef(Dur),
    /// The same, and how long it is blocked.
    Rbaef(Dur, Dur),
}

/// A running congestion control mechanism of a link.
#[derive(Clone, Debug)]
pub(crate) struct Mechanism {
    kind: Kind,
    rule: ElasticRule,
    /// The last flush of EFM.
    last: Option<Time>,
    /// Marked flows by the time of their admission, and others that have left the list since.
    elders: BinaryHeap<Reverse<(Time, u32)>>,
    blocked: Blocked,
    acts: u64,
}

/// The blocked flow list. All blocks last equally long, so they end in the order in which they began.
#[derive(Clone, Debug, Default)]
struct Blocked {
    /// By flow: the end of its block, [`Time::ZERO`] for none. Empty if nothing blocks.
    until: Vec<Time>,
    /// Ends of blocks, and how many.
    ends: VecDeque<(Time, u32)>,
}

impl Mechanism {
    pub(crate) fn new(spec: &FanMechanism, rule: ElasticRule) -> Self {
        Self {
            kind: match spec {
                FanMechanism::Basic(_) => Kind::Basic,
                FanMechanism::Efm(s) => Kind::Efm(s.pfl_flushing_timer),
                FanMechanism::Raef(s) => Kind::Raef(s.active_time),
                FanMechanism::Rbaef(s) => Kind::Rbaef(s.active_time, s.blocked_time),
            },
            rule,
            last: None,
            elders: BinaryHeap::new(),
            blocked: Blocked::default(),
            acts: 0,
        }
    }

    /// The key under which a scenario writes it.
    pub(crate) fn name(&self) -> &'static str {
        match self.kind {
            Kind::Basic => "basic",
            Kind::Efm(_) => "efm",
            Kind::Raef(_) => "raef",
            Kind::Rbaef(..) => "rbaef",
        }
    }

    /// Whether a flush closes an epoch of the list, and flows need not be found one by one.
    fn by_epoch(&self) -> bool {
        matches!(self.kind, Kind::Efm(_)) && self.rule == ElasticRule::Sticky
    }

    /// Whether it asks the list when flows were listed.
    pub(crate) fn asks_age(&self) -> bool {
        self.kind != Kind::Basic && !self.by_epoch()
    }

    /// How often it has acted.
    pub(crate) fn acts(&self) -> u64 {
        self.acts
    }

    pub(crate) fn expect_flows(&mut self, n: usize) {
        if matches!(self.kind, Kind::Rbaef(..)) && n > self.blocked.until.len() {
            self.blocked.until.resize(n, Time::ZERO);
        }
    }

    /// Upper estimate of its memory in bytes for so many flows.
    pub(crate) fn memory_bytes(&self, flows: usize) -> u64 {
        let elder = std::mem::size_of::<(Time, u32)>() as u64;
        // The heap is twice the flows that it is about, and doubles its room.
        let elders = if self.asks_age() { 4 * elder } else { 0 };
        let blocked = if matches!(self.kind, Kind::Rbaef(..)) {
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

    /// From here on the number belongs to another flow, which is not blocked.
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

    /// Whether a packet that was offered to the scheduler, and was queued behind the priority
    /// packets or not, may make its flow an elastic one.
    #[inline]
    pub(crate) fn may_mark(&self, behind: bool) -> bool {
        match (self.kind, self.rule) {
            (Kind::Basic, _) => false,
            (_, ElasticRule::Sticky) => behind,
            (_, ElasticRule::Instant) => true,
        }
    }

    /// Such a packet was offered. `would_wait`: the flow's next one would get no priority.
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
            self.elders.push(Reverse((list.added(flow), flow)));
            // Flows that end uncongested are never asked for.
            if self.elders.len() > 2 * list.marked(member) as usize + 64 {
                self.elders.retain(|Reverse((added, flow))| {
                    list.is_marked(member, *flow) && list.added(*flow) == *added
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
            Kind::Basic => false,
            Kind::Efm(timer) => {
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
            Kind::Raef(active) => self.remove(now, active, would_wait, list, member) > 0,
            Kind::Rbaef(active, time) => {
                let ends = &mut self.blocked.ends;
                while ends.front().is_some_and(|(end, _)| *end <= now) {
                    ends.pop_front();
                }
                let removed = self.remove(now, active, would_wait, list, member);
                if removed > 0 {
                    self.blocked.ends.push_back((now + time, removed));
                }
                removed > 0
            }
        };
        self.acts += u64::from(acted);
        acted
    }

    /// Removes the elastic flows that were listed at least `age` ago; how many.
    fn remove(
        &mut self,
        now: Time,
        age: Dur,
        would_wait: impl Fn(u32) -> bool,
        list: &mut FlowList,
        member: u16,
    ) -> u32 {
        let mut removed = 0;
        while let Some(&Reverse((added, flow))) = self.elders.peek() {
            if now.since(added) < age {
                break;
            }
            self.elders.pop();
            if !list.is_marked(member, flow) || list.added(flow) != added {
                continue;
            }
            if self.rule == ElasticRule::Instant && !would_wait(flow) {
                list.unmark(flow);
                continue;
            }
            if list.remove(now, member, flow) {
                removed += 1;
                if let Kind::Rbaef(_, time) = self.kind {
                    self.expect_flows(flow as usize + 1);
                    self.blocked.until[flow as usize] = now + time;
                }
            }
        }
        removed
    }
}
