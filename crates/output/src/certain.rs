//! Requirements that are to hold for certain, judged: proven by a bound, refuted by a run, or
//! neither.

use spillgate_core::Dur;
use spillgate_core::show::{ceiling, value};
use spillgate_measure::sla::Verdict;
use spillgate_measure::table::{Metric, Scope};
use spillgate_scenario::plan::{SitePlan, SlaPlan};
use spillgate_sim::{Finished, quantile_error};

use crate::ceilings::End;
use crate::report::Report;
use crate::verdicts::{VerdictRow, Witness};

/// What a requirement comes to.
struct Found {
    verdict: Verdict,
    /// What it cannot exceed.
    bound: Option<f64>,
    /// Why it is not proven.
    why: Option<String>,
}

impl Report {
    /// The verdict of certainty on a requirement at a point, of which `row` has all that does not
    /// depend on it; `at`: where runs have its value.
    pub(crate) fn certain(
        &self,
        variant: usize,
        sla: &SlaPlan,
        (scope, name): (Scope, &str),
        at: usize,
        row: VerdictRow,
    ) -> VerdictRow {
        let max = row.bound;
        let largest = self.largest(variant, at);
        // Quantiles come from histograms, which may be a little above what was.
        let world = &self.plan().variants[variant].world;
        let error = match sla.metric {
            Metric::OwdMean | Metric::OwdMax | Metric::LossRatio => 0.0,
            _ => quantile_error(world.flows.len()),
        };
        let beyond = largest.filter(|(_, v)| is_above(v / (1.0 + error), max, sla.metric));
        let end = self.ceilings(variant).end(scope, name);
        let found = match (beyond, end) {
            (Some(_), end) => Found {
                verdict: Verdict::Fail,
                bound: end
                    .and_then(|e| bound_of(e, sla.metric).ok())
                    .filter(|_| world.failures.is_empty()),
                why: None,
            },
            (None, _) if !world.failures.is_empty() => Found {
                verdict: Verdict::Undecided,
                bound: None,
                why: Some(
                    "links fail in this scenario, and bounds hold while none does".to_owned(),
                ),
            },
            (None, None) => Found {
                verdict: Verdict::Undecided,
                bound: None,
                why: Some("no bound of these packets is known".to_owned()),
            },
            (None, Some(end)) => proven(end, sla.metric, max),
        };
        let largest = largest.map(|(run, v)| (run.info.run, v));
        VerdictRow {
            certain: true,
            level: 1.0,
            further_runs: None,
            verdict: found.verdict.as_str(),
            cannot_exceed: found.bound,
            largest: largest.map(|l| l.1),
            why: found.why,
            witness: beyond.map(|(run, v)| Witness {
                run: run.info.run,
                flow: self.worst_flow(variant, sla, run),
                value: v,
            }),
            ..row
        }
    }

    /// The largest value that any run of a point had, at the least where it is not known, and the
    /// first run that had it.
    fn largest(&self, variant: usize, at: usize) -> Option<(&Finished, f64)> {
        let value = |f: &Finished| {
            let open = f.outcome.bounds.iter().find(|b| b.at as usize == at);
            open.map_or(f.outcome.values[at], |b| b.low)
        };
        let known = self.of(variant).map(|f| (f, value(f)));
        let known = known.filter(|(_, v)| !v.is_nan());
        known.reduce(|a, b| if b.1 > a.1 { b } else { a })
    }

    /// The flow that had the most of it in a run.
    fn worst_flow(&self, variant: usize, sla: &SlaPlan, run: &Finished) -> String {
        let world = &self.plan().variants[variant].world;
        let layout = self.layout(variant);
        let metric = match sla.metric {
            Metric::LossRatio => Metric::LossRatio,
            _ => Metric::OwdMax,
        };
        let site: Option<&SitePlan> = world
            .sites
            .iter()
            .find(|s| sla.group.as_ref() == Some(&s.name));
        let keys = layout.keys.iter().zip(&run.outcome.values);
        let values =
            keys.filter(|(k, v)| k.scope == Scope::Flow && k.metric == metric && !v.is_nan());
        // Flows stand in a layout in the order of the plan, but some may lack a value.
        let mut flows = world.flows.iter();
        let mut worst: Option<(&str, f64)> = None;
        for (key, v) in values {
            let name = layout.name(key);
            let Some(flow) = flows.by_ref().find(|f| *f.name == *name) else {
                break;
            };
            let of_class = world.classes[usize::from(flow.class)] == sla.class;
            let about = of_class && (sla.group.is_none() || site.is_some_and(|s| s.has(flow)));
            if about && worst.is_none_or(|w| *v > w.1) {
                worst = Some((name, *v));
            }
        }
        worst.map_or_else(String::new, |w| w.0.to_owned())
    }
}

/// What a metric of some flows cannot exceed, or why there is nothing.
fn bound_of(end: &End, metric: Metric) -> Result<f64, &str> {
    match metric {
        Metric::LossRatio => end.lossless.as_ref().map(|()| 0.0),
        _ => end.owd.as_ref().map(|d| d.as_secs_f64()),
    }
    .map_err(String::as_str)
}

/// Without a run beyond it.
fn proven(end: &End, metric: Metric, max: f64) -> Found {
    let fits = match metric {
        Metric::LossRatio => end.lossless.is_ok(),
        _ => end.owd.as_ref().is_ok_and(|d| *d <= picoseconds(max)),
    };
    Found {
        verdict: if fits {
            Verdict::Pass
        } else {
            Verdict::Undecided
        },
        bound: bound_of(end, metric).ok(),
        why: bound_of(end, metric).err().map(str::to_owned),
    }
}

/// Times are compared as whole picoseconds, which both sides are but for what binary64 makes of
/// them.
fn picoseconds(seconds: f64) -> Dur {
    Dur::from_ps((seconds * 1e12).round() as u64)
}

fn is_above(v: f64, max: f64, metric: Metric) -> bool {
    match metric {
        Metric::LossRatio => v > max,
        _ => picoseconds(v) > picoseconds(max),
    }
}

impl VerdictRow {
    /// What was seen and what cannot be exceeded, as text.
    pub(crate) fn seen(&self) -> String {
        let seen = self
            .largest
            .map(|v| format!("largest {}", value(v, self.unit)));
        let bound = match self.cannot_exceed {
            Some(_) if self.unit == "1" => "no loss possible".to_owned(),
            Some(bound) => format!("bound {}", ceiling(bound, self.unit)),
            None if self.unit == "1" => "loss possible".to_owned(),
            None => "no bound".to_owned(),
        };
        seen.into_iter()
            .chain([bound])
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// What refuted it, or why it is not proven, as a clause; none if it is proven.
    pub(crate) fn certainty(&self) -> Option<String> {
        if let Some(w) = &self.witness {
            let by = match w.flow.as_str() {
                "" => String::new(),
                flow => format!(", most in flow {flow}"),
            };
            return Some(format!(
                "run {} had {}{by}",
                w.run,
                value(w.value, self.unit)
            ));
        }
        let why = match (&self.why, self.cannot_exceed) {
            (Some(why), _) => why.clone(),
            (None, Some(bound)) if self.kind() == Verdict::Undecided => {
                format!(
                    "no run had more, but {} cannot be excluded",
                    ceiling(bound, self.unit)
                )
            }
            _ => return None,
        };
        Some(why)
    }
}
