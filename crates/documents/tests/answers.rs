//! Answers without a file system.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use spillgate_documents::{
    ExportRequest, ProfileRequest, bounds, bytes_of, catalog, export, lint_configuration,
    lint_scenario, offered, profile, understand, written,
};
use spillgate_lint::Selection;
use spillgate_scenario::{Chosen, Diagnostics, Files as _, Options};

const SCENARIO: &str = "schema_version: 1
topology:
  nodes: [a, b]
  links: {wan: {from: a, to: b, rate: 2 Mb/s, delay: 5 ms}}
configs: [{ios: sub/edge.cfg, interfaces: {Serial0: wan}}]
traffic:
  - flow: {name: calls, class: voice, dscp: ef, from: a, to: b, source: {cbr: {rate: 80 kb/s, packet: 200 B}}}
  - flow: {name: data, from: a, to: b, source: {cbr: {rate: 1 Mb/s, packet: 1000 B}}}
measurement: {warmup: 0 s, duration: 1 s}
runs: {count: 1, seed: 1}
variants: [{name: one, set: {}}, {name: two, set: {topology.links.wan.rate: 3 Mb/s}}]
";
const CONFIG: &str = "class-map match-any VOICE
 match dscp ef
policy-map EDGE
 class VOICE
  priority percent 20
 class class-default
  fair-queue
interface Serial0
 bandwidth 2000
 service-policy output EDGE
";

fn files() -> BTreeMap<PathBuf, Vec<u8>> {
    let files = [("s.yaml", SCENARIO), ("sub/edge.cfg", CONFIG)];
    files
        .map(|(name, text)| (PathBuf::from(name), text.as_bytes().to_vec()))
        .into()
}

fn scenario() -> &'static Path {
    Path::new("s.yaml")
}

fn config() -> &'static Path {
    Path::new("sub/edge.cfg")
}

#[test]
fn a_configuration_is_understood_and_checked() {
    let found = understand(config(), &files(), "ios", None, false).unwrap();
    let found = serde_json::to_value(&found).unwrap();
    assert_eq!(found["interfaces"][0]["policy"]["name"], "EDGE");
    let found = lint_configuration(config(), &files(), "ios", &Selection::default()).unwrap();
    assert!(found["findings"].is_array() && found["sarif"].is_object());
    let Err(wrong) = understand(config(), &files(), "vax", None, false) else {
        panic!("there is no such platform")
    };
    assert!(wrong.to_string().contains("vax"), "{wrong}");
}

#[test]
fn a_scenario_is_checked_bounded_and_told() {
    let options = Options::default();
    let found = lint_scenario(scenario(), &files(), &options, &Selection::default()).unwrap();
    let count = found["findings"].as_array().map_or(0, Vec::len);
    assert_eq!(found["text"].as_str().map(str::is_empty), Some(count == 0));
    let found = bounds(scenario(), &files(), &options).unwrap();
    let points: Vec<_> = found.as_array().unwrap().iter().collect();
    assert_eq!(points.len(), 2);
    assert_eq!(points[1]["point"], "two");
    let one = Options {
        points: Chosen::These(vec![1]),
        ..Options::default()
    };
    let found = written(scenario(), &files(), &one).unwrap();
    assert_eq!(found["links"][0]["rate"], 3_000_000);
    assert_eq!(found["interfaces"][0]["Serial0"], "wan");
}

/// From a configuration and from the scenario that names it comes the same policy.
#[test]
fn policies_are_exported() {
    let text = |request: ExportRequest| {
        let found = export(&request, &files(), &Options::default()).unwrap();
        found["text"].as_str().unwrap().to_owned()
    };
    let of_config = text(ExportRequest {
        path: config().to_owned(),
        ..ExportRequest::default()
    });
    assert!(of_config.contains("priority percent 20"), "{of_config}");
    let of_scenario = text(ExportRequest {
        path: scenario().to_owned(),
        scenario: true,
        variant: Some("one".to_owned()),
        ..ExportRequest::default()
    });
    assert!(of_scenario.contains("priority"), "{of_scenario}");
    let as_tc = text(ExportRequest {
        path: config().to_owned(),
        to_tc: true,
        ..ExportRequest::default()
    });
    assert!(as_tc.contains("tc qdisc"), "{as_tc}");
}

/// What is not there is said with its name; nothing else is read.
#[test]
fn missing_files_are_named() {
    let missing = Path::new("none.cfg");
    let errors: [Diagnostics; 4] = [
        bytes_of(&files(), missing).unwrap_err(),
        offered(missing, &files()).unwrap_err(),
        bounds(missing, &files(), &Options::default()).unwrap_err(),
        lint_configuration(missing, &files(), "ios", &Selection::default()).unwrap_err(),
    ];
    for error in errors {
        assert!(error.to_string().contains("none.cfg"), "{error}");
    }
    let mut alone = files();
    alone.remove(config());
    let error = bounds(scenario(), &alone, &Options::default()).unwrap_err();
    assert!(error.to_string().contains("edge.cfg"), "{error}");
}

#[test]
fn a_capture_that_is_none_is_refused() {
    let request = ProfileRequest {
        path: scenario().to_owned(),
        ..ProfileRequest::default()
    };
    let capture = files().opener(scenario()).unwrap();
    let error = profile(&request, &*capture, &files()).unwrap_err();
    assert!(error.to_string().contains("s.yaml"), "{error}");
}

/// Every family has members, and every member a name.
#[test]
fn the_catalog_names_everything() {
    let Value::Object(families) = catalog() else {
        panic!("a catalog is an object")
    };
    for (family, members) in families {
        let members = members.as_array().unwrap();
        assert!(!members.is_empty(), "{family}");
        for member in members {
            let name = member.get("kind").or_else(|| member.get("name"));
            assert!(name.is_some_and(Value::is_string), "{family}: {member}");
        }
    }
}
