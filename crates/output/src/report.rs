//! A campaign's results as rows.

use std::convert::Infallible;
use std::sync::{Arc, OnceLock};

use serde::Serialize;
use spillgate_measure::stats::Interval;
use spillgate_measure::table::{Key, Layout, Row, summarize_each};
use spillgate_measure::{Histogram, PackedHistogram};
use spillgate_scenario::plan::Plan;
use spillgate_sim::{Finished, QUANTILES, Replication, layout};

use crate::ceilings::Limits;
use crate::verdicts::VerdictRow;
use crate::words::Words;

/// One value with its interval over the runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    /// What it cannot exceed, whatever happens; null if nothing is known.
    pub bound: Option<f64>,
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
    /// Packets emitted.
    pub packets: u64,
}

/// A time series of a run that was observed.
#[derive(Clone, Debug, Serialize)]
pub struct SeriesRow<'a> {
    /// Variant.
    pub variant: &'a str,
    /// Number of the run.
    pub run: u32,
    /// What was sampled.
    #[serde(rename = "where")]
    pub place: &'a str,
    /// Metric.
    pub metric: &'a str,
    /// Unit.
    pub unit: &'static str,
    /// When the first sample was taken, in seconds since the start of the run.
    pub start: f64,
    /// Seconds from each sample to the next.
    pub step: f64,
    /// The values; NaN (in JSON: null) where undefined.
    pub v: &'a [f64],
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
    /// Places in `finished`, by variant.
    of: Vec<Vec<u32>>,
    pub(crate) limits: Vec<Limits>,
    verdicts: OnceLock<Vec<VerdictRow>>,
    words: OnceLock<Words>,
    distributions: OnceLock<Vec<DelayCurve>>,
}

impl Report {
    /// The report of these runs, which may be fewer than the plan asks for.
    pub fn new(plan: Arc<Plan>, finished: Vec<Finished>) -> Self {
        let layouts: Vec<Layout> = plan.variants.iter().map(|v| layout(&v.world)).collect();
        let mut of = vec![Vec::new(); layouts.len()];
        for (f, at) in finished.iter().zip(0..) {
            of[f.info.variant].push(at);
        }
        Self {
            of,
            verdicts: OnceLock::new(),
            words: OnceLock::new(),
            distributions: OnceLock::new(),
            limits: layouts.iter().map(|_| Limits::default()).collect(),
            plan,
            layouts,
            finished,
        }
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The plan, shared.
    pub fn shared_plan(&self) -> Arc<Plan> {
        Arc::clone(&self.plan)
    }

    /// Whether there are fewer runs than the plan asks for.
    pub fn is_partial(&self) -> bool {
        let Some(rule) = Replication::of(&self.plan) else {
            return self.finished.len() < self.plan.variants.len() * self.plan.runs as usize;
        };
        (0..self.plan.variants.len()).any(|point| {
            let mut tally = rule.tally();
            let of = self.of(point).map(|f| rule.values(point, &f.outcome));
            of.for_each(|values| tally.take(values));
            tally.ended().is_none()
        })
    }

    /// The finished runs.
    pub fn finished(&self) -> &[Finished] {
        &self.finished
    }

    /// Which values each run of a variant has.
    pub fn layout(&self, variant: usize) -> &Layout {
        &self.layouts[variant]
    }

    /// The interval of one value of a variant's runs.
    pub(crate) fn interval(&self, variant: usize, at: usize) -> Interval {
        let values: Vec<f64> = self.of(variant).map(|f| f.outcome.values[at]).collect();
        Interval::of(&values, Interval::LEVEL)
    }

    /// The finished runs of a variant.
    pub(crate) fn of(&self, variant: usize) -> impl Iterator<Item = &Finished> + Clone {
        let all = self.of[variant].iter();
        all.map(|at| &self.finished[*at as usize])
    }

    /// Every requirement judged in every variant, with the plan's correction for their number.
    pub fn verdicts(&self) -> &[VerdictRow] {
        self.verdicts.get_or_init(|| self.judged())
    }

    /// What is said of these results.
    pub fn words(&self) -> &Words {
        self.words.get_or_init(|| self.said())
    }

    pub(crate) fn variant_name(&self, variant: usize) -> String {
        self.plan.variants[variant].name.clone()
    }

    /// Every value with its interval.
    pub fn summary(&self) -> Vec<SummaryRow> {
        self.summary_of(|_, _| true)
    }

    /// The values that are wanted with their intervals.
    pub fn summary_of(&self, wanted: impl Fn(&Layout, &Key) -> bool) -> Vec<SummaryRow> {
        let mut rows = Vec::new();
        let never = self.each_summary_row(wanted, |row| -> Result<(), Infallible> {
            rows.push(row);
            Ok(())
        });
        match never {
            Ok(()) => rows,
        }
    }

    /// Gives the values that are wanted to `take`, one after the other: of thousands of flows or
    /// links, all rows at once take much more memory than the values.
    ///
    /// # Errors
    /// The first that `take` returns.
    pub fn each_summary_row<E>(
        &self,
        wanted: impl Fn(&Layout, &Key) -> bool,
        mut take: impl FnMut(SummaryRow) -> Result<(), E>,
    ) -> Result<(), E> {
        for (variant, layout) in self.layouts.iter().enumerate() {
            let runs: Vec<&Row> = self.of(variant).map(|f| &f.outcome.values).collect();
            for (key, i) in summarize_each(layout, &runs, |key| wanted(layout, key)) {
                take(SummaryRow {
                    variant: self.variant_name(variant),
                    scope: key.scope.name(),
                    name: layout.name(key).to_owned(),
                    metric: key.metric.name(),
                    unit: key.metric.unit(),
                    mean: i.mean,
                    low: i.low,
                    high: i.high,
                    n: i.n,
                    bound: self.bound(variant, key.scope, layout.name(key), key.metric),
                })?;
            }
        }
        Ok(())
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
                packets: f.outcome.packets,
            })
            .collect()
    }

    /// The events that the finished runs took. No result: it depends on the engine.
    pub fn events(&self) -> u64 {
        self.finished.iter().map(|f| f.outcome.events).sum()
    }

    /// The time series of the observed runs.
    pub fn series(&self) -> impl Iterator<Item = SeriesRow<'_>> {
        self.finished.iter().flat_map(|f| {
            let variant = &self.plan.variants[f.info.variant].name;
            f.outcome.series.iter().map(move |c| SeriesRow {
                variant,
                run: f.info.run,
                place: &c.place,
                metric: &c.metric,
                unit: c.unit(),
                start: c.start.as_secs_f64(),
                step: c.step.as_secs_f64(),
                v: &c.v,
            })
        })
    }

    /// The delay distribution of each class in each variant, pooled over its runs.
    pub fn distributions(&self) -> &[DelayCurve] {
        self.distributions.get_or_init(|| self.pooled())
    }

    fn pooled(&self) -> Vec<DelayCurve> {
        let mut curves = Vec::new();
        for (variant, v) in self.plan.variants.iter().enumerate() {
            for (class, name) in v.world.classes.iter().enumerate() {
                let runs = self.of(variant).map(|f| &f.outcome.class_delays[class]);
                curves.extend(DelayCurve::of(&v.name, name, runs));
            }
        }
        curves
    }
}

impl DelayCurve {
    /// That of the delays of a class in some runs; none without a run.
    fn of<'a>(
        variant: &str,
        class: &str,
        runs: impl Iterator<Item = &'a PackedHistogram>,
    ) -> Option<Self> {
        let mut pooled: Option<Histogram> = None;
        let mut ends = QUANTILES.map(|_| (f64::INFINITY, f64::NEG_INFINITY));
        for run in runs {
            let run = run.unpacked();
            for ((least, most), owd) in ends.iter_mut().zip(run.quantiles(&QUANTILES)) {
                let Some(owd) = owd else { continue };
                (*least, *most) = (least.min(owd), most.max(owd));
            }
            match &mut pooled {
                Some(pooled) => pooled.merge(&run),
                None => pooled = Some(run),
            }
        }
        let pooled = pooled?;
        let mut curve = Self {
            variant: variant.to_owned(),
            class: class.to_owned(),
            q: Vec::new(),
            owd: Vec::new(),
            least: Vec::new(),
            most: Vec::new(),
        };
        let all = pooled.quantiles(&QUANTILES).zip(ends);
        for (q, (owd, (least, most))) in QUANTILES.into_iter().zip(all) {
            let Some(owd) = owd else { continue };
            curve.q.push(q);
            curve.owd.push(owd);
            // The pooled quantile is one of the packets between those of the runs; that buckets
            // are coarse must not put it outside.
            curve.least.push(least.min(owd));
            curve.most.push(most.max(owd));
        }
        Some(curve)
    }
}
