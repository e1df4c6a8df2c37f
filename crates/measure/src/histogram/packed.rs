//! A histogram that is finished, in a tenth of the memory, and as stored runs have it.
//!
//! What is recorded needs a place for each bucket of the span, most of which are empty after a
//! short run. Packed, each bucket that holds something takes two numbers of a few bytes (LEB128):
//! its distance from the one before, and its count.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Histogram, bucket_of};

/// A [`Histogram`] that takes in nothing more.
///
/// ```
/// use spillgate_core::Dur;
/// use spillgate_measure::{Histogram, PackedHistogram};
///
/// let mut h = Histogram::new(7);
/// (1..=1000).for_each(|ms| h.record(Dur::from_ms(ms)));
/// let packed = PackedHistogram::from(&h);
/// assert_eq!(packed.unpacked().quantile(0.99), h.quantile(0.99));
/// assert!(packed.memory_bytes() < h.memory_bytes() / 2);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct PackedHistogram {
    /// Bits of resolution, two halves of the sum, least and most; then the pairs.
    bytes: Box<[u8]>,
}

impl From<&Histogram> for PackedHistogram {
    fn from(h: &Histogram) -> Self {
        let sum = h.sum.get();
        let mut bytes = vec![h.bits];
        for n in [(sum >> 64) as u64, sum as u64, h.min, h.max] {
            put(&mut bytes, n);
        }
        let mut before = 0;
        for (bucket, n) in h.buckets() {
            put(&mut bytes, (bucket - before).into());
            put(&mut bytes, n);
            before = bucket;
        }
        Self {
            bytes: bytes.into(),
        }
    }
}

impl PackedHistogram {
    /// The histogram itself, for questions.
    pub fn unpacked(&self) -> Histogram {
        let (head, pairs) = self.read();
        let mut all = Histogram::new(head.bits);
        (all.min, all.max) = (head.min, head.max);
        all.sum.add(head.sum);
        if head.min <= head.max {
            // Room for all of them at once.
            for end in [head.min, head.max] {
                all.cover(bucket_of(end, head.bits) >> (head.bits - 1));
            }
        }
        for (bucket, n) in pairs {
            all.add(bucket, n);
            all.count += n;
        }
        all
    }

    /// Bytes of memory in use, the struct itself included.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.bytes.len()
    }

    /// What stands before the buckets, and each of them with its count, ascending.
    fn read(&self) -> (Head, impl Iterator<Item = (u32, u64)> + '_) {
        // As it was made it is never empty.
        let mut rest = self.bytes.get(1..).unwrap_or_default();
        let mut next = || take(&mut rest);
        let (high, low) = (next(), next());
        let head = Head {
            bits: self.bytes.first().copied().unwrap_or_default(),
            sum: u128::from(high) << 64 | u128::from(low),
            min: next(),
            max: next(),
        };
        let mut bucket = 0;
        let pairs = std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            bucket += take(&mut rest) as u32;
            Some((bucket, take(&mut rest)))
        });
        (head, pairs)
    }

    /// All of it as plain numbers, to be stored.
    pub(super) fn parts(&self) -> Parts {
        let (head, pairs) = self.read();
        let (buckets, counts) = pairs.unzip();
        Parts {
            bits: head.bits,
            buckets,
            counts,
            sum: ((head.sum >> 64) as u64, head.sum as u64),
            min: head.min,
            max: head.max,
        }
    }
}

impl std::fmt::Debug for PackedHistogram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.parts().fmt(f)
    }
}

impl Serialize for PackedHistogram {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.parts().serialize(to)
    }
}

impl<'de> Deserialize<'de> for PackedHistogram {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let all = Parts::deserialize(from)?.histogram();
        let all = all.ok_or_else(|| D::Error::custom("no histogram has these parts"))?;
        Ok(Self::from(&all))
    }
}

/// What a packed histogram begins with.
struct Head {
    bits: u8,
    sum: u128,
    min: u64,
    max: u64,
}

/// Appends a number: seven bits a byte, the lowest first; all bytes but the last have the highest
/// bit.
fn put(bytes: &mut Vec<u8>, mut n: u64) {
    while n > 0x7f {
        bytes.push(n as u8 | 0x80);
        n >>= 7;
    }
    bytes.push(n as u8);
}

/// Takes the first number off.
fn take(bytes: &mut &[u8]) -> u64 {
    let mut n = 0;
    for shift in (0..64).step_by(7) {
        let Some((byte, rest)) = bytes.split_first() else {
            break;
        };
        *bytes = rest;
        n |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    n
}

/// A histogram as stored runs have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Parts {
    /// The logarithm to base 2 of the buckets per octave.
    pub(super) bits: u8,
    /// Numbers of the buckets that hold something, ascending.
    pub(super) buckets: Vec<u32>,
    /// How much each holds.
    pub(super) counts: Vec<u64>,
    /// Sum of the values in ps: its high and its low half.
    pub(super) sum: (u64, u64),
    /// The smallest value in ps; [`u64::MAX`] if there is none.
    pub(super) min: u64,
    /// The largest in ps; 0 if there is none.
    pub(super) max: u64,
}

impl Parts {
    /// The histogram of these parts; none if no histogram has them.
    pub(super) fn histogram(&self) -> Option<Histogram> {
        let mut all = Histogram::new(self.bits);
        if all.bits != self.bits || self.buckets.len() != self.counts.len() {
            return None;
        }
        let last = bucket_of(u64::MAX, self.bits);
        for (&bucket, &n) in self.buckets.iter().zip(&self.counts) {
            if bucket > last || n == 0 {
                return None;
            }
            all.add(bucket, n);
            all.count = all.count.checked_add(n)?;
        }
        let sum = u128::from(self.sum.0) << 64 | u128::from(self.sum.1);
        all.sum.add(sum);
        (all.min, all.max) = (self.min, self.max);
        let ends = |b: Option<u32>| b.unwrap_or_default();
        let (first, last) = (all.buckets().next(), all.buckets().last());
        let fits = match all.count {
            0 => (sum, self.min, self.max) == (0, u64::MAX, 0),
            n => {
                let least = u128::from(n) * u128::from(self.min);
                let most = u128::from(n) * u128::from(self.max);
                ends(first.map(|b| b.0)) == bucket_of(self.min, self.bits)
                    && ends(last.map(|b| b.0)) == bucket_of(self.max, self.bits)
                    && (least..=most).contains(&sum)
            }
        };
        fits.then_some(all)
    }
}
