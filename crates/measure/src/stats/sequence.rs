//! Confidence that holds however often one looks: confidence sequences.
//!
//! An interval of a number of runs fixed in advance covers in 95 of 100 studies. Who looks, adds
//! runs until something shows, and looks again is wrong far more often. A confidence sequence
//! covers at all numbers of runs at once in 95 of 100 studies.

use spillgate_core::math::{exp, ln};

use super::Interval;
use super::special::ln_beta;
use super::student::{student_t_cdf, student_t_quantile};

/// How often one looks at the runs of a study.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Looks {
    /// Once, at a number of runs that was fixed before: Student's interval.
    #[default]
    Once,
    /// After any number of runs, and again after more: the interval covers at all of them at once.
    Any,
}

/// Variance of what the truth is off in standard deviations of one run, as it is weighted. Any
/// value is valid; this one is of use from three runs on, and costs at most a seventh of the width
/// against the best one anywhere between 4 and 200 runs.
const SPREAD: f64 = 10.0;

/// The part of what may go wrong that is spent on two values, of which the evidence alone would
/// never be enough: Student's interval there, at `1 - PAIR (1 - level)`.
const PAIR: f64 = 0.1;

/// The logarithm of the evidence against a mean that is `t` standard errors away from that of `n`
/// values; 0 of fewer than two.
///
/// The likelihood ratio of the t statistic, its noncentrality mixed by a normal distribution of
/// variance `n g`, g = [`SPREAD`]: `(1 + n g)^(-1/2) ((1 + x) / (1 + x / (1 + n g)))^(n/2)` with
/// `x = t^2 / (n - 1)`. It is a martingale of mean 1 if the values are normal with that mean and
/// any variance, as it is a ratio of densities of the values' maximal invariant under scaling, so
/// that it ever reaches 1/a with a probability of at most a (Ville).
///
/// T. L. Lai, "On confidence sequences", Annals of Statistics 4, 1976; H. Wang and A. Ramdas,
/// "Anytime-valid t-tests and confidence sequences for Gaussian means with unknown variance",
/// Sequential Analysis 44, 2025, section 4.
fn ln_evidence(t: f64, n: usize) -> f64 {
    if n < 2 || t.is_nan() {
        return 0.0;
    }
    let n = n as f64;
    let (wide, x) = (1.0 + n * SPREAD, t * t / (n - 1.0));
    let ratio = if x.is_finite() {
        (1.0 + x) / (1.0 + x / wide)
    } else {
        wide
    };
    0.5 * n * ln(ratio) - 0.5 * ln(wide)
}

/// The probability that a mean `t` standard errors away from that of `n` values, or further, is
/// ever seen at this or another number of values, at most.
pub(crate) fn p_value(t: f64, n: usize) -> f64 {
    let p = match n {
        0 | 1 => 1.0,
        2 => 2.0 * student_t_cdf(-t.abs(), 1.0) / PAIR,
        _ => exp(-ln_evidence(t, n)) / (1.0 - PAIR),
    };
    p.min(1.0)
}

/// How many standard errors the interval of `n` values reaches to both sides: where [`p_value`] is
/// `1 - level`; infinity of too few values.
pub(crate) fn reach(n: u64, level: f64) -> f64 {
    match n {
        0 | 1 => return f64::INFINITY,
        2 => return student_t_quantile(1.0 - PAIR * (1.0 - level) / 2.0, 1.0),
        _ => {}
    }
    let n = n as f64;
    let wide = 1.0 + n * SPREAD;
    // (1 + x) / (1 + x / wide) = ratio, solved for x.
    let ratio = exp(2.0 / n * (0.5 * ln(wide) - ln((1.0 - PAIR) * (1.0 - level))));
    if ratio < wide {
        ((n - 1.0) * (ratio - 1.0) / (1.0 - ratio / wide)).sqrt()
    } else {
        f64::INFINITY
    }
}

impl Interval {
    /// The `p`-quantile (0 < p < 1) of what the values come from, with an interval that covers
    /// after any number of values at once, whatever their distribution. NaN values are skipped.
    ///
    /// Its mean is the least value that at least a share p do not exceed. An end is infinite until
    /// there are enough values. The number of values up to the quantile is binomial; its
    /// likelihood ratio, mixed by a beta distribution of mean p, is a martingale, and the interval
    /// ends at the order statistics where that is still below `1 / (1 - level)` (H. Robbins,
    /// "Statistical methods related to the law of the iterated logarithm", Annals of Mathematical
    /// Statistics 41, 1970; S. Howard and A. Ramdas, "Sequential estimation of quantiles with
    /// applications to A/B testing and best-arm identification", Bernoulli 28, 2022, sections 3
    /// and 4). Where values are equal, fewer than p may lie below the quantile and more up to it,
    /// which only adds to the coverage.
    pub fn of_quantile(xs: &[f64], p: f64, level: f64) -> Self {
        let mut sorted: Vec<f64> = xs.iter().copied().filter(|x| !x.is_nan()).collect();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        let at = |rank: usize| sorted.get(rank.wrapping_sub(1)).copied();
        let (first, last) = ranks(n, p, level);
        let low = at(first).unwrap_or(f64::NEG_INFINITY);
        let high = at(last + 1).unwrap_or(f64::INFINITY);
        Self {
            mean: at(((p * n as f64).ceil() as usize).max(1)).unwrap_or(f64::NAN),
            low,
            high,
            half: (high - low) / 2.0,
            n,
            deviation: f64::NAN,
            level,
            looks: Looks::Any,
        }
    }
}

/// The least and the most values of `n` that may lie up to the `p`-quantile.
fn ranks(n: usize, p: f64, level: f64) -> (usize, usize) {
    // As much as this many values, of which a share p lay up to the quantile.
    const WEIGHT: f64 = 4.0;
    let (a, b) = (WEIGHT * p, WEIGHT * (1.0 - p));
    let (ln_p, ln_q, prior) = (ln(p), ln(1.0 - p), ln_beta(a, b));
    let limit = -ln(1.0 - level);
    let is_possible = |k: usize| {
        let (k, rest) = (k as f64, (n - k) as f64);
        ln_beta(a + k, b + rest) - prior - k * ln_p - rest * ln_q < limit
    };
    // The evidence is convex in k and least near its mean.
    let middle = (p * n as f64).round() as usize;
    let first = (0..=middle).find(|k| is_possible(*k)).unwrap_or(middle);
    let last = (middle..=n)
        .rev()
        .find(|k| is_possible(*k))
        .unwrap_or(middle);
    (first, last)
}

#[cfg(test)]
mod tests;
