//! Any bytes as a stored run: an outcome that can be stored again, or damage.
//!
//! Odd inputs are taken as a record, which is compressed and sealed as a file is; even ones as the
//! file.
#![no_main]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use spillgate_output::store::{decode, encode, sealed};
use spillgate_scenario::plan::Plan;
use spillgate_scenario::{NoImporter, Options, load};

const SCENARIO: &[u8] = b"schema_version: 1
topology: {nodes: [a, b], links: {wan: {from: a, to: b, rate: 10 Mb/s}}}
traffic:
  - flow: {name: voice, from: a, to: b, source: {cbr: {rate: 64 kb/s, packet: 200 B}}}
";

static PLAN: LazyLock<Plan> = LazyLock::new(|| {
    let files: BTreeMap<PathBuf, Vec<u8>> = BTreeMap::from([("s.yaml".into(), SCENARIO.to_vec())]);
    load(
        Path::new("s.yaml"),
        &files,
        &NoImporter,
        &Options::default(),
    )
    .expect("valid")
    .plan
});

fuzz_target!(|data: &[u8]| {
    let Some((kind, rest)) = data.split_first() else {
        return;
    };
    let file = match kind % 2 {
        0 => rest.to_vec(),
        _ => sealed(&snap::raw::Encoder::new().compress_vec(rest).expect("short")),
    };
    let world = &PLAN.variants[0].world;
    for observed in [false, true] {
        if let Ok(Some(outcome)) = decode("", &file, world, observed) {
            let again = encode("", &outcome, world, observed);
            assert!(decode("", &again, world, observed).is_ok());
        }
    }
});
