//! Any bytes as a packet capture: counts and flows, or an error at its byte.
#![no_main]

use libfuzzer_sys::fuzz_target;
use spillgate_capture::{Grouping, Selection, SurveyError, survey};

fuzz_target!(|data: &[u8]| {
    match survey(data, &Selection::default(), Grouping::Flow, 1000) {
        Ok(found) => {
            assert_eq!(found.packets, found.counts.ip);
            assert!(found.flows.groups() as usize <= found.flows.entries().len());
            assert!(found.span.first <= found.span.last && found.span.last <= found.length);
            assert_eq!(found.file_len, data.len() as u64);
        }
        Err(SurveyError::Capture(e)) => assert!(e.offset <= data.len() as u64),
        Err(SurveyError::TooManyFlows { limit, .. }) => assert_eq!(limit, 1000),
    }
});
