//! From a record to its IP packet.

use std::net::IpAddr;

use etherparse::{Ipv4HeaderSlice, LaxIpv6Slice};
use spillgate_core::{Dscp, Ecn};

use crate::link;
use crate::packet::{IpPacket, Key};
use crate::reader::{Direction, Record};

/// What a record holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// An IP packet.
    Ip(IpPacket),
    /// Something else.
    Other(Other),
}

/// Why a record is no IP packet that can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Other {
    /// ARP.
    Arp,
    /// LLDP.
    Lldp,
    /// 802.3 with LLC: spanning tree, CDP and their like.
    Llc,
    /// PPP and PPPoE control packets: LCP, IPCP, discovery.
    PppControl,
    /// MPLS with something else than IP below the labels.
    Mpls,
    /// An EtherType or protocol that is not looked into.
    Unrecognized,
    /// A link-layer type that is not known.
    UnknownLink,
    /// So little was captured of it that the IP header is not whole.
    CutShort,
    /// It should be IP, but the header is not.
    BadIp,
}

impl Other {
    /// All of them, in the order in which they are reported, with what people read.
    pub const ALL: [(Self, &'static str); 9] = [
        (Self::Arp, "ARP"),
        (Self::Lldp, "LLDP"),
        (Self::Llc, "802.3/LLC (spanning tree, CDP)"),
        (Self::PppControl, "PPP control"),
        (Self::Mpls, "MPLS without IP below"),
        (Self::Unrecognized, "other protocols"),
        (Self::UnknownLink, "unknown link type"),
        (Self::CutShort, "cut before the end of the IP header"),
        (Self::BadIp, "malformed IP header"),
    ];
}

/// Protocols whose headers begin with two ports: TCP, UDP, DCCP, SCTP, UDP-Lite.
const WITH_PORTS: [u8; 5] = [6, 17, 33, 132, 136];

/// Finds the IP packet of a record.
#[inline]
pub fn decode(record: &Record<'_>) -> Decoded {
    match packet(record) {
        Ok(p) => Decoded::Ip(p),
        Err(other) => Decoded::Other(other),
    }
}

#[inline]
fn packet(record: &Record<'_>) -> Result<IpPacket, Other> {
    let headers = link::walk(record.link, record.data)?;
    let data = record.data.get(headers.len..).ok_or(Other::CutShort)?;
    // On the wire, link headers aside.
    let wire = (record.wire_len as usize).saturating_sub(headers.len);
    let first = *data.first().ok_or(Other::CutShort)?;
    let mut packet = match first >> 4 {
        4 => v4(data, wire)?,
        6 => v6(data, wire)?,
        _ => return Err(Other::BadIp),
    };
    packet.vlan = headers.vlan;
    packet.labels = headers.labels;
    packet.tc = headers.tc;
    packet.outgoing = record
        .direction
        .map(|d| d == Direction::Out)
        .or(headers.outgoing);
    Ok(packet)
}

fn v4(data: &[u8], wire: usize) -> Result<IpPacket, Other> {
    if data.len() < 20 {
        return Err(Other::CutShort);
    }
    let header_len = usize::from(data[0] & 15) * 4;
    if header_len < 20 || wire < header_len {
        return Err(Other::BadIp);
    }
    if data.len() < header_len {
        return Err(Other::CutShort);
    }
    let header = Ipv4HeaderSlice::from_slice(data).map_err(|_| Other::BadIp)?;
    let total = usize::from(header.total_len());
    let (len, guessed_len) = length(total, header_len, wire);
    let later = header.fragments_offset().value() > 0;
    let protocol = header.protocol().0;
    let (sport, dport, ports_cut) = ports(protocol, later, &data[header_len..]);
    Ok(IpPacket {
        key: Key {
            src: IpAddr::V4(header.source_addr()),
            dst: IpAddr::V4(header.destination_addr()),
            protocol,
            sport,
            dport,
        },
        len,
        dscp: Dscp::new(header.dcp().value()).unwrap_or_default(),
        ecn: ecn(header.ecn().value()),
        fragment: header.is_fragmenting_payload(),
        guessed_len,
        ports_cut,
        vlan: None,
        labels: 0,
        tc: 0,
        outgoing: None,
    })
}

fn v6(data: &[u8], wire: usize) -> Result<IpPacket, Other> {
    if data.len() < 40 {
        return Err(Other::CutShort);
    }
    if wire < 40 {
        return Err(Other::BadIp);
    }
    let (slice, _) = LaxIpv6Slice::from_slice(data).map_err(|_| Other::BadIp)?;
    let header = slice.header();
    // A payload length of 0 is a jumbogram (RFC 2675) or segmentation offload, or no payload.
    let payload = usize::from(header.payload_length());
    let total = if payload == 0 && wire > 40 {
        0
    } else {
        40 + payload
    };
    let (len, guessed_len) = length(total, 40, wire);
    let extensions = slice.extensions();
    let first = extensions.first_header().map_or(NO_NEXT, |n| n.0);
    let (fragment, later) = fragment_of(first, extensions.slice());
    let protocol = slice.payload().ip_number.0;
    let (sport, dport, ports_cut) = ports(protocol, later, slice.payload().payload);
    Ok(IpPacket {
        key: Key {
            src: IpAddr::V6(header.source_addr()),
            dst: IpAddr::V6(header.destination_addr()),
            protocol,
            sport,
            dport,
        },
        len,
        dscp: Dscp::new(header.traffic_class() >> 2).unwrap_or_default(),
        ecn: ecn(header.traffic_class() & 3),
        fragment,
        guessed_len,
        ports_cut,
        vlan: None,
        labels: 0,
        tc: 0,
        outgoing: None,
    })
}

/// The number that says that nothing follows (RFC 8200 §4.7).
const NO_NEXT: u8 = 59;

/// Whether IPv6 extension headers, of which the first has number `next`, make a fragment, and one
/// that is not the first. The library's own iterator reads beyond the end of headers that are cut.
fn fragment_of(mut next: u8, mut rest: &[u8]) -> (bool, bool) {
    let (mut fragment, mut later) = (false, false);
    while let [following, len, high, low, ..] = *rest {
        let units = usize::from(len);
        let bytes = match next {
            // Hop-by-hop, routing, destination options, mobility, HIP, Shim6.
            0 | 43 | 60 | 135 | 139 | 140 => 8 * (units + 1),
            44 => {
                fragment = true;
                later |= u16::from_be_bytes([high, low]) >> 3 > 0;
                8
            }
            // Authentication header.
            51 => 4 * (units + 2),
            _ => break,
        };
        let Some(behind) = rest.get(bytes..) else {
            break;
        };
        (next, rest) = (following, behind);
    }
    (fragment, later)
}

/// The length that the header says if it can be true, else what the wire had; whether it is the
/// latter.
#[inline]
fn length(said: usize, least: usize, wire: usize) -> (u16, bool) {
    if (least..=wire).contains(&said) {
        return (said.min(65_535) as u16, false);
    }
    (wire.min(65_535) as u16, true)
}

/// Source and destination port, and whether they should be there but were not captured.
#[inline]
fn ports(protocol: u8, later_fragment: bool, payload: &[u8]) -> (u16, u16, bool) {
    if later_fragment || !WITH_PORTS.contains(&protocol) {
        return (0, 0, false);
    }
    match payload {
        [a, b, c, d, ..] => (
            u16::from_be_bytes([*a, *b]),
            u16::from_be_bytes([*c, *d]),
            false,
        ),
        _ => (0, 0, true),
    }
}

fn ecn(bits: u8) -> Ecn {
    match bits {
        0 => Ecn::NotEct,
        1 => Ecn::Ect1,
        2 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}
