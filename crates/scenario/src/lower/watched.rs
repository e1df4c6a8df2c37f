//! Which links have time series.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::links::Links;
use crate::ctx::Ctx;
use crate::node::{Node, steps};
use crate::plan::WorldPlan;
use crate::schema::Scenario;

/// Most links that have series if nobody names any.
const USUAL: usize = 20;

/// The links that the scenario names; none if it names none.
pub(super) fn named(
    ctx: &mut Ctx<'_>,
    scenario: &Scenario,
    root: &Node,
    links: &Links<'_>,
) -> Option<Vec<u32>> {
    let names = scenario.measurement.series.as_ref()?;
    let mut found = BTreeSet::new();
    for (i, name) in names.iter().enumerate() {
        match links.find_way(name) {
            Some(named) => found.extend(named.ids()),
            None => ctx.error(
                links.unknown(name),
                root,
                &steps!["measurement", "series", i],
            ),
        }
    }
    Some(found.into_iter().collect())
}

/// The links that their traffic can fill to the greatest part of their rate, of alike ones those that are first.
pub(super) fn fullest(world: &WorldPlan) -> Vec<u32> {
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
