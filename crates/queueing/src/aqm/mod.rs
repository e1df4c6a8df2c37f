//! Active queue management: verdict automata.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::Dscp;
use std::collections::BTreeMap;

/// Active queue management of a leaf.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AqmSpec {
    /// Random early detection (Floyd and Jacobson 1993).
    Red(RedSpec),
    /// Weighted RED with profiles by DSCP or precedence (Cisco IOS).
    Wred(WredSpec),
}

/// Parameters of RED.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RedSpec {
    /// Lower threshold of the average, in packets.
    pub min_th: f64,
    /// Upper threshold of the average, in packets.
    pub max_th: f64,
    /// Drop probability at `max_th`.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub max_p: f64,
    /// Weight of one sample in the average.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub weight: f64,
    /// Between `max_th` and twice that the probability rises to 1 instead of jumping (Floyd 2000).
    pub gentle: bool,
    /// Mark ECN-capable packets instead of dropping them early (RFC 3168).
    pub ecn: bool,
}

impl Default for RedSpec {
    fn default() -> Self {
        Self {
            min_th: 5.0,
            max_th: 15.0,
            max_p: 0.1,
            weight: 0.002,
            gentle: true,
            ecn: false,
        }
    }
}

/// Parameters of WRED.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WredSpec {
    /// Which field of the packet chooses its profile.
    pub by: WredBy,
    /// Exponential weighting constant n: one sample weighs 2⁻ⁿ. 1..=16, default 9.
    #[schemars(range(min = 1, max = 16))]
    pub exponential_weighting_constant: u8,
    /// Profiles by DSCP that replace the defaults.
    pub dscp: BTreeMap<Dscp, WredProfile>,
    /// Profiles by IP precedence that replace the defaults.
    pub precedence: BTreeMap<u8, WredProfile>,
    /// Mark ECN-capable packets between the thresholds instead of dropping them.
    pub ecn: bool,
}

impl Default for WredSpec {
    fn default() -> Self {
        Self {
            by: WredBy::Dscp,
            exponential_weighting_constant: 9,
            dscp: BTreeMap::new(),
            precedence: BTreeMap::new(),
            ecn: false,
        }
    }
}

/// Which field chooses a WRED profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WredBy {
    /// The DSCP (`random-detect dscp-based`).
    #[default]
    Dscp,
    /// The IP precedence (`random-detect`, `random-detect prec-based`).
    Precedence,
}

/// One WRED drop profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WredProfile {
    /// Lower threshold of the average, in packets, 1..=4096.
    #[schemars(range(min = 1, max = 4096))]
    pub min: u16,
    /// Upper threshold of the average, in packets, `min`..=4096.
    #[schemars(range(min = 1, max = 4096))]
    pub max: u16,
    /// Mark probability denominator: 1/`denominator` of the packets are dropped at `max`. Default 10.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 65536))]
    pub denominator: u32,
}

fn ten() -> u32 {
    10
}
