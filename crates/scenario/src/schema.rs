//! The scenario file as written: the one source of truth from which the JSON
//! Schema, the documentation and the error messages come.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dscp, Dur, Ecn, Overhead, Rate, Size};
use spillgate_endpoints::source::spec::SourceSpec;
use spillgate_endpoints::tcp::TcpSpec;
use spillgate_queueing::spec::{DisciplineSpec, NetSpec, Protocol};

/// A scenario: who sends what over which links under which policies, what is
/// measured, and what is asked of the result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Version of this format. This release reads version 1.
    #[schemars(range(min = 1, max = 1))]
    pub schema_version: u32,
    /// A title for reports.
    #[serde(default)]
    pub name: String,
    /// What the scenario is about.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Nodes and links.
    pub topology: Topology,
    /// Router configurations whose policy-maps join `policies`; paths relative to this file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub configs: Vec<ConfigSpec>,
    /// Policies by name, for `policy` of links and classes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub policies: BTreeMap<String, DisciplineSpec>,
    /// The flows.
    pub traffic: Vec<TrafficSpec>,
    /// What is measured, and when.
    #[serde(default)]
    pub measurement: MeasurementSpec,
    /// What the result must satisfy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sla: Vec<SlaSpec>,
    /// How many independent runs, and their seed.
    #[serde(default)]
    pub runs: RunsSpec,
    /// The same scenario with some values replaced, run under the same seeds and shown side by side.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<VariantSpec>,
}

/// Nodes and links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Topology {
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// The links by name.
    pub links: BTreeMap<String, LinkSpec>,
}

/// A link and the port that feeds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// Node at the sending end.
    pub from: String,
    /// Node at the receiving end.
    pub to: String,
    /// Transmission rate.
    pub rate: Rate,
    /// Propagation delay. Default 0.
    #[serde(default)]
    pub delay: Dur,
    /// Bytes that the link adds to an IP packet; they count for the link's rate and for
    /// every rate, limit and burst of its policy. Default `none`.
    #[serde(default)]
    pub overhead: Overhead,
    /// Queue discipline of the sending port: a name in `policies` or a policy-map of `configs`.
    /// Default: a FIFO that never overflows in practice (1 GB).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// Also make the same link in the other direction, without a policy.
    #[serde(default)]
    pub duplex: bool,
    /// Cost for shortest-path routing. Default 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub cost: u32,
}

fn one() -> u32 {
    1
}

/// A router configuration file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfigSpec {
    /// Path of the configuration, relative to the scenario file.
    pub ios: String,
    /// Interfaces whose output service-policy and bandwidth go to a link: interface name -> link name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub interfaces: BTreeMap<String, String>,
}

/// One flow, several alike, or a table of flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrafficSpec {
    /// Flows that differ only in number (and in their random streams).
    Flow(Box<FlowSpec>),
    /// A table with a header line, one row per kind of flow; path relative to the scenario file.
    Csv(CsvSpec),
}

/// `count` flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    /// Name; flow i of several is called `name-i`, from 0.
    pub name: String,
    /// How many. Default 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub count: u32,
    /// Class of service under which results are reported. Default: the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Node that sends.
    pub from: String,
    /// Node that receives.
    pub to: String,
    /// DSCP that the source sets. Default `default`.
    #[serde(default)]
    pub dscp: Dscp,
    /// ECN field that the source sets. Default `not-ect`.
    #[serde(default)]
    pub ecn: Ecn,
    /// Source address; flow i adds i to it. Default: drawn from 10.0.0.0/8 by flow number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub src: Option<NetSpec>,
    /// Destination address. Default: 10.255.x.y by receiving node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dst: Option<NetSpec>,
    /// IP protocol. Default udp; tcp, and nothing else, with `tcp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
    /// Source port. Default 49152 + flow number modulo 16384.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sport: Option<u16>,
    /// Destination port. Default 5001.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dport: Option<u16>,
    /// When it starts. Default 0 s.
    #[serde(default)]
    pub start: Dur,
    /// Each flow starts uniformly at random within this time after `start`. Default 0 s.
    #[serde(default)]
    pub start_spread: Dur,
    /// When it stops. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Dur>,
    /// What it sends, if it does not listen to the network. A flow has either this or `tcp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceSpec>,
    /// A TCP connection that sends as fast as its congestion control allows; the way back carries
    /// its acknowledgments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<TcpSpec>,
    /// Bytes that the connection transfers, at least 1. Default: without end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Size>,
}

/// A table of flows.
///
/// Comma-separated values (RFC 4180) with a header line; blank lines and lines that begin
/// with `#` are skipped. Columns (any order; `name`, `from`, `to`, `rate`, `packet` are
/// required, here or in `defaults`): name, count, class, from, to, dscp, ecn, rate, packet,
/// source (cbr or poisson, default cbr), jitter, phase, src, dst, protocol, sport, dport,
/// start, stop. Each cell is written like the value of the same key of a flow; an empty cell
/// stands for the default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CsvSpec {
    /// Path, relative to the scenario file.
    pub file: String,
    /// Values for columns that the table lacks or leaves empty, by column name, written as in a
    /// cell; `jitter` and `phase` go to the rows with source cbr.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub defaults: BTreeMap<String, CellText>,
}

/// What is measured, and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MeasurementSpec {
    /// Packets sent before this time are carried but not counted. Default 5 s.
    pub warmup: Dur,
    /// Length of the measured period after the warm-up. Default 60 s.
    pub duration: Dur,
    /// Period of the time series of backlogs and rates. Default 1 s.
    pub interval: Dur,
}

impl Default for MeasurementSpec {
    fn default() -> Self {
        Self {
            warmup: Dur::from_secs(5),
            duration: Dur::from_secs(60),
            interval: Dur::from_secs(1),
        }
    }
}

/// One requirement: the metric of the class must stay within the bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlaSpec {
    /// Class of service (of `traffic`) that it is about.
    pub class: String,
    /// What is bounded.
    pub metric: SlaMetric,
    /// Upper bound, in the metric's unit: a time, a percentage or a rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Bound>,
    /// Lower bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Bound>,
}

/// A bound as text with a unit: `20 ms`, `0.1 %`, `10 Mb/s`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Bound(pub String);

/// What a cell of a table would contain; numbers may stand without quotes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct CellText(pub String);

impl JsonSchema for CellText {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "CellText".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": ["string", "number"],
            "description": "What a cell of a table would contain; numbers may stand without quotes."
        })
    }
}

/// Takes texts, and numbers as their text: that a unit is missing is said later and better.
macro_rules! lenient_text {
    ($type:ident, $what:literal) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                struct V;
                impl serde::de::Visitor<'_> for V {
                    type Value = $type;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str($what)
                    }
                    fn visit_str<E>(self, v: &str) -> Result<$type, E> {
                        Ok($type(v.to_owned()))
                    }
                    fn visit_u64<E>(self, v: u64) -> Result<$type, E> {
                        Ok($type(v.to_string()))
                    }
                    fn visit_i64<E>(self, v: i64) -> Result<$type, E> {
                        Ok($type(v.to_string()))
                    }
                    fn visit_f64<E>(self, v: f64) -> Result<$type, E> {
                        Ok($type(v.to_string()))
                    }
                }
                d.deserialize_any(V)
            }
        }
    };
}

lenient_text!(Bound, "a bound with its unit, such as 20 ms");
lenient_text!(CellText, "what a cell of the table would contain");

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
    /// Lost packets over sent packets.
    LossRatio,
    /// Rate of IP packets that arrived.
    Throughput,
}

/// Runs and their seed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RunsSpec {
    /// Independent runs. Default 10; intervals need at least 2.
    #[schemars(range(min = 1, max = 100_000))]
    pub count: u32,
    /// Master seed. Default 1.
    pub seed: u64,
}

impl Default for RunsSpec {
    fn default() -> Self {
        Self { count: 10, seed: 1 }
    }
}

/// The scenario with some values replaced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VariantSpec {
    /// Its name in tables and figures.
    pub name: String,
    /// Values by path, as for `--set`: `topology.links.wan.policy: LLQ`.
    pub set: BTreeMap<String, serde_json::Value>,
}
