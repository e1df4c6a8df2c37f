//! Confidence intervals.

use super::special::binomial_cdf;
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
}

impl Interval {
    /// The level of intervals where nobody says another.
    pub const LEVEL: f64 = 0.95;

    /// The mean of independent values with its Student-t interval. NaN values are skipped.
    ///
    /// One value has an infinite interval; none have mean NaN. Values that are
    /// all the same have an interval of no width and that value as mean; with an infinite one among them
    /// nothing but that mean is known.
    pub fn of(xs: &[f64], level: f64) -> Self {
        Self::collect(xs.iter().copied(), level, &mut TQuantiles::new(level))
    }

    /// The same mean with an interval of another level.
    pub fn at_level(&self, level: f64) -> Self {
        if self.n < 2 || !self.deviation.is_finite() {
            return Self { level, ..*self };
        }
        let half = if self.deviation == 0.0 {
            0.0
        } else {
            let t = student_t_quantile(0.5 + level / 2.0, self.n as f64 - 1.0);
            t * self.deviation / (self.n as f64).sqrt()
        };
        Self {
            low: self.mean - half,
            high: self.mean + half,
            half,
            level,
            ..*self
        }
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

/// The mean of one long run by the method of batch means: `xs` is cut into `batches` of equal
/// length, whose means are taken as independent (Law and Kelton).
///
/// What does not fill a batch is left out at the beginning, where a transient
/// would be. Batches must be much longer than the correlation; 10 to 30 of
/// them are usual (Schmeiser 1982). NaN values are skipped within their batch.
pub fn batch_means(xs: &[f64], batches: usize, level: f64) -> Interval {
    let batches = batches.max(1);
    let size = xs.len() / batches;
    if size == 0 {
        return Interval::of(&[], level);
    }
    let means: Vec<f64> = xs[xs.len() - size * batches..]
        .chunks_exact(size)
        .map(|batch| Interval::of(batch, level).mean)
        .collect();
    Interval::of(&means, level)
}

/// The `q`-quantile of independent values with an interval between two order
/// statistics: free of any assumption on the distribution (David and Nagaraja,
/// Order Statistics, §7.1).
///
/// The number of values below the true quantile is binomial, so the interval
/// leaves out at most half of `1 - level` on either side. Where so few values
/// cannot give the level, that end is infinite. The estimate (in `mean`) is the
/// smallest value whose rank is at least `q n`. NaN values are skipped.
pub fn quantile_interval(xs: &[f64], q: f64, level: f64) -> Interval {
    let mut sorted: Vec<f64> = xs.iter().copied().filter(|x| !x.is_nan()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let n = sorted.len();
    let deviation = Interval::of(&sorted, level).deviation;
    if n == 0 || !(0.0..=1.0).contains(&q) {
        return Interval::of(&[], level);
    }
    let tail = (1.0 - level) / 2.0;
    let below = |k: usize| binomial_cdf(k as u64, n as u64, q);
    // With B the number of values below the quantile: X(l) lies above it iff
    // B < l, X(u) below it iff B >= u. Both ranks from 1.
    let l = first(n + 1, |k| below(k) > tail);
    let u = first(n, |k| below(k) >= 1.0 - tail) + 1;
    let low = if l == 0 {
        f64::NEG_INFINITY
    } else {
        sorted[l - 1]
    };
    let high = if u > n { f64::INFINITY } else { sorted[u - 1] };
    let rank = crate::histogram::rank(q, n as u64) as usize;
    Interval {
        mean: sorted[rank - 1],
        low,
        high,
        half: (high - low) / 2.0,
        n,
        deviation,
        level,
    }
}

/// The first k in 0..end for which a monotone predicate holds, `end` if none.
fn first(end: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, end);
    while low < high {
        let mid = low + (high - low) / 2;
        if holds(mid) {
            high = mid;
        } else {
            low = mid + 1;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use spillgate_core::{Rng, math};

    /// A standard normal variate (Marsaglia's polar method).
    fn normal(r: &mut Rng) -> f64 {
        loop {
            let (u, v) = (r.uniform(-1.0, 1.0), r.uniform(-1.0, 1.0));
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                return u * (-2.0 * math::ln(s) / s).sqrt();
            }
        }
    }

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

    /// AR(1) with coefficient 0.5: the naive interval is too short by the factor
    /// sqrt((1 + 0.5) / (1 - 0.5)) = 1.73, batches of 100 (time constant 1.4) are as good as independent.
    #[test]
    fn batch_means_cover_correlated_values() {
        let mut r = Rng::named(1, 0, "test", "batches");
        let trials = 1_000;
        let (mut batched, mut naive) = (0, 0);
        for _ in 0..trials {
            // The stationary deviation is 1 / sqrt(1 - 1/4).
            let mut x = normal(&mut r) / 0.75_f64.sqrt();
            let xs: Vec<f64> = (0..2_000)
                .map(|_| {
                    x = 0.5 * x + normal(&mut r);
                    x
                })
                .collect();
            let b = batch_means(&xs, 20, 0.95);
            assert_eq!(b.n, 20);
            batched += u32::from(b.half > b.mean.abs());
            let i = Interval::of(&xs, 0.95);
            naive += u32::from(i.half > i.mean.abs());
        }
        assert_covers(batched, trials, 0.95);
        // P(|Z| < 1.96 / 1.73) = 0.742.
        assert_covers(naive, trials, 0.742);
    }

    #[test]
    fn batches_leave_out_the_beginning() {
        let i = batch_means(&[99.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0], 3, 0.95);
        assert_eq!((i.n, i.mean), (3, 2.0));
        assert_eq!(batch_means(&[1.0, 2.0], 3, 0.95).n, 0);
        assert_eq!(batch_means(&[1.0, 3.0], 0, 0.95).mean, 2.0);
    }

    /// Ranks of the 95 % interval of the median (Conover, Practical Nonparametric Statistics,
    /// table of the binomial): n = 10 has ranks 2 and 9, n = 6 has 1 and 6, n = 5 has none.
    #[test]
    fn ranks_of_the_median() {
        let ranks = |n: u32, q: f64| {
            let xs: Vec<f64> = (1..=n).rev().map(f64::from).collect();
            let i = quantile_interval(&xs, q, 0.95);
            (i.low, i.mean, i.high)
        };
        assert_eq!(ranks(10, 0.5), (2.0, 5.0, 9.0));
        assert_eq!(ranks(6, 0.5), (1.0, 3.0, 6.0));
        assert_eq!(ranks(5, 0.5), (f64::NEG_INFINITY, 3.0, f64::INFINITY));
        assert_eq!(ranks(100, 0.5), (40.0, 50.0, 61.0));
        // The upper end of a 99th percentile needs 0.99^n <= 0.025: n of 368.
        assert_eq!(ranks(367, 0.99).2, f64::INFINITY);
        assert_eq!(ranks(368, 0.99).2, 368.0);
        assert_eq!(quantile_interval(&[], 0.5, 0.95).n, 0);
    }

    /// Conservative by construction: coverage is at least the level, here 1 - 2 P(B <= 1) = 0.9785.
    #[test]
    fn quantile_intervals_cover() {
        let mut r = Rng::named(1, 0, "test", "median");
        let trials = 4_000;
        let covered = (0..trials).filter(|_| {
            let xs: Vec<f64> = (0..10).map(|_| r.exponential(1.0)).collect();
            let i = quantile_interval(&xs, 0.5, 0.95);
            i.low <= math::ln(2.0) && math::ln(2.0) <= i.high
        });
        assert_covers(covered.count() as u32, trials, 1.0 - 2.0 * 11.0 / 1024.0);
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
