//! Receivers that answer at once: what they do is worked out when a packet is sent on the link to
//! them.
//!
//! A receiver that does not delay acknowledgments does nothing but to count what arrives and to answer
//! it, and perhaps to send SYN-ACK again after a second. Where all that reaches a host comes over one
//! link, and all that it sends is such answers, nothing else can come between: a packet is received
//! when it is sent on that link, at the time of its arrival, and the acknowledgment sets out then. What
//! arrives later than a SYN-ACK is due waits for its wake, and so does what is sent behind it; the same
//! after an edge of the measured period, at which things are counted, and after a change of routes.

use std::collections::VecDeque;

use spillgate_core::{Packet, Table, Time};
use spillgate_events::EventSet;
use spillgate_scenario::plan::WorldPlan;

use super::World;
use super::paths::{Feeder, Paths};
use crate::flow::{Flow, Origin};
use crate::link::{Fails, Link};
use crate::tcp::Connection;

/// When receivers that have sent SYN-ACK send it again, with their connections, ascending: a new one
/// mostly comes last, and the first ones are answered first.
#[derive(Default)]
pub(super) struct SynTimers(VecDeque<(Time, u32)>);

impl SynTimers {
    /// The first of all; [`Time::MAX`] if there is none.
    #[inline]
    fn first(&self) -> Time {
        self.0.front().map_or(Time::MAX, |(at, _)| *at)
    }

    /// That of connection `c` was to be at `before`, [`Time::MAX`] for never, and is now at `at`.
    #[cold]
    fn moved(&mut self, c: u32, before: Time, at: Time) {
        if let Ok(i) = self.0.binary_search(&(before, c)) {
            self.0.remove(i);
        }
        if at < Time::MAX {
            let i = self.0.partition_point(|timer| *timer < (at, c));
            self.0.insert(i, (at, c));
        }
    }
}

/// The nodes at which nothing begins but answers that are not delayed, over links of which `fits` is
/// true; `first` is that of a flow.
fn answering(
    plan: &WorldPlan,
    (flows, tcp): (&[Flow], &[Connection]),
    first: impl Fn(&Flow) -> Option<u32>,
    fits: impl Fn(usize) -> bool,
) -> Vec<bool> {
    let mut at_once = vec![true; plan.nodes.len()];
    for flow in flows {
        let Some(link) = first(flow) else { continue };
        let answers = match flow.origin {
            Origin::Acknowledgments(c) => tcp[c as usize].sender.config().delayed_ack.is_none(),
            _ => false,
        };
        at_once[plan.links[link as usize].from as usize] &= answers && fits(link as usize);
    }
    at_once
}

/// Where links fail, hosts which answer at once: the link to each and the link from there. There are
/// no others, and both never fail.
pub(super) fn answering_leaves(
    plan: &WorldPlan,
    sent: (&[Flow], &[Connection]),
    links: &Table<Link>,
    fails: &[Fails],
) -> Vec<(u32, u32)> {
    let mut to = vec![Feeder::None; plan.nodes.len()];
    let mut from = to.clone();
    for (number, link) in (0..).zip(&plan.links) {
        let (near, far) = (link.from as usize, link.to as usize);
        from[near] = from[near].and(Feeder::Link(number));
        to[far] = to[far].and(Feeder::Link(number));
    }
    let first = |flow: &Flow| plan.routes[flow.begin as usize].first().copied();
    let at_once = answering(plan, sent, first, |l| links[l].is_computed());
    let leaf = |node: usize| match (to[node], from[node]) {
        (Feeder::Link(to), Feeder::Link(from)) => Some((to, from)),
        _ => None,
    };
    // Over a node with one neighbor no way leads on.
    let fits = |(to, from): &(u32, u32)| {
        let (to, from) = (*to as usize, *from as usize);
        plan.links[to].from == plan.links[from].to
            && [to, from].iter().all(|l| fails[*l] == Fails::Never)
    };
    let nodes = (0..plan.nodes.len()).filter(|node| at_once[*node]);
    nodes.filter_map(leaf).filter(fits).collect()
}

/// The links that alone lead to hosts which answer at once, and nowhere else.
pub(super) fn answered_at_once(
    plan: &WorldPlan,
    paths: &Paths,
    sent: (&[Flow], &[Connection]),
    (links, feeders): (&Table<Link>, &[Feeder]),
) -> Vec<bool> {
    let first = |flow: &Flow| {
        let hop = paths.hops[flow.begin as usize];
        ((hop as usize) < plan.links.len()).then_some(hop)
    };
    let alone = |l: usize| links[l].is_computed() && feeders[l] == Feeder::Hosts;
    let at_once = answering(plan, sent, first, alone);
    let mut over = vec![Feeder::None; plan.nodes.len()];
    let mut ends = vec![true; plan.links.len()];
    for (link, to) in paths.steps() {
        let Some(link) = link else { continue };
        let node = plan.links[link as usize].to as usize;
        match to {
            Some(_) => ends[link as usize] = false,
            None => over[node] = over[node].and(Feeder::Link(link)),
        }
    }
    let is_answered = |(link, ends): (usize, bool)| {
        let node = plan.links[link].to as usize;
        ends && at_once[node] && over[node] == Feeder::Link(link as u32)
    };
    ends.into_iter().enumerate().map(is_answered).collect()
}

impl<S: EventSet> World<S> {
    /// What arrives before that can be received ahead.
    #[inline]
    fn answer_until(&self) -> Time {
        self.edges
            .next
            .min(self.horizon)
            .min(self.syn_timers.first())
    }

    /// The timer of a receiver may have moved from `before`.
    #[inline]
    pub(super) fn note_syn_timer(&mut self, c: usize, before: Time) {
        let at = self.tcp[c].receiver.syn_timeout();
        if at != before {
            self.syn_timers.moved(c as u32, before, at);
        }
    }

    /// Receives a packet that is sent on `link`, if that can be done before it arrives at `due`.
    #[inline(never)]
    pub(super) fn receive_ahead(&mut self, link: usize, packet: &Packet, due: Time) -> bool {
        let can = due < self.answer_until() && self.wires.first(link).is_none();
        if can {
            self.count_ahead(due, self.links[link].tie, packet);
            self.receive(due, packet);
        }
        can
    }

    /// A packet has arrived that could not be received before: those behind it perhaps can.
    #[inline]
    pub(super) fn receive_rest(&mut self, wire: usize) {
        if self.links.get(wire).is_some_and(|l| l.answers) {
            self.receive_waiting(wire);
        }
    }

    #[cold]
    fn receive_waiting(&mut self, wire: usize) {
        while self
            .wires
            .first(wire)
            .is_some_and(|p| p.due < self.answer_until())
        {
            let Some(first) = self.wires.pop(wire) else {
                return;
            };
            let packet = first.packet();
            self.count_ahead(first.due, first.tie, &packet);
            self.receive(first.due, &packet);
        }
        if self.wires.first(wire).is_none() {
            self.events.cancel(self.slots.wires + wire as u32);
        }
        self.wake_wire(wire);
    }
}
