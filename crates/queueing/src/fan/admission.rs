//! The cross-protect router: admission control of flows in front of a fair queue.
//!
//! Source: J. Domżał, R. Wójcik, A. Jajszczyk, "The Impact of Congestion Control Mechanisms on
//! Network Performance after Failure in Flow-Aware Networks", 2008; A. Kortebi, S. Oueslati, J.
//! Roberts, "Cross-protect", IEEE HPSR 2004.
//!
//! Idea: a packet of a flow on the protected list passes. A packet of another flow passes only
//! while the link is not congested, and then its flow is listed. The link is congested when a
//! flow's fair rate is too low, or the load of priority traffic too high; both are measured at
//! fixed ticks and constant in between.
//!
//! Order at one instant: the end of a transmission, the ticks, arrivals. A link that has failed
//! transmits nothing, so its time down counts as idle; its ticks and the times of its lists go on.
//!
//! Cost: O(1) per packet beside the scheduler.

use std::sync::Arc;

use spillgate_core::{DropReason, Dropped, Dscp, Dur, FlowKey, Packet, Rate, Rng, Time};

use super::estimator::Indicators;
use super::lists::FlowList;
use super::mechanism::Mechanism;
use super::scheduler::{FairQueue, FairScheduler, FanClass};
use super::share::{Access, SharedLists};
use super::waits::{AdmissionState, Wait};
use crate::engine::{Schedule, refuse_at};
use crate::evidence::{Cause, Evidence, QueueLimit, Refusal, Refused};
use crate::guarantee::{self, Guarantee, Load, Reason};
use crate::leaf::Bound;
use crate::share::{Fairness, Meanwhile, Member, Others};
use crate::stats::Cx;

/// Thresholds of congestion, and the limit of admissions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AdmissionThresholds {
    /// In b/s.
    pub(crate) min_fair_rate: f64,
    /// A share of the link.
    pub(crate) max_priority_load: f64,
    pub(crate) p_add: f64,
    /// The largest number of flows listed between two fair-rate ticks.
    pub(crate) quota: u32,
    pub(crate) accept_trigger: bool,
}

/// The number of flows that a tick may check for silence.
const SWEEP: u32 = 256;

/// A running cross-protect router of one link.
#[derive(Clone, Debug)]
pub(crate) struct Fan {
    queue: FairQueue,
    bound: Bound,
    rate: Rate,
    indicators: Indicators,
    thresholds: AdmissionThresholds,
    mechanism: Mechanism,
    list: Access,
    /// Its number among the links that share the list.
    member: u16,
    /// Name of the list to share.
    share: Option<Box<str>>,
    /// The scheduler has been told that the link is idle.
    idle: bool,
    /// The scheduler could not list a flow, and no tick has found room since.
    saturated: bool,
    /// Flows listed since the last fair-rate tick.
    listed: u32,
    /// Length and transmission time of the last packet.
    last_tx: (u32, Dur),
    refusal: Option<Refusal>,
}

/// The parts of a router.
pub(crate) struct Parts {
    pub(crate) queue: FairQueue,
    pub(crate) bound: Bound,
    pub(crate) rate: Rate,
    pub(crate) indicators: Indicators,
    pub(crate) thresholds: AdmissionThresholds,
    pub(crate) mechanism: Mechanism,
    /// An empty list that no link has joined.
    pub(crate) list: FlowList,
    /// The name of the list, if several links share it.
    pub(crate) share: Option<String>,
}

impl Fan {
    pub(crate) fn new(mut parts: Parts) -> Self {
        let member = match parts.share {
            // The link joins the shared list when it is built.
            Some(_) => 0,
            None => parts.list.join(parts.mechanism.asks_age()),
        };
        Self {
            queue: parts.queue,
            bound: parts.bound,
            rate: parts.rate,
            indicators: parts.indicators,
            thresholds: parts.thresholds,
            mechanism: parts.mechanism,
            list: Access::Own(Box::new(parts.list)),
            member,
            share: parts.share.map(Into::into),
            idle: true,
            saturated: false,
            listed: 0,
            last_tx: (0, parts.rate.tx_time(0)),
            refusal: None,
        }
    }

    /// Catches up with the ticks and the idle time before `end`, for which there were no calls.
    #[inline]
    fn catch_up(&mut self, end: Time) {
        if !self.idle && self.queue.totals().packets == 0 {
            let since = self.indicators.busy_until();
            if since < end {
                self.ticks(since);
                self.queue.idle();
                self.idle = true;
            }
        }
        self.ticks(end);
    }

    #[inline]
    fn ticks(&mut self, end: Time) {
        if self.indicators.next() < end {
            self.tick(end);
        }
    }

    #[inline(never)]
    fn tick(&mut self, end: Time) {
        let (fair, priority) = (
            self.queue.totals().fair_bytes,
            self.queue.totals().priority_bytes,
        );
        if self.indicators.advance(end, fair, priority) {
            self.listed = 0;
            self.saturated &= self.queue.saturated();
        }
        // A flow whose silence equals the time-out stays.
        let last = Time::from_ps(end.as_ps().saturating_sub(1));
        self.list.with(|l| l.sweep(last, SWEEP));
    }

    fn congestion(&self) -> Option<Refused> {
        let t = &self.thresholds;
        if self.indicators.fair_rate() < t.min_fair_rate {
            Some(Refused::FairRate)
        } else if self.indicators.priority_load() > t.max_priority_load {
            Some(Refused::PriorityLoad)
        } else {
            self.saturated.then_some(Refused::ActiveFlows)
        }
    }

    /// Decides whether a packet of a flow may pass; the reason if not.
    #[inline]
    fn admit(&mut self, now: Time, flow: u32, rng: &mut Rng) -> Option<Refused> {
        if self.mechanism.is_behind() {
            let (mechanism, member) = (&mut self.mechanism, self.member);
            self.list.with(|l| mechanism.go_on(flow, l, member));
        }
        if let Some(until) = self.mechanism.blocked_until(now, flow) {
            let member = self.member;
            self.list.with(|l| l.refused(now, member, flow));
            return Some(Refused::Blocked { until });
        }
        if self.list.with(|l| l.refresh(now, flow)) {
            if self.list.is_shared() {
                let member = self.member;
                self.list.with(|l| l.passed(now, member, flow));
            }
            return None;
        }
        self.admit_new(now, flow, rng)
    }

    /// Decides whether a packet of an unlisted flow may pass; the reason if not.
    #[inline(never)]
    fn admit_new(&mut self, now: Time, flow: u32, rng: &mut Rng) -> Option<Refused> {
        let mut refused = self.congestion();
        let (member, queue) = (self.member, &self.queue);
        if refused.is_some() {
            let mechanism = &mut self.mechanism;
            let acted = self
                .list
                .with(|l| mechanism.congested(now, |f| queue.is_backlogged(f), l, member));
            if acted && self.thresholds.accept_trigger {
                self.indicators.reset_fair_rate();
                refused = self.congestion();
            }
        }
        if refused.is_none() && self.listed >= self.thresholds.quota {
            refused = Some(Refused::Quota);
        }
        if refused.is_some() {
            self.list.with(|l| l.refused(now, member, flow));
            return refused;
        }
        let p = self.thresholds.p_add;
        if p >= 1.0 || rng.chance(p) {
            if self.mechanism.is_behind() {
                let mechanism = &mut self.mechanism;
                self.list.with(|l| mechanism.make_room(l, member));
            }
            self.listed += u32::from(self.list.with(|l| l.insert(now, member, flow)));
        }
        self.list.with(|l| l.passed(now, member, flow));
        None
    }

    /// Copies of list and mechanism with pending removals done, if there are any; for gauges.
    fn caught_up(&self) -> Option<(FlowList, Mechanism)> {
        if !self.mechanism.is_behind() {
            return None;
        }
        let mut mechanism = self.mechanism.clone();
        let mut list = self.list.see(FlowList::clone);
        mechanism.finish(&mut list, self.member);
        Some((list, mechanism))
    }

    fn expect_flows(&mut self, n: usize) {
        self.mechanism.expect_flows(n);
        self.list.with(|l| l.expect_flows(n));
    }

    /// Takes rate, limit and thresholds of the same discipline at another rate.
    pub(crate) fn retune(&mut self, now: Time, fresh: Self) {
        // The measurements until now are of the old rate.
        self.catch_up(now);
        self.queue.set_bound(fresh.bound);
        self.bound = fresh.bound;
        self.rate = fresh.rate;
        self.last_tx = fresh.last_tx;
        self.indicators.set_capacity(fresh.rate);
        self.thresholds = fresh.thresholds;
    }

    #[inline]
    fn tx_time(&mut self, len: u32) -> Dur {
        if len != self.last_tx.0 {
            self.last_tx = (len, self.rate.tx_time(len));
        }
        self.last_tx.1
    }
}

/// The first instant after `now`.
fn after(now: Time) -> Time {
    now + Dur::from_ps(1)
}

impl Schedule for Fan {
    fn enqueue(&mut self, packet: &mut Packet, cx: &mut Cx<'_>) {
        packet.leaf = 0;
        cx.offered(packet);
        let (now, flow) = (cx.now, packet.flow);
        self.catch_up(after(now));
        if let Some(why) = self.admit(now, flow, cx.rng) {
            self.refusal = Some(Refusal {
                why,
                fair_rate: self.indicators.fair_rate(),
                min_fair_rate: self.thresholds.min_fair_rate,
                priority_load: self.indicators.priority_load(),
                max_priority_load: self.thresholds.max_priority_load,
                mechanism: self.mechanism.name(),
            });
            cx.refused(*packet, DropReason::Admission);
            return;
        }
        let unlisted = self.queue.totals().unlisted;
        let queued = self.queue.offer(*packet, &mut |victim| {
            cx.evicted(victim, DropReason::PushedOut);
        });
        match queued {
            Some(_) => cx.enqueued(packet, false),
            None => cx.refused(*packet, DropReason::Tail),
        }
        self.saturated |= self.queue.totals().unlisted != unlisted;
        let (queue, mechanism, member) = (&self.queue, &mut self.mechanism, self.member);
        if mechanism.may_mark(queued == Some(FanClass::Backlog)) {
            self.list
                .with(|l| mechanism.offered(flow, || queue.is_backlogged(flow), l, member));
        }
    }

    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        self.ticks(cx.now);
        let packet = self.queue.pop()?;
        cx.dequeued(&packet);
        let tx = self.tx_time(packet.len);
        self.indicators.transmit(cx.now, tx);
        self.idle = false;
        Some(packet)
    }

    fn transmits_until(&mut self, _: u16, end: Time) {
        self.indicators.busy_to(end);
    }

    fn refuse(&mut self, packet: Packet, reason: DropReason, cx: &mut Cx<'_>) {
        refuse_at(0, packet, reason, cx);
    }

    fn flush(&mut self, reason: DropReason, cx: &mut Cx<'_>) {
        self.catch_up(after(cx.now));
        self.queue.flush(&mut |packet| cx.evicted(packet, reason));
        // The packet in transmission is lost, too.
        self.indicators.cut(cx.now);
        self.idle = true;
    }

    fn attach(&mut self, flows: &Arc<[FlowKey]>, lists: &mut SharedLists) {
        if let Some(name) = &self.share {
            let Access::Own(list) = &self.list else {
                return;
            };
            let shared = lists.get(name, list);
            self.list = Access::Shared(shared);
            let aged = self.mechanism.asks_age();
            self.member = self.list.with(|l| l.join(aged));
        }
        self.expect_flows(flows.len());
    }

    fn add_flow(&mut self, _: FlowKey, n: usize) {
        self.expect_flows(n);
    }

    fn renew(&mut self, now: Time, flow: u32) {
        let (mechanism, member) = (&mut self.mechanism, self.member);
        self.list.with(|l| {
            mechanism.leave(flow, l, member);
            l.renew(now, flow);
        });
        self.mechanism.renew(flow);
    }

    fn leaf_names(&self) -> Vec<String> {
        vec!["fan".to_owned()]
    }

    fn held(&self, _: usize) -> u32 {
        self.queue.totals().packets
    }

    fn evidence(&self, _: Time, lost: &Dropped, _: (u32, u64)) -> Evidence {
        Evidence {
            limit: self.limit(0),
            cause: self
                .refusal
                .filter(|_| lost.reason == DropReason::Admission)
                .map_or(Cause::Plain, Cause::Admission),
            ..Evidence::default()
        }
    }

    fn limit(&self, _: usize) -> QueueLimit {
        self.bound.limit()
    }

    fn guarantee(&self, _: u16, load: &Load) -> Result<Guarantee, Reason> {
        guarantee::fair(self, load, false)
    }

    fn waits(&self, now: Time) -> Vec<Wait> {
        match self.caught_up() {
            None => self.list.see(|l| l.waits(now, self.member)),
            Some((list, _)) => list.waits(now, self.member),
        }
    }

    fn admission(&self, now: Time) -> Option<AdmissionState> {
        // Copying the rest would copy the whole list.
        let mut seen = Sight {
            indicators: self.indicators,
            saturated: self.saturated,
        };
        seen.look(self, after(now));
        let t = &self.thresholds;
        let (listed, blocked, flushes) = match self.caught_up() {
            None => (
                self.list.see(|l| l.listed(now)),
                self.mechanism.blocked(now),
                self.mechanism.acts(),
            ),
            Some((list, m)) => (list.listed(now), m.blocked(now), m.acts()),
        };
        Some(AdmissionState {
            fair_rate: seen.indicators.fair_rate(),
            priority_load: seen.indicators.priority_load(),
            congested: seen.indicators.fair_rate() < t.min_fair_rate
                || seen.indicators.priority_load() > t.max_priority_load
                || seen.saturated,
            listed,
            blocked,
            flushes,
        })
    }

    fn memory_bytes(&self, flows: usize) -> u64 {
        let list = self.list.see(|l| l.memory_bytes(flows));
        let queue = FairScheduler::memory_bytes(&self.queue, flows);
        queue
            .saturating_add(list)
            .saturating_add(self.mechanism.memory_bytes(flows))
    }
}

/// Admission only refuses packets.
impl Fairness for Fan {
    fn weights(&self, _: Option<Dscp>) -> (u64, u64) {
        (1, 1)
    }

    fn hashed(&self) -> Option<u32> {
        None
    }

    fn meanwhile(&self, own: &Member, others: &Others, _: &Load) -> Vec<Meanwhile> {
        self.queue.meanwhile(own, others).into_iter().collect()
    }

    fn holds(&self, _: &Member, _: &Others) -> (QueueLimit, QueueLimit) {
        let limit = self.bound.limit();
        (limit, limit)
    }

    fn unknown(&self, flows: u64) -> Option<Reason> {
        let why =
            "the list of active flows may be full, and packets of other flows go first without end";
        (!self.queue.lists_all(flows)).then(|| why.into())
    }
}

/// The state that [`Fan::catch_up`] changes, for gauges.
struct Sight {
    indicators: Indicators,
    saturated: bool,
}

impl Sight {
    fn look(&mut self, fan: &Fan, end: Time) {
        let (fair, priority) = (
            fan.queue.totals().fair_bytes,
            fan.queue.totals().priority_bytes,
        );
        let mut saturated = fan.queue.saturated();
        let since = self.indicators.busy_until();
        if !fan.idle && fan.queue.totals().packets == 0 && since < end {
            let ticked = self.indicators.advance(since, fair, priority);
            self.saturated &= saturated || !ticked;
            saturated = false;
        }
        let ticked = self.indicators.advance(end, fair, priority);
        self.saturated &= saturated || !ticked;
    }
}
