//! Steady state allocates nothing: rings grow and stay.

use std::sync::atomic::Ordering;

use spillgate_capture::testkit::{Pcap, arp, ethernet, tcp4, udp4};
use spillgate_events::WinnerTree;
use spillgate_sim::{Stop, World};

use crate::{ALLOCATIONS, alone, common};

const POLICIES: &[&str] = &[
    "{fifo: {limit: 40 packets}}",
    "{fifo: {limit: 100 packets, aqm: {red: {}}}}",
    "{wfq: {}}",
    "{flow-wfq: {}}",
    "{class-based: {classes: [
        {name: voice, match: {dscp: ef}, priority: {rate: 15 %}},
        {name: video, match: {dscp: af41}, bandwidth: 35 %},
        {name: data, match: {dscp: af21}, bandwidth: 20 %, aqm: {wred: {}}}]}}",
    "{class-based: {classes: [{name: class-default, shape: {rate: 8 Mb/s}, fair_queue: {}}]}}",
    "{class-based: {scheduler: drr, quantum: 300 B, classes: [
        {name: video, match: {dscp: af41}, bandwidth: 35 %, shape: {rate: 30 %}},
        {name: data, match: {dscp: af21}, bandwidth: 20 %, aqm: {choke: {}}}]}}",
    "{class-based: {scheduler: wf2q+, classes: [
        {name: video, match: {dscp: af41}, bandwidth: 35 %, aqm: {pi: {}}},
        {name: data, match: {dscp: af21}, bandwidth: 20 %, aqm: {sred: {}}}]}}",
    "{fifo: {limit: 100 packets, aqm: {sfb: {}}}}",
    "{fifo: {limit: 40 packets, full: random}}",
    "{dualpi2: {}}",
    "{cake: {bandwidth: 9 Mb/s, tins: diffserv4, memory_limit: 60 kB}}",
    "{htb: {default: data, classes: [
        {name: all, rate: 9 Mb/s},
        {name: voice, parent: all, match: {dscp: ef}, rate: 1 Mb/s, ceil: 9 Mb/s},
        {name: video, parent: all, match: {dscp: af41}, rate: 3 Mb/s, ceil: 9 Mb/s, prio: 1},
        {name: data, parent: all, rate: 3 Mb/s, ceil: 9 Mb/s, prio: 1}]}}",
    "{hfsc: {default: data, classes: [
        {name: all, ls: {m2: 9 Mb/s}, ul: {m2: 9 Mb/s}},
        {name: voice, parent: all, match: {dscp: ef}, sc: {umax: 200 B, dmax: 5 ms, rate: 1 Mb/s}},
        {name: video, parent: all, match: {dscp: af41}, ls: {m2: 3 Mb/s}},
        {name: data, parent: all, ls: {m2: 3 Mb/s}}]}}",
    "{fair: {scheduler: wf2q+}}",
    "{fair: {scheduler: qfq, limit: 40 packets}}",
    "{fair: {scheduler: virtual-clock, weight_sum: 9, aqm: {codel: {}}}}",
    "{sfq: {divisor: 16}}",
    "{fq-pie: {as: linux, flows: 16}}",
];

#[test]
fn no_allocation_in_steady_state() {
    let _alone = alone();
    for policy in POLICIES {
        // 30 % more than the link carries, so that queues are full and drops happen.
        let plan = common::plan(&format!(
            "
schema_version: 1
topology:
  nodes: [a, b, c]
  links:
    access: {{from: a, to: b, rate: 1 Gb/s, delay: 10 us}}
    wan: {{from: b, to: c, rate: 10 Mb/s, delay: 1 ms, policy: P}}
policies: {{P: {policy}}}
traffic:
  - flow: {{name: voice, count: 3, from: a, to: c, dscp: ef, source: {{cbr: {{rate: 500 kb/s, packet: 200 B, jitter: 10 %}}}}}}
  - flow: {{name: video, count: 4, from: a, to: c, dscp: af41, source: {{poisson: {{rate: 1.5 Mb/s, packet: 1200 B}}}}}}
  - flow: {{name: data, count: 4, from: a, to: c, dscp: af21, source: {{poisson: {{rate: 1.5 Mb/s, packet: imix}}}}}}
measurement: {{warmup: 1 s, duration: 60 s, interval: 1 s}}
runs: {{count: 1, seed: 1}}
"
        ));
        no_allocation(policy, &plan);
    }
    for tcp in CONNECTIONS {
        let plan = common::plan(&format!(
            "
schema_version: 1
topology:
  nodes: [a, b, c]
  links:
    access: {{from: a, to: b, rate: 1 Gb/s, delay: 1 ms, duplex: true}}
    wan: {{from: b, to: c, rate: 10 Mb/s, delay: 9 ms, policy: P, duplex: true}}
policies: {{P: {{fifo: {{limit: 50 packets}}}}}}
traffic:
  - flow: {{name: greedy, count: 5, from: a, to: c, start_spread: 1 s, tcp: {tcp}}}
  - flow: {{name: back, count: 2, from: c, to: a, start_spread: 1 s, tcp: {tcp}}}
  - flow: {{name: voice, from: a, to: c, source: {{on-off: {{peak: 64 kb/s, packet: 200 B, on: 1 s, off: 1 s}}}}, tcp: {tcp}}}
  - sessions: {{name: short, from: a, to: c, arrivals: {{poisson: {{gap: 20 ms}}}}, session: {{transfer: {{size: {{pareto: {{mean: 12 kB, shape: 1.5, max: 100 kB}}}}}}}}, tcp: {tcp}, active: 50}}
  - sessions: {{name: pages, from: c, to: a, arrivals: {{poisson: {{gap: 300 ms}}}}, session: {{request-response: {{request: {{fixed: 400 B}}, response: {{fixed: 20 kB}}, think: 500 ms, requests: 3}}}}, tcp: {tcp}, active: 20}}
measurement: {{warmup: 1 s, duration: 240 s, interval: 1 s}}
runs: {{count: 1, seed: 1}}
"
        ));
        no_allocation(tcp, &plan);
    }
    for group in ["dscp", "all", "flow"] {
        let replay = format!(
            "
schema_version: 1
topology:
  nodes: [a, b]
  links:
    wan: {{from: a, to: b, rate: 5 Mb/s, delay: 9 ms, policy: P}}
policies: {{P: {{fifo: {{limit: 50 packets}}}}}}
traffic:
  - capture: {{name: c, file: c.pcap, from: a, to: b, loop: true, group: {group}}}
measurement: {{warmup: 1 s, duration: 60 s, interval: 1 s}}
runs: {{count: 1, seed: 1}}
"
        );
        let plan = common::plan_with(&replay, [("c.pcap", capture())]);
        no_allocation(&format!("replay by {group}"), &plan);
    }
}

/// Ten seconds of 700 packets each of several hosts, 5.6 Mb/s together; not all are IP. Each
/// repetition opens the file anew, which allocates its reader and its buffer, whatever is in it.
fn capture() -> Vec<u8> {
    let mut file = Pcap::default();
    for i in 0..7000_u64 {
        let at = 1_000_000_000 + i * 10_000_000_000 / 7000;
        let voice = udp4(&format!("10.1.0.{}:16384", i % 5), "10.2.0.1:5004", 46, 172);
        let data = tcp4(&format!("10.1.1.{}:50000", i % 7), "10.2.0.2:443", 0, 1460);
        match i {
            _ if i % 100 == 99 => file.record(at, &arp()),
            _ if i % 3 == 0 => file.record(at, &ethernet(&voice)),
            _ => file.record(at, &ethernet(&data)),
        }
    }
    file.finish()
}

/// Endpoints with every kind of buffer: without and with a scoreboard, RACK, rate samples.
const CONNECTIONS: [&str; 4] = [
    "{profile: ns2}",
    "{profile: rfc}",
    "{profile: linux}",
    "{profile: linux, cc: {bbr: {}}}",
];

fn no_allocation(name: &str, plan: &spillgate_scenario::plan::Plan) {
    let mut world = World::<WinnerTree>::new(&plan.variants[0].world, 1, 0, false);
    // Half of the run to fill queues, rings and the octaves of the histograms.
    while world.fraction() < 0.5 {
        assert_eq!(world.run(1_000), Stop::Paused);
    }
    let before = (ALLOCATIONS.load(Ordering::Relaxed), world.packets());
    while world.fraction() < 0.9 {
        assert_eq!(world.run(1_000), Stop::Paused);
    }
    let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before.0;
    let packets = world.packets() - before.1;
    assert!(packets > 10_000, "{name}: only {packets} packets");
    // An octave that the histograms see for the first time is no cost per packet, but it is
    // an allocation: allow one in a thousand packets, none systematic.
    assert!(
        allocations * 1_000 <= packets,
        "{name}: {allocations} allocations for {packets} packets"
    );
}
