//! The switch as a state machine: phases, cells, buffers, policies, and what is counted.

use std::cell::Cell;

use crate::common::{Bernoulli, Slotted, crossbar, recipe};
use proptest::prelude::*;
use spillgate_core::testkit::effort;
use spillgate_core::{DropReason, Packet, Rate, Rng, Time};
use spillgate_nodes::switch::{FabricOutbox, Speedup, SwitchRecipe, SwitchSpec};
use spillgate_queueing::{Recipe, spec::DisciplineSpec};

/// After t slots there were floor(t speedup) phases.
#[test]
fn phases_of_a_fraction_are_exact() {
    let phases = |s: Speedup, n: u64| (0..n).map(|t| s.phases_in(t)).collect::<Vec<_>>();
    let of = |a, b| Speedup::new(a, b).unwrap();
    assert_eq!(phases(of(11, 10), 10), [1, 1, 1, 1, 1, 1, 1, 1, 1, 2]);
    assert_eq!(phases(of(7, 5), 5), [1, 1, 2, 1, 2]);
    assert_eq!(phases(of(3, 2), 4), [1, 2, 1, 2]);
    let total: u64 = phases(of(4, 3), 3_000_000).into_iter().sum();
    assert_eq!(total, 4_000_000);
}

/// In time: a packet of 2.5 cells at speedup 1.5 arrives in the middle of a slot, crosses in three
/// slots, and has arrived at the end of the third.
#[test]
fn a_packet_crosses_in_cells() {
    // 1 Gb/s, 100 B: 800 ns a slot of a line, 533.3 ns a slot of the fabric.
    let json = crossbar("cioq", "1.5", r#""islip": {}"#).replace("1000 B", "100 B");
    let mut s = recipe(&json, 4).build(&[].into());
    let (mut rng, mut out) = (Rng::from_key(1), FabricOutbox::default());
    let ns = |n: u64| Time::from_ps(n * 1000);
    s.offer(ns(600), (1, 2), Packet::new(0, 0, 250), &mut rng, &mut out);
    assert_eq!(s.waiting_for(2), (1, 250));
    let mut wakes = Vec::new();
    while let Some(at) = s.next_wake() {
        wakes.push(at.as_ps());
        s.wake(at, &mut rng, &mut out);
        if wakes.len() == 1 {
            // What crosses does not wait.
            assert_eq!(s.waiting_for(2), (0, 0));
        }
    }
    assert_eq!(wakes, [1_066_666, 1_600_000, 2_133_333, 2_666_666]);
    let crossed = &out.crossed[0];
    assert_eq!(
        (crossed.input, crossed.output, crossed.packet.len),
        (1, 2, 250)
    );
    assert_eq!(crossed.packet.arrived, ns(600));
    // Five slots have begun before the end of the fifth.
    let slots = s.slots(Time::from_ps(2_666_666), 2).unwrap();
    assert_eq!((slots.all, slots.wanted, slots.wasted), (5, 3, 0));
    assert_eq!(slots.shares(), [0.6, 0.0, 0.4]);
}

/// A slot in which nothing waited is over: what arrives as it began crosses in the next one. 8 us a
/// slot.
#[test]
fn a_slot_does_not_come_twice() {
    let mut s = recipe(&crossbar("voq", "1", r#""islip": {}"#), 2).build(&[].into());
    let (mut rng, mut out) = (Rng::from_key(1), FabricOutbox::default());
    let us = |n: u64| Time::from_ps(n * 1_000_000);
    for (at, done) in [(us(0), us(8)), (us(8), us(24))] {
        s.offer(at, (0, 1), Packet::new(0, 0, 1000), &mut rng, &mut out);
        while let Some(now) = s.next_wake() {
            s.wake(now, &mut rng, &mut out);
            for _ in out.crossed.drain(..) {
                assert_eq!(now, done);
            }
        }
    }
}

/// A lone queue of the parallel fabric has speedup / n of a line.
#[test]
fn parallel_links_have_a_share_of_the_line() {
    let json = r#"{"architecture": "cioq", "speedup": 1.1, "fabric": {"parallel": {}}}"#;
    let mut s = recipe(json, 4).build(&[].into());
    let (mut rng, mut out) = (Rng::from_key(1), FabricOutbox::default());
    for (input, output) in [(0, 1), (0, 1), (2, 1), (0, 3)] {
        s.offer(
            Time::ZERO,
            (input, output),
            Packet::new(0, 0, 1000),
            &mut rng,
            &mut out,
        );
    }
    assert_eq!(s.waiting_for(1), (1, 1000));
    let mut at = Vec::new();
    while let Some(now) = s.next_wake() {
        s.wake(now, &mut rng, &mut out);
        at.extend(
            out.crossed
                .drain(..)
                .map(|c| (c.input, c.output, now.as_ps())),
        );
    }
    // 8 us 4 / 1.1.
    let t = 29_090_909;
    assert_eq!(at, [(0, 1, t), (0, 3, t), (2, 1, t), (0, 1, 2 * t)]);
}

/// Whole packets hold their ports: another input waits until the first packet has crossed.
#[test]
fn packets_of_any_length_cross() {
    let json = crossbar("cioq", "2", r#""islip": {}"#).replace("1000 B", "packets");
    let mut s = recipe(&json, 4).build(&[].into());
    let (mut rng, mut out) = (Rng::from_key(1), FabricOutbox::default());
    for (input, output, len) in [(0, 1, 1000), (2, 1, 40), (2, 3, 500)] {
        s.offer(
            Time::ZERO,
            (input, output),
            Packet::new(0, 0, len),
            &mut rng,
            &mut out,
        );
    }
    let mut at = Vec::new();
    while let Some(now) = s.next_wake() {
        s.wake(now, &mut rng, &mut out);
        at.extend(
            out.crossed
                .drain(..)
                .map(|c| (c.input, c.output, now.as_ps())),
        );
    }
    assert_eq!(
        at,
        [(2, 3, 2_000_000), (0, 1, 4_000_000), (2, 1, 4_160_000)]
    );
    let slots = s.slots(Time::from_ps(5_000_000), 1).unwrap();
    assert_eq!((slots.wanted, slots.wasted), (4_160_000, 0));
    assert_eq!(slots.all, 5_000_000);
}

/// What crosses in each slot of a crossbar with cells of 1000 B, after these arrivals in the slot:
/// input, output, bytes.
fn crossings(matching: &str, arrivals: &[&[(u16, u16, u16)]]) -> Vec<Vec<(u16, u16)>> {
    let mut s = recipe(&crossbar("voq", "1", matching), 4).build(&[].into());
    let (mut rng, mut out) = (Rng::from_key(1), FabricOutbox::default());
    let slot = |(slot, arrivals): (u64, &&[(u16, u16, u16)])| {
        for &(i, o, len) in *arrivals {
            let packet = Packet::new(0, 0, len);
            s.offer(Time::from_ps(slot), (i, o), packet, &mut rng, &mut out);
        }
        s.phase(Time::from_ps(slot), &mut rng, &mut out);
        out.crossed.drain(..).map(|c| (c.input, c.output)).collect()
    };
    (0..).zip(arrivals).map(slot).collect()
}

/// Longest queue first weighs what waits, with a packet of which some cells have crossed: that one
/// goes on where another queue is as long, and waits where another is longer.
#[test]
fn the_longest_queue_is_served_first() {
    let lqf = r#""longest-queue-first": {}"#;
    let one = (1, 0, 1000);
    let found = crossings(lqf, &[&[(0, 0, 1000), one, one, one], &[], &[], &[]]);
    assert_eq!(found, [[(1, 0)], [(1, 0)], [(0, 0)], [(1, 0)]]);
    let long = (0, 0, 2000);
    let as_long = crossings(lqf, &[&[long], &[one], &[]]);
    assert_eq!(as_long, [vec![], vec![(0, 0)], vec![(1, 0)]]);
    let longer = crossings(lqf, &[&[long], &[one, one], &[], &[]]);
    assert_eq!(longer, [vec![], vec![(1, 0)], vec![(0, 0)], vec![(1, 0)]]);
}

/// Stable matching: an input prefers the queue that has last become busy, and a packet of which
/// some cells have crossed keeps its queue busy, whatever comes behind it.
#[test]
fn a_queue_is_busy_until_its_last_cell_has_crossed() {
    let stable = r#""stable-marriage": {}"#;
    // The queue for output 1 becomes busy after that for output 0, which has the first cell.
    let found = crossings(stable, &[&[(0, 0, 1000), (0, 1, 1000)], &[]]);
    assert_eq!(found, [[(0, 1)], [(0, 0)]]);
    // Output 0 is busy since slot 0, output 1 since slot 1; a packet that follows in slot 1 changes
    // nothing.
    let found = crossings(
        stable,
        &[&[(0, 0, 2000)], &[(0, 1, 1000), (0, 0, 1000)], &[], &[]],
    );
    assert_eq!(found, [vec![], vec![(0, 1)], vec![(0, 0)], vec![(0, 0)]]);
}

/// Choudhury and Hahne 1998: m queues that are always full hold alpha B / (1 + m alpha) each.
#[test]
fn dynamic_thresholds_settle_where_published() {
    for (alpha, full) in [(1.0, 1), (1.0, 3), (0.5, 2), (2.0, 7)] {
        let json = format!(
            r#"{{"architecture": "voq", "buffer": {{"limit": "1000 packets", "per": "shared", "alpha": {alpha}}}}}"#
        );
        let mut s = recipe(&json, 8).build(&[].into());
        let (mut rng, mut out) = (Rng::from_key(1), FabricOutbox::default());
        for _ in 0..1000 {
            for input in 0..full {
                s.offer(
                    Time::ZERO,
                    (input, 0),
                    Packet::new(0, 0, 100),
                    &mut rng,
                    &mut out,
                );
            }
        }
        let expected = alpha * 1000.0 / (1.0 + f64::from(full) * alpha);
        for input in 0..full {
            let held = f64::from(s.waiting(input, 0).0);
            // Packets are whole, and the last of a round finds a little less.
            assert!(
                (held - expected).abs() <= 1.0 + alpha,
                "{alpha}, {full}: {held}, {expected}"
            );
            // One queue alone finds a threshold that only it moves, and stops at it.
            assert!(full > 1 || held == expected, "{alpha}: {held}");
        }
        assert!(
            out.lost
                .iter()
                .all(|l| l.dropped.reason == DropReason::InputQueue)
        );
    }
}

#[test]
fn limits_are_of_a_queue_or_an_input() {
    for (per, expected) in [("queue", [3, 3, 3]), ("input", [3, 0, 3])] {
        let json =
            format!(r#"{{"architecture": "voq", "buffer": {{"limit": "300 B", "per": "{per}"}}}}"#);
        let mut s = recipe(&json, 4).build(&[].into());
        let (mut rng, mut out) = (Rng::from_key(1), FabricOutbox::default());
        for pair in [(0, 1), (0, 2), (3, 2)] {
            for _ in 0..5 {
                s.offer(Time::ZERO, pair, Packet::new(0, 0, 100), &mut rng, &mut out);
            }
        }
        let held = [(0, 1), (0, 2), (3, 2)].map(|(i, o)| s.waiting(i, o).0);
        assert_eq!(held, expected, "{per}");
        assert_eq!(out.lost.len() as u32, 15 - held.iter().sum::<u32>());
    }
}

/// What crosses at once takes no place in a buffer, be it full or too small for the packet: golden
/// lists by hand. A line has 1 Gb/s and two ports; 1000 B cross in 16 us over a parallel link, in
/// 8 us over a crossbar.
#[test]
fn what_crosses_at_once_takes_no_place() {
    let parallel = r#"{"architecture": "cioq", "fabric": {"parallel": {}}}"#.to_owned();
    let packets = crossbar("voq", "1", r#""islip": {}"#).replace("1000 B", "packets");
    // Arrivals: microsecond, input, output. Crossed: input, output, when its last bit has.
    let one_input = [
        (0, 0, 0),
        (1, 0, 0),
        (2, 0, 0),
        (3, 0, 0),
        (4, 0, 1),
        (5, 0, 1),
    ];
    // An output that is busy holds the input's packets back; the input is free, and so is another
    // output.
    let two_inputs = [
        (0, 1, 0),
        (1, 0, 0),
        (2, 0, 0),
        (3, 0, 0),
        (4, 0, 1),
        (5, 0, 1),
    ];
    let waiting = [(0, 0, 16), (0, 1, 20), (0, 0, 32), (0, 0, 48)];
    let at_once = [(0, 0, 16), (0, 1, 20)];
    let matched = [(1, 0, 8), (0, 1, 12), (0, 0, 20), (0, 0, 28)];
    for (fabric, arrivals, limit, crossed) in [
        (
            &parallel,
            one_input,
            r#""limit": "2 packets", "per": "input""#,
            &waiting[..],
        ),
        (
            &parallel,
            one_input,
            r#""limit": "2000 B", "per": "input""#,
            &waiting,
        ),
        (
            &parallel,
            one_input,
            r#""limit": "2 packets", "per": "shared", "alpha": 9"#,
            &waiting,
        ),
        (
            &parallel,
            one_input,
            r#""limit": "999 B", "per": "queue""#,
            &at_once,
        ),
        (
            &packets,
            two_inputs,
            r#""limit": "2 packets", "per": "input""#,
            &matched,
        ),
        (
            &packets,
            two_inputs,
            r#""limit": "2 packets", "per": "shared", "alpha": 9"#,
            &matched,
        ),
        (
            &packets,
            two_inputs,
            r#""limit": "999 B", "per": "queue""#,
            &matched[..2],
        ),
    ] {
        let json = fabric.replacen('{', &format!(r#"{{"buffer": {{{limit}}}, "#), 1);
        let mut s = recipe(&json, 2).build(&[].into());
        let (mut rng, mut out) = (Rng::from_key(1), FabricOutbox::default());
        for (us, input, output) in arrivals {
            let packet = Packet::new(0, 0, 1000);
            s.offer(
                Time::from_ps(us * 1_000_000),
                (input, output),
                packet,
                &mut rng,
                &mut out,
            );
        }
        let mut found = Vec::new();
        while let Some(now) = s.next_wake() {
            s.wake(now, &mut rng, &mut out);
            let of =
                |c: spillgate_nodes::switch::Crossed| (c.input, c.output, now.as_ps() / 1_000_000);
            found.extend(out.crossed.drain(..).map(of));
        }
        assert_eq!(found, crossed, "{json}");
        assert_eq!(out.lost.len() + crossed.len(), arrivals.len());
        let most = s.backlog_of_input(Time::from_ps(1 << 40), 0).packets_max;
        assert_eq!(most, if limit.contains("999") { 0 } else { 2 }, "{json}");
    }
}

/// CoDel at virtual output queues drops what waited too long, and says so.
#[test]
fn a_policy_judges_at_the_inputs() {
    let json = r#"{"architecture": "cioq", "speedup": 1, "fabric": {"parallel": {}}}"#;
    let plain = recipe(json, 2);
    let policy: DisciplineSpec =
        serde_json::from_str(r#"{"fifo": {"limit": "100 packets", "aqm": {"codel": {}}}}"#)
            .unwrap();
    assert_eq!(plain.queue_rate().bps(), 500_000_000);
    let (policy, _) = Recipe::of(policy, plain.queue_rate()).unwrap();
    let mut s = plain.with_policy(policy).build(&[].into());
    let (mut rng, mut out) = (Rng::from_key(1), FabricOutbox::default());
    let mut offered = 0;
    // Twice what the queue carries, for half a second.
    for k in 0..40_000_u64 {
        let now = Time::from_ps(k * 12_000_000);
        while let Some(at) = s.next_wake().filter(|at| *at <= now) {
            s.wake(at, &mut rng, &mut out);
        }
        s.offer(
            now,
            (0, 1),
            Packet::new(0, k as u32, 1500),
            &mut rng,
            &mut out,
        );
        offered += 1;
    }
    let reasons = |r| out.lost.iter().filter(|l| l.dropped.reason == r).count();
    assert!(reasons(DropReason::Tail) > 0 || reasons(DropReason::Early) > 0);
    let counts = s.counts(0, 1);
    assert_eq!(counts.offered_packets, offered);
    assert_eq!(counts.lost_packets(), out.lost.len() as u64);
    let waiting = u64::from(s.waiting(0, 1).0);
    assert_eq!(
        offered,
        counts.carried_packets + counts.lost_packets() + waiting
    );
}

/// Little's law holds between what is integrated and what is counted.
#[test]
fn backlogs_are_integrals() {
    let json = crossbar("voq", "1", r#""islip": {}"#);
    let mut s = Slotted::new(&json, 8, Speedup::ONE);
    let mut traffic = Bernoulli::uniform(8, 0.8, 4);
    s.switch.measure(Time::from_ps(1000), Time::from_ps(5000));
    let mut integral = vec![0_u64; 64];
    let mut peak = 0;
    for slot in 0..6000 {
        for (i, o) in traffic.draw() {
            s.arrive(i, o);
            if (1000..5000).contains(&slot) {
                peak = peak.max(s.switch.waiting(i as u16, 3).0);
            }
        }
        s.step();
        // The backlog after a slot lasts until the next.
        if (1000..5000).contains(&slot) {
            for (k, sum) in integral.iter_mut().enumerate() {
                *sum += u64::from(s.switch.waiting(k as u16 / 8, k as u16 % 8).0);
            }
        }
    }
    for (k, sum) in integral.iter().enumerate() {
        let backlog = s.switch.backlog(s.now(), k as u16 / 8, k as u16 % 8);
        assert!((backlog.packets_mean - *sum as f64 / 4000.0).abs() < 1e-9);
        assert!((backlog.bytes_mean - 1000.0 * backlog.packets_mean).abs() < 1e-6);
    }
    let of_output = s.switch.backlog_of_output(s.now(), 2).packets_mean;
    let sum: u64 = (0..8).map(|i| integral[i * 8 + 2]).sum();
    assert!((of_output - sum as f64 / 4000.0).abs() < 1e-9);
    assert!(
        (0..8)
            .map(|i| s.switch.backlog(s.now(), i, 3).packets_max)
            .max()
            .unwrap()
            >= peak
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48 * effort()))]

    /// Packets are conserved and in order, whatever the switch, nothing stays behind, and what
    /// could cross at once is never refused.
    #[test]
    fn nothing_is_lost_unseen(
        ports in 2..6_usize,
        kind in 0..7_usize,
        limit in 1..30_u32,
        bound in 0..4_usize,
        seed in any::<u64>(),
        lens in prop::collection::vec(1..1500_u16, 1..5),
    ) {
        let json = match kind {
            0 => r#"{"architecture": "output-queued"}"#.to_owned(),
            1 => crossbar("input-queued", "1", r#""pim": {}"#),
            2 => crossbar("cioq", "4/3", r#""islip": {"iterations": 1}"#).replace("1000 B", "64 B"),
            3 => crossbar("cioq", "1.5", r#""stable-marriage": {}"#).replace("1000 B", "333 B"),
            4 => crossbar("voq", "1", r#""oldest-cell-first": {}"#).replace("1000 B", "packets"),
            5 => r#"{"architecture": "cioq", "speedup": 1.1, "fabric": {"parallel": {}}}"#.to_owned(),
            _ => crossbar("input-queued", "2", r#""longest-queue-first": {}"#).replace("1000 B", "packets"),
        };
        let json = if kind == 0 { json } else {
            let limit = match bound {
                0 => format!(r#""limit": "{limit} packets", "per": "shared""#),
                1 => format!(r#""limit": "{limit} packets", "per": "input""#),
                2 => format!(r#""limit": "{} B", "per": "input""#, 100 * limit),
                _ => format!(r#""limit": "{} B""#, 100 * limit),
            };
            json.replacen('{', &format!(r#"{{"buffer": {{{limit}}}, "#), 1)
        };
        let mut s = recipe(&json, ports).build(&[].into());
        let mut rng = Rng::from_key(seed);
        let mut out = FabricOutbox::default();
        let (mut now, mut last) = (0, vec![0; ports * ports]);
        let mut offered = 0;
        let crossed = vec![Cell::new(0); ports * ports];
        let mut check = |out: &mut FabricOutbox| {
            for c in out.crossed.drain(..) {
                let k = usize::from(c.input) * ports + usize::from(c.output);
                crossed[k].set(crossed[k].get() + 1);
                assert!(c.packet.seq > last[k], "out of order");
                last[k] = c.packet.seq;
            }
        };
        for seq in 1..400 {
            now += u64::from(rng.below(8_000_000));
            while let Some(at) = s.next_wake().filter(|at| at.as_ps() <= now) {
                s.wake(at, &mut rng, &mut out);
                check(&mut out);
            }
            let pair = (rng.below(ports as u32) as u16, rng.below(ports as u32) as u16);
            let len = lens[rng.below(lens.len() as u32) as usize];
            let n = ports as u16;
            let crosses = |&(i, o): &(u16, u16)| {
                let k = usize::from(i) * ports + usize::from(o);
                s.counts(i, o).carried_packets > crossed[k].get()
            };
            let mut shares_a_port = (0..n).flat_map(|k| [(k, pair.1), (pair.0, k)]);
            // The matching is maximal, so nothing waits between free ports.
            let is_idle = match kind {
                4 => !shares_a_port.any(|p| crosses(&p)),
                5 => !crosses(&pair),
                _ => false,
            };
            let lost = out.lost.len();
            s.offer(Time::from_ps(now), pair, Packet::new(0, seq, len), &mut rng, &mut out);
            offered += 1;
            prop_assert!(!is_idle || out.lost.len() == lost, "{seq} could cross at once");
            check(&mut out);
        }
        while let Some(at) = s.next_wake() {
            s.wake(at, &mut rng, &mut out);
            check(&mut out);
        }
        if kind > 0 {
            let mut sum = (0, 0);
            for i in 0..ports as u16 {
                let counts = s.counts_of_input(i);
                sum.0 += counts.carried_packets;
                sum.1 += counts.lost_packets();
                prop_assert_eq!(s.waiting_for(i), (0, 0));
            }
            prop_assert_eq!(sum.0 + sum.1, offered);
            prop_assert_eq!(sum.1, out.lost.len() as u64);
        }
    }
}

#[test]
fn bad_values_are_refused_at_their_keys() {
    let problem = |json: &str| {
        let spec: SwitchSpec = serde_json::from_str(json).unwrap();
        let line = Rate::from_bps(1_000_000).unwrap();
        let p = SwitchRecipe::resolve(&spec, 4, line).unwrap_err();
        format!("{} {}", p.path, p.found)
    };
    for (json, expected) in [
        (r#"{"architecture": "cioq", "speedup": 0.9}"#, "speedup 0.9"),
        (
            r#"{"architecture": "cioq", "speedup": "13/3"}"#,
            "speedup 13/3",
        ),
        (r#"{"architecture": "voq", "speedup": 2}"#, "speedup 2"),
        (
            r#"{"architecture": "output-queued", "speedup": 2}"#,
            "speedup 2",
        ),
        (
            r#"{"architecture": "cioq", "congestion_measure": {"nu": -0.5}}"#,
            "congestion_measure.nu -0.5",
        ),
        (
            r#"{"architecture": "voq", "fabric": {"crossbar": {"cell": "0 B"}}}"#,
            "fabric.crossbar.cell 0 B",
        ),
        (
            r#"{"architecture": "voq", "fabric": {"crossbar": {"matching": {"islip": {"iterations": 0}}}}}"#,
            "fabric.crossbar.matching.islip.iterations 0",
        ),
        (
            r#"{"architecture": "input-queued", "fabric": {"parallel": {}}}"#,
            "fabric parallel",
        ),
        (
            r#"{"architecture": "voq", "buffer": {"limit": "0 packets"}}"#,
            "buffer.limit 0 packets",
        ),
        (
            r#"{"architecture": "voq", "buffer": {"limit": "20 ms"}}"#,
            "buffer.limit 20 ms",
        ),
        (
            r#"{"architecture": "voq", "buffer": {"limit": "20 packets", "alpha": 1}}"#,
            "buffer.alpha 1",
        ),
        (
            r#"{"architecture": "voq", "policy": "X", "fabric": {"crossbar": {"matching": {"stable-marriage": {}}}}}"#,
            "fabric.crossbar.matching stable-marriage",
        ),
        (
            r#"{"architecture": "voq", "fabric": {"crossbar": {"matching": {"rotation": {}}, "cell": "packets"}}}"#,
            "fabric.crossbar.matching rotation",
        ),
    ] {
        assert_eq!(problem(json), expected);
    }
    for json in [
        r#"{"architecture": "cioq", "speedup": "fast"}"#,
        r#"{"architecture": "cioq", "speedup": 0}"#,
    ] {
        assert!(serde_json::from_str::<SwitchSpec>(json).is_err());
    }
}
