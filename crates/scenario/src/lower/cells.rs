//! Nodes that are ATM switches, and the links around them.

use std::collections::BTreeMap;
use std::sync::Arc;

use spillgate_queueing::Recipe;
use spillgate_switching::atm::CellEvents;

use super::links::{Draft, Links};
use super::nodes::{CellSwitches, Nodes};
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, Step, steps};
use crate::plan::{CellSwitchPlan, WorldPlan};
use crate::schema::{LinkSpec, Scenario};

/// Where a switch, or a key of it, stands.
fn at(switch: &CellSwitches<'_>, path: &str) -> Vec<Step> {
    let mut steps = steps!["topology", "nodes", switch.entry, "atm_switch"].to_vec();
    steps.extend(Step::parse_all(path));
    steps
}

/// All ATM switches; errors are reported and leave out the switch.
pub(super) fn read(
    ctx: &mut Ctx<'_>,
    scenario: &Scenario,
    root: &Node,
    nodes: &Nodes<'_>,
    links: &Links<'_>,
    drafts: &[Draft<'_>],
    recipes: &BTreeMap<String, (String, Recipe)>,
) -> Vec<CellSwitchPlan> {
    let mut all = Vec::new();
    for switch in &nodes.cell_switches {
        let recipe = match switch.spec.resolve() {
            Ok(recipe) => recipe,
            Err(p) => {
                let d = Diagnostic::error(codes::BAD_ATM, p.message).found(p.found);
                ctx.error(d.hint(p.hint), root, &at(switch, &p.path));
                continue;
            }
        };
        for node in switch.nodes.clone() {
            let outputs = (0..)
                .zip(drafts)
                .filter(|(_, l)| l.ends().0 == node)
                .map(|(id, _)| id);
            all.push(CellSwitchPlan {
                node,
                outputs: outputs.collect(),
                recipe,
                police: switch.spec.police,
                reassembly: switch.spec.reassembly,
                exact: switch.spec.cells == CellEvents::Exact,
                spec: Arc::new(switch.spec.clone()),
            });
        }
    }
    let Some(first) = nodes.cell_switches.first() else {
        return all;
    };
    if !scenario.topology.failures.is_empty() {
        let d = Diagnostic::error(codes::BAD_ATM, "links fail in a topology with ATM switches")
            .hint("leave out `failures` or `atm_switch`: circuits are not set up anew");
        ctx.error(d, root, &steps!["topology", "failures"]);
    }
    if scenario.topology.mpls.is_some() {
        let d = Diagnostic::error(codes::BAD_ATM, "a topology with MPLS and with ATM switches")
            .hint("leave out `mpls` or `atm_switch`");
        ctx.error(d, root, &at(first, ""));
    }
    for (name, spec) in links.specs() {
        check_link(ctx, root, nodes, links, drafts, recipes, (name, spec));
    }
    all
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
    let is_switch = |node: u32| nodes.cell_switches.iter().any(|s| s.nodes.contains(&node));
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
pub(super) fn check_flows(ctx: &mut Ctx<'_>, root: &Node, nodes: &Nodes<'_>, world: &WorldPlan) {
    for switch in &nodes.cell_switches {
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
            ctx.error(d, root, &at(switch, ""));
        }
    }
}
