//! PI, REM and AVQ beside recorded runs of ns-2.35 (Debian's package `ns2`).
//!
//! Poisson packets of 1000 B at 10.5 Mb/s over 10 Mb/s, from 0.1 to 401 s. PI with ten times its
//! gains at 160 samples a second and REM with its defaults in a queue that never fills; AVQ with a
//! limit of 20 packets, which is the length of its virtual queue.

use crate::common::{build, packet, rate};
use crate::red_ns2::{RUNS, interval};
use spillgate_core::{Dur, Rng, Time, math};
use spillgate_queueing::testkit::Bench;

/// An AQM with its limit, and what `vectors/aqm_ns2.tcl` prints of ns-2 with seed 1, for REM 2:
/// packets that got through, and the mean queue in packets.
const RECORDED: [(&str, u32, f64, f64); 3] = [
    (
        r#"{"pi": {"a": 0.0001822, "b": 0.0001816}}"#,
        1000,
        497_260.0,
        51.357_934,
    ),
    (r#"{"rem": {}}"#, 1000, 485_582.0, 22.920_313),
    (r#"{"avq": {"as": "ns2"}}"#, 20, 489_562.0, 7.230_451),
];

/// Packets that got through, and the mean queue.
fn run(aqm: &str, limit: u32, seed: u64) -> (f64, f64) {
    let policy = format!(r#"{{"main": {{"fifo": {{"limit": "{limit} packets", "aqm": {aqm}}}}}}}"#);
    let mut bench = Bench::new(build(&policy, 10_000_000), rate(10_000_000));
    let mut rng = Rng::from_key(seed);
    let (mut at, end) = (Time::from_secs_f64(0.1), Time::from_secs_f64(401.0));
    let mut seq = 0;
    while at < end {
        bench.arrive(at, packet(0, seq, 1000));
        seq += 1;
        at += Dur::from_secs_f64(-math::ln(1.0 - rng.f64()) / 1312.5);
    }
    let out = bench.run();
    let waited = out.departures.iter();
    let waited = waited.map(|d| d.start.since(d.packet.arrived).as_secs_f64());
    (
        f64::from(seq) - out.drops.len() as f64,
        waited.sum::<f64>() / 401.0,
    )
}

#[test]
fn as_much_gets_through_and_waits_as_in_ns_2() {
    for (aqm, limit, accepted, queue) in RECORDED {
        let of: [(f64, f64); RUNS] = std::array::from_fn(|seed| run(aqm, limit, seed as u64));
        for (what, ours, in_ns2) in [
            ("accepted", of.map(|run| run.0), accepted),
            ("mean queue", of.map(|run| run.1), queue),
        ] {
            let (mean, most) = interval(ours);
            println!("{aqm} {what}: {mean:.3} +- {most:.3}, ns-2 {in_ns2}");
            assert!(
                (mean - in_ns2).abs() < most,
                "{aqm} {what}: {mean} +- {most}, ns-2 {in_ns2}"
            );
        }
    }
}
