//! Tables of agreements, end to end: what an edge makes of a hundred customers, on both engines.

use crate::common;
use std::sync::Arc;

use spillgate_events::WinnerTree;
use spillgate_measure::table::{Metric, Scope};
use spillgate_scenario::plan::Plan;
use spillgate_sim::{Engine, Stop, World, layout};

const CUSTOMERS: u64 = 100;
/// What each customer sends, in kb/s, in packets of 500 B.
const SENT: u64 = 1000;

/// What customer `i` was promised, in kb/s: another rate for each.
fn committed(i: u64) -> u64 {
    400 + 3 * i
}

/// Its peak rate.
fn peak(i: u64) -> u64 {
    committed(i) + 150
}

/// A hundred nodes on lines of their own at an edge, whose one line of agreements has `defaults`.
#[track_caller]
fn plan(defaults: &str) -> Arc<Plan> {
    let mut table = "customer,rate,burst,peak_rate,excess_burst\n".to_owned();
    for i in 0..CUSTOMERS {
        let (rate, peak) = (committed(i), peak(i));
        table += &format!("in-{i},{rate} kb/s,3 kB,{peak} kb/s,20 ms\n");
    }
    let yaml = format!(
        "schema_version: 1
topology:
  nodes: [{{name: c, count: {CUSTOMERS}}}, edge, core]
  links:
    in: {{from: c, to: edge, rate: 10 Mb/s, input_policy: EDGE}}
    line: {{from: edge, to: core, rate: 1 Gb/s, policy: CORE}}
agreements: [{{policy: EDGE, file: customers.csv, defaults: {{{defaults}}}}}]
policies:
  CORE:
    class-based:
      classes:
        - {{name: in, match: {{dscp: [af11, ef]}}, queue_limit: 1 MB}}
        - {{name: out, match: {{dscp: af12}}, queue_limit: 1 MB}}
        - {{name: red, match: {{dscp: af13}}, queue_limit: 1 MB}}
traffic:
  - flow: {{name: f, count: {CUSTOMERS}, class: f, from: c, to: core, source: {{cbr: {{rate: {SENT} kb/s, packet: 500 B}}}}}}
measurement: {{warmup: 10 s, duration: 10 s}}
runs: {{count: 1, seed: 3}}
"
    );
    let plan = common::plan_with(&yaml, [("customers.csv", table.into_bytes())]);
    assert_eq!(plan.warnings, [""; 0]);
    plan
}

/// A value of the plan's one run, which is the same on both engines.
#[track_caller]
fn run(plan: &Plan) -> impl Fn(Scope, &str, Metric) -> f64 + use<> {
    let world = &plan.variants[0].world;
    let [express, plain] = [Engine::Express, Engine::Plain].map(|engine| {
        let mut world = World::<WinnerTree>::on(engine, world, plan.seed, 0, true);
        while world.run(u64::MAX) != Stop::Done {}
        assert_eq!(world.fault(), None);
        world.outcome()
    });
    assert_eq!(express.digest, plain.digest);
    let layout = layout(world);
    let values = express.values;
    move |scope, name, metric| {
        let at = layout.keys.iter().position(|k| {
            k.scope == scope && k.metric == metric && layout.names[k.name as usize] == name
        });
        values[at.unwrap_or_else(|| panic!("no {metric:?} of {name}"))]
    }
}

/// The part of all bytes that should have each color, by a sum over the customers.
fn part(kbps: impl Fn(u64) -> u64) -> f64 {
    (0..CUSTOMERS).map(kbps).sum::<u64>() as f64 / (CUSTOMERS * SENT) as f64
}

/// In the long run what is in profile is CIR / rate of a constant rate above CIR, whatever the
/// meter; with a peak rate below what is sent, PIR / rate is green or yellow. A bucket is off by a
/// few packets of 2500. Chance marks 250 000 packets: 0.5 % is five standard deviations, or more.
#[test]
fn what_is_in_profile_is_what_was_promised_under_every_meter() {
    for (meter, three) in [
        ("token-bucket", false),
        ("srtcm", false),
        ("trtcm", true),
        ("tsw2cm", false),
        ("tsw3cm", true),
    ] {
        let of = run(&plan(&format!("phb: af1, meter: {meter}")));
        let carried = |class: &str| of(Scope::Queue, &format!("line/{class}"), Metric::Carried);
        let [green, yellow, red] = ["in", "out", "red"].map(carried);
        let all = green + yellow + red;
        // Everything is marked, nothing dropped.
        assert!(
            (all / (CUSTOMERS * SENT * 1000) as f64 - 1.0).abs() < 0.001,
            "{meter}"
        );
        let near = |got: f64, wanted: f64| (got - wanted).abs() < 0.005;
        let out = 1.0 - green / all;
        assert!(near(out, 1.0 - part(committed)), "{meter}: {out}");
        match (meter, three) {
            (_, true) => assert!(near(red / all, 1.0 - part(peak)), "{meter}: {red}"),
            // What overflows the committed bucket fills the second one: nothing does.
            ("srtcm", _) => assert!(yellow / all < 0.001, "{meter}: {yellow}"),
            _ => assert_eq!(red, 0.0, "{meter}"),
        }
    }
}

/// EF has no second drop precedence: each customer gets its own rate through, and no more. A packet
/// more or less in 2500, and one for the tokens at the beginning.
#[test]
fn each_of_a_hundred_customers_is_policed_to_its_own_rate() {
    let of = run(&plan("phb: ef, meter: token-bucket"));
    for i in 0..CUSTOMERS {
        let class = format!("in-{i}/in-{i}");
        let offered = of(Scope::Input, &class, Metric::Offered);
        let carried = of(Scope::Input, &class, Metric::Carried);
        let out = 1.0 - carried / offered;
        let wanted = 1.0 - committed(i) as f64 / SENT as f64;
        assert!((out - wanted).abs() < 2.0 / 2500.0, "customer {i}: {out}");
    }
    assert_eq!(of(Scope::Queue, "line/out", Metric::Carried), 0.0);
}

/// Three flows of one customer, each with a bucket of 400 kb/s: what one does not use is not
/// another's.
#[test]
fn each_flow_has_a_bucket_of_its_own() {
    for (defaults, lost) in [
        ("per_flow: yes", [0.6, 0.2, 0.0]),
        // One bucket for 1.7 Mb/s.
        ("per_flow: no", [1.3 / 1.7; 3]),
        (
            "per_flow: yes, meter: tsw2cm, action: drop",
            [0.6, 0.2, 0.0],
        ),
    ] {
        let yaml = format!(
            "schema_version: 1
topology:
  nodes: [a, edge, core]
  links:
    acme: {{from: a, to: edge, rate: 10 Mb/s, input_policy: EDGE}}
    line: {{from: edge, to: core, rate: 10 Mb/s}}
agreements: [{{policy: EDGE, file: t.csv, defaults: {{phb: ef, {defaults}}}}}]
traffic:
  - flow: {{name: x, from: a, to: core, source: {{poisson: {{rate: 1 Mb/s, packet: 100 B}}}}}}
  - flow: {{name: y, from: a, to: core, source: {{poisson: {{rate: 500 kb/s, packet: 100 B}}}}}}
  - flow: {{name: z, from: a, to: core, source: {{poisson: {{rate: 200 kb/s, packet: 100 B}}}}}}
measurement: {{warmup: 5 s, duration: 40 s}}
runs: {{count: 1, seed: 3}}
"
        );
        let table = b"customer,rate,burst\nacme,400 kb/s,5 kB\n".to_vec();
        let of = run(&common::plan_with(&yaml, [("t.csv", table)]));
        for (flow, wanted) in ["x", "y", "z"].into_iter().zip(lost) {
            let got = of(Scope::Flow, flow, Metric::LossRatio);
            // 10 000 packets or more: the rate of a Poisson source is within 1.5 % (three standard
            // deviations), and so is what is lost of it.
            assert!(
                (got - wanted).abs() < 0.02,
                "{defaults}: {flow} loses {got}"
            );
        }
    }
}

/// A customer with 4 Mb/s committed and one with 1 Mb/s, who sends 12 Mb/s of UDP into an assured
/// class of 8 Mb/s on a line of 10; `customer` is the traffic of the first.
#[track_caller]
fn beside_udp(phb: &str, defaults: &str, core: &str, customer: &str) -> Arc<Plan> {
    let yaml = format!(
        "schema_version: 1
topology:
  nodes: [acme, bulk, edge, core]
  links:
    acme: {{from: acme, to: edge, rate: 100 Mb/s, delay: 5 ms, duplex: true, input_policy: EDGE}}
    bulk: {{from: bulk, to: edge, rate: 100 Mb/s, delay: 5 ms, duplex: true, input_policy: EDGE}}
    line: {{from: edge, to: core, rate: 10 Mb/s, delay: 10 ms, duplex: true, policy: CORE}}
agreements: [{{policy: EDGE, file: t.csv, defaults: {{phb: {phb}, {defaults}}}}}]
policies:
  CORE:
    class-based:
      classes:
        - {{name: assured, phb: {phb}, bandwidth: 8 Mb/s{core}}}
traffic:
  - flow: {{name: c, count: 3, from: acme, to: core, {customer}}}
  - flow: {{name: u, from: bulk, to: core, source: {{poisson: {{rate: 12 Mb/s, packet: 1500 B}}}}}}
measurement: {{warmup: 5 s, duration: 30 s}}
runs: {{count: 1, seed: 3}}
"
    );
    let table = "customer,rate,peak_rate,excess_burst\nacme,4 Mb/s,5 Mb/s,50 ms\nbulk,1 Mb/s,2 Mb/s,50 ms\n";
    common::plan_with(&yaml, [("t.csv", table.as_bytes().to_vec())])
}

/// What UDP sends in profile gets through, whatever the meter and the class: 4 of 6 Mb/s, in
/// packets of 500 B. 45 000 are sent, of which a window marks two thirds by chance: 5 standard
/// deviations are 1.7 % of those. A bucket is off by a few packets.
#[test]
fn a_customer_keeps_its_committed_rate_beside_udp_under_every_meter_and_in_every_class() {
    let cbr = "source: {cbr: {rate: 2 Mb/s, packet: 500 B}}";
    for (i, meter) in ["token-bucket", "srtcm", "trtcm", "tsw2cm", "tsw3cm"]
        .into_iter()
        .enumerate()
    {
        for class in 1..=4 {
            // Of all meters one class each would do; of one meter all.
            if i > 0 && class != i {
                continue;
            }
            let burst = "burst: 50 ms";
            let plan = beside_udp(
                &format!("af{class}"),
                &format!("meter: {meter}, {burst}"),
                "",
                cbr,
            );
            let of = run(&plan);
            let got = of(Scope::Total, "all", Metric::Throughput)
                - of(Scope::Flow, "u", Metric::Throughput);
            let off = if meter.starts_with("tsw") {
                0.017
            } else {
                0.001
            };
            assert!(got > 4e6 * (1.0 - off), "{meter}, af{class}: {got}");
        }
    }
}
