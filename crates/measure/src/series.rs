//! Values sampled at a fixed period.

use spillgate_core::{Dur, Time};

/// Columns of values sampled at `start`, `start + period`, ...
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    start: Time,
    period: Dur,
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
    len: usize,
}

impl Series {
    /// An empty series with one column per name.
    pub fn new(start: Time, period: Dur, names: Vec<String>) -> Self {
        let columns = vec![Vec::new(); names.len()];
        Self {
            start,
            period,
            names,
            columns,
            len: 0,
        }
    }

    /// Makes room for `samples` more, so that pushing them does not allocate.
    pub fn reserve(&mut self, samples: usize) {
        self.columns.iter_mut().for_each(|c| c.reserve(samples));
    }

    /// Appends one sample; NaN for columns that `row` does not yield, what it yields beyond them is ignored.
    pub fn push(&mut self, row: impl IntoIterator<Item = f64>) {
        let mut row = row.into_iter();
        for c in &mut self.columns {
            c.push(row.next().unwrap_or(f64::NAN));
        }
        self.len += 1;
    }

    /// Samples so far.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no sample yet.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The time between two samples.
    pub fn period(&self) -> Dur {
        self.period
    }

    /// Names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// When sample `i` was or will be taken.
    pub fn time(&self, i: usize) -> Time {
        self.start + self.period * i as u64
    }

    /// When the samples so far were taken.
    pub fn times(&self) -> impl Iterator<Item = Time> + '_ {
        (0..self.len).map(|i| self.time(i))
    }

    /// The values of a column; none if there is no such column.
    pub fn column(&self, i: usize) -> Option<&[f64]> {
        self.columns.get(i).map(Vec::as_slice)
    }

    /// The values of all columns.
    pub fn into_columns(self) -> Vec<Vec<f64>> {
        self.columns
    }

    /// Names and values of all columns.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &[f64])> + '_ {
        self.names
            .iter()
            .zip(&self.columns)
            .map(|(n, c)| (n.as_str(), c.as_slice()))
    }
}

/// The indexes, ascending, of at most about `room` of the values: of each stretch the smallest and the largest, of a
/// stretch without a value (NaN) its first. Of a series that has room they are all.
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
    fn rows_become_columns_with_times() {
        let mut s = Series::new(
            Time::from_ps(5),
            Dur::from_ps(10),
            vec!["a".into(), "b".into()],
        );
        assert!(s.is_empty());
        s.reserve(2);
        s.push([1.0, 2.0]);
        s.push([3.0, 4.0, 5.0]);
        s.push([6.0]);
        assert_eq!(s.len(), 3);
        assert_eq!(s.column(0), Some(&[1.0, 3.0, 6.0][..]));
        let (name, b) = s.columns().nth(1).unwrap();
        assert_eq!((name, &b[..2]), ("b", &[2.0, 4.0][..]));
        assert!(b[2].is_nan());
        assert_eq!(s.column(2), None);
        let times: Vec<u64> = s.times().map(Time::as_ps).collect();
        assert_eq!(times, [5, 15, 25]);
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
