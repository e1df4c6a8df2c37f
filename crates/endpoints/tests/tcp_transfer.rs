//! Whole transfers over a network that loses, reorders and duplicates.

#[path = "common/arb.rs"]
mod arb;
#[path = "common/net.rs"]
mod net;

use arb::arb_config;
use net::{Fate, Net, clean, config};
use proptest::prelude::*;
use spillgate_core::{Dur, Rng, Time};
use spillgate_endpoints::cc;
use spillgate_endpoints::tcp::{Failure, State};

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

/// Each lost SYN doubles the wait: 1, 2, 4 s (RFC 6298 §5.5), then the connection fails.
#[test]
fn syn_backs_off_and_gives_up() {
    let mut net = Net::new(config(r#"{"syn_retries": 3}"#), Dur::from_ms(50));
    net.tx.write(Time::ZERO, 1);
    let mut sent = vec![];
    let mut now = Time::ZERO;
    while net.tx.poll_timeout().is_some() {
        now = now.max(net.tx.poll_timeout().unwrap());
        net.tx.handle_timeout(now);
        if net.tx.poll_transmit(now).is_some() {
            sent.push(now.as_secs_f64());
        }
    }
    assert_eq!(sent, [0.0, 1.0, 3.0, 7.0]);
    assert_eq!(now.as_secs_f64(), 15.0);
    assert_eq!(net.tx.state(), State::Failed(Failure::NoAnswer));
}

/// A path that dies: the retransmission timer backs off and the connection fails at R2.
#[test]
fn a_dead_path_ends_the_connection() {
    for (kind, _) in cc::KINDS {
        let mut net = Net::new(
            config(&format!(r#"{{"cc": "{kind}", "retries": 5}}"#)),
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
    let mut net = Net::new(config(r#"{"cc": "newreno"}"#), Dur::from_ms(50));
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
        config(r#"{"cc": "newreno", "sack": true, "retries": 3}"#),
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
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

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
