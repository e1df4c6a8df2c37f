//! Recovery without SACK: Tahoe, Reno (RFC 5681 §3.2) and NewReno (RFC 6582 §3.2).

use spillgate_core::Time;

use super::Phase;
use crate::cc::Cause;
use crate::tcp::Sender;
use crate::tcp::config::Repair;

impl Sender {
    pub(in crate::tcp) fn recover_on_duplicate(&mut self, now: Time) {
        let mss = i64::from(self.cfg.mss);
        match self.rec.phase {
            // RFC 6582 §3.2 step 4: each one means that a segment has left the network.
            Phase::Fast => self.rec.inflation += mss,
            Phase::Loss => {}
            Phase::Open => {
                self.rec.dup_acks += 1;
                // Step 2: not again for losses in a window that has been answered for.
                if self.rec.dup_acks == self.cfg.dup_thresh && self.una > self.rec.recover {
                    self.fast_retransmit(now);
                }
            }
        }
    }

    fn fast_retransmit(&mut self, now: Time) {
        let again = self.cfg.repair == Repair::Reno && !self.cfg.reno_once;
        if again || self.una >= self.answered {
            self.congested(now, Cause::Loss, 0);
        }
        self.answered = self.max;
        if !again {
            self.rec.recover = self.max;
        }
        self.rec.dup_acks = 0;
        self.rec.partials = 0;
        if self.cfg.repair == Repair::Tahoe {
            self.rec.phase = Phase::Loss;
            self.nxt = self.una;
            self.rto_at = now + self.rtt.rto(&self.cfg);
            return;
        }
        self.rec.phase = Phase::Fast;
        self.rec.resend_first = true;
        // Three segments have left the network.
        self.rec.inflation = i64::from(self.cfg.dup_thresh) * i64::from(self.cfg.mss);
    }

    pub(in crate::tcp) fn recover_on_new_ack(&mut self, now: Time, acked: u64) {
        self.rec.dup_acks = 0;
        let all = self.una >= self.rec.recover;
        match self.rec.phase {
            Phase::Open => {}
            Phase::Loss if all => {
                self.rec.phase = Phase::Open;
                self.cc.on_recovered(now, self.nxt - self.una);
            }
            Phase::Loss => {}
            Phase::Fast if all || self.cfg.repair == Repair::Reno => {
                self.rec.phase = Phase::Open;
                self.rec.inflation = 0;
                self.rec.resend_first = false;
                let flight = self.in_flight();
                if self.cfg.cautious_exit && self.cfg.repair == Repair::NewReno {
                    let mss = u64::from(self.cfg.mss);
                    self.cc.limit(flight.max(mss) + mss); // step 3, option 1
                }
                self.cc.on_recovered(now, flight);
            }
            // A partial acknowledgment: step 3.
            Phase::Fast => {
                let mss = i64::from(self.cfg.mss);
                self.rec.partials += 1;
                self.rec.resend_first = true;
                self.rec.inflation -= acked as i64;
                if acked as i64 >= mss {
                    self.rec.inflation += mss;
                }
            }
        }
    }
}
