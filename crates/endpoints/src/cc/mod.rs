//! Congestion control: how large a window (or how high a rate) a sender may use.
//!
//! A [`Controller`] sees samples and owns a window in bytes; it never sees
//! segments. What is lost and what is sent again is decided in [`crate::tcp`].
//! A new algorithm is one file and one line in the registry.

mod alpha;
mod bbr;
mod classic;
pub mod cubic;
mod dctcp;
mod hystart;
mod hystart_linux;
mod newreno;
mod prague;
mod registry;
mod reno;
mod tahoe;
mod window;

use spillgate_core::{Dur, Time};

pub use bbr::BbrSpec;
pub use cubic::{CubicAs, CubicSpec};
pub use dctcp::DctcpSpec;
pub use newreno::NewRenoSpec;
pub use prague::PragueSpec;
pub use registry::{CcSpec, Congestion};
pub use reno::RenoSpec;
pub use tahoe::TahoeSpec;

use crate::tcp::config::{EcnMode, Repair, TcpConfig};
pub use window::Window;
pub(crate) use window::is_limited;

/// What one acknowledgment told.
#[derive(Clone, Copy, Debug)]
pub struct AckSample {
    /// When it arrived.
    pub now: Time,
    /// Bytes newly acknowledged cumulatively.
    pub acked: u64,
    /// Bytes newly delivered: cumulatively or selectively acknowledged.
    pub delivered: u64,
    /// Of these, bytes reported as marked (DCTCP, L4S).
    pub marked: u64,
    /// Whether the acknowledgment carried ECE.
    pub ece: bool,
    /// Bytes outstanding before it.
    pub prior_in_flight: u64,
    /// Bytes outstanding after it.
    pub in_flight: u64,
    /// Next byte expected by the receiver.
    pub una: u64,
    /// Next new byte to be sent.
    pub nxt: u64,
    /// Round-trip time measured, if any.
    pub rtt: Option<Dur>,
    /// Smoothed round-trip time, if any yet.
    pub srtt: Option<Dur>,
    /// Smallest round-trip time so far; [`Dur::MAX`] before the first.
    pub min_rtt: Dur,
    /// Whether the window, not the application or the receiver, bounded what was outstanding.
    pub cwnd_limited: bool,
    /// Whether a loss or a mark is being recovered from, so that the window must not grow.
    pub in_recovery: bool,
    /// Whether segments are spaced.
    pub paced: bool,
    /// Delivery rate, for those who ask for it.
    pub rate: Option<RateSample>,
}

/// A delivery rate (draft-cheng-iccrg-delivery-rate-estimation §3).
#[derive(Clone, Copy, Debug)]
pub struct RateSample {
    /// Bytes per second.
    pub rate: f64,
    /// Bytes delivered when the newest acknowledged segment was sent.
    pub prior_delivered: u64,
    /// Bytes delivered now.
    pub delivered: u64,
    /// Whether the application left a gap while it was taken.
    pub app_limited: bool,
}

/// Why the window must shrink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Loss found by duplicate acknowledgments, SACK or RACK.
    Loss,
    /// ECN echo (RFC 3168 §6.1.2).
    Mark,
    /// The retransmission timer expired for this data for the first time.
    Timeout,
    /// It expired again: the threshold stays (RFC 5681 §3.1).
    TimeoutAgain,
}

/// A congestion event.
#[derive(Clone, Copy, Debug)]
pub struct LossSample {
    /// When it was found.
    pub now: Time,
    /// What it was.
    pub cause: Cause,
    /// Bytes outstanding, without those that limited transmit added.
    pub in_flight: u64,
    /// Bytes acknowledged by the acknowledgment that told, if any.
    pub delivered: u64,
    /// Next new byte to be sent.
    pub nxt: u64,
    /// Receive window in bytes.
    pub peer_window: u64,
}

/// What resolving a specification needs to know of an algorithm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traits {
    /// Its own loss repair, without SACK; none: NewReno or SACK.
    pub(crate) repair: Option<Repair>,
    /// SACK unless the user says otherwise.
    pub(crate) sack: bool,
    /// It cannot do without SACK.
    pub(crate) needs_sack: bool,
    /// ECN unless the user says otherwise.
    pub(crate) ecn: EcnMode,
    /// Paced unless the user says otherwise.
    pub(crate) paced: bool,
    /// It sets a rate and its own window in recovery.
    pub(crate) paces_itself: bool,
}

impl Traits {
    /// SACK, no ECN, no pacing.
    pub(crate) const MODERN: Self = Self {
        repair: None,
        sack: true,
        needs_sack: false,
        ecn: EcnMode::Off,
        paced: false,
        paces_itself: false,
    };
}

/// What an algorithm is made of.
pub(crate) trait Algorithm: Sized {
    /// Its parameters.
    type Spec;
    /// What it needs.
    const TRAITS: Traits;
    /// The state before the first segment.
    fn new(spec: &Self::Spec, cfg: &TcpConfig, start: Time) -> Self;
    /// Back to the state before the first segment; what has memory of its own keeps it.
    fn reset(&mut self, spec: &Self::Spec, cfg: &TcpConfig, start: Time) {
        *self = Self::new(spec, cfg, start);
    }
}

impl<C: Algorithm> Algorithm for Box<C> {
    type Spec = C::Spec;
    const TRAITS: Traits = C::TRAITS;

    fn new(spec: &C::Spec, cfg: &TcpConfig, start: Time) -> Self {
        Self::new(C::new(spec, cfg, start))
    }

    fn reset(&mut self, spec: &C::Spec, cfg: &TcpConfig, start: Time) {
        **self = C::new(spec, cfg, start);
    }
}

/// A congestion control algorithm. All windows are bytes.
pub trait Controller {
    /// Congestion window.
    fn cwnd(&self) -> u64;
    /// Slow start threshold; [`u64::MAX`] before the first loss.
    fn ssthresh(&self) -> u64;
    /// An acknowledgment of new data, or a duplicate one with news.
    fn on_ack(&mut self, ack: &AckSample);
    /// Congestion: sets threshold and window.
    fn on_congestion(&mut self, loss: &LossSample);
    /// Recovery from a loss or a timeout ended; `in_flight` bytes are outstanding.
    fn on_recovered(&mut self, _now: Time, _in_flight: u64) {}
    /// A segment leaves though nothing is outstanding; `idle` after the last one did.
    fn on_restart(&mut self, _now: Time, _idle: Dur) {}
    /// The window shall be at most this (idle restart, careful exit from recovery, lost SYN).
    fn limit(&mut self, cwnd: u64);
    /// Whether a mark is answered now, apart from once a window at most.
    fn answers_mark(&self, _now: Time) -> bool {
        true
    }
    /// The peer or the path has no feedback by which marks can be answered in proportion: they are
    /// answered as losses from now on.
    fn fall_back(&mut self) {}
    /// How sure it is that a classic AQM marks its packets, if it looks for one: 0 to 8 not, from 9
    /// to 17.
    fn classic_ecn(&self) -> Option<f64> {
        None
    }
    /// Bytes per second at which segments leave, if the algorithm sets a rate.
    fn pacing_rate(&self) -> Option<f64> {
        None
    }
    /// The window, if an acknowledgment of new data does nothing but to let it grow.
    #[inline]
    fn window(&mut self) -> Option<&mut Window> {
        None
    }
}
