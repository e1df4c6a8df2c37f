//! Time averages of step functions.

use spillgate_core::Time;

/// The time average and the maximum of a whole number that changes at instants,
/// such as a backlog. Exact: the integral is a 128-bit integer.
#[derive(Clone, Debug)]
pub struct TimeWeighted {
    start: Time,
    last: Time,
    value: u64,
    max: u64,
    /// Integral from `start` to `last`, in ps times the value's unit.
    area: u128,
}

impl TimeWeighted {
    /// A step function that is 0 from `start` on.
    pub fn new(start: Time) -> Self {
        Self {
            start,
            last: start,
            value: 0,
            max: 0,
            area: 0,
        }
    }

    /// From `now` on the value is `value`. `now` must not decrease; if it does it counts as no
    /// time.
    #[inline]
    pub fn set(&mut self, now: Time, value: u64) {
        self.area += u128::from(self.value) * u128::from(now.since(self.last).as_ps());
        self.last = self.last.max(now);
        self.value = value;
        self.max = self.max.max(value);
    }

    /// The present value.
    pub fn value(&self) -> u64 {
        self.value
    }

    /// The average from the start or the last reset until `now`; none if no time has passed.
    pub fn average(&self, now: Time) -> Option<f64> {
        let now = now.max(self.last);
        let elapsed = now.since(self.start).as_ps();
        let tail = u128::from(self.value) * u128::from(now.since(self.last).as_ps());
        (elapsed > 0).then(|| (self.area + tail) as f64 / elapsed as f64)
    }

    /// The largest value since the start or the last reset, even if it held for no time.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Begins anew at `now` with the present value, as at the end of a warm-up.
    pub fn reset(&mut self, now: Time) {
        *self = Self {
            value: self.value,
            max: self.value,
            ..Self::new(now)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_by_time_not_by_change() {
        let t = Time::from_ps;
        let mut w = TimeWeighted::new(t(10));
        assert_eq!((w.average(t(10)), w.max()), (None, 0));
        w.set(t(20), 4); // 10 ps at 0
        w.set(t(50), 1); // 30 ps at 4
        assert_eq!(w.average(t(110)), Some((30.0 * 4.0 + 60.0) / 100.0));
        assert_eq!(w.average(t(60)), Some((120.0 + 10.0) / 50.0));
        assert_eq!((w.max(), w.value()), (4, 1));
    }

    #[test]
    fn a_reset_keeps_the_value_and_forgets_the_past() {
        let t = Time::from_ps;
        let mut w = TimeWeighted::new(t(0));
        w.set(t(0), 9);
        w.set(t(5), 2);
        w.reset(t(10));
        assert_eq!((w.max(), w.average(t(20))), (2, Some(2.0)));
        // A value that holds for no time counts for the maximum only.
        w.set(t(20), 7);
        w.set(t(20), 2);
        assert_eq!((w.max(), w.average(t(30))), (7, Some(2.0)));
    }

    #[test]
    fn time_that_goes_back_counts_as_none() {
        let t = Time::from_ps;
        let mut w = TimeWeighted::new(t(0));
        w.set(t(10), 8);
        w.set(t(5), 2); // still at 10
        assert_eq!(w.average(t(20)), Some(1.0));
        assert_eq!(w.average(t(4)), Some(0.0));
    }

    #[test]
    fn long_runs_lose_nothing() {
        let mut w = TimeWeighted::new(Time::ZERO);
        w.set(Time::ZERO, u64::MAX);
        assert_eq!(w.average(Time::MAX), Some(u64::MAX as f64));
    }
}
