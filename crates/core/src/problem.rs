//! What is wrong with a value that a user gave.

use std::fmt;

/// The kinds of mistakes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mistake {
    /// What cannot be there.
    #[default]
    Value,
    /// A number outside its range.
    Range,
    /// A name that is given twice.
    Twice,
    /// More is promised than there is.
    Promised,
}

/// A value that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What kind of mistake it is.
    pub mistake: Mistake,
    /// Where below the value that was checked, such as `cbr.packet.table[2].weight`; empty if it is
    /// that value itself.
    pub path: String,
    /// The offending value; empty if that is the whole entry.
    pub found: String,
    /// What is wrong with it.
    pub message: String,
    /// What would be valid.
    pub hint: String,
}

impl Problem {
    /// A problem at a path.
    pub fn new(
        path: impl Into<String>,
        found: impl fmt::Display,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            mistake: Mistake::default(),
            path: path.into(),
            found: found.to_string(),
            message: message.into(),
            hint: hint.into(),
        }
    }

    /// The same, of another kind.
    #[must_use]
    pub fn of(mut self, mistake: Mistake) -> Self {
        self.mistake = mistake;
        self
    }

    /// Nothing if `ok`.
    ///
    /// # Errors
    /// The problem of [`Problem::new`] otherwise.
    pub fn check(
        ok: bool,
        path: &str,
        found: impl fmt::Display,
        message: &str,
        hint: &str,
    ) -> Result<(), Self> {
        if ok {
            Ok(())
        } else {
            Err(Self::new(path, found, message, hint))
        }
    }

    /// The same, below a key.
    #[must_use]
    pub fn under(mut self, key: &str) -> Self {
        self.path = match self.path.is_empty() {
            true => key.to_owned(),
            false => format!("{key}.{}", self.path),
        };
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "`{}`: {}; {}", self.found, self.message, self.hint)
    }
}

impl std::error::Error for Problem {}
