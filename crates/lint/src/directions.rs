//! Policies at places without traffic.

use std::collections::BTreeMap;

use spillgate_scenario::Diagnostic;
use spillgate_scenario::plan::{NO_POLICY, WorldPlan};
use spillgate_scenario::survey::Surveyed;

use crate::Finding;
use crate::mtu::WrittenLinks;
use crate::registry::{Rule, rule_text};

pub(crate) const RULES: &[&Rule] = &[&NO_TRAFFIC];

rule_text! { NO_TRAFFIC = "SG-L002", "policy-without-traffic", Warning, "A policy stands on a direction of a link that carries nothing";
    why "A link is one direction: what goes back goes over another link, or over the `.reverse` of a duplex one. No flow of the scenario crosses this direction, and no acknowledgments do, so that the policy queues, polices and marks nothing, and results show it with no packets.\n\nMost often the two ends of the link were exchanged: the traffic crosses the other direction, without the policy. An access line has two directions, and the slow one is the one that needs the queue.";
    fix "Put the policy on the link in the other direction, or add the traffic that it was meant for.";
    from "Spillgate: a policy queues what leaves by the port that feeds its link";
}

/// The most separate findings on one policy; more are summed up in one.
const ONE_BY_ONE: usize = 6;

/// A direction of a link as written, and its policies.
struct Direction<'s> {
    point: usize,
    keys: Vec<&'s str>,
    name: &'s str,
    policy: &'s str,
    /// `policy` or `input_policy`.
    key: &'static str,
    ends: (u32, u32),
    carries: bool,
}

/// Policies without traffic at any point; one finding for the links of a group.
pub(crate) fn check(surveyed: &Surveyed) -> Vec<Finding> {
    let worlds: Vec<&WorldPlan> = surveyed.plan.variants.iter().map(|v| &*v.world).collect();
    // Where links fail, flows take other paths, which are not known here.
    let unsaid = |w: &&WorldPlan| !w.failures.is_empty() || w.flows.is_empty();
    if worlds.iter().any(unsaid) {
        return Vec::new();
    }
    let mut all: BTreeMap<(Vec<&str>, bool, &str), Direction<'_>> = BTreeMap::new();
    let mut crossings = Vec::new();
    for (point, world) in worlds.iter().enumerate() {
        let crossed = crossed(world);
        let written = WrittenLinks::of(surveyed, point);
        for ((id, link), flows) in (0..).zip(&world.links).zip(&crossed) {
            let port = (link.policy != NO_POLICY).then_some((link.policy.as_str(), "policy"));
            let input = world.stages.input(id);
            let input = input.map(|i| (i.policy.as_str(), "input_policy"));
            for (policy, key) in port.into_iter().chain(input) {
                let keys = written.keys(&link.name, key);
                let back = link.name.ends_with(".reverse");
                let of = all.entry((keys.clone(), back, key)).or_insert(Direction {
                    point,
                    keys,
                    name: &link.name,
                    policy,
                    key,
                    ends: (link.from, link.to),
                    carries: false,
                });
                of.carries |= *flows > 0;
            }
        }
        crossings.push(crossed);
    }
    let mut of_policy: BTreeMap<(&str, &str), Vec<Direction<'_>>> = BTreeMap::new();
    for d in all.into_values().filter(|d| !d.carries) {
        of_policy.entry((d.policy, d.key)).or_default().push(d);
    }
    let mut found = Vec::new();
    for mut empty in of_policy.into_values() {
        let others = match empty.len() {
            n if n > ONE_BY_ONE => n - 1,
            _ => 0,
        };
        if others > 0 {
            empty.truncate(1);
        }
        for d in empty {
            let busiest = busiest_back(worlds[d.point], &crossings[d.point], d.ends);
            let message = message(worlds[d.point], &d, busiest, others);
            let at = Diagnostic::warning(NO_TRAFFIC.id, message);
            let at = surveyed.place_at(d.point, &d.keys, at);
            found.push(Finding::new(&NO_TRAFFIC, at));
        }
    }
    found
}

/// The opposite link that most flows cross, and their number; none if no flow crosses one.
fn busiest_back<'w>(
    world: &'w WorldPlan,
    crossed: &[usize],
    (from, to): (u32, u32),
) -> Option<(&'w str, usize)> {
    let links = world.links.iter().zip(crossed);
    links
        .filter(|(l, n)| (l.from, l.to) == (to, from) && **n > 0)
        .max_by_key(|(_, n)| **n)
        .map(|(l, n)| (l.name.as_str(), *n))
}

/// `others`: the number of further such links with the policy.
fn message(
    world: &WorldPlan,
    d: &Direction<'_>,
    busiest_back: Option<(&str, usize)>,
    others: usize,
) -> String {
    let what = match d.key {
        "policy" => "queues nothing",
        _ => "sees nothing",
    };
    let back = match busiest_back {
        None => String::new(),
        Some((link, 1)) => format!("; a flow crosses link {link} the other way"),
        Some((link, n)) => format!("; {n} flows cross link {link} the other way"),
    };
    let others = match others {
        0 => String::new(),
        n => format!("; {n} other links with this policy carry nothing either"),
    };
    let (from, to) = d.ends;
    format!(
        "no flow crosses link {} from {} to {}, so that policy `{}` {what}{back}{others}",
        d.name, world.nodes[from as usize], world.nodes[to as usize], d.policy
    )
}

/// How many flows cross each link, with their data or their answers.
fn crossed(world: &WorldPlan) -> Vec<usize> {
    let mut flows = vec![0_usize; world.links.len()];
    let mut of_route = vec![0_usize; world.routes.len()];
    for flow in &world.flows {
        for route in [Some(flow.route), flow.back].into_iter().flatten() {
            of_route[route as usize] += 1;
        }
    }
    for (route, n) in world.routes.iter().zip(of_route) {
        for link in route {
            flows[*link as usize] += n;
        }
    }
    flows
}
