//! A campaign's results as rows.

use std::convert::Infallible;
use std::sync::Arc;

use serde::Serialize;
use spillgate_measure::sla::{Correction, Verdict, further_runs, judge, levels, p_value};
use spillgate_measure::stats::Interval;
use spillgate_measure::table::{Layout, Metric, Scope, summarize, summarize_each};
use spillgate_scenario::plan::{Plan, SlaPlan};
use spillgate_scenario::schema::{self, SlaMetric};
use spillgate_sim::{Finished, QUANTILES, layout};

/// One value with its interval over the runs.
#[derive(Clone, Debug, Serialize)]
pub struct SummaryRow {
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
    /// Mean over the runs; null where undefined.
    pub mean: f64,
    /// Lower end of the 95 % Student-t interval; null with fewer than two runs.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Runs with a value.
    pub n: usize,
}

/// A requirement judged.
#[derive(Clone, Debug, Serialize)]
pub struct VerdictRow {
    /// Variant.
    pub variant: String,
    /// Class of service.
    pub class: String,
    /// Whose requirement it is; null for the scenario's own.
    pub customer: Option<String>,
    /// The customer's site that it is about; null for the whole class.
    pub site: Option<String>,
    /// The published objective that it comes from: preset, parameter, share; null if none.
    pub basis: Option<String>,
    /// Metric.
    pub metric: &'static str,
    /// Unit of bound and interval.
    pub unit: &'static str,
    /// The bound.
    pub bound: f64,
    /// `max` or `min`.
    pub side: &'static str,
    /// Mean over the runs.
    pub mean: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Runs with a value.
    pub n: usize,
    /// Confidence level of the verdict, above 0.95 where many are corrected for their number.
    pub level: f64,
    /// pass, fail or undecided; what is incomplete does not pass, see [`Report::verdicts`].
    pub verdict: &'static str,
    /// Runs that would probably settle an undecided verdict; null if none would.
    pub further_runs: Option<u32>,
}

/// One run.
#[derive(Clone, Debug, Serialize)]
pub struct RunRow {
    /// Variant.
    pub variant: String,
    /// Number of the run.
    pub run: u32,
    /// Master seed.
    pub seed: u64,
    /// Fingerprint of its event stream.
    pub digest: String,
    /// Events handled.
    pub events: u64,
    /// Packets emitted.
    pub packets: u64,
}

/// A time series of a run that was observed.
#[derive(Clone, Debug, Serialize)]
pub struct SeriesRow {
    /// Variant.
    pub variant: String,
    /// Number of the run.
    pub run: u32,
    /// What was sampled.
    #[serde(rename = "where")]
    pub place: String,
    /// Metric.
    pub metric: &'static str,
    /// Unit.
    pub unit: &'static str,
    /// Seconds since the start of the run.
    pub t: Vec<f64>,
    /// Values.
    pub v: Vec<f64>,
}

/// The delay distribution of a class, pooled over the runs.
#[derive(Clone, Debug, Serialize)]
pub struct DelayCurve {
    /// Variant.
    pub variant: String,
    /// Class of service.
    pub class: String,
    /// Quantiles, 0 to 1.
    pub q: Vec<f64>,
    /// One-way delay in seconds at each.
    pub owd: Vec<f64>,
    /// The smallest of the runs' own quantiles.
    pub least: Vec<f64>,
    /// The largest of them.
    pub most: Vec<f64>,
}

/// The results of the finished runs of a plan.
pub struct Report {
    plan: Arc<Plan>,
    layouts: Vec<Layout>,
    finished: Vec<Finished>,
}

impl Report {
    /// The report of these runs, which may be fewer than the plan asks for.
    pub fn new(plan: Arc<Plan>, finished: Vec<Finished>) -> Self {
        let layouts = plan.variants.iter().map(|v| layout(&v.world)).collect();
        Self {
            plan,
            layouts,
            finished,
        }
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The finished runs.
    pub fn finished(&self) -> &[Finished] {
        &self.finished
    }

    /// Which values each run of a variant has.
    pub fn layout(&self, variant: usize) -> &Layout {
        &self.layouts[variant]
    }

    fn intervals(&self, variant: usize) -> Vec<Interval> {
        let runs: Vec<&[f64]> = self.of(variant).map(|f| &f.outcome.values[..]).collect();
        summarize(&self.layouts[variant], &runs)
    }

    fn of(&self, variant: usize) -> impl Iterator<Item = &Finished> {
        self.finished
            .iter()
            .filter(move |f| f.info.variant == variant)
    }

    fn variant_name(&self, variant: usize) -> String {
        self.plan.variants[variant].name.clone()
    }

    /// Every value with its interval.
    pub fn summary(&self) -> Vec<SummaryRow> {
        self.summary_of(|_| true)
    }

    /// The values of some scopes with their intervals.
    pub fn summary_of(&self, wanted: impl Fn(Scope) -> bool) -> Vec<SummaryRow> {
        let mut rows = Vec::new();
        let never = self.each_summary_row(wanted, |row| -> Result<(), Infallible> {
            rows.push(row);
            Ok(())
        });
        match never {
            Ok(()) => rows,
        }
    }

    /// Gives the values of some scopes to `take`, one after the other: of thousands of flows,
    /// all rows at once take much more memory than the values.
    ///
    /// # Errors
    /// The first that `take` returns.
    pub fn each_summary_row<E>(
        &self,
        wanted: impl Fn(Scope) -> bool,
        mut take: impl FnMut(SummaryRow) -> Result<(), E>,
    ) -> Result<(), E> {
        for (variant, layout) in self.layouts.iter().enumerate() {
            let runs: Vec<&[f64]> = self.of(variant).map(|f| &f.outcome.values[..]).collect();
            for (key, i) in summarize_each(layout, &runs, |key| wanted(key.scope)) {
                take(SummaryRow {
                    variant: self.variant_name(variant),
                    scope: key.scope.as_str(),
                    name: layout.name(key).to_owned(),
                    metric: key.metric.name(),
                    unit: key.metric.unit(),
                    mean: i.mean,
                    low: i.low,
                    high: i.high,
                    n: i.n,
                })?;
            }
        }
        Ok(())
    }

    /// Every requirement judged in every variant, with the plan's correction for their number: the
    /// family is all of them.
    ///
    /// What is not known is not passed: if packets of the class had neither arrived nor been
    /// lost when a run ended, their delays and losses are missing from the interval, and only
    /// a throughput or goodput (to which they do not count) can pass. The times of transfers
    /// that did not complete are missing too: a percentile of the times cannot pass if, in some
    /// run, they are a larger share than the percentile leaves above it. Flows that wait for
    /// admission to the end of a run count with the time so far, which cannot pass either.
    pub fn verdicts(&self) -> Vec<VerdictRow> {
        let mut cases = Vec::new();
        for (variant, layout) in self.layouts.iter().enumerate() {
            let intervals = self.intervals(variant);
            for sla in &self.plan.sla {
                let (scope, name) = about(sla);
                let metric = metric_of(sla.metric);
                if let Some(at) = layout.position(scope, name, metric) {
                    cases.push((variant, sla, metric, intervals[at]));
                }
            }
        }
        let ps: Vec<f64> = cases
            .iter()
            .map(|(_, sla, _, i)| p_value(i, sla.max, sla.min))
            .collect();
        let correction = match self.plan.correction {
            schema::Correction::None => Correction::None,
            schema::Correction::Bonferroni => Correction::Bonferroni,
            schema::Correction::Holm => Correction::Holm,
        };
        let levels = levels(&ps, correction, Interval::LEVEL);
        let judged = cases.into_iter().zip(levels);
        judged
            .filter_map(|((variant, sla, metric, shown), level)| {
                let (side, bound) = match (sla.max, sla.min) {
                    (Some(max), _) => ("max", max),
                    (None, Some(min)) => ("min", min),
                    (None, None) => return None,
                };
                let interval = match self.plan.correction {
                    schema::Correction::None => shown,
                    _ => shown.at_level(level),
                };
                let judged = judge(&interval, sla.max, sla.min);
                let complete = self.complete(variant, sla, metric);
                let verdict = match judged {
                    Verdict::Pass if !complete => Verdict::Undecided,
                    v => v,
                };
                Some(VerdictRow {
                    variant: self.variant_name(variant),
                    class: sla.class.clone(),
                    customer: sla.customer.clone(),
                    site: sla.site.clone(),
                    basis: sla.basis.clone(),
                    metric: metric.name(),
                    unit: metric.unit(),
                    bound,
                    side,
                    mean: shown.mean,
                    low: shown.low,
                    high: shown.high,
                    n: shown.n,
                    level,
                    verdict: verdict.as_str(),
                    further_runs: match judged {
                        Verdict::Undecided if complete => further_runs(&interval, sla.max, sla.min),
                        _ => None,
                    },
                })
            })
            .collect()
    }

    /// Whether what is missing from the metric of a class leaves its meaning in every run.
    fn complete(&self, variant: usize, sla: &SlaPlan, metric: Metric) -> bool {
        let above = match metric {
            Metric::FctP50 => 0.5,
            Metric::FctP95 => 0.05,
            Metric::FctP99 => 0.01,
            Metric::Throughput
            | Metric::Goodput
            | Metric::TransfersFailed
            | Metric::TransfersRefused
            | Metric::FlowsWaiting
            | Metric::GapMax => return true,
            Metric::WaitingTime | Metric::WaitingTimeMax => {
                return self.all_admitted(variant, sla, 0.0);
            }
            Metric::WaitingTimeP95 => return self.all_admitted(variant, sla, 0.05),
            _ => {
                return self
                    .values(variant, sla, Metric::Unresolved)
                    .all(|n| n == 0.0);
            }
        };
        self.values(variant, sla, Metric::TransfersBegun)
            .zip(self.values(variant, sla, Metric::TransfersDone))
            .all(|(begun, done)| begun - done <= above * begun)
    }

    /// Whether in every run all flows but a share were admitted: the waiting times of the others
    /// are not known.
    fn all_admitted(&self, variant: usize, sla: &SlaPlan, but: f64) -> bool {
        self.values(variant, sla, Metric::FlowsOffered)
            .zip(self.values(variant, sla, Metric::FlowsWaiting))
            .all(|(offered, waiting)| waiting <= but * offered)
    }

    /// The values that the runs of a variant have for a metric of what a requirement is about.
    fn values(
        &self,
        variant: usize,
        sla: &SlaPlan,
        metric: Metric,
    ) -> impl Iterator<Item = f64> + '_ {
        let (scope, name) = about(sla);
        let at = self.layouts[variant].position(scope, name, metric);
        self.of(variant)
            .filter_map(move |f| at.map(|at| f.outcome.values[at]))
    }

    /// The finished runs.
    pub fn runs(&self) -> Vec<RunRow> {
        self.finished
            .iter()
            .map(|f| RunRow {
                variant: self.variant_name(f.info.variant),
                run: f.info.run,
                seed: self.plan.seed,
                digest: f.outcome.digest.clone(),
                events: f.outcome.events,
                packets: f.outcome.packets,
            })
            .collect()
    }

    /// The time series of the observed runs.
    pub fn series(&self) -> Vec<SeriesRow> {
        let of_run = |f: &Finished| {
            let (variant, run) = (self.variant_name(f.info.variant), f.info.run);
            f.outcome
                .series
                .clone()
                .into_iter()
                .map(move |c| SeriesRow {
                    variant: variant.clone(),
                    run,
                    place: c.place,
                    metric: c.metric,
                    unit: c.unit,
                    t: c.t,
                    v: c.v,
                })
        };
        self.finished.iter().flat_map(of_run).collect()
    }

    /// The delay distribution of each class in each variant, pooled over its runs.
    pub fn distributions(&self) -> Vec<DelayCurve> {
        let mut curves = Vec::new();
        for (variant, v) in self.plan.variants.iter().enumerate() {
            for (class, name) in v.world.classes.iter().enumerate() {
                let runs: Vec<_> = self
                    .of(variant)
                    .map(|f| &f.outcome.class_delays[class])
                    .collect();
                let Some((first, others)) = runs.split_first() else {
                    continue;
                };
                let mut pooled = (*first).clone();
                others.iter().for_each(|h| pooled.merge(h));
                let mut curve = DelayCurve {
                    variant: v.name.clone(),
                    class: name.clone(),
                    q: Vec::new(),
                    owd: Vec::new(),
                    least: Vec::new(),
                    most: Vec::new(),
                };
                for &q in &QUANTILES {
                    let Some(owd) = pooled.quantile(q) else {
                        continue;
                    };
                    // The pooled quantile is one of the packets between those of the runs; that
                    // buckets are coarse must not put it outside.
                    let each = || runs.iter().filter_map(|h| h.quantile(q));
                    curve.q.push(q);
                    curve.owd.push(owd);
                    curve.least.push(each().fold(owd, f64::min));
                    curve.most.push(each().fold(owd, f64::max));
                }
                curves.push(curve);
            }
        }
        curves
    }
}

/// What a requirement is about: a class, or its flows at a site.
fn about(sla: &SlaPlan) -> (Scope, &str) {
    match &sla.group {
        Some(site) => (Scope::Site, site),
        None => (Scope::Class, &sla.class),
    }
}

/// The metric that a requirement is about.
pub(crate) fn metric_of(metric: SlaMetric) -> Metric {
    match metric {
        SlaMetric::OwdMean => Metric::OwdMean,
        SlaMetric::OwdP50 => Metric::OwdP50,
        SlaMetric::OwdP95 => Metric::OwdP95,
        SlaMetric::OwdP99 => Metric::OwdP99,
        SlaMetric::OwdP999 => Metric::OwdP999,
        SlaMetric::OwdMax => Metric::OwdMax,
        SlaMetric::Jitter => Metric::Jitter,
        SlaMetric::Pdv => Metric::Pdv,
        SlaMetric::PdvP99999 => Metric::PdvP99999,
        SlaMetric::LossRatio => Metric::LossRatio,
        SlaMetric::Throughput => Metric::Throughput,
        SlaMetric::Goodput => Metric::Goodput,
        SlaMetric::FctP50 => Metric::FctP50,
        SlaMetric::FctP95 => Metric::FctP95,
        SlaMetric::FctP99 => Metric::FctP99,
        SlaMetric::TransfersFailed => Metric::TransfersFailed,
        SlaMetric::TransfersRefused => Metric::TransfersRefused,
        SlaMetric::RFactor => Metric::RFactor,
        SlaMetric::Mos => Metric::Mos,
        SlaMetric::MosMin => Metric::MosMin,
        SlaMetric::MouthToEar => Metric::MouthToEar,
        SlaMetric::LateRatio => Metric::LateRatio,
        SlaMetric::WaitingTime => Metric::WaitingTime,
        SlaMetric::WaitingTimeP95 => Metric::WaitingTimeP95,
        SlaMetric::WaitingTimeMax => Metric::WaitingTimeMax,
        SlaMetric::FlowsWaiting => Metric::FlowsWaiting,
        SlaMetric::GapMax => Metric::GapMax,
    }
}
