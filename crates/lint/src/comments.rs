//! Comments that suppress rules.

use std::collections::BTreeMap;

use spillgate_scenario::Diagnostic;

use crate::registry::{Rule, rule, rule_text};
use crate::{Finding, means};

pub(crate) const RULES: &[&Rule] = &[&SELF];

rule_text! { SELF = "SG-X001", "useless-suppression", Note, "A suppression names a rule that does not exist";
    why "A comment `spillgate: ignore` with an identifier that no rule has suppresses nothing. It is a misspelling, or the rule is gone.";
    fix "Correct the identifier; `spillgate list rules` has all.";
    from "Spillgate";
}

/// The words of a comment before the identifiers.
const WORD: &str = "spillgate:";

/// The suppressions of a file.
#[derive(Debug, Default)]
pub(crate) struct Comments {
    /// Rules by the line on which they are suppressed.
    lines: BTreeMap<u32, Vec<String>>,
    /// Rules that are suppressed everywhere.
    file: Vec<String>,
    /// Identifiers that no rule has: line, column, text.
    unknown: Vec<(u32, u32, String)>,
}

impl Comments {
    /// Finds the suppressions: `! spillgate: ignore ID ...` or `# spillgate: ignore ID ...`.
    pub(crate) fn read(text: &str) -> Self {
        let mut found = Self::default();
        if !text.contains(WORD) {
            return found;
        }
        let mut pending: Vec<String> = Vec::new();
        for (number, line) in (1_u32..).zip(text.lines()) {
            let ids = found.ids(number, line);
            let comment = line.trim_start().starts_with(['!', '#']);
            if comment {
                pending.extend(ids);
            } else if !line.trim().is_empty() {
                let mut here = std::mem::take(&mut pending);
                here.extend(ids);
                if !here.is_empty() {
                    found.lines.insert(number, here);
                }
            }
        }
        found
    }

    /// The identifiers of a line; those for the whole file are stored at once.
    fn ids(&mut self, number: u32, line: &str) -> Vec<String> {
        let Some(at) = line.find(WORD) else {
            return Vec::new();
        };
        let before = line[..at].trim_end();
        // In YAML a comment may follow a value; in a configuration it is a line of its own.
        let opened = before.trim_start() == "!" || before.ends_with('#');
        let mut words = line[at + WORD.len()..].split([' ', '\t', ',']);
        let mut words = words.by_ref().filter(|w| !w.is_empty());
        let whole = match words.next() {
            Some("ignore") if opened => false,
            Some("ignore-file") if opened => true,
            _ => return Vec::new(),
        };
        let mut ids = Vec::new();
        for word in words {
            let reader = word.starts_with('W') && word[1..].chars().all(|c| c.is_ascii_digit());
            // The text after the identifiers is a reason.
            if rule(word).is_none() && !reader {
                if word.to_ascii_uppercase().starts_with("SG-") {
                    let column = line.find(word).map_or(1, |b| line[..b].chars().count() + 1);
                    let column = u32::try_from(column).unwrap_or(1);
                    self.unknown.push((number, column, word.to_owned()));
                    continue;
                }
                break;
            }
            ids.push(word.to_owned());
        }
        if whole {
            self.file.append(&mut ids);
        }
        ids
    }

    /// Whether a finding is suppressed.
    pub(crate) fn suppress(&self, f: &Finding) -> bool {
        let here = f.line.and_then(|l| self.lines.get(&l));
        let mut all = self.file.iter().chain(here.into_iter().flatten());
        all.any(|entry| {
            means(entry, f.id, f.name) && (entry.len() == f.id.len() || entry == f.name)
        })
    }

    /// A finding for each identifier that no rule has.
    pub(crate) fn unknown(&self, file: &str) -> impl Iterator<Item = Finding> {
        self.unknown.iter().map(move |(line, column, id)| {
            let mut d = Diagnostic::warning(SELF.id, format!("there is no rule `{id}`"));
            d = d.at(file, *line, *column);
            d.width = u32::try_from(id.chars().count()).unwrap_or(0);
            Finding::new(&SELF, d)
        })
    }
}
