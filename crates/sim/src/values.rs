//! The values of a run in the order of the layout, and bounds of the values that are not known.

/// The range of a value whose packets or transfers were still outstanding when the run ended: had
/// all been lost, all arrived at once, or all arrived arbitrarily late.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// The index of the value.
    pub at: u32,
    /// The smallest possible value.
    pub low: f64,
    /// The largest possible value, perhaps infinite.
    pub high: f64,
}

/// Values in the order of the layout.
#[derive(Default)]
pub(crate) struct Values {
    pub(crate) all: Vec<f64>,
    /// Bounds of the values that are not known, ascending by index.
    pub(crate) bounds: Vec<Bounds>,
}

impl Values {
    pub(crate) fn with_capacity(n: usize) -> Self {
        Self {
            all: Vec::with_capacity(n),
            bounds: Vec::new(),
        }
    }

    /// Adds a known value.
    pub(crate) fn push(&mut self, value: f64) {
        self.all.push(value);
    }

    /// Adds a value that is known only within bounds, if there are any.
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
