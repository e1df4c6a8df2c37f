//! Exact numbers: ratios of 128-bit integers in lowest terms.
//!
//! Those of curves are mostly integers, or have small denominators: then a step of Euclid's
//! algorithm leads to words of the machine. All results are those of `num_rational`.

use num_rational::Ratio;

use super::{Checked, NoBound};

/// A number of a curve.
pub type Exact = Ratio<i128>;

/// Both in lowest terms: a product or quotient of such parts is, too.
fn raw(numer: Option<i128>, denom: Option<i128>) -> Checked<Exact> {
    let both = numer.zip(denom).ok_or(NoBound::Overflow)?;
    Ok(Exact::new_raw(both.0, both.1))
}

/// The greatest common divisor of any number and a positive one.
fn common(a: i128, b: i128) -> i128 {
    if b == 1 {
        return 1;
    }
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b > u64::MAX.into() {
        (a, b) = (b, a % b);
    }
    if b > 0 {
        let (mut more, mut less) = (b as u64, (a % b) as u64);
        while less > 0 {
            (more, less) = (less, more % less);
        }
        a = more.into();
    }
    // At most the positive number.
    a as i128
}

/// A number over a positive one.
pub(super) fn ratio(numer: i128, denom: i128) -> Exact {
    match common(numer, denom) {
        1 => Exact::new_raw(numer, denom),
        g => Exact::new_raw(numer / g, denom / g),
    }
}

/// The sum, or the difference, as `join` has it.
fn joined(a: Exact, b: Exact, join: impl Fn(i128, i128) -> Option<i128>) -> Checked<Exact> {
    let ((an, ad), (bn, bd)) = (a.into_raw(), b.into_raw());
    if ad == bd {
        return Ok(ratio(join(an, bn).ok_or(NoBound::Overflow)?, ad));
    }
    let g = common(ad, bd);
    let (of_a, of_b) = (bd / g, ad / g);
    let both = an.checked_mul(of_a).zip(bn.checked_mul(of_b));
    let numer = both.and_then(|(a, b)| join(a, b));
    let (numer, denom) = numer.zip(ad.checked_mul(of_a)).ok_or(NoBound::Overflow)?;
    // What is common to both divides that of the denominators.
    match common(numer, g) {
        1 => Ok(Exact::new_raw(numer, denom)),
        g => Ok(Exact::new_raw(numer / g, denom / g)),
    }
}

pub(super) fn add(a: Exact, b: Exact) -> Checked<Exact> {
    joined(a, b, i128::checked_add)
}

pub(super) fn sub(a: Exact, b: Exact) -> Checked<Exact> {
    joined(a, b, i128::checked_sub)
}

/// `n` over `d`; the division of numbers that are not equal is slow.
fn over(n: i128, d: i128) -> i128 {
    if d == 1 { n } else { n / d }
}

pub(super) fn mul(a: Exact, b: Exact) -> Checked<Exact> {
    let ((an, ad), (bn, bd)) = (a.into_raw(), b.into_raw());
    let (first, second) = (common(an, bd), common(bn, ad));
    raw(
        over(an, first).checked_mul(over(bn, second)),
        over(ad, second).checked_mul(over(bd, first)),
    )
}

pub(super) fn div(a: Exact, b: Exact) -> Checked<Exact> {
    let (numer, denom) = b.into_raw();
    let sign = match numer.signum() {
        0 => return Err(NoBound::Overflow),
        sign => sign,
    };
    let positive = numer.checked_abs().ok_or(NoBound::Overflow)?;
    mul(a, Exact::new_raw(denom * sign, positive))
}

/// The largest whole number that is not above `a`.
pub(super) fn floor(a: Exact) -> Exact {
    whole(a.numer().div_euclid(*a.denom()))
}

/// The least whole number that is not below `a`, if it fits.
pub(super) fn ceil(a: Exact) -> Checked<i128> {
    let (floor, left) = (a.numer().div_euclid(*a.denom()), a.numer() % a.denom());
    let up = floor.checked_add(i128::from(left != 0));
    up.ok_or(NoBound::Overflow)
}

pub(super) fn whole(n: impl Into<i128>) -> Exact {
    Exact::from_integer(n.into())
}

#[cfg(test)]
mod tests {
    use num_traits::{CheckedAdd, CheckedDiv, CheckedMul, CheckedSub};
    use proptest::prelude::*;

    use super::*;

    /// Of any length; the denominators that are shared in curves as often as any other.
    fn number() -> impl Strategy<Value = Exact> {
        let shift = || 0..127_u32;
        let denom = prop_oneof![
            Just(1),
            Just(1024),
            Just(8_000_000_000_000),
            (1..i128::MAX, shift()).prop_map(|(n, by)| (n >> by).max(1)),
        ];
        let parts = (any::<i128>(), shift(), denom);
        parts.prop_map(|(n, by, d)| Exact::new((n >> by).max(-i128::MAX), d))
    }

    proptest! {
        #[test]
        fn results_are_those_of_the_library(a in number(), b in number()) {
            prop_assert_eq!(add(a, b).ok(), a.checked_add(&b));
            prop_assert_eq!(sub(a, b).ok(), a.checked_sub(&b));
            prop_assert_eq!(mul(a, b).ok(), a.checked_mul(&b));
            prop_assert_eq!(div(a, b).ok(), a.checked_div(&b));
            prop_assert_eq!(floor(a), a.floor());
            prop_assert_eq!(ratio(*a.numer(), *b.denom()), Exact::new(*a.numer(), *b.denom()));
        }
    }
}
