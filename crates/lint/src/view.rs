//! A policy at a rate, as the rules see it.

use std::collections::BTreeMap;
use std::ops::Deref;

use spillgate_core::{Limit, Rate};
use spillgate_queueing::Policy;
use spillgate_queueing::spec::{AqmSpec, ClassBasedSpec, DisciplineSpec};

use crate::registry::Rule;
use crate::rules::aqm::target_of_link;
use crate::sets::Packets;
use crate::traffic::Load;

/// Bytes of a full-size packet, the MTU of Ethernet.
pub(crate) const FULL: u64 = 1500;

/// Where a finding belongs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spot {
    pub(crate) policy: String,
    /// Index among the classes; none is the policy itself.
    pub(crate) class: Option<usize>,
    /// Key of the class or policy; empty is the class itself.
    pub(crate) key: String,
}

/// What a rule has found.
#[derive(Clone, Debug)]
pub(crate) struct Hit {
    pub(crate) rule: &'static Rule,
    pub(crate) spot: Spot,
    pub(crate) message: String,
}

/// One class, and who is in it.
pub(crate) struct Class<'a> {
    of: spillgate_queueing::Class<'a>,
    /// What it matches, if that can be said.
    pub(crate) set: Option<Packets>,
    /// The flows whose packets it gets; none if the traffic is not known.
    pub(crate) flows: Option<Vec<&'a Load>>,
}

impl<'a> Deref for Class<'a> {
    type Target = spillgate_queueing::Class<'a>;

    fn deref(&self) -> &Self::Target {
        &self.of
    }
}

/// A policy.
pub(crate) struct View<'a> {
    pub(crate) name: &'a str,
    /// What it divides; none if that is not known.
    pub(crate) rate: Option<Rate>,
    /// Whose rate that is.
    pub(crate) whose: &'a str,
    pub(crate) classes: Vec<Class<'a>>,
    /// Delay that is required of each class of service, in seconds.
    pub(crate) objectives: &'a BTreeMap<String, (f64, String)>,
    /// Seconds from the begin of a run until it is measured; none if nothing is run.
    pub(crate) warmup: Option<f64>,
    pub(crate) hits: Vec<Hit>,
}

impl View<'_> {
    /// Records a finding.
    pub(crate) fn hit(
        &mut self,
        rule: &'static Rule,
        class: Option<usize>,
        key: &str,
        message: String,
    ) {
        // A class-default that is not written has no line of its own.
        let written = |i: &usize| self.classes.get(*i).is_some_and(|c| c.written);
        let spot = Spot {
            policy: self.name.to_owned(),
            class: class.filter(written),
            key: key.to_owned(),
        };
        self.hits.push(Hit {
            rule,
            spot,
            message,
        });
    }
}

/// What all rules are asked of a policy with.
pub(crate) struct Question<'a> {
    pub(crate) whose: &'a str,
    pub(crate) objectives: &'a BTreeMap<String, (f64, String)>,
    /// Seconds from the begin of a run until it is measured; none if nothing is run.
    pub(crate) warmup: Option<f64>,
    /// Which classes no flow belongs to is decided by all ports together: the classes that had
    /// one, by policy and index.
    pub(crate) reached: BTreeMap<(String, usize), bool>,
    pub(crate) hits: Vec<Hit>,
}

impl<'a> Question<'a> {
    /// Asks all rules of a policy and of those inside it.
    pub(crate) fn policy(&mut self, policy: &Policy<'a>, flows: Option<&[&'a Load]>) {
        let (name, rate) = (policy.name, policy.rate());
        match policy.spec {
            DisciplineSpec::ClassBased(spec) => self.classes(policy, spec, flows),
            DisciplineSpec::Fifo(fifo) => {
                crate::rules::queues::fifo(name, fifo, rate, self.whose, &mut self.hits);
            }
            _ => {}
        }
        if let Some((key, AqmSpec::Codel(codel))) = policy.spec.managed_by() {
            let (whose, hits) = (self.whose, &mut self.hits);
            target_of_link(name, &codel, &format!("{key}target"), rate, whose, hits);
        }
    }

    fn classes(
        &mut self,
        policy: &Policy<'a>,
        spec: &'a ClassBasedSpec,
        flows: Option<&[&'a Load]>,
    ) {
        let sets: Vec<Option<Packets>> = spec
            .classes
            .iter()
            .map(|c| match &c.matching {
                Some(m) => Packets::of(m),
                None => Some(Packets::all()),
            })
            .collect();
        let mut members: Option<Vec<Vec<&'a Load>>> =
            flows.map(|_| vec![Vec::new(); spec.classes.len() + 1]);
        for load in flows.unwrap_or_default() {
            let first = load.class(&sets);
            for (i, reached) in load.reaches(&sets).into_iter().enumerate() {
                *self.reached.entry((policy.name.to_owned(), i)).or_default() |= reached;
            }
            if let Some(members) = &mut members {
                members[first].push(load);
            }
        }
        let classes = policy.classes().into_iter().map(|of| Class {
            set: match sets.get(of.index) {
                Some(set) => set.clone(),
                None => Some(Packets::all()),
            },
            flows: members.as_mut().map(|m| std::mem::take(&mut m[of.index])),
            of,
        });
        let mut view = View {
            name: policy.name,
            rate: policy.rate(),
            whose: self.whose,
            classes: classes.collect(),
            objectives: self.objectives,
            warmup: self.warmup,
            hits: Vec::new(),
        };
        crate::rules::all(&mut view);
        let View { classes, hits, .. } = view;
        self.hits.extend(hits);
        for class in classes {
            if let Some(inner) = &class.inner {
                self.policy(inner, class.flows.as_deref());
            }
        }
    }
}

/// Bytes of a limit, a packet being of full size.
pub(crate) fn bytes(limit: Limit, rate: Rate) -> u64 {
    match limit {
        Limit::Packets(n) => u64::from(n) * FULL,
        Limit::Bytes(n) => n,
        Limit::Time(t) => rate.bytes_in(t),
    }
}

/// Seconds that bytes take at a rate.
pub(crate) fn seconds(bytes: u64, rate: Rate) -> f64 {
    bytes as f64 * 8.0 / rate.bps().max(1) as f64
}

/// A time for people: three digits.
pub(crate) fn time(seconds: f64) -> String {
    let (value, unit) = if seconds >= 1.0 {
        (seconds, "s")
    } else if seconds >= 0.001 {
        (seconds * 1e3, "ms")
    } else {
        (seconds * 1e6, "us")
    };
    format!("{} {unit}", digits(value))
}

/// A rate for people: three digits.
pub(crate) fn rate(bps: f64) -> String {
    let (value, unit) = match bps {
        x if x >= 1e9 => (x / 1e9, "Gb/s"),
        x if x >= 1e6 => (x / 1e6, "Mb/s"),
        x if x >= 1e3 => (x / 1e3, "kb/s"),
        x => (x, "b/s"),
    };
    format!("{} {unit}", digits(value))
}

/// Three significant digits without trailing zeros.
pub(crate) fn digits(value: f64) -> String {
    let decimals = match value.abs() {
        x if x >= 100.0 => 0,
        x if x >= 10.0 => 1,
        _ => 2,
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A limit for people, with the time that it takes at a rate.
pub(crate) fn limit_text(limit: Limit, at: Rate) -> String {
    let taken = time(seconds(bytes(limit, at), at));
    match limit {
        Limit::Packets(n) => format!("{n} packets of {FULL} B are {taken} at {at}"),
        Limit::Bytes(n) => format!("{n} B are {taken} at {at}"),
        Limit::Time(_) => format!("the limit is {taken}, {} B at {at}", bytes(limit, at)),
    }
}
