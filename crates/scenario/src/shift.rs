//! Where the traffic goes while links are down: paths and loads, without a run.

use std::collections::BTreeSet;

use spillgate_core::Time;

use crate::likely::sent;
use crate::plan::{FailurePlan, FlowPlan, WorldPlan};

/// What the failures of a world do to paths and loads as soon as routes have followed, of flows
/// that can be active before the repair is noticed. Loads are those of open-loop sources: what
/// connections send depends on the network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shift {
    /// Flows whose path, or that of their answers, takes a link that fails.
    pub moved: u32,
    /// Those of them that are left without a path.
    pub cut: u32,
    /// The busiest of the links that are offered more; none where none is.
    pub busiest: Option<Busiest>,
}

/// A link with what is offered to it as IP packets, relative to its rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Busiest {
    /// Its id.
    pub link: u32,
    /// While all links are up.
    pub without: f64,
    /// While those that fail are down.
    pub load: f64,
}

impl Shift {
    /// Whether no path and no load changes: then no packet can tell.
    pub fn is_none(&self) -> bool {
        self.moved == 0
    }

    /// That of a world.
    pub(crate) fn of(world: &WorldPlan) -> Self {
        let down: BTreeSet<u32> = world.failures.iter().map(|f| f.link).collect();
        let Some(noticed) = world.failures.iter().map(|f| end(world, f)).max() else {
            return Self::default();
        };
        let takes = |route: u32| {
            let mut links = world.routes[route as usize].iter();
            links.any(|l| down.contains(l))
        };
        // Who begins later finds all as it was.
        let is_there = |f: &&FlowPlan| f.lifetime.start < noticed;
        let moves = |f: &FlowPlan| takes(f.route) || f.back.is_some_and(takes);
        let mut shift = Self::default();
        if !world.flows.iter().filter(is_there).any(moves) {
            return shift;
        }
        let mut routing = world.routing();
        for link in &down {
            routing.set_up(*link, false);
        }
        let (mut before, mut after) = (vec![0.0; world.links.len()], vec![0.0; world.links.len()]);
        for flow in world.flows.iter().filter(is_there) {
            let path = &world.routes[flow.route as usize];
            let other = moves(flow).then(|| routing.path(flow.from, flow.to));
            let lacks_back = flow.back.is_some() && routing.path(flow.to, flow.from).is_none();
            shift.moved += u32::from(other.is_some());
            shift.cut += u32::from(other.as_ref().is_some_and(|p| p.is_none() || lacks_back));
            let Some((rate, _)) = sent(flow).0 else {
                continue;
            };
            let put = |loads: &mut [f64], path: &[u32]| {
                path.iter().for_each(|l| loads[*l as usize] += rate);
            };
            put(&mut before, path);
            match other {
                Some(other) => put(&mut after, &other.unwrap_or_default()),
                None => put(&mut after, path),
            }
        }
        let links = (0_u32..).zip(&world.links).zip(before.iter().zip(&after));
        let risen = links.filter(|(_, (before, after))| after > before);
        let loads = risen.map(|((link, plan), (before, after))| Busiest {
            link,
            without: before / plan.rate.bps() as f64,
            load: after / plan.rate.bps() as f64,
        });
        // The first of those that are alike.
        shift.busiest = loads.reduce(|a, b| if b.load > a.load { b } else { a });
        shift
    }
}

/// When routes have followed a repair at the latest.
fn end(world: &WorldPlan, failure: &FailurePlan) -> Time {
    match failure.up {
        Time::MAX => Time::MAX,
        up => up + failure.spread + world.reroute,
    }
}
