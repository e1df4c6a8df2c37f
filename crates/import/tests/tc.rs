//! Commands of Linux `tc` against what they should become.
//!
//! `SPILLGATE_BLESS=1 cargo test -p spillgate-import` writes the expected files anew; read the
//! difference before committing it.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use spillgate_core::Rate;
use spillgate_core::testkit::effort;
use spillgate_import::{ConfigImporter, tc};
use spillgate_queueing::Recipe;
use spillgate_scenario::{Diagnostics, Imported, Importer as _, Platform, Severity};

fn scripts() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tc");
    let all = fs::read_dir(root).unwrap().map(|e| e.unwrap().path());
    let mut all: Vec<_> = all
        .filter(|p| p.extension().is_some_and(|e| e == "sh"))
        .collect();
    all.sort();
    assert!(!all.is_empty());
    all
}

/// All that was made of a script, as text.
fn told(read: Result<Imported, Diagnostics>) -> String {
    let imported = match read {
        Ok(imported) => imported,
        Err(errors) => return format!("{errors}\n"),
    };
    let mut text = String::new();
    for (name, i) in &imported.interfaces {
        let policy = i.output_policy.as_ref();
        let counts = i.counted.counting.queues.map(|c| c.in_words());
        let _ = writeln!(
            text,
            "device {name}, line {}: policy {policy:?}, counts {}",
            i.line,
            counts.unwrap_or_default()
        );
    }
    for (name, policy) in &imported.policies {
        let json = serde_json::to_string_pretty(policy).unwrap();
        let _ = writeln!(text, "\npolicy {name}: {json}");
        let rate = Rate::from_bps(100_000_000).unwrap();
        if let Err((_, problem)) =
            Recipe::resolve(name, &imported.policies, rate).map_err(|e| (0, e))
        {
            let _ = writeln!(text, "cannot be built: {problem:?}");
        }
    }
    for u in &imported.unmodelled {
        let _ = writeln!(text, "\nline {}: {}\n  {}", u.line, u.text, u.reason);
    }
    for w in &imported.warnings {
        let _ = writeln!(text, "\n{w}");
    }
    text
}

#[test]
fn scripts_become_what_is_expected() {
    for path in scripts() {
        let file = path.file_name().unwrap().to_str().unwrap();
        let bytes = fs::read(&path).unwrap();
        let got = told(ConfigImporter::default().tc(file, &bytes));
        let expected = path.with_extension("expected");
        if std::env::var_os("SPILLGATE_BLESS").is_some() {
            fs::write(&expected, got).unwrap();
            continue;
        }
        let want = fs::read_to_string(&expected).unwrap_or_default();
        assert!(want == got, "{} differs:\n{got}", expected.display());
    }
}

/// With `strict` what `tc` refuses is an error at its place.
#[test]
fn strictly_what_is_wrong_is_an_error() {
    let bytes = include_bytes!("tc/wrong.sh");
    let errors = tc::read("wrong.sh", bytes, true).unwrap_err();
    let lines: Vec<_> = errors.0.iter().filter_map(|d| d.line).collect();
    assert_eq!(lines, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    assert!(errors.0.iter().all(|d| d.severity == Severity::Error));
}

/// A file is told by what is in it.
#[test]
fn a_script_is_told_from_a_configuration() {
    let script = b"tc qdisc add dev eth0 root fq_codel\n";
    let importer = ConfigImporter::default();
    let any = importer.any("x", script, Platform::Ios).unwrap();
    assert!(any.policies.contains_key("eth0"));
    let d = &importer.ios("x", script, Platform::Ios).unwrap_err().0[0];
    assert_eq!(d.code, "E0718");
    assert!(d.hint.as_ref().is_some_and(|h| h.contains("`tc:`")));
    let d = &importer
        .tc("x", b"policy-map A\n class B\n  priority 10\n")
        .unwrap_err()
        .0[0];
    assert_eq!(d.code, "E0718");
    let understood = importer.understand("x", script, Platform::Ios, Some("eth0"));
    assert_eq!(understood.unwrap().interfaces.len(), 1);
    let no = importer.understand("x", script, Platform::Ios, Some("eth9"));
    assert_eq!(no.unwrap_err().0[0].code, "E0716");
}

/// Reads and checks what holds for every input.
fn read(bytes: &[u8]) {
    let lines = bytes.split(|b| *b == b'\n').count() as u32;
    let located = |line: Option<u32>| line.is_some_and(|l| (1..=lines).contains(&l));
    match tc::read("in.sh", bytes, false) {
        Ok((imported, counts)) => {
            assert_eq!(counts.total, counts.blank + counts.queueing + counts.other);
            for u in &imported.unmodelled {
                assert!(located(Some(u.line)) && !u.reason.is_empty(), "{u:?}");
            }
            for w in &imported.warnings {
                assert!(located(w.line) && w.severity == Severity::Warning, "{w:?}");
            }
            for i in imported.interfaces.values() {
                let policy = i.output_policy.as_ref();
                assert!(policy.is_none_or(|(p, _)| imported.policies.contains_key(p)));
            }
            // Each policy can be built, or is refused with a reason.
            let rate = Rate::from_bps(1_000_000).unwrap();
            for name in imported.policies.keys() {
                let _ = Recipe::resolve(name, &imported.policies, rate);
            }
        }
        Err(errors) => {
            assert!(errors.has_errors());
            assert!(errors.0.iter().all(|d| located(d.line)), "{errors}");
        }
    }
}

fn all_scripts() -> Vec<u8> {
    scripts()
        .iter()
        .flat_map(|p| fs::read(p).unwrap())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128 * effort()))]

    /// Whatever the bytes, the importer ends with a result or with located errors.
    #[test]
    fn broken_scripts_are_read_or_refused(
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_u8..3), 1..40)
    ) {
        let mut bytes = all_scripts();
        for (at, byte, how) in places {
            let at = at.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => { bytes.remove(at); }
                _ => bytes.insert(at, byte),
            }
        }
        read(&bytes);
    }

    /// So it is with words in any order.
    #[test]
    fn shuffled_words_are_read_or_refused(
        chosen in prop::collection::vec((any::<prop::sample::Index>(), 0_u8..8), 1..200)
    ) {
        let text = String::from_utf8(all_scripts()).unwrap();
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let mut script = "tc qdisc add dev eth0 root handle 1: drr\n".to_owned();
        for (word, new_line) in chosen {
            script.push_str(words[word.index(words.len())]);
            script.push(if new_line == 0 { '\n' } else { ' ' });
        }
        read(script.as_bytes());
    }
}
