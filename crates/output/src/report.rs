//! A campaign's results as rows.

use std::convert::Infallible;
use std::sync::Arc;

use serde::Serialize;
use spillgate_measure::sla::{Correction, Verdict, further_runs, judge, levels, p_value};
use spillgate_measure::stats::Interval;
use spillgate_measure::table::{Key, Layout, Scope, summarize_each};
use spillgate_scenario::plan::{Plan, SlaPlan};
use spillgate_scenario::schema;
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
    /// Whether something was still on its way when a run ended that could have moved the value.
    pub open: bool,
    /// Mean over the runs of the least that the value could have been: the mean itself if nothing is open.
    pub least: f64,
    /// The same of the most; null if it has no end.
    pub most: f64,
    /// Runs with a value.
    pub n: usize,
    /// Confidence level of the verdict, above 0.95 where many are corrected for their number.
    pub level: f64,
    /// pass, fail or undecided; it holds whatever becomes of what is still on its way, see [`Report::verdicts`].
    pub verdict: &'static str,
    /// Runs that would probably settle an undecided verdict; null if none would.
    pub further_runs: Option<u32>,
    /// What the class meets on its way that is not yet as it will be; null if nothing was seen.
    pub note: Option<String>,
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
pub struct SeriesRow<'a> {
    /// Variant.
    pub variant: &'a str,
    /// Number of the run.
    pub run: u32,
    /// What was sampled.
    #[serde(rename = "where")]
    pub place: &'a str,
    /// Metric.
    pub metric: &'static str,
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

    /// The interval of one value of a variant's runs.
    fn interval(&self, variant: usize, at: usize) -> Interval {
        let values: Vec<f64> = self.of(variant).map(|f| f.outcome.values[at]).collect();
        Interval::of(&values, Interval::LEVEL)
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

    /// Gives the values that are wanted to `take`, one after the other: of thousands of flows or links,
    /// all rows at once take much more memory than the values.
    ///
    /// # Errors
    /// The first that `take` returns.
    pub fn each_summary_row<E>(
        &self,
        wanted: impl Fn(&Layout, &Key) -> bool,
        mut take: impl FnMut(SummaryRow) -> Result<(), E>,
    ) -> Result<(), E> {
        for (variant, layout) in self.layouts.iter().enumerate() {
            let runs: Vec<&[f64]> = self.of(variant).map(|f| &f.outcome.values[..]).collect();
            for (key, i) in summarize_each(layout, &runs, |key| wanted(layout, key)) {
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
    /// What is not known decides nothing: each requirement is judged once with the least and once with the most
    /// that the value of each run could have been ([`Outcome::bounds`](spillgate_sim::Outcome::bounds)), and is
    /// undecided where the two disagree.
    pub fn verdicts(&self) -> Vec<VerdictRow> {
        let mut cases = Vec::new();
        for (variant, layout) in self.layouts.iter().enumerate() {
            for sla in &self.plan.sla {
                let (scope, name) = about(sla);
                let metric = sla.metric;
                if let Some(at) = layout.position(scope, name, metric) {
                    let judged = Judged {
                        shown: self.interval(variant, at),
                        known: self.bounds(variant, at),
                    };
                    cases.push((variant, sla, metric, judged));
                }
            }
        }
        let ps: Vec<f64> = cases
            .iter()
            .map(|(_, sla, _, judged)| judged.p_value(sla))
            .collect();
        let correction = match self.plan.correction {
            schema::Correction::None => Correction::None,
            schema::Correction::Bonferroni => Correction::Bonferroni,
            schema::Correction::Holm => Correction::Holm,
        };
        let levels = levels(&ps, correction, Interval::LEVEL);
        let judged = cases.into_iter().zip(levels);
        judged
            .filter_map(|((variant, sla, metric, judged), level)| {
                let (side, bound) = match (sla.max, sla.min) {
                    (Some(max), _) => ("max", max),
                    (None, Some(min)) => ("min", min),
                    (None, None) => return None,
                };
                let at_level = match self.plan.correction {
                    schema::Correction::None => judged,
                    _ => judged.at_level(level),
                };
                let (verdict, further_runs) = at_level.verdict(sla);
                let shown = judged.shown;
                let open = judged.known.is_some();
                let (least, most) = judged.known.unwrap_or((shown, shown));
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
                    open,
                    least: least.mean,
                    most: most.mean,
                    n: shown.n,
                    level,
                    verdict: verdict.as_str(),
                    further_runs,
                    note: self.note(variant, &sla.class),
                })
            })
            .collect()
    }

    /// The intervals of the least and the most that a value could have been in each run of a variant; none if it
    /// is known in all of them.
    fn bounds(&self, variant: usize, at: usize) -> Option<(Interval, Interval)> {
        let runs = self.of(variant).map(|f| {
            let value = f.outcome.values[at];
            let open = f.outcome.bounds.iter().find(|b| b.at as usize == at);
            open.map_or((value, value), |b| (b.low, b.high))
        });
        let (least, most): (Vec<f64>, Vec<f64>) = runs.unzip();
        let same = least.iter().zip(&most).all(|(a, b)| a == b || a.is_nan());
        let interval = |values: &[f64]| Interval::of(values, Interval::LEVEL);
        (!same).then(|| (interval(&least), interval(&most)))
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
    pub fn series(&self) -> impl Iterator<Item = SeriesRow<'_>> {
        self.finished.iter().flat_map(|f| {
            let variant = &self.plan.variants[f.info.variant].name;
            f.outcome.series.iter().map(move |c| SeriesRow {
                variant,
                run: f.info.run,
                place: &c.place,
                metric: c.metric,
                unit: c.unit,
                start: c.start.as_secs_f64(),
                step: c.step.as_secs_f64(),
                v: &c.v,
            })
        })
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

/// What a requirement is judged by.
#[derive(Clone, Copy)]
struct Judged {
    /// The interval that is shown.
    shown: Interval,
    /// Those of the least and the most that the values could have been, if they are not known.
    known: Option<(Interval, Interval)>,
}

impl Judged {
    fn at_level(self, level: f64) -> Self {
        Self {
            shown: self.shown.at_level(level),
            known: self
                .known
                .map(|(a, b)| (a.at_level(level), b.at_level(level))),
        }
    }

    /// That of the verdict, 1 if what is not known decides.
    fn p_value(&self, sla: &SlaPlan) -> f64 {
        let of = |i: &Interval| p_value(i, sla.max, sla.min);
        match &self.known {
            None => of(&self.shown),
            Some((least, most)) if extreme(least, sla) == extreme(most, sla) => {
                of(least).max(of(most))
            }
            Some(_) => 1.0,
        }
    }

    /// The verdict, and how many further runs would settle one that only they can.
    fn verdict(&self, sla: &SlaPlan) -> (Verdict, Option<u32>) {
        let verdict = match &self.known {
            None => extreme(&self.shown, sla),
            Some((least, most)) => {
                let (least, most) = (extreme(least, sla), extreme(most, sla));
                if least != most {
                    return (Verdict::Undecided, None);
                }
                least
            }
        };
        match verdict {
            Verdict::Undecided => (verdict, further_runs(&self.shown, sla.max, sla.min)),
            _ => (verdict, None),
        }
    }
}

/// The verdict on an interval, whose mean may be infinite: beyond an upper bound, and within a lower one.
fn extreme(interval: &Interval, sla: &SlaPlan) -> Verdict {
    match sla.max {
        _ if interval.mean != f64::INFINITY => judge(interval, sla.max, sla.min),
        Some(_) => Verdict::Fail,
        None => Verdict::Pass,
    }
}

/// What a requirement is about: a class, or its flows at a site.
fn about(sla: &SlaPlan) -> (Scope, &str) {
    match &sla.group {
        Some(site) => (Scope::Site, site),
        None => (Scope::Class, &sla.class),
    }
}
