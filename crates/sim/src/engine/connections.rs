//! What connections do when a segment arrives or a timer is due.

use spillgate_core::{Packet, Time};
use spillgate_endpoints::tcp::Segment;
use spillgate_events::{EventSet, Rank};

use super::World;
use crate::tcp::NO_SESSION;

impl<S: EventSet> World<S> {
    /// The sender of connection `c` has a timer, or its application acts.
    pub(crate) fn sender_due(&mut self, c: usize) {
        let connection = &mut self.tcp[c];
        self.flows[connection.data as usize].wake = Time::MAX;
        let now = self.now;
        if !connection.alive {
            self.counts.wakes -= 1;
            return;
        }
        if connection.sleeps_past(now) {
            // Its timers have moved on, perhaps by acknowledgments that arrive later.
            self.counts.wakes -= 1;
            return self.wake_sender(c);
        }
        if connection.on_sender_wake(now) {
            self.session_due(c);
        }
        self.pump_data(c);
        self.if_over(c);
    }

    /// The receiver of connection `c` has a timer.
    pub(crate) fn receiver_due(&mut self, c: usize) {
        let connection = &mut self.tcp[c];
        self.flows[connection.acknowledgments as usize].wake = Time::MAX;
        let timer = connection.receiver.poll_timeout();
        if timer.is_none_or(|at| at > self.now) {
            // It has moved on, or what it was for has been done.
            self.counts.wakes -= 1;
        }
        let syn_at = connection.receiver.syn_timeout();
        connection.receiver.handle_timeout(self.now);
        self.pump_acknowledgments(self.now, c, syn_at);
        self.if_left(self.now, c);
    }

    /// A segment reaches the receiver of connection `c` at `now`.
    #[inline]
    pub(crate) fn data_arrived(&mut self, now: Time, c: usize, packet: &Packet) {
        if !self.lane_answered(now, c, packet) {
            self.take_segment(now, c, packet);
        }
    }

    /// The receiver of connection `c` takes a segment.
    #[inline(never)]
    fn take_segment(&mut self, now: Time, c: usize, packet: &Packet) {
        let segment = self.segments.take(packet.handle as u32);
        let connection = &mut self.tcp[c];
        connection.on_the_way -= 1;
        let syn_at = connection.receiver.syn_timeout();
        connection.receiver.handle_segment(now, segment, packet.ecn);
        let complete = connection.receiver.delivered_bytes() >= connection.awaited;
        self.pump_acknowledgments(now, c, syn_at);
        if complete {
            self.awaited_arrived(c);
        }
        self.if_left(now, c);
    }

    /// A segment reaches the sender of connection `c` at `now`.
    #[inline(never)]
    pub(crate) fn acknowledgment_arrived(&mut self, now: Time, c: usize, packet: &Packet) {
        if !self.tcp[c].alive {
            return self.segment_lost(now, c, packet);
        }
        if self.lane_heeded(now, c, packet) {
            return;
        }
        let segment = self.segments.take(packet.handle as u32);
        let connection = &mut self.tcp[c];
        connection.on_the_way -= 1;
        connection.sender.handle_segment(now, segment, packet.ecn);
        self.pump_data(c);
        self.if_over(c);
        self.if_left(now, c);
    }

    /// A segment of connection `c` is lost at `at`, which may lie ahead.
    pub(crate) fn segment_lost(&mut self, at: Time, c: usize, packet: &Packet) {
        self.segments.take(packet.handle as u32);
        self.tcp[c].on_the_way -= 1;
        self.if_left(at, c);
    }

    /// Ends a connection whose sender has nothing more to do.
    #[inline]
    pub(crate) fn if_over(&mut self, c: usize) {
        if self.tcp[c].is_over() && self.tcp[c].alive {
            self.connection_over(c);
        }
    }

    /// Frees the place of a session whose last segment leaves the network at `at`, from then on.
    #[inline]
    pub(crate) fn if_left(&mut self, at: Time, c: usize) {
        let connection = &self.tcp[c];
        let session = connection.session as usize;
        if at > self.now {
            if let Some(s) = self.sessions.get_mut(session) {
                s.quiet_from = s.quiet_from.max(at);
            }
        }
        if connection.on_the_way == 0 && connection.session != NO_SESSION && !connection.alive {
            self.if_vacant(session);
        }
    }

    /// Sends what the sender of connection `c` may send now, and sets its wake.
    #[inline(never)]
    pub(crate) fn pump_data(&mut self, c: usize) {
        let others = self.lane_pumps(true);
        while let Some(segment) = self.tcp[c].sender.poll_transmit(self.now) {
            self.put_segment(self.now, self.tcp[c].data, c, segment);
        }
        self.lane_pumps(others);
        self.wake_sender(c);
    }

    /// Sends the acknowledgments of connection `c` that are due at `now`, and sets its receiver's
    /// wake; its timer of SYN-ACK was to be at `syn_at`.
    fn pump_acknowledgments(&mut self, now: Time, c: usize, mut syn_at: Time) {
        while let Some(segment) = self.tcp[c].receiver.poll_transmit(now) {
            // What is sent may be answered, and the answer get here, before the next line.
            self.lane_timer_moved(c, syn_at);
            self.put_segment(now, self.tcp[c].acknowledgments, c, segment);
            syn_at = self.tcp[c].receiver.syn_timeout();
        }
        self.lane_timer_moved(c, syn_at);
        let connection = &self.tcp[c];
        let at = connection.receiver.poll_timeout();
        self.wake_by(connection.acknowledgments, at.unwrap_or(Time::MAX));
    }

    #[inline]
    pub(crate) fn wake_sender(&mut self, c: usize) {
        let connection = &self.tcp[c];
        self.wake_by(connection.data, connection.sender_wake());
    }

    /// Has an end of a connection woken at `at` or before; [`Time::MAX`] is never.
    ///
    /// Timers move on with every segment. A wake that comes too early costs one call that does
    /// nothing; to move it each time would cost a walk through the event set.
    #[inline]
    pub(crate) fn wake_by(&mut self, flow: u32, at: Time) {
        let f = &mut self.flows[flow as usize];
        if at < f.wake {
            debug_assert!(flow < self.slots.wires, "a flow without a wake");
            f.wake = at.max(self.now);
            self.events.schedule(flow, f.wake, Rank::Timer);
        }
    }

    /// Puts a segment of connection `c` on its way.
    #[inline(always)]
    fn put_segment(&mut self, now: Time, flow: u32, c: usize, segment: Segment) {
        let connection = &mut self.tcp[c];
        connection.on_the_way += 1;
        let len = segment.wire_len(connection.sender.config());
        let ecn = segment.ect;
        let number = self.segments.put(segment);
        self.emit(now, flow, len, ecn, number);
    }
}
