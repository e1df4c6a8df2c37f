//! The validated form of a scenario: dense ids, resolved units, checked
//! references. What the simulator runs.

use std::sync::Arc;

use serde::Serialize;
use spillgate_core::{Dscp, Dur, Ecn, FlowKey, Overhead, Rate, Time};
use spillgate_endpoints::source::spec::SourceSpec;
use spillgate_endpoints::tcp::TcpConfig;
use spillgate_endpoints::workload::{ArrivalSpec, SessionSpec};
use spillgate_queueing::Recipe;

use crate::codes;
use crate::error::Diagnostic;
use crate::routes::{Edge, Routes};
use crate::schema::SlaMetric;

/// Everything that is to be run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The scenario's title.
    pub name: String,
    /// Master seed.
    pub seed: u64,
    /// Independent runs of each variant.
    pub runs: u32,
    /// At least one; a scenario without variants has one, named like the scenario.
    pub variants: Vec<VariantPlan>,
    /// What the results must satisfy; the same for every variant.
    pub sla: Vec<SlaPlan>,
    /// What the user should know before believing the result, with file and line where there is one.
    pub warnings: Vec<String>,
    /// Configuration lines that are understood but not modelled, or not understood.
    pub unmodelled: Vec<Unmodelled>,
    /// The files that the scenario refers to, as written there.
    pub files: Vec<String>,
    /// Hash of the canonical scenario with all its files, 32 hexadecimal digits.
    pub hash: String,
}

/// A configuration line that has no effect on the simulation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unmodelled {
    /// The configuration file.
    pub file: String,
    /// Line number, from 1.
    pub line: u32,
    /// The line's text.
    pub text: String,
    /// Why it has no effect.
    pub reason: String,
}

/// One variant of the scenario.
#[derive(Clone, Debug)]
pub struct VariantPlan {
    /// Its name.
    pub name: String,
    /// What runs.
    pub world: Arc<WorldPlan>,
}

/// A topology with its traffic.
#[derive(Clone, Debug)]
pub struct WorldPlan {
    /// Node names; a node's id is its index.
    pub nodes: Vec<String>,
    /// Links; a link's id is its index.
    pub links: Vec<LinkPlan>,
    /// The distinct paths of the flows while every link is up: ids of links in order, at least one.
    pub routes: Vec<Box<[u32]>>,
    /// When links fail, by time, then link.
    pub failures: Vec<FailurePlan>,
    /// How long after a failure or repair routes follow: its detection and the convergence.
    pub reroute: Dur,
    /// Flows; a flow's id is its index.
    pub flows: Vec<FlowPlan>,
    /// Classes of service of the traffic, in order of first appearance.
    pub classes: Vec<String>,
    /// Packets sent before this time are not counted.
    pub warmup: Dur,
    /// Length of the measured period.
    pub duration: Dur,
    /// Period of the time series.
    pub interval: Dur,
}

/// A link with the port that feeds it.
#[derive(Clone, Debug)]
pub struct LinkPlan {
    /// Its name.
    pub name: String,
    /// Id of the sending node.
    pub from: u32,
    /// Id of the receiving node.
    pub to: u32,
    /// Transmission rate.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Dur,
    /// What it adds to a packet.
    pub overhead: Overhead,
    /// What it costs to use it, at least 1.
    pub cost: u32,
    /// Name of its policy, for reports.
    pub policy: String,
    /// How to build its queue discipline.
    pub discipline: Recipe,
}

/// A link is down for a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FailurePlan {
    /// From here on.
    pub down: Time,
    /// Id of the link.
    pub link: u32,
    /// Until here; [`Time::MAX`]: for ever.
    pub up: Time,
}

/// One flow, or one workload of sessions.
#[derive(Clone, Debug)]
pub struct FlowPlan {
    /// Its name, unique: the path of its random streams.
    pub name: String,
    /// Class of service: an index into [`WorldPlan::classes`].
    pub class: u16,
    /// Id of the sending node.
    pub from: u32,
    /// Id of the receiving node.
    pub to: u32,
    /// Its path: an index into [`WorldPlan::routes`].
    pub route: u32,
    /// The path of what answers it, the acknowledgments of connections above all; none for a
    /// source that does not listen.
    pub back: Option<u32>,
    /// Addresses, ports, protocol.
    pub key: FlowKey,
    /// DSCP at the source.
    pub dscp: Dscp,
    /// ECN field at the source.
    pub ecn: Ecn,
    /// When it starts.
    pub start: Time,
    /// Each run starts it uniformly within this time after `start`.
    pub start_spread: Dur,
    /// When it stops, [`Time::MAX`] for never.
    pub stop: Time,
    /// What it sends.
    pub traffic: Traffic,
}

/// What a flow sends.
#[derive(Clone, Debug)]
pub enum Traffic {
    /// Packets that do not depend on the network.
    Source(SourceSpec),
    /// A TCP connection.
    Tcp {
        /// Its parameters.
        config: Arc<TcpConfig>,
        /// What it transfers, until the flow's stop at the latest.
        application: Application,
    },
    /// TCP connections that come and go.
    Sessions(Arc<SessionsPlan>),
}

impl Traffic {
    /// Whether anything comes back from the receiver.
    pub fn is_closed_loop(&self) -> bool {
        !matches!(self, Self::Source(_))
    }

    /// Connections that can be open at a time.
    pub fn connections(&self) -> u64 {
        match self {
            Self::Source(_) => 0,
            Self::Tcp { .. } => 1,
            Self::Sessions(s) => s.active.into(),
        }
    }
}

/// What writes into a connection.
#[derive(Clone, Debug, PartialEq)]
pub enum Application {
    /// There is always more to send.
    Greedy,
    /// So many bytes, all at once; at least 1.
    Bytes(u64),
    /// The IP packets that the source emits are written, with their length, as they come.
    Source(SourceSpec),
}

/// Connections that come and go.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionsPlan {
    /// Parameters of each connection.
    pub config: Arc<TcpConfig>,
    /// When sessions begin, counted from the flow's start; none begins from its stop on.
    pub arrivals: ArrivalSpec,
    /// What a session does.
    pub session: SessionSpec,
    /// Most sessions at a time; one that would begin beyond is refused and counted. At least 1.
    pub active: u32,
}

/// One requirement.
#[derive(Clone, Debug, PartialEq)]
pub struct SlaPlan {
    /// Class of service, by name.
    pub class: String,
    /// What is bounded.
    pub metric: SlaMetric,
    /// Upper bound in the metric's base unit (seconds, ratio, bits per second).
    pub max: Option<f64>,
    /// Lower bound in the metric's base unit.
    pub min: Option<f64>,
}

impl Plan {
    /// A generous upper estimate, in bytes, of the memory that the whole campaign
    /// needs with `threads` runs at a time: the plan itself, the worlds that run,
    /// and the results that are kept of every finished run.
    pub fn memory_bytes(&self, threads: usize) -> u64 {
        let runs = u64::from(self.runs);
        let (mut largest, mut plan, mut kept) = (0_u64, 0_u64, 0_u64);
        for v in &self.variants {
            largest = largest.max(v.world.running_bytes());
            plan = plan.saturating_add(v.world.plan_bytes());
            kept = kept.saturating_add(v.world.result_bytes().saturating_mul(runs));
        }
        // More threads than runs stay idle.
        let all_runs = runs.saturating_mul(self.variants.len() as u64);
        let at_once = (threads.max(1) as u64).min(all_runs.max(1));
        largest
            .saturating_mul(at_once)
            .saturating_add(plan)
            .saturating_add(kept)
    }

    /// The error to report before starting if `available` bytes are not enough
    /// for `threads` runs at a time; none if they are.
    pub fn check_memory(&self, threads: usize, available: u64) -> Option<Diagnostic> {
        let needed = self.memory_bytes(threads);
        if needed <= available {
            return None;
        }
        let alone = self.memory_bytes(1);
        let hint = if alone <= available {
            format!(
                "run fewer at a time: one at a time needs about {}",
                gigabytes(alone)
            )
        } else {
            "use fewer flows, fewer runs, smaller queues or a longer interval".to_owned()
        };
        let message = format!(
            "needs about {}, the machine has {}",
            gigabytes(needed),
            gigabytes(available)
        );
        Some(Diagnostic::error(codes::MEMORY, message).hint(hint))
    }
}

/// Meters, histograms and source of one flow, in bytes; measured values are below.
const PER_FLOW: u64 = 4096;
/// Both ends of a TCP connection with some hundreds of segments on the way.
const PER_CONNECTION: u64 = 32 * 1024;
/// Meters and histograms of one queue, class or link.
const PER_METER: u64 = 64 * 1024;
/// What stays of one flow in the results of a run.
const KEPT_PER_FLOW: u64 = 512;
/// One sample of a time series.
const PER_POINT: u64 = 16;

impl WorldPlan {
    /// Routing with all links up, to be told of failures.
    pub fn routing(&self) -> Routes {
        let edge = |l: &LinkPlan| Edge {
            from: l.from,
            to: l.to,
            cost: l.cost,
        };
        Routes::new(self.nodes.len(), self.links.iter().map(edge).collect())
    }

    fn meters(&self) -> u64 {
        let leaves: usize = self
            .links
            .iter()
            .map(|l| l.discipline.leaf_names().len())
            .sum();
        (leaves + self.links.len() + self.classes.len()) as u64
    }

    fn points(&self) -> u64 {
        // Series begin with the run, not with the measured period.
        let period = (self.warmup + self.duration).as_ps();
        let per_series = period / self.interval.as_ps().max(1) + 1;
        self.meters().saturating_mul(per_series)
    }

    /// Of one running world.
    fn running_bytes(&self) -> u64 {
        let flows = self.flows.len();
        let queues = self.links.iter().fold(0_u64, |sum, l| {
            // Packets on the way are records of 64 B and at least 20 B on the wire.
            let in_flight = l.rate.bytes_in(l.delay).saturating_mul(4);
            sum.saturating_add(l.discipline.memory_bytes(flows))
                .saturating_add(in_flight)
        });
        let connections: u64 = self.flows.iter().map(|f| f.traffic.connections()).sum();
        queues
            .saturating_add((flows as u64).saturating_mul(PER_FLOW))
            .saturating_add(connections.saturating_mul(PER_CONNECTION))
            .saturating_add(self.result_bytes())
    }

    /// Of the plan, which all runs share.
    fn plan_bytes(&self) -> u64 {
        let flow = size_of::<FlowPlan>() as u64 + 128;
        let link = size_of::<LinkPlan>() as u64 + 512;
        let routes: usize = self.routes.iter().map(|r| 16 + 4 * r.len()).sum();
        self.flows.len() as u64 * flow + self.links.len() as u64 * link + routes as u64
    }

    /// Of the results of one run.
    fn result_bytes(&self) -> u64 {
        let flows = self.flows.len() as u64;
        flows
            .saturating_mul(KEPT_PER_FLOW)
            .saturating_add(self.meters().saturating_mul(PER_METER))
            .saturating_add(self.points().saturating_mul(PER_POINT))
    }
}

/// `41 GB`, or `350 MB` below one.
fn gigabytes(bytes: u64) -> String {
    let gb = bytes as f64 / 1e9;
    if gb >= 10.0 {
        format!("{gb:.0} GB")
    } else if gb >= 1.0 {
        format!("{gb:.1} GB")
    } else {
        format!("{:.0} MB", (bytes as f64 / 1e6).ceil())
    }
}
