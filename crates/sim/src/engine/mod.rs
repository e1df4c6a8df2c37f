//! One run of a simulation: its state, and what each event does. This engine defines the results of
//! Spillgate.
//!
//! Where to read what:
//!
//! - [`World::run`] takes the next wake from the event set and calls the component that it belongs
//!   to.
//! - `net`: a packet at the far end of a link, at the next port, in its queue, at the server, on
//!   the link.
//! - `endpoints`: packets are emitted and received; `connections`: by TCP.
//! - `books`: packets at the far end of a link, and lost ones, are counted.
//! - `clock`: the measured period begins, is sampled, and ends.
//!
//! Beside this way: `edges` (what is counted as the period begins and ends), `outstanding` (when a
//! run is over), `special` (ports and links out of the ordinary), `sessions` (applications over
//! TCP), `sources` (captures, backlogged flows), `results`, and `build` with `flows` and `paths`
//! (the world at time 0).
//!
//! - [`node`](crate::node): nodes that do more than pass packets on. [`observe`](crate::observe):
//!   taps, time series, explanations.
//!
//! Disciplines, sources and TCP are state machines without a clock; every call tells them the time.
//! The engine calls `enqueue` when a packet arrives at a port, `dequeue` when the server is free,
//! and `next_wake` when the discipline holds packets but may not send yet. Events are handled one
//! at a time, ordered by time, then by rank (service, delivery, control, timer, observer), then by
//! a hash of the component's name.
//!
//! Methods that begin with `lane_` offer an event to the [express lane](crate::express), and return
//! whether the lane has handled it. In the plain engine they return `false` and do nothing, so a
//! reader may skip them.

mod books;
mod build;
mod choice;
mod clock;
mod connections;
mod edges;
mod endpoints;
mod flows;
mod net;
mod outstanding;
mod paths;
mod results;
mod sessions;
mod sources;
mod special;

use std::collections::BTreeMap;
use std::sync::Arc;

use spillgate_core::{Drops, Facts, Table, Time};
use spillgate_events::EventSet;
use spillgate_measure::{FlowMeter, Window};
use spillgate_queueing::Colored;
use spillgate_scenario::plan::WorldPlan;

use crate::arrivals::Arrivals;
use crate::campaign::Failure;
use crate::express::Lane;
use crate::flow::{Flow, OpenLoop};
use crate::gaps::Gaps;
use crate::link::Link;
use crate::node::{Failures, Nodes, Routing, Stages};
use crate::observe::SeriesRecorder;
use crate::pipes::Pipes;
use crate::precedence::Marked;
use crate::replay::Capture;
use crate::session::{Session, Workload};
use crate::tap::Tap;
use crate::tcp::{Connection, Segments};
use crate::tokens::Tokens;
use crate::transfers::Transfers;
use outstanding::Outstanding;

pub(crate) use paths::Paths;

pub use choice::Engine;
pub use flows::flow_hash;
pub(crate) use results::histogram_bits;
pub use results::quantile_error;

/// Why [`World::run`] returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Every packet of the measured period is accounted for, or the time allowed for that is over.
    Done,
    /// The budget of events is used up; call again to go on.
    Paused,
}

/// A running world.
///
/// [`World::run`] advances it; [`World::outcome`] reads it. It is driven from
/// one thread and owns everything it needs.
pub struct World<S> {
    pub(crate) events: S,
    /// The time of the event that is handled.
    pub(crate) now: Time,
    pub(crate) flows: Table<Flow>,
    pub(crate) sources: Vec<OpenLoop>,
    pub(crate) replays: Vec<Capture>,
    /// The first fault of the run; the outcome is invalid if there is one.
    pub(crate) fault: Option<Failure>,
    pub(crate) tcp: Table<Connection>,
    pub(crate) workloads: Vec<Workload>,
    pub(crate) sessions: Vec<Session>,
    /// One for each closed-loop flow of the plan (TCP, sessions), in the order of the plan.
    pub(crate) transfers: Table<Transfers>,
    pub(crate) segments: Segments,
    pub(crate) meters: Table<FlowMeter>,
    /// Arrivals by class of service; only with time series.
    pub(crate) arrivals: Option<Box<Arrivals>>,
    /// Levels of token buckets; only with time series.
    pub(crate) tokens: Option<Box<Tokens>>,
    pub(crate) gaps: Option<Box<Gaps>>,
    pub(crate) links: Table<Link>,
    /// Hashes of the links' names, for the digest.
    pub(crate) link_hashes: Vec<u64>,
    /// The links with flow admission.
    pub(crate) admitting: Vec<u32>,
    pub(crate) pipes: Pipes,
    pub(crate) lane: Lane,
    /// The paths of the plan, one after another: numbers of links, then [`ARRIVED`]. A flow holds
    /// the index at which its path begins. Where links fail, a path is the one word [`ROUTED`].
    pub(crate) hops: Vec<u32>,
    pub(crate) failures: Option<Box<Failures>>,
    pub(crate) routing: Option<Box<Routing>>,
    /// What packets pass at nodes at once; none if nothing looks at them there.
    pub(crate) stages: Option<Box<Stages>>,
    /// Packets by the code points that policies gave them; none if no policy marks.
    pub(crate) marked: Option<Box<Marked>>,
    /// The counters of all policers of ports at the begin of the measured period; after its end,
    /// the counts within it.
    pub(crate) colored: Vec<Colored>,
    /// Nodes that hold packets; none if every node passes packets on at once.
    pub(crate) nodes: Option<Box<Nodes>>,
    pub(crate) window: Window,
    pub(crate) edges: Edges,
    pub(crate) outstanding: Outstanding,
    /// Length of the longest IP packet sent so far, in bytes.
    pub(crate) longest: u16,
    /// When the last transmission that began within the measured period has ended.
    pub(crate) transmissions_end: Time,
    /// A packet whose last bit arrives in this interval has arrived within the measured period from
    /// its first bit to its last.
    pub(crate) inner: Window,
    /// By last link of a path: when its latest packet since the end of the measured period had
    /// arrived.
    pub(crate) arrived_until: BTreeMap<u32, Time>,
    /// The time of the latest loss, which may be counted ahead of the clock.
    pub(crate) last_known_loss: Time,
    pub(crate) drops: Drops,
    pub(crate) facts: Facts,
    pub(crate) counts: Counts,
    pub(crate) slots: Slots,
    pub(crate) series: Option<SeriesRecorder>,
    pub(crate) tap: Option<Box<dyn Tap>>,
    pub(crate) plan: Arc<WorldPlan>,
}

/// Marks the end of a path in [`World::hops`].
pub(crate) const ARRIVED: u32 = u32::MAX;
/// In place of a path: the next hop is looked up in the current routes.
pub(crate) const ROUTED: u32 = u32::MAX - 1;

/// The edges of the measured period, its start and its end.
pub(crate) struct Edges {
    /// The next edge; the end once both are past.
    pub(crate) next: Time,
    pub(crate) passed: u8,
}

/// Counters of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Wakes, not counting deliveries, samples, and timers of TCP that turned out to have moved.
    pub(crate) wakes: u64,
    /// `wakes` at the end of the measured period, once it has ended.
    pub(crate) wakes_in_time: Option<u64>,
    /// Packets sent.
    pub(crate) emitted: u64,
    /// Deliveries at the far end of a link before the end of the measured period.
    pub(crate) hops: u64,
    /// Losses before the end of the measured period.
    pub(crate) losses: u64,
}

impl Counts {
    /// Events up to the end of the measured period.
    fn events(&self) -> u64 {
        self.wakes_in_time.unwrap_or(self.wakes) + self.hops
    }

    /// The number of facts in the fingerprint.
    fn facts(&self) -> u64 {
        self.hops + self.losses
    }
}

/// Which component each slot of the event set wakes. The ranges follow one another: flows (without
/// those behind the last one that is ever woken), pipes, ports, nodes that hold packets, failures,
/// the observer. Each field is the first slot of its range.
pub(crate) struct Slots {
    pub(crate) pipes: u32,
    pub(crate) ports: u32,
    pub(crate) nodes: u32,
    /// One slot, if any link fails.
    pub(crate) failures: u32,
    pub(crate) observer: u32,
    /// The link of each port that has a slot.
    pub(crate) link_of_port: Vec<u32>,
}

impl<S: EventSet> World<S> {
    /// Advances by at most `budget` wakes.
    pub fn run(&mut self, budget: u64) -> Stop {
        for _ in 0..budget {
            let Some((at, slot)) = self.events.next() else {
                self.close();
                return Stop::Done;
            };
            if slot == self.slots.observer {
                self.now = at;
                self.observe();
                continue;
            }
            if at >= self.edges.next {
                if self.is_over(at) {
                    self.close();
                    return Stop::Done;
                }
                self.pass_edges(at);
            }
            self.now = at;
            if slot < self.slots.pipes {
                self.counts.wakes += 1;
                self.wake_flow(slot as usize);
            } else if slot < self.slots.ports {
                self.pipe_due((slot - self.slots.pipes) as usize);
            } else {
                self.counts.wakes += 1;
                let port = (slot - self.slots.ports) as usize;
                match self.slots.link_of_port.get(port) {
                    Some(link) => self.serve(*link as usize),
                    None if slot < self.slots.failures => {
                        self.node_due((slot - self.slots.nodes) as usize);
                    }
                    None => self.change_links(),
                }
            }
        }
        Stop::Paused
    }
}
