//! Vectors of COBALT by hand, and COBALT in plain words.

use proptest::prelude::*;
use spillgate_core::testkit::effort;
use spillgate_core::{Ecn, Rng};

use super::super::Managed;
use super::super::tests::{Script, facts};
use super::*;
use crate::recipe::test_at;

fn ms(t: f64) -> Time {
    Time::from_secs_f64(t / 1e3)
}

fn running(spec: &CobaltSpec) -> Cobalt {
    test_at(|at| spec.resolve(at, &facts())).unwrap()
}

fn of(variant: Option<CobaltVariant>) -> CobaltSpec {
    CobaltSpec {
        variant,
        // Else four packets of 8 ms are never too late.
        mtu: (variant != Some(CobaltVariant::Ns3)).then_some(Size(1)),
        ..CobaltSpec::default()
    }
}

const VARIANTS: [Option<CobaltVariant>; 3] =
    [None, Some(CobaltVariant::Linux), Some(CobaltVariant::Ns3)];

/// Vector (a): a change holds for the target, in both directions.
#[test]
fn blue_changes_at_most_once_in_a_target() {
    let p = running(&CobaltSpec::default()).params;
    let mut v = CobaltVars::new(&p);
    for (at, is_full, probability) in [
        (10.0, true, 1.0 / 256.0),
        (12.0, true, 1.0 / 256.0),
        (16.0, true, 2.0 / 256.0),
        (30.0, false, 31.0 / 4096.0),
        (33.0, false, 31.0 / 4096.0),
        (36.0, false, 30.0 / 4096.0),
    ] {
        match is_full {
            true => v.full(&p, ms(at)),
            false => v.empty(&p, ms(at)),
        }
        assert_eq!(v.probability(), probability, "{at}");
    }
    for at in 0..600 {
        v.full(&p, ms(100.0 + 6.0 * f64::from(at)));
    }
    assert_eq!(v.p, u32::MAX);
}

/// Packets that have waited `waited` ms, one each 10 ms from 10 ms on after one at 0 that has not:
/// when they are signalled, and what is due after that.
fn signals(spec: &CobaltSpec, until: u32) -> (CobaltVars, CobaltParams, Vec<(f64, f64)>) {
    let p = running(spec).params;
    let mut v = CobaltVars::new(&p);
    let mut seen = Vec::new();
    let packet = Packet::new(0, 0, 1000);
    for i in 0..=until {
        let now = ms(100.0 + 10.0 * f64::from(i));
        let waited = Dur::from_ms(if i == 0 { 1 } else { 50 });
        let script = &mut Script::new(&[]);
        let ruling = v.judge(&p, now, waited, &packet, (0, false), script);
        if ruling != Ruling::Pass {
            let ms = |t: Time| t.as_secs_f64() * 1e3 - 100.0;
            seen.push((ms(now), ms(v.drop_next)));
        }
    }
    (v, p, seen)
}

/// Vector (b): with eight steps of Newton's method as in Linux, with four as in ns-3.
#[test]
fn signals_follow_by_the_root_of_their_count() {
    for (variant, due) in [
        (None, [180.711, 238.446, 288.446, 333.167, 373.992]),
        (
            Some(CobaltVariant::Ns3),
            [180.671, 238.406, 288.406, 333.127, 373.952],
        ),
    ] {
        let (_, _, seen) = signals(&of(variant), 34);
        let at: Vec<f64> = seen.iter().map(|s| s.0.round()).collect();
        assert_eq!(at, [110.0, 190.0, 240.0, 290.0, 340.0]);
        for ((_, next), due) in seen.iter().zip(due) {
            assert!((next - due).abs() < 6e-4, "{next} {due}");
        }
    }
}

/// Linux clears a new queue to zero, so that its first gap is none.
#[test]
fn the_second_packet_over_the_target_of_a_new_queue_of_linux_is_signalled() {
    let (_, _, seen) = signals(&of(Some(CobaltVariant::Linux)), 34);
    assert_eq!(seen[0].0.round(), 20.0);
    // The roots are those of the table from the first signal on.
    assert!((seen[0].1 - 80.711).abs() < 1e-3, "{seen:?}");
}

/// Vector (c): the count goes down by one for each due instant, and never back to 1 at once.
#[test]
fn the_count_decays_step_by_step() {
    let (mut v, p, seen) = signals(&of(None), 29);
    assert_eq!((seen.len(), v.count), (4, 5));
    let packet = Packet::new(0, 0, 1000);
    let mut counts = vec![v.count];
    for i in 30..100 {
        let now = ms(100.0 + 10.0 * f64::from(i));
        let fresh = Dur::from_ms(1);
        let script = &mut Script::new(&[]);
        let ruling = v.judge(&p, now, fresh, &packet, (0, false), script);
        assert_eq!(ruling, Ruling::Pass);
        if counts.last() != Some(&v.count) {
            counts.push(v.count);
        }
    }
    assert_eq!(counts, [5, 4, 3, 2, 1, 0]);
}

#[test]
fn the_table_is_that_of_linux_and_the_other_that_of_ns3() {
    assert_eq!(ROOTS[..2], [u32::MAX, u32::MAX]);
    assert_eq!(ROOTS[2], 3_037_000_500);
    for (count, root) in (2_u32..).zip(&ROOTS[2..]) {
        let exact = 4_294_967_296.0 / f64::from(count).sqrt();
        assert!((f64::from(*root) - exact).abs() < 4.0, "{count} {root}");
    }
    assert!((from_q32(ROOTS_OF_FOUR_STEPS[2]) - 0.706_708).abs() < 1e-6);
}

/// A packet that waited for at most four transmissions of the longest, and the last one of a queue.
#[test]
fn few_packets_and_the_last_one_pass() {
    let mut p = running(&of(None)).params;
    p.mtu_time = Dur::from_ms(20);
    let mut v = CobaltVars::new(&p);
    let packet = Packet::new(0, 0, 1000);
    let waited = |v: &mut CobaltVars, bulk, last, wait| {
        v.full(&p, ms(100.0));
        v.p = 0;
        let script = &mut Script::new(&[]);
        v.judge(
            &p,
            ms(100.0),
            Dur::from_ms(wait),
            &packet,
            (bulk, last),
            script,
        )
    };
    assert_eq!(waited(&mut v, 0, false, 80), Ruling::Pass);
    assert_eq!(waited(&mut v, 0, false, 81), Ruling::Drop(ms(100.0)));
    // Twice as long for each of so many queues.
    assert_eq!(waited(&mut v, 3, false, 120), Ruling::Pass);
    assert_eq!(waited(&mut v, 3, false, 121), Ruling::Drop(ms(100.0)));
    assert_eq!(waited(&mut v, 0, true, 81), Ruling::Pass);
}

/// COBALT in plain words: times in picoseconds, probabilities as numbers, nothing shared with the
/// above but the parameters.
struct Plain {
    variant: Option<CobaltVariant>,
    target: i128,
    interval: i128,
    four_mtu: i128,
    next: i128,
    changed: i128,
    count: u64,
    root: u64,
    p: f64,
    dropping: bool,
}

impl Plain {
    fn new(spec: &CobaltSpec) -> Self {
        let ns3 = spec.variant == Some(CobaltVariant::Ns3);
        let mtu = spec.mtu.map_or(1514, |m| m.0);
        Self {
            variant: spec.variant,
            target: spec.target.as_ps().into(),
            interval: spec.interval.as_ps().into(),
            four_mtu: match ns3 {
                true => 0,
                // 1.5 Mb/s are 16/3 us for a byte.
                false => 4 * (i128::from(mtu) * 16_000_000 / 3),
            },
            next: 0,
            changed: 0,
            count: 0,
            root: match spec.variant {
                Some(CobaltVariant::Linux) => 0,
                _ => 0xffff_ffff,
            },
            p: 0.0,
            dropping: false,
        }
    }

    fn newton(root: u64, count: u64) -> u64 {
        let r2 = (root * root) / (1 << 32);
        ((3 * (1_u64 << 32) - count * r2) / 4 * root) / (1 << 31)
    }

    fn count_to(&mut self, count: u64) {
        self.count = count;
        self.root = match count {
            0 | 1 => 0xffff_ffff,
            2..=15 => {
                let steps = if self.variant == Some(CobaltVariant::Ns3) {
                    4
                } else {
                    8
                };
                (1..=count)
                    .flat_map(|c| std::iter::repeat_n(c, steps))
                    .fold(0xffff_ffff, Self::newton)
            }
            _ => Self::newton(self.root, count),
        };
        self.next += self.interval * i128::from(self.root) / (1 << 32);
    }

    fn full(&mut self, now: i128) {
        if now - self.changed > self.target {
            self.p = (self.p + 1.0 / 256.0).min(1.0);
            self.changed = now;
        }
        self.dropping = true;
        self.next = now;
        if self.count == 0 {
            self.count = 1;
        }
    }

    fn empty(&mut self, now: i128) {
        if self.p > 0.0 && now - self.changed > self.target {
            self.p = (self.p - 1.0 / 4096.0).max(0.0);
            self.changed = now;
        }
        self.dropping = false;
        if self.count > 0 && now >= self.next {
            self.count_to(self.count - 1);
        }
    }

    /// Whether the packet is marked, and whether it is dropped.
    fn judge(&mut self, now: i128, waited: i128, ecn: bool, last: bool, u: f64) -> (bool, bool) {
        let ns3 = self.variant == Some(CobaltVariant::Ns3);
        let mut ahead = now - self.next;
        let due = self.count > 0 && ahead >= 0;
        if waited > self.target && waited > self.four_mtu {
            if !self.dropping {
                self.dropping = true;
                self.next = now + self.interval * i128::from(self.root) / (1 << 32);
            }
            if self.count == 0 {
                self.count = 1;
            }
        } else {
            self.dropping = false;
        }
        let (mut mark, mut drop) = (false, false);
        if due && self.dropping {
            (mark, drop) = (ecn, !ecn);
            self.count_to(self.count + 1);
            ahead = now - self.next;
        } else if due {
            while self.count > 0 && ahead >= 0 {
                self.count_to(self.count - 1);
                ahead = now - self.next;
            }
        }
        if ns3 && waited > 400_000_000_000 && now - self.changed > self.target {
            self.p = (self.p + 1.0 / 256.0).min(1.0);
            self.changed = now;
        }
        if self.p > 0.0 && u < self.p {
            (mark, drop) = (mark && drop, true);
        }
        if self.count == 0 {
            self.next = now + self.interval;
        } else if ahead > 0 && !drop {
            self.next = now;
        }
        if drop && last && !ns3 {
            return (false, false);
        }
        (mark, drop)
    }
}

#[derive(Clone, Copy, Debug)]
enum Event {
    /// A packet leaves that has waited so many us.
    Leaves {
        waited: u64,
        ecn: bool,
        last: bool,
    },
    Full,
    Empty,
}

fn events() -> impl Strategy<Value = Vec<(u64, Event)>> {
    let leaves = (
        prop_oneof![0_u64..9_000, 0_u64..60_000, 300_000_u64..500_000],
        any::<bool>(),
        prop::bool::weighted(0.1),
    )
        .prop_map(|(waited, ecn, last)| Event::Leaves { waited, ecn, last });
    let event = prop_oneof![12 => leaves, 1 => Just(Event::Full), 1 => Just(Event::Empty)];
    let gap = prop_oneof![6 => 0_u64..3_000, 3 => 0_u64..40_000, 1 => 0_u64..900_000];
    prop::collection::vec((gap, event), 1..400)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200 * effort()))]

    #[test]
    fn agrees_with_plain_words(all in events(), variant in 0_usize..3, mtu in prop::option::of(1_u64..1500), seed in any::<u64>()) {
        let variant = VARIANTS[variant];
        let spec = CobaltSpec {
            variant,
            mtu: mtu.map(Size).filter(|_| variant != Some(CobaltVariant::Ns3)),
            ..CobaltSpec::default()
        };
        let p = running(&spec).params;
        let (mut v, mut plain) = (CobaltVars::new(&p), Plain::new(&spec));
        let (mut now, mut rng) = (500_000_u64, Rng::from_key(seed));
        for (gap, event) in all {
            now += gap;
            let at = Time::from_ps(now * 1_000_000);
            let ps = i128::from(at.as_ps());
            match event {
                Event::Full => { v.full(&p, at); plain.full(ps); }
                Event::Empty => { v.empty(&p, at); plain.empty(ps); }
                Event::Leaves { waited, ecn, last } => {
                    // Near 0, so that BLUE hits now and then.
                    let u = rng.f64() / 20.0;
                    let packet = Packet { ecn: if ecn { Ecn::Ect0 } else { Ecn::NotEct }, ..Packet::new(0, 0, 100) };
                    let script = &mut Script::new(&[u]);
                    let got = v.judge(&p, at, Dur::from_us(waited), &packet, (0, last), script);
                    let got = match got {
                        Ruling::Pass => (false, false),
                        Ruling::Mark(_) => (true, false),
                        Ruling::Drop(_) | Ruling::Blue { .. } => (false, true),
                    };
                    prop_assert_eq!(got, plain.judge(ps, i128::from(waited) * 1_000_000, ecn, last, u));
                }
            }
            prop_assert_eq!((u64::from(v.count), v.dropping, i128::from(v.drop_next.as_ps())), (plain.count, plain.dropping, plain.next));
            prop_assert!((v.probability() - plain.p).abs() < 1e-9);
        }
    }
}

/// Found empty once, when its last packet has been sent.
#[test]
fn a_fifo_is_found_empty_when_its_last_packet_has_been_sent() {
    let mut aqm = Managed::new(running(&of(None)));
    aqm.vars.of.p = 1 << 24;
    let packet = Packet::new(0, 0, 1000);
    let arrives = |aqm: &mut Managed<Cobalt>, at: f64| {
        let none = &mut Script::new(&[]);
        aqm.arrival(ms(at), &Backlog::default(), &packet, none);
        aqm.vars.of.probability()
    };
    aqm.emptied(ms(20.0));
    aqm.emptied(ms(28.0));
    // It came before the end of the transmission: a dequeue would have found it.
    assert_eq!(arrives(&mut aqm, 27.0), 1.0 / 256.0);
    aqm.emptied(ms(30.0));
    aqm.emptied(ms(38.0));
    assert_eq!(arrives(&mut aqm, 60.0), 15.0 / 4096.0);
    assert_eq!(arrives(&mut aqm, 70.0), 15.0 / 4096.0);
}
