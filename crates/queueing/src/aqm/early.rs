//! What AQMs that drop by a curve over an average queue have in common: the curve of RED, drops
//! whose gaps are spread as RED spreads them (Floyd and Jacobson 1993, figure 2), and RED whose
//! curve something else moves.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{DropReason, Packet, Size, Time, Verdict};

use super::{Average, AverageParams, Backlog, Draw, LeafFacts, RedIdle};
use crate::evidence::Odds;
use crate::recipe::At;
use spillgate_core::Problem;

/// What an average says of an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Region {
    /// It passes.
    Pass,
    /// It is dropped with this probability, before gaps are spread.
    Random(f64),
    /// It is dropped.
    Certain,
}

/// RED's curve: thresholds of the average in packets, and the probability between them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedCurve {
    /// Lower threshold of the average in packets, 0 or more.
    pub min_th: f64,
    /// Upper threshold of the average in packets, above `min_th`.
    pub max_th: f64,
    /// Drop probability at `max_th`.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub max_p: f64,
}

impl RedCurve {
    /// Below `min_th` all passes, from `max_th` on nothing; with `gentle` the probability rises to
    /// 1 at twice `max_th` instead.
    pub(super) fn region(&self, average: f64, gentle: bool) -> Region {
        if average < self.min_th {
            Region::Pass
        } else if average < self.max_th {
            Region::Random(self.max_p * (average - self.min_th) / (self.max_th - self.min_th))
        } else if gentle && average < 2.0 * self.max_th {
            Region::Random(self.max_p + (1.0 - self.max_p) * (average - self.max_th) / self.max_th)
        } else {
            Region::Certain
        }
    }

    /// Checks thresholds and probability.
    pub(super) fn checked(&self, at: &mut At<'_>, limit: Option<u32>) -> Result<(), Problem> {
        at.check(
            self.min_th.is_finite() && self.min_th >= 0.0,
            "min_th",
            self.min_th,
            "a threshold must be a finite number of packets, at least 0",
            "the usual value is 5",
        )?;
        at.check(
            self.max_th.is_finite() && self.max_th > self.min_th,
            "max_th",
            self.max_th,
            &format!("it must be above min_th, which is {}", self.min_th),
            "three times min_th is usual",
        )?;
        at.check(
            (0.0..=1.0).contains(&self.max_p),
            "max_p",
            self.max_p,
            "a probability must be between 0 and 1",
            "the usual value is 0.1",
        )?;
        if let Some(limit) = limit.filter(|l| self.max_th > f64::from(*l)) {
            at.warn(format!(
                "max_th of {} packets is above the queue limit of {limit}: tail drop comes first",
                self.max_th
            ));
        }
        Ok(())
    }

    /// The thresholds, to be shown.
    pub(super) fn shown(&self, dscp: Vec<spillgate_core::Dscp>) -> crate::Thresholds {
        crate::Thresholds {
            dscp,
            min: self.min_th,
            max: self.max_th,
            probability: self.max_p,
            written: true,
            ..crate::Thresholds::default()
        }
    }
}

/// Checks the weight of an average and the packet by which it decays.
pub(super) fn checked_average(
    at: &mut At<'_>,
    weight: f64,
    mean_packet: Size,
    idle: RedIdle,
) -> Result<(), Problem> {
    idle.check(at);
    at.check(
        weight > 0.0 && weight <= 1.0,
        "weight",
        weight,
        "the weight of a sample must be above 0 and at most 1",
        "the usual value is 0.002",
    )?;
    at.check(
        mean_packet.0 > 0,
        "mean_packet",
        mean_packet,
        "a packet has at least 1 byte",
        "write a size such as 500 B",
    )
}

/// Packets since the last drop; -1 while the average is below the thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Count(pub(super) i32);

impl Count {
    pub(super) const NONE: Self = Self(-1);

    /// After a drop.
    pub(super) fn restart(&mut self) {
        self.0 = 0;
    }

    /// The verdict on a packet, with its odds if it is dropped or marked. `certain` has the average
    /// and its thresholds. With `ecn` a packet that is capable of it is marked where chance decides
    /// (RFC 3168 section 7).
    pub(super) fn verdict<D: Draw>(
        &mut self,
        region: Region,
        spread: bool,
        ecn: bool,
        certain: Odds,
        packet: &Packet,
        draw: &mut D,
    ) -> (Verdict, Option<Odds>) {
        let p_b = match region {
            Region::Pass => {
                *self = Self::NONE;
                return (Verdict::Pass, None);
            }
            Region::Certain => {
                self.restart();
                return (Verdict::Drop(DropReason::Forced), Some(certain));
            }
            Region::Random(p_b) => p_b,
        };
        self.0 = self.0.saturating_add(1);
        let x = f64::from(self.0) * p_b;
        let p_a = match spread {
            false => p_b,
            true if x < 1.0 => (p_b / (1.0 - x)).min(1.0),
            true => 1.0,
        };
        let u = draw.draw();
        if u >= p_a {
            return (Verdict::Pass, None);
        }
        let odds = Odds {
            probability: p_a,
            count: spread.then_some(self.0.into()),
            draw: Some(u),
            ..certain
        };
        self.restart();
        let verdict = match ecn && packet.ecn.is_capable() {
            true => Verdict::Mark,
            false => Verdict::Drop(DropReason::Early),
        };
        (verdict, Some(odds))
    }
}

/// RED in packets whose curve is moved by something else.
#[derive(Clone, Debug)]
pub(super) struct MovedRed {
    pub(super) gentle: bool,
    pub(super) ecn: bool,
    average: AverageParams,
    /// The odds of the last drop or mark.
    pub(super) odds: Option<Odds>,
}

/// The average queue of a [`MovedRed`], and its packets since the last drop.
#[derive(Clone, Copy, Debug)]
pub(super) struct MovedVars {
    pub(super) average: Average,
    pub(super) count: Count,
}

impl MovedVars {
    pub(super) const NEW: Self = Self {
        average: Average::ZERO,
        count: Count::NONE,
    };
}

impl MovedRed {
    /// Checks what the average needs.
    pub(super) fn checked(
        at: &mut At<'_>,
        leaf: &LeafFacts,
        weight: f64,
        (mean_packet, idle): (Size, RedIdle),
        gentle: bool,
        ecn: bool,
    ) -> Result<Self, Problem> {
        checked_average(at, weight, mean_packet, idle)?;
        Ok(Self {
            gentle,
            ecn,
            average: AverageParams::new(weight, mean_packet.0, leaf.rate, idle),
            odds: None,
        })
    }

    /// The average after one more sample.
    #[inline]
    pub(super) fn sample(&self, v: &mut MovedVars, now: Time, backlog: &Backlog) -> f64 {
        let length = backlog.measure_packets();
        v.average
            .sample(&self.average, now, length, &backlog.upstream)
    }

    /// The verdict by the present average and this curve.
    #[inline]
    pub(super) fn judge<D: Draw>(
        &mut self,
        v: &mut MovedVars,
        curve: &RedCurve,
        packet: &Packet,
        draw: &mut D,
    ) -> Verdict {
        let avg = v.average.value;
        let certain = Odds::certain(avg, curve.min_th, curve.max_th);
        let region = curve.region(avg, self.gentle);
        let (verdict, odds) = v
            .count
            .verdict(region, true, self.ecn, certain, packet, draw);
        self.odds = odds.or(self.odds);
        verdict
    }
}
