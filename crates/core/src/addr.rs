//! Addresses of flows and the five-tuple.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;

/// What identifies a flow on the wire: addresses, protocol and ports, of IPv4 or IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowKey {
    /// Source address.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// IP protocol number (6 TCP, 17 UDP); of IPv6 that behind the extension headers.
    pub protocol: u8,
    /// Source port, 0 where the protocol has none.
    pub sport: u16,
    /// Destination port, 0 where the protocol has none.
    pub dport: u16,
}

impl FlowKey {
    /// The key of the packets that go the other way.
    #[must_use]
    pub const fn reversed(self) -> Self {
        Self {
            src: self.dst,
            dst: self.src,
            protocol: self.protocol,
            sport: self.dport,
            dport: self.sport,
        }
    }

    /// Source and destination if both are of IPv4, as the flows of a simulation are.
    pub fn ipv4(&self) -> Option<[Ipv4Addr; 2]> {
        match (self.src, self.dst) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => Some([src, dst]),
            _ => None,
        }
    }

    /// A well-mixed hash of the five-tuple, the same on every platform.
    pub fn hash(&self) -> u32 {
        let mix = crate::rng::mix;
        let a = match (self.src, self.dst) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => {
                u64::from(src.to_bits()) << 32 | u64::from(dst.to_bits())
            }
            (src, dst) => mix(folded(src)) ^ folded(dst),
        };
        let b =
            u64::from(self.protocol) << 32 | u64::from(self.sport) << 16 | u64::from(self.dport);
        let mixed = mix(a ^ mix(b));
        (mixed >> 32) as u32
    }
}

/// An address of either version in 64 bits.
fn folded(a: IpAddr) -> u64 {
    match a {
        IpAddr::V4(a) => a.to_bits().into(),
        IpAddr::V6(a) => {
            let bits = a.to_bits();
            bits as u64 ^ crate::rng::mix((bits >> 64) as u64)
        }
    }
}

impl fmt::Display for FlowKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            src,
            dst,
            protocol,
            sport,
            dport,
        } = self;
        let (from, to) = (SocketAddr::new(*src, *sport), SocketAddr::new(*dst, *dport));
        write!(f, "{from} -> {to} protocol {protocol}")
    }
}

/// An IPv4 prefix or wildcard match: the bits of `addr` under `mask` must agree.
///
/// IOS wildcard masks need not be contiguous, so `mask` is any bit pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ipv4Net {
    /// The address; bits outside `mask` are zero.
    pub addr: u32,
    /// One bits are compared.
    pub mask: u32,
}

impl Ipv4Net {
    /// Matches every address, of IPv6 as well.
    pub const ANY: Self = Self { addr: 0, mask: 0 };

    /// A match of the bits of `addr` under `mask`.
    pub fn new(addr: Ipv4Addr, mask: u32) -> Self {
        Self {
            addr: u32::from(addr) & mask,
            mask,
        }
    }

    /// Whether `a` matches; one of IPv6 only where every address does.
    pub fn contains(&self, a: impl Into<IpAddr>) -> bool {
        match a.into() {
            IpAddr::V4(a) => a.to_bits() & self.mask == self.addr,
            IpAddr::V6(_) => self.mask == 0,
        }
    }
}

impl FromStr for Ipv4Net {
    type Err = String;

    /// `any`, `10.1.2.3`, or `10.1.0.0/16`.
    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("`{text}` is not an IPv4 prefix: write 10.1.0.0/16, 10.1.2.3 or any");
        let t = text.trim();
        let address = t.split_once('/').map_or(t, |(a, _)| a);
        if address.parse::<Ipv6Addr>().is_ok() {
            return Err(format!(
                "`{text}` is of IPv6, and addresses can be matched of IPv4 only: write 10.1.0.0/16 or any, or match the DSCP, protocol or ports"
            ));
        }
        if t.eq_ignore_ascii_case("any") {
            return Ok(Self::ANY);
        }
        let prefix = match t.contains('/') {
            true => t.parse().map_err(|_| bad())?,
            false => ipnet::Ipv4Net::from(t.parse::<Ipv4Addr>().map_err(|_| bad())?),
        };
        Ok(prefix.into())
    }
}

impl From<ipnet::Ipv4Net> for Ipv4Net {
    fn from(prefix: ipnet::Ipv4Net) -> Self {
        Self::new(prefix.addr(), prefix.netmask().into())
    }
}

impl fmt::Display for Ipv4Net {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ones = self.mask.leading_ones();
        if self.mask == 0 {
            f.write_str("any")
        } else if self.mask.count_ones() == ones {
            write!(f, "{}/{ones}", Ipv4Addr::from(self.addr))
        } else {
            write!(
                f,
                "{} wildcard {}",
                Ipv4Addr::from(self.addr),
                Ipv4Addr::from(!self.mask)
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(src: &str, dst: &str, sport: u16) -> FlowKey {
        FlowKey {
            src: src.parse().unwrap(),
            dst: dst.parse().unwrap(),
            protocol: 17,
            sport,
            dport: 5000,
        }
    }

    /// Hashed queues, and with them results, are by these numbers.
    #[test]
    fn the_hash_of_ipv4_is_what_it_was() {
        assert_eq!(key("10.0.0.1", "10.0.0.2", 4000).hash(), 0xdc5f_0bea);
        let https = FlowKey {
            protocol: 6,
            dport: 443,
            ..key("192.168.1.255", "8.8.8.8", 65_535)
        };
        assert_eq!(https.hash(), 0xddfd_3359);
    }

    /// Every bit of an IPv6 address counts, and the direction.
    #[test]
    fn the_hash_of_ipv6_tells_flows_apart() {
        let one = key("2001:db8::1", "2001:db8::2", 4000);
        let mut hashes = vec![one.hash(), one.reversed().hash()];
        let IpAddr::V6(src) = one.src else {
            unreachable!()
        };
        for bit in 0..128 {
            let flipped = std::net::Ipv6Addr::from_bits(src.to_bits() ^ 1 << bit).into();
            hashes.push(
                FlowKey {
                    src: flipped,
                    ..one
                }
                .hash(),
            );
            hashes.push(
                FlowKey {
                    dst: flipped,
                    ..one
                }
                .hash(),
            );
        }
        let len = hashes.len();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), len);
        let shown = one.to_string();
        assert_eq!(
            shown,
            "[2001:db8::1]:4000 -> [2001:db8::2]:5000 protocol 17"
        );
    }

    #[test]
    fn no_prefix_of_ipv4_matches_an_address_of_ipv6() {
        for prefix in ["10.0.0.0/8", "128.0.0.0/1", "0.0.0.0"] {
            let net: Ipv4Net = prefix.parse().unwrap();
            for a in ["::", "::10.0.0.1", "::ffff:10.0.0.1", "fe80::1"] {
                assert!(!net.contains(a.parse::<IpAddr>().unwrap()), "{prefix} {a}");
            }
        }
        assert!(Ipv4Net::ANY.contains("fe80::1".parse::<IpAddr>().unwrap()));
        let why = "2001:db8::/32".parse::<Ipv4Net>().unwrap_err();
        assert!(why.contains("IPv6"), "{why}");
    }

    #[test]
    fn prefixes_match_their_hosts() {
        let net: Ipv4Net = "10.1.0.0/16".parse().unwrap();
        assert!(net.contains(Ipv4Addr::new(10, 1, 200, 3)));
        assert!(!net.contains(Ipv4Addr::new(10, 2, 0, 0)));
        assert_eq!(net.to_string(), "10.1.0.0/16");
        assert!("10.1.0.0/33".parse::<Ipv4Net>().is_err());
        assert!(
            "0.0.0.0/0"
                .parse::<Ipv4Net>()
                .unwrap()
                .contains(Ipv4Addr::BROADCAST)
        );
    }
}
