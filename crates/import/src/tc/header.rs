//! The header that `u32` compares, byte by byte, as conditions on fields.

use spillgate_core::{Dscp, Ipv4Net};
use spillgate_queueing::spec::{MatchSpec, NetSpec, OneOrMany, PortRange, Protocol};

/// Bytes of a header that are looked at: IPv4 without options, and the ports.
const LENGTH: usize = 24;
/// Ranges of ports that one comparison may make.
const MOST_RANGES: usize = 512;

/// Which bits of a header are compared with what.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Header {
    value: [u8; LENGTH],
    mask: [u8; LENGTH],
    /// Two comparisons exclude each other.
    never: bool,
}

/// Why a header is not a condition.
pub(super) type Reason = &'static str;

impl Header {
    /// Compares `width` bytes from `at` on.
    pub(super) fn test(
        &mut self,
        at: i64,
        width: usize,
        value: u32,
        mask: u32,
    ) -> Result<(), Reason> {
        for i in 0..width {
            let shift = 8 * (width - 1 - i);
            let (value, mask) = ((value >> shift) as u8, (mask >> shift) as u8);
            if mask == 0 {
                continue;
            }
            let at = usize::try_from(at + i as i64).ok().filter(|n| *n < LENGTH);
            let at = at.ok_or("only the header of IPv4 and ports are compared here")?;
            let both = self.mask[at] & mask;
            self.never |= (self.value[at] ^ value) & both != 0;
            self.value[at] |= value & mask;
            self.mask[at] |= mask;
        }
        Ok(())
    }

    fn pair(bytes: &[u8; LENGTH], at: usize) -> u16 {
        u16::from_be_bytes([bytes[at], bytes[at + 1]])
    }

    fn word(bytes: &[u8; LENGTH], at: usize) -> u32 {
        u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
    }

    /// The condition that holds for the same packets.
    pub(super) fn condition(&self) -> Result<MatchSpec, Reason> {
        let unlike = |at: usize, is: u8| (self.value[at] ^ is) & self.mask[at] != 0;
        // Headers have no options, and packets are not fragments; `DF` may be set or not.
        if self.mask[6] & 0x40 != 0 {
            return Err("packets have no `DF` bit here");
        }
        if self.never || unlike(0, 0x45) || unlike(6, 0) || unlike(7, 0) {
            return Ok(MatchSpec::nothing());
        }
        let others = [2, 3, 4, 5, 8, 10, 11];
        if others.iter().any(|at| self.mask[*at] != 0) {
            return Err("neither lengths nor times to live are compared here");
        }
        let mut found = MatchSpec::default();
        if self.mask[1] != 0 {
            found.dscp = Some(dscps(self.value[1], self.mask[1])?);
        }
        match self.mask[9] {
            0 => {}
            0xff => found.protocol = Some(OneOrMany(vec![Protocol(self.value[9])])),
            _ => return Err("a protocol is compared as a whole here"),
        }
        for (at, key) in [(12, &mut found.src), (16, &mut found.dst)] {
            let mask = Self::word(&self.mask, at);
            if mask != 0 {
                let address = Self::word(&self.value, at).into();
                *key = Some(OneOrMany(vec![NetSpec(Ipv4Net::new(address, mask))]));
            }
        }
        for (at, key) in [(20, &mut found.sport), (22, &mut found.dport)] {
            let mask = Self::pair(&self.mask, at);
            if mask != 0 {
                *key = Some(OneOrMany(ports(Self::pair(&self.value, at), mask)?));
            }
        }
        Ok(found)
    }
}

/// The DSCPs of which the octet has these bits.
pub(super) fn dscps(value: u8, mask: u8) -> Result<OneOrMany<Dscp>, Reason> {
    if mask & 0x03 != 0 && mask & 0xfc == 0 {
        return Err("bits of ECN are not compared here");
    }
    let mask = mask & 0xfc;
    let all = (0..64).filter(|d| (d << 2) & mask == value & mask);
    Ok(OneOrMany(all.filter_map(Dscp::new).collect()))
}

/// The ports that have these bits.
fn ports(value: u16, mask: u16) -> Result<Vec<PortRange>, Reason> {
    let block = (!mask).trailing_ones();
    let free = !mask & !(1_u32.wrapping_shl(block).wrapping_sub(1) as u16);
    if free.count_ones() > MOST_RANGES.trailing_zeros() {
        return Err("a mask of ports has too many holes to be written as ranges");
    }
    let length = (1_u32 << block) - 1;
    let mut found = Vec::new();
    // All combinations of the bits that are free above the block, in ascending order.
    let mut bits: u16 = 0;
    loop {
        let first = (value & mask) | bits;
        let last = u32::from(first) + length;
        found.push(PortRange {
            first,
            last: u16::try_from(last).unwrap_or(u16::MAX),
        });
        bits = bits.wrapping_sub(free) & free;
        if bits == 0 {
            return Ok(found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every port is in the ranges if, and only if, it has the bits.
    #[test]
    fn ranges_of_ports_are_those_of_the_mask() {
        for (value, mask) in [
            (80, 0xffff),
            (0x1000, 0xf000),
            (0, 0),
            (0x8001, 0x8001),
            (0x0050, 0xff50),
            (5, 0x000f),
        ] {
            let Ok(found) = ports(value, mask) else {
                assert!(mask == 0x8001 || mask == 0x000f, "{mask:x}");
                continue;
            };
            for port in 0..=u16::MAX {
                let within = found.iter().any(|r| (r.first..=r.last).contains(&port));
                assert_eq!(
                    within,
                    port & mask == value & mask,
                    "{value:x}/{mask:x} {port}"
                );
            }
        }
    }

    #[test]
    fn comparisons_of_one_byte_are_put_together() {
        let mut header = Header::default();
        header.test(0, 4, 0x4500_0000, 0x0f00_0000).unwrap();
        header.test(1, 1, 0xb8, 0xfc).unwrap();
        header.test(9, 1, 17, 0xff).unwrap();
        header.test(6, 2, 0, 0x1fff).unwrap();
        header.test(20, 4, 0x0000_13c4, 0x0000_ffff).unwrap();
        let found = header.condition().unwrap();
        let expected = MatchSpec {
            dscp: Some(OneOrMany(vec![Dscp::new(46).unwrap()])),
            protocol: Some(OneOrMany(vec![Protocol(17)])),
            dport: Some(OneOrMany(vec![PortRange {
                first: 5060,
                last: 5060,
            }])),
            ..MatchSpec::default()
        };
        assert_eq!(found, expected);
        header.test(9, 1, 6, 0xff).unwrap();
        assert_eq!(header.condition().unwrap(), MatchSpec::nothing());
    }
}
