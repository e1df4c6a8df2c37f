//! Points at which a scenario is run. A point has one value of each axis; variants are one axis.

use spillgate_core::units;

use crate::codes;
use crate::ctx::Ctx;
use crate::de::repeated;
use crate::error::Diagnostic;
use crate::lower;
use crate::node::{Key, Node, Step, Value, steps};
use crate::plan::Axis;
use crate::schema::Scenario;
use crate::set;

/// The most points of a scenario.
const MAX_POINTS: usize = 1_000_000;

/// Columns of results, which axes cannot be called.
const COLUMNS: [&str; 14] = [
    "variant", "point", "run", "scope", "name", "estimate", "class", "metric", "value", "unit",
    "mean", "low", "high", "n",
];

/// A value that a point replaces.
#[derive(Clone, Debug)]
pub(crate) struct Replacement<'n> {
    /// The path, and where it stands.
    pub(crate) key: Key,
    /// The new value.
    pub(crate) value: &'n Node,
    /// The place of the replacement, such as `variants[0].set`.
    pub(crate) place: String,
}

/// One value of an axis.
#[derive(Clone, Debug)]
struct Choice<'n> {
    label: String,
    entries: Vec<Replacement<'n>>,
}

/// The points of a scenario in order: variants first, the last axis changes fastest.
#[derive(Clone, Debug)]
pub(crate) struct Grid<'n> {
    /// None if the scenario has none.
    variants: Vec<Choice<'n>>,
    axes: Vec<(String, Vec<Choice<'n>>)>,
    /// What a point without coordinates is called.
    name: String,
}

/// One point.
#[derive(Clone, Debug)]
pub(crate) struct Point<'g> {
    /// `LLQ (load=2 Mb/s, n=3)`.
    pub(crate) name: String,
    /// Name of its variant; empty if the scenario has none.
    pub(crate) variant: String,
    /// Its place on each axis.
    pub(crate) coordinates: Vec<u32>,
    /// What it replaces.
    pub(crate) entries: Vec<&'g Replacement<'g>>,
}

impl<'n> Grid<'n> {
    /// The points of a scenario whose tree is `root`; none after an error was reported.
    pub(crate) fn of(ctx: &mut Ctx<'_>, scenario: &Scenario, root: &'n Node) -> Option<Self> {
        let before = ctx.error_count();
        let named = lower::variant_names(ctx, scenario, root);
        let variants = scenario.variants.iter().enumerate();
        let grid = Self {
            variants: variants
                .map(|(i, v)| named_choice(root, &steps!["variants", i], &v.name))
                .collect(),
            axes: (0..scenario.axes.len())
                .map(|i| (scenario.axes[i].name.clone(), axis(ctx, scenario, root, i)))
                .collect(),
            name: match scenario.name.as_str() {
                "" => "base".to_owned(),
                name => name.to_owned(),
            },
        };
        names(ctx, scenario, root);
        grid.check_paths(ctx);
        grid.check_size(ctx, root);
        (named && ctx.error_count() == before).then_some(grid)
    }

    /// What the results say of the axes.
    pub(crate) fn axes(&self) -> Vec<Axis> {
        let axis = |(name, choices): &(String, Vec<Choice<'_>>)| {
            let labels: Vec<String> = choices.iter().map(|c| c.label.clone()).collect();
            let (unit, numbers) = quantities(&labels).unzip();
            Axis {
                name: name.clone(),
                labels,
                unit,
                numbers,
            }
        };
        self.axes.iter().map(axis).collect()
    }

    /// Whether the scenario is run as it stands.
    pub(crate) fn is_single(&self) -> bool {
        self.variants.is_empty() && self.axes.is_empty()
    }

    /// Whether there are axes beside variants.
    pub(crate) fn has_axes(&self) -> bool {
        !self.axes.is_empty()
    }

    /// The number of points.
    pub(crate) fn len(&self) -> usize {
        let sizes = self.axes.iter().map(|(_, choices)| choices.len());
        sizes.fold(self.variants.len().max(1), usize::saturating_mul)
    }

    /// Point `index`.
    pub(crate) fn point(&self, index: usize) -> Point<'_> {
        let mut rest = index;
        let mut coordinates = vec![0; self.axes.len()];
        for (at, (_, choices)) in coordinates.iter_mut().zip(&self.axes).rev() {
            *at = (rest % choices.len()) as u32;
            rest /= choices.len();
        }
        let variant = self.variants.get(rest);
        let along = || {
            let places = coordinates.iter().zip(&self.axes);
            places.map(|(at, (name, choices))| (name, &choices[*at as usize]))
        };
        let places: Vec<String> = along()
            .map(|(name, choice)| format!("{name}={}", choice.label))
            .collect();
        let places = places.join(", ");
        let name = match variant {
            _ if self.is_single() => self.name.clone(),
            Some(v) if places.is_empty() => v.label.clone(),
            Some(v) => format!("{} ({places})", v.label),
            None => places,
        };
        let chosen = variant.into_iter().chain(along().map(|(_, choice)| choice));
        Point {
            name,
            variant: variant.map(|v| v.label.clone()).unwrap_or_default(),
            entries: chosen.flat_map(|c| &c.entries).collect(),
            coordinates,
        }
    }

    fn check_size(&self, ctx: &mut Ctx<'_>, root: &Node) {
        if self.len() > MAX_POINTS {
            let message = format!("the axes have more than {MAX_POINTS} points together");
            let d = Diagnostic::error(codes::BAD_AXIS, message)
                .found(format!("{} points", self.len()))
                .hint("leave out values, or make several studies");
            ctx.error(d, root, &steps!["axes"]);
        }
    }

    /// Two axes must not replace the same value, nor one a part of what the other replaces.
    fn check_paths(&self, ctx: &mut Ctx<'_>) {
        let variants = (!self.variants.is_empty()).then_some(("variants", &self.variants));
        let axes = self
            .axes
            .iter()
            .map(|(name, choices)| (name.as_str(), choices));
        let all: Vec<_> = variants.into_iter().chain(axes).collect();
        for (i, (name, choices)) in all.iter().enumerate() {
            for entry in choices.iter().flat_map(|c| &c.entries) {
                let clash = all[..i].iter().find(|(_, others)| {
                    let mut others = others.iter().flat_map(|c| &c.entries);
                    others.any(|o| set::overlap(&o.key.name, &entry.key.name))
                });
                if let Some((other, _)) = clash {
                    let message = format!("both `{other}` and `{name}` set this");
                    let d = Diagnostic::error(codes::BAD_AXIS, message)
                        .found(entry.key.name.clone())
                        .hint("let one axis set it, or set it in the points of one");
                    let mut d = ctx.texts.locate(d, entry.key.span);
                    d.path.clone_from(&entry.place);
                    ctx.report(d);
                }
            }
        }
    }
}

/// Names of axes are columns of the results.
fn names(ctx: &mut Ctx<'_>, scenario: &Scenario, root: &Node) {
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

/// The values of axis `index`.
fn axis<'n>(
    ctx: &mut Ctx<'_>,
    scenario: &Scenario,
    root: &'n Node,
    index: usize,
) -> Vec<Choice<'n>> {
    let spec = &scenario.axes[index];
    let path = steps!["axes", index];
    let by_values = spec.set.is_some() || spec.values.is_some();
    let problem = match (
        spec.set.is_some(),
        spec.values.is_some(),
        spec.points.is_some(),
    ) {
        (true, true, false) | (false, false, true) => None,
        (_, _, true) => Some("has both values and points"),
        (true, false, false) => Some("has no `values`"),
        (false, true, false) => Some("lacks `set`, the path of its values"),
        (false, false, false) => Some("has neither values nor points"),
    };
    if let Some(problem) = problem {
        let d = Diagnostic::error(codes::BAD_AXIS, format!("this axis {problem}")).hint(
            "write `set: PATH` with `values: [..]`, or `points: [{name: .., set: {PATH: ..}}]`",
        );
        ctx.error(d, root, &path);
        return Vec::new();
    }
    let choices: Vec<Choice<'n>> = if by_values {
        values(ctx, root, index)
    } else {
        let points = spec.points.iter().flatten().enumerate();
        points
            .map(|(i, p)| named_choice(root, &steps!["axes", index, "points", i], &p.name))
            .collect()
    };
    let list = if by_values { "values" } else { "points" };
    let at = steps!["axes", index, list];
    let written = match by_values {
        true => spec.values.as_ref().map_or(0, Vec::len),
        false => spec.points.as_ref().map_or(0, Vec::len),
    };
    if written == 0 {
        let d = Diagnostic::error(codes::BAD_AXIS, "an axis needs at least one value")
            .hint("remove it, or write what it varies");
        ctx.error(d, root, &at);
    }
    for (i, label) in repeated(choices.iter().map(|c| c.label.as_str())) {
        let d = Diagnostic::error(codes::DUPLICATE_NAME, format!("`{label}` occurs twice"))
            .hint("remove one of the two");
        let mut at = at.to_vec();
        at.push(i.into());
        ctx.error(d, root, &at);
    }
    choices
}

/// A value with a name and what it sets.
fn named_choice<'n>(root: &'n Node, path: &[Step], name: &str) -> Choice<'n> {
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
                value,
                place: place.clone(),
            })
            .collect(),
    }
}

/// The values of an axis that sets one path, or the same at several.
fn values<'n>(ctx: &mut Ctx<'_>, root: &'n Node, index: usize) -> Vec<Choice<'n>> {
    let path = steps!["axes", index];
    let Some(node) = path.iter().try_fold(root, |n, s| n.step(s)) else {
        return Vec::new();
    };
    let keys: Vec<Key> = match node.get("set").map(|s| (&s.value, s.span)) {
        Some((Value::Seq(items), _)) => items.iter().filter_map(key).collect(),
        Some(_) => node.get("set").and_then(key).into_iter().collect(),
        None => Vec::new(),
    };
    let items = match node.get("values").map(|v| &v.value) {
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
            value: item,
            place: format!("axes[{index}].set"),
        };
        choices.push(Choice {
            label: label.to_owned(),
            entries: keys.iter().map(entry).collect(),
        });
    }
    choices
}

fn key(node: &Node) -> Option<Key> {
    Some(Key {
        name: node.text()?.to_owned(),
        span: node.span,
    })
}

/// The values of an axis in one base unit, if all are quantities of one kind.
fn quantities(labels: &[String]) -> Option<(&'static str, Vec<f64>)> {
    type Kind = (&'static str, fn(&str) -> Option<f64>);
    const KINDS: [Kind; 6] = [
        ("", |l| l.parse().ok().filter(|x: &f64| x.is_finite())),
        ("b/s", |l| Some(units::parse_rate(l).ok()?.bps() as f64)),
        ("s", |l| Some(units::parse_dur(l).ok()?.as_secs_f64())),
        ("B", |l| Some(units::parse_size(l).ok()? as f64)),
        ("packets", |l| {
            Some(f64::from(units::parse_packets(l).ok()?))
        }),
        ("ratio", |l| units::parse_percent(l).ok()),
    ];
    KINDS.into_iter().find_map(|(unit, value)| {
        let values = labels.iter().map(|l| value(l)).collect::<Option<_>>()?;
        Some((unit, values))
    })
}
