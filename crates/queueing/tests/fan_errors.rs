//! What is refused of a cross-protect router, where, and with which advice.

use crate::common;
use crate::common::{BPS, build, resolve};
use spillgate_core::Time;

#[track_caller]
fn refused(spec: &str, key: &str, found: &str, message: &str) {
    let json = format!(r#"{{"main": {{"fan": {spec}}}}}"#);
    let Err(e) = resolve(&json, BPS) else {
        panic!("accepted: {json}");
    };
    assert_eq!(e.path, format!("policies.main.fan.{key}"), "{e}");
    assert_eq!(e.found, found, "{e}");
    assert!(e.message.contains(message), "{e}");
    assert!(!e.hint.is_empty(), "{e}");
}

#[test]
fn values_out_of_range() {
    // The link has 1 Mb/s.
    for (spec, key, found, message) in [
        (
            r#"{"limit": "0 packets"}"#,
            "limit",
            "0 packets",
            "nothing fits",
        ),
        (r#"{"limit": "1 ns"}"#, "limit", "1 ns", "not a byte fits"),
        (r#"{"mtu": "0 B"}"#, "mtu", "0 B", "from 1 B to 1 MB"),
        (r#"{"mtu": "2 MB"}"#, "mtu", "2000000 B", "from 1 B to 1 MB"),
        (
            r#"{"min_fair_rate": "2 Mb/s"}"#,
            "min_fair_rate",
            "2 Mb/s",
            "above the link's rate of 1 Mb/s",
        ),
        (
            r#"{"max_priority_load": "1001 kb/s"}"#,
            "max_priority_load",
            "1.001 Mb/s",
            "above the link's rate",
        ),
        (
            r#"{"pfl_flow_timeout": "0 s"}"#,
            "pfl_flow_timeout",
            "0 s",
            "above 0",
        ),
        (
            r#"{"pfl_max": 0}"#,
            "pfl_max",
            "0",
            "nothing could be listed",
        ),
        (r#"{"p_add": 1.01}"#, "p_add", "1.01", "from 0 to 1"),
        (r#"{"p_add": -0.5}"#, "p_add", "-0.5", "from 0 to 1"),
        (
            r#"{"admissions_per_tick": 0}"#,
            "admissions_per_tick",
            "0",
            "nobody would ever be admitted",
        ),
        (
            r#"{"fair_rate": {"interval": "0 s"}}"#,
            "fair_rate.interval",
            "0 s",
            "above 0",
        ),
        (
            r#"{"fair_rate": {"smoothing": 1.0}}"#,
            "fair_rate.smoothing",
            "1",
            "from 0 to 0.999",
        ),
        (
            r#"{"priority_load": {"smoothing": -0.1}}"#,
            "priority_load.smoothing",
            "-0.1",
            "from 0 to 0.999",
        ),
        (
            r#"{"priority_load": {"interval": "0 ms"}}"#,
            "priority_load.interval",
            "0 s",
            "above 0",
        ),
        (
            r#"{"mechanism": {"efm": {"pfl_flushing_timer": "0 s"}}}"#,
            "mechanism.efm.pfl_flushing_timer",
            "0 s",
            "above 0",
        ),
        (
            r#"{"mechanism": {"raef": {"active_time": "0 s"}}}"#,
            "mechanism.raef.active_time",
            "0 s",
            "above 0",
        ),
        (
            r#"{"mechanism": {"rbaef": {"blocked_time": "0 s"}}}"#,
            "mechanism.rbaef.blocked_time",
            "0 s",
            "above 0",
        ),
        (
            r#"{"scheduler": {"pfq": {"afl_max": 0}}}"#,
            "scheduler.pfq.afl_max",
            "0",
            "backlogged",
        ),
        (
            r#"{"scheduler": {"pdrr": {"quantum": "1000 B"}}}"#,
            "scheduler.pdrr.quantum",
            "1000 B",
            "below the MTU of 1500 B",
        ),
        (
            r#"{"protected_list": " "}"#,
            "protected_list",
            "\" \"",
            "needs a name",
        ),
    ] {
        refused(spec, key, found, message);
    }
}

#[test]
fn policies_that_share_a_list_must_agree() {
    let two = |own: &str, other: &str| {
        format!(
            r#"{{"main": {{"fan": {{"protected_list": "all"{own}}}}}, "west": {{"fan": {{"protected_list": "all"{other}}}}},
                "north": {{"fan": {{"protected_list": "others", "pfl_max": 7}}}}, "plain": {{"fifo": {{}}}}}}"#
        )
    };
    assert!(resolve(&two("", ""), BPS).is_ok());
    let e = resolve(&two("", r#", "pfl_flow_timeout": "3 s""#), BPS).unwrap_err();
    assert_eq!(e.path, "policies.main.fan.pfl_flow_timeout");
    assert!(
        e.message.contains("policy `west`") && e.message.contains("3 s"),
        "{e}"
    );
    let e = resolve(&two(r#", "pfl_max": 5"#, ""), BPS).unwrap_err();
    assert_eq!(
        (e.path.as_str(), e.found.as_str()),
        ("policies.main.fan.pfl_max", "5")
    );
    assert!(e.message.contains("no limit"), "{e}");
}

#[test]
fn ends_of_the_ranges_are_valid() {
    for spec in [
        r#"{"min_fair_rate": "100 %", "max_priority_load": "0 %"}"#,
        r#"{"min_fair_rate": "0 %", "max_priority_load": "1 Mb/s", "p_add": 0}"#,
        r#"{"mtu": "1 B", "fair_rate": {"interval": "1 ns", "smoothing": 0.999}, "tick_phase": "3 h"}"#,
        r#"{"mtu": "1 MB", "limit": "1 B"}"#,
    ] {
        let json = format!(r#"{{"main": {{"fan": {spec}}}}}"#);
        let d = build(&json, BPS);
        // Ticks of a nanosecond for a year: runs of them are skipped.
        let state = d.admission(Time::from_secs_f64(8e6)).unwrap();
        assert_eq!(
            (state.fair_rate, state.priority_load),
            (BPS as f64, 0.0),
            "{spec}"
        );
    }
}

#[test]
fn a_basic_router_has_no_trigger_to_accept() {
    let (_, warnings) = resolve(r#"{"main": {"fan": {"accept_trigger": true}}}"#, BPS).unwrap();
    assert!(
        warnings[0].contains("accept_trigger changes nothing"),
        "{warnings:?}"
    );
    let efm = r#"{"main": {"fan": {"accept_trigger": true, "mechanism": {"efm": {}}}}}"#;
    assert!(resolve(efm, BPS).unwrap().1.is_empty());
}

/// Packets longer than the MTU, for which the scheduler's ring of tags was not made.
#[test]
fn packets_beyond_the_mtu_are_only_longer() {
    let json = r#"{"main": {"fan": {"mtu": "300 B", "limit": "60 kB"}}}"#;
    let mut bench = spillgate_queueing::testkit::Bench::new(build(json, BPS), common::rate(BPS));
    for seq in 0..40 {
        bench.arrive(
            Time::ZERO,
            common::packet(seq % 4, seq / 4, 40 + 500 * (seq % 3) as u16),
        );
        bench.arrive(Time::ZERO, common::packet(5, seq, 9000));
    }
    let out = bench.run();
    assert_eq!(out.departures.len() + out.drops.len(), 80);
    assert!(out.departures.len() > 8);
}
