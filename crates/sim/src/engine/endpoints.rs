//! Where packets begin and end: sources emit them, destinations receive them, and some are lost.

use spillgate_core::{Ecn, Packet, Time};
use spillgate_events::{EventSet, Rank};
use spillgate_measure::Volume;

use super::{ROUTED, World};
use crate::flow::Origin;

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

    /// A new packet of `flow`, counted as sent.
    #[inline(always)]
    pub(super) fn compose(
        &mut self,
        now: Time,
        flow: u32,
        len: u16,
        ecn: Ecn,
        number: u32,
    ) -> Packet {
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
}
