//! The bounds of a world as a table: per class of service and flow end to end, and per queue.

use std::collections::BTreeMap;

use serde::Serialize;
use spillgate_core::Dur;
use spillgate_queueing::{Part, Reason};
use spillgate_scenario::plan::WorldPlan;

use crate::{Bounds, From, HopBound};

/// All bounds of a point of a scenario.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// By class of service.
    pub classes: Vec<ClassBound>,
    /// By flow.
    pub flows: Vec<ClassBound>,
    /// By link and queue.
    pub queues: Vec<QueueBound>,
    /// Links fail in the scenario: the bounds are those of the network in which none does.
    pub without_failures: bool,
}

/// The bound of a class or flow, end to end.
#[derive(Clone, Debug, Serialize)]
pub struct ClassBound {
    /// Its name.
    pub name: String,
    /// The longest one-way delay in seconds, rounded up to a picosecond; null if there is none.
    pub owd: Option<f64>,
    /// Whether no packet can be lost in a queue.
    pub lossless: bool,
    /// Why there is no bound.
    pub why: Option<String>,
}

/// The bound of a queue.
#[derive(Clone, Debug, Serialize)]
pub struct QueueBound {
    /// The link whose port it is at.
    pub link: String,
    /// The name of the queue: of a class-based policy the class.
    pub queue: String,
    /// The classes of service whose packets may come to it.
    pub classes: Vec<String>,
    /// The longest time in seconds from arrival until a packet has been sent.
    pub delay: Option<f64>,
    /// The most bytes that wait.
    pub backlog: Option<u64>,
    /// Whether no packet can be lost here.
    pub lossless: bool,
    /// `burst` if sources and policers bound the delay, `limit` if the queue's limit does.
    pub by: Option<&'static str>,
    /// The bytes of its own that are sent meanwhile.
    pub own: Option<u64>,
    /// The rate that it is guaranteed in the end, in b/s.
    pub rate: Option<u64>,
    /// The parts of the delay in seconds, by what causes them: `own`, its own bytes on an empty
    /// line, and what is more: `priority`, `front`, `shaper`, `share`.
    pub parts: BTreeMap<&'static str, f64>,
    /// Why there is no bound.
    pub why: Option<String>,
}

fn end(name: String, of: &[(&Result<Dur, Reason>, bool)]) -> ClassBound {
    let failed = of.iter().find_map(|(r, _)| r.as_ref().err());
    let longest = of.iter().filter_map(|(r, _)| r.as_ref().ok()).max();
    ClassBound {
        name,
        owd: longest
            .filter(|_| failed.is_none())
            .map(|d| d.as_secs_f64()),
        lossless: of.iter().all(|(_, lossless)| *lossless),
        why: failed.map(ToString::to_string),
    }
}

/// The bounds of a world in words and numbers.
pub fn report(world: &WorldPlan, bounds: &Bounds) -> Report {
    let ends: Vec<_> = bounds
        .flows
        .iter()
        .zip(bounds.lossless.iter().copied())
        .collect();
    let of_class = |class: usize| {
        let own = world.flows.iter().zip(&ends);
        let own = own.filter(|(f, _)| usize::from(f.class) == class);
        own.map(|(_, end)| *end).collect::<Vec<_>>()
    };
    let classes = world.classes.iter().enumerate();
    let flows = world.flows.iter().zip(&ends);
    Report {
        classes: classes
            .map(|(i, name)| end(name.clone(), &of_class(i)))
            .collect(),
        flows: flows.map(|(f, e)| end(f.name.to_string(), &[*e])).collect(),
        queues: bounds.hops.iter().map(|h| queue(world, h)).collect(),
        without_failures: !world.failures.is_empty(),
    }
}

fn parts(bound: &HopBound) -> BTreeMap<&'static str, f64> {
    let name = |part: &Part| match part {
        Part::Priority => "priority",
        Part::Front => "front",
        Part::Shaper => "shaper",
        Part::Share => "share",
    };
    let steps = bound.parts.iter().map(|(part, more)| (name(part), *more));
    let all = std::iter::once(("own", bound.alone)).chain(steps);
    all.map(|(part, time)| (part, time.as_secs_f64())).collect()
}

fn queue(world: &WorldPlan, hop: &crate::Hop) -> QueueBound {
    let bound = hop.bound.as_ref().ok();
    QueueBound {
        link: world.links[hop.link as usize].name.clone(),
        queue: hop.name.clone(),
        classes: hop
            .classes
            .iter()
            .map(|c| world.classes[usize::from(*c)].clone())
            .collect(),
        delay: bound.map(|b| b.delay.as_secs_f64()),
        backlog: bound.map(|b| b.backlog),
        lossless: bound.is_some_and(|b| b.lossless),
        by: bound.map(|b| match b.from {
            From::Arrivals => "burst",
            From::Limit => "limit",
        }),
        own: bound.map(|b| b.own),
        rate: bound.map(|b| b.rate),
        parts: bound.map_or_else(BTreeMap::new, parts),
        why: hop.bound.as_ref().err().map(ToString::to_string),
    }
}
