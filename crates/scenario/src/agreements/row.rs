//! A line of a table of agreements as a class.

use spillgate_queueing::spec::{ClassSpec, Phb};

use super::column_name;
use crate::codes;
use crate::ctx::Ctx;
use crate::de::from_node;
use crate::error::Diagnostic;
use crate::node::{Key, Node, Span, Step, Value};
use crate::scalar;
use crate::table::{self, Cell};
use spillgate_core::suggest::{did_you_mean, list};

/// Columns in the order of their documentation.
pub(super) const COLUMNS: [&str; 19] = [
    "customer",
    "rate",
    "burst",
    "phb",
    "peak_rate",
    "excess_burst",
    "window",
    "meter",
    "action",
    "color_aware",
    "per_flow",
    "input",
    "src",
    "dst",
    "protocol",
    "sport",
    "dport",
    "dscp",
    "cos",
];
/// Columns that every table needs.
pub(super) const REQUIRED: [&str; 2] = ["customer", "rate"];
/// Columns that match packets.
const MATCH: std::ops::Range<usize> = 11..19;

/// A kind of meter.
struct Meter {
    name: &'static str,
    /// The columns that it has beside `rate`.
    columns: &'static [&'static str],
    /// Whether it needs `peak_rate`.
    peak: bool,
    /// Whether it has three colors.
    three: bool,
}

const METERS: [Meter; 5] = [
    Meter {
        name: "token-bucket",
        columns: &["burst", "color_aware"],
        peak: false,
        three: false,
    },
    Meter {
        name: "srtcm",
        columns: &["burst", "excess_burst", "color_aware"],
        peak: false,
        three: true,
    },
    Meter {
        name: "trtcm",
        columns: &["burst", "peak_rate", "excess_burst", "color_aware"],
        peak: true,
        three: true,
    },
    Meter {
        name: "tsw2cm",
        columns: &["window"],
        peak: false,
        three: false,
    },
    Meter {
        name: "tsw3cm",
        columns: &["window", "peak_rate"],
        peak: true,
        three: true,
    },
];

/// Columns that only some meters have.
const OF_METERS: [&str; 5] = [
    "burst",
    "peak_rate",
    "excess_burst",
    "window",
    "color_aware",
];
/// The default window of a meter of the average rate.
const WINDOW: &str = "1 s";

/// The treatment of packets out of profile.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
    /// They get the next drop precedence of the PHB, or are dropped if it has none.
    Mark,
    /// Those beyond the last rate are dropped.
    Drop,
    /// They wait.
    Shape,
}

const ACTIONS: [(&str, Action); 3] = [
    ("mark", Action::Mark),
    ("drop", Action::Drop),
    ("shape", Action::Shape),
];

/// A line with its table.
pub(super) struct AgreementRow<'a> {
    pub(super) header: &'a [Cell],
    pub(super) cells: &'a [Cell],
    pub(super) defaults: &'a [(&'a str, Cell)],
    pub(super) base: &'a [Step],
}

impl AgreementRow<'_> {
    pub(super) fn column(&self, name: &str) -> Option<usize> {
        self.header.iter().position(|c| c.text == name)
    }

    /// A cell of the line itself.
    fn own(&self, name: &str) -> Option<&Cell> {
        let cell = &self.cells[self.column(name)?];
        Some(cell).filter(|c| !c.text.is_empty())
    }

    /// A cell of the line, or else of the defaults.
    fn cell(&self, name: &str) -> Option<&Cell> {
        let default = || self.defaults.iter().find(|(n, _)| *n == name);
        self.own(name).or_else(|| Some(&default()?.1))
    }

    pub(super) fn report(&self, ctx: &mut Ctx<'_>, d: Diagnostic, span: Span, column: &str) {
        let mut d = ctx.texts.locate(d, span);
        d.path = column_name(self.base, column);
        ctx.report(d);
    }

    /// The choice that a cell names; the first choice if the cell is missing. None after an error.
    fn choice<'k, T>(
        &self,
        ctx: &mut Ctx<'_>,
        column: &str,
        known: &'k [T],
        name: impl Fn(&T) -> &str,
    ) -> Option<Option<&'k T>> {
        let Some(cell) = self.cell(column) else {
            return Some(None);
        };
        let found = known.iter().find(|k| name(k) == cell.text);
        if found.is_none() {
            let names = || known.iter().map(&name);
            let near = did_you_mean(&cell.text, names());
            let message = format!("`{}` is not a valid {column}{near}", cell.text);
            let d = Diagnostic::error(codes::UNKNOWN_KIND, message)
                .found(&cell.text)
                .hint(format!("write one of {}", list(names())));
            self.report(ctx, d, cell.span, column);
        }
        found.map(Some)
    }

    fn flag(&self, ctx: &mut Ctx<'_>, column: &str) -> Option<bool> {
        let Some(cell) = self.cell(column) else {
            return Some(false);
        };
        let found = table::flag(cell);
        if found.is_none() {
            let message = format!("`{}` is neither yes nor no", cell.text);
            let d = Diagnostic::error(codes::BAD_VALUE, message)
                .found(&cell.text)
                .hint("write yes or no");
            self.report(ctx, d, cell.span, column);
        }
        found
    }

    fn phb(&self, ctx: &mut Ctx<'_>) -> Option<Phb> {
        let Some(cell) = self.cell("phb") else {
            return Some(Phb::Default);
        };
        match cell.text.parse() {
            Ok(phb) => Some(phb),
            Err(message) => {
                let names: Vec<String> = Phb::all().map(|p| p.to_string()).collect();
                let d = Diagnostic::error(codes::UNKNOWN_KIND, message)
                    .found(&cell.text)
                    .hint(format!("PHBs: {}", names.join(", ")));
                self.report(ctx, d, cell.span, "phb");
                None
            }
        }
    }

    /// The meter that the line or the defaults name, or else the one that follows from the columns
    /// in use.
    fn meter(&self, ctx: &mut Ctx<'_>) -> Option<&'static Meter> {
        let told = |has: &dyn Fn(&str) -> bool| {
            let name = match (has("window"), has("peak_rate"), has("excess_burst")) {
                (true, true, _) => "tsw3cm",
                (true, false, _) => "tsw2cm",
                (false, true, _) => "trtcm",
                (false, false, true) => "srtcm",
                _ => return None,
            };
            METERS.iter().find(|m| m.name == name)
        };
        let found = self
            .choice(ctx, "meter", &METERS, |m| m.name)?
            .or_else(|| told(&|c| self.own(c).is_some()))
            .or_else(|| told(&|c| self.cell(c).is_some()));
        Some(found.unwrap_or(&METERS[0]))
    }

    /// The class of the line; none after an error.
    pub(super) fn class(&self, ctx: &mut Ctx<'_>) -> Option<Node> {
        let start = self.cells.first().map_or_else(Span::default, |c| c.span);
        if self.cells.len() != self.header.len() {
            let message = format!(
                "the row has {} cells, the header {}",
                self.cells.len(),
                self.header.len()
            );
            let d = Diagnostic::error(codes::TABLE_ROW, message)
                .found(list(self.cells.iter().map(|c| c.text.as_str())))
                .hint("put a cell that contains a comma in quotes; leave a cell empty for the default");
            self.report(ctx, d, start, "");
            return None;
        }
        if let Some(missing) = REQUIRED.into_iter().find(|c| self.cell(c).is_none()) {
            let place = self.column(missing).map_or(start, |i| self.cells[i].span);
            let d = Diagnostic::error(codes::TABLE_ROW, format!("the row lacks a {missing}"))
                .found("an empty cell")
                .hint("fill the cell in");
            self.report(ctx, d, place, missing);
            return None;
        }
        let phb = self.phb(ctx);
        let action = self.choice(ctx, "action", &ACTIONS, |a| a.0);
        let action = action.map(|a| a.map_or(Action::Mark, |a| a.1));
        let meter = self.meter(ctx);
        let aware = self.flag(ctx, "color_aware");
        let per_flow = self.flag(ctx, "per_flow");
        let (phb, action, meter) = (phb?, action?, meter?);
        let (aware, per_flow) = (aware?, per_flow?);
        self.check(ctx, phb, action, meter)?;

        let customer = self.cell("customer")?;
        let mut class = vec![
            entry("name", self.text("customer")?),
            entry("match", self.matching(customer)),
        ];
        if action == Action::Shape {
            class.extend(self.shaping(phb, customer.span));
        } else {
            let police = self.police(phb, action, meter, aware, per_flow)?;
            class.push(entry("police", police));
        }
        let node = map(customer.span, class);
        match from_node::<ClassSpec>(&node, &ctx.texts, &[]) {
            Ok(_) => Some(node),
            Err(ds) => {
                for mut d in ds {
                    let keys = Step::parse_all(&d.path);
                    let column = keys.iter().rev().find_map(|s| match s {
                        Step::Key(k) => COLUMNS.iter().find(|c| *c == k),
                        Step::Index(_) => None,
                    });
                    d.path = column_name(self.base, column.unwrap_or(&""));
                    ctx.report(d);
                }
                None
            }
        }
    }

    /// Reports cells that contradict the meter, the action or the PHB of the line. If a default has
    /// chosen the meter or the action for all lines, cells for other meters or actions are ignored.
    fn check(&self, ctx: &mut Ctx<'_>, phb: Phb, action: Action, meter: &Meter) -> Option<()> {
        let mut fine = true;
        let mut refuse = |column: &str, message: String, hint: &str| {
            let Some(cell) = self.own(column) else { return };
            let d = Diagnostic::error(codes::TABLE_ROW, message)
                .found(&cell.text)
                .hint(hint);
            self.report(ctx, d, cell.span, column);
            fine = false;
        };
        if action == Action::Shape {
            let others = OF_METERS.iter().filter(|c| **c != "burst");
            let others = others.chain(&["meter", "per_flow"]);
            for column in others.filter(|_| self.own("action").is_some()) {
                refuse(
                    column,
                    format!("a shaper has no `{column}`"),
                    "leave the cell empty, or write `mark` or `drop` in the column `action`",
                );
            }
        } else {
            let chosen = self.own("meter").is_none() && self.cell("meter").is_some();
            let unfit = OF_METERS.iter().filter(|c| !meter.columns.contains(c));
            for column in unfit.filter(|_| !chosen) {
                refuse(
                    column,
                    format!("meter {} has no `{column}`", meter.name),
                    "leave the cell empty, or name another meter",
                );
            }
            if action == Action::Mark && phb.code_points().len() == 1 {
                refuse(
                    "action",
                    format!("PHB {phb} has no drop precedence to mark what exceeds with"),
                    "write `drop` or `shape`, or one of af1 .. af4 in the column `phb`",
                );
            }
        }
        if fine && action != Action::Shape && meter.peak && self.cell("peak_rate").is_none() {
            let cell = self.cell("meter").or_else(|| self.cell("customer"))?;
            let d = Diagnostic::error(
                codes::TABLE_ROW,
                format!("meter {} needs a `peak_rate`", meter.name),
            )
            .found(&cell.text)
            .hint("fill in the column `peak_rate`, or name another meter");
            self.report(ctx, d, cell.span, "meter");
            fine = false;
        }
        fine.then_some(())
    }

    /// A cell as text.
    fn text(&self, column: &str) -> Option<Node> {
        let cell = self.cell(column)?;
        Some(text(cell.span, &cell.text))
    }

    /// The condition on the customer's packets: by default that they arrive over the link of the
    /// customer's name.
    fn matching(&self, customer: &Cell) -> Node {
        let mut conditions = Vec::new();
        for column in &COLUMNS[MATCH] {
            let Some(cell) = self.cell(column) else {
                continue;
            };
            let node = |word: &str| Node {
                span: cell.span,
                value: match *column {
                    "cos" => scalar::resolve(word),
                    _ => Value::Str(word.to_owned()),
                },
            };
            let words: Vec<Node> = cell.text.split_whitespace().map(node).collect();
            let value = match words.len() {
                1 => words.into_iter().next().map(|n| n.value),
                _ => Some(Value::Seq(words)),
            };
            let span = cell.span;
            conditions.extend(value.map(|value| entry(column, Node { span, value })));
        }
        if conditions.is_empty() {
            conditions.push(entry("input", text(customer.span, &customer.text)));
        }
        map(customer.span, conditions)
    }

    fn shaping(&self, phb: Phb, span: Span) -> Vec<(Key, Node)> {
        let mark = phb.code_points().first().map(ToString::to_string);
        let set = mark.map(|m| {
            entry(
                "set_dscp",
                text(self.cell("phb").map_or(span, |c| c.span), &m),
            )
        });
        let bucket = ["rate", "burst"].into_iter();
        let bucket = bucket.filter_map(|c| Some(entry(c, self.text(c)?)));
        let shape = entry("shape", map(span, bucket.collect()));
        set.into_iter().chain([shape]).collect()
    }

    fn police(
        &self,
        phb: Phb,
        action: Action,
        meter: &Meter,
        aware: bool,
        per_flow: bool,
    ) -> Option<Node> {
        let customer = self.cell("customer")?;
        let span = self.cell("phb").unwrap_or(customer).span;
        let columns = ["rate"].into_iter().chain(meter.columns.iter().copied());
        let columns = columns.filter(|c| *c != "color_aware");
        let mut police: Vec<_> = columns
            .filter_map(|c| Some(entry(c, self.text(c)?)))
            .collect();
        if meter.columns.contains(&"window") && self.cell("window").is_none() {
            police.push(entry("window", text(span, WINDOW)));
        }
        let points = phb.code_points();
        let set = |i: usize| match points.get(i) {
            Some(dscp) => map(span, vec![entry("set-dscp", text(span, &dscp.to_string()))]),
            None => text(span, "drop"),
        };
        let beyond = |i: usize| match action {
            Action::Drop => text(span, "drop"),
            _ => set(i),
        };
        police.push(entry("conform", set(0)));
        if meter.three {
            police.push(entry("exceed", set(1)));
            police.push(entry("violate", beyond(2)));
        } else {
            police.push(entry("exceed", beyond(1)));
        }
        if aware && meter.columns.contains(&"color_aware") {
            let colors = ["conform_color", "exceed_color"].into_iter().zip(&points);
            for (key, dscp) in colors {
                let dscp = entry("dscp", text(span, &dscp.to_string()));
                police.push(entry(key, map(span, vec![dscp])));
            }
        }
        if per_flow {
            let value = Value::Bool(true);
            police.push(entry("per_flow", Node { span, value }));
        }
        Some(map(customer.span, police))
    }
}

fn text(span: Span, text: &str) -> Node {
    let value = Value::Str(text.to_owned());
    Node { span, value }
}

fn map(span: Span, entries: Vec<(Key, Node)>) -> Node {
    let value = Value::Map(entries);
    Node { span, value }
}

/// A key at the place of its value.
fn entry(name: &str, node: Node) -> (Key, Node) {
    let (name, span) = (name.to_owned(), node.span);
    (Key { name, span }, node)
}
