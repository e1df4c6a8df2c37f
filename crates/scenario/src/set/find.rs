//! Where a path leads in a tree.

use super::path::Segment;
use crate::codes;
use crate::error::Diagnostic;
use crate::node::{Key, Node, Path, Step, Value};
use crate::own;
use crate::schema_path::Cursor;
use spillgate_core::suggest::{did_you_mean, list};

/// The steps to what exists, and the keys to add below it.
pub(super) fn find(
    root: &Node,
    segments: &[Segment],
) -> Result<(Vec<Step>, Vec<String>), Diagnostic> {
    let schema = crate::json_schema();
    let mut cursor = Cursor::new(schema);
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
            Value::Map(entries) if is_own(entries, segment) => {
                // A part of one's own is meant by its name, and what follows is a setting.
                for key in [own::KIND, "with"] {
                    let step = Step::Key(key.to_owned());
                    let Some(next) = node.step(&step) else { break };
                    node = next;
                    cursor.key(key);
                    steps.push(step);
                }
            }
            Value::Map(entries) if leaves_kind_out(entries, &cursor, segment) => {
                let step = Step::Key(entries[0].0.name.clone());
                let Some(next) = node.step(&step) else { break };
                node = next;
                cursor.key(&entries[0].0.name);
                steps.push(step);
                continue;
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

/// Whether a part of one's own is meant, by its name.
fn is_own(entries: &[(Key, Node)], segment: &Segment) -> bool {
    match entries {
        [(kind, content)] if kind.name == own::KIND => {
            content.get("name").and_then(Node::text) == Some(&segment.text)
        }
        _ => false,
    }
}

/// Whether a key is meant of the only kind that stands here, such as `classes` of
/// `{class-based: {classes: ..}}`.
fn leaves_kind_out(entries: &[(Key, Node)], cursor: &Cursor<'_>, segment: &Segment) -> bool {
    let [(kind, content)] = entries else {
        return false;
    };
    let mut below = cursor.clone();
    below.key(&kind.name);
    let has = content.get(&segment.text).is_some() || below.has(&segment.text);
    cursor.is_kind(&kind.name) && !cursor.has(&segment.text) && has
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
