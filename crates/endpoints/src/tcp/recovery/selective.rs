//! Recovery on the scoreboard (RFC 6675 §5), with proportional rate reduction (RFC 6937).

use spillgate_core::Time;

use super::{Phase, Prr};
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
        if acked > 0 {
            self.rec.dup_acks = 0;
        } else if d.bytes > 0 {
            // RFC 6675 §2: an acknowledgment that selects something new.
            self.rec.dup_acks += 1;
        }
        let before = self.sel.as_ref().map_or(0, |s| s.board.lost_bytes);
        if self.rec.phase != Phase::Open && self.una >= self.rec.recover {
            self.leave_recovery(now);
        }
        if self.cfg.rack_tlp {
            self.rack_on_ack(now, seg, d);
        } else if let Some(s) = &mut self.sel {
            s.board.judge(self.cfg.dup_thresh, self.cfg.mss.into());
            if self.rec.phase == Phase::Open && self.rec.dup_acks >= self.cfg.dup_thresh {
                s.board.lose_first();
            }
        }
        self.enter_recovery_if_lost(now, d.bytes);
        if let (Phase::Open, Some(s)) = (self.rec.phase, &mut self.sel) {
            s.prr.on = s.prr.answers(self.una);
        }
        if d.bytes > 0 || acked > 0 {
            let after = self.sel.as_ref().map_or(0, |s| s.board.lost_bytes);
            self.reduce_in_proportion(d.bytes, acked, after > before);
        }
    }

    /// §5: steps 4.1 to 4.3.
    pub(in crate::tcp) fn enter_recovery_if_lost(&mut self, now: Time, delivered: u64) {
        let lost = self.sel.as_ref().is_some_and(|s| s.board.lost_bytes > 0);
        if self.rec.phase != Phase::Open || !lost {
            return;
        }
        let former = self.cc.cwnd();
        if self.una >= self.answered {
            self.congested(now, Cause::Loss, delivered);
        }
        self.answered = self.max;
        let r = &mut self.rec;
        r.phase = Phase::Fast;
        r.recover = self.max;
        r.dup_acks = 0;
        r.force = true;
        r.inflation = 0;
        if let Some(s) = &mut self.sel {
            s.rack.disarm_probe();
            s.rescue = 0;
            // A reduction that answers a mark goes on.
            if self.cfg.prr && !s.prr.on {
                let flight = if self.cfg.linux {
                    former
                } else {
                    self.max - self.una
                };
                s.prr = Prr::begin(self.cc.ssthresh(), flight, self.max);
            }
        }
    }

    fn leave_recovery(&mut self, now: Time) {
        self.rec.phase = Phase::Open;
        self.rec.force = false;
        self.rec.dup_acks = 0;
        if let Some(s) = &mut self.sel {
            s.rack.recovered();
            s.prr.on = false;
        }
        let flight = self.in_flight();
        self.cc.on_recovered(now, flight);
    }

    /// RFC 6937 §3.1, with the slow start reduction bound.
    fn reduce_in_proportion(&mut self, delivered: u64, acked: u64, newly_lost: bool) {
        let pipe = self.in_flight();
        let ssthresh = self.cc.cwnd();
        let mss = u64::from(self.cfg.mss);
        let linux = self.cfg.linux;
        let Some(r) = self.sel.as_mut().map(|s| &mut s.prr).filter(|r| r.on) else {
            return;
        };
        r.delivered += delivered;
        let count = if pipe > ssthresh {
            let share = u128::from(r.delivered) * u128::from(ssthresh);
            let unit = if linux { mss } else { 1 };
            (share.div_ceil(u128::from(r.flight * unit)) as u64 * unit).saturating_sub(r.out)
        } else {
            let more = if linux && (acked == 0 || newly_lost) {
                0
            } else {
                mss
            };
            let most = r.delivered.saturating_sub(r.out).max(delivered) + more;
            most.min(ssthresh - pipe)
        };
        // Linux lets one segment leave until one has, where a mark is answered as well; in a
        // recovery it is forced.
        let first = linux && r.out == 0 && self.rec.phase == Phase::Open;
        r.window = pipe + count.max(if first { mss } else { 0 });
    }
}
