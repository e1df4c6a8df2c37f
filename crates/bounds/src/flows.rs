//! The flows of a world as bounds see them: in each direction its path, its packets, and what they
//! never exceed.

use std::ops::RangeInclusive;
use std::sync::Arc;

use spillgate_core::{Dscp, FlowKey, Overhead};
use spillgate_endpoints::source::Source;
use spillgate_endpoints::source::spec::MIN_PACKET;
use spillgate_scenario::plan::{FlowPlan, SessionSpec, Traffic, WorldPlan};

/// Bytes of an MPLS label.
const LABEL: u16 = 4;

/// What counts of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Unit {
    /// The bytes that it occupies on a link, with so many bytes of labels.
    Link(Overhead, u16),
    /// That it is one: as a byte.
    Packet,
}

impl Unit {
    pub(crate) fn of(self, len: u16) -> u32 {
        match self {
            Self::Link(overhead, labels) => overhead.labelled_len(len, labels),
            Self::Packet => 1,
        }
    }
}

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
    /// How many flows a queue sees of it.
    pub(crate) numbers: u32,
    /// Whether later flows take their numbers.
    pub(crate) renewed: bool,
}

/// All of a world; the flows of the plan first, by number.
pub(crate) struct Flows {
    pub(crate) all: Vec<Flow>,
    /// By flow of the plan its answers.
    back: Vec<Option<usize>>,
    pub(crate) keys: Arc<[FlowKey]>,
    /// By link the flows over it, with the hop that it is for them.
    pub(crate) over: Vec<Vec<(usize, usize)>>,
    /// By flow and hop the place among those over the link.
    pub(crate) places: Vec<Vec<usize>>,
    /// By route and hop the bytes of the packets' labels.
    labels: Vec<Vec<u16>>,
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
        let mut back = vec![None; world.flows.len()];
        for (i, flow) in all.iter().enumerate().filter(|(_, f)| f.answers) {
            back[flow.of] = Some(i);
        }
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
            labels: labels(world),
            all,
            back,
            keys,
            over,
            places,
        }
    }

    /// The answers of a flow of the plan, if they have data, too.
    pub(crate) fn dialogue(&self, world: &WorldPlan, flow: usize) -> Option<usize> {
        let Traffic::Sessions(sessions) = &world.flows[flow].traffic else {
            return None;
        };
        let back = self.back[flow];
        back.filter(|_| matches!(sessions.session, SessionSpec::RequestResponse(_)))
    }

    /// The bytes of the labels of the packets of a flow at one of its hops.
    pub(crate) fn labels(&self, i: usize, hop: usize) -> u16 {
        let labels = &self.labels[self.all[i].route];
        labels.get(hop).copied().unwrap_or(0)
    }
}

fn labels(world: &WorldPlan) -> Vec<Vec<u16>> {
    let ends = |link: u32| {
        let link = &world.links[link as usize];
        (link.from, link.to)
    };
    let of = |route: &[u32]| {
        let depths = world.stages.mpls().map(|m| m.depths(route, ends));
        let depths = depths.unwrap_or_default().into_iter();
        depths.map(|d| LABEL * u16::from(d)).collect()
    };
    world.routes.iter().map(|r| of(r)).collect()
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
        numbers: numbers(flow),
        renewed: matches!(flow.traffic, Traffic::Sessions(_)),
    }
}

/// How many flows a queue sees of one of the plan, in each direction.
fn numbers(flow: &FlowPlan) -> u32 {
    let count = match &flow.traffic {
        Traffic::Source(_) | Traffic::Tcp { .. } => 1,
        Traffic::Sessions(sessions) => sessions.connections(),
        Traffic::Replay(replay) => replay.survey.flows.entries().len(),
    };
    u32::try_from(count.max(1)).unwrap_or(u32::MAX)
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
        numbers: numbers(flow),
        renewed: matches!(flow.traffic, Traffic::Sessions(_)),
    })
}
