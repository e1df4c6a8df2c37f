//! Verdicts on requirements, and how many runs it takes to reach one.

use crate::stats::{Interval, Looks, p_value_of_looks, student_t_cdf};
use spillgate_core::show;

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
    /// Every verdict, in the order of reports.
    pub const ALL: [Self; 3] = [Self::Pass, Self::Fail, Self::Undecided];

    /// `pass`, `fail` or `undecided`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Undecided => "undecided",
        }
    }

    /// The same of a requirement that is to hold for certain: `proven`, `refuted` or `not proven`.
    pub const fn as_certain(self) -> &'static str {
        match self {
            Self::Pass => "proven",
            Self::Fail => "refuted",
            Self::Undecided => "not proven",
        }
    }

    /// The worst of some: any that fails decides, then any that is undecided; none of none.
    pub fn worst(all: impl IntoIterator<Item = Self>) -> Option<Self> {
        all.into_iter().max_by_key(|v| v.severity())
    }

    /// How bad it is, from 0.
    pub const fn severity(self) -> u8 {
        match self {
            Self::Pass => 0,
            Self::Undecided => 1,
            Self::Fail => 2,
        }
    }

    /// The exit status that says it.
    pub const fn status(self) -> u8 {
        match self {
            Self::Pass => 0,
            Self::Fail => 1,
            Self::Undecided => 3,
        }
    }

    /// The symbol that stands before its word, so that color never says it alone.
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Pass => "✓",
            Self::Fail => "✗",
            Self::Undecided => "?",
        }
    }

    /// What it means, in a line.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Pass => "The whole interval of the verdict satisfies the bounds",
            Self::Fail => "The whole interval of the verdict violates a bound",
            Self::Undecided => "The interval of the verdict contains a bound, or there is none",
        }
    }
}

/// A bound as text: `≤ 20 ms` of the side `max`, `≥ 10 Mb/s` of the side `min`.
pub fn bound(side: &str, bound: f64, unit: &str) -> String {
    let sign = if side == "max" { '≤' } else { '≥' };
    format!("{sign} {}", show::value(bound, unit))
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

/// The two-sided p-value of the bound being the mean: how probable a mean at least as far from it
/// would be. 1 if nothing can be said (fewer than two values), 0 if all values are the same.
///
/// Of an interval for any number of looks the probability that it ever falls to p is at most p.
///
/// With an upper and a lower bound it is that of the one that is nearer to the mean. A verdict at
/// level L is decided where p is at most `1 - L`.
pub fn p_value(interval: &Interval, max: Option<f64>, min: Option<f64>) -> f64 {
    if interval.n < 2 || interval.mean.is_nan() {
        return 1.0;
    }
    let distance = [max, min]
        .into_iter()
        .flatten()
        .map(|bound| (interval.mean - bound).abs())
        .fold(f64::INFINITY, f64::min);
    if interval.deviation == 0.0 {
        return 0.0;
    }
    let n = interval.n as f64;
    let t = distance / (interval.deviation / n.sqrt());
    let p = match interval.looks {
        Looks::Once => 2.0 * student_t_cdf(-t, n - 1.0),
        Looks::Any => p_value_of_looks(t, interval.n),
    };
    p.min(1.0)
}

/// What is done about many verdicts at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Correction {
    /// Each is at the level for itself.
    None,
    /// All together are at the level: each of m at `1 - (1 - level) / m`.
    Bonferroni,
    /// The same with more decided: the clearest of m at `1 - (1 - level) / m`, the next at
    /// `1 - (1 - level) / (m - 1)`, and so on; from the first that is undecided on, nothing is
    /// (Holm 1979).
    Holm,
}

/// The level at which each of several verdicts is to be judged, given their [`p_value`]s, so that
/// all together hold at `level`.
///
/// S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
/// Statistics 6, 1979. No independence is assumed.
pub fn levels(ps: &[f64], correction: Correction, level: f64) -> Vec<f64> {
    let m = ps.len();
    let alpha = 1.0 - level;
    let at = |tests: usize| 1.0 - alpha / tests.max(1) as f64;
    match correction {
        Correction::None => vec![level; m],
        Correction::Bonferroni => vec![at(m); m],
        Correction::Holm => {
            let mut order: Vec<usize> = (0..m).collect();
            order.sort_by(|a, b| ps[*a].total_cmp(&ps[*b]));
            let mut out = vec![level; m];
            let mut left = m;
            for i in order {
                out[i] = at(left);
                // Once one is undecided, all later ones are less clear and stay at its level.
                if ps[i] <= alpha / left as f64 {
                    left -= 1;
                }
            }
            out
        }
    }
}

/// How many further runs would settle an undecided requirement, assuming that
/// mean and standard deviation stay what they are.
///
/// With d the distance from the mean to the bound in question, the answer is
/// the smallest n whose half-width ([`Interval::half_after`]) is below d, less the
/// runs there are; it is searched, not solved. It is a planning aid: the true
/// number varies as much as the deviation does. Who follows it and asks again looks more
/// than once: the interval should be one [for any number of looks](Looks::Any).
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
    let settles = |n: u64| interval.half_after(n) < distance;
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
    fn the_worst_decides() {
        use Verdict::{Fail, Pass, Undecided};
        assert_eq!(Verdict::worst([]), None);
        assert_eq!(Verdict::worst([Pass, Pass]), Some(Pass));
        assert_eq!(Verdict::worst([Undecided, Pass]), Some(Undecided));
        assert_eq!(Verdict::worst([Undecided, Fail, Pass]), Some(Fail));
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
            looks: Looks::Once,
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

    #[test]
    fn p_values_are_those_of_the_t_test() {
        // 1, 2, 3, 4, 5: mean 3, s = 1.5811, standard error 0.70711; the bound 5 is 2.8284 of them
        // away. P(|T4| > 2.8284) = 0.04742 (tables: 0.05 at 2.7764, 0.02 at 3.7469).
        let i = Interval::of(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.95);
        assert!((p_value(&i, Some(5.0), None) - 0.047_42).abs() < 1e-5);
        assert!((p_value(&i, None, Some(1.0)) - 0.047_42).abs() < 1e-5);
        assert_eq!(p_value(&i, Some(3.0), None), 1.0);
        // Of two bounds the nearer one decides.
        let nearer = p_value(&i, Some(5.0), None);
        assert_eq!(p_value(&i, Some(5.0), Some(0.0)), nearer);
        assert_eq!(p_value(&i, Some(9.0), Some(1.0)), nearer);
        assert_eq!(
            p_value(&Interval::of(&[2.0, 2.0], 0.95), Some(3.0), None),
            0.0
        );
        assert_eq!(p_value(&Interval::of(&[2.0], 0.95), Some(3.0), None), 1.0);
        assert_eq!(p_value(&Interval::of(&[], 0.95), Some(3.0), None), 1.0);
    }

    #[test]
    fn holm_steps_down_and_stops() {
        // Holm's order at 5 %: 0.01 <= 0.05/4, 0.015 <= 0.05/3, 0.03 > 0.05/2: there it stops.
        let ps = [0.03, 0.01, 0.2, 0.015];
        let decided = |correction| -> Vec<bool> {
            let levels = levels(&ps, correction, 0.95);
            ps.iter().zip(levels).map(|(p, l)| *p <= 1.0 - l).collect()
        };
        assert_eq!(decided(Correction::Holm), [false, true, false, true]);
        assert_eq!(decided(Correction::Bonferroni), [false, true, false, false]);
        assert_eq!(decided(Correction::None), [true, true, false, true]);
        assert!(levels(&[], Correction::Holm, 0.95).is_empty());
        // 0.019 would be below 0.05/2, but comes after one that is not decided.
        let levels = levels(&[0.019, 0.019, 0.019], Correction::Holm, 0.95);
        assert!(
            levels
                .iter()
                .all(|l| (l - (1.0 - 0.05 / 3.0)).abs() < 1e-12)
        );
    }

    proptest! {
        /// A verdict at a level is decided where its p-value says so; Holm decides no less than
        /// Bonferroni and no more than single verdicts.
        #[test]
        fn corrections_are_ordered(
            runs in prop::collection::vec(prop::collection::vec(0.0_f64..1.0, 3..12), 1..12),
            bound in 0.2_f64..0.8,
            looks in prop::sample::select(vec![Looks::Once, Looks::Any]),
        ) {
            let all: Vec<Interval> =
                runs.iter().map(|xs| Interval::of(xs, 0.95).for_looks(looks)).collect();
            let ps: Vec<f64> = all.iter().map(|i| p_value(i, Some(bound), None)).collect();
            let decided = |c| -> Vec<bool> {
                let judged = all.iter().zip(levels(&ps, c, 0.95));
                judged.map(|(i, l)| judge(&i.at_level(l), Some(bound), None) != Verdict::Undecided).collect()
            };
            let (none, holm, bonferroni) =
                (decided(Correction::None), decided(Correction::Holm), decided(Correction::Bonferroni));
            for k in 0..all.len() {
                prop_assert!(none[k] >= holm[k] && holm[k] >= bonferroni[k]);
                let near = (ps[k] - 0.05).abs() < 1e-9;
                prop_assert!(near || none[k] == (ps[k] <= 0.05));
            }
        }

        /// The runs asked for suffice under the assumption, one fewer does not.
        #[test]
        fn further_runs_are_enough_and_no_more(
            xs in prop::collection::vec(0.0_f64..1.0, 2..20),
            bound in 0.0_f64..1.0,
            looks in prop::sample::select(vec![Looks::Once, Looks::Any]),
        ) {
            let i = Interval::of(&xs, 0.95).for_looks(looks);
            if let Some(k @ 1..) = further_runs(&i, Some(bound), None) {
                let n = xs.len() as u64 + u64::from(k);
                let d = (i.mean - bound).abs();
                prop_assert!(i.half_after(n) < d && i.half_after(n - 1) >= d);
            }
        }
    }
}
