//! The congestion control algorithms, one line each; what is larger than a window is boxed.

use spillgate_core::{Dur, Time};

use super::{
    AckSample, BbrSpec, Controller, CubicAs, CubicSpec, DctcpSpec, LossSample, NewRenoSpec,
    PragueSpec, RenoSpec, TahoeSpec, Traits, Window,
};
use super::{bbr, cubic, dctcp, newreno, prague, reno, tahoe};
use crate::tcp::config::TcpConfig;
use spillgate_core::Problem;

/// From one line per algorithm: the spec enum, the runtime enum, the dispatch and the list of
/// kinds.
macro_rules! algorithms {
    ($($kind:literal: $variant:ident($spec:ty) = $module:ident, $model:ty, $summary:literal;)+) => {
        /// A congestion control algorithm and its parameters: `cubic`, or
        /// `{cubic: {hystart: true}}`.
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum CcSpec {
            $(
                #[doc = concat!($summary, ".")]
                #[serde(rename = $kind)]
                $variant($spec),
            )+
        }

        /// Every algorithm: its name in scenarios and a summary of one line.
        pub const KINDS: &[(&str, &str)] = &[$(($kind, $summary)),+];

        /// A running algorithm.
        #[derive(Clone, Debug)]
        pub enum Congestion {
            $(
                #[doc = concat!($summary, ".")]
                $variant($model),
            )+
        }

        impl CcSpec {
            /// The name in scenarios, one of [`KINDS`].
            pub fn kind(&self) -> &'static str {
                match self { $(Self::$variant(_) => $kind,)+ }
            }

            /// Checks the parameters.
            ///
            /// # Errors
            /// The first value out of range, with its path below `cc`.
            pub fn check(&self) -> Result<(), Problem> {
                match self { $(Self::$variant(s) => s.check(),)+ }.map_err(|p| p.under(self.kind()))
            }

            pub(crate) fn traits(&self) -> Traits {
                match self { $(Self::$variant(_) => $module::TRAITS,)+ }
            }
        }

        impl Congestion {
            /// The algorithm of `cfg` before the first segment.
            pub fn new(cfg: &TcpConfig, start: Time) -> Self {
                match &cfg.cc { $(CcSpec::$variant(s) => Self::$variant(Controller::new(s, cfg, start)),)+ }
            }

            /// Back to what [`Congestion::new`] makes with the same `cfg`, in the same memory.
            pub(crate) fn reset(&mut self, cfg: &TcpConfig, start: Time) {
                match (self, &cfg.cc) {
                    $((Self::$variant(c), CcSpec::$variant(s)) => c.reset(s, cfg, start),)+
                    (other, _) => *other = Self::new(cfg, start),
                }
            }

            /// Congestion window in bytes.
            #[inline]
            pub fn cwnd(&self) -> u64 {
                match self { $(Self::$variant(c) => c.cwnd(),)+ }
            }

            /// Slow start threshold in bytes; [`u64::MAX`] before the first loss.
            pub fn ssthresh(&self) -> u64 {
                match self { $(Self::$variant(c) => c.ssthresh(),)+ }
            }

            /// See [`Controller::on_ack`].
            #[inline]
            pub fn on_ack(&mut self, ack: &AckSample) {
                match self { $(Self::$variant(c) => c.on_ack(ack),)+ }
            }

            /// See [`Controller::on_congestion`].
            pub fn on_congestion(&mut self, loss: &LossSample) {
                match self { $(Self::$variant(c) => c.on_congestion(loss),)+ }
            }

            /// See [`Controller::on_recovered`].
            pub fn on_recovered(&mut self, now: Time, in_flight: u64) {
                match self { $(Self::$variant(c) => c.on_recovered(now, in_flight),)+ }
            }

            /// See [`Controller::on_restart`].
            pub fn on_restart(&mut self, now: Time, idle: Dur) {
                match self { $(Self::$variant(c) => c.on_restart(now, idle),)+ }
            }

            /// See [`Controller::limit`].
            pub fn limit(&mut self, cwnd: u64) {
                match self { $(Self::$variant(c) => c.limit(cwnd),)+ }
            }

            /// See [`Controller::window`].
            #[inline]
            pub(crate) fn window(&mut self) -> Option<&mut Window> {
                match self { $(Self::$variant(c) => c.window(),)+ }
            }

            /// See [`Controller::pacing_rate`].
            #[inline]
            pub fn pacing_rate(&self) -> Option<f64> {
                match self { $(Self::$variant(c) => c.pacing_rate(),)+ }
            }
        }
    };
}

algorithms! {
    "tahoe": Tahoe(TahoeSpec) = tahoe, tahoe::Tahoe, "Jacobson's Tahoe: slow start after every loss";
    "reno": Reno(RenoSpec) = reno, reno::Reno, "Reno: fast recovery until the first new acknowledgment (RFC 5681)";
    "newreno": NewReno(NewRenoSpec) = newreno, newreno::NewReno, "NewReno: fast recovery through partial acknowledgments (RFC 6582), or SACK (RFC 6675)";
    "cubic": Cubic(CubicSpec) = cubic, Box<cubic::Cubic>, "CUBIC: a cubic function of time, with HyStart++ as an option (RFC 9438, RFC 9406)";
    "dctcp": Dctcp(DctcpSpec) = dctcp, Box<dctcp::Dctcp>, "DCTCP: reduction in proportion to the share of marks (RFC 8257)";
    "bbr": Bbr(BbrSpec) = bbr, Box<bbr::Bbr>, "BBR version 1: paced at the measured bottleneck rate";
    "prague": Prague(PragueSpec) = prague, Box<prague::Prague>, "Scalable sender for L4S in the manner of TCP Prague (RFC 9331)";
}

impl CcSpec {
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
