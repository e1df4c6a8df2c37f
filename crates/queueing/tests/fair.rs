//! Packet fair queueing by flow against the same in plain words: one list of flows, whole numbers,
//! and nothing but scans.

use std::collections::VecDeque;

use crate::common::{build, packet, rate};
use proptest::prelude::*;
use spillgate_core::testkit::effort;
use spillgate_core::{Dscp, Packet, Time};
use spillgate_queueing::testkit::{Bench, Outcome};

/// When, of which flow, how long.
type Arrival = (u32, usize, u16);

/// Weights, by flow, that are powers of two: tags are exact.
const WEIGHTS: [u64; 6] = [1, 2, 4, 8, 1, 2];
/// A sum of weights that is one, too, and not less than theirs.
const SUM: u64 = 32;
/// Units of a byte per weight.
const UNITS: u64 = 1 << 20;
const SECOND: u64 = 1_000_000_000_000;

const TAGGED: [&str; 5] = ["scfq", "start-time", "wf2q+", "virtual-clock", "qfq"];

#[derive(Clone, Default)]
struct Flow {
    queue: VecDeque<(u64, u64)>,
    /// Where its next packet starts.
    start: u64,
    /// When it came to its bucket, as a count of such events.
    since: u64,
    /// Whether its weight counts.
    placed: bool,
}

struct Plain<'a> {
    scheduler: &'a str,
    flows: Vec<Flow>,
    least_sum: u64,
    v: u64,
    growth: u64,
    carry: u64,
    events: u64,
    /// Begin and end of the packet in service.
    service: (u64, u64),
}

/// The slot size of a flow under QFQ, for packets of 1500 B.
fn slot(weight: u64) -> u64 {
    let least = 1500_u64.div_ceil(weight);
    (0..).map(|k| 1 << k).find(|s| *s >= least).unwrap() * UNITS
}

impl Plain<'_> {
    fn waiting(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.flows.len()).filter(|f| !self.flows[*f].queue.is_empty())
    }

    /// Where the first packet of a flow finishes.
    fn finish(&self, f: usize, (arrived, len): (u64, u64)) -> u64 {
        let start = self.flows[f].start;
        match self.scheduler {
            "virtual-clock" => {
                start.max(arrived * SECOND) + len * SECOND * self.least_sum / WEIGHTS[f]
            }
            _ => start + len * UNITS / WEIGHTS[f],
        }
    }

    /// Groups with flows: slot size and rounded start.
    fn groups(&self) -> Vec<(u64, u64)> {
        let mut groups: Vec<(u64, u64)> = Vec::new();
        for f in self.waiting() {
            let size = slot(WEIGHTS[f]);
            let start = self.flows[f].start / size * size;
            match groups.iter_mut().find(|g| g.0 == size) {
                Some(group) => group.1 = group.1.min(start),
                None => groups.push((size, start)),
            }
        }
        groups.sort_unstable();
        groups
    }

    /// V is at least the least rounded start.
    fn jump(&mut self) {
        if let Some(least) = self.groups().iter().map(|g| g.1).min() {
            if self.scheduler == "qfq" {
                self.v = self.v.max(least);
            }
        }
    }

    fn arrive(&mut self, now: u64, f: usize, len: u64, limit: usize) -> Vec<usize> {
        let idle = self.waiting().next().is_none();
        if idle && now >= self.service.1 && self.scheduler != "virtual-clock" {
            (self.v, self.growth, self.carry) = (0, 0, 0);
            for flow in &mut self.flows {
                (flow.start, flow.placed) = (0, false);
            }
        }
        let (from, until) = self.service;
        let v = match self.scheduler {
            "virtual-clock" => 0,
            "wf2q+" if now < until => {
                self.v - self.growth + self.growth * (now - from) / (until - from)
            }
            _ => self.v,
        };
        self.events += 1;
        let flow = &mut self.flows[f];
        if flow.queue.is_empty() {
            flow.start = flow.start.max(v);
            (flow.placed, flow.since) = (true, self.events);
        }
        flow.queue.push_back((now, len));
        let mut lost = Vec::new();
        while self.flows.iter().map(|f| f.queue.len()).sum::<usize>() > limit {
            let bytes = |f: &usize| self.flows[*f].queue.iter().map(|p| p.1).sum::<u64>();
            let most = self.waiting().map(|f| bytes(&f)).max().unwrap();
            let victim = self.waiting().find(|f| bytes(f) == most).unwrap();
            self.flows[victim].queue.pop_front();
            lost.push(victim);
        }
        self.jump();
        lost
    }

    /// The flow that sends at `now`.
    fn choose(&mut self) -> usize {
        let heads: Vec<usize> = self.waiting().collect();
        let finish = |f: &usize| self.finish(*f, self.flows[*f].queue[0]);
        let start = |f: &usize| self.flows[*f].start;
        match self.scheduler {
            "start-time" => *heads.iter().min_by_key(|f| (start(f), **f)).unwrap(),
            "wf2q+" => {
                let v = self.v.max(heads.iter().map(start).min().unwrap());
                let mut started = heads.iter().filter(|f| start(f) <= v);
                let first = started.next().unwrap();
                *started.fold(first, |a, b| if finish(b) < finish(a) { b } else { a })
            }
            "qfq" => {
                let eligible: Vec<(u64, u64)> = self
                    .groups()
                    .into_iter()
                    .filter(|g| g.1 <= self.v)
                    .collect();
                let ends = |g: &(u64, u64)| g.1 + 2 * g.0;
                let blocks = |g: &(u64, u64), h: &(u64, u64)| h.0 > g.0 && ends(h) < ends(g);
                let free = |g: &&(u64, u64)| !eligible.iter().any(|h| blocks(g, h));
                let (size, _) = *eligible.iter().find(free).unwrap();
                let own = heads.iter().filter(|f| slot(WEIGHTS[**f]) == size);
                let key = |f: &&usize| (start(f) / size, self.flows[**f].since);
                *own.min_by_key(key).unwrap()
            }
            _ => *heads.iter().min_by_key(|f| (finish(f), **f)).unwrap(),
        }
    }

    /// The flow that sends at `now`, and how much.
    fn send(&mut self, now: u64) -> (usize, u64) {
        let f = self.choose();
        let packet = self.flows[f].queue[0];
        let (start, finish) = (self.flows[f].start, self.finish(f, packet));
        let placed = (0..self.flows.len()).filter(|f| self.flows[*f].placed);
        let sum: u64 = placed.map(|f| WEIGHTS[f]).sum();
        if self.scheduler == "wf2q+" && start > self.v {
            (self.v, self.carry) = (start, 0);
        }
        let (work, sum) = (
            packet.1 * UNITS + self.carry,
            sum.max(self.least_sum).max(1),
        );
        (self.growth, self.carry) = (work / sum, work % sum);
        match self.scheduler {
            "scfq" => self.v = self.v.max(finish),
            "start-time" => self.v = self.v.max(start),
            "wf2q+" | "qfq" => self.v += self.growth,
            _ => {}
        }
        self.events += 1;
        let flow = &mut self.flows[f];
        (flow.start, flow.since) = (finish, self.events);
        flow.queue.pop_front();
        if self.scheduler == "wf2q+" {
            for flow in &mut self.flows {
                let past = flow.start <= self.v - self.growth;
                flow.placed &= !(flow.queue.is_empty() && past);
            }
        }
        self.service = (now, now + packet.1);
        self.jump();
        (f, packet.1)
    }
}

/// Flow and end of each packet in the order in which they leave; flows that lost a packet.
fn plain(
    scheduler: &str,
    least_sum: u64,
    limit: usize,
    arrivals: &[Arrival],
) -> (Vec<(usize, u64)>, Vec<usize>) {
    let mut all = Plain {
        scheduler,
        flows: vec![Flow::default(); WEIGHTS.len()],
        least_sum,
        v: 0,
        growth: 0,
        carry: 0,
        events: 0,
        service: (0, 0),
    };
    let (mut left, mut lost) = (Vec::new(), Vec::new());
    let mut coming = arrivals.iter().peekable();
    let mut free = 0;
    loop {
        let waits = all.waiting().next().is_some();
        let next = coming.peek().map(|(t, ..)| u64::from(*t));
        match next {
            Some(t) if !waits || t <= free => {
                let (_, f, len) = coming.next().unwrap();
                lost.extend(all.arrive(t, *f, u64::from(*len), limit));
                free = free.max(t);
            }
            _ if waits => {
                let (f, len) = all.send(free);
                free += len;
                left.push((f, free));
            }
            _ => return (left, lost),
        }
    }
}

/// The flows' code points by weight.
fn of_flow(flow: usize, seq: u32, len: u16) -> Packet {
    Packet {
        dscp: Dscp::new(8 * (WEIGHTS[flow] as u8 - 1)).unwrap(),
        ..packet(flow as u32, seq, len)
    }
}

fn ours(scheduler: &str, keys: &str, arrivals: &[Arrival]) -> Outcome {
    let json = format!(
        r#"{{"main": {{"fair": {{"scheduler": "{scheduler}", "weights": "precedence"{keys}}}}}}}"#
    );
    let mut bench = Bench::new(build(&json, 8), rate(8));
    for (seq, (t, flow, len)) in (0..).zip(arrivals) {
        bench.arrive(
            Time::from_secs_f64(f64::from(*t)),
            of_flow(*flow, seq, *len),
        );
    }
    bench.run()
}

fn ends(out: &Outcome) -> Vec<(usize, u64)> {
    let end = |t: Time| t.as_secs_f64().round() as u64;
    let all = out.departures.iter();
    all.map(|d| (d.packet.flow as usize, end(d.finish)))
        .collect()
}

/// Bursts, and gaps in which all is sent.
fn arrivals(drawn: &[(u32, usize, u16)], unit: u16) -> Vec<Arrival> {
    let mut t = 0;
    let of = |(gap, flow, len): &(u32, usize, u16)| {
        t += if *gap < 70 { 0 } else { (gap - 70) * 8 };
        (t, *flow, len * unit)
    };
    drawn.iter().map(of).collect()
}

fn drawn() -> impl Strategy<Value = Vec<(u32, usize, u16)>> {
    prop::collection::vec((0_u32..150, 0..WEIGHTS.len(), 1_u16..16), 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400 * effort()))]

    #[test]
    fn schedulers_of_flows_are_as_in_plain_words(
        which in 0..TAGGED.len(),
        drawn in drawn(),
        unit in prop::sample::select(vec![8_u16, 40, 93, 100]),
        limit in prop_oneof![Just(1000_usize), 1_usize..20],
        fixed in any::<bool>(),
    ) {
        let scheduler = TAGGED[which];
        let arrivals = arrivals(&drawn, unit);
        // The sum of weights is that of flows by default. QFQ's is exact while few are idle only.
        let fixed = fixed || matches!(scheduler, "virtual-clock" | "qfq");
        let sums = matches!(scheduler, "wf2q+" | "virtual-clock" | "qfq");
        let (sum, key) = match fixed && sums {
            true => (SUM, format!(r#", "weight_sum": {SUM}"#)),
            false => (0, String::new()),
        };
        let keys = format!(r#", "limit": "{limit} packets"{key}"#);
        let out = ours(scheduler, &keys, &arrivals);
        let (left, lost) = plain(scheduler, sum, limit, &arrivals);
        prop_assert_eq!(ends(&out), left, "{}", scheduler);
        let ours: Vec<usize> = out.drops.iter().map(|(_, d)| d.packet.flow as usize).collect();
        prop_assert_eq!(ours, lost, "{}", scheduler);
    }

    /// A packet leaves at most so long after it should have arrived, if its flow had a line of its
    /// own at its rate: with virtual clocks and WF2Q+ a packet at that rate and the longest on the
    /// line (Figueira and Pasquale 1995; Bennett and Zhang 1997), with SCFQ a packet of each other
    /// flow (Golestani 1994), with start-time FQ these and its own on the line (Goyal and others).
    #[test]
    fn schedulers_of_flows_keep_their_delay(which in 0_usize..4, drawn in drawn()) {
        let scheduler = TAGGED[which];
        let arrivals = arrivals(&drawn, 100);
        let sum: u64 = WEIGHTS.iter().sum();
        let key = match scheduler {
            "wf2q+" | "virtual-clock" => format!(r#", "weight_sum": {sum}"#),
            _ => String::new(),
        };
        let longest = |of: &dyn Fn(usize) -> bool| {
            arrivals.iter().filter(|(_, f, _)| of(*f)).map(|a| f64::from(a.2)).fold(0.0, f64::max)
        };
        let mut left: Vec<VecDeque<u64>> = vec![VecDeque::new(); WEIGHTS.len()];
        for (flow, end) in ends(&ours(scheduler, &key, &arrivals)) {
            left[flow].push_back(end);
        }
        let mut free = [0.0_f64; WEIGHTS.len()];
        for (t, f, len) in &arrivals {
            let own = WEIGHTS[*f] as f64 / sum as f64;
            let expected = free[*f].max(f64::from(*t));
            free[*f] = expected + f64::from(*len) / own;
            let others: f64 = (0..WEIGHTS.len()).filter(|j| j != f).map(|j| longest(&|i| i == j)).sum();
            let bound = match scheduler {
                "scfq" => free[*f] + others,
                "start-time" => expected + f64::from(*len) + others,
                _ => free[*f] + longest(&|_| true),
            };
            let end = left[*f].pop_front().unwrap() as f64;
            prop_assert!(end <= bound + 1e-6, "{scheduler} {f}: {end} > {bound}");
        }
    }

    /// In any time in which a flow waits, it gets its share of what is sent but for its worst-case
    /// fair index: of WF2Q+ L + (Lmax - L) r / R (Bennett and Zhang), of QFQ 3 φ σ + 2 φ L, φ σ
    /// being its weight times the slot (Checconi and others).
    #[test]
    fn backlogged_flows_are_worst_case_fair(
        qfq in any::<bool>(),
        lens in prop::collection::vec((40_u16..1500, 0..WEIGHTS.len()), 200..400),
    ) {
        let scheduler = if qfq { "qfq" } else { "wf2q+" };
        let arrivals: Vec<Arrival> = lens.iter().map(|(len, flow)| (0, *flow, *len)).collect();
        let out = ours(scheduler, "", &arrivals);
        let sum: u64 = WEIGHTS.iter().sum();
        for (flow, weight) in WEIGHTS.iter().enumerate() {
            let own = |f: u32| f as usize == flow;
            let lens = |all: bool| {
                let of = arrivals.iter().filter(move |a| all || a.1 == flow);
                of.map(|a| f64::from(a.2)).fold(0.0, f64::max)
            };
            let share = *weight as f64 / sum as f64;
            let index = match qfq {
                true => 3.0 * (*weight * slot(*weight) / UNITS) as f64 + 2.0 * share * 1500.0,
                false => lens(false) + (lens(true) - lens(false)) * share,
            };
            let last = out.departures.iter().rposition(|d| own(d.packet.flow));
            let (mut gained, mut most) = (0.0, 0.0_f64);
            for d in &out.departures[..last.map_or(0, |l| l + 1)] {
                let len = f64::from(d.packet.len);
                gained += if own(d.packet.flow) { len } else { 0.0 } - share * len;
                most = most.max(gained);
                // The time ends as one of its packets has left: before, that is not counted.
                let lacks = if own(d.packet.flow) { most - gained } else { 0.0 };
                prop_assert!(lacks <= index + 1e-6, "{scheduler} {flow}: {lacks}");
            }
        }
    }

    /// What two flows that wait have sent by weight differs by a packet of each at most (Golestani
    /// 1994; Goyal and others 1997).
    #[test]
    fn backlogged_flows_share_by_weight(
        start_time in any::<bool>(),
        lens in prop::collection::vec((40_u16..1500, 40_u16..1500), 150..151),
        pair in prop::sample::select(vec![(0_usize, 1_usize), (1, 3), (3, 0), (0, 4)]),
    ) {
        let scheduler = if start_time { "start-time" } else { "scfq" };
        let two = [pair.0, pair.1];
        let arrivals: Vec<Arrival> =
            lens.iter().flat_map(|(a, b)| [(0, two[0], *a), (0, two[1], *b)]).collect();
        let out = ours(scheduler, r#", "limit": "1000 packets""#, &arrivals);
        let longest = two.map(|f| {
            let own = arrivals.iter().filter(|a| a.1 == f).map(|a| f64::from(a.2));
            own.fold(0.0, f64::max) / WEIGHTS[f] as f64
        });
        let (mut sent, mut left) = ([0.0_f64; 2], [lens.len(); 2]);
        let (mut least, mut most) = (0.0_f64, 0.0_f64);
        for d in &out.departures {
            let which = usize::from(d.packet.flow as usize != two[0]);
            sent[which] += f64::from(d.packet.len) / WEIGHTS[two[which]] as f64;
            left[which] -= 1;
            if left.contains(&0) {
                break;
            }
            let lead = sent[0] - sent[1];
            (least, most) = (least.min(lead), most.max(lead));
            prop_assert!(most - least <= longest[0] + longest[1] + 1e-6, "{least} .. {most}");
        }
    }
}

/// Seven hundred packets of 1500 B by weights 1, 2 and 4 under QFQ: 100, 200 and 400 of each,
/// within 6.
#[test]
fn counts_are_by_weight_with_qfq() {
    let all: Vec<Arrival> = (0..500)
        .flat_map(|_| [0, 1, 2])
        .map(|f| (0, f, 1500))
        .collect();
    let out = ours("qfq", r#", "limit": "10000 packets""#, &all);
    for (flow, count) in [(0, 100_i64), (1, 200), (2, 400)] {
        let first = out.departures[..700].iter();
        let got = first.filter(|d| d.packet.flow == flow).count() as i64;
        assert!((got - count).abs() <= 6, "{flow}: {got}");
    }
}

/// After an AQM, a limit and a hash nothing differs between schedulers but the order.
#[test]
fn all_take_an_aqm() {
    for scheduler in ["scfq", "start-time", "wf2q+", "virtual-clock", "qfq", "wrr"] {
        let key = match scheduler {
            "virtual-clock" => r#", "weight_sum": 32"#,
            _ => "",
        };
        let keys = format!(
            r#"{key}, "queues": 4, "aqm": {{"codel": {{"target": "5 s", "interval": "20 s"}}}}"#
        );
        let all: Vec<Arrival> = (0..600)
            .map(|i| (i / 6 * 100, i as usize % 6, 100))
            .collect();
        let out = ours(scheduler, &keys, &all);
        assert_eq!(out.departures.len() + out.drops.len(), 600);
        assert!(out.drops.len() > 50, "{scheduler}: {}", out.drops.len());
    }
}
