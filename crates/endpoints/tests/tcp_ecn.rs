//! Explicit congestion notification (RFC 3168 §6.1.2).

use crate::common::net::{Fate, Net, config};
use crate::common::script::play;
use spillgate_core::{Dur, Ecn, Rng, Time, math};
use spillgate_endpoints::cc;
use spillgate_endpoints::tcp::{Flags, Receiver, Segment, State};

fn plain(more: &str) -> std::sync::Arc<spillgate_endpoints::tcp::TcpConfig> {
    config(&format!(
        r#"{{"mss": "1000 B", "handshake": false, "timestamps": false, "ecn": "classic",
            "delayed_ack": {{"timeout": "0 s", "every": 1}}, {more}}}"#
    ))
}

/// After a timeout everything sent is old, and CWR goes on new data only: the echo of what the
/// timeout has answered lasts until the window has grown over all of it. Once it has, the echo
/// stops the growth as ever.
#[test]
fn an_echo_does_not_stop_slow_start_after_a_timeout() {
    for sack in [false, true] {
        play(
            plain(&format!(
                r#""cc": {{"newreno": {{}}}}, "initial_window": 8, "sack": {sack}"#
            )),
            "0    > 1-8
             1000 > 1
             1100 < 2 ece
             1100 > 2-3
             1200 < 4 ece
             1200 > 4-6
             1200 = cwnd 3 ssthresh 4 ecn 0
             1300 < 6 ece
             1300 > 7-9
             1300 = cwnd 4
             1400 < 9 ece
             1400 > 10-12
             1400 = cwnd 4 ecn 0
             1500 < 13
             1500 > 13-17
             1500 = cwnd 5 ecn 0",
        );
    }
}
/// §6.1.2: a window of one segment cannot be halved; the next segment leaves when the timer
/// expires, a second after the echo. That is no loss.
#[test]
fn a_mark_at_one_segment_waits_for_the_timer() {
    for sack in [false, true] {
        let tx = play(
            plain(&format!(
                r#""cc": {{"newreno": {{}}}}, "initial_window": 1, "sack": {sack}"#
            )),
            "0    > 1
             100  < 2 ece
             1100 > 2
             1100 = cwnd 1 ecn 1 timeouts 0
             1200 < 3
             1200 > 3-4",
        );
        assert_eq!(tx.stats().retransmits, 0);
    }
}

/// §6.1.2 and RFC 9438 §4.6: marks take the window down to one segment, the threshold to two; in
/// Linux the window stays at two as well.
#[test]
fn marks_have_their_own_floor() {
    let script = |end| {
        format!(
            "0   > 1-2
             100 < 3 ece
             {end}"
        )
    };
    for cc in ["newreno", "cubic", "reno", "tahoe"] {
        let more = format!(r#""cc": {{"{cc}": {{}}}}, "initial_window": 2, "sack": false"#);
        play(plain(&more), &script("100 > 3\n100 = cwnd 1 ssthresh 2"));
        let more = format!(r#"{more}, "profile": "linux""#);
        play(plain(&more), &script("100 > 3-4\n100 = cwnd 2 ssthresh 2"));
    }
}

/// Linux answers a mark by proportional rate reduction, in which one segment leaves at once, as in
/// a recovery, though as much is in flight as the smaller window allows; and the acknowledgment
/// that ends it counts for growth. Small windows are a third smaller without.
#[test]
fn linux_sends_one_segment_on_an_echo_and_grows_with_what_ends_the_reduction() {
    play(
        plain(r#""cc": {"newreno": {}}, "initial_window": 4, "profile": "linux""#),
        "0   > 1-4
         100 < 3 ece
         100 > 5
         100 = ecn 1 ssthresh 2
         110 < 4
         120 < 5
         120 > 6
         200 < 6
         200 > 7
         220 < 7
         220 > 8-9
         220 = cwnd 3 ecn 1",
    );
}

/// A mark on the segment that ends the echo begins another: Linux answers the next two segments at
/// once again.
#[test]
fn a_mark_on_the_segment_with_cwr_is_answered_at_once() {
    let cfg = config(
        r#"{"mss": "1000 B", "handshake": false, "ecn": "classic", "profile": "linux", "quick_acks": 1}"#,
    );
    let mut rx = Receiver::new(&cfg);
    let mut answered = |i: u64, flags: Flags, ecn: Ecn| {
        let now = Time::ZERO + Dur::from_ms(i);
        let segment = Segment {
            len: 1000,
            ect: Ecn::Ect0,
            ..Segment::bare(1 + (i - 1) * 1000, Flags::ACK | flags, now)
        };
        rx.handle_segment(now, &segment, ecn);
        rx.poll_transmit(now).is_some()
    };
    let none = Flags::ACK;
    assert!(answered(1, none, Ecn::Ce), "the first mark");
    assert!(answered(2, none, Ecn::Ect0), "and what follows it");
    assert!(!answered(3, none, Ecn::Ect0), "every second one, later");
    assert!(answered(4, Flags::CWR, Ecn::Ce), "the window was reduced");
    assert!(answered(5, none, Ecn::Ect0), "what follows the new mark");
    assert!(!answered(6, none, Ecn::Ect0));
}

/// §6.1.2: whatever the reason of a reduction, the first new data after it carry CWR, and nothing
/// else does: no retransmission, no second segment, no bare acknowledgment. §6.1.5: only new data
/// are ECN-capable. [`Net`] checks it of every segment; here reductions of all three kinds are
/// many.
#[test]
fn cwr_goes_on_the_first_new_data_after_each_reduction() {
    for (kind, sack) in [
        ("newreno", false),
        ("newreno", true),
        ("cubic", true),
        ("reno", false),
        ("tahoe", false),
    ] {
        for profile in ["rfc", "linux", "ns2"] {
            let json = format!(
                r#"{{"cc": {{"{kind}": {{}}}}, "profile": "{profile}", "sack": {sack}, "ecn": "classic"}}"#
            );
            let mut net = Net::new(config(&json), Dur::from_ms(20));
            net.tx.write(Time::ZERO, u64::MAX);
            let mut rng = Rng::from_key(5);
            net.run(
                Time::from_secs_f64(100.0),
                &mut |forward, _, _| match rng.below(100) {
                    0..6 if forward => Fate::Lose,
                    6..8 if forward => Fate::Mark,
                    _ => Fate::Pass,
                },
            );
            let s = net.tx.stats();
            let seen = [s.fast_retransmits, s.timeouts, s.ecn_reactions];
            assert!(seen.iter().all(|&n| n > 0), "{json}: {seen:?}");
        }
    }
}

/// A transfer of 1.2 s at the rate of the line.
const BYTES: u64 = 15_000_000;

/// Seconds until a transfer is complete, over 100 Mb/s with a round trip of `rtt` ms and RED with
/// thresholds at 2 and 6 ms (16 and 50 packets) and a buffer of `limit` ms. Its average follows so
/// slowly that slow start overruns it. What is not ECN-capable, as every retransmission, is dropped
/// where the rest is marked.
fn transfer(json: &str, rtt: u64, limit: f64) -> f64 {
    const RATE: f64 = 12.5e6;
    let cfg = config(json);
    let mut net = Net::new(cfg.clone(), Dur::from_ms(rtt / 2));
    net.tx.write(Time::ZERO, BYTES);
    net.tx.close(Time::ZERO);
    let (mut free, mut average) = (0.0_f64, 0.0_f64);
    let mut rng = Rng::from_key(7);
    net.run(Time::from_secs_f64(300.0), &mut |forward, _, seg| {
        if !forward || seg.len == 0 {
            return Fate::Pass;
        }
        let now = seg.ts_val.as_secs_f64();
        let wait = (free - now).max(0.0) * 1e3;
        // While the queue is idle the average follows as if packets went through (Floyd and
        // Jacobson 1993, §4).
        let idle = (now - free).max(0.0) * RATE / 1500.0;
        average *= math::pow(1.0 - 0.002, idle);
        average += 0.002 * (wait - average);
        if wait > limit {
            return Fate::Lose;
        }
        let chosen = rng.chance(((average - 2.0) / 40.0).clamp(0.0, 1.0)) || average > 6.0;
        if chosen && !seg.ect.is_capable() {
            return Fate::Lose;
        }
        free = free.max(now) + f64::from(seg.wire_len(&cfg)) / RATE;
        let late = Dur::from_secs_f64(free - now);
        if chosen {
            Fate::MarkLate(late)
        } else {
            Fate::Late(late)
        }
    });
    assert_eq!(net.tx.state(), State::Done, "{json}");
    assert_eq!(net.rx.delivered_bytes(), BYTES, "{json}");
    net.now.as_secs_f64()
}

/// Every algorithm that answers marks as losses, with and without SACK, under each profile, while
/// slow start overruns the buffer by much, a little or not at all: marks tell what losses tell, a
/// round trip earlier and without a retransmission. Single transfers differ by chance (a timeout
/// more or less), so nine are summed up; a tenth is left for that.
#[test]
fn marks_cost_no_more_than_losses() {
    for kind in cc::CcSpec::NAMES {
        if ["dctcp", "prague"].contains(kind) {
            continue;
        }
        for profile in ["rfc", "linux", "ns2"] {
            for sack in [false, true] {
                let old = ["tahoe", "reno"].contains(kind);
                if sack && old || !sack && *kind == "bbr" {
                    continue;
                }
                let (mut with, mut without) = (0.0, 0.0);
                for (rtt, limit) in [20, 50, 100]
                    .into_iter()
                    .flat_map(|rtt| [8.0, 20.0, 50.0].map(|limit| (rtt, limit)))
                {
                    let of = |ecn| {
                        let json = format!(
                            r#"{{"cc": {{"{kind}": {{}}}}, "profile": "{profile}", "sack": {sack}, "ecn": "{ecn}"}}"#
                        );
                        transfer(&json, rtt, limit)
                    };
                    let (marked, lossy) = (of("classic"), of("off"));
                    with += marked;
                    without += lossy;
                }
                println!("{kind} {profile} sack {sack}: {without:.1} s, {with:.1} s with marks");
                assert!(
                    with < 1.1 * without,
                    "{kind} {profile} sack {sack}: {with} s, without marks {without} s"
                );
            }
        }
    }
}
