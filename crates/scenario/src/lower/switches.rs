//! Nodes that are switches: their ports, and the policies of their virtual output queues.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use spillgate_core::Rate;
use spillgate_queueing::spec::DisciplineSpec;
use spillgate_queueing::{Recipe, UpstreamUse};
use spillgate_switching::{Problem, SwitchRecipe};

use super::links::{Draft, Links};
use super::nodes::{Nodes, Switches};
use super::policies::{Policies, Shared, place};
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, Step, steps};
use crate::plan::SwitchPlan;
use crate::suggest::{did_you_mean, list};

/// Where a switch, or a key of it, stands.
pub(super) fn at(switch: &Switches<'_>, path: &str) -> Vec<Step> {
    let mut steps = steps!["topology", "nodes", switch.entry, "switch"].to_vec();
    steps.extend(Step::parse_all(path));
    steps
}

/// Which ends of links ports are at.
#[derive(Clone, Copy)]
enum Side {
    Inputs,
    Outputs,
}

impl Side {
    fn key(self) -> &'static str {
        match self {
            Self::Inputs => "inputs",
            Self::Outputs => "outputs",
        }
    }

    /// What a link does at a port of this side.
    fn verb(self) -> &'static str {
        match self {
            Self::Inputs => "end",
            Self::Outputs => "begin",
        }
    }

    /// The node of a link at this side.
    fn node(self, link: &Draft<'_>) -> u32 {
        let (from, to) = link.ends();
        match self {
            Self::Inputs => to,
            Self::Outputs => from,
        }
    }
}

/// All switches; errors are reported and leave out the switch.
pub(super) fn read(
    ctx: &mut Ctx<'_>,
    shared: &mut Shared,
    root: &Node,
    nodes: &Nodes<'_>,
    links: &Links<'_>,
    drafts: &[Draft<'_>],
    policies: &Policies,
) -> Vec<SwitchPlan> {
    let mut all = Vec::new();
    for switch in &nodes.switches {
        let of = |ctx: &mut Ctx<'_>, side| ports(ctx, root, switch, side, nodes, links, drafts);
        let (Some(inputs), Some(outputs)) = (of(ctx, Side::Inputs), of(ctx, Side::Outputs)) else {
            continue;
        };
        for node in switch.nodes.clone() {
            let at_node = |all: &[u32], side: Side| -> Vec<u32> {
                let ours = |l: &&u32| side.node(&drafts[**l as usize]) == node;
                all.iter().filter(ours).copied().collect()
            };
            let inputs = at_node(&inputs, Side::Inputs);
            let outputs = at_node(&outputs, Side::Outputs);
            let name = &nodes.names[node as usize];
            let recipe = recipe(ctx, root, switch, name, (&inputs, &outputs), drafts);
            let Some(recipe) = recipe else {
                // Its group is alike.
                break;
            };
            let Some(recipe) = with_policy(ctx, shared, root, switch, name, recipe, policies)
            else {
                break;
            };
            all.push(SwitchPlan {
                node,
                inputs,
                outputs,
                recipe,
                spec: Arc::new(switch.spec.clone()),
            });
        }
    }
    all
}

/// The links at the ports of one side, by port; none after an error.
fn ports(
    ctx: &mut Ctx<'_>,
    root: &Node,
    switch: &Switches<'_>,
    side: Side,
    nodes: &Nodes<'_>,
    links: &Links<'_>,
    drafts: &[Draft<'_>],
) -> Option<Vec<u32>> {
    let is_here = |l: &u32| switch.nodes.contains(&side.node(&drafts[*l as usize]));
    let here = || (0..drafts.len() as u32).filter(is_here);
    let listed = match side {
        Side::Inputs => &switch.spec.inputs,
        Side::Outputs => &switch.spec.outputs,
    };
    let Some(listed) = listed else {
        return Some(here().collect());
    };
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    let mut fine = true;
    for (i, name) in listed.iter().enumerate() {
        let mut refuse = |ctx: &mut Ctx<'_>, d: Diagnostic| {
            ctx.error(d, root, &at(switch, &format!("{}[{i}]", side.key())));
            fine = false;
        };
        let Some(named) = links.find_way(name) else {
            refuse(ctx, links.unknown(name));
            continue;
        };
        let ours: Vec<u32> = named.ids().filter(is_here).collect();
        if ours.is_empty() {
            let node = &nodes.names[switch.nodes.start as usize];
            let names: Vec<&str> = here().map(|l| drafts[l as usize].name()).collect();
            let verb = side.verb();
            let message = format!("link `{name}` does not {verb} at the switch `{node}`");
            let hint = match names.is_empty() {
                true => format!("no link {verb}s there"),
                false => format!("links that {verb} there: {}", list(names.into_iter())),
            };
            refuse(
                ctx,
                Diagnostic::error(codes::BAD_SWITCH, message).hint(hint),
            );
        }
        for link in ours {
            if seen.insert(link) {
                found.push(link);
                continue;
            }
            let name = drafts[link as usize].name();
            let message = format!("link `{name}` is at two {} of the switch", side.key());
            let hint = "name each link once; the name of a group means all of its links";
            refuse(
                ctx,
                Diagnostic::error(codes::DUPLICATE_NAME, message).hint(hint),
            );
            break;
        }
    }
    fine.then_some(found)
}

fn problem(ctx: &mut Ctx<'_>, root: &Node, switch: &Switches<'_>, problem: Problem) {
    let d = Diagnostic::error(codes::BAD_SWITCH, problem.message)
        .found(problem.found)
        .hint(problem.hint);
    ctx.error(d, root, &at(switch, &problem.path));
}

/// The switch with these links, without its policy; none after an error.
fn recipe(
    ctx: &mut Ctx<'_>,
    root: &Node,
    switch: &Switches<'_>,
    name: &str,
    (inputs, outputs): (&[u32], &[u32]),
    drafts: &[Draft<'_>],
) -> Option<SwitchRecipe> {
    for (links, side) in [(inputs, Side::Inputs), (outputs, Side::Outputs)] {
        if links.is_empty() {
            let verb = side.verb();
            let d = Diagnostic::error(
                codes::BAD_SWITCH,
                format!(
                    "the switch `{name}` has no {}: no link {verb}s there",
                    side.key()
                ),
            )
            .hint("connect it by links, or leave out `switch`");
            ctx.error(d, root, &at(switch, ""));
            return None;
        }
    }
    let rates = inputs
        .iter()
        .chain(outputs)
        .map(|l| drafts[*l as usize].rate);
    // There is at least one.
    let line: Rate = rates.max()?;
    let ports = inputs.len().max(outputs.len());
    match SwitchRecipe::resolve(switch.spec, ports, line) {
        Ok(recipe) => Some(recipe),
        Err(p) => {
            problem(ctx, root, switch, p);
            None
        }
    }
}

/// Whether the packets of a policy leave it as they came: what a node has noted of them stays with them, and nothing of
/// the policy goes beyond one queue.
fn may_queue_inside(spec: &DisciplineSpec) -> bool {
    matches!(
        spec,
        DisciplineSpec::Fifo(_)
            | DisciplineSpec::Drr(_)
            | DisciplineSpec::Fq(_)
            | DisciplineSpec::FqCodel(_)
    )
}

/// The switch with the policy of its virtual output queues, if it has one; none after an error.
fn with_policy(
    ctx: &mut Ctx<'_>,
    shared: &mut Shared,
    root: &Node,
    switch: &Switches<'_>,
    node: &str,
    recipe: SwitchRecipe,
    policies: &Policies,
) -> Option<SwitchRecipe> {
    let Some(name) = &switch.spec.policy else {
        return Some(recipe);
    };
    let path = at(switch, "policy");
    let Some(spec) = policies.get(name) else {
        let names = || policies.all.keys().map(String::as_str);
        let near = did_you_mean(name, names());
        let message = format!("there is no policy `{name}`{near}");
        let d = Diagnostic::error(codes::UNKNOWN_POLICY, message)
            .hint(format!("policies: {}", list(names())));
        ctx.error(d, root, &path);
        return None;
    };
    shared.used.insert(name.clone());
    if !may_queue_inside(spec) {
        let kind = spec.kind();
        let message = format!("a `{kind}` policy cannot stand at a virtual output queue");
        let d = Diagnostic::error(codes::BAD_SWITCH, message)
            .found(name)
            .hint("name a policy of the kind fifo, drr, fq or fq-codel, with any AQM");
        ctx.error(d, root, &path);
        return None;
    }
    match Recipe::resolve(name, &policies.all, recipe.queue_rate()) {
        Ok((policy, warnings)) => {
            for w in warnings {
                let (path, text) = w.split_once(": ").unwrap_or(("", &w));
                let text = format!("{text} (virtual output queues of `{node}`)");
                let d = Diagnostic::warning(codes::W_POLICY, text);
                ctx.warn(d, root, &place(policies, path));
            }
            Some(recipe.with_policy(policy))
        }
        Err(e) => {
            let message = format!("{} (at virtual output queues of `{node}`)", e.message);
            let d = Diagnostic::error(codes::BAD_POLICY, message)
                .found(e.found)
                .hint(e.hint);
            ctx.error(d, root, &place(policies, &e.path));
            None
        }
    }
}

/// Reports AQMs at outputs that cannot take into account what waits at the inputs, and warns of switches whose outputs
/// have none that does.
pub(super) fn check_measures(
    ctx: &mut Ctx<'_>,
    root: &Node,
    nodes: &Nodes<'_>,
    plans: &[SwitchPlan],
    drafts: &[Draft<'_>],
    recipes: &BTreeMap<String, (String, Recipe)>,
) {
    for switch in &nodes.switches {
        if switch.spec.congestion_measure.is_none() {
            continue;
        }
        let path = at(switch, "congestion_measure");
        let mut is_used = false;
        let ours = plans.iter().filter(|p| switch.nodes.contains(&p.node));
        let outputs: Vec<u32> = ours.flat_map(|p| &p.outputs).copied().collect();
        if outputs.is_empty() {
            // Why was reported.
            continue;
        }
        for link in outputs {
            let draft = &drafts[link as usize];
            let policy = draft.policy(recipes);
            let found = policy.map_or(UpstreamUse::Nothing, |(_, recipe)| recipe.upstream_use());
            is_used |= found != UpstreamUse::Nothing;
            if let Some((name, _)) = policy.filter(|_| found == UpstreamUse::Unknown) {
                let message = format!(
                    "policy `{name}` of link `{}` has several queues, and which of them waits at the inputs is not known",
                    draft.name()
                );
                let d = Diagnostic::error(codes::BAD_SWITCH, message)
                    .found(name)
                    .hint("give the outputs a fifo with an AQM, or leave out `congestion_measure`");
                ctx.error(d, root, &path);
                break;
            }
        }
        if !is_used {
            let message = "no AQM at the outputs judges by length or by rate, so the congestion measure changes nothing";
            let hint = "give the links that leave the switch a policy such as a fifo with `aqm: {red: {}}`";
            let d = Diagnostic::warning(codes::W_SWITCH, message).hint(hint);
            ctx.warn(d, root, &path);
        }
    }
}
