//! RED as ns-2 has it, against recorded runs of ns-2.35 (Debian's package `ns2`).
//!
//! 10 Mb/s, `Queue/RED` with `thresh_` 10, `maxthresh_` 30, `q_weight_` 0.02, `mean_pktsize_` 1000
//! and otherwise its defaults, a limit of 200 packets; Poisson packets of 1000 B at 10.5 Mb/s from
//! 0.1 to 401 s. What RED drops beyond the overload leaves the line idle: that is what tells
//! variants apart.

use crate::common::{build, packet, rate};
use spillgate_core::{Dur, Rng, Time, math};
use spillgate_queueing::testkit::Bench;

/// What `vectors/red_ns2.tcl` prints: `parrivals_` less `pdrops_` of ns-2's queue monitor was at
/// 401 s, with one seed.
const ACCEPTED: [(&str, &str, f64); 4] = [
    // bytes_ and queue_in_bytes_ as they are: true.
    ("bytes", "", 499_256.0),
    (
        "packets",
        r#""unit": "packets", "size_scaling": "none","#,
        499_263.0,
    ),
    (
        "wait_ false",
        r#""unit": "packets", "size_scaling": "none", "wait": false,"#,
        496_960.0,
    ),
    (
        "gentle_ false",
        r#""unit": "packets", "size_scaling": "none", "gentle": false,"#,
        498_890.0,
    ),
];

fn accepted(keys: &str, seed: u64) -> f64 {
    let (min, max) = match keys {
        "" => (10_000, 30_000),
        _ => (10, 30),
    };
    let policy = format!(
        r#"{{"main": {{"fifo": {{"limit": "200 packets", "aqm": {{"red": {{"as": "ns2", {keys}
            "min_th": {min}, "max_th": {max}, "weight": 0.02, "mean_packet": "1000 B"}}}}}}}}}}"#
    );
    let mut bench = Bench::new(build(&policy, 10_000_000), rate(10_000_000));
    let mut rng = Rng::from_key(seed);
    let (mut at, end) = (Time::from_secs_f64(0.1), Time::from_secs_f64(401.0));
    let mut seq = 0;
    while at < end {
        bench.arrive(at, packet(0, seq, 1000));
        seq += 1;
        at += Dur::from_secs_f64(-math::ln(1.0 - rng.f64()) / 1312.5);
    }
    f64::from(seq) - bench.run().drops.len() as f64
}

/// Mean over runs, and how far one run more is from it at most with 99.9 %: Student's t with 4
/// degrees of freedom.
pub(crate) fn interval(of: [f64; RUNS]) -> (f64, f64) {
    let n = RUNS as f64;
    let mean = of.iter().sum::<f64>() / n;
    let var = of.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
    (mean, 8.61 * (var * (1.0 + 1.0 / n)).sqrt())
}

pub(crate) const RUNS: usize = 5;

#[test]
fn as_many_packets_get_through_as_in_ns_2() {
    let all = ACCEPTED.map(|(_, keys, _)| std::array::from_fn(|seed| accepted(keys, seed as u64)));
    for ((name, _, in_ns2), of) in ACCEPTED.into_iter().zip(all) {
        let (mean, most) = interval(of);
        println!("{name}: {mean:.0} +- {most:.0}, ns-2 {in_ns2}");
        assert!(
            (mean - in_ns2).abs() < most,
            "{name}: {mean} +- {most}, ns-2 {in_ns2}"
        );
    }
    // The runs of ns-2 met the same arrivals, and so do those here.
    for ((name, _, in_ns2), of) in ACCEPTED.into_iter().zip(all).skip(2) {
        let (mean, most) = interval(std::array::from_fn(|i| of[i] - all[1][i]));
        let in_ns2 = in_ns2 - ACCEPTED[1].2;
        println!("{name} less packets: {mean:.0} +- {most:.0}, ns-2 {in_ns2}");
        assert!(
            (mean - in_ns2).abs() < most,
            "{name}: {mean} +- {most}, ns-2 {in_ns2}"
        );
        // The test can tell them apart.
        assert!(mean.abs() > most, "{name}: {mean} +- {most}");
    }
}
