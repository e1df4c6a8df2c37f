//! Traffic from packet captures.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_capture::{Clock, Filter, Grouping, IpNet, PortSpan};
use spillgate_core::textual;
use spillgate_core::{Dscp, Dur};
use spillgate_queueing::spec::{OneOrMany, PortRange, Protocol};

use super::Literal;

/// The packets of a capture (pcap or pcapng), sent at their recorded times regardless of the
/// network.
///
/// Times count from the first record of the file, selected or not, so that several entries of one
/// file stay in step. Lengths are those of the IP packets. Classes see the addresses, the protocol,
/// the ports and the DSCP of each packet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CaptureSpec {
    /// Name; the flows that are reported are called `name-ef`, `name-af41`, ... by their DSCP, or
    /// `name` and the five-tuple.
    pub name: String,
    /// The capture, relative to the scenario file.
    pub file: String,
    /// Node that sends.
    pub from: String,
    /// Node that receives.
    pub to: String,
    /// Class of service under which results are reported. Default: the name of the flow, or just
    /// the name if flows are five-tuples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Class of service by DSCP: `{ef: voice, af41: video}`. Others have the default class.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub classes: BTreeMap<String, String>,
    /// What counts as one flow in the results. Queues and classes always see five-tuples.
    #[serde(default)]
    pub group: CaptureGroup,
    /// The packets that are taken. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<CaptureMatch>,
    /// Of these, the packets that are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub except: Option<CaptureMatch>,
    /// DSCP of all packets in place of their own, for captures from before the marking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dscp: Option<Dscp>,
    /// How much is skipped at the beginning of the capture. Default 0 s.
    #[serde(default)]
    pub skip: Dur,
    /// How much of the capture is taken from there on. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub take: Option<Dur>,
    /// The speed of the replay relative to the capture. Default 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1e-6, max = 1e6))]
    pub speed: f64,
    /// Whether the replay begins again at the end: after `take`, else one mean gap after the last
    /// record.
    #[serde(default, rename = "loop")]
    pub looped: bool,
    /// When the capture begins. Default 0 s.
    #[serde(default)]
    pub start: Dur,
    /// Each run begins uniformly at random within this time after `start`. Default 0 s.
    #[serde(default)]
    pub start_spread: Dur,
    /// When it stops. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Dur>,
    /// The most five-tuples of the capture; each DSCP of a five-tuple counts. Default 10000.
    #[serde(default = "ten_thousand")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_flows: u32,
}

fn one() -> f64 {
    1.0
}

fn ten_thousand() -> u32 {
    10_000
}

impl CaptureSpec {
    /// Whether the speed is valid.
    pub(crate) fn has_valid_speed(&self) -> bool {
        (Clock::MIN_SPEED..=Clock::MAX_SPEED).contains(&self.speed)
    }
}

/// The packets that are reported as one flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CaptureGroup {
    /// The packets of a DSCP.
    #[default]
    Dscp,
    /// The packets of a five-tuple.
    Flow,
    /// All packets.
    All,
}

impl From<CaptureGroup> for Grouping {
    fn from(g: CaptureGroup) -> Self {
        match g {
            CaptureGroup::Dscp => Self::Dscp,
            CaptureGroup::Flow => Self::Flow,
            CaptureGroup::All => Self::All,
        }
    }
}

/// Conditions on a packet of a capture. All keys that are given must hold; a list holds when one
/// of its members does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CaptureMatch {
    /// Source address or prefix, IPv4 or IPv6, one or several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub src: Option<OneOrMany<IpNetSpec>>,
    /// Destination address or prefix, one or several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dst: Option<OneOrMany<IpNetSpec>>,
    /// Address or prefix of either side, one or several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<OneOrMany<IpNetSpec>>,
    /// IP protocol, one or several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<OneOrMany<Protocol>>,
    /// Source port or range, one or several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sport: Option<OneOrMany<PortRange>>,
    /// Destination port or range, one or several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dport: Option<OneOrMany<PortRange>>,
    /// Port or range of either side, one or several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<OneOrMany<PortRange>>,
    /// DSCP, one or several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dscp: Option<OneOrMany<Dscp>>,
    /// VLAN of the outermost tag, one or several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vlan: Option<OneOrMany<u16>>,
    /// Capturing interface of a pcapng file by name, or by number from 0; one or several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface: Option<OneOrMany<Literal>>,
    /// The direction of the packet at the capturing host, if the file records it: pcapng files with
    /// that option, and captures with `tcpdump -i any`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<CaptureDirection>,
}

/// The direction of a packet at the capturing host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CaptureDirection {
    /// Received.
    In,
    /// Sent.
    Out,
}

impl From<&CaptureMatch> for Filter {
    fn from(m: &CaptureMatch) -> Self {
        fn all<T, U>(list: &Option<OneOrMany<T>>, f: impl Fn(&T) -> U) -> Vec<U> {
            list.iter().flat_map(|l| &l.0).map(f).collect()
        }
        let ports = |list: &Option<OneOrMany<PortRange>>| {
            all(list, |r| PortSpan {
                first: r.first,
                last: r.last,
            })
        };
        Self {
            src: all(&m.src, |n| n.0),
            dst: all(&m.dst, |n| n.0),
            host: all(&m.host, |n| n.0),
            sport: ports(&m.sport),
            dport: ports(&m.dport),
            port: ports(&m.port),
            protocol: all(&m.protocol, |p| p.0),
            dscp: all(&m.dscp, |d| *d),
            vlan: all(&m.vlan, |v| *v),
            interface: all(&m.interface, |i| i.0.clone()),
            outgoing: m.direction.map(|d| d == CaptureDirection::Out),
        }
    }
}

/// An IPv4 or IPv6 address or prefix, as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpNetSpec(pub IpNet);

impl fmt::Display for IpNetSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

textual!(
    IpNetSpec,
    "IpNet",
    "an IPv4 or IPv6 address or prefix such as 10.1.0.0/16",
    |text: &str| text.parse().map(IpNetSpec),
    {
        "type": "string",
        "description": "An IPv4 or IPv6 address or prefix, such as 10.1.0.0/16 or 2001:db8::/32."
    }
);
