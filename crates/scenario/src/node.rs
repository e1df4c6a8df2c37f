//! A document as a tree in which every value knows where it stands.

use std::fmt;

use crate::set::path::{Segment, parse};

/// A place in one of the texts that were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    /// Which text: an index into the loader's list of texts, 0 for the scenario file.
    pub(crate) text: u32,
    /// Line, from 1.
    pub(crate) line: u32,
    /// Column in characters, from 1.
    pub(crate) column: u32,
    /// Length in characters of what is meant on this line; 0 if unknown.
    pub(crate) width: u32,
}

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    /// Where it stands.
    pub(crate) span: Span,
    /// What it is.
    pub(crate) value: Value,
}

/// The values of a node (YAML 1.2, core schema).
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number that fits 64 bits, signed or unsigned.
    Int(i128, Box<str>),
    /// Any other number.
    Float(f64, Box<str>),
    /// A text.
    Str(String),
    /// A list.
    Seq(Vec<Node>),
    /// Keys and values in the order of the document; keys are unique.
    Map(Vec<(Key, Node)>),
    /// Removed because it was reported already.
    Pruned,
}

/// A key of a mapping and its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    /// The key's text.
    pub(crate) name: String,
    /// Where it stands.
    pub(crate) span: Span,
}

/// One step from a value to a part of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    /// To the value of a key.
    Key(String),
    /// To an item of a list, from 0.
    Index(usize),
}

impl Step {
    /// The steps of a path as models write it: `classes[2].bandwidth`, `vpns."a.b"[0]`. None if it
    /// is none.
    pub(crate) fn parse_all(path: &str) -> Vec<Self> {
        let parts = parse(path.trim_start_matches('.')).unwrap_or_default();
        let step = |part: Segment| part.index.map_or(Self::Key(part.text), Self::Index);
        parts.into_iter().map(step).collect()
    }
}

/// Steps as a path that `--set` takes: `traffic[0].flow."a.b"`.
pub(crate) struct Path<'a>(pub(crate) &'a [Step]);

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            match step {
                Step::Index(n) => write!(f, "[{n}]")?,
                Step::Key(k) => {
                    if i > 0 {
                        f.write_str(".")?;
                    }
                    let plain = !k.is_empty()
                        && !k
                            .chars()
                            .any(|c| matches!(c, '.' | '[' | ']' | '"' | '=') || c.is_whitespace());
                    if plain {
                        f.write_str(k)?;
                    } else {
                        write!(f, "{k:?}")?;
                    }
                }
            }
        }
        Ok(())
    }
}

impl Node {
    /// A copy of a mapping without one of its keys.
    pub(crate) fn without(&self, name: &str) -> Self {
        let value = match &self.value {
            Value::Map(entries) => {
                let kept = entries.iter().filter(|(key, _)| key.name != name);
                Value::Map(kept.cloned().collect())
            }
            other => other.clone(),
        };
        Self {
            span: self.span,
            value,
        }
    }

    /// The value of a key, if this is a mapping that has it.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        match &self.value {
            Value::Map(entries) => entries.iter().find(|(k, _)| k.name == name).map(|(_, v)| v),
            _ => None,
        }
    }

    /// The part one step away.
    pub(crate) fn step(&self, step: &Step) -> Option<&Self> {
        match (step, &self.value) {
            (Step::Key(k), _) => self.get(k),
            (Step::Index(i), Value::Seq(items)) => items.get(*i),
            _ => None,
        }
    }

    /// The part one step away, to change it.
    pub(crate) fn step_mut(&mut self, step: &Step) -> Option<&mut Self> {
        match (step, &mut self.value) {
            (Step::Key(name), Value::Map(entries)) => entries
                .iter_mut()
                .find(|(k, _)| k.name == *name)
                .map(|(_, v)| v),
            (Step::Index(i), Value::Seq(items)) => items.get_mut(*i),
            _ => None,
        }
    }

    /// The part at a path, or the deepest part on the way to it that exists.
    ///
    /// If the path ends at a key without a deeper part, the result is the key's place, so that a
    /// missing value is shown where it should be.
    pub(crate) fn nearest(&self, path: &[Step]) -> Span {
        let mut node = self;
        let mut span = self.span;
        for step in path {
            let next = match (step, &node.value) {
                (Step::Key(name), Value::Map(entries)) => entries
                    .iter()
                    .find(|(k, _)| k.name == *name)
                    .map(|(k, v)| (k.span, v)),
                (Step::Index(i), Value::Seq(items)) => items.get(*i).map(|v| (v.span, v)),
                _ => None,
            };
            let Some((place, value)) = next else { break };
            node = value;
            // A container is best shown by the key that leads to it.
            span = match value.value {
                Value::Seq(_) | Value::Map(_) | Value::Null => place,
                _ => value.span,
            };
        }
        span
    }

    /// The text of a scalar as it was written (quotes and escapes resolved).
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Str(s) => Some(s),
            Value::Int(_, raw) | Value::Float(_, raw) => Some(raw),
            Value::Bool(true) => Some("true"),
            Value::Bool(false) => Some("false"),
            Value::Null | Value::Seq(_) | Value::Map(_) | Value::Pruned => None,
        }
    }

    /// What stands there, for `found:`.
    pub(crate) fn describe(&self) -> String {
        match &self.value {
            Value::Null => "nothing".to_owned(),
            Value::Seq(items) if items.is_empty() => "an empty list".to_owned(),
            Value::Seq(_) => "a list".to_owned(),
            Value::Map(entries) if entries.is_empty() => "an empty mapping".to_owned(),
            Value::Map(_) => "a mapping".to_owned(),
            Value::Str(s) if s.is_empty() => "an empty text".to_owned(),
            _ => self.text().unwrap_or_default().to_owned(),
        }
    }

    /// How many nodes the tree has.
    pub(crate) fn size(&self) -> usize {
        1 + match &self.value {
            Value::Seq(items) => items.iter().map(Self::size).sum(),
            Value::Map(entries) => entries.iter().map(|(_, v)| v.size()).sum(),
            _ => 0,
        }
    }
}

impl From<&str> for Step {
    fn from(key: &str) -> Self {
        Self::Key(key.to_owned())
    }
}

impl From<&String> for Step {
    fn from(key: &String) -> Self {
        Self::Key(key.clone())
    }
}

impl From<usize> for Step {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

/// A path from its steps: `steps!["traffic", 0, "flow"]`.
macro_rules! steps {
    ($($step:expr),* $(,)?) => {
        [$($crate::node::Step::from($step)),*]
    };
}
pub(crate) use steps;
