//! Whether the traffic through switches is admissible: a traffic matrix is admissible if no input
//! and no output is offered more than its line carries.

use spillgate_core::{Rate, Time};
use spillgate_endpoints::source::Source;

use spillgate_nodes::switch::SwitchPlan;

use super::nodes::Nodes;
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::Node;
use crate::plan::{FlowPlan, Traffic, WorldPlan};

/// How many overloaded ports of a switch get a warning of their own, at most.
const MAX_WARNINGS: usize = 4;

/// Warns of overloaded ports: open-loop sources offer them more than they carry, on average over
/// the measured period. TCP adapts, and what captures send is not known.
pub(super) fn check(ctx: &mut Ctx<'_>, root: &Node, nodes: &Nodes<'_>, world: &WorldPlan) {
    for switch in world.switches() {
        let mut written = nodes.of("switch").iter();
        let Some(of) = written.find(|h| h.nodes.contains(&switch.node)) else {
            continue;
        };
        let found = overloaded(world, switch);
        let hidden = found.len().saturating_sub(MAX_WARNINGS);
        for (i, (port, offered, carries)) in found.iter().enumerate().take(MAX_WARNINGS) {
            let others = match hidden {
                n if n > 0 && i + 1 == MAX_WARNINGS => format!(", and so are {n} more ports"),
                _ => String::new(),
            };
            let node = &world.nodes[switch.node as usize];
            let d = Diagnostic::warning(
                codes::W_NODE,
                format!("the traffic matrix is inadmissible: {port} of `{node}` carries {carries} and is offered {offered}{others}"),
            )
            .hint("the rest waits in ever longer queues or is lost; send less, or make the port faster");
            ctx.warn(d, root, &of.at(""));
        }
    }
}

/// The ports that are offered more than they carry, with both rates.
fn overloaded(world: &WorldPlan, switch: &SwitchPlan) -> Vec<(String, Rate, Rate)> {
    let mut at_inputs = vec![0.0; switch.inputs.len()];
    let mut at_outputs = vec![0.0; switch.outputs.len()];
    for flow in &world.flows {
        let rate = mean_rate(world, flow);
        if rate == 0.0 {
            continue;
        }
        for pair in world.routes[flow.route as usize].windows(2) {
            let input = switch.inputs.iter().position(|l| *l == pair[0]);
            let output = switch.outputs.iter().position(|l| *l == pair[1]);
            if let (Some(input), Some(output)) = (input, output) {
                at_inputs[input] += rate;
                at_outputs[output] += rate;
            }
        }
    }
    let recipe = &switch.recipe;
    let fabric = match recipe.queues_inputs() {
        true => recipe.line().bps() as f64 * recipe.speedup().as_f64(),
        false => f64::INFINITY,
    };
    let link = |l: u32| &world.links[l as usize];
    let inputs = switch.inputs.iter().zip(at_inputs).map(|(l, offered)| {
        let port = format!("input `{}`", link(*l).name);
        (port, offered, fabric)
    });
    let outputs = switch.outputs.iter().zip(at_outputs).map(|(l, offered)| {
        let port = format!("output `{}`", link(*l).name);
        (port, offered, fabric.min(link(*l).rate.bps() as f64))
    });
    // Rounding may lift a rate above the one that it was made from.
    let beyond = |(_, offered, carries): &(String, f64, f64)| *offered > carries * (1.0 + 1e-9);
    let rates = |(port, offered, carries): (String, f64, f64)| {
        let rate = |bps: f64| Rate::from_bps(bps.round() as u64);
        Some((port, rate(offered)?, rate(carries)?))
    };
    let all = inputs.chain(outputs);
    all.filter(beyond).filter_map(rates).collect()
}

/// What a source sends on average over the measured period, in b/s of IP packets; 0 for other
/// traffic.
fn mean_rate(world: &WorldPlan, flow: &FlowPlan) -> f64 {
    let Traffic::Source(source) = &flow.traffic else {
        return 0.0;
    };
    let start = Time::ZERO + world.warmup;
    let end = start + world.duration;
    let active = flow
        .lifetime
        .stop
        .min(end)
        .since(flow.lifetime.start.max(start));
    flow.share() * Source::mean_rate(source) * active.as_secs_f64() / world.duration.as_secs_f64()
}
