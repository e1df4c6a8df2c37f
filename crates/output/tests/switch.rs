//! What is said of packets that came through a switch.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use spillgate_output::{describe, explanation};
use spillgate_scenario::plan::Plan;
use spillgate_scenario::{NoImporter, Options, load};
use spillgate_sim::explain::{Question, explain};

/// Two hosts that send packets of 500 B to one sink, and a little to another, through this switch.
fn plan(switch: &str) -> Plan {
    let yaml = format!(
        "schema_version: 1\n\
         topology:\n  nodes: [a, b, c, d, {{name: s, switch: {{{switch}}}}}]\n  links:\n    \
         a: {{from: a, to: s, rate: 10 Mb/s, delay: 1 ms}}\n    \
         b: {{from: b, to: s, rate: 10 Mb/s, delay: 1 ms}}\n    \
         c: {{from: s, to: c, rate: 10 Mb/s, delay: 1 ms}}\n    \
         d: {{from: s, to: d, rate: 10 Mb/s, delay: 1 ms}}\n\
         traffic:\n  \
         - flow: {{name: f, from: a, to: c, source: {{poisson: {{rate: 4 Mb/s, packet: 500 B}}}}}}\n  \
         - flow: {{name: g, from: b, to: c, source: {{poisson: {{rate: 4 Mb/s, packet: 500 B}}}}}}\n  \
         - flow: {{name: h, from: b, to: d, source: {{poisson: {{rate: 1 Mb/s, packet: 500 B}}}}}}\n\
         measurement: {{warmup: 100 ms, duration: 1 s, interval: 100 ms}}\nruns: {{count: 1, seed: 3}}\n"
    );
    let files = BTreeMap::from([(PathBuf::from("s.yaml"), yaml.into_bytes())]);
    let loaded = load(
        Path::new("s.yaml"),
        &files,
        &NoImporter,
        &Options::default(),
    );
    loaded.unwrap_or_else(|e| panic!("{e}")).plan
}

fn explained(plan: &Plan) -> Value {
    let question = Question {
        groups: vec![vec![0, 1]],
        worst: 5,
        ..Question::default()
    };
    let world = &plan.variants[0].world;
    let answer = explain(world, 3, 0, &question, &|| false).unwrap();
    explanation(world, &["all".to_owned()], &answer)
}

#[test]
fn a_packet_waits_at_the_input_crosses_and_waits_at_the_output() {
    // 500 B over one of four internal links, each of half of 11 Mb/s, or in two cells or one packet
    // at 11 Mb/s; cells need not follow each other.
    let ps = |bytes: u64, rate: u64| bytes * 8 * 1_000_000_000_000 / rate;
    for (fabric, least, is_exact) in [
        ("parallel: {}", ps(500, 5_500_000), true),
        ("crossbar: {cell: 250 B}", ps(500, 11_000_000), false),
        ("crossbar: {cell: packets}", ps(500, 11_000_000), true),
    ] {
        let plan = plan(&format!(
            "architecture: cioq, speedup: 1.1, fabric: {{{fabric}}}"
        ));
        let found = explained(&plan);
        let packets = found["groups"][0]["packets"].as_array().unwrap();
        assert_eq!(packets.len(), 5);
        for packet in packets {
            let hops = packet["hops"].as_array().unwrap();
            let parts = |hop: &Value| -> u64 {
                let all = hop["parts"].as_object().unwrap();
                all.values().map(|v| v.as_u64().unwrap()).sum()
            };
            let sum: u64 = hops.iter().map(parts).sum();
            assert_eq!(sum, packet["delay"].as_u64().unwrap(), "{fabric}");
            let of = |name: &str| hops[1]["parts"][name].as_u64().unwrap();
            assert!(of("input") > 0, "{fabric}: {packet}");
            // Slots begin at picoseconds, rounded down.
            let took = of("fabric");
            assert!(took + 1 >= least, "{fabric}: {took} {least}");
            assert!(!is_exact || took == least, "{fabric}: {took} {least}");
            assert_eq!(of("node"), 0);
            let sentence = packet["sentence"].as_str().unwrap();
            assert!(
                sentence.contains("waiting at inputs of switches"),
                "{sentence}"
            );
            assert!(sentence.contains("crossing switches"), "{sentence}");
        }
    }
}

#[test]
fn a_drop_at_an_input_names_the_switch() {
    let plan = plan("architecture: voq, line_rate: 6 Mb/s, buffer: {limit: 2 packets}");
    let question = Question {
        groups: vec![vec![0, 1]],
        drops: 1,
        ..Question::default()
    };
    let world = &plan.variants[0].world;
    let answer = explain(world, 3, 0, &question, &|| false).unwrap();
    let found = explanation(world, &["all".to_owned()], &answer);
    let kind = &found["groups"][0]["drops"][0];
    assert_eq!(kind["reason"], "drops_input_queue");
    let sentence = kind["first"][0]["sentence"].as_str().unwrap();
    assert!(
        sentence.contains("at node s, which it reached over"),
        "{sentence}"
    );
    assert!(sentence.contains("2 packets"), "{sentence}");
}

#[test]
fn a_switch_is_described() {
    let plan =
        plan("architecture: cioq, speedup: 4/3, buffer: {limit: 9 kB, per: input}, inputs: [b, a]");
    let found = serde_json::to_value(describe(&plan)).unwrap();
    let switch = &found["nodes"][0];
    assert_eq!(
        (&switch["name"], &switch["kind"]),
        (&"s".into(), &"switch".into())
    );
    let facts = switch["facts"].as_array().unwrap().iter();
    let facts: Vec<_> = facts
        .map(|f| (f["key"].as_str().unwrap(), f["value"].clone()))
        .collect();
    let wanted = [
        ("architecture", serde_json::json!("cioq")),
        ("ports", 2.into()),
        ("line_rate", 10_000_000.into()),
        ("speedup", "4/3".into()),
        ("fabric", "crossbar, islip, cells of 64 B".into()),
        ("buffer", "9000 B an input".into()),
        ("policy", serde_json::Value::Null),
        ("nu", 0.0.into()),
        ("inputs", serde_json::json!(["b", "a"])),
        ("outputs", serde_json::json!(["c", "d"])),
    ];
    assert_eq!(facts, wanted);
}
