//! Networks on a ring with a chord and customers, of everything that there is.

use std::fmt::Write;
use std::sync::Arc;

use proptest::prelude::*;
use spillgate_scenario::plan::Plan;

use super::common;

/// Policies of ports.
pub(crate) const OUT: [&str; 58] = [
    "{fifo: {limit: 20 packets}}",
    "{fifo: {limit: 9 kB}}",
    "{fifo: {limit: 50 packets, aqm: {red: {}}}}",
    "{fifo: {limit: 50 packets, aqm: {red: {min_th: 2, max_th: 9, weight: 0.1, idle: none}}}}",
    "{fifo: {limit: 50 packets, aqm: {pie: {target: 4 ms, update: 5 ms, max_burst: 10 ms, ecn: true}}}}",
    "{fifo: {limit: 50 packets, aqm: {pie: {target: 4 ms, update: 5 ms, max_burst: 10 ms, dq_rate_estimator: true}}}}",
    "{fq: {limit: 90 packets, aqm: {pie: {as: linux, target: 2 ms, update: 3 ms, max_burst: 5 ms, dq_rate_estimator: true}}}}",
    "{fq: {limit: 80 packets, aqm: {pie: {as: linux, target: 2 ms, update: 3 ms, max_burst: 0 s, derandomize: false}}}}",
    "{fifo: {limit: 50 packets, aqm: {self-configuring-red: {min_th: 2, max_th: 9, weight: 0.1, ecn: true}}}}",
    "{fifo: {limit: 40 packets, aqm: {rio: {profile: [ef, af11, af31, af41], in: {min_th: 6, max_th: 20, max_p: 0.1}, out: {min_th: 1, max_th: 9, max_p: 0.5}, weight: 0.1, ecn: true}}}}",
    "{fifo: {limit: 12 packets, aqm: {rio: {mode: decoupled, profile: [ef, cs1], in: {min_th: 4, max_th: 20, max_p: 0.1}, out: {min_th: 1, max_th: 30, max_p: 0.2}, weight: 0.3}}}}",
    "{fifo: {limit: 9 kB, aqm: {adaptive-rio: {profile: [ef, af31], in: {min_th: 4, max_th: 12, max_p: 0.1}, max_th_low: 3, max_th_high: 12, weight: 0.2, update: 10 ms, window: 50 ms}}}}",
    "{fifo: {limit: 30 packets, aqm: {load-adaptive-red: {period: 40 ms, threshold_low: 4, weight: 0.1}}}}",
    "{wfq: {}}",
    "{flow-wfq: {}}",
    "{drr: {}}",
    "{fair: {limit: 40 packets, aqm: {codel: {target: 2 ms, interval: 20 ms}}}}",
    "{fair: {scheduler: start-time, weights: precedence, limit: 9 kB}}",
    "{fair: {scheduler: wf2q+, weights: precedence, limit: 30 packets}}",
    "{class-based: {classes: [{name: x, match: {dscp: ef}, shape: {rate: 30 %}, fair: {scheduler: virtual-clock, weight_sum: 5}}, {name: class-default, fair: {scheduler: qfq, queues: 5, weights: precedence}}]}}",
    "{fair: {scheduler: qfq, limit: 40 packets, aqm: {red: {}}}}",
    "{sfq: {limit: 40 packets, divisor: 8, perturb: 200 ms, headdrop: true}}",
    "{sfq: {limit: 40 packets, divisor: 8, headdrop: true, aqm: {red: {as: linux, min_th: 1500, max_th: 6000, ecn: true}}}}",
    "{sfq: {as: ns2, limit: 40 packets, divisor: 7}}",
    "{fq-pie: {as: ns3, limit: 9 kB, target: 2 ms, update: 3 ms, max_burst: 5 ms}}",
    "{fq-pie: {as: linux, limit: 30 packets, target: 2 ms, update: 3 ms, max_burst: 5 ms}}",
    "{fq-codel: {}}",
    "{fq: {limit: 50 packets, aqm: {red: {}}}}",
    "{class-based: {classes: [{name: p, match: {dscp: ef}, priority: {rate: 20 %}, set_dscp: af41}, {name: q, match: {exp: 5}, bandwidth: 20 %, police: {rate: 10 %, exceed: {set-exp: 0}}}, {name: class-default, fair_queue: {}}]}}",
    "{class-based: {classes: [{name: x, match: {input: a0}, bandwidth: 30 %, aqm: {wred: {}}}, {name: class-default, shape: {rate: 70 %}, queue_limit: 20 packets}]}}",
    "{class-based: {classes: [{name: x, match: {dscp: ef}, bandwidth: 30 %, police: {rate: 5 %, window: 50 ms, exceed: {set-dscp: af12}}}, {name: class-default, police: {rate: 20 %, peak_rate: 50 %, window: 20 ms, violate: drop}, aqm: {wred: {}}}]}}",
    "{class-based: {classes: [{name: v, phb: ef, police: {rate: 600 kb/s, per_flow: true}}, {name: a, phb: af1}, {name: l, phb: le, match: {dscp: cs1}}, {name: class-default, phb: default}]}}",
    "{fan: {scheduler: pfq, limit: 40 packets, mechanism: {efm: {pfl_flushing_timer: 200 ms}}, fair_rate: {interval: 20 ms}}}",
    "{fifo: {limit: 20 packets, full: front}}",
    "{fifo: {limit: 9 kB, full: random, aqm: {blue: {increment: 0.1, decrement: 0.01, freeze: 10 ms}}}}",
    "{fifo: {limit: 30 packets, full: random, aqm: {choke: {min_th: 1, max_th: 9, weight: 0.2}}}}",
    "{fifo: {limit: 30 packets, aqm: {sfb: {target: 3, max: 9, increment: 0.05, decrement: 0.01, rehash: 200 ms, warmup: 100 ms}}}}",
    "{fifo: {limit: 30 packets, aqm: {sred: {}}}}",
    "{drr: {limit: 40 packets, aqm: {rem: {gamma: 5, target: 4, update: 5 ms, ecn: true}}}}",
    "{fq: {limit: 40 packets, aqm: {dred: {target: 5, alpha: 0.01, update: 5 ms}}}}",
    "{fifo: {limit: 30 packets, aqm: {avq: {ecn: true}}}}",
    "{fifo: {limit: 30 packets, aqm: {pi2: {target: 4 ms}}}}",
    "{dualpi2: {target: 4 ms, update: 5 ms}}",
    "{cake: {tins: diffserv8, memory_limit: 40 kB, rtt: 10 ms}}",
    "{cake: {bandwidth: 1 Mb/s, tins: diffserv4, isolation: dual-srchost, memory_limit: 40 kB, rtt: 10 ms, ingress: true, ack_filter: aggressive, overhead: pppoe-vcmux}}",
    "{class-based: {classes: [{name: x, match: {dscp: ef}, bandwidth: 30 %, cake: {rtt: 10 ms, memory_limit: 20 kB, ack_filter: filter}}, {name: class-default, shape: {rate: 40 %}, cake: {isolation: hosts}}]}}",
    "{fifo: {limit: 30 packets, aqm: {cobalt: {target: 2 ms, interval: 20 ms, increment: 0.05}}}}",
    "{fq: {limit: 30 packets, aqm: {cobalt: {as: ns3, target: 2 ms, interval: 20 ms, increment: 0.05, decrement: 0.01}}}}",
    "{dualpi2: {as: linux, limit: 30 packets}}",
    "{class-based: {scheduler: drr, quantum: 300 B, classes: [{name: x, match: {dscp: ef}, bandwidth: 30 %, dualpi2: {limit: 20 packets}}, {name: y, match: {dscp: [af31, af41]}, bandwidth: 20 %, shape: {rate: 25 %}, aqm: {choke: {min_th: 1, max_th: 9, weight: 0.2}}}]}}",
    "{class-based: {scheduler: wf2q+, classes: [{name: x, match: {dscp: ef}, bandwidth: 30 %, aqm: {codel: {}}}, {name: y, match: {dscp: [af31, af41]}, bandwidth: 20 %, shape: {rate: 25 %}}]}}",
    "{class-based: {scheduler: start-time, classes: [{name: v, match: {dscp: cs5}, priority: {rate: 20 %}}, {name: x, match: {dscp: ef}, bandwidth: 30 %, fair_queue: {}}]}}",
    "{class-based: {scheduler: virtual-clock, classes: [{name: x, match: {dscp: ef}, bandwidth: 30 %, aqm: {step: {}}}, {name: y, match: {dscp: af31}, bandwidth: 20 %, aqm: {pi: {target: 4, a: 0.02, b: 0.018, update: 5 ms}}}]}}",
    "{class-based: {scheduler: ets, strict: 1, classes: [{name: x, match: {dscp: ef}, queue_limit: 9 packets}, {name: y, match: {dscp: af31}, bandwidth: 20 %}]}}",
    "{htb: {default: z, direct: {dscp: cs5}, classes: [{name: r, rate: 700 kb/s, ceil: 900 kb/s}, {name: x, parent: r, match: {dscp: ef}, rate: 200 kb/s, ceil: 500 kb/s, queue: {fq-codel: {}}}, {name: y, parent: r, match: {input: a0}, rate: 200 kb/s, prio: 1, queue: {fifo: {limit: 9 packets}}}, {name: z, parent: r, rate: 10 %, ceil: 90 %, prio: 1, queue: {fifo: {limit: 30 packets, aqm: {pie: {}}}}}]}}",
    "{htb: {timer: 4 ms, hysteresis: true, direct_qlen: 20, classes: [{name: x, match: {dscp: [ef, af31]}, rate: 300 kb/s, quantum: 1500 B, queue: {drr: {limit: 20 packets}}}]}}",
    "{hfsc: {default: z, classes: [{name: r, ls: {m2: 800 kb/s}, ul: {m2: 800 kb/s}}, {name: x, parent: r, match: {dscp: ef}, sc: {umax: 1500 B, dmax: 20 ms, rate: 200 kb/s}, queue: {fifo: {limit: 9 packets}}}, {name: y, parent: r, match: {dscp: af31}, rt: {m1: 0 b/s, d: 20 ms, m2: 100 kb/s}, queue: {fq: {aqm: {red: {}}}}}, {name: z, parent: r, ls: {m2: 10 %}}]}}",
    "{hfsc: {default: z, classes: [{name: x, match: {dscp: [ef, cs5]}, sc: {m1: 600 kb/s, d: 10 ms, m2: 20 %}, queue: {fifo: {limit: 20 packets, aqm: {codel: {}}}}}, {name: z, sc: {m2: 20 %}, ul: {m2: 80 %}, queue: {drr: {}}}]}}",
];

/// Policies where packets arrive.
const IN: [&str; 6] = [
    "{class-based: {classes: [{name: v, match: {dscp: ef}, police: {rate: 900 kb/s, burst: 3 kB}}, {name: class-default, police: {rate: 1500 kb/s}}]}}",
    "{class-based: {classes: [{name: v, match: {dscp: ef}, police: {rate: 700 kb/s, burst: 4 kB, exceed: {set-dscp: af11}}}, {name: class-default, set_dscp: cs1}]}}",
    "{class-based: {classes: [{name: class-default, police: {rate: 2 Mb/s, burst: 9 kB}}]}}",
    "{class-based: {classes: [{name: v, match: {dscp: ef}, police: {rate: 300 kb/s, window: 100 ms, exceed: {set-dscp: af11}}}, {name: class-default, police: {rate: 1 Mb/s, window: 20 ms}}]}}",
    "{class-based: {classes: [{name: class-default, police: {rate: 400 kb/s, peak_rate: 1 Mb/s, window: 50 ms, exceed: {set-dscp: cs1}, violate: drop}}]}}",
    "{class-based: {classes: [{name: v, match: {dscp: ef}, police: {rate: 200 kb/s, peak_rate: 400 kb/s, burst: 2 kB, exceed: {set-dscp: af12}, violate: drop, per_flow: true}}, {name: class-default, police: {rate: 300 kb/s, window: 50 ms, exceed: {set-dscp: af11}, per_flow: true}}]}}",
];

/// Switches, for nodes of two ports at least.
const SWITCHES: [&str; 14] = [
    "architecture: output-queued",
    "architecture: input-queued, buffer: {limit: 9 packets}",
    "architecture: input-queued, speedup: 1.5, fabric: {crossbar: {cell: packets}}",
    "architecture: voq, buffer: {limit: 12 kB, per: input}",
    "architecture: voq, fabric: {crossbar: {cell: packets, matching: {pim: {}}}}, buffer: {limit: 15 packets, per: shared}",
    "architecture: cioq, speedup: 4/3, fabric: {crossbar: {cell: 300 B, matching: {oldest-cell-first: {}}}}, buffer: {limit: 4 packets}",
    "architecture: cioq, speedup: 1.1, fabric: {parallel: {}}, buffer: {limit: 10 packets}",
    "architecture: cioq, speedup: 1.5, line_rate: 2 Mb/s, policy: VOQ-RED",
    "architecture: cioq, speedup: 2, fabric: {parallel: {}}, line_rate: 3 Mb/s, policy: VOQ-FQ",
    "architecture: voq, fabric: {crossbar: {cell: 200 B, matching: {round-robin: {}}}}",
    "architecture: cioq, speedup: 1.2, fabric: {crossbar: {cell: 64 B, matching: {longest-queue-first: {}}}}, buffer: {limit: 20 kB, per: shared, alpha: 0.5}",
    "architecture: cioq, speedup: 2, fabric: {crossbar: {matching: {stable-marriage: {}}}}",
    "architecture: voq, fabric: {crossbar: {cell: packets, matching: {maximum-weight: {}}}}, buffer: {limit: 5 packets}",
    "architecture: cioq, speedup: 1.6, fabric: {crossbar: {cell: 53 B, matching: {rotation: {}}}}",
];

/// What waits at inputs in the congestion measure of switches with virtual output queues.
const MEASURE: &str = ", congestion_measure: {nu: 0.25}";

/// Policies of virtual output queues.
const VOQ: [&str; 2] = [
    "VOQ-RED: {fifo: {limit: 20 packets, aqm: {red: {min_th: 2, max_th: 9, ecn: true}}}}",
    "VOQ-FQ: {fq-codel: {limit: 30 packets, target: 2 ms, interval: 20 ms}}",
];

/// What is not as usual on links.
const IRREGULAR: [&str; 9] = [
    "rate_process: {schedule: {steps: [{at: 0 s, rate: 800 kb/s}, {at: 30 ms, rate: 0 b/s}, {at: 47 ms, rate: 1 Mb/s}], repeat: 100 ms}}",
    "rate_process: {on-off: {on: 20 ms, off: 15 ms}}",
    "rate_process: {mahimahi: {file: m.trace, repeat: true}}",
    "loss: {bernoulli: 3 %}",
    "loss: {gilbert-elliott: {to_bad: 2 %, to_good: 30 %, good: 1 %, bad: 70 %}}",
    "reorder: {share: 10 %, by: 4 ms}",
    "rate_process: {on-off: {on: 20 ms, off: 15 ms, off_rate: 300 kb/s}}, loss: {bernoulli: 3 %}, reorder: {share: 20 %, by: 12 ms}",
    "atm: {contract: {nrt-vbr: {pcr: 900 kb/s, scr: 500 kb/s, mbs: 60, cdvt: 2 ms}}}",
    "atm: {encapsulation: vc-mux, phase: aligned}, loss: {bernoulli: 3 %}",
];

/// Keys of ATM switches: one of each.
const ATM_SWITCHES: [&[&str]; 4] = [
    &[
        "buffer: 60",
        "buffer: 60, clp_threshold: 20",
        "buffer: 200",
        "buffer: 60, queues: per-vc",
        "buffer: 60, queues: per-vc, service: priority",
    ],
    &[
        "",
        ", discard: ppd",
        ", discard: epd",
        ", discard: epd, epd_threshold: 30",
    ],
    &["", ", police: tag", ", police: discard"],
    &["", ", reassembly: ideal"],
];

/// Circuits that lead to them.
const CIRCUITS: [&str; 8] = [
    "",
    "contract: {nrt-vbr: {pcr: 900 kb/s, scr: 400 kb/s, mbs: 50}}",
    "contract: {rt-vbr: {pcr: 800 kb/s, scr: 300 kb/s, mbs: 20, cdvt: 1 ms}}, shaped: false",
    "contract: {cbr: {pcr: 700 kb/s}}, shaped: false, phase: aligned",
    "encapsulation: vc-mux, phase: aligned",
    "contract: {ubr: {pcr: 950 kb/s, cdvt: 2 ms}}",
    "contract: {ubr: {mdcr: 100 kb/s}}",
    "contract: {gfr: {pcr: 900 kb/s, mcr: 200 kb/s, mbs: 70, mfs: 40}}, shaped: false",
];

/// Opportunities for 0.9 Mb/s: less than any link has.
const TRACE: &[u8] = b"10\n10\n40\n";

/// The first are sources, which nothing answers.
pub(crate) const TRAFFIC: [&str; 11] = [
    "source: {cbr: {rate: 3 Mb/s, packet: 1500 B}}",
    "dscp: ef, source: {poisson: {rate: 2 Mb/s, packet: imix}}",
    "dscp: af41, source: {on-off: {peak: 10 Mb/s, packet: 1000 B, on: 20 ms, off: 50 ms}}",
    "source: {bernoulli: {line: 2 Mb/s, load: 60 %, packet: 500 B}}",
    "pattern: uniform, source: {bernoulli: {line: 3 Mb/s, load: 30 %, packet: 1000 B}}",
    "pattern: log-diagonal, start_gap: 5 ms, source: {poisson: {rate: 900 kb/s, packet: imix}}",
    "pattern: {hotspot: {share: 40 %, member: 1}}, source: {on-off: {peak: 4 Mb/s, packet: 800 B, on: 10 ms, off: 40 ms}}",
    "tcp: {profile: linux}",
    "dscp: ef, arrivals: {fixed: {gap: 100 ms}}, session: {request-response: {request: {fixed: 100 B}, response: {fixed: 4000 B}, requests: 3}}, tcp: {profile: ns2}, active: 9",
    "arrivals: {poisson: {gap: 50 ms}}, session: {transfer: {size: {pareto: {mean: 5 kB, shape: 1.3, max: 1 MB}}}}, tcp: {profile: linux}, active: 40",
    "dscp: ef, source: {voip: {codec: g711}}, voice: {codec: g711, jitter_buffer: {fixed: 5 ms}}",
];

pub(crate) const SOURCES: usize = 6;

/// Rate in Mb/s, delay in µs, policies at both ends, and what is not as usual.
type Line = (u32, u32, usize, Option<usize>, Option<usize>);

/// Two ATM switches, between which there is a line, in the place of some links of the ring.
#[derive(Clone, Debug)]
struct Hub {
    switches: [[usize; 4]; 2],
    /// Rate in Mb/s and delay in µs of the line.
    line: (u32, u32),
    /// For each link of the ring the circuits of both directions, if they lead through the
    /// switches.
    circuits: Vec<Option<(usize, usize)>>,
    /// Rate in Mb/s of the line that the circuits of a node share, if they do.
    shared: Option<u32>,
    /// Circuits end at the next node of the ring.
    ends: bool,
}

/// What becomes of codepoints: bleached, marks taken away, L4S made classic, everybody capable.
const REWRITES: [&str; 4] = [
    "ect0: not-ect, ect1: not-ect, ce: not-ect",
    "ce: ect0",
    "ect1: ect0",
    "not-ect: ect0",
];

#[derive(Clone, Debug)]
pub(crate) struct Net {
    /// The links of the ring, the last one a chord.
    core: Vec<Line>,
    /// The links from and to customers, one at each node of the ring.
    access: Vec<Line>,
    flows: Vec<(usize, usize, usize)>,
    /// Link, and when it fails and is repaired, in units of 50 ms.
    failures: Vec<(usize, u32, u32)>,
    mpls: Option<usize>,
    /// Links that rewrite the ECN field, of the ring and to customers, and how.
    rewrites: Vec<(usize, usize)>,
    reroute_ms: u32,
    /// What each node of the ring takes for a packet, its delay in units of 100 µs, and its input
    /// queue.
    forwarding: Vec<Option<(u32, u32, u32)>>,
    /// What each other node of the ring is as a switch, and whether with a congestion measure.
    switches: Vec<Option<(usize, bool)>>,
    /// With ATM switches nothing fails, and there is no MPLS.
    hub: Option<Hub>,
}

pub(crate) fn net(kinds: usize) -> impl Strategy<Value = Net> {
    let link = || {
        (
            prop_oneof![Just(1_u32), Just(4), Just(10)],
            prop_oneof![Just(0_u32), 1_u32..20_000],
            0..OUT.len(),
            prop::option::weighted(0.4, 0..IN.len()),
            prop::option::weighted(0.15, 0..IRREGULAR.len()),
        )
    };
    (
        prop::collection::vec(link(), 4..7),
        prop::collection::vec(link(), 5),
        prop::collection::vec((0_usize..5, 0_usize..5, 0..kinds), 1..7),
        prop::collection::vec((0_usize..12, 0_u32..30, 1_u32..20), 0..5),
        prop::option::weighted(0.5, 0_usize..3),
        prop_oneof![Just(0_u32), Just(50), 1_u32..400],
        (
            any::<bool>(),
            any::<bool>(),
            any::<bool>(),
            0..4_u32,
            0..3_u32,
        ),
        prop::collection::vec(prop::option::of((0_u32..20, 0_u32..30, 1_u32..20)), 6),
        (
            prop::collection::vec(prop::option::of((0..SWITCHES.len(), any::<bool>())), 6),
            prop::option::weighted(0.3, hub()),
            prop::collection::vec((0_usize..24, 0..REWRITES.len()), 0..4),
        ),
    )
        .prop_map(
            |(
                core,
                access,
                flows,
                failures,
                mpls,
                reroute_ms,
                some,
                forwarding,
                (switches, hub, rewrites),
            )| {
                let (inputs, fails, labels, slow, switched) = some;
                // The express lane is open where none of these is.
                let bare = |links: Vec<Line>| -> Vec<Line> {
                    let without = |l: Line| (l.0, l.1, l.2, l.3.filter(|_| inputs), l.4);
                    links.into_iter().map(without).collect()
                };
                Net {
                    core: bare(core),
                    access: bare(access),
                    flows,
                    failures: if fails { failures } else { Vec::new() },
                    mpls: mpls.filter(|_| labels),
                    rewrites,
                    reroute_ms,
                    forwarding: if slow == 0 { forwarding } else { vec![None; 6] },
                    switches: if switched == 0 {
                        switches
                    } else {
                        vec![None; 6]
                    },
                    hub,
                }
            },
        )
}

fn hub() -> impl Strategy<Value = Hub> {
    let switch = || ATM_SWITCHES.map(|keys| 0..keys.len());
    (
        [switch(), switch()],
        (prop_oneof![Just(1_u32), Just(2), Just(8)], 0_u32..9_000),
        prop::collection::vec(
            prop::option::weighted(0.7, (0..CIRCUITS.len(), 0..CIRCUITS.len())),
            6,
        ),
        prop::option::of(prop_oneof![Just(1_u32), Just(3)]),
        any::<bool>(),
    )
        .prop_map(|(switches, line, circuits, shared, ends)| Hub {
            switches,
            line,
            circuits,
            shared,
            ends,
        })
}

impl Net {
    /// Nodes `n0` ... on a ring with one chord, each with a customer `c0` ...; of all but the last
    /// of the ring under MPLS, which then has no customer.
    pub(crate) fn yaml(&self, stop: &str, measurement: &str) -> String {
        let n = self.core.len() - 1;
        let mpls = self.mpls.filter(|_| self.hub.is_none());
        let customers = n - usize::from(mpls.is_some());
        let mut out = String::from("schema_version: 1\ntopology:\n  nodes: [");
        let mut of_voqs = [false; VOQ.len()];
        for i in 0..n {
            match self.forwarding[i] {
                None => match self.switches[i] {
                    None => write!(out, "n{i}, "),
                    Some((kind, measure)) => {
                        let keys = SWITCHES[kind];
                        for (used, policy) in of_voqs.iter_mut().zip(VOQ) {
                            *used |= policy.starts_with(keys.rsplit(' ').next().unwrap_or("?"));
                        }
                        // The first five policies are FIFOs, which can take it into account.
                        let leaving = self.core.iter().enumerate();
                        let mut leaving = leaving.filter(|(l, _)| *l == i || (*l == n && i == 0));
                        let has_voqs = keys.contains("voq") || keys.contains("cioq");
                        let measure = measure && has_voqs && leaving.all(|(_, link)| link.2 < 5);
                        let measure = if measure { MEASURE } else { "" };
                        write!(out, "{{name: n{i}, switch: {{{keys}{measure}}}}}, ")
                    }
                },
                Some((each, delay, queue)) => write!(out, "{{name: n{i}, forwarding: {{per_packet: {each}00 us, delay: {delay}00 us, input_queue: {queue}}}}}, "),
            }
            .unwrap();
        }
        write!(out, "{{name: c, count: {customers}}}, ").unwrap();
        for (i, kinds) in self.hub.iter().flat_map(|h| h.switches).enumerate() {
            let keys = ATM_SWITCHES
                .iter()
                .zip(kinds)
                .map(|(keys, kind)| keys[kind]);
            let keys: String = keys.collect();
            write!(out, "{{name: s{i}, atm_switch: {{{keys}}}}}, ").unwrap();
        }
        out += "]\n  links:\n";
        let mut used = ([false; OUT.len()], [false; IN.len()]);
        let mut links = String::new();
        for (i, link) in self.core.iter().enumerate() {
            let (from, to) = if i < n { (i, (i + 1) % n) } else { (0, 2 % n) };
            let hub = self.hub.as_ref().filter(|_| i < n);
            let shared = hub.and_then(|h| h.shared);
            let ends = hub.is_some_and(|h| h.ends);
            if let Some((forth, back)) = hub.and_then(|h| h.circuits[i]) {
                write_circuit(
                    (&mut links, &mut used),
                    format!("l{i}"),
                    format!("n{from}"),
                    i % 2,
                    link,
                    (forth, shared, ends.then_some(to)),
                );
                write_circuit(
                    (&mut links, &mut used),
                    format!("m{i}"),
                    format!("n{to}"),
                    (i + 1) % 2,
                    link,
                    (back, shared, ends.then_some(from)),
                );
                continue;
            }
            write_link(
                (&mut links, &mut used),
                format!("l{i}"),
                format!("n{from}"),
                format!("n{to}"),
                link,
            );
        }
        if let Some(Hub {
            line: (rate, delay),
            ..
        }) = self.hub
        {
            writeln!(
                links,
                "    line: {{from: s0, to: s1, rate: {rate} Mb/s, delay: {delay} us, duplex: true}}"
            )
            .unwrap();
        }
        for (i, link) in self.access.iter().enumerate().take(customers) {
            // A circuit on the line of those to the switches, but to a host.
            let shared = self.hub.as_ref().and_then(|h| h.shared);
            if let Some(rate) = shared.filter(|_| i % 2 == 0) {
                let (_, delay, ..) = link;
                writeln!(
                    links,
                    "    a{i}: {{from: c-{i}, to: n{i}, rate: 4 Mb/s, delay: {delay} us}}"
                )
                .unwrap();
                writeln!(links, "    a{i}b: {{from: n{i}, to: c-{i}, rate: {rate} Mb/s, delay: {delay} us, atm: {{line: at-n{i}, contract: {{ubr: {{mdcr: 50 kb/s}}}}}}}}").unwrap();
                continue;
            }
            write_link(
                (&mut links, &mut used),
                format!("a{i}"),
                format!("c-{i}"),
                format!("n{i}"),
                link,
            );
        }
        out += &links;
        if let Some(model) = mpls {
            let model = ["short-pipe", "pipe", "uniform"][model];
            let edges: Vec<_> = (0..customers).map(|i| format!("n{i}")).collect();
            let (edges, last) = (edges.join(", "), n - 1);
            writeln!(
                out,
                "  mpls: {{pe: [{edges}], p: [n{last}], model: {model}}}"
            )
            .unwrap();
        }
        out += &self.rewrites(&links);
        let mut failures = String::new();
        let mut down = [false; 12];
        let failing = self.failures.iter().filter(|_| self.hub.is_none());
        for (link, at, length) in failing {
            let name = match link % 12 {
                i if i < self.core.len() => format!("l{i}"),
                i => format!("a{}", i % customers),
            };
            if !std::mem::replace(&mut down[link % 12], true)
                && !failures.contains(&format!("{name},"))
            {
                let (at, repair) = (50 * at, 50 * (at + length));
                writeln!(
                    failures,
                    "    - {{link: {name}, at: {at} ms, repair: {repair} ms}}"
                )
                .unwrap();
            }
        }
        if !failures.is_empty() {
            write!(out, "  failures:\n{failures}").unwrap();
        }
        writeln!(
            out,
            "  routing: {{convergence: {} ms}}\npolicies:",
            self.reroute_ms
        )
        .unwrap();
        for (name, policies, used) in [("OUT", &OUT[..], &used.0[..]), ("IN", &IN, &used.1)] {
            for (i, policy) in policies.iter().enumerate().filter(|(i, _)| used[*i]) {
                writeln!(out, "  {name}{i}: {policy}").unwrap();
            }
        }
        for (policy, _) in VOQ.iter().zip(of_voqs).filter(|(_, used)| *used) {
            writeln!(out, "  {policy}").unwrap();
        }
        out += "traffic:\n";
        for (i, (from, to, kind)) in self.flows.iter().enumerate() {
            let (from, to) = (from % customers, to % customers);
            let to = if from == to { (to + 1) % customers } else { to };
            let what = TRAFFIC[*kind];
            let entry = if what.contains("arrivals") {
                "sessions"
            } else {
                "flow"
            };
            let ends = match what.starts_with("pattern") {
                true => "from: c, to: c".to_owned(),
                false => format!("from: c-{from}, to: c-{to}"),
            };
            writeln!(
                out,
                "  - {entry}: {{name: f{i}, class: k{}, {ends}, {stop}{what}}}",
                i % 2
            )
            .unwrap();
        }
        write!(
            out,
            "measurement: {{{measurement}, percentiles: [backlog]}}\nruns: {{count: 1, seed: 3}}\n"
        )
        .unwrap();
        out
    }

    /// The links that rewrite the ECN field, of those that are written.
    fn rewrites(&self, links: &str) -> String {
        let names: Vec<&str> = links
            .lines()
            .filter_map(|l| l.trim().split(':').next())
            .collect();
        let mut tables = std::collections::BTreeMap::new();
        for (link, table) in &self.rewrites {
            tables.insert(names[link % names.len()], REWRITES[*table]);
        }
        match tables.is_empty() {
            true => String::new(),
            false => {
                let all: Vec<_> = tables
                    .iter()
                    .map(|(l, t)| format!("{l}: {{{t}}}"))
                    .collect();
                format!("  rewrite_ecn: {{{}}}\n", all.join(", "))
            }
        }
    }

    /// Without failures, which no bound takes into account.
    pub(crate) fn unbroken(mut self) -> Self {
        self.failures.clear();
        self
    }

    pub(crate) fn plan(&self, stop: &str, measurement: &str) -> Arc<Plan> {
        plan_of(&self.yaml(stop, measurement))
    }

    /// With one part of another network.
    pub(crate) fn with(mut self, part: usize, at: usize, other: &Self) -> Self {
        fn take<T: Clone>(mine: &mut [T], theirs: &[T], at: usize) {
            let at = at % mine.len().min(theirs.len());
            mine[at] = theirs[at].clone();
        }
        match part {
            0 => take(&mut self.core, &other.core, at),
            1 => take(&mut self.access, &other.access, at),
            2 => take(&mut self.flows, &other.flows, at),
            3 => self.failures.clone_from(&other.failures),
            4 => self.mpls = other.mpls,
            8 => self.rewrites.clone_from(&other.rewrites),
            5 => take(&mut self.forwarding, &other.forwarding, at),
            6 => take(&mut self.switches, &other.switches, at),
            7 => match (&mut self.hub, &other.hub) {
                (Some(mine), Some(theirs)) => {
                    take(&mut mine.switches[at / 3], &theirs.switches[at / 3], at);
                    if at == 5 {
                        mine.shared = theirs.shared;
                    }
                }
                (mine, theirs) => mine.clone_from(theirs),
            },
            _ => self.reroute_ms = other.reroute_ms,
        }
        self
    }
}

/// Which policies of ports and of arrivals are used.
type Used = ([bool; OUT.len()], [bool; IN.len()]);

/// The policies of a link as its keys say them: where it begins, and where it ends.
fn policies(used: &mut Used, link: &Line) -> (String, String) {
    let (_, _, policy, input, _) = link;
    used.0[*policy] = true;
    let input = input.map_or_else(String::new, |i| {
        used.1[i] = true;
        format!(", input_policy: IN{i}")
    });
    (format!("policy: OUT{policy}"), input)
}

fn write_link(
    (out, used): (&mut String, &mut Used),
    name: String,
    from: String,
    to: String,
    link: &Line,
) {
    let (policy, input) = policies(used, link);
    let (rate, delay, number, _, irregular) = link;
    let irregular = irregular.map_or_else(String::new, |i| format!(", {}", IRREGULAR[i]));
    // A circuit of ATM says what it adds by itself.
    let overhead = match irregular.contains("atm:") {
        true => String::new(),
        false => format!("overhead: {}, ", common::overhead(*delay as usize + number)),
    };
    let ring = common::ring(*delay as usize / 7 + 5 * number);
    writeln!(out, "    {name}: {{from: {from}, to: {to}, rate: {rate} Mb/s, delay: {delay} us, {overhead}{policy}{ring}{input}{irregular}, duplex: true}}").unwrap();
}

/// A circuit from a node to a switch, and the line back.
fn write_circuit(
    (out, used): (&mut String, &mut Used),
    name: String,
    node: String,
    switch: usize,
    link: &Line,
    (circuit, shared, end): (usize, Option<u32>, Option<usize>),
) {
    let (policy, input) = policies(used, link);
    // As of links in both directions, that of the way there is said.
    let policy = if name.starts_with('l') {
        policy + ", "
    } else {
        String::new()
    };
    let (rate, delay, ..) = link;
    let line = shared.map_or_else(String::new, |_| format!("line: at-{node}, "));
    // A line has one phase.
    let circuit = match shared {
        Some(_) => CIRCUITS[circuit].replace(", phase: aligned", ""),
        None => CIRCUITS[circuit].to_owned(),
    };
    let end = end.map_or_else(String::new, |n| format!("far_end: n{n}, "));
    let onto = shared.as_ref().unwrap_or(rate);
    writeln!(out, "    {name}: {{from: {node}, to: s{switch}, rate: {onto} Mb/s, delay: {delay} us, {policy}atm: {{{line}{end}{circuit}}}}}").unwrap();
    writeln!(
        out,
        "    {name}b: {{from: s{switch}, to: {node}, rate: {rate} Mb/s, delay: {delay} us{input}}}"
    )
    .unwrap();
}

pub(crate) fn plan_of(yaml: &str) -> Arc<Plan> {
    common::plan_with(yaml, [("m.trace", TRACE.to_vec())])
}
