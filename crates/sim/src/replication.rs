//! How many runs each point of a plan gets, where that depends on what they show.
//!
//! One looks at the runs of a point after a few of them, and again after a quarter more. The
//! intervals hold however often one looks, so that it does no harm to stop when they are narrow.
//! What is decided depends on the values of the runs in their order alone, never on which of them
//! was finished first.

use spillgate_measure::stats::{Interval, Looks};
use spillgate_measure::table::Scope;
use spillgate_scenario::plan::{Plan, ReplicationPlan};

use crate::measured::layout;
use crate::outcome::Outcome;

/// When points have enough runs.
#[derive(Debug)]
pub struct Replication {
    rule: ReplicationPlan,
    /// The most runs of a point.
    most: u32,
    /// For each point, where the values stand that are to be known; none if they are not measured.
    places: Vec<Vec<Option<usize>>>,
}

impl Replication {
    /// The rule of a plan; none if each of its points has the same number of runs.
    pub fn of(plan: &Plan) -> Option<Self> {
        let rule = plan.replication.clone()?;
        let places = plan.variants.iter().map(|point| {
            let layout = layout(&point.world);
            let place = |u: &spillgate_scenario::plan::UntilPlan| {
                layout.position(Scope::Class, &u.class, u.metric)
            };
            rule.until.iter().map(place).collect()
        });
        Some(Self {
            places: places.collect(),
            rule,
            most: plan.runs,
        })
    }

    /// After how many runs one looks next, if there are so many; never more than there may be.
    pub fn next_look(&self, runs: u32) -> u32 {
        let next = if runs == 0 {
            self.rule.first
        } else {
            runs + (runs / 4).max(1)
        };
        next.min(self.most)
    }

    /// What is to be known, of one run of a point; NaN where it has no value.
    pub fn values(&self, point: usize, outcome: &Outcome) -> Vec<f64> {
        let value = |at: &Option<usize>| at.map_or(f64::NAN, |at| outcome.values[at]);
        self.places[point].iter().map(value).collect()
    }

    /// Whether the runs of a point are enough, by their values in order.
    pub fn is_enough(&self, runs: &[Vec<f64>]) -> bool {
        if runs.len() >= self.most as usize {
            return true;
        }
        let known = |(i, until): (usize, &spillgate_scenario::plan::UntilPlan)| {
            let values: Vec<f64> = runs.iter().filter_map(|r| r.get(i).copied()).collect();
            let found = Interval::of(&values, self.rule.level).for_looks(Looks::Any);
            found.n >= 2 && found.half <= until.within * found.mean.abs()
        };
        self.rule.until.iter().enumerate().all(known)
    }

    /// To count the runs of a point.
    pub fn tally(&self) -> Tally<'_> {
        Tally {
            look: self.next_look(0),
            rule: self,
            runs: Vec::new(),
            is_enough: false,
        }
    }
}

/// The runs of a point as they come in order, up to those that are enough. All looks together take
/// no more than a few times as long as the last one.
#[derive(Debug)]
pub struct Tally<'r> {
    rule: &'r Replication,
    runs: Vec<Vec<f64>>,
    /// After how many one looks next.
    look: u32,
    is_enough: bool,
}

impl Tally<'_> {
    /// Takes the [values](Replication::values) of the next run. Behind those that are enough
    /// nothing counts.
    pub fn take(&mut self, values: Vec<f64>) {
        if self.is_enough {
            return;
        }
        self.runs.push(values);
        if self.runs.len() == self.look as usize {
            self.is_enough = self.rule.is_enough(&self.runs);
            self.look = self.rule.next_look(self.look);
        }
    }

    /// How many runs the point gets; none as long as one cannot tell.
    pub fn ended(&self) -> Option<u32> {
        self.is_enough.then_some(self.runs.len() as u32)
    }
}
