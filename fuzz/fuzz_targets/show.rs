//! Any bytes as an output of `show policy-map interface`: numbers, or errors with their place.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Err(errors) = spillgate_import::offered("fuzz.txt", data) {
        assert!(errors.has_errors());
        assert!(errors.0.iter().all(|e| e.line.is_some()));
        let _ = errors.to_string();
    }
    let _ = spillgate_import::is_show_output(data);
});
