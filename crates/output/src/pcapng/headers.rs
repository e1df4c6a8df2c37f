//! The headers of a packet, from what the simulator knows of it.
//!
//! Sources: RFC 791 (IPv4), RFC 768 (UDP), RFC 9293, RFC 2018, RFC 7323 and RFC 9768 (TCP and its
//! options), RFC 3032 (labels). Checksums are right, the payload being zeros.
//!
//! Made up, as nothing in a run depends on them: MAC addresses, TTL, TCP's window and urgent
//! pointer. Label values are one for each way and each VPN (`MplsPlan::label_values`).

use std::net::Ipv4Addr;

use spillgate_core::{FlowKey, Packet, Time};
use spillgate_endpoints::tcp::{Counters, Flags, Segment};

use super::writer::LinkType;

const TCP: u8 = 6;
const UDP: u8 = 17;
const IPV4_LEN: usize = 20;
const TCP_LEN: usize = 20;

/// What else the headers say.
pub(super) struct Around {
    pub(super) link: LinkType,
    /// Nodes at the ends of the link, for MAC addresses.
    pub(super) nodes: (u32, u32),
    /// Values of the labels, the top one first.
    pub(super) labels: [u32; 2],
}

/// Writes the headers of a packet into `out`; the length of the packet with all of them.
pub(super) fn headers(
    out: &mut Vec<u8>,
    packet: &Packet,
    key: &FlowKey,
    segment: Option<&Segment>,
    around: &Around,
) -> u32 {
    out.clear();
    if around.link == LinkType::Ethernet {
        ethernet(out, around, packet);
    }
    let before = out.len();
    ipv4(out, packet, key);
    let payload = usize::from(packet.l3_len).saturating_sub(IPV4_LEN);
    let transport = out.len();
    match (segment, key.protocol) {
        (Some(s), _) => tcp(out, key, s, payload),
        (None, TCP) => {
            // No endpoint: a stream of bytes that nobody acknowledges.
            let len = payload.saturating_sub(TCP_LEN) as u64;
            let plain = Segment {
                len: len as u16,
                ..Segment::bare(u64::from(packet.seq) * len, Flags::ACK, Time::ZERO)
            };
            tcp(out, key, &plain, payload);
        }
        (None, UDP) => {
            for n in [key.sport, key.dport, payload as u16, 0] {
                out.extend(n.to_be_bytes());
            }
            let sum = transport_checksum(key, payload, &out[transport..]);
            // RFC 768: an all-zero checksum stands for none.
            let sum = if sum == 0 { 0xffff } else { sum };
            out[transport + 6..transport + 8].copy_from_slice(&sum.to_be_bytes());
        }
        _ => {}
    }
    // A packet may be shorter than the headers of its protocol.
    let most = before + usize::from(packet.l3_len);
    out.truncate(most);
    most as u32
}

fn ethernet(out: &mut Vec<u8>, around: &Around, packet: &Packet) {
    for node in [around.nodes.1, around.nodes.0] {
        // Locally administered (IEEE 802, second bit).
        out.extend([0x02, 0]);
        out.extend(node.to_be_bytes());
    }
    let stack: Vec<u8> = packet.labels.stack().into_iter().flatten().collect();
    let kind: u16 = if stack.is_empty() { 0x0800 } else { 0x8847 };
    out.extend(kind.to_be_bytes());
    for (i, tc) in stack.iter().enumerate() {
        let label = around.labels[i] & 0xf_ffff;
        let bottom = u32::from(i + 1 == stack.len());
        let entry = label << 12 | u32::from(*tc & 7) << 9 | bottom << 8 | 64;
        out.extend(entry.to_be_bytes());
    }
}

fn ipv4(out: &mut Vec<u8>, packet: &Packet, key: &FlowKey) {
    let begin = out.len();
    let tos = packet.dscp.value() << 2 | ecn_bits(packet);
    out.extend([0x45, tos]);
    out.extend(packet.l3_len.to_be_bytes());
    out.extend((packet.seq as u16).to_be_bytes());
    // Do not fragment.
    out.extend([0x40, 0, 64, key.protocol, 0, 0]);
    for address in addresses(key) {
        out.extend(address.octets());
    }
    let sum = checksum(&out[begin..], 0);
    out[begin + 10..begin + 12].copy_from_slice(&sum.to_be_bytes());
}

fn addresses(key: &FlowKey) -> [Ipv4Addr; 2] {
    key.ipv4().expect("flows of a simulation are of IPv4")
}

fn ecn_bits(packet: &Packet) -> u8 {
    use spillgate_core::Ecn;
    match packet.ecn {
        Ecn::NotEct => 0,
        Ecn::Ect1 => 1,
        Ecn::Ect0 => 2,
        Ecn::Ce => 3,
    }
}

fn tcp(out: &mut Vec<u8>, key: &FlowKey, s: &Segment, payload: usize) {
    let begin = out.len();
    let options = payload.saturating_sub(TCP_LEN + usize::from(s.len)).min(40) / 4 * 4;
    out.extend(key.sport.to_be_bytes());
    out.extend(key.dport.to_be_bytes());
    out.extend((s.seq as u32).to_be_bytes());
    let ack = if s.flags.has(Flags::ACK) {
        s.ack as u32
    } else {
        0
    };
    out.extend(ack.to_be_bytes());
    let mut flags = 0_u8;
    for (flag, bit) in [
        (Flags::FIN, 1),
        (Flags::SYN, 2),
        (Flags::ACK, 16),
        (Flags::ECE, 64),
        (Flags::CWR, 128),
    ] {
        if s.flags.has(flag) {
            flags |= bit;
        }
    }
    let ae = u8::from(s.flags.has(Flags::AE));
    out.extend([(((TCP_LEN + options) / 4) << 4) as u8 | ae, flags]);
    // Window, checksum, urgent pointer.
    out.extend([0xff, 0xff, 0, 0, 0, 0]);
    tcp_options(out, s, options);
    let sum = transport_checksum(key, payload, &out[begin..]);
    out[begin + 16..begin + 18].copy_from_slice(&sum.to_be_bytes());
}

/// Options that fill the room that the segment's length gives them.
fn tcp_options(out: &mut Vec<u8>, s: &Segment, room: usize) {
    let end = out.len() + room;
    let sack = if s.sack.is_empty() {
        0
    } else {
        4 + 8 * s.sack.len()
    };
    let accurate = s.counters().map_or(0, |_| usize::from(Counters::LEN));
    let others = sack + accurate;
    let syn = s.flags.has(Flags::SYN);
    let left = |out: &Vec<u8>| end - out.len();
    if syn && left(out) >= 8 {
        // Maximum segment size, window scale.
        out.extend([2, 4, 0x05, 0xb4, 1, 3, 3, 7]);
    }
    let timestamps = left(out) >= 12 + others;
    if syn && left(out) >= 4 + others && (timestamps || left(out) < 12 + others) {
        // SACK permitted, in the timestamps' padding if there are any.
        let padding: &[u8] = if timestamps { &[4, 2] } else { &[1, 1, 4, 2] };
        out.extend(padding);
    } else if timestamps {
        out.extend([1, 1]);
    }
    if timestamps {
        out.extend([8, 10]);
        for t in [s.ts_val, s.ts_ecr] {
            // Milliseconds.
            out.extend(((t.as_ps() / 1_000_000_000) as u32).to_be_bytes());
        }
    }
    if sack > 0 && left(out) >= sack {
        out.extend([1, 1, 5, (sack - 2) as u8]);
        for (a, b) in s.sack.iter(s.ack) {
            out.extend((a as u32).to_be_bytes());
            out.extend((b as u32).to_be_bytes());
        }
    }
    if let Some(c) = s.counters().filter(|_| left(out) >= accurate) {
        out.extend([c.kind(), Counters::LEN as u8]);
        for field in [c.ect, c.ce] {
            out.extend(&field.to_be_bytes()[1..]);
        }
    }
    // No operation.
    out.resize(end, 1);
}

/// The Internet checksum (RFC 1071) of bytes and of what was added up before.
fn checksum(bytes: &[u8], before: u32) -> u16 {
    let mut sum = before;
    for pair in bytes.chunks(2) {
        sum += u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |b| u32::from(*b));
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// The checksum over pseudo-header, header and a payload of zeros.
fn transport_checksum(key: &FlowKey, len: usize, header: &[u8]) -> u16 {
    let [a, b] = addresses(key).map(|ip| {
        let ip = u32::from(ip);
        (ip >> 16) + (ip & 0xffff)
    });
    checksum(header, a + b + u32::from(key.protocol) + len as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 1071 section 3.
    #[test]
    fn checksum_of_rfc_1071() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(checksum(&bytes, 0), !0xddf2);
    }
}
