//! Every format, link type and header by hand-made captures.

use crate::common::{LINKS, one, packets, pcap, pcapng, read};
use spillgate_capture::testkit::{
    Pcap, PcapNg, arp, checksum, ethernet, frame, ipv4, ipv6, linked, tagged, tcp4, udp4, udp6,
};
use spillgate_capture::{Decoded, Fault, LinkType, Other, Reader};
use spillgate_core::{Dscp, Ecn};

fn ip(link: LinkType, data: &[u8]) -> spillgate_capture::IpPacket {
    match one(link, data, data.len() as u32) {
        Decoded::Ip(p) => p,
        Decoded::Other(o) => panic!("{link}: {o:?}"),
    }
}

fn other(data: &[u8]) -> Other {
    match one(LinkType::ETHERNET, data, data.len() as u32) {
        Decoded::Other(o) => o,
        Decoded::Ip(p) => panic!("{p:?}"),
    }
}

#[test]
fn both_byte_orders_and_resolutions_of_pcap_give_the_same() {
    let expected: Vec<_> = packets();
    for link in LINKS {
        for (big_endian, nanoseconds) in
            [(false, false), (true, false), (false, true), (true, true)]
        {
            let (found, counts) = read(&pcap(link, big_endian, nanoseconds)).unwrap();
            assert_eq!(
                (counts.records, counts.ip, counts.ipv6, counts.cut),
                (8, 8, 2, 0),
                "{link}"
            );
            for ((at, p), (ns, packet)) in found.iter().zip(&expected) {
                assert_eq!(*at, i128::from(*ns) * 1000, "{link}");
                assert_eq!(usize::from(p.len), packet.len(), "{link}");
                assert!(!p.guessed_len && p.vlan.is_none());
            }
            assert_eq!(found[0].1.dscp, Dscp::EF);
            assert_eq!(
                found[1].1.key.to_string(),
                "tcp 10.1.0.2:49152 > 10.2.0.2:443"
            );
            assert_eq!(
                found[2].1.key.to_string(),
                "udp [2001:db8:1::1]:5004 > [2001:db8:2::1]:5004"
            );
            assert_eq!(found[2].1.dscp.to_string(), "af41");
        }
    }
}

#[test]
fn microseconds_lose_what_is_below_them() {
    let mut file = Pcap::default();
    file.record(1_234_567, &ethernet(&packets()[0].1));
    assert_eq!(read(&file.clone().finish()).unwrap().0[0].0, 1_234_000_000);
    file.nanoseconds = true;
    file.take_records();
    file.record(1_234_567, &ethernet(&packets()[0].1));
    assert_eq!(read(&file.finish()).unwrap().0[0].0, 1_234_567_000);
}

#[test]
fn pcapng_with_interfaces_sections_and_strange_blocks() {
    for big_endian in [false, true] {
        let (found, counts) = read(&pcapng(big_endian)).unwrap();
        assert_eq!((counts.records, counts.ip), (9, 8));
        assert_eq!(counts.others().collect::<Vec<_>>(), [("ARP", 1)]);
        for (i, ((at, p), (ns, packet))) in found.iter().zip(packets()).enumerate() {
            assert_eq!(*at, i128::from(ns) * 1000);
            assert_eq!(usize::from(p.len), packet.len());
            assert_eq!(p.vlan, (i % 2 == 0).then_some(7), "the outermost VLAN");
            assert_eq!(p.outgoing, Some(i % 2 == 0));
        }
    }
    // Two sections in different byte orders: interface 0 is another one in each.
    let mut file = PcapNg::new(true);
    file.interface(LinkType::RAW, "a", Some(6), 0);
    let raw = udp4("10.0.0.1:1", "10.0.0.2:2", 0, 10);
    file.packet(0, 5, &raw, 38, 0);
    file.section(false);
    file.interface(LinkType::ETHERNET, "b", Some(6), 0);
    let framed = ethernet(&raw);
    file.packet(0, 6, &framed, framed.len() as u32, 0);
    let (found, _) = read(&file.finish()).unwrap();
    assert_eq!(
        found.iter().map(|f| (f.0, f.1.len)).collect::<Vec<_>>(),
        [(5_000_000, 38), (6_000_000, 38)]
    );
}

/// Ticks in seconds by hand: 3 s and a half at each resolution, and an offset in seconds.
#[test]
fn resolutions_of_time() {
    let data = udp4("10.0.0.1:1", "10.0.0.2:2", 0, 10);
    for (resolution, ticks) in [
        (None, 3_500_000),
        (Some(6), 3_500_000),
        (Some(3), 3_500),
        (Some(9), 3_500_000_000),
        (Some(12), 3_500_000_000_000),
        (Some(15), 3_500_000_000_000_000),
        (Some(0x80 | 1), 7),
        (Some(0x80 | 20), 7 << 19),
        (Some(0x80 | 50), 7 << 49),
    ] {
        let mut file = PcapNg::new(false);
        file.interface(LinkType::RAW, "", resolution, 100);
        file.packet(0, ticks, &data, 38, 0);
        let (found, _) = read(&file.finish()).unwrap();
        assert_eq!(found[0].0, 103_500_000_000_000, "{resolution:?}");
    }
    let mut file = PcapNg::new(false);
    file.interface(LinkType::RAW, "", Some(0xff), 0);
    let error = read(&file.finish()).unwrap_err();
    assert_eq!((error.fault, error.offset), (Fault::Corrupt, 28));
}

#[test]
fn simple_packets_have_no_time_and_the_length_of_the_wire() {
    let mut file = PcapNg::new(false);
    file.interface(LinkType::RAW, "", None, 0);
    file.simple(&udp4("10.0.0.1:1", "10.0.0.2:2", 0, 11));
    let bytes = file.finish();
    let mut reader = Reader::new(&bytes[..]).unwrap();
    let record = reader.next().unwrap().unwrap();
    // 39 bytes, not the 40 that the block is filled up to.
    assert_eq!(
        (record.time, record.wire_len, record.data.len()),
        (None, 39, 39)
    );
}

#[test]
fn tags_and_labels_are_walked_through() {
    let packet = udp4("10.0.0.1:1", "10.0.0.2:2", 46, 100);
    let e = LinkType::ETHERNET;
    let qinq = ip(e, &tagged(&[(0x88a8, 100), (0x8100, 0xe00a)], &[], &packet));
    // The priority bits are no part of the VLAN.
    assert_eq!((qinq.vlan, qinq.len), (Some(100), 128));
    assert_eq!(
        ip(e, &tagged(&[(0x8100, 0xe00a)], &[], &packet)).vlan,
        Some(10)
    );
    let labeled = ip(e, &tagged(&[(0x8100, 5)], &[(16, 5), (17, 3)], &packet));
    assert_eq!((labeled.labels, labeled.tc, labeled.len), (2, 5, 128));
    let v6 = udp6("[::1]:1", "[::2]:2", 46, 100);
    assert_eq!(
        ip(e, &tagged(&[], &[(3, 1)], &v6)).key.src.to_string(),
        "::1"
    );
    // A pseudowire below the label begins with a control word.
    assert_eq!(other(&tagged(&[], &[(3, 1)], &[0; 40])), Other::Mpls);
    // PPPoE in a VLAN.
    let mut session = vec![0x11, 0, 0, 1, 0, 130, 0, 0x21];
    session.extend(&packet);
    assert_eq!(ip(e, &frame(0x8864, &session)).len, 128);
    assert_eq!(
        other(&frame(0x8863, &[0x11, 9, 0, 0, 0, 0])),
        Other::PppControl
    );
}

#[test]
fn lengths_come_from_the_ip_header_where_it_can_be_true() {
    // 28 bytes in a frame padded to 60: the padding does not count.
    let small = udp4("10.0.0.1:1", "10.0.0.2:2", 0, 0);
    let framed = ethernet(&small);
    assert_eq!(framed.len(), 60);
    assert_eq!(ip(LinkType::ETHERNET, &framed).len, 28);
    // Total length 0: a segment that the network card will cut.
    let mut offloaded = tcp4("10.0.0.1:1", "10.0.0.2:2", 0, 3000);
    offloaded[2..4].fill(0);
    checksum(&mut offloaded);
    let p = ip(LinkType::RAW, &offloaded);
    assert_eq!((p.len, p.guessed_len), (3040, true));
    // More than the wire had.
    let mut wrong = small.clone();
    wrong[2..4].copy_from_slice(&[0xff, 0xff]);
    let p = ip(LinkType::RAW, &wrong);
    assert_eq!((p.len, p.guessed_len), (28, true));
    // IPv6 with payload length 0 and a payload.
    let mut jumbo = udp6("[::1]:1", "[::2]:2", 0, 500);
    jumbo[4..6].fill(0);
    assert_eq!(ip(LinkType::RAW, &jumbo).len, 548);
    // Nothing but a header is fine.
    assert_eq!(ip(LinkType::RAW, &ipv6("::1", "::2", 0, 59, &[])).len, 40);
}

#[test]
fn what_is_cut_is_known_from_its_record() {
    let packet = ethernet(&udp4("10.0.0.1:1000", "10.0.0.2:2000", 46, 1000));
    let seen = |n: usize| one(LinkType::ETHERNET, &packet[..n], packet.len() as u32);
    for n in 0..34 {
        assert_eq!(seen(n), Decoded::Other(Other::CutShort), "{n}");
    }
    for n in 34..38 {
        let Decoded::Ip(p) = seen(n) else {
            panic!("{n}")
        };
        assert_eq!((p.len, p.ports_cut, p.key.dport), (1028, true, 0));
    }
    let Decoded::Ip(p) = seen(38) else { panic!() };
    assert_eq!((p.len, p.ports_cut, p.key.dport), (1028, false, 2000));
    let mut file = Pcap::default();
    file.snaplen = 64;
    file.record(0, &packet);
    let (found, counts) = read(&file.finish()).unwrap();
    assert_eq!((found[0].1.len, counts.cut, counts.ports_cut), (1028, 1, 0));
}

#[test]
fn fragments_have_ports_only_at_their_head() {
    let fragment = |flags: u16| {
        let mut p = udp4("10.0.0.1:1000", "10.0.0.2:2000", 0, 1000);
        p[6..8].copy_from_slice(&flags.to_be_bytes());
        ip(LinkType::RAW, &p)
    };
    let (whole, first, later) = (fragment(0x4000), fragment(0x2000), fragment(0x0080));
    assert_eq!((whole.fragment, whole.key.sport), (false, 1000));
    assert_eq!((first.fragment, first.key.sport), (true, 1000));
    assert_eq!(
        (later.fragment, later.key.sport, later.ports_cut),
        (true, 0, false)
    );
    // IPv6: hop-by-hop options, then a fragment header, then UDP.
    let v6 = |offset: u16| {
        let mut body = vec![44, 0, 1, 4, 0, 0, 0, 0];
        body.extend([17, 0]);
        body.extend((offset << 3).to_be_bytes());
        body.extend([0, 0, 0, 9, 0x03, 0xe8, 0x07, 0xd0, 0, 20, 0, 0]);
        body.resize(body.len() + 12, 0);
        ip(LinkType::RAW, &ipv6("::1", "::2", 8, 0, &body))
    };
    let (first, later) = (v6(0), v6(1));
    assert_eq!(
        (first.key.protocol, first.key.sport, first.key.dport),
        (17, 1000, 2000)
    );
    assert_eq!(
        (first.fragment, first.len, first.dscp.to_string()),
        (true, 76, "cs1".to_owned())
    );
    assert_eq!((later.key.protocol, later.key.sport), (17, 0));
}

#[test]
fn what_is_not_ip_is_counted_by_kind() {
    assert_eq!(other(&arp()), Other::Arp);
    assert_eq!(other(&frame(0x88cc, &[0; 46])), Other::Lldp);
    assert_eq!(other(&frame(0x0026, &[0x42, 0x42, 3])), Other::Llc);
    assert_eq!(other(&frame(0x88f7, &[0; 46])), Other::Unrecognized);
    assert_eq!(other(&frame(0x0800, &[0x50; 46])), Other::BadIp);
    assert_eq!(other(&frame(0x0800, &[0x42; 46])), Other::BadIp);
    let unknown = one(LinkType(105), &[0; 60], 60);
    assert_eq!(unknown, Decoded::Other(Other::UnknownLink));
    assert_eq!(
        one(LinkType::PPP, &[0xc0, 0x21, 1], 3),
        Decoded::Other(Other::PppControl)
    );
    // Compressed protocol field.
    let mut ppp = vec![0x21];
    ppp.extend(udp4("10.0.0.1:1", "10.0.0.2:2", 0, 0));
    assert_eq!(ip(LinkType::PPP, &ppp).len, 28);
}

#[test]
fn ecn_and_dscp_are_apart() {
    for (bits, ecn) in [
        (0, Ecn::NotEct),
        (1, Ecn::Ect1),
        (2, Ecn::Ect0),
        (3, Ecn::Ce),
    ] {
        let mut p = ipv4("10.0.0.1", "10.0.0.2", 46, 1, &[0; 8]);
        p[1] |= bits;
        let v4 = ip(LinkType::RAW, &p);
        let mut p = ipv6("::1", "::2", 46, 58, &[0; 8]);
        p[1] |= bits << 4;
        let v6 = ip(LinkType::RAW, &p);
        assert_eq!(
            (v4.ecn, v4.dscp, v6.ecn, v6.dscp),
            (ecn, Dscp::EF, ecn, Dscp::EF)
        );
    }
}

#[test]
fn what_is_no_capture_says_what_it_is() {
    let fault = |bytes: &[u8]| Reader::new(bytes).err().expect("an error");
    assert_eq!(fault(&[]).fault, Fault::Empty);
    let gzip = fault(&[0x1f, 0x8b, 8, 0, 0, 0]);
    assert_eq!(gzip.fault, Fault::Compressed);
    assert!(gzip.message.contains("gzip"), "{gzip}");
    assert_eq!(fault(b"hostname ce1\n").fault, Fault::Unknown);
    assert_eq!(fault(&[0xd4, 0xc3]).fault, Fault::CutShort);
    let mut old = Pcap::default().finish();
    old[4] = 9;
    assert_eq!(fault(&old).fault, Fault::Unknown);
    // A capture without packets is one.
    assert_eq!(read(&Pcap::default().finish()).unwrap().1.records, 0);
}

#[test]
fn damage_is_located() {
    let mut bytes = pcap(LinkType::ETHERNET, false, false);
    // The second record begins behind the header and a frame of 214 bytes.
    let at = 24 + 16 + 214;
    bytes[at + 11] = 0x7f;
    let error = read(&bytes).unwrap_err();
    assert_eq!(
        (error.fault, error.offset, error.records),
        (Fault::Corrupt, at as u64, 1)
    );
    assert!(
        error
            .to_string()
            .starts_with("byte 254, packet record: it says"),
        "{error}"
    );
    let mut bytes = pcap(LinkType::ETHERNET, false, false);
    bytes[24 + 6] = 0xff;
    assert!(
        read(&bytes)
            .unwrap_err()
            .message
            .contains("parts of a second")
    );
    let mut bytes = pcapng(true);
    let last = bytes.len() - 1;
    bytes[last] ^= 4;
    let error = read(&bytes).unwrap_err();
    assert_eq!((error.block, error.records), ("enhanced packet block", 8));
    // A packet of an interface that is not described.
    let mut file = PcapNg::new(false);
    file.packet(3, 0, &[0; 60], 60, 0);
    let error = read(&file.finish()).unwrap_err();
    assert!(error.message.contains("interface 3"), "{error}");
}

/// Framing against pcap-parser, which shares no code with the reader.
#[test]
fn pcap_parser_sees_the_same_records() {
    let mut files: Vec<Vec<u8>> = vec![pcapng(false), pcapng(true)];
    for (big_endian, nanoseconds) in [(false, false), (true, true)] {
        files.push(pcap(LinkType::ETHERNET, big_endian, nanoseconds));
    }
    for bytes in files {
        let mut theirs = Vec::new();
        let mut reader = pcap_parser::create_reader(65_536, &bytes[..]).expect("a capture");
        loop {
            use pcap_parser::{Block, PcapBlockOwned, PcapError};
            match reader.next() {
                Ok((n, block)) => {
                    match block {
                        PcapBlockOwned::Legacy(b) => theirs.push((b.origlen, b.data.to_vec())),
                        PcapBlockOwned::NG(Block::EnhancedPacket(b)) => {
                            theirs.push((b.origlen, b.data[..b.caplen as usize].to_vec()));
                        }
                        _ => {}
                    }
                    reader.consume(n);
                }
                Err(PcapError::Eof) => break,
                Err(PcapError::Incomplete(_)) => reader.refill().expect("more"),
                Err(e) => panic!("{e:?}"),
            }
        }
        let mut ours = Vec::new();
        let mut reader = Reader::new(&bytes[..]).unwrap();
        while let Some(r) = reader.next().unwrap() {
            ours.push((r.wire_len, r.data.to_vec()));
        }
        assert!(ours == theirs && ours.len() >= 8);
    }
}

#[test]
fn the_link_of_every_type_is_left_behind() {
    for link in LINKS {
        for (_, packet) in packets() {
            assert_eq!(
                usize::from(ip(link, &linked(link, &packet)).len),
                packet.len(),
                "{link}"
            );
        }
    }
}
