//! CAKE: a shaper, tins by code point, queues that share by host and by flow, COBALT in each.
//!
//! Sources: T. Høiland-Jørgensen, D. Täht, J. Morton, "Piece of CAKE: A Comprehensive Queue
//! Management Solution for Home Gateways", IEEE LANMAN 2018; `tc-cake(8)`; the behavior of Linux
//! 6.18.
//!
//! Idea: one discipline that needs the rate of the line and nothing else. A shaper by virtual time
//! keeps the queue here. Of the tins below their thresholds the most urgent goes first, else the
//! one that is due first. In a tin queues take turns as in FQ-CoDel, but turns are divided by the
//! number of busy queues of the same host, as a source or as a destination, whichever has more. A
//! flow has a queue of its own as long as fewer than eight of a set of queues are busy. Where there
//! is no room, the longest queue of all tins loses its first packet.
//!
//! Deviations: the parts of a byte that a turn is short of are kept, where Linux rounds by a random
//! number. The memory limit counts the bytes of packets, not of kernel buffers. Of several longest
//! queues that of the lowest number loses a packet. Cost: O(1) per packet, amortized; O(log n)
//! while the limit is exceeded; with an ACK filter O(n) in the packets of its queue.

mod acks;
mod parts;
mod shaper;
mod spec;
mod tin;
mod tins;

use spillgate_core::rng::mix;
use spillgate_core::{DropReason, Ecn, Packet, Rng, Time};

use self::acks::Acks;
use self::shaper::{Schedule, Shaper};
use self::spec::Law;
use self::tin::{Addressed, QUEUES, Tin};
use crate::aqm::Ruling;
use crate::evidence::Cause;
use crate::leaf::Bound;
use crate::line::bytes;
use crate::sched::longest::{Backlogs, LongestFlow};
use crate::sched::slab::Slab;
use crate::stats::Cx;

pub use self::acks::CakeAckFilter;
pub use self::spec::{CakeDelays, CakeIsolation, CakeSpec};
pub use self::tins::CakeTins;

/// A running CAKE.
#[derive(Clone, Debug)]
pub(crate) struct Cake {
    law: Law,
    bound: Bound,
    shaper: Shaper,
    tins: Tins,
    schedules: Vec<Schedule>,
    /// Bytes that each tin may send, where nothing is shaped.
    deficits: Vec<i64>,
    /// The tin that sent last.
    tin: usize,
    slab: Slab,
    acks: Acks,
    longest: LongestFlow,
    packets: u32,
    bytes: u64,
    /// Hashes of source and destination address, by flow.
    hosts: Vec<[u32; 2]>,
    /// Of all hashes, drawn with the first packet.
    salt: Option<u64>,
    /// The packets that the last departure dropped or marked: flow, number, evidence.
    decided: Vec<(u32, u32, Cause)>,
}

#[derive(Clone, Debug)]
struct Tins(Vec<Tin>);

/// The number of a queue among those of all tins.
fn slot(tin: usize, at: usize) -> u32 {
    (tin * QUEUES + at) as u32
}

impl Backlogs for Tins {
    fn each(&self) -> impl Iterator<Item = (u32, (u32, u32))> {
        let of = move |t: usize| (0..self.0[t].flows.len()).map(move |at| slot(t, at));
        let all = (0..self.0.len()).flat_map(of);
        all.filter_map(|s| Some((s, self.of(s)?)))
    }

    fn of(&self, slot: u32) -> Option<(u32, u32)> {
        let (tin, at) = (slot as usize / QUEUES, slot as usize % QUEUES);
        let flow = self.0.get(tin)?.flows.get(at)?;
        (flow.packets > 0).then_some((slot, flow.bytes))
    }
}

impl Cake {
    fn new(law: Law, bound: Bound, shaper: Shaper) -> Self {
        let n = law.tins.len();
        let shares = law.isolation.shares_hosts();
        Self {
            law,
            bound,
            shaper,
            tins: Tins(vec![Tin::new(shares); n]),
            schedules: vec![Schedule { next: Time::ZERO }; n],
            deficits: vec![0; n],
            tin: 0,
            slab: Slab::new(),
            acks: Acks::default(),
            longest: LongestFlow::default(),
            packets: 0,
            bytes: 0,
            hosts: Vec::new(),
            salt: None,
            decided: Vec::new(),
        }
    }

    /// The tin of a packet.
    #[inline]
    fn tin_of(&self, packet: &Packet) -> usize {
        let dscp = packet.treated_as().value();
        usize::from(self.law.tin_of[usize::from(dscp & 63)])
    }

    /// The hashes of a packet by which it is sorted.
    #[inline]
    fn addressed(&self, packet: &Packet) -> Addressed {
        let salt = self.salt.unwrap_or(0);
        let hash = |of: u32| (mix(u64::from(of) ^ salt) >> 32) as u32;
        let isolation = self.law.isolation;
        let none = [0; 2];
        if isolation.by_flow() && isolation.shares_hosts() == [false; 2] {
            let flow = hash(packet.hash);
            return Addressed { flow, hosts: none };
        }
        let [src, dst] = self.hosts.get(packet.flow as usize).unwrap_or(&none);
        // A host is another one as a source than as a destination.
        let hosts = [hash(*src), hash(!*dst)];
        let flow = match isolation {
            CakeIsolation::Flowblind => 0,
            CakeIsolation::Srchost => hosts[0],
            CakeIsolation::Dsthost => hosts[1],
            CakeIsolation::Hosts => hosts[0] ^ hosts[1],
            _ => hash(packet.hash),
        };
        Addressed { flow, hosts }
    }

    fn prepare(&mut self, rng: &mut Rng) {
        if self.salt.is_none() {
            self.salt = Some(rng.u64());
        }
    }

    /// Queues a packet, and drops what there is no room for. Returns the change of the number of
    /// queued packets.
    fn accept(&mut self, packet: &mut Packet, was: Ecn, cx: &mut Cx<'_>) -> i64 {
        self.prepare(cx.rng);
        let before = self.packets;
        let t = self.tin_of(packet);
        let to = self.addressed(packet);
        let law = &self.law.tins[t];
        let tin = &mut self.tins.0[t];
        let at = tin.sort(&to, &law.cobalt);
        if tin.packets == 0 {
            self.schedules[t].wakes(cx.now);
            if self.packets == 0 {
                self.shaper.wakes(cx.now);
            }
        }
        let flow = &mut tin.flows[at];
        let place = self.slab.push(&mut flow.queue, *packet, 0);
        flow.bytes += packet.len;
        flow.packets += 1;
        self.longest.grew(slot(t, at), slot(t, at), flow.bytes);
        tin.packets += 1;
        tin.joined(at, law.flow_quantum);
        self.packets += 1;
        self.bytes += u64::from(packet.len);
        if self.law.ack_filter != CakeAckFilter::No {
            self.filter((t, at), (place, packet), cx);
        }
        if self.bound.holds(self.packets, self.bytes) || self.make_room(slot(t, at), cx) {
            cx.enqueued(packet, packet.ecn != was);
        } else {
            packet.ecn = was;
            cx.refused(*packet, DropReason::PushedOut);
        }
        i64::from(self.packets) - i64::from(before)
    }

    /// Drops the acknowledgment that the `last` packet of a queue makes superfluous, if there is
    /// one.
    #[inline(never)]
    fn filter(&mut self, (t, at): (usize, usize), last: (u32, &Packet), cx: &mut Cx<'_>) {
        self.acks.note(last.0, cx.ack);
        let list = &mut self.tins.0[t].flows[at].queue;
        let is_aggressive = self.law.ack_filter == CakeAckFilter::Aggressive;
        let freed = self.acks.freed(&self.slab, list, last, is_aggressive);
        let place = freed.and_then(|before| match before {
            Some(before) => self.slab.unlink_behind(list, before),
            None => self.slab.unlink(list),
        });
        if let Some(place) = place {
            let packet = self.taken(t, at, place);
            cx.evicted(packet, DropReason::Filtered);
            if self.law.ingress {
                self.charge_shapers(t, &packet, cx.now, false);
            }
        }
    }

    /// Drops the first packet of the longest queue as long as there is no room, and returns whether
    /// the packet that `arrived` in this queue is kept.
    #[inline(never)]
    fn make_room(&mut self, arrived: u32, cx: &mut Cx<'_>) -> bool {
        let mut kept = true;
        while !self.bound.holds(self.packets, self.bytes) {
            let Some(slot) = self.longest.find(self.packets, &self.tins) else {
                break;
            };
            let (t, at) = (slot as usize / QUEUES, slot as usize % QUEUES);
            let Some(victim) = self.take(t, at) else {
                break;
            };
            let flow = &mut self.tins.0[t].flows[at];
            flow.vars.full(&self.law.tins[t].cobalt, cx.now);
            // The packet that arrived is the last of its queue.
            if slot == arrived && flow.packets == 0 {
                kept = false;
            } else {
                cx.evicted(victim, DropReason::PushedOut);
            }
            if self.law.ingress {
                self.charge_shapers(t, &victim, cx.now, false);
            }
        }
        kept
    }

    /// Takes the first packet out of a queue.
    #[inline]
    fn take(&mut self, t: usize, at: usize) -> Option<Packet> {
        let place = self.slab.unlink(&mut self.tins.0[t].flows[at].queue)?;
        Some(self.taken(t, at, place))
    }

    /// The packet in this place was taken out of a queue.
    #[inline]
    fn taken(&mut self, t: usize, at: usize, place: u32) -> Packet {
        let packet = *self.slab.packet(place);
        let tin = &mut self.tins.0[t];
        let flow = &mut tin.flows[at];
        flow.bytes -= packet.len;
        flow.packets -= 1;
        tin.packets -= 1;
        self.packets -= 1;
        self.bytes -= u64::from(packet.len);
        self.longest.shrunk(self.packets);
        packet
    }

    /// Charges a packet that is sent, or dropped in ingress mode, to the shaper and to its tin.
    #[inline]
    fn charge_shapers(&mut self, t: usize, packet: &Packet, now: Time, is_sent: bool) -> u32 {
        let len = bytes(self.law.counted, packet);
        if let Some(rate) = self.law.tins[t].rate {
            self.schedules[t].charge(rate, len, now);
        }
        self.shaper.charge(len, is_sent);
        len
    }

    /// Charges a packet to the turns of its queue and of its tin.
    #[inline]
    fn charge_turns(&mut self, t: usize, at: usize, len: u32) {
        self.tins.0[t].charge(at, len);
        if self.shaper.rate.is_none() {
            self.deficits[t] -= i64::from(len);
        }
    }

    /// The tin that sends next; none if no queue has a turn.
    #[inline]
    fn choose(&mut self, now: Time) -> Option<usize> {
        if self.tins.0.len() == 1 {
            return self.tins.0[0].is_active().then_some(0);
        }
        if self.shaper.rate.is_some() {
            return self.due(now);
        }
        if !self.tins.0.iter().any(Tin::is_active) {
            return None;
        }
        turn_of_tins(&self.law, &self.tins.0, &mut self.deficits, &mut self.tin);
        Some(self.tin)
    }

    /// The last tin that is below its threshold, or the one that is first.
    fn due(&self, now: Time) -> Option<usize> {
        let (mut best, mut least) = (None, Time::MAX);
        for (t, schedule) in self.schedules.iter().enumerate() {
            if self.tins.0[t].is_active() && (schedule.next <= now || schedule.next <= least) {
                (best, least) = (Some(t), schedule.next);
            }
        }
        best
    }

    /// The next packet, after those that are dropped before it.
    fn send(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        if !self.decided.is_empty() {
            self.decided.clear();
        }
        let mut is_first = true;
        'tin: while self.packets > 0 && self.shaper.opens() <= cx.now {
            let t = self.choose(cx.now)?;
            let quantum = self.law.tins[t].flow_quantum;
            while let Some(at) = self.tins.0[t].next(is_first, quantum) {
                is_first = false;
                loop {
                    let Some(mut packet) = self.take(t, at) else {
                        self.found_empty(t, at, cx.now);
                        continue 'tin;
                    };
                    let ruling = self.judge(t, at, &packet, cx);
                    if let Ruling::Drop(_) | Ruling::Blue { .. } = ruling {
                        cx.evicted(packet, DropReason::Early);
                        if self.law.ingress {
                            let len = self.charge_shapers(t, &packet, cx.now, false);
                            self.charge_turns(t, at, len);
                            break;
                        }
                        continue;
                    }
                    let len = self.charge_shapers(t, &packet, cx.now, true);
                    self.charge_turns(t, at, len);
                    if let Ruling::Mark(_) = ruling {
                        packet.ecn = Ecn::Ce;
                        cx.marked(&packet);
                    }
                    cx.dequeued(&packet);
                    return Some(packet);
                }
            }
        }
        None
    }

    /// What COBALT says of a packet that was taken from a queue.
    #[inline]
    fn judge(&mut self, t: usize, at: usize, packet: &Packet, cx: &mut Cx<'_>) -> Ruling {
        let cobalt = &self.law.tins[t].cobalt;
        let tin = &mut self.tins.0[t];
        let flows = match self.law.ingress {
            true => tin.counts.bulk,
            false => 0,
        };
        let waited = cx.now.since(packet.arrived);
        let flow = &mut tin.flows[at];
        let queue = (flows, flow.packets == 0);
        let vars = &mut flow.vars;
        let ruling = vars.judge(cobalt, cx.now, waited, packet, queue, cx.rng);
        if ruling != Ruling::Pass {
            let cause = vars.cause(cobalt, ruling, waited).unwrap_or_default();
            self.decided.push((packet.flow, packet.seq, cause));
        }
        ruling
    }

    /// A queue had a turn, but no packet.
    fn found_empty(&mut self, t: usize, at: usize, now: Time) {
        let vars = &mut self.tins.0[t].flows[at].vars;
        vars.empty(&self.law.tins[t].cobalt, now);
        let rests = vars.rests(now);
        self.tins.0[t].leave(at, rests);
    }

    /// Drops all packets, tin by tin.
    fn give_up(&mut self, reason: DropReason, cx: &mut Cx<'_>) {
        for t in 0..self.tins.0.len() {
            for at in 0..self.tins.0[t].flows.len() {
                while let Some(packet) = self.take(t, at) {
                    cx.evicted(packet, reason);
                }
            }
        }
    }

    /// The tin and the packet that leave next, if nothing drops it.
    fn first(&self) -> Option<&Packet> {
        let t = match (self.tins.0.len(), self.shaper.rate) {
            (1, _) => 0,
            (_, Some(_)) => self.due(self.shaper.opens())?,
            (_, None) => {
                let holds = |tin: &Tin| tin.packets > 0;
                if !self.tins.0.iter().any(holds) {
                    return None;
                }
                let (mut deficits, mut tin) = ([0; 8], self.tin);
                deficits[..self.deficits.len()].copy_from_slice(&self.deficits);
                turn_of_tins(&self.law, &self.tins.0, &mut deficits, &mut tin);
                tin
            }
        };
        let head = |t: usize| self.tins.0[t].head(&self.slab, self.law.tins[t].flow_quantum);
        // A tin whose queues are all found empty gives way.
        head(t).or_else(|| (0..self.tins.0.len()).rev().find_map(head))
    }
}

/// Moves on to the tin that sends next by deficit, where one has a turn to give.
fn turn_of_tins(law: &Law, tins: &[Tin], deficits: &mut [i64], tin: &mut usize) {
    while deficits[*tin] < 0 || !tins[*tin].is_active() {
        if deficits[*tin] <= 0 {
            deficits[*tin] += law.tins[*tin].quantum;
        }
        *tin = (*tin + 1) % tins.len();
    }
}
