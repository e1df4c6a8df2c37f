//! TCP connections in the world: they fill links, deliver every byte, share, and repeat.

use crate::common;
use spillgate_events::{EventSet, Heap4, WinnerTree};
use spillgate_measure::table::{Metric, Scope};
use spillgate_sim::{Stop, World};

fn scenario(policy: &str, traffic: &str) -> String {
    format!(
        "
schema_version: 1
topology:
  nodes: [a, b]
  links:
    l: {{from: a, to: b, rate: 10 Mb/s, delay: 10 ms, policy: P}}
    back: {{from: b, to: a, rate: 10 Mb/s, delay: 10 ms, policy: P}}
policies: {{P: {policy}}}
traffic:
{traffic}
measurement: {{warmup: 5 s, duration: 40 s, interval: 1 s}}
runs: {{count: 2, seed: 3}}
"
    )
}

const KINDS: [&str; 4] = [
    "{cc: {newreno: {}}}",
    "{cc: {reno: {}}}",
    "{profile: ns2}",
    "{profile: linux, cc: {newreno: {}}}",
];

/// The payload's share of a packet of 1500 B with timestamps is 1448/1500; ns-2's 1000/1040.
#[test]
fn a_greedy_connection_fills_the_link() {
    for tcp in KINDS {
        let flow = format!("  - flow: {{name: f, from: a, to: b, tcp: {tcp}}}");
        // The bandwidth-delay product is 25 kB: a buffer above it keeps the link busy through
        // the halving of the window.
        let plan = common::plan(&scenario("{fifo: {limit: 40 packets}}", &flow));
        let finished = common::run(&plan, 0);
        let of = |scope, name, metric| common::values(&plan, &finished, scope, name, metric);
        for (busy, good) in of(Scope::Link, "l", Metric::Utilization)
            .into_iter()
            .zip(of(Scope::Class, "f", Metric::Goodput))
        {
            assert!(busy > 0.99, "{tcp}: utilization {busy}");
            assert!((0.95e7..=0.9654e7).contains(&good), "{tcp}: goodput {good}");
        }
        let retransmits = of(Scope::Flow, "f", Metric::Retransmits);
        let drops = of(Scope::Flow, "f", Metric::DropsTail);
        for (r, d) in retransmits.into_iter().zip(drops) {
            assert!(d > 0.0, "{tcp}: the buffer never overflowed");
            assert!(r >= d - 64.0, "{tcp}: {r} retransmissions for {d} losses");
        }
    }
}

#[test]
fn a_transfer_delivers_every_byte_once_and_takes_its_time() {
    for tcp in KINDS {
        let flow = format!(
            "  - flow: {{name: f, from: a, to: b, start: 6 s, bytes: 5 MB, tcp: {tcp}}}\n  - flow: {{name: noise, from: a, to: b, source: {{poisson: {{rate: 5 Mb/s, packet: 1000 B}}}}}}"
        );
        let plan = common::plan(&scenario("{fifo: {limit: 20 packets}}", &flow));
        let finished = common::run(&plan, 0);
        let of = |metric| common::values(&plan, &finished, Scope::Flow, "f", metric);
        for (good, fct) in of(Metric::Goodput).into_iter().zip(of(Metric::FctMean)) {
            // 40 Mb over the 40 s of the period; the mean of rates is exact in binary64.
            assert!((good - 1e6).abs() < 1e-3, "{tcp}: goodput {good}");
            // At 10 Mb/s 40 Mb take 4 s; the noise leaves half.
            assert!(fct > 4.0, "{tcp}: done after {fct} s");
            assert!(fct < 30.0, "{tcp}: done after {fct} s");
        }
    }
}

/// Equal connections over RED share: ten flows, Jain's index of their throughputs.
#[test]
fn equal_connections_share() {
    let flow =
        "  - flow: {name: f, count: 10, class: all, from: a, to: b, start_spread: 1 s, tcp: {}}";
    let plan = common::plan(&scenario(
        "{fifo: {limit: 200 packets, aqm: {red: {min_th: 10, max_th: 30}}}}",
        flow,
    ));
    let finished = common::run(&plan, 0);
    for jain in common::values(&plan, &finished, Scope::Class, "all", Metric::Jain) {
        // Jain of n shares is 1 / (1 + variation²). Windows of AIMD vary by about 20 % (the
        // sawtooth between W/2 and W) and some hundred epochs average that out; 0.95 allows
        // the means of the flows to vary by 23 %.
        assert!(jain > 0.95, "{jain}");
    }
}

/// A hundred alike connections over drop-tail: in step with the queue, half of them get nearly
/// everything (Jain's index of k shares among n is k / n). With random sending times each loses as
/// often as any other.
#[test]
fn jitter_ends_phase_effects() {
    let n = 100;
    let hosts: Vec<String> = (0..n).map(|i| format!("h{i}")).collect();
    let each = |line: &dyn Fn(u32) -> String| (0..n).map(line).collect::<String>();
    let links = each(&|i| {
        format!("    in{i}: {{from: h{i}, to: l, rate: 100 Mb/s, delay: 1 ms, duplex: true}}\n")
    });
    let jain = |jitter: &str| {
        let flows = each(&|i| {
            format!(
                "  - flow: {{name: f{i}, class: all, from: h{i}, to: b, start_spread: 1 s, tcp: {{profile: ns2, send_jitter: {jitter}}}}}\n"
            )
        });
        let plan = common::plan(&format!(
            "
schema_version: 1
topology:
  nodes: [{}, l, r, b]
  links:
{links}
    mid: {{from: l, to: r, rate: 10 Mb/s, delay: 20 ms, policy: P, duplex: true}}
    out: {{from: r, to: b, rate: 1 Gb/s, delay: 1 ms, duplex: true}}
policies: {{P: {{fifo: {{limit: 50 packets}}}}}}
traffic:
{flows}
measurement: {{warmup: 10 s, duration: 100 s}}
runs: {{count: 3, seed: 3}}
",
            hosts.join(", ")
        ));
        let finished = common::run(&plan, 0);
        common::values(&plan, &finished, Scope::Class, "all", Metric::Jain)
    };
    let (without, with) = (jain("0 s"), jain("1 ms"));
    println!("without {without:?}, with {with:?}");
    for (without, with) in without.into_iter().zip(with) {
        assert!(
            without < 0.67,
            "a third of the connections or more starves: {without}"
        );
        assert!(with > 0.8, "{with}");
    }
}

/// Data and acknowledgments compete in both directions, and both directions fill their link.
#[test]
fn two_ways_at_once() {
    let flows = "  - flow: {name: up, count: 4, from: a, to: b, start_spread: 1 s, tcp: {}}
  - flow: {name: down, count: 4, from: b, to: a, start_spread: 1 s, tcp: {}}";
    let plan = common::plan(&scenario("{fifo: {limit: 60 packets}}", flows));
    let finished = common::run(&plan, 0);
    for link in ["l", "back"] {
        for busy in common::values(&plan, &finished, Scope::Link, link, Metric::Utilization) {
            // Compressed acknowledgments cost some of it (Zhang, Shenker and Clark 1991).
            assert!(busy > 0.8, "{link}: {busy}");
        }
    }
}

/// Whoever looks wants each queue as it is at that instant, so nothing is worked out ahead; nor is
/// the other event set's order of work the same. The facts are.
#[test]
fn event_sets_pauses_and_work_ahead_change_nothing() {
    fn digest<S: EventSet>(
        plan: &spillgate_scenario::plan::Plan,
        look: bool,
        budget: u64,
    ) -> String {
        let world = World::<S>::new(&plan.variants[0].world, 1, 0, look);
        finish(world, budget)
    }
    fn finish<S: EventSet>(mut world: World<S>, budget: u64) -> String {
        while world.run(budget) != Stop::Done {}
        let outcome = world.outcome();
        format!(
            "{} {} {:?}",
            outcome.digest, outcome.packets, outcome.values
        )
    }
    // Three hops each way; losses at the second and, of the longer packets, at the third.
    let plan = common::plan(
        "
schema_version: 1
topology:
  nodes: [a, b, c, d, e]
  links:
    first: {from: a, to: c, rate: 100 Mb/s, delay: 1 ms, duplex: true}
    other: {from: b, to: c, rate: 50 Mb/s, delay: 7 ms, duplex: true}
    wan: {from: c, to: d, rate: 10 Mb/s, delay: 10 ms, policy: P, duplex: true}
    last: {from: d, to: e, rate: 10 Mb/s, delay: 2 ms, overhead: 100 B, policy: Q, duplex: true}
policies:
  P: {fifo: {limit: 30 packets}}
  Q: {fifo: {limit: 10 packets}}
traffic:
  - flow: {name: up, count: 5, from: a, to: e, start_spread: 1 s, tcp: {}}
  - flow: {name: linux, count: 3, from: b, to: e, tcp: {profile: linux}}
  - flow: {name: down, count: 2, from: e, to: b, tcp: {profile: ns2}}
  - flow: {name: short, count: 3, from: e, to: a, start: 2 s, bytes: 300 kB, tcp: {profile: linux, cc: {newreno: {}}}}
  - flow: {name: noise, from: a, to: e, source: {poisson: {rate: 2 Mb/s, packet: imix}}}
measurement: {warmup: 2 s, duration: 10 s, interval: 100 ms}
runs: {count: 1, seed: 3}
",
    );
    let tail = common::values(
        &plan,
        &common::run(&plan, 1),
        Scope::Queue,
        "last/fifo",
        Metric::DropsTail,
    );
    assert!(tail[0] > 10.0, "no losses behind the bottleneck");
    let reference = digest::<WinnerTree>(&plan, false, u64::MAX);
    assert_eq!(
        digest::<WinnerTree>(&plan, true, u64::MAX),
        reference,
        "work ahead"
    );
    assert_eq!(
        digest::<Heap4>(&plan, false, u64::MAX),
        reference,
        "event set"
    );
    assert_eq!(digest::<WinnerTree>(&plan, false, 77), reference, "pauses");
    let tap = Box::new(common::Blind);
    let tapped = World::<WinnerTree>::tapped(&plan.variants[0].world, 1, 0, false, tap);
    assert_eq!(finish(tapped, u64::MAX), reference, "tap");
}

/// A timer that nothing needs any more wakes its end of the connection, but that is no event: of a
/// transfer there are the deliveries, and the wake at its start.
#[test]
fn wakes_for_nothing_are_no_events() {
    let flow = "  - flow: {name: f, from: a, to: b, bytes: 300 kB, start: 6 s, tcp: {profile: ns2, handshake: true, max_window: 20 kB}}";
    let plan = common::plan(&scenario("{fifo: {limit: 40 packets}}", flow));
    let mut world = World::<WinnerTree>::new(&plan.variants[0].world, plan.seed, 0, false);
    while world.run(u64::MAX) != Stop::Done {}
    // 300 segments with their acknowledgments, and those of the handshake and of the end.
    assert!(world.hops() > 600, "{} deliveries", world.hops());
    assert_eq!(world.events(), world.hops() + 1);
}

/// RED at 100 Mb/s and a round trip of 40 ms, whose slowly moving average lets slow start overshoot
/// far; what it drops after that is, with ECN, every retransmission. 3 runs of `of` flow `f`, with
/// marks or without.
fn over_red(ecn: bool, seconds: u32, flow: &str, scope: Scope, metric: Metric) -> Vec<f64> {
    let tcp_ecn = if ecn { "classic" } else { "off" };
    let flow = flow.replace("ECN", tcp_ecn);
    let plan = common::plan(&format!(
        "
schema_version: 1
topology:
  nodes: [a, b]
  links:
    l: {{from: a, to: b, rate: 100 Mb/s, delay: 20 ms, policy: P}}
    back: {{from: b, to: a, rate: 100 Mb/s, delay: 20 ms}}
policies: {{P: {{fifo: {{limit: 400 packets, aqm: {{red: {{min_th: 50, max_th: 150, ecn: {ecn}}}}}}}}}}}
traffic:
  - flow: {{name: f, class: f, from: a, to: b, start_spread: 1 s, {flow}}}
measurement: {{warmup: 0 s, duration: {seconds} s}}
runs: {{count: 3, seed: 3}}
"
    ));
    common::values(&plan, &common::run(&plan, 0), scope, "f", metric)
}

/// RFC 3168 §6.1.2: echoes of marks that a timeout has answered do not keep the window at one
/// segment until everything old has been sent again. They did: 30 MB took 10 s, without marks
/// 3.4 s. What marks may cost here is the round trip or two without growth until the echo ends, at
/// each of the reductions after the overshoot.
#[test]
fn marks_cost_little_more_than_losses() {
    let of = |ecn| {
        let flow = "bytes: 30 MB, tcp: {profile: linux, ecn: ECN}";
        over_red(ecn, 30, flow, Scope::Flow, Metric::FctMean)
    };
    for (with, without) in of(true).into_iter().zip(of(false)) {
        assert!(with < 1.5 * without, "{with} s, without marks {without} s");
    }
    let of = |ecn| {
        let flow = "count: 2, tcp: {cc: newreno, ecn: ECN}";
        over_red(ecn, 40, flow, Scope::Class, Metric::Throughput)
    };
    for (with, without) in of(true).into_iter().zip(of(false)) {
        assert!(
            with > 0.95 * without,
            "{with} b/s, without marks {without} b/s"
        );
    }
}
