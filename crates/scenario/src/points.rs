//! Points at which a scenario is run. A point has one value of each axis; variants are one axis.

use std::collections::{BTreeMap, BTreeSet};

use crate::axes::{self, Choice, Replacement, Values};
use crate::codes;
use crate::ctx::Ctx;
use crate::design::{self, Combined};
use crate::error::Diagnostic;
use crate::load::Chosen;
use crate::lower;
use crate::node::{Node, steps};
use crate::plan::Axis;
use crate::schema::Scenario;
use crate::set;

/// The most points of a scenario.
pub(crate) const MAX_POINTS: usize = 1_000_000;

/// The points of a scenario in order: variants first; of all combinations of the axes' values the
/// last axis changes fastest.
#[derive(Clone, Debug)]
pub(crate) struct Grid<'n> {
    /// None if the scenario has none.
    variants: Vec<Choice<'n>>,
    axes: Vec<(String, Vec<Choice<'n>>)>,
    /// How many values of each axis are listed; none of a range.
    listed: Vec<Option<usize>>,
    /// Places on the axes, a row for each combination of their values; none: all combinations.
    rows: Option<Vec<Vec<u32>>>,
    design: &'static str,
    /// Which axis has failures.
    failures: Option<usize>,
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
        axes::names(ctx, scenario, root);
        let read = (0..scenario.axes.len()).map(|i| axes::read(ctx, scenario, root, i));
        let values: Option<Vec<_>> = read.collect::<Vec<_>>().into_iter().collect();
        let values = values?;
        let listed = values.iter().map(Values::listed).collect();
        let Combined { axes, rows } = design::combine(ctx, scenario, root, values)?;
        let variants = scenario.variants.iter().enumerate();
        let names = scenario.axes.iter().map(|a| a.name.clone());
        let grid = Self {
            variants: variants
                .map(|(i, v)| axes::named_choice(root, &steps!["variants", i], &v.name))
                .collect(),
            axes: names.zip(axes).collect(),
            listed,
            rows,
            failures: scenario.axes.iter().position(|a| a.each.is_some()),
            design: scenario.study.as_ref().map_or("full", |s| s.design.name()),
            name: match scenario.name.as_str() {
                "" => "base".to_owned(),
                name => name.to_owned(),
            },
        };
        grid.check_paths(ctx);
        grid.check_size(ctx, root);
        (named && ctx.error_count() == before).then_some(grid)
    }

    /// Which axis has failures.
    pub(crate) fn failures(&self) -> Option<usize> {
        self.failures
    }

    /// The name of the design.
    pub(crate) fn design(&self) -> &'static str {
        self.design
    }

    /// What the results say of the axes.
    pub(crate) fn axes(&self) -> Vec<Axis> {
        let axis = |(i, (name, choices)): (usize, &(String, Vec<Choice<'_>>))| {
            let labels: Vec<String> = choices.iter().map(|c| c.label.clone()).collect();
            let (unit, numbers) = axes::quantities(&labels).unzip();
            Axis {
                name: name.clone(),
                labels,
                unit,
                numbers,
                listed: self.listed[i],
                failures: self.failures == Some(i),
            }
        };
        self.axes.iter().enumerate().map(axis).collect()
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
        let each = match &self.rows {
            Some(rows) => rows.len(),
            None => {
                let sizes = self.axes.iter().map(|(_, choices)| choices.len());
                sizes.fold(1, usize::saturating_mul)
            }
        };
        each.saturating_mul(self.variants.len().max(1))
    }

    /// The places of point `index` on the axes, and the index of its variant.
    fn places(&self, index: usize) -> (Vec<u32>, usize) {
        if let Some(rows) = &self.rows {
            return (rows[index % rows.len()].clone(), index / rows.len());
        }
        let mut rest = index;
        let mut places = vec![0; self.axes.len()];
        for (at, (_, choices)) in places.iter_mut().zip(&self.axes).rev() {
            *at = (rest % choices.len()) as u32;
            rest /= choices.len();
        }
        (places, rest)
    }

    /// The numbers of the points that are chosen.
    pub(crate) fn chosen(&self, which: &Chosen) -> Vec<usize> {
        let all = self.len();
        match which {
            Chosen::All => (0..all).collect(),
            Chosen::These(numbers) => numbers.iter().copied().filter(|n| *n < all).collect(),
            Chosen::Named(name) => {
                let named = (0..all).find(|i| self.point(*i).name == *name);
                named.into_iter().collect()
            }
            Chosen::Edges => {
                let variants = self.variants.len().max(1);
                let each = all / variants;
                let mut edges: Vec<usize> = (0..variants).map(|v| v * each).collect();
                match &self.rows {
                    Some(rows) => edges.extend(firsts(rows)),
                    None => {
                        // The last axis changes fastest.
                        let mut step = each;
                        for (_, choices) in &self.axes {
                            step /= choices.len().max(1);
                            edges.extend((1..choices.len()).map(|at| at * step));
                        }
                    }
                }
                edges.sort_unstable();
                edges.dedup();
                edges
            }
        }
    }

    /// The points without a failure that the given ones are compared with ([`outages::screen`])
    /// and that are not among them.
    ///
    /// [`outages::screen`]: crate::outages::screen
    pub(crate) fn references(&self, points: &[usize]) -> Vec<usize> {
        let (Some(axis), true) = (self.failures, points.len() < self.len()) else {
            return Vec::new();
        };
        let found: BTreeMap<_, usize> = (0..self.len()).map(|i| (self.places(i), i)).collect();
        let without = |i: &usize| {
            let (mut places, variant) = self.places(*i);
            places[axis] = 0;
            found.get(&(places, variant)).copied()
        };
        let wanted: BTreeSet<usize> = points.iter().filter_map(without).collect();
        let there: BTreeSet<usize> = points.iter().copied().collect();
        wanted.difference(&there).copied().collect()
    }

    /// Point `index`.
    pub(crate) fn point(&self, index: usize) -> Point<'_> {
        let (coordinates, variant) = self.places(index);
        let variant = self.variants.get(variant);
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
        let all: Vec<_> = all.iter().map(|(name, c)| (*name, paths_of(c))).collect();
        for (i, (name, of)) in all.iter().enumerate() {
            for (path, entry) in of {
                let clash = all[..i]
                    .iter()
                    .find(|(_, others)| others.keys().any(|o| set::overlap(o, path)));
                if let Some((other, _)) = clash {
                    let message = format!("both `{other}` and `{name}` set this");
                    let d = Diagnostic::error(codes::BAD_AXIS, message)
                        .found(*path)
                        .hint("let one axis set it, or set it in the points of one");
                    let mut d = ctx.texts.locate(d, entry.key.span);
                    d.path.clone_from(&entry.place);
                    ctx.report(d);
                }
            }
        }
    }
}

/// The paths that an axis sets, each with its first place: all its values may set the same.
fn paths_of<'c, 'n>(choices: &'c [Choice<'n>]) -> BTreeMap<&'c str, &'c Replacement<'n>> {
    let entries = choices.iter().flat_map(|c| &c.entries).rev();
    entries.map(|e| (e.key.name.as_str(), e)).collect()
}

/// The values of an axis up to which each of them is an edge; of more, which are drawn from a
/// range, the least and the greatest are.
const FEW: usize = 64;

/// The first row with each value of each axis, or with its ends where there are many.
fn firsts(rows: &[Vec<u32>]) -> Vec<usize> {
    let mut found = Vec::new();
    for axis in 0..rows.first().map_or(0, Vec::len) {
        let mut of_value = BTreeMap::new();
        for (i, row) in rows.iter().enumerate() {
            of_value.entry(row[axis]).or_insert(i);
        }
        match of_value.len() {
            0..=FEW => found.extend(of_value.into_values()),
            _ => {
                let ends = [of_value.pop_first(), of_value.pop_last()];
                found.extend(ends.into_iter().flatten().map(|(_, row)| row));
            }
        }
    }
    found
}
