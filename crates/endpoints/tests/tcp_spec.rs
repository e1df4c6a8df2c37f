//! Keys, profiles, and what they refuse.

use spillgate_endpoints::cc;
use spillgate_endpoints::tcp::config::{EcnMode, Repair};
use spillgate_endpoints::tcp::{TcpConfig, TcpSpec};

fn resolve(json: &str) -> Result<TcpConfig, String> {
    let spec: TcpSpec = serde_json::from_str(json).map_err(|e| e.to_string())?;
    let again: TcpSpec = serde_json::from_str(&serde_json::to_string(&spec).unwrap()).unwrap();
    assert_eq!(spec, again);
    spec.resolve().map_err(|p| p.path)
}

#[test]
fn every_profile_takes_every_algorithm() {
    for profile in ["ns2", "linux", "rfc"] {
        for kind in cc::CcSpec::NAMES {
            let spec = format!(r#"{{"profile": "{profile}", "cc": {{"{kind}": {{}}}}}}"#);
            assert_eq!(resolve(&spec).unwrap().cc.kind(), *kind);
        }
    }
}

#[test]
fn recovery_follows_algorithm_and_sack() {
    let repair = |json: &str| resolve(json).unwrap().repair;
    assert_eq!(repair(r#"{"cc": {"tahoe": {}}}"#), Repair::Tahoe);
    assert_eq!(repair(r#"{"cc": {"reno": {}}}"#), Repair::Reno);
    assert_eq!(repair(r#"{"cc": {"newreno": {}}}"#), Repair::NewReno);
    assert_eq!(
        repair(r#"{"cc": {"newreno": {}}, "sack": true}"#),
        Repair::Sack
    );
    assert_eq!(repair(r#"{"cc": {"cubic": {}}}"#), Repair::Sack);
    assert_eq!(
        repair(r#"{"cc": {"cubic": {}}, "sack": false}"#),
        Repair::NewReno
    );
    assert_eq!(
        resolve(r#"{"cc": {"dctcp": {}}}"#).unwrap().ecn,
        EcnMode::Dctcp
    );
    assert_eq!(
        resolve(r#"{"cc": {"prague": {}}}"#).unwrap().ecn,
        EcnMode::L4s
    );
}

/// Contradictions and values out of range name the key.
#[test]
fn refusals() {
    for (json, path) in [
        (r#"{"cc": {"tahoe": {}}, "sack": true}"#, "sack"),
        (r#"{"cc": {"reno": {}}, "sack": true}"#, "sack"),
        (r#"{"cc": {"bbr": {}}, "sack": false}"#, "sack"),
        (r#"{"cc": {"bbr": {}}, "pacing": false}"#, "pacing"),
        (r#"{"send_jitter": "1.1 s"}"#, "send_jitter"),
        (r#"{"cc": {"prague": {}}, "ecn": "accurate"}"#, "ecn"),
        (r#"{"cc": {"cubic": {}}, "ecn": "l4s"}"#, "ecn"),
        (
            r#"{"cc": {"dctcp": {}}, "peer_ecn": "classic"}"#,
            "peer_ecn",
        ),
        (r#"{"ecn": "classic", "ecn_option": true}"#, "ecn_option"),
        (
            r#"{"cc": {"bbr": {}}, "send_jitter": "1 ms"}"#,
            "send_jitter",
        ),
        (r#"{"cc": {"bbr": {}}, "prr": true}"#, "prr"),
        (r#"{"cc": {"newreno": {}}, "prr": true}"#, "prr"),
        (r#"{"cc": {"newreno": {}}, "rack_tlp": true}"#, "rack_tlp"),
        (r#"{"cc": {"cubic": {}}, "ecn": "l4s"}"#, "ecn"),
        (r#"{"cc": {"dctcp": {}}, "ecn": "off"}"#, "ecn"),
        (r#"{"cc": {"prague": {}}, "ecn": "classic"}"#, "ecn"),
        (r#"{"mss": "0 B"}"#, "mss"),
        (r#"{"mss": "70000 B"}"#, "mss"),
        (r#"{"max_window": "1000 B"}"#, "max_window"),
        (r#"{"max_window": "2 GiB"}"#, "max_window"),
        (
            r#"{"max_window": "100 kB", "window_scaling": false}"#,
            "max_window",
        ),
        (r#"{"initial_window": 0}"#, "initial_window"),
        (r#"{"min_rto": "0 s"}"#, "min_rto"),
        (r#"{"rto_granularity": "0 s"}"#, "rto_granularity"),
        (
            r#"{"delayed_ack": {"timeout": "1 s"}}"#,
            "delayed_ack.timeout",
        ),
        (
            r#"{"delayed_ack": {"timeout": "1 ms", "every": 0}}"#,
            "delayed_ack.every",
        ),
        (r#"{"syn_retries": 31}"#, "syn_retries"),
        (r#"{"retries": 1001}"#, "retries"),
        (r#"{"max_rto": "0 s"}"#, "max_rto"),
        (r#"{"max_rto": "500 ms"}"#, "max_rto"),
        (r#"{"max_rto": "500 ms", "min_rto": "100 ms"}"#, "max_rto"),
        (r#"{"retry": {"constant": "0 s"}}"#, "retry.constant"),
        (r#"{"retry": {"constant": "2 h"}}"#, "retry.constant"),
    ] {
        assert_eq!(resolve(json).unwrap_err(), path, "{json}");
    }
    for json in [
        r#"{"sak": true}"#,
        r#"{"cc": {"vegas": {}}}"#,
        r#"{"cc": {"cubic": {"x": 1}}}"#,
        r#"{"cc": {}}"#,
        r#"{"retries": "forever"}"#,
        r#"{"retries": -1}"#,
        r#"{"retries": 1.5}"#,
        r#"{"retry": "constant"}"#,
        r#"{"retry": {"constant": "1 s", "exponential": "1 s"}}"#,
        r#"{"cc": {"reno": {}, "tahoe": {}}}"#,
    ] {
        assert!(resolve(json).is_err(), "{json}");
    }
}

/// A constant period is the first timeout of SYN too, unless that is written.
#[test]
fn first_timeouts() {
    let first = |json: &str| resolve(json).unwrap().initial_rto.as_secs_f64();
    assert_eq!(first(r#"{"retry": {"constant": "250 ms"}}"#), 0.25);
    let both = r#"{"retry": {"constant": "250 ms"}, "initial_rto": "3 s"}"#;
    assert_eq!(first(both), 3.0);
    assert_eq!(first(r#"{"profile": "ns2", "retry": "exponential"}"#), 3.0);
    let endless = resolve(r#"{"retries": "unlimited", "syn_retries": "unlimited"}"#).unwrap();
    assert_eq!((endless.retries, endless.syn_retries), (u32::MAX, u32::MAX));
}

/// What a profile switches on stays on with every congestion control: nothing changes but the
/// control, and what it cannot have. Tahoe has no recovery that uses SACK; BBR sets its own window
/// in recovery.
#[test]
fn profiles_hold_for_every_algorithm() {
    for profile in ["rfc", "linux", "ns2"] {
        let base = resolve(&format!(r#"{{"profile": "{profile}"}}"#)).unwrap();
        for kind in cc::CcSpec::NAMES {
            let json = format!(r#"{{"profile": "{profile}", "cc": {{"{kind}": {{}}}}}}"#);
            let got = resolve(&json).unwrap();
            let mut want = TcpConfig {
                cc: got.cc.clone(),
                repair: got.repair,
                ecn: got.ecn,
                peer_ecn: got.peer_ecn,
                pacing: got.pacing,
                ..base.clone()
            };
            if profile == "linux" {
                want.sack = *kind != "tahoe";
                want.rack_tlp = want.sack;
                want.prr = want.sack && *kind != "bbr";
                assert_eq!(got.repair == Repair::Sack, want.sack, "{json}");
            } else {
                want.sack = !["tahoe", "reno", "newreno"].contains(kind);
            }
            assert_eq!(got, want, "{json}");
        }
    }
}

/// Each switch can be written otherwise, and then it is.
#[test]
fn what_is_written_overrules_the_profile() {
    let linux = |more: &str| resolve(&format!(r#"{{"profile": "linux", {more}}}"#)).unwrap();
    let off = linux(r#""cc": {"newreno": {}}, "sack": false"#);
    assert_eq!(off.repair, Repair::NewReno);
    assert!(!off.sack && !off.prr && !off.rack_tlp);
    assert_eq!(
        linux(r#""cc": {"reno": {}}, "sack": false"#).repair,
        Repair::NewReno
    );
    let some = linux(r#""cc": {"newreno": {}}, "prr": false, "quick_acks": 0"#);
    assert!(some.sack && some.rack_tlp && !some.prr);
    assert_eq!(some.quick_acks, 0);
}

/// HyStart and the arithmetic of CUBIC belong to the profile too, whether `cc` is written or not.
#[test]
fn cubic_follows_the_profile() {
    use cc::{CcSpec, CubicAs};
    for (json, by, hystart) in [
        (r#"{"profile": "linux"}"#, CubicAs::Linux, true),
        (
            r#"{"profile": "linux", "cc": {"cubic": {}}}"#,
            CubicAs::Linux,
            true,
        ),
        (
            r#"{"profile": "linux", "cc": {"cubic": {}}}"#,
            CubicAs::Linux,
            true,
        ),
        (
            r#"{"profile": "linux", "cc": {"cubic": {"fast_convergence": false}}}"#,
            CubicAs::Linux,
            true,
        ),
        (
            r#"{"profile": "linux", "cc": {"cubic": {"hystart": false}}}"#,
            CubicAs::Linux,
            false,
        ),
        (
            r#"{"profile": "linux", "cc": {"cubic": {"as": "rfc"}}}"#,
            CubicAs::Rfc,
            true,
        ),
        (r#"{"cc": {"cubic": {}}}"#, CubicAs::Rfc, false),
        (
            r#"{"cc": {"cubic": {"as": "linux"}}}"#,
            CubicAs::Linux,
            false,
        ),
        (
            r#"{"cc": {"cubic": {"hystart": true}}}"#,
            CubicAs::Rfc,
            true,
        ),
    ] {
        let CcSpec::Cubic(spec) = resolve(json).unwrap().cc else {
            panic!("{json}")
        };
        assert_eq!((spec.by, spec.hystart), (Some(by), Some(hystart)), "{json}");
    }
}
