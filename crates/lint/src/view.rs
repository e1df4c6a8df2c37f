//! A policy at a rate, as the rules see it.

use std::collections::BTreeMap;
use std::ops::Deref;

use spillgate_core::{Limit, Rate, show};
use spillgate_queueing::spec::DisciplineSpec;
use spillgate_queueing::{PacketSet, Place, Policy};

use crate::registry::Rule;
use crate::traffic::{Load, Sizes};

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
    pub(crate) set: Option<PacketSet>,
    /// The flows whose packets it gets; none if the traffic is not known.
    pub(crate) flows: Option<Vec<&'a Load>>,
}

impl<'a> Deref for Class<'a> {
    type Target = spillgate_queueing::Class<'a>;

    fn deref(&self) -> &Self::Target {
        &self.of
    }
}

/// A place where packets wait: the queue of a class, or that of a port.
pub(crate) struct Queue<'a> {
    /// Index of its class; none if the policy has no classes.
    pub(crate) class: Option<usize>,
    /// Its class or port in words.
    pub(crate) what: String,
    pub(crate) place: Place,
    /// The rate at which it drains while everybody has something to send, if that is known.
    pub(crate) rate: Option<Rate>,
    /// The highest rate at which it may drain.
    pub(crate) best: Option<Rate>,
    /// What may come to it, if that can be said.
    pub(crate) set: Option<PacketSet>,
    /// The flows whose packets wait in it, those of classes without a queue of their own among
    /// them; none if the traffic is not known.
    pub(crate) flows: Option<Vec<&'a Load>>,
}

impl Queue<'_> {
    /// The limit that WRED's default thresholds refer to.
    pub(crate) fn table_limit(&self) -> Limit {
        let own = |key: &str| matches!(key, "queue_limit" | "priority.limit");
        let all = &self.place.limits;
        let own = all.iter().find(|(key, _)| own(key)).or_else(|| all.first());
        own.map_or(Limit::Packets(64), |(_, limit)| *limit)
    }

    /// How much may wait, with its key, if packets share one queue.
    pub(crate) fn limit(&self) -> Option<(&str, Limit)> {
        let own = self.place.limits.first().filter(|_| !self.place.by_flow)?;
        Some((&own.0, own.1))
    }

    /// Every DSCP that packets have here, a bit each; none if that is not known.
    pub(crate) fn dscps(&self) -> Option<u64> {
        match (&self.flows, &self.set) {
            (Some(flows), _) => Some(flows.iter().fold(0, |bits, l| bits | l.dscps())),
            (None, set) => set.as_ref().map(PacketSet::dscps),
        }
    }

    /// Bytes of a packet, where a limit is in packets: of full size, or of the longest that comes
    /// if all are shorter.
    pub(crate) fn each(&self) -> u64 {
        let longest = self.lengths().map(|(longest, _)| u64::from(longest));
        longest.map_or(FULL, |l| l.min(FULL))
    }

    /// The longest packet that comes, and one that none is shorter than, as the link counts them;
    /// none if that is not known.
    pub(crate) fn lengths(&self) -> Option<(u32, u32)> {
        lengths(self.flows.as_ref()?, |l| l.sizes)
    }
}

/// The longest packet of some flows, and one that none is shorter than, as somebody counts; none if
/// there are no flows, or not known.
pub(crate) fn lengths(flows: &[&Load], by: fn(&Load) -> Sizes) -> Option<(u32, u32)> {
    let longest = flows.iter().map(|l| by(l).longest).max()?;
    let shortest = flows.iter().map(|l| by(l).shortest).min()?;
    (longest > 0).then_some((longest, shortest))
}

/// A policy.
pub(crate) struct View<'a> {
    pub(crate) name: &'a str,
    /// Its kind of discipline.
    pub(crate) kind: &'static str,
    /// What it divides; none if that is not known.
    pub(crate) rate: Option<Rate>,
    /// Whose rate that is.
    pub(crate) whose: &'a str,
    pub(crate) classes: Vec<Class<'a>>,
    /// The places where packets wait; none where packets arrive at a node.
    pub(crate) queues: Vec<Queue<'a>>,
    /// Delay that is required of each class of service, in seconds.
    pub(crate) objectives: &'a BTreeMap<String, (f64, String)>,
    /// Seconds from the begin of a run until it is measured; none if nothing is run.
    pub(crate) warmup: Option<f64>,
    pub(crate) hits: Vec<Hit>,
}

impl<'a> View<'a> {
    /// Looks at every queue.
    pub(crate) fn each_queue(&mut self, look: impl Fn(&mut Self, &Queue<'a>)) {
        let queues = std::mem::take(&mut self.queues);
        queues.iter().for_each(|q| look(self, q));
        self.queues = queues;
    }

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
    /// Packets arrive at a node: they are policed and marked, and nothing waits.
    pub(crate) arrival: bool,
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
        let classes = self.classes(policy, flows);
        let mut view = View {
            name: policy.name,
            kind: policy.spec.kind(),
            rate: policy.rate(),
            whose: self.whose,
            queues: match self.arrival {
                true => Vec::new(),
                false => self.queues(policy, &classes, flows),
            },
            classes,
            objectives: self.objectives,
            warmup: self.warmup,
            hits: Vec::new(),
        };
        crate::rules::all(&mut view, self.arrival);
        let View { classes, hits, .. } = view;
        self.hits.extend(hits);
        for class in classes {
            if let Some(inner) = &class.inner {
                self.policy(inner, class.flows.as_deref());
            }
        }
    }

    /// The places of a policy, with the flows whose packets wait there.
    fn queues(
        &self,
        policy: &Policy<'a>,
        classes: &[Class<'a>],
        flows: Option<&[&'a Load]>,
    ) -> Vec<Queue<'a>> {
        let known = policy.rate();
        let places = policy.places().into_iter();
        places
            .map(|(class, place)| {
                let Some(class) = class else {
                    return Queue {
                        class: None,
                        what: self.whose.to_owned(),
                        place,
                        rate: known,
                        best: known,
                        set: Some(PacketSet::all()),
                        flows: flows.map(<[_]>::to_vec),
                    };
                };
                let own = &classes[class.index];
                let guaranteed = class.division.guaranteed;
                // Packets of classes without a queue wait with those of class-default.
                let with = |c: &&Class<'a>| {
                    c.index == class.index || (class.is_default() && !c.division.queued)
                };
                let members = classes.iter().filter(with).map(|c| c.flows.clone());
                let flows: Option<Vec<_>> = members.collect();
                Queue {
                    class: Some(class.index),
                    what: format!("class {}", class.spec.name),
                    place,
                    rate: known.map(|whole| guaranteed.unwrap_or(whole)),
                    best: known.map(|w| class.division.shape.map_or(w, |(r, _)| r.min(w))),
                    set: own.set.clone(),
                    flows: flows.map(|all| all.concat()),
                }
            })
            .collect()
    }

    /// The classes of a policy, with the flows that belong to them.
    fn classes(&mut self, policy: &Policy<'a>, flows: Option<&[&'a Load]>) -> Vec<Class<'a>> {
        let DisciplineSpec::ClassBased(spec) = policy.spec else {
            return Vec::new();
        };
        let mut members: Option<Vec<Vec<&'a Load>>> =
            flows.map(|_| vec![Vec::new(); spec.classes.len() + 1]);
        for load in flows.unwrap_or_default() {
            for (i, reached) in load.reaches(spec).into_iter().enumerate() {
                *self.reached.entry((policy.name.to_owned(), i)).or_default() |= reached;
            }
            if let Some(members) = &mut members {
                members[load.class(spec)].push(load);
            }
        }
        let set = |c: &spillgate_queueing::Class<'_>| match &c.spec.matching {
            Some(m) => PacketSet::of(m),
            None => Some(PacketSet::all()),
        };
        let classes = policy.classes().into_iter().map(|of| Class {
            set: set(&of),
            flows: members.as_mut().map(|m| std::mem::take(&mut m[of.index])),
            of,
        });
        classes.collect()
    }
}

/// Bytes of a limit, a packet being of full size.
pub(crate) fn bytes(limit: Limit, rate: Rate) -> u64 {
    bytes_of(limit, rate, FULL)
}

/// Bytes of a limit, a packet being of this size.
pub(crate) fn bytes_of(limit: Limit, rate: Rate, each: u64) -> u64 {
    match limit {
        Limit::Packets(n) => u64::from(n) * each,
        Limit::Bytes(n) => n,
        Limit::Time(t) => rate.bytes_in(t),
    }
}

/// Seconds that bytes take at a rate.
pub(crate) fn seconds(bytes: u64, rate: Rate) -> f64 {
    bytes as f64 * 8.0 / rate.bps().max(1) as f64
}

/// A time for people, given in seconds: three digits.
pub(crate) fn time(seconds: f64) -> String {
    show::rough(seconds, "s")
}

/// A rate for people, given in bits per second: three digits.
pub(crate) fn rate(bps: f64) -> String {
    show::rough(bps, "b/s")
}

/// A limit for people, a packet being of this size, with the time that it takes at a rate.
pub(crate) fn limit_text(limit: Limit, at: Rate, each: u64) -> String {
    let taken = time(seconds(bytes_of(limit, at, each), at));
    match limit {
        Limit::Packets(n) => format!("{n} packets of {each} B are {taken} at {at}"),
        Limit::Bytes(n) => format!("{n} B are {taken} at {at}"),
        Limit::Time(_) => format!("the limit is {taken}, {} B at {at}", bytes(limit, at)),
    }
}
