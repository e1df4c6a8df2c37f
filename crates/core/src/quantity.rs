//! Quantities in scenario files: serde and JSON Schema for the types of
//! [`crate::units`] and [`crate::time`], all written as text with a unit.

use std::fmt;

use crate::Problem;
use crate::overhead::{Overhead, parse_overhead};
use crate::textual;
use crate::time::Dur;
use crate::units::{
    Rate, is_packets, parse_dur, parse_packets, parse_percent, parse_rate, parse_size, split_number,
};

/// A size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(pub u64);

/// A fraction in 0..=1, written as a percentage.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Percent(pub f64);

/// A number of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Packets(pub u32);

/// A rate that may be 0: that of a server that stands still.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateOrZero(pub Option<Rate>);

impl RateOrZero {
    /// Bits per second.
    pub fn bps(self) -> u64 {
        self.0.map_or(0, Rate::bps)
    }
}

/// A rate, or a percentage of the rate of what contains it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RateOrPercent {
    /// An absolute rate.
    Rate(Rate),
    /// A fraction of the enclosing rate, 0..=1.
    Percent(Percent),
}

impl RateOrPercent {
    /// The rate meant, `whole` being the enclosing one.
    pub fn of(self, whole: Rate) -> Rate {
        match self {
            Self::Rate(r) => r,
            Self::Percent(p) => whole.scaled(p.0),
        }
    }
}

/// A queue limit in packets, in bytes, or in time at the queue's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Waiting packets.
    Packets(u32),
    /// Waiting bytes.
    Bytes(u64),
    /// Waiting time: bytes at the rate that the queue is guaranteed.
    Time(Dur),
}

/// The depth of a token bucket: bytes, or what its rate brings in a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Burst {
    /// So many bytes.
    Bytes(u64),
    /// The bytes that the bucket's rate brings in this time.
    Time(Dur),
}

impl Burst {
    /// The depth in bytes of a bucket that fills at `rate`.
    pub fn bytes(self, rate: Rate) -> u64 {
        match self {
            Self::Bytes(n) => n,
            Self::Time(t) => rate.bytes_in(t),
        }
    }
}

/// Reads a rate such as `12 Mb/s` or `0 b/s`.
///
/// # Errors
/// Those of [`parse_rate`], but for a rate of 0.
pub fn parse_rate_or_zero(text: &str) -> Result<RateOrZero, Problem> {
    let (number, unit) = split_number(text).unwrap_or((1.0, ""));
    if number != 0.0 {
        return parse_rate(text).map(|r| RateOrZero(Some(r)));
    }
    // Of a rate of 1 the unit is right or wrong, as of this one.
    parse_rate(&format!("1 {unit}"))
        .map(|_| RateOrZero(None))
        .map_err(|e| Problem {
            found: text.to_owned(),
            ..e
        })
}

fn parse_rate_or_percent(text: &str) -> Result<RateOrPercent, Problem> {
    if text.contains('%') || text.contains("percent") {
        parse_percent(text).map(|p| RateOrPercent::Percent(Percent(p)))
    } else {
        parse_rate(text).map(RateOrPercent::Rate).map_err(|mut e| {
            e.hint.push_str(", or a percentage such as 35 %");
            e
        })
    }
}

fn parse_limit(text: &str) -> Result<Limit, Problem> {
    if is_packets(text) {
        return parse_packets(text).map(Limit::Packets).map_err(|mut e| {
            e.hint = "write a limit such as 64 packets, 96 kB or 20 ms".to_owned();
            e
        });
    }
    parse_packets(text)
        .map(Limit::Packets)
        .or_else(|_| parse_size(text).map(Limit::Bytes))
        .or_else(|_| parse_dur(text).map(Limit::Time))
        .map_err(|mut e| {
            e.hint = "write a limit such as 64 packets, 96 kB or 20 ms".to_owned();
            if !e.message.contains("missing") && !e.message.contains("negative") {
                let unit = text
                    .trim()
                    .trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
                e.message = format!("`{}` is not a unit that fits here", unit.trim());
            }
            e
        })
}

fn parse_burst(text: &str) -> Result<Burst, Problem> {
    parse_size(text)
        .map(Burst::Bytes)
        .or_else(|_| parse_dur(text).map(Burst::Time))
        .map_err(|mut e| {
            e.hint = "write a burst such as 8000 B, 64 kB or 20 ms".to_owned();
            e
        })
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B", self.0)
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Rounded to 10^-9 %, so that 0.35 shows as 35 and not as 35.000000000000004.
        write!(f, "{} %", (self.0 * 1e11).round() / 1e9)
    }
}

impl fmt::Display for RateOrZero {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(r) => r.fmt(f),
            None => f.write_str("0 b/s"),
        }
    }
}

impl fmt::Display for RateOrPercent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rate(r) => r.fmt(f),
            Self::Percent(p) => p.fmt(f),
        }
    }
}

impl fmt::Display for Packets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1 => f.write_str("1 packet"),
            n => write!(f, "{n} packets"),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packets(n) => write!(f, "{n} packets"),
            Self::Bytes(n) => write!(f, "{n} B"),
            Self::Time(d) => d.fmt(f),
        }
    }
}

impl fmt::Display for Burst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(n) => write!(f, "{n} B"),
            Self::Time(d) => d.fmt(f),
        }
    }
}

textual!(
    Rate,
    "Rate",
    "a bit rate with its unit",
    parse_rate,
    {
        "type": "string",
        "pattern": r"^\s*[0-9][0-9_.eE+-]*\s*([kKMGT]?b(it)?/s|[kKMGT]?bps|[kKMGT]?bit|[kMG]?B/s)\s*$",
        "examples": ["100 Mb/s", "64 kb/s"]
    }
);
textual!(
    RateOrZero,
    "RateOrZero",
    "a bit rate with its unit, perhaps 0 b/s",
    parse_rate_or_zero,
    {
        "type": "string",
        "pattern": r"^\s*[0-9][0-9_.eE+-]*\s*([kKMGT]?b(it)?/s|[kKMGT]?bps|[kKMGT]?bit|[kMG]?B/s)\s*$",
        "examples": ["12 Mb/s", "0 b/s"]
    }
);
textual!(
    Dur,
    "Duration",
    "a length of time with its unit",
    parse_dur,
    {
        "type": "string",
        "pattern": r"^\s*[0-9][0-9_.eE+-]*\s*(s|ms|us|µs|μs|ns|min|h)\s*$",
        "examples": ["20 ms", "60 s"]
    }
);
textual!(
    Size,
    "Size",
    "a size with its unit",
    |t: &str| parse_size(t).map(Size),
    {
        "type": "string",
        "pattern": r"^\s*[0-9][0-9_.eE+-]*\s*([kMG]?B|bytes?|[KMG]iB|[kM]?b)\s*$",
        "examples": ["1500 B", "64 kB"]
    }
);
textual!(
    Packets,
    "Packets",
    "a number of packets",
    |t: &str| parse_packets(t).map(Packets),
    {
        "type": "string",
        "pattern": r"^\s*[0-9][0-9_.eE+-]*\s*(packets?|pkts|p)\s*$",
        "examples": ["1 packet", "64 packets"]
    }
);
textual!(
    Percent,
    "Percent",
    "a percentage from 0 % to 100 %",
    |t: &str| parse_percent(t).map(Percent),
    {
        "type": "string",
        "pattern": r"^\s*[0-9][0-9_.eE+-]*\s*(%|percent)\s*$",
        "examples": ["35 %"]
    }
);
textual!(
    RateOrPercent,
    "RateOrPercent",
    "a bit rate, or a percentage of the enclosing rate",
    parse_rate_or_percent,
    {
        "type": "string",
        "pattern": r"^\s*[0-9][0-9_.eE+-]*\s*([kKMGT]?b(it)?/s|[kKMGT]?bps|[kKMGT]?bit|[kMG]?B/s|%|percent)\s*$",
        "examples": ["15 Mb/s", "35 %"]
    }
);
textual!(
    Limit,
    "Limit",
    "a queue limit in packets, bytes or time",
    parse_limit,
    {
        "type": "string",
        "pattern": r"^\s*[0-9][0-9_.eE+-]*\s*(packets?|pkts|p|[kMG]?B|bytes?|[KMG]iB|s|ms|us|µs|μs|ns)\s*$",
        "examples": ["64 packets", "96 kB", "20 ms"]
    }
);
textual!(
    Burst,
    "Burst",
    "a burst in bytes, or in time at the rate of its bucket",
    parse_burst,
    {
        "type": "string",
        "pattern": r"^\s*[0-9][0-9_.eE+-]*\s*([kMG]?B|bytes?|[KMG]iB|[kM]?b|s|ms|us|µs|μs|ns)\s*$",
        "examples": ["8000 B", "20 ms"]
    }
);
textual!(
    Overhead,
    "Overhead",
    "what the link adds to a packet: bytes, or keywords in a row",
    parse_overhead,
    {
        "type": "string",
        "pattern": crate::overhead::words::pattern(),
        "examples": [
        "18 B",
        "ethernet",
        "pppoe-ptm ether-vlan",
        "overhead 44 mpu 64 atm"
    ]
    }
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_come_in_three_units() {
        assert_eq!(parse_limit("64 packets"), Ok(Limit::Packets(64)));
        assert_eq!(parse_limit("96 kB"), Ok(Limit::Bytes(96_000)));
        assert_eq!(parse_limit("20 ms"), Ok(Limit::Time(Dur::from_ms(20))));
        let e = parse_limit("20 Mb/s").unwrap_err();
        assert_eq!(e.message, "`Mb/s` is not a unit that fits here");
        assert_eq!(
            parse_limit("64").unwrap_err().message,
            "the unit is missing"
        );
    }

    #[test]
    fn bursts_are_bytes_or_time_at_the_rate() {
        let rate = Rate::from_bps(8_000_000).unwrap();
        for (text, bytes) in [("1500 B", 1500), ("2 kB", 2000), ("20 ms", 20_000)] {
            let burst = parse_burst(text).unwrap();
            assert_eq!(burst.bytes(rate), bytes, "{text}");
            assert_eq!(parse_burst(&burst.to_string()), Ok(burst));
        }
        let e = parse_burst("20").unwrap_err();
        assert_eq!(e.message, "the unit is missing");
    }

    #[test]
    fn a_rate_may_be_zero_where_a_server_may_stand_still() {
        assert_eq!(parse_rate_or_zero("0 b/s"), Ok(RateOrZero(None)));
        assert_eq!(parse_rate_or_zero("0.0 Mb/s"), Ok(RateOrZero(None)));
        let some = parse_rate_or_zero("12 Mb/s").unwrap();
        assert_eq!(
            (some.bps(), some.to_string()),
            (12_000_000, "12 Mb/s".to_owned())
        );
        for wrong in ["0", "0 MB", "-1 Mb/s", "x"] {
            assert_eq!(parse_rate_or_zero(wrong).unwrap_err().found, wrong);
        }
    }

    #[test]
    fn display_parses_back() {
        for text in ["35 %", "15 Mb/s"] {
            assert_eq!(parse_rate_or_percent(text).unwrap().to_string(), text);
        }
    }
}
