//! Values sampled at a fixed period.

use crate::{Number, Sampled};

/// What the components of a world put when they are sampled: the walk over an idle world gives the
/// columns, and each walk after [`Samples::begin`] a value for each of them.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// Where a column is sampled, and what.
    pub columns: Vec<(String, Sampled)>,
    /// The values of each column; NaN where undefined.
    pub values: Vec<Vec<f64>>,
    /// Totals at the sample before.
    totals: Vec<u64>,
    /// Seconds since the sample before; none while columns are put.
    step: Option<f64>,
    /// The next column, and the next total.
    next: (usize, usize),
}

impl Samples {
    /// A sample follows, `step` seconds after the one before.
    pub fn begin(&mut self, step: f64) {
        self.step = Some(step);
        self.next = (0, 0);
    }

    /// Where the next values are sampled.
    pub fn of<N: Into<String>>(&mut self, name: impl FnOnce() -> N) -> SampledPlace<'_> {
        let named = self.step.is_none() || cfg!(debug_assertions);
        SampledPlace {
            name: named.then(|| name().into()),
            all: self,
        }
    }
}

/// One place where values are sampled.
pub struct SampledPlace<'s> {
    /// If it is wanted.
    name: Option<String>,
    all: &'s mut Samples,
}

impl SampledPlace<'_> {
    /// A value.
    pub fn put(&mut self, sampled: Sampled, value: impl Number) {
        let all = &mut *self.all;
        let name = self.name.as_ref().map(|name| (name.clone(), sampled));
        if all.step.is_none() {
            all.columns.extend(name);
            all.values.push(Vec::new());
        } else {
            let at = all.next.0;
            debug_assert_eq!(all.columns.get(at), name.as_ref());
            all.values[at].push(value.number());
            all.next.0 += 1;
        }
    }

    /// How fast a total grows since the sample before, in so many units each.
    pub fn put_rate(&mut self, sampled: Sampled, total: u64, units: f64) {
        let all = &mut *self.all;
        let Some(step) = all.step else {
            all.totals.push(0);
            return self.put(sampled, 0.0);
        };
        let before = std::mem::replace(&mut all.totals[all.next.1], total);
        all.next.1 += 1;
        self.put(sampled, (total - before) as f64 * units / step);
    }
}

/// The indexes, ascending, of at most about `room` of the values: of each stretch the smallest and
/// the largest, of a stretch without a value (NaN) its first. Of a series that has room they are
/// all.
pub fn outline(values: &[f64], room: usize) -> Vec<usize> {
    if values.len() <= room {
        return (0..values.len()).collect();
    }
    let stretch = (2 * values.len()).div_ceil(room.max(1));
    let mut kept = Vec::with_capacity(room + 2);
    for begin in (0..values.len()).step_by(stretch) {
        let part = begin..values.len().min(begin + stretch);
        let known = || part.clone().filter(|i| !values[*i].is_nan());
        let by_value = |a: &usize, b: &usize| values[*a].total_cmp(&values[*b]);
        // Of alike ones the first, as the last would be of the largest.
        let low = known().min_by(by_value);
        let high = known().rev().max_by(by_value);
        match low.zip(high) {
            Some((low, high)) => {
                kept.push(low.min(high));
                kept.extend(Some(low.max(high)).filter(|_| low != high));
            }
            None => kept.push(begin),
        }
    }
    kept
}

/// The least, the mean and the largest of the values that are not NaN, if there are any.
pub fn extent(values: &[f64]) -> Option<(f64, f64, f64)> {
    let known = || values.iter().copied().filter(|v| !v.is_nan());
    let count = known().count();
    let (least, most) = (known().reduce(f64::min)?, known().reduce(f64::max)?);
    Some((least, known().sum::<f64>() / count as f64, most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_gives_columns_and_then_values() {
        let mut s = Samples::default();
        let walk = |s: &mut Samples, (waiting, dropped, sent): (u64, u64, u64)| {
            let mut queue = s.of(|| "wan/voice");
            queue.put(Sampled::BacklogPackets, waiting);
            queue.put_rate(Sampled::DropRate, dropped, 1.0);
            s.of(|| "link wan").put_rate(Sampled::Carried, sent, 8.0);
        };
        walk(&mut s, (0, 0, 0));
        let place = |i: usize| (s.columns[i].0.as_str(), s.columns[i].1);
        assert_eq!(place(1), ("wan/voice", Sampled::DropRate));
        assert_eq!(place(2), ("link wan", Sampled::Carried));
        for (step, found) in [(0.5, (3, 2, 100)), (2.0, (1, 6, 100))] {
            s.begin(step);
            walk(&mut s, found);
        }
        assert_eq!(s.values, [[3.0, 1.0], [4.0, 2.0], [1600.0, 0.0]]);
    }

    #[test]
    fn an_outline_keeps_the_extremes_of_each_stretch() {
        let v = [1.0, 5.0, 3.0, 3.0, f64::NAN, f64::NAN, 2.0, f64::NAN];
        assert_eq!(outline(&v, 8), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(outline(&v, 4), [0, 1, 6]);
        assert_eq!(outline(&v, 7), [0, 1, 3, 6]);
        assert_eq!(outline(&[f64::NAN; 4], 2), [0]);
        // A plateau is seen from its beginning.
        assert_eq!(outline(&[1.0, 0.0, 5.0, 5.0, 5.0], 2), [1, 2]);
        assert_eq!(extent(&v), Some((1.0, 14.0 / 5.0, 5.0)));
        assert_eq!(extent(&v[4..6]), None);
    }
}
