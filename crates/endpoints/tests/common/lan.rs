//! Several connections over one bottleneck, set up as the recorded kernel was: 10 ms from each end
//! to the router, a token bucket there, and a queue under it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::early::Early;
use spillgate_core::{Drops, Dur, Ecn, Packet, Rate, Rng, Time};
use spillgate_endpoints::tcp::{Receiver, Segment, Sender, TcpConfig};
use spillgate_queueing::spec::DisciplineSpec;
use spillgate_queueing::{Discipline, Recipe};

/// What waits at the bottleneck.
pub(crate) enum Queue {
    Product(Box<Discipline>),
    Early(Early),
}

impl Queue {
    fn enqueue(&mut self, now: Time, p: Packet, rng: &mut Rng, lost: &mut Vec<u64>) {
        match self {
            Self::Product(d) => {
                let mut drops = Drops::new();
                d.enqueue(now, p, rng, &mut drops);
                lost.extend(drops.as_slice().iter().map(|d| d.packet.handle));
            }
            Self::Early(e) => {
                if !e.enqueue(now, p, rng) {
                    lost.push(p.handle);
                }
            }
        }
    }

    fn dequeue(&mut self, now: Time, rng: &mut Rng, lost: &mut Vec<u64>) -> Option<Packet> {
        match self {
            Self::Product(d) => {
                let mut drops = Drops::new();
                let p = d.dequeue(now, rng, &mut drops);
                lost.extend(drops.as_slice().iter().map(|d| d.packet.handle));
                p
            }
            Self::Early(e) => e.dequeue(now),
        }
    }

    fn len(&self) -> u32 {
        match self {
            Self::Product(d) => d.backlog_packets(),
            Self::Early(e) => e.waiting.len() as u32,
        }
    }
}

enum Event {
    Arrive(usize, Segment),
    Deliver(usize, Segment, Ecn),
    Ack(usize, Segment),
}

pub(crate) struct Lan {
    now: Time,
    ends: Vec<(Sender, Receiver)>,
    events: BTreeMap<(Time, u64), Event>,
    n: u64,
    cfg: Arc<TcpConfig>,
    queue: Queue,
    segments: BTreeMap<u64, Segment>,
    rng: Rng,
    tokens: i64,
    charged: Time,
    pub(crate) drops: u64,
    pub(crate) marks: u64,
    samples: (u64, u64),
    next_sample: Time,
}

const DELAY: Dur = Dur::from_ms(10);
/// Picoseconds for a byte at 10 Mb/s.
const BYTE: i64 = 800_000;
const BURST: i64 = 1600 * BYTE;
const FRAME: u16 = 14;

pub(crate) fn discipline(json: &str) -> Queue {
    let policies: BTreeMap<String, DisciplineSpec> =
        serde_json::from_str(&format!(r#"{{"main": {json}}}"#)).unwrap();
    let rate = Rate::from_bps(10_000_000).unwrap();
    Queue::Product(Box::new(
        Recipe::resolve("main", &policies, rate)
            .unwrap()
            .0
            .build(&Arc::from([])),
    ))
}

impl Lan {
    /// Connections open one after another and begin to send at random within 10 ms, as those of
    /// iperf3 about do.
    pub(crate) fn new(cfg: &Arc<TcpConfig>, flows: usize, queue: Queue, seed: u64) -> Self {
        let at = |i: usize| Time::ZERO + Dur::from_ms(20 * i as u64);
        Self {
            now: Time::ZERO,
            ends: (0..flows)
                .map(|i| (Sender::new(cfg, at(i)), Receiver::new(cfg)))
                .collect(),
            events: BTreeMap::new(),
            n: 0,
            cfg: Arc::clone(cfg),
            queue,
            segments: BTreeMap::new(),
            rng: Rng::from_key(seed),
            tokens: BURST,
            charged: Time::ZERO,
            drops: 0,
            marks: 0,
            samples: (0, 0),
            next_sample: START + Dur::from_secs(5),
        }
    }

    fn at(&mut self, at: Time, e: Event) {
        self.n += 1;
        self.events.insert((at, self.n), e);
    }

    fn drain(&mut self, i: usize) {
        while let Some(seg) = self.ends[i].0.poll_transmit(self.now) {
            self.at(self.now + DELAY, Event::Arrive(i, seg));
        }
        while let Some(seg) = self.ends[i].1.poll_transmit(self.now) {
            self.at(self.now + DELAY, Event::Ack(i, seg));
        }
    }

    fn level(&self) -> i64 {
        (self.tokens + (self.now.since(self.charged)).as_ps() as i64).min(BURST)
    }

    /// HTB sends while its tokens are not negative.
    fn serve(&mut self) {
        let mut lost = vec![];
        while self.level() >= 0 {
            let Some(p) = self.queue.dequeue(self.now, &mut self.rng, &mut lost) else {
                break;
            };
            self.tokens = self.level() - i64::from(p.len) * BYTE;
            self.charged = self.now;
            let seg = self.segments.remove(&p.handle).unwrap();
            self.marks += u64::from(p.ecn == Ecn::Ce && seg.ect != Ecn::Ce);
            self.at(self.now, Event::Deliver(p.flow as usize, seg, p.ecn));
        }
        self.lose(&lost);
    }

    fn lose(&mut self, lost: &[u64]) {
        for handle in lost {
            self.drops += 1;
            self.segments.remove(handle);
        }
    }

    fn arrive(&mut self, i: usize, seg: Segment) {
        self.n += 1;
        let len = seg.wire_len(&self.cfg);
        let p = Packet {
            handle: self.n,
            ecn: seg.ect,
            hash: 0x9E37_79B9_u32.wrapping_mul(i as u32 + 1),
            arrived: self.now,
            len: u32::from(len + FRAME),
            ..Packet::new(i as u32, 0, len)
        };
        self.segments.insert(self.n, seg);
        let mut lost = vec![];
        self.queue.enqueue(self.now, p, &mut self.rng, &mut lost);
        self.lose(&lost);
        self.serve();
    }

    fn next(&self) -> Time {
        let mut t = self.next_sample;
        if let Some((k, _)) = self.events.first_key_value() {
            t = t.min(k.0);
        }
        if self.queue.len() > 0 && self.level() < 0 {
            t = t.min(self.charged + Dur::from_ps((-self.tokens) as u64));
        }
        for (tx, rx) in &self.ends {
            t = [tx.poll_timeout(), rx.poll_timeout()]
                .into_iter()
                .flatten()
                .fold(t, Time::min);
        }
        t
    }

    pub(crate) fn run(&mut self) {
        let mut started = 0;
        let after = |rng: &mut Rng| START + Dur::from_us(rng.below(SPREAD).into());
        let mut starts: Vec<Time> = self.ends.iter().map(|_| after(&mut self.rng)).collect();
        starts.sort();
        loop {
            let t = self.next();
            if started < starts.len() && t >= starts[started] {
                self.now = starts[started];
                self.ends[started].0.write(self.now, u64::MAX);
                self.drain(started);
                started += 1;
                continue;
            }
            if t > START + Dur::from_secs(30) {
                return;
            }
            self.now = t;
            while let Some(e) = self.events.first_entry().filter(|e| e.key().0 <= t) {
                match e.remove() {
                    Event::Arrive(i, seg) => self.arrive(i, seg),
                    Event::Deliver(i, seg, ecn) => {
                        self.ends[i].1.handle_segment(t, &seg, ecn);
                        self.drain(i);
                    }
                    Event::Ack(i, seg) => {
                        self.ends[i].0.handle_segment(t, &seg, Ecn::NotEct);
                        self.drain(i);
                    }
                }
            }
            for i in 0..self.ends.len() {
                if self.ends[i].0.poll_timeout().is_some_and(|d| d <= t) {
                    self.ends[i].0.handle_timeout(t);
                }
                if self.ends[i].1.poll_timeout().is_some_and(|d| d <= t) {
                    self.ends[i].1.handle_timeout(t);
                }
                self.drain(i);
            }
            self.serve();
            if t >= self.next_sample {
                self.samples.0 += u64::from(self.queue.len());
                self.samples.1 += 1;
                self.next_sample = t + Dur::from_ms(1);
            }
        }
    }

    pub(crate) fn mean_queue(&self) -> f64 {
        self.samples.0 as f64 / self.samples.1 as f64
    }

    pub(crate) fn goodput(&self) -> f64 {
        self.ends
            .iter()
            .map(|e| e.1.delivered_bytes() as f64 * 8.0 / 30e6)
            .sum()
    }
}

/// Microseconds within which all connections begin to send.
const SPREAD: u32 = 10_000;
/// When data begin to flow.
const START: Time = Time::from_ps(500_000_000_000);
