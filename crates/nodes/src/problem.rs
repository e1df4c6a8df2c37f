//! Why a node cannot be built.

use std::fmt;

/// What kind of mistake a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// What the kind of node cannot be.
    Kind,
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
    pub code: Code,
    /// Where below the key of the kind, such as `fabric.crossbar.matching.islip.iterations`.
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
    pub(crate) fn new(
        path: impl Into<String>,
        found: impl fmt::Display,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            code: Code::Kind,
            path: path.into(),
            found: found.to_string(),
            message: message.into(),
            hint: hint.into(),
        }
    }

    /// The same, of another kind.
    pub(crate) fn of(mut self, code: Code) -> Self {
        self.code = code;
        self
    }

    /// The problem of [`Problem::new`] unless `ok`.
    pub(crate) fn check(
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
    pub(crate) fn under(mut self, key: &str) -> Self {
        self.path = format!("{key}.{}", self.path);
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: `{}`: {}; {}",
            self.path, self.found, self.message, self.hint
        )
    }
}

impl std::error::Error for Problem {}
