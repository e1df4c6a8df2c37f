//! The sending endpoint: its state, what the application does, and the getters.

use std::sync::Arc;

use spillgate_core::{Dur, Rng, Time};

use super::accurate::Feedback;
use super::config::{EcnMode, TcpConfig};
use super::pacing::Pacing;
use super::recovery::{Phase, Recovery, Selective};
use super::rtt::Rtt;
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
///
/// What every acknowledgment and every segment touches comes first, what only some profiles
/// need last or in a box of its own, so that thousands of senders stay in the cache.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Sender {
    pub(super) cfg: Arc<TcpConfig>,
    /// First byte not acknowledged.
    pub(super) una: u64,
    /// Next to send; after a timeout without SACK it goes back to `una`.
    pub(super) nxt: u64,
    /// Beyond the highest ever sent.
    pub(super) max: u64,
    /// Beyond the last byte that the application wrote.
    pub(super) end: u64,
    pub(super) rto_at: Time,
    /// With selective acknowledgments; none without.
    pub(super) sel: Option<Box<Selective>>,
    pub(super) state: State,
    pub(super) closed: bool,
    /// What the handshake made of it.
    pub(super) ecn: EcnMode,
    pub(super) cwr_due: bool,
    pub(super) ack_due: bool,
    pub(super) syn_due: bool,
    /// A mark stopped a window of one segment until the timer expires (RFC 3168 §6.1.2).
    pub(super) held: bool,
    /// See [`TcpConfig::is_plain`].
    pub(super) plain: bool,
    pub(super) cc: Congestion,
    pub(super) rec: Recovery,
    /// A mark or loss before this has been answered (RFC 3168 §6.1.2).
    pub(super) answered: u64,
    /// The end of the one timed segment, where there are neither timestamps nor a board; 0: none.
    pub(super) timed_end: u64,
    pub(super) timed_at: Time,
    pub(super) last_sent: Time,
    pub(super) ts_recent: Time,
    pub(super) stats: Stats,
    pub(super) rtt: Rtt,
    /// With accurate feedback; none where it is not asked for.
    pub(super) feedback: Option<Box<Feedback>>,
    /// With pacing or jitter; none without.
    pub(super) pacing: Option<Box<Pacing>>,
}

const _: () = assert!(std::mem::size_of::<Sender>() <= 272);

impl Sender {
    /// Active open: SYN is due at `start`, or data where the profile has no handshake.
    pub fn new(cfg: &Arc<TcpConfig>, start: Time) -> Self {
        let sel = cfg.sack.then(|| Box::new(Selective::new(cfg, start)));
        Self::with(
            cfg,
            start,
            Congestion::new(cfg, start),
            sel,
            Pacing::new(cfg),
            cfg.ecn.is_accurate().then(|| Box::new(Feedback::new())),
        )
    }

    /// Draws the times of [`TcpConfig::send_jitter`] from `rng`; without that from nothing.
    pub fn set_jitter(&mut self, rng: Rng) {
        if let Some(p) = &mut self.pacing {
            p.draw_from(rng);
        }
    }

    /// As [`Sender::new`] would make it with the same configuration, without giving back the memory
    /// and with the random numbers that follow: for one session after the other.
    pub fn reset(&mut self, start: Time) {
        let cfg = Arc::clone(&self.cfg);
        let mut sel = self.sel.take();
        if let Some(s) = &mut sel {
            s.reset(&cfg, start);
        }
        self.cc.reset(&cfg, start);
        let cc = std::mem::replace(&mut self.cc, Congestion::vacant());
        let mut pacing = self.pacing.take();
        if let Some(p) = &mut pacing {
            p.reset();
        }
        let mut feedback = self.feedback.take();
        if let Some(f) = &mut feedback {
            **f = Feedback::new();
        }
        *self = Self::with(&cfg, start, cc, sel, pacing, feedback);
    }

    fn with(
        cfg: &Arc<TcpConfig>,
        start: Time,
        cc: Congestion,
        sel: Option<Box<Selective>>,
        pacing: Option<Box<Pacing>>,
        feedback: Option<Box<Feedback>>,
    ) -> Self {
        let shake = cfg.handshake;
        let first = u64::from(!shake);
        let mut sender = Self {
            una: first,
            nxt: first,
            max: first,
            end: 1,
            rto_at: if shake { start } else { Time::MAX },
            sel,
            state: if shake {
                State::SynSent
            } else {
                State::Established
            },
            closed: false,
            ecn: EcnMode::Off,
            cwr_due: false,
            ack_due: false,
            syn_due: false,
            held: false,
            plain: cfg.is_plain(),
            cc,
            rec: Recovery::default(),
            answered: 0,
            timed_end: 0,
            timed_at: Time::ZERO,
            last_sent: start,
            ts_recent: Time::ZERO,
            stats: Stats::default(),
            rtt: Rtt::new(cfg),
            feedback,
            pacing,
            cfg: Arc::clone(cfg),
        };
        if !shake {
            sender.use_ecn(cfg.agreed());
        }
        sender
    }

    /// The application hands over `bytes` more; [`u64::MAX`]: without end. Nothing after
    /// [`Sender::close`].
    pub fn write(&mut self, now: Time, bytes: u64) {
        if self.closed {
            return;
        }
        self.rec.room_known = false;
        // RFC 5681 §4.1: after a silence of one timeout the window restarts.
        if self.cfg.idle_restart
            && self.una == self.max
            && now.since(self.last_sent) > self.rtt.rto(&self.cfg)
        {
            self.cc
                .limit(u64::from(self.cfg.initial_window) * u64::from(self.cfg.mss));
        }
        self.end = self.end.saturating_add(bytes).min(GREEDY);
    }

    /// Nothing more will be written: FIN follows the data.
    pub fn close(&mut self, _now: Time) {
        self.rec.room_known = false;
        self.closed = true;
    }

    /// The application stops here: what it wrote and no segment carried yet is
    /// forgotten, FIN follows what was sent (which is still repaired).
    ///
    /// With SYN unanswered FIN follows the handshake. If nothing was ever sent
    /// the connection is [`State::Done`] at once and the network never hears of
    /// it (RFC 9293 §3.10.4 deletes it likewise). Poll for output afterwards.
    pub fn finish(&mut self, _now: Time) {
        self.rec.room_known = false;
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
        if let Some(s) = &mut self.sel {
            s.rack.withdraw_probe_of_new();
        }
        self.closed = true;
    }

    /// Its parameters.
    #[inline]
    pub fn config(&self) -> &TcpConfig {
        &self.cfg
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

    /// How sure a scalable sender is that a classic AQM marks its packets, 0 to 17; none if it does
    /// not look for one.
    pub fn classic_ecn(&self) -> Option<f64> {
        self.cc.classic_ecn()
    }

    /// Smoothed round-trip time; none before the first measurement.
    pub fn srtt(&self) -> Option<Dur> {
        self.rtt.srtt()
    }

    /// Retransmission timeout, backed off.
    pub fn rto(&self) -> Dur {
        self.rtt.rto(&self.cfg)
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
    #[inline]
    pub fn in_flight(&self) -> u64 {
        let Some(s) = &self.sel else {
            return self.nxt - self.una;
        };
        let b = &s.board;
        let out = (self.max - self.una) + b.resent_bytes;
        // Without limited transmit what was selectively acknowledged frees nothing yet.
        if !self.cfg.limited_transmit && self.rec.phase == Phase::Open {
            return out - b.lost_bytes;
        }
        out - b.sacked_bytes - b.lost_bytes
    }

    /// Up to how many bytes may be in flight now: the congestion window as
    /// recovery and limited transmit adjust it.
    #[inline]
    pub fn allowance(&self) -> u64 {
        if let Some(s) = &self.sel {
            if s.prr.on {
                return s.prr.window;
            }
        }
        self.rec
            .allowance(&self.cfg, self.cc.cwnd(), self.nxt == self.max)
    }
}
