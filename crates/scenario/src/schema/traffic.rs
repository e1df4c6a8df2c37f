//! Traffic: flows, sessions, tables.

use std::collections::BTreeMap;

use super::{Literal, MatrixSpec, PatternSpec, ShowPolicyMapSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dscp, Dur, Ecn, Size};
use spillgate_endpoints::source::spec::SourceSpec;
use spillgate_endpoints::tcp::TcpSpec;
use spillgate_endpoints::workload::{ArrivalSpec, SessionSpec};
use spillgate_queueing::spec::{NetSpec, Protocol};
use spillgate_voice::spec::VoiceSpec;

use super::capture::CaptureSpec;

/// One flow, several alike, sessions, a table of flows, or a capture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrafficSpec {
    /// Flows that differ only in number (and in their random streams).
    Flow(Box<FlowSpec>),
    /// TCP connections that come and go.
    Sessions(Box<SessionsSpec>),
    /// A table with a header line, one row per kind of flow; path relative to the scenario file.
    Csv(CsvSpec),
    /// The packets of a capture.
    Capture(Box<CaptureSpec>),
    /// A table of rates between nodes, in long or wide form; path relative to the scenario file.
    Matrix(Box<MatrixSpec>),
    /// Counters of a router: the output of `show policy-map interface`.
    ShowPolicyMap(Box<ShowPolicyMapSpec>),
}

/// A number of flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowSpec {
    /// Name; flow i of several is called `name-i`, from 0.
    pub name: String,
    /// How many; with `pattern` how many sources, source i at member `i mod members`. Default 1,
    /// with `pattern` one for each sender.
    #[serde(default = "super::one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub count: u32,
    /// Class of service under which results are reported. Default: the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Node that sends, or a group: flow i begins at member `i mod members`.
    pub from: String,
    /// Node that receives, or a group: flow i ends at member `i mod members`, unless there is a
    /// `pattern`.
    pub to: String,
    /// The receivers of each sender. Default: flow i goes to member `i mod members` of `to`, so
    /// between two groups of the same size member i sends only to member i.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<PatternSpec>,
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
    /// Each flow of the `count` starts an exponential gap of this mean after the one before it, the
    /// first after `start`: Poisson arrivals. Not with `start_spread`. Default 0 s: no gap.
    #[serde(default)]
    pub start_gap: Dur,
    /// When it stops; a connection then has nothing more to send and closes. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Dur>,
    /// The source of an open-loop flow. With `tcp`, the application: each packet's bytes are
    /// written into the connection when the source emits it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceSpec>,
    /// A TCP connection that sends as fast as its congestion control allows; the reverse path
    /// carries its acknowledgments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<TcpSpec>,
    /// Bytes that the connection transfers, at least 1. Default: without end. Not with `source`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Size>,
    /// The codec and the listener, for a flow that carries speech: it then has a rating `r_factor`
    /// and `mos`. Default: the entry of its class in the scenario's `voice`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voice: Option<VoiceSpec>,
}

impl FlowSpec {
    /// One flow with the defaults of all keys.
    pub fn between(name: String, from: String, to: String) -> Self {
        Self {
            name,
            count: 1,
            class: None,
            from,
            to,
            pattern: None,
            dscp: Dscp::DEFAULT,
            ecn: Ecn::default(),
            src: None,
            dst: None,
            protocol: None,
            sport: None,
            dport: None,
            start: Dur::ZERO,
            start_spread: Dur::ZERO,
            start_gap: Dur::ZERO,
            stop: None,
            source: None,
            tcp: None,
            bytes: None,
            voice: None,
        }
    }
}

/// `count` workloads of sessions: TCP connections that begin at random or fixed times, transfer
/// something, and end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionsSpec {
    /// Name; workload i of several is called `name-i`, from 0.
    pub name: String,
    /// How many workloads, each with arrivals of its own. Default 1.
    #[serde(default = "super::one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub count: u32,
    /// Class of service under which results are reported. Default: the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Node where sessions begin, or a group: workload i begins at member `i mod members`.
    pub from: String,
    /// Node at the other end, or a group.
    pub to: String,
    /// DSCP of all packets. Default `default`.
    #[serde(default)]
    pub dscp: Dscp,
    /// Source address; workload i adds i to it. Default: drawn from 10.0.0.0/8 by flow number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub src: Option<NetSpec>,
    /// Destination address. Default: 10.255.x.y by receiving node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dst: Option<NetSpec>,
    /// Source port. Default 49152 + flow number modulo 16384.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sport: Option<u16>,
    /// Destination port. Default 5001.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dport: Option<u16>,
    /// When the arrivals begin. Default 0 s.
    #[serde(default)]
    pub start: Dur,
    /// The arrivals of each workload begin uniformly at random within this time after `start`.
    /// Default 0 s.
    #[serde(default)]
    pub start_spread: Dur,
    /// No session begins after this time; open sessions go on. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Dur>,
    /// When sessions begin.
    pub arrivals: ArrivalSpec,
    /// What a session does.
    pub session: SessionSpec,
    /// The connections. Default: all defaults of `tcp`.
    #[serde(default)]
    pub tcp: TcpSpec,
    /// The most open sessions of a workload; a session beyond is refused and counted. The estimate
    /// of memory counts all of them. Default 1000.
    #[serde(default = "thousand")]
    #[schemars(range(min = 1, max = 100_000))]
    pub active: u32,
}

fn thousand() -> u32 {
    1000
}

/// A table of flows.
///
/// Comma-separated values (RFC 4180) with a header line; blank lines and lines that begin
/// with `#` are skipped. Columns (any order; `name`, `from`, `to` are required, here or in
/// `defaults`, with `rate` and `packet`, with `codec`, or with `rate` and `fps`): name, count,
/// class, from, to, dscp, ecn, rate, packet, source (cbr, poisson, voip or video; default cbr, voip
/// with a codec, video with frames per second), jitter, phase, codec, bitrate, packetization, vbr,
/// headers, extra, vad, fps, gop, weights (`5:3:1` of I, P and B), variation, distribution, scene,
/// scene_variation, mtu, spread, src, dst, protocol, sport, dport, start, stop. Each cell is
/// written like the value of the same key of a flow or of its source; an empty cell stands for the
/// default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CsvSpec {
    /// Path, relative to the scenario file.
    pub file: String,
    /// Values for columns that the table lacks or leaves empty, by column name, written as in a
    /// cell; those of a source go to the rows whose source has them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub defaults: BTreeMap<String, Literal>,
}
