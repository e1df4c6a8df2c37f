//! The sending endpoint: connection states, sequence space, timers, what may leave.

use std::sync::Arc;

use spillgate_core::{Dur, Ecn, Time};

use super::config::{EcnMode, Repair, TcpConfig};
use super::recovery::{Phase, Rack, Recovery};
use super::rtt::Rtt;
use super::scoreboard::{Delivered, Scoreboard, Snapshot};
use super::segment::{Flags, Segment};
use crate::cc::{AckSample, Cause, Congestion, LossSample, RateSample};

/// Where a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// SYN is to be sent or unanswered.
    SynSent,
    /// Data may flow.
    Established,
    /// FIN was sent.
    FinSent,
    /// FIN was acknowledged: every byte has arrived.
    Done,
    /// Given up.
    Failed(Failure),
}

/// Why a connection failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// No answer to SYN.
    NoAnswer,
    /// The same data timed out too often in a row.
    Timeout,
}

/// Counts since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Segments with data or FIN, retransmissions included.
    pub segments: u64,
    /// Segments sent again.
    pub retransmits: u64,
    /// Expirations of the retransmission timer, those of SYN included.
    pub timeouts: u32,
    /// Fast recoveries entered.
    pub fast_retransmits: u32,
    /// Reductions of the window in response to marks.
    pub ecn_reactions: u32,
    /// Tail loss probes.
    pub probes: u32,
}

/// What leaves next.
#[derive(Clone, Copy, Debug)]
enum Choice {
    /// A segment of the scoreboard, again.
    Again(usize),
    /// Payload and FIN from a sequence number.
    Data { seq: u64, len: u16, fin: bool },
}

/// Bytes beyond which "greedy" is: no transfer gets there.
const GREEDY: u64 = u64::MAX / 4;

/// Sends one way with congestion control.
#[derive(Clone, Debug)]
pub struct Sender {
    pub(super) cfg: Arc<TcpConfig>,
    pub(super) cc: Congestion,
    pub(super) rtt: Rtt,
    pub(super) board: Scoreboard,
    pub(super) rec: Recovery,
    pub(super) rack: Rack,
    /// First byte not acknowledged.
    pub(super) una: u64,
    /// Next to send; after a timeout without SACK it goes back to `una`.
    pub(super) nxt: u64,
    /// Beyond the highest ever sent.
    pub(super) max: u64,
    /// Beyond the last byte that the application wrote.
    end: u64,
    peer_window: u64,
    pub(super) rto_at: Time,
    pace_at: Time,
    pace_next: Time,
    last_sent: Time,
    /// End and departure of the one timed segment, where there are neither timestamps nor a board.
    timed: Option<(u64, Time)>,
    ts_recent: Time,
    /// A mark or loss before this has been answered (RFC 3168 §6.1.2).
    pub(super) answered: u64,
    ce_bytes: u32,
    /// Timeouts in a row for what is at `una`.
    row: u32,
    rate: Rate,
    stats: Stats,
    state: State,
    closed: bool,
    ecn: bool,
    cwr_due: bool,
    ack_due: bool,
    syn_due: bool,
    syn_lost: bool,
}

const _: () =
    assert!(std::mem::size_of::<Sender>() <= 1024 - std::mem::size_of::<super::Receiver>());

/// Delivery rate estimation, kept where the algorithm asks for it.
#[derive(Clone, Copy, Debug, Default)]
struct Rate {
    on: bool,
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    /// Deliveries up to here are limited by the application; 0: none.
    app_limited: u64,
}

impl Sender {
    /// Active open: SYN is due at `start`, or data where the profile has no handshake.
    pub fn new(cfg: &Arc<TcpConfig>, start: Time) -> Self {
        let board = Scoreboard::new(cfg.cc.traits().needs_sack);
        Self::with(cfg, start, Congestion::new(cfg, start), board)
    }

    /// As [`Sender::new`] would make it with the same configuration, without
    /// giving back the memory: for one session after the other.
    pub fn reset(&mut self, start: Time) {
        let cfg = Arc::clone(&self.cfg);
        let mut board = std::mem::take(&mut self.board);
        board.clear();
        self.cc.reset(&cfg, start);
        let cc = std::mem::replace(&mut self.cc, Congestion::vacant());
        *self = Self::with(&cfg, start, cc, board);
    }

    fn with(cfg: &Arc<TcpConfig>, start: Time, cc: Congestion, board: Scoreboard) -> Self {
        let shake = cfg.handshake;
        let first = u64::from(!shake);
        let rate_samples = cfg.cc.traits().needs_sack;
        Self {
            cc,
            rtt: Rtt::new(cfg),
            board,
            rec: Recovery::default(),
            rack: Rack::default(),
            una: first,
            nxt: first,
            max: first,
            end: 1,
            peer_window: cfg.max_window,
            rto_at: if shake { start } else { Time::MAX },
            pace_at: Time::MAX,
            pace_next: Time::ZERO,
            last_sent: start,
            timed: None,
            ts_recent: Time::ZERO,
            answered: 0,
            ce_bytes: 0,
            row: 0,
            rate: Rate {
                on: rate_samples,
                delivered_at: start,
                first_sent: start,
                ..Rate::default()
            },
            stats: Stats::default(),
            state: if shake {
                State::SynSent
            } else {
                State::Established
            },
            closed: false,
            ecn: !shake && cfg.ecn != EcnMode::Off,
            cwr_due: false,
            ack_due: false,
            syn_due: false,
            syn_lost: false,
            cfg: Arc::clone(cfg),
        }
    }

    /// The application hands over `bytes` more; [`u64::MAX`]: without end. Nothing after [`Sender::close`].
    pub fn write(&mut self, now: Time, bytes: u64) {
        if self.closed {
            return;
        }
        // RFC 5681 §4.1: after a silence of one timeout the window restarts.
        if self.cfg.idle_restart
            && self.una == self.max
            && now.since(self.last_sent) > self.rtt.rto()
        {
            self.cc
                .limit(u64::from(self.cfg.initial_window) * u64::from(self.cfg.mss));
        }
        self.end = self.end.saturating_add(bytes).min(GREEDY);
    }

    /// Nothing more will be written: FIN follows the data.
    pub fn close(&mut self, _now: Time) {
        self.closed = true;
    }

    /// The application stops here: what it wrote and no segment carried yet is
    /// forgotten, FIN follows what was sent (which is still repaired).
    ///
    /// With SYN unanswered FIN follows the handshake. If nothing was ever sent
    /// the connection is [`State::Done`] at once and the network never hears of
    /// it (RFC 9293 §3.10.4 deletes it likewise). Poll for output afterwards.
    pub fn finish(&mut self, _now: Time) {
        let first = u64::from(!self.cfg.handshake);
        match self.state {
            State::SynSent | State::Established if self.max == first => {
                self.state = State::Done;
                self.stop_timers();
                self.end = 1;
            }
            State::SynSent | State::Established => self.end = self.end.min(self.max),
            State::FinSent | State::Done | State::Failed(_) => {}
        }
        self.rack.withdraw_probe_of_new();
        self.closed = true;
    }

    /// Where the connection stands.
    pub fn state(&self) -> State {
        self.state
    }

    /// Bytes of data acknowledged cumulatively.
    pub fn acked_bytes(&self) -> u64 {
        self.una.min(self.end).saturating_sub(1)
    }

    /// Bytes written and not yet acknowledged.
    pub fn unacked_bytes(&self) -> u64 {
        self.end - self.una.clamp(1, self.end)
    }

    /// Congestion window in bytes.
    pub fn cwnd(&self) -> u64 {
        self.cc.cwnd()
    }

    /// Slow start threshold in bytes; [`u64::MAX`] before the first loss.
    pub fn ssthresh(&self) -> u64 {
        self.cc.ssthresh()
    }

    /// Smoothed round-trip time; none before the first measurement.
    pub fn srtt(&self) -> Option<Dur> {
        self.rtt.srtt()
    }

    /// Retransmission timeout, backed off.
    pub fn rto(&self) -> Dur {
        self.rtt.rto()
    }

    /// Counts since the start.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// The running congestion control.
    pub fn congestion(&self) -> &Congestion {
        &self.cc
    }

    /// Sequence numbers sent and neither acknowledged nor deemed lost: with a
    /// scoreboard the pipe of RFC 6675 §4, else FlightSize (RFC 5681 §2).
    pub fn in_flight(&self) -> u64 {
        if self.cfg.sack {
            let b = &self.board;
            let out = (self.max - self.una) + b.resent_bytes;
            // Without limited transmit what was selectively acknowledged frees nothing yet.
            if !self.cfg.limited_transmit && self.rec.phase == Phase::Open {
                return out - b.lost_bytes;
            }
            out - b.sacked_bytes - b.lost_bytes
        } else {
            self.nxt - self.una
        }
    }

    /// Up to how many bytes may be in flight now: the congestion window as
    /// recovery and limited transmit adjust it.
    pub fn allowance(&self) -> u64 {
        self.rec
            .allowance(&self.cfg, self.cc.cwnd(), self.nxt == self.max)
    }

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

    /// One reduction per window (RFC 3168 §6.1.2), none while a loss is being answered.
    fn answer_mark(&mut self, now: Time, delivered: u64) {
        if self.una <= self.answered || self.rec.phase != Phase::Open {
            return;
        }
        self.congested(now, Cause::Mark, delivered);
        self.answered = self.max;
        self.cwr_due = true;
        self.stats.ecn_reactions += 1;
    }

    /// Tells the congestion control.
    pub(super) fn congested(&mut self, now: Time, cause: Cause, delivered: u64) {
        let mut out = if self.cfg.sack { self.max } else { self.nxt } - self.una;
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
            peer_window: self.peer_window,
        });
        if cause == Cause::Loss {
            self.stats.fast_retransmits += 1;
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

    /// To be called at [`Sender::poll_timeout`]; earlier calls do nothing.
    pub fn handle_timeout(&mut self, now: Time) {
        if now >= self.pace_at {
            self.pace_at = Time::MAX;
        }
        if self.cfg.rack_tlp {
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

    fn syn_timeout(&mut self, now: Time) {
        if self.max > 0 {
            self.syn_lost = true;
            self.row += 1;
            self.stats.timeouts += 1;
            self.rtt.back_off();
            if self.row > self.cfg.syn_retries {
                return self.fail(Failure::NoAnswer);
            }
        }
        self.syn_due = true;
        self.rto_at = now + self.rtt.rto();
    }

    fn retransmission_timeout(&mut self, now: Time) {
        self.row += 1;
        self.stats.timeouts += 1;
        if self.row > self.cfg.retries {
            return self.fail(Failure::Timeout);
        }
        let cause = if self.row == 1 {
            Cause::Timeout
        } else {
            Cause::TimeoutAgain
        };
        self.congested(now, cause, 0);
        self.rtt.back_off();
        self.timed = None;
        self.rec.time_out(self.max);
        self.answered = self.max;
        self.rack.disarm();
        if self.cfg.sack {
            self.board.lose_all();
        } else {
            self.nxt = self.una;
        }
        self.rto_at = now + self.rtt.rto();
        // A paced sender does not wait for the slot of what it deems lost.
        self.pace_next = now;
    }

    fn fail(&mut self, why: Failure) {
        self.state = State::Failed(why);
        self.stop_timers();
        self.board.clear();
    }

    fn stop_timers(&mut self) {
        (self.rto_at, self.pace_at) = (Time::MAX, Time::MAX);
        self.rack.disarm();
    }

    /// When the sender wants to be called if nothing arrives.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Time> {
        let t = self.rto_at.min(self.pace_at).min(self.rack.deadline());
        (t < Time::MAX).then_some(t)
    }

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

    /// The next slot: the algorithm's rate, or the window per round trip with the
    /// head room of Linux, twice in slow start and 1.2 times after it.
    fn pace(&mut self, now: Time, len: u16) {
        let rate = self.cc.pacing_rate().or_else(|| {
            let srtt = self.srtt()?.as_secs_f64();
            let cwnd = self.cc.cwnd();
            let ratio = if cwnd < self.cc.ssthresh() / 2 {
                2.0
            } else {
                1.2
            };
            Some(ratio * cwnd as f64 / srtt)
        });
        if let Some(rate) = rate.filter(|r| *r > 0.0) {
            let gap = Dur::from_secs_f64(f64::from(len.max(1)) / rate);
            self.pace_next = now.max(self.pace_next) + gap;
        }
    }

    pub(super) fn count_probe(&mut self) {
        self.stats.probes += 1;
    }

    /// Whether a new segment could leave if the congestion window did not matter.
    pub(super) fn has_new(&self) -> bool {
        let len = self.payload_at(self.nxt);
        len > 0 && self.nxt + len <= self.una + self.peer_window
    }
}
