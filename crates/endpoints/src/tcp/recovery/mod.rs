//! Loss detection and repair: duplicate acknowledgments (RFC 5681, RFC 6582),
//! the scoreboard (RFC 6675), proportional rate reduction (RFC 6937), and time
//! (RFC 8985).

mod duplicates;
mod rack;
mod selective;

use spillgate_core::Time;

use super::config::{Repair, TcpConfig};
use super::rate::Rate;
use super::scoreboard::Scoreboard;
use rack::Rack;

/// What a sender is doing about losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    /// None is known.
    #[default]
    Open,
    /// Fast recovery.
    Fast,
    /// After a timeout (in Tahoe: after any loss), until all of it is acknowledged.
    Loss,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Recovery {
    /// Ends when everything below is acknowledged (RFC 6582, RFC 6675 RecoveryPoint).
    pub(super) recover: u64,
    /// What duplicate acknowledgments add to the window, partial ones take from it (RFC 6582 §3.2).
    inflation: i64,
    pub(super) dup_acks: u32,
    pub(super) partials: u32,
    pub(super) phase: Phase,
    /// The segment at `una` is to be sent again.
    pub(super) resend_first: bool,
    /// One retransmission leaves whatever the window says.
    pub(super) force: bool,
    /// Nothing but new data may leave, and no more than `room` says, until something happens.
    pub(super) room_known: bool,
    /// By how many bytes the allowance exceeds what is in flight, if that is known.
    pub(super) room: u32,
}

const _: () = assert!(std::mem::size_of::<Recovery>() <= 32);

/// Proportional rate reduction (RFC 6937 §3), while it is on.
#[derive(Clone, Debug, Default)]
pub(super) struct Prr {
    pub(super) on: bool,
    pub(super) window: u64,
    delivered: u64,
    pub(super) out: u64,
    /// RecoverFS.
    flight: u64,
    /// Ends when more than this is acknowledged, where it answers a mark.
    pub(super) until: u64,
}

impl Prr {
    /// Whether the answer to a mark goes on when everything below `una` is acknowledged.
    pub(super) fn answers(&self, una: u64) -> bool {
        self.on && una <= self.until
    }

    /// A reduction to `window` of what was `flight` begins.
    pub(super) fn begin(window: u64, flight: u64, until: u64) -> Self {
        Self {
            on: true,
            window,
            flight: flight.max(1),
            until,
            ..Self::default()
        }
    }
}

/// What only a sender with selective acknowledgments has.
#[derive(Clone, Debug)]
pub(super) struct Selective {
    pub(super) board: Scoreboard,
    pub(super) prr: Prr,
    /// RescueRxt (RFC 6675 §5.1): no second rescue up to here; 0: undefined.
    pub(super) rescue: u64,
    pub(super) rack: Rack,
    pub(super) rate: Rate,
}

const _: () = assert!(std::mem::size_of::<Selective>() <= 416);

impl Selective {
    pub(super) fn new(cfg: &TcpConfig, start: Time) -> Self {
        Self::with(Scoreboard::new(cfg.cc.traits().needs_sack), cfg, start)
    }

    /// Anew, with the memory of the board.
    pub(super) fn reset(&mut self, cfg: &TcpConfig, start: Time) {
        let mut board = std::mem::take(&mut self.board);
        board.clear();
        *self = Self::with(board, cfg, start);
    }

    fn with(board: Scoreboard, cfg: &TcpConfig, start: Time) -> Self {
        Self {
            board,
            prr: Prr::default(),
            rescue: 0,
            rack: Rack::default(),
            rate: Rate::new(cfg.cc.traits().needs_sack, start),
        }
    }
}

impl Recovery {
    /// Up to how many bytes may be in flight.
    #[inline]
    pub(super) fn allowance(&self, cfg: &TcpConfig, cwnd: u64, at_edge: bool) -> u64 {
        match self.phase {
            Phase::Fast => cwnd
                .saturating_add_signed(self.inflation)
                .max(cfg.mss.into()),
            // RFC 3042 §2; with a scoreboard the pipe shrinks by itself.
            Phase::Open if cfg.limited_transmit && at_edge && cfg.repair != Repair::Sack => {
                cwnd + u64::from(self.dup_acks.min(2)) * u64::from(cfg.mss)
            }
            Phase::Open | Phase::Loss => cwnd,
        }
    }

    /// Whether the retransmission that leaves now was asked for; it also restarts the timer.
    pub(super) fn take_first(&mut self) -> bool {
        std::mem::take(&mut self.resend_first) | std::mem::take(&mut self.force)
    }

    pub(super) fn time_out(&mut self, max: u64) {
        *self = Self {
            recover: max,
            phase: Phase::Loss,
            ..Self::default()
        };
    }
}
