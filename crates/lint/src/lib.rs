//! Rules for congestion management, checked without simulating.
//!
//! [`configuration`] looks at a router configuration, [`scenario`] at a scenario with its
//! configurations and its traffic. Each policy is checked at the rate that it divides; [`RULES`]
//! return [`Finding`]s with place, identifier and numbers of the case. Warnings of the readers of
//! files are included under the readers' codes.
//!
//! A comment `spillgate: ignore SG-Q001` suppresses a rule on its line and on the next line that
//! is no comment, `spillgate: ignore-file SG-Q001` in the whole file.
//!
//! Complexity: linear in the file; quadratic in the classes of one policy (at most 250) and
//! linear in the flows on its link.
#![forbid(unsafe_code)]
// An error ends the check, so its size does not matter.
#![allow(clippy::result_large_err)]

mod certainty;
mod cfg;
mod comments;
mod directions;
mod exp;
mod mtu;
mod objectives;
mod output;
mod registry;
mod rules;
mod scenario;
mod stands;
mod switches;
mod traffic;
mod variants;
mod view;
mod warnings;

use serde::Serialize;
use spillgate_scenario::{Diagnostic, Diagnostics};

pub use cfg::configuration;
pub use codes::CODES;
pub use output::{json, sarif, text};
pub use registry::{Level, RULES, Rule, rule};
pub use scenario::scenario;
pub use warnings::{WARNINGS, warning};

/// Codes of errors in a selection of rules.
mod codes {
    spillgate_scenario::diagnostic_codes! {
        NO_RULE = "E0901", "A rule that was asked for does not exist.";
    }
}

use codes::NO_RULE;

/// One thing that a rule has found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule's identifier; the code of a reader's warning, such as `W0702`.
    pub id: &'static str,
    /// The name of the rule or of the reader's warning.
    pub name: &'static str,
    /// The severity.
    pub severity: Level,
    /// The file as the user names it.
    pub file: String,
    /// Line, from 1; none where there is none.
    pub line: Option<u32>,
    /// Column in characters, from 1.
    pub column: Option<u32>,
    /// Where in a scenario, such as `policies.WAN.class-based.classes[0]`; empty in a
    /// configuration.
    pub path: String,
    /// The message, with the numbers of the case.
    pub message: String,
    /// What to do.
    pub help: String,
    /// The line of the file.
    pub source: Option<String>,
    /// For a scenario with several points: the names of the points at which the finding holds.
    /// Empty otherwise, and for findings that concern the whole scenario.
    pub variants: Vec<String>,
    /// The same in words: variants, and values of axes.
    pub holds: String,
    /// Another point has other numbers.
    #[serde(skip)]
    other_numbers: bool,
    /// Length of the offending text in characters; 0 if unknown.
    #[serde(skip)]
    pub width: u32,
}

impl Finding {
    pub(crate) fn new(rule: &'static Rule, d: Diagnostic) -> Self {
        Self {
            id: rule.id,
            name: rule.name,
            severity: rule.level,
            help: rule.remedy.to_owned(),
            ..Self::of_reader(d)
        }
    }

    /// A warning of a reader.
    pub(crate) fn of_reader(d: Diagnostic) -> Self {
        Self {
            id: d.code,
            name: warning(d.code).map_or("", |w| w.name),
            severity: Level::Warning,
            file: d.file,
            line: d.line,
            column: d.column,
            path: d.path,
            message: d.message,
            help: d.hint.unwrap_or_default(),
            source: d.source,
            variants: Vec::new(),
            holds: String::new(),
            other_numbers: false,
            width: d.width,
        }
    }
}

/// Whether a rule may have several findings on one line.
fn is_of_lines(id: &str) -> bool {
    id.starts_with("SG-R")
}

/// A selection of rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Only these, if any are given: identifiers, names, or beginnings of identifiers.
    pub select: Vec<String>,
    /// Not these.
    pub ignore: Vec<String>,
}

impl Selection {
    /// Checks that every entry selects a rule.
    ///
    /// # Errors
    /// An entry that is not an identifier, a name, or the beginning of an identifier of a rule.
    pub fn check(&self) -> Result<(), Diagnostics> {
        for (option, list) in [("--select", &self.select), ("--ignore", &self.ignore)] {
            for entry in list {
                let reader = |e: &str| {
                    e.len() <= 5
                        && e.starts_with(['W', 'w'])
                        && e[1..].chars().all(|c| c.is_ascii_digit())
                };
                let mut all = RULES.iter().copied().chain(WARNINGS);
                let known = all.any(|r| means(entry, r.id, r.name)) || reader(entry);
                if !known {
                    let ids = RULES.iter().map(|r| r.id);
                    let near = spillgate_core::suggest::nearest(entry, ids)
                        .map_or_else(String::new, |n| format!("did you mean `{n}`? "));
                    let d =
                        Diagnostic::error(NO_RULE, format!("{option}: there is no rule `{entry}`"));
                    let hint = format!("{near}`spillgate list rules` has all of them");
                    return Err(d.hint(hint).into());
                }
            }
        }
        Ok(())
    }

    fn takes(&self, f: &Finding) -> bool {
        let among = |list: &[String]| list.iter().any(|e| means(e, f.id, f.name));
        (self.select.is_empty() || among(&self.select)) && !among(&self.ignore)
    }
}

/// Whether an entry of a list selects a rule.
fn means(entry: &str, id: &str, name: &str) -> bool {
    let begins = id
        .get(..entry.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(entry));
    (begins && !entry.is_empty()) || (!name.is_empty() && entry.eq_ignore_ascii_case(name))
}

/// Sorts findings, and drops suppressed, unselected and repeated ones.
fn finish(
    mut found: Vec<Finding>,
    texts: &[(String, String)],
    selection: &Selection,
) -> Vec<Finding> {
    for (file, text) in texts {
        let comments = comments::Comments::read(text);
        found.retain(|f| f.file != *file || !comments.suppress(f));
        found.extend(comments.unknown(file));
    }
    found.retain(|f| selection.takes(f));
    // The file that was checked comes first, then the files that it refers to.
    let rank = |f: &Finding| texts.iter().position(|(n, _)| *n == f.file);
    found.sort_by(|a, b| {
        let key = |f: &Finding| (rank(f), f.line, f.column, f.id);
        key(a).cmp(&key(b)).then_with(|| a.message.cmp(&b.message))
    });
    // A policy on several links has the same finding at each rate: the first one is enough.
    found.dedup_by(|b, a| {
        // Several parts of one line may be without effect.
        let same = a.message == b.message || !is_of_lines(a.id);
        a.id == b.id
            && same
            && a.line.is_some()
            && (&a.file, a.line, a.column, &a.path) == (&b.file, b.line, b.column, &b.path)
    });
    for (file, text) in texts {
        quote(&mut found, file, text);
    }
    found
}

/// Adds the lines of the file; the findings are in their order.
fn quote(found: &mut [Finding], file: &str, text: &str) {
    let mut lines = (1_u32..).zip(text.lines());
    let mut current = lines.next();
    for f in found.iter_mut().filter(|f| f.file == file) {
        while current.is_some_and(|(n, _)| Some(n) < f.line) {
            current = lines.next();
        }
        let line = current.filter(|(n, _)| Some(*n) == f.line);
        if let Some((_, l)) = line {
            let l = l.trim_start_matches('\u{feff}');
            if f.column.is_none() && is_of_lines(f.id) {
                let indented = l.chars().take_while(|c| c.is_whitespace()).count();
                f.column = u32::try_from(indented + 1).ok();
            }
            f.source = Some(l.to_owned());
        }
    }
}

/// The text of a file, to which places refer.
fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
