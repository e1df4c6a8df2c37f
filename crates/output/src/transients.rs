//! Classes that had not settled when measuring began.

use std::borrow::Cow;

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
    pub metric: Cow<'static, str>,
    /// By how much the mean of the measured period differs from what it settles at, as a share of
    /// that.
    pub bias: f64,
    /// The warm-up that would do, in seconds; none if the run ends before it settles.
    pub warmup: Option<f64>,
}

impl Report {
    /// What policers and shapers on the way of a class have not yet begun to do when measuring
    /// begins.
    pub(crate) fn note(&self, variant: usize, class: &str) -> Option<String> {
        let world = &self.plan().variants[variant].world;
        let crosses = |link: u32| {
            let mut flows = world.flows.iter();
            flows.any(|f| {
                world.classes[usize::from(f.class)] == class
                    && world.routes[f.route as usize].contains(&link)
            })
        };
        let draining = self.of(variant).flat_map(|f| &f.outcome.draining);
        let slowest = draining
            .filter(|d| crosses(d.link))
            .max_by_key(|d| (d.lasts, std::cmp::Reverse(&d.place)))?;
        let end = (world.warmup + world.duration).as_secs_f64();
        let lasts = slowest.lasts.as_secs_f64();
        let when = if lasts > end {
            "warm-up and period together"
        } else {
            "the warm-up"
        };
        Some(format!(
            "the {} B of tokens that {} holds at the start last {lasts:.0} s, longer than {when}: until then it admits \
             more than its rate",
            slowest.burst, slowest.place
        ))
    }

    /// The initial transients of the observed runs.
    pub fn transients(&self) -> Vec<TransientRow> {
        let of = |f: &spillgate_sim::Finished| {
            let variant = &self.plan().variants[f.info.variant];
            let row = |u: &spillgate_sim::Unsettled| TransientRow {
                variant: variant.name.clone(),
                run: f.info.run,
                class: variant.world.classes[u.class as usize].clone(),
                metric: u.metric.clone(),
                bias: u.bias,
                warmup: u.warmup.map(|w| w.as_secs_f64()),
            };
            f.outcome.unsettled.iter().map(row).collect::<Vec<_>>()
        };
        self.finished().iter().flat_map(of).collect()
    }
}
