//! Random sources: means and variances against closed forms.

use crate::common::{assert_near, count, first, moments, spec, stream};
use spillgate_core::{Dur, Time};
use spillgate_endpoints::source::Source;
use spillgate_endpoints::source::spec::SourceSpec;

fn gaps(spec: &SourceSpec, n: usize, purpose: &str) -> Vec<f64> {
    let sent = first(spec, Time::ZERO, &mut stream(purpose, 0), n + 1);
    sent.windows(2)
        .map(|w| w[1].at.since(w[0].at).as_secs_f64())
        .collect()
}

#[test]
fn poisson_gaps_are_exponential() {
    // 1000 packets a second.
    let s = spec(r#"{"poisson": {"rate": "12 Mb/s", "packet": "1500 B"}}"#);
    let g = gaps(&s, 200_000, "poisson");
    let n = g.len() as f64;
    let (mean, variance) = moments(&g);
    assert_near(mean, 1e-3, 1e-3 / n.sqrt());
    // Var(s²) = sigma⁴ (kurtosis - 1) / n, the exponential's kurtosis being 9.
    assert_near(variance, 1e-6, 1e-6 * (8.0 / n).sqrt());
    // Lag-one correlation of independent values: standard error 1 / sqrt(n).
    let lag: f64 = g.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum();
    assert_near(lag / n / variance, 0.0, 1.0 / n.sqrt());
}

/// Gaps are geometric: mean 1 / p and variance (1 - p) / p² slots, independent of each other; and
/// so is the first slot.
#[test]
fn bernoulli_gaps_are_geometric() {
    for p in [0.02, 0.3, 0.9] {
        let s = spec(&format!(
            r#"{{"bernoulli": {{"line": "8 Mb/s", "load": "{} %", "packet": "1000 B"}}}}"#,
            100.0 * p
        ));
        // A slot is a millisecond.
        let g: Vec<f64> = gaps(&s, 200_000, "bernoulli")
            .iter()
            .map(|g| g * 1e3)
            .collect();
        let n = g.len() as f64;
        let (mean, variance) = moments(&g);
        let expected = (1.0 - p) / (p * p);
        assert_near(mean, 1.0 / p, (expected / n).sqrt());
        // Var(s²) = sigma⁴ (kurtosis - 1) / n; the geometric's kurtosis is 9 + p² / (1 - p).
        let kurtosis = 9.0 + p * p / (1.0 - p);
        assert_near(variance, expected, expected * ((kurtosis - 1.0) / n).sqrt());
        let lag: f64 = g.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum();
        assert_near(lag / n / variance, 0.0, 1.0 / n.sqrt());
        let starts: Vec<f64> = (0..20_000)
            .map(|i| {
                let e = first(&s, Time::ZERO, &mut stream("begin", i), 1)[0];
                e.at.since(Time::ZERO).as_secs_f64() * 1e3
            })
            .collect();
        let (mean, _) = moments(&starts);
        assert_near(mean, (1.0 - p) / p, (expected / starts.len() as f64).sqrt());
    }
}

#[test]
fn poisson_counts_are_poisson_from_the_start() {
    let s = spec(r#"{"poisson": {"rate": "12 Mb/s", "packet": "1500 B"}}"#);
    let counts: Vec<f64> = (0..20_000)
        .map(|i| count(&s, Dur::from_ms(4), &mut stream("counts", i)))
        .collect();
    let n = counts.len() as f64;
    let (mean, variance) = moments(&counts);
    assert_near(mean, 4.0, (4.0 / n).sqrt());
    // Kurtosis 3 + 1/4.
    assert_near(variance, 4.0, 4.0 * ((2.25) / n).sqrt());
}

/// Bits over time: the relative variance of the ratio of two independent sums
/// is (cv² of sizes + cv² of gaps) / n.
#[test]
fn poisson_keeps_its_rate_with_any_sizes() {
    let imix = (7.0 * 40.0_f64 * 40.0 + 4.0 * 576.0 * 576.0 + 1500.0 * 1500.0) / 12.0;
    let mean = (7.0 * 40.0 + 4.0 * 576.0 + 1500.0) / 12.0_f64;
    for (packet, cv2) in [
        (r#""300 B""#, 0.0),
        (r#""imix""#, imix / mean / mean - 1.0),
        (
            r#"{"uniform": {"min": "20 B", "max": "65535 B"}}"#,
            1.0 / 3.0,
        ),
        // Cut and rounded: the spread is at most the exponential's own.
        (r#"{"exponential": "30 B"}"#, 1.0),
        (r#"{"exponential": "500 B"}"#, 1.0),
        (r#"{"exponential": "60 kB"}"#, 1.0),
        (
            r#"{"table": [{"size": "100 B", "weight": 1e-3}, {"size": "900 B", "weight": 3e-3}]}"#,
            0.3,
        ),
    ] {
        let s = spec(&format!(
            r#"{{"poisson": {{"rate": "1 Mb/s", "packet": {packet}}}}}"#
        ));
        let n = 100_000;
        let sent = first(&s, Time::ZERO, &mut stream("rate", 0), n);
        let bits: f64 = sent.iter().map(|e| 8.0 * f64::from(e.len)).sum();
        let rate = bits / sent[n - 1].at.as_secs_f64();
        assert_near(rate, 1e6, 1e6 * ((cv2 + 1.0) / n as f64).sqrt());
        assert_eq!(Source::mean_rate(&s), 1e6);
    }
}

/// Sizes occur as often as their weights say: each count is binomial.
#[test]
fn imix_is_seven_to_four_to_one() {
    let s = spec(r#"{"cbr": {"rate": "1 Mb/s", "packet": {"imix": "simple"}}}"#);
    let n = 120_000_usize;
    let sent = first(&s, Time::ZERO, &mut stream("imix", 0), n);
    for (len, share) in [(40, 7.0 / 12.0), (576, 4.0 / 12.0), (1500, 1.0 / 12.0)] {
        let got = sent.iter().filter(|e| e.len == len).count() as f64;
        let n = n as f64;
        assert_near(got, n * share, (n * share * (1.0 - share)).sqrt());
    }
}

/// The source's start is an arbitrary instant of the stationary process, and what is left of a gap
/// carries over: the expected count in any period from the start on is `rate period` exactly.
/// The standard error is the sample's own; counts are bounded, so their variance is finite also
/// where that of the periods is not (shape 1.5).
#[test]
fn on_off_is_stationary_with_the_stated_mean() {
    for (on, off, distribution) in [
        // Long bursts of 50 packets, bursts of one packet, bursts mostly shorter than a packet.
        ("50 ms", "150 ms", r#""exponential""#),
        ("1 ms", "3 ms", r#""exponential""#),
        ("100 us", "100 us", r#""exponential""#),
        ("20 ms", "0 s", r#""exponential""#),
        ("50 ms", "150 ms", r#"{"pareto": 1.5}"#),
        ("400 us", "2 ms", r#"{"pareto": 1.2}"#),
        ("10 ms", "10 ms", r#"{"pareto": 3.0}"#),
    ] {
        let s = spec(&format!(
            r#"{{"on-off": {{"peak": "12 Mb/s", "packet": "1500 B", "on": "{on}", "off": "{off}",
                "distribution": {distribution}}}}}"#
        ));
        let rate = Source::mean_rate(&s) / 12_000.0;
        for ms in [3, 40, 300] {
            let counts: Vec<f64> = (0..4_000)
                .map(|i| count(&s, Dur::from_ms(ms), &mut stream("stationary", i)))
                .collect();
            let (mean, variance) = moments(&counts);
            let se = (variance / counts.len() as f64).sqrt();
            // With `off` of zero the count is the floor or ceiling of its mean.
            assert_near(mean, rate * ms as f64 / 1e3, se.max(1e-9));
        }
    }
}

#[test]
fn on_off_mean_rate_is_the_duty_cycle() {
    let s = spec(r#"{"on-off": {"peak": "2 Mb/s", "packet": "imix", "on": "1 s", "off": "3 s"}}"#);
    assert_eq!(Source::mean_rate(&s), 500_000.0);
}

/// Silences and bursts seen from outside. Two packets of 12 us further apart than that have a
/// silence between them; bursts have mean 10 ms, so about one in a thousand holds no packet, which
/// joins two silences: that share is granted on top of the standard error. A Pareto burst is never
/// that short.
#[test]
fn bursts_and_silences_have_their_means() {
    for (distribution, cv2, joined) in [
        // cv² of the Pareto: 1 / (a (a - 2)).
        (r#""exponential""#, 1.0, 12e-6 / 10e-3),
        (r#"{"pareto": 3.0}"#, 1.0 / 3.0, 0.0),
    ] {
        let s = spec(&format!(
            r#"{{"on-off": {{"peak": "1 Gb/s", "packet": "1500 B", "on": "10 ms", "off": "30 ms",
                "distribution": {distribution}}}}}"#
        ));
        let g = gaps(&s, 8_000_000, "periods");
        let silences: Vec<f64> = g.iter().map(|g| g - 12e-6).filter(|s| *s > 1e-12).collect();
        let cycles = silences.len() as f64;
        let (off, _) = moments(&silences);
        let on = g.len() as f64 * 12e-6 / cycles;
        let relative = (cv2 / cycles).sqrt() + joined / 5.0;
        assert_near(off, 30e-3, 30e-3 * relative);
        assert_near(on, 10e-3, 10e-3 * relative);
    }
}

/// Counts from the start on: mean and variance by the closed form of the index of dispersion.
#[test]
fn mmpp_counts_have_the_index_of_dispersion_of_the_closed_form() {
    // 4000 and 500 packets a second, 20 and 60 ms; and silent at the low rate.
    for (low, b) in [(r#""low": "6 Mb/s","#, 500.0), ("", 0.0)] {
        let s = spec(&format!(
            r#"{{"mmpp": {{"high": "48 Mb/s", {low} "high_for": "20 ms", "low_for": "60 ms", "packet": "1500 B"}}}}"#
        ));
        let (a, p, rate) = (4000.0, 0.25, 1.0 / 0.02 + 1.0 / 0.06);
        let m = p * a + (1.0 - p) * b;
        assert_near(Source::mean_rate(&s), m * 12_000.0, 1e-3);
        for ms in [1_u64, 20, 100] {
            let counts: Vec<f64> = (0..20_000)
                .map(|i| count(&s, Dur::from_ms(ms), &mut stream("mmpp", i)))
                .collect();
            let n = counts.len() as f64;
            let (mean, variance) = moments(&counts);
            let t = ms as f64 / 1e3;
            let scale = 2.0 * p * (1.0 - p) * (a - b) * (a - b) / (rate * m);
            let decay = spillgate_core::math::exp(-rate * t);
            let idc = 1.0 + scale * (1.0 - (1.0 - decay) / (rate * t));
            assert_near(mean, m * t, (m * t * idc / n).sqrt());
            // Var(s²) = (fourth central moment - sigma⁴) / n, the moment taken from the sample.
            let fourth = counts
                .iter()
                .map(|c| (c - mean) * (c - mean) * (c - mean) * (c - mean));
            let fourth = fourth.sum::<f64>() / n;
            let error = ((fourth - variance * variance) / n).sqrt();
            assert_near(variance, m * t * idc, error);
        }
    }
}
