//! Overrides: `--set path=value`, and the `set` of variants.
//!
//! A path is made of keys and list positions: `topology.links.wan.rate`,
//! `traffic.0.flow.count` or `traffic[0].flow.count`. A key with dots or
//! brackets in it stands in double quotes: `topology.links."wan.1".rate`. An
//! item of a list may also be chosen by its `name`, if only one item has it:
//! `policies.CBWFQ.class-based.classes.voice.priority`. In a list of kinds the
//! name is looked for inside the kind, which is left out of the path:
//! `traffic.voice.count` is `traffic[0].flow.count` if flow 0 is called voice.
//!
//! What stands at the path is replaced; a key that may stand there but does not
//! is added. The value is YAML.

use crate::codes;
use crate::error::Diagnostic;
use crate::node::{Key, Node, Path, Span, Step, Value};
use crate::schema_path::Cursor;
use crate::suggest::{did_you_mean, list};
use crate::text::Texts;
use crate::yaml;

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

/// What a variant may change; the rest is common to all variants.
const VARIABLE: [&str; 5] = ["topology", "configs", "policies", "traffic", "measurement"];

/// Applies the `set` of variant `index` of `original` to `root`, its copy.
///
/// # Errors
/// Every path that leads nowhere, fits several places, or is common to all variants.
pub(crate) fn variant(
    root: &mut Node,
    original: &Node,
    index: usize,
    texts: &Texts,
) -> Result<(), Vec<Diagnostic>> {
    let set = original
        .get("variants")
        .and_then(|v| v.step(&Step::Index(index)))
        .and_then(|v| v.get("set"));
    let Some(Value::Map(entries)) = set.map(|s| &s.value) else {
        return Ok(());
    };
    let mut errors = Vec::new();
    for (key, value) in entries {
        let applied = parse(&key.name).and_then(|segments| {
            let first = segments.first().map_or("", |s| s.text.as_str());
            if !VARIABLE.contains(&first) {
                let near = did_you_mean(first, VARIABLE);
                return Err(Diagnostic::error(
                    codes::FIXED_IN_VARIANT,
                    format!("a variant cannot change `{first}`{near}"),
                )
                .hint(format!("a variant changes {}", VARIABLE.join(", "))));
            }
            assign(root, &segments, value.clone(), key.span)
        });
        if let Err(d) = applied {
            let mut d = texts.locate(d, key.span);
            d.found.get_or_insert_with(|| key.name.clone());
            d.path = format!("variants[{index}].set");
            errors.push(d);
        }
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}

/// A part of a path as written.
#[derive(Debug, PartialEq, Eq)]
struct Segment {
    text: String,
    /// Written as a plain number or in brackets.
    index: Option<usize>,
}

/// Splits a path into its parts.
fn parse(path: &str) -> Result<Vec<Segment>, Diagnostic> {
    let bad = |problem: &str| {
        Diagnostic::error(codes::BAD_OVERRIDE, format!("the path {problem}"))
            .found(path)
            .hint("write keys with dots between them, such as topology.links.wan.rate or traffic[0].flow.count")
    };
    let mut segments = Vec::new();
    let mut rest = path.trim();
    if rest.is_empty() {
        return Err(bad("is empty"));
    }
    loop {
        if let Some(after) = rest.strip_prefix('[') {
            let (number, after) = after
                .split_once(']')
                .ok_or_else(|| bad("has a bracket that is not closed"))?;
            let index = number
                .trim()
                .parse()
                .map_err(|_| bad("has brackets without a number"))?;
            segments.push(Segment {
                text: number.to_owned(),
                index: Some(index),
            });
            rest = after;
        } else if let Some(after) = rest.strip_prefix('"') {
            let (text, after) =
                quoted(after).ok_or_else(|| bad("has a quote that is not closed"))?;
            segments.push(Segment { text, index: None });
            rest = after;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let text = rest[..end].trim();
            if text.is_empty() {
                return Err(bad("has an empty part"));
            }
            segments.push(Segment {
                text: text.to_owned(),
                index: text.parse().ok(),
            });
            rest = &rest[end..];
        }
        match rest.chars().next() {
            None => return Ok(segments),
            Some('[') => {}
            Some('.') => rest = &rest[1..],
            Some(_) => return Err(bad("lacks a dot after a quote or bracket")),
        }
    }
}

/// The text up to the closing quote, and what follows it.
fn quoted(after: &str) -> Option<(String, &str)> {
    let mut text = String::new();
    let mut chars = after.char_indices();
    while let Some((i, c)) = chars.next() {
        match c {
            '"' => return Some((text, &after[i + 1..])),
            '\\' => text.push(chars.next()?.1),
            c => text.push(c),
        }
    }
    None
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

/// The steps to what exists, and the keys to add below it.
fn find(root: &Node, segments: &[Segment]) -> Result<(Vec<Step>, Vec<String>), Diagnostic> {
    let schema = crate::json_schema();
    let mut cursor = Cursor::new(&schema);
    let mut node = root;
    let mut steps: Vec<Step> = Vec::new();
    let mut i = 0;
    while let Some(segment) = segments.get(i) {
        match &node.value {
            Value::Map(_) if node.get(&segment.text).is_some() => {
                let step = Step::Key(segment.text.clone());
                let Some(next) = node.step(&step) else { break };
                node = next;
                cursor.key(&segment.text);
                steps.push(step);
            }
            Value::Map(_) | Value::Null => {
                let keys = missing(&mut cursor, node, &steps, &segments[i..])?;
                return Ok((steps, keys));
            }
            Value::Seq(items) => {
                for step in item(items, segment, &steps)? {
                    let Some(next) = node.step(&step) else { break };
                    node = next;
                    match &step {
                        Step::Key(k) => cursor.key(k),
                        Step::Index(_) => cursor.item(),
                    }
                    steps.push(step);
                }
                // The kind may be left out after a name, or written.
                let kind = match steps.last() {
                    Some(Step::Key(k)) => Some(k.as_str()),
                    _ => None,
                };
                let next = segments.get(i + 1).map(|s| s.text.as_str());
                if kind.is_some() && kind == next && node.get(next.unwrap_or_default()).is_none() {
                    i += 1;
                }
            }
            _ => {
                let message = format!(
                    "`{}` is a single value, it has no `{}`",
                    Path(&steps),
                    segment.text
                );
                let hint = format!("it is `{}`; replace it as a whole", node.describe());
                return Err(Diagnostic::error(codes::NO_SUCH_PATH, message).hint(hint));
            }
        }
        i += 1;
    }
    Ok((steps, Vec::new()))
}

/// The keys of `rest` if the format has them below `node`, which lacks the first.
fn missing(
    cursor: &mut Cursor<'_>,
    node: &Node,
    steps: &[Step],
    rest: &[Segment],
) -> Result<Vec<String>, Diagnostic> {
    let mut here = steps.to_vec();
    let mut existing: Vec<&str> = match &node.value {
        Value::Map(entries) => entries.iter().map(|(k, _)| k.name.as_str()).collect(),
        _ => Vec::new(),
    };
    for (i, segment) in rest.iter().enumerate() {
        let last = i + 1 == rest.len();
        let known = cursor.has(&segment.text) || (last && cursor.takes_any());
        if !known {
            let mut names = existing;
            names.extend(cursor.names());
            names.sort_unstable();
            names.dedup();
            let at = if here.is_empty() {
                "the scenario".to_owned()
            } else {
                format!("`{}`", Path(&here))
            };
            let near = did_you_mean(&segment.text, names.iter().copied());
            return Err(Diagnostic::error(
                codes::NO_SUCH_PATH,
                format!("there is no `{}` in {at}{near}", segment.text),
            )
            .hint(format!("keys there: {}", list(names))));
        }
        cursor.key(&segment.text);
        here.push(Step::Key(segment.text.clone()));
        existing = Vec::new();
    }
    Ok(rest.iter().map(|s| s.text.clone()).collect())
}

/// The name of an item: its own, or that of the content of its kind, with the steps to the content.
fn name_of(item: &Node) -> Option<(&str, Vec<Step>)> {
    if let Some(name) = item.get("name").and_then(Node::text) {
        return Some((name, Vec::new()));
    }
    match &item.value {
        Value::Map(entries) => match &entries[..] {
            [(kind, content)] => {
                let name = content.get("name").and_then(Node::text)?;
                Some((name, vec![Step::Key(kind.name.clone())]))
            }
            _ => None,
        },
        _ => None,
    }
}

/// The steps to an item of a list, by position or by name.
fn item(items: &[Node], segment: &Segment, steps: &[Step]) -> Result<Vec<Step>, Diagnostic> {
    let here = Path(steps);
    let named: Vec<_> = items
        .iter()
        .enumerate()
        .filter_map(|(i, n)| name_of(n).map(|(name, s)| (i, name, s)))
        .collect();
    if let Some(i) = segment.index {
        if i < items.len() {
            return Ok(vec![Step::Index(i)]);
        }
        let message = format!("`{here}` has {} items, there is no item {i}", items.len());
        return Err(Diagnostic::error(codes::NO_SUCH_PATH, message).hint("items count from 0"));
    }
    let mut fitting = named.iter().filter(|(_, name, _)| *name == segment.text);
    match (fitting.next(), fitting.next()) {
        (Some((i, _, content)), None) => {
            let mut steps = vec![Step::Index(*i)];
            steps.extend(content.iter().cloned());
            Ok(steps)
        }
        (Some((i, ..)), Some((j, ..))) => Err(Diagnostic::error(
            codes::AMBIGUOUS_PATH,
            format!("several items of `{here}` are called `{}`", segment.text),
        )
        .hint(format!("choose one by its position, such as {i} or {j}"))),
        (None, _) => {
            let names: Vec<_> = named.iter().map(|(_, n, _)| *n).collect();
            let near = did_you_mean(&segment.text, names.iter().copied());
            Err(Diagnostic::error(
                codes::NO_SUCH_PATH,
                format!("no item of `{here}` is called `{}`{near}", segment.text),
            )
            .hint(format!(
                "names there: {}; positions count from 0",
                list(names)
            )))
        }
    }
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
        let cases: [(&str, &[Step], &str); 9] = [
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
