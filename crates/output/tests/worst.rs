//! Worst cases as packets: how near they come to the bounds, and that sources could send them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use spillgate_bounds::{bounds, feeds};
use spillgate_core::curve::{Exact, UNITS};
use spillgate_core::testkit::effort;
use spillgate_import::ConfigImporter;
use spillgate_output::worst::{PACKETS, Place, Worst, worst};
use spillgate_scenario::plan::{Plan, WorldPlan};
use spillgate_scenario::{Options, load, points_alone};

const IOS: ConfigImporter = ConfigImporter { strict: false };

type Memory = BTreeMap<PathBuf, Vec<u8>>;

pub(crate) fn memory(yaml: &str) -> Memory {
    BTreeMap::from([(PathBuf::from("test.yaml"), yaml.as_bytes().to_vec())])
}

#[track_caller]
pub(crate) fn plan(files: &Memory) -> Plan {
    let path = Path::new("test.yaml");
    match load(path, files, &IOS, &Options::default()) {
        Ok(loaded) => loaded.plan,
        Err(e) => panic!("{e}"),
    }
}

/// The worst cases of all queues with a bound, by `link/queue`; none is above its bound, and none
/// above what its sources may send.
#[track_caller]
pub(crate) fn worst_of(yaml: &str) -> BTreeMap<String, Worst> {
    worst_with(yaml, memory(yaml))
}

#[track_caller]
fn worst_with(yaml: &str, files: Memory) -> BTreeMap<String, Worst> {
    let (plan, path) = (plan(&files), Path::new("test.yaml"));
    let points = points_alone(path, &files, &IOS, &Options::default()).unwrap();
    let world = &plan.variants[0].world;
    let place = Place {
        path,
        files: &files,
        importer: &IOS,
        confine: false,
    };
    let mut all = BTreeMap::new();
    for hop in bounds(world).hops.iter().filter(|h| h.bound.is_ok()) {
        let name = format!("{}/{}", world.links[hop.link as usize].name, hop.name);
        let found = match worst(&points[0], world, hop, place, &|| false) {
            Ok(found) => found.unwrap(),
            Err(why) => panic!("{name}: {why}\n{yaml}"),
        };
        assert!(found.reached <= found.bound, "{name}: {found:?}\n{yaml}");
        keeps_curves(world, hop.link, &found);
        all.insert(name, found);
    }
    all
}

/// In no time a flow sends more than its arrival curve allows.
#[track_caller]
fn keeps_curves(world: &WorldPlan, link: u32, found: &Worst) {
    let overhead = world.links[link as usize].overhead;
    for (i, feed) in feeds(world, link).iter().enumerate() {
        let Some(curve) = &feed.curve else { continue };
        let own: Vec<_> = found.sent.iter().filter(|s| s.feed == i).collect();
        for (a, first) in own.iter().enumerate() {
            let mut sum = 0;
            for s in &own[a..] {
                assert!(feed.lengths.contains(&s.len));
                sum += i128::from(overhead.wire_len(s.len)) * UNITS;
                let within = Exact::from_integer((s.at - first.at).into());
                let most = curve.right_of(within).unwrap();
                assert!(Exact::from_integer(sum) <= most, "{i}: {first:?} to {s:?}");
            }
        }
    }
}

#[track_caller]
fn reaches(yaml: &str, percent: f64) -> BTreeMap<String, Worst> {
    let found = worst_of(yaml);
    assert!(!found.is_empty());
    for (name, w) in &found {
        let share = self::percent(w);
        eprintln!(
            "{name}: {share:.3} % of {}, {} tries, {:?}",
            w.bound, w.tried, w.gap
        );
    }
    for (name, w) in &found {
        let share = self::percent(w);
        assert!(share >= percent, "{name}: {share:.3} %, {:?}", w.gap);
        assert_eq!(w.gap.is_some(), share < 99.0, "{name}");
    }
    found
}

/// A line of 10 Mb/s and 5 ms with this policy and traffic.
pub(crate) fn line(policy: &str, keys: &str, traffic: &[&str]) -> String {
    let mut yaml = format!(
        "schema_version: 1\ntopology:\n  nodes: [a, b]\n  links:\n    wan: {{from: a, to: b, rate: 10 Mb/s, delay: 5 ms, policy: P{keys}}}\n    back: {{from: b, to: a, rate: 1 Gb/s, delay: 5 ms}}\npolicies:\n  P: {policy}\ntraffic:\n"
    );
    for (i, flow) in traffic.iter().enumerate() {
        yaml += &format!("  - flow: {{name: f{i}, from: a, to: b, {flow}}}\n");
    }
    yaml + "measurement: {duration: 1 s, interval: 100 ms}\nruns: {count: 1}\n"
}

const CALLS: &str = "class: voice, dscp: ef, source: {poisson: {rate: 2 Mb/s, packet: 200 B}}";
const CALL: &str = "class: voice, dscp: ef, source: {cbr: {rate: 100 kb/s, packet: 200 B}}";
const CUBIC: &str = "class: data, tcp: {profile: linux}";
const VIDEO: &str = "class: video, dscp: af41, source: {cbr: {rate: 2 Mb/s, packet: 1200 B}}";

#[test]
fn first_in_first_out() {
    for limit in ["50 packets", "3 packets", "90 kB"] {
        let policy = format!("{{fifo: {{limit: {limit}}}}}");
        reaches(&line(&policy, "", &[CUBIC, CALL]), 99.0);
        reaches(&line(&policy, ", tx_ring: 3 packets", &[CUBIC, CALL]), 99.0);
        reaches(&line(&policy, "", &[CALL, VIDEO, CALL]), 99.0);
    }
}

#[test]
fn priority() {
    let policy = "{class-based: {classes: [{name: voice, match: {dscp: ef}, priority: {rate: 1 Mb/s, burst: 10 kB}}, {name: class-default, queue_limit: 50 packets}]}}";
    reaches(&line(policy, "", &[CALLS, CUBIC]), 99.0);
    reaches(&line(policy, ", tx_ring: 3 packets", &[CALLS, CUBIC]), 99.0);
    reaches(&line(policy, "", &[CALL, CUBIC]), 99.0);
    // For the class behind, the bound takes calls for a fluid.
    reaches(&line(policy, "", &[CALL, CALL, VIDEO]), 97.0);
}

#[test]
fn classes() {
    let policy = "{class-based: {classes: [{name: x, match: {dscp: af11}, bandwidth: 10 %, queue_limit: 20 packets}, {name: y, match: {dscp: af21}, bandwidth: 20 %, queue_limit: 20 packets}, {name: class-default, queue_limit: 20 packets}]}}";
    let tcp = |dscp: &str| format!("class: {dscp}, dscp: {dscp}, tcp: {{profile: linux}}");
    let [x, y] = ["af11", "af21"].map(tcp);
    reaches(&line(policy, "", &[&x, &y, CUBIC]), 95.0);
    reaches(&line(policy, "", &[&x]), 95.0);
    // Of two packets the bound's orders do not come together wholly.
    let few = policy.replace("20 packets", "2 packets");
    reaches(&line(&few, "", &[&x, &y, CUBIC]), 88.0);
}

#[test]
fn a_shaper() {
    let policy = "{class-based: {classes: [{name: class-default, shape: {rate: 4 Mb/s}, queue_limit: 10 packets}]}}";
    reaches(&line(policy, "", &[CUBIC]), 95.0);
}

/// Beside a class of twice its rate.
#[test]
fn a_shaper_beside_others() {
    let policy = "{class-based: {classes: [{name: x, match: {dscp: af11}, bandwidth: 50 %, shape: {rate: 2 Mb/s, burst: 6 kB}, queue_limit: 40 packets}, {name: class-default, queue_limit: 40 packets}]}}";
    let x = "class: x, dscp: af11, tcp: {profile: linux}";
    let found = worst_of(&line(policy, "", &[x, CUBIC]));
    let w = &found["wan/x"];
    assert!(percent(w) >= 95.0, "{} %, {:?}", percent(w), w.gap);
}

/// What is written is a scenario as others are, and gives the same again.
#[test]
fn it_can_be_opened() {
    let found = reaches(
        &line("{fifo: {limit: 9 packets}}", "", &[CUBIC, CALL]),
        99.0,
    );
    let w = &found["wan/fifo"];
    let mut files = memory(&w.scenario);
    files.insert(PathBuf::from(PACKETS), w.packets.clone());
    let again = plan(&files);
    assert!(again.warnings.is_empty(), "{:?}", again.warnings);
    assert_eq!(w.story["seq"], w.number);
    assert!(
        w.story["sentence"].as_str().unwrap().contains("wan"),
        "{}",
        w.story
    );
}

/// A share of the bound in percent.
fn percent(w: &Worst) -> f64 {
    w.reached.as_secs_f64() / w.bound.as_secs_f64() * 100.0
}

/// A rate, a transmit ring, and packets of two lengths.
fn port() -> impl Strategy<Value = (u32, u32, [u32; 2])> {
    (100_u32..20_000, 1_u32..4, [60_u32..1500, 60_u32..1500])
}

fn at_rate(yaml: &str, kbps: u32) -> String {
    yaml.replacen("rate: 10 Mb/s", &format!("rate: {kbps} kb/s"), 1)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4 * effort()))]

    #[test]
    fn first_in_first_out_at_random((rate, ring, [a, b]) in port(), limit in 1_u32..80, bursts in any::<bool>()) {
        let of = |len: u32| match bursts {
            true => format!("source: {{cbr: {{rate: {} kb/s, packet: {len} B}}}}", rate / 4 + 1),
            false => format!("source: {{poisson: {{rate: 1 Mb/s, packet: {len} B}}}}"),
        };
        let yaml = line(
            &format!("{{fifo: {{limit: {limit} packets}}}}"),
            &format!(", tx_ring: {ring} packets"),
            &[&of(a), &of(b)],
        );
        let yaml = at_rate(&yaml, rate);
        for w in worst_of(&yaml).values() {
            prop_assert!(percent(w) >= 99.0, "{} %, {:?}\n{yaml}", percent(w), w.gap);
        }
    }

    #[test]
    fn priority_at_random(
        (rate, ring, [a, b]) in port(), limit in 20_u32..80, burst in 2_u32..20, share in 5_u32..50,
    ) {
        // A bucket of one packet loses the tokens of each packet that is a little late.
        // A packet in front that is longer than all others has taken tokens, which the bound leaves
        // out.
        let (a, b) = (a.min(b), a.max(b));
        let policy = format!("{{class-based: {{classes: [{{name: voice, match: {{dscp: ef}}, priority: {{rate: {share} %, burst: {} B}}}}, {{name: class-default, queue_limit: {limit} packets}}]}}}}", burst * a);
        let voice = format!("dscp: ef, source: {{poisson: {{rate: 1 Mb/s, packet: {a} B}}}}");
        let data = format!("source: {{poisson: {{rate: 1 Mb/s, packet: {b} B}}}}");
        let ring = format!(", tx_ring: {ring} packets");
        let yaml = at_rate(&line(&policy, &ring, &[&voice, &data]), rate);
        let found = worst_of(&yaml);
        let w = &found["wan/voice"];
        prop_assert!(percent(w) >= 99.0, "{} %, {:?}\n{yaml}", percent(w), w.gap);
        // Less a packet of calls, whose tokens have not come quite, and the calls that come while
        // the last packet is sent, which they cannot interrupt.
        let w = &found["wan/class-default"];
        let (len, own) = (f64::from(a), f64::from(b));
        let less = len + own * f64::from(share) / 100.0;
        let less = less / (f64::from(limit) * own + f64::from(burst) * len) * 100.0;
        prop_assert!(percent(w) >= 99.0 - less, "{} %, {:?}\n{yaml}", percent(w), w.gap);
    }

    #[test]
    fn classes_at_random(
        (rate, _, [a, b]) in port(), limits in [15_u32..60, 15_u32..60, 15_u32..60],
        shares in [5_u32..30, 5_u32..30],
    ) {
        let [x, y, z] = limits;
        let policy = format!("{{class-based: {{classes: [{{name: x, match: {{dscp: af11}}, bandwidth: {} %, queue_limit: {x} packets}}, {{name: y, match: {{dscp: af21}}, bandwidth: {} %, queue_limit: {y} packets}}, {{name: class-default, queue_limit: {z} packets}}]}}}}", shares[0], shares[1]);
        let of = |dscp, len| format!("dscp: {dscp}, source: {{poisson: {{rate: 1 Mb/s, packet: {len} B}}}}");
        let yaml = line(&policy, "", &[&of("af11", a), &of("af21", b), &of("be", 1500)]);
        let yaml = at_rate(&yaml, rate);
        for (name, w) in &worst_of(&yaml) {
            // Less a packet of each class and one in transmission, which the bound takes in their
            // worst order; of short packets they are much of it.
            let packets = f64::from(a + b + 1500 + a.max(b).max(1500));
            let less = packets * 8e-3 / f64::from(rate) / w.bound.as_secs_f64() * 100.0;
            let found = percent(w);
            prop_assert!(found >= 95.0 - less, "{name}: {found} %, {less} %, {:?}\n{yaml}", w.gap);
        }
    }
}

/// Each flow has a queue of its own. Where flows share a limit, others need places in it: of 20 no
/// more than 58 packets can be sent from when the queue is full, of 63 in the bound.
#[test]
fn fair_queues() {
    let tcp = |i: u32| format!("class: c{i}, tcp: {{profile: linux}}");
    let flows = [0, 1, 2].map(tcp);
    let flows: Vec<&str> = flows.iter().map(String::as_str).collect();
    for (policy, percent) in [
        ("{drr: {quantum: 1500 B, limit: 20 packets}}", 92.0),
        ("{drr: {quantum: 1500 B, limit: 100 packets}}", 98.0),
        ("{drr: {quantum: 4000 B, limit: 100 packets}}", 95.0),
        ("{drr: {quantum: 300 B, limit: 60 packets}}", 97.0),
        ("{drr: {limit: 90 kB}}", 96.0),
        ("{fq: {limit: 200 packets}}", 96.0),
        ("{fq: {limit: 20 packets}}", 75.0),
        ("{wfq: {limit: 20 packets}}", 99.0),
        ("{flow-wfq: {threshold: 20, cdt_policy: tail-drop}}", 98.0),
        ("{flow-wfq: {threshold: 20}}", 98.0),
    ] {
        reaches(&line(policy, "", &flows), percent);
    }
    let fan = |scheduler: &str| {
        format!(
            "{{fan: {{scheduler: {scheduler}, limit: 100 packets, min_fair_rate: 0 %, max_priority_load: 100 %}}}}"
        )
    };
    for (scheduler, percent) in [
        ("pfq", 95.0),
        ("{pdrr: {}}", 96.0),
        ("{pdrr: {mode: literal}}", 97.0),
    ] {
        reaches(&line(&fan(scheduler), "", &flows), percent);
    }
}

/// Weights, and a fair queue inside a class.
#[test]
fn fair_queues_of_other_kinds() {
    let tcp = |dscp: &str| format!("class: {dscp}, dscp: {dscp}, tcp: {{profile: linux}}");
    let [x, y] = ["af11", "af41"].map(tcp);
    let flows = [&x[..], &y[..], CUBIC];
    for policy in [
        "{drr: {weights: precedence, limit: 200 packets}}",
        "{wfq: {weights: precedence, limit: 20 packets}}",
        "{flow-wfq: {threshold: 20, cdt_policy: tail-drop}}",
        "{class-based: {classes: [{name: y, match: {dscp: [af11, af41]}, bandwidth: 50 %, drr: {quantum: 1500 B, limit: 100 packets}}, {name: class-default, queue_limit: 20 packets}]}}",
    ] {
        reaches(&line(policy, "", &flows), 95.0);
    }
}

/// Policies of a router's configuration stay in it, with what its platform means by them.
#[test]
fn imported_policies() {
    let yaml = include_str!("../../../corpus/ios.yaml");
    let mut files = memory(yaml);
    let config = include_bytes!("../../../corpus/ios.cfg");
    files.insert(PathBuf::from("ios.cfg"), config.to_vec());
    let found = worst_with(yaml, files);
    let w = &found["wan/class-default/VOICE"];
    assert!(percent(w) > 30.0, "{} %, {:?}", percent(w), w.gap);
    assert!(w.scenario.contains("ios.cfg"), "{}", w.scenario);
}
