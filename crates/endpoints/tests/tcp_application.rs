//! What the application does: writing in pieces, stopping, one session after the other.

use crate::common::arb::arb_config;
use crate::common::net::{Fate, Net, clean, config};
use proptest::prelude::*;
use spillgate_core::testkit::effort;
use spillgate_core::{Dur, Rng, Time};
use spillgate_endpoints::cc;
use spillgate_endpoints::tcp::{Flags, Segment, State};

const HOUR: Time = Time::from_ps(3600 * 1_000_000_000_000);

fn every_variant() -> impl Iterator<Item = (&'static str, &'static str)> {
    cc::CcSpec::NAMES
        .iter()
        .flat_map(|kind| ["ns2", "rfc", "linux"].map(|profile| (*kind, profile)))
}

fn variant(kind: &str, profile: &str) -> Net {
    let json = format!(
        r#"{{"cc": {{"{kind}": {{}}}}, "profile": "{profile}", "retries": 1000, "syn_retries": 30}}"#
    );
    Net::new(config(&json), Dur::from_ms(20))
}

/// Up to `t`, packets on the way included.
fn run_until(net: &mut Net, t: Time, fate: &mut dyn FnMut(bool, u64, &Segment) -> Fate) {
    net.run(t, fate);
    net.now = net.now.max(t);
}

/// What has left arrives, what has not is forgotten, and FIN follows at once.
#[test]
fn finish_ends_with_what_was_sent() {
    for (kind, profile) in every_variant() {
        let mut net = variant(kind, profile);
        net.tx.write(Time::ZERO, u64::MAX);
        let stop = Time::from_secs_f64(0.5);
        let mut high = 0;
        run_until(&mut net, stop, &mut |forward, _, s| {
            if forward {
                high = high.max(s.end());
            }
            Fate::Pass
        });
        net.tx.finish(stop);
        net.tx.write(stop, 1000);
        net.run(HOUR, &mut |forward, _, s| {
            assert!(!forward || s.len == 0 || s.seq < high, "{s:?} is new");
            Fate::Pass
        });
        assert_eq!(net.tx.state(), State::Done, "{kind} {profile}");
        assert!(net.rx.is_finished());
        assert_eq!(net.rx.delivered_bytes(), high - 1);
        assert_eq!(net.tx.acked_bytes(), high - 1);
        assert_eq!(net.tx.unacked_bytes(), 0);
        assert_eq!(net.tx.poll_timeout(), None);
        // One round trip for what is in flight and FIN behind it, another where FIN waited for
        // room in the window, and the longest delay of an acknowledgment.
        assert!(net.now <= stop + Dur::from_ms(2 * 40 + 200), "{}", net.now);
    }
}

/// SYN is on the way: the handshake ends, then FIN alone.
#[test]
fn finish_before_the_handshake_is_over() {
    let mut net = variant("newreno", "rfc");
    net.tx.write(Time::ZERO, 5000);
    let early = Time::from_secs_f64(0.03);
    run_until(&mut net, early, &mut clean);
    assert_eq!(net.tx.state(), State::SynSent);
    net.tx.finish(early);
    let mut sent = vec![];
    net.run(HOUR, &mut |forward, _, s| {
        if forward {
            sent.push((s.len, s.flags.has(Flags::FIN)));
        }
        Fate::Pass
    });
    assert_eq!(sent, [(0, true)]);
    assert_eq!(net.tx.state(), State::Done);
    assert!(net.rx.is_finished());
    assert_eq!(net.rx.delivered_bytes(), 0);
}

/// Nothing was sent: nothing is, with and without a handshake.
#[test]
fn finish_before_anything_was_sent() {
    for profile in ["rfc", "ns2"] {
        let mut net = variant("newreno", profile);
        net.tx.write(Time::ZERO, 5000);
        net.tx.finish(Time::ZERO);
        assert_eq!(net.tx.state(), State::Done);
        assert_eq!(net.tx.poll_timeout(), None);
        assert_eq!(net.tx.poll_transmit(Time::ZERO), None);
        assert_eq!((net.tx.acked_bytes(), net.tx.unacked_bytes()), (0, 0));
    }
}

/// After FIN has left, and after the end, it changes nothing.
#[test]
fn finish_after_fin_does_nothing() {
    let mut net = variant("newreno", "rfc");
    net.tx.write(Time::ZERO, 2000);
    net.tx.close(Time::ZERO);
    let mid = Time::from_secs_f64(0.05);
    run_until(&mut net, mid, &mut clean);
    assert_eq!(net.tx.state(), State::FinSent);
    net.tx.finish(mid);
    assert_eq!(net.tx.unacked_bytes(), 2000);
    net.run(HOUR, &mut clean);
    net.tx.finish(net.now);
    assert_eq!((net.tx.state(), net.tx.acked_bytes()), (State::Done, 2000));
}

/// 10 kb/s in writes of 100 B over a path of 100 Mb/s: every write leaves at once in a segment of
/// its own, and the window stays what it was, since it never binds (RFC 9438 §5.8, RFC 7661 §1).
#[test]
fn a_slow_application_does_not_open_the_window() {
    for (kind, profile) in every_variant() {
        let mut net = variant(kind, profile);
        let initial = net.tx.cwnd();
        let mut sent = 0;
        for i in 1..=500_u64 {
            let t = Time::ZERO + Dur::from_ms(80) * i;
            run_until(&mut net, t, &mut clean);
            assert!(net.tx.unacked_bytes() <= 100, "{kind} {profile}");
            net.tx.write(t, 100);
            net.flush(&mut |forward, _, s| {
                sent += u64::from(forward && s.len == 100);
                Fate::Pass
            });
        }
        assert_eq!(sent, 500, "{kind} {profile}");
        net.tx.close(net.now);
        net.run(HOUR, &mut clean);
        assert_eq!(net.rx.delivered_bytes(), 50_000);
        // BBR allows four segments and adds what is delivered until that is an initial window
        // (§4.2.3.5 and §4.2.3.4 of its draft).
        let most = if kind == "bbr" {
            initial.max(4 * u64::from(net.cfg.mss)) + initial + 100
        } else {
            initial
        };
        assert!(net.tx.cwnd() <= most, "{kind} {profile}: {}", net.tx.cwnd());
        assert_eq!(net.tx.stats().retransmits, 0, "{kind} {profile}");
    }
}

/// What a full window keeps back leaves in full segments, however small the writes were.
#[test]
fn small_writes_are_sent_in_full_segments() {
    let mut net = variant("newreno", "rfc");
    run_until(&mut net, Time::from_secs_f64(0.1), &mut clean);
    let mut sizes = vec![];
    let now = net.now;
    for _ in 0..1000 {
        net.tx.write(now, 100);
        net.flush(&mut |forward, _, s| {
            if forward {
                sizes.push(s.len);
            }
            Fate::Pass
        });
    }
    // Without Nagle's algorithm the window fills with what each write gave.
    let window = sizes.len();
    assert!(sizes.iter().all(|len| *len == 100));
    assert_eq!(window as u64 * 100, 10 * 1448 / 100 * 100);
    net.tx.close(now);
    net.run(HOUR, &mut |forward, _, s| {
        if forward && s.len > 0 {
            sizes.push(s.len);
        }
        Fate::Pass
    });
    let (last, rest) = sizes[window..].split_last().unwrap();
    assert!(
        rest.iter().all(|len| *len == 1448) && *last <= 1448,
        "{sizes:?}"
    );
    assert_eq!(net.rx.delivered_bytes(), 100_000);
}

/// RFC 5681 §4.1: after a silence longer than the timeout the window restarts.
#[test]
fn silence_closes_the_window() {
    let mut net = variant("newreno", "rfc");
    net.tx.write(Time::ZERO, 100_000);
    run_until(&mut net, Time::from_secs_f64(5.0), &mut clean);
    assert!(net.tx.cwnd() > 20 * 1448);
    net.tx.write(net.now, 100_000);
    assert_eq!(net.tx.cwnd(), 10 * 1448);
}

fn noisy(rng: &mut Rng, loss: f64, odd: f64) -> Fate {
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
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200 * effort()))]

    /// Whenever an application stops, what it sent arrives, and the connection ends.
    #[test]
    fn finish_at_any_time(
        json in arb_config(),
        ms in 0_u64..2000,
        gap in 0_u64..100,
        seed in any::<u64>(),
        loss in 0.0..0.2,
        odd in 0.0..0.3,
    ) {
        let mut net = Net::new(config(&json), Dur::from_ms(20));
        let mut rng = Rng::from_key(seed);
        let mut high = 0;
        let stop = Time::ZERO + Dur::from_ms(ms);
        // In pieces of 3000 B, or all at once.
        let mut t = Time::ZERO;
        while t < stop {
            net.tx.write(t, if gap == 0 { u64::MAX } else { 3000 });
            t += Dur::from_ms(if gap == 0 { ms } else { gap });
            run_until(&mut net, t.min(stop), &mut |forward, _, s| {
                if forward {
                    high = high.max(s.end());
                }
                noisy(&mut rng, loss, odd)
            });
        }
        net.tx.finish(net.now);
        net.run(Time::MAX, &mut |_, _, _| noisy(&mut rng, loss, odd));
        prop_assert_eq!(net.tx.state(), State::Done, "{} {:?}", json, net.tx);
        prop_assert_eq!(net.rx.delivered_bytes(), u64::max(high, 1) - 1);
        prop_assert_eq!(net.tx.acked_bytes(), net.rx.delivered_bytes());
        prop_assert_eq!(net.rx.is_finished(), high > 0);
    }

    /// After a reset nothing is left of the session before.
    #[test]
    fn a_reset_endpoint_is_a_new_one(
        json in arb_config(),
        bytes in 1_u64..300_000,
        ms in 1_u64..3000,
        seed in any::<u64>(),
        loss in 0.0..0.2,
        odd in 0.0..0.3,
    ) {
        let fresh = || Net::new(config(&json), Dur::from_ms(20));
        let mut old = fresh();
        let mut rng = Rng::from_key(seed);
        old.tx.write(Time::ZERO, bytes);
        old.tx.close(Time::ZERO);
        let stop = Time::ZERO + Dur::from_ms(ms);
        old.run(stop, &mut |_, _, _| noisy(&mut rng, loss, odd));

        let (mut new, mut again) = (fresh(), fresh());
        (again.tx, again.rx) = (old.tx, old.rx);
        again.tx.reset(Time::ZERO);
        again.tx.set_jitter(Rng::from_key(0)); // that of a new one
        again.rx.reset();
        prop_assert_eq!(format!("{:?}", new.tx), format!("{:?}", again.tx));
        prop_assert_eq!(format!("{:?}", new.rx), format!("{:?}", again.rx));
        let mut logs = [vec![], vec![]];
        for (net, log) in [&mut new, &mut again].into_iter().zip(&mut logs) {
            let mut rng = Rng::from_key(seed ^ 1);
            net.tx.write(Time::ZERO, bytes);
            net.tx.close(Time::ZERO);
            net.run(Time::MAX, &mut |_, _, s| {
                log.push(*s);
                noisy(&mut rng, loss, odd)
            });
        }
        prop_assert_eq!(&logs[0], &logs[1]);
        prop_assert_eq!(format!("{:?}", new.tx), format!("{:?}", again.tx));
        prop_assert_eq!(format!("{:?}", new.rx), format!("{:?}", again.rx));
    }
}
