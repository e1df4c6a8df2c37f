//! The contract of a discipline, for every preset: see the crate's
//! `Discipline` for its wording.

use std::collections::BTreeSet;

use crate::common::{BPS, Preset, build, flows, packet, presets, rate, resolve};
use proptest::prelude::*;
use spillgate_core::testkit::effort;
use spillgate_core::{Dur, Ecn, Packet, Rng, Time};
use spillgate_queueing::Discipline;
use spillgate_queueing::testkit::{Contract, Driver, Entry, Op, lose_at_departure};

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

/// Whether it has queues that take an AQM.
fn takes_aqm(preset: &Preset) -> bool {
    [
        "fifo",
        "class-based",
        "drr",
        "fair",
        "fq",
        "fq-codel",
        "fq-pie",
    ]
    .iter()
    .any(|kind| preset.json.contains(&format!("\"{kind}\"")))
}

/// Says of which preset a panic is.
struct Named(&'static str);

impl Drop for Named {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("preset: {}", self.0);
        }
    }
}

fn driver(preset: &Preset, seed: u64) -> Driver {
    Driver::new(build(preset.json, BPS), seed)
}

/// The same whose queues lose packets at departure, the last ones as well.
fn losing(preset: &Preset) -> Discipline {
    let mut d = build(preset.json, BPS);
    lose_at_departure(&mut d, 0.4);
    d
}

/// Whether the policy can be built for the rate.
fn set_rate(d: &mut Driver, bps: u64) -> bool {
    d.discipline.set_rate(d.now, rate(bps)).is_ok()
}

fn contract(preset: &Preset) -> Contract {
    Contract {
        in_order: true,
        work_conserving: preset.work_conserving,
    }
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
    #![proptest_config(ProptestConfig::with_cases(200 * effort()))]

    #[test]
    fn every_preset_keeps_the_contract(ops in ops(), seed in 0_u64..1000, at in 0_usize..160) {
        let lossy = presets().iter().filter(|p| takes_aqm(p));
        for preset in presets() {
            let _named = Named(preset.name);
            contract(preset).check_ops(|| build(preset.json, BPS), seed, &ops, at);
        }
        for preset in lossy {
            let _named = Named(preset.name);
            contract(preset).check_ops(|| losing(preset), seed, &ops, at);
        }
    }

    /// The rate it has already, said again before everything that happens, changes nothing.
    #[test]
    fn the_same_rate_again_changes_nothing(ops in ops(), seed in 0_u64..1000) {
        for preset in presets() {
            let (mut told, mut plain) = (driver(preset, seed), driver(preset, seed));
            for op in &ops {
                prop_assert!(set_rate(&mut told, BPS));
                told.apply(*op);
                plain.apply(*op);
            }
            told.drain();
            plain.drain();
            prop_assert_eq!(&told.ledger, &plain.ledger, "{}", preset.name);
        }
    }

    /// At its start a discipline is told another rate: it is as one that was built for it. If there
    /// is none, it stays what it was.
    #[test]
    fn a_rate_from_the_start_on_is_as_built(ops in ops(), seed in 0_u64..1000, bps in rates()) {
        for preset in presets() {
            let mut told = driver(preset, seed);
            let mut built = driver(preset, seed);
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

    /// However the rate changes: no packet is lost without a word, none is stuck, none leaves
    /// twice.
    #[test]
    fn packets_are_conserved_while_the_rate_changes(
        ops in prop::collection::vec((op(), prop::option::weighted(0.2, rates())), 1..160),
        seed in 0_u64..1000,
    ) {
        for preset in presets() {
            let _named = Named(preset.name);
            let mut d = driver(preset, seed);
            for (op, bps) in &ops {
                let before = d.discipline.backlog_packets();
                if let Some(bps) = bps {
                    set_rate(&mut d, *bps);
                    prop_assert_eq!(d.discipline.backlog_packets(), before);
                }
                d.apply(*op);
                contract(preset).check_wake(&d);
            }
            d.drain();
            contract(preset).check_ledger(&d);
            prop_assert_eq!(d.discipline.backlog_bytes(), 0);
        }
    }

    /// After a flush and a pause in which tokens fill up and averages decay, every preset does
    /// what a new one does: nothing is left of what was given up.
    #[test]
    fn a_flushed_discipline_works_on_as_a_new_one(
        before in ops(), after in ops(), seed in 0_u64..1000,
    ) {
        // Of ticks out of phase with the start, the first only begins an interval: once. The
        // average of a marker starts at its committed rate, and a pause takes it to 0. GREEN's
        // probability changes at packets only, what self-configuring and load-adaptive RED have set
        // stays, as do SRED's list of flows and SFB's bins, and DRED's filter says how long the
        // queue was empty. COBALT's count and probability decay by visits, not by time.
        let own = [
            "tick_phase",
            "window",
            "\"green\"",
            "\"self-configuring-red\"",
            "\"load-adaptive-red\"",
            "\"sred\"",
            "\"sfb\"",
            "\"dred\"",
            "\"cobalt\"",
            "\"cake\"",
        ];
        let restarts = |p: &&Preset| !own.iter().any(|key| p.json.contains(key));
        for preset in presets().iter().filter(restarts) {
            let mut used = driver(preset, seed);
            before.iter().for_each(|op| used.apply(*op));
            used.flush();
            // No average of some packets survives 10 000 time constants in binary64.
            used.now += Dur::from_secs(100_000);
            // What is measured at fixed times begins in phase: at a whole second, and at a tick of
            // Linux, 1.024 us.
            let past = used.now.as_ps() % Dur::from_secs(2).as_ps();
            used.now += Dur::from_secs(2) - Dur::from_ps(past);
            used.rng = Rng::from_key(seed);
            let begin = (used.now, used.seq, used.ledger.len());
            let mut new = driver(preset, seed);
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
            let mut used = driver(preset, 0);
            before.iter().for_each(|op| used.apply(*op));
            used.flush();
            let begin = (used.now, used.seq, used.ledger.len());
            let mut new = driver(preset, 0);
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

/// Presets cover the registry: whoever adds a key of a class must add a preset; those of an AQM or
/// a discipline follow by themselves.
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
        let mut d = driver(preset, 1);
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
        // No source sends CE, so every CE that leaves is a mark; a fair queue, a queue that makes
        // room and CHOKe may drop a marked packet.
        let sent = d.ledger.iter();
        let ce = sent.filter(|e| matches!(e, Entry::Sent(_, p) if p.ecn == Ecn::Ce));
        if ![
            "fair_queue",
            "\"drr\"",
            "\"fq\"",
            "\"full\"",
            "\"choke\"",
            "\"sfq\"",
        ]
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
