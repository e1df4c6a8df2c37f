//! What is measured in a run: one walk over the world and its plan, which puts each number once.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::sync::Arc;

use spillgate_core::{Dscp, Time};
use spillgate_measure::table::{Layout, Metric, Scope};
use spillgate_measure::{
    FlowMeter, Histogram, Measures, Place, QueueMeter, Unknown, Volume, Window, jain,
};
use spillgate_queueing::Colored;
use spillgate_scenario::plan::{FlowPlan, WorldPlan};

use crate::admission::{self, Admission};
use crate::express::Lane;
use crate::gaps::{self, Gaps};
use crate::link::Link;
use crate::node::{Nodes, Stages};
use crate::precedence::{self, Marked};
use crate::transfers::{ConnectionCounts, Transfers};
use crate::voice;

/// Resolution of the histograms of what has measured nothing.
pub(crate) const IDLE_BITS: u8 = 8;

/// What a run has measured. Where something is missing, nothing has happened there.
#[derive(Clone, Copy)]
pub(crate) struct Measured<'a> {
    pub(crate) plan: &'a WorldPlan,
    pub(crate) now: Time,
    /// By flow of the plan.
    pub(crate) flows: &'a [FlowMeter],
    /// By link, and the lane that has the ports which links have not.
    pub(crate) links: &'a [Link],
    pub(crate) lane: Option<&'a Lane>,
    pub(crate) stages: Option<&'a Stages>,
    /// By policer of a port.
    pub(crate) colored: &'a [Colored],
    pub(crate) marked: Option<&'a Marked>,
    pub(crate) nodes: Option<&'a Nodes>,
    /// By closed-loop flow.
    pub(crate) transfers: &'a [Transfers],
    pub(crate) admissions: &'a [Admission],
    pub(crate) gaps: Option<&'a Gaps>,
}

/// What the numbers of a run of `plan` are, in order.
pub fn layout(plan: &WorldPlan) -> Layout {
    let stages = Stages::new(plan, &[], &Arc::default(), (0, 0), false);
    let nodes = Nodes::idle(plan);
    let mut out = Measures::names();
    Measured::idle(plan, stages.as_ref(), nodes.as_ref()).walk(&mut out);
    out.layout
}

/// Flows for which figures are given together.
pub(crate) struct Group<'a> {
    pub(crate) scope: Scope,
    pub(crate) name: &'a str,
    has: Box<dyn Fn(&FlowPlan) -> bool + 'a>,
}

impl Group<'_> {
    pub(crate) fn has(&self, flow: &FlowPlan) -> bool {
        (self.has)(flow)
    }

    /// Of some flows, the numbers of those that it has.
    pub(crate) fn members<'f>(&self, flows: impl Iterator<Item = &'f FlowPlan>) -> Vec<usize> {
        let numbered = flows.enumerate().filter(|(_, f)| self.has(f));
        numbered.map(|(i, _)| i).collect()
    }
}

/// All flows, those of each class, and those of each site.
pub(crate) fn groups(plan: &WorldPlan) -> Vec<Group<'_>> {
    let mut groups = vec![Group {
        scope: Scope::Total,
        name: "all",
        has: Box::new(|_| true),
    }];
    groups.extend(plan.classes.iter().enumerate().map(|(class, name)| Group {
        scope: Scope::Class,
        name,
        has: Box::new(move |f| usize::from(f.class) == class),
    }));
    groups.extend(plan.sites.iter().map(|site| Group {
        scope: Scope::Site,
        name: &site.name,
        has: Box::new(|f| site.has(f)),
    }));
    groups
}

/// The code points of the sources, ascending.
fn dscps(plan: &WorldPlan) -> impl Iterator<Item = Dscp> {
    let bits = plan.flows.iter().map(|f| 1_u64 << f.dscp.value());
    let all = bits.fold(0, |all, bit| all | bit);
    (0..64)
        .filter(move |v| all >> v & 1 != 0)
        .filter_map(Dscp::new)
}

impl<'a> Measured<'a> {
    /// What a run measures in which nothing happens.
    fn idle(plan: &'a WorldPlan, stages: Option<&'a Stages>, nodes: Option<&'a Nodes>) -> Self {
        Self {
            plan,
            now: Self::window(plan).end(),
            flows: &[],
            links: &[],
            lane: None,
            stages,
            colored: &[],
            marked: None,
            nodes,
            transfers: &[],
            admissions: &[],
            gaps: None,
        }
    }

    fn window(plan: &WorldPlan) -> Window {
        Window::new(plan.warmup, plan.duration)
    }

    /// The values, with their bounds, in the order of [`layout`], and the delays of each class.
    pub(crate) fn values(self) -> (Measures, Vec<Histogram>) {
        // With many flows this takes most of the memory: reserve no more than needed.
        let mut length = Measures::default();
        Self::idle(self.plan, self.stages, self.nodes).walk(&mut length);
        let mut out = match cfg!(debug_assertions) {
            true => Measures::all(),
            false => Measures::values(length.len()),
        };
        let delays = self.walk(&mut out);
        debug_assert_eq!(out.layout, layout(self.plan));
        (out, delays)
    }

    /// Puts every number; returns the delays of each class.
    fn walk(&self, out: &mut Measures) -> Vec<Histogram> {
        let (plan, window) = (self.plan, Self::window(self.plan));
        let groups = groups(plan);
        let is_site = |g: &&Group<'_>| g.scope == Scope::Site;
        let mut class_delays = Vec::new();
        for group in groups.iter().filter(|g| !is_site(g)) {
            let sum = self.sum_of(&|f| group.has(f));
            let mut of = out.of(group.scope, || group.name);
            sum.measure(plan.duration, plan.grace, &mut of);
            let members = plan.flows.iter().zip(self.flows);
            let rates = members.filter(|(f, _)| group.has(f));
            of.put(Metric::Jain, jain(rates.map(|(_, m)| m.arrived.bytes())));
            if group.scope == Scope::Class {
                class_delays.push(sum.delay);
            }
        }
        for dscp in dscps(plan) {
            let mut of = out.of(Scope::Dscp, || dscp.to_string());
            let sum = self.sum_of(&|f| f.dscp == dscp);
            sum.measure(plan.duration, plan.grace, &mut of);
        }
        self.walk_links(window, out);
        precedence::measure(plan, window, self.colored, out);
        if let Some(stages) = self.stages {
            stages.measure(plan, out);
        }
        precedence::measure_queues(plan, |i| self.precedences(i, window), out);
        precedence::measure_classes(plan, self.marked, out);
        if let Some(nodes) = self.nodes {
            nodes.measure(self.now.min(window.end()), plan, out);
        }
        let idle = FlowMeter::new(IDLE_BITS);
        for (i, flow) in plan.flows.iter().enumerate() {
            let meter = self.flows.get(i).unwrap_or(&idle);
            let mut of = out.of(Scope::Flow, || &*flow.name);
            meter.measure(plan.duration, plan.grace, &mut of);
        }
        for group in groups.iter().filter(is_site) {
            let mut of = out.of(Scope::Site, || group.name);
            let sum = self.sum_of(&|f| group.has(f));
            sum.measure(plan.duration, plan.grace, &mut of);
        }
        self.walk_transfers(&groups, out);
        voice::measure(plan, &groups, self.flows, out);
        admission::measure(plan, &groups, self.admissions, window, out);
        gaps::measure(plan, &groups, self.gaps, self.flows, out);
        class_delays
    }

    /// What some flows have counted together.
    fn sum_of(&self, wanted: &dyn Fn(&FlowPlan) -> bool) -> FlowMeter {
        let bits = self.flows.first().map_or(IDLE_BITS, |m| m.delay.bits());
        let mut sum = FlowMeter::new(bits);
        let all = self.plan.flows.iter().zip(self.flows);
        all.filter(|(f, _)| wanted(f))
            .for_each(|(_, m)| sum.merge(m));
        sum
    }

    fn walk_links(&self, window: Window, out: &mut Measures) {
        let period = window.len();
        let idle = QueueMeter::of(window, IDLE_BITS, self.plan.backlog_percentiles);
        for (i, plan) in self.plan.links.iter().enumerate() {
            let link = self.links.get(i);
            let queues = self.queues(i, window);
            let names = LazyCell::new(|| plan.discipline.leaf_names());
            let mut carried = Volume::default();
            for (leaf, gauges) in plan.discipline.gauges().into_iter().enumerate() {
                let queue = queues.as_ref().map_or(&idle, |q| &q[leaf]);
                carried += queue.carried;
                let mut of = out.of(Scope::Queue, || format!("{}/{}", plan.name, names[leaf]));
                queue.measure_arrivals(window, &mut of);
                of.put(Metric::MarksCe, queue.marks_ce);
                queue.measure_waiting(window, &mut of);
                for (average, metric) in [
                    (gauges.average_queue, Metric::BacklogAverageMean),
                    (gauges.average_bytes, Metric::BacklogAverageBytesMean),
                ] {
                    if average.is_some() {
                        of.put(metric, queue.averages.mean());
                    }
                }
                of.put_drops(&queue.lost);
            }
            let mut of = out.of(Scope::Link, || &*plan.name);
            of.put(Metric::Carried, carried.rate(period));
            let used = link.map(|l| match self.lane.and_then(|lane| lane.busy(i)) {
                Some(busy) => busy.as_secs_f64() / period.as_secs_f64(),
                None => l.utilization(window, carried),
            });
            of.put(Metric::Utilization, used);
        }
    }

    /// The packets of a link's queues by code point; none if it does not tell them apart.
    fn precedences(
        &self,
        link: usize,
        window: Window,
    ) -> Vec<Option<Box<precedence::Precedences>>> {
        match self.lane.and_then(|lane| lane.precedences(link)) {
            Some(queue) => vec![queue],
            None => self
                .links
                .get(link)
                .map_or_else(Vec::new, |l| l.precedences(window, self.now)),
        }
    }

    /// The meters of a link's queues, whoever has its port; none where nothing happens.
    fn queues(&self, link: usize, window: Window) -> Option<Cow<'_, [QueueMeter]>> {
        match self.lane.and_then(|lane| lane.queue(link)) {
            Some(queue) => Some(vec![queue].into()),
            None => self.links.get(link).map(|l| l.queues(window, self.now)),
        }
    }

    /// The connections and workloads: those of each group that has some, then each.
    fn walk_transfers(&self, groups: &[Group<'_>], out: &mut Measures) {
        let flows = || {
            let all = self.plan.flows.iter();
            all.filter(|f| f.traffic.is_closed_loop())
        };
        for group in groups {
            let members = group.members(flows());
            if !members.is_empty() {
                let of = out.of(group.scope, || group.name);
                self.transfers_of(&members, of);
            }
        }
        for (i, flow) in flows().enumerate() {
            self.transfers_of(&[i], out.of(Scope::Flow, || &*flow.name));
        }
    }

    fn transfers_of(&self, members: &[usize], mut out: Place<'_>) {
        let (mut counts, mut totals, mut times) = (ConnectionCounts::default(), [0; 4], None);
        for t in members.iter().filter_map(|i| self.transfers.get(*i)) {
            counts.add(t.within());
            for (sum, n) in totals.iter_mut().zip(t.totals()) {
                *sum += n;
            }
            match &mut times {
                None => times = Some(t.times()),
                Some(all) => t.add_times(all),
            }
        }
        let times = times.unwrap_or_else(|| Histogram::new(IDLE_BITS));
        let [begun, done, failed, refused] = totals;
        out.put(Metric::Goodput, counts.arrived.rate(self.plan.duration));
        out.put(Metric::Retransmits, counts.retransmits);
        out.put(Metric::Timeouts, counts.timeouts);
        out.put(Metric::TransfersBegun, begun);
        out.put(Metric::TransfersDone, done);
        out.put(Metric::TransfersFailed, failed);
        out.put(Metric::TransfersRefused, refused);
        let unknown = Unknown {
            open: begun.saturating_sub(done).saturating_sub(failed),
            failed,
            least: self.plan.grace,
        };
        out.put_within(Metric::FctMean, times.mean(), unknown.mean(&times));
        for (metric, q) in [
            (Metric::FctP50, 0.5),
            (Metric::FctP95, 0.95),
            (Metric::FctP99, 0.99),
        ] {
            out.put_within(metric, times.quantile(q), unknown.quantile(&times, q));
        }
    }
}
