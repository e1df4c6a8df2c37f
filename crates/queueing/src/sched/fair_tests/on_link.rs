//! The properties S1 to S17 of the schedulers on a link of 100 Mb/s with a buffer of 1000 packets,
//! an MTU and a quantum of 1500 B. [`Link`] itself checks S1 to S4 and S17 in every test.

use super::PARAMS;
use super::link::{CAPACITY, Link, SECOND, Source};
use super::reference::PlainPfq;
use crate::fan::scheduler::{FairQueue, FairQueueParams, FairScheduler};
use crate::leaf::Bound;
use crate::sched::pfq::Pfq;

const BUFFER: FairQueueParams = FairQueueParams {
    limit: Bound {
        packets: 1000,
        bytes: u64::MAX,
    },
    ..PARAMS
};
const LITERAL: FairQueueParams = FairQueueParams {
    charged: false,
    ..BUFFER
};

fn pfq() -> FairQueue {
    FairQueue::pfq(&BUFFER)
}

fn pdrr() -> FairQueue {
    FairQueue::pdrr(&BUFFER)
}

fn literal() -> FairQueue {
    FairQueue::pdrr(&LITERAL)
}

fn all() -> [(&'static str, FairQueue); 4] {
    [
        ("pfq", pfq()),
        ("pfq, heap", FairQueue::PfqHeap(Box::new(Pfq::new(&BUFFER)))),
        ("pdrr", pdrr()),
        ("pdrr, literal", literal()),
    ]
}

/// Three seconds of these sources.
fn run<Q: FairScheduler>(queue: Q, sources: Vec<Source>) -> Link<Q> {
    let mut link = Link::new(queue, sources);
    link.run(3 * SECOND);
    link
}

fn near(found: f64, expected: f64, within: f64, what: &str) {
    assert!(
        (found - expected).abs() <= within,
        "{what}: {found}, not {expected} within {within}"
    );
}

fn rates(name: &str, link: &Link<impl FairScheduler>, expected: &[f64], within: f64) {
    for (flow, expected) in expected.iter().enumerate() {
        let found = link.rate(flow) / 1e6;
        near(found, *expected, within, &format!("{name}, flow {flow}"));
    }
}

/// The largest difference between what flows 0 and 1 got in any interval.
fn widest_gap(departures: &[(u32, u32)]) -> i64 {
    let (mut ahead, mut least, mut most) = (0_i64, 0, 0);
    for (flow, len) in departures {
        ahead += i64::from(*len) * if *flow == 0 { 1 } else { -1 };
        least = least.min(ahead);
        most = most.max(ahead);
    }
    most - least
}

/// S6 and S7: with two flows of which something always waits, the difference is at most the two
/// longest packets (start-time fair queueing), a quantum and two packets (deficit round robin).
#[test]
fn two_backlogged_flows_stay_together() {
    let pairs = [
        ((1500, 1500), (1500, 1500)),
        ((1500, 40), (1500, 999)),
        ((40, 40), (1500, 1500)),
        ((1, 1500), (1499, 1500)),
    ];
    for (a, b) in pairs {
        for (name, queue) in all() {
            let source = |len| Source::Greedy {
                len,
                window: 400,
                start: 0,
            };
            let mut link = Link::new(queue, vec![source(a), source(b)]);
            // Past the priority that each flow begins with.
            link.run(SECOND / 1000);
            link.reset();
            link.run(SECOND);
            let longest = |(x, y): (u16, u16)| i64::from(x.max(y));
            let bound = match &link.queue {
                FairQueue::Pdrr(_) => 1500 + 2 * longest(a).max(longest(b)),
                _ => longest(a) + longest(b),
            };
            let gap = widest_gap(&link.departures);
            assert!(gap <= bound, "{name}, {a:?} {b:?}: {gap} B above {bound} B");
        }
    }
}

/// S8: equal flows get equal rates: a packet more or less in three seconds is 0.27 % of the share
/// of 1 % that the smallest flows have, and each may be one ahead and one behind.
#[test]
fn equal_flows_get_equal_rates() {
    for n in [1, 2, 10, 20, 50, 100] {
        for (name, queue) in all() {
            let link = run(queue, vec![Source::greedy(1000); n]);
            for flow in 0..n {
                let share = CAPACITY / n as f64;
                let what = format!("{name}, flow {flow} of {n}");
                near(link.rate(flow) / share, 1.0, 0.005, &what);
            }
        }
    }
}

/// S9: neither the length of its packets nor how much more it sends helps a flow.
#[test]
fn neither_length_nor_rate_helps() {
    let source = |i: u32| {
        let len = if i % 2 == 0 { 300 } else { 1500 };
        Source::constant(len, (1.1 + f64::from(i)) * 10e6)
    };
    let sources: Vec<Source> = (0..10).map(source).collect();
    for (name, queue) in all() {
        let link = run(queue, sources.clone());
        if name == "pdrr, literal" {
            // The published rule: who sends a little more than its share gets it.
            let mut expected = [9.89; 10];
            expected[0] = 11.0;
            rates(name, &link, &expected, 0.06);
        } else {
            rates(name, &link, &[10.0; 10], 0.05);
        }
    }
}

/// S10: who sends less than the fair rate gets that, the others share the rest alike.
#[test]
fn overload_is_shared_by_max_min() {
    let sources = [10e6, 25e6, 40e6, 90e6].map(|rate| Source::constant(1000, rate));
    for (name, queue) in all() {
        let link = run(queue, sources.to_vec());
        rates(name, &link, &[10.0, 25.0, 32.5, 32.5], 0.1);
    }
}

/// S11: dropped packets are no service. With tags lost instead of inherited, they would be.
#[test]
fn the_next_packet_inherits_the_tag() {
    let sources = [60e6, 200e6].map(|rate| Source::constant(1000, rate));
    for (name, queue) in all() {
        let link = run(queue, sources.to_vec());
        rates(name, &link, &[50.0, 50.0], 0.1);
    }
    // The plain model is slow: a smaller buffer and half a second do.
    let small = FairQueueParams {
        limit: Bound {
            packets: 100,
            bytes: u64::MAX,
        },
        ..BUFFER
    };
    for (inherits, expected) in [(true, [50.0, 50.0]), (false, [60.0, 40.0])] {
        let mut link = Link::new(PlainPfq::new(small, inherits), sources.to_vec());
        link.run(SECOND / 2);
        link.reset();
        link.run(SECOND);
        let name = format!("inherits: {inherits}");
        rates(&name, &link, &expected, 0.2);
    }
}

/// S12 and S13: a probe at `x` times the fair rate of eleven flows. PFQ gives priority to all of
/// it below the fair rate, and to next to nothing above; both give min(x, 1) of the fair rate.
#[test]
fn priority_ends_at_the_fair_rate() {
    let fair = CAPACITY / 11.0;
    for x in [0.5, 0.8, 0.95, 1.05, 1.2, 2.0] {
        let mut sources = vec![Source::greedy(1000); 10];
        sources.push(Source::constant(1000, x * fair));
        for (name, queue) in [("pfq", pfq()), ("pdrr", pdrr())] {
            let link = run(queue, sources.clone());
            let what = format!("{name}, probe at {x}");
            near(link.rate(10) / 1e6, x.min(1.0) * fair / 1e6, 0.05, &what);
            let share = link.flows[10].priority_share();
            match name {
                "pfq" if x < 1.0 => assert_eq!(share, 1.0, "{what}"),
                "pfq" => assert!(share < 0.01, "{what}: {share} with priority"),
                _ if x < 0.8 => assert_eq!(share, 1.0, "{what}"),
                _ => {}
            }
        }
    }
}

/// What the published mode of PDRR does instead: a queue of one packet that empties at each visit
/// makes the probe new in each round. It must find the others at work: a queue that it builds up
/// at first never empties.
#[test]
fn literal_pdrr_lets_a_probe_exceed_the_fair_rate() {
    let fair = CAPACITY / 11.0;
    for (x, expected) in [(1.05, 9.55), (1.2, 10.91)] {
        let mut sources = vec![Source::greedy(1000); 10];
        sources.push(Source::Constant {
            len: 1000,
            rate: x * fair,
            start: SECOND / 10,
        });
        let mut link = Link::new(literal(), sources);
        link.run(SECOND / 5);
        link.reset();
        link.run(3 * SECOND);
        let what = format!("probe at {x}");
        near(link.rate(10) / 1e6, expected, 0.05, &what);
    }
}

fn stream(start: u64) -> Source {
    Source::Constant {
        len: 100,
        rate: 80e3,
        start,
    }
}

/// S14: streams have priority with every packet, greedy flows with next to none.
#[test]
fn streams_have_priority_and_greedy_flows_do_not() {
    let streams = (0..20).map(|i| stream(i * SECOND / 2000));
    let sources: Vec<Source> = streams.chain([Source::greedy(1000); 20]).collect();
    for (name, queue) in all() {
        let mut link = Link::new(queue, sources.clone());
        link.run(SECOND);
        link.reset();
        link.run(3 * SECOND);
        for flow in &link.flows[..20] {
            assert_eq!((flow.backlog, flow.dropped), (0, 0), "{name}");
            assert_eq!(flow.priority, 200, "{name}");
        }
        for flow in &link.flows[20..] {
            let share = flow.priority_share();
            assert!(share < 0.001, "{name}: {share} with priority");
        }
    }
}

/// S15: a priority packet waits at most for the packet on the wire and those of the other streams.
#[test]
fn priority_packets_wait_for_one_packet_and_each_other() {
    for (len, bound) in [(1000, 240_000), (1500, 280_000)] {
        // After the greedy flows' own priority.
        let streams = [stream(SECOND / 10); 20];
        let greedy = [Source::greedy(len); 20];
        let sources: Vec<Source> = streams.into_iter().chain(greedy).collect();
        for (name, queue) in all() {
            let link = run(queue, sources.clone());
            let worst = link.flows[..20].iter().map(|f| f.delay).max();
            assert!(worst <= Some(bound), "{name}: {worst:?} ns above {bound}");
        }
    }
}

/// S16: flows that begin together may each send an MTU and a packet first.
#[test]
fn flows_that_begin_together_delay_priority_packets_little() {
    let elastic = Source::Greedy {
        len: (1000, 1000),
        window: 5,
        start: SECOND,
    };
    let sources: Vec<Source> = [stream(0); 20].into_iter().chain([elastic; 20]).collect();
    // 240 µs and 20 times 2500 B at 80 ns.
    let bound = 240_000 + 4_000_000;
    for (name, queue) in all() {
        let link = run(queue, sources.clone());
        let worst = link.flows[..20].iter().map(|f| f.delay).max();
        assert!(worst <= Some(bound), "{name}: {worst:?} ns above {bound}");
    }
}
