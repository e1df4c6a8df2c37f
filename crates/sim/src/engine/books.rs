//! The books of a run: what reaches the far end of a link, and what is lost. Both are facts of the
//! fingerprint, each with its time.

use spillgate_core::{Dropped, Time};
use spillgate_events::EventSet;

use super::World;
use crate::flow::{Flow, Origin};

/// What names a packet in the fingerprint.
fn name(flow: u32, seq: u32) -> u64 {
    u64::from(flow) << 32 | u64::from(seq)
}

impl<S: EventSet> World<S> {
    /// A packet of a flow is at the far end of the link with this tie at `now`.
    #[inline(always)]
    pub(crate) fn count_hop(&mut self, now: Time, tie: u64, flow: u32, seq: u32) {
        if now < self.window.end() {
            self.counts.hops += 1;
            self.facts.fact(now.as_ps() ^ tie, name(flow, seq));
        }
    }

    /// Counts what the port of `link` has dropped.
    #[cold]
    pub(crate) fn drain_drops(&mut self, link: usize) {
        let now = self.now;
        let drops = std::mem::take(&mut self.drops);
        for lost in drops.as_slice() {
            if self.tap.is_some() {
                self.tap_dropped(link, lost);
            }
            let l = &mut self.links[link];
            if let Some(port) = &mut l.port {
                port.on_lost(self.window, &lost.packet, now, lost.reason);
                port.note_level(now, lost.packet.leaf);
            }
            if self.nodes.is_some() {
                self.node_loses(link, &lost.packet);
            }
            let place = self.link_hashes[link];
            self.lose(now, place, lost);
        }
        self.drops = drops;
        self.drops.clear();
    }

    /// Counts the loss of a packet at `now`, which may lie ahead of the clock. `link_hash` tells
    /// where.
    #[cold]
    pub(crate) fn lose(&mut self, now: Time, link_hash: u64, lost: &Dropped) {
        let packet = &lost.packet;
        if now < self.window.end() {
            self.counts.losses += 1;
            let place = link_hash.rotate_left(1 + lost.reason.index() as u32);
            self.facts
                .fact(now.as_ps() ^ place, name(packet.flow, packet.seq));
        }
        let Flow {
            origin,
            meter: number,
            ..
        } = self.flows[packet.flow as usize];
        if let Some(meter) = self.meters.get_mut(number as usize) {
            if self.window.contains(packet.sent) && self.outstanding.counts(number, now) {
                meter.on_lost(lost.reason);
                if let Some(marked) = &mut self.marked {
                    marked.on_lost(number, packet, lost.reason);
                }
                self.last_known_loss = self.last_known_loss.max(now);
                self.settle(number, now);
            }
        }
        match origin {
            Origin::Open(_) | Origin::Workload(_) | Origin::Replay(_) | Origin::Replayed => {}
            Origin::Data(c) | Origin::Acknowledgments(c) => {
                self.segment_lost(now, c as usize, packet);
            }
        }
    }
}
