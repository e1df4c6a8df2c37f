//! Where the warm-up ends.

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
