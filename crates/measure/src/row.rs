//! The numbers of one run, kept small: studies hold those of ten thousand runs at once.

use std::fmt;
use std::ops::Index;

/// A row of numbers that does not change. A zero, or a number that is undefined, takes two bits:
/// counters of what did not happen, and metrics of what did not occur, are half of a run's numbers.
///
/// Reading one is a population count and one access to memory. All numbers come back bit by bit.
///
/// ```
/// use spillgate_measure::table::Row;
///
/// let row = Row::from(vec![0.0, 2.5, f64::NAN]);
/// assert_eq!((row.len(), row[1], row.get(3)), (3, 2.5, None));
/// assert!(row[2].is_nan());
/// ```
#[derive(Clone, Default)]
pub struct Row {
    len: usize,
    blocks: Box<[Block]>,
    /// Those that are neither.
    written: Box<[f64]>,
}

/// What 64 numbers are, from the lowest bit on.
#[derive(Clone, Copy, Default)]
struct Block {
    /// Those that are written out.
    written: u64,
    /// Those of the others that are undefined; the rest are zero.
    undefined: u64,
    /// How many are written out in the blocks before.
    before: u32,
}

impl Row {
    /// How many numbers there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// One of them, if there are so many.
    pub fn get(&self, at: usize) -> Option<f64> {
        self.at(at).copied()
    }

    /// All of them in order.
    pub fn iter(&self) -> impl Iterator<Item = &f64> + Clone {
        (0..self.len).map(|at| &self[at])
    }

    fn at(&self, at: usize) -> Option<&f64> {
        // Behind the last number of the last block there are none.
        if at >= self.len {
            return None;
        }
        let block = &self.blocks[at / 64];
        let bit = 1_u64 << (at % 64);
        Some(if block.written & bit != 0 {
            let below = (block.written & (bit - 1)).count_ones();
            &self.written[(block.before + below) as usize]
        } else if block.undefined & bit != 0 {
            &f64::NAN
        } else {
            &0.0
        })
    }
}

impl From<Vec<f64>> for Row {
    fn from(all: Vec<f64>) -> Self {
        let is = |v: f64, what: f64| v.to_bits() == what.to_bits();
        let mut before = 0;
        let blocks = all.chunks(64).map(|numbers| {
            let mut block = Block {
                before,
                ..Block::default()
            };
            for (i, v) in numbers.iter().enumerate() {
                if is(*v, f64::NAN) {
                    block.undefined |= 1 << i;
                } else if !is(*v, 0.0) {
                    block.written |= 1 << i;
                }
            }
            before += block.written.count_ones();
            block
        });
        let blocks = blocks.collect();
        let written = all.iter().copied();
        let mut kept = Vec::with_capacity(before as usize);
        kept.extend(written.filter(|v| !is(*v, f64::NAN) && !is(*v, 0.0)));
        Self {
            len: all.len(),
            blocks,
            written: kept.into(),
        }
    }
}

impl From<&Row> for Vec<f64> {
    fn from(row: &Row) -> Self {
        row.iter().copied().collect()
    }
}

impl Index<usize> for Row {
    type Output = f64;

    /// # Panics
    /// If there are not so many.
    fn index(&self, at: usize) -> &f64 {
        let found = self.at(at);
        found.unwrap_or_else(|| panic!("no number {at} in a row of {}", self.len))
    }
}

impl<'a> IntoIterator for &'a Row {
    type Item = &'a f64;
    type IntoIter = Box<dyn Iterator<Item = &'a f64> + 'a>;

    fn into_iter(self) -> Self::IntoIter {
        Box::new(self.iter())
    }
}

impl fmt::Debug for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever numbers they are, NaN of other kinds and the negative zero among them.
        #[test]
        fn comes_back_bit_by_bit(
            numbers in prop::collection::vec(
                prop_oneof![
                    Just(0.0),
                    Just(-0.0),
                    Just(f64::NAN),
                    Just(f64::INFINITY),
                    any::<u64>().prop_map(f64::from_bits),
                ],
                0..300,
            ),
        ) {
            let row = Row::from(numbers.clone());
            let bits = |all: &[f64]| all.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(&Vec::from(&row)), bits(&numbers));
            let one = |at: usize| row.get(at).map(f64::to_bits);
            for (at, v) in numbers.iter().enumerate() {
                prop_assert_eq!(one(at), Some(v.to_bits()));
            }
            prop_assert_eq!(one(numbers.len()), None);
            prop_assert_eq!(row.is_empty(), numbers.is_empty());
        }
    }

    #[test]
    fn zeros_and_what_is_undefined_take_next_to_nothing() {
        let row = Row::from([vec![0.0; 3200], vec![f64::NAN; 3200], vec![1.0; 3]].concat());
        assert_eq!(&*row.written, &[1.0; 3]);
        assert_eq!(size_of_val(&*row.blocks), 101 * 24);
    }
}
