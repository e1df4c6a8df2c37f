//! Axes as written: the values of each, listed or between two of them.

use std::borrow::Cow;

use crate::codes;
use crate::ctx::Ctx;
use crate::de::repeated;
use crate::error::Diagnostic;
use crate::lower;
use crate::node::{Key, Node, Step, Value, steps};
use crate::outages;
use crate::range::{KINDS, NoRange, Range};
use crate::scalar;
use crate::schema::{AxisSpec, DesignSpec, Scale, Scenario};

/// Columns of results, which axes cannot be called.
const COLUMNS: [&str; 17] = [
    "variant",
    "point",
    "run",
    "scope",
    "name",
    "estimate",
    "class",
    "metric",
    "value",
    "unit",
    "mean",
    "low",
    "high",
    "n",
    "bound",
    "seed",
    "scenario_hash",
];

const FORMS: &str = "write `set: PATH` with `values: [..]` or with `from: .., to: ..`, or `points: [{name: .., set: {PATH: ..}}]`, or `each: link, at: 5 s`";

/// A value that a point replaces.
#[derive(Clone, Debug)]
pub(crate) struct Replacement<'n> {
    /// The path, and where it stands.
    pub(crate) key: Key,
    /// The new value.
    pub(crate) value: Cow<'n, Node>,
    /// The place of the replacement, such as `variants[0].set`.
    pub(crate) place: String,
}

/// One value of an axis.
#[derive(Clone, Debug)]
pub(crate) struct Choice<'n> {
    /// What it is called.
    pub(crate) label: String,
    /// What it replaces.
    pub(crate) entries: Vec<Replacement<'n>>,
}

/// The values of an axis.
pub(crate) enum Values<'n> {
    /// These.
    Listed(Vec<Choice<'n>>),
    /// All of a range.
    Between(Between<'n>),
}

impl Values<'_> {
    /// How many values are listed; none of a range.
    pub(crate) fn listed(&self) -> Option<usize> {
        match self {
            Self::Listed(choices) => Some(choices.len()),
            Self::Between(_) => None,
        }
    }
}

/// An axis with all values of a range.
pub(crate) struct Between<'n> {
    /// The range.
    pub(crate) range: Range<'n>,
    /// How many of them are taken where they are not drawn.
    pub(crate) steps: Option<u32>,
    keys: Vec<Key>,
    from: &'n Node,
    place: String,
}

impl<'n> Between<'n> {
    /// The choice of one value.
    pub(crate) fn choice(&self, label: String) -> Choice<'n> {
        let value = Node {
            span: self.from.span,
            value: scalar::resolve(&label),
        };
        let entry = |key: &Key| Replacement {
            key: key.clone(),
            value: Cow::Owned(value.clone()),
            place: self.place.clone(),
        };
        let entries = self.keys.iter().map(entry).collect();
        Choice { label, entries }
    }
}

/// Checks the names of axes, which are columns of the results.
pub(crate) fn names(ctx: &mut Ctx<'_>, scenario: &Scenario, root: &Node) {
    for (i, axis) in scenario.axes.iter().enumerate() {
        let path = steps!["axes", i, "name"];
        lower::check_name(ctx, &axis.name, "axis", root, &path);
        if COLUMNS.contains(&axis.name.as_str()) {
            let message = format!("`{}` is a column that all results have", axis.name);
            let d = Diagnostic::error(codes::BAD_AXIS, message).hint("choose another name");
            ctx.error(d, root, &path);
        }
    }
    for (i, name) in repeated(scenario.axes.iter().map(|a| a.name.as_str())) {
        let message = format!("two axes are called `{name}`");
        let d = Diagnostic::error(codes::DUPLICATE_NAME, message)
            .hint("give each axis a name of its own");
        ctx.error(d, root, &steps!["axes", i, "name"]);
    }
}

/// What is wrong with the form of an axis.
fn problem(spec: &AxisSpec) -> Option<&'static str> {
    let range = spec.from.is_some() || spec.to.is_some();
    let times = spec.at.is_some() || spec.repair.is_some() || spec.of.is_some();
    let scaled = spec.steps.is_some() || spec.scale != Scale::Linear;
    let sets = spec.set.is_some();
    if spec.each.is_some() {
        let other = sets || range || scaled || spec.values.is_some() || spec.points.is_some();
        return match spec.at {
            _ if other => Some("has both failures (`each`) and values"),
            None => Some("lacks `at`, when things fail"),
            Some(_) => None,
        };
    }
    match (spec.values.is_some(), range, spec.points.is_some()) {
        _ if times => Some("has `of`, `at` or `repair`, but not `each`, what fails"),
        (true, false, true) | (false, true, true) => Some("has both values and points"),
        (true, true, _) => Some("has both values and a range"),
        (false, false, true) if sets => Some("has both values and points"),
        (false, true, false) if spec.from.is_none() => Some("lacks `from`, where its range begins"),
        (false, true, false) if spec.to.is_none() => Some("lacks `to`, where its range ends"),
        (_, _, false) if !sets && (range || spec.values.is_some()) => {
            Some("lacks `set`, the path of its values")
        }
        (false, false, false) if sets => Some("has no `values`"),
        (false, false, false) => Some("has neither values nor points"),
        (_, false, _) if scaled => Some("has `steps` or `scale`, but no range"),
        _ => None,
    }
}

/// The values of axis `index`; none after an error was reported.
pub(crate) fn read<'n>(
    ctx: &mut Ctx<'_>,
    scenario: &Scenario,
    root: &'n Node,
    index: usize,
) -> Option<Values<'n>> {
    let spec = &scenario.axes[index];
    let path = steps!["axes", index];
    if let Some(problem) = problem(spec) {
        let message = format!("this axis {problem}");
        let d = Diagnostic::error(codes::BAD_AXIS, message).hint(FORMS);
        ctx.error(d, root, &path);
        return None;
    }
    if spec.each.is_some() {
        return outages::choices(ctx, scenario, root, index).map(Values::Listed);
    }
    if spec.from.is_some() {
        return between(ctx, spec, root, index).map(Values::Between);
    }
    let (list, choices) = match &spec.points {
        None => ("values", values(ctx, root, index)?),
        Some(points) => {
            let named = points
                .iter()
                .enumerate()
                .map(|(i, p)| named_choice(root, &steps!["axes", index, "points", i], &p.name));
            ("points", named.collect())
        }
    };
    if choices.is_empty() {
        let d = Diagnostic::error(codes::BAD_AXIS, "an axis needs at least one value")
            .hint("remove it, or write what it varies");
        ctx.error(d, root, &steps!["axes", index, list]);
        return None;
    }
    // Where values go together in rows, each may occur in several.
    let rows = scenario
        .study
        .as_ref()
        .is_some_and(|s| s.design == DesignSpec::Paired);
    let before = ctx.error_count();
    let labels = choices.iter().filter(|_| !rows).map(|c| c.label.as_str());
    for (i, label) in repeated(labels) {
        let d = Diagnostic::error(codes::DUPLICATE_NAME, format!("`{label}` occurs twice"))
            .hint("remove one of the two");
        ctx.error(d, root, &steps!["axes", index, list, i]);
    }
    (ctx.error_count() == before).then_some(Values::Listed(choices))
}

/// A value with a name and what it sets.
pub(crate) fn named_choice<'n>(root: &'n Node, path: &[Step], name: &str) -> Choice<'n> {
    let node = path.iter().try_fold(root, |n, s| n.step(s));
    let place = format!("{}.set", crate::node::Path(path));
    let entries = match node.and_then(|n| n.get("set")).map(|s| &s.value) {
        Some(Value::Map(entries)) => entries.as_slice(),
        _ => &[],
    };
    Choice {
        label: name.to_owned(),
        entries: entries
            .iter()
            .map(|(key, value)| Replacement {
                key: key.clone(),
                value: Cow::Borrowed(value),
                place: place.clone(),
            })
            .collect(),
    }
}

/// The paths that an axis sets.
fn keys(axis: &Node) -> Vec<Key> {
    let key = |node: &Node| {
        Some(Key {
            name: node.text()?.to_owned(),
            span: node.span,
        })
    };
    match axis.get("set") {
        Some(set) => match &set.value {
            Value::Seq(items) => items.iter().filter_map(key).collect(),
            _ => key(set).into_iter().collect(),
        },
        None => Vec::new(),
    }
}

/// The values of an axis that sets one path, or the same at several; none after an error.
fn values<'n>(ctx: &mut Ctx<'_>, root: &'n Node, index: usize) -> Option<Vec<Choice<'n>>> {
    let axis = root.get("axes")?.step(&index.into())?;
    let keys = keys(axis);
    let items = match axis.get("values").map(|v| &v.value) {
        Some(Value::Seq(items)) => items.as_slice(),
        _ => &[],
    };
    let mut choices = Vec::with_capacity(items.len());
    for (i, item) in items.iter().enumerate() {
        let Some(label) = item.text() else {
            let d = Diagnostic::error(codes::BAD_AXIS, "a value here is a number or a text")
                .hint("give what is larger a name: `points: [{name: .., set: {PATH: ..}}]`");
            ctx.error(d, root, &steps!["axes", index, "values", i]);
            continue;
        };
        let entry = |key: &Key| Replacement {
            key: key.clone(),
            value: Cow::Borrowed(item),
            place: format!("axes[{index}].set"),
        };
        choices.push(Choice {
            label: label.to_owned(),
            entries: keys.iter().map(entry).collect(),
        });
    }
    (choices.len() == items.len()).then_some(choices)
}

/// The range of an axis; none after an error.
fn between<'n>(
    ctx: &mut Ctx<'_>,
    spec: &AxisSpec,
    root: &'n Node,
    index: usize,
) -> Option<Between<'n>> {
    let axis = root.get("axes")?.step(&index.into())?;
    let (from, to) = (axis.get("from")?, axis.get("to")?);
    let texts = (from.text().unwrap_or(""), to.text().unwrap_or(""));
    let range = match Range::of(texts.0, texts.1, spec.scale == Scale::Log) {
        Ok(range) => range,
        Err(why) => {
            let hint = match why {
                NoRange::Kinds => {
                    "write numbers, rates, times, sizes, packets or percentages: `from: 5 Mb/s, to: 13 Mb/s`"
                }
                NoRange::Order => "write the smaller value first",
                NoRange::Zero => "write a smallest value above 0, or `scale: linear`",
            };
            let found = format!("{} to {}", from.describe(), to.describe());
            let d = Diagnostic::error(codes::BAD_AXIS, why.to_string());
            ctx.error(
                d.found(found).hint(hint),
                root,
                &steps!["axes", index, "from"],
            );
            return None;
        }
    };
    Some(Between {
        range,
        steps: spec.steps,
        keys: keys(axis),
        from,
        place: format!("axes[{index}].set"),
    })
}

/// The values of an axis in one base unit, if all are quantities of one kind.
pub(crate) fn quantities(labels: &[String]) -> Option<(&'static str, Vec<f64>)> {
    KINDS.iter().find_map(|kind| {
        let values = labels
            .iter()
            .map(|l| (kind.read)(l))
            .collect::<Option<_>>()?;
        Some((kind.unit, values))
    })
}
