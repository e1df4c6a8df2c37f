//! How a warm-up is written: a length of time, or `auto`.

use std::fmt;

use spillgate_core::{Dur, textual, units::parse_dur};

/// How long packets are not counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Warmup {
    /// This length of time.
    For(Dur),
    /// Until a pilot run has settled.
    Auto,
}

impl fmt::Display for Warmup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::For(time) => time.fmt(f),
            Self::Auto => f.write_str("auto"),
        }
    }
}

textual!(
    Warmup,
    "Warmup",
    "a length of time with its unit, or `auto`",
    |text: &str| match text {
        "auto" => Ok(Warmup::Auto),
        time => parse_dur(time).map(Warmup::For),
    },
    {
        "type": "string",
        "description": "A length of time, or `auto`: until a pilot run has settled."
    }
);
