//! Captures made for tests, examples and benchmarks: writers of both formats, and packets.
//!
//! Nothing here is fast or complete; what it writes is well-formed unless it is asked otherwise.

use std::net::{IpAddr, SocketAddr};

use crate::link::LinkType;

/// A pcap file in the making.
#[derive(Clone, Debug)]
pub struct Pcap {
    /// Numbers are big-endian.
    pub big_endian: bool,
    /// Times are nanoseconds, not microseconds.
    pub nanoseconds: bool,
    /// Link-layer type.
    pub link: LinkType,
    /// Most bytes that are kept of a packet.
    pub snaplen: u32,
    body: Vec<u8>,
}

impl Default for Pcap {
    fn default() -> Self {
        Self::new(LinkType::ETHERNET)
    }
}

impl Pcap {
    /// Little-endian, microseconds, without a snapshot length that matters.
    pub fn new(link: LinkType) -> Self {
        Self {
            big_endian: false,
            nanoseconds: false,
            link,
            snaplen: 65_535,
            body: Vec::new(),
        }
    }

    /// Adds a packet, of which as much as the snapshot length allows is kept, at nanoseconds since
    /// the start of 1970.
    pub fn record(&mut self, ns: u64, packet: &[u8]) {
        let kept = &packet[..packet.len().min(self.snaplen as usize)];
        self.record_of(ns, kept, packet.len() as u32);
    }

    /// Adds a record with a length on the wire of its own.
    pub fn record_of(&mut self, ns: u64, data: &[u8], wire_len: u32) {
        let fraction = ns % 1_000_000_000;
        let fraction = if self.nanoseconds {
            fraction
        } else {
            fraction / 1000
        };
        let captured = data.len() as u32;
        for word in [
            (ns / 1_000_000_000) as u32,
            fraction as u32,
            captured,
            wire_len,
        ] {
            self.body.extend(u32s(self.big_endian, word));
        }
        self.body.extend_from_slice(data);
    }

    /// The file's header alone.
    pub fn header(&self) -> Vec<u8> {
        let magic = if self.nanoseconds {
            0xa1b2_3c4d
        } else {
            0xa1b2_c3d4
        };
        let mut file = u32s(self.big_endian, magic).to_vec();
        file.extend(u16s(self.big_endian, 2));
        file.extend(u16s(self.big_endian, 4));
        for word in [0, 0, self.snaplen, u32::from(self.link.0)] {
            file.extend(u32s(self.big_endian, word));
        }
        file
    }

    /// What was added since the last call, without the file's header: for files written in parts.
    pub fn take_records(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.body)
    }

    /// The file.
    pub fn finish(self) -> Vec<u8> {
        let mut file = self.header();
        file.extend(self.body);
        file
    }
}

/// A pcapng file in the making.
#[derive(Clone, Debug, Default)]
pub struct PcapNg {
    big_endian: bool,
    file: Vec<u8>,
}

impl PcapNg {
    /// A file that begins with a section in the given byte order.
    pub fn new(big_endian: bool) -> Self {
        let mut new = Self::default();
        new.section(big_endian);
        new
    }

    /// Adds a section header block: byte order and interfaces begin anew.
    pub fn section(&mut self, big_endian: bool) {
        self.big_endian = big_endian;
        let mut body = u32s(big_endian, 0x1a2b_3c4d).to_vec();
        body.extend(u16s(big_endian, 1));
        body.extend(u16s(big_endian, 0));
        // The section's length is not told.
        body.extend([0xff; 8]);
        self.block(0x0a0d_0d0a, &body);
    }

    /// Adds an interface with `if_tsresol`, where it is given, and `if_tsoffset`, unless 0.
    pub fn interface(&mut self, link: LinkType, name: &str, resolution: Option<u8>, offset: i64) {
        let big = self.big_endian;
        let mut body = u16s(big, link.0).to_vec();
        body.extend([0; 2]);
        body.extend(u32s(big, 65_535));
        if !name.is_empty() {
            self.option(&mut body, 2, name.as_bytes());
        }
        if let Some(r) = resolution {
            self.option(&mut body, 9, &[r]);
        }
        if offset != 0 {
            let bytes = if big {
                offset.to_be_bytes()
            } else {
                offset.to_le_bytes()
            };
            self.option(&mut body, 14, &bytes);
        }
        self.option(&mut body, 0, &[]);
        self.block(1, &body);
    }

    fn option(&self, body: &mut Vec<u8>, code: u16, value: &[u8]) {
        body.extend(u16s(self.big_endian, code));
        body.extend(u16s(self.big_endian, value.len() as u16));
        pad(body, value);
    }

    /// Adds an enhanced packet block; `flags` go into `epb_flags` unless 0 (1: received, 2: sent).
    pub fn packet(&mut self, interface: u32, ticks: u64, data: &[u8], wire_len: u32, flags: u32) {
        let big = self.big_endian;
        let mut body = Vec::with_capacity(data.len() + 40);
        for word in [
            interface,
            (ticks >> 32) as u32,
            ticks as u32,
            data.len() as u32,
            wire_len,
        ] {
            body.extend(u32s(big, word));
        }
        pad(&mut body, data);
        if flags != 0 {
            self.option(&mut body, 2, &u32s(big, flags));
            self.option(&mut body, 0, &[]);
        }
        self.block(6, &body);
    }

    /// Adds a simple packet block, which has no time.
    pub fn simple(&mut self, data: &[u8]) {
        let mut body = u32s(self.big_endian, data.len() as u32).to_vec();
        pad(&mut body, data);
        self.block(3, &body);
    }

    /// Adds a block of any type; the body is filled up to a multiple of four bytes.
    pub fn block(&mut self, kind: u32, body: &[u8]) {
        let len = 12 + body.len().next_multiple_of(4) as u32;
        self.file.extend(u32s(self.big_endian, kind));
        self.file.extend(u32s(self.big_endian, len));
        pad(&mut self.file, body);
        self.file.extend(u32s(self.big_endian, len));
    }

    /// The file.
    pub fn finish(self) -> Vec<u8> {
        self.file
    }
}

fn u32s(big_endian: bool, word: u32) -> [u8; 4] {
    if big_endian {
        word.to_be_bytes()
    } else {
        word.to_le_bytes()
    }
}

fn u16s(big_endian: bool, half: u16) -> [u8; 2] {
    if big_endian {
        half.to_be_bytes()
    } else {
        half.to_le_bytes()
    }
}

fn pad(to: &mut Vec<u8>, bytes: &[u8]) {
    to.extend_from_slice(bytes);
    to.resize(to.len() + (4 - bytes.len() % 4) % 4, 0);
}

/// An IPv4 packet with `dscp`, protocol and payload; the header checksum is right.
///
/// # Panics
/// If an address is not IPv4.
pub fn ipv4(src: &str, dst: &str, dscp: u8, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let len = (20 + payload.len()) as u16;
    let mut p = vec![0x45, dscp << 2];
    p.extend(len.to_be_bytes());
    p.extend([0, 0, 0, 0, 64, protocol, 0, 0]);
    for a in [src, dst] {
        let IpAddr::V4(a) = a.parse().expect("an address") else {
            panic!("{a} is not IPv4")
        };
        p.extend(a.octets());
    }
    checksum(&mut p);
    p.extend_from_slice(payload);
    p
}

/// Puts the right checksum into an IPv4 header (RFC 791 §3.1).
pub fn checksum(header: &mut [u8]) {
    header[10..12].fill(0);
    let words = header[..20]
        .chunks(2)
        .map(|w| u32::from(w[0]) << 8 | u32::from(w[1]));
    let mut sum: u32 = words.sum();
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    header[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

/// An IPv6 packet with `dscp`, next header and payload.
///
/// # Panics
/// If an address is not IPv6.
pub fn ipv6(src: &str, dst: &str, dscp: u8, next: u8, payload: &[u8]) -> Vec<u8> {
    let mut p = vec![0x60 | dscp >> 2, dscp << 6, 0, 0];
    p.extend((payload.len() as u16).to_be_bytes());
    p.extend([next, 64]);
    for a in [src, dst] {
        let IpAddr::V6(a) = a.parse().expect("an address") else {
            panic!("{a} is not IPv6")
        };
        p.extend(a.octets());
    }
    p.extend_from_slice(payload);
    p
}

fn socket(text: &str) -> (String, u16) {
    let s: SocketAddr = text.parse().expect("address:port");
    (s.ip().to_string(), s.port())
}

fn udp(sport: u16, dport: u16, payload: usize) -> Vec<u8> {
    let mut u = sport.to_be_bytes().to_vec();
    u.extend(dport.to_be_bytes());
    u.extend((8 + payload as u16).to_be_bytes());
    u.extend([0, 0]);
    u.resize(8 + payload, 0);
    u
}

/// A UDP datagram over IPv4 between two `address:port`s with so many bytes of payload.
///
/// # Panics
/// If an end is no IPv4 `address:port`.
pub fn udp4(src: &str, dst: &str, dscp: u8, payload: usize) -> Vec<u8> {
    let ((s, sport), (d, dport)) = (socket(src), socket(dst));
    ipv4(&s, &d, dscp, 17, &udp(sport, dport, payload))
}

/// The same over IPv6.
///
/// # Panics
/// If an end is no IPv6 `[address]:port`.
pub fn udp6(src: &str, dst: &str, dscp: u8, payload: usize) -> Vec<u8> {
    let ((s, sport), (d, dport)) = (socket(src), socket(dst));
    ipv6(&s, &d, dscp, 17, &udp(sport, dport, payload))
}

/// A TCP segment over IPv4 with so many bytes of payload.
///
/// # Panics
/// If an end is no IPv4 `address:port`.
pub fn tcp4(src: &str, dst: &str, dscp: u8, payload: usize) -> Vec<u8> {
    let ((s, sport), (d, dport)) = (socket(src), socket(dst));
    let mut t = sport.to_be_bytes().to_vec();
    t.extend(dport.to_be_bytes());
    t.extend([0; 8]);
    t.extend([0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0]);
    t.resize(20 + payload, 0);
    ipv4(&s, &d, dscp, 6, &t)
}

/// The EtherType of an IP packet.
fn ether_type(ip: &[u8]) -> u16 {
    match ip.first() {
        Some(b) if b >> 4 == 6 => 0x86dd,
        _ => 0x0800,
    }
}

/// An IP packet in an Ethernet frame, padded to 60 bytes.
pub fn ethernet(ip: &[u8]) -> Vec<u8> {
    frame(ether_type(ip), ip)
}

/// Any payload in an Ethernet frame, padded to 60 bytes.
pub fn frame(kind: u16, payload: &[u8]) -> Vec<u8> {
    let mut f = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
    f.extend(kind.to_be_bytes());
    f.extend_from_slice(payload);
    f.resize(f.len().max(60), 0);
    f
}

/// An IP packet behind VLAN tags (EtherType of the tag, VLAN), outermost first, then MPLS labels
/// (label, traffic class), topmost first.
pub fn tagged(vlans: &[(u16, u16)], labels: &[(u32, u8)], ip: &[u8]) -> Vec<u8> {
    let inner = if labels.is_empty() {
        ether_type(ip)
    } else {
        0x8847
    };
    let mut payload = Vec::new();
    for (i, (_, vlan)) in vlans.iter().enumerate() {
        payload.extend(vlan.to_be_bytes());
        payload.extend(vlans.get(i + 1).map_or(inner, |v| v.0).to_be_bytes());
    }
    for (i, (label, tc)) in labels.iter().enumerate() {
        let bottom = u32::from(i + 1 == labels.len());
        payload.extend((label << 12 | u32::from(*tc) << 9 | bottom << 8 | 64).to_be_bytes());
    }
    payload.extend_from_slice(ip);
    frame(vlans.first().map_or(inner, |v| v.0), &payload)
}

/// An IP packet with the header of a link-layer type in front.
///
/// # Panics
/// If the type is not one that is read.
pub fn linked(link: LinkType, ip: &[u8]) -> Vec<u8> {
    let v6 = ether_type(ip) == 0x86dd;
    let kind = ether_type(ip).to_be_bytes();
    let mut p = match link {
        LinkType::ETHERNET => return ethernet(ip),
        LinkType::RAW | LinkType::IPV4 | LinkType::IPV6 => Vec::new(),
        LinkType::NULL => vec![if v6 { 30 } else { 2 }, 0, 0, 0],
        LinkType::LOOP => vec![0, 0, 0, if v6 { 24 } else { 2 }],
        LinkType::PPP => vec![0, if v6 { 0x57 } else { 0x21 }],
        LinkType::PPP_HDLC => vec![0xff, 3, 0, if v6 { 0x57 } else { 0x21 }],
        LinkType::PPP_ETHER => {
            let [high, low] = (ip.len() as u16 + 2).to_be_bytes();
            vec![0x11, 0, 0, 1, high, low, 0, if v6 { 0x57 } else { 0x21 }]
        }
        LinkType::C_HDLC => vec![0x0f, 0, kind[0], kind[1]],
        LinkType::LINUX_SLL => {
            let mut h = vec![0, 4, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0];
            h.extend(kind);
            h
        }
        LinkType::LINUX_SLL2 => {
            let mut h = kind.to_vec();
            h.extend([0, 0, 0, 0, 0, 2, 0, 1, 4, 6, 2, 0, 0, 0, 0, 1, 0, 0]);
            h
        }
        other => panic!("{other} is not read"),
    };
    p.extend_from_slice(ip);
    p
}

/// An ARP request in an Ethernet frame.
pub fn arp() -> Vec<u8> {
    frame(0x0806, &[0, 1, 8, 0, 6, 4, 0, 1])
}
