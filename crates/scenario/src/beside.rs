//! Files that a scenario refers to: the expected kind of each, whether it lies in the scenario's
//! folder, and what errors may quote from it.
//!
//! A scenario may name any file of the machine, and an error that quotes lines would disclose the
//! file. So an error in a file outside the scenario's folder, or in a file that is clearly of
//! another kind, says the line and what is expected there, and quotes nothing. Lines of router
//! configurations are quoted: their importer can tell them from other texts.

use crate::codes;
use crate::error::Diagnostic;

/// The expected kind of a file.
#[derive(Clone, Copy)]
pub(crate) enum Expected {
    /// A router configuration.
    Configuration,
    /// Data of any other kind.
    Data {
        /// A hint that describes the lines.
        lines: &'static str,
        /// Whether a text is of this kind, perhaps with errors.
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

    /// A file whose errors have paths of its own, not of the scenario.
    pub(crate) const fn tree(lines: &'static str, is_one: fn(&str) -> bool) -> Self {
        Self::Data {
            lines,
            is_one,
            is_tree: true,
        }
    }

    /// Why its lines must not be shown, if so. `own`: it lies in the scenario's folder, or the
    /// command line names it.
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
    /// Removes from an error everything that may be quoted from the file.
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
