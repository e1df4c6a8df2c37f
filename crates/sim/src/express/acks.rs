//! Hosts that answer at once: what they do is worked out when a packet is sent on the link to them.
//!
//! A receiver that does not delay acknowledgments does nothing but to count what arrives and to
//! answer it, and perhaps to send SYN-ACK again after a second. Where all that reaches a host comes
//! over one link, and all that it sends is such answers, nothing else can come between: a packet is
//! received when it is sent on that link, at the time of its arrival, and the acknowledgment sets
//! out then. What arrives later than a SYN-ACK is due waits for its wake, and so does what is sent
//! behind it; the same after an edge of the measured period, at which things are counted.
//!
//! A host with one sender and nothing else that sends is like that until the sender's next timer:
//! an acknowledgment is handled when it is sent on the link to the host, and what it lets go sets
//! out then. It must not overtake what the sender is just sending, which may lead to it in no time.

use std::collections::VecDeque;

use spillgate_core::{Packet, Time};
use spillgate_events::EventSet;
use spillgate_scenario::plan::WorldPlan;

use super::feeders::Feeder;
use super::link::ExpressLink;
use crate::engine::{Paths, World};
use crate::flow::{Flow, Origin};
use crate::tcp::{Connection, NO_SESSION};

/// So many packets are received in a row at most: each may bring the next one onto its pipe, and a
/// run is to be stopped between wakes.
const MOST_AT_ONCE: usize = 1024;

/// When receivers that have sent SYN-ACK send it again, with their connections, ascending: a new
/// one mostly comes last, and the first ones are answered first.
pub(super) struct SynTimers {
    all: VecDeque<(Time, u32)>,
    /// The first of all; [`Time::MAX`] if there is none.
    first: Time,
}

impl Default for SynTimers {
    fn default() -> Self {
        Self {
            all: VecDeque::new(),
            first: Time::MAX,
        }
    }
}

impl SynTimers {
    /// That of connection `c` was to be at `before`, [`Time::MAX`] for never, and is now at `at`.
    #[cold]
    fn moved(&mut self, c: u32, before: Time, at: Time) {
        if let Ok(i) = self.all.binary_search(&(before, c)) {
            self.all.remove(i);
        }
        if at < Time::MAX {
            let i = self.all.partition_point(|timer| *timer < (at, c));
            self.all.insert(i, (at, c));
        }
        self.first = self.all.front().map_or(Time::MAX, |(at, _)| *at);
    }
}

/// A host of its own, and the link to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Host {
    pub(super) node: u32,
    pub(super) to: u32,
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
    links: &[ExpressLink],
    feeders: &[Feeder],
    passing: &[bool],
) -> Vec<Host> {
    let nodes = plan.nodes.len();
    let mut over = vec![Feeder::None; nodes];
    let mut sends = vec![true; nodes];
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
            }
            (None, None) => {}
        }
    }
    let host = |node: usize| match over[node] {
        Feeder::Link(to) if sends[node] && ends[to as usize] => Some(Host {
            node: node as u32,
            to,
        }),
        _ => None,
    };
    (0..nodes).filter_map(host).collect()
}

/// What the flows that set out from a node are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sends {
    Nothing,
    /// Receivers that do not delay acknowledgments.
    Acks,
    /// One sender, of no session.
    Data,
    Others,
}

/// The nodes whose receivers answer at once, or with one sender, and which do nothing else.
pub(super) fn acking_nodes(
    nodes: usize,
    flows: &[Flow],
    tcp: &[Connection],
    from: &[Option<u32>],
) -> Vec<bool> {
    let mut sends = vec![Sends::Nothing; nodes];
    for (flow, from) in flows.iter().zip(from) {
        let Some(from) = from else { continue };
        let sends = &mut sends[*from as usize];
        *sends = match (flow.origin, *sends) {
            (Origin::Acknowledgments(c), Sends::Nothing | Sends::Acks)
                if tcp[c as usize].sender.config().delayed_ack.is_none() =>
            {
                Sends::Acks
            }
            (Origin::Data(c), Sends::Nothing) if tcp[c as usize].session == NO_SESSION => {
                Sends::Data
            }
            _ => Sends::Others,
        };
    }
    sends.into_iter().map(|s| s != Sends::Others).collect()
}

impl<S: EventSet> World<S> {
    /// The timer of a receiver may have moved from `before`.
    #[inline]
    pub(super) fn note_syn_timer(&mut self, c: usize, before: Time) {
        let at = self.tcp[c].receiver.syn_timeout();
        if at != before {
            self.lane.syn_timers.moved(c as u32, before, at);
        }
    }

    /// What a packet of `flow` comes from, and its meter, if it is `due` at a host that answers at
    /// once and can be received ahead: nothing that the host does or that is counted comes before.
    #[inline(always)]
    fn receivable(&self, flow: u32, due: Time) -> Option<(Origin, u32)> {
        let lane = &self.lane;
        if due >= self.edges.next.min(lane.samples).min(lane.syn_timers.first) {
            return None;
        }
        let f = &self.flows[flow as usize];
        let can = match f.origin {
            Origin::Acknowledgments(c) => {
                !self.lane.sending && self.only_processes_acks_until(c as usize, due)
            }
            _ => true,
        };
        can.then_some((f.origin, f.meter))
    }

    /// Whether the sender of connection `c` does nothing before `due` but to handle acknowledgments.
    #[inline(always)]
    fn only_processes_acks_until(&self, c: usize, due: Time) -> bool {
        let connection = &self.tcp[c];
        // It may be woken before its timers, which move on.
        due < self.flows[connection.data as usize].wake || connection.sleeps_past(due)
    }

    /// Receives a packet that is sent on `link`, if that can be done before it arrives at `due`.
    #[inline(never)]
    pub(super) fn receive_ahead(
        &mut self,
        link: usize,
        tie: u64,
        packet: &Packet,
        due: Time,
    ) -> bool {
        if self.pipes.first(link).is_some() {
            return false;
        }
        let Some((origin, meter)) = self.receivable(packet.flow, due) else {
            return false;
        };
        self.count_hop(due, tie, packet.flow, packet.seq);
        self.deliver(due, origin, meter, packet);
        true
    }

    /// A packet has arrived that could not be received before: those behind it perhaps can.
    #[inline]
    pub(super) fn receive_rest(&mut self, pipe: usize) {
        if self
            .lane
            .links
            .get(pipe)
            .is_some_and(|l| l.onward.acks_at_once)
        {
            self.receive_waiting(pipe);
        }
    }

    #[cold]
    fn receive_waiting(&mut self, pipe: usize) {
        for _ in 0..MOST_AT_ONCE {
            let Some(first) = self.pipes.first(pipe).copied() else {
                break;
            };
            let Some((origin, meter)) = self.receivable(first.flow, first.due) else {
                break;
            };
            self.pipes.pop(pipe);
            let packet = first.packet();
            self.count_hop(first.due, first.tie, packet.flow, packet.seq);
            self.deliver(first.due, origin, meter, &packet);
        }
        if self.pipes.first(pipe).is_none() {
            self.events.cancel(self.slots.pipes + pipe as u32);
        }
        self.wake_pipe(pipe);
    }
}
