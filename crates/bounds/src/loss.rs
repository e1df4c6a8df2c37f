//! Losses that no queue decides.

use spillgate_queueing::Reason;
use spillgate_scenario::plan::WorldPlan;

/// Why packets of a flow of the plan may be lost outside of queues, while no link fails; none if
/// they cannot.
pub fn lost_outside_queues(world: &WorldPlan, flow: usize) -> Option<Reason> {
    let flow = &world.flows[flow];
    let (longest, answer) = flow.traffic.longest();
    let forth = lost_on(world, flow.route as usize, longest);
    // Of dialogues the answers count, too.
    let back = flow.back.filter(|_| answer > 0);
    forth.or_else(|| lost_on(world, back? as usize, answer))
}

/// The same of packets of up to this length on a path.
pub(crate) fn lost_on(world: &WorldPlan, route: usize, longest: u16) -> Option<Reason> {
    for link in &world.routes[route] {
        let plan = &world.links[*link as usize];
        let why = if plan.loss.is_some() {
            "loses packets at random"
        } else if plan.mtu < longest.into() {
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
