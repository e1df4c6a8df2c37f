//! The validated form of a scenario: dense ids, resolved units, checked
//! references. What the simulator runs.

use std::sync::Arc;

use serde::Serialize;
use spillgate_core::{Dscp, Dur, Ecn, FlowKey, Overhead, Rate, Time};
use spillgate_endpoints::source::spec::SourceSpec;
use spillgate_endpoints::tcp::TcpConfig;
use spillgate_queueing::Recipe;

use crate::codes;
use crate::error::Diagnostic;
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
    /// `next_hop[node][destination]` is the link to take, none where there is no path or none is needed.
    pub next_hop: Vec<Vec<Option<u32>>>,
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
    /// Name of its policy, for reports.
    pub policy: String,
    /// How to build its queue discipline.
    pub discipline: Recipe,
}

/// One flow.
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
        /// Bytes to transfer; none: without end.
        bytes: Option<u64>,
    },
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
        let tcp = |f: &&FlowPlan| matches!(f.traffic, Traffic::Tcp { .. });
        let connections = self.flows.iter().filter(tcp).count() as u64;
        let nodes = self.nodes.len() as u64;
        queues
            .saturating_add((flows as u64).saturating_mul(PER_FLOW))
            .saturating_add(connections * PER_CONNECTION)
            .saturating_add(nodes * nodes * 4)
            .saturating_add(self.result_bytes())
    }

    /// Of the plan, which all runs share.
    fn plan_bytes(&self) -> u64 {
        let nodes = self.nodes.len() as u64;
        let flow = std::mem::size_of::<FlowPlan>() as u64 + 128;
        nodes * nodes * 8 + self.flows.len() as u64 * flow
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
