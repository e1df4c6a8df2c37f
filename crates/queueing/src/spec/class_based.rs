//! Class-based policies: the modular QoS model of Cisco IOS.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dscp, Limit, Percent, RateOrPercent, Size};

use super::MatchSpec;
use crate::aqm::AqmSpec;

/// A policy of classes, tried in order; what no class matches goes to `class-default`,
/// which is added when it is not written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassBasedSpec {
    /// The classes, in the order in which they are tried.
    pub classes: Vec<ClassSpec>,
}

/// One class of a policy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ClassSpec {
    /// Its name, unique in the policy. `class-default` matches everything and comes last.
    pub name: String,
    /// Which packets belong to it. Required, except for `class-default`.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub matching: Option<MatchSpec>,
    /// Strict priority (LLQ). Excludes `bandwidth`, `queue_limit` and `aqm`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<PrioritySpec>,
    /// Guaranteed bandwidth: a rate, or a percentage of the enclosing rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<RateOrPercent>,
    /// Share of what priority and guaranteed classes leave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth_remaining: Option<Percent>,
    /// Share of what priority and guaranteed classes leave, as a ratio 1..=1000 to the other classes' ratios.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub bandwidth_remaining_ratio: Option<u32>,
    /// Upper bound on the class's rate; excess waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<ShapeSpec>,
    /// Upper bound on the class's rate; excess is dropped or re-marked on arrival.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub police: Option<PoliceSpec>,
    /// How much of the class may wait. Default 64 packets. Time is counted at the class's guaranteed rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_limit: Option<Limit>,
    /// Active queue management of the class's queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aqm: Option<AqmSpec>,
    /// A fair queue by flow inside the class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fair_queue: Option<FairQueueSpec>,
    /// Sets the DSCP of every packet of the class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_dscp: Option<Dscp>,
    /// Name of a class-based policy that queues inside this class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
}

/// Strict priority with an optional policer (LLQ).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PrioritySpec {
    /// 1 is served first. Default 1.
    #[schemars(range(min = 1, max = 16))]
    pub level: u8,
    /// What the class may send when the port is congested. None: it is never policed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateOrPercent>,
    /// The policer's burst. Default 200 ms at `rate` (Cisco IOS).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst: Option<Size>,
    /// When the policer acts.
    pub police: PolicingWhen,
    /// How much may wait in the class. Default 64 packets.
    pub limit: Limit,
}

impl Default for PrioritySpec {
    fn default() -> Self {
        Self {
            level: 1,
            rate: None,
            burst: None,
            police: PolicingWhen::Conditional,
            limit: Limit::Packets(64),
        }
    }
}

/// When the policer of a priority class acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PolicingWhen {
    /// Only while something waits in the port.
    #[default]
    Conditional,
    /// On every packet.
    Always,
}

/// A token-bucket shaper.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShapeSpec {
    /// The average rate.
    pub rate: RateOrPercent,
    /// The bucket's depth. Default 4 ms at `rate`, at least 1500 B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<Size>,
}

/// A single-rate, two-color token-bucket policer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoliceSpec {
    /// The committed information rate.
    pub rate: RateOrPercent,
    /// The committed burst. Default 1500 B or 250 ms at `rate`, whichever is more (Cisco IOS: CIR/32 bytes).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<Size>,
    /// What happens to a packet within the contract. Default `transmit`.
    #[serde(default)]
    pub conform: PoliceAction,
    /// What happens to a packet beyond it. Default `drop`.
    #[serde(default = "PoliceAction::dropping")]
    pub exceed: PoliceAction,
}

/// What a policer does with a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PoliceAction {
    /// Send it on unchanged.
    #[default]
    Transmit,
    /// Discard it.
    Drop,
    /// Send it on with this DSCP.
    SetDscp(Dscp),
}

impl PoliceAction {
    fn dropping() -> Self {
        Self::Drop
    }
}

/// Cisco's flow-based WFQ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FairQueueSpec {
    /// Number of dynamic conversation queues, a power of two in 16..=4096.
    #[schemars(range(min = 16, max = 4096))]
    pub queues: u16,
    /// Congestive discard threshold: packets that one conversation may hold, 1..=4096.
    #[schemars(range(min = 1, max = 4096))]
    pub threshold: u16,
    /// Packets that all conversations together may hold.
    #[schemars(range(min = 1))]
    pub hold_queue: u32,
    /// What happens at the threshold.
    pub cdt_policy: CdtPolicy,
}

impl Default for FairQueueSpec {
    fn default() -> Self {
        Self {
            queues: 256,
            threshold: 64,
            hold_queue: 1000,
            cdt_policy: CdtPolicy::WorstSn,
        }
    }
}

/// What flow-based WFQ does with a conversation at its discard threshold; sources disagree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CdtPolicy {
    /// Evict the packet with the largest sequence number of all conversations if that is
    /// larger than the arrival's, else drop the arrival.
    #[default]
    WorstSn,
    /// Refuse the conversation until it holds less than a quarter of the threshold.
    BlockQuarter,
}
