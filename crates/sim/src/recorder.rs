//! Time series: backlogs, rates, windows, open sessions and flow admission, sampled at a fixed period.

use spillgate_core::{Dur, Time};
use spillgate_measure::Series;
use spillgate_measure::table::Metric;
use spillgate_scenario::plan::{Traffic, WorldPlan};

use crate::link::Link;
use crate::outcome::Curve;
use crate::port::{Line, Port};
use crate::session::Workload;
use crate::tcp::{Connection, NO_SESSION};

/// Connections whose windows are sampled, and workloads whose sessions are counted: the first so
/// many. More curves are no picture.
const WATCHED: usize = 20;

/// What is sampled of a link with flow admission.
const ADMISSION: [(&str, &str); 4] = [
    ("fair_rate", "b/s"),
    ("priority_load", "1"),
    ("flows_listed", "flows"),
    ("flows_blocked", "flows"),
];

/// Samples what the series are of.
pub(crate) struct SeriesRecorder {
    series: Series,
    /// What each column is: place, metric's name, unit.
    columns: Vec<(String, &'static str, &'static str)>,
    class_of_flow: Vec<u16>,
    last: Time,
    /// Bytes begun on each link, then bytes received in each class, at the previous sample.
    before: Vec<u64>,
    row: Vec<f64>,
}

impl SeriesRecorder {
    pub(crate) fn new(plan: &WorldPlan) -> Self {
        let mut columns = Vec::new();
        for link in &plan.links {
            let averages = link.discipline.averages();
            for (leaf, averages) in link.discipline.leaf_names().iter().zip(averages) {
                let place = format!("{}/{leaf}", link.name);
                columns.push((place.clone(), "backlog_packets", "packets"));
                columns.push((place.clone(), "backlog_bytes", "B"));
                if averages {
                    columns.push((place, "backlog_average", "packets"));
                }
            }
        }
        for link in &plan.links {
            columns.push((format!("link {}", link.name), Metric::Carried.name(), "b/s"));
        }
        for class in &plan.classes {
            columns.push((format!("class {class}"), Metric::Throughput.name(), "b/s"));
        }
        // In the order in which the world has connections and workloads.
        let named = |wanted: fn(&Traffic) -> bool| {
            let flows = plan.flows.iter().filter(move |f| wanted(&f.traffic));
            flows.take(WATCHED).map(|f| &f.name)
        };
        for flow in named(|t| matches!(t, Traffic::Tcp { .. })) {
            columns.push((format!("flow {flow}"), "cwnd", "B"));
            columns.push((format!("flow {flow}"), "srtt", "s"));
        }
        for flow in named(|t| matches!(t, Traffic::Sessions(_))) {
            columns.push((format!("sessions {flow}"), "sessions_open", "sessions"));
        }
        for link in plan.links.iter().filter(|l| l.discipline.admits()) {
            for (metric, unit) in ADMISSION {
                columns.push((format!("link {}", link.name), metric, unit));
            }
        }
        let names = columns.iter().map(|c| c.0.clone()).collect();
        Self {
            series: Series::new(Time::ZERO + plan.interval, plan.interval, names),
            class_of_flow: plan.flows.iter().map(|f| f.class).collect(),
            last: Time::ZERO,
            before: vec![0; plan.links.len() + plan.classes.len()],
            row: Vec::with_capacity(columns.len()),
            columns,
        }
    }

    /// When the last sample was taken, the start of the run if there is none.
    pub(crate) fn last(&self) -> Time {
        self.last
    }

    /// Takes a sample; the connections of the plan's flows come first in `tcp`.
    pub(crate) fn sample(
        &mut self,
        now: Time,
        links: &[Link],
        lines: &mut [Line],
        received: &[u64],
        tcp: &[Connection],
        workloads: &[Workload],
    ) {
        let step = now.since(self.last).as_secs_f64();
        self.last = now;
        self.row.clear();
        for link in links {
            match &link.port {
                Port::Fifo(_) => {
                    let (packets, bytes) = link.backlog(lines, now);
                    self.row.extend([f64::from(packets), bytes as f64]);
                }
                Port::Queued(port) => {
                    for leaf in 0..port.discipline.leaves().len() {
                        let g = port.discipline.gauges(leaf);
                        self.row
                            .extend([f64::from(g.backlog_packets), g.backlog_bytes as f64]);
                        self.row.extend(g.average_queue);
                    }
                }
            }
        }
        let mut bytes = vec![0; self.before.len()];
        let (of_links, of_classes) = bytes.split_at_mut(links.len());
        for (total, link) in of_links.iter_mut().zip(links) {
            *total = link.begun_bytes(lines, now);
        }
        for (class, received) in self.class_of_flow.iter().zip(received) {
            of_classes[usize::from(*class)] += received;
        }
        let rates = bytes
            .iter()
            .zip(&self.before)
            .map(|(now, before)| (now - before) as f64 * 8.0 / step);
        self.row.extend(rates);
        self.before = bytes;
        let connections = tcp.iter().filter(|c| c.session == NO_SESSION);
        for c in connections.take(WATCHED) {
            let open = now >= c.start && !c.is_over();
            let or_nan = |x: Option<f64>| x.filter(|_| open).unwrap_or(f64::NAN);
            self.row.extend([
                or_nan(Some(c.sender.cwnd() as f64)),
                or_nan(c.sender.srtt().map(Dur::as_secs_f64)),
            ]);
        }
        let open = workloads.iter().take(WATCHED).map(|w| w.open() as f64);
        self.row.extend(open);
        for link in links.iter() {
            let Port::Queued(port) = &link.port else {
                continue;
            };
            if let Some(state) = port.discipline.admission(now) {
                let lists = [state.listed, state.blocked].map(f64::from);
                self.row.extend([state.fair_rate, state.priority_load]);
                self.row.extend(lists);
            }
        }
        self.series.push(self.row.iter().copied());
    }

    /// The series so far.
    pub(crate) fn curves(&self) -> Vec<Curve> {
        let t: Vec<f64> = self.series.times().map(Time::as_secs_f64).collect();
        let values = self.series.columns().map(|(_, v)| v.to_vec());
        self.columns
            .iter()
            .zip(values)
            .map(|((place, metric, unit), v)| Curve {
                place: place.clone(),
                metric,
                unit,
                t: t.clone(),
                v,
            })
            .collect()
    }
}
