//! Which packets of a capture are meant.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use spillgate_core::Dscp;

use crate::packet::IpPacket;
use crate::reader::Interface;

/// An IPv4 or IPv6 address with a prefix length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpNet {
    addr: IpAddr,
    bits: u8,
}

impl IpNet {
    /// Whether `a` is within.
    #[inline]
    pub fn contains(&self, a: IpAddr) -> bool {
        match (self.addr, a) {
            (IpAddr::V4(net), IpAddr::V4(a)) => {
                let differ = net.to_bits() ^ a.to_bits();
                differ.checked_shr(32 - u32::from(self.bits)).unwrap_or(0) == 0
            }
            (IpAddr::V6(net), IpAddr::V6(a)) => {
                let differ = net.to_bits() ^ a.to_bits();
                differ.checked_shr(128 - u32::from(self.bits)).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

impl FromStr for IpNet {
    type Err = String;

    /// `10.1.2.3`, `10.1.0.0/16`, `2001:db8::/32`.
    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || {
            format!(
                "`{text}` is not an address or prefix: write 10.1.2.3, 10.1.0.0/16 or 2001:db8::/32"
            )
        };
        let t = text.trim();
        let (addr, bits) = match t.split_once('/') {
            Some((a, b)) => (a, Some(b.parse::<u8>().map_err(|_| bad())?)),
            None => (t, None),
        };
        let addr: IpAddr = addr.parse().map_err(|_| bad())?;
        let most = if addr.is_ipv4() { 32 } else { 128 };
        let bits = bits.unwrap_or(most);
        if bits > most {
            return Err(bad());
        }
        Ok(Self { addr, bits })
    }
}

impl fmt::Display for IpNet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let most = if self.addr.is_ipv4() { 32 } else { 128 };
        match self.bits {
            b if b == most => self.addr.fmt(f),
            b => write!(f, "{}/{b}", self.addr),
        }
    }
}

/// Ports from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortSpan {
    /// First port.
    pub first: u16,
    /// Last port.
    pub last: u16,
}

/// Conditions on a packet: every list that is not empty must hold one that fits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Source addresses.
    pub src: Vec<IpNet>,
    /// Destination addresses.
    pub dst: Vec<IpNet>,
    /// Addresses of either side.
    pub host: Vec<IpNet>,
    /// Source ports.
    pub sport: Vec<PortSpan>,
    /// Destination ports.
    pub dport: Vec<PortSpan>,
    /// Ports of either side.
    pub port: Vec<PortSpan>,
    /// IP protocols.
    pub protocol: Vec<u8>,
    /// DSCPs.
    pub dscp: Vec<Dscp>,
    /// VLANs, by the outermost tag.
    pub vlan: Vec<u16>,
    /// Capturing interfaces, by name or by number from 0.
    pub interface: Vec<String>,
    /// Whether the capturing host sent the packet.
    pub outgoing: Option<bool>,
}

impl Filter {
    /// Whether every packet fits.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a packet fits that was captured on interface `number`.
    #[inline]
    pub fn matches(&self, p: &IpPacket, number: u32, interfaces: &[Interface]) -> bool {
        let net = |nets: &[IpNet], a| nets.is_empty() || nets.iter().any(|n| n.contains(a));
        let within = |s: &PortSpan, p: u16| (s.first..=s.last).contains(&p);
        let port = |spans: &[PortSpan], p| spans.is_empty() || spans.iter().any(|s| within(s, p));
        let k = &p.key;
        net(&self.src, k.src)
            && net(&self.dst, k.dst)
            && (self.host.is_empty()
                || self
                    .host
                    .iter()
                    .any(|n| n.contains(k.src) || n.contains(k.dst)))
            && port(&self.sport, k.sport)
            && port(&self.dport, k.dport)
            && (self.port.is_empty()
                || self
                    .port
                    .iter()
                    .any(|s| within(s, k.sport) || within(s, k.dport)))
            && (self.protocol.is_empty() || self.protocol.contains(&k.protocol))
            && (self.dscp.is_empty() || self.dscp.contains(&p.dscp))
            && (self.vlan.is_empty() || p.vlan.is_some_and(|v| self.vlan.contains(&v)))
            && (self.interface.is_empty() || self.is_interface(number, interfaces))
            && self.outgoing.is_none_or(|o| p.outgoing == Some(o))
    }

    fn is_interface(&self, number: u32, interfaces: &[Interface]) -> bool {
        let name = interfaces.get(number as usize).map_or("", |i| &i.name);
        self.interface
            .iter()
            .any(|i| i == name || i.parse() == Ok(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_of_both_versions() {
        let holds = |net: &str, a: &str| net.parse::<IpNet>().unwrap().contains(a.parse().unwrap());
        assert!(holds("10.1.0.0/16", "10.1.255.1") && !holds("10.1.0.0/16", "10.2.0.1"));
        assert!(holds("0.0.0.0/0", "255.0.0.1") && !holds("0.0.0.0/0", "::1"));
        assert!(holds("2001:db8::/32", "2001:db8:1::1") && !holds("2001:db8::/32", "2001:db9::1"));
        assert!(holds("::/0", "ff02::1") && holds("10.1.2.3", "10.1.2.3"));
        assert!(!holds("10.1.2.3", "10.1.2.4"));
        for bad in ["10.1.0.0/33", "::/129", "10.1", "any", "10.1.0.0/-1", ""] {
            assert!(bad.parse::<IpNet>().is_err(), "{bad}");
        }
        assert_eq!(
            "10.1.0.0/16".parse::<IpNet>().unwrap().to_string(),
            "10.1.0.0/16"
        );
        assert_eq!("::1".parse::<IpNet>().unwrap().to_string(), "::1");
    }
}
