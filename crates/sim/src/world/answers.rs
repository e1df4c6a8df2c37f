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

use spillgate_core::{Packet, Time};
use spillgate_events::EventSet;

use super::World;
use crate::flow::{Flow, Origin};
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

/// The nodes whose receivers answer at once, and which do nothing else.
pub(super) fn answering(
    nodes: usize,
    flows: &[Flow],
    tcp: &[Connection],
    from: &[Option<u32>],
) -> Vec<bool> {
    let mut at_once = vec![true; nodes];
    for (flow, from) in flows.iter().zip(from) {
        let Some(from) = from else { continue };
        at_once[*from as usize] &= match flow.origin {
            Origin::Acknowledgments(c) => tcp[c as usize].sender.config().delayed_ack.is_none(),
            _ => false,
        };
    }
    at_once
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
