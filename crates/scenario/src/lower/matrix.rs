//! Traffic matrices: tables of rates between sites.
//!
//! The long form has a row for each flow, with columns `from`, `to` and `rate`; the wide form a row
//! for each sender and a column for each receiver. Either becomes the rows of a table of flows and
//! goes through the same checks.

use std::collections::BTreeMap;

use spillgate_core::units::{parse_rate, split_number};

use super::columns::{COLUMNS, RowKind};
use super::rows::{self, Rows};
use crate::beside::Expected;
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, Span, Step, steps};
use crate::schema::MatrixSpec;
use crate::table::{self, Cell, Records};

/// The texts of cells without traffic.
const NOTHING: [&str; 3] = ["", "-", "–"];

const TABLE: Expected = Expected::table(
    "the first line names the columns: from,to,rate, or a corner and the sites that receive",
    |text| table::names_columns(text, &COLUMNS) || table::has_columns(text),
);

/// Adds the flows of a matrix. True if all could be read; none if the matrix cannot be read.
pub(super) fn read(
    ctx: &mut Ctx<'_>,
    spec: &MatrixSpec,
    root: &Node,
    index: usize,
    rows: &mut Rows,
) -> Option<bool> {
    let base = steps!["traffic", index, "matrix"];
    let path = |key: &str| steps!["traffic", index, "matrix", key];
    let mut fine = positive(ctx, spec.scale, root, &path("scale"));
    if let Some(unit) = &spec.unit {
        if let Err(e) = parse_rate(&format!("1 {}", unit.0)) {
            let d = Diagnostic::error(codes::BAD_VALUE, e.message)
                .found(&unit.0)
                .hint("write a unit of rates such as Mb/s");
            ctx.error(d, root, &path("unit"));
            fine = false;
        }
    }
    let defaults = rows::defaults(ctx, &spec.defaults, root, &base, "defaults");
    let file = ctx.open(&spec.file, TABLE, root, &path("file"))?;
    let records = rows::records(ctx, &file, &base, rows::MOST_ROWS)?;
    let mut defaults = defaults?;
    let span = root.nearest(&path("file"));
    let mut telling = RowKind::TELLING.iter();
    let told = telling.find(|(column, _)| defaults.contains_key(*column));
    let source = told.map_or("poisson", |(_, kind)| *kind);
    let usual = [("source", source), ("packet", "imix")];
    for (name, text) in usual {
        let text = text.to_owned();
        defaults
            .entry(name.to_owned())
            .or_insert(Cell { text, span });
    }
    let Some((header, records)) = records else {
        let d = Diagnostic::error(codes::TABLE_HEADER, "the matrix is empty")
            .hint("the first line names the columns: from,to,rate, or the sites that receive");
        let place = Span {
            text: file.text,
            line: 1,
            column: 1,
            width: 0,
        };
        ctx.report(ctx.texts.place(d, place, &base));
        return None;
    };
    if !fine {
        return None;
    }
    let reader = MatrixReader {
        spec,
        defaults,
        base: &base,
        root,
    };
    let has = |name: &str| header.iter().any(|c| c.text == name);
    if has("from") && has("to") {
        reader.long(ctx, &header, records, rows)
    } else {
        reader.wide(ctx, &header, records, rows)
    }
}

/// Whether a factor is above 0.
pub(super) fn positive(ctx: &mut Ctx<'_>, factor: f64, root: &Node, path: &[Step]) -> bool {
    if factor.is_finite() && factor > 0.0 {
        return true;
    }
    let d = Diagnostic::error(codes::OUT_OF_RANGE, "a factor must be above 0 and finite")
        .hint("write a number such as 1.5");
    ctx.error(d, root, path);
    false
}

struct MatrixReader<'a> {
    spec: &'a MatrixSpec,
    defaults: BTreeMap<String, Cell>,
    base: &'a [Step],
    root: &'a Node,
}

impl MatrixReader<'_> {
    fn error(&self, ctx: &mut Ctx<'_>, cell: &Cell, code: &'static str, message: &str, hint: &str) {
        let d = Diagnostic::error(code, message)
            .found(&cell.text)
            .hint(hint);
        ctx.report(ctx.texts.place(d, cell.span, self.base));
    }

    fn long(
        &self,
        ctx: &mut Ctx<'_>,
        header: &[Cell],
        records: Records<'_>,
        rows: &mut Rows,
    ) -> Option<bool> {
        let column = |name: &str| header.iter().position(|c| c.text == name);
        let named = column("name").is_some();
        let mut full: Vec<Cell> = header.to_vec();
        if !named {
            full.push(Cell {
                text: "name".to_owned(),
                span: header[0].span,
            });
        }
        rows::check_header(ctx, &full, &self.defaults, self.base)?;
        let (from, to, rate) = (column("from")?, column("to")?, column("rate"));
        let (class, dscp, codec) = (column("class"), column("dscp"), column("codec"));
        let count = column("count");
        let mut fine = true;
        for mut record in records {
            let whole = record.len() == header.len();
            let own = whole && codec.is_some_and(|i| !record[i].text.is_empty());
            let call = whole && (own || self.defaults.contains_key("codec"));
            if let (true, Some(count)) = (call, count) {
                // An empty cell means one call.
                if !record[count].text.is_empty() && self.is_nothing(&record[count]) {
                    continue;
                }
                record[count] = self.calls(&record[count]);
            } else if let (true, false, Some(rate)) = (whole, call, rate) {
                if self.is_nothing(&record[rate]) {
                    continue;
                }
                record[rate] = self.scaled(&record[rate]);
            }
            if whole && !named {
                let text = |i: usize| record[i].text.as_str();
                let mut kinds = [class, dscp, codec].into_iter().flatten().map(text);
                let kind = kinds.find(|c| !c.is_empty());
                let name = self.name(kind, text(from), text(to));
                let span = record[from].span;
                record.push(Cell { text: name, span });
            }
            let head = if whole { &full } else { header };
            fine &= self.add(ctx, head, &record, rows)?;
        }
        Some(fine)
    }

    /// Adds the flow of a record. True if it could be read; none if there are too many.
    fn add(
        &self,
        ctx: &mut Ctx<'_>,
        header: &[Cell],
        record: &[Cell],
        rows: &mut Rows,
    ) -> Option<bool> {
        let Some(row) = rows::row(ctx, header, record, &self.defaults, self.base) else {
            return Some(false);
        };
        rows.push(ctx, self.root, row).then_some(true)
    }

    fn wide(
        &self,
        ctx: &mut Ctx<'_>,
        header: &[Cell],
        records: Records<'_>,
        rows: &mut Rows,
    ) -> Option<bool> {
        let (_, sites) = header.split_first()?;
        if sites.is_empty() {
            let hint = "write from,to,rate, or a corner and the sites that receive: from,hq,branch";
            self.error(
                ctx,
                &header[0],
                codes::TABLE_HEADER,
                "the matrix has one column",
                hint,
            );
            return None;
        }
        let mut fine = true;
        for (i, site) in sites.iter().enumerate() {
            if site.text.is_empty() {
                let hint = "name the site that receives";
                self.error(
                    ctx,
                    site,
                    codes::TABLE_HEADER,
                    "a column without a site",
                    hint,
                );
                fine = false;
            } else if sites[..i].iter().any(|s| s.text == site.text) {
                let message = format!("the site `{}` occurs twice", site.text);
                self.error(
                    ctx,
                    site,
                    codes::TABLE_HEADER,
                    &message,
                    "remove one of the two",
                );
                fine = false;
            }
        }
        let column = |text: &str| Cell {
            text: text.to_owned(),
            span: header[0].span,
        };
        // In a matrix of calls each cell is a number.
        let calls = self.defaults.contains_key("codec");
        let amount = if calls { "count" } else { "rate" };
        let columns = ["name", "from", "to", amount].map(column);
        for record in records {
            let from = &record[0];
            if record.len() != header.len() {
                let message = format!(
                    "the row has {} cells, the header {}",
                    record.len(),
                    header.len()
                );
                let hint = "write a rate for each site, `-` or nothing where there is none";
                self.error(ctx, from, codes::TABLE_ROW, &message, hint);
                fine = false;
                continue;
            }
            for (to, cell) in sites.iter().zip(&record[1..]) {
                if self.is_nothing(cell) {
                    continue;
                }
                if to.text == from.text {
                    let message = format!("traffic from `{}` to itself", to.text);
                    let hint = "leave the diagonal empty: it does not cross the network";
                    self.error(ctx, cell, codes::SELF_LINK, &message, hint);
                    fine = false;
                    continue;
                }
                let name = self.name(None, &from.text, &to.text);
                let span = cell.span;
                let record = [
                    Cell { text: name, span },
                    from.clone(),
                    Cell {
                        text: to.text.clone(),
                        span,
                    },
                    if calls {
                        self.calls(cell)
                    } else {
                        self.scaled(cell)
                    },
                ];
                fine &= self.add(ctx, &columns, &record, rows)?;
            }
        }
        Some(fine)
    }

    /// `voice:hq:branch`.
    fn name(&self, kind: Option<&str>, from: &str, to: &str) -> String {
        let prefix = self.spec.prefix.as_deref().or(kind);
        match prefix {
            Some(prefix) => format!("{prefix}:{from}:{to}"),
            None => format!("{from}:{to}"),
        }
    }

    fn is_nothing(&self, cell: &Cell) -> bool {
        let number = split_number(&cell.text).map(|(n, _)| n);
        NOTHING.contains(&cell.text.as_str()) || number == Ok(0.0)
    }

    /// A number of calls, scaled and rounded, at least one. Other text stays as it is and is
    /// reported later.
    fn calls(&self, cell: &Cell) -> Cell {
        let text = match cell.text.parse::<u32>() {
            Ok(n) => scaled(u64::from(n), self.spec.scale).to_string(),
            Err(_) => cell.text.clone(),
        };
        Cell { text, ..*cell }
    }

    /// The rate with its unit, scaled. Other text stays as it is and is reported later.
    fn scaled(&self, cell: &Cell) -> Cell {
        let bare = cell.text.parse::<f64>().is_ok();
        let written = match (&self.spec.unit, bare) {
            (Some(unit), true) => format!("{} {}", cell.text, unit.0),
            _ => cell.text.clone(),
        };
        let text = match parse_rate(&written) {
            Ok(rate) => format!("{} b/s", scaled(rate.bps(), self.spec.scale)),
            Err(_) => written,
        };
        Cell { text, ..*cell }
    }
}

/// The product of a rate in bit/s, or a number, and a factor, rounded, at least 1.
pub(super) fn scaled(bps: u64, factor: f64) -> u64 {
    ((bps as f64 * factor + 0.5) as u64).max(1)
}
