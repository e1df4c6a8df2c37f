//! CUBIC in the arithmetic of Linux: whole segments, time in ticks of the kernel's clock.
//!
//! The window grows by a segment for every `per` segments acknowledged, where `per` is the window
//! divided by its distance from the curve one (smallest) round trip ahead, worked out anew at most
//! once a tick. What differs from RFC 9438: the factor of decrease is 717/1024; Reno's estimate
//! grows by 8/15 segment a round trip for ever, where §4.3 goes on with 1 above the former window;
//! a timeout forgets the former maximum and the smallest round trip, and until the next loss the
//! window grows by a twentieth a round trip at least; the target is not bounded by 1.5 windows, but
//! the growth by a segment for every two acknowledged; the bound of application-limited time (§4.2)
//! is the gap before a segment that leaves while nothing is outstanding.
//!
//! Source: `net/ipv4/tcp_cubic.c` of Linux 6.1, described here and written anew.

use spillgate_core::{Dur, Time};

use super::CubicSpec;
use crate::cc::hystart_linux::LinuxHyStart;
use crate::cc::window::Window;
use crate::cc::{AckSample, Cause, Controller, LossSample};
use crate::tcp::config::TcpConfig;

/// The factor of decrease, of [`SCALE`].
const BETA: u64 = 717;
const SCALE: u64 = 1024;
/// Segments acknowledged per window for one segment of Reno's estimate, in eighths: 8 / 15 a round
/// trip.
const FRIENDLY: u64 = 15;
/// C, 0.4 segments per second cubed, as 41 / 1024 per tenth.
const C: u64 = 410;
/// A tick of the clock.
const TICK: Dur = Dur::from_ms(10);
/// The same growth is kept for this long at most while the window stays.
const STALE: Dur = Dur::from_ms(30);
/// Round trips within a second of a reduction are not believed to be the smallest.
const UNSETTLED: Dur = Dur::from_secs(1);

/// One stage between two reductions.
#[derive(Clone, Copy, Debug)]
struct LinuxEpoch {
    start: Time,
    /// Time until the plateau, in 1/1024 s.
    k: u64,
    /// The plateau, in segments.
    origin: u64,
    /// Reno's estimate, in segments, and the segments acknowledged towards its next increment.
    estimate: u64,
    acked: u64,
}

/// State of CUBIC as Linux has it.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    w: Window,
    hystart: Option<LinuxHyStart>,
    epoch: Option<LinuxEpoch>,
    /// Former maximum in segments; 0: none since the start or the last timeout.
    max: u64,
    /// Segments acknowledged for one more in the window.
    per: u64,
    /// The window when that was worked out, and when.
    judged: (u64, Time),
    /// Smallest round trip; zero: none yet.
    min_rtt: Dur,
    fast_convergence: bool,
}

/// The largest integer whose cube is at most `a`.
fn cube_root(a: u64) -> u64 {
    let mut root = 0;
    for bit in (0..22).rev() {
        let next = root | 1 << bit;
        if next * next * next <= a {
            root = next;
        }
    }
    root
}

/// As the clock of the kernel shows it.
fn tick(t: Time) -> Time {
    Time::from_ps(t.as_ps() / TICK.as_ps() * TICK.as_ps())
}

impl Steps {
    pub(super) fn new(spec: &CubicSpec, cfg: &TcpConfig, start: Time) -> Self {
        Self {
            w: Window::new(cfg),
            hystart: (spec.hystart == Some(true)).then(|| LinuxHyStart::new(start)),
            epoch: None,
            max: 0,
            per: 0,
            judged: (0, Time::ZERO),
            min_rtt: Dur::ZERO,
            fast_convergence: spec.fast_convergence,
        }
    }

    /// How many segments acknowledged it takes for one more.
    fn update(&mut self, now: Time, cwnd: u64, acked: u64) {
        if let Some(e) = &mut self.epoch {
            e.acked += acked;
        }
        let (former, at) = self.judged;
        if former == cwnd && now.since(at) <= STALE {
            return;
        }
        if self.epoch.is_none() || now != at {
            self.judged = (cwnd, now);
            self.per = self.follow(now, cwnd, acked);
        }
        let Some(e) = &mut self.epoch else { return };
        let for_one = cwnd * FRIENDLY / 8;
        while e.acked > for_one {
            e.acked -= for_one;
            e.estimate += 1;
        }
        if e.estimate > cwnd {
            self.per = self.per.min(cwnd / (e.estimate - cwnd));
        }
        self.per = self.per.max(2);
    }

    /// The same by the curve alone.
    fn follow(&mut self, now: Time, cwnd: u64, acked: u64) -> u64 {
        let max = self.max;
        let e = self.epoch.get_or_insert_with(|| LinuxEpoch {
            start: now,
            k: if max <= cwnd {
                0
            } else {
                cube_root((1 << 40) / C * (max - cwnd))
            },
            origin: max.max(cwnd),
            estimate: cwnd,
            acked,
        });
        let ticks = self.min_rtt.as_ps().div_ceil(TICK.as_ps());
        let ahead = now.since(e.start) + TICK * ticks;
        let t = (u128::from(ahead.as_ps()) * 1024 / 1_000_000_000_000) as u64;
        let off = u128::from(t.abs_diff(e.k));
        let delta = ((u128::from(C) * off * off * off) >> 40) as u64;
        let target = if t < e.k {
            e.origin.saturating_sub(delta)
        } else {
            e.origin + delta
        };
        let per = if target > cwnd {
            cwnd / (target - cwnd)
        } else {
            100 * cwnd
        };
        // Where the rate is unknown the curve begins too slowly.
        if max == 0 { per.min(20) } else { per }
    }
}

impl Controller for Steps {
    #[inline]
    fn cwnd(&self) -> u64 {
        self.w.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.w.ssthresh
    }

    fn on_ack(&mut self, ack: &AckSample) {
        let now = tick(ack.now);
        if let Some(rtt) = ack.rtt {
            let settled = self.epoch.is_none_or(|e| now.since(e.start) >= UNSETTLED);
            if settled {
                if self.min_rtt.is_zero() || rtt < self.min_rtt {
                    self.min_rtt = rtt;
                }
                if self.w.in_slow_start() {
                    if let Some(h) = &mut self.hystart {
                        if h.is_over(ack, rtt, self.min_rtt, &self.w) {
                            self.w.ssthresh = self.w.cwnd;
                        }
                    }
                }
            }
        }
        if ack.acked == 0 || ack.in_recovery || !ack.cwnd_limited {
            return;
        }
        let mut acked = ack.acked.div_ceil(self.w.mss);
        if self.w.in_slow_start() {
            acked = self.w.slow_start_up_to(acked);
            if acked == 0 {
                return;
            }
        }
        self.update(now, self.w.cwnd / self.w.mss, acked);
        self.w.one_per(self.per, acked);
    }

    fn on_congestion(&mut self, loss: &LossSample) {
        let cwnd = self.w.cwnd / self.w.mss;
        self.max = if self.fast_convergence && cwnd < self.max {
            cwnd * (SCALE + BETA) / (2 * SCALE)
        } else {
            cwnd
        };
        self.epoch = None;
        self.w.reduce_to(loss.cause, (cwnd * BETA / SCALE).max(2));
        if matches!(loss.cause, Cause::Timeout | Cause::TimeoutAgain) {
            self.max = 0;
            self.min_rtt = Dur::ZERO;
            if let Some(h) = &mut self.hystart {
                *h = LinuxHyStart::new(loss.now);
            }
        }
    }

    fn on_restart(&mut self, now: Time, idle: Dur) {
        if let Some(e) = &mut self.epoch {
            e.start = (e.start + idle).min(tick(now));
        }
    }

    fn limit(&mut self, cwnd: u64) {
        self.w.limit(cwnd);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::TcpSpec;

    /// Reno's estimate grows by a segment when more than 15/8 windows were acknowledged, of
    /// 8 segments with the 16th.
    #[test]
    fn the_estimate_grows_by_a_segment_in_15_eighths_of_a_window() {
        let cfg = TcpSpec::default().resolve().unwrap();
        let mut c = Steps::new(&CubicSpec::default(), &cfg, Time::ZERO);
        c.epoch = Some(LinuxEpoch {
            start: Time::ZERO,
            k: 0,
            origin: 8,
            estimate: 8,
            acked: 0,
        });
        for (ms, acked, estimate) in [(40, 15, 8), (80, 1, 9), (120, 14, 9), (160, 1, 10)] {
            c.update(Time::ZERO + Dur::from_ms(ms), 8, acked);
            assert_eq!(c.epoch.unwrap().estimate, estimate, "{ms} ms");
        }
    }

    /// A silence of the application is no time on the curve: after 10 s of it the window is as
    /// without it.
    #[test]
    fn time_without_data_is_taken_out_of_the_curve() {
        let cfg = TcpSpec::default().resolve().unwrap();
        let window = |silence: Dur| {
            let mut c = Steps::new(&CubicSpec::default(), &cfg, Time::ZERO);
            let mss = c.w.mss;
            c.w.cwnd = 100 * mss;
            let mut now = Time::ZERO + Dur::from_secs(1);
            c.on_congestion(&LossSample {
                now,
                cause: Cause::Loss,
                in_flight: 100 * mss,
                delivered: 0,
                nxt: 0,
                peer_window: u64::MAX,
            });
            for n in 0..200 {
                // Further apart than a judgment is kept.
                now += Dur::from_ms(40);
                if n == 50 {
                    now += silence;
                    c.on_restart(now, silence);
                }
                c.on_ack(&AckSample {
                    now,
                    acked: 2 * mss,
                    delivered: 2 * mss,
                    marked: 0,
                    ece: false,
                    prior_in_flight: c.w.cwnd,
                    in_flight: c.w.cwnd,
                    una: 1,
                    nxt: 1,
                    rtt: Some(Dur::from_ms(40)),
                    srtt: Some(Dur::from_ms(40)),
                    min_rtt: Dur::from_ms(40),
                    cwnd_limited: true,
                    in_recovery: false,
                    paced: false,
                    rate: None,
                });
            }
            c.w.cwnd / mss
        };
        assert_eq!(window(Dur::from_secs(10)), window(Dur::ZERO));
    }
}
