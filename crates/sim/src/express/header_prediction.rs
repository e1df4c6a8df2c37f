//! Header prediction: fast paths for the expected segment at a receiver and the expected ACK at a
//! sender.
//!
//! Source: Van Jacobson. Usually a segment is the next in order and has one ACK, which takes its
//! place in memory; usually an ACK releases one segment. Everything else takes the path of the
//! engine.
//!
//! Without it D50 takes 1.20 of its instructions, other shapes 1.02 to 1.04.

use spillgate_core::{Packet, Time};
use spillgate_events::EventSet;

use crate::engine::World;
use crate::tcp::NO_SESSION;

impl<S: EventSet> World<S> {
    /// A segment reaches the receiver of connection `c` at `now`.
    #[inline(always)]
    pub(super) fn acknowledge(&mut self, now: Time, c: usize, packet: &Packet) {
        let number = packet.handle as u32;
        let connection = &mut self.tcp[c];
        let segment = self.segments.get_mut(number);
        let Some(ack) = connection.receiver.answer(now, segment) else {
            let before = self.tcp[c].receiver.syn_timeout();
            self.receive_segment(now, c, packet);
            return self.note_syn_timer(c, before);
        };
        let session = connection.session != NO_SESSION;
        let complete = session && connection.receiver.delivered_bytes() >= connection.awaited;
        let flow = connection.acknowledgments;
        let (len, ecn) = (ack.wire_len(connection.sender.config()), ack.ect);
        // The segment has left the network: its ACK takes its place in memory.
        *segment = ack;
        self.emit(now, flow, len, ecn, number);
        if complete {
            self.awaited_bytes_arrived(c);
        }
        if session {
            self.segment_left(now, c);
        }
    }

    /// A segment reaches the sender of connection `c` at `now`, which may be ahead of the clock:
    /// the clock is set to it meanwhile.
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
            // Usually one segment leaves, and takes the place of the ACK in memory.
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
