//! What is refused, where, and with which advice; and what is only warned of.

use crate::common::{BPS, resolve};

/// A policy of these classes.
fn classes(classes: &str) -> String {
    format!(r#"{{"main": {{"class-based": {{"classes": [{classes}]}}}}}}"#)
}

#[track_caller]
fn refused(json: &str, path: &str, found: &str, message: &str, hint: &str) {
    let Err(e) = resolve(json, BPS) else {
        panic!("accepted: {json}");
    };
    assert_eq!(e.path, path, "{e}");
    assert_eq!(e.found, found, "{e}");
    assert!(e.message.contains(message), "{e}");
    assert!(e.hint.contains(hint), "{e}");
}

#[track_caller]
fn refused_class(class: &str, key: &str, found: &str, message: &str) {
    let path = format!("policies.main.class-based.classes[0].{key}");
    refused(&classes(class), &path, found, message, "");
}

#[track_caller]
fn warned(json: &str, text: &str) {
    let (_, warnings) = resolve(json, BPS).unwrap_or_else(|e| panic!("{e}"));
    assert!(warnings.iter().any(|w| w.contains(text)), "{warnings:?}");
}

const EF: &str = r#""match": {"dscp": "ef"}"#;

#[test]
fn fair_queues_by_flow() {
    let check = |keys: &str, key: &str, found: &str, message: &str| {
        let json = format!(r#"{{"main": {{"fair": {{{keys}}}}}}}"#);
        refused(
            &json,
            &format!("policies.main.fair.{key}"),
            found,
            message,
            "",
        );
    };
    let clock = r#""scheduler": "virtual-clock""#;
    check(
        clock,
        "weight_sum",
        "virtual-clock",
        "needs the rate of each flow",
    );
    let zero = r#""scheduler": "wf2q+", "weight_sum": 0"#;
    check(zero, "weight_sum", "0", "from 1 to 1000000");
    let plain = r#""weight_sum": 4"#;
    check(plain, "weight_sum", "4", "`scfq` compares weights");
    check(r#""queues": 0"#, "queues", "0", "from 1 to 65536");
    check(r#""limit": "0 packets""#, "limit", "0 packets", "");
    check(
        r#""aqm": {"choke": {}}"#,
        "aqm",
        "choke",
        "flows that share a queue",
    );
    let sfq = |keys: &str, key: &str, found: &str, message: &str| {
        let json = format!(r#"{{"main": {{"sfq": {{{keys}}}}}}}"#);
        refused(
            &json,
            &format!("policies.main.sfq.{key}"),
            found,
            message,
            "",
        );
    };
    sfq(
        r#""limit": "1 packets""#,
        "limit",
        "1 packets",
        "Linux refuses it",
    );
    sfq(r#""depth": 0"#, "depth", "0", "from 1 to 65535");
    sfq(r#""flows": 0"#, "flows", "0", "from 1 to 65408");
    sfq(r#""divisor": 100"#, "divisor", "100", "power of two");
    sfq(
        r#""quantum": "9 B""#,
        "quantum",
        "9 B",
        "from 64 B to 1 MiB",
    );
    sfq(r#""perturb": "0 s""#, "perturb", "0 s", "each millisecond");
    for (key, value, found) in [
        ("quantum", r#""1500 B""#, "1500 B"),
        ("depth", "20", "20"),
        ("flows", "20", "20"),
        ("perturb", r#""1 s""#, "1 s"),
        ("headdrop", "true", "true"),
    ] {
        let keys = format!(r#""as": "ns2", "{key}": {value}"#);
        sfq(&keys, key, found, "the SFQ of ns-2 has no such parameter");
    }
    let alone = "queues of SFQ have RED alone";
    sfq(r#""aqm": {"codel": {}}"#, "aqm", "codel", alone);
    sfq(
        r#""aqm": {"red": {"idle": "none"}}"#,
        "aqm.red.idle",
        "none",
        "forgets its average",
    );
    let ns2 = r#""as": "ns2", "limit": "9 kB""#;
    sfq(ns2, "limit", "9000 B", "the limit of ns-2 is in packets");
    let ns2 = r#""as": "ns2", "divisor": 0"#;
    sfq(ns2, "divisor", "0", "from 1 to 65536");
    let refuses = |keys: &str, key: &str, found: &str, message: &str| {
        let json = format!(r#"{{"main": {{"fq-pie": {{{keys}}}}}}}"#);
        refused(
            &json,
            &format!("policies.main.fq-pie.{key}"),
            found,
            message,
            "",
        );
    };
    refuses(r#""flows": 0"#, "flows", "0", "from 1 to 65536");
    refuses(
        r#""quantum": "9 B""#,
        "quantum",
        "9 B",
        "from 64 B to 1 MiB",
    );
    refuses(r#""target": "0 s""#, "target", "0 s", "waited too long");
    refuses(
        r#""ecn_threshold": 2"#,
        "ecn_threshold",
        "2",
        "between 0 and 1",
    );
    refuses(r#""beta": -1"#, "beta", "-1", "above 0");
}

#[test]
fn schedulers_of_classes() {
    let policy = |words: &str, classes: &str| {
        format!(r#"{{"main": {{"class-based": {{{words}, "classes": [{classes}]}}}}}}"#)
    };
    let a = |more: &str| format!(r#"{{"name": "a", {EF}, {more}}}"#);
    let check = |words: &str, more: &str, key: &str, found: &str, message: &str| {
        let path = format!("policies.main.class-based.{key}");
        refused(&policy(words, &a(more)), &path, found, message, "");
    };
    let limit = r#""queue_limit": "9 packets""#;
    let half = r#""bandwidth": "50 %""#;
    check(
        r#""quantum": "1 kB""#,
        limit,
        "quantum",
        "1000 B",
        "with `scheduler: scfq`",
    );
    check(
        r#""scheduler": "drr", "quantum": "9 B""#,
        limit,
        "quantum",
        "9 B",
        "from 64 B to 1 MiB",
    );
    check(
        r#""scheduler": "ets""#,
        limit,
        "strict",
        "nothing",
        "how many classes go first",
    );
    check(
        r#""scheduler": "drr", "strict": 1"#,
        limit,
        "strict",
        "1",
        "`scheduler: ets`, and no other",
    );
    check(
        r#""scheduler": "ets", "strict": 0"#,
        limit,
        "strict",
        "0",
        "how many classes go first",
    );
    check(
        r#""scheduler": "ets", "strict": 3"#,
        limit,
        "strict",
        "3",
        "has 2 classes with queues",
    );
    check(
        r#""scheduler": "strict""#,
        half,
        "classes[0].bandwidth",
        "a",
        "shares nothing",
    );
    let odd = r#""bandwidth": "333.333 kb/s""#;
    check(
        r#""scheduler": "wrr""#,
        odd,
        "scheduler",
        "wrr",
        "whole numbers of packets",
    );
}

#[test]
fn names_of_policies() {
    let fifo = |name: &str| format!(r#"{{"{name}": {{"fifo": {{}}}}}}"#);
    let there = "there is no policy of this name";
    refused(
        &fifo("mains"),
        "policies",
        "main",
        there,
        "did you mean `mains`?",
    );
    refused(
        &fifo("other"),
        "policies",
        "main",
        there,
        "defined are `other`",
    );
    refused("{}", "policies", "main", there, "no policy is defined");
    let nested = r#"{"name": "class-default", "policy": "chlid"}"#;
    let json = format!(
        r#"{{"main": {{"class-based": {{"classes": [{nested}]}}}}, "child": {{"class-based": {{"classes": []}}}}}}"#
    );
    let path = "policies.main.class-based.classes[0].policy";
    refused(&json, path, "chlid", there, "did you mean `child`?");
    let json = json
        .replace("chlid", "child")
        .replace(r#""class-based": {"classes": []}"#, r#""fifo": {}"#);
    refused(
        &json,
        path,
        "child",
        "it is a fifo policy",
        "only class-based",
    );
}

#[test]
fn a_policy_must_not_contain_itself() {
    let class = |policy: &str| {
        format!(
            r#"{{"class-based": {{"classes": [{{"name": "class-default", "policy": "{policy}"}}]}}}}"#
        )
    };
    let json = format!(
        r#"{{"main": {}, "a": {}, "b": {}}}"#,
        class("a"),
        class("b"),
        class("a")
    );
    let path = "policies.b.class-based.classes[0].policy";
    refused(
        &json,
        path,
        "a",
        "the policy contains itself: a -> b -> a",
        "",
    );
    let json = format!(r#"{{"main": {}}}"#, class("main"));
    let path = "policies.main.class-based.classes[0].policy";
    refused(&json, path, "main", "main -> main", "");
}

#[test]
fn nesting_is_bounded() {
    let mut json = r#"{"p9": {"fifo": {}}"#.to_owned();
    for i in 0..9 {
        let name = if i == 0 {
            "main".to_owned()
        } else {
            format!("p{i}")
        };
        json += &format!(
            r#", "{name}": {{"class-based": {{"classes": [{{"name": "class-default", "policy": "p{}"}}]}}}}"#,
            i + 1
        );
    }
    json += "}";
    let path = "policies.p7.class-based.classes[0].policy";
    refused(&json, path, "p8", "more than 8 deep", "");

    // 17 * 17 * 17 classes, from three policies.
    let many = |policy: &str| {
        let class = |i| format!(r#"{{"name": "c{i}", {EF}, "bandwidth": "1 %" {policy}}}"#);
        let list: Vec<_> = (0..16).map(class).collect();
        format!(r#"{{"class-based": {{"classes": [{}]}}}}"#, list.join(","))
    };
    let json = format!(
        r#"{{"main": {}, "a": {}, "b": {}}}"#,
        many(r#", "policy": "a""#),
        many(r#", "policy": "b""#),
        many("")
    );
    let e = resolve(&json, BPS).unwrap_err();
    assert!(e.message.contains("more than 4096 classes"), "{e}");
}

#[test]
fn names_of_classes() {
    let two = |a: &str, b: &str| classes(&format!(r#"{{"name": "{a}", {EF}}}, {{"name": "{b}"}}"#));
    let at = |i, key| format!("policies.main.class-based.classes[{i}].{key}");
    let same = two("voice", "voice");
    refused(
        &same,
        &at(1, "name"),
        "voice",
        "of this name above",
        "unique",
    );
    refused(&two(" ", "x"), &at(0, "name"), " ", "needs a name", "");
    refused(
        &two("a/b", "x"),
        &at(0, "name"),
        "a/b",
        "must not contain `/`",
        "",
    );
    let early = classes(&format!(
        r#"{{"name": "class-default"}}, {{"name": "x", {EF}}}"#
    ));
    refused(
        &early,
        &at(0, "name"),
        "class-default",
        "could never match",
        "to the end",
    );
    let unmatched = two("voice", "video");
    refused(
        &unmatched,
        &at(1, "match"),
        "video",
        "does not say which packets",
        "add a `match`",
    );
    let list: Vec<_> = (0..250)
        .map(|i| format!(r#"{{"name": "c{i}", {EF}}}"#))
        .collect();
    let path = "policies.main.class-based.classes";
    refused(
        &classes(&list.join(",")),
        path,
        "251 classes",
        "at most 250",
        "",
    );
    assert!(resolve(&classes(&list[1..].join(",")), BPS).is_ok());
    refused_class(
        &format!(r#"{{"name": "class-default", {EF}}}"#),
        "match",
        "class-default",
        "matches every packet",
    );
}

#[test]
fn conditions() {
    let class = |m: &str| format!(r#"{{"name": "a", "match": {m}, "bandwidth": "1 %"}}"#);
    refused_class(
        &class(r#"{"dscp": []}"#),
        "match.dscp",
        "[]",
        "matches no packet",
    );
    refused_class(
        &class(r#"{"precedence": 8}"#),
        "match.precedence",
        "8",
        "between 0 and 7",
    );
    refused_class(
        &class(r#"{"exp": [7, 8]}"#),
        "match.exp",
        "8",
        "between 0 and 7",
    );
    refused_class(&class(r#"{"exp": []}"#), "match.exp", "[]", "no packet");
    refused_class(
        &class(r#"{"any": [{"not": {"precedence": 9}}]}"#),
        "match.any[0].not.precedence",
        "9",
        "",
    );
    refused_class(
        &class(r#"{"acl": [{"permit": true, "match": {"src": []}}]}"#),
        "match.acl[0].match.src",
        "[]",
        "",
    );
}

#[test]
fn statements_that_exclude_each_other() {
    let class = |keys: &str| format!(r#"{{"name": "a", {EF}, {keys}}}"#);
    for key in [
        r#""bandwidth": "1 %""#,
        r#""bandwidth_remaining": "1 %""#,
        r#""bandwidth_remaining_ratio": 1"#,
        r#""queue_limit": "1 packets""#,
        r#""aqm": {"red": {}}"#,
        r#""fair_queue": {}"#,
        r#""drr": {}"#,
        r#""fq_codel": {}"#,
        r#""policy": "main""#,
    ] {
        let name = key.split('"').nth(1).unwrap();
        let keys = format!(r#""priority": {{}}, {key}"#);
        refused_class(&class(&keys), name, "a", "a priority class cannot have");
    }
    let keys = r#""bandwidth": "1 %", "bandwidth_remaining": "1 %""#;
    refused_class(
        &class(keys),
        "bandwidth_remaining",
        "a",
        "exclude each other",
    );
    for queue in ["fair_queue", "drr"] {
        let keys = format!(r#""{queue}": {{}}, "aqm": {{"codel": {{}}}}"#);
        refused_class(&class(&keys), "aqm", "codel", "packets of one queue");
    }
    for (keys, name) in [
        (r#""fair_queue": {}, "drr": {}"#, "drr"),
        (r#""fq_codel": {}, "drr": {}"#, "fq_codel"),
        (r#""fq_codel": {}, "aqm": {"red": {}}"#, "aqm"),
        (r#""drr": {}, "queue_limit": "9 packets""#, "queue_limit"),
    ] {
        refused_class(&class(keys), name, "a", "cannot stand beside it");
    }
    let keys = r#""policy": "main", "aqm": {"red": {}}"#;
    refused_class(&class(keys), "aqm", "a", "no queue of its own");
    refused_class(
        r#"{"name": "class-default", "priority": {}}"#,
        "priority",
        "class-default",
        "cannot have priority",
    );
    let both = classes(&format!(
        r#"{{"name": "a", {EF}, "bandwidth_remaining": "1 %"}}, {{"name": "b", {EF}, "bandwidth_remaining_ratio": 1}}"#
    ));
    refused(
        &both,
        "policies.main.class-based.classes",
        "bandwidth_remaining and bandwidth_remaining_ratio",
        "not by both",
        "",
    );
}

#[test]
fn guarantees_must_fit() {
    let two = |a: &str, b: &str| {
        classes(&format!(
            r#"{{"name": "a", {EF}, {a}}}, {{"name": "b", {EF}, {b}}}"#
        ))
    };
    let at = |key| format!("policies.main.class-based.classes[1].{key}");
    let json = two(r#""bandwidth": "70 %""#, r#""bandwidth": "31 %""#);
    refused(
        &json,
        &at("bandwidth"),
        "31 %",
        "come to 1.01 Mb/s, 101.0 % of the enclosing rate of 1 Mb/s",
        "100 % at most",
    );
    let json = two(
        r#""bandwidth": "700 kb/s""#,
        r#""priority": {"rate": "400 kb/s"}"#,
    );
    refused(
        &json,
        &at("priority.rate"),
        "400 kb/s",
        "come to 1.1 Mb/s",
        "",
    );
    let json = two(
        r#""bandwidth_remaining": "70 %""#,
        r#""bandwidth_remaining": "31 %""#,
    );
    refused(
        &json,
        &at("bandwidth_remaining"),
        "31 %",
        "come to 101.0 %",
        "",
    );
    // All of it is no error, though thirds are rounded.
    let thirds = r#""bandwidth": "33.333333333333 %""#;
    assert!(resolve(&two(thirds, r#""bandwidth": "66.666666666667 %""#), BPS).is_ok());
    // A nested policy divides its class's rate.
    let json = r#"{"main": {"class-based": {"classes": [{"name": "class-default", "shape": {"rate": "100 kb/s"}, "policy": "child"}]}},
        "child": {"class-based": {"classes": [{"name": "a", "match": {}, "bandwidth": "200 kb/s"}]}}}"#;
    refused(
        json,
        "policies.child.class-based.classes[0].bandwidth",
        "200 kb/s",
        "200.0 % of the enclosing rate of 100 kb/s",
        "",
    );
}

#[test]
fn ranges() {
    let class = |keys: &str| format!(r#"{{"name": "a", {EF}, {keys}}}"#);
    for (keys, key, found) in [
        (r#""bandwidth": "0 %""#, "bandwidth", "0 %"),
        (
            r#""bandwidth_remaining": "0 %""#,
            "bandwidth_remaining",
            "0 %",
        ),
        (
            r#""bandwidth_remaining_ratio": 0"#,
            "bandwidth_remaining_ratio",
            "0",
        ),
        (
            r#""bandwidth_remaining_ratio": 1001"#,
            "bandwidth_remaining_ratio",
            "1001",
        ),
        (r#""priority": {"level": 0}"#, "priority.level", "0"),
        (r#""priority": {"rate": "0 %"}"#, "priority.rate", "0 %"),
        (
            r#""priority": {"rate": "1 %", "burst": "0 B"}"#,
            "priority.burst",
            "0 B",
        ),
        (
            r#""priority": {"limit": "0 packets"}"#,
            "priority.limit",
            "0 packets",
        ),
        (r#""shape": {"rate": "0 %"}"#, "shape.rate", "0 %"),
        (
            r#""shape": {"rate": "1 %", "burst": "0 B"}"#,
            "shape.burst",
            "0 B",
        ),
        (r#""police": {"rate": "0 %"}"#, "police.rate", "0 %"),
        (
            r#""police": {"rate": "1 %", "burst": "0 B"}"#,
            "police.burst",
            "0 B",
        ),
        (r#""queue_limit": "0 B""#, "queue_limit", "0 B"),
        (
            r#""fair_queue": {"queues": 100}"#,
            "fair_queue.queues",
            "100",
        ),
        (r#""fair_queue": {"queues": 8}"#, "fair_queue.queues", "8"),
        (
            r#""fair_queue": {"threshold": 0}"#,
            "fair_queue.threshold",
            "0",
        ),
        (
            r#""fair_queue": {"hold_queue": 0}"#,
            "fair_queue.hold_queue",
            "0",
        ),
        (r#""aqm": {"red": {"min_th": -1}}"#, "aqm.red.min_th", "-1"),
        (
            r#""aqm": {"codel": {"target": "0 s"}}"#,
            "aqm.codel.target",
            "0 s",
        ),
        (
            r#""aqm": {"codel": {"interval": "200 s"}}"#,
            "aqm.codel.interval",
            "200 s",
        ),
        (
            r#""aqm": {"codel": {"target": "200 ms"}}"#,
            "aqm.codel.target",
            "200 ms",
        ),
        (r#""aqm": {"red": {"min_th": 15}}"#, "aqm.red.max_th", "15"),
        (
            r#""aqm": {"green": {"utilization": 1.1}}"#,
            "aqm.green.utilization",
            "1.1",
        ),
        (
            r#""aqm": {"green": {"time_constant": "0 s"}}"#,
            "aqm.green.time_constant",
            "0 s",
        ),
        (r#""aqm": {"green": {"gain": 0}}"#, "aqm.green.gain", "0"),
        (
            r#""aqm": {"green": {"min_distance": -1}}"#,
            "aqm.green.min_distance",
            "-1",
        ),
        (
            r#""aqm": {"green-tcp": {"rtt": "0 s"}}"#,
            "aqm.green-tcp.rtt",
            "0 s",
        ),
        (
            r#""aqm": {"green-tcp": {"window": "0 s"}}"#,
            "aqm.green-tcp.window",
            "0 s",
        ),
        (
            r#""aqm": {"green-tcp": {"mss": "0 B"}}"#,
            "aqm.green-tcp.mss",
            "0 B",
        ),
        (r#""aqm": {"green-tcp": {"c": 0}}"#, "aqm.green-tcp.c", "0"),
        (
            r#""aqm": {"cobalt": {"target": "200 ms"}}"#,
            "aqm.cobalt.target",
            "200 ms",
        ),
        (
            r#""aqm": {"cobalt": {"decrement": 2}}"#,
            "aqm.cobalt.decrement",
            "2",
        ),
        (
            r#""aqm": {"cobalt": {"as": "ns3", "mtu": "1500 B"}}"#,
            "aqm.cobalt.mtu",
            "1500 B",
        ),
        (
            r#""aqm": {"blue": {"increment": 0}}"#,
            "aqm.blue.increment",
            "0",
        ),
        (
            r#""aqm": {"blue": {"decrement": 1.5}}"#,
            "aqm.blue.decrement",
            "1.5",
        ),
        (
            r#""aqm": {"blue": {"freeze": "0 s"}}"#,
            "aqm.blue.freeze",
            "0 s",
        ),
        (
            r#""aqm": {"blue": {"threshold": 4000000000}}"#,
            "aqm.blue.threshold",
            "4000000000",
        ),
        (r#""aqm": {"pi": {"b": 0.1}}"#, "aqm.pi.b", "0.1"),
        (r#""aqm": {"pi": {"target": -1}}"#, "aqm.pi.target", "-1"),
        (
            r#""aqm": {"pi": {"update": "1 us"}}"#,
            "aqm.pi.update",
            "1 us",
        ),
        (
            r#""aqm": {"pi": {"mean_packet": "0 B"}}"#,
            "aqm.pi.mean_packet",
            "0 B",
        ),
        (r#""aqm": {"rem": {"phi": 1}}"#, "aqm.rem.phi", "1"),
        (r#""aqm": {"rem": {"gamma": 0}}"#, "aqm.rem.gamma", "0"),
        (r#""aqm": {"rem": {"weight": 0}}"#, "aqm.rem.weight", "0"),
        (
            r#""aqm": {"rem": {"update": "11 s"}}"#,
            "aqm.rem.update",
            "11 s",
        ),
        (
            r#""aqm": {"avq": {"utilization": 1.1}}"#,
            "aqm.avq.utilization",
            "1.1",
        ),
        (r#""aqm": {"avq": {"alpha": 0}}"#, "aqm.avq.alpha", "0"),
        (
            r#""aqm": {"avq": {"buffer": "0 B"}}"#,
            "aqm.avq.buffer",
            "0 B",
        ),
        (
            r#""aqm": {"sred": {"zombies": 0}}"#,
            "aqm.sred.zombies",
            "0",
        ),
        (
            r#""aqm": {"sred": {"overwrite": 0}}"#,
            "aqm.sred.overwrite",
            "0",
        ),
        (r#""aqm": {"sred": {"max_p": 2}}"#, "aqm.sred.max_p", "2"),
        (
            r#""aqm": {"dred": {"target": 4000000000}}"#,
            "aqm.dred.target",
            "4000000000",
        ),
        (
            r#""aqm": {"dred": {"no_drop": 4000000000}}"#,
            "aqm.dred.no_drop",
            "4000000000",
        ),
        (r#""aqm": {"dred": {"beta": 0}}"#, "aqm.dred.beta", "0"),
        (
            r#""aqm": {"choke": {"min_th": 15}}"#,
            "aqm.choke.max_th",
            "15",
        ),
        (
            r#""aqm": {"choke": {"weight": 0}}"#,
            "aqm.choke.weight",
            "0",
        ),
        (r#""aqm": {"sfb": {"max": 20}}"#, "aqm.sfb.max", "20"),
        (r#""aqm": {"sfb": {"levels": 0}}"#, "aqm.sfb.levels", "0"),
        (r#""aqm": {"sfb": {"bins": 1}}"#, "aqm.sfb.bins", "1"),
        (
            r#""aqm": {"sfb": {"increment": 0}}"#,
            "aqm.sfb.increment",
            "0",
        ),
        (
            r#""aqm": {"sfb": {"warmup": "601 s"}}"#,
            "aqm.sfb.warmup",
            "601 s",
        ),
        (
            r#""aqm": {"self-configuring-red": {"alpha": 1}}"#,
            "aqm.self-configuring-red.alpha",
            "1",
        ),
        (
            r#""aqm": {"self-configuring-red": {"beta": 0.5}}"#,
            "aqm.self-configuring-red.beta",
            "0.5",
        ),
        (
            r#""aqm": {"self-configuring-red": {"max_p": 0.00001}}"#,
            "aqm.self-configuring-red.max_p",
            "0.00001",
        ),
        (
            r#""aqm": {"load-adaptive-red": {"period": "0 s"}}"#,
            "aqm.load-adaptive-red.period",
            "0 s",
        ),
        (
            r#""aqm": {"load-adaptive-red": {"loss_weight": 0}}"#,
            "aqm.load-adaptive-red.loss_weight",
            "0",
        ),
        (
            r#""aqm": {"load-adaptive-red": {"target_loss": -0.1}}"#,
            "aqm.load-adaptive-red.target_loss",
            "-0.1",
        ),
        (
            r#""aqm": {"load-adaptive-red": {"threshold": 5}}"#,
            "aqm.load-adaptive-red.threshold",
            "5",
        ),
        (
            r#""aqm": {"load-adaptive-red": {"threshold_high": 5, "threshold_low": 6}}"#,
            "aqm.load-adaptive-red.threshold_low",
            "6",
        ),
        (
            r#""aqm": {"load-adaptive-red": {"gain": -1}}"#,
            "aqm.load-adaptive-red.gain",
            "-1",
        ),
        (r#""aqm": {"red": {"max_p": 1.5}}"#, "aqm.red.max_p", "1.5"),
        (r#""aqm": {"red": {"weight": 0}}"#, "aqm.red.weight", "0"),
        (
            r#""aqm": {"red": {"mean_packet": "0 B"}}"#,
            "aqm.red.mean_packet",
            "0 B",
        ),
        (
            r#""aqm": {"wred": {"exponential_weighting_constant": 17}}"#,
            "aqm.wred.exponential_weighting_constant",
            "17",
        ),
        (
            r#""aqm": {"wred": {"dscp": {"af11": {"min": 30, "max": 20}}}}"#,
            "aqm.wred.dscp.af11.min",
            "30",
        ),
        (
            r#""aqm": {"wred": {"dscp": {"af11": {"min": 0, "max": 20}}}}"#,
            "aqm.wred.dscp.af11.min",
            "0",
        ),
        (
            r#""aqm": {"wred": {"dscp": {"af11": {"min": 1, "max": 5000}}}}"#,
            "aqm.wred.dscp.af11.max",
            "5000",
        ),
        (
            r#""aqm": {"wred": {"dscp": {"af11": {"min": 1, "max": 2, "denominator": 0}}}}"#,
            "aqm.wred.dscp.af11.denominator",
            "0",
        ),
        (r#""set_exp": 8"#, "set_exp", "8"),
        (r#""set_exp_imposition": 9"#, "set_exp_imposition", "9"),
        (
            r#""aqm": {"wred": {"precedence": {"1": {"min": 1, "max": 2}}}}"#,
            "aqm.wred.precedence",
            "1 profiles",
        ),
        (
            r#""aqm": {"wred": {"by": "precedence", "dscp": {"ef": {"min": 1, "max": 2}}}}"#,
            "aqm.wred.dscp",
            "1 profiles",
        ),
        (
            r#""aqm": {"wred": {"by": "precedence", "precedence": {"8": {"min": 1, "max": 2}}}}"#,
            "aqm.wred.precedence.8",
            "8",
        ),
    ] {
        refused_class(&class(keys), key, found, "");
    }
    refused(
        r#"{"main": {"fifo": {"limit": "1 ns"}}}"#,
        "policies.main.fifo.limit",
        "1 ns",
        "not a byte fits",
        "",
    );
    refused(
        r#"{"main": {"wfq": {"hold_queue": "0 B"}}}"#,
        "policies.main.wfq.hold_queue",
        "0 B",
        "",
        "",
    );
    refused(
        r#"{"main": {"flow-wfq": {"queues": 300}}}"#,
        "policies.main.flow-wfq.queues",
        "300",
        "",
        "write 512",
    );
}

#[test]
fn policers() {
    let police = |p: &str| format!(r#"{{"name": "a", {EF}, "police": {p}}}"#);
    for (p, key, found, message) in [
        (r#"{"rate": "0 %"}"#, "rate", "0 %", "above 0"),
        (
            r#"{"rate": "1 kb/s", "burst": "0 B"}"#,
            "burst",
            "0 B",
            "ever conform",
        ),
        (
            r#"{"rate": "1 kb/s", "burst": "0 B", "violate": "drop"}"#,
            "burst",
            "0 B",
            "one must be above 0",
        ),
        (
            r#"{"rate": "1 kb/s", "burst": "0 B", "excess_burst": "0 B", "violate": "drop"}"#,
            "burst",
            "0 B",
            "one must be above 0",
        ),
        (
            r#"{"rate": "1 kb/s", "burst": "0 B", "excess_burst": "9 kB"}"#,
            "burst",
            "0 B",
            "ever conform",
        ),
        (
            r#"{"rate": "1 kb/s", "burst": "0 B", "peak_rate": "2 kb/s", "excess_burst": "9 kB"}"#,
            "burst",
            "0 B",
            "ever conform",
        ),
        (
            r#"{"rate": "2 kb/s", "peak_rate": "1 kb/s"}"#,
            "peak_rate",
            "1 kb/s",
            "below the committed rate of 2 kb/s",
        ),
        (
            r#"{"rate": "1 kb/s", "peak_rate": "1 kb/s", "excess_burst": "0 ms"}"#,
            "excess_burst",
            "0 B",
            "every packet would violate",
        ),
        (
            r#"{"rate": "0 %", "window": "1 s"}"#,
            "rate",
            "0 %",
            "above 0",
        ),
        (
            r#"{"rate": "1 kb/s", "window": "0 s"}"#,
            "window",
            "0 s",
            "an average needs time",
        ),
        (
            r#"{"rate": "2 kb/s", "peak_rate": "1 kb/s", "window": "1 s"}"#,
            "peak_rate",
            "1 kb/s",
            "below the committed rate of 2 kb/s",
        ),
        (
            r#"{"rate": "1 kb/s", "burst": "9 kB", "window": "1 s"}"#,
            "burst",
            "burst",
            "has no burst",
        ),
        (
            r#"{"rate": "1 kb/s", "peak_rate": "2 kb/s", "excess_burst": "9 kB", "window": "1 s"}"#,
            "excess_burst",
            "excess_burst",
            "has no burst",
        ),
        (
            r#"{"rate": "1 kb/s", "conform_color": {}, "window": "1 s"}"#,
            "conform_color",
            "conform_color",
            "color-blind",
        ),
        (
            r#"{"rate": "1 kb/s", "violate": "drop", "window": "1 s"}"#,
            "violate",
            "violate",
            "without a peak rate",
        ),
        (
            r#"{"rate": "1 kb/s", "exceed": []}"#,
            "exceed",
            "[]",
            "no action",
        ),
        (
            r#"{"rate": "1 kb/s", "violate": ["drop", {"set-dscp": 8}]}"#,
            "violate",
            "drop",
            "cannot be treated otherwise",
        ),
        (
            r#"{"rate": "1 kb/s", "exceed_color": {}}"#,
            "exceed_color",
            "exceed_color",
            "color-blind",
        ),
        (
            r#"{"rate": "1 kb/s", "conform_color": {"dscp": []}}"#,
            "conform_color.dscp",
            "[]",
            "matches no packet",
        ),
    ] {
        refused_class(&police(p), &format!("police.{key}"), found, message);
    }
    warned(
        &classes(&police(r#"{"rate": "1 kb/s", "excess_burst": "9 kB"}"#)),
        "no effect without `violate`",
    );
}

#[test]
fn warnings() {
    let class = |keys: &str| classes(&format!(r#"{{"name": "a", {EF}, {keys}}}"#));
    warned(
        &class(r#""set_dscp": "cs1""#),
        "asks for no queue of its own",
    );
    warned(&class(r#""shape": {"rate": "2 Mb/s"}"#), "it never binds");
    warned(
        &class(r#""queue_limit": "10 packets", "aqm": {"red": {}}"#),
        "above the queue limit of 10",
    );
    warned(
        &class(r#""queue_limit": "30 packets", "aqm": {"wred": {}}"#),
        "the default profiles",
    );
    warned(
        &class(
            r#""queue_limit": "40 packets", "aqm": {"wred": {"dscp": {"af11": {"min": 1, "max": 50}}}}"#,
        ),
        "dscp.af11: the maximum of 50",
    );
    let mixed = classes(&format!(
        r#"{{"name": "a", {EF}, "bandwidth": "1 %"}}, {{"name": "b", {EF}, "bandwidth": "1 kb/s"}}"#
    ));
    warned(&mixed, "mixes rates and percentages");
    // A priority class may have another unit than the classes beside it.
    let apart = classes(&format!(
        r#"{{"name": "a", {EF}, "priority": {{"rate": "1 kb/s"}}}}, {{"name": "b", {EF}, "bandwidth": "1 %"}}"#
    ));
    let (_, warnings) = resolve(&apart, BPS).unwrap();
    assert_eq!(warnings, Vec::<String>::new());
    // How much a router lets reserve is its platform's; all of the link is no surprise here.
    let (_, warnings) = resolve(&class(r#""bandwidth": "100 %""#), BPS).unwrap();
    assert_eq!(warnings, Vec::<String>::new());
    // A policy that is nested twice warns once.
    let json = r#"{"main": {"class-based": {"classes": [
          {"name": "a", "match": {"dscp": "ef"}, "shape": {"rate": "50 %"}, "policy": "child"},
          {"name": "class-default", "shape": {"rate": "50 %"}, "policy": "child"}]}},
        "child": {"class-based": {"classes": [{"name": "x", "match": {"dscp": "af11"}}]}}}"#;
    assert_eq!(resolve(json, BPS).unwrap().1.len(), 1);
}

/// An AQM that compares flows has no place where each has a queue of its own.
#[test]
fn what_compares_flows_is_refused_in_fair_queues() {
    for aqm in ["choke", "sred", "sfb"] {
        for queue in ["drr", "fq"] {
            let json = format!(r#"{{"main": {{"{queue}": {{"aqm": {{"{aqm}": {{}}}}}}}}}}"#);
            let why = resolve(&json, 1_000_000).map(|_| ()).unwrap_err();
            let said = why.to_string();
            let expected =
                "it compares flows that share a queue, and each flow has a queue of its own here";
            assert!(said.contains(expected) && said.contains(queue), "{said}");
        }
    }
}

#[test]
fn trees_of_classes() {
    let htb = |keys: &str, classes: &str| {
        format!(r#"{{"main": {{"htb": {{{keys}"classes": [{classes}]}}}}}}"#)
    };
    let check = |json: String, key: &str, found: &str, message: &str, hint: &str| {
        let path = format!("policies.main.htb.{key}");
        refused(&json, &path, found, message, hint);
    };
    let a = r#"{"name": "alpha", "rate": "1 Mb/s"}"#;
    let with = |keys: &str| format!(r#"{a}, {{"name": "b", "rate": "1 kb/s", {keys}}}"#);
    check(
        htb(r#""default": "alhpa", "#, a),
        "default",
        "alhpa",
        "no class of this name without children",
        "`alpha`",
    );
    check(
        htb(r#""r2q": 0, "#, a),
        "r2q",
        "0",
        "divided by it",
        "default is 10",
    );
    check(
        htb("", &with(r#""parent": "alhpa""#)),
        "classes[1].parent",
        "alhpa",
        "no class of this name",
        "`alpha`",
    );
    check(
        htb("", &with(r#""parent": "b""#)),
        "classes[1].parent",
        "b",
        "its own parent",
        "leave `parent` out",
    );
    check(
        htb("", &with(r#""prio": 8"#)),
        "classes[1].prio",
        "8",
        "0 to 7",
        "default is 0",
    );
    check(
        htb("", &with(r#""quantum": "0 B""#)),
        "classes[1].quantum",
        "0 B",
        "at least one byte",
        "rate / r2q",
    );
    check(
        htb(
            "",
            &with(r#""rate": "0 %""#).replace(r#""rate": "1 kb/s", "#, ""),
        ),
        "classes[1].rate",
        "0 %",
        "above 0",
        "write a percentage",
    );
    check(
        htb("", &with(r#""queue": {"class-based": {"classes": []}}"#)),
        "classes[1].queue",
        "class-based",
        "not one queue",
        "classes nest by `parent`",
    );
    check(
        htb("", &with(r#""queue": {"fifo": {"limit": "0 packets"}}"#)),
        "classes[1].queue.fifo.limit",
        "0 packets",
        "nothing fits",
        "",
    );
    let inner = r#"{"name": "top", "rate": "2 Mb/s", "queue": {"fifo": {}}}, {"name": "b", "parent": "top", "rate": "1 Mb/s"}"#;
    check(
        htb("", inner),
        "classes[0].queue",
        "top",
        "no queue of its own",
        "children",
    );
    let deep: Vec<String> = (0..9)
        .map(|i| match i {
            0 => r#"{"name": "c0", "rate": "1 Mb/s"}"#.to_owned(),
            _ => format!(
                r#"{{"name": "c{i}", "parent": "c{}", "rate": "1 Mb/s"}}"#,
                i - 1
            ),
        })
        .collect();
    check(
        htb("", &deep.join(", ")),
        "classes[7].parent",
        "c6",
        "eight levels",
        "seven classes",
    );
    // A leaf inside of seven classes is as deep as Linux goes.
    assert!(resolve(&htb("", &deep[..8].join(", ")), BPS).is_ok());
    warned(
        &htb(
            "",
            &with(r#""parent": "alpha""#).replace("1 kb/s", "2 Mb/s"),
        ),
        "more than its own 1 Mb/s",
    );
    warned(
        &htb("", &with(r#""ceil": "500 b/s""#)),
        "never sends more than ceil",
    );
    warned(
        &htb(
            r#""timer": "10 ms", "#,
            r#"{"name": "a", "rate": "10 Mb/s", "burst": "2 kB"}"#,
        ),
        "less than 10 Mb/s sends in a tick",
    );
    warned(&htb("", a), "no packet comes to it");
}

#[test]
fn curves() {
    let hfsc = |keys: &str| {
        format!(
            r#"{{"main": {{"hfsc": {{"default": "a", "classes": [{{"name": "a", {keys}}}]}}}}}}"#
        )
    };
    let check = |keys: &str, key: &str, found: &str, message: &str| {
        let path = format!("policies.main.hfsc.classes[0]{key}");
        refused(&hfsc(keys), &path, found, message, "");
    };
    check(r#""ul": {"m2": "1 kb/s"}"#, "", "a", "needs a curve");
    check(
        r#""sc": {"m2": "1 kb/s"}, "rt": {"m2": "1 kb/s"}"#,
        ".rt",
        "a",
        "`sc` is both",
    );
    check(r#""sc": {}"#, ".sc", "no keys", "`m1`, `d`, `m2`");
    check(
        r#""sc": {"m2": "1 kb/s", "rate": "1 kb/s"}"#,
        ".sc",
        "keys of both forms",
        "`umax`, `dmax`, `rate`",
    );
    check(
        r#""sc": {"m1": "1 kb/s", "m2": "1 kb/s"}"#,
        ".sc.d",
        "nothing",
        "lasts for",
    );
    check(
        r#""sc": {"m1": "1 kb/s", "d": "1 s"}"#,
        ".sc.m2",
        "nothing",
        "last slope",
    );
    check(
        r#""sc": {"umax": "100 B", "rate": "1 kb/s"}"#,
        ".sc.dmax",
        "nothing",
        "within `dmax`",
    );
    let none = r#"{"main": {"hfsc": {"default": "", "classes": []}}}"#;
    let path = "policies.main.hfsc.default";
    refused(none, path, "", "Linux would drop them", "name a class");
    warned(
        &hfsc(r#""rt": {"m2": "1 kb/s"}, "ul": {"m2": "1 kb/s"}"#),
        "has no effect",
    );
    let inner = r#"{"main": {"hfsc": {"default": "b", "classes": [
        {"name": "a", "rt": {"m2": "1 kb/s"}}, {"name": "b", "parent": "a", "ls": {"m2": "1 kb/s"}}]}}}"#;
    warned(inner, "taken as `sc`");
}
