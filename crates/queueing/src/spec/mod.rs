//! Queue disciplines as a user writes them.
//!
//! A [`DisciplineSpec`] is what a link's `policy` names. Router
//! configurations become the same types, so an inline policy and an imported
//! one cannot behave differently.

mod class_based;
mod matching;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::Limit;

pub use class_based::{
    CdtPolicy, ClassBasedSpec, ClassSpec, FairQueueSpec, PoliceAction, PoliceSpec, PolicingWhen,
    PrioritySpec, ShapeSpec,
};
pub use matching::{AclEntry, MatchSpec, NetSpec, OneOrMany, PortRange, Protocol};

use crate::aqm::AqmSpec;

/// The queue discipline of a port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DisciplineSpec {
    /// One queue, first in first out.
    Fifo(FifoSpec),
    /// Weighted fair queueing by flow as packet-by-packet generalized processor sharing (PGPS).
    Wfq(WfqSpec),
    /// Cisco's flow-based WFQ: sequence numbers, precedence weights, congestive discard threshold.
    FlowWfq(FairQueueSpec),
    /// Classes with priority, bandwidth, shaping and policing (CBWFQ and LLQ).
    ClassBased(ClassBasedSpec),
}

/// Parameters of a FIFO queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FifoSpec {
    /// How much may wait; a packet that would exceed it is dropped (tail drop).
    /// Default 40 packets, the output hold queue of Cisco IOS.
    pub limit: Limit,
    /// Active queue management in front of the limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aqm: Option<AqmSpec>,
}

impl Default for FifoSpec {
    fn default() -> Self {
        Self {
            limit: Limit::Packets(40),
            aqm: None,
        }
    }
}

/// Parameters of PGPS weighted fair queueing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WfqSpec {
    /// What a flow's weight is.
    pub weights: WfqWeights,
    /// How much of one flow may wait. Default 64 packets.
    pub limit: Limit,
    /// How much may wait in all. Default 1000 packets.
    pub hold_queue: Limit,
}

impl Default for WfqSpec {
    fn default() -> Self {
        Self {
            weights: WfqWeights::Equal,
            limit: Limit::Packets(64),
            hold_queue: Limit::Packets(1000),
        }
    }
}

/// Weights of flows in weighted fair queueing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WfqWeights {
    /// All flows alike.
    #[default]
    Equal,
    /// IP precedence + 1, as Cisco's flow-based WFQ weighs.
    Precedence,
}
