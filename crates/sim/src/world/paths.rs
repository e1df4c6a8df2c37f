//! The ways that packets take, and which links share a wire for it.

use std::collections::BTreeMap;

use spillgate_core::Dur;
use spillgate_scenario::plan::WorldPlan;

use super::{ARRIVED, ROUTED};
use crate::link::Link;
use crate::port::Port;

/// The paths of the plan, one after the other; where links fail, one word for each.
pub(super) struct Paths {
    pub(super) hops: Vec<u32>,
    /// Where each path begins.
    pub(super) begins: Vec<u32>,
}

impl Paths {
    pub(super) fn new(plan: &WorldPlan) -> Self {
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

    /// Where path `route` begins.
    pub(super) fn begin(&self, route: u32) -> u32 {
        self.begins[route as usize]
    }

    /// Where the packets of each link come from; for ports whose departures are not computed, and
    /// where links fail, from anywhere.
    pub(super) fn feeders(&self, links: &[Link]) -> Vec<Feeder> {
        let mut feeders = vec![Feeder::None; links.len()];
        let mut before = None;
        for &hop in &self.hops {
            if hop == ARRIVED || hop == ROUTED {
                before = None;
                continue;
            }
            let from = before.map_or(Feeder::Hosts, Feeder::Link);
            let feeder = &mut feeders[hop as usize];
            *feeder = match *feeder {
                Feeder::None => from,
                known if known == from => known,
                _ => Feeder::Several,
            };
            before = Some(hop);
        }
        for (link, feeder) in links.iter().zip(&mut feeders) {
            if matches!(link.port, Port::Queued(_)) {
                *feeder = Feeder::Several;
            }
        }
        feeders
    }
}

/// Where the packets of a link come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Feeder {
    /// None come.
    None,
    /// From hosts at its sending end.
    Hosts,
    /// All over one link.
    Link(u32),
    Several,
}

/// Gives each link its wire; how many there are.
///
/// Links share one if what they carry departs in about the order in which it is sent, and is as
/// long on the way: those that hosts feed, with one rate and delay, and those behind one link.
/// Every link keeps a wire of its own number for what does not fit in there.
pub(super) fn share_wires(links: &mut [Link], feeders: &[Feeder]) -> usize {
    let mut groups: BTreeMap<(Feeder, Dur, u64), Vec<usize>> = BTreeMap::new();
    for (i, l) in links.iter().enumerate() {
        let (from, delay) = match feeders[i] {
            Feeder::None => continue,
            Feeder::Hosts => (Feeder::Hosts, l.delay),
            Feeder::Several => (Feeder::Link(i as u32), Dur::ZERO),
            Feeder::Link(mut root) => {
                let mut delay = l.delay;
                // Links do not feed themselves: paths have no loops.
                while let Feeder::Link(before) = feeders[root as usize] {
                    delay = delay + links[root as usize].delay;
                    root = before;
                }
                // Longer than that of the link `root` itself, by a picosecond at least.
                let delay = delay + links[root as usize].delay + Dur::from_ps(1);
                (Feeder::Link(root), delay)
            }
        };
        groups
            .entry((from, delay, l.rate.bps()))
            .or_default()
            .push(i);
    }
    let mut wires = links.len();
    for members in groups.into_values() {
        for i in members {
            links[i].wire = wires as u32;
        }
        wires += 1;
    }
    wires
}
