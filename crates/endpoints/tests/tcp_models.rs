//! Throughput and windows against closed forms.

use crate::common::net::{Fate, Net, config};
use spillgate_core::{Dur, Rng, Time, math};
use spillgate_endpoints::cc::cubic::{BETA, C};
use spillgate_endpoints::cc::{AckSample, Cause, Congestion, LossSample};
use spillgate_endpoints::tcp::Segment;

const RTT: Dur = Dur::from_ms(100);

/// Padhye, Firoiu, Towsley and Kurose (ToN 2000), equation 30 without a window limit, in
/// segments per second.
fn pftk(p: f64, rtt: f64, t0: f64, b: f64) -> f64 {
    let timeouts = (3.0 * (3.0 * b * p / 8.0).sqrt()).min(1.0);
    1.0 / (rtt * (2.0 * b * p / 3.0).sqrt() + t0 * timeouts * p * (1.0 + 32.0 * p * p))
}

/// Segments per second, and loss indications per segment, over a path that loses each segment
/// with probability `p`.
fn throughput(kind: &str, p: f64) -> (f64, f64) {
    let json = format!(
        r#"{{"cc": {{"{kind}": {{}}}}, "profile": "rfc", "handshake": false, "mss": "1000 B",
            "max_window": "512 MiB", "min_rto": "400 ms",
            "delayed_ack": {{"timeout": "0 s", "every": 1}}}}"#
    );
    let mut net = Net::new(config(&json), Dur::from_ms(50));
    net.tx.write(Time::ZERO, u64::MAX);
    let mut rng = Rng::from_key(1);
    // About 2000 losses: rates go with 1/sqrt(p), so the standard error is near 1 %.
    let seconds = 5_000.0 * (0.001 / p).sqrt();
    net.run(Time::from_secs_f64(seconds), &mut |forward, _, _| {
        if forward && rng.chance(p) {
            Fate::Lose
        } else {
            Fate::Pass
        }
    });
    let s = net.tx.stats();
    let indications = f64::from(s.fast_retransmits + s.timeouts);
    (s.segments as f64 / seconds, indications / s.segments as f64)
}

/// Within 15 % of the model, whose p is the number of loss indications (fast retransmits and
/// timeouts) per segment sent. The model loses all that follows a loss in a round, we lose
/// segments independently, so exact agreement is not to be expected; the bound is of the order
/// of the errors that its authors report for their own measurements.
///
/// With the rate of losses for p the same holds for Reno, which answers every loss, and for
/// NewReno as long as hardly two losses fall into one window, because it repairs those for one
/// indication. A window has about sqrt(1.5 / p) segments, 7 at p = 0.03, where 100 losses make
/// only 75 indications; rates go with 1 / sqrt(p), and sqrt(1 / 0.75) = 1.15 of the 1.18 that
/// NewReno is above the model there is this (the rest: fewer timeouts for fewer indications).
#[test]
fn throughput_follows_pftk() {
    for kind in ["reno", "newreno"] {
        for loss in [0.001, 0.003, 0.01, 0.02, 0.03] {
            let (rate, p) = throughput(kind, loss);
            let model = pftk(p, RTT.as_secs_f64(), 0.4, 1.0);
            let ratio = rate / model;
            let by_loss = rate / pftk(loss, RTT.as_secs_f64(), 0.4, 1.0);
            println!("{kind} {loss} p {p:.5}: {rate:.1} segments/s, {ratio:.3}, {by_loss:.3}");
            assert!(
                (ratio - 1.0).abs() < 0.15,
                "{kind} at {loss}: {rate} for {model}"
            );
            assert!(
                (by_loss - 1.0).abs() < 0.15 || (kind, loss) == ("newreno", 0.03),
                "{kind} at {loss}: {by_loss} of the model"
            );
        }
    }
}

/// Segments per second of a NewReno connection whose segments meet `fate`.
fn newreno_rate(rtt_ms: u64, seconds: f64, mut fate: impl FnMut(&Segment) -> Fate) -> f64 {
    let json = r#"{"cc": {"newreno": {}}, "handshake": false, "mss": "1000 B", "max_window": "512 MiB",
        "delayed_ack": {"timeout": "0 s", "every": 1}}"#;
    let mut net = Net::new(config(json), Dur::from_us(rtt_ms * 500));
    net.tx.write(Time::ZERO, u64::MAX);
    net.run(Time::from_secs_f64(seconds), &mut |forward, _, seg| {
        if forward { fate(seg) } else { Fate::Pass }
    });
    net.tx.stats().segments as f64 / seconds
}

/// Where connections lose at the same instants, once in T, each window grows by T / RTT and is
/// halved: 1.5 T / RTT² segments per second, so twice the round trip has a quarter of the rate
/// (Lakshman and Madhow, ToN 1997). Of the T / RTT = 50 round trips at least two have no growth,
/// the one until the loss is noticed and recovery, and of the 50 segments half the window rounds
/// down by up to one: 6 %.
#[test]
fn synchronized_losses_share_by_the_square_of_the_round_trip() {
    let period = 10.0;
    let rate = |rtt_ms| {
        let mut next = 0.5; // before slow start has gone far
        newreno_rate(rtt_ms, 100.0 * period, |seg| {
            if seg.ts_val.as_secs_f64() < next {
                return Fate::Pass;
            }
            next += period;
            Fate::Lose
        })
    };
    let (near, far) = (rate(100), rate(200));
    for (rtt, got) in [(0.1, near), (0.2, far)] {
        let want = 1.5 * period / (rtt * rtt);
        println!("{rtt} s: {got:.1} for {want:.1} segments/s");
        assert!((got / want - 1.0).abs() < 0.06, "{got} for {want}");
    }
    assert!((near / far / 4.0 - 1.0).abs() < 0.06, "{}", near / far);
}

/// Where each segment is lost with the same probability, rates go with 1 / RTT (PFTK, equation
/// 20). About 2000 losses each: a standard error of 1 % of either rate, 1.6 % of their ratio,
/// 8 % with certainty.
#[test]
fn independent_losses_share_by_the_round_trip() {
    let rate = |rtt_ms, seed| {
        let mut rng = Rng::from_key(seed);
        newreno_rate(rtt_ms, 50.0 * rtt_ms as f64, |_| {
            if rng.chance(0.001) {
                Fate::Lose
            } else {
                Fate::Pass
            }
        })
    };
    let ratio = rate(100, 1) / rate(200, 2);
    println!("{ratio:.3}");
    assert!((ratio / 2.0 - 1.0).abs() < 0.08, "{ratio}");
}

fn ack(now: Time, acked: u64, una: u64, nxt: u64) -> AckSample {
    AckSample {
        now,
        acked,
        delivered: acked,
        marked: 0,
        ece: false,
        prior_in_flight: u64::MAX / 2,
        in_flight: 0,
        una,
        nxt,
        rtt: Some(RTT),
        srtt: Some(RTT),
        min_rtt: RTT,
        cwnd_limited: true,
        in_recovery: false,
        paced: false,
        rate: None,
    }
}

fn event(now: Time, cause: Cause, cwnd: u64) -> LossSample {
    LossSample {
        now,
        cause,
        in_flight: cwnd,
        delivered: 0,
        nxt: 0,
        peer_window: u64::MAX,
    }
}

/// RFC 9438 equations 1 and 2. Between acknowledgments the window moves towards the curve one
/// round trip ahead at one round trip's pace, so it trails the curve by R²/2 times its second
/// derivative, at most R² / 2 * 6 C K = 0.11 segments here; one more for whole segments.
#[test]
fn cubic_follows_its_curve() {
    let cfg = config(r#"{"cc": {"cubic": {}}, "mss": "1000 B", "initial_window": 1000}"#);
    let mut cc = Congestion::new(&cfg, Time::ZERO);
    cc.on_congestion(&event(Time::ZERO, Cause::Loss, 1_000_000));
    assert_eq!(cc.cwnd(), 700_000);
    let k = math::cbrt(1000.0 * (1.0 - BETA) / C);
    let (mut now, mut una) = (0.0, 0);
    while now < 2.0 * k {
        una += 1000;
        cc.on_ack(&ack(Time::from_secs_f64(now), 1000, una, una + cc.cwnd()));
        let want = C * (now - k) * (now - k) * (now - k) + 1000.0;
        let got = cc.cwnd() as f64 / 1000.0;
        assert!((got - want).abs() < 1.2, "at {now} s: {got} for {want}");
        now += RTT.as_secs_f64() / got;
    }
}

/// RFC 9438 §4.3: with a short round trip the curve is slower than Reno's estimate, which
/// gains 3 (1 - beta) / (1 + beta) segments a round trip up to the former window.
#[test]
fn cubic_is_no_slower_than_reno() {
    let cfg = config(r#"{"cc": {"cubic": {}}, "mss": "1000 B", "initial_window": 20}"#);
    let mut cc = Congestion::new(&cfg, Time::ZERO);
    cc.on_congestion(&event(Time::ZERO, Cause::Loss, 20_000));
    let (mut now, mut una) = (0.0, 0);
    let rtt = 0.002;
    let mut rounds = 0.0;
    while cc.cwnd() < 20_000 {
        una += 1000;
        let mut a = ack(Time::from_secs_f64(now), 1000, una, una + cc.cwnd());
        a.srtt = Some(Dur::from_secs_f64(rtt));
        cc.on_ack(&a);
        let step = 1000.0 / cc.cwnd() as f64;
        rounds += step;
        now += step * rtt;
    }
    let alpha = 3.0 * (1.0 - BETA) / (1.0 + BETA);
    // 6 segments; the window is divided by itself as it was before each step: below a round.
    assert!((rounds - 6.0 / alpha).abs() < 1.0, "{rounds} rounds");
}

/// RFC 8257 §3.3: with a constant share F of marks alpha = F + (alpha0 - F) (15/16)^n after n
/// windows; a mark takes alpha / 2 of the window (equation 9).
#[test]
fn dctcp_alpha_is_an_exponential_average() {
    let cfg = config(r#"{"cc": {"dctcp": {}}, "mss": "1000 B"}"#);
    let mut cc = Congestion::new(&cfg, Time::ZERO);
    let alpha = |cc: &Congestion| match cc {
        Congestion::Dctcp(d) => d.alpha(),
        _ => panic!(),
    };
    // The first acknowledgment ends a window of its own.
    cc.on_ack(&ack(Time::ZERO, 1000, 1001, 5001));
    let first = alpha(&cc);
    assert_eq!(first, 15.0 / 16.0);
    let mut una = 1001;
    for n in 0..100 {
        let want = 0.2 + (first - 0.2) * math::pow(15.0 / 16.0, f64::from(n));
        assert!(
            (alpha(&cc) - want).abs() < 1e-12,
            "{n}: {} for {want}",
            alpha(&cc)
        );
        // The fifth acknowledgment is the first beyond what was sent when the window began.
        for i in 0..5 {
            una += 1000;
            let mut a = ack(Time::ZERO, 1000, una, una + 4000);
            a.ece = i == 0;
            a.marked = u64::from(i == 0) * 1000;
            cc.on_ack(&a);
        }
    }
    let want = cc.cwnd() as f64 * (1.0 - alpha(&cc) / 2.0);
    cc.on_congestion(&event(Time::ZERO, Cause::Mark, cc.cwnd()));
    assert!((cc.cwnd() as f64 - want).abs() <= 1.0);
}
