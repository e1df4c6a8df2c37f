//! Queues in front of a queue: what waits at the inputs of a switch counts for the AQM of an
//! output.

use crate::common;
use crate::common::{BPS, build, presets, resolve};
use spillgate_core::{DropReason, Drops, Dur, Packet, Rng, Time, Verdict, math};
use spillgate_queueing::testkit::{Driver, Op, random_ops};
use spillgate_queueing::{Backlog, CustomAqm, Discipline, Draw, Upstream, UpstreamUse};

/// A FIFO with this AQM.
fn fifo(aqm: &str) -> String {
    format!(r#"{{"main": {{"fifo": {{"limit": "40 packets", "aqm": {aqm}}}}}}}"#)
}

/// Every AQM of the registry with its defaults, and those whose answer depends on their parameters,
/// in a FIFO.
fn managed() -> Vec<String> {
    let families = spillgate_queueing::kinds().iter();
    let aqms = families.filter(|f| f.name == "aqm").flat_map(|f| f.kinds);
    let plain = aqms.map(|a| format!(r#"{{"{}": {{}}}}"#, a.kind));
    let others = [
        r#"{"red": {"as": "ns2"}}"#,
        r#"{"wred": {"unit": "bytes"}}"#,
        r#"{"wred": {"unit": "ms", "dscp": {"default": {"min": 1, "max": 20}}}}"#,
        r#"{"pie": {"dq_rate_estimator": true}}"#,
        r#"{"pie": {"as": "linux", "dq_rate_estimator": true}}"#,
        r#"{"rio": {"mode": "decoupled"}}"#,
    ];
    plain
        .chain(others.map(str::to_owned))
        .map(|aqm| fifo(&aqm))
        .collect()
}

/// What happens in `ops` with so much in front, told before each of them, and counting `weight`
/// times; none: untold.
fn ledger(json: &str, seed: u64, ops: &[Op], weight: f64, waiting: u32) -> Driver {
    let mut driver = Driver::new(build(json, BPS), seed);
    driver.discipline.watch_upstream(weight);
    for op in ops {
        let now = driver.now;
        let bytes = 700 * u64::from(waiting);
        driver.discipline.set_upstream(now, waiting, bytes);
        for _ in 0..waiting {
            driver.discipline.upstream_arrival(now, 700);
        }
        driver.apply(*op);
    }
    driver.drain();
    driver
}

/// What an AQM says of itself is what it does: those that take nothing into account behave alike
/// whatever waits in front, the others do not; and nothing that waits there, or counts nothing,
/// changes anything for anyone.
#[test]
fn an_aqm_does_what_it_says() {
    let mut uses = Vec::new();
    for json in managed() {
        let says = build(&json, BPS).upstream_use();
        let mut differs = false;
        for seed in 0..20 {
            let ops = random_ops(&mut Rng::from_key(seed), 300);
            let mut plain = Driver::new(build(&json, BPS), seed);
            ops.iter().for_each(|op| plain.apply(*op));
            plain.drain();
            // A rate that is told half of each arrival only where it waits has to be told there.
            let silent = [(0.0, 4000), (0.5, 0)];
            let silent = &silent[..2 - usize::from(says == UpstreamUse::Rate)];
            for &(weight, waiting) in silent {
                let told = ledger(&json, seed, &ops, weight, waiting);
                assert!(told.ledger == plain.ledger, "{json} {weight} {waiting}");
            }
            differs |= ledger(&json, seed, &ops, 0.5, 4000).ledger != plain.ledger;
        }
        // RIO-D cannot tell, and leaves it.
        let expected = matches!(says, UpstreamUse::Length | UpstreamUse::Rate);
        assert_eq!(differs, expected, "{json} {says:?}");
        uses.push(says);
    }
    for says in [
        UpstreamUse::Nothing,
        UpstreamUse::Length,
        UpstreamUse::Rate,
        UpstreamUse::Unknown,
    ] {
        assert!(uses.contains(&says), "{says:?}");
    }
}

/// Disciplines with several queues do not know which of them packets in front will join.
#[test]
fn only_a_fifo_knows_what_waits_in_front() {
    for preset in presets() {
        let says = build(preset.json, BPS).upstream_use();
        let is_fifo = preset.json.starts_with(r#"{"main": {"fifo""#);
        assert!(is_fifo || says == UpstreamUse::Unknown, "{}", preset.name);
    }
    for tail_drop in ["{}", r#"{"limit": "4 kB"}"#] {
        let json = format!(r#"{{"main": {{"fifo": {tail_drop}}}}}"#);
        assert_eq!(build(&json, BPS).upstream_use(), UpstreamUse::Nothing);
    }
}

fn average(d: &Discipline) -> f64 {
    d.gauges(0, Time::ZERO).average_queue.unwrap()
}

fn enqueue(d: &mut Discipline, now: Time) -> Drops {
    let mut drops = Drops::new();
    d.enqueue(
        now,
        Packet::new(0, 0, 500),
        &mut Rng::from_key(0),
        &mut drops,
    );
    drops
}

fn dequeue(d: &mut Discipline, now: Time) {
    let sent = d.dequeue(now, &mut Rng::from_key(0), &mut Drops::new());
    d.transmits_until(sent.unwrap().leaf, now + Dur::from_ms(4));
}

/// Equation 2 of Shrivastav and others, `w = 1/4`, `nu = 1/2`, by hand: all values are exact in
/// binary.
#[test]
fn the_average_is_that_of_equation_2() {
    for aqm in [
        r#"{"red": {"weight": 0.25, "min_th": 50, "max_th": 90}}"#,
        r#"{"adaptive-red": {"weight": 0.25, "min_th": 50, "max_th": 90}}"#,
        r#"{"dsred": {"weight": 0.25, "min_th": 50, "max_th": 90}}"#,
        r#"{"rio": {"weight": 0.25, "in": {"min_th": 50, "max_th": 90, "max_p": 0.1},
                    "out": {"min_th": 50, "max_th": 90, "max_p": 0.1}}}"#,
        // 2^-2.
        r#"{"wred": {"exponential_weighting_constant": 2, "dscp": {"default": {"min": 50, "max": 90}}}}"#,
    ] {
        let mut d = build(&fifo(aqm), BPS);
        assert_eq!(d.upstream_use(), UpstreamUse::Length, "{aqm}");
        d.watch_upstream(0.5);
        let mut got = Vec::new();
        for waiting in [0, 8, 8, 2, 3] {
            d.set_upstream(Time::ZERO, waiting, 0);
            enqueue(&mut d, Time::ZERO);
            got.push(average(&d));
        }
        // Measures 0, 1 + 4, 2 + 4, 3 + 1, 4 + 1.5; each average is three quarters of the one
        // before and a quarter of the measure.
        let expected = [0.0, 1.25, 2.4375, 2.828_125, 3.496_093_75];
        assert_eq!(got, expected, "{aqm}");
    }
}

/// In bytes it is bytes: 1000 of its own, half of 6000 in front, weight 1.
#[test]
fn averages_of_bytes_count_bytes() {
    // All is dropped from 4000 B on, nothing below: two packets of 500 B, and half of 6000 B.
    for aqm in [
        r#"{"wred": {"unit": "bytes", "exponential_weighting_constant": 1, "dscp": {"default": {"min": 2000, "max": 2000}}}}"#,
        r#"{"red": {"unit": "bytes", "weight": 0.5, "min_th": 1999, "max_th": 2000, "max_p": 0, "gentle": false}}"#,
    ] {
        let mut d = build(&fifo(aqm), BPS);
        d.watch_upstream(0.5);
        enqueue(&mut d, Time::ZERO);
        enqueue(&mut d, Time::ZERO);
        for (bytes, dropped) in [(5499, 0), (5500, 1)] {
            let mut d = d.clone();
            d.set_upstream(Time::ZERO, 1, bytes);
            // The average was 250 B, of a sample of 500; now 0.5 * 250 + 0.5 * (1000 + bytes / 2):
            // 2000 from 5500 B on.
            let drops = enqueue(&mut d, Time::ZERO);
            assert_eq!(drops.as_slice().len(), dropped, "{aqm} {bytes}");
        }
    }
}

/// The queue is idle only while nothing waits in front of it either: its average decays from when
/// both are empty.
#[test]
fn a_queue_with_something_in_front_of_it_is_not_idle() {
    let ms = |t| Time::ZERO + Dur::from_ms(t);
    let red = fifo(r#"{"red": {"weight": 0.25, "min_th": 50, "max_th": 90}}"#);
    let mut d = build(&red, BPS);
    d.watch_upstream(0.5);
    d.set_upstream(Time::ZERO, 8, 4000);
    enqueue(&mut d, Time::ZERO);
    let busy = average(&d);
    assert_eq!(busy, 1.0);
    // It is empty from 4 ms on.
    dequeue(&mut d, Time::ZERO);
    for (cleared, idle) in [(2, 16), (4, 16), (10, 10), (20, 0)] {
        let mut d = d.clone();
        d.set_upstream(ms(cleared), 0, 0);
        // Said again, it is no news.
        d.set_upstream(ms(20), 0, 0);
        enqueue(&mut d, ms(20));
        // A typical packet takes 4 ms.
        let expected = busy * math::pow(0.75, f64::from(idle) / 4.0);
        let got = average(&d);
        assert!((got - expected).abs() < 1e-12, "{cleared}: {got}");
    }
    // What still waits is a sample.
    enqueue(&mut d, ms(20));
    assert_eq!(average(&d), 0.75 * busy + 0.25 * 4.0);
}

/// However much waits in front, the buffer of the output is its own: 40 packets.
#[test]
fn limits_hold_for_the_queue_itself() {
    for aqm in [
        r#"{"red": {"min_th": 4000, "max_th": 9000}}"#,
        r#"{"pie": {}}"#,
    ] {
        let mut d = build(&fifo(aqm), BPS);
        d.watch_upstream(1.0);
        d.set_upstream(Time::ZERO, 1000, 1_000_000);
        for n in 0..50 {
            let drops = enqueue(&mut d, Time::ZERO);
            let tail = drops.as_slice().iter().map(|lost| lost.reason);
            let expected = (n >= 40).then_some(DropReason::Tail);
            assert_eq!(tail.collect::<Vec<_>>(), Vec::from_iter(expected));
        }
    }
}

/// How long packets wait at a drain rate, as PIE estimates it, counts those in front, too.
#[test]
fn a_delay_by_the_drain_rate_counts_what_is_in_front() {
    let let_in = |weight, bytes: u64| {
        let mut recipe = resolve(r#"{"main": {"fifo": {}}}"#, BPS).unwrap().0;
        recipe.manage("fifo", Box::new(Delay)).unwrap();
        let mut d = recipe.build(&common::flows());
        d.watch_upstream(weight);
        d.set_upstream(Time::ZERO, 1, bytes);
        (0..10)
            .filter(|_| enqueue(&mut d, Time::ZERO).as_slice().is_empty())
            .count()
    };
    // 100 kB/s and 20 ms: a packet of 500 B is let in behind 2000 B, so five of them, three behind
    // 1000 B, one behind 2000 B.
    assert_eq!(let_in(0.5, 0), 5);
    assert_eq!(let_in(0.5, 2000), 3);
    assert_eq!(let_in(1.0, 2000), 1);
}

/// Drops what would wait longer than 20 ms at 100 kB/s.
#[derive(Clone, Debug)]
struct Delay;

impl CustomAqm for Delay {
    fn arrival(&mut self, _: Time, backlog: &Backlog, _: &Packet, _: &mut dyn Draw) -> Verdict {
        let known = Backlog {
            drain_rate: Some(100_000.0),
            ..*backlog
        };
        match known.drains_in() > Some(Dur::from_ms(20)) {
            true => Verdict::Drop(DropReason::Early),
            false => Verdict::Pass,
        }
    }

    fn upstream_use(&self) -> UpstreamUse {
        UpstreamUse::Length
    }

    fn boxed(&self) -> Box<dyn CustomAqm> {
        Box::new(self.clone())
    }
}

/// Counts what arrives in front, and lets so much in.
#[derive(Clone, Debug, Default)]
struct Arrivals(f64);

impl CustomAqm for Arrivals {
    fn arrival(&mut self, _: Time, backlog: &Backlog, _: &Packet, _: &mut dyn Draw) -> Verdict {
        match backlog.measure_bytes() < self.0 {
            true => Verdict::Pass,
            false => Verdict::Drop(DropReason::Early),
        }
    }

    fn upstream_use(&self) -> UpstreamUse {
        UpstreamUse::Rate
    }

    fn upstream_arrival(&mut self, _: Time, upstream: &Upstream, bytes: u32) {
        self.0 += upstream.weight() * f64::from(bytes);
    }

    fn boxed(&self) -> Box<dyn CustomAqm> {
        Box::new(self.clone())
    }
}

/// An AQM of one's own is told of arrivals in front, and sees the measure.
#[test]
fn an_aqm_of_ones_own_sees_them() {
    let mut recipe = resolve(r#"{"main": {"fifo": {}}}"#, BPS).unwrap().0;
    recipe
        .manage("fifo", Box::new(Arrivals::default()))
        .unwrap();
    assert_eq!(recipe.upstream_use(), UpstreamUse::Rate);
    let mut d = recipe.build(&common::flows());
    d.watch_upstream(2.0);
    d.upstream_arrival(Time::ZERO, 250);
    d.set_upstream(Time::ZERO, 1, 200);
    // 400 B in front are below 500 B, 900 B are not.
    assert!(enqueue(&mut d, Time::ZERO).as_slice().is_empty());
    assert_eq!(enqueue(&mut d, Time::ZERO).as_slice().len(), 1);
}

/// A port may not compute departures of a queue whose AQM looks at others.
#[test]
fn such_a_queue_is_not_decided_at_arrival() {
    let mut d = build(&fifo(r#"{"red": {}}"#), BPS);
    assert!(d.decided_at_arrival().is_some());
    d.watch_upstream(0.5);
    assert!(d.decided_at_arrival().is_none());
}
