//! The window of Prague beside a second implementation in plain words, and what each of its rules
//! does to the balance.

use spillgate_core::{Dur, Rng, Time};

use super::*;
use crate::tcp::TcpSpec;

const MSS: u64 = 1000;

/// Prague in whole round trips and packets, as the draft tells it, in real numbers.
struct Plain {
    window: f64,
    alpha: f64,
    /// R / V, or 1.
    shortness: f64,
    /// Growth also for marked packets, as Reno's.
    grows_on_marks: bool,
    /// What has grown is whole packets, and what is left of them is lost with a reduction.
    whole: bool,
    grown: f64,
}

impl Plain {
    fn new(shortness: f64) -> Self {
        Self {
            window: 20.0,
            alpha: 1.0,
            shortness,
            grows_on_marks: false,
            whole: false,
            grown: 0.0,
        }
    }

    /// A packet is acknowledged.
    fn acked(&mut self, marked: bool) {
        if marked && !self.grows_on_marks {
            return;
        }
        let by = self.shortness * self.shortness / self.window;
        if self.whole {
            self.grown += by;
            if self.grown >= 1.0 {
                self.grown -= 1.0;
                self.window += 1.0;
            }
        } else {
            self.window += by;
        }
    }

    fn average(&mut self, share: f64) {
        self.alpha += (share - self.alpha) / 16.0;
    }

    fn reduce(&mut self) {
        self.window = (self.window * (1.0 - self.alpha / 2.0)).max(2.0);
        self.grown = 0.0;
    }

    /// Mean window over many round trips in which each packet is marked with probability `p`. After
    /// a reduction there is none until what was sent by then is acknowledged.
    fn mean(mut self, p: f64) -> f64 {
        let mut rng = Rng::from_key(1);
        let (mut sum, mut wait) = (0.0, 0);
        for round in 0..ROUNDS + 1000 {
            let packets = self.window as u32;
            let mut marks = 0;
            for _ in 0..packets {
                let marked = rng.chance(p);
                marks += u32::from(marked);
                self.acked(marked);
                wait -= 1;
                if marked && wait <= 0 {
                    self.reduce();
                    wait = self.window as i32;
                }
            }
            self.average(f64::from(marks) / f64::from(packets));
            if round >= 1000 {
                sum += self.window;
            }
        }
        sum / f64::from(ROUNDS)
    }
}

const ROUNDS: u32 = 60_000;

struct Drive {
    cc: Prague,
    now: Time,
    rtt: Dur,
    una: u64,
}

impl Drive {
    /// Past slow start, which the first mark ends at 40 packets, of which it leaves 20.
    fn new(json: &str, rtt: Dur) -> Self {
        let json = format!(r#"{{"mss": "1000 B", "cc": {{"prague": {json}}}}}"#);
        let spec: TcpSpec = serde_json::from_str(&json).unwrap();
        let cfg = spec.resolve().unwrap();
        let crate::cc::CcSpec::Prague(spec) = &cfg.cc else {
            unreachable!()
        };
        let mut drive = Self {
            cc: Prague::new(spec, &cfg, Time::ZERO),
            now: Time::ZERO,
            rtt,
            una: 1,
        };
        while drive.cc.cwnd() < 40 * MSS {
            drive.ack(false);
        }
        assert_eq!(
            drive.cc.alpha.value, 1.0,
            "no average before the first mark"
        );
        drive.mark();
        assert_eq!((drive.cc.cwnd(), drive.cc.ssthresh()), (20 * MSS, 20 * MSS));
        drive
    }

    fn packets(&self) -> f64 {
        (self.cc.cwnd() as f64 + self.cc.fraction) / MSS as f64
    }

    fn ack(&mut self, marked: bool) {
        let cwnd = self.cc.cwnd();
        self.una += MSS;
        self.cc.on_ack(&AckSample {
            now: self.now,
            acked: MSS,
            delivered: MSS,
            marked: u64::from(marked) * MSS,
            ece: marked,
            prior_in_flight: cwnd,
            in_flight: cwnd,
            una: self.una,
            nxt: self.una + cwnd,
            rtt: Some(self.rtt),
            srtt: Some(self.rtt),
            min_rtt: self.rtt,
            cwnd_limited: true,
            in_recovery: false,
            paced: true,
            rate: None,
        });
    }

    fn mark(&mut self) {
        self.cc.on_congestion(&LossSample {
            now: self.now,
            cause: Cause::Mark,
            in_flight: self.cc.cwnd(),
            delivered: MSS,
            nxt: self.una,
            peer_window: u64::MAX,
        });
    }

    /// The same as [`Plain::mean`].
    fn mean(mut self, p: f64) -> f64 {
        let mut rng = Rng::from_key(1);
        let (mut sum, mut wait) = (0.0, 0);
        for round in 0..ROUNDS + 1000 {
            let packets = self.cc.cwnd() / MSS;
            let gap = Dur::from_ps(self.rtt.as_ps() / packets);
            for _ in 0..packets {
                self.now += gap;
                let marked = rng.chance(p);
                self.ack(marked);
                wait -= 1;
                if marked && wait <= 0 && self.cc.answers_mark(self.now) {
                    self.mark();
                    wait = (self.cc.cwnd() / MSS) as i32;
                }
            }
            if round >= 1000 {
                sum += self.packets();
            }
        }
        sum / f64::from(ROUNDS)
    }
}

/// In balance the window is what the second implementation has, at marks from rare to most.
#[test]
fn the_window_is_that_of_a_second_implementation() {
    for p in [0.02, 0.1, 0.3, 0.5] {
        let got = Drive::new(r#"{"virtual_rtt": "0 s"}"#, Dur::from_ms(10)).mean(p);
        let want = Plain::new(1.0).mean(p);
        assert!((got / want - 1.0).abs() < 0.05, "{p}: {got}, {want}");
    }
}

/// Which rule does what to the balance, at a window of five to seven packets. A reduction by half
/// the share p comes each W + 1 / p packets, and W grows by g per window: W² p / 2 = g (W + 1 / p),
/// so W is in proportion to g + √(g² + 2 g). For all packets g is 1, for what is unmarked 1 - p.
/// Fractions that end with each reduction, which comes before a whole packet then, take more.
#[test]
fn what_small_windows_lose() {
    let p = 0.3_f64;
    let with = |grows_on_marks, whole| {
        let plain = Plain {
            grows_on_marks,
            whole,
            ..Plain::new(1.0)
        };
        plain.mean(p)
    };
    let (all, draft, lossy) = (with(true, false), with(false, false), with(false, true));
    let share = |g: f64| g + (g * g + 2.0 * g).sqrt();
    let want = share(1.0 - p) / share(1.0);
    assert!(
        (draft / all / want - 1.0).abs() < 0.03,
        "{draft} of {all}, not {want}"
    );
    assert!(lossy < 0.8 * draft, "{lossy} of {draft}");
    for (fractions, want) in [(true, draft), (false, lossy)] {
        let json = format!(r#"{{"virtual_rtt": "0 s", "fractions": {fractions}}}"#);
        let got = Drive::new(&json, Dur::from_ms(10)).mean(p);
        assert!((got / want - 1.0).abs() < 0.05, "{fractions}: {got} {want}");
    }
}

/// Below the virtual round trip the rate does not depend on the own one: with 5 ms and with 12.5 ms
/// a window of a fifth and a half of that with 25 ms.
#[test]
fn short_round_trips_have_the_rate_of_the_virtual_one() {
    let p = 0.02;
    let rate = |ms: f64| {
        let rtt = Dur::from_secs_f64(ms / 1e3);
        Drive::new(r#"{"transition": 0}"#, rtt).mean(p) / ms
    };
    let base = rate(25.0);
    for ms in [5.0, 12.5] {
        assert!(
            (rate(ms) / base - 1.0).abs() < 0.1,
            "{ms}: {} {base}",
            rate(ms)
        );
    }
    // A longer one has its own.
    assert!((rate(50.0) / base - 0.5).abs() < 0.05);
    // Not before its time.
    let mut young = Drive::new("{}", Dur::from_ms(5));
    assert_eq!(young.cc.shortness(), None);
    for _ in 0..500 * 40 {
        young.now += Dur::from_us(100);
        young.ack(false);
    }
    assert!(young.cc.rounds < 500 || young.cc.shortness() == Some(0.2));
}

/// A sender that is sure of a classic AQM keeps 11/16 of its window at a mark, however few marks
/// there are; one that is not, or does not look for one, reduces it by half their share.
#[test]
fn marks_of_a_classic_queue_are_answered_as_such() {
    let after = |json: &str, score: f64| {
        let mut drive = Drive::new(json, Dur::from_ms(50));
        drive.cc.alpha.value = 0.1;
        if let Some(aqm) = &mut drive.cc.aqm {
            aqm.score = score;
        }
        let before = drive.packets();
        drive.mark();
        drive.packets() / before
    };
    let on = r#"{"classic_ecn_fallback": true}"#;
    for (json, score, share) in [
        ("{}", 17.0, 0.95),
        (on, 0.0, 0.95),
        (on, 8.0, 0.95),
        (on, 17.0, 0.6875),
    ] {
        let got = after(json, score);
        assert!((got - share).abs() < 1e-9, "{json} {score}: {got}");
    }
}

/// Round trips that vary by milliseconds count from the first mark on, and none of a sender that
/// has fallen back for good.
#[test]
fn queues_are_judged_once_marks_come() {
    let mut drive = Drive::new(r#"{"classic_ecn_fallback": true}"#, Dur::from_ms(30));
    for i in 0..20_000 {
        drive.rtt = Dur::from_ms(30 + 6 * (i / 10 % 2));
        drive.ack(false);
    }
    assert_eq!(drive.cc.classic_ecn(), Some(0.0));
    drive.mark();
    for i in 0..20_000 {
        drive.rtt = Dur::from_ms(30 + 6 * (i / 10 % 2));
        drive.ack(i == 0);
    }
    assert!(drive.cc.classic_ecn() > Some(9.0), "{:?}", drive.cc.aqm);
    drive.cc.fall_back();
    assert_eq!(drive.cc.classic_ecn(), None);
}
