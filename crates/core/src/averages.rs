//! Means of what is seen now and then.

/// Values of which only the mean counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Averages {
    sum: f64,
    number: u64,
}

impl Averages {
    /// Takes one in.
    #[inline]
    pub fn add(&mut self, value: f64) {
        self.sum += value;
        self.number += 1;
    }

    /// Their mean; NaN if there are none.
    pub fn mean(&self) -> f64 {
        self.sum / self.number as f64
    }
}
