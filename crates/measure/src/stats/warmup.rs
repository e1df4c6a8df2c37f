//! Where the warm-up ends.

use super::student_t_quantile;

/// Truncation by MSER-5 (White 1997; with batches of five: White, Cobb and
/// Spratt 2000): how many values to leave out at the beginning of `xs`.
///
/// The values are averaged in batches of five. Leaving out d of m batches, the
/// standard error of the mean of the others is estimated by `sum of (y - mean)² /
/// (m - d)²`; the d that minimizes it, looked for in the first half only, ends
/// the warm-up: a late d rests on a few values that happen to agree. An answer
/// of half the data means that the run is too short. Fewer than ten values
/// give 0. Values must not be NaN.
pub fn mser5(xs: &[f64]) -> usize {
    const BATCH: usize = 5;
    let m = xs.len() / BATCH;
    if m < 2 {
        return 0;
    }
    let mean = |i: usize| xs[i * BATCH..(i + 1) * BATCH].iter().sum::<f64>() / BATCH as f64;
    // From the end, with Welford's running mean and sum of squares. Of equal
    // errors the earliest truncation wins.
    let (mut centre, mut squares, mut n) = (0.0, 0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    for d in (0..m).rev() {
        let y = mean(d);
        n += 1.0;
        let delta = y - centre;
        centre += delta / n;
        squares += delta * (y - centre);
        if d <= m / 2 {
            let error = squares / (n * n);
            if error <= best.0 {
                best = (error, d);
            }
        }
    }
    best.1 * BATCH
}

/// What an initial transient does to a mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transient {
    /// How many values to leave out at the beginning; none if the rest is no steadier, so that the
    /// series is too short.
    pub cut: Option<usize>,
    /// By how much the mean of all differs from that of the values that stay (the later half if
    /// none do), as a share of the latter.
    pub bias: f64,
}

/// An initial transient in `xs` that is both beyond chance and larger than `least`, a share of the
/// mean.
///
/// Beyond chance: at a level of 0.1 %. How long it lasts: [`mser5`]. Where that is half of the
/// values, the most that it can be, or the later half still seems to have one of its own (at a
/// level of 5 %), nothing has settled. Fewer than 40 values give none. Values must not be NaN.
pub fn transient(xs: &[f64], least: f64) -> Option<Transient> {
    if xs.len() < 40 {
        return None;
    }
    let (cut, later) = (mser5(xs), &xs[xs.len() / 2..]);
    let off = |xs: &[f64], rest: &[f64]| (mean(xs) - mean(rest)) / mean(rest).abs();
    let is_large = |bias: f64| bias.is_finite() && bias.abs() > least;
    let still = is_large(off(later, &later[later.len() / 2..])) && begins_off(later, 0.05);
    let settles = cut + 5 <= xs.len() / 2 && !still;
    let bias = off(xs, if settles { &xs[cut..] } else { later });
    (is_large(bias) && begins_off(xs, 0.001)).then_some(Transient {
        cut: settles.then_some(cut),
        bias,
    })
}

/// Whether the beginning of `xs` differs from the rest beyond chance.
///
/// The test of Schruben, Singh and Tierney (1983),
/// `T = sqrt(45) / (n^1.5 sigma) * sum over k of (1 - k/n) k (mean of all - mean of the first k)`,
/// two-sided at `level`: a t variable if it does not. It also finds a trend over the whole series.
/// `sigma^2`, n times the variance of the mean, is estimated from ten batches of the later half.
fn begins_off(xs: &[f64], level: f64) -> bool {
    const BATCHES: usize = 10;
    let (n, all, later) = (xs.len() as f64, mean(xs), &xs[xs.len() / 2..]);
    let size = (later.len() / BATCHES).max(1);
    let batches: Vec<f64> = later.chunks_exact(size).take(BATCHES).map(mean).collect();
    let center = mean(&batches);
    let squares: f64 = batches.iter().map(|b| (b - center) * (b - center)).sum();
    let sigma = (squares / (BATCHES - 1) as f64 * size as f64).sqrt();
    let (mut sum, mut statistic) = (0.0, 0.0);
    for (k, x) in (1..).map(f64::from).zip(xs) {
        sum += x;
        statistic += (1.0 - k / n) * (k * all - sum);
    }
    statistic *= 45_f64.sqrt() / (n * n.sqrt());
    let limit = student_t_quantile(1.0 - level / 2.0, (BATCHES - 1) as f64);
    statistic.abs() > limit * sigma
}

fn mean(xs: &[f64]) -> f64 {
    xs.iter().sum::<f64>() / xs.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use spillgate_core::Rng;

    /// The definition, without running sums: the error by truncation in batches.
    fn errors(xs: &[f64]) -> Vec<f64> {
        let y: Vec<f64> = xs
            .chunks_exact(5)
            .map(|c| c.iter().sum::<f64>() / 5.0)
            .collect();
        let error = |d: usize| {
            let rest = &y[d..];
            let n = rest.len() as f64;
            let mean = rest.iter().sum::<f64>() / n;
            rest.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n * n)
        };
        (0..=y.len() / 2).map(error).collect()
    }

    /// Whether truncating `cut` values has the least error, up to rounding.
    fn is_least(xs: &[f64], cut: usize) -> bool {
        let errors = errors(xs);
        let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
        errors[cut / 5] <= least * (1.0 + 1e-9) + 1e-9
    }

    #[test]
    fn hand_example() {
        // Batch means 9, 5, 1, 1, 3, 1: with d left out the errors are (over n²)
        // d=0: mean 20/6, sum of squares 118 - 400/6 = 51.33, /36 = 1.426
        // d=1: mean 11/5, 37 - 121/5 = 12.8, /25 = 0.512
        // d=2: mean 6/4, 12 - 9 = 3, /16 = 0.1875
        // d=3: mean 5/3, 11 - 25/3 = 2.667, /9 = 0.296
        let xs: Vec<f64> = [9.0, 5.0, 1.0, 1.0, 3.0, 1.0]
            .iter()
            .flat_map(|&y| [y - 0.5, y, y + 0.5, y, y])
            .collect();
        assert_eq!(mser5(&xs), 10);
    }

    #[test]
    fn nothing_to_truncate() {
        assert_eq!(mser5(&[]), 0);
        assert_eq!(mser5(&[5.0; 9]), 0);
        assert_eq!(mser5(&[5.0; 100]), 0);
    }

    /// A transient of 200 values, ten deviations high and then gone, is left out, and little more:
    /// batches after it differ by noise alone.
    #[test]
    fn a_transient_is_found() {
        let mut r = Rng::named(1, 0, "test", "mser");
        for _ in 0..50 {
            let xs: Vec<f64> = (0..2_000)
                .map(|i| f64::from(u8::from(i < 200)) * 10.0 + r.f64())
                .collect();
            let cut = mser5(&xs);
            assert!((200..=1_000).contains(&cut), "{cut}");
            assert!(is_least(&xs, cut));
        }
    }

    /// Autoregressive noise around 100: each value has 0.8 of what the one before it was off.
    fn noise(r: &mut Rng, n: usize) -> Vec<f64> {
        let mut off = 0.0;
        let mut next = || {
            off = 0.8 * off + r.f64() - 0.5;
            100.0 + off
        };
        (0..n).map(|_| next()).collect()
    }

    #[test]
    fn noise_alone_is_no_transient() {
        let mut r = Rng::named(2, 0, "test", "transient");
        // At a level of 0.1 %, and as batches of correlated values are somewhat alike, up to 1 %.
        let found = (0..1_000)
            .filter(|_| transient(&noise(&mut r, 250), 0.0).is_some())
            .count();
        assert!(found <= 10, "{found}");
        assert_eq!(transient(&[5.0; 250], 0.0), None);
        assert_eq!(transient(&[0.0; 250], 0.0), None);
        assert_eq!(transient(&[1.0; 39], 0.0), None);
    }

    #[test]
    fn a_start_is_found_with_its_length_and_bias() {
        let mut r = Rng::named(3, 0, "test", "transient");
        let mut unsettled = 0;
        for _ in 0..100 {
            let mut xs = noise(&mut r, 250);
            // A tenth of the time at half the level: 5 % below.
            xs[..25].iter_mut().for_each(|x| *x *= 0.5);
            let found = transient(&xs, 0.02).unwrap();
            assert!(
                found.cut.is_none_or(|cut| (25..=120).contains(&cut)),
                "{found:?}"
            );
            assert!((found.bias + 0.05).abs() < 0.01, "{found:?}");
            assert_eq!(transient(&xs, 0.1), None);
            unsettled += u32::from(found.cut.is_none());
        }
        // MSER-5 has its least now and then at the last place where it looks.
        assert!(unsettled <= 5, "{unsettled}");
    }

    #[test]
    fn a_trend_does_not_settle() {
        let mut r = Rng::named(4, 0, "test", "transient");
        for _ in 0..100 {
            let mut xs = noise(&mut r, 250);
            (0..)
                .zip(&mut xs)
                .for_each(|(i, x)| *x += 0.4 * f64::from(i));
            let found = transient(&xs, 0.02).unwrap();
            assert_eq!(found.cut, None);
            assert!(found.bias < -0.1, "{found:?}");
        }
    }

    /// What swings slowly has no beginning that differs.
    #[test]
    fn a_slow_saw_is_no_transient() {
        for phase in 0..70 {
            let saw = |i: usize| 1.0 + ((i + phase) % 70) as f64 / 70.0;
            let xs: Vec<f64> = (0..250).map(saw).collect();
            assert_eq!(transient(&xs, 0.02), None, "{phase}");
        }
    }

    proptest! {
        #[test]
        fn running_sums_agree_with_the_definition(
            steps in prop::collection::vec(-100_i32..100, 0..200),
        ) {
            // A random walk.
            let mut x = 0;
            let xs: Vec<f64> = steps.iter().map(|s| { x += s; f64::from(x) }).collect();
            if xs.len() >= 10 {
                prop_assert!(is_least(&xs, mser5(&xs)));
            }
        }
    }
}
