//! Checks that each backlogged source keeps a virtual output queue of a switch filled.

use super::rows::Row;
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, steps};
use crate::plan::{FlowPlan, WorldPlan};

/// Checks that each backlogged flow enters, by its first link, and leaves, by its second, a switch
/// that can be kept full: one with virtual output queues that lose nothing.
pub(super) fn check(ctx: &mut Ctx<'_>, root: &Node, rows: &[Row], world: &WorldPlan) {
    let mut first = 0;
    for row in rows {
        let flows = first..first + row.spec.count as usize;
        first = flows.end;
        let flows = world.flows.get(flows).unwrap_or_default();
        if !flows.first().is_some_and(|f| f.traffic.is_backlogged()) {
            continue;
        }
        let wrong = flows.iter().find_map(|f| problem(world, f));
        if let Some((message, hint)) = wrong {
            let d = Diagnostic::error(codes::BAD_SOURCE, message).hint(hint);
            row.error(ctx, root, d, &steps!["source", "backlogged"]);
        }
    }
}

fn problem(world: &WorldPlan, flow: &FlowPlan) -> Option<(String, &'static str)> {
    let from = &world.nodes[flow.from as usize];
    let route = &world.routes[flow.route as usize];
    let place = route.first().zip(route.get(1));
    let switch = place.and_then(|(input, output)| {
        let all = &mut world.switches();
        all.find(|s| s.inputs.contains(input) && s.outputs.contains(output))
    });
    let Some(switch) = switch else {
        return Some((
            format!("the first node after `{from}` is not a switch through which the flow passes"),
            "send from a neighbor of a node with `switch`, over one of its inputs and one of its outputs",
        ));
    };
    let name = &world.nodes[switch.node as usize];
    if !switch.recipe.is_voq() {
        return Some((
            format!(
                "`{name}` is `{}`: it has no virtual output queues to keep filled",
                switch.spec.architecture.name()
            ),
            "write `architecture: voq` or `cioq`; an input whose line is full is `source: {bernoulli: {line: ..., load: 100 %, packet: ...}}`",
        ));
    }
    let loses = if switch.spec.buffer.is_some() {
        Some("buffer")
    } else if switch.spec.policy.is_some() {
        Some("policy")
    } else {
        None
    };
    if let Some(key) = loses {
        return Some((
            format!("the `{key}` of `{name}` may lose what is to wait there"),
            "leave it out: of each flow two packets wait or cross",
        ));
    }
    if !world.failures.is_empty() {
        return Some((
            "links fail, so that the flow may take another way".to_owned(),
            "leave out `failures`, or send with another source",
        ));
    }
    let first = *place?.0;
    let link = &world.links[first as usize];
    if world.stages.input(first).is_some() {
        return Some((
            format!(
                "the packets begin at the input of `{name}`, so the policy for what arrives over `{}` does not see them",
                link.name
            ),
            "leave out the policy, or send with another source",
        ));
    }
    None
}
