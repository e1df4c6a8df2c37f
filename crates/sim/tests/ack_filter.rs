//! CAKE's ACK filter under TCP: a line whose upstream is too narrow for its acknowledgments.

use std::collections::BTreeMap;

use spillgate_measure::table::{Metric, Scope};

use crate::common;

/// A home line of 50 Mb/s downstream and 1 Mb/s upstream over ATM, where an acknowledgment takes
/// two cells, with an upload beside the download.
fn line(filter: &str, tcp: &str) -> String {
    format!(
        "
schema_version: 1
topology:
  nodes: [home, isp, server]
  links:
    up: {{from: home, to: isp, rate: 1 Mb/s, delay: 5 ms, overhead: bridged-llcsnap, policy: UP}}
    down: {{from: isp, to: home, rate: 50 Mb/s, delay: 5 ms, policy: DOWN}}
    backbone: {{from: isp, to: server, rate: 1 Gb/s, delay: 5 ms, duplex: true}}
policies:
  UP: {{cake: {{bandwidth: 950 kb/s, ack_filter: {filter}}}}}
  DOWN: {{fq-codel: {{}}}}
traffic:
  - flow: {{name: download, class: download, from: server, to: home, tcp: {tcp}}}
  - flow: {{name: upload, class: upload, from: home, to: server, start: 1 s, tcp: {tcp}}}
measurement: {{warmup: 5 s, duration: 20 s}}
runs: {{count: 2, seed: 1}}
"
    )
}

/// Goodput of both in b/s, and the acknowledgments that the filter dropped; mean of the runs.
fn of(filter: &str, tcp: &str) -> BTreeMap<&'static str, f64> {
    let plan = common::plan(&line(filter, tcp));
    let done = common::run(&plan, 2);
    let mean = |scope, name: &str, metric| {
        let values = common::values(&plan, &done, scope, name, metric);
        values.iter().sum::<f64>() / values.len() as f64
    };
    let goodput = |class: &str| mean(Scope::Class, class, Metric::Goodput);
    BTreeMap::from([
        ("down", goodput("download")),
        ("up", goodput("upload")),
        (
            "filtered",
            mean(Scope::Queue, "up/best-effort", Metric::DropsAckFilter),
        ),
    ])
}

/// Fair queuing leaves half of the upstream to acknowledgments: 475 kb/s, 560 of 106 B a second,
/// and each tells of two segments or, where some before it were lost, of more. Those that the
/// filter leaves tell of all that came meanwhile, so that the download fills its line, and the
/// upload, which had its half before, is as it was. It is the same with classic ECN.
#[test]
fn a_narrow_upstream_carries_more_downstream() {
    // Of 1500 B 1448 are data.
    let line = 50e6 * 1448.0 / 1500.0;
    for tcp in ["{profile: linux}", "{profile: linux, ecn: classic}"] {
        let plain = of("no", tcp);
        assert_eq!(plain["filtered"], 0.0);
        for filter in ["filter", "aggressive"] {
            let of = of(filter, tcp);
            assert!(of["down"] > 0.95 * line, "{filter} {tcp} {of:?}");
            assert!(
                of["down"] > 1.5 * plain["down"],
                "{filter} {tcp} {of:?} {plain:?}"
            );
            assert!(
                (of["up"] / plain["up"] - 1.0).abs() < 0.01,
                "{filter} {tcp} {of:?} {plain:?}"
            );
        }
    }
}
