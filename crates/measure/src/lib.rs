//! What is measured in a run, and what many runs say together.
//!
//! * On the packet path: [`Histogram`], [`Jitter`], [`FlowMeter`],
//!   [`TimeWeighted`]. Plain integers; nothing allocates in steady state.
//! * Within a run: [`Measures`] and [`Samples`] that components put, [`jain`].
//! * Across runs: [`stats`] (intervals, warm-up), [`sla`]
//!   (verdicts), [`table`] (which numbers a run yields, and their summary).
//!
//! Times are recorded in picoseconds and reported in seconds. What is
//! undefined (the delay of no packet) is `None` for one value and NaN in a row
//! of many; every statistic skips NaN.
#![forbid(unsafe_code)]

mod bounds;
mod catalog;
mod fairness;
mod histogram;
mod jitter;
mod levels;
mod measures;
mod meter;
mod queue;
mod row;
mod series;
pub mod sla;
pub mod stats;
pub mod table;
mod volume;
mod weighted;
mod window;

pub use bounds::Unknown;
pub use catalog::{Metric, Needs, Sampled, Tag};
pub use fairness::jain;
pub use histogram::{Histogram, PackedHistogram};
pub use jitter::Jitter;
pub use levels::Levels;
pub use measures::{Bounds, Measures, Number, Place};
pub use meter::{FlowMeter, Losses};
pub use queue::{QueueMeter, Through, Waits};
pub use series::{SampledPlace, Samples, extent, outline};
pub use volume::Volume;
pub use weighted::TimeWeighted;
pub use window::Window;
