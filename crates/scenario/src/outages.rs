//! Axes along which each link, node or pair of links fails in turn.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use spillgate_core::suggest::did_you_mean;

use crate::axes::{Choice, Replacement};
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::lower::{self, Ends, GroupNames};
use crate::node::{Key, Node, Span, Value, steps};
use crate::plan::VariantPlan;
use crate::schema::{AxisSpec, Each, Repair, Scenario, TrafficSpec};
use crate::shift::Shift;

/// The label of the point without a failure, the first of such an axis.
pub(crate) const NONE: &str = "none";
const PATH: &str = "topology.failures";

/// The values of axis `index`: no failure, then each. None after an error was reported.
pub(crate) fn choices<'n>(
    ctx: &mut Ctx<'_>,
    scenario: &Scenario,
    root: &'n Node,
    index: usize,
) -> Option<Vec<Choice<'n>>> {
    let spec = &scenario.axes[index];
    let axis = root.get("axes")?.step(&index.into())?;
    let span = axis.get("each")?.span;
    let ends = lower::ends_of_links(ctx, scenario, root)?;
    let each = spec.each?;
    let things = things(each, scenario, &ends);
    let wanted = wanted(ctx, spec, root, index, &things)?;
    let mut failing: Vec<(String, Vec<&str>)> = vec![(NONE.to_owned(), Vec::new())];
    let links = |thing: &str| -> Vec<&str> {
        let of = |e: &&Ends| match each {
            Each::Node => e.from == thing || e.to == thing,
            Each::Link | Each::Pair => e.link == thing,
        };
        ends.iter().filter(of).map(|e| e.link.as_str()).collect()
    };
    for (i, one) in wanted.iter().enumerate() {
        match each {
            Each::Pair => failing.extend(wanted[i + 1..].iter().map(|other| {
                let both = [links(one), links(other)].concat();
                (format!("{one} + {other}"), both)
            })),
            Each::Link | Each::Node => failing.push(((*one).to_owned(), links(one))),
        }
    }
    let own = match root.get("topology").and_then(|t| t.get("failures")) {
        Some(Node {
            value: Value::Seq(items),
            ..
        }) => items.as_slice(),
        _ => &[],
    };
    let choice = |(label, links): (String, Vec<&str>)| {
        let fails = links.iter().map(|link| failure(spec, link, span));
        let value = Node {
            span,
            value: Value::Seq(own.iter().cloned().chain(fails).collect()),
        };
        let entry = Replacement {
            key: Key {
                name: PATH.to_owned(),
                span,
            },
            value: Cow::Owned(value),
            place: format!("axes[{index}].each"),
        };
        Choice {
            label,
            entries: vec![entry],
        }
    };
    Some(failing.into_iter().map(choice).collect())
}

/// What can fail: links, or nodes where no traffic begins or ends, since without an end there is
/// nothing to carry.
fn things<'e>(each: Each, scenario: &Scenario, ends: &'e [Ends]) -> Vec<&'e str> {
    if each != Each::Node {
        return ends.iter().map(|e| e.link.as_str()).collect();
    }
    let groups = GroupNames::new(&scenario.topology);
    let rows = scenario.traffic.iter().flat_map(|row| match row {
        TrafficSpec::Flow(f) => vec![&f.from, &f.to],
        TrafficSpec::Sessions(s) => vec![&s.from, &s.to],
        _ => Vec::new(),
    });
    let at_ends: BTreeSet<&String> = rows.collect();
    let is_end = |n: &str| at_ends.iter().any(|e| *e == n || groups.is_member(n, e));
    let both = ends.iter().flat_map(|e| [e.from.as_str(), e.to.as_str()]);
    let nodes: BTreeSet<&str> = both.collect();
    nodes.into_iter().filter(|n| !is_end(n)).collect()
}

/// Those of them that are asked for; none after an error.
fn wanted<'e>(
    ctx: &mut Ctx<'_>,
    spec: &AxisSpec,
    root: &Node,
    index: usize,
    things: &[&'e str],
) -> Option<Vec<&'e str>> {
    let what = if spec.each == Some(Each::Node) {
        "node"
    } else {
        "link"
    };
    let before = ctx.error_count();
    let found = match &spec.of {
        None => things.to_vec(),
        Some(names) => {
            for (i, name) in names.iter().enumerate() {
                if !things.contains(&name.as_str()) {
                    let near = did_you_mean(name, things.iter().copied());
                    let message = format!("no {what} `{name}` can fail here{near}");
                    let code = match what {
                        "node" => codes::UNKNOWN_NODE,
                        _ => codes::UNKNOWN_LINK,
                    };
                    let d = Diagnostic::error(code, message)
                        .hint("write the name of a single link, or of a node where no flow begins or ends");
                    ctx.error(d, root, &steps!["axes", index, "of", i]);
                }
            }
            let named = |t: &&&str| names.iter().any(|n| n == **t);
            things.iter().filter(named).copied().collect()
        }
    };
    let least = if spec.each == Some(Each::Pair) { 2 } else { 1 };
    if ctx.error_count() == before && found.len() < least {
        let message = match (least, what) {
            (2, _) => "a pair takes two links that can fail",
            (_, "node") => "there is no node that can fail: flows begin or end at each of them",
            _ => "there is no link that can fail",
        };
        let d = Diagnostic::error(codes::BAD_AXIS, message)
            .hint("name more of them under `of`, or leave it out: then all can fail");
        ctx.error(d, root, &steps!["axes", index, "each"]);
    }
    (ctx.error_count() == before).then_some(found)
}

/// A failure as a scenario writes it.
fn failure(spec: &AxisSpec, link: &str, span: Span) -> Node {
    let text = |text: String| Node {
        span,
        value: Value::Str(text),
    };
    let repair = match spec.repair {
        Some(Repair::After(time)) => Some(("repair", time.to_string())),
        Some(Repair::Never) | None => None,
    };
    let at = spec.at.unwrap_or_default().to_string();
    let pairs = [Some(("link", link.to_owned())), Some(("at", at)), repair];
    let entry = |(name, value): (&str, String)| {
        let name = name.to_owned();
        (Key { name, span }, text(value))
    };
    Node {
        span,
        value: Value::Map(pairs.into_iter().flatten().map(entry).collect()),
    }
}

/// Notes what each failure does to paths and loads, and which points no packet can tell from the
/// point without: those of which neither changes. `axis`: which one has the failures.
///
/// Paths change only where a link fails that is on one: removing an edge that is on no shortest
/// path changes no shortest path.
pub(crate) fn screen(points: &mut [VariantPlan], axis: usize) {
    let without: BTreeMap<(String, Vec<u32>), usize> = points
        .iter()
        .enumerate()
        .filter(|(_, p)| p.coordinates[axis] == 0)
        .map(|(i, p)| ((p.variant.clone(), p.coordinates.clone()), i))
        .collect();
    for i in 0..points.len() {
        let point = &points[i];
        let mut place = point.coordinates.clone();
        place[axis] = 0;
        let same = without.get(&(point.variant.clone(), place)).copied();
        let Some(same) = same.filter(|s| *s != i) else {
            continue;
        };
        let reference = &points[same].world;
        if !reference.failures.is_empty() {
            continue;
        }
        let shift = Shift::of(&point.world);
        if shift.is_none() {
            points[i].same = Some(same);
            points[i].world = Arc::clone(reference);
        }
        points[i].shift = Some(shift);
    }
}
