//! The traffic as rows, whether written in the scenario or in a table.
//!
//! A row of a table becomes a tree of nodes with the places of its cells and
//! goes through the same deserializer as a flow in the scenario, so both mean
//! the same and are checked alike.

use std::collections::{BTreeMap, BTreeSet};

use super::captures::{self, Replayed};
use super::columns::{COLUMNS, REQUIRED, RowKind, is_of_source, told, value};
use super::flows::{MAX_CLASSES, MAX_FLOWS, too_many_classes, too_many_flows};
use super::{matrix, offered};
use crate::beside::Expected;
use crate::codes;
use crate::ctx::{Ctx, File};
use crate::de::from_node;
use crate::error::Diagnostic;
use crate::node::{Key, Node, Path, Span, Step, Value, steps};
use crate::schema::{CsvSpec, FlowSpec, Literal, Scenario, SessionsSpec, TrafficSpec};
use crate::table::{self, Cell, Most, Records};
use crate::text::decode;
use spillgate_core::suggest::{did_you_mean, list};

const TABLE: Expected = Expected::table(
    "the first line names the columns, the others a flow each: name,from,to,rate,packet",
    |text| table::names_columns(text, &COLUMNS),
);

/// The most rows of a table: each row makes at least one flow, or is in error.
pub(super) const MOST_ROWS: Most = Most {
    rows: MAX_FLOWS as usize,
    called: "rows",
    code: codes::TOO_MANY_FLOWS,
    hint: "a scenario has at most 1000000 flows",
};

/// One line of traffic.
pub(super) struct Row {
    /// The keys that all kinds of traffic have.
    pub(super) spec: FlowSpec,
    /// The further keys of sessions.
    pub(super) sessions: Option<Box<SessionsSpec>>,
    /// The further keys of captures.
    pub(super) capture: Option<Box<Replayed>>,
    /// The path that leads to it.
    base: Vec<Step>,
    /// The tree of a table's row; a flow in the scenario is found by its path.
    own: Option<Node>,
}

impl Row {
    /// The row of a line of a file; errors in it are shown at `place`.
    pub(super) fn of_line(spec: FlowSpec, base: &[Step], place: Span) -> Self {
        Self {
            spec,
            sessions: None,
            capture: None,
            base: base.to_vec(),
            own: Some(Node {
                span: place,
                value: Value::Null,
            }),
        }
    }

    fn node<'a>(&'a self, root: &'a Node) -> &'a Node {
        match &self.own {
            Some(node) => node,
            None => self
                .base
                .iter()
                .try_fold(root, |n, s| n.step(s))
                .unwrap_or(root),
        }
    }

    /// Whether the row stands for flows, not for sessions or a capture.
    pub(super) fn is_flows(&self) -> bool {
        self.sessions.is_none() && self.capture.is_none()
    }

    /// Whether a key of the flow is written.
    pub(super) fn has(&self, root: &Node, key: &str) -> bool {
        self.node(root).get(key).is_some()
    }

    /// Reports an error in this row, at a path below the flow.
    pub(super) fn error(&self, ctx: &mut Ctx<'_>, root: &Node, d: Diagnostic, path: &[Step]) {
        ctx.error_below(d, self.node(root), path, &self.name(path));
    }

    /// The name of a path below the flow: in a table it is a column.
    fn name(&self, path: &[Step]) -> String {
        match self.own {
            Some(_) => column_name(&self.base, path),
            None => Path(&[&self.base, path].concat()).to_string(),
        }
    }

    /// Reports a warning in this row, at a path below the flow.
    pub(super) fn warn(&self, ctx: &mut Ctx<'_>, root: &Node, d: Diagnostic, path: &[Step]) {
        let mut d = ctx.texts.locate(d, self.node(root).nearest(path));
        d.path = self.name(path);
        ctx.note(d);
    }
}

/// A name such as `traffic[1].csv, column rate`.
fn column_name(base: &[Step], path: &[Step]) -> String {
    let column = path.iter().find_map(|s| match s {
        Step::Key(k) if k != "source" && COLUMNS.contains(&k.as_str()) => Some(k.as_str()),
        _ => None,
    });
    match column {
        Some(name) => format!("{}, column {name}", Path(base)),
        None => Path(base).to_string(),
    }
}

/// The rows of the traffic. Rows of tables are counted while they are read, and reading ends at the
/// limit.
#[derive(Default)]
pub(super) struct Rows {
    all: Vec<Row>,
    /// Flows of rows of tables.
    flows: u64,
    classes: BTreeSet<String>,
}

impl Rows {
    /// Adds a row of a table; false, and an error, if there are too many.
    pub(super) fn push(&mut self, ctx: &mut Ctx<'_>, root: &Node, row: Row) -> bool {
        self.flows += u64::from(row.spec.count);
        let class = row.spec.class.as_ref().unwrap_or(&row.spec.name);
        if !self.classes.contains(class) {
            self.classes.insert(class.clone());
        }
        let (d, key) = if self.flows > MAX_FLOWS {
            (too_many_flows(self.flows), "count")
        } else if self.classes.len() > MAX_CLASSES {
            (too_many_classes(), "class")
        } else {
            self.all.push(row);
            return true;
        };
        row.error(ctx, root, d, &steps![key]);
        false
    }
}

/// The rows of the traffic that can be read, in order, and whether all could.
pub(super) fn collect(ctx: &mut Ctx<'_>, scenario: &Scenario, root: &Node) -> (Vec<Row>, bool) {
    let mut read = Rows::default();
    let mut fine = true;
    for (i, item) in scenario.traffic.iter().enumerate() {
        let rows = &mut read.all;
        match item {
            TrafficSpec::Flow(spec) => rows.push(Row {
                spec: (**spec).clone(),
                sessions: None,
                capture: None,
                base: steps!["traffic", i, "flow"].to_vec(),
                own: None,
            }),
            TrafficSpec::Sessions(spec) => rows.push(Row {
                spec: common(spec),
                sessions: Some(spec.clone()),
                capture: None,
                base: steps!["traffic", i, "sessions"].to_vec(),
                own: None,
            }),
            TrafficSpec::Capture(spec) => match captures::read(ctx, spec, root, i) {
                Some(capture) => rows.push(Row {
                    spec: capture.common(),
                    sessions: None,
                    capture: Some(Box::new(capture)),
                    base: steps!["traffic", i, "capture"].to_vec(),
                    own: None,
                }),
                None => fine = false,
            },
            TrafficSpec::Csv(csv) => {
                fine &= self::read(ctx, csv, root, i, &mut read).unwrap_or(false);
            }
            TrafficSpec::Matrix(spec) => {
                fine &= matrix::read(ctx, spec, root, i, &mut read).unwrap_or(false);
            }
            TrafficSpec::ShowPolicyMap(spec) => match offered::read(ctx, spec, root, i) {
                Some(more) => rows.extend(more),
                None => fine = false,
            },
        }
    }
    let rows = read.all;
    if fine && rows.is_empty() {
        let d = Diagnostic::error(codes::NO_TRAFFIC, "there is no traffic")
            .hint("write at least one flow under `traffic`");
        ctx.error(d, root, &steps!["traffic"]);
        fine = false;
    }
    (rows, fine)
}

/// The keys that sessions have in common with a flow.
fn common(s: &SessionsSpec) -> FlowSpec {
    FlowSpec {
        count: s.count,
        class: s.class.clone(),
        dscp: s.dscp,
        src: s.src,
        dst: s.dst,
        sport: s.sport,
        dport: s.dport,
        start: s.start,
        start_spread: s.start_spread,
        stop: s.stop,
        tcp: Some(s.tcp.clone()),
        ..FlowSpec::between(s.name.clone(), s.from.clone(), s.to.clone())
    }
}

/// Adds the rows of a table. True if all could be read; none if the table cannot be read.
fn read(
    ctx: &mut Ctx<'_>,
    csv: &CsvSpec,
    root: &Node,
    index: usize,
    rows: &mut Rows,
) -> Option<bool> {
    let base = steps!["traffic", index, "csv"];
    let defaults = defaults(ctx, &csv.defaults, root, &base, "defaults");
    let at = steps!["traffic", index, "csv", "file"];
    let file = ctx.open(&csv.file, TABLE, root, &at)?;
    let records = records(ctx, &file, &base, MOST_ROWS)?;
    let defaults = defaults?;
    let start = Span {
        text: file.text,
        line: 1,
        column: 1,
        width: 0,
    };
    let Some((header, records)) = records else {
        let d = Diagnostic::error(codes::TABLE_HEADER, "the table has no header line")
            .hint("the first line names the columns: name,from,to,rate,packet");
        ctx.report(ctx.texts.place(d, start, &base));
        return None;
    };
    check_header(ctx, &header, &defaults, &base)?;
    let mut fine = true;
    for record in records {
        let row = row(ctx, &header, &record, &defaults, &base);
        fine &= row.is_some();
        if !row.is_none_or(|row| rows.push(ctx, root, row)) {
            return None;
        }
    }
    Some(fine)
}

/// The header and the other records of a table.
pub(super) fn records<'f>(
    ctx: &mut Ctx<'_>,
    file: &'f File,
    base: &[Step],
    most: Most,
) -> Option<Option<(Vec<Cell>, Records<'f>)>> {
    let content = decode(&file.name, &file.bytes)
        .map_err(|d| ctx.report(d.path(Path(base).to_string())))
        .ok()?;
    table::read(content, file.text, &ctx.texts, most)
        .map_err(|ds| ctx.report_all(ds))
        .ok()
}

/// The defaults as cells at their places in the scenario.
pub(super) fn defaults(
    ctx: &mut Ctx<'_>,
    given: &BTreeMap<String, Literal>,
    root: &Node,
    base: &[Step],
    key: &str,
) -> Option<BTreeMap<String, Cell>> {
    let mut cells = BTreeMap::new();
    let mut fine = true;
    for (name, text) in given {
        let mut path = base.to_vec();
        path.extend(steps![key, name]);
        if !COLUMNS.contains(&name.as_str()) {
            let d = unknown(name);
            ctx.error(d, root, &path);
            fine = false;
        }
        let span = root.nearest(&path);
        cells.insert(
            name.clone(),
            Cell {
                text: text.0.clone(),
                span,
            },
        );
    }
    fine.then_some(cells)
}

/// The error for an unknown column.
fn unknown(name: &str) -> Diagnostic {
    let near = did_you_mean(name, COLUMNS);
    Diagnostic::error(
        codes::TABLE_HEADER,
        format!("there is no column `{name}`{near}"),
    )
    .found(name)
    .hint(format!("columns: {}", COLUMNS.join(", ")))
}

pub(super) fn check_header(
    ctx: &mut Ctx<'_>,
    header: &[Cell],
    defaults: &BTreeMap<String, Cell>,
    base: &[Step],
) -> Option<()> {
    let mut fine = true;
    let mut report = |d: Diagnostic, span: Span| {
        ctx.report(ctx.texts.place(d, span, base));
        fine = false;
    };
    if let [only] = header {
        if only.text.contains([';', '\t']) {
            let d = Diagnostic::error(
                codes::TABLE_HEADER,
                "the columns are not separated by commas",
            )
            .found(&only.text)
            .hint(
                "write commas between columns, and a point in decimals: name,from,to,rate,packet",
            );
            report(d, only.span);
            return None;
        }
    }
    for (i, cell) in header.iter().enumerate() {
        let name = cell.text.as_str();
        if !COLUMNS.contains(&name) {
            report(unknown(name), cell.span);
        } else if header[..i].iter().any(|c| c.text == name) {
            let d = Diagnostic::error(
                codes::TABLE_HEADER,
                format!("the column `{name}` occurs twice"),
            )
            .found(name)
            .hint("remove one of the two");
            report(d, cell.span);
        }
    }
    let has = |r: &str| defaults.contains_key(r) || header.iter().any(|c| c.text == r);
    let of_source = RowKind::Cbr.required().iter().copied();
    // If a column tells another kind, each row reports what it lacks.
    let other = RowKind::TELLING.iter().any(|(column, _)| has(column));
    let of_source = of_source.filter(|_| !other);
    let missing: Vec<_> = REQUIRED
        .into_iter()
        .chain(of_source)
        .filter(|r| !has(r))
        .collect();
    if let (false, Some(first)) = (missing.is_empty(), header.first()) {
        let d = Diagnostic::error(
            codes::TABLE_HEADER,
            format!("the table lacks the columns {}", list(missing)),
        )
        .found(list(header.iter().map(|c| c.text.as_str())))
        .hint("add them to the header and to every row, or give them under `defaults`");
        report(d, first.span);
    }
    fine.then_some(())
}

/// A record as a flow.
pub(super) fn row(
    ctx: &mut Ctx<'_>,
    header: &[Cell],
    record: &[Cell],
    defaults: &BTreeMap<String, Cell>,
    base: &[Step],
) -> Option<Row> {
    let start = record.first().map_or_else(Span::default, |c| c.span);
    if record.len() != header.len() {
        let d = Diagnostic::error(
            codes::TABLE_ROW,
            format!(
                "the row has {} cells, the header {}",
                record.len(),
                header.len()
            ),
        )
        .found(list(record.iter().map(|c| c.text.as_str())))
        .hint("put a cell that contains a comma in quotes; leave a cell empty for the default");
        ctx.report(ctx.texts.place(d, start, base));
        return None;
    }
    let cell = |name: &str| {
        let i = header.iter().position(|c| c.text == name);
        i.map(|i| &record[i])
            .filter(|c| !c.text.is_empty())
            .or_else(|| defaults.get(name))
    };
    // A cell of the row counts before any default, so a codec makes the row a call.
    let own = |name: &str| cell(name).filter(|c| c.span.text == start.text);
    let kind = own("source").map(|c| (c, None));
    let kind = kind.or_else(|| told(own));
    let kind = kind.or_else(|| cell("source").map(|c| (c, None)));
    let kind = kind.or_else(|| told(cell));
    let name = kind.map_or("cbr", |(c, known)| known.unwrap_or(&c.text));
    let Some((kind_name, kind_of)) = RowKind::ALL.into_iter().find(|(n, _)| *n == name) else {
        let d = Diagnostic::error(
            codes::UNKNOWN_KIND,
            format!("`{name}` is not a source for tables"),
        )
        .found(name)
        .hint(
            "write cbr, poisson, voip or video; other sources are written as flows in the scenario",
        );
        ctx.report(
            ctx.texts
                .place(d, kind.map_or(start, |(c, _)| c.span), base),
        );
        return None;
    };
    let needed = REQUIRED.iter().chain(kind_of.required()).copied();
    let missing: Vec<_> = needed.filter(|r| cell(r).is_none()).collect();
    if !missing.is_empty() {
        let place = header
            .iter()
            .position(|c| c.text == missing[0])
            .map_or(start, |i| record[i].span);
        let d = Diagnostic::error(
            codes::TABLE_ROW,
            format!("the row lacks a value for {}", list(missing)),
        )
        .found("an empty cell")
        .hint("fill the cell in, or give the column a value under `defaults`");
        ctx.report(ctx.texts.place(d, place, base));
        return None;
    }
    let mut flow = Vec::with_capacity(COLUMNS.len());
    let mut source = Vec::new();
    let mut fine = true;
    for name in COLUMNS {
        let Some(cell) = cell(name) else { continue };
        // A default may be for rows of another kind; a cell is an error.
        let given = cell.span.text == start.text;
        let of_source = is_of_source(name);
        if of_source && !kind_of.has(name) && !given {
            continue;
        }
        let Some(value) = value(ctx, name, cell, base) else {
            fine = false;
            continue;
        };
        let entry = (
            Key {
                name: name.to_owned(),
                span: cell.span,
            },
            Node {
                span: cell.span,
                value,
            },
        );
        if of_source {
            source.push(entry);
        } else if name != "source" {
            flow.push(entry);
        }
    }
    if !fine {
        return None;
    }
    let span = kind.map_or(start, |(c, _)| c.span);
    let map = |entries| Node {
        span: start,
        value: Value::Map(entries),
    };
    let key = |name: &str| Key {
        name: name.to_owned(),
        span,
    };
    flow.push((key("source"), map(vec![(key(kind_name), map(source))])));
    let node = map(flow);
    let spec = from_node(&node, &ctx.texts, &[])
        .map_err(|ds| {
            ctx.report_all(ds.into_iter().map(|mut d| {
                d.path = column_name(base, &Step::parse_all(&d.path));
                d
            }));
        })
        .ok()?;
    Some(Row {
        spec,
        sessions: None,
        capture: None,
        base: base.to_vec(),
        own: Some(node),
    })
}
