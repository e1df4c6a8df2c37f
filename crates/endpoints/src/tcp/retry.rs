//! How often, and how long after one another, a sender without an answer tries again.
//!
//! RFC 6298 §5.5 doubles the timeout each time. A constant period instead is what studies of
//! admission control assume, where the gap between attempts decides how long a refused
//! connection waits after the network has room again. There §5.7 (3 s for data after a lost SYN)
//! is left out as well: the period is the law for both.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use spillgate_core::{Dur, Problem, textual};

/// The gaps between attempts, of SYN, SYN-ACK and data, while no answer comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RetrySpec {
    /// The timeout doubles each time, up to `max_rto` (RFC 6298 §5.5).
    #[default]
    Exponential,
    /// After the first timeout one attempt every so often, above 0 s and at most 1 h. It is then
    /// the default of `initial_rto` too.
    Constant(Dur),
}

/// How many attempts there are: a number, or without end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempts {
    /// So many.
    Count(u32),
    /// As many as it takes.
    Unlimited,
}

impl Attempts {
    /// The count to compare with: what is written at `key`, else `default`. No sender gets as
    /// far as that of [`Attempts::Unlimited`].
    pub(super) fn limit(
        given: Option<Self>,
        key: &str,
        default: u32,
        most: u32,
    ) -> Result<u32, Problem> {
        match given {
            None => Ok(default),
            Some(Self::Unlimited) => Ok(u32::MAX),
            Some(Self::Count(n)) if n <= most => Ok(n),
            Some(Self::Count(n)) => Err(Problem::new(
                key,
                n,
                format!("it must be from 0 to {most}"),
                "write a number in this range, or unlimited",
            )),
        }
    }
}

const WORD: &str = "unlimited";

impl Serialize for Attempts {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Count(n) => s.serialize_u32(*n),
            Self::Unlimited => s.serialize_str(WORD),
        }
    }
}

textual!(
    read Attempts,
    "Attempts",
    "a number of attempts such as 6, or `unlimited`",
    |text: &str| match text.trim() {
        WORD => Ok(Attempts::Unlimited),
        // What does not fit is out of the range of every key; none means "without end" by accident.
        number => match number.parse::<u64>() {
            Ok(n) => Ok(Attempts::Count(n.min(u64::from(u32::MAX) - 1) as u32)),
            Err(_) => Err(format!(
                "`{text}`: expected a number of attempts such as 6, or `{WORD}`; write one of them"
            )),
        },
    },
    {
        "description": "A number of attempts, or `unlimited`.",
        "anyOf": [{ "type": "integer", "minimum": 0 }, { "const": WORD }]
    }
);
