//! HTB and HFSC as `tc` commands, word for word, and given to a real `tc` where there is one.

use std::collections::BTreeMap;
use std::process::Command;

use spillgate_core::Rate;
use spillgate_export::{Exported, Port, Source, Tag, TcOptions, tc};
use spillgate_import::ConfigImporter;
use spillgate_queueing::spec::DisciplineSpec;
use spillgate_scenario::Importer as _;
use spillgate_scenario::Platform;

const HTB: &str = r#"{"htb": {"default": "rest", "r2q": 20, "classes": [
    {"name": "rest", "parent": "top", "rate": "2 Mb/s", "ceil": "9 Mb/s", "prio": 1},
    {"name": "top", "rate": "9 Mb/s"},
    {"name": "voice", "parent": "top", "match": {"dscp": "ef"}, "rate": "10 %", "ceil": "9 Mb/s", "burst": "2 kB",
     "cburst": "3 kB", "quantum": "1500 B", "queue": {"fifo": {"limit": "20 packets"}}},
    {"name": "video", "parent": "top", "match": {"dscp": "af41"}, "rate": "4 Mb/s", "queue": {"fq-codel": {"as": "linux"}}}]}}"#;

const HFSC: &str = r#"{"hfsc": {"default": "rest", "classes": [
    {"name": "top", "ls": {"m2": "9 Mb/s"}, "ul": {"m2": "9 Mb/s"}},
    {"name": "voice", "parent": "top", "match": {"dscp": "ef"}, "rt": {"umax": "200 B", "dmax": "5 ms", "rate": "100 kb/s"},
     "ls": {"m2": "100 kb/s"}},
    {"name": "rest", "parent": "top", "sc": {"m1": "0 b/s", "d": "10 ms", "m2": "50 %"}, "queue": {"drr": {}}}]}}"#;

const DIRECT: &str = r#"{"htb": {"timer": "1 ms", "hysteresis": true, "direct_qlen": 50, "classes": [
    {"name": "a", "match": {"src": "10.0.0.0/8"}, "rate": "2 Mb/s"},
    {"name": "ef", "parent": "a", "match": {"dscp": "ef"}, "rate": "1 Mb/s"},
    {"name": "af", "parent": "a", "match": {"dscp": "af41"}, "rate": "1 Mb/s"}]}}"#;

fn exported(policy: &str) -> Exported {
    written(serde_json::from_str(policy).unwrap())
}

fn written(spec: DisciplineSpec) -> Exported {
    let source = Source {
        policies: BTreeMap::from([("P".to_owned(), spec)]),
        ports: vec![Port {
            name: "wan".to_owned(),
            policy: "P".to_owned(),
            rate: Rate::from_bps(10_000_000),
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
    };
    let options = TcOptions {
        device: Some("lo"),
        ..TcOptions::default()
    };
    tc(&source, &options).unwrap()
}

/// The commands that make something, without the device.
fn commands(of: &Exported) -> Vec<String> {
    let lines = of.text.lines();
    let adds = lines.filter(|l| l.starts_with("tc ") && l.contains(" add "));
    adds.map(|l| l.replace("tc ", "").replace(" dev lo", ""))
        .collect()
}

#[test]
fn htb_is_said_word_for_word() {
    let written = exported(HTB);
    assert_eq!(
        commands(&written),
        [
            "qdisc add root handle 1: htb default 1 r2q 20 direct_qlen 1000",
            "class add parent 1: classid 1:2 htb rate 9000000bit ceil 9000000bit",
            "class add parent 1:2 classid 1:1 htb rate 2000000bit ceil 9000000bit prio 1",
            "qdisc add parent 1:1 handle 2: pfifo limit 1000",
            "class add parent 1:2 classid 1:3 htb rate 1000000bit ceil 9000000bit burst 2000b cburst 3000b quantum 1500 prio 0",
            "qdisc add parent 1:3 handle 4: pfifo limit 20",
            "class add parent 1:2 classid 1:4 htb rate 4000000bit ceil 4000000bit prio 0",
            "qdisc add parent 1:4 handle 5: fq_codel limit 10240 flows 1024 quantum 1514 target 5000us interval 100000us memory_limit 33554432b drop_batch 64 ecn",
            "filter add parent 1: protocol ip prio 1 flower ip_tos 0xb8/0xfc classid 1:3",
            "filter add parent 1: protocol ip prio 2 flower ip_tos 0x88/0xfc classid 1:4",
        ]
    );
    assert!(written.notes.is_empty(), "{:?}", written.notes);
}

/// What is written is read back as a tree that is written alike.
#[test]
fn commands_are_read_back() {
    for policy in [HTB, HFSC] {
        let first = exported(policy);
        let read = ConfigImporter::default().tc("lo.sh", first.text.as_bytes());
        let again = written(read.unwrap().policies["lo"].clone());
        assert_eq!(commands(&again), commands(&first));
    }
}

#[test]
fn hfsc_is_said_word_for_word() {
    let found = commands(&exported(HFSC));
    assert_eq!(
        found[..3],
        [
            "qdisc add root handle 1: hfsc default 3",
            "class add parent 1: classid 1:1 hfsc ls m2 9000000bit ul m2 9000000bit",
            "class add parent 1:1 classid 1:2 hfsc rt umax 200b dmax 5000us rate 100000bit ls m2 100000bit",
        ]
    );
    assert_eq!(
        found[4],
        "class add parent 1:1 classid 1:3 hfsc sc m1 0bit d 10000us m2 5000000bit"
    );
}

/// Without a default packets go to class 0, which is the direct queue; conditions of a class with
/// children are those of its children, too.
#[test]
fn what_no_class_takes_is_direct() {
    let written = exported(DIRECT);
    let found = commands(&written);
    assert_eq!(
        found[0],
        "qdisc add root handle 1: htb r2q 10 direct_qlen 50"
    );
    let filters: Vec<&String> = found.iter().filter(|l| l.starts_with("filter")).collect();
    let [ef, af, rest] = &filters[..] else {
        panic!("{filters:?}")
    };
    assert!(
        ef.contains("10.0.0.0/8") && ef.ends_with("classid 1:2"),
        "{ef}"
    );
    assert!(
        af.contains("10.0.0.0/8") && af.ends_with("classid 1:3"),
        "{af}"
    );
    assert!(
        rest.contains("10.0.0.0/8") && rest.ends_with("classid 1:0"),
        "{rest}"
    );
    let notes: Vec<&str> = written.notes.iter().map(|n| n.reason.as_str()).collect();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes[0].contains("HZ") && notes[1].contains("htb_hysteresis=1"));
}

/// Beside a default, filters to class 0 come before those of all classes.
#[test]
fn what_is_led_to_no_class_is_direct_beside_a_default() {
    let policy = r#"{"htb": {"default": "a", "direct": {"dscp": "cs6"}, "classes": [
        {"name": "a", "rate": "2 Mb/s"}, {"name": "b", "match": {"dscp": "ef"}, "rate": "1 Mb/s"}]}}"#;
    let found = commands(&exported(policy));
    assert!(found[0].starts_with("qdisc add root handle 1: htb default 1"));
    let filters: Vec<&String> = found.iter().filter(|l| l.starts_with("filter")).collect();
    let [cs6, ef] = &filters[..] else {
        panic!("{filters:?}")
    };
    assert!(cs6.ends_with("classid 1:0"), "{cs6}");
    assert!(ef.ends_with("classid 1:2"), "{ef}");
}

/// Runs each script in a network namespace of its own. The kernel takes every class; a queue or a
/// filter may fail only since the kernel has none of that kind.
#[test]
fn a_real_tc_takes_every_command() {
    let shell = |script: &str| {
        Command::new("unshare")
            .args(["-n", "sh", "-c", script])
            .output()
    };
    for (kind, policy) in [("htb", HTB), ("hfsc", HFSC), ("htb", DIRECT)] {
        let probe = format!("tc qdisc add dev lo root {kind} default 1");
        if !shell(&probe).is_ok_and(|o| o.status.success()) {
            eprintln!("SKIPPED: no tc with {kind} in a network namespace of one's own");
            continue;
        }
        let mut run = String::from("ip link set lo up\n");
        let text = exported(policy).text;
        let lines = text.lines().filter(|l| l.starts_with("tc "));
        for line in lines.filter(|l| !l.contains(" del ")) {
            run.push_str(&format!("m=$({line} 2>&1); echo \"$? {line} :: \"$m\n"));
        }
        let out = shell(&run).unwrap();
        let said = String::from_utf8_lossy(&out.stdout);
        assert_eq!(
            said.lines().count(),
            commands(&exported(policy)).len(),
            "{said}"
        );
        for line in said.lines().filter(|l| !l.starts_with("0 ")) {
            let missing = line.contains("kind is unknown") || line.contains("classifier not found");
            assert!(missing && !line.contains("tc class"), "{line}");
            eprintln!("SKIPPED in part: {line}");
        }
    }
}
