//! Fair queues composed of an order, a way to sort packets, and an AQM for each queue.

use crate::common::{build, packet, policies, rate, resolve};
use spillgate_core::{DropReason, Packet, Rng, Time};
use spillgate_queueing::testkit::{Bench, Outcome};

/// Random arrivals at `load` times 1 Mb/s.
fn random(json: &str, load: f64, seed: u64) -> Outcome {
    let mut bench = Bench::new(build(json, 1_000_000), rate(1_000_000));
    let mut rng = Rng::from_key(seed);
    let mut now = 0.0;
    for seq in 0..4000 {
        let len = 40 + rng.below(1460) as u16;
        // Flow 0 has half of all packets.
        let flow = rng.below(14).saturating_sub(6);
        bench.arrive(Time::from_secs_f64(now), packet(flow, seq, len));
        now += 2.0 * rng.f64() * f64::from(len) * 8.0 / (load * 1e6);
    }
    bench.run()
}

fn drops(out: &Outcome, reason: DropReason) -> Vec<u32> {
    let of = out.drops.iter().filter(|(_, d)| d.reason == reason);
    of.map(|(_, d)| d.packet.flow).collect()
}

/// FQ-CoDel is ten lines.
#[test]
fn fq_codel_is_fq_with_hashed_queues_under_codel() {
    let whole = r#"{"main": {"fq-codel": {"target": "10 ms", "interval": "60 ms", "limit": "90 packets"}}}"#;
    let parts = r#"{"main": {"fq": {"queues": 1024, "limit": "90 packets", "guard": "total",
        "aqm": {"codel": {"target": "10 ms", "interval": "60 ms", "ecn": true}}}}}"#;
    for (load, seed) in [(0.4, 1), (1.2, 2), (2.0, 3), (8.0, 4)] {
        let (whole, parts) = (random(whole, load, seed), random(parts, load, seed));
        assert_eq!(whole, parts, "load {load}");
        assert_eq!(
            drops(&whole, DropReason::Early).is_empty(),
            load < 1.0,
            "load {load}"
        );
    }
}

/// FQ-PIE, too, as it is without Linux's own limit.
#[test]
fn fq_pie_is_fq_with_hashed_queues_under_pie() {
    for (load, seed) in [(0.4, 1), (1.2, 2), (2.0, 3), (8.0, 4)] {
        let pie = r#""target": "5 ms", "update": "4 ms", "max_burst": "20 ms""#;
        let whole = format!(r#"{{"main": {{"fq-pie": {{{pie}, "limit": "90 packets"}}}}}}"#);
        let parts = format!(
            r#"{{"main": {{"fq": {{"queues": 1024, "limit": "90 packets", "aqm": {{"pie": {{{pie}}}}}}}}}}}"#
        );
        let (whole, parts) = (random(&whole, load, seed), random(&parts, load, seed));
        assert_eq!(whole, parts, "load {load}");
        assert_eq!(
            drops(&whole, DropReason::Early).is_empty(),
            load < 1.0,
            "load {load}"
        );
    }
}

/// At its limit FQ-PIE drops what arrives with the rules of Linux, else from the longest queue.
#[test]
fn fq_pie_of_linux_drops_what_arrives_at_its_limit() {
    for (variant, reason, lost) in [
        ("", DropReason::PushedOut, &[0, 0][..]),
        (r#""as": "linux", "#, DropReason::Tail, &[1][..]),
    ] {
        let json = format!(r#"{{"main": {{"fq-pie": {{{variant}"limit": "4 packets"}}}}}}"#);
        let mut bench = Bench::new(build(&json, 1_000_000), rate(1_000_000));
        for (seq, flow) in [0, 0, 0, 0, 1].into_iter().enumerate() {
            bench.arrive(Time::ZERO, packet(flow, seq as u32, 1000));
        }
        let out = bench.run();
        assert_eq!(drops(&out, reason), lost, "{variant}");
        assert_eq!(out.drops.len(), lost.len());
    }
}

/// A heavy flow of DRR meets its own RED, CoDel or WRED; the thin ones, whose queues never hold
/// more than one packet, do not. In one queue for all they lose, too.
#[test]
fn each_queue_has_an_aqm_of_its_own() {
    let aqms = [
        r#"{"red": {"min_th": 2, "max_th": 6, "weight": 0.2}}"#,
        r#"{"wred": {"exponential_weighting_constant": 1, "dscp": {"ef": {"min": 2, "max": 6}, "af41": {"min": 2, "max": 6}, "default": {"min": 2, "max": 6}}}}"#,
        r#"{"codel": {"target": "5 ms", "interval": "20 ms"}}"#,
    ];
    for aqm in aqms {
        let run = |queue: &str| {
            let json =
                format!(r#"{{"main": {{{queue}: {{"limit": "500 packets", "aqm": {aqm}}}}}}}"#);
            let mut bench = Bench::new(build(&json, 1_000_000), rate(1_000_000));
            // Of 125 packets of 1000 B a second flow 0 has 150, flows 1 and 7 have 10 each.
            for i in 0..1500 {
                bench.arrive(
                    Time::from_secs_f64(f64::from(i) / 150.0),
                    packet(0, i, 1000),
                );
            }
            for i in 0..100 {
                for flow in [1, 7] {
                    let at = f64::from(i) / 10.0 + f64::from(flow) * 0.013;
                    bench.arrive(Time::from_secs_f64(at), packet(flow, i, 1000));
                }
            }
            let out = bench.run();
            let lost = |f| out.drops.iter().filter(|(_, d)| d.packet.flow == f).count();
            (lost(0), lost(1) + lost(7))
        };
        for queue in ["\"drr\"", "\"fq\"", "\"fair\""] {
            let (heavy, thin) = run(queue);
            assert_eq!(thin, 0, "{queue} {aqm}");
            assert!(heavy > 50, "{queue} {aqm}: {heavy}");
        }
        assert!(run("\"fifo\"").1 > 0, "{aqm}");
    }
}

/// RED's average is the queue's own, and lasts while nothing of it waits. A burst of 20 packets
/// leaves it at 19 - 9 + 9 · 0.9^19 = 11.2, below the threshold of 12. A burst that comes 0.5 ms
/// after the last of it has left begins at 0.9^0.125 of that, 250 packets of 500 B being a second
/// at 1 Mb/s, and ends at 11.05 · 0.9^19 + 11.2 = 12.7; one that comes a second later begins anew.
#[test]
fn a_queue_is_remembered_while_its_average_is() {
    let json = r#"{"main": {"drr": {"limit": "500 packets", "aqm": {"red":
        {"min_th": 11.5, "max_th": 12, "max_p": 0, "gentle": false, "weight": 0.1}}}}}"#;
    let lost_after = |idle_ms: f64| {
        let mut bench = Bench::new(build(json, 1_000_000), rate(1_000_000));
        // 20 packets of 4 ms.
        let second = Time::from_secs_f64(0.08 + idle_ms * 1e-3);
        for seq in 0..20 {
            bench.arrive(Time::ZERO, packet(0, seq, 500));
            bench.arrive(second, packet(0, 20 + seq, 500));
        }
        drops(&bench.run(), DropReason::Forced).len()
    };
    assert!(lost_after(0.5) > 0);
    assert_eq!(lost_after(1000.0), 0);
}

/// What CoDel lets go instead of what it drops may be longer than the deficit that let its queue
/// send: the queue pays for it, and over a long time two queues get the same.
#[test]
fn a_turn_is_paid_for_what_left() {
    let json = r#"{"main": {"drr": {"quantum": "300 B", "limit": "900 packets",
        "aqm": {"codel": {"target": "1 ms", "interval": "4 ms", "max_packet": "0 B"}}}}}"#;
    let mut bench = Bench::new(build(json, 1_000_000), rate(1_000_000));
    let mut rng = Rng::from_key(3);
    for i in 0..20_000 {
        let at = Time::from_secs_f64(f64::from(i) * 0.001);
        for flow in [1, 4] {
            let len = if rng.below(2) == 0 { 60 } else { 1500 };
            bench.arrive(at, packet(flow, i, len));
        }
    }
    let out = bench.run();
    let (from, to) = (Time::from_secs_f64(2.0), Time::from_secs_f64(18.0));
    let bytes = |flow| out.bytes(from, to, |p: &Packet| p.flow == flow) as i64;
    assert!(!drops(&out, DropReason::Early).is_empty());
    // Shreedhar and Varghese bound the difference by a quantum and two packets; a debt adds a
    // packet each.
    let (a, b) = (bytes(1), bytes(4));
    assert!((a - b).abs() <= 300 + 4 * 1500, "{a} {b}");
}

/// What is left of a turn ends with the queue, also where the AQM remembers it: of 1500 B one that
/// comes again has two packets of 700 B in its turn, whatever it left before.
#[test]
fn a_queue_that_comes_again_has_saved_nothing() {
    let json = r#"{"main": {"drr": {"quantum": "1500 B", "aqm": {"red": {"weight": 0.5, "min_th": 50, "max_th": 90}}}}}"#;
    let mut bench = Bench::new(build(json, 1_000_000), rate(1_000_000));
    for seq in 0..3 {
        bench.arrive(Time::ZERO, packet(0, seq, 100));
    }
    let later = Time::from_secs_f64(1.0);
    for seq in 3..7 {
        for flow in [0, 1] {
            bench.arrive(later, packet(flow, seq, 700));
        }
    }
    let out = bench.run();
    let order: Vec<u32> = out.departures.iter().map(|d| d.packet.flow).collect();
    // The first of all leaves as it comes, before there is anyone else.
    assert_eq!(order, [0, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1]);
}

#[test]
fn errors_say_where() {
    for (json, path) in [
        (
            r#"{"main": {"fq": {"queues": 0}}}"#,
            "policies.main.fq.queues",
        ),
        (
            r#"{"main": {"fq": {"drop_batch": 0}}}"#,
            "policies.main.fq.drop_batch",
        ),
        (
            r#"{"main": {"fq": {"memory_limit": "0 B"}}}"#,
            "policies.main.fq.memory_limit",
        ),
        (
            r#"{"main": {"drr": {"aqm": {"codel": {"target": "0 s"}}}}}"#,
            "policies.main.drr.aqm.codel.target",
        ),
        (
            r#"{"main": {"fq": {"aqm": {"red": {"max_p": 2}}}}}"#,
            "policies.main.fq.aqm.red.max_p",
        ),
        (
            r#"{"main": {"class-based": {"classes": [{"name": "class-default", "aqm": {"red": {}}, "drr": {"aqm": {"codel": {}}}}]}}}"#,
            "policies.main.class-based.classes[0].aqm",
        ),
        (
            r#"{"main": {"class-based": {"classes": [{"name": "class-default", "aqm": {"codel": {}}, "fq": {}}]}}}"#,
            "policies.main.class-based.classes[0].aqm",
        ),
        (
            r#"{"main": {"class-based": {"classes": [{"name": "class-default", "drr": {}, "fq": {}}]}}}"#,
            "policies.main.class-based.classes[0].fq",
        ),
    ] {
        assert_eq!(resolve(json, 1_000_000).unwrap_err().path, path, "{json}");
    }
}

/// The key of a policy comes back as it was written.
#[test]
fn specifications_are_written_as_they_are_read() {
    let json = r#"{"main":{"drr":{"quantum":"300 B","weights":"equal","limit":"9 packets","aqm":{"red":{"min_th":1.0,"ecn":false}}}}}"#;
    assert_eq!(serde_json::to_string(&policies(json)).unwrap(), json);
}

/// The parameters of every AQM are named where those of disciplines are.
#[test]
fn variants_of_pie_can_be_written_in_rust() {
    use spillgate_queueing::spec::{AqmSpec, PieSpec, PieVariant};
    let linux = PieSpec {
        variant: Some(PieVariant::Linux),
        ..PieSpec::default()
    };
    let read: AqmSpec = serde_json::from_str(r#"{"pie": {"as": "linux"}}"#).unwrap();
    assert_eq!(read, AqmSpec::Pie(linux));
}
