//! Bursts at a constant peak rate between silences, both of random length.
//!
//! The source has a clock of its own that runs only during bursts, and on that
//! clock it is a constant bit rate source: the gap after a packet is what the
//! packet takes at the peak rate, and the part of a gap that a burst's end
//! leaves over is served at the beginning of the next one. Bits and burst time
//! are therefore proportional without an end effect, and the mean rate is
//! `peak on / (on + off)` exactly, however short the bursts are; a burst shorter
//! than a gap may be empty.
//!
//! The flow's start is an arbitrary instant of the stationary process: within a
//! burst with probability `on / (on + off)`, the rest of the current period
//! drawn from the equilibrium distribution, the first packet uniform over one
//! gap of burst time. Flows do not start in step, and the expected number of
//! packets in any interval is proportional to its length from the start on.
//! The equilibrium density of the rest of a period with distribution F and mean
//! m is `(1 - F(x)) / m`: for the exponential the same exponential, for the
//! Pareto below.

use spillgate_core::{Dur, Rng, Time, math};

use super::arrivals::paced;
use super::cbr::{Grid, later, mean_gap};
use super::size::Sizes;
use super::spec::{OnOffSpec, PeriodDistribution};
use super::{Emission, Envelope, Model, Occupied};
use spillgate_core::Problem;
use spillgate_core::curve::{Curve, NoBound};

/// A packet may span this many bursts of the shortest typical length: a bound on the work per
/// packet.
const BURSTS_PER_PACKET: u64 = 1_000;

#[derive(Clone, Debug)]
pub(super) struct OnOff {
    grid: Grid,
    sizes: Sizes,
    /// Mean lengths in picoseconds.
    on: f64,
    off: f64,
    distribution: PeriodDistribution,
    /// Where the walk through bursts and silences has come to; none once time is exhausted.
    now: Option<Time>,
    /// What is left of the burst.
    burst: Dur,
    /// Burst time until the next packet.
    wait: Dur,
    begun: bool,
}

impl OnOff {
    fn begin(&mut self, rng: &mut Rng) {
        self.begun = true;
        // `wait` holds the mean gap until now.
        self.wait = Dur::from_ps((self.wait.as_ps() as f64 * rng.f64()) as u64);
        if rng.chance(self.on / (self.on + self.off)) {
            self.burst = rest(self.distribution, self.on, rng);
        } else {
            let silence = rest(self.distribution, self.off, rng);
            self.now = self.now.and_then(|t| later(t, silence));
            self.burst = period(self.distribution, self.on, rng);
        }
    }
}

impl Model for OnOff {
    type Spec = OnOffSpec;

    fn new(spec: &OnOffSpec, start: Time) -> Self {
        let (sizes, mean) = Sizes::new(&spec.packet);
        let wait = mean_gap(mean, spec.peak);
        // Brings what `check` refuses into range: an endless loop is worse than a wrong burst.
        let least = shortest_mean(spec.distribution, wait);
        Self {
            grid: Grid::new(spec.peak),
            sizes,
            on: (spec.on.as_ps() as f64).max(least),
            off: spec.off.as_ps() as f64,
            distribution: match spec.distribution {
                PeriodDistribution::Pareto(shape) => PeriodDistribution::Pareto(valid(shape)),
                exponential => exponential,
            },
            now: Some(start),
            burst: Dur::ZERO,
            wait,
            begun: false,
        }
    }

    #[inline]
    fn next(&mut self, rng: &mut Rng) -> Option<Emission> {
        if !self.begun {
            self.begin(rng);
        }
        let mut now = self.now?;
        while self.wait > self.burst {
            self.wait = self.wait - self.burst;
            let silence = period(self.distribution, self.off, rng);
            self.now = later(now, self.burst).and_then(|t| later(t, silence));
            now = self.now?;
            self.burst = period(self.distribution, self.on, rng);
        }
        self.now = later(now, self.wait);
        let at = self.now?;
        self.burst = self.burst - self.wait;
        let len = self.sizes.draw(rng);
        self.wait = self.grid.step(len);
        Some(Emission { at, len })
    }

    fn mean_rate(spec: &OnOffSpec) -> f64 {
        let (on, off) = ((spec.on.as_ps() as f64).max(1.0), spec.off.as_ps() as f64);
        spec.peak.bps() as f64 * on / (on + off)
    }

    fn envelope(spec: &OnOffSpec) -> Envelope {
        Envelope::random(spec.peak.bps() as f64, Self::longest(spec))
    }

    /// Silences only move packets apart.
    fn arrivals(spec: &OnOffSpec, occupied: Occupied<'_>) -> Option<Result<Curve, NoBound>> {
        let lengths = Self::shortest(spec)..=Self::longest(spec);
        Some(paced(spec.peak, lengths, 0, occupied))
    }

    fn longest(spec: &OnOffSpec) -> u16 {
        Sizes::new(&spec.packet).0.longest()
    }

    fn usually_longest(spec: &OnOffSpec) -> u16 {
        Sizes::new(&spec.packet).0.usually_longest()
    }

    fn shortest(spec: &OnOffSpec) -> u16 {
        Sizes::new(&spec.packet).0.shortest()
    }

    fn check(spec: &OnOffSpec) -> Result<(), Problem> {
        spec.packet.check().map_err(|p| p.under("packet"))?;
        if spec.on.is_zero() {
            return Err(Problem::new(
                "on",
                spec.on,
                "a burst must take some time",
                "write a time above 0 such as 500 ms",
            ));
        }
        if let PeriodDistribution::Pareto(shape) = spec.distribution {
            if !(shape.is_finite() && shape > 1.0) {
                return Err(Problem::new(
                    "distribution.pareto",
                    shape,
                    "the shape must be above 1, else the mean is infinite",
                    "write a shape such as 1.5 (long-range dependent below 2)",
                ));
            }
        }
        let (_, mean) = Sizes::new(&spec.packet);
        let gap = mean_gap(mean, spec.peak);
        if (spec.on.as_ps() as f64) < shortest_mean(spec.distribution, gap) {
            return Err(Problem::new(
                "on",
                spec.on,
                format!(
                    "bursts are over {BURSTS_PER_PACKET} times shorter than the {gap} that a packet takes at the peak rate"
                ),
                "write longer bursts, a higher peak or smaller packets; for Pareto bursts a larger shape",
            ));
        }
        Ok(())
    }
}

/// The least mean burst length in ps that is accepted when a packet takes `gap`.
fn shortest_mean(distribution: PeriodDistribution, gap: Dur) -> f64 {
    let least = gap.as_ps() as f64 / BURSTS_PER_PACKET as f64;
    match distribution {
        PeriodDistribution::Exponential => least,
        // The shortest burst is the scale, mean (shape - 1) / shape.
        PeriodDistribution::Pareto(shape) => least * valid(shape) / (valid(shape) - 1.0),
    }
    .max(1.0)
}

fn valid(shape: f64) -> f64 {
    if shape.is_finite() {
        shape.max(1.000_001)
    } else {
        2.0
    }
}

/// A whole period of mean `mean` ps.
fn period(distribution: PeriodDistribution, mean: f64, rng: &mut Rng) -> Dur {
    ps(match distribution {
        PeriodDistribution::Exponential => rng.exponential(mean),
        PeriodDistribution::Pareto(shape) => rng.pareto(mean, shape),
    })
}

/// What is left of a period of mean `mean` ps at an arbitrary instant.
fn rest(distribution: PeriodDistribution, mean: f64, rng: &mut Rng) -> Dur {
    ps(match distribution {
        PeriodDistribution::Exponential => rng.exponential(mean),
        PeriodDistribution::Pareto(a) => {
            // With scale s = mean (a-1)/a: G(x) = x / mean up to s, where it
            // is (a-1)/a, then 1 - (x/s)^(1-a) / a.
            let u = rng.f64();
            let scale = mean * (a - 1.0) / a;
            if u * mean < scale {
                u * mean
            } else {
                scale * math::pow(a * (1.0 - u), -1.0 / (a - 1.0))
            }
        }
    })
}

fn ps(x: f64) -> Dur {
    Dur::from_ps((x + 0.5) as u64)
}
