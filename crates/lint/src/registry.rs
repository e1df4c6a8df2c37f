//! The type of rules, and the list of all rules, from which lists, explanations, documentation and
//! SARIF are made.

use std::sync::LazyLock;

use serde::Serialize;

use crate::{certainty, cfg, comments, directions, exp, mtu, objectives, scenario};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The configuration cannot work as written: `check` fails.
    Error,
    /// It works as written, but that is probably not intended.
    Warning,
    /// Worth knowing.
    Note,
}

impl Level {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// A rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Rule {
    /// Stable identifier such as `SG-Q001`. Q: queues and shares, C: classes, A: active queue
    /// management, L: links, S: shapers and policers, O: requirements, M: MPLS, R: lines that
    /// readers changed or ignored, X: the rules themselves.
    pub id: &'static str,
    /// Name in kebab-case.
    pub name: &'static str,
    /// The severity of its findings.
    pub level: Level,
    /// One line.
    pub summary: &'static str,
    /// Why it matters: paragraphs, separated by empty lines.
    pub explanation: &'static str,
    /// What to do.
    pub remedy: &'static str,
    /// The source of the rule.
    pub source: &'static str,
}

/// Defines a rule as a constant next to the code that finds it. The list of its file has it, too.
macro_rules! rule_text {
    ($const:ident = $id:literal, $name:literal, $level:ident, $summary:literal;
        why $why:literal; fix $fix:literal; from $from:literal;) => {
        #[doc = $summary]
        pub(crate) const $const: $crate::Rule = $crate::Rule {
            id: $id,
            name: $name,
            level: $crate::Level::$level,
            summary: $summary,
            explanation: $why,
            remedy: $fix,
            source: $from,
        };
    };
}
pub(crate) use rule_text;

/// Every rule, in the order of the identifiers.
pub static RULES: LazyLock<Vec<&'static Rule>> = LazyLock::new(|| {
    let asked = crate::rules::ASKED.iter().copied().flatten();
    let beside = [
        certainty::RULES,
        cfg::RULES,
        comments::RULES,
        directions::RULES,
        exp::RULES,
        mtu::RULES,
        objectives::RULES,
        scenario::RULES,
    ];
    let mut all: Vec<_> = asked
        .flat_map(|ask| ask.0)
        .chain(beside.into_iter().flatten())
        .copied()
        .collect();
    all.sort_by_key(|r| r.id);
    all
});

/// The rule of an identifier or a name, upper or lower case.
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES
        .iter()
        .copied()
        .find(|r| r.id.eq_ignore_ascii_case(id) || r.name.eq_ignore_ascii_case(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_unique_ordered_and_explained() {
        for pair in RULES.windows(2) {
            assert!(
                pair[0].id < pair[1].id,
                "{} before {}",
                pair[0].id,
                pair[1].id
            );
        }
        for r in RULES.iter().copied() {
            assert!(r.explanation.len() > 100 && !r.remedy.is_empty() && !r.source.is_empty());
            assert!(
                !r.summary.ends_with('.')
                    && r.name
                        .chars()
                        .all(|c| c.is_ascii_lowercase() || c == '-' || c.is_ascii_digit())
            );
            assert_eq!(rule(&r.id.to_lowercase()), Some(r));
            assert_eq!(rule(r.name), Some(r));
        }
    }
    /// Every constant is in a list.
    #[test]
    fn every_text_is_in_the_list() {
        let src = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let files = [src.clone(), src.join("rules")].map(|d| std::fs::read_dir(d).unwrap());
        let written = files.into_iter().flatten().map(|f| {
            let text = std::fs::read_to_string(f.unwrap().path()).unwrap_or_default();
            text.matches("\nrule_text! {").count()
        });
        assert_eq!(written.sum::<usize>(), RULES.len());
    }
}
