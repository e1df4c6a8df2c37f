//! The world at time 0.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use spillgate_core::rng::{hash_bytes, mix};
use spillgate_core::{Drops, Dur, Ecn, Facts, FlowKey, Rng, Time};
use spillgate_endpoints::tcp::TcpConfig;
use spillgate_endpoints::workload::SessionSpec;
use spillgate_events::{EventSet, Rank};
use spillgate_measure::FlowMeter;
use spillgate_scenario::plan::{Application, FlowPlan, ReplayPlan, Traffic, WorldPlan};

use super::ahead::is_large;
use super::failures::{Failures, failing};
use super::mpls::{Mpls, at_ports};
use super::{ARRIVED, Counts, Edges, ROUTED, Slots, World, histogram_bits};
use crate::flow::{Flow, NO_METER, OpenLoop, Origin};
use crate::link::{Link, Service};
use crate::port::Port;
use crate::recorder::SeriesRecorder;
use crate::replay::Capture;
use crate::session::{Session, Workload};
use crate::tap::Tap;
use crate::tcp::{Connection, Segments};
use crate::transfers::Transfers;
use crate::window::{Window, grace};
use crate::wires::Wires;

impl<S: EventSet> World<S> {
    /// The world of `plan` at time 0. With `observe` it also keeps time series.
    pub fn new(plan: &Arc<WorldPlan>, seed: u64, run: u32, observe: bool) -> Self {
        Self::build(plan, seed, run, observe, None)
    }

    /// The same with a tap: slower, of the same results and fingerprint.
    pub fn tapped(
        plan: &Arc<WorldPlan>,
        seed: u64,
        run: u32,
        observe: bool,
        tap: Box<dyn Tap>,
    ) -> Self {
        Self::build(plan, seed, run, observe, Some(tap))
    }

    fn build(
        plan: &Arc<WorldPlan>,
        seed: u64,
        run: u32,
        observe: bool,
        mut tap: Option<Box<dyn Tap>>,
    ) -> Self {
        let window = Window::new(plan.warmup, plan.duration);
        let paths = Paths::new(plan);
        let mut cast = Cast::new(plan, seed, run, window);
        cast.fill(&paths);
        let keys: Arc<[FlowKey]> = cast.keys.into();
        if let Some(tap) = &mut tap {
            tap.begin(&super::taps::cast(&cast.flows, &keys, &cast.tcp));
        }
        let leaves = plan.links.iter().map(|l| l.discipline.leaf_names().len());
        let queue_bits = histogram_bits(leaves.sum());
        let mut links: Vec<Link> = plan
            .links
            .iter()
            .zip(failing(plan))
            .map(|(l, fails)| {
                let service = Service::of(fails, tap.is_some());
                Link::new(l, service, &keys, seed, run, queue_bits)
            })
            .collect();
        let feeders = paths.feeders(&links);
        for ((link, own), labels) in links.iter_mut().zip(0..).zip(at_ports(plan)) {
            link.wire = own;
            link.labels = labels;
        }
        let own_wires = links.len() as u32;
        // What is lost on a link must be on its own wire, and must not have got further.
        let fails = !plan.failures.is_empty();
        let wires = if fails {
            own_wires
        } else {
            share_wires(&mut links, &feeders) as u32
        };
        // An observer wants to see the queues as they are at an instant.
        let ahead = !observe && !fails && tap.is_none();
        for (link, feeder) in links.iter_mut().zip(feeders) {
            link.solo = ahead && matches!(feeder, Feeder::Link(_));
        }
        let first_wire = cast.flows.len() as u32;
        let ports = first_wire + wires;
        let names = slot_names(plan, cast.names, wires, &links);
        // Timers, and wires that are only for what others have no place for, wake seldom.
        let busy_from = first_wire + if fails { 0 } else { own_wires };
        let observer = names.len() as u32 - 1;
        let bits = histogram_bits(plan.flows.len());
        let mut world = Self {
            large: is_large(cast.flows.len(), links.len()),
            events: S::new(names, busy_from),
            now: Time::ZERO,
            meters: plan.flows.iter().map(|f| meter(f, bits)).collect(),
            received: if observe {
                vec![0; plan.flows.len()]
            } else {
                Vec::new()
            },
            tcp: cast.tcp,
            workloads: cast.workloads,
            sessions: cast.sessions,
            transfers: cast.transfers,
            sources: cast.sources,
            replays: cast.replays,
            fault: None,
            segments: Segments::default(),
            flows: cast.flows,
            wires: Wires::new(wires as usize),
            hops: paths.hops,
            failures: Failures::new(plan, observer - 1).map(Box::new),
            mpls: Mpls::new(plan).map(Box::new),
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
                wires: first_wire,
                ports,
                observer,
                link_of_port: queued(&links).collect(),
            },
            series: observe.then(|| SeriesRecorder::new(plan)),
            links,
            tap,
            plan: Arc::clone(plan),
        };
        for (port, link) in (0..).zip(&world.slots.link_of_port) {
            if let Port::Queued(queued) = &mut world.links[*link as usize].port {
                queued.slot = ports + port;
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
        world.plan_change();
        if world.series.is_some() {
            let first = Time::ZERO + plan.interval;
            world.events.schedule(observer, first, Rank::Observer);
        }
        world
    }
}

/// The meter of a flow.
fn meter(flow: &FlowPlan, bits: u8) -> FlowMeter {
    FlowMeter {
        voice: flow.voice.as_ref().map(|v| Box::new(v.listener())),
        ..FlowMeter::new(bits)
    }
}

/// Who sends, in the making.
struct Cast<'a> {
    plan: &'a WorldPlan,
    seed: u64,
    run: u32,
    window: Window,
    /// Which conversations of a hashing queue share a bucket is an accident of addresses and of
    /// the router's hash function. Each run has another, so that intervals cover that luck.
    salt: u64,
    flows: Vec<Flow>,
    keys: Vec<FlowKey>,
    /// Hashed names of the flows.
    names: Vec<u64>,
    sources: Vec<OpenLoop>,
    replays: Vec<Capture>,
    tcp: Vec<Connection>,
    workloads: Vec<Workload>,
    sessions: Vec<Session>,
    transfers: Vec<Transfers>,
}

/// Which way a flow goes.
#[derive(Clone, Copy)]
enum Way {
    There,
    Back,
}

impl<'a> Cast<'a> {
    fn new(plan: &'a WorldPlan, seed: u64, run: u32, window: Window) -> Self {
        let room = |f: &FlowPlan| match &f.traffic {
            Traffic::Source(_) => 1,
            Traffic::Tcp { .. } => 2,
            Traffic::Sessions(s) => 1 + 4 * s.active as usize,
            Traffic::Replay(r) => 1 + r.survey.flows.entries().len(),
        };
        let flows = plan.flows.iter().map(room).sum();
        Self {
            plan,
            seed,
            run,
            window,
            salt: Rng::named(seed, run, "hash", "salt").u64(),
            flows: Vec::with_capacity(flows),
            keys: Vec::with_capacity(flows),
            names: Vec::with_capacity(flows),
            sources: Vec::new(),
            replays: Vec::new(),
            tcp: Vec::new(),
            workloads: Vec::new(),
            sessions: Vec::new(),
            transfers: Vec::new(),
        }
    }

    /// The flows of the plan first, then what their connections need.
    fn fill(&mut self, paths: &Paths) {
        let plan = self.plan;
        let times_bits = histogram_bits(plan.flows.len());
        for (i, f) in (0_u32..).zip(&plan.flows) {
            let name = format!("flows/{}", f.name);
            // Flows that start together may stay in step for ever.
            let mut rng = Rng::named(self.seed, self.run, &name, "start");
            let start = f.start + Dur::from_secs_f64(rng.f64() * f.start_spread.as_secs_f64());
            let rng = Rng::named(self.seed, self.run, &name, "source");
            let transfers = self.transfers.len() as u32;
            let origin = match &f.traffic {
                Traffic::Source(spec) => {
                    self.sources.push(OpenLoop::new(spec, rng, start, f.stop));
                    Origin::Open(self.sources.len() as u32 - 1)
                }
                Traffic::Tcp {
                    config,
                    application,
                } => {
                    let source = match application {
                        Application::Source(spec) => Some(OpenLoop::new(spec, rng, start, f.stop)),
                        Application::Greedy | Application::Bytes(_) => None,
                    };
                    let mut connection = Connection::new(config, start, f.stop);
                    connection.transfers = transfers;
                    connection.data = i;
                    self.tcp.push(connection.fed(application, source));
                    Origin::Data(self.tcp.len() as u32 - 1)
                }
                Traffic::Sessions(s) => {
                    self.workloads
                        .push(Workload::new(s, rng, start, f.stop, i, transfers));
                    Origin::Workload(self.workloads.len() as u32 - 1)
                }
                // The first flow of a capture wakes for all of them.
                Traffic::Replay(r) if self.is_new(r) => {
                    self.replays.push(Capture::new(r, start, f.stop, i));
                    Origin::Replay(self.replays.len() as u32 - 1)
                }
                Traffic::Replay(_) => Origin::Replayed,
            };
            if f.traffic.is_closed_loop() {
                let mut transfers = Transfers::new(times_bits);
                let opens = matches!(origin, Origin::Data(_));
                transfers.begun = u64::from(opens && self.window.contains(start));
                self.transfers.push(transfers);
            }
            self.flow(i, Way::There, origin, paths, name);
        }
        for c in 0..self.tcp.len() {
            let name = &plan.flows[self.tcp[c].data as usize].name;
            let name = format!("flows/{name}/ack");
            let origin = Origin::Acknowledgments(c as u32);
            self.tcp[c].acknowledgments =
                self.flow(self.tcp[c].data, Way::Back, origin, paths, name);
        }
        for w in 0..self.workloads.len() {
            self.places(w, paths);
        }
        for r in 0..self.replays.len() {
            self.replayed(r, paths);
        }
    }

    /// Whether no flow before has this capture.
    fn is_new(&self, replay: &Arc<ReplayPlan>) -> bool {
        let last = self.replays.last().map(|c| c.flow as usize);
        !last.is_some_and(|i| match &self.plan.flows[i].traffic {
            Traffic::Replay(known) => Arc::ptr_eq(known, replay),
            _ => false,
        })
    }

    /// The flows of a capture's packets.
    fn replayed(&mut self, r: usize, paths: &Paths) {
        let leader = self.replays[r].flow;
        let plan = self.plan;
        let Traffic::Replay(replay) = &plan.flows[leader as usize].traffic else {
            return;
        };
        self.replays[r].first = self.flows.len() as u32;
        let name = &plan.flows[leader as usize].name;
        for (k, entry) in replay.survey.flows.entries().iter().enumerate() {
            let name = format!("flows/{name}/{k}");
            let number = self.flow(
                leader + entry.group,
                Way::There,
                Origin::Replayed,
                paths,
                name,
            );
            let key = entry.key.flow_key();
            let flow = &mut self.flows[number as usize];
            flow.hash = (mix(u64::from(key.hash()) ^ self.salt) >> 32) as u32;
            flow.dscp = replay.dscp.unwrap_or(entry.dscp);
            self.keys[number as usize] = key;
        }
    }

    /// Adds a flow that belongs to flow `of` of the plan; its number.
    fn flow(&mut self, of: u32, way: Way, origin: Origin, paths: &Paths, name: String) -> u32 {
        let f = &self.plan.flows[of as usize];
        let (key, route) = match way {
            Way::There => (f.key, f.route),
            Way::Back => (f.key.reversed(), f.back.unwrap_or(f.route)),
        };
        let answers = matches!(origin, Origin::Acknowledgments(_));
        self.flows.push(Flow {
            origin,
            meter: if answers { NO_METER } else { of },
            begin: paths.begin(route),
            hash: (mix(u64::from(key.hash()) ^ self.salt) >> 32) as u32,
            seq: 0,
            dscp: f.dscp,
            ecn: if answers { Ecn::NotEct } else { f.ecn },
            wake: Time::MAX,
        });
        self.keys.push(key);
        self.names.push(hash_bytes(name.as_bytes()));
        self.flows.len() as u32 - 1
    }

    /// The places of a workload's sessions.
    fn places(&mut self, w: usize, paths: &Paths) {
        let of = self.workloads[w].flow;
        let plan = Arc::clone(&self.workloads[w].plan);
        self.workloads[w].hash = self.flows[of as usize].hash;
        let name = format!("flows/{}", self.plan.flows[of as usize].name);
        let answered = matches!(plan.session, SessionSpec::RequestResponse(_));
        // What answers goes over the connection that is open already.
        let open = Arc::new(TcpConfig {
            handshake: false,
            ..(*plan.config).clone()
        });
        for k in 0..plan.active {
            let place = self.sessions.len() as u32;
            let mut half = |config: &Arc<TcpConfig>, there: Way, back: Way, part: &str| {
                let c = self.tcp.len() as u32;
                let mut connection = Connection::vacant(config, place);
                connection.transfers = self.workloads[w].transfers;
                let named = |what: &str| format!("{name}/{k}/{part}{what}");
                connection.data = self.flow(of, there, Origin::Data(c), paths, named("data"));
                connection.acknowledgments =
                    self.flow(of, back, Origin::Acknowledgments(c), paths, named("ack"));
                self.tcp.push(connection);
                c
            };
            let forward = half(&plan.config, Way::There, Way::Back, "");
            let back = answered.then(|| half(&open, Way::Back, Way::There, "back-"));
            self.workloads[w].free.push(Reverse(place));
            self.sessions.push(Session::vacant(w as u32, forward, back));
        }
    }
}

/// The links whose ports have wakes.
fn queued(links: &[Link]) -> impl Iterator<Item = u32> {
    let is_queued = |(_, l): &(u32, &Link)| matches!(l.port, Port::Queued(_));
    (0..).zip(links).filter(is_queued).map(|(i, _)| i)
}

/// The hashed name of every slot of the event set, those of the flows first.
fn slot_names(plan: &WorldPlan, mut names: Vec<u64>, wires: u32, links: &[Link]) -> Vec<u64> {
    let link = |i: usize, part: &str| {
        hash_bytes(format!("links/{}/{part}", plan.links[i].name).as_bytes())
    };
    // Wires wake for the links whose packets are on them.
    names.extend((0..wires).map(|_| 0));
    names.extend(queued(links).map(|i| link(i as usize, "port")));
    if !plan.failures.is_empty() {
        names.push(hash_bytes(b"failures"));
    }
    names.push(hash_bytes(b"observer"));
    names
}

/// The paths of the plan, one after the other; where links fail, one word for each.
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
            if !plan.failures.is_empty() {
                hops.push(ROUTED);
                continue;
            }
            hops.extend_from_slice(route);
            hops.push(ARRIVED);
        }
        Self { hops, begins }
    }

    /// Where path `route` begins.
    fn begin(&self, route: u32) -> u32 {
        self.begins[route as usize]
    }

    /// Where the packets of each link come from; for ports whose departures are not computed, and
    /// where links fail, from anywhere.
    fn feeders(&self, links: &[Link]) -> Vec<Feeder> {
        let mut feeders = vec![Feeder::None; links.len()];
        let mut before = None;
        for &hop in &self.hops {
            if hop == ARRIVED || hop == ROUTED {
                before = None;
                continue;
            }
            let from = before.map_or(Feeder::Hosts, Feeder::Link);
            let feeder = &mut feeders[hop as usize];
            *feeder = match *feeder {
                Feeder::None => from,
                known if known == from => known,
                _ => Feeder::Several,
            };
            before = Some(hop);
        }
        for (link, feeder) in links.iter().zip(&mut feeders) {
            if matches!(link.port, Port::Queued(_)) {
                *feeder = Feeder::Several;
            }
        }
        feeders
    }
}

/// Where the packets of a link come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Feeder {
    /// None come.
    None,
    /// From hosts at its sending end.
    Hosts,
    /// All over one link.
    Link(u32),
    Several,
}

/// Gives each link its wire; how many there are.
///
/// Links share one if what they carry departs in about the order in which it is sent, and is as
/// long on the way: those that hosts feed, with one rate and delay, and those behind one link.
/// Every link keeps a wire of its own number for what does not fit in there.
fn share_wires(links: &mut [Link], feeders: &[Feeder]) -> usize {
    let mut groups: BTreeMap<(Feeder, Dur, u64), Vec<usize>> = BTreeMap::new();
    for (i, l) in links.iter().enumerate() {
        let (from, delay) = match feeders[i] {
            Feeder::None => continue,
            Feeder::Hosts => (Feeder::Hosts, l.delay),
            Feeder::Several => (Feeder::Link(i as u32), Dur::ZERO),
            Feeder::Link(mut root) => {
                let mut delay = l.delay;
                // Links do not feed themselves: paths have no loops.
                while let Feeder::Link(before) = feeders[root as usize] {
                    delay = delay + links[root as usize].delay;
                    root = before;
                }
                // Longer than that of the link `root` itself, by a picosecond at least.
                let delay = delay + links[root as usize].delay + Dur::from_ps(1);
                (Feeder::Link(root), delay)
            }
        };
        groups
            .entry((from, delay, l.rate.bps()))
            .or_default()
            .push(i);
    }
    let mut wires = links.len();
    for members in groups.into_values() {
        for i in members {
            links[i].wire = wires as u32;
        }
        wires += 1;
    }
    wires
}
