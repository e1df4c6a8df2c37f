//! Configurations of several routers in one scenario: names that both use, and one file for two
//! routers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use spillgate_import::ConfigImporter;
use spillgate_queueing::spec::DisciplineSpec;
use spillgate_scenario::{Options, PortPolicies, load, port_policies};

const EDGE: &str = "class-map VOICE
 match dscp ef
class-map FROM-LAN
 match input-interface GigabitEthernet0/1
policy-map QUEUES
 class VOICE
  priority percent 10
policy-map OUT
 class FROM-LAN
  shape average 5000000
  service-policy QUEUES
policy-map IN
 class class-default
  police cir 1000000 pir 2000000
   conform-action set-dscp-transmit af11
   exceed-action set-dscp-transmit af12
   violate-action set-dscp-transmit af13
interface GigabitEthernet0/0
 bandwidth 10000
 service-policy output OUT
interface GigabitEthernet0/1
 bandwidth 10000
 service-policy input IN
interface GigabitEthernet0/2
 bandwidth 10000
 fair-queue
";

const CORE: &str = "class-map VOICE
 match dscp ef cs5
policy-map OUT
 class VOICE
  priority percent 20
interface GigabitEthernet0/0
 bandwidth 10000
 service-policy output OUT
";

/// A scenario with these configurations, and its files.
fn files(configs: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let yaml = format!(
        "schema_version: 1
topology:
  nodes: [a, b, edge, twin, core, z]
  links:
    a: {{from: edge, to: a, rate: 10 Mb/s, duplex: true}}
    b: {{from: twin, to: b, rate: 10 Mb/s, duplex: true}}
    up-a: {{from: edge, to: core, rate: 10 Mb/s, duplex: true}}
    up-b: {{from: twin, to: core, rate: 10 Mb/s, duplex: true}}
    out: {{from: core, to: z, rate: 10 Mb/s, duplex: true}}
configs:
{configs}
traffic:
  - flow: {{name: f, from: a, to: z, source: {{cbr: {{rate: 1 Mb/s, packet: 200 B}}}}}}
  - flow: {{name: g, from: b, to: z, source: {{cbr: {{rate: 1 Mb/s, packet: 200 B}}}}}}
"
    );
    let files = [
        ("s.yaml", yaml.as_str()),
        ("edge.cfg", EDGE),
        ("core.cfg", CORE),
    ];
    let bytes = |(name, text): (&str, &str)| (PathBuf::from(name), text.as_bytes().to_vec());
    files.into_iter().map(bytes).collect()
}

fn read(configs: &str, overrides: &[&str]) -> Result<PortPolicies, String> {
    let options = Options {
        overrides: overrides.iter().map(|o| (*o).to_owned()).collect(),
        ..Options::default()
    };
    let importer = ConfigImporter::default();
    let found = port_policies(Path::new("s.yaml"), &files(configs), &importer, &options);
    found
        .map(|mut all| all.remove(0))
        .map_err(|e| e.to_string())
}

fn warnings(configs: &str) -> Vec<String> {
    let options = Options::default();
    let importer = ConfigImporter::default();
    let loaded = load(Path::new("s.yaml"), &files(configs), &importer, &options);
    loaded.unwrap_or_else(|e| panic!("{e}")).plan.warnings
}

/// Links and their policies.
fn attached(p: &PortPolicies) -> Vec<(&str, &str)> {
    let links = p.links.iter();
    links
        .map(|l| (l.link.as_str(), l.policy.as_str()))
        .collect()
}

/// Policies for what arrives, and the links of their interfaces.
fn arriving(p: &PortPolicies) -> Vec<(&str, Option<&str>)> {
    let inputs = p.inputs.iter();
    inputs
        .map(|i| (i.policy.as_str(), i.interface.as_deref()))
        .collect()
}

const ONE: &str = "GigabitEthernet0/0: up-a, GigabitEthernet0/1: a";

#[test]
fn names_that_two_routers_use_are_told_with_a_way_out() {
    let both = format!(
        "  - {{ios: edge.cfg, interfaces: {{{ONE}}}}}
  - {{ios: core.cfg, interfaces: {{GigabitEthernet0/0: out}}}}"
    );
    let e = read(&both, &[]).unwrap_err();
    let expected = "core.cfg:3:12: error: a policy `OUT` is defined here and at edge.cfg:8 [E0404]";
    assert!(e.contains(expected), "{e}");
    assert!(e.contains("such as `prefix: core-`"), "{e}");
    // The same prefix does not tell them apart either.
    let e = read(&both.replace(".cfg,", ".cfg, prefix: r-,"), &[]).unwrap_err();
    assert!(e.contains("a policy `r-OUT` is defined here"), "{e}");
    assert!(e.contains("another prefix"), "{e}");
}

#[test]
fn a_prefix_is_in_front_of_every_name() {
    let p = read(
        &format!(
            "  - {{ios: edge.cfg, prefix: edge-, interfaces: {{{ONE}}}}}
  - {{ios: core.cfg, prefix: core-, interfaces: {{GigabitEthernet0/0: out}}}}"
        ),
        &["policies.core-OUT.classes.VOICE.priority.rate=30 %"],
    )
    .unwrap();
    let names: Vec<&str> = p.policies.keys().map(String::as_str).collect();
    let all = [
        "core-OUT",
        "edge-IN",
        "edge-INTERFACE-DEFAULT:GigabitEthernet0/2",
        "edge-OUT",
        "edge-QUEUES",
    ];
    assert_eq!(names, all);
    assert_eq!(attached(&p), [("out", "core-OUT"), ("up-a", "edge-OUT")]);
    assert_eq!(arriving(&p), [("edge-IN", Some("a"))]);
    // What is nested keeps its policy, and what is replaced is replaced in one of them only.
    let class = |name: &str| match &p.policies[name] {
        DisciplineSpec::ClassBased(spec) => spec.classes[0].clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(class("edge-OUT").policy.as_deref(), Some("edge-QUEUES"));
    let rate = |name| serde_json::to_value(class(name).priority).unwrap()["rate"].clone();
    assert_eq!(
        (rate("core-OUT"), rate("edge-QUEUES")),
        ("30 %".into(), "10 %".into())
    );
}

/// Two routers may run the same file: their classes find packets on their own links.
#[test]
fn a_file_may_be_that_of_several_routers() {
    let two = format!(
        "  - {{ios: edge.cfg, interfaces: {{{ONE}}}}}
  - {{ios: edge.cfg, prefix: twin-, interfaces: {{GigabitEthernet0/0: up-b, GigabitEthernet0/1: b}}}}"
    );
    let p = read(&two, &[]).unwrap();
    assert_eq!(attached(&p), [("up-a", "OUT"), ("up-b", "twin-OUT")]);
    let both = [("IN", Some("a")), ("twin-IN", Some("b"))];
    assert_eq!(arriving(&p), both);
    // Each finds what comes in by its own interface: without a link for it the twin's class has
    // nothing.
    assert_eq!(warnings(&two), [""; 0]);
    let unmapped = warnings(&two.replace(", GigabitEthernet0/1: b", ""));
    let [one] = &unmapped[..] else {
        panic!("{unmapped:?}");
    };
    assert!(
        one.contains("class `FROM-LAN` of policy `twin-OUT`"),
        "{one}"
    );
    let e = read(&two.replace(" prefix: twin-,", ""), &[]).unwrap_err();
    assert!(e.contains("is defined here and at edge.cfg"), "{e}");
}

#[test]
fn what_is_wrong_below_a_prefix_is_where_it_stands() {
    let one = format!("  - {{ios: edge.cfg, prefix: edge-, interfaces: {{{ONE}}}}}");
    let e = read(
        &one,
        &["policies.edge-QUEUES.classes.VOICE.bandwidth=200 %"],
    )
    .unwrap_err();
    assert!(
        e.contains("--set policies.edge-QUEUES.classes.VOICE.bandwidth"),
        "{e}"
    );
    let e = read(&one, &["policies.QUEUES.classes.VOICE.bandwidth=20 %"]).unwrap_err();
    assert!(e.contains("edge-QUEUES"), "{e}");
    let e = read(&one.replace("edge-,", "[edge],"), &[]).unwrap_err();
    assert!(
        e.contains("configs[0].prefix") || e.contains("s.yaml:11:"),
        "{e}"
    );
    // A prefix may be varied like the file.
    let p = read(&one, &["configs[0].prefix=e-"]).unwrap();
    assert_eq!(attached(&p), [("up-a", "e-OUT")]);
}
