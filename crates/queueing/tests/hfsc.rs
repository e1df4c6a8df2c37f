//! HFSC against a second implementation in plain words, and what its paper guarantees.
//!
//! The plain one follows the steps of `docs/models/hfsc.md` by scanning all classes. A concave
//! curve is kept as the list of all points from which it was begun, whose least counts.

use std::collections::VecDeque;

use proptest::prelude::*;
use spillgate_core::testkit::effort;
use spillgate_core::{Drops, Dscp, Packet, Rng, Time};

use crate::common::{build, resolve};

const SECOND: u64 = 1_000_000_000_000;
/// Units of work for a byte.
const BYTE: i128 = 8 * SECOND as i128;

/// A curve as drawn: b/s, ps, b/s.
#[derive(Clone, Copy, Debug)]
struct Slopes {
    m1: u64,
    d: u64,
    m2: u64,
}

impl Slopes {
    fn knee(self) -> i128 {
        i128::from(self.m1) * i128::from(self.d)
    }

    fn work(self, t: i128) -> i128 {
        let first = t.clamp(0, self.d.into());
        first * i128::from(self.m1) + (t.max(0) - first) * i128::from(self.m2)
    }

    /// The first time at which so much is done.
    fn time(self, work: i128) -> i128 {
        let up = |work: i128, slope: u64| (work + i128::from(slope) - 1) / i128::from(slope);
        match work {
            w if w < 0 => 0,
            w if w <= self.knee() && self.m1 > 0 => up(w, self.m1),
            w => i128::from(self.d) + up(w - self.knee(), self.m2),
        }
    }
}

/// The least of a curve begun at several points (x, y).
#[derive(Clone, Debug)]
struct Curve {
    of: Slopes,
    begun: Vec<(i128, i128)>,
}

impl Curve {
    fn new(of: Slopes) -> Self {
        Self {
            of,
            begun: vec![(0, 0)],
        }
    }

    fn begin(&mut self, x: i128, y: i128) {
        if self.of.m1 > self.of.m2 {
            self.begun.push((x, y));
            return;
        }
        // Of a convex curve the last point counts that is not above it.
        let last = self.begun.first();
        if last.is_none_or(|(x0, y0)| y0 + self.of.work(x - x0) >= y) {
            self.begun = vec![(x, y)];
        }
    }

    fn time(&self, y: i128) -> i128 {
        let of = |(x, y0): &(i128, i128)| x + self.of.time(y - y0);
        self.begun.iter().map(of).max().unwrap()
    }
}

#[derive(Clone, Debug)]
struct Drawn {
    parent: Option<usize>,
    rt: Option<Slopes>,
    ls: Option<Slopes>,
    ul: Option<Slopes>,
}

#[derive(Clone, Debug)]
struct Class {
    of: Drawn,
    leaf: bool,
    queue: VecDeque<u32>,
    deadline: Option<Curve>,
    virtual_: Option<Curve>,
    limit: Option<Curve>,
    done: i128,
    total: i128,
    e: i128,
    d: i128,
    vt: i128,
    added: i128,
    myf: i128,
    period: u64,
    of_parent: u64,
    /// Active children, or 1.
    active: u32,
    /// Of the class as a parent.
    served: i128,
    left: i128,
}

/// The classes, and the root behind them.
#[derive(Clone, Debug)]
struct Plain(Vec<Class>);

impl Plain {
    fn new(drawn: &[Drawn]) -> Self {
        let root = drawn.len();
        let mut all: Vec<Drawn> = drawn.to_vec();
        all.iter_mut()
            .for_each(|d| d.parent = Some(d.parent.unwrap_or(root)));
        all.push(Drawn {
            parent: None,
            rt: None,
            ls: None,
            ul: None,
        });
        let class = |(i, d): (usize, &Drawn)| Class {
            of: d.clone(),
            leaf: all.iter().all(|o| o.parent != Some(i)),
            queue: VecDeque::new(),
            deadline: d.rt.map(Curve::new),
            virtual_: d.ls.map(Curve::new),
            limit: d.ul.map(|of| Curve {
                of,
                begun: Vec::new(),
            }),
            done: 0,
            total: 0,
            e: 0,
            d: 0,
            vt: 0,
            added: 0,
            myf: 0,
            period: 0,
            of_parent: 0,
            active: 0,
            served: 0,
            left: 0,
        };
        Self(all.iter().enumerate().map(class).collect())
    }

    /// The active children of a class, for link-sharing.
    fn active(&self, of: usize) -> Vec<usize> {
        let on = |c: &usize| {
            self.0[*c].of.parent == Some(of)
                && self.0[*c].virtual_.is_some()
                && self.0[*c].active > 0
        };
        (0..self.0.len()).filter(on).collect()
    }

    /// When the upper limits of a class and of what is active in it let it send.
    fn fits(&self, c: usize) -> i128 {
        let inside = self.active(c).into_iter().map(|i| self.fits(i)).min();
        self.0[c].myf.max(inside.unwrap_or(0))
    }

    fn set_times(&mut self, c: usize, eligible: bool) {
        let class = &mut self.0[c];
        let Some(deadline) = &class.deadline else {
            return;
        };
        if eligible {
            class.e = match deadline.of.m1 > deadline.of.m2 {
                true => deadline.time(class.done),
                // The line of the second slope from where the curve begins.
                false => {
                    let (x, y) = deadline.begun[0];
                    let line = Slopes {
                        m1: deadline.of.m2,
                        d: 0,
                        ..deadline.of
                    };
                    x + line.time(class.done - y)
                }
            };
        }
        let next = i128::from(class.queue[0]);
        class.d = deadline.time(class.done + next * BYTE);
    }

    fn enqueue(&mut self, leaf: usize, len: u32, now: i128) {
        self.0[leaf].queue.push_back(len);
        if self.0[leaf].queue.len() > 1 {
            return;
        }
        let done = self.0[leaf].done;
        if let Some(deadline) = &mut self.0[leaf].deadline {
            deadline.begin(now, done);
            self.set_times(leaf, true);
        }
        if self.0[leaf].virtual_.is_none() {
            return;
        }
        let (mut c, mut fresh) = (leaf, true);
        while let (Some(p), true) = (self.0[c].of.parent, fresh) {
            fresh = self.0[c].active == 0;
            if fresh {
                let beside: Vec<i128> = self.active(p).iter().map(|i| self.0[*i].vt).collect();
                match beside.iter().max() {
                    Some(latest) => {
                        let vt = match self.0[p].served {
                            0 => *latest,
                            served => (served + latest) / 2,
                        };
                        if self.0[p].period != self.0[c].of_parent || vt > self.0[c].vt {
                            self.0[c].vt = vt;
                        }
                    }
                    None => {
                        self.0[c].vt = self.0[p].left;
                        self.0[p].served = 0;
                    }
                }
                let idle = u64::from(self.0[p].active == 0);
                let of_parent = self.0[p].period + idle;
                let class = &mut self.0[c];
                class
                    .virtual_
                    .as_mut()
                    .unwrap()
                    .begin(class.vt, class.total);
                (class.added, class.period, class.of_parent) = (0, class.period + 1, of_parent);
                if let Some(limit) = &mut class.limit {
                    limit.begin(now, class.total);
                    class.myf = limit.time(class.total);
                }
            }
            self.0[c].active += 1;
            c = p;
        }
    }

    fn dequeue(&mut self, now: i128) -> Option<(usize, u32)> {
        let eligible = |c: &usize| {
            let class = &self.0[*c];
            class.deadline.is_some() && !class.queue.is_empty() && class.e <= now
        };
        let first = (0..self.0.len())
            .filter(eligible)
            .min_by_key(|c| (self.0[*c].d, *c));
        let leaf = match first {
            Some(leaf) => leaf,
            None => {
                let mut c = self.0.len() - 1;
                while !self.0[c].leaf {
                    let fit = self.active(c).into_iter().filter(|i| self.fits(*i) <= now);
                    let next = fit.min_by_key(|i| (self.0[*i].vt, *i))?;
                    self.0[c].served = self.0[c].served.max(self.0[next].vt);
                    c = next;
                }
                c
            }
        };
        let len = self.0[leaf].queue.pop_front().unwrap();
        self.advance(leaf, i128::from(len) * BYTE);
        if first.is_some() {
            self.0[leaf].done += i128::from(len) * BYTE;
        }
        if !self.0[leaf].queue.is_empty() {
            self.set_times(leaf, first.is_some());
        }
        Some((leaf, len))
    }

    fn advance(&mut self, leaf: usize, work: i128) {
        let mut ends = self.0[leaf].queue.is_empty() && self.0[leaf].virtual_.is_some();
        let mut c = leaf;
        while let Some(p) = self.0[c].of.parent {
            self.0[c].total += work;
            if self.0[c].active > 0 && self.0[c].virtual_.is_some() {
                if ends {
                    self.0[c].active -= 1;
                    ends = self.0[c].active == 0;
                }
                let served = self.0[p].served;
                let class = &mut self.0[c];
                let vt = class.virtual_.as_ref().unwrap().time(class.total) + class.added;
                class.added += (served - vt).max(0);
                class.vt = vt.max(served);
                if let Some(limit) = class.limit.as_ref().filter(|_| !ends) {
                    class.myf = limit.time(class.total);
                }
                if ends {
                    self.0[p].left = self.0[p].left.max(self.0[c].vt);
                }
            }
            c = p;
        }
    }

    /// The first time at which something leaves.
    fn wake(&self) -> Option<i128> {
        let of = |c: &Class| (c.deadline.is_some() && !c.queue.is_empty()).then_some(c.e);
        let real_time = self.0.iter().filter_map(of).min();
        let root = self.active(self.0.len() - 1);
        let shared = root.into_iter().map(|c| self.fits(c)).min();
        real_time.into_iter().chain(shared).min()
    }
}

fn curve(of: &Slopes) -> String {
    match of.d {
        0 => format!(r#"{{"m2": "{} b/s"}}"#, of.m2),
        d => format!(
            r#"{{"m1": "{} b/s", "d": "{} ms", "m2": "{} b/s"}}"#,
            of.m1,
            d * 1000 / SECOND,
            of.m2
        ),
    }
}

fn json(drawn: &[Drawn], leaves: &[usize]) -> String {
    let class = |(i, d): (usize, &Drawn)| {
        let mut keys = vec![format!(r#""name": "c{i}""#)];
        keys.extend(d.parent.map(|p| format!(r#""parent": "c{p}""#)));
        if leaves.contains(&i) {
            keys.push(format!(r#""match": {{"dscp": {i}}}"#));
        }
        for (key, of) in [("rt", &d.rt), ("ls", &d.ls), ("ul", &d.ul)] {
            keys.extend(of.as_ref().map(|of| format!(r#""{key}": {}"#, curve(of))));
        }
        format!("{{{}}}", keys.join(", "))
    };
    let classes: Vec<String> = drawn.iter().enumerate().map(class).collect();
    format!(
        r#"{{"main": {{"hfsc": {{"default": "c{}", "classes": [{}]}}}}}}"#,
        leaves[0],
        classes.join(", ")
    )
}

fn slopes() -> impl Strategy<Value = Slopes> {
    let m1 = prop::sample::select(vec![0_u64, 8000, 80_000, 400_000, 333_333]);
    let d = prop::sample::select(vec![0_u64, 1, 50, 1000]);
    let m2 = prop::sample::select(vec![8000_u64, 80_000, 123_457, 400_000]);
    (m1, d, m2).prop_map(|(m1, ms, m2)| Slopes {
        m1: if ms == 0 { m2 } else { m1 },
        d: ms * SECOND / 1000,
        m2,
    })
}

fn trees() -> impl Strategy<Value = Vec<Drawn>> {
    let some = |p| prop::option::weighted(p, slopes());
    let class = (
        any::<prop::sample::Index>(),
        prop::bool::weighted(0.7),
        some(0.6),
        some(0.8),
        some(0.3),
    );
    prop::collection::vec(class, 1..9).prop_map(|all| {
        let mut drawn: Vec<Drawn> = Vec::new();
        for (i, (parent, has, rt, ls, ul)) in all.into_iter().enumerate() {
            let parent = (has && i > 0).then(|| parent.index(i));
            drawn.push(Drawn { parent, rt, ls, ul });
        }
        let line = Slopes {
            m1: 80_000,
            d: 0,
            m2: 80_000,
        };
        for i in 0..drawn.len() {
            let inner = drawn.iter().any(|d| d.parent == Some(i));
            let d = &mut drawn[i];
            if inner {
                d.rt = None;
            }
            if inner || d.rt.is_none() {
                d.ls = d.ls.or(Some(line));
            }
            d.ul = d.ul.filter(|_| d.ls.is_some());
        }
        drawn
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400 * effort()))]

    #[test]
    fn agrees_with_the_plain_one(
        drawn in trees(),
        ops in prop::collection::vec(
            (any::<prop::sample::Index>(), prop::sample::select(vec![40_u16, 100, 500, 1500]),
             prop_oneof![Just(0_u64), 0_u64..100_000_000], 0_usize..4), 1..80),
    ) {
        let mut plain = Plain::new(&drawn);
        let leaves: Vec<usize> = (0..drawn.len()).filter(|c| plain.0[*c].leaf).collect();
        let mut real = build(&json(&drawn, &leaves), 1_000_000_000);
        let (mut rng, mut drops) = (Rng::from_key(1), Drops::new());
        let mut now = 0_u64;
        for (seq, (leaf, len, pause, turns)) in (0..).zip(ops) {
            let c = leaves[leaf.index(leaves.len())];
            let packet = Packet { dscp: Dscp::new(c as u8).unwrap(), ..Packet::new(0, seq, len) };
            real.enqueue(Time::from_ps(now), packet, &mut rng, &mut drops);
            plain.enqueue(c, len.into(), now.into());
            for _ in 0..turns {
                let sent = real.dequeue(Time::from_ps(now), &mut rng, &mut drops);
                let got = sent.map(|p| (leaves[usize::from(p.leaf)], p.len));
                prop_assert_eq!(got, plain.dequeue(now.into()), "at {}", now);
                if got.is_none() {
                    let wake = real.next_wake(Time::from_ps(now)).map(|t| i128::from(t.as_ps()));
                    prop_assert_eq!(wake, plain.wake(), "at {}", now);
                    break;
                }
            }
            now += pause * 1000;
        }
        prop_assert!(drops.is_empty());
    }

    /// Theorem 2 of the paper: if the real-time curves together stay below the line, each packet is
    /// sent by its deadline and the time of the longest packet: by when the curve, begun at one of
    /// the times at which the class became backlogged, is at what was sent since.
    #[test]
    fn deadlines_are_kept(
        asked in prop::collection::vec((slopes(), any::<bool>()), 1..5),
        extra in 0_u64..50_000,
        ops in prop::collection::vec((0_usize..6, 40_u16..1500, 0_u64..60_000_000), 1..120),
    ) {
        // A line that holds them all at any time.
        let line = asked.iter().map(|(s, _)| s.m1.max(s.m2)).sum::<u64>() + extra;
        let mut drawn: Vec<Drawn> = asked
            .iter()
            .map(|(s, shares)| Drawn { parent: None, rt: Some(*s), ls: shares.then_some(*s), ul: None })
            .collect();
        let greedy = Slopes { m1: line, d: 0, m2: line };
        drawn.push(Drawn { parent: None, rt: None, ls: Some(greedy), ul: None });
        let leaves: Vec<usize> = (0..drawn.len()).collect();
        let mut real = build(&json(&drawn, &leaves), line);
        let (mut rng, mut drops) = (Rng::from_key(1), Drops::new());
        // Of each class: when it became backlogged, with what it sent since then, and what waits.
        let mut state = vec![(Vec::<(u64, i128)>::new(), VecDeque::new()); drawn.len()];
        let (mut now, mut free) = (0_u64, 0_u64);
        let longest = i128::from(1500) * BYTE / i128::from(line) + 2;
        let mut arrivals: VecDeque<(u64, usize, u16)> = ops
            .into_iter()
            .map(|(c, len, pause)| { now += pause * 1000; (now, c.min(drawn.len() - 1), len) })
            .collect();
        // The greedy class always has something.
        let last = drawn.len() - 1;
        (0..200).for_each(|_| arrivals.push_front((0, last, 1500)));
        now = 0;
        let mut seq = 0;
        while !arrivals.is_empty() || real.backlog_packets() > 0 {
            while let Some((_, c, len)) = arrivals.front().copied().filter(|a| a.0 <= now.max(free)) {
                let (at, ..) = arrivals.pop_front().unwrap();
                let packet = Packet { dscp: Dscp::new(c as u8).unwrap(), ..Packet::new(0, seq, len) };
                seq += 1;
                real.enqueue(Time::from_ps(at.max(now)), packet, &mut rng, &mut drops);
                if state[c].1.is_empty() {
                    state[c].0.push((at.max(now), 0));
                }
                state[c].1.push_back(len);
                now = now.max(at);
            }
            now = now.max(free);
            let Some(p) = real.dequeue(Time::from_ps(now), &mut rng, &mut drops) else {
                let next = arrivals.front().map(|a| a.0);
                let wake = real.next_wake(Time::from_ps(now)).map(|t| t.as_ps());
                match next.into_iter().chain(wake).min() {
                    Some(later) => now = now.max(later),
                    None => break,
                }
                continue;
            };
            free = now + (u64::from(p.len) * 8 * SECOND).div_ceil(line);
            let c = usize::from(p.leaf);
            let (begun, waits) = &mut state[c];
            waits.pop_front();
            begun.iter_mut().for_each(|(_, sent)| *sent += i128::from(p.len) * BYTE);
            if let Some(rt) = drawn[c].rt {
                let ends = begun.iter().map(|(since, sent)| i128::from(*since) + rt.time(*sent));
                let by = ends.max().unwrap() + longest;
                prop_assert!(i128::from(free) <= by, "class {c}: {free}, promised {by}");
            }
        }
    }
}

#[test]
fn more_than_the_line_is_told() {
    let json = |rt: &str| {
        format!(
            r#"{{"main": {{"hfsc": {{"default": "a", "classes": [{{"name": "a", "sc": {rt}}}, {{"name": "b", "match": {{}}, "rt": {{"m2": "500 kb/s"}}}}]}}}}}}"#
        )
    };
    for (rt, words) in [
        (r#"{"m2": "400 kb/s"}"#, None),
        (
            r#"{"m2": "600 kb/s"}"#,
            Some("come to 1100000 b/s in the long run, more than the line's 1 Mb/s"),
        ),
        // In 0.1 s 900 and 500 kb/s are 5 kB above the line, which takes 40 ms for them.
        (
            r#"{"m1": "900 kb/s", "d": "100 ms", "m2": "100 kb/s"}"#,
            Some(
                "come to 5000 B more than the line sends in the first 100 ms: deadlines may be missed by 40 ms",
            ),
        ),
    ] {
        let (_, warnings) = resolve(&json(rt), 1_000_000).unwrap();
        match words {
            None => assert!(warnings.is_empty(), "{warnings:?}"),
            Some(words) => assert!(
                warnings.len() == 1 && warnings[0].contains(words),
                "{warnings:?}"
            ),
        }
    }
}
