//! Opens the shortcuts of a world.

use std::sync::Arc;

use spillgate_core::{FlowKey, Rng, Table, Time};
use spillgate_measure::QueueMeter;
use spillgate_queueing::SharedLists;
use spillgate_scenario::plan::WorldPlan;

use super::Lane;
use super::acks::{acking_nodes, hosts, origins};
use super::feeders::{Feeder, share_pipes};
use super::link::ExpressLink;
use super::port::FifoPort;
use super::prefetch::is_large;
use super::promises::passing;
use super::stalls::Stalls;
use crate::engine::Paths;
use crate::flow::Flow;
use crate::link::Link;
use crate::precedence::{CodePoints, Precedences};
use crate::tcp::Connection;

/// Facts about a world at its start.
pub(crate) struct Known<'a> {
    pub(crate) plan: &'a WorldPlan,
    pub(crate) run: (u64, u32),
    pub(crate) paths: &'a Paths,
    pub(crate) links: &'a [Link],
    pub(crate) flows: &'a [Flow],
    pub(crate) keys: &'a Arc<[FlowKey]>,
    pub(crate) tcp: &'a [Connection],
    pub(crate) points: &'a Arc<CodePoints>,
    /// The meter of an empty queue.
    pub(crate) meter: &'a QueueMeter,
    /// Queues are sampled.
    pub(crate) sampled: bool,
}

impl Lane {
    /// A lane in which all shortcuts are closed.
    pub(crate) fn closed(links: &[Link]) -> Self {
        Self {
            pipes: links.len(),
            ..Self::default()
        }
    }

    /// The lane of a world, with the ports that the engine has not built.
    pub(crate) fn new(known: &Known<'_>) -> Self {
        let plan = known.plan;
        let mut lane = Self {
            open: true,
            samples: Time::MAX,
            links: Table::with_capacity(plan.links.len()),
            ..Self::default()
        };
        lane.add_links(known);
        let links = &mut lane.links;
        let passing = passing(plan);
        let feeders = known.paths.feeders(links, &passing);
        // Packets on a link that fails are lost with it: they stay on its own pipe until they
        // arrive.
        let ahead = plan.failures.is_empty();
        lane.large = is_large(known.flows.len(), links.len());
        lane.pipes = links.len();
        if ahead {
            let from = origins(plan, known.flows, known.paths);
            let at_once = acking_nodes(plan.nodes.len(), known.flows, known.tcp, &from);
            // A large world prefetches the memory of receivers instead.
            for host in hosts(plan, known.paths, links, &feeders, &passing) {
                let at_once = !lane.large && at_once[host.node as usize];
                links[host.to as usize].onward.acks_at_once = at_once;
            }
            lane.pipes = share_pipes(plan, links, &feeders, &passing);
        }
        for (link, feeder) in links.iter_mut().zip(&feeders) {
            link.onward.single_feeder = ahead && matches!(feeder, Feeder::Link(_));
        }
        for (link, ahead) in known.paths.aheads(links).into_iter().enumerate() {
            links[link].onward.ahead = ahead;
        }
        lane.stalls = (ahead && known.sampled).then(|| Stalls::new(&feeders, lane.pipes));
        lane
    }

    fn add_links(&mut self, known: &Known<'_>) {
        let (seed, run) = known.run;
        let mut lists = SharedLists::new();
        for ((number, plan), link) in (0..).zip(&known.plan.links).zip(known.links) {
            let fifo = match link.port {
                Some(_) => None,
                None => {
                    let discipline = plan.discipline.build_sharing(known.keys, &mut lists);
                    discipline.decided_at_arrival()
                }
            };
            let tells = plan.discipline.tells_precedences();
            let bits = known.meter.sojourn.bits();
            let port = fifo.map(|(limit, aqm)| {
                let path = format!("links/{}", plan.name);
                let rng = Rng::named(seed, run, &path, "queue");
                let mut precedences = Precedences::of_leaves(tells, known.points, bits);
                let aqm = aqm.map(|aqm| (aqm, rng, precedences.pop().flatten()));
                FifoPort::new(limit, aqm, plan, known.meter.clone())
            });
            self.links.push(ExpressLink::new(number, link, port));
        }
    }
}
