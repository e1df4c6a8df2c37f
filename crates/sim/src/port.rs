//! The port of a link: a queue discipline, perhaps a transmit ring, and a server.

use spillgate_core::{DropReason, Drops, Dur, Packet, Rng, Time};
use spillgate_measure::{QueueMeter, Window};
use spillgate_queueing::Discipline;

use crate::channel::Channel;
use crate::node::Underway;
use crate::precedence::Precedences;
use crate::ring::Ring;
use crate::server::Serving;

/// A discipline with a server that takes one packet at a time. What every packet touches comes
/// first, and the discipline begins likewise.
#[repr(C, align(64))]
pub(crate) struct Port {
    pub(crate) free_at: Time,
    /// When the port wakes next, [`Time::MAX`] for never.
    pub(crate) wake: Time,
    /// The longest packet that the link carries, labels included.
    pub(crate) mtu: u32,
    /// Slot of its wakes.
    pub(crate) slot: u32,
    /// More happens at the port than queueing and transmission at a constant rate, or somebody
    /// watches: each packet takes the long way.
    pub(crate) special: bool,
    /// The link is down, and every arrival is dropped.
    pub(crate) down: bool,
    /// The ring between the discipline and the server; none if the server takes each packet from
    /// the discipline.
    pub(crate) ring: Option<Box<Ring>>,
    /// One meter for each of its queues.
    pub(crate) queues: Vec<QueueMeter>,
    pub(crate) rng: Rng,
    /// By leaf, its packets by code point; empty if no leaf distinguishes them.
    pub(crate) precedences: Vec<Option<Box<Precedences>>>,
    pub(crate) discipline: Discipline,
    /// The packets in flight, if the link fails during the run.
    pub(crate) underway: Option<Box<Underway>>,
    /// When packets are sent, unless at the constant rate of the link.
    pub(crate) server: Option<Box<Serving>>,
    /// Random loss and reordering on the link, if any.
    pub(crate) channel: Option<Box<Channel>>,
}

impl Port {
    /// Knows its slot and, `watched` or not, whether it is special.
    pub(crate) fn settle(&mut self, slot: u32, watched: bool) {
        self.slot = slot;
        self.special = watched
            || self.underway.is_some()
            || self.server.is_some()
            || self.ring.is_some()
            || self.discipline.filters_acknowledgments()
            || self.queues.iter().any(QueueMeter::asks_levels);
    }

    /// Whether packets wait in the discipline or in the ring.
    #[inline]
    pub(crate) fn holds_packets(&self) -> bool {
        self.discipline.backlog_packets() > 0 || self.ring.as_ref().is_some_and(|r| !r.is_empty())
    }

    /// Whether the ring takes a packet of the discipline while the server is busy.
    #[inline]
    pub(crate) fn ring_has_room(&self) -> bool {
        self.ring.as_ref().is_some_and(|r| r.has_room())
    }

    /// Whether no more packets of a leaf are in the ring.
    pub(crate) fn is_last_of(&self, leaf: u16) -> bool {
        let ring = self.ring.as_ref();
        ring.is_none_or(|ring| ring.of_leaf(leaf).0 == 0)
    }

    /// The next time with something to do, after everything at `now` is done: the server becomes
    /// free for a waiting packet, or a shaper releases one.
    #[inline(always)]
    pub(crate) fn next_wake(&self, now: Time) -> Option<Time> {
        if let Some(ring) = &self.ring {
            return self.next_wake_behind(ring, now);
        }
        if self.discipline.backlog_packets() == 0 {
            None
        } else if self.free_at > now {
            Some(self.free_at)
        } else {
            self.discipline.next_wake(now)
        }
    }

    /// The same with a ring, which takes packets while the server is busy.
    #[inline(never)]
    fn next_wake_behind(&self, ring: &Ring, now: Time) -> Option<Time> {
        let released = match ring.has_room() {
            true => self.discipline.next_wake(now),
            false => None,
        };
        let sends = (!ring.is_empty()).then_some(self.free_at.max(now));
        released.into_iter().chain(sends).min()
    }

    /// The packet that the server takes next.
    #[inline(always)]
    pub(crate) fn take_next(&mut self, now: Time, drops: &mut Drops) -> Option<Packet> {
        if let Some(packet) = self.ring.as_mut().and_then(|ring| ring.pop()) {
            return Some(packet);
        }
        self.discipline.dequeue(now, &mut self.rng, drops)
    }

    /// The packets and bytes of a leaf that wait, in the discipline and in the ring.
    #[inline]
    pub(crate) fn backlog(&self, leaf: u16) -> (u64, u64) {
        let stats = &self.discipline.leaves()[usize::from(leaf)];
        let (packets, bytes) = (stats.backlog_packets(), stats.backlog_bytes());
        let Some(ring) = &self.ring else {
            return (packets, bytes);
        };
        let (p, b) = ring.of_leaf(leaf);
        (packets + p, bytes + b)
    }

    /// The backlog of a leaf may have changed at `now`.
    #[inline]
    pub(crate) fn note_level(&mut self, now: Time, leaf: u16) {
        if self.queues[usize::from(leaf)].asks_levels() {
            let (packets, bytes) = self.backlog(leaf);
            self.queues[usize::from(leaf)].on_level(now, packets, bytes);
        }
    }

    /// The packets of a leaf by code point, if it distinguishes them.
    #[inline]
    pub(crate) fn precedences(&mut self, leaf: u16) -> Option<&mut Precedences> {
        self.precedences.get_mut(usize::from(leaf))?.as_deref_mut()
    }

    /// A packet leaves its queue at `now` for the server, which sends it until `end`; that is the
    /// end of time where it is told later.
    #[inline]
    pub(crate) fn begins(&mut self, window: Window, packet: &Packet, now: Time, end: Time) {
        self.free_at = end;
        if self.is_last_of(packet.leaf) {
            self.discipline.transmits_until(packet.leaf, end);
        }
        let queue = &mut self.queues[usize::from(packet.leaf)];
        if end < Time::MAX {
            queue.on_served(window, packet, now, end);
        } else {
            queue.on_begun(window, packet, now);
        }
        if let Some(by) = self.precedences(packet.leaf) {
            by.on_begun(window, packet, now);
        }
    }

    /// A packet is lost at `now` before it is sent.
    pub(crate) fn on_lost(&mut self, window: Window, packet: &Packet, now: Time, why: DropReason) {
        self.queues[usize::from(packet.leaf)].on_lost(window, packet, now, why);
        if let Some(by) = self.precedences(packet.leaf) {
            by.on_lost(window, packet, now);
        }
    }

    /// A packet that left its queue before is lost at `at` on the link.
    pub(crate) fn on_lost_in_flight(
        &mut self,
        window: Window,
        packet: &Packet,
        at: Time,
        why: DropReason,
    ) {
        self.queues[usize::from(packet.leaf)].on_lost_in_flight(window, packet, at, why);
        if let Some(by) = self.precedences(packet.leaf) {
            by.on_lost_in_flight(window, packet, at);
        }
    }

    /// The start and the end of its last transmission, which takes `tx` at a constant rate.
    pub(crate) fn last_sent(&self, tx: Dur) -> (Time, Time) {
        match &self.server {
            Some(server) => server.last,
            None => (
                Time::ZERO + self.free_at.since(Time::ZERO + tx),
                self.free_at,
            ),
        }
    }

    /// Calls `see` for each waiting packet, in the order in which a copy of the port would serve
    /// them.
    pub(crate) fn for_each_waiting(&self, now: Time, mut see: impl FnMut(&Packet)) {
        self.ring
            .iter()
            .flat_map(|r| r.packets())
            .for_each(&mut see);
        if self.discipline.backlog_packets() == 0 {
            return;
        }
        let (mut discipline, mut rng) = (self.discipline.clone(), self.rng.clone());
        let (mut now, mut drops) = (now, Drops::new());
        while discipline.backlog_packets() > 0 {
            let packet = discipline.dequeue(now, &mut rng, &mut drops);
            let seen = packet.is_some() || !drops.is_empty();
            packet.iter().for_each(&mut see);
            drops.as_slice().iter().for_each(|d| see(&d.packet));
            drops.clear();
            if !seen {
                match discipline.next_wake(now) {
                    Some(later) if later > now => now = later,
                    _ => break,
                }
            }
        }
    }
}
