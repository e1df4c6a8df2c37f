//! Packets ahead of the clock: they go through ports that know departures at arrival, and on to the
//! next port or host, before they are there.

use spillgate_core::{Dropped, Packet, Time};
use spillgate_events::EventSet;

use super::link::{Ahead, Onward};
use crate::campaign::Failure;
use crate::engine::World;
use crate::pipes::Placed;

impl<S: EventSet> World<S> {
    /// The wake of a pipe: its first packet reaches the far end of its link, and perhaps further
    /// packets do.
    #[inline]
    pub(super) fn pipe_woken(&mut self, pipe: usize) {
        if self.lane.stalls.is_some() {
            self.stall_ends(pipe);
        }
        if let Some(first) = self.pipes.pop(pipe) {
            self.wake_pipe(pipe);
            if self.lane.large {
                self.prefetch_behind(pipe);
            }
            self.arrive(pipe, first);
        }
        self.receive_rest(pipe);
        if self.lane.stalls.is_some() {
            self.go_on(pipe);
        }
    }

    /// A packet arrives at the port of `link` at `now`, which is ahead of the clock at a
    /// single-feeder port.
    pub(super) fn offer_ahead(&mut self, mut link: usize, packet: &mut Packet, mut now: Time) {
        loop {
            let l = &mut self.lane.links[link];
            let (passed, onward) = (l.uncontended.pass(now, packet.l3_len), l.onward);
            let (start, end) = match passed {
                Some(end) => (now, end),
                None => match self.queue(link, packet, now) {
                    Some(sent) => sent,
                    None => return,
                },
            };
            if onward.special {
                // Ports that pass a packet uncontended do not set this.
                packet.arrived = now;
            }
            match self.send_off(link, onward, packet, start, end) {
                Some((next, due)) => (link, now) = (next, due),
                None => return,
            }
        }
    }

    /// A packet arrives at the port of `link` and does not pass uncontended: when its transmission
    /// starts and ends, if that is known and the packet is not lost.
    #[inline(always)]
    fn queue(&mut self, link: usize, packet: &mut Packet, now: Time) -> Option<(Time, Time)> {
        match self.lane.links[link].wait(now, packet.l3_len) {
            None => self.queue_any(link, packet, now),
            sent => sent,
        }
    }

    /// The same for any packet.
    #[inline(never)]
    fn queue_any(&mut self, link: usize, packet: &mut Packet, now: Time) -> Option<(Time, Time)> {
        if !self.lane.links[link].knows_departures() {
            self.enter_port(link, packet, now);
            return None;
        }
        if self.lane.links[link].onward.staged {
            self.leave(link, packet, now);
        }
        if now < self.lane.links[link].latest() {
            self.breach(link, now);
        }
        (packet.len, packet.arrived) = (self.links[link].wire_len(packet), now);
        let l = &mut self.lane.links[link];
        l.begin_counting(now, self.window);
        let tx = l.turn(now, packet, self.window);
        // The packet may be the first of its length, or of the measured period.
        if let Some(end) = l.uncontended.pass(now, packet.l3_len) {
            return Some((now, end));
        }
        l.came(now);
        let port = l.port.as_mut()?;
        let free_at = &mut l.uncontended.free_at;
        match port.offer(free_at, now, packet, tx, self.window) {
            Ok(start) => {
                let end = start + tx;
                l.meter.on_transmit(self.window, start, end, packet.len);
                Some((start, end))
            }
            Err(reason) => {
                let (place, packet) = (self.link_hashes[link], *packet);
                self.lose(now, place, &Dropped { packet, reason });
                None
            }
        }
    }

    /// A packet arrives at a port at `now`, before one that was offered already: the lookahead was
    /// wrong, and so would be the results.
    #[cold]
    pub(super) fn breach(&mut self, link: usize, now: Time) {
        let name = &self.plan.links[link].name;
        let fault = format!(
            "a packet comes to link `{name}` at {now}, before another one that was looked ahead at: this is an error of spillgate; please report it, and run with --engine plain meanwhile"
        );
        self.fault.get_or_insert(Failure::LookAhead(fault));
    }

    /// A packet occupies the link from `start` to `end` and then the pipe. If it can be offered to
    /// the next port ahead: that port, and when the packet arrives there.
    #[inline(always)]
    pub(super) fn send_off(
        &mut self,
        link: usize,
        onward: Onward,
        packet: &mut Packet,
        start: Time,
        end: Time,
    ) -> Option<(usize, Time)> {
        let mut due = end + onward.delay;
        if onward.special {
            due = self.cross_special_link(link, packet, start, end, due)?;
        }
        if due < self.lane.samples && !self.is_stalled(link) {
            if let Some(next) = self.next_ahead(onward.ahead, packet) {
                self.count_hop(due, onward.tie, packet.flow, packet.seq);
                packet.handle += 1 << 32;
                return Some((next, due));
            }
        } else if self.lane.stalls.is_some() {
            self.stall(link, onward, packet);
        }
        if onward.ahead == Ahead::Receive && self.receive_ahead(link, onward.tie, packet, due) {
            return None;
        }
        let pipe = onward.pipe as usize;
        match self.pipes.push(pipe, link, due, onward.tie, packet) {
            Placed::Behind => {}
            Placed::First => self.wake_pipe(pipe),
            Placed::Overflow { first: true } => self.wake_pipe(link),
            Placed::Overflow { first: false } => {}
        }
        None
    }

    /// The port to which a packet on its way to the far end of a link may be offered now.
    #[inline(always)]
    pub(super) fn next_ahead(&self, ahead: Ahead, packet: &Packet) -> Option<usize> {
        // Comparisons in sequence: a jump table would be mispredicted more often.
        if let Ahead::Offer(next) = ahead {
            return Some(next as usize);
        }
        if ahead != Ahead::PerPacket {
            return None;
        }
        let next = self.hops[(packet.handle >> 32) as usize] as usize;
        self.lane
            .links
            .get(next)
            .filter(|l| l.onward.single_feeder)
            .map(|_| next)
    }
}
