//! The links and switches that have time series.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::links::Links;
use super::nodes::{Nodes, Place};
use crate::ctx::Ctx;
use crate::node::{Node, steps};
use crate::plan::WorldPlan;
use crate::schema::Scenario;

/// The most links that have series if the scenario names none.
const USUAL: usize = 20;

/// The most virtual output queues that have series if the scenario names no switch.
const USUAL_QUEUES: usize = 256;

/// The links, and the nodes of switches, that a scenario names.
#[derive(Default)]
pub(super) struct WatchedNames {
    links: BTreeSet<u32>,
    nodes: BTreeSet<u32>,
}

/// The links and switches that the scenario names; none if it names none.
pub(super) fn named(
    ctx: &mut Ctx<'_>,
    scenario: &Scenario,
    root: &Node,
    links: &Links<'_>,
    nodes: &Nodes<'_>,
) -> Option<WatchedNames> {
    let names = scenario.measurement.series.as_ref()?;
    let mut found = WatchedNames::default();
    for (i, name) in names.iter().enumerate() {
        if let Some(named) = links.find_way(name) {
            found.links.extend(named.ids());
            continue;
        }
        let members = nodes.find(name).map(Place::ids).unwrap_or_default();
        let before = found.nodes.len();
        found
            .nodes
            .extend(members.filter(|node| nodes.have_series(*node)));
        if found.nodes.len() == before {
            ctx.error(
                links.unknown(name),
                root,
                &steps!["measurement", "series", i],
            );
        }
    }
    Some(found)
}

/// Chooses the links and nodes that have time series.
pub(super) fn set(world: &mut WorldPlan, named: Option<WatchedNames>) {
    let series = world.holding.iter().map(|h| h.declared.series);
    let sampled: Vec<(u32, usize)> = (0..).zip(series).filter(|(_, n)| *n > 0).collect();
    let Some(named) = named else {
        let mut left = USUAL_QUEUES;
        let mut fits = |series: usize| {
            let rest = left.checked_sub(series);
            left = rest.unwrap_or(0);
            rest.is_some()
        };
        let usual = sampled.into_iter().take_while(|(_, n)| fits(*n));
        world.watched_nodes = usual.map(|(i, _)| i).collect();
        world.watched = fullest(world);
        return;
    };
    let is_named = |i: u32| {
        let nodes = &world.holding[i as usize].nodes;
        nodes.iter().any(|n| named.nodes.contains(n))
    };
    let sampled = sampled.into_iter().map(|(i, _)| i);
    world.watched_nodes = sampled.filter(|i| is_named(*i)).collect();
    world.watched = named.links.into_iter().collect();
}

/// The links with the highest offered load relative to their rate. Of equally loaded links the
/// first ones are taken.
fn fullest(world: &WorldPlan) -> Vec<u32> {
    let mut ids: Vec<u32> = (0..world.links.len() as u32).collect();
    if ids.len() > USUAL {
        let loads = world.loads();
        ids.sort_by_cached_key(|l| {
            let (load, rate) = (loads[*l as usize], world.links[*l as usize].rate.bps());
            Reverse(u128::from(load) * 1_000_000 / u128::from(rate.max(1)))
        });
        ids.truncate(USUAL);
        ids.sort_unstable();
    }
    ids
}
