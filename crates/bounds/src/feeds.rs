//! What may come to each port: the flows over it with their packets and curves, for those who
//! construct arrivals.

use std::ops::RangeInclusive;

use spillgate_core::curve::Curve;
use spillgate_core::{Dscp, FlowKey, Packet};
use spillgate_scenario::plan::WorldPlan;

use crate::flows::{Flows, Unit};
use crate::sources::Sources;

/// One direction of a flow, where it comes to a port.
#[derive(Clone, Debug)]
pub struct Feed {
    /// The flow of the plan; of answers the one that is answered.
    pub flow: usize,
    /// Whether it is that of the answers.
    pub answers: bool,
    /// Addresses, ports and protocol of its packets.
    pub key: FlowKey,
    /// Their code point at the source.
    pub dscp: Dscp,
    /// The leaf to which these packets come, if nothing on the path changes them.
    pub leaf: u16,
    /// The lengths of its IP packets in bytes; both ends occur.
    pub lengths: RangeInclusive<u16>,
    /// What it never exceeds at its source, in bytes on the link of the port; none if it may send
    /// anything.
    pub curve: Option<Curve>,
    /// Its path up to this link, which is the last.
    pub path: Vec<u32>,
}

impl Feed {
    /// What it has in common with flows whose packets meet the same.
    pub fn like(&self) -> (u16, Dscp, u16, u16, bool, usize) {
        let (least, most) = (*self.lengths.start(), *self.lengths.end());
        let far = self.path.len();
        (self.leaf, self.dscp, least, most, self.curve.is_some(), far)
    }
}

/// What may come to the port of a link.
pub fn feeds(world: &WorldPlan, link: u32) -> Vec<Feed> {
    let (flows, sources) = (Flows::of(world), Sources::of(world));
    let plan = &world.links[link as usize];
    let mut discipline = plan.discipline.build(&flows.keys);
    let over = flows.over[link as usize].iter();
    let feed = |&(i, hop): &(usize, usize)| {
        let flow = &flows.all[i];
        let key = flows.keys[i];
        let unit = Unit::Link(plan.overhead, flows.labels(i, hop));
        let mut packet = Packet::new(i as u32, 0, *flow.lengths.end());
        packet.dscp = flow.dscp;
        packet.hash = key.hash();
        Feed {
            flow: flow.of,
            answers: flow.answers,
            key,
            dscp: flow.dscp,
            leaf: discipline.leaf_of(&packet),
            lengths: flow.lengths.clone(),
            curve: match flow.answers {
                true => None,
                false => sources.arrivals(world, flow.of, unit),
            },
            path: world.routes[flow.route][..=hop].to_vec(),
        }
    };
    over.map(feed).collect()
}
