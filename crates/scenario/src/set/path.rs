//! Paths as they are written, split into parts.

use crate::codes;
use crate::error::Diagnostic;

/// A part of a path as written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) text: String,
    /// Written as a plain number or in brackets.
    pub(crate) index: Option<usize>,
}

/// Splits a path into its parts.
pub(crate) fn parse(path: &str) -> Result<Vec<Segment>, Diagnostic> {
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
