//! What is said of packets whose cells went through ATM switches.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use spillgate_output::explanation;
use spillgate_scenario::{NoImporter, Options, load};
use spillgate_sim::explain::{Question, explain};

/// Two edges at two switches in a row, and a router that forwards behind them.
const YAML: &str = "schema_version: 1
topology:
  nodes: [a, b, {name: s, atm_switch: {}}, {name: t, atm_switch: {queues: per-vc}}, {name: r, forwarding: {delay: 70 us}}, d]
  links:
    a: {from: a, to: s, rate: 20 Mb/s, delay: 100 us, atm: {}}
    b: {from: b, to: s, rate: 20 Mb/s, delay: 100 us, atm: {}}
    trunk: {from: s, to: t, rate: 20 Mb/s, delay: 300 us}
    last: {from: t, to: r, rate: 10 Mb/s, delay: 500 us}
    d: {from: r, to: d, rate: 20 Mb/s, delay: 700 us}
traffic:
  - flow: {name: f, from: a, to: d, source: {poisson: {rate: 4 Mb/s, packet: 1500 B}}}
  - flow: {name: g, from: b, to: d, source: {poisson: {rate: 4 Mb/s, packet: 700 B}}}
measurement: {warmup: 100 ms, duration: 1 s, interval: 100 ms}
";

#[test]
fn parts_of_a_delay_name_the_queues_of_cells() {
    let files = BTreeMap::from([(PathBuf::from("s.yaml"), YAML.as_bytes().to_vec())]);
    let loaded = load(
        Path::new("s.yaml"),
        &files,
        &NoImporter,
        &Options::default(),
    );
    let plan = loaded.unwrap_or_else(|e| panic!("{e}")).plan;
    let world = &plan.variants[0].world;
    let question = Question {
        groups: vec![vec![0], vec![1]],
        worst: 5,
        ..Question::default()
    };
    let answer = explain(world, 3, 0, &question, &|| false).unwrap();
    let found = explanation(world, &["f".to_owned(), "g".to_owned()], &answer);
    let us = |n: u64| n * 1_000_000;
    for (group, cells) in [(0, 32), (1, 15)] {
        let packets = found["groups"][group]["packets"].as_array().unwrap();
        assert_eq!(packets.len(), 5);
        for packet in packets {
            let hops = packet["hops"].as_array().unwrap();
            let of = |hop: usize, part: &str| hops[hop]["parts"][part].as_u64().unwrap();
            let all = hops
                .iter()
                .flat_map(|h| h["parts"].as_object().unwrap().values());
            let sum: u64 = all.map(|v| v.as_u64().unwrap()).sum();
            assert_eq!(Some(sum), packet["delay"].as_u64());
            // Cells leave the edge each 21.2 us, after a phase of at most that; the last line sends
            // one in 42.4 us.
            let sent = of(0, "sending");
            let least = us(cells * 212 + 212 + 424) / 10;
            assert!((least..=least + us(212) / 10).contains(&sent), "{sent}");
            assert_eq!(of(0, "link"), us(100 + 300 + 500));
            assert_eq!(of(1, "link"), us(700));
            assert_eq!(of(1, "node"), us(70));
            // At least as long as the slower line falls behind.
            let waited = of(0, "cells");
            assert!(waited >= us((cells - 1) * 212) / 10, "{waited}");
            assert_eq!(of(1, "cells"), 0);
            let sentence = packet["sentence"].as_str().unwrap();
            assert!(
                sentence.contains("waiting in queues of ATM switches"),
                "{sentence}"
            );
        }
    }
}
