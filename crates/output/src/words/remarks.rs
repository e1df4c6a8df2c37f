//! What a reader should know of the runs before believing their numbers.

use std::collections::BTreeMap;

use spillgate_core::show::{general, rounded_up, value};
use spillgate_measure::Needs;
use spillgate_measure::table::{Metric, Scope};

use super::Facts;
use super::overload::{self, Overload};
use super::sharing::{self, Alike};
use crate::transients::TransientRow;

/// One value over the runs of a variant.
pub(super) struct Value<'a> {
    pub(super) scope: Scope,
    pub(super) name: &'a str,
    pub(super) metric: Metric,
    /// NaN where undefined.
    pub(super) mean: f64,
    /// Of the interval; not finite if there is none.
    pub(super) width: f64,
    /// Runs with a value.
    pub(super) runs: usize,
}

/// What is counted and what is said of it; none: transfers that neither completed nor failed, where
/// they are many.
const ODDITIES: [(Option<Metric>, &str); 11] = [
    (
        Some(Metric::TransfersRefused),
        "sessions did not begin because as many as `active` allows were open; the results depend on `active`",
    ),
    (
        Some(Metric::TransfersFailed),
        "TCP gave transfers up after too many timeouts",
    ),
    (
        None,
        "transfers were under way when a run ended, and their times are missing",
    ),
    (
        Some(Metric::DropsLinkDown),
        "packets were lost because a link was down",
    ),
    (
        Some(Metric::DropsUnroutable),
        "packets were lost without a route to their destination",
    ),
    (
        Some(Metric::DropsLinkLoss),
        "packets were lost at random on links",
    ),
    (
        Some(Metric::DropsInputQueue),
        "packets were lost because the input queue of a router or switch was full",
    ),
    (
        Some(Metric::DropsCell),
        "packets were lost because an ATM switch lost a cell of them",
    ),
    (
        Some(Metric::DropsFrame),
        "packets were lost because the last cell of the frame before them was lost, so that AAL5 took both for one",
    ),
    (
        Some(Metric::DropsTooBig),
        "packets were lost because they were longer, labels included, than a link's mtu",
    ),
    (
        Some(Metric::Unresolved),
        "packets had neither arrived nor been lost when their time after the period was over (measurement.grace); \
         verdicts hold whatever becomes of them",
    ),
];

/// Above this share of transfers that neither completed nor failed, percentiles of their times
/// lack.
const MISSED: f64 = 0.05;

/// Whether remarks depend on a value.
pub(super) fn wants(scope: Scope, metric: Metric) -> bool {
    match scope {
        Scope::Class => true,
        _ => overload::wants(scope, metric),
    }
}

/// Collects the values of all variants, one after the other.
pub(super) struct Remarks<'a> {
    variants: &'a [String],
    /// In the order of their first values.
    classes: Vec<String>,
    /// By class, metric and variant; zeros are left out.
    counts: BTreeMap<(usize, Metric, usize), f64>,
    /// By variant: whether there are several runs, and whether they differ.
    several: Vec<(bool, bool)>,
    most_runs: usize,
    overload: Overload,
}

/// The number of a name, which is added if it is new.
fn number(names: &mut Vec<String>, name: &str) -> usize {
    names.iter().position(|n| n == name).unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    })
}

impl<'a> Remarks<'a> {
    pub(super) fn new(variants: &'a [String]) -> Self {
        Self {
            variants,
            classes: Vec::new(),
            counts: BTreeMap::new(),
            several: vec![(false, false); variants.len()],
            most_runs: 0,
            overload: Overload::default(),
        }
    }

    /// Takes a value of a variant.
    pub(super) fn take(&mut self, variant: usize, v: &Value<'_>) {
        let mean = if v.mean.is_nan() { 0.0 } else { v.mean };
        match (v.scope, v.metric) {
            (Scope::Class, metric) => {
                let class = number(&mut self.classes, v.name);
                if mean != 0.0 {
                    self.counts.insert((class, metric, variant), mean);
                }
                if v.runs > 1 {
                    self.most_runs = self.most_runs.max(v.runs);
                    let (several, differ) = &mut self.several[variant];
                    *several = true;
                    *differ |= v.width.is_finite() && v.width != 0.0;
                }
            }
            _ => self.overload.take(variant, v, mean),
        }
    }

    /// Notes that the runs of a variant are not the same.
    pub(super) fn differ(&mut self, variant: usize) {
        self.several[variant].1 = true;
    }

    /// One line for each oddity.
    pub(super) fn said(&self, facts: &Facts, transients: &[TransientRow]) -> Vec<String> {
        let identical = self.identical().into_iter();
        let unsettled = self.unsettled(transients, facts.warmup).into_iter();
        let overloaded = self.overload.said(facts, |variant| self.at(variant));
        let all = identical.chain(unsettled).chain(overloaded);
        all.chain(self.unshared(facts))
            .chain(self.counted())
            .collect()
    }

    /// In brackets after what is true of a variant, where there are several.
    fn at(&self, variant: &str) -> String {
        match self.variants.len() {
            0 | 1 => String::new(),
            _ => format!(" ({variant})"),
        }
    }

    /// Which variants have several runs that all measured the same.
    fn identical(&self) -> Option<String> {
        let same = self.variants.iter().zip(&self.several);
        let same: Vec<&str> = same
            .filter(|(_, (several, differ))| *several && !differ)
            .map(|(name, _)| name.as_str())
            .collect();
        let of = match self.variants.len() {
            0 | 1 => String::new(),
            _ => format!(" of {}", same.join(", ")),
        };
        let runs = self.most_runs;
        (!same.is_empty()).then(|| {
            format!(
                "all {runs} runs{of} are identical: nothing in them is random, so intervals of no width and verdicts \
                 speak of one trajectory only; give flows a `start_spread`, or sources that draw"
            )
        })
    }

    /// Which classes had not settled when measuring began, and the warm-up that would do.
    fn unsettled(&self, transients: &[TransientRow], warmup: f64) -> Option<String> {
        // Of each class and metric the one that settles last, those that do not after all others.
        let mut worst: Vec<&TransientRow> = Vec::new();
        let lasts = |t: &TransientRow| (t.warmup.unwrap_or(f64::INFINITY), t.bias.abs());
        for t in transients {
            match worst
                .iter_mut()
                .find(|w| (&w.class, &w.metric) == (&t.class, &t.metric))
            {
                Some(other) if lasts(t) > lasts(other) => *other = t,
                Some(_) => {}
                None => worst.push(t),
            }
        }
        let parts: Vec<String> = worst.iter().map(|t| self.transient(t)).collect();
        let settled: Option<Vec<f64>> = worst.iter().map(|t| t.warmup).collect();
        let advice = match settled {
            Some(times) => {
                let last = times.into_iter().fold(0.0, f64::max);
                format!("{} would do", value(rounded_up(last), "s"))
            }
            None => "not even the end of the run is settled; measure longer after a longer one"
                .to_owned(),
        };
        (!worst.is_empty()).then(|| {
            format!(
                "the warm-up of {} is too short: {}; {advice} (`warmup: auto` finds it)",
                value(warmup, "s"),
                parts.join(", ")
            )
        })
    }

    fn transient(&self, t: &TransientRow) -> String {
        let what = match t.metric == Metric::Throughput.name() {
            true => "rate",
            false => "delay",
        };
        let side = if t.bias > 0.0 { "above" } else { "below" };
        let level = match t.warmup {
            Some(_) => "what it settles at",
            None => "its later half",
        };
        format!(
            "{}{} {what} {:.0}% {side} {level}",
            t.class,
            self.at(&t.variant),
            t.bias.abs() * 100.0
        )
    }

    /// Which alike connections do not share, each class in the variant in which they share least.
    fn unshared(&self, facts: &Facts) -> Vec<String> {
        let said = |(class, name): (usize, &String)| {
            let mut worst: Option<(f64, usize, &Alike)> = None;
            for (variant, alike) in facts.alike.iter().enumerate() {
                let jain = self.count(class, Metric::Jain, variant);
                let Some(alike) = alike.iter().find(|a| a.class == *name) else {
                    continue;
                };
                if jain > 0.0 && worst.is_none_or(|w| jain < w.0) {
                    worst = Some((jain, variant, alike));
                }
            }
            let (jain, variant, alike) = worst?;
            sharing::said(alike, jain, &self.at(&self.variants[variant]))
        };
        self.classes.iter().enumerate().filter_map(said).collect()
    }

    fn count(&self, class: usize, metric: Metric, variant: usize) -> f64 {
        let found = self.counts.get(&(class, metric, variant));
        found.copied().unwrap_or_default()
    }

    /// Some transfers always begin just before the end. Connections that are meant to be endless
    /// are not missed: a class of them completes nothing.
    fn incomplete(&self, class: usize, variant: usize) -> f64 {
        let of = |metric| self.count(class, metric, variant);
        let (begun, done) = (of(Metric::TransfersBegun), of(Metric::TransfersDone));
        let left = begun - done - of(Metric::TransfersFailed);
        match done > 0.0 && left > MISSED * begun {
            true => left,
            false => 0.0,
        }
    }

    fn counted(&self) -> impl Iterator<Item = String> {
        ODDITIES.iter().filter_map(|(metric, said)| {
            let count = |class, variant| match metric {
                Some(metric) => self.count(class, *metric, variant),
                None => self.incomplete(class, variant),
            };
            let whole = match metric {
                Some(metric) if metric.needs() != Some(Needs::Tcp) => Metric::PacketsSent,
                _ => Metric::TransfersBegun,
            };
            let of_class = |(class, name): (usize, &String)| {
                // The first of the variants that have the most.
                let mut worst = (0.0, None);
                for variant in 0..self.variants.len() {
                    let n = count(class, variant);
                    if n > worst.0 {
                        worst = (n, Some(variant));
                    }
                }
                let (n, variant) = (few(worst.0), worst.1?);
                let whole = few(self.count(class, whole, variant));
                let at = self.at(&self.variants[variant]);
                // Those that were refused are not among those that began.
                Some(match metric {
                    Some(Metric::TransfersRefused) => {
                        format!("{name} {n} for {whole} that began{at}")
                    }
                    _ => format!("{name} {n} of {whole}{at}"),
                })
            };
            let classes = self.classes.iter().enumerate();
            let counts: Vec<String> = classes.filter_map(of_class).collect();
            (!counts.is_empty()).then(|| format!("{said}: in each run {}", counts.join(", ")))
        })
    }
}

/// A mean number of things, in few digits.
fn few(n: f64) -> String {
    match n >= 10.0 {
        true => format!("{n:.0}"),
        false => general(n, 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(metric: Metric, mean: f64, width: f64) -> Value<'static> {
        Value {
            scope: Scope::Class,
            name: "web",
            metric,
            mean,
            width,
            runs: 5,
        }
    }

    fn said(values: &[Value<'_>]) -> Vec<String> {
        let variants = ["a".to_owned()];
        let mut remarks = Remarks::new(&variants);
        values.iter().for_each(|v| remarks.take(0, v));
        remarks.said(&Facts::nothing(), &[])
    }

    #[test]
    fn counts_are_of_the_whole() {
        let values = [
            class(Metric::TransfersFailed, 2.0, 1.0),
            class(Metric::TransfersBegun, 50.0, 0.0),
        ];
        assert_eq!(
            said(&values),
            ["TCP gave transfers up after too many timeouts: in each run web 2 of 50"]
        );
    }

    #[test]
    fn runs_without_chance_are_named() {
        let (mean, jitter) = (Metric::OwdMean, Metric::Jitter);
        let same = said(&[class(mean, 0.02, 0.0), class(jitter, 0.001, 0.0)]);
        assert!(same[0].starts_with("all 5 runs are identical: "));
        assert!(said(&[class(mean, 0.02, 0.0), class(jitter, 0.001, 2e-9)]).is_empty());
    }

    #[test]
    fn few_digits() {
        // Halves go to the even number.
        assert_eq!(
            [0.333, 2.0, 9.96, 12.5, 13.5, 1234.4].map(few),
            ["0.33", "2", "10", "12", "14", "1234"]
        );
    }
}
