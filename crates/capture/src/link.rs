//! Link-layer types (the registry of tcpdump.org) and the way through their headers.

use std::fmt;

use crate::decode::Other;

/// A link-layer header type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkType(pub u16);

impl LinkType {
    /// BSD loopback: the address family in the byte order of the capturing host.
    pub const NULL: Self = Self(0);
    /// Ethernet.
    pub const ETHERNET: Self = Self(1);
    /// PPP, with or without the HDLC framing (RFC 1661, RFC 1662).
    pub const PPP: Self = Self(9);
    /// PPP in HDLC-like framing, or Cisco PPP.
    pub const PPP_HDLC: Self = Self(50);
    /// PPPoE: the session header in front.
    pub const PPP_ETHER: Self = Self(51);
    /// IP without a link header.
    pub const RAW: Self = Self(101);
    /// Cisco HDLC.
    pub const C_HDLC: Self = Self(104);
    /// OpenBSD loopback: the address family in network byte order.
    pub const LOOP: Self = Self(108);
    /// Linux cooked capture, version 1 (`tcpdump -i any`).
    pub const LINUX_SLL: Self = Self(113);
    /// IPv4 without a link header.
    pub const IPV4: Self = Self(228);
    /// IPv6 without a link header.
    pub const IPV6: Self = Self(229);
    /// Linux cooked capture, version 2.
    pub const LINUX_SLL2: Self = Self(276);

    /// Those whose packets are read, with the name under which tools know them.
    pub const KNOWN: [(Self, &'static str); 14] = [
        (Self::NULL, "NULL"),
        (Self::ETHERNET, "EN10MB"),
        (Self::PPP, "PPP"),
        // What DLT_RAW is in files of BSD and OpenBSD.
        (Self(12), "RAW"),
        (Self(14), "RAW"),
        (Self::PPP_HDLC, "PPP_SERIAL"),
        (Self::PPP_ETHER, "PPP_ETHER"),
        (Self::RAW, "RAW"),
        (Self::C_HDLC, "C_HDLC"),
        (Self::LOOP, "LOOP"),
        (Self::LINUX_SLL, "LINUX_SLL"),
        (Self::IPV4, "IPV4"),
        (Self::IPV6, "IPV6"),
        (Self::LINUX_SLL2, "LINUX_SLL2"),
    ];

    /// Whether packets can be found behind this header.
    pub fn is_known(self) -> bool {
        Self::KNOWN.iter().any(|(l, _)| *l == self)
    }
}

impl fmt::Display for LinkType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Self::KNOWN.iter().find(|(l, _)| l == self) {
            Some((_, name)) => f.write_str(name),
            None => write!(f, "link type {}", self.0),
        }
    }
}

/// What stands in front of an IP packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Headers {
    /// Their length in bytes.
    pub(crate) len: usize,
    /// The outermost VLAN.
    pub(crate) vlan: Option<u16>,
    /// MPLS labels.
    pub(crate) labels: u8,
    /// Traffic class of the topmost label (RFC 5462).
    pub(crate) tc: u8,
    /// Whether a capture on several interfaces says that the packet was sent by the host.
    pub(crate) outgoing: Option<bool>,
}

/// Most VLAN tags and labels that are walked through.
const MAX_TAGS: u32 = 16;

/// Bytes at `at`, if they were captured.
#[inline]
fn bytes<const N: usize>(data: &[u8], at: usize) -> Result<[u8; N], Other> {
    data.get(at..at + N)
        .and_then(|s| s.try_into().ok())
        .ok_or(Other::CutShort)
}

#[inline]
fn be16(data: &[u8], at: usize) -> Result<u16, Other> {
    bytes::<2>(data, at).map(u16::from_be_bytes)
}

/// Walks to the IP packet.
#[inline]
pub(crate) fn walk(link: LinkType, data: &[u8]) -> Result<Headers, Other> {
    let mut h = Headers::default();
    match link {
        LinkType::ETHERNET => {
            h.len = 14;
            let kind = be16(data, 12)?;
            ether_type(kind, data, &mut h)?;
        }
        LinkType::RAW | LinkType::IPV4 | LinkType::IPV6 | LinkType(12 | 14) => {}
        LinkType::LINUX_SLL => {
            h.len = 16;
            // Packet type 4: sent by us.
            h.outgoing = Some(be16(data, 0)? == 4);
            let kind = be16(data, 14)?;
            ether_type(kind, data, &mut h)?;
        }
        LinkType::LINUX_SLL2 => {
            h.len = 20;
            let [packet_type] = bytes::<1>(data, 10)?;
            h.outgoing = Some(packet_type == 4);
            let kind = be16(data, 0)?;
            ether_type(kind, data, &mut h)?;
        }
        LinkType::NULL | LinkType::LOOP => {
            h.len = 4;
            let family = u32::from_be_bytes(bytes(data, 0)?);
            // In the order of the host that captured, which the file does not tell.
            let family = if family > 0xffff {
                family.swap_bytes()
            } else {
                family
            };
            // AF_INET everywhere; AF_INET6 of Linux, NetBSD, FreeBSD, macOS.
            if !matches!(family, 2 | 10 | 24 | 28 | 30) {
                return Err(Other::Unrecognized);
            }
        }
        LinkType::PPP | LinkType::PPP_HDLC => ppp(data, &mut h)?,
        LinkType::PPP_ETHER => pppoe(data, &mut h)?,
        LinkType::C_HDLC => {
            h.len = 4;
            let kind = be16(data, 2)?;
            ether_type(kind, data, &mut h)?;
        }
        _ => return Err(Other::UnknownLink),
    }
    Ok(h)
}

/// What an EtherType announces; `h.len` is where it begins.
#[inline]
fn ether_type(mut kind: u16, data: &[u8], h: &mut Headers) -> Result<(), Other> {
    for _ in 0..MAX_TAGS {
        match kind {
            0x0800 | 0x86dd => return Ok(()),
            // 802.1Q, 802.1ad, and what came before it.
            0x8100 | 0x88a8 | 0x9100 | 0x9200 => {
                let tag = be16(data, h.len)?;
                h.vlan = h.vlan.or(Some(tag & 0x0fff));
                kind = be16(data, h.len + 2)?;
                h.len += 4;
            }
            0x8847 | 0x8848 => return mpls(data, h),
            0x8864 => return pppoe(data, h),
            0x0806 => return Err(Other::Arp),
            0x88cc => return Err(Other::Lldp),
            0x8863 => return Err(Other::PppControl),
            // A length: 802.3 with LLC; spanning tree, CDP and their like.
            0..=0x05dc => return Err(Other::Llc),
            _ => return Err(Other::Unrecognized),
        }
    }
    Err(Other::Unrecognized)
}

/// A label stack (RFC 3032); what follows is told by the version of IP, if it is IP.
fn mpls(data: &[u8], h: &mut Headers) -> Result<(), Other> {
    for _ in 0..MAX_TAGS {
        let entry = u32::from_be_bytes(bytes(data, h.len)?);
        if h.labels == 0 {
            h.tc = (entry >> 9) as u8 & 7;
        }
        h.labels += 1;
        h.len += 4;
        if entry & 0x100 != 0 {
            let [first] = bytes::<1>(data, h.len)?;
            return match first >> 4 {
                4 | 6 => Ok(()),
                _ => Err(Other::Mpls),
            };
        }
    }
    Err(Other::Mpls)
}

fn pppoe(data: &[u8], h: &mut Headers) -> Result<(), Other> {
    let [_, code] = bytes::<2>(data, h.len)?;
    if code != 0 {
        return Err(Other::PppControl);
    }
    h.len += 6;
    ppp_protocol(data, h)
}

fn ppp(data: &[u8], h: &mut Headers) -> Result<(), Other> {
    match be16(data, 0)? {
        // Address and control of the HDLC-like framing.
        0xff03 => h.len = 2,
        // What Cisco puts on serial links instead.
        0x0f00 | 0x8f00 => {
            h.len = 4;
            let kind = be16(data, 2)?;
            return ether_type(kind, data, h);
        }
        _ => {}
    }
    ppp_protocol(data, h)
}

/// The protocol field, which may be compressed to one byte (RFC 1661 §6.5).
fn ppp_protocol(data: &[u8], h: &mut Headers) -> Result<(), Other> {
    let [first] = bytes::<1>(data, h.len)?;
    let protocol = if first & 1 == 1 {
        h.len += 1;
        u16::from(first)
    } else {
        let p = be16(data, h.len)?;
        h.len += 2;
        p
    };
    match protocol {
        0x0021 | 0x0057 => Ok(()),
        0x0281 | 0x0283 => mpls(data, h),
        0x8000.. => Err(Other::PppControl),
        _ => Err(Other::Unrecognized),
    }
}
