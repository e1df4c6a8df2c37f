//! Which packets belong to a class.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::textual;
use spillgate_core::{Dscp, Ipv4Net, OneOrMany};

/// A condition on a packet. All keys that are given must hold; a list holds
/// when one of its members does. An empty condition matches every packet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MatchSpec {
    /// DSCP, one or several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dscp: Option<OneOrMany<Dscp>>,
    /// IP precedence 0..=7, one or several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precedence: Option<OneOrMany<u8>>,
    /// EXP bits (RFC 5462: traffic class) 0..=7 of the top MPLS label, one or several. It fails on
    /// packets without labels, as every condition on IP fields does on packets with labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exp: Option<OneOrMany<u8>>,
    /// Priority 0..=7 of the 802.1Q tag (CoS) with which the packet arrived at the node or that it
    /// got there, one or several. It fails on packets without a tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cos: Option<OneOrMany<u8>>,
    /// QoS group 0..=511 into which an input policy put the packet, one or several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qos_group: Option<OneOrMany<u16>>,
    /// Link over which the packet arrived at the node, one or several. It fails on packets of the
    /// node's own flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<OneOrMany<String>>,
    /// Source address or prefix, one or several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub src: Option<OneOrMany<NetSpec>>,
    /// Destination address or prefix, one or several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dst: Option<OneOrMany<NetSpec>>,
    /// IP protocol, one or several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<OneOrMany<Protocol>>,
    /// Source port or range, one or several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sport: Option<OneOrMany<PortRange>>,
    /// Destination port or range, one or several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dport: Option<OneOrMany<PortRange>>,
    /// At least one of these conditions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub any: Option<Vec<Self>>,
    /// Every one of these conditions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub all: Option<Vec<Self>>,
    /// Not this condition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not: Option<Box<Self>>,
    /// An access list: the first entry that matches decides; no entry, no match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acl: Option<Vec<AclEntry>>,
}

/// What there is for each key of a condition.
macro_rules! keys {
    ($($key:ident: $type:ty,)+) => {
        impl MatchSpec {
            $(
                #[doc = concat!("The condition that has the key `", stringify!($key), "` alone.")]
                pub fn $key(value: impl Into<$type>) -> Self {
                    Self { $key: Some(value.into()), ..Self::default() }
                }
            )+

            /// A condition for each of its keys, all of which hold where it holds.
            pub fn split(self) -> impl Iterator<Item = Self> {
                let Self { $($key),+ } = self;
                [$($key.map(Self::$key)),+].into_iter().flatten()
            }

            /// Adds the keys of another condition, which must hold, too.
            ///
            /// # Errors
            /// A key is in both: the other condition is given back.
            pub fn merge(&mut self, other: Self) -> Result<(), Box<Self>> {
                if $((self.$key.is_some() && other.$key.is_some()))||+ {
                    return Err(Box::new(other));
                }
                let Self { $($key),+ } = other;
                $(if $key.is_some() { self.$key = $key; })+
                Ok(())
            }
        }
    };
}

keys! {
    dscp: OneOrMany<Dscp>,
    precedence: OneOrMany<u8>,
    exp: OneOrMany<u8>,
    cos: OneOrMany<u8>,
    qos_group: OneOrMany<u16>,
    input: OneOrMany<String>,
    src: OneOrMany<NetSpec>,
    dst: OneOrMany<NetSpec>,
    protocol: OneOrMany<Protocol>,
    sport: OneOrMany<PortRange>,
    dport: OneOrMany<PortRange>,
    acl: Vec<AclEntry>,
    any: Vec<Self>,
    not: Box<Self>,
    all: Vec<Self>,
}

impl MatchSpec {
    /// The condition that holds for no packet.
    pub fn nothing() -> Self {
        Self::not(Self::default())
    }
}

/// One line of an access list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AclEntry {
    /// True for `permit`, false for `deny`.
    pub permit: bool,
    /// The packets that the line matches.
    #[serde(rename = "match")]
    pub matching: MatchSpec,
}

/// An IPv4 address, prefix or `any`, as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetSpec(pub Ipv4Net);

/// A port `5060` or a range `16384-32767`, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortRange {
    /// First port.
    pub first: u16,
    /// Last port, at least `first`.
    pub last: u16,
}

/// An IP protocol by name or number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocol(pub u8);

/// Protocol names (IANA) that are taken beside numbers.
const PROTOCOLS: [(&str, u8); 9] = [
    ("icmp", 1),
    ("igmp", 2),
    ("tcp", 6),
    ("udp", 17),
    ("gre", 47),
    ("esp", 50),
    ("ahp", 51),
    ("ospf", 89),
    ("sctp", 132),
];

impl std::str::FromStr for Protocol {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        PROTOCOLS
            .iter()
            .find(|(n, _)| n.eq_ignore_ascii_case(text.trim()))
            .map(|(_, v)| *v)
            .or_else(|| text.trim().parse().ok())
            .map(Self)
            .ok_or_else(|| {
                let names: Vec<_> = PROTOCOLS.iter().map(|(n, _)| *n).collect();
                format!(
                    "`{text}` is not an IP protocol: a number 0 to 255 or {}",
                    names.join(", ")
                )
            })
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match PROTOCOLS.iter().find(|(_, v)| *v == self.0) {
            Some((n, _)) => f.write_str(n),
            None => write!(f, "{}", self.0),
        }
    }
}

impl std::str::FromStr for PortRange {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("`{text}` is not a port: write 5060, or a range such as 16384-32767");
        let (a, b) = text.split_once('-').unwrap_or((text, text));
        let first = a.trim().parse().map_err(|_| bad())?;
        let last = b.trim().parse().map_err(|_| bad())?;
        if first > last {
            Err(bad())
        } else {
            Ok(Self { first, last })
        }
    }
}

impl fmt::Display for PortRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            write!(f, "{}", self.first)
        } else {
            write!(f, "{}-{}", self.first, self.last)
        }
    }
}

impl std::str::FromStr for NetSpec {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(" wildcard ") {
            Some((addr, wild)) => {
                let bad = |_| format!("`{text}` is not an address with a wildcard mask");
                let addr = addr.trim().parse().map_err(bad)?;
                let wild: std::net::Ipv4Addr = wild.trim().parse().map_err(bad)?;
                Ok(Self(Ipv4Net::new(addr, !u32::from(wild))))
            }
            None => text.parse().map(Self),
        }
    }
}

impl fmt::Display for NetSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

textual!(
    NetSpec,
    "Net",
    "an IPv4 address, a prefix such as 10.1.0.0/16, or any",
    str::parse::<NetSpec>,
    {"type": ["string", "integer"]}
);
textual!(
    PortRange,
    "Ports",
    "a port, or a range such as 16384-32767",
    str::parse::<PortRange>,
    {"type": ["string", "integer"]}
);
textual!(
    Protocol,
    "Protocol",
    "an IP protocol by name or number",
    str::parse::<Protocol>,
    {"type": ["string", "integer"]}
);
