//! RED's curve: the drop probability by an average of the queue.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dscp, Limit, Problem};

use super::{LeafFacts, RedUnit};
use crate::Thresholds;
use crate::recipe::At;

/// What an average says of an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Region {
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
    #[inline]
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

    /// Checks thresholds and probability, and warns of a limit that comes before them.
    pub(super) fn checked(
        &self,
        at: &mut At<'_>,
        leaf: &LeafFacts,
        unit: RedUnit,
    ) -> Result<(), Problem> {
        let (name, usual) = match unit {
            RedUnit::Packets => ("packets", "the usual value is 5"),
            RedUnit::Bytes => ("bytes", "five packets are usual"),
        };
        at.check(
            self.min_th.is_finite() && self.min_th >= 0.0,
            "min_th",
            self.min_th,
            &format!("a threshold must be a finite number of {name}, at least 0"),
            usual,
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
        let limit = match (unit, leaf.limit) {
            (RedUnit::Packets, _) => leaf.max_packets.map(u64::from),
            (RedUnit::Bytes, Limit::Bytes(limit)) => Some(limit),
            (RedUnit::Bytes, _) => None,
        };
        if let Some(limit) = limit.filter(|l| self.max_th > *l as f64) {
            at.warn(format!(
                "max_th of {} {name} is above the queue limit of {limit}: tail drop comes first",
                self.max_th
            ));
        }
        Ok(())
    }

    /// The thresholds, to be shown.
    pub(super) fn shown(&self, dscp: Vec<Dscp>) -> Thresholds {
        Thresholds {
            dscp,
            min: self.min_th,
            max: self.max_th,
            probability: self.max_p,
            written: true,
            ..Thresholds::default()
        }
    }
}
