//! Comparing variants that ran under common random numbers.

use super::Interval;

/// The mean of `a - b` over runs paired by position, with its Student-t interval.
///
/// Two variants under one seed see the same arrivals, so run i of one belongs
/// with run i of the other, and what both owe to the arrivals cancels: the
/// interval is narrower than that of two independent samples (Law and Kelton,
/// chapter on comparing systems). Pairs with a NaN, and what has no partner, are skipped.
pub fn paired_difference(a: &[f64], b: &[f64], level: f64) -> Interval {
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    Interval::of(&differences, level)
}

/// The level at which each of `comparisons` intervals must be made for all of them to hold
/// together with probability `level` or more (Bonferroni): `1 - (1 - level) / comparisons`.
pub fn simultaneous_level(level: f64, comparisons: usize) -> f64 {
    1.0 - (1.0 - level) / comparisons.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_variants_share_cancels() {
        let a = [10.0, 25.0, 17.0, f64::NAN, 40.0];
        let b = [9.0, 23.0, 14.0, 8.0];
        let d = paired_difference(&a, &b, 0.95);
        assert_eq!(d, Interval::of(&[1.0, 2.0, 3.0], 0.95));
        // t(0.975, 2) / sqrt(3) = 2.484: above 2, and so it would be for any shared part.
        assert!(d.low < 0.0 && paired_difference(&a, &b, 0.9).low > 0.0);
    }

    #[test]
    fn five_comparisons_at_one_percent_each() {
        assert!((simultaneous_level(0.95, 5) - 0.99).abs() < 1e-15);
        assert_eq!(simultaneous_level(0.95, 1), 0.95);
        assert_eq!(simultaneous_level(0.95, 0), 0.95);
    }
}
