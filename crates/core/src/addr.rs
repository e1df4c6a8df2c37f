//! IPv4 addresses of flows and the five-tuple.

use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;

/// What identifies a flow on the wire: addresses, protocol and ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowKey {
    /// Source address.
    pub src: Ipv4Addr,
    /// Destination address.
    pub dst: Ipv4Addr,
    /// IP protocol number (6 TCP, 17 UDP).
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

    /// A well-mixed hash of the five-tuple, the same on every platform.
    pub fn hash(&self) -> u32 {
        let a = u64::from(u32::from(self.src)) << 32 | u64::from(u32::from(self.dst));
        let b =
            u64::from(self.protocol) << 32 | u64::from(self.sport) << 16 | u64::from(self.dport);
        let mixed = crate::rng::mix(a ^ crate::rng::mix(b));
        (mixed >> 32) as u32
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
        write!(f, "{src}:{sport} -> {dst}:{dport} protocol {protocol}")
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
    /// Matches every address.
    pub const ANY: Self = Self { addr: 0, mask: 0 };

    /// A match of the bits of `addr` under `mask`.
    pub fn new(addr: Ipv4Addr, mask: u32) -> Self {
        Self {
            addr: u32::from(addr) & mask,
            mask,
        }
    }

    /// Whether `a` matches.
    pub fn contains(&self, a: Ipv4Addr) -> bool {
        u32::from(a) & self.mask == self.addr
    }
}

impl FromStr for Ipv4Net {
    type Err = String;

    /// `any`, `10.1.2.3`, or `10.1.0.0/16`.
    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("`{text}` is no IPv4 prefix: write 10.1.0.0/16, 10.1.2.3 or any");
        let t = text.trim();
        if t.eq_ignore_ascii_case("any") {
            return Ok(Self::ANY);
        }
        let (a, bits) = match t.split_once('/') {
            Some((a, b)) => (a, b.parse::<u32>().map_err(|_| bad())?),
            None => (t, 32),
        };
        if bits > 32 {
            return Err(bad());
        }
        let mask = if bits == 0 {
            0
        } else {
            u32::MAX << (32 - bits)
        };
        Ok(Self::new(a.parse().map_err(|_| bad())?, mask))
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
