//! How the sender answers congestion: marks once per window, losses as recovery finds them.

use spillgate_core::Time;

use super::config::EcnMode;
use super::recovery::{Phase, Prr};
use super::segment::Segment;
use super::sender::Sender;
use crate::cc::{Cause, LossSample};

impl Sender {
    /// Delivered bytes that an acknowledgment reports as marked.
    #[inline]
    pub(super) fn marked(&mut self, seg: &Segment, ece: bool, delivered: u64) -> u64 {
        match self.cfg.ecn {
            EcnMode::Off => 0,
            EcnMode::Classic | EcnMode::Dctcp => u64::from(ece) * delivered,
            EcnMode::L4s => {
                let new = seg.ce_bytes.wrapping_sub(self.ce_bytes);
                self.ce_bytes = seg.ce_bytes;
                u64::from(new).min(delivered.max(self.cfg.mss.into()))
            }
        }
    }

    /// One reduction per window (RFC 3168 §6.1.2), none while a loss is being answered.
    pub(super) fn answer_mark(&mut self, now: Time, delivered: u64) {
        if self.una <= self.answered || self.rec.phase != Phase::Open {
            return;
        }
        let smallest = self.cfg.ecn == EcnMode::Classic && self.cfg.mark_floor == 1;
        if smallest && self.cc.cwnd() <= self.cfg.mss.into() {
            // The window cannot be halved; the timer decides when the next segment leaves.
            self.held = true;
            self.cwr_due = true;
            self.rto_at = now + self.rtt.rto(&self.cfg);
        } else {
            let former = self.cc.cwnd();
            self.congested(now, Cause::Mark, delivered);
            let (most, max) = (self.cc.cwnd(), self.max);
            if let Some(s) = self.sel.as_mut().filter(|_| self.cfg.linux && self.cfg.prr) {
                s.prr = Prr::begin(most, former, max);
            }
        }
        self.answered = self.max;
        self.stats.ecn_reactions += 1;
    }

    /// Tells the congestion control.
    pub(super) fn congested(&mut self, now: Time, cause: Cause, delivered: u64) {
        let sent = if self.sel.is_some() {
            self.max
        } else {
            self.nxt
        };
        let mut out = sent - self.una;
        if cause == Cause::Mark {
            out += delivered; // the window that was marked, not what is left of it
        }
        self.cc.on_congestion(&LossSample {
            now,
            cause,
            // What limited transmit sent beyond the window does not count (RFC 5681 §3.2).
            in_flight: out.min(self.cc.cwnd()),
            delivered,
            nxt: self.max,
            peer_window: self.cfg.max_window,
        });
        // §6.1.2: whatever the reason, the first new data after it carry CWR.
        self.cwr_due = self.ecn;
        if cause == Cause::Loss {
            self.stats.fast_retransmits += 1;
        }
    }
}
