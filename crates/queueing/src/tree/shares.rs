//! How the classes of a policy divide their enclosing rate.
//!
//! Priority and guaranteed classes get what they ask for. The rest is divided by
//! `bandwidth remaining` statements, and the rest of that is shared equally by the classes without
//! any statement, `class-default` among them (I. Pepelnjak, "First HQF impressions",
//! blog.ipspace.net, 2009, measured on Cisco IOS: a class gets the bandwidth that it asks for, and
//! what is left is distributed equally among classes without a statement).
//!
//! Where nothing is left, the classes that would share it have a rank of their own: they are served
//! while no class of a lower rank can send. So no promise is broken, and what the promised do not
//! use is still divided as the statements say.

use spillgate_core::Rate;

/// The number of ranks: guaranteed classes, what they leave, what `bandwidth remaining` leaves.
const RANKS: usize = 3;

/// Virtual times of a policy: one for each rank, and one for the classes that go first, of each of
/// which there is one.
pub(super) const SLOTS: usize = RANKS + 1;

/// Percentages that miss 100 % by less come to 100 %: the rounding of sums of doubles.
pub(super) const ROUNDING: f64 = 1e-9;

/// The share that a class asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Want {
    /// Strict priority, up to this rate if one is given.
    Priority(Option<Rate>),
    /// To go before all classes that follow it.
    First,
    /// A guaranteed rate.
    Rate(Rate),
    /// A fraction of the rate that priority and guaranteed classes leave.
    RemainingPercent(f64),
    /// A ratio of the rate that priority and guaranteed classes leave.
    RemainingRatio(u32),
    /// No share of its own.
    Rest,
}

/// What a class gets of the enclosing rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Share {
    /// It is served only while no class of a lower rank can send. Only the classes of rank 0 have a
    /// share of the rate.
    pub(crate) rank: u8,
    /// Its part of the enclosing rate, above rank 0 of what lower ranks leave. 0 for priority
    /// classes.
    pub(crate) part: f64,
}

impl Share {
    /// The rate that it is sure of while all classes are backlogged; none above rank 0.
    pub(super) fn of(self, rate: Rate) -> Option<Rate> {
        (self.rank == 0).then(|| rate.scaled(self.part))
    }
}

/// Each class's share of `rate`.
pub(super) fn shares(wants: &[Want], rate: Rate) -> Vec<Share> {
    let whole = rate.bps() as f64;
    let reserved = wants.iter().fold(0_u64, |sum, w| match w {
        Want::Priority(Some(r)) | Want::Rate(r) => sum.saturating_add(r.bps()),
        _ => sum,
    });
    let left = rate.bps().saturating_sub(reserved) as f64 / whole;
    // The rank of those who share what is left, and what they share.
    let (below, left) = if left > 0.0 { (0, left) } else { (1, 1.0) };
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
    let resting = wants.iter().filter(|w| **w == Want::Rest).count().max(1) as f64;
    let rest = match 1.0 - percents {
        unasked if unasked > ROUNDING => Share {
            rank: below,
            part: left * unasked / resting,
        },
        _ => Share {
            rank: below + 1,
            part: 1.0 / resting,
        },
    };
    let share = |rank, part| Share { rank, part };
    wants
        .iter()
        .map(|w| match w {
            Want::Priority(_) | Want::First => Share::default(),
            Want::Rate(r) => share(0, r.bps() as f64 / whole),
            Want::RemainingPercent(p) => share(below, p * left),
            Want::Rest if !by_ratio => rest,
            Want::RemainingRatio(_) | Want::Rest => share(below, ratio(w) / ratios * left),
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
    fn check(wants: &[Want], expected: &[(u8, f64)]) {
        let got = shares(wants, rate(100_000_000));
        for (g, e) in got.iter().zip(expected) {
            // Sums of a few doubles below 1.
            assert!(
                g.rank == e.0 && (g.part - e.1).abs() < 1e-12,
                "{got:?} {expected:?}"
            );
        }
    }

    fn mbps(n: u64) -> Want {
        Want::Rate(rate(n * 1_000_000))
    }

    #[test]
    fn what_is_left_goes_to_those_who_ask_for_nothing() {
        let rest = Want::Rest;
        check(&[mbps(50), mbps(30), rest], &[(0, 0.5), (0, 0.3), (0, 0.2)]);
        check(&[mbps(50), rest, rest], &[(0, 0.5), (0, 0.25), (0, 0.25)]);
        check(&[mbps(60), mbps(40), rest], &[(0, 0.6), (0, 0.4), (1, 1.0)]);
        check(&[mbps(100), rest, rest], &[(0, 1.0), (1, 0.5), (1, 0.5)]);
    }

    #[test]
    fn remaining_bandwidth_is_what_priority_and_guarantees_leave() {
        let voice = Want::Priority(Some(rate(20_000_000)));
        let pct = Want::RemainingPercent;
        let rest = Want::Rest;
        check(
            &[voice, pct(0.5), pct(0.25), rest],
            &[(0, 0.0), (0, 0.4), (0, 0.2), (0, 0.2)],
        );
        let ratio = Want::RemainingRatio;
        check(
            &[voice, ratio(5), ratio(2), rest],
            &[(0, 0.0), (0, 0.5), (0, 0.2), (0, 0.1)],
        );
        // However small.
        check(
            &[voice, pct(0.001), rest],
            &[(0, 0.0), (0, 0.0008), (0, 0.7992)],
        );
        check(
            &[mbps(50), ratio(1000), ratio(1), ratio(249)],
            &[(0, 0.5), (0, 0.4), (0, 0.0004), (0, 0.0996)],
        );
    }

    /// What guaranteed classes do not use is divided by the same statements where nothing is left.
    #[test]
    fn statements_count_where_nothing_is_left() {
        let pct = Want::RemainingPercent;
        let (rest, ratio) = (Want::Rest, Want::RemainingRatio);
        check(
            &[mbps(100), pct(0.6), rest],
            &[(0, 1.0), (1, 0.6), (1, 0.4)],
        );
        check(
            &[mbps(100), pct(0.1), pct(0.2), pct(0.7), rest],
            &[(0, 1.0), (1, 0.1), (1, 0.2), (1, 0.7), (2, 1.0)],
        );
        check(
            &[mbps(50), pct(0.1), pct(0.2), pct(0.7), rest],
            &[(0, 0.5), (0, 0.05), (0, 0.1), (0, 0.35), (1, 1.0)],
        );
        check(
            &[mbps(100), ratio(3), rest],
            &[(0, 1.0), (1, 0.75), (1, 0.25)],
        );
    }
}
