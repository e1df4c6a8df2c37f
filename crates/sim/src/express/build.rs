//! Which short ways are open in a world.

use spillgate_core::{Table, Time};
use spillgate_scenario::plan::WorldPlan;

use super::Lane;
use super::ahead::is_large;
use super::answers::answering;
use super::between::Between;
use super::confluence::Confluences;
use super::hosts::{self, Host};
use super::line::Line;
use super::promises::Promises;
use super::reach::Reach;
use super::stalls::Stalls;
use super::ways::{Feeder, share_wires};
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
    /// Something happens to packets where they arrive, or they are kept there.
    pub(crate) met: bool,
}

impl Lane {
    /// One that nothing takes.
    pub(crate) fn closed(links: &[Link]) -> Self {
        Self {
            wires: links.len(),
            ..Self::default()
        }
    }

    /// The lane of a world of these links, each with its own wire, and the lines of its computed ports.
    pub(crate) fn new(known: &Known<'_>, links: &mut Table<Link>, lines: Table<Line>) -> Self {
        let Known {
            plan,
            paths,
            failing,
            ..
        } = *known;
        let own_wires = links.len() as u32;
        let feeders = paths.feeders(links);
        let mut nexts = paths.nexts(&feeders, links);
        if known.sampled {
            paths.keep_apart(&feeders, &mut nexts);
        }
        // What is lost on a link must be on its own wire, and must not have got further.
        let fails = !plan.failures.is_empty();
        let orderly = plan.links.iter().all(|l| Promises::of(l).in_order);
        let unseen = !known.tapped && !known.met && orderly;
        let ahead = unseen && !fails;
        let between = unseen && fails && plan.mpls.is_none();
        let large = is_large(known.flows.len(), links.len());
        let hosts = match (ahead, between) {
            (true, _) => hosts::hosts(plan, paths, links, &feeders),
            (_, true) => hosts::leaves(plan, links, failing),
            _ => Vec::new(),
        };
        let from = hosts::origins(plan, known.flows, paths);
        let at_once = answering(plan.nodes.len(), known.flows, known.tcp, &from, fails);
        // A large world loads what receivers need before packets arrive.
        let answers = |h: &&Host| !large && at_once[h.node as usize];
        let rows = hosts.iter().filter(answers).map(|h| (h.to, h.from));
        let rows: Vec<_> = rows.collect();
        for (to, _) in &rows {
            links[*to as usize].onward.answers = true;
        }
        let carries: Vec<_> = feeders.iter().map(|f| *f != Feeder::None).collect();
        let wires = if fails || known.met || !orderly {
            own_wires
        } else {
            share_wires(links, &feeders, &nexts) as u32
        };
        for (link, feeder) in links.iter_mut().zip(&feeders) {
            link.onward.solo = ahead && matches!(feeder, Feeder::Link(_));
        }
        for (link, then) in paths.aheads(links).into_iter().enumerate() {
            links[link].onward.then = then;
        }
        let confluences = match ahead {
            true => Confluences::new(paths, links, &nexts, wires as usize),
            false => Confluences::default(),
        };
        let to_hosts = match unseen {
            true => {
                let sent = (known.flows, &from[..]);
                let ends = (known.tcp, known.sessions);
                let carries = |l: usize| !links[l].onward.answers && (fails || carries[l]);
                let found = (&hosts[..], &*links);
                hosts::batches(plan, found, sent, ends, carries, wires as usize)
            }
            false => Vec::new(),
        };
        let reach = Reach::new(plan, links, known.sessions, &confluences);
        Self {
            open: true,
            slots: if between {
                links.len()
            } else {
                confluences.number()
            },
            lines,
            confluences,
            reach,
            to_hosts,
            between: between.then(|| Box::new(Between::new(rows))),
            stalls: (ahead && known.sampled).then(|| Stalls::new(links, &feeders, wires as usize)),
            changes: if fails { Time::ZERO } else { Time::MAX },
            samples: Time::MAX,
            horizon: if fails { Time::ZERO } else { Time::MAX },
            large,
            wires: wires as usize,
            ..Self::default()
        }
    }
}
