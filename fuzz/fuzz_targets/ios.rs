//! Any bytes as a Cisco IOS configuration: a result, or errors with their place.
#![no_main]

use libfuzzer_sys::fuzz_target;
use spillgate_import::ConfigImporter;
use spillgate_scenario::{Importer as _, Platform};

fuzz_target!(|data: &[u8]| {
    for platform in Platform::ALL {
        if let Err(errors) = ConfigImporter::default().ios("fuzz.cfg", data, platform) {
            assert!(errors.has_errors());
            assert!(errors.0.iter().all(|e| e.line.is_some()));
            let _ = errors.to_string();
        }
        let _ = ConfigImporter::default().understand("fuzz.cfg", data, platform, Some("Gi0/0"));
    }
});
