//! The discipline that a port drives.

use std::fmt;
use std::sync::Arc;

use spillgate_core::{
    Acknowledgment, DropReason, Dropped, Drops, Dscp, FlowKey, Limit, Packet, Rate, Rng, Time,
};

use crate::aqm::{Aqm, ArrivalAqm, UpstreamUse};
use crate::condition::{Color, Colored};
use crate::custom::{CustomDiscipline, CustomEngine};
use crate::engine::Engine;
use crate::evidence::{BucketLevel, Cause, Evidence, QueueLimit};
use crate::fan::{AdmissionState, SharedLists, Wait};
use crate::guarantee::{Guarantee, Load, Reason, Sends};
use crate::leaf::{Leaf, Queue, WhenFull};
use crate::recipe::Origin;
use crate::stats::{Cx, LeafGauges, LeafStats, State, Total};
use spillgate_core::Problem;

/// A queue discipline: the queues in front of a port's server.
///
/// The driver calls [`Discipline::enqueue`] for every arrival and [`Discipline::dequeue`] whenever
/// the server is free, or a FIFO before it has room (a transmit ring). If that returns no packet
/// although some are queued, [`Discipline::next_wake`] tells when to try again. Both calls may drop
/// packets, into `drops`; the driver drains it after each call. The packet in transmission no
/// longer belongs to the discipline: it counts neither for limits nor for averages.
///
/// After each packet that it takes, the driver says when its transmission ends
/// ([`Discipline::transmits_until`]): averages of the queue's length count only the time after that
/// as idle.
///
/// Where the link fails, [`Discipline::flush`] drops the queued packets, and [`Discipline::refuse`]
/// those that arrive until the repair.
///
/// Times must not decrease from call to call; calls at the same instant may come in any order.
/// Extra calls of [`Discipline::next_wake`], and of [`Discipline::dequeue`] before the time that it
/// gives, change nothing.
// What every packet touches comes first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Discipline {
    total: Total,
    stats: Vec<LeafStats>,
    engine: Engine,
    /// The policy that it was built from; none if that does not depend on the rate.
    origin: Option<Arc<Origin>>,
    /// How many flows it knows.
    flows: usize,
}

impl Discipline {
    /// See [`crate::Recipe::write_identity`].
    pub(crate) fn write_identity(&self, out: &mut dyn fmt::Write, origin: bool) -> fmt::Result {
        write!(out, "{:?}", self.engine)?;
        match self.origin.as_ref().filter(|_| origin) {
            Some(origin) => origin.write(out),
            None => Ok(()),
        }
    }

    pub(crate) fn new(engine: Engine, origin: Option<Arc<Origin>>) -> Self {
        let leaves = engine.leaf_names().len();
        Self {
            engine,
            stats: vec![LeafStats::default(); leaves],
            total: Total::default(),
            origin,
            flows: 0,
        }
    }

    /// A discipline of your own, without flows.
    pub fn custom(discipline: Box<dyn CustomDiscipline>) -> Self {
        Self::new(Engine::Custom(CustomEngine::new(discipline)), None)
    }

    pub(crate) fn leaves_mut(&mut self) -> &mut [Leaf] {
        self.engine.leaves_mut()
    }

    pub(crate) fn attach(&mut self, flows: &Arc<[FlowKey]>, lists: &mut SharedLists) {
        self.flows = flows.len();
        self.engine.attach(flows, lists);
    }

    /// Adds a flow, for drivers that learn of flows as packets arrive, and returns the number that
    /// its packets must carry ([`Packet::flow`]). Queued packets are not touched. Cost: O(1),
    /// amortized.
    ///
    /// [`crate::FlowNumbers`] does this for each new flow.
    pub fn add_flow(&mut self, key: FlowKey) -> u32 {
        let flow = self.flows as u32;
        self.flows += 1;
        self.engine.add_flow(key, self.flows);
        flow
    }

    /// The number of flows that it knows: those it was built with, and those added since.
    pub fn flows(&self) -> usize {
        self.flows
    }

    /// The number of packets of unknown flows that arrived, if classes or policers look at
    /// addresses, protocol or ports. They are classified as if of protocol 0 between two addresses
    /// 0.0.0.0: by DSCP, and else into `class-default`. It is zero if the driver announces each
    /// flow.
    pub fn unknown(&self) -> u64 {
        self.engine.unknown()
    }

    /// Replaces the list of flows, by [`Packet::flow`]. Known flows keep their numbers, new ones
    /// follow; queued packets are not touched. Cost: O(n) in the flows.
    pub fn announce(&mut self, flows: &Arc<[FlowKey]>) {
        self.attach(flows, &mut SharedLists::new());
    }

    /// From `now` on the port sends at `rate`: parameters of the policy in percent, in time or
    /// relative to the link are resolved anew, as [`crate::Recipe::resolve`] does it, with the same
    /// warnings.
    ///
    /// - Queued packets stay, in order. If a limit has become smaller, arrivals are dropped (or a
    ///   fair queue pushes out) until there is room.
    /// - Shares of classes hold from the next packet on. Buckets keep their tokens, up to the new
    ///   burst, and a bucket that was full is full. A shaper whose burst has become smaller than a
    ///   queued packet sends it with a full bucket.
    /// - Averages, drop probabilities, virtual times, lists of flows and counters stay. The fair
    ///   rate of flow admission is the last measurement, at most the new rate, and stays that of an
    ///   idle link if it was.
    ///
    /// Custom AQMs are not changed; a custom discipline is told the rate.
    ///
    /// The driver handles the packet in transmission: [`Discipline::transmits_until`] sets a new
    /// end.
    ///
    /// # Errors
    /// If the policy cannot be built for this rate. The discipline is as before.
    pub fn set_rate(&mut self, now: Time, rate: Rate) -> Result<Vec<String>, Problem> {
        if let Engine::Custom(custom) = &mut self.engine {
            custom.set_rate(now, rate);
        }
        let Some(origin) = &self.origin else {
            return Ok(Vec::new());
        };
        let (fresh, warnings) = origin.engine(rate)?;
        self.engine.retune(now, fresh);
        Ok(warnings)
    }

    /// Sets the names of the links, by number, for classes that match the link over which a packet
    /// arrived.
    pub fn attach_links(&mut self, names: &Arc<[String]>) {
        self.engine.attach_links(names);
    }

    /// Says at which port it is, by the name of the link: a custom discipline is told.
    pub fn at_port(&mut self, name: &str) {
        self.engine.at_port(name);
    }

    /// Gives each marker that draws random numbers (`police` with a `window`) a stream of its own,
    /// by the name of its class (`parent/class` for nested ones). Without this call each has a
    /// fixed stream.
    pub fn seed(&mut self, stream: &dyn Fn(&str) -> Rng) {
        self.engine.seed(stream);
    }

    /// Whether packets are classified by CoS, QoS group or the link of arrival, which the driver
    /// then has to set ([`Packet::set_marks`]).
    pub fn looks_at_marks(&self) -> bool {
        self.engine.looks_at_marks()
    }

    /// Whether it drops acknowledgments that later ones make superfluous, for which the driver then
    /// has to tell what packets acknowledge ([`Discipline::enqueue_with`]).
    pub fn filters_acknowledgments(&self) -> bool {
        self.engine.filters_acknowledgments()
    }

    pub(crate) fn memory_bytes(&self, flows: usize) -> u64 {
        let leaf = std::mem::size_of::<LeafStats>() + std::mem::size_of::<Leaf>();
        let fixed = std::mem::size_of::<Self>() + self.stats.len() * leaf;
        self.engine.memory_bytes(flows).saturating_add(fixed as u64)
    }

    /// Offers a packet: it is queued or dropped, perhaps with other packets dropped in its place.
    /// Returns the leaf into which it is classified.
    #[inline]
    pub fn enqueue(&mut self, now: Time, pkt: Packet, rng: &mut Rng, drops: &mut Drops) -> u16 {
        self.enqueue_with(now, pkt, None, rng, drops)
    }

    /// As [`Discipline::enqueue`], of a packet that acknowledges this, if it is of TCP. To be
    /// called in its place where [`Discipline::filters_acknowledgments`].
    #[inline]
    pub fn enqueue_with(
        &mut self,
        now: Time,
        pkt: Packet,
        ack: Option<&Acknowledgment>,
        rng: &mut Rng,
        drops: &mut Drops,
    ) -> u16 {
        let mut cx = Cx {
            now,
            rng,
            drops,
            stats: &mut self.stats,
            total: &mut self.total,
            ack,
        };
        let mut packet = pkt;
        self.engine.enqueue(&mut packet, &mut cx);
        self.audit();
        self.total.offered_to
    }

    /// The packet to send now, with its [`Packet::leaf`] set; none if no packet is queued, if none
    /// may leave yet, or if an AQM dropped all that might have left.
    #[inline]
    pub fn dequeue(&mut self, now: Time, rng: &mut Rng, drops: &mut Drops) -> Option<Packet> {
        if self.total.packets == 0 {
            return None;
        }
        let mut cx = Cx {
            now,
            rng,
            drops,
            stats: &mut self.stats,
            total: &mut self.total,
            ack: None,
        };
        let packet = self.engine.dequeue(&mut cx);
        self.audit();
        packet
    }

    /// The packet of `leaf` that was dequeued last is in transmission until `end`. Called again
    /// with an earlier time if the link fails meanwhile.
    #[inline]
    pub fn transmits_until(&mut self, leaf: u16, end: Time) {
        self.engine.transmits_until(leaf, end);
    }

    /// What its AQM takes into account of queues in front of it, where it is at the output of a
    /// switch.
    pub fn upstream_use(&self) -> UpstreamUse {
        match &self.engine {
            Engine::Queue(leaf) => leaf.upstream_use(),
            Engine::Custom(_) => UpstreamUse::Nothing,
            _ => UpstreamUse::Unknown,
        }
    }

    /// It is at the output of a switch, and what waits for it at the inputs counts for its AQM, a
    /// packet as `weight` (nu) of one: AQMs that judge by length take own length plus `weight`
    /// times that (equation 2 of Shrivastav and others), those that judge by the rate of arrivals
    /// that at which this sum is fed. Limits hold for the queue itself.
    ///
    /// The driver then calls [`Discipline::set_upstream`] and [`Discipline::upstream_arrival`]. To
    /// be called before the first packet; [`Discipline::upstream_use`] tells which disciplines it
    /// changes.
    pub fn watch_upstream(&mut self, weight: f64) {
        if let Engine::Queue(leaf) = &mut self.engine {
            leaf.watch_upstream(weight);
        }
    }

    /// So many packets, with so many bytes, wait in front of it from `now` on: at all inputs of a
    /// switch for this output. To be called whenever that changes, before the packet that has left
    /// there is offered here. Cost: O(1).
    #[inline]
    pub fn set_upstream(&mut self, now: Time, packets: u32, bytes: u64) {
        if let Engine::Queue(leaf) = &mut self.engine {
            leaf.set_upstream(now, packets, bytes);
        }
    }

    /// A packet of so many bytes has arrived in front of it at `now`, whether it is queued or lost
    /// there. Cost: O(1).
    #[inline]
    pub fn upstream_arrival(&mut self, now: Time, bytes: u32) {
        if let Engine::Queue(leaf) = &mut self.engine {
            leaf.upstream_arrival(now, bytes);
        }
    }

    /// Drops all queued packets, leaf by leaf and in order within a flow. The discipline is then as
    /// after its last packet has left: virtual time begins anew, and AQMs know of the empty queue.
    /// Tokens that a policer or shaper has taken are not given back.
    pub fn flush(&mut self, now: Time, reason: DropReason, drops: &mut Drops) {
        self.give_up(now, drops, |engine, cx| engine.flush(reason, cx));
    }

    /// Drops an arriving packet, counted for its leaf, that neither policer, AQM nor queue sees.
    pub fn refuse(&mut self, now: Time, pkt: Packet, reason: DropReason, drops: &mut Drops) {
        self.give_up(now, drops, |engine, cx| engine.refuse(pkt, reason, cx));
    }

    fn give_up(&mut self, now: Time, drops: &mut Drops, f: impl FnOnce(&mut Engine, &mut Cx<'_>)) {
        let mut cx = Cx {
            now,
            // No random number is drawn.
            rng: &mut Rng::from_key(0),
            drops,
            stats: &mut self.stats,
            total: &mut self.total,
            ack: None,
        };
        f(&mut self.engine, &mut cx);
        self.audit();
    }

    /// When the next packet may leave, if one is queued and a shaper may delay it: the first
    /// instant, `now` or later, at which [`Discipline::dequeue`] returns a packet, or drops one
    /// that might have left. None for an empty discipline, and for one that never delays packets.
    pub fn next_wake(&self, now: Time) -> Option<Time> {
        if self.total.packets == 0 {
            return None;
        }
        self.engine.next_wake(now)
    }

    /// The number of queued packets.
    #[inline]
    pub fn backlog_packets(&self) -> u32 {
        self.total.packets
    }

    /// The number of queued bytes.
    #[inline]
    pub fn backlog_bytes(&self) -> u64 {
        self.total.bytes
    }

    /// The limit and the AQM, if any, of a FIFO that decides about packets when they arrive, so
    /// that the port can compute departures then; none if queues in front of it count. A limit in
    /// time is given as bytes at the port's rate.
    pub fn decided_at_arrival(&self) -> Option<(Limit, Option<ArrivalAqm>)> {
        match &self.engine {
            Engine::Queue(leaf)
                if leaf.thresholds.is_none()
                    && leaf.full == WhenFull::Tail
                    && !leaf.watches_upstream()
                    && matches!(leaf.queue, Queue::Ring(_) | Queue::Judged(_))
                    && leaf.aqm.as_ref().is_none_or(Aqm::decides_by_packets) =>
            {
                let aqm = leaf.aqm.clone().map(ArrivalAqm::new);
                Some((leaf.bound.as_limit(), aqm))
            }
            _ => None,
        }
    }

    /// The sum of the rates of the shapers through which its packets go, in b/s; none if some go
    /// through none.
    pub(crate) fn shaped(&self) -> Option<u64> {
        match &self.engine {
            Engine::ClassBased(tree) => tree.shaped(),
            Engine::Cake(cake) => cake.shaped(),
            _ => None,
        }
    }

    /// The token buckets of policers and shapers at `now`, in a fixed order, each with the first
    /// leaf that it applies to.
    pub fn buckets(&self, now: Time) -> Vec<(u16, BucketLevel)> {
        match &self.engine {
            Engine::ClassBased(tree) => tree.buckets(now),
            Engine::Htb(classes) => classes.buckets(now),
            _ => Vec::new(),
        }
    }

    /// The same buckets with their classes (`parent/class` for nested ones), by the names of time
    /// series: what is in them in bytes.
    pub fn tokens(&self, now: Time) -> Vec<(String, State)> {
        match &self.engine {
            Engine::ClassBased(tree) => tree.tokens(now),
            Engine::Htb(classes) => classes.tokens(now),
            _ => Vec::new(),
        }
    }

    /// The meters of the policers of classes since the beginning, in a fixed order: the class
    /// (`parent/class` for nested ones), and what was found.
    pub fn meters(&self) -> impl Iterator<Item = (&str, &Colored)> {
        let tree = match &self.engine {
            Engine::ClassBased(tree) => Some(tree.meters()),
            _ => None,
        };
        tree.into_iter().flatten()
    }

    /// The meters that the packet offered last went through, by their classes, and the color that
    /// each gave to it, to be asked directly after [`Discipline::enqueue`]; `refused`: a policer
    /// dropped it.
    pub fn colors(&self, refused: bool) -> Vec<(&str, Color)> {
        match &self.engine {
            Engine::ClassBased(tree) => tree.colors(refused),
            _ => Vec::new(),
        }
    }

    /// The code points that it may give to packets.
    pub fn marks(&self) -> Vec<Dscp> {
        match &self.engine {
            Engine::ClassBased(tree) => tree.marks(),
            _ => Vec::new(),
        }
    }

    /// Counters by leaf; a packet's leaf is [`Packet::leaf`].
    #[inline]
    pub fn leaves(&self) -> &[LeafStats] {
        &self.stats
    }

    /// Resets the peaks of all leaves to the present backlogs, and forgets their averages.
    pub fn reset_peaks(&mut self) {
        self.stats.iter_mut().for_each(LeafStats::reset_peaks);
    }

    /// Names of the leaves: the class for class-based policies, `parent/class`
    /// for nested ones, else the kind of discipline. A fair queue is one leaf.
    pub fn leaf_names(&self) -> Vec<String> {
        self.engine.leaf_names()
    }

    /// The state of a leaf at `now`; nothing if there is no such leaf.
    pub fn gauges(&self, leaf: usize, now: Time) -> LeafGauges {
        if leaf >= self.stats.len() {
            return LeafGauges::default();
        }
        self.engine.gauges(leaf, now)
    }

    /// Why a packet was dropped at `now`, in numbers. Valid only directly after the call that
    /// dropped it, with the drop that this call left in its sink. If a flush dropped several
    /// packets, the queue is shown as after the last.
    pub fn evidence(&self, now: Time, lost: &Dropped) -> Evidence {
        let leaf = self.stats.get(usize::from(lost.packet.leaf));
        let backlog = leaf.map_or((0, 0), LeafStats::backlog);
        Evidence {
            queue_packets: backlog.0,
            queue_bytes: backlog.1,
            ..self.engine.evidence(now, lost, backlog)
        }
    }

    /// Why a packet was marked with congestion experienced at `now`, when it was queued or left, in
    /// numbers. Valid only directly after that call, with [`Packet::leaf`] being that of its class.
    /// The packet does not count as queued.
    pub fn mark_evidence(&self, now: Time, packet: &Packet) -> Evidence {
        // The AQM keeps the odds of its last verdict, a drop or a mark.
        let verdict = Dropped {
            packet: *packet,
            reason: DropReason::Early,
        };
        let evidence = self.evidence(now, &verdict);
        if matches!(evidence.cause, Cause::Waited(_) | Cause::Coupled(_)) {
            return evidence; // The packet has left.
        }
        Evidence {
            queue_packets: evidence.queue_packets.saturating_sub(1),
            queue_bytes: evidence.queue_bytes.saturating_sub(packet.len.into()),
            ..evidence
        }
    }

    /// The limit of a leaf; no limit if there is no such leaf.
    pub fn limit(&self, leaf: usize) -> QueueLimit {
        if leaf < self.stats.len() {
            self.engine.limit(leaf)
        } else {
            QueueLimit::default()
        }
    }

    /// What a leaf is guaranteed, whatever comes to the others.
    ///
    /// # Errors
    /// Why nothing is guaranteed.
    pub fn guarantee(&self, leaf: u16, load: &Load) -> Result<Guarantee, Reason> {
        if load.line.is_some() && !self.engine.follows_line() {
            let why = "no guarantee of this discipline on a line whose rate varies is known";
            return Err(why.into());
        }
        self.engine.guarantee(leaf, load)
    }

    /// What leaves the port never exceeds, whatever comes, beside what its line sends; of fewer
    /// leaves first.
    pub fn sends(&self, load: &Load) -> Vec<Sends> {
        self.engine.sends(load)
    }

    /// The leaf into which an arriving packet is classified.
    pub fn leaf_of(&mut self, packet: &Packet) -> u16 {
        self.engine.leaf_of(packet)
    }

    /// Whether queued packets of leaf `first` always leave before those of leaf `second`: a
    /// priority class before classes that share, and before priority classes of a later level.
    pub fn outranks(&self, first: u16, second: u16) -> bool {
        self.engine.outranks(first, second)
    }

    /// Whether the next packet of a leaf may not leave at `now` because a shaper, its own or one
    /// around it, lacks tokens for it. False for a leaf that holds none.
    pub fn is_held(&self, leaf: u16, now: Time) -> bool {
        self.engine.is_held(leaf, now)
    }

    /// From `now` on a flow's number belongs to another flow, with other addresses or ports, so
    /// that flow admission forgets what it knows of the old one. No packet of the old flow is
    /// queued. State of a scheduler, which lasts a round at most, stays.
    pub fn renew(&mut self, now: Time, flow: u32) {
        self.engine.renew(now, flow);
    }

    /// What flow admission did to each flow that was offered until `now`, by flow, and by time
    /// where a number was [renewed](Self::renew). Empty for disciplines without flow admission.
    pub fn waits(&self, now: Time) -> Vec<Wait> {
        self.engine.waits(now)
    }

    /// The state of flow admission at `now`, after the ticks due at `now`; none for disciplines
    /// without it.
    pub fn admission(&self, now: Time) -> Option<AdmissionState> {
        self.engine.admission(now)
    }

    /// Checks the conservation laws of every leaf, in debug builds.
    #[inline]
    fn audit(&self) {
        if cfg!(debug_assertions) {
            let mut sum = Total::default();
            for (i, stats) in self.stats.iter().enumerate() {
                let ((packets, bytes), held) = (stats.backlog(), self.engine.held(i));
                assert!(
                    stats.conserves(held, bytes) && (held > 0 || bytes == 0),
                    "leaf {i} loses count: {stats:?}, holds {held}"
                );
                sum.packets += packets;
                sum.bytes += bytes;
            }
            assert_eq!(
                (sum.packets, sum.bytes),
                (self.total.packets, self.total.bytes)
            );
        }
    }
}
