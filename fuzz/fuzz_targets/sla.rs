//! Any bytes as the requirements of customers: a plan, or errors with their place.
//!
//! The first byte says whether the rest is YAML or a table.
#![no_main]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use libfuzzer_sys::fuzz_target;
use spillgate_scenario::{NoImporter, Options, load};

const SCENARIO: &[u8] = b"schema_version: 1
topology: {nodes: [a, b], links: {wan: {from: a, to: b, rate: 10 Mb/s}}}
voice: {voice: {codec: g711}}
traffic:
  - flow: {name: voice, from: a, to: b, source: {cbr: {rate: 64 kb/s, packet: 200 B}}}
";

fuzz_target!(|data: &[u8]| {
    let Some((kind, rest)) = data.split_first() else {
        return;
    };
    let name = if kind % 2 == 0 { "c.yaml" } else { "c.csv" };
    let files: BTreeMap<PathBuf, Vec<u8>> = BTreeMap::from([
        ("s.yaml".into(), SCENARIO.to_vec()),
        (name.into(), rest.to_vec()),
    ]);
    let opts = Options {
        sla: vec![name.to_owned()],
        ..Options::default()
    };
    match load(Path::new("s.yaml"), &files, &NoImporter, &opts) {
        Ok(loaded) => assert!(loaded.plan.sla.iter().all(|s| s.max.is_some() != s.min.is_some())),
        Err(errors) => {
            assert!(errors.has_errors());
            let _ = errors.to_string();
        }
    }
});
