//! When a queue is idle: from the end of its last packet's transmission on, as in Floyd and
//! Jacobson's paper, ns-2, ns-3 and Linux. And averages without decay, by the equation of DSRED's
//! paper alone.

use std::collections::BTreeMap;

use crate::common::{build, packet, rate, resolve};
use spillgate_core::{Drops, Dur, Rng, Time, math};
use spillgate_queueing::Discipline;
use spillgate_queueing::spec::DisciplineSpec;
use spillgate_queueing::testkit::Bench;

const WEIGHT: f64 = 0.02;

/// A RED that never drops, at 1 Mb/s, as a port's discipline and as that of a class.
const POLICIES: [&str; 2] = [
    r#"{"main": {"fifo": {"aqm": {"red": {"weight": 0.02, "min_th": 4000, "max_th": 9000}}}}}"#,
    r#"{"main": {"class-based": {"classes": [{"name": "class-default",
        "aqm": {"red": {"weight": 0.02, "min_th": 4000, "max_th": 9000}}}]}}}"#,
];

fn average(d: &Discipline) -> f64 {
    d.gauges(0, Time::ZERO).average_queue.unwrap()
}

/// Every AQM that has RED's average, with the same weight, 1/64, and thresholds that nothing
/// reaches.
const FAMILY: [(&str, &str); 8] = [
    (
        "red",
        r#""weight": 0.015625, "min_th": 4000, "max_th": 9000"#,
    ),
    (
        "dsred",
        r#""weight": 0.015625, "min_th": 4000, "max_th": 9000"#,
    ),
    (
        "adaptive-red",
        r#""weight": 0.015625, "min_th": 4000, "max_th": 9000"#,
    ),
    (
        "self-configuring-red",
        r#""weight": 0.015625, "min_th": 4000, "max_th": 9000"#,
    ),
    (
        "load-adaptive-red",
        r#""weight": 0.015625, "threshold_low": 8000, "threshold_high": 9000, "gain": 1"#,
    ),
    (
        "wred",
        r#""exponential_weighting_constant": 6, "dscp": {"0": {"min": 4000, "max": 4096}}"#,
    ),
    (
        "rio",
        r#""weight": 0.015625, "in": {"min_th": 4000, "max_th": 9000, "max_p": 0.1},
        "out": {"min_th": 4000, "max_th": 9000, "max_p": 0.1}"#,
    ),
    (
        "adaptive-rio",
        r#""weight": 0.015625, "in": {"min_th": 4000, "max_th": 90000, "max_p": 0.1},
        "max_th_low": 12000, "max_th_high": 90000"#,
    ),
];

/// The paper's rule over the departures of a FIFO: the average that each arrival sees, without
/// anything of the code under test. A packet of 500 B takes 4 ms.
fn by_the_paper(arrivals: &[(f64, f64)]) -> f64 {
    by_rule(arrivals, WEIGHT, true)
}

/// The same with another weight; without `decay` every arrival is a sample, whatever it finds:
/// `avg = (1 - w) avg + w q`.
fn by_rule(arrivals: &[(f64, f64)], weight: f64, decay: bool) -> f64 {
    let (mut avg, mut waiting, mut free) = (0.0, Vec::new(), f64::NEG_INFINITY);
    for (at, tx) in arrivals {
        waiting.retain(|start| start > at);
        if decay && waiting.is_empty() && free <= *at {
            if free > f64::NEG_INFINITY {
                avg *= math::pow(1.0 - weight, (at - free) / 0.004);
            }
        } else {
            avg += weight * (waiting.len() as f64 - avg);
        }
        let start = free.max(*at);
        waiting.push(start);
        free = start + tx;
        waiting.retain(|start| start > at);
    }
    avg
}

#[test]
fn the_average_is_that_of_the_paper() {
    for policy in POLICIES {
        let (got, arrivals) = measured(policy);
        let expected = by_the_paper(&arrivals);
        // Rounding of 3000 steps in binary64, of which old ones are forgotten.
        assert!((got / expected - 1.0).abs() < 1e-9, "{got} {expected}");
    }
}

/// The last average of a policy, and the arrivals: when, and how long each takes to send.
fn measured(policy: &str) -> (f64, Vec<(f64, f64)>) {
    let mut rng = Rng::from_key(5);
    let mut bench = Bench::new(build(policy, 1_000_000), rate(1_000_000));
    let (mut at, mut arrivals) = (Time::ZERO, Vec::new());
    // A load of 0.8 by packets of 100 to 1500 B.
    for seq in 0..3000 {
        let len = 100 + rng.below(1401) as u16;
        at += Dur::from_secs_f64(-math::ln(1.0 - rng.f64()) * 0.008);
        bench.arrive(at, packet(0, seq, len));
        arrivals.push((at.as_ps() as f64 / 1e12, f64::from(len) * 8e-6));
    }
    bench.run();
    (average(bench.discipline()), arrivals)
}

/// In a FIFO and in a class, with the average that decays, which is the default, and with one that
/// does not.
#[test]
fn every_average_decays_or_does_not() {
    for (kind, keys) in FAMILY {
        for (idle, decay) in [
            ("", true),
            (r#", "idle": "decay""#, true),
            (r#", "idle": "none""#, false),
        ] {
            let aqm = format!(r#"{{"{kind}": {{{keys}{idle}}}}}"#);
            for policy in [
                format!(r#"{{"main": {{"fifo": {{"aqm": {aqm}}}}}}}"#),
                format!(
                    r#"{{"main": {{"class-based": {{"classes": [{{"name": "class-default", "aqm": {aqm}}}]}}}}}}"#
                ),
            ] {
                let (got, arrivals) = measured(&policy);
                let expected = by_rule(&arrivals, 1.0 / 64.0, decay);
                let other = by_rule(&arrivals, 1.0 / 64.0, !decay);
                assert!(
                    (got / expected - 1.0).abs() < 1e-9,
                    "{policy}: {got} {expected}"
                );
                assert!((other / expected - 1.0).abs() > 0.01, "{other} {expected}");
            }
        }
    }
}

/// Who writes it is told what it does; a value that is not one is refused where it stands.
#[test]
fn an_average_without_decay_is_told() {
    for (kind, keys) in FAMILY {
        let policy = |idle: &str| {
            format!(
                r#"{{"main": {{"fifo": {{"aqm": {{"{kind}": {{{keys}, "idle": "{idle}"}}}}}}}}}}"#
            )
        };
        let warnings = |idle: &str| resolve(&policy(idle), 1_000_000).unwrap().1;
        let told = warnings("none");
        let at = format!("main.fifo.aqm.{kind}: with `idle: none`");
        assert_eq!(
            told.iter().filter(|w| w.contains(&at)).count(),
            1,
            "{told:?}"
        );
        assert!(!warnings("decay").iter().any(|w| w.contains("idle")));
        let wrong: Result<BTreeMap<String, DisciplineSpec>, _> =
            serde_json::from_str(&policy("never"));
        let error = wrong.unwrap_err().to_string();
        assert!(error.contains("`decay` or `none`"), "{kind}: {error}");
    }
}

/// One packet of 500 B at 1 Mb/s every 4 ms: the link never falls idle, no packet ever waits, and
/// each arrival is one sample of an empty queue. At twice the gap half of the time is idle: one
/// typical packet.
#[test]
fn a_queue_whose_last_packet_is_on_the_wire_is_not_idle() {
    for policy in POLICIES {
        for (gap, factor) in [(4000, 1.0), (3999, 1.0 - WEIGHT), (8000, 1.0 - WEIGHT)] {
            let mut d = build(policy, 1_000_000);
            let (mut rng, mut drops) = (Rng::from_key(0), Drops::new());
            // Six at once make an average.
            for i in 0..6 {
                d.enqueue(Time::ZERO, packet(0, i, 500), &mut rng, &mut drops);
            }
            let mut now = Time::ZERO;
            while let Some(p) = d.dequeue(now, &mut rng, &mut drops) {
                now += Dur::from_ms(4);
                d.transmits_until(p.leaf, now);
            }
            let before = average(&d);
            assert!(before > 0.1, "{before}");
            let begun = Time::ZERO + Dur::from_ms(20);
            d.enqueue(
                begun + Dur::from_us(gap),
                packet(0, 6, 500),
                &mut rng,
                &mut drops,
            );
            let got = average(&d) / before;
            assert!((got / factor - 1.0).abs() < 1e-12, "{gap} us: {got}");
        }
    }
}
