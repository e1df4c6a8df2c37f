//! Which shortcuts are open in a world.

use spillgate_core::{Table, Time};
use spillgate_scenario::plan::WorldPlan;

use super::Lane;
use super::acks::acking_nodes;
use super::between::Between;
use super::feeders::{Feeder, share_pipes};
use super::fifo_queue::FifoQueue;
use super::hosts::{self, Host};
use super::lookahead::Lookahead;
use super::merge::MergePoints;
use super::prefetch::is_large;
use super::promises::passing;
use super::stalls::Stalls;
use crate::engine::Paths;
use crate::flow::Flow;
use crate::link::{Fails, Link};
use crate::session::Session;
use crate::tcp::Connection;

/// What is known of a world at its start.
pub(crate) struct Known<'a> {
    pub(crate) plan: &'a WorldPlan,
    pub(crate) paths: &'a Paths,
    /// Whether each link fails.
    pub(crate) failing: &'a [Fails],
    pub(crate) flows: &'a [Flow],
    pub(crate) tcp: &'a [Connection],
    pub(crate) sessions: &'a [Session],
    /// Somebody looks at every packet.
    pub(crate) tapped: bool,
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
        let Known {
            plan,
            paths,
            failing,
            ..
        } = *known;
        let own_pipes = links.len() as u32;
        let passing = passing(plan);
        let feeders = paths.feeders(links, &passing);
        let mut nexts = paths.nexts(&feeders, links, &passing);
        if known.sampled {
            paths.keep_apart(&feeders, &mut nexts);
        }
        // What is lost on a link must be on its own pipe, and must not have got further.
        let fails = !plan.failures.is_empty();
        let unseen = !known.tapped;
        let ahead = unseen && !fails;
        let between = unseen && fails && plan.mpls.is_none() && passing.iter().all(|p| *p);
        let large = is_large(known.flows.len(), links.len());
        let hosts = match (ahead, between) {
            (true, _) => hosts::hosts(plan, paths, links, &feeders, &passing),
            (_, true) => hosts::leaves(plan, links, failing),
            _ => Vec::new(),
        };
        let from = hosts::origins(plan, known.flows, paths);
        let at_once = acking_nodes(plan.nodes.len(), known.flows, known.tcp, &from, fails);
        // A large world loads what receivers need before packets arrive.
        let acks_at_once = |h: &&Host| !large && at_once[h.node as usize];
        let rows = hosts.iter().filter(acks_at_once).map(|h| (h.to, h.from));
        let rows: Vec<_> = rows.collect();
        for (to, _) in &rows {
            links[*to as usize].onward.acks_at_once = true;
        }
        let carries: Vec<_> = feeders.iter().map(|f| *f != Feeder::None).collect();
        let pipes = if fails || known.tapped {
            own_pipes
        } else {
            share_pipes(links, &feeders, &nexts, &passing) as u32
        };
        for (link, feeder) in links.iter_mut().zip(&feeders) {
            link.onward.single_feeder = ahead && matches!(feeder, Feeder::Link(_));
        }
        for (link, ahead) in paths.aheads(links).into_iter().enumerate() {
            links[link].onward.ahead = ahead;
        }
        let merge_points = match ahead {
            true => MergePoints::new(paths, links, &nexts, pipes as usize),
            false => MergePoints::default(),
        };
        let to_hosts = match unseen {
            true => {
                let sent = (known.flows, &from[..]);
                let ends = (known.tcp, known.sessions);
                let carries = |l: usize| !links[l].onward.acks_at_once && (fails || carries[l]);
                let found = (&hosts[..], &*links);
                hosts::batches(plan, found, sent, ends, carries, pipes as usize)
            }
            false => Vec::new(),
        };
        let lookahead = Lookahead::new(plan, links, known.sessions, &merge_points);
        Self {
            open: true,
            slots: if between {
                links.len()
            } else {
                merge_points.number()
            },
            fifos,
            merge_points,
            lookahead,
            to_hosts,
            between: between.then(|| Box::new(Between::new(rows))),
            stalls: (ahead && known.sampled).then(|| Stalls::new(links, &feeders, pipes as usize)),
            changes: if fails { Time::ZERO } else { Time::MAX },
            samples: Time::MAX,
            lookahead_end: if fails { Time::ZERO } else { Time::MAX },
            large,
            pipes: pipes as usize,
            ..Self::default()
        }
    }
}
