//! Nodes and links.

use spillgate_core::{Dur, Overhead, Rate};
use spillgate_queueing::Recipe;

use super::{Ids, check_name};
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, Step, steps};
use crate::plan::LinkPlan;
use crate::routes::Edge;
use crate::schema::Scenario;
use crate::suggest::{did_you_mean, list};

/// Most nodes: the routing table has one entry per pair.
const MAX_NODES: usize = 4096;

/// Ids of the nodes by name.
pub(super) fn nodes<'a>(ctx: &mut Ctx<'_>, scenario: &'a Scenario, root: &Node) -> Ids<'a> {
    let names = &scenario.topology.nodes;
    let mut ids = Ids::new();
    if names.is_empty() {
        let d = Diagnostic::error(codes::NO_NODES, "the topology has no nodes")
            .hint("list at least two, such as `nodes: [a, b]`");
        ctx.error(d, root, &steps!["topology", "nodes"]);
    }
    if names.len() > MAX_NODES {
        let d = Diagnostic::error(codes::OUT_OF_RANGE, format!("{} nodes", names.len()))
            .hint(format!("a topology has at most {MAX_NODES} nodes"));
        ctx.error(d, root, &steps!["topology", "nodes"]);
    }
    for (i, name) in names.iter().take(MAX_NODES).enumerate() {
        let path = steps!["topology", "nodes", i];
        check_name(ctx, name, "node", root, &path);
        if ids.insert(name, i as u32).is_some() {
            let d = Diagnostic::error(
                codes::DUPLICATE_NAME,
                format!("two nodes are called `{name}`"),
            )
            .hint("give each node a name of its own");
            ctx.error(d, root, &path);
        }
    }
    ids
}

/// The id of a node, or an error with the nearest name.
pub(super) fn node(
    ctx: &mut Ctx<'_>,
    nodes: &Ids<'_>,
    name: &str,
    root: &Node,
    path: &[Step],
) -> Option<u32> {
    let id = nodes.get(name).copied();
    if id.is_none() {
        ctx.error(unknown_node(nodes, name), root, path);
    }
    id
}

pub(super) fn unknown_node(nodes: &Ids<'_>, name: &str) -> Diagnostic {
    let near = did_you_mean(name, nodes.keys().copied());
    Diagnostic::error(
        codes::UNKNOWN_NODE,
        format!("there is no node `{name}`{near}"),
    )
    .hint(format!("nodes: {}", list(nodes.keys().copied())))
}

/// A link before its policy is resolved.
pub(super) struct Draft {
    name: String,
    /// The link's name in the scenario; none for the way back of a duplex link.
    own: Option<String>,
    from: u32,
    to: u32,
    rate: Rate,
    delay: Dur,
    overhead: Overhead,
    cost: u32,
}

/// The links in the order of their names, each way back after its link; none after an error.
pub(super) fn links(
    ctx: &mut Ctx<'_>,
    scenario: &Scenario,
    root: &Node,
    nodes: &Ids<'_>,
) -> Option<Vec<Draft>> {
    let links = &scenario.topology.links;
    let mut drafts = Vec::with_capacity(links.len());
    let mut fine = true;
    if links.is_empty() {
        let d = Diagnostic::error(codes::NO_NODES, "the topology has no links")
            .hint("write at least one, such as `wan: {from: a, to: b, rate: 100 Mb/s}`");
        ctx.error(d, root, &steps!["topology", "links"]);
        fine = false;
    }
    if nodes.is_empty() {
        // Every end of every link would be unknown.
        return None;
    }
    for (name, link) in links {
        let at = |key: &str| steps!["topology", "links", name, key];
        check_name(ctx, name, "link", root, &at("")[..3]);
        let from = node(ctx, nodes, &link.from, root, &at("from"));
        let to = node(ctx, nodes, &link.to, root, &at("to"));
        if link.cost == 0 {
            let d = Diagnostic::error(codes::OUT_OF_RANGE, "a cost of 0")
                .hint("write a whole number from 1");
            ctx.error(d, root, &at("cost"));
        }
        if from.is_some() && from == to {
            let d = Diagnostic::error(
                codes::SELF_LINK,
                format!("the link leads from `{}` to itself", link.to),
            )
            .hint("`from` and `to` must be two nodes");
            ctx.error(d, root, &at("to"));
        }
        let (Some(from), Some(to)) = (from, to) else {
            fine = false;
            continue;
        };
        let there = Draft {
            name: name.clone(),
            own: Some(name.clone()),
            from,
            to,
            rate: link.rate,
            delay: link.delay,
            overhead: link.overhead,
            cost: link.cost.max(1),
        };
        let back = format!("{name}.reverse");
        if link.duplex && links.contains_key(&back) {
            let d = Diagnostic::error(
                codes::DUPLICATE_NAME,
                format!(
                    "the way back of `{name}` and a link of the scenario are both called `{back}`"
                ),
            )
            .hint("rename that link, or leave `duplex` out and keep both links");
            ctx.error(d, root, &at("duplex"));
        }
        let reverse = link.duplex.then_some(Draft {
            name: back,
            own: None,
            from: to,
            to: from,
            ..there
        });
        drafts.push(there);
        drafts.extend(reverse);
    }
    fine.then_some(drafts)
}

/// The links as routing sees them.
pub(super) fn edges(links: &[Draft]) -> Vec<Edge> {
    links
        .iter()
        .map(|l| Edge {
            from: l.from,
            to: l.to,
            cost: l.cost,
        })
        .collect()
}

/// What a link without a policy is reported under.
const NO_POLICY: &str = "none";

impl Draft {
    /// The link with its queue discipline.
    pub(super) fn finish(
        self,
        recipes: &std::collections::BTreeMap<String, (String, Recipe)>,
    ) -> LinkPlan {
        let chosen = self.own.as_ref().and_then(|own| recipes.get(own));
        let (policy, discipline) = match chosen {
            Some((policy, recipe)) => (policy.clone(), recipe.clone()),
            None => (NO_POLICY.to_owned(), Recipe::default_fifo()),
        };
        LinkPlan {
            name: self.name,
            from: self.from,
            to: self.to,
            rate: self.rate,
            delay: self.delay,
            overhead: self.overhead,
            cost: self.cost,
            policy,
            discipline,
        }
    }
}
