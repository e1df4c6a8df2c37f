//! The congestion control algorithms, a line each; what is larger than a window is boxed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dur, Problem, Time};

use super::{
    AckSample, Algorithm, BbrSpec, Controller, CubicAs, CubicSpec, DctcpSpec, LossSample,
    NewRenoSpec, PragueSpec, RenoSpec, TahoeSpec, Traits, Window,
};
use super::{bbr, cubic, dctcp, newreno, prague, reno, tahoe};
use crate::tcp::config::{EcnMode, TcpConfig};

spillgate_core::family! {
    /// A congestion control algorithm and its parameters: `cubic`, or `{cubic: {hystart: true}}`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    pub written enum CcSpec by spec;
    /// A running algorithm.
    #[derive(Clone, Debug)]
    pub running enum Congestion by each;

    /// Jacobson's Tahoe: slow start after every loss.
    "tahoe": Tahoe(TahoeSpec) => tahoe::Tahoe;
    /// Reno: fast recovery until the first new acknowledgment (RFC 5681).
    "reno": Reno(RenoSpec) => reno::Reno;
    /// NewReno: fast recovery through partial acknowledgments (RFC 6582), or SACK (RFC 6675).
    "newreno": NewReno(NewRenoSpec) => newreno::NewReno;
    /// CUBIC: a cubic function of time, with HyStart++ as an option (RFC 9438, RFC 9406).
    "cubic": Cubic(CubicSpec) => Box<cubic::Cubic>;
    /// DCTCP: reduction in proportion to the share of marks (RFC 8257).
    "dctcp": Dctcp(DctcpSpec) => Box<dctcp::Dctcp>;
    /// BBR version 1: paced at the measured bottleneck rate.
    "bbr": Bbr(BbrSpec) => Box<bbr::Bbr>;
    /// TCP Prague: a scalable sender for L4S (RFC 9331), paced, with accurate feedback.
    "prague": Prague(PragueSpec) => Box<prague::Prague>;
}

impl CcSpec {
    pub(crate) fn traits(&self) -> Traits {
        spec!(self, _s: C => C::TRAITS)
    }

    /// Whether it looks for classic AQMs.
    pub fn detects_classic(&self) -> bool {
        matches!(self, Self::Prague(spec) if spec.classic_ecn_fallback)
    }

    /// Whether it answers marks in proportion to their share.
    pub(crate) fn is_scalable(&self) -> bool {
        self.traits().ecn != EcnMode::Off
    }
}

impl Congestion {
    /// The algorithm of `cfg` before the first segment.
    pub fn new(cfg: &TcpConfig, start: Time) -> Self {
        spec!(&cfg.cc, s: C => <C as Algorithm>::new(s, cfg, start).into())
    }

    /// Back to what [`Congestion::new`] makes with the same `cfg`, in the same memory.
    pub(crate) fn reset(&mut self, cfg: &TcpConfig, start: Time) {
        spec!(&cfg.cc, s: C => match <&mut C>::try_from(&mut *self) {
            Ok(same) => same.reset(s, cfg, start),
            Err(()) => *self = Self::new(cfg, start),
        });
    }

    /// See [`Controller::cwnd`].
    #[inline]
    pub fn cwnd(&self) -> u64 {
        each!(self, c => c.cwnd())
    }

    /// See [`Controller::on_ack`].
    #[inline]
    pub fn on_ack(&mut self, ack: &AckSample) {
        each!(self, c => c.on_ack(ack));
    }

    /// See [`Controller::ssthresh`].
    #[inline]
    pub fn ssthresh(&self) -> u64 {
        each!(self, c => c.ssthresh())
    }

    /// See [`Controller::on_congestion`].
    pub fn on_congestion(&mut self, loss: &LossSample) {
        each!(self, c => c.on_congestion(loss));
    }

    /// See [`Controller::on_recovered`].
    pub fn on_recovered(&mut self, now: Time, in_flight: u64) {
        each!(self, c => c.on_recovered(now, in_flight));
    }

    /// See [`Controller::on_restart`].
    pub fn on_restart(&mut self, now: Time, idle: Dur) {
        each!(self, c => c.on_restart(now, idle));
    }

    /// See [`Controller::limit`].
    pub fn limit(&mut self, cwnd: u64) {
        each!(self, c => c.limit(cwnd));
    }

    /// See [`Controller::answers_mark`].
    pub(crate) fn answers_mark(&self, now: Time) -> bool {
        each!(self, c => c.answers_mark(now))
    }

    /// See [`Controller::fall_back`].
    pub(crate) fn fall_back(&mut self) {
        each!(self, c => c.fall_back());
    }

    /// See [`Controller::classic_ecn`].
    pub fn classic_ecn(&self) -> Option<f64> {
        each!(self, c => c.classic_ecn())
    }

    /// See [`Controller::window`].
    #[inline]
    pub(crate) fn window(&mut self) -> Option<&mut Window> {
        each!(self, c => c.window())
    }

    /// See [`Controller::pacing_rate`].
    #[inline]
    pub fn pacing_rate(&self) -> Option<f64> {
        each!(self, c => c.pacing_rate())
    }
}

impl CcSpec {
    /// Checks ranges that a type does not hold.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        match self {
            Self::Prague(prague) => prague.check(),
            _ => Ok(()),
        }
    }

    /// What a profile gives to the options that are not written.
    pub(crate) fn fill_in(&mut self, linux: bool) {
        if let Self::Cubic(c) = self {
            c.by =
                c.by.or(Some(if linux { CubicAs::Linux } else { CubicAs::Rfc }));
            c.hystart = c.hystart.or(Some(linux));
        }
    }
}

const _: () = assert!(std::mem::size_of::<Congestion>() <= 48);

impl Congestion {
    /// What stands where another was taken out: no memory, no use.
    pub(crate) fn vacant() -> Self {
        Self::NewReno(newreno::NewReno::default())
    }
}
