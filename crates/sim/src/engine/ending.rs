//! How long a run goes on after the measured period, flow by flow.
//!
//! Packets of the period are waited for until they have arrived or are lost, transfers that began in it until
//! they are complete: for the propagation delay of the flow's own path and `measurement.grace` at most. What
//! another flow does, or whether it is in the scenario at all, changes nothing of that. The run is over when
//! nobody waits any more; parts of the network that share no link fall silent one by one.

use spillgate_core::{Dur, Table, Time};
use spillgate_events::EventSet;
use spillgate_scenario::plan::{Application, FlowPlan, LinkPlan, Traffic, WorldPlan};

use super::World;
use crate::flow::Origin;

/// Until when each flow is waited for, and, after the period, what is still waited for.
pub(crate) struct Ending {
    /// By meter: what happens from then on to its flow does not count.
    deadlines: Table<Time>,
    waiting: Option<Waiting>,
}

/// What is waited for once the period has ended.
struct Waiting {
    /// Packets and transfers by meter.
    left: Vec<u64>,
    /// Meters by deadline.
    order: Vec<u32>,
    /// The first of them whose deadline has not passed.
    next: usize,
    /// The part of the network of each flow, and how much is waited for in each part.
    part_of: Vec<u32>,
    parts: Vec<u64>,
    total: u64,
}

impl Ending {
    /// Without a deadline for any of so many meters.
    pub(crate) fn new(meters: usize) -> Self {
        let mut deadlines = Table::with_capacity(meters);
        deadlines.extend((0..meters).map(|_| Time::ZERO));
        Self {
            deadlines,
            waiting: None,
        }
    }

    /// Whether what happens to a flow with this meter at `now` counts.
    #[inline]
    pub(crate) fn counts(&self, meter: u32, now: Time) -> bool {
        now < self.deadlines[meter as usize]
    }
}

impl Waiting {
    /// So many packets and transfers of a flow with this meter are not waited for any more, if they were.
    fn settle(&mut self, meter: u32, number: u64) {
        // A session may fail after its last transfer.
        let number = number.min(self.left[meter as usize]);
        self.left[meter as usize] -= number;
        self.parts[self.part_of[meter as usize] as usize] -= number;
        self.total -= number;
    }

    /// Passes the deadlines up to `at`; whether anything is still waited for.
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

/// Links by the part of the network that they are in: flows in different parts meet on no link, neither
/// directly nor by way of other flows. A forest of which each link knows the next one up.
struct Parts(Vec<u32>);

impl Parts {
    fn new(plan: &WorldPlan) -> Self {
        let mut parts = Self((0..plan.links.len() as u32).collect());
        if plan.failures.is_empty() {
            for flow in &plan.flows {
                parts.join_all(links_of(plan, flow));
            }
            // In a node that keeps packets those of all its links meet.
            for kept in &plan.forwarding {
                let of = |l: &LinkPlan| [l.from, l.to].contains(&kept.node);
                let links = (0..).zip(&plan.links).filter(|(_, l)| of(l));
                parts.join_all(links.map(|(number, _)| number));
            }
        } else {
            // Routes may come to lead anywhere.
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

    /// The first link of the part that `link` is in.
    fn top(&mut self, mut link: u32) -> u32 {
        while self.0[link as usize] != link {
            let above = self.0[link as usize];
            self.0[link as usize] = self.0[above as usize];
            link = above;
        }
        link
    }
}

/// The links that a flow's packets take there and back.
fn links_of<'a>(plan: &'a WorldPlan, flow: &FlowPlan) -> impl Iterator<Item = u32> + 'a {
    let routes = [Some(flow.route), flow.back].into_iter().flatten();
    routes.flat_map(|r| plan.routes[r as usize].iter().copied())
}

/// Whether the transfers of an answered flow come to an end by themselves.
fn is_finite(flow: &FlowPlan) -> bool {
    match &flow.traffic {
        Traffic::Tcp { application, .. } => matches!(application, Application::Bytes(_)),
        _ => true,
    }
}

impl<S: EventSet> World<S> {
    /// Sets the deadlines of all flows, or puts them off: `wires` says how long the packets of a route of the
    /// plan are on their way at least.
    pub(crate) fn set_deadlines(&mut self, wires: &[Dur]) {
        let end = self.window.end();
        let plan = &self.plan;
        for (deadline, flow) in self.ending.deadlines.iter_mut().zip(&plan.flows) {
            let there = wires[flow.route as usize];
            let back = flow.back.map_or(Dur::ZERO, |r| wires[r as usize]);
            *deadline = (*deadline).max(end + there.max(back) + plan.grace);
        }
    }

    /// The measured period has ended: what is still waited for.
    pub(crate) fn begin_waiting(&mut self) {
        let plan = &self.plan;
        let mut left: Vec<u64> = self.meters.iter().map(|m| m.unresolved()).collect();
        let answered = plan.flows.iter().enumerate();
        let answered = answered.filter(|(_, f)| f.traffic.is_closed_loop());
        for ((meter, flow), transfers) in answered.zip(&self.transfers) {
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
        order.sort_by_key(|m| self.ending.deadlines[*m as usize]);
        self.ending.waiting = Some(Waiting {
            total: left.iter().sum(),
            left,
            order,
            next: 0,
            part_of,
            parts: sums,
        });
    }

    /// A packet or a transfer that counts has come to its end at `now`, which may lie ahead.
    #[inline]
    pub(crate) fn settle(&mut self, meter: u32, now: Time) {
        // Before the end nobody keeps account of what is waited for.
        if now >= self.window.end() {
            self.settle_late(meter);
        }
    }

    /// Whether a transfer of connection `c` counts that comes to its end now and began at `since`. It is not
    /// waited for any more.
    pub(crate) fn transfer_ends(&mut self, c: usize, since: Time) -> bool {
        let now = self.now;
        let meter = self.flows[self.tcp[c].data as usize].meter;
        let in_time = now < self.window.end() || self.ending.counts(meter, now);
        let counts = self.window.contains(since) && in_time;
        if counts && is_finite(&self.plan.flows[meter as usize]) {
            self.settle(meter, now);
        }
        counts
    }

    #[cold]
    fn settle_late(&mut self, meter: u32) {
        if let Some(waiting) = &mut self.ending.waiting {
            waiting.settle(meter, 1);
        }
    }

    /// Whether nothing is waited for any more that something at `at` could do anything to.
    pub(crate) fn nobody_waits(&mut self, at: Time) -> bool {
        let Ending { deadlines, waiting } = &mut self.ending;
        waiting.as_mut().is_none_or(|w| w.is_over(at, deadlines))
    }

    /// Whether a flow need not send any more: nothing is waited for in its part of the network.
    #[inline]
    pub(crate) fn is_silent(&self, flow: usize, now: Time) -> bool {
        now >= self.stragglers && self.is_out_of_earshot(flow)
    }

    #[cold]
    fn is_out_of_earshot(&self, flow: usize) -> bool {
        let meter = match self.flows[flow].origin {
            Origin::Acknowledgments(c) => self.flows[self.tcp[c as usize].data as usize].meter,
            _ => self.flows[flow].meter,
        };
        let Some(waiting) = self.ending.waiting.as_ref() else {
            return false;
        };
        let part = waiting.part_of.get(meter as usize);
        part.is_some_and(|p| waiting.parts[*p as usize] == 0)
    }
}
