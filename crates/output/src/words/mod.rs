//! What a reader is told of results in sentences, so that every front end and every saved run says
//! the same.

mod assumptions;
mod conclusion;
mod overload;
mod remarks;
mod sharing;

use serde::Serialize;
use spillgate_core::show::general;
use spillgate_measure::table::{Row, summarize_each};
use spillgate_scenario::plan::{Plan, Traffic};
use spillgate_scenario::schema::Looks;
use spillgate_sim::quantile_error;

use crate::report::Report;
pub use conclusion::Conclusion;
use remarks::{Remarks, Value};
use sharing::Alike;

/// What is said of results beside their numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Words {
    /// What to know of the runs before believing their numbers.
    pub remarks: Vec<String>,
    /// What the verdicts come to; null if nothing is required.
    pub conclusion: Option<Conclusion>,
    /// What holds in every run of the scenario and may not hold in a network.
    pub assumptions: Vec<String>,
}

/// What they depend on beside the results.
struct Facts {
    variants: Vec<String>,
    runs: u32,
    /// The least and the most finished runs of a variant.
    finished: (usize, usize),
    flows: usize,
    connections: usize,
    sessions: usize,
    /// The classes of alike connections, by variant.
    alike: Vec<Vec<Alike>>,
    /// Whether a link has no policy.
    bare: bool,
    /// Seconds.
    warmup: f64,
    correction: String,
    /// Of verdicts, in 0..1.
    level: f64,
    /// Whether the verdicts hold however often one looks.
    looks_again: bool,
    quantile_error: f64,
}

impl Facts {
    fn of(plan: &Plan) -> Self {
        let first = plan.variants.first().map(|v| &*v.world);
        let flows = || first.into_iter().flat_map(|w| &w.flows);
        let count = |wanted: fn(&Traffic) -> bool| flows().filter(|f| wanted(&f.traffic)).count();
        let mut links = plan.variants.iter().flat_map(|v| &v.world.links);
        Self {
            variants: plan.variants.iter().map(|v| v.name.clone()).collect(),
            runs: plan.runs,
            finished: (plan.runs as usize, plan.runs as usize),
            flows: flows().count(),
            connections: count(|t| matches!(t, Traffic::Tcp { .. })),
            sessions: count(|t| matches!(t, Traffic::Sessions(_))),
            alike: plan
                .variants
                .iter()
                .map(|v| sharing::alike(&v.world))
                .collect(),
            bare: links.any(|l| l.policy == BARE),
            warmup: first.map_or(0.0, |w| w.warmup.as_secs_f64()),
            correction: plan.correction.name().to_owned(),
            level: plan.level,
            looks_again: plan.looks == Looks::Any,
            quantile_error: first.map_or(0.0, |w| quantile_error(w.flows.len())),
        }
    }
}

impl Facts {
    /// The level of verdicts as text: `95 %`.
    fn level(&self) -> String {
        format!("{} %", general(100.0 * self.level, 6))
    }

    /// The number of flows that neither loss nor delay slows down.
    fn deaf(&self) -> usize {
        self.flows.saturating_sub(self.connections + self.sessions)
    }

    #[cfg(test)]
    fn nothing() -> Self {
        Self {
            variants: vec!["a".to_owned()],
            runs: 5,
            finished: (5, 5),
            flows: 0,
            connections: 0,
            sessions: 0,
            alike: Vec::new(),
            bare: false,
            warmup: 1.0,
            correction: "none".to_owned(),
            level: 0.95,
            looks_again: false,
            quantile_error: 0.0,
        }
    }
}

/// The policy of a link that has none.
const BARE: &str = "none";

impl Report {
    pub(crate) fn said(&self) -> Words {
        let verdicts = self.verdicts();
        let mut facts = Facts::of(self.plan());
        let mut remarks = Remarks::new(&facts.variants);
        facts.finished = (usize::MAX, 0);
        for variant in 0..facts.variants.len() {
            let layout = self.layout(variant);
            let runs: Vec<&Row> = self.of(variant).map(|f| &f.outcome.values).collect();
            let (least, most) = facts.finished;
            facts.finished = (least.min(runs.len()), most.max(runs.len()));
            let same = |a: &Row, b: &Row| {
                a.iter()
                    .zip(b.iter())
                    .all(|(a, b)| a.to_bits() == b.to_bits())
            };
            if !runs.windows(2).all(|pair| same(pair[0], pair[1])) {
                remarks.differ(variant);
            }
            let wanted = |scope, metric| remarks::wants(scope, metric);
            for (key, i) in summarize_each(layout, &runs, |k| wanted(k.scope, k.metric)) {
                let value = Value {
                    scope: key.scope,
                    name: layout.name(key),
                    metric: key.metric,
                    mean: i.mean,
                    width: i.high - i.low,
                    runs: i.n,
                };
                remarks.take(variant, &value);
            }
        }
        let sampled = self.finished().iter();
        let sampled = sampled.filter(|f| !f.outcome.series.is_empty());
        let sampled = sampled.map(|f| f.info.run).collect();
        Words {
            remarks: remarks.said(&facts, &self.transients()),
            conclusion: conclusion::of(&facts, verdicts),
            assumptions: assumptions::of(&facts, verdicts, &sampled),
        }
    }
}

/// Several names in a sentence, the first of many.
fn and(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first, second, third, more @ ..] if more.len() > 1 => {
            format!("{first}, {second}, {third} and {} more", more.len())
        }
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}
