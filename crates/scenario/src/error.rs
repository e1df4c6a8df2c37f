//! Diagnostics: what is wrong with the input, where, and what would be right.

use std::fmt;

use serde::Serialize;
use spillgate_core::{Mistake, Problem};

use crate::codes;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing runs until the error is corrected.
    Error,
    /// The scenario runs, but the result may not be what its author intends.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

/// One thing that is wrong, or at least doubtful, in a file that the user wrote.
///
/// Built by [`Diagnostic::error`] or [`Diagnostic::warning`] and the methods
/// that follow them:
///
/// ```
/// use spillgate_scenario::Diagnostic;
/// let d = Diagnostic::error("E0301", "no such policy")
///     .at("a.yaml", 7, 13)
///     .path("topology.links.wan.policy")
///     .found("LLP")
///     .hint("did you mean `LLQ`?");
/// assert!(d.to_string().starts_with("a.yaml:7:13: error: no such policy [E0301]"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// Stable code: `E` for an error or `W` for a warning, and four digits.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The file as the user names it; empty where there is none.
    pub file: String,
    /// Line in the file, from 1.
    pub line: Option<u32>,
    /// Column in characters, from 1.
    pub column: Option<u32>,
    /// Where in the scenario, such as `topology.links.wan.rate`; empty where there is none.
    pub path: String,
    /// What is wrong, one sentence without a full stop.
    pub message: String,
    /// The offending text.
    pub found: Option<String>,
    /// What would be valid, or what to do.
    pub hint: Option<String>,
    /// The line of the file that is meant, for display.
    pub source: Option<String>,
    /// Length of the offending text in characters, for the underline; 0 if unknown.
    #[serde(skip)]
    pub width: u32,
    /// Whether quoting the file is forbidden.
    #[serde(skip)]
    pub unquoted: bool,
}

impl Diagnostic {
    fn new(code: &'static str, severity: Severity, message: impl Into<String>) -> Self {
        Self {
            code,
            severity,
            file: String::new(),
            line: None,
            column: None,
            path: String::new(),
            message: message.into(),
            found: None,
            hint: None,
            source: None,
            width: 0,
            unquoted: false,
        }
    }

    /// An error with a stable code.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, message)
    }

    /// A warning with a stable code.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, message)
    }

    /// An error that a node or a server has found in what is written of it; `code`: of what its
    /// kind cannot be.
    pub(crate) fn of(problem: &Problem, code: &'static str) -> Self {
        let code = match problem.mistake {
            Mistake::Value | Mistake::Promised | Mistake::Misfit => code,
            Mistake::Range => codes::OUT_OF_RANGE,
            Mistake::Twice => codes::DUPLICATE_NAME,
        };
        Self::error(code, &*problem.message).said(problem)
    }

    /// With the value and the hint of a problem.
    #[must_use]
    pub(crate) fn said(self, problem: &Problem) -> Self {
        let d = self.hint(&*problem.hint);
        match problem.found.as_str() {
            "" => d,
            found => d.found(found),
        }
    }

    /// Says where it is; line and column count from 1, a column of 0 is unknown.
    #[must_use]
    pub fn at(mut self, file: impl Into<String>, line: u32, column: u32) -> Self {
        self.file = file.into();
        self.line = (line > 0).then_some(line);
        self.column = (column > 0 && line > 0).then_some(column);
        self
    }

    /// Says which file it is about, without a line.
    #[must_use]
    pub fn in_file(mut self, file: impl Into<String>) -> Self {
        self.file = file.into();
        self
    }

    /// Says where in the scenario it is.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Quotes the offending text; it is also what the underline covers.
    #[must_use]
    pub fn found(mut self, found: impl Into<String>) -> Self {
        self.found = Some(found.into());
        self
    }

    /// Says what would be valid.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Copies the offending line out of the file's text, if it may be shown; does nothing without a
    /// line.
    pub fn quote(&mut self, text: &str) {
        if let (None, Some(line), false) = (&self.source, self.line, self.unquoted) {
            self.source = text
                .lines()
                .nth(line as usize - 1)
                .map(|l| l.trim_start_matches('\u{feff}').to_owned());
        }
    }
}

impl Diagnostic {
    /// `file:line: message; hint`, for a list of warnings.
    pub fn in_one_line(&self) -> String {
        let mut out = String::new();
        if !self.file.is_empty() {
            out.push_str(&self.file);
            if let Some(line) = self.line {
                out.push_str(&format!(":{line}"));
            }
            out.push_str(": ");
        }
        out.push_str(&self.message);
        if let Some(hint) = &self.hint {
            out.push_str("; ");
            out.push_str(hint);
        }
        out
    }
}

/// Longest part of a source line that is shown, in characters.
const SHOWN: usize = 120;

/// A text cleaned for one line of a terminal: without control characters, at most `max` characters
/// long.
pub(crate) fn one_line(text: &str, max: usize) -> String {
    let mut out: String = text
        .chars()
        .take(max)
        .map(|c| match c {
            '\t' => ' ',
            c if c.is_control() => '\u{fffd}',
            c => c,
        })
        .collect();
    if text.chars().nth(max).is_some() {
        out.push_str(" ...");
    }
    out
}

impl fmt::Display for Diagnostic {
    /// `file:line:column: error: message [code]`, the offending line with an
    /// underline, then where, what was found, and what would be valid.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.file.is_empty() {
            f.write_str(&one_line(&self.file, 400))?;
            if let Some(line) = self.line {
                write!(f, ":{line}")?;
                if let Some(column) = self.column {
                    write!(f, ":{column}")?;
                }
            }
            f.write_str(": ")?;
        }
        write!(f, "{}: {} [{}]", self.severity, self.message, self.code)?;
        if let (Some(line), Some(source)) = (self.line, &self.source) {
            excerpt(f, line, self.column, self.width, source)?;
        }
        if !self.path.is_empty() {
            write!(f, "\n    at: {}", self.path)?;
        }
        if let Some(found) = &self.found {
            write!(f, "\n    found: {}", visible(&one_line(found, SHOWN)))?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n    hint: {hint}")?;
        }
        Ok(())
    }
}

/// A text, in quotes if it would be invisible without.
fn visible(text: &str) -> String {
    if text.is_empty() || text.trim() != text {
        format!("{text:?}")
    } else {
        text.to_owned()
    }
}

/// The source line and an underline below it.
fn excerpt(
    f: &mut fmt::Formatter<'_>,
    line: u32,
    column: Option<u32>,
    width: u32,
    source: &str,
) -> fmt::Result {
    let length = source.chars().count();
    let start = column.map_or(0, |c| c as usize - 1).min(length);
    // A long line is shown from a little before the offending place.
    let skipped = if start + 20 > SHOWN {
        start - SHOWN / 2
    } else {
        0
    };
    let shown: String = source.chars().skip(skipped).collect();
    let lead = if skipped > 0 { "... " } else { "" };
    write!(
        f,
        "\n{line:>5} | {lead}{}",
        one_line(shown.trim_end(), SHOWN)
    )?;
    if column.is_some() {
        let room = SHOWN.saturating_sub(start - skipped).max(1);
        let left = length.saturating_sub(start).clamp(1, room);
        let carets = (width.max(1) as usize).min(left);
        // A Chinese character takes two columns.
        let columns = |from: usize, n| {
            source
                .chars()
                .skip(from)
                .take(n)
                .map(columns)
                .sum::<usize>()
        };
        let (before, meant) = (columns(skipped, start - skipped), columns(start, carets));
        let before = " ".repeat(lead.len() + before);
        write!(f, "\n      | {before}{}", "^".repeat(meant.max(1)))?;
    }
    Ok(())
}

/// Columns that a character takes on a terminal: two where Unicode (UAX 11) has it as wide.
fn columns(c: char) -> usize {
    const WIDE: [(u32, u32); 10] = [
        (0x1100, 0x115F),
        (0x2E80, 0x303E),
        (0x3041, 0xA4CF),
        (0xAC00, 0xD7A3),
        (0xF900, 0xFAFF),
        (0xFE30, 0xFE6F),
        (0xFF00, 0xFF60),
        (0xFFE0, 0xFFE6),
        (0x1F300, 0x1FAFF),
        (0x20000, 0x3FFFD),
    ];
    let c = u32::from(c);
    1 + usize::from(WIDE.iter().any(|(from, to)| (*from..=*to).contains(&c)))
}

/// One or several diagnostics, in the order of their place in the input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// Whether an error is among them.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|d| d.severity == Severity::Error)
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(d: Diagnostic) -> Self {
        Self(vec![d])
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, d) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("\n\n")?;
            }
            d.fmt(f)?;
        }
        let errors = self
            .0
            .iter()
            .filter(|d| d.severity == Severity::Error && d.code != crate::codes::TOO_MANY)
            .count();
        if errors > 1 {
            write!(f, "\n\n{errors} errors")?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}
impl std::error::Error for Diagnostics {}
