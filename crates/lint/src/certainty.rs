//! Requirements beside what bounds say: delays that nothing bounds, what cannot hold for certain,
//! and certainty of nothing.

use spillgate_bounds::{Bounds, quick_bounds};
use spillgate_core::show::rough;
use spillgate_measure::Metric;
use spillgate_scenario::plan::{FlowPlan, Plan, SlaPlan, WorldPlan};

use crate::Finding;
use crate::objectives::{about, along, at, is_about};
use crate::registry::{Rule, rule_text};
use crate::traffic::lengths;

pub(crate) const RULES: &[&Rule] = &[&NO_BOUND, &NOT_CERTAIN, &OF_NOTHING];

rule_text! { NO_BOUND = "SG-O004", "delay-without-bound", Note, "A delay is required that nothing bounds";
    why "Runs say what has happened, and how often; that a packet never takes longer only a bound says. Where neither the sources and policers limit what comes to a queue nor the queue itself what waits, or where no guarantee of a scheduler is known, there is none: however many runs pass, another may not.\n\nThe most frequent cause is a priority class without a policer: what it lets through, the classes behind it wait for.";
    fix "Look at `spillgate bound`; police the priority class, limit the queue, or guarantee the class a rate. Where a mean or a percentile is all that was promised, nothing need be done.";
    from "J.-Y. Le Boudec, P. Thiran: Network Calculus (Springer 2001), section 1.4; docs/models/bounds.md";
}

rule_text! { NOT_CERTAIN = "SG-O005", "delay-never-certain", Warning, "A delay that cannot hold for certain with any policy";
    why "No scheduler takes a packet off the line once it is being sent. A packet may find the longest packet of other traffic there, whatever its priority; it then takes propagation, its own transmission, and the rest of that packet. Below their sum no delay is certain, however often it is kept in runs.\n\nWhat is compared is the flow with the longest path, and one packet in front at the hop where it takes longest.";
    fix "Require more, make the long packets of other traffic shorter (their MTU), or the slow link faster.";
    from "RFC 7679, section 3.7 (propagation and transmission); RFC 3246, section 2.2 (a packet in front is in the error term of expedited forwarding)";
}

rule_text! { OF_NOTHING = "SG-O006", "certainty-of-nothing", Warning, "What is to hold for certain is of flows that send nothing while it is measured";
    why "Packets count that are sent within the measured period. All flows that the requirement is about begin after its end, or stop before its begin: no run can refute it, and what is proven is a promise to nobody.\n\nMost often `start`, `stop`, `warmup` or `duration` is not what was meant.";
    fix "Let the flows send within the measured period, or take the requirement out.";
    from "Spillgate: the measured period (docs/models/measurement.md)";
}

/// Points of which bounds are compared with requirements: others are seldom different.
const MOST_POINTS: usize = 50;

/// The requirements at one point of a scenario.
pub(crate) fn check(plan: &Plan, point: usize, world: &WorldPlan) -> Vec<Finding> {
    let delays = |r: &&SlaPlan| r.max.is_some() && r.metric.is_delay();
    // Elsewhere flows take other paths than are known here, and bounds take too long.
    let bounded = world.failures.is_empty() && point < MOST_POINTS;
    let known = (bounded && plan.sla.iter().any(|r| delays(&r))).then(|| quick_bounds(world));
    let known = known.flatten();
    let mut said = Vec::new();
    let mut found = Vec::new();
    for r in &plan.sla {
        let flows = world.flows.iter().enumerate();
        let flows: Vec<_> = flows.filter(|(_, f)| is_about(world, r, f)).collect();
        if r.certain && flows.iter().all(|(_, f)| !sends(world, f)) {
            let message = format!(
                "no flow of {} sends a packet while it is measured",
                about(r)
            );
            found.push(at(&OF_NOTHING, r, message));
        }
        if !delays(&r) {
            continue;
        }
        if let Some(message) = known.as_ref().and_then(|k| unbounded(k, r, &flows)) {
            // Several percentiles of a class have one reason.
            if !said.contains(&about(r)) {
                said.push(about(r));
                found.push(at(&NO_BOUND, r, message));
            }
        }
        if world.failures.is_empty() && (r.certain || r.metric == Metric::OwdMax) {
            found.extend(never(world, r, &flows).map(|m| at(&NOT_CERTAIN, r, m)));
        }
    }
    found
}

/// Whether a flow may send within the measured period.
fn sends(world: &WorldPlan, flow: &FlowPlan) -> bool {
    let life = &flow.lifetime;
    let (begin, end) = (world.warmup, world.warmup + world.duration);
    life.start.as_ps() < end.as_ps() && life.stop.as_ps() > begin.as_ps()
}

/// Why nothing bounds a delay that is required.
fn unbounded(known: &Bounds, r: &SlaPlan, flows: &[(usize, &FlowPlan)]) -> Option<String> {
    let mut bounds = flows.iter().map(|(i, _)| &known.flows[*i]);
    let why = bounds.find_map(|b| b.as_ref().err())?;
    Some(format!("{}, and nothing bounds it: {why}", required(r)?))
}

fn required(r: &SlaPlan) -> Option<String> {
    let most = rough(r.max?, r.metric.unit());
    let certain = if r.certain { " for certain" } else { "" };
    let name = r.metric.name();
    Some(format!(
        "{name} of {} is to be at most {most}{certain}",
        about(r)
    ))
}

/// What a delay cannot be below for certain, if that is more than is required.
fn never(world: &WorldPlan, r: &SlaPlan, flows: &[(usize, &FlowPlan)]) -> Option<String> {
    let least = flows.iter().map(|(i, f)| {
        let longest = lengths(&f.traffic, true).1.max(1);
        along(world, f.route, longest) + in_front(world, *i)
    });
    let least = least.reduce(f64::max)?;
    // A tie is left to the bound.
    (least > r.max? * (1.0 + 1e-9)).then_some(())?;
    Some(format!(
        "{}: propagation, transmission and one packet in front take {}",
        required(r)?,
        rough(least, r.metric.unit())
    ))
}

/// Seconds that the longest packet of other flows takes at the hop where that is most.
fn in_front(world: &WorldPlan, flow: usize) -> f64 {
    let path = world.routes[world.flows[flow].route as usize].iter();
    let over = |link: &u32| {
        let plan = &world.links[*link as usize];
        if plan.server.is_some() || world.holding.serve(*link) {
            return 0.0;
        }
        let crosses = |route: u32| world.routes[route as usize].contains(link);
        let others = world.flows.iter().enumerate().filter(|(i, _)| *i != flow);
        let longest = others.filter(|(_, f)| crosses(f.route));
        let longest = longest.map(|(_, f)| lengths(&f.traffic, true).1).max();
        longest.map_or(0.0, |l| {
            8.0 * f64::from(plan.overhead.wire_len(l)) / plan.rate.bps() as f64
        })
    };
    path.map(over).fold(0.0, f64::max)
}
