//! Variants compared run by run: the runs of one number have the same arrivals in every variant, so the difference within
//! a run has far less noise than the two values.

use std::collections::BTreeMap;

use serde::Serialize;
use spillgate_measure::stats::Interval;
use spillgate_measure::table::{Better, Key, Layout, Scope};

use crate::report::Report;

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
    /// `better` or `worse`, `more` or `less` of a metric that has no good side, `same` if every run gives the same,
    /// `not shown` if the interval contains zero or is unknown.
    pub effect: &'static str,
}

impl Report {
    /// The differences of the classes' values to those of the points in the plan's `against`, in pairs of runs of the
    /// same number.
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
        let of = |v: usize| self.finished().iter().filter(move |f| f.info.variant == v);
        let base: BTreeMap<u32, &[f64]> = of(against)
            .map(|f| (f.info.run, &f.outcome.values[..]))
            .collect();
        let pairs: Vec<_> = of(variant)
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
                effect: effect(&differences, &i, key),
            })
        };
        classes(mine).filter_map(row).collect()
    }
}

fn classes(layout: &Layout) -> impl Iterator<Item = (usize, &Key)> {
    let all = layout.keys.iter().enumerate();
    all.filter(|(_, key)| key.scope == Scope::Class)
}

fn effect(differences: &[f64], i: &Interval, key: &Key) -> &'static str {
    let known = || differences.iter().filter(|d| !d.is_nan());
    if i.n > 0 && known().all(|d| *d == 0.0) {
        return "same";
    }
    let (more, less) = (i.low > 0.0, i.high < 0.0);
    if !more && !less {
        return "not shown";
    }
    match (key.metric.better(), more) {
        (Some(Better::More), true) | (Some(Better::Less), false) => "better",
        (Some(_), _) => "worse",
        (None, true) => "more",
        (None, false) => "less",
    }
}
