//! The contract of a discipline, for every preset: see the crate's
//! `Discipline` for its wording.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{BPS, Preset, build, flows, packet, presets, rate, resolve};
use proptest::prelude::*;
use spillgate_core::{DropReason, Drops, Dur, Ecn, Packet, Rng, Time};
use spillgate_queueing::Discipline;
use spillgate_queueing::testkit::lose_at_departure;

/// What a driver may do.
#[derive(Clone, Copy, Debug)]
enum Op {
    Arrive {
        flow: u32,
        len: u16,
    },
    Serve,
    Pass(Dur),
    /// The link fails: everything is given up.
    Flush,
    /// An arrival while the link is down.
    Refuse {
        flow: u32,
        len: u16,
    },
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        16 => (0_u32..8, prop_oneof![Just(1500_u16), 40_u16..1500])
            .prop_map(|(flow, len)| Op::Arrive { flow, len }),
        12 => Just(Op::Serve),
        8 => (0_u64..20_000_000_000).prop_map(|ps| Op::Pass(Dur::from_ps(ps))),
        // Now and then a long pause: tokens fill up, averages decay.
        4 => (0_u64..3).prop_map(|s| Op::Pass(Dur::from_secs(s))),
        1 => Just(Op::Flush),
        1 => (0_u32..8, 40_u16..1500).prop_map(|(flow, len)| Op::Refuse { flow, len }),
    ]
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    prop::collection::vec(op(), 1..160)
}

/// Rates around [`BPS`], some too low for what a policy promises.
fn rates() -> impl Strategy<Value = u64> {
    prop_oneof![Just(BPS), BPS / 20..BPS, BPS..50 * BPS]
}

/// One line per thing that happened.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Entry {
    Sent(Time, Packet),
    Dropped(Time, Packet, &'static str),
}

/// Whether it has queues that are first in, first out.
fn has_fifos(preset: &Preset) -> bool {
    ["\"fifo\"", "\"class-based\""]
        .iter()
        .any(|kind| preset.json.contains(kind))
}

/// A discipline under test with all that a driver holds.
struct Driver {
    discipline: Discipline,
    rng: Rng,
    now: Time,
    seq: [u32; 8],
    ledger: Vec<Entry>,
    drops: Drops,
    /// Whether to poll far more than needed.
    nosy: bool,
}

impl Driver {
    fn new(preset: &Preset, seed: u64) -> Self {
        Self {
            discipline: build(preset.json, BPS),
            rng: Rng::from_key(seed),
            now: Time::ZERO,
            seq: [0; 8],
            ledger: Vec::new(),
            drops: Drops::new(),
            nosy: false,
        }
    }

    /// The same whose queues lose packets at departure, the last ones as well.
    fn losing(preset: &Preset, seed: u64) -> Self {
        let mut d = Self::new(preset, seed);
        lose_at_departure(&mut d.discipline, 0.4);
        d
    }

    /// Whether the policy can be built for the rate.
    fn set_rate(&mut self, bps: u64) -> bool {
        self.discipline.set_rate(self.now, rate(bps)).is_ok()
    }

    fn fork(&self) -> Self {
        Self {
            discipline: self.discipline.clone(),
            rng: self.rng.clone(),
            now: self.now,
            seq: self.seq,
            ledger: self.ledger.clone(),
            drops: Drops::new(),
            nosy: self.nosy,
        }
    }

    fn collect_drops(&mut self) {
        for d in self.drops.as_slice() {
            let reason = d.reason.metric();
            self.ledger.push(Entry::Dropped(self.now, d.packet, reason));
        }
        self.drops.clear();
    }

    fn serve(&mut self) -> Option<Packet> {
        let p = self
            .discipline
            .dequeue(self.now, &mut self.rng, &mut self.drops);
        self.collect_drops();
        if let Some(p) = p {
            self.ledger.push(Entry::Sent(self.now, p));
        } else if self.discipline.backlog_packets() > 0 {
            // Or nobody would ask again.
            let wake = self.discipline.next_wake(self.now);
            assert!(wake > Some(self.now), "what waits is stuck");
        }
        p
    }

    /// Whether a packet leaves, or is dropped that might have.
    fn does_something(&mut self) -> bool {
        let before = self.ledger.len();
        self.serve();
        self.ledger.len() > before
    }

    /// What must change nothing: gauges, and dequeues that give nothing.
    fn poll(&mut self) {
        if !self.nosy {
            return;
        }
        for leaf in 0..=self.discipline.leaves().len() {
            self.discipline.gauges(leaf);
        }
        let ready = self.fork().does_something();
        self.discipline.next_wake(self.now);
        if !ready {
            assert_eq!(self.serve(), None);
        }
    }

    fn next_packet(&mut self, flow: u32, len: u16) -> Packet {
        let seq = &mut self.seq[flow as usize];
        *seq += 1;
        let mut p = packet(flow, *seq - 1, len);
        p.arrived = self.now;
        // Two of the flows come with one and two labels.
        for exp in [3, 5].iter().take((flow as usize).saturating_sub(5)) {
            p.labels.push(*exp);
        }
        p
    }

    /// Every packet that waits is dropped, each once, and nothing is left.
    fn flush(&mut self) {
        let waiting = self.discipline.backlog_packets() as usize;
        let before = self.ledger.len();
        self.discipline
            .flush(self.now, DropReason::LinkDown, &mut self.drops);
        self.collect_drops();
        let flushed = &self.ledger[before..];
        assert_eq!(flushed.len(), waiting);
        let mut last = BTreeMap::new();
        for entry in flushed {
            let Entry::Dropped(_, p, "drops_link_down") = entry else {
                panic!("{entry:?}");
            };
            assert!(last.insert(p.flow, p.seq) < Some(p.seq), "{p:?} overtakes");
        }
        assert_eq!(self.discipline.backlog_packets(), 0);
        assert_eq!(self.discipline.backlog_bytes(), 0);
        assert_eq!(self.discipline.next_wake(self.now), None);
        assert_eq!(self.serve(), None);
    }

    fn apply(&mut self, op: Op) {
        self.poll();
        match op {
            Op::Arrive { flow, len } => {
                let p = self.next_packet(flow, len);
                self.discipline
                    .enqueue(self.now, p, &mut self.rng, &mut self.drops);
                self.collect_drops();
            }
            Op::Flush => self.flush(),
            Op::Refuse { flow, len } => {
                let p = self.next_packet(flow, len);
                let before = self.discipline.backlog_packets();
                self.discipline
                    .refuse(self.now, p, DropReason::LinkDown, &mut self.drops);
                assert_eq!(self.drops.as_slice().len(), 1);
                assert_eq!(self.discipline.backlog_packets(), before);
                self.collect_drops();
            }
            Op::Serve => {
                self.serve();
            }
            Op::Pass(d) => self.now += d,
        }
        self.poll();
    }

    fn drain(&mut self) {
        while self.discipline.backlog_packets() > 0 {
            if !self.does_something() {
                self.now = self.discipline.next_wake(self.now).unwrap();
            }
        }
    }
}

/// If nothing may leave now, nothing leaves before the wake-up and something at it.
fn check_wake(d: &Driver, preset: &Preset) {
    let mut now = d.fork();
    if now.does_something() {
        return;
    }
    let wake = d.discipline.next_wake(d.now);
    if d.discipline.backlog_packets() == 0 {
        assert_eq!(wake, None, "{}", preset.name);
        return;
    }
    assert!(!preset.work_conserving, "{} holds back", preset.name);
    let wake = wake.unwrap_or_else(|| panic!("{} would never send", preset.name));
    assert!(wake > d.now, "{}", preset.name);
    let gap = wake.since(d.now).as_ps();
    for early in [gap - 1, gap / 2, gap / 3, 1.min(gap - 1)] {
        let mut before = d.fork();
        before.now += Dur::from_ps(early);
        assert!(
            !before.does_something(),
            "{}: too early by {}",
            preset.name,
            gap - early
        );
        assert_eq!(before.discipline.next_wake(before.now), Some(wake));
    }
    let mut at = d.fork();
    at.now = wake;
    assert!(
        at.does_something(),
        "{}: nothing at the wake-up",
        preset.name
    );
}

/// Every packet left or was dropped, once, and in order within its flow.
fn check_ledger(d: &Driver, preset: &Preset) {
    let mut seen = BTreeSet::new();
    let mut last = BTreeMap::new();
    for entry in &d.ledger {
        let (Entry::Sent(_, p) | Entry::Dropped(_, p, _)) = entry;
        assert!(seen.insert((p.flow, p.seq)), "{}: {p:?} twice", preset.name);
        assert!(usize::from(p.leaf) < d.discipline.leaves().len());
        if let Entry::Sent(..) = entry {
            let before = last.insert(p.flow, p.seq);
            assert!(before < Some(p.seq), "{}: {p:?} overtakes", preset.name);
        }
    }
    let offered: u32 = d.seq.iter().sum();
    assert_eq!(seen.len(), offered as usize, "{}", preset.name);
    let count = |f: fn(&spillgate_queueing::LeafStats) -> u64| -> u64 {
        d.discipline.leaves().iter().map(f).sum()
    };
    assert_eq!(count(|s| s.offered_packets), u64::from(offered));
    let sent = d
        .ledger
        .iter()
        .filter(|e| matches!(e, Entry::Sent(..)))
        .count();
    assert_eq!(count(|s| s.dequeued_packets), sent as u64);
    assert_eq!(
        count(|s| s.dropped_packets()),
        (d.ledger.len() - sent) as u64
    );
}

/// What happened since `begin`, packets counted from `seq`, without the scratch of schedulers.
fn shifted(ledger: &[Entry], begin: Time, seq: &[u32; 8]) -> Vec<(Dur, Packet, &'static str)> {
    let line = |entry: &Entry| {
        let (at, mut p, how) = match *entry {
            Entry::Sent(at, p) => (at, p, "sent"),
            Entry::Dropped(at, p, why) => (at, p, why),
        };
        p.seq -= seq[p.flow as usize];
        p.arrived = Time::ZERO + p.arrived.since(begin);
        (p.tag, p.handle) = (0, 0);
        (at.since(begin), p, how)
    };
    ledger.iter().map(line).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_preset_keeps_the_contract(ops in ops(), seed in 0_u64..1000, at in 0_usize..160) {
        let lossy = presets().iter().filter(|p| has_fifos(p)).map(|p| (p, true));
        for (preset, lossy) in presets().iter().map(|p| (p, false)).chain(lossy) {
            let new = if lossy { Driver::losing } else { Driver::new };
            let (mut d, mut nosy) = (new(preset, seed), new(preset, seed));
            nosy.nosy = true;
            let mut forked = None;
            for (i, op) in ops.iter().enumerate() {
                if i == at {
                    forked = Some(d.fork());
                }
                d.apply(*op);
                nosy.apply(*op);
                if let Some(f) = &mut forked {
                    f.apply(*op);
                }
                check_wake(&d, preset);
                // The backlog is what came minus what went.
                prop_assert_eq!(
                    d.seq.iter().sum::<u32>(),
                    d.ledger.len() as u32 + d.discipline.backlog_packets()
                );
            }
            d.drain();
            nosy.drain();
            prop_assert_eq!(&d.ledger, &nosy.ledger, "{}: polling matters", preset.name);
            if let Some(mut f) = forked {
                f.drain();
                prop_assert_eq!(&d.ledger, &f.ledger, "{}: a clone differs", preset.name);
            }
            check_ledger(&d, preset);
            prop_assert_eq!(d.discipline.backlog_bytes(), 0);
        }
    }

    /// The rate it has already, said again before everything that happens, changes nothing.
    #[test]
    fn the_same_rate_again_changes_nothing(ops in ops(), seed in 0_u64..1000) {
        for preset in presets() {
            let (mut told, mut plain) = (Driver::new(preset, seed), Driver::new(preset, seed));
            for op in &ops {
                prop_assert!(told.set_rate(BPS));
                told.apply(*op);
                plain.apply(*op);
            }
            told.drain();
            plain.drain();
            prop_assert_eq!(&told.ledger, &plain.ledger, "{}", preset.name);
        }
    }

    /// At its start a discipline is told another rate: it is as one that was built for it. If there is none, it
    /// stays what it was.
    #[test]
    fn a_rate_from_the_start_on_is_as_built(ops in ops(), seed in 0_u64..1000, bps in rates()) {
        for preset in presets() {
            let mut told = Driver::new(preset, seed);
            let mut built = Driver::new(preset, seed);
            match resolve(preset.json, bps) {
                Ok((recipe, warnings)) => {
                    built.discipline = recipe.build(&flows());
                    let told = told.discipline.set_rate(Time::ZERO, rate(bps));
                    prop_assert_eq!(told, Ok(warnings));
                }
                Err(why) => {
                    let told = told.discipline.set_rate(Time::ZERO, rate(bps));
                    prop_assert_eq!(told, Err(why));
                }
            }
            for op in &ops {
                told.apply(*op);
                built.apply(*op);
            }
            for leaf in 0..told.discipline.leaves().len() {
                prop_assert_eq!(told.discipline.limit(leaf), built.discipline.limit(leaf));
            }
            let buckets = |d: &Driver| d.discipline.buckets(d.now);
            prop_assert_eq!(buckets(&told), buckets(&built), "{}", preset.name);
            told.drain();
            built.drain();
            prop_assert_eq!(&told.ledger, &built.ledger, "{} at {}", preset.name, bps);
        }
    }

    /// However the rate changes: no packet is lost without a word, none is stuck, none leaves twice.
    #[test]
    fn packets_are_conserved_while_the_rate_changes(
        ops in prop::collection::vec((op(), prop::option::weighted(0.2, rates())), 1..160),
        seed in 0_u64..1000,
    ) {
        for preset in presets() {
            let mut d = Driver::new(preset, seed);
            for (op, bps) in &ops {
                let before = d.discipline.backlog_packets();
                if let Some(bps) = bps {
                    d.set_rate(*bps);
                    prop_assert_eq!(d.discipline.backlog_packets(), before);
                }
                d.apply(*op);
                check_wake(&d, preset);
            }
            d.drain();
            check_ledger(&d, preset);
            prop_assert_eq!(d.discipline.backlog_bytes(), 0);
        }
    }

    /// After a flush and a pause in which tokens fill up and averages decay, every preset does
    /// what a new one does: nothing is left of what was given up.
    #[test]
    fn a_flushed_discipline_works_on_as_a_new_one(
        before in ops(), after in ops(), seed in 0_u64..1000,
    ) {
        // Of ticks out of phase with the start, the first only begins an interval: once.
        for preset in presets().iter().filter(|p| !p.json.contains("tick_phase")) {
            let mut used = Driver::new(preset, seed);
            before.iter().for_each(|op| used.apply(*op));
            used.flush();
            // No average of some packets survives 10 000 time constants in binary64.
            used.now += Dur::from_secs(100_000);
            // What is measured at fixed times begins in phase: at a whole second.
            let past = used.now.as_ps() % Dur::from_secs(1).as_ps();
            used.now += Dur::from_secs(1) - Dur::from_ps(past);
            used.rng = Rng::from_key(seed);
            let begin = (used.now, used.seq, used.ledger.len());
            let mut new = Driver::new(preset, seed);
            after.iter().for_each(|op| { used.apply(*op); new.apply(*op); });
            used.drain();
            new.drain();
            prop_assert_eq!(
                shifted(&used.ledger[begin.2..], begin.0, &begin.1),
                shifted(&new.ledger, Time::ZERO, &[0; 8]),
                "{}", preset.name
            );
        }
    }

    /// PGPS needs no pause: its virtual time begins anew although the fluid server is behind.
    #[test]
    fn a_flushed_fluid_server_has_nothing_left(before in ops(), after in ops()) {
        for preset in presets().iter().filter(|p| p.json.contains("\"wfq\"")) {
            let mut used = Driver::new(preset, 0);
            before.iter().for_each(|op| used.apply(*op));
            used.flush();
            let begin = (used.now, used.seq, used.ledger.len());
            let mut new = Driver::new(preset, 0);
            after.iter().for_each(|op| { used.apply(*op); new.apply(*op); });
            used.drain();
            new.drain();
            prop_assert_eq!(
                shifted(&used.ledger[begin.2..], begin.0, &begin.1),
                shifted(&new.ledger, Time::ZERO, &[0; 8]),
                "{}", preset.name
            );
        }
    }

    /// With a server that never rests, a shaped class's bytes in any interval
    /// are at most burst + rate * interval: all pairs of departures are tried.
    #[test]
    fn shaped_output_keeps_within_its_bucket(
        arrivals in prop::collection::vec((0_u64..30_000_000_000, 40_u16..1600), 1..120),
    ) {
        let json = r#"{"main": {"class-based": {"classes": [
            {"name": "class-default", "shape": {"rate": "200 kb/s", "burst": "2 kB"}}]}}}"#;
        let mut bench = spillgate_queueing::testkit::Bench::new(
            build(json, 1_000_000_000_000),
            rate(1_000_000_000_000),
        );
        let mut t = Time::ZERO;
        for (i, (gap, len)) in arrivals.iter().enumerate() {
            t += Dur::from_ps(*gap);
            bench.arrive(t, packet(0, i as u32, *len));
        }
        let out = bench.run().departures;
        for i in 0..out.len() {
            let mut bits = 0_u128;
            for d in &out[i..] {
                bits += 8 * u128::from(d.packet.len);
                let elapsed = u128::from(d.start.since(out[i].start).as_ps());
                // In bit·ps/s: exact.
                prop_assert!(bits * 1_000_000_000_000 <= 16_000 * 1_000_000_000_000 + 200_000 * elapsed);
            }
        }
    }
}

/// Presets cover the registry: whoever adds a key of a class must add a preset; those of an AQM or a discipline
/// follow by themselves.
#[test]
fn every_kind_is_under_the_contract() {
    for family in spillgate_queueing::kinds() {
        for kind in family.kinds {
            let key = format!("\"{}\"", kind.kind);
            let found = presets().iter().any(|p| p.json.contains(&key));
            assert!(found, "no preset has {key} of {}", family.name);
        }
    }
}

/// Each reason to drop and the mark occur, so that the ledgers above mean something.
#[test]
fn presets_reach_every_outcome() {
    let mut seen = BTreeSet::new();
    let mut marks = 0;
    for preset in presets() {
        let mut d = Driver::new(preset, 1);
        let mut rng = Rng::from_key(7);
        for _ in 0..4000 {
            let flow = rng.below(8);
            let len = 40 + rng.below(1460) as u16;
            d.apply(Op::Arrive { flow, len });
            // One and a half times what is served.
            d.now += Dur::from_us(u64::from(rng.below(8_000)));
            if rng.below(3) < 2 {
                d.serve();
            }
        }
        seen.extend(d.ledger.iter().filter_map(|e| match e {
            Entry::Dropped(_, _, reason) => Some(*reason),
            Entry::Sent(..) => None,
        }));
        d.drain();
        let marked: u64 = d.discipline.leaves().iter().map(|s| s.marks_ce).sum();
        // No source sends CE, so every CE that leaves is a mark; a fair queue may push a
        // marked packet out.
        let sent = d.ledger.iter();
        let ce = sent.filter(|e| matches!(e, Entry::Sent(_, p) if p.ecn == Ecn::Ce));
        if !["fair_queue", "\"drr\"", "\"fq\""]
            .iter()
            .any(|k| preset.json.contains(k))
        {
            assert_eq!(ce.count() as u64, marked, "{}", preset.name);
        }
        marks += marked;
    }
    let expected = [
        "drops_admission",
        "drops_early",
        "drops_forced",
        "drops_policer",
        "drops_pushed_out",
        "drops_tail",
    ];
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), expected);
    assert!(marks > 0);
}
