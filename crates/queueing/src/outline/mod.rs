//! A policy as a tree: its classes with their rates, their queues and the policies inside them. Who
//! reads policies reads this tree: importer, rules and exporters, and [`Outline`] is what faces
//! show of it.

mod condition;
mod facts;
mod place;
mod trees;
mod words;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use spillgate_core::{Limit, Rate, RateOrPercent};

pub use facts::{AdmissionLimits, Bucket, DscpLimit, Outline, Thresholds};
pub use place::{Place, PlacedAqm};

use crate::spec::{ClassSpec, DisciplineSpec};
use crate::tree::{DEFAULT, Division, Enclosing, MAX_DEPTH};

/// A policy at the rate that its classes divide.
#[derive(Clone, Copy, Debug)]
pub struct Policy<'a> {
    /// Its name.
    pub name: &'a str,
    /// The policy as written.
    pub spec: &'a DisciplineSpec,
    /// The rates that enclose it, if they are known.
    pub around: Option<Enclosing>,
    all: &'a BTreeMap<String, DisciplineSpec>,
    depth: usize,
}

/// A class of a policy.
#[derive(Clone, Debug)]
pub struct Class<'a> {
    /// Its place among the classes.
    pub index: usize,
    /// Whether the policy has it; else it is the `class-default` that is added.
    pub written: bool,
    /// The class as written.
    pub spec: &'a ClassSpec,
    /// Its rates; what is relative is taken of 1 Gb/s where the policy's rate is not known.
    pub division: Division,
    /// The rates that enclose its policy, if they are known.
    pub around: Option<Enclosing>,
    /// The policy of classes inside it.
    pub inner: Option<Policy<'a>>,
}

/// The class that every policy has.
static ADDED: LazyLock<ClassSpec> = LazyLock::new(|| ClassSpec {
    name: DEFAULT.to_owned(),
    ..ClassSpec::default()
});

/// What is relative is taken of this where a rate is not known.
const NOMINAL: Option<Rate> = Rate::from_bps(1_000_000_000);

impl<'a> Policy<'a> {
    /// The policy `name` of `all`, inside of these rates.
    pub fn of(
        all: &'a BTreeMap<String, DisciplineSpec>,
        name: &str,
        around: Option<Enclosing>,
    ) -> Option<Self> {
        let (name, spec) = all.get_key_value(name)?;
        Some(Self {
            name,
            spec,
            around,
            all,
            depth: 0,
        })
    }

    /// The rate that it divides, if it is known.
    pub fn rate(&self) -> Option<Rate> {
        self.around.map(|a| a.rate)
    }

    /// Its classes in the order in which they are tried, `class-default` among them; none of other
    /// policies.
    pub fn classes(&self) -> Vec<Class<'a>> {
        let DisciplineSpec::ClassBased(spec) = self.spec else {
            return Vec::new();
        };
        let Some(around) = self.around.or_else(|| NOMINAL.map(Enclosing::from)) else {
            return Vec::new();
        };
        let all = spec
            .classes
            .iter()
            .chain([&*ADDED])
            .zip(spec.divide(around));
        all.enumerate()
            .map(|(index, (class, division))| Class {
                index,
                written: index < spec.classes.len(),
                spec: class,
                around: self.around,
                inner: self.inside(class, &division),
                division,
            })
            .collect()
    }

    fn inside(&self, class: &'a ClassSpec, division: &Division) -> Option<Self> {
        let absolute = match class.shape.as_ref().map(|s| s.rate) {
            Some(RateOrPercent::Rate(r)) => Some(r.into()),
            _ => None,
        };
        let around = self.around.map(|_| division.inner).or(absolute);
        let inner = Self::of(self.all, class.policy.as_deref()?, around)?;
        let depth = self.depth + 1;
        let shown = matches!(inner.spec, DisciplineSpec::ClassBased(_)) && depth < MAX_DEPTH;
        shown.then_some(Self { depth, ..inner })
    }

    /// How many classes it has with those nested in it; counting ends after `most`.
    pub fn count(&self, most: usize) -> usize {
        let mut sum = 0;
        for class in self.classes() {
            if sum > most {
                break;
            }
            sum += 1 + class.inner.map_or(0, |p| p.count(most - sum));
        }
        sum
    }
}

impl Class<'_> {
    /// Whether it is `class-default`.
    pub fn is_default(&self) -> bool {
        self.spec.name == DEFAULT
    }

    /// The rate that it is guaranteed, as [`Division::guaranteed`], if it is known.
    pub fn guaranteed(&self) -> Option<Rate> {
        self.division.guaranteed.filter(|_| self.around.is_some())
    }

    /// How much may wait in its own queue; none without one, and where only the limits of a fair
    /// queue hold.
    pub fn limit(&self) -> Option<Limit> {
        if !self.division.queued || self.spec.policy.is_some() {
            return None;
        }
        match (&self.spec.priority, self.spec.queue_limit) {
            (Some(p), _) => Some(p.limit),
            (None, Some(limit)) => Some(limit),
            (None, None) if self.spec.has_flow_queues() => None,
            (None, None) => Some(Limit::Packets(64)),
        }
    }
}
