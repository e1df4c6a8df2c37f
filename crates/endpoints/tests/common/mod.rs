//! Sources from JSON, as scenarios write them, and statistics of samples.

pub(crate) mod arb;
pub(crate) mod early;
pub(crate) mod lan;
pub(crate) mod net;
pub(crate) mod script;

use spillgate_core::{Dur, Rng, Time};
use spillgate_endpoints::source::spec::SourceSpec;
use spillgate_endpoints::source::{Emission, Source};

/// The source that `json` describes, which must be valid.
pub(crate) fn spec(json: &str) -> SourceSpec {
    let spec: SourceSpec = serde_json::from_str(json).unwrap();
    spec.check().unwrap();
    spec
}

/// A stream of its own.
pub(crate) fn stream(purpose: &str, i: u32) -> Rng {
    Rng::named(1, i, "test", purpose)
}

/// The first `n` emissions.
pub(crate) fn first(spec: &SourceSpec, start: Time, rng: &mut Rng, n: usize) -> Vec<Emission> {
    let mut s = Source::new(spec, start);
    (0..n).map_while(|_| s.next(rng)).collect()
}

/// Packets sent within `period` of time zero.
pub(crate) fn count(spec: &SourceSpec, period: Dur, rng: &mut Rng) -> f64 {
    let mut s = Source::new(spec, Time::ZERO);
    let mut n = 0_u32;
    while s.next(rng).is_some_and(|e| e.at < Time::ZERO + period) {
        n += 1;
    }
    f64::from(n)
}

/// Mean and variance.
pub(crate) fn moments(xs: &[f64]) -> (f64, f64) {
    let n = xs.len() as f64;
    let mean = xs.iter().sum::<f64>() / n;
    let variance = xs.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
    (mean, variance)
}

/// Within five standard errors: a false alarm in two million.
#[track_caller]
pub(crate) fn assert_near(got: f64, want: f64, standard_error: f64) {
    assert!(
        (got - want).abs() <= 5.0 * standard_error,
        "{got} for {want}, standard error {standard_error}"
    );
}
