//! What is found in whole files, in every form of output.
//!
//! `SPILLGATE_BLESS=1 cargo test -p spillgate-lint` writes the expected files anew; read the
//! difference before committing it. The SARIF files are checked against the schema of OASIS in
//! `python/tests/test_lint.py`.

use std::fs;
use std::path::{Path, PathBuf};

use spillgate_lint::{Finding, Selection, configuration, json, sarif, scenario, text};
use spillgate_scenario::{Files, Options, Platform};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens")
}

struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        fs::read(folder().join(path))
    }
}

fn found(name: &str) -> Vec<Finding> {
    let all = Selection::default();
    if name.ends_with(".cfg") {
        let bytes = fs::read(folder().join(name)).unwrap();
        return configuration(name, &bytes, Platform::Ios, &all).unwrap();
    }
    scenario(Path::new(name), &Disk, &Options::default(), &all).unwrap()
}

#[track_caller]
fn check(name: &str, extension: &str, got: &str) {
    let expected = folder().join(name).with_extension(extension);
    if std::env::var_os("SPILLGATE_BLESS").is_some() {
        fs::write(&expected, got).unwrap();
        return;
    }
    let want = fs::read_to_string(&expected).unwrap_or_default();
    let differs = want.lines().zip(got.lines()).position(|(a, b)| a != b);
    let line = differs.unwrap_or_else(|| want.lines().count().min(got.lines().count()));
    assert!(
        want == got,
        "{} differs from line {}:\n  want: {:?}\n  got:  {:?}\n",
        expected.display(),
        line + 1,
        want.lines().nth(line),
        got.lines().nth(line)
    );
}

#[test]
fn findings_are_as_expected_in_every_form() {
    for name in [
        "queues.cfg",
        "classes.cfg",
        "wred.cfg",
        "mpls-edge.cfg",
        "circuits.cfg",
        "traffic.yaml",
        "mtu.yaml",
        "arriving.yaml",
        "agreements.yaml",
        "fits.yaml",
        "control.yaml",
        "requirements.yaml",
        "certainty.yaml",
    ] {
        let found = found(name);
        check(name, "txt", &text(&found));
        let shown = |v| serde_json::to_string_pretty(&v).unwrap() + "\n";
        check(name, "json", &shown(json(&found)));
        let mut log = sarif(&found, "0");
        // Only the rules that have found something: others may come and go.
        let run = &mut log["runs"][0];
        let used: Vec<&str> = found.iter().map(|f| f.id).collect();
        let rules = run["tool"]["driver"]["rules"].as_array_mut().unwrap();
        let before: Vec<String> = rules
            .iter()
            .map(|r| r["id"].as_str().unwrap().to_owned())
            .collect();
        rules.retain(|r| used.contains(&r["id"].as_str().unwrap()));
        let kept: Vec<String> = rules
            .iter()
            .map(|r| r["id"].as_str().unwrap().to_owned())
            .collect();
        for result in run["results"].as_array_mut().unwrap() {
            let id = result["ruleId"].as_str().unwrap().to_owned();
            let index = result["ruleIndex"].as_u64().unwrap() as usize;
            assert_eq!(before[index], id);
            result["ruleIndex"] = kept.iter().position(|k| *k == id).into();
        }
        check(name, "sarif", &shown(log));
    }
}

/// What the files hold is what there is: a rule that finds nothing here is a rule without an
/// example.
#[test]
fn the_files_have_most_rules() {
    let mut ids: Vec<&str> = Vec::new();
    for name in [
        "queues.cfg",
        "classes.cfg",
        "wred.cfg",
        "mpls-edge.cfg",
        "circuits.cfg",
        "traffic.yaml",
        "mtu.yaml",
    ] {
        ids.extend(found(name).iter().map(|f| f.id));
    }
    ids.sort_unstable();
    ids.dedup();
    assert!(ids.len() >= 20, "{ids:?}");
}
