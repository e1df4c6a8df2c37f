//! Receivers that answer at once: what they do is worked out when a packet is sent on the link to
//! them.
//!
//! A receiver without timers does nothing but to count what arrives and to acknowledge it. Where all
//! that reaches a host comes over one link, and all that it sends is such answers, nothing can come
//! between: a packet is received when it is sent on that link, at the time of its arrival, and the
//! acknowledgment sets out then. At an edge of the measured period things are counted, so what
//! arrives after the next one waits for its wake, and so does what is sent behind it.

use spillgate_core::{Packet, Table, Time};
use spillgate_events::EventSet;
use spillgate_scenario::plan::WorldPlan;

use super::World;
use super::paths::{Feeder, Paths};
use crate::flow::{Flow, Origin};
use crate::link::Link;
use crate::tcp::Connection;

/// The links that alone lead to hosts which answer at once, and nowhere else.
pub(super) fn answered_at_once(
    plan: &WorldPlan,
    paths: &Paths,
    (flows, tcp): (&[Flow], &[Connection]),
    (links, feeders): (&Table<Link>, &[Feeder]),
) -> Vec<bool> {
    let mut at_once = vec![true; plan.nodes.len()];
    for flow in flows {
        let Some(link) = plan.links.get(paths.hops[flow.begin as usize] as usize) else {
            continue;
        };
        let first = paths.hops[flow.begin as usize] as usize;
        let answers = match flow.origin {
            Origin::Acknowledgments(c) => !tcp[c as usize].sender.config().receiver_waits(),
            _ => false,
        };
        at_once[link.from as usize] &=
            answers && links[first].is_computed() && feeders[first] == Feeder::Hosts;
    }
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
    /// Receives a packet that is sent on `link`, if that can be done before it arrives at `due`.
    #[inline(never)]
    pub(super) fn receive_ahead(&mut self, link: usize, packet: &Packet, due: Time) -> bool {
        let can = due < self.edges.next && self.wires.first(link).is_none();
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
            .is_some_and(|p| p.due < self.edges.next)
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
