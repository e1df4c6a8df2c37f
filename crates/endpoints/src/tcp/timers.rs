//! Timeouts: of SYN and of data (RFC 6298 §5), and what ends a connection.

use spillgate_core::Time;

use super::recovery::Prr;
use super::sender::{Failure, Sender, State};
use crate::cc::Cause;

impl Sender {
    /// To be called at [`Sender::poll_timeout`]; earlier calls do nothing.
    pub fn handle_timeout(&mut self, now: Time) {
        self.rec.room_known = false;
        if let Some(p) = &mut self.pacing {
            p.expire(now);
        }
        if self.sel.is_some() && self.cfg.rack_tlp {
            self.rack_timeout(now);
        }
        if now < self.rto_at {
            return;
        }
        match self.state {
            State::SynSent => self.syn_timeout(now),
            State::Established | State::FinSent => self.retransmission_timeout(now),
            State::Done | State::Failed(_) => self.stop_timers(),
        }
    }

    pub(super) fn syn_timeout(&mut self, now: Time) {
        if self.max > 0 {
            self.rtt.row = self.rtt.row.saturating_add(1);
            self.stats.timeouts += 1;
            self.rtt.back_off();
            if self.rtt.row > self.cfg.syn_retries {
                return self.fail(Failure::NoAnswer);
            }
        }
        self.syn_due = true;
        self.rto_at = now + self.rtt.rto(&self.cfg);
    }

    fn retransmission_timeout(&mut self, now: Time) {
        if std::mem::take(&mut self.held) && self.una == self.max {
            self.rto_at = Time::MAX; // nothing is missing: the next segment may leave
            return;
        }
        self.rtt.row = self.rtt.row.saturating_add(1);
        self.stats.timeouts += 1;
        if self.rtt.row > self.cfg.retries {
            return self.fail(Failure::Timeout);
        }
        let cause = if self.rtt.row == 1 {
            Cause::Timeout
        } else {
            Cause::TimeoutAgain
        };
        self.congested(now, cause, 0);
        self.rtt.back_off();
        self.rec.time_out(self.max);
        self.answered = self.max;
        if let Some(s) = &mut self.sel {
            s.prr = Prr::default();
            s.rack.disarm();
            s.board.lose_all();
        } else {
            self.nxt = self.una;
        }
        self.rto_at = now + self.rtt.rto(&self.cfg);
        // Neither a paced sender nor one with jitter waits any longer for what it deems lost.
        if let Some(p) = &mut self.pacing {
            p.release(now);
        }
    }

    fn fail(&mut self, why: Failure) {
        self.state = State::Failed(why);
        self.stop_timers();
        if let Some(s) = &mut self.sel {
            s.board.clear();
        }
    }

    pub(super) fn stop_timers(&mut self) {
        self.rto_at = Time::MAX;
        if let Some(p) = &mut self.pacing {
            p.at = Time::MAX;
        }
        if let Some(s) = &mut self.sel {
            s.rack.disarm();
        }
    }

    /// When the sender wants to be called if nothing arrives.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Time> {
        let mut t = self.rto_at;
        if let Some(p) = &self.pacing {
            t = t.min(p.at);
        }
        if let Some(s) = &self.sel {
            t = t.min(s.rack.deadline());
        }
        (t < Time::MAX).then_some(t)
    }
}
