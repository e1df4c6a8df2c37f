//! A leaf: a queue, its limit and its AQM.
//!
//! On arrival the AQM decides first, then the hard limit, so that the average sees every arrival
//! (RED 1993); a mark is set only on a packet that is queued. An AQM that decides at departure
//! (CoDel) is asked about each packet that comes to the head, until one passes.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{DropReason, Dropped, Dscp, Ecn, FlowKey, Limit, Packet, Rate, Time, Verdict};

use crate::aqm::{Aqm, Custom, DropStage, Managed, Upstream, UpstreamUse, Waiting};
use crate::evidence::{Cause, Evidence, QueueLimit};
use crate::sched::flow_queue::FlowQueue;
use crate::sched::flow_wfq::{Admission, Conversations};
use crate::share::Fairness;
use crate::stats::{Cx, LeafGauges, State};

/// A resolved limit; both parts must hold after a packet was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(crate) packets: u32,
    pub(crate) bytes: u64,
}

impl Bound {
    pub(crate) const NONE: Self = Self {
        packets: u32::MAX,
        bytes: u64::MAX,
    };

    /// Resolves `limit`; a time becomes the bytes that `rate` sends in it.
    pub(crate) fn new(limit: Limit, rate: Rate) -> Self {
        match limit {
            Limit::Packets(packets) => Self {
                packets,
                ..Self::NONE
            },
            Limit::Bytes(bytes) => Self {
                bytes,
                ..Self::NONE
            },
            Limit::Time(d) => Self {
                bytes: rate.bytes_in(d),
                ..Self::NONE
            },
        }
    }

    /// The limit for a queue that counts bytes in 32 bits.
    pub(crate) fn in_4_gib(self) -> Self {
        Self {
            bytes: self.bytes.min(u64::from(u32::MAX)),
            ..self
        }
    }

    /// Whether a backlog is within the limit.
    #[inline]
    pub(crate) fn holds(&self, packets: u32, bytes: u64) -> bool {
        packets <= self.packets && bytes <= self.bytes
    }

    /// Whether a packet of `len` bytes fits in addition to this backlog.
    #[inline]
    pub(crate) fn admits(&self, packets: u32, bytes: u64, len: u32) -> bool {
        packets < self.packets && bytes.saturating_add(u64::from(len)) <= self.bytes
    }

    pub(crate) fn as_limit(&self) -> Limit {
        if self.packets < u32::MAX {
            Limit::Packets(self.packets)
        } else {
            Limit::Bytes(self.bytes)
        }
    }

    pub(crate) fn limit(&self) -> QueueLimit {
        QueueLimit {
            packets: self.max_packets(),
            bytes: (self.bytes < crate::recipe::UNLIMITED_BYTES).then_some(self.bytes),
        }
    }

    pub(crate) fn max_packets(&self) -> Option<u32> {
        (self.packets < u32::MAX).then_some(self.packets)
    }
}

/// Limits of a queue for packets of some DSCPs, beside its own (weighted tail drop).
///
/// Source: Cisco ME 2400 and ME 3400 command references, `queue-limit`: a threshold by DSCP,
/// precedence, CoS or QoS group, at most the limit of the queue.
#[derive(Clone, Debug)]
pub(crate) struct DscpBounds(Box<[Bound; 64]>);

impl DscpBounds {
    /// The limit of each DSCP; [`Bound::NONE`] for none.
    pub(crate) fn new(of: impl Fn(Dscp) -> Bound) -> Self {
        let bound = |v: usize| Dscp::new(v as u8).map_or(Bound::NONE, &of);
        Self(Box::new(std::array::from_fn(bound)))
    }

    #[inline]
    fn of(&self, packet: &Packet) -> Bound {
        self.of_dscp(packet.treated_as())
    }

    #[inline]
    fn of_dscp(&self, dscp: Dscp) -> Bound {
        self.0[usize::from(dscp.value() & 63)]
    }
}

/// The queue of a leaf.
#[derive(Clone, Debug)]
pub(crate) enum Queue {
    /// First in, first out.
    Ring(VecDeque<Packet>),
    /// First in, first out, with an AQM that is asked about each packet that leaves.
    Judged(VecDeque<Packet>),
    /// A fair queue by conversation.
    Fair(Box<Conversations>),
    /// A fair queue that pushes out from the longest of its queues.
    Flows(Box<dyn FlowQueue>),
}

impl Queue {
    /// The first packet, if packets leave in order.
    #[inline]
    pub(crate) fn first(&self) -> Option<&Packet> {
        match self {
            Self::Ring(r) | Self::Judged(r) => r.front(),
            Self::Fair(_) | Self::Flows(_) => None,
        }
    }

    /// The packet at this place from the head, if packets leave in order.
    pub(crate) fn at(&self, place: u32) -> Option<&Packet> {
        match self {
            Self::Ring(r) | Self::Judged(r) => r.get(place as usize),
            Self::Fair(_) | Self::Flows(_) => None,
        }
    }
}

/// What a full queue drops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WhenFull {
    /// What arrives.
    #[default]
    Tail,
    /// What has waited longest, so that senders learn of it sooner.
    Front,
    /// Any queued packet, each as likely.
    Random,
}

// What every packet touches comes first.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Leaf {
    pub(crate) queue: Queue,
    pub(crate) bound: Bound,
    pub(crate) thresholds: Option<DscpBounds>,
    pub(crate) aqm: Option<Aqm>,
    /// What it drops when it is full, if it is a ring.
    pub(crate) full: WhenFull,
    /// What waits in front of it.
    upstream: Upstream,
}

impl Leaf {
    pub(crate) fn new(queue: Queue, bound: Bound, aqm: Option<Aqm>) -> Self {
        let queue = match queue {
            Queue::Ring(ring) if aqm.as_ref().is_some_and(Aqm::judges_departures) => {
                Queue::Judged(ring)
            }
            queue => queue,
        };
        Self {
            queue,
            bound,
            aqm,
            thresholds: None,
            full: WhenFull::Tail,
            upstream: Upstream::NONE,
        }
    }

    /// Whether its packets are dropped by their code points.
    pub(crate) fn tells_precedences(&self) -> bool {
        let of_flows = match &self.queue {
            Queue::Flows(flows) => flows.tells_precedences(),
            Queue::Ring(_) | Queue::Judged(_) | Queue::Fair(_) => false,
        };
        of_flows
            || self.thresholds.is_some()
            || self.aqm.as_ref().is_some_and(Aqm::tells_precedences)
    }

    /// Takes limits and parameters from the same leaf at another rate.
    pub(crate) fn retune(&mut self, fresh: Self) {
        self.bound = fresh.bound;
        self.thresholds = fresh.thresholds;
        if let (Some(aqm), Some(fresh)) = (&mut self.aqm, fresh.aqm) {
            aqm.retune(fresh);
        }
        if let (Queue::Flows(flows), Queue::Flows(fresh)) = (&mut self.queue, &fresh.queue) {
            flows.retune(&**fresh);
        }
    }

    /// What it takes into account of queues in front of it.
    pub(crate) fn upstream_use(&self) -> UpstreamUse {
        match &self.queue {
            Queue::Ring(_) | Queue::Judged(_) => self
                .aqm
                .as_ref()
                .map_or(UpstreamUse::Nothing, Aqm::upstream_use),
            Queue::Fair(_) | Queue::Flows(_) => UpstreamUse::Unknown,
        }
    }

    /// There are queues in front of it, of which a packet counts as `weight` of one.
    pub(crate) fn watch_upstream(&mut self, weight: f64) {
        self.upstream = Upstream::weighted(weight);
    }

    /// So much waits in front of it from `now` on.
    #[inline]
    pub(crate) fn set_upstream(&mut self, now: Time, packets: u32, bytes: u64) {
        self.upstream.set(now, packets, bytes);
    }

    /// `bytes` arrived in front of it.
    #[inline]
    pub(crate) fn upstream_arrival(&mut self, now: Time, bytes: u32) {
        if let Some(aqm) = self.aqm.as_mut().filter(|_| self.upstream.weight() > 0.0) {
            aqm.upstream_arrival(now, &self.upstream, bytes);
        }
    }

    /// Whether queues in front of it count.
    pub(crate) fn watches_upstream(&self) -> bool {
        self.upstream.weight() > 0.0
    }

    /// Sets the AQM of its queue, which is empty; returns whether the queue takes one.
    pub(crate) fn manage(&mut self, aqm: Custom) -> bool {
        match &mut self.queue {
            Queue::Ring(ring) | Queue::Judged(ring) => {
                self.queue = Queue::Judged(std::mem::take(ring));
                self.aqm = Some(Aqm::Own(Managed::new(aqm)));
            }
            Queue::Flows(flows) => {
                let Some(managed) = flows.under(aqm) else {
                    return false;
                };
                *flows = managed;
                self.aqm = None;
            }
            Queue::Fair(_) => return false,
        }
        true
    }

    pub(crate) fn fifo(bound: Bound, aqm: Option<Aqm>) -> Self {
        Self::new(Queue::Ring(VecDeque::new()), bound, aqm)
    }

    /// The packet that [`Leaf::pop`] gives next if no AQM drops it; none if nothing waits.
    #[inline]
    pub(crate) fn head(&self) -> Option<&Packet> {
        match &self.queue {
            Queue::Ring(r) | Queue::Judged(r) => r.front(),
            Queue::Fair(f) => f.head(),
            Queue::Flows(f) => f.head(),
        }
    }

    /// Whether [`Leaf::head`] is certain, but for what an AQM drops.
    pub(crate) fn foretells(&self) -> bool {
        match &self.queue {
            Queue::Ring(_) | Queue::Judged(_) | Queue::Fair(_) => true,
            Queue::Flows(f) => f.foretells(),
        }
    }

    /// Sets the flows, for fair queues that look at addresses.
    pub(crate) fn attach(&mut self, flows: &[FlowKey]) {
        if let Queue::Flows(queue) = &mut self.queue {
            queue.attach(flows);
        }
    }

    /// Announces another flow.
    pub(crate) fn add_flow(&mut self, key: &FlowKey) {
        if let Queue::Flows(queue) = &mut self.queue {
            queue.add_flow(key);
        }
    }

    /// Whether packets leave in the order in which they came, but for those that its AQM drops.
    #[inline]
    pub(crate) fn is_fifo(&self) -> bool {
        matches!(self.queue, Queue::Ring(_) | Queue::Judged(_))
    }

    /// Whether it drops packets only where they exceed its limits.
    pub(crate) fn drops_only_at_limits(&self) -> bool {
        let of_flows = match &self.queue {
            Queue::Ring(_) | Queue::Judged(_) | Queue::Fair(_) => true,
            Queue::Flows(flows) => flows.drops_only_at_limits(),
        };
        of_flows && self.aqm.is_none() && self.thresholds.is_none()
    }

    /// Whether, first in, first out, it never loses a packet that is queued.
    pub(crate) fn loses_last(&self) -> bool {
        self.full == WhenFull::Tail && self.aqm.is_none()
    }

    /// Whether an AQM may drop the packet that is to leave, so that another one is sent.
    pub(crate) fn judges_departures(&self) -> bool {
        match &self.queue {
            Queue::Ring(_) | Queue::Fair(_) => false,
            Queue::Judged(_) => true,
            Queue::Flows(flows) => flows.judges_departures(),
        }
    }

    /// Whether it reads what packets acknowledge.
    pub(crate) fn filters_acknowledgments(&self) -> bool {
        match &self.queue {
            Queue::Ring(_) | Queue::Judged(_) | Queue::Fair(_) => false,
            Queue::Flows(flows) => flows.filters_acknowledgments(),
        }
    }

    /// What it guarantees its queues; none if it is one.
    pub(crate) fn fairness(&self) -> Option<&dyn Fairness> {
        match &self.queue {
            Queue::Ring(_) | Queue::Judged(_) => None,
            Queue::Fair(conversations) => Some(&**conversations),
            Queue::Flows(flows) => Some(flows.fairness()),
        }
    }

    /// The scheduler's tag of the first packet in a ring; the largest if there is none.
    #[inline]
    pub(crate) fn head_tag(&self) -> u64 {
        self.queue.first().map_or(u64::MAX, |p| p.tag)
    }

    /// Queues or drops a packet, and returns the change of the number of queued packets.
    #[inline]
    pub(crate) fn offer(&mut self, packet: &mut Packet, cx: &mut Cx<'_>) -> i64 {
        let mut marked = false;
        let (packets, bytes) = cx.backlog(packet.leaf);
        if let Some(aqm) = &mut self.aqm {
            let waiting = Waiting {
                packets,
                bytes,
                queue: &self.queue,
                upstream: &self.upstream,
            };
            let judged = aqm.judge_arrival(cx.now, &waiting, packet, cx.rng);
            if let Some(average) = judged.average {
                cx.averaged(packet, average);
            }
            match judged.verdict {
                Verdict::Pass => {}
                Verdict::Mark => marked = true,
                Verdict::Drop(reason) => {
                    let change = judged.victim.map_or(0, |at| self.evict(at, reason, cx));
                    if change < 0 {
                        self.emptied_if_empty(cx.now);
                    }
                    cx.refused(*packet, reason);
                    return change;
                }
            }
        }
        let mut change = 1;
        let fits = self.bound.admits(packets, bytes, packet.len);
        if !fits || self.is_above(packet, packets, bytes) {
            let Some(lost) = self.make_room(packet, cx) else {
                self.refuse(packet, cx);
                return 0;
            };
            change += lost;
        }
        let unmarked = packet.ecn;
        if marked {
            packet.ecn = Ecn::Ce;
        }
        match &mut self.queue {
            Queue::Ring(ring) | Queue::Judged(ring) => ring.push_back(*packet),
            Queue::Fair(fair) => match fair.offer(*packet) {
                Admission::Accepted => {}
                Admission::Evicted(victim) => {
                    cx.evicted(victim, DropReason::PushedOut);
                    cx.enqueued(packet, marked);
                    return 0;
                }
                Admission::Refused => {
                    packet.ecn = unmarked;
                    self.refuse(packet, cx);
                    return 0;
                }
            },
            Queue::Flows(flows) => {
                let Some(gained) = flows.offer(packet, unmarked, cx) else {
                    packet.ecn = unmarked;
                    self.refuse(packet, cx);
                    return 0;
                };
                self.emptied_if_empty(cx.now);
                return gained;
            }
        }
        cx.enqueued(packet, marked);
        change
    }

    /// Drops queued packets until this one fits, and returns the change of their number; none, and
    /// nothing is done, if that is not what a full queue drops, or is of no help.
    #[cold]
    fn make_room(&mut self, packet: &Packet, cx: &mut Cx<'_>) -> Option<i64> {
        let (packets, bytes) = cx.backlog(packet.leaf);
        let helps = self.full != WhenFull::Tail && self.bound.admits(0, 0, packet.len);
        if !helps || self.is_above(packet, packets, bytes) {
            return None;
        }
        let mut change = 0;
        loop {
            let (packets, bytes) = cx.backlog(packet.leaf);
            if self.bound.admits(packets, bytes, packet.len) {
                break;
            }
            let at = match self.full {
                WhenFull::Tail | WhenFull::Front => 0,
                WhenFull::Random => cx.rng.below(packets),
            };
            change += self.evict(at, DropReason::PushedOut, cx);
        }
        if let Some(aqm) = &mut self.aqm {
            aqm.pushed_out(-change as u32);
        }
        Some(change)
    }

    /// Drops the queued packet at this place of a ring, and returns the change of their number.
    #[cold]
    fn evict(&mut self, at: u32, reason: DropReason, cx: &mut Cx<'_>) -> i64 {
        let (Queue::Ring(ring) | Queue::Judged(ring)) = &mut self.queue else {
            return 0;
        };
        let Some(packet) = ring.remove(at as usize) else {
            return 0;
        };
        cx.evicted(packet, reason);
        if let Some(aqm) = &mut self.aqm {
            aqm.evicted(at, &packet);
        }
        -1
    }

    /// Whether the packet would exceed the threshold of its DSCP.
    #[inline]
    fn is_above(&self, packet: &Packet, packets: u32, bytes: u64) -> bool {
        let own = self.thresholds.as_ref().map(|t| t.of(packet));
        own.is_some_and(|own| !own.admits(packets, bytes, packet.len))
    }

    #[cold]
    fn refuse(&mut self, packet: &Packet, cx: &mut Cx<'_>) {
        if let Some(aqm) = &mut self.aqm {
            aqm.overflowed();
        }
        cx.refused(*packet, DropReason::Tail);
    }

    /// The packets that it holds.
    pub(crate) fn held(&self) -> u32 {
        match &self.queue {
            Queue::Ring(r) | Queue::Judged(r) => r.len() as u32,
            Queue::Fair(f) => f.packets(),
            Queue::Flows(f) => f.packets(),
        }
    }

    /// The next packet of this leaf, after those that the AQM drops before it; none if it drops
    /// all.
    #[inline]
    pub(crate) fn pop(&mut self, leaf: u16, cx: &mut Cx<'_>) -> Option<Packet> {
        match &mut self.queue {
            Queue::Ring(_) | Queue::Fair(_) => {}
            Queue::Judged(_) => return self.pop_judged(leaf, cx),
            Queue::Flows(flows) => {
                let packet = flows.pop(cx);
                self.emptied_if_empty(cx.now);
                return packet;
            }
        }
        // By reference: each move of a packet is a copy.
        let head = self.take_head(cx.now);
        if let Some(packet) = &head {
            cx.dequeued(packet);
        }
        head
    }

    #[inline(never)]
    fn pop_judged(&mut self, leaf: u16, cx: &mut Cx<'_>) -> Option<Packet> {
        let mut stage = DropStage::First;
        loop {
            let Some(mut packet) = self.take_head(cx.now) else {
                if let Some(aqm) = &mut self.aqm {
                    aqm.exhausted(cx.now, stage);
                }
                return None;
            };
            let verdict = match &mut self.aqm {
                Some(aqm) => {
                    let (packets, bytes) = cx.backlog(leaf);
                    let waiting = Waiting {
                        packets: packets - 1,
                        bytes: bytes - u64::from(packet.len),
                        queue: &self.queue,
                        upstream: &self.upstream,
                    };
                    aqm.judge_departure(&mut stage, cx.now, &waiting, &packet, cx.rng)
                }
                None => Verdict::Pass,
            };
            match verdict {
                Verdict::Pass => {}
                Verdict::Mark => {
                    packet.ecn = Ecn::Ce;
                    cx.marked(&packet);
                }
                Verdict::Drop(reason) => {
                    cx.evicted(packet, reason);
                    continue;
                }
            }
            cx.dequeued(&packet);
            return Some(packet);
        }
    }

    #[inline]
    fn take_head(&mut self, now: Time) -> Option<Packet> {
        let head = match &mut self.queue {
            Queue::Ring(r) | Queue::Judged(r) => r.pop_front(),
            Queue::Fair(f) => f.pop(),
            // It dequeues and flushes by itself.
            Queue::Flows(_) => None,
        };
        if head.is_some() {
            self.emptied_if_empty(now);
        }
        head
    }

    /// Drops all packets.
    pub(crate) fn flush(&mut self, reason: DropReason, cx: &mut Cx<'_>) {
        if let Queue::Flows(flows) = &mut self.queue {
            let waited = flows.packets() > 0;
            flows.flush(reason, cx);
            if waited {
                self.emptied_if_empty(cx.now);
            }
        }
        while let Some(packet) = self.take_head(cx.now) {
            cx.evicted(packet, reason);
        }
    }

    /// Tells the AQM if nothing is queued since `at`.
    #[inline]
    fn emptied_if_empty(&mut self, at: Time) {
        let Some(aqm) = &mut self.aqm else { return };
        let empty = match &self.queue {
            Queue::Ring(r) | Queue::Judged(r) => r.is_empty(),
            Queue::Fair(f) => f.packets() == 0,
            Queue::Flows(f) => f.packets() == 0,
        };
        if empty {
            aqm.emptied(at);
        }
    }

    /// The packet that left last is in transmission until `end`.
    #[inline]
    pub(crate) fn transmits_until(&mut self, end: Time) {
        self.emptied_if_empty(end);
        if let Queue::Flows(flows) = &mut self.queue {
            flows.transmits_until(end);
        }
    }

    /// Why `lost` was dropped, with so much queued now; the AQM's odds are those of its last
    /// verdict.
    pub(crate) fn evidence(&self, lost: &Dropped, backlog: (u32, u64)) -> Evidence {
        let of_flow = || match &self.queue {
            Queue::Ring(_) | Queue::Judged(_) => Cause::Plain,
            Queue::Fair(fair) => fair.evidence(&lost.packet),
            Queue::Flows(flows) => flows.evidence(lost),
        };
        let (limit, cause) = match lost.reason {
            // A fair queue has its AQM inside; the leaf has none that could have decided later.
            _ if matches!(self.queue, Queue::Flows(_)) && of_flow() != Cause::Plain => {
                (self.limit(), of_flow())
            }
            DropReason::Early | DropReason::Forced => {
                let cause = self.aqm.as_ref().and_then(|a| a.cause(&lost.packet));
                (self.limit(), cause.unwrap_or_default())
            }
            DropReason::Tail => (
                self.limit(),
                self.of_threshold(lost, backlog).unwrap_or_else(of_flow),
            ),
            _ => (self.limit(), Cause::Plain),
        };
        Evidence {
            limit,
            cause,
            ..Evidence::default()
        }
    }

    /// The threshold of its DSCP, if that caused the drop of `lost` while the queue itself had
    /// room.
    fn of_threshold(&self, lost: &Dropped, (packets, bytes): (u32, u64)) -> Option<Cause> {
        let packet = &lost.packet;
        let has_room = self.bound.admits(packets, bytes, packet.len);
        (has_room && self.is_above(packet, packets, bytes)).then(|| {
            let of = self
                .thresholds
                .as_ref()
                .map_or(Bound::NONE, |t| t.of(packet));
            Cause::Threshold {
                dscp: packet.treated_as(),
                limit: of.limit(),
            }
        })
    }

    /// The limit.
    pub(crate) fn limit(&self) -> QueueLimit {
        let limit = self.bound.limit();
        match &self.queue {
            Queue::Ring(_) | Queue::Judged(_) => limit,
            Queue::Fair(fair) => QueueLimit {
                packets: limit.packets.into_iter().chain([fair.hold_queue()]).min(),
                ..limit
            },
            Queue::Flows(flows) => flows.bound().limit(),
        }
    }

    /// The limit that packets of a code point find, or packets of any.
    pub(crate) fn limit_of(&self, dscp: Option<Dscp>) -> QueueLimit {
        let own = dscp.and_then(|d| Some(self.thresholds.as_ref()?.of_dscp(d).limit()));
        self.limit().and(own.unwrap_or_default())
    }

    pub(crate) fn gauges(&self, now: Time) -> LeafGauges {
        let aqm = self.aqm.as_ref();
        let mut state = aqm.map_or_else(State::new, |aqm| aqm.state(now));
        if let Queue::Flows(flows) = &self.queue {
            state.extend(flows.state());
        }
        let average = |bytes| {
            let aqm = aqm.filter(|a| a.averages_bytes() == bytes);
            aqm.and_then(Aqm::average)
        };
        LeafGauges {
            head: self.head().map(|p| p.arrived),
            average_queue: average(false),
            average_bytes: average(true),
            probability: aqm.and_then(Aqm::probability),
            state,
        }
    }

    /// Upper estimate of the memory of the full queue in bytes, for so many flows.
    pub(crate) fn memory_bytes(&self, flows: usize) -> u64 {
        let packet = std::mem::size_of::<Packet>() as u64;
        match &self.queue {
            Queue::Ring(_) | Queue::Judged(_) => packet * ring_packets(&self.bound),
            Queue::Fair(f) => f.memory_bytes(),
            Queue::Flows(f) => f.memory_bytes(flows),
        }
    }
}

/// The number of packets for which a ring under this bound may allocate, since rings double. Bytes
/// count as 64 B packets; a bound of 1 GB or more counts as unlimited and gives zero.
pub(crate) fn ring_packets(bound: &Bound) -> u64 {
    let by_bytes = if bound.bytes >= crate::recipe::UNLIMITED_BYTES {
        u64::MAX
    } else {
        bound.bytes / 64
    };
    match u64::from(bound.packets).min(by_bytes) {
        n if n >= u64::from(u32::MAX) => 0,
        n => n.next_power_of_two(),
    }
}
