//! The measured period of a run.

use crate::Volume;
use spillgate_core::{Dur, Time};

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

    /// The rest of the interval after its first `after`.
    pub fn from(self, after: Dur) -> Self {
        Self {
            start: (self.start + after).min(self.end),
            end: self.end,
        }
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

    /// Whether what arrived somewhere and is lost there counts as lost: of what it contains, what
    /// is lost in it.
    #[inline]
    pub fn counts_loss(self, arrived: Time, lost: Time) -> bool {
        self.contains(arrived) && self.contains(lost)
    }

    /// Whether the interval from `from` to `to` lies in it, both ends included.
    #[inline]
    pub fn encloses(self, from: Time, to: Time) -> bool {
        self.start <= from && to <= self.end
    }

    /// Whether all of a packet lies in it: its arrival, the beginning of its transmission and the
    /// end of that.
    #[inline]
    pub fn holds(self, arrived: Time, start: Time, end: Time) -> bool {
        self.start <= arrived && start < self.end && end <= self.end
    }

    /// How much of the interval from `from` to `to` lies in it.
    #[inline]
    pub fn overlap(self, from: Time, to: Time) -> Dur {
        to.min(self.end).since(from.max(self.start))
    }

    /// The part of `bytes` that passes within it, if all of them pass evenly from `from` to `to`.
    #[inline]
    pub fn part(self, bytes: u32, from: Time, to: Time) -> Volume {
        self.part_until(bytes, from, to, to)
    }

    /// [`Window::part`] of a transmission that is cut off at `cut`.
    #[inline]
    pub fn part_until(self, bytes: u32, from: Time, to: Time, cut: Time) -> Volume {
        if self.encloses(from, to) && from < self.end && cut >= to {
            return Volume::of(bytes.into());
        }
        self.part_at_edge(bytes, from, to, cut)
    }

    #[cold]
    fn part_at_edge(self, bytes: u32, from: Time, to: Time, cut: Time) -> Volume {
        if from >= to {
            return Volume::of(if self.contains(from) { bytes.into() } else { 0 });
        }
        Volume::part_of(bytes, self.overlap(from, to.min(cut)), to.since(from))
    }
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
