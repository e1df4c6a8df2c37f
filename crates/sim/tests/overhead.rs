//! What packets occupy on links, in a network: transmission times, rates, policers and byte limits
//! against counting by hand, in both engines.

use crate::common;
use spillgate_events::WinnerTree;
use spillgate_measure::table::{Metric, Scope};
use spillgate_sim::{Engine, Stop, World};

/// One call over a line of 512 kb/s and 10 ms.
fn call(source: &str, overhead: &str, policy: &str) -> String {
    calls(1, source, overhead, policy)
}

fn calls(count: u32, source: &str, overhead: &str, policy: &str) -> String {
    format!(
        "schema_version: 1
topology:
  nodes: [a, b]
  links: {{line: {{from: a, to: b, rate: 512 kb/s, delay: 10 ms, overhead: {overhead}, policy: P}}}}
policies: {{P: {policy}}}
traffic: [{{flow: {{name: call, count: {count}, class: voice, dscp: ef, from: a, to: b, source: {source}}}}}]
measurement: {{warmup: 1 s, duration: 12 s}}
runs: {{count: 1, seed: 4}}
"
    )
}

const FIFO: &str = "{fifo: {limit: 100 packets}}";
/// One that polices and shapes.
const CONDITIONED: &str = "{class-based: {classes: [{name: voice, match: {dscp: ef}, police: {rate: 300 kb/s}, shape: {rate: 250 kb/s}}]}}";
/// The same as [`FIFO`], but served packet by packet.
const SERVED: &str = "{class-based: {classes: [{name: class-default}]}}";

#[test]
fn calls_occupy_what_counting_by_hand_says() {
    let g729 = "{voip: {codec: g729a}}"; // 20 B of voice, 40 B of headers, 50 a second
    let g711 = "{voip: {codec: g711}}"; // 160 B of voice
    let short = "{voip: {codec: g711, packetization: 6 ms}}"; // 48 B of voice, 166.7 a second
    let longer = "{voip: {codec: g729a, packetization: 40 ms}}"; // 40 B of voice, 25 a second
    let table = [
        // IP alone: 24 kb/s.
        (g729, "none", 60, 0.020),
        // 60 + 40 = 100 B are two cells and 4 B: three cells, 63.6 kb/s for a codec of 8 kb/s.
        (g729, "pppoe-llcsnap", 3 * 53, 0.020),
        // 80 + 40 = 120 B are no more cells: half the rate.
        (longer, "pppoe-llcsnap", 3 * 53, 0.040),
        // 60 + 8 = 68 B: two cells.
        (g729, "ipoa-vcmux", 2 * 53, 0.020),
        // 200 + 40 = 240 B are five cells, and not a byte is padding: 106 kb/s.
        (g711, "pppoe-llcsnap", 5 * 53, 0.020),
        // 48 + 40 + 40 = 128 B: three cells, 212 kb/s for a codec of 64 kb/s.
        (short, "pppoe-llcsnap", 3 * 53, 0.006),
        // 60 + 30 = 90 B are filled up to none and coded: 92 B.
        (g729, "pppoe-ptm", 92, 0.020),
        // 60 + 38 + 4 = 102 B, above the least frame of 84 B.
        (g729, "ethernet ether-vlan", 102, 0.020),
        (g729, "docsis", 78, 0.020),
        (g729, "ipoa-vcmux mpu 97", 3 * 53, 0.020),
        (g729, "overhead -36", 24, 0.020),
    ];
    for (source, overhead, bytes, gap) in table {
        for policy in [FIFO, SERVED] {
            let plan = common::plan(&call(source, overhead, policy));
            let finished = common::run(&plan, 1);
            let value =
                |scope, name, metric| common::values(&plan, &finished, scope, name, metric)[0];
            let delay = value(Scope::Class, "voice", Metric::OwdMean);
            let sending = f64::from(8 * bytes) / 512e3;
            assert!(
                (delay - 0.010 - sending).abs() < 1e-9,
                "{overhead}: {delay} s"
            );
            // One packet more or less in 12 s, which is a multiple of all gaps.
            let carried = value(Scope::Link, "line", Metric::Carried);
            let rate = f64::from(8 * bytes) / gap;
            assert!(
                (carried - rate).abs() <= f64::from(8 * bytes) / 12.0,
                "{overhead}: {carried} b/s"
            );
        }
    }
}

#[test]
fn policers_count_cells() {
    // A G.729 call is 24 kb/s of IP, and 63.6 kb/s of cells.
    let lost = |rate: &str, overhead: &str| {
        let policy = format!(
            "{{class-based: {{classes: [{{name: class-default, police: {{rate: {rate}, burst: 400 B}}}}]}}}}"
        );
        let plan = common::plan(&call("{voip: {codec: g729a}}", overhead, &policy));
        let finished = common::run(&plan, 1);
        common::values(&plan, &finished, Scope::Class, "voice", Metric::LossRatio)[0]
    };
    assert_eq!(lost("24 kb/s", "none"), 0.0);
    assert_eq!(lost("63.6 kb/s", "pppoe-llcsnap"), 0.0);
    // The bucket of 400 B lets two packets more through, of 600.
    let part = lost("31.8 kb/s", "pppoe-llcsnap");
    assert!((part - 0.5).abs() <= 3.0 / 600.0, "{part}");
    // A policy that counts 12 B beside the packet, as routers do: 28.8 kb/s.
    assert_eq!(
        lost("28.8 kb/s", "pppoe-llcsnap, policy_overhead: 12 B"),
        0.0
    );
    let part = lost("14.4 kb/s", "pppoe-llcsnap, policy_overhead: 12 B");
    assert!((part - 0.5).abs() <= 3.0 / 600.0, "{part}");
    let queues = "pppoe-llcsnap, policy_overhead: {queue: 12 B}";
    assert_eq!(lost("63.6 kb/s", queues), 0.0);
}

/// Two calls in `priority 64 kb/s` beside an upload that congests the line: 127.2 kb/s of cells, of
/// which half is admitted, and 57.6 kb/s as a router counts them. A shaper of 28.8 kb/s delays
/// nobody's call.
#[test]
fn policies_count_what_they_are_told() {
    let upload = "{flow: {name: upload, class: data, from: a, to: b, source: {cbr: {rate: 600 kb/s, packet: 1460 B}}}}";
    let of_calls = |counted: &str, what: &str| {
        let policy = format!(
            "{{class-based: {{classes: [{{name: voice, match: {{dscp: ef}}, {what}}}, {{name: class-default, queue_limit: 20 packets}}]}}}}"
        );
        let overhead = format!("pppoe-llcsnap{counted}");
        let text = calls(2, "{voip: {codec: g729a}}", &overhead, &policy)
            .replace("traffic: [", &format!("traffic: [{upload}, "));
        let plan = common::plan(&text);
        let finished = common::run(&plan, 1);
        let value = |metric| common::values(&plan, &finished, Scope::Class, "voice", metric)[0];
        // The line carries cells in any case, all the time.
        let line = common::values(&plan, &finished, Scope::Link, "line", Metric::Carried)[0];
        assert!((line - 512e3).abs() < 0.01 * 512e3, "{line}");
        (value(Metric::LossRatio), value(Metric::OwdMean))
    };
    let priority = "priority: {rate: 64 kb/s}";
    let (cells, _) = of_calls("", priority);
    // The bucket of 200 ms lets 1600 B more through, of the 2 x 600 packets of 159 B.
    let admitted = 64.0 / 127.2 + 1600.0 / (1200.0 * 159.0);
    assert!((cells - (1.0 - admitted)).abs() < 0.01, "{cells}");
    assert_eq!(of_calls(", policy_overhead: 12 B", priority).0, 0.0);
    assert_eq!(
        of_calls(", policy_overhead: {police: 12 B}", priority).0,
        0.0
    );
    let shaped = "bandwidth: 200 kb/s, shape: {rate: 60 kb/s}, queue_limit: 10 packets";
    assert!(of_calls(", policy_overhead: {police: 12 B}", shaped).0 > 0.4);
    let (lost, delay) = of_calls(", policy_overhead: {queue: 12 B}", shaped);
    assert!(lost == 0.0 && delay < 0.06, "{lost} {delay}");
}

#[test]
fn limits_in_bytes_count_cells() {
    // Ten packets of 60 B at once: one is sent, and so many wait as the limit holds.
    for (limit, overhead, waiting) in [
        ("600 B", "none", 9),
        ("479 B", "none", 7),
        ("477 B", "pppoe-llcsnap", 3),
        ("476 B", "pppoe-llcsnap", 2),
    ] {
        let burst = "{cbr: {rate: 480 b/s, packet: 60 B, phase: 0 s}}";
        for policy in [
            format!("{{fifo: {{limit: {limit}}}}}"),
            format!(
                "{{class-based: {{classes: [{{name: class-default, queue_limit: {limit}}}]}}}}"
            ),
        ] {
            let plan = common::plan(&calls(10, burst, overhead, &policy));
            let finished = common::run(&plan, 1);
            let value = |metric| common::values(&plan, &finished, Scope::Class, "voice", metric)[0];
            let kept = 10.0 * (1.0 - value(Metric::LossRatio));
            assert!(
                (kept - f64::from(waiting + 1)).abs() < 1e-9,
                "{limit} {overhead}: {kept}"
            );
        }
    }
}

#[test]
fn both_engines_agree_on_every_kind_of_link() {
    let sources = [
        "{poisson: {rate: 400 kb/s, packet: imix}}",
        "{cbr: {rate: 480 kb/s, packet: 60 B}}",
        "{voip: {codec: g711, packetization: 6 ms}}",
    ];
    for overhead in [
        "none",
        "ethernet",
        "pppoe-llcsnap",
        "pppoe-ptm ether-vlan",
        "overhead -36",
        "overhead -20 atm mpu 60",
        "pppoe-llcsnap, policy_overhead: 12 B",
        "ethernet, policy_overhead: {police: ethernet-frame, queue: none}",
    ] {
        for source in sources {
            for policy in [
                FIFO,
                "{fifo: {limit: 3 kB}}",
                "{fifo: {limit: 30 packets, aqm: {red: {}}}}",
                SERVED,
                CONDITIONED,
            ] {
                let plan = common::plan(&call(source, overhead, policy));
                let [plain, express] = [Engine::Plain, Engine::Express].map(|engine| {
                    let world = &plan.variants[0].world;
                    let mut world = World::<WinnerTree>::on(engine, world, 4, 0, false);
                    while world.run(u64::MAX) != Stop::Done {}
                    assert_eq!(world.fault(), None);
                    world.outcome()
                });
                assert_eq!(plain.digest, express.digest, "{overhead} {source} {policy}");
                let bits = |values: &spillgate_measure::table::Row| {
                    values.iter().map(|v| v.to_bits()).collect::<Vec<_>>()
                };
                assert_eq!(
                    bits(&plain.values),
                    bits(&express.values),
                    "{overhead} {source} {policy}"
                );
            }
        }
    }
}
