//! When flows of a group start.

use crate::common;
use spillgate_measure::table::{Metric, Scope};

const FLOWS: usize = 200;

/// Seconds at which each flow starts, in the order of the file, to 10 ms.
fn starts(keys: &str, policy: &str) -> Vec<f64> {
    let plan = common::plan(&format!(
        "
schema_version: 1
topology:
  nodes: [a, b]
  links: {{l: {{from: a, to: b, rate: 100 Mb/s, policy: P}}}}
policies: {{P: {policy}}}
traffic:
  - flow: {{name: f, count: {FLOWS}, class: f, from: a, to: b, {keys}, source: {{cbr: {{rate: 80 kb/s, packet: 100 B, phase: 0 s}}}}}}
measurement: {{warmup: 0 s, duration: 40 s, interval: 1 s}}
runs: {{count: 1, seed: 5}}
"
    ));
    let finished = common::run(&plan, 0);
    // 80 kb/s from the start on: what is missing over 40 s is from before it.
    (0..FLOWS)
        .map(|i| {
            let name = format!("f-{i}");
            let rate = common::values(&plan, &finished, Scope::Flow, &name, Metric::Offered)[0];
            40.0 * (1.0 - rate / 80e3)
        })
        .collect()
}

#[test]
fn a_gap_makes_poisson_arrivals() {
    let found = starts("start: 2 s, start_gap: 100 ms", "{fifo: {}}");
    let gaps: Vec<f64> = std::iter::once(found[0] - 2.0)
        .chain(found.windows(2).map(|w| w[1] - w[0]))
        .collect();
    assert!(gaps.iter().all(|g| *g >= -0.01), "in the order of the file");
    let n = FLOWS as f64;
    let mean = gaps.iter().sum::<f64>() / n;
    // The mean of n exponential gaps has the standard deviation 0.1 / sqrt(n): four of them.
    assert!((mean - 0.1).abs() < 4.0 * 0.1 / n.sqrt(), "{mean}");
    let deviation = (gaps.iter().map(|g| (g - mean) * (g - mean)).sum::<f64>() / n).sqrt();
    // That of the sample deviation is 0.1 sqrt((9 - 1) / (4 n)), the kurtosis being 9.
    assert!(
        (deviation - 0.1).abs() < 4.0 * 0.1 * (2.0 / n).sqrt(),
        "{deviation}"
    );
}

#[test]
fn what_a_link_does_moves_no_start() {
    let gap = "start_gap: 100 ms";
    assert_eq!(
        starts(gap, "{fifo: {}}"),
        starts(gap, "{fifo: {limit: 1 packets}}")
    );
}
