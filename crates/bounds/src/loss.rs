//! Losses that no queue decides.

use spillgate_queueing::Reason;
use spillgate_scenario::plan::WorldPlan;

/// Why packets of a flow may be lost outside of queues, while no link fails; none if they cannot.
pub fn lost_outside_queues(world: &WorldPlan, flow: usize) -> Option<Reason> {
    let flow = &world.flows[flow];
    let longest = u32::from(flow.traffic.longest().0);
    for link in &world.routes[flow.route as usize] {
        let plan = &world.links[*link as usize];
        let why = if plan.loss.is_some() {
            "loses packets at random"
        } else if plan.mtu < longest {
            "carries no packets that long"
        } else if world.stages.input(*link).is_some() {
            "has an input policy, which may drop packets"
        } else {
            continue;
        };
        return Some(format!("link `{}` {why}", plan.name).into());
    }
    // Provider edges may have no way for a packet.
    let mpls = world.stages.mpls().is_some();
    mpls.then(|| "packets cross an MPLS network".into())
}
