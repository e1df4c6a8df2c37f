//! An IP packet of a capture, and what identifies its flow.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

use spillgate_core::rng::mix;
use spillgate_core::{Dscp, Ecn, FlowKey};

/// Addresses, protocol and ports, of IPv4 and IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Source address.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// IP protocol number; of IPv6 that behind the extension headers.
    pub protocol: u8,
    /// Source port; 0 where there is none: other protocols, fragments behind the first, and
    /// records that were cut before it.
    pub sport: u16,
    /// Destination port, 0 where there is none.
    pub dport: u16,
}

impl Key {
    /// The five-tuple as a simulation knows it, whose packets are of IPv4.
    ///
    /// An IPv6 address becomes a stand-in from 240.0.0.0/4 (reserved, RFC 1112 §4) that is drawn
    /// from its bits: no prefix of an access list matches it, `any` does, and flows stay apart.
    pub fn flow_key(&self) -> FlowKey {
        FlowKey {
            src: stand_in(self.src).into(),
            dst: stand_in(self.dst).into(),
            protocol: self.protocol,
            sport: self.sport,
            dport: self.dport,
        }
    }

    /// A well-mixed hash, the same on every platform.
    #[inline]
    pub(crate) fn hash(&self) -> u64 {
        let ports = u64::from(self.sport) << 16 | u64::from(self.dport);
        let rest = ports | u64::from(self.protocol) << 32;
        match (self.src, self.dst) {
            (IpAddr::V4(s), IpAddr::V4(d)) => {
                mix(mix(u64::from(s.to_bits()) << 32 | u64::from(d.to_bits())) ^ rest)
            }
            (s, d) => mix(mix(folded(s) ^ mix(folded(d))) ^ rest ^ 1 << 40),
        }
    }
}

fn folded(a: IpAddr) -> u64 {
    match a {
        IpAddr::V4(a) => u64::from(a.to_bits()),
        IpAddr::V6(a) => {
            let bits = a.to_bits();
            mix(bits as u64 ^ mix((bits >> 64) as u64))
        }
    }
}

fn stand_in(a: IpAddr) -> Ipv4Addr {
    match a {
        IpAddr::V4(a) => a,
        IpAddr::V6(_) => Ipv4Addr::from_bits(0xf000_0000 | (mix(folded(a)) >> 36) as u32),
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = |f: &mut fmt::Formatter<'_>, a: IpAddr, port: u16| match (a, port) {
            (a, 0) => write!(f, "{a}"),
            (IpAddr::V4(a), p) => write!(f, "{a}:{p}"),
            (IpAddr::V6(a), p) => write!(f, "[{a}]:{p}"),
        };
        match self.protocol {
            1 => f.write_str("icmp ")?,
            6 => f.write_str("tcp ")?,
            17 => f.write_str("udp ")?,
            58 => f.write_str("icmpv6 ")?,
            p => write!(f, "protocol {p} ")?,
        }
        end(f, self.src, self.sport)?;
        f.write_str(" > ")?;
        end(f, self.dst, self.dport)
    }
}

/// An IP packet of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpPacket {
    /// Addresses, protocol, ports.
    pub key: Key,
    /// Length of the IP packet in bytes, 20..=65535.
    pub len: u16,
    /// Differentiated services code point.
    pub dscp: Dscp,
    /// ECN field.
    pub ecn: Ecn,
    /// Whether it is a fragment, the first one included.
    pub fragment: bool,
    /// Whether the length had to be taken from the record, as the header's cannot be true.
    pub guessed_len: bool,
    /// Whether ports should be there but were not captured.
    pub ports_cut: bool,
    /// The outermost VLAN.
    pub vlan: Option<u16>,
    /// MPLS labels in front of it.
    pub labels: u8,
    /// Traffic class of the topmost label, 0 without labels.
    pub tc: u8,
    /// Whether the capturing host sent it, where the record tells.
    pub outgoing: Option<bool>,
}
