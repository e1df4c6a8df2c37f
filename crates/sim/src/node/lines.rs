//! Ports whose cells leave over a line that others share.
//!
//! Such a port hands a packet over when it begins, and is told when the last cell has left: then the transmission ends, and the
//! next packet can begin. At most one packet of each circuit is in segmentation, so that all others wait in its queue.

use spillgate_core::{Dur, Packet, Time};
use spillgate_events::EventSet;

use crate::engine::World;

/// A packet that begins to leave over a line that others share.
#[derive(Clone, Copy)]
pub(crate) struct Shared {
    /// The link, which is a circuit of the line.
    pub(crate) link: u32,
    /// The last link that its cells take inside ATM switches, if they come to one.
    pub(crate) to: Option<u32>,
    /// By how much its cells come later.
    pub(crate) phase: Dur,
    pub(crate) packet: Packet,
}

/// A packet whose last cell has left over a line that is shared.
#[derive(Clone, Copy)]
pub(crate) struct SentOver {
    pub(crate) link: u32,
    pub(crate) packet: Packet,
    /// When its first cell could leave, and when the last one has left.
    pub(crate) start: Time,
    pub(crate) end: Time,
    /// When the first cell of the next packet may leave.
    pub(crate) ready: Time,
    /// Its cells are on their way through ATM switches.
    pub(crate) in_cells: bool,
}

impl<S: EventSet> World<S> {
    /// Hands a packet that the port of `link` begins to send over to its line, if that is shared.
    pub(super) fn shares(&mut self, link: usize, packet: &Packet) -> bool {
        let Some(port) = &self.links[link].port else {
            return false;
        };
        let phase = port.server.as_ref().and_then(|s| s.phase());
        let (Some(phase), Some(nodes)) = (phase, &mut self.nodes) else {
            return false;
        };
        let Some((holder, node)) = nodes.cells() else {
            return false;
        };
        // Where links fail there are no paths of links, and no ATM switches.
        let way = match &self.failures {
            None => node.way(&self.hops[(packet.handle >> 32) as usize..]),
            Some(_) => None,
        };
        if let Some((_, links)) = way.filter(|_| self.tap.is_some()) {
            self.tap_enters_cells(link as u32, links, packet);
        }
        let mut packet = *packet;
        packet.handle += way.map_or(0, |(_, links)| u64::from(links) << 32);
        let shared = Shared {
            link: link as u32,
            to: way.map(|(to, _)| to),
            phase,
            packet,
        };
        let now = self.now;
        if let Some((_, node)) = self.nodes.as_mut().and_then(|n| n.cells()) {
            node.share(now, shared);
        }
        self.deliver_outbox(holder);
        true
    }

    /// The last cell of a packet has left over a line that is shared.
    pub(super) fn has_sent(&mut self, sent: &SentOver) {
        let link = sent.link as usize;
        // What was in transmission at the end of the measured period has been counted there.
        if self.now < self.window.end() {
            self.carries(sent);
        }
        if self.tap.is_some() {
            self.tap_sent_until(sent.link, &sent.packet, sent.end, sent.ready);
        }
        let Some(port) = &mut self.links[link].port else {
            return;
        };
        let leaf = sent.packet.leaf;
        if port.is_last_of(leaf) {
            port.discipline.transmits_until(leaf, sent.end);
        }
        port.free_at = sent.ready;
        if let Some(server) = &mut port.server {
            server.sent(sent.end, sent.ready);
        }
        if !sent.in_cells {
            let mut packet = sent.packet;
            self.cross(link, &mut packet, sent.start, sent.end);
        }
        self.wake_port(link, sent.ready);
    }

    /// Counts what packets that leave over shared lines at the end of the measured period carry of it.
    pub(crate) fn count_sharing(&mut self) {
        let Some(nodes) = &mut self.nodes else {
            return;
        };
        let sharing = nodes.cells().map(|(_, node)| node.sharing());
        for sent in sharing.into_iter().flatten() {
            self.carries(&sent);
        }
    }

    fn carries(&mut self, sent: &SentOver) {
        let link = &mut self.links[sent.link as usize];
        link.carries(self.window, &sent.packet, sent.start, sent.end);
    }
}
