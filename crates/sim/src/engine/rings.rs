//! Transmit rings: packets that have left the discipline of a port and wait for its server.

use spillgate_events::EventSet;

use super::World;

impl<S: EventSet> World<S> {
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
