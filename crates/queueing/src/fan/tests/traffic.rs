//! Sources for a link: streams of a constant rate, and flows that always have something to send.

use spillgate_core::{Dur, Packet, Rate, Time};

use super::link::Link;
use crate::spec::FanSpec;

/// Who sends; its flow is its place in the list.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// Packets of `len` bytes every `every`, from `start` until `stop`. It does not care for
    /// losses.
    Stream {
        len: u16,
        every: Dur,
        start: Time,
        stop: Time,
    },
    /// Keeps `window` packets of `len` bytes waiting, from `start` until `stop` or until `volume`
    /// bytes have left. What is lost is sent again after `retry`.
    Greedy {
        len: u16,
        window: u32,
        start: Time,
        stop: Time,
        volume: u64,
        retry: Dur,
    },
}

pub(super) const fn ms(n: u64) -> Time {
    Time::from_ps(n * 1_000_000_000)
}

/// `n` streams of `len`-byte packets, `total` b/s together, evenly interleaved.
pub(super) fn streams(n: u64, len: u16, total: u64) -> Vec<Source> {
    let every = Dur::from_ps(u64::from(len) * 8 * 1_000_000_000_000 * n / total);
    let stream = |i: u64| Source::Stream {
        len,
        every,
        start: Time::from_ps(every.as_ps() / n * i),
        stop: Time::MAX,
    };
    (0..n).map(stream).collect()
}

/// `n` greedy flows with packets of 1000 B that begin one after the other within 10 ms.
pub(super) fn greedy(n: u64) -> Vec<Source> {
    let flow = |i: u64| Source::Greedy {
        len: 1000,
        window: 5,
        start: Time::from_ps(10_000_000_000 / n * i),
        stop: Time::MAX,
        volume: u64::MAX,
        retry: Dur::from_ms(100),
    };
    (0..n).map(flow).collect()
}

/// A link and what is sent over it.
pub(super) struct Network {
    pub(super) link: Link,
    sources: Vec<Source>,
    /// Emissions to come, by time and flow.
    due: std::collections::BTreeSet<(Time, u64, u32)>,
    seq: u32,
    sent: Vec<u64>,
    seen: usize,
}

impl Network {
    pub(super) fn new(spec: &FanSpec, rate: Rate, sources: Vec<Source>) -> Self {
        let mut network = Self {
            link: Link::new(spec, rate),
            sent: vec![0; sources.len()],
            due: std::collections::BTreeSet::new(),
            seq: 0,
            seen: 0,
            sources,
        };
        for flow in 0..network.sources.len() as u32 {
            match network.sources[flow as usize] {
                Source::Stream { start, .. } => network.schedule(start, flow, 1),
                Source::Greedy { start, window, .. } => network.schedule(start, flow, window),
            }
        }
        network
    }

    fn schedule(&mut self, at: Time, flow: u32, packets: u32) {
        for _ in 0..packets {
            self.seq += 1;
            self.due.insert((at, u64::from(self.seq), flow));
        }
    }

    /// Packets that the greedy flows must send again, and those that may follow.
    fn react(&mut self) {
        while let Some(&(at, flow, _, how)) = self.link.ledger.get(self.seen) {
            self.seen += 1;
            let Some(&Source::Greedy {
                len, volume, retry, ..
            }) = self.sources.get(flow as usize)
            else {
                continue;
            };
            if how == "sent" {
                self.sent[flow as usize] += u64::from(len);
                if self.sent[flow as usize] < volume {
                    self.schedule(at, flow, 1);
                }
            } else {
                self.schedule(at + retry, flow, 1);
            }
        }
    }

    /// Everything until `now`, this instant included.
    pub(super) fn run_to(&mut self, now: Time) {
        loop {
            let emission = self.due.first().map_or(Time::MAX, |d| d.0);
            match self.link.next_end() {
                Some(end) if end <= emission && end <= now => {
                    self.link.run_to(end);
                    self.react();
                }
                _ if emission <= now => self.emit(),
                _ => break,
            }
        }
    }

    fn emit(&mut self) {
        let Some((now, _, flow)) = self.due.pop_first() else {
            return;
        };
        let len = match self.sources[flow as usize] {
            Source::Stream {
                len, every, stop, ..
            } => {
                if now >= stop {
                    return;
                }
                self.schedule(now + every, flow, 1);
                len
            }
            Source::Greedy {
                len, stop, volume, ..
            } => {
                if now >= stop || self.sent[flow as usize] >= volume {
                    return;
                }
                len
            }
        };
        let seq = self.seq;
        self.link.arrive(now, Packet::new(flow, seq, len));
        self.react();
    }

    /// Bytes that greedy flows have sent.
    pub(super) fn sent(&self, flow: u32) -> u64 {
        self.sent[flow as usize]
    }
}
