//! Queues that drop a customer's packets in profile like packets out of profile.
//!
//! A queue is examined if packets in profile meet others in it, more arrives at it than it is
//! guaranteed, and more arrives at its link than the link sends. Arrival rates are the long-run
//! rates of open-loop sources; TCP sends as much as the links and shapers before let through.

use std::collections::{BTreeMap, BTreeSet};

use spillgate_core::{Dscp, Limit, Rate};
use spillgate_endpoints::source::Source;
use spillgate_queueing::View;
use spillgate_queueing::spec::{
    AqmSpec, ClassBasedSpec, ClassSpec, DisciplineSpec, PoliceAction, PoliceActions, WredBy,
};

use super::{Check, Customer, MAX_DEPTH, Probe};
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, steps};
use crate::plan::{Application, FlowPlan, LinkPlan, Traffic};
use spillgate_core::suggest::list;

/// A queue: its link, and the classes that lead to it.
type QueuePlace = (u32, Vec<usize>);

/// The arrival rates of a queue or a link, by the queue before it: their sum, and the rate that the
/// queue before lets through, in b/s.
#[derive(Default)]
struct Arrivals(BTreeMap<Option<QueuePlace>, (f64, f64)>);

impl Arrivals {
    fn add(&mut self, before: &Option<QueuePlace>, rate: f64, most: f64) {
        self.0.entry(before.clone()).or_insert((0.0, most)).0 += rate;
    }

    fn sum(&self) -> f64 {
        self.0.values().map(|(sum, most)| sum.min(*most)).sum()
    }
}

/// The packets of a queue.
#[derive(Default)]
pub(super) struct Met<'a> {
    /// Code points of packets in profile, with their customers.
    within: BTreeMap<Dscp, BTreeSet<Customer<'a>>>,
    /// Code points of all other packets, with the customer that sends them, if one does.
    others: BTreeSet<(Dscp, Option<Customer<'a>>)>,
    arrivals: Arrivals,
    leaf: Option<Leaf<'a>>,
}

/// The arrivals at queues and links.
#[derive(Default)]
pub(super) struct Traffics<'a> {
    queues: BTreeMap<QueuePlace, Met<'a>>,
    links: BTreeMap<u32, Arrivals>,
}

/// The queue of some packets at a port.
struct Leaf<'a> {
    /// The classes that lead to it.
    classes: Vec<usize>,
    queue: Queue<'a>,
    /// Its guaranteed rate.
    guaranteed: Rate,
    /// Its maximum rate.
    most: Rate,
}

enum Queue<'a> {
    /// The class, and its policy.
    Class(&'a ClassSpec, &'a str),
    /// The implicit class-default of this policy.
    Default(&'a str),
    Port(&'a DisciplineSpec),
}

/// One direction of a flow.
pub(super) struct Way<'a, 'w> {
    pub(super) flow: &'w FlowPlan,
    pub(super) key: spillgate_core::FlowKey,
    pub(super) path: &'w [u32],
    pub(super) forth: bool,
    /// The customer that sends the packets, and the place on the path from which on they are marked
    /// as the customer's.
    pub(super) kept: Option<(usize, Customer<'a>)>,
}

impl<'a> Check<'a> {
    /// Adds the packets of a flow to the queues on its path.
    pub(super) fn pass(&mut self, way: &Way<'a, '_>) {
        let mut rate = match way.forth {
            true => demand(way.flow),
            false => 0.0,
        };
        let mut before: Option<(QueuePlace, f64)> = None;
        for (i, l) in way.path.iter().enumerate() {
            let link = &self.world.links[*l as usize];
            let came_by = i.checked_sub(1).map(|b| way.path[b] as usize);
            let input = came_by.map(|b| self.world.links[b].name.as_str());
            let customer = way.kept.filter(|(from, _)| i >= *from).map(|(_, c)| c);
            let marks = customer.map(|c| self.marks(c, way.flow.dscp));
            let (within, others) = marks.unwrap_or_else(|| (None, vec![way.flow.dscp]));
            let (place, most) = match &before {
                Some((place, most)) => (Some(place.clone()), *most),
                None => (None, f64::INFINITY),
            };
            let of_link = self.traffics.links.entry(*l).or_default();
            of_link.add(&place, rate, most);
            let mut next = None;
            let mut counted = BTreeSet::new();
            let all = within.map(|d| (d, true)).into_iter();
            for (dscp, promised) in all.chain(others.into_iter().map(|d| (d, false))) {
                let seen = Probe {
                    view: View::Ip {
                        key: &way.key,
                        dscp,
                    },
                    metadata: spillgate_queueing::Metadata {
                        input,
                        ..Default::default()
                    },
                };
                let Some(leaf) = self.leaf(link, &seen) else {
                    continue;
                };
                let here = (*l, leaf.classes.clone());
                next.get_or_insert_with(|| (here.clone(), leaf.most.bps() as f64));
                let first = counted.insert(here.clone());
                let met = self.traffics.queues.entry(here).or_default();
                met.leaf = Some(leaf);
                if first {
                    met.arrivals.add(&place, rate, most);
                }
                match customer.filter(|_| promised) {
                    Some(c) => {
                        met.within.entry(dscp).or_default().insert(c);
                    }
                    None => {
                        met.others.insert((dscp, customer));
                    }
                }
            }
            rate = next.as_ref().map_or(rate, |(_, most)| rate.min(*most));
            before = next.or(before);
        }
    }

    /// The code point of a customer's conforming packets, and those of its other packets that are
    /// sent on.
    fn marks(&self, customer: Customer<'a>, dscp: Dscp) -> (Option<Dscp>, Vec<Dscp>) {
        let Some((_, spec)) = self.spec(customer.0) else {
            return (None, vec![dscp]);
        };
        let class = &spec.classes[customer.1];
        let before = class.set_dscp.unwrap_or(dscp);
        let Some(police) = &class.police else {
            // Shaped packets never exceed.
            return (Some(before), Vec::new());
        };
        let after = |actions: &PoliceActions| {
            let set = |a: PoliceAction| match a {
                PoliceAction::SetDscp(d) => Some(d),
                _ => None,
            };
            (!actions.drops()).then(|| actions.iter().filter_map(set).last().unwrap_or(before))
        };
        let violate = police.violate.as_ref().and_then(after);
        let others = after(&police.exceed).into_iter().chain(violate);
        (after(&police.conform), others.collect())
    }

    /// The queue that a packet is put into; none if it has priority.
    fn leaf(&self, link: &LinkPlan, seen: &Probe<'_>) -> Option<Leaf<'a>> {
        let mut name: &'a str = self.policies.all.get_key_value(&link.policy)?.0;
        let (mut around, mut most, mut classes) = (link.rate.into(), link.rate, Vec::new());
        loop {
            let spec = match self.policies.all.get(name)? {
                DisciplineSpec::ClassBased(spec) => spec,
                other => {
                    return Some(Leaf {
                        classes,
                        queue: Queue::Port(other),
                        guaranteed: link.rate,
                        most,
                    });
                }
            };
            let divided = spec.divide(around);
            let default = divided.len().checked_sub(1)?;
            let hit = position(spec, seen).unwrap_or(default);
            let class = if divided.get(hit)?.queued {
                hit
            } else {
                default
            };
            let (division, class_spec) = (divided.get(class)?, spec.classes.get(class));
            let has_priority = class_spec.is_some_and(|c| c.priority.is_some());
            if has_priority || classes.len() > MAX_DEPTH {
                return None;
            }
            classes.push(class);
            most = division.shape.map_or(most, |(rate, _)| rate.min(most));
            match class_spec.and_then(|c| c.policy.as_deref()) {
                Some(inner) => {
                    around = division.inner;
                    name = inner;
                }
                None => {
                    return Some(Leaf {
                        classes,
                        queue: match class_spec {
                            Some(class) => Queue::Class(class, name),
                            None => Queue::Default(name),
                        },
                        guaranteed: division.guaranteed?,
                        most,
                    });
                }
            }
        }
    }

    /// Warns of the queue with the most unprotected customers.
    pub(super) fn unprotected(&self, ctx: &mut Ctx<'_>, root: &Node) {
        let mut found = Vec::new();
        // Nodes see only the label of a labelled packet.
        if self.world.stages.mpls().is_some() {
            return;
        }
        for ((l, _), met) in &self.traffics.queues {
            let link = &self.world.links[*l as usize];
            let on_link = self.traffics.links.get(l).map_or(0.0, Arrivals::sum);
            if on_link <= link.rate.bps() as f64 {
                continue;
            }
            let Some(leaf) = &met.leaf else { continue };
            if met.arrivals.sum() <= leaf.guaranteed.bps() as f64 {
                continue;
            }
            let mut customers = BTreeSet::new();
            let mut why = None;
            for (within, whose) in &met.within {
                for (other, of) in &met.others {
                    // A customer's own excess harms nobody else.
                    let victims = whose.iter().filter(|c| *of != Some(**c));
                    let victims: Vec<_> = victims.copied().collect();
                    if victims.is_empty() {
                        continue;
                    }
                    if let Some(words) = leaf.treats_alike(*within, *other) {
                        customers.extend(victims);
                        why.get_or_insert(words);
                    }
                }
            }
            found.extend(why.map(|why| (customers, link, leaf, why)));
        }
        found.sort_by_key(|(customers, ..)| std::cmp::Reverse(customers.len()));
        let Some((customers, link, leaf, why)) = found.first() else {
            return;
        };
        let whose = match customers.len() {
            1 => "customer",
            _ => "customers",
        };
        let names = list(customers.iter().map(|c| self.name(*c)));
        let queue = match &leaf.queue {
            Queue::Class(class, _) => format!("class `{}` of link `{}`", class.name, link.name),
            Queue::Default(_) => format!("class `class-default` of link `{}`", link.name),
            Queue::Port(_) => format!("the queue of link `{}`", link.name),
        };
        let more = match found.len() - 1 {
            0 => String::new(),
            1 => "; so it is at one more queue".to_owned(),
            n => format!("; so it is at {n} more queues"),
        };
        let d = Diagnostic::warning(
            codes::W_AGREEMENT,
            format!("{queue} does not protect what is in profile of {whose} {names}: {why}{more}"),
        )
        .hint("write `phb: af1` without an AQM of your own, `wred: {defaults: staggered}`, or `rio`, or give the customers classes of their own");
        let path = match &leaf.queue {
            Queue::Class(_, policy) => {
                let class = leaf.classes.last().copied().unwrap_or_default();
                steps!["policies", *policy, "class-based", "classes", class].to_vec()
            }
            Queue::Default(policy) => {
                steps!["policies", *policy, "class-based", "classes"].to_vec()
            }
            Queue::Port(_) => {
                let base = link.name.trim_end_matches(".reverse");
                steps!["topology", "links", base, "policy"].to_vec()
            }
        };
        ctx.warn(d, root, &path);
    }
}

/// The class that takes a packet.
fn position(spec: &ClassBasedSpec, seen: &Probe<'_>) -> Option<usize> {
    let takes = |c: &ClassSpec| match &c.matching {
        Some(m) => m.matches_with(seen.view, &seen.metadata),
        None => true,
    };
    spec.classes.iter().position(takes)
}

impl Leaf<'_> {
    /// In words, how the AQM drops packets of code point `within` by the time when it drops all of
    /// `other`; none if it spares them.
    fn treats_alike(&self, within: Dscp, other: Dscp) -> Option<String> {
        if within == other {
            return Some(format!("what exceeds has the same code point, {within}"));
        }
        let (limit, aqm) = match &self.queue {
            Queue::Class(class, _) => (class.waiting_limit(), class.aqm.as_ref()),
            Queue::Port(DisciplineSpec::Fifo(fifo)) => (fifo.limit, fifo.aqm.as_ref()),
            Queue::Port(_) | Queue::Default(_) => (Limit::Packets(64), None),
        };
        match aqm {
            Some(AqmSpec::Wred(w)) => {
                let [a, b] = [within, other].map(|d| w.profile(d, limit, self.guaranteed));
                let unit = match w.unit.in_bytes() {
                    true => "B",
                    false => "packets",
                };
                let by = match w.by {
                    WredBy::Dscp => "WRED",
                    WredBy::Precedence => "WRED by precedence",
                };
                return (a.max <= b.max).then(|| {
                    format!(
                        "{by} drops all {within} at an average of {} {unit}, and all {other} at {}",
                        a.max, b.max
                    )
                });
            }
            Some(AqmSpec::Rio(r)) if spares(&r.profile, within, other) => return None,
            Some(AqmSpec::AdaptiveRio(r)) if spares(&r.profile, within, other) => return None,
            _ => {}
        }
        if let Queue::Class(class, _) = &self.queue {
            let of = |d: Dscp| {
                let precedence = class.queue_limit_precedence.get(&d.precedence());
                class.queue_limit_dscp.get(&d).or(precedence).copied()
            };
            let spared = match (of(within), of(other)) {
                (None, Some(_)) => true,
                (Some(Limit::Packets(a)), Some(Limit::Packets(b))) => a > b,
                (Some(Limit::Bytes(a)), Some(Limit::Bytes(b))) => a > b,
                (Some(Limit::Time(a)), Some(Limit::Time(b))) => a > b,
                _ => false,
            };
            if spared {
                return None;
            }
        }
        Some(format!("it drops {within} as {other}"))
    }
}

fn spares(profile: &[Dscp], within: Dscp, other: Dscp) -> bool {
    profile.contains(&within) && !profile.contains(&other)
}

/// The long-run rate of a flow in b/s, if nothing holds it back.
fn demand(flow: &FlowPlan) -> f64 {
    match &flow.traffic {
        Traffic::Source(source) => Source::mean_rate(source),
        Traffic::Tcp { application, .. } => match application {
            Application::Source(source) => Source::mean_rate(source),
            Application::Greedy => f64::INFINITY,
            Application::Bytes(_) => 0.0,
        },
        Traffic::Sessions(_) | Traffic::Replay(_) => 0.0,
    }
}
