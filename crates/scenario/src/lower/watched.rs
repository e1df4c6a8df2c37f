//! The links and switches that have time series.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::links::Links;
use super::nodes::{Nodes, Place};
use crate::ctx::Ctx;
use crate::node::{Node, steps};
use crate::plan::{SwitchPlan, WorldPlan};
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
        let is_switch = |node| nodes.switches.iter().any(|s| s.nodes.contains(&node));
        let before = found.nodes.len();
        found.nodes.extend(members.filter(|node| is_switch(*node)));
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

/// Chooses the links and switches that have time series.
pub(super) fn set(world: &mut WorldPlan, named: Option<WatchedNames>) {
    let switches = (0..).zip(&world.switches);
    let Some(named) = named else {
        let mut left = USUAL_QUEUES;
        let mut fits = |s: &SwitchPlan| {
            let rest = left.checked_sub(s.voqs().count());
            left = rest.unwrap_or(0);
            rest.is_some()
        };
        world.watched_switches = switches
            .take_while(|(_, s)| fits(s))
            .map(|(i, _)| i)
            .collect();
        world.watched = fullest(world);
        return;
    };
    let is_named = |(_, s): &(u32, &SwitchPlan)| named.nodes.contains(&s.node);
    world.watched_switches = switches.filter(is_named).map(|(i, _)| i).collect();
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
