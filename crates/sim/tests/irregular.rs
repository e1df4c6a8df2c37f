//! Links whose rate varies, that lose packets, or on which packets overtake each other: against
//! what follows from their definitions.

use crate::common;
use spillgate_events::WinnerTree;
use spillgate_measure::table::{Metric, Scope};
use spillgate_sim::{Engine, Finished, Stop, World};

/// Runs a scenario of one link `l` with these keys and this traffic; the plain engine agrees.
fn run(
    link: &str,
    traffic: &str,
    measurement: &str,
) -> impl Fn(Scope, &str, Metric) -> f64 + use<> {
    let yaml = format!(
        "schema_version: 1\n\
         topology:\n  nodes: [a, b]\n  links:\n    l: {{from: a, to: b, rate: 10 Mb/s, policy: P, {link}}}\n    \
         back: {{from: b, to: a, rate: 10 Mb/s}}\n\
         policies:\n  P: {{fifo: {{limit: 50 packets}}}}\n\
         traffic:\n  - flow: {{name: f, from: a, to: b, {traffic}}}\n\
         measurement: {{{measurement}}}\nruns: {{count: 1, seed: 5}}\n"
    );
    let files = [
        ("m.trace", b"3\n4\n4\n10\n".to_vec()),
        ("r.csv", b"time,rate\n0 s,8 Mb/s\n10 ms,2 Mb/s\n".to_vec()),
    ];
    let plan = common::plan_with(&yaml, files);
    let finished: Vec<Finished> = common::run(&plan, 1);
    let mut world = World::<WinnerTree>::on(Engine::Plain, &plan.variants[0].world, 5, 0, false);
    while world.run(u64::MAX) != Stop::Done {}
    assert_eq!(world.digest(), finished[0].outcome.digest);
    move |scope, name, metric| common::values(&plan, &finished, scope, name, metric)[0]
}

const FULL: &str = "source: {cbr: {rate: 11 Mb/s, packet: 1500 B}}";

#[test]
fn a_busy_link_carries_what_its_schedule_allows() {
    let of = run(
        "rate_process: {schedule: {steps: [{at: 20 ms, rate: 4 Mb/s}, {at: 50 ms, rate: 0 b/s}], repeat: 100 ms}}",
        FULL,
        "warmup: 1 s, duration: 10 s",
    );
    // 20 ms at 10 Mb/s, 30 ms at 4 Mb/s, nothing for 50 ms. The edges of the period are edges of
    // the schedule, and a packet there counts by its time on the link.
    let carried = of(Scope::Link, "l", Metric::Carried);
    assert!((carried - 3.2e6).abs() < 12_000.0 / 10.0, "{carried}");
    assert!(of(Scope::Link, "l", Metric::Utilization) > 0.9996);
}

#[test]
fn a_recorded_rate_begins_again() {
    let of = run(
        "rate_process: {trace: {file: r.csv, repeat: true}}",
        FULL,
        "warmup: 1 s, duration: 10 s",
    );
    // The last rate of a trace holds as long as the one before.
    let carried = of(Scope::Link, "l", Metric::Carried);
    assert!((carried - 5e6).abs() < 12_000.0 / 10.0, "{carried}");
}

#[test]
fn each_opportunity_takes_a_packet() {
    let of = run(
        "rate_process: {mahimahi: {file: m.trace, repeat: true}}",
        FULL,
        "warmup: 1 s, duration: 10 s",
    );
    // Four in 10 ms, each with one of the packets that wait.
    assert_eq!(of(Scope::Link, "l", Metric::Carried), 4.8e6);
    assert_eq!(of(Scope::Link, "l", Metric::Utilization), 1.0);
}

#[test]
fn opportunities_without_packets_are_lost() {
    // A packet every 10 ms, 1 ms into each period of the trace: it waits for the opportunity at
    // 3 ms.
    let of = run(
        "rate_process: {mahimahi: {file: m.trace, repeat: true}}",
        "start: 1 ms, source: {cbr: {rate: 0.8 Mb/s, packet: 1000 B, phase: 0 s}}",
        "warmup: 1 s, duration: 10 s",
    );
    for metric in [Metric::OwdMean, Metric::OwdMax] {
        let delay = of(Scope::Flow, "f", metric);
        assert!((delay - 2e-3).abs() < 1e-12, "{delay}");
    }
    let share = of(Scope::Link, "l", Metric::Utilization);
    assert!((share - 1.0 / 6.0).abs() < 1e-12, "{share}");
}

#[test]
fn losses_are_as_frequent_as_said_and_are_accounted_for() {
    let of = run(
        "loss: {bernoulli: 2 %}, delay: 5 ms",
        "source: {cbr: {rate: 8 Mb/s, packet: 1000 B}}",
        "warmup: 1 s, duration: 20 s",
    );
    let lost = of(Scope::Flow, "f", Metric::DropsLinkLoss);
    assert_eq!(
        lost,
        of(Scope::Flow, "f", Metric::PacketsSent) - of(Scope::Flow, "f", Metric::PacketsReceived)
    );
    // Four standard deviations of 20,000 draws: 4 x sqrt(20000 x 0.02 x 0.98).
    assert!((lost - 400.0).abs() < 80.0, "{lost}");
    // What is counted at the queue is lost within the period, not sent in it: packets on their way
    // at its edges are 5 of 20,000.
    let at_queue = of(Scope::Queue, "l/fifo", Metric::DropsLinkLoss);
    assert!((at_queue - lost).abs() <= 5.0, "{at_queue} {lost}");
    // The link has sent them.
    assert!((of(Scope::Link, "l", Metric::Carried) - 8e6).abs() < 800.0);
}

/// A link with bursts of losses is in its bad state when it begins as often as later: a quarter of
/// the time, in which it loses all. Of 400 first packets 100 are lost, within four standard
/// deviations.
#[test]
fn a_link_may_begin_in_its_bad_state() {
    let plan = common::plan(
        "schema_version: 1
topology:
  nodes: [a, b]
  links: {l: {from: a, to: b, rate: 10 Mb/s, loss: {gilbert-elliott: {to_bad: 10 %, to_good: 30 %}}}}
traffic:
  - flow: {name: f, from: a, to: b, stop: 1 ms, source: {cbr: {rate: 80 kb/s, packet: 100 B, phase: 0 s}}}
measurement: {warmup: 0 s, duration: 100 ms, interval: 100 ms}
runs: {count: 400, seed: 5}
",
    );
    let finished = common::run(&plan, 1);
    let metric = Metric::DropsLinkLoss;
    let lost: f64 = common::values(&plan, &finished, Scope::Flow, "f", metric)
        .iter()
        .sum();
    let deviation = (400.0_f64 * 0.25 * 0.75).sqrt();
    assert!((lost - 100.0).abs() < 4.0 * deviation, "{lost}");
}

#[test]
fn late_packets_are_overtaken_and_tcp_takes_them_for_lost() {
    let keys = "delay: 10 ms, reorder: {share: 5 %, by: 8 ms}";
    let of = run(
        keys,
        "source: {cbr: {rate: 4 Mb/s, packet: 1000 B}}",
        "warmup: 1 s, duration: 20 s",
    );
    assert_eq!(of(Scope::Flow, "f", Metric::LossRatio), 0.0);
    let (mean, most) = (
        of(Scope::Flow, "f", Metric::OwdMean),
        of(Scope::Flow, "f", Metric::OwdMax),
    );
    // 0.8 ms on the link and 10 ms on the way, 8 ms more for 5 %: four standard errors of the share
    // of 10,000 packets are 0.9 %.
    assert!((most - 18.8e-3).abs() < 1e-9, "{most}");
    assert!((mean - 11.2e-3).abs() < 0.009 * 8e-3, "{mean}");
    let tcp = |keys: &str| {
        let of = run(keys, "tcp: {profile: ns2}", "warmup: 1 s, duration: 20 s");
        of(Scope::Flow, "f", Metric::Retransmits)
    };
    // 8 ms are several packets at 10 Mb/s: three acknowledgments that repeat another.
    assert!(tcp(keys) > 20.0);
}

#[test]
fn loss_on_a_link_does_not_depend_on_the_queue_before_it() {
    let lost = |link: &str| {
        let of = run(
            &format!("{link}loss: {{gilbert-elliott: {{to_bad: 1 %, to_good: 20 %}}}}"),
            "source: {cbr: {rate: 4 Mb/s, packet: 1000 B}}",
            "warmup: 0 s, duration: 20 s",
        );
        of(Scope::Flow, "f", Metric::DropsLinkLoss)
    };
    assert!(lost("") > 0.0);
    assert_eq!(lost(""), lost("delay: 3 ms, "));
}

#[test]
fn flow_admission_sees_that_a_slow_link_is_not_idle() {
    // Twelve greedy flows, a fair rate of 0.42 Mb/s at 5 Mb/s: below the least one of 0.5 Mb/s. At
    // 10 Mb/s it is above.
    let refused = |process: &str| {
        let yaml = format!(
            "schema_version: 1\n\
             topology:\n  nodes: [a, b]\n  links:\n    l: {{from: a, to: b, rate: 10 Mb/s, delay: 1 ms, policy: P{process}}}\n    \
             back: {{from: b, to: a, rate: 10 Mb/s}}\n\
             policies:\n  P: {{fan: {{scheduler: pfq, limit: 100 packets, min_fair_rate: 5 %}}}}\n\
             traffic:\n  - flow: {{name: f, count: 12, from: a, to: b, start_gap: 1 s, tcp: {{profile: ns2}}}}\n\
             measurement: {{warmup: 0 s, duration: 40 s}}\nruns: {{count: 1, seed: 5}}\n"
        );
        let plan = common::plan(&yaml);
        let finished = common::run(&plan, 1);
        common::values(
            &plan,
            &finished,
            Scope::Total,
            "all",
            Metric::DropsAdmission,
        )[0]
    };
    assert_eq!(refused(""), 0.0);
    assert!(refused(", rate_process: {schedule: {steps: [{at: 0 s, rate: 5 Mb/s}]}}") > 0.0);
}
