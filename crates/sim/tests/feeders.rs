//! Ports that are fed over one link or several, and pipes that links share, give the same run as
//! packet by packet, as it goes while it is observed.

use crate::common;
use std::fmt::Write as _;

use proptest::prelude::*;
use spillgate_core::testkit::effort;
use spillgate_events::{EventSet, Heap4, WinnerTree};
use spillgate_sim::{Engine, Outcome, Stop, World, layout};

/// One host: the delay of its link and what it sends.
#[derive(Clone, Debug)]
struct Host {
    delay_us: u32,
    traffic: String,
}

/// Links of hosts to one router share pipes by delay; behind it is a bottleneck with a policy.
fn scenario(hosts: &[Host], policy: &str, acks: bool) -> String {
    let mut yaml = "schema_version: 1\ntopology:\n  nodes: [r, q, d".to_owned();
    for i in 0..hosts.len() {
        write!(yaml, ", h{i}").unwrap();
    }
    yaml.push_str(
        "]\n  links:\n    wan: {from: r, to: q, rate: 12 Mb/s, delay: 3 ms, policy: P, duplex: true}\n    \
         last: {from: q, to: d, rate: 1 Gb/s, delay: 1 ms, duplex: true}\n",
    );
    for (i, h) in hosts.iter().enumerate() {
        let delay = h.delay_us;
        writeln!(
            yaml,
            "    l{i}: {{from: h{i}, to: r, rate: 10 Mb/s, delay: {delay} us, duplex: true}}"
        )
        .unwrap();
    }
    writeln!(yaml, "policies: {{P: {policy}}}\ntraffic:").unwrap();
    for (i, h) in hosts.iter().enumerate() {
        let traffic = &h.traffic;
        writeln!(
            yaml,
            "  - flow: {{name: f{i}, from: h{i}, to: d, {traffic}}}"
        )
        .unwrap();
    }
    if acks {
        // What the far end sends shares the way back with acknowledgments.
        yaml.push_str("  - flow: {name: back, from: d, to: h0, source: {poisson: {rate: 1 Mb/s, packet: imix}}}\n");
    }
    yaml.push_str("measurement: {warmup: 200 ms, duration: 1 s, interval: 100 ms, percentiles: [backlog]}\nruns: {count: 1, seed: 5}\n");
    yaml
}

fn outcome<S: EventSet>(yaml: &str, budget: u64) -> Outcome {
    let plan = common::plan(yaml);
    ended(
        World::<S>::new(&plan.variants[0].world, 5, 0, false),
        budget,
    )
}

fn ended<S: EventSet>(mut world: World<S>, budget: u64) -> Outcome {
    while world.run(budget) != Stop::Done {}
    assert_eq!(world.fault(), None);
    world.outcome()
}

#[track_caller]
fn assert_all_ways_agree(yaml: &str) {
    let plan = common::plan(yaml);
    let layout = layout(&plan.variants[0].world);
    // A tap asks every port for every packet.
    let tap = Box::new(common::Blind);
    let tapped = World::tapped(&plan.variants[0].world, 5, 0, false, tap);
    let reference = ended::<WinnerTree>(tapped, u64::MAX);
    let plain = World::<WinnerTree>::on(Engine::Plain, &plan.variants[0].world, 5, 0, false);
    for (other, how) in [
        (ended(plain, u64::MAX), "plain"),
        (common::same_series(&plan, 5), "observed"),
        (outcome::<WinnerTree>(yaml, u64::MAX), "in batches"),
        (outcome::<WinnerTree>(yaml, 7), "with pauses"),
        (outcome::<Heap4>(yaml, u64::MAX), "from a heap"),
    ] {
        assert_eq!(other.digest, reference.digest, "{how}:\n{yaml}");
        let values = layout.keys.iter().zip(&reference.values).zip(&other.values);
        for ((key, a), b) in values {
            let name = (layout.name(key), key.metric);
            assert_eq!(a.to_bits(), b.to_bits(), "{how}: {name:?} {a} {b}\n{yaml}");
        }
    }
}

/// Sources of one period, so that packets of several pipes arrive at one instant.
#[test]
fn arrivals_of_one_instant_keep_their_order() {
    let host = |delay_us| Host {
        delay_us,
        traffic: "source: {cbr: {rate: 4 Mb/s, packet: 1000 B}}, start: 100 ms".to_owned(),
    };
    let hosts = [1000, 1000, 3000, 5000, 1000, 3000].map(host);
    assert_all_ways_agree(&scenario(&hosts, "{fifo: {limit: 9 packets}}", false));
}

/// So many links of delays so short that batches are not worth it, nor what comes of them.
#[test]
fn where_hardly_any_meet_packets_come_one_by_one() {
    let host = |i| Host {
        delay_us: 10 + i,
        traffic: "source: {poisson: {rate: 500 kb/s, packet: 80 B}}".to_owned(),
    };
    let hosts: Vec<_> = (0_u32..20).map(host).collect();
    assert_all_ways_agree(&scenario(&hosts, "{fifo: {limit: 9 packets}}", false));
}

/// A burst of 400 packets at the link of one host: what others with the same delay send meanwhile
/// is due long before its end, further ahead than a place on the pipe is looked for.
#[test]
fn packets_that_overflow_a_shared_pipe_arrive_in_order() {
    let bursty = Host {
        delay_us: 1000,
        traffic: "source: {on-off: {peak: 90 Mb/s, packet: 500 B, on: 20 ms, off: 150 ms}}"
            .to_owned(),
    };
    let calm = |delay_us| Host {
        delay_us,
        traffic: "source: {poisson: {rate: 1 Mb/s, packet: 200 B}}".to_owned(),
    };
    let hosts = [bursty, calm(1000), calm(1000), calm(2000), calm(1000)];
    for policy in [
        "{fifo: {limit: 30 packets}}",
        "{fifo: {limit: 30 packets, aqm: {red: {}}}}",
    ] {
        assert_all_ways_agree(&scenario(&hosts, policy, false));
    }
}

fn host() -> impl Strategy<Value = Host> {
    let traffic = prop_oneof![
        Just("tcp: {}".to_owned()),
        Just("tcp: {profile: ns2}, start_spread: 300 ms".to_owned()),
        (1..15_u32).prop_map(|r| format!("source: {{poisson: {{rate: {r} Mb/s, packet: imix}}}}")),
        (1..9_u32).prop_map(|r| format!("source: {{cbr: {{rate: {r} Mb/s, packet: 1000 B}}}}")),
        (20..120_u32).prop_map(|r| format!(
            "source: {{on-off: {{peak: {r} Mb/s, packet: 300 B, on: 20 ms, off: 100 ms}}}}"
        )),
    ];
    (
        prop_oneof![Just(0), Just(500), Just(1000), Just(7000), 1..9000_u32],
        traffic,
    )
        .prop_map(|(delay_us, traffic)| Host { delay_us, traffic })
}

/// The way back of a connection leads over the port where ways meet, so that what is taken there
/// sends something to it: onto a pipe of its own, onto the pipe that it came over, far ahead of
/// others, and where a link fails.
#[test]
fn answers_that_come_back_to_where_ways_meet() {
    let ring = |ack: &str, more: &str, flows: &str| {
        format!(
            "schema_version: 1\ntopology:\n  nodes: [s, t, x, y, h, z]\n  links:\n    \
             sx: {{from: s, to: x, rate: 100 Mb/s, delay: 1 ms}}\n    \
             tx: {{from: t, to: x, rate: 100 Mb/s, delay: 1 ms}}\n    \
             xy: {{from: x, to: y, rate: 10 Mb/s, delay: 2 ms, policy: P}}\n    \
             yh: {{from: y, to: h, rate: 100 Mb/s, delay: 1 ms}}\n    \
             hx: {{from: h, to: x, {ack}}}\n    \
             ys: {{from: y, to: s, rate: 100 Mb/s, delay: 1 ms}}\n    \
             yt: {{from: y, to: t, rate: 100 Mb/s, delay: 1 ms}}\n    \
             zx: {{from: z, to: x, rate: 100 Mb/s, delay: 4 ms}}\n{more}\
             policies: {{P: {{fifo: {{limit: 12 packets}}}}}}\ntraffic:\n  \
             - flow: {{name: f, from: s, to: h, {flows}}}\n  \
             - flow: {{name: g, from: t, to: h, start: 100 ms, tcp: {{profile: ns2, cc: {{newreno: {{}}}}}}}}\n  \
             - flow: {{name: b, from: z, to: t, source: {{on-off: {{peak: 90 Mb/s, packet: 500 B, on: 20 ms, off: 150 ms}}}}}}\n\
             measurement: {{warmup: 200 ms, duration: 1 s, interval: 100 ms, percentiles: [backlog]}}\nruns: {{count: 1, seed: 5}}\n"
        )
    };
    let failing = "  failures: [{link: ys, at: 600 ms, repair: 900 ms}]\n";
    for ack in [
        "rate: 100 Mb/s, delay: 3 ms",
        "rate: 100 Mb/s, delay: 1 ms",
        "rate: 1 Mb/s, delay: 4 ms",
    ] {
        for flows in [
            "tcp: {profile: ns2}",
            "tcp: {profile: ns2, handshake: true, initial_window: 1}",
            "bytes: 20 kB, tcp: {profile: linux}",
        ] {
            for more in ["", failing] {
                assert_all_ways_agree(&ring(ack, more, flows));
            }
        }
    }
}

/// Senders and receivers with hosts of their own: data meet at one end of the link between them,
/// and acknowledgments at the other. What waits at one leads to what comes to the other.
#[test]
fn ways_that_meet_at_both_ends_of_a_link() {
    for (tcp, more) in [
        ("profile: ns2", ""),
        ("profile: ns2, initial_window: 1, min_rto: 200 ms", ""),
        (
            "profile: ns2, max_window: 20 kB",
            "  - flow: {name: u, from: s-0, to: d-1, source: {poisson: {rate: 300 kb/s, packet: imix}}}\n",
        ),
    ] {
        assert_all_ways_agree(&format!(
            "schema_version: 1\ntopology:\n  nodes: [left, right, {{name: s, count: 3}}, {{name: d, count: 3}}]\n  links:\n    \
             access: {{from: s, to: left, rate: 100 Mb/s, delay: [1 ms, 2 ms, 7 ms], duplex: true}}\n    \
             wan: {{from: left, to: right, rate: 5 Mb/s, delay: 9 ms, policy: P, duplex: true}}\n    \
             egress: {{from: right, to: d, rate: 100 Mb/s, delay: [3 ms, 1 ms, 4 ms], duplex: true}}\n\
             policies: {{P: {{fifo: {{limit: 12 packets}}}}}}\ntraffic:\n  \
             - flow: {{name: f, count: 3, from: s, to: d, start_spread: 300 ms, tcp: {{{tcp}}}}}\n{more}\
             measurement: {{warmup: 200 ms, duration: 2 s, interval: 100 ms}}\nruns: {{count: 1, seed: 5}}\n"
        ));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40 * effort()))]

    #[test]
    fn any_hosts_agree(
        hosts in prop::collection::vec(host(), 2..9),
        policy in prop_oneof![
            Just("{fifo: {limit: 20 packets}}"),
            Just("{fifo: {limit: 60 packets, aqm: {red: {}}}}"),
            Just("{fifo: {limit: 9 kB}}"),
        ],
        acks: bool,
    ) {
        assert_all_ways_agree(&scenario(&hosts, policy, acks));
    }
}

#[test]
fn a_pipe_that_overflows_keeps_the_order_of_a_link_across_a_sample() {
    // h0 has 200 packets of 1000 B in the shared pipe, due from 959 ms on every 4 ms. Those of h1
    // are due from 1009 ms on: the first would overtake more than a pipe looks back and go into the
    // link's own pipe, the last do not. The sample at 1 s keeps all of them in pipes.
    let plan = common::plan(
        "schema_version: 1
topology:
  nodes: [h0, h1, r, q0, q1, d, e]
  links:
    l0: {from: h0, to: r, rate: 2 Mb/s, delay: 5 ms}
    l1: {from: h1, to: r, rate: 2 Mb/s, delay: 5 ms}
    m0: {from: r, to: q0, rate: 2 Mb/s}
    m1: {from: r, to: q1, rate: 2 Mb/s}
    d0: {from: q0, to: d, rate: 2 Mb/s}
    d1: {from: q1, to: e, rate: 2 Mb/s}
traffic:
  - flow: {name: f0, from: h0, to: d, start: 950 ms, stop: 966 ms, source: {cbr: {rate: 100 Mb/s, packet: 1000 B}}}
  - flow: {name: f1, from: h1, to: e, start: 995 ms, stop: 1001400 us, source: {cbr: {rate: 100 Mb/s, packet: 1000 B}}}
measurement: {warmup: 0 s, duration: 3 s, interval: 1 s}
runs: {count: 1, seed: 5}
",
    );
    common::same_series(&plan, 5);
}
