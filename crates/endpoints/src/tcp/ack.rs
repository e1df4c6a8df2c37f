//! What an acknowledgment tells the sender.

use spillgate_core::{Dur, Ecn, Time};

use super::config::{EcnMode, Repair};
use super::recovery::Phase;
use super::scoreboard::Delivered;
use super::segment::{Flags, Segment};
use super::sender::{Sender, State};
use crate::cc::{self, AckSample};

impl Sender {
    /// A segment arrived; `ecn` is what its IP header says now.
    pub fn handle_segment(&mut self, now: Time, seg: &Segment, ecn: Ecn) {
        match self.state {
            State::SynSent => self.handle_syn_ack(now, seg, ecn),
            State::Done | State::Failed(_) => {}
            State::Established | State::FinSent => self.handle_open(now, seg),
        }
        self.note_room();
    }

    fn handle_open(&mut self, now: Time, seg: &Segment) {
        if seg.flags.has(Flags::SYN) {
            self.ack_due = true; // our acknowledgment was lost
            return;
        }
        if seg.flags.has(Flags::ACK) && (self.una..=self.max).contains(&seg.ack) {
            self.handle_ack(now, seg);
        }
    }

    fn handle_syn_ack(&mut self, now: Time, seg: &Segment, ecn: Ecn) {
        if !seg.flags.has(Flags::SYN | Flags::ACK) || seg.ack != 1 || self.max == 0 {
            return;
        }
        let syn_lost = self.rtt.row > 0;
        self.state = State::Established;
        (self.una, self.nxt, self.max) = (1, 1, 1);
        self.rto_at = Time::MAX;
        self.syn_due = false;
        self.ack_due = true;
        self.ts_recent = seg.ts_val;
        self.negotiated(seg.flags, ecn);
        if self.cfg.timestamps {
            self.rtt.sample(now.since(seg.ts_ecr), &self.cfg);
        } else if !syn_lost {
            self.rtt.sample(now.since(self.last_sent), &self.cfg);
        }
        if syn_lost {
            self.cc.limit(self.cfg.mss.into()); // RFC 5681 §3.1
            self.rtt.after_lost_syn(&self.cfg);
        }
        self.rtt.row = 0;
        self.last_sent = now;
        if let Some(s) = &mut self.sel {
            s.rate.restart(now);
        }
    }

    fn handle_ack(&mut self, now: Time, seg: &Segment) {
        let acked = seg.ack - self.una;
        if acked == 0 && self.sel.is_none() && self.ecn == EcnMode::Off {
            // Nothing below would find anything new.
            self.ts_recent = seg.ts_val;
            return self.handle_duplicate(now, seg);
        }
        let prior_in_flight = self.in_flight();
        let mss = u64::from(self.cfg.mss);
        let news = self.sel.as_mut().map(|s| s.board.update(seg, self.max));
        let delivered = news.as_ref().map_or(acked, |d| d.bytes);
        // RFC 9768 appendix A.1: one that was sent earlier and brings nothing is overtaken.
        let current = delivered > 0 || seg.ts_val >= self.ts_recent;
        self.ts_recent = seg.ts_val;
        self.una = seg.ack;
        self.nxt = self.nxt.max(seg.ack);
        let measured = self.measure(now, seg, acked, news.as_ref());
        // Linux tells its congestion controls of the segment sent last, which did not wait for
        // another.
        let newest = news.as_ref().and_then(|d| d.unambiguous);
        let rtt = match newest {
            Some(sent) if self.cfg.linux => Some(now.since(sent)),
            _ => measured,
        };

        let marked = if current {
            self.marked(seg, delivered)
        } else {
            0
        };
        let ece = marked > 0 || !self.ecn.is_accurate() && self.echoes(seg);
        let echo = ece && self.ecn == EcnMode::Classic;

        if acked > 0 || delivered > 0 {
            let cwnd = self.cc.cwnd();
            let min_rtt = self.rtt.min();
            let rate = match (&mut self.sel, &news) {
                (Some(s), Some(d)) => s.rate.sample(now, d, min_rtt),
                _ => None,
            };
            let counted = if self.cfg.linux && acked > 0 {
                delivered
            } else {
                acked
            };
            self.cc.on_ack(&AckSample {
                now,
                acked: counted,
                delivered,
                marked,
                ece,
                prior_in_flight,
                in_flight: self.in_flight(),
                una: self.una,
                nxt: self.max,
                rtt,
                srtt: self.rtt.srtt(),
                min_rtt,
                cwnd_limited: cc::is_limited(cwnd, self.cc.ssthresh(), mss, prior_in_flight),
                // What is echoed while a timeout is repaired was answered by that (RFC 3168 §6.1.2:
                // once per window): everything sent is old, so the echo ends only when the window
                // has grown over it and CWR leaves with the first new data.
                in_recovery: match self.rec.phase {
                    // In Linux what ends the recovery counts for growth, and what ends the answer
                    // to a mark.
                    Phase::Fast => !self.cfg.linux || self.una < self.rec.recover,
                    Phase::Open => {
                        echo || self.answers_mark()
                            || self.sel.as_ref().is_some_and(|s| s.prr.answers(self.una))
                    }
                    Phase::Loss => false,
                },
                paced: self.cfg.pacing,
                rate,
            });
        }
        if marked > 0 || echo {
            self.answer_mark(now, delivered);
        }

        if acked > 0 {
            self.restart_timer(now);
        } else if self.cfg.linux && self.rto_at < Time::MAX {
            if let (Some(sent), Some(s)) = (newest, &self.sel) {
                if s.board.head_sent().is_some_and(|at| sent < at) {
                    self.rto_at = now + self.rtt.rto(&self.cfg);
                }
            }
        }
        if let Some(d) = &news {
            self.recover_with_board(now, seg, acked, d);
        } else if acked > 0 {
            self.recover_on_new_ack(now, acked);
        } else {
            self.handle_duplicate(now, seg);
        }
        if self.una == self.max {
            if self.state == State::FinSent && self.una > self.end {
                self.state = State::Done;
                self.stop_timers();
            } else if let Some(s) = &mut self.sel {
                s.rack.disarm();
            }
        }
    }

    /// Without a board: what RFC 5681 §2 calls a duplicate, with a window that never changes.
    fn handle_duplicate(&mut self, now: Time, seg: &Segment) {
        if self.una < self.max && seg.len == 0 && !seg.flags.has(Flags::FIN) {
            self.recover_on_duplicate(now);
        }
    }

    /// New data were acknowledged: RFC 6298 §5.2 and §5.3.
    fn restart_timer(&mut self, now: Time) {
        self.rtt.row = 0;
        if self.una == self.max && !self.held {
            self.rto_at = Time::MAX;
            return;
        }
        if !self.is_impatient() {
            self.rto_at = now + self.rtt.rto(&self.cfg);
        }
    }

    /// After the first partial acknowledgment of a recovery nothing restarts the timer, so that
    /// many holes end in a timeout instead of a round trip each (RFC 6582 §4).
    pub(super) fn is_impatient(&self) -> bool {
        self.rec.phase == Phase::Fast
            && self.rec.partials > 0
            && self.una < self.rec.recover
            && self.cfg.impatient
            && self.cfg.repair == Repair::NewReno
    }

    #[inline]
    pub(super) fn measure(
        &mut self,
        now: Time,
        seg: &Segment,
        acked: u64,
        news: Option<&Delivered>,
    ) -> Option<Dur> {
        let sent = if acked > 0 && self.cfg.timestamps {
            seg.ts_ecr // RFC 7323 §4.1: only what moves the window measures
        } else if let Some(d) = news {
            d.unambiguous?
        } else if acked > 0 && (1..=self.una).contains(&self.timed_end) {
            self.timed_end = 0;
            self.timed_at
        } else {
            return None;
        };
        let rtt = now.since(sent);
        self.rtt.sample(rtt, &self.cfg);
        Some(rtt)
    }
}
