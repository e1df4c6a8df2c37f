//! Whole transfers over a network that loses, reorders and duplicates.

use crate::common::arb::arb_config;
use crate::common::net::{Fate, Net, clean, config};
use proptest::prelude::*;
use spillgate_core::testkit::effort;
use spillgate_core::{Dur, Ecn, Rng, Time};
use spillgate_endpoints::cc;
use spillgate_endpoints::tcp::{Failure, Flags, Receiver, Segment, Sender, State};

const HOUR: Time = Time::from_ps(3600 * 1_000_000_000_000);

/// Handshake, data, FIN: three round trips for what the initial window covers.
#[test]
fn a_short_transfer_takes_three_round_trips() {
    let mut net = Net::new(
        config(r#"{"delayed_ack": {"timeout": "0 s", "every": 1}}"#),
        Dur::from_ms(50),
    );
    net.tx.write(Time::ZERO, 5000);
    net.tx.close(Time::ZERO);
    net.run(HOUR, &mut clean);
    assert_eq!(net.tx.state(), State::Done);
    assert_eq!(net.rx.delivered_bytes(), 5000);
    assert!(net.rx.is_finished());
    assert_eq!(net.now.as_secs_f64(), 0.2);
    assert_eq!(net.tx.stats().retransmits, 0);
}

/// The first `most` instants at which a sender without answers sends, and its end.
fn attempts(tx: &mut Sender, most: usize) -> (Vec<f64>, Time) {
    let (mut sent, mut now) = (vec![], Time::ZERO);
    while let Some(due) = tx.poll_timeout().filter(|_| sent.len() < most) {
        now = now.max(due);
        tx.handle_timeout(now);
        while tx.poll_transmit(now).is_some() {
            sent.push(now.as_secs_f64());
        }
    }
    (sent, now)
}

/// Each lost SYN doubles the wait: 1, 2, 4 s (RFC 6298 §5.5), then the connection fails.
#[test]
fn syn_backs_off_and_gives_up() {
    let mut net = Net::new(config(r#"{"syn_retries": 3}"#), Dur::from_ms(50));
    net.tx.write(Time::ZERO, 1);
    let (sent, now) = attempts(&mut net.tx, usize::MAX);
    assert_eq!(sent, [0.0, 1.0, 3.0, 7.0]);
    assert_eq!(now.as_secs_f64(), 15.0);
    assert_eq!(net.tx.state(), State::Failed(Failure::NoAnswer));
}

/// What a connection does that admission control refuses: 3 s, doubling up to 64 s, for ever; or
/// one attempt a second.
#[test]
fn syn_without_end() {
    let sent = |json: &str, n| {
        let mut net = Net::new(config(json), Dur::from_ms(50));
        net.tx.write(Time::ZERO, 1);
        let (sent, _) = attempts(&mut net.tx, n);
        assert_eq!(net.tx.state(), State::SynSent);
        sent
    };
    assert_eq!(
        sent(
            r#"{"initial_rto": "3 s", "max_rto": "64 s", "syn_retries": "unlimited"}"#,
            9
        ),
        [0.0, 3.0, 9.0, 21.0, 45.0, 93.0, 157.0, 221.0, 285.0]
    );
    let every_second: Vec<f64> = (0..2000).map(f64::from).collect();
    assert_eq!(
        sent(
            r#"{"retry": {"constant": "1 s"}, "syn_retries": "unlimited"}"#,
            2000
        ),
        every_second
    );
    // The first gap is the first timeout, which may be another.
    assert_eq!(
        sent(
            r#"{"retry": {"constant": "1 s"}, "initial_rto": "3 s", "syn_retries": 6}"#,
            4
        ),
        [0.0, 3.0, 4.0, 5.0]
    );
}

/// The other end asks again by the same law while its SYN-ACK has no answer.
#[test]
fn syn_ack_follows_the_same_law() {
    let sent = |json: &str| {
        let cfg = config(json);
        let mut rx = Receiver::new(&cfg);
        let syn = Segment::bare(0, Flags::SYN, Time::ZERO);
        rx.handle_segment(Time::ZERO, &syn, Ecn::NotEct);
        let mut sent = vec![];
        let mut now = Time::ZERO;
        loop {
            while rx.poll_transmit(now).is_some() {
                sent.push(now.as_secs_f64());
            }
            let Some(due) = rx.poll_timeout() else { break };
            now = due;
            rx.handle_timeout(now);
        }
        sent
    };
    assert_eq!(
        sent(r#"{"syn_retries": 4, "max_rto": "3 s"}"#),
        [0.0, 1.0, 3.0, 6.0, 9.0]
    );
    assert_eq!(
        sent(r#"{"syn_retries": 3, "retry": {"constant": "500 ms"}}"#),
        [0.0, 0.5, 1.0, 1.5]
    );
}

/// A flow removed from a list in the middle of a transfer: everything is lost for 100 s, then it
/// goes on. Timeouts are at 0.2 s, doubling to 64 s; or after 0.2 s every second.
#[test]
fn refused_in_mid_transfer() {
    for (law, most) in [
        (r#""max_rto": "64 s""#, 64.0_f64),
        (r#""retry": {"constant": "1 s"}"#, 1.0),
    ] {
        let mut net = Net::new(
            config(&format!(
                r#"{{"min_rto": "200 ms", "retries": "unlimited", {law}}}"#
            )),
            Dur::from_ms(10),
        );
        let bytes = 2_000_000;
        net.tx.write(Time::ZERO, bytes);
        net.tx.close(Time::ZERO);
        let (refused, open) = (
            Time::ZERO + Dur::from_ms(60),
            Time::ZERO + Dur::from_secs(100),
        );
        let mut tries = vec![];
        net.run(HOUR, &mut |_, _, seg| {
            let now = seg.ts_val;
            if now < refused || seg.len == 0 {
                return Fate::Pass;
            }
            tries.push(now.as_secs_f64());
            if now < open { Fate::Lose } else { Fate::Pass }
        });
        assert_eq!(net.tx.state(), State::Done, "{law}");
        assert_eq!(net.rx.delivered_bytes(), bytes);
        let alone: Vec<f64> = tries
            .iter()
            .copied()
            .filter(|t| (2.0..100.0).contains(t))
            .collect();
        let gaps: Vec<f64> = alone.windows(2).map(|w| w[1] - w[0]).collect();
        if most == 1.0 {
            assert!(gaps.iter().all(|g| (g - 1.0).abs() < 1e-9), "{gaps:?}");
            assert!(alone.len() > 90);
        } else {
            assert!(gaps.iter().all(|g| *g <= most), "{gaps:?}");
            for pair in gaps.windows(2) {
                assert!(
                    (pair[1] - (2.0 * pair[0]).min(most)).abs() < 1e-9,
                    "{gaps:?}"
                );
            }
        }
        // Within one more gap of the opening it is through again.
        let resumed = tries.iter().find(|t| **t >= 100.0).unwrap();
        assert!(*resumed <= 100.0 + most, "{resumed}");
    }
}

/// A path that dies: the retransmission timer backs off and the connection fails at R2.
#[test]
fn a_dead_path_ends_the_connection() {
    for kind in cc::CcSpec::NAMES {
        let mut net = Net::new(
            config(&format!(r#"{{"cc": {{"{kind}": {{}}}}, "retries": 5}}"#)),
            Dur::from_ms(10),
        );
        net.tx.write(Time::ZERO, u64::MAX);
        net.run(HOUR, &mut |_, n, _| {
            if n < 50 { Fate::Pass } else { Fate::Lose }
        });
        assert_eq!(net.tx.state(), State::Failed(Failure::Timeout), "{kind}");
        assert_eq!(net.tx.poll_timeout(), None);
    }
}

/// A connection without data: FIN takes the first number.
#[test]
fn nothing_but_fin() {
    for profile in ["ns2", "linux", "rfc"] {
        let mut net = Net::new(
            config(&format!(r#"{{"profile": "{profile}"}}"#)),
            Dur::from_ms(50),
        );
        net.tx.close(Time::ZERO);
        net.run(HOUR, &mut clean);
        assert_eq!(net.tx.state(), State::Done, "{profile}");
        assert!(net.rx.is_finished());
    }
}

/// An application that writes now and then: nothing is sent between, and the window does not
/// grow where it does not bind (RFC 7661 §4.1's reason: it was never tested).
#[test]
fn an_idle_application_does_not_open_the_window() {
    let mut net = Net::new(config(r#"{"cc": {"newreno": {}}}"#), Dur::from_ms(50));
    for i in 1..=20 {
        let t = Time::from_secs_f64(f64::from(i) * 0.5);
        net.run(t, &mut clean);
        net.tx.write(t, 2000);
    }
    net.tx.close(net.now);
    net.run(HOUR, &mut clean);
    assert_eq!(net.rx.delivered_bytes(), 40_000);
    assert_eq!(net.tx.cwnd(), 10 * 1448);
}

/// FIN takes no room: the last segment is sent again though the window is one segment.
#[test]
fn a_full_last_segment_with_fin_is_repaired() {
    let mut net = Net::new(
        config(r#"{"cc": {"newreno": {}}, "sack": true, "retries": 3}"#),
        Dur::from_ms(50),
    );
    net.tx.write(Time::ZERO, 1448);
    net.tx.close(Time::ZERO);
    net.run(HOUR, &mut |forward, n, s| {
        if forward && s.len > 0 && n < 2 {
            Fate::Lose
        } else {
            Fate::Pass
        }
    });
    assert_eq!(net.tx.state(), State::Done);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300 * effort()))]

    /// Every byte is delivered exactly once, in order, and the connection ends,
    /// under any mixture of loss, reordering, duplication and marks in both directions.
    #[test]
    fn every_byte_arrives(
        json in arb_config(),
        bytes in 1_u64..300_000,
        seed in any::<u64>(),
        loss in 0.0..0.25,
        odd in 0.0..0.3,
    ) {
        let mut net = Net::new(config(&json), Dur::from_ms(20));
        net.tx.write(Time::ZERO, bytes);
        net.tx.close(Time::ZERO);
        let mut rng = Rng::from_key(seed);
        net.run(Time::MAX, &mut |_, _, _| {
            if rng.chance(loss) {
                Fate::Lose
            } else if rng.chance(odd) {
                let d = Dur::from_us(u64::from(rng.below(60_000)));
                match rng.below(3) {
                    0 => Fate::Late(d),
                    1 => Fate::Twice(d),
                    _ => Fate::Mark,
                }
            } else {
                Fate::Pass
            }
        });
        prop_assert_eq!(net.tx.state(), State::Done, "{} {:?}", json, net.tx);
        prop_assert_eq!(net.rx.delivered_bytes(), bytes);
        prop_assert_eq!(net.tx.acked_bytes(), bytes);
        prop_assert!(net.rx.is_finished());
    }
}
