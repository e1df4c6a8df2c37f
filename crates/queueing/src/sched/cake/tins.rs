//! Tins of CAKE: which code points go into each, and its share of the bandwidth.
//!
//! Source: `tc-cake(8)`, and the behavior of Linux 6.18.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dscp, Rate};

/// How CAKE sorts packets into tins by their code points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CakeTins {
    /// One tin.
    Besteffort,
    /// A tin for each IP precedence, 7 first; each has 7/8 of the bandwidth of the one before.
    Precedence,
    /// Bulk (LE, CS1) up to 1/16 of the bandwidth, best effort, and voice (CS6, CS7, EF,
    /// VOICE-ADMIT, the old minimize-delay) first up to 1/4 of it.
    #[default]
    Diffserv3,
    /// Bulk (LE, CS1) up to 1/16 of the bandwidth, best effort, video (CS2, CS3, AF2x, AF3x, AF4x,
    /// minimize-delay) first up to 1/2 of it, and voice (CS4 to CS7, EF, VOICE-ADMIT) before that
    /// up to 1/4.
    Diffserv4,
    /// Eight tins from LE up to network control, each with 7/8 of the bandwidth of the one before.
    Diffserv8,
}

/// A tin: its name, its threshold, and its weight where nothing is shaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TinShare {
    pub(super) name: &'static str,
    /// Eighths of the bandwidth, that many times: (7/8)^n; or a power of 1/2.
    share: Part,
    /// Bytes in a turn of deficit round robin between tins.
    pub(super) quantum: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The bandwidth over this power of two.
    Halved(u32),
    /// The bandwidth by 7/8, that many times.
    Eighths(u32),
}

impl TinShare {
    /// The rate up to which the tin goes before those below it.
    pub(super) fn threshold(&self, bandwidth: Rate) -> Rate {
        let bps = match self.share {
            Part::Halved(n) => bandwidth.bps() >> n,
            Part::Eighths(n) => (0..n).fold(bandwidth.bps(), |r, _| r / 8 * 7 + r % 8 * 7 / 8),
        };
        // Linux: at least 64 B/s.
        Rate::from_bps(bps.max(512)).unwrap_or(bandwidth)
    }
}

const fn halved(name: &'static str, n: u32) -> TinShare {
    TinShare {
        name,
        share: Part::Halved(n),
        quantum: 1024 >> n,
    }
}

const fn eighths(names: [&'static str; 8]) -> [TinShare; 8] {
    let mut all = [halved("", 0); 8];
    let (mut n, mut quantum) = (0, 256);
    while n < 8 {
        all[n] = TinShare {
            name: names[n],
            share: Part::Eighths(n as u32),
            quantum,
        };
        quantum = quantum * 7 / 8;
        n += 1;
    }
    all
}

static BESTEFFORT: [TinShare; 1] = [TinShare {
    quantum: 65_535,
    ..halved("best-effort", 0)
}];
static DIFFSERV3: [TinShare; 3] = [
    halved("best-effort", 0),
    halved("bulk", 4),
    halved("voice", 2),
];
static DIFFSERV4: [TinShare; 4] = [
    halved("best-effort", 0),
    halved("bulk", 4),
    halved("video", 1),
    halved("voice", 2),
];
static PRECEDENCE: [TinShare; 8] = eighths([
    "precedence-0",
    "precedence-1",
    "precedence-2",
    "precedence-3",
    "precedence-4",
    "precedence-5",
    "precedence-6",
    "precedence-7",
]);
static DIFFSERV8: [TinShare; 8] = eighths([
    "tin-0", "tin-1", "tin-2", "tin-3", "tin-4", "tin-5", "tin-6", "tin-7",
]);

impl CakeTins {
    /// Its tins: of two that are below their thresholds the later one goes first.
    pub(super) fn shares(self) -> &'static [TinShare] {
        match self {
            Self::Besteffort => &BESTEFFORT,
            Self::Precedence => &PRECEDENCE,
            Self::Diffserv3 => &DIFFSERV3,
            Self::Diffserv4 => &DIFFSERV4,
            Self::Diffserv8 => &DIFFSERV8,
        }
    }

    /// The names of its tins.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        self.shares().iter().map(|t| t.name)
    }

    /// The place of the tin for a code point.
    pub fn of(self, dscp: Dscp) -> usize {
        let value = usize::from(dscp.value() & 63);
        // Class selectors and assured forwarding have even code points.
        let class = value / 8;
        match self {
            Self::Besteffort => 0,
            Self::Precedence => class,
            Self::Diffserv3 => match value {
                1 | 8 => 1,
                4 | 44 | 46 | 48 | 56 => 2,
                _ => 0,
            },
            Self::Diffserv4 => match value {
                1 | 8 => 1,
                32 | 40 | 44 | 46 | 48 | 56 => 3,
                4 => 2,
                16..=38 if value % 2 == 0 => 2,
                _ => 0,
            },
            Self::Diffserv8 => match value {
                1 => 0,
                2 => 1,
                8..=14 if value % 2 == 0 => 1,
                24..=30 | 34..=38 if value % 2 == 0 => 3,
                4 => 4,
                18..=22 if value % 2 == 0 => 4,
                16 => 5,
                32 | 40 | 44 | 46 => 6,
                48 | 56 => 7,
                _ => 2,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(tins: CakeTins) -> Vec<Vec<u8>> {
        let mut all = vec![Vec::new(); tins.shares().len()];
        for value in 0..64 {
            all[tins.of(Dscp::new(value).unwrap())].push(value);
        }
        all
    }

    /// As `tc-cake(8)` and the kernel sort code points.
    #[test]
    fn code_points_are_sorted_as_linux_does() {
        let three = sorted(CakeTins::Diffserv3);
        assert_eq!(three[1..], [vec![1, 8], vec![4, 44, 46, 48, 56]]);
        let four = sorted(CakeTins::Diffserv4);
        let video = vec![4, 16, 18, 20, 22, 24, 26, 28, 30, 34, 36, 38];
        assert_eq!(four[1..], [vec![1, 8], video, vec![32, 40, 44, 46, 48, 56]]);
        let eight = sorted(CakeTins::Diffserv8);
        assert_eq!(eight[0], [1]);
        assert_eq!(eight[1], [2, 8, 10, 12, 14]);
        assert_eq!(eight[3], [24, 26, 28, 30, 34, 36, 38]);
        assert_eq!(eight[4], [4, 18, 20, 22]);
        assert_eq!(eight[5..], [vec![16], vec![32, 40, 44, 46], vec![48, 56]]);
        assert_eq!(sorted(CakeTins::Precedence)[5][0], 40);
        assert_eq!(sorted(CakeTins::Besteffort)[0].len(), 64);
    }

    #[test]
    fn thresholds_and_weights_are_those_of_linux() {
        let rate = Rate::from_bps(16_000_000).unwrap();
        let of = |tins: CakeTins| -> Vec<(u64, i64)> {
            let all = tins.shares().iter();
            all.map(|t| (t.threshold(rate).bps(), t.quantum)).collect()
        };
        assert_eq!(of(CakeTins::Besteffort), [(16_000_000, 65_535)]);
        assert_eq!(
            of(CakeTins::Diffserv4),
            [
                (16_000_000, 1024),
                (1_000_000, 64),
                (8_000_000, 512),
                (4_000_000, 256)
            ]
        );
        assert_eq!(of(CakeTins::Diffserv3)[2], (4_000_000, 256));
        let eight = of(CakeTins::Diffserv8);
        assert_eq!(eight[1], (14_000_000, 224));
        assert_eq!(eight[7].1, 98);
        assert_eq!(of(CakeTins::Precedence), eight);
    }
}
