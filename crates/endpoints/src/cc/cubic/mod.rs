//! CUBIC: as RFC 9438 has it, and as Linux has it.

mod linux;
mod rfc;
#[cfg(test)]
mod rfc_tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dur, Time};

use super::{AckSample, Algorithm, Controller, LossSample, Traits};
use crate::tcp::config::TcpConfig;

pub use rfc::{BETA, C};

/// Whose CUBIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CubicAs {
    /// RFC 9438, in real numbers; HyStart++ (RFC 9406).
    Rfc,
    /// Linux: whole segments, a factor of 717/1024, Reno's estimate always with an increase of
    /// 8/15, a window that grows anew after a timeout; HyStart by delay and by trains of
    /// acknowledgments.
    Linux,
}

spillgate_core::spec! {
    /// Options of CUBIC.
    pub struct CubicSpec {
        /// Whose arithmetic and whose HyStart: `rfc` or `linux`. Default `rfc`, in the `linux`
        /// profile `linux`.
        #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
        pub by: Option<CubicAs> = None,
        /// Leaves the first slow start before it overflows a queue: by HyStart++ (RFC 9406), or
        /// Linux's HyStart with `as: linux`. Default false, in the `linux` profile true.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub hystart: Option<bool> = None,
        /// Gives up more after a second loss below the former maximum (RFC 9438 §4.7). Default
        /// true.
        pub fast_convergence: bool = true,
    }
}

/// State of CUBIC.
#[derive(Clone, Debug)]
pub struct Cubic(Kind);

spillgate_core::family! {
    #[derive(Clone, Debug)]
    running enum Kind by either;

    Rfc(rfc::Curve);
    Linux(linux::Steps);
}

impl Algorithm for Cubic {
    type Spec = CubicSpec;
    const TRAITS: Traits = Traits::MODERN;

    fn new(spec: &CubicSpec, cfg: &TcpConfig, start: Time) -> Self {
        Self(match spec.by {
            Some(CubicAs::Linux) => linux::Steps::new(spec, cfg, start).into(),
            Some(CubicAs::Rfc) | None => rfc::Curve::new(spec, cfg, start).into(),
        })
    }
}

impl Controller for Cubic {
    #[inline]
    fn cwnd(&self) -> u64 {
        either!(&self.0, c => c.cwnd())
    }

    fn ssthresh(&self) -> u64 {
        either!(&self.0, c => c.ssthresh())
    }

    fn on_ack(&mut self, ack: &AckSample) {
        either!(&mut self.0, c => c.on_ack(ack));
    }

    fn on_congestion(&mut self, loss: &LossSample) {
        either!(&mut self.0, c => c.on_congestion(loss));
    }

    fn on_restart(&mut self, now: Time, idle: Dur) {
        either!(&mut self.0, c => c.on_restart(now, idle));
    }

    fn limit(&mut self, cwnd: u64) {
        either!(&mut self.0, c => c.limit(cwnd));
    }
}
