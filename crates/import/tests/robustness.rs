//! Whatever the input, the importer ends with a result or with located errors.

use crate::common;
use proptest::prelude::*;
use spillgate_core::Rate;
use spillgate_core::testkit::effort;
use spillgate_import::ConfigImporter;
use spillgate_queueing::InputRecipe;
use spillgate_scenario::{Platform, Severity};

const CE_NODE: &str = include_str!("configs/ce-node.cfg");
const BRANCH: &str = include_str!("configs/branch.cfg");

/// Configurations of several flavors, each with the platform that it is for.
const ALL: [(Platform, &str); 7] = [
    (Platform::IosHqf, include_str!("configs/arrival.cfg")),
    (
        Platform::IosXe,
        include_str!("configs/thresholds.ios-xe.cfg"),
    ),
    (Platform::Ios, CE_NODE),
    (Platform::IosHqf, BRANCH),
    (Platform::IosXe, include_str!("configs/hub.ios-xe.cfg")),
    (Platform::IosXr, include_str!("configs/edge.ios-xr.cfg")),
    (
        Platform::IosPreHqf,
        include_str!("configs/spoke.ios-pre-hqf.cfg"),
    ),
];

/// Reads and checks what holds for every input; whether it was taken.
fn read(bytes: &[u8]) -> bool {
    read_as(Platform::Ios, bytes)
}

fn read_as(platform: Platform, bytes: &[u8]) -> bool {
    let lines = bytes.split(|b| *b == b'\n').count() as u32;
    let located = |line: Option<u32>| line.is_some_and(|l| (1..=lines).contains(&l));
    match ConfigImporter::default().read("in.cfg", bytes, platform) {
        Ok((imported, counts)) => {
            assert_eq!(counts.total, counts.blank + counts.queueing + counts.other);
            assert_eq!(counts.total, lines);
            for u in &imported.unmodelled {
                assert!(located(Some(u.line)) && !u.reason.is_empty(), "{u:?}");
            }
            for w in &imported.warnings {
                assert!(located(w.line) && w.severity == Severity::Warning, "{w:?}");
            }
            for policy in imported
                .interfaces
                .values()
                .filter_map(|i| i.output_policy.as_ref())
            {
                assert!(imported.policies.contains_key(&policy.0), "{policy:?}");
            }
            // What acts at arrival can be built, or is refused with a reason.
            let rate = Rate::from_bps(1_000_000).unwrap();
            let arriving = imported.interfaces.values();
            for (policy, _) in arriving.filter_map(|i| i.input_policy.as_ref()) {
                assert!(imported.policies.contains_key(policy), "{policy}");
                if let Err(e) = InputRecipe::resolve(policy, &imported.policies, rate) {
                    assert!(!e.message.is_empty() && !e.hint.is_empty(), "{e}");
                }
            }
            true
        }
        Err(errors) => {
            assert!(!errors.0.is_empty());
            for e in &errors.0 {
                assert_eq!((e.file.as_str(), e.severity), ("in.cfg", Severity::Error));
                assert!(located(e.line) && e.column.is_some_and(|c| c > 0), "{e:?}");
                assert!(!e.message.is_empty() && e.hint.is_some(), "{e:?}");
            }
            false
        }
    }
}

#[test]
fn every_truncation_ends_well() {
    for (platform, text) in ALL {
        for end in 0..=text.len() {
            read_as(platform, &text.as_bytes()[..end]);
        }
        assert!(read_as(platform, text.as_bytes()));
    }
}

#[test]
fn every_corrupted_character_ends_well() {
    for (platform, text) in ALL {
        let mut bytes = text.as_bytes().to_vec();
        for i in 0..bytes.len() {
            let original = bytes[i];
            for other in [b'x', b'9', b' ', b'\n', b'"', b'!', 0xE9, 0] {
                bytes[i] = other;
                assert!(!read_as(platform, &bytes) || other != 0);
            }
            bytes[i] = original;
            let mut shorter = bytes.clone();
            shorter.remove(i);
            read_as(platform, &shorter);
        }
    }
}

/// What is understood of a broken configuration can be said, too.
#[test]
fn explanations_of_broken_configurations_end_well() {
    for (platform, text) in ALL {
        for end in (0..=text.len()).step_by(7) {
            let bytes = &text.as_bytes()[..end];
            if let Ok(u) =
                ConfigImporter::default().understand("in.cfg", bytes, platform, Some("Gi0/0/0"))
            {
                assert!(serde_json::to_string(&u).is_ok());
            }
        }
    }
}

/// A queueing command that is misspelt is an error or is listed; it never just has no effect.
#[test]
fn nothing_vanishes_in_silence() {
    let lines: Vec<&str> = CE_NODE.lines().collect();
    let mut commands = 0;
    for (i, line) in lines.iter().enumerate() {
        let body = line.trim_start();
        let inside_policy = line.starts_with(' ') && i < 61;
        if !inside_policy || body.starts_with('!') {
            continue;
        }
        commands += 1;
        let mut changed = lines.clone();
        let misspelt = line.replacen(body, &format!("zz{body}"), 1);
        changed[i] = &misspelt;
        match ConfigImporter::default().read("in.cfg", changed.join("\n").as_bytes(), Platform::Ios)
        {
            Ok((imported, _)) => assert!(
                imported.unmodelled.iter().any(|u| u.line as usize == i + 1),
                "line {}: {misspelt}",
                i + 1
            ),
            Err(errors) => assert!(!errors.0.is_empty()),
        }
    }
    assert_eq!(commands, 47);
}

#[test]
fn a_large_configuration_is_read_whole() {
    let (text, written) = common::configuration(1000);
    let (imported, counts) = ConfigImporter::default()
        .read("large.cfg", text.as_bytes(), Platform::Ios)
        .unwrap();
    assert_eq!(counts.total, written.lines);
    assert_eq!(counts.other, written.other);
    assert_eq!(imported.policies.len(), written.policies);
    assert_eq!(imported.interfaces.len(), written.interfaces);
    assert_eq!(imported.unmodelled.len(), written.unmodelled);
    assert_eq!(imported.warnings, []);
}

/// Class-maps that double at each level would fill any memory.
#[test]
fn expansion_is_bounded() {
    let mut text = String::from("class-map match-any L0\n match dscp 1\n match precedence 1\n");
    for level in 1..16 {
        text += &format!("class-map match-any L{level}\n");
        for _ in 0..8 {
            text += &format!(" match class-map L{}\n", level - 1);
        }
    }
    let errors = ConfigImporter::default()
        .read("in.cfg", text.as_bytes(), Platform::Ios)
        .unwrap_err();
    assert!(errors.0.iter().all(|e| e.code == "E0702"), "{errors}");

    let mut text = String::from("class-map match-any L0\n match dscp 1\n");
    for level in 1..100_000 {
        text += &format!(
            "class-map match-any L{level}\n match class-map L{}\n",
            level - 1
        );
    }
    assert!(!read(text.as_bytes()));
}

#[test]
fn long_chains_of_policies_are_walked_without_recursion() {
    let mut text = String::new();
    for level in 0..20_000 {
        let next = (level + 1) % 20_000;
        text += &format!("policy-map P{level}\n class class-default\n  service-policy P{next}\n");
    }
    let read = |strict| ConfigImporter { strict }.read("in.cfg", text.as_bytes(), Platform::Ios);
    let errors = read(true).unwrap_err();
    assert_eq!(errors.0.len(), 1);
    assert_eq!(errors.0[0].code, "E0712");
    let (imported, _) = read(false).unwrap();
    let codes: Vec<_> = imported.warnings.iter().map(|w| w.code).collect();
    assert_eq!((codes, imported.policies.len()), (vec!["W0709"], 20_000));
}

/// Words of the language, to get further than random characters do.
const WORDS: &[&str] = &[
    "no",
    "class-map",
    "match-any",
    "match-all",
    "A",
    "B",
    "C",
    "match",
    "not",
    "dscp",
    "ef",
    "af21",
    "precedence",
    "access-group",
    "name",
    "101",
    "10",
    "protocol",
    "http",
    "any",
    "policy-map",
    "class",
    "class-default",
    "bandwidth",
    "percent",
    "remaining",
    "ratio",
    "priority",
    "level",
    "police",
    "cir",
    "bc",
    "be",
    "pir",
    "conform-action",
    "exceed-action",
    "violate-action",
    "transmit",
    "drop",
    "set-dscp-transmit",
    "shape",
    "average",
    "queue-limit",
    "packets",
    "bytes",
    "ms",
    "random-detect",
    "dscp-based",
    "ecn",
    "fair-queue",
    "set",
    "service-policy",
    "input",
    "output",
    "interface",
    "Serial0/0",
    "hold-queue",
    "out",
    "access-list",
    "permit",
    "deny",
    "ip",
    "tcp",
    "udp",
    "host",
    "10.0.0.1",
    "0.0.0.255",
    "eq",
    "neq",
    "gt",
    "range",
    "extended",
    "standard",
    "log",
    "0",
    "1",
    "64",
    "100",
    "65535",
    "99999999999999999999",
    "1m",
    "type",
    "inspect",
    "insert-before",
    "exit",
    "end",
    "banner",
    "^C",
    "\"",
    "!",
    "router",
    "description",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512 * effort()))]

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        read(&bytes);
    }

    #[test]
    fn no_text_panics(text in "(\\PC{0,40}\n){0,8}") {
        read(text.as_bytes());
    }

    #[test]
    fn no_words_panic(
        lines in proptest::collection::vec(
            (0_usize..4, proptest::collection::vec(proptest::sample::select(WORDS), 0..7)),
            0..40,
        )
    ) {
        let text: String = lines
            .iter()
            .map(|(depth, words)| format!("{}{}\n", " ".repeat(*depth), words.join(" ")))
            .collect();
        read(text.as_bytes());
    }
}
