//! Ranges of quantities: from one value to another, in equal steps or at any place between.

use std::fmt;

use spillgate_core::{Dur, Packets, Percent, Rate, Size, math, units};

/// A kind of quantities, in one base unit.
pub(crate) struct Kind {
    /// The base unit, as results name it; empty for plain numbers.
    pub(crate) unit: &'static str,
    /// A text in the base unit.
    pub(crate) read: fn(&str) -> Option<f64>,
    /// A number of base units as a text that `read` takes.
    write: fn(f64) -> String,
    /// Ten to this is the finest step.
    finest: i32,
}

/// Every kind; a text is of the first that can read it.
pub(crate) const KINDS: [Kind; 6] = [
    Kind {
        unit: "",
        read: |t| t.parse().ok().filter(|x: &f64| x.is_finite()),
        write: |x| x.to_string(),
        finest: -15,
    },
    Kind {
        unit: "b/s",
        read: |t| Some(units::parse_rate(t).ok()?.bps() as f64),
        write: |x| {
            let rate = Rate::from_bps(x as u64);
            rate.map_or_else(|| "0 b/s".to_owned(), |r| r.to_string())
        },
        finest: 0,
    },
    Kind {
        unit: "s",
        read: |t| Some(units::parse_dur(t).ok()?.as_secs_f64()),
        write: |x| Dur::from_secs_f64(x).to_string(),
        finest: -9,
    },
    Kind {
        unit: "B",
        read: |t| Some(units::parse_size(t).ok()? as f64),
        write: |x| Size(x as u64).to_string(),
        finest: 0,
    },
    Kind {
        unit: "packets",
        read: |t| Some(f64::from(units::parse_packets(t).ok()?)),
        write: |x| Packets(x as u32).to_string(),
        finest: 0,
    },
    Kind {
        unit: "ratio",
        read: |t| units::parse_percent(t).ok(),
        write: |x| Percent(x).to_string(),
        finest: -11,
    },
];

/// The values between two of one kind.
pub(crate) struct Range<'t> {
    kind: &'static Kind,
    finest: i32,
    /// As written, and in base units.
    from: (&'t str, f64),
    to: (&'t str, f64),
    by_ratio: bool,
}

/// Why there is no such range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoRange {
    /// The two are no quantities of one kind.
    Kinds,
    /// The first is not below the second.
    Order,
    /// Equal ratios begin above 0.
    Zero,
}

impl fmt::Display for NoRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kinds => "`from` and `to` are not two quantities of one kind",
            Self::Order => "`from` is not below `to`",
            Self::Zero => "a range by ratios begins above 0",
        })
    }
}

impl<'t> Range<'t> {
    /// The range between two texts. Between two whole numbers all values are whole.
    pub(crate) fn of(from: &'t str, to: &'t str, by_ratio: bool) -> Result<Self, NoRange> {
        let both = |kind: &'static Kind| Some((kind, (kind.read)(from)?, (kind.read)(to)?));
        let (kind, a, b) = KINDS.iter().find_map(both).ok_or(NoRange::Kinds)?;
        let whole = [from, to].iter().all(|t| t.parse::<i64>().is_ok());
        match () {
            () if a >= b => Err(NoRange::Order),
            () if by_ratio && a <= 0.0 => Err(NoRange::Zero),
            () => Ok(Self {
                kind,
                finest: if whole { 0 } else { kind.finest },
                from: (from, a),
                to: (to, b),
                by_ratio,
            }),
        }
    }

    /// The value at `place` (0 to 1) as a text, the same on every machine: rounded so that about
    /// `parts` values of the range differ.
    pub(crate) fn at(&self, place: f64, parts: f64) -> String {
        let ((from_text, from), (to_text, to)) = (self.from, self.to);
        if place <= 0.0 {
            return from_text.to_owned();
        }
        if place >= 1.0 {
            return to_text.to_owned();
        }
        let (value, slope) = if self.by_ratio {
            let log = math::ln(to / from);
            let value = from * math::exp(log * place);
            // Of a wide range three digits of each value are enough.
            (value, value * log.min(1.0))
        } else {
            (from + (to - from) * place, to - from)
        };
        let step = power_below(slope / parts).max(self.finest);
        (self.kind.write)(rounded(value, step).clamp(from, to))
    }

    /// So many values at equal steps; none if they are not all different.
    pub(crate) fn steps(&self, count: u32) -> Option<Vec<String>> {
        let last = f64::from(count.saturating_sub(1).max(1));
        let at = |i| self.at(f64::from(i) / last, 100.0 * last);
        let all: Vec<String> = (0..count).map(at).collect();
        all.windows(2).all(|w| w[0] != w[1]).then_some(all)
    }
}

/// The exponent of the largest power of ten up to `x`, from -15 to 18.
fn power_below(x: f64) -> i32 {
    (-15..=18).rev().find(|e| power(*e) <= x).unwrap_or(-15)
}

/// Ten to the `exponent`, rounded once: what the standard library computes differs by platform.
fn power(exponent: i32) -> f64 {
    let size = (0..exponent.abs()).fold(1.0, |p, _| p * 10.0);
    if exponent < 0 { 1.0 / size } else { size }
}

/// `x` in whole steps of ten to the `exponent`.
fn rounded(x: f64, exponent: i32) -> f64 {
    let size = power(exponent.abs());
    match exponent < 0 {
        true => (x * size).round() / size,
        false => (x / size).round() * size,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(from: &str, to: &str, by_ratio: bool, count: u32) -> Vec<String> {
        let range = Range::of(from, to, by_ratio).unwrap_or_else(|e| panic!("{from}: {e}"));
        range.steps(count).unwrap_or_default()
    }

    #[test]
    fn steps_are_equal_and_written_as_people_do() {
        let mbps = steps("5 Mb/s", "13000 kb/s", false, 5);
        assert_eq!(
            mbps,
            ["5 Mb/s", "7 Mb/s", "9 Mb/s", "11 Mb/s", "13000 kb/s"]
        );
        assert_eq!(steps("1", "10", false, 4), ["1", "4", "7", "10"]);
        assert_eq!(steps("1.0", "2", false, 4), ["1.0", "1.333", "1.667", "2"]);
        assert_eq!(
            steps("1 ms", "1 s", true, 4),
            ["1 ms", "10 ms", "100 ms", "1 s"]
        );
        assert_eq!(steps("10 %", "30 %", false, 3), ["10 %", "20 %", "30 %"]);
        assert_eq!(
            steps("1 packet", "4 packets", true, 3),
            ["1 packet", "2 packets", "4 packets"]
        );
        assert_eq!(steps("64 B", "1 kB", true, 3), ["64 B", "253 B", "1 kB"]);
        assert_eq!(steps("1", "3", false, 4), Vec::<String>::new());
    }

    #[test]
    fn two_values_that_make_no_range_are_told() {
        let error = |from, to, log| Range::of(from, to, log).err();
        assert_eq!(error("1 ms", "1 Mb/s", false), Some(NoRange::Kinds));
        assert_eq!(error("red", "green", false), Some(NoRange::Kinds));
        assert_eq!(error("2 ms", "2000 us", false), Some(NoRange::Order));
        assert_eq!(error("0 ms", "2 ms", true), Some(NoRange::Zero));
    }
}
