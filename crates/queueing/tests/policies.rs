//! What policies mean: classification, conditioning, nesting, and the surface
//! that a port sees.

use crate::common;
use std::sync::Arc;

use crate::common::{BPS, build, flows, packet, policies, rate, resolve};
use spillgate_core::{Drops, Dscp, FlowKey, Limit, Packet, Rng, Time};
use spillgate_queueing::spec::{ClassBasedSpec, DisciplineSpec};
use spillgate_queueing::{Discipline, InputRecipe, Recipe};

/// Where a packet ends up, and with which DSCP: `leaf dscp` or the reason of its drop.
fn outcome(d: &mut Discipline, p: Packet) -> String {
    let (mut rng, mut drops) = (Rng::from_key(1), Drops::new());
    d.enqueue(Time::ZERO, p, &mut rng, &mut drops);
    if let Some(dropped) = drops.as_slice().first() {
        return dropped.reason.metric().to_owned();
    }
    let out = d.dequeue(Time::ZERO, &mut rng, &mut drops).unwrap();
    format!("{} {}", d.leaf_names()[usize::from(out.leaf)], out.dscp)
}

fn by_flow(d: &mut Discipline) -> Vec<String> {
    (0..8).map(|f| outcome(d, packet(f, 0, 100))).collect()
}

/// A class-based policy whose classes have 10 % each and these conditions.
fn classifier(conditions: &[&str]) -> Discipline {
    let classes: Vec<_> = conditions
        .iter()
        .enumerate()
        .map(|(i, m)| format!(r#"{{"name": "c{i}", "match": {m}, "bandwidth": "10 %"}}"#))
        .collect();
    build(
        &format!(
            r#"{{"main": {{"class-based": {{"classes": [{}]}}}}}}"#,
            classes.join(",")
        ),
        BPS,
    )
}

/// The flows 0..8 that a condition catches.
fn caught(condition: &str) -> Vec<usize> {
    let all = by_flow(&mut classifier(&[condition]));
    (0..8).filter(|f| all[*f].starts_with("c0 ")).collect()
}

/// Flow i: 10.0.0.i:40000+i -> 10.1.0.1:5000+i, UDP if i is even, else TCP;
/// DSCP ef af41 af31 af33 af21 af23 af11 default.
#[test]
fn conditions_catch_what_they_say() {
    let table: [(&str, &[usize]); 18] = [
        (r"{}", &[0, 1, 2, 3, 4, 5, 6, 7]),
        (r#"{"dscp": "ef"}"#, &[0]),
        (r#"{"dscp": ["af31", 22, "default"]}"#, &[2, 5, 7]),
        (r#"{"precedence": [3, 0]}"#, &[2, 3, 7]),
        (r#"{"protocol": "udp"}"#, &[0, 2, 4, 6]),
        (r#"{"src": "10.0.0.4/30"}"#, &[4, 5, 6, 7]),
        (r#"{"src": "10.0.0.1 wildcard 0.0.0.6"}"#, &[1, 3, 5, 7]),
        (r#"{"dst": "10.2.0.0/16"}"#, &[]),
        (r#"{"sport": [40001, "40003-40004"]}"#, &[1, 3, 4]),
        (r#"{"dport": "5006-5007", "protocol": "tcp"}"#, &[7]),
        (r#"{"any": [{"dscp": "ef"}, {"dport": 5003}]}"#, &[0, 3]),
        (
            r#"{"all": [{"protocol": "tcp"}, {"src": "10.0.0.0/30"}]}"#,
            &[1, 3],
        ),
        (r#"{"not": {"protocol": "tcp"}, "precedence": 2}"#, &[4]),
        (r#"{"all": []}"#, &[0, 1, 2, 3, 4, 5, 6, 7]),
        // The first line that matches decides; no line, no match.
        (
            r#"{"acl": [{"permit": false, "match": {"dport": 5002}}, {"permit": true, "match": {"protocol": "udp"}}]}"#,
            &[0, 4, 6],
        ),
        (r#"{"acl": []}"#, &[]),
        (
            r#"{"acl": [{"permit": true, "match": {"dscp": "af11"}}], "not": {"dport": 5006}}"#,
            &[],
        ),
        (
            r#"{"any": [{"all": [{"dscp": "ef"}, {"dport": 5000}]}, {"not": {"src": "10.0.0.0/29"}}]}"#,
            &[0],
        ),
    ];
    for (condition, expected) in table {
        assert_eq!(caught(condition), expected, "{condition}");
    }
}

/// A packet of IPv6 is matched by all but addresses; of those only `any` holds.
#[test]
fn prefixes_are_of_ipv4() {
    let key = FlowKey {
        src: "::ffff:10.0.0.1".parse().unwrap(),
        dst: "fe80::1".parse().unwrap(),
        protocol: 17,
        sport: 4000,
        dport: 53,
    };
    let table = [
        (r#"{"src": "10.0.0.0/8"}"#, false),
        (r#"{"dst": ["0.0.0.0/1", "128.0.0.0/1"]}"#, false),
        (r#"{"not": {"src": "10.0.0.0/8"}}"#, true),
        (r#"{"src": "any", "dport": 53}"#, true),
        (r#"{"protocol": "udp", "sport": 4000}"#, true),
        (
            r#"{"acl": [{"permit": true, "match": {"protocol": "udp", "dst": "10.0.0.0/8"}}]}"#,
            false,
        ),
        (
            r#"{"acl": [{"permit": true, "match": {"protocol": "udp"}}]}"#,
            true,
        ),
    ];
    for (condition, expected) in table {
        let mut d = classifier(&[condition]);
        d.announce(&Arc::from([key]));
        let found = outcome(&mut d, packet(0, 0, 100));
        assert_eq!(found.starts_with("c0"), expected, "{condition}: {found}");
    }
    let json =
        r#"{"class-based": {"classes": [{"name": "a", "match": {"src": "2001:db8::/32"}}]}}"#;
    let why = serde_json::from_str::<DisciplineSpec>(json).unwrap_err();
    let why = why.to_string();
    assert!(
        why.contains("is of IPv6, and addresses can be matched of IPv4 only"),
        "{why}"
    );
}

/// A class with priority that is shaped is first as long as it has tokens, and leaves the line to
/// the others while it has none. Packets of 1000 B at 8 Mb/s take 1 ms; 800 kb/s with a burst of
/// 2000 B let two go at once and then one each 10 ms.
#[test]
fn shaped_priority_waits_for_tokens_only() {
    let json = r#"{"main": {"class-based": {"classes": [
        {"name": "v", "match": {"dscp": "ef"}, "priority": {}, "shape": {"rate": "800 kb/s", "burst": "2000 B"}},
        {"name": "w", "match": {"dscp": "af41"}, "priority": {"level": 2}},
        {"name": "d", "match": {"dscp": "af31"}, "bandwidth": "10 %"}]}}}"#;
    let mut d = build(json, 8_000_000);
    let (mut rng, mut drops) = (Rng::from_key(1), Drops::new());
    let ms = |n: u64| Time::ZERO + spillgate_core::Dur::from_ms(n);
    // Flows 0 to 2 are of v, w and d: 5 packets of v, 2 of w, 20 of d.
    for (flow, n) in [(0, 5), (1, 2), (2, 20)] {
        for i in 0..n {
            d.enqueue(Time::ZERO, packet(flow, i, 1000), &mut rng, &mut drops);
        }
    }
    let mut sent = String::new();
    for t in 0..26 {
        let out = d.dequeue(ms(t), &mut rng, &mut drops).unwrap();
        sent += &d.leaf_names()[usize::from(out.leaf)];
    }
    assert_eq!(sent, "vvwwddddddvdddddddddvddddd");
    assert!(drops.as_slice().is_empty());
}

/// With nothing else to send the port wakes when the tokens are there.
#[test]
fn a_port_wakes_for_shaped_priority() {
    let json = r#"{"main": {"class-based": {"classes": [
        {"name": "v", "match": {"dscp": "ef"}, "priority": {}, "shape": {"rate": "800 kb/s", "burst": "1000 B"}}]}}}"#;
    let mut d = build(json, 8_000_000);
    let (mut rng, mut drops) = (Rng::from_key(1), Drops::new());
    for i in 0..2 {
        d.enqueue(Time::ZERO, packet(0, i, 1000), &mut rng, &mut drops);
    }
    assert!(d.dequeue(Time::ZERO, &mut rng, &mut drops).is_some());
    assert!(d.dequeue(Time::ZERO, &mut rng, &mut drops).is_none());
    let ready = Time::ZERO + spillgate_core::Dur::from_ms(10);
    assert_eq!(d.next_wake(Time::ZERO), Some(ready));
    assert!(d.dequeue(ready, &mut rng, &mut drops).is_some());
}

#[test]
fn the_first_class_that_matches_wins() {
    let mut d = classifier(&[r#"{"dscp": "ef"}"#, r#"{"protocol": "udp"}"#, r"{}"]);
    let leaves: Vec<_> = by_flow(&mut d).iter().map(|s| s[..2].to_owned()).collect();
    assert_eq!(leaves, ["c0", "c2", "c1", "c2", "c1", "c2", "c1", "c2"]);
}

/// The cache is by flow and DSCP: a flow that changes its DSCP changes its class. A flow that
/// nobody announced is matched by DSCP alone, and counted.
#[test]
fn classification_follows_the_packet_not_the_flow() {
    let mut d = classifier(&[r#"{"dscp": "ef", "sport": 40000}"#, r#"{"dscp": "cs1"}"#]);
    let with = |flow, dscp: &str| Packet {
        dscp: dscp.parse::<Dscp>().unwrap(),
        ..packet(flow, 0, 100)
    };
    for round in 0..2 {
        assert_eq!(outcome(&mut d, with(0, "ef")), "c0 ef");
        assert_eq!(outcome(&mut d, with(0, "cs1")), "c1 cs1");
        assert_eq!(outcome(&mut d, with(1, "ef")), "class-default ef");
        assert_eq!(d.unknown(), 2 * round);
        assert_eq!(outcome(&mut d, with(1_000_000, "cs1")), "c1 cs1");
        assert_eq!(outcome(&mut d, with(1_000_000, "ef")), "class-default ef");
        assert_eq!(d.unknown(), 2 * round + 2);
    }
}

/// Of a labelled packet the EXP bits of the top label are seen, and nothing else; they are no
/// property of any other packet.
#[test]
fn labels_hide_the_packet() {
    let conditions = [
        r#"{"dscp": "ef"}"#,
        r#"{"sport": 40000}"#,
        r#"{"acl": [{"permit": true, "match": {}}], "exp": 2}"#,
        r#"{"exp": [1, 2]}"#,
        r#"{"any": [{"exp": 3}, {"dscp": "cs1"}]}"#,
        r#"{"all": [{"not": {"dscp": "ef"}}, {"not": {"exp": 7}}]}"#,
    ];
    let mut d = classifier(&conditions);
    let with = |dscp: &str, labels: &[u8]| {
        let mut p = Packet {
            dscp: dscp.parse::<Dscp>().unwrap(),
            ..packet(0, 0, 100)
        };
        labels.iter().for_each(|exp| p.labels.push(*exp));
        p
    };
    // Cached the second time.
    for _ in 0..2 {
        assert_eq!(outcome(&mut d, with("ef", &[])), "c0 ef");
        assert_eq!(outcome(&mut d, with("cs1", &[])), "c1 cs1");
        for (labels, class) in [
            (&[1][..], "c3 ef"),
            (&[7, 2], "c3 ef"),
            (&[1, 3], "c4 ef"),
            (&[4], "c5 ef"),
            (&[2, 7], "class-default ef"),
        ] {
            assert_eq!(outcome(&mut d, with("ef", labels)), class, "{labels:?}");
        }
    }
    // A note of labels to come is none; that of labels that are gone stands for them.
    let mut p = with("ef", &[]);
    p.labels.intend(1);
    assert_eq!(outcome(&mut d, p), "c0 ef");
    p.labels.remember(1);
    assert_eq!(outcome(&mut d, p), "c3 ef");
}

#[test]
fn a_class_without_a_queue_conditions_only() {
    let mut d = build(
        r#"{"main": {"class-based": {"classes": [
            {"name": "voice", "match": {"dscp": "ef"}, "priority": {}},
            {"name": "marked", "match": {"dscp": "af41"}, "set_dscp": "cs1"},
            {"name": "policed", "match": {"dscp": "af31"}, "police": {"rate": "8 kb/s", "burst": "99 B"}},
            {"name": "class-default", "set_dscp": "le"}]}}}"#,
        BPS,
    );
    assert_eq!(d.leaf_names(), ["voice", "class-default"]);
    // They wait in class-default's queue but are not marked by it.
    assert_eq!(
        by_flow(&mut d)[..4],
        [
            "voice ef",
            "class-default cs1",
            "drops_policer",
            "class-default le"
        ]
    );
}

#[test]
fn conditioning_goes_from_the_inside_out() {
    let json = r#"{
        "main": {"class-based": {"classes": [
            {"name": "site", "match": {"dscp": ["af31", "af33"]}, "bandwidth": "50 %", "police":
                {"rate": "8 kb/s", "burst": "150 B", "conform": {"set-dscp": "cs2"}, "exceed": {"set-dscp": "cs3"}}, "policy": "child"},
            {"name": "mark", "match": {"dscp": "ef"}, "set_dscp": "cs4"},
            {"name": "class-default", "shape": {"rate": "90 %"}, "policy": "child"}]}},
        "child": {"class-based": {"classes": [
            {"name": "first", "match": {"dscp": ["af31", "ef"]}, "bandwidth": "10 %", "set_dscp": "cs1"},
            {"name": "limited", "match": {"dscp": "af33"}, "police": {"rate": "8 kb/s", "burst": "150 B"}}]}}}"#;
    let mut d = build(json, BPS);
    assert_eq!(
        d.leaf_names(),
        [
            "site/first",
            "site/class-default",
            "class-default/first",
            "class-default/class-default"
        ]
    );
    // The outer policer sees what the inner one lets pass, and its mark is the last.
    assert_eq!(outcome(&mut d, packet(2, 0, 100)), "site/first cs2");
    assert_eq!(outcome(&mut d, packet(2, 1, 100)), "site/first cs3");
    // The inner policer's tokens are its own; what it drops costs the outer one nothing.
    assert_eq!(outcome(&mut d, packet(3, 0, 151)), "drops_policer");
    assert_eq!(outcome(&mut d, packet(3, 1, 50)), "site/class-default cs2");
    assert_eq!(outcome(&mut d, packet(3, 2, 100)), "site/class-default cs3");
    // A class without a queue waits where class-default's nested policy says, classified
    // by the DSCP of arrival; its own mark comes last.
    assert_eq!(
        outcome(&mut d, packet(0, 0, 100)),
        "class-default/first cs4"
    );
}

/// Percentages are of the shaped rate, else of the guarantee, else of the enclosing rate.
/// A guarantee of 60 kb/s inside shows which: more than the whole is refused.
#[test]
fn nested_percentages_are_of_the_rate_inside() {
    let inside = |class: &str, kbps: u32| {
        let json = format!(
            r#"{{"main": {{"class-based": {{"classes": [{class}]}}}}, "child": {{"class-based": {{"classes": [
                {{"name": "a", "match": {{}}, "bandwidth": "{kbps} kb/s"}}]}}}}}}"#
        );
        resolve(&json, BPS).is_ok()
    };
    for (class, kbps) in [
        (
            r#"{"name": "a", "match": {}, "bandwidth": "30 %", "shape": {"rate": "400 kb/s"}, "policy": "child"}"#,
            400,
        ),
        (
            r#"{"name": "a", "match": {}, "bandwidth": "30 %", "policy": "child"}"#,
            300,
        ),
        (
            r#"{"name": "a", "match": {}, "bandwidth_remaining": "20 %", "policy": "child"}"#,
            200,
        ),
        (r#"{"name": "class-default", "policy": "child"}"#, 1000),
        (
            r#"{"name": "b", "match": {"dscp": "ef"}, "bandwidth": "40 %"}, {"name": "class-default", "policy": "child"}"#,
            1000,
        ),
    ] {
        assert!(inside(class, kbps), "{class}");
        assert!(!inside(class, kbps + 1), "{class}");
    }
}

/// Percentages of a policer and a shaper are of the most that their policy may send: of the
/// nearest shaper or policer, and through a `bandwidth`, which is no maximum, of what is around
/// that (Cisco IOS QoS command reference, `police (percent)`: 30 % of 512 kb/s in a shaper, and
/// of the interface's 1.5 Mb/s in a `bandwidth 512`).
#[test]
fn percentages_of_policers_are_of_the_maximum_around_them() {
    // What passes at once is the bucket: 100 ms at the committed rate.
    let police = r#""police": {"rate": "30 %", "burst": "100 ms"}"#;
    let inner = format!(
        r#""inner": {{"class-based": {{"classes": [{{"name": "c", "match": {{}}, {police}}}]}}}}"#
    );
    for (parent, bps) in [
        (r#""shape": {"rate": "512 kb/s", "burst": "1 MB"}"#, 153_600),
        (r#""bandwidth": "512 kb/s""#, 450_000),
        (r#""police": {"rate": "1 Mb/s", "burst": "1 MB"}"#, 300_000),
        (
            r#""police": {"rate": "1 Mb/s", "burst": "1 MB"}, "shape": {"rate": "800 kb/s", "burst": "1 MB"}"#,
            240_000,
        ),
        (
            r#""bandwidth": "512 kb/s", "shape": {"rate": "50 %", "burst": "1 MB"}"#,
            225_000,
        ),
    ] {
        let json = format!(
            r#"{{"main": {{"class-based": {{"classes": [{{"name": "p", "match": {{}}, {parent}, "policy": "inner"}}]}}}}, {inner}}}"#
        );
        let mut d = build(&json, 1_500_000);
        let (mut rng, mut drops) = (Rng::from_key(1), Drops::new());
        let mut passed = 0;
        for seq in 0..64 {
            d.enqueue(Time::ZERO, packet(0, seq, 100), &mut rng, &mut drops);
            passed += u64::from(drops.as_slice().is_empty());
            drops = Drops::new();
        }
        assert_eq!(passed, bps / 80 / 100, "{parent}");
        let spec = &policies(&json)["main"];
        let DisciplineSpec::ClassBased(main) = spec else {
            panic!()
        };
        let around = main.divide(rate(1_500_000))[0].inner;
        let DisciplineSpec::ClassBased(inner) = &policies(&json)["inner"] else {
            panic!()
        };
        let policed = inner.divide(around)[0].police;
        assert_eq!(policed, Some((rate(bps), bps / 80)), "{parent}");
    }
}

/// So are they where packets arrive, where only policers act.
#[test]
fn percentages_at_arrival_are_of_the_policer_around_them() {
    for (parent, bps) in [
        (r#""police": {"rate": "1 Mb/s", "burst": "1 MB"},"#, 300_000),
        (r#""shape": {"rate": "1 Mb/s"},"#, 450_000),
        ("", 450_000),
    ] {
        let json = format!(
            r#"{{"main": {{"class-based": {{"classes": [{{"name": "p", "match": {{}}, {parent} "policy": "inner"}}]}}}},
                "inner": {{"class-based": {{"classes": [{{"name": "c", "match": {{}},
                    "police": {{"rate": "30 %", "burst": "100 ms"}}}}]}}}}}}"#
        );
        let (recipe, _) = InputRecipe::resolve("main", &policies(&json), rate(1_500_000)).unwrap();
        let mut conditioner = recipe.build(&flows(), &Arc::from([]));
        let passed = (0..64).filter(|seq| {
            let mut p = packet(0, *seq, 100);
            conditioner.admit(Time::ZERO, &mut p).1
        });
        assert_eq!(passed.count() as u64, bps / 80 / 100, "{parent}");
    }
}

/// A limit in time counts at the rate that the class can be sure of: 100 kb/s are
/// 1000 B in 80 ms, whether a guarantee or a shaper says so.
#[test]
fn time_limits_are_at_the_guaranteed_rate() {
    for class in [
        r#"{"name": "a", "match": {}, "bandwidth": "100 kb/s", "queue_limit": "80 ms"}"#,
        r#"{"name": "a", "match": {}, "bandwidth": "50 %", "shape": {"rate": "100 kb/s"}, "queue_limit": "80 ms"}"#,
        r#"{"name": "class-default", "shape": {"rate": "100 kb/s"}, "queue_limit": "80 ms"}"#,
        r#"{"name": "a", "match": {}, "priority": {"rate": "100 kb/s", "limit": "80 ms"}}"#,
    ] {
        let json = format!(r#"{{"main": {{"class-based": {{"classes": [{class}]}}}}}}"#);
        let mut d = build(&json, BPS);
        let (mut rng, mut drops) = (Rng::from_key(1), Drops::new());
        for seq in 0..11 {
            d.enqueue(Time::ZERO, packet(2, seq, 100), &mut rng, &mut drops);
        }
        assert_eq!(d.backlog_bytes(), 1000, "{class}");
    }
}

/// The peak is of what waits at once, and starts anew from what waits.
#[test]
fn peaks_are_of_what_waits() {
    let mut d = build(r#"{"main": {"fifo": {}}}"#, BPS);
    let (mut rng, mut drops) = (Rng::from_key(1), Drops::new());
    for seq in 0..3 {
        d.enqueue(Time::ZERO, packet(2, seq, 100), &mut rng, &mut drops);
    }
    d.dequeue(Time::ZERO, &mut rng, &mut drops);
    let peaks = |d: &Discipline| (d.leaves()[0].peak_packets, d.leaves()[0].peak_bytes);
    assert_eq!(peaks(&d), (3, 300));
    d.reset_peaks();
    assert_eq!(peaks(&d), (2, 200));
}

#[test]
fn fifos_that_decide_at_arrival_tell_their_limit() {
    let told = |json: &str| build(json, BPS).decided_at_arrival();
    let plain = |json: &str| told(json).filter(|f| f.1.is_none()).map(|f| f.0);
    let fifo = |limit: &str| {
        plain(&format!(
            r#"{{"main": {{"fifo": {{"limit": "{limit}"}}}}}}"#
        ))
    };
    assert_eq!(fifo("64 packets"), Some(Limit::Packets(64)));
    assert_eq!(fifo("9 kB"), Some(Limit::Bytes(9_000)));
    // 20 ms at 1 Mb/s.
    assert_eq!(fifo("20 ms"), Some(Limit::Bytes(2_500)));
    let red = told(r#"{"main": {"fifo": {"limit": "9 packets", "aqm": {"red": {}}}}}"#).unwrap();
    assert!(red.0 == Limit::Packets(9) && red.1.is_some_and(|aqm| !aqm.foresees()));
    for kind in ["rio", "adaptive-rio"] {
        let json = format!(r#"{{"main": {{"fifo": {{"aqm": {{"{kind}": {{}}}}}}}}}}"#);
        assert!(
            told(&json).unwrap().1.is_some_and(|aqm| aqm.foresees()),
            "{kind}"
        );
    }
    assert!(told(r#"{"main": {"fifo": {"aqm": {"codel": {}}}}}"#).is_none());
    assert!(told(r#"{"main": {"flow-wfq": {}}}"#).is_none());
    assert!(told(r#"{"main": {"class-based": {"classes": []}}}"#).is_none());
    let default = Recipe::default_fifo()
        .build(&flows())
        .decided_at_arrival()
        .unwrap();
    assert!(default.0 == Limit::Bytes(1_000_000_000) && default.1.is_none());
}

#[test]
fn leaves_are_named() {
    let names = |json: &str| build(json, BPS).leaf_names();
    assert_eq!(names(r#"{"main": {"fifo": {}}}"#), ["fifo"]);
    assert_eq!(names(r#"{"main": {"wfq": {}}}"#), ["wfq"]);
    assert_eq!(names(r#"{"main": {"flow-wfq": {}}}"#), ["flow-wfq"]);
    assert_eq!(
        names(r#"{"main": {"class-based": {"classes": []}}}"#),
        ["class-default"]
    );
}

#[test]
fn memory_grows_with_limits_and_flows() {
    let memory = |json: &str, flows| resolve(json, BPS).unwrap().0.memory_bytes(flows);
    let fifo = |n: u32| format!(r#"{{"main": {{"fifo": {{"limit": "{n} packets"}}}}}}"#);
    let packet = size_of::<Packet>() as u64;
    let base = memory(&fifo(1), 0) - packet;
    // Rings double, so 1000 packets take the room of 1024.
    assert_eq!(memory(&fifo(1000), 0) - base, 1024 * packet);
    let wfq = r#"{"main": {"wfq": {}}}"#;
    assert!(memory(wfq, 1000) - memory(wfq, 0) >= 1000 * 64 * packet);
    // "Unlimited" says nothing about memory.
    assert!(Recipe::default_fifo().memory_bytes(100) < 10_000);
}

#[test]
fn gauges_show_the_state() {
    let mut d = build(
        r#"{"main": {"class-based": {"classes": [
            {"name": "a", "match": {"dscp": "af31"}, "bandwidth": "10 %", "aqm": {"red": {"weight": 0.5}}}]}}}"#,
        BPS,
    );
    let (mut rng, mut drops) = (Rng::from_key(1), Drops::new());
    for seq in 0..3 {
        d.enqueue(Time::ZERO, packet(2, seq, 100), &mut rng, &mut drops);
    }
    let g = d.gauges(0, Time::ZERO);
    // Samples 0, 1, 2 of weight 1/2.
    assert_eq!(g.average_queue, Some(1.25));
    assert_eq!(d.gauges(1, Time::ZERO).average_queue, None);
    assert_eq!(d.gauges(7, Time::ZERO), Default::default());
    assert_eq!((d.backlog_packets(), d.backlog_bytes()), (3, 300));
}

/// An idle queue forgets: 1 s at the class's 100 kb/s are 25 packets of 500 B, so an average
/// of at most 3 decays to 3/2^25.
#[test]
fn averages_decay_while_the_queue_is_empty() {
    for aqm in [
        r#"{"red": {"weight": 0.5}}"#,
        r#"{"wred": {"exponential_weighting_constant": 1}}"#,
    ] {
        let mut d = build(
            &format!(
                r#"{{"main": {{"class-based": {{"classes": [
                    {{"name": "a", "match": {{"dscp": "af31"}}, "bandwidth": "10 %", "aqm": {aqm}}}]}}}}}}"#
            ),
            BPS,
        );
        let (mut rng, mut drops) = (Rng::from_key(1), Drops::new());
        for seq in 0..4 {
            d.enqueue(Time::ZERO, packet(2, seq, 100), &mut rng, &mut drops);
        }
        while d.dequeue(Time::ZERO, &mut rng, &mut drops).is_some() {}
        let before = d.gauges(0, Time::ZERO).average_queue.unwrap();
        let later = Time::from_secs_f64(1.0);
        d.enqueue(later, packet(2, 4, 100), &mut rng, &mut drops);
        let after = d.gauges(0, Time::ZERO).average_queue.unwrap();
        assert!(before > 1.0, "{before}");
        assert!(after > 0.0 && after < 1e-7, "{after}");
    }
}

/// What is written comes back when read again, and unknown keys are refused.
#[test]
fn specifications_survive_a_round_trip() {
    for preset in common::PRESETS {
        let spec = policies(preset.json);
        let text = serde_json::to_string(&spec).unwrap();
        assert_eq!(policies(&text), spec, "{}", preset.name);
    }
    for json in [
        r#"{"fifo": {"limits": "64 packets"}}"#,
        r#"{"fifo": {"aqm": {"red": {"min": 5}}}}"#,
        r#"{"class-based": {"classes": [{"name": "a", "bandwith": "10 %"}]}}"#,
        r#"{"codel": {}}"#,
    ] {
        assert!(
            serde_json::from_str::<DisciplineSpec>(json).is_err(),
            "{json}"
        );
    }
    let empty: ClassBasedSpec = serde_json::from_str(r#"{"classes": []}"#).unwrap();
    assert_eq!(empty, ClassBasedSpec::default());
}

/// Flows may be announced or not; a discipline is built anew from a recipe as often as wanted.
#[test]
fn recipes_can_be_used_again() {
    let json = common::PRESETS.last().unwrap().json;
    let (recipe, _) = Recipe::resolve("main", &policies(json), rate(BPS)).unwrap();
    let mut first = recipe.build(&flows());
    by_flow(&mut first);
    let second = recipe.build(&Arc::from([]));
    assert!(second.leaves().iter().all(|s| s.offered_packets == 0));
    assert_eq!(recipe.leaf_names(), second.leaf_names());
}

/// A shaper's bucket holds Bc and Be: so much leaves at once.
#[test]
fn a_shaper_begins_with_both_bursts() {
    for (shape, bytes) in [
        (r#"{"rate": "80 kb/s", "burst": "1000 B"}"#, 1000),
        (
            r#"{"rate": "80 kb/s", "burst": "1000 B", "excess_burst": "2000 B"}"#,
            3000,
        ),
        (
            r#"{"rate": "80 kb/s", "burst": "200 ms", "excess_burst": "100 ms"}"#,
            3000,
        ),
        // 4 ms would be 40 B: at least 1600 B.
        (r#"{"rate": "80 kb/s", "excess_burst": "400 B"}"#, 2000),
    ] {
        let json = format!(
            r#"{{"main": {{"class-based": {{"classes": [{{"name": "c", "match": {{}}, "shape": {shape}}}]}}}}}}"#
        );
        let mut d = build(&json, BPS);
        let (mut rng, mut drops) = (Rng::from_key(1), Drops::new());
        for seq in 0..60 {
            d.enqueue(Time::ZERO, packet(0, seq, 100), &mut rng, &mut drops);
        }
        let mut left = 0;
        while d.dequeue(Time::ZERO, &mut rng, &mut drops).is_some() {
            left += 100;
        }
        assert_eq!(left, bytes, "{shape}");
    }
}
