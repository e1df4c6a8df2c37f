//! What feeds a link: a queue discipline and a server.

use std::collections::VecDeque;

use spillgate_core::{Drops, Dur, Packet, Rng, Time};
use spillgate_queueing::Discipline;

use crate::channel::Channel;
use crate::express::FifoPort;
use crate::gauge::QueueMeter;
use crate::rate::Server;

/// The port of a link.
pub(crate) enum Port {
    /// A FIFO that decides at arrival: departures are known then, no service events.
    Fifo(FifoPort),
    /// Any discipline.
    Queued(Box<QueuedPort>),
}

/// Bytes of a packet that count for an MTU.
#[inline]
pub(crate) fn size(packet: &Packet) -> u32 {
    u32::from(packet.l3_len) + u32::from(packet.labels.bytes())
}

/// What has left a port and has not reached the far end of its link.
#[derive(Default)]
pub(crate) struct Underway {
    /// When each packet arrives, and the leaf that it was in.
    leaves: VecDeque<(Time, u16)>,
    /// What was sent last, perhaps still in transmission.
    pub(crate) last: Option<Packet>,
}

impl Underway {
    /// A packet that arrives at `due` is sent.
    pub(crate) fn push(&mut self, due: Time, packet: &Packet) {
        let at = self.leaves.partition_point(|(before, _)| *before <= due);
        self.leaves.insert(at, (due, packet.leaf));
    }

    /// The first one has arrived.
    pub(crate) fn pop(&mut self) {
        self.leaves.pop_front();
    }

    /// The leaves of all, which are lost.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = u16> + use<> {
        std::mem::take(&mut self.leaves)
            .into_iter()
            .map(|(_, leaf)| leaf)
    }
}

/// A discipline with a server that takes one packet at a time.
pub(crate) struct QueuedPort {
    /// The longest packet that the link carries, labels included.
    pub(crate) mtu: u32,
    pub(crate) discipline: Discipline,
    pub(crate) rng: Rng,
    pub(crate) free_at: Time,
    /// When the port is to be woken, [`Time::MAX`] for not.
    pub(crate) wake: Time,
    /// The link is down: nothing is queued.
    pub(crate) down: bool,
    /// Of a link that fails: what is on it.
    pub(crate) underway: Option<Box<Underway>>,
    /// Slot of its wakes.
    pub(crate) slot: u32,
    /// One for each of its queues.
    pub(crate) queues: Vec<QueueMeter>,
    /// Where the rate varies: when packets are sent.
    pub(crate) server: Option<Box<Server>>,
    /// Where packets are lost or late on the link.
    pub(crate) channel: Option<Box<Channel>>,
}

impl Port {
    /// The port, if it has a discipline.
    pub(crate) fn queued(&self) -> Option<&QueuedPort> {
        match self {
            Self::Queued(port) => Some(port),
            Self::Fifo(_) => None,
        }
    }

    /// The same, to change it.
    pub(crate) fn queued_mut(&mut self) -> Option<&mut QueuedPort> {
        match self {
            Self::Queued(port) => Some(port),
            Self::Fifo(_) => None,
        }
    }
}

impl QueuedPort {
    /// The port of a link that is up; `fails`: not for ever.
    pub(crate) fn new(
        discipline: Discipline,
        mtu: u32,
        rng: Rng,
        fails: bool,
        meter: QueueMeter,
    ) -> Self {
        Self {
            mtu,
            queues: vec![meter; discipline.leaves().len()],
            slot: u32::MAX,
            discipline,
            rng,
            free_at: Time::ZERO,
            wake: Time::MAX,
            down: false,
            underway: fails.then(Box::default),
            server: None,
            channel: None,
        }
    }

    /// From when to when it has sent its last packet, which takes `tx` at a constant rate.
    pub(crate) fn last_sent(&self, tx: Dur) -> (Time, Time) {
        match &self.server {
            Some(server) => server.last,
            None => (
                Time::ZERO + self.free_at.since(Time::ZERO + tx),
                self.free_at,
            ),
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
