//! CAKE beside a second one in plain words, and what it promises: rates, shares, thresholds.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::cake_acks::{acks, goes};
use crate::common::{policies, rate};
use proptest::prelude::*;
use spillgate_core::rng::mix;
use spillgate_core::testkit::effort;
use spillgate_core::{
    Acknowledgment, Dropped, Drops, Dscp, Ecn, FlowKey, Overhead, Packet, Rng, Time,
};
use spillgate_queueing::spec::{CakeIsolation, CakeTins};
use spillgate_queueing::{Discipline, Recipe};

const LINE: u64 = 1_000_000_000;

/// Flow `i`: from one of three hosts to one of two.
pub(crate) fn keys(n: u16) -> Arc<[FlowKey]> {
    let key = |i: u16| FlowKey {
        src: [10, 0, 0, (i % 3) as u8].into(),
        dst: [10, 0, 1, (i % 2) as u8].into(),
        protocol: 17,
        sport: i,
        dport: 80,
    };
    (0..n).map(key).collect()
}

pub(crate) fn cake(words: &str, flows: &Arc<[FlowKey]>) -> Discipline {
    let json = format!(r#"{{"main": {{"cake": {{{words}}}}}}}"#);
    let (recipe, _) = Recipe::resolve("main", &policies(&json), rate(LINE)).unwrap();
    recipe.build(flows)
}

pub(crate) fn packet(
    flows: &[FlowKey],
    flow: u32,
    seq: u32,
    len: u16,
    dscp: u8,
    ecn: Ecn,
) -> Packet {
    Packet {
        hash: flows[flow as usize].hash(),
        dscp: Dscp::new(dscp).unwrap(),
        ecn,
        ..Packet::new(flow, seq, len)
    }
}

const TINS: [(&str, CakeTins); 5] = [
    ("besteffort", CakeTins::Besteffort),
    ("precedence", CakeTins::Precedence),
    ("diffserv3", CakeTins::Diffserv3),
    ("diffserv4", CakeTins::Diffserv4),
    ("diffserv8", CakeTins::Diffserv8),
];

const ISOLATIONS: [CakeIsolation; 8] = [
    CakeIsolation::Flowblind,
    CakeIsolation::Srchost,
    CakeIsolation::Dsthost,
    CakeIsolation::Hosts,
    CakeIsolation::Flows,
    CakeIsolation::DualSrchost,
    CakeIsolation::DualDsthost,
    CakeIsolation::TripleIsolate,
];

#[derive(Clone, Debug)]
struct Settings {
    bps: Option<u64>,
    tins: usize,
    isolation: usize,
    rtt_us: u64,
    ingress: bool,
    acks: usize,
    memory: u64,
    overhead: i16,
}

impl Settings {
    fn words(&self) -> String {
        let bandwidth = self
            .bps
            .map_or_else(String::new, |b| format!(r#""bandwidth": "{b} b/s", "#));
        format!(
            r#"{bandwidth}"tins": "{}", "isolation": "{}", "rtt": "{} us", "ingress": {}, "ack_filter": "{}", "memory_limit": "{} B",
               "overhead": "overhead {}""#,
            TINS[self.tins].0,
            ISOLATIONS[self.isolation].word(),
            self.rtt_us,
            self.ingress,
            ["no", "filter", "aggressive"][self.acks],
            self.memory,
            self.overhead
        )
    }
}

/// COBALT of one queue, in ps and parts of 2^32.
#[derive(Clone, Default)]
struct PlainCobalt {
    next: i128,
    changed: i128,
    count: u64,
    root: u64,
    p: u64,
    dropping: bool,
}

impl PlainCobalt {
    fn count_to(&mut self, count: u64, interval: i128) {
        let newton = |root: u64, count: u64| {
            let square = (root * root) >> 32;
            ((((3 << 32) - count * square) >> 2) * root) >> 31
        };
        self.count = count;
        self.root = match count {
            0 | 1 => 0xffff_ffff,
            2..=15 => {
                let steps = (1..=count).flat_map(|c| [c; 8]);
                steps.fold(0xffff_ffff, newton)
            }
            _ => newton(self.root, count),
        };
        self.next += (interval * i128::from(self.root)) >> 32;
    }
}

#[derive(Clone, Default)]
struct PlainFlow {
    packets: Vec<Packet>,
    cobalt: PlainCobalt,
    deficit: i64,
    rest: u64,
    hosts: [usize; 2],
    /// "", sparse, wait, bulk or decaying.
    set: &'static str,
}

struct PlainTin {
    rate: Option<u64>,
    quantum: i64,
    target: i128,
    interval: i128,
    mtu: i128,
    flow_quantum: u64,
    flows: Vec<PlainFlow>,
    tags: Vec<u32>,
    places: [Vec<u32>; 2],
    new: Vec<usize>,
    old: Vec<usize>,
    decaying: Vec<usize>,
    next: i128,
    deficit: i64,
}

impl PlainTin {
    fn count(&self, sets: &[&str]) -> usize {
        self.flows.iter().filter(|f| sets.contains(&f.set)).count()
    }

    fn active(&self) -> bool {
        self.count(&["sparse", "wait", "bulk"]) > 0
    }

    /// Bulk queues of a host.
    fn bulk_of(&self, side: usize, place: usize) -> u64 {
        let of = |f: &&PlainFlow| f.set == "bulk" && f.hosts[side] == place;
        self.flows.iter().filter(of).count() as u64
    }

    fn turn(&mut self, at: usize, shares: [bool; 2]) -> i64 {
        let mut load = 1;
        for (side, shared) in shares.iter().enumerate() {
            if *shared {
                load = load.max(self.bulk_of(side, self.flows[at].hosts[side]));
            }
        }
        let flow = &mut self.flows[at];
        let all = self.flow_quantum * 65_536 / load + flow.rest;
        flow.rest = all % 65_536;
        (all / 65_536) as i64
    }

    fn remove(&mut self, at: usize) {
        for list in [&mut self.new, &mut self.old, &mut self.decaying] {
            list.retain(|x| *x != at);
        }
    }
}

/// The ways of a hash, the own one first.
fn ways(hash: u32) -> Vec<usize> {
    let own = hash as usize % 1024;
    (0..8).map(|i| own / 8 * 8 + (own % 8 + i) % 8).collect()
}

struct Plain {
    of: Settings,
    tins: Vec<PlainTin>,
    next: i128,
    failsafe: i128,
    tin: usize,
    salt: Option<u64>,
    rng: Rng,
    flows: Arc<[FlowKey]>,
    overhead: Overhead,
    lost: Vec<(u32, u32, &'static str)>,
    /// What packets acknowledge, by number.
    acks: BTreeMap<u32, Acknowledgment>,
}

fn time(bytes: u32, bps: u64) -> i128 {
    (i128::from(bytes) * 8_000_000_000_000 / i128::from(bps)).max(1)
}

impl Plain {
    fn new(of: &Settings, flows: &Arc<[FlowKey]>, rng: Rng) -> Self {
        let tin = |rate: Option<u64>, quantum: i64| {
            let mtu = rate.map_or(0, |r| time(1514, r));
            let usual = (i128::from(of.rtt_us) * 1_000_000 / 20).max(1);
            let target = usual.max(mtu * 3 / 2);
            let interval = i128::from(of.rtt_us) * 1_000_000 + target - usual;
            PlainTin {
                rate,
                quantum,
                target,
                interval: interval.max(2 * target),
                mtu,
                flow_quantum: rate.map_or(1514, |r| (r / 8 / 4096).clamp(300, 1514)),
                flows: vec![PlainFlow::default(); 1024],
                tags: vec![0; 1024],
                places: [vec![0; 1024], vec![0; 1024]],
                new: Vec::new(),
                old: Vec::new(),
                decaying: Vec::new(),
                next: 0,
                deficit: 0,
            }
        };
        let part = |n: u64| tin(of.bps.map(|b| b / n), 1024 / n as i64);
        let eighths = || {
            let (mut bps, mut quantum) = (of.bps, 256);
            let mut all = Vec::new();
            for _ in 0..8 {
                all.push(tin(bps, quantum));
                bps = bps.map(|b| b * 7 / 8);
                quantum = quantum * 7 / 8;
            }
            all
        };
        let tins = match of.tins {
            0 => vec![tin(of.bps, 65_535)],
            2 => vec![part(1), part(16), part(4)],
            3 => vec![part(1), part(16), part(2), part(4)],
            _ => eighths(),
        };
        Self {
            of: of.clone(),
            tins,
            next: 0,
            failsafe: 0,
            tin: 0,
            salt: None,
            rng,
            flows: flows.clone(),
            overhead: spillgate_core::overhead::parse_overhead(&format!(
                "overhead {}",
                of.overhead
            ))
            .unwrap(),
            lost: Vec::new(),
            acks: BTreeMap::new(),
        }
    }

    fn shares(&self) -> [bool; 2] {
        [[5, 7].contains(&self.of.isolation), self.of.isolation >= 6]
    }

    fn bytes(&self) -> u64 {
        let flows = self.tins.iter().flat_map(|t| &t.flows);
        flows
            .flat_map(|f| &f.packets)
            .map(|p| u64::from(p.len))
            .sum()
    }

    fn waiting(&self) -> usize {
        let flows = self.tins.iter().flat_map(|t| &t.flows);
        flows.map(|f| f.packets.len()).sum()
    }

    fn len(&self, packet: &Packet) -> u32 {
        self.overhead.wire_len(packet.l3_len)
    }

    /// The queue of a packet in its tin.
    fn sort(&mut self, t: usize, packet: &Packet) -> usize {
        let salt = self.salt.unwrap();
        let hash = |of: u32| (mix(u64::from(of) ^ salt) >> 32) as u32;
        let key = self.flows[packet.flow as usize];
        let alone = |a| {
            FlowKey {
                src: a,
                dst: a,
                protocol: 0,
                sport: 0,
                dport: 0,
            }
            .hash()
        };
        let hosts = [hash(alone(key.src)), hash(!alone(key.dst))];
        let flow = match self.of.isolation {
            0 => 0,
            1 => hosts[0],
            2 => hosts[1],
            3 => hosts[0] ^ hosts[1],
            _ => hash(key.hash()),
        };
        let shares = self.shares();
        let tin = &mut self.tins[t];
        let all = ways(flow);
        let known = all.iter().copied().find(|w| tin.tags[*w] == flow);
        if let Some(at) = known.filter(|at| !tin.flows[*at].set.is_empty()) {
            return at;
        }
        let free = all.iter().copied().find(|w| tin.flows[*w].set.is_empty());
        let at = known.or(free).unwrap_or(all[0]);
        tin.tags[at] = flow;
        for side in 0..2 {
            if shares[side] {
                let all = ways(hosts[side]);
                let known = all
                    .iter()
                    .copied()
                    .find(|w| tin.places[side][*w] == hosts[side]);
                // What this queue counts for counts for its new host.
                let set = std::mem::take(&mut tin.flows[at].set);
                let free = all.iter().copied().find(|w| tin.bulk_of(side, *w) == 0);
                tin.flows[at].set = set;
                let place = known.or(free).unwrap_or(all[0]);
                tin.places[side][place] = hosts[side];
                tin.flows[at].hosts[side] = place;
            }
        }
        at
    }

    fn charge(&mut self, t: usize, packet: &Packet, now: i128, sent: bool) {
        let len = self.len(packet);
        if let Some(bps) = self.of.bps {
            let tin = &mut self.tins[t];
            let own = time(len, tin.rate.unwrap());
            if tin.next < now {
                tin.next += own;
            } else if tin.next < now + own {
                tin.next = now + own;
            }
            let all = time(len, bps);
            self.next += all;
            if sent {
                self.failsafe += all + all / 2;
            }
        }
    }

    fn arrive(&mut self, now: i128, packet: Packet) {
        if self.salt.is_none() {
            self.salt = Some(self.rng.u64());
        }
        let t = TINS[self.of.tins].1.of(packet.dscp);
        let at = self.sort(t, &packet);
        if self.tins[t].flows.iter().all(|f| f.packets.is_empty()) {
            self.tins[t].next = self.tins[t].next.max(now);
            if self.waiting() == 0 && self.next < now {
                (self.next, self.failsafe) = (now, now);
            }
        }
        let shares = self.shares();
        if self.of.acks > 0 {
            self.filter(t, at, &packet, now);
        }
        let tin = &mut self.tins[t];
        tin.flows[at].packets.push(packet);
        match tin.flows[at].set {
            "" | "decaying" => {
                tin.remove(at);
                tin.new.push(at);
                tin.flows[at].deficit = tin.turn(at, shares);
                tin.flows[at].set = "sparse";
            }
            "wait" => tin.flows[at].set = "bulk",
            _ => {}
        }
        while self.bytes() > self.of.memory {
            let mut longest = (0, 0, 0);
            for (t, tin) in self.tins.iter().enumerate() {
                for (at, flow) in tin.flows.iter().enumerate() {
                    let bytes: u64 = flow.packets.iter().map(|p| u64::from(p.len)).sum();
                    if bytes > longest.0 {
                        longest = (bytes, t, at);
                    }
                }
            }
            let (_, t, at) = longest;
            let tin = &mut self.tins[t];
            let victim = tin.flows[at].packets.remove(0);
            let cobalt = &mut tin.flows[at].cobalt;
            if now - cobalt.changed > tin.target {
                cobalt.p = (cobalt.p + (1 << 24)).min(0xffff_ffff);
                cobalt.changed = now;
            }
            (cobalt.dropping, cobalt.next) = (true, now);
            cobalt.count = cobalt.count.max(1);
            self.lost.push((victim.flow, victim.seq, "evicted"));
            if self.of.ingress {
                self.charge(t, &victim, now, false);
            }
        }
    }

    /// Drops what a packet that comes to a queue makes superfluous.
    fn filter(&mut self, t: usize, at: usize, new: &Packet, now: i128) {
        let of = |p: &Packet| (p.flow, self.acks.get(&p.seq).copied());
        let queue: Vec<_> = self.tins[t].flows[at].packets.iter().map(of).collect();
        if let Some(nth) = goes(&queue, of(new), self.of.acks == 2) {
            let old = self.tins[t].flows[at].packets.remove(nth);
            self.lost.push((old.flow, old.seq, "filtered"));
            if self.of.ingress {
                self.charge(t, &old, now, false);
            }
        }
    }

    /// The tin that sends.
    fn choose(&mut self, now: i128) -> Option<usize> {
        if !self.tins.iter().any(PlainTin::active) {
            return None;
        }
        if self.of.bps.is_some() {
            let active = |t: &usize| self.tins[*t].active();
            let all: Vec<usize> = (0..self.tins.len()).filter(active).collect();
            let due = all.iter().rev().find(|t| self.tins[**t].next <= now);
            let first = all.iter().rev().min_by_key(|t| self.tins[**t].next);
            return due.or(first).copied();
        }
        if self.tins.len() == 1 {
            return Some(0);
        }
        while self.tins[self.tin].deficit < 0 || !self.tins[self.tin].active() {
            let tin = &mut self.tins[self.tin];
            if tin.deficit <= 0 {
                tin.deficit += tin.quantum;
            }
            self.tin = (self.tin + 1) % self.tins.len();
        }
        Some(self.tin)
    }

    /// A packet of a queue is to leave: whether it is marked, and whether it is dropped.
    fn judge(&mut self, t: usize, at: usize, now: i128, packet: &Packet) -> (bool, bool) {
        let tin = &mut self.tins[t];
        let bulk = match self.of.ingress {
            true => tin.count(&["bulk"]) as i128,
            false => 0,
        };
        let last = tin.flows[at].packets.is_empty();
        let waited = now - i128::from(packet.arrived.as_ps());
        let late = waited > tin.target && waited > 2 * bulk * tin.mtu && waited > 4 * tin.mtu;
        let c = &mut tin.flows[at].cobalt;
        let mut ahead = now - c.next;
        let due = c.count > 0 && ahead >= 0;
        if late {
            if !c.dropping {
                c.next = now + ((tin.interval * i128::from(c.root)) >> 32);
            }
            c.count = c.count.max(1);
        }
        c.dropping = late;
        let (mut mark, mut drop) = (false, false);
        if due && late {
            (mark, drop) = (packet.ecn != Ecn::NotEct, packet.ecn == Ecn::NotEct);
            c.count_to(c.count + 1, tin.interval);
            ahead = now - c.next;
        } else if due {
            while c.count > 0 && ahead >= 0 {
                c.count_to(c.count - 1, tin.interval);
                ahead = now - c.next;
            }
        }
        if c.p > 0 && !drop && self.rng.f64() < c.p as f64 / 4_294_967_296.0 {
            (mark, drop) = (false, true);
        }
        if c.count == 0 {
            c.next = now + tin.interval;
        } else if ahead > 0 && !drop {
            c.next = now;
        }
        if drop && last {
            (false, false)
        } else {
            (mark, drop)
        }
    }

    fn leave(&mut self, now: i128) -> Option<Packet> {
        let shares = self.shares();
        let mut first = true;
        'begin: loop {
            if self.waiting() == 0 || self.next.min(self.failsafe) > now {
                return None;
            }
            let t = self.choose(now)?;
            'retry: loop {
                let tin = &mut self.tins[t];
                let order: Vec<usize> = match first {
                    true => [&tin.decaying[..], &tin.new, &tin.old].concat(),
                    false => [&tin.new[..], &tin.old, &tin.decaying].concat(),
                };
                let Some(&at) = order.first() else {
                    continue 'begin;
                };
                first = false;
                if tin.flows[at].deficit <= 0 {
                    if tin.flows[at].set == "sparse" {
                        let empty = tin.flows[at].packets.is_empty();
                        tin.flows[at].set = if empty { "wait" } else { "bulk" };
                    }
                    tin.flows[at].deficit += tin.turn(at, shares);
                    tin.remove(at);
                    tin.old.push(at);
                    continue 'retry;
                }
                loop {
                    let tin = &mut self.tins[t];
                    if tin.flows[at].packets.is_empty() {
                        let (target, interval) = (tin.target, tin.interval);
                        let c = &mut tin.flows[at].cobalt;
                        if c.p > 0 && now - c.changed > target {
                            c.p = c.p.saturating_sub(1 << 20);
                            c.changed = now;
                        }
                        c.dropping = false;
                        if c.count > 0 && now >= c.next {
                            c.count_to(c.count - 1, interval);
                        }
                        let rests = c.p == 0 && c.count == 0 && now >= c.next;
                        tin.remove(at);
                        tin.flows[at].set = if rests { "" } else { "decaying" };
                        if !rests {
                            tin.decaying.push(at);
                        }
                        continue 'begin;
                    }
                    let mut packet = tin.flows[at].packets.remove(0);
                    let (mark, drop) = self.judge(t, at, now, &packet);
                    let len = i64::from(self.len(&packet));
                    if drop {
                        self.lost.push((packet.flow, packet.seq, "early"));
                        if self.of.ingress {
                            self.charge(t, &packet, now, false);
                            self.tins[t].flows[at].deficit -= len;
                            self.tins[t].deficit -= len;
                            continue 'retry;
                        }
                        continue;
                    }
                    self.charge(t, &packet, now, true);
                    self.tins[t].flows[at].deficit -= len;
                    self.tins[t].deficit -= len;
                    if mark {
                        packet.ecn = Ecn::Ce;
                    }
                    return Some(packet);
                }
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Op {
    /// A packet of this flow, length, code point and ECN.
    Arrive(u32, u16, u8, bool),
    /// An acknowledgment of this flow and code point.
    Acknowledge(u32, u8, Acknowledgment),
    Leave,
}

fn settings() -> impl Strategy<Value = Settings> {
    let bps = prop_oneof![
        Just(None),
        (200_000_u64..50_000_000).prop_map(|b| Some(b / 16 * 16))
    ];
    let rtt = prop_oneof![Just(1_000_u64), Just(10_000), Just(100_000)];
    (
        bps,
        0..5_usize,
        0..8_usize,
        rtt,
        any::<bool>(),
        0..3_usize,
        4_000_u64..60_000,
        -8_i16..60,
    )
        .prop_map(
            |(bps, tins, isolation, rtt_us, ingress, acks, memory, overhead)| Settings {
                bps,
                tins,
                isolation,
                rtt_us,
                ingress,
                acks,
                memory,
                overhead,
            },
        )
}

fn ops() -> impl Strategy<Value = Vec<(u64, Op)>> {
    let dscp = prop::sample::select(vec![0_u8, 0, 0, 8, 46, 34, 16, 56, 1]);
    let arrive = (0..14_u32, 40..1500_u16, dscp.clone(), any::<bool>());
    let ack = (0..3_u32, dscp, acks());
    let op = prop_oneof![
        2 => arrive.prop_map(|(f, l, d, e)| Op::Arrive(f, l, d, e)),
        1 => ack.prop_map(|(f, d, a)| Op::Acknowledge(f, d, a)),
        2 => Just(Op::Leave)
    ];
    let gap = prop_oneof![6 => 0_u64..300, 3 => 0_u64..3_000, 1 => 0_u64..60_000];
    prop::collection::vec((gap, op), 1..400)
}

fn lost(drops: &Drops) -> Vec<(u32, u32, &'static str)> {
    let of = |d: &Dropped| {
        let why = match d.reason {
            spillgate_core::DropReason::PushedOut => "evicted",
            spillgate_core::DropReason::Early => "early",
            spillgate_core::DropReason::Filtered => "filtered",
            _ => "otherwise",
        };
        (d.packet.flow, d.packet.seq, why)
    };
    drops.as_slice().iter().map(of).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150 * effort()))]

    #[test]
    fn agrees_with_plain_words(of in settings(), ops in ops(), seed in any::<u64>()) {
        let flows = keys(14);
        let mut real = cake(&of.words(), &flows);
        let mut plain = Plain::new(&of, &flows, Rng::from_key(seed));
        let (mut rng, mut drops) = (Rng::from_key(seed), Drops::new());
        let mut now = 1_000_000;
        for (seq, (gap, op)) in (0_u32..).zip(ops) {
            now += gap;
            let at = Time::from_ps(now * 1_000_000);
            let ps = i128::from(at.as_ps());
            drops.clear();
            plain.lost.clear();
            match op {
                Op::Acknowledge(flow, dscp, ack) => {
                    let packet = Packet { arrived: at, ..packet(&flows, flow, seq, 40, dscp, Ecn::NotEct) };
                    plain.acks.insert(seq, ack);
                    real.enqueue_with(at, packet, Some(&ack), &mut rng, &mut drops);
                    plain.arrive(ps, packet);
                }
                Op::Arrive(flow, len, dscp, ecn) => {
                    let ecn = if ecn { Ecn::Ect0 } else { Ecn::NotEct };
                    let packet = Packet { arrived: at, ..packet(&flows, flow, seq, len, dscp, ecn) };
                    real.enqueue(at, packet, &mut rng, &mut drops);
                    plain.arrive(ps, packet);
                }
                Op::Leave => {
                    let wake = real.next_wake(at);
                    let left = real.dequeue(at, &mut rng, &mut drops);
                    prop_assert_eq!(left.is_some(), wake == Some(at));
                    let said = plain.leave(ps);
                    prop_assert_eq!(left.map(|p| (p.flow, p.seq, p.ecn)), said.map(|p| (p.flow, p.seq, p.ecn)));
                }
            }
            prop_assert_eq!(lost(&drops), plain.lost.clone());
            prop_assert_eq!(real.backlog_packets() as usize, plain.waiting());
        }
    }
}

/// Packets of `len` bytes of each flow wait all the time, on a line of 1 Gb/s: what each has sent
/// after `ms`, in packets.
fn served(words: &str, flows: &Arc<[FlowKey]>, of: &[(u32, u16, u8)], ms: u64) -> Vec<u64> {
    let mut cake = cake(words, flows);
    let (mut rng, mut drops) = (Rng::from_key(3), Drops::new());
    let mut sent: BTreeMap<u32, u64> = of.iter().map(|f| (f.0, 0)).collect();
    let mut waiting: BTreeMap<u32, u32> = sent.keys().map(|f| (*f, 0)).collect();
    let (mut now, mut seq) = (Time::from_ps(1), 0);
    while now < Time::from_ps(ms * 1_000_000_000) {
        for (flow, len, dscp) in of {
            let n = waiting.get_mut(flow).unwrap();
            while *n < 20 {
                let packet = packet(flows, *flow, seq, *len, *dscp, Ecn::Ect0);
                cake.enqueue(
                    now,
                    Packet {
                        arrived: now,
                        ..packet
                    },
                    &mut rng,
                    &mut drops,
                );
                (*n, seq) = (*n + 1, seq + 1);
            }
        }
        now = cake.next_wake(now).unwrap();
        let packet = cake.dequeue(now, &mut rng, &mut drops).unwrap();
        assert!(drops.is_empty());
        *sent.get_mut(&packet.flow).unwrap() += 1;
        *waiting.get_mut(&packet.flow).unwrap() -= 1;
        now += rate(LINE).tx_time(packet.len);
    }
    sent.into_values().collect()
}

/// 1/1000 at every overhead: a packet more at the end of 2 s is less than that from 1514 B and 12.2
/// Mb/s on.
#[test]
fn the_shaper_holds_its_rate_at_every_overhead() {
    let flows = keys(1);
    for overhead in [
        "none",
        "18 B",
        "ethernet",
        "pppoe-vcmux",
        "bridged-ptm",
        "overhead -20",
        "overhead 44 mpu 84 atm",
    ] {
        let counted = spillgate_core::overhead::parse_overhead(overhead).unwrap();
        for len in [40_u16, 577, 1500] {
            for mbps in [20_u64, 300] {
                let words = format!(r#""bandwidth": "{mbps} Mb/s", "overhead": "{overhead}""#);
                let packets = served(&words, &flows, &[(0, len, 0)], 2000)[0];
                let bits = 8 * packets * u64::from(counted.wire_len(len));
                let asked = mbps * 2_000_000;
                // The line has 1 Gb/s of packets without overhead.
                assert!(
                    bits.abs_diff(asked) * 1000 <= asked,
                    "{overhead} {len} {mbps}: {bits}"
                );
            }
        }
    }
}

/// Host 0 has eight flows and host 1 two, to one destination each, or all to one: hosts share
/// evenly, and so do the flows of each.
#[test]
fn hosts_share_evenly_and_then_their_flows() {
    let key = |src: u8, dst: u8, port: u16| FlowKey {
        src: [10, 0, 0, src].into(),
        dst: [10, 0, 1, dst].into(),
        protocol: 6,
        sport: port,
        dport: 80,
    };
    let of = |n: u16| (0..u32::from(n)).map(|f| (f, 1500, 0)).collect::<Vec<_>>();
    let own = |hosts: &[(u8, u8, u16)]| -> Arc<[FlowKey]> {
        let flows = hosts
            .iter()
            .flat_map(|(s, d, n)| (0..*n).map(move |i| key(*s, *d, i)));
        flows.collect()
    };
    let share = |sent: &[u64]| sent.iter().sum::<u64>() as f64;
    let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 0.02, "{a} {b}");
    // By source.
    let flows = own(&[(0, 0, 8), (1, 1, 2)]);
    for (isolation, ratio) in [
        ("triple-isolate", 1.0),
        ("dual-srchost", 1.0),
        ("flows", 4.0),
    ] {
        let words = format!(r#""bandwidth": "50 Mb/s", "isolation": "{isolation}""#);
        let sent = served(&words, &flows, &of(10), 3000);
        near(share(&sent[..8]) / share(&sent[8..]), ratio);
        for flow in &sent[..8] {
            near(*flow as f64 * 8.0, share(&sent[..8]));
        }
        near(sent[8] as f64, sent[9] as f64);
    }
    // By destination, from one source.
    let flows = own(&[(0, 0, 8), (0, 1, 2)]);
    for (isolation, ratio) in [("dual-dsthost", 1.0), ("dual-srchost", 4.0)] {
        let words = format!(r#""bandwidth": "50 Mb/s", "isolation": "{isolation}""#);
        let sent = served(&words, &flows, &of(10), 3000);
        near(share(&sent[..8]) / share(&sent[8..]), ratio);
    }
    // One queue for each host.
    let sent = served(
        r#""bandwidth": "50 Mb/s", "isolation": "dsthost""#,
        &flows,
        &of(10),
        3000,
    );
    near(share(&sent[..8]), share(&sent[8..]));
}

/// All tins are full: those with a threshold get it, best effort the rest.
#[test]
fn tins_get_their_thresholds() {
    let flows = keys(8);
    let all = [(0, 1500, 0), (1, 1500, 8), (2, 1500, 34), (3, 1500, 46)];
    let sent = served(
        r#""bandwidth": "80 Mb/s", "tins": "diffserv4""#,
        &flows,
        &all,
        3000,
    );
    let total: u64 = sent.iter().sum();
    for (got, parts) in sent.iter().zip([3.0, 1.0, 8.0, 4.0]) {
        let asked = total as f64 * parts / 16.0;
        assert!((*got as f64 / asked - 1.0).abs() < 0.02, "{sent:?}");
    }
    // Nothing else comes: a tin may have all.
    let sent = served(
        r#""bandwidth": "80 Mb/s", "tins": "diffserv4""#,
        &flows,
        &all[1..2],
        1000,
    );
    assert!(
        (sent[0] as f64 * 12_000.0 / 80e6 - 1.0).abs() < 0.002,
        "{sent:?}"
    );
    // Unlimited: by the weights.
    let sent = served(r#""tins": "diffserv4""#, &flows, &all, 3000);
    let total: u64 = sent.iter().sum();
    for (got, weight) in sent.iter().zip([1024.0, 64.0, 512.0, 256.0]) {
        let asked = total as f64 * weight / 1856.0;
        assert!((*got as f64 / asked - 1.0).abs() < 0.02, "{sent:?}");
    }
}

/// As `tc -s qdisc` shows them for `cake bandwidth 1Mbit`: 1514 B take 12.1 ms.
#[test]
fn slow_tins_have_longer_targets() {
    use spillgate_queueing::spec::DisciplineSpec;
    let spec: DisciplineSpec =
        serde_json::from_str(r#"{"cake": {"bandwidth": "1 Mb/s", "tins": "diffserv4"}}"#).unwrap();
    let DisciplineSpec::Cake(spec) = spec else {
        panic!()
    };
    let us = |d: spillgate_core::Dur| (d.as_secs_f64() * 1e6).round() as u64;
    let all: Vec<_> = spec
        .delays_by_tin()
        .into_iter()
        .map(|(n, d)| (n, us(d.target), us(d.interval)))
        .collect();
    assert_eq!(
        all,
        [
            ("best-effort", 18_168, 113_168),
            ("bulk", 290_688, 581_376),
            ("video", 36_336, 131_336),
            ("voice", 72_672, 167_672)
        ]
    );
}

/// More flows than queues: some share one, and all leave.
#[test]
fn three_thousand_flows_fit_into_a_thousand_queues() {
    let flows = keys(3000);
    let mut cake = cake(r#""memory_limit": "100 MB""#, &flows);
    let (mut rng, mut drops) = (Rng::from_key(3), Drops::new());
    let now = Time::from_ps(1);
    for seq in 0..2 {
        for flow in 0..3000 {
            cake.enqueue(
                now,
                packet(&flows, flow, seq, 100, 0, Ecn::NotEct),
                &mut rng,
                &mut drops,
            );
        }
    }
    let queued = cake
        .gauges(0, now)
        .state
        .iter()
        .find(|s| s.0 == "flows_queued")
        .unwrap()
        .1;
    assert!((900.0..=1024.0).contains(&queued), "{queued}");
    // As in Linux, a flow whose queue another one took may have packets in two.
    let mut next = vec![0; 3000];
    while let Some(p) = cake.dequeue(now, &mut rng, &mut drops) {
        next[p.flow as usize] += 1;
    }
    assert!(next.iter().all(|n| *n == 2) && drops.is_empty());
}
