//! ATM: switches, lines that circuits share, circuits, and the links around them.

mod circuits;
mod contracts;
mod far_ends;
mod lines;

use std::collections::BTreeMap;

use spillgate_nodes::atm::{AtmLinePlan, AtmLink, AtmPlan};
use spillgate_nodes::{Holding, NodePlan};
use spillgate_queueing::Recipe;

use super::links::{Draft, Links};
use super::nodes::{Holder, Nodes};
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, Step, steps};
use crate::plan::WorldPlan;
use crate::schema::{LinkSpec, Scenario};

pub(super) use far_ends::set as set_far_ends;

/// The key of ATM switches.
const KEY: &str = "atm_switch";

/// The entries of ATM switches.
fn switches<'n, 'a>(nodes: &'n Nodes<'a>) -> &'n [Holder<'a>] {
    nodes.of(KEY)
}

/// All lines that circuits share; errors of these and of links around switches are reported.
pub(super) fn lines(
    ctx: &mut Ctx<'_>,
    scenario: &Scenario,
    root: &Node,
    nodes: &Nodes<'_>,
    links: &Links<'_>,
    drafts: &[Draft<'_>],
    recipes: &BTreeMap<String, (String, Recipe)>,
) -> Vec<AtmLinePlan> {
    if let Some(first) = switches(nodes).first() {
        if !scenario.topology.failures.is_empty() {
            let d = Diagnostic::error(codes::BAD_ATM, "links fail in a topology with ATM switches")
                .hint("leave out `failures` or `atm_switch`: circuits are not set up anew");
            ctx.error(d, root, &steps!["topology", "failures"]);
        }
        if scenario.topology.mpls.is_some() {
            let d = Diagnostic::error(codes::BAD_ATM, "a topology with MPLS and with ATM switches")
                .hint("leave out `mpls` or `atm_switch`");
            ctx.error(d, root, &first.at(""));
        }
        for (name, spec) in links.specs() {
            check_link(ctx, root, nodes, links, drafts, recipes, (name, spec));
        }
    }
    lines::read(ctx, scenario, root, nodes, links, drafts)
}

/// Makes one component of the switches and the lines of a world.
pub(super) fn join(world: &mut WorldPlan, lines: Vec<AtmLinePlan>) {
    let mut switches = Vec::new();
    let mut all = std::mem::take(&mut world.holding).into_vec();
    all.retain_mut(|h| match &mut h.plan {
        NodePlan::Atm(atm) => {
            switches.append(&mut atm.switches);
            false
        }
        _ => true,
    });
    let first = switches.first().map(|s| s.node);
    if let Some(first) = first.or_else(|| Some(lines.first()?.node)) {
        let links: Vec<AtmLink<'_>> = (world.links.iter())
            .map(|l| AtmLink {
                to: l.to,
                rate: l.rate,
                delay: l.delay,
                server: l.server.as_deref(),
            })
            .collect();
        let plan = AtmPlan::join(switches, lines, &links, &world.routes);
        let path = format!("nodes/{}/cells", world.nodes[first as usize]);
        all.push(Holding::new(plan.nodes(), path, plan.into()));
    }
    world.holding = all.into();
}

/// Reports what is wrong with the circuits of a world, and warns of what is odd.
pub(super) fn check(
    ctx: &mut Ctx<'_>,
    root: &Node,
    nodes: &Nodes<'_>,
    links: &Links<'_>,
    world: &WorldPlan,
) {
    check_flows(ctx, root, nodes, world);
    circuits::check_longest(ctx, root, links, world);
    contracts::check(ctx, root, links, world);
}

/// A link at a switch: what comes there are cells, and what leaves it are the cells of all
/// circuits.
fn check_link(
    ctx: &mut Ctx<'_>,
    root: &Node,
    nodes: &Nodes<'_>,
    links: &Links<'_>,
    drafts: &[Draft<'_>],
    recipes: &BTreeMap<String, (String, Recipe)>,
    (name, spec): (&str, &LinkSpec),
) {
    let is_switch = |node: u32| nodes.is(node, KEY);
    let Some(named) = links.find(name) else {
        return;
    };
    // The links of a group are alike.
    let ends: Vec<(&Draft<'_>, bool, bool)> = named
        .ids()
        .take(if spec.duplex { 2 } else { 1 })
        .map(|id| &drafts[id as usize])
        .map(|l| (l, is_switch(l.ends().0), is_switch(l.ends().1)))
        .collect();
    if ends.iter().all(|(_, from, to)| !from && !to) {
        return;
    }
    let mut refuse = |key: &str, message: String, hint: &str| {
        let mut at = steps!["topology", "links", name].to_vec();
        at.extend(Step::parse_all(key));
        let d = Diagnostic::error(codes::BAD_ATM, message).hint(hint);
        ctx.error(d, root, &at);
    };
    let enters = ends.iter().any(|(_, from, to)| *to && !from);
    if enters && spec.atm.is_none() {
        let message = format!("packets come over `{name}` to an ATM switch, which takes cells");
        refuse(
            "",
            message,
            "make the link a circuit, such as with `atm: {}`",
        );
    }
    if !enters && spec.atm.is_some() {
        let message = "the cells of all circuits share a line that leaves an ATM switch".to_owned();
        refuse(
            "atm",
            message,
            "write `atm` on the links over which packets enter the switches",
        );
    }
    let lossy = [
        ("loss", spec.loss.is_some()),
        ("reorder", spec.reorder.is_some()),
        ("rate_process", spec.rate_process.is_some()),
    ];
    for (key, _) in lossy.iter().filter(|(_, is)| *is) {
        let message = format!("`{key}` on a link of an ATM switch is not modelled");
        refuse(key, message, "leave it out");
    }
    let policed = spec.input_policy.is_some() && ends.iter().any(|(_, _, to)| *to);
    if policed {
        let message = "an ATM switch sees cells, not packets".to_owned();
        refuse(
            "input_policy",
            message,
            "police cells with `police` of the switch",
        );
    }
    // A way back has none.
    let ringed = spec.tx_ring.is_some() && ends.iter().take(1).any(|(_, from, _)| *from);
    if ringed {
        let message =
            format!("`{name}` leaves an ATM switch, which has queues of cells and no ring");
        refuse("tx_ring", message, "leave it out");
    }
    let with_policy = ends
        .iter()
        .find(|(l, from, _)| *from && l.policy(recipes).is_some());
    if let Some((link, ..)) = with_policy {
        let message = format!(
            "`{}` leaves an ATM switch, where cells wait in the queues of the switch",
            link.name()
        );
        let hint = "leave out the policy; see `buffer`, `queues` and `discard` of the switch";
        refuse("policy", message, hint);
    }
}

/// Reports flows that begin or end at switches.
fn check_flows(ctx: &mut Ctx<'_>, root: &Node, nodes: &Nodes<'_>, world: &WorldPlan) {
    for switch in switches(nodes) {
        let is_here = |node: u32| switch.nodes.contains(&node);
        let found = world
            .flows
            .iter()
            .find(|f| is_here(f.from) || is_here(f.to));
        if let Some(flow) = found {
            let verb = if is_here(flow.from) { "begins" } else { "ends" };
            let message = format!(
                "flow `{}` {verb} at an ATM switch, which has cells only",
                flow.name
            );
            let d = Diagnostic::error(codes::BAD_ATM, message)
                .hint("let it begin and end at nodes beside the switches");
            ctx.error(d, root, &switch.at(""));
        }
    }
}
