//! Empirical distributions of transfer sizes: tables of the user's, and well-known ones.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Or, Problem, Size};

/// A point of an empirical distribution function.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizeStep {
    /// A size.
    pub size: Size,
    /// Share of transfers that are not larger, 0 to 1.
    pub cdf: f64,
}

/// Well-known distributions of transfer sizes. Sizes between two points are uniform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    rename_all = "kebab-case",
    expecting = "web-search, data-mining, web, or a list of points such as {size: 10 kB, cdf: 0.5}"
)]
pub enum KnownTable {
    /// Flows of a web search cluster (Alizadeh et al., Data Center TCP, SIGCOMM 2010, figure 4):
    /// mean 1.71 MB, median 73 kB. Points as read off the figure in later work; they are those that
    /// the simulations of TrafficGenerator (HKUST) and HPCC (Alibaba) use.
    WebSearch,
    /// Flows of a data mining cluster (Greenberg et al., VL2, SIGCOMM 2009, figure 2): mean 7.7 MB,
    /// median 1.1 kB. Points as read off the figure in later work, that of pFabric (SIGCOMM 2013)
    /// in the tail: 99 % up to 100 MB. TrafficGenerator has the same points but 98 % there, with a
    /// mean of 12.7 MB.
    DataMining,
    /// Files of web servers (Barford and Crovella, SURGE, SIGMETRICS 1998): lognormal up
    /// to 133 kB (97 %), then a Pareto tail of shape 1.1, cut at 100 MB: mean 46 kB, median 12 kB.
    /// The parameters are recalled from the paper's table 1, not checked.
    Web,
}

/// Sizes in bytes with the share of transfers that are not larger.
type Points = &'static [(u64, f64)];

const WEB_SEARCH: Points = &[
    (1, 0.0),
    (10_000, 0.15),
    (20_000, 0.2),
    (30_000, 0.3),
    (50_000, 0.4),
    (80_000, 0.53),
    (200_000, 0.6),
    (1_000_000, 0.7),
    (2_000_000, 0.8),
    (5_000_000, 0.9),
    (10_000_000, 0.97),
    (30_000_000, 1.0),
];

const DATA_MINING: Points = &[
    (100, 0.0),
    (180, 0.1),
    (216, 0.2),
    (560, 0.3),
    (900, 0.4),
    (1_100, 0.5),
    (1_870, 0.6),
    (3_160, 0.7),
    (10_000, 0.8),
    (400_000, 0.9),
    (3_160_000, 0.95),
    (100_000_000, 0.99),
    (1_000_000_000, 1.0),
];

/// Of `ln(x)`: mean 9.357, standard deviation 1.318; the tail is the share that the lognormal
/// distribution leaves above 133 kB, times `(133 kB / x)^1.1`.
const WEB: Points = &[
    (1, 0.0),
    (200, 0.001_037),
    (500, 0.008_558),
    (1_000, 0.031_563),
    (2_000, 0.091_365),
    (3_000, 0.152_738),
    (5_000, 0.262_003),
    (7_000, 0.351_27),
    (10_000, 0.455_699),
    (15_000, 0.577_837),
    (20_000, 0.660_795),
    (30_000, 0.764_936),
    (50_000, 0.866_468),
    (70_000, 0.913_895),
    (100_000, 0.949_055),
    (133_000, 0.967_996),
    (200_000, 0.979_568),
    (300_000, 0.986_92),
    (500_000, 0.992_543),
    (1_000_000, 0.996_521),
    (2_000_000, 0.998_377),
    (5_000_000, 0.999_408),
    (10_000_000, 0.999_724),
    (20_000_000, 0.999_871),
    (50_000_000, 0.999_953),
    (100_000_000, 1.0),
];

impl KnownTable {
    const fn points(self) -> Points {
        match self {
            Self::WebSearch => WEB_SEARCH,
            Self::DataMining => DATA_MINING,
            Self::Web => WEB,
        }
    }
}

/// An empirical distribution: its name, or its points in ascending order.
///
/// Sizes between two points are uniform; what lies below the first has its size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, from = "Or<KnownTable, Vec<SizeStep>>")]
pub enum SizeTable {
    /// A well-known one.
    Known(KnownTable),
    /// The user's own.
    Points(Vec<SizeStep>),
}

impl SizeTable {
    fn len(&self) -> usize {
        match self {
            Self::Known(k) => k.points().len(),
            Self::Points(steps) => steps.len(),
        }
    }

    fn get(&self, i: usize) -> (f64, f64) {
        match self {
            Self::Known(k) => {
                let (size, cdf) = k.points()[i];
                (size as f64, cdf)
            }
            Self::Points(steps) => (steps[i].size.0 as f64, steps[i].cdf),
        }
    }

    /// The size that a share `u` of all transfers, at least 0 and below 1, does not exceed.
    pub(super) fn quantile(&self, u: f64) -> f64 {
        let i = match self {
            Self::Known(k) => k.points().partition_point(|p| p.1 <= u),
            Self::Points(steps) => steps.partition_point(|s| s.cdf <= u),
        };
        match (i, self.len()) {
            (_, 0) => 1.0,
            (0, _) => self.get(0).0,
            (i, n) if i == n => self.get(n - 1).0,
            (i, _) => {
                let ((lo, below), (hi, above)) = (self.get(i - 1), self.get(i));
                lo + (hi - lo) * (u - below) / (above - below)
            }
        }
    }

    /// The mean in bytes.
    pub fn mean(&self) -> f64 {
        let Some(last) = self.len().checked_sub(1) else {
            return 0.0;
        };
        let (first, share) = self.get(0);
        (0..last).fold(first * share, |sum, i| {
            let ((lo, below), (hi, above)) = (self.get(i), self.get(i + 1));
            sum + (lo + hi) / 2.0 * (above - below)
        })
    }

    /// Checks order and ends.
    pub(super) fn check(
        &self,
        positive: impl Fn(String, Size) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let Self::Points(steps) = self else {
            return Ok(());
        };
        let hint = "write points in ascending order, the last with cdf: 1";
        for (i, s) in steps.iter().enumerate() {
            positive(format!("table[{i}].size"), s.size)?;
            let before = i.checked_sub(1).map(|i| steps[i]);
            let ascending = before.is_none_or(|b| b.cdf < s.cdf && b.size <= s.size);
            if !ascending || !(0.0..=1.0).contains(&s.cdf) {
                return Err(Problem::new(
                    format!("table[{i}].cdf"),
                    s.cdf,
                    "a distribution function ascends from 0 to 1",
                    hint,
                ));
            }
        }
        match steps.last() {
            Some(last) if last.cdf == 1.0 => Ok(()),
            Some(last) => Err(Problem::new(
                format!("table[{}].cdf", steps.len() - 1),
                last.cdf,
                "the last share must be 1",
                hint,
            )),
            None => Err(Problem::new("table", "[]", "the table is empty", hint)),
        }
    }
}

impl From<Or<KnownTable, Vec<SizeStep>>> for SizeTable {
    fn from(written: Or<KnownTable, Vec<SizeStep>>) -> Self {
        match written {
            Or::Short(name) => Self::Known(name),
            Or::Full(points) => Self::Points(points),
        }
    }
}
