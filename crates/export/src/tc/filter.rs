//! Filters: what leads packets to their class.
//!
//! `flower` names the fields of a packet; `u32` compares words at fixed places behind the beginning
//! of the IP header, which every kernel can.

use std::fmt::Write as _;

use spillgate_core::Ipv4Net;

use super::actions::{self, Step};
use super::cubes::{Cube, PORTS, tos};
use super::{Filters, Script};

/// Filters of a port.
const MAX_FILTERS: u32 = 4000;

impl Script<'_> {
    /// The filters of one class.
    pub(super) fn filter(&mut self, cubes: &[Cube], minor: u16, steps: &[Step], place: &str) {
        if cubes == [Cube::ALL] && steps.is_empty() && minor == self.default {
            return;
        }
        if cubes.is_empty() {
            self.notes
                .at(place)
                .add("no packet is left for it: it has no filter");
            return;
        }
        // All packets need one filter only.
        let all = [Cube::ALL];
        let cubes = if cubes.contains(&Cube::ALL) {
            &all
        } else {
            cubes
        };
        let actions = actions::text(steps, &mut self.notes.at(place));
        self.filter_lines.push(super::comment(place));
        for cube in cubes {
            let written = match self.filters {
                Filters::Flower => self.flower(cube, place),
                Filters::U32 => self.u32(cube, place),
            };
            for (protocol, test) in written {
                // Older kernels take one mask only in a priority: each filter has its own.
                self.prio += 1;
                if self.prio > MAX_FILTERS {
                    self.notes.at(place).add(format!(
                        "more than {MAX_FILTERS} filters: the rest is left out"
                    ));
                    return;
                }
                self.filter_lines.push(format!(
                    "tc filter add dev {} parent 1: protocol {protocol} prio {} {test} classid 1:{minor:x}{actions}",
                    self.device, self.prio
                ));
            }
        }
    }

    /// Filters of the packets of a cube, each with the protocol that it sees.
    fn flower(&mut self, cube: &Cube, place: &str) -> Vec<Test> {
        if !is_prefix(cube.src) || !is_prefix(cube.dst) {
            self.notes
                .at(place)
                .add("flower takes prefixes only: addresses with other wildcards are left out");
            return Vec::new();
        }
        let tests = tos(cube.dscps).into_iter().map(|tos| {
            let keys = keys(cube, tos);
            match keys.is_empty() {
                true => ("all", "matchall".to_owned()),
                false => ("ip", format!("flower{keys}")),
            }
        });
        tests.collect()
    }

    /// The same as comparisons of words. Ranges of ports become blocks of powers of two.
    fn u32(&mut self, cube: &Cube, place: &str) -> Vec<Test> {
        let ports = cube.sport != PORTS || cube.dport != PORTS;
        if ports {
            self.notes.at(place).add("u32 finds ports behind a header of 20 B: packets with IP options are left to later classes");
        }
        let mut fixed = String::new();
        if let Some(p) = cube.protocol {
            let _ = write!(fixed, " match ip protocol {p} 0xff");
        }
        for (key, at, net) in [("src", 12, cube.src), ("dst", 16, cube.dst)] {
            let address = std::net::Ipv4Addr::from(net.addr);
            if net.mask == 0 {
                continue;
            }
            let _ = if is_prefix(net) {
                write!(
                    fixed,
                    " match ip {key} {address}/{}",
                    net.mask.leading_ones()
                )
            } else {
                let (value, mask) = (net.addr & net.mask, net.mask);
                write!(fixed, " match u32 0x{value:08x} 0x{mask:08x} at {at}")
            };
        }
        if ports {
            // No options, and not a later fragment, which has no ports.
            fixed.push_str(" match u8 0x05 0x0f at 0 match u16 0x0000 0x1fff at 6");
        }
        let port = |at: u8, range: (u16, u16)| -> Vec<String> {
            let blocks = blocks(range).into_iter();
            let test = |(value, mask): (u16, u16)| match mask {
                0 => String::new(),
                _ => format!(" match u16 0x{value:04x} 0x{mask:04x} at {at}"),
            };
            blocks.map(test).collect()
        };
        let mut tests = Vec::new();
        for tos in tos(cube.dscps) {
            let tos = tos.map_or_else(String::new, |(value, mask)| {
                format!(" match ip tos 0x{value:02x} 0x{mask:02x}")
            });
            for sport in port(20, cube.sport) {
                for dport in port(22, cube.dport) {
                    let test = format!("{fixed}{tos}{sport}{dport}");
                    tests.push(match test.is_empty() {
                        true => ("all", "u32 match u32 0 0".to_owned()),
                        false => ("ip", format!("u32{test}")),
                    });
                }
            }
        }
        tests
    }
}

/// The protocol that a filter sees, and what it tests.
type Test = (&'static str, String);

fn is_prefix(net: Ipv4Net) -> bool {
    net.mask.leading_ones() + net.mask.trailing_zeros() >= 32
}

/// Values and masks that cover a range of ports and no other port.
fn blocks((first, last): (u16, u16)) -> Vec<(u16, u16)> {
    let (mut next, end) = (u32::from(first), u32::from(last) + 1);
    let mut found = Vec::new();
    while next < end {
        let aligned = if next == 0 {
            1 << 16
        } else {
            1 << next.trailing_zeros()
        };
        let mut size: u32 = aligned;
        while next + size > end {
            size /= 2;
        }
        let mask = (0x1_0000 - size) & 0xffff;
        found.push((next as u16, mask as u16));
        next += size;
    }
    found
}

/// What flower tests, each key with a space before it.
fn keys(cube: &Cube, tos: Option<(u8, u8)>) -> String {
    let mut keys = String::new();
    if let Some(p) = cube.protocol {
        let name = match p {
            1 => "icmp".to_owned(),
            6 => "tcp".to_owned(),
            17 => "udp".to_owned(),
            132 => "sctp".to_owned(),
            n => format!("0x{n:02x}"),
        };
        let _ = write!(keys, " ip_proto {name}");
    }
    for (key, net) in [("src_ip", cube.src), ("dst_ip", cube.dst)] {
        if net.mask != 0 {
            let address = std::net::Ipv4Addr::from(net.addr);
            let _ = write!(keys, " {key} {address}/{}", net.mask.leading_ones());
        }
    }
    for (key, (first, last)) in [("src_port", cube.sport), ("dst_port", cube.dport)] {
        if (first, last) == PORTS {
            continue;
        }
        if first == last {
            let _ = write!(keys, " {key} {first}");
        } else {
            let _ = write!(keys, " {key} {first}-{last}");
        }
    }
    if let Some((value, mask)) = tos {
        let _ = write!(keys, " ip_tos 0x{value:02x}/0x{mask:02x}");
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every port belongs to exactly one block, or to none beyond the range.
    #[test]
    fn blocks_cover_the_range_and_no_other_port() {
        for range in [
            (0, 65_535),
            (0, 0),
            (65_535, 65_535),
            (80, 80),
            (1, 65_534),
            (16_384, 32_767),
            (5060, 5061),
            (1000, 2000),
        ] {
            let blocks = blocks(range);
            assert!(blocks.len() <= 30, "{blocks:?}");
            for port in 0..=u16::MAX {
                let hits = blocks.iter().filter(|(v, m)| port & m == *v).count();
                assert_eq!(
                    hits,
                    usize::from((range.0..=range.1).contains(&port)),
                    "{range:?} {port}"
                );
            }
        }
    }
}
