//! What feeds a link: a queue discipline and a server.

use std::collections::VecDeque;

use spillgate_core::{Drops, Dur, Limit, Packet, Rate, Rng, Time};
use spillgate_queueing::Discipline;

use crate::gauge::{QueueMeter, Through};
use crate::window::Window;

/// The port of a link.
pub(crate) enum Port {
    /// A plain FIFO: departures are known at arrival, no service events.
    Fifo(FifoPort),
    /// Any discipline.
    Queued(Box<QueuedPort>),
}

/// A FIFO with tail drop that computes each packet's service start when it
/// arrives. The packets that wait are those whose service starts later.
///
/// It does what a [`QueuedPort`] with the same FIFO does, packet by packet. Packets arrive in
/// order, but the port may be ahead of the world's clock.
pub(crate) struct FifoPort {
    /// Most packets and bytes that may wait.
    max_packets: u32,
    max_bytes: u64,
    free_at: Time,
    /// Service start and length of the packets that wait, in order.
    waiting: VecDeque<(Time, u32)>,
    bytes: u64,
    /// The begin of the window, [`Time::MAX`] once it is past.
    edge: Time,
    /// What need not wait is counted here, next to what it touches anyway.
    pub(crate) through: Through,
}

impl FifoPort {
    /// A FIFO with a limit, a time being the bytes that `rate` sends in it; the backlog at `edge`
    /// counts as a peak.
    pub(crate) fn new(limit: Limit, rate: Rate, edge: Time) -> Self {
        let (max_packets, max_bytes) = match limit {
            Limit::Packets(n) => (n, u64::MAX),
            Limit::Bytes(n) => (u32::MAX, n),
            Limit::Time(d) => (u32::MAX, rate.bytes_in(d)),
        };
        Self {
            max_packets,
            max_bytes,
            free_at: Time::ZERO,
            waiting: VecDeque::new(),
            bytes: 0,
            edge,
            through: Through::default(),
        }
    }

    /// Forgets the packets whose service has started by `now`.
    #[inline]
    pub(crate) fn advance(&mut self, now: Time) {
        while let Some(&(start, len)) = self.waiting.front() {
            // At one instant departures precede arrivals.
            if start > now {
                break;
            }
            self.waiting.pop_front();
            self.bytes -= u64::from(len);
        }
    }

    /// Takes a packet that needs `tx` on the link: when its service starts, or none if it does
    /// not fit into the queue. What gets through is counted.
    ///
    /// A packet goes through the queue even if it need not wait, as in a discipline: one that
    /// is longer than the limit never gets through.
    #[inline]
    pub(crate) fn offer(
        &mut self,
        now: Time,
        packet: &Packet,
        tx: Dur,
        window: Window,
        queue: &mut QueueMeter,
    ) -> Option<Time> {
        if now >= self.edge {
            self.pass_edge(queue);
        }
        self.advance(now);
        let len = u64::from(packet.len);
        let bytes = self.bytes.saturating_add(len);
        if self.waiting.len() >= self.max_packets as usize || bytes > self.max_bytes {
            return None;
        }
        if self.free_at <= now {
            self.free_at = now + tx;
            if window.contains(now) {
                self.through.count(packet.len);
            }
            return Some(now);
        }
        let start = self.free_at;
        self.waiting.push_back((start, packet.len));
        self.bytes = bytes;
        self.free_at = start + tx;
        if window.contains(now) {
            queue.on_backlog(self.waiting.len() as u64, bytes);
        }
        queue.on_served(window, packet, start);
        Some(start)
    }

    /// The window has begun: what waited at its edge counts.
    #[cold]
    pub(crate) fn pass_edge(&mut self, queue: &mut QueueMeter) {
        let edge = std::mem::replace(&mut self.edge, Time::MAX);
        if edge < Time::MAX {
            self.advance(edge);
            queue.on_backlog(self.waiting.len() as u64, self.bytes);
        }
    }

    /// Packets and bytes that wait.
    pub(crate) fn backlog(&self) -> (u32, u64) {
        (self.waiting.len() as u32, self.bytes)
    }
}

/// A discipline with a server that takes one packet at a time.
pub(crate) struct QueuedPort {
    pub(crate) discipline: Discipline,
    pub(crate) rng: Rng,
    pub(crate) free_at: Time,
    /// When the port is to be woken, [`Time::MAX`] for not.
    pub(crate) wake: Time,
    /// The link is down: nothing is queued.
    pub(crate) down: bool,
    /// Of a link that fails: the leaves of the packets in its pipe.
    pub(crate) wire: Option<VecDeque<u16>>,
}

impl QueuedPort {
    /// The port of a link that is up; `fails`: not for ever.
    pub(crate) fn new(discipline: Discipline, rng: Rng, fails: bool) -> Self {
        Self {
            discipline,
            rng,
            free_at: Time::ZERO,
            wake: Time::MAX,
            down: false,
            wire: fails.then(VecDeque::new),
        }
    }

    /// Shows the packets that wait to `see`; a copy of the port pays for it.
    pub(crate) fn for_each_waiting(&self, now: Time, mut see: impl FnMut(&Packet)) {
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
