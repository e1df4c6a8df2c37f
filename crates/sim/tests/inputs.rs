//! Where packets arrive: policing, marking, tags, and classes by what was noted there.

use crate::common;
use std::sync::Arc;

use spillgate_measure::table::{Metric, Scope};
use spillgate_scenario::plan::Plan;
use spillgate_sim::Finished;

struct Ran(Arc<Plan>, Vec<Finished>);

impl Ran {
    #[track_caller]
    fn of(&self, scope: Scope, name: &str, metric: Metric) -> f64 {
        common::values(&self.0, &self.1, scope, name, metric)[0]
    }

    /// What a queue of the link from the router carried, in kb/s.
    #[track_caller]
    fn kbps(&self, queue: &str) -> f64 {
        self.of(Scope::Queue, &format!("wan/{queue}"), Metric::Carried) / 1000.0
    }

    #[track_caller]
    fn arrived(&self, class: &str, metric: Metric) -> f64 {
        self.of(Scope::Input, class, metric)
    }
}

/// A phone and a computer at a router with one link out; each sends 100 packets of 100 B a second,
/// 80 kb/s, EF or best effort.
#[track_caller]
fn run(phone: &str, pc: &str, wan: &str, policies: &str, extra: &str) -> Ran {
    let yaml = format!(
        "
schema_version: 1
topology:
  nodes: [phone, pc, r, far]
  links:
    a: {{from: phone, to: r, rate: 8 Mb/s{phone}}}
    b: {{from: pc, to: r, rate: 8 Mb/s{pc}}}
    wan: {{from: r, to: far, rate: 8 Mb/s, policy: OUT{wan}}}
policies:
{policies}
traffic:
  - flow: {{name: voice, dscp: ef, from: phone, to: far, source: {{cbr: {{rate: 80 kb/s, packet: 100 B, phase: 0 s}}}}}}
  - flow: {{name: data, from: pc, to: far, source: {{cbr: {{rate: 80 kb/s, packet: 100 B, phase: 1 ms}}}}}}
  - flow: {{name: own, from: r, to: far, source: {{cbr: {{rate: 80 kb/s, packet: 100 B, phase: 2 ms}}}}}}
measurement: {{warmup: 0 s, duration: 1 s}}
runs: {{count: 1, seed: 5}}
{extra}"
    );
    let plan = common::plan(&yaml);
    let finished = common::run(&plan, 1);
    Ran(plan, finished)
}

/// 40 kb/s with a burst of 100 B let every second packet in: after one of 100 B, 10 ms bring 50 B.
#[test]
fn a_policer_at_arrival_drops_before_the_node_sees_the_packet() {
    let ran = run(
        ", input_policy: IN",
        "",
        "",
        "  IN: {class-based: {classes: [{name: v, match: {dscp: ef}, police: {rate: 40 kb/s, burst: 100 B}}]}}
  OUT: {fifo: {}}",
        "",
    );
    assert_eq!(ran.arrived("a/v", Metric::Offered), 80_000.0);
    assert_eq!(ran.arrived("a/v", Metric::Carried), 40_000.0);
    assert_eq!(ran.arrived("a/v", Metric::DropsPolicer), 50.0);
    assert_eq!(ran.arrived("a/class-default", Metric::Offered), 0.0);
    assert_eq!(ran.of(Scope::Flow, "voice", Metric::DropsPolicer), 50.0);
    assert_eq!(ran.of(Scope::Flow, "data", Metric::LossRatio), 0.0);
    assert_eq!(ran.kbps("fifo"), 200.0);
}

/// What a policer at arrival drops in the warm-up does not count.
#[test]
fn drops_at_arrival_count_in_the_measured_period_only() {
    let yaml = |warmup: &str| {
        format!(
            "schema_version: 1
topology:
  nodes: [a, r, b]
  links:
    a: {{from: a, to: r, rate: 8 Mb/s, input_policy: IN}}
    wan: {{from: r, to: b, rate: 8 Mb/s}}
policies:
  IN: {{class-based: {{classes: [{{name: v, match: {{}}, police: {{rate: 40 kb/s, burst: 100 B}}}}]}}}}
traffic:
  - flow: {{name: f, from: a, to: b, source: {{cbr: {{rate: 80 kb/s, packet: 100 B, phase: 0 s}}}}}}
measurement: {{warmup: {warmup}, duration: 1 s}}
runs: {{count: 1, seed: 5}}
"
        )
    };
    for warmup in ["0 s", "2 s"] {
        let plan = common::plan(&yaml(warmup));
        let finished = common::run(&plan, 1);
        let ran = Ran(plan, finished);
        assert_eq!(ran.arrived("a/v", Metric::DropsPolicer), 50.0, "{warmup}");
    }
}

/// The overhead of the link counts for the meter: with 100 B more a packet, 80 kb/s let in every
/// second one.
#[test]
fn a_packet_counts_as_long_as_on_the_link() {
    let ran = run(
        ", input_policy: IN, overhead: 100 B",
        "",
        "",
        "  IN: {class-based: {classes: [{name: class-default, police: {rate: 80 kb/s, burst: 200 B}}]}}
  OUT: {fifo: {}}",
        "",
    );
    assert_eq!(ran.arrived("a/class-default", Metric::DropsPolicer), 50.0);
    assert_eq!(ran.arrived("a/class-default", Metric::Carried), 80_000.0);
}

/// A QoS group, set by a policer inside a class that is inside another, chooses the queue.
#[test]
fn qos_groups_choose_the_queue_and_end_there() {
    let ran = run(
        ", input_policy: IN",
        ", input_policy: IN",
        "",
        "  IN: {class-based: {classes: [{name: class-default, policy: INNER}]}}
  INNER: {class-based: {classes: [{name: v, match: {dscp: ef}, set_dscp: af11,
    police: {rate: 40 kb/s, burst: 100 B, conform: {set-qos-group: 7}, exceed: {set-qos-group: 8}}}]}}
  OUT: {class-based: {classes: [
    {name: seven, match: {qos_group: 7}, bandwidth: 10 %},
    {name: eight, match: {qos_group: [8, 9], dscp: af11}, bandwidth: 10 %},
    {name: none, match: {not: {qos_group: [7, 8]}, dscp: default}, bandwidth: 10 %}]}}",
        "",
    );
    assert_eq!((ran.kbps("seven"), ran.kbps("eight")), (40.0, 40.0));
    assert_eq!((ran.kbps("none"), ran.kbps("class-default")), (160.0, 0.0));
    assert_eq!(ran.arrived("a/class-default/v", Metric::Offered), 80_000.0);
    // Setting what is there already marks nothing; here all of one source gets another DSCP.
    let marked = |class| ran.arrived(class, Metric::CarriedMarked);
    assert_eq!(marked("a/class-default/v"), 80_000.0);
    assert_eq!(marked("b/class-default/class-default"), 0.0);
    assert_eq!(
        ran.arrived("b/class-default/class-default", Metric::Offered),
        80_000.0
    );
}

/// Over which link a packet came; the router's own came over none.
#[test]
fn the_link_of_arrival_chooses_the_queue() {
    let ran = run(
        "",
        "",
        "",
        "  OUT: {class-based: {classes: [
    {name: phones, match: {input: a}, bandwidth: 10 %},
    {name: others, match: {input: [b, wan]}, bandwidth: 10 %},
    {name: own, match: {not: {input: [a, b]}}, bandwidth: 10 %}]}}",
        "",
    );
    for queue in ["phones", "others", "own"] {
        assert_eq!(ran.kbps(queue), 80.0, "{queue}");
    }
}

const COS: &str = "  TAG: {class-based: {classes: [{name: v, match: {dscp: ef}, set_cos: 5}]}}
  OUT: {class-based: {classes: [
    {name: five, match: {cos: 5}, bandwidth: 10 %},
    {name: zero, match: {cos: 0}, bandwidth: 10 %},
    {name: untagged, match: {not: {cos: [0, 1, 2, 3, 4, 5, 6, 7]}}, bandwidth: 10 %}]}}";

/// A CoS goes over links with a tag; where nothing has set it, it is 0, and without a tag there is
/// none.
#[test]
fn a_cos_needs_a_tag() {
    let tagged = run(", policy: TAG, dot1q: true", ", dot1q: true", "", COS, "");
    assert_eq!(
        (
            tagged.kbps("five"),
            tagged.kbps("zero"),
            tagged.kbps("untagged")
        ),
        (80.0, 80.0, 80.0)
    );
    let plain = run(", policy: TAG", "", "", COS, "");
    assert_eq!((plain.kbps("five"), plain.kbps("untagged")), (0.0, 240.0));
    assert!(
        plain.0.warnings.iter().any(|w| w.contains("carry no tag")),
        "{:?}",
        plain.0.warnings
    );
}

/// Where links fail, packets carry other handles; and while they are observed nothing is ahead.
#[test]
fn failures_and_observers_change_nothing() {
    let failing = COS.replace("OUT", "FAR").replace("TAG", "OUT");
    let policies = format!("{failing}\n  TAG: {{fifo: {{}}}}");
    let yaml = |extra: &str| {
        format!(
            "
schema_version: 1
topology:
  nodes: [a, r, s, b]
  links:
    one: {{from: a, to: r, rate: 8 Mb/s, policy: OUT, dot1q: true}}
    two: {{from: r, to: s, rate: 8 Mb/s, dot1q: true}}
    three: {{from: s, to: b, rate: 8 Mb/s, policy: FAR}}
{extra}
policies:
{policies}
traffic:
  - flow: {{name: voice, dscp: ef, from: a, to: b, source: {{cbr: {{rate: 80 kb/s, packet: 100 B, phase: 0 s}}}}}}
measurement: {{warmup: 0 s, duration: 1 s}}
runs: {{count: 2, seed: 5}}
"
        )
    };
    let failure = "  failures: [{link: two, at: 500 ms, repair: 600 ms}]";
    for extra in ["", failure] {
        let plan = common::plan(&yaml(extra));
        let finished = common::run(&plan, 1);
        let five = common::values(
            &plan,
            &finished,
            Scope::Queue,
            "three/five",
            Metric::Carried,
        )[0];
        let sent = common::values(&plan, &finished, Scope::Flow, "voice", Metric::PacketsSent)[0];
        let lost = common::values(&plan, &finished, Scope::Flow, "voice", Metric::LossRatio)[0];
        // Every packet of 800 b that got through had its CoS.
        assert_eq!(five, (sent * (1.0 - lost)).round() * 800.0, "{extra}");
        assert_eq!(lost > 0.0, !extra.is_empty());
        assert_eq!(
            common::digests(&finished),
            common::digests(&common::run(&plan, 2))
        );
    }
}

/// What is asked of a world without such policies is not paid for: its events are those of always.
#[test]
fn a_policy_that_lets_everything_in_changes_no_event() {
    let with = run(
        ", input_policy: IN",
        "",
        "",
        "  IN: {class-based: {classes: [{name: class-default}]}}
  OUT: {fifo: {}}",
        "",
    );
    let without = run("", "", "", "  OUT: {fifo: {}}", "");
    assert_eq!(common::digests(&with.1), common::digests(&without.1));
}
