//! Time series: backlogs, rates, windows, open sessions and flow admission, sampled at a fixed
//! period.

use spillgate_core::{Dur, Time};
use spillgate_measure::{Sampled, Series};
use spillgate_queueing::Adapted;
use spillgate_scenario::plan::{Traffic, WorldPlan};

use crate::arrivals::Arrivals;
use crate::express::Lane;
use crate::link::Link;
use crate::outcome::Curve;
use crate::session::Workload;
use crate::tcp::Connection;

/// The largest number of connections whose congestion windows are sampled, and of workloads whose
/// sessions are counted; a figure cannot show more curves.
const MAX_CURVES: usize = 20;

/// The time series of an observed run of `plan`, in order: the place and what is sampled there.
pub fn sampled(plan: &WorldPlan) -> Vec<(String, Sampled)> {
    let mut columns = Vec::new();
    let links = || plan.watched.iter().map(|l| &plan.links[*l as usize]);
    for (number, link) in plan.watched.iter().zip(links()) {
        if plan.has_cell_port(*number) {
            columns.push((link.name.to_string(), Sampled::BacklogCells));
            continue;
        }
        let gauges = link.discipline.gauges();
        for (leaf, gauges) in link.discipline.leaf_names().iter().zip(gauges) {
            let place = format!("{}/{leaf}", link.name);
            columns.push((place.clone(), Sampled::BacklogPackets));
            columns.push((place.clone(), Sampled::BacklogBytes));
            if gauges.average_queue.is_some() {
                columns.push((place.clone(), Sampled::BacklogAverage));
            }
            columns.push((place.clone(), Sampled::DropRate));
            let adapted = adapted(gauges.adapted);
            columns.extend(adapted.map(|(sampled, _)| (place.clone(), sampled)));
        }
    }
    for link in links() {
        columns.push((format!("link {}", link.name), Sampled::Carried));
    }
    for class in &plan.classes {
        columns.push((format!("class {class}"), Sampled::Throughput));
    }
    for flow in named(plan, is_tcp) {
        columns.push((format!("flow {flow}"), Sampled::Cwnd));
        columns.push((format!("flow {flow}"), Sampled::Srtt));
    }
    for flow in named(plan, |t| matches!(t, Traffic::Sessions(_))) {
        columns.push((format!("sessions {flow}"), Sampled::SessionsOpen));
    }
    for link in links().filter(|l| l.discipline.admits()) {
        let state = [Sampled::FairRate, Sampled::PriorityLoad];
        let lists = [Sampled::FlowsListed, Sampled::FlowsBlocked];
        for sampled in state.into_iter().chain(lists) {
            columns.push((format!("link {}", link.name), sampled));
        }
    }
    for switch in &plan.watched_switches {
        let switch = &plan.switches[*switch as usize];
        for voq in switch.voqs() {
            columns.push((plan.name_of_voq(switch, voq), Sampled::VoqBacklog));
        }
    }
    columns
}

/// What an AQM sets by itself.
fn adapted(a: Adapted) -> impl Iterator<Item = (Sampled, f64)> {
    [
        (Sampled::AdaptedMaxP, a.max_p),
        (Sampled::AdaptedMaxTh, a.max_th),
        (Sampled::AdaptedLoss, a.loss),
        (Sampled::AdaptedReference, a.reference),
        (Sampled::AdaptedArrivalRate, a.arrival_rate),
    ]
    .into_iter()
    .filter_map(|(sampled, value)| Some((sampled, value?)))
}

/// Flows of a kind that are sampled, in the order of the connections and workloads of the world.
fn named(plan: &WorldPlan, wanted: fn(&Traffic) -> bool) -> impl Iterator<Item = &str> {
    let flows = plan.flows.iter().filter(move |f| wanted(&f.traffic));
    flows.take(MAX_CURVES).map(|f| &*f.name)
}

fn is_tcp(traffic: &Traffic) -> bool {
    matches!(traffic, Traffic::Tcp { .. })
}

/// Samples the time series of a run.
#[derive(Clone)]
pub(crate) struct SeriesRecorder {
    series: Series,
    /// The place of each column, and what is sampled there.
    columns: Vec<(String, Sampled)>,
    /// The links that are sampled, and whether each begins at an ATM switch.
    watched: Vec<(u32, bool)>,
    /// How many of the first connections are sampled.
    connections: usize,
    last: Time,
    /// Packets dropped by each of their queues, at the previous sample.
    dropped: Vec<u64>,
    /// Bytes begun on each of these links, then bytes received in each class, at the previous
    /// sample.
    before: Vec<u64>,
    row: Vec<f64>,
}

impl SeriesRecorder {
    pub(crate) fn new(plan: &WorldPlan) -> Self {
        let columns = sampled(plan);
        let names = columns.iter().map(|c| c.0.clone()).collect();
        Self {
            series: Series::new(Time::ZERO + plan.interval, plan.interval, names),
            watched: {
                let links = plan.watched.iter();
                links.map(|l| (*l, plan.has_cell_port(*l))).collect()
            },
            connections: named(plan, is_tcp).count(),
            last: Time::ZERO,
            dropped: plan
                .watched
                .iter()
                .filter(|l| !plan.has_cell_port(**l))
                .flat_map(|l| plan.links[*l as usize].discipline.leaf_names())
                .map(|_| 0)
                .collect(),
            before: vec![0; plan.watched.len() + plan.classes.len()],
            row: Vec::with_capacity(columns.len()),
            columns,
        }
    }

    /// When the last sample was taken; the start of the run before the first.
    pub(crate) fn last(&self) -> Time {
        self.last
    }

    /// Takes a sample; the connections of the plan's flows come first in `tcp`, and `cells` wait at the ports of ATM switches, `voqs` in
    /// the virtual output queues of the switches, that are sampled.
    pub(crate) fn sample(
        &mut self,
        now: Time,
        (links, lane): (&[Link], &mut Lane),
        arrivals: &Arrivals,
        tcp: &[Connection],
        workloads: &[Workload],
        (cells, voqs): (&[f64], &[f64]),
    ) {
        let step = now.since(self.last).as_secs_f64();
        self.last = now;
        self.row.clear();
        let watched = || self.watched.iter().map(|(l, _)| &links[*l as usize]);
        let mut cells = cells.iter();
        let mut dropped = self.dropped.iter_mut();
        let mut drop_rate = |total: u64| {
            let before = dropped.next().map_or(0, |b| std::mem::replace(b, total));
            (total - before) as f64 / step
        };
        let mut begun = Vec::new();
        for ((number, is_of_cells), link) in self.watched.iter().zip(watched()) {
            let sample = lane.sample(*number as usize, now);
            begun.push(sample.as_ref().map_or(link.meter.total_bytes, |s| s.begun));
            if *is_of_cells {
                self.row.extend(cells.next());
                continue;
            }
            if let Some(s) = sample {
                let (packets, bytes) = s.backlog;
                self.row.extend([f64::from(packets), bytes as f64]);
                self.row.extend(s.average);
                self.row.push(drop_rate(s.dropped));
                self.row.extend(adapted(s.adapted).map(|(_, value)| value));
            }
            let Some(port) = &link.port else { continue };
            for leaf in 0..port.discipline.leaves().len() {
                let g = port.discipline.gauges(leaf);
                let (packets, bytes) = port.backlog(leaf as u16);
                self.row.extend([packets as f64, bytes as f64]);
                self.row.extend(g.average_queue);
                self.row.push(drop_rate(port.queues[leaf].dropped()));
                self.row.extend(adapted(g.adapted).map(|(_, value)| value));
            }
        }
        let totals = begun.into_iter().chain(arrivals.bytes());
        for (total, before) in totals.zip(&mut self.before) {
            let bytes = total - std::mem::replace(before, total);
            self.row.push(bytes as f64 * 8.0 / step);
        }
        for c in &tcp[..self.connections] {
            let open = now >= c.start && !c.is_over();
            let or_nan = |x: Option<f64>| x.filter(|_| open).unwrap_or(f64::NAN);
            self.row.extend([
                or_nan(Some(c.sender.cwnd() as f64)),
                or_nan(c.sender.srtt().map(Dur::as_secs_f64)),
            ]);
        }
        let open = workloads.iter().take(MAX_CURVES).map(|w| w.open() as f64);
        self.row.extend(open);
        for link in watched() {
            let Some(port) = &link.port else {
                continue;
            };
            if let Some(state) = port.discipline.admission(now) {
                let lists = [state.listed, state.blocked].map(f64::from);
                self.row.extend([state.fair_rate, state.priority_load]);
                self.row.extend(lists);
            }
        }
        self.row.extend(voqs);
        self.series.push(self.row.iter().copied());
    }

    /// The series, one curve for each column.
    pub(crate) fn into_curves(self) -> Vec<Curve> {
        let (start, step) = (self.series.time(0), self.series.period());
        self.columns
            .into_iter()
            .zip(self.series.into_columns())
            .map(|((place, sampled), v)| Curve {
                place,
                metric: sampled.name(),
                unit: sampled.unit(),
                start,
                step,
                v,
            })
            .collect()
    }
}
