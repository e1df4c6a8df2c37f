//! Scenarios that load and scenarios that do not.
//!
//! `good/*.yaml` must load. Each `bad/NAME.yaml` must give exactly the text of
//! `bad/NAME.txt`. A scenario may begin with comment lines that carry options:
//! `#! --set path=value`, `#! --runs N`, `#! --seed N`. Bless with
//! `SPILLGATE_BLESS=1 cargo test -p spillgate-scenario --test corpus`.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::common::Router;
use spillgate_scenario::{Diagnostics, Files, Loaded, Options, load};

/// One folder of the corpus; names in diagnostics stay relative to it.
struct Folder(PathBuf);

impl Files for Folder {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(self.0.join(path))
    }
}

fn folder(name: &str) -> Folder {
    Folder(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests")
            .join(name),
    )
}

/// The scenarios of a folder, in order.
fn scenarios(folder: &Folder) -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> = fs::read_dir(&folder.0)
        .unwrap()
        .map(|e| PathBuf::from(e.unwrap().file_name()))
        .filter(|n| n.extension().is_some_and(|x| x == "yaml"))
        .collect();
    names.sort();
    assert!(!names.is_empty());
    names
}

fn options(folder: &Folder, name: &Path) -> Options {
    let bytes = fs::read(folder.0.join(name)).unwrap();
    let mut opts = Options::default();
    for line in String::from_utf8_lossy(&bytes).lines() {
        match line.strip_prefix("#! ").and_then(|o| o.split_once(' ')) {
            Some(("--set", value)) => opts.overrides.push(value.to_owned()),
            Some(("--runs", value)) => opts.runs = Some(value.parse().unwrap()),
            Some(("--seed", value)) => opts.seed = Some(value.parse().unwrap()),
            _ => {}
        }
    }
    opts
}

fn load_from(folder: &Folder, name: &Path) -> Result<Loaded, Diagnostics> {
    load(name, folder, &Router, &options(folder, name))
}

#[test]
fn bad_scenarios_are_explained() {
    let folder = folder("bad");
    let bless = std::env::var_os("SPILLGATE_BLESS").is_some();
    let mut failures = Vec::new();
    for name in scenarios(&folder) {
        let text = match load_from(&folder, &name) {
            Ok(_) => {
                failures.push(format!("{}: it loads", name.display()));
                continue;
            }
            Err(e) => format!("{e}\n"),
        };
        let golden = folder.0.join(&name).with_extension("txt");
        if bless {
            fs::write(&golden, &text).unwrap();
        }
        let wanted = fs::read_to_string(&golden).unwrap_or_default();
        if text != wanted {
            failures.push(format!(
                "{}\n--- wanted\n{wanted}--- got\n{text}",
                name.display()
            ));
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

/// Every diagnostic of the corpus names a place and says what to do.
#[test]
fn every_error_is_located_and_has_a_hint() {
    let folder = folder("bad");
    for name in scenarios(&folder) {
        let Err(Diagnostics(errors)) = load_from(&folder, &name) else {
            continue;
        };
        for e in errors
            .iter()
            .filter(|e| e.code != spillgate_scenario::codes::TOO_MANY)
        {
            assert!(!e.file.is_empty(), "{}: {e}", name.display());
            assert!(e.hint.is_some(), "{}: {e}", name.display());
            assert!(
                e.line.is_some() || e.file.starts_with("--"),
                "{}: {e}",
                name.display()
            );
        }
    }
}

#[test]
fn good_scenarios_load() {
    let folder = folder("good");
    for name in scenarios(&folder) {
        let loaded =
            load_from(&folder, &name).unwrap_or_else(|e| panic!("{}\n{e}", name.display()));
        // A loaded scenario written out as JSON is the same scenario.
        let again = serde_json::to_vec(&loaded.scenario).unwrap();
        let copy = name.with_extension("json");
        let files = With {
            inner: &folder,
            name: copy.clone(),
            bytes: again,
        };
        let reloaded = load(&copy, &files, &Router, &Options::default())
            .unwrap_or_else(|e| panic!("{}\n{e}", name.display()));
        assert_eq!(loaded.scenario, reloaded.scenario, "{}", name.display());
        assert_eq!(loaded.plan.hash, reloaded.plan.hash, "{}", name.display());
    }
}

/// A folder with one more file.
struct With<'a> {
    inner: &'a Folder,
    name: PathBuf,
    bytes: Vec<u8>,
}

impl Files for With<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        if path == self.name {
            Ok(self.bytes.clone())
        } else {
            self.inner.read(path)
        }
    }
}
