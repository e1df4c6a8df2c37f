//! The results of a run: one value for every key of the layout, the delay distribution of each
//! class, and time series.

use spillgate_core::{DropReason, Dscp, Dur, Time};
use spillgate_measure::table::{Layout, Metric, Scope};
use spillgate_measure::{FlowMeter, Histogram, Needs, Unknown, Volume, jain};
use spillgate_queueing::Colored;
use spillgate_scenario::plan::{FlowPlan, InputPlan, LinkPlan, WorldPlan};

use crate::admission::{self, ADMISSION, Admission};
use crate::arrivals::Unsettled;
use crate::express::FifoQueue;
use crate::gaps::{self, Gaps};
use crate::gauge::QueueMeter;
use crate::link::Link;
use crate::node::{InputMeter, LabelMeter, Nodes, layout_of_nodes};
use crate::precedence::{self, Marked};
use crate::tokens::Draining;
use crate::transfers::{Counts, Transfers};
use crate::values::{Bounds, Values};
use crate::voice;
use crate::window::Window;

/// Metrics of queues.
pub(crate) const QUEUE: [Metric; 22] = [
    Metric::Offered,
    Metric::Carried,
    Metric::PacketsOffered,
    Metric::PacketsLost,
    Metric::LossRatio,
    Metric::MarksCe,
    Metric::SojournMean,
    Metric::SojournP50,
    Metric::SojournP95,
    Metric::SojournP99,
    Metric::SojournP999,
    Metric::SojournMax,
    Metric::BacklogPacketsMean,
    Metric::BacklogPacketsP50,
    Metric::BacklogPacketsP95,
    Metric::BacklogPacketsP99,
    Metric::BacklogPacketsMax,
    Metric::BacklogBytesMean,
    Metric::BacklogBytesP50,
    Metric::BacklogBytesP95,
    Metric::BacklogBytesP99,
    Metric::BacklogBytesMax,
];

/// Metrics of TCP connections.
const TCP: [Metric; 11] = [
    Metric::Goodput,
    Metric::Retransmits,
    Metric::Timeouts,
    Metric::TransfersBegun,
    Metric::TransfersDone,
    Metric::TransfersFailed,
    Metric::TransfersRefused,
    Metric::FctMean,
    Metric::FctP50,
    Metric::FctP95,
    Metric::FctP99,
];

const LINK: [Metric; 2] = [Metric::Carried, Metric::Utilization];
const EXP: [Metric; 1] = [Metric::Carried];
const INPUT: [Metric; 4] = [
    Metric::Offered,
    Metric::Carried,
    Metric::CarriedMarked,
    Metric::DropsPolicer,
];

/// The quantiles of a [`Curve`].
pub const QUANTILES: [f64; 35] = [
    0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7,
    0.75, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995, 0.9998, 0.9999, 0.99995,
    0.99998, 0.99999, 0.999999, 1.0,
];

/// Resolution of the histograms of a group without flows.
const MERGED_BITS: u8 = 8;

/// A time series.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// What was sampled: `wan/voice`, `class voice`, `link wan`.
    pub place: String,
    /// Its metric's name.
    pub metric: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// The time of the first sample.
    pub start: Time,
    /// The period of sampling.
    pub step: Dur,
    /// The values; NaN where undefined.
    pub v: Vec<f64>,
}

impl Curve {
    /// Sampling instants in seconds.
    pub fn times(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.v.len() as u64).map(|i| (self.start + self.step * i).as_secs_f64())
    }
}

/// The result of one run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// One value for every key of [`layout`]; NaN where undefined.
    pub values: Vec<f64>,
    /// The possible range of each value that depends on packets or transfers outstanding when the
    /// run ended, ascending by index.
    pub bounds: Vec<Bounds>,
    /// One-way delays of each class of service.
    pub class_delays: Vec<Histogram>,
    /// Time series, if the run was observed.
    pub series: Vec<Curve>,
    /// Token buckets that drain for longer than the warm-up, if the run was observed.
    pub draining: Vec<Draining>,
    /// Classes with an initial transient, if the run was observed.
    pub unsettled: Vec<Unsettled>,
    /// What flow admission did, by link, then by flow and time.
    pub admissions: Vec<Admission>,
    /// Fingerprint of the event stream.
    pub digest: String,
    /// Events handled.
    pub events: u64,
    /// Packets emitted.
    pub packets: u64,
}

/// The values that a run of `plan` gives, in order.
pub fn layout(plan: &WorldPlan) -> Layout {
    let mut out = Layout::default();
    let drops = || DropReason::ALL.into_iter().map(Metric::drops);
    let fair = || Metric::metered().chain([Metric::Jain]);
    out.push(Scope::Total, "all", fair());
    for class in &plan.classes {
        out.push(Scope::Class, class, fair());
    }
    for dscp in dscps(plan) {
        out.push(Scope::Dscp, dscp.to_string(), Metric::metered());
    }
    for link in &plan.links {
        let averages = link.discipline.averages();
        for (leaf, averages) in link.discipline.leaf_names().iter().zip(averages) {
            let name = format!("{}/{leaf}", link.name);
            let average = averages.then_some(Metric::BacklogAverageMean);
            let queue = queue_metrics(plan.backlog_percentiles);
            let metrics = queue.chain(average).chain(drops());
            out.push(Scope::Queue, name, metrics);
        }
        let labels = plan.carries_labels(link);
        let metrics = LINK.into_iter();
        let label = labels.then_some(Metric::CarriedLabels);
        out.push(Scope::Link, &link.name, metrics.chain(label));
        for exp in 0..if labels { 8 } else { 0 } {
            out.push(Scope::Exp, format!("{}/{exp}", link.name), EXP);
        }
    }
    for (link, input) in inputs(plan) {
        for class in input.recipe.class_names() {
            out.push(Scope::Input, format!("{}/{class}", link.name), INPUT);
        }
    }
    precedence::layout(plan, &mut out);
    layout_of_nodes(plan, &mut out);
    for flow in &plan.flows {
        out.push(Scope::Flow, &*flow.name, Metric::metered());
    }
    for site in &plan.sites {
        out.push(Scope::Site, &site.name, Metric::metered());
    }
    for (scope, name, _) in tcp_groups(plan) {
        out.push(scope, name, TCP);
    }
    for flow in closed_loops(plan) {
        out.push(Scope::Flow, &*flow.name, TCP);
    }
    for (scope, name, _) in voice::groups(plan) {
        out.push(scope, name, voice::metrics(scope));
    }
    for group in admission::groups(plan) {
        out.push(group.scope, group.name, ADMISSION);
    }
    for (scope, name, _) in gaps::groups(plan) {
        out.push(scope, name, [gaps::METRIC]);
    }
    out
}

/// The links with a policy at their receiving end.
fn inputs(plan: &WorldPlan) -> impl Iterator<Item = (&LinkPlan, &InputPlan)> {
    let links = plan.links.iter();
    links.filter_map(|l| Some((l, l.input.as_deref()?)))
}

/// The closed-loop flows, in the order of their [`Transfers`].
fn closed_loops(plan: &WorldPlan) -> impl Iterator<Item = &FlowPlan> {
    plan.flows.iter().filter(|f| f.traffic.is_closed_loop())
}

/// The groups of TCP connections beside each connection: all, and each class that has some, with
/// the indexes of the connections.
fn tcp_groups(plan: &WorldPlan) -> Vec<(Scope, &str, Vec<usize>)> {
    let members = |wanted: &dyn Fn(&FlowPlan) -> bool| {
        let connections = closed_loops(plan).enumerate();
        connections
            .filter(|(_, f)| wanted(f))
            .map(|(c, _)| c)
            .collect()
    };
    let mut groups = vec![(Scope::Total, "all", members(&|_| true))];
    for (class, name) in plan.classes.iter().enumerate() {
        let of_class = members(&|f| usize::from(f.class) == class);
        groups.push((Scope::Class, name, of_class));
    }
    for site in &plan.sites {
        groups.push((Scope::Site, &site.name, members(&|f| site.has(f))));
    }
    groups.retain(|(_, _, members): &(_, _, Vec<usize>)| !members.is_empty());
    groups
}

/// The code points of the sources, ascending.
fn dscps(plan: &WorldPlan) -> Vec<Dscp> {
    let mut seen = [false; 64];
    plan.flows
        .iter()
        .for_each(|f| seen[usize::from(f.dscp.value())] = true);
    (0..64)
        .filter(|&v| seen[usize::from(v)])
        .filter_map(Dscp::new)
        .collect()
}

impl Outcome {
    #[allow(clippy::too_many_arguments, reason = "all that a run has measured")]
    pub(crate) fn collect<'a>(
        plan: &WorldPlan,
        window: Window,
        now: Time,
        meters: &[FlowMeter],
        (links, fifos): (&[Link], &[FifoQueue]),
        labels: impl Iterator<Item = &'a LabelMeter>,
        mut inputs: impl Iterator<Item = &'a InputMeter>,
        (colored, marked): (&[Colored], Option<&Marked>),
        nodes: Option<&Nodes>,
        transfers: &[Transfers],
        admissions: Vec<Admission>,
        gaps: Option<&Gaps>,
    ) -> Self {
        let period = window.len();
        // With many flows this takes most of the memory: reserve no more than needed.
        let per_flow = Metric::metered().count() * meters.len() + TCP.len() * transfers.len();
        let per_queue = QUEUE.len() + 1 + DropReason::ALL.len();
        let queues = plan.links.iter().map(|l| l.discipline.leaf_names().len());
        let of_links = queues.sum::<usize>() * per_queue + LINK.len() * plan.links.len();
        // One value too many would double the allocation.
        let groups = 64 * (dscps(plan).len() + 2 + plan.classes.len() + plan.sites.len());
        let mut values = Values::with_capacity(per_flow + of_links + groups);
        let mut labels = labels;
        let mut group = |members: &[&FlowMeter], fair: bool| {
            let mut sum = FlowMeter::new(members.first().map_or(MERGED_BITS, |m| m.delay.bits()));
            members.iter().for_each(|m| sum.merge(m));
            metered(&mut values, &sum, plan);
            if fair {
                let rates = members.iter().map(|m| m.arrived.bytes());
                values.push(or_nan(jain(rates)));
            }
            sum.delay
        };
        let of = |wanted: &dyn Fn(&FlowPlan) -> bool| -> Vec<&FlowMeter> {
            plan.flows
                .iter()
                .zip(meters)
                .filter(|(f, _)| wanted(f))
                .map(|(_, m)| m)
                .collect()
        };
        group(&of(&|_| true), true);
        let class_delays = (0..plan.classes.len())
            .map(|class| group(&of(&|f| usize::from(f.class) == class), true))
            .collect();
        for dscp in dscps(plan) {
            group(&of(&|f| f.dscp == dscp), false);
        }
        for (link, link_plan) in links.iter().zip(&plan.links) {
            let queues = link.queues_at(fifos, window, now);
            for (queue, averages) in queues.iter().zip(link_plan.discipline.averages()) {
                queue_values(&mut values, queue, averages, window);
            }
            let mut carried = Volume::default();
            queues.iter().for_each(|q| carried += q.carried);
            values.push(carried.rate(period));
            values.push(link.utilization(fifos, window, carried));
            if plan.carries_labels(link_plan) {
                if let Some(meter) = labels.next() {
                    let volumes = std::iter::once(meter.labels).chain(meter.carried);
                    values.extend(volumes.map(|v| v.rate(period)));
                }
            }
        }
        for (_, input) in self::inputs(plan) {
            for meter in inputs.by_ref().take(input.recipe.class_names().count()) {
                let volumes = [meter.offered, meter.carried, meter.marked];
                values.extend(volumes.map(|v| v.rate(period)));
                values.push(meter.lost as f64);
            }
        }
        let precedences = |link: usize| links[link].precedences_at(fifos, window, now);
        precedence::values(plan, window, colored, precedences, marked, &mut values);
        if let Some(nodes) = nodes {
            nodes.values(now.min(window.end()), &mut values);
        }
        for meter in meters {
            metered(&mut values, meter, plan);
        }
        for site in &plan.sites {
            let mut sum = FlowMeter::new(meters.first().map_or(MERGED_BITS, |m| m.delay.bits()));
            let flows = plan.flows.iter().zip(meters);
            flows
                .filter(|(f, _)| site.has(f))
                .for_each(|(_, m)| sum.merge(m));
            metered(&mut values, &sum, plan);
        }
        for (_, _, members) in tcp_groups(plan) {
            tcp_values(&mut values, members.iter().map(|&c| &transfers[c]), plan);
        }
        for connection in transfers {
            tcp_values(&mut values, [connection], plan);
        }
        voice::values(&mut values, plan, meters);
        admission::values(&mut values, plan, &admissions, window);
        if let Some(gaps) = gaps {
            gaps.values(&mut values, plan, meters);
        }
        Self {
            values: values.all,
            bounds: values.bounds,
            class_delays,
            series: Vec::new(),
            draining: Vec::new(),
            unsettled: Vec::new(),
            admissions,
            digest: String::new(),
            events: 0,
            packets: 0,
        }
    }

    pub(crate) fn with_run(
        mut self,
        digest: String,
        events: u64,
        packets: u64,
        series: Vec<Curve>,
        draining: Vec<Draining>,
        unsettled: Vec<Unsettled>,
    ) -> Self {
        self.digest = digest;
        self.events = events;
        self.packets = packets;
        self.series = series;
        self.draining = draining;
        self.unsettled = unsettled;
        self
    }
}

fn or_nan(x: Option<f64>) -> f64 {
    x.unwrap_or(f64::NAN)
}

/// Values in the order of [`Metric::metered`].
fn metered(out: &mut Values, meter: &FlowMeter, plan: &WorldPlan) {
    for metric in Metric::metered() {
        let Some(value) = metric.of_meter(meter, plan.duration) else {
            continue;
        };
        out.push_within(value, metric.bounds_of_meter(meter, plan.grace));
    }
}

/// Values in the order of [`TCP`].
fn tcp_values<'a>(
    out: &mut Values,
    members: impl IntoIterator<Item = &'a Transfers>,
    plan: &WorldPlan,
) {
    let (mut counts, mut times) = (Counts::default(), None);
    let mut totals = [0; 4];
    for t in members {
        counts.add(t.within());
        for (sum, n) in totals.iter_mut().zip(t.totals()) {
            *sum += n;
        }
        match &mut times {
            None => times = Some(t.times()),
            Some(all) => t.add_times(all),
        }
    }
    let Some(times) = times else { return };
    let [begun, done, failed, refused] = totals;
    out.extend([
        counts.arrived.rate(plan.duration),
        counts.retransmits as f64,
        counts.timeouts as f64,
        begun as f64,
        done as f64,
        failed as f64,
        refused as f64,
    ]);
    let unknown = Unknown {
        open: begun.saturating_sub(done).saturating_sub(failed),
        failed,
        least: plan.grace,
    };
    out.push_within(or_nan(times.mean()), unknown.mean(&times));
    for q in [0.5, 0.95, 0.99] {
        out.push_within(or_nan(times.quantile(q)), unknown.quantile(&times, q));
    }
}

/// The metrics of a queue, where percentiles of its backlog are measured or not.
pub(crate) fn queue_metrics(backlog_percentiles: bool) -> impl Iterator<Item = Metric> {
    let all = QUEUE.into_iter();
    all.filter(move |m| backlog_percentiles || m.needs() != Some(Needs::Percentiles))
}

/// Values in the order of [`queue_metrics`], then the mean average if there is one, then the drops.
fn queue_values(out: &mut Values, q: &QueueMeter, averages: bool, window: Window) {
    out.extend(waited(q, window).map(|(_, value)| value));
    out.extend(averages.then(|| q.averages.mean()));
    out.extend(DropReason::ALL.map(|r| q.lost.of(r) as f64));
}

/// Values in the order of [`queue_metrics`].
pub(crate) fn waited(q: &QueueMeter, window: Window) -> impl Iterator<Item = (Metric, f64)> {
    let secs = window.len().as_secs_f64();
    let s = &q.sojourn;
    let (packets, bytes) = q.backlog_means(window);
    let ([packets_p50, packets_p95, packets_p99], [bytes_p50, bytes_p95, bytes_p99]) =
        q.backlog_percentiles([0.5, 0.95, 0.99], window);
    let (offered, lost) = (q.offered_packets as f64, q.lost.total() as f64);
    let values: [f64; QUEUE.len()] = [
        q.offered_bytes as f64 * 8.0 / secs,
        q.carried.rate(window.len()),
        offered,
        lost,
        lost / offered,
        q.marks_ce as f64,
        or_nan(s.mean()),
        or_nan(s.quantile(0.5)),
        or_nan(s.quantile(0.95)),
        or_nan(s.quantile(0.99)),
        or_nan(s.quantile(0.999)),
        or_nan(s.max().map(|t| t.as_secs_f64())),
        packets,
        packets_p50,
        packets_p95,
        packets_p99,
        q.max_packets as f64,
        bytes,
        bytes_p50,
        bytes_p95,
        bytes_p99,
        q.max_bytes as f64,
    ];
    let asked = q.asks_levels();
    let all = QUEUE.into_iter().zip(values);
    all.filter(move |(m, _)| asked || m.needs() != Some(Needs::Percentiles))
}
