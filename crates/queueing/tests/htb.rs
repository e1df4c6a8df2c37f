//! HTB against a second implementation in plain words, and the guarantees of its manual.
//!
//! The plain one keeps no rows and feeds: who stands in them is worked out from the modes each
//! time, tokens are exact rationals, and the next wake-up is found by trying each event in turn.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use proptest::prelude::*;
use spillgate_core::curve::Exact;
use spillgate_core::testkit::effort;
use spillgate_core::{Drops, Dscp, FlowKey, Packet, Rng, Time};

use crate::common::{build, resolve};

const SECOND: i128 = 1_000_000_000_000;
const LONGEST_WAIT: i128 = 60 * SECOND;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Cannot,
    May,
    Can,
}

/// A class as drawn: rates in b/s, sizes in bytes.
#[derive(Clone, Debug)]
struct Drawn {
    parent: Option<usize>,
    rate: u64,
    ceil: u64,
    burst: u64,
    cburst: u64,
    quantum: i64,
    prio: usize,
}

#[derive(Clone, Debug)]
struct Class {
    of: Drawn,
    level: usize,
    leaf: bool,
    queue: VecDeque<u32>,
    tokens: Exact,
    ctokens: Exact,
    at: i128,
    mode: Mode,
    event: Option<i128>,
    deficit: [i64; 8],
}

/// Whose turn it is in a round, and whose it was when that class left.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    now: Option<usize>,
    last: Option<usize>,
}

#[derive(Clone, Debug)]
struct Plain {
    classes: Vec<Class>,
    /// By level and priority.
    rows: [[Turn; 8]; 8],
    /// By class and priority.
    feeds: Vec<[Turn; 8]>,
    hysteresis: bool,
    timer: i128,
}

/// Bytes in a time at a rate.
fn sent(bps: u64, ps: i128) -> Exact {
    Exact::new(i128::from(bps) * ps, 8 * SECOND)
}

fn bytes(n: u64) -> Exact {
    Exact::from_integer(n.into())
}

impl Plain {
    fn new(drawn: &[Drawn], hysteresis: bool, timer: i128) -> Self {
        let inner: BTreeSet<usize> = drawn.iter().filter_map(|d| d.parent).collect();
        let class = |(i, d): (usize, &Drawn)| {
            let around = std::iter::successors(d.parent, |p| drawn[*p].parent).count();
            Class {
                of: d.clone(),
                level: if inner.contains(&i) { 7 - around } else { 0 },
                leaf: !inner.contains(&i),
                queue: VecDeque::new(),
                tokens: bytes(d.burst),
                ctokens: bytes(d.cburst),
                at: 0,
                mode: Mode::Can,
                event: None,
                deficit: [0; 8],
            }
        };
        Self {
            classes: drawn.iter().enumerate().map(class).collect(),
            rows: [[Turn::default(); 8]; 8],
            feeds: vec![[Turn::default(); 8]; drawn.len()],
            hysteresis,
            timer,
        }
    }

    fn is_active(&self, c: usize, prio: usize) -> bool {
        let class = &self.classes[c];
        match class.leaf {
            true => class.of.prio == prio && !class.queue.is_empty(),
            false => !self.feed(c, prio).is_empty(),
        }
    }

    fn feed(&self, of: usize, prio: usize) -> BTreeSet<usize> {
        let borrows = |c: &usize| {
            let class = &self.classes[*c];
            class.of.parent == Some(of) && class.mode == Mode::May && self.is_active(*c, prio)
        };
        (0..self.classes.len()).filter(borrows).collect()
    }

    fn row(&self, level: usize, prio: usize) -> BTreeSet<usize> {
        let sends = |c: &usize| {
            let class = &self.classes[*c];
            class.level == level && class.mode == Mode::Can && self.is_active(*c, prio)
        };
        (0..self.classes.len()).filter(sends).collect()
    }

    /// Does something, after which turns of classes that left go on to the next of a row, and are
    /// remembered in a feed.
    fn change(&mut self, f: impl FnOnce(&mut Self)) {
        f(self);
        for prio in 0..8 {
            for level in 0..8 {
                let row = self.row(level, prio);
                let turn = &mut self.rows[level][prio];
                if let Some(now) = turn.now.filter(|n| !row.contains(n)) {
                    turn.now = row.range(now..).next().copied();
                }
            }
            for c in 0..self.classes.len() {
                let feed = self.feed(c, prio);
                let turn = &mut self.feeds[c][prio];
                if let Some(now) = turn.now.filter(|n| !feed.contains(n)) {
                    *turn = Turn {
                        now: None,
                        last: Some(now),
                    };
                }
            }
        }
    }

    fn mode(&self, c: usize, elapsed: i128) -> (Mode, Exact) {
        let class = &self.classes[c];
        let deep = |on: bool, n: u64| {
            if on && self.hysteresis {
                -bytes(n)
            } else {
                bytes(0)
            }
        };
        let ceil = class.ctokens + sent(class.of.ceil, elapsed);
        let rate = class.tokens + sent(class.of.rate, elapsed);
        if ceil < deep(class.mode != Mode::Cannot, class.of.cburst) {
            (Mode::Cannot, -ceil / sent(class.of.ceil, 1))
        } else if rate >= deep(class.mode == Mode::Can, class.of.burst) {
            (Mode::Can, bytes(0))
        } else {
            (Mode::May, -rate / sent(class.of.rate, 1))
        }
    }

    fn update(&mut self, c: usize, elapsed: i128, now: i128) {
        let (mode, wait) = self.mode(c, elapsed);
        self.change(|p| p.classes[c].mode = mode);
        let at = now + wait.ceil().to_integer().max(1);
        let ticks = (at + self.timer - 1) / self.timer;
        self.classes[c].event = (mode != Mode::Can).then_some(ticks * self.timer);
    }

    fn elapsed(&self, c: usize, now: i128) -> i128 {
        (now - self.classes[c].at).min(LONGEST_WAIT)
    }

    fn enqueue(&mut self, c: usize, len: u32) {
        self.change(|p| p.classes[c].queue.push_back(len));
    }

    fn turn(
        &mut self,
        place: Option<usize>,
        level: usize,
        prio: usize,
    ) -> (&mut Turn, BTreeSet<usize>) {
        let set = match place {
            Some(c) => self.feed(c, prio),
            None => self.row(level, prio),
        };
        match place {
            Some(c) => (&mut self.feeds[c][prio], set),
            None => (&mut self.rows[level][prio], set),
        }
    }

    fn advance(&mut self, place: Option<usize>, level: usize, prio: usize) {
        let (turn, set) = self.turn(place, level, prio);
        turn.now = turn.now.and_then(|n| set.range(n + 1..).next().copied());
    }

    fn leaf(&mut self, level: usize, prio: usize) -> usize {
        let mut path = vec![None];
        loop {
            let place = path[path.len() - 1];
            let (turn, set) = self.turn(place, level, prio);
            if let (None, Some(last)) = (turn.now, turn.last.take()) {
                turn.now = set.range(last..).next().copied();
            }
            let Some(c) = turn.now else {
                turn.now = set.first().copied();
                if path.len() > 1 {
                    path.pop();
                    self.advance(path[path.len() - 1], level, prio);
                }
                continue;
            };
            if self.classes[c].leaf {
                return c;
            }
            path.push(Some(c));
        }
    }

    fn dequeue(&mut self, now: i128) -> Option<(usize, u32)> {
        // Classes that wait are looked at when the timer goes off.
        let tick = now / self.timer * self.timer;
        for level in 0..8 {
            loop {
                let of = (0..self.classes.len()).filter(|c| self.classes[*c].level == level);
                let due = of.filter_map(|c| Some((self.classes[c].event?, c))).min();
                let Some((_, c)) = due.filter(|(at, _)| *at <= now) else {
                    break;
                };
                self.update(c, self.elapsed(c, tick), tick);
            }
            if let Some(prio) = (0..8).find(|p| !self.row(level, *p).is_empty()) {
                let c = self.leaf(level, prio);
                return Some((c, self.serve(c, level, prio, now)));
            }
        }
        None
    }

    fn serve(&mut self, c: usize, level: usize, prio: usize, now: i128) -> u32 {
        let len = self.classes[c].queue[0];
        let class = &mut self.classes[c];
        class.deficit[level] -= i64::from(len);
        if class.deficit[level] < 0 {
            class.deficit[level] += class.of.quantum;
            let place = class.of.parent.filter(|_| level > 0);
            self.advance(place, level, prio);
        }
        self.change(|p| {
            p.classes[c].queue.pop_front();
        });
        let mut next = Some(c);
        while let Some(c) = next {
            let elapsed = self.elapsed(c, now);
            let class = &mut self.classes[c];
            let pay = |tokens: Exact, bps: u64, burst: u64| {
                let paid = (tokens + sent(bps, elapsed)).min(bytes(burst)) - bytes(len.into());
                paid.max(-sent(bps, LONGEST_WAIT))
            };
            class.tokens = match class.level >= level {
                true => pay(class.tokens, class.of.rate, class.of.burst),
                false => class.tokens + sent(class.of.rate, elapsed),
            };
            class.ctokens = pay(class.ctokens, class.of.ceil, class.of.cburst);
            class.at = now;
            next = class.of.parent;
            self.update(c, 0, now);
        }
        len
    }

    /// The first time at which something leaves.
    fn wake(&self, now: i128) -> Option<i128> {
        let mut copy = self.clone();
        let mut now = now;
        while copy.classes.iter().any(|c| !c.queue.is_empty()) {
            if copy.dequeue(now).is_some() {
                return Some(now);
            }
            now = copy
                .classes
                .iter()
                .filter_map(|c| c.event)
                .filter(|e| *e > now)
                .min()?;
        }
        None
    }
}

fn json(drawn: &[Drawn], hysteresis: bool, timer: i128) -> String {
    let class = |(i, d): (usize, &Drawn)| {
        let parent = d
            .parent
            .map_or_else(String::new, |p| format!(r#""parent": "c{p}", "#));
        format!(
            r#"{{"name": "c{i}", {parent}"match": {{"dscp": {i}}}, "rate": "{} b/s", "ceil": "{} b/s",
                "burst": "{} B", "cburst": "{} B", "quantum": "{} B", "prio": {}}}"#,
            d.rate, d.ceil, d.burst, d.cburst, d.quantum, d.prio
        )
    };
    let leaf = |d: &[Drawn], i: usize| d.iter().all(|o| o.parent != Some(i));
    let classes: Vec<String> = drawn.iter().enumerate().map(class).collect();
    // A condition of an inner class would hide those of its children.
    let classes: Vec<String> = classes
        .into_iter()
        .enumerate()
        .map(|(i, text)| match leaf(drawn, i) {
            true => text,
            false => text.replace(&format!(r#""match": {{"dscp": {i}}}, "#), ""),
        })
        .collect();
    format!(
        r#"{{"main": {{"htb": {{"timer": "{} us", "hysteresis": {hysteresis}, "classes": [{}]}}}}}}"#,
        timer / 1_000_000,
        classes.join(", ")
    )
}

/// Trees of up to ten classes; a class has a parent before it in the list, or behind it.
fn trees() -> impl Strategy<Value = Vec<Drawn>> {
    let class = (
        any::<prop::sample::Index>(),
        prop::bool::weighted(0.75),
        prop::sample::select(vec![8_000_u64, 16_000, 100_000, 123_457]),
        1_u64..4,
        prop::sample::select(vec![0_u64, 1, 1000, 1500, 4000]),
        prop::sample::select(vec![1_u64, 1500, 3000]),
        prop::sample::select(vec![1_i64, 300, 1500, 2000]),
        prop_oneof![3 => Just(0_usize), 1 => Just(7_usize), 1 => Just(3_usize)],
    );
    (prop::collection::vec(class, 1..10), any::<bool>()).prop_map(|(all, reversed)| {
        let n = all.len();
        let mut drawn: Vec<Drawn> = Vec::new();
        for (i, (parent, has, rate, times, burst, cburst, quantum, prio)) in
            all.into_iter().enumerate()
        {
            let parent = (has && i > 0).then(|| parent.index(i));
            let depth = |mut p: Option<usize>| {
                let mut depth = 0;
                while let Some(c) = p {
                    depth += 1;
                    p = drawn[c].parent;
                }
                depth
            };
            drawn.push(Drawn {
                parent: parent.filter(|p| depth(Some(*p)) < 7),
                rate,
                ceil: rate * times,
                burst,
                cburst,
                quantum,
                prio,
            });
        }
        if reversed {
            for d in &mut drawn {
                d.parent = d.parent.map(|p| n - 1 - p);
            }
            drawn.reverse();
        }
        drawn
    })
}

fn len() -> impl Strategy<Value = u16> {
    prop::sample::select(vec![40_u16, 300, 500, 1000, 1500])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400 * effort()))]

    /// Arrivals (a leaf and a length) and pauses in ns, each followed by as many turns as there
    /// are, or one.
    #[test]
    fn agrees_with_the_plain_one(
        drawn in trees(), hysteresis in any::<bool>(),
        timer in prop::sample::select(vec![1_i128, 1_000_000_000]),
        ops in prop::collection::vec(
            (any::<prop::sample::Index>(), len(), prop_oneof![Just(0_u64), 0_u64..400_000_000], any::<bool>()), 1..60),
    ) {
        let mut plain = Plain::new(&drawn, hysteresis, timer);
        let mut real = build(&json(&drawn, hysteresis, timer), 1_000_000_000);
        let leaves: Vec<usize> = (0..drawn.len()).filter(|c| plain.classes[*c].leaf).collect();
        let (mut rng, mut drops) = (Rng::from_key(1), Drops::new());
        let mut now = Time::ZERO;
        for (seq, (leaf, len, pause, all)) in (0..).zip(ops) {
            let c = leaves[leaf.index(leaves.len())];
            let packet = Packet { dscp: Dscp::new(c as u8).unwrap(), ..Packet::new(0, seq, len) };
            real.enqueue(now, packet, &mut rng, &mut drops);
            plain.enqueue(c, len.into());
            loop {
                let at = i128::from(now.as_ps());
                let sent = real.dequeue(now, &mut rng, &mut drops);
                let got = sent.map(|p| (leaves[usize::from(p.leaf)], p.len));
                prop_assert_eq!(got, plain.dequeue(at), "at {}", at);
                if got.is_none() {
                    let wake = real.next_wake(now).map(|t| i128::from(t.as_ps()));
                    prop_assert_eq!(wake, plain.wake(at), "at {}", at);
                }
                if got.is_none() || !all {
                    break;
                }
            }
            now = Time::from_ps(now.as_ps() + pause * 1000);
        }
        prop_assert!(drops.is_empty());
    }
}

/// Packets of a run of backlogged leaves: when each left (ps), its leaf and its bytes.
fn backlogged(json: &str, leaves: &[u8], len: u16, until: u64) -> Vec<(u64, u8, u64)> {
    let mut real = build(json, 1_000_000_000);
    let (mut rng, mut drops) = (Rng::from_key(1), Drops::new());
    let mut offer = |real: &mut spillgate_queueing::Discipline, now, dscp: u8, rng: &mut Rng| {
        let packet = Packet {
            dscp: Dscp::new(dscp).unwrap(),
            ..Packet::new(0, 0, len)
        };
        real.enqueue(now, packet, rng, &mut drops);
    };
    for leaf in leaves {
        for _ in 0..3 {
            offer(&mut real, Time::ZERO, *leaf, &mut rng);
        }
    }
    let mut lost = Drops::new();
    let (mut now, mut out) = (Time::ZERO, Vec::new());
    while now.as_ps() < until {
        match real.dequeue(now, &mut rng, &mut lost) {
            Some(p) => {
                out.push((now.as_ps(), p.dscp.value(), u64::from(p.len)));
                offer(&mut real, now, p.dscp.value(), &mut rng);
                now = Time::from_ps(now.as_ps() + u64::from(len) * 8_000);
            }
            None => now = real.next_wake(now).unwrap(),
        }
    }
    assert!(lost.is_empty());
    out
}

/// The fluid shares of the specification, vector 3: A and B take what C leaves in the ratio of
/// their quanta, which is that of their rates; C alone has its ceiling.
#[test]
fn what_is_left_is_shared_by_quanta() {
    let class = |i: usize, rate: u64, ceil: u64, quantum: u64| {
        format!(
            r#"{{"name": "c{i}", "parent": "root", "match": {{"dscp": {i}}}, "rate": "{rate} Mb/s", "ceil": "{ceil} Mb/s", "quantum": "{quantum} B"}}"#
        )
    };
    let classes = [
        r#"{"name": "root", "rate": "10 Mb/s"}"#.to_owned(),
        class(1, 2, 10, 3000),
        class(2, 4, 10, 6000),
        class(3, 4, 6, 6000),
    ];
    let json = format!(
        r#"{{"main": {{"htb": {{"classes": [{}]}}}}}}"#,
        classes.join(", ")
    );
    let until = 20 * SECOND as u64;
    let rate = |out: &[(u64, u8, u64)], leaf| {
        let bytes: u64 = out.iter().filter(|o| o.1 == leaf).map(|o| o.2).sum();
        bytes as f64 * 8.0 / 20.0 / 1e6
    };
    let out = backlogged(&json, &[1, 2], 1000, until);
    // Bursts, and a turn, are far below a hundredth of 20 s.
    assert!(
        (rate(&out, 1) / (10.0 / 3.0) - 1.0).abs() < 0.01,
        "{}",
        rate(&out, 1)
    );
    assert!(
        (rate(&out, 2) / (20.0 / 3.0) - 1.0).abs() < 0.01,
        "{}",
        rate(&out, 2)
    );
    let out = backlogged(&json, &[3], 1000, until);
    assert!(
        (rate(&out, 3) / 6.0 - 1.0).abs() < 0.01,
        "{}",
        rate(&out, 3)
    );
}

/// Bytes that left in the window of two departures, both included, and its length.
fn windows(sent: &[(u64, u64)]) -> impl Iterator<Item = (u64, u64)> + '_ {
    (0..sent.len()).flat_map(move |a| {
        let mut bytes = 0;
        sent[a..].iter().map(move |(t, len)| {
            bytes += len;
            (t - sent[a].0, bytes)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40 * effort()))]

    /// In any time a leaf sends at most ceil times that time, its cburst and a packet; and at
    /// least its rate, less what each of the others may send first, where rates fit into the
    /// parent's and into the line.
    #[test]
    fn a_class_keeps_its_ceil_and_has_its_rate(
        rates in prop::collection::vec((1_u64..20, 1_u64..4, 0_usize..3), 2..5),
        len in prop::sample::select(vec![200_u16, 1000, 1500]),
    ) {
        let sum: u64 = rates.iter().map(|r| r.0).sum();
        let class = |(i, (rate, times, prio)): (usize, &(u64, u64, usize))| format!(
            r#"{{"name": "c{i}", "parent": "root", "match": {{"dscp": {i}}}, "rate": "{} kb/s", "ceil": "{} kb/s", "burst": "2 kB", "cburst": "3 kB", "quantum": "1500 B", "prio": {prio}}}"#,
            rate * 100, rate * times * 100
        );
        let classes: Vec<String> = rates.iter().enumerate().map(class).collect();
        let json = format!(
            r#"{{"main": {{"htb": {{"classes": [{{"name": "root", "rate": "{} kb/s"}}, {}]}}}}}}"#,
            sum * 100, classes.join(", ")
        );
        let leaves: Vec<u8> = (0..rates.len() as u8).collect();
        let out = backlogged(&json, &leaves, len, SECOND as u64);
        for (i, (rate, times, _)) in rates.iter().enumerate() {
            let own: Vec<(u64, u64)> = out.iter().filter(|o| o.1 == i as u8).map(|o| (o.0, o.2)).collect();
            let (bps, longest) = (i128::from(rate * 100_000), i128::from(len));
            for (ps, left) in windows(&own) {
                let (ps, left) = (i128::from(ps), i128::from(left) * 8 * SECOND);
                let most = bps * i128::from(*times) * ps + (3000 + longest) * 8 * SECOND;
                prop_assert!(left <= most, "{i}: {left} in {ps} ps, at most {most}");
                // The line of 1 Gb/s sends a burst and a packet of each other in less than this.
                let late = (rates.len() as i128) * (2000 + 2 * longest) * 8_000;
                let least = bps * (ps - late) - 2 * longest * 8 * SECOND;
                prop_assert!(left >= least, "{i}: {left} in {ps} ps, at least {least}");
            }
        }
    }
}

/// Each packet is sent at one wake-up at most: none comes too early.
#[test]
fn a_wake_up_sends_a_packet() {
    let json = r#"{"main": {"htb": {"classes": [{"name": "root", "rate": "1 Mb/s"},
        {"name": "a", "parent": "root", "match": {"dscp": 1}, "rate": "100 kb/s", "ceil": "1 Mb/s"},
        {"name": "b", "parent": "root", "match": {"dscp": 2}, "rate": "300 kb/s", "ceil": "700 kb/s", "prio": 1}]}}}"#;
    let mut real = build(json, 1_000_000_000);
    let (mut rng, mut drops) = (Rng::from_key(1), Drops::new());
    for seq in 0..400 {
        let packet = Packet {
            dscp: Dscp::new(1 + (seq % 2) as u8).unwrap(),
            ..Packet::new(0, seq, 1000)
        };
        real.enqueue(Time::ZERO, packet, &mut rng, &mut drops);
    }
    let (mut now, mut wakes, mut sent) = (Time::ZERO, 0, 0);
    while real.backlog_packets() > 0 {
        match real.dequeue(now, &mut rng, &mut drops) {
            Some(_) => sent += 1,
            None => {
                now = real.next_wake(now).unwrap();
                wakes += 1;
            }
        }
    }
    assert_eq!(sent, 400);
    assert!(wakes <= sent, "{wakes} wake-ups");
}

#[test]
fn quanta_are_rates_over_r2q_within_bounds() {
    let flows: Arc<[FlowKey]> = Arc::from([]);
    for (rate, words) in [
        ("1 Mb/s", None),
        (
            "100 Mb/s",
            Some("quantum of 1250000 B is big, set to 200000 B"),
        ),
        ("10 kb/s", Some("quantum of 125 B is small, set to 1000 B")),
    ] {
        let json = format!(
            r#"{{"main": {{"htb": {{"default": "c", "classes": [{{"name": "c", "rate": "{rate}"}}]}}}}}}"#
        );
        let (recipe, warnings) = resolve(&json, 1_000_000_000).unwrap();
        drop(recipe.build(&flows));
        let found: Vec<&String> = warnings.iter().filter(|w| w.contains("quantum")).collect();
        match words {
            None => assert!(found.is_empty(), "{found:?}"),
            Some(words) => assert!(found.len() == 1 && found[0].contains(words), "{found:?}"),
        }
    }
}

/// What is led to class 0 goes before all and no rate holds it, whatever class it matches too; what
/// matches nothing goes to the default.
#[test]
fn a_direct_queue_stands_beside_a_default() {
    let json = r#"{"main": {"htb": {"default": "rest", "direct": {"dscp": "cs6"}, "direct_qlen": 2, "classes": [
        {"name": "v", "match": {"dscp": ["cs6", "ef"]}, "rate": "80 kb/s", "burst": "1 kB", "cburst": "1 kB"},
        {"name": "rest", "rate": "80 kb/s", "burst": "1 kB", "cburst": "1 kB"}]}}}"#;
    let mut real = build(json, 1_000_000_000);
    let (mut rng, mut drops) = (Rng::from_key(1), Drops::new());
    for (seq, dscp) in [0, 46, 48, 48, 48].into_iter().enumerate() {
        let packet = Packet {
            dscp: Dscp::new(dscp).unwrap(),
            ..Packet::new(0, seq as u32, 1000)
        };
        real.enqueue(Time::ZERO, packet, &mut rng, &mut drops);
    }
    let lost: Vec<u32> = drops.as_slice().iter().map(|d| d.packet.seq).collect();
    assert_eq!(lost, [4]);
    assert_eq!(real.leaf_names(), ["v", "rest", "direct"]);
    let mut left = Vec::new();
    while let Some(packet) = real.dequeue(Time::ZERO, &mut rng, &mut drops) {
        left.push(packet.seq);
    }
    // Both classes have a burst for one packet.
    assert_eq!(left[..2], [2, 3]);
    assert_eq!(left.len(), 4);
}
