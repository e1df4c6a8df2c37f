//! The states of BBR against the numbers of draft-cardwell-iccrg-bbr-congestion-control-00.

use super::*;

const MSS: u64 = 1000;
/// The smallest round trip.
const RTT: Dur = Dur::from_ms(100);

struct Drive {
    b: Bbr,
    now: Time,
    delivered: u64,
    rtt: Dur,
    limited: bool,
}

impl Drive {
    fn new() -> Self {
        let spec: crate::tcp::TcpSpec =
            serde_json::from_str(r#"{"cc": {"bbr": {}}, "mss": "1000 B"}"#).unwrap();
        let cfg = spec.resolve().unwrap();
        Self {
            b: Bbr::new(&BbrSpec {}, &cfg, Time::ZERO),
            now: Time::ZERO,
            delivered: 0,
            rtt: RTT,
            limited: false,
        }
    }

    /// One acknowledgment of ten segments that measures `rate` bytes per second; it begins a round
    /// if `round`. Of `flight` bytes were in flight before and are after it.
    fn ack(&mut self, rate: f64, flight: (u64, u64), round: bool) {
        let prior = if round { self.delivered } else { 0 };
        self.delivered += 10 * MSS;
        self.b.on_ack(&AckSample {
            now: self.now,
            acked: 10 * MSS,
            delivered: 10 * MSS,
            marked: 0,
            ece: false,
            prior_in_flight: flight.0,
            in_flight: flight.1,
            una: 0,
            nxt: 0,
            rtt: Some(self.rtt),
            srtt: Some(self.rtt),
            min_rtt: RTT,
            cwnd_limited: true,
            in_recovery: false,
            paced: false,
            rate: Some(RateSample {
                rate,
                prior_delivered: prior,
                delivered: self.delivered,
                app_limited: self.limited,
            }),
        });
    }

    /// A round trip later a round begins.
    fn round(&mut self, rate: f64, flight: u64) {
        self.now += self.rtt;
        self.ack(rate, (flight, flight), true);
    }

    /// Through startup and drain at 1 MB/s, so that the product of rate and delay is 100 kB.
    fn in_probe_bw() -> Self {
        let mut d = Self::new();
        for _ in 0..5 {
            d.round(1e6, 200 * MSS);
        }
        d.round(1e6, 100 * MSS);
        assert_eq!(d.b.mode, Mode::ProbeBw);
        d
    }

    fn gain(&self) -> f64 {
        self.b.pacing_rate().unwrap() / self.b.rate()
    }
}

/// §4.3.2: gain 2 / ln 2 as long as the rate grows by a quarter within three rounds.
#[test]
fn startup_ends_when_the_rate_stops_growing() {
    let mut d = Drive::new();
    let mut rate = 1e5;
    for _ in 0..6 {
        d.round(rate, 300 * MSS);
        assert_eq!(d.b.mode, Mode::Startup);
        assert!((d.gain() - 2.885).abs() < 0.001);
        rate *= 1.25;
    }
    // Twice almost, then a quarter: the count begins anew.
    let full = d.b.rate();
    d.round(1.24 * full, 300 * MSS);
    d.round(1.24 * full, 300 * MSS);
    d.round(1.25 * full, 300 * MSS);
    for _ in 0..2 {
        d.round(1.25 * full, 300 * MSS);
        assert_eq!(d.b.mode, Mode::Startup);
    }
    d.round(1.25 * full, 300 * MSS);
    assert_eq!(d.b.mode, Mode::Drain);
}

/// What the application limited says nothing of the pipe (§4.3.2.2).
#[test]
fn startup_outlasts_samples_that_the_application_limited() {
    let mut d = Drive::new();
    d.limited = true;
    for _ in 0..20 {
        d.round(1e6, 300 * MSS);
    }
    assert_eq!(d.b.mode, Mode::Startup);
}

/// §4.3.3: the inverse of startup's gain until no more than the product of rate and delay is in
/// flight, with room for three segments (§4.2.3.2); then ProbeBW with two such products.
#[test]
fn drain_empties_the_queue() {
    let mut d = Drive::new();
    for _ in 0..4 {
        d.round(1e6, 300 * MSS);
    }
    assert_eq!(d.b.mode, Mode::Drain);
    assert!((d.gain() - 1.0 / 2.885).abs() < 0.001);
    d.round(1e6, 104 * MSS);
    assert_eq!(d.b.mode, Mode::Drain);
    d.round(1e6, 103 * MSS);
    assert_eq!(d.b.mode, Mode::ProbeBw);
    for _ in 0..50 {
        d.round(1e6, 100 * MSS);
    }
    assert_eq!(d.b.cwnd(), 203 * MSS);
}

/// §4.3.4: 1.25, 0.75 and six times 1, each for a round trip.
#[test]
fn probe_bw_cycles_its_gains() {
    let mut d = Drive::in_probe_bw();
    while d.b.cycle != 7 {
        d.now += RTT + Dur::from_us(1);
        d.ack(1e6, (130 * MSS, 130 * MSS), true);
    }
    let mut seen = vec![];
    for _ in 0..16 {
        d.now += RTT + Dur::from_us(1);
        d.ack(1e6, (130 * MSS, 130 * MSS), true);
        seen.push((d.gain() * 100.0).round() as u32);
    }
    let cycle = [125, 75, 100, 100, 100, 100, 100, 100];
    assert_eq!(seen, cycle.repeat(2));
}

/// §4.3.4.4: 1.25 lasts until a quarter more is in flight or something is lost, 0.75 only until
/// the queue is gone.
#[test]
fn probing_phases_end_with_their_purpose() {
    let mut d = Drive::in_probe_bw();
    let set = |d: &mut Drive, cycle: usize| {
        (d.b.cycle, d.b.pacing_gain) = (cycle, CYCLE[cycle]);
        d.b.cycle_at = d.now;
    };
    set(&mut d, 0);
    for _ in 0..5 {
        d.now += RTT + Dur::from_us(1);
        d.ack(1e6, (127 * MSS, 117 * MSS), false);
        assert_eq!(d.b.cycle, 0, "1.25 times 100 and three are 128 segments");
    }
    d.ack(1e6, (128 * MSS, 118 * MSS), false);
    assert_eq!(d.b.cycle, 1);
    d.now += Dur::from_ms(10);
    d.ack(1e6, (104 * MSS, 94 * MSS), false);
    assert_eq!(d.b.cycle, 1);
    d.ack(1e6, (103 * MSS, 93 * MSS), false);
    assert_eq!(d.b.cycle, 2);
    set(&mut d, 0);
    d.now += RTT + Dur::from_us(1);
    d.b.on_congestion(&LossSample {
        now: d.now,
        cause: Cause::Loss,
        in_flight: 100 * MSS,
        delivered: 0,
        nxt: 0,
        peer_window: u64::MAX,
    });
    d.ack(1e6, (100 * MSS, 90 * MSS), false);
    assert_eq!(d.b.cycle, 1);
}

/// §4.3.4.3: it begins anywhere but in the phase that drains.
#[test]
fn probe_bw_begins_in_any_phase_but_the_second() {
    let mut seen = [0; 8];
    let mut d = Drive::in_probe_bw();
    for us in 0..7000 {
        d.b.enter_probe_bw(Time::ZERO + Dur::from_us(us));
        seen[d.b.cycle] += 1;
    }
    assert_eq!(seen[1], 0);
    // 1000 each, five standard deviations of 29.
    assert!(
        seen.iter()
            .enumerate()
            .all(|(i, n)| i == 1 || (855..1145).contains(n)),
        "{seen:?}"
    );
}

/// §4.3.5: after 10 s without a smaller round trip four segments for 200 ms and a round, then
/// back to the former window.
#[test]
fn probe_rtt_every_ten_seconds() {
    let mut d = Drive::in_probe_bw();
    d.rtt = RTT + Dur::from_ms(10);
    let stamp = d.b.rt_prop_at;
    while d.now + d.rtt <= stamp + Dur::from_secs(10) {
        d.round(1e6, 100 * MSS);
        assert_eq!(d.b.mode, Mode::ProbeBw);
        assert_eq!(d.b.rt_prop, RTT);
    }
    let before = d.b.cwnd();
    d.round(1e6, 100 * MSS);
    assert_eq!(d.b.mode, Mode::ProbeRtt);
    assert_eq!((d.b.cwnd(), d.gain()), (4 * MSS, 1.0));
    // What is in flight drains first; the time counts from four segments on.
    d.round(1e6, 50 * MSS);
    d.round(1e6, 4 * MSS);
    let begun = d.now;
    // From here on no round trip is as small as what it found.
    d.rtt = RTT + Dur::from_ms(20);
    d.now = begun + Dur::from_ms(200);
    d.ack(1e6, (4 * MSS, 4 * MSS), true);
    assert_eq!(d.b.mode, Mode::ProbeRtt);
    d.now += Dur::from_us(1);
    d.ack(1e6, (4 * MSS, 4 * MSS), false);
    assert_eq!(d.b.mode, Mode::ProbeBw);
    assert!(d.b.cwnd() >= before);
    // The next one 10 s after its end.
    let next = d.now + Dur::from_secs(10);
    while d.now + d.rtt <= next {
        d.round(1e6, 100 * MSS);
        assert_eq!(d.b.mode, Mode::ProbeBw);
    }
    d.round(1e6, 100 * MSS);
    assert_eq!(d.b.mode, Mode::ProbeRtt);
}

/// 200 ms alone do not end it: a round must have passed.
#[test]
fn probe_rtt_lasts_a_round() {
    let mut d = Drive::in_probe_bw();
    d.rtt = RTT + Dur::from_ms(10);
    d.now += Dur::from_secs(11);
    d.ack(1e6, (4 * MSS, 4 * MSS), true);
    assert_eq!(d.b.mode, Mode::ProbeRtt);
    d.now += Dur::from_secs(1);
    d.ack(1e6, (4 * MSS, 4 * MSS), false);
    assert_eq!(d.b.mode, Mode::ProbeRtt);
    d.ack(1e6, (4 * MSS, 4 * MSS), true);
    assert_eq!(d.b.mode, Mode::ProbeBw);
}

/// A round trip as small as the smallest postpones it.
#[test]
fn a_new_minimum_postpones_probe_rtt() {
    let mut d = Drive::in_probe_bw();
    for _ in 0..300 {
        d.round(1e6, 100 * MSS);
        assert_eq!(d.b.mode, Mode::ProbeBw);
    }
}

/// §4.1.1.3: a rate counts for ten rounds.
#[test]
fn the_rate_filter_forgets() {
    let mut d = Drive::in_probe_bw();
    d.round(2e6, 100 * MSS);
    for _ in 0..9 {
        assert_eq!(d.b.rate(), 2e6);
        d.round(1e6, 100 * MSS);
    }
    assert_eq!(d.b.rate(), 2e6);
    d.round(1e6, 100 * MSS);
    assert_eq!(d.b.rate(), 1e6);
}

/// §4.2.3.5: after a timeout one segment, the former window at the end of recovery.
#[test]
fn a_timeout_saves_the_window() {
    let mut d = Drive::in_probe_bw();
    let before = d.b.cwnd();
    d.b.on_congestion(&LossSample {
        now: d.now,
        cause: Cause::Timeout,
        in_flight: before,
        delivered: 0,
        nxt: 0,
        peer_window: u64::MAX,
    });
    assert_eq!(d.b.cwnd(), MSS);
    d.b.on_recovered(d.now, 0);
    assert_eq!(d.b.cwnd(), before);
}
