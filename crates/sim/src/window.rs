//! The measured period of a run.

use spillgate_core::{Dur, Time};
use spillgate_scenario::plan::WorldPlan;

/// The half-open interval of time in which things are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    start: Time,
    end: Time,
}

impl Window {
    /// From `warmup` on, for `duration`.
    pub fn new(warmup: Dur, duration: Dur) -> Self {
        let start = Time::ZERO + warmup;
        Self {
            start,
            end: start + duration,
        }
    }

    /// When counting begins.
    pub const fn start(self) -> Time {
        self.start
    }

    /// When counting ends.
    pub const fn end(self) -> Time {
        self.end
    }

    /// Its length.
    pub const fn len(self) -> Dur {
        self.end.since(self.start)
    }

    /// Whether it has no length.
    pub fn is_empty(self) -> bool {
        self.len().is_zero()
    }

    /// Whether `t` lies in it.
    #[inline]
    pub fn contains(self, t: Time) -> bool {
        self.start <= t && t < self.end
    }

    /// How much of the interval from `from` to `to` lies in it.
    #[inline]
    pub fn overlap(self, from: Time, to: Time) -> Dur {
        to.min(self.end).since(from.max(self.start))
    }
}

/// How long after the window its packets may take to arrive over `wires`: what these take, and for
/// the queues a tenth of the window or a second, whichever is longer.
pub(crate) fn grace_over(wires: Dur, plan: &WorldPlan) -> Dur {
    wires + Dur::from_ps(plan.duration.as_ps() / 10).max(Dur::from_secs(1))
}

/// The same for the wires of the longest path of a flow while every link is up.
pub(crate) fn grace(plan: &WorldPlan) -> Dur {
    let wires = plan.flows.iter().map(|flow| {
        let links = plan.routes[flow.route as usize].iter();
        links.fold(Dur::ZERO, |sum, &l| sum + plan.links[l as usize].delay)
    });
    grace_over(wires.max().unwrap_or(Dur::ZERO), plan)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_is_clipped_to_both_ends() {
        let w = Window::new(Dur::from_secs(5), Dur::from_secs(10));
        let t = |s| Time::ZERO + Dur::from_secs(s);
        assert_eq!(w.overlap(t(0), t(4)), Dur::ZERO);
        assert_eq!(w.overlap(t(0), t(7)), Dur::from_secs(2));
        assert_eq!(w.overlap(t(14), t(20)), Dur::from_secs(1));
        assert_eq!(w.overlap(t(0), t(99)), w.len());
        assert!(w.contains(t(5)) && !w.contains(t(15)));
    }
}
