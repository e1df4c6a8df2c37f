//! Constant bit rate: exact places, no drift, order.

use crate::common::{assert_near, first, moments, spec, stream};
use spillgate_core::{Dur, Time};

/// floor of `bits` / `bps` in picoseconds, in exact arithmetic.
fn ps(bits: u128, bps: u128) -> u64 {
    u64::try_from(bits * 1_000_000_000_000 / bps).unwrap()
}

/// 55.5 frames a second of 1500 B are 0.666 Mb/s: a gap of 18.018... ms that no picosecond grid
/// hits.
#[test]
fn places_are_exact_after_a_million_packets() {
    let s = spec(r#"{"cbr": {"rate": "0.666 Mb/s", "packet": "1500 B", "phase": "3 ms"}}"#);
    let start = Time::from_ps(12_345);
    let got = first(&s, start, &mut stream("grid", 0), 1_000_001);
    for (k, e) in (0_u128..).zip(&got) {
        let want = 12_345 + 3_000_000_000 + ps(k * 12_000, 666_000);
        assert_eq!((e.at.as_ps(), e.len), (want, 1500), "packet {k}");
    }
    // 555 packets take 10 s to the picosecond.
    assert_eq!(got[555].at.since(got[0].at), Dur::from_secs(10));
    assert_eq!(got[999_000].at.since(got[0].at), Dur::from_secs(18_000));
}

#[test]
fn unequal_sizes_follow_the_bits_sent() {
    let s = spec(r#"{"cbr": {"rate": "7 Mb/s", "packet": "imix", "phase": "0 s"}}"#);
    let mut bits = 0_u128;
    for e in first(&s, Time::ZERO, &mut stream("grid", 1), 100_000) {
        assert_eq!(e.at.as_ps(), ps(bits, 7_000_000));
        bits += 8 * u128::from(e.len);
    }
}

#[test]
fn the_phase_is_uniform_over_one_gap() {
    let s = spec(r#"{"cbr": {"rate": "12 kb/s", "packet": "1500 B"}}"#);
    let phases: Vec<f64> = (0..10_000)
        .map(|i| {
            first(&s, Time::ZERO, &mut stream("phase", i), 1)[0]
                .at
                .as_secs_f64()
        })
        .collect();
    assert!(phases.iter().all(|p| (0.0..1.0).contains(p)));
    let n = phases.len() as f64;
    let (mean, variance) = moments(&phases);
    assert_near(mean, 0.5, (1.0 / 12.0 / n).sqrt());
    // Var(s²) = sigma⁴ (kurtosis - 1) / n, the uniform's kurtosis being 1.8.
    assert_near(variance, 1.0 / 12.0, 1.0 / 12.0 * (0.8 / n).sqrt());
}

/// Displacements are uniform on ± 10 % of the gap about places that do not move.
#[test]
fn jitter_leaves_the_grid_alone() {
    let s = spec(
        r#"{"cbr": {"rate": "12 Mb/s", "packet": "1500 B", "phase": "10 ms", "jitter": "10 %"}}"#,
    );
    let displaced: Vec<f64> = (0_u64..)
        .zip(first(&s, Time::ZERO, &mut stream("jitter", 0), 100_000))
        .map(|(k, e)| e.at.as_secs_f64() - Dur::from_ms(10 + k).as_secs_f64())
        .collect();
    let reach = 1e-4;
    // Times of 100 s in binary64 are good to 1e-14 s.
    assert!(displaced.iter().all(|d| d.abs() <= reach + 1e-13));
    let n = displaced.len() as f64;
    let (mean, variance) = moments(&displaced);
    let sigma2 = reach * reach / 3.0;
    assert_near(mean, 0.0, (sigma2 / n).sqrt());
    assert_near(variance, sigma2, sigma2 * (0.8 / n).sqrt());
}

/// Even with half a gap to both sides and sizes that differ by a factor of 37.
#[test]
fn jitter_keeps_the_order_and_the_start() {
    let s =
        spec(r#"{"cbr": {"rate": "3 Mb/s", "packet": "imix", "phase": "0 s", "jitter": "50 %"}}"#);
    let start = Time::ZERO + Dur::from_ms(1);
    for i in 0..20 {
        let got = first(&s, start, &mut stream("order", i), 10_000);
        assert!(got[0].at >= start);
        assert!(got.is_sorted_by_key(|e| e.at));
    }
}

/// Slot k begins at `8 k packet / line`, rounded down, wherever packets are before it.
#[test]
fn slots_are_exact_after_millions() {
    let all = spec(r#"{"bernoulli": {"line": "7 Mb/s", "load": "100 %", "packet": "500 B"}}"#);
    let some = spec(r#"{"bernoulli": {"line": "7 Mb/s", "load": "3 %", "packet": "500 B"}}"#);
    let start = Time::ZERO + Dur::from_ms(1);
    let slot =
        |k: u64| start + Dur::from_ps((u128::from(k) * 4_000_000_000_000_000 / 7_000_000) as u64);
    for (k, e) in first(&all, start, &mut stream("slots", 0), 1_000_000)
        .into_iter()
        .enumerate()
    {
        assert_eq!(e.at, slot(k as u64));
    }
    for e in first(&some, start, &mut stream("slots", 1), 100_000) {
        let k = e.at.since(start).as_ps() as f64 / 1e12 * 7e6 / 4000.0;
        assert_eq!(e.at, slot(k.round() as u64));
    }
}

#[test]
fn time_ends_without_a_panic() {
    for source in [
        r#"{"cbr": {"rate": "1 b/s", "packet": "65535 B"}}"#,
        r#"{"cbr": {"rate": "1 b/s", "packet": "65535 B", "jitter": "50 %"}}"#,
        r#"{"poisson": {"rate": "1 b/s", "packet": "65535 B"}}"#,
        r#"{"on-off": {"peak": "1 b/s", "packet": "65535 B", "on": "1 h", "off": "90 h"}}"#,
        r#"{"bernoulli": {"line": "1 b/s", "load": "100 %", "packet": "65535 B"}}"#,
        r#"{"bernoulli": {"line": "1 Gb/s", "load": "0.0000000000000001 %", "packet": "65535 B"}}"#,
    ] {
        let s = spec(source);
        let mut rng = stream("end", 0);
        let mut source = spillgate_endpoints::source::Source::new(&s, Time::ZERO);
        // 2^64 ps hold 35 packets of 524280 s; a Poisson count of 100 is 11 deviations off.
        let sent = (0..100).map_while(|_| source.next(&mut rng)).count();
        assert!(sent < 100, "{sent}");
        assert_eq!(source.next(&mut rng), None);
    }
}
