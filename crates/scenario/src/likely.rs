//! Estimates the memory of a plan from the likely lengths of its queues.

use spillgate_endpoints::source::Source;

use crate::memory::growing;
use crate::plan::{FlowPlan, LinkPlan, NO_POLICY, Traffic, WorldPlan};

/// A flow with its meters and its source.
const FLOW: f64 = 700.0;
/// Both ends of a connection, beside what its queue holds.
const CONNECTION: f64 = 1500.0;
/// A session that is under way.
const SESSION: f64 = 1500.0;
/// A link; a busy queue with its histograms, whose waits have all lengths; an idle queue. Worlds
/// with many queues keep coarser histograms, which take a part of the first.
const LINK: f64 = 300.0;
const BUSY_QUEUE: f64 = 36_000.0;
const QUEUE: f64 = 200.0;
/// The share of its rate from which on a link is busy.
const BUSY: f64 = 0.05;
/// A packet on a link, in rings that double.
const ON_ITS_WAY: f64 = 80.0;
/// A packet in a queue, with its departure and, for percentiles of backlogs, a level.
const WAITING: f64 = 160.0;
/// A flow, a queue or a link in a result.
const KEPT: f64 = 320.0;
/// A class in a result: its distribution of delays, of which buckets that hold something are kept.
const CLASS: f64 = 1000.0;

/// The arrivals at a link.
#[derive(Clone, Copy, Default)]
struct Load {
    /// Bits per second of sources, and of connections.
    rate: f64,
    closed: f64,
    /// Packets per second.
    packets: f64,
    flows: usize,
}

impl WorldPlan {
    /// The arrivals at each link; connections share the links that they cross.
    fn loads_by_link(&self) -> Vec<Load> {
        let mut loads = vec![Load::default(); self.links.len()];
        let shares = self.loads();
        for flow in &self.flows {
            let (forth, closed) = sent(flow);
            for (route, is_back) in [(Some(flow.route), false), (flow.back, true)] {
                let Some(route) = route else { continue };
                let path = &self.routes[route as usize];
                let narrow = path.iter().map(|l| shares[*l as usize]).min();
                for l in path {
                    let load = &mut loads[*l as usize];
                    load.flows += 1;
                    if closed {
                        // Acknowledgments are 40 B for each second segment.
                        let scale = if is_back { 40.0 / 3000.0 } else { 1.0 };
                        load.closed = narrow.unwrap_or(0) as f64 * scale;
                    } else if let (false, Some((rate, packets))) = (is_back, forth) {
                        load.rate += rate;
                        load.packets += packets;
                    }
                }
            }
        }
        loads
    }

    /// Bytes of one running world.
    pub(crate) fn likely_bytes(&self) -> u64 {
        let whole = self.warmup.saturating_add(self.duration).as_secs_f64();
        let links = self.links.iter().zip(self.loads_by_link());
        let busy = BUSY_QUEUE / f64::from(1 << self.coarser());
        let links: f64 = links
            .map(|(l, load)| likely_link(l, load, whole, busy))
            .sum();
        let ends = self.flows.iter().map(|f| match &f.traffic {
            Traffic::Source(_) | Traffic::Replay(_) => FLOW,
            Traffic::Tcp { .. } => FLOW + CONNECTION,
            Traffic::Sessions(s) => FLOW + f64::from(s.active) * SESSION,
        });
        let ends: f64 = ends.sum();
        let in_nodes = self.holding.iter().map(|h| h.plan.memory_bytes(0, 0) / 4);
        let in_nodes: u64 = in_nodes.sum();
        (links + ends) as u64 + in_nodes + self.likely_results()
    }

    /// Bytes of the results of one run.
    pub(crate) fn likely_results(&self) -> u64 {
        let queues = |l: &LinkPlan| 1 + l.discipline.leaf_names().len();
        let queues: usize = self.links.iter().map(queues).sum();
        let kept = (self.flows.len() + queues) as f64 * KEPT;
        let series = self.points() as f64 * 8.0;
        (kept + self.classes.len() as f64 * CLASS + series) as u64
    }
}

/// The rate in bit/s and the packets per second of an open-loop source; and whether the traffic is
/// closed-loop.
pub(crate) fn sent(flow: &FlowPlan) -> (Option<(f64, f64)>, bool) {
    let Traffic::Source(source) = &flow.traffic else {
        return (None, flow.traffic.is_closed_loop());
    };
    let rate = Source::mean_rate(source) * flow.share();
    // Between the shortest and the longest packets.
    let (least, most) = (Source::shortest(source), Source::longest(source));
    let mean = (f64::from(least.max(20)) * f64::from(most.max(20))).sqrt();
    (Some((rate, rate / 8.0 / mean)), false)
}

/// A link with what is on it, and its queue with what waits.
fn likely_link(l: &LinkPlan, load: Load, whole: f64, busy: f64) -> f64 {
    let rate = l.rate.bps() as f64;
    let packets = load.packets + load.closed.min(rate) / 8.0 / 1500.0;
    let on_its_way = packets * l.delay.as_secs_f64() * ON_ITS_WAY;
    let full = growing(l.discipline.memory_bytes(load.flows)) as f64;
    let is_narrow = load.closed > 0.9 * rate;
    let excess = (load.rate - rate).max(0.0);
    let waits = if is_narrow {
        full
    } else if excess > 0.0 {
        let share = excess / load.rate;
        (load.packets * share * whole * WAITING).min(full)
    } else {
        0.0
    };
    let queues = l.discipline.leaf_names().len() as f64;
    let queue = if load.rate + load.closed < BUSY * rate {
        QUEUE
    } else if l.policy == NO_POLICY {
        // Waits at an idle queue are similar.
        busy / 4.0
    } else {
        busy
    };
    LINK + queues * queue + on_its_way + waits
}
