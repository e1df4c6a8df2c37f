//! What each run gave, metric by metric: what comparisons of variants under the same seeds need,
//! since differences and ratios must be formed within a run before they are averaged.

use serde::Serialize;
use spillgate_measure::table::Scope;

use crate::report::Report;

/// One metric of one thing in every finished run of a variant.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SampleRow {
    /// Variant.
    pub variant: String,
    /// flow, class, dscp, queue, link or total.
    pub scope: &'static str,
    /// Of which one.
    pub name: String,
    /// Metric.
    pub metric: &'static str,
    /// Unit.
    pub unit: &'static str,
    /// Numbers of the finished runs, ascending.
    pub runs: Vec<u32>,
    /// The value in each of these runs; null where undefined.
    pub values: Vec<f64>,
}

impl Report {
    /// The values of every finished run, of the scopes and metrics that are wanted.
    pub fn samples(
        &self,
        scope: impl Fn(Scope) -> bool,
        metric: impl Fn(&str) -> bool,
    ) -> Vec<SampleRow> {
        let mut rows = Vec::new();
        for (variant, v) in self.plan().variants.iter().enumerate() {
            let finished = || self.of(variant);
            let layout = self.layout(variant);
            for (at, key) in layout.keys.iter().enumerate() {
                if !scope(key.scope) || !metric(key.metric.name()) {
                    continue;
                }
                rows.push(SampleRow {
                    variant: v.name.clone(),
                    scope: key.scope.name(),
                    name: layout.name(key).to_owned(),
                    metric: key.metric.name(),
                    unit: key.metric.unit(),
                    runs: finished().map(|f| f.info.run).collect(),
                    values: finished().map(|f| f.outcome.values[at]).collect(),
                });
            }
        }
        rows
    }
}
