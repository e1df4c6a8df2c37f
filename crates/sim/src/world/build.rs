//! The world at time 0.

use std::sync::Arc;

use spillgate_core::rng::{hash_bytes, mix};
use spillgate_core::{Drops, Dur, Ecn, Facts, FlowKey, Rng, Time};
use spillgate_endpoints::source::Source;
use spillgate_events::{EventSet, Rank};
use spillgate_measure::FlowMeter;
use spillgate_scenario::plan::{Application, FlowPlan, Traffic, WorldPlan};

use super::{ARRIVED, Counts, Edges, OpenLoop, Slots, World, histogram_bits};
use crate::flow::{Flow, NO_METER, Origin};
use crate::link::Link;
use crate::outcome::SeriesRecorder;
use crate::port::Port;
use crate::tcp::{Connection, Segments};
use crate::window::{Window, grace};

impl<S: EventSet> World<S> {
    /// The world of `plan` at time 0. With `observe` it also keeps time series.
    pub fn new(plan: &Arc<WorldPlan>, seed: u64, run: u32, observe: bool) -> Self {
        let keys = keys(plan);
        let window = Window::new(plan.warmup, plan.duration);
        let leaves = plan.links.iter().map(|l| l.discipline.leaf_names().len());
        let queue_bits = histogram_bits(leaves.sum());
        let mut links: Vec<Link> = plan
            .links
            .iter()
            .map(|l| Link::new(l, &keys, seed, run, queue_bits, window.start()))
            .collect();
        let routes = Paths::new(plan);
        // Which conversations of a hashing queue share a bucket is an accident of addresses and of
        // the router's hash function. Each run has another, so that intervals cover that luck.
        let salt = Rng::named(seed, run, "hash", "salt").u64();
        let salted = |key: &FlowKey| (mix(u64::from(key.hash()) ^ salt) >> 32) as u32;
        let mut flows = Vec::with_capacity(keys.len());
        let (mut tcp, mut sources) = (Vec::new(), Vec::new());
        for (i, (f, key)) in (0_u32..).zip(plan.flows.iter().zip(keys.iter())) {
            let name = format!("flows/{}", f.name);
            // Flows that start together may stay in step for ever.
            let mut rng = Rng::named(seed, run, &name, "start");
            let start = f.start + Dur::from_secs_f64(rng.f64() * f.start_spread.as_secs_f64());
            let origin = match &f.traffic {
                Traffic::Source(spec) => {
                    sources.push(OpenLoop {
                        source: Source::new(spec, start),
                        rng: Rng::named(seed, run, &name, "source"),
                        next_len: 0,
                        stop: f.stop,
                    });
                    Origin::Open(sources.len() as u32 - 1)
                }
                Traffic::Tcp {
                    config,
                    application,
                } => {
                    let bytes = match application {
                        Application::Bytes(n) => Some(*n),
                        Application::Greedy | Application::Source(_) => None,
                    };
                    let acknowledgments = (plan.flows.len() + tcp.len()) as u32;
                    tcp.push(Connection::new(config, bytes, start, i, acknowledgments));
                    Origin::Data(tcp.len() as u32 - 1)
                }
                Traffic::Sessions(s) => {
                    let acknowledgments = (plan.flows.len() + tcp.len()) as u32;
                    tcp.push(Connection::new(&s.config, None, start, i, acknowledgments));
                    Origin::Data(tcp.len() as u32 - 1)
                }
            };
            flows.push(Flow {
                origin,
                meter: i,
                begin: routes.begin(f.route),
                hash: salted(key),
                seq: 0,
                dscp: f.dscp,
                ecn: f.ecn,
                wake: Time::MAX,
            });
        }
        for (c, (f, key)) in (0..).zip(connections(plan).zip(&keys[plan.flows.len()..])) {
            flows.push(Flow {
                origin: Origin::Acknowledgments(c),
                meter: NO_METER,
                begin: routes.begin(f.back.unwrap_or(f.route)),
                hash: salted(key),
                seq: 0,
                dscp: f.dscp,
                ecn: Ecn::NotEct,
                wake: Time::MAX,
            });
        }
        if !observe {
            // An observer wants to see the queues as they are at an instant.
            routes.mark_solo(&mut links);
        }

        let paths = paths(plan, &links);
        let pipes = flows.len() as u32;
        let ports = pipes + links.len() as u32;
        let observer = paths.len() as u32 - 1;
        let bits = histogram_bits(plan.flows.len());
        let mut world = Self {
            events: S::new(paths),
            now: Time::ZERO,
            meters: plan.flows.iter().map(|_| FlowMeter::new(bits)).collect(),
            received: if observe {
                vec![0; plan.flows.len()]
            } else {
                Vec::new()
            },
            tcp,
            sources,
            segments: Segments::default(),
            flows,
            hops: routes.hops,
            window,
            edges: Edges {
                next: window.start(),
                passed: 0,
            },
            give_up: window.end() + grace(plan),
            outstanding: 0,
            settled: Time::ZERO,
            drops: Drops::new(),
            facts: Facts::default(),
            counts: Counts::default(),
            slots: Slots {
                pipes,
                ports,
                observer,
                link_of_port: queued(&links).collect(),
            },
            series: observe.then(|| SeriesRecorder::new(plan)),
            links,
            plan: Arc::clone(plan),
        };
        for (port, link) in (0..).zip(&world.slots.link_of_port) {
            world.links[*link as usize].slot = ports + port;
        }
        for flow in 0..world.flows.len() {
            match world.flows[flow].origin {
                Origin::Open(source) => world.plan_emission(flow, source as usize),
                Origin::Data(c) => world.wake_sender(c as usize),
                Origin::Acknowledgments(_) => {}
            }
        }
        if world.series.is_some() {
            let first = Time::ZERO + plan.interval;
            world.events.schedule(observer, first, Rank::Observer);
        }
        world
    }
}

/// The flows of the plan that are connections.
fn connections(plan: &WorldPlan) -> impl Iterator<Item = &FlowPlan> {
    plan.flows.iter().filter(|f| f.traffic.is_closed_loop())
}

/// The addresses of every flow: those of the plan, then one for the acknowledgments of each
/// connection.
fn keys(plan: &WorldPlan) -> Arc<[FlowKey]> {
    let there = plan.flows.iter().map(|f| f.key);
    let back = connections(plan).map(|f| f.key.reversed());
    there.chain(back).collect()
}

/// The links whose ports have wakes.
fn queued(links: &[Link]) -> impl Iterator<Item = u32> {
    let is_queued = |(_, l): &(u32, &Link)| matches!(l.port, Port::Queued(_));
    (0..).zip(links).filter(is_queued).map(|(i, _)| i)
}

/// The hashed name of every slot of the event set.
fn paths(plan: &WorldPlan, links: &[Link]) -> Vec<u64> {
    let hashed = |path: String| hash_bytes(path.as_bytes());
    let mut paths = Vec::with_capacity(plan.flows.len() * 2 + links.len() * 2 + 1);
    paths.extend(
        plan.flows
            .iter()
            .map(|f| hashed(format!("flows/{}", f.name))),
    );
    paths.extend(connections(plan).map(|f| hashed(format!("flows/{}/ack", f.name))));
    let link = |i: usize, part: &str| hashed(format!("links/{}/{part}", plan.links[i].name));
    paths.extend((0..links.len()).map(|i| link(i, "pipe")));
    paths.extend(queued(links).map(|i| link(i as usize, "port")));
    paths.push(hash_bytes(b"observer"));
    paths
}

/// The paths of the plan, one after the other.
struct Paths {
    hops: Vec<u32>,
    /// Where each path begins.
    begins: Vec<u32>,
}

impl Paths {
    fn new(plan: &WorldPlan) -> Self {
        let (mut hops, mut begins) = (Vec::new(), Vec::new());
        for route in &plan.routes {
            begins.push(hops.len() as u32);
            hops.extend_from_slice(route);
            hops.push(ARRIVED);
        }
        Self { hops, begins }
    }

    /// Where path `route` begins.
    fn begin(&self, route: u32) -> u32 {
        self.begins[route as usize]
    }

    /// Marks the computed ports whose packets all come over one link. Departures there follow
    /// from those on the link before, so that a packet needs no wake in between.
    fn mark_solo(&self, links: &mut [Link]) {
        #[derive(Clone, Copy, PartialEq)]
        enum Feeder {
            None,
            Link(u32),
            Several,
        }
        let mut feeders = vec![Feeder::None; links.len()];
        let mut before = None;
        for &hop in &self.hops {
            if hop == ARRIVED {
                before = None;
                continue;
            }
            let feeder = &mut feeders[hop as usize];
            *feeder = match (*feeder, before) {
                (Feeder::None, Some(link)) => Feeder::Link(link),
                (Feeder::Link(known), Some(link)) if known == link => *feeder,
                _ => Feeder::Several,
            };
            before = Some(hop);
        }
        for (link, feeder) in links.iter_mut().zip(feeders) {
            link.solo = matches!(feeder, Feeder::Link(_)) && matches!(link.port, Port::Fifo(_));
        }
    }
}
