//! The sending endpoint: its state, what the application does, and the getters.

use std::sync::Arc;

use spillgate_core::{Dur, Time};

use super::config::{EcnMode, TcpConfig};
use super::recovery::{Phase, Rack, Recovery};
use super::rtt::Rtt;
use super::scoreboard::Scoreboard;
use crate::cc::Congestion;

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
    pub(super) end: u64,
    pub(super) peer_window: u64,
    pub(super) rto_at: Time,
    pub(super) pace_at: Time,
    pub(super) pace_next: Time,
    pub(super) last_sent: Time,
    /// End and departure of the one timed segment, where there are neither timestamps nor a board.
    pub(super) timed: Option<(u64, Time)>,
    pub(super) ts_recent: Time,
    /// A mark or loss before this has been answered (RFC 3168 §6.1.2).
    pub(super) answered: u64,
    pub(super) ce_bytes: u32,
    /// Timeouts in a row for what is at `una`.
    pub(super) row: u32,
    pub(super) rate: Rate,
    pub(super) stats: Stats,
    pub(super) state: State,
    pub(super) closed: bool,
    pub(super) ecn: bool,
    pub(super) cwr_due: bool,
    pub(super) ack_due: bool,
    pub(super) syn_due: bool,
    pub(super) syn_lost: bool,
}

const _: () =
    assert!(std::mem::size_of::<Sender>() <= 1024 - std::mem::size_of::<super::Receiver>());

/// Delivery rate estimation, kept where the algorithm asks for it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rate {
    pub(super) on: bool,
    pub(super) delivered: u64,
    pub(super) delivered_at: Time,
    pub(super) first_sent: Time,
    /// Deliveries up to here are limited by the application; 0: none.
    pub(super) app_limited: u64,
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

    pub(super) fn count_probe(&mut self) {
        self.stats.probes += 1;
    }
}
