//! Nodes that forward in software, against what follows from their definition.

use crate::common;
use spillgate_events::WinnerTree;
use spillgate_measure::table::{Metric, Scope};
use spillgate_sim::{Engine, Finished, Stop, World};

/// Runs a scenario in which `a` and `c` send to `b` by way of the router `r` with these keys; the
/// plain engine agrees.
fn run(
    forwarding: &str,
    traffic: &str,
    runs: u32,
) -> impl Fn(Scope, &str, Metric) -> Vec<f64> + use<> {
    let yaml = format!(
        "schema_version: 1\n\
         topology:\n  nodes: [a, c, {{name: r, forwarding: {{{forwarding}}}}}, b]\n  links:\n    \
         la: {{from: a, to: r, rate: 10 Gb/s, delay: 1 ms}}\n    \
         lc: {{from: c, to: r, rate: 10 Gb/s, delay: 1 ms}}\n    \
         out: {{from: r, to: b, rate: 10 Gb/s, delay: 1 ms}}\n\
         traffic:\n{traffic}\
         measurement: {{warmup: 1 s, duration: 10 s, percentiles: [backlog]}}\nruns: {{count: {runs}, seed: 5}}\n"
    );
    let plan = common::plan(&yaml);
    let finished: Vec<Finished> = common::run(&plan, 1);
    let mut world = World::<WinnerTree>::on(Engine::Plain, &plan.variants[0].world, 5, 0, false);
    while world.run(u64::MAX) != Stop::Done {}
    assert_eq!(world.digest(), finished[0].outcome.digest);
    move |scope, name, metric| common::values(&plan, &finished, scope, name, metric)
}

/// A flow of so many packets of 1,250 B a second, which take 1 µs on each link.
fn flow(name: &str, from: &str, kind: &str, packets: u32) -> String {
    let rate = packets / 100;
    format!(
        "  - flow: {{name: {name}, from: {from}, to: b, source: {{{kind}: {{rate: {rate} Mb/s, packet: 1250 B}}}}}}\n"
    )
}

#[test]
fn an_idle_router_takes_its_time_and_no_more() {
    let of = run(
        "per_packet: 30 us, delay: 200 us",
        &(flow("f", "a", "cbr", 20_000) + &flow("own", "r", "cbr", 1_000)),
        1,
    );
    let owd = |flow, metric| of(Scope::Flow, flow, metric)[0];
    // What is the router's own goes out at once.
    for (flow, wanted) in [("f", 2_002e-6 + 230e-6), ("own", 1_001e-6)] {
        for metric in [Metric::OwdMin, Metric::OwdMax] {
            let found = owd(flow, metric);
            assert!((found - wanted).abs() < 2e-6, "{flow}: {found}");
        }
    }
    assert!((owd("f", Metric::OwdMin) - 2_232e-6).abs() < 1e-12);
    let node = |metric| of(Scope::Node, "r", metric)[0];
    assert!((node(Metric::Utilization) - 0.6).abs() < 1e-5);
    assert_eq!(node(Metric::SojournMax), 0.0);
    assert_eq!(node(Metric::BacklogPacketsMax), 1.0);
    assert_eq!(node(Metric::DropsInputQueue), 0.0);
}

#[test]
fn an_overloaded_router_forwards_at_its_rate_and_keeps_its_queue() {
    let of = run(
        "per_packet: 100 us, input_queue: 40",
        &flow("f", "a", "cbr", 20_000),
        1,
    );
    let node = |metric| of(Scope::Node, "r", metric)[0];
    // 10,000 packets of 1,250 B a second, cut in two at the edges of the period.
    assert!((node(Metric::Carried) - 1e8).abs() < 1.0);
    assert_eq!(node(Metric::Utilization), 1.0);
    assert!((node(Metric::DropsInputQueue) - 1e5).abs() <= 1.0);
    // Who is let in finds 39 waiting, and what is left of the packet in work: half of it, or
    // nothing.
    let longest = node(Metric::SojournMax);
    assert!((39.0e-4..=40.0e-4).contains(&longest), "{longest}");
    assert_eq!(node(Metric::BacklogPacketsMax), 40.0);
    assert!((of(Scope::Flow, "f", Metric::LossRatio)[0] - 0.5).abs() < 1e-4);
}

#[test]
fn poisson_arrivals_wait_as_in_m_d_1() {
    let of = run(
        "per_packet: 100 us, input_queue: 100000",
        &(flow("f", "a", "poisson", 5_000) + &flow("g", "c", "poisson", 3_000)),
        20,
    );
    let found = of(Scope::Node, "r", Metric::SojournMean);
    // Pollaczek and Khinchine for a constant service time at load 0.8: 100 us * 0.8 / (2 * 0.2).
    let n = found.len() as f64;
    let mean = found.iter().sum::<f64>() / n;
    let var = found.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
    // The 99.9 % point of Student's t with 19 degrees of freedom.
    let half = 3.883 * (var / n).sqrt();
    assert!((mean - 200e-6).abs() < half, "{mean} ± {half}");
    assert!(half < 5e-6, "{half}");
}

#[test]
fn a_flood_from_one_link_fills_no_queue_but_its_own() {
    let of = run(
        "per_packet: 100 us, input_queue: 30",
        &(flow("flood", "a", "cbr", 40_000) + &flow("calls", "c", "poisson", 1_000)),
        1,
    );
    let flow = |name, metric| of(Scope::Flow, name, metric)[0];
    assert_eq!(flow("calls", Metric::DropsInputQueue), 0.0);
    assert!(flow("flood", Metric::DropsInputQueue) > 0.0);
    // But all wait for one processor, behind 30 of the flood.
    assert!(flow("calls", Metric::OwdP50) > 2e-3 + 30e-4 - 2e-4);
}

#[test]
fn packets_on_their_way_at_the_end_meet_what_others_go_on_to_send() {
    // The flows share no link; the last packets of `f` reach the router when all of the flood's
    // that count are through.
    let plan = common::plan(&format!(
        "schema_version: 1\n\
         topology:\n  nodes: [a, c, {{name: r, forwarding: {{per_packet: 100 us, input_queue: 30}}}}, b, d]\n  links:\n    \
         la: {{from: a, to: r, rate: 10 Gb/s, delay: 100 ms}}\n    \
         lc: {{from: c, to: r, rate: 10 Gb/s}}\n    \
         ob: {{from: r, to: b, rate: 10 Gb/s}}\n    \
         od: {{from: r, to: d, rate: 10 Gb/s}}\n\
         traffic:\n{}{}\
         measurement: {{warmup: 1 s, duration: 2 s}}\nruns: {{count: 1, seed: 5}}\n",
        flow("f", "a", "cbr", 100),
        flow("flood", "c", "cbr", 40_000).replace("to: b", "to: d"),
    ));
    let finished = common::run(&plan, 1);
    let least = common::values(&plan, &finished, Scope::Flow, "f", Metric::OwdMin)[0];
    assert!(least > 100e-3 + 29e-4, "{least}");
}
