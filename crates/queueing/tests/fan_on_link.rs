//! What a cross-protect router measures and decides on a link of 100 Mb/s, against arithmetic.
//!
//! Intervals are those of the papers: 500 ms for the fair rate, 50 ms for the priority load.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use crate::common::{rate, resolve};
use spillgate_core::{DropReason, Drops, Dur, Packet, Rate, Rng, Time};
use spillgate_queueing::{AdmissionState, Discipline, Wait};

const CAPACITY: f64 = 100e6;
const MS: u64 = 1_000_000_000;
/// A tick of the fair rate in picoseconds.
const TICK: u64 = 500 * MS;

/// Who sends; its flow is its place in the list.
#[derive(Clone, Copy)]
enum Source {
    /// Packets of `len` bytes at `rate` bit/s from `start` ps on.
    Constant { len: u16, rate: f64, start: u64 },
    /// Keeps five packets of 1000 bytes waiting from `start` ps on until it has sent `packets`. A
    /// refused packet is sent again a second later.
    Greedy { packets: u32, start: u64 },
}

fn greedy() -> Source {
    Source::Greedy {
        packets: u32::MAX,
        start: 0,
    }
}

/// A stream of a call, the `i`-th of those that share 10 ms evenly by `n`.
fn stream(i: u64, n: u64) -> Source {
    Source::Constant {
        len: 100,
        rate: 80e3,
        start: 10 * MS * i / n,
    }
}

/// `n` flows of 100-byte packets with `mbps` together, evenly spread.
fn constant(n: u64, mbps: f64) -> impl Iterator<Item = Source> {
    let rate = mbps * 1e6 / n as f64;
    let gap = 800.0 / rate * 1e12;
    (0..n).map(move |i| Source::Constant {
        len: 100,
        rate,
        start: (gap * i as f64 / n as f64) as u64,
    })
}

struct Link {
    discipline: Discipline,
    rate: Rate,
    sources: Vec<Source>,
    next: BinaryHeap<Reverse<(u64, u32, u32)>>,
    sent: Vec<u32>,
    refused: Vec<u32>,
    /// The end of the transmission, and its flow.
    wire: Option<(u64, u32)>,
    rng: Rng,
    drops: Drops,
}

impl Link {
    fn new(fan: &str, sources: Vec<Source>) -> Self {
        let json = format!(r#"{{"main": {{"fan": {fan}}}}}"#);
        let (recipe, _) = resolve(&json, CAPACITY as u64).unwrap_or_else(|e| panic!("{e}"));
        let mut next = BinaryHeap::new();
        for (flow, source) in (0..).zip(&sources) {
            match *source {
                Source::Constant { start, .. } => next.push(Reverse((start, flow, 0))),
                Source::Greedy { start, .. } => {
                    (0..5).for_each(|i| next.push(Reverse((start, flow, i))));
                }
            }
        }
        Self {
            discipline: recipe.build(&Arc::from([])),
            rate: rate(CAPACITY as u64),
            next,
            sent: vec![0; sources.len()],
            refused: vec![0; sources.len()],
            sources,
            wire: None,
            rng: Rng::from_key(1),
            drops: Drops::new(),
        }
    }

    /// Works until `end` ps.
    fn run(&mut self, end: u64) -> AdmissionState {
        loop {
            let arrival = self.next.peek().map_or(u64::MAX, |Reverse((at, ..))| *at);
            let departure = self.wire.map_or(u64::MAX, |(at, _)| at);
            if arrival.min(departure) > end {
                break;
            }
            if departure <= arrival {
                if let Some((_, flow)) = self.wire.take() {
                    self.again(departure, flow);
                }
                self.send(departure);
            } else if let Some(Reverse((at, flow, number))) = self.next.pop() {
                self.arrive(at, flow, number);
                if self.wire.is_none() {
                    self.send(at);
                }
            }
        }
        let state = self.discipline.admission(Time::from_ps(end));
        state.expect("a cross-protect router")
    }

    /// A greedy flow replaces what has left.
    fn again(&mut self, at: u64, flow: u32) {
        if let Source::Greedy { packets, .. } = self.sources[flow as usize] {
            if self.sent[flow as usize] < packets {
                self.next.push(Reverse((at, flow, 0)));
            }
        }
    }

    fn arrive(&mut self, at: u64, flow: u32, number: u32) {
        let len = match self.sources[flow as usize] {
            Source::Constant { len, rate, start } => {
                let gap = 8.0 * f64::from(len) / rate * 1e12;
                let next = start + (gap * f64::from(number + 1)).round() as u64;
                self.next.push(Reverse((next, flow, number + 1)));
                len
            }
            Source::Greedy { .. } => 1000,
        };
        let seq = self.sent[flow as usize];
        self.sent[flow as usize] += 1;
        let (now, packet) = (Time::from_ps(at), Packet::new(flow, seq, len));
        self.discipline
            .enqueue(now, packet, &mut self.rng, &mut self.drops);
        for lost in self.drops.as_slice() {
            assert_eq!(lost.reason, DropReason::Admission);
            self.refused[flow as usize] += 1;
            if let Source::Greedy { .. } = self.sources[flow as usize] {
                self.next.push(Reverse((at + 1000 * MS, flow, 0)));
            }
        }
        self.drops.clear();
    }

    fn send(&mut self, at: u64) {
        let now = Time::from_ps(at);
        let packet = self.discipline.dequeue(now, &mut self.rng, &mut self.drops);
        if let Some(packet) = packet {
            let end = now + self.rate.tx_time(packet.len);
            self.wire = Some((end.as_ps(), packet.flow));
        }
    }

    fn waits(&self, at: u64) -> Vec<Wait> {
        self.discipline.waits(Time::from_ps(at))
    }
}

/// Both schedulers, and no limit that would make the link congested.
const OPEN: [&str; 3] = [
    r#"{"scheduler": {"pfq": {}}, "min_fair_rate": "1 b/s", "max_priority_load": "100 %"}"#,
    r#"{"scheduler": {"pdrr": {}}, "min_fair_rate": "1 b/s", "max_priority_load": "100 %"}"#,
    r#"{"scheduler": {"pdrr": {"mode": "literal"}}, "min_fair_rate": "1 b/s", "max_priority_load": "100 %"}"#,
];

fn near(found: f64, expected: f64, within: f64, what: &str) {
    assert!(
        (found - expected).abs() <= within,
        "{what}: {found}, not {expected} within {within}"
    );
}

/// E1: an idle link has its capacity to give and no priority load, at ticks and between them.
#[test]
fn an_idle_link() {
    for fan in OPEN {
        let mut link = Link::new(fan, vec![]);
        for ms in [0, 1, 50, 499, 500, 501, 100_000] {
            let state = link.run(ms * MS);
            assert_eq!((state.fair_rate, state.priority_load), (CAPACITY, 0.0));
            assert!(!state.congested);
        }
    }
}

/// E2: constant traffic leaves the rest. A packet more or less in an interval is 1.6 kb/s of the
/// fair rate, and of 100 flows each may have one: 0.16 of a percent; they are spread, so that no
/// more than a few do.
#[test]
fn constant_traffic_leaves_the_rest() {
    for fan in OPEN {
        for x in [10.0, 30.0, 65.0] {
            let mut link = Link::new(fan, constant(100, x).collect());
            let mut loads = Vec::new();
            for tick in 1..=60 {
                let state = link.run(tick * 50 * MS);
                near(state.priority_load, x / 100.0, 0.003, "one interval");
                loads.push(state.priority_load);
                if tick % 10 == 0 {
                    near(state.fair_rate, (100.0 - x) * 1e6, 0.05e6, fan);
                }
            }
            let mean = loads.iter().sum::<f64>() / loads.len() as f64;
            near(mean, x / 100.0, 0.0005, "mean of the priority load");
        }
    }
}

/// E3: with n greedy flows the fair rate is 1/n, to the resolution: a packet (PFQ) or a
/// quantum (PDRR) of up to 1500 bytes in half a second is 24 kb/s.
#[test]
fn greedy_flows_share() {
    for fan in OPEN {
        for n in [1, 2, 5, 10, 20, 50, 100] {
            let mut link = Link::new(fan, vec![greedy(); n]);
            link.run(TICK);
            for tick in 2..=5 {
                let state = link.run(tick * TICK);
                near(state.fair_rate, CAPACITY / n as f64, 24e3, fan);
                assert_eq!(state.priority_load, 0.0);
            }
        }
    }
}

/// E4: twenty calls and twenty greedy flows: each call has 80 kb/s, the rest is shared.
#[test]
fn calls_and_greedy_flows() {
    for fan in OPEN {
        let calls = (0..20).map(|i| stream(i, 20));
        let mut link = Link::new(fan, calls.chain([greedy(); 20]).collect());
        link.run(TICK);
        for tick in 2..=6 {
            let state = link.run(tick * TICK);
            near(state.fair_rate, (100e6 - 1.6e6) / 20.0, 24e3, fan);
            near(state.priority_load, 0.016, 0.0005, fan);
        }
    }
}

/// E5: rounds of priority packets alone are no service of the fictitious flow: a link that is 70 %
/// full of them has 30 % left, and the fair rate is never above the capacity.
#[test]
fn priority_alone_is_no_service() {
    for fan in OPEN {
        let mut link = Link::new(fan, constant(200, 70.0).collect());
        for tick in 1..=6 {
            let state = link.run(tick * TICK);
            assert!(state.fair_rate <= 30.1e6, "{fan}: {}", state.fair_rate);
            assert!(state.fair_rate >= 29.9e6, "{fan}: {}", state.fair_rate);
        }
    }
}

/// E6: idle for half an interval, shared by ten in the other half: 50 Mb/s, the larger of the two,
/// not the sum. 3125 packets of 1000 bytes take exactly 250 ms.
#[test]
fn the_larger_of_two_not_the_sum() {
    for fan in OPEN {
        let mut sources = vec![
            Source::Greedy {
                packets: 312,
                start: 0
            };
            10
        ];
        for source in &mut sources[..5] {
            *source = Source::Greedy {
                packets: 313,
                start: 0,
            };
        }
        let mut link = Link::new(fan, sources);
        let state = link.run(TICK);
        assert_eq!(state.fair_rate, 50e6, "{fan}");
        assert_eq!(link.sent.iter().sum::<u32>(), 3125);
        // E7: and then it is idle, at the following ticks and at those nobody asks for.
        for tick in [2, 3, 4, 40] {
            assert_eq!(link.run(tick * TICK).fair_rate, CAPACITY);
        }
    }
}

/// E7: an idle period over several ticks that ends within an interval.
#[test]
fn idle_over_several_ticks() {
    for fan in OPEN {
        let start = 3 * TICK + TICK / 2;
        let mut link = Link::new(
            fan,
            vec![
                Source::Greedy {
                    packets: u32::MAX,
                    start
                };
                10
            ],
        );
        for tick in 1..=3 {
            assert_eq!(link.run(tick * TICK).fair_rate, CAPACITY);
        }
        assert_eq!(link.run(4 * TICK).fair_rate, 50e6);
        near(link.run(5 * TICK).fair_rate, 10e6, 24e3, fan);
    }
}

const BASIC: [&str; 2] = [
    r#"{"scheduler": {"pfq": {}}}"#,
    r#"{"scheduler": {"pdrr": {}}}"#,
];

/// A5: between 19 and 20 greedy flows, one accepted call and more: 4.92 Mb/s are too little.
#[test]
fn the_boundary_lies_between_19_and_20_greedy_flows() {
    for fan in BASIC {
        for (n, congested) in [(19, false), (20, true)] {
            let calls = (0..20).map(|i| stream(i, 20));
            let sources = calls.chain(vec![greedy(); n]).collect();
            let mut link = Link::new(fan, sources);
            link.run(TICK);
            for tick in 2..=8 {
                let state = link.run(tick * TICK);
                assert_eq!(state.congested, congested, "{fan}, {n}, tick {tick}");
                assert_eq!(state.listed, 20 + n as u32);
            }
        }
    }
}

/// A6: above 70 % priority load a new flow is refused, below it is not.
#[test]
fn too_much_priority_refuses_new_flows() {
    for fan in BASIC {
        for (mbps, admitted) in [(69.0, true), (71.0, false)] {
            let mut sources: Vec<Source> = constant(100, mbps).collect();
            sources.push(Source::Constant {
                len: 100,
                rate: 80e3,
                start: 1003 * MS,
            });
            let mut link = Link::new(fan, sources);
            let end = 1200 * MS;
            let state = link.run(end);
            assert_eq!(state.congested, !admitted, "{fan}, {mbps} Mb/s");
            let waits = link.waits(end);
            assert_eq!(waits.len(), 101);
            let last = waits.iter().find(|w| w.flow == 100).unwrap();
            assert_eq!(last.admitted.is_some(), admitted, "{fan}, {mbps} Mb/s");
            assert!(
                waits
                    .iter()
                    .filter(|w| w.flow < 100)
                    .all(|w| w.refused == 0)
            );
        }
    }
}

/// A1, A2, A13: under 25 greedy flows calls are refused; when enough have ended, the next tick of
/// the fair rate opens the link, and each call is in with its next packet. What is listed is
/// never refused.
#[test]
fn calls_are_admitted_right_after_a_tick() {
    for fan in BASIC {
        // About 6.25 s for 25 flows of 3125 packets each.
        let transfers = [Source::Greedy {
            packets: 3125,
            start: 0,
        }; 25];
        let calls = (0..20).map(|i| match stream(i, 20) {
            Source::Constant { len, rate, start } => Source::Constant {
                len,
                rate,
                start: start + 3017 * MS,
            },
            other => other,
        });
        let mut link = Link::new(fan, transfers.into_iter().chain(calls).collect());
        let mut opened = None;
        for tick in 1..=20 {
            let congested = link.run(tick * TICK).congested;
            // Between two ticks nothing changes.
            assert_eq!(link.run(tick * TICK + TICK / 2).congested, congested);
            assert_eq!(link.run((tick + 1) * TICK - 1).congested, congested);
            if tick * TICK > 3100 * MS && !congested && opened.is_none() {
                opened = Some(tick * TICK);
            }
        }
        let opened = opened.expect("the transfers end");
        assert!(opened > 5000 * MS);
        let waits = link.waits(21 * TICK);
        assert_eq!(waits.len(), 45);
        for w in waits {
            if w.flow < 25 {
                assert_eq!((w.refused_total, link.refused[w.flow as usize]), (0, 0));
                continue;
            }
            let admitted = w.admitted.expect("all are admitted").as_ps();
            // A packet that comes with the tick sees what it has measured: one call's does.
            assert!(admitted >= opened, "{fan}, call {}", w.flow);
            assert!(admitted < opened + 10 * MS, "{fan}, call {}", w.flow);
            // One packet in 10 ms from the first to the admitted one.
            let waited = Dur::from_ps(admitted - w.offered.as_ps());
            assert_eq!(w.refused, waited.as_ps() / (10 * MS));
            assert_eq!(w.refused, u64::from(link.refused[w.flow as usize]));
        }
    }
}
