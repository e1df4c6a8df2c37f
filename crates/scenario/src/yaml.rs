//! YAML 1.2 text to a tree of nodes with places.
//!
//! The events come from `saphyr-parser`; here are the core schema, anchors with
//! a bound on what they expand to, unique keys, and a bound on nesting. JSON is
//! a subset. Tags beyond the core schema, merge keys, keys that are lists or
//! mappings, and several documents in one file are refused by name.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Tag};

use crate::codes;
use crate::error::Diagnostic;
use crate::node::{Key, Node, Span, Value};
use crate::scalar;
use crate::text::{Texts, clamp};

/// Deepest nesting of lists and mappings.
pub const MAX_DEPTH: usize = 64;

/// Most nodes that aliases may add to a document, against exponential expansion.
pub const MAX_ALIASED: usize = 1_000_000;

/// Most values of a document as written, keys included: a tree takes about 0.4 kB for each.
pub(crate) const MAX_VALUES: usize = 4_000_000;

/// Most errors that are collected from one text.
const MAX_ERRORS: usize = 50;

/// Parses one document; `text` is its number among `texts`, for places and errors.
///
/// # Errors
/// The first error of syntax, or every duplicate key.
pub(crate) fn parse(content: &str, text: u32, texts: &Texts) -> Result<Node, Vec<Diagnostic>> {
    parse_up_to(MAX_VALUES, content, text, texts)
}

fn parse_up_to(
    most: usize,
    content: &str,
    text: u32,
    texts: &Texts,
) -> Result<Node, Vec<Diagnostic>> {
    let mut builder = Builder {
        text,
        texts,
        stack: Vec::new(),
        anchors: BTreeMap::new(),
        open_anchors: BTreeSet::new(),
        aliased: 0,
        left: most,
        root: None,
        errors: Vec::new(),
    };
    match builder.run(content) {
        Err(fatal) => {
            builder.errors.push(*fatal);
            Err(builder.errors)
        }
        Ok(()) if !builder.errors.is_empty() => Err(builder.errors),
        Ok(()) => Ok(builder.root.take().unwrap_or(Node {
            span: Span {
                text,
                line: 1,
                column: 1,
                width: 0,
            },
            value: Value::Null,
        })),
    }
}

type Fatal = Box<Diagnostic>;

/// A list or mapping that is still open.
struct Frame {
    span: Span,
    anchor: usize,
    kind: Collection,
}

enum Collection {
    Seq(Vec<Node>),
    Map {
        entries: Vec<(Key, Node)>,
        seen: BTreeMap<String, u32>,
        key: Option<Key>,
    },
}

struct Builder<'t> {
    text: u32,
    texts: &'t Texts,
    stack: Vec<Frame>,
    anchors: BTreeMap<usize, (Node, usize)>,
    open_anchors: BTreeSet<usize>,
    aliased: usize,
    /// How many more values are allowed.
    left: usize,
    root: Option<Node>,
    errors: Vec<Diagnostic>,
}

impl Builder<'_> {
    fn run(&mut self, content: &str) -> Result<(), Fatal> {
        let mut parser = Parser::new_from_str(content);
        let mut documents = 0;
        while let Some(event) = parser.next_event() {
            let (event, at) = event.map_err(|e| self.syntax(&e, content))?;
            let span = self.span(at.start, at.end);
            match event {
                Event::Nothing | Event::StreamStart | Event::DocumentEnd => {}
                Event::StreamEnd => break,
                Event::DocumentStart(_) => {
                    documents += 1;
                    if documents > 1 {
                        return Err(self.fatal(
                            Diagnostic::error(
                                codes::UNSUPPORTED_YAML,
                                "a second document begins here",
                            )
                            .hint("keep one document in a file: remove this `---`"),
                            span,
                        ));
                    }
                }
                Event::Scalar(value, style, anchor, tag) => {
                    let value = self.scalar(value, style, tag.as_deref(), span)?;
                    self.put(Node { span, value }, anchor)?;
                }
                Event::SequenceStart(anchor, tag) => {
                    self.collection_tag(tag.as_deref(), "seq", span)?;
                    self.open(span, anchor, Collection::Seq(Vec::new()))?;
                }
                Event::MappingStart(anchor, tag) => {
                    self.collection_tag(tag.as_deref(), "map", span)?;
                    let kind = Collection::Map {
                        entries: Vec::new(),
                        seen: BTreeMap::new(),
                        key: None,
                    };
                    self.open(span, anchor, kind)?;
                }
                Event::SequenceEnd | Event::MappingEnd => {
                    if let Some(frame) = self.stack.pop() {
                        let value = match frame.kind {
                            Collection::Seq(items) => Value::Seq(items),
                            Collection::Map { entries, .. } => Value::Map(entries),
                        };
                        self.open_anchors.remove(&frame.anchor);
                        self.put(
                            Node {
                                span: frame.span,
                                value,
                            },
                            frame.anchor,
                        )?;
                    }
                }
                Event::Alias(anchor) => self.alias(anchor, span)?,
            }
        }
        Ok(())
    }

    fn span(&self, start: Marker, end: Marker) -> Span {
        let width = if start.line() == end.line() {
            end.col().saturating_sub(start.col())
        } else {
            0
        };
        Span {
            text: self.text,
            line: clamp(start.line().max(1)),
            column: clamp(start.col() + 1),
            width: clamp(width),
        }
    }

    fn fatal(&self, d: Diagnostic, span: Span) -> Fatal {
        Box::new(self.texts.locate(d, span))
    }

    fn syntax(&self, e: &ScanError, content: &str) -> Fatal {
        let span = self.span(*e.marker(), *e.marker());
        let mut d = Diagnostic::error(codes::YAML, format!("this is not YAML: {}", e.info()));
        let line = content
            .lines()
            .nth(span.line as usize - 1)
            .unwrap_or_default();
        let indent = &line[..line.len() - line.trim_start().len()];
        if content.contains('\0') {
            d = d.hint("the text contains a NUL character: is this a text file?");
        } else if indent.contains('\t') || e.info().starts_with("tab") {
            d = d.hint("indent with spaces: YAML does not allow tabs there");
        } else if line.contains(['"', '\'', '`', '@', '%']) {
            d = d.hint("check the quotes, or put the value in quotes");
        } else if line.matches(": ").count() > 1 {
            d = d.hint("put a value that contains `: ` in quotes");
        } else {
            d = d.hint("check indentation, colons and brackets here and on the line above");
        }
        self.fatal(d, span)
    }

    fn scalar(
        &self,
        text: Cow<'_, str>,
        style: ScalarStyle,
        tag: Option<&Tag>,
        span: Span,
    ) -> Result<Value, Fatal> {
        let plain = style == ScalarStyle::Plain;
        let Some(tag) = tag else {
            return Ok(if plain {
                scalar::resolve(&text)
            } else {
                Value::Str(text.into_owned())
            });
        };
        let kind = tag.is_yaml_core_schema().then_some(tag.suffix.as_str());
        let resolved = scalar::resolve(&text);
        match (kind, resolved) {
            (Some("str"), _) => Ok(Value::Str(text.into_owned())),
            (Some("int"), v @ Value::Int(..))
            | (Some("float"), v @ (Value::Int(..) | Value::Float(..)))
            | (Some("bool"), v @ Value::Bool(_))
            | (Some("null"), v @ Value::Null) => Ok(v),
            _ => Err(self.bad_tag(tag, span)),
        }
    }

    fn collection_tag(&self, tag: Option<&Tag>, kind: &str, span: Span) -> Result<(), Fatal> {
        match tag {
            Some(t) if !(t.is_yaml_core_schema() && t.suffix == kind) => Err(self.bad_tag(t, span)),
            _ => Ok(()),
        }
    }

    fn bad_tag(&self, tag: &Tag, span: Span) -> Fatal {
        let d = Diagnostic::error(codes::UNSUPPORTED_YAML, "this tag does not fit here")
            .found(tag.to_string())
            .hint("leave the tag out");
        self.fatal(d, span)
    }

    fn open(&mut self, span: Span, anchor: usize, kind: Collection) -> Result<(), Fatal> {
        self.no_complex_key(span)?;
        if self.stack.len() >= MAX_DEPTH {
            return Err(self.too_deep(span));
        }
        if anchor > 0 {
            self.open_anchors.insert(anchor);
        }
        self.stack.push(Frame { span, anchor, kind });
        Ok(())
    }

    fn too_deep(&self, span: Span) -> Fatal {
        let d = Diagnostic::error(
            codes::TOO_DEEP,
            format!("lists and mappings are nested more than {MAX_DEPTH} deep"),
        )
        .hint("no scenario needs that: look for a bracket that was not closed");
        self.fatal(d, span)
    }

    /// Refuses a list or mapping in the place of a key.
    fn no_complex_key(&self, span: Span) -> Result<(), Fatal> {
        match self.stack.last() {
            Some(Frame {
                kind: Collection::Map { key: None, .. },
                ..
            }) => Err(self.fatal(
                Diagnostic::error(codes::UNSUPPORTED_YAML, "a list or mapping as a key").hint(
                    "write a name as the key; put text that begins with `{` or `[` in quotes",
                ),
                span,
            )),
            _ => Ok(()),
        }
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), Fatal> {
        let Some((node, depth)) = self.anchors.get(&anchor) else {
            let message = if self.open_anchors.contains(&anchor) {
                "the alias stands inside what it repeats"
            } else {
                "the alias repeats nothing"
            };
            return Err(self.fatal(
                Diagnostic::error(codes::ALIAS, message)
                    .hint("define the anchor (`&name`) before the alias (`*name`), and outside it"),
                span,
            ));
        };
        if self.stack.len() + depth > MAX_DEPTH {
            return Err(self.too_deep(span));
        }
        self.aliased += node.size();
        if self.aliased > MAX_ALIASED {
            return Err(self.fatal(
                Diagnostic::error(
                    codes::ALIAS,
                    format!("aliases expand to more than {MAX_ALIASED} values"),
                )
                .hint("write the values out where they are needed"),
                span,
            ));
        }
        let mut copy = node.clone();
        copy.span = span;
        self.no_complex_key(span).or_else(|e| match copy.value {
            Value::Seq(_) | Value::Map(_) => Err(e),
            _ => Ok(()),
        })?;
        self.put(copy, 0)
    }

    /// Adds a finished node to the list or mapping that contains it.
    fn put(&mut self, node: Node, anchor: usize) -> Result<(), Fatal> {
        let Some(left) = self.left.checked_sub(1) else {
            let message = format!("there are more than {MAX_VALUES} values");
            let d = Diagnostic::error(codes::TOO_LARGE, message)
                .hint("put traffic into a table (CSV), and flows that are alike under a `count`");
            return Err(self.fatal(d, node.span));
        };
        self.left = left;
        if anchor > 0 {
            let depth = depth(&node);
            // Remembering a node copies it: nested anchors would copy quadratically.
            self.aliased += node.size();
            self.anchors.insert(anchor, (node.clone(), depth));
        }
        let Some(frame) = self.stack.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        match &mut frame.kind {
            Collection::Seq(items) => items.push(node),
            Collection::Map { key, .. } if key.is_none() => {
                let Some(name) = node.text() else {
                    let d = Diagnostic::error(codes::UNSUPPORTED_YAML, "an empty key")
                        .hint("write a name before the colon");
                    return Err(self.fatal(d, node.span));
                };
                if name == "<<" && node.span.width == 2 {
                    let d = Diagnostic::error(
                        codes::UNSUPPORTED_YAML,
                        "merge keys (`<<`) are not part of YAML 1.2",
                    )
                    .hint("repeat the keys, or use an alias for a whole value");
                    return Err(self.fatal(d, node.span));
                }
                *key = Some(Key {
                    name: name.to_owned(),
                    span: node.span,
                });
            }
            Collection::Map { entries, seen, key } => {
                let Some(key) = key.take() else { return Ok(()) };
                if let Some(first) = seen.get(&key.name) {
                    if self.errors.len() < MAX_ERRORS {
                        let d = Diagnostic::error(
                            codes::DUPLICATE_KEY,
                            format!("the key `{}` occurs twice, first at line {first}", key.name),
                        )
                        .found(&key.name)
                        .hint("remove one of the two");
                        self.errors.push(self.texts.locate(d, key.span));
                    }
                } else {
                    seen.insert(key.name.clone(), key.span.line);
                    entries.push((key, node));
                }
            }
        }
        Ok(())
    }
}

fn depth(node: &Node) -> usize {
    match &node.value {
        Value::Seq(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Map(entries) => 1 + entries.iter().map(|(_, v)| depth(v)).max().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
