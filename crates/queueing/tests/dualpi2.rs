//! DualPI2 beside a second one in plain words: no event is skipped, nothing is computed late.

use crate::common::{build, rate};
use proptest::prelude::*;
use spillgate_core::testkit::effort;
use spillgate_core::{Dropped, Drops, Dur, Ecn, Packet, Rng, Time};
use spillgate_queueing::{Cause, Discipline, Evidence};

const BPS: u64 = 8_000_000;

/// What a case sets of both.
#[derive(Clone, Debug)]
struct Settings {
    linux: bool,
    draw: bool,
    overload: bool,
    shift_us: Option<u64>,
    /// In hundredths.
    share: u64,
    k: f64,
    alpha: f64,
    beta: f64,
    threshold_us: u64,
    range_us: u64,
    least: u32,
    /// In packets, or in bytes.
    packets: Option<u32>,
    bytes: u64,
}

impl Settings {
    fn json(&self) -> String {
        let variant = if self.linux { r#""as": "linux", "# } else { "" };
        let decide = if self.draw { "draw" } else { "recur" };
        let turns = match self.shift_us {
            Some(us) => format!(r#""time_shift": "{us} us""#),
            None => format!(r#""classic_share": {}"#, self.share as f64 / 100.0),
        };
        let limit = match self.packets {
            Some(n) => format!("{n} packets"),
            None => format!("{} B", self.bytes),
        };
        format!(
            r#"{{"main": {{"dualpi2": {{{variant}"decide": "{decide}", "drop_on_overload": {}, {turns}, "coupling": {},
                "alpha": {}, "beta": {}, "target": "4 ms", "update": "3 ms", "threshold": "{} us", "range": "{} us",
                "min_packets": {}, "mtu": "1500 B", "limit": "{limit}"}}}}}}"#,
            self.overload,
            self.k,
            self.alpha,
            self.beta,
            self.threshold_us,
            self.range_us,
            self.least
        )
    }
}

fn settings() -> impl Strategy<Value = Settings> {
    let rules = (any::<bool>(), any::<bool>(), any::<bool>());
    let turns = (prop::option::of(0..20_000_u64), 1..100_u64);
    // Numbers that are read back as they were.
    let gains = (30..300_u32, 10..800_u32, 10..4000_u32);
    let ramp = (0..6_000_u64, prop_oneof![Just(0), 0..6_000_u64], 0..4_u32);
    let limit = (prop::option::of(1..40_u32), 1_500..60_000_u64);
    (rules, turns, gains, ramp, limit).prop_map(|(rules, turns, gains, ramp, limit)| Settings {
        linux: rules.0,
        draw: rules.1,
        overload: rules.2,
        shift_us: turns.0,
        share: turns.1,
        k: f64::from(gains.0) / 100.0,
        alpha: f64::from(gains.1) / 100.0,
        beta: f64::from(gains.2) / 100.0,
        threshold_us: ramp.0,
        range_us: ramp.1,
        least: ramp.2,
        packets: limit.0,
        bytes: limit.1,
    })
}

/// The second one. Queues are lists, L first; the flag says that a packet may be marked for its
/// wait.
struct Plain {
    of: Settings,
    queues: [Vec<(Packet, bool)>; 2],
    p: f64,
    before: f64,
    tick: Option<Time>,
    credit: i64,
    sums: [f64; 2],
    rng: Rng,
}

impl Plain {
    fn new(of: Settings, rng: Rng) -> Self {
        let credit = Self::start(&of);
        let queues = [Vec::new(), Vec::new()];
        Self {
            of,
            queues,
            p: 0.0,
            before: 0.0,
            tick: None,
            credit,
            sums: [0.0; 2],
            rng,
        }
    }

    fn start(of: &Settings) -> i64 {
        1500 * (of.share as i64 - (100 - of.share as i64))
    }

    fn bytes(&self) -> u64 {
        let all = self.queues.iter().flatten();
        all.map(|(p, _)| u64::from(p.len)).sum()
    }

    fn waiting(&self) -> usize {
        self.queues[0].len() + self.queues[1].len()
    }

    /// All ticks up to now, each by itself.
    fn ticks(&mut self, now: Time) {
        while let Some(tick) = self.tick.filter(|t| *t <= now) {
            let waits = self.queues.iter().filter_map(|q| q.first());
            let waits = waits.map(|(p, _)| tick.since(p.arrived));
            let longest = waits.max().unwrap_or(Dur::ZERO).as_secs_f64();
            let most = match self.of.overload {
                true => 1.0,
                false => (1.0 / self.of.k).min(1.0),
            };
            let step = self.of.alpha * (longest - 0.004) + self.of.beta * (longest - self.before);
            self.p = (self.p + step).max(0.0).min(most);
            self.before = longest;
            self.tick = Some(tick + Dur::from_ms(3));
            if self.waiting() == 0 && self.p == 0.0 {
                (self.tick, self.sums) = (None, [0.0; 2]);
            }
        }
    }

    /// Whether it is dropped.
    fn arrive(&mut self, now: Time, packet: Packet) -> bool {
        self.ticks(now);
        let counted = match self.of.linux {
            true => packet.len,
            false => packet.len.max(1500),
        };
        let full = match self.of.packets {
            Some(n) => self.waiting() >= n as usize,
            None => self.bytes() + u64::from(counted) > self.of.bytes,
        };
        if full {
            return true;
        }
        if self.tick.is_none() {
            let periods = now.as_ps() / 3_000_000_000 + 1;
            self.tick = Some(match self.of.linux {
                true => Time::from_ps(periods * 3_000_000_000),
                false => now + Dur::from_ms(3),
            });
        }
        let to = usize::from(!matches!(packet.ecn, Ecn::Ect1 | Ecn::Ce));
        let found = self.queues[0].len() as u32;
        self.queues[to].push((packet, found >= self.of.least));
        false
    }

    /// A number decides, or a sum; a square is decided by two numbers.
    fn chance(&mut self, queue: usize, p: f64, root: Option<f64>) -> bool {
        if p <= 0.0 || p >= 1.0 {
            return p >= 1.0;
        }
        if !self.of.draw {
            self.sums[queue] += p;
            let hit = self.sums[queue] > 1.0;
            if hit {
                self.sums[queue] -= 1.0;
            }
            return hit;
        }
        match root {
            None => self.rng.f64() < p,
            Some(root) => self.rng.f64() < root && self.rng.f64() < root,
        }
    }

    fn next_queue(&self) -> Option<usize> {
        let [l, c] = &self.queues;
        match (l.first(), c.first()) {
            (None, None) => None,
            (Some(_), None) => Some(0),
            (None, Some(_)) => Some(1),
            (Some((l, _)), Some((c, _))) => Some(match self.of.shift_us {
                Some(us) => usize::from(l.arrived > c.arrived + Dur::from_us(us)),
                None => usize::from(self.credit > 0),
            }),
        }
    }

    /// The probability of a packet of L by its own wait.
    fn native(&self, waited: Dur) -> f64 {
        let (from, range) = (
            Dur::from_us(self.of.threshold_us),
            Dur::from_us(self.of.range_us),
        );
        let above = waited.as_ps() as f64 - from.as_ps() as f64;
        if range.is_zero() {
            let reached = if self.of.linux {
                above > 0.0
            } else {
                above >= 0.0
            };
            return if reached { 1.0 } else { 0.0 };
        }
        (above / range.as_ps() as f64).clamp(0.0, 1.0)
    }

    /// What leaves, after what is dropped before it.
    fn leave(&mut self, now: Time) -> (Vec<Packet>, Option<Packet>) {
        self.ticks(now);
        let mut lost = Vec::new();
        while let Some(from) = self.next_queue() {
            let (mut packet, flag) = self.queues[from].remove(0);
            let behind = self.queues[0].len() as u32;
            let (square, coupled) = (self.p * self.p, self.of.k * self.p);
            let over = self.of.overload
                && if self.of.linux {
                    coupled > 1.0
                } else {
                    coupled >= 1.0
                };
            let spared = self.of.linux && self.bytes() < 3000;
            let (mut drop, mut mark) = (false, false);
            if from == 1 {
                if !spared && self.chance(1, square, Some(self.p)) {
                    mark = packet.ecn.is_capable() && !over;
                    drop = !mark;
                }
            } else {
                let may = if self.of.linux {
                    flag
                } else {
                    behind > self.of.least
                };
                let native = if may {
                    self.native(now.since(packet.arrived))
                } else {
                    0.0
                };
                if over && !spared {
                    drop = self.chance(0, square, Some(self.p));
                    mark = true;
                } else if self.of.linux {
                    mark = !spared && self.chance(0, coupled.min(1.0), None);
                    mark = mark || self.chance(0, native, None);
                } else {
                    mark = self.chance(0, coupled.min(1.0).max(native), None);
                }
            }
            let other_waits = !self.queues[1 - from].is_empty();
            if !drop && other_waits && self.of.shift_us.is_none() {
                let (len, share) = (i64::from(packet.len), self.of.share as i64);
                self.credit += if from == 0 {
                    share * len
                } else {
                    -(100 - share) * len
                };
            }
            if self.waiting() == 0 {
                self.credit = Self::start(&self.of);
            }
            if drop {
                lost.push(packet);
                continue;
            }
            if mark {
                packet.ecn = Ecn::Ce;
            }
            return (lost, Some(packet));
        }
        (lost, None)
    }
}

/// What is told of a packet.
fn told(p: &Packet) -> (u32, Ecn) {
    (p.seq, p.ecn)
}

fn dropped(sink: &mut Drops) -> Vec<(u32, Ecn)> {
    let all = sink.as_slice().iter();
    let all = all.map(|d: &Dropped| told(&d.packet)).collect();
    sink.clear();
    all
}

/// The evidence of a packet that was hit has the probabilities that hit it.
fn says_why(of: &Settings, ecn: Ecn, base: f64, why: Evidence) {
    let Cause::Coupled(odds) = why.cause else {
        panic!("{of:?}: {why:?}");
    };
    let scalable = matches!(ecn, Ecn::Ect1 | Ecn::Ce);
    assert_eq!(odds.l4s, scalable, "{of:?}");
    assert!((odds.base - base).abs() < 1e-12, "{of:?}: {odds:?}");
    assert!(odds.probability > 0.0 && odds.probability <= 1.0);
    if !scalable {
        assert_eq!(
            (odds.probability, odds.native),
            (odds.base * odds.base, 0.0)
        );
    }
    match odds.draw {
        // Of a square the root is what the number was compared with.
        Some(u) => assert!(of.draw && u < odds.probability.sqrt(), "{odds:?}"),
        None => assert!(!of.draw || odds.probability >= 1.0, "{odds:?}"),
    }
}

/// Both under the same traffic: a server of 8 Mb/s, and now and then a pause.
fn compare(of: &Settings, seed: u64) -> (u32, u32) {
    let mut d: Discipline = build_at(&of.json());
    let mut rng = Rng::from_key(seed);
    let mut plain = Plain::new(of.clone(), rng.clone());
    let mut traffic = Rng::from_key(!seed);
    let mut sink = Drops::new();
    let (mut now, mut free) = (Time::ZERO, Time::ZERO);
    let (mut marks, mut drops) = (0, 0);
    let mut sent: Vec<Ecn> = Vec::new();
    let load = 400 + traffic.below(1_600);
    for seq in 0..600 {
        let gap = match traffic.below(200) {
            0 => traffic.below(400_000),
            _ => traffic.below(load),
        };
        let next = now + Dur::from_us(gap.into());
        while free <= next && d.backlog_packets() > 0 {
            let at = free.max(now);
            let (lost, left) = plain.leave(at);
            let found = d.dequeue(at, &mut rng, &mut sink);
            let why = match (&found, sink.as_slice().last()) {
                (Some(p), _) if p.ecn == Ecn::Ce && sent[p.seq as usize] != Ecn::Ce => {
                    Some((sent[p.seq as usize], d.mark_evidence(at, p)))
                }
                (None, Some(last)) => Some((last.packet.ecn, d.evidence(at, last))),
                _ => None,
            };
            if let Some((ecn, why)) = why {
                says_why(of, ecn, plain.p, why);
            }
            let lost: Vec<_> = lost.iter().map(told).collect();
            assert_eq!(dropped(&mut sink), lost, "{of:?} at {at:?}");
            assert_eq!(
                found.as_ref().map(told),
                left.as_ref().map(told),
                "{of:?} at {at:?}"
            );
            drops += lost.len() as u32;
            let Some(packet) = found else { continue };
            marks += u32::from(packet.ecn == Ecn::Ce);
            free = at + rate(BPS).tx_time(packet.len);
        }
        now = next;
        free = free.max(now);
        let ecn =
            [Ecn::Ect1, Ecn::Ect1, Ecn::Ect0, Ecn::NotEct, Ecn::Ce][traffic.below(5) as usize];
        let packet = Packet {
            arrived: now,
            ecn,
            ..Packet::new(0, seq, 40 + traffic.below(1_461) as u16)
        };
        sent.push(ecn);
        let refused = plain.arrive(now, packet);
        d.enqueue(now, packet, &mut rng, &mut sink);
        assert_eq!(!dropped(&mut sink).is_empty(), refused, "{of:?} at {now:?}");
        let state = d.gauges(0, now).state;
        let base = state.iter().find(|s| s.0 == "base_probability").unwrap().1;
        assert!(
            (base - plain.p).abs() < 1e-12,
            "{of:?} at {now:?}: {base} {}",
            plain.p
        );
    }
    (marks, drops)
}

fn build_at(json: &str) -> Discipline {
    build(json, BPS)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400 * effort(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_is_the_plain_one(of in settings(), seed in any::<u64>()) {
        compare(&of, seed);
    }
}

/// The comparison above sees marks and drops of both rules.
#[test]
fn the_comparison_reaches_every_outcome() {
    let base = Settings {
        linux: false,
        draw: false,
        overload: true,
        shift_us: None,
        share: 10,
        k: 2.0,
        alpha: 5.0,
        beta: 30.0,
        threshold_us: 800,
        range_us: 400,
        least: 1,
        packets: Some(1000),
        bytes: 0,
    };
    for linux in [false, true] {
        for draw in [false, true] {
            let of = Settings {
                linux,
                draw,
                ..base.clone()
            };
            let (marks, drops) = (0..20)
                .map(|seed| compare(&of, seed))
                .fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
            assert!(
                marks > 100 && drops > 100,
                "{linux} {draw}: {marks} {drops}"
            );
        }
    }
}
