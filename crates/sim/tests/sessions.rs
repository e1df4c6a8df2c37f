//! Sessions come and go: everything they transfer arrives once, places are reused, and a session
//! on an idle path is as fast as a connection on its own.

use crate::common;
use spillgate_events::{EventSet, Heap4, WinnerTree};
use spillgate_measure::table::{Metric, Scope};
use spillgate_scenario::plan::Plan;
use spillgate_sim::{Stop, World};

fn scenario(limit: u32, traffic: &str) -> String {
    format!(
        "
schema_version: 1
topology:
  nodes: [a, b, c]
  links:
    access: {{from: a, to: b, rate: 100 Mb/s, delay: 1 ms, duplex: true}}
    wan: {{from: b, to: c, rate: 10 Mb/s, delay: 9 ms, policy: P, duplex: true}}
policies: {{P: {{fifo: {{limit: {limit} packets}}}}}}
traffic:
{traffic}
measurement: {{warmup: 1 s, duration: 20 s, interval: 1 s}}
runs: {{count: 2, seed: 3}}
"
    )
}

fn value(yaml: &str, name: &str, metric: Metric) -> f64 {
    let plan = common::plan(yaml);
    let finished = common::run(&plan, 1);
    common::values(&plan, &finished, Scope::Flow, name, metric)[0]
}

/// All the metrics of the first run of a flow.
fn values(yaml: &str, name: &str, metrics: &[Metric]) -> Vec<f64> {
    let plan = common::plan(yaml);
    let finished = common::run(&plan, 1);
    metrics
        .iter()
        .map(|m| common::values(&plan, &finished, Scope::Flow, name, *m)[0])
        .collect()
}

const PROFILES: [&str; 3] = ["{profile: rfc}", "{profile: linux}", "{profile: ns2}"];

#[test]
fn a_session_on_an_idle_path_is_as_fast_as_a_connection_alone() {
    for tcp in PROFILES {
        let alone = scenario(
            100,
            &format!("  - flow: {{name: f, from: a, to: c, start: 2 s, bytes: 30 kB, tcp: {tcp}}}"),
        );
        let many = scenario(
            100,
            &format!(
                "  - sessions: {{name: f, from: a, to: c, start: 2 s, arrivals: {{fixed: {{gap: 1 s, count: 15}}}}, session: {{transfer: {{size: {{fixed: 30 kB}}}}}}, tcp: {tcp}, active: 1}}"
            ),
        );
        let time = value(&alone, "f", Metric::FctMean);
        let got = values(
            &many,
            "f",
            &[
                Metric::TransfersBegun,
                Metric::TransfersDone,
                Metric::TransfersRefused,
                Metric::FctMean,
                Metric::Goodput,
                Metric::Unresolved,
            ],
        );
        // One place, used 15 times: nothing of one session is left to the next. The mean of 15
        // equal whole numbers of picoseconds is exact but for its last rounding.
        assert_eq!(got[..3], [15.0, 15.0, 0.0], "{tcp}");
        assert!(
            (got[3] - time).abs() < 1e-12,
            "{tcp}: {} instead of {time}",
            got[3]
        );
        assert_eq!(got[4..], [15.0 * 30_000.0 * 8.0 / 20.0, 0.0], "{tcp}");
    }
}

/// A request of 100 B and a response of 1000 B over an idle path take a handshake, then half a
/// round trip each, and the serialization of every segment on both links.
#[test]
fn requests_are_answered() {
    let yaml = scenario(
        100,
        "  - sessions: {name: f, from: a, to: c, start: 2 s, arrivals: {fixed: {gap: 2 s, count: 5}}, session: {request-response: {request: {fixed: 100 B}, response: {fixed: 1000 B}, requests: 3}}, tcp: {profile: ns2}}",
    );
    let got = values(
        &yaml,
        "f",
        &[
            Metric::TransfersBegun,
            Metric::TransfersDone,
            Metric::TransfersFailed,
            Metric::Goodput,
            Metric::Retransmits,
        ],
    );
    let bytes = 5.0 * 3.0 * 1_100.0;
    assert_eq!(got, [15.0, 15.0, 0.0, bytes * 8.0 / 20.0, 0.0]);
    // Headers are 40 B. At 100 Mb/s and 10 Mb/s a byte takes 80 ns and 800 ns.
    let byte = 0.88e-6;
    // Acknowledgments do not ride on data: that of the request delays the response by its 32 us on
    // the first, slow, link; that of a response delays the next request, which leaves right behind
    // it, by those 32 us less the 8 us that the request needs longer for the fast link.
    let ahead = 32e-6 + 24e-6 * 2.0 / 3.0;
    let exchange = 2.0 * 0.010 + (140.0 + 1_040.0) * byte + ahead;
    // ns-2's profile has no handshake, so that all exchanges are alike.
    let mean = value(&yaml, "f", Metric::FctMean);
    assert!(
        (mean - exchange).abs() < 1e-9,
        "{mean} instead of {exchange}"
    );
    let shaken = yaml.replace("{profile: ns2}", "{profile: ns2, handshake: true}");
    let mean = value(&shaken, "f", Metric::FctMean);
    let handshake = 2.0 * 0.010 + 80.0 * byte;
    let expected = exchange + handshake / 3.0;
    // Beside SYN and its answer, the last ACK of the handshake goes with the request or before it.
    assert!(
        mean >= expected - 1e-9 && mean <= expected + 40.0 * byte,
        "{mean} instead of {expected}"
    );
}

#[test]
fn a_session_with_a_lifetime_ends_with_it() {
    // A receive window of 40 kB is above the bandwidth-delay product, 25 kB, and fits the queue.
    let yaml = scenario(
        30,
        "  - sessions: {name: f, from: a, to: c, start: 1 s, arrivals: {fixed: {gap: 2 s, count: 9}}, session: {lifetime: {mean: 1 s, distribution: fixed}}, tcp: {profile: linux, max_window: 40 kB}}",
    );
    let got = values(
        &yaml,
        "f",
        &[
            Metric::TransfersDone,
            Metric::FctMean,
            Metric::Goodput,
            Metric::Unresolved,
        ],
    );
    assert_eq!((got[0], got[3]), (9.0, 0.0));
    // What was sent within the lifetime has to arrive: a window at the link's rate, a round trip
    // of 20 ms, a delayed acknowledgment of 40 ms.
    assert!((1.02..1.1).contains(&got[1]), "{}", got[1]);
    // Nine of twenty seconds of a link of 10 Mb/s, 1448 of 1500 B of it payload, less slow start.
    let most = 10e6 * 1448.0 / 1500.0 * 9.0 * got[1] / 20.0;
    assert!(
        got[2] > 0.8 * most && got[2] <= most,
        "{} of {most}",
        got[2]
    );
}

#[test]
fn more_sessions_than_places_are_refused_and_counted() {
    // A hundred at once, ten places, and links idle otherwise: exactly ten begin.
    let yaml = scenario(
        100,
        "  - sessions: {name: f, from: a, to: c, start: 2 s, arrivals: {fixed: {gap: 0 s, count: 100}}, session: {transfer: {size: {fixed: 5 kB}}}, tcp: {}, active: 10}",
    );
    let got = values(
        &yaml,
        "f",
        &[
            Metric::TransfersBegun,
            Metric::TransfersRefused,
            Metric::TransfersDone,
        ],
    );
    assert_eq!(got, [10.0, 90.0, 10.0]);
}

/// An application that writes at a constant rate below the link's gets that rate through.
#[test]
fn a_source_writes_into_its_connection() {
    for tcp in PROFILES {
        let yaml = scenario(
            100,
            &format!(
                "  - flow: {{name: f, from: a, to: c, source: {{cbr: {{rate: 400 kb/s, packet: 500 B}}}}, tcp: {tcp}}}"
            ),
        );
        let good = value(&yaml, "f", Metric::Goodput);
        // 100 writes a second; at either edge of the 20 s some may be on the way: 10 ms of
        // propagation and, at most, a delayed acknowledgment's worth of writes held back.
        let slack = 400e3 * (0.010 + 0.2) / 20.0;
        assert!((good - 400e3).abs() <= slack, "{tcp}: {good}");
    }
}

#[test]
fn an_application_that_stops_ends_its_connection() {
    let yaml = scenario(
        30,
        "  - flow: {name: f, from: a, to: c, start: 2 s, stop: 6 s, tcp: {}}
  - flow: {name: g, from: a, to: c, start: 8 s, stop: 9 s, source: {cbr: {rate: 1 Mb/s, packet: 1000 B}}, tcp: {}}
  - flow: {name: never, from: a, to: c, start: 50 s, tcp: {}}",
    );
    for (name, least, bytes) in [("f", 4.0, None), ("g", 0.9, Some(125_000.0))] {
        let got = values(
            &yaml,
            name,
            &[Metric::TransfersDone, Metric::FctMean, Metric::Goodput],
        );
        assert_eq!(got[0], 1.0, "{name}");
        assert!(got[1] > least && got[1] < least + 0.5, "{name}: {}", got[1]);
        if let Some(bytes) = bytes {
            assert!(
                (got[2] - bytes * 8.0 / 20.0).abs() < 1e-6,
                "{name}: {}",
                got[2]
            );
        }
    }
    assert_eq!(value(&yaml, "never", Metric::TransfersBegun), 0.0);
}

/// Overload with losses on both links: every way to run it gives the same facts and figures, and
/// every packet is accounted for.
#[test]
fn thousands_of_sessions_repeat() {
    fn all<S: EventSet>(plan: &Plan, look: bool, budget: u64) -> String {
        let world = World::<S>::new(&plan.variants[0].world, 1, 0, look);
        finish(world, budget)
    }
    fn finish<S: EventSet>(mut world: World<S>, budget: u64) -> String {
        while world.run(budget) != Stop::Done {}
        let outcome = world.outcome();
        format!(
            "{} {} {:?}",
            outcome.digest, outcome.packets, outcome.values
        )
    }
    let traffic = "  - sessions: {name: short, from: a, to: c, arrivals: {poisson: {gap: 5 ms}}, session: {transfer: {size: {pareto: {mean: 5 kB, shape: 1.3, max: 1 MB}}}}, tcp: {profile: linux}, active: 40}
  - sessions: {name: pages, from: c, to: a, arrivals: {poisson: {gap: 50 ms}}, session: {request-response: {request: {fixed: 400 B}, response: {lognormal: {median: 3 kB, sigma: 1}}, think: 200 ms, requests: 4}}, tcp: {}, active: 30}
  - sessions: {name: calls, from: a, to: c, arrivals: {poisson: {gap: 1 s}}, session: {lifetime: {mean: 500 ms}}, tcp: {profile: ns2}, active: 3}
  - flow: {name: noise, from: a, to: c, source: {poisson: {rate: 1 Mb/s, packet: imix}}}";
    // The second link loses most; the first, which the sessions' bursts fill, some.
    let yaml = scenario(8, traffic).replace(
        "duplex: true}\n    wan",
        "policy: P, duplex: true}\n    wan",
    );
    let plan = common::plan(&yaml);
    let reference = all::<WinnerTree>(&plan, false, u64::MAX);
    assert_eq!(
        all::<WinnerTree>(&plan, true, u64::MAX),
        reference,
        "work ahead"
    );
    assert_eq!(all::<Heap4>(&plan, false, u64::MAX), reference, "event set");
    assert_eq!(all::<WinnerTree>(&plan, false, 77), reference, "pauses");
    let tap = Box::new(common::Blind);
    let tapped = World::<WinnerTree>::tapped(&plan.variants[0].world, 1, 0, false, tap);
    assert_eq!(finish(tapped, u64::MAX), reference, "tap");
    let metrics = [
        Metric::TransfersBegun,
        Metric::TransfersDone,
        Metric::TransfersFailed,
        Metric::TransfersRefused,
        Metric::DropsTail,
    ];
    let short = values(&yaml, "short", &metrics);
    let arrivals = short[0] + short[3];
    // 20 s at 200 a second: Poisson, five standard deviations.
    assert!(
        (arrivals - 4_000.0).abs() < 5.0 * 4_000_f64.sqrt(),
        "{short:?}"
    );
    assert!(short[3] > 0.0 && short[4] > 0.0, "no overload: {short:?}");
    // What began and neither ended nor failed is open at the end: at most one for each place.
    assert!(
        (0.0..=40.0).contains(&(short[0] - short[1] - short[2])),
        "{short:?}"
    );
    let pages = values(&yaml, "pages", &metrics);
    assert!(pages[1] > 500.0, "{pages:?}");
    assert!(
        (0.0..=30.0).contains(&(pages[0] - pages[1] - pages[2])),
        "{pages:?}"
    );
}
