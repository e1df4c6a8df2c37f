//! Any bytes as a configuration to check: findings with places, or errors.
#![no_main]

use libfuzzer_sys::fuzz_target;
use spillgate_lint::{Selection, configuration, json, sarif, text};
use spillgate_scenario::Platform;

fuzz_target!(|data: &[u8]| {
    for platform in Platform::ALL {
        match configuration("fuzz.cfg", data, platform, &Selection::default()) {
            Ok(found) => {
                assert!(found.iter().all(|f| f.line.is_some()));
                let _ = (text(&found), json(&found), sarif(&found, "0"));
            }
            Err(errors) => assert!(errors.has_errors()),
        }
    }
});
