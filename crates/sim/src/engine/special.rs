//! Ports and links with anything out of the ordinary: transmit rings, whose packets have left the
//! discipline and wait for the server; servers whose rate varies; links that are down, that lose or
//! reorder packets, or to whose ports stages act; and whatever looks at each packet.

use spillgate_core::{Acknowledgment, DropReason, Dropped, Packet, Time};
use spillgate_events::{EventSet, Rank};
use spillgate_nodes::stage::Sending;

use super::World;
use crate::channel::Carried;
use crate::flow::Origin;
use crate::tap::Place;

impl<S: EventSet> World<S> {
    /// A packet arrives at a port with anything out of the ordinary.
    #[inline(never)]
    pub(super) fn enter_special_port(&mut self, link: usize, packet: &mut Packet) {
        let tapped = self.tap.is_some();
        let mut marks = 0;
        if tapped {
            self.tap_offered(link, packet);
            marks = self.marks(link);
        }
        let now = self.now;
        let port = self.links[link].port.as_ref();
        let filters = port.is_some_and(|p| p.discipline.filters_acknowledgments());
        let ack = filters.then(|| self.acknowledgment(packet)).flatten();
        let Some(port) = &mut self.links[link].port else {
            return;
        };
        if port.down || packet.size() > port.mtu {
            let why = match port.down {
                true => DropReason::LinkDown,
                false => DropReason::TooBig,
            };
            port.discipline.refuse(now, *packet, why, &mut self.drops);
            return self.drain_drops(link);
        }
        let (rng, drops) = (&mut port.rng, &mut self.drops);
        let leaf = port
            .discipline
            .enqueue_with(now, *packet, ack.as_ref(), rng, drops);
        let ringed = port.ring.is_some();
        let mut idle = port.free_at <= now;
        if let Some(server) = port.server.as_mut().filter(|_| idle) {
            port.free_at = port.free_at.max(server.begins(now, false));
            idle = port.free_at <= now;
        }
        if tapped {
            self.tap_metered(link, packet);
            if self.marks(link) > marks {
                self.tap_marked(link, packet);
            }
        }
        if !self.drops.is_empty() {
            self.drain_drops(link);
        }
        if ringed {
            self.note_peak(link, leaf);
            if !idle {
                self.fill_ring(link);
            }
        }
        if idle {
            self.serve(link);
        } else {
            self.wake_port_when_free(link);
        }
        // Last: a packet that is served at once has not waited.
        if let Some(port) = &mut self.links[link].port {
            port.note_level(now, leaf);
        }
    }

    /// What a packet acknowledges, if it belongs to a connection.
    fn acknowledgment(&self, packet: &Packet) -> Option<Acknowledgment> {
        match self.flows[packet.flow as usize].origin {
            Origin::Data(c) | Origin::Acknowledgments(c) => {
                let segment = self.segments.get(packet.handle as u32);
                segment.acknowledgment(self.tcp[c as usize].sender.config())
            }
            _ => None,
        }
    }

    /// Lets the server of a port with anything out of the ordinary take the next packet, and the
    /// ring what it has room for.
    #[inline(never)]
    pub(super) fn serve_special(&mut self, link: usize) {
        let mut marks = 0;
        if self.tap.is_some() {
            self.tap_choosing(link);
            marks = self.marks(link);
        }
        let (now, window) = (self.now, self.window);
        let l = &mut self.links[link];
        let Some(port) = &mut l.port else {
            return;
        };
        port.wake = Time::MAX;
        if let Some(server) = &mut port.server {
            port.free_at = port.free_at.max(server.begins(now, true));
        }
        let ringed = port.ring.is_some();
        if port.free_at > now {
            if ringed {
                self.fill_ring(link);
            }
            self.wake_port_when_free(link);
            return;
        }
        let mut served = port.take_next(now, &mut self.drops);
        let sent = served.is_some();
        if let Some(packet) = &mut served {
            let end = match &mut port.server {
                None => now + l.rate.tx_time(packet.len),
                Some(server) => server.send(now, packet.len),
            };
            l.begins(window, packet, now, end);
            if let Some(port) = &mut l.port {
                port.note_level(now, packet.leaf);
            }
            if self.tap.is_some() {
                if self.marks(link) > marks {
                    self.tap_marked(link, packet);
                }
                self.tap_served(link, packet);
            }
            if self.nodes.is_none() || !self.node_takes(link, packet) {
                self.cross(link, packet, now, end);
            }
        }
        if !self.drops.is_empty() {
            self.drain_drops(link);
        }
        let Some(port) = &mut self.links[link].port else {
            return;
        };
        let mut again = false;
        if let Some(server) = &mut port.server {
            port.free_at = server.free_at();
            // One transmission opportunity of a trace may carry several packets.
            again = sent && port.free_at <= now && port.holds_packets();
        }
        if ringed && sent {
            self.fill_ring(link);
        }
        if !again {
            return self.wake_port_when_free(link);
        }
        if let Some(port) = &mut self.links[link].port {
            port.wake = now;
            self.events.schedule(port.slot, now, Rank::Service);
        }
    }

    /// Handles a packet sent on a link with stages, or that fails, or loses and delays packets at
    /// random: when it reaches the far end, none if it is lost on the link.
    #[inline(never)]
    pub(crate) fn cross_special_link(
        &mut self,
        link: usize,
        packet: &Packet,
        start: Time,
        end: Time,
        mut due: Time,
    ) -> Option<Time> {
        if let Some(stages) = self.stages.as_mut().filter(|_| self.links[link].staged) {
            let cut = None;
            stages.send(link, packet, Sending { start, end, cut });
        }
        let Some(port) = &mut self.links[link].port else {
            return Some(due);
        };
        let carried = port.channel.as_mut().map(|c| c.carry());
        if let Some(Carried::Late(by)) = carried {
            due += by;
        }
        if let Some(underway) = &mut port.underway {
            underway.last = Some(*packet);
            if carried != Some(Carried::Lost) {
                underway.push(due, packet);
            }
        }
        if carried != Some(Carried::Lost) {
            return Some(due);
        }
        let reason = DropReason::LinkLoss;
        port.on_lost_in_flight(self.window, packet, due, reason);
        let (place, packet) = (self.link_hashes[link], *packet);
        let lost = Dropped { packet, reason };
        if self.tap.is_some() {
            self.tap_lost(Some(link as u32), Place::Wire(link as u32), &lost);
        }
        self.lose(due, place, &lost);
        None
    }

    /// Lets the discipline of a port whose server is busy give packets to the ring, as many as
    /// there is room for.
    #[inline(never)]
    pub(super) fn fill_ring(&mut self, link: usize) {
        while let Some(port) = &self.links[link].port {
            if !port.ring_has_room() || port.discipline.backlog_packets() == 0 {
                return;
            }
            if !self.give_to_ring(link) {
                return;
            }
        }
    }

    /// The discipline of a port gives a packet to the ring, which has room; false if it gives none.
    fn give_to_ring(&mut self, link: usize) -> bool {
        let mut marks = 0;
        if self.tap.is_some() {
            self.tap_choosing(link);
            marks = self.marks(link);
        }
        let now = self.now;
        let l = &mut self.links[link];
        let Some(port) = &mut l.port else {
            return false;
        };
        let given = port.discipline.dequeue(now, &mut port.rng, &mut self.drops);
        if let Some(packet) = given {
            let tx = l.rate.tx_time(packet.len);
            if let Some(ring) = &mut port.ring {
                ring.push(packet, tx);
                // Known exactly where the rate is constant; else it is told again when the
                // transmission begins.
                let end = port.free_at.max(now) + ring.work();
                port.discipline.transmits_until(packet.leaf, end);
            }
            port.note_level(now, packet.leaf);
            if self.tap.is_some() {
                if self.marks(link) > marks {
                    self.tap_marked(link, &packet);
                }
                self.tap_ringed(link, &packet);
            }
        }
        if !self.drops.is_empty() {
            self.drain_drops(link);
        }
        given.is_some()
    }

    /// Notes the backlog of a leaf of a port with a ring, of whose packets the discipline knows
    /// nothing.
    #[inline(never)]
    pub(super) fn note_peak(&mut self, link: usize, leaf: u16) {
        let counts = self.window.contains(self.now);
        let Some(port) = &mut self.links[link].port else {
            return;
        };
        let (packets, bytes) = port.backlog(leaf);
        if counts {
            port.queues[usize::from(leaf)].on_backlog(packets, bytes);
        }
    }
}
