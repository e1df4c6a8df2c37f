//! A histogram of delays with bounded relative error.
//!
//! Log-linear: every octave of picoseconds is cut into 2^bits buckets of equal
//! width (below 2^bits ps every value has its own), as in HdrHistogram (Tene)
//! and DDSketch (Masson, Rim and Lee 2019), but with the bucket found by
//! counting leading zeros. Only the span of octaves between the smallest and
//! the largest value takes memory: 4 bytes a bucket, with a carry kept aside
//! for the bucket that should ever pass 2^32. Count, sum, minimum and maximum
//! are exact.
//!
//! Recording is O(1), a few instructions and one memory access; it allocates
//! when an octave is seen for the first time, at most 64 times.

use std::collections::BTreeMap;

use spillgate_core::{Dur, time::PS_PER_SEC};

/// A log-linear histogram of delays.
#[derive(Clone, Debug)]
pub struct Histogram {
    /// Bucket index of `counts[0]`, a multiple of 2^bits.
    offset: u32,
    bits: u8,
    counts: Vec<u32>,
    /// How often the count of a bucket has passed 2^32, by bucket index.
    #[allow(
        clippy::box_collection,
        reason = "eight bytes in the common case of none"
    )]
    carries: Option<Box<BTreeMap<u32, u32>>>,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

impl Histogram {
    /// An empty histogram with 2^`bits` buckets per octave; `bits` is brought into 3..=10.
    pub fn new(bits: u8) -> Self {
        Self {
            offset: 0,
            bits: bits.clamp(3, 10),
            counts: Vec::new(),
            carries: None,
            count: 0,
            sum: 0,
            min: u64::MAX,
            max: 0,
        }
    }

    /// The logarithm to base 2 of the buckets per octave.
    pub fn bits(&self) -> u8 {
        self.bits
    }

    /// Takes in one delay.
    #[inline]
    pub fn record(&mut self, delay: Dur) {
        let v = delay.as_ps();
        self.count += 1;
        self.sum += u128::from(v);
        self.min = self.min.min(v);
        self.max = self.max.max(v);
        let bucket = bucket_of(v, self.bits);
        // Below the offset this wraps to beyond the end.
        match self
            .counts
            .get_mut(bucket.wrapping_sub(self.offset) as usize)
        {
            Some(c) if *c < u32::MAX => *c += 1,
            _ => self.add(bucket, 1),
        }
    }

    /// Takes in everything that `other` has. With unequal resolution the coarser one remains.
    pub fn merge(&mut self, other: &Self) {
        if other.bits < self.bits {
            self.coarsen(other.bits);
        }
        for (bucket, n) in other.buckets() {
            // A bucket of a finer histogram lies within one of a coarser.
            self.add(bucket_of(bounds(bucket, other.bits).0, self.bits), n);
        }
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Values taken in.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their exact mean in seconds; none if there are none.
    pub fn mean(&self) -> Option<f64> {
        // The sum is an integer below 2^128: one rounding here, one in each division.
        (self.count > 0).then(|| self.sum as f64 / self.count as f64 / PS_PER_SEC as f64)
    }

    /// The smallest, exact.
    pub fn min(&self) -> Option<Dur> {
        (self.count > 0).then(|| Dur::from_ps(self.min))
    }

    /// The largest, exact.
    pub fn max(&self) -> Option<Dur> {
        (self.count > 0).then(|| Dur::from_ps(self.max))
    }

    /// The `q`-quantile in seconds, `q` brought into 0..=1; none if there are no values or `q` is NaN.
    ///
    /// The quantile is the smallest value whose rank is at least `q n` (the
    /// inverse of the empirical distribution, Hyndman and Fan's type 1). The
    /// result lies in that value's bucket, at the place that its rank within
    /// the bucket would have if the bucket's values were spread evenly, and in
    /// `min..=max`: it is off by at most [`Histogram::relative_error`]. `q` of 0
    /// and 1 give minimum and maximum exactly.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        if self.count == 0 || q.is_nan() {
            return None;
        }
        let rank = rank(q, self.count);
        if rank <= 1 {
            return Some(seconds(self.min as f64));
        }
        if rank >= self.count {
            return Some(seconds(self.max as f64));
        }
        let mut below = 0;
        for (bucket, n) in self.buckets() {
            if below + n >= rank {
                let (low, width) = bounds(bucket, self.bits);
                let share = ((rank - below) as f64 - 0.5) / n as f64;
                let ps = low as f64 + (width - 1) as f64 * share;
                return Some(seconds(ps.clamp(self.min as f64, self.max as f64)));
            }
            below += n;
        }
        Some(seconds(self.max as f64))
    }

    /// How far a quantile may be off, relative to the value it stands for: 2^-bits.
    pub fn relative_error(&self) -> f64 {
        1.0 / f64::from(1_u32 << self.bits)
    }

    /// Bytes of memory in use, the struct itself included.
    pub fn memory_bytes(&self) -> usize {
        let carries = self.carries.as_ref().map_or(0, |c| 64 + 16 * c.len());
        size_of::<Self>() + self.counts.capacity() * size_of::<u32>() + carries
    }

    /// Forgets all values, keeps the memory.
    pub fn clear(&mut self) {
        let mut counts = std::mem::take(&mut self.counts);
        counts.fill(0);
        *self = Self {
            offset: self.offset,
            counts,
            ..Self::new(self.bits)
        };
    }

    /// The buckets that hold something, ascending: lower bound and width in ps, and the count.
    pub fn iter(&self) -> impl Iterator<Item = (Dur, Dur, u64)> + '_ {
        self.buckets().map(|(bucket, n)| {
            let (low, width) = bounds(bucket, self.bits);
            (Dur::from_ps(low), Dur::from_ps(width), n)
        })
    }

    fn buckets(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let carry = |b| {
            self.carries
                .as_ref()
                .and_then(|c| c.get(&b))
                .map_or(0, |&n| u64::from(n) << 32)
        };
        (self.offset..)
            .zip(&self.counts)
            .map(move |(b, &n)| (b, u64::from(n) + carry(b)))
            .filter(|&(_, n)| n > 0)
    }

    /// Adds `n` to a bucket, making room and carrying where needed.
    #[cold]
    fn add(&mut self, bucket: u32, n: u64) {
        self.cover(bucket >> self.bits);
        let c = &mut self.counts[(bucket - self.offset) as usize];
        let sum = u64::from(*c) + n;
        *c = sum as u32;
        let carry = (sum >> 32) as u32;
        if carry > 0 {
            let carries = self.carries.get_or_insert_with(Box::default);
            *carries.entry(bucket).or_insert(0) += carry;
        }
    }

    /// Makes room for the buckets of an octave.
    fn cover(&mut self, octave: u32) {
        let per = 1_usize << self.bits;
        let first = self.offset >> self.bits;
        if self.counts.is_empty() {
            self.offset = octave << self.bits;
            self.counts = vec![0; per];
        } else if octave < first {
            let more = (first - octave) as usize * per;
            let mut grown = Vec::with_capacity(more + self.counts.len());
            grown.resize(more, 0);
            grown.extend_from_slice(&self.counts);
            self.counts = grown;
            self.offset = octave << self.bits;
        } else {
            let need = ((octave - first) as usize + 1) * per;
            if need > self.counts.len() {
                // Exactly, not doubling: ten thousand histograms count.
                self.counts.reserve_exact(need - self.counts.len());
                self.counts.resize(need, 0);
            }
        }
    }

    fn coarsen(&mut self, bits: u8) {
        let mut coarse = Self::new(bits);
        for (bucket, n) in self.buckets() {
            coarse.add(bucket_of(bounds(bucket, self.bits).0, bits), n);
        }
        (coarse.count, coarse.sum) = (self.count, self.sum);
        (coarse.min, coarse.max) = (self.min, self.max);
        *self = coarse;
    }
}

fn seconds(ps: f64) -> f64 {
    ps / PS_PER_SEC as f64
}

/// The smallest rank, from 1, that is at least `q n`.
pub(crate) fn rank(q: f64, n: u64) -> u64 {
    let exact = q * n as f64;
    let near = exact.round();
    // 0.1 * 30 is 3.0000000000000004: what is meant is 3.
    let rank = if (exact - near).abs() <= 4.0 * f64::EPSILON * near {
        near
    } else {
        exact.ceil()
    };
    (rank as u64).clamp(1, n)
}

/// The bucket of `v` ps: v itself below 2^bits, then 2^bits buckets per octave.
#[inline]
fn bucket_of(v: u64, bits: u8) -> u32 {
    let bits = u32::from(bits);
    // Zero for v below 2^(bits+1): the first two octaves have width 1.
    let shift = (63 - (v | 1).leading_zeros()).saturating_sub(bits);
    (shift << bits) + (v >> shift) as u32
}

/// Lower bound and width of a bucket in ps.
fn bounds(bucket: u32, bits: u8) -> (u64, u64) {
    let shift = (bucket >> bits).saturating_sub(1);
    let low = u64::from(bucket - (shift << bits)) << shift;
    (low, 1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use spillgate_core::Rng;

    fn of(bits: u8, values: &[u64]) -> Histogram {
        let mut h = Histogram::new(bits);
        values.iter().for_each(|&v| h.record(Dur::from_ps(v)));
        h
    }

    #[test]
    fn buckets_tile_the_whole_range() {
        for bits in 3..=10 {
            let last = bucket_of(u64::MAX, bits);
            assert_eq!(last, ((64 - u32::from(bits) + 1) << bits) - 1);
            let mut next = 0_u128;
            for b in 0..=last {
                let (low, width) = bounds(b, bits);
                assert_eq!(u128::from(low), next, "bits {bits}, bucket {b}");
                assert_eq!(bucket_of(low, bits), b);
                assert_eq!(bucket_of(low + (width - 1), bits), b);
                assert!(width == 1 || width << bits <= low);
                next = u128::from(low) + u128::from(width);
            }
            assert_eq!(next, 1 << 64);
        }
    }

    #[test]
    fn nothing_recorded_has_no_value() {
        let h = Histogram::new(5);
        assert_eq!(
            (h.count(), h.mean(), h.min(), h.max()),
            (0, None, None, None)
        );
        assert_eq!(h.quantile(0.5), None);
        assert_eq!(h.iter().count(), 0);
    }

    #[test]
    fn equal_values_give_that_value_everywhere() {
        let h = of(5, &[1_234_567_890; 7]);
        for q in [0.0, 0.3, 0.5, 0.999, 1.0] {
            assert_eq!(h.quantile(q), Some(1_234_567_890.0 / 1e12));
        }
        assert_eq!(h.mean(), Some(1_234_567_890.0 / 1e12));
        assert_eq!(h.quantile(f64::NAN), None);
    }

    #[test]
    fn whole_ranks_are_not_lost_to_rounding() {
        // 0.1 * 30 = 3.0000000000000004 and 0.7 * 10 = 7.000000000000001 in binary64.
        assert_eq!(rank(0.1, 30), 3);
        assert_eq!(rank(0.7, 10), 7);
        assert_eq!(rank(0.999, 1000), 999);
        assert_eq!(rank(0.5, 5), 3);
        assert_eq!(rank(-1.0, 5), 1);
        assert_eq!(rank(2.0, 5), 5);
    }

    #[test]
    fn counts_carry_beyond_32_bits() {
        let mut h = of(5, &[40, 1_000_000]);
        h.counts[(bucket_of(1_000_000, 5) - h.offset) as usize] = u32::MAX;
        h.count = u64::from(u32::MAX) + 1;
        let before = h.clone();
        h.record(Dur::from_ps(1_000_000));
        assert_eq!(h.buckets().map(|(_, n)| n).sum::<u64>(), h.count());
        h.record(Dur::from_ps(1_000_000));
        h.merge(&before);
        assert_eq!(h.buckets().map(|(_, n)| n).sum::<u64>(), h.count());
        assert_eq!(h.count(), 2 * u64::from(u32::MAX) + 4);
        assert_eq!(
            h.quantile(0.5).map(|s| (s * 1e12) as u64 >> 14),
            Some(1_000_000 >> 14)
        );
        h.clear();
        assert_eq!((h.count(), h.iter().count()), (0, 0));
    }

    #[test]
    fn a_narrow_range_takes_little_memory() {
        // Delays of 1 ms to 16 ms: four octaves and a border at 32 buckets of 4 bytes.
        let mut r = Rng::named(1, 0, "test", "delay");
        let mut h = Histogram::new(5);
        for _ in 0..10_000 {
            h.record(Dur::from_ps(1_000_000_000 + r.u64() % 15_000_000_000));
        }
        assert!(h.counts.len() <= 5 * 32);
        assert!(h.memory_bytes() <= 5 * 32 * 4 + 128);
    }

    /// The definition of the quantile on the sorted sample.
    fn exact(sorted: &[u64], q: f64) -> f64 {
        sorted[rank(q, sorted.len() as u64) as usize - 1] as f64 / 1e12
    }

    proptest! {
        /// Estimate and true value share a bucket, and no bucket is wider than
        /// `relative_error` times its lower bound.
        #[test]
        fn quantiles_are_as_good_as_promised(
            bits in 3_u8..=10,
            values in prop::collection::vec((0_u32..64, any::<u64>()).prop_map(|(s, v)| v >> s), 1..300),
            q in 0.0_f64..=1.0,
        ) {
            let h = of(bits, &values);
            let mut sorted = values;
            sorted.sort_unstable();
            let (want, got) = (exact(&sorted, q), h.quantile(q).unwrap());
            prop_assert!(
                (got - want).abs() <= want * (h.relative_error() + 1e-15),
                "{got} for {want}"
            );
            prop_assert_eq!(h.min().unwrap().as_ps(), sorted[0]);
            prop_assert_eq!(h.quantile(1.0).unwrap(), *sorted.last().unwrap() as f64 / 1e12);
        }

        #[test]
        fn quantiles_do_not_decrease(values in prop::collection::vec(any::<u64>(), 1..100)) {
            let h = of(4, &values);
            let qs: Vec<f64> = (0..=100).map(|i| h.quantile(f64::from(i) / 100.0).unwrap()).collect();
            prop_assert!(qs.is_sorted());
        }

        #[test]
        fn merge_is_union(
            bits in 3_u8..=10,
            other_bits in 3_u8..=10,
            a in prop::collection::vec((0_u32..64, any::<u64>()).prop_map(|(s, v)| v >> s), 0..100),
            b in prop::collection::vec((0_u32..64, any::<u64>()).prop_map(|(s, v)| v >> s), 0..100),
        ) {
            let mut merged = of(bits, &a);
            merged.merge(&of(other_bits, &b));
            let union = of(bits.min(other_bits), &[a, b].concat());
            prop_assert_eq!(merged.bits, union.bits);
            prop_assert_eq!(merged.iter().collect::<Vec<_>>(), union.iter().collect::<Vec<_>>());
            prop_assert_eq!(
                (merged.count, merged.sum, merged.min, merged.max),
                (union.count, union.sum, union.min, union.max)
            );
            for q in [0.0, 0.25, 0.5, 0.99, 1.0] {
                prop_assert_eq!(merged.quantile(q), union.quantile(q));
            }
        }
    }
}
