//! HyStart in the form of Linux: slow start ends when round trips grow by an eighth, or when
//! acknowledgments that follow one another closely last for half of the smallest round trip.
//!
//! Source: S. Ha and I. Rhee, "Taming the elephants: new TCP slow start", Computer Networks 55(9),
//! 2011, with the constants of `net/ipv4/tcp_cubic.c` of Linux 6.1.

use spillgate_core::{Dur, Time};

use super::AckSample;
use super::window::Window;

/// Below this window, in segments, nothing is judged.
const LOW_WINDOW: u64 = 16;
/// Measurements of a round before its smallest is judged.
const SAMPLES: u32 = 8;
/// Acknowledgments of one train are at most this far apart.
const TRAIN_GAP: Dur = Dur::from_ms(2);
const MIN_THRESH: Dur = Dur::from_ms(4);
const MAX_THRESH: Dur = Dur::from_ms(16);
/// What one burst may hold (four of the largest offloaded segments, 64 KiB each), sent at the
/// pacing rate, is no train, up to a millisecond.
const BURST: f64 = 262_144.0;

#[derive(Clone, Debug)]
pub(super) struct LinuxHyStart {
    /// The round ends when this is acknowledged.
    end: u64,
    began: Time,
    /// The last acknowledgment of the train.
    last: Time,
    /// Smallest of the round.
    rtt: Dur,
    samples: u32,
    found: bool,
}

impl LinuxHyStart {
    pub(super) fn new(now: Time) -> Self {
        Self {
            end: 0,
            began: now,
            last: now,
            rtt: Dur::MAX,
            samples: 0,
            found: false,
        }
    }

    /// Whether the slow start of `w` ends with this acknowledgment, which measured `rtt`.
    pub(super) fn is_over(&mut self, ack: &AckSample, rtt: Dur, min_rtt: Dur, w: &Window) -> bool {
        if self.found || w.cwnd < LOW_WINDOW * w.mss {
            return false;
        }
        if ack.una > self.end {
            *self = Self {
                end: ack.nxt,
                ..Self::new(ack.now)
            };
        }
        if ack.now.since(self.last) <= TRAIN_GAP {
            self.last = ack.now;
            let srtt = ack.srtt.unwrap_or(min_rtt).as_secs_f64();
            // A window and its doubling leave in a round trip.
            let burst = BURST * srtt / (2.0 * w.cwnd as f64);
            let train = min_rtt + Dur::from_secs_f64(burst.min(1e-3));
            let longest = if ack.paced {
                train
            } else {
                Dur::from_ps(train.as_ps() / 2)
            };
            self.found |= ack.now.since(self.began) > longest;
        }
        self.rtt = self.rtt.min(rtt);
        if self.samples < SAMPLES {
            self.samples += 1;
        } else {
            let rise = Dur::from_ps(min_rtt.as_ps() / 8).clamp(MIN_THRESH, MAX_THRESH);
            self.found |= self.rtt > min_rtt + rise;
        }
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::TcpSpec;

    /// A rise shows in the round in which it is measured, whatever the rounds before had: with
    /// 100 ms by an eighth, 12.5 ms. Acknowledgments 3 ms apart are no train.
    #[test]
    fn each_round_has_its_own_smallest_round_trip() {
        let mut w = Window::new(&TcpSpec::default().resolve().unwrap());
        w.cwnd = 20 * w.mss;
        for (later, over) in [(112, false), (113, true)] {
            let mut h = LinuxHyStart::new(Time::ZERO);
            let (mut now, mut una) = (Time::ZERO + Dur::from_ms(100), 1);
            let mut found = false;
            for rtt in [100, later] {
                let nxt = una + 40 * w.mss;
                for _ in 0..20 {
                    (now, una) = (now + Dur::from_ms(3), una + w.mss);
                    let ack = AckSample {
                        now,
                        acked: w.mss,
                        delivered: w.mss,
                        marked: 0,
                        ece: false,
                        prior_in_flight: w.cwnd,
                        in_flight: w.cwnd,
                        una,
                        nxt,
                        rtt: None,
                        srtt: None,
                        min_rtt: Dur::from_ms(100),
                        cwnd_limited: true,
                        in_recovery: false,
                        paced: false,
                        rate: None,
                    };
                    let (rtt, least) = (Dur::from_ms(rtt), Dur::from_ms(100));
                    found |= h.is_over(&ack, rtt, least, &w);
                }
                h.end = una; // what is acknowledged next begins a round
            }
            assert_eq!(found, over, "{later} ms");
        }
    }
}
