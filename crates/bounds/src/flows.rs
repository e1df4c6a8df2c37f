//! The flows of a world as bounds see them: in each direction its path, its packets, and what they
//! never exceed.

use std::ops::RangeInclusive;
use std::sync::Arc;

use spillgate_core::curve::Curve;
use spillgate_core::{Dscp, FlowKey, Overhead};
use spillgate_endpoints::source::Source;
use spillgate_endpoints::source::spec::MIN_PACKET;
use spillgate_scenario::plan::{FlowPlan, Traffic, WorldPlan};

/// The longest acknowledgment: IPv6 and TCP headers with all options.
const LONGEST_ACK: u16 = 100;

/// One direction of a flow.
pub(crate) struct Flow {
    /// The flow of the plan; of answers the one that is answered.
    pub(crate) of: usize,
    /// Whether it is that of the answers.
    pub(crate) answers: bool,
    pub(crate) dscp: Dscp,
    /// The lengths of its IP packets.
    pub(crate) lengths: RangeInclusive<u16>,
    /// Its path: an index into the routes of the plan.
    pub(crate) route: usize,
    /// Whether all its packets have its key and its code point.
    pub(crate) alike: bool,
}

/// All of a world; the flows of the plan first, by number.
pub(crate) struct Flows {
    pub(crate) all: Vec<Flow>,
    pub(crate) keys: Arc<[FlowKey]>,
    /// By link the flows over it, with the hop that it is for them.
    pub(crate) over: Vec<Vec<(usize, usize)>>,
    /// By flow and hop the place among those over the link.
    pub(crate) places: Vec<Vec<usize>>,
}

impl Flows {
    pub(crate) fn of(world: &WorldPlan) -> Self {
        let forth = world.flows.iter().enumerate().map(|(i, f)| forth(i, f));
        let back = world
            .flows
            .iter()
            .enumerate()
            .filter_map(|(i, f)| back(i, f));
        let all: Vec<Flow> = forth.chain(back).collect();
        let key = |f: &Flow| match f.answers {
            true => world.flows[f.of].key.reversed(),
            false => world.flows[f.of].key,
        };
        let keys = all.iter().map(key).collect();
        let mut over = vec![Vec::new(); world.links.len()];
        let mut place = |link: u32, i, hop| {
            let over: &mut Vec<_> = &mut over[link as usize];
            over.push((i, hop));
            over.len() - 1
        };
        let mut places = Vec::new();
        for (i, flow) in all.iter().enumerate() {
            let route = world.routes[flow.route].iter().enumerate();
            places.push(route.map(|(hop, link)| place(*link, i, hop)).collect());
        }
        Self {
            all,
            keys,
            over,
            places,
        }
    }
}

fn forth(of: usize, flow: &FlowPlan) -> Flow {
    let longest = flow.traffic.longest().0;
    let (shortest, longest) = match &flow.traffic {
        Traffic::Source(source) => (Source::shortest(source), longest),
        Traffic::Replay(_) => (MIN_PACKET, longest),
        Traffic::Tcp { .. } | Traffic::Sessions(_) => (MIN_PACKET, longest.max(LONGEST_ACK)),
    };
    Flow {
        of,
        answers: false,
        dscp: flow.dscp,
        lengths: shortest..=longest,
        route: flow.route as usize,
        alike: !matches!(flow.traffic, Traffic::Replay(_)),
    }
}

fn back(of: usize, flow: &FlowPlan) -> Option<Flow> {
    let longest = flow.traffic.longest().1.max(LONGEST_ACK);
    Some(Flow {
        of,
        answers: true,
        dscp: flow.dscp,
        lengths: MIN_PACKET..=longest,
        route: flow.back? as usize,
        alike: true,
    })
}

/// What a flow never exceeds at its source, on a link with this overhead; none if it may.
pub(crate) fn arrivals(world: &WorldPlan, flow: &Flow, overhead: Overhead) -> Option<Curve> {
    if flow.answers {
        return None;
    }
    match &world.flows[flow.of].traffic {
        Traffic::Source(source) => Source::arrivals(source, &|len| overhead.wire_len(len))?.ok(),
        Traffic::Tcp { .. } | Traffic::Sessions(_) | Traffic::Replay(_) => None,
    }
}
