//! Captures of every format, with the same packets in them.

use spillgate_capture::testkit::{Pcap, PcapNg, arp, linked, tagged, tcp4, udp4, udp6};
use spillgate_capture::{Counts, Decoded, IpPacket, LinkType, Reader, Record, decode};

pub(crate) const LINKS: [LinkType; 11] = [
    LinkType::ETHERNET,
    LinkType::RAW,
    LinkType::NULL,
    LinkType::LOOP,
    LinkType::PPP,
    LinkType::PPP_HDLC,
    LinkType::PPP_ETHER,
    LinkType::C_HDLC,
    LinkType::LINUX_SLL,
    LinkType::LINUX_SLL2,
    LinkType::IPV4,
];

/// Nanoseconds since 1970 and IP packets: voice, video, data, IPv6.
pub(crate) fn packets() -> Vec<(u64, Vec<u8>)> {
    let base = 1_700_000_000_000_000_000;
    let mut all = Vec::new();
    for i in 0..8_u64 {
        let packet = match i % 4 {
            0 => udp4("10.1.0.1:16384", "10.2.0.1:16384", 46, 172),
            1 => tcp4("10.1.0.2:49152", "10.2.0.2:443", 10, 1460),
            2 => udp6("[2001:db8:1::1]:5004", "[2001:db8:2::1]:5004", 34, 1200),
            _ => tcp4("10.2.0.2:443", "10.1.0.2:49152", 0, 0),
        };
        all.push((base + i * 1_234_000, packet));
    }
    all
}

/// The packets as pcap.
pub(crate) fn pcap(link: LinkType, big_endian: bool, nanoseconds: bool) -> Vec<u8> {
    let mut file = Pcap::new(link);
    (file.big_endian, file.nanoseconds) = (big_endian, nanoseconds);
    for (ns, ip) in packets() {
        file.record(ns, &linked(link, &ip));
    }
    file.finish()
}

/// The packets as pcapng on two interfaces with different links and clocks, among other blocks.
pub(crate) fn pcapng(big_endian: bool) -> Vec<u8> {
    let mut file = PcapNg::new(big_endian);
    file.block(0x0bad_beef, b"a block that nobody knows");
    file.interface(LinkType::ETHERNET, "eth0", None, 0);
    file.interface(LinkType::RAW, "tun0", Some(9), 0);
    for (i, (ns, ip)) in packets().into_iter().enumerate() {
        if i % 2 == 0 {
            let frame = tagged(&[(0x88a8, 7), (0x8100, 42)], &[], &ip);
            file.packet(0, ns / 1000, &frame, frame.len() as u32, 2);
        } else {
            file.packet(1, ns, &ip, ip.len() as u32, 1);
        }
        file.block(5, &[0; 12]);
    }
    let frame = arp();
    file.packet(0, 1_700_000_001_000_000, &frame, frame.len() as u32, 0);
    file.finish()
}

/// Everything in a capture, or the error.
pub(crate) fn read(
    bytes: &[u8],
) -> Result<(Vec<(i128, IpPacket)>, Counts), spillgate_capture::CaptureError> {
    let mut reader = Reader::new(bytes)?;
    let (mut all, mut counts) = (Vec::new(), Counts::default());
    while let Some(record) = reader.next()? {
        let decoded = decode(&record);
        counts.count(&record, &decoded);
        if let Decoded::Ip(p) = decoded {
            all.push((record.time.map_or(-1, |t| t.0), p));
        }
    }
    Ok((all, counts))
}

/// Decodes one packet.
pub(crate) fn one(link: LinkType, data: &[u8], wire_len: u32) -> Decoded {
    decode(&Record {
        time: None,
        interface: 0,
        link,
        wire_len,
        direction: None,
        data,
    })
}
