//! The validated form of a scenario: dense ids, resolved units, checked
//! references. What the simulator runs.

use std::sync::Arc;

use serde::Serialize;
use spillgate_core::{Dscp, Dur, Ecn, FlowKey, Overhead, Rate, Time};
use spillgate_endpoints::source::spec::SourceSpec;
use spillgate_queueing::Recipe;

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
    /// When it stops, [`Time::MAX`] for never.
    pub stop: Time,
    /// What it sends.
    pub source: SourceSpec,
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
    /// A generous upper estimate of the memory that `threads` concurrent runs need, in bytes.
    pub fn memory_bytes(&self, threads: usize) -> u64 {
        /// Meters, histograms and source state of one flow.
        const PER_FLOW: u64 = 4096;
        let worlds = self.variants.iter().map(|v| {
            let w = &v.world;
            let nodes = w.nodes.len() as u64;
            nodes * nodes * 8 + w.flows.len() as u64 * PER_FLOW
        });
        worlds
            .max()
            .unwrap_or(0)
            .saturating_mul(threads.max(1) as u64)
    }

    /// The error to report before starting if `available` bytes are not enough; none if they are.
    pub fn check_memory(&self, threads: usize, available: u64) -> Option<crate::Diagnostic> {
        let needed = self.memory_bytes(threads);
        (needed > available).then(|| {
            crate::Diagnostic::error(
                "E0601",
                format!("needs about {needed} B of memory, the machine has {available} B"),
            )
        })
    }
}
