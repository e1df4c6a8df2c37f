//! Variants compared run by run: the runs of one number have the same arrivals in every variant, so
//! the difference within a run has far less noise than the two values.

use std::collections::BTreeMap;

use serde::Serialize;
use spillgate_measure::sla::{self, Correction};
use spillgate_measure::stats::Interval;
use spillgate_measure::table::{Better, Key, Layout, Row, Scope};

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
    /// Lower end of its Student-t interval, at 95 % or, where every two variants are compared, at
    /// the level by Holm's correction at which all of one metric and class hold together; null
    /// with fewer than two runs.
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
    /// pairs of runs of the same number; or of every two points with the same coordinates, the
    /// later against the earlier, their intervals corrected for the number of pairs.
    pub fn differences(&self) -> Vec<DifferenceRow> {
        let plan = self.plan();
        let (against, points) = (&plan.against, plan.against.len());
        if !plan.pairs {
            let others = (0..points).filter(|v| against[*v] != *v);
            let all = others.flat_map(|v| self.differences_of(v, against[v]));
            return all.map(|d| d.row).collect();
        }
        // Those of one place have the same first point.
        let earlier = |v: usize| (0..v).filter(move |e| against[*e] == against[v]);
        let pairs = (0..points).flat_map(|v| earlier(v).map(move |e| (v, e)));
        let mut all: Vec<Found> = pairs.flat_map(|(v, e)| self.differences_of(v, e)).collect();
        let mut families: BTreeMap<(usize, String, &str), Vec<usize>> = BTreeMap::new();
        for (i, d) in all.iter().enumerate() {
            let family = (d.place, d.row.class.clone(), d.row.metric);
            families.entry(family).or_default().push(i);
        }
        for members in families.values() {
            let ps: Vec<f64> = members.iter().map(|i| all[*i].p_value()).collect();
            let levels = sla::levels(&ps, Correction::Holm, Interval::LEVEL);
            for (i, level) in members.iter().zip(levels) {
                all[*i].judge_at(level);
            }
        }
        all.into_iter().map(|d| d.row).collect()
    }

    fn differences_of(&self, variant: usize, against: usize) -> Vec<Found> {
        let name = |v: usize| self.plan().variants[v].name.clone();
        let (mine, theirs) = (self.layout(variant), self.layout(against));
        let base: BTreeMap<u32, &Row> = (self.of(against))
            .map(|f| (f.info.run, &f.outcome.values))
            .collect();
        let pairs: Vec<_> = (self.of(variant))
            .filter_map(|f| Some((&f.outcome.values, *base.get(&f.info.run)?)))
            .collect();
        let row = |(at, key): (usize, &Key)| {
            let other = theirs.position(key.scope, mine.name(key), key.metric)?;
            let differences: Vec<f64> = pairs.iter().map(|(a, b)| a[at] - b[other]).collect();
            let interval = Interval::of(&differences, Interval::LEVEL);
            let row = DifferenceRow {
                variant: name(variant),
                against: name(against),
                class: mine.name(key).to_owned(),
                metric: key.metric.name(),
                unit: key.metric.unit(),
                mean: interval.mean,
                low: f64::NAN,
                high: f64::NAN,
                n: interval.n,
                effect: Effect::NotShown.as_str(),
            };
            let mut found = Found {
                row,
                place: self.plan().against[variant],
                same: differences.iter().all(|d| *d == 0.0 || d.is_nan()),
                better: key.metric.better(),
                interval,
            };
            found.judge_at(Interval::LEVEL);
            Some(found)
        };
        classes(mine).filter_map(row).collect()
    }
}

fn classes(layout: &Layout) -> impl Iterator<Item = (usize, &Key)> {
    let all = layout.keys.iter().enumerate();
    all.filter(|(_, key)| key.scope == Scope::Class)
}

/// A difference with what decides its effect.
struct Found {
    row: DifferenceRow,
    /// The first point with the same coordinates.
    place: usize,
    /// Whether no run differs.
    same: bool,
    /// The good side of the metric.
    better: Option<Better>,
    interval: Interval,
}

impl Found {
    /// That of there being no difference.
    fn p_value(&self) -> f64 {
        match self.same {
            true => 1.0,
            false => sla::p_value(&self.interval, Some(0.0), None),
        }
    }

    /// Sets ends and effect at a level.
    fn judge_at(&mut self, level: f64) {
        let i = self.interval.at_level(level);
        (self.row.low, self.row.high) = (i.low, i.high);
        self.row.effect = self.effect(&i).as_str();
    }

    fn effect(&self, i: &Interval) -> Effect {
        if i.n > 0 && self.same {
            return Effect::Same;
        }
        let (more, less) = (i.low > 0.0, i.high < 0.0);
        if !more && !less {
            return Effect::NotShown;
        }
        match (self.better, more) {
            (Some(Better::More), true) | (Some(Better::Less), false) => Effect::Better,
            (Some(_), _) => Effect::Worse,
            (None, true) => Effect::More,
            (None, false) => Effect::Less,
        }
    }
}
