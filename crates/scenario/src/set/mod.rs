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

mod find;
mod path;

use self::find::find;
use self::path::{Segment, parse};
use crate::codes;
use crate::error::Diagnostic;
use crate::node::{Key, Node, Span, Step, Value};
use crate::suggest::did_you_mean;
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
