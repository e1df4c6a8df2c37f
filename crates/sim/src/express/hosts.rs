//! Hosts whose only link to them brings nothing for others: packets reach them in batches.
//!
//! What such a host does depends on what arrives over that link and on its timers, and what it
//! sends goes through a port of its own that computes departures. So the packets on its pipe reach
//! it one after the other, each at its own time, until a timer is due: one wake for all of them.
//! Where hosts share the pipe, what gets onto it later may be due before some of them, but at
//! another host. The world's clock runs ahead meanwhile and is set back after it.

use spillgate_core::Table;
use spillgate_events::EventSet;
use spillgate_scenario::plan::WorldPlan;

use super::feeders::Feeder;
use crate::engine::Paths;
use crate::engine::World;
use crate::flow::{Flow, Origin};
use crate::link::{Fails, Link};
use crate::session::Session;
use crate::tcp::Connection;

/// A host of its own: the link to it and, if it sends, the link from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Host {
    pub(super) node: u32,
    pub(super) to: u32,
    pub(super) from: Option<u32>,
}

/// The node at which each flow begins; none if it takes no link.
pub(super) fn origins(plan: &WorldPlan, flows: &[Flow], paths: &Paths) -> Vec<Option<u32>> {
    let first = |flow: &Flow| {
        let route = paths.begins.binary_search(&flow.begin).ok()?;
        let link = *plan.routes[route].first()?;
        Some(plan.links[link as usize].from)
    };
    flows.iter().map(first).collect()
}

/// The hosts that are reached over one link, which leads nowhere else, and send only over links
/// that compute departures and carry nothing else.
pub(super) fn hosts(
    plan: &WorldPlan,
    paths: &Paths,
    links: &Table<Link>,
    feeders: &[Feeder],
    passing: &[bool],
) -> Vec<Host> {
    let nodes = plan.nodes.len();
    let mut over = vec![Feeder::None; nodes];
    let mut sends = vec![true; nodes];
    let mut from = vec![None; nodes];
    let mut ends = vec![true; plan.links.len()];
    for (link, to) in paths.steps() {
        match (link, to) {
            (Some(link), Some(_)) => ends[link as usize] = false,
            (Some(link), None) => {
                let node = plan.links[link as usize].to as usize;
                over[node] = over[node].and(match passing[link as usize] {
                    true => Feeder::Link(link),
                    false => Feeder::Several,
                });
            }
            (None, Some(first)) => {
                let node = plan.links[first as usize].from as usize;
                let (port, feeder) = (&links[first as usize], feeders[first as usize]);
                sends[node] &= port.knows_departures() && feeder == Feeder::Hosts;
                from[node] = Some(first);
            }
            (None, None) => {}
        }
    }
    let host = |node: usize| match over[node] {
        Feeder::Link(to) if sends[node] && ends[to as usize] => Some(Host {
            node: node as u32,
            to,
            from: from[node],
        }),
        _ => None,
    };
    (0..nodes).filter_map(host).collect()
}

/// Where links fail: those with one link to them and one from them, to the same neighbor, which
/// never fail. Over a node with one neighbor no way leads on, whatever the routes.
pub(super) fn leaves(plan: &WorldPlan, links: &Table<Link>, fails: &[Fails]) -> Vec<Host> {
    let mut to = vec![Feeder::None; plan.nodes.len()];
    let mut from = to.clone();
    for (number, link) in (0..).zip(&plan.links) {
        let (near, far) = (link.from as usize, link.to as usize);
        from[near] = from[near].and(Feeder::Link(number));
        to[far] = to[far].and(Feeder::Link(number));
    }
    let leaf = |node: usize| match (to[node], from[node]) {
        (Feeder::Link(to), Feeder::Link(from)) => Some(Host {
            node: node as u32,
            to,
            from: Some(from),
        }),
        _ => None,
    };
    let fits = |host: &Host| {
        let (to, from) = (host.to as usize, host.from.map_or(0, |l| l as usize));
        plan.links[to].from == plan.links[from].to
            && [to, from].iter().all(|l| fails[*l] == Fails::Never)
            && links[from].knows_departures()
    };
    let nodes = 0..plan.nodes.len();
    nodes.filter_map(leaf).filter(fits).collect()
}

/// The nodes that take part in dialogues: what one end of these does may end the other at once.
fn in_dialogues(
    nodes: usize,
    (flows, from): (&[Flow], &[Option<u32>]),
    (tcp, sessions): (&[Connection], &[Session]),
) -> Vec<bool> {
    let mut found = vec![false; nodes];
    for (flow, from) in flows.iter().zip(from) {
        if let (Origin::Data(c) | Origin::Acknowledgments(c), Some(node)) = (flow.origin, from) {
            let session = sessions.get(tcp[c as usize].session as usize);
            found[*node as usize] |= session.is_some_and(|s| s.back.is_some());
        }
    }
    found
}

/// Whether each pipe leads to hosts that take packets in batches.
///
/// What such hosts send must come onto its pipes about in the order of departures, or a place for
/// it would have to be searched: over each pipe go only packets of those that one pipe leads to.
pub(super) fn batches(
    plan: &WorldPlan,
    (hosts, links): (&[Host], &Table<Link>),
    sent: (&[Flow], &[Option<u32>]),
    ends: (&[Connection], &[Session]),
    carries: impl Fn(usize) -> bool,
    pipes: usize,
) -> Vec<bool> {
    let talk = in_dialogues(plan.nodes.len(), sent, ends);
    let pipe = |link: u32| links[link as usize].onward.pipe;
    let mut leads = vec![false; links.len()];
    // The pipe to each node; what nothing gets to sends by its timers alone.
    let mut to = vec![Feeder::None; plan.nodes.len()];
    for last in plan.routes.iter().filter_map(|r| r.last()) {
        to[plan.links[*last as usize].to as usize] = Feeder::Several;
    }
    for host in hosts.iter().filter(|h| !talk[h.node as usize]) {
        leads[host.to as usize] = true;
        to[host.node as usize] = Feeder::Link(pipe(host.to));
    }
    // Over which pipe those get packets that send on each.
    let mut over = vec![Feeder::None; pipes];
    for first in plan.routes.iter().filter_map(|r| r.first()) {
        let over = &mut over[pipe(*first) as usize];
        *over = over.and(to[plan.links[*first as usize].from as usize]);
    }
    let (mut some, mut all) = (vec![false; pipes], vec![true; pipes]);
    for (link, leads) in leads.into_iter().enumerate().filter(|(l, _)| carries(*l)) {
        let pipe = pipe(link as u32) as usize;
        some[pipe] = true;
        all[pipe] &= leads;
    }
    for host in hosts {
        let sends = host.from.map(|l| over[pipe(l) as usize]);
        all[pipe(host.to) as usize] &= sends != Some(Feeder::Several);
    }
    some.into_iter()
        .zip(all)
        .map(|(some, all)| some && all)
        .collect()
}

impl<S: EventSet> World<S> {
    /// The packets of a pipe reach hosts, until a timer is due.
    #[inline(never)]
    pub(super) fn deliver_to_hosts(&mut self, pipe: usize) {
        let clock = self.now;
        let until = self.lane.lookahead_end.min(self.edges.next);
        while let Some(first) = self.pipes.pop(pipe) {
            self.now = first.due;
            if self.lane.large {
                self.prefetch_behind(pipe);
            }
            self.arrive(pipe, first);
            let more = self.pipes.first(pipe).map(|p| p.due);
            let more = more.filter(|due| *due < until && *due < self.events.seldom_before());
            if more.is_none() {
                break;
            }
        }
        self.now = clock;
        // A packet that got onto the pipe while it was empty has set the wake.
        if self.pipes.first(pipe).is_none() {
            self.events.cancel(self.slots.pipes + pipe as u32);
        }
        self.wake_pipe(pipe);
    }
}
