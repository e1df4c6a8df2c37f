//! Accurate ECN feedback (RFC 9768) between both ends, over paths that mark, clear and lose.

use crate::common::net::{Fate, Net, config};
use spillgate_core::{Dur, Ecn, Rng, Time};
use spillgate_endpoints::cc::CcSpec;
use spillgate_endpoints::tcp::{Flags, State};

const BYTES: u64 = 2_000_000;

/// A transfer over a path whose segments with data meet `fate`; the network afterwards, and how
/// many of those were ECN-capable, of how many.
fn transfer(json: &str, mut fate: impl FnMut(u64) -> Fate) -> (Net, u64, u64) {
    let mut net = Net::new(config(json), Dur::from_ms(10));
    net.tx.write(Time::ZERO, BYTES);
    net.tx.close(Time::ZERO);
    let (mut capable, mut all) = (0, 0);
    net.run(Time::from_secs_f64(100.0), &mut |forward, n, seg| {
        if !forward || seg.len == 0 {
            return Fate::Pass;
        }
        capable += u64::from(seg.ect.is_capable());
        all += 1;
        fate(n)
    });
    assert_eq!(net.tx.state(), State::Done, "{json}");
    assert_eq!(net.rx.delivered_bytes(), BYTES, "{json}");
    (net, capable, all)
}

/// Any congestion control can ask for accurate feedback, and any that halves answers as it does
/// marks of RFC 3168: once a window. One mark, one answer.
#[test]
fn every_algorithm_answers_a_mark_once() {
    for kind in CcSpec::NAMES.iter().filter(|k| **k != "prague") {
        let json = format!(r#"{{"cc": {{"{kind}": {{}}}}, "ecn": "accurate"}}"#);
        let (net, capable, all) = transfer(&json, |n| match n {
            100..103 => Fate::Mark,
            _ => Fate::Pass,
        });
        assert_eq!(capable, all, "{kind}");
        assert_eq!(net.tx.stats().ecn_reactions, 1, "{kind}");
    }
}

/// With as many marks accurate and classic feedback cost the same time: 1 % of marks, a window
/// halved once each round trip at most.
#[test]
fn marks_cost_as_much_as_with_classic_feedback() {
    for kind in ["newreno", "cubic"] {
        let took = |ecn: &str| {
            let json = format!(r#"{{"cc": {{"{kind}": {{}}}}, "sack": true, "ecn": "{ecn}"}}"#);
            let mut rng = Rng::from_key(11);
            let fate = |_| {
                if rng.chance(0.01) {
                    Fate::Mark
                } else {
                    Fate::Pass
                }
            };
            transfer(&json, fate).0.now.as_secs_f64()
        };
        let (accurate, classic) = (took("accurate"), took("classic"));
        assert!(
            (accurate / classic - 1.0).abs() < 0.1,
            "{kind}: {accurate} s, {classic} s"
        );
    }
}

/// A path that clears the ECN field: the option tells of no byte with a codepoint, so after four
/// segments' acknowledgments data are not ECN-capable any more. Until then two windows left.
#[test]
fn a_bleached_path_ends_ect() {
    for json in [
        r#"{"cc": {"prague": {}}}"#,
        r#"{"cc": {"cubic": {}}, "ecn": "accurate"}"#,
    ] {
        let (net, capable, all) = transfer(json, |_| Fate::Alter(Ecn::NotEct));
        assert!((10..40).contains(&capable), "{json}: {capable} of {all}");
        assert_eq!(net.tx.stats().ecn_reactions, 0);
        // Without the option nobody notices, and nothing is marked.
        let blind = json.replacen('{', r#"{"ecn_option": false, "#, 1);
        let (_, capable, all) = transfer(&blind, |_| Fate::Alter(Ecn::NotEct));
        assert_eq!(capable, all, "{blind}");
    }
}

/// Where the peer has only RFC 3168, Prague is Reno with ECT(0): as `newreno` with classic ECN and
/// pacing, segment for segment in number and time.
#[test]
fn prague_falls_back_to_reno() {
    let marks = |n: u64| {
        if n % 150 == 149 {
            Fate::Mark
        } else {
            Fate::Pass
        }
    };
    let prague = r#"{"cc": {"prague": {}}, "peer_ecn": "classic"}"#;
    let reno = r#"{"cc": {"newreno": {}}, "sack": true, "ecn": "classic", "pacing": true}"#;
    let (a, _, of_a) = transfer(prague, marks);
    let (b, _, of_b) = transfer(reno, marks);
    assert_eq!((a.now, of_a), (b.now, of_b));
    assert_eq!(a.tx.stats(), b.tx.stats());
    assert!(a.tx.stats().ecn_reactions > 2);
}

/// An option of eight bytes on every acknowledgment, with two ranges of SACK beside it at most.
#[test]
fn the_option_takes_its_room() {
    let cfg = config(r#"{"cc": {"prague": {}}}"#);
    let mut net = Net::new(cfg.clone(), Dur::from_ms(10));
    net.tx.write(Time::ZERO, BYTES);
    let mut seen = [0_u32; 4];
    let mut rng = Rng::from_key(3);
    net.run(Time::from_secs_f64(5.0), &mut |forward, _, seg| {
        if forward {
            assert!(seg.counters().is_none());
            return if rng.chance(0.05) {
                Fate::Lose
            } else {
                Fate::Pass
            };
        }
        if !seg.flags.has(Flags::SYN) {
            let blocks = seg.sack.len();
            seen[blocks] += 1;
            assert_eq!(seg.counters().is_some(), blocks < 3);
            let sack = if blocks > 0 { 4 + 8 * blocks as u16 } else { 0 };
            let option = if blocks < 3 { 8 } else { 0 };
            assert_eq!(seg.wire_len(&cfg), 40 + 12 + sack + option);
        }
        Fate::Pass
    });
    assert!(seen.iter().all(|&n| n > 0), "{seen:?}");
}
