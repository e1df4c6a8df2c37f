//! Policies where nothing passes.

use std::collections::BTreeMap;

use spillgate_scenario::Diagnostic;
use spillgate_scenario::plan::{NO_POLICY, WorldPlan};
use spillgate_scenario::survey::Surveyed;

use crate::Finding;
use crate::mtu::written;
use crate::registry::{Rule, rule_text};

pub(crate) const RULES: &[&Rule] = &[&NO_TRAFFIC];

rule_text! { NO_TRAFFIC = "SG-L002", "policy-without-traffic", Warning, "A policy stands on a direction of a link that carries nothing";
    why "A link is one direction: what goes back goes over another link, or over the `.reverse` of a duplex one. No flow of the scenario crosses this direction, and no acknowledgments do, so that the policy queues, polices and marks nothing, and results show it with no packets.\n\nMost often the two ends of the link were exchanged: the traffic crosses the other direction, without the policy. An access line has two directions, and the slow one is the one that needs the queue.";
    fix "Put the policy on the link in the other direction, or add the traffic that it was meant for.";
    from "Spillgate: a policy queues what leaves by the port that feeds its link";
}

/// A direction of a link as written, and what stands there.
struct Direction<'s> {
    point: usize,
    name: &'s str,
    policy: &'s str,
    ends: (u32, u32),
    carries: bool,
}

/// Policies that nothing meets at any point; of the links of a group one finding.
pub(crate) fn check(surveyed: &Surveyed) -> Vec<Finding> {
    let worlds: Vec<&WorldPlan> = surveyed.plan.variants.iter().map(|v| &*v.world).collect();
    // Where links fail, flows take other paths than are known here.
    let unsaid = |w: &&WorldPlan| !w.failures.is_empty() || w.flows.is_empty();
    if worlds.iter().any(unsaid) {
        return Vec::new();
    }
    type Key = (Vec<String>, bool, &'static str);
    let mut all: BTreeMap<Key, Direction<'_>> = BTreeMap::new();
    for (point, world) in worlds.iter().enumerate() {
        let crossed = crossed(world);
        for (id, link) in link_ids(world) {
            let port = (link.policy != NO_POLICY).then_some((link.policy.as_str(), "policy"));
            let input = link
                .input
                .as_ref()
                .map(|i| (i.policy.as_str(), "input_policy"));
            for (policy, key) in port.into_iter().chain(input) {
                let keys = written(surveyed, point, &link.name, key);
                let keys = keys.iter().map(|k| (*k).to_owned()).collect();
                let back = link.name.ends_with(".reverse");
                let of = all.entry((keys, back, key)).or_insert(Direction {
                    point,
                    name: &link.name,
                    policy,
                    ends: (link.from, link.to),
                    carries: false,
                });
                of.carries |= crossed[id] > 0;
            }
        }
    }
    let empty = all.into_iter().filter(|(_, d)| !d.carries);
    empty
        .map(|((keys, _, key), d)| {
            let world = worlds[d.point];
            let (from, to) = d.ends;
            let back = crossed(world);
            let other = link_ids(world)
                .filter(|(id, l)| (l.from, l.to) == (to, from) && back[*id] > 0)
                .max_by_key(|(id, _)| back[*id]);
            let other = other.map_or_else(String::new, |(id, l)| {
                let flows = match back[id] {
                    1 => "a flow crosses".to_owned(),
                    n => format!("{n} flows cross"),
                };
                format!("; {flows} link {} the other way", l.name)
            });
            let what = match key {
                "policy" => "queues nothing",
                _ => "sees nothing",
            };
            let message = format!(
                "no flow crosses link {} from {} to {}, so that policy `{}` {what}{other}",
                d.name, world.nodes[from as usize], world.nodes[to as usize], d.policy
            );
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            let d = surveyed.place_at(d.point, &keys, Diagnostic::warning(NO_TRAFFIC.id, message));
            Finding::new(&NO_TRAFFIC, d)
        })
        .collect()
}

fn link_ids(
    world: &WorldPlan,
) -> impl Iterator<Item = (usize, &spillgate_scenario::plan::LinkPlan)> {
    world.links.iter().enumerate()
}

/// How many flows cross each link, those whose answers do among them.
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
