//! Quantities as people write them: a number and a unit, never a bare number.
//!
//! Prefixes are decimal (`k` 10³, `M` 10⁶, `G` 10⁹, `T` 10¹²) except the IEC
//! ones of sizes (`KiB` 2¹⁰ ...). `b` is a bit, `B` a byte: case matters.

use std::fmt;

use crate::Problem;
use crate::time::{Dur, PS_PER_SEC};

/// A bit rate in bits per second, at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// A rate in bits per second; none if 0.
    pub const fn from_bps(bps: u64) -> Option<Self> {
        if bps == 0 { None } else { Some(Self(bps)) }
    }

    /// Bits per second.
    pub const fn bps(self) -> u64 {
        self.0
    }

    /// Bytes per second.
    pub fn bytes_per_sec(self) -> f64 {
        self.0 as f64 / 8.0
    }

    /// How long `bytes` take at this rate, rounded down to a picosecond, but at least one: a
    /// server that takes no time would serve without end at one instant.
    #[inline]
    pub fn tx_time(self, bytes: u32) -> Dur {
        // 2^64 / (8 * 10^12) = 2.3 MB: above, the product needs 128 bits.
        const FITS: u32 = (u64::MAX / (8 * PS_PER_SEC)) as u32;
        let ps = if bytes <= FITS {
            u64::from(bytes) * (8 * PS_PER_SEC) / self.0
        } else {
            u64::try_from(u128::from(bytes) * u128::from(8 * PS_PER_SEC) / u128::from(self.0))
                .unwrap_or(u64::MAX)
        };
        Dur::from_ps(ps.max(1))
    }

    /// Bytes that fit into `d` at this rate, rounded down.
    pub fn bytes_in(self, d: Dur) -> u64 {
        let bits = u128::from(self.0) * u128::from(d.as_ps()) / u128::from(PS_PER_SEC);
        u64::try_from(bits / 8).unwrap_or(u64::MAX)
    }

    /// `fraction` of this rate, at least 1 bit per second.
    pub fn scaled(self, fraction: f64) -> Self {
        Self(((self.0 as f64 * fraction + 0.5) as u64).max(1))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = match self.0 {
            x if x >= 1_000_000_000_000 => (1_000_000_000_000_u64, "Tb/s"),
            x if x >= 1_000_000_000 => (1_000_000_000, "Gb/s"),
            x if x >= 1_000_000 => (1_000_000, "Mb/s"),
            x if x >= 1_000 => (1_000, "kb/s"),
            _ => (1, "b/s"),
        };
        write!(f, "{} {name}", self.0 as f64 / unit as f64)
    }
}

/// Splits a text into its number and its unit; the number must be finite.
pub fn split_number(text: &str) -> Result<(f64, &str), String> {
    let t = text.trim();
    let end = t
        .char_indices()
        .find(|&(i, c)| {
            let exponent_sign =
                (c == '+' || c == '-') && i > 0 && matches!(t.as_bytes()[i - 1], b'e' | b'E');
            let exponent = (c == 'e' || c == 'E')
                && t[i + 1..].starts_with(|d: char| d.is_ascii_digit() || d == '-' || d == '+');
            let sign = (c == '+' || c == '-') && i == 0;
            !(c.is_ascii_digit() || c == '.' || c == '_' || exponent || exponent_sign || sign)
        })
        .map_or(t.len(), |(i, _)| i);
    let digits = t[..end].replace('_', "");
    match digits.parse::<f64>() {
        Ok(n) if n.is_finite() => Ok((n, t[end..].trim())),
        _ => Err("this does not begin with a number".to_owned()),
    }
}

fn error(found: &str, message: impl Into<String>, hint: &str) -> Problem {
    Problem::new("", found, message, hint)
}

fn scaled(text: &str, units: &[(&str, f64)], hint: &str) -> Result<f64, Problem> {
    let (n, unit) = split_number(text).map_err(|p| error(text, p, hint))?;
    if unit.is_empty() {
        return Err(error(text, "the unit is missing", hint));
    }
    if n < 0.0 {
        return Err(error(text, "it must not be negative", hint));
    }
    if let Some((_, scale)) = units.iter().find(|(u, _)| same(u, unit)) {
        return Ok(n * scale);
    }
    let problem = format!("`{unit}` is not a unit that fits here");
    // `mb/s` may be megabits, or a slip for milli: it is asked, not guessed.
    match units.iter().find(|(u, _)| u.eq_ignore_ascii_case(unit)) {
        Some((near, _)) => Err(error(
            text,
            problem,
            &format!("did you mean `{near}`? {hint}"),
        )),
        None => Err(error(text, problem, hint)),
    }
}

/// Whether a unit is written so. The Greek mu (U+03BC) is the micro sign (U+00B5): Unicode says
/// that they are the same, keyboards have either.
fn same(unit: &str, written: &str) -> bool {
    unit == written || (unit.starts_with('\u{b5}') && written.strip_prefix('\u{3bc}') == Some("s"))
}

const RATE_HINT: &str = "write a rate such as 100 Mb/s, 64 kb/s, 1.5 Gb/s";
const RATE_UNITS: [(&str, f64); 24] = [
    ("b/s", 1.0),
    ("kb/s", 1e3),
    ("Mb/s", 1e6),
    ("Gb/s", 1e9),
    ("Tb/s", 1e12),
    ("bit/s", 1.0),
    ("kbit/s", 1e3),
    ("Mbit/s", 1e6),
    ("Gbit/s", 1e9),
    ("Tbit/s", 1e12),
    ("bps", 1.0),
    ("kbps", 1e3),
    ("Mbps", 1e6),
    ("Gbps", 1e9),
    ("bit", 1.0),
    ("kbit", 1e3),
    ("Mbit", 1e6),
    ("Gbit", 1e9),
    ("B/s", 8.0),
    ("kB/s", 8e3),
    ("MB/s", 8e6),
    ("GB/s", 8e9),
    ("Kb/s", 1e3),
    ("Kbps", 1e3),
];

/// Parses a bit rate; zero is refused.
pub fn parse_rate(text: &str) -> Result<Rate, Problem> {
    let bps = scaled(text, &RATE_UNITS, RATE_HINT)?;
    if bps > 1e15 {
        return Err(error(text, "it is above 1000 Tb/s", RATE_HINT));
    }
    if bps < 1.0 {
        return Err(error(text, "a rate must be at least 1 b/s", RATE_HINT));
    }
    Rate::from_bps((bps + 0.5) as u64)
        .ok_or_else(|| error(text, "a rate must be at least 1 b/s", RATE_HINT))
}

const DUR_HINT: &str = "write a time such as 20 ms, 1.5 s, 250 us, 2 min";
const DUR_UNITS: [(&str, f64); 7] = [
    ("s", 1.0),
    ("ms", 1e-3),
    ("us", 1e-6),
    ("µs", 1e-6),
    ("ns", 1e-9),
    ("min", 60.0),
    ("h", 3600.0),
];

/// The longest time that can be written: 100 days.
pub const MAX_DUR: Dur = Dur::from_secs(100 * 86_400);

/// Parses a length of time; zero is allowed, up to [`MAX_DUR`].
pub fn parse_dur(text: &str) -> Result<Dur, Problem> {
    let s = scaled(text, &DUR_UNITS, DUR_HINT)?;
    if s > MAX_DUR.as_secs_f64() {
        return Err(error(text, "it is above 100 days", DUR_HINT));
    }
    Ok(Dur::from_secs_f64(s))
}

const SIZE_HINT: &str = "write a size such as 1500 B, 64 kB, 2 MiB";
const SIZE_UNITS: [(&str, f64); 12] = [
    ("B", 1.0),
    ("byte", 1.0),
    ("bytes", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("b", 0.125),
    ("kb", 125.0),
    ("Mb", 125_000.0),
];

/// Parses a size in bytes; zero is allowed, up to 1 TB.
pub fn parse_size(text: &str) -> Result<u64, Problem> {
    let b = scaled(text, &SIZE_UNITS, SIZE_HINT)?;
    if b > 1e12 {
        return Err(error(text, "it is above 1 TB", SIZE_HINT));
    }
    Ok((b + 0.5) as u64)
}

const COUNT_UNITS: [(&str, f64); 4] =
    [("packets", 1.0), ("packet", 1.0), ("pkts", 1.0), ("p", 1.0)];

/// Whether a text is a number of packets, however many.
pub(crate) fn is_packets(text: &str) -> bool {
    split_number(text).is_ok_and(|(_, unit)| COUNT_UNITS.iter().any(|(u, _)| *u == unit))
}

/// Parses a number of packets.
pub fn parse_packets(text: &str) -> Result<u32, Problem> {
    const HINT: &str = "write a whole number of packets such as 64 packets";
    let n = scaled(text, &COUNT_UNITS, HINT)?;
    if n.fract() != 0.0 {
        return Err(error(text, "packets are whole", HINT));
    }
    if n > 4e9 {
        return Err(error(text, "it is above 4,000,000,000 packets", HINT));
    }
    Ok(n as u32)
}

/// Parses a percentage in 0..=100 as a fraction in 0..=1.
pub fn parse_percent(text: &str) -> Result<f64, Problem> {
    const HINT: &str = "write a percentage from 0 % to 100 %, such as 35 %";
    // Divided, which rounds once: 0.01 is not exact, and 35 * 0.01 is not 0.35.
    let f = scaled(text, &[("%", 1.0), ("percent", 1.0)], HINT)? / 100.0;
    if f > 1.0 {
        return Err(error(text, "it is above 100 %", HINT));
    }
    Ok(f)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rates_know_bits_from_bytes() {
        assert_eq!(parse_rate("100 Mb/s").map(Rate::bps), Ok(100_000_000));
        assert_eq!(parse_rate("10MB/s").map(Rate::bps), Ok(80_000_000));
        assert_eq!(parse_rate("1.5 Mb/s").map(Rate::bps), Ok(1_500_000));
        assert_eq!(parse_rate("1e3 kb/s").map(Rate::bps), Ok(1_000_000));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let problem = |t| parse_rate(t).unwrap_err().message;
        assert_eq!(problem("100"), "the unit is missing");
        assert_eq!(problem("0 Mb/s"), "a rate must be at least 1 b/s");
        assert_eq!(problem("0.5 b/s"), "a rate must be at least 1 b/s");
        let hint = parse_rate("10 mb/s").unwrap_err().hint;
        assert!(
            hint.starts_with("did you mean `Mb/s`? write a rate"),
            "{hint}"
        );
        // The micro sign and the Greek letter.
        assert_eq!(parse_dur("3 \u{b5}s"), parse_dur("3 us"));
        assert_eq!(parse_dur("3 \u{3bc}s"), parse_dur("3 us"));
        let packets = |t| parse_packets(t).unwrap_err().message;
        assert_eq!(packets("1.5 packets"), "packets are whole");
        assert_eq!(packets("1e10 packets"), "it is above 4,000,000,000 packets");
        assert_eq!(problem("-3 Mb/s"), "it must not be negative");
        assert_eq!(problem("20 ms"), "`ms` is not a unit that fits here");
        assert_eq!(problem("fast"), "this does not begin with a number");
        assert!(parse_percent("101 %").is_err());
        // The nearest binary64, as others who divide have it.
        for n in 0..=100 {
            assert_eq!(parse_percent(&format!("{n} %")), Ok(f64::from(n) / 100.0));
        }
    }

    #[test]
    fn transmission_times_are_exact() {
        let r = Rate::from_bps(100_000_000_000).unwrap();
        assert_eq!(r.tx_time(64).as_ps(), 5_120);
        let slow = Rate::from_bps(1).unwrap();
        assert_eq!(slow.tx_time(2_000_000).as_ps(), 16_000_000 * PS_PER_SEC);
        assert_eq!(slow.tx_time(u32::MAX), Dur::MAX);
        // 20 B at 1000 Tb/s take 0.16 ps.
        let fast = parse_rate("1000 Tb/s").unwrap();
        assert_eq!(fast.tx_time(20).as_ps(), 1);
    }

    proptest! {
        #[test]
        fn displayed_rates_parse_back(bps in 1_u64..1_000_000_000_000) {
            let shown = Rate(bps).to_string();
            let back = parse_rate(&shown).unwrap().bps();
            // Display goes through binary64: 53 bits.
            prop_assert!(back.abs_diff(bps) <= 1 + bps / (1 << 50), "{shown}");
        }

        #[test]
        fn no_text_panics(text in "\\PC*") {
            let _ = parse_rate(&text);
            let _ = parse_dur(&text);
            let _ = parse_size(&text);
            let _ = parse_percent(&text);
            let _ = parse_packets(&text);
        }
    }
}
