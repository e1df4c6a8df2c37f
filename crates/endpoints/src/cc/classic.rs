//! Detection of a classic AQM at the bottleneck by the delay of its queue, for scalable senders.
//!
//! Source: B. Briscoe, A. S. Ahmed, "TCP Prague Fall-back on Detection of a Classic ECN AQM", arXiv
//! 1911.00710v3, 2021, version 2 of its design, as the module `tcp_prague` of L4STeam's Linux 5.15
//! has it, with its constants.
//!
//! An AQM for L4S keeps a queue of less than a millisecond; a classic one lets it rise and fall by
//! milliseconds. Once a round, from the first mark on, with the mean deviation v of the round-trip
//! time and the depth d of the queue (the mean round-trip time above the least one):
//!
//! classic_ecn += V lg(v / v0) + D lg(max(d / d0, 1)), within 0 and 17,
//!
//! V = D = 1/2, v0 = 750 us, d0 = 2 ms. Below 8 the sender is scalable, above 9 it is classic: a
//! mark reduces the window by half of max(alpha, 5/8 c), c being what is above 8, at most 1. So
//! the window falls to 0.69 of itself, about as CUBIC's.
//!
//! Means and deviations are taken over some sawteeth of the window, W^1.5 round-trip times or so.
//!
//! Deviations: real logarithms; Linux has those of whole powers of two, and carries the rest.
//! A sender that does not fill its window is judged as others, as Linux does; the paper would lower
//! `classic_ecn`.

use spillgate_core::{Dur, math};

/// v0 and d0 in seconds.
const VARIES: f64 = 750e-6;
const DEEP: f64 = 2e-3;
/// V and D.
const WEIGHT: f64 = 0.5;
/// Up to here the sender is scalable; and so far on `classic_ecn` rises when it is classic.
const STICKY: f64 = 8.0;
const MOST: f64 = 2.0 * STICKY + 1.0;
/// Half of it is the reduction of a classic sender.
const REDUCTION: f64 = 0.625;
/// The logarithm of the number of round-trip times in the mean, at most and at first.
const SLOWEST: u32 = 18;
/// The deviation before the second measurement, and the least that counts, in seconds.
const LEAST: f64 = 1e-6;

/// What is known of the bottleneck.
#[derive(Clone, Debug)]
pub(super) struct ClassicEcn {
    /// `classic_ecn`.
    pub(super) score: f64,
    /// Means in seconds: of the round-trip time, none yet if it is 0, and of its deviation.
    rtt: f64,
    deviation: f64,
    /// A measurement weighs 2^-shift in the first, half of that in the second.
    shift: u32,
}

impl ClassicEcn {
    pub(super) const fn new() -> Self {
        Self {
            score: 0.0,
            rtt: 0.0,
            deviation: LEAST,
            shift: SLOWEST,
        }
    }

    /// A round-trip time was measured.
    pub(super) fn measure(&mut self, rtt: Dur) {
        let (rtt, gain) = (rtt.as_secs_f64(), 1.0 / f64::from(1_u32 << self.shift));
        if self.rtt == 0.0 {
            self.rtt = rtt;
            return;
        }
        let error = rtt - self.rtt;
        self.rtt += gain * error;
        self.deviation += gain / 2.0 * (error.abs() - self.deviation);
    }

    /// A round ended in which the least round-trip time so far was this.
    pub(super) fn end_round(&mut self, min_rtt: Dur) {
        if self.rtt == 0.0 {
            return;
        }
        let depth = self.rtt - min_rtt.as_secs_f64();
        let varies = lg(self.deviation.max(LEAST) / VARIES);
        let deep = lg((depth / DEEP).max(1.0));
        self.score = (self.score + WEIGHT * varies + WEIGHT * deep).clamp(0.0, MOST);
    }

    /// The sender slows down from this threshold of slow start, in segments.
    pub(super) fn slow_down(&mut self, threshold: u64) {
        let l = threshold.max(1).ilog2();
        self.shift = (l + l / 2 + 1).min(SLOWEST);
    }

    /// The least share of marks by which the sender reduces its window.
    pub(super) fn least_alpha(&self) -> f64 {
        REDUCTION * (self.score - STICKY).clamp(0.0, 1.0)
    }
}

fn lg(x: f64) -> f64 {
    math::ln(x) / std::f64::consts::LN_2
}

#[cfg(test)]
#[path = "classic_tests.rs"]
mod tests;
