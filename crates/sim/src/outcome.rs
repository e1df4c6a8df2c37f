//! The results of a run: one value for every key of the layout, the delay distribution of each
//! class, and time series.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use spillgate_core::{Dur, Time};
use spillgate_measure::table::Row;
use spillgate_measure::{Bounds, PackedHistogram, Sampled};

use crate::admission::Admission;
use crate::arrivals::Unsettled;
use crate::tokens::Draining;

/// The quantiles of a [`Curve`].
pub const QUANTILES: [f64; 35] = [
    0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7,
    0.75, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995, 0.9998, 0.9999, 0.99995,
    0.99998, 0.99999, 0.999999, 1.0,
];

/// A time series. Stored runs have it in this form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// What was sampled: `wan/voice`, `class voice`, `link wan`.
    #[serde(rename = "where")]
    pub place: String,
    /// Its metric's name.
    pub metric: Cow<'static, str>,
    /// The time of the first sample.
    #[serde(with = "spillgate_core::stored::ps")]
    pub start: Time,
    /// The period of sampling.
    #[serde(with = "spillgate_core::stored::ps")]
    pub step: Dur,
    /// The values; NaN where undefined.
    #[serde(rename = "values", with = "spillgate_core::stored::doubles")]
    pub v: Vec<f64>,
}

impl Curve {
    /// Its unit.
    pub fn unit(&self) -> &'static str {
        Sampled::from_name(&self.metric).map_or("", Sampled::unit)
    }

    /// Sampling instants in seconds.
    pub fn times(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.v.len() as u64).map(|i| (self.start + self.step * i).as_secs_f64())
    }
}

/// The result of one run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// One value for every key of [`layout`](crate::layout); NaN where undefined.
    pub values: Row,
    /// The possible range of each value that depends on packets or transfers outstanding when the
    /// run ended, ascending by index.
    pub bounds: Vec<Bounds>,
    /// One-way delays of each class of service.
    pub class_delays: Vec<PackedHistogram>,
    /// Time series, if the run was observed.
    pub series: Vec<Curve>,
    /// Token buckets that drain for longer than the warm-up, if the run was observed.
    pub draining: Vec<Draining>,
    /// Classes with an initial transient, if the run was observed.
    pub unsettled: Vec<Unsettled>,
    /// What flow admission did, by link, then by flow and time.
    pub admissions: Vec<Admission>,
    /// Fingerprint of the event stream.
    pub digest: String,
    /// Events handled.
    pub events: u64,
    /// Packets emitted.
    pub packets: u64,
}
