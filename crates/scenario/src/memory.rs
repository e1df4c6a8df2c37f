//! The memory of a plan, before anything runs: an upper bound, by which runs are refused, and a
//! likely value for people.

use std::sync::Arc;

use spillgate_core::{Dur, Packet, Rate};
use spillgate_endpoints::source::{Envelope, Source};

use crate::codes;
use crate::error::Diagnostic;
use crate::plan::{
    FailurePlan, FlowPlan, LinkPlan, NO_POLICY, Plan, ReplayPlan, Traffic, WorldPlan,
};

impl Plan {
    /// A generous upper bound, in bytes, of the memory that the whole campaign needs with `threads`
    /// runs at a time: the plan itself, the worlds that run, and the results that are kept of every
    /// finished run. Every queue is full, and packets are as short as they can be.
    pub fn memory_bytes(&self, threads: usize) -> u64 {
        self.memory(threads, WorldPlan::running_bytes, WorldPlan::result_bytes)
    }

    /// The memory that the campaign is likely to need, in bytes: within a factor of 2 for common
    /// scenarios (`crates/sim/tests/memory.rs`).
    pub fn memory_estimate(&self, threads: usize) -> u64 {
        let likely = self.memory(threads, WorldPlan::likely_bytes, WorldPlan::likely_results);
        likely.min(self.memory_bytes(threads))
    }

    fn memory(
        &self,
        threads: usize,
        running: fn(&WorldPlan) -> u64,
        result: fn(&WorldPlan) -> u64,
    ) -> u64 {
        let runs = u64::from(self.runs);
        let (mut largest, mut plan, mut kept) = (0_u64, 0_u64, 0_u64);
        for v in &self.variants {
            largest = largest.max(running(&v.world));
            plan = plan.saturating_add(v.world.plan_bytes());
            kept = kept.saturating_add(result(&v.world).saturating_mul(runs));
        }
        // More threads than runs stay idle.
        let all_runs = runs.saturating_mul(self.variants.len() as u64);
        let at_once = (threads.max(1) as u64).min(all_runs.max(1));
        largest
            .saturating_mul(at_once)
            .saturating_add(plan)
            .saturating_add(kept)
    }

    /// The error to report before starting if `available` bytes are not enough
    /// for `threads` runs at a time; none if they are.
    pub fn check_memory(&self, threads: usize, available: u64) -> Option<Diagnostic> {
        let needed = self.memory_bytes(threads);
        if needed <= available {
            return None;
        }
        let alone = self.memory_bytes(1);
        let hint = if alone <= available {
            format!(
                "run fewer at a time: one at a time needs about {}",
                gigabytes(alone)
            )
        } else {
            format!(
                "use fewer flows, fewer runs, smaller queues, a smaller `active` or a longer interval; \
                 it is likely to need about {}: --ignore-memory starts all the same",
                gigabytes(self.memory_estimate(threads))
            )
        };
        let message = format!(
            "may need {}, the machine has {}",
            gigabytes(needed),
            gigabytes(available)
        );
        Some(Diagnostic::error(codes::MEMORY, message).hint(hint))
    }
}

/// Meters, histograms and source of one flow, in bytes; measured values are below.
const PER_FLOW: u64 = 4096;
/// Both ends of a TCP connection with some hundreds of segments on the way.
const PER_CONNECTION: u64 = 32 * 1024;
/// Both ends of a session, most of which are short.
const PER_SESSION: u64 = 4 * 1024;
/// The read-ahead of a capture.
const PER_REPLAY: u64 = 512 * 1024;
/// A five-tuple of a capture, which has no meters of its own.
const PER_REPLAYED: u64 = 192;
/// Meters and histograms of one queue, or of one class.
const PER_METER: u64 = 64 * 1024;
/// Meters and histograms of a port without a policy, whose delays are short or equal.
const PER_PLAIN_METER: u64 = 16 * 1024;
/// A link, without its queues.
const PER_LINK: u64 = 2048;
/// A flow, a queue or a link in the results of a run.
const KEPT: u64 = 512;
/// How much earlier than a link's delay its arriving packets may have been sent.
const BEHIND: Dur = Dur::from_secs(1);
/// The most that a discipline takes beside its packets: tables of flows and buckets.
const PER_DISCIPLINE: u64 = 64 << 20;
/// The most connections and workloads that have time series.
const WATCHED: u64 = 20;
/// One sample of a time series.
const PER_POINT: u64 = 16;

impl WorldPlan {
    /// The error to report before further points are made, if `available` bytes are not enough for
    /// `points` like this one and their results; none if they are.
    pub(crate) fn check_points(
        &self,
        points: usize,
        runs: u32,
        available: u64,
    ) -> Option<Diagnostic> {
        let kept = self.result_bytes().saturating_mul(runs.into());
        let each = self.plan_bytes().saturating_add(kept);
        let needed = each.saturating_mul(points as u64);
        (needed > available).then(|| {
            let message = format!(
                "needs about {} for {points} points, the machine has {}",
                gigabytes(needed),
                gigabytes(available)
            );
            Diagnostic::error(codes::MEMORY, message).hint(
                "leave out values, or make several studies; --ignore-memory starts all the same",
            )
        })
    }

    /// The number of queues of links with a policy, and of links without.
    fn queues(&self) -> (u64, u64) {
        self.links
            .iter()
            .fold((0, 0), |(with, without), l| match l.policy.as_str() {
                NO_POLICY => (with, without + 1),
                _ => (with + l.discipline.leaf_names().len() as u64, without),
            })
    }

    /// Worlds with many queues keep coarser histograms of each: how often their size is halved.
    pub(crate) fn coarser(&self) -> u32 {
        let (with, without) = self.queues();
        match with + without {
            0..=256 => 0,
            257..=2048 => 1,
            _ => 3,
        }
    }

    /// The captures of the flows, each once.
    fn replays(&self) -> impl Iterator<Item = &ReplayPlan> {
        let mut last: Option<&Arc<ReplayPlan>> = None;
        self.flows.iter().filter_map(move |f| match &f.traffic {
            Traffic::Replay(r) if !last.is_some_and(|l| Arc::ptr_eq(l, r)) => {
                last = Some(r);
                Some(&**r)
            }
            _ => None,
        })
    }

    /// Flows of the packets of captures.
    fn replayed_flows(&self) -> usize {
        self.replays().map(|r| r.survey.flows.entries().len()).sum()
    }

    pub(crate) fn points(&self) -> u64 {
        let of_link = |id: &u32| {
            let l = &self.links[*id as usize];
            let gauges = l.discipline.gauges();
            // Backlogs, drops and delay, then what AQMs and buckets show.
            let shown = gauges.iter().map(|g| {
                let averages = [g.average_queue, g.average_bytes];
                4 + averages.iter().flatten().count() + g.state.len()
            });
            let inputs = self
                .stages
                .input(*id)
                .map_or(0, |i| i.recipe.tokens().len());
            shown.sum::<usize>() + l.discipline.tokens().len() + inputs
        };
        let queues: usize = self.watched.iter().map(of_link).sum();
        let nodes = self.watched_nodes.iter();
        let nodes = nodes.map(|h| self.holding[*h as usize].declared.series);
        let nodes: usize = nodes.sum();
        let (mut connections, mut workloads) = (0_u64, 0_u64);
        for f in &self.flows {
            connections += u64::from(matches!(f.traffic, Traffic::Tcp { .. }));
            workloads += u64::from(matches!(f.traffic, Traffic::Sessions(_)));
        }
        let series = (queues + nodes + self.watched.len() + self.classes.len()) as u64
            + 2 * connections.min(WATCHED)
            + workloads.min(WATCHED);
        // Series begin with the run, not with the measured period.
        let period = (self.warmup + self.duration).as_ps();
        let per_series = period / self.interval.as_ps().max(1) + 1;
        series.saturating_mul(per_series)
    }

    /// The load of each link in bits per second, as far as the paths of its flows let it through. A
    /// TCP connection counts with its share of each link, since not all connections can have the
    /// whole.
    pub(crate) fn loads(&self) -> Vec<u64> {
        let routes = || {
            let of = |f: &FlowPlan| [Some(f.route), f.back].into_iter().flatten();
            self.flows.iter().flat_map(move |f| {
                of(f).map(|r| (&self.routes[r as usize], f.traffic.is_closed_loop()))
            })
        };
        let mut users = vec![0_u64; self.links.len()];
        for (route, _) in routes() {
            route.iter().for_each(|l| users[*l as usize] += 1);
        }
        let mut loads = vec![0_u64; self.links.len()];
        for (route, shares) in routes() {
            let rate = |l: &u32| {
                let (rate, users) = (self.links[*l as usize].rate.bps(), users[*l as usize]);
                if shares { rate / users.max(1) } else { rate }
            };
            let through = route.iter().map(rate).min().unwrap_or(0);
            for l in route {
                let load = &mut loads[*l as usize];
                *load = load
                    .saturating_add(through)
                    .min(self.links[*l as usize].rate.bps());
            }
        }
        loads
    }

    /// For each link, a bound that its senders together hardly ever exceed; none if their traffic
    /// depends on the network or comes from a capture.
    fn sent(&self) -> Vec<Option<Sent>> {
        let none = Sent {
            envelope: Envelope {
                rate: 0.0,
                burst: 0.0,
            },
            least: u16::MAX,
        };
        let mut sent = vec![Some(none); self.links.len()];
        for flow in &self.flows {
            let more = match &flow.traffic {
                // The switch decides when a backlogged source sends.
                Traffic::Source(_) if flow.traffic.is_backlogged() => None,
                Traffic::Source(source) => {
                    let whole = Source::envelope(source);
                    let envelope = Envelope {
                        rate: whole.rate * flow.share(),
                        ..whole
                    };
                    let least = Source::shortest(source);
                    Some(Sent { envelope, least })
                }
                Traffic::Tcp { .. } | Traffic::Sessions(_) | Traffic::Replay(_) => None,
            };
            let mut add = |l: usize| {
                sent[l] = sent[l].zip(more).map(|(sum, more)| Sent {
                    envelope: Envelope {
                        rate: sum.envelope.rate + more.envelope.rate,
                        burst: sum.envelope.burst + more.envelope.burst,
                    },
                    least: sum.least.min(more.least),
                });
            };
            if self.failures.is_empty() {
                for route in [Some(flow.route), flow.back].into_iter().flatten() {
                    for l in &self.routes[route as usize] {
                        add(*l as usize);
                    }
                }
            } else {
                // After a failure the flow may take any link.
                (0..self.links.len()).for_each(add);
            }
        }
        sent
    }

    /// Bytes of one running world at most, with every queue full, by estimate.
    pub fn running_bytes(&self) -> u64 {
        let flows = self.flows.len() + self.replayed_flows();
        let in_flight = |l: &LinkPlan, load: u64, sent: Option<Sent>| {
            let fits = Rate::from_bps(load).map_or(0, |r| r.bytes_in(l.delay));
            // Packets that have waited before arrive faster than they were sent.
            let most = fits.min(most_bytes(sent, l.delay.saturating_add(BEHIND)));
            records(most, least_of(sent))
        };
        let whole = self.warmup.saturating_add(self.duration);
        let waiting = |l: &LinkPlan, sent: Option<Sent>| {
            let ring = u64::from(l.tx_ring.packets - 1) * size_of::<(Packet, Dur)>() as u64;
            let full = growing(l.discipline.memory_bytes(flows).saturating_add(ring));
            let came = records(most_bytes(sent, whole), least_of(sent));
            full.min(came.saturating_add(PER_DISCIPLINE))
        };
        let sent = self.sent();
        let in_nodes = self.holding.iter().map(|h| {
            let full = h.plan.memory_bytes(flows, self.routes.len());
            let inputs = h.declared.inputs.iter();
            let come = inputs.map(|l| most_bytes(sent[*l as usize], whole));
            match come.reduce(u64::saturating_add) {
                Some(come) => full.min(records(come, ANY).saturating_add(PER_DISCIPLINE)),
                None => full,
            }
        });
        let in_nodes = in_nodes.fold(0, u64::saturating_add);
        let links = self.links.iter().zip(self.loads()).zip(sent);
        let queues = links.fold(0_u64, |sum, ((l, load), sent)| {
            sum.saturating_add(waiting(l, sent))
                .saturating_add(in_flight(l, load, sent))
        });
        let (with, without) = self.queues();
        let coarser = self.coarser();
        let connections = self.flows.iter().map(|f| match &f.traffic {
            Traffic::Source(_) | Traffic::Replay(_) => 0,
            Traffic::Tcp { .. } => PER_CONNECTION,
            Traffic::Sessions(s) => u64::from(s.active) * PER_SESSION,
        });
        queues
            .saturating_add(in_nodes)
            .saturating_add((self.flows.len() as u64).saturating_mul(PER_FLOW))
            .saturating_add(self.replayed_flows() as u64 * PER_REPLAYED)
            .saturating_add(self.replays().count() as u64 * PER_REPLAY)
            .saturating_add(connections.sum())
            .saturating_add(with.saturating_mul(PER_METER >> coarser))
            .saturating_add(without.saturating_mul(PER_PLAIN_METER >> coarser))
            .saturating_add(self.links.len() as u64 * PER_LINK)
            .saturating_add(self.result_bytes())
    }

    /// Bytes of the plan, which all runs share.
    fn plan_bytes(&self) -> u64 {
        let flow = size_of::<FlowPlan>() as u64 + 128;
        let link = size_of::<LinkPlan>() as u64 + 512;
        let routes: usize = self.routes.iter().map(|r| 16 + 4 * r.len()).sum();
        let failures = self.failures.len() * size_of::<FailurePlan>();
        let surveys: u64 = self.replays().map(|r| r.survey.flows.memory_bytes()).sum();
        surveys
            + self.flows.len() as u64 * flow
            + self.links.len() as u64 * link
            + (routes + failures + 64 * self.nodes.len()) as u64
    }

    /// Bytes of the results of one run.
    fn result_bytes(&self) -> u64 {
        let (with, without) = self.queues();
        let of_switches = self
            .switches()
            .map(|s| s.voqs().count() / 4 + s.recipe.ports());
        let of_switches = of_switches.sum::<usize>() as u64;
        let links = self.links.len() as u64;
        let kept = self.flows.len() as u64 + with + without + links + of_switches;
        let classes = self.classes.len() as u64;
        kept.saturating_mul(KEPT)
            .saturating_add(classes.saturating_mul(PER_METER))
            .saturating_add(self.points().saturating_mul(PER_POINT))
    }
}

/// A bound on the traffic of the senders over a link, and the length of their shortest packets in
/// bytes.
#[derive(Clone, Copy)]
struct Sent {
    envelope: Envelope,
    least: u16,
}

/// The shortest IP packet, in bytes.
const ANY: u16 = 20;

fn least_of(sent: Option<Sent>) -> u16 {
    sent.map_or(ANY, |s| s.least)
}

/// Records of so many bytes of packets: each has 48 B or a little more, in rings that double and,
/// while they grow, exist twice.
fn records(bytes: u64, least: u16) -> u64 {
    (bytes / u64::from(least.max(ANY))).saturating_mul(160)
}

/// A full ring doubles, and its old half exists until the copy is made.
pub(crate) fn growing(bytes: u64) -> u64 {
    bytes.saturating_add(bytes / 2)
}

/// The most bytes that arrive within a time.
fn most_bytes(sent: Option<Sent>, within: Dur) -> u64 {
    // Beyond the range of the type it is the type's largest.
    sent.map_or(u64::MAX, |s| {
        ((s.envelope.rate * within.as_secs_f64() + s.envelope.burst) / 8.0) as u64
    })
}

/// Bytes for people: three digits.
pub(crate) fn gigabytes(bytes: u64) -> String {
    spillgate_core::show::rough(bytes as f64, "B")
}
