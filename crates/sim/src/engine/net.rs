//! Packets in the network: from a node to a port, through its queue and server, over the link to
//! the next node.

use spillgate_core::{Packet, Time};
use spillgate_events::{EventSet, Rank};

use super::{ARRIVED, ROUTED, World};
use crate::link::Link;
use crate::pipes::{InFlight, Placed};

impl<S: EventSet> World<S> {
    /// The wake of a pipe: its first packet reaches the far end of its link.
    #[inline]
    pub(crate) fn pipe_due(&mut self, pipe: usize) {
        if self.lane_due(pipe) {
            return;
        }
        let Some(first) = self.pipes.pop(pipe) else {
            return;
        };
        self.wake_pipe(pipe);
        self.arrive(pipe, first);
    }

    /// The packet taken from the head of `pipe` is at the far end of its link.
    #[inline(always)]
    pub(crate) fn arrive(&mut self, pipe: usize, first: InFlight) {
        let mut packet = first.packet();
        self.count_hop(self.now, first.tie, packet.flow, packet.seq);
        if self.stages.is_some() && !self.enter(pipe, &mut packet) {
            return;
        }
        self.forward_from(Some(pipe), &mut packet, self.now);
    }

    /// A source sends a packet at `now`.
    #[inline]
    pub(crate) fn forward(&mut self, packet: &mut Packet, now: Time) {
        if self.tap.is_some() {
            self.tap_sent(packet);
        }
        self.forward_from(None, packet, now);
    }

    /// A packet is at a node, its source or the far end of link `from`: receives it or passes it
    /// on.
    #[inline]
    pub(crate) fn forward_from(&mut self, from: Option<usize>, packet: &mut Packet, now: Time) {
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
        let served = self.links[link].port.is_some();
        if served || !self.lane_offered(link, packet, now) {
            self.enter_port(link, packet, now);
        }
    }

    /// A packet arrives at the port of `link`, which serves its packets one by one.
    pub(crate) fn enter_port(&mut self, link: usize, packet: &mut Packet, now: Time) {
        if self.links[link].staged {
            self.leave(link, packet, now);
        }
        // Set here, so that packets in pipes need no room for it.
        packet.hash = self.flows[packet.flow as usize].hash;
        let at = self.now;
        let l = &mut self.links[link];
        (packet.len, packet.arrived) = (l.wire_len(packet), now);
        let Some(port) = &mut l.port else {
            return;
        };
        if port.special || packet.size() > port.mtu {
            return self.enter_special_port(link, packet);
        }
        let drops = &mut self.drops;
        port.discipline.enqueue(at, *packet, &mut port.rng, drops);
        let idle = port.free_at <= at;
        if !drops.is_empty() {
            self.drain_drops(link);
        }
        if idle {
            self.serve(link);
        } else {
            self.wake_port_when_free(link);
        }
    }

    /// Lets the server of `link` take the next packet, if it is free and there is one, and the ring
    /// what it has room for.
    pub(crate) fn serve(&mut self, link: usize) {
        let (now, window) = (self.now, self.window);
        let l = &mut self.links[link];
        let Some(port) = &mut l.port else {
            return;
        };
        if port.special {
            return self.serve_special(link);
        }
        port.wake = Time::MAX;
        if port.free_at <= now {
            let mut served = port.discipline.dequeue(now, &mut port.rng, &mut self.drops);
            if let Some(packet) = &mut served {
                let end = now + l.rate.tx_time(packet.len);
                l.begins(window, packet, now, end);
                self.cross(link, packet, now, end);
            }
            if !self.drops.is_empty() {
                self.drain_drops(link);
            }
        }
        self.wake_port_when_free(link);
    }

    /// Sets the wake of a port that holds packets.
    #[inline]
    pub(super) fn wake_port_when_free(&mut self, link: usize) {
        let l = &mut self.links[link];
        let Some(port) = &mut l.port else {
            return;
        };
        let Some(at) = port.next_wake(self.now) else {
            return;
        };
        if port.wake != at {
            port.wake = at;
            self.events.schedule(port.slot, at, Rank::Service);
        }
    }

    /// The server of a port has become free at `now`, or is to at a later time, for what waits.
    pub(crate) fn wake_port(&mut self, link: usize, at: Time) {
        let Some(port) = &mut self.links[link].port else {
            return;
        };
        if port.holds_packets() {
            // A ring with room waits for a shaper, too.
            let free = at.max(self.now);
            port.wake = match port.ring_has_room() {
                true => port.next_wake(self.now).map_or(free, |at| at.min(free)),
                false => free,
            };
            self.events.schedule(port.slot, port.wake, Rank::Service);
        }
    }

    /// Puts a packet that is transmitted from `start` to `end` into the pipe of its link.
    pub(crate) fn cross(&mut self, link: usize, packet: &mut Packet, start: Time, end: Time) {
        if self.lane_sent(link, packet, start, end) {
            return;
        }
        let Link {
            delay,
            tie,
            special,
            ..
        } = self.links[link];
        let mut due = end + delay;
        if special {
            match self.cross_special_link(link, packet, start, end, due) {
                Some(at) => due = at,
                None => return,
            }
        }
        if self.pipes.push(link, link, due, tie, packet) == Placed::First {
            self.wake_pipe(link);
        }
    }

    /// Sets the wake of a pipe to the arrival of its first packet.
    #[inline]
    pub(crate) fn wake_pipe(&mut self, pipe: usize) {
        let Some(first) = self.pipes.first(pipe) else {
            return;
        };
        let slot = self.slots.pipes + pipe as u32;
        self.events
            .schedule_for(slot, first.due, Rank::Delivery, first.tie);
    }
}
