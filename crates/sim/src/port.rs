//! What feeds a link: a queue discipline and a server.

use std::collections::VecDeque;

use spillgate_core::{Dur, Limit, Packet, Rng, Time};
use spillgate_queueing::Discipline;

/// The port of a link.
pub(crate) enum Port {
    /// A plain FIFO: departures are known at arrival, no service events.
    Fifo(FifoPort),
    /// Any discipline.
    Queued(Box<QueuedPort>),
}

/// A FIFO with tail drop that computes each packet's service start when it
/// arrives. The packets that wait are those whose service starts later.
pub(crate) struct FifoPort {
    limit: Limit,
    free_at: Time,
    /// Service start and length of the packets that wait, in order.
    waiting: VecDeque<(Time, u32)>,
    bytes: u64,
}

impl FifoPort {
    pub(crate) fn new(limit: Limit) -> Self {
        Self {
            limit,
            free_at: Time::ZERO,
            waiting: VecDeque::new(),
            bytes: 0,
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

    /// Takes a packet of `len` bytes that needs `tx` on the link: when its
    /// service starts, or none if the queue is full.
    #[inline]
    pub(crate) fn offer(&mut self, now: Time, len: u32, tx: Dur) -> Option<Time> {
        self.advance(now);
        let start = if self.free_at <= now {
            now
        } else {
            let fits = match self.limit {
                Limit::Packets(n) => self.waiting.len() < n as usize,
                Limit::Bytes(n) => self.bytes + u64::from(len) <= n,
                Limit::Time(d) => self.free_at.since(now) <= d,
            };
            if !fits {
                return None;
            }
            self.waiting.push_back((self.free_at, len));
            self.bytes += u64::from(len);
            self.free_at
        };
        self.free_at = start + tx;
        Some(start)
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
}

impl QueuedPort {
    pub(crate) fn new(discipline: Discipline, rng: Rng) -> Self {
        Self {
            discipline,
            rng,
            free_at: Time::ZERO,
            wake: Time::MAX,
        }
    }
}

/// A packet on its way: when it reaches the far end of the link.
#[derive(Clone, Copy)]
pub(crate) struct InFlight {
    pub(crate) due: Time,
    pub(crate) packet: Packet,
}
