//! Tables of traffic-conditioning agreements as parts of the scenario's tree.
//!
//! A line becomes a class of a policy before overrides are applied, so that `--set` and the `set`
//! of variants reach its values. Each node has the place of its cell, which errors name.

mod row;

use std::collections::BTreeSet;

use spillgate_queueing::Sizes;
use spillgate_queueing::spec::DisciplineSpec;

use self::row::{AgreementRow, COLUMNS, REQUIRED};
use crate::beside::Expected;
use crate::codes;
use crate::ctx::Ctx;
use crate::de::from_node;
use crate::error::Diagnostic;
use crate::node::{Key, Node, Path, Span, Step, Value, steps};
use crate::schema::{AgreementsSpec, Scenario};
use crate::splice::{self, Room};
use crate::table::{self, Cell, Most};
use crate::text::{Texts, decode};

const TABLE: Expected = Expected::table(
    "the first line names the columns, the others a customer each: customer,phb,rate,burst",
    |text| table::names_columns(text, &COLUMNS),
);

/// The most customers of a table: a policy has no more classes.
const MOST_CUSTOMERS: Most = Most {
    rows: Sizes::MOST_CLASSES,
    called: "customers",
    code: codes::BAD_POLICY,
    hint: "a policy has at most 4096 classes: give each node, or each link, a table of its own",
};

/// Adds the classes of all tables that `root` refers to. Errors in `agreements` itself are reported
/// when the whole scenario is deserialized.
pub(crate) fn splice(ctx: &mut Ctx<'_>, root: &mut Node) {
    let Some(Value::Seq(items)) = root.get("agreements").map(|n| &n.value) else {
        return;
    };
    let specs: Vec<Option<AgreementsSpec>> = items
        .iter()
        .map(|n| from_node(n, &ctx.texts, &[]).ok())
        .collect();
    let (mut customers, mut room) = (BTreeSet::new(), Room::default());
    for (i, spec) in specs.into_iter().enumerate() {
        let Some(spec) = spec else { continue };
        let Some(classes) = read(ctx, &spec, root, i, &mut customers) else {
            continue;
        };
        if !room.has(classes.iter().map(Node::size).sum()) {
            return ctx.error(
                Room::too_large("agreements"),
                root,
                &steps!["agreements", i],
            );
        }
        put(ctx, root, &spec.policy, classes, i);
    }
}

/// Removes the classes of tables from a scenario: the file does not have them.
pub(crate) fn remove(texts: &Texts, root: &Node, scenario: &mut Scenario) {
    for (name, spec) in &mut scenario.policies {
        let DisciplineSpec::ClassBased(spec) = spec else {
            continue;
        };
        let mut at = 0..;
        spec.classes.retain(|_| {
            let class = class_at(root, name, at.next().unwrap_or_default());
            !class.is_some_and(|n| texts.is_beside(n.span.text))
        });
    }
}

/// Whether a class of a policy comes from a table.
pub(crate) fn is_customer(texts: &Texts, root: &Node, policy: &str, class: usize) -> bool {
    let from_config = splice::is_imported(texts, root, policy)
        && !tables(root).any(|(_, named, _)| named == policy);
    !from_config && class_at(root, policy, class).is_some_and(|n| texts.is_beside(n.span.text))
}

/// The entries of `agreements`: index, policy and file.
pub(crate) fn tables(root: &Node) -> impl Iterator<Item = (usize, &str, &str)> {
    let items = match root.get("agreements").map(|n| &n.value) {
        Some(Value::Seq(items)) => &items[..],
        _ => &[],
    };
    items.iter().enumerate().filter_map(|(i, n)| {
        let text = |key: &str| n.get(key).and_then(Node::text);
        Some((i, text("policy")?, text("file")?))
    })
}

fn class_at<'n>(root: &'n Node, policy: &str, class: usize) -> Option<&'n Node> {
    steps!["policies", policy, "class-based", "classes", class]
        .iter()
        .try_fold(root, |n, s| n.step(s))
}

/// The classes of a table; none after an error.
fn read(
    ctx: &mut Ctx<'_>,
    spec: &AgreementsSpec,
    root: &Node,
    index: usize,
    customers: &mut BTreeSet<(String, String)>,
) -> Option<Vec<Node>> {
    let base = steps!["agreements", index];
    let mut fine = true;
    let mut defaults = Vec::with_capacity(spec.defaults.len());
    for (name, text) in &spec.defaults {
        let path = steps!["agreements", index, "defaults", name];
        if !COLUMNS.contains(&name.as_str()) || name == "customer" {
            ctx.error(table::unknown_column(name, &COLUMNS[1..]), root, &path);
            fine = false;
        }
        let span = root.nearest(&path);
        let text = text.0.clone();
        defaults.push((name.as_str(), Cell { text, span }));
    }
    let at = steps!["agreements", index, "file"];
    let file = ctx.open(&spec.file, TABLE, root, &at)?;
    let content = decode(&file.name, &file.bytes)
        .map_err(|d| ctx.report(d.path(Path(&base).to_string())))
        .ok()?;
    let records = table::read(content, file.text, &ctx.texts, MOST_CUSTOMERS)
        .map_err(|ds| ctx.report_all(ds))
        .ok()?;
    let given = |column: &str| defaults.iter().any(|(name, _)| *name == column);
    let required: Vec<&str> = REQUIRED.into_iter().filter(|c| !given(c)).collect();
    let read = records.map(|(header, records)| (header, records.peekable()));
    let Some((header, records)) =
        read.and_then(|(h, mut rows)| rows.peek().is_some().then_some((h, rows)))
    else {
        let start = Span {
            text: file.text,
            line: 1,
            column: 1,
            width: 0,
        };
        let d = Diagnostic::error(codes::TABLE_HEADER, "the table has no customer").hint(
            "the first line names the columns, the others a customer each: customer,phb,rate,burst",
        );
        ctx.report(ctx.texts.place(d, start, &base));
        return None;
    };
    table::check_header(ctx, &header, &COLUMNS, &required, &base)?;
    if !fine {
        return None;
    }
    let mut classes = Vec::new();
    for cells in records {
        let row = AgreementRow {
            header: &header,
            cells: &cells,
            defaults: &defaults,
            base: &base,
        };
        let class = row
            .class(ctx)
            .filter(|_| unique(ctx, &row, spec, customers));
        match class {
            Some(class) => classes.push(class),
            None => fine = false,
        }
    }
    fine.then_some(classes)
}

/// Checks that a policy has one agreement for each customer.
fn unique(
    ctx: &mut Ctx<'_>,
    row: &AgreementRow<'_>,
    spec: &AgreementsSpec,
    customers: &mut BTreeSet<(String, String)>,
) -> bool {
    let name = &row.cells[row.column("customer").unwrap_or_default()];
    if customers.insert((spec.policy.clone(), name.text.clone())) {
        return true;
    }
    let message = format!("customer `{}` has an agreement already", name.text);
    let d = Diagnostic::error(codes::DUPLICATE_NAME, message)
        .found(&name.text)
        .hint("remove one of the two; for several PHBs write names such as `acme-voice`, and tell the packets apart, by `dscp` say");
    row.report(ctx, d, name.span, "customer");
    false
}

/// Puts classes into a policy, before its class-default.
fn put(ctx: &mut Ctx<'_>, root: &mut Node, policy: &str, classes: Vec<Node>, index: usize) {
    let Some(at) = classes.first().map(|c| c.span) else {
        return;
    };
    let spec = steps!["agreements", index, "policy"];
    let mut node = &mut *root;
    for name in ["policies", policy, "class-based"] {
        // Policies of other kinds have a single key too: their kind.
        let other = match &node.value {
            Value::Map(entries) if name == "class-based" => entries
                .iter()
                .map(|(k, _)| k.name.clone())
                .find(|kind| kind != name),
            _ => None,
        };
        if let Some(kind) = other {
            let message = format!("policy `{policy}` is a {kind} policy, which has no classes");
            let d = Diagnostic::error(codes::BAD_POLICY, message)
                .found(policy)
                .hint("name a class-based policy, or one that is not there yet");
            return ctx.error(d, root, &spec);
        }
        node = match entry(node, name, at) {
            Some(node) => node,
            // The node is of the wrong kind, which is reported when the whole scenario is
            // deserialized.
            None => return,
        };
    }
    let Some(found) = entry(node, "classes", at) else {
        return;
    };
    if found.value == Value::Null {
        found.value = Value::Seq(Vec::new());
    }
    let Value::Seq(all) = &mut found.value else {
        return;
    };
    let last = all.last().and_then(|c| c.get("name")).and_then(Node::text);
    let end = all.len() - usize::from(last == Some("class-default"));
    all.splice(end..end, classes);
}

/// The value of a key, which is added if it is missing; none if the node is not a mapping.
fn entry<'n>(node: &'n mut Node, name: &str, span: Span) -> Option<&'n mut Node> {
    if node.value == Value::Null {
        node.value = Value::Map(Vec::new());
    }
    let Value::Map(entries) = &mut node.value else {
        return None;
    };
    let found = match entries.iter().position(|(k, _)| k.name == name) {
        Some(found) => found,
        None => {
            let name = name.to_owned();
            let value = Value::Null;
            entries.push((Key { name, span }, Node { span, value }));
            entries.len() - 1
        }
    };
    Some(&mut entries[found].1)
}

/// The name of a path below a class: a column.
fn column_name(base: &[Step], column: &str) -> String {
    match column {
        "" => Path(base).to_string(),
        column => format!("{}, column {column}", Path(base)),
    }
}
