//! Whatever the bytes, reading ends with a result or a located error.

use crate::common;
use std::io::Read;

use crate::common::{LINKS, packets, pcap, pcapng};
use proptest::prelude::*;
use spillgate_capture::testkit::linked;
use spillgate_capture::{
    CaptureError, Fault, Grouping, LinkType, Reader, Selection, Survey, SurveyError, survey,
};
use spillgate_core::testkit::effort;

fn files() -> Vec<Vec<u8>> {
    let mut all = vec![pcapng(false), pcapng(true)];
    for link in LINKS {
        all.push(pcap(link, link.0 % 2 == 1, link.0 % 3 == 0));
    }
    all
}

fn check(error: &CaptureError, len: usize) {
    assert!(error.offset <= len as u64, "{error}");
    assert!(!error.message.is_empty() && !error.hint.is_empty() && !error.block.is_empty());
}

fn survey_of(bytes: &[u8]) -> Option<Survey> {
    match survey(bytes, &Selection::default(), Grouping::Flow, 1000) {
        Ok(s) => {
            assert_eq!(
                s.counts.records,
                s.counts.ip + s.counts.other.iter().sum::<u64>()
            );
            assert_eq!(s.packets, s.counts.ip);
            if let Some(e) = &s.cut_short {
                check(e, bytes.len());
                assert_eq!((e.fault, e.records), (Fault::CutShort, s.counts.records));
            }
            assert_eq!(s.file_len, bytes.len() as u64);
            Some(s)
        }
        Err(SurveyError::Capture(e)) => {
            check(&e, bytes.len());
            None
        }
        Err(e) => panic!("{e:?}"),
    }
}

/// A file that is cut anywhere behind its header gives the packets that are whole.
#[test]
fn every_truncation_keeps_what_is_whole() {
    for bytes in files() {
        let all = survey_of(&bytes).expect("a whole file").packets;
        let mut before = 0;
        for end in 0..bytes.len() {
            if let Some(s) = survey_of(&bytes[..end]) {
                assert!(s.packets >= before && s.packets <= all);
                before = s.packets;
            } else {
                assert!(end < 28, "a cut at {end} is no damage");
            }
        }
        assert!(before >= all - 1);
    }
}

#[test]
fn every_corruption_ends_well() {
    let mut refused = 0;
    for bytes in files() {
        let mut copy = bytes.clone();
        for i in 0..bytes.len().min(1200) {
            for flip in [0x01, 0x80, 0xff] {
                copy[i] ^= flip;
                refused += u32::from(survey_of(&copy).is_none());
                copy[i] = bytes[i];
            }
        }
    }
    assert!(refused > 100, "lengths and magics are checked: {refused}");
}

/// Reads of one byte at a time give what reads of any size give.
#[test]
fn short_reads_change_nothing() {
    struct Slow<'a>(&'a [u8]);
    impl Read for Slow<'_> {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let n = into.len().min(1);
            self.0.read(&mut into[..n])
        }
    }
    for bytes in files() {
        let fast = survey_of(&bytes).unwrap();
        let slow = survey(Slow(&bytes), &Selection::default(), Grouping::Flow, 1000).unwrap();
        assert_eq!(fast.counts, slow.counts);
        assert_eq!(fast.fingerprint, slow.fingerprint);
        assert_eq!(fast.flows.entries(), slow.flows.entries());
    }
}

#[test]
fn an_error_of_the_disk_is_told() {
    struct Broken(usize);
    impl Read for Broken {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            if self.0 == 0 {
                return Err(std::io::Error::other("input/output error"));
            }
            let head = pcap(LinkType::ETHERNET, false, false);
            let n = self.0.min(head.len()).min(into.len());
            into[..n].copy_from_slice(&head[..n]);
            self.0 = 0;
            Ok(n)
        }
    }
    let mut reader = Reader::new(Broken(40)).unwrap();
    let error = reader.next().expect_err("an error");
    assert_eq!(error.fault, Fault::Io);
    // It stays that way.
    assert_eq!(reader.next().err(), Some(error));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300 * effort()))]

    #[test]
    fn any_packet_decodes_without_a_panic(
        link in prop::sample::select(LINKS.to_vec()),
        noise in prop::collection::vec(any::<u8>(), 0..120),
        which in 0_usize..8,
        at in 0_usize..80,
        wire in any::<u16>(),
    ) {
        common::one(link, &noise, u32::from(wire));
        let mut data = linked(link, &packets()[which].1);
        for (i, b) in noise.iter().enumerate() {
            if let Some(place) = data.get_mut(at + i) {
                *place = *b;
            }
        }
        common::one(link, &data, u32::from(wire));
    }

    #[test]
    fn any_bytes_behind_a_header_end_well(
        ng in any::<bool>(),
        noise in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        let mut bytes = if ng { pcapng(false)[..28].to_vec() } else { pcap(LinkType::RAW, false, false)[..24].to_vec() };
        bytes.extend(noise);
        survey_of(&bytes);
    }
}

/// Chains of two IPv6 extension headers (RFC 8200 section 4), whole and cut anywhere, the second
/// longer than what there is.
#[test]
fn extension_headers_that_are_cut_end_well() {
    const KINDS: [u8; 8] = [0, 43, 44, 51, 60, 135, 139, 140];
    for first in KINDS {
        for second in KINDS {
            for (a, b) in [(0, 0), (0, 1), (1, 0), (2, 255), (255, 0)] {
                let mut data = vec![0x60, 0, 0, 0, 0, 64, first, 64];
                data.resize(40, 0);
                data.extend([second, a, 0, 9, 0, 0, 0, 0]);
                data.resize(40 + 8 * (usize::from(a.min(4)) + 1), 0);
                data.extend([17, b, 0, 8, 0, 0, 0, 0]);
                data.resize(104, 0);
                for len in 40..=data.len() {
                    common::one(LinkType::RAW, &data[..len], 200);
                }
            }
        }
    }
}
