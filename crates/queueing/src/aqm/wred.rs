//! Weighted RED as Cisco routers have it.
//!
//! Source: Cisco IOS QoS configuration guide, "Weighted Random Early
//! Detection"; defaults as `show policy-map interface` prints them: 20 to 40 packets on IOS,
//! 20,000 to 40,000 B where it counts bytes; on IOS XE (8 + p)/32 of the queue limit for
//! precedence p, and half of it (limits of 62,500 B, 375,000 B and 562,500 B in the outputs that
//! the parser tests of github.com/CiscoTestAutomation/genieparser hold, `ShowPolicyMapInterface`).
//!
//! Idea: one queue, one average, many drop profiles; the packet's DSCP or
//! precedence chooses its profile. Below the profile's minimum the packet
//! passes, from the maximum on it is dropped, between them it is dropped with a
//! probability that rises linearly to 1/denominator.
//!
//! Deviations: the gaps between drops are not spread, as Cisco documents none;
//! idle periods decay as in RED, since Cisco does not publish its rule. Staggered defaults are no
//! router's: drop precedences apart as in and out are in RIO (D. Clark and W. Fang, 1998, section
//! III.C), smoothed as RFC 2597 section 4 asks, so fast that what is out of profile leaves room.
//! Cost: O(1), one draw between the thresholds.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dscp, Dur, Limit, Packet, Problem, Rate};

use super::curve::RedCurve;
use super::early::{Early, Law, early_spec};
use super::red_spec::RedRules;
use super::wred_defaults::WredDefaults;
use super::{Average, AverageParams, LeafFacts, is_default};
use crate::Thresholds;
use crate::recipe::At;

/// The length for which a packet counts in a limit in packets, where thresholds are in bytes.
const FULL: u64 = 1500;

early_spec! {
    /// Parameters of WRED.
    pub struct WredSpec {
        /// Which field of the packet chooses its profile.
        pub by: WredBy = WredBy::Dscp,
        /// What the average queue and all thresholds count. Default packets.
        #[serde(skip_serializing_if = "is_default")]
        pub unit: WredUnit = WredUnit::Packets,
        /// The default thresholds, where no profile gives any. Default `ios`.
        #[serde(skip_serializing_if = "is_default")]
        pub defaults: WredDefaults = WredDefaults::Ios,
        /// Exponential weighting constant n: one sample weighs 2⁻ⁿ. 1..=16. Default 9; with
        /// `defaults: staggered` the largest up to 9 whose 2ⁿ packets are no more than a quarter
        /// of the queue's limit.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1, max = 16))]
        pub exponential_weighting_constant: Option<u8> = None,
        /// Profiles by DSCP that replace the defaults (with `by: dscp`). The defaults of IOS have
        /// maximum 40, denominator 10, and minimum 32 / 28 / 24 for drop precedence 1 / 2 / 3 of
        /// assured forwarding, 36 for EF, 22, 24 .. 34 for CS1 .. CS7, and 20 for all others.
        pub dscp: BTreeMap<Dscp, WredProfile> = BTreeMap::new(),
        /// Profiles by IP precedence that replace the defaults (with `by: precedence`). The
        /// defaults of IOS have maximum 40, denominator 10, and minimum 20, 22, 24, 26, 28, 31,
        /// 33, 35.
        pub precedence: BTreeMap<u8, WredProfile> = BTreeMap::new(),
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

/// What WRED counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WredUnit {
    /// Waiting packets.
    #[default]
    Packets,
    /// Waiting bytes.
    Bytes,
    /// Waiting bytes, as the milliseconds that the rate which the queue is guaranteed takes for
    /// them.
    Ms,
}

impl WredUnit {
    /// The symbol of the unit, to be shown.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Packets => "packets",
            Self::Bytes => "B",
            Self::Ms => "ms",
        }
    }

    /// Whether bytes are counted, as for times.
    pub fn in_bytes(self) -> bool {
        self != Self::Packets
    }
}

/// One WRED drop profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WredProfile {
    /// Lower threshold of the average, in `unit`, at least 1, at most 4096 packets or 10000 ms.
    #[schemars(range(min = 1))]
    pub min: u32,
    /// Upper threshold of the average, in `unit`, at least `min`, at most 4096 packets or 10000 ms.
    #[schemars(range(min = 1))]
    pub max: u32,
    /// Mark probability denominator: 1/`denominator` of the packets are dropped at `max`. Default
    /// 10.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 65536))]
    pub denominator: u32,
}

fn ten() -> u32 {
    10
}

/// A limit in packets of full size.
fn in_packets(limit: Limit, rate: Rate) -> u64 {
    match limit {
        Limit::Packets(n) => n.into(),
        Limit::Bytes(n) => n / FULL,
        Limit::Time(d) => rate.bytes_in(d) / FULL,
    }
}

/// The longest threshold in time.
const MOST_MS: u32 = 10_000;

/// The bytes that `rate` takes so many milliseconds for, at least 1.
fn bytes_at(ms: u32, rate: Rate) -> u64 {
    rate.bytes_in(Dur::from_ms(ms.into())).max(1)
}

impl WredProfile {
    /// A profile in milliseconds at `rate`, in bytes.
    fn in_bytes_at(self, rate: Rate) -> Self {
        let bytes = |ms| u32::try_from(bytes_at(ms, rate)).unwrap_or(u32::MAX);
        Self {
            min: bytes(self.min),
            max: bytes(self.max),
            ..self
        }
    }
}

impl WredSpec {
    /// The exponential weighting constant in force in a queue with this limit; times are converted
    /// at `rate`.
    ///
    /// The average lags behind a queue that grows by a packet at each arrival by 2ⁿ − 1 packets at
    /// most: with e the lag and w = 2⁻ⁿ, e' ≤ (1 − w)(e + 1). Until the average is at the upper
    /// threshold of drop precedence 2, half of the limit, the queue is shorter than that and 2ⁿ
    /// together: with 2ⁿ no more than a quarter of the limit, the last quarter is left to what is
    /// in profile.
    pub fn weighting_constant(&self, limit: Limit, rate: Rate) -> u8 {
        const USUAL: u8 = 9;
        self.exponential_weighting_constant
            .unwrap_or_else(|| match self.defaults {
                WredDefaults::Ios | WredDefaults::IosXe => USUAL,
                WredDefaults::Staggered => {
                    let quarter = (in_packets(limit, rate) / 4).max(2);
                    USUAL.min(quarter.ilog2() as u8)
                }
            })
    }

    /// The profile in force for a DSCP in a queue with this limit, in packets or bytes: the active
    /// table of a router. Times are converted at `rate`.
    pub fn profile(&self, dscp: Dscp, limit: Limit, rate: Rate) -> WredProfile {
        let written = match self.by {
            WredBy::Dscp => self.dscp.get(&dscp),
            WredBy::Precedence => self.precedence.get(&dscp.precedence()),
        };
        let in_bytes = self.unit.in_bytes();
        if let Some(profile) = written {
            return match self.unit {
                WredUnit::Packets | WredUnit::Bytes => *profile,
                WredUnit::Ms => profile.in_bytes_at(rate),
            };
        }
        let counted = || match (in_bytes, limit) {
            (true, Limit::Packets(n)) => u64::from(n) * FULL,
            (true, Limit::Bytes(n)) => n,
            (true, Limit::Time(d)) => rate.bytes_in(d),
            (false, _) => in_packets(limit, rate),
        };
        match self.defaults {
            WredDefaults::IosXe => WredProfile::share_of(counted(), self.by, dscp),
            WredDefaults::Staggered => WredProfile::staggered(counted(), dscp),
            WredDefaults::Ios => {
                let packets = match self.by {
                    WredBy::Dscp => WredProfile::default_for_dscp(dscp),
                    WredBy::Precedence => WredProfile::default_for_precedence(dscp.precedence()),
                };
                let each = if in_bytes { 1000 } else { 1 };
                WredProfile {
                    min: packets.min * each,
                    max: packets.max * each,
                    ..packets
                }
            }
        }
    }

    /// The thresholds of every DSCP; DSCPs with the same thresholds are listed together.
    pub(super) fn thresholds(&self, limit: Limit, rate: Rate) -> Vec<Thresholds> {
        let mut all: Vec<Thresholds> = Vec::new();
        for dscp in (0..64).filter_map(Dscp::new) {
            let p = self.profile(dscp, limit, rate);
            let one = Thresholds {
                min: p.min.into(),
                max: p.max.into(),
                in_bytes: self.unit.in_bytes(),
                probability: 1.0 / f64::from(p.denominator),
                written: match self.by {
                    WredBy::Dscp => self.dscp.contains_key(&dscp),
                    WredBy::Precedence => self.precedence.contains_key(&dscp.precedence()),
                },
                ..Thresholds::default()
            };
            let alike = |t: &&mut Thresholds| {
                (t.min, t.max, t.probability, t.written)
                    == (one.min, one.max, one.probability, one.written)
            };
            match all.iter_mut().find(alike) {
                Some(t) => t.dscp.push(dscp),
                None => all.push(Thresholds {
                    dscp: vec![dscp],
                    ..one
                }),
            }
        }
        all
    }

    pub(super) fn resolve(
        &self,
        at: &mut At<'_>,
        leaf: &LeafFacts,
    ) -> Result<Early<Wred>, Problem> {
        let n = self.weighting_constant(leaf.limit, leaf.rate);
        at.check(
            (1..=16).contains(&n),
            "exponential_weighting_constant",
            n,
            "it must be between 1 and 16",
            "the default is 9",
        )?;
        let weight = 1.0 / f64::from(1_u32 << n);
        let average = AverageParams::checked(at, leaf, weight, self.mean_packet, self.idle)?;
        at.check(
            self.by == WredBy::Dscp || self.dscp.is_empty(),
            "dscp",
            format!("{} profiles", self.dscp.len()),
            "profiles by DSCP have no effect with `by: precedence`",
            "set `by: dscp`, or write the profiles under `precedence`",
        )?;
        at.check(
            self.by == WredBy::Precedence || self.precedence.is_empty(),
            "precedence",
            format!("{} profiles", self.precedence.len()),
            "profiles by precedence have no effect with `by: dscp`",
            "set `by: precedence`, or write the profiles under `dscp`",
        )?;
        at.check(
            self.by == WredBy::Dscp || self.defaults != WredDefaults::Staggered,
            "defaults",
            "staggered",
            "drop precedences are told by the DSCP: all of an assured class have one IP precedence",
            "set `by: dscp`, or other `defaults`",
        )?;
        for (dscp, profile) in &self.dscp {
            check(at, &format!("dscp.{dscp}"), profile, self.unit, leaf)?;
        }
        for (precedence, profile) in &self.precedence {
            let key = format!("precedence.{precedence}");
            at.check(
                *precedence <= 7,
                &key,
                precedence,
                "an IP precedence is between 0 and 7",
                "write 0 to 7",
            )?;
            check(at, &key, profile, self.unit, leaf)?;
        }
        let whatever = self.defaults == WredDefaults::Ios && self.unit == WredUnit::Packets;
        let below = leaf.max_packets.filter(|l| *l < 40 && whatever);
        if let Some(limit) = below {
            // Only if some default profile is in force.
            let all = match self.by {
                WredBy::Dscp => self.dscp.len() == 64,
                WredBy::Precedence => self.precedence.len() == 8,
            };
            if !all {
                at.warn(format!(
                    "the default profiles' maximum of 40 packets is above the queue limit of {limit}: tail drop comes first"
                ));
            }
        }
        let curves = std::array::from_fn(|d| {
            let dscp = Dscp::new(d as u8).unwrap_or_default();
            let p = self.profile(dscp, leaf.limit, leaf.rate);
            RedCurve {
                min_th: p.min.into(),
                max_th: p.max.into(),
                max_p: 1.0 / f64::from(p.denominator),
            }
        });
        let law = Wred {
            curves: Arc::new(curves),
            in_bytes: self.unit.in_bytes(),
        };
        Ok(Early::new(law, average, false, self.ecn))
    }
}

fn check(
    at: &mut At<'_>,
    key: &str,
    profile: &WredProfile,
    unit: WredUnit,
    leaf: &LeafFacts,
) -> Result<(), Problem> {
    let WredProfile {
        min,
        max,
        denominator,
    } = *profile;
    let (most, text) = match unit {
        WredUnit::Packets => (4096, "a threshold is between 1 and 4096 packets"),
        WredUnit::Bytes => (u32::MAX, "a threshold is 1 B at least"),
        WredUnit::Ms => (MOST_MS, "a threshold is between 1 and 10000 ms"),
    };
    for (end, threshold) in [("min", min), ("max", max)] {
        at.check(
            (1..=most).contains(&threshold),
            &format!("{key}.{end}"),
            threshold,
            text,
            &format!("write 1 to {most}"),
        )?;
    }
    if unit == WredUnit::Ms {
        let bytes = bytes_at(max, leaf.rate);
        at.check(
            u32::try_from(bytes).is_ok(),
            &format!("{key}.max"),
            max,
            &format!("at {} it is {bytes} B: more than 4294967295", leaf.rate),
            "write fewer milliseconds",
        )?;
    }
    at.check(
        min <= max,
        &format!("{key}.min"),
        min,
        &format!("the minimum is above the maximum, which is {max}"),
        "write them as min, then max, with min at most max",
    )?;
    at.check(
        (1..=65_536).contains(&denominator),
        &format!("{key}.denominator"),
        denominator,
        "the mark probability denominator is between 1 and 65536",
        "the default is 10",
    )?;
    if let Some(limit) = leaf
        .max_packets
        .filter(|l| max > *l && unit == WredUnit::Packets)
    {
        at.warn(format!(
            "{key}: the maximum of {max} packets is above the queue limit of {limit}: tail drop comes first"
        ));
    }
    Ok(())
}

/// The law of WRED.
#[derive(Clone, Debug)]
pub(crate) struct Wred {
    /// By DSCP; precedence profiles are spread over their eight code points each.
    curves: Arc<[RedCurve; 64]>,
    in_bytes: bool,
}

impl Law for Wred {
    type Vars = ();
    type Averages = Average;
    const TELLS_PRECEDENCES: bool = true;
    const CLASSES: bool = true;

    fn vars(&self) {}

    #[inline]
    fn rules(&self) -> &RedRules {
        &RedRules::UNSPREAD
    }

    #[inline]
    fn in_bytes(&self) -> bool {
        self.in_bytes
    }

    #[inline]
    fn class(&self, packet: &Packet) -> usize {
        usize::from(packet.treated_as().value() & 63)
    }

    #[inline]
    fn curve(&self, (): &(), class: usize) -> RedCurve {
        self.curves[class]
    }
}

#[cfg(test)]
#[path = "wred_tests.rs"]
mod tests;
