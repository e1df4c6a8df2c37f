//! Rates, sizes and times as `tc` reads them (tc(8), PARAMETERS).

use spillgate_core::{Dur, Rate};

/// A number and the letters behind it, in lower case.
fn split(text: &str) -> Option<(f64, String)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let number: f64 = number.parse().ok()?;
    number
        .is_finite()
        .then(|| (number, unit.to_ascii_lowercase()))
}

/// A rate: bits a second without a unit, bytes a second with `bps`; `k`, `m`, `g`, `t` by 1000,
/// `ki` and so on by 1024.
pub(super) fn rate(text: &str) -> Option<Rate> {
    let (number, unit) = split(text)?;
    let (prefix, bits) = match (unit.strip_suffix("bit"), unit.strip_suffix("bps")) {
        (Some(p), _) => (p, 1.0),
        (_, Some(p)) => (p, 8.0),
        (None, None) if unit.is_empty() => ("", 1.0),
        (None, None) => return None,
    };
    let bps = (number * scale(prefix, 1000.0)? * bits).round();
    (1.0..=1e15).contains(&bps).then_some(())?;
    Rate::from_bps(bps as u64)
}

fn scale(prefix: &str, base: f64) -> Option<f64> {
    let (letter, base) = match prefix.strip_suffix('i') {
        Some(letter) => (letter, 1024.0),
        None => (prefix, base),
    };
    let power = match letter {
        "" if !prefix.ends_with('i') => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return None,
    };
    Some((0..power).fold(1.0, |product: f64, _| product * base))
}

/// Bytes: `k`, `m`, `g` by 1024, alone or before `b`; before `bit` they count bits.
pub(super) fn size(text: &str) -> Option<u64> {
    let (number, unit) = split(text)?;
    let (prefix, bytes) = match (unit.strip_suffix("bit"), unit.strip_suffix('b')) {
        (Some(p), _) => (p, 0.125),
        (_, Some(p)) => (p, 1.0),
        (None, None) => (unit.as_str(), 1.0),
    };
    let found = (number * scale(prefix, 1024.0)? * bytes).floor();
    (0.0..=1e15).contains(&found).then_some(found as u64)
}

/// A time: microseconds without a unit.
pub(super) fn time(text: &str) -> Option<Dur> {
    let (number, unit) = split(text)?;
    let ps = match unit.as_str() {
        "s" | "sec" | "secs" => 1e12,
        "ms" | "msec" | "msecs" => 1e9,
        "" | "us" | "usec" | "usecs" => 1e6,
        "ns" | "nsec" | "nsecs" => 1e3,
        _ => return None,
    };
    let found = (number * ps).round();
    (found <= 1e17).then(|| Dur::from_ps(found as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_of_tc() {
        let bps = |t| rate(t).map(Rate::bps);
        assert_eq!(bps("10Mbit"), Some(10_000_000));
        assert_eq!(bps("1.5mbit"), Some(1_500_000));
        assert_eq!(bps("100kbps"), Some(800_000));
        assert_eq!(bps("1Kibit"), Some(1024));
        assert_eq!(bps("12"), Some(12));
        assert_eq!(bps("10 mbit"), None);
        assert_eq!(bps("10m"), None);
        assert_eq!(bps("0"), None);
        assert_eq!(size("15k"), Some(15 * 1024));
        assert_eq!(size("1514b"), Some(1514));
        assert_eq!(size("2kb"), Some(2048));
        assert_eq!(size("8kbit"), Some(1024));
        assert_eq!(size("x"), None);
        assert_eq!(time("5ms"), Some(Dur::from_ms(5)));
        assert_eq!(time("100"), Some(Dur::from_us(100)));
        assert_eq!(time("0.5s"), Some(Dur::from_ms(500)));
        assert_eq!(time("5min"), None);
    }
}
