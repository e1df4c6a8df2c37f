//! Confidence intervals.

use super::sequence::{Looks, reach};
use super::student::student_t_quantile;

/// A mean (or quantile) with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The estimate; NaN without values.
    pub mean: f64,
    /// Lower end; minus infinity if unknown.
    pub low: f64,
    /// Upper end; infinity if unknown.
    pub high: f64,
    /// Half of the width.
    pub half: f64,
    /// Values that were not NaN.
    pub n: usize,
    /// Their standard deviation (of one value: NaN).
    pub deviation: f64,
    /// Confidence level in 0..1.
    pub level: f64,
    /// How often one may look at it with that confidence.
    pub looks: Looks,
}

impl Interval {
    /// The level of intervals where nobody says another.
    pub const LEVEL: f64 = 0.95;

    /// The mean of independent values with its Student-t interval. NaN values are skipped.
    ///
    /// One value has an infinite interval; none have mean NaN. Values that are all the same have an
    /// interval of no width and that value as mean; with an infinite one among them nothing but
    /// that mean is known.
    pub fn of(xs: &[f64], level: f64) -> Self {
        Self::collect(xs.iter().copied(), level, &mut TQuantiles::new(level))
    }

    /// The same mean with an interval of another level.
    pub fn at_level(&self, level: f64) -> Self {
        Self { level, ..*self }.remade()
    }

    /// The same mean with an interval for so many looks.
    pub fn for_looks(&self, looks: Looks) -> Self {
        Self { looks, ..*self }.remade()
    }

    /// With the ends that follow from its other values; the same if these have no deviation.
    fn remade(self) -> Self {
        if self.n < 2 || !self.deviation.is_finite() {
            return self;
        }
        let half = self.half_after(self.n as u64);
        Self {
            low: self.mean - half,
            high: self.mean + half,
            half,
            ..self
        }
    }

    /// Half of the width after `n` values (two or more) if their deviation is what it is now.
    pub fn half_after(&self, n: u64) -> f64 {
        if self.deviation == 0.0 {
            return 0.0;
        }
        let reach = match self.looks {
            Looks::Once => student_t_quantile(0.5 + self.level / 2.0, (n - 1) as f64),
            Looks::Any => reach(n, self.level),
        };
        reach * self.deviation / (n as f64).sqrt()
    }

    /// [`Interval::of`] with the t quantiles remembered.
    pub(crate) fn collect(
        xs: impl Iterator<Item = f64> + Clone,
        level: f64,
        t: &mut TQuantiles,
    ) -> Self {
        let xs = xs.filter(|x| !x.is_nan());
        let n = xs.clone().count();
        let nothing = Self {
            mean: f64::NAN,
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
            half: f64::INFINITY,
            n,
            deviation: f64::NAN,
            level,
            looks: Looks::Once,
        };
        // Around the first value: equal values then sum to exactly nothing.
        let Some(first) = xs.clone().next() else {
            return nothing;
        };
        if let Some(mean) = xs.clone().find(|x| x.is_infinite()) {
            return Self { mean, ..nothing };
        }
        let count = n as f64;
        let mean = first + xs.clone().map(|x| x - first).sum::<f64>() / count;
        if n == 1 || !mean.is_finite() {
            let mean = if n == 1 { first } else { mean };
            return Self { mean, ..nothing };
        }
        let squares: f64 = xs.map(|x| (x - mean) * (x - mean)).sum();
        let deviation = (squares / (count - 1.0)).sqrt();
        let half = if deviation == 0.0 {
            0.0
        } else {
            t.get(n) * deviation / count.sqrt()
        };
        Self {
            mean,
            low: mean - half,
            high: mean + half,
            half,
            deviation,
            ..nothing
        }
    }
}

/// Two-sided t quantiles at one level by number of values.
pub(crate) struct TQuantiles {
    level: f64,
    known: Vec<(usize, f64)>,
}

impl TQuantiles {
    pub(crate) fn new(level: f64) -> Self {
        Self {
            level,
            known: Vec::new(),
        }
    }

    fn get(&mut self, n: usize) -> f64 {
        if let Some((_, t)) = self.known.iter().find(|(k, _)| *k == n) {
            return *t;
        }
        let t = student_t_quantile(0.5 + self.level / 2.0, (n - 1) as f64);
        self.known.push((n, t));
        t
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use spillgate_core::Rng;

    use crate::stats::testkit::normal;

    /// Of `trials` intervals, the number that cover is binomial: within five standard deviations
    /// of its mean (a false alarm in two million).
    fn assert_covers(covered: u32, trials: u32, level: f64) {
        let (n, k) = (f64::from(trials), f64::from(covered));
        let sd = (n * level * (1.0 - level)).sqrt();
        assert!((k - n * level).abs() < 5.0 * sd, "{covered} of {trials}");
    }

    #[test]
    fn hand_example() {
        // Mean 3, s² = 10/4, half = 2.776445 * sqrt(2.5/5).
        let i = Interval::of(&[1.0, 2.0, f64::NAN, 3.0, 4.0, 5.0], 0.95);
        assert_eq!((i.n, i.mean), (5, 3.0));
        assert!((i.deviation - 2.5_f64.sqrt()).abs() < 1e-15);
        assert!((i.half - 2.776_445_105 * 0.5_f64.sqrt()).abs() < 1e-8);
        assert_eq!((i.low, i.high), (3.0 - i.half, 3.0 + i.half));
    }

    #[test]
    fn few_values() {
        let none = Interval::of(&[f64::NAN], 0.95);
        assert!(none.mean.is_nan() && none.n == 0 && none.half == f64::INFINITY);
        let one = Interval::of(&[7.0], 0.95);
        assert_eq!((one.mean, one.n), (7.0, 1));
        assert_eq!((one.low, one.high), (f64::NEG_INFINITY, f64::INFINITY));
        // 0.1 has no exact binary form: ten of them do not sum to 1.
        let same = Interval::of(&[0.1; 10], 0.95);
        assert_eq!(
            (same.mean, same.low, same.high, same.half),
            (0.1, 0.1, 0.1, 0.0)
        );
        let endless = Interval::of(&[1.0, f64::INFINITY], 0.95);
        assert_eq!((endless.half, endless.n), (f64::INFINITY, 2));
    }

    #[test]
    fn intervals_of_normal_values_cover_as_often_as_they_say() {
        let mut r = Rng::named(1, 0, "test", "coverage");
        for level in [0.8, 0.95] {
            let trials = 4_000;
            let covered = (0..trials).filter(|_| {
                let xs: Vec<f64> = (0..10).map(|_| 5.0 + 2.0 * normal(&mut r)).collect();
                let i = Interval::of(&xs, level);
                i.low <= 5.0 && 5.0 <= i.high
            });
            assert_covers(covered.count() as u32, trials, level);
        }
    }

    proptest! {
        #[test]
        fn intervals_contain_their_mean_and_move_with_the_values(
            xs in prop::collection::vec(-1e6_f64..1e6, 2..50),
            shift in -1e6_f64..1e6,
        ) {
            let i = Interval::of(&xs, 0.95);
            prop_assert!(i.low <= i.mean && i.mean <= i.high);
            let moved: Vec<f64> = xs.iter().map(|x| x + shift).collect();
            let j = Interval::of(&moved, 0.95);
            // Rounding of values up to 2e6 in sums of up to 50, the half-width by t up to 12.7.
            prop_assert!((j.mean - i.mean - shift).abs() < 1e-7);
            prop_assert!((j.half - i.half).abs() < 1e-6);
        }
    }
}
