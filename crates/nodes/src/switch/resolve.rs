//! A switch among the links of a scenario: its ports, and the policies of its queues.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use spillgate_core::Rate;
use spillgate_queueing::UpstreamUse;

use super::{SwitchPlan, SwitchRecipe, SwitchSpec};
use crate::{Around, LinkFacts, NodePlan, NodeSpec, Reader};
use spillgate_core::{Mistake, Problem};

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
    fn node(self, link: &LinkFacts<'_>) -> u32 {
        match self {
            Self::Inputs => link.to,
            Self::Outputs => link.from,
        }
    }

    /// The links with this side at some nodes.
    fn links(self, around: &Around<'_>, nodes: &Range<u32>) -> Vec<u32> {
        let links = (0..).zip(around.links);
        let here = links.filter(|(_, l)| nodes.contains(&self.node(l)));
        here.map(|(id, _)| id).collect()
    }
}

impl NodeSpec for SwitchSpec {
    fn resolve(&self, around: &Around<'_>, reader: &mut dyn Reader) -> Vec<(u32, NodePlan)> {
        let inputs = self.ports(Side::Inputs, around, reader);
        let outputs = self.ports(Side::Outputs, around, reader);
        let (Some(inputs), Some(outputs)) = (inputs, outputs) else {
            return Vec::new();
        };
        let mut plans = Vec::new();
        for node in around.nodes.clone() {
            let at_node = |all: &[u32], side: Side| -> Vec<u32> {
                let ours = |l: &&u32| side.node(&around.links[**l as usize]) == node;
                all.iter().filter(ours).copied().collect()
            };
            let inputs = at_node(&inputs, Side::Inputs);
            let outputs = at_node(&outputs, Side::Outputs);
            let recipe = self.recipe(node, &inputs, &outputs, around, reader);
            let Some(recipe) = recipe else {
                // Its group is alike.
                break;
            };
            plans.push(SwitchPlan {
                node,
                inputs,
                outputs,
                recipe,
                spec: Arc::new(self.clone()),
            });
        }
        if self.congestion_measure.is_some() {
            check_measure(&plans, around, reader);
        }
        plans
            .into_iter()
            .map(|p| (p.node, Box::new(p).into()))
            .collect()
    }
}

impl SwitchSpec {
    /// The links at the ports of one side, by port; none after an error.
    fn ports(&self, side: Side, around: &Around<'_>, reader: &mut dyn Reader) -> Option<Vec<u32>> {
        let here = side.links(around, &around.nodes);
        let listed = match side {
            Side::Inputs => &self.inputs,
            Side::Outputs => &self.outputs,
        };
        let Some(listed) = listed else {
            return Some(here);
        };
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        let mut fine = true;
        for (i, name) in listed.iter().enumerate() {
            let path = format!("{}[{i}]", side.key());
            let Some(named) = reader.links(&path, name) else {
                fine = false;
                continue;
            };
            let ours: Vec<u32> = named.into_iter().filter(|l| here.contains(l)).collect();
            if ours.is_empty() {
                let node = &around.names[around.nodes.start as usize];
                let names: Vec<&str> = here
                    .iter()
                    .map(|l| around.links[*l as usize].name)
                    .collect();
                let verb = side.verb();
                let message = format!("link `{name}` does not {verb} at the switch `{node}`");
                let hint = match names.is_empty() {
                    true => format!("no link {verb}s there"),
                    false => format!("links that {verb} there: {}", reader.list(&names)),
                };
                reader.refuse(Problem::new(path.clone(), "", message, hint));
                fine = false;
            }
            for link in ours {
                if seen.insert(link) {
                    found.push(link);
                    continue;
                }
                let name = around.links[link as usize].name;
                let message = format!("link `{name}` is at two {} of the switch", side.key());
                let hint = "name each link once; the name of a group means all of its links";
                reader.refuse(Problem::new(path, "", message, hint).of(Mistake::Twice));
                fine = false;
                break;
            }
        }
        fine.then_some(found)
    }

    /// The switch with these links; none after an error.
    fn recipe(
        &self,
        node: u32,
        inputs: &[u32],
        outputs: &[u32],
        around: &Around<'_>,
        reader: &mut dyn Reader,
    ) -> Option<SwitchRecipe> {
        let name = &around.names[node as usize];
        for (links, side) in [(inputs, Side::Inputs), (outputs, Side::Outputs)] {
            if links.is_empty() {
                let (key, verb) = (side.key(), side.verb());
                let message = format!("the switch `{name}` has no {key}: no link {verb}s there");
                let hint = "connect it by links, or leave out `switch`";
                reader.refuse(Problem::new("", "", message, hint));
                return None;
            }
        }
        let links = inputs.iter().chain(outputs);
        // There is at least one.
        let line: Rate = links.map(|l| around.links[*l as usize].rate).max()?;
        let ports = inputs.len().max(outputs.len());
        let recipe = match SwitchRecipe::resolve(self, ports, line) {
            Ok(recipe) => recipe,
            Err(problem) => {
                reader.refuse(problem);
                return None;
            }
        };
        let Some(policy) = &self.policy else {
            return Some(recipe);
        };
        let place = format!("virtual output queues of `{name}`");
        let policy = reader.policy("policy", policy, &place, recipe.queue_rate())?;
        Some(recipe.with_policy(policy))
    }
}

/// Reports AQMs at outputs that cannot take into account what waits at the inputs, and warns if
/// none does.
fn check_measure(plans: &[SwitchPlan], around: &Around<'_>, reader: &mut dyn Reader) {
    const PATH: &str = "congestion_measure";
    let outputs: Vec<u32> = plans.iter().flat_map(|p| &p.outputs).copied().collect();
    if outputs.is_empty() {
        // Why was reported.
        return;
    }
    let mut is_used = false;
    for link in outputs {
        let policy = reader.policy_of(link);
        let found = policy.map_or(UpstreamUse::Nothing, |(_, recipe)| recipe.upstream_use());
        is_used |= found != UpstreamUse::Nothing;
        if let Some((name, _)) = policy.filter(|_| found == UpstreamUse::Unknown) {
            let message = format!(
                "policy `{name}` of link `{}` has several queues, and which of them waits at the inputs is not known",
                around.links[link as usize].name
            );
            let hint = "give the outputs a fifo with an AQM, or leave out `congestion_measure`";
            let problem = Problem::new(PATH, name, message, hint);
            reader.refuse(problem);
            break;
        }
    }
    if !is_used {
        let message = "no AQM at the outputs judges by length or by rate, so the congestion measure changes nothing";
        let hint =
            "give the links that leave the switch a policy such as a fifo with `aqm: {red: {}}`";
        reader.warn(Problem::new(PATH, "", message, hint));
    }
}
