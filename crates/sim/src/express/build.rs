//! Which shortcuts are open in a world.

use spillgate_core::{Table, Time};
use spillgate_scenario::plan::WorldPlan;

use super::Lane;
use super::acks::{acking_nodes, hosts, origins};
use super::feeders::{Feeder, share_pipes};
use super::fifo_queue::FifoQueue;
use super::prefetch::is_large;
use super::promises::passing;
use super::stalls::Stalls;
use crate::engine::Paths;
use crate::flow::Flow;
use crate::link::Link;
use crate::tcp::Connection;

/// What is known of a world at its start.
pub(crate) struct Known<'a> {
    pub(crate) plan: &'a WorldPlan,
    pub(crate) paths: &'a Paths,
    pub(crate) flows: &'a [Flow],
    pub(crate) tcp: &'a [Connection],
    /// Somebody looks at queues at some times.
    pub(crate) sampled: bool,
}

impl Lane {
    /// One that nothing takes.
    pub(crate) fn closed(links: &[Link]) -> Self {
        Self {
            pipes: links.len(),
            ..Self::default()
        }
    }

    /// The lane of a world of these links, each with its own pipe, and the lines of its computed
    /// ports.
    pub(crate) fn new(known: &Known<'_>, links: &mut Table<Link>, fifos: Table<FifoQueue>) -> Self {
        let Known { plan, paths, .. } = *known;
        let passing = passing(plan);
        let feeders = paths.feeders(links, &passing);
        // Packets on a link that fails are lost with it, so they stay on its own pipe until they arrive.
        let ahead = plan.failures.is_empty();
        let large = is_large(known.flows.len(), links.len());
        let mut pipes = links.len();
        if ahead {
            let from = origins(plan, known.flows, paths);
            let at_once = acking_nodes(plan.nodes.len(), known.flows, known.tcp, &from);
            // A large world loads what receivers need before packets arrive.
            for host in hosts(plan, paths, links, &feeders, &passing) {
                links[host.to as usize].onward.acks_at_once = !large && at_once[host.node as usize];
            }
            pipes = share_pipes(plan, links, &feeders, &passing);
        }
        for (link, feeder) in links.iter_mut().zip(&feeders) {
            link.onward.single_feeder = ahead && matches!(feeder, Feeder::Link(_));
        }
        for (link, ahead) in paths.aheads(links).into_iter().enumerate() {
            links[link].onward.ahead = ahead;
        }
        Self {
            open: true,
            fifos,
            stalls: (ahead && known.sampled).then(|| Stalls::new(links, &feeders, pipes)),
            samples: Time::MAX,
            large,
            pipes,
            ..Self::default()
        }
    }
}
