//! Packet-by-packet dialogues with a sender, each after its RFC.

use std::sync::Arc;

use crate::common::script::{play, play_with};
use spillgate_core::{Dur, Ecn, Time};
use spillgate_endpoints::tcp::{Flags, Receiver, Segment, Sender, TcpConfig, TcpSpec};

fn config(more: &str) -> Arc<TcpConfig> {
    let json = format!(
        r#"{{"mss": "1000 B", "handshake": false, "timestamps": false,
            "delayed_ack": {{"timeout": "0 s", "every": 1}}, {more}}}"#
    );
    let spec: TcpSpec = serde_json::from_str(&json).unwrap();
    Arc::new(spec.resolve().unwrap_or_else(|e| panic!("{e}")))
}

/// RFC 5681 §3.1: each acknowledgment of a segment opens the window by one.
#[test]
fn slow_start() {
    play(
        config(r#""cc": {"reno": {}}, "initial_window": 2"#),
        "0   > 1-2
         100 < 2
         100 > 3-4
         101 < 3
         101 > 5-6
         200 < 5
         200 > 7-9
         200 = cwnd 5",
    );
}

/// RFC 5681 §3.1, equation 3: past the threshold one segment per window.
#[test]
fn congestion_avoidance() {
    play(
        config(r#""cc": {"tahoe": {}}, "initial_window": 4, "limited_transmit": false"#),
        "0   > 1-4
         100 < 1
         101 < 1
         102 < 1
         102 > 1
         102 = cwnd 1 ssthresh 2
         200 < 5
         200 > 5-6
         200 = cwnd 2
         300 < 6
         300 > 7
         301 < 7
         301 > 8-9
         301 = cwnd 3",
    );
}

/// RFC 3042 §2 and RFC 6582 §3.2: two new segments, then the lost one; duplicates inflate
/// the window; a full acknowledgment deflates it.
#[test]
fn fast_retransmit_and_fast_recovery() {
    play(
        config(r#""cc": {"newreno": {}}, "initial_window": 10"#),
        "0   > 1-10
         101 < 1
         101 > 11
         102 < 1
         102 > 12
         103 < 1
         103 > 1
         103 = cwnd 5 ssthresh 5 fast 1
         104 < 1
         105 < 1
         106 < 1
         107 < 1
         108 < 1
         108 > 13
         109 < 1
         109 > 14
         201 < 1
         201 > 15
         202 < 1
         202 > 16
         203 < 13
         203 > 17
         203 = cwnd 5 timeouts 0",
    );
}

/// RFC 6582 §3.2 step 3: a partial acknowledgment sends the next hole, takes what it
/// acknowledges from the window and gives one segment back.
#[test]
fn newreno_partial_acknowledgment() {
    play(
        config(r#""cc": {"newreno": {}}, "initial_window": 10, "limited_transmit": false"#),
        "0   > 1-10
         101 < 1
         103 < 1
         104 < 1
         104 > 1
         105 < 1
         106 < 1
         107 < 1
         107 > 11
         108 < 1
         108 > 12
         109 < 1
         109 > 13
         204 < 3
         204 > 3 14
         207 < 3
         207 > 15
         208 < 3
         208 > 16
         209 < 3
         209 > 17
         304 < 14
         304 > 18
         304 = cwnd 5 fast 1 timeouts 0",
    );
}

/// RFC 6582 §3.2 step 3 and §4: only the first partial acknowledgment restarts the timer, so that a
/// window full of holes ends in a timeout, a second after it here.
#[test]
fn newreno_is_impatient() {
    play(
        config(r#""cc": {"newreno": {}}, "initial_window": 10, "limited_transmit": false"#),
        "0   > 1-10
         101 < 1
         102 < 1
         103 < 1
         103 > 1
         104 < 1
         105 < 1
         204 < 3
         204 > 3 11
         604 < 5
         604 > 5 12
         1004 < 7
         1004 > 7 13
         1004 = timeouts 0 fast 1
         1204 > 7
         1204 = cwnd 1 timeouts 1",
    );
}

/// RFC 5681 §3.2: Reno leaves recovery with the first new acknowledgment; three duplicates of
/// it start another, which halves again.
#[test]
fn reno_leaves_recovery_at_once() {
    play(
        config(r#""cc": {"reno": {}}, "initial_window": 10, "limited_transmit": false"#),
        "0   > 1-10
         101 < 1
         103 < 1
         104 < 1
         104 > 1
         105 < 1
         106 < 1
         107 < 1
         107 > 11
         108 < 1
         108 > 12
         109 < 1
         109 > 13
         204 < 3
         204 = cwnd 5 fast 1
         207 < 3
         208 < 3
         209 < 3
         209 > 3
         209 = cwnd 2 fast 2 timeouts 0",
    );
}

/// ns-2's Reno retransmits fast once per window: the second hole waits for the timer.
#[test]
fn reno_of_ns2_waits_for_the_timer() {
    play(
        config(
            r#""cc": {"reno": {}}, "profile": "ns2", "initial_window": 10, "limited_transmit": false"#,
        ),
        "0    > 1-10
         101  < 1
         103  < 1
         104  < 1
         104  > 1
         204  < 3
         204  = cwnd 5 fast 1
         205  < 3
         206  < 3
         207  < 3
         3204 > 3
         3204 = cwnd 1 timeouts 1",
    );
}

/// RFC 6675: three holes in one window, repaired within a round trip as the pipe allows.
#[test]
fn sack_recovery_with_several_holes() {
    play(
        config(r#""cc": {"newreno": {}}, "sack": true, "initial_window": 10"#),
        "0   > 1-10
         102 < 1 sack 2
         102 > 11
         104 < 1 sack 4 2
         104 > 12
         106 < 1 sack 6 4 2
         106 > 1
         106 = cwnd 5 fast 1
         107 < 1 sack 6-7 4 2
         108 < 1 sack 6-8 4 2
         109 < 1 sack 6-9 4 2
         109 > 3
         110 < 1 sack 6-10 4 2
         110 > 5
         202 < 1 sack 6-11 4 2
         202 > 13
         204 < 1 sack 6-12 4 2
         204 > 14
         206 < 3 sack 4 6-12
         206 > 15
         209 < 5 sack 6-12
         209 > 16
         210 < 13
         210 > 17
         210 = cwnd 5 fast 1 timeouts 0",
    );
}

/// RFC 6675 §4, rule 4 of NextSeg: with nothing new to send and the tail of the window lost as
/// well, one rescue takes its last segment again, so that no timeout is needed. The hole before
/// it follows by rule 3 as soon as the rescue is acknowledged.
#[test]
fn a_rescue_repairs_a_lost_tail() {
    let tx = play_with(
        config(r#""cc": {"newreno": {}}, "sack": true, "initial_window": 10"#),
        10,
        "0   > 1-10
         100 < 2
         101 < 2 sack 3
         102 < 2 sack 3-4
         103 < 2 sack 3-5
         103 > 2
         104 < 2 sack 3-6
         105 < 2 sack 3-7
         106 < 2 sack 3-8
         106 > 10
         203 < 9
         206 < 9 sack 10
         206 > 9
         306 < 11
         306 = fast 1 timeouts 0",
    );
    assert_eq!(tx.unacked_bytes(), 0);
}

/// One rescue per recovery: that lost too, the timer does the rest.
#[test]
fn there_is_one_rescue_per_recovery() {
    play_with(
        config(r#""cc": {"newreno": {}}, "sack": true, "initial_window": 10"#),
        10,
        "0    > 1-10
         100  < 2
         101  < 2 sack 3
         102  < 2 sack 3-4
         103  < 2 sack 3-5
         103  > 2
         106  < 2 sack 3-8
         106  > 10
         203  < 9
         1203 > 9
         1203 = fast 1 timeouts 1",
    );
}

/// What is written after the rescue leaves once: it is the tail then, and no second rescue takes it
/// again.
#[test]
fn what_follows_a_rescue_is_not_rescued() {
    play_with(
        config(r#""cc": {"newreno": {}}, "sack": true, "initial_window": 10"#),
        10,
        "0    > 1-10
         100  < 2
         101  < 2 sack 3
         102  < 2 sack 3-4
         103  < 2 sack 3-5
         103  > 2
         106  < 2 sack 3-8
         106  > 10
         110  + 1
         203  < 9
         203  > 11
         206  < 9 sack 10
         206  > 9
         210  < 9 sack 10-11
         306  < 12
         306  = fast 1 timeouts 0",
    );
}

/// RFC 6298 §5.5 and RFC 5681 §3.1: the timeout doubles, the threshold is set once.
#[test]
fn timeouts_back_off() {
    play(
        config(r#""cc": {"newreno": {}}, "initial_window": 8"#),
        "0     > 1-8
         1000  > 1
         1000  = cwnd 1 ssthresh 4 timeouts 1
         3000  > 1
         7000  > 1
         15000 > 1
         15000 = cwnd 1 ssthresh 4 timeouts 4
         15100 < 2
         15100 > 2-3",
    );
}

/// RFC 6298 §5.5 and §2.5: doubled up to a minute, no further.
#[test]
fn the_back_off_ends_at_a_minute() {
    play(
        config(r#""cc": {"newreno": {}}, "initial_window": 1"#),
        "0      > 1
         1000   > 1
         3000   > 1
         7000   > 1
         15000  > 1
         31000  > 1
         63000  > 1
         123000 > 1
         183000 > 1
         243000 > 1
         243000 = timeouts 9",
    );
}

/// RFC 7323 §4.1: an acknowledgment that does not move the window measures nothing, with
/// timestamps or without.
#[test]
fn duplicates_measure_nothing() {
    for timestamps in [true, false] {
        for ecn in ["off", "classic"] {
            let spec: TcpSpec = serde_json::from_str(&format!(
                r#"{{"cc": {{"newreno": {{}}}}, "mss": "1000 B", "handshake": false,
                    "ecn": "{ecn}", "timestamps": {timestamps}}}"#
            ))
            .unwrap();
            let mut tx = Sender::new(&Arc::new(spec.resolve().unwrap()), Time::ZERO);
            tx.write(Time::ZERO, u64::MAX);
            while tx.poll_transmit(Time::ZERO).is_some() {}
            let mut ack = Segment::bare(1, Flags::ACK, Time::ZERO);
            ack.ack = 1001;
            for ms in [100, 300, 400, 500] {
                tx.handle_segment(Time::ZERO + Dur::from_ms(ms), &ack, Ecn::NotEct);
                assert_eq!(tx.srtt(), Some(Dur::from_ms(100)), "at {ms} ms");
            }
        }
    }
}

/// RFC 6582 §3.2 step 2 and §4: after a timeout, duplicates that the retransmissions
/// themselves cause start no fast retransmit.
#[test]
fn no_fast_retransmit_for_a_window_that_timed_out() {
    play(
        config(r#""cc": {"newreno": {}}, "initial_window": 5"#),
        "0    > 1-5
         1000 > 1
         1100 < 6
         1100 > 6-7
         1101 < 6
         1101 > 8
         1102 < 6
         1102 > 9
         1103 < 6
         1103 = fast 0 timeouts 1",
    );
}

/// RFC 3168 §6.1.2: one reduction per window of data, however many echoes.
#[test]
fn marks_reduce_once_per_window() {
    play(
        config(r#""cc": {"newreno": {}}, "ecn": "classic", "initial_window": 10"#),
        "0   > 1-10
         100 < 2 ece
         100 = cwnd 5 ecn 1
         101 < 3 ece
         102 < 4 ece
         103 < 10 ece
         103 > 11-14
         103 = cwnd 5 ecn 1
         104 < 11 ece
         104 > 15
         200 < 12 ece
         200 = cwnd 2 ecn 2",
    );
}

/// RFC 8257 §3.3: so does DCTCP, by alpha / 2, which is a half while all are marked.
#[test]
fn dctcp_reduces_once_per_window() {
    play(
        config(r#""cc": {"dctcp": {}}, "initial_window": 10"#),
        "0   > 1-10
         100 < 2 ece
         100 = cwnd 5 ecn 1
         101 < 3 ece
         102 < 4 ece
         103 < 10 ece
         103 > 11-14
         103 = cwnd 5 ecn 1
         104 < 11 ece
         104 > 15
         200 < 12 ece
         200 = cwnd 2 ecn 2",
    );
}

/// RFC 3168 §6.1.2: the first new segment after a reduction says CWR, the echo stops.
#[test]
fn cwr_answers_the_echo() {
    let cfg = config(r#""cc": {"newreno": {}}, "ecn": "classic", "initial_window": 2"#);
    let mut tx = Sender::new(&cfg, Time::ZERO);
    let mut rx = Receiver::new(&cfg);
    tx.write(Time::ZERO, u64::MAX);
    let mut now = Time::ZERO;
    let mut echoes = vec![];
    for round in 0..4 {
        let data: Vec<_> = std::iter::from_fn(|| tx.poll_transmit(now)).collect();
        assert_eq!(data.iter().any(|s| s.flags.has(Flags::CWR)), round == 1);
        assert!(data.iter().all(|s| s.ect == Ecn::Ect0));
        now += Dur::from_ms(100);
        for s in data {
            let ce = if s.seq == 1 { Ecn::Ce } else { s.ect };
            rx.handle_segment(now, &s, ce);
            let ack = rx.poll_transmit(now).unwrap();
            echoes.push(ack.flags.has(Flags::ECE));
            tx.handle_segment(now, &ack, Ecn::NotEct);
        }
    }
    assert_eq!(echoes[..2], [true, true]);
    assert!(echoes[2..].iter().all(|e| !e), "{echoes:?}");
    assert_eq!(tx.stats().ecn_reactions, 1);
}

/// RFC 8985 §7: two round trips after the last of the data its last segment is sent again.
#[test]
fn tail_loss_probe() {
    let tx = play_with(
        config(r#""cc": {"newreno": {}}, "sack": true, "rack_tlp": true"#),
        4,
        "0   > 1-4
         100 < 4
         300 > 4
         400 < 5",
    );
    assert_eq!((tx.stats().probes, tx.stats().timeouts), (1, 0));
    assert_eq!(tx.poll_timeout(), None);
}

/// RFC 8985 §7.2: for one segment in flight, which the receiver may be slow to acknowledge, a probe
/// waits for that, too.
#[test]
fn a_probe_of_one_segment_waits_for_a_delayed_acknowledgment() {
    let spec: TcpSpec = serde_json::from_str(
        r#"{"mss": "1000 B", "handshake": false, "timestamps": false, "cc": {"newreno": {}}, "sack": true,
            "rack_tlp": true, "initial_window": 4, "delayed_ack": {"timeout": "50 ms", "every": 2}}"#,
    )
    .unwrap();
    let cfg = Arc::new(spec.resolve().unwrap());
    for (segments, script) in [
        (5, "0 > 1-4\n100 < 5\n100 > 5\n350 > 5"),
        (6, "0 > 1-4\n100 < 5\n100 > 5-6\n300 > 6"),
    ] {
        play_with(Arc::clone(&cfg), segments, script);
    }
}

/// RFC 8985 §7.4: a probe that repaired a loss is answered as a loss is.
#[test]
fn a_loss_that_a_probe_repaired_is_answered() {
    play_with(
        config(r#""cc": {"newreno": {}}, "sack": true, "rack_tlp": true"#),
        4,
        "0   > 1-4
         100 < 4
         300 > 4
         310 + 2
         310 > 5-6
         400 < 5
         400 = fast 0
         410 < 7
         410 = fast 1 timeouts 0",
    );
}

/// RFC 8985 §6.2 step 4: with five spurious retransmissions the window of reordering would be
/// 150 ms, but it is one round trip at most: the hole behind 21, sent at 500 ms, is repaired 100 ms
/// after the 100 ms of the round trip.
#[test]
fn reordering_may_take_a_round_trip_at_most() {
    play(
        config(
            r#""cc": {"newreno": {}}, "sack": true, "rack_tlp": true, "initial_window": 4, "max_window": "4000 B""#,
        ),
        "0   > 1-4
         100 < 5 sack 1
         100 > 5-8
         200 < 9 sack 5
         200 > 9-12
         300 < 13 sack 9
         300 > 13-16
         400 < 17 sack 13
         400 > 17-20
         500 < 21 sack 17
         500 > 21-24
         600 < 21 sack 22
         700 > 21",
    );
}

/// RFC 8985 §7.3: a probe of new data leaves though the window is full, and takes its room there.
#[test]
fn a_probe_of_new_data_counts_in_the_window() {
    let tx = play(
        config(r#""cc": {"newreno": {}}, "sack": true, "rack_tlp": true, "initial_window": 4"#),
        "0   > 1-4
         100 < 2
         100 > 5-6
         100 = cwnd 5
         300 > 7
         310 < 3
         310 = cwnd 6
         310 > 8",
    );
    assert_eq!((tx.stats().probes, tx.in_flight()), (1, 6000));
}

/// RFC 8985 §6.2: reordering of less than a quarter of the round trip retransmits nothing;
/// a hole that outlives it does, though a single segment is beyond it.
#[test]
fn rack_waits_for_the_reordering_window() {
    let cfg = config(r#""cc": {"newreno": {}}, "sack": true, "rack_tlp": true"#);
    let tx = play_with(
        Arc::clone(&cfg),
        3,
        "0   > 1-3
         100 < 2
         101 < 2 sack 3
         110 < 4",
    );
    assert_eq!(tx.stats().retransmits, 0);
    let tx = play_with(
        cfg,
        3,
        "0   > 1-3
         100 < 2
         100 < 2 sack 3
         125 > 2
         225 < 4",
    );
    assert_eq!((tx.stats().timeouts, tx.stats().fast_retransmits), (0, 1));
}

/// RFC 8985 §6.2 step 2: segment 2 comes late, after it was sent again. That its acknowledgment
/// follows the copy by 1 ms, less than any round trip, says that it is the original's: what left
/// before the copy is not overtaken by it, and nothing more is sent again.
#[test]
fn rack_leaves_alone_what_an_acknowledgment_of_an_original_overtakes() {
    let tx = play(
        config(r#""cc": {"newreno": {}}, "sack": true, "rack_tlp": true, "initial_window": 10"#),
        "0   > 1-10
         100 < 2
         100 > 11-12
         101 < 2 sack 3
         101 > 13
         102 < 2 sack 3-4
         102 > 14
         103 < 2 sack 3-5
         103 > 2
         104 < 6 sack 7
         105 < 8",
    );
    assert_eq!(tx.stats().retransmits, 1);
}

/// RFC 6937 §3: while more than half the window is in flight every second delivery sends
/// (the retransmission is the first), then each one does; half the window leaves in all.
#[test]
fn prr_sends_in_proportion() {
    play(
        config(
            r#""cc": {"newreno": {}}, "sack": true, "prr": true, "initial_window": 10, "limited_transmit": false"#,
        ),
        "0   > 1-10
         101 < 1 sack 2
         102 < 1 sack 2-3
         103 < 1 sack 2-4
         103 > 1
         103 = cwnd 5
         104 < 1 sack 2-5
         105 < 1 sack 2-6
         106 < 1 sack 2-7
         106 > 11
         107 < 1 sack 2-8
         107 > 12
         108 < 1 sack 2-9
         108 > 13
         109 < 1 sack 2-10
         109 > 14
         203 < 11
         203 = cwnd 5
         203 > 15",
    );
}

/// Linux: below its target the window opens by a segment more than what was delivered, but not
/// where the same acknowledgment tells of further losses. Of 20 segments 1, 2 and 8 to 15 are lost.
/// The acknowledgment of the first two copies brings what was delivered to 9 segments, of which 2
/// have left again: so 7 of the 8 leave.
#[test]
fn prr_opens_no_further_while_losses_go_on() {
    play_with(
        config(
            r#""cc": {"newreno": {}}, "profile": "linux", "rack_tlp": false, "min_rto": "1 s", "initial_window": 20"#,
        ),
        20,
        "0   > 1-20
         100 < 1 sack 3
         101 < 1 sack 3-4
         102 < 1 sack 3-5
         102 > 1
         102 = cwnd 10
         103 < 1 sack 3-6
         104 < 1 sack 3-7
         104 > 2
         204 < 8 sack 16-19
         204 > 8-14",
    );
}

fn data(n: u64, now: Time) -> Segment {
    Segment {
        len: 1000,
        ..Segment::bare((n - 1) * 1000 + 1, Flags::ACK, now)
    }
}

/// RFC 8257 §3.2: an acknowledgment tells of segments that came in one state. Where the state
/// changes, what waits to be acknowledged is so at once, with the echo of the state in which it
/// came.
#[test]
fn dctcp_echoes_the_state_in_which_segments_came() {
    let mut cfg = TcpConfig::clone(&config(r#""cc": {"dctcp": {}}"#));
    cfg.delayed_ack = Some(spillgate_endpoints::tcp::config::DelayedAck {
        timeout: Dur::from_ms(40),
        every: 2,
    });
    let mut rx = Receiver::new(&Arc::new(cfg));
    let mut put = |n, ecn| {
        rx.handle_segment(Time::ZERO, &data(n, Time::ZERO), ecn);
        std::iter::from_fn(|| rx.poll_transmit(Time::ZERO))
            .map(|a| (a.ack / 1000 + 1, a.flags.has(Flags::ECE)))
            .collect::<Vec<_>>()
    };
    assert_eq!(put(1, Ecn::Ect0), []);
    assert_eq!(put(2, Ecn::Ce), [(2, false)]);
    assert_eq!(put(3, Ecn::Ce), [(4, true)]);
    assert_eq!(put(4, Ecn::Ce), []);
    assert_eq!(put(5, Ecn::Ect0), [(5, true)]);
    assert_eq!(put(6, Ecn::Ect0), [(7, false)]);
}

/// RFC 5681 §4.2: every second segment at once, one alone after the delay, anything out of
/// order at once; RFC 2018 §4: the latest range first; RFC 2883 §4: duplicates are reported.
#[test]
fn receiver_acknowledges() {
    let cfg = config(r#""cc": {"cubic": {}}"#);
    let mut cfg = TcpConfig::clone(&cfg);
    cfg.delayed_ack = Some(spillgate_endpoints::tcp::config::DelayedAck {
        timeout: Dur::from_ms(40),
        every: 2,
    });
    let mut rx = Receiver::new(&Arc::new(cfg));
    let at = |ms| Time::ZERO + Dur::from_ms(ms);
    let mut put = |ms, n| {
        rx.handle_segment(at(ms), &data(n, at(ms)), Ecn::NotEct);
        let ack = rx.poll_transmit(at(ms));
        assert_eq!(rx.poll_transmit(at(ms)), None);
        ack.map(|a| {
            let blocks: Vec<_> = a
                .sack
                .iter(a.ack)
                .map(|(s, e)| (s / 1000 + 1, e / 1000))
                .collect();
            (a.ack / 1000 + 1, blocks)
        })
    };
    assert_eq!(put(0, 1), None);
    assert_eq!(put(1, 2), Some((3, vec![])));
    assert_eq!(put(2, 4), Some((3, vec![(4, 4)])));
    assert_eq!(put(3, 6), Some((3, vec![(6, 6), (4, 4)])));
    assert_eq!(put(4, 8), Some((3, vec![(8, 8), (6, 6), (4, 4)])));
    assert_eq!(put(5, 7), Some((3, vec![(6, 8), (4, 4)])));
    assert_eq!(put(6, 4), Some((3, vec![(4, 4), (4, 4), (6, 8)])));
    assert_eq!(put(7, 3), Some((5, vec![(6, 8)])));
    assert_eq!(put(8, 1), Some((5, vec![(1, 1), (6, 8)])));
    assert_eq!(put(9, 5), Some((9, vec![])));
    assert_eq!(put(10, 9), None);
    assert_eq!(rx.poll_timeout(), Some(at(50)));
    rx.handle_timeout(at(50));
    assert_eq!(rx.poll_transmit(at(50)).unwrap().ack, 9001);
    assert_eq!(rx.delivered_bytes(), 9000);
}
