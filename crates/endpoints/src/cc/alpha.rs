//! The moving average of the share of marked bytes (RFC 8257 §3.3).

use super::AckSample;

/// g of §4.2.
const GAIN: f64 = 1.0 / 16.0;

/// Per window of data: alpha = (1 - g) alpha + g M.
#[derive(Clone, Debug)]
pub(super) struct Alpha {
    value: f64,
    window_end: u64,
    acked: u64,
    marked: u64,
}

impl Alpha {
    /// Begins at 1: the first mark halves the window (§3.3).
    pub(super) fn new() -> Self {
        Self {
            value: 1.0,
            window_end: 1,
            acked: 0,
            marked: 0,
        }
    }

    pub(super) fn value(&self) -> f64 {
        self.value
    }

    pub(super) fn on_ack(&mut self, ack: &AckSample) {
        self.acked += ack.delivered;
        self.marked += ack.marked.min(ack.delivered);
        if ack.una > self.window_end && self.acked > 0 {
            let share = self.marked as f64 / self.acked as f64;
            self.value = (1.0 - GAIN) * self.value + GAIN * share;
            (self.acked, self.marked) = (0, 0);
            self.window_end = ack.nxt;
        }
    }
}
