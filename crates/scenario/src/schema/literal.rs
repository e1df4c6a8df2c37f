//! Texts that a number may stand for.

use std::fmt;

use spillgate_core::textual;

/// A text, or a number, which stands for its digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literal(pub String);

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

textual!(
    Literal,
    "Literal",
    "a text or a number",
    |text: &str| Ok::<_, String>(Literal(text.to_owned())),
    {"type": ["string", "number"]}
);
