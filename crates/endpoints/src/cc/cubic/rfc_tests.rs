//! The rules of RFC 9438, each alone. Windows are in segments.

use spillgate_core::{Dur, Time, math};

use super::rfc::{BETA, C, Curve};
use super::{AckSample, Controller, CubicSpec, LossSample};
use crate::cc::Cause;
use crate::tcp::TcpSpec;
use crate::tcp::config::TcpConfig;

const MSS: u64 = 1000;

fn config() -> TcpConfig {
    let spec: TcpSpec = serde_json::from_str(r#"{"mss": "1000 B", "cc": {"cubic": {}}}"#).unwrap();
    spec.resolve().unwrap()
}

struct Drive {
    cubic: Curve,
    now: Time,
    rtt: Dur,
}

impl Drive {
    /// After a slow start to `segments`, then one loss.
    fn after_loss_at(segments: u64, rtt: Dur, spec: &CubicSpec) -> Self {
        let mut drive = Self {
            cubic: Curve::new(spec, &config(), Time::ZERO),
            now: Time::ZERO,
            rtt,
        };
        while drive.segments() < segments as f64 {
            drive.ack(Dur::ZERO, MSS, true);
        }
        drive.lose();
        drive
    }

    fn segments(&self) -> f64 {
        self.cubic.cwnd() as f64 / MSS as f64
    }

    fn ack(&mut self, after: Dur, acked: u64, cwnd_limited: bool) {
        self.now += after;
        let sample = AckSample {
            now: self.now,
            acked,
            delivered: acked,
            rtt: Some(self.rtt),
            srtt: Some(self.rtt),
            min_rtt: self.rtt,
            cwnd_limited,
            marked: 0,
            ece: false,
            prior_in_flight: self.cubic.cwnd(),
            in_flight: self.cubic.cwnd(),
            una: 0,
            nxt: 0,
            in_recovery: false,
            paced: false,
            rate: None,
        };
        self.cubic.on_ack(&sample);
    }

    /// A round trip in which each segment of the window is acknowledged.
    fn round(&mut self) {
        let n = self.segments() as u64;
        for _ in 0..n {
            self.ack(Dur::from_ps(self.rtt.as_ps() / n), MSS, true);
        }
    }

    fn lose(&mut self) {
        let loss = LossSample {
            now: self.now,
            cause: Cause::Loss,
            in_flight: self.cubic.cwnd(),
            delivered: 0,
            nxt: 0,
            peer_window: u64::MAX,
        };
        self.cubic.on_congestion(&loss);
    }
}

/// §4.7: after a second loss below the former maximum the plateau is at (1 + beta) / 2 of the
/// window.
#[test]
fn fast_convergence_gives_up_more() {
    for fast in [true, false] {
        let spec = CubicSpec {
            fast_convergence: fast,
            ..CubicSpec::default()
        };
        let mut d = Drive::after_loss_at(200, Dur::from_ms(500), &spec);
        assert!((d.segments() - 140.0).abs() < 1.0);
        d.lose();
        let former = 140.0;
        let plateau = if fast {
            former * (1.0 + BETA) / 2.0
        } else {
            former
        };
        // There once K is over, and hardly further a round trip on.
        let k = math::cbrt((plateau - former * BETA) / C);
        while d.now.as_secs_f64() < k {
            d.round();
        }
        assert!(
            (d.segments() - plateau).abs() < 2.0,
            "{} for {plateau}",
            d.segments()
        );
    }
}

/// §4.3: Reno's estimate grows by 3 (1 - beta) / (1 + beta) of a segment a round trip, by a whole
/// one above the window before the loss.
#[test]
fn alpha_is_one_above_the_former_window() {
    // So short a round trip that the curve stays below.
    let mut d = Drive::after_loss_at(20, Dur::from_ms(5), &CubicSpec::default());
    let mut before = d.segments();
    let (mut below, mut above) = (Vec::new(), Vec::new());
    for _ in 0..40 {
        d.round();
        let grown = d.segments() - before;
        before = d.segments();
        // The crossing itself belongs to neither.
        if before < 19.0 {
            below.push(grown);
        } else if before > 22.0 {
            above.push(grown);
        }
    }
    let alpha = 3.0 * (1.0 - BETA) / (1.0 + BETA);
    assert!(below.len() > 5 && above.len() > 5);
    assert!(below.iter().all(|g| (g - alpha).abs() < 0.05), "{below:?}");
    assert!(above.iter().all(|g| (g - 1.0).abs() < 0.07), "{above:?}");
}

/// §4.2: time in which the application bounds the sender is no time of the curve.
#[test]
fn the_curve_waits_for_the_application() {
    let drive = |idle: Option<Dur>| {
        let mut d = Drive::after_loss_at(100, Dur::from_ms(100), &CubicSpec::default());
        (0..10).for_each(|_| d.round());
        if let Some(idle) = idle {
            d.ack(idle, MSS, false);
        }
        (0..10).for_each(|_| d.round());
        d.segments()
    };
    let (without, with) = (drive(None), drive(Some(Dur::from_secs(30))));
    assert!((with - without).abs() < 0.5, "{with} for {without}");
}

/// §4.4: the target is at most 1.5 windows, so that a segment acknowledged brings half of one.
#[test]
fn the_target_is_one_and_a_half_windows_at_most() {
    let mut d = Drive::after_loss_at(20, Dur::from_ms(100), &CubicSpec::default());
    d.ack(Dur::from_ms(100), MSS, true);
    let before = d.segments();
    d.ack(Dur::from_secs(60), MSS, true);
    let grown = d.segments() - before;
    assert!((grown - 0.5).abs() < 0.01, "{grown}");
}
