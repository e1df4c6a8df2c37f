//! Packet sizes at run time.

use std::sync::Arc;

use spillgate_core::{Rng, Size, math};

use super::spec::{MAX_PACKET, MIN_PACKET, PacketSizeSpec};

/// A distribution of IP packet sizes in bytes. One draw per packet, none if all sizes are alike or
/// in a fixed order.
#[derive(Clone, Debug)]
pub(super) enum Sizes {
    Fixed(u16),
    Uniform { min: u16, span: u32 },
    Exponential(f64),
    Table(Arc<[Entry]>),
    Cycle { packets: Arc<[u16]>, next: u16 },
}

/// A part of the sizes of packets, from which a formula takes their distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SizePart {
    /// One size in bytes.
    Fixed(u16),
    /// Each of the sizes from the first to the last with the same probability.
    Uniform(u16, u16),
    /// Exponential with this mean, rounded and cut.
    Exponential(f64),
}

/// The parts of sizes with their shares, which add up to 1.
pub(super) fn parts(spec: &PacketSizeSpec) -> Vec<(f64, SizePart)> {
    let fixed = |len: u16, share: f64| (share, SizePart::Fixed(len));
    match Sizes::new(spec).0 {
        Sizes::Fixed(len) => vec![fixed(len, 1.0)],
        Sizes::Uniform { min, span } => {
            let max = (u32::from(min) + span - 1) as u16;
            vec![(1.0, SizePart::Uniform(min, max))]
        }
        Sizes::Exponential(mean) => vec![(1.0, SizePart::Exponential(mean))],
        Sizes::Table(entries) => {
            let before = std::iter::once(0.0).chain(entries.iter().map(|e| e.upto));
            let of = |(e, before): (&Entry, f64)| fixed(e.len, e.upto - before);
            entries.iter().zip(before).map(of).collect()
        }
        Sizes::Cycle { packets, .. } => {
            let share = 1.0 / packets.len() as f64;
            packets.iter().map(|len| fixed(*len, share)).collect()
        }
    }
}

/// A size and the probability of it or an earlier one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    upto: f64,
    len: u16,
}

impl Sizes {
    /// The sizes and their mean in bytes.
    pub(super) fn new(spec: &PacketSizeSpec) -> (Self, f64) {
        match spec {
            PacketSizeSpec::Fixed(s) => fixed(bytes(*s)),
            PacketSizeSpec::Uniform(r) => {
                let (a, b) = (bytes(r.min), bytes(r.max));
                let (min, max) = (a.min(b), a.max(b));
                let span = u32::from(max - min) + 1;
                let mean = (f64::from(min) + f64::from(max)) / 2.0;
                (Self::Uniform { min, span }, mean)
            }
            PacketSizeSpec::Exponential(s) => {
                let mean = f64::from(bytes(*s));
                (Self::Exponential(mean), cut_exponential_mean(mean))
            }
            PacketSizeSpec::Table(rows) => table(rows.iter().map(|r| (bytes(r.size), r.weight))),
            PacketSizeSpec::Imix(mix) => table(mix.rows().iter().copied()),
            PacketSizeSpec::Genome(genome) => cycle(genome.packets().unwrap_or_default()),
        }
    }

    /// The longest of them.
    pub(super) fn longest(&self) -> u16 {
        match self {
            Self::Fixed(len) => *len,
            Self::Uniform { min, span } => (u32::from(*min) + span - 1) as u16,
            Self::Exponential(_) => MAX_PACKET,
            Self::Table(entries) => entries.iter().map(|e| e.len).max().unwrap_or(MIN_PACKET),
            Self::Cycle { packets, .. } => packets.iter().copied().max().unwrap_or(MIN_PACKET),
        }
    }

    /// What one of 10,000 is longer than, of sizes without a bound; else the longest.
    pub(super) fn usually_longest(&self) -> u16 {
        match self {
            Self::Exponential(mean) => {
                let whole = (mean * math::ln(10_000.0)).ceil() as u64;
                whole.clamp(u64::from(MIN_PACKET), u64::from(MAX_PACKET)) as u16
            }
            others => others.longest(),
        }
    }

    /// The shortest of them.
    pub(super) fn shortest(&self) -> u16 {
        match self {
            Self::Fixed(len) => *len,
            Self::Uniform { min, .. } => *min,
            Self::Exponential(_) => MIN_PACKET,
            Self::Table(entries) => entries.iter().map(|e| e.len).min().unwrap_or(MIN_PACKET),
            Self::Cycle { packets, .. } => packets.iter().copied().min().unwrap_or(MIN_PACKET),
        }
    }

    #[inline]
    pub(super) fn draw(&mut self, rng: &mut Rng) -> u16 {
        match self {
            Self::Fixed(len) => *len,
            Self::Uniform { min, span } => *min + rng.below(*span) as u16,
            Self::Exponential(mean) => {
                let whole = (rng.exponential(*mean) + 0.5) as u64;
                whole.clamp(u64::from(MIN_PACKET), u64::from(MAX_PACKET)) as u16
            }
            Self::Table(entries) => {
                let u = rng.f64();
                let i = entries.partition_point(|e| e.upto <= u);
                // The last sum of weights may round to just below 1.
                entries[i.min(entries.len() - 1)].len
            }
            Self::Cycle { packets, next } => {
                let len = packets[usize::from(*next)];
                *next = (*next + 1) % packets.len() as u16;
                len
            }
        }
    }
}

fn fixed(len: u16) -> (Sizes, f64) {
    (Sizes::Fixed(len), f64::from(len))
}

fn cycle(packets: Vec<u16>) -> (Sizes, f64) {
    match *packets {
        [] => fixed(MIN_PACKET),
        [only] => fixed(only),
        _ => {
            let sum: u64 = packets.iter().map(|p| u64::from(*p)).sum();
            let mean = sum as f64 / packets.len() as f64;
            let packets = packets.into();
            (Sizes::Cycle { packets, next: 0 }, mean)
        }
    }
}

fn bytes(s: Size) -> u16 {
    s.0.clamp(u64::from(MIN_PACKET), u64::from(MAX_PACKET)) as u16
}

fn table(rows: impl Iterator<Item = (u16, f64)>) -> (Sizes, f64) {
    let rows: Vec<_> = rows.filter(|(_, w)| w.is_finite() && *w > 0.0).collect();
    // Scaled by the largest weight first: the sum of finite weights may overflow.
    let largest = rows.iter().fold(0.0, |a: f64, (_, w)| a.max(*w));
    let total: f64 = rows.iter().map(|(_, w)| w / largest).sum();
    let mut upto = 0.0;
    let mut mean = 0.0;
    let entries: Arc<[Entry]> = rows
        .iter()
        .map(|&(len, w)| {
            let p = w / largest / total;
            upto += p;
            mean += p * f64::from(len);
            Entry { upto, len }
        })
        .collect();
    match *entries {
        [] => fixed(MIN_PACKET),
        [only] => fixed(only.len),
        _ => (Sizes::Table(entries), mean),
    }
}

/// Mean of an exponential size of mean `m` bytes, rounded to whole bytes and
/// cut to [`MIN_PACKET`]..=[`MAX_PACKET`].
///
/// E Y = min + sum over n in min..max of P(Y > n), and P(Y > n) = q^(n + 1/2)
/// with q = e^(-1/m): a geometric sum.
fn cut_exponential_mean(m: f64) -> f64 {
    let (lo, hi) = (f64::from(MIN_PACKET), f64::from(MAX_PACKET));
    let q = math::exp(-1.0 / m);
    lo + (math::exp(-(lo + 0.5) / m) - math::exp(-(hi + 0.5) / m)) / (1.0 - q)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the definition: the sum over all sizes of size times probability.
    #[test]
    fn mean_of_the_cut_exponential() {
        for m in [20.0, 100.0, 1_500.0, 65_535.0] {
            let above = |x: f64| math::exp(-x / m);
            let (lo, hi) = (f64::from(MIN_PACKET), f64::from(MAX_PACKET));
            let mut mean = lo * (1.0 - above(lo + 0.5)) + hi * above(hi - 0.5);
            for len in MIN_PACKET + 1..MAX_PACKET {
                let len = f64::from(len);
                mean += len * (above(len - 0.5) - above(len + 0.5));
            }
            // 65 thousand terms, each good to an ulp of the sum at worst.
            assert!((cut_exponential_mean(m) - mean).abs() < 1e-10 * mean, "{m}");
        }
    }

    #[test]
    fn sizes_lie_between_the_shortest_and_the_longest_and_hardly_one_above_the_usual() {
        for json in [
            r#""1500 B""#,
            r#""imix""#,
            r#"{"genome": "7a4d1g"}"#,
            r#"{"uniform": {"min": "64 B", "max": "1501 B"}}"#,
            r#"{"exponential": "300 B"}"#,
        ] {
            let (mut sizes, _) = Sizes::new(&serde_json::from_str(json).unwrap());
            let (least, usual, most) = (sizes.shortest(), sizes.usually_longest(), sizes.longest());
            assert!(least <= usual && usual <= most, "{json}");
            let mut rng = Rng::from_key(1);
            let drawn: Vec<u16> = (0..100_000).map(|_| sizes.draw(&mut rng)).collect();
            assert!(drawn.iter().all(|l| (least..=most).contains(l)), "{json}");
            // 10 are expected of an exponential; five standard deviations more are 26.
            let above = drawn.iter().filter(|l| **l > usual).count();
            assert!(above <= 26, "{json}: {above}");
        }
        let exponential = r#"{"exponential": "300 B"}"#;
        let (sizes, _) = Sizes::new(&serde_json::from_str(exponential).unwrap());
        // 300 ln 10^4.
        assert_eq!(sizes.usually_longest(), 2764);
    }

    #[test]
    fn means_of_the_other_sizes() {
        let mean = |json: &str| Sizes::new(&serde_json::from_str(json).unwrap()).1;
        assert_eq!(mean(r#""1500 B""#), 1500.0);
        assert!((mean(r#""imix""#) - 4084.0 / 12.0).abs() < 1e-10);
        // (7 * 46 + 4 * 576 + 1500) / 12
        assert!((mean(r#"{"imix": "cisco"}"#) - 4126.0 / 12.0).abs() < 1e-10);
        assert!(
            (mean(r#"{"genome": "7a4d1g"}"#) - (7.0 * 46.0 + 4.0 * 494.0 + 1500.0) / 12.0).abs()
                < 1e-10
        );
        assert_eq!(
            mean(r#"{"uniform": {"min": "64 B", "max": "1501 B"}}"#),
            782.5
        );
        // Weights whose sum overflows are still shares.
        let huge = r#"{"table": [{"size": "100 B", "weight": 1e308}, {"size": "300 B", "weight": 1e308}]}"#;
        assert_eq!(mean(huge), 200.0);
    }
}
