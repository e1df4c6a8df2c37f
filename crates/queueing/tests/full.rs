//! What a full FIFO drops: itself in plain words, and chance.

use crate::common::build;
use spillgate_core::{Drops, Packet, Rng, Time};

/// A FIFO in plain words: numbers and lengths of packets in a list.
struct Plain {
    full: &'static str,
    packets: usize,
    bytes: u64,
    queue: Vec<(u32, u64)>,
}

impl Plain {
    fn fits(&self, len: u64) -> bool {
        let held: u64 = self.queue.iter().map(|(_, len)| len).sum();
        self.queue.len() < self.packets && held + len <= self.bytes
    }

    /// What is dropped, in order, as packet `seq` of `len` bytes arrives.
    fn offer(&mut self, seq: u32, len: u64, rng: &mut Rng) -> Vec<u32> {
        let mut dropped = Vec::new();
        if len > self.bytes || (self.full == "tail" && !self.fits(len)) {
            return vec![seq];
        }
        while !self.fits(len) {
            let at = match self.full {
                "front" => 0,
                _ => rng.below(self.queue.len() as u32) as usize,
            };
            dropped.push(self.queue.remove(at).0);
        }
        self.queue.push((seq, len));
        dropped
    }
}

/// Random packets and departures, limits in packets and in bytes; the same random numbers.
#[test]
fn it_is_what_it_is_in_plain_words() {
    let mut rng = Rng::from_key(4);
    for round in 0..300 {
        let full = ["tail", "front", "random"][rng.below(3) as usize];
        let (limit, packets, bytes) = match rng.below(2) {
            0 => {
                let n = 1 + rng.below(8);
                (format!("{n} packets"), n as usize, u64::MAX)
            }
            _ => {
                let n = 500 + u64::from(rng.below(3000));
                (format!("{n} B"), usize::MAX, n)
            }
        };
        let json = format!(r#"{{"main": {{"fifo": {{"limit": "{limit}", "full": "{full}"}}}}}}"#);
        let mut fifo = build(&json, 1_000_000);
        let mut plain = Plain {
            full,
            packets,
            bytes,
            queue: Vec::new(),
        };
        let key = u64::from(rng.below(1000));
        let (mut ours, mut theirs) = (Rng::from_key(key), Rng::from_key(key));
        for seq in 0..200 {
            let now = Time::from_secs_f64(f64::from(seq));
            let mut drops = Drops::new();
            if rng.below(3) == 0 {
                let sent = fifo.dequeue(now, &mut ours, &mut drops).map(|p| p.seq);
                let expected = (!plain.queue.is_empty()).then(|| plain.queue.remove(0).0);
                assert_eq!(sent, expected, "{round} {json}");
            }
            let len = 40 + rng.below(1460);
            let packet = Packet::new(0, seq, len as u16);
            fifo.enqueue(now, packet, &mut ours, &mut drops);
            let dropped: Vec<_> = drops.as_slice().iter().map(|d| d.packet.seq).collect();
            let expected = plain.offer(seq, len.into(), &mut theirs);
            assert_eq!(dropped, expected, "{round} {json}");
            assert_eq!(fifo.backlog_packets() as usize, plain.queue.len());
        }
    }
}

/// Each of ten waiting packets makes room as often: of 20,000 one is dropped 2000 times with a
/// deviation of sqrt(20,000 * 0.1 * 0.9) = 42, and ten are within five of them all but once in
/// 170,000 times.
#[test]
fn each_waiting_packet_is_as_likely() {
    let json = r#"{"main": {"fifo": {"limit": "10 packets", "full": "random"}}}"#;
    let mut lost = [0_i32; 10];
    let mut rng = Rng::from_key(1);
    for _ in 0..20_000 {
        let mut fifo = build(json, 1_000_000);
        let mut drops = Drops::new();
        for seq in 0..11 {
            fifo.enqueue(Time::ZERO, Packet::new(0, seq, 100), &mut rng, &mut drops);
        }
        lost[drops.as_slice()[0].packet.seq as usize] += 1;
    }
    assert!(lost.iter().all(|n| (n - 2000).abs() < 5 * 42), "{lost:?}");
}
