//! Lengths on a link as a distribution of parts.

use std::collections::BTreeMap;

use serde::Serialize;
use spillgate_core::overhead::Cells;
use spillgate_core::{Overhead, math};
use spillgate_endpoints::source::spec::{MAX_PACKET, MIN_PACKET, PacketSizeSpec, SizePart};

/// A part of the lengths on a link, in bytes: one length, an even spread, or an exponential excess.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Length {
    share: f64,
    from: f64,
    /// Lengths are spread evenly up to here.
    to: f64,
    /// The mean by which lengths exceed `from`, exponentially; 0 for the other parts.
    excess: f64,
}

impl Length {
    fn one(share: f64, len: u32) -> Self {
        let at = f64::from(len);
        Self {
            share,
            from: at,
            to: at,
            excess: 0.0,
        }
    }
}

/// The lengths on a link; none if they have no such parts.
///
/// Whole bytes are spread evenly over half a byte to both sides: means are the same, and squares
/// too large by a twelfth of a byte squared.
pub(super) fn lengths(sizes: &PacketSizeSpec, overhead: Overhead) -> Vec<Length> {
    let added = f64::from(overhead.per_packet());
    let cells = overhead.cells() != Cells::None;
    // The longest IP packet that becomes the shortest frame.
    let filled = i32::from(overhead.mpu()) - i32::from(overhead.per_packet());
    let mut found = Vec::new();
    for (share, part) in sizes.parts() {
        match part {
            SizePart::Fixed(len) => found.push(Length::one(share, overhead.wire_len(len))),
            SizePart::Uniform(min, max) if cells => {
                let each = share / (f64::from(max - min) + 1.0);
                found.extend(grouped(
                    (min..=max).map(|len| (each, overhead.wire_len(len))),
                ));
            }
            SizePart::Uniform(min, max) => {
                let below = (filled - i32::from(min)).clamp(0, i32::from(max - min) + 1);
                let part = f64::from(below) / (f64::from(max - min) + 1.0);
                if below > 0 {
                    found.push(Length::one(share * part, overhead.wire_len(min)));
                }
                if part < 1.0 {
                    found.push(Length {
                        share: share * (1.0 - part),
                        from: f64::from(i32::from(min) + below) - 0.5 + added,
                        to: f64::from(max) + 0.5 + added,
                        excess: 0.0,
                    });
                }
            }
            SizePart::Exponential(mean) => {
                let above = |x: f64| math::exp(-x / mean);
                if cells || above(MAX_PACKET.into()) > 1e-9 {
                    return Vec::new();
                }
                let cut = i32::from(MIN_PACKET).max(filled);
                let tail = above(f64::from(cut) + 0.5);
                found.push(Length::one(
                    share * (1.0 - tail),
                    overhead.wire_len(cut as u16),
                ));
                let from = f64::from(cut) + 0.5 + added;
                found.push(Length {
                    share: share * tail,
                    from,
                    to: from,
                    excess: mean,
                });
            }
        }
    }
    found
}

/// Those of one length together.
fn grouped(lengths: impl Iterator<Item = (f64, u32)>) -> Vec<Length> {
    let mut shares: BTreeMap<u32, f64> = BTreeMap::new();
    for (share, len) in lengths {
        *shares.entry(len).or_default() += share;
    }
    let one = |(len, share)| Length::one(share, len);
    shares.into_iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and mean square of the lengths on the link.
    fn moments(lengths: &[Length]) -> (f64, f64) {
        let of = |l: &Length| {
            let (a, b, m) = (l.from, l.to, l.excess);
            let mean = f64::midpoint(a, b) + m;
            let square = (a * a + a * b + b * b) / 3.0 + 2.0 * m * a + 2.0 * m * m;
            (l.share * mean, l.share * square)
        };
        let each = lengths.iter().map(of);
        each.fold((0.0, 0.0), |s, x| (s.0 + x.0, s.1 + x.1))
    }

    /// Against the definition, each size with its probability.
    #[test]
    fn lengths_have_the_moments_of_what_is_sent() {
        let sizes = [
            r#""1500 B""#,
            r#""imix""#,
            r#"{"uniform": {"min": "30 B", "max": "129 B"}}"#,
            r#"{"uniform": {"min": "30 B", "max": "40 B"}}"#,
            r#"{"exponential": "400 B"}"#,
        ];
        let overheads = [
            Overhead::NONE,
            Overhead::new(18, 64, Cells::None),
            Overhead::new(-8, 0, Cells::None),
            Overhead::new(10, 0, Cells::Atm),
        ];
        for (json, overhead) in sizes.iter().flat_map(|s| overheads.map(|o| (s, o))) {
            let spec: PacketSizeSpec = serde_json::from_str(json).unwrap();
            let found = lengths(&spec, overhead);
            if found.is_empty() {
                assert!(json.contains("exponential") && overhead.cells() != Cells::None);
                continue;
            }
            let (mut mean, mut square) = (0.0, 0.0);
            for (share, part) in spec.parts() {
                let (from, to) = match part {
                    SizePart::Fixed(len) => (len, len),
                    SizePart::Uniform(min, max) => (min, max),
                    SizePart::Exponential(_) => (20, 65_535),
                };
                for len in from..=to {
                    let p = match part {
                        SizePart::Exponential(m) => {
                            let above = |x: f64| math::exp(-x / m);
                            let low = if len == 20 {
                                1.0
                            } else {
                                above(f64::from(len) - 0.5)
                            };
                            low - above(f64::from(len) + 0.5)
                        }
                        _ => 1.0 / f64::from(to - from + 1),
                    };
                    let wire = f64::from(overhead.wire_len(len));
                    mean += share * p * wire;
                    square += share * p * wire * wire;
                }
            }
            let (m, s) = moments(&found);
            // A twelfth of a byte squared; of an exponential also how its density falls in a byte.
            assert!(
                (m - mean).abs() < 1e-6 * mean,
                "{json} {overhead:?}: {m} {mean}"
            );
            let off = 0.1 + 1e-6 * square;
            assert!(
                (s - square).abs() < off,
                "{json} {overhead:?}: {s} {square}"
            );
            let shares: f64 = found.iter().map(|l| l.share).sum();
            assert!((shares - 1.0).abs() < 1e-12);
        }
    }
}
