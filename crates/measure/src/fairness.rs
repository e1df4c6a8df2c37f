//! Jain's fairness index.

/// Jain's fairness index `(Σx)² / (n Σx²)` (Jain, Chiu and Hawe 1984): 1 if all
/// are alike, 1/n if one has everything. NaN values are skipped.
///
/// None without values, or when all are 0 or one is infinite.
pub fn jain(xs: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut n, mut sum, mut squares) = (0_u64, 0.0, 0.0);
    for x in xs.filter(|x| !x.is_nan()) {
        n += 1;
        sum += x;
        squares += x * x;
    }
    let index = sum * sum / (n as f64 * squares);
    index.is_finite().then_some(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_and_a_hand_example() {
        assert_eq!(jain([3.0; 5].into_iter()), Some(1.0));
        assert_eq!(jain([0.0, 0.0, 7.0, 0.0].into_iter()), Some(0.25));
        // (1+2+3)² / (3 * 14) = 36/42
        assert_eq!(
            jain([1.0, f64::NAN, 2.0, 3.0].into_iter()),
            Some(36.0 / 42.0)
        );
    }

    #[test]
    fn undefined_without_anything_to_share() {
        assert_eq!(jain([].into_iter()), None);
        assert_eq!(jain([0.0, 0.0].into_iter()), None);
        assert_eq!(jain([f64::NAN].into_iter()), None);
        assert_eq!(jain([f64::INFINITY, 1.0].into_iter()), None);
    }
}
