//! Bytes of a configuration to lines, and lines to words with columns.

use std::borrow::Cow;

use super::fault::{Fault, code};

/// The longest configuration that is read, in bytes.
const MAX_BYTES: usize = 64 << 20;

/// A decoded configuration.
pub(crate) struct Text<'a> {
    /// Its characters.
    pub(crate) text: Cow<'a, str>,
    /// The first line (from 1) that is not UTF-8, if any: the file was taken as Latin-1.
    pub(crate) latin1_line: Option<u32>,
}

/// Decodes UTF-8, else Latin-1 (which every byte string is); refuses what is no text.
///
/// # Errors
/// The line and fault: a NUL byte, or more than 64 MiB.
pub(crate) fn decode(bytes: &[u8]) -> Result<Text<'_>, (u32, Fault)> {
    if bytes.len() > MAX_BYTES {
        return Err((
            1,
            Fault::new(
                code::TOO_LARGE,
                1,
                "the configuration is larger than 64 MiB",
            )
            .found(format!("{} bytes", bytes.len()))
            .hint("give the part of it that configures queueing"),
        ));
    }
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    if let Some(at) = bytes.iter().position(|&b| b == 0) {
        let start = bytes[..at].iter().rposition(|&b| b == b'\n');
        let column = at - start.map_or(0, |s| s + 1) + 1;
        let fault = Fault::new(
            code::NOT_TEXT,
            u32::try_from(column).unwrap_or(u32::MAX),
            "this is not text: it contains a NUL byte",
        );
        return Err((
            line_of(bytes, at),
            fault
                .found("\\0")
                .hint("save the running-config as plain text (UTF-8 or Latin-1, not UTF-16)"),
        ));
    }
    Ok(match std::str::from_utf8(bytes) {
        Ok(text) => Text {
            text: Cow::Borrowed(text),
            latin1_line: None,
        },
        Err(e) => Text {
            text: Cow::Owned(bytes.iter().map(|&b| char::from(b)).collect()),
            latin1_line: Some(line_of(bytes, e.valid_up_to())),
        },
    })
}

fn line_of(bytes: &[u8], at: usize) -> u32 {
    let breaks = bytes[..at].iter().filter(|&&b| b == b'\n').count();
    u32::try_from(breaks + 1).unwrap_or(u32::MAX)
}

/// One line, without its line end, trailing blanks and a terminal's prompt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// Number, from 1.
    pub(crate) number: u32,
    /// The whole line, trailing blanks removed.
    full: &'a str,
    /// Byte offset in `full` of the first word.
    start: usize,
    /// Columns of blank before the first word; 0 behind a prompt.
    pub(crate) depth: usize,
}

impl<'a> Line<'a> {
    fn new(number: u32, raw: &'a str) -> Self {
        let full = raw.trim_end();
        let paged = paging(full);
        let prompt = prompt(&full[paged..]);
        let skip = paged + prompt;
        let start = full.len() - full[skip..].trim_start().len();
        let depth = full[skip..start].chars().fold(0, |d, c| match c {
            '\t' => (d / 8 + 1) * 8,
            _ => d + 1,
        });
        Self {
            number,
            full,
            start,
            depth: if prompt > 0 { 0 } else { depth },
        }
    }

    /// The line without the blanks around it.
    pub(crate) fn text(&self) -> &'a str {
        &self.full[self.start..]
    }

    /// The whole line.
    pub(crate) fn raw(&self) -> &'a str {
        self.full
    }

    /// Whether there is nothing on it but a comment.
    pub(crate) fn is_blank(&self) -> bool {
        self.text().is_empty() || self.text().starts_with('!')
    }

    /// Its words.
    pub(crate) fn words(self) -> Words<'a> {
        Words {
            line: self,
            at: self.start,
        }
    }

    /// Column (from 1, in characters) of a byte offset.
    fn column(&self, at: usize) -> u32 {
        u32::try_from(self.full[..at].chars().count() + 1).unwrap_or(u32::MAX)
    }

    /// Column of the first word, from 1.
    pub(crate) fn first_column(&self) -> u32 {
        self.column(self.start)
    }
}

/// Length of what a pager left at the line's start: ` --More-- ` and what hid it again, backspaces,
/// a carriage return or as many blanks. What is behind it has its own indentation.
fn paging(line: &str) -> usize {
    const MARK: &str = "--More--";
    let mut length = 0;
    while let Some(at) = line[length..].find(MARK) {
        let rest = &line[length..];
        // Terminals show it in reverse: escape sequences around it.
        let plain = |c: char| c.is_whitespace() || c == '\u{8}' || c == '\u{1b}';
        let shown = |c: char| plain(c) || "[]?;mKJ".contains(c) || c.is_ascii_digit();
        let hidden = match rest[..at].starts_with('\u{1b}') {
            true => rest[..at].chars().all(shown),
            false => rest[..at].chars().all(plain),
        };
        if !hidden {
            break;
        }
        let behind = &rest[at + MARK.len()..];
        let until_text = behind.find(|c: char| !shown(c)).unwrap_or(behind.len());
        let erased = behind[..until_text].rfind(['\u{8}', '\r', '\u{1b}']);
        length += at + MARK.len();
        length += match erased {
            Some(last) if behind[last..].starts_with('\u{1b}') => {
                last + behind[last..]
                    .find(['m', 'K', 'J'])
                    .map_or(1, |end| end + 1)
            }
            Some(last) => last + 1,
            // Backspaces were lost: as many blanks took its place.
            None => behind.len() - behind.trim_start_matches(' ').len(),
        };
    }
    length
}

/// Length of a configuration-mode prompt, `R1(config-pmap-c)#`, at the line's start.
fn prompt(line: &str) -> usize {
    let host = line
        .bytes()
        .take_while(|b| b.is_ascii_alphanumeric() || b"-_./:".contains(b))
        .count();
    match line[host..].strip_prefix("(config") {
        Some(rest) if host > 0 => rest.find(")#").map_or(0, |end| {
            if rest[..end]
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-')
            {
                host + "(config".len() + end + ")#".len()
            } else {
                0
            }
        }),
        _ => 0,
    }
}

/// The lines of a text, numbered from 1.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    text.split('\n')
        .zip(1_u32..)
        .map(|(raw, number)| Line::new(number, raw))
}

/// One word of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    /// Its characters, without quotes around it.
    pub(crate) text: &'a str,
    /// Column of its first character, from 1.
    pub(crate) column: u32,
    /// A quote opens the word and none closes it.
    pub(crate) unclosed: bool,
}

impl Word<'_> {
    /// Whether it begins with a digit.
    pub(crate) fn is_number(self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_digit())
    }

    /// Something wrong with it.
    pub(crate) fn fault(self, code: &'static str, message: impl Into<String>) -> Fault {
        Fault::new(code, self.column, message).found(self.text)
    }
}

/// Iterator over the words of a line: separated by blanks, `"` groups them,
/// a word that begins with `!` begins a comment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<'a> {
    line: Line<'a>,
    at: usize,
}

impl<'a> Words<'a> {
    /// The line.
    pub(crate) fn line(&self) -> Line<'a> {
        self.line
    }

    /// What is left of the line, as written.
    pub(crate) fn rest(&self) -> &'a str {
        self.line.full[self.at..].trim_start()
    }

    /// Column just behind the last word taken, from 1.
    pub(crate) fn end_column(&self) -> u32 {
        self.line.column(self.at)
    }

    /// The next word, without taking it.
    pub(crate) fn peek(&self) -> Option<Word<'a>> {
        self.clone().next()
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        let full = self.line.full;
        let rest = full[self.at..].trim_start();
        let start = full.len() - rest.len();
        if rest.is_empty() || rest.starts_with('!') {
            self.at = full.len();
            return None;
        }
        let column = self.line.column(start);
        if let Some(inner) = rest.strip_prefix('"') {
            if let Some(end) = inner.find('"') {
                self.at = start + 1 + end + 1;
                return Some(Word {
                    text: &inner[..end],
                    column,
                    unclosed: false,
                });
            }
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        self.at = start + end;
        Some(Word {
            text: &rest[..end],
            column,
            unclosed: rest.starts_with('"'),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<(String, u32)> {
        Line::new(1, text)
            .words()
            .map(|w| (w.text.to_owned(), w.column))
            .collect()
    }

    #[test]
    fn words_have_columns_in_characters() {
        let at = |w: &str, c| (w.to_owned(), c);
        assert_eq!(
            split("  class  \"my voice\"\tx ! note\r"),
            [at("class", 3), at("my voice", 10), at("x", 21)]
        );
        assert_eq!(split("é é"), [at("é", 1), at("é", 3)]);
        assert_eq!(split("  ! bandwidth 3"), []);
        assert_eq!(split("\"half open"), [at("\"half", 1), at("open", 7)]);
    }

    #[test]
    fn prompts_and_pager_residue_are_skipped() {
        let line = Line::new(1, "R1(config-pmap-c)# bandwidth 10");
        assert_eq!((line.text(), line.depth), ("bandwidth 10", 0));
        assert_eq!(line.first_column(), 20);
        assert_eq!(Line::new(1, "R1(configx y)#a").text(), "R1(configx y)#a");
        let paged = " --More-- \u{8}\u{8}\u{8}         \u{8}\u{8}\u{8} class voice";
        let line = Line::new(1, paged);
        assert_eq!((line.text(), line.depth), ("class voice", 1));
        for (paged, text, depth) in [
            (" --More-- ", "", 0),
            (" --More-- \u{8}\u{8}\u{8} --More-- ", "", 0),
            (
                "\u{1b}[7m --More-- \u{1b}[m\r          \r  bandwidth 1",
                "bandwidth 1",
                2,
            ),
            ("--More--\u{1b}[K class x", "class x", 1),
            (" --More--           class voice", "class voice", 0),
            (
                " description --More-- money",
                "description --More-- money",
                1,
            ),
        ] {
            let line = Line::new(1, paged);
            assert_eq!((line.text(), line.depth), (text, depth), "{paged:?}");
        }
        let xr = Line::new(1, "RP/0/RSP0/CPU0:pe1(config-pmap-c)#priority level 1");
        assert_eq!(xr.text(), "priority level 1");
    }

    #[test]
    fn depth_counts_tab_stops() {
        assert_eq!(Line::new(1, "\tx").depth, 8);
        assert_eq!(Line::new(1, "  \tx").depth, 8);
        assert_eq!(Line::new(1, " x").depth, 1);
    }

    #[test]
    fn latin1_is_text_and_nul_is_not() {
        let t = decode(b"a\n description caf\xE9\n").ok().unwrap();
        assert_eq!(t.latin1_line, Some(2));
        assert!(t.text.contains("café"));
        let (line, fault) = decode(b"ab\ncd\0").err().unwrap();
        assert_eq!((line, fault.column), (2, 3));
        assert_eq!(decode(b"\xEF\xBB\xBFx").ok().unwrap().text, "x");
    }
}
