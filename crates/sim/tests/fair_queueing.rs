//! What FQ-CoDel and CoDel are for: sparse flows that hardly wait, and TCP without a standing
//! queue.

use crate::common;
use spillgate_measure::table::{Metric, Scope};

fn scenario(policy: &str, traffic: &str) -> String {
    format!(
        "
schema_version: 1
topology:
  nodes: [a, b]
  links:
    up: {{from: a, to: b, rate: 10 Mb/s, delay: 10 ms, policy: P}}
    down: {{from: b, to: a, rate: 100 Mb/s, delay: 10 ms}}
policies:
  P: {policy}
traffic:
{traffic}
measurement: {{warmup: 5 s, duration: 20 s}}
runs: {{count: 2, seed: 3}}
"
    )
}

/// The largest of a metric over the runs.
fn worst(yaml: &str, scope: Scope, name: &str, metric: Metric) -> f64 {
    let plan = common::plan(yaml);
    let values = common::values(&plan, &common::run(&plan, 2), scope, name, metric);
    assert_eq!(values.len(), 2);
    values.into_iter().fold(f64::MIN, f64::max)
}

const GREEDY: &str =
    "  - flow: {name: load, count: 4, from: a, to: b, class: load, start_spread: 1 s, tcp: {}}";
const SPARSE: &str = "  - flow: {name: call, from: a, to: b, class: call, source: {cbr: {rate: 80 kb/s, packet: 200 B, jitter: 10 %}}}";

/// A packet of 200 B every 20 ms: a round of four greedy flows, each of which may send two packets
/// of 1500 B when it starts with a quantum of 1514 B, takes 9.6 ms, so the flow has left the old
/// queues before it comes again, and is new. Most packets wait for the one on the wire only; ahead
/// of others are greedy flows that are new, too, since CoDel keeps their queues short: two packets
/// each.
#[test]
fn a_sparse_flow_hardly_waits() {
    let traffic = format!("{GREEDY}\n{SPARSE}");
    let of = |policy: &str, metric| {
        let yaml = scenario(policy, &traffic);
        worst(&yaml, Scope::Class, "call", metric)
    };
    // 10 ms to go, 0.16 ms for itself, 1.2 ms for the packet on the wire; bins of the histogram.
    let alone = 0.010_16 + 0.001_2 + 0.000_1;
    let round = 8.0 * 0.001_2;
    let fq = of("{fq-codel: {}}", Metric::OwdP50);
    assert!(fq < alone, "{fq}");
    let fq = of("{fq-codel: {}}", Metric::OwdP99);
    assert!(fq < alone + round, "{fq}");
    // With plain turns it joins the round behind the four.
    let drr = "{drr: {limit: 200 packets}}";
    let (half, most) = (of(drr, Metric::OwdP50), of(drr, Metric::OwdP99));
    assert!(half > alone && most < alone + round, "{half} {most}");
    let fifo = of("{fifo: {limit: 200 packets}}", Metric::OwdP50);
    assert!(fifo > 0.1, "{fifo}");
}

/// The queue of greedy connections is near the target of 5 ms, where a FIFO is full; the link stays
/// busy. Between drops a queue that CoDel found bad stands up to an interval longer than it should,
/// so the bound is on the mean: half a window of 20 ms, which one drop in four connections takes
/// off.
#[test]
fn greedy_connections_leave_no_standing_queue() {
    for (policy, queue) in [
        ("{fifo: {limit: 500 packets, aqm: {codel: {}}}}", "up/fifo"),
        ("{fq-codel: {}}", "up/fq-codel"),
    ] {
        let yaml = scenario(policy, GREEDY);
        let mean = worst(&yaml, Scope::Queue, queue, Metric::SojournMean);
        assert!((0.002..0.020).contains(&mean), "{policy}: {mean}");
        let busy = worst(&yaml, Scope::Link, "up", Metric::Utilization);
        assert!(busy > 0.95, "{policy}: {busy}");
    }
    let fifo = worst(
        &scenario("{fifo: {limit: 500 packets}}", GREEDY),
        Scope::Queue,
        "up/fifo",
        Metric::SojournMean,
    );
    assert!(fifo > 0.2, "{fifo}");
}

/// Connections that negotiate ECN are marked, not dropped.
#[test]
fn capable_connections_lose_nothing() {
    let traffic = GREEDY.replace("tcp: {}", "tcp: {ecn: classic}");
    let yaml = scenario("{fq-codel: {}}", &traffic);
    let of = |metric| worst(&yaml, Scope::Queue, "up/fq-codel", metric);
    assert_eq!(
        (of(Metric::DropsEarly), of(Metric::DropsPushedOut)),
        (0.0, 0.0)
    );
    assert!(of(Metric::MarksCe) > 50.0);
}

/// CAKE carries less of few Reno connections than FQ-CoDel, and it is COBALT, Linux' or that of
/// ns-3, that makes the difference: in the same fair queue it carries as little, and CoDel as much
/// as FQ-CoDel. COBALT's count decays step by step, where CoDel gives a queue an interval before a
/// new episode. Nothing is pushed out, so that BLUE's probability is 0. With a longer `rtt` the
/// line is full.
#[test]
fn cake_carries_what_cobalt_lets() {
    let reno = GREEDY.replace("tcp: {}", "tcp: {profile: ns2, cc: reno, mss: 960 B}");
    let carried = |policy: &str| {
        let yaml = scenario(policy, &reno).replace("delay: 10 ms", "delay: 25 ms");
        let yaml = yaml.replace("duration: 20 s", "duration: 60 s");
        worst(&yaml, Scope::Link, "up", Metric::Carried) / 1e6
    };
    let fq = |aqm: &str| carried(&format!("{{fq: {{limit: 1000 packets, aqm: {aqm}}}}}"));
    let (codel, cobalt) = (fq("{codel: {}}"), fq("{cobalt: {as: linux}}"));
    let ns3 = fq("{cobalt: {as: ns3}}");
    let (fq_codel, cake) = (carried("{fq-codel: {}}"), carried("{cake: {}}"));
    for with_codel in [codel, fq_codel] {
        for with_cobalt in [cobalt, ns3, cake] {
            let both = format!("{codel} {fq_codel}; {cobalt} {ns3} {cake}");
            assert!(with_codel > 1.05 * with_cobalt, "{both}");
        }
    }
    let patient = carried("{cake: {rtt: 200 ms}}");
    assert!(patient > 9.9, "{patient}");
    let pushed = worst(
        &scenario("{cake: {}}", &reno),
        Scope::Queue,
        "up/best-effort",
        Metric::DropsPushedOut,
    );
    assert_eq!(pushed, 0.0);
}
