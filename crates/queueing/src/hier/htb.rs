//! HTB: the hierarchical token bucket of Linux.
//!
//! Sources: Linux `net/sched/sch_htb.c` (M. Devera) and `tc-htb(8)`, for the rules and their order.
//!
//! Idea: each class has a bucket for what it is guaranteed (`rate`, `burst`) and one for what it
//! may send at most (`ceil`, `cburst`). Where the second is below zero it cannot send, where both
//! are not it can, else it may borrow: its parent then serves it as a part of itself. Classes that
//! can send stand in the row of their level and priority, those that borrow in the feed of their
//! parent. The lowest level with a row sends first, then the best priority, then a round robin by
//! deficits. Who has sent pays: classes from the lender up of both buckets, those below it of the
//! second.
//!
//! Deviations: buckets hold time multiplied by rate, which is exact (Linux rounds packets to
//! nanoseconds); rounds go by the order of the list (Linux: by class id); the time of a waiting
//! class is brought up to date at each charge, so that no wake-up comes too early; a leaf whose AQM
//! drops all its packets at a departure is skipped without moving the round on.
//!
//! Cost: O(depth) and the heaps of waiting classes for a packet. When nothing may leave, O(depth)
//! for each class with packets until one is found that may leave at the next event; mostly the
//! first.

use spillgate_core::time::PS_PER_SEC;
use spillgate_core::{Dur, Time};

use super::members::Members;
use super::{Hierarchy, Kin, Order, Pick};
use crate::evidence::BucketLevel;
use crate::guarantee::{Guarantee, Load, Reason};
use crate::sched::heap::MinHeap;

/// Levels; leaves have 0, classes without a parent that have children the last one.
pub(super) const LEVELS: usize = 8;
/// Values of `prio`.
pub(super) const PRIOS: usize = 8;
/// The most that a bucket may lack, and the most that it gains at once, as time at its rate.
pub(super) const LONGEST_WAIT: u64 = 60 * PS_PER_SEC;
/// Units of a bucket for a byte: a picosecond at b bits per second brings b.
const UNITS: i128 = 8 * PS_PER_SEC as i128;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    CannotSend,
    MayBorrow,
    CanSend,
}

/// One of the two buckets of a class.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bucket {
    tokens: i128,
    full: i128,
    bps: u64,
}

impl Bucket {
    fn new(bps: u64, burst: u64) -> Self {
        let full = UNITS * i128::from(burst);
        Self {
            tokens: full,
            full,
            bps,
        }
    }

    #[inline]
    fn gain(&self, ps: u64) -> i128 {
        (u128::from(ps) * u128::from(self.bps)) as i128
    }

    #[inline]
    fn pay(&mut self, elapsed: u64, bytes: u32) {
        let gained = (self.tokens + self.gain(elapsed)).min(self.full);
        let least = -self.gain(LONGEST_WAIT);
        self.tokens = (gained - UNITS * i128::from(bytes)).max(least);
    }

    /// The time that it takes to gain what is missing; none if nothing is.
    #[inline]
    fn lacks(&self, missing: i128) -> u64 {
        let missing = missing.max(0) as u128;
        match u64::try_from(missing) {
            Ok(missing) => missing.div_ceil(self.bps),
            Err(_) => missing.div_ceil(u128::from(self.bps)) as u64,
        }
    }

    /// Takes another rate and burst; what is full stays full.
    fn retune(&mut self, fresh: &Self) {
        let was_full = self.tokens == self.full;
        (self.full, self.bps) = (fresh.full, fresh.bps);
        self.tokens = if was_full {
            self.full
        } else {
            self.tokens.min(self.full)
        };
    }

    fn describe(&self, elapsed: u64) -> BucketLevel {
        let tokens = (self.tokens + self.gain(elapsed)).clamp(0, self.full);
        BucketLevel {
            tokens: (tokens / UNITS) as u64,
            burst: (self.full / UNITS) as u64,
            bps: self.bps,
        }
    }
}

/// The parameters of a class, in b/s and bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    pub(super) rate: u64,
    pub(super) ceil: u64,
    pub(super) burst: u64,
    pub(super) cburst: u64,
    pub(super) quantum: u32,
    pub(super) prio: u8,
}

#[derive(Clone, Debug)]
struct Class {
    rate: Bucket,
    ceil: Bucket,
    /// When the buckets were last brought up to date.
    at: Time,
    mode: Mode,
    level: u8,
    prio: u8,
    /// The priorities of the packets that wait in it or borrow from it, a bit each.
    active: u8,
    /// The priorities of the leaves below it.
    below: u8,
    parent: Option<u16>,
    /// Index of its first feed, one for each priority below it.
    feeds: u32,
    quantum: i64,
    deficits: [i64; LEVELS],
}

/// Classes that are served in turns: a row, or the feed of a class.
#[derive(Clone, Debug, Default)]
struct Round {
    members: Members,
    now: Option<u16>,
    /// The class that was served when it left.
    last: Option<u16>,
}

impl Round {
    /// The class whose turn it is; none at the end of the round.
    #[inline]
    fn current(&mut self) -> Option<u16> {
        if let (None, Some(last)) = (self.now, self.last.take()) {
            self.now = self.members.from(last);
        }
        self.now
    }

    #[inline]
    fn advance(&mut self) {
        self.now = self.now.and_then(|n| self.members.after(n));
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Htb {
    classes: Vec<Class>,
    /// Rows by level and priority, then the feeds of classes.
    rounds: Vec<Round>,
    /// The priorities with a row that is not empty, by level, a bit each.
    rows: [u8; LEVELS],
    /// By level, the classes that cannot send yet, by the time at which their mode changes.
    waiting: [MinHeap<Time>; LEVELS],
    /// The leaves with packets.
    backlogged: Members,
    hysteresis: bool,
    /// Times of changes are rounded up to a multiple of this.
    timer: u64,
}

impl Htb {
    pub(super) fn new(kin: &[Kin], terms: &[Terms], timer: Dur, hysteresis: bool) -> Self {
        let class = |(k, t): (&Kin, &Terms)| Class {
            rate: Bucket::new(t.rate, t.burst),
            ceil: Bucket::new(t.ceil, t.cburst),
            at: Time::ZERO,
            mode: Mode::CanSend,
            level: match k.leaf {
                Some(_) => 0,
                None => (LEVELS - 1).saturating_sub(k.depth) as u8,
            },
            prio: t.prio,
            active: 0,
            below: 0,
            parent: k.parent,
            feeds: 0,
            quantum: i64::from(t.quantum).max(1),
            deficits: [0; LEVELS],
        };
        let n = kin.len();
        let mut htb = Self {
            classes: kin.iter().zip(terms).map(class).collect(),
            rounds: Vec::new(),
            rows: [0; LEVELS],
            waiting: std::array::from_fn(|_| MinHeap::with_ids(n)),
            backlogged: Members::new(0, n.saturating_sub(1) as u16),
            hysteresis,
            timer: timer.as_ps().max(1),
        };
        htb.make_rounds();
        htb
    }

    /// The parameters of a class.
    pub(super) fn terms(&self, class: u16) -> Terms {
        let own = &self.classes[usize::from(class)];
        let bytes = |b: &Bucket| (b.full / UNITS) as u64;
        Terms {
            rate: own.rate.bps,
            ceil: own.ceil.bps,
            burst: bytes(&own.rate),
            cburst: bytes(&own.ceil),
            quantum: own.quantum as u32,
            prio: own.prio,
        }
    }

    /// How late a class may be seen to have tokens again.
    pub(super) fn granularity(&self) -> Dur {
        // Times are rounded up to a picosecond, and then to the timer.
        Dur::from_ps(self.timer.saturating_add(1))
    }

    /// Whether classes keep their mode until a bucket is its whole depth below zero.
    pub(super) fn has_hysteresis(&self) -> bool {
        self.hysteresis
    }

    /// Makes an empty row for each level and priority, and a feed for each class and each priority
    /// below it.
    fn make_rounds(&mut self) {
        let n = self.classes.len();
        let mut rows = [None; LEVELS * PRIOS];
        let mut children = vec![None; n];
        let widen = |of: &mut Option<(u16, u16)>, c: u16| {
            *of = Some(of.map_or((c, c), |(first, _)| (first, c)));
        };
        for c in 0..n as u16 {
            let Class {
                level,
                prio,
                parent,
                ..
            } = self.classes[usize::from(c)];
            if let Some(p) = parent {
                widen(&mut children[usize::from(p)], c);
            }
            let mut up = if level == 0 { Some(c) } else { None };
            while let Some(a) = up {
                let class = &mut self.classes[usize::from(a)];
                if class.level > 0 {
                    class.below |= 1 << prio;
                }
                up = class.parent;
            }
        }
        for c in 0..n as u16 {
            let class = &self.classes[usize::from(c)];
            let prios = if class.level == 0 {
                1 << class.prio
            } else {
                class.below
            };
            for prio in bits(prios) {
                widen(&mut rows[usize::from(class.level) * PRIOS + prio], c);
            }
        }
        let round = |range: Option<(u16, u16)>| Round {
            members: range.map_or_else(Members::default, |(a, b)| Members::new(a, b)),
            ..Round::default()
        };
        self.rounds = rows.into_iter().map(round).collect();
        for (class, range) in self.classes.iter_mut().zip(children) {
            class.feeds = self.rounds.len() as u32;
            let feeds = (0..class.below.count_ones()).map(|_| round(range));
            self.rounds.extend(feeds);
        }
    }

    /// The feed of a class for a priority that a leaf below it has.
    #[inline]
    fn feed(&self, class: u16, prio: usize) -> usize {
        let class = &self.classes[usize::from(class)];
        let before = class.below & ((1 << prio) - 1);
        class.feeds as usize + before.count_ones() as usize
    }

    /// The mode of a class after so much time since its last charge, and how long after that time
    /// it changes.
    #[inline]
    fn mode(&self, class: &Class, elapsed: u64) -> (Mode, u64) {
        let below = |on: bool, bucket: &Bucket| {
            if on && self.hysteresis {
                -bucket.full
            } else {
                0
            }
        };
        let ceil = class.ceil.tokens + class.ceil.gain(elapsed);
        if ceil < below(class.mode != Mode::CannotSend, &class.ceil) {
            return (Mode::CannotSend, class.ceil.lacks(-ceil));
        }
        let rate = class.rate.tokens + class.rate.gain(elapsed);
        if rate >= below(class.mode == Mode::CanSend, &class.rate) {
            return (Mode::CanSend, 0);
        }
        (Mode::MayBorrow, class.rate.lacks(-rate))
    }

    /// Puts a class that has packets where its mode has it.
    fn link(&mut self, class: u16) {
        let (mut c, mut prios) = (class, self.classes[usize::from(class)].active);
        while prios != 0 && self.classes[usize::from(c)].mode == Mode::MayBorrow {
            let Some(p) = self.classes[usize::from(c)].parent else {
                return;
            };
            for prio in bits(prios) {
                let feed = self.feed(p, prio);
                let members = &mut self.rounds[feed].members;
                if !members.is_empty() {
                    // The parent has its place already.
                    prios &= !(1 << prio);
                }
                members.insert(c);
            }
            self.classes[usize::from(p)].active |= prios;
            c = p;
        }
        let Class { level, mode, .. } = self.classes[usize::from(c)];
        if mode == Mode::CanSend {
            self.rows[usize::from(level)] |= prios;
            for prio in bits(prios) {
                let row = &mut self.rounds[usize::from(level) * PRIOS + prio];
                row.members.insert(c);
            }
        }
    }

    /// Takes a class away from where its mode, still the old one, has it.
    fn unlink(&mut self, class: u16) {
        let (mut c, mut prios) = (class, self.classes[usize::from(class)].active);
        while prios != 0 && self.classes[usize::from(c)].mode == Mode::MayBorrow {
            let Some(p) = self.classes[usize::from(c)].parent else {
                return;
            };
            let mut emptied = 0;
            for prio in bits(prios) {
                let feed = self.feed(p, prio);
                let feed = &mut self.rounds[feed];
                if feed.now == Some(c) {
                    (feed.now, feed.last) = (None, Some(c));
                }
                feed.members.remove(c);
                emptied |= u8::from(feed.members.is_empty()) << prio;
            }
            prios = emptied;
            self.classes[usize::from(p)].active &= !prios;
            c = p;
        }
        let Class { level, mode, .. } = self.classes[usize::from(c)];
        if mode == Mode::CanSend {
            for prio in bits(prios) {
                let row = &mut self.rounds[usize::from(level) * PRIOS + prio];
                if row.now == Some(c) {
                    row.advance();
                }
                row.members.remove(c);
                if row.members.is_empty() {
                    self.rows[usize::from(level)] &= !(1 << prio);
                }
            }
        }
    }

    /// Gives a class the mode that it has so long after its last charge, and notes when that
    /// changes.
    fn update(&mut self, class: u16, elapsed: u64, now: Time) {
        let own = &self.classes[usize::from(class)];
        let (mode, wait) = self.mode(own, elapsed);
        let (level, old, active) = (usize::from(own.level), own.mode, own.active);
        if mode != old {
            if active != 0 && old != Mode::CannotSend {
                self.unlink(class);
            }
            self.classes[usize::from(class)].mode = mode;
            if active != 0 && mode != Mode::CannotSend {
                self.link(class);
            }
        }
        match mode {
            Mode::CanSend => self.waiting[level].remove(class.into()),
            _ => {
                let at = self.rounded(now + Dur::from_ps(wait.max(1)));
                self.waiting[level].set(class.into(), at);
            }
        }
    }

    /// The next time at which the timer goes off.
    #[inline]
    fn rounded(&self, at: Time) -> Time {
        if self.timer == 1 {
            return at;
        }
        let ticks = at.as_ps().div_ceil(self.timer);
        Time::from_ps(ticks.saturating_mul(self.timer))
    }

    /// The last time at which it went off: what happens later is seen at the next.
    #[inline]
    fn tick(&self, now: Time) -> Time {
        match self.timer {
            1 => now,
            timer => Time::from_ps(now.as_ps() / timer * timer),
        }
    }

    /// Changes the modes of a level that are due.
    fn events(&mut self, level: usize, now: Time) {
        let tick = self.tick(now);
        while let Some((at, class)) = self.waiting[level].first() {
            if at > tick {
                return;
            }
            let class = class as u16;
            self.update(class, self.elapsed(class, tick), tick);
        }
    }

    #[inline]
    fn elapsed(&self, class: u16, now: Time) -> u64 {
        let since = now.since(self.classes[usize::from(class)].at).as_ps();
        since.min(LONGEST_WAIT)
    }

    /// The leaf whose turn it is in a row that is not empty.
    fn leaf_of(&mut self, row: usize, prio: usize) -> u16 {
        let mut path = [row; LEVELS + 1];
        let mut depth = 0;
        loop {
            let round = &mut self.rounds[path[depth]];
            match round.current() {
                None => {
                    round.now = round.members.least();
                    if depth > 0 {
                        depth -= 1;
                        self.rounds[path[depth]].advance();
                    }
                }
                Some(c) if self.classes[usize::from(c)].level == 0 => return c,
                Some(c) => {
                    depth += 1;
                    path[depth] = self.feed(c, prio);
                }
            }
        }
    }

    /// A leaf sent a packet on what a class of this level lends it.
    fn charge(&mut self, leaf: u16, level: u8, bytes: u32, now: Time) {
        let mut next = Some(leaf);
        while let Some(c) = next {
            let elapsed = self.elapsed(c, now);
            let class = &mut self.classes[usize::from(c)];
            if class.level >= level {
                class.rate.pay(elapsed, bytes);
            } else {
                class.rate.tokens += class.rate.gain(elapsed);
            }
            class.ceil.pay(elapsed, bytes);
            class.at = now;
            next = class.parent;
            self.update(c, 0, now);
        }
    }

    /// When a class may borrow, and when it can send, if nothing is sent before.
    fn changes(&self, class: &Class, id: u16, now: Time) -> (Time, Time) {
        let level = usize::from(class.level);
        let due = self.waiting[level].key(id.into()).unwrap_or(now);
        match class.mode {
            Mode::CanSend => (now, now),
            Mode::MayBorrow => (now, due.max(now)),
            Mode::CannotSend => {
                // A change that is due is looked at now.
                let due = due.max(self.tick(now));
                let elapsed = due.since(class.at).as_ps().min(LONGEST_WAIT);
                let (mode, wait) = self.mode(class, elapsed);
                let later = self.rounded(due + Dur::from_ps(wait.max(1)));
                match mode {
                    Mode::CanSend => (due.max(now), due.max(now)),
                    Mode::MayBorrow => (due.max(now), later),
                    Mode::CannotSend => (later, later),
                }
            }
        }
    }

    /// When a leaf may send, if nothing is sent before; none if it never may.
    fn ready(&self, leaf: u16, now: Time) -> Time {
        let (mut after, mut best) = (now, Time::MAX);
        let mut next = Some(leaf);
        while let Some(c) = next {
            let class = &self.classes[usize::from(c)];
            let (borrows, sends) = self.changes(class, c, now);
            best = best.min(after.max(sends));
            after = after.max(borrows);
            if after >= best {
                break;
            }
            next = class.parent;
        }
        best
    }
}

/// The bits that are set, from the lowest.
fn bits(mask: u8) -> impl Iterator<Item = usize> {
    let rest = std::iter::successors(Some(mask), |m| Some(m & m.wrapping_sub(1)));
    rest.take_while(|m| *m != 0)
        .map(|m| m.trailing_zeros() as usize)
}

impl Order for Htb {
    fn fills(&mut self, class: u16, _: u32, _: Time) {
        self.backlogged.insert(class);
        let own = &mut self.classes[usize::from(class)];
        own.active = 1 << own.prio;
        self.link(class);
    }

    fn empties(&mut self, class: u16, _: Time) {
        self.backlogged.remove(class);
        self.unlink(class);
        self.classes[usize::from(class)].active = 0;
    }

    fn pick(&mut self, now: Time) -> Option<Pick> {
        for level in 0..LEVELS {
            self.events(level, now);
            if self.rows[level] != 0 {
                let prio = self.rows[level].trailing_zeros() as usize;
                let class = self.leaf_of(level * PRIOS + prio, prio);
                return Some(Pick {
                    class,
                    how: level as u8,
                });
            }
        }
        None
    }

    fn sent(&mut self, pick: Pick, len: u32, next: Option<u32>, now: Time) {
        let level = usize::from(pick.how);
        let class = &mut self.classes[usize::from(pick.class)];
        let (parent, prio) = (class.parent, usize::from(class.prio));
        let deficit = &mut class.deficits[level];
        *deficit -= i64::from(len);
        if *deficit < 0 {
            *deficit += class.quantum;
            let round = match parent {
                Some(p) if level > 0 => self.feed(p, prio),
                _ => prio,
            };
            self.rounds[round].advance();
        }
        if next.is_none() {
            self.empties(pick.class, now);
        }
        self.charge(pick.class, pick.how, len, now);
    }

    fn next_wake(&self, now: Time) -> Option<Time> {
        if self.rows.iter().any(|prios| *prios != 0) {
            return Some(now);
        }
        // Nothing changes before the first event. Mostly a leaf that it concerns may send then.
        let events = self.waiting.iter().filter_map(MinHeap::first);
        let first = events.min();
        let bound = first.map_or(now, |(at, _)| at.max(now));
        let concerned = first.map(|(_, class)| class as u16);
        let concerned = concerned.filter(|c| self.backlogged.contains(*c));
        let mut best = None;
        for leaf in concerned.into_iter().chain(self.backlogged.iter()) {
            let ready = self.ready(leaf, now);
            best = Some(best.map_or(ready, |b: Time| b.min(ready)));
            if ready <= bound {
                break;
            }
        }
        best
    }

    fn is_held(&self, class: u16, now: Time) -> bool {
        self.ready(class, now) > now
    }

    fn reset(&mut self) {
        self.backlogged.clear();
        self.rows = [0; LEVELS];
        for round in &mut self.rounds {
            round.members.clear();
            (round.now, round.last) = (None, None);
        }
        for class in &mut self.classes {
            class.active = 0;
            class.deficits = [0; LEVELS];
        }
    }

    fn guarantee(of: &Hierarchy<Self>, leaf: u16, load: &Load) -> Result<Guarantee, Reason> {
        of.guaranteed(leaf, load)
    }

    fn retune(&mut self, now: Time, fresh: &Self) {
        for (c, f) in (0..).zip(&fresh.classes) {
            let own = &self.classes[usize::from(c)];
            let terms = |c: &Class| (c.rate.bps, c.rate.full, c.ceil.bps, c.ceil.full);
            if terms(own) != terms(f) {
                let elapsed = self.elapsed(c, now);
                let own = &mut self.classes[usize::from(c)];
                own.rate.pay(elapsed, 0);
                own.ceil.pay(elapsed, 0);
                own.at = now;
                own.rate.retune(&f.rate);
                own.ceil.retune(&f.ceil);
                self.update(c, 0, now);
            }
            self.classes[usize::from(c)].quantum = f.quantum;
        }
    }

    fn buckets(&self, now: Time) -> Vec<(u16, &'static str, BucketLevel)> {
        let mut all = Vec::new();
        for (c, class) in (0..).zip(&self.classes) {
            let elapsed = self.elapsed(c, now);
            all.push((c, "tokens_rate", class.rate.describe(elapsed)));
            all.push((c, "tokens_ceil", class.ceil.describe(elapsed)));
        }
        all
    }
}
