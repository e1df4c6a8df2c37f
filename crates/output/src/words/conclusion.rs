//! What all verdicts together come to.

use std::collections::BTreeMap;

use serde::Serialize;
use spillgate_measure::sla::Verdict;

use super::{Facts, and};
use crate::verdicts::VerdictRow;

/// The outcome of the requirements.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Conclusion {
    /// The worst verdict of the best variant.
    pub verdict: &'static str,
    /// The outcome in one sentence.
    pub headline: String,
    /// How many verdicts are what.
    pub tally: String,
    /// What the verdicts rest on: what the confidence level holds for, and what certainty is; null
    /// if there is one verdict, it is decided, and there is no certainty.
    pub certainty: Option<String>,
}

/// The conclusion; none without requirements.
pub(super) fn of(facts: &Facts, verdicts: &[VerdictRow]) -> Option<Conclusion> {
    let mut by_variant: BTreeMap<&str, Vec<&VerdictRow>> = BTreeMap::new();
    for v in verdicts {
        by_variant.entry(&v.variant).or_default().push(v);
    }
    let names = facts.variants.iter().map(String::as_str);
    let all: Vec<Of<'_>> = names
        .filter_map(|name| Some(Of::new(name, by_variant.remove(name)?)))
        .collect();
    let best = all
        .iter()
        .filter_map(|v| v.worst)
        .min_by_key(|v| v.severity())?;
    Some(Conclusion {
        verdict: best.as_str(),
        headline: headline(&all, verdicts),
        tally: tally(verdicts),
        certainty: certainty(facts, verdicts),
    })
}

/// A variant with its verdicts.
struct Of<'a> {
    name: &'a str,
    verdicts: Vec<&'a VerdictRow>,
    passed: usize,
    worst: Option<Verdict>,
}

impl<'a> Of<'a> {
    fn new(name: &'a str, verdicts: Vec<&'a VerdictRow>) -> Self {
        let kinds = || verdicts.iter().map(|v| v.kind());
        Self {
            name,
            passed: kinds().filter(|k| *k == Verdict::Pass).count(),
            worst: Verdict::worst(kinds()),
            verdicts,
        }
    }

    fn passes(&self) -> bool {
        self.passed == self.verdicts.len()
    }

    /// The worst verdict on someone.
    fn on(&self, whose: &str) -> Option<Verdict> {
        let theirs = self.verdicts.iter().filter(|v| v.whose == whose);
        Verdict::worst(theirs.map(|v| v.kind()))
    }
}

fn headline(all: &[Of<'_>], verdicts: &[VerdictRow]) -> String {
    let each = verdicts.len() / all.len().max(1);
    // In the order of the scenario.
    let mut whose: Vec<&str> = Vec::new();
    for v in verdicts {
        if !whose.contains(&v.whose.as_str()) {
            whose.push(&v.whose);
        }
    }
    if let [only] = all {
        if only.passes() {
            return format!("{}.", passing(each));
        }
        let said = |kind, word: &str| {
            let of = whose.iter().copied();
            let names: Vec<&str> = of.filter(|w| only.on(w) == Some(kind)).collect();
            (!names.is_empty()).then(|| format!("{word} for {}", and(&names)))
        };
        let [fail, undecided] = [Verdict::Fail, Verdict::Undecided].map(|v| said(v, v.as_str()));
        let parts: Vec<String> = fail.into_iter().chain(undecided).collect();
        return format!(
            "{} of {each} requirements pass; {}.",
            only.passed,
            parts.join(", ")
        );
    }
    let full: Vec<&str> = all.iter().filter(|v| v.passes()).map(|v| v.name).collect();
    if !full.is_empty() {
        let others = match all.len() - full.len() {
            0 => "that is every variant.".to_owned(),
            1 => "not with the other variant.".to_owned(),
            others => format!("not with the other {others}."),
        };
        return format!("{} with {}; {others}", passing(each), and(&full));
    }
    let top = all.iter().map(|v| v.passed).max().unwrap_or_default();
    let best: Vec<&Of<'_>> = all.iter().filter(|v| v.passed == top).collect();
    let missed = |w: &&str| best.iter().all(|v| v.on(w) != Some(Verdict::Pass));
    let missed: Vec<&str> = whose.iter().copied().filter(missed).collect();
    let still = match missed.is_empty() {
        true => String::new(),
        false => format!("; not for {}", and(&missed)),
    };
    let best: Vec<&str> = best.iter().map(|v| v.name).collect();
    format!(
        "No variant passes every requirement. Most pass with {}: {top} of {each}{still}.",
        and(&best)
    )
}

/// All of so many requirements pass.
fn passing(count: usize) -> String {
    match count {
        1 => "The requirement passes".to_owned(),
        2 => "Both requirements pass".to_owned(),
        n => format!("All {n} requirements pass"),
    }
}

fn tally(verdicts: &[VerdictRow]) -> String {
    let count = |kind: Verdict| {
        let n = verdicts.iter().filter(|v| v.kind() == kind).count();
        (n > 0).then(|| format!("{n} {}", kind.as_str()))
    };
    let parts: Vec<String> = Verdict::ALL.into_iter().filter_map(count).collect();
    let of = match verdicts.len() {
        1 => "1 requirement".to_owned(),
        n => format!("{n} requirements"),
    };
    format!("{} of {of}", parts.join(", "))
}

/// What the verdicts rest on.
fn certainty(facts: &Facts, verdicts: &[VerdictRow]) -> Option<String> {
    let certain = verdicts.iter().filter(|v| v.certain).count();
    let several = verdicts.len() - certain > 1;
    let open = |v: &VerdictRow| !v.certain && v.kind() == Verdict::Undecided;
    let by_runs =
        (several || facts.looks_again && verdicts.iter().any(open)).then(|| level(facts, several));
    let by_bounds = (certain > 0).then(|| {
        "for certain: proven by a bound, refuted by one run, whatever the other runs showed"
            .to_owned()
    });
    let both: Vec<String> = by_runs.into_iter().chain(by_bounds).collect();
    (!both.is_empty()).then(|| both.join("; "))
}

/// What the confidence level holds for.
fn level(facts: &Facts, several: bool) -> String {
    let again = match facts.looks_again {
        true => ", however often one adds runs and looks again",
        false => "",
    };
    let (mut letters, at) = (facts.correction.chars(), facts.level());
    match letters.next() {
        Some(first) if facts.correction != "none" => format!(
            "all together at {at} ({}{}'s correction){again}; intervals shown are each at 95 %",
            first.to_uppercase(),
            letters.as_str()
        ),
        _ if several => format!(
            "each at {at} for itself{again}; --correction holm makes {at} hold for all together"
        ),
        _ => format!("at {at}{again}: this asks for more than the interval shown"),
    }
}
