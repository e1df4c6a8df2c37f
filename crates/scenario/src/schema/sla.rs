//! Requirements, in the scenario and in files of customers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::Percent;

/// One requirement: the metric of the class must stay within the bound; or all that a preset
/// requires of the class; or a file of requirements.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlaSpec {
    /// Class of service (of `traffic`) that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// What is bounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<SlaMetric>,
    /// Upper bound, in the metric's unit: a time, a percentage, a rate, a number of transfers, a
    /// number on a scale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Bound>,
    /// Lower bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Bound>,
    /// In place of metric and bound: published objectives, such as `y1541-class-0`. `spillgate
    /// list objectives` names them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// The part of the preset's bounds, which hold from end to end, that the simulated network may
    /// spend. Default 100 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<Percent>,
    /// In place of everything else: a file with the requirements of a customer (YAML), or of several
    /// (CSV); path relative to the scenario file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// The requirements of one customer: a file of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CustomerSpec {
    /// The customer's name.
    pub customer: String,
    /// What all flows of a class must have, as under `sla` of a scenario.
    #[serde(default)]
    pub objectives: Vec<SlaSpec>,
    /// What the flows of a site must have.
    #[serde(default)]
    pub sites: Vec<SiteSpec>,
}

/// A site of a customer: flows that begin or end there are its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SiteSpec {
    /// The site's name.
    pub name: String,
    /// Nodes of the topology, or groups of them, that are at the site.
    pub nodes: Vec<String>,
    /// What its flows must have, by class.
    pub objectives: Vec<SlaSpec>,
}

/// How requirements are judged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VerdictsSpec {
    /// Whether the confidence level holds for each verdict or for all of them together.
    pub correction: Correction,
    /// The variant that the others are compared with, run by run. Default: the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
}

/// What is done about many verdicts at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Correction {
    /// Nothing: each verdict is at the level of 95 % for itself.
    #[default]
    None,
    /// All verdicts together are at 95 %, each at `1 - 5 % / number` (Bonferroni).
    Bonferroni,
    /// All together at 95 %, step by step from the clearest to the least clear (Holm 1979): never
    /// decides less than Bonferroni.
    Holm,
}

impl Correction {
    /// Its name in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Bonferroni => "bonferroni",
            Self::Holm => "holm",
        }
    }
}

/// A bound as text with a unit, `20 ms`, `0.1 %`, `10 Mb/s`, or a plain number on a scale: `3.6`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Bound(pub String);

impl JsonSchema for Bound {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Bound".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": ["string", "number"],
            "description": "A bound as text with a unit, `20 ms`, `0.1 %`, `10 Mb/s`, or a plain number on a scale: `3.6`."
        })
    }
}

lenient_text!(Bound, "a bound with its unit, such as 20 ms");

/// Metrics that an SLA can bound.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum SlaMetric {
    /// Mean one-way delay (RFC 7679).
    OwdMean,
    /// Median one-way delay.
    OwdP50,
    /// 95th percentile of the one-way delay.
    OwdP95,
    /// 99th percentile of the one-way delay.
    OwdP99,
    /// 99.9th percentile of the one-way delay.
    OwdP999,
    /// Largest one-way delay.
    OwdMax,
    /// Interarrival jitter (RFC 3550).
    Jitter,
    /// Packet delay variation: 99.9th percentile minus minimum (RFC 5481).
    Pdv,
    /// 99.999th percentile minus minimum of the one-way delay (ITU-T Y.1541, classes 6 and 7).
    PdvP99999,
    /// Lost packets over sent packets.
    LossRatio,
    /// Rate of IP packets that arrived.
    Throughput,
    /// Rate of TCP payload delivered in order, each byte once.
    Goodput,
    /// Median of the times that TCP transfers and requests took.
    FctP50,
    /// 95th percentile of these times.
    FctP95,
    /// 99th percentile of these times.
    FctP99,
    /// TCP transfers that were given up, such as `0 transfers`.
    TransfersFailed,
    /// Sessions that did not begin because too many were open, such as `0 transfers`.
    TransfersRefused,
    /// Rating of speech by the E-model (ITU-T G.107), 0 to 100, mean over the calls.
    RFactor,
    /// Mean opinion score of speech (ITU-T G.107), 1 to 4.5, mean over the calls.
    Mos,
    /// The smallest mean opinion score of a call.
    MosMin,
    /// Mean delay of speech from mouth to ear, codec and de-jitter buffer included.
    MouthToEar,
    /// Packets of speech that came too late to be played, over sent packets.
    LateRatio,
    /// Mean time from a flow's first packet at a link with flow admission to its admission there.
    WaitingTime,
    /// 95th percentile of these times.
    WaitingTimeP95,
    /// The longest of these times.
    WaitingTimeMax,
    /// Flows that are not admitted when the run ends, such as `0 flows`.
    FlowsWaiting,
    /// The longest time without an arrival of a flow, in the period of `measurement.gaps`.
    GapMax,
}

impl SlaMetric {
    /// Whether only flow admission has it.
    pub const fn is_of_admission(self) -> bool {
        matches!(
            self,
            Self::WaitingTime | Self::WaitingTimeP95 | Self::WaitingTimeMax | Self::FlowsWaiting
        )
    }

    /// Whether only speech has it.
    pub const fn is_of_voice(self) -> bool {
        matches!(
            self,
            Self::RFactor | Self::Mos | Self::MosMin | Self::MouthToEar | Self::LateRatio
        )
    }

    /// Whether only TCP has it.
    pub const fn is_of_tcp(self) -> bool {
        matches!(
            self,
            Self::Goodput
                | Self::FctP50
                | Self::FctP95
                | Self::FctP99
                | Self::TransfersFailed
                | Self::TransfersRefused
        )
    }
}
