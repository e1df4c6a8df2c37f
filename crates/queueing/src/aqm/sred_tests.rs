use super::super::tests::{Script, facts};
use super::*;
use crate::aqm::Managed;
use crate::recipe::test_at;
use spillgate_core::{Rng, Verdict};

/// In a queue of 600 packets.
fn sred(spec: &SredSpec) -> ByChance<Sred> {
    let leaf = LeafFacts {
        max_packets: Some(600),
        limit: Limit::Packets(600),
        ..facts()
    };
    test_at(|at| spec.resolve(at, &leaf)).unwrap()
}

fn simple() -> SredSpec {
    SredSpec {
        mode: SredMode::Simple,
        ..SredSpec::default()
    }
}

/// By hand: 600/3 = 200 and 600/6 = 100 packets; (256 P)^2 is 6.5536 at P = 0.01.
#[test]
fn probabilities_are_those_of_the_equations() {
    let law = sred(&simple()).chooser;
    for (length, hits, expected) in [
        (200.0, 0.01, 0.022_888_18),
        (199.0, 0.01, 0.005_722_05),
        (100.0, 0.01, 0.005_722_05),
        (99.0, 0.01, 0.0),
        (200.0, 1.0 / 256.0, 0.15),
        (200.0, 0.0, 0.15),
        (200.0, 0.02, 0.005_722_05),
        (200.0, 0.1, 0.000_228_882),
    ] {
        let p = law.probability(length, hits, true);
        assert!((p - expected).abs() < 5e-9, "{length} {hits}: {p}");
    }
    let full = sred(&SredSpec::default()).chooser;
    assert_eq!(full.probability(200.0, 0.01, true), 1.0);
    assert!((full.probability(200.0, 0.1, true) - 0.002_517_70).abs() < 5e-9);
    assert!((full.probability(200.0, 0.1, false) - 0.000_228_882).abs() < 5e-10);
}

/// The share of hits moves by 0.00025 of the distance; the third of the draws is that of the drop.
#[test]
fn hits_are_counted_and_misses_may_overwrite() {
    let full = || {
        let mut sred = Managed::new(sred(&SredSpec::default()));
        sred.vars.hits = 0.01;
        sred.vars.zombies = (0..1000).map(|flow| (flow, 0)).collect();
        sred
    };
    for (flow, draws, hits, there) in [
        (7, &[0.0075][..], 0.010_247_5, 7),
        (1001, &[0.0075, 0.25], 0.009_997_5, 7),
        (1001, &[0.0075, 0.249], 0.009_997_5, 1001),
    ] {
        let mut sred = full();
        let mut script = Script::new(draws);
        let packet = Packet::new(flow, 0, 1000);
        sred.arrival(Time::ZERO, &Backlog::of(0, 0), &packet, &mut script);
        assert_eq!(script.drawn, draws.len());
        assert!((sred.vars.hits - hits).abs() < 1e-12, "{}", sred.vars.hits);
        assert_eq!(sred.vars.zombies[7].0, there);
    }
}

/// With N flows that send alike the share of hits nears 1/N. Its standard deviation is
/// sqrt(alpha / 2 P (1 - P)), and the entries, which change all the time, at most double its
/// variance: six times of 0.0036 for ten flows.
#[test]
fn the_share_of_hits_counts_flows() {
    let mut sred = Managed::new(sred(&simple()));
    let mut rng = Rng::from_key(3);
    for _ in 0..60_000 {
        let packet = Packet::new(rng.below(10), 0, 1000);
        sred.arrival(Time::ZERO, &Backlog::of(0, 0), &packet, &mut rng);
    }
    let deviation = (2.0 * 0.000_25 / 2.0 * 0.1 * 0.9_f64).sqrt();
    let hits = sred.vars.hits;
    assert!((hits - 0.1).abs() < 6.0 * deviation, "{hits}");
}

/// SRED in plain words: verdicts over what arrives, with the numbers that are drawn.
fn plainly(spec: &SredSpec, arrivals: &[(u32, u32)], draws: &[f64]) -> Vec<bool> {
    let mut draws = draws.iter().copied();
    let mut list: Vec<u32> = Vec::new();
    let (m, mut p_hit) = (spec.zombies as usize, 0.0_f64);
    let mut passes = Vec::new();
    for (flow, q) in arrivals {
        if list.len() < m {
            list.push(*flow);
            passes.push(true);
            continue;
        }
        let i = (draws.next().unwrap() * m as f64).floor() as usize;
        let hit = list[i] == *flow;
        if !hit && draws.next().unwrap() < spec.overwrite {
            list[i] = *flow;
        }
        let alpha = spec.overwrite / m as f64;
        p_hit = (1.0 - alpha) * p_hit + if hit { alpha } else { 0.0 };
        let mut p = match q {
            200.. => spec.max_p,
            100.. => spec.max_p / 4.0,
            _ => 0.0,
        };
        if 256.0 * p_hit > 1.0 {
            p /= (256.0 * p_hit) * (256.0 * p_hit);
        }
        if hit && spec.mode == SredMode::Full {
            p *= 1.0 + 1.0 / p_hit;
        }
        // Nothing is drawn where nothing is dropped.
        passes.push(p == 0.0 || draws.next().unwrap() >= p);
    }
    passes
}

#[test]
fn it_is_what_it_is_in_plain_words() {
    let mut rng = Rng::from_key(9);
    let mut dropped = 0;
    for round in 0..200 {
        let spec = SredSpec {
            mode: [SredMode::Simple, SredMode::Full][rng.below(2) as usize],
            zombies: 1 + rng.below(50),
            overwrite: rng.f64().max(0.01),
            max_p: rng.f64().max(0.01),
            ecn: false,
        };
        let arrivals: Vec<_> = (0..300).map(|_| (rng.below(20), rng.below(400))).collect();
        let draws: Vec<_> = (0..900).map(|_| rng.f64()).collect();
        let mut sred = Managed::new(sred(&spec));
        let mut script = Script::new(&draws);
        let found: Vec<_> = arrivals
            .iter()
            .map(|(flow, waiting)| {
                let packet = Packet::new(*flow, 0, 1000);
                let backlog = Backlog::of(*waiting, 0);
                sred.arrival(Time::ZERO, &backlog, &packet, &mut script) == Verdict::Pass
            })
            .collect();
        dropped += found.iter().filter(|passed| !**passed).count();
        assert_eq!(
            found,
            plainly(&spec, &arrivals, &draws),
            "{round}: {spec:?}"
        );
    }
    assert!(dropped > 1000, "{dropped}");
}
