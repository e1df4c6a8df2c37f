//! Bounds by what comes, where queues are never full: lines of all kinds, nodes that hold packets,
//! policers at arrivals, and captures.

use std::fmt::Write;

use proptest::prelude::*;
use spillgate_capture::testkit::{Pcap, ethernet, udp4};
use spillgate_core::testkit::effort;
use spillgate_events::WinnerTree;

use super::worst::holds;
use crate::common::{outcome, overhead, plan_with, ring};

/// What is not as usual on the links from hosts, and on those behind the router.
const LINES: [&str; 12] = [
    "",
    "",
    "",
    ", reorder: {share: 20 %, by: 3 ms}",
    ", loss: {bernoulli: 5 %}",
    ", rate_process: {on-off: {on: 9 ms, off: 7 ms, off_rate: 1300 kb/s}}",
    ", rate_process: {schedule: {steps: [{at: 0 s, rate: 2 Mb/s}, {at: 13 ms, rate: 0 b/s}, {at: 19 ms, rate: 5 Mb/s}], repeat: 31 ms}}",
    ", rate_process: {schedule: {steps: [{at: 50 ms, rate: 4 Mb/s}, {at: 200 ms, rate: 0 b/s}, {at: 230 ms, rate: 3 Mb/s}]}}",
    ", rate_process: {mahimahi: {file: m.trace, repeat: true}}",
    ", atm: {contract: {nrt-vbr: {pcr: 790 kb/s, scr: 600 kb/s, mbs: 60, cdvt: 2 ms}}}",
    ", atm: {encapsulation: vc-mux, phase: aligned}",
    ", atm: {contract: {ubr: {pcr: 700 kb/s}}, phase: aligned}",
];

/// Opportunities for 0.96 Mb/s.
const TRACE: &[u8] = b"4\n19\n27\n32\n32\n75\n";

const ROUTERS: [&str; 8] = [
    "r",
    "r",
    "{name: r, forwarding: {per_packet: 900 us, delay: 2 ms, input_queue: 40}}",
    "{name: r, forwarding: {per_packet: 300 us, input_queue: 3}}",
    "{name: r, forwarding: {delay: 5 ms}}",
    "{name: r, switch: {architecture: output-queued}}",
    "{name: r, switch: {architecture: cioq, speedup: 2, fabric: {parallel: {}}, line_rate: 5 Mb/s}}",
    "{name: r, switch: {architecture: cioq, speedup: 1.5, fabric: {parallel: {}}, line_rate: 4 Mb/s, buffer: {limit: 6 packets}}}",
];

/// Policies where packets arrive at the router.
const POLICERS: [&str; 4] = [
    "I0: {class-based: {classes: [{name: v, match: {dscp: ef}, police: {rate: 300 kb/s, burst: 3 kB}}, {name: class-default, police: {rate: 700 kb/s, burst: 4 kB}}]}}",
    "I1: {class-based: {classes: [{name: class-default, police: {rate: 500 kb/s, burst: 5 kB, exceed: {set-dscp: cs1}}}]}}",
    "I2: {class-based: {classes: [{name: v, match: {dscp: ef}, police: {rate: 200 kb/s, peak_rate: 400 kb/s, burst: 2 kB, exceed: transmit, violate: drop}}, {name: class-default, police: {rate: 400 kb/s, peak_rate: 900 kb/s, exceed: drop, violate: drop}}]}}",
    "I3: {class-based: {classes: [{name: class-default, police: {rate: 800 kb/s, burst: 6 kB}}]}}",
];

/// Policies behind the router.
const OUT: [&str; 10] = [
    "{fifo: {limit: 9 MB}}",
    "{fifo: {limit: 30 packets}}",
    "{class-based: {classes: [{name: v, match: {dscp: ef}, priority: {limit: 400 packets}}, {name: class-default, queue_limit: 4000 packets}]}}",
    "{class-based: {classes: [{name: v, match: {dscp: ef}, bandwidth: 30 %, queue_limit: 400 packets}, {name: class-default, queue_limit: 4000 packets}]}}",
    "{class-based: {classes: [{name: class-default, shape: {rate: 700 kb/s, burst: 2 kB}, queue_limit: 4000 packets}]}}",
    "{class-based: {classes: [{name: v, match: {dscp: ef}, shape: {rate: 300 kb/s}, queue_limit: 900 packets}, {name: class-default, shape: {rate: 500 kb/s}, queue_limit: 4000 packets}]}}",
    "{class-based: {classes: [{name: v, match: {dscp: ef}, shape: {rate: 300 kb/s, burst: 2 kB}, queue_limit: 900 packets}, {name: class-default, queue_limit: 40 packets}]}}",
    "{class-based: {classes: [{name: v, match: {dscp: ef}, police: {rate: 250 kb/s, burst: 3 kB}, queue_limit: 900 packets}, {name: class-default, police: {rate: 600 kb/s, burst: 4 kB}, queue_limit: 4000 packets}]}}",
    "{class-based: {classes: [{name: v, match: {dscp: ef}, priority: {rate: 200 kb/s, police: always, burst: 2 kB}}, {name: class-default, bandwidth: 20 %, queue_limit: 30 packets}]}}",
    "{class-based: {classes: [{name: class-default, shape: {rate: 900 kb/s}, policy: Q}]}}",
];

const OFFERED: [&str; 8] = [
    "flow: {dscp: ef, source: {cbr: {rate: 200 kb/s, packet: 300 B, phase: 0 s}}",
    "flow: {dscp: ef, source: {voip: {codec: g711, phase: 0 s}}",
    "flow: {source: {cbr: {rate: 300 kb/s, packet: 1200 B, phase: 0 s}}",
    "flow: {source: {cbr: {rate: 300 kb/s, packet: {uniform: {min: 60 B, max: 1400 B}}, phase: 0 s, jitter: 30 %}}",
    "flow: {source: {on-off: {peak: 500 kb/s, packet: 700 B, on: 20 ms, off: 50 ms}}",
    "flow: {tcp: {profile: linux}",
    "capture: {file: c.pcap, speed: 1.5",
    "capture: {file: c.pcap, loop: true, take: 90 ms",
];

#[derive(Clone, Debug)]
struct Lines {
    /// In units of 100 kb/s, what is not as usual, overhead, and a policer: of two links to the
    /// router, the one behind it, and the next.
    links: [(u32, usize, usize, Option<usize>); 4],
    router: usize,
    out: [usize; 2],
    flows: Vec<(usize, bool)>,
    /// Gaps in units of 100 us, and lengths.
    packets: Vec<(u64, u16)>,
}

fn lines() -> impl Strategy<Value = Lines> {
    let link = |rates| {
        let policer = prop::option::weighted(0.4, 0..POLICERS.len());
        (rates, 0..LINES.len(), 0_usize..100, policer)
    };
    (
        [link(8..30_u32), link(8..30), link(20..60), link(20..60)],
        0..ROUTERS.len(),
        [0..OUT.len(), 0..OUT.len()],
        prop::collection::vec((0..OFFERED.len(), any::<bool>()), 1..7),
        prop::collection::vec((prop_oneof![Just(0_u64), 0_u64..300], 40_u16..1400), 2..30),
    )
        .prop_map(|(links, router, out, flows, packets)| Lines {
            links,
            router,
            out,
            flows,
            packets,
        })
}

impl Lines {
    /// Two hosts, the router, another one, and the destination.
    fn yaml(&self) -> String {
        let router = ROUTERS[self.router];
        let mut out =
            format!("schema_version: 1\ntopology:\n  nodes: [a, b, {router}, s, z]\n  links:\n");
        let ends = [
            ("ha", "a", "r"),
            ("hb", "b", "r"),
            ("out", "r", "s"),
            ("last", "s", "z"),
        ];
        for (i, (name, from, to)) in ends.into_iter().enumerate() {
            let (rate, line, words, policer) = self.links[i];
            let policy = match i {
                0 | 1 => "F".to_owned(),
                _ => format!("O{}", self.out[i - 2]),
            };
            let line = LINES[line];
            let overhead = match line.contains("atm:") {
                true => String::new(),
                false => format!(", overhead: {}", overhead(words)),
            };
            let policer = policer.map_or_else(String::new, |p| format!(", input_policy: I{p}"));
            let (rate, delay, ring) = (rate * 100, 37 * words, ring(words / 3));
            writeln!(out, "    {name}: {{from: {from}, to: {to}, rate: {rate} kb/s, delay: {delay} us, policy: {policy}{overhead}{ring}{policer}{line}}}").unwrap();
            writeln!(out, "    {name}b: {{from: {to}, to: {from}, rate: 8 Mb/s, delay: {delay} us, policy: F}}").unwrap();
        }
        out += "policies:\n  F: {fifo: {limit: 5 MB}}\n";
        for (i, policy) in OUT.iter().enumerate().filter(|(i, _)| self.out.contains(i)) {
            writeln!(out, "  O{i}: {policy}").unwrap();
        }
        for (i, policy) in POLICERS.iter().enumerate() {
            if self.links.iter().any(|l| l.3 == Some(i)) {
                writeln!(out, "  {policy}").unwrap();
            }
        }
        if self.out.contains(&(OUT.len() - 1)) {
            out += "  Q: {class-based: {classes: [{name: v, match: {dscp: ef}, priority: {rate: 300 kb/s}}, {name: class-default, queue_limit: 4000 packets}]}}\n";
        }
        out += "traffic:\n";
        for (i, (what, from)) in self.flows.iter().enumerate() {
            let from = if *from { "a" } else { "b" };
            writeln!(
                out,
                "  - {}, name: f{i}, from: {from}, to: z}}",
                OFFERED[*what]
            )
            .unwrap();
        }
        out + "measurement: {warmup: 0 s, duration: 700 ms, interval: 70 ms}\nruns: {count: 1, seed: 3}\n"
    }

    fn capture(&self) -> Vec<u8> {
        let (mut file, mut now) = (Pcap::default(), 5_000_000_000);
        for (i, (gap, len)) in self.packets.iter().enumerate() {
            now += 100_000 * gap;
            let dscp = if i % 3 == 0 { 46 } else { 0 };
            let packet = udp4("10.0.0.1:9", "10.0.0.2:9", dscp, usize::from(*len));
            file.record(now, &ethernet(&packet));
        }
        file.finish()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96 * effort()))]

    #[test]
    fn no_bound_of_lines_and_nodes_is_exceeded(lines in lines()) {
        let files = [("m.trace", TRACE.to_vec()), ("c.pcap", lines.capture())];
        let plan = plan_with(&lines.yaml(), files);
        holds(&plan, &outcome::<WinnerTree>(&plan, u64::MAX))?;
    }
}
