//! The world at time 0.

use std::collections::BTreeMap;
use std::sync::Arc;

use spillgate_core::rng::hash_bytes;
use spillgate_core::{Drops, Dur, Facts, FlowKey, Rng, Table, Time};
use spillgate_events::{EventSet, Rank};
use spillgate_measure::{FlowMeter, QueueMeter, Window};
use spillgate_nodes::server::ServerPlan;
use spillgate_queueing::{Discipline, SharedLists};
use spillgate_scenario::plan::{FlowPlan, LinkPlan, WorldPlan};

use super::Paths;
use super::choice::Engine;
use super::flows::FlowsBuilder;
use super::outstanding::Outstanding;
use super::{Counts, Edges, Slots, World, histogram_bits};
use crate::arrivals::Arrivals;
use crate::channel::Channel;
use crate::express::{Known, Lane, kept};
use crate::flow::Origin;
use crate::gaps::Gaps;
use crate::link::Link;
use crate::node::{self, Failures, Nodes, Routing, Stages, failing};
use crate::observe::SeriesRecorder;
use crate::pipes::Pipes;
use crate::port::Port;
use crate::precedence::{CodePoints, Marked, Precedences};
use crate::ring::Ring;
use crate::server::Serving;
use crate::tap::Tap;
use crate::tcp::Segments;
use crate::tokens::Tokens;

impl<S: EventSet> World<S> {
    /// The world of `plan` at time 0, on the express engine. With `observe` it also keeps time
    /// series.
    pub fn new(plan: &Arc<WorldPlan>, seed: u64, run: u32, observe: bool) -> Self {
        Self::build(plan, seed, run, observe, None, Engine::Express)
    }

    /// The world of `plan` at time 0, on this engine.
    pub fn on(engine: Engine, plan: &Arc<WorldPlan>, seed: u64, run: u32, observe: bool) -> Self {
        Self::build(plan, seed, run, observe, None, engine)
    }

    /// The world of `plan` at time 0, on the express engine, with a tap. Results and fingerprint
    /// are the same, but the run takes longer.
    pub fn tapped(
        plan: &Arc<WorldPlan>,
        seed: u64,
        run: u32,
        observe: bool,
        tap: Box<dyn Tap>,
    ) -> Self {
        Self::build(plan, seed, run, observe, Some(tap), Engine::Express)
    }

    fn build(
        plan: &Arc<WorldPlan>,
        seed: u64,
        run: u32,
        observe: bool,
        mut tap: Option<Box<dyn Tap>>,
        engine: Engine,
    ) -> Self {
        let window = Window::new(plan.warmup, plan.duration);
        let paths = Paths::new(plan);
        let mut flows = FlowsBuilder::new(plan, seed, run, window);
        flows.fill(&paths);
        let keys: Arc<[FlowKey]> = flows.keys.into();
        if let Some(tap) = &mut tap {
            tap.begin(&crate::observe::flow_infos(&flows.flows, &keys, &flows.tcp));
        }
        let leaves = plan.links.iter().map(|l| l.discipline.leaf_names().len());
        let empty = QueueMeter::of(
            window,
            histogram_bits(leaves.sum()),
            plan.backlog_percentiles,
        );
        let fails = failing(plan);
        // A tap sees every packet as it comes.
        let express = engine == Engine::Express && tap.is_none();
        let kept = match express {
            true => kept(plan, &fails),
            false => vec![false; plan.links.len()],
        };
        let points = Arc::new(CodePoints::of_queues(plan));
        let mut lists = SharedLists::new();
        let mut links = Table::with_capacity(plan.links.len());
        let facts = (0..).zip(kept.into_iter().zip(fails));
        links.extend(
            plan.links
                .iter()
                .zip(facts)
                .map(|(l, (number, (kept, fails)))| {
                    let discipline = || l.discipline.build_sharing(&keys, &mut lists);
                    let discipline = (!kept).then(discipline);
                    let port = discipline.map(|mut d| {
                        d.at_port(&l.name);
                        port(l, d, fails, &points, (seed, run), &empty)
                    });
                    Link::new(l, port, fails, plan.stages.act_at_port(number))
                }),
        );
        for (ports, weight) in plan.holding.iter().map(|h| &h.declared.upstream) {
            for link in ports {
                if let Some(port) = &mut links[*link as usize].port {
                    port.discipline.watch_upstream(*weight);
                }
            }
        }
        let own_pipes = links.len() as u32;
        let stages = Stages::new(plan, &plan.routes, &keys, (seed, run), tap.is_some());
        if stages.as_ref().is_some_and(Stages::note_arrivals) {
            let names = node::names(plan);
            for link in &mut links {
                if let Some(port) = &mut link.port {
                    port.discipline.attach_links(&names);
                }
            }
        }
        let known = Known {
            plan,
            run: (seed, run),
            paths: &paths,
            links: &links,
            flows: &flows.flows,
            keys: &keys,
            tcp: &flows.tcp,
            points: &points,
            meter: &empty,
            sampled: observe,
        };
        let lane = match express {
            false => Lane::closed(&links),
            true => Lane::new(&known),
        };
        let (fails, pipes) = (!plan.failures.is_empty(), lane.pipes() as u32);
        let first_pipe = flows.names.len() as u32;
        let ports = first_pipe + pipes;
        let names = slot_names(plan, flows.names, pipes, &links);
        // Timers seldom wake, and so do own pipes of links that share another pipe and use theirs
        // for overflow.
        let busy_from = first_pipe + if fails { 0 } else { own_pipes };
        let observer = names.len() as u32 - 1;
        let failures = observer - u32::from(fails);
        let bits = histogram_bits(plan.flows.len());
        let mut meters = Table::with_capacity(plan.flows.len());
        meters.extend(plan.flows.iter().map(|f| meter(f, bits)));
        let mut world = Self {
            events: S::new(names, busy_from),
            now: Time::ZERO,
            meters,
            arrivals: observe.then(|| Box::new(Arrivals::new(plan, window))),
            tokens: observe.then(|| Box::new(Tokens::new(plan))),
            gaps: Gaps::new(plan),
            tcp: flows.tcp,
            workloads: flows.workloads,
            sessions: flows.sessions,
            transfers: flows.transfers,
            sources: flows.sources,
            replays: flows.replays,
            fault: None,
            segments: Segments::default(),
            flows: flows.flows,
            pipes: Pipes::new(pipes as usize),
            lane,
            hops: paths.hops,
            failures: Failures::new(plan, seed, run, failures).map(Box::new),
            routing: Routing::new(plan).map(Box::new),
            stages: stages.map(Box::new),
            marked: Marked::new(plan, bits).map(Box::new),
            colored: Vec::new(),
            nodes: Nodes::new(plan, &keys, (seed, run), engine == Engine::Plain).map(Box::new),
            window,
            edges: Edges {
                next: window.start(),
                passed: 0,
            },
            outstanding: Outstanding::new(plan.flows.len()),
            longest: 0,
            transmissions_end: Time::MAX,
            inner: window.from(longest_arrival(plan)),
            arrived_until: BTreeMap::new(),
            last_known_loss: Time::ZERO,
            drops: Drops::new(),
            facts: Facts::default(),
            counts: Counts::default(),
            slots: Slots {
                pipes: first_pipe,
                ports,
                nodes: failures - Nodes::slots(plan).count() as u32,
                failures,
                observer,
                link_of_port: queued(&links).collect(),
            },
            admitting: (0..)
                .zip(&plan.links)
                .filter(|(_, l)| l.discipline.admits())
                .map(|(i, _)| i)
                .collect(),
            series: observe.then(|| SeriesRecorder::new(plan)),
            link_hashes: plan.links.iter().map(|l| link_hash(&l.name, "")).collect(),
            links,
            tap,
            plan: Arc::clone(plan),
        };
        let tapped = world.tap.is_some();
        for (port, link) in (0..).zip(&world.slots.link_of_port) {
            if let Some(queued) = &mut world.links[*link as usize].port {
                queued.settle(ports + port, tapped || plan.holding.follow(*link));
            }
        }
        for flow in 0..world.flows.len() {
            match world.flows[flow].origin {
                Origin::Open(source) => world.plan_emission(flow, source as usize),
                Origin::Workload(w) => world.plan_arrival(w as usize),
                Origin::Data(c) => world.wake_sender(c as usize),
                Origin::Replay(r) => world.plan_replay(r as usize),
                Origin::Acknowledgments(_) | Origin::Replayed => {}
            }
        }
        let delays: Vec<Dur> = plan.routes.iter().map(|r| plan.way(r)).collect();
        world.set_deadlines(&delays);
        world.plan_change();
        if world.series.is_some() {
            let first = Time::ZERO + plan.interval;
            world.events.schedule(observer, first, Rank::Observer);
            world.lane_samples(first);
        }
        world
    }
}

/// The port of a link that is up, with its discipline as it is built; `fails` if the link goes down
/// during the run.
fn port(
    plan: &LinkPlan,
    mut discipline: Discipline,
    fails: bool,
    points: &Arc<CodePoints>,
    (seed, run): (u64, u32),
    meter: &QueueMeter,
) -> Port {
    let path = format!("links/{}", plan.name);
    discipline.seed(&|class| Rng::named(seed, run, &path, &format!("police {class}")));
    let tells = plan.discipline.tells_precedences();
    let stream = |purpose: &str| Rng::named(seed, run, &path, purpose);
    let server = |plan: &Arc<ServerPlan>| Box::new(Serving::new(plan.build(&stream)));
    let leaves = discipline.leaves().len();
    Port {
        mtu: plan.mtu,
        discipline,
        rng: stream("queue"),
        free_at: Time::ZERO,
        wake: Time::MAX,
        special: false,
        down: false,
        underway: fails.then(Box::default),
        slot: u32::MAX,
        queues: vec![meter.clone(); leaves],
        precedences: Precedences::of_leaves(tells, points, meter.sojourn.bits()),
        server: plan.server.as_ref().map(server),
        channel: Channel::new(plan, seed, run).map(Box::new),
        ring: Ring::of(plan.tx_ring.packets, leaves),
    }
}

/// The longest sum, over all paths, of the transmission times of a packet on each link.
fn longest_arrival(plan: &WorldPlan) -> Dur {
    let tx = |l: &u32| {
        let link = &plan.links[*l as usize];
        let longest = u16::try_from(link.mtu).unwrap_or(u16::MAX);
        link.rate.tx_time(link.overhead.wire_len(longest))
    };
    let path = |links: &[u32]| links.iter().map(tx).fold(Dur::ZERO, |sum, tx| sum + tx);
    plan.routes
        .iter()
        .map(|r| path(r))
        .max()
        .unwrap_or(Dur::ZERO)
}

/// The meter of a flow.
fn meter(flow: &FlowPlan, bits: u8) -> FlowMeter {
    FlowMeter {
        voice: flow.voice.as_ref().map(|v| Box::new(v.listener())),
        ..FlowMeter::new(bits)
    }
}

/// The links whose ports serve packets one by one, and so have a slot.
fn queued(links: &[Link]) -> impl Iterator<Item = u32> {
    let is_queued = |(_, l): &(u32, &Link)| l.port.is_some();
    (0..).zip(links).filter(is_queued).map(|(i, _)| i)
}

/// The hashed name of a link or of a part of it.
fn link_hash(name: &str, part: &str) -> u64 {
    hash_bytes(format!("links/{name}{part}").as_bytes())
}

/// The hashed name of every slot of the event set, those of the flows first.
fn slot_names(plan: &WorldPlan, mut names: Vec<u64>, pipes: u32, links: &[Link]) -> Vec<u64> {
    names.reserve_exact(pipes as usize + queued(links).count() + Nodes::slots(plan).count() + 2);
    // A pipe wakes with the hash of the link of its first packet.
    names.extend((0..pipes).map(|_| 0));
    names.extend(queued(links).map(|i| link_hash(&plan.links[i as usize].name, "/port")));
    names.extend(Nodes::slots(plan));
    if !plan.failures.is_empty() {
        names.push(hash_bytes(b"failures"));
    }
    names.push(hash_bytes(b"observer"));
    names
}
