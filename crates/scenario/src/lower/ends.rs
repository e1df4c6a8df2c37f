//! The source and destination nodes of flows, and whether paths connect them.

use std::sync::Arc;

use super::nodes::{Nodes, Place};
use super::paths::Paths;
use super::pattern::{self, Part};
use super::rows::Row;
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, steps};
use crate::plan::{PatternPlan, Split};
use spillgate_core::suggest::list;

/// The sources and destinations of a row's flows. Members of groups are assigned round-robin, or by
/// a pattern.
#[derive(Clone, Debug)]
pub(super) struct Ends {
    from: Place,
    to: Place,
    /// The flows of the pattern, one for each flow of the row.
    parts: Option<Arc<[Part]>>,
}

impl Ends {
    /// The ends of flow `i`.
    pub(super) fn of(&self, i: u32) -> (u32, u32) {
        match self.part(i) {
            Some(part) => (part.from, part.to),
            None => (self.from.deal(i), self.to.deal(i)),
        }
    }

    fn part(&self, i: u32) -> Option<&Part> {
        Some(&self.parts.as_ref()?[i as usize])
    }

    /// The number of the source of flow `i`.
    pub(super) fn source(&self, i: u32) -> u32 {
        self.part(i).map_or(i, |p| p.source)
    }

    /// The share of its source's packets that flow `i` has, if not all.
    pub(super) fn split(&self, i: u32) -> Option<Split> {
        self.part(i)?.split.clone()
    }

    /// Warns of a group without a count: its author may expect a flow from every member.
    fn warn_of_one(&self, ctx: &mut Ctx<'_>, root: &Node, row: &Row) {
        let spec = &row.spec;
        for (key, place, name) in [("from", self.from, &spec.from), ("to", self.to, &spec.to)] {
            if let Some(members) = place.members().filter(|n| spec.count == 1 && *n > 1) {
                let d = Diagnostic::warning(
                    codes::W_ONE_OF_GROUP,
                    format!(
                        "flow `{}` is one: of group `{name}` it takes `{name}-0`",
                        spec.name
                    ),
                )
                .hint(format!(
                    "write `count: {members}` for one of each member, or `{key}: {name}-0`"
                ));
                row.warn(ctx, root, d, &steps![key]);
            }
        }
    }

    /// The distinct pairs of ends of `count` flows.
    fn pairs(&self, count: u32) -> impl Iterator<Item = (u32, u32)> {
        let size = |p: Place| u64::from(p.members().unwrap_or(1));
        let (a, b) = (size(self.from), size(self.to));
        let period = a / gcd(a, b) * b;
        let different = match self.parts {
            Some(_) => count,
            None => period.min(count.into()) as u32,
        };
        (0..different).map(move |i| self.of(i))
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    match b {
        0 => a.max(1),
        _ => gcd(b, a % b),
    }
}

/// The ends of each row; none after an error.
pub(super) fn all(
    ctx: &mut Ctx<'_>,
    root: &Node,
    rows: &mut [Row],
    nodes: &Nodes<'_>,
    seed: u64,
) -> Vec<Option<Ends>> {
    let mut made = 0;
    rows.iter_mut()
        .map(|row| {
            let mut find = |name: &str, key: &str| {
                let place = nodes.find(name);
                if place.is_none() {
                    row.error(ctx, root, nodes.unknown(name), &steps![key]);
                }
                place
            };
            let (from, to) = (find(&row.spec.from, "from"), find(&row.spec.to, "to"));
            let mut ends = Ends {
                from: from?,
                to: to?,
                parts: None,
            };
            if row.spec.pattern.is_some() {
                let parts = pattern::parts(ctx, root, row, (ends.from, ends.to), seed, &mut made);
                row.spec.count = parts.as_ref().map_or(1, |p| p.len() as u32);
                let parts = parts?;
                ends.parts = Some(parts);
                return Some(ends);
            }
            if let Some((node, _)) = ends.pairs(row.spec.count).find(|(a, b)| a == b) {
                let d = Diagnostic::error(
                    codes::SELF_LINK,
                    format!(
                        "the flow goes from `{}` to itself",
                        nodes.names[node as usize]
                    ),
                )
                .hint("`from` and `to` must be two nodes");
                row.error(ctx, root, d, &steps!["to"]);
                return None;
            }
            ends.warn_of_one(ctx, root, row);
            Some(ends)
        })
        .collect()
}

/// Who sends to whom in the rows between groups, and in those with a pattern.
pub(super) fn patterns(rows: &[Row], ends: &[Option<Ends>]) -> Vec<PatternPlan> {
    let of = |(row, ends): (&Row, &Option<Ends>)| {
        let (spec, ends) = (&row.spec, ends.as_ref()?);
        let in_turn = || {
            let groups = ends.from.members().zip(ends.to.members());
            groups.filter(|_| spec.count > 1 && row.is_flows())?;
            Some("in turn: flow i from member i to member i, counted in a circle".to_owned())
        };
        Some(PatternPlan {
            name: spec.name.clone(),
            from: spec.from.clone(),
            to: spec.to.clone(),
            flows: spec.count,
            pattern: match &spec.pattern {
                Some(pattern) => pattern.in_words(&spec.to),
                None => in_turn()?,
            },
        })
    };
    rows.iter().zip(ends).filter_map(of).collect()
}

/// Checks that a path leads from the source of each flow to its destination and, if the flow is
/// answered, back.
pub(super) fn check_paths(
    ctx: &mut Ctx<'_>,
    root: &Node,
    row: &Row,
    ends: &Ends,
    answered: bool,
    paths: &mut Paths,
    nodes: &Nodes<'_>,
) -> bool {
    let spec = &row.spec;
    let name = |id: u32| nodes.names[id as usize].as_str();
    let mut pairs = ends.pairs(spec.count);
    if let Some((a, b)) = pairs.find(|&(a, b)| paths.between(a, b).is_none()) {
        let mut sources = nodes
            .written()
            .filter(|(_, id)| paths.routes.next_hop(*id, b).is_some())
            .map(|(name, _)| name)
            .peekable();
        let hint = match sources.peek() {
            Some(_) => format!(
                "paths to `{}` begin at {}; links lead one way unless they are `duplex`",
                name(b),
                list(sources)
            ),
            None => format!(
                "no link leads to `{}`; links lead one way unless they are `duplex`",
                name(b)
            ),
        };
        let d = Diagnostic::error(
            codes::NO_ROUTE,
            format!("there is no path from `{}` to `{}`", name(a), name(b)),
        )
        .found(format!("{} -> {}", name(a), name(b)))
        .hint(hint);
        row.error(ctx, root, d, &steps!["to"]);
        return false;
    }
    let mut pairs = ends.pairs(if answered { spec.count } else { 0 });
    if let Some((a, b)) = pairs.find(|&(a, b)| paths.between(b, a).is_none()) {
        let d = Diagnostic::error(
            codes::NO_ROUTE,
            format!(
                "there is no path for acknowledgments, from `{}` to `{}`",
                name(b),
                name(a)
            ),
        )
        .found(format!("{} -> {}", name(b), name(a)))
        .hint("make the links `duplex`, or add links that lead back");
        row.error(ctx, root, d, &steps!["tcp"]);
        return false;
    }
    true
}
