//! What is worked out ahead while links fail: what happens before the next change.
//!
//! All changes of a run are known at its start. A packet that reaches a node before the next one
//! goes on by the routes of now, so if its port computes departures, and by these routes all comes
//! over one link, it is offered at once, as where no link fails. After a change the packets on the
//! pipes for which that has become true follow.

use std::collections::{BTreeSet, VecDeque};

use spillgate_core::Packet;
use spillgate_events::EventSet;

use super::NextHop;
use super::feeders::Next;
use super::merge::MergePoints;
use crate::engine::World;
use crate::link::{Ahead, Link};
use crate::node::Routing;
use crate::port::Port;

/// What is known of the time up to the next change.
pub(super) struct Between {
    /// The links to and from each host that answers at once.
    ack_hosts: Vec<(u32, Option<u32>)>,
    /// Links, with the destinations of packets that are on them or may yet come.
    flights: BTreeSet<(u32, u32)>,
    /// The links that alone feed a port, behind those that are fed over them.
    only_feeders: Vec<u32>,
    /// The first link of each path.
    firsts: Vec<Option<u32>>,
}

/// Who feeds whom by the routes of now, packets included that are on their way by earlier ones.
struct Feeding {
    /// The links that feed each port, ascending.
    links: Vec<Vec<u32>>,
    /// Whether hosts do.
    hosts: Vec<bool>,
    /// Where the packets on each link go.
    nexts: Vec<Next>,
    /// Whether the way of some does not end behind each link.
    leads_on: Vec<bool>,
}

impl Feeding {
    /// The links that feed each port which computes departures and which no host feeds; none for
    /// others, and if one of the links keeps account of what is in its pipe, since it fails and is
    /// not computed.
    fn fed_by_links(&self, links: &[Link]) -> Vec<&[u32]> {
        let accounts =
            |l: &u32| matches!(&links[*l as usize].port, Port::Queued(p) if p.underway.is_some());
        let fed = |(to, from): (usize, &'_ Vec<u32>)| {
            links[to].knows_departures() && !self.hosts[to] && !from.iter().any(accounts)
        };
        let ports = self.links.iter().enumerate();
        ports
            .map(|port| if fed(port) { &port.1[..] } else { &[] })
            .collect()
    }
}

impl Between {
    /// With the links to and from each host that answers at once.
    pub(super) fn new(ack_hosts: Vec<(u32, Option<u32>)>) -> Self {
        Self {
            ack_hosts,
            flights: BTreeSet::new(),
            only_feeders: Vec::new(),
            firsts: Vec::new(),
        }
    }

    fn feeding(&mut self, routing: &mut Routing, links: &[Link]) -> Feeding {
        let Routing {
            next_hops,
            ends,
            far,
            ..
        } = routing;
        let mut walked = BTreeSet::new();
        let on_their_way = self
            .flights
            .iter()
            .map(|&(l, dest)| (far[l as usize], dest));
        let starts: Vec<_> = ends.iter().copied().chain(on_their_way).collect();
        for (mut node, dest) in starts {
            while node != dest && walked.insert((node, dest)) {
                let Some(link) = next_hops.get(node, dest) else {
                    break;
                };
                self.flights.insert((link, dest));
                node = far[link as usize];
            }
        }
        let mut found = Feeding {
            links: vec![Vec::new(); links.len()],
            hosts: vec![false; links.len()],
            nexts: vec![Next::None; links.len()],
            leads_on: vec![false; links.len()],
        };
        for &(node, dest) in ends.iter().filter(|(node, dest)| node != dest) {
            if let Some(to) = next_hops.get(node, dest) {
                found.hosts[to as usize] = true;
            }
        }
        for &(link, dest) in &self.flights {
            let node = far[link as usize];
            let to = (node != dest).then(|| next_hops.get(node, dest)).flatten();
            let next = &mut found.nexts[link as usize];
            *next = next.and(to.map_or(Next::Elsewhere, Next::Port));
            found.leads_on[link as usize] |= node != dest;
            if let Some(to) = to {
                found.links[to as usize].push(link);
            }
        }
        found.links.iter_mut().for_each(Vec::dedup);
        found
    }
}

/// How many ports there are in a row before each, as these feed each other; none where they make a
/// ring.
fn depths(feeders: &[Option<u32>]) -> Vec<Option<usize>> {
    let mut depths = vec![None; feeders.len()];
    let mut seen = vec![false; feeders.len()];
    for link in 0..feeders.len() {
        let mut chain = Vec::new();
        let mut at = link;
        while !std::mem::replace(&mut seen[at], true) {
            chain.push(at);
            match feeders[at] {
                Some(before) => at = before as usize,
                None => depths[at] = Some(0),
            }
        }
        for link in chain.into_iter().rev() {
            if let Some(before) = feeders[link] {
                depths[link] = depths[before as usize].map(|d| d + 1);
            }
        }
    }
    depths
}

impl<S: EventSet> World<S> {
    /// Which ports are fed over one link, and over which pipes others are, as long as the routes
    /// are these.
    pub(super) fn find_feeders(&mut self) {
        let (Some(between), Some(routing)) = (&mut self.lane.between, &mut self.routing) else {
            return;
        };
        let feeding = between.feeding(routing, &self.links);
        let fed = feeding.fed_by_links(&self.links);
        let only = |from: &&[u32]| match from {
            [from] => Some(*from),
            _ => None,
        };
        let feeders: Vec<_> = fed.iter().map(only).collect();
        let leads = |from: &u32, to| feeding.nexts[*from as usize] == Next::Port(to);
        let meet = (0..)
            .zip(fed)
            .filter(|(to, from)| from.len() > 1 && from.iter().all(|l| leads(l, *to)));
        let merge_points = MergePoints::of_own_pipes(meet, &self.links);
        let mut found = Vec::new();
        for (link, next) in feeding.nexts.iter().enumerate() {
            self.links[link].onward.ahead = match next {
                Next::Port(to) => Ahead::NextIs(*to),
                _ if self.links[link].onward.acks_at_once => Ahead::Receive,
                Next::Elsewhere if !feeding.leads_on[link] => Ahead::EndsHere,
                _ => Ahead::Nothing,
            };
        }
        let first = |(node, dest): &(u32, u32)| routing.next_hops.get(*node, *dest);
        between.firsts = routing.ends.iter().map(first).collect();
        // What is sent on to a host goes on from there.
        let mut rows = feeders.clone();
        for &(to, from) in &between.ack_hosts {
            if let Some(from) = from {
                rows[from as usize] = Some(to);
            }
        }
        let depths = depths(&rows);
        for ((to, feeder), depth) in (0..).zip(feeders).zip(depths) {
            let from = feeder.zip(depth);
            self.links[to as usize].onward.single_feeder = from.is_some();
            if let Some((from, depth)) = from {
                found.push((depth, from));
                self.links[from as usize].onward.ahead = match leads(&from, to) {
                    true => Ahead::Offer(to),
                    false => Ahead::PerPacket,
                };
            }
        }
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.dedup();
        between.only_feeders = found.into_iter().map(|(_, from)| from).collect();
        for c in 0..self.lane.merge_points.number() {
            self.events.cancel(self.slots.merge_points + c as u32);
        }
        self.lane.merge_points = merge_points;
        for pipe in 0..self.links.len() {
            self.events.cancel(self.slots.pipes + pipe as u32);
            self.wake_pipe(pipe);
        }
    }

    /// Moves the end of the look-ahead to the next change or sample. Where links fail, packets in pipes that are due before
    /// it are offered to their next ports.
    pub(super) fn extend_lookahead(&mut self) {
        if self.lane.between.is_none() && self.lane.stalls.is_none() {
            return;
        }
        self.lane.lookahead_end = self.lane.changes.min(self.lane.samples);
        self.find_receive_until();
        let Some(between) = &mut self.lane.between else {
            return;
        };
        let feeders = std::mem::take(&mut between.only_feeders);
        for &link in &feeders {
            self.send_on(link as usize);
        }
        if let Some(between) = &mut self.lane.between {
            between.only_feeders = feeders;
        }
    }

    /// The packets on the pipe of `link` that need not wait for their wake go on.
    fn send_on(&mut self, link: usize) {
        if self.pipes.first(link).is_none() {
            return;
        }
        self.events.cancel(self.slots.pipes + link as u32);
        let mut stay = VecDeque::new();
        for head in self.pipes.take(link) {
            let mut packet = head.packet();
            let ahead = self.links[link].onward.ahead;
            let next =
                (head.due < self.lane.lookahead_end).then(|| self.next_ahead(link, ahead, &packet));
            match next.flatten() {
                Some(next) => {
                    self.count_ahead(head.due, head.tie, &packet);
                    self.offer(next, &mut packet, head.due);
                }
                None => stay.push_back(head),
            }
        }
        self.pipes.put(link, stay);
        self.wake_pipe(link);
    }

    /// Where all packets at the far end of `link` go.
    #[inline]
    pub(super) fn next_hop_from(&self, link: usize) -> NextHop {
        match self.links[link].onward.ahead {
            Ahead::Offer(port) | Ahead::NextIs(port) => NextHop::Port(port as usize),
            Ahead::EndsHere | Ahead::Receive => NextHop::End,
            Ahead::Nothing | Ahead::PerPacket => NextHop::Unknown,
        }
    }

    /// The first port on the way of a packet that sets out, if that is known.
    #[inline]
    pub(super) fn first_port(&self, packet: &Packet) -> Option<usize> {
        let first = self.lane.between.as_ref()?.firsts[(packet.handle >> 32) as usize];
        first.map(|link| link as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::depths;

    #[test]
    fn depths_count_feeders_in_a_row_and_leave_rings_out() {
        let feeders = [None, Some(0), Some(1), Some(4), Some(3), Some(4), Some(1)];
        let expected = [Some(0), Some(1), Some(2), None, None, None, Some(2)];
        assert_eq!(depths(&feeders), expected);
    }
}
