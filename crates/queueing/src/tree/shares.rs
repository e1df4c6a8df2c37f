//! How the classes of a policy divide their enclosing rate.
//!
//! Priority and guaranteed classes get what they ask for. The rest is divided by `bandwidth
//! remaining` statements, and the rest of that is shared equally by the classes without any
//! statement, `class-default` among them.

use spillgate_core::Rate;

/// The smallest share of a class without a guarantee of its own.
const FLOOR: f64 = 0.01;

/// The share that a class asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Want {
    /// Strict priority, up to this rate if one is given.
    Priority(Option<Rate>),
    /// A guaranteed rate.
    Rate(Rate),
    /// A fraction of the rate that priority and guaranteed classes leave.
    RemainingPercent(f64),
    /// A ratio of the rate that priority and guaranteed classes leave.
    RemainingRatio(u32),
    /// No share of its own.
    Rest,
}

/// Each class's share of `rate`, 0 for priority classes.
pub(super) fn shares(wants: &[Want], rate: Rate) -> Vec<f64> {
    let whole = rate.bps() as f64;
    let reserved: f64 = wants
        .iter()
        .map(|w| match w {
            Want::Priority(Some(r)) | Want::Rate(r) => r.bps() as f64 / whole,
            _ => 0.0,
        })
        .sum();
    let left = (1.0 - reserved).max(0.0);
    let by_ratio = wants.iter().any(|w| matches!(w, Want::RemainingRatio(_)));
    let ratio = |w: &Want| match w {
        Want::RemainingRatio(n) => f64::from(*n),
        Want::Rest if by_ratio => 1.0,
        _ => 0.0,
    };
    let ratios: f64 = wants.iter().map(ratio).sum();
    let percents: f64 = wants
        .iter()
        .map(|w| match w {
            Want::RemainingPercent(p) => *p,
            _ => 0.0,
        })
        .sum();
    let rest = wants.iter().filter(|w| **w == Want::Rest).count().max(1) as f64;
    wants
        .iter()
        .map(|w| match w {
            Want::Priority(_) => 0.0,
            Want::Rate(r) => r.bps() as f64 / whole,
            Want::RemainingPercent(p) => (p * left).max(FLOOR),
            Want::Rest if !by_ratio => (left * (1.0 - percents).max(0.0) / rest).max(FLOOR),
            Want::RemainingRatio(_) | Want::Rest => (ratio(w) / ratios * left).max(FLOOR),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(bps: u64) -> Rate {
        Rate::from_bps(bps).unwrap()
    }

    #[track_caller]
    fn check(wants: &[Want], expected: &[f64]) {
        let got = shares(wants, rate(100_000_000));
        for (g, e) in got.iter().zip(expected) {
            // Sums of a few doubles below 1.
            assert!((g - e).abs() < 1e-12, "{got:?} {expected:?}");
        }
    }

    #[test]
    fn what_is_left_goes_to_those_who_ask_for_nothing() {
        let r = |mbps: u64| Want::Rate(rate(mbps * 1_000_000));
        check(&[r(50), r(30), Want::Rest], &[0.5, 0.3, 0.2]);
        check(&[r(50), Want::Rest, Want::Rest], &[0.5, 0.25, 0.25]);
        check(&[r(60), r(40), Want::Rest], &[0.6, 0.4, 0.01]);
    }

    #[test]
    fn remaining_bandwidth_is_what_priority_and_guarantees_leave() {
        let voice = Want::Priority(Some(rate(20_000_000)));
        let pct = Want::RemainingPercent;
        check(
            &[voice, pct(0.5), pct(0.25), Want::Rest],
            &[0.0, 0.4, 0.2, 0.2],
        );
        let ratio = Want::RemainingRatio;
        check(
            &[voice, ratio(5), ratio(2), Want::Rest],
            &[0.0, 0.5, 0.2, 0.1],
        );
    }
}
