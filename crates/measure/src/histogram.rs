//! A histogram of delays with bounded relative error.
//!
//! Log-linear: every octave of picoseconds is cut into 2^bits buckets of equal
//! width (below 2^bits ps every value has its own), as in HdrHistogram (Tene)
//! and DDSketch (Masson, Rim and Lee 2019), but with the bucket found by
//! counting leading zeros. Only the span of half octaves between the smallest and
//! the largest value takes memory: 4 bytes a bucket, with a carry kept aside
//! for the bucket that should ever pass 2^32. Count, sum, minimum and maximum
//! are exact.
//!
//! Recording is O(1), a few instructions and one memory access; it allocates
//! when a half octave is seen for the first time, at most 128 times.

mod packed;

use std::collections::BTreeMap;

use spillgate_core::{Dur, time::PS_PER_SEC};

pub use packed::PackedHistogram;

/// A log-linear histogram of delays.
///
/// ```
/// use spillgate_core::Dur;
/// use spillgate_measure::Histogram;
///
/// let mut h = Histogram::new(7);
/// (1..=1000).for_each(|ms| h.record(Dur::from_ms(ms)));
/// let p99 = h.quantile(0.99).unwrap();
/// assert!((p99 - 0.990).abs() <= 0.990 * h.relative_error());
/// assert_eq!(h.max(), Some(Dur::from_ms(1000)));
/// ```
#[derive(Clone, Debug)]
pub struct Histogram {
    /// Bucket index of `counts[0]`, a multiple of 2^(bits - 1).
    offset: u32,
    bits: u8,
    counts: Box<[u32]>,
    /// How often the count of a bucket has passed 2^32, by bucket index.
    #[allow(
        clippy::box_collection,
        reason = "eight bytes in the common case of none"
    )]
    carries: Option<Box<BTreeMap<u32, u32>>>,
    count: u64,
    sum: Sum,
    min: u64,
    max: u64,
}

impl Histogram {
    /// An empty histogram with 2^`bits` buckets per octave; `bits` is brought into 3..=10.
    pub fn new(bits: u8) -> Self {
        Self {
            offset: 0,
            bits: bits.clamp(3, 10),
            counts: Box::default(),
            carries: None,
            count: 0,
            sum: Sum::default(),
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
        self.sort_in(delay);
        self.sum_up(1, delay.as_ps().into(), delay);
    }

    /// The part of [`Self::record`] that cannot be done for many delays at once; [`Self::sum_up`]
    /// is the other.
    #[inline]
    pub fn sort_in(&mut self, delay: Dur) {
        let v = delay.as_ps();
        // A branch: soon it is never taken any more.
        if v < self.min {
            self.min = v;
        }
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

    /// Takes `n` delays into count, sum and maximum that have been [sorted in](Self::sort_in).
    #[inline]
    pub fn sum_up(&mut self, n: u64, sum: u128, max: Dur) {
        self.count += n;
        self.sum.add(sum);
        if max.as_ps() > self.max {
            self.max = max.as_ps();
        }
    }

    /// Has the counts brought into the processor's cache, as far as they are few.
    #[inline]
    pub fn prefetch(&self) {
        for line in self.counts.chunks(16).take(6) {
            spillgate_core::prefetch(&line[0]);
        }
    }

    /// Takes in `n` delays alike.
    pub fn record_many(&mut self, delay: Dur, n: u64) {
        if n == 0 {
            return;
        }
        self.sort_in_many(delay, n);
        self.sum_up(n, u128::from(delay.as_ps()) * u128::from(n), delay);
    }

    /// [Sorts in](Self::sort_in) `n` delays alike, at least one.
    pub fn sort_in_many(&mut self, delay: Dur, n: u64) {
        let v = delay.as_ps();
        self.min = self.min.min(v);
        self.add(bucket_of(v, self.bits), n);
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
        self.sum.add(other.sum.get());
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
        (self.count > 0).then(|| self.sum.get() as f64 / self.count as f64 / PS_PER_SEC as f64)
    }

    /// The smallest, exact.
    pub fn min(&self) -> Option<Dur> {
        (self.count > 0).then(|| Dur::from_ps(self.min))
    }

    /// The largest, exact.
    pub fn max(&self) -> Option<Dur> {
        (self.count > 0).then(|| Dur::from_ps(self.max))
    }

    /// The `q`-quantile in seconds, `q` brought into 0..=1; none if there are no values or `q` is
    /// NaN.
    ///
    /// The quantile is the smallest value whose rank is at least `q n` (the
    /// inverse of the empirical distribution, Hyndman and Fan's type 1). The
    /// result lies in the part of that value's bucket that is within
    /// `min..=max`, at the place that its rank within the bucket would have if
    /// the bucket's values were spread evenly: it is off by at most
    /// [`Histogram::relative_error`]. `q` of 0 and 1 give minimum and maximum
    /// exactly.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        self.quantiles(&[q]).next().flatten()
    }

    /// [`Self::quantile`] of each `q`, which ascend: the buckets are passed once for all of them.
    pub fn quantiles<'a>(&'a self, q: &'a [f64]) -> impl Iterator<Item = Option<f64>> + 'a {
        let mut buckets = self.buckets();
        // The bucket that is looked at, and how many values lie below it.
        let (mut here, mut below) = (buckets.next(), 0);
        q.iter().map(move |&q| {
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
            while let Some((bucket, n)) = here {
                if below + n >= rank {
                    let (low, width) = bounds(bucket, self.bits);
                    let high = (low + (width - 1)).min(self.max);
                    let low = low.max(self.min);
                    let share = ((rank - below) as f64 - 0.5) / n as f64;
                    return Some(seconds(low as f64 + (high - low) as f64 * share));
                }
                below += n;
                here = buckets.next();
            }
            Some(seconds(self.max as f64))
        })
    }

    /// How far a quantile may be off, relative to the value it stands for: 2^-bits.
    pub fn relative_error(&self) -> f64 {
        1.0 / f64::from(1_u32 << self.bits)
    }

    /// Bytes of memory in use, the struct itself included.
    pub fn memory_bytes(&self) -> usize {
        let carries = self.carries.as_ref().map_or(0, |c| 64 + 16 * c.len());
        size_of::<Self>() + size_of_val(&*self.counts) + carries
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
            .zip(&*self.counts)
            .map(move |(b, &n)| (b, u64::from(n) + carry(b)))
            .filter(|&(_, n)| n > 0)
    }

    /// Adds `n` to a bucket, making room and carrying where needed.
    #[cold]
    fn add(&mut self, bucket: u32, n: u64) {
        self.cover(bucket >> (self.bits - 1));
        let c = &mut self.counts[(bucket - self.offset) as usize];
        let sum = u64::from(*c) + n;
        *c = sum as u32;
        let carry = (sum >> 32) as u32;
        if carry > 0 {
            let carries = self.carries.get_or_insert_with(Box::default);
            *carries.entry(bucket).or_insert(0) += carry;
        }
    }

    /// Makes room for the buckets of a half octave.
    fn cover(&mut self, half: u32) {
        let half_bits = self.bits - 1;
        let per = 1_usize << half_bits;
        let first = self.offset >> half_bits;
        if self.counts.is_empty() {
            self.offset = half << half_bits;
            self.counts = vec![0; per].into();
        } else if half < first {
            let more = (first - half) as usize * per;
            let mut grown = Vec::with_capacity(more + self.counts.len());
            grown.resize(more, 0);
            grown.extend_from_slice(&self.counts);
            self.counts = grown.into();
            self.offset = half << half_bits;
        } else {
            let need = ((half - first) as usize + 1) * per;
            if need > self.counts.len() {
                // Exactly, not doubling: ten thousand histograms count.
                let mut counts = std::mem::take(&mut self.counts).into_vec();
                counts.reserve_exact(need - counts.len());
                counts.resize(need, 0);
                self.counts = counts.into();
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

/// A sum of 128 bits that needs no alignment of its own: eight bytes less for a [`Histogram`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    low: u64,
    high: u64,
}

impl Sum {
    #[inline]
    fn add(&mut self, more: u128) {
        let sum = self.get() + more;
        (self.low, self.high) = (sum as u64, (sum >> 64) as u64);
    }

    #[inline]
    fn get(self) -> u128 {
        u128::from(self.high) << 64 | u128::from(self.low)
    }
}

const _: () = assert!(size_of::<Histogram>() <= 72);

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
pub(crate) fn bucket_of(v: u64, bits: u8) -> u32 {
    let bits = u32::from(bits);
    // Zero for v below 2^(bits+1): the first two octaves have width 1.
    let shift = 63 - (v | 1 << bits).leading_zeros() - bits;
    (shift << bits) + (v >> shift) as u32
}

/// Lower bound and width of a bucket in ps.
pub(crate) fn bounds(bucket: u32, bits: u8) -> (u64, u64) {
    let shift = (bucket >> bits).saturating_sub(1);
    let low = u64::from(bucket - (shift << bits)) << shift;
    (low, 1 << shift)
}

#[cfg(test)]
mod tests;
