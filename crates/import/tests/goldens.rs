//! Whole configurations against what they should become.
//!
//! `SPILLGATE_BLESS=1 cargo test -p spillgate-import` writes the expected
//! files anew; read the difference before committing it.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use spillgate_core::Rate;
use spillgate_import::{ConfigImporter, LineCounts};
use spillgate_queueing::aqm::WredSpec;
use spillgate_queueing::spec::{FairQueueSpec, FifoSpec, PrioritySpec};
use spillgate_queueing::{InputRecipe, Recipe};
use spillgate_scenario::{Diagnostic, Imported, ImportedInterface, Importer as _, Platform};

fn configs(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(folder);
    let mut all: Vec<_> = fs::read_dir(root)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "cfg"))
        .collect();
    all.sort();
    assert!(!all.is_empty());
    all
}

/// The platform that the name of a configuration says: `edge.ios-xr.cfg`.
fn platform(path: &Path) -> Platform {
    let stem = path.file_stem().unwrap().to_str().unwrap();
    let said = stem
        .rsplit_once('.')
        .and_then(|(_, p)| Platform::by_name(p));
    said.unwrap_or_default()
}

fn file_name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

#[track_caller]
fn check(path: &Path, extension: &str, got: &str) {
    let expected = path.with_extension(extension);
    if std::env::var_os("SPILLGATE_BLESS").is_some() {
        fs::write(&expected, got).unwrap();
        return;
    }
    let want = fs::read_to_string(&expected).unwrap_or_default();
    if want != got {
        let line = want
            .lines()
            .zip(got.lines())
            .position(|(a, b)| a != b)
            .unwrap_or_else(|| want.lines().count().min(got.lines().count()));
        panic!(
            "{} differs from line {}:\n  want: {:?}\n  got:  {:?}\n",
            expected.display(),
            line + 1,
            want.lines().nth(line),
            got.lines().nth(line)
        );
    }
}

/// Takes keys that have their default out of the parts that always write them,
/// so that the goldens hold what the configuration says.
fn leave_out_defaults(value: &mut Value) {
    let defaults = [
        ("wred", serde_json::to_value(WredSpec::default())),
        ("priority", serde_json::to_value(PrioritySpec::default())),
        ("fair_queue", serde_json::to_value(FairQueueSpec::default())),
        ("flow-wfq", serde_json::to_value(FairQueueSpec::default())),
        ("fifo", serde_json::to_value(FifoSpec::default())),
    ];
    match value {
        Value::Object(map) => {
            for (key, child) in map.iter_mut() {
                leave_out_defaults(child);
                let default = defaults.iter().find(|(k, _)| k == key);
                if let (Some((_, Ok(default))), Value::Object(child)) = (default, child) {
                    child.retain(|k, v| default.get(k) != Some(v));
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(leave_out_defaults),
        _ => {}
    }
}

fn show(imported: &Imported, counts: LineCounts) -> String {
    let mut out = String::new();
    writeln!(out, "{counts:?}\n\npolicies").unwrap();
    for (name, spec) in &imported.policies {
        let line = imported.places[name].spot.line;
        writeln!(out, "  {name} (line {line}): {{").unwrap();
        let mut value = serde_json::to_value(spec).unwrap();
        leave_out_defaults(&mut value);
        // One class a line: what a reader compares with the configuration.
        match value
            .pointer("/class-based/classes")
            .and_then(Value::as_array)
        {
            None => writeln!(out, "    {value}").unwrap(),
            Some(classes) => {
                for class in classes {
                    let mut rest = class.as_object().unwrap().clone();
                    let name = rest.remove("name").unwrap();
                    writeln!(out, "    {name}: {}", Value::Object(rest)).unwrap();
                }
            }
        }
        writeln!(out, "  }}").unwrap();
    }
    writeln!(out, "\ninterfaces").unwrap();
    for (name, i) in &imported.interfaces {
        let bandwidth = i.bandwidth.map(|b| b.to_string());
        let policy = &i.output_policy;
        writeln!(out, "  {name} (line {}): {bandwidth:?} {policy:?}", i.line).unwrap();
        if i.input_policy.is_some() || i.dot1q.is_some() {
            let (arriving, tag) = (&i.input_policy, i.dot1q);
            writeln!(out, "    arriving {arriving:?}, tagged {tag:?}").unwrap();
        }
        if let Some(c) = &i.circuit {
            let (framing, at) = (c.framing.0.word(), c.framing.1.line);
            writeln!(
                out,
                "    {} {:?} of {}, {framing} (line {at})",
                c.vc, c.name, c.interface
            )
            .unwrap();
            let contract = c.contract.as_ref();
            let contract = contract.map(|(c, s)| (serde_json::to_string(c).unwrap(), s.line));
            writeln!(
                out,
                "    {contract:?}, counted {:?}",
                i.counted.counting.policers.map(|c| c.to_string())
            )
            .unwrap();
        }
        if let Some((packets, spot)) = i.tx_ring {
            writeln!(out, "    transmit ring {packets} (line {})", spot.line).unwrap();
        }
        if !i.circuits.is_empty() {
            writeln!(out, "    circuits {:?}", i.circuits).unwrap();
        }
    }
    writeln!(out, "\nunmodelled").unwrap();
    for u in &imported.unmodelled {
        writeln!(
            out,
            "  {}:{}: {}\n      {}",
            u.file, u.line, u.text, u.reason
        )
        .unwrap();
    }
    writeln!(out, "\nwarnings").unwrap();
    for w in &imported.warnings {
        out += &show_diagnostic(w);
    }
    out
}

/// All that the importer puts into a diagnostic, however it is displayed.
fn show_diagnostic(d: &Diagnostic) -> String {
    format!(
        "{}:{}:{} {} {}\n    at {:?}, found {:?} ({} wide), hint {:?}\n    {}\n",
        d.file,
        d.line.unwrap(),
        d.column.unwrap(),
        d.code,
        d.message,
        d.path,
        d.found.as_deref().unwrap_or_default(),
        d.width,
        d.hint.as_deref().unwrap_or_default(),
        d.source.as_deref().unwrap_or_default(),
    )
}

#[test]
fn good_configurations_become_policies() {
    for path in configs("configs") {
        let bytes = fs::read(&path).unwrap();
        match ConfigImporter::default().read(file_name(&path), &bytes, platform(&path)) {
            Ok((imported, counts)) => check(&path, "expected", &show(&imported, counts)),
            Err(e) => panic!("{e}"),
        }
    }
}

#[test]
fn errors_are_all_reported_with_their_place() {
    for path in configs("errors") {
        let bytes = fs::read(&path).unwrap();
        let strict = ConfigImporter { strict: true };
        let errors = strict
            .ios(file_name(&path), &bytes, Platform::Ios)
            .unwrap_err();
        let got: String = errors.0.iter().map(show_diagnostic).collect();
        check(&path, "expected", &got);
    }
}

/// The same files where something may stand in for what is wrong.
#[test]
fn what_stands_in_for_what_is_wrong_is_said() {
    for path in configs("errors") {
        let bytes = fs::read(&path).unwrap();
        let got = match ConfigImporter::default().read(file_name(&path), &bytes, Platform::Ios) {
            Ok((imported, counts)) => show(&imported, counts),
            Err(errors) => errors.0.iter().map(show_diagnostic).collect(),
        };
        check(&path, "lenient", &got);
    }
}

/// The same text with other line ends, indentation or none means the same.
#[test]
fn layout_does_not_change_the_meaning() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/configs/ce-node.cfg");
    let text = fs::read_to_string(path).unwrap();
    let read = |text: &str| {
        ConfigImporter::default()
            .ios("f", text.as_bytes(), Platform::Ios)
            .unwrap()
    };
    let plain = read(&text);
    let flat: String = text
        .lines()
        .map(|l| format!("{}\n", l.trim_start()))
        .collect();
    let tabs: String = text
        .lines()
        .map(|l| format!("{}{}\n", l.replace("  ", "\t").replace(' ', "\t"), " \t"))
        .collect();
    let pasted: String = text.lines().map(|l| format!("    {l}\n")).collect();
    for (what, other) in [
        ("CRLF", text.replace('\n', "\r\n")),
        ("flat", flat),
        ("tabs", tabs),
        ("pasted", pasted),
        ("BOM", format!("\u{feff}{text}")),
        (
            "upper",
            text.replace("class-map", "CLASS-MAP")
                .replace("bandwidth", "BANDWIDTH"),
        ),
    ] {
        let other = read(&other);
        assert_eq!(other.policies, plain.policies, "{what}");
        assert_eq!(other.interfaces, plain.interfaces, "{what}");
        assert_eq!(other.unmodelled.len(), plain.unmodelled.len(), "{what}");
    }
}

#[test]
fn latin1_is_read_and_said_once() {
    let text =
        b"! caf\xE9\npolicy-map P\n description na\xEFve\n class class-default\n  bandwidth 10\n";
    let imported = ConfigImporter::default()
        .ios("l1.cfg", text, Platform::Ios)
        .unwrap();
    assert_eq!(imported.policies.len(), 1);
    assert_eq!(imported.warnings.len(), 1);
    assert_eq!(
        (imported.warnings[0].code, imported.warnings[0].line),
        ("W0701", Some(1))
    );
}

#[test]
fn binary_input_is_an_error_with_a_place() {
    let errors = ConfigImporter::default()
        .ios("b.cfg", b"policy-map P\n\xFF\xFE\0x", Platform::Ios)
        .unwrap_err();
    let d = &errors.0[0];
    assert_eq!((d.code, d.line, d.column), ("E0701", Some(2), Some(3)));
}

/// What the importer makes, the queueing engine takes.
#[test]
fn imported_policies_can_be_built() {
    let rate = Rate::from_bps(100_000_000).unwrap();
    for path in configs("configs") {
        let bytes = fs::read(&path).unwrap();
        let imported = ConfigImporter::default()
            .ios(file_name(&path), &bytes, platform(&path))
            .unwrap();
        for name in imported.policies.keys() {
            if let Err(e) = Recipe::resolve(name, &imported.policies, rate) {
                panic!("{}: {name}: {e:?}", path.display());
            }
            let arriving =
                |i: &ImportedInterface| i.input_policy.as_ref().is_some_and(|p| p.0 == *name);
            if imported.interfaces.values().any(arriving) {
                let built = InputRecipe::resolve(name, &imported.policies, rate);
                assert!(built.is_ok(), "{}: {name}", path.display());
            }
        }
    }
}
