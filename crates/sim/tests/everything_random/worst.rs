//! No delay and no backlog is above its bound, and nothing is lost where that is excluded.

use std::fmt::Write;

use proptest::prelude::*;
use spillgate_bounds::bounds;
use spillgate_core::testkit::effort;
use spillgate_events::WinnerTree;
use spillgate_measure::table::{Metric, Scope};
use spillgate_scenario::plan::Plan;
use spillgate_sim::{Outcome, layout};

use super::net::{TRAFFIC, net, plan_of};
use crate::common::{outcome, overhead, ring};

/// How many bounds were checked.
#[track_caller]
pub(super) fn holds(plan: &Plan, of: &Outcome) -> Result<usize, TestCaseError> {
    let world = &plan.variants[0].world;
    let layout = layout(world);
    let value = |scope, name: &str, metric| {
        let value = of.values[layout.position(scope, name, metric)?];
        (!value.is_nan()).then_some(value)
    };
    let bounds = bounds(world);
    let mut checked = 0;
    for hop in &bounds.hops {
        let Ok(bound) = &hop.bound else { continue };
        let name = format!("{}/{}", world.links[hop.link as usize].name, hop.name);
        let most = |metric| value(Scope::Queue, &name, metric);
        checked += 1;
        if let Some(backlog) = most(Metric::BacklogBytesMax) {
            let most = bound.backlog as f64;
            prop_assert!(backlog <= most, "{name}: {backlog} B, not {most} B");
        }
        if let Some(sojourn) = most(Metric::SojournMax) {
            let most = bound.delay.as_secs_f64() * (1.0 + 1e-15);
            prop_assert!(sojourn <= most, "{name}: {sojourn} s, not {most} s");
        }
        let lost = [
            Metric::DropsTail,
            Metric::DropsEarly,
            Metric::DropsForced,
            Metric::DropsPolicer,
        ];
        let lost: f64 = lost.into_iter().filter_map(most).sum();
        prop_assert!(!bound.lossless || lost == 0.0, "{name}: {lost} packets");
    }
    for hop in &bounds.nodes {
        let Ok(bound) = &hop.bound else { continue };
        let processor = hop.name == "processor";
        let name = match processor {
            true => &world.nodes[hop.node as usize],
            false => &hop.name,
        };
        let scope = if processor { Scope::Node } else { Scope::Voq };
        let most = |metric| value(scope, name, metric);
        checked += 1;
        if let Some(backlog) = most(Metric::BacklogBytesMax) {
            let most = bound.backlog as f64;
            prop_assert!(backlog <= most, "{name}: {backlog} B, not {most} B");
        }
        if let Some(sojourn) = most(Metric::SojournMax) {
            let most = bound.delay.as_secs_f64() * (1.0 + 1e-15);
            prop_assert!(sojourn <= most, "{name}: {sojourn} s, not {most} s");
        }
        let lost = [Metric::DropsInputQueue, Metric::LossRatio];
        let lost: f64 = lost.into_iter().filter_map(most).sum();
        prop_assert!(!bound.lossless || lost == 0.0, "{name}: {lost} of packets");
    }
    for (flow, bound) in world.flows.iter().zip(&bounds.flows) {
        let largest = value(Scope::Flow, &flow.name, Metric::OwdMax);
        if let (Ok(bound), Some(largest)) = (bound, largest) {
            checked += 1;
            // Both are whole picoseconds, as binary64.
            let most = bound.owd().as_secs_f64() * (1.0 + 1e-15);
            prop_assert!(largest <= most, "{}: {largest} s, not {most} s", flow.name);
        }
    }
    Ok(checked)
}

/// What comes to the port under test: code points and sources, from calls to more than it can send.
const OFFERED: [&str; 16] = [
    "dscp: ef, source: {cbr: {rate: 90 kb/s, packet: 200 B, jitter: 40 %}}",
    "dscp: ef, source: {voip: {codec: g711}}",
    "dscp: ef, source: {on-off: {peak: 700 kb/s, packet: 400 B, on: 20 ms, off: 50 ms}}",
    "dscp: ef, source: {poisson: {rate: 900 kb/s, packet: {uniform: {min: 60 B, max: 900 B}}}}",
    "dscp: cs5, source: {cbr: {rate: 150 kb/s, packet: {uniform: {min: 100 B, max: 600 B}}}}",
    "dscp: cs5, source: {poisson: {rate: 400 kb/s, packet: 700 B}}",
    "dscp: af31, source: {cbr: {rate: 300 kb/s, packet: 1000 B}}",
    "dscp: af31, source: {on-off: {peak: 4 Mb/s, packet: 1200 B, on: 10 ms, off: 40 ms}}",
    "dscp: af31, tcp: {profile: linux}",
    "dscp: cs1, source: {bernoulli: {line: 2 Mb/s, load: 40 %, packet: 500 B}}",
    "source: {poisson: {rate: 3 Mb/s, packet: imix}}",
    "tcp: {profile: linux}",
    "dscp: af21, tcp: {profile: ns2}",
    "dscp: cs3, source: {poisson: {rate: 1 Mb/s, packet: {uniform: {min: 40 B, max: 1500 B}}}}",
    "dscp: af41, source: {cbr: {rate: 200 kb/s, packet: 1500 B}}",
    "arrivals: {poisson: {gap: 60 ms}}, session: {request-response: {request: {fixed: 300 B}, response: {fixed: 6000 B}, requests: 2}}, tcp: {profile: linux}, active: 5",
];

/// Classes: of each row one, or none.
const CLASSES: [&[&str]; 4] = [
    &[
        "{name: v, match: {dscp: ef}, priority: {rate: 300 kb/s, burst: 2 kB}}",
        "{name: v, match: {dscp: ef}, priority: {rate: 20 %, police: always, limit: 9 packets}}",
        "{name: v, match: {dscp: ef}, priority: {}, police: {rate: 250 kb/s, burst: 3 kB}}",
        "{name: v, match: {dscp: ef}, priority: {}}",
        "{name: v, match: {dscp: ef}, bandwidth: 20 %, queue_limit: 7 kB}",
        "{name: v, match: {dscp: ef}, priority: {limit: 12 packets}, shape: {rate: 20 %}}",
        "{name: v, match: {dscp: ef}, priority: {level: 3}, shape: {rate: 300 kb/s, burst: 4 kB, as: htb}}",
    ],
    &[
        "{name: w, match: {dscp: cs5}, priority: {level: 2, rate: 200 kb/s}}",
        "{name: w, match: {dscp: cs5}, priority: {level: 1, rate: 15 %, burst: 1500 B}}",
        "{name: w, match: {dscp: cs5}, bandwidth: 12 %, police: {rate: 9 %, exceed: {set-dscp: af12}}}",
        "{name: w, match: {dscp: [cs5, cs3, af21]}, bandwidth: 10 %, drr: {limit: 25 packets}}",
        "{name: w, match: {dscp: [cs5, cs3]}, priority: {level: 2}, police: {rate: 150 kb/s, burst: 2 kB}, shape: {rate: 100 kb/s}}",
        "{name: w, match: {dscp: cs5}, police: {rate: 200 kb/s, burst: 3 kB}, fq: {limit: 9 kB, queues: 3}}",
    ],
    &[
        "{name: x, match: {dscp: af31}, bandwidth: 25 %}",
        "{name: x, match: {dscp: af31}, bandwidth: 10 %, queue_limit: 20 packets}",
        "{name: x, match: {dscp: af31}, bandwidth_remaining: 30 %, aqm: {wred: {}}}",
        "{name: x, match: {dscp: af31}, bandwidth: 20 %, aqm: {codel: {}}, queue_limit: 30 packets}",
        "{name: x, match: {dscp: af31}, bandwidth: 20 %, shape: {rate: 30 %}}",
        "{name: x, match: {dscp: [af31, af41]}, bandwidth: 10 %, shape: {rate: 25 %, burst: 6 kB}, queue_limit: 15 packets}",
        "{name: x, match: {dscp: af31}, bandwidth: 20 %, shape: {rate: 12 %, as: htb}, aqm: {codel: {}}}",
        "{name: x, match: {dscp: [af31, af41]}, bandwidth: 20 %, fq_codel: {limit: 20 packets, flows: 5}, shape: {rate: 50 %}}",
        "{name: x, match: {dscp: [af31, af41]}, bandwidth: 25 %, queue_limit: 20 packets, queue_limit_dscp: {af31: 9 packets}}",
        "{name: x, match: {dscp: af31}, bandwidth_remaining: 30 %, aqm: {pie: {target: 4 ms}}}",
        "{name: x, match: {dscp: [af31, af41]}, bandwidth: 20 %, aqm: {choke: {min_th: 1, max_th: 9, weight: 0.2}}, queue_limit: 15 packets}",
    ],
    &[
        "{name: y, match: {dscp: cs1}, bandwidth: 5 %, queue_limit: 12 packets}",
        "{name: y, match: {dscp: cs1}, police: {rate: 300 kb/s, burst: 4 kB}}",
        "{name: y, match: {dscp: cs1}, bandwidth: 30 %, fair_queue: {}}",
        "{name: y, match: {dscp: [cs1, af21, cs3]}, bandwidth: 20 %, fair_queue: {queues: 16, threshold: 6, cdt_policy: tail-drop}}",
        "{name: y, match: {dscp: [cs1, af21, cs3]}, bandwidth: 5 %, fair_queue: {threshold: 4, hold_queue: 30, weights: equal}, queue_limit: 20 kB}",
        "{name: y, match: {dscp: cs1}, bandwidth: 10 %, drr: {quantum: 200 B, weights: precedence, limit: 12 kB, aqm: {codel: {}}}}",
    ],
];

/// How classes share. By `wrr` shares would have to be in ratios of whole numbers.
const SHARING: [&str; 6] = [
    "",
    "scheduler: start-time, ",
    "scheduler: drr, ",
    "scheduler: drr, quantum: 300 B, ",
    "scheduler: wf2q+, ",
    "scheduler: virtual-clock, ",
];

/// What stands around the classes.
const AROUND: [&str; 5] = [
    "",
    "P: {class-based: {classes: [{name: class-default, shape: {rate: 80 %}, policy: C}]}}",
    "P: {class-based: {classes: [{name: class-default, shape: {rate: 1200 kb/s, burst: 3 kB}, policy: C}]}}",
    "P: {class-based: {classes: [{name: rest, match: {dscp: cs1}, bandwidth: 10 %, queue_limit: 10 packets}, {name: class-default, policy: C}]}}",
    "P: {class-based: {classes: [{name: all, match: {dscp: [ef, cs3]}, bandwidth: 100 %, police: {rate: 600 kb/s, burst: 3 kB}}, {name: class-default, policy: C}]}}",
];

/// Fair queues, in the place of the classes.
const FAIR: [&str; 26] = [
    "{drr: {limit: 30 packets}}",
    "{drr: {quantum: 300 B, limit: 12 kB, weights: precedence}}",
    "{drr: {quantum: 4000 B, limit: 40 packets, queues: 4}}",
    "{drr: {limit: 25 packets, aqm: {codel: {}}, weights: precedence}}",
    "{fair: {limit: 20 packets}}",
    "{fair: {limit: 15 kB, weights: precedence, aqm: {codel: {}}}}",
    "{fair: {scheduler: start-time, weights: precedence, limit: 25 packets, aqm: {codel: {}}}}",
    "{fair: {scheduler: start-time, limit: 20 packets, queues: 4}}",
    "{fair: {scheduler: wf2q+, weights: precedence, limit: 20 packets}}",
    "{fair: {scheduler: virtual-clock, weight_sum: 9, limit: 20 packets}}",
    "{fair: {scheduler: qfq, limit: 20 packets}}",
    "{dualpi2: {limit: 20 packets}}",
    "{dualpi2: {limit: 15 kB, time_shift: 20 ms, mtu: 1500 B}}",
    "{fair: {scheduler: wrr, weights: precedence, limit: 25 packets}}",
    "{fq: {limit: 30 packets}}",
    "{fq: {quantum: 200 B, limit: 20 packets, queues: 3, aqm: {red: {}}}}",
    "{fq-codel: {limit: 25 packets}}",
    "{fq-codel: {limit: 60 packets, flows: 4, quantum: 300 B}}",
    "{flow-wfq: {}}",
    "{flow-wfq: {threshold: 5, hold_queue: 20}}",
    "{flow-wfq: {queues: 16, threshold: 7, cdt_policy: block-quarter, weights: equal}}",
    "{wfq: {limit: 9 packets}}",
    "{wfq: {weights: precedence, limit: 15 kB, hold_queue: 30 packets}}",
    "{fan: {scheduler: pfq, limit: 30 packets, min_fair_rate: 0 %, max_priority_load: 100 %}}",
    "{fan: {scheduler: {pdrr: {}}, limit: 25 packets, mtu: 2000 B}}",
    "{fan: {scheduler: {pdrr: {mode: literal}}, limit: 25 packets, min_fair_rate: 0 %}}",
];

#[derive(Clone, Debug)]
struct Edge {
    classes: [Option<usize>; 4],
    /// By what classes share.
    scheduler: usize,
    /// Packets of the default class that wait.
    limit: u32,
    around: usize,
    /// In units of 100 kb/s.
    rates: [u32; 3],
    words: [usize; 4],
    /// What is offered, and from which of two hosts or from the router.
    flows: Vec<(usize, usize)>,
}

fn edge() -> impl Strategy<Value = Edge> {
    let class = |i: usize| prop::option::weighted(0.7, 0..CLASSES[i].len());
    (
        [class(0), class(1), class(2), class(3)],
        prop::sample::select(&[0, 0, 0, 1, 2, 3, 4, 4, 5][..]),
        1_u32..40,
        0..AROUND.len() + FAIR.len(),
        [15_u32..40, 10_u32..60, 10_u32..60],
        [0_usize..100, 0_usize..100, 0_usize..100, 0_usize..100],
        prop::collection::vec((0..OFFERED.len(), 0..3_usize), 1..9),
    )
        .prop_map(
            |(classes, scheduler, limit, around, rates, words, flows)| Edge {
                classes,
                scheduler,
                limit,
                around,
                rates,
                words,
                flows,
            },
        )
}

impl Edge {
    /// Two hosts, a router, and a line with classes behind it.
    fn yaml(&self) -> String {
        let mut out =
            String::from("schema_version: 1\ntopology:\n  nodes: [a, b, r, z]\n  links:\n");
        let policy = if self.around > 0 { "P" } else { "C" };
        let ends = [
            ("out", "r", "z", policy),
            ("ha", "a", "r", "F"),
            ("hb", "b", "r", "F"),
        ];
        for (i, (name, from, to, policy)) in ends.into_iter().enumerate() {
            let (rate, words) = (self.rates[i] * 100, self.words[i]);
            let ring = if i == 0 { ring(self.words[3]) } else { "" };
            writeln!(out, "    {name}: {{from: {from}, to: {to}, rate: {rate} kb/s, delay: {} us, overhead: {}, policy: {policy}{ring}, duplex: true}}", 37 * words, overhead(words)).unwrap();
        }
        out += "policies:\n  F: {fifo: {limit: 60 packets}}\n  C: {class-based: {";
        out += SHARING[self.scheduler];
        out += "classes: [";
        for (chosen, of) in self.classes.iter().zip(CLASSES) {
            if let Some(chosen) = chosen {
                write!(out, "{}, ", of[*chosen]).unwrap();
            }
        }
        writeln!(
            out,
            "{{name: class-default, queue_limit: {} packets}}]}}}}",
            self.limit
        )
        .unwrap();
        if self.around > 0 {
            let fair = self.around.checked_sub(AROUND.len());
            let policy = fair.map(|fair| format!("P: {}", FAIR[fair]));
            writeln!(
                out,
                "  {}",
                policy.as_deref().unwrap_or_else(|| AROUND[self.around])
            )
            .unwrap();
        }
        out += "traffic:\n";
        for (i, (what, from)) in self.flows.iter().enumerate() {
            let from = ["a", "b", "r"][*from];
            let what = OFFERED[*what];
            let entry = if what.contains("arrivals") {
                "sessions"
            } else {
                "flow"
            };
            writeln!(
                out,
                "  - {entry}: {{name: f{i}, from: {from}, to: z, {what}}}"
            )
            .unwrap();
        }
        out + "measurement: {warmup: 0 s, duration: 800 ms, interval: 80 ms}\nruns: {count: 1, seed: 3}\n"
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64 * effort()))]

    #[test]
    fn no_bound_is_exceeded_anywhere(net in net(TRAFFIC.len())) {
        let times = "warmup: 0 ms, duration: 900 ms, interval: 50 ms";
        let plan = net.unbroken().plan("", times);
        holds(&plan, &outcome::<WinnerTree>(&plan, u64::MAX))?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128 * effort()))]

    /// Where bounds are nearest to what happens: classes that are overloaded.
    #[test]
    fn no_bound_of_classes_is_exceeded(edge in edge()) {
        let plan = plan_of(&edge.yaml());
        let checked = holds(&plan, &outcome::<WinnerTree>(&plan, u64::MAX))?;
        // The ports of the hosts are first in, first out, with a limit.
        prop_assert!(checked > 0 || edge.flows.iter().all(|(_, from)| *from == 2));
    }
}
