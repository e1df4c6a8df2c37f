//! CHOKe: RED that compares.
//!
//! Source: R. Pan, B. Prabhakar, K. Psounis, "CHOKe: A Stateless Active Queue Management Scheme for
//! Approximating Fair Bandwidth Allocation", IEEE INFOCOM 2000; Linux 6.18, net/sched/sch_choke.c.
//!
//! Idea: above the lower threshold of RED's average an arrival is compared with a packet chosen at
//! random from the queue. If both belong to one flow both are dropped. Who sends most hits most, so
//! that flows that do not slow down get little, without any state of flows. Whoever does not hit is
//! judged by RED.
//!
//! Deviations: with an empty queue, whose average may be above the threshold, nothing is compared.
//! The packet in transmission is none of the queue. A queue that a match empties is idle from then
//! on. With `as: linux` gaps have one random number each and what is above `max_th` is marked, too.
//! Cost: O(1) and the removal of a packet from the middle of a ring, two draws at most.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{DropReason, Limit, Packet, Problem, Rate, Time, Verdict};

use super::chance::signal;
use super::curve::{RedCurve, Region};
use super::early::{Averages as _, Spread, early_spec};
use super::gap::Fell;
use super::red_spec::{RedMarks, RedRules};
use super::{Automaton, AverageParams, Backlog, Draw, LeafFacts, RedSpread, RedUnit, Upstream};
use crate::Thresholds;
use crate::evidence::{Cause, ChanceOdds, GoesBy, Odds};
use crate::recipe::At;

/// Implementations of CHOKe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChokeVariant {
    /// Linux: one random number for each gap between drops, from 1 to 1/p packets; with `ecn` what
    /// is above `max_th` is marked, too.
    Linux,
}

early_spec! {
    /// Parameters of CHOKe.
    pub struct ChokeSpec {
        /// The implementation that is followed. Default: the paper.
        #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
        pub variant: Option<ChokeVariant> = None,
        /// Average queue in packets above which arrivals are compared. Default 5 (RED).
        pub min_th: f64 = 5.0,
        /// Average queue in packets above which all is dropped. Default 15 (RED).
        pub max_th: f64 = 15.0,
        /// RED's drop probability at `max_th`. Default 0.1 (RED).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub max_p: f64 = 0.1,
        /// Weight of one sample in the average. Default 0.002 (RED).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub weight: f64 = 0.002,
    }
}

impl ChokeSpec {
    fn curve(&self) -> RedCurve {
        RedCurve {
            min_th: self.min_th,
            max_th: self.max_th,
            max_p: self.max_p,
        }
    }

    /// The thresholds, alike for all packets.
    pub(super) fn thresholds(&self, _: Limit, _: Rate) -> Vec<Thresholds> {
        vec![self.curve().shown(Vec::new())]
    }

    pub(super) fn resolve(&self, at: &mut At<'_>, leaf: &LeafFacts) -> Result<Choke, Problem> {
        self.curve().checked(at, leaf, RedUnit::Packets)?;
        let average = AverageParams::checked(at, leaf, self.weight, self.mean_packet, self.idle)?;
        let rules = match self.variant {
            None => RedRules::FLOYD,
            Some(ChokeVariant::Linux) => RedRules {
                spread: RedSpread::PerGap,
                marks: RedMarks::Always,
                ..RedRules::FLOYD
            },
        };
        Ok(Choke {
            curve: self.curve(),
            rules,
            average,
            ecn: self.ecn,
            cause: None,
        })
    }
}

/// A running CHOKe.
#[derive(Clone, Debug)]
pub(crate) struct Choke {
    curve: RedCurve,
    /// How RED spreads gaps, and what it marks.
    rules: RedRules,
    average: AverageParams,
    ecn: bool,
    /// Why the last packet was dropped or marked.
    cause: Option<Cause>,
}

impl Choke {
    /// What RED says of an average.
    fn region(&self, average: f64) -> Region {
        let c = &self.curve;
        if average <= c.min_th {
            Region::Pass
        } else if average <= c.max_th {
            Region::Random(c.max_p * (average - c.min_th) / (c.max_th - c.min_th))
        } else {
            Region::Certain
        }
    }
}

impl Automaton for Choke {
    type Vars = Spread;

    const PICKS: bool = true;
    const TELLS_FLOWS: bool = true;

    fn vars(&self) -> Spread {
        Spread::NEW
    }

    fn picks<D: Draw>(
        &mut self,
        v: &mut Spread,
        now: Time,
        backlog: &Backlog,
        draw: &mut D,
    ) -> Option<u32> {
        let (average, n) = (&mut v.average, backlog.packets);
        let average = average.sample(&self.average, now, n.into(), &Upstream::NONE);
        (average > self.curve.min_th && n > 0)
            .then(|| ((draw.draw() * f64::from(n)) as u32).min(n - 1))
    }

    fn matched(&mut self) {
        self.cause = Some(Cause::Chance(ChanceOdds {
            by: GoesBy::plain(
                "match",
                "a packet that arrived and one of its flow, chosen at random from the queue, were both dropped",
            ),
            probability: 1.0,
            draw: None,
        }));
    }

    /// The average has its sample already.
    fn arrival<D: Draw>(
        &mut self,
        v: &mut Spread,
        _: Time,
        _: &Backlog,
        packet: &Packet,
        draw: &mut D,
    ) -> Verdict {
        let average = v.average.value;
        let region = self.region(average);
        let Some(fell) = v.gap.judge(&self.rules, region, packet, draw) else {
            return Verdict::Pass;
        };
        let Fell {
            reason,
            probability,
            count,
            draw,
        } = fell;
        self.cause = Some(Cause::Aqm(Odds {
            average,
            min: self.curve.min_th,
            max: self.curve.max_th,
            in_bytes: false,
            probability,
            count,
            draw,
        }));
        let always = self.rules.marks == RedMarks::Always;
        let marks = always || reason == DropReason::Early;
        signal(self.ecn && marks, packet, reason)
    }

    fn overflowed(&self, v: &mut Spread) {
        // Linux leaves the count where it is.
        if self.rules.spread != RedSpread::PerGap {
            v.overflowed();
        }
    }

    fn emptied(&self, v: &mut Spread, at: Time) {
        v.average.idle_since = at;
    }

    fn average(&self, v: &Spread) -> Option<f64> {
        Some(v.average.value)
    }

    fn cause(&self, _: &Packet) -> Option<Cause> {
        self.cause
    }
}

#[cfg(test)]
#[path = "choke_tests.rs"]
mod tests;
