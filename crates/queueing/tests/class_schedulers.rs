//! Schedulers of classes against the same in plain words: tags of every packet at its arrival,
//! lists for turns, exact numbers (shares are powers of two, arrivals whole seconds at 1 B/s).

use std::collections::VecDeque;

use crate::common::{build, packet, rate};
use proptest::prelude::*;
use spillgate_core::testkit::effort;
use spillgate_core::{Packet, Time};
use spillgate_queueing::testkit::Bench;

/// When, to which class, how long.
type Arrival = (u32, usize, u16);

#[derive(Clone, Copy)]
struct Tagged {
    len: f64,
    arrived: f64,
    start: f64,
    finish: f64,
}

/// The class and the end of each packet, in the order in which they leave.
fn plain(scheduler: &str, shares: &[f64], arrivals: &[Arrival]) -> Vec<(usize, u32)> {
    let n = shares.len();
    let smallest = shares.iter().copied().fold(f64::INFINITY, f64::min);
    let mut queues: Vec<VecDeque<Tagged>> = vec![VecDeque::new(); n];
    let mut last = vec![0.0_f64; n];
    let mut deficit = vec![0.0_f64; n];
    let mut round: VecDeque<usize> = VecDeque::new();
    let mut visited = false;
    let (mut v, mut most) = (0.0_f64, 0.0_f64);
    // Start and end of the packet in service.
    let (mut from, mut until) = (0.0_f64, 0.0_f64);
    let mut coming = arrivals.iter().peekable();
    let mut left = Vec::new();
    loop {
        if queues.iter().all(VecDeque::is_empty) {
            match coming.peek() {
                Some((t, ..)) => until = until.max(f64::from(*t)),
                None => return left,
            }
        }
        let now = until;
        while let Some((t, class, len)) = coming.next_if(|(t, ..)| f64::from(*t) <= now) {
            let (t, c, len) = (f64::from(*t), *class, f64::from(*len));
            let idle = t >= until && queues.iter().all(VecDeque::is_empty) || left.is_empty();
            let time = match scheduler {
                "wf2q+" if idle => most.max(v),
                "wf2q+" => v + (t - from).max(0.0),
                "start-time" if idle => most,
                "virtual-clock" => t,
                _ => v,
            };
            if idle {
                (v, from) = (time, t);
            }
            let start = match scheduler {
                // Of the head of a queue only, below.
                "wf2q+" if !queues[c].is_empty() => f64::NAN,
                _ => last[c].max(time),
            };
            let finish = start + len / shares[c];
            if start.is_finite() {
                last[c] = finish;
            }
            if queues[c].is_empty() && !round.contains(&c) {
                round.push_back(c);
                deficit[c] = 0.0;
            }
            queues[c].push_back(Tagged {
                len,
                arrived: t,
                start,
                finish,
            });
        }
        let heads = (0..n).filter(|c| !queues[*c].is_empty());
        let by = |key: &dyn Fn(usize) -> f64, of: &mut dyn Iterator<Item = usize>| {
            of.reduce(|a, b| if key(b) < key(a) { b } else { a })
        };
        let finish = |c: usize| queues[c][0].finish;
        let start = |c: usize| queues[c][0].start;
        let chosen = match scheduler {
            "scfq" | "virtual-clock" => by(&finish, &mut heads.clone()),
            "start-time" => by(&start, &mut heads.clone()),
            "strict" => heads.clone().next(),
            "wf2q+" => {
                if from < until && !left.is_empty() {
                    v += until.min(now) - from;
                }
                v = v.max(heads.clone().map(start).fold(f64::INFINITY, f64::min));
                by(&finish, &mut heads.clone().filter(|c| start(*c) <= v))
            }
            _ => loop {
                let c = round[0];
                let quantum = match scheduler {
                    "drr" => 100.0 * shares[c] / smallest,
                    _ => shares[c] / smallest,
                };
                let Some(head) = queues[c].front() else {
                    round.pop_front();
                    visited = false;
                    continue;
                };
                if !visited {
                    deficit[c] += quantum;
                    visited = true;
                }
                let cost = if scheduler == "drr" { head.len } else { 1.0 };
                if cost <= deficit[c] {
                    deficit[c] -= cost;
                    break Some(c);
                }
                round.rotate_left(1);
                visited = false;
            },
        };
        let Some(c) = chosen else { continue };
        let sent = queues[c].pop_front().unwrap();
        assert!(sent.arrived <= now);
        if queues[c].is_empty() && round.front() == Some(&c) {
            round.pop_front();
            visited = false;
        }
        if scheduler == "wf2q+" {
            if let Some(next) = queues[c].front_mut() {
                next.start = sent.finish;
                next.finish = next.start + next.len / shares[c];
                last[c] = next.finish;
            }
        }
        match scheduler {
            "scfq" => v = sent.finish,
            "start-time" => v = sent.start,
            _ => {}
        }
        most = most.max(sent.finish);
        (from, until) = (now, now + sent.len);
        left.push((c, until as u32));
    }
}

fn ours(scheduler: &str, ratios: &[u32], arrivals: &[Arrival]) -> Vec<(usize, u32)> {
    let quantum = if scheduler == "drr" {
        r#""quantum": "100 B","#
    } else {
        ""
    };
    let class = |(i, ratio): (usize, &u32)| {
        let share = match scheduler {
            "strict" => r#""queue_limit": "1000 packets""#.to_owned(),
            _ => format!(r#""bandwidth_remaining_ratio": {ratio}, "queue_limit": "1000 packets""#),
        };
        let name = if i + 1 == ratios.len() {
            r#""name": "class-default""#.to_owned()
        } else {
            format!(r#""name": "c{i}", "match": {{"dscp": "cs{}"}}"#, i + 1)
        };
        format!("{{{name}, {share}}}")
    };
    let classes: Vec<String> = ratios.iter().enumerate().map(class).collect();
    let json = format!(
        r#"{{"main": {{"class-based": {{"scheduler": "{scheduler}", {quantum} "classes": [{}]}}}}}}"#,
        classes.join(", ")
    );
    let mut bench = Bench::new(build(&json, 8), rate(8));
    for (seq, (t, class, len)) in (0..).zip(arrivals) {
        let dscp = match class + 1 == ratios.len() {
            true => "default".parse().unwrap(),
            false => format!("cs{}", class + 1).parse().unwrap(),
        };
        let p = Packet {
            dscp,
            ..packet(*class as u32, seq, *len)
        };
        bench.arrive(Time::from_secs_f64(f64::from(*t)), p);
    }
    let out = bench.run().departures;
    let end = |t: Time| t.as_secs_f64().round() as u32;
    out.iter()
        .map(|d| (d.packet.flow as usize, end(d.finish)))
        .collect()
}

/// Ratios whose sum makes each share a power of two.
const RATIOS: [&[u32]; 5] = [
    &[1, 1],
    &[1, 1, 2],
    &[4, 2, 1, 1],
    &[1, 2, 1],
    &[1, 1, 1, 1, 4],
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200 * effort()))]

    #[test]
    fn schedulers_of_classes_are_as_in_plain_words(
        which in 0_usize..7,
        ratios in prop::sample::select(&RATIOS[..]),
        drawn in prop::collection::vec((0_u32..150, 0_usize..5, 1_u16..8), 1..80),
        unit in prop::sample::select(vec![40_u16, 64, 100]),
    ) {
        let scheduler = ["scfq", "start-time", "wf2q+", "virtual-clock", "drr", "wrr", "strict"][which];
        let sum: u32 = ratios.iter().sum();
        let shares: Vec<f64> = ratios.iter().map(|r| f64::from(*r) / f64::from(sum)).collect();
        let mut t = 0;
        let arrivals: Vec<Arrival> = drawn.iter().map(|(gap, class, len)| {
            // Bursts, and gaps in which all is sent.
            t += if *gap < 60 { 0 } else { (gap - 60) * 8 };
            (t, class % ratios.len(), len * unit)
        }).collect();
        prop_assert_eq!(ours(scheduler, ratios, &arrivals), plain(scheduler, &shares, &arrivals), "{}", scheduler);
    }

    /// A packet leaves at most so long after it should have arrived, if its class had a line of its
    /// own at its rate: with virtual clocks and WF2Q+ a packet at that rate and the longest on the
    /// line (Figueira and Pasquale 1995; Bennett and Zhang 1997), with SCFQ a packet of each other
    /// class (Golestani 1994), with start-time FQ these and its own on the line (Goyal and others).
    #[test]
    fn schedulers_of_classes_keep_their_delay(
        which in 0_usize..4,
        ratios in prop::sample::select(&RATIOS[..]),
        drawn in prop::collection::vec((0_u32..150, 0_usize..5, 1_u16..8), 1..80),
    ) {
        let scheduler = ["scfq", "start-time", "wf2q+", "virtual-clock"][which];
        let sum: u32 = ratios.iter().sum();
        let mut t = 0;
        let arrivals: Vec<Arrival> = drawn.iter().map(|(gap, class, len)| {
            t += if *gap < 60 { 0 } else { (gap - 60) * 8 };
            (t, class % ratios.len(), len * 50)
        }).collect();
        let longest = |of: &dyn Fn(usize) -> bool| {
            arrivals.iter().filter(|(_, c, _)| of(*c)).map(|a| f64::from(a.2)).fold(0.0, f64::max)
        };
        let mut ends: Vec<VecDeque<u32>> = vec![VecDeque::new(); ratios.len()];
        for (class, end) in ours(scheduler, ratios, &arrivals) {
            ends[class].push_back(end);
        }
        let mut free = vec![0.0_f64; ratios.len()];
        for (t, c, len) in &arrivals {
            let own = f64::from(ratios[*c]) / f64::from(sum);
            let expected = free[*c].max(f64::from(*t));
            free[*c] = expected + f64::from(*len) / own;
            let others: f64 = (0..ratios.len()).filter(|j| j != c).map(|j| longest(&|i| i == j)).sum();
            let bound = match scheduler {
                "scfq" => free[*c] + others,
                "start-time" => expected + f64::from(*len) + others,
                _ => free[*c] + longest(&|_| true),
            };
            let end = f64::from(ends[*c].pop_front().unwrap());
            prop_assert!(end <= bound + 1e-9, "{scheduler} {c}: {end} > {bound}");
        }
    }
}
