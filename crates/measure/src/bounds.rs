//! How far what is not known could move a value.
//!
//! Of packets that are still on their way when a run ends neither delay nor fate is known. A value
//! that depends on them is known within bounds: the least and the most that it could have become,
//! had all of them been lost, had all arrived at once, or had all arrived arbitrarily late.

use spillgate_core::Dur;

use crate::Histogram;

/// Times of which some are not known.
#[derive(Clone, Copy, Debug)]
pub struct Unknown {
    /// How many may yet become known.
    pub open: u64,
    /// How many will never be: those of what has failed.
    pub failed: u64,
    /// What the open ones are at least.
    pub least: Dur,
}

impl Unknown {
    /// What a quantile of the known `times` and the unknown ones could be, in seconds: none without
    /// a known time; the most may be infinite.
    pub fn quantile(&self, times: &Histogram, q: f64) -> Option<(f64, f64)> {
        let known = times.quantile(q)?;
        let n = times.count() as f64;
        let (open, all) = (self.open as f64, (self.open + self.failed) as f64);
        // All unknown ones below: as far as they can be. The others move up among the known.
        let least = self.least.as_secs_f64();
        let low = if open == 0.0 || least >= known {
            known
        } else {
            let above = (q * (n + open) - open) / n;
            let next = Some(above)
                .filter(|q| *q > 0.0)
                .and_then(|q| times.quantile(q));
            next.map_or(least, |t| t.max(least)).min(known)
        };
        let below = q * (n + all) / n;
        let high = match below <= 1.0 {
            true => times.quantile(below).unwrap_or(f64::INFINITY),
            false => f64::INFINITY,
        };
        Some((low, high.max(known)))
    }

    /// The same of their mean.
    pub fn mean(&self, times: &Histogram) -> Option<(f64, f64)> {
        let known = times.mean()?;
        if self.open + self.failed == 0 {
            return Some((known, known));
        }
        let (n, open) = (times.count() as f64, self.open as f64);
        let early = (known * n + self.least.as_secs_f64() * open) / (n + open);
        Some((known.min(early), f64::INFINITY))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ms(n: u64) -> Dur {
        Dur::from_ms(n)
    }

    fn times(all: &[u64]) -> Histogram {
        let mut h = Histogram::new(10);
        all.iter().for_each(|t| h.record(ms(*t)));
        h
    }

    proptest! {
        /// Whatever becomes of the unknown ones, the quantile lies within the bounds.
        #[test]
        fn bounds_hold(
            known in prop::collection::vec(1_u64..200, 1..30),
            open in prop::collection::vec(prop_oneof![Just(None), (0_u64..300).prop_map(Some)], 0..20),
            least in 0_u64..150,
            percent in 0_u32..=100,
        ) {
            let q = f64::from(percent) / 100.0;
            let unknown = Unknown { open: open.len() as u64, failed: 0, least: ms(least) };
            let (low, high) = unknown.quantile(&times(&known), q).unwrap();
            let arrived: Vec<u64> = open.iter().flatten().map(|t| t + least).collect();
            let all: Vec<u64> = known.iter().copied().chain(arrived).collect();
            let became = times(&all);
            let value = became.quantile(q).unwrap();
            // Histograms are off by a bucket.
            let near = 1.0 + 2.0 * became.relative_error();
            prop_assert!(low <= value * near && value <= high * near, "{low} {value} {high}");
            let (low, high) = unknown.mean(&times(&known)).unwrap();
            let mean = became.mean().unwrap();
            prop_assert!(low <= mean * (1.0 + 1e-12) && mean <= high * (1.0 + 1e-12));
        }
    }
}
