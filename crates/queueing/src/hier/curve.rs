//! Service curves of two pieces, and where they stand in the course of time.

use spillgate_core::time::PS_PER_SEC;

/// Units of work for a byte: a picosecond at b bits per second does b.
pub(super) const UNITS: i128 = 8 * PS_PER_SEC as i128;
/// A time that never comes.
pub(super) const NEVER: u64 = u64::MAX;

/// The curve that a class asks for: the slope `m1` for the time `d`, then `m2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    /// b/s.
    pub(super) m1: u64,
    /// Picoseconds.
    pub(super) d: u64,
    /// b/s.
    pub(super) m2: u64,
}

impl Asked {
    /// The work that is done by `d`.
    fn knee(self) -> i128 {
        i128::from(self.m1) * i128::from(self.d)
    }

    pub(super) fn is_concave(self) -> bool {
        self.m1 > self.m2
    }
}

/// A curve that begins at a time (real or virtual) and at an amount of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Running {
    pub(super) x: u64,
    pub(super) y: i128,
    dx: u64,
    dy: i128,
    of: Asked,
}

impl Running {
    pub(super) fn new(of: Asked, x: u64, y: i128) -> Self {
        Self {
            x,
            y,
            dx: of.d,
            dy: of.knee(),
            of,
        }
    }

    /// The second piece from the beginning on.
    pub(super) fn without_knee(self) -> Self {
        Self {
            dx: 0,
            dy: 0,
            ..self
        }
    }

    /// The least time at which so much work is done, rounded up to a picosecond.
    pub(super) fn time(&self, y: i128) -> u64 {
        let over = y - self.y;
        if over < 0 {
            return self.x;
        }
        if over > self.dy {
            let after = takes(over - self.dy, self.of.m2);
            return self.x.saturating_add(self.dx).saturating_add(after);
        }
        match self.dy {
            0 => self.x.saturating_add(self.dx),
            _ => self.x.saturating_add(takes(over, self.of.m1)),
        }
    }

    /// The work that is done at a time.
    fn work(&self, x: u64) -> i128 {
        let over = x.saturating_sub(self.x);
        if over <= self.dx {
            return self.y + i128::from(over) * i128::from(self.of.m1);
        }
        self.y + self.dy + i128::from(over - self.dx) * i128::from(self.of.m2)
    }

    /// The least of this curve and of one that begins at (x, y), from there on.
    pub(super) fn lower(&mut self, x: u64, y: i128) {
        let here = self.work(x);
        if !self.of.is_concave() {
            if here >= y {
                (self.x, self.y) = (x, y);
            }
            return;
        }
        if here <= y {
            return;
        }
        let knee = self.of.knee();
        if self.work(x.saturating_add(self.of.d)) >= y + knee {
            *self = Self::new(self.of, x, y);
            return;
        }
        // They cross: the new one is lower up to there, this one from there on.
        let slopes = i128::from(self.of.m1 - self.of.m2);
        let left = self.x.saturating_add(self.dx).saturating_sub(x);
        let dx = ((here - y) / slopes) as u64 + left;
        let dy = self.work(x.saturating_add(dx)) - y;
        (self.x, self.y, self.dx, self.dy) = (x, y, dx, dy);
    }
}

/// Where curves come together to more than a line of so many b/s sends.
pub(super) enum Above {
    /// In the long run: the sum of their last slopes.
    Always(u128),
    /// Most after this time, by so much work.
    At(u64, u128),
}

/// Whether and where curves come together to more than a line of so many b/s sends.
pub(super) fn above(all: &[Asked], bps: u64) -> Option<Above> {
    let long: u128 = all.iter().map(|a| u128::from(a.m2)).sum();
    if long > bps.into() {
        return Some(Above::Always(long));
    }
    // The sum is largest above the line where a piece ends.
    let excess = |t: u64| {
        let work = |a: &Asked| {
            let first = t.min(a.d);
            u128::from(first) * u128::from(a.m1) + u128::from(t - first) * u128::from(a.m2)
        };
        let sum: u128 = all.iter().map(work).sum();
        sum.saturating_sub(u128::from(t) * u128::from(bps))
    };
    let worst = all.iter().map(|a| a.d).max_by_key(|t| excess(*t))?;
    (excess(worst) > 0).then(|| Above::At(worst, excess(worst)))
}

/// The picoseconds for so much work at a slope, rounded up.
fn takes(work: i128, slope: u64) -> u64 {
    match (u64::try_from(work), slope) {
        (Ok(0), _) => 0,
        (_, 0) => NEVER,
        (Ok(work), _) => work.div_ceil(slope),
        (Err(_), _) => u64::try_from((work as u128).div_ceil(slope.into())).unwrap_or(NEVER),
    }
}
