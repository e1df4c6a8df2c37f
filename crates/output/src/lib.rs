//! Results as tables (summaries with intervals, verdicts, series), as JSON and
//! as Parquet. What a front end prints or writes comes from here, so that all
//! front ends say the same.
#![forbid(unsafe_code)]

mod json;
mod report;
mod tidy;

pub use json::write_json;
pub use report::{
    DelayCurve, Description, FailureDescription, Report, RunRow, SeriesRow, SessionsDescription,
    SummaryRow, VerdictRow, describe,
};
pub use tidy::write_parquet;
