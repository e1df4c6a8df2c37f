//! Header prediction: the shortcut for what nearly every segment does.
//!
//! Source: Jacobson, "4BSD header prediction", Computer Communication Review 20(1), 1990. While no
//! loss is known, an acknowledgment of new data lets the window grow and moves the timer on. What
//! leaves after it, as after a duplicate, are full segments of new data, as many as there is room
//! for. That is done here for senders without a scoreboard, ECN and pacing; the long way, which
//! everything else takes, would do the same.

use spillgate_core::Time;

use super::recovery::Phase;
use super::segment::{Flags, Segment};
use super::sender::{Sender, State};

impl Sender {
    /// [`Sender::handle_segment`] for one that acknowledges new data while no loss is known. False,
    /// and nothing done, if it does not, or if there may be more to do.
    #[inline]
    pub fn take_predicted(&mut self, now: Time, seg: &Segment) -> bool {
        let outstanding = self.max - self.una;
        let acked = seg.ack.wrapping_sub(self.una);
        let predicted = self.plain
            && self.state == State::Established
            && self.rec.phase == Phase::Open
            && seg.flags == Flags::ACK
            && acked.wrapping_sub(1) < outstanding;
        if !predicted || self.ack_due {
            return false;
        }
        let Some(window) = self.cc.window() else {
            return false;
        };
        debug_assert_eq!(self.nxt, self.max, "only what is lost is sent again");
        let allowance = window.on_new_ack(acked, outstanding);
        self.rec.dup_acks = 0;
        self.una = seg.ack;
        self.set_room(allowance);
        self.ts_recent = seg.ts_val;
        self.measure(now, seg, acked, None);
        self.rtt.row = 0;
        self.rto_at = if self.una == self.max {
            Time::MAX
        } else {
            now + self.rtt.rto(&self.cfg)
        };
        true
    }

    /// Works out the room for new data, if nothing else may leave.
    pub(super) fn note_room(&mut self) {
        self.rec.room_known = false;
        let only_new = self.plain
            && self.state == State::Established
            && self.nxt == self.max
            && !(self.rec.resend_first || self.ack_due);
        if only_new {
            self.set_room(self.allowance());
        }
    }

    #[inline]
    fn set_room(&mut self, allowance: u64) {
        let most = allowance.min(self.cfg.max_window);
        self.rec.room = most.saturating_sub(self.max - self.una) as u32;
        self.rec.room_known = true;
    }

    /// The next segment to send, if it is a full one of new data and there is known to be room for
    /// it.
    ///
    /// [`Sender::poll_transmit`] gives it as well.
    #[inline]
    pub fn poll_new(&mut self, now: Time) -> Option<Segment> {
        let (seq, len) = (self.nxt, self.cfg.mss);
        let end = seq + u64::from(len);
        // The last of what was written may be shorter, and brings FIN along.
        if !self.rec.room_known || self.rec.room < u32::from(len) || end >= self.end {
            return None;
        }
        self.rec.room -= u32::from(len);
        if !self.cfg.timestamps && self.timed_end == 0 {
            (self.timed_end, self.timed_at) = (end, now);
        }
        if self.rto_at == Time::MAX {
            self.rto_at = now + self.rtt.rto(&self.cfg);
            self.cc.on_restart(now, now.since(self.last_sent));
        }
        (self.nxt, self.max) = (end, end);
        self.stats.segments += 1;
        self.last_sent = now;
        Some(Segment {
            ack: 1,
            ts_ecr: self.ts_recent,
            len,
            ..Segment::bare(seq, Flags::ACK, now)
        })
    }

    /// Whether nothing may leave until something happens, as far as that is known.
    #[inline]
    pub fn waits(&self) -> bool {
        let len = self.cfg.mss;
        self.rec.room_known
            && self.rec.room < u32::from(len)
            && self.nxt + u64::from(len) < self.end
    }
}

#[cfg(test)]
#[path = "predicted_tests.rs"]
mod tests;
