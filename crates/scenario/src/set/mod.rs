//! Overrides: `--set path=value`, and the `set` of variants and axes.
//!
//! A path is made of keys and list positions: `topology.links.wan.rate`,
//! `traffic.0.flow.count` or `traffic[0].flow.count`. A key with dots or
//! brackets in it stands in double quotes: `topology.links."wan.1".rate`. An
//! item of a list may also be chosen by its `name`, if only one item has it:
//! `policies.CBWFQ.class-based.classes.voice.priority`. In a list of kinds the
//! name is looked for inside the kind, which is left out of the path:
//! `traffic.voice.count` is `traffic[0].flow.count` if flow 0 is called voice. It may be left out
//! elsewhere, too: `policies.CBWFQ.classes.voice.priority`.
//!
//! The value at the path is replaced; a valid key that is missing is added. The value is YAML.

mod find;
pub(crate) mod path;

use self::find::find;
use self::path::{Segment, parse};
use crate::axes::Replacement;
use crate::codes;
use crate::error::Diagnostic;
use crate::node::{Key, Node, Span, Step, Value};
use crate::points::Point;
use crate::text::Texts;
use crate::yaml;
use spillgate_core::suggest::did_you_mean;

const FORM: &str = "write path=value, such as topology.links.wan.rate=50 Mb/s";

/// Applies one `path=value` of the command line.
///
/// # Errors
/// If it is not of this form, leads nowhere or fits several places, or the value is not YAML.
pub(crate) fn command_line(
    root: &mut Node,
    assignment: &str,
    texts: &mut Texts,
) -> Result<(), Vec<Diagnostic>> {
    let Some((path, value)) = split(assignment) else {
        let d = Diagnostic::error(codes::BAD_OVERRIDE, "an override without `=`")
            .in_file("--set")
            .found(assignment)
            .hint(FORM);
        return Err(vec![d]);
    };
    let text = texts.set(path);
    let span = Span {
        text,
        line: 1,
        column: 1,
        width: 0,
    };
    let located = |d| vec![texts.locate(d, span)];
    let segments = parse(path).map_err(located)?;
    let node = yaml::parse(value, text, texts)?;
    assign(root, &segments, node, span).map_err(located)
}

/// Splits at the first `=` outside quotes.
fn split(assignment: &str) -> Option<(&str, &str)> {
    let mut quoted = false;
    let mut escaped = false;
    for (i, c) in assignment.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '=' if !quoted => return Some((assignment[..i].trim(), &assignment[i + 1..])),
            _ => {}
        }
    }
    None
}

/// The keys that a point may change; the others are common to all points.
const VARIABLE: [&str; 6] = [
    "topology",
    "configs",
    "policies",
    "agreements",
    "traffic",
    "measurement",
];

/// Which values are replaced: configurations and tables of agreements are chosen before their
/// policies and classes become part of the tree, and the rest after that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Below `configs` and `agreements`.
    Configs,
    /// Everywhere else.
    Rest,
}

impl Stage {
    /// The stage at which the value at a path is replaced. A malformed path is reported in the last
    /// stage.
    fn of(path: &str) -> Self {
        match parse(path).as_deref() {
            Ok([first, ..]) if ["configs", "agreements"].contains(&&*first.text) => Self::Configs,
            _ => Self::Rest,
        }
    }

    /// The stage at which a `path=value` of the command line is applied.
    pub(crate) fn of_assignment(assignment: &str) -> Self {
        Self::of(split(assignment).map_or("", |(path, _)| path))
    }
}

/// Whether one of two paths leads to the same place as the other, or to a part of it.
pub(crate) fn overlap(a: &str, b: &str) -> bool {
    match (parse(a), parse(b)) {
        (Ok(a), Ok(b)) => a.iter().zip(&b).all(|(a, b)| a == b),
        _ => false,
    }
}

/// Whether a point chooses configurations or tables of agreements of its own.
pub(crate) fn sets_configs(point: &Point<'_>) -> bool {
    let mut entries = point.entries.iter();
    entries.any(|e| Stage::of(&e.key.name) == Stage::Configs)
}

/// Applies the replacements of a point at this stage to `root`.
///
/// # Errors
/// Every path that leads nowhere, fits several places, or is common to all points.
pub(crate) fn point(
    root: &mut Node,
    point: &Point<'_>,
    stage: Stage,
    texts: &Texts,
) -> Result<(), Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let entries = point.entries.iter();
    for Replacement { key, value, place } in entries.filter(|e| Stage::of(&e.key.name) == stage) {
        let applied = parse(&key.name).and_then(|segments| {
            let first = segments.first().map_or("", |s| s.text.as_str());
            if !VARIABLE.contains(&first) {
                let near = did_you_mean(first, VARIABLE);
                let who = if place.starts_with("axes") {
                    "an axis"
                } else {
                    "a variant"
                };
                return Err(Diagnostic::error(
                    codes::FIXED_IN_VARIANT,
                    format!("{who} cannot change `{first}`{near}"),
                )
                .hint(format!("{who} changes {}", VARIABLE.join(", "))));
            }
            assign(root, &segments, value.clone().into_owned(), key.span)
        });
        if let Err(d) = applied {
            let mut d = texts.locate(d, key.span);
            d.found.get_or_insert_with(|| key.name.clone());
            d.path.clone_from(place);
            errors.push(d);
        }
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}

/// Puts `value` at the path.
fn assign(
    root: &mut Node,
    segments: &[Segment],
    value: Node,
    span: Span,
) -> Result<(), Diagnostic> {
    let (steps, missing) = find(root, segments)?;
    let Some(mut node) = steps.iter().try_fold(&mut *root, |n, s| n.step_mut(s)) else {
        return Ok(());
    };
    for key in missing {
        if !matches!(node.value, Value::Map(_)) {
            node.value = Value::Map(Vec::new());
        }
        let Value::Map(entries) = &mut node.value else {
            return Ok(());
        };
        let empty = Node {
            span,
            value: Value::Null,
        };
        entries.push((Key { name: key, span }, empty));
        match entries.last_mut() {
            Some((_, child)) => node = child,
            None => return Ok(()),
        }
    }
    *node = value;
    // Errors about the whole value are shown at the override, not at the key in the file.
    if let Some((Step::Key(last), parents)) = steps.split_last() {
        let parent = parents.iter().try_fold(root, |n, s| n.step_mut(s));
        if let Some(Value::Map(entries)) = parent.map(|p| &mut p.value) {
            for (key, _) in entries.iter_mut().filter(|(k, _)| k.name == *last) {
                key.span = span;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "topology:
  nodes: [a, b]
  links:
    wan: {from: a, to: b, rate: 10 Mb/s}
    wan.2: {from: b, to: a, rate: 1 Mb/s}
policies:
  P: {class-based: {classes: [{name: x}, {name: y}, {name: y}]}}
traffic:
  - flow: {name: voice, from: a, to: b, source: {cbr: {rate: 64 kb/s, packet: 200 B}}}
";

    fn set(assignment: &str) -> Result<Node, String> {
        let mut texts = Texts::default();
        let id = texts.file("t.yaml", TEXT.as_bytes());
        let mut root = yaml::parse(TEXT, id, &texts).unwrap();
        match command_line(&mut root, assignment, &mut texts) {
            Ok(()) => Ok(root),
            Err(ds) => Err(format!("{}: {}", ds[0].file, ds[0].message)),
        }
    }

    fn at(root: &Node, steps: &[Step]) -> String {
        let node = steps.iter().try_fold(root, |n, s| n.step(s));
        node.map_or_else(|| "nowhere".to_owned(), Node::describe)
    }

    #[test]
    fn paths_lead_to_values() {
        use crate::node::steps;
        let cases: [(&str, &[Step], &str); 12] = [
            (
                "topology.links.wan.rate=5 Mb/s",
                &steps!["topology", "links", "wan", "rate"],
                "5 Mb/s",
            ),
            (
                "topology.links.\"wan.2\".rate = 5 Mb/s",
                &steps!["topology", "links", "wan.2", "rate"],
                "5 Mb/s",
            ),
            (
                "traffic.0.flow.count=3",
                &steps!["traffic", 0, "flow", "count"],
                "3",
            ),
            (
                "traffic[0].flow.source.cbr.rate=1 Mb/s",
                &steps!["traffic", 0, "flow", "source", "cbr", "rate"],
                "1 Mb/s",
            ),
            (
                "traffic.voice.source.cbr.rate=1 Mb/s",
                &steps!["traffic", 0, "flow", "source", "cbr", "rate"],
                "1 Mb/s",
            ),
            (
                "policies.P.classes.x.priority.rate=2 Mb/s",
                &steps![
                    "policies",
                    "P",
                    "class-based",
                    "classes",
                    0,
                    "priority",
                    "rate"
                ],
                "2 Mb/s",
            ),
            (
                "policies.P.classes[2].aqm.red.max_p=0.2",
                &steps![
                    "policies",
                    "P",
                    "class-based",
                    "classes",
                    2,
                    "aqm",
                    "red",
                    "max_p"
                ],
                "0.2",
            ),
            (
                "traffic.voice.source.packet=1 kB",
                &steps!["traffic", 0, "flow", "source", "cbr", "packet"],
                "1 kB",
            ),
            (
                "traffic.voice.flow.dscp=ef",
                &steps!["traffic", 0, "flow", "dscp"],
                "ef",
            ),
            (
                "policies.P.class-based.classes.x.policy=Q",
                &steps!["policies", "P", "class-based", "classes", 0, "policy"],
                "Q",
            ),
            (
                "measurement.duration=10 s",
                &steps!["measurement", "duration"],
                "10 s",
            ),
            (
                "policies.N={fifo: {}}",
                &steps!["policies", "N"],
                "a mapping",
            ),
        ];
        for (assignment, steps, value) in cases {
            assert_eq!(at(&set(assignment).unwrap(), steps), value, "{assignment}");
        }
    }

    #[test]
    fn paths_to_nowhere_are_explained() {
        let cases = [
            ("runs", "--set: an override without `=`"),
            ("=3", "--set : the path is empty"),
            ("a..b=3", "--set a..b: the path has an empty part"),
            (
                "topology.link.wan.rate=1",
                "--set topology.link.wan.rate: there is no `link` in `topology`; did you mean `links`?",
            ),
            (
                "topology.links.wann.rate=1",
                "--set topology.links.wann.rate: there is no `wann` in `topology.links`; did you mean `wan`?",
            ),
            (
                "measurement.warmpu=1 s",
                "--set measurement.warmpu: there is no `warmpu` in `measurement`; did you mean `warmup`?",
            ),
            (
                "traffic.1.flow.count=1",
                "--set traffic.1.flow.count: `traffic` has 1 items, there is no item 1",
            ),
            (
                "traffic.vioce.count=1",
                "--set traffic.vioce.count: no item of `traffic` is called `vioce`; did you mean `voice`?",
            ),
            (
                "policies.P.class-based.classes.y.policy=1",
                "--set policies.P.class-based.classes.y.policy: several items of `policies.P.class-based.classes` are called `y`",
            ),
            (
                "topology.links.wan.rate.x=1",
                "--set topology.links.wan.rate.x: `topology.links.wan.rate` is a single value, it has no `x`",
            ),
            ("runs.seed=[1", "--set runs.seed: this is not YAML: "),
        ];
        for (assignment, message) in cases {
            let e = set(assignment).unwrap_err();
            assert!(e.starts_with(message), "{assignment}\n{e}");
        }
    }
}
