//! Bounds of schedulers that guarantee rates: HTB, HFSC, WF2Q+, virtual clock, QFQ, DualPI2.

use std::fmt::Write;

use proptest::prelude::*;
use spillgate_bounds::bounds;
use spillgate_core::testkit::effort;
use spillgate_events::WinnerTree;

use super::net::plan_of;
use super::worst::holds;
use crate::common::{outcome, ring};

/// What comes of each code point: what keeps a curve, mostly near its rate, and what does not.
const OFFERED: [&str; 10] = [
    "source: {cbr: {rate: 150 kb/s, packet: 1500 B, phase: 0 s}}",
    "source: {cbr: {rate: 180 kb/s, packet: 200 B, phase: 0 s, jitter: 40 %}}",
    "source: {cbr: {rate: 90 kb/s, packet: {uniform: {min: 60 B, max: 1400 B}}}}",
    "source: {on-off: {peak: 900 kb/s, packet: 700 B, on: 30 ms, off: 90 ms}}",
    "source: {on-off: {peak: 4 Mb/s, packet: 60 B, on: 4 ms, off: 60 ms}}",
    "source: {poisson: {rate: 2 Mb/s, packet: {uniform: {min: 40 B, max: 1500 B}}}}",
    "source: {poisson: {rate: 300 kb/s, packet: 90 B}}",
    "tcp: {profile: linux}",
    "tcp: {profile: linux, ecn: classic}",
    "tcp: {cc: prague}",
];

const DSCP: [&str; 4] = ["af11", "af21", "cs1", "cs0"];

#[derive(Clone, Debug)]
struct Class {
    /// In percent of the line.
    rate: u32,
    /// Of what it may have, to the maximum, in percent.
    ceil: u32,
    /// In bytes.
    bursts: [u32; 3],
    prio: u32,
    /// Of the queue.
    limit: u32,
    aqm: usize,
    /// What is offered, of up to two flows.
    flows: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Port {
    kind: usize,
    /// In units of 100 kb/s.
    rate: u32,
    words: usize,
    more: u32,
    classes: Vec<Class>,
}

fn port() -> impl Strategy<Value = Port> {
    let class = (
        (
            1_u32..50,
            0_u32..101,
            [1_u32..9000, 1_u32..9000, 60_u32..5000],
        ),
        (0_u32..3, 2_u32..30, 0_usize..8),
        prop::collection::vec(0..OFFERED.len(), 0..3),
    );
    let class = class.prop_map(|((rate, ceil, bursts), (prio, limit, aqm), flows)| Class {
        rate,
        ceil,
        bursts,
        prio,
        limit,
        aqm,
        flows,
    });
    let classes = prop::collection::vec(class, 2..5);
    (
        0..KINDS.len(),
        8_u32..40,
        0_usize..100,
        0_u32..1000,
        classes,
    )
        .prop_map(|(kind, rate, words, more, classes)| Port {
            kind,
            rate,
            words,
            more,
            classes,
        })
}

const KINDS: [fn(&Port) -> String; 9] = [
    htb,
    htb,
    hfsc,
    |p| class_based(p, "wf2q+"),
    |p| class_based(p, "virtual-clock"),
    |p| fair(p, "wf2q+"),
    |p| fair(p, "virtual-clock"),
    |p| fair(p, "qfq"),
    dualpi2,
];

fn queue(c: &Class) -> String {
    match c.aqm {
        0 => format!("{{fq-codel: {{limit: {} packets}}}}", c.limit),
        1 => format!(
            "{{fifo: {{limit: {} packets, aqm: {{codel: {{}}}}}}}}",
            c.limit
        ),
        2 => "{fifo: {limit: 4 MB}}".to_owned(),
        _ => format!("{{fifo: {{limit: {} packets}}}}", c.limit),
    }
}

fn named(p: &Port, of: impl Fn(&Class) -> String) -> String {
    let mut out = String::new();
    for (i, class) in p.classes.iter().enumerate() {
        let dscp = DSCP[i];
        write!(
            out,
            "{{name: c{i}, match: {{dscp: {dscp}}}, {}}}, ",
            of(class)
        )
        .unwrap();
    }
    out
}

fn htb(p: &Port) -> String {
    let classes = named(p, |c| {
        let (rate, [burst, cburst, quantum]) = (c.rate, c.bursts);
        let ceil = rate + (100 - rate) * c.ceil.min(100) / 100;
        let depths = match p.more % 3 {
            0 => format!("burst: {burst} B, cburst: {cburst} B, quantum: {quantum} B, "),
            1 => format!("burst: {} B, ", burst + 1500),
            _ => String::new(),
        };
        let parent = if p.more % 5 < 2 { "parent: all, " } else { "" };
        format!(
            "{parent}rate: {rate} %, ceil: {ceil} %, prio: {}, {depths}queue: {}",
            c.prio,
            queue(c)
        )
    });
    let root = match p.more % 5 {
        0 => "{name: all, rate: 100 %}, ",
        1 => "{name: all, rate: 30 %, ceil: 60 %}, ",
        _ => "",
    };
    let default = if p.more % 7 == 0 { "" } else { "default: c0, " };
    let timer = [
        "",
        "timer: 1 ms, ",
        "timer: 4 ms, hysteresis: true, ",
        "hysteresis: true, ",
    ];
    let timer = timer[(p.more / 10 % 8).saturating_sub(4) as usize];
    format!("{{htb: {{{default}{timer}classes: [{root}{classes}]}}}}")
}

fn hfsc(p: &Port) -> String {
    // Most fit into the line.
    let part = if p.more % 4 == 0 {
        1
    } else {
        p.classes.len() as u32
    };
    let classes = named(p, |c| {
        let (m1, m2) = ((c.ceil / part).max(1), (c.rate * 2 / part).max(1));
        let rt = format!(
            "{{m1: {} kb/s, d: {} ms, m2: {m2} %}}",
            m1 * p.rate,
            1 + c.bursts[0] / 300
        );
        let ls = if c.prio == 0 { "" } else { ", ls: {m2: 30 %}" };
        format!("rt: {rt}{ls}, queue: {}", queue(c))
    });
    format!("{{hfsc: {{default: c0, classes: [{classes}]}}}}")
}

fn class_based(p: &Port, scheduler: &str) -> String {
    let percent = |c: &Class| (c.rate / 2).max(1);
    let mut classes = named(p, |c| {
        let aqm = if c.aqm == 1 { ", aqm: {codel: {}}" } else { "" };
        format!(
            "bandwidth: {} %, queue_limit: {} packets{aqm}",
            percent(c),
            c.limit
        )
    });
    if p.more % 3 == 0 {
        classes += "{name: v, match: {dscp: ef}, priority: {rate: 2 %, burst: 2 kB}}, ";
    }
    format!(
        "{{class-based: {{scheduler: {scheduler}, classes: [{classes}{{name: class-default, queue_limit: 9 packets}}]}}}}"
    )
}

fn fair(p: &Port, scheduler: &str) -> String {
    let flows: usize = p.classes.iter().map(|c| c.flows.len()).sum();
    let sum = match (scheduler, p.more % 3) {
        ("virtual-clock", 0) => ", weight_sum: 40".to_owned(),
        ("virtual-clock", _) => format!(", weight_sum: {}", flows + 1),
        (_, 0) => format!(", weight_sum: {}", 1 + p.more % 50),
        _ => String::new(),
    };
    let weights = if p.more % 5 == 0 {
        ", weights: precedence"
    } else {
        ""
    };
    let aqm = if p.more % 4 == 0 {
        ", aqm: {codel: {}}"
    } else {
        ""
    };
    let queues = if p.more % 11 == 0 { ", queues: 3" } else { "" };
    let limit = p.classes[0].limit;
    format!(
        "{{fair: {{scheduler: {scheduler}, limit: {limit} packets{sum}{weights}{aqm}{queues}}}}}"
    )
}

fn dualpi2(p: &Port) -> String {
    let rule = match p.more % 3 {
        0 => format!(", time_shift: {} ms", p.more / 10),
        1 => String::new(),
        _ => format!(", classic_share: 0.{}", 1 + p.more % 9),
    };
    let variant = if p.more % 5 == 0 { ", as: linux" } else { "" };
    format!(
        "{{dualpi2: {{limit: {} packets{rule}{variant}}}}}",
        p.classes[0].limit
    )
}

impl Port {
    /// Four hosts, a router, and the port.
    fn yaml(&self) -> String {
        let mut out = String::from("schema_version: 1\ntopology:\n  nodes: [a, r, z]\n  links:\n");
        let ring = ring(self.words);
        writeln!(
            out,
            "    up: {{from: a, to: r, rate: 20 Mb/s, delay: 10 us, duplex: true}}"
        )
        .unwrap();
        writeln!(out, "    out: {{from: r, to: z, rate: {}00 kb/s, delay: 1 ms, policy: P{ring}, duplex: true}}", self.rate).unwrap();
        writeln!(out, "policies:\n  P: {}\ntraffic:", KINDS[self.kind](self)).unwrap();
        writeln!(out, "  - flow: {{name: v, from: a, to: z, dscp: ef, source: {{cbr: {{rate: 10 kb/s, packet: 200 B}}}}}}").unwrap();
        for (i, class) in self.classes.iter().enumerate() {
            for (k, what) in class.flows.iter().enumerate() {
                let (dscp, what) = (DSCP[i], OFFERED[*what]);
                let from = if k == 0 { "a" } else { "r" };
                writeln!(
                    out,
                    "  - flow: {{name: f{i}-{k}, from: {from}, to: z, dscp: {dscp}, {what}}}"
                )
                .unwrap();
            }
        }
        out + "measurement: {warmup: 0 s, duration: 800 ms, interval: 80 ms}\nruns: {count: 1, seed: 3}\n"
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192 * effort()))]

    #[test]
    fn no_bound_of_rates_is_exceeded(port in port()) {
        let plan = plan_of(&port.yaml());
        holds(&plan, &outcome::<WinnerTree>(&plan, u64::MAX))?;
    }
}

/// The random ports have what they are to try: each kind has bounds of its queues.
#[test]
fn rates_have_bounds() {
    let class = |rate| Class {
        rate,
        ceil: 50,
        bursts: [3000, 3000, 1500],
        prio: 1,
        limit: 9,
        aqm: 7,
        flows: vec![0],
    };
    for kind in 0..KINDS.len() {
        let port = Port {
            kind,
            rate: 20,
            words: 0,
            more: 1,
            classes: [20, 30].map(class).to_vec(),
        };
        let plan = plan_of(&port.yaml());
        let world = &plan.variants[0].world;
        let found = bounds(world);
        let of = |h: &&spillgate_bounds::Hop| world.links[h.link as usize].name == "out";
        let mut own = found.hops.iter().filter(of).peekable();
        assert!(own.peek().is_some());
        for hop in own.filter(|h| !h.classes.is_empty()) {
            assert!(hop.bound.is_ok(), "{}: {hop:?}", port.yaml());
        }
    }
}
