//! What a connection runs with: resolved, consistent, shared by its flows.

use spillgate_core::{Dur, Ecn};

use super::retry::RetrySpec;
use crate::cc::CcSpec;

/// When the receiver may hold an acknowledgment back (RFC 9293 §3.8.6.3, RFC 5681 §4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayedAck {
    /// For this long at most.
    pub timeout: Dur,
    /// An acknowledgment leaves at the latest with this many segments (2 in RFC 5681).
    pub every: u8,
}

/// Explicit congestion notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnMode {
    /// Not used.
    Off,
    /// ECT(0); the receiver repeats ECE until it sees CWR (RFC 3168).
    Classic,
    /// ECT(0); ECE mirrors CE packet by packet (RFC 8257 §3.2).
    Dctcp,
    /// ECT(0); the feedback counts marks (RFC 9768).
    Accurate,
    /// ECT(1); the feedback counts marks (RFC 9331, RFC 9768).
    L4s,
}

impl EcnMode {
    /// What the IP header of data says.
    pub(super) const fn codepoint(self) -> Ecn {
        match self {
            Self::Off => Ecn::NotEct,
            Self::Classic | Self::Dctcp | Self::Accurate => Ecn::Ect0,
            Self::L4s => Ecn::Ect1,
        }
    }

    /// Whether the feedback counts (RFC 9768).
    #[inline]
    pub const fn is_accurate(self) -> bool {
        matches!(self, Self::Accurate | Self::L4s)
    }
}

/// How losses are found and repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// Fast retransmit, then slow start from one segment (Jacobson 1988).
    Tahoe,
    /// Fast retransmit and fast recovery until the first new acknowledgment (RFC 5681 §3.2).
    Reno,
    /// Fast recovery through partial acknowledgments (RFC 6582).
    NewReno,
    /// Scoreboard and pipe (RFC 6675).
    Sack,
}

/// What half of is the slow start threshold after a loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LossBase {
    /// Outstanding data (RFC 5681 §3.1, equation 4).
    #[default]
    Flight,
    /// The smaller of congestion and receive window, as ns-2 does.
    Window,
}

/// What the minimum retransmission timeout bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RtoFloor {
    /// The timeout (RFC 6298 §2.4).
    Timeout,
    /// Its variance term, so the timeout is SRTT and the minimum at least, as Linux does.
    Variance,
}

/// Parameters of a connection; [`super::TcpSpec::resolve`] makes consistent ones.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpConfig {
    /// Congestion control.
    pub cc: CcSpec,
    /// Loss repair.
    pub repair: Repair,
    /// Payload of a full segment in bytes.
    pub mss: u16,
    /// Initial window in segments.
    pub initial_window: u32,
    /// Receive window in bytes; also bounds what is outstanding.
    pub max_window: u64,
    /// Delayed acknowledgments; none: every segment is acknowledged at once.
    pub delayed_ack: Option<DelayedAck>,
    /// So many acknowledgments are not delayed at the start, and after a silence of `min_rto`.
    pub quick_acks: u8,
    /// Selective acknowledgments (RFC 2018), with D-SACK (RFC 2883).
    pub sack: bool,
    /// Round-trip times from timestamps (RFC 7323) instead of one timed segment.
    pub timestamps: bool,
    /// Explicit congestion notification: what the sender asks for.
    pub ecn: EcnMode,
    /// What the receiver supports.
    pub peer_ecn: EcnMode,
    /// Whether acknowledgments carry the AccECN option.
    pub ecn_option: bool,
    /// Smallest retransmission timeout.
    pub min_rto: Dur,
    /// What the minimum bounds.
    pub rto_floor: RtoFloor,
    /// Clock granularity G of the timeout; measurements are rounded to it.
    pub rto_granularity: Dur,
    /// Timeout before the first measurement.
    pub initial_rto: Dur,
    /// Largest timeout of a row that doubles, and of what measurements give.
    pub max_rto: Dur,
    /// How timeouts in a row follow one another.
    pub retry: RetrySpec,
    /// Duplicate acknowledgments that mean a loss (3 in RFC 5681).
    pub dup_thresh: u32,
    /// Limited transmit (RFC 3042).
    pub limited_transmit: bool,
    /// Proportional rate reduction (RFC 6937).
    pub prr: bool,
    /// Time-based loss detection and tail loss probes (RFC 8985).
    pub rack_tlp: bool,
    /// Segments are spaced at a rate instead of sent in bursts.
    pub pacing: bool,
    /// What may leave waits for a random time up to this: that of a host's work, which no two
    /// packets find alike (`overhead_` of ns-2). Zero: it leaves at once.
    pub send_jitter: Dur,
    /// SYN and SYN-ACK before data.
    pub handshake: bool,
    /// Retransmissions of SYN before the connection fails; [`u32::MAX`]: it never does.
    pub syn_retries: u32,
    /// Timeouts in a row for one segment before the connection fails (R2, RFC 9293 §3.8.3);
    /// [`u32::MAX`]: it never does.
    pub retries: u32,
    /// Segments by which one acknowledgment may open the window, in bytes
    /// acknowledged (RFC 3465); 0: one increment per acknowledgment, whatever it covers.
    pub abc_limit: u8,
    /// Linux's rules where they are others than those of the RFCs: windows are whole segments, slow
    /// start has no bound per acknowledgment, and what ends a recovery lets the window grow;
    /// reductions start from the window, also those for marks, in proportion (with `prr`), rounded
    /// up to segments; selective acknowledgments of what was sent before the first outstanding
    /// segment restart the timer, and so does sending that again; the last segment of what was
    /// written asks for an acknowledgment.
    pub linux: bool,
    /// What a loss halves.
    pub loss_base: LossBase,
    /// How many segments a mark leaves of the window at least: 1, and at one the next mark stops
    /// the sender until its timer expires (RFC 3168 §6.1.2, RFC 9438 §4.6); Linux has 2.
    pub mark_floor: u8,
    /// Reno retransmits fast only once per window, as ns-2 does (`bug_fix_`); otherwise again,
    /// halving again, whenever three duplicates follow a partial acknowledgment (RFC 5681 §3.2).
    pub reno_once: bool,
    /// In NewReno only the first partial acknowledgment restarts the timer
    /// ("impatient", RFC 6582 §4); otherwise each does.
    pub impatient: bool,
    /// On leaving NewReno's recovery the window is at most one segment above what is
    /// outstanding (RFC 6582 §3.2 step 3 option 1); otherwise the threshold (option 2).
    pub cautious_exit: bool,
    /// After a silence of one timeout the window is at most the initial one (RFC 5681 §4.1).
    pub idle_restart: bool,
    /// Whether TCP options count in the length of packets.
    pub count_options: bool,
}

impl TcpConfig {
    /// Bytes of the IP packet of a full segment: headers, timestamps where the profile counts
    /// options, and payload.
    pub fn longest_packet(&self) -> u16 {
        let options = if self.count_options && self.timestamps {
            12 // RFC 7323 appendix A
        } else {
            0
        };
        self.mss.saturating_add(40 + options)
    }

    /// Whether a receiver ever waits: to send a delayed acknowledgment, or SYN-ACK once more.
    /// Without, [`super::Receiver::poll_timeout`] is none at all times.
    pub fn receiver_waits(&self) -> bool {
        self.handshake || self.delayed_ack.is_some()
    }

    /// What both ends use where no handshake negotiates.
    pub(super) fn agreed(&self) -> EcnMode {
        match (self.ecn, self.peer_ecn) {
            (EcnMode::Off, _) | (_, EcnMode::Off) => EcnMode::Off,
            (own, peer) if own == peer => own,
            _ => EcnMode::Classic,
        }
    }

    /// Whether both ends do without a scoreboard, ECN, pacing and jitter, and windows fit 32 bits:
    /// then most segments can take a [shortcut](super::predicted).
    pub(super) fn is_plain(&self) -> bool {
        !self.sack
            && self.ecn == EcnMode::Off
            && !self.pacing
            && self.send_jitter.is_zero()
            && u32::try_from(self.max_window).is_ok()
    }

    /// How long to wait for an answer after `row` attempts, one or more, of which the first
    /// waited for `first`.
    pub(super) fn after_silence(&self, first: Dur, row: u32) -> Dur {
        match self.retry {
            RetrySpec::Constant(period) => period,
            RetrySpec::Exponential => {
                let most = self.max_rto.max(first).as_ps();
                let doubled = u128::from(first.as_ps()) << row.min(32);
                Dur::from_ps(doubled.min(most.into()) as u64)
            }
        }
    }
}
