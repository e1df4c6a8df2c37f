//! Loss detection and repair: duplicate acknowledgments (RFC 5681, RFC 6582),
//! the scoreboard (RFC 6675), proportional rate reduction (RFC 6937), and time
//! (RFC 8985).

mod duplicates;
mod rack;
mod selective;

pub(super) use rack::Rack;

use super::config::{Repair, TcpConfig};

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
    /// Window under proportional rate reduction.
    prr_window: u64,
    prr_delivered: u64,
    prr_out: u64,
    /// RecoverFS (RFC 6937 §3).
    prr_flight: u64,
    pub(super) dup_acks: u32,
    pub(super) partials: u32,
    pub(super) phase: Phase,
    /// The segment at `una` is to be sent again.
    pub(super) resend_first: bool,
    /// One retransmission leaves whatever the window says.
    pub(super) force: bool,
    prr: bool,
}

impl Recovery {
    /// Up to how many bytes may be in flight.
    pub(super) fn allowance(&self, cfg: &TcpConfig, cwnd: u64, at_edge: bool) -> u64 {
        match self.phase {
            Phase::Fast if self.prr => self.prr_window,
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

    /// `bytes` left.
    pub(super) fn sent(&mut self, bytes: u64) {
        self.force = false;
        if self.prr {
            self.prr_out += bytes;
        }
    }

    pub(super) fn time_out(&mut self, max: u64) {
        *self = Self {
            recover: max,
            phase: Phase::Loss,
            ..Self::default()
        };
    }
}
