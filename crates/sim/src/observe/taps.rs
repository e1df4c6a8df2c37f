//! Calls of the tap by ports and hosts.

use spillgate_core::{DropReason, Dropped, Packet, Time};
use spillgate_endpoints::tcp::Segment;
use spillgate_events::EventSet;
use spillgate_nodes::Carries;
use spillgate_queueing::Evidence;

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
        let Some(tap) = &mut self.tap else { return };
        let timeouts = match self.flows[packet.flow as usize].origin {
            Origin::Data(c) => self.tcp[c as usize].sender.stats().timeouts,
            _ => 0,
        };
        let segment = segment(&self.flows, &self.segments, packet);
        let labels = [0; 2];
        let seen = Seen {
            packet,
            segment,
            labels,
        };
        tap.sent(self.now, seen, timeouts);
    }

    #[cold]
    pub(crate) fn tap_offered(&mut self, link: usize, packet: &Packet) {
        let labels = self.label_values(link, packet);
        let Some(tap) = &mut self.tap else { return };
        let Some(port) = &mut self.links[link].port else {
            return;
        };
        let leaf = port.discipline.leaf_of(packet);
        let view = view_of(self.now, link, port);
        let segment = segment(&self.flows, &self.segments, packet);
        let packet = &Packet { leaf, ..*packet };
        tap.offered(
            &view,
            Seen {
                packet,
                segment,
                labels,
            },
        );
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
        let labels = self.label_values(link, packet);
        let Some(tap) = &mut self.tap else { return };
        let Some(port) = &mut self.links[link].port else {
            return;
        };
        let leaf = port.discipline.leaf_of(packet);
        let packet = &Packet { leaf, ..*packet };
        let why = port.discipline.mark_evidence(self.now, packet);
        let view = view_of(self.now, link, port);
        let segment = segment(&self.flows, &self.segments, packet);
        let seen = Seen {
            packet,
            segment,
            labels,
        };
        tap.marked(&view, &why, seen);
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
        let labels = self.label_values(link, packet);
        let Some(tap) = &mut self.tap else { return };
        if let Some(port) = &self.links[link].port {
            let view = view_of(self.now, link, port);
            let segment = segment(&self.flows, &self.segments, packet);
            tap.served(
                &view,
                Seen {
                    packet,
                    segment,
                    labels,
                },
            );
        }
    }

    /// Must be called before [`World::lose`], which frees the segment.
    #[cold]
    pub(crate) fn tap_lost(&mut self, link: Option<usize>, by_port: bool, lost: &Dropped) {
        let labels = link.map_or([0; 2], |l| self.label_values(l, &lost.packet));
        let Some(tap) = &mut self.tap else { return };
        let place = match link.map(|l| (l as u32, &self.links[l].port)) {
            Some((link, Some(port))) if by_port => {
                Place::Port(link, port.discipline.evidence(self.now, lost))
            }
            Some((link, _)) => Place::Wire(link),
            None => Place::Node,
        };
        let packet = &lost.packet;
        let segment = segment(&self.flows, &self.segments, packet);
        tap.lost(
            self.now,
            place,
            lost,
            Seen {
                packet,
                segment,
                labels,
            },
        );
    }

    /// What the policers of a port found of the packet that it was offered last.
    #[cold]
    pub(crate) fn tap_metered(&mut self, link: usize, packet: &Packet) {
        let labels = self.label_values(link, packet);
        let Some(tap) = &mut self.tap else { return };
        let Some(port) = &self.links[link].port else {
            return;
        };
        let refused = self.drops.as_slice().iter().any(|lost| {
            let same = (lost.packet.flow, lost.packet.seq) == (packet.flow, packet.seq);
            same && lost.reason == DropReason::Policer
        });
        let found = port.discipline.colors(refused);
        if found.is_empty() {
            return;
        }
        let segment = segment(&self.flows, &self.segments, packet);
        let seen = Seen {
            packet,
            segment,
            labels,
        };
        tap.metered(&view_of(self.now, link, port), &found, seen);
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

    /// An input policy at the receiving end of a link drops a packet; must be called before
    /// [`World::lose`].
    #[cold]
    pub(crate) fn tap_refused(
        &mut self,
        link: u32,
        class: u16,
        evidence: Evidence,
        lost: &Dropped,
    ) {
        let place = Place::Input(link, class, evidence);
        self.tell(Some(link), &lost.packet, |tap, now, seen| {
            tap.lost(now, place, lost, seen);
        });
    }

    /// A node has no room for a packet that came over `link`; must be called before
    /// [`World::lose`].
    #[cold]
    pub(crate) fn tap_kept_out(&mut self, link: u32, evidence: Evidence, lost: &Dropped) {
        let place = Place::Kept(link, evidence);
        self.tell(Some(link), &lost.packet, |tap, now, seen| {
            tap.lost(now, place, lost, seen);
        });
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
