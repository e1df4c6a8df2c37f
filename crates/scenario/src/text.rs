//! Bytes to text, and the texts that a scenario was read from.

use crate::codes;
use crate::error::{Diagnostic, one_line};
use crate::node::{Path, Span, Step};

/// Largest scenario, table or configuration that is read, in bytes.
pub const MAX_BYTES: usize = 64 << 20;

/// Decodes UTF-8, with or without byte order mark.
///
/// # Errors
/// The first byte that is not UTF-8, with its line and column; UTF-16 and files above
/// [`MAX_BYTES`].
pub fn decode<'a>(file: &str, bytes: &'a [u8]) -> Result<&'a str, Diagnostic> {
    if bytes.len() > MAX_BYTES {
        return Err(Diagnostic::error(
            codes::TOO_LARGE,
            format!("the file is larger than {} MiB", MAX_BYTES >> 20),
        )
        .in_file(file)
        .hint("what is longer is not read: divide it"));
    }
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(Diagnostic::error(codes::NOT_UTF8, "the file is UTF-16")
            .at(file, 1, 1)
            .hint("save the file as UTF-8"));
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(e) => {
            let before = &bytes[..e.valid_up_to()];
            let line = 1 + before.iter().filter(|b| **b == b'\n').count();
            let start = before
                .iter()
                .rposition(|b| *b == b'\n')
                .map_or(0, |i| i + 1);
            let column = 1 + String::from_utf8_lossy(&before[start..]).chars().count();
            let message = format!(
                "byte 0x{:02X} at line {line} is not UTF-8",
                bytes[e.valid_up_to()]
            );
            return Err(Diagnostic::error(codes::NOT_UTF8, message)
                .at(file, clamp(line), clamp(column))
                .hint("save the file as UTF-8"));
        }
    };
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Lines and columns above 4 billion do not occur below [`MAX_BYTES`].
pub(crate) fn clamp(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// A text that was read: a file, or the value of an override.
#[derive(Debug)]
struct Text {
    /// The file as the user names it, or `--set path`.
    name: String,
    /// The content of a file; an override has no lines to show.
    content: Option<String>,
}

/// Every text that spans refer to.
#[derive(Debug, Default)]
pub(crate) struct Texts(Vec<Text>);

impl Texts {
    /// Adds a file.
    pub(crate) fn file(&mut self, name: &str, bytes: &[u8]) -> u32 {
        self.push(
            name.to_owned(),
            Some(String::from_utf8_lossy(bytes).into_owned()),
        )
    }

    /// Adds the value of an override of `path`.
    pub(crate) fn set(&mut self, path: &str) -> u32 {
        self.push(format!("--set {}", one_line(path, 200)), None)
    }

    fn push(&mut self, name: String, content: Option<String>) -> u32 {
        self.0.push(Text { name, content });
        clamp(self.0.len() - 1)
    }

    /// The name of a text.
    pub(crate) fn name(&self, text: u32) -> &str {
        self.0.get(text as usize).map_or("", |t| &t.name)
    }

    /// Whether a text is a file that the scenario refers to.
    pub(crate) fn is_beside(&self, text: u32) -> bool {
        let found = self.0.get(text as usize);
        text > 0 && found.is_some_and(|t| t.content.is_some())
    }

    /// The order of texts in a report: as they were read, unknown ones last.
    pub(crate) fn rank(&self, file: &str) -> usize {
        self.0
            .iter()
            .position(|t| t.name == file)
            .unwrap_or(self.0.len())
    }

    /// A diagnostic at a place.
    pub(crate) fn locate(&self, d: Diagnostic, span: Span) -> Diagnostic {
        match self.0.get(span.text as usize) {
            Some(t) if t.content.is_none() => d.in_file(&t.name),
            Some(t) => {
                let mut d = d.at(&t.name, span.line, span.column);
                d.width = span.width;
                d
            }
            None => d,
        }
    }

    /// A diagnostic at a place that is reached by `path`.
    pub(crate) fn place(&self, d: Diagnostic, span: Span, path: &[Step]) -> Diagnostic {
        self.locate(d, span).path(Path(path).to_string())
    }

    /// Adds the offending lines to diagnostics that lack them.
    pub(crate) fn quote(&self, diagnostics: &mut [Diagnostic]) {
        for d in diagnostics {
            if let Some(t) = self.0.iter().find(|t| t.name == d.file) {
                d.quote(t.content.as_deref().unwrap_or_default());
            }
            if d.width == 0 {
                d.width = width_of_found(d).unwrap_or(0);
            }
        }
    }
}

/// The length of the offending text if it is at the place of the diagnostic.
fn width_of_found(d: &Diagnostic) -> Option<u32> {
    let (found, source) = (d.found.as_ref()?, d.source.as_ref()?);
    let rest: String = source.chars().skip(d.column? as usize - 1).collect();
    rest.starts_with(found.as_str())
        .then(|| clamp(found.chars().count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_bytes_are_located() {
        let e = decode("a.yaml", b"a: 1\nb: 2\nname: caf\xe9\n").unwrap_err();
        assert_eq!((e.line, e.column), (Some(3), Some(10)));
        assert_eq!(e.message, "byte 0xE9 at line 3 is not UTF-8");
        assert!(decode("a.yaml", b"\xff\xfea\0").is_err());
        assert_eq!(decode("a.yaml", b"\xef\xbb\xbfa: 1"), Ok("a: 1"));
    }
}
