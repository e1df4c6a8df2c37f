//! What cannot be exceeded at a point, beside what its runs measured: the column *bound*.
//!
//! The bounds of [`spillgate_bounds`] by the names of results. They are those of the lowered
//! scenario, so that stored runs have the same whenever they are loaded, and are computed at most
//! once for each point.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Serialize;
use spillgate_bounds::{Bounds, bounds, lost_outside_queues, quick_bounds};
use spillgate_core::Dur;
use spillgate_measure::table::{Metric, Scope};
use spillgate_scenario::plan::{FlowPlan, WorldPlan};

use crate::report::Report;

/// What some flows cannot exceed, or why there is nothing.
#[derive(Clone, Debug)]
pub(crate) struct End {
    /// The longest one-way delay.
    pub(crate) owd: Result<Dur, String>,
    /// Whether no packet can be lost.
    pub(crate) lossless: Result<(), String>,
}

/// What a queue cannot exceed.
struct OfQueue {
    /// Seconds.
    delay: f64,
    /// Bytes.
    backlog: f64,
    lossless: bool,
}

/// What cannot be exceeded at a point.
pub(crate) struct Ceilings {
    ends: BTreeMap<Scope, BTreeMap<String, End>>,
    /// Of ports, and of nodes that hold packets.
    queues: BTreeMap<Scope, BTreeMap<String, OfQueue>>,
}

/// The bound of a class of service, as a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BoundRow {
    /// Variant.
    pub variant: String,
    /// Class of service.
    pub class: String,
    /// The longest one-way delay in seconds; null if there is none.
    pub owd: Option<f64>,
    /// Whether no packet can be lost.
    pub lossless: bool,
    /// Why there is no bound; null if there is one.
    pub why: Option<String>,
}

/// What cannot be exceeded at a point, found when it is first asked for: networks of thousands of
/// links are looked through once, not for every value.
#[derive(Default)]
pub(crate) struct Limits {
    /// If they are found by the way.
    quick: OnceLock<Option<Ceilings>>,
    /// If not.
    slow: OnceLock<Ceilings>,
}

impl Limits {
    fn quick(&self, world: &WorldPlan) -> Option<&Ceilings> {
        let found = || quick_bounds(world).map(|found| Ceilings::of(world, &found));
        self.quick.get_or_init(found).as_ref()
    }

    /// Why results have no bounds at the point; none if they have.
    fn without(&self, world: &WorldPlan) -> Option<&'static str> {
        if !world.failures.is_empty() {
            let why =
                "links fail in this scenario; `spillgate bound` says what holds while none does";
            return Some(why);
        }
        let why =
            "a point of so many flows is not bounded with each run; `spillgate bound` does it";
        self.quick(world).is_none().then_some(why)
    }

    /// What cannot be exceeded while no link fails.
    pub(crate) fn ceilings(&self, world: &WorldPlan) -> &Ceilings {
        let slow = || Ceilings::of(world, &bounds(world));
        self.quick(world)
            .unwrap_or_else(|| self.slow.get_or_init(slow))
    }

    /// What a metric cannot exceed, whatever happens; none if nothing is known.
    pub(crate) fn bound(
        &self,
        world: &WorldPlan,
        scope: Scope,
        name: &str,
        metric: Metric,
    ) -> Option<f64> {
        if !may_have(scope, metric) || self.without(world).is_some() {
            return None;
        }
        self.ceilings(world).bound(scope, name, metric)
    }
}

/// Whether a metric of a scope may have a bound.
fn may_have(scope: Scope, metric: Metric) -> bool {
    match scope {
        Scope::Queue | Scope::Node | Scope::Voq => matches!(
            metric,
            Metric::SojournMean
                | Metric::SojournP50
                | Metric::SojournP95
                | Metric::SojournP99
                | Metric::SojournP999
                | Metric::SojournMax
                | Metric::BacklogBytesMean
                | Metric::BacklogBytesMax
                | Metric::LossRatio
        ),
        Scope::Flow | Scope::Class | Scope::ClassDscp | Scope::Site => {
            metric == Metric::LossRatio || (metric.is_delay() && metric != Metric::OwdMin)
        }
        _ => false,
    }
}

impl Ceilings {
    fn of(world: &WorldPlan, found: &Bounds) -> Self {
        let mut ends: BTreeMap<Scope, BTreeMap<String, End>> = BTreeMap::new();
        let mut put = |scope, name: &str, end| {
            let of = ends.entry(scope).or_default();
            of.insert(name.to_owned(), end);
        };
        for (i, name) in world.classes.iter().enumerate() {
            let has = |f: &FlowPlan| usize::from(f.class) == i;
            put(Scope::Class, name, End::of_some(world, found, has));
        }
        for site in &world.sites {
            let has = |f: &FlowPlan| site.has(f);
            put(Scope::Site, &site.name, End::of_some(world, found, has));
        }
        for (i, flow) in world.flows.iter().enumerate() {
            put(Scope::Flow, &flow.name, End::of(world, found, [i]));
        }
        let ports = found.hops.iter().filter_map(|hop| {
            let bound = hop.bound.as_ref().ok()?;
            let link = &world.links[hop.link as usize];
            let of = OfQueue {
                delay: bound.delay.as_secs_f64(),
                backlog: bound.backlog as f64,
                // What the link loses counts as lost at the queue.
                lossless: bound.lossless && link.loss.is_none() && link.mtu == u32::MAX,
            };
            Some((format!("{}/{}", link.name, hop.name), of))
        });
        let mut queues = BTreeMap::from([(Scope::Queue, ports.collect())]);
        for hop in &found.nodes {
            let Ok(bound) = &hop.bound else { continue };
            // A processor is the node's only queue; those of a switch have names of their own.
            let (scope, name) = match hop.name == "processor" {
                true => (Scope::Node, &world.nodes[hop.node as usize]),
                false => (Scope::Voq, &hop.name),
            };
            let of = OfQueue {
                delay: bound.delay.as_secs_f64(),
                backlog: bound.backlog as f64,
                lossless: bound.lossless,
            };
            let all: &mut BTreeMap<_, _> = queues.entry(scope).or_default();
            all.insert(name.clone(), of);
        }
        Self { queues, ends }
    }

    /// What cannot be exceeded of a group of flows.
    pub(crate) fn end(&self, scope: Scope, name: &str) -> Option<&End> {
        let (scope, name) = match scope {
            Scope::ClassDscp => (Scope::Class, name.rsplit_once('/')?.0),
            scope => (scope, name),
        };
        self.ends.get(&scope)?.get(name)
    }

    /// What a metric cannot exceed, in its base unit; none if nothing is known.
    fn bound(&self, scope: Scope, name: &str, metric: Metric) -> Option<f64> {
        if let Scope::Queue | Scope::Node | Scope::Voq = scope {
            let of = self.queues.get(&scope)?.get(name)?;
            return match metric {
                Metric::LossRatio => of.lossless.then_some(0.0),
                Metric::BacklogBytesMean | Metric::BacklogBytesMax => Some(of.backlog),
                _ => Some(of.delay),
            };
        }
        let end = self.end(scope, name)?;
        match metric {
            Metric::LossRatio => end.lossless.is_ok().then_some(0.0),
            _ => Some(end.owd.as_ref().ok()?.as_secs_f64()),
        }
    }
}

impl End {
    fn of_some(world: &WorldPlan, found: &Bounds, has: impl Fn(&FlowPlan) -> bool) -> Self {
        let flows = world.flows.iter().enumerate();
        Self::of(world, found, flows.filter(|(_, f)| has(f)).map(|(i, _)| i))
    }

    /// That of some flows together.
    fn of(world: &WorldPlan, found: &Bounds, flows: impl IntoIterator<Item = usize>) -> Self {
        let mut end = Self {
            owd: Ok(Dur::ZERO),
            lossless: Ok(()),
        };
        for i in flows {
            match (&mut end.owd, &found.flows[i]) {
                (Ok(longest), Ok(way)) => *longest = way.owd().max(*longest),
                (owd @ Ok(_), Err(why)) => *owd = Err(why.to_string()),
                (Err(_), _) => {}
            }
            let lossless = found.flows[i].as_ref().is_ok_and(|way| way.lossless);
            if end.lossless.is_ok() && !lossless {
                let why = lost_outside_queues(world, i);
                let why = why.map(|w| w.to_string());
                end.lossless = Err(why.unwrap_or_else(|| "a queue may drop packets".to_owned()));
            }
        }
        end
    }
}

impl Report {
    /// What cannot be exceeded at a point while no link fails.
    pub(crate) fn ceilings(&self, variant: usize) -> &Ceilings {
        self.limits[variant].ceilings(self.world(variant))
    }

    fn world(&self, variant: usize) -> &WorldPlan {
        &self.plan().variants[variant].world
    }

    /// What a metric cannot exceed at a point, whatever happens; none if nothing is known.
    pub(crate) fn bound(
        &self,
        variant: usize,
        scope: Scope,
        name: &str,
        metric: Metric,
    ) -> Option<f64> {
        self.limits[variant].bound(self.world(variant), scope, name, metric)
    }

    /// What the delay of each class of service cannot exceed in each variant.
    pub fn bounds(&self) -> Vec<BoundRow> {
        let mut rows = Vec::new();
        for (variant, point) in self.plan().variants.iter().enumerate() {
            let none = self.limits[variant].without(&point.world);
            for class in &point.world.classes {
                let end = match none {
                    None => self.ceilings(variant).end(Scope::Class, class).cloned(),
                    Some(why) => Some(End {
                        owd: Err(why.to_owned()),
                        lossless: Err(why.to_owned()),
                    }),
                };
                let Some(End { owd, lossless }) = end else {
                    continue;
                };
                rows.push(BoundRow {
                    variant: point.name.clone(),
                    class: class.clone(),
                    owd: owd.as_ref().ok().map(|d| d.as_secs_f64()),
                    lossless: lossless.is_ok(),
                    why: owd.err(),
                });
            }
        }
        rows
    }
}
