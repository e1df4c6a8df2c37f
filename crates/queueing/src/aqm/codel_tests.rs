//! Vectors of RFC 8289's law, of ns-3's CoDel and FQ-CoDel tests, and laws of the automaton.

use super::*;
use proptest::prelude::*;
use spillgate_core::Ecn;
use spillgate_core::testkit::effort;

fn ms(t: f64) -> Time {
    Time::from_secs_f64(t / 1e3)
}

fn judge(spec: &CodelSpec) -> Codel {
    Codel::new(crate::recipe::test_at(|at| spec.params(at)).unwrap())
}

fn packet(arrived: Time, ecn: Ecn) -> Packet {
    Packet {
        arrived,
        ecn,
        ..Packet::new(0, 0, 120)
    }
}

fn waited_for(now: Time, waited: Dur, ecn: Ecn) -> Packet {
    packet(Time::from_ps(now.as_ps() - waited.as_ps()), ecn)
}

/// Departures every `gap` ms of `n` packets of 120 B that came at 0: when packets were marked and
/// dropped, in ms, and what was due after each.
fn departures(spec: &CodelSpec, ecn: Ecn, n: u32, gap: f64) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let (mut judge, mut vars) = (judge(spec), CodelVars::NEW);
    let (mut marks, mut drops, mut due) = (Vec::new(), Vec::new(), Vec::new());
    let (mut left, mut visit) = (n, 0);
    while left > 0 {
        visit += 1;
        let now = ms(f64::from(visit) * gap);
        let mut stage = DropStage::First;
        while left > 0 {
            left -= 1;
            let p = packet(Time::ZERO, ecn);
            match judge.judge(&mut vars, &mut stage, now, &p, 120 * u64::from(left)) {
                Verdict::Pass => break,
                Verdict::Mark => {
                    marks.push(f64::from(visit) * gap);
                    due.push(vars.drop_next.as_secs_f64() * 1e3);
                    break;
                }
                Verdict::Drop(_) => drops.push(f64::from(visit) * gap),
            }
        }
        if vars.dropping {
            due.push(vars.drop_next.as_secs_f64() * 1e3);
            due.dedup();
        }
    }
    (marks, drops, due)
}

/// Linux: after packets were pushed out drops are as close as if CoDel had dropped them. Of a queue
/// that has lost 8 so and then waits for too long the second drop comes 100/√8 ms after the first.
#[test]
fn drops_after_a_push_out_are_close() {
    let (mut judge, mut vars) = (judge(&CodelSpec::default()), CodelVars::NEW);
    judge.pushed_out(&mut vars, 8);
    let mut seen = Vec::new();
    // A packet every 10 us.
    for us in (0..150_000_u64).step_by(10) {
        let now = ms(50.0) + Dur::from_us(us);
        let p = waited_for(now, Dur::from_ms(50), Ecn::NotEct);
        let mut stage = DropStage::First;
        while judge.judge(&mut vars, &mut stage, now, &p, 100_000) != Verdict::Pass {
            seen.push(us as f64 / 1e3);
        }
    }
    assert_eq!(seen, [100.0, 135.36]);
}

/// Drops after the first, in ms: partial sums of 100/√n.
#[test]
fn drops_come_faster_with_the_root_of_their_number() {
    let expected = [
        0.0, 100.0, 170.711, 228.446, 278.446, 323.167, 363.992, 401.788, 437.144, 470.477,
        502.100, 532.251,
    ];
    let (mut judge, mut vars) = (judge(&CodelSpec::default()), CodelVars::NEW);
    let mut seen = Vec::new();
    // A packet every 1 us, each having waited 50 ms, much waiting behind it.
    for us in 0..640_000_u64 {
        let now = ms(50.0) + Dur::from_us(us);
        let p = waited_for(now, Dur::from_ms(50), Ecn::NotEct);
        let mut stage = DropStage::First;
        while judge.judge(&mut vars, &mut stage, now, &p, 100_000) != Verdict::Pass {
            seen.push(us as f64 / 1e3 - 100.0);
        }
    }
    assert_eq!(seen.len(), expected.len(), "{seen:?}");
    for (got, want) in seen.iter().zip(expected) {
        // To the microsecond at which a packet comes by, and half a unit of the last digit.
        assert!((got - want).abs() <= 0.0015, "{seen:?}");
    }
}

/// Where a period of dropping goes on: count 20 at the end of one that began with 5.
#[test]
fn a_new_period_goes_on_where_the_last_one_was() {
    let judge = judge(&CodelSpec::default());
    let start = |count, last_count, later: f64| {
        let mut vars = CodelVars {
            count,
            last_count,
            drop_next: ms(1000.0),
            ..CodelVars::NEW
        };
        let now = ms(1000.0 + later);
        vars.begin(&judge.params, now);
        (vars.count, vars.drop_next.since(now).as_secs_f64() * 1e3)
    };
    let (count, gap) = start(20, 5, 1500.0);
    assert_eq!(count, 15);
    assert!((gap - 25.820).abs() < 0.0005, "{gap}");
    assert_eq!(start(6, 5, 1500.0).0, 1);
    assert_eq!(start(20, 5, 1700.0), (1, 100.0));
    // Before the drop that was due.
    assert_eq!(start(20, 5, -50.0).0, 15);
}

/// ns-3's test of FQ-CoDel in one queue: 20 packets of 120 B at 0, one visit every 110 ms.
#[test]
fn twenty_packets_that_wait_for_ever() {
    let spec = CodelSpec {
        ecn: true,
        max_packet: Size(1500),
        ..CodelSpec::default()
    };
    let (marks, drops, _) = departures(&spec, Ecn::Ect0, 20, 110.0);
    assert_eq!(marks, [220.0, 330.0, 440.0, 550.0, 660.0, 770.0]);
    assert!(drops.is_empty());
    let (marks, drops, due) = departures(&spec, Ecn::NotEct, 20, 110.0);
    assert_eq!((marks.len(), drops.len()), (0, 3));
    let expected = [320.0, 390.711, 448.446];
    assert_eq!(due.len(), expected.len(), "{due:?}");
    for (got, want) in due.iter().zip(expected) {
        assert!((got - want).abs() < 0.0005, "{due:?}");
    }
    // The 16-bit root after two drops is 1/2, not 1/√2, so that a fourth falls due.
    let newton = CodelSpec {
        inverse_sqrt: Some(InverseSqrt::Newton16),
        ..spec
    };
    let (marks, _, _) = departures(&newton, Ecn::Ect0, 20, 110.0);
    assert_eq!(marks.len(), 6);
    let (_, drops, _) = departures(&newton, Ecn::NotEct, 20, 110.0);
    assert_eq!(drops.len(), 4);
}

/// Ticks of 1.024 us, rounded down: 5 ms are 4882 of them and 100 ms 97,656. What has waited 4882
/// ticks has waited too long, the first drop comes one tick after its instant, and the next is due
/// 97,656 * 65,535 >> 16 ticks later.
#[test]
fn linux_counts_in_ticks() {
    let spec = CodelSpec {
        variant: Some(CodelVariant::Linux),
        ..CodelSpec::default()
    };
    assert_eq!(spec.root(), InverseSqrt::Newton16);
    let tick = |n: u64| Time::from_ps(n * 1_024_000);
    // Just before the end of a tick.
    let late = |n: u64| Time::from_ps((n + 1) * 1_024_000 - 1);
    let run = |spec: &CodelSpec, at: [Time; 3]| {
        let (mut judge, mut vars) = (judge(spec), CodelVars::NEW);
        let mut ask = |now, arrived| {
            let mut stage = DropStage::First;
            let p = packet(arrived, Ecn::Ect0);
            judge.judge(&mut vars, &mut stage, now, &p, 1_000_000)
        };
        let verdicts = at.map(|now| ask(now, Time::ZERO));
        (verdicts, vars)
    };
    let (verdicts, vars) = run(&spec, [late(4881), late(4882), late(4882 + 97_656)]);
    assert_eq!(verdicts, [Verdict::Pass; 3]);
    assert_eq!(vars.first_above, tick(4882 + 97_656));
    let marking = CodelSpec { ecn: true, ..spec };
    let begin = 4882 + 97_657;
    let (verdicts, vars) = run(&marking, [late(4882), tick(begin - 1), late(begin)]);
    assert_eq!(verdicts, [Verdict::Pass, Verdict::Pass, Verdict::Mark]);
    assert_eq!(vars.drop_next, tick(begin + ((97_656 * 65_535) >> 16)));
    // RFC 8289: not yet 5 ms; the instant belongs to what falls due.
    let exact = CodelSpec {
        variant: None,
        ..marking
    };
    let (verdicts, _) = run(&exact, [late(4881), ms(5.0), ms(105.0)]);
    assert_eq!(verdicts, [Verdict::Pass, Verdict::Pass, Verdict::Mark]);
}

/// The 16-bit root, stepped from count to count.
#[test]
fn newton_steps_lag_behind_the_root() {
    let mut vars = CodelVars {
        count: 1,
        ..CodelVars::NEW
    };
    let expected = [
        0.50002, 0.56250, 0.48779, 0.44151, 0.40407, 0.37518, 0.35152,
    ];
    for want in expected {
        vars.step();
        let got = f64::from(vars.root) / 65_536.0;
        // One unit of 16 bits, and half a unit of the fifth digit.
        assert!((got - want).abs() < 1.6e-5 + 5e-6, "{}: {got}", vars.count);
    }
    while vars.count < 16 {
        vars.step();
    }
    assert!((f64::from(vars.root) / 65_536.0 - 0.24963).abs() < 2.1e-5);
    // From 1 straight to 3 the method overshoots.
    let mut jumped = CodelVars {
        count: 3,
        ..CodelVars::NEW
    };
    jumped.improve_root();
    assert!(jumped.root <= 2, "{}", jumped.root);
}

#[test]
fn a_queue_of_one_packet_is_good() {
    let (mut judge, mut vars) = (judge(&CodelSpec::default()), CodelVars::NEW);
    for i in 0..1000 {
        let now = ms(1000.0 + f64::from(i));
        let p = waited_for(now, Dur::from_ms(900), Ecn::NotEct);
        let verdict = judge.judge(&mut vars, &mut DropStage::First, now, &p, 1514);
        assert_eq!((verdict, vars), (Verdict::Pass, CodelVars::NEW));
    }
}

/// Capable packets that waited longer are marked, `ecn` or not; none before.
#[test]
fn the_threshold_of_marks_is_on_its_own() {
    let spec = CodelSpec {
        ce_threshold: Some(Dur::from_ms(2)),
        ..CodelSpec::default()
    };
    let (mut judge, mut vars) = (judge(&spec), CodelVars::NEW);
    let mut ask = |waited: u64, ecn| {
        let p = waited_for(ms(1000.0), Dur::from_us(waited), ecn);
        let verdict = judge.judge(&mut vars, &mut DropStage::First, ms(1000.0), &p, 1_000_000);
        (verdict, judge.cause(&p))
    };
    assert_eq!(ask(2000, Ecn::Ect1), (Verdict::Pass, None));
    assert_eq!(ask(2001, Ecn::NotEct), (Verdict::Pass, None));
    let (verdict, cause) = ask(2001, Ecn::Ect1);
    assert_eq!(verdict, Verdict::Mark);
    let Some(Cause::Waited(why)) = cause else {
        panic!("{cause:?}")
    };
    let found = (why.waited, why.target, why.count, why.due);
    assert_eq!(found, (Dur::from_us(2001), Dur::from_ms(2), None, None));
}

/// A literal reading of RFC 8289 §5, for any traffic.
struct Rfc {
    first_above: Option<f64>,
    drop_next: f64,
    count: u32,
    last_count: u32,
    dropping: bool,
}

impl Rfc {
    /// Departures of a queue of (arrival in s, capable), of 1000 B each: what was dropped, whether
    /// what left was marked.
    fn deque(
        &mut self,
        queue: &mut std::collections::VecDeque<(f64, bool)>,
        now: f64,
        ecn: bool,
    ) -> (u32, Option<bool>) {
        let mut dropped = 0;
        let (mut p, mut ok) = self.dodeque(queue, now);
        let mut marked = false;
        if self.dropping {
            if !ok {
                self.dropping = false;
            }
            while now >= self.drop_next && self.dropping {
                self.count += 1;
                if ecn && p.is_some_and(|p| p.1) {
                    marked = true;
                    self.drop_next += 0.1 / f64::from(self.count).sqrt();
                    break;
                }
                dropped += 1;
                (p, ok) = self.dodeque(queue, now);
                if !ok {
                    self.dropping = false;
                } else {
                    self.drop_next += 0.1 / f64::from(self.count).sqrt();
                }
            }
        } else if ok {
            if ecn && p.is_some_and(|p| p.1) {
                marked = true;
            } else {
                dropped += 1;
                (p, _) = self.dodeque(queue, now);
            }
            self.dropping = true;
            let delta = self.count - self.last_count;
            self.count = 1;
            if delta > 1 && now - self.drop_next < 1.6 {
                self.count = delta;
            }
            self.drop_next = now + 0.1 / f64::from(self.count).sqrt();
            self.last_count = self.count;
        }
        (dropped, p.map(|_| marked))
    }

    fn dodeque(
        &mut self,
        queue: &mut std::collections::VecDeque<(f64, bool)>,
        now: f64,
    ) -> (Option<(f64, bool)>, bool) {
        let Some(p) = queue.pop_front() else {
            self.first_above = None;
            return (None, false);
        };
        // Instants are whole microseconds: nothing falls between 4.9999 and 5 ms.
        if now - p.0 < 0.004_999_9 || queue.len() * 1000 <= 1514 {
            self.first_above = None;
            return (Some(p), false);
        }
        let Some(first) = self.first_above else {
            self.first_above = Some(now + 0.1);
            return (Some(p), false);
        };
        (Some(p), now >= first - 1e-9)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000 * effort()))]

    /// The automaton does what the pseudocode says, for any arrivals and any server.
    #[test]
    fn agrees_with_the_pseudocode(
        steps in prop::collection::vec((0_u32..30_000, 0_usize..6, any::<bool>()), 1..200),
        ecn in any::<bool>(),
    ) {
        let mut judge = judge(&CodelSpec { ecn, ..CodelSpec::default() });
        let mut vars = CodelVars::NEW;
        let mut rfc = Rfc { first_above: None, drop_next: 0.0, count: 0, last_count: 0, dropping: false };
        let (mut ours, mut theirs) = (std::collections::VecDeque::new(), std::collections::VecDeque::new());
        let mut us = 0_u64;
        for (gap, arrivals, capable) in steps {
            us += u64::from(gap);
            let now = Time::ZERO + Dur::from_us(us);
            let seconds = us as f64 / 1e6;
            // A control law in binary64 and one in picoseconds may differ where both fall on a
            // visit.
            prop_assume!(!rfc.dropping || (seconds - rfc.drop_next).abs() > 1e-9);
            for _ in 0..arrivals {
                ours.push_back((now, capable));
                theirs.push_back((seconds, capable));
            }
            let mut stage = DropStage::First;
            let mut dropped = 0;
            let left = loop {
                let Some((arrived, capable)) = ours.pop_front() else {
                    judge.exhausted(&mut vars, now, stage);
                    break None;
                };
                let p = packet(arrived, if capable { Ecn::Ect0 } else { Ecn::NotEct });
                match judge.judge(&mut vars, &mut stage, now, &p, ours.len() as u64 * 1000) {
                    Verdict::Pass => break Some(false),
                    Verdict::Mark => break Some(true),
                    Verdict::Drop(_) => dropped += 1,
                }
            };
            prop_assert_eq!((dropped, left), rfc.deque(&mut theirs, seconds, ecn));
            prop_assert_eq!((vars.count, vars.last_count), (rfc.count, rfc.last_count));
        }
    }
}
