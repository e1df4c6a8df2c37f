//! TCP connections: a segment arrives, or a timer is due.

use spillgate_core::{Packet, Time};
use spillgate_endpoints::tcp::Segment;
use spillgate_events::{EventSet, Rank};

use super::World;
use crate::tcp::NO_SESSION;

impl<S: EventSet> World<S> {
    /// A timer of the sender of connection `c` is due, or its application acts.
    pub(crate) fn sender_due(&mut self, c: usize) {
        let connection = &mut self.tcp[c];
        self.flows[connection.data as usize].wake = Time::MAX;
        let now = self.now;
        if !connection.alive {
            self.counts.wakes -= 1;
            return;
        }
        if connection.sleeps_past(now) {
            // The timer has moved since; ACKs that arrive later may already have been processed
            // ahead of the clock.
            self.counts.wakes -= 1;
            return self.wake_sender(c);
        }
        if connection.on_sender_wake(now) {
            self.session_due(c);
        }
        self.send_data(c);
        self.end_if_done(c);
    }

    /// A timer of the receiver of connection `c` is due.
    pub(crate) fn receiver_due(&mut self, c: usize) {
        let connection = &mut self.tcp[c];
        self.flows[connection.acknowledgments as usize].wake = Time::MAX;
        let timer = connection.receiver.poll_timeout();
        if timer.is_none_or(|at| at > self.now) {
            // The timer has moved, or is no longer needed.
            self.counts.wakes -= 1;
        }
        connection.receiver.handle_timeout(self.now);
        self.send_acknowledgments(self.now, c);
        self.segment_left(self.now, c);
    }

    /// A segment reaches the receiver of connection `c` at `now`.
    #[inline]
    pub(crate) fn data_arrived(&mut self, now: Time, c: usize, packet: &Packet) {
        if !self.lane_received(now, c, true, packet) {
            self.receive_segment(now, c, packet);
        }
    }

    /// The receiver of connection `c` processes a segment.
    #[inline(never)]
    pub(crate) fn receive_segment(&mut self, now: Time, c: usize, packet: &Packet) {
        let segment = self.segments.take(packet.handle as u32);
        let connection = &mut self.tcp[c];
        connection.in_flight -= 1;
        connection.receiver.handle_segment(now, segment, packet.ecn);
        let complete = connection.receiver.delivered_bytes() >= connection.awaited;
        self.send_acknowledgments(now, c);
        if complete {
            self.awaited_bytes_arrived(c);
        }
        self.segment_left(now, c);
    }

    /// A segment reaches the sender of connection `c` at `now`.
    #[inline(never)]
    pub(crate) fn acknowledgment_arrived(&mut self, now: Time, c: usize, packet: &Packet) {
        if !self.tcp[c].alive {
            return self.segment_lost(now, c, packet);
        }
        if self.lane_received(now, c, false, packet) {
            return;
        }
        let segment = self.segments.take(packet.handle as u32);
        let connection = &mut self.tcp[c];
        connection.in_flight -= 1;
        connection.sender.handle_segment(now, segment, packet.ecn);
        self.send_data(c);
        self.end_if_done(c);
        self.segment_left(now, c);
    }

    /// A segment of connection `c` is lost at `at`, which may lie ahead of the clock.
    pub(crate) fn segment_lost(&mut self, at: Time, c: usize, packet: &Packet) {
        self.segments.take(packet.handle as u32);
        self.tcp[c].in_flight -= 1;
        self.segment_left(at, c);
    }

    /// Ends a connection whose sender is done or has given up.
    #[inline]
    pub(crate) fn end_if_done(&mut self, c: usize) {
        if self.tcp[c].is_over() && self.tcp[c].alive {
            self.connection_ended(c);
        }
    }

    /// A segment of connection `c` leaves the network at `at`: frees the place of its session, from
    /// then on, if that is over and this was its last segment.
    #[inline]
    pub(crate) fn segment_left(&mut self, at: Time, c: usize) {
        let connection = &self.tcp[c];
        let session = connection.session as usize;
        if at > self.now {
            if let Some(s) = self.sessions.get_mut(session) {
                s.quiet_from = s.quiet_from.max(at);
            }
        }
        if connection.in_flight == 0 && connection.session != NO_SESSION && !connection.alive {
            self.free_if_drained(session);
        }
    }

    /// Sends the segments that the sender of connection `c` may send now, and sets its wake.
    #[inline(never)]
    pub(crate) fn send_data(&mut self, c: usize) {
        let before = self.lane_sending(true);
        while let Some(segment) = self.tcp[c].sender.poll_transmit(self.now) {
            self.put_segment(self.now, self.tcp[c].data, c, segment);
        }
        self.lane_sending(before);
        self.wake_sender(c);
    }

    /// Sends the acknowledgments of connection `c` that are due at `now`, and sets its receiver's
    /// wake.
    fn send_acknowledgments(&mut self, now: Time, c: usize) {
        while let Some(segment) = self.tcp[c].receiver.poll_transmit(now) {
            self.put_segment(now, self.tcp[c].acknowledgments, c, segment);
        }
        let connection = &self.tcp[c];
        let at = connection.receiver.poll_timeout();
        self.wake_by(connection.acknowledgments, at.unwrap_or(Time::MAX));
    }

    #[inline]
    pub(crate) fn wake_sender(&mut self, c: usize) {
        let connection = &self.tcp[c];
        self.wake_by(connection.data, connection.sender_wake());
    }

    /// Sets the wake of one end of a connection to `at`, unless it wakes sooner; [`Time::MAX`]
    /// means never.
    ///
    /// Timers move with every segment. A wake that comes too early costs one call without effect;
    /// moving the wake each time would cost an update of the event set.
    #[inline]
    pub(crate) fn wake_by(&mut self, flow: u32, at: Time) {
        let f = &mut self.flows[flow as usize];
        if at < f.wake {
            debug_assert!(flow < self.slots.pipes, "a flow without a wake");
            f.wake = at.max(self.now);
            self.events.schedule(flow, f.wake, Rank::Timer);
        }
    }

    /// Sends a segment of connection `c`.
    #[inline(always)]
    fn put_segment(&mut self, now: Time, flow: u32, c: usize, segment: Segment) {
        let connection = &mut self.tcp[c];
        connection.in_flight += 1;
        let len = segment.wire_len(connection.sender.config());
        let ecn = segment.ect;
        let number = self.segments.put(segment);
        self.emit(now, flow, len, ecn, number);
    }
}
