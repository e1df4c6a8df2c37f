//! What a discipline says of a drop is what it decided by.

use crate::common::{build, packet};
use spillgate_core::{DropReason, Drops, Dur, Rng, Time};
use spillgate_queueing::{Cause, ChanceOdds, Evidence};

/// One policy, a packet of flow `i % 8` every `gap`, and a server that takes one every 120 us:
/// every drop with its evidence and the number that the stream would have given before the call.
fn drops(json: &str, gap: Dur, packets: u32) -> Vec<(DropReason, Evidence, f64)> {
    let mut discipline = build(json, 100_000_000);
    let (mut rng, mut sink) = (Rng::from_key(7), Drops::new());
    let mut all = Vec::new();
    let (mut now, mut served) = (Time::ZERO, Time::ZERO);
    for i in 0..packets {
        now += gap;
        while served + Dur::from_us(120) <= now {
            served += Dur::from_us(120);
            discipline.dequeue(served, &mut rng, &mut sink);
        }
        let next = rng.clone().f64();
        discipline.enqueue(now, packet(i % 8, i, 1500), &mut rng, &mut sink);
        for lost in sink.as_slice() {
            all.push((lost.reason, discipline.evidence(now, lost), next));
        }
        sink.clear();
    }
    all
}

fn fifo(aqm: &str) -> String {
    format!(r#"{{"main": {{"fifo": {{"limit": "60 packets", "aqm": {aqm}}}}}}}"#)
}

#[test]
fn the_draw_is_the_one_that_decided() {
    for aqm in [
        r#"{"wred": {"exponential_weighting_constant": 4}}"#,
        r#"{"red": {"weight": 0.05, "min_th": 5, "max_th": 30}}"#,
        r#"{"self-configuring-red": {"weight": 0.05, "min_th": 5, "max_th": 30}}"#,
        r#"{"load-adaptive-red": {"weight": 0.05, "threshold_low": 12, "period": "20 ms"}}"#,
    ] {
        let all = drops(&fifo(aqm), Dur::from_us(100), 4000);
        let early: Vec<_> = all.iter().filter(|d| d.0 == DropReason::Early).collect();
        assert!(early.len() > 100, "{aqm}: {}", early.len());
        for (_, evidence, next) in early {
            let Cause::Aqm(odds) = evidence.cause else {
                panic!("{evidence:?}")
            };
            assert_eq!(odds.draw, Some(*next));
            assert!(odds.draw < Some(odds.probability) && odds.probability <= 1.0);
            assert_eq!(odds.count.is_none(), aqm.contains("wred"));
            if aqm.contains("wred") {
                // The profiles' slope (Cisco): 1/10 at the upper threshold.
                let p = 0.1 * (odds.average - odds.min) / (odds.max - odds.min);
                assert!((p - odds.probability).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn above_the_upper_threshold_nothing_is_drawn() {
    let aqm = r#"{"wred": {"exponential_weighting_constant": 1, "by": "precedence",
        "precedence": {"0": {"min": 5, "max": 10}, "1": {"min": 5, "max": 10}, "2": {"min": 5, "max": 10},
        "3": {"min": 5, "max": 10}, "4": {"min": 5, "max": 10}, "5": {"min": 5, "max": 10}}}}"#;
    let all = drops(&fifo(aqm), Dur::from_us(30), 2000);
    let forced = all.iter().filter(|d| d.0 == DropReason::Forced);
    let mut seen = 0;
    for (_, evidence, _) in forced {
        let Cause::Aqm(odds) = evidence.cause else {
            panic!("{evidence:?}")
        };
        assert!(odds.average >= 10.0 && odds.draw.is_none() && odds.probability == 1.0);
        seen += 1;
    }
    assert!(seen > 100);
}

#[test]
fn a_full_queue_is_full_and_a_full_conversation_says_so() {
    for (json, flow_limit) in [
        (r#"{"main": {"fifo": {"limit": "20 packets"}}}"#, None),
        (
            r#"{"main": {"wfq": {"limit": "6 packets", "hold_queue": "20 packets"}}}"#,
            Some(6),
        ),
        (
            r#"{"main": {"flow-wfq": {"threshold": 4, "cdt_policy": "block-quarter"}}}"#,
            Some(4),
        ),
        (
            r#"{"main": {"flow-wfq": {"threshold": 4, "cdt_policy": "tail-drop"}}}"#,
            Some(4),
        ),
    ] {
        let all = drops(json, Dur::from_us(50), 400);
        assert!(all.len() > 20, "{json}");
        for (reason, evidence, _) in all {
            assert_eq!(reason, DropReason::Tail);
            match evidence.cause {
                Cause::Plain => assert_eq!(Some(evidence.queue_packets), evidence.limit.packets),
                Cause::Flow { packets, limit, .. } => {
                    assert_eq!(limit.packets, flow_limit);
                    // `block-quarter` refuses from the limit down to a quarter of it.
                    assert!(Some(packets) <= limit.packets && packets >= 1);
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn a_leaf_is_held_until_its_shaper_s_next_wake() {
    let json = r#"{"main": {"class-based": {"classes": [
        {"name": "slow", "match": {"dscp": "ef"}, "shape": {"rate": "1.2 Mb/s", "burst": "1500 B"}}]}}}"#;
    let mut discipline = build(json, 100_000_000);
    let (mut rng, mut sink) = (Rng::from_key(7), Drops::new());
    for seq in 0..2 {
        let p = packet(0, seq, 1500);
        assert_eq!(discipline.leaf_of(&p), 0);
        discipline.enqueue(Time::ZERO, p, &mut rng, &mut sink);
    }
    assert!(!discipline.is_held(0, Time::ZERO));
    assert!(
        discipline
            .dequeue(Time::ZERO, &mut rng, &mut sink)
            .is_some()
    );
    let wake = discipline.next_wake(Time::ZERO).unwrap();
    assert_eq!(wake, Time::ZERO + Dur::from_ms(10));
    assert!(discipline.is_held(0, Time::ZERO));
    assert!(discipline.is_held(0, Time::from_ps(wake.as_ps() - 1)));
    assert!(!discipline.is_held(0, wake));
    assert!(!discipline.outranks(0, 1) && !discipline.outranks(1, 0));
}

/// CoDel drops when packets leave: each drop says how long its packet had waited, which of its
/// period it is, and when it fell due; a drop for want of room, what is left of the queue that
/// gave.
#[test]
fn codel_says_how_long_a_packet_had_waited() {
    for (json, marks) in [
        (fifo(r#"{"codel": {}}"#), false),
        (fifo(r#"{"codel": {"ecn": true}}"#), true),
        (
            r#"{"main": {"fq-codel": {"flows": 1, "limit": "60 packets", "ecn": false}}}"#
                .to_owned(),
            false,
        ),
    ] {
        let mut discipline = build(&json, 100_000_000);
        let (mut rng, mut sink) = (Rng::from_key(7), Drops::new());
        let (mut now, mut served) = (Time::ZERO, Time::ZERO);
        let (mut early, mut marked, mut last) = (0, 0, 0);
        for i in 0..20_000 {
            now += Dur::from_us(119);
            while served + Dur::from_us(120) <= now {
                served += Dur::from_us(120);
                let left = discipline.dequeue(served, &mut rng, &mut sink);
                let lost = sink
                    .as_slice()
                    .iter()
                    .map(|l| (l.packet, discipline.evidence(served, l)));
                let mark = left.filter(|p| p.ecn == spillgate_core::Ecn::Ce);
                marked += u32::from(mark.is_some());
                early += sink.as_slice().len();
                let all: Vec<_> = lost
                    .chain(mark.map(|p| (p, discipline.mark_evidence(served, &p))))
                    .collect();
                for (packet, evidence) in all {
                    let Cause::Waited(why) = evidence.cause else {
                        panic!("{evidence:?}")
                    };
                    assert_eq!(why.waited, served.since(packet.arrived));
                    assert_eq!(
                        (why.target, why.interval),
                        (Dur::from_ms(5), Dur::from_ms(100))
                    );
                    assert!(why.waited >= why.target && why.due.unwrap() <= served);
                    let count = why.count.unwrap();
                    // The next of its period, the first of one, or the second of one that goes on
                    // where another was.
                    assert!(
                        count == last + 1 || count <= last.max(1) || last == 1,
                        "{count} after {last}"
                    );
                    last = count;
                }
                sink.clear();
            }
            // A slow start, so that the queue stands.
            let burst = if i == 100 { 58 } else { 1 };
            for n in 0..burst {
                let p = spillgate_core::Packet {
                    arrived: now,
                    ..packet(3 * (i % 2), i * 64 + n, 1500)
                };
                discipline.enqueue(now, p, &mut rng, &mut sink);
                for lost in sink
                    .as_slice()
                    .iter()
                    .filter(|l| l.reason == DropReason::PushedOut)
                {
                    let evidence = discipline.evidence(now, lost);
                    let Cause::Flow { packets, bytes, .. } = evidence.cause else {
                        panic!("{evidence:?}")
                    };
                    // One queue has all.
                    assert_eq!(
                        (packets, bytes),
                        (evidence.queue_packets, evidence.queue_bytes)
                    );
                }
                sink.clear();
            }
        }
        assert_eq!(marked > 0, marks, "{json}");
        // Both flows are capable.
        assert_eq!(early > 0, !marks, "{json}: {early}");
    }
}

/// PIE says the delay, the probability and the draw; at a sum of 8.5 none is drawn.
#[test]
fn pie_says_the_delay_and_its_probability() {
    for pie in [
        r#"{"pie": {"target": "1 ms", "update": "1 ms", "max_burst": "0 s"}}"#,
        r#"{"pie": {"target": "1 ms", "update": "1 ms", "max_burst": "0 s", "derandomize": false}}"#,
    ] {
        let all = drops(&fifo(pie), Dur::from_us(100), 4000);
        let early: Vec<_> = all.iter().filter(|d| d.0 == DropReason::Early).collect();
        assert!(early.len() > 100, "{pie}: {}", early.len());
        for (_, evidence, next) in early {
            let Cause::Delay(odds) = evidence.cause else {
                panic!("{evidence:?}")
            };
            assert_eq!(odds.target, Dur::from_ms(1));
            assert!(odds.delay >= Dur::from_us(500) || odds.probability >= 0.2);
            assert_eq!(odds.sum.is_none(), pie.contains("derandomize"));
            match odds.draw {
                Some(u) => assert!(u.to_bits() == next.to_bits() && u < odds.probability),
                None => assert!(odds.sum >= Some(8.5)),
            }
        }
    }
}

/// GREEN says the rate of arrivals, or the number of flows, and the draw. Packets of 1500 B every
/// The odds of a drop by chance, and the two numbers that they follow.
fn by_chance(evidence: &Evidence) -> (ChanceOdds, [f64; 2]) {
    let Cause::Chance(odds) = evidence.cause else {
        panic!("{evidence:?}")
    };
    let known: Vec<f64> = odds.by.facts().map(|fact| fact.value).collect();
    (odds, known.try_into().unwrap())
}

/// 100 us are 120 Mb/s for 100.
#[test]
fn green_says_the_rate_or_the_flows() {
    let gap = Dur::from_us(100);
    let early = |aqm: &str| {
        let mut all = drops(&fifo(aqm), gap, 4000);
        all.retain(|d| d.0 == DropReason::Early);
        assert!(all.len() > 100, "{aqm}: {}", all.len());
        all
    };
    for (_, evidence, next) in early(r#"{"green": {"time_constant": "10 ms", "gain": 0.001}}"#) {
        let (odds, [rate, target]) = by_chance(&evidence);
        assert_eq!((target, odds.draw), (97e6, Some(next)));
        assert!(next < odds.probability && rate < 120e6 * 1.01);
    }
    // 8 flows: (8 * 1000 * 1.31 / (12.5e6 * 0.002))^2.
    let root = 8.0 * 1000.0 * 1.31 / (12.5e6 * 0.002);
    let expected: f64 = root * root;
    for (_, evidence, next) in early(r#"{"green-tcp": {"rtt": "2 ms"}}"#).split_off(8) {
        let (odds, known) = by_chance(&evidence);
        assert_eq!((known, odds.draw), ([8.0, 0.002], Some(next)));
        assert!((odds.probability - expected).abs() < 1e-12);
    }
}
