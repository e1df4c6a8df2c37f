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

    /// Names and values of all columns.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &[f64])> + '_ {
        self.names
            .iter()
            .zip(&self.columns)
            .map(|(n, c)| (n.as_str(), c.as_slice()))
    }
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
}
