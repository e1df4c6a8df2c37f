//! Queues whose answers are known: M/M/1, M/D/1, M/M/1/K, and the M/G/1 queue
//! with two strict priorities (Cobham 1954), at three loads each.
//!
//! Each answer is compared with the Student-t interval over independent runs.
//! Of many 95 % intervals some miss: the number of misses must be one that a
//! correct simulator shows with probability above 0.1 %, and no answer may lie
//! outside its 99.99 % interval. For the former to be a binomial number, every
//! case has a seed of its own.

use crate::common;
use spillgate_core::math;
use spillgate_measure::stats::Interval;
use spillgate_measure::table::{Metric, Scope};

const MEAN_BYTES: f64 = 5_000.0;
const SERVICE: f64 = 1e-3;

/// A link that serves a mean packet in 1 ms; `case` is the seed.
fn scenario(policy: &str, traffic: &str, case: u32) -> String {
    format!(
        "schema_version: 1
topology:
  nodes: [a, b]
  links: {{l: {{from: a, to: b, rate: 40 Mb/s, policy: P}}}}
policies: {{P: {policy}}}
traffic:
{traffic}
measurement: {{warmup: 10 s, duration: 200 s, interval: 10 s}}
runs: {{count: 20, seed: {case}}}
"
    )
}

fn flow(name: &str, dscp: &str, load: f64, packet: &str) -> String {
    let rate = load * 40e6;
    format!(
        "  - flow: {{name: {name}, from: a, to: b, dscp: {dscp}, source: {{poisson: {{rate: {rate} b/s, packet: {packet}}}}}}}\n"
    )
}

struct Check {
    what: String,
    expected: f64,
    runs: Vec<f64>,
}

fn waits(yaml: &str, cases: &[(&str, Metric, f64, &str)]) -> Vec<Check> {
    let plan = common::plan(yaml);
    let finished = common::run(&plan, 0);
    cases
        .iter()
        .map(|&(queue, metric, expected, what)| Check {
            what: what.to_owned(),
            expected,
            runs: common::values(&plan, &finished, Scope::Queue, queue, metric),
        })
        .collect()
}

fn mm1(case: u32, load: f64) -> Vec<Check> {
    let yaml = scenario(
        "{fifo: {limit: 100 MB}}",
        &flow("f", "default", load, "{exponential: 5000 B}"),
        case,
    );
    // W = rho / (1 - rho) service times.
    let wait = load / (1.0 - load) * SERVICE;
    waits(
        &yaml,
        &[(
            "l/fifo",
            Metric::SojournMean,
            wait,
            &format!("M/M/1 rho {load}: mean wait"),
        )],
    )
}

fn md1(case: u32, load: f64) -> Vec<Check> {
    let yaml = scenario(
        "{fifo: {limit: 100 MB}}",
        &flow("f", "default", load, "5000 B"),
        case,
    );
    // Pollaczek-Khinchine with no variance: half of M/M/1.
    let wait = load / (2.0 * (1.0 - load)) * SERVICE;
    waits(
        &yaml,
        &[(
            "l/fifo",
            Metric::SojournMean,
            wait,
            &format!("M/D/1 rho {load}: mean wait"),
        )],
    )
}

fn mm1k(case: u32, load: f64) -> Vec<Check> {
    const K: f64 = 10.0;
    let yaml = scenario(
        // K counts the packet on the wire, the limit does not.
        &format!("{{fifo: {{limit: {} packets}}}}", K - 1.0),
        &flow("f", "default", load, "{exponential: 5000 B}"),
        case,
    );
    let blocked = (1.0 - load) * math::pow(load, K) / (1.0 - math::pow(load, K + 1.0));
    let plan = common::plan(&yaml);
    let finished = common::run(&plan, 0);
    vec![Check {
        what: format!("M/M/1/{K} rho {load}: blocking"),
        expected: blocked,
        runs: common::values(&plan, &finished, Scope::Class, "f", Metric::LossRatio),
    }]
}

/// High: fixed packets. Low: exponential packets. Each with half of the load.
fn cobham(case: u32, load: f64) -> Vec<Check> {
    let policy = "{class-based: {classes: [
        {name: high, match: {dscp: ef}, priority: {level: 1, limit: 100 MB}},
        {name: low, match: {dscp: default}, priority: {level: 2, limit: 100 MB}}]}}";
    let traffic = flow("high", "ef", load / 2.0, "5000 B")
        + &flow("low", "default", load / 2.0, "{exponential: 5000 B}");
    let yaml = scenario(policy, &traffic, case);
    let rate = load / 2.0 / SERVICE;
    // R = sum of lambda E[S²] / 2; E[S²] is S² when fixed, 2 S² when exponential.
    let residual = rate * (SERVICE * SERVICE + 2.0 * SERVICE * SERVICE) / 2.0;
    let high = residual / (1.0 - load / 2.0);
    let low = high / (1.0 - load);
    waits(
        &yaml,
        &[
            (
                "l/high",
                Metric::SojournMean,
                high,
                &format!("Cobham rho {load}: wait of the high class"),
            ),
            (
                "l/low",
                Metric::SojournMean,
                low,
                &format!("Cobham rho {load}: wait of the low class"),
            ),
        ],
    )
}

/// Smallest m with P(misses > m) < 0.1 % for n intervals of 95 %.
fn tolerated(n: usize) -> usize {
    let mut p = math::pow(0.95, n as f64);
    let mut cumulative = p;
    let mut m = 0;
    while 1.0 - cumulative > 1e-3 {
        p *= (n - m) as f64 / (m + 1) as f64 * (0.05 / 0.95);
        m += 1;
        cumulative += p;
    }
    m
}

#[test]
fn known_queues_come_out_right() {
    type Queue = fn(u32, f64) -> Vec<Check>;
    let cases: [(Queue, [f64; 3]); 4] = [
        (mm1, [0.5, 0.7, 0.85]),
        (md1, [0.5, 0.7, 0.85]),
        (mm1k, [0.5, 0.8, 1.2]),
        (cobham, [0.5, 0.7, 0.85]),
    ];
    let checks: Vec<Check> = cases
        .iter()
        .flat_map(|(f, loads)| loads.iter().map(move |load| (f, *load)))
        .zip(1..)
        .flat_map(|((f, load), case)| f(case, load))
        .collect();
    let mut misses = 0;
    for c in &checks {
        let i = Interval::of(&c.runs, 0.95);
        let inside = i.low <= c.expected && c.expected <= i.high;
        misses += usize::from(!inside);
        println!(
            "{:<40} expected {:.6e}  measured {:.6e} +- {:.1e}  {}",
            c.what,
            c.expected,
            i.mean,
            i.half,
            if inside { "inside" } else { "OUTSIDE" }
        );
        let wide = Interval::of(&c.runs, 0.9999);
        assert!(
            wide.low <= c.expected && c.expected <= wide.high,
            "{}: {} is outside [{}, {}]",
            c.what,
            c.expected,
            wide.low,
            wide.high
        );
    }
    let allowed = tolerated(checks.len());
    println!(
        "{misses} of {} outside their 95 % interval; up to {allowed} are chance",
        checks.len()
    );
    assert!(
        misses <= allowed,
        "{misses} of {} outside their 95 % interval",
        checks.len()
    );
}

/// L = lambda W holds in every run, up to the packets that wait at the edges of the window.
#[test]
fn littles_law_holds_in_every_run() {
    let yaml = scenario(
        "{fifo: {limit: 100 MB}}",
        &flow("f", "default", 0.7, "{exponential: 5000 B}"),
        1,
    );
    let plan = common::plan(&yaml);
    let finished = common::run(&plan, 0);
    let of = |metric| common::values(&plan, &finished, Scope::Queue, "l/fifo", metric);
    let (mean, most) = (
        of(Metric::BacklogPacketsMean),
        of(Metric::BacklogPacketsMax),
    );
    let (wait, longest) = (of(Metric::SojournMean), of(Metric::SojournMax));
    let packets = common::values(
        &plan,
        &finished,
        Scope::Total,
        "all",
        Metric::PacketsReceived,
    );
    for i in 0..finished.len() {
        let lambda_w = packets[i] / 200.0 * wait[i];
        let edges = 2.0 * (most[i] + 1.0) * longest[i] / 200.0;
        assert!(
            (mean[i] - lambda_w).abs() <= edges,
            "{} is not {lambda_w} +- {edges}",
            mean[i]
        );
    }
}

#[test]
fn mean_packet_of_the_scenarios_is_as_assumed() {
    // Cutting at 20 B and 65 535 B and rounding shift the mean by 20² / (2 mean) = 0.04 B.
    assert!((MEAN_BYTES * 8.0 / 40e6 - SERVICE).abs() < 1e-12);
}
