//! How many bytes a transfer has.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Rng, Size, math};

use super::table::SizeTable;
use spillgate_core::Problem;

/// No transfer is larger: 1 TiB.
const LARGEST: u64 = 1 << 40;

/// Bytes of a transfer, at least 1 and at most 1 TiB.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TransferSize {
    /// All alike.
    Fixed(Size),
    /// Pareto, cut at 1 TiB or where `max` says.
    Pareto(ParetoSize),
    /// Lognormal.
    Lognormal(LognormalSize),
    /// An empirical distribution: well-known (`web-search`, `data-mining`, `web`) or a list of
    /// points.
    Table(SizeTable),
}

/// A Pareto distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParetoSize {
    /// Mean before any cut.
    pub mean: Size,
    /// Shape, above 1 (heavy-tailed below 2).
    pub shape: f64,
    /// Larger draws become this. Default 1 TiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Size>,
}

/// A lognormal distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LognormalSize {
    /// Median.
    pub median: Size,
    /// Standard deviation of the natural logarithm, 0 to 10; the mean is `median exp(sigma² / 2)`.
    pub sigma: f64,
}

impl TransferSize {
    /// Checks the parameters.
    ///
    /// # Errors
    /// The first value out of range, with its path below the size.
    pub fn check(&self) -> Result<(), Problem> {
        match self {
            Self::Fixed(s) => positive("fixed", *s),
            Self::Pareto(p) => {
                positive("pareto.mean", p.mean)?;
                p.max.map_or(Ok(()), |m| positive("pareto.max", m))?;
                number(
                    "pareto.shape",
                    p.shape,
                    p.shape > 1.0,
                    "a mean exists above 1 only",
                    "write a shape such as 1.2",
                )
            }
            Self::Lognormal(l) => {
                positive("lognormal.median", l.median)?;
                let ok = (0.0..=10.0).contains(&l.sigma);
                number(
                    "lognormal.sigma",
                    l.sigma,
                    ok,
                    "it must be from 0 to 10",
                    "write a number such as 1.5",
                )
            }
            Self::Table(table) => table.check(positive),
        }
    }

    /// A size in bytes.
    pub fn draw(&self, rng: &mut Rng) -> u64 {
        let (bytes, max) = match self {
            Self::Fixed(s) => return s.0.clamp(1, LARGEST),
            Self::Pareto(p) => {
                let max = p.max.map_or(LARGEST, |m| m.0);
                (rng.pareto(p.mean.0 as f64, p.shape), max)
            }
            Self::Lognormal(l) => {
                let z = normal(rng);
                (l.median.0 as f64 * math::exp(l.sigma * z), LARGEST)
            }
            Self::Table(table) => (table.quantile(rng.f64()), LARGEST),
        };
        // `as` saturates and maps NaN to 0.
        ((bytes + 0.5) as u64).clamp(1, max.clamp(1, LARGEST))
    }
}

/// Standard normal by Marsaglia's polar method; the second value is not kept, so that a draw
/// depends on the stream alone.
fn normal(rng: &mut Rng) -> f64 {
    loop {
        let (x, y) = (rng.uniform(-1.0, 1.0), rng.uniform(-1.0, 1.0));
        let s = x * x + y * y;
        if s > 0.0 && s < 1.0 {
            return x * (-2.0 * math::ln(s) / s).sqrt();
        }
    }
}

fn positive(path: impl Into<String>, s: Size) -> Result<(), Problem> {
    if (1..=LARGEST).contains(&s.0) {
        return Ok(());
    }
    Err(Problem::new(
        path,
        s,
        "a transfer has 1 B to 1 TiB",
        "write a size such as 100 kB",
    ))
}

fn number(path: &str, found: f64, ok: bool, message: &str, hint: &str) -> Result<(), Problem> {
    if ok && found.is_finite() {
        return Ok(());
    }
    Err(Problem::new(path, found, message, hint))
}
