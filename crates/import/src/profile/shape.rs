//! Measures a stream of packets: rates, dispersion, bursts, sizes, gaps.
//!
//! Windows do not overlap and begin with the capture; the last one, which is not whole, does not
//! count for dispersion. The index of dispersion of a window length is the variance of the packets
//! in a window over their mean: 1 for Poisson arrivals at every length, less for smoother traffic,
//! and growing with the length if bursts last long. The burst of a rate is the depth that a token
//! bucket of that rate needs to let every packet pass, the bucket being full at the start.

use std::collections::BTreeMap;

use serde::Serialize;

const PS: f64 = 1e12;
/// Lengths of windows in picoseconds: 1 ms, 10 ms, 100 ms, 1 s, 10 s.
const WINDOWS: [u64; 5] = [
    1_000_000_000,
    10_000_000_000,
    100_000_000_000,
    1_000_000_000_000,
    10_000_000_000_000,
];
/// Rates of token buckets over the mean rate.
const FACTORS: [f64; 3] = [1.1, 1.5, 2.0];
/// The least number of windows for an index.
const MIN_WINDOWS: u64 = 10;
/// The most distinct sizes; others join the nearest one below.
const MAX_SIZES: usize = 4096;

/// The measurements of a group of packets.
#[derive(Clone, Debug, Serialize)]
pub struct Shape {
    /// Packets.
    pub packets: u64,
    /// Bytes of the IP packets.
    pub bytes: u64,
    /// First packet, in seconds from the beginning of the capture.
    pub first: f64,
    /// Last packet, in seconds.
    pub last: f64,
    /// The time over which rates are averaged, in seconds: the length of the capture.
    pub length: f64,
    /// Mean rate in bits per second; none for a capture without length.
    pub rate: Option<f64>,
    /// Mean size in bytes.
    pub size: f64,
    /// The largest rate over windows of some lengths.
    pub peaks: Vec<Peak>,
    /// Index of dispersion of the packets in windows of some lengths.
    pub dispersion: Vec<Dispersion>,
    /// The largest rate over 100 ms over the mean rate.
    pub peak_to_mean: Option<f64>,
    /// The depths of token buckets at some rates.
    pub buckets: Vec<Bucket>,
    /// Squared coefficient of variation of the gaps between packets.
    pub gap_cv2: Option<f64>,
    /// How often each size occurs, by size.
    pub sizes: Vec<SizeCount>,
    /// Gaps between packets, by length.
    #[serde(skip)]
    pub(super) gaps: Gaps,
}

/// The largest rate over windows of one length.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Peak {
    /// Length in seconds.
    pub window: f64,
    /// Rate in bits per second.
    pub rate: f64,
}

/// Index of dispersion at one length of windows.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Dispersion {
    /// Length in seconds.
    pub window: f64,
    /// Variance of the packets in a window over their mean.
    pub packets: f64,
    /// Windows.
    pub windows: u64,
}

/// A token bucket that lets all packets pass.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Bucket {
    /// Its rate over the mean rate.
    pub factor: f64,
    /// Its rate in bits per second.
    pub rate: f64,
    /// Its depth in bytes.
    pub burst: f64,
}

/// A size and how often it occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SizeCount {
    /// Bytes of the IP packet.
    pub size: u16,
    /// Packets.
    pub packets: u64,
}

/// Windows of one length.
#[derive(Clone, Debug)]
struct Windows {
    width: u64,
    /// The present one.
    number: u64,
    packets: u64,
    bytes: u64,
    most_bytes: u64,
    sum: u64,
    squares: u128,
}

impl Windows {
    fn packet(&mut self, at: u64, len: u16) {
        let number = at / self.width;
        if number != self.number {
            self.close();
            self.number = number;
        }
        self.packets += 1;
        self.bytes += u64::from(len);
    }

    fn close(&mut self) {
        self.most_bytes = self.most_bytes.max(self.bytes);
        self.sum += self.packets;
        self.squares += u128::from(self.packets) * u128::from(self.packets);
        (self.packets, self.bytes) = (0, 0);
    }

    fn finish(mut self, length: u64) -> (Peak, Option<Dispersion>) {
        let windows = length / self.width;
        self.most_bytes = self.most_bytes.max(self.bytes);
        if self.number < windows {
            self.close();
        }
        let window = self.width as f64 / PS;
        let peak = Peak {
            window,
            rate: self.most_bytes as f64 * 8.0 / window,
        };
        let n = windows as f64;
        let mean = self.sum as f64 / n;
        let variance = (self.squares as f64 - n * mean * mean) / (n - 1.0);
        let told = windows >= MIN_WINDOWS && self.sum > 0;
        let dispersion = told.then(|| Dispersion {
            window,
            packets: variance.max(0.0) / mean,
            windows,
        });
        (peak, dispersion)
    }
}

/// Gaps between packets in bins of a sixteenth of an octave, with the sum of each bin.
#[derive(Clone, Debug)]
pub(super) struct Gaps {
    bins: BTreeMap<u16, (u64, f64)>,
    pub(super) n: u64,
    sum: f64,
    squares: f64,
}

impl Gaps {
    fn add(&mut self, gap: u64) {
        let bin = self.bins.entry(bin_of(gap)).or_default();
        bin.0 += 1;
        bin.1 += gap as f64;
        self.n += 1;
        self.sum += gap as f64;
        self.squares += gap as f64 * gap as f64;
    }

    pub(super) fn mean(&self) -> f64 {
        self.sum / self.n.max(1) as f64
    }

    /// Squared coefficient of variation.
    pub(super) fn cv2(&self) -> Option<f64> {
        let (n, mean) = (self.n as f64, self.mean());
        (self.n >= 2 && mean > 0.0).then(|| ((self.squares / n) / (mean * mean) - 1.0).max(0.0))
    }

    /// The three neighboring bins with the most gaps: their share of all, and their mean in
    /// picoseconds.
    pub(super) fn mode(&self) -> (f64, f64) {
        let around = |at: u16| {
            let near = self.bins.range(at.saturating_sub(1)..=at.saturating_add(1));
            near.fold((0, 0.0), |(n, sum), (_, b)| (n + b.0, sum + b.1))
        };
        let best = self
            .bins
            .keys()
            .map(|at| around(*at))
            .max_by_key(|(n, _)| *n);
        let (n, sum) = best.unwrap_or((0, 0.0));
        (n as f64 / self.n.max(1) as f64, sum / n.max(1) as f64)
    }

    /// Gaps above about `limit`: how many, and how far above the limit that was really used they
    /// are on average; and that limit, the lower end of a bin.
    pub(super) fn above(&self, limit: f64) -> (u64, f64, f64) {
        let first = bin_of(limit as u64) + 1;
        let edge = lower_end(first);
        let above = self.bins.range(first..);
        let (n, sum) = above.fold((0, 0.0), |(n, sum), (_, b)| (n + b.0, sum + b.1));
        (n, (sum / n.max(1) as f64 - edge).max(0.0), edge)
    }
}

/// Sixteen bins an octave.
fn bin_of(gap: u64) -> u16 {
    if gap < 16 {
        return gap as u16;
    }
    let octave = 63 - gap.leading_zeros();
    (octave as u16 - 3) * 16 + ((gap >> (octave - 4)) & 15) as u16
}

fn lower_end(bin: u16) -> f64 {
    if bin < 16 {
        return f64::from(bin);
    }
    let octave = u32::from(bin / 16) + 3;
    ((1_u128 << octave) + (u128::from(bin % 16) << (octave - 4))) as f64
}

/// Measures packets as they come.
#[derive(Clone, Debug)]
pub(super) struct Meter {
    length: u64,
    packets: u64,
    bytes: u64,
    first: u64,
    last: u64,
    windows: [Windows; WINDOWS.len()],
    /// Bytes per picosecond of each bucket, what it lacks, and the most that it lacked.
    buckets: [(f64, f64, f64); FACTORS.len()],
    sizes: BTreeMap<u16, u64>,
    gaps: Gaps,
}

impl Meter {
    /// Of packets within `length` picoseconds that have so many bytes in all.
    pub(super) fn new(length: u64, bytes: u64) -> Self {
        let mean = bytes as f64 / (length.max(1)) as f64;
        Self {
            length,
            packets: 0,
            bytes: 0,
            first: 0,
            last: 0,
            windows: WINDOWS.map(|width| Windows {
                width,
                number: 0,
                packets: 0,
                bytes: 0,
                most_bytes: 0,
                sum: 0,
                squares: 0,
            }),
            buckets: FACTORS.map(|f| (f * mean, 0.0, 0.0)),
            sizes: BTreeMap::new(),
            gaps: Gaps {
                bins: BTreeMap::new(),
                n: 0,
                sum: 0.0,
                squares: 0.0,
            },
        }
    }

    /// A packet, not before the last one.
    pub(super) fn packet(&mut self, at: u64, len: u16) {
        let gap = at - self.last.min(at);
        if self.packets == 0 {
            self.first = at;
        } else {
            self.gaps.add(gap);
        }
        for (rate, lacks, most) in &mut self.buckets {
            *lacks = (*lacks - *rate * gap as f64).max(0.0) + f64::from(len);
            *most = most.max(*lacks);
        }
        for w in &mut self.windows {
            w.packet(at, len);
        }
        self.packets += 1;
        self.bytes += u64::from(len);
        self.last = at;
        if self.sizes.len() < MAX_SIZES || self.sizes.contains_key(&len) {
            *self.sizes.entry(len).or_default() += 1;
        } else if let Some((_, n)) = self.sizes.range_mut(..=len).next_back() {
            *n += 1;
        } else if let Some((_, n)) = self.sizes.iter_mut().next() {
            *n += 1;
        }
    }

    pub(super) fn finish(self) -> Shape {
        let length = self.length as f64 / PS;
        let rate = (self.length > 0).then(|| self.bytes as f64 * 8.0 / length);
        let measured = self.windows.map(|w| w.finish(self.length));
        // A window that is longer than the capture has no rate.
        let peaks: Vec<Peak> = measured
            .iter()
            .map(|m| m.0)
            .filter(|p| p.window <= length && p.window < 5.0)
            .collect();
        let at_100_ms = peaks.iter().find(|p| p.window == 0.1);
        Shape {
            packets: self.packets,
            bytes: self.bytes,
            first: self.first as f64 / PS,
            last: self.last as f64 / PS,
            length,
            rate,
            size: self.bytes as f64 / self.packets.max(1) as f64,
            peak_to_mean: at_100_ms.zip(rate).map(|(p, r)| p.rate / r),
            peaks,
            dispersion: measured.iter().filter_map(|m| m.1).collect(),
            buckets: match rate {
                None => Vec::new(),
                Some(rate) => FACTORS
                    .iter()
                    .zip(self.buckets)
                    .map(|(f, (_, _, most))| Bucket {
                        factor: *f,
                        rate: f * rate,
                        burst: most,
                    })
                    .collect(),
            },
            gap_cv2: self.gaps.cv2(),
            sizes: self
                .sizes
                .into_iter()
                .map(|(size, packets)| SizeCount { size, packets })
                .collect(),
            gaps: self.gaps,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_cover_all_gaps_without_a_hole() {
        for gap in [
            0,
            1,
            15,
            16,
            17,
            31,
            32,
            33,
            1_000,
            123_456_789,
            u64::MAX / 3,
            u64::MAX,
        ] {
            let bin = bin_of(gap);
            assert!(lower_end(bin) <= gap as f64, "{gap}");
            assert!(lower_end(bin + 1) > gap as f64 * (1.0 - 1e-15), "{gap}");
        }
    }

    /// Ten packets of 1000 B at once, then one each 10 ms: by hand.
    #[test]
    fn a_burst_by_hand() {
        let ms = 1_000_000_000;
        let mut m = Meter::new(1000 * ms, 110 * 1000);
        for _ in 0..10 {
            m.packet(0, 1000);
        }
        for i in 0..100 {
            m.packet(i * 10 * ms, 1000);
        }
        let s = m.finish();
        assert_eq!((s.packets, s.bytes, s.length), (110, 110_000, 1.0));
        assert_eq!(s.rate, Some(880_000.0));
        // Eleven packets in the first window of each length up to 10 ms, twenty in 100 ms.
        let peaks: Vec<f64> = s.peaks.iter().map(|p| p.rate).collect();
        assert_eq!(peaks, [88e6, 8.8e6, 1.6e6, 880e3]);
        assert!((s.peak_to_mean.unwrap() - 1.6 / 0.88).abs() < 1e-12);
        // Counts over 10 ms: 11 and 99 times 1; variance (100 / 99) (1.2 - 1)... by the definition.
        let d = &s.dispersion[1];
        let mean: f64 = 110.0 / 100.0;
        let variance = ((11.0 - mean) * (11.0 - mean) + 99.0 * (1.0 - mean) * (1.0 - mean)) / 99.0;
        assert!((d.packets - variance / mean).abs() < 1e-12 && d.windows == 100);
        // At twice the mean rate, 0.22 B/us, 2200 B come back in 10 ms: the depth is the burst's.
        assert!((s.buckets[2].burst - 11_000.0).abs() < 1e-6);
        assert_eq!(
            s.sizes,
            [SizeCount {
                size: 1000,
                packets: 110
            }]
        );
    }
}
