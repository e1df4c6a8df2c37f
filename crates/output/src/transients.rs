//! Classes that had not settled when measuring began.

use serde::Serialize;

use crate::report::Report;

/// An initial transient of a class in a run that was observed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TransientRow {
    /// Variant.
    pub variant: String,
    /// Number of the run.
    pub run: u32,
    /// Class of service.
    pub class: String,
    /// `throughput` or `owd_mean`.
    pub metric: &'static str,
    /// By how much the mean of the measured period differs from what it settles at, as a share of that.
    pub bias: f64,
    /// The warm-up that would do, in seconds; none if the run ends before it settles.
    pub warmup: Option<f64>,
}

impl Report {
    /// The initial transients of the observed runs.
    pub fn transients(&self) -> Vec<TransientRow> {
        let of = |f: &spillgate_sim::Finished| {
            let variant = &self.plan().variants[f.info.variant];
            let row = |u: &spillgate_sim::Unsettled| TransientRow {
                variant: variant.name.clone(),
                run: f.info.run,
                class: variant.world.classes[u.class].clone(),
                metric: u.metric.name(),
                bias: u.bias,
                warmup: u.warmup.map(|w| w.as_secs_f64()),
            };
            f.outcome.unsettled.iter().map(row).collect::<Vec<_>>()
        };
        self.finished().iter().flat_map(of).collect()
    }
}
