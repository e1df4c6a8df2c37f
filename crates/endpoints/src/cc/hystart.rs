//! HyStart++ (RFC 9406): leaves slow start when round trips grow, through a
//! conservative phase that can turn back.

use spillgate_core::Dur;

use super::AckSample;

const MIN_THRESH: u64 = Dur::from_ms(4).as_ps();
const MAX_THRESH: u64 = Dur::from_ms(16).as_ps();
/// MIN_RTT_DIVISOR.
const DIVISOR: u64 = 8;
/// N_RTT_SAMPLE.
const SAMPLES: u32 = 8;
/// CSS_GROWTH_DIVISOR.
const CSS_DIVISOR: u64 = 4;
/// CSS_ROUNDS.
const CSS_ROUNDS: u32 = 5;

/// State of RFC 9406 §4.2; times in picoseconds.
#[derive(Clone, Debug)]
pub(super) struct HyStart {
    round_end: u64,
    last_min: u64,
    min: u64,
    samples: u32,
    /// Smallest round trip at the entry of conservative slow start; none outside it.
    baseline: Option<u64>,
    css_rounds: u32,
}

impl HyStart {
    pub(super) fn new() -> Self {
        Self {
            round_end: 0,
            last_min: u64::MAX,
            min: u64::MAX,
            samples: 0,
            baseline: None,
            css_rounds: 0,
        }
    }

    /// Bytes by which the window grows, and whether slow start is over.
    pub(super) fn on_ack(&mut self, ack: &AckSample, mss: u64, paced: bool) -> (u64, bool) {
        // L = 8, or no bound with pacing (§4.3).
        let most = if paced { u64::MAX } else { 8 * mss };
        let mut growth = ack.acked.min(most);
        if self.baseline.is_some() {
            growth /= CSS_DIVISOR;
        }
        if let Some(rtt) = ack.rtt {
            self.min = self.min.min(rtt.as_ps());
            self.samples += 1;
        }
        if self.samples >= SAMPLES && self.min != u64::MAX && self.last_min != u64::MAX {
            match self.baseline {
                None => {
                    let thresh = (self.last_min / DIVISOR).clamp(MIN_THRESH, MAX_THRESH);
                    if self.min >= self.last_min.saturating_add(thresh) {
                        self.baseline = Some(self.min);
                        self.css_rounds = 0;
                    }
                }
                // The growth was spurious: back to slow start.
                Some(base) if self.min < base => self.baseline = None,
                Some(_) => {}
            }
        }
        let mut over = false;
        if ack.una > self.round_end {
            self.round_end = ack.nxt;
            self.last_min = self.min;
            self.min = u64::MAX;
            self.samples = 0;
            if self.baseline.is_some() {
                self.css_rounds += 1;
                over = self.css_rounds >= CSS_ROUNDS;
            }
        }
        (growth, over)
    }
}
