//! Calls of the tap by ports and hosts.

use spillgate_core::{DropReason, Dropped, Packet, Time};
use spillgate_endpoints::tcp::Segment;
use spillgate_events::EventSet;
use spillgate_nodes::Carries;

use crate::engine::World;
use crate::flow::{Flow, NO_METER, Origin};
use crate::port::Port;
use crate::tap::{FlowInfo, Place, PortView, Seen, Tap};
use crate::tcp::{Connection, Segments};

/// A port as taps see it.
fn view_of(now: Time, link: usize, port: &Port) -> PortView<'_> {
    PortView {
        now,
        link: link as u32,
        discipline: &port.discipline,
        free_at: port.free_at,
    }
}

/// The TCP segment that a packet carries, if any.
fn segment<'a>(flows: &[Flow], segments: &'a Segments, packet: &Packet) -> Option<&'a Segment> {
    match flows[packet.flow as usize].origin {
        Origin::Data(_) | Origin::Acknowledgments(_) => Some(segments.get(packet.handle as u32)),
        Origin::Open(_) | Origin::Workload(_) | Origin::Replay(_) | Origin::Replayed => None,
    }
}

/// The flows of a world as a tap sees them.
pub(crate) fn flow_infos(
    flows: &[Flow],
    keys: &[spillgate_core::FlowKey],
    tcp: &[Connection],
) -> Vec<FlowInfo> {
    let info = |(f, key): (&Flow, &spillgate_core::FlowKey)| {
        let of = match f.origin {
            Origin::Acknowledgments(c) if f.meter == NO_METER => {
                flows[tcp[c as usize].data as usize].meter
            }
            _ => f.meter,
        };
        FlowInfo {
            of,
            answers: matches!(f.origin, Origin::Acknowledgments(_)),
            tcp: matches!(f.origin, Origin::Data(_) | Origin::Acknowledgments(_)),
            key: *key,
        }
    };
    flows.iter().zip(keys).map(info).collect()
}

impl<S: EventSet> World<S> {
    /// Takes the tap out of a world that is over.
    pub fn into_tap(self) -> Option<Box<dyn Tap>> {
        self.tap
    }

    #[cold]
    pub(crate) fn tap_sent(&mut self, packet: &Packet) {
        let timeouts = match self.flows[packet.flow as usize].origin {
            Origin::Data(c) => self.tcp[c as usize].sender.stats().timeouts,
            _ => 0,
        };
        self.tell(None, packet, |tap, now, seen| tap.sent(now, seen, timeouts));
    }

    #[cold]
    pub(crate) fn tap_offered(&mut self, link: usize, packet: &Packet) {
        let packet = self.classified(link, packet);
        self.tell_at_port(link, &packet, |tap, port, seen| tap.offered(port, seen));
    }

    /// A packet with the leaf that it has at a port.
    fn classified(&mut self, link: usize, packet: &Packet) -> Packet {
        let port = self.links[link].port.as_mut();
        let leaf = port.map_or(packet.leaf, |p| p.discipline.leaf_of(packet));
        Packet { leaf, ..*packet }
    }

    /// How many packets the discipline of a port has marked so far.
    #[cold]
    pub(crate) fn marks(&self, link: usize) -> u64 {
        match &self.links[link].port {
            Some(port) => port.discipline.leaves().iter().map(|s| s.marks_ce).sum(),
            None => 0,
        }
    }

    #[cold]
    pub(crate) fn tap_marked(&mut self, link: usize, packet: &Packet) {
        let packet = self.classified(link, packet);
        self.tell_at_port(link, &packet, |tap, port, seen| {
            let why = port.discipline.mark_evidence(port.now, seen.packet);
            tap.marked(port, &why, seen);
        });
    }

    #[cold]
    pub(crate) fn tap_choosing(&mut self, link: usize) {
        let Some(tap) = &mut self.tap else { return };
        if let Some(port) = &self.links[link].port {
            let free = port.free_at <= self.now && port.ring.as_ref().is_none_or(|r| r.is_empty());
            let takes = free || port.ring_has_room();
            if port.discipline.backlog_packets() > 0 && takes {
                tap.choosing(&view_of(self.now, link, port));
            }
        }
    }

    #[cold]
    pub(crate) fn tap_ringed(&mut self, link: usize, packet: &Packet) {
        self.tell(Some(link as u32), packet, |tap, now, seen| {
            tap.ringed(now, link as u32, seen);
        });
    }

    #[cold]
    pub(crate) fn tap_served(&mut self, link: usize, packet: &Packet) {
        self.tell_at_port(link, packet, |tap, port, seen| tap.served(port, seen));
    }

    /// What the policers of a port found of the packet that it was offered last.
    #[cold]
    pub(crate) fn tap_metered(&mut self, link: usize, packet: &Packet) {
        let refused = self.drops.as_slice().iter().any(|lost| {
            let same = (lost.packet.flow, lost.packet.seq) == (packet.flow, packet.seq);
            same && lost.reason == DropReason::Policer
        });
        self.tell_at_port(link, packet, |tap, port, seen| {
            let found = port.discipline.colors(refused);
            if !found.is_empty() {
                tap.metered(port, &found, seen);
            }
        });
    }

    /// The queue of a port loses a packet.
    #[cold]
    pub(crate) fn tap_dropped(&mut self, link: usize, lost: &Dropped) {
        if let Some(port) = &self.links[link].port {
            let why = port.discipline.evidence(self.now, lost);
            self.tap_lost(Some(link as u32), Place::Port(link as u32, why), lost);
        }
    }

    /// A packet is lost that came to this link; must be called before [`World::lose`], which frees
    /// the segment.
    #[cold]
    pub(crate) fn tap_lost(&mut self, link: Option<u32>, place: Place, lost: &Dropped) {
        self.tell(link, &lost.packet, |tap, now, seen| {
            tap.lost(now, place, lost, seen);
        });
    }

    /// Tells the tap of a packet, with its labels if it is at a link.
    pub(crate) fn tell(
        &mut self,
        link: Option<u32>,
        packet: &Packet,
        tell: impl FnOnce(&mut dyn Tap, Time, Seen<'_>),
    ) {
        let labels = link.map_or([0; 2], |l| self.label_values(l as usize, packet));
        let Some(tap) = &mut self.tap else { return };
        let segment = segment(&self.flows, &self.segments, packet);
        let seen = Seen {
            packet,
            segment,
            labels,
        };
        tell(&mut **tap, self.now, seen);
    }

    /// The same of a packet at a port.
    fn tell_at_port(
        &mut self,
        link: usize,
        packet: &Packet,
        tell: impl FnOnce(&mut dyn Tap, &PortView<'_>, Seen<'_>),
    ) {
        let labels = self.label_values(link, packet);
        let (Some(tap), Some(port)) = (&mut self.tap, &self.links[link].port) else {
            return;
        };
        let segment = segment(&self.flows, &self.segments, packet);
        let seen = Seen {
            packet,
            segment,
            labels,
        };
        tell(&mut **tap, &view_of(self.now, link, port), seen);
    }

    /// A packet has crossed the fabric of the switch before the port of `link`.
    #[cold]
    pub(crate) fn tap_crossed(&mut self, link: u32, since: Time, packet: &Packet) {
        self.tell(Some(link), packet, |tap, now, seen| {
            tap.crossed(now, link, since, seen);
        });
    }

    /// A node carries a packet that the port of `link` begins to send over lines of its own.
    #[cold]
    pub(crate) fn tap_carried(&mut self, link: u32, carries: Carries, packet: &Packet) {
        let first = (packet.handle >> 32) as usize;
        let lines = self.hops[first..first + carries.links as usize].to_vec();
        self.tell(Some(link), packet, |tap, _, seen| {
            tap.carried_in_parts(&lines, carries.part, seen);
        });
    }

    /// The last part of a packet has left over a line that others share.
    #[cold]
    pub(crate) fn tap_sent_until(&mut self, link: u32, packet: &Packet, end: Time, free_at: Time) {
        self.tell(Some(link), packet, |tap, _, seen| {
            tap.sent_until(link, end, free_at, seen);
        });
    }

    /// The last part of a packet has left over the last line of a node.
    #[cold]
    pub(crate) fn tap_last_part_left(&mut self, packet: &Packet) {
        self.tell(None, packet, |tap, now, seen| tap.last_part_left(now, seen));
    }

    #[cold]
    pub(crate) fn tap_received(&mut self, packet: &Packet) {
        self.tell(None, packet, |tap, now, seen| tap.received(now, seen));
    }
}
