//! Circuits of ATM of router configurations as links of a scenario.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use spillgate_import::ConfigImporter;
use spillgate_nodes::atm::Cells;
use spillgate_nodes::server::ServerPlan;
use spillgate_scenario::plan::LinkPlan;
use spillgate_scenario::{Loaded, Options, Platform, load};

const ROUTER: &str = "class-map VOICE
 match dscp ef
policy-map LLQ
 class VOICE
  priority percent 25
vc-class atm GOLD
 encapsulation aal5mux ip
interface ATM0.1 point-to-point
 pvc 1/32
  vbr-nrt 768 384 32
  service-policy output LLQ
interface ATM0.2 multipoint
 class-int GOLD
 pvc 1/40
  ubr+ 500 100
 pvc 1/41
  cbr 3000
interface ATM1
 pvc 8/35
  pppoe-client dial-pool-number 1
";

fn load_with(link: &str, interfaces: &str, overrides: &[&str]) -> Result<Loaded, String> {
    let yaml = format!(
        "schema_version: 1
topology:
  nodes: [a, z]
  links:
    up: {{from: a, to: z, rate: 2 Mb/s{link}}}
configs:
  - {{ios: r.cfg, prefix: r-, interfaces: {interfaces}}}
traffic:
  - flow: {{name: f, from: a, to: z, dscp: ef, source: {{cbr: {{rate: 80 kb/s, packet: 200 B}}}}}}
"
    );
    let files: BTreeMap<PathBuf, Vec<u8>> = [
        (PathBuf::from("s.yaml"), yaml.into_bytes()),
        (PathBuf::from("r.cfg"), ROUTER.as_bytes().to_vec()),
    ]
    .into();
    let options = Options {
        overrides: overrides.iter().map(|o| (*o).to_owned()).collect(),
        ..Options::default()
    };
    let importer = ConfigImporter::default();
    load(Path::new("s.yaml"), &files, &importer, &options).map_err(|e| e.to_string())
}

/// The link, its contract in words, and the warnings.
fn circuit(link: &str, interfaces: &str, overrides: &[&str]) -> (LinkPlan, String, Vec<String>) {
    let loaded = load_with(link, interfaces, overrides).unwrap_or_else(|e| panic!("{e}"));
    let link = loaded.plan.variants[0].world.links[0].clone();
    let words = match link.server.as_deref() {
        Some(ServerPlan::Cells(Cells {
            category, contract, ..
        })) => {
            let burst = contract.burst().map(|(scr, mbs)| format!(" {scr} {mbs}"));
            let minimum = contract.minimum_rate().map(|r| format!(" from {r}"));
            format!(
                "{category} {}{}{}",
                contract.pcr(),
                burst.unwrap_or_default(),
                minimum.unwrap_or_default()
            )
        }
        other => format!("{other:?}"),
    };
    (link, words, loaded.plan.warnings)
}

#[test]
fn the_only_circuit_of_an_interface_is_named_with_and_without_its_numbers() {
    for name in ["ATM0.1", "ATM0.1 1/32"] {
        let (link, contract, warnings) = circuit("", &format!("{{{name}: up}}"), &[]);
        assert_eq!(contract, "nrt-vbr 768 kb/s 384 kb/s 32");
        assert_eq!(link.overhead.to_string(), "overhead 16 atm");
        assert_eq!(link.policy, "r-LLQ");
        assert_eq!(warnings, [""; 0]);
    }
}

#[test]
fn circuits_of_one_interface_are_told_apart() {
    let (link, contract, _) = circuit("", "{ATM0.2 1/40: up}", &[]);
    assert_eq!(contract, "ubr 500 kb/s from 100 kb/s");
    assert_eq!(link.overhead.to_string(), "overhead 8 atm");
    let e = load_with("", "{ATM0.2: up}", &[]).unwrap_err();
    assert!(
        e.contains("interface ATM0.2 (r.cfg:12) has several circuits"),
        "{e}"
    );
    assert!(
        e.contains("map one of them to the link: ATM0.2 1/40, ATM0.2 1/41"),
        "{e}"
    );
    let e = load_with("", "{ATM0.2 1/42: up}", &[]).unwrap_err();
    assert!(e.contains("has no interface `ATM0.2 1/42`"), "{e}");
}

/// Circuits of one physical interface share its line, also those of several sub-interfaces.
#[test]
fn circuits_of_one_interface_share_its_line() {
    let links = |interfaces: &str, rate: &str| {
        let other = format!("}}\n    other: {{from: a, to: z, rate: {rate}");
        load_with(&other, interfaces, &[])
    };
    let shared = |loaded: &Loaded| -> Vec<Option<(Option<String>, String)>> {
        let of = |l: &LinkPlan| match l.server.as_deref()? {
            ServerPlan::Cells(c) => Some((c.shares.clone(), c.vc.unwrap().to_string())),
            _ => None,
        };
        loaded.plan.variants[0].world.links.iter().map(of).collect()
    };
    let on = |vc: &str| Some((Some("ATM0".to_owned()), vc.to_owned()));
    let two = links("{ATM0.1: up, ATM0.2 1/40: other}", "2 Mb/s").unwrap();
    assert_eq!(shared(&two), [on("1/40"), on("1/32")]);
    // Another interface has another line, and one circuit alone a line of its own.
    let apart = links("{ATM0.1: up, ATM1: other}", "2 Mb/s").unwrap();
    let alone = |vc: &str| Some((None, vc.to_owned()));
    assert_eq!(shared(&apart), [alone("8/35"), alone("1/32")]);
    let e = links("{ATM0.1: up, ATM0.2 1/40: other}", "1 Mb/s").unwrap_err();
    assert!(e.contains("the circuits of `a/ATM0` share one line"), "{e}");
}

#[test]
fn what_does_not_fit_the_line_is_said_at_its_line_of_the_configuration() {
    let e = load_with("", "{ATM0.2 1/41: up}", &[]).unwrap_err();
    let place = "r.cfg:17:3: error: the peak cell rate is above the rate of the link, 2 Mb/s";
    assert!(e.contains(place), "{e}");
}

#[test]
fn what_the_link_says_holds() {
    let own = ", atm: {contract: {cbr: {pcr: 100 kb/s}}}";
    let (_, contract, warnings) = circuit(own, "{ATM0.1: up}", &[]);
    assert_eq!(contract, "cbr 100 kb/s");
    let [differs] = &warnings[..] else {
        panic!("{warnings:?}");
    };
    assert!(differs.contains("has a contract of 384 kb/s, its link `up` a rate of 100 kb/s"));
    let own = ", overhead: pppoa-llc, atm: {phase: aligned}";
    let (link, contract, _) = circuit(own, "{ATM0.1: up}", &[]);
    assert_eq!(contract, "nrt-vbr 768 kb/s 384 kb/s 32");
    assert_eq!(link.overhead.to_string(), "overhead 14 atm");
    let set = ["topology.links.up.atm.contract.nrt-vbr.mbs=5"];
    let (_, contract, _) = circuit("", "{ATM0.1: up}", &set);
    assert_eq!(contract, "nrt-vbr 768 kb/s 384 kb/s 5");
}

#[test]
fn other_frames_are_overhead_of_the_link() {
    let (link, contract, _) = circuit("", "{ATM1: up}", &[]);
    assert_eq!(contract, "ubr 2 Mb/s");
    assert_eq!(link.overhead.to_string(), "overhead 40 atm");
}

#[test]
fn a_link_that_is_replaced_as_a_whole_has_no_circuit() {
    let whole = ["topology.links.up={from: a, to: z, rate: 3 Mb/s}"];
    let e = load_with("", "{ATM0.1: up}", &whole).unwrap_err();
    assert!(e.contains("replace single keys of the link"), "{e}");
}

#[test]
fn a_circuit_is_of_all_links_of_a_group() {
    let group = ["topology.nodes[0]={name: a, count: 2}"];
    let e = load_with("", "{'ATM0.1': 'up-1'}", &group).unwrap_err();
    assert!(
        e.contains("the circuit of ATM0.1 cannot be put on `up-1`"),
        "{e}"
    );
}

/// What the policies of a link count: policers, and shapers and shares; none: what the link adds.
fn counts(link: &str, interfaces: &str, platform: &str) -> [Option<String>; 2] {
    let set = [&*format!("configs[0].platform={platform}")];
    let (link, _, warnings) = circuit(link, interfaces, &set);
    assert!(
        !warnings.iter().any(|w| w.contains("beside each IP packet")),
        "{warnings:?}"
    );
    let counting = link.discipline.line().unwrap().counting;
    [counting.policers, counting.queues].map(|o| o.map(|o| o.to_string()))
}

/// Routers count packets of circuits without trailer, padding and cells; ASR 1000 counts the cells
/// where it shapes.
#[test]
fn a_policy_counts_as_the_router_does() {
    let bytes = |n: &str| Some(format!("{n} B"));
    for platform in ["ios", "ios-pre-hqf", "ios-hqf", "ios-xr"] {
        // LLC and SNAP, 8 B, and 4 B of the router's own.
        assert_eq!(
            counts("", "{ATM0.1: up}", platform),
            [bytes("12"), bytes("12")]
        );
    }
    assert_eq!(counts("", "{ATM0.1: up}", "ios-xe"), [bytes("12"), None]);
    // What the link says holds.
    let own = ", policy_overhead: {police: pppoe-llcsnap}";
    let said = counts(own, "{ATM0.1: up}", "ios-hqf");
    assert_eq!(said, [Some("overhead 40 atm".to_owned()), None]);
}

/// What is asked of one circuit of several.
#[test]
fn understood_names_the_circuits() {
    let read = |name| {
        let importer = ConfigImporter::default();
        importer.understand("r.cfg", ROUTER.as_bytes(), Platform::Ios, Some(name))
    };
    let e = read("atm0.2").unwrap_err().0.remove(0);
    assert_eq!(e.code, "E0723");
    assert_eq!(
        e.hint.as_deref(),
        Some("name one of them: ATM0.2 1/40, ATM0.2 1/41")
    );
    let found = read("atm0.2 1/41").unwrap();
    let circuit = found.interfaces[0].circuit.as_ref().unwrap();
    assert_eq!((circuit.category, circuit.pcr), ("cbr", Some(3_000_000)));
    assert_eq!(circuit.encapsulation, "vc-mux");
    let one = read("ATM0.1 1/32").unwrap();
    assert_eq!(one.interfaces[0].name, "ATM0.1");
    assert_eq!(one.interfaces[0].rate, Some(384_000));
    assert_eq!(one.interfaces[0].rate_from, "the contract of its circuit");
}

/// What a router has measured of its circuits is told apart as they are.
#[test]
fn measured_circuits_have_the_names_of_circuits() {
    let one = |vc: &str| {
        format!(
            "ATM0.2: VC {vc} -

  Service-policy output: LLQ

    Class-map: VOICE (match-all)
      100 packets, 7200 bytes
      30 second offered rate 28000 bps, drop rate 0 bps
      Match: ip dscp ef (46)

"
        )
    };
    let text = one("1/40") + &one("1/41");
    let found = spillgate_import::offered("show.txt", text.as_bytes()).unwrap();
    let names: Vec<&str> = found.policies.iter().map(|p| &*p.interface).collect();
    assert_eq!(names, ["ATM0.2 1/40", "ATM0.2 1/41"]);
    let traffic = |interface: &str| {
        let yaml = format!(
            "schema_version: 1
topology: {{nodes: [a, z], links: {{up: {{from: a, to: z, rate: 2 Mb/s}}}}}}
traffic:
  - show-policy-map: {{file: show.txt, from: a, to: z, interface: {interface}}}
"
        );
        let files: BTreeMap<PathBuf, Vec<u8>> = [
            (PathBuf::from("s.yaml"), yaml.into_bytes()),
            (PathBuf::from("show.txt"), text.clone().into_bytes()),
        ]
        .into();
        let options = Options::default();
        let importer = ConfigImporter::default();
        load(Path::new("s.yaml"), &files, &importer, &options).map_err(|e| e.to_string())
    };
    assert!(traffic("atm0.2 1/41").is_ok());
    let e = traffic("atm0.2").unwrap_err();
    assert!(e.contains("the output has 2 output policies"), "{e}");
    assert!(e.contains("one of ATM0.2 1/40, ATM0.2 1/41"), "{e}");
}
