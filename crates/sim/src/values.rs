//! The values of a run, one after the other, and how far those may be off that are not known.

/// How far a value could have gone, had the packets or transfers that were still on their way when
/// the run ended met another fate: all lost, all arrived at once, or arbitrarily late.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Which value: an index into those of the run.
    pub at: u32,
    /// The least that it could have been.
    pub low: f64,
    /// The most, perhaps infinite.
    pub high: f64,
}

/// Values in the order of the layout.
#[derive(Default)]
pub(crate) struct Values {
    pub(crate) all: Vec<f64>,
    /// Of those that are not known, ascending by index.
    pub(crate) bounds: Vec<Bounds>,
}

impl Values {
    pub(crate) fn with_capacity(n: usize) -> Self {
        Self {
            all: Vec::with_capacity(n),
            bounds: Vec::new(),
        }
    }

    /// Adds one that is known.
    pub(crate) fn push(&mut self, value: f64) {
        self.all.push(value);
    }

    /// Adds one that is known only within bounds, if there are any.
    pub(crate) fn push_within(&mut self, value: f64, bounds: Option<(f64, f64)>) {
        if let Some((low, high)) = bounds.filter(|b| *b != (value, value)) {
            let at = self.all.len() as u32;
            self.bounds.push(Bounds { at, low, high });
        }
        self.all.push(value);
    }
}

impl Extend<f64> for Values {
    fn extend<I: IntoIterator<Item = f64>>(&mut self, values: I) {
        self.all.extend(values);
    }
}
