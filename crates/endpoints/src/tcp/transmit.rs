//! Which segment may leave now, and what it looks like.

use spillgate_core::{Ecn, Time};

use super::config::EcnMode;
use super::recovery::Phase;
use super::segment::{Flags, Segment};
use super::sender::{Sender, State};

/// What leaves next: payload and FIN from a sequence number.
#[derive(Clone, Copy, Debug)]
struct Choice {
    seq: u64,
    len: u16,
    fin: bool,
    of: Origin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// What the application wrote.
    Data,
    /// A segment of the scoreboard.
    Board(usize),
    /// The same, as the one rescue of a recovery.
    Rescue(usize),
}

impl Sender {
    /// The next segment to send; call until none.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        match self.poll_new(now) {
            None if !self.waits() => self.poll_with_care(now),
            segment => segment,
        }
    }

    /// Whatever may leave.
    #[inline(never)]
    fn poll_with_care(&mut self, now: Time) -> Option<Segment> {
        self.rec.room_known = false;
        match self.state {
            State::SynSent => return self.syn(now),
            State::Done | State::Failed(_) => return None,
            State::Established | State::FinSent => {}
        }
        // RFC 9768 §3.2.2.1: it tells of SYN-ACK, which no segment with data can.
        if self.ack_due && self.ecn.is_accurate() {
            return Some(self.bare_ack(now));
        }
        let choice = if self.held {
            None
        } else if self.sel.is_some() {
            self.next_segment()
        } else {
            self.choose_plain()
        };
        let rate_known = self.srtt().is_some();
        let held = self
            .pacing
            .as_mut()
            .is_some_and(|p| p.holds(now, choice.is_some(), rate_known, self.cfg.send_jitter));
        if let Some(choice) = choice.filter(|_| !held) {
            return Some(self.emit(now, choice));
        }
        self.ack_due.then(|| self.bare_ack(now))
    }

    /// The end of the handshake.
    #[cold]
    fn bare_ack(&mut self, now: Time) -> Segment {
        self.ack_due = false;
        let (_, feedback) = self.ace();
        Segment {
            ack: 1,
            ts_ecr: self.ts_recent,
            ..Segment::bare(self.max, Flags::ACK | feedback, now)
        }
    }

    fn syn(&mut self, now: Time) -> Option<Segment> {
        if now >= self.rto_at && !self.syn_due {
            self.syn_timeout(now);
        }
        std::mem::take(&mut self.syn_due).then(|| {
            self.last_sent = now;
            self.max = 1;
            let setup = match self.cfg.ecn {
                EcnMode::Off => Flags::NONE,
                EcnMode::Classic | EcnMode::Dctcp => Flags::ace(0b011),
                // RFC 9768 §3.1.4.1: the second retransmission does without.
                EcnMode::Accurate | EcnMode::L4s if self.rtt.row > 1 => Flags::NONE,
                EcnMode::Accurate | EcnMode::L4s => Flags::ace(0b111),
            };
            Segment::bare(0, Flags::SYN | setup, now)
        })
    }

    /// Without a board: the segment that recovery asks for, else new data.
    #[inline]
    fn choose_plain(&mut self) -> Option<Choice> {
        if self.rec.resend_first {
            let len = self.payload_at(self.una).min(self.max - self.una);
            return Some(self.data(self.una, len, self.max));
        }
        self.choose_new(self.allowance().saturating_sub(self.in_flight()), false)
    }

    /// NextSeg (RFC 6675 §4).
    fn next_segment(&mut self) -> Option<Choice> {
        let room = self.allowance().saturating_sub(self.in_flight());
        let s = self.sel.as_deref_mut()?;
        if s.rack.probe_again() {
            let i = s.board.last()?;
            return Some(self.again(i));
        }
        // Rule 1.
        if let Some(i) = s.board.next_lost() {
            let lost = self.again(i);
            // The first retransmission of a recovery leaves whatever the pipe holds.
            return (u64::from(lost.len) <= room || self.rec.force).then_some(lost);
        }
        // Rule 2.
        let probe = s.rack.probe_new();
        if let Some(new) = self.choose_new(room, probe) {
            return Some(new);
        }
        // With RACK time tells what else is lost (RFC 8985 §8).
        if self.rec.phase != Phase::Fast || self.cfg.rack_tlp || room == 0 {
            return None;
        }
        // Rule 3.
        let s = self.sel.as_deref_mut()?;
        if let Some(i) = s.board.next_hole() {
            return Some(self.again(i)).filter(|c| u64::from(c.len) <= room);
        }
        // Rule 4, unless a copy is on the way.
        let s = self.sel.as_deref()?;
        if self.una <= s.rescue || self.has_new() {
            return None;
        }
        let i = s.board.untouched_tail()?;
        Some(Choice {
            of: Origin::Rescue(i),
            ..self.again(i)
        })
        .filter(|c| u64::from(c.len) <= room)
    }

    /// Segment `i` of the scoreboard; FIN is no payload and takes no room in the window.
    fn again(&self, i: usize) -> Choice {
        let sent = self.sel.as_deref().map(|s| s.board.get(i));
        let (seq, end) = sent.map_or((self.una, self.una), |s| (s.seq, s.end()));
        Choice {
            seq,
            len: (end.min(self.end) - seq) as u16,
            fin: end > self.end,
            of: Origin::Board(i),
        }
    }

    #[inline]
    fn payload_at(&self, seq: u64) -> u64 {
        self.end.saturating_sub(seq).min(self.cfg.mss.into())
    }

    /// Payload from `seq`, with FIN if it ends what was written and lies below `below`.
    #[inline]
    fn data(&self, seq: u64, len: u64, below: u64) -> Choice {
        Choice {
            seq,
            len: len as u16,
            fin: self.closed && seq + len == self.end && self.end < below,
            of: Origin::Data,
        }
    }

    #[inline]
    fn choose_new(&mut self, room: u64, probe: bool) -> Option<Choice> {
        let len = self.payload_at(self.nxt);
        if len == 0 {
            // FIN alone; once sent, only a timeout sends it again.
            let fin_due = self.closed && self.nxt == self.end && room > 0;
            if let (false, Some(s)) = (fin_due, &mut self.sel) {
                s.rate.limited(self.max - self.una);
            }
            return fin_due.then(|| self.data(self.nxt, 0, u64::MAX));
        }
        // Full segments, or all that is left: no silly windows (RFC 9293 §3.8.6.2.1).
        let window = (self.una + self.cfg.max_window).saturating_sub(self.nxt);
        (len <= window && (len <= room || probe)).then(|| self.data(self.nxt, len, u64::MAX))
    }

    #[inline(never)]
    fn emit(&mut self, now: Time, choice: Choice) -> Segment {
        let Choice { seq, len, fin, of } = choice;
        let space = len + u16::from(fin);
        let end = seq + u64::from(space);
        let fresh = seq >= self.max;
        if self.una == self.max {
            self.cc.on_restart(now, now.since(self.last_sent));
        }
        match &mut self.sel {
            Some(s) => {
                if self.una == self.max {
                    s.rate.restart(now);
                }
                let snapshot = s.rate.snapshot();
                match of {
                    Origin::Data => s.board.push(seq, space, now, snapshot),
                    Origin::Board(i) => s.board.resent(i, now, snapshot),
                    Origin::Rescue(i) => {
                        s.board.resent(i, now, snapshot);
                        s.rescue = self.rec.recover;
                    }
                }
                s.prr.out += u64::from(space);
                s.rack.probe_left(self.max.max(end));
            }
            None if self.cfg.timestamps => {}
            None if !fresh => self.timed_end = 0, // Karn: RFC 6298 §3
            None if self.timed_end == 0 => (self.timed_end, self.timed_at) = (end, now),
            None => {}
        }
        let head = seq == self.una && !fresh;
        let asked = head && (self.rec.take_first() || self.cfg.linux);
        if asked && !self.is_impatient() || self.rto_at == Time::MAX {
            self.rto_at = now + self.rtt.rto(&self.cfg);
        }
        self.rec.force = false;
        // A fast retransmission leaves `nxt` alone; everything else moves it on.
        if of == Origin::Data && (seq == self.nxt || fresh) {
            self.nxt = self.nxt.max(end);
        }
        self.max = self.max.max(end);
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
        let push = self.cfg.linux && len > 0 && seq + u64::from(len) == self.end;
        let cwr = fresh && len > 0 && std::mem::take(&mut self.cwr_due);
        Segment {
            ack: 1,
            ts_ecr: self.ts_recent,
            len,
            // Never on retransmissions: RFC 3168 §6.1.5.
            ect: if fresh && len > 0 {
                self.ect()
            } else {
                Ecn::NotEct
            },
            ..Segment::bare(
                seq,
                (Flags::ACK | self.ace().0)
                    .with_if(Flags::FIN, fin)
                    .with_if(Flags::CWR, cwr)
                    .with_if(Flags::PSH, push),
                now,
            )
        }
    }

    /// Whether a new segment could leave if the congestion window did not matter.
    pub(super) fn has_new(&self) -> bool {
        let len = self.payload_at(self.nxt);
        len > 0 && self.nxt + len <= self.una + self.cfg.max_window
    }
}
