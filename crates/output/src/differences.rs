//! Variants compared run by run: the runs of one number have the same arrivals in every variant, so
//! the difference within a run has far less noise than the two values.

use std::collections::BTreeMap;

use serde::Serialize;
use spillgate_measure::stats::Interval;
use spillgate_measure::table::{Better, Key, Layout, Scope};

use crate::report::Report;

/// What a difference is for the users of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Of a metric with a good side: towards it.
    Better,
    /// Away from it.
    Worse,
    /// Of a metric without.
    More,
    /// Less of such a metric.
    Less,
    /// The interval contains zero, or is unknown.
    NotShown,
    /// Every run gives the same.
    Same,
}

impl Effect {
    /// Every effect.
    pub const ALL: [Self; 6] = [
        Self::Better,
        Self::Worse,
        Self::More,
        Self::Less,
        Self::NotShown,
        Self::Same,
    ];

    /// Its name in tables and files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::More => "more",
            Self::Less => "less",
            Self::NotShown => "not shown",
            Self::Same => "same",
        }
    }

    /// The symbol that stands beside a difference.
    pub const fn mark(self) -> &'static str {
        match self {
            Self::Better => "✓",
            Self::Worse => "✗",
            Self::More => "▲",
            Self::Less => "▼",
            Self::NotShown => "?",
            Self::Same => "",
        }
    }

    /// What is said of a difference.
    pub const fn label(self) -> &'static str {
        match self {
            Self::NotShown => "no difference shown",
            Self::Same => "same in every run",
            _ => self.as_str(),
        }
    }

    /// What it means, in a line.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Better => "The whole interval of the difference lies on the metric's good side",
            Self::Worse => "It lies on the other side",
            Self::More => "Of a metric without a good side: the whole interval lies above zero",
            Self::Less => "Of such a metric: it lies below zero",
            Self::NotShown => "The interval contains zero, or there is none",
            Self::Same => "Every run gives the same",
        }
    }
}

/// What one variant has more of than another, in one metric of one class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DifferenceRow {
    /// Variant.
    pub variant: String,
    /// The variant that it is compared with.
    pub against: String,
    /// Class of service.
    pub class: String,
    /// Metric.
    pub metric: &'static str,
    /// Unit.
    pub unit: &'static str,
    /// Mean over the runs of the value minus that of the other variant; null where undefined.
    pub mean: f64,
    /// Lower end of its 95 % Student-t interval; null with fewer than two runs.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Runs in which both have a value.
    pub n: usize,
    /// Which [`Effect`] that is.
    pub effect: &'static str,
}

impl Report {
    /// The differences of the classes' values to those of the points in the plan's `against`, in
    /// pairs of runs of the same number.
    pub fn differences(&self) -> Vec<DifferenceRow> {
        let pairs = self.plan().against.iter().enumerate();
        let others = pairs.filter(|(v, against)| v != *against);
        others
            .flat_map(|(v, against)| self.differences_of(v, *against))
            .collect()
    }

    fn differences_of(&self, variant: usize, against: usize) -> Vec<DifferenceRow> {
        let name = |v: usize| self.plan().variants[v].name.clone();
        let (mine, theirs) = (self.layout(variant), self.layout(against));
        let base: BTreeMap<u32, &[f64]> = (self.of(against))
            .map(|f| (f.info.run, &f.outcome.values[..]))
            .collect();
        let pairs: Vec<_> = (self.of(variant))
            .filter_map(|f| Some((&f.outcome.values[..], *base.get(&f.info.run)?)))
            .collect();
        let row = |(at, key): (usize, &Key)| {
            let other = theirs.position(key.scope, mine.name(key), key.metric)?;
            let differences: Vec<f64> = pairs.iter().map(|(a, b)| a[at] - b[other]).collect();
            let i = Interval::of(&differences, Interval::LEVEL);
            Some(DifferenceRow {
                variant: name(variant),
                against: name(against),
                class: mine.name(key).to_owned(),
                metric: key.metric.name(),
                unit: key.metric.unit(),
                mean: i.mean,
                low: i.low,
                high: i.high,
                n: i.n,
                effect: effect(&differences, &i, key).as_str(),
            })
        };
        classes(mine).filter_map(row).collect()
    }
}

fn classes(layout: &Layout) -> impl Iterator<Item = (usize, &Key)> {
    let all = layout.keys.iter().enumerate();
    all.filter(|(_, key)| key.scope == Scope::Class)
}

fn effect(differences: &[f64], i: &Interval, key: &Key) -> Effect {
    let known = || differences.iter().filter(|d| !d.is_nan());
    if i.n > 0 && known().all(|d| *d == 0.0) {
        return Effect::Same;
    }
    let (more, less) = (i.low > 0.0, i.high < 0.0);
    if !more && !less {
        return Effect::NotShown;
    }
    match (key.metric.better(), more) {
        (Some(Better::More), true) | (Some(Better::Less), false) => Effect::Better,
        (Some(_), _) => Effect::Worse,
        (None, true) => Effect::More,
        (None, false) => Effect::Less,
    }
}
