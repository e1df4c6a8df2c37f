//! Where packets begin and end: sources emit them, destinations receive them, and some are lost.

use spillgate_core::{Dropped, Dur, Ecn, Packet, Time};
use spillgate_events::{EventSet, Rank};
use spillgate_measure::Volume;

use super::{ARRIVED, ROUTED, World};
use crate::campaign::Failure;
use crate::flow::{Flow, Origin};

impl<S: EventSet> World<S> {
    /// Asks a source for its next packet and sets the wake of its flow.
    #[inline]
    pub(crate) fn plan_emission(&mut self, flow: usize, source: usize) {
        let open = &mut self.sources[source];
        if let Some(e) = open.next() {
            open.next_len = e.len;
            self.events.schedule(flow as u32, e.at, Rank::Timer);
        }
    }

    /// The wake of a flow: its source sends, a session begins, or a timer of its end of a
    /// connection is due.
    pub(crate) fn wake_flow(&mut self, flow: usize) {
        if self.may_stop_sending(flow, self.now) {
            return;
        }
        match self.flows[flow].origin {
            Origin::Open(source) => {
                let len = self.sources[source as usize].next_len;
                let ecn = self.flows[flow].ecn;
                self.plan_emission(flow, source as usize);
                if self.sources[source as usize].is_backlogged {
                    return self.emit_at_switch(flow as u32, len, ecn);
                }
                self.emit(self.now, flow as u32, len, ecn, 0);
            }
            Origin::Workload(w) => self.session_begins(w as usize),
            Origin::Data(c) => self.sender_due(c as usize),
            Origin::Acknowledgments(c) => self.receiver_due(c as usize),
            Origin::Replay(r) => self.replay_due(r as usize),
            Origin::Replayed => {}
        }
    }

    /// Asks a capture for its next packet and sets the wake of its flow.
    pub(crate) fn plan_replay(&mut self, r: usize) {
        let replay = &mut self.replays[r];
        match replay.advance() {
            Ok(Some(at)) => self.events.schedule(replay.flow, at, Rank::Timer),
            Ok(None) => {}
            Err(fault) => {
                self.fault.get_or_insert(Failure::Input(fault));
            }
        }
    }

    /// A packet of a capture is due.
    fn replay_due(&mut self, r: usize) {
        let (flow, next) = self.replays[r].due();
        self.plan_replay(r);
        self.emit(self.now, flow as u32, next.len, next.ecn, 0);
    }

    /// Sends a new packet of `flow` at `now` and counts it as sent; `number` is that of its TCP
    /// segment.
    #[inline(always)]
    pub(crate) fn emit(&mut self, now: Time, flow: u32, len: u16, ecn: Ecn, number: u32) {
        if self.may_stop_sending(flow as usize, now) {
            return;
        }
        let first = self.flows[flow as usize].first;
        let mut packet = self.compose(now, flow, len, ecn, number);
        if first >= ROUTED || self.tap.is_some() {
            return self.forward(&mut packet, now);
        }
        packet.handle += 1 << 32;
        self.offer(first as usize, &mut packet, now);
    }

    /// A packet of a backlogged flow is at the input of the switch behind its sender.
    #[cold]
    fn emit_at_switch(&mut self, flow: u32, len: u16, ecn: Ecn) {
        let now = self.now;
        let first = self.flows[flow as usize].first;
        if first >= ROUTED || self.may_stop_sending(flow as usize, now) {
            return;
        }
        let mut packet = self.compose(now, flow, len, ecn, 0);
        if self.tap.is_some() {
            self.tap_sent(&packet);
        }
        packet.handle += 1 << 32;
        self.forward_from(Some(first as usize), &mut packet, now);
    }

    /// A packet of a flow has crossed the fabric of a switch: another one takes its place if the flow is backlogged.
    pub(crate) fn refill(&mut self, flow: u32) {
        let f = &self.flows[flow as usize];
        let (Origin::Open(source), ecn) = (f.origin, f.ecn) else {
            return;
        };
        let source = &self.sources[source as usize];
        if source.is_backlogged && !source.is_over(self.now) {
            self.emit_at_switch(flow, source.next_len, ecn);
        }
    }

    /// A new packet of `flow`, counted as sent.
    #[inline(always)]
    fn compose(&mut self, now: Time, flow: u32, len: u16, ecn: Ecn, number: u32) -> Packet {
        let f = &mut self.flows[flow as usize];
        let mut packet = Packet::new(flow, f.seq, len);
        packet.sent = now;
        packet.dscp = f.dscp;
        packet.ecn = ecn;
        packet.handle = u64::from(f.begin) << 32 | u64::from(number);
        f.seq = f.seq.wrapping_add(1);
        self.counts.emitted += 1;
        if let Some(meter) = self.meters.get_mut(f.meter as usize) {
            if self.window.contains(now) {
                meter.on_sent(len);
            }
        }
        if now < self.window.end() {
            self.longest = self.longest.max(len);
        }
        packet
    }

    /// A packet has reached its destination at `now`, which the express lane may have computed
    /// ahead of the clock.
    #[inline]
    pub(crate) fn receive(&mut self, now: Time, packet: &Packet) {
        if self.tap.is_some() {
            self.tap_received(packet);
        }
        let f = &self.flows[packet.flow as usize];
        self.deliver(now, f.origin, f.meter, packet);
    }

    /// Delivers a packet to the destination of its flow, after taps have seen it.
    #[inline(always)]
    pub(crate) fn deliver(&mut self, now: Time, origin: Origin, meter: u32, packet: &Packet) {
        match origin {
            // ACKs have no meter.
            Origin::Acknowledgments(c) => self.acknowledgment_arrived(now, c as usize, packet),
            origin => self.receive_measured(now, meter, origin, packet),
        }
    }

    /// A packet of a flow with a meter has reached its destination.
    #[inline(never)]
    fn receive_measured(&mut self, now: Time, number: u32, origin: Origin, packet: &Packet) {
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.on_arrival(now, self.plan.flows[number as usize].class, packet);
        }
        if let Some(gaps) = &mut self.gaps {
            gaps.on_arrival(number, now);
        }
        let in_time = now < self.window.end() || self.outstanding.counts(number, now);
        let meter = &mut self.meters[number as usize];
        if self.window.contains(packet.sent) && in_time {
            meter.on_received(packet, now);
            if let Some(marked) = &mut self.marked {
                marked.on_received(number, packet, now);
            }
            self.settle(number, now);
        }
        if self.inner.contains(now) {
            self.count_arrived(number, packet, Volume::of(packet.l3_len.into()));
        } else if let Some(arriving) = self.arriving(now, packet) {
            return self.receive_at_edge(now, number, origin, packet, arriving);
        }
        if let Origin::Data(c) = origin {
            self.data_arrived(now, c as usize, packet);
        }
    }

    /// So much of a packet of a flow has arrived within the measured period.
    #[inline]
    fn count_arrived(&mut self, number: u32, packet: &Packet, volume: Volume) {
        self.meters[number as usize].on_arrived(volume);
        if let Some(marked) = &mut self.marked {
            marked.on_arrived(number, packet, volume);
        }
    }

    /// The interval over which a packet that is complete at `now` has been arriving, if it may lie
    /// partly within the measured period; none if the packet does not count.
    ///
    /// A packet arrives for as long as the slowest link of its path takes to send it, as if the
    /// links behind that one passed each bit on at once. So packets that follow one another never
    /// exceed the rate of that link. A later queue may bring packets closer together; after the end
    /// of the measured period a packet therefore begins to arrive when the one before it on the
    /// last link is complete. A packet that was sent before the measured period and arrives after
    /// it does not count.
    #[cold]
    fn arriving(&mut self, now: Time, packet: &Packet) -> Option<(Time, Time)> {
        if now < self.window.start() {
            return None;
        }
        let begin = self.flows[packet.flow as usize].begin as usize;
        let path = match self.failures {
            Some(_) => &self.plan.routes[begin],
            None => {
                let path = &self.hops[begin..];
                let end = path.iter().position(|hop| *hop == ARRIVED);
                &path[..end.unwrap_or(path.len())]
            }
        };
        let (mut slowest, mut behind) = (Dur::ZERO, Dur::ZERO);
        for link in path {
            let link = &self.links[*link as usize];
            let tx = link.rate.tx_time(link.overhead.wire_len(packet.l3_len));
            (slowest, behind) = match tx >= slowest {
                true => (tx, Dur::ZERO),
                false => (slowest, behind + tx),
            };
        }
        let before = |at: Time, by| Time::ZERO + at.since(Time::ZERO + by);
        let to = before(now, behind);
        let mut from = before(to, slowest);
        if let Some(last) = path.last().filter(|_| now >= self.window.end()) {
            let there = self.arrived_until.entry(*last).or_insert(Time::ZERO);
            from = from.max(*there).min(to);
            *there = to.max(*there);
            if from == to && !slowest.is_zero() || !self.window.contains(packet.sent) {
                return None;
            }
        }
        (from < self.window.end()).then_some((from, to))
    }

    /// Receives a packet whose arrival may lie partly outside the measured period.
    #[cold]
    fn receive_at_edge(
        &mut self,
        now: Time,
        number: u32,
        origin: Origin,
        packet: &Packet,
        (from, to): (Time, Time),
    ) {
        let part = self.window.part(packet.l3_len.into(), from, to);
        self.count_arrived(number, packet, part);
        let Origin::Data(c) = origin else {
            return;
        };
        let c = c as usize;
        let before = self.tcp[c].receiver.arrived_bytes();
        self.data_arrived(now, c, packet);
        let after = self.tcp[c].receiver.arrived_bytes();
        let new = after.saturating_sub(before).min(packet.l3_len.into());
        let part = self.window.part(new as u32, from, to);
        let t = self.tcp[c].transfers as usize;
        self.transfers[t].on_edge_crossed(Volume::of(new), part);
    }

    /// Counts the loss of a packet at `now`, which may lie ahead of the clock. `link_hash` tells
    /// where.
    #[cold]
    pub(crate) fn lose(&mut self, now: Time, link_hash: u64, lost: &Dropped) {
        let packet = &lost.packet;
        if let Some(mpls) = &mut self.mpls {
            mpls.counts.lost += u64::from(packet.labels.depth());
        }
        if now < self.window.end() {
            self.counts.losses += 1;
            self.facts.fact(
                now.as_ps() ^ link_hash.rotate_left(1 + lost.reason.index() as u32),
                u64::from(packet.flow) << 32 | u64::from(packet.seq),
            );
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
