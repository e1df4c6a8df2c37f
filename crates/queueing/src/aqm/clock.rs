//! Updates at fixed intervals.
//!
//! They are made when the queue is looked at next: nothing arrived or left since the last one, so
//! that each of them sees the backlog that it would have seen at its time. One that falls due
//! at the instant of an arrival or a departure comes first.

use spillgate_core::{Dur, Time};

use super::Backlog;

/// An AQM that updates its state of a queue at fixed intervals.
pub(super) trait Clocked {
    /// Its state of one queue.
    type Vars: Copy + PartialEq;

    /// The interval.
    fn period(&self) -> Dur;
    /// When the next update falls due; [`Time::MAX`] while the clock stands.
    fn next(v: &mut Self::Vars) -> &mut Time;
    /// The update that is due.
    fn update(&self, v: &mut Self::Vars, queue: &Backlog);
    /// Whether no update changes the state of this queue, which is empty, any more, and it is as
    /// new.
    fn rests(&self, v: &Self::Vars) -> bool;
    /// The first update after `now`, at which the clock starts.
    fn first(&self, now: Time) -> Time {
        self.on_grid(now)
    }
    /// An update was made, the next one falls due before `now`: goes ahead where that is known.
    #[inline]
    fn skip(&self, _v: &mut Self::Vars, _now: Time, _: &Backlog) {}

    /// The next multiple of the interval since the start of the run.
    fn on_grid(&self, now: Time) -> Time {
        let period = self.period().as_ps();
        Time::from_ps((now.as_ps() / period + 1) * period)
    }

    /// The updates up to `now`, at an arrival, which starts the clock.
    #[inline]
    fn arrives(&self, v: &mut Self::Vars, now: Time, queue: &Backlog) {
        self.advance(v, now, queue);
        if *Self::next(v) == Time::MAX {
            *Self::next(v) = self.first(now);
        }
    }

    /// The updates up to `now` of a queue in which nothing arrived or left since the last one.
    #[inline]
    fn advance(&self, v: &mut Self::Vars, now: Time, queue: &Backlog) {
        if *Self::next(v) <= now {
            self.catch_up(v, now, queue);
        }
    }

    /// The same, where at least one is due.
    fn catch_up(&self, v: &mut Self::Vars, now: Time, queue: &Backlog) {
        while *Self::next(v) <= now {
            let before = *v;
            self.update(v, queue);
            if *v == before {
                // All further updates are alike.
                let alike = self.whole_periods(v, now);
                *Self::next(v) += alike;
            }
            *Self::next(v) += self.period();
            if queue.packets == 0 && self.rests(v) {
                *Self::next(v) = Time::MAX;
            } else if *Self::next(v) <= now {
                self.skip(v, now, queue);
            }
        }
    }

    /// The whole periods from the next update until `now`.
    fn whole_periods(&self, v: &mut Self::Vars, now: Time) -> Dur {
        let (waited, period) = (now.since(*Self::next(v)).as_ps(), self.period().as_ps());
        Dur::from_ps(waited / period * period)
    }
}
