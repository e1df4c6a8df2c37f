//! When sessions begin.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dur, Rng, Time};

use spillgate_core::Problem;

/// A process of session starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ArrivalSpec {
    /// Exponential gaps.
    Poisson(PoissonArrivals),
    /// Equal gaps.
    Fixed(FixedArrivals),
}

/// Poisson arrivals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoissonArrivals {
    /// Mean gap, above 0.
    pub gap: Dur,
    /// How many sessions begin at most. Default: without end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

/// Periodic arrivals; the first session begins with the workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedArrivals {
    /// Gap; 0 s only with a count up to 1000000: all at once.
    pub gap: Dur,
    /// How many sessions begin at most. Default: without end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

/// Most sessions that begin without a gap.
const MOST_AT_ONCE: u64 = 1_000_000;

impl ArrivalSpec {
    /// How many sessions begin at most; none without end.
    pub fn count(&self) -> Option<u64> {
        match self {
            Self::Poisson(p) => p.count,
            Self::Fixed(f) => f.count,
        }
    }

    /// Checks the gap and the count.
    ///
    /// # Errors
    /// The first value out of range, with its path below the arrivals.
    pub fn check(&self) -> Result<(), Problem> {
        let (kind, gap, count) = match self {
            Self::Poisson(p) => ("poisson", p.gap, p.count),
            Self::Fixed(f) => ("fixed", f.gap, f.count),
        };
        if count == Some(0) {
            return Err(Problem::new(
                format!("{kind}.count"),
                0,
                "no session would begin",
                "write 1 or more",
            ));
        }
        if gap.is_zero() && (kind == "poisson" || count.is_none()) {
            return Err(Problem::new(
                format!("{kind}.gap"),
                gap,
                "infinitely many sessions would begin at once",
                "write a time such as 100 ms",
            ));
        }
        if let Some(count) = count.filter(|&n| gap.is_zero() && n > MOST_AT_ONCE) {
            return Err(Problem::new(
                format!("{kind}.count"),
                count,
                format!("at most {MOST_AT_ONCE} sessions begin at once"),
                "write a gap above 0 s, or fewer",
            ));
        }
        Ok(())
    }
}

/// A running process of session starts.
#[derive(Clone, Debug)]
pub struct Arrivals {
    next: Time,
    gap: Dur,
    left: u64,
    random: bool,
    started: bool,
}

impl Arrivals {
    /// Sessions from `start` on.
    pub fn new(spec: &ArrivalSpec, start: Time) -> Self {
        let (gap, count, random) = match spec {
            ArrivalSpec::Poisson(p) => (p.gap, p.count, true),
            ArrivalSpec::Fixed(f) => (f.gap, f.count, false),
        };
        Self {
            next: start,
            gap,
            left: count.unwrap_or(u64::MAX),
            random,
            started: false,
        }
    }

    /// When the next session begins; none after the last. Draws from `rng` alone.
    pub fn next_start(&mut self, rng: &mut Rng) -> Option<Time> {
        self.left = self.left.checked_sub(1)?;
        if self.random {
            self.next += Dur::from_secs_f64(rng.exponential(self.gap.as_secs_f64()));
        } else if self.started {
            self.next += self.gap;
        }
        self.started = true;
        (self.next < Time::MAX).then_some(self.next)
    }
}
