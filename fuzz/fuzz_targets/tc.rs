//! Any bytes as commands of Linux tc: a result, or errors with their place.
#![no_main]

use libfuzzer_sys::fuzz_target;
use spillgate_import::tc;

fuzz_target!(|data: &[u8]| {
    if let Err(errors) = tc::read("fuzz.sh", data, true) {
        assert!(errors.has_errors());
        assert!(errors.0.iter().all(|e| e.line.is_some()));
        let _ = errors.to_string();
    }
});
