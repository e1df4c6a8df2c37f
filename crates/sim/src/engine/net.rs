//! Packets on their way: ports, links, and the way from one to the next.

use spillgate_core::{DropReason, Dropped, Packet, Time};
use spillgate_events::{EventSet, Rank};

use super::{ARRIVED, ROUTED, World};
use crate::channel::Carried;
use crate::express::Loss;
use crate::link::{Onward, Then};
use crate::port::{Port, size};
use crate::wires::{InFlight, Placed};

impl<S: EventSet> World<S> {
    /// The first packet on a wire reaches the far end of its link.
    #[inline(always)]
    pub(crate) fn deliver(&mut self, wire: usize) {
        let Some(first) = self.wires.pop(wire) else {
            return;
        };
        self.wake_wire(wire);
        self.arrive(wire, first);
    }

    /// What was the first packet on a wire is at the far end of its link.
    #[inline(always)]
    pub(crate) fn arrive(&mut self, wire: usize, first: InFlight) {
        if self.large {
            self.look_ahead(wire);
        }
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
    fn forward_from(&mut self, link: Option<usize>, packet: &mut Packet, now: Time) {
        match self.hops[(packet.handle >> 32) as usize] {
            ARRIVED => self.receive(now, packet),
            ROUTED => self.forward_by_routes(link, packet, now),
            link => {
                packet.handle += 1 << 32;
                self.offer(link as usize, packet, now);
            }
        }
    }

    /// A packet arrives at the port of `link` at `now`, which lies ahead where packets come over
    /// one link only.
    pub(crate) fn offer(&mut self, mut link: usize, packet: &mut Packet, mut now: Time) {
        loop {
            let l = &mut self.links[link];
            let (passed, onward) = (l.straight.pass(now, packet.l3_len), l.onward);
            let (start, end) = match passed {
                Some(end) => (now, end),
                None => match self.queue(link, packet, now) {
                    Some(sent) => sent,
                    None => return,
                },
            };
            match self.send_off(link, onward, packet, start, end) {
                Some((next, due)) => (link, now) = (next, due),
                None => return,
            }
        }
    }

    /// A packet arrives at the port of `link` and does not go straight through: from when to when it
    /// is sent, if it is known and not lost.
    #[inline(always)]
    fn queue(&mut self, link: usize, packet: &mut Packet, now: Time) -> Option<(Time, Time)> {
        let l = &mut self.links[link];
        if let Some(sent) = l.wait(&mut self.lines, now, packet.l3_len) {
            return Some(sent);
        }
        if l.straight.is_managed() {
            return self.queue_managed(link, packet, now);
        }
        self.queue_any(link, packet, now)
    }

    /// The same at a port with queue management.
    #[inline(never)]
    fn queue_managed(
        &mut self,
        link: usize,
        packet: &mut Packet,
        now: Time,
    ) -> Option<(Time, Time)> {
        match self.links[link].ask(&mut self.lines, now, packet, self.window) {
            Some(Ok(sent)) => Some(sent),
            Some(Err(loss)) => {
                self.lose_at(link, packet, loss);
                None
            }
            None => self.queue_any(link, packet, now),
        }
    }

    /// The same at any port.
    #[inline(never)]
    fn queue_any(&mut self, link: usize, packet: &mut Packet, now: Time) -> Option<(Time, Time)> {
        if self.links[link].onward.labels {
            self.relabel(link, packet);
        }
        let l = &mut self.links[link];
        (packet.len, packet.arrived) = (l.wire_len(packet), now);
        if !l.is_computed() {
            self.enqueue(link, *packet);
            return None;
        }
        l.begin_counting(now, &mut self.lines, self.window);
        let tx = l.turn(&mut self.lines, now, packet, self.window);
        // It may be the first of its length, or of the measured period.
        if let Some(end) = l.straight.pass(now, packet.l3_len) {
            return Some((now, end));
        }
        let Port::Fifo(fifo) = &mut l.port else {
            return None;
        };
        let free_at = &mut l.straight.free_at;
        match fifo.offer(free_at, &mut self.lines, now, packet, tx, self.window) {
            Ok(start) => {
                let end = start + tx;
                l.meter.on_transmit(self.window, start, end, packet.len);
                Some((start, end))
            }
            Err(loss) => {
                self.lose_at(link, packet, loss);
                None
            }
        }
    }

    /// A packet is lost at the port of `link`, which has counted it.
    #[inline]
    fn lose_at(&mut self, link: usize, packet: &Packet, Loss { at, reason }: Loss) {
        let (place, packet) = (self.places[link], *packet);
        self.lose(at, place, &Dropped { packet, reason });
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
        if idle && let Some(server) = &mut port.server {
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
            let onward = self.links[link].onward;
            if let Some((next, due)) = self.send_off(link, onward, &mut packet, now, end) {
                self.offer(next, &mut packet, due);
            }
        }
        if !self.drops.is_empty() {
            self.drain_drops(link);
        }
        if let Port::Queued(port) = &mut self.links[link].port
            && let Some(server) = &mut port.server
        {
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

    /// A packet occupies the link from `start` to `end` and then the wire. If it can be offered to the
    /// next port before it is there: which it is, and when the packet gets there.
    #[inline(always)]
    fn send_off(
        &mut self,
        link: usize,
        onward: Onward,
        packet: &mut Packet,
        start: Time,
        end: Time,
    ) -> Option<(usize, Time)> {
        let mut due = end + onward.delay;
        if onward.special {
            due = self.look_closer(link, packet, start, end, due)?;
        }
        if due < self.horizon {
            if let Some(next) = self.next_ahead(link, onward.then, packet) {
                self.count_ahead(due, onward.tie, packet);
                packet.handle += self.step;
                return Some((next, due));
            }
        }
        if onward.then == Then::Receive && self.receive_ahead(link, onward.tie, packet, due) {
            return None;
        }
        match self
            .wires
            .push(onward.wire as usize, link, due, onward.tie, packet)
        {
            Placed::Behind => {}
            Placed::First => self.wake_wire(onward.wire as usize),
            Placed::Astray { first } => {
                self.strayed(link);
                if first {
                    self.wake_wire(link);
                }
            }
        }
        None
    }

    /// The port to which a packet that gets to the far end of `link` before the next change may be
    /// offered now.
    #[inline(always)]
    pub(crate) fn next_ahead(&mut self, link: usize, then: Then, packet: &Packet) -> Option<usize> {
        // One after the other: a table of jumps would be guessed wrong more often.
        if let Then::Port(next) = then {
            return Some(next as usize);
        }
        if then != Then::Look {
            return None;
        }
        let next = match &mut self.routing {
            Some(routing) => routing.next(link, packet)?,
            None => self.hops[(packet.handle >> 32) as usize],
        } as usize;
        self.links.get(next).filter(|l| l.onward.solo).map(|_| next)
    }

    /// Looks once more at what is sent on a link on which labels may change, which fails, or on which
    /// packets are lost or late: when it arrives, unless it is lost on the way.
    #[inline(never)]
    fn look_closer(
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
        if self.is_cut_off(link, packet, end, due) {
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

    /// Whether a computed `link` fails before the packet whose transmission is to end at `end` has
    /// reached its far end at `due`: then the packet is lost.
    fn is_cut_off(&mut self, link: usize, packet: &Packet, end: Time, due: Time) -> bool {
        let l = &mut self.links[link];
        let Port::Fifo(fifo) = &l.port else {
            return false;
        };
        let lost = fifo.lose_on_the_wire(&mut self.lines, due, self.window);
        if let Some(Loss { at, reason }) = lost {
            if at < end {
                l.cut_off(&mut self.lines, at, end, self.window);
            }
            let (place, packet) = (self.places[link], *packet);
            self.lose(at, place, &Dropped { packet, reason });
        }
        lost.is_some()
    }

    /// A packet reaches the far end of the link with this tie at `due`, without a wake.
    #[inline]
    pub(crate) fn count_ahead(&mut self, due: Time, tie: u64, packet: &Packet) {
        if due < self.window.end() {
            self.counts.hops += 1;
            self.facts.fact(
                due.as_ps() ^ tie,
                u64::from(packet.flow) << 32 | u64::from(packet.seq),
            );
        }
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
