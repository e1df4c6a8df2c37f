//! The paths of packets.

use spillgate_scenario::plan::WorldPlan;

use super::{ARRIVED, ROUTED};

/// The paths of the plan, one after another; where links fail, one word for each.
pub(crate) struct Paths {
    pub(crate) hops: Vec<u32>,
    /// The index at which each path begins.
    pub(crate) begins: Vec<u32>,
}

impl Paths {
    pub(crate) fn new(plan: &WorldPlan) -> Self {
        let (mut hops, mut begins) = (Vec::new(), Vec::new());
        for route in &plan.routes {
            begins.push(hops.len() as u32);
            if !plan.failures.is_empty() {
                hops.push(ROUTED);
                continue;
            }
            hops.extend_from_slice(route);
            hops.push(ARRIVED);
        }
        Self { hops, begins }
    }

    /// The index at which path `route` begins.
    pub(crate) fn begin(&self, route: u32) -> u32 {
        self.begins[route as usize]
    }

    /// Every step of every path, as the link before it (none at the source) and the link after it
    /// (none at the end).
    pub(crate) fn steps(&self) -> impl Iterator<Item = (Option<u32>, Option<u32>)> {
        self.hops.iter().scan(None, |before, &hop| {
            let to = (hop != ARRIVED && hop != ROUTED).then_some(hop);
            Some((std::mem::replace(before, to), to))
        })
    }
}
