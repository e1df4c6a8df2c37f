//! Tables of flows as comma-separated values (RFC 4180).
//!
//! Beyond the RFC: LF as well as CRLF, a byte order mark, blank lines, lines
//! that begin with `#` as comments, and spaces around unquoted cells, which do
//! not count. Every cell knows its line and column.

use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Span, Step};
use crate::text::{Texts, clamp};
use spillgate_core::suggest::{did_you_mean, list};

/// A cell and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) span: Span,
}

/// Whether a cell says yes or no; none if neither.
pub(crate) fn flag(cell: &Cell) -> Option<bool> {
    match cell.text.as_str() {
        "yes" | "true" => Some(true),
        "no" | "false" => Some(false),
        _ => None,
    }
}

/// Most errors of syntax that are collected from one table.
const MAX_ERRORS: usize = 50;

/// The records of a table that is well-formed, one after another, comments and blank lines left
/// out.
///
/// The text is gone through twice, so that no more than one record is in memory.
pub(crate) struct Records<'a>(Reader<'a>);

impl Iterator for Records<'_> {
    type Item = Vec<Cell>;

    fn next(&mut self) -> Option<Vec<Cell>> {
        self.0.next_record()
    }
}

/// The most records of a table, without its header, and their name.
#[derive(Clone, Copy)]
pub(crate) struct Most {
    pub(crate) rows: usize,
    pub(crate) called: &'static str,
    pub(crate) code: &'static str,
    pub(crate) hint: &'static str,
}

/// The header of a table and its other records; none of an empty one.
///
/// # Errors
/// Quotes that are not closed, text beside a quoted cell, and more records than `most`.
pub(crate) fn read<'a>(
    content: &'a str,
    text: u32,
    texts: &Texts,
    most: Most,
) -> Result<Option<(Vec<Cell>, Records<'a>)>, Vec<Diagnostic>> {
    let mut check = Reader::new(content, text);
    let mut rows = 0;
    while check.errors.len() < MAX_ERRORS {
        let Some(record) = check.next_record() else {
            break;
        };
        // The first one is the header.
        if rows > most.rows && check.errors.is_empty() {
            let Most {
                rows,
                called,
                code,
                hint,
            } = most;
            let message = format!("the table has more than {rows} {called}");
            let d = Diagnostic::error(code, message).hint(hint);
            let place = record.first().map_or_else(Span::default, |c| c.span);
            return Err(vec![texts.locate(d, place)]);
        }
        rows += 1;
    }
    if !check.errors.is_empty() {
        let errors = check.errors.into_iter();
        return Err(errors.map(|(d, span)| texts.locate(d, span)).collect());
    }
    let mut records = Records(Reader::new(content, text));
    Ok(records.next().map(|header| (header, records)))
}

/// The error of a column that a table does not have.
pub(crate) fn unknown_column(name: &str, known: &[&str]) -> Diagnostic {
    let near = did_you_mean(name, known.iter().copied());
    let message = format!("there is no column `{name}`{near}");
    Diagnostic::error(codes::TABLE_HEADER, message)
        .found(name)
        .hint(format!("columns: {}", known.join(", ")))
}

/// The lines of a text that are neither blank nor comments.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim);
    lines.filter(|l| !l.is_empty() && !l.starts_with('#'))
}

/// Whether the first line of a text names one of these columns, whatever separates them; also of a
/// text without lines.
pub(crate) fn names_columns(text: &str, known: &[&str]) -> bool {
    lines(text).next().is_none_or(|header| {
        let cells = header.split([',', ';', '\t']).map(|c| c.trim());
        cells
            .map(|c| c.trim_matches('"'))
            .any(|c| known.contains(&c))
    })
}

/// Whether the first lines of a text all have the same number of commas, or of another usual
/// separator.
pub(crate) fn has_columns(text: &str) -> bool {
    let mut first = lines(text).take(2);
    let (Some(header), Some(row)) = (first.next(), first.next()) else {
        return lines(text).next().is_none();
    };
    let count = |line: &str, c: char| line.matches(c).count();
    [',', ';', '\t']
        .iter()
        .any(|c| count(header, *c) > 0 && count(header, *c) == count(row, *c))
}

/// Checks that a header has known columns only, each once, and all `required` ones; none after an
/// error.
pub(crate) fn check_header(
    ctx: &mut Ctx<'_>,
    header: &[Cell],
    known: &[&str],
    required: &[&str],
    base: &[Step],
) -> Option<()> {
    let mut fine = true;
    let mut report = |d: Diagnostic, span: Span| {
        ctx.report(ctx.texts.place(d, span, base));
        fine = false;
    };
    for (i, cell) in header.iter().enumerate() {
        let name = cell.text.as_str();
        if !known.contains(&name) {
            report(unknown_column(name, known), cell.span);
        } else if header[..i].iter().any(|c| c.text == name) {
            let message = format!("the column `{name}` occurs twice");
            let d = Diagnostic::error(codes::TABLE_HEADER, message)
                .found(name)
                .hint("remove one of the two");
            report(d, cell.span);
        }
    }
    let has = |r: &str| header.iter().any(|c| c.text == r);
    let missing: Vec<&str> = required.iter().copied().filter(|r| !has(r)).collect();
    if let (false, Some(first)) = (missing.is_empty(), header.first()) {
        let message = format!("the table lacks the columns {}", list(missing));
        let d = Diagnostic::error(codes::TABLE_HEADER, message)
            .found(list(header.iter().map(|c| c.text.as_str())))
            .hint(format!("columns: {}", known.join(", ")));
        report(d, first.span);
    }
    fine.then_some(())
}

struct Reader<'a> {
    rest: &'a str,
    /// Where `rest` begins.
    span: Span,
    errors: Vec<(Diagnostic, Span)>,
}

impl<'a> Reader<'a> {
    fn new(content: &'a str, text: u32) -> Self {
        Self {
            rest: content,
            span: Span {
                text,
                line: 1,
                column: 1,
                width: 0,
            },
            errors: Vec::new(),
        }
    }

    fn next_record(&mut self) -> Option<Vec<Cell>> {
        while !self.rest.is_empty() {
            if self.rest.starts_with('#') {
                self.skip_line();
                continue;
            }
            let record = self.record();
            let blank =
                matches!(&record[..], [only] if only.text.is_empty() && only.span.width == 0);
            if !blank {
                return Some(record);
            }
        }
        None
    }

    /// Moves over `len` bytes.
    fn advance(&mut self, len: usize) {
        let (done, rest) = self.rest.split_at(len);
        match done.rfind('\n') {
            Some(end) => {
                self.span.line += clamp(done.matches('\n').count());
                self.span.column = 1 + clamp(done[end + 1..].chars().count());
            }
            None => self.span.column += clamp(done.chars().count()),
        }
        self.rest = rest;
    }

    fn skip_line(&mut self) {
        let end = self.rest.find('\n').map_or(self.rest.len(), |i| i + 1);
        self.advance(end);
    }

    fn skip_spaces(&mut self) {
        let spaces = self.rest.len() - self.rest.trim_start_matches([' ', '\t']).len();
        self.advance(spaces);
    }

    /// Whether a record ends here: LF, CRLF or the end of the text.
    fn line_end(&self) -> Option<usize> {
        if self.rest.is_empty() {
            Some(0)
        } else if self.rest.starts_with('\n') {
            Some(1)
        } else {
            self.rest.starts_with("\r\n").then_some(2)
        }
    }

    /// Cells up to the end of the record, which is passed.
    fn record(&mut self) -> Vec<Cell> {
        let mut cells = Vec::new();
        loop {
            self.skip_spaces();
            cells.push(if self.rest.starts_with('"') {
                self.quoted()
            } else {
                self.plain()
            });
            if let Some(len) = self.line_end() {
                self.advance(len);
                return cells;
            }
            // Only a comma can be left: both kinds of cells end at a comma or at the end of the
            // line.
            self.advance(1);
        }
    }

    fn plain(&mut self) -> Cell {
        let end = self.rest.find([',', '\n']).unwrap_or(self.rest.len());
        let raw = &self.rest[..end];
        let raw = match self.rest[end..].starts_with('\n') {
            true => raw.strip_suffix('\r').unwrap_or(raw),
            false => raw,
        };
        let trimmed = raw.trim();
        let width = clamp(trimmed.chars().count());
        let cell = Cell {
            text: trimmed.to_owned(),
            span: Span { width, ..self.span },
        };
        self.advance(raw.len());
        if let Some(at) = cell.text.find('"') {
            let mut span = cell.span;
            span.column += clamp(cell.text[..at].chars().count());
            self.error(
                "a quote inside a cell that does not begin with one",
                span,
                "put the whole cell in quotes, and write a quote in it as two",
            );
        }
        cell
    }

    fn quoted(&mut self) -> Cell {
        let start = self.span;
        let mut text = String::new();
        let mut at = 1;
        loop {
            let Some(quote) = self.rest[at..].find('"') else {
                self.error(
                    "a quote that is not closed",
                    start,
                    "end the cell with a quote",
                );
                self.advance(self.rest.len());
                return Cell { text, span: start };
            };
            text.push_str(&self.rest[at..at + quote]);
            at += quote + 1;
            if !self.rest[at..].starts_with('"') {
                break;
            }
            text.push('"');
            at += 1;
        }
        let width = if text.contains('\n') {
            0
        } else {
            clamp(self.rest[..at].chars().count())
        };
        self.advance(at);
        self.skip_spaces();
        if self.line_end().is_none() && !self.rest.starts_with(',') {
            self.error(
                "text after the closing quote of a cell",
                self.span,
                "write a quote inside a quoted cell as two",
            );
            let stop = self.rest.find([',', '\n']).unwrap_or(self.rest.len());
            self.advance(stop);
        }
        Cell {
            text,
            span: Span {
                width: width.max(1),
                ..start
            },
        }
    }

    fn error(&mut self, message: &str, span: Span, hint: &str) {
        let d = Diagnostic::error(codes::TABLE_SYNTAX, message).hint(hint);
        self.errors.push((d, span));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All records, the header among them, of at most so many rows.
    fn records(text: &str, rows: usize) -> Result<Vec<Vec<Cell>>, Vec<Diagnostic>> {
        let mut texts = Texts::default();
        let id = texts.file("t.csv", text.as_bytes());
        let most = Most {
            rows,
            called: "rows",
            code: codes::TABLE_ROW,
            hint: "write fewer",
        };
        let found = read(text, id, &texts, most)?;
        let all = found.into_iter();
        Ok(all
            .flat_map(|(header, records)| std::iter::once(header).chain(records))
            .collect())
    }

    fn cells(text: &str) -> Result<Vec<Vec<String>>, Vec<Diagnostic>> {
        let texts = |r: Vec<Cell>| r.into_iter().map(|c| c.text).collect();
        Ok(records(text, 1000)?.into_iter().map(texts).collect())
    }

    #[test]
    fn reads_what_rfc_4180_describes() {
        assert_eq!(
            cells("# head\r\na, b ,\"c,\"\"d\"\"\"\r\n\r\n1,,\"x\ny\"\n,\n\"\"").unwrap(),
            vec![
                vec!["a", "b", "c,\"d\""],
                vec!["1", "", "x\ny"],
                vec!["", ""],
                vec![""]
            ]
        );
        assert_eq!(cells("").unwrap().len(), 0);
        assert_eq!(cells("a,b").unwrap(), [["a", "b"]]);
    }

    #[test]
    fn cells_know_their_places() {
        let records = records("a,\"é\nx\", b\r\nc,d", 1).unwrap();
        let place = |r: usize, c: usize| (records[r][c].span.line, records[r][c].span.column);
        assert_eq!(
            (place(0, 1), place(0, 2), place(1, 1)),
            ((1, 3), (2, 5), (3, 3))
        );
    }

    #[test]
    fn quotes_are_checked() {
        let first = |text: &str| {
            let e = cells(text).unwrap_err();
            e[0].message.clone()
        };
        assert_eq!(first("a,\"b"), "a quote that is not closed");
        assert_eq!(
            first("a,\"b\"c,d"),
            "text after the closing quote of a cell"
        );
        assert_eq!(
            first("a,b\"c\n"),
            "a quote inside a cell that does not begin with one"
        );
    }

    /// The row beyond the limit is named, and nothing after it is read.
    #[test]
    fn rows_are_counted_while_they_are_read() {
        let table = "n\n1\n# x\n\n2\n3\n\"";
        assert_eq!(records("n\n1\n2\n", 2).unwrap().len(), 3);
        let found = records(table, 2).unwrap_err();
        let [d] = &found[..] else { panic!("{found:?}") };
        assert_eq!(
            (d.line, &*d.message),
            (Some(6), "the table has more than 2 rows")
        );
    }

    proptest! {
        /// Quoting every cell as the RFC says, then reading, gives the cells back.
        #[test]
        fn written_tables_read_back(rows in prop::collection::vec(prop::collection::vec("[ -~\n\"é,]{0,8}", 1..4), 1..4)) {
            let text: String = rows.iter().map(|r| {
                let cells: Vec<_> = r.iter().map(|c| format!("\"{}\"", c.replace('"', "\"\""))).collect();
                cells.join(",") + "\r\n"
            }).collect();
            prop_assert_eq!(cells(&text).unwrap(), rows);
        }

        #[test]
        fn no_text_panics(text in "[ab,\"\r\n# é]{0,40}") {
            let _ = cells(&text);
        }
    }
}
