//! Rules of TCP that whole transfers hardly show, each alone.

use std::sync::Arc;

use crate::common::script::play;
use spillgate_core::{Dur, Ecn, Rng, Time};
use spillgate_endpoints::tcp::{Flags, Segment, Sender, TcpConfig, TcpSpec};

fn config(more: &str) -> Arc<TcpConfig> {
    let json = format!(
        r#"{{"mss": "1000 B", "handshake": false, "timestamps": false,
            "delayed_ack": {{"timeout": "0 s", "every": 1}}, {more}}}"#
    );
    let spec: TcpSpec = serde_json::from_str(&json).unwrap();
    Arc::new(spec.resolve().unwrap_or_else(|e| panic!("{e}")))
}

/// RFC 6298 §3 (Karn): what acknowledges a segment that was sent twice measures nothing.
#[test]
fn an_acknowledgment_after_a_timeout_measures_nothing() {
    let tx = play(
        config(r#""cc": {"newreno": {}}, "initial_window": 2"#),
        "0    > 1-2
         1000 > 1
         1100 < 3
         1100 > 3-4",
    );
    assert_eq!(tx.srtt(), None);
    let tx = play(
        config(r#""cc": {"newreno": {}}, "initial_window": 2"#),
        "0    > 1-2
         1000 > 1
         1100 < 3
         1100 > 3-4
         1300 < 4
         1300 > 5",
    );
    assert_eq!(tx.srtt(), Some(Dur::from_ms(200)));
}

/// RFC 6298 §5.7: after a SYN that timed out data begin with a timeout of 3 s, without with 1 s.
#[test]
fn data_wait_longer_after_a_lost_syn() {
    let at = |ms| Time::ZERO + Dur::from_ms(ms);
    let spec: TcpSpec = serde_json::from_str(r#"{"mss": "1000 B", "timestamps": false}"#).unwrap();
    let cfg = Arc::new(spec.resolve().unwrap());
    for (syn, answered, again) in [(0, 100, 1100), (1000, 1100, 4100)] {
        let mut tx = Sender::new(&cfg, Time::ZERO);
        tx.write(Time::ZERO, 1000);
        let mut sent = Vec::new();
        let mut poll = |tx: &mut Sender, now: Time| {
            while let Some(s) = tx.poll_transmit(now) {
                sent.push((now, s.len > 0));
            }
        };
        poll(&mut tx, at(0));
        while let Some(due) = tx.poll_timeout().filter(|due| *due <= at(syn)) {
            tx.handle_timeout(due);
            poll(&mut tx, due);
        }
        let mut syn_ack = Segment::bare(0, Flags::SYN | Flags::ACK, at(answered));
        syn_ack.ack = 1;
        tx.handle_segment(at(answered), &syn_ack, Ecn::NotEct);
        poll(&mut tx, at(answered));
        let due = tx.poll_timeout().unwrap();
        tx.handle_timeout(due);
        poll(&mut tx, due);
        let data: Vec<_> = sent.iter().filter(|s| s.1).map(|s| s.0).collect();
        assert_eq!(data, [at(answered), at(again)]);
    }
}

/// RFC 5681 §3.1, equation 4: never less than two segments.
#[test]
fn the_threshold_is_two_segments_at_least() {
    for cc in [
        r#""cc": {"tahoe": {}}"#,
        r#""cc": {"reno": {}}"#,
        r#""cc": {"newreno": {}}"#,
        r#""cc": {"cubic": {}}, "sack": false"#,
        r#""cc": {"cubic": {}}"#,
        r#""cc": {"cubic": {}}, "profile": "linux", "rack_tlp": false, "min_rto": "1 s""#,
        r#""cc": {"newreno": {}}, "profile": "linux", "rack_tlp": false, "min_rto": "1 s""#,
    ] {
        play(
            config(&format!(r#"{cc}, "initial_window": 1"#)),
            "0    > 1
             1000 > 1
             1000 = cwnd 1 ssthresh 2 timeouts 1",
        );
    }
}

/// RFC 6582 §3.2 step 3: a partial acknowledgment of one segment takes it from the window and gives
/// it back, so that besides the hole a new segment leaves.
#[test]
fn a_partial_acknowledgment_gives_a_segment_back() {
    play(
        config(r#""cc": {"newreno": {}}, "initial_window": 8, "limited_transmit": false"#),
        "0   > 1-8
         103 < 1
         104 < 1
         105 < 1
         105 > 1
         105 = cwnd 4 ssthresh 4
         106 < 1
         107 < 1
         107 > 9
         204 < 2
         204 > 2 10
         205 < 3
         205 > 3 11",
    );
}

/// A sender that writes segments and has them acknowledged.
struct Writer {
    tx: Sender,
    sent: u64,
}

impl Writer {
    fn new(more: &str) -> Self {
        Self {
            tx: Sender::new(&config(more), Time::ZERO),
            sent: 0,
        }
    }

    /// Writes so many segments at a time; how many of them leave before an acknowledgment comes
    /// 100 ms later.
    fn round(&mut self, ms: u64, segments: u64) -> u64 {
        let (at, before) = (Time::ZERO + Dur::from_ms(ms), self.sent);
        self.tx.write(at, 1000 * segments);
        self.drain(at);
        let left = self.sent - before;
        while self.sent < before + segments {
            self.acknowledge(at + Dur::from_ms(100));
        }
        self.acknowledge(at + Dur::from_ms(100));
        left
    }

    fn drain(&mut self, at: Time) {
        while let Some(s) = self.tx.poll_transmit(at) {
            self.sent += u64::from(s.len) / 1000;
        }
    }

    fn acknowledge(&mut self, at: Time) {
        let mut ack = Segment::bare(1, Flags::ACK, at);
        ack.ack = 1 + 1000 * self.sent;
        self.tx.handle_segment(at, &ack, Ecn::NotEct);
        self.drain(at);
    }

    fn cwnd(&self) -> u64 {
        self.tx.cwnd() / 1000
    }
}

/// A window of which half is used does not grow, in slow start one of which more is used does
/// (RFC 9438 §5.8, and Linux).
#[test]
fn slow_start_grows_where_more_than_half_of_the_window_is_used() {
    for cc in ["newreno", "cubic"] {
        let mut w = Writer::new(&format!(r#""cc": {{"{cc}": {{}}}}, "initial_window": 10"#));
        w.round(0, 5);
        assert_eq!(w.cwnd(), 10, "{cc}");
        w.round(200, 6);
        assert!(w.cwnd() > 10, "{cc}");
    }
}

/// RFC 5681 §4.1: after a silence of more than one timeout, 1 s here, the window is the initial one
/// again.
#[test]
fn the_window_restarts_after_a_silence_of_one_timeout() {
    for (silence, leave) in [(900, 12), (1100, 4)] {
        let mut w = Writer::new(r#""cc": {"newreno": {}}, "initial_window": 4"#);
        let mut ms = 0;
        while w.cwnd() < 12 {
            w.round(ms, w.cwnd());
            ms += 150;
        }
        // The last one was sent 150 ms ago.
        assert_eq!(w.round(ms - 150 + silence, 12), leave, "after {silence} ms");
    }
}

/// Linux's head room: segments are paced at twice the window in a round trip while that is below
/// half of the threshold, which is 16 segments after the timeout here, and at 1.2 times the window
/// from there on.
#[test]
fn pacing_has_less_head_room_from_half_of_the_threshold_on() {
    let spec: TcpSpec = serde_json::from_str(
        r#"{"mss": "1000 B", "handshake": false, "cc": {"newreno": {}}, "sack": true, "pacing": true, "initial_window": 32}"#,
    )
    .unwrap();
    let mut tx = Sender::new(&Arc::new(spec.resolve().unwrap()), Time::ZERO);
    tx.write(Time::ZERO, u64::MAX);
    // No round trip is known yet, so nothing is paced.
    while tx.poll_transmit(Time::ZERO).is_some() {}
    let mut now = tx.poll_timeout().unwrap();
    tx.handle_timeout(now);
    while tx.poll_transmit(now).is_some() {}
    let rtt = Dur::from_ms(100);
    for n in 1..=13_u64 {
        now += rtt;
        let mut ack = Segment::bare(1, Flags::ACK, now);
        (ack.ack, ack.ts_ecr) = (1 + 1000 * n, Time::ZERO + now.since(Time::ZERO + rtt));
        tx.handle_segment(now, &ack, Ecn::NotEct);
        assert_eq!((tx.cwnd(), tx.ssthresh()), (1000 * (n + 1), 16_000));
        assert!(tx.poll_transmit(now).is_some() && tx.poll_transmit(now).is_none());
        // The second of the two that this acknowledgment allows.
        let next = tx.poll_timeout().unwrap();
        let head_room = rtt.as_secs_f64() / next.since(now).as_secs_f64() / (n + 1) as f64;
        let wanted = if n + 1 < 8 { 2.0 } else { 1.2 };
        // Times are whole picoseconds.
        assert!((head_room - wanted).abs() < 1e-9, "{n}: {head_room}");
        tx.handle_timeout(next);
        assert!(tx.poll_transmit(next).is_some());
    }
}

/// What is allowed leaves together, after a time that is even from nothing to `send_jitter`; what
/// timed out at once.
#[test]
fn jitter_holds_back_what_is_allowed() {
    let cfg = config(r#""cc": {"newreno": {}}, "initial_window": 4, "send_jitter": "10 ms""#);
    let mut tx = Sender::new(&cfg, Time::ZERO);
    tx.set_jitter(Rng::from_key(7));
    tx.write(Time::ZERO, u64::MAX);
    let mut now = Time::ZERO;
    let mut waited = Dur::ZERO;
    let rounds = 1000;
    for round in 0..rounds {
        assert_eq!(tx.poll_transmit(now), None, "round {round}");
        let at = tx.poll_timeout().unwrap();
        assert!(at.since(now) <= Dur::from_ms(10), "round {round}");
        // What happens meanwhile draws no other time.
        assert_eq!(tx.poll_transmit(now), None);
        assert_eq!(tx.poll_timeout(), Some(at));
        waited = waited + at.since(now);
        tx.handle_timeout(at);
        let mut sent = 0;
        let mut last = None;
        while let Some(s) = tx.poll_transmit(at) {
            (sent, last) = (sent + 1, Some(s));
        }
        assert!(sent > 0, "round {round}");
        now = at + Dur::from_ms(100);
        let last = last.unwrap();
        let ack = Segment {
            ack: last.seq + u64::from(last.len),
            ..Segment::bare(0, Flags::ACK, now)
        };
        tx.handle_segment(now, &ack, Ecn::NotEct);
    }
    // The mean of n draws of U(0, 10 ms) deviates by 10 ms / sqrt(12 n) = 0.09 ms; four times that.
    let mean = waited.as_secs_f64() / f64::from(rounds);
    assert!((mean - 5e-3).abs() < 0.37e-3, "{mean}");
    assert_eq!(tx.poll_transmit(now), None);
    let at = tx.poll_timeout().unwrap();
    tx.handle_timeout(at);
    while tx.poll_transmit(at).is_some() {}
    let timeout = tx.poll_timeout().unwrap();
    tx.handle_timeout(timeout);
    assert!(tx.poll_transmit(timeout).is_some(), "repaired at once");
}
