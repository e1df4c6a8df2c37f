//! Policies where packets arrive: which links get them, and what makes no sense.

use std::path::Path;

use crate::common::{Router, memory};
use spillgate_scenario::plan::Plan;
use spillgate_scenario::{Options, load};

const HEAD: &str = "\
schema_version: 1
topology:
  nodes: [a, r, b]
  links:
";

/// Links, the rest of the file but the traffic, and a configuration.
fn read(links: &str, rest: &str, config: &str) -> Result<Plan, String> {
    let text = format!(
        "{HEAD}{links}{rest}
traffic:
  - flow: {{name: f, from: a, to: b, source: {{cbr: {{rate: 1 Mb/s, packet: 100 B}}}}}}
measurement: {{warmup: 1 s, duration: 10 s}}
"
    );
    let files = memory(&[
        ("dir/s.yaml", text.as_bytes()),
        ("dir/r.cfg", config.as_bytes()),
    ]);
    let loaded = load(
        Path::new("dir/s.yaml"),
        &files,
        &Router,
        &Options::default(),
    );
    loaded.map(|l| l.plan).map_err(|e| e.to_string())
}

/// Names of the links with a policy at their receiving ends, and of the policies.
fn arriving(plan: &Plan) -> Vec<(&str, &str)> {
    let world = &plan.variants[0].world;
    let arriving = (0..).zip(&world.links);
    arriving
        .filter_map(|(id, l)| Some((l.name.as_str(), world.stages.input(id)?.policy.as_str())))
        .collect()
}

const POLICY: &str = "policies:
  P: {class-based: {classes: [{name: class-default, police: {rate: 1 Mb/s}}]}}";
const CONFIGS: &str = "configs: [{ios: r.cfg, interfaces: {Gi0/0: out}}]";
const CONFIG: &str = "policy P percent 10\ninterface Gi0/0\ninput P\n";

#[test]
fn input_policies_are_at_the_receiving_end() {
    let plan = read(
        "    in: {from: a, to: r, rate: 9 Mb/s, input_policy: P, duplex: true}
    out: {from: r, to: b, rate: 9 Mb/s, input_policy: P}\n",
        POLICY,
        "",
    )
    .unwrap();
    assert_eq!(arriving(&plan), [("in", "P"), ("out", "P")]);
    assert_eq!(plan.warnings, [""; 0]);
    let classes: Vec<&str> = plan.variants[0]
        .world
        .stages
        .input(0)
        .unwrap()
        .recipe
        .class_names()
        .collect();
    assert_eq!(classes, ["class-default"]);
}

/// Packets that arrive by an interface come over the reverse link of its link, or over the one link
/// the other way.
#[test]
fn interfaces_get_what_comes_back() {
    let first = "    in: {from: a, to: r, rate: 9 Mb/s}\n";
    for (links, expected) in [
        (
            "    out: {from: r, to: b, rate: 9 Mb/s, duplex: true}\n",
            "out.reverse",
        ),
        (
            "    out: {from: r, to: b, rate: 9 Mb/s}\n    back: {from: b, to: r, rate: 5 Mb/s}\n",
            "back",
        ),
    ] {
        let plan = read(&format!("{first}{links}"), CONFIGS, CONFIG).unwrap();
        assert_eq!(arriving(&plan), [(expected, "P")]);
        // The importer of these tests makes two classes with `bandwidth`.
        assert_eq!(plan.warnings.len(), 2, "{:?}", plan.warnings);
        assert!(
            plan.warnings[0].contains("`bandwidth` has no effect on arrival"),
            "{:?}",
            plan.warnings
        );
    }
    for links in [
        "    out: {from: r, to: b, rate: 9 Mb/s}\n",
        // Which of the two nobody can say.
        "    out: {from: r, to: b, rate: 9 Mb/s}\n    x: {from: b, to: r, rate: 9 Mb/s}\n    y: {from: b, to: r, rate: 9 Mb/s}\n",
    ] {
        let plan = read(&format!("{first}{links}"), CONFIGS, CONFIG).unwrap();
        assert_eq!(arriving(&plan), []);
        assert!(
            plan.warnings[0].contains("has nothing to act on"),
            "{:?}",
            plan.warnings
        );
    }
}

#[test]
fn what_cannot_be_is_an_error_with_its_place() {
    let in_ = |more: &str| {
        format!(
            "    in: {{from: a, to: r, rate: 9 Mb/s{more}}}\n    out: {{from: r, to: b, rate: 9 Mb/s, duplex: true}}\n"
        )
    };
    let class = |class: &str| format!("policies:\n  P: {{class-based: {{classes: [{class}]}}}}");
    for (links, rest, expected) in [
        (
            in_(", input_policy: Q"),
            POLICY.to_owned(),
            "there is no policy `Q`",
        ),
        (
            in_(", input_policy: F"),
            "policies: {F: {fifo: {}}}".to_owned(),
            "it is a fifo policy",
        ),
        (
            in_(", input_policy: P"),
            class("{name: class-default, policy: P}"),
            "the policy contains itself: P -> P",
        ),
        (
            in_(", input_policy: P"),
            class("{name: a, set_cos: 1}"),
            "does not say which packets belong to it",
        ),
        (
            in_(", input_policy: P"),
            class("{name: a, match: {cos: 8}}"),
            "between 0 and 7",
        ),
        (
            in_(", policy: P"),
            class("{name: a, match: {dscp: ef}, set_qos_group: 512}"),
            "a QoS group is between 0 and 511",
        ),
        (
            in_(", policy: P"),
            class("{name: a, match: {input: inn}}"),
            "there is no link `inn`",
        ),
        (
            in_(", policy: P"),
            class("{name: a, match: {qos_group: []}}"),
            "an empty list matches no packet",
        ),
    ] {
        let e = read(&links, &rest, "").unwrap_err();
        assert!(e.contains(expected) && e.contains("dir/s.yaml:"), "{e}");
    }
    let twice = read(
        &in_("").replace("duplex: true", "duplex: true, input_policy: P"),
        &CONFIGS.replace("}}]", ", Gi0/1: out}}]"),
        &format!("{CONFIG}interface Gi0/1\ninput P\n"),
    );
    let e = twice.unwrap_err();
    assert!(e.contains("policy `P` and policy `P`"), "{e}");
}

#[test]
fn a_cos_without_a_tag_is_warned_of() {
    let links = |tag: &str| {
        format!(
            "    in: {{from: a, to: r, rate: 9 Mb/s, input_policy: IN{tag}}}\n    out: {{from: r, to: b, rate: 9 Mb/s, policy: OUT{tag}}}\n"
        )
    };
    let policies = "policies:
  IN: {class-based: {classes: [{name: five, match: {any: [{cos: 5}]}, set_dscp: ef}]}}
  OUT: {class-based: {classes: [{name: x, match: {dscp: ef}, police: {rate: 1 Mb/s, exceed: {set-cos: 1}}}]}}";
    let plan = read(&links(""), policies, "").unwrap();
    for part in [
        "class `x` of policy `OUT` sets a CoS, and frames of link `out` carry no tag",
        "class `five` of policy `IN` asks for a CoS, and what arrives over link `in` has none",
    ] {
        assert!(
            plan.warnings.iter().any(|w| w.contains(part)),
            "{:?}",
            plan.warnings
        );
    }
    let plan = read(&links(", dot1q: true"), policies, "").unwrap();
    assert!(
        !plan.warnings.iter().any(|w| w.contains("CoS")),
        "{:?}",
        plan.warnings
    );
}
