//! How the sender answers congestion: marks once per window, losses as recovery finds them.

use spillgate_core::{Ecn, Time};

use super::accurate;
use super::config::EcnMode;
use super::recovery::{Phase, Prr};
use super::segment::{Flags, Segment};
use super::sender::Sender;
use crate::cc::{Cause, LossSample};

impl Sender {
    /// SYN-ACK, whose IP header said `ecn`, tells what the peer supports.
    pub(super) fn negotiated(&mut self, syn_ack: Flags, ecn: Ecn) {
        self.use_ecn(accurate::confirm(self.cfg.ecn, syn_ack));
        if !self.ecn.is_accurate() {
            return;
        }
        if let Some(f) = &mut self.feedback {
            f.saw_syn_ack(ecn);
        }
        // RFC 9768 §3.1.5: nor after a SYN without; `row` counts them.
        if accurate::is_mangled(syn_ack) || self.rtt.row > 1 {
            self.forgo_ect();
        }
    }

    /// Sends and reads ECN this way from now on.
    pub(super) fn use_ecn(&mut self, mode: EcnMode) {
        self.ecn = mode;
        if mode != self.cfg.ecn {
            self.cc.fall_back();
        }
    }

    /// The path alters the ECN field: data are not ECN-capable from now on, marks that are reported
    /// nevertheless still count (RFC 9768 §3.2.2.3).
    fn forgo_ect(&mut self) {
        if let Some(f) = &mut self.feedback {
            f.forgo_ect();
        }
        self.cc.fall_back();
    }

    /// What new data say in their IP header.
    pub(super) fn ect(&self) -> Ecn {
        match &self.feedback {
            Some(f) if f.forgoes_ect() => Ecn::NotEct,
            _ => self.ecn.codepoint(),
        }
    }

    /// ACE of a segment with data, and of the acknowledgment of SYN-ACK.
    pub(super) fn ace(&self) -> (Flags, Flags) {
        match &self.feedback {
            Some(f) if self.ecn.is_accurate() => f.flags(),
            _ => (Flags::NONE, Flags::NONE),
        }
    }

    /// Whether a segment carries the echo of RFC 3168 or RFC 8257.
    pub(super) fn echoes(&self, seg: &Segment) -> bool {
        self.ecn != EcnMode::Off && seg.flags.has(Flags::ECE)
    }

    /// Delivered bytes that an acknowledgment reports as marked.
    #[inline]
    pub(super) fn marked(&mut self, seg: &Segment, delivered: u64) -> u64 {
        match self.ecn {
            EcnMode::Off => 0,
            EcnMode::Classic | EcnMode::Dctcp => u64::from(self.echoes(seg)) * delivered,
            EcnMode::Accurate | EcnMode::L4s => {
                let Some(f) = &mut self.feedback else {
                    return 0;
                };
                let ace = seg.flags.ace_field();
                let news = f.read(ace, seg.counters(), delivered, self.cfg.mss);
                if news.cleared {
                    self.forgo_ect();
                }
                news.bytes
            }
        }
    }

    /// Whether a mark is answered as a loss and the data that were sent before that are not
    /// acknowledged yet: then the window does not grow, as it does not during the echo of RFC 3168.
    pub(super) fn answers_mark(&self) -> bool {
        self.ecn.is_accurate() && !self.in_proportion() && self.una <= self.answered
    }

    /// Whether marks are answered by their share.
    fn in_proportion(&self) -> bool {
        self.ect().is_capable() && self.ecn == self.cfg.ecn && self.cfg.cc.is_scalable()
    }

    /// One reduction per window (RFC 3168 §6.1.2), none while a loss is being answered.
    pub(super) fn answer_mark(&mut self, now: Time, delivered: u64) {
        let free = self.una > self.answered && self.rec.phase == Phase::Open;
        if !free || !self.cc.answers_mark(now) {
            return;
        }
        let smallest = !self.in_proportion() && self.cfg.mark_floor == 1;
        if smallest && self.cc.cwnd() <= self.cfg.mss.into() {
            // The window cannot be halved; the timer decides when the next segment leaves.
            self.held = true;
            self.cwr_due = self.ecn == EcnMode::Classic;
            self.rto_at = now + self.rtt.rto(&self.cfg);
        } else {
            let former = self.cc.cwnd();
            self.congested(now, Cause::Mark, delivered);
            let (most, max) = (self.cc.cwnd(), self.max);
            // Prague reduces at once, and grows meanwhile.
            let gradual = self.cfg.linux && self.cfg.prr && self.ecn != EcnMode::L4s;
            if let Some(s) = self.sel.as_mut().filter(|_| gradual) {
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
        self.cwr_due = matches!(self.ecn, EcnMode::Classic | EcnMode::Dctcp);
        if cause == Cause::Loss {
            self.stats.fast_retransmits += 1;
        }
    }
}
