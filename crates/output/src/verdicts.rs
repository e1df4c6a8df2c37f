//! Requirements judged, with the words for it.

use std::borrow::Cow;

use serde::Serialize;
use spillgate_core::show::{value, with_interval};
use spillgate_measure::sla::{self, Correction, Verdict, further_runs, judge, levels, p_value};
use spillgate_measure::stats::{Interval, Looks};
use spillgate_measure::table::{Metric, Scope};
use spillgate_scenario::plan::SlaPlan;
use spillgate_scenario::schema;

use crate::report::Report;

/// The run that refuted a requirement of certainty.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Witness {
    /// Number of the run: the first of those with the largest value.
    pub run: u32,
    /// The flow that had the most of it there; empty if flows have no such value.
    pub flow: String,
    /// The value of the run.
    pub value: f64,
}

/// A requirement judged.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct VerdictRow {
    /// Variant.
    pub variant: String,
    /// Class of service.
    pub class: String,
    /// Whose requirement it is; null for the scenario's own.
    pub customer: Option<String>,
    /// The customer's site that it is about; null for the whole class.
    pub site: Option<String>,
    /// The code point of the packets that it is about; null for all.
    pub dscp: Option<String>,
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
    /// Mean over the runs of the least that the value could have been: the mean itself if nothing
    /// is open.
    pub least: f64,
    /// The same of the most; null if it has no end.
    pub most: f64,
    /// Runs with a value.
    pub n: usize,
    /// Confidence level of the verdict, above the plan's where many are corrected for their
    /// number; 1 of a requirement that is to hold for certain.
    pub level: f64,
    /// pass, fail or undecided; it holds whatever becomes of what is still on its way, see
    /// [`Report::verdicts`].
    pub verdict: &'static str,
    /// Whether it is to hold for certain: then one run decides against it, and only a bound for it.
    pub certain: bool,
    /// The verdict in words: `pass`, `fail` or `undecided`; of one that is to hold for certain
    /// `proven`, `refuted` or `not proven`.
    pub said: &'static str,
    /// Of one that is to hold for certain: the largest value of a run; null if no run has any.
    pub largest: Option<f64>,
    /// Of one that is to hold for certain: what the value cannot exceed; null if nothing is known.
    pub cannot_exceed: Option<f64>,
    /// Why that is not known; null if it is.
    pub why: Option<String>,
    /// The run that refuted it; null if none did.
    pub witness: Option<Witness>,
    /// Runs that would probably settle an undecided verdict; null if none would.
    pub further_runs: Option<u32>,
    /// What the class meets on its way that is not yet as it will be; null if nothing was seen.
    pub note: Option<String>,
    /// Whom it is about: the class, and the site or the code point if it is about one:
    /// `voice @ Bucharest`, `data (af11)`.
    pub about: String,
    /// The same with the customer, if it is one's: `Acme: voice @ Bucharest`.
    pub whose: String,
    /// Metric and bound as text: `owd_p999 ≤ 10 ms`.
    pub requirement: String,
    /// The same in words: `99.9 % delay ≤ 10 ms`.
    pub words: String,
    /// The mean with its interval, in a fitting unit; what is open from its least to its most.
    pub measured: String,
    /// What an undecided verdict needs, in few words: a number of further runs, `longer grace`,
    /// `out of reach`.
    pub needs: Option<String>,
    /// The same as a clause.
    pub advice: Option<String>,
}

impl VerdictRow {
    /// The verdict itself.
    pub fn kind(&self) -> Verdict {
        let mut all = Verdict::ALL.into_iter();
        all.find(|v| v.as_str() == self.verdict)
            .unwrap_or(Verdict::Undecided)
    }

    /// With its words, which follow from the rest.
    pub(crate) fn told(mut self) -> Self {
        self.about = match &self.site {
            Some(site) => format!("{} @ {site}", self.class),
            None => self.class.clone(),
        };
        if let Some(dscp) = &self.dscp {
            self.about = format!("{} ({dscp})", self.about);
        }
        self.whose = match &self.customer {
            Some(customer) => format!("{customer}: {}", self.about),
            None => self.about.clone(),
        };
        let bound = sla::bound(self.side, self.bound, self.unit);
        let short = Metric::from_name(self.metric)
            .map_or_else(|| self.metric.replace('_', " "), |m| m.short().to_owned());
        let certain = if self.certain { " for certain" } else { "" };
        self.requirement = format!("{} {bound}{certain}", self.metric);
        self.words = format!("{short} {bound}{certain}");
        if self.certain {
            self.said = self.kind().as_certain();
            self.measured = self.seen();
            self.needs = (self.kind() == Verdict::Undecided).then(|| "not by runs".to_owned());
            self.advice = self.certainty();
            return self;
        }
        self.said = self.kind().as_str();
        self.measured = self.value();
        if self.kind() == Verdict::Undecided {
            let (needs, advice) = match self.further_runs {
                Some(runs @ 1..) => (
                    runs.to_string(),
                    format!("about {runs} more runs would decide"),
                ),
                _ if self.open => (
                    "longer grace".to_owned(),
                    "what was still on its way when a run ended decides: a longer measurement.grace".to_owned(),
                ),
                _ => (
                    "out of reach".to_owned(),
                    "more runs would hardly decide".to_owned(),
                ),
            };
            (self.needs, self.advice) = (Some(needs), Some(advice));
        }
        self
    }

    fn value(&self) -> String {
        // JSON has no infinite numbers: what was measured is said as it will be when it is read
        // back.
        let shown = |x: f64| match x.is_finite() {
            true => value(x, self.unit),
            false => value(f64::NAN, self.unit),
        };
        match self.open {
            true if self.most.is_finite() => {
                format!("{} to {}", shown(self.least), shown(self.most))
            }
            true => format!("{} or more", shown(self.least)),
            false if self.mean.is_finite() => {
                with_interval(self.mean, (self.high - self.low) / 2.0, self.unit)
            }
            false => shown(self.mean),
        }
    }
}

impl Report {
    /// Every requirement judged in every variant, with the plan's correction for their number: the
    /// family is all of them.
    ///
    /// Unless the plan says that one looks once, a verdict holds after any number of runs, and is
    /// decided by an interval wider than the one that is shown
    /// ([`Looks`](spillgate_measure::stats::Looks)).
    ///
    /// What is not known decides nothing: each requirement is judged once with the least and once
    /// with the most that the value of each run could have been
    /// ([`Outcome::bounds`](spillgate_sim::Outcome::bounds)), and is undecided where the two
    /// disagree.
    pub(crate) fn judged(&self) -> Vec<VerdictRow> {
        let looks = match self.plan().looks {
            schema::Looks::Any => Looks::Any,
            schema::Looks::Once => Looks::Once,
        };
        let mut cases = Vec::new();
        for variant in 0..self.plan().variants.len() {
            let layout = self.layout(variant);
            for sla in &self.plan().sla {
                let (scope, name) = about(sla);
                let metric = sla.metric;
                if let Some(at) = layout.position(scope, &name, metric) {
                    let shown = self.interval(variant, at);
                    let known = self.unknown(variant, at);
                    let made = |i: Interval| i.at_level(self.plan().level).for_looks(looks);
                    let judged = Judged {
                        by: made(shown),
                        known: known.map(|(a, b)| (made(a), made(b))),
                    };
                    cases.push((variant, sla, metric, at, shown, judged));
                }
            }
        }
        // Certainty has no level: those verdicts are none of the family.
        let ps: Vec<f64> = cases
            .iter()
            .filter(|(_, sla, ..)| !sla.certain)
            .map(|(_, sla, .., judged)| judged.p_value(sla))
            .collect();
        let correction = match self.plan().correction {
            schema::Correction::None => Correction::None,
            schema::Correction::Bonferroni => Correction::Bonferroni,
            schema::Correction::Holm => Correction::Holm,
        };
        let mut levels = levels(&ps, correction, self.plan().level).into_iter();
        cases
            .into_iter()
            .filter_map(|(variant, sla, metric, at, shown, judged)| {
                let level = match sla.certain {
                    true => self.plan().level,
                    false => levels.next()?,
                };
                let (side, bound) = match (sla.max, sla.min) {
                    (Some(max), _) => ("max", max),
                    (None, Some(min)) => ("min", min),
                    (None, None) => return None,
                };
                let at_level = match self.plan().correction {
                    schema::Correction::None => judged,
                    _ => judged.at_level(level),
                };
                let (verdict, further_runs) = at_level.verdict(sla);
                let open = judged.known.is_some();
                let (least, most) = judged.known.unwrap_or((shown, shown));
                let row = VerdictRow {
                    variant: self.variant_name(variant),
                    class: sla.class.clone(),
                    customer: sla.customer.clone(),
                    site: sla.site.clone(),
                    dscp: sla.dscp.map(|d| d.to_string()),
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
                    ..VerdictRow::default()
                };
                let row = match sla.certain {
                    true => {
                        let (scope, name) = about(sla);
                        self.certain(variant, sla, (scope, &name), at, row)
                    }
                    false => row,
                };
                Some(row.told())
            })
            .collect()
    }

    /// The intervals of the least and the most that a value could have been in each run of a
    /// variant; none if it is known in all of them.
    fn unknown(&self, variant: usize, at: usize) -> Option<(Interval, Interval)> {
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
}

/// What a requirement is judged by.
#[derive(Clone, Copy)]
struct Judged {
    /// The interval of the values, for as many looks as the plan allows.
    by: Interval,
    /// Those of the least and the most that the values could have been, if they are not known.
    known: Option<(Interval, Interval)>,
}

impl Judged {
    fn at_level(self, level: f64) -> Self {
        Self {
            by: self.by.at_level(level),
            known: self
                .known
                .map(|(a, b)| (a.at_level(level), b.at_level(level))),
        }
    }

    /// That of the verdict, 1 if what is not known decides.
    fn p_value(&self, sla: &SlaPlan) -> f64 {
        let of = |i: &Interval| p_value(i, sla.max, sla.min);
        match &self.known {
            None => of(&self.by),
            Some((least, most)) if extreme(least, sla) == extreme(most, sla) => {
                of(least).max(of(most))
            }
            Some(_) => 1.0,
        }
    }

    /// The verdict, and how many further runs would settle one that only they can.
    fn verdict(&self, sla: &SlaPlan) -> (Verdict, Option<u32>) {
        let verdict = match &self.known {
            None => extreme(&self.by, sla),
            Some((least, most)) => {
                let (least, most) = (extreme(least, sla), extreme(most, sla));
                if least != most {
                    return (Verdict::Undecided, None);
                }
                least
            }
        };
        match verdict {
            Verdict::Undecided => (verdict, further_runs(&self.by, sla.max, sla.min)),
            _ => (verdict, None),
        }
    }
}

/// The verdict on an interval, whose mean may be infinite: beyond an upper bound, and within a
/// lower one.
fn extreme(interval: &Interval, sla: &SlaPlan) -> Verdict {
    match sla.max {
        _ if interval.mean != f64::INFINITY => judge(interval, sla.max, sla.min),
        Some(_) => Verdict::Fail,
        None => Verdict::Pass,
    }
}

/// What a requirement is about: a class, its flows at a site, or its packets with a code point.
fn about(sla: &SlaPlan) -> (Scope, Cow<'_, str>) {
    match (&sla.group, sla.dscp) {
        (Some(site), _) => (Scope::Site, site.into()),
        (None, Some(dscp)) => (Scope::ClassDscp, format!("{}/{dscp}", sla.class).into()),
        (None, None) => (Scope::Class, (&sla.class).into()),
    }
}
