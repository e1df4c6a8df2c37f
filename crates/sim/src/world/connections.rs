//! What connections do when a segment arrives or a timer is due.

use spillgate_core::{Packet, Time};
use spillgate_endpoints::tcp::Segment;
use spillgate_events::{EventSet, Rank};

use super::World;

impl<S: EventSet> World<S> {
    /// The sender of connection `c` has a timer.
    pub(super) fn sender_due(&mut self, c: usize) {
        let connection = &mut self.tcp[c];
        self.flows[connection.data as usize].wake = Time::MAX;
        connection.on_sender_wake(self.now);
        self.pump_data(c);
    }

    /// The receiver of connection `c` has a timer.
    pub(super) fn receiver_due(&mut self, c: usize) {
        let connection = &mut self.tcp[c];
        self.flows[connection.acknowledgments as usize].wake = Time::MAX;
        connection.receiver.handle_timeout(self.now);
        self.pump_acknowledgments(c);
    }

    /// A segment has reached the receiver of connection `c`.
    #[inline]
    pub(super) fn data_arrived(&mut self, c: usize, packet: &Packet) {
        let segment = self.segments.take(packet.handle as u32);
        let receiver = &mut self.tcp[c].receiver;
        receiver.handle_segment(self.now, &segment, packet.ecn);
        self.pump_acknowledgments(c);
    }

    /// A segment has reached the sender of connection `c`.
    #[inline]
    pub(super) fn acknowledgment_arrived(&mut self, c: usize, packet: &Packet) {
        let segment = self.segments.take(packet.handle as u32);
        self.tcp[c].on_acknowledgment(self.now, &segment, packet.ecn);
        self.pump_data(c);
    }

    /// Sends what the sender of connection `c` may send now, and sets its wake.
    fn pump_data(&mut self, c: usize) {
        while let Some(segment) = self.tcp[c].sender.poll_transmit(self.now) {
            self.send(self.tcp[c].data, c, segment);
        }
        self.wake_sender(c);
    }

    /// Sends the acknowledgments of connection `c` that are due, and sets its receiver's wake.
    fn pump_acknowledgments(&mut self, c: usize) {
        while let Some(segment) = self.tcp[c].receiver.poll_transmit(self.now) {
            self.send(self.tcp[c].acknowledgments, c, segment);
        }
        let at = self.tcp[c].receiver.poll_timeout();
        self.wake_by(self.tcp[c].acknowledgments, at);
    }

    #[inline]
    pub(super) fn wake_sender(&mut self, c: usize) {
        let at = self.tcp[c].sender_wake();
        self.wake_by(self.tcp[c].data, at);
    }

    /// Has an end of a connection woken at `at` or before.
    ///
    /// Timers move on with every segment. A wake that comes too early costs one call that does
    /// nothing; to move it each time would cost a walk through the event set.
    #[inline]
    fn wake_by(&mut self, flow: u32, at: Option<Time>) {
        let Some(at) = at else {
            return;
        };
        let f = &mut self.flows[flow as usize];
        if at < f.wake {
            f.wake = at.max(self.now);
            self.events.schedule(flow, f.wake, Rank::Timer);
        }
    }

    /// Puts a segment of connection `c` on its way.
    #[inline]
    fn send(&mut self, flow: u32, c: usize, segment: Segment) {
        let len = segment.wire_len(&self.tcp[c].config);
        let ecn = segment.ect;
        let number = self.segments.put(segment);
        let mut packet = self.packet(flow as usize, len, number);
        packet.ecn = ecn;
        self.forward(packet);
    }
}
