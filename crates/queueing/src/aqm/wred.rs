//! Weighted RED as Cisco routers have it.
//!
//! Source: Cisco IOS QoS configuration guide, "Weighted Random Early
//! Detection"; defaults as `show policy-map interface` prints them.
//!
//! Idea: one queue, one average, many drop profiles; the packet's DSCP or
//! precedence chooses its profile. Below the profile's minimum the packet
//! passes, from the maximum on it is dropped, between them it is dropped with a
//! probability that rises linearly to 1/denominator.
//!
//! Deviations: the gaps between drops are not spread, as Cisco documents none;
//! idle periods decay as in RED, since Cisco does not publish its rule.
//! Cost: O(1), one draw between the thresholds.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{DropReason, Dscp, Packet, Size, Time, Verdict};

use super::{Automaton, Average, AverageParams, Backlog, Draw, LeafFacts};
use crate::evidence::Odds;
use crate::recipe::At;
use crate::{BuildError, Thresholds};

/// Parameters of WRED.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WredSpec {
    /// Which field of the packet chooses its profile.
    pub by: WredBy,
    /// Exponential weighting constant n: one sample weighs 2⁻ⁿ. 1..=16, default 9.
    #[schemars(range(min = 1, max = 16))]
    pub exponential_weighting_constant: u8,
    /// Profiles by DSCP that replace the defaults (with `by: dscp`). The defaults have maximum
    /// 40, denominator 10, and minimum 32 / 28 / 24 for drop precedence 1 / 2 / 3 of assured
    /// forwarding, 36 for EF, 22, 24 .. 34 for CS1 .. CS7, and 20 for all others.
    pub dscp: BTreeMap<Dscp, WredProfile>,
    /// Profiles by IP precedence that replace the defaults (with `by: precedence`). The defaults
    /// have maximum 40, denominator 10, and minimum 20, 22, 24, 26, 28, 31, 33, 35.
    pub precedence: BTreeMap<u8, WredProfile>,
    /// Mark ECN-capable packets between the thresholds instead of dropping them. Default false.
    pub ecn: bool,
    /// Length of the typical small packet by which an idle queue's average decays. Default 500 B.
    pub mean_packet: Size,
}

impl Default for WredSpec {
    fn default() -> Self {
        Self {
            by: WredBy::Dscp,
            exponential_weighting_constant: 9,
            dscp: BTreeMap::new(),
            precedence: BTreeMap::new(),
            ecn: false,
            mean_packet: Size(500),
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

impl WredProfile {
    const fn with_min(min: u16) -> Self {
        Self {
            min,
            max: 40,
            denominator: 10,
        }
    }

    /// The default profile of a DSCP.
    pub fn default_for_dscp(dscp: Dscp) -> Self {
        let v = u16::from(dscp.value());
        Self::with_min(match v {
            46 => 36,
            // AFcd is 8c + 2d, c 1..=4, d 1..=3.
            10..=38 if v % 2 == 0 && (1..=3).contains(&(v % 8 / 2)) => 36 - 4 * (v % 8 / 2),
            8..=56 if v % 8 == 0 => 20 + v / 4,
            _ => 20,
        })
    }

    /// The default profile of an IP precedence (only the lower three bits count).
    pub fn default_for_precedence(precedence: u8) -> Self {
        Self::with_min(20 + 20 * u16::from(precedence & 7) / 9)
    }
}

impl WredSpec {
    /// The profile in force for a DSCP: what a router prints as its active table.
    pub fn profile(&self, dscp: Dscp) -> WredProfile {
        match self.by {
            WredBy::Dscp => self
                .dscp
                .get(&dscp)
                .copied()
                .unwrap_or_else(|| WredProfile::default_for_dscp(dscp)),
            WredBy::Precedence => self
                .precedence
                .get(&dscp.precedence())
                .copied()
                .unwrap_or_else(|| WredProfile::default_for_precedence(dscp.precedence())),
        }
    }

    /// Those of every DSCP, alike ones together.
    pub(super) fn thresholds(&self) -> Vec<Thresholds> {
        let mut all: Vec<Thresholds> = Vec::new();
        for dscp in (0..64).filter_map(Dscp::new) {
            let p = self.profile(dscp);
            let one = Thresholds {
                dscp: Vec::new(),
                min: p.min.into(),
                max: p.max.into(),
                probability: 1.0 / f64::from(p.denominator),
                written: match self.by {
                    WredBy::Dscp => self.dscp.contains_key(&dscp),
                    WredBy::Precedence => self.precedence.contains_key(&dscp.precedence()),
                },
            };
            let alike = |t: &&mut Thresholds| {
                (t.min, t.max, t.probability, t.written)
                    == (one.min, one.max, one.probability, one.written)
            };
            match all.iter_mut().find(alike) {
                Some(t) => t.dscp.push(dscp.to_string()),
                None => all.push(Thresholds {
                    dscp: vec![dscp.to_string()],
                    ..one
                }),
            }
        }
        all
    }

    pub(super) fn resolve(&self, at: &mut At<'_>, leaf: &LeafFacts) -> Result<Wred, BuildError> {
        let n = self.exponential_weighting_constant;
        at.check(
            (1..=16).contains(&n),
            "exponential_weighting_constant",
            n,
            "it must be between 1 and 16",
            "the default is 9",
        )?;
        at.check(
            self.mean_packet.0 > 0,
            "mean_packet",
            self.mean_packet,
            "a packet has at least 1 byte",
            "write a size such as 500 B",
        )?;
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
        for (dscp, profile) in &self.dscp {
            check(at, &format!("dscp.{dscp}"), profile, leaf)?;
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
            check(at, &key, profile, leaf)?;
        }
        if let Some(limit) = leaf.max_packets.filter(|l| *l < 40) {
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
        let profiles = std::array::from_fn(|d| {
            let p = self.profile(Dscp::new(d as u8).unwrap_or_default());
            let (min, max) = (f64::from(p.min), f64::from(p.max));
            Profile {
                min,
                max,
                max_p: 1.0 / f64::from(p.denominator),
            }
        });
        let weight = 1.0 / f64::from(1_u32 << n);
        Ok(Wred {
            params: Arc::new(Params {
                average: AverageParams::new(weight, self.mean_packet.0, leaf.rate),
                ecn: self.ecn,
                profiles,
            }),
            vars: Vars {
                average: Average::ZERO,
            },
            odds: None,
        })
    }
}

fn check(
    at: &mut At<'_>,
    key: &str,
    profile: &WredProfile,
    leaf: &LeafFacts,
) -> Result<(), BuildError> {
    let WredProfile {
        min,
        max,
        denominator,
    } = *profile;
    at.check(
        (1..=4096).contains(&min),
        &format!("{key}.min"),
        min,
        "a threshold is between 1 and 4096 packets",
        "write 1 to 4096",
    )?;
    at.check(
        (1..=4096).contains(&max),
        &format!("{key}.max"),
        max,
        "a threshold is between 1 and 4096 packets",
        "write 1 to 4096",
    )?;
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
    if let Some(limit) = leaf.max_packets.filter(|l| u32::from(max) > *l) {
        at.warn(format!(
            "{key}: the maximum of {max} packets is above the queue limit of {limit}: tail drop comes first"
        ));
    }
    Ok(())
}

#[derive(Clone, Copy, Debug)]
struct Profile {
    min: f64,
    max: f64,
    max_p: f64,
}

impl Profile {
    /// The drop probability at an average between the thresholds.
    fn chance(&self, avg: f64) -> f64 {
        self.max_p * (avg - self.min) / (self.max - self.min)
    }
}

#[derive(Debug)]
struct Params {
    average: AverageParams,
    ecn: bool,
    /// By DSCP; precedence profiles are spread over their eight code points each.
    profiles: [Profile; 64],
}

#[derive(Clone, Copy, Debug)]
struct Vars {
    average: Average,
}

const _: () = assert!(std::mem::size_of::<Vars>() <= 32);

/// A running WRED.
#[derive(Clone, Debug)]
pub(crate) struct Wred {
    params: Arc<Params>,
    vars: Vars,
    /// Those of the last drop or mark.
    odds: Option<Odds>,
}

impl Automaton for Wred {
    #[inline]
    fn arrival<D: Draw>(
        &mut self,
        now: Time,
        backlog: Backlog,
        packet: &Packet,
        draw: &mut D,
    ) -> Verdict {
        let p = &*self.params;
        let avg = self.vars.average.sample(&p.average, now, backlog.packets);
        let profile = &p.profiles[usize::from(packet.treated_as().value() & 63)];
        if avg < profile.min {
            Verdict::Pass
        } else if avg >= profile.max {
            self.odds = Some(Odds::certain(avg, profile.min, profile.max));
            Verdict::Drop(DropReason::Forced)
        } else {
            let (u, chance) = (draw.draw(), profile.chance(avg));
            if u >= chance {
                return Verdict::Pass;
            }
            self.odds = Some(Odds {
                average: avg,
                min: profile.min,
                max: profile.max,
                probability: chance,
                count: None,
                draw: Some(u),
            });
            if p.ecn && packet.ecn.is_capable() {
                Verdict::Mark
            } else {
                Verdict::Drop(DropReason::Early)
            }
        }
    }

    fn emptied(&mut self, now: Time) {
        self.vars.average.idle_since = Some(now);
    }

    fn average(&self) -> Option<f64> {
        Some(self.vars.average.value)
    }

    fn odds(&self) -> Option<Odds> {
        self.odds
    }
}

#[cfg(test)]
#[path = "wred_tests.rs"]
mod tests;
