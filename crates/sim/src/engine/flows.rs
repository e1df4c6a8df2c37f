//! The flows of a world at time 0, with their sources, connections and sessions.

use std::cmp::Reverse;
use std::sync::Arc;

use spillgate_core::rng::{hash_bytes, mix};
use spillgate_core::{Dur, Ecn, FlowKey, Rng, Table, Time};
use spillgate_endpoints::source::Split;
use spillgate_endpoints::tcp::TcpConfig;
use spillgate_endpoints::workload::SessionSpec;
use spillgate_measure::Window;
use spillgate_scenario::plan::{Application, FlowPlan, ReplayPlan, Traffic, WorldPlan};

use super::histogram_bits;
use super::paths::Paths;
use crate::flow::{Flow, NO_METER, OpenLoop, Origin};
use crate::replay::Capture;
use crate::session::{Session, Workload};
use crate::tcp::Connection;
use crate::transfers::Transfers;

/// What is mixed into the hashes of flows in a run.
fn salt(seed: u64, run: u32) -> u64 {
    Rng::named(seed, run, "hash", "salt").u64()
}

fn salted(key: &FlowKey, salt: u64) -> u32 {
    (mix(u64::from(key.hash()) ^ salt) >> 32) as u32
}

/// What the packets of this key have as their hash in a run ([`spillgate_core::Packet::hash`]), but
/// for those of sessions.
pub fn flow_hash(seed: u64, run: u32, key: &FlowKey) -> u32 {
    salted(key, salt(seed, run))
}

/// Builds the flows of a world and everything that sends.
pub(crate) struct FlowsBuilder<'a> {
    pub(crate) plan: &'a WorldPlan,
    pub(crate) seed: u64,
    pub(crate) run: u32,
    pub(crate) window: Window,
    /// Mixed into the hashes of flows. Which flows share a bucket of a hashing queue depends on
    /// addresses and on the hash function of the router; each run has another salt, so that
    /// intervals cover this.
    pub(crate) salt: u64,
    pub(crate) flows: Table<Flow>,
    pub(crate) keys: Vec<FlowKey>,
    /// Hashed names of the flows, up to the last one that is ever woken.
    pub(crate) names: Vec<u64>,
    pub(crate) sources: Vec<OpenLoop>,
    pub(crate) replays: Vec<Capture>,
    pub(crate) tcp: Table<Connection>,
    pub(crate) workloads: Vec<Workload>,
    pub(crate) sessions: Vec<Session>,
    pub(crate) transfers: Table<Transfers>,
}

/// The direction of a flow's packets, seen from the flow of the plan.
#[derive(Clone, Copy)]
enum Direction {
    Forward,
    Reverse,
}

/// Whether two flows are parts of one source.
fn is_same_source(a: &FlowPlan, b: &FlowPlan) -> bool {
    let source = |f: &FlowPlan| f.split.as_ref().map(|s| Arc::as_ptr(&s.source));
    a.split.is_some() && source(a) == source(b)
}

impl<'a> FlowsBuilder<'a> {
    pub(crate) fn new(plan: &'a WorldPlan, seed: u64, run: u32, window: Window) -> Self {
        let room = |f: &FlowPlan| match &f.traffic {
            Traffic::Source(_) => 1,
            Traffic::Tcp { .. } => 2,
            Traffic::Sessions(s) => 1 + 2 * s.connections(),
            Traffic::Replay(r) => 1 + r.survey.flows.entries().len(),
        };
        let flows = plan.flows.iter().map(room).sum();
        let closed_loop = |f: &&FlowPlan| f.traffic.is_closed_loop();
        let closed_loops = plan.flows.iter().filter(closed_loop).count();
        let ends = |f: &FlowPlan| match &f.traffic {
            Traffic::Tcp { .. } => 1,
            Traffic::Sessions(s) => s.connections(),
            Traffic::Source(_) | Traffic::Replay(_) => 0,
        };
        let connections = plan.flows.iter().map(ends).sum();
        Self {
            plan,
            seed,
            run,
            window,
            salt: salt(seed, run),
            flows: Table::with_capacity(flows),
            keys: Vec::with_capacity(flows),
            names: Vec::with_capacity(flows),
            sources: Vec::new(),
            replays: Vec::new(),
            tcp: Table::with_capacity(connections),
            workloads: Vec::new(),
            sessions: Vec::new(),
            transfers: Table::with_capacity(closed_loops),
        }
    }

    /// Adds the flows of the plan, then the flows of their connections.
    pub(crate) fn fill(&mut self, paths: &Paths) {
        let plan = self.plan;
        let times_bits = histogram_bits(plan.flows.len());
        let mut before = Time::ZERO;
        let horizon = self.horizon();
        for (i, f) in (0_u32..).zip(&plan.flows) {
            let name = format!("flows/{}", f.name);
            // The parts of one source have its streams.
            let of_source = f.split.as_ref().map(|s| format!("flows/{}", s.source));
            let of_source = of_source.as_ref().unwrap_or(&name);
            let is_same = i > 0 && is_same_source(&plan.flows[i as usize - 1], f);
            // Flows that start together may stay in phase for the whole run.
            let mut rng = Rng::named(self.seed, self.run, of_source, "start");
            let life = &*f.lifetime;
            let spread = Dur::from_secs_f64(rng.f64() * life.start_spread.as_secs_f64());
            let mut start = life.start + spread;
            if !life.start_gap.is_zero() {
                let from = if f.follows { before } else { life.start };
                start = from + Dur::from_secs_f64(rng.exponential(life.start_gap.as_secs_f64()));
            }
            if is_same {
                start = before;
            }
            before = start;
            let rng = Rng::named(self.seed, self.run, of_source, "source");
            let transfers = self.transfers.len() as u32;
            let origin = match &f.traffic {
                Traffic::Source(spec) => {
                    let mut source = OpenLoop::new(spec, rng, start, life.stop);
                    if let Some(s) = &f.split {
                        let draws = Rng::named(self.seed, self.run, of_source, "receiver");
                        let split = Split::new((*s.shares).clone(), s.receiver, draws);
                        source = source.only(split, horizon);
                    }
                    self.sources.push(source);
                    Origin::Open(self.sources.len() as u32 - 1)
                }
                Traffic::Tcp {
                    config,
                    application,
                } => {
                    let source = match application {
                        Application::Source(spec) => {
                            Some(OpenLoop::new(spec, rng, start, life.stop))
                        }
                        Application::Greedy | Application::Bytes(_) => None,
                    };
                    let mut connection = Connection::new(config, start, life.stop);
                    connection.transfers = transfers;
                    connection.data = i;
                    let jitter = Rng::named(self.seed, self.run, &name, "jitter");
                    connection.sender.set_jitter(jitter);
                    self.tcp.push(connection.fed(application, source));
                    Origin::Data(self.tcp.len() as u32 - 1)
                }
                Traffic::Sessions(s) => {
                    self.workloads
                        .push(Workload::new(s, rng, start, life.stop, i, transfers));
                    Origin::Workload(self.workloads.len() as u32 - 1)
                }
                // The first flow of a capture wakes for all of them.
                Traffic::Replay(r) if self.is_new(r) => {
                    self.replays.push(Capture::new(r, start, life.stop, i));
                    Origin::Replay(self.replays.len() as u32 - 1)
                }
                Traffic::Replay(_) => Origin::Replayed,
            };
            if f.traffic.is_closed_loop() {
                self.transfers.push(match origin {
                    Origin::Data(_) => Transfers::lone(times_bits, self.window.contains(start)),
                    _ => Transfers::many(times_bits),
                });
            }
            self.flow(i, Direction::Forward, origin, paths, name);
        }
        for c in 0..self.tcp.len() {
            let name = &plan.flows[self.tcp[c].data as usize].name;
            let name = format!("flows/{name}/ack");
            let origin = Origin::Acknowledgments(c as u32);
            self.tcp[c].acknowledgments =
                self.flow(self.tcp[c].data, Direction::Reverse, origin, paths, name);
        }
        for w in 0..self.workloads.len() {
            self.places(w, paths);
        }
        for r in 0..self.replays.len() {
            self.replayed(r, paths);
        }
        // Flows at the end that never wake need no slot. If receivers acknowledge at once, half of
        // the flows are such.
        let last = self.flows.iter().rposition(|f| self.has_wake(f));
        self.names.truncate(last.map_or(0, |i| i + 1));
    }

    /// The time after which no sent packet matters any more: twice the measured period after its
    /// end, plus the grace.
    fn horizon(&self) -> Time {
        let longest = self.plan.links.iter().map(|l| l.delay).max();
        self.window.end()
            + self.window.len() * 2
            + self.plan.grace
            + longest.unwrap_or(Dur::ZERO) * 64
    }

    /// Whether a flow is ever woken.
    fn has_wake(&self, flow: &Flow) -> bool {
        match flow.origin {
            Origin::Acknowledgments(c) => self.tcp[c as usize].sender.config().receiver_waits(),
            Origin::Replayed => false,
            Origin::Open(_) | Origin::Workload(_) | Origin::Data(_) | Origin::Replay(_) => true,
        }
    }

    /// Whether no earlier flow replays this capture.
    fn is_new(&self, replay: &Arc<ReplayPlan>) -> bool {
        let last = self.replays.last().map(|c| c.flow as usize);
        !last.is_some_and(|i| match &self.plan.flows[i].traffic {
            Traffic::Replay(known) => Arc::ptr_eq(known, replay),
            _ => false,
        })
    }

    /// Adds the flows of a capture's packets.
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
                Direction::Forward,
                Origin::Replayed,
                paths,
                name,
            );
            let key = entry.key.flow_key();
            let flow = &mut self.flows[number as usize];
            flow.hash = salted(&key, self.salt);
            flow.dscp = replay.dscp.unwrap_or(entry.dscp);
            self.keys[number as usize] = key;
        }
    }

    /// Adds a flow that belongs to flow `of` of the plan, and returns its number.
    fn flow(
        &mut self,
        of: u32,
        direction: Direction,
        origin: Origin,
        paths: &Paths,
        name: String,
    ) -> u32 {
        let f = &self.plan.flows[of as usize];
        let (key, route) = match direction {
            Direction::Forward => (f.key, f.route),
            Direction::Reverse => (f.key.reversed(), f.back.unwrap_or(f.route)),
        };
        let is_acks = matches!(origin, Origin::Acknowledgments(_));
        let begin = paths.begin(route);
        self.flows.push(Flow {
            origin,
            meter: if is_acks { NO_METER } else { of },
            begin,
            first: paths.hops[begin as usize],
            hash: salted(&key, self.salt),
            seq: 0,
            dscp: f.dscp,
            ecn: if is_acks { Ecn::NotEct } else { f.ecn },
            wake: Time::MAX,
        });
        self.keys.push(key);
        self.names.push(hash_bytes(name.as_bytes()));
        self.flows.len() as u32 - 1
    }

    /// Adds the places of a workload's sessions.
    fn places(&mut self, w: usize, paths: &Paths) {
        let of = self.workloads[w].flow;
        let plan = Arc::clone(&self.workloads[w].plan);
        self.workloads[w].hash = self.flows[of as usize].hash;
        let name = format!("flows/{}", self.plan.flows[of as usize].name);
        let has_response = matches!(plan.session, SessionSpec::RequestResponse(_));
        // The response uses the connection that is already open.
        let open = Arc::new(TcpConfig {
            handshake: false,
            ..(*plan.config).clone()
        });
        for k in 0..plan.active {
            let place = self.sessions.len() as u32;
            let mut half =
                |config: &Arc<TcpConfig>, data: Direction, acks: Direction, part: &str| {
                    let c = self.tcp.len() as u32;
                    let mut connection = Connection::vacant(config, place);
                    connection.transfers = self.workloads[w].transfers;
                    let named = |what: &str| format!("{name}/{k}/{part}{what}");
                    let jitter = Rng::named(self.seed, self.run, &named("data"), "jitter");
                    connection.sender.set_jitter(jitter);
                    connection.data = self.flow(of, data, Origin::Data(c), paths, named("data"));
                    connection.acknowledgments =
                        self.flow(of, acks, Origin::Acknowledgments(c), paths, named("ack"));
                    self.tcp.push(connection);
                    c
                };
            let forward = half(&plan.config, Direction::Forward, Direction::Reverse, "");
            let back =
                has_response.then(|| half(&open, Direction::Reverse, Direction::Forward, "back-"));
            self.workloads[w].free.push(Reverse(place));
            self.sessions.push(Session::vacant(w as u32, forward, back));
        }
    }
}
