//! ATM: what its component finds of the scenario, and the far ends of circuits.

use std::collections::BTreeSet;

use spillgate_core::{Mistake, Problem};
use spillgate_nodes::atm::{At, AtmLink, AtmPlan, Entry, Flow, Report, Written};
use spillgate_nodes::{Holding, NodePlan};

use super::links::Links;
use super::nodes::{Nodes, Place};
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, Step, steps};
use crate::plan::{LinkPlan, NO_POLICY, WorldPlan};
use crate::routes::Edge;
use crate::schema::{LinkSpec, Scenario};
use spillgate_core::suggest::list;

/// The key of ATM switches.
const KEY: &str = "atm_switch";

/// Makes one component of the switches of a world and the lines that circuits share; what is wrong
/// with them is reported.
pub(super) fn join(
    ctx: &mut Ctx<'_>,
    scenario: &Scenario,
    root: &Node,
    nodes: &Nodes<'_>,
    links: &Links<'_>,
    world: &mut WorldPlan,
) {
    let mut switches = Vec::new();
    let mut all = std::mem::take(&mut world.holding).into_vec();
    all.retain_mut(|h| match &mut h.plan {
        NodePlan::Atm(atm) => {
            switches.append(&mut atm.switches);
            false
        }
        _ => true,
    });
    if nodes.of(KEY).is_empty() && links.specs().all(|(_, spec)| spec.atm.is_none()) {
        world.holding = all.into();
        return;
    }
    for (name, spec) in links.specs() {
        if let Some(line) = spec.atm.as_ref().and_then(|a| a.line.as_deref()) {
            let at = steps!["topology", "links", name, "atm", "line"];
            super::check_name(ctx, line, "line", root, &at);
        }
    }
    let mut told = Told { ctx, root, nodes };
    let plan = AtmPlan::of(&written(scenario, links, world), switches, &mut told);
    if let Some(plan) = plan {
        let path = plan.path(&world.nodes);
        all.push(Holding::new(plan.nodes(), path, Box::new(plan).into()));
    }
    world.holding = all.into();
}

fn written<'a>(scenario: &'a Scenario, links: &Links<'a>, world: &'a WorldPlan) -> Written<'a> {
    let link = |l: &'a LinkPlan| AtmLink {
        name: &l.name,
        from: l.from,
        to: l.to,
        rate: l.rate,
        delay: l.delay,
        server: l.server.as_deref(),
        has_policy: l.policy != NO_POLICY,
    };
    let entry = |(name, spec): (&'a str, &'a LinkSpec)| {
        let keys = [
            ("loss", spec.loss.is_some()),
            ("reorder", spec.reorder.is_some()),
            ("rate_process", spec.rate_process.is_some()),
            ("input_policy", spec.input_policy.is_some()),
            ("tx_ring", spec.tx_ring.is_some()),
        ];
        Some(Entry {
            name,
            atm: spec.atm.as_deref(),
            overhead: spec.overhead,
            ids: links.find(name)?.ids().collect(),
            duplex: spec.duplex,
            keys: keys.iter().filter(|k| k.1).map(|k| k.0).collect(),
        })
    };
    let flows = world.flows.iter().map(|f| {
        let (forth, back) = f.traffic.longest();
        Flow {
            name: &f.name,
            ends: [f.from, f.to],
            ways: [(Some(f.route), forth), (f.back, back)],
        }
    });
    let failures = scenario.topology.failures.iter();
    Written {
        nodes: &world.nodes,
        links: world.links.iter().map(link).collect(),
        entries: links.specs().filter_map(entry).collect(),
        routes: &world.routes,
        flows: flows.collect(),
        failures: failures
            .map(|f| (&*f.link, links.find_way(&f.link).map(|n| n.base())))
            .collect(),
        has_labels: scenario.topology.mpls.is_some(),
    }
}

/// Who is told of problems.
struct Told<'t, 'c, 'n> {
    ctx: &'t mut Ctx<'c>,
    root: &'t Node,
    nodes: &'t Nodes<'n>,
}

impl Told<'_, '_, '_> {
    fn steps(&self, at: At<'_>, path: &str) -> Vec<Step> {
        let mut steps = match at {
            At::Topology => steps!["topology"].to_vec(),
            At::Link(name) => steps!["topology", "links", name].to_vec(),
            At::Switch(node) => {
                let mut all = self.nodes.of(KEY).iter();
                let holder = all.find(|h| h.nodes.contains(&node));
                holder.map_or_else(Vec::new, |h| h.at(""))
            }
        };
        steps.extend(Step::parse_all(path));
        steps
    }
}

impl Report for Told<'_, '_, '_> {
    fn refuse(&mut self, at: At<'_>, problem: Problem) {
        let steps = self.steps(at, &problem.path);
        let d = Diagnostic::of(&problem, codes::BAD_ATM);
        self.ctx.error(d, self.root, &steps);
    }

    fn warn(&mut self, at: At<'_>, problem: Problem) {
        let code = match problem.mistake {
            Mistake::Promised => codes::W_PROMISES,
            _ => codes::W_ATM,
        };
        let steps = self.steps(at, &problem.path);
        let d = Diagnostic::warning(code, &*problem.message).said(&problem);
        self.ctx.warn(d, self.root, &steps);
    }

    fn list(&self, names: &[&str]) -> String {
        list(names.iter().copied())
    }
}

/// Tells routing the far ends of circuits; errors are reported.
pub(super) fn set_far_ends(
    ctx: &mut Ctx<'_>,
    root: &Node,
    nodes: &Nodes<'_>,
    links: &Links<'_>,
    edges: &mut [Edge],
) {
    let is_switch = |node: u32| nodes.is(node, KEY);
    for edge in edges.iter_mut() {
        edge.is_line = is_switch(edge.from);
    }
    for (name, spec) in links.specs() {
        let far_end = spec.atm.as_ref().and_then(|a| a.far_end.as_deref());
        let (Some(far_end), Some(named)) = (far_end, links.find(name)) else {
            continue;
        };
        let at = steps!["topology", "links", name, "atm", "far_end"];
        let Some(place) = nodes.expect(ctx, far_end, root, &at) else {
            continue;
        };
        let entering: Vec<u32> = named
            .ids()
            .filter(|l| {
                let e = edges[*l as usize];
                is_switch(e.to) && !is_switch(e.from)
            })
            .collect();
        let mut refuse = |message: String, hint: &str| {
            let d = Diagnostic::error(codes::BAD_ATM, message).found(far_end);
            ctx.error(d.hint(hint), root, &at);
        };
        let Place::One(node) = place else {
            let message = format!("`{far_end}` is a group of nodes, and a circuit ends at one");
            refuse(message, &format!("write one of them, such as {far_end}-0"));
            continue;
        };
        if is_switch(node) {
            let message = format!("`{far_end}` is an ATM switch, which circuits go through");
            refuse(message, "write the node at which frames are put together");
            continue;
        }
        let Some(first) = entering.first() else {
            let message =
                format!("`{name}` does not lead to an ATM switch, and ends where it says");
            refuse(message, "leave out `far_end`");
            continue;
        };
        let switch = edges[*first as usize].to;
        if !leads(edges, is_switch, switch, node) {
            let message = format!(
                "no line leads from `{}` through ATM switches to `{far_end}`",
                nodes.names[switch as usize]
            );
            refuse(message, "write a node that a link from a switch leads to");
            continue;
        }
        for link in entering {
            edges[link as usize].far_end = Some(node);
        }
    }
}

/// Whether a node can be reached from a switch over lines of other switches.
fn leads(edges: &[Edge], is_switch: impl Fn(u32) -> bool, from: u32, to: u32) -> bool {
    let (mut seen, mut left) = (BTreeSet::from([from]), vec![from]);
    while let Some(at) = left.pop() {
        for e in edges.iter().filter(|e| e.from == at) {
            if e.to == to {
                return true;
            }
            if is_switch(e.to) && seen.insert(e.to) {
                left.push(e.to);
            }
        }
    }
    false
}
