//! Observers of a run: taps, time series, and explanations of single packets.

pub mod explain;
mod recorder;
pub mod tap;
mod taps;

pub use recorder::sampled;
pub(crate) use recorder::{Sampling, SeriesRecorder};
pub(crate) use taps::flow_infos;
