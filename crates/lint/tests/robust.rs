//! Any input gives findings or located errors, in little time.

use std::collections::BTreeMap;
use std::path::PathBuf;

use proptest::prelude::*;
use spillgate_core::testkit::effort;
use spillgate_lint::{Selection, configuration, json, sarif, scenario, text};
use spillgate_scenario::{Options, Platform};

const EDGE: &[u8] = include_bytes!("../../../examples/voice-edge/edge.cfg");
const NODE: &[u8] = include_bytes!("../../../examples/ce-node/policies.cfg");
const CORE: &[u8] = include_bytes!("../../../examples/mpls-vpn/core.cfg");

fn check(bytes: &[u8]) {
    match configuration("x.cfg", bytes, Platform::Ios, &Selection::default()) {
        Ok(found) => {
            // Every finding can be shown in every form.
            let lines = String::from_utf8_lossy(bytes).lines().count();
            for f in &found {
                assert!(
                    f.line.is_some_and(|l| l >= 1 && l as usize <= lines.max(1)),
                    "{f:?}"
                );
            }
            let (shown, data, log) = (text(&found), json(&found), sarif(&found, "1"));
            assert_eq!(shown.is_empty(), found.is_empty());
            assert_eq!(data["findings"].as_array().map(Vec::len), Some(found.len()));
            assert_eq!(
                log["runs"][0]["results"].as_array().map(Vec::len),
                Some(found.len())
            );
        }
        Err(errors) => assert!(errors.has_errors()),
    }
}

#[test]
fn every_truncation_ends_in_findings_or_errors() {
    for file in [EDGE, NODE, CORE] {
        for end in (0..file.len()).step_by(3) {
            check(&file[..end]);
        }
    }
}

#[test]
fn every_truncation_of_a_scenario_ends_in_findings_or_errors() {
    let whole = include_bytes!("../../../examples/first/scenario.yaml");
    let mut findings = 0;
    for end in (0..=whole.len()).rev().step_by(9) {
        let path = PathBuf::from("s.yaml");
        let files = BTreeMap::from([(path.clone(), whole[..end].to_vec())]);
        match scenario(&path, &files, &Options::default(), &Selection::default()) {
            Ok(found) => {
                findings += 1;
                assert!(found.iter().all(|f| f.file == "s.yaml"));
            }
            Err(errors) => assert!(errors.has_errors()),
        }
    }
    // The whole of it is valid.
    assert!(findings > 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300 * effort()))]

    #[test]
    fn every_corruption_ends_in_findings_or_errors(
        file in prop::sample::select(vec![EDGE, NODE, CORE]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = file.to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        check(&bytes);
    }
}

/// 200 policies of 50 classes, 51 000 lines with the class-maps, in which every pair of classes of
/// a policy is compared. Were it every pair of all classes, this would take minutes.
#[test]
fn a_long_configuration_is_read_in_time() {
    let mut cfg = String::new();
    for c in 0..10_000_u32 {
        let port = 1000 + c % 50;
        cfg += &format!("ip access-list extended A{c}\n permit tcp any any eq {port}\n");
        cfg += &format!("class-map match-all C{c}\n match access-group name A{c}\n");
    }
    for p in 0..200 {
        cfg += &format!("policy-map P{p}\n");
        for c in 0..50 {
            cfg += &format!(" class C{}\n", 50 * p + c);
        }
    }
    assert!(cfg.lines().count() > 50_000);
    let found = configuration(
        "x.cfg",
        cfg.as_bytes(),
        Platform::Ios,
        &Selection::default(),
    );
    assert_eq!(
        found.map(|f| f.iter().filter(|f| f.id == "SG-C001").count()),
        Ok(0)
    );
}

/// Conditions that exclude each other are found, those that do not are not.
#[test]
fn contradictions_are_found_and_nothing_else() {
    let found = |lines: &str| {
        let text = format!(
            "access-list 101 permit udp any any\naccess-list 102 permit udp 10.0.0.0 0.255.255.255 any\naccess-list 103 permit udp 11.0.0.0 0.255.255.255 any\naccess-list 104 deny udp any any\nclass-map match-all OTHER\n match dscp ef\n match dscp af41\nclass-map match-all A\n{lines}policy-map P\n class A\n  bandwidth percent 10\ninterface Serial0/0\n bandwidth 2000\n service-policy output P\n"
        );
        let all = Selection::default();
        let found = configuration("r.cfg", text.as_bytes(), Platform::Ios, &all).unwrap();
        found.iter().any(|f| f.id == "SG-C008")
    };
    for lines in [
        " match dscp ef\n match dscp af41\n",
        " match dscp ef\n match precedence 3\n",
        " match protocol http\n match access-group 101\n",
        " match access-group 102\n match access-group 103\n",
        " match cos 1\n match cos 2 3\n",
        " match qos-group 1\n match qos-group 2\n",
        " match input-interface Gi0/0\n match input-interface Gi0/1\n",
        " match mpls experimental 5\n match dscp ef\n",
        " match dscp ef\n match not dscp ef cs5\n",
        " match class-map OTHER\n",
    ] {
        assert!(found(lines), "{lines}");
    }
    for lines in [
        " match dscp ef\n match precedence 5\n",
        " match protocol rtp\n match access-group 101\n",
        " match cos 1 2\n match cos 2 3\n",
        " match dscp ef\n match not dscp cs5\n",
        " match any\n",
        // Warned of by the reader, W0702.
        "",
        " match access-group 104\n",
        " match vlan 5\n match dscp ef\n",
    ] {
        assert!(!found(lines), "{lines}");
    }
}

/// What the reader lists is found with its line, misspelt commands as warnings, the rest as notes.
#[test]
fn every_listed_line_is_a_finding() {
    let text = "class-map A\n match dscp ef\n match vlan 5\npolicy-map P\n class A\n  prioriy percent 30\n  set discard-class 3\ninterface Serial0/0\n bandwidth 2000\n tx-queue-limit 3\n service-policy output P\n";
    let all = Selection::default();
    let found = configuration("r.cfg", text.as_bytes(), Platform::Ios, &all).unwrap();
    let lines: Vec<_> = found
        .iter()
        .filter(|f| f.id.starts_with("SG-R"))
        .map(|f| (f.id, f.line.unwrap(), f.column.unwrap()))
        .collect();
    assert_eq!(
        lines,
        [
            ("SG-R002", 3, 2),
            ("SG-R001", 6, 3),
            ("SG-R002", 7, 3),
            ("SG-R002", 10, 2)
        ]
    );
}

/// What a class is offered counts as its link does: 24 kb/s of IP packets of 60 B are 63.6 kb/s of
/// cells.
#[test]
fn calls_are_counted_in_cells() {
    let found = |overhead: &str, rate: &str| {
        let text = format!(
            "schema_version: 1
topology:
  nodes: [a, b]
  links: {{l: {{from: a, to: b, rate: 1 Mb/s, overhead: {overhead}, policy: P}}}}
policies: {{P: {{class-based: {{classes: [{{name: voice, match: {{dscp: ef}}, priority: {{rate: {rate}}}}}]}}}}}}
traffic: [{{flow: {{name: call, dscp: ef, from: a, to: b, source: {{voip: {{codec: g729a}}}}}}}}]
measurement: {{duration: 1 s}}
"
        );
        let path = PathBuf::from("s.yaml");
        let files = BTreeMap::from([(path.clone(), text.into_bytes())]);
        let all = Selection::default();
        let found = scenario(&path, &files, &Options::default(), &all).unwrap();
        found
            .into_iter()
            .find(|f| f.id == "SG-Q007")
            .map(|f| f.message)
    };
    assert_eq!(found("none", "24 kb/s"), None);
    assert_eq!(found("pppoe-llcsnap", "63.6 kb/s"), None);
    let message = found("pppoe-llcsnap", "63 kb/s").unwrap();
    assert!(message.contains("is offered 63.6 kb/s"), "{message}");
    // A policy that counts 12 B beside the packet, not the cells.
    let frames = "pppoe-llcsnap, policy_overhead: 12 B";
    assert_eq!(found(frames, "28.8 kb/s"), None);
    let message = found(frames, "28 kb/s").unwrap();
    assert!(message.contains("is offered 28.8 kb/s"), "{message}");
}
