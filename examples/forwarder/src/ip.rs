//! From the bytes of an IP packet to what a queue needs to know, and the mark of congestion back
//! into them.

use std::net::SocketAddr;

use spillgate_capture::{Decoded, LinkType, Record, decode};
use spillgate_core::{Dscp, Ecn, FlowKey};

/// What a datagram takes beside its payload, in bytes: the headers of UDP and IPv4. Those of IPv6
/// take 20 more.
pub const UDP_HEADERS: usize = 28;

/// What a queue needs to know of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Addresses, protocol, ports.
    pub key: FlowKey,
    /// Differentiated services code point.
    pub dscp: Dscp,
    /// ECN field.
    pub ecn: Ecn,
    /// Length of the IP packet in bytes.
    pub len: u16,
}

impl Header {
    /// Reads the header of an IP packet; none if it is something else. Fragments behind the first
    /// have no ports.
    pub fn read(packet: &[u8]) -> Option<Self> {
        let record = Record {
            time: None,
            interface: 0,
            link: LinkType::RAW,
            wire_len: packet.len() as u32,
            direction: None,
            data: packet,
        };
        let Decoded::Ip(ip) = decode(&record) else {
            return None;
        };
        Some(Self {
            key: FlowKey {
                src: ip.key.src,
                dst: ip.key.dst,
                protocol: ip.key.protocol,
                sport: ip.key.sport,
                dport: ip.key.dport,
            },
            dscp: ip.dscp,
            ecn: ip.ecn,
            len: ip.len,
        })
    }

    /// The header of a UDP datagram that a socket has received: it tells neither DSCP nor ECN.
    pub fn of_datagram(from: SocketAddr, to: SocketAddr, payload: usize) -> Self {
        let headers = UDP_HEADERS + if from.is_ipv6() { 20 } else { 0 };
        Self {
            key: FlowKey {
                src: from.ip(),
                dst: to.ip(),
                protocol: 17,
                sport: from.port(),
                dport: to.port(),
            },
            dscp: Dscp::DEFAULT,
            ecn: Ecn::NotEct,
            len: u16::try_from(payload + headers).unwrap_or(u16::MAX),
        }
    }
}

/// Writes "congestion experienced" into the header of an IP packet. IPv4 has a checksum, which is
/// brought up to date (RFC 1624, equation 3); IPv6 has none, and the field in the upper half of the
/// second byte (RFC 8200 §3).
pub fn mark(packet: &mut [u8]) {
    if packet[0] >> 4 == 6 {
        packet[1] |= (Ecn::Ce as u8) << 4;
        return;
    }
    let word = |p: &[u8], at: usize| u16::from_be_bytes([p[at], p[at + 1]]);
    let old = word(packet, 0);
    packet[1] |= Ecn::Ce as u8;
    let sum = u32::from(!word(packet, 10)) + u32::from(!old) + u32::from(word(packet, 0));
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    packet[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use spillgate_capture::testkit::{checksum, udp4, udp6};

    use super::*;

    #[test]
    fn a_header_is_read() {
        let header = Header::read(&udp4("10.0.0.1:4000", "10.0.0.2:53", 46, 100)).unwrap();
        let from = "10.0.0.1:4000".parse().unwrap();
        let to = "10.0.0.2:53".parse().unwrap();
        let expected = Header {
            dscp: Dscp::EF,
            ..Header::of_datagram(from, to, 100)
        };
        assert_eq!(header, expected);
        assert_eq!(header.len, 128);
        let header = Header::read(&udp6("[fe80::1]:4000", "[::2]:53", 46, 100)).unwrap();
        let from = "[fe80::1]:4000".parse().unwrap();
        let expected = Header {
            dscp: Dscp::EF,
            ..Header::of_datagram(from, "[::2]:53".parse().unwrap(), 100)
        };
        assert_eq!(header, expected);
        assert_eq!(header.len, 148);
        for other in [vec![], vec![0x45; 10], vec![0x60; 20], vec![0; 60]] {
            assert_eq!(Header::read(&other), None);
        }
    }

    #[test]
    fn a_mark_of_ipv6_is_read_back() {
        let plain = udp6("[fe80::1]:4000", "[::2]:53", 46, 100);
        let header = Header::read(&plain).unwrap();
        let mut packet = plain.clone();
        // ECT(0).
        packet[1] |= 0x20;
        assert_eq!(Header::read(&packet).unwrap().ecn, Ecn::Ect0);
        mark(&mut packet);
        let marked = Header::read(&packet).unwrap();
        let ecn = Ecn::Ce;
        assert_eq!(marked, Header { ecn, ..header });
        packet[1] &= !0x30;
        assert_eq!(packet, plain);
    }

    /// RFC 1071 says what the checksum of the whole header is to be.
    #[test]
    fn a_mark_keeps_the_checksum_right() {
        for ecn in [Ecn::Ect1, Ecn::Ect0, Ecn::Ce] {
            for id in 0..=u16::MAX {
                let mut packet = udp4("10.0.0.1:4000", "10.0.0.2:53", 10, 0);
                packet[1] |= ecn as u8;
                packet[4..6].copy_from_slice(&id.to_be_bytes());
                checksum(&mut packet[..20]);
                let mut expected = packet.clone();
                expected[1] |= 3;
                checksum(&mut expected[..20]);
                mark(&mut packet);
                assert_eq!(packet, expected, "{ecn:?} {id}");
            }
        }
    }
}
