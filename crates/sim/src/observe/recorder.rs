//! Time series: backlogs, rates, windows, open sessions and flow admission, sampled at a fixed
//! period.

use std::cell::LazyCell;

use spillgate_core::{Dur, Time};
use spillgate_measure::{Sampled, SampledPlace, Samples};
use spillgate_queueing::{LeafGauges, State};
use spillgate_scenario::plan::{LinkPlan, Traffic, WorldPlan};

use crate::arrivals::Arrivals;
use crate::express::Lane;
use crate::link::Link;
use crate::node::{Nodes, Stages};
use crate::outcome::Curve;
use crate::session::Workload;
use crate::tcp::Connection;

/// The largest number of connections whose congestion windows are sampled, and of workloads whose
/// sessions are counted; a figure cannot show more curves.
const MAX_CURVES: usize = 20;

/// What is sampled of a world that runs.
pub(crate) struct Sampling<'a> {
    pub(crate) links: &'a [Link],
    pub(crate) stages: Option<&'a Stages>,
    pub(crate) lane: &'a mut Lane,
    pub(crate) arrivals: &'a Arrivals,
    /// The connections of the plan's flows come first.
    pub(crate) tcp: &'a [Connection],
    pub(crate) workloads: &'a [Workload],
}

/// The time series of an observed run of `plan`, in order: the place and what is sampled there.
pub fn sampled(plan: &WorldPlan) -> Vec<(String, Sampled)> {
    Walk::new(plan).columns(plan).columns
}

/// What is sampled where.
#[derive(Clone)]
struct Walk {
    /// Links whose queues are sampled here, not by the node at which they begin.
    queues: Vec<u32>,
    /// By flow of the plan, in the order of the connections and workloads of the world.
    connections: Vec<u32>,
    workloads: Vec<u32>,
}

impl Walk {
    fn new(plan: &WorldPlan) -> Self {
        let flows = |wanted: fn(&Traffic) -> bool| {
            let flows = (0..).zip(&plan.flows).filter(|(_, f)| wanted(&f.traffic));
            flows.take(MAX_CURVES).map(|(i, _)| i).collect()
        };
        let queues = plan.watched.iter().filter(|l| !plan.holding.serve(**l));
        Self {
            queues: queues.copied().collect(),
            connections: flows(|t| matches!(t, Traffic::Tcp { .. })),
            workloads: flows(|t| matches!(t, Traffic::Sessions(_))),
        }
    }

    /// The columns of a run, without a sample yet.
    fn columns(&self, plan: &WorldPlan) -> Samples {
        let (mut out, mut nodes) = (Samples::default(), Nodes::idle(plan));
        self.sample(plan, Time::ZERO, None, nodes.as_mut(), &mut out);
        out
    }

    /// Puts every series; of an idle world if it is not `observed`.
    fn sample(
        &self,
        plan: &WorldPlan,
        now: Time,
        mut observed: Option<Sampling<'_>>,
        nodes: Option<&mut Nodes>,
        out: &mut Samples,
    ) {
        for link in &self.queues {
            let link = *link as usize;
            sample_queues(plan, link, now, observed.as_mut(), out);
            sample_tokens(plan, link, now, observed.as_ref(), out);
        }
        let links = || plan.watched.iter().map(|l| *l as usize);
        let name = |link: usize| format!("link {}", plan.links[link].name);
        for link in links() {
            let begun = observed.as_mut().map(|o| {
                let ahead = o.lane.sample(link, now);
                ahead.map_or(o.links[link].meter.total_bytes, |s| s.begun)
            });
            let mut of = out.of(|| name(link));
            of.put_rate(Sampled::Carried, begun.unwrap_or(0), 8.0);
        }
        let observed = observed.as_ref();
        for (i, class) in plan.classes.iter().enumerate() {
            let received = observed.map_or(0, |o| o.arrivals.bytes(i));
            let mut of = out.of(|| format!("class {class}"));
            of.put_rate(Sampled::Throughput, received, 8.0);
        }
        for (i, flow) in self.connections.iter().enumerate() {
            let open = observed.map(|o| &o.tcp[i]);
            let sender = open
                .filter(|c| now >= c.start && !c.is_over())
                .map(|c| &c.sender);
            let mut of = out.of(|| format!("flow {}", plan.flows[*flow as usize].name));
            of.put(Sampled::Cwnd, sender.map(|s| s.cwnd() as f64));
            of.put(Sampled::Srtt, sender.and_then(|s| s.srtt()));
            let traffic = &plan.flows[*flow as usize].traffic;
            if matches!(traffic, Traffic::Tcp { config, .. } if config.cc.detects_classic()) {
                of.put(Sampled::ClassicEcn, sender.and_then(|s| s.classic_ecn()));
            }
        }
        for (i, flow) in self.workloads.iter().enumerate() {
            let open = observed.map(|o| o.workloads[i].open() as f64);
            let mut of = out.of(|| format!("sessions {}", plan.flows[*flow as usize].name));
            of.put(Sampled::SessionsOpen, open);
        }
        for link in links().filter(|l| plan.links[*l].discipline.admits()) {
            let port = observed.and_then(|o| o.links[link].port.as_ref());
            let state = port.and_then(|p| p.discipline.admission(now));
            let mut of = out.of(|| name(link));
            of.put(Sampled::FairRate, state.map(|s| s.fair_rate));
            of.put(Sampled::PriorityLoad, state.map(|s| s.priority_load));
            of.put(Sampled::FlowsListed, state.map(|s| s.listed));
            of.put(Sampled::FlowsBlocked, state.map(|s| s.blocked));
        }
        if let Some(nodes) = nodes {
            nodes.sample(now, plan, out);
        }
    }
}

/// Puts the queues of a link.
fn sample_queues(
    plan: &WorldPlan,
    link: usize,
    now: Time,
    observed: Option<&mut Sampling<'_>>,
    out: &mut Samples,
) {
    let plan = &plan.links[link];
    let names = LazyCell::new(|| plan.discipline.leaf_names());
    let mut put = |leaf: usize, backlog: (u64, u64), gauges: LeafGauges, dropped: u64| {
        let mut of = out.of(|| format!("{}/{}", plan.name, names[leaf]));
        let delay = queue_delay(plan, now, backlog, gauges.head);
        sample_queue(backlog, gauges, dropped, &mut of);
        of.put(Sampled::QueueDelay, delay);
    };
    let Some(observed) = observed else {
        let idle = plan.discipline.gauges().into_iter().enumerate();
        return idle.for_each(|(leaf, gauges)| put(leaf, (0, 0), gauges, 0));
    };
    if let Some(s) = observed.lane.sample(link, now) {
        let (packets, bytes) = s.backlog;
        let gauges = LeafGauges {
            average_queue: s.average,
            state: s.state,
            ..LeafGauges::default()
        };
        put(0, (packets.into(), bytes), gauges, s.dropped);
    }
    let Some(port) = &observed.links[link].port else {
        return;
    };
    for (leaf, queue) in port.queues.iter().enumerate() {
        let of = leaf as u16;
        let mut gauges = port.discipline.gauges(leaf, now);
        let ahead = port.ring.iter().flat_map(|ring| ring.packets());
        let mut ahead = ahead.filter(|p| p.leaf == of).map(|p| p.arrived);
        gauges.head = ahead.next().or(gauges.head);
        put(leaf, port.backlog(of), gauges, queue.dropped());
    }
}

/// Puts a queue: what waits, what its AQM goes by, and what it drops.
fn sample_queue(
    (packets, bytes): (u64, u64),
    gauges: LeafGauges,
    dropped: u64,
    out: &mut SampledPlace<'_>,
) {
    out.put(Sampled::BacklogPackets, packets);
    out.put(Sampled::BacklogBytes, bytes);
    for (average, sampled) in [
        (gauges.average_queue, Sampled::BacklogAverage),
        (gauges.average_bytes, Sampled::BacklogAverageBytes),
    ] {
        if let Some(average) = average {
            out.put(sampled, average);
        }
    }
    out.put_rate(Sampled::DropRate, dropped, 1.0);
    put_state(&gauges.state, out);
}

/// Puts what has names of series.
fn put_state(state: &State, out: &mut SampledPlace<'_>) {
    for (name, value) in state {
        // `names_of_state_are_series` covers every AQM but those of users.
        let sampled = Sampled::from_name(name).expect("the state of an AQM has names of series");
        out.put(sampled, *value);
    }
}

/// How long the packet that leaves next has waited; where departures are known at arrival, how long
/// the link takes to send what waits, which is what a packet that comes now has to wait for. None
/// if the scheduler does not tell.
fn queue_delay(
    plan: &LinkPlan,
    now: Time,
    (packets, bytes): (u64, u64),
    head: Option<Time>,
) -> Option<f64> {
    if packets == 0 {
        return Some(0.0);
    }
    if plan.discipline.decides_at_arrival() && plan.server.is_none() {
        return Some(bytes as f64 * 8.0 / plan.rate.bps() as f64);
    }
    head.map(|arrived| now.since(arrived).as_secs_f64())
}

/// Puts the token buckets at both ends of a link.
fn sample_tokens(
    plan: &WorldPlan,
    link: usize,
    now: Time,
    observed: Option<&Sampling<'_>>,
    out: &mut Samples,
) {
    let of = &plan.links[link];
    let port = match observed {
        None => of.discipline.tokens(),
        Some(o) => {
            let port = o.links[link].port.as_ref();
            port.map_or_else(Vec::new, |port| port.discipline.tokens(now))
        }
    };
    let input = plan.stages.input(link as u32).map(|input| match observed {
        None => input.recipe.tokens(),
        Some(o) => o.stages.map_or_else(Vec::new, |s| s.tokens(link, now)),
    });
    for (class, level) in port {
        put_state(&level, &mut out.of(|| format!("{}/{class}", of.name)));
    }
    for (class, level) in input.into_iter().flatten() {
        let name = || format!("{}/input/{class}", of.name);
        put_state(&level, &mut out.of(name));
    }
}

/// Samples the time series of a run.
#[derive(Clone)]
pub(crate) struct SeriesRecorder {
    walk: Walk,
    samples: Samples,
    period: Dur,
    last: Time,
}

impl SeriesRecorder {
    pub(crate) fn new(plan: &WorldPlan) -> Self {
        let walk = Walk::new(plan);
        Self {
            samples: walk.columns(plan),
            walk,
            period: plan.interval,
            last: Time::ZERO,
        }
    }

    /// When the last sample was taken; the start of the run before the first.
    pub(crate) fn last(&self) -> Time {
        self.last
    }

    /// Takes a sample.
    pub(crate) fn sample(
        &mut self,
        plan: &WorldPlan,
        now: Time,
        observed: Sampling<'_>,
        nodes: Option<&mut Nodes>,
    ) {
        let out = &mut self.samples;
        out.begin(now.since(self.last).as_secs_f64());
        self.walk.sample(plan, now, Some(observed), nodes, out);
        self.last = now;
    }

    /// The series, one curve for each column.
    pub(crate) fn into_curves(self) -> Vec<Curve> {
        let columns = self.samples.columns.into_iter().zip(self.samples.values);
        let curve = |((place, sampled), v): ((String, Sampled), Vec<f64>)| Curve {
            place,
            metric: sampled.name().into(),
            start: Time::ZERO + self.period,
            step: self.period,
            v,
        };
        columns.map(curve).collect()
    }
}
