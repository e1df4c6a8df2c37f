//! Results as tables (summaries with intervals, verdicts, series) and as
//! Parquet. What a front end prints or writes comes from here, so that all
//! front ends say the same.
#![forbid(unsafe_code)]

mod report;
mod tidy;

pub use report::{
    DelayCurve, Description, Report, RunRow, SeriesRow, SummaryRow, VerdictRow, describe,
};
pub use tidy::write_parquet;
