//! The transmit ring of a port: a FIFO between its discipline and its server.
//!
//! On a router the scheduler does not feed the line but the ring of the interface, and congestion
//! begins when that is full (Cisco, "Understanding Packet Counters in show policy-map interface
//! Output", document 10107). As long as it has room the discipline gives every packet to it at
//! once; what is in it leaves in that order, whatever its class.

use std::collections::VecDeque;

use spillgate_core::{Dur, Packet};

/// A transmit ring.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    /// Packets that wait in it at most. The packet in transmission is beside them: its place stays
    /// free while the server sends none.
    room: usize,
    waiting: VecDeque<(Packet, Dur)>,
    /// The sum of their transmission times at the nominal rate of the link.
    work: Dur,
    /// By leaf: how many of them, and their bytes.
    leaves: Vec<(u64, u64)>,
}

impl Ring {
    /// The ring of this many packets, the one in transmission included; none if it is that one
    /// only.
    pub(crate) fn of(packets: u32, leaves: usize) -> Option<Box<Self>> {
        let room = packets.saturating_sub(1) as usize;
        (room > 0).then(|| {
            Box::new(Self {
                room,
                waiting: VecDeque::new(),
                work: Dur::ZERO,
                leaves: vec![(0, 0); leaves],
            })
        })
    }

    /// Whether another packet may wait in it.
    pub(crate) fn has_room(&self) -> bool {
        self.waiting.len() < self.room
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The packets that wait in it, in order.
    pub(crate) fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.waiting.iter().map(|(packet, _)| packet)
    }

    /// Packets and bytes of a leaf that wait in it.
    pub(crate) fn of_leaf(&self, leaf: u16) -> (u64, u64) {
        self.leaves[usize::from(leaf)]
    }

    /// How long the server takes for what waits in it, at the nominal rate.
    pub(crate) fn work(&self) -> Dur {
        self.work
    }

    /// Takes a packet, sent in `tx` at the nominal rate.
    pub(crate) fn push(&mut self, packet: Packet, tx: Dur) {
        let leaf = &mut self.leaves[usize::from(packet.leaf)];
        *leaf = (leaf.0 + 1, leaf.1 + u64::from(packet.len));
        self.work = self.work.saturating_add(tx);
        self.waiting.push_back((packet, tx));
    }

    /// Gives its first packet to the server.
    pub(crate) fn pop(&mut self) -> Option<Packet> {
        let (packet, tx) = self.waiting.pop_front()?;
        let leaf = &mut self.leaves[usize::from(packet.leaf)];
        *leaf = (leaf.0 - 1, leaf.1 - u64::from(packet.len));
        self.work = self.work - tx;
        Some(packet)
    }
}
