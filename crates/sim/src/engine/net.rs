//! Packets on their way: ports, links, and the way from one to the next.

use spillgate_core::{DropReason, Dropped, Packet, Time};
use spillgate_events::{EventSet, Rank};

use super::{ARRIVED, ROUTED, World};
use crate::channel::Carried;
use crate::port::{Port, size};
use crate::wires::{InFlight, Placed};

impl<S: EventSet> World<S> {
    /// The wake of a wire: its first packet reaches the far end of its link.
    #[inline]
    pub(crate) fn wire_due(&mut self, wire: usize) {
        if self.lane_due(wire) {
            return;
        }
        let Some(first) = self.wires.pop(wire) else {
            return;
        };
        self.wake_wire(wire);
        self.arrive(wire, first);
    }

    /// What was the first packet on a wire is at the far end of its link.
    #[inline(always)]
    pub(crate) fn arrive(&mut self, wire: usize, first: InFlight) {
        let mut packet = first.packet();
        if self.now < self.window.end() {
            self.counts.hops += 1;
            self.facts.fact(
                self.now.as_ps() ^ first.tie,
                u64::from(packet.flow) << 32 | u64::from(packet.seq),
            );
        }
        // Where it matters which link it was, wires are not shared.
        if self.inputs.is_some() && !self.enter(wire, &mut packet) {
            return;
        }
        self.forward_from(Some(wire), &mut packet, self.now);
    }

    /// A packet sets out from its source at `now`.
    #[inline]
    pub(crate) fn forward(&mut self, packet: &mut Packet, now: Time) {
        if self.tap.is_some() {
            self.tap_sent(packet);
        }
        self.forward_from(None, packet, now);
    }

    /// A packet is at a node, the far end of a link or its source: it is received there or goes on.
    #[inline]
    fn forward_from(&mut self, from: Option<usize>, packet: &mut Packet, now: Time) {
        match self.hops[(packet.handle >> 32) as usize] {
            ARRIVED => self.receive(now, packet),
            ROUTED => self.forward_by_routes(from, packet, now),
            link => {
                packet.handle += 1 << 32;
                self.pass(from, link, packet, now);
            }
        }
    }

    /// A packet arrives at the port of `link` at `now`.
    #[inline]
    pub(crate) fn offer(&mut self, link: usize, packet: &mut Packet, now: Time) {
        if !self.lane_offered(link, packet, now) {
            self.enter_port(link, packet, now);
        }
    }

    /// The same at a port that serves its packets one by one.
    pub(crate) fn enter_port(&mut self, link: usize, packet: &mut Packet, now: Time) {
        if self.links[link].onward.labels {
            self.relabel(link, packet);
        }
        (packet.len, packet.arrived) = (self.links[link].wire_len(packet), now);
        self.enqueue(link, *packet);
    }

    /// A packet arrives at a port with a discipline.
    fn enqueue(&mut self, link: usize, mut packet: Packet) {
        // On the wire it would only be carried along.
        packet.hash = self.flows[packet.flow as usize].hash;
        let tapped = self.tap.is_some();
        let mut marks = 0;
        if tapped {
            self.tap_offered(link, &packet);
            marks = self.marks(link);
        }
        let now = self.now;
        let Port::Queued(port) = &mut self.links[link].port else {
            return;
        };
        let too_big = size(&packet) > port.mtu;
        if port.down || too_big {
            let why = if port.down {
                DropReason::LinkDown
            } else {
                DropReason::TooBig
            };
            port.discipline.refuse(now, packet, why, &mut self.drops);
            return self.drain_drops(link);
        }
        port.discipline
            .enqueue(now, packet, &mut port.rng, &mut self.drops);
        let mut idle = port.free_at <= now;
        if let Some(server) = port.server.as_mut().filter(|_| idle) {
            port.free_at = port.free_at.max(server.opens(now));
            idle = port.free_at <= now;
        }
        if tapped && self.marks(link) > marks {
            self.tap_marked(link, &packet);
        }
        if !self.drops.is_empty() {
            self.drain_drops(link);
        }
        if idle {
            self.serve(link);
        } else {
            self.wake_port_when_free(link);
        }
    }

    /// The server of `link` takes the next packet, if it may.
    pub(crate) fn serve(&mut self, link: usize) {
        let mut marks = 0;
        if self.tap.is_some() {
            self.tap_choosing(link);
            marks = self.marks(link);
        }
        let (now, window) = (self.now, self.window);
        let l = &mut self.links[link];
        let Port::Queued(port) = &mut l.port else {
            return;
        };
        port.wake = Time::MAX;
        if let Some(server) = &mut port.server {
            port.free_at = port.free_at.max(server.ready(now));
        }
        if port.free_at > now {
            self.wake_port_when_free(link);
            return;
        }
        let served = port.discipline.dequeue(now, &mut port.rng, &mut self.drops);
        let sent = served.is_some();
        if let Some(mut packet) = served {
            let end = match &mut port.server {
                None => now + l.tx_time(&packet),
                Some(server) => server.send(now, packet.len),
            };
            l.meter.on_transmit(window, now, end, packet.len);
            let Port::Queued(port) = &mut l.port else {
                return;
            };
            port.free_at = end;
            port.discipline.transmits_until(packet.leaf, end);
            let queue = &mut port.queues[usize::from(packet.leaf)];
            queue.on_served(window, &packet, now, end);
            if self.tap.is_some() {
                if self.marks(link) > marks {
                    self.tap_marked(link, &packet);
                }
                self.tap_served(link, &packet);
            }
            self.send(link, &mut packet, now, end);
        }
        if !self.drops.is_empty() {
            self.drain_drops(link);
        }
        let Port::Queued(port) = &mut self.links[link].port else {
            return;
        };
        if let Some(server) = &mut port.server {
            port.free_at = server.free_at();
            // An opportunity may have room for more.
            if sent && port.free_at <= now && port.discipline.backlog_packets() > 0 {
                port.wake = now;
                return self.events.schedule(port.slot, now, Rank::Service);
            }
        }
        self.wake_port_when_free(link);
    }

    /// Sets the port's wake: when the server is free and something waits, or
    /// when a shaper lets the next packet go.
    #[inline]
    fn wake_port_when_free(&mut self, link: usize) {
        let l = &mut self.links[link];
        let Port::Queued(port) = &mut l.port else {
            return;
        };
        let at = if port.discipline.backlog_packets() == 0 {
            return;
        } else if port.free_at > self.now {
            port.free_at
        } else {
            match port.discipline.next_wake(self.now) {
                Some(at) => at,
                None => return,
            }
        };
        if port.wake != at {
            port.wake = at;
            self.events.schedule(port.slot, at, Rank::Service);
        }
    }

    /// A packet occupies the link from `start` to `end`, and is on its way from then on.
    fn send(&mut self, link: usize, packet: &mut Packet, start: Time, end: Time) {
        if self.lane_sent(link, packet, start, end) {
            return;
        }
        let onward = self.links[link].onward;
        let mut due = end + onward.delay;
        if onward.special {
            match self.look_closer(link, packet, start, end, due) {
                Some(at) => due = at,
                None => return,
            }
        }
        if self.wires.push(link, link, due, onward.tie, packet) == Placed::First {
            self.wake_wire(link);
        }
    }

    /// Sets the wake of a wire to its first packet.
    #[inline]
    pub(crate) fn wake_wire(&mut self, wire: usize) {
        let Some(first) = self.wires.first(wire) else {
            return;
        };
        let (due, tie) = (first.due, first.tie);
        if !self.lane_wakes(wire, due, tie) {
            let slot = self.slots.wires + wire as u32;
            self.events.schedule_for(slot, due, Rank::Delivery, tie);
        }
    }

    /// Looks once more at what is sent on a link on which labels may change, which fails, or on which
    /// packets are lost or late: when it arrives, unless it is lost on the way.
    #[inline(never)]
    pub(crate) fn look_closer(
        &mut self,
        link: usize,
        packet: &Packet,
        start: Time,
        end: Time,
        mut due: Time,
    ) -> Option<Time> {
        if self.links[link].onward.labels {
            self.meter_labels(link, packet, start, end);
        }
        if self.lane_cuts(link, packet, end, due) {
            return None;
        }
        let Port::Queued(port) = &mut self.links[link].port else {
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
        let queue = &mut port.queues[usize::from(packet.leaf)];
        queue.on_lost_on_the_wire(self.window, due, reason);
        let (place, packet) = (self.places[link], *packet);
        let lost = Dropped { packet, reason };
        if self.tap.is_some() {
            self.tap_lost(Some(link), false, &lost);
        }
        self.lose(due, place, &lost);
        None
    }

    #[cold]
    pub(crate) fn drain_drops(&mut self, link: usize) {
        let now = self.now;
        let drops = std::mem::take(&mut self.drops);
        for lost in drops.as_slice() {
            if self.tap.is_some() {
                self.tap_lost(Some(link), true, lost);
            }
            let l = &mut self.links[link];
            if let Port::Queued(port) = &mut l.port {
                let queue = &mut port.queues[usize::from(lost.packet.leaf)];
                queue.on_lost(self.window, &lost.packet, now, lost.reason);
            }
            let place = self.places[link];
            self.lose(now, place, lost);
        }
        self.drops = drops;
        self.drops.clear();
    }
}
