//! The earliest times at which a flow may send packets that its arrival curve allows.

use spillgate_core::curve::Curve;

/// Most packets of a greedy flow: each is compared with all before it.
const MOST: usize = 4_000;

/// When a flow sends packets of `len` bytes on the link as early as its curve allows, in
/// picoseconds from the first one, up to `until`.
///
/// A packet may come when in no time that ends with it more comes than the curve has right after
/// that time (the packets of both ends count). Nothing if the curve allows no such packet at all.
pub(super) fn greedy(curve: &Curve, len: u32, until: u64) -> Vec<u64> {
    // The least time in which so many packets may come, both ends included.
    let least = |packets: usize| {
        let bytes = packets as u64 * u64::from(len);
        curve.serves(bytes).ok().map(|d| d.as_ps())
    };
    if least(1) != Some(0) {
        return Vec::new();
    }
    let (mut times, mut apart) = (vec![0_u64], vec![0_u64]);
    while times.len() < MOST {
        let Some(d) = least(times.len() + 1) else {
            break;
        };
        apart.push(d);
        let later = times.iter().zip(apart[1..].iter().rev());
        let next = later.map(|(t, d)| t.saturating_add(*d)).max();
        match next {
            Some(next) if next <= until => times.push(next),
            _ => break,
        }
    }
    times
}
