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

/// Sets the links and nodes that have time series: those that the scenario names, else the usual.
pub(super) fn set(
    ctx: &mut Ctx<'_>,
    (scenario, root): (&Scenario, &Node),
    (links, nodes): (&Links<'_>, &Nodes<'_>),
    world: &mut WorldPlan,
) {
    let series = world.holding.iter().map(|h| h.declared.series);
    let sampled: Vec<(u32, usize)> = (0..).zip(series).filter(|(_, n)| *n > 0).collect();
    let Some(names) = &scenario.measurement.series else {
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
    let (mut watched, mut watched_nodes) = (BTreeSet::new(), BTreeSet::new());
    for (i, name) in names.iter().enumerate() {
        if let Some(named) = links.find_way(name) {
            watched.extend(named.ids());
            continue;
        }
        let members = nodes.find(name).map(Place::ids).unwrap_or_default();
        let has_some = |h: u32| {
            let nodes = &world.holding[h as usize].nodes;
            nodes.iter().any(|n| members.contains(n))
        };
        let here = sampled.iter().map(|(h, _)| *h).filter(|h| has_some(*h));
        let before = watched_nodes.len();
        watched_nodes.extend(here);
        if watched_nodes.len() == before {
            let at = steps!["measurement", "series", i];
            ctx.error(links.unknown(name), root, &at);
        }
    }
    world.watched = watched.into_iter().collect();
    world.watched_nodes = watched_nodes.into_iter().collect();
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
