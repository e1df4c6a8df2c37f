//! TCP where a segment is what its receiver expects, and an acknowledgment what its sender does.
//!
//! Header prediction (Van Jacobson): mostly one segment comes, is the next in order, and has one answer, which takes its
//! place; mostly an acknowledgment lets one segment go. What is not predicted takes the way of the engine.

use spillgate_core::{Packet, Time};
use spillgate_events::EventSet;

use crate::engine::World;
use crate::tcp::NO_SESSION;

impl<S: EventSet> World<S> {
    /// A segment reaches the receiver of connection `c` at `now`: whether it is just answered.
    #[inline(always)]
    pub(super) fn answer(&mut self, now: Time, c: usize, packet: &Packet) -> bool {
        let number = packet.handle as u32;
        let connection = &mut self.tcp[c];
        let segment = self.segments.get_mut(number);
        let Some(answer) = connection.receiver.answer(now, segment) else {
            return false;
        };
        let session = connection.session != NO_SESSION;
        let complete = session && connection.receiver.delivered_bytes() >= connection.awaited;
        let flow = connection.acknowledgments;
        let (len, ecn) = (answer.wire_len(connection.sender.config()), answer.ect);
        // The segment is on the way no more: its answer takes its place.
        *segment = answer;
        self.emit(now, flow, len, ecn, number);
        if complete {
            self.awaited_arrived(c);
        }
        if session {
            self.if_left(now, c);
        }
        true
    }

    /// A segment reaches the sender of connection `c` at `now`, which may lie ahead: the clock goes
    /// there meanwhile.
    #[inline(always)]
    pub(super) fn heed(&mut self, now: Time, c: usize, packet: &Packet) {
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
            let pumps = std::mem::replace(&mut self.lane.pumps, true);
            self.emit(now, flow, len, ecn, number);
            self.lane.pumps = pumps;
        } else {
            connection.on_the_way -= 1;
            idle = connection.idle_until();
            self.segments.take(number);
        }
        match idle {
            Some(at) => self.wake_by(flow, at),
            None => {
                self.pump_data(c);
                self.if_over(c);
            }
        }
        if session {
            self.if_left(now, c);
        }
        self.now = clock;
    }
}
