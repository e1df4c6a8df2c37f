//! Results as tables (summaries with intervals, verdicts, series), as JSON and
//! as Parquet. What a front end prints or writes comes from here, so that all
//! front ends say the same.
#![forbid(unsafe_code)]

mod admission;
mod arriving;
mod ceilings;
mod certain;
mod curves;
mod dataset;
mod describe;
mod differences;
mod explain;
mod json;
mod loops;
pub mod pcapng;
mod report;
mod samples;
pub mod store;
mod tidy;
mod transients;
mod verdicts;
pub mod watch;
mod words;
pub mod worst;

pub use admission::AdmissionRow;
pub use arriving::{Arriving, arriving, has_formulas};
pub use ceilings::BoundRow;
pub use curves::write_series;
pub use dataset::{Dataset, DatasetError};
pub use describe::{
    Description, FailureDescription, LinkDescription, Measurement, SessionsDescription, SlaRow,
    describe,
};
pub use differences::{DifferenceRow, Effect};
pub use explain::{PARTS, explanation};
pub use json::write_json;
pub use loops::{Connections, LoopLink, LoopSwitch, loops};
pub use report::{DelayCurve, Report, RunRow, SeriesRow, SummaryRow};
pub use samples::SampleRow;
pub use tidy::write_parquet;
pub use transients::TransientRow;
pub use verdicts::{VerdictRow, Witness};
pub use words::{Conclusion, Words};
