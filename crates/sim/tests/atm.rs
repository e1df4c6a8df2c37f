//! Circuits of ATM: packets leave as cells, as early as their contract allows. Against sizes, rates
//! and delays that follow from their definitions, and cell queues with known answers.

use crate::common;
use spillgate_events::WinnerTree;
use spillgate_measure::stats::Interval;
use spillgate_measure::table::{Metric, Scope};
use spillgate_sim::{Engine, Stop, World};

/// Runs a scenario of one link `l`, on which a cell takes 10 us, with these keys and this traffic:
/// a metric in every run. The plain engine agrees about the first.
fn run(
    atm: &str,
    traffic: &str,
    measurement: &str,
    runs: u32,
) -> impl Fn(Scope, &str, Metric) -> Vec<f64> + use<> {
    let yaml = format!(
        "schema_version: 1\n\
         topology:\n  nodes: [a, b]\n  links:\n    l: {{from: a, to: b, rate: 42.4 Mb/s, delay: 1 ms, policy: P, atm: {{{atm}}}}}\n\
         policies:\n  P: {{fifo: {{limit: 500 packets}}}}\n\
         traffic:\n  - flow: {{name: f, from: a, to: b, {traffic}}}\n\
         measurement: {{{measurement}}}\nruns: {{count: {runs}, seed: 5}}\n"
    );
    let plan = common::plan(&yaml);
    let finished = common::run(&plan, 2);
    let mut world = World::<WinnerTree>::on(Engine::Plain, &plan.variants[0].world, 5, 0, false);
    while world.run(u64::MAX) != Stop::Done {}
    let first = finished.iter().find(|f| f.info.run == 0).unwrap();
    assert_eq!(world.digest(), first.outcome.digest);
    move |scope, name, metric| common::values(&plan, &finished, scope, name, metric)
}

#[track_caller]
fn close(found: f64, wanted: f64, by: f64) {
    assert!((found - wanted).abs() <= by, "{found}, not {wanted}");
}

/// Packets that meet no other: the last cell leaves when those before it have, and takes its time
/// on the line.
#[test]
fn a_packet_takes_the_time_of_its_cells() {
    // IP packet, encapsulation, cells: (length + header + 8) / 48, rounded up.
    for (bytes, encapsulation, cells) in [
        (40, "vc-mux", 1.0),
        (41, "vc-mux", 2.0),
        (40, "llc", 2.0),
        (1500, "llc", 32.0),
        (9180, "llc", 192.0),
        (65_527, "llc", 1366.0),
        (65_535, "vc-mux", 1366.0),
    ] {
        let source = format!("source: {{cbr: {{rate: 100 kb/s, packet: {bytes} B}}}}");
        // A cell each 40 us.
        let contract = "contract: {cbr: {pcr: 10.6 Mb/s}}";
        let atm = format!("encapsulation: {encapsulation}, phase: aligned, {contract}");
        let of = run(&atm, &source, "warmup: 6 s, duration: 60 s", 1);
        let owd = of(Scope::Flow, "f", Metric::OwdMean)[0];
        close(owd, 1e-3 + (cells - 1.0) * 40e-6 + 10e-6, 1e-9);
    }
}

#[test]
fn a_busy_circuit_carries_its_sustainable_rate() {
    let contract = "contract: {nrt-vbr: {pcr: 21.2 Mb/s, scr: 10.6 Mb/s, mbs: 200, cdvt: 100 us}}";
    let source = "source: {cbr: {rate: 30 Mb/s, packet: 1500 B}}";
    let of = run(contract, source, "warmup: 1 s, duration: 10 s", 1);
    // Rates count cells: 32 for 1,500 B. Packets at the edges of the period are counted in part, as
    // if their cells were evenly spread, so that at most two of them are off.
    let edges = 2.0 * 32.0 * 424.0 / 10.0;
    close(of(Scope::Link, "l", Metric::Carried)[0], 10.6e6, edges);
    close(
        of(Scope::Link, "l", Metric::Utilization)[0],
        0.25,
        edges / 42.4e6,
    );
    let payload = 12_000.0 / (32.0 * 424.0);
    close(
        of(Scope::Flow, "f", Metric::Throughput)[0],
        10.6e6 * payload,
        edges,
    );
}

#[test]
fn cells_have_a_random_phase() {
    let source = "source: {cbr: {rate: 640 kb/s, packet: 40 B}}";
    let of = run(
        "encapsulation: vc-mux",
        source,
        "warmup: 1 s, duration: 10 s",
        1,
    );
    // Uniform over the 10 us of a cell: four standard errors of the mean of 20,000 packets.
    let owd = of(Scope::Flow, "f", Metric::OwdMean)[0];
    close(
        owd,
        1e-3 + 15e-6,
        4.0 * 10e-6 / 12_f64.sqrt() / 20_000_f64.sqrt(),
    );
}

/// The mean of the runs has a 99.99 % interval that contains the answer.
#[track_caller]
fn contains(runs: &[f64], answer: f64, what: &str) {
    let interval = Interval::of(runs, 0.9999);
    let (low, high) = (interval.low, interval.high);
    assert!(
        low <= answer && answer <= high,
        "{what}: {answer} not in {low}..{high}"
    );
}

/// M/D/1: Poisson arrivals of packets of one cell wait ρ / (2 (1 − ρ)) cells on average.
#[test]
fn a_cell_queue_with_poisson_arrivals() {
    for load in [0.5, 0.8] {
        let rate = load * 320.0 / 10e-6;
        let source = format!("source: {{poisson: {{rate: {rate} b/s, packet: 40 B}}}}");
        let atm = "encapsulation: vc-mux, phase: aligned";
        let of = run(atm, &source, "warmup: 100 ms, duration: 2 s", 20);
        let waits = of(Scope::Queue, "l/fifo", Metric::SojournMean);
        let answer = load / (2.0 * (1.0 - load)) * 10e-6;
        contains(&waits, answer, &format!("M/D/1 at {load}"));
    }
}

/// N·D/D/1: N sources, each of a cell in D cell times, begin at random. The probability that there
/// is work for more than x cells is (J. Roberts, J. Virtamo, IEEE Transactions on Communications
/// 39(2), 1991) Σ C(N,n) ((n−x)/D)ⁿ (1−(n−x)/D)ᴺ⁻ⁿ (D−N+x)/(D−n+x), n from above x to N.
fn more_work_than(x: f64, sources: u32, period: f64) -> f64 {
    let all = f64::from(sources);
    let mut sum = 0.0;
    let mut choices = 1.0;
    for n in 0..=sources {
        let k = f64::from(n);
        if k > x {
            let p = (k - x) / period;
            let power = |x: f64, n: u32| (0..n).map(|_| x).product::<f64>();
            let powers = power(p, n) * power(1.0 - p, sources - n);
            sum += choices * powers * (period - all + x) / (period - k + x);
        }
        choices *= (all - k) / (k + 1.0);
    }
    sum
}

#[test]
fn a_cell_queue_with_periodic_sources() {
    for (sources, period) in [(20, 25.0), (9, 10.0)] {
        // The mean work by the trapezoidal rule between whole numbers, where the formula has its
        // corners.
        let steps = 200;
        let mut work = 0.0;
        for i in 0..sources * steps {
            let x = |i: u32| f64::from(i) / f64::from(steps);
            // From above: at a whole number the term of that many sources ends.
            let (from, to) = (x(i), x(i + 1) - 1e-12);
            work += (more_work_than(from, sources, period) + more_work_than(to, sources, period))
                / 2.0
                / f64::from(steps);
        }
        // Work at any time is λ (w + 1/2) where cells wait w on average (Brumelle 1971), in cell
        // times.
        let answer = (work / (f64::from(sources) / period) - 0.5) * 10e-6;
        let rate = 320.0 / (period * 10e-6);
        let traffic = format!(
            "count: {sources}, start_spread: {} us, source: {{cbr: {{rate: {rate} b/s, packet: 40 B}}}}",
            period * 10.0
        );
        let atm = "encapsulation: vc-mux, phase: aligned";
        // After the first period everything repeats; the period of measurement is a multiple of it.
        let of = run(
            atm,
            &traffic,
            "warmup: 10 ms, duration: 10 ms, interval: 1 ms",
            1000,
        );
        let waits = of(Scope::Queue, "l/fifo", Metric::SojournMean);
        contains(
            &waits,
            answer,
            &format!("{sources} D/D/1, one cell in {period}"),
        );
    }
}
