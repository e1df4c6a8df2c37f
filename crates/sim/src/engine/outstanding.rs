//! How long a run goes on after the measured period, flow by flow.
//!
//! Packets sent in the period are outstanding until they have arrived or are lost, and transfers
//! that began in it until they are complete, but at most for the propagation delay of the flow's
//! own path and `measurement.grace`. Other flows of the scenario do not change this. The run is
//! over when nothing is outstanding. Flows stop sending once nothing is outstanding in their part
//! of the network, which shares no link with other parts.

use spillgate_core::{Dur, Table, Time};
use spillgate_events::EventSet;
use spillgate_scenario::plan::{Application, FlowPlan, LinkPlan, Traffic, WorldPlan};

use super::World;
use crate::flow::Origin;

/// The deadline of each flow and, after the measured period, what is outstanding.
pub(crate) struct Outstanding {
    /// By meter: what happens to the flow from this time on does not count.
    deadlines: Table<Time>,
    unsettled: Option<StillOpen>,
}

/// What is outstanding after the measured period.
struct StillOpen {
    /// Outstanding packets and transfers, by meter.
    left: Vec<u64>,
    /// Meters by deadline.
    order: Vec<u32>,
    /// Index in `order` of the first meter whose deadline has not passed.
    next: usize,
    /// The part of the network of each flow, and the number outstanding in each part.
    part_of: Vec<u32>,
    parts: Vec<u64>,
    total: u64,
}

impl Outstanding {
    /// That many meters, whose deadlines are set later.
    pub(crate) fn new(meters: usize) -> Self {
        let mut deadlines = Table::with_capacity(meters);
        deadlines.extend((0..meters).map(|_| Time::ZERO));
        Self {
            deadlines,
            unsettled: None,
        }
    }

    /// Whether an event at `now` counts for the flow with this meter.
    #[inline]
    pub(crate) fn counts(&self, meter: u32, now: Time) -> bool {
        now < self.deadlines[meter as usize]
    }
}

impl StillOpen {
    /// That many packets and transfers of the flow are no longer outstanding, if they were.
    fn settle(&mut self, meter: u32, number: u64) {
        // A session may fail after its last transfer.
        let number = number.min(self.left[meter as usize]);
        self.left[meter as usize] -= number;
        self.parts[self.part_of[meter as usize] as usize] -= number;
        self.total -= number;
    }

    /// Passes the deadlines up to `at`, and returns whether nothing is outstanding.
    fn is_over(&mut self, at: Time, deadlines: &[Time]) -> bool {
        while let Some(&meter) = self.order.get(self.next) {
            if deadlines[meter as usize] > at {
                break;
            }
            self.settle(meter, self.left[meter as usize]);
            self.next += 1;
        }
        self.total == 0
    }
}

/// The part of the network of each link. Flows in different parts share no link, neither directly
/// nor through other flows. A union-find forest: each link holds its parent.
struct Parts(Vec<u32>);

impl Parts {
    fn new(plan: &WorldPlan) -> Self {
        let mut parts = Self((0..plan.links.len() as u32).collect());
        if plan.failures.is_empty() {
            for flow in &plan.flows {
                parts.join_all(links_of(plan, flow));
            }
            // In a node that delays packets, the packets of all its links meet.
            for kept in plan.holding.nodes() {
                let of = |l: &LinkPlan| [l.from, l.to].contains(&kept);
                let links = (0..).zip(&plan.links).filter(|(_, l)| of(l));
                parts.join_all(links.map(|(number, _)| number));
            }
        } else {
            // Routes may change to any link that is connected.
            let mut at = vec![None; plan.nodes.len()];
            for (number, link) in (0..).zip(&plan.links) {
                for node in [link.from, link.to] {
                    let first = *at[node as usize].get_or_insert(number);
                    parts.join_all([first, number]);
                }
            }
        }
        parts
    }

    fn join_all(&mut self, links: impl IntoIterator<Item = u32>) {
        let mut links = links.into_iter();
        let Some(mut top) = links.next().map(|l| self.top(l)) else {
            return;
        };
        for link in links {
            let other = self.top(link);
            self.0[top.max(other) as usize] = top.min(other);
            top = top.min(other);
        }
    }

    /// The first link of the part that `link` is in, the root of its tree.
    fn top(&mut self, mut link: u32) -> u32 {
        while self.0[link as usize] != link {
            let above = self.0[link as usize];
            self.0[link as usize] = self.0[above as usize];
            link = above;
        }
        link
    }
}

/// The links that the packets of a flow and its acknowledgments take.
fn links_of<'a>(plan: &'a WorldPlan, flow: &FlowPlan) -> impl Iterator<Item = u32> + 'a {
    let routes = [Some(flow.route), flow.back].into_iter().flatten();
    routes.flat_map(|r| plan.routes[r as usize].iter().copied())
}

/// Whether the transfers of a closed-loop flow end by themselves.
fn is_finite(flow: &FlowPlan) -> bool {
    match &flow.traffic {
        Traffic::Tcp { application, .. } => matches!(application, Application::Bytes(_)),
        _ => true,
    }
}

impl<S: EventSet> World<S> {
    /// Sets the deadlines of all flows, or postpones them, given the shortest delay of each route
    /// of the plan.
    pub(crate) fn set_deadlines(&mut self, delays: &[Dur]) {
        let end = self.window.end();
        let plan = &self.plan;
        for (deadline, flow) in self.outstanding.deadlines.iter_mut().zip(&plan.flows) {
            let there = delays[flow.route as usize];
            let back = flow.back.map_or(Dur::ZERO, |r| delays[r as usize]);
            *deadline = (*deadline).max(end + there.max(back) + plan.grace);
        }
    }

    /// The measured period has ended: counts what is outstanding.
    pub(crate) fn count_outstanding(&mut self) {
        let plan = &self.plan;
        let mut left: Vec<u64> = self.meters.iter().map(|m| m.unresolved()).collect();
        let closed_loop = plan.flows.iter().enumerate();
        let closed_loop = closed_loop.filter(|(_, f)| f.traffic.is_closed_loop());
        for ((meter, flow), transfers) in closed_loop.zip(&self.transfers) {
            if is_finite(flow) {
                left[meter] += transfers.open();
            }
        }
        let mut parts = Parts::new(plan);
        let of = |f: &FlowPlan| links_of(plan, f).next().map_or(0, |l| parts.top(l));
        let part_of: Vec<u32> = plan.flows.iter().map(of).collect();
        let mut sums = vec![0; plan.links.len()];
        for (part, left) in part_of.iter().zip(&left) {
            sums[*part as usize] += left;
        }
        let mut order: Vec<u32> = (0..left.len() as u32).collect();
        order.sort_by_key(|m| self.outstanding.deadlines[*m as usize]);
        self.outstanding.unsettled = Some(StillOpen {
            total: left.iter().sum(),
            left,
            order,
            next: 0,
            part_of,
            parts: sums,
        });
    }

    /// A packet or a transfer that counts has ended at `now`, which may lie ahead of the clock.
    #[inline]
    pub(crate) fn settle(&mut self, meter: u32, now: Time) {
        // What is outstanding is only tracked after the end.
        if now >= self.window.end() {
            self.settle_late(meter);
        }
    }

    /// Ends a transfer of connection `c` that began at `since`, and returns whether it counts.
    pub(crate) fn transfer_ends(&mut self, c: usize, since: Time) -> bool {
        let now = self.now;
        let meter = self.flows[self.tcp[c].data as usize].meter;
        let in_time = now < self.window.end() || self.outstanding.counts(meter, now);
        let counts = self.window.contains(since) && in_time;
        if counts && is_finite(&self.plan.flows[meter as usize]) {
            self.settle(meter, now);
        }
        counts
    }

    #[cold]
    fn settle_late(&mut self, meter: u32) {
        if let Some(unsettled) = &mut self.outstanding.unsettled {
            unsettled.settle(meter, 1);
        }
    }

    /// Whether nothing is outstanding that an event at `at` could still change.
    pub(crate) fn nothing_outstanding(&mut self, at: Time) -> bool {
        let Outstanding {
            deadlines,
            unsettled,
        } = &mut self.outstanding;
        unsettled.as_mut().is_none_or(|w| w.is_over(at, deadlines))
    }

    /// Whether a flow may stop sending: nothing is outstanding in its part of the network.
    #[inline]
    pub(crate) fn may_stop_sending(&self, flow: usize, now: Time) -> bool {
        now >= self.transmissions_end && self.part_is_settled(flow)
    }

    #[cold]
    fn part_is_settled(&self, flow: usize) -> bool {
        let meter = match self.flows[flow].origin {
            Origin::Acknowledgments(c) => self.flows[self.tcp[c as usize].data as usize].meter,
            _ => self.flows[flow].meter,
        };
        let Some(unsettled) = self.outstanding.unsettled.as_ref() else {
            return false;
        };
        let part = unsettled.part_of.get(meter as usize);
        part.is_some_and(|p| unsettled.parts[*p as usize] == 0)
    }
}
