//! What is counted, and when: the edges of the measured period.

use crate::common;
use std::sync::Arc;

use spillgate_events::WinnerTree;
use spillgate_measure::table::{Metric, Scope};
use spillgate_scenario::plan::Plan;
use spillgate_sim::{Finished, Stop, World};

fn ran(yaml: &str) -> (Arc<Plan>, Vec<Finished>) {
    let plan = common::plan(yaml);
    let finished = common::run(&plan, 1);
    (plan, finished)
}

fn one(of: &(Arc<Plan>, Vec<Finished>), scope: Scope, name: &str, metric: Metric) -> f64 {
    common::values(&of.0, &of.1, scope, name, metric)[0]
}

/// 12 000 bits every 10 ms over a link that takes 1 ms for them.
fn light(policy: &str, measurement: &str) -> String {
    format!(
        "
schema_version: 1
topology:
  nodes: [a, b]
  links: {{l: {{from: a, to: b, rate: 12 Mb/s, policy: P}}}}
policies: {{P: {policy}}}
traffic:
  - flow: {{name: f, from: a, to: b, ecn: ect0, source: {{cbr: {{rate: 1.2 Mb/s, packet: 1500 B, phase: 0 s}}}}}}
measurement: {{{measurement}}}
runs: {{count: 1, seed: 1}}
"
    )
}

/// Packets of 10 ms at 0 to 4 ms, nothing later: of those that wait after 15 ms three wait still,
/// which is the peak, whether or not somebody looks before the next arrival; as of those until
/// 20 ms, when the first of them leaves.
#[test]
fn what_waits_when_the_period_begins_is_a_peak() {
    for warmup in [15, 20] {
        let measurement = format!("warmup: {warmup} ms, duration: 1 s, interval: 10 ms");
        let yaml = light("{fifo: {limit: 64 packets}}", &measurement)
            .replace("rate: 12 Mb/s", "rate: 1.2 Mb/s")
            .replace("rate: 1.2 Mb/s, packet", "rate: 12 Mb/s, packet")
            .replace("name: f,", "name: f, stop: 5 ms,");
        let plan = common::plan(&yaml);
        let world = &plan.variants[0].world;
        let tap = Box::new(common::Blind);
        for mut run in [
            World::<WinnerTree>::new(world, 1, 0, false),
            World::new(world, 1, 0, true),
            World::tapped(world, 1, 0, false, tap),
        ] {
            assert_eq!(run.run(u64::MAX), Stop::Done);
            let of = run.outcome();
            let layout = spillgate_sim::layout(world);
            let peaks = layout.keys.iter().zip(&of.values);
            let peaks = peaks.filter(|(k, _)| k.metric == Metric::BacklogPacketsMax);
            assert_eq!(
                peaks.map(|(_, v)| *v).collect::<Vec<_>>(),
                [3.0],
                "{warmup} ms"
            );
        }
    }
}

/// A run that ends with nothing on its way still counts what the queue says of the period.
#[test]
fn an_idle_end_still_closes_the_period() {
    for policy in [
        "{fifo: {limit: 64 packets}}",
        "{class-based: {classes: [{name: class-default, queue_limit: 64 packets}]}}",
    ] {
        let r = ran(&light(
            policy,
            "warmup: 1 s, duration: 2 s, interval: 500 ms",
        ));
        let queue = r.0.variants[0].world.links[0].discipline.leaf_names()[0].clone();
        let queue = format!("l/{queue}");
        assert_eq!(
            one(&r, Scope::Queue, &queue, Metric::BacklogPacketsMax),
            1.0
        );
        assert_eq!(
            one(&r, Scope::Queue, &queue, Metric::BacklogBytesMax),
            1500.0
        );
        assert_eq!(one(&r, Scope::Queue, &queue, Metric::MarksCe), 0.0);
        assert_eq!(one(&r, Scope::Total, "all", Metric::PacketsSent), 200.0);
        assert_eq!(one(&r, Scope::Total, "all", Metric::PacketsReceived), 200.0);
        // A packet in each 10 ms takes 1 ms.
        assert_eq!(one(&r, Scope::Link, "l", Metric::Utilization), 0.1);
    }
}

/// Marks and backlogs of the warm-up are not those of the period, which has no event of its own.
#[test]
fn what_was_before_the_period_is_not_counted() {
    let with = |warmup| {
        ran(&"
schema_version: 1
topology:
  nodes: [a, b]
  links: {l: {from: a, to: b, rate: 12 Mb/s, policy: P}}
policies: {P: {fifo: {limit: 100 packets, aqm: {red: {ecn: true}}}}}
traffic:
  - flow: {name: f, from: a, to: b, ecn: ect0, stop: 1 s, source: {poisson: {rate: 14 Mb/s, packet: 1500 B}}}
measurement: {warmup: WARMUP, duration: 2 s, interval: 1 s}
runs: {count: 1, seed: 1}
"
        .replace("WARMUP", warmup))
    };
    let of = |r, metric| one(r, Scope::Queue, "l/fifo", metric);
    let (all, none) = (with("0 s"), with("2 s"));
    assert!(of(&all, Metric::MarksCe) > 10.0 && of(&all, Metric::BacklogPacketsMax) > 10.0);
    assert_eq!(of(&none, Metric::MarksCe), 0.0);
    assert_eq!(of(&none, Metric::BacklogPacketsMax), 0.0);
}

/// The samples are those at the multiples of the interval up to the end, that one included,
/// even if the last event of the run is at that instant.
#[test]
fn samples_reach_the_end_and_no_further() {
    for (interval, n) in [("500 ms", 6), ("700 ms", 4), ("2 s", 1)] {
        let times = format!("warmup: 1 s, duration: 2 s, interval: {interval}");
        let (_, finished) = ran(&light("{fifo: {limit: 64 packets}}", &times));
        for curve in &finished[0].outcome.series {
            assert_eq!(
                (curve.times().count(), curve.v.len()),
                (n, n),
                "{interval}: {}",
                curve.place
            );
        }
    }
}

/// What a class that is never served holds counts as offered and as backlog.
#[test]
fn what_never_leaves_counts_as_waiting() {
    let r = ran("
schema_version: 1
topology:
  nodes: [a, b]
  links: {l: {from: a, to: b, rate: 12 Mb/s, policy: P}}
policies:
  P:
    class-based:
      classes:
        - {name: high, match: {dscp: ef}, priority: {limit: 10 packets}}
        - {name: low, match: {dscp: af11}, priority: {level: 2, limit: 10 packets}}
traffic:
  - flow: {name: high, from: a, to: b, dscp: ef, source: {cbr: {rate: 24 Mb/s, packet: 1500 B}}}
  - flow: {name: low, from: a, to: b, dscp: af11, start: 1 s, stop: 3 s, source: {cbr: {rate: 1.2 Mb/s, packet: 1500 B}}}
measurement: {warmup: 2 s, duration: 8 s, interval: 1 s}
runs: {count: 1, seed: 1}
");
    assert_eq!(
        one(&r, Scope::Queue, "l/low", Metric::BacklogPacketsMean),
        10.0
    );
    assert_eq!(
        one(&r, Scope::Queue, "l/low", Metric::BacklogPacketsMax),
        10.0
    );
    assert_eq!(
        one(&r, Scope::Queue, "l/low", Metric::BacklogBytesMean),
        15e3
    );
    assert_eq!(one(&r, Scope::Queue, "l/low", Metric::Carried), 0.0);
    // A second of 100 packets in the 8 s.
    assert_eq!(
        one(&r, Scope::Queue, "l/low", Metric::Offered),
        100.0 * 12e3 / 8.0
    );
}

/// Of what a shaper holds at the end, nothing is forgotten.
#[test]
fn what_a_shaper_still_holds_counts_as_offered() {
    let r = ran(&light(
        "{class-based: {classes: [{name: class-default, shape: {rate: 120 kb/s}, queue_limit: 1 GB}]}}",
        "warmup: 1 s, duration: 10 s, interval: 1 s",
    ));
    assert_eq!(
        one(&r, Scope::Queue, "l/class-default", Metric::Offered),
        1.2e6
    );
    let unresolved = one(&r, Scope::Total, "all", Metric::Unresolved);
    assert!(unresolved > 800.0, "{unresolved}");
}

/// No packet is cut off because its wire is long.
#[test]
fn long_wires_are_waited_for() {
    let yaml = light(
        "{fifo: {limit: 64 packets}}",
        "warmup: 1 s, duration: 2 s, interval: 1 s",
    )
    .replace("rate: 12 Mb/s", "rate: 12 Mb/s, delay: 1 h");
    let r = ran(&yaml);
    assert_eq!(one(&r, Scope::Total, "all", Metric::PacketsReceived), 200.0);
    assert_eq!(one(&r, Scope::Total, "all", Metric::Unresolved), 0.0);
}

/// The rate of a link with a computed port never exceeds what the link can carry.
#[test]
fn a_computed_port_reports_bytes_when_they_are_sent() {
    let r = ran("
schema_version: 1
topology:
  nodes: [a, b]
  links: {l: {from: a, to: b, rate: 12 Mb/s, policy: P}}
policies: {P: {fifo: {limit: 10 MB}}}
traffic:
  - flow: {name: f, from: a, to: b, stop: 1 s, source: {cbr: {rate: 48 Mb/s, packet: 1500 B}}}
measurement: {warmup: 0 s, duration: 8 s, interval: 500 ms}
runs: {count: 1, seed: 1}
");
    let curves = &r.1[0].outcome.series;
    let rate = curves.iter().find(|c| c.place == "link l").unwrap();
    // One packet that begins in one interval and ends in the next: 12 000 b in 0.5 s.
    assert!(rate.v.iter().all(|v| *v <= 12e6 + 24e3), "{:?}", rate.v);
    assert!(
        rate.v[6] >= 12e6 - 24e3 && rate.v[10] == 0.0,
        "{:?}",
        rate.v
    );
}

/// Rates, delays and limits at the ends of what a scenario may say neither hang nor overflow.
#[test]
fn extremes_end() {
    for (rate, delay, limit) in [
        ("1000 Tb/s", "0 s", "64 packets"),
        ("1000 Tb/s", "2400 h", "1000 GB"),
        ("1 b/s", "0 s", "1000 GB"),
        ("1 b/s", "2400 h", "64 packets"),
    ] {
        for policy in [
            format!("{{fifo: {{limit: {limit}}}}}"),
            format!(
                "{{class-based: {{classes: [{{name: class-default, queue_limit: {limit}}}]}}}}"
            ),
        ] {
            let yaml = light(&policy, "warmup: 0 s, duration: 2 s, interval: 1 s")
                .replace("rate: 12 Mb/s", &format!("rate: {rate}, delay: {delay}"))
                // Else the source goes on until the last packet has arrived, 100 days later.
                .replace("ect0,", "ect0, stop: 2 s,");
            let r = ran(&yaml);
            let of = |metric| one(&r, Scope::Total, "all", metric);
            let accounted =
                of(Metric::PacketsReceived) + of(Metric::DropsTail) + of(Metric::Unresolved);
            assert_eq!(of(Metric::PacketsSent), 200.0, "{rate} {delay} {limit}");
            assert_eq!(accounted, 200.0, "{rate} {delay} {limit}");
        }
    }
}

/// A line that is offered 2 Mb/s more than it carries, with what it needs in memory, beside other
/// networks.
fn beside(others: &str, traffic: &str, measurement: &str) -> (Arc<Plan>, Vec<Finished>) {
    ran(&format!(
        "
schema_version: 1
topology:
  nodes: [a, b, c, d]
  links:
    l: {{from: a, to: b, rate: 10 Mb/s, delay: 5 ms, policy: P, duplex: true}}
{others}
policies: {{P: {{fifo: {{limit: 10 MB}}}}}}
traffic:
  - flow: {{name: f, class: k, from: a, to: b, source: {{poisson: {{rate: 12 Mb/s, packet: 1500 B}}}}}}
  - flow: {{name: g, class: k, from: a, to: b, bytes: 3 MB, start: 2 s, tcp: {{profile: linux}}}}
{traffic}
measurement: {{warmup: 1 s, duration: 4 s, interval: 1 s{measurement}}}
runs: {{count: 1, seed: 1}}
"
    ))
}

/// A network that shares no link changes nothing, however long its packets are under way; nor does
/// it go on sending while only others wait.
#[test]
fn an_unrelated_network_changes_nothing() {
    let far = "    far: {from: c, to: d, rate: 10 Mb/s, delay: 3 s}";
    let flow = "  - flow: {name: h, class: other, from: c, to: d, source: {poisson: {rate: 8 Mb/s, packet: 1500 B}}}";
    let alone = beside("", "", "");
    let both = beside(far, flow, "");
    let of = |r: &(Arc<Plan>, Vec<Finished>)| -> Vec<(String, u64)> {
        let layout = spillgate_sim::layout(&r.0.variants[0].world);
        let keys = layout.keys.iter().zip(&r.1[0].outcome.values);
        let named = keys.map(|(k, v)| {
            let name = format!("{:?} {} {}", k.scope, layout.name(k), k.metric.name());
            (name, v.to_bits())
        });
        let ours = ["l/", "l ", "f ", "g ", "k "];
        let wanted = |(name, _): &(String, u64)| {
            let about = name.split_once(' ').map_or("", |(_, about)| about);
            ours.iter().any(|o| about.starts_with(o))
        };
        named.filter(wanted).collect()
    };
    let (alone, both) = (of(&alone), of(&both));
    assert!(alone.len() > 100, "{}", alone.len());
    assert_eq!(alone, both);

    // Over links as long as those of the others 8 Mb/s end with the period; ours are waited for.
    let near = far.replace("3 s", "5 ms");
    let packets = |grace: &str| {
        let flow = flow.replace("8 Mb/s", "80 kb/s").replace("1500 B", "100 B");
        beside(&near, &flow, &format!(", grace: {grace}")).1[0]
            .outcome
            .packets
    };
    let (short, long) = (packets("10 ms"), packets("900 ms"));
    let alone = |grace: &str| {
        beside("", "", &format!(", grace: {grace}")).1[0]
            .outcome
            .packets
    };
    let ours = alone("900 ms") - alone("10 ms");
    // 100 packets a second for 0.9 s would be 90 more.
    assert!(long - short <= ours + 5, "{short} {long} {ours}");
    assert!(ours > 500, "{ours}");
}

/// What is still on its way when a flow's time is over is told apart from what is lost, and bounds
/// what depends on it; with a longer grace all is known.
#[test]
fn what_is_still_on_its_way_bounds_the_values() {
    let value = |r: &(Arc<Plan>, Vec<Finished>), metric| {
        let layout = spillgate_sim::layout(&r.0.variants[0].world);
        let at = layout.position(Scope::Flow, "f", metric).unwrap();
        let of = &r.1[0].outcome;
        let bounds = of.bounds.iter().find(|b| b.at as usize == at);
        (of.values[at], bounds.map(|b| (b.low, b.high)))
    };
    let (short, long) = (
        beside("", "", ", grace: 100 ms"),
        beside("", "", ", grace: 60 s"),
    );
    let [sent, open] = [Metric::PacketsSent, Metric::Unresolved].map(|m| value(&short, m).0);
    assert!(open > 300.0, "{open}");
    assert_eq!(
        value(&short, Metric::LossRatio),
        (0.0, Some((0.0, open / sent)))
    );
    assert_eq!(value(&long, Metric::LossRatio), (0.0, None));
    assert_eq!(value(&long, Metric::Unresolved).0, 0.0);
    for metric in [Metric::OwdMean, Metric::OwdP50, Metric::OwdP99, Metric::Pdv] {
        let (known, bounds) = value(&short, metric);
        let (low, high) = bounds.expect("packets are on their way");
        let (became, none) = value(&long, metric);
        assert!(
            none.is_none() && low <= known && known < became && became <= high,
            "{metric:?}"
        );
    }
    // What arrives within the period is known.
    let rates = [&short, &long].map(|r| value(r, Metric::Throughput));
    assert_eq!(rates[0], rates[1]);
    assert!(rates[0].0 < 10e6);
}

/// A transfer that began within the period counts if it ends within the grace, whether packets of
/// the period are still waited for or not.
#[test]
fn transfers_of_the_period_are_waited_for() {
    let done = |measurement: &str| {
        let r = ran(&format!(
            "
schema_version: 1
topology:
  nodes: [a, b]
  links: {{l: {{from: a, to: b, rate: 10 Mb/s, delay: 50 ms, duplex: true}}}}
traffic:
  - flow: {{name: g, class: k, from: a, to: b, bytes: 2 MB, start: 1 s, tcp: {{profile: linux}}}}
measurement: {{warmup: 500 ms, duration: 1500 ms, interval: 500 ms, {measurement}}}
runs: {{count: 1, seed: 1}}
"
        ));
        let of = |metric| one(&r, Scope::Class, "k", metric);
        (
            of(Metric::TransfersBegun),
            of(Metric::TransfersDone),
            of(Metric::FctMean),
        )
    };
    // 2 MB take 1.6 s at least: from 1 s to 2.9 s.
    let (begun, ended, time) = done("grace: 200 ms");
    assert!((begun, ended) == (1.0, 0.0) && time.is_nan());
    let (begun, ended, time) = done("grace: 2 s");
    assert_eq!((begun, ended), (1.0, 1.0));
    assert!(time > 1.6 && time < 2.5, "{time}");
}
