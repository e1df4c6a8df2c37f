//! Scenario files.
#![forbid(unsafe_code)]

pub mod plan;
pub mod schema;
