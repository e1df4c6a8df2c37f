//! What an acknowledgment tells the sender.

use spillgate_core::{Dur, Ecn, Time};

use super::config::{EcnMode, Repair};
use super::recovery::Phase;
use super::scoreboard::Delivered;
use super::segment::{Flags, Segment};
use super::sender::{Sender, State};
use crate::cc::{AckSample, RateSample};

impl Sender {
    /// A segment arrived; what the network did to its IP header matters only to data.
    pub fn handle_segment(&mut self, now: Time, seg: &Segment, _ecn: Ecn) {
        match self.state {
            State::SynSent => return self.handle_syn_ack(now, seg),
            State::Done | State::Failed(_) => return,
            State::Established | State::FinSent => {}
        }
        if seg.flags.has(Flags::SYN) {
            self.ack_due = true; // our acknowledgment was lost
            return;
        }
        if seg.flags.has(Flags::ACK) && (self.una..=self.max).contains(&seg.ack) {
            self.handle_ack(now, seg);
        }
    }

    fn handle_syn_ack(&mut self, now: Time, seg: &Segment) {
        if !seg.flags.has(Flags::SYN | Flags::ACK) || seg.ack != 1 || self.max == 0 {
            return;
        }
        self.state = State::Established;
        (self.una, self.nxt, self.max) = (1, 1, 1);
        self.rto_at = Time::MAX;
        self.syn_due = false;
        self.ack_due = true;
        self.ts_recent = seg.ts_val;
        self.peer_window = seg.window;
        self.ecn = self.cfg.ecn != EcnMode::Off && seg.flags.has(Flags::ECE);
        if self.cfg.timestamps {
            self.rtt.sample(now.since(seg.ts_ecr), &self.cfg);
        } else if !self.syn_lost {
            self.rtt.sample(now.since(self.last_sent), &self.cfg);
        }
        if self.syn_lost {
            self.cc.limit(self.cfg.mss.into()); // RFC 5681 §3.1
            self.rtt.after_lost_syn();
        }
        self.row = 0;
        self.last_sent = now;
        self.rate.delivered_at = now;
        self.rate.first_sent = now;
    }

    fn handle_ack(&mut self, now: Time, seg: &Segment) {
        let prior_in_flight = self.in_flight();
        let mss = u64::from(self.cfg.mss);
        let acked = seg.ack - self.una;
        let mut d = Delivered::default();
        if self.cfg.sack {
            self.board.acknowledge(seg.ack, &mut d);
            for (i, (start, end)) in seg.sack.iter().enumerate() {
                // RFC 2883 §4: below the acknowledgment, or inside the second block.
                let inner = i == 0
                    && seg
                        .sack
                        .iter()
                        .nth(1)
                        .is_some_and(|b| b.0 <= start && end <= b.1);
                if end <= seg.ack || inner {
                    d.duplicate = true;
                } else {
                    self.board
                        .sack(start.max(seg.ack), end.min(self.max), &mut d);
                }
            }
        } else {
            d.bytes = acked;
        }
        self.peer_window = seg.window;
        self.ts_recent = seg.ts_val;
        let sent_before = self.una;
        self.una = seg.ack;
        self.nxt = self.nxt.max(seg.ack);
        let rtt = self.measure(now, seg, acked, &d);

        // Congestion marks.
        let ece = self.ecn && seg.flags.has(Flags::ECE);
        let marked = match self.cfg.ecn {
            EcnMode::Off => 0,
            EcnMode::Classic | EcnMode::Dctcp => u64::from(ece) * d.bytes,
            EcnMode::L4s => {
                u64::from(seg.ce_bytes.wrapping_sub(self.ce_bytes)).min(d.bytes.max(mss))
            }
        };
        self.ce_bytes = seg.ce_bytes;

        let cwnd = self.cc.cwnd();
        let cwnd_limited = prior_in_flight + mss > cwnd
            || (cwnd < self.cc.ssthresh() && cwnd < 2 * prior_in_flight);
        let was_recovering = self.rec.phase == Phase::Fast;
        let in_flight = self.in_flight();
        let rate = self.sample_rate(now, &d);
        if acked > 0 || d.bytes > 0 {
            self.cc.on_ack(&AckSample {
                now,
                acked,
                delivered: d.bytes,
                marked,
                ece,
                prior_in_flight,
                in_flight,
                una: self.una,
                nxt: self.max,
                rtt,
                srtt: self.rtt.srtt(),
                min_rtt: self.rtt.min(),
                cwnd_limited,
                in_recovery: was_recovering || (ece && self.cfg.ecn == EcnMode::Classic),
                rate,
            });
        }
        if marked > 0 || (ece && self.cfg.ecn == EcnMode::Classic) {
            self.answer_mark(now, d.bytes);
        }

        if acked > 0 {
            self.row = 0;
            let partial = self.rec.phase == Phase::Fast && self.una < self.rec.recover;
            let keep = partial
                && self.cfg.impatient
                && self.cfg.repair == Repair::NewReno
                && self.rec.partials > 0;
            if self.una == self.max {
                self.rto_at = Time::MAX;
            } else if !keep {
                self.rto_at = now + self.rtt.rto();
            }
        }
        if self.cfg.sack {
            self.recover_with_board(now, seg, acked, &d);
        } else if acked > 0 {
            self.recover_on_new_ack(now, acked);
        } else if sent_before == seg.ack
            && self.una < self.max
            && seg.len == 0
            && !seg.flags.has(Flags::FIN)
        {
            self.recover_on_duplicate(now); // RFC 5681 §2, with a window that never changes
        }
        if self.state == State::FinSent && self.una > self.end {
            self.state = State::Done;
            self.stop_timers();
        } else if self.una == self.max {
            self.rack.disarm();
        }
    }

    fn measure(&mut self, now: Time, seg: &Segment, acked: u64, d: &Delivered) -> Option<Dur> {
        let sent = if acked > 0 && self.cfg.timestamps {
            Some(seg.ts_ecr) // RFC 7323 §4.1: only what moves the window measures
        } else if self.cfg.sack {
            d.unambiguous
        } else {
            self.timed.take_if(|t| t.0 <= self.una).map(|t| t.1)
        }?;
        let rtt = now.since(sent);
        self.rtt.sample(rtt, &self.cfg);
        Some(rtt)
    }

    fn sample_rate(&mut self, now: Time, d: &Delivered) -> Option<RateSample> {
        let r = &mut self.rate;
        if !r.on || d.bytes == 0 {
            return None;
        }
        r.delivered += d.bytes;
        r.delivered_at = now;
        if r.app_limited > 0 && r.delivered > r.app_limited {
            r.app_limited = 0;
        }
        let (sent, ..) = d.newest?;
        let p = d.snapshot;
        r.first_sent = sent;
        let elapsed = sent.since(p.first_sent).max(now.since(p.delivered_at));
        // Shorter than any round trip: an artifact of a retransmission (§4.1.2 of the draft).
        if elapsed.is_zero() || elapsed < self.rtt.min() {
            return None;
        }
        Some(RateSample {
            rate: (r.delivered - p.delivered) as f64 / elapsed.as_secs_f64(),
            prior_delivered: p.delivered,
            delivered: r.delivered,
            app_limited: p.app_limited,
        })
    }
}
