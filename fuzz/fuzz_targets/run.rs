//! Any bytes as a file of stored runs: it is read, or it is said why not.
//!
//! The first byte says whether the rest is the file, or a run or names behind right checksums.
#![no_main]

use libfuzzer_sys::fuzz_target;
use spillgate_output::store::{inspect, sealed};

fuzz_target!(|data: &[u8]| {
    let Some((kind, rest)) = data.split_first() else {
        return;
    };
    let file = match kind % 3 {
        0 => rest.to_vec(),
        kind => sealed(kind == 1, rest),
    };
    if let Err(why) = inspect(&file) {
        assert!(!why.is_empty());
    }
});
