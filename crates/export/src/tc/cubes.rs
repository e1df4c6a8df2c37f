//! Conditions as alternatives of simple ones, which filters can test.
//!
//! A filter tests fields for values; it knows no `or` and no `not`. So a
//! condition becomes cubes: sets of packets that one filter can describe. What
//! is excluded is cut out of them.

use spillgate_core::{Dscp, Ipv4Net};
use spillgate_queueing::spec::{MatchSpec, OneOrMany};

/// Most cubes that a condition may need.
const MAX_CUBES: usize = 512;

/// Packets whose fields all lie in these sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cube {
    /// One bit for each DSCP.
    pub(super) dscps: u64,
    pub(super) src: Ipv4Net,
    pub(super) dst: Ipv4Net,
    pub(super) protocol: Option<u8>,
    pub(super) sport: (u16, u16),
    pub(super) dport: (u16, u16),
}

const PORTS: (u16, u16) = (0, u16::MAX);

impl Cube {
    /// All packets.
    pub(super) const ALL: Self = Self {
        dscps: u64::MAX,
        src: Ipv4Net::ANY,
        dst: Ipv4Net::ANY,
        protocol: None,
        sport: PORTS,
        dport: PORTS,
    };

    fn src_mut(&mut self) -> &mut Ipv4Net {
        &mut self.src
    }

    fn dst_mut(&mut self) -> &mut Ipv4Net {
        &mut self.dst
    }

    fn sport_mut(&mut self) -> &mut (u16, u16) {
        &mut self.sport
    }

    fn dport_mut(&mut self) -> &mut (u16, u16) {
        &mut self.dport
    }

    fn and(self, other: &Self) -> Option<Self> {
        let range = |a: (u16, u16), b: (u16, u16)| {
            let r = (a.0.max(b.0), a.1.min(b.1));
            (r.0 <= r.1).then_some(r)
        };
        let net = |a: Ipv4Net, b: Ipv4Net| {
            let both = a.mask & b.mask;
            (a.addr & both == b.addr & both).then_some(Ipv4Net {
                addr: a.addr | b.addr,
                mask: a.mask | b.mask,
            })
        };
        let protocol = match (self.protocol, other.protocol) {
            (Some(a), Some(b)) if a != b => return None,
            (a, b) => a.or(b),
        };
        let dscps = self.dscps & other.dscps;
        Some(Self {
            dscps: (dscps != 0).then_some(dscps)?,
            src: net(self.src, other.src)?,
            dst: net(self.dst, other.dst)?,
            protocol,
            sport: range(self.sport, other.sport)?,
            dport: range(self.dport, other.dport)?,
        })
    }

    /// What is in this cube and not in `other`; none if it takes the complement of a protocol.
    fn without(self, other: &Self) -> Option<Vec<Self>> {
        if self.and(other).is_none() {
            return Some(vec![self]);
        }
        // Field by field: what differs there, and the rest agrees in the fields before.
        let mut parts = Vec::new();
        let mut rest = self;
        if rest.dscps & !other.dscps != 0 {
            parts.push(Self {
                dscps: rest.dscps & !other.dscps,
                ..rest
            });
        }
        rest.dscps &= other.dscps;
        match (rest.protocol, other.protocol) {
            (None, Some(_)) => return None,
            _ => rest.protocol = rest.protocol.or(other.protocol),
        }
        for bit in (0..32).rev().map(|b| 1_u32 << b) {
            for which in [
                Self::src_mut as fn(&mut Self) -> &mut Ipv4Net,
                Self::dst_mut,
            ] {
                let mut o = *other;
                let target = *which(&mut o);
                let own = *which(&mut rest);
                if target.mask & bit != 0 && own.mask & bit == 0 {
                    let with = |addr: u32| Ipv4Net {
                        addr: own.addr | (addr & bit),
                        mask: own.mask | bit,
                    };
                    let mut part = rest;
                    *which(&mut part) = with(!target.addr);
                    parts.push(part);
                    *which(&mut rest) = with(target.addr);
                }
            }
        }
        for which in [
            Self::sport_mut as fn(&mut Self) -> &mut (u16, u16),
            Self::dport_mut,
        ] {
            let mut o = *other;
            let (low, high) = *which(&mut o);
            let own = *which(&mut rest);
            if own.0 < low {
                let mut part = rest;
                *which(&mut part) = (own.0, low - 1);
                parts.push(part);
            }
            if own.1 > high {
                let mut part = rest;
                *which(&mut part) = (high + 1, own.1);
                parts.push(part);
            }
            *which(&mut rest) = (own.0.max(low), own.1.min(high));
        }
        Some(parts)
    }
}

fn intersect(a: &[Cube], b: &[Cube]) -> Option<Vec<Cube>> {
    let mut all = Vec::new();
    for x in a {
        for y in b {
            let cube = x.and(y).filter(|c| !all.contains(c));
            all.extend(cube);
            if all.len() > MAX_CUBES {
                return None;
            }
        }
    }
    Some(all)
}

fn subtract(from: Vec<Cube>, cut: &[Cube]) -> Option<Vec<Cube>> {
    let mut left = from;
    for c in cut {
        let mut next = Vec::new();
        for cube in &left {
            next.extend(cube.without(c)?);
            if next.len() > MAX_CUBES {
                return None;
            }
        }
        left = next;
    }
    Some(left)
}

/// The packets of a condition among those of `within`; none if filters cannot describe them.
pub(super) fn cubes(m: &MatchSpec, within: &[Cube]) -> Option<Vec<Cube>> {
    let mut found = within.to_vec();
    let mut keep = |alternatives: Vec<Cube>| -> Option<()> {
        found = intersect(&found, &alternatives)?;
        Some(())
    };
    if let Some(OneOrMany(values)) = &m.dscp {
        keep(vec![of_dscps(|d| values.contains(&d))])?;
    }
    if let Some(OneOrMany(values)) = &m.precedence {
        keep(vec![of_dscps(|d| values.contains(&d.precedence()))])?;
    }
    if m.cos.is_some() || m.qos_group.is_some() || m.input.is_some() {
        // Filters of these commands see IP headers.
        return None;
    }
    if m.exp.is_some() {
        // Filters see packets without labels, which have no EXP bits.
        keep(Vec::new())?;
    }
    if let Some(OneOrMany(nets)) = &m.src {
        keep(
            nets.iter()
                .map(|n| Cube {
                    src: n.0,
                    ..Cube::ALL
                })
                .collect(),
        )?;
    }
    if let Some(OneOrMany(nets)) = &m.dst {
        keep(
            nets.iter()
                .map(|n| Cube {
                    dst: n.0,
                    ..Cube::ALL
                })
                .collect(),
        )?;
    }
    if let Some(OneOrMany(all)) = &m.protocol {
        let cube = |p: &spillgate_queueing::spec::Protocol| Cube {
            protocol: Some(p.0),
            ..Cube::ALL
        };
        keep(all.iter().map(cube).collect())?;
    }
    // Only TCP, UDP and SCTP have ports.
    let with_ports = |range: (u16, u16), source: bool| {
        [6, 17, 132].map(|p| {
            let cube = Cube {
                protocol: Some(p),
                ..Cube::ALL
            };
            if source {
                Cube {
                    sport: range,
                    ..cube
                }
            } else {
                Cube {
                    dport: range,
                    ..cube
                }
            }
        })
    };
    for (list, source) in [(&m.sport, true), (&m.dport, false)] {
        if let Some(OneOrMany(ranges)) = list {
            let all = ranges
                .iter()
                .flat_map(|r| with_ports((r.first, r.last), source));
            keep(all.collect())?;
        }
    }
    if let Some(members) = &m.any {
        let mut all = Vec::new();
        for member in members {
            all.extend(cubes(member, &[Cube::ALL])?);
        }
        keep(all)?;
    }
    for member in m.all.iter().flatten() {
        found = cubes(member, &found)?;
    }
    if let Some(not) = &m.not {
        found = subtract(found, &cubes(not, &[Cube::ALL])?)?;
    }
    if let Some(entries) = &m.acl {
        let mut permitted = Vec::new();
        let mut open = found;
        for entry in entries {
            if open.is_empty() {
                break;
            }
            let hit = cubes(&entry.matching, &[Cube::ALL])?;
            if entry.permit {
                permitted.extend(intersect(&open, &hit)?);
            } else {
                // What is denied is cut out; behind a permit it would be needless.
                open = subtract(open, &hit)?;
            }
        }
        if permitted.len() > MAX_CUBES {
            return None;
        }
        found = permitted;
    }
    Some(found)
}

fn of_dscps(has: impl Fn(Dscp) -> bool) -> Cube {
    let bits = (0..64_u8).filter_map(Dscp::new).filter(|d| has(*d));
    Cube {
        dscps: bits.fold(0, |all, d| all | 1 << d.value()),
        ..Cube::ALL
    }
}

/// Values and masks of the ToS byte that cover these DSCPs and no other; none needed for all.
pub(super) fn tos(dscps: u64) -> Vec<Option<(u8, u8)>> {
    if dscps == u64::MAX {
        return vec![None];
    }
    fn split(dscps: u64, first: u8, bits: u8, found: &mut Vec<Option<(u8, u8)>>) {
        let size = 1_u32 << bits;
        let block = (u64::MAX >> (64 - size)) << first;
        if dscps & block == 0 {
            return;
        }
        if dscps & block == block {
            // The two lower bits of the byte are ECN's.
            let mask = (0x3f_u8 >> bits << bits) << 2;
            found.push(Some((first << 2, mask)));
            return;
        }
        split(dscps, first, bits - 1, found);
        split(dscps, first + (1 << (bits - 1)), bits - 1, found);
    }
    let mut found = Vec::new();
    split(dscps, 0, 6, &mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aligned_blocks_of_dscps_are_one_mask() {
        assert_eq!(tos(u64::MAX), [None]);
        assert_eq!(tos(1 << 46), [Some((0xb8, 0xfc))]);
        // Precedence 5 is one block of eight.
        assert_eq!(tos(0xff << 40), [Some((0xa0, 0xe0))]);
        assert_eq!(
            tos(1 << 10 | 1 << 12),
            [Some((0x28, 0xfc)), Some((0x30, 0xfc))]
        );
    }

    /// Whatever the set, the masks cover it and nothing else.
    #[test]
    fn masks_cover_exactly_the_set() {
        let mut seed = 1_u64;
        for _ in 0..1000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let set = seed ^ seed >> 29;
            for d in 0..64_u8 {
                let covered = tos(set).iter().any(|t| match t {
                    None => true,
                    Some((value, mask)) => (d << 2) & mask == *value,
                });
                assert_eq!(covered, set >> d & 1 == 1, "{set:x} {d}");
            }
        }
    }
}
