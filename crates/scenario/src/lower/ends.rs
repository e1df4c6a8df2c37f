//! Where flows begin and end, and that a path leads there.

use super::nodes::{Nodes, Place};
use super::paths::Paths;
use super::rows::Row;
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, steps};
use crate::suggest::list;

/// Where a row's flows begin and end; those of groups are dealt out in turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    from: Place,
    to: Place,
}

impl Ends {
    /// The ends of flow `i`.
    pub(super) fn of(self, i: u32) -> (u32, u32) {
        (self.from.deal(i), self.to.deal(i))
    }

    /// Who names a group and no count may expect a flow of every member.
    fn warn_of_one(self, ctx: &mut Ctx<'_>, root: &Node, row: &Row) {
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

    /// The different ends of `count` flows.
    fn pairs(self, count: u32) -> impl Iterator<Item = (u32, u32)> {
        let size = |p: Place| u64::from(p.members().unwrap_or(1));
        let (a, b) = (size(self.from), size(self.to));
        let period = a / gcd(a, b) * b;
        let different = period.min(count.into()) as u32;
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
    rows: &[Row],
    nodes: &Nodes<'_>,
) -> Vec<Option<Ends>> {
    rows.iter()
        .map(|row| {
            let mut find = |name: &str, key: &str| {
                let place = nodes.find(name);
                if place.is_none() {
                    row.error(ctx, root, nodes.unknown(name), &steps![key]);
                }
                place
            };
            let (from, to) = (find(&row.spec.from, "from"), find(&row.spec.to, "to"));
            let ends = Ends {
                from: from?,
                to: to?,
            };
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

/// Checks that paths lead from each flow's begin to its end and, if it is answered, back.
pub(super) fn check_paths(
    ctx: &mut Ctx<'_>,
    root: &Node,
    row: &Row,
    ends: Ends,
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
