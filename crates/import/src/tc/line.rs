//! One command of `tc`, word by word.

use crate::ios::fault::{Fault, code};

use super::shell::Word;

/// What is left of a command.
#[derive(Clone, Debug)]
pub(super) struct Args<'w> {
    words: &'w [Word],
    /// The word before what is left, for what is missing at the end.
    last: &'w Word,
}

impl<'w> Args<'w> {
    /// The words behind `head`.
    pub(super) fn behind(head: &'w Word, words: &'w [Word]) -> Self {
        Self { words, last: head }
    }

    /// The next word, if there is one.
    pub(super) fn next(&mut self) -> Option<&'w Word> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        self.last = first;
        Some(first)
    }

    pub(super) fn peek(&self) -> Option<&'w Word> {
        self.words.first()
    }

    /// Passes the next word if it is one of these.
    pub(super) fn take(&mut self, wanted: &[&str]) -> bool {
        let found = self
            .peek()
            .is_some_and(|w| wanted.contains(&w.text.as_str()));
        if found {
            self.next();
        }
        found
    }

    /// The word that belongs to the last one.
    pub(super) fn value(&mut self, what: &str) -> Result<&'w Word, Fault> {
        let last = self.last;
        self.next().ok_or_else(|| {
            Fault::new(
                code::MISSING,
                last.column,
                format!("`{}` needs {what}", last.text),
            )
            .found(&last.text)
        })
    }

    /// What `read` makes of the word that belongs to the last one.
    pub(super) fn read<T>(
        &mut self,
        what: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, Fault> {
        let name = &self.last.text;
        let word = self.value(what)?;
        read(&word.text).ok_or_else(|| wrong(word, &format!("of `{name}` is not {what}")))
    }

    pub(super) fn number<T: std::str::FromStr>(&mut self) -> Result<T, Fault> {
        self.read("a number", |t| t.parse().ok())
    }
}

/// A word that is none of those that could stand there.
pub(super) fn wrong(word: &Word, why: &str) -> Fault {
    Fault::new(
        code::UNEXPECTED,
        word.column,
        format!("`{}` {why}", word.text),
    )
    .found(&word.text)
}

/// A word without something that it needs.
pub(super) fn lacks(word: &Word, key: &str) -> Fault {
    let message = format!("`{}` needs `{key}`", word.text);
    Fault::new(code::MISSING, word.column, message).found(&word.text)
}

/// The number of a class or of a queueing discipline (minor 0), of which `tc` writes both parts in
/// hexadecimal digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Handle {
    pub(super) major: u16,
    pub(super) minor: u16,
}

impl Handle {
    /// `10:`, `1:a` or, within `around`, `:a`.
    pub(super) fn read(text: &str, around: u16) -> Option<Self> {
        let (major, minor) = text.split_once(':')?;
        let part = |t: &str, without: u16| match t {
            "" => Some(without),
            t => u16::from_str_radix(t, 16).ok(),
        };
        Some(Self {
            major: part(major, around)?,
            minor: part(minor, 0)?,
        })
    }
}

impl std::fmt::Display for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.minor {
            0 => write!(f, "{:x}:", self.major),
            minor => write!(f, "{:x}:{minor:x}", self.major),
        }
    }
}
