//! Verdicts on requirements, and how many runs it takes to reach one.

use crate::stats::{Interval, student_t_quantile};

/// Whether a requirement is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// The whole interval satisfies the bounds.
    Pass,
    /// The whole interval violates a bound.
    Fail,
    /// The interval contains a bound, or there is none.
    Undecided,
}

impl Verdict {
    /// `pass`, `fail` or `undecided`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Undecided => "undecided",
        }
    }
}

/// Judges an interval by an upper and a lower bound, either of which may be missing.
///
/// Pass needs the whole interval within the bounds (a bound itself is within),
/// fail the whole interval beyond one of them; all else is undecided, as is an
/// interval of fewer than two values. Without any bound everything passes that
/// has an interval.
pub fn judge(interval: &Interval, max: Option<f64>, min: Option<f64>) -> Verdict {
    let (low, high) = (interval.low, interval.high);
    // NaN (no value) makes every comparison false.
    if max.is_some_and(|m| low > m) || min.is_some_and(|m| high < m) {
        Verdict::Fail
    } else if interval.n >= 2
        && high >= low
        && max.is_none_or(|m| high <= m)
        && min.is_none_or(|m| low >= m)
    {
        Verdict::Pass
    } else {
        Verdict::Undecided
    }
}

/// How many further runs would settle an undecided requirement, assuming that
/// mean and standard deviation stay what they are.
///
/// With d the distance from the mean to the bound in question, the answer is
/// the smallest n with `t(n-1) s / sqrt(n) < d`, less the runs there are; the t
/// quantile depends on n too, so it is searched, not solved. It is a planning
/// aid: the true number varies as much as s does.
///
/// * `Some(0)`: decided already.
/// * `Some(1)` from a single run: its deviation is unknown; run once more and ask again.
/// * `None`: no run has a value, or the mean sits on a bound, which no number of runs can settle,
///   or more than 4 billion runs would be needed.
pub fn further_runs(interval: &Interval, max: Option<f64>, min: Option<f64>) -> Option<u32> {
    if judge(interval, max, min) != Verdict::Undecided {
        return Some(0);
    }
    match interval.n {
        0 => return None,
        1 => return Some(1),
        _ => {}
    }
    let mean = interval.mean;
    // Beyond a bound, the interval must leave it behind; within, keep clear of both.
    let distance = match (max, min) {
        (Some(m), _) if mean > m => mean - m,
        (_, Some(m)) if mean < m => m - mean,
        _ => (max.unwrap_or(f64::INFINITY) - mean).min(mean - min.unwrap_or(f64::NEG_INFINITY)),
    };
    if !(distance > 0.0 && interval.deviation.is_finite()) {
        return None;
    }
    let settles = |n: u64| {
        let t = student_t_quantile(0.5 + interval.level / 2.0, (n - 1) as f64);
        t * interval.deviation / (n as f64).sqrt() < distance
    };
    // The half-width falls with n: bracket, then halve.
    let have = interval.n as u64;
    let (mut no, mut yes) = (have, have * 2);
    while !settles(yes) {
        (no, yes) = (yes, yes * 2);
        if yes > 1 << 33 {
            return None;
        }
    }
    while yes - no > 1 {
        let mid = no + (yes - no) / 2;
        if settles(mid) { yes = mid } else { no = mid }
    }
    u32::try_from(yes - have).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn over(low: f64, high: f64) -> Interval {
        Interval {
            low,
            high,
            mean: (low + high) / 2.0,
            half: (high - low) / 2.0,
            ..Interval::of(&[1.0, 2.0, 3.0], 0.95)
        }
    }

    #[test]
    fn truth_table() {
        use Verdict::{Fail, Pass, Undecided};
        let i = over(2.0, 4.0);
        for (max, min, want) in [
            (Some(5.0), None, Pass),
            (Some(4.0), None, Pass),
            (Some(3.9), None, Undecided),
            (Some(3.0), None, Undecided),
            (Some(2.0), None, Undecided),
            (Some(1.9), None, Fail),
            (None, Some(1.0), Pass),
            (None, Some(2.0), Pass),
            (None, Some(2.1), Undecided),
            (None, Some(4.0), Undecided),
            (None, Some(4.1), Fail),
            (Some(5.0), Some(1.0), Pass),
            (Some(3.0), Some(1.0), Undecided),
            (Some(5.0), Some(3.0), Undecided),
            (Some(1.0), Some(0.0), Fail),
            (Some(9.0), Some(5.0), Fail),
            (None, None, Pass),
        ] {
            assert_eq!(judge(&i, max, min), want, "max {max:?}, min {min:?}");
        }
    }

    #[test]
    fn identical_values_are_an_interval_of_no_width() {
        let i = Interval::of(&[0.1; 10], 0.95);
        assert_eq!(judge(&i, Some(0.1), None), Verdict::Pass);
        assert_eq!(judge(&i, None, Some(0.1)), Verdict::Pass);
        assert_eq!(judge(&i, Some(0.0999), None), Verdict::Fail);
        assert_eq!(further_runs(&i, Some(0.1), None), Some(0));
    }

    #[test]
    fn one_value_or_none_decides_nothing() {
        for xs in [&[][..], &[f64::NAN], &[5.0], &[5.0, f64::NAN]] {
            let i = Interval::of(xs, 0.95);
            assert_eq!(judge(&i, Some(100.0), None), Verdict::Undecided, "{xs:?}");
            assert_eq!(judge(&i, None, None), Verdict::Undecided, "{xs:?}");
        }
        assert_eq!(
            further_runs(&Interval::of(&[], 0.95), Some(1.0), None),
            None
        );
        assert_eq!(
            further_runs(&Interval::of(&[5.0], 0.95), Some(1.0), None),
            Some(1)
        );
    }

    #[test]
    fn further_runs_by_the_t_table() {
        // Mean 10, s = 1. At distance 0.5 the half-width t s / sqrt(n) must be below 0.5:
        // n = 18: 2.1098 / 4.2426 = 0.4973; n = 17: 2.1199 / 4.1231 = 0.5141.
        let i = Interval {
            n: 4,
            mean: 10.0,
            deviation: 1.0,
            half: 1.591,
            low: 8.409,
            high: 11.591,
            level: 0.95,
        };
        assert_eq!(further_runs(&i, Some(10.5), None), Some(14));
        assert_eq!(further_runs(&i, None, Some(10.5)), Some(14));
        assert_eq!(further_runs(&i, Some(9.5), None), Some(14));
        // The nearer of two bounds counts.
        assert_eq!(further_runs(&i, Some(10.5), Some(0.0)), Some(14));
        assert_eq!(further_runs(&i, Some(11.0), Some(9.5)), Some(14));
        assert_eq!(further_runs(&i, Some(10.0), None), None);
        assert_eq!(further_runs(&i, Some(12.0), None), Some(0));
        // z s / d = 1.96e6: n = 3.84e12.
        assert_eq!(further_runs(&i, Some(10.000_001), None), None);
    }

    proptest! {
        /// The runs asked for suffice under the assumption, one fewer does not.
        #[test]
        fn further_runs_are_enough_and_no_more(
            xs in prop::collection::vec(0.0_f64..1.0, 2..20),
            bound in 0.0_f64..1.0,
        ) {
            let i = Interval::of(&xs, 0.95);
            if let Some(k @ 1..) = further_runs(&i, Some(bound), None) {
                let half = |n: u64| student_t_quantile(0.975, (n - 1) as f64) * i.deviation / (n as f64).sqrt();
                let n = xs.len() as u64 + u64::from(k);
                let d = (i.mean - bound).abs();
                prop_assert!(half(n) < d && half(n - 1) >= d);
            }
        }
    }
}
