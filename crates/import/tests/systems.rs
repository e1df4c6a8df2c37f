//! Which system a configuration is of: small ones of each, and what they are taken for.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use spillgate_import::ConfigImporter;
use spillgate_scenario::Platform;

/// What the message says of each system, by the beginning of the fixture's name.
const NAMES: [(&str, &str); 10] = [
    ("eos", "an Arista EOS configuration"),
    ("fortios", "a FortiOS configuration"),
    ("junos", "a Junos configuration"),
    ("none", "nothing of Cisco IOS is recognized"),
    ("nx-os", "an NX-OS configuration"),
    ("routeros", "a MikroTik RouterOS configuration"),
    ("sros", "a Nokia SR OS configuration"),
    ("tc", "tc commands of Linux"),
    ("vrp", "a Huawei VRP configuration"),
    ("vyos", "a VyOS configuration"),
];

/// What a text is taken for: `ios`, `ios-xr` or one of [`NAMES`].
fn taken_for(text: &str) -> String {
    match ConfigImporter::default().read("x.cfg", text.as_bytes(), Platform::Ios) {
        Ok((imported, _)) if imported.warnings.iter().any(|w| w.code == "W0711") => {
            "ios-xr".to_owned()
        }
        Ok(_) => "ios".to_owned(),
        Err(errors) => {
            let e = &errors.0[0];
            assert_eq!(e.code, "E0718", "{errors}");
            let known = NAMES.iter().find(|(_, said)| e.message.contains(said));
            known.map_or_else(|| e.message.clone(), |(name, _)| (*name).to_owned())
        }
    }
}

/// Every fixture: the system that its name begins with, and its text.
fn fixtures() -> Vec<(String, String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems");
    let mut all: Vec<_> = fs::read_dir(root)
        .unwrap()
        .map(|e| e.unwrap().path())
        .map(|path| {
            let file = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let (system, _) = file.rsplit_once('-').unwrap();
            let text = fs::read_to_string(&path).unwrap();
            (system.to_owned(), file.clone(), text)
        })
        .collect();
    all.sort();
    all
}

/// The confusion matrix: nothing off its diagonal. Each as it is, with lines of DOS, without
/// indentation, and behind a prompt's echo.
#[test]
fn every_system_is_taken_for_itself() {
    let mut wrong = Vec::new();
    let fixtures = fixtures();
    for (system, file, text) in &fixtures {
        let flat: String = text.lines().map(|l| format!("{}\n", l.trim())).collect();
        for (form, text) in [
            ("as it is", text.clone()),
            ("CRLF", text.replace('\n', "\r\n")),
            ("flat", flat),
        ] {
            let got = taken_for(&text);
            if got != *system {
                wrong.push(format!("{file} ({form}): {got}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    for (system, _) in NAMES {
        let of = fixtures.iter().filter(|(s, ..)| s == system).count();
        assert!(of >= 3, "{system}: {of}");
    }
}

/// The error stands at a line that says so, and names what would be read.
#[test]
fn the_line_that_says_so_is_shown() {
    for (system, file, text) in fixtures() {
        let read = ConfigImporter::default().read("x.cfg", text.as_bytes(), Platform::Ios);
        let Err(errors) = read else { continue };
        let e = &errors.0[0];
        assert_ne!((system.as_str(), e.line), ("ios", None), "{file}");
        assert!(
            e.hint.as_deref().is_some_and(|h| h.contains("IOS XR")),
            "{file}: {errors}"
        );
        let line = text.lines().nth(e.line.unwrap() as usize - 1).unwrap();
        match system.as_str() {
            // What is no configuration may be anything: nothing of it is shown.
            "none" => assert_eq!((&e.found, &e.source, e.unquoted), (&None, &None, true)),
            _ => assert!(
                line.contains(e.found.as_deref().unwrap()),
                "{file}: {errors}"
            ),
        }
    }
}

/// Configurations of IOS stay what they are.
#[test]
fn what_is_read_today_is_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/configs");
    for path in fs::read_dir(root).unwrap().map(|e| e.unwrap().path()) {
        if path.extension().is_some_and(|e| e == "cfg") {
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            let got = taken_for(&text);
            assert!(
                ["ios", "ios-xr"].contains(&got.as_str()),
                "{}: {got}",
                path.display()
            );
        }
    }
}

/// A line that does not begin as an abbreviated command does, such as `pol`: there is no vowel.
const LINE: &str = "[bcdfghjklmnpqrstvwxz]{1,3} [a-z]{9,12}( [A-Za-z0-9,.]{1,9}){0,8}";

proptest! {
    /// Prose, numbers and bytes are no configuration.
    #[test]
    fn text_at_random_is_none(lines in proptest::collection::vec(LINE, 1..20)) {
        prop_assert_eq!(taken_for(&lines.join("\n")), "none");
    }
}
