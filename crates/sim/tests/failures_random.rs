//! Random networks whose links fail at random: every packet is accounted for, and nothing depends
//! on how the run is driven.

use crate::common::{self, outcome, plain, tapped};
use std::fmt::Write;
use std::sync::Arc;

use proptest::prelude::*;
use spillgate_core::testkit::effort;
use spillgate_events::{Heap4, WinnerTree};
use spillgate_measure::table::{Metric, Scope};
use spillgate_scenario::plan::Plan;
use spillgate_sim::{Outcome, Stop, World, layout};

/// A link beside the ring, or of it.
#[derive(Clone, Debug)]
struct Link {
    ends: (usize, usize),
    rate_mbps: u32,
    delay_us: u32,
    policy: usize,
    /// Times in units of 50 ms, so that several things happen at one instant.
    down_up: Vec<u32>,
    for_ever: bool,
}

/// The first are FIFOs, whose departures and losses are computed.
const POLICIES: [&str; 10] = [
    "{fifo: {limit: 20 packets}}",
    "{fifo: {limit: 3 packets}}",
    "{fifo: {limit: 40 kB}}",
    "{fifo: {limit: 50 packets, aqm: {red: {}}}}",
    "{wfq: {}}",
    "{flow-wfq: {}}",
    "{class-based: {classes: [{name: p, match: {dscp: ef}, priority: {rate: 20 %}}, {name: class-default, fair_queue: {}}]}}",
    "{class-based: {classes: [{name: class-default, shape: {rate: 50 %}, queue_limit: 20 packets}]}}",
    "{class-based: {classes: [{name: s, match: {dscp: ef}, bandwidth: 30 %, shape: {rate: 20 %}, policy: INNER}]}}",
    "{class-based: {classes: [{name: x, match: {dscp: ef}, bandwidth: 50 %, aqm: {wred: {}}}]}}",
];

const FIFOS: usize = 3;

const TRAFFIC: [&str; 13] = [
    "source: {cbr: {rate: 3 Mb/s, packet: 1500 B, phase: 0 s}}",
    "dscp: ef, source: {poisson: {rate: 2 Mb/s, packet: imix}}",
    "source: {on-off: {peak: 10 Mb/s, packet: 1000 B, on: 20 ms, off: 50 ms}}",
    "bytes: 300 kB, tcp: {profile: linux}",
    "dscp: ef, bytes: 1 MB, tcp: {profile: ns2, cc: {newreno: {}}}",
    "count: 2, tcp: {send_jitter: 1 ms, max_window: 20 kB}",
    "arrivals: {poisson: {gap: 40 ms}}, session: {transfer: {size: {fixed: 20 kB}}}, tcp: {profile: ns2, send_jitter: 5 ms}, active: 6",
    "arrivals: {poisson: {gap: 50 ms}}, session: {transfer: {size: {pareto: {mean: 5 kB, shape: 1.3, max: 1 MB}}}}, tcp: {profile: linux}, active: 40",
    "dscp: ef, arrivals: {fixed: {gap: 100 ms, count: 15}}, session: {request-response: {request: {fixed: 100 B}, response: {fixed: 4000 B}, requests: 3}}, tcp: {profile: ns2}",
    "arrivals: {poisson: {gap: 20 ms}}, session: {transfer: {size: {fixed: 9 kB}}}, tcp: {profile: ns2}, active: 6",
    "arrivals: {fixed: {gap: 30 ms}}, session: {transfer: {size: {fixed: 600 B}}}, tcp: {profile: ns2, max_window: 500 kB}, active: 3",
    "arrivals: {fixed: {gap: 20 ms}}, session: {transfer: {size: {fixed: 3 kB}}}, tcp: {profile: ns2, handshake: true, initial_window: 1, min_rto: 100 ms, retry: {constant: 70 ms}}, active: 12",
    "dscp: ef, arrivals: {poisson: {gap: 60 ms}}, session: {transfer: {size: {pareto: {mean: 8 kB, shape: 1.3, max: 1 MB}}}}, tcp: {profile: ns2, handshake: true, syn_retries: 1, retries: 2}, active: 5",
];

#[derive(Clone, Debug)]
struct Net {
    nodes: usize,
    links: Vec<Link>,
    flows: Vec<(usize, usize, usize)>,
    /// Flows end at hosts of their own behind the nodes, and every other begins at one.
    hosts: bool,
    /// Links between nodes lead one way, so that answers come another.
    one_way: bool,
    reroute_ms: u32,
}

fn net(kinds: usize, policies: usize) -> impl Strategy<Value = Net> {
    let link = (
        (0_usize..6, 0_usize..6),
        prop_oneof![Just(1_u32), Just(10), Just(100)],
        prop_oneof![Just(0_u32), 1_u32..30_000],
        0..policies,
        prop::collection::btree_set(0_u32..30, 0..6),
        any::<bool>(),
    )
        .prop_map(
            |(ends, rate_mbps, delay_us, policy, times, for_ever)| Link {
                ends,
                rate_mbps,
                delay_us,
                policy,
                down_up: times.into_iter().collect(),
                for_ever,
            },
        );
    (
        3_usize..6,
        prop::collection::vec(link, 6..12),
        prop::collection::vec((0_usize..6, 0_usize..6, 0..kinds), 1..7),
        any::<bool>(),
        prop::bool::weighted(0.3),
        prop_oneof![Just(0_u32), Just(50), 1_u32..400],
    )
        .prop_map(|(nodes, links, flows, hosts, one_way, reroute_ms)| Net {
            nodes,
            links,
            flows,
            hosts,
            one_way,
            reroute_ms,
        })
}

/// Node `to` of `n`, or the next if that is where it comes from.
fn other(from: usize, to: usize, n: usize) -> usize {
    if from == to { (to + 1) % n } else { to }
}

impl Net {
    /// The first links make a ring, so that every node reaches every other while all are up.
    fn yaml(&self) -> String {
        let n = self.nodes;
        let mut out = String::from("schema_version: 1\ntopology:\n  nodes: [");
        (0..n).for_each(|i| write!(out, "n{i},").unwrap());
        let hosts = if self.hosts { self.flows.len() } else { 0 };
        (0..hosts).for_each(|i| write!(out, "h{i}, s{i},").unwrap());
        out += "]\n  links:\n";
        for (i, (from, to, _)) in self.flows.iter().enumerate().take(hosts) {
            let (from, to) = (from % n, other(from % n, to % n, n));
            let mut link = |name: char, node, rate, delay: u32| {
                writeln!(
                    out,
                    "    {name}{i}: {{from: n{node}, to: {name}{i}, rate: {rate} Mb/s, delay: {delay} us, duplex: true}}"
                )
                .unwrap();
            };
            link('h', to, [10, 100][i % 2], [0, 300, 5000][i % 3]);
            link('s', from, 100, [300, 5000][i / 2 % 2]);
        }
        let mut failures = String::new();
        for (i, l) in self.links.iter().enumerate() {
            let (from, to) = if i < n {
                (i, (i + 1) % n)
            } else {
                (l.ends.0 % n, l.ends.1 % n)
            };
            if from == to {
                continue;
            }
            writeln!(
                out,
                "    l{i}: {{from: n{from}, to: n{to}, rate: {} Mb/s, delay: {} us, overhead: {}, policy: P{}{}, duplex: {}}}",
                l.rate_mbps, l.delay_us, common::overhead(l.delay_us as usize + l.policy), l.policy, common::ring(l.delay_us as usize / 7 + 5 * l.policy), !self.one_way
            )
            .unwrap();
            for times in l.down_up.chunks(2) {
                let repair = match times {
                    [_, up] => format!(", repair: {} ms", 50 * up),
                    _ if l.for_ever => String::new(),
                    _ => continue,
                };
                let at = 50 * times[0];
                writeln!(failures, "    - {{link: l{i}, at: {at} ms{repair}}}").unwrap();
            }
        }
        // The links of hosts, too, in some.
        let soon = |l: &Link| l.down_up.first().is_some_and(|at| *at < 30);
        if self.links.iter().any(soon) && self.reroute_ms % 4 == 0 {
            let times = [('h', 300, 600), ('s', 450, 500)];
            for (i, (name, at, up)) in (0..hosts.min(2)).zip(times) {
                writeln!(
                    failures,
                    "    - {{link: {name}{i}, at: {at} ms, repair: {up} ms}}"
                )
                .unwrap();
            }
        }
        if !failures.is_empty() {
            write!(out, "  failures:\n{failures}").unwrap();
        }
        let reroute = self.reroute_ms;
        write!(out, "  routing: {{convergence: {reroute} ms}}\npolicies:\n  INNER: {{class-based: {{classes: [{{name: y, match: {{dscp: ef}}, bandwidth: 10 %}}]}}}}\n").unwrap();
        let used = |i| {
            let mut links = self.links.iter().enumerate();
            links.any(|(j, l)| l.policy == i && (j < n || l.ends.0 % n != l.ends.1 % n))
        };
        for (i, policy) in POLICIES.iter().enumerate().filter(|(i, _)| used(*i)) {
            writeln!(out, "  P{i}: {policy}").unwrap();
        }
        out += "traffic:\n";
        for (i, (from, to, kind)) in self.flows.iter().enumerate() {
            let (begin, end) = (from % n, other(from % n, to % n, n));
            let from = match self.hosts && i % 2 == 1 {
                true => format!("s{i}"),
                false => format!("n{begin}"),
            };
            let to = match self.hosts {
                true => format!("h{i}"),
                false => format!("n{end}"),
            };
            // The rest of the run is for what waits: some seconds at most.
            let stop = if [3, 4].contains(kind) {
                ""
            } else {
                "stop: 2 s, "
            };
            let entry = if *kind < 6 { "flow" } else { "sessions" };
            let what = TRAFFIC[*kind];
            writeln!(
                out,
                "  - {entry}: {{name: f{i}, from: {from}, to: {to}, {stop}{what}}}"
            )
            .unwrap();
        }
        out += "measurement: {warmup: 0 s, duration: 30 s, interval: 50 ms, percentiles: [backlog]}\nruns: {count: 1, seed: 3}\n";
        out
    }

    fn plan(&self) -> Arc<Plan> {
        common::plan(&self.yaml())
    }
}

/// The sum over all things of a scope.
fn sum(plan: &Plan, of: &Outcome, scope: Scope, metric: Metric) -> f64 {
    let layout = layout(&plan.variants[0].world);
    let keys = layout.keys.iter().zip(&of.values);
    keys.filter(|(k, _)| k.scope == scope && k.metric == metric)
        .map(|(_, v)| v)
        .sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256 * effort()))]

    /// Sent is received plus lost, for every flow; what flows lose at links that are down is what
    /// the queues of these say.
    #[test]
    fn every_packet_is_accounted_for(net in net(3, POLICIES.len())) {
        let plan = net.plan();
        let of = outcome::<WinnerTree>(&plan, u64::MAX);
        let layout = layout(&plan.variants[0].world);
        for f in &plan.variants[0].world.flows {
            let value = |metric| {
                let mut keys = layout.keys.iter().zip(&of.values);
                let found = keys.find(|(k, _)| {
                    k.scope == Scope::Flow && k.metric == metric && layout.name(k) == &*f.name
                });
                *found.expect("a value").1
            };
            let lost: f64 = spillgate_core::DropReason::ALL.iter().map(|r| value(Metric::drops(*r))).sum();
            prop_assert_eq!(value(Metric::Unresolved), 0.0);
            prop_assert_eq!(value(Metric::PacketsSent), value(Metric::PacketsReceived) + lost);
        }
        // Nothing is sent or fails near the end of the period, so both tables see the same.
        prop_assert_eq!(
            sum(&plan, &of, Scope::Flow, Metric::DropsLinkDown),
            sum(&plan, &of, Scope::Queue, Metric::DropsLinkDown)
        );
        for (key, value) in layout.keys.iter().zip(&of.values) {
            if key.metric == Metric::Utilization {
                prop_assert!((0.0..=1.0).contains(value), "{} {}", layout.name(key), value);
            }
        }
    }

    /// Connections too: they end or give up, and every segment arrives or is lost.
    #[test]
    fn event_sets_pauses_and_observers_change_nothing(net in net(TRAFFIC.len(), POLICIES.len())) {
        let plan = net.plan();
        let of = same_however_driven(&plan)?;
        prop_assert_eq!(sum(&plan, &of, Scope::Flow, Metric::Unresolved), 0.0);
    }

    /// Receivers answer when packets are sent to them, but for what arrives after an
    /// edge of the measured period.
    #[test]
    fn to_answer_ahead_changes_nothing(net in net(TRAFFIC.len(), POLICIES.len()), warmup in 0_u32..1500) {
        let mut net = net;
        net.links.iter_mut().for_each(|l| l.down_up.clear());
        net.hosts = true;
        let measured = format!("warmup: {warmup} ms, duration: 700 ms");
        let yaml = net.yaml().replace("warmup: 0 s, duration: 30 s", &measured);
        same_however_driven(&common::plan(&yaml))?;
    }

    /// Without somebody who looks almost everything in a world of FIFOs is worked out ahead.
    #[test]
    fn to_work_ahead_changes_nothing(net in net(TRAFFIC.len(), FIFOS)) {
        let plan = net.plan();
        let of = same_however_driven(&plan)?;
        prop_assert_eq!(sum(&plan, &of, Scope::Flow, Metric::Unresolved), 0.0);
    }
}

/// Fingerprint and values of a run are the same with other event sets, with pauses, between the
/// samples of an observer, and with a tap, for which nothing is worked out ahead.
fn same_however_driven(plan: &Plan) -> Result<Outcome, TestCaseError> {
    let reference = outcome::<WinnerTree>(plan, u64::MAX);
    let bits = |o: &Outcome| o.values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    for (other, what) in [
        (outcome::<Heap4>(plan, u64::MAX), "event set"),
        (outcome::<WinnerTree>(plan, 77), "pauses"),
        (common::same_series(plan, 3), "observer"),
        (tapped(plan), "tap"),
        (plain(plan), "plain engine"),
    ] {
        prop_assert_eq!(&other.digest, &reference.digest, "{}", what);
        prop_assert_eq!(other.packets, reference.packets, "{}", what);
        // Who looks has more to wake.
        if ["event set", "pauses"].contains(&what) {
            prop_assert_eq!(other.events, reference.events, "{}", what);
        }
        prop_assert_eq!(bits(&other), bits(&reference), "{}", what);
    }
    Ok(reference)
}

/// The plan of a network that is written down.
fn fixed(nodes: &str, links: &str, traffic: &str, measurement: &str) -> Arc<Plan> {
    common::plan(&format!(
        "schema_version: 1\ntopology:\n  nodes: [{nodes}]\n  links:{links}\ntraffic:\n{traffic}\
         measurement: {{{measurement}, interval: 50 ms, percentiles: [backlog]}}\nruns: {{count: 1, seed: 3}}\n"
    ))
}

/// Hosts whose answers share a link with what comes later: packets of another way to it, and
/// packets that pass it; and nodes that others pass on their way, over a link with other packets,
/// or where links fail. Senders with hosts of their own: one whose segments lead to their
/// acknowledgments at once, and two that meet.
#[test]
fn answers_keep_their_order_with_others() {
    let two_ways = "
    up: {from: a, to: d, rate: 10 Mb/s, delay: 20 ms}
    short: {from: b, to: d, rate: 3 Mb/s, delay: 100 us}
    back: {from: d, to: a, rate: 300 kb/s, delay: 1 ms}
    across: {from: a, to: b, rate: 10 Mb/s, delay: 1 ms}";
    let passed_by = "
    down: {from: b, to: d, rate: 10 Mb/s, delay: 20 ms}
    on: {from: d, to: b, rate: 300 kb/s, delay: 1 ms}
    side: {from: a, to: d, rate: 10 Mb/s, delay: 1 ms}";
    let passed_aside = "
    down: {from: b, to: d, rate: 10 Mb/s, delay: 20 ms}
    on: {from: d, to: b, rate: 300 kb/s, delay: 1 ms}
    third: {from: a, to: d, rate: 10 Mb/s, delay: 1 ms}
    aside: {from: d, to: e, rate: 3 Mb/s, delay: 1 ms}";
    let one_way = "
    down: {from: b, to: d, rate: 10 Mb/s, delay: 20 ms}
    on: {from: d, to: e, rate: 300 kb/s, delay: 1 ms}
    spare: {from: a, to: b, rate: 300 kb/s, delay: 1 ms}
  failures: [{link: spare, at: 2 s}]";
    let alone = "
    out: {from: a, to: b, rate: 10 Mb/s, delay: 2 ms, duplex: true}
    on: {from: b, to: d, rate: 300 kb/s, delay: 20 ms, duplex: true}";
    let meeting = "
    left: {from: a, to: b, rate: 10 Mb/s, delay: 1 ms, duplex: true}
    right: {from: e, to: b, rate: 10 Mb/s, delay: 3 ms, duplex: true}
    on: {from: b, to: d, rate: 300 kb/s, delay: 20 ms, duplex: true}";
    let tcp = |name, from| {
        format!("  - flow: {{name: {name}, from: {from}, to: d, tcp: {{profile: ns2}}}}\n")
    };
    let passing =
        "  - flow: {name: q, from: a, to: b, source: {poisson: {rate: 100 kb/s, packet: 200 B}}}\n";
    let poisson = |name, from, to| {
        format!(
            "  - flow: {{name: {name}, from: {from}, to: {to}, source: {{poisson: {{rate: 1 Mb/s, packet: 900 B}}}}}}\n"
        )
    };
    let aside = poisson("q", "b", "e") + &poisson("r", "a", "e");
    for (links, flows) in [
        (two_ways, tcp("p", "a") + &tcp("q", "b")),
        (passed_by, tcp("p", "b") + passing),
        (passed_aside, tcp("p", "b") + &aside),
        (one_way, poisson("p", "b", "d") + &poisson("q", "b", "e")),
        (alone, tcp("p", "a")),
        (meeting, tcp("p", "a") + &tcp("q", "e")),
    ] {
        let plan = fixed("a, b, d, e", links, &flows, "warmup: 0 s, duration: 5 s");
        same_however_driven(&plan).expect("the same");
    }
}

/// A dialogue ends at both ends at once, on a ring around which all else goes a long way: what the
/// server then sends is at the next node sooner than any packet could tell it to.
#[test]
fn a_dialogue_ends_at_both_ends_at_once() {
    let plan = fixed(
        "a, b, c, d, client, server, sink",
        "
    k: {from: a, to: sink, rate: 10 Mb/s, delay: 300 us, duplex: true}
    h: {from: d, to: server, rate: 100 Mb/s, delay: 5 ms, duplex: true}
    s: {from: a, to: client, rate: 100 Mb/s, delay: 300 us, duplex: true}
    ab: {from: a, to: b, rate: 10 Mb/s, delay: 30 ms}
    bc: {from: b, to: c, rate: 1 Mb/s, delay: 30 ms}
    cd: {from: c, to: d, rate: 100 Mb/s, delay: 30 ms}
    da: {from: d, to: a, rate: 100 Mb/s, delay: 1 ms}",
        "  - sessions: {name: p, from: b, to: sink, arrivals: {poisson: {gap: 60 ms}}, session: {transfer: {size: {fixed: 8 kB}}}, tcp: {profile: ns2}, active: 5}
  - sessions: {name: q, from: client, to: server, arrivals: {fixed: {gap: 100 ms}}, session: {request-response: {request: {fixed: 100 B}, response: {fixed: 4000 B}, requests: 3}}, tcp: {profile: ns2}, active: 15}\n",
        "warmup: 0 s, duration: 2 s",
    );
    same_however_driven(&plan).expect("the same");
}

/// A handshake over links so slow that the first data arrive when SYN-ACK has been sent again,
/// where what a receiver sends is heeded at once and answered at once: the edge of the measured
/// period has it receive SYN by a wake.
#[test]
fn syn_ack_is_sent_again_before_what_it_leads_to_arrives() {
    let plan = fixed(
        "a, b, d",
        "
    out: {from: a, to: b, rate: 9600 b/s, delay: 1 ms, duplex: true}
    on: {from: b, to: d, rate: 9600 b/s, delay: 1 ms, duplex: true}",
        "  - flow: {name: p, from: a, to: d, start: 1 s, tcp: {profile: ns2, handshake: true, initial_rto: 1 s}}\n",
        "warmup: 1010 ms, duration: 20 s",
    );
    same_however_driven(&plan).expect("the same");
}

/// Where what a sender sends leads to its acknowledgments at once, a run can still be stopped: a
/// wake heeds some thousand of them, not all.
#[test]
fn a_wake_does_not_take_for_ever() {
    let plan = fixed(
        "a, b, d",
        "
    out: {from: a, to: b, rate: 100 Mb/s, delay: 1 ms, duplex: true}
    on: {from: b, to: d, rate: 100 Mb/s, delay: 1 ms, duplex: true}",
        "  - flow: {name: p, from: a, to: d, tcp: {profile: ns2}}\n",
        "warmup: 1 s, duration: 20 s",
    );
    let mut world = World::<WinnerTree>::new(&plan.variants[0].world, plan.seed, 0, false);
    let (mut before, mut most) = (0, 0);
    while world.run(1) != Stop::Done {
        most = most.max(world.hops() - before);
        before = world.hops();
    }
    assert!(before > 500_000, "{before} hops");
    // Two segments of two hops for each acknowledgment, which takes two itself.
    assert!(most < 2 * 6 * 1024, "{most} hops in one wake");
}

/// Failures that never happen within the run change nothing: looking up where to go, and queues
/// that are asked packet by packet since the failures come too late, give the run of compiled paths
/// and computed departures.
#[test]
fn a_world_that_could_fail_runs_like_one_that_cannot() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for _ in 0..40 {
        let tree = net(TRAFFIC.len(), POLICIES.len())
            .new_tree(&mut runner)
            .expect("a net");
        let mut net = proptest::strategy::ValueTree::current(&tree);
        net.links.iter_mut().for_each(|l| l.down_up.clear());
        let never = net.plan();
        net.links.iter_mut().take(net.nodes).for_each(|l| {
            // In 50 ms: after the 30 s of the run.
            l.down_up = vec![1000, 1001];
        });
        let later = net.plan();
        let [never, later] = [&never, &later].map(|p| outcome::<WinnerTree>(p, u64::MAX));
        assert_eq!(never.digest, later.digest, "{net:?}");
        let bits = |o: &Outcome| o.values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&never), bits(&later), "{net:?}");
    }
}

/// The networks above lose packets on the wire, in queues, at links that are down and at nodes
/// without a route; else the properties would say little.
#[test]
fn random_networks_reach_every_fate() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut fates = [0.0; 3];
    for _ in 0..40 {
        let tree = net(3, POLICIES.len()).new_tree(&mut runner).expect("a net");
        let plan = proptest::strategy::ValueTree::current(&tree).plan();
        let of = outcome::<WinnerTree>(&plan, u64::MAX);
        let metrics = [
            Metric::PacketsReceived,
            Metric::DropsLinkDown,
            Metric::DropsUnroutable,
        ];
        for (fate, metric) in fates.iter_mut().zip(metrics) {
            *fate += sum(&plan, &of, Scope::Flow, metric);
        }
    }
    assert!(fates.iter().all(|n| *n > 1000.0), "{fates:?}");
}
