//! What the lines of a table of agreements become.

use std::path::Path;

use crate::common::{Router, memory};
use spillgate_queueing::spec::{ClassBasedSpec, DisciplineSpec};
use spillgate_scenario::{Options, load, port_policies};

const SCENARIO: &str = "schema_version: 1
topology:
  nodes: [acme, bolt, edge, core]
  links:
    acme: {from: acme, to: edge, rate: 100 Mb/s, input_policy: EDGE}
    bolt: {from: bolt, to: edge, rate: 100 Mb/s, input_policy: EDGE}
    line: {from: edge, to: core, rate: 10 Mb/s}
agreements: [{policy: EDGE, file: t.csv}]
policies:
  EDGE: {class-based: {classes: [{name: own, match: {dscp: cs6}, set_dscp: cs6}, {name: class-default, set_dscp: 0}]}}
traffic:
  - flow: {name: a, from: acme, to: core, source: {cbr: {rate: 4 Mb/s, packet: 500 B}}}
  - flow: {name: b, from: bolt, to: core, source: {cbr: {rate: 4 Mb/s, packet: 500 B}}}
measurement: {warmup: 5 s, duration: 10 s}
";

fn options(set: &[&str]) -> Options {
    Options {
        overrides: set.iter().map(|s| (*s).to_owned()).collect(),
        ..Options::default()
    }
}

/// The classes of policy EDGE.
#[track_caller]
fn classes(scenario: &str, table: &str, set: &[&str]) -> ClassBasedSpec {
    let files = memory(&[("s.yaml", scenario.as_bytes()), ("t.csv", table.as_bytes())]);
    let ports = port_policies(Path::new("s.yaml"), &files, &Router, &options(set));
    let mut ports = ports.unwrap_or_else(|e| panic!("{e}"));
    match ports.remove(0).policies.remove("EDGE") {
        Some(DisciplineSpec::ClassBased(spec)) => spec,
        other => panic!("{other:?}"),
    }
}

/// A line of a table means the same as a class of a policy.
#[track_caller]
fn means(header: &str, line: &str, class: &str) {
    let got = classes(SCENARIO, &format!("customer,rate,{header}\n{line}\n"), &[]);
    let whole = format!(
        r#"{{"classes": [{{"name": "own", "match": {{"dscp": "cs6"}}, "set_dscp": "cs6"}}, {class}, {{"name": "class-default", "set_dscp": 0}}]}}"#
    );
    let wanted: ClassBasedSpec = serde_json::from_str(&whole).unwrap();
    assert_eq!(
        serde_json::to_value(got).unwrap(),
        serde_json::to_value(wanted).unwrap()
    );
}

#[test]
fn lines_are_classes() {
    means(
        "phb,burst",
        "acme,2 Mb/s,af2,50 ms",
        r#"{"name": "acme", "match": {"input": "acme"}, "police":
            {"rate": "2 Mb/s", "burst": "50 ms", "conform": {"set-dscp": "af21"}, "exceed": {"set-dscp": "af22"}}}"#,
    );
    // Without a PHB it is best effort, which has no precedence to mark with.
    means(
        "burst",
        "acme,10 %,3 kB",
        r#"{"name": "acme", "match": {"input": "acme"}, "police":
            {"rate": "10 %", "burst": "3 kB", "conform": {"set-dscp": 0}, "exceed": "drop"}}"#,
    );
    means(
        "phb,action,excess_burst,color_aware",
        "acme,2 Mb/s,af1,drop,9 kB,yes",
        r#"{"name": "acme", "match": {"input": "acme"}, "police":
            {"rate": "2 Mb/s", "excess_burst": "9 kB", "conform": {"set-dscp": "af11"}, "exceed": {"set-dscp": "af12"}, "violate": "drop",
             "conform_color": {"dscp": "af11"}, "exceed_color": {"dscp": "af12"}}}"#,
    );
    means(
        "phb,peak_rate,per_flow,src,dport,protocol,cos",
        "x,2 Mb/s,af4,3 Mb/s,yes,10.0.0.1 10.2.0.0/16,80,tcp,3 4",
        r#"{"name": "x", "match": {"src": ["10.0.0.1", "10.2.0.0/16"], "dport": 80, "protocol": "tcp", "cos": [3, 4]}, "police":
            {"rate": "2 Mb/s", "peak_rate": "3 Mb/s", "per_flow": true, "conform": {"set-dscp": "af41"},
             "exceed": {"set-dscp": "af42"}, "violate": {"set-dscp": "af43"}}}"#,
    );
    means(
        "phb,meter,peak_rate,input,dscp",
        "x,2 Mb/s,ef,tsw3cm,3 Mb/s,acme bolt,ef 44",
        r#"{"name": "x", "match": {"input": ["acme", "bolt"], "dscp": ["ef", 44]}, "police":
            {"rate": "2 Mb/s", "peak_rate": "3 Mb/s", "window": "1 s", "conform": {"set-dscp": "ef"}, "exceed": "drop", "violate": "drop"}}"#,
    );
    means(
        "phb,window",
        "acme,2 Mb/s,af3,200 ms",
        r#"{"name": "acme", "match": {"input": "acme"}, "police":
            {"rate": "2 Mb/s", "window": "200 ms", "conform": {"set-dscp": "af31"}, "exceed": {"set-dscp": "af32"}}}"#,
    );
    means(
        "phb,action,burst",
        "acme,2 Mb/s,af3,shape,4 kB",
        r#"{"name": "acme", "match": {"input": "acme"}, "set_dscp": "af31", "shape": {"rate": "2 Mb/s", "burst": "4 kB"}}"#,
    );
}

/// `--set` reaches the table's choice before its lines are read, and each class after that.
#[test]
fn overrides_reach_tables_and_customers() {
    let table = "customer,rate,burst\nacme,1 Mb/s,5 kB\nbolt,2 Mb/s,5 kB\n";
    let set = [
        "agreements[0].defaults={phb: af1, meter: tsw2cm}",
        "policies.EDGE.classes.bolt.police.window=3 s",
        "agreements[0].defaults.window=2 s",
    ];
    let got = classes(SCENARIO, table, &set);
    let windows: Vec<String> = got
        .classes
        .iter()
        .filter_map(|c| Some(c.police.as_ref()?.window?.to_string()))
        .collect();
    assert_eq!(windows, ["2 s", "3 s"]);
    // A policy that is there for the table alone need not be written.
    let bare = SCENARIO.replace("policies:\n  EDGE", "policies:\n  OTHER");
    assert_eq!(classes(&bare, table, &[]).classes.len(), 2);
    // Two tables share a policy.
    let two = SCENARIO.replace("t.csv}]", "t.csv}, {policy: EDGE, file: t.csv}]");
    let files = memory(&[("s.yaml", two.as_bytes()), ("t.csv", table.as_bytes())]);
    let e = load(Path::new("s.yaml"), &files, &Router, &Options::default()).unwrap_err();
    assert!(
        e.to_string()
            .contains("customer `acme` has an agreement already"),
        "{e}"
    );
}

#[track_caller]
fn warnings(scenario: &str, table: &str, set: &[&str]) -> Vec<String> {
    let files = memory(&[("s.yaml", scenario.as_bytes()), ("t.csv", table.as_bytes())]);
    let loaded = load(Path::new("s.yaml"), &files, &Router, &options(set));
    loaded.unwrap_or_else(|e| panic!("{e}")).plan.warnings
}

/// What is promised counts once, at the first policy that promises it, on every link behind that.
#[test]
fn committed_rates_are_added_where_customers_meet() {
    let table = "customer,rate\nacme,6 Mb/s\nbolt,5 Mb/s\n";
    let said = warnings(SCENARIO, table, &[]);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].contains("customers are promised 11 Mb/s of link `line`, 110.0 % of its 10 Mb/s"),
        "{said:?}"
    );
    // All of the line may be promised, and the same policy once more on the way out promises
    // nothing more.
    for set in [
        &["policies.EDGE.classes.bolt.police.rate=4 Mb/s"][..],
        &[
            "policies.EDGE.classes.bolt.police.rate=4 Mb/s",
            "topology.links.line.policy=EDGE",
        ],
    ] {
        let said = warnings(SCENARIO, table, set);
        assert!(!said.iter().any(|w| w.contains("promised")), "{said:?}");
    }
    // On the way out alone there is one agreement for each, too.
    let out = SCENARIO
        .replace(", input_policy: EDGE", "")
        .replace("rate: 10 Mb/s", "rate: 10 Mb/s, policy: EDGE");
    let said = warnings(&out, table, &[]);
    assert!(
        said.iter()
            .any(|w| w.contains("promised 11 Mb/s of link `line`")),
        "{said:?}"
    );
    // Each flow has its own.
    let flows = SCENARIO.replace("name: b, from", "name: b, count: 3, from");
    let said = warnings(
        &flows,
        "customer,rate,per_flow\nacme,1 Mb/s,\nbolt,4 Mb/s,yes\n",
        &[],
    );
    assert!(
        said.iter()
            .any(|w| w.contains("promised 13 Mb/s of link `line`")),
        "{said:?}"
    );
}

#[test]
fn buckets_hold_a_packet_and_customers_send_some() {
    let said = |table: &str| warnings(SCENARIO, table, &[]).join("\n");
    let whole = "customer,rate,burst,src\nacme,1 Mb/s,500 B,\nbolt,1 Mb/s,4 ms,\n";
    assert_eq!(said(whole), "");
    let short = said("customer,rate,burst\nacme,1 Mb/s,499 B\nbolt,1 Mb/s,3 ms\n");
    assert!(
        short.contains("customer `acme` holds 499 B, and flow `a` has packets of 500 B"),
        "{short}"
    );
    assert!(short.contains("so it is with bolt"), "{short}");
    // The average of a TSW needs no room.
    assert_eq!(said("customer,rate,window\nacme,1 Mb/s,1 ms\n"), "");
    let nobody =
        said("customer,rate,src\nacme,1 Mb/s,\ncrow,1 Mb/s,192.0.2.0/24\ndove,1 Mb/s,192.0.2.7\n");
    assert!(
        nobody.contains(
            "no flow of the scenario sends packets of customers crow, dove to policy `EDGE`"
        ),
        "{nobody}"
    );
    let nowhere = SCENARIO.replace(", input_policy: EDGE", "");
    let said = warnings(&nowhere, whole, &[]);
    assert!(
        said.iter().any(|w| w.contains("no link has policy `EDGE`")),
        "{said:?}"
    );
}

/// Two customers of whom one sends what it likes, and a core whose class or queue is written behind
/// `CORE:`; the second is in a class of its own where the core asks for the input link.
fn shared(core: &str, b: &str) -> Vec<String> {
    let scenario = SCENARIO
        .replace("rate: 100 Mb/s", "rate: 100 Mb/s, duplex: true")
        .replace(
            "rate: 10 Mb/s}\nagree",
            "rate: 10 Mb/s, duplex: true, policy: CORE}\nagree",
        )
        .replace("  EDGE:", &format!("  CORE: {core}\n  EDGE:"))
        .replace(
            "to: core, source: {cbr: {rate: 4 Mb/s, packet: 500 B}}}\nmeas",
            &format!("to: core, {b}}}\nmeas"),
        );
    assert!(
        scenario.contains("CORE}") && scenario.contains(b),
        "{scenario}"
    );
    let table = "customer,rate,phb\nacme,4 Mb/s,af1\nbolt,1 Mb/s,af1\n";
    let mut said = warnings(&scenario, table, &[]);
    said.retain(|w| w.contains("does not protect"));
    said
}

/// Who is promised a rate hears of each kind of queue that drops what is in profile with the rest,
/// and of none that spares it or where there is room for all.
#[test]
fn queues_that_do_not_protect_what_is_in_profile_are_named() {
    const UDP: &str = "source: {cbr: {rate: 12 Mb/s, packet: 500 B}}";
    let class = |own: &str| format!("{{class-based: {{classes: [{{name: a, phb: af1{own}}}]}}}}");
    let wred = |af12: u32| {
        format!(
            ", aqm: {{wred: {{dscp: {{af11: {{min: 30, max: 50}}, af12: {{min: 10, max: {af12}}}}}}}}}"
        )
    };
    for (core, why) in [
        (
            class(", aqm: {wred: {}}"),
            "class `a` of link `line` does not protect what is in profile of customers acme, bolt: WRED drops all af11 at an average of 40 packets, and all af12 at 40",
        ),
        (
            class(", aqm: {wred: {defaults: ios-xe}}"),
            "all af11 at an average of 32 packets, and all af12 at 32",
        ),
        (
            class(", aqm: {wred: {by: precedence}}"),
            "WRED by precedence drops all af11",
        ),
        (class(&wred(50)), "and all af12 at 50"),
        (class(", aqm: {red: {}}"), "it drops af11 as af12"),
        (
            class(", aqm: {rio: {profile: [af11, af12]}}"),
            "it drops af11 as af12",
        ),
        (class(", fq_codel: {}"), "it drops af11 as af12"),
        (
            class(", queue_limit_dscp: {af11: 20 packets, af12: 30 packets}"),
            "it drops af11 as af12",
        ),
        (
            "{fifo: {}}".to_owned(),
            "the queue of link `line` does not protect",
        ),
        ("{fifo: {aqm: {wred: {}}}}".to_owned(), "all af12 at 40"),
        ("{fq-codel: {}}".to_owned(), "it drops af11 as af12"),
        (
            "{class-based: {classes: [{name: v, phb: ef}]}}".to_owned(),
            "class `class-default` of link `line`",
        ),
    ] {
        let said = shared(&core, UDP);
        assert!(said.len() == 1 && said[0].contains(why), "{core}: {said:?}");
        assert_eq!(
            shared(&core, "source: {cbr: {rate: 5 Mb/s, packet: 500 B}}"),
            [""; 0],
            "{core}"
        );
    }
    // What a connection takes is not known, unless a shaper or a line says it.
    let tail = class(", queue_limit: 64 packets, aqm: {red: {}}");
    assert_eq!(shared(&tail, "tcp: {}").len(), 1);
    for core in [
        class(""),
        class(&wred(29)),
        class(&wred(49)),
        class(", aqm: {rio: {profile: [af11]}}"),
        class(", aqm: {adaptive-rio: {profile: [af11]}}"),
        class(", queue_limit_dscp: {af11: 40 packets, af12: 30 packets}"),
        class(", queue_limit_dscp: {af12: 30 packets}"),
        "{fifo: {aqm: {wred: {defaults: staggered}}}}".to_owned(),
        "{class-based: {classes: [{name: a, match: {input: acme}, bandwidth: 50 %}, {name: b, match: {input: bolt}}]}}".to_owned(),
        "{class-based: {classes: [{name: in, match: {dscp: af11}, bandwidth: 60 %}, {name: out, match: {dscp: af12}}]}}".to_owned(),
    ] {
        assert_eq!(shared(&core, UDP), [""; 0], "{core}");
    }
}
