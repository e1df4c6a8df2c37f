//! Fair queues by flow, composed of three parts: an order in which queues send, a way to sort
//! packets into queues, and an AQM for each queue.
//!
//! Where there is no room, the queue with the most bytes loses packets from its head. The AQM is
//! asked when a packet arrives at its queue, before it is queued, and about each packet at the head
//! of the queue that is to send; packets dropped then are not charged. A queue is remembered while
//! its AQM has state of it.

use std::any::{Any, TypeId};
use std::fmt::Debug;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{
    DropReason, Dropped, Dscp, Ecn, FlowKey, Limit, Packet, Rate, Size, Time, Verdict,
};

use super::flows::{Flows, Sorting};
use crate::aqm::{AqmSpec, Automaton, Backlog, Custom, DropStage, LeafFacts, Unmanaged};
use crate::evidence::{Cause, QueueLimit};
use crate::guarantee::Load;
use crate::leaf::{Bound, Leaf, Queue, ring_packets};
use crate::line::Line;
use crate::recipe::At;
use crate::share::{Fairness, Meanwhile, Member, Others, UNKNOWN};
use crate::spec::Scope;
use crate::stats::{Cx, State};
use spillgate_core::Problem;

/// The backlog that the AQM of a queue sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Guard {
    /// That of all queues together (Linux): CoDel may drop the last packet of a flow.
    #[default]
    Total,
    /// That of the packet's own queue (ns-3).
    Flow,
}

/// The order in which queues send: the scheduler.
pub(crate) trait Order: Clone + Debug + Send + Sync + 'static {
    /// Its state of one queue.
    type State: Clone + Debug + Send + Sync;

    /// Whether queues without packets keep places that they lose later.
    const LINGERS: bool = false;
    /// Memory for the place of a queue at most, in bytes.
    const PLACE: usize = 4;

    /// The state of a queue that has no place in the order.
    fn state(&self) -> Self::State;
    /// A packet is about to be appended to the queue in `slot`: it takes its place, if it has none.
    fn joins<V>(
        &mut self,
        flows: &mut Flows<Self::State, V>,
        slot: u32,
        packet: &Packet,
        now: Time,
    );
    /// The queue that is to send now, perhaps one without packets.
    fn next<V>(&mut self, flows: &mut Flows<Self::State, V>) -> Option<u32>;
    /// That queue sends this packet. Returns whether it lost its place.
    fn charge<V>(
        &mut self,
        flows: &mut Flows<Self::State, V>,
        slot: u32,
        packet: &Packet,
        now: Time,
    ) -> bool;
    /// That queue had nothing to send. Returns whether it lost its place.
    fn missed<V>(&mut self, flows: &mut Flows<Self::State, V>, slot: u32) -> bool;
    /// Packets were pushed out from the head of a queue, perhaps all.
    fn pushed_out<V>(&mut self, flows: &mut Flows<Self::State, V>, slot: u32);
    /// Removes a queue without packets whose place means nothing any more, after a packet was sent.
    fn expired<V>(&mut self, _: &mut Flows<Self::State, V>) -> Option<u32> {
        None
    }
    /// Removes some queue from the order, when all queues are empty.
    fn withdraw<V>(&mut self, flows: &mut Flows<Self::State, V>, now: Time) -> Option<u32>;
    /// The packet that was sent last is in transmission until `end`.
    fn transmits_until(&mut self, _end: Time) {}
    /// Forgets all places.
    fn clear(&mut self);
    /// Takes the parameters of the same order at another rate.
    fn retune(&mut self, _: &Self) {}
    /// The least and the most that it weighs packets of a code point, or of any.
    fn weights(&self, _: Option<Dscp>) -> (u64, u64) {
        (1, 1)
    }
    /// What other queues may send while a queue sends x bytes; `judged`: their AQMs may drop the
    /// packet that is to leave. Of several the worst may happen; none: nothing is known.
    fn meanwhile(
        &self,
        _own: &Member,
        _others: &Others,
        _judged: bool,
        _load: &Load,
    ) -> Vec<Meanwhile> {
        Vec::new()
    }
    /// Why that is nothing.
    fn nothing(&self) -> &'static str {
        UNKNOWN
    }
    /// Whether what one other queue may send meanwhile does not depend on the rest.
    fn bounds_each(&self, _judged: bool) -> bool {
        true
    }
    /// The next packet if no AQM drops it.
    fn head<'f, V>(&self, flows: &'f Flows<Self::State, V>) -> Option<&'f Packet>;
}

/// A fair queue without its AQM.
#[derive(Clone, Debug)]
pub(crate) struct Frame<O> {
    /// The name of the leaf that it is.
    pub(crate) name: &'static str,
    pub(crate) order: O,
    pub(super) sorting: Sorting,
    /// The limit of all queues together.
    pub(crate) bound: Bound,
    /// Packets that the longest queue loses at most when there is no room; 0: what arrives is
    /// dropped then.
    pub(crate) batch: u32,
    pub(crate) guard: Guard,
}

impl<O: Order> Frame<O> {
    /// The fair queue, with this AQM in each queue.
    pub(crate) fn under<A: Automaton>(self, aqm: A) -> Box<dyn FlowQueue> {
        Box::new(Fair::new(self, aqm))
    }
}

/// The specification of a fair queue.
pub(crate) trait FlowQueueSpec {
    /// Checks the parameters; the rate of `line` is that of the queue.
    fn resolve(&self, at: &mut At<'_>, line: &Line) -> Result<Box<dyn FlowQueue>, Problem>;
    /// The same as the discipline of a port.
    fn engine(&self, at: &mut At<'_>, scope: &Scope<'_>) -> Result<Leaf, Problem> {
        let queue = Queue::Flows(self.resolve(at, &scope.line)?);
        Ok(Leaf::new(queue, Bound::NONE, None))
    }
    /// The limit of all queues together, with times converted at `rate`.
    fn bound(&self, rate: Rate) -> Bound;
    /// The AQM of each queue.
    fn aqm(&self) -> Option<AqmSpec>;
    /// Whether the parameters of that AQM are its own.
    fn is_one_with_aqm(&self) -> bool {
        false
    }
    /// Whether flows have queues of their own.
    fn by_flow(&self) -> bool {
        true
    }
    /// The limits of all queues together, by key.
    fn limits(&self) -> Vec<(&'static str, Limit)>;
    /// Bytes that a queue of weight 1 may send in its turn; none: the longest packet.
    fn quantum(&self) -> Option<Size>;
}

/// A fair queue with this AQM, if any, in each of its queues. The thresholds of the AQM apply to
/// one queue; its rate and limit are those of all queues together.
pub(super) fn managed<O: Order>(
    frame: Frame<O>,
    aqm: Option<&AqmSpec>,
    at: &mut At<'_>,
    rate: Rate,
) -> Result<Box<dyn FlowQueue>, Problem> {
    let Some(aqm) = aqm else {
        return Ok(frame.under(Unmanaged));
    };
    let facts = LeafFacts {
        rate,
        max_packets: frame.bound.max_packets(),
        limit: frame.bound.as_limit(),
    };
    at.key("aqm", |at| aqm.manage(frame, at, &facts))
}

/// A fair queue as a leaf holds it.
pub(crate) trait FlowQueue: Debug + Send + Sync {
    /// The name of the leaf that it is.
    fn name(&self) -> &'static str;
    /// Queues a packet or drops it, and drops others for which there is no room. `was` is the
    /// packet's field before an AQM in front of the queue marked it; dropped, it has that again.
    /// Returns the change of the number of queued packets; none, and nothing is done, if there
    /// would be no room if all queues were empty.
    fn offer(&mut self, packet: &mut Packet, was: Ecn, cx: &mut Cx<'_>) -> Option<i64>;
    /// The next packet, after those that the AQM drops before it.
    fn pop(&mut self, cx: &mut Cx<'_>) -> Option<Packet>;
    /// Whether it reads what packets acknowledge ([`Cx::ack`]).
    fn filters_acknowledgments(&self) -> bool {
        false
    }
    /// Queued packets.
    fn packets(&self) -> u32;
    /// The packet that left last is in transmission until `end`.
    fn transmits_until(&mut self, end: Time);
    /// The next packet if nothing drops it.
    fn head(&self) -> Option<&Packet>;
    /// Whether that is certain; else another one may leave in its place.
    fn foretells(&self) -> bool {
        true
    }
    /// Sets the flows, by [`Packet::flow`].
    fn attach(&mut self, _flows: &[FlowKey]) {}
    /// Announces another flow.
    fn add_flow(&mut self, _key: &FlowKey) {}
    /// Drops all packets.
    fn flush(&mut self, reason: DropReason, cx: &mut Cx<'_>);
    /// What time series show of it: always the same names.
    fn state(&self) -> State {
        State::new()
    }
    /// Why `lost` was dropped.
    fn evidence(&self, lost: &Dropped) -> Cause;
    /// Whether packets of one queue are treated by their code points.
    fn tells_precedences(&self) -> bool {
        false
    }
    /// The limit of all queues together.
    fn bound(&self) -> &Bound;
    /// What it guarantees its queues.
    fn fairness(&self) -> &dyn Fairness;
    /// Whether it drops packets only where they exceed its limit.
    fn drops_only_at_limits(&self) -> bool {
        false
    }
    /// Whether its AQMs may drop the packet that is to leave.
    fn judges_departures(&self) -> bool;
    /// Upper estimate of its memory in bytes when it is full, for so many flows.
    fn memory_bytes(&self, flows: usize) -> u64;
    /// Takes limits and parameters from the same queue at another rate.
    fn retune(&mut self, fresh: &dyn FlowQueue);
    /// The same queue, which is empty, with this AQM in each of its queues; none if it takes none.
    fn under(&self, _aqm: Custom) -> Option<Box<dyn FlowQueue>> {
        None
    }
    /// A copy.
    fn boxed(&self) -> Box<dyn FlowQueue>;
    /// Itself, to find out its type.
    fn as_any(&self) -> &dyn Any;
    /// The order in which its queues send, to find out its type.
    fn order(&self) -> &dyn Any {
        &()
    }
}

impl Clone for Box<dyn FlowQueue> {
    fn clone(&self) -> Self {
        (**self).boxed()
    }
}

const NONE: u32 = u32::MAX;

/// A running fair queue.
#[derive(Clone, Debug)]
pub(super) struct Fair<O: Order, A: Automaton> {
    pub(super) flows: Flows<O::State, A::Vars>,
    pub(super) order: O,
    aqm: A,
    bound: Bound,
    batch: u32,
    guard: Guard,
    /// Slot of the queue that a packet left last, if it is remembered.
    last: u32,
    name: &'static str,
}

impl<O: Order, A: Automaton> Fair<O, A> {
    pub(super) fn new(frame: Frame<O>, aqm: A) -> Self {
        Self {
            flows: Flows::new(frame.sorting),
            order: frame.order,
            aqm,
            bound: frame.bound,
            batch: frame.batch,
            guard: frame.guard,
            last: NONE,
            name: frame.name,
        }
    }

    #[inline]
    fn backlog(&self, slot: u32) -> Backlog {
        let flow = self.flows.at(slot);
        let (packets, bytes) = match self.guard {
            Guard::Total => (self.flows.packets, self.flows.bytes),
            Guard::Flow => (flow.own.packets, flow.waiting.into()),
        };
        let head = if A::ASKS_HEAD {
            self.flows.head(slot).map(|p| p.arrived)
        } else {
            None
        };
        Backlog {
            packets,
            bytes,
            head,
            drain_rate: self.aqm.drain_rate(&flow.own.vars),
            ..Backlog::default()
        }
    }

    /// The place of the first packet of a queue that its AQM passes, and whether that marks it.
    #[inline]
    fn take(&mut self, slot: u32, cx: &mut Cx<'_>) -> Option<(u32, bool)> {
        let mut stage = DropStage::First;
        loop {
            let Some(at) = self.flows.unlink(slot) else {
                let vars = &mut self.flows.at_mut(slot).own.vars;
                self.aqm.exhausted(vars, cx.now, stage);
                return None;
            };
            let flow = self.flows.at_mut(slot);
            if flow.queue.is_empty() {
                self.aqm.emptied(&mut flow.own.vars, cx.now);
            }
            if !A::JUDGES_DEPARTURES {
                return Some((at, false));
            }
            let backlog = self.backlog(slot);
            let (flow, packet) = self.flows.with_packet(slot, at);
            let vars = &mut flow.own.vars;
            let verdict = self
                .aqm
                .departure(vars, &mut stage, cx.now, &backlog, packet, cx.rng);
            match verdict {
                Verdict::Pass => return Some((at, false)),
                Verdict::Mark => return Some((at, true)),
                Verdict::Drop(reason) => cx.evicted(*packet, reason),
            }
        }
    }

    /// An empty queue has no place in the order any more.
    #[inline]
    fn retire(&mut self, slot: u32) {
        let vars = &mut self.flows.at_mut(slot).own.vars;
        self.aqm.retired(vars);
        if self.aqm.is_new(vars) {
            self.forget(slot);
        }
    }

    #[inline]
    fn forget(&mut self, slot: u32) {
        self.flows.forget(slot);
        if slot == self.last {
            self.last = NONE;
        }
    }

    /// All queues are empty.
    fn idle(&mut self, now: Time) {
        while let Some(slot) = self.order.withdraw(&mut self.flows, now) {
            self.retire(slot);
        }
        self.flows.emptied();
    }

    /// Drops packets for which there is no room, and returns whether the packet that `arrived` in
    /// this slot is kept.
    #[inline(never)]
    fn make_room(&mut self, arrived: u32, cx: &mut Cx<'_>) -> bool {
        let (aqm, order, now) = (&self.aqm, &mut self.order, cx.now);
        let kept = self.flows.make_room(
            &self.bound,
            self.batch,
            arrived,
            &mut |victim| cx.evicted(victim, DropReason::PushedOut),
            |flows, slot, packets| {
                let flow = flows.at_mut(slot);
                aqm.pushed_out(&mut flow.own.vars, packets);
                if flow.queue.is_empty() {
                    aqm.emptied(&mut flow.own.vars, now);
                }
                order.pushed_out(flows, slot);
            },
        );
        if self.flows.packets == 0 {
            self.idle(now);
        }
        kept
    }

    /// The backlog of the flow of a packet: packets and bytes.
    pub(super) fn flows_backlog(&self, packet: &Packet) -> (u32, u64) {
        match self.flows.find(packet) {
            Some(slot) => {
                let flow = self.flows.at(slot);
                (flow.own.packets, flow.waiting.into())
            }
            None => (0, 0),
        }
    }
}

impl<O: Order, A: Automaton> FlowQueue for Fair<O, A> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn tells_precedences(&self) -> bool {
        A::TELLS_PRECEDENCES
    }

    fn offer(&mut self, packet: &mut Packet, was: Ecn, cx: &mut Cx<'_>) -> Option<i64> {
        if !self.bound.admits(0, 0, packet.len) {
            return None;
        }
        self.flows.prepare(cx.rng);
        if O::LINGERS && self.flows.packets == 0 {
            self.idle(cx.now);
        }
        let (order, aqm) = (&self.order, &self.aqm);
        let slot = self.flows.slot(packet, || (order.state(), aqm.vars()));
        if self.batch == 0
            && !self
                .bound
                .admits(self.flows.packets, self.flows.bytes, packet.len)
        {
            self.aqm.overflowed(&mut self.flows.at_mut(slot).own.vars);
            packet.ecn = was;
            cx.refused(*packet, DropReason::Tail);
            return Some(0);
        }
        let backlog = self.backlog(slot);
        let vars = &mut self.flows.at_mut(slot).own.vars;
        let mut marked = packet.ecn != was;
        match self.aqm.arrival(vars, cx.now, &backlog, packet, cx.rng) {
            Verdict::Pass => {}
            Verdict::Mark => (packet.ecn, marked) = (Ecn::Ce, true),
            Verdict::Drop(reason) => {
                packet.ecn = was;
                cx.refused(*packet, reason);
                return Some(0);
            }
        }
        self.order.joins(&mut self.flows, slot, packet, cx.now);
        self.flows.push(slot, packet);
        if self.bound.holds(self.flows.packets, self.flows.bytes) {
            cx.enqueued(packet, marked);
            return Some(1);
        }
        let before = self.flows.packets - 1;
        if self.make_room(slot, cx) {
            cx.enqueued(packet, marked);
        } else {
            packet.ecn = was;
            cx.refused(*packet, DropReason::PushedOut);
        }
        Some(i64::from(self.flows.packets) - i64::from(before))
    }

    fn pop(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        loop {
            let slot = self.order.next(&mut self.flows)?;
            let Some((at, marked)) = self.take(slot, cx) else {
                if self.order.missed(&mut self.flows, slot) {
                    self.retire(slot);
                }
                continue;
            };
            self.last = slot;
            // It stays in its place until the next one is queued.
            let mut packet = *self.flows.packet(at);
            if self.order.charge(&mut self.flows, slot, &packet, cx.now) {
                self.retire(slot);
            }
            if O::LINGERS {
                while let Some(slot) = self.order.expired(&mut self.flows) {
                    self.retire(slot);
                }
            }
            if self.flows.packets == 0 {
                self.idle(cx.now);
            }
            if marked {
                packet.ecn = Ecn::Ce;
                cx.marked(&packet);
            }
            cx.dequeued(&packet);
            return Some(packet);
        }
    }

    fn packets(&self) -> u32 {
        self.flows.packets
    }

    fn transmits_until(&mut self, end: Time) {
        self.order.transmits_until(end);
        if self.last != NONE && self.flows.at(self.last).queue.is_empty() {
            let vars = &mut self.flows.at_mut(self.last).own.vars;
            self.aqm.emptied(vars, end);
        }
    }

    fn head(&self) -> Option<&Packet> {
        self.order.head(&self.flows)
    }

    fn flush(&mut self, reason: DropReason, cx: &mut Cx<'_>) {
        self.flows.flush(&mut |packet| cx.evicted(packet, reason));
        self.order.clear();
        self.last = NONE;
    }

    fn state(&self) -> State {
        vec![("flows_queued", self.flows.backlogged() as f64)]
    }

    fn evidence(&self, lost: &Dropped) -> Cause {
        match lost.reason {
            DropReason::Early | DropReason::Forced => {
                self.aqm.cause(&lost.packet).unwrap_or_default()
            }
            DropReason::PushedOut => {
                let (packets, bytes) = self.flows_backlog(&lost.packet);
                Cause::Flow {
                    packets,
                    bytes,
                    limit: QueueLimit::default(),
                }
            }
            _ => Cause::Plain,
        }
    }

    fn bound(&self) -> &Bound {
        &self.bound
    }

    fn fairness(&self) -> &dyn Fairness {
        self
    }

    fn drops_only_at_limits(&self) -> bool {
        TypeId::of::<A>() == TypeId::of::<Unmanaged>()
    }

    fn judges_departures(&self) -> bool {
        A::JUDGES_DEPARTURES
    }

    fn memory_bytes(&self, flows: usize) -> u64 {
        self.flows
            .memory_bytes(ring_packets(&self.bound), flows, O::PLACE)
    }

    fn retune(&mut self, fresh: &dyn FlowQueue) {
        self.bound = *fresh.bound();
        if let Some(fresh) = fresh.order().downcast_ref() {
            self.order.retune(fresh);
        }
        // A custom AQM has no specification, and stays.
        if let Some(fresh) = fresh.as_any().downcast_ref::<Self>() {
            self.aqm = fresh.aqm.clone();
        }
    }

    fn under(&self, aqm: Custom) -> Option<Box<dyn FlowQueue>> {
        let frame = Frame {
            name: self.name,
            order: self.order.clone(),
            sorting: self.flows.sorting(),
            bound: self.bound,
            batch: self.batch,
            guard: self.guard,
        };
        Some(frame.under(aqm))
    }

    fn boxed(&self) -> Box<dyn FlowQueue> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn order(&self) -> &dyn Any {
        &self.order
    }
}

impl<O: Order, A: Automaton> Fairness for Fair<O, A> {
    fn weights(&self, dscp: Option<Dscp>) -> (u64, u64) {
        self.order.weights(dscp)
    }

    fn hashed(&self) -> Option<u32> {
        self.flows.sorting().queues()
    }

    fn meanwhile(&self, own: &Member, others: &Others, load: &Load) -> Vec<Meanwhile> {
        self.order
            .meanwhile(own, others, A::JUDGES_DEPARTURES, load)
    }

    fn nothing(&self) -> &'static str {
        self.order.nothing()
    }

    /// Turns of one are counted beside those of another.
    fn bounds_each(&self) -> bool {
        self.order.bounds_each(A::JUDGES_DEPARTURES)
    }

    /// One queue may hold all, since the longest loses packets only where there is no room.
    fn holds(&self, _: &Member, _: &Others) -> (QueueLimit, QueueLimit) {
        let limit = self.bound.limit();
        (limit, limit)
    }
}

/// A fair queue with what its calls need.
#[cfg(test)]
pub(super) struct Driven<O: Order, A: Automaton> {
    pub(super) queue: Fair<O, A>,
    desk: crate::stats::Desk,
}

#[cfg(test)]
impl<O: Order, A: Automaton> Driven<O, A> {
    pub(super) fn new(queue: Fair<O, A>) -> Self {
        let desk = crate::stats::Desk::new();
        Self { queue, desk }
    }

    /// Offers a packet when it arrives; what is dropped.
    pub(super) fn offer(&mut self, mut packet: Packet) -> Vec<(u32, u32)> {
        let mut cx = self.desk.at(packet.arrived);
        let ecn = packet.ecn;
        self.queue.offer(&mut packet, ecn, &mut cx);
        self.desk.dropped()
    }

    /// What is dropped, and what leaves.
    pub(super) fn pop(&mut self, now: Time) -> (Vec<(u32, u32)>, Option<Packet>) {
        let left = self.queue.pop(&mut self.desk.at(now));
        (self.desk.dropped(), left)
    }
}

#[cfg(test)]
mod tests {
    use super::super::drr::Turns;
    use super::super::flows::Own;
    use super::super::fq::Credit;
    use super::super::table::Flow;
    use super::*;

    /// A queue in bytes, as the documentation has it.
    fn bytes<A: Automaton, S>() -> usize {
        size_of::<Flow<Own<S, A::Vars>>>()
    }

    #[test]
    fn queues_are_small() {
        use crate::aqm::{Codel, Early, Red, Wred};
        assert_eq!(bytes::<Unmanaged, Turns>(), 28);
        assert_eq!(bytes::<Codel, Credit>(), 64);
        assert_eq!(
            (bytes::<Early<Red>, Credit>(), bytes::<Early<Red>, Turns>()),
            (64, 64)
        );
        assert_eq!(bytes::<Early<Wred>, Credit>(), 48);
    }
}
