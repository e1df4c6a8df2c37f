//! Sets of packets as alternatives of simple ones, which filters can test.
//!
//! A filter tests fields for values; it knows no `or` and no `not`.

use spillgate_core::Ipv4Net;
use spillgate_queueing::{PacketBox, PacketSet};

/// Most cubes that a set may need.
const MAX_CUBES: usize = 512;
/// Most protocols that are tested one by one.
const MAX_PROTOCOLS: usize = 32;
/// Protocols with ports: TCP, UDP and SCTP.
const WITH_PORTS: [u8; 3] = [6, 17, 132];
/// All ports.
pub(super) const PORTS: (u16, u16) = (0, u16::MAX);

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
}

/// The cubes of a set of packets without labels; none if filters cannot describe it.
pub(super) fn cubes(set: &PacketSet) -> Option<Vec<Cube>> {
    let mut found = Vec::new();
    for one in set.boxes() {
        // Filters of these commands see IP headers.
        if one.asks_input() {
            return None;
        }
        let protocols = protocols(one)?;
        for sport in &one.sport {
            for dport in &one.dport {
                let cubes = protocols.iter().map(|protocol| Cube {
                    dscps: one.dscps,
                    src: one.src,
                    dst: one.dst,
                    protocol: *protocol,
                    sport: *sport,
                    dport: *dport,
                });
                let new: Vec<Cube> = cubes.filter(|c| !found.contains(c)).collect();
                found.extend(new);
                if found.len() > MAX_CUBES {
                    return None;
                }
            }
        }
    }
    Some(found)
}

/// The protocols of a box that filters test; none if it has others, too, but not all.
fn protocols(one: &PacketBox) -> Option<Vec<Option<u8>>> {
    let has = |protocols: &[u8]| -> Vec<Option<u8>> {
        let own = protocols.iter().filter(|p| one.has_protocol(**p));
        own.map(|p| Some(*p)).collect()
    };
    let all: Vec<u8> = (0..=u8::MAX).collect();
    let listed = has(&all);
    if one.sport != [PORTS] || one.dport != [PORTS] {
        let ported = has(&WITH_PORTS);
        // The ports of all other packets are 0.
        let zero = one.sport[0].0 == 0 && one.dport[0].0 == 0;
        return (!zero || ported.len() == listed.len()).then_some(ported);
    }
    match listed.len() {
        256 => Some(vec![None]),
        n => (n <= MAX_PROTOCOLS).then_some(listed),
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
