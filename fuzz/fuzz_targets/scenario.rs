//! Any bytes as a scenario: a plan, or errors with their place.
//!
//! The input is split at lines that read `%%`: the scenario, the table
//! `t.csv`, the configuration `r.cfg`, and overrides, one per line.
#![no_main]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use libfuzzer_sys::fuzz_target;
use spillgate_import::ConfigImporter;
use spillgate_scenario::{Options, load};

fuzz_target!(|data: &[u8]| {
    let mut parts = split(data).into_iter();
    let mut files: BTreeMap<PathBuf, Vec<u8>> = BTreeMap::new();
    for name in ["s.yaml", "t.csv", "r.cfg"] {
        files.insert(name.into(), parts.next().unwrap_or_default().to_vec());
    }
    let overrides = String::from_utf8_lossy(parts.next().unwrap_or_default());
    let opts = Options {
        overrides: overrides.lines().take(8).map(str::to_owned).collect(),
        ..Options::default()
    };
    match load(Path::new("s.yaml"), &files, &ConfigImporter::default(), &opts) {
        Ok(loaded) => {
            assert!(!loaded.plan.variants.is_empty());
            // What was checked must hold together.
            for v in &loaded.plan.variants {
                let w = &v.world;
                for f in &w.flows {
                    assert!(usize::from(f.class) < w.classes.len());
                    let route = &w.routes[f.route as usize];
                    let ends = route.first().zip(route.last());
                    let ends =
                        ends.map(|(a, b)| (w.links[*a as usize].from, w.links[*b as usize].to));
                    assert_eq!(ends, Some((f.from, f.to)));
                    assert_eq!(f.back.is_some(), f.traffic.is_closed_loop());
                }
            }
            let _ = loaded.plan.memory_bytes(4);
        }
        Err(errors) => {
            assert!(errors.has_errors());
            let _ = errors.to_string();
        }
    }
});

fn split(data: &[u8]) -> Vec<&[u8]> {
    const MARK: &[u8] = b"\n%%\n";
    let mut parts = Vec::new();
    let mut rest = data;
    while let Some(at) = rest.windows(MARK.len()).position(|w| w == MARK) {
        parts.push(&rest[..=at]);
        rest = &rest[at + MARK.len()..];
    }
    parts.push(rest);
    parts
}
