//! A link of 100 Mb/s behind a fair queue, in whole nanoseconds: 80 per byte.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use spillgate_core::Packet;

use crate::fan::scheduler::{FairScheduler, FanClass};

pub(super) const CAPACITY: f64 = 100e6;
const NS_PER_BYTE: u64 = 80;
pub(super) const SECOND: u64 = 1_000_000_000;

/// Who sends; its flow is its place in the list.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    /// Packets of `len` bytes at `rate` bit/s from `start` ns on.
    Constant { len: u16, rate: f64, start: u64 },
    /// Keeps `window` packets waiting from `start` ns on; of the two lengths in turn.
    Greedy {
        len: (u16, u16),
        window: u32,
        start: u64,
    },
}

impl Source {
    pub(super) fn constant(len: u16, rate: f64) -> Self {
        Self::Constant {
            len,
            rate,
            start: 0,
        }
    }

    pub(super) fn greedy(len: u16) -> Self {
        Self::Greedy {
            len: (len, len),
            window: 5,
            start: 0,
        }
    }

    fn start(&self) -> u64 {
        match *self {
            Self::Constant { start, .. } | Self::Greedy { start, .. } => start,
        }
    }
}

/// What a flow got, since the last [`Link::reset`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Served {
    pub(super) bytes: u64,
    pub(super) priority: u64,
    pub(super) backlog: u64,
    pub(super) dropped: u64,
    /// Longest time from arrival to the end of the transmission in ns.
    pub(super) delay: u64,
}

impl Served {
    /// The share of priority packets among those queued.
    pub(super) fn priority_share(&self) -> f64 {
        self.priority as f64 / (self.priority + self.backlog) as f64
    }
}

pub(super) struct Link<Q> {
    pub(super) queue: Q,
    sources: Vec<Source>,
    /// Emissions to come: time, flow, number.
    next: BinaryHeap<Reverse<(u64, u32, u32)>>,
    seqs: Vec<u32>,
    pub(super) flows: Vec<Served>,
    /// Every departure: flow, length.
    pub(super) departures: Vec<(u32, u32)>,
    /// How the packets that wait were queued.
    waiting: BTreeMap<(u32, u32), FanClass>,
    now: u64,
    /// The packet on the wire and the end of its transmission.
    wire: Option<(u64, Packet)>,
    since: u64,
}

impl<Q: FairScheduler> Link<Q> {
    pub(super) fn new(queue: Q, sources: Vec<Source>) -> Self {
        let next = (0_u32..).zip(&sources);
        let next = next
            .map(|(flow, s)| Reverse((s.start(), flow, 0)))
            .collect();
        Self {
            queue,
            next,
            seqs: vec![0; sources.len()],
            flows: vec![Served::default(); sources.len()],
            departures: Vec::new(),
            waiting: BTreeMap::new(),
            sources,
            now: 0,
            wire: None,
            since: 0,
        }
    }

    /// Counts from now on.
    pub(super) fn reset(&mut self) {
        self.flows.fill(Served::default());
        self.departures.clear();
        self.since = self.now;
    }

    /// What a flow got in bit/s.
    pub(super) fn rate(&self, flow: usize) -> f64 {
        8.0 * self.flows[flow].bytes as f64 / ((self.now - self.since) as f64 / SECOND as f64)
    }

    /// Lets the link work until `end` ns.
    pub(super) fn run(&mut self, end: u64) {
        loop {
            let arrival = self.next.peek().map_or(u64::MAX, |Reverse((at, ..))| *at);
            let departure = self.wire.map_or(u64::MAX, |(at, _)| at);
            if arrival.min(departure) > end {
                break;
            }
            if departure <= arrival {
                self.now = departure;
                if let Some((_, packet)) = self.wire.take() {
                    self.ended(packet);
                }
                self.send();
            } else if let Some(Reverse((at, flow, number))) = self.next.pop() {
                self.now = at;
                self.emit(flow, number);
                if self.wire.is_none() {
                    self.send();
                }
            }
        }
        self.now = end;
    }

    fn ended(&mut self, packet: Packet) {
        let flow = packet.flow;
        let served = &mut self.flows[flow as usize];
        served.bytes += u64::from(packet.len);
        served.delay = served.delay.max(self.now - packet.handle);
        self.departures.push((flow, packet.len));
        if let Source::Greedy { .. } = self.sources[flow as usize] {
            self.next.push(Reverse((self.now, flow, 0)));
        }
    }

    fn emit(&mut self, flow: u32, number: u32) {
        match self.sources[flow as usize] {
            Source::Constant { len, rate, start } => {
                self.offer(flow, len);
                let gap = 8.0 * f64::from(len) / rate * SECOND as f64;
                let at = start + (gap * f64::from(number + 1)).round() as u64;
                self.next.push(Reverse((at, flow, number + 1)));
            }
            Source::Greedy { len, window, .. } => {
                // The first emission fills the window, each departure replaces a packet.
                let packets = if self.seqs[flow as usize] == 0 {
                    window
                } else {
                    1
                };
                for _ in 0..packets {
                    let odd = self.seqs[flow as usize] % 2 == 1;
                    self.offer(flow, if odd { len.1 } else { len.0 });
                }
            }
        }
    }

    fn offer(&mut self, flow: u32, len: u16) {
        let seq = self.seqs[flow as usize];
        self.seqs[flow as usize] += 1;
        let mut packet = Packet::new(flow, seq, len);
        packet.handle = self.now;
        let (waiting, flows) = (&mut self.waiting, &mut self.flows);
        let class = self.queue.offer(packet, &mut |victim: Packet| {
            let class = waiting.remove(&(victim.flow, victim.seq));
            assert_eq!(
                class,
                Some(FanClass::Backlog),
                "S17: a priority packet is pushed out"
            );
            flows[victim.flow as usize].dropped += 1;
        });
        let served = &mut self.flows[flow as usize];
        match class {
            Some(FanClass::Priority) => served.priority += 1,
            Some(FanClass::Backlog) => served.backlog += 1,
            None => {
                served.dropped += 1;
                assert!(
                    self.waiting.values().all(|c| *c == FanClass::Priority),
                    "S17: refused while something could be pushed out"
                );
            }
        }
        if let Some(class) = class {
            self.waiting.insert((flow, seq), class);
        }
    }

    fn send(&mut self) {
        let fair = self.queue.totals().fair_bytes;
        let packet = self.queue.pop();
        // S1: work is conserved; S3: so are packets.
        assert_eq!(packet.is_none(), self.waiting.is_empty());
        match packet {
            Some(packet) => {
                let key = (packet.flow, packet.seq);
                assert!(self.waiting.remove(&key).is_some(), "sent twice");
                // S2: nothing of the flow that came before is left behind.
                let before = self.waiting.range((packet.flow, 0)..key).next();
                assert_eq!(before, None, "a flow's packets change places");
                let end = self.now + NS_PER_BYTE * u64::from(packet.len);
                self.wire = Some((end, packet));
            }
            None => {
                self.queue.idle();
                // S4: nobody is remembered.
                assert!((0..self.flows.len()).all(|f| !self.queue.is_backlogged(f as u32)));
            }
        }
        assert!(self.queue.totals().fair_bytes >= fair, "S4: v goes back");
        assert_eq!(self.queue.totals().packets as usize, self.waiting.len());
    }
}
