//! Random networks that have everything at once: policies where packets leave a node and where they
//! arrive, classes that ask where packets came from, routers that take time, switches, MPLS,
//! sessions, failures, rates that vary, loss, reordering, circuits and switches of ATM. Every value
//! of every scope is the same however the run is driven, losses by place are those by flow, no rate
//! exceeds its line or fabric, and no share its whole.

mod bounds;
mod net;
mod paths;
mod precedences;
mod worst;
mod worst_circuits;
mod worst_lines;
mod worst_rates;

use std::fmt::Write;

use proptest::prelude::*;
use spillgate_core::DropReason;
use spillgate_core::testkit::effort;
use spillgate_events::{Heap4, WinnerTree};
use spillgate_measure::Volume;
use spillgate_measure::table::{Metric, Scope};
use spillgate_nodes::NodePlan;
use spillgate_nodes::atm::AtmPlan;
use spillgate_scenario::key::Keys;
use spillgate_scenario::plan::{Plan, WorldPlan};
use spillgate_sim::{Outcome, Stop, World, layout};

use crate::common::{self, outcome, plain, tapped};

use bounds::{every_share_is_of_its_whole, no_rate_exceeds_its_line, with_rounding};
use net::{OUT, SOURCES, TRAFFIC, net, plan_of};
use precedences::parts_add_up;

/// The ATM of a world, if there is any.
fn atm(world: &WorldPlan) -> Option<&AtmPlan> {
    world.holding.iter().find_map(|h| match &h.plan {
        NodePlan::Atm(atm) => Some(&**atm),
        _ => None,
    })
}

/// What says something else, or the same in other words, and changes no result.
const IDLE: [fn(&str) -> String; 7] = [
    |yaml| format!("{yaml}name: another title\n"),
    |yaml| yaml.replace("OUT", "EGRESS"),
    |yaml| yaml.replace(" Mb/s, delay", "000 kb/s, delay"),
    |yaml| yaml.replace("interval: 50 ms", "interval: 70 ms, series: [l1]"),
    |yaml| yaml.replace("count: 1", "count: 4"),
    |yaml| yaml.replace("policies:\n", "policies:\n  SPARE: {fq-codel: {}}\n"),
    |yaml| {
        format!(
            "{yaml}sla: [{{class: k0, metric: loss_ratio, max: 1 %}}]\nverdicts: {{correction: holm}}\n"
        )
    },
];

/// Under which its runs are stored, but for seed and number.
fn key(plan: &Plan) -> u128 {
    Keys::default().of(&plan.variants[0].world)
}

/// The sum over all things of some scope.
fn sum(plan: &Plan, of: &Outcome, scope: Scope, metric: Metric) -> f64 {
    let layout = layout(&plan.variants[0].world);
    let keys = layout.keys.iter().zip(&of.values);
    let wanted = keys.filter(|(k, _)| k.scope == scope && k.metric == metric);
    wanted.map(|(_, v)| v).sum()
}

/// Every value by scope, name and metric, and how far it could have gone.
fn named(plan: &Plan, of: &Outcome) -> Vec<(String, u64)> {
    let layout = layout(&plan.variants[0].world);
    let name = |k: &spillgate_measure::table::Key| {
        format!("{}/{}/{}", k.scope.name(), layout.name(k), k.metric.name())
    };
    let values = layout.keys.iter().zip(&of.values);
    let values = values.map(|(k, v)| (name(k), v.to_bits()));
    let bounds = of.bounds.iter().flat_map(|b| {
        let name = name(&layout.keys[b.at as usize]);
        [
            (name.clone() + " low", b.low.to_bits()),
            (name + " high", b.high.to_bits()),
        ]
    });
    values.chain(bounds).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192 * effort()))]

    /// With edges of the measured period in the middle of everything.
    #[test]
    fn every_value_is_the_same_however_driven(
        net in net(TRAFFIC.len()),
        warmup in 0_u32..900,
        duration in 200_u32..1500,
        // A packet of 1500 B takes 12 ms at 1 Mb/s.
        interval in prop_oneof![Just(50_u32), Just(12), Just(4), 3_u32..100],
    ) {
        let times = format!("warmup: {warmup} ms, duration: {duration} ms, interval: {interval} ms");
        let plan = net.plan("", &times);
        let reference = outcome::<WinnerTree>(&plan, u64::MAX);
        for (other, what) in [
            (outcome::<Heap4>(&plan, u64::MAX), "event set"),
            (outcome::<WinnerTree>(&plan, 77), "pauses"),
            (common::same_series(&plan, 3), "observer"),
            (tapped(&plan), "tap"),
            (plain(&plan), "plain engine"),
        ] {
            prop_assert_eq!(&other.digest, &reference.digest, "{}", what);
            for (a, b) in named(&plan, &other).into_iter().zip(named(&plan, &reference)) {
                prop_assert_eq!(a, b, "{}", what);
            }
        }
        no_rate_exceeds_its_line(&plan, &reference)?;
        parts_add_up(&plan, &reference)?;
    }

    /// In a period so short that more waits when it begins than comes in it, what is lost in it may
    /// not have come in it: failures, which are at multiples of 50 ms, AQMs that drop from the
    /// head, and queues that push out.
    #[test]
    fn no_share_exceeds_its_whole(
        net in net(TRAFFIC.len()),
        warmup in 100_u32..1000,
        duration in 1_u32..60,
    ) {
        let times = format!("warmup: {warmup} ms, duration: {duration} ms, interval: 1 ms");
        let plan = net.plan("", &times);
        for of in [outcome::<WinnerTree>(&plan, u64::MAX), plain(&plan)] {
            every_share_is_of_its_whole(&plan, &of)?;
            parts_add_up(&plan, &of)?;
        }
    }

    /// The key of a stored run changes if and only if results can: not with what is idle, and
    /// whenever a part of another network changes anything.
    #[test]
    fn keys_of_stored_runs_are_those_of_results(
        net in net(TRAFFIC.len()),
        other in net(TRAFFIC.len()),
        part in 0_usize..10,
        at in 0_usize..6,
        idle in prop::sample::subsequence(&IDLE[..], 1..=IDLE.len()),
    ) {
        let times = "warmup: 100 ms, duration: 600 ms, interval: 50 ms";
        let yaml = net.yaml("", times);
        let plan = plan_of(&yaml);
        let reference = outcome::<WinnerTree>(&plan, u64::MAX);
        let same = plan_of(&idle.iter().fold(yaml.clone(), |yaml, edit| edit(&yaml)));
        prop_assert_eq!(key(&same), key(&plan));
        let result = outcome::<WinnerTree>(&same, u64::MAX);
        prop_assert_eq!(&result.digest, &reference.digest);
        prop_assert_eq!(named(&same, &result), named(&plan, &reference));
        let edited = net.with(part, at, &other).plan("", times);
        let result = outcome::<WinnerTree>(&edited, u64::MAX);
        if key(&edited) == key(&plan) {
            prop_assert_eq!(&result.digest, &reference.digest);
            prop_assert_eq!(named(&edited, &result), named(&plan, &reference));
        } else {
            // Nothing is routed again where nothing fails.
            prop_assert!(part < 9 || yaml.contains("failures:"));
        }
    }

    /// Nothing is sent or fails near the end of the period, so every table sees the same losses.
    #[test]
    fn losses_by_place_are_those_by_flow(net in net(SOURCES)) {
        let plan = net.plan("stop: 2 s, ", "warmup: 0 s, duration: 90 s, interval: 50 ms");
        let mut world = World::<WinnerTree>::new(&plan.variants[0].world, 3, 0, false);
        while world.run(u64::MAX) != Stop::Done {}
        let of = world.outcome();
        prop_assert_eq!(sum(&plan, &of, Scope::Flow, Metric::Unresolved), 0.0);
        // What came to a queue and is not lost there or on its link has reached the end of the
        // link.
        let at_queues = |metric| sum(&plan, &of, Scope::Queue, metric);
        let kept = at_queues(Metric::PacketsOffered) - at_queues(Metric::PacketsLost);
        let has_cells = atm(&plan.variants[0].world).is_some_and(|atm| !atm.switches.is_empty());
        prop_assert!(has_cells || kept == world.hops() as f64);
        let total = |metric| sum(&plan, &of, Scope::Flow, metric);
        let mut lost = 0.0;
        for reason in DropReason::ALL {
            let metric = Metric::drops(reason);
            let scopes = [Scope::Queue, Scope::Input, Scope::Node, Scope::SwitchInput, Scope::AtmPort];
            let places = scopes.map(|scope| sum(&plan, &of, scope, metric));
            // Who has no route is not told where it ends.
            if reason != DropReason::Unroutable {
                prop_assert_eq!(total(metric), places.iter().sum::<f64>(), "{}", metric.name());
            }
            lost += total(metric);
        }
        prop_assert_eq!(total(Metric::PacketsSent), total(Metric::PacketsReceived) + lost);
        // What came to a policer at arrival came to its meter.
        let layout = layout(&plan.variants[0].world);
        for (key, offered) in layout.keys.iter().zip(&of.values) {
            if (key.scope, key.metric) == (Scope::Meter, Metric::Offered) {
                let name = layout.name(key);
                let own = plan.variants[0].world.links.iter().any(|l| {
                    l.discipline.meter_names().any(|class| name == format!("{}/{class}", l.name))
                });
                let name = name.strip_suffix(" (arrival)").unwrap_or(name);
                let input = layout.position(Scope::Input, name, key.metric).filter(|_| !own);
                let input = input.map_or(*offered, |at| of.values[at]);
                prop_assert!((input - offered).abs() <= 1e-9 * input, "{}", layout.name(key));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128 * effort()))]

    /// A bottleneck behind fast links and before them: neither flows nor classes nor all together
    /// get more than its rate, however much is offered and whenever the period begins and ends.
    #[test]
    fn nobody_gets_more_than_the_bottleneck_has(
        kbps in prop_oneof![Just(64_u32), Just(1_000), 1_500_u32..20_000],
        load in 80_u32..200,
        policy in 0..7_usize,
        kinds in prop::collection::vec(0..5_usize, 1..6),
        (warmup, duration) in (0_u32..3_000_000, 100_000_u32..3_000_000),
    ) {
        let share = f64::from(kbps * load / 100) / kinds.len() as f64;
        let mut traffic = String::new();
        for (i, kind) in kinds.iter().enumerate() {
            let what = match kind {
                0 => format!("source: {{cbr: {{rate: {share} kb/s, packet: 1500 B}}}}"),
                1 => format!("source: {{poisson: {{rate: {share} kb/s, packet: imix}}}}"),
                2 => format!("source: {{on-off: {{peak: {} kb/s, packet: 700 B, on: 40 ms, off: 40 ms}}}}", 2.0 * share),
                3 => "tcp: {profile: linux}".to_owned(),
                _ => "tcp: {profile: ns2}".to_owned(),
            };
            writeln!(traffic, "  - flow: {{name: f{i}, class: k{}, from: s, to: d, {what}}}", i % 2).unwrap();
        }
        let policy = OUT[policy];
        let plan = common::plan(&format!(
            "schema_version: 1
topology:
  nodes: [s, a, b, d]
  links:
    first: {{from: s, to: a, rate: 1 Gb/s, delay: 1 ms, duplex: true}}
    line: {{from: a, to: b, rate: {kbps} kb/s, delay: 5 ms, policy: P, duplex: true}}
    last: {{from: b, to: d, rate: 1 Gb/s, delay: 300 us, duplex: true}}
policies: {{P: {policy}}}
traffic:
{traffic}measurement: {{warmup: {warmup} us, duration: {duration} us, interval: 10 ms}}
runs: {{count: 1, seed: 3}}
"));
        let of = outcome::<WinnerTree>(&plan, u64::MAX);
        let layout = layout(&plan.variants[0].world);
        // At each edge parts of six flows' packets at most, some of which lie behind each other.
        let rounding = 8.0 * 12.0 * Volume::ROUNDING / (f64::from(duration) / 1e6);
        let rate = with_rounding(f64::from(kbps) * 1e3) + rounding;
        for (key, value) in layout.keys.iter().zip(&of.values) {
            let is_rate = [Metric::Throughput, Metric::Goodput].contains(&key.metric);
            if is_rate || (key.metric == Metric::Carried && layout.name(key).starts_with("line")) {
                prop_assert!(*value <= rate, "{} {}: {value}", layout.name(key), key.metric.name());
            }
        }
    }
}

/// Whatever is said of ATM switches and circuits is in the keys of stored runs.
#[test]
fn every_option_of_atm_is_in_keys() {
    let key_of = |switch: &str, circuit: &str| {
        key(&common::plan(&format!(
            "schema_version: 1
topology:
  nodes: [a, {{name: s, atm_switch: {{{switch}}}}}, b]
  links:
    circuit: {{from: a, to: s, rate: 9 Mb/s, delay: 1 ms, atm: {{{circuit}}}}}
    line: {{from: s, to: b, rate: 9 Mb/s, delay: 1 ms}}
traffic: [{{flow: {{name: f, from: a, to: b, source: {{poisson: {{rate: 5 Mb/s, packet: 900 B}}}}}}}}]
measurement: {{warmup: 0 s, duration: 1 s}}
"
        )))
    };
    let circuit = "contract: {ubr: {pcr: 4 Mb/s}}";
    let usual = key_of("", circuit);
    let mut all = vec![usual];
    for switch in [
        "buffer: 99",
        "queues: per-vc",
        "queues: per-vc, service: priority",
        "discard: ppd",
        "discard: epd",
        "discard: epd, epd_threshold: 7",
        "clp_threshold: 7",
        "police: tag",
        "police: discard",
        "reassembly: ideal",
    ] {
        all.push(key_of(switch, circuit));
    }
    for circuit in [
        "",
        "contract: {ubr: {pcr: 4 Mb/s}}, shaped: false",
        "contract: {ubr: {pcr: 4 Mb/s}}, phase: aligned",
        "contract: {ubr: {pcr: 4 Mb/s}}, encapsulation: vc-mux",
        "contract: {ubr: {pcr: 4 Mb/s, cdvt: 1 ms}}",
        "contract: {ubr: {pcr: 4 Mb/s, mdcr: 1 Mb/s}}",
        "contract: {cbr: {pcr: 4 Mb/s}}",
        "contract: {nrt-vbr: {pcr: 4 Mb/s, scr: 1 Mb/s, mbs: 9}}",
        "contract: {gfr: {pcr: 4 Mb/s, mcr: 1 Mb/s, mbs: 40, mfs: 20}}",
        "contract: {gfr: {pcr: 4 Mb/s, mcr: 1 Mb/s, mbs: 40, mfs: 30}}",
        "contract: {rt-vbr: {pcr: 4 Mb/s, scr: 1 Mb/s, mbs: 9}}",
    ] {
        all.push(key_of("", circuit));
    }
    let different: std::collections::BTreeSet<u128> = all.iter().copied().collect();
    assert_eq!(different.len(), all.len());
}

/// A line that is always busy carries exactly its rate, wherever the edges of the period cut
/// packets in two; the flow gets it too, since its last link adds nothing.
#[test]
fn a_busy_line_carries_its_rate() {
    for (warmup, duration) in [
        ("1 s", "2 s"),
        ("1000.5 ms", "1234567 us"),
        ("0.7 ms", "100.3 ms"),
    ] {
        let plan = common::plan(&format!(
            "schema_version: 1
topology:
  nodes: [a, b]
  links: {{l: {{from: a, to: b, rate: 10 Mb/s, delay: 5 ms}}}}
traffic:
  - flow: {{name: f, from: a, to: b, source: {{cbr: {{rate: 10.3 Mb/s, packet: 1500 B, phase: 0 s}}}}}}
measurement: {{warmup: {warmup}, duration: {duration}, interval: 50 ms}}
runs: {{count: 1, seed: 1}}
"));
        let of = outcome::<WinnerTree>(&plan, u64::MAX);
        let layout = layout(&plan.variants[0].world);
        let value = |scope, name, metric| of.values[layout.position(scope, name, metric).unwrap()];
        // Two packets are cut by the edges.
        let seconds = plan.variants[0].world.duration.as_secs_f64();
        let off = 2.0 * 8.0 * Volume::ROUNDING / seconds;
        let carried = value(Scope::Link, "l", Metric::Carried);
        assert!((carried - 10e6).abs() <= off, "{carried}");
        // The first packet begins to arrive after 5 ms.
        if !warmup.starts_with("0.7") {
            let got = value(Scope::Flow, "f", Metric::Throughput);
            assert!((got - 10e6).abs() <= off, "{got}");
        }
        assert!(value(Scope::Flow, "f", Metric::Offered) > 10.2e6);
    }
}
