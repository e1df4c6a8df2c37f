//! The two congestion indicators: fair rate and priority load.
//!
//! Source: A. Kortebi, S. Oueslati, J. Roberts, "Cross-protect: implicit service differentiation
//! and admission control", IEEE HPSR 2004.
//!
//! Idea: at fixed ticks the fair rate becomes the larger of the rate that a permanently backlogged
//! flow would have got and the idle capacity: FR = max(C·S, 8·ΔV) / T. The priority load becomes
//! the share of the link that arrived with priority: PL = 8·ΔB / (C·T). Between ticks both are
//! constant.
//!
//! Ticks are not events. Between two calls of the discipline neither total changes, and the link is
//! idle from the end of its last transmission on, so the ticks in between are computed at the next
//! call. Runs of ticks that change nothing are skipped, so a long silence costs no more than a
//! short one.
//!
//! Deviation: the fair rate is at most C. The virtual time moves by whole packets, so a single flow
//! could seem to get up to one packet more.

use spillgate_core::time::PS_PER_SEC;
use spillgate_core::{Dur, Rate, Time};

/// One indicator, with ticks on a fixed grid.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Indicator {
    interval: Dur,
    /// Weight of the past.
    smoothing: f64,
    /// The instant of the next tick.
    next: Time,
    /// The next tick ends an interval; it does not only start the first one.
    measuring: bool,
    /// The total at the last tick.
    base: u64,
    value: f64,
}

impl Indicator {
    fn new(interval: Dur, smoothing: f64, phase: Dur, value: f64) -> Self {
        let begin = Dur::from_ps(phase.as_ps() % interval.as_ps().max(1));
        let begins_later = !begin.is_zero();
        Self {
            interval,
            smoothing,
            next: Time::ZERO + if begins_later { begin } else { interval },
            measuring: !begins_later,
            base: 0,
            value,
        }
    }

    /// When the present interval began.
    fn begun(&self) -> Time {
        match self.measuring {
            true => Time::from_ps(self.next.as_ps() - self.interval.as_ps()),
            false => Time::ZERO,
        }
    }

    fn blend(&self, measured: f64) -> f64 {
        self.smoothing * self.value + (1.0 - self.smoothing) * measured
    }

    /// The tick at `next`.
    fn tick(&mut self, total: u64, measured: f64) {
        if self.measuring {
            self.value = self.blend(measured);
        }
        self.measuring = true;
        self.base = total;
        self.next += self.interval;
    }

    /// Skips the ticks before `end` if each of them, with the measurement `measured`, leaves the
    /// value unchanged.
    fn skip(&mut self, measured: f64, end: Time) {
        if self.measuring && self.blend(measured) == self.value && self.next < end {
            let gap = end.since(self.next).as_ps() - 1;
            let ticks = gap / self.interval.as_ps() + 1;
            self.next += self.interval * ticks;
        }
    }
}

/// Fair rate and priority load of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Indicators {
    capacity: f64,
    fair: Indicator,
    load: Indicator,
    /// The end of the last transmission, when the link becomes idle.
    busy_until: Time,
    /// Idle time of the present fair-rate interval that has ended.
    idle: Dur,
    /// The next tick of either.
    next: Time,
}

/// How the indicators are measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measuring {
    pub(crate) fair_interval: Dur,
    pub(crate) fair_smoothing: f64,
    pub(crate) load_interval: Dur,
    pub(crate) load_smoothing: f64,
    pub(crate) phase: Dur,
}

impl Indicators {
    /// Sets the rate of the link. The fair rate stays that of an idle link if it was, else it is
    /// the measured value, at most the new capacity.
    pub(crate) fn set_capacity(&mut self, rate: Rate) {
        let capacity = rate.bps() as f64;
        if self.fair.value == self.capacity {
            self.fair.value = capacity;
        }
        self.fair.value = self.fair.value.min(capacity);
        self.capacity = capacity;
    }

    /// The indicators of an idle link that has carried nothing.
    pub(crate) fn new(rate: Rate, m: Measuring) -> Self {
        let capacity = rate.bps() as f64;
        let fair = Indicator::new(m.fair_interval, m.fair_smoothing, m.phase, capacity);
        let load = Indicator::new(m.load_interval, m.load_smoothing, m.phase, 0.0);
        Self {
            capacity,
            fair,
            load,
            busy_until: Time::ZERO,
            idle: Dur::ZERO,
            next: fair.next.min(load.next),
        }
    }

    /// The fair rate in b/s.
    #[inline]
    pub(crate) fn fair_rate(&self) -> f64 {
        self.fair.value
    }

    /// The priority load as a share of the link.
    #[inline]
    pub(crate) fn priority_load(&self) -> f64 {
        self.load.value
    }

    /// The next tick.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// The end of the last transmission.
    #[inline]
    pub(crate) fn busy_until(&self) -> Time {
        self.busy_until
    }

    /// Sets the fair rate to that of an idle link until the next tick.
    pub(crate) fn reset_fair_rate(&mut self) {
        self.fair.value = self.capacity;
    }

    /// A transmission that takes `tx` begins.
    #[inline]
    pub(crate) fn transmit(&mut self, now: Time, tx: Dur) {
        let since = self.busy_until.max(self.fair.begun());
        self.idle = self.idle + now.since(since);
        self.busy_until = now + tx;
    }

    /// Sets the end of the transmission, where the rate varies.
    #[inline]
    pub(crate) fn busy_to(&mut self, end: Time) {
        self.busy_until = end;
    }

    /// The transmission is cut short.
    pub(crate) fn cut(&mut self, now: Time) {
        self.busy_until = self.busy_until.min(now);
    }

    /// Computes the ticks before `end`, and returns whether a fair-rate tick was among them. Since
    /// the last call nothing has changed, except that the link may have become idle; the totals are
    /// those of the scheduler.
    pub(crate) fn advance(&mut self, end: Time, fair_bytes: u64, priority_bytes: u64) -> bool {
        let mut fair_ticked = false;
        while self.load.next < end {
            let measured = self.measured_load(priority_bytes);
            self.load.tick(priority_bytes, measured);
            self.load.skip(0.0, end);
        }
        while self.fair.next < end {
            fair_ticked = true;
            let measured = self.measured_fair_rate(fair_bytes);
            self.fair.tick(fair_bytes, measured);
            self.idle = Dur::ZERO;
            if self.fair.begun() >= self.busy_until {
                self.fair.skip(self.capacity, end);
            } else {
                // At a tick at the end of the transmission there has been no idle time either.
                self.fair
                    .skip(0.0, end.min(self.busy_until + Dur::from_ps(1)));
            }
        }
        self.next = self.fair.next.min(self.load.next);
        fair_ticked
    }

    fn measured_load(&self, total: u64) -> f64 {
        let bits = 8 * u128::from(total - self.load.base) * u128::from(PS_PER_SEC);
        // Products of a rate and an interval in picoseconds have few significant bits, so a load of
        // exactly the threshold compares as equal to it.
        bits as f64 / (self.capacity * self.load.interval.as_ps() as f64)
    }

    fn measured_fair_rate(&self, total: u64) -> f64 {
        let interval = self.fair.interval.as_ps();
        let running = self.fair.next.since(self.busy_until.max(self.fair.begun()));
        let idle = self.idle + running;
        if idle.as_ps() >= interval {
            return self.capacity;
        }
        let interval = interval as f64;
        let left = self.capacity * idle.as_ps() as f64 / interval;
        let bits = 8 * u128::from(total - self.fair.base) * u128::from(PS_PER_SEC);
        left.max(bits as f64 / interval).min(self.capacity)
    }
}
