//! Percentiles of backlogs and means of averages, where they are known.

use crate::common;
use std::collections::BTreeMap;

use spillgate_core::{DropReason, math};
use spillgate_events::WinnerTree;
use spillgate_measure::table::{Key, Metric, Scope};
use spillgate_sim::{Engine, Outcome, Stop, World, layout};

const PACKETS: [(f64, Metric); 3] = [
    (0.50, Metric::BacklogPacketsP50),
    (0.95, Metric::BacklogPacketsP95),
    (0.99, Metric::BacklogPacketsP99),
];

const BYTES: [(f64, Metric); 3] = [
    (0.50, Metric::BacklogBytesP50),
    (0.95, Metric::BacklogBytesP95),
    (0.99, Metric::BacklogBytesP99),
];

/// The values of the one queue on either engine, and the time series.
#[track_caller]
fn run(yaml: &str) -> (impl Fn(Metric) -> f64 + use<>, Outcome) {
    let plan = common::plan(yaml);
    let world = &plan.variants[0].world;
    let [express, plain] = [Engine::Express, Engine::Plain].map(|engine| {
        let mut world = World::<WinnerTree>::on(engine, world, 3, 0, true);
        while world.run(u64::MAX) != Stop::Done {}
        assert_eq!(world.fault(), None);
        world.outcome()
    });
    let layout = layout(world);
    for (key, (a, b)) in layout
        .keys
        .iter()
        .zip(express.values.iter().zip(&plain.values))
    {
        assert_eq!(
            a.to_bits(),
            b.to_bits(),
            "{:?} {a} {b}",
            (layout.name(key), key.metric)
        );
    }
    let values = express.values.clone();
    let of = move |metric| {
        let mut keys = layout.keys.iter().zip(&values);
        let found = keys.find(|(k, _)| k.scope == Scope::Queue && k.metric == metric);
        *found.expect("a value").1
    };
    (of, express)
}

/// 12 Mb/s: 1 ms for 1500 B.
fn scenario(policy: &str, flow: &str, times: &str) -> String {
    format!(
        "schema_version: 1
topology:
  nodes: [a, b]
  links: {{l: {{from: a, to: b, rate: 12 Mb/s, policy: P}}}}
policies: {{P: {policy}}}
traffic:
  - flow: {{name: f, from: a, to: b, {flow}}}
measurement: {{{times}, percentiles: [backlog]}}
runs: {{count: 1, seed: 3}}
"
    )
}

/// Nobody pays for what was not asked for: there are no such values then, and all others are the
/// same.
#[test]
fn percentiles_are_measured_where_they_are_asked_for() {
    let asked = scenario(
        "{fifo: {limit: 64 packets}}",
        "count: 3, source: {poisson: {rate: 3.5 Mb/s, packet: imix}}",
        "warmup: 1 s, duration: 5 s",
    );
    let plain = asked.replace(", percentiles: [backlog]", "");
    assert_ne!(asked, plain);
    let values = |yaml: &str| {
        let plan = common::plan(yaml);
        let world = &plan.variants[0].world;
        let mut run = World::<WinnerTree>::on(Engine::Express, world, 3, 0, false);
        while run.run(u64::MAX) != Stop::Done {}
        let (layout, outcome) = (layout(world), run.outcome());
        let named = |(key, value): (&Key, &f64)| {
            let name = layout.name(key).to_owned();
            ((key.scope, name, key.metric), value.to_bits())
        };
        let all: BTreeMap<_, _> = layout.keys.iter().zip(&outcome.values).map(named).collect();
        (all, outcome.digest)
    };
    let ((all, digest), (fewer, same)) = (values(&asked), values(&plain));
    assert_eq!(digest, same);
    let of_backlogs = |metric: Metric| {
        let mut both = PACKETS.iter().chain(&BYTES);
        both.any(|(_, m)| *m == metric)
    };
    let others = all
        .iter()
        .filter(|((_, _, metric), _)| !of_backlogs(*metric));
    assert_eq!(others.clone().count() + 6, all.len());
    assert!(others.eq(&fewer));
}

/// 20 packets of 1 ms come each 25 ms: 19 wait for the first millisecond, 18 for the second, none
/// for the last six.
#[test]
fn bursts_at_once() {
    let burst = "count: 20, source: {cbr: {rate: 480 kb/s, packet: 1500 B, phase: 0 s}}";
    let times = "warmup: 100 ms, duration: 1 s, interval: 50 ms";
    for policy in ["{fifo: {limit: 64 packets}}", "{drr: {}}"] {
        let (of, _) = run(&scenario(policy, burst, times));
        // At 50 % of 25 ms it is the level of the 13th, counted from none, at 95 % of the 24th, at
        // 99 % of the 25th.
        let expected = [7.0, 18.0, 19.0];
        for (((_, packets), (_, bytes)), level) in PACKETS.into_iter().zip(BYTES).zip(expected) {
            assert_eq!(of(packets), level, "{policy} {packets:?}");
            // Buckets of bytes are 1/256 of their octave wide.
            let off = (of(bytes) - 1500.0 * level).abs();
            assert!(off <= 1500.0 * level / 256.0, "{policy} {bytes:?}");
        }
        assert_eq!(of(Metric::PacketsOffered), 800.0);
        assert_eq!(of(Metric::PacketsLost), 0.0);
    }
}

/// Two packets come in each millisecond, in which one is sent: 64 wait at any time, every second
/// packet is lost.
///
/// RED, whose thresholds are far above that, finds 63 and 64 packets in turn. Its average, with
/// weight w, changes by w (q - average) with each packet, so that the mean of the averages before n
/// packets is that of the q less (last - first) / (w n), and with them after the packets (last -
/// first) / n more.
#[test]
fn overload_fills_the_queue() {
    let flood = "source: {cbr: {rate: 24 Mb/s, packet: 1500 B, phase: 0 s}}";
    let times = "warmup: 1 s, duration: 1 s, interval: 100 ms";
    for limit in ["64 packets", "96 kB"] {
        let red = format!(
            "{{fifo: {{limit: {limit}, aqm: {{red: {{min_th: 500, max_th: 1000, weight: 0.02}}}}}}}}"
        );
        let (of, _) = run(&scenario(&red, flood, times));
        assert!(PACKETS.iter().all(|(_, m)| of(*m) == 64.0));
        assert!(BYTES.iter().all(|(_, m)| of(*m) == 96_000.0));
        assert_eq!(of(Metric::PacketsOffered), 2000.0);
        assert_eq!(of(Metric::PacketsLost), 1000.0);
        assert_eq!(of(Metric::LossRatio), 0.5);
        // First and last average differ by less than 1.
        let off = (of(Metric::BacklogAverageMean) - 63.5).abs();
        assert!(off <= 1.0 / (0.02 * 2000.0) + 1.0 / 2000.0, "{off}");
    }
}

/// Of the queue of M/M/1/K. The time that a reversible Markov chain spends in a set of share p of
/// its states is, over T, spread with a variance of at most 2 p (1 - p) / (g T), g being its
/// spectral gap, for M/M/1/K lambda + mu - 2 sqrt(lambda mu) cos(pi / (K + 1)) (Takacs 1962). Five
/// deviations happen in one of two million.
#[test]
fn percentiles_of_a_queue_whose_occupancy_is_known() {
    const K: usize = 10;
    const SECONDS: f64 = 200.0;
    let mu = 1000.0;
    for load in [0.5, 0.8, 1.2] {
        let flow = format!(
            "source: {{poisson: {{rate: {} b/s, packet: {{exponential: 1500 B}}}}}}",
            12e6 * load
        );
        // K counts the packet in transmission, the limit does not.
        let policy = format!("{{fifo: {{limit: {} packets}}}}", K - 1);
        let times = "warmup: 5 s, duration: 200 s, interval: 50 s";
        let (of, _) = run(&scenario(&policy, &flow, times));
        let weights: Vec<f64> = (0..=K).map(|n| math::pow(load, n as f64)).collect();
        let all: f64 = weights.iter().sum();
        // None waits where none or one is there.
        let up_to = |waiting: f64| weights[..=waiting as usize + 1].iter().sum::<f64>() / all;
        let cos = (std::f64::consts::PI / (K as f64 + 1.0)).cos();
        let gap = mu * (1.0 + load - 2.0 * load.sqrt() * cos);
        for (q, metric) in PACKETS {
            let found = of(metric);
            let off = 5.0 * (2.0 * q * (1.0 - q) / (gap * SECONDS)).sqrt();
            let below = if found > 0.0 { up_to(found - 1.0) } else { 0.0 };
            println!(
                "load {load}, {q}: {found}, between {below:.4} and {:.4}",
                up_to(found)
            );
            assert!(
                below < q + off && q - off <= up_to(found),
                "load {load}, {q}: {found}"
            );
        }
    }
}

/// TCP over RED, against samples each 10 us. A level is passed downwards at most once with each
/// departure, one in a millisecond at most, and upwards as often: a sample is wrong about at most
/// the time to the next one, so that shares of time above a level differ by 2 * 0.01.
#[test]
fn percentiles_are_those_of_samples() {
    let red = "{fifo: {limit: 100 packets, aqm: {red: {min_th: 10, max_th: 40, weight: 0.02}}}}";
    let tcp = "count: 5, tcp: {}}
    # A delay for the acknowledgments, too.
  - flow: {name: g, from: b, to: a, source: {cbr: {rate: 10 kb/s, packet: 100 B}}";
    let times = "warmup: 2 s, duration: 5 s, interval: 10 us";
    let yaml = scenario(red, tcp, times).replace(
        "rate: 12 Mb/s,",
        "rate: 12 Mb/s, delay: 10 ms, duplex: true,",
    );
    let (of, outcome) = run(&yaml);
    let sampled = |metric: &str| {
        let mut curves = outcome.series.iter();
        let curve = curves
            .find(|c| c.place == "l/fifo" && c.metric == metric)
            .expect("a curve");
        let within = curve
            .times()
            .zip(&curve.v)
            .filter(|(t, _)| (2.0..7.0).contains(t));
        within.map(|(_, v)| *v).collect::<Vec<f64>>()
    };
    for (metrics, samples, width) in [
        (PACKETS, sampled("backlog_packets"), 0.0),
        (BYTES, sampled("backlog_bytes"), 1.0 / 256.0),
    ] {
        let share = |fits: &dyn Fn(f64) -> bool| {
            samples.iter().filter(|v| fits(**v)).count() as f64 / samples.len() as f64
        };
        for (q, metric) in metrics {
            let found = of(metric);
            let (low, high) = (found * (1.0 - width), found * (1.0 + width));
            let (below, up_to) = (share(&|v| v < low), share(&|v| v <= high));
            println!("{metric:?} {found}: {below} {up_to}");
            assert!(
                below <= q + 0.02 && q - 0.02 <= up_to,
                "{metric:?} {found}: {below} {up_to}"
            );
            assert!(found > 0.0);
        }
    }
    let averages = sampled("backlog_average");
    let mean = of(Metric::BacklogAverageMean);
    let least = averages.iter().fold(f64::INFINITY, |a, b| a.min(*b));
    let most = averages.iter().fold(0.0_f64, |a, b| a.max(*b));
    assert!(least < mean && mean < most, "{least} {mean} {most}");
}

/// What a queue drops is sampled from the start of the run on, in the measured period and before,
/// at each edge of an interval what has been dropped by then; what its link loses is not.
#[test]
fn sampled_drops_add_up() {
    let red = "{fifo: {limit: 30 packets, aqm: {red: {min_th: 5, max_th: 15, weight: 0.02}}}}";
    let lossy = "rate: 12 Mb/s, loss: {bernoulli: 2 %},";
    for (policy, link) in [
        (red, "rate: 12 Mb/s,"),
        ("{fifo: {limit: 5 packets}}", "rate: 12 Mb/s,"),
        (red, lossy),
        (
            "{class-based: {classes: [{name: class-default, police: {rate: 9 Mb/s}}]}}",
            lossy,
        ),
    ] {
        let total = |times: &str| {
            let flow = "source: {poisson: {rate: 15 Mb/s, packet: 1500 B}}";
            let yaml = scenario(policy, flow, times).replace("rate: 12 Mb/s,", link);
            let (of, outcome) = run(&yaml);
            let curves = outcome
                .series
                .iter()
                .filter(|c| c.metric == "drops_per_second");
            let sampled: f64 = curves.flat_map(|c| &c.v).map(|v| v * 0.1).sum();
            (sampled, of)
        };
        let (sampled, of) = total("warmup: 0 s, duration: 4 s, interval: 100 ms");
        let queue = of(Metric::PacketsLost) - of(Metric::drops(DropReason::LinkLoss));
        assert!(queue > 100.0, "{queue}");
        // Rates are products of whole numbers and 10.
        assert!((sampled - queue).abs() < 1e-6, "{sampled} {queue}");
        let (later, _) = total("warmup: 3 s, duration: 1 s, interval: 100 ms");
        assert!((later - sampled).abs() < 1e-6, "{later} {sampled}");
    }
}
