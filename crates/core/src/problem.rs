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
    /// What does not fit the rest of the scenario: a name, a reference, parts that exclude each
    /// other.
    Misfit,
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
    /// Where the rule comes from, if that is said.
    pub source: Option<&'static str>,
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
            source: None,
        }
    }

    /// The same, of another kind.
    #[must_use]
    pub fn of(mut self, mistake: Mistake) -> Self {
        self.mistake = mistake;
        self
    }

    /// The same, of a rule that is the scenario's own.
    #[must_use]
    pub fn misfit(self) -> Self {
        self.of(Mistake::Misfit)
    }

    /// The same, with where its rule comes from; the first source holds. What does not fit the rest
    /// of the scenario breaks no rule of others.
    #[must_use]
    pub fn cite(mut self, source: Option<&'static str>) -> Self {
        let Some(name) = source.filter(|_| self.source.is_none()) else {
            return self;
        };
        if self.mistake == Mistake::Misfit {
            return self;
        }
        self.source = source;
        if ![&self.message, &self.hint].iter().any(|t| t.contains(name)) {
            self.hint = format!("{} ({name})", self.hint);
        }
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
