//! What cannot happen: worst cases of a scenario by network calculus, without simulating.
//!
//! Source: J.-Y. Le Boudec and P. Thiran, "Network Calculus", Springer LNCS 2050, 2001.
//!
//! At each port and leaf the smaller of two bounds counts: what *sources and policers* let come, by
//! the horizontal deviation from what the leaf is guaranteed; and its *queue limit*, which bounds
//! what waits before a packet for every traffic, TCP included: the limit with the packet itself, in
//! the time in which the leaf is guaranteed so much. A flow is late at the next hop by at most the
//! bound of this one, so its arrival curve there is the same curve that much earlier. Along a path
//! a burst counts once (see `once`). Ports whose bounds depend on each other in a loop are solved
//! together (see `loops`).
//!
//! A bound is of queueing and transmission at a port; propagation comes to it. It holds while no
//! link fails. No floating-point number decides a bound; each is rounded up to a picosecond.
#![forbid(unsafe_code)]

mod feeds;
mod flows;
mod found;
mod halve;
mod hop;
mod incoming;
mod loops;
mod loss;
mod nodes;
mod once;
mod policers;
mod ports;
mod report;
mod sources;
mod way;

pub use feeds::{Feed, feeds};
pub use halve::{Change, Changed};
pub use hop::{From, HopBound, Parts};
pub use loss::lost_outside_queues;
pub use nodes::NodeHop;
pub use once::Once;
pub use ports::Hop;
pub use report::{ClassBound, QueueBound, Report, report};
pub use way::{Held, Step, Way};

use spillgate_queueing::Reason;
use spillgate_scenario::plan::WorldPlan;

use flows::Flows;
use once::groups;
use ports::Ports;

/// The bounds of a world.
#[derive(Debug)]
pub struct Bounds {
    /// Of each leaf that packets may come to, by link, then leaf.
    pub hops: Vec<Hop>,
    /// Of each queue of nodes that hold packets, by node.
    pub nodes: Vec<NodeHop>,
    /// By flow of the plan, what its own packets cannot exceed from end to end.
    pub flows: Vec<Result<Way, Reason>>,
}

/// Looks at a flow at a port that take less than 10 ms.
const QUICK: usize = 4_000;

/// The bounds of a world, while no link fails.
pub fn bounds(world: &WorldPlan) -> Bounds {
    let flows = Flows::of(world);
    let mut ports = Ports::new(world, &flows);
    ports.solve();
    found(ports, &flows)
}

/// The same if it takes so little time that runs and rules find them by the way.
pub fn quick_bounds(world: &WorldPlan) -> Option<Bounds> {
    let hops = |route: u32| world.routes[route as usize].len();
    let over = world.flows.iter();
    let over = over.map(|f| hops(f.route) + f.back.map_or(0, hops));
    if over.sum::<usize>() + world.links.len() > QUICK {
        return None;
    }
    let flows = Flows::of(world);
    let mut ports = Ports::new(world, &flows).within(QUICK);
    ports.solve();
    (!ports.gave_up()).then(|| found(ports, &flows))
}

/// What has been found of ports, and of the paths over them.
fn found(ports: Ports<'_>, flows: &Flows) -> Bounds {
    let world = ports.world;
    let groups = groups(&ports);
    let sums = ports.sums(&groups);
    let mut once = vec![Vec::new(); flows.all.len()];
    for (group, of_group) in &groups {
        let found = ports.once(group, of_group, &sums);
        for flow in of_group {
            once[*flow].clone_from(&found);
        }
    }
    let way = |flow: usize| ports.way(flow, &once[flow]);
    let ways = (0..world.flows.len()).map(|flow| match flows.dialogue(world, flow) {
        // Both ends send data.
        Some(back) => Ok(way(flow)?.or(way(back)?)),
        None => way(flow),
    });
    let flows = ways.collect();
    let (hops, nodes) = ports.into_hops();
    Bounds { hops, nodes, flows }
}
