//! The incomplete beta function, on the reproducible logarithm and exponential.

use spillgate_core::math::{exp, ln};

/// `ln sqrt(2 pi)`.
const LN_SQRT_2PI: f64 = 0.918_938_533_204_672_8;

/// The remainder of Stirling's series, `ln Γ(x) - (x - 1/2) ln x + x - ln sqrt(2 pi)`, for x of 15
/// or more (Abramowitz and Stegun 6.1.40). The first term left out is below 2e-3 / x^9: 5e-14
/// there.
fn stirling(x: f64) -> f64 {
    let y = 1.0 / (x * x);
    (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y * (1.0 / 1680.0 - y / 1188.0)))) / x
}

/// `ln(1 + x)` without losing x (Kahan's correction), for x above -1.
fn ln_1p(x: f64) -> f64 {
    let u = 1.0 + x;
    if u == 1.0 { x } else { ln(u) * x / (u - 1.0) }
}

/// `ln Γ(x)` for x above 0.
pub(super) fn ln_gamma(mut x: f64) -> f64 {
    let mut product = 1.0;
    while x < 15.0 {
        product *= x;
        x += 1.0;
    }
    (x - 0.5) * ln(x) - x + LN_SQRT_2PI + stirling(x) - ln(product)
}

/// `ln (Γ(a) / Γ(a + b))`. For large `a` the difference of two `ln_gamma` would cancel.
fn ln_gamma_ratio(mut a: f64, b: f64) -> f64 {
    let mut product = 1.0;
    while a < 15.0 {
        product *= (a + b) / a;
        a += 1.0;
    }
    let sum = a + b;
    // (a - 1/2) ln a - (a + b - 1/2) ln(a + b) + b, rearranged.
    -(a - 0.5) * ln_1p(b / a) - b * ln(sum) + b + stirling(a) - stirling(sum) + ln(product)
}

/// `ln B(a, b)`.
pub(super) fn ln_beta(a: f64, b: f64) -> f64 {
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    ln_gamma(small) + ln_gamma_ratio(large, small)
}

/// The regularized incomplete beta function `I_x(a, b)`, given x and y = 1 - x so that neither
/// cancels. Continued fraction (DLMF 8.17.22) evaluated by Lentz's method.
pub(super) fn beta_inc(a: f64, b: f64, x: f64, y: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if y <= 0.0 {
        return 1.0;
    }
    // The fraction converges fast below the mean; use the symmetry above it.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_inc(b, a, y, x);
    }
    // Near 1 the logarithm comes from the complement.
    let ln_of = |x: f64, y: f64| if y < 0.5 { ln_1p(-y) } else { ln(x) };
    let front = exp(a * ln_of(x, y) + b * ln_of(y, x) - ln_beta(a, b)) / a;
    let tiny = 1e-300;
    let nonzero = |v: f64| if v.abs() < tiny { tiny } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0));
    let mut h = d;
    // It needs O(sqrt(max(a, b))) steps.
    for m in 1..100_000_u32 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / nonzero(1.0 + even * d);
        c = nonzero(1.0 + even / c);
        h *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / nonzero(1.0 + odd * d);
        c = nonzero(1.0 + odd / c);
        let step = d * c;
        h *= step;
        if (step - 1.0).abs() < 1e-15 {
            break;
        }
    }
    (front * h).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gamma_of_integers_and_a_half() {
        let mut factorial = 1.0_f64;
        for n in 1..=20 {
            let got = ln_gamma(f64::from(n));
            assert!(
                (got - ln(factorial)).abs() < 1e-13 * (1.0 + ln(factorial)),
                "{n}"
            );
            factorial *= f64::from(n);
        }
        // Γ(1/2) = sqrt(pi)
        assert!((ln_gamma(0.5) - ln(std::f64::consts::PI) / 2.0).abs() < 1e-13);
    }

    #[test]
    fn beta_of_small_and_huge_arguments() {
        // B(a, 1) = 1/a and B(a, 2) = 1/(a (a+1)), for any a.
        for a in [0.5, 1.0, 3.0, 20.0, 1e3, 1e6, 1e9] {
            assert!(
                (ln_beta(a, 1.0) + ln(a)).abs() < 1e-12 * (1.0 + ln(a).abs()),
                "{a}"
            );
            let want = -ln(a) - ln(a + 1.0);
            assert!(
                (ln_beta(2.0, a) - want).abs() < 1e-12 * (1.0 + want.abs()),
                "{a}"
            );
        }
    }

    /// `I_x(1, b) = 1 - (1-x)^b`, `I_x(a, 1) = x^a`, and the binomial sum.
    #[test]
    fn incomplete_beta_in_closed_forms() {
        for x in [0.01, 0.3, 0.5, 0.9, 0.999] {
            let y = 1.0 - x;
            assert!((beta_inc(1.0, 3.0, x, y) - (1.0 - y * y * y)).abs() < 1e-14);
            assert!((beta_inc(4.0, 1.0, x, y) - x * x * x * x).abs() < 1e-14);
        }
        // 20 trials with p = 0.3, summed term by term.
        let (n, p) = (20_u64, 0.3_f64);
        let (mut term, mut sum) = ((0..n).fold(1.0, |a, _| a * (1.0 - p)), 0.0);
        for k in 0..=n {
            sum += term;
            // P(at most k successes) as an incomplete beta function.
            let at_most = match k {
                20 => 1.0,
                _ => beta_inc((n - k) as f64, (k + 1) as f64, 1.0 - p, p),
            };
            assert!((at_most - sum).abs() < 1e-13, "{k}");
            term *= (n - k) as f64 / (k + 1) as f64 * p / (1.0 - p);
        }
    }
}
