//! Numbers for people: units that fit, prefixes and sensible digits.
//!
//! Values are in base units everywhere (seconds, bits per second, ratios, packets, bytes); only
//! here they become text. NaN stands for a value that is undefined and is shown as a dash.

use std::fmt::Write;

/// A unit of display.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale<'a> {
    /// From the base unit to it.
    pub factor: f64,
    /// Its name; empty for plain numbers.
    pub unit: &'a str,
}

impl Scale<'_> {
    /// The same for a difference of two values: of 15 and 17 % it is 2 points, not 2 %.
    #[must_use]
    pub fn of_difference(self) -> Self {
        let unit = match self.unit {
            "%" => "% points",
            unit => unit,
        };
        Self { unit, ..self }
    }
}

/// Significant digits of a mean; more are noise to a reader.
const SIGNIFICANT: i32 = 4;

/// The most decimals that are shown.
const MOST: i32 = 6;

/// What stands for a value that is undefined.
const NONE: &str = "–";

/// The units in which values of a base unit are shown, from the largest, with the factor to each;
/// none of a unit that has no others. Numbers of unit `score` and `factor` are shown without one.
fn units(base: &str) -> &'static [(f64, &'static str)] {
    match base {
        "s" => &[(1.0, "s"), (1e3, "ms"), (1e6, "µs"), (1e9, "ns")],
        "b/s" => &[
            (1e-12, "Tb/s"),
            (1e-9, "Gb/s"),
            (1e-6, "Mb/s"),
            (1e-3, "kb/s"),
            (1.0, "b/s"),
        ],
        "B" => &[(1e-9, "GB"), (1e-6, "MB"), (1e-3, "kB"), (1.0, "B")],
        "1" => &[(100.0, "%")],
        "score" | "factor" => &[(1.0, "")],
        _ => &[],
    }
}

/// The unit that suits the largest of the values, given in the base unit; those that are not finite
/// do not count.
pub fn fitting(base: &str, values: impl IntoIterator<Item = f64>) -> Scale<'_> {
    let top = largest(values);
    let family = units(base);
    // The unit that is usual for zeros: ms, Mb/s, B. A shade below 1 keeps 999.9999 of rounding
    // from choosing the smaller unit.
    let suits = |&&(factor, unit): &&(f64, &str)| match top {
        0.0 => matches!(unit, "ms" | "Mb/s" | "B"),
        _ => top * factor >= 0.9999,
    };
    let (factor, unit) = *family
        .iter()
        .find(suits)
        .or_else(|| family.last())
        .unwrap_or(&(1.0, base));
    Scale { factor, unit }
}

fn largest(values: impl IntoIterator<Item = f64>) -> f64 {
    let finite = values.into_iter().filter(|v| v.is_finite());
    finite.map(f64::abs).fold(0.0, f64::max)
}

/// The leading digits, from 1 to below 10, and the decimal exponent of a positive number.
fn parts(x: f64) -> (f64, i32) {
    let text = format!("{x:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (digits.parse().unwrap_or(1.0), exponent.parse().unwrap_or(0))
}

/// How many decimals a mean deserves whose interval has this half-width, 0 if it has none: the
/// half-width keeps one significant digit, two if it begins with 1; the mean never more than
/// [`SIGNIFICANT`].
fn decimals(mean: f64, half: f64) -> i32 {
    let most = match mean == 0.0 {
        true => 2,
        false => (SIGNIFICANT - 1 - parts(mean.abs()).1).max(0),
    };
    let deserved = if half > 0.0 {
        let (leading, exponent) = parts(half);
        (i32::from(leading < 1.95) - exponent).max(0)
    } else {
        most
    };
    MOST.min(most).min(deserved)
}

/// Half a unit of the last of some decimals: what is below is not seen.
fn unseen(decimals: i32) -> f64 {
    const HALVES: [f64; MOST as usize + 1] = [0.5, 0.05, 0.005, 0.0005, 0.5e-4, 0.5e-5, 0.5e-6];
    HALVES[decimals.clamp(0, MOST) as usize]
}

fn fixed(x: f64, decimals: i32) -> String {
    format!("{x:.*}", decimals.max(0) as usize)
}

fn without_zeros(mut text: String) -> String {
    if text.contains('.') {
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
    }
    text
}

/// The half-width in the display unit; 0 where it is unknown.
fn width(half: f64, factor: f64) -> f64 {
    if half.is_finite() { half * factor } else { 0.0 }
}

/// A mean with its half-width in the display unit, which is not named. A half-width below the last
/// digit of the mean is not shown, nor is any without `interval`.
pub fn number(mean: f64, half: f64, factor: f64, interval: bool) -> String {
    if !mean.is_finite() {
        return NONE.to_owned();
    }
    let (value, width) = (mean * factor, width(half, factor));
    let decimals = decimals(value, width);
    let mut shown = fixed(value, decimals);
    if width >= unseen(decimals) {
        if interval {
            let _ = write!(shown, " ±{}", fixed(width, decimals));
        }
        return shown;
    }
    match without_zeros(shown).as_str() {
        "-0" => "0".to_owned(),
        text => text.to_owned(),
    }
}

/// Decimals that suit a whole column: the largest value gets [`SIGNIFICANT`] digits.
pub fn column(factor: f64, values: impl IntoIterator<Item = f64>) -> i32 {
    decimals(largest(values) * factor, 0.0).min(3)
}

/// A value of a column whose decimals are given. A value too small for the column is shown as such,
/// so that `0` means zero.
pub fn cell(mean: f64, half: f64, factor: f64, decimals: i32, interval: bool) -> String {
    if !mean.is_finite() {
        return NONE.to_owned();
    }
    if mean == 0.0 && (half == 0.0 || half.is_nan()) {
        return "0".to_owned();
    }
    let (value, width, unseen) = (mean * factor, width(half, factor), unseen(decimals));
    let mut shown = match value > 0.0 && value < unseen {
        true => format!("<{}", fixed(2.0 * unseen, decimals)),
        false => fixed(value, decimals),
    };
    if interval && width >= unseen {
        let _ = write!(shown, " ±{}", fixed(width, decimals));
    }
    shown
}

/// A value with a fitting unit.
///
/// ```
/// use spillgate_core::show::value;
/// assert_eq!(value(0.02, "s"), "20 ms");
/// assert_eq!(value(0.001, "1"), "0.1 %");
/// ```
pub fn value(value: f64, base: &str) -> String {
    with_interval(value, f64::NAN, base)
}

/// A mean with its half-width and a fitting unit.
pub fn with_interval(mean: f64, half: f64, base: &str) -> String {
    if mean.is_nan() {
        return NONE.to_owned();
    }
    if mean.is_infinite() {
        return if mean > 0.0 { "∞" } else { "−∞" }.to_owned();
    }
    let scale = fitting(base, [mean]);
    let shown = number(mean, half, scale.factor, true);
    format!("{shown} {}", scale.unit).trim_end().to_owned()
}

/// What something cannot exceed, as text of four digits: the last is rounded up, so that it cannot
/// exceed what is shown either.
pub fn ceiling(x: f64, base: &str) -> String {
    if x.is_nan() || x <= 0.0 {
        return value(x, base);
    }
    let (_, exponent) = parts(x);
    let step = format!("1e{}", exponent + 1 - SIGNIFICANT).parse();
    let step: f64 = step.unwrap_or(x);
    // A whole number of steps may be a little more or less in binary.
    value((x / step - 1e-9).ceil() * step, base)
}

/// A value of three digits with a fitting unit; a share that would not be seen is shown as such.
pub fn rough(x: f64, base: &str) -> String {
    match base == "1" && x > 0.0 && x < 5e-7 {
        true => "<0.0001 %".to_owned(),
        false => value(rounded(x, 3), base),
    }
}

/// A number without a unit, of about four digits.
pub fn plain(x: f64) -> String {
    number(x, f64::NAN, 1.0, false)
}

/// A number without a unit, of three digits and all before the point.
pub fn rough_plain(x: f64) -> String {
    plain(if x.abs() < 1e3 { rounded(x, 3) } else { x })
}

/// A number rounded to some significant digits.
pub fn rounded(x: f64, digits: usize) -> f64 {
    let text = format!("{x:.*e}", digits.saturating_sub(1));
    text.parse().unwrap_or(x)
}

/// Seconds rounded up to two digits, 0 for those below.
///
/// ```
/// use spillgate_core::show::rounded_up;
/// assert_eq!([12.31, 0.2, 0.0].map(rounded_up), [13.0, 0.2, 0.0]);
/// ```
pub fn rounded_up(seconds: f64) -> f64 {
    if seconds.is_nan() || seconds <= 0.0 {
        return 0.0;
    }
    let (_, exponent) = parts(seconds);
    let decimal = |text: String| text.parse::<f64>().unwrap_or(seconds);
    let unit = decimal(format!("1e{}", exponent - 1));
    // What a picosecond is off must not cost a unit.
    decimal(format!("{:.12}", (seconds / unit - 1e-6).ceil() * unit))
}

/// A number of some significant digits in the shortest form, as `%g` of C has it: `0.25`, `40`,
/// `1e+06`.
pub fn general(x: f64, digits: usize) -> String {
    if !x.is_finite() {
        return NONE.to_owned();
    }
    let text = format!("{x:.*e}", digits.saturating_sub(1));
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits = digits as i32;
    if (-4..digits).contains(&exponent) {
        return without_zeros(fixed(x, digits - 1 - exponent));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    let mantissa = without_zeros(mantissa.to_owned());
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

/// A whole number with commas between thousands.
pub fn whole(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// A mean number of things of about six digits, with commas between thousands.
pub fn count(n: f64) -> String {
    if n >= 999_999.5 {
        return whole(n.round() as u64);
    }
    let text = general(n, 6);
    match text.split_once('.') {
        _ if n < 1_000.0 => text,
        Some((whole_part, decimals)) => {
            format!("{}.{decimals}", whole(whole_part.parse().unwrap_or(0)))
        }
        None => whole(text.parse().unwrap_or(0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `base mean half factor decimals`, then what each function says of it:
    /// `value | number | cell | rounded general`.
    const VECTORS: &str = include_str!("show/vectors.txt");

    #[test]
    fn texts_of_many_values() {
        let mut seen = 0;
        for line in VECTORS.lines().filter(|l| !l.starts_with('#')) {
            let (given, want) = line.split_once(" => ").unwrap();
            let given: Vec<&str> = given.split(' ').collect();
            let [mean, half, factor] = [1, 2, 3].map(|i| given[i].parse::<f64>().unwrap());
            let places = given[4].parse().unwrap();
            let said = [
                value(mean, given[0]),
                number(mean, half, factor, true),
                cell(mean, half, factor, places, true),
                general(mean, 3),
                general(mean, 6),
            ];
            assert_eq!(said.join(" | "), want, "{line}");
            seen += 1;
        }
        assert!(seen > 250);
    }

    #[test]
    fn a_ceiling_is_rounded_up_and_no_further() {
        let said = |x| ceiling(x, "s");
        assert_eq!(said(0.06697979798), "66.98 ms");
        assert_eq!(said(0.066970001), "66.98 ms");
        assert_eq!(said(0.0662), "66.2 ms");
        assert_eq!(said(9.999_500_1), "10 s");
        assert_eq!(
            [said(0.0), said(f64::NAN)],
            [value(0.0, "s"), NONE.to_owned()]
        );
        assert_eq!(ceiling(75_000.0, "B"), "75 kB");
        // Whatever is shown, as many digits read back are no less.
        for n in 1..2000 {
            let x = f64::from(n) * 1.000_37e-5;
            let text = said(x);
            let (number, unit) = text.split_once(' ').unwrap();
            let scale = if unit == "µs" { 1e-6 } else { 1e-3 };
            let shown = number.parse::<f64>().unwrap() * scale;
            assert!(
                shown >= x * (1.0 - 1e-9) && shown <= x * 1.001,
                "{x}: {text}"
            );
        }
    }

    #[test]
    fn whole_numbers_and_rough_ones() {
        assert_eq!(
            [0, 999, 1_000, 1_234_567].map(whole),
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!(
            [0.0, 0.5, 12.0, 999.25, 1_234.5, 12_345.678, 1_234_567.0].map(count),
            [
                "0",
                "0.5",
                "12",
                "999.25",
                "1,234.5",
                "12,345.7",
                "1,234,567"
            ]
        );
        assert_eq!(
            [0.0, 1e-8, 0.123_45, 1.0].map(|x| rough(x, "1")),
            ["0 %", "<0.0001 %", "12.3 %", "100 %"]
        );
    }
}
