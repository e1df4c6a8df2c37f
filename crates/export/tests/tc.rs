//! The commands for Linux: read back by a small strict reader, compared with the policy in meaning,
//! and given to a real `tc` where there is one.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use proptest::prelude::*;
use spillgate_core::overhead::parse_overhead;
use spillgate_core::testkit::effort;
use spillgate_core::{Cells, Drops, Dscp, FlowKey, Overhead, Packet, Rate, Rng, Time};
use spillgate_export::{Exported, Filters, Port, Scheduler, Source, Tag, TcOptions, tc};
use spillgate_import::{ConfigImporter, interface_bandwidth};
use spillgate_queueing::Recipe;
use spillgate_queueing::spec::DisciplineSpec;
use spillgate_scenario::{Importer as _, Platform};

use crate::common::tc_script::{Filter, read};
use crate::common::{configurations, packets, policies};

fn source(policies: BTreeMap<String, DisciplineSpec>, policy: &str, rate: Rate) -> Source {
    Source {
        policies,
        ports: vec![Port {
            name: "wan".to_owned(),
            policy: policy.to_owned(),
            rate: Some(rate),
            overhead: None,
            policers: None,
            longest: Default::default(),
            labels: false,
            tag: Tag::None,
            circuit: None,
            tx_ring: None,
        }],
        platform: Platform::Ios,
        inputs: Vec::new(),
        match_any: std::collections::BTreeSet::new(),
        lost: Vec::new(),
        originals: Vec::new(),
    }
}

fn mbps(n: u64) -> Rate {
    Rate::from_bps(n * 1_000_000).unwrap()
}

/// Everything else by default.
fn on(device: &str) -> TcOptions<'_> {
    TcOptions {
        device: Some(device),
        ..TcOptions::default()
    }
}

fn exported(policies: &BTreeMap<String, DisciplineSpec>, policy: &str, rate: Rate) -> Exported {
    tc(
        &source(policies.clone(), policy, rate),
        &TcOptions::default(),
    )
    .unwrap_or_else(|e| panic!("{e}"))
}

/// The leaf that a discipline puts a packet into.
fn leaf_of(recipe: &Recipe, key: FlowKey, dscp: Dscp) -> usize {
    let flows: Arc<[FlowKey]> = Arc::from([key]);
    let mut d = recipe.build(&flows);
    let packet = Packet {
        dscp,
        ..Packet::new(0, 0, 100)
    };
    d.enqueue(Time::ZERO, packet, &mut Rng::from_key(0), &mut Drops::new());
    d.leaves()
        .iter()
        .position(|l| l.offered_packets == 1)
        .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128 * effort(), failure_persistence: None, ..ProptestConfig::default() })]

    /// Filters lead every packet to the leaf that the policy puts it into.
    #[test]
    fn filters_classify_as_the_policy_does(policies in policies(), packets in packets()) {
        let rate = mbps(1000);
        let Ok((recipe, _)) = Recipe::resolve("outer", &policies, rate) else { return Ok(()) };
        for filters in Filters::ALL {
            let options = TcOptions { filters, ..TcOptions::default() };
            let written = tc(&source(policies.clone(), "outer", rate), &options).unwrap();
            let script = read(&written.text, "wan");
            prop_assert_eq!(script.leaves.len(), recipe.leaf_names().len());
            let inexact = ["filters can test", "other wildcards", "more than"];
            if written.notes.iter().any(|n| inexact.iter().any(|i| n.reason.contains(i))) {
                continue;
            }
            for (key, dscp) in &packets {
                let mut hits = script.filters.iter().filter(|f| f.takes(key, *dscp));
                let class = hits.next().map_or(script.default, |f| f.class);
                let leaf = script.leaves.iter().position(|(minor, _)| *minor == class);
                prop_assert_eq!(leaf, Some(leaf_of(&recipe, *key, *dscp)), "{:?} {}\n{}", key, dscp, written.text);
            }
        }
    }

    /// Bands, too: strict ones by level, then the others in their order.
    #[test]
    fn bands_classify_as_the_policy_does(packets in packets(), filters in 0..2_usize) {
        let policies = serde_json::from_str(BANDS).unwrap();
        let (recipe, _) = Recipe::resolve("main", &policies, mbps(100)).unwrap();
        let options = TcOptions {
            scheduler: Scheduler::Ets,
            filters: Filters::ALL[filters],
            ..TcOptions::default()
        };
        let written = tc(&source(policies, "main", mbps(100)), &options).unwrap();
        let script = read(&written.text, "wan");
        for (key, dscp) in packets {
            let mut hits = script.filters.iter().filter(|f| f.takes(&key, dscp));
            let band = hits.next().map_or(script.default, |f| f.class);
            prop_assert_eq!(usize::from(BAND_OF[leaf_of(&recipe, key, dscp)]), usize::from(band));
        }
    }
}

/// Two levels of priority, shares of 40 %, 10 % and the rest, 30 %.
const BANDS: &str = r#"{"main": {"class-based": {"classes": [
    {"name": "gold", "match": {"dscp": ["af31", "af32"]}, "bandwidth": "40 %", "queue_limit": "20 ms"},
    {"name": "video", "match": {"dscp": "af41"}, "priority": {"level": 2, "rate": "10 %", "limit": "20 packets"}},
    {"name": "web", "match": {"protocol": "tcp", "dport": ["80-90", 443]}, "bandwidth": "10 %"},
    {"name": "voice", "match": {"dscp": "ef"}, "priority": {"level": 1, "rate": "10 %", "police": "always"}},
    {"name": "class-default"}]}}}"#;
/// The band of each class, from 1: voice, video, gold, web, class-default.
const BAND_OF: [u8; 5] = [3, 2, 4, 1, 5];

#[test]
fn priorities_and_shares_become_bands() {
    let policies: BTreeMap<String, DisciplineSpec> = serde_json::from_str(BANDS).unwrap();
    let ets = TcOptions {
        scheduler: Scheduler::Ets,
        ..TcOptions::default()
    };
    let written = tc(&source(policies.clone(), "main", mbps(100)), &ets).unwrap();
    let script = read(&written.text, "wan");
    // 40 : 10 : 30, the least being one packet.
    assert_eq!(script.bands, Some((2, vec![6056, 1514, 4542], 4)));
    let queues: Vec<&str> = script.leaves.iter().map(|(_, q)| q.as_str()).collect();
    // 20 ms at 40 Mb/s.
    assert_eq!(
        queues,
        [
            "pfifo limit 64",
            "pfifo limit 20",
            "bfifo limit 100000b",
            "pfifo limit 64",
            "pfifo limit 64"
        ]
    );
    let policed: Vec<&Filter> = script
        .filters
        .iter()
        .filter(|f| !f.policers.is_empty())
        .collect();
    assert!(policed.len() == 1 && policed[0].class == 1, "{policed:?}");
    let notes: Vec<String> = written.notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        [
            "policy main: ets does not limit the rate: the device itself must send at 100 Mb/s",
            "policy main, class video: priority above its rate of 10 Mb/s (burst 250000 B) is not policed: ets serves it before all others",
        ]
    );
    // Shares are beyond prio.
    let prio = TcOptions {
        scheduler: Scheduler::Prio,
        ..TcOptions::default()
    };
    let refused = |policies: &BTreeMap<String, DisciplineSpec>, options| {
        let e = tc(&source(policies.clone(), "main", mbps(100)), options).unwrap_err();
        e.to_string()
    };
    let said = refused(&policies, &prio);
    assert!(
        said.contains("E0748") && said.contains("between gold and web"),
        "{said}"
    );
    let two: BTreeMap<String, DisciplineSpec> = serde_json::from_str(
        r#"{"main": {"class-based": {"classes": [
            {"name": "voice", "match": {"dscp": "ef"}, "priority": {}},
            {"name": "class-default", "fair_queue": {"queues": 64}}]}}}"#,
    )
    .unwrap();
    let written = tc(&source(two, "main", mbps(100)), &prio).unwrap();
    let script = read(&written.text, "wan");
    assert_eq!((script.bands, script.default), (Some((2, vec![], 1)), 2));
    // So are shapers and nested policies beyond ets.
    for class in [r#""shape": {"rate": "5 Mb/s"}"#, r#""policy": "inner""#] {
        let json = format!(
            r#"{{"main": {{"class-based": {{"classes": [{{"name": "class-default", {class}}}]}}}},
                 "inner": {{"class-based": {{"classes": [{{"name": "class-default"}}]}}}}}}"#
        );
        let said = refused(&serde_json::from_str(&json).unwrap(), &ets);
        assert!(said.contains("ets cannot say that"), "{said}");
    }
}

/// A wildcard that is no prefix, and a range of ports: words for `u32`, beyond `flower`.
#[test]
fn u32_compares_any_wildcard() {
    let json = r#"{"main": {"class-based": {"classes": [
        {"name": "odd", "match": {"src": "10.0.0.1 wildcard 0.255.255.0", "protocol": "udp", "dport": "5060-5061"}, "bandwidth": "10 %"}]}}}"#;
    let policies: BTreeMap<String, DisciplineSpec> = serde_json::from_str(json).unwrap();
    let options = TcOptions {
        filters: Filters::U32,
        ..TcOptions::default()
    };
    let written = tc(&source(policies.clone(), "main", mbps(1)), &options).unwrap();
    let tests = " u32 match ip protocol 17 0xff match u32 0x0a000001 0xff0000ff at 12 match u8 0x05 0x0f at 0 \
                 match u16 0x0000 0x1fff at 6 match u16 0x13c4 0xfffe at 22 classid 1:2";
    assert!(written.text.contains(tests), "{}", written.text);
    read(&written.text, "wan");
    let flower = exported(&policies, "main", mbps(1));
    assert!(
        flower
            .notes
            .iter()
            .any(|n| n.reason.contains("other wildcards"))
    );
}

/// Without a committed burst what exceeds is what conforms to the other bucket.
#[test]
fn a_committed_burst_of_zero_leaves_one_bucket() {
    let commands = |police: &str| {
        let json = format!(
            r#"{{"main": {{"class-based": {{"classes": [
                {{"name": "a", "match": {{"dscp": "af11"}}, "police": {police}}}]}}}}}}"#
        );
        let policies = serde_json::from_str(&json).unwrap();
        exported(&policies, "main", mbps(100)).text
    };
    let none = r#"{"rate": "8 Mb/s", "burst": "0 B", "excess_burst": "30 kB", "exceed": {"set-dscp": "af12"}, "violate": "drop"}"#;
    let one = r#"{"rate": "8 Mb/s", "burst": "30 kB", "conform": {"set-dscp": "af12"}, "exceed": "drop"}"#;
    assert!(commands(one).contains("burst 30000"));
    assert_eq!(commands(none), commands(one));
}

/// Rates, limits and bursts of a policy with everything in it.
#[test]
fn meaning_is_that_of_the_policy() {
    let json = r#"{"main": {"class-based": {"classes": [
        {"name": "voice", "match": {"dscp": "ef"}, "priority": {"rate": "10 %", "police": "always", "limit": "30 packets"}},
        {"name": "gold", "match": {"any": [{"dscp": ["af31", "af32"]}, {"protocol": "tcp", "dport": 443}]},
         "bandwidth": "40 %", "queue_limit": "20 ms", "police": {"rate": "30 Mb/s", "burst": "40 kB", "peak_rate": "50 Mb/s",
         "excess_burst": "60 kB", "exceed": {"set-dscp": "af33"}, "violate": "drop"}},
        {"name": "site", "match": {"src": "10.1.0.0/16"}, "shape": {"rate": "20 Mb/s", "burst": "10 kB"}, "policy": "child"},
        {"name": "marked", "match": {"precedence": 1}, "set_dscp": "cs1"},
        {"name": "class-default", "aqm": {"wred": {"by": "dscp", "ecn": true}}, "queue_limit": "96 kB"}]}},
      "child": {"class-based": {"classes": [
        {"name": "inner", "match": {"dscp": "af21"}, "bandwidth": "50 %"},
        {"name": "class-default", "fair_queue": {"queues": 64}}]}}}"#;
    let policies = serde_json::from_str(json).unwrap();
    let written = exported(&policies, "main", mbps(100));
    let script = read(&written.text, "wan");
    let class = |minor| script.classes.iter().find(|c| c.minor == minor).unwrap();
    assert_eq!(
        (class(1).parent, class(1).rate, class(1).ceil),
        (0, 100_000_000, 100_000_000)
    );
    let leaf = |i: usize| {
        let (minor, qdisc) = &script.leaves[i];
        let c = class(*minor);
        (c.parent, c.rate, c.ceil, c.prio, qdisc.as_str())
    };
    let whole = 100_000_000;
    assert_eq!(leaf(0), (1, 10_000_000, whole, 0, "pfifo limit 30"));
    // 20 ms at 40 Mb/s.
    assert_eq!(leaf(1), (1, 40_000_000, whole, 7, "bfifo limit 100000b"));
    // Half of the shaped 20 Mb/s, whose class has the number 4.
    let site = class(4);
    // It and class-default share what is left, 50 %, but the shaper binds.
    assert_eq!(
        (site.parent, site.rate, site.ceil),
        (1, 20_000_000, 20_000_000)
    );
    assert_eq!(leaf(2), (4, 10_000_000, 20_000_000, 7, "pfifo limit 64"));
    assert_eq!(
        leaf(3),
        (
            4,
            10_000_000,
            20_000_000,
            7,
            "sfq limit 1000 depth 64 flows 64 divisor 64"
        )
    );
    let (_, rate, ceil, _, red) = leaf(4);
    assert_eq!((rate, ceil), (25_000_000, whole));
    assert!(
        red.starts_with("red limit 96000b min 20000b max 40000b avpkt 1000b burst "),
        "{red}"
    );
    assert!(
        red.ends_with(" probability 0.1 bandwidth 25000000bit ecn harddrop"),
        "{red}"
    );
    assert_eq!(script.default, script.leaves[4].0);
    let policers: Vec<_> = script
        .policers
        .values()
        .map(|(r, b, c)| (*r, *b, c.as_str()))
        .collect();
    assert_eq!(
        policers,
        [
            // 200 ms at 10 Mb/s.
            (10_000_000, 250_000, "drop/pipe"),
            (50_000_000, 60_000, "drop/pipe"),
            (30_000_000, 40_000, "pipe/pass")
        ]
    );
    let of = |minor| {
        script
            .filters
            .iter()
            .filter(move |f: &&Filter| f.class == minor)
    };
    assert_eq!(
        of(script.leaves[0].0).map(|f| f.tos).collect::<Vec<_>>(),
        [Some((0xb8, 0xfc))]
    );
    let gold: Vec<_> = of(script.leaves[1].0).collect();
    assert!(
        gold.iter().all(|f| f.policers == [2, 3] && f.marks == [30]),
        "{gold:?}"
    );
    assert_eq!(gold.len(), 3);
    assert_eq!(gold[2].dport, Some((443, 443)));
    // What only marks waits with class-default.
    let marked: Vec<_> = of(script.default).collect();
    assert_eq!(
        (marked[0].tos, &marked[0].marks[..]),
        (Some((0x20, 0xe0)), &[8][..])
    );
    let notes: Vec<String> = written.notes.iter().map(ToString::to_string).collect();
    assert!(
        notes
            .iter()
            .any(|n| n.starts_with("policy main, class class-default: red has one drop profile")),
        "{notes:#?}"
    );
    assert!(
        notes
            .iter()
            .any(|n| n
                .starts_with("policy child, class class-default: sfq stands for the fair queue")),
        "{notes:#?}"
    );
}

/// The queues by flow and the modern ones, at the port and in classes.
const MODERN: &str = r#"{
    "wfq": {"wfq": {"limit": "30 packets", "hold_queue": "60 kB", "weights": "precedence"}},
    "fan": {"fan": {"limit": "200 packets", "scheduler": {"pdrr": {"quantum": "3000 B"}}, "mechanism": {"efm": {}}, "pfl_max": 500}},
    "codel": {"fifo": {"limit": "1000 packets", "aqm": {"codel": {"ce_threshold": "1 ms"}}}},
    "fq": {"fq-codel": {"guard": "flow", "limit": "3 MB"}},
    "drr": {"drr": {"quantum": "300 B", "queues": 100}},
    "rfc": {"dualpi2": {}},
    "pie": {"fifo": {"limit": "500 packets", "aqm": {"pie": {"as": "linux", "alpha": 0.2, "ecn": true, "max_burst": "50 ms"}}}},
    "home": {"cake": {"bandwidth": "18 Mb/s", "tins": "diffserv4", "isolation": "dual-srchost", "overhead": "pppoe-vcmux", "rtt": "60 ms"}},
    "fair": {"fair": {"scheduler": "qfq", "weights": "precedence", "queues": 100}},
    "sfq": {"sfq": {"depth": 200, "perturb": "10 s", "headdrop": true}},
    "fq-pie": {"fq-pie": {"as": "linux", "alpha": 0.2, "ecn": true, "max_burst": "50 ms"}},
    "linux": {"dualpi2": {"as": "linux", "drop_on_overload": false, "classic_share": 0.2, "target": "20 ms"}},
    "classes": {"class-based": {"classes": [
        {"name": "a", "match": {"dscp": "af11"}, "bandwidth": "30 %", "aqm": {"codel": {"inverse_sqrt": "newton16", "ecn": true}}},
        {"name": "b", "match": {"dscp": "af21"}, "bandwidth": "30 %", "drr": {}},
        {"name": "class-default", "shape": {"rate": "18 Mb/s"}, "fq_codel": {"target": "8 ms", "ecn": false, "inverse_sqrt": "newton16"}}]}}}"#;

#[test]
fn modern_queues_are_those_of_linux() {
    let policies: BTreeMap<String, DisciplineSpec> = serde_json::from_str(MODERN).unwrap();
    let root = |policy: &str| {
        let written = exported(&policies, policy, mbps(20));
        let notes: Vec<String> = written.notes.iter().map(ToString::to_string).collect();
        let script = read(&written.text, "wan");
        // `htb` keeps to the rate, or the queue would be bounded by the device's line only.
        let whole = (script.classes[0].rate, script.classes[0].ceil);
        assert_eq!((script.default, whole), (1, (20_000_000, 20_000_000)));
        let [(1, queue)] = &script.leaves[..] else {
            panic!("{}", written.text);
        };
        (queue.clone(), notes.join("\n"))
    };
    let (wfq, notes) = root("wfq");
    assert_eq!(wfq, "sfq limit 40 depth 30 flows 1024 divisor 1024");
    for said in [
        "equal weights, not by precedence",
        "the limit of 60000 B becomes 40 packets of 1514 B",
        "hashed into 1024 queues",
    ] {
        assert!(notes.contains(said), "{said}\n{notes}");
    }
    let (fan, notes) = root("fan");
    assert_eq!(
        fan,
        "sfq limit 200 quantum 3000 depth 127 flows 1024 divisor 1024 headdrop"
    );
    for said in [
        "tc has no admission of flows and no protected flow list",
        "(`min_fair_rate` 5 %)",
        "(`max_priority_load` 70 %)",
        "left out with it: mechanism efm (pfl_flushing_timer 5 s), pfl_max 500",
        "without priority for `mtu` 1500 B each",
        "scheduler pdrr (mode charged, quantum 3000 B)",
    ] {
        assert!(notes.contains(said), "{said}\n{notes}");
    }
    let (codel, notes) = root("codel");
    assert_eq!(
        codel,
        "codel limit 1000 target 5000us interval 100000us ce_threshold 1000us noecn"
    );
    assert!(notes.contains("in 16 bits"), "{notes}");
    let (fq, notes) = root("fq");
    // 3 MB in packets of 1514 B, rounded up.
    assert_eq!(
        fq,
        "fq_codel limit 1982 flows 1024 quantum 1514 target 5000us interval 100000us memory_limit 33554432b drop_batch 64 ecn"
    );
    assert!(notes.contains("becomes 1982 packets") && notes.contains("all flows"));
    let (drr, notes) = root("drr");
    assert_eq!(
        drr,
        "sfq limit 1000 quantum 300 depth 127 flows 128 divisor 128 headdrop"
    );
    assert!(notes.contains("stands for DRR"), "{notes}");
    let (pie, notes) = root("pie");
    assert_eq!(
        pie,
        "pie limit 500 target 15000us tupdate 15000us alpha 3 beta 20 ecn"
    );
    for said in ["0.2 is written as 3", "no word for max_burst 50 ms"] {
        assert!(notes.contains(said), "{said}\n{notes}");
    }
    for (policy, expected, said) in [
        (
            "fair",
            "sfq limit 1000 quantum 1514 depth 127 flows 128 divisor 128 headdrop",
            "the classes of Linux's qfq would each need a filter",
        ),
        (
            "sfq",
            "sfq limit 127 quantum 1514 depth 127 flows 128 divisor 1024 perturb 10 headdrop",
            "holds 127 packets at most, not 200",
        ),
        (
            "fq-pie",
            "fq_pie limit 10240 flows 1024 target 15000us tupdate 15000us alpha 3 beta 20 quantum 1514 ecn_prob 10 ecn no_dq_rate_estimator",
            "left out: max_burst 50 ms",
        ),
    ] {
        let (queue, notes) = root(policy);
        assert_eq!(queue, expected);
        assert!(notes.contains(said), "{said}\n{notes}");
    }
    let (rfc, notes) = root("rfc");
    // 250 ms at 20 Mb/s are 625 kB; the middle of a ramp from 0.8 to 1.2 ms is the step of Linux.
    assert_eq!(
        rfc,
        "dualpi2 limit 413 coupling_factor 2 step_thresh 1000us min_qlen_step 1 drop_on_overload classic_protection 10 target 15000us tupdate 16000us alpha 0.16 beta 3.2"
    );
    for said in ["by a step", "by random numbers", "less than two packets"] {
        assert!(notes.contains(said), "{said}\n{notes}");
    }
    let (home, notes) = root("home");
    assert_eq!(
        home,
        "cake bandwidth 18000000bit diffserv4 dual-srchost nonat egress no-ack-filter rtt 60000us overhead 32 mpu 0 atm"
    );
    assert!(notes.contains("kernel buffers"), "{notes}");
    let (linux, notes) = root("linux");
    assert_eq!(
        linux,
        "dualpi2 limit 10000 coupling_factor 2 step_thresh 1000us min_qlen_step 0 overflow classic_protection 20 target 20000us tupdate 16000us alpha 0.16 beta 3.2"
    );
    assert_eq!(notes.matches("dualpi2").count(), 0, "{notes}");
    let written = exported(&policies, "classes", mbps(20));
    let script = read(&written.text, "wan");
    let queues: Vec<&str> = script.leaves.iter().map(|(_, q)| q.as_str()).collect();
    assert_eq!(
        queues,
        [
            "codel limit 64 target 5000us interval 100000us ecn",
            "sfq limit 1000 quantum 1514 depth 127 flows 1024 divisor 1024 headdrop",
            "fq_codel limit 10240 flows 1024 quantum 1514 target 8000us interval 100000us memory_limit 33554432b drop_batch 64 noecn"
        ]
    );
}

/// Rates are of the bytes that the link counts; the kernel counts 14 B beside an IP packet.
#[test]
fn packets_count_as_on_the_link() {
    for policy in ["fq", "classes"] {
        for (overhead, expected) in [
            (None, ""),
            (Some("14 B"), ""),
            (Some("none"), "stab overhead -14 "),
            (
                Some("ethernet"),
                "stab overhead 24 mpu 84 mtu 2047 tsize 2048 ",
            ),
            (
                Some("pppoe-llcsnap"),
                "stab overhead 26 mtu 32767 tsize 2048 linklayer atm ",
            ),
            (
                Some("pppoa-llc mpu 64"),
                "stab overhead 0 mpu 64 mtu 32767 tsize 2048 linklayer atm ",
            ),
            (Some("bridged-ptm"), "stab overhead 8 "),
        ] {
            let policies = serde_json::from_str(MODERN).unwrap();
            let mut one = source(policies, policy, mbps(20));
            let overhead = overhead.map(|text| parse_overhead(text).unwrap());
            one.ports[0].overhead = overhead;
            let said = overhead.unwrap_or(Overhead::new(14, 0, Cells::None));
            for scheduler in [Scheduler::Htb, Scheduler::Ets] {
                let options = TcOptions {
                    scheduler,
                    ..on("lo")
                };
                let Ok(written) = tc(&one, &options) else {
                    assert_eq!((scheduler, policy), (Scheduler::Ets, "classes"));
                    continue;
                };
                let root = format!("tc qdisc add dev lo root handle 1: {expected}");
                assert!(written.text.contains(&root), "{}", written.text);
                let script = read(&written.text, "lo");
                let beside = i32::from(said.per_packet()) - 14;
                assert_eq!((script.overhead, script.min), (beside, said.mpu()));
                assert_eq!(script.atm, said.cells() == Cells::Atm);
                // For this there is no word.
                let noted = written.notes.iter().any(|n| n.reason.contains("64/65"));
                assert_eq!(noted, said.cells() == Cells::Ptm);
            }
        }
    }
}

/// Every configuration of the repository with an attached policy, at its rates.
fn scripts() -> Vec<(PathBuf, Exported)> {
    let mut all = Vec::new();
    let options = |device, scheduler, filters| TcOptions {
        device,
        scheduler,
        filters,
    };
    for path in configurations() {
        let bytes = fs::read(&path).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let said = name
            .rsplit_once('.')
            .and_then(|(_, p)| Platform::by_name(p));
        let platform = said.unwrap_or_default();
        let imported = ConfigImporter::default()
            .ios(name, &bytes, platform)
            .unwrap();
        let rate = |n: &str| interface_bandwidth(n).or_else(|| Some(mbps(2)));
        let source = Source::of_configuration(&imported, platform, None, &rate).unwrap();
        for port in &source.ports {
            let one = Source {
                ports: vec![port.clone()],
                ..source.clone()
            };
            for filters in Filters::ALL {
                let options = options(Some("lo"), Scheduler::Htb, filters);
                all.push((path.clone(), tc(&one, &options).unwrap()));
            }
        }
        // Those that no interface has, too.
        for policy in source.policies.keys() {
            let one = Source {
                ports: vec![Port {
                    name: "lo".to_owned(),
                    policy: policy.clone(),
                    rate: Some(mbps(100)),
                    overhead: None,
                    policers: None,
                    longest: Default::default(),
                    labels: false,
                    tag: Tag::None,
                    circuit: None,
                    tx_ring: None,
                }],
                ..source.clone()
            };
            for scheduler in Scheduler::ALL {
                // Not every policy is one of bands.
                let written = tc(&one, &options(None, scheduler, Filters::Flower));
                all.extend(written.ok().map(|w| (path.clone(), w)));
            }
        }
    }
    let policies: BTreeMap<String, DisciplineSpec> = serde_json::from_str(MODERN).unwrap();
    for policy in policies.keys() {
        let mut one = source(policies.clone(), policy, mbps(20));
        all.push((PathBuf::from(policy), tc(&one, &on("lo")).unwrap()));
        one.ports[0].overhead = Some(Overhead::new(18, 64, Cells::None));
        let bands = TcOptions {
            scheduler: Scheduler::Ets,
            ..on("lo")
        };
        // Without classes the queue is the device's own.
        let written = tc(&one, &bands);
        all.extend(written.ok().map(|w| (PathBuf::from(policy), w)));
    }
    assert!(all.len() > 40);
    for kind in ["ets", "prio"] {
        let root = format!("handle 1: {kind} ");
        assert!(all.iter().any(|(_, w)| w.text.contains(&root)), "{kind}");
    }
    all
}

#[test]
fn scripts_of_all_configurations_are_well_formed() {
    for (path, written) in scripts() {
        let script = read(&written.text, "lo");
        assert!(
            !script.root.is_empty(),
            "{}\n{}",
            path.display(),
            written.text
        );
        // A child is guaranteed and may send no more than what is around it may.
        for c in script.classes.iter().filter(|c| c.parent != 0) {
            let parent = script.classes.iter().find(|p| p.minor == c.parent).unwrap();
            assert!(
                c.rate <= c.ceil && c.ceil <= parent.ceil,
                "{}\n{c:?}",
                path.display()
            );
        }
    }
}

/// Runs a script line by line in a network namespace of its own. What the kernel has a module for
/// must be accepted; of the rest `tc` must at least understand the words: it must be the kernel
/// that refuses.
#[test]
fn a_real_tc_takes_every_command() {
    let shell = |script: &str| {
        Command::new("unshare")
            .args(["-n", "sh", "-c", script])
            .output()
    };
    let usable =
        shell("tc -V && tc qdisc add dev lo root htb default 1").is_ok_and(|o| o.status.success());
    if !usable {
        eprintln!("SKIPPED: no tc with htb in a network namespace of one's own");
        return;
    }
    let has = |kind: &str| {
        let probe = match kind {
            "flower" | "matchall" => {
                let filter = if kind == "flower" { "flower ip_proto tcp" } else { "matchall" };
                format!("tc qdisc add dev lo root handle 1: htb && tc filter add dev lo parent 1: protocol ip prio 1 {filter} classid 1:1")
            }
            "police" => "tc actions add action police rate 1mbit burst 10k".to_owned(),
            "pedit" => "tc actions add action pedit ex munge ip tos set 0x10 retain 0xfc".to_owned(),
            "csum" => "tc actions add action csum ip4h".to_owned(),
            "red" => "tc qdisc add dev lo root red limit 60000 min 5000 max 15000 avpkt 1000 burst 20 probability 0.1 bandwidth 10mbit".to_owned(),
            "u32" => "tc qdisc add dev lo root handle 1: htb && tc filter add dev lo parent 1: protocol ip prio 1 u32 match ip tos 0xb8 0xfc classid 1:1".to_owned(),
            "ets" | "prio" => format!("tc qdisc add dev lo root handle 1: {kind} bands 3"),
            kind => format!("tc qdisc add dev lo root {kind} limit 10"),
        };
        shell(&probe).is_ok_and(|o| o.status.success())
    };
    let kinds = [
        "pfifo", "bfifo", "red", "sfq", "pie", "codel", "fq_codel", "fq_pie", "dualpi2", "cake",
        "flower", "matchall", "u32", "police", "pedit", "csum", "ets", "prio",
    ];
    let missing: Vec<&str> = kinds.into_iter().filter(|k| !has(k)).collect();
    if !missing.is_empty() {
        eprintln!(
            "SKIPPED in part: the kernel has no {}; of these only the words are checked",
            missing.join(", ")
        );
    }
    for (path, written) in scripts() {
        // Every command with its status in front, whether it works or not.
        let mut run = String::from("ip link set lo up\n");
        for line in written
            .text
            .lines()
            .filter(|l| l.starts_with("tc ") && !l.contains(" del "))
        {
            run.push_str(&format!("m=$({line} 2>&1); echo \"$? {line} :: \"$m\n"));
        }
        let out = shell(&run).unwrap();
        // Without its root nothing of a script can work.
        let rootless = ["ets", "prio"]
            .iter()
            .any(|k| missing.contains(k) && written.text.contains(&format!("handle 1: {k} ")));
        let mut commands = 0;
        for result in String::from_utf8_lossy(&out.stdout).lines() {
            let Some((status, line)) = result.split_once(" tc ") else {
                continue;
            };
            commands += 1;
            // `prio` is a word of every filter, too.
            let mut kinds = missing.iter().filter(|k| **k != "prio");
            let needs = rootless || kinds.any(|k| line.split_whitespace().any(|w| w == *k));
            // Neither does an old `tc` know what its kernel has not.
            let refused = status == "2"
                || ["error talking to the kernel", "Unknown qdisc"]
                    .iter()
                    .any(|said| line.contains(said));
            assert!(
                status == "0" || needs && refused,
                "{}\n{status}: tc {line}",
                path.display()
            );
        }
        assert!(commands > 0, "{}", path.display());
    }
}

#[test]
fn what_cannot_be_exported_is_said() {
    let policies: BTreeMap<String, DisciplineSpec> =
        serde_json::from_str(r#"{"p": {"fifo": {}}}"#).unwrap();
    let mut s = source(policies, "p", mbps(1));
    let queue = |written: &Exported| read(&written.text, "wan").leaves[0].1.clone();
    let written = tc(&s, &TcOptions::default()).unwrap();
    assert_eq!(queue(&written), "pfifo limit 40");
    let ets = TcOptions {
        scheduler: Scheduler::Ets,
        ..TcOptions::default()
    };
    let written = tc(&s, &ets).unwrap();
    assert_eq!(read(&written.text, "wan").root, "pfifo limit 40");
    let said = "the device itself must send at 1 Mb/s";
    assert!(
        written.notes[0].reason.contains(said),
        "{:?}",
        written.notes
    );
    assert!(
        tc(&s, &on("a b"))
            .unwrap_err()
            .to_string()
            .contains("cannot be the name")
    );
    s.ports[0].rate = None;
    assert!(
        tc(&s, &TcOptions::default())
            .unwrap_err()
            .to_string()
            .contains("the rate of `wan` is not known")
    );
    s.ports[0].rate = Some(mbps(1));
    s.ports[0].name = "GigabitEthernet0/0".to_owned();
    let written = tc(&s, &TcOptions::default()).unwrap();
    assert!(
        written.notes[0]
            .reason
            .contains("device eth0 stands for it")
    );
    let other = s.ports[0].clone();
    s.ports.push(other);
    assert!(
        tc(&s, &on("eth0"))
            .unwrap_err()
            .to_string()
            .contains("several")
    );
    s.ports.clear();
    assert!(
        tc(&s, &TcOptions::default())
            .unwrap_err()
            .to_string()
            .contains("no interface has an output policy")
    );
    // A name must not end the comment that it stands in, nor reach the shell.
    let policies: BTreeMap<String, DisciplineSpec> =
        serde_json::from_str(r#"{"x\nreboot": {"fifo": {}}}"#).unwrap();
    let mut s = source(policies, "x\nreboot", mbps(1));
    "$(reboot)".clone_into(&mut s.ports[0].name);
    read(&tc(&s, &TcOptions::default()).unwrap().text, "eth0");
}

/// A class is written whole or not at all: of one that also looks at CoS, QoS groups, the interface
/// of arrival, or at something that no simulated packet has, no half is, and a note names it.
#[test]
fn no_half_of_a_class_is_written() {
    let voice = [
        r#"{"any": [{"dscp": "ef"}, {"cos": 5}]}"#,
        r#"{"dscp": "ef", "cos": 5}"#,
        r#"{"dscp": "ef", "not": {"cos": 5}}"#,
        r#"{"all": [{"dscp": "ef"}, {"any": [{"cos": 5}, {"dscp": "af41"}]}]}"#,
        r#"{"any": [{"dscp": "ef"}, {"qos_group": 7}]}"#,
        r#"{"any": [{"dscp": "ef"}, {"input": "lan"}]}"#,
        r#"{"acl": [{"permit": true, "match": {"dscp": "ef"}}, {"permit": true, "match": {"cos": 5}}]}"#,
    ];
    for condition in voice {
        let json = format!(
            r#"{{"p": {{"class-based": {{"classes": [
                {{"name": "v", "match": {condition}, "bandwidth": "10 %"}},
                {{"name": "d", "match": {{"dscp": "af21"}}, "bandwidth": "20 %"}}]}}}}}}"#
        );
        let written = exported(&serde_json::from_str(&json).unwrap(), "p", mbps(10));
        let filters: Vec<&str> = written
            .text
            .lines()
            .filter(|l| l.starts_with("tc filter"))
            .collect();
        assert_eq!(filters.len(), 1, "{condition}\n{}", written.text);
        assert!(filters[0].contains("ip_tos 0x48"), "{}", filters[0]);
        let named = written
            .notes
            .iter()
            .filter(|n| n.place == "policy p, class v");
        assert_eq!(named.count(), 1, "{condition}: {:?}", written.notes);
    }
    let config = "class-map match-any VOICE\n match dscp ef\n match vlan 5\nclass-map match-any OUTER\n match dscp cs5\n match class-map VOICE\nclass-map match-all DATA\n match dscp af21\npolicy-map P\n class VOICE\n  priority percent 10\n class OUTER\n  bandwidth percent 10\n class DATA\n  bandwidth percent 20\ninterface Serial0/0\n bandwidth 2000\n service-policy output P\n";
    let imported = ConfigImporter::default()
        .ios("r.cfg", config.as_bytes(), Platform::Ios)
        .unwrap();
    let source = Source::of_configuration(&imported, Platform::Ios, None, &|_| None).unwrap();
    for scheduler in [Scheduler::Htb, Scheduler::Ets] {
        let options = TcOptions {
            scheduler,
            ..on("eth0")
        };
        let written = tc(&source, &options).unwrap();
        let filters = written.text.lines().filter(|l| l.starts_with("tc filter"));
        assert_eq!(filters.count(), 1, "{}", written.text);
        for class in ["VOICE", "OUTER"] {
            let place = format!("policy P, class {class}");
            let named = |n: &&spillgate_export::Note| {
                n.place == place && n.reason.contains("`match vlan 5`")
            };
            assert_eq!(
                written.notes.iter().filter(named).count(),
                1,
                "{:?}",
                written.notes
            );
        }
    }
}
