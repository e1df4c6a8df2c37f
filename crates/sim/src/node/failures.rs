//! Links that fail and are repaired, and routes that follow.
//!
//! When a link fails, the packets on it and in its queue are lost, and so are the packets that
//! arrive before its repair. Routing learns of a failure or a repair after it has lasted for the
//! sum of detection and convergence time; then all nodes change to the new shortest paths at once.
//!
//! In a world with failures, packets carry the number of their path in the plan instead of an index
//! into compiled paths, and every node looks up the next hop.
//!
//! Cost: O(1) per packet and node; after a change of routes, shortest paths to the destinations in
//! use.

use std::collections::{BTreeMap, VecDeque};

use spillgate_core::{DropReason, Dropped, Dur, Packet, Rng, Time};
use spillgate_events::{EventSet, Rank};
use spillgate_nodes::stage::Sending;
use spillgate_scenario::plan::{FailurePlan, WorldPlan};

use crate::engine::World;
use crate::tap::Place;

/// What happens to a link. Changes at one instant are handled in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Repaired,
    Failed,
    /// Routing learns of its repair.
    KnownUp,
    /// Routing learns of its failure.
    KnownDown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Change {
    at: Time,
    what: What,
    link: u32,
}

/// All changes of a run, past and to come.
pub(crate) struct Failures {
    /// By time.
    changes: Vec<Change>,
    /// Index of the first change that has not happened yet.
    next: usize,
    /// Slot in the event set.
    slot: u32,
}

/// The packets that a port has sent and that have not reached the far end of its link.
#[derive(Default)]
pub(crate) struct Underway {
    /// When each packet arrives, and the packet as it was sent.
    packets: VecDeque<(Time, Packet)>,
    /// The packet sent last, which may still be in transmission.
    pub(crate) last: Option<Packet>,
}

impl Underway {
    /// A packet that arrives at `due` is sent.
    pub(crate) fn push(&mut self, due: Time, packet: &Packet) {
        let at = self.packets.partition_point(|(before, _)| *before <= due);
        self.packets.insert(at, (due, *packet));
    }

    /// The first one has arrived.
    pub(crate) fn pop(&mut self) {
        self.packets.pop_front();
    }

    /// Takes out all these packets, which are lost.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = Packet> + use<> {
        std::mem::take(&mut self.packets)
            .into_iter()
            .map(|(_, packet)| packet)
    }
}

/// Whether each link fails.
pub(crate) fn failing(plan: &WorldPlan) -> Vec<bool> {
    let mut fails = vec![false; plan.links.len()];
    for f in &plan.failures {
        fails[f.link as usize] = true;
    }
    fails
}

/// The failures of a run, each delayed at random within its spread by its own stream of random
/// numbers.
fn drawn(plan: &WorldPlan, seed: u64, run: u32) -> Vec<FailurePlan> {
    let late = |f: &FailurePlan| {
        if f.spread.is_zero() {
            return *f;
        }
        let path = format!("failures/{}", f.number);
        let share = Rng::named(seed, run, &path, "spread").f64();
        let by = Dur::from_secs_f64(share * f.spread.as_secs_f64());
        FailurePlan {
            down: f.down + by,
            up: if f.up < Time::MAX { f.up + by } else { f.up },
            ..*f
        }
    };
    plan.failures.iter().map(late).collect()
}

/// All changes of a run, by time.
fn changes(plan: &WorldPlan, failures: &[FailurePlan]) -> Vec<Change> {
    let mut all = Vec::new();
    // Failures of one link do not overlap, whatever their delays. Iterating from the last to the
    // first gives the time of the next failure.
    let mut next_down = BTreeMap::new();
    for f in failures.iter().rev() {
        let next = next_down.insert(f.link, f.down).unwrap_or(Time::MAX);
        let link = f.link;
        let mut push = |at, what| {
            if at < Time::MAX {
                all.push(Change { at, what, link });
            }
        };
        push(f.down, What::Failed);
        push(f.up, What::Repaired);
        // Routing does not notice changes that last for a shorter time.
        if f.down + plan.reroute < f.up {
            push(f.down + plan.reroute, What::KnownDown);
        }
        if f.up + plan.reroute < next {
            push(f.up + plan.reroute, What::KnownUp);
        }
    }
    all.sort_unstable();
    all
}

impl Failures {
    /// None if nothing fails.
    pub(crate) fn new(plan: &WorldPlan, seed: u64, run: u32, slot: u32) -> Option<Self> {
        if plan.failures.is_empty() {
            return None;
        }
        Some(Self {
            changes: changes(plan, &drawn(plan, seed, run)),
            next: 0,
            slot,
        })
    }

    /// The next change, if it is due at `now`.
    fn due(&mut self, now: Time) -> Option<Change> {
        let change = *self.changes.get(self.next).filter(|c| c.at <= now)?;
        self.next += 1;
        Some(change)
    }
}

impl<S: EventSet> World<S> {
    /// Sets the wake of the next change.
    pub(crate) fn plan_change(&mut self) {
        let Some(f) = &self.failures else {
            return;
        };
        if let Some(change) = f.changes.get(f.next) {
            self.events.schedule(f.slot, change.at, Rank::Control);
        }
    }

    /// Applies all changes at this instant.
    #[cold]
    pub(crate) fn change_links(&mut self) {
        let mut learned = false;
        while let Some(change) = self.failures.as_mut().and_then(|f| f.due(self.now)) {
            match change.what {
                What::Repaired => self.repair(change.link as usize),
                What::Failed => self.fail(change.link as usize),
                What::KnownUp | What::KnownDown => {
                    if let Some(routing) = &mut self.routing {
                        let up = change.what == What::KnownUp;
                        routing.next_hops.set_up(change.link, up);
                        learned = true;
                    }
                }
            }
        }
        if learned {
            self.reroute();
        }
        self.plan_change();
    }

    /// A link goes down: drops the packets in its pipe, which include the packet
    /// in transmission, and in its queue.
    fn fail(&mut self, link: usize) {
        let (now, window, reason) = (self.now, self.window, DropReason::LinkDown);
        let l = &mut self.links[link];
        let Some(port) = &mut l.port else {
            return;
        };
        port.down = true;
        port.wake = Time::MAX;
        self.events.cancel(port.slot);
        self.events.cancel(self.slots.pipes + link as u32);
        let pipe = self.pipes.take(link);
        let Some(underway) = &mut port.underway else {
            return;
        };
        let last = underway.last.take();
        let underway: Vec<_> = underway.take().collect();
        let tx = last.map_or(Dur::ZERO, |p| l.rate.tx_time(p.len));
        let (start, end) = port.last_sent(tx);
        port.free_at = port.free_at.min(now);
        if let Some(server) = &mut port.server {
            server.cut(now);
        }
        if let Some(packet) = last.filter(|_| end > now) {
            l.meter.on_cut(window, now, end);
            let cut = (start, end, now);
            port.queues[usize::from(packet.leaf)].on_cut(window, packet.len, cut);
            port.discipline.transmits_until(packet.leaf, now);
            if let Some(stages) = self.stages.as_mut().filter(|_| l.staged) {
                let cut = Some(now);
                stages.send(link, &packet, Sending { start, end, cut });
            }
        }
        let place = self.link_hashes[link];
        let Some(port) = &mut self.links[link].port else {
            return;
        };
        for packet in &underway {
            port.on_lost_in_flight(window, packet, now, reason);
        }
        for head in pipe {
            let packet = head.packet();
            let lost = Dropped { packet, reason };
            if self.tap.is_some() {
                self.tap_lost(Some(link as u32), Place::Wire(link as u32), &lost);
            }
            self.lose(now, place, &lost);
        }
        self.lose_ring(link);
        let Some(port) = &mut self.links[link].port else {
            return;
        };
        port.discipline.flush(now, reason, &mut self.drops);
        self.drain_drops(link);
    }

    /// The link goes down: the packets in the ring of its port, which have left the discipline, are
    /// lost.
    fn lose_ring(&mut self, link: usize) {
        let (now, window, reason) = (self.now, self.window, DropReason::LinkDown);
        let place = self.link_hashes[link];
        while let Some(port) = &mut self.links[link].port {
            let Some(packet) = port.ring.as_mut().and_then(|r| r.pop()) else {
                return;
            };
            port.on_lost(window, &packet, now, reason);
            port.note_level(now, packet.leaf);
            port.discipline.transmits_until(packet.leaf, now);
            if self.nodes.is_some() {
                self.node_loses(link, &packet);
            }
            let lost = Dropped { packet, reason };
            if self.tap.is_some() {
                self.tap_lost(Some(link as u32), Place::Wire(link as u32), &lost);
            }
            self.lose(now, place, &lost);
        }
    }

    /// A packet has reached the far end of `link`: takes it off the account of packets in flight,
    /// if there is one.
    #[inline]
    pub(crate) fn left_link(&mut self, link: usize) {
        let port = self.links[link].port.as_mut();
        if let Some(underway) = port.and_then(|p| p.underway.as_mut()) {
            underway.pop();
        }
    }

    /// A link is up; its server is free and nothing waits.
    fn repair(&mut self, link: usize) {
        if let Some(port) = &mut self.links[link].port {
            port.down = false;
        }
    }
}
