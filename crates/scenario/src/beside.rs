//! Files that a scenario refers to: what each should be, whether it lies in the scenario's folder,
//! and what errors may show of it.
//!
//! A path that leads elsewhere may name any file of the machine, and an error that quotes its lines
//! would read it to whoever sees the error. So errors in a file that lies outside the scenario's
//! folder, or that is plainly something else than it should be, say its line and what should stand
//! there, and nothing of what stands there. Router configurations are shown: their importer tells
//! them from other texts.

use crate::codes;
use crate::error::Diagnostic;

/// What a file that a scenario refers to should be.
#[derive(Clone, Copy)]
pub(crate) enum Expected {
    /// A router configuration.
    Configuration,
    /// Data of any other kind.
    Data {
        /// What its lines should be, as a hint.
        lines: &'static str,
        /// Whether a text is of this kind at all, if perhaps a wrong one.
        is_one: fn(&str) -> bool,
        /// Whether paths in errors lead through the file, not through the scenario.
        is_tree: bool,
    },
}

impl Expected {
    /// A table, or a list of lines.
    pub(crate) const fn table(lines: &'static str, is_one: fn(&str) -> bool) -> Self {
        Self::Data {
            lines,
            is_one,
            is_tree: false,
        }
    }

    /// The same of a file to which the paths in its errors belong.
    pub(crate) const fn tree(lines: &'static str, is_one: fn(&str) -> bool) -> Self {
        Self::Data {
            lines,
            is_one,
            is_tree: true,
        }
    }

    /// What keeps its lines from being shown, if anything does; `own`: it lies in the scenario's
    /// folder, or the command line names it.
    pub(crate) fn hidden(self, text: &str, own: bool) -> Option<Hidden> {
        let Self::Data {
            lines,
            is_one,
            is_tree,
        } = self
        else {
            return None;
        };
        let why = match (own, is_one(text)) {
            (true, true) => return None,
            (true, false) => "what it has is not shown, as it looks like something else",
            (false, _) => "what it has is not shown, as it lies outside the scenario's folder",
        };
        Some(Hidden {
            lines,
            why,
            is_tree,
        })
    }
}

/// A file whose lines are not shown.
#[derive(Clone, Copy)]
pub(crate) struct Hidden {
    lines: &'static str,
    why: &'static str,
    is_tree: bool,
}

impl Hidden {
    /// Takes out of an error in the file all that may be from it.
    pub(crate) fn take_out(self, d: &mut Diagnostic) {
        d.message = codes::meaning(d.code);
        d.hint = Some(format!("{}; {}", self.lines, self.why));
        (d.column, d.width, d.found, d.source) = (None, 0, None, None);
        d.unquoted = true;
        if self.is_tree {
            d.path.clear();
        }
    }
}
