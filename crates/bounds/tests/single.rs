//! Bounds at one port, worked out by hand.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use spillgate_bounds::{QueueBound, Report, bounds, report};
use spillgate_scenario::{NoImporter, Options, load};

/// The report of a point of a scenario.
#[track_caller]
pub(crate) fn of(yaml: &str, point: usize) -> Report {
    with(yaml, [], point)
}

/// The same with files that it refers to.
#[track_caller]
pub(crate) fn with<const N: usize>(
    yaml: &str,
    beside: [(&str, Vec<u8>); N],
    point: usize,
) -> Report {
    let mut files = BTreeMap::from([(PathBuf::from("test.yaml"), yaml.as_bytes().to_vec())]);
    files.extend(beside.map(|(name, bytes)| (PathBuf::from(name), bytes)));
    let options = Options::default();
    let plan = match load(Path::new("test.yaml"), &files, &NoImporter, &options) {
        Ok(loaded) => loaded.plan,
        Err(e) => panic!("{e}"),
    };
    let world = &plan.variants[point].world;
    report(world, &bounds(world))
}

#[track_caller]
pub(crate) fn owd(report: &Report, class: &str) -> f64 {
    let found = report.classes.iter().find(|c| c.name == class).unwrap();
    found.owd.unwrap_or_else(|| panic!("{report:#?}"))
}

/// What bounds a queue.
fn by(queue: &QueueBound) -> Option<&'static str> {
    queue.delay.as_ref().map(|d| d.by)
}

/// Times in ms to a tenth of a microsecond.
#[track_caller]
pub(crate) fn near(found: f64, ms: f64) {
    assert!(
        (found * 1e3 - ms).abs() < 1e-4,
        "{} ms, not {ms} ms",
        found * 1e3
    );
}

/// The example that a reader opens first: 5 ms of propagation, 10 Mb/s, packets of 1500 and 200 B.
#[test]
fn the_first_example() {
    let yaml = include_str!("../../../examples/first/scenario.yaml");
    let fifo = of(yaml, 0);
    // 50 packets, one of which is its own, and one in transmission.
    near(owd(&fifo, "data"), 5.0 + 51.0 * 1.2);
    near(owd(&fifo, "voice"), 5.0 + 50.0 * 1.2 + 0.16);
    let llq = of(yaml, 1);
    // A packet in transmission, and its own.
    near(owd(&llq, "voice"), 5.0 + 1.2 + 0.16);
    // 51 packets and 200 B at what 100 kb/s of voice leave.
    near(owd(&llq, "data"), 5.0 + (51.0 * 12.0 + 1.6) / 9.9);
    let [voice, data] = &llq.queues[..] else {
        panic!("{llq:#?}");
    };
    assert!(by(voice) == Some("burst") && by(data) == Some("limit"));
    let delay = data.delay.as_ref().unwrap();
    assert_eq!((delay.own, data.rate), (75_000, Some(9_900_000)));
    // 75,000 B of 10 Mb/s; 200 B go first, at 9.9 Mb/s; a packet is in front.
    near(delay.parts["own"], 60.0);
    near(delay.parts["priority"], (600.0 + 1.6) / 9.9 - 60.0);
    near(delay.parts["front"], 12.0 / 9.9);
    assert_eq!(data.backlog, Some(75_000));
    // LLQ's policer may drop calls, and the data's queue may be full.
    assert!(!voice.lossless && !data.lossless);
}

/// A queue of what is said to halve the bound halves it, and a packet more does not; a bound that
/// is propagation and a packet in front cannot be halved at a queue.
#[test]
fn what_halves_a_bound_does() {
    let data = |packets: u64| {
        let policy = format!(
            "{{class-based: {{classes: [{{name: voice, match: {{dscp: ef}}, priority: {{rate: 1 Mb/s, burst: 10 kB}}}}, {{name: class-default, queue_limit: {packets} packets}}]}}}}"
        );
        let found = of(&line(&policy, "", &[CALLS, CUBIC]), 0);
        let data = found.classes.into_iter().find(|c| c.name == "data");
        data.unwrap()
    };
    let whole = data(50);
    let [halved] = &whole.halved[..] else {
        panic!("{whole:#?}");
    };
    assert_eq!((halved.what, halved.now), ("packets", 50.0));
    let packets = halved.most as u64;
    let half = whole.owd.unwrap() / 2.0;
    assert!(data(packets).owd.unwrap() <= half && data(packets + 1).owd.unwrap() > half);
    let voice = of(include_str!("../../../examples/first/scenario.yaml"), 1);
    assert!(voice.classes[0].name == "voice" && voice.classes[0].halved.is_empty());
}

/// A line of 10 Mb/s and 5 ms with this policy and traffic.
pub(crate) fn line(policy: &str, keys: &str, traffic: &[&str]) -> String {
    let mut yaml = format!(
        "schema_version: 1\ntopology:\n  nodes: [a, b]\n  links:\n    wan: {{from: a, to: b, rate: 10 Mb/s, delay: 5 ms, policy: P{keys}, duplex: true}}\npolicies:\n  P: {policy}\ntraffic:\n"
    );
    for (i, flow) in traffic.iter().enumerate() {
        yaml += &format!("  - flow: {{name: f{i}, from: a, to: b, {flow}}}\n");
    }
    yaml + "measurement: {duration: 1 s, interval: 100 ms}\nruns: {count: 1}\n"
}

const CALLS: &str = "class: voice, dscp: ef, source: {poisson: {rate: 2 Mb/s, packet: 200 B}}";
const CUBIC: &str = "class: data, tcp: {profile: linux}";

/// Poisson calls at twice the rate of their class, which only its policer bounds, and TCP, which
/// only the limit does.
#[test]
fn tcp_behind_an_overloaded_priority_class() {
    let policy = "{class-based: {classes: [{name: voice, match: {dscp: ef}, priority: {rate: 1 Mb/s, burst: 10 kB}}, {name: class-default, queue_limit: 50 packets}]}}";
    let found = of(&line(policy, "", &[CALLS, CUBIC]), 0);
    near(owd(&found, "voice"), 5.0 + (80.0 + 12.0) / 10.0);
    near(owd(&found, "data"), 5.0 + (51.0 * 12.0 + 80.0) / 9.0);
    // With a transmit ring of three packets, two more are in front.
    let ringed = of(&line(policy, ", tx_ring: 3 packets", &[CALLS, CUBIC]), 0);
    near(owd(&ringed, "voice"), 5.0 + (80.0 + 3.0 * 12.0) / 10.0);
    near(owd(&ringed, "data"), 5.0 + (53.0 * 12.0 + 80.0) / 9.0);
    let of_data = ringed.queues.iter().find(|q| q.queue == "class-default");
    assert_eq!(of_data.unwrap().backlog, Some(52 * 1500));
}

/// Three classes of 1 : 2 : 7, each with the limit of 20 packets of 1500 B.
#[test]
fn classes_wait_for_a_packet_of_every_other() {
    let policy = "{class-based: {classes: [{name: x, match: {dscp: af11}, bandwidth: 10 %, queue_limit: 20 packets}, {name: y, match: {dscp: af21}, bandwidth: 20 %, queue_limit: 20 packets}, {name: class-default, queue_limit: 20 packets}]}}";
    let tcp = |dscp: &str| format!("class: {dscp}, dscp: {dscp}, tcp: {{profile: linux}}");
    let [x, y] = ["af11", "af21"].map(tcp);
    let found = of(&line(policy, "", &[&x, &y, CUBIC]), 0);
    // Packets of two others, one of its own in transmission, and 20 at its share.
    for (class, share) in [("af11", 0.1), ("af21", 0.2), ("data", 0.7)] {
        let ms = 5.0 + 3.0 * 1.2 + 20.0 * 1.2 / share;
        let found = owd(&found, class) * 1e3;
        // Weights are integers, and compared in parts of 2^-20.
        let off = (found - ms).abs();
        assert!(off < ms * 1e-5, "{class}: {found} ms, not {ms} ms");
    }
    // Where no packet comes to a class, it takes no part.
    let alone = of(&line(policy, "", &[&x]), 0);
    near(owd(&alone, "af11"), 5.0 + 21.0 * 1.2);
}

/// What stands before a queue of 20 packets of 1500 B by each scheduler: shares of 1 : 2 : 7, of
/// which each packet takes 1.2 ms.
#[test]
fn schedulers_of_classes() {
    let random = |dscp: &str| {
        format!(
            "class: {dscp}, dscp: {dscp}, source: {{poisson: {{rate: 9 Mb/s, packet: 1500 B}}}}"
        )
    };
    let [x, y, z] = ["af11", "af21", "cs0"].map(random);
    let of_each = |scheduler: &str, shares: [&str; 2]| {
        let [a, b] = shares;
        let policy = format!(
            "{{class-based: {{{scheduler}, classes: [{{name: x, match: {{dscp: af11}}, {a}queue_limit: 20 packets}}, {{name: y, match: {{dscp: af21}}, {b}queue_limit: 20 packets}}, {{name: class-default, queue_limit: 20 packets}}]}}}}"
        );
        of(&line(&policy, "", &[&x, &y, &z]), 0)
    };
    let shares = ["bandwidth: 10 %, ", "bandwidth: 20 %, "];
    // Turns of 1514, 3028 and 10,598 B; 20 of its own and a packet in transmission.
    let drr = of_each("scheduler: drr", shares);
    let own =
        (21.0 * 1500.0 + 20.0 * 1500.0 * (3028.0 + 10_598.0) / 1514.0 + 13_626.0 + 2.0 * 1499.0)
            * 0.8e-3;
    near(owd(&drr, "af11"), 5.0 + own);
    // Each packet of its own is in a turn of 1, 2 and 7; one turn of the others, and one in front.
    let wrr = of_each("scheduler: wrr", shares);
    near(owd(&wrr, "af11"), 5.0 + (20.0 * 10.0 + 9.0 + 1.0) * 1.2);
    // Of packets of one length the same.
    let [scfq, start] = ["scheduler: scfq", "scheduler: start-time"];
    let [scfq, start] = [scfq, start].map(|s| owd(&of_each(s, shares), "af11"));
    near(start, scfq * 1e3);
    // The first class waits for a packet in transmission, others for what nothing bounds.
    let strict = of_each("scheduler: strict", ["", ""]);
    near(owd(&strict, "af11"), 5.0 + 21.0 * 1.2);
    let second = strict.classes.iter().find(|c| c.name == "af21").unwrap();
    assert!(second.why.is_some());
    // A packet in front; its next start is 9 packets of its own behind. In transmission one; and a
    // byte for rounding.
    let wf2q = of_each("scheduler: wf2q+", shares);
    near(
        owd(&wf2q, "af11"),
        5.0 + (20.0 * 10.0 + 9.0 + 1.0 + 1.0) * 1.2 + 0.8e-3,
    );
    // No more may come than its rate.
    let clock = of_each("scheduler: virtual-clock", shares);
    let said = clock.classes.iter().find(|c| c.name == "af11").unwrap();
    assert!(
        said.why.as_ref().unwrap().contains("more may come"),
        "{said:?}"
    );
}

/// A packet that waits is there as a whole, though the class's share would have served a part of
/// it: 500 B, and what comes at 400 kb/s while the other sends 7/3 of that and a packet.
#[test]
fn packets_wait_as_a_whole() {
    let policy = "{class-based: {classes: [{name: x, match: {dscp: af11}, bandwidth: 30 %}, {name: class-default}]}}";
    let of_x = "class: x, dscp: af11, source: {cbr: {rate: 400 kb/s, packet: 500 B}}";
    let other = "class: y, source: {cbr: {rate: 400 kb/s, packet: 1000 B}}";
    let found = of(&line(policy, "", &[of_x, other]), 0);
    let x = found.queues.iter().find(|q| q.queue == "x").unwrap();
    assert_eq!(x.backlog, Some(500 + 87));
    assert!(x.lossless);
}

/// Behind a shaper of 4 Mb/s one packet of its line is in front, in the policy inside as elsewhere.
#[test]
fn a_shaper_around_classes() {
    let policy = "{class-based: {classes: [{name: class-default, shape: {rate: 4 Mb/s}, queue_limit: 10 packets}]}}";
    let found = of(&line(policy, "", &[CUBIC]), 0);
    near(owd(&found, "data"), 5.0 + 1.2 + 10.0 * 3.0);
}

/// Constant rates through two hops: each is late by no more than the bound of the first, and
/// nothing can be lost.
#[test]
fn a_second_hop_sees_what_the_first_lets_through() {
    let yaml = "schema_version: 1
topology:
  nodes: [a, b, r, z]
  links:
    ha: {from: a, to: r, rate: 10 Mb/s, delay: 0 s, policy: F}
    hb: {from: b, to: r, rate: 10 Mb/s, delay: 0 s, policy: F}
    out: {from: r, to: z, rate: 10 Mb/s, delay: 0 s, policy: F}
policies:
  F: {fifo: {limit: 8 packets}}
traffic:
  - flow: {name: f0, class: k, from: a, to: z, source: {cbr: {rate: 1 Mb/s, packet: 1000 B}}}
  - flow: {name: f1, class: l, from: b, to: z, source: {cbr: {rate: 2 Mb/s, packet: 500 B}}}
measurement: {duration: 1 s, interval: 100 ms}
runs: {count: 1}
";
    let found = of(yaml, 0);
    // 0.8 and 0.4 ms at the first hop, as long as the transmission, so none is late: 1500 B.
    near(owd(&found, "k"), 0.8 + 1500.0 * 8.0 / 10_000.0);
    near(owd(&found, "l"), 0.4 + 1500.0 * 8.0 / 10_000.0);
    assert!(found.classes.iter().all(|c| c.lossless));
    let full = of(&yaml.replace("8 packets", "2 packets"), 0);
    assert!(full.classes.iter().all(|c| !c.lossless));
}

/// Ten flows over three ports, at each of which one of others is beside them for this port only.
#[test]
fn a_burst_counts_once_along_a_path() {
    let mut yaml = String::from(
        "schema_version: 1\ntopology:\n  nodes: [n0, n1, n2, n3]\n  links:\n    l0: {from: n0, to: n1, rate: 10 Mb/s, delay: 1 ms, policy: F}\n    l1: {from: n1, to: n2, rate: 10 Mb/s, delay: 1 ms, policy: F}\n    l2: {from: n2, to: n3, rate: 10 Mb/s, delay: 1 ms, policy: F}\npolicies: {F: {fifo: {limit: 2 GB}}}\ntraffic:\n",
    );
    let mut flow = |name: &str, from: usize, to: usize| {
        let class = &name[..1];
        yaml += &format!(
            "  - flow: {{name: {name}, class: {class}, from: n{from}, to: n{to}, source: {{cbr: {{rate: 100 kb/s, packet: 1000 B}}}}}}\n"
        );
    };
    (0..10).for_each(|i| flow(&format!("k{i}"), 0, 3));
    (0..3).for_each(|i| flow(&format!("x{i}"), i, i + 1));
    yaml += "measurement: {duration: 1 s}\nruns: {count: 1}\n";
    let found = of(&yaml, 0);
    // At each port 0.8 ms for the packet of the other, and 9.9 Mb/s are left; at the first two a
    // packet; and 10 packets once.
    near(owd(&found, "k"), 3.0 + 3.0 * 0.8 + (2.0 + 10.0) * 8.0 / 9.9);
    let k = &found.classes[0];
    let sum: f64 = k.steps.iter().map(|s| s.parts.delay).sum();
    // Port by port, the line before lets come no more than it carries, but what is late counts.
    assert!(sum > 8.8e-3 + 2.0 * 1.6e-3, "{sum}");
    near(k.once.unwrap() + k.owd.unwrap(), 3.0 + sum * 1e3);
}

/// A ring of ports; at each a flow begins, of packets of 1000 B, that goes over so many of them.
fn ring(ports: usize, hops: usize, rate: &str, limit: &str) -> String {
    let each = |of: &dyn Fn(usize) -> String| (0..ports).map(of).collect::<String>();
    format!(
        "schema_version: 1\ntopology:\n  nodes: [{}]\n  links:\n{}policies:\n  F: {{fifo: {{limit: {limit}}}}}\ntraffic:\n{}measurement: {{duration: 1 s, interval: 100 ms}}\nruns: {{count: 1}}\n",
        each(&|i| format!("n{i}, ")),
        each(&|i| format!(
            "    l{i}: {{from: n{i}, to: n{}, rate: 10 Mb/s, delay: 0 s, policy: F}}\n",
            (i + 1) % ports
        )),
        each(&|i| format!(
            "  - flow: {{name: f{i}, class: k, from: n{i}, to: n{}, source: {{cbr: {{rate: {rate}, packet: 1000 B}}}}}}\n",
            (i + hops) % ports
        )),
    )
}

/// The fixed point of D = (2 L + r t) / C, with L the packet, r the rate of a flow and C that of a
/// line: over which the other flow comes at C until t, when it has made up for what it is late at
/// most beyond its transmission, (C - r) t = r (D - L / C). A full queue would take longer.
#[test]
fn a_loop_is_bounded_by_its_fixed_point() {
    let fixed = (1.6 - 0.4 * 3.2 / 6.0) / (1.0 - 0.4 * 4.0 / 6.0);
    for limit in ["20 packets", "2 GB"] {
        let found = of(&ring(3, 2, "4 Mb/s", limit), 0);
        assert!(
            found.queues.iter().all(|q| by(q) == Some("burst")),
            "{found:#?}"
        );
        for q in &found.queues {
            let delay = q.delay.as_ref().unwrap().delay * 1e3;
            assert!(
                (fixed..fixed * 1.01).contains(&delay),
                "{limit}: {delay} ms"
            );
        }
        assert!(found.classes[0].lossless);
    }
    // A limit that is met sooner.
    let full = of(&ring(3, 2, "4 Mb/s", "1 packets"), 0);
    assert!(
        full.queues.iter().all(|q| by(q) == Some("limit")),
        "{full:#?}"
    );
}

/// Where the ports before may be late by more than makes them late, nothing is claimed.
#[test]
fn a_loop_without_a_fixed_point_has_no_bound() {
    // 9.6 of 10 Mb/s, but three flows may be late by the delays of one, two and three ports: they
    // come at the rate of their line until (10 - 7.2) t = 2.4 (1 + 2 + 3) D, in which the fourth
    // brings 0.24 t = 1.23 D.
    let found = of(&ring(5, 4, "2.4 Mb/s", "2 GB"), 0);
    assert!(found.classes[0].owd.is_none(), "{found:#?}");
    assert!(
        found
            .queues
            .iter()
            .all(|q| q.delay.is_none() && q.why.is_some())
    );
}

/// What has no bound says why, and has no number.
#[test]
fn reasons_are_given() {
    let classes = "{class-based: {classes: [{name: voice, match: {dscp: ef}, priority: {}}]}}";
    for (policy, why) in [
        (
            classes,
            "`wan`, queue `class-default`: `voice` goes first, has no policer, and nothing bounds what comes to it: the classes behind it can wait for ever",
        ),
        (
            "{fifo: {limit: 2 GB}}",
            "`wan`, queue `fifo`: its queue has no limit, and nothing bounds what comes to it",
        ),
        (
            "{drr: {limit: 2 GB}}",
            "`wan`, queue `drr`: its queue has no limit, and nothing bounds what comes to it",
        ),
    ] {
        let found = of(&line(policy, "", &[CALLS, CUBIC]), 0);
        let data = found.classes.iter().find(|c| c.name == "data").unwrap();
        assert_eq!((data.owd, data.why.as_deref()), (None, Some(why)));
    }
    let varies = ", rate_process: {on-off: {on: 20 ms, off: 15 ms}}";
    let found = of(&line("{fifo: {limit: 9 packets}}", varies, &[CUBIC]), 0);
    assert!(
        found.classes[0]
            .why
            .as_ref()
            .unwrap()
            .contains("may stand still")
    );
    let fails = line("{fifo: {limit: 9 packets}}", "", &[CUBIC]);
    let fails = fails.replace(
        "policies:",
        "  failures: [{link: wan, at: 100 ms, repair: 200 ms}]\npolicies:",
    );
    assert!(of(&fails, 0).without_failures);
}

/// Each port's bound needs that of the port before it, the last one first: too many for a stack.
#[test]
fn a_chain_may_be_longer_than_the_stack() {
    const NODES: usize = 6_000;
    let nodes: Vec<_> = (0..NODES).map(|i| format!("n{i}")).collect();
    let links = (1..NODES).rev().map(|i| {
        format!(
            "    l{i}: {{from: n{}, to: n{i}, rate: 1 Gb/s, delay: 0 ms, policy: P}}\n",
            i - 1
        )
    });
    let flows = (2..NODES).map(|i| {
        let (from, source) = (i - 2, "{cbr: {rate: 1 Mb/s, packet: 1000 B}}");
        format!("  - flow: {{name: f{i}, class: c, from: n{from}, to: n{i}, source: {source}}}\n")
    });
    let yaml = format!(
        "schema_version: 1\ntopology:\n  nodes: [{}]\n  links:\n{}policies: {{P: {{fifo: {{limit: 100 packets}}}}}}\ntraffic:\n{}measurement: {{duration: 1 s}}\n",
        nodes.join(", "),
        links.collect::<String>(),
        flows.collect::<String>()
    );
    let report = of(&yaml, 0);
    assert_eq!(report.queues.len(), NODES - 1);
    // Two links, at each a packet of the other flow and its own, of 8 us each. What comes over a
    // link may be 16 us early, in which 1 Mb/s are 2 B: 16 ns more at each.
    let owd = owd(&report, "c");
    assert!((32e-6..=32e-6 + 40e-9).contains(&owd), "{owd}");
}
