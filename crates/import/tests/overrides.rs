//! Policies of a configuration are parts of the scenario: what is in the tree is what was imported,
//! and values are replaced in it as in the text.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use spillgate_import::ConfigImporter;
use spillgate_queueing::spec::DisciplineSpec;
use spillgate_scenario::{Diagnostics, Options, Platform, PortPolicies, port_policies};

/// A scenario with a configuration, and what stands after it.
fn scenario(platform: Platform, more: &str) -> String {
    format!(
        "schema_version: 1
topology:
  nodes: [a, b]
  links:
    wan: {{from: a, to: b, rate: 100 Mb/s}}
configs: [{{ios: r.cfg, platform: {}}}]
traffic:
  - flow: {{name: f, from: a, to: b, source: {{cbr: {{rate: 1 Mb/s, packet: 200 B}}}}}}
{more}",
        platform.name()
    )
}

fn read(
    yaml: &str,
    configs: &[(&str, &str)],
    overrides: &[String],
) -> Result<Vec<PortPolicies>, Diagnostics> {
    let mut files = BTreeMap::from([(PathBuf::from("s.yaml"), yaml.as_bytes().to_vec())]);
    files.extend(
        configs
            .iter()
            .map(|(name, text)| (PathBuf::from(name), text.as_bytes().to_vec())),
    );
    let options = Options {
        overrides: overrides.to_vec(),
        ..Options::default()
    };
    port_policies(
        Path::new("s.yaml"),
        &files,
        &ConfigImporter::default(),
        &options,
    )
}

/// The policies of the only variant.
#[track_caller]
fn policies(config: &str, overrides: &[String]) -> BTreeMap<String, DisciplineSpec> {
    let yaml = scenario(Platform::Ios, "");
    let mut read = read(&yaml, &[("r.cfg", config)], overrides).unwrap_or_else(|e| panic!("{e}"));
    read.remove(0).policies
}

/// Every configuration here, of all platforms.
fn configurations() -> Vec<(PathBuf, Platform, String)> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for folder in [
        "tests/configs",
        "../../examples/ce-node",
        "../../examples/mpls-vpn",
        "../../examples/diffserv",
        "../../examples/voice-edge",
        "../../corpus",
    ] {
        for entry in fs::read_dir(here.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|e| e != "cfg") {
                continue;
            }
            let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
            let platform = stem
                .rsplit_once('.')
                .and_then(|(_, p)| Platform::by_name(p));
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            found.push((path, platform.unwrap_or_default(), text));
        }
    }
    found
}

#[test]
fn what_is_spliced_is_what_was_imported() {
    let mut number = 0;
    for (path, platform, text) in configurations() {
        let (imported, _) = ConfigImporter::default()
            .read("r.cfg", text.as_bytes(), platform)
            .unwrap();
        let found = read(&scenario(platform, ""), &[("r.cfg", &text)], &[]);
        let found = found.unwrap_or_else(|e| panic!("{}\n{e}", path.display()));
        assert_eq!(found[0].policies, imported.policies, "{}", path.display());
        number += imported.policies.len();
    }
    assert!(number >= 50, "{number} policies");
}

const EDGE: &str = "class-map VOICE
 match dscp ef
class-map VIDEO
 match dscp af41
policy-map CHILD
 class VOICE
  priority percent 15
 class VIDEO
  bandwidth percent 35
  queue-limit 64 packets
  random-detect dscp-based
  random-detect dscp af41 24 40 10
 class class-default
  fair-queue 256
policy-map PARENT
 class class-default
  shape average 20000000
  service-policy CHILD
";

proptest! {
    /// A value in the text, and the same value put there by a path.
    #[test]
    fn to_override_is_to_edit_the_text(
        voice in prop::option::of(1_u32..50),
        video in prop::option::of(1_u32..50),
        limit in prop::option::of(65_u32..4000),
        rate in prop::option::of(1_u32..1000),
        max in prop::option::of(41_u32..64),
        long in any::<bool>(),
    ) {
        let kind = if long { "class-based." } else { "" };
        let (mut text, mut overrides) = (EDGE.to_owned(), Vec::new());
        let mut change = |from: &str, to: String, path: &str, value: String| {
            text = text.replace(from, &to);
            overrides.push(format!("policies.{}={value}", path.replace("classes", &format!("{kind}classes"))));
        };
        if let Some(v) = voice {
            change("priority percent 15", format!("priority percent {v}"), "CHILD.classes.VOICE.priority.rate", format!("{v} %"));
        }
        if let Some(v) = video {
            change("bandwidth percent 35", format!("bandwidth percent {v}"), "CHILD.classes.VIDEO.bandwidth", format!("{v} %"));
        }
        if let Some(v) = limit {
            change("queue-limit 64", format!("queue-limit {v}"), "CHILD.classes.VIDEO.queue_limit", format!("{v} packets"));
        }
        if let Some(v) = rate {
            change("average 20000000", format!("average {v}00000"), "PARENT.classes.class-default.shape.rate", format!("{v}00 kb/s"));
        }
        if let Some(v) = max {
            change("af41 24 40 10", format!("af41 24 {v} 10"), "CHILD.classes.VIDEO.aqm.dscp.af41.max", v.to_string());
        }
        prop_assert_eq!(policies(EDGE, &overrides), policies(&text, &[]));
    }
}

#[test]
fn errors_name_the_line_of_the_configuration_or_the_override() {
    let on_wan = |policy: &str| {
        scenario(Platform::Ios, "").replace("Mb/s}", &format!("Mb/s, policy: {policy}}}"))
    };
    // 60 % of 100 Mb/s and 50 % beside it: the second is too much.
    let both = EDGE
        .replace("percent 35", "60000")
        .replace("percent 15", "50000");
    let e = read(&on_wan("CHILD"), &[("r.cfg", &both)], &[])
        .unwrap_err()
        .to_string();
    assert!(e.contains("r.cfg:9:"), "{e}");
    let too_much = "policies.CHILD.classes.VIDEO.bandwidth=90 %".to_owned();
    let e = read(&on_wan("CHILD"), &[("r.cfg", EDGE)], &[too_much])
        .unwrap_err()
        .to_string();
    assert!(
        e.contains("--set policies.CHILD.classes.VIDEO.bandwidth"),
        "{e}"
    );
    let nowhere = "policies.CHILD.classes.VOCIE.bandwidth=9 %".to_owned();
    let e = read(&on_wan("CHILD"), &[("r.cfg", EDGE)], &[nowhere])
        .unwrap_err()
        .to_string();
    assert!(e.contains("did you mean `VOICE`?"), "{e}");
    let wrong = "policies.CHILD.classes.VOICE.priority.rate=much".to_owned();
    let e = read(&on_wan("CHILD"), &[("r.cfg", EDGE)], &[wrong])
        .unwrap_err()
        .to_string();
    assert!(
        e.contains("--set policies.CHILD.classes.VOICE.priority.rate"),
        "{e}"
    );
}

/// Configurations are chosen first, and what replaces values reaches those that were chosen.
#[test]
fn variants_change_policies_and_configurations() {
    let other = EDGE.replace("percent 35", "percent 25");
    let mut variants = String::from("variants:\n");
    for (name, set) in [
        ("as-is", ""),
        ("video", "policies.CHILD.classes.VIDEO.bandwidth: 40 %"),
        ("other", "\"configs[0].ios\": o.cfg"),
        (
            "both",
            "policies.CHILD.classes.VIDEO.queue_limit: 9 packets, \"configs[0].ios\": o.cfg",
        ),
    ] {
        writeln!(variants, "  - {{name: {name}, set: {{{set}}}}}").unwrap();
    }
    let configs = [("r.cfg", EDGE), ("o.cfg", other.as_str())];
    let voice = "policies.CHILD.classes.VOICE.priority.rate=9 %".to_owned();
    let found = read(&scenario(Platform::Ios, &variants), &configs, &[voice]);
    let found = found.unwrap_or_else(|e| panic!("{e}"));
    let wanted = |video: &str, limit: &str| {
        let text = EDGE
            .replace("percent 35", video)
            .replace("queue-limit 64", limit);
        policies(&text.replace("percent 15", "percent 9"), &[])
    };
    // A key in quotes is the same key.
    let quoted = "\"configs\"[0].ios=o.cfg".to_owned();
    let chosen = read(&scenario(Platform::Ios, ""), &configs, &[quoted]);
    let chosen = chosen.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(chosen[0].policies, policies(&other, &[]));
    for (variant, wanted) in found.iter().zip([
        wanted("percent 35", "queue-limit 64"),
        wanted("percent 40", "queue-limit 64"),
        wanted("percent 25", "queue-limit 64"),
        wanted("percent 25", "queue-limit 9"),
    ]) {
        assert_eq!(variant.policies, wanted, "{}", variant.variant);
    }
}
