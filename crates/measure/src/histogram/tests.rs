use super::packed::Parts;
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
        let levels: Vec<f64> = (0..=100).map(|i| f64::from(i) / 100.0).collect();
        let qs: Vec<f64> = levels.iter().map(|q| h.quantile(*q).unwrap()).collect();
        let together: Vec<f64> = h.quantiles(&levels).flatten().collect();
        prop_assert_eq!(&together, &qs);
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

proptest! {
    #[test]
    fn parts_give_the_histogram_back(
        bits in 0_u8..12,
        delays in proptest::collection::vec((any::<u64>(), 0_u32..64, 1_u64..1 << 34), 0..40),
    ) {
        let mut h = Histogram::new(bits);
        for (v, shift, n) in delays {
            h.record_many(Dur::from_ps(v >> shift), n);
        }
        let packed = PackedHistogram::from(&h);
        let parts = packed.parts();
        let back = parts.histogram().unwrap();
        prop_assert_eq!(&PackedHistogram::from(&back), &packed);
        prop_assert_eq!(format!("{:?}", packed.unpacked()), format!("{back:?}"));
        for q in [0.0, 0.1, 0.5, 0.99, 1.0] {
            prop_assert_eq!(back.quantile(q), h.quantile(q));
        }
        prop_assert_eq!((back.count(), back.mean()), (h.count(), h.mean()));
        // What belongs to no histogram makes none.
        let wrong = [
            Parts { bits: 200, ..parts.clone() },
            Parts { min: parts.min ^ 1 << 63, ..parts.clone() },
            Parts { sum: (u64::MAX, u64::MAX), ..parts.clone() },
            Parts { buckets: vec![u32::MAX], counts: vec![1], ..parts.clone() },
            Parts { counts: [&parts.counts[..], &[1]].concat(), ..parts.clone() },
        ];
        for parts in wrong {
            prop_assert!(parts.histogram().is_none());
        }
    }
}
