//! Which segment may leave now, and what it looks like.

use spillgate_core::{Ecn, Time};

use super::config::EcnMode;
use super::recovery::Phase;
use super::scoreboard::Snapshot;
use super::segment::{Flags, Segment};
use super::sender::{Sender, State};

/// What leaves next.
#[derive(Clone, Copy, Debug)]
enum Choice {
    /// A segment of the scoreboard, again.
    Again(usize),
    /// Payload and FIN from a sequence number.
    Data { seq: u64, len: u16, fin: bool },
}

impl Sender {
    /// The next segment to send; call until none.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        match self.state {
            State::SynSent => return self.syn(now),
            State::Done | State::Failed(_) => return None,
            State::Established | State::FinSent => {}
        }
        if let Some(choice) = self.choose() {
            if !self.cfg.pacing || now >= self.pace_next || self.srtt().is_none() {
                self.pace_at = Time::MAX;
                return Some(self.emit(now, choice));
            }
            self.pace_at = self.pace_next;
        } else {
            self.pace_at = Time::MAX;
        }
        std::mem::take(&mut self.ack_due).then(|| Segment {
            ack: 1,
            window: self.cfg.max_window,
            ts_ecr: self.ts_recent,
            ..Segment::bare(self.max, Flags::ACK, now)
        })
    }

    fn syn(&mut self, now: Time) -> Option<Segment> {
        if now >= self.rto_at && !self.syn_due {
            self.syn_timeout(now);
        }
        std::mem::take(&mut self.syn_due).then(|| {
            self.last_sent = now;
            self.max = 1;
            let ecn = self.cfg.ecn != EcnMode::Off;
            Segment {
                window: self.cfg.max_window,
                ..Segment::bare(0, Flags::SYN.with_if(Flags::ECE | Flags::CWR, ecn), now)
            }
        })
    }

    /// What may leave: retransmissions first, then new data (RFC 6675 §4, NextSeg).
    fn choose(&mut self) -> Option<Choice> {
        if self.cfg.sack {
            let room = self.allowance().saturating_sub(self.in_flight());
            if self.rack.probe_again() {
                return self.board.last().map(Choice::Again);
            }
            if let Some(i) = self.board.next_lost() {
                let fits = self.payload_of(i) <= room;
                // The first retransmission of a recovery leaves whatever the pipe holds.
                return (fits || self.rec.force).then_some(Choice::Again(i));
            }
            if let Some(new) = self.choose_new(room) {
                return Some(new);
            }
            if self.rec.phase == Phase::Fast && !self.cfg.rack_tlp {
                let i = self.board.next_hole()?;
                return (self.payload_of(i) <= room).then_some(Choice::Again(i));
            }
            return None;
        }
        if self.rec.resend_first {
            let len = self.payload_at(self.una).min(self.max - self.una);
            return Some(self.data(self.una, len, self.max));
        }
        self.choose_new(self.allowance().saturating_sub(self.in_flight()))
    }

    /// Payload of a segment of the scoreboard; its FIN takes no room in the window.
    fn payload_of(&self, i: usize) -> u64 {
        let s = self.board.get(i);
        s.end().min(self.end) - s.seq
    }

    fn payload_at(&self, seq: u64) -> u64 {
        self.end.saturating_sub(seq).min(self.cfg.mss.into())
    }

    /// Payload from `seq`, with FIN if it ends what was written and lies below `below`.
    fn data(&self, seq: u64, len: u64, below: u64) -> Choice {
        Choice::Data {
            seq,
            len: len as u16,
            fin: self.closed && seq + len == self.end && self.end < below,
        }
    }

    fn choose_new(&mut self, room: u64) -> Option<Choice> {
        let len = self.payload_at(self.nxt);
        if len == 0 {
            // FIN alone; once sent, only a timeout sends it again.
            let fin_due = self.closed && self.nxt == self.end && room > 0;
            if !fin_due && self.rate.on && self.rate.app_limited == 0 {
                let r = &mut self.rate;
                r.app_limited = (r.delivered + (self.max - self.una)).max(1);
            }
            return fin_due.then(|| self.data(self.nxt, 0, u64::MAX));
        }
        let window = (self.una + self.peer_window).saturating_sub(self.nxt);
        let probe = self.rack.probe_new();
        // Full segments, or all that is left: no silly windows (RFC 9293 §3.8.6.2.1).
        (len <= window && (len <= room || probe)).then(|| self.data(self.nxt, len, u64::MAX))
    }

    fn emit(&mut self, now: Time, choice: Choice) -> Segment {
        let (seq, len, fin, again) = match choice {
            Choice::Again(i) => {
                let s = self.board.get(i);
                let fin = s.end() > self.end;
                (s.seq, s.len - u16::from(fin), fin, Some(i))
            }
            Choice::Data { seq, len, fin } => (seq, len, fin, None),
        };
        let space = len + u16::from(fin);
        let end = seq + u64::from(space);
        let fresh = seq >= self.max;
        if self.una == self.max {
            self.rate.first_sent = now;
            self.rate.delivered_at = now;
        }
        let snapshot = Snapshot {
            delivered: self.rate.delivered,
            delivered_at: self.rate.delivered_at,
            first_sent: self.rate.first_sent,
            app_limited: self.rate.app_limited > 0,
        };
        match again {
            Some(i) => self.board.resent(i, now, snapshot),
            None if self.cfg.sack => self.board.push(seq, space, now, snapshot),
            None => {
                if !fresh {
                    self.timed = None; // Karn: RFC 6298 §3
                } else if self.timed.is_none() {
                    self.timed = Some((end, now));
                }
            }
        }
        if seq == self.una && self.rec.take_first() || self.rto_at == Time::MAX {
            self.rto_at = now + self.rtt.rto();
        }
        // A fast retransmission leaves `nxt` alone; everything else moves it on.
        if again.is_none() && seq == self.nxt || self.nxt < end && fresh {
            self.nxt = self.nxt.max(end);
        }
        self.max = self.max.max(end);
        self.rec.sent(u64::from(space));
        self.rack.probe_left(self.max);
        self.stats.segments += 1;
        self.stats.retransmits += u64::from(!fresh);
        if fin {
            self.state = State::FinSent;
        }
        self.last_sent = now;
        self.ack_due = false;
        if self.cfg.pacing {
            self.pace(now, len);
        }
        if self.cfg.rack_tlp {
            self.arm_probe(now);
        }
        let cwr = fresh && std::mem::take(&mut self.cwr_due);
        Segment {
            seq,
            ack: 1,
            window: self.cfg.max_window,
            ts_ecr: self.ts_recent,
            len,
            ect: match self.cfg.ecn {
                // Never on retransmissions: RFC 3168 §6.1.5.
                EcnMode::Classic | EcnMode::Dctcp if self.ecn && fresh && len > 0 => Ecn::Ect0,
                EcnMode::L4s if self.ecn && fresh && len > 0 => Ecn::Ect1,
                _ => Ecn::NotEct,
            },
            ..Segment::bare(
                seq,
                Flags::ACK.with_if(Flags::FIN, fin).with_if(Flags::CWR, cwr),
                now,
            )
        }
    }

    /// Whether a new segment could leave if the congestion window did not matter.
    pub(super) fn has_new(&self) -> bool {
        let len = self.payload_at(self.nxt);
        len > 0 && self.nxt + len <= self.una + self.peer_window
    }
}
