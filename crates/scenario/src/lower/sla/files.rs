//! Files with the requirements of customers: YAML (or JSON) for one customer, CSV for many.

use super::entries::{Entry, Site};
use crate::beside::Expected;
use crate::codes;
use crate::ctx::{Ctx, File};
use crate::de::from_node;
use crate::error::Diagnostic;
use crate::node::{Key, Node, Span, Step, Value, steps};
use crate::schema::{CustomerSpec, SlaSpec};
use crate::table::{self, Cell, Most};
use crate::text::decode;
use crate::yaml;

/// Columns of a table of requirements.
const COLUMNS: [&str; 11] = [
    "customer", "site", "nodes", "class", "dscp", "preset", "share", "metric", "max", "min",
    "certain",
];

const TABLE: Expected = Expected::tree(
    "the first line names the columns, the others a requirement each: customer,class,metric,max",
    |text| table::names_columns(text, &COLUMNS),
);

const CUSTOMER: Expected = Expected::tree(
    "write `customer`, and `objectives` or `sites`, each with its requirements",
    |text| text.trim().is_empty() || text.contains("customer"),
);

pub(super) const MOST_ROWS: Most = Most {
    rows: 100_000,
    called: "requirements",
    code: codes::BAD_SLA,
    hint: "judge the customers in several studies",
};

/// Reads the requirements of a file that `path` below `root` names.
pub(super) fn read(
    ctx: &mut Ctx<'_>,
    name: &str,
    root: &Node,
    path: &[Step],
    roots: &mut Vec<Node>,
    entries: &mut Vec<Entry>,
) {
    let is_table = name.to_ascii_lowercase().ends_with(".csv");
    let expected = if is_table { TABLE } else { CUSTOMER };
    let Some(file) = ctx.open(name, expected, root, path) else {
        return;
    };
    let content = match decode(&file.name, &file.bytes) {
        Ok(content) => content,
        Err(d) => return ctx.report(d),
    };
    let done = if is_table {
        table(ctx, &file, content, roots, entries)
    } else {
        customer(ctx, &file, content, roots, entries)
    };
    if done.is_none() && ctx.is_fine() {
        let d = Diagnostic::error(codes::BAD_SLA, "the file states no requirement")
            .in_file(&file.name)
            .hint("write `customer` and at least one of `objectives`");
        ctx.report(ctx.texts.locate(d, start_of(&file)));
    }
}

fn start_of(file: &File) -> Span {
    Span {
        text: file.text,
        line: 1,
        column: 1,
        width: 0,
    }
}

/// Reads a file of one customer; none if the file is empty, or after an error.
fn customer(
    ctx: &mut Ctx<'_>,
    file: &File,
    content: &str,
    roots: &mut Vec<Node>,
    entries: &mut Vec<Entry>,
) -> Option<()> {
    let tree = yaml::parse(content, file.text, &ctx.texts)
        .map_err(|ds| ctx.report_all(ds))
        .ok()?;
    if tree.value == Value::Null {
        return None;
    }
    let spec: CustomerSpec = from_node(&tree, &ctx.texts, &[])
        .map_err(|ds| ctx.report_all(ds))
        .ok()?;
    let root = roots.len();
    let before = entries.len();
    let mut fine = super::super::bad_name(&spec.customer).map_or(Some(()), |problem| {
        let d = Diagnostic::error(codes::BAD_NAME, format!("the customer's name {problem}"))
            .hint("write a short text such as `Acme`");
        ctx.error(d, &tree, &steps!["customer"]);
        None
    });
    let mut push = |ctx: &mut Ctx<'_>, spec_: &SlaSpec, site: Option<Site>, path: Vec<Step>| {
        if spec_.file.is_some() {
            let d = Diagnostic::error(codes::BAD_SLA, "a file of requirements names no other")
                .hint("name every file under `sla` of the scenario");
            let at = [&path[..], &steps!["file"]].concat();
            ctx.error(d, &tree, &at);
            return;
        }
        entries.push(Entry {
            spec: spec_.clone(),
            customer: Some(spec.customer.clone()),
            site,
            root,
            path,
        });
    };
    for (i, objective) in spec.objectives.iter().enumerate() {
        push(ctx, objective, None, steps!["objectives", i].to_vec());
    }
    for (i, site) in spec.sites.iter().enumerate() {
        if site.nodes.is_empty() {
            let d = Diagnostic::error(codes::BAD_SLA, "a site without nodes")
                .hint("name the nodes of the topology at which its flows begin or end");
            ctx.error(d, &tree, &steps!["sites", i, "nodes"]);
            fine = None;
            continue;
        }
        let place = Site {
            name: site.name.clone(),
            nodes: site.nodes.clone(),
            path: steps!["sites", i, "nodes"].to_vec(),
        };
        for (j, objective) in site.objectives.iter().enumerate() {
            let path = steps!["sites", i, "objectives", j].to_vec();
            push(ctx, objective, Some(place.clone()), path);
        }
    }
    let found = entries.len() > before;
    roots.push(tree);
    fine.filter(|()| found)
}

/// Reads a table with one requirement a line; none if it is empty, or after an error.
fn table(
    ctx: &mut Ctx<'_>,
    file: &File,
    content: &str,
    roots: &mut Vec<Node>,
    entries: &mut Vec<Entry>,
) -> Option<()> {
    let read = table::read(content, file.text, &ctx.texts, MOST_ROWS)
        .map_err(|ds| ctx.report_all(ds))
        .ok()?;
    let (header, records) = read?;
    table::check_header(ctx, &header, &COLUMNS, &["customer", "class"], &[])?;
    let mut fine = true;
    let before = entries.len();
    for cells in records {
        match record(ctx, &header, &cells, roots.len()) {
            Some((node, entry)) => {
                roots.push(node);
                entries.push(entry);
            }
            None => fine = false,
        }
    }
    (fine && entries.len() > before).then_some(())
}

/// A line as a requirement.
fn record(
    ctx: &mut Ctx<'_>,
    header: &[Cell],
    cells: &[Cell],
    root: usize,
) -> Option<(Node, Entry)> {
    let start = cells.first().map_or_else(Span::default, |c| c.span);
    let complain = |ctx: &mut Ctx<'_>, message: String, span: Span, hint: &str| {
        let d = Diagnostic::error(codes::TABLE_ROW, message).hint(hint);
        ctx.report(ctx.texts.locate(d, span));
    };
    if cells.len() != header.len() {
        let message = format!(
            "the row has {} cells, the header {}",
            cells.len(),
            header.len()
        );
        complain(
            ctx,
            message,
            start,
            "put a cell that contains a comma in quotes",
        );
        return None;
    }
    let cell = |name: &str| {
        let i = header.iter().position(|c| c.text == name)?;
        Some(&cells[i]).filter(|c| !c.text.is_empty())
    };
    let Some(customer) = cell("customer") else {
        let message = "the row lacks a customer".to_owned();
        complain(ctx, message, start, "write whose requirement it is");
        return None;
    };
    let nodes: Vec<String> = cell("nodes")
        .map(|c| c.text.split_whitespace().map(str::to_owned).collect())
        .unwrap_or_default();
    let site = match (cell("site"), nodes.is_empty()) {
        (None, true) => None,
        (None, false) => Some(nodes.join("+")),
        (Some(site), false) => Some(site.text.clone()),
        (Some(site), true) => {
            let message = format!("the row lacks the nodes of site `{}`", site.text);
            let hint = "name its nodes in the column `nodes`, with spaces between them";
            complain(ctx, message, site.span, hint);
            return None;
        }
    };
    let certain = match cell("certain").map(|c| (c, table::flag(c))) {
        Some((cell, None)) => {
            let message = format!("`{}` is neither yes nor no", cell.text);
            complain(ctx, message, cell.span, "write yes or no");
            return None;
        }
        found => found.and_then(|f| f.1),
    };
    let entry = |name: &str| {
        let cell = cell(name)?;
        let key = Key {
            name: name.to_owned(),
            span: cell.span,
        };
        let value = match (name, certain) {
            ("certain", Some(certain)) => Value::Bool(certain),
            _ => Value::Str(cell.text.clone()),
        };
        let span = cell.span;
        Some((key, Node { span, value }))
    };
    let node = Node {
        span: start,
        value: Value::Map(COLUMNS[3..].iter().filter_map(|n| entry(n)).collect()),
    };
    let spec: SlaSpec = from_node(&node, &ctx.texts, &[])
        .map_err(|ds| ctx.report_all(ds))
        .ok()?;
    let nodes_at = Node {
        span: cell("nodes").map_or(start, |c| c.span),
        value: Value::Null,
    };
    let Value::Map(mut map) = node.value else {
        return None;
    };
    // The place of errors in the nodes.
    map.push((
        Key {
            name: "nodes".to_owned(),
            span: nodes_at.span,
        },
        nodes_at,
    ));
    let tree = Node {
        span: start,
        value: Value::Map(map),
    };
    let entry = Entry {
        spec,
        customer: Some(customer.text.clone()),
        site: site.map(|name| Site {
            name,
            nodes,
            path: steps!["nodes"].to_vec(),
        }),
        root,
        path: Vec::new(),
    };
    Some((tree, entry))
}
