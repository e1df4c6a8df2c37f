//! The meter of a link, within the measured period.

use spillgate_core::{Dur, Time};
use spillgate_measure::Window;

/// The meter of a link.
#[derive(Default)]
pub(crate) struct LinkMeter {
    /// Time in the measured period during which the link transmitted.
    pub(crate) busy: Dur,
    /// Bytes whose transmission has begun or is planned, since the start of the run.
    pub(crate) total_bytes: u64,
}

impl LinkMeter {
    #[inline]
    pub(crate) fn on_transmit(&mut self, window: Window, start: Time, end: Time, len: u32) {
        self.busy = self.busy.saturating_add(window.overlap(start, end));
        self.total_bytes += u64::from(len);
    }

    /// The transmission that was to end at `end` was cut off at `now`.
    pub(crate) fn on_cut(&mut self, window: Window, now: Time, end: Time) {
        self.busy = self.busy - window.overlap(now, end);
    }
}
