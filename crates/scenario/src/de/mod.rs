//! A serde deserializer over [`Node`] that never loses a place, and a driver
//! that goes on after an error to report them all.

mod access;
mod error;

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;

use self::error::Kind;
use crate::codes;
use crate::error::Diagnostic;
use crate::node::{Node, Step, Value};
use crate::text::Texts;

/// Most errors that are reported from one document.
pub(crate) const MAX_ERRORS: usize = 50;

/// Deserializes a tree; `base` is the path that leads to it.
///
/// Serde stops at the first error. Here the offending part is removed from a copy, and the rest is
/// tried again until only consequences are left.
///
/// # Errors
/// Every independent error, at most [`MAX_ERRORS`], in the order found.
pub(crate) fn from_node<T: DeserializeOwned>(
    root: &Node,
    texts: &Texts,
    base: &[Step],
) -> Result<T, Vec<Diagnostic>> {
    let first = match T::deserialize(root) {
        Ok(value) => return Ok(value),
        Err(e) => e.at(root),
    };
    let mut errors = Vec::new();
    let mut tree = root.clone();
    let mut next = Some(first);
    // Keys that are missing because they were mistyped: the place and the name.
    let mut mistyped: Vec<(Vec<Step>, String)> = Vec::new();
    // Each round removes at least one node; most of the errors are consequences.
    while let Some(error) = next.take() {
        let path = error.path();
        let silent = match error.kind {
            Kind::Pruned => true,
            Kind::MissingField(ref name) => {
                let reported = reach(&mut tree, &path).and_then(|n| n.get(name));
                reported.is_some_and(|n| n.value == Value::Pruned)
                    || mistyped.iter().any(|(at, key)| *at == path && key == name)
            }
            Kind::UnknownField(Some(ref meant)) => {
                let at = path[..path.len().saturating_sub(1)].to_vec();
                mistyped.push((at, meant.clone()));
                false
            }
            // A kind that may come with parameters or alone is removed as a whole.
            Kind::WrongType => reach(&mut tree, &path).is_some_and(|n| match &n.value {
                Value::Map(entries) => {
                    !entries.is_empty() && entries.iter().all(|(_, n)| n.value == Value::Pruned)
                }
                _ => false,
            }),
            _ => false,
        };
        if !silent {
            errors.push(error.report(texts, root, base));
        }
        if errors.len() >= MAX_ERRORS {
            errors.push(
                Diagnostic::error(codes::TOO_MANY, "there may be more errors")
                    .in_file(texts.name(root.span.text))
                    .hint("mend these first"),
            );
            break;
        }
        match reach(&mut tree, &path) {
            Some(node) if !path.is_empty() && node.value != Value::Pruned => {
                node.value = Value::Pruned;
            }
            _ => break,
        }
        next = T::deserialize(&tree).map_err(|e| e.at(root)).err();
    }
    Err(errors)
}

fn reach<'a>(root: &'a mut Node, path: &[Step]) -> Option<&'a mut Node> {
    path.iter().try_fold(root, |node, step| node.step_mut(step))
}

/// Names that occur more than once, each with the index of its second occurrence.
pub(crate) fn repeated<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<(usize, &'a str)> {
    let mut seen = BTreeSet::new();
    names
        .into_iter()
        .enumerate()
        .filter(|(_, n)| !seen.insert(*n))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Scenario;
    use crate::yaml;

    fn errors(text: &str) -> Vec<String> {
        let mut texts = Texts::default();
        let id = texts.file("t.yaml", text.as_bytes());
        let root = yaml::parse(text, id, &texts).unwrap();
        match from_node::<Scenario>(&root, &texts, &[]) {
            Ok(_) => Vec::new(),
            Err(es) => es
                .iter()
                .map(|e| {
                    let n = |n: Option<u32>| n.map_or(0, |n| n);
                    format!("{}:{} {}: {}", n(e.line), n(e.column), e.path, e.message)
                })
                .collect(),
        }
    }

    const GOOD: &str = "schema_version: 1
topology:
  nodes: [a, b]
  links:
    wan: {from: a, to: b, rate: 10 Mb/s, delay: 5 ms}
policies:
  W:
    class-based:
      classes:
        - name: x
          match: {dscp: [ef, 34], any: [{dport: 5060}]}
          aqm: {wred: {dscp: {af41: {min: 1, max: 2}}, precedence: {3: {min: 1, max: 5}}}}
traffic:
  - flow:
      name: voice
      from: a
      to: b
      dscp: ef
      source: {cbr: {rate: 64 kb/s, packet: {fixed: 200 B}}}
  - csv: {file: flows.csv}
";

    #[test]
    fn a_good_scenario_has_no_errors() {
        assert_eq!(errors(GOOD), Vec::<String>::new());
    }

    #[test]
    fn all_errors_are_reported_at_their_places() {
        let text = GOOD
            .replace("rate: 10 Mb/s, delay", "rat: 10 Mb/s, dalay")
            .replace("dscp: ef\n", "dscp: eff\n      ecn: Ect0\n")
            .replace("cbr: {rate: 64 kb/s", "cbr: {rate: 64")
            .replace("[ef, 34]", "[ef, 64]")
            .replace("max: 2}", "max: many}");
        assert_eq!(
            errors(&text),
            [
                "5:27 topology.links.wan.rat: unknown key `rat`; did you mean `rate`?",
                "5:41 topology.links.wan.dalay: unknown key `dalay`; did you mean `delay`?",
                "11:30 policies.W.class-based.classes[0].match.dscp[1]: `64` is not a DSCP",
                "12:51 policies.W.class-based.classes[0].aqm.wred.dscp.af41.max: expected a whole number from 0 to 4294967295",
                "18:13 traffic[0].flow.dscp: `eff` is not a DSCP",
                "19:12 traffic[0].flow.ecn: `Ect0` is not known here; did you mean `ect0`?",
                "20:28 traffic[0].flow.source.cbr.rate: the unit is missing",
            ]
        );
    }

    #[test]
    fn kinds_are_checked() {
        let one = |from: &str, to: &str| {
            let e = errors(&GOOD.replace(from, to));
            assert_eq!(e.len(), 1, "{e:?}");
            e[0].clone()
        };
        assert_eq!(
            one("csv: {", "cvs: {"),
            "20:5 traffic[1]: `cvs` is not known here; did you mean `csv`?"
        );
        assert_eq!(
            one("csv: {file: flows.csv}", "csv"),
            "20:5 traffic[1]: `csv` needs settings"
        );
        // A kind whose settings all have defaults stands alone; others name what they need.
        assert_eq!(
            errors(&GOOD.replace("traffic:", "  F: fifo\ntraffic:")),
            [""; 0]
        );
        assert_eq!(
            one("csv: {file: flows.csv}", "csv:"),
            "20:8 traffic[1].csv: expected a mapping of keys to values"
        );
        assert_eq!(
            one("csv: {file: flows.csv}", "{csv: {file: x}, flow: {}}"),
            "20:22 traffic[1]: both `csv` and `flow` where one kind is expected"
        );
        assert_eq!(
            one("nodes: [a, b]", "nodes: [a, 2]"),
            "3:14 topology.nodes[1]: expected a text"
        );
        assert_eq!(
            one("schema_version: 1", "schema_version: one"),
            "1:17 schema_version: expected a whole number from 0 to 4294967295"
        );
        assert_eq!(
            one(
                "wan: {from: a, to: b, rate: 10 Mb/s, delay: 5 ms}",
                "wan: [a, b]"
            ),
            "5:5 topology.links.wan: expected a mapping of keys to values"
        );
        assert_eq!(errors("[]"), ["1:1 : expected a mapping of keys to values"]);
    }
}
