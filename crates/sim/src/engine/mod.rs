//! One run: the state of everything, and what happens at each wake. This is the definition of what Spillgate computes.
//!
//! To read it: [`World::run`] takes the next wake and hands it to whom it belongs. `net` is the way of a packet from the far
//! end of a link to the next port, its queue and its server, and onto the wire; `ends` where packets come into being, arrive and are lost;
//! `connections` and `sessions` what TCP does at both ends; `clock` the edges of the measured period; `ending` when a run is over. `cast`
//! and `build` make the world at time 0. What a node does beyond passing packets on is in [`node`](crate::node), who looks at a run in
//! [`observe`](crate::observe).
//!
//! Disciplines, sources and TCP are state machines that are told the time: what the engine does with a discipline is `enqueue` when a
//! packet comes, `dequeue` when the server is free, and to ask `next_wake` when nothing may leave yet. One event happens at a time, in the
//! order of time, rank (service, delivery, control, timer, observer) and the hash of a name.
//!
//! Calls that begin with `lane_` tell the [express lane](crate::express), which may take the matter over. In the plain engine it
//! is closed and they do nothing: read on behind them.

mod build;
mod cast;
mod choice;
mod clock;
mod connections;
mod ending;
mod ends;
mod net;
mod paths;
mod sessions;

use std::collections::BTreeMap;
use std::sync::Arc;

use spillgate_core::{Drops, Facts, Table, Time};
use spillgate_events::EventSet;
use spillgate_measure::{FlowMeter, Histogram};
use spillgate_scenario::plan::WorldPlan;

use crate::admission::Admission;
use crate::arrivals::Arrivals;
use crate::campaign::Failure;
use crate::express::Lane;
use crate::flow::{Flow, OpenLoop, Origin};
use crate::gaps::Gaps;
use crate::link::Link;
use crate::node::{Failures, Inputs, Mpls, Nodes, Routing};
use crate::observe::SeriesRecorder;
use crate::outcome::Outcome;
use crate::port::Port;
use crate::replay::Capture;
use crate::session::{Session, Workload};
use crate::tap::Tap;
use crate::tcp::{Connection, Segments};
use crate::tokens::Tokens;
use crate::transfers::Transfers;
use crate::window::Window;
use crate::wires::Wires;
use ending::Ending;

pub(crate) use paths::Paths;

pub use choice::Engine;

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
    /// That of the wake that is handled, or of one of the packets that it takes along.
    pub(crate) now: Time,
    pub(crate) flows: Table<Flow>,
    pub(crate) sources: Vec<OpenLoop>,
    pub(crate) replays: Vec<Capture>,
    /// What makes the outcome worth nothing.
    pub(crate) fault: Option<Failure>,
    pub(crate) tcp: Table<Connection>,
    pub(crate) workloads: Vec<Workload>,
    pub(crate) sessions: Vec<Session>,
    /// One for each flow of the plan that is answered, in their order.
    pub(crate) transfers: Table<Transfers>,
    pub(crate) segments: Segments,
    pub(crate) meters: Table<FlowMeter>,
    /// What arrives in each class of service; only kept with series.
    pub(crate) arrivals: Option<Box<Arrivals>>,
    /// Token buckets; only kept with series.
    pub(crate) tokens: Option<Box<Tokens>>,
    pub(crate) gaps: Option<Box<Gaps>>,
    pub(crate) links: Table<Link>,
    /// Hashes of the links' names, for the digest.
    pub(crate) places: Vec<u64>,
    /// The links with flow admission.
    pub(crate) admitting: Vec<u32>,
    pub(crate) wires: Wires,
    pub(crate) lane: Lane,
    /// Paths of links, each ended by [`ARRIVED`]; flows hold where theirs begins. Where links fail:
    /// for each path of the plan, [`ROUTED`].
    pub(crate) hops: Vec<u32>,
    /// What a packet's handle grows by with each hop: one place in its path, none where links fail.
    pub(crate) step: u64,
    pub(crate) failures: Option<Box<Failures>>,
    pub(crate) routing: Option<Box<Routing>>,
    pub(crate) mpls: Option<Box<Mpls>>,
    /// What happens to packets where they arrive; none if nothing does.
    pub(crate) inputs: Option<Box<Inputs>>,
    /// The nodes that keep packets; none if all pass them on at once.
    pub(crate) nodes: Option<Box<Nodes>>,
    pub(crate) window: Window,
    pub(crate) edges: Edges,
    pub(crate) ending: Ending,
    /// The longest IP packet that any source has sent, in bytes.
    pub(crate) longest: u16,
    /// The end of the window and of whatever a link can have begun to send before it.
    pub(crate) stragglers: Time,
    /// Packets that arrive then have arrived within the window from the first bit to the last.
    pub(crate) inner: Window,
    /// Until when packets have arrived over each last link since the window ended.
    pub(crate) late: BTreeMap<u32, Time>,
    /// When the last loss that was worked out ahead takes place.
    pub(crate) settled: Time,
    pub(crate) drops: Drops,
    pub(crate) facts: Facts,
    pub(crate) counts: Counts,
    pub(crate) slots: Slots,
    pub(crate) series: Option<SeriesRecorder>,
    pub(crate) tap: Option<Box<dyn Tap>>,
    pub(crate) plan: Arc<WorldPlan>,
}

/// The end of a path.
pub(crate) const ARRIVED: u32 = u32::MAX;
/// The routes of the moment say where to go.
pub(crate) const ROUTED: u32 = u32::MAX - 1;

/// Where a run is between the edges of its window.
pub(crate) struct Edges {
    /// The next edge; the last one when both are past.
    pub(crate) next: Time,
    pub(crate) passed: u8,
}

/// What a run has done so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Wakes but for deliveries, those of the observer and of ends of connections that have nothing to do.
    pub(crate) wakes: u64,
    /// Those within the measured period and before, once it has ended.
    pub(crate) wakes_in_time: Option<u64>,
    /// Packets that were sent.
    pub(crate) emitted: u64,
    /// Deliveries at the far end of a link before the end of the window.
    pub(crate) hops: u64,
    /// Losses before the end of the window.
    pub(crate) losses: u64,
}

impl Counts {
    /// What has happened.
    fn events(&self) -> u64 {
        self.wakes_in_time.unwrap_or(self.wakes) + self.hops
    }

    /// The facts that the fingerprint is of.
    fn facts(&self) -> u64 {
        self.hops + self.losses
    }
}

/// Whose wake a slot of the event set is: flows come first, but for those behind the last that is
/// ever woken, then wires, ports, nodes that keep packets, failures if there are any, the observer, and confluences.
pub(crate) struct Slots {
    pub(crate) wires: u32,
    pub(crate) ports: u32,
    pub(crate) nodes: u32,
    /// Of the failures, if there are any.
    pub(crate) failures: u32,
    pub(crate) observer: u32,
    pub(crate) confluences: u32,
    /// The link of each slot that is a port's.
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
            if slot < self.slots.wires {
                self.counts.wakes += 1;
                self.wake_flow(slot as usize);
            } else if slot < self.slots.ports {
                self.wire_due((slot - self.slots.wires) as usize);
            } else if slot >= self.slots.confluences {
                self.lane_woken((slot - self.slots.confluences) as usize);
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

    /// How much of the simulated time has passed, 0 to 1.
    pub fn fraction(&self) -> f64 {
        (self.now.as_ps() as f64 / self.window.end().as_ps() as f64).min(1.0)
    }

    /// Events so far, up to the end of the measured period: deliveries at the far end of a link, and
    /// wakes of sources, senders, receivers and ports that have something to do.
    pub fn events(&self) -> u64 {
        self.counts.events()
    }

    /// Packets that sources have emitted so far.
    pub fn packets(&self) -> u64 {
        self.counts.emitted
    }

    /// Packet-hops so far: packets that have reached the far end of a link.
    pub fn hops(&self) -> u64 {
        self.counts.hops
    }

    /// Fingerprint of the event stream so far.
    pub fn digest(&self) -> String {
        self.facts.hex(self.counts.facts())
    }

    /// What kept the run from being right, if anything did: the outcome is worth nothing then.
    pub fn fault(&self) -> Option<&Failure> {
        self.fault.as_ref()
    }

    /// What has been measured in a run that has ended. What has sent and carried packets makes
    /// room first: of many flows the results are large too.
    pub fn into_outcome(mut self) -> Outcome {
        let admissions = self.admissions();
        let series = self.series.take();
        self.tcp = Table::default();
        self.flows = Table::default();
        self.segments = Segments::default();
        self.wires = Wires::new(0);
        self.events = S::new(Vec::new(), 0..0);
        self.collect(admissions, series)
    }

    /// What has been measured; of a run that has not ended, what there is so far, without the
    /// marks and peaks of queued ports, which are read at its end.
    pub fn outcome(&self) -> Outcome {
        self.collect(self.admissions(), self.series.clone())
    }

    /// What the links with flow admission have done to the flows of the plan and to their
    /// acknowledgments.
    fn admissions(&self) -> Vec<Admission> {
        let end = self.now.min(self.window.end());
        let mut found = Vec::new();
        for (number, link) in (0..).zip(&self.links) {
            let Port::Queued(port) = &link.port else {
                continue;
            };
            let waits = port.discipline.waits(end);
            // Sources go on until the last packets of the window have arrived.
            for wait in waits.into_iter().filter(|w| w.offered < end) {
                let flow = &self.flows[wait.flow as usize];
                let (of, answers) = match flow.origin {
                    Origin::Acknowledgments(c) => {
                        (&self.flows[self.tcp[c as usize].data as usize], true)
                    }
                    _ => (flow, false),
                };
                found.push(Admission::new(number, of.meter, answers, &wait, end));
            }
        }
        found
    }

    fn collect(&self, admissions: Vec<Admission>, series: Option<SeriesRecorder>) -> Outcome {
        let (plan, window) = (&self.plan, self.window);
        Outcome::collect(
            plan,
            window,
            self.now,
            &self.meters,
            (&self.links, self.lane.lines()),
            self.label_meters(),
            self.input_meters(),
            self.nodes.iter().flat_map(|n| n.meters()),
            &self.transfers,
            admissions,
            self.gaps.as_deref(),
        )
        .with_run(
            self.digest(),
            self.counts.events(),
            self.counts.emitted,
            series.map(SeriesRecorder::into_curves).unwrap_or_default(),
            self.tokens
                .as_ref()
                .map(|t| t.draining(plan, &self.buckets()))
                .unwrap_or_default(),
            self.arrivals
                .as_ref()
                .filter(|_| self.now >= window.end())
                .map(|a| a.unsettled())
                .unwrap_or_default(),
        )
    }
}

/// Resolution of the histograms of so many flows or queues: 2⁸ buckets an octave are 0.2 % wide
/// at most from the middle; with 2⁵, 10,000 flows stay within tens of megabytes.
pub(crate) fn histogram_bits(members: usize) -> u8 {
    match members {
        0..=256 => 8,
        257..=2048 => 7,
        _ => 5,
    }
}

/// The largest relative error of a reported quantile in a world of this many flows.
pub fn quantile_error(flows: usize) -> f64 {
    Histogram::new(histogram_bits(flows)).relative_error()
}
