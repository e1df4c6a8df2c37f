//! TCP where a segment is what its receiver expects, and an acknowledgment what its sender does.
//!
//! Header prediction (Van Jacobson): mostly one segment comes, is the next in order, and has one
//! answer, which takes its place; mostly an acknowledgment lets one segment go. What is not
//! predicted takes the way of the engine.

use spillgate_core::{Packet, Time};
use spillgate_events::EventSet;

use crate::engine::World;
use crate::tcp::NO_SESSION;

impl<S: EventSet> World<S> {
    /// A segment reaches the receiver of connection `c` at `now`: whether it is just answered.
    #[inline(always)]
    pub(super) fn acknowledge(&mut self, now: Time, c: usize, packet: &Packet) -> bool {
        let number = packet.handle as u32;
        let connection = &mut self.tcp[c];
        let segment = self.segments.get_mut(number);
        let Some(ack) = connection.receiver.answer(now, segment) else {
            return false;
        };
        let session = connection.session != NO_SESSION;
        let complete = session && connection.receiver.delivered_bytes() >= connection.awaited;
        let flow = connection.acknowledgments;
        let (len, ecn) = (ack.wire_len(connection.sender.config()), ack.ect);
        // The segment is on the way no more: its answer takes its place.
        *segment = ack;
        self.emit(now, flow, len, ecn, number);
        if complete {
            self.awaited_bytes_arrived(c);
        }
        if session {
            self.segment_left(now, c);
        }
        true
    }

    /// A segment reaches the sender of connection `c` at `now`, which may lie ahead: the clock goes
    /// there meanwhile.
    #[inline(always)]
    pub(super) fn process_ack(&mut self, now: Time, c: usize, packet: &Packet) {
        let clock = std::mem::replace(&mut self.now, now);
        let number = packet.handle as u32;
        let connection = &mut self.tcp[c];
        let segment = self.segments.get_mut(number);
        connection.on_acknowledgment(now, segment, packet.ecn);
        let (flow, session) = (connection.data, connection.session != NO_SESSION);
        let idle;
        if let Some(next) = connection.sender.poll_new(now) {
            // Mostly one segment leaves, and takes the place of the acknowledgment.
            let (len, ecn) = (next.wire_len(connection.sender.config()), next.ect);
            idle = connection.idle_until();
            *segment = next;
            let sending = std::mem::replace(&mut self.lane.sending, true);
            self.emit(now, flow, len, ecn, number);
            self.lane.sending = sending;
        } else {
            connection.in_flight -= 1;
            idle = connection.idle_until();
            self.segments.take(number);
        }
        match idle {
            Some(at) => self.wake_by(flow, at),
            None => {
                self.send_data(c);
                self.end_if_done(c);
            }
        }
        if session {
            self.segment_left(now, c);
        }
        self.now = clock;
    }
}
