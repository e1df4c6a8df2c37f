//! Buffers at the inputs of switches that are too small for the packets that come.

use spillgate_core::Limit;
use spillgate_nodes::switch::FabricSpec;
use spillgate_nodes::switch::SwitchPlan;
use spillgate_scenario::Diagnostic;
use spillgate_scenario::plan::WorldPlan;
use spillgate_scenario::survey::Surveyed;

use crate::Finding;
use crate::rules::fits::{BELOW_PACKET, TooLong};

/// One finding for each switch with a buffer in bytes that does not hold a packet.
pub(crate) fn check(surveyed: &Surveyed, variant: usize, world: &WorldPlan) -> Vec<Finding> {
    let mut found = Vec::new();
    for switch in world.switches() {
        // Over parallel links a packet for which nothing waits crosses at once.
        if matches!(switch.spec.fabric, Some(FabricSpec::Parallel(_))) {
            continue;
        }
        let Some(Limit::Bytes(room)) = switch.spec.buffer.as_ref().map(|b| b.limit) else {
            continue;
        };
        let Some(long) = lengths(world, switch).and_then(|s| TooLong::than(room, s)) else {
            continue;
        };
        let node = &world.nodes[switch.node as usize];
        let message = format!(
            "the buffer of switch {node} holds {room} B: {}",
            long.say("is dropped", "are dropped")
        );
        let d = Diagnostic::warning(BELOW_PACKET.id, message);
        let d = surveyed.place_at_node(variant, node, "switch.buffer.limit", d);
        found.push(Finding::new(&BELOW_PACKET, d));
    }
    found
}

/// The longest and the shortest packet that cross a switch.
fn lengths(world: &WorldPlan, switch: &SwitchPlan) -> Option<(u32, u32)> {
    let mut sizes: Option<(u32, u32)> = None;
    for flow in &world.flows {
        for (route, forth) in [(Some(flow.route), true), (flow.back, false)] {
            let Some(path) = route.map(|r| &world.routes[r as usize]) else {
                continue;
            };
            for pair in path.windows(2) {
                if !switch.inputs.contains(&pair[0]) || !switch.outputs.contains(&pair[1]) {
                    continue;
                }
                // A fabric carries IP packets: what links add is not in them.
                let (shortest, longest) = crate::traffic::lengths(&flow.traffic, forth);
                let (shortest, longest) = (u32::from(shortest), u32::from(longest));
                let (most, least) = sizes.unwrap_or((longest, shortest));
                sizes = Some((most.max(longest), least.min(shortest)));
            }
        }
    }
    sizes
}
