//! Differentiated services code points and the ECN field.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::textual;

/// A differentiated services code point, 0..=63 (RFC 2474).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dscp(u8);

/// Names of RFC 2474, 2597, 3246, 5865 and 8622 beside the IOS spellings.
const NAMES: [(&str, u8); 23] = [
    ("default", 0),
    ("le", 1),
    ("cs1", 8),
    ("af11", 10),
    ("af12", 12),
    ("af13", 14),
    ("cs2", 16),
    ("af21", 18),
    ("af22", 20),
    ("af23", 22),
    ("cs3", 24),
    ("af31", 26),
    ("af32", 28),
    ("af33", 30),
    ("cs4", 32),
    ("af41", 34),
    ("af42", 36),
    ("af43", 38),
    ("cs5", 40),
    ("voice-admit", 44),
    ("ef", 46),
    ("cs6", 48),
    ("cs7", 56),
];

impl Dscp {
    /// Best effort, 0.
    pub const DEFAULT: Self = Self(0);
    /// Expedited forwarding, 46 (RFC 3246).
    pub const EF: Self = Self(46);

    /// A code point, if below 64.
    pub const fn new(value: u8) -> Option<Self> {
        if value < 64 { Some(Self(value)) } else { None }
    }

    /// Assured forwarding class 1..=4, drop precedence 1..=3: `8c + 2d` (RFC 2597).
    pub const fn af(class: u8, drop: u8) -> Option<Self> {
        if class >= 1 && class <= 4 && drop >= 1 && drop <= 3 {
            Some(Self(8 * class + 2 * drop))
        } else {
            None
        }
    }

    /// Class selector 0..=7 (RFC 2474 §4.2.2); only the lower three bits count.
    pub const fn class_selector(class: u8) -> Self {
        Self((class & 7) << 3)
    }

    /// The code point in the upper six bits of the IP header's traffic class octet.
    #[inline]
    pub const fn from_upper_bits(octet: u8) -> Self {
        Self(octet >> 2)
    }

    /// The number, 0..=63.
    pub const fn value(self) -> u8 {
        self.0
    }

    /// IP precedence: the upper three bits, 0..=7.
    pub const fn precedence(self) -> u8 {
        self.0 >> 3
    }

    /// The standard's name, if it has one.
    pub fn name(self) -> Option<&'static str> {
        NAMES.iter().find(|(_, v)| *v == self.0).map(|(n, _)| *n)
    }

    /// Every name that [`Dscp::from_str`] takes beside the numbers 0..=63.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(n, _)| *n)
    }
}

impl fmt::Display for Dscp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(n) => f.write_str(n),
            None => write!(f, "{}", self.0),
        }
    }
}

impl FromStr for Dscp {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let t = text.trim();
        if let Some((_, v)) = NAMES.iter().find(|(n, _)| n.eq_ignore_ascii_case(t)) {
            return Ok(Self(*v));
        }
        if t.eq_ignore_ascii_case("be") || t.eq_ignore_ascii_case("cs0") {
            return Ok(Self(0));
        }
        t.parse::<u8>().ok().and_then(Self::new).ok_or_else(|| {
            format!("`{text}` is not a DSCP: a number 0 to 63, or ef, af11 .. af43, cs0 .. cs7, default, le, voice-admit")
        })
    }
}

textual!(
    Dscp,
    "Dscp",
    "a DSCP: ef, af11 .. af43, cs0 .. cs7, default, le, or 0 to 63",
    str::parse::<Dscp>,
    {
        "description": "Differentiated services code point: a name (ef, af41, cs3, default, le) or a number.",
        "anyOf": [
            {"type": "integer", "minimum": 0, "maximum": 63},
            {"type": "string", "pattern": "^([Ee][Ff]|[Bb][Ee]|[Ll][Ee]|[Dd]efault|voice-admit|[Aa][Ff][1-4][1-3]|[Cc][Ss][0-7]|[0-9]|[1-5][0-9]|6[0-3])$"}
        ]
    }
);

/// The ECN field of the IP header (RFC 3168).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Ecn {
    /// Not ECN-capable: a mark becomes a drop.
    #[default]
    NotEct = 0,
    /// ECN-capable transport, L4S identifier (RFC 9331).
    Ect1 = 1,
    /// ECN-capable transport.
    Ect0 = 2,
    /// Congestion experienced.
    Ce = 3,
}

impl Ecn {
    /// The codepoint of the lower two bits of `bits`.
    #[inline]
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::NotEct,
            1 => Self::Ect1,
            2 => Self::Ect0,
            _ => Self::Ce,
        }
    }

    /// Whether the sender declared itself ECN-capable (ECT(0), ECT(1) or CE).
    pub const fn is_capable(self) -> bool {
        !matches!(self, Self::NotEct)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assured_forwarding_follows_rfc_2597() {
        assert_eq!(Dscp::af(3, 1).map(Dscp::value), Some(26));
        assert_eq!("AF43".parse::<Dscp>().map(Dscp::value), Ok(38));
        assert_eq!(Dscp::af(5, 1), None);
    }

    #[test]
    fn every_name_parses_back() {
        for name in Dscp::names() {
            assert_eq!(name.parse::<Dscp>().unwrap().to_string(), name);
        }
        assert!("64".parse::<Dscp>().is_err());
        assert!("af14".parse::<Dscp>().is_err());
    }
}
