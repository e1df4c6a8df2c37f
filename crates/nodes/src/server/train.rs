//! Parts of a packet that leave one after another.

use spillgate_core::{Dur, Time};

/// Parts of a packet in even steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// When the first begins to leave.
    pub first: Time,
    /// From one to the next.
    pub gap: Dur,
    /// How many, at least 1.
    pub parts: u32,
}

impl Run {
    /// When the last one begins to leave.
    pub fn last(&self) -> Time {
        self.first + self.gap * u64::from(self.parts.saturating_sub(1))
    }
}

/// When the parts of a packet leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Train {
    runs: [Run; Self::MOST],
    used: u8,
}

impl Train {
    /// Most runs: each has a longer gap than the one before, and no server has more gaps.
    pub const MOST: usize = 3;

    /// The runs, one after another.
    pub fn runs(&self) -> &[Run] {
        &self.runs[..usize::from(self.used)]
    }

    /// When each part begins to leave.
    pub fn times(&self) -> impl Iterator<Item = Time> + '_ {
        let run = |r: &Run| {
            let Run { first, gap, parts } = *r;
            (0..u64::from(parts)).map(move |i| first + gap * i)
        };
        self.runs().iter().flat_map(run)
    }

    /// The same parts, all so much later.
    #[must_use]
    pub fn later(mut self, by: Dur) -> Self {
        for run in &mut self.runs {
            run.first += by;
        }
        self
    }

    /// Adds a run after the others, or to the last one if their steps are even.
    pub(crate) fn add(&mut self, run: Run) {
        if let Some(before) = self.used.checked_sub(1) {
            let before = &mut self.runs[usize::from(before)];
            let joins = before.last() + run.gap == run.first;
            if joins && (before.parts == 1 || before.gap == run.gap) {
                before.gap = run.gap;
                before.parts += run.parts;
                return;
            }
        }
        debug_assert!(usize::from(self.used) < Self::MOST, "gaps grow");
        if let Some(free) = self.runs.get_mut(usize::from(self.used)) {
            *free = run;
            self.used += 1;
        }
    }
}
