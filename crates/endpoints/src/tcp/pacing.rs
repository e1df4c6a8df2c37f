//! When the next segment may leave.

use spillgate_core::{Dur, Time};

use super::sender::Sender;

impl Sender {
    /// The next slot: the algorithm's rate, or the window per round trip with the
    /// head room of Linux, twice in slow start and 1.2 times after it.
    pub(super) fn pace(&mut self, now: Time, len: u16) {
        let rate = self.cc.pacing_rate().or_else(|| {
            let srtt = self.srtt()?.as_secs_f64();
            let cwnd = self.cc.cwnd();
            let ratio = if cwnd < self.cc.ssthresh() / 2 {
                2.0
            } else {
                1.2
            };
            Some(ratio * cwnd as f64 / srtt)
        });
        if let Some(rate) = rate.filter(|r| *r > 0.0) {
            let gap = Dur::from_secs_f64(f64::from(len.max(1)) / rate);
            self.pace_next = now.max(self.pace_next) + gap;
        }
    }
}
