//! Recovery on the scoreboard (RFC 6675 §5), with proportional rate reduction (RFC 6937).

use spillgate_core::Time;

use super::Phase;
use crate::cc::Cause;
use crate::tcp::scoreboard::Delivered;
use crate::tcp::{Segment, Sender};

impl Sender {
    pub(in crate::tcp) fn recover_with_board(
        &mut self,
        now: Time,
        seg: &Segment,
        acked: u64,
        d: &Delivered,
    ) {
        let mss = u64::from(self.cfg.mss);
        if acked > 0 {
            self.rec.dup_acks = 0;
        } else if d.bytes > 0 {
            // RFC 6675 §2: an acknowledgment that selects something new.
            self.rec.dup_acks += 1;
        }
        if self.rec.phase != Phase::Open && self.una >= self.rec.recover {
            self.leave_recovery(now);
        }
        if self.cfg.rack_tlp {
            self.rack_on_ack(now, seg, d);
        } else {
            self.board.judge(self.cfg.dup_thresh, mss);
            if self.rec.phase == Phase::Open && self.rec.dup_acks >= self.cfg.dup_thresh {
                self.board.lose_first();
            }
        }
        self.enter_recovery_if_lost(now, d.bytes);
        if self.rec.phase == Phase::Fast && self.rec.prr && (d.bytes > 0 || acked > 0) {
            self.reduce_in_proportion(d.bytes);
        }
    }

    /// §5: steps 4.1 to 4.3.
    pub(in crate::tcp) fn enter_recovery_if_lost(&mut self, now: Time, delivered: u64) {
        if self.rec.phase != Phase::Open || self.board.lost_bytes == 0 {
            return;
        }
        let flight = self.max - self.una;
        if self.una >= self.answered {
            self.congested(now, Cause::Loss, delivered);
        }
        self.answered = self.max;
        self.rack.disarm_probe();
        let r = &mut self.rec;
        r.phase = Phase::Fast;
        r.recover = self.max;
        r.dup_acks = 0;
        r.force = true;
        r.prr = self.cfg.prr;
        (r.prr_delivered, r.prr_out, r.prr_flight) = (0, 0, flight.max(1));
        r.prr_window = self.cc.ssthresh();
        r.inflation = 0;
    }

    fn leave_recovery(&mut self, now: Time) {
        self.rec.phase = Phase::Open;
        self.rack.recovered();
        self.rec.prr = false;
        self.rec.force = false;
        self.rec.dup_acks = 0;
        let flight = self.in_flight();
        self.cc.on_recovered(now, flight);
    }

    /// RFC 6937 §3.1, with the slow start reduction bound.
    fn reduce_in_proportion(&mut self, delivered: u64) {
        let pipe = self.in_flight();
        let ssthresh = self.cc.cwnd();
        let mss = u64::from(self.cfg.mss);
        let r = &mut self.rec;
        r.prr_delivered += delivered;
        let count = if pipe > ssthresh {
            let share = u128::from(r.prr_delivered) * u128::from(ssthresh);
            (share.div_ceil(u128::from(r.prr_flight)) as u64).saturating_sub(r.prr_out)
        } else {
            let most = r.prr_delivered.saturating_sub(r.prr_out).max(delivered) + mss;
            most.min(ssthresh - pipe)
        };
        r.prr_window = pipe + count;
    }
}
