//! The control loops that endless TCP connections and the queues on their way close, for analysis.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use spillgate_core::{Dur, Limit};
use spillgate_endpoints::cc::CcSpec;
use spillgate_nodes::switch::SwitchPlan;
use spillgate_queueing::aqm::ControlLaw;
use spillgate_queueing::spec::{AqmSpec, DisciplineSpec};
use spillgate_scenario::plan::{Application, FlowPlan, Traffic, WorldPlan};

use crate::arriving::loss;

/// A link that connections cross, with its queue.
#[derive(Clone, Debug, Serialize)]
pub struct LoopLink {
    /// Its name.
    pub name: String,
    /// Its rate in b/s.
    pub rate: u64,
    /// Whether its rate varies.
    pub varies: bool,
    /// Kind of its discipline; none without a policy.
    pub discipline: Option<&'static str>,
    /// Kind of the AQM of its FIFO; none without one.
    pub aqm: Option<&'static str>,
    /// The law of this AQM; none if it has another kind of law.
    pub law: Option<ControlLaw>,
    /// Limit of its FIFO in packets; none if it is in bytes or time.
    pub limit_packets: Option<u32>,
    /// Limit of its FIFO in bytes; none if it is in packets.
    pub limit_bytes: Option<u64>,
    /// The switch of whose outputs it is one, if packets for it wait in virtual output queues
    /// there.
    pub switch: Option<LoopSwitch>,
    /// Whether packets for it wait in one FIFO at each input of a switch.
    pub input_fifos: bool,
    /// The connections that cross it, those that are alike together.
    pub connections: Vec<Connections>,
    /// Names of other flows that cross it.
    pub others: Vec<String>,
}

/// A switch with virtual output queues.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoopSwitch {
    /// Its ports.
    pub ports: usize,
    /// Rate of all virtual output queues for the output, if all inputs have one, as a multiple of
    /// the output's.
    pub speedup: f64,
    /// Whether the fabric is a crossbar; else it is of parallel links.
    pub is_crossbar: bool,
    /// Weight of the virtual output queues in the congestion measure.
    pub nu: f64,
    /// At how many inputs connections arrive.
    pub inputs: usize,
}

/// Connections that are alike. Times in seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Connections {
    /// How many.
    pub count: u32,
    /// Their class of service.
    pub class: String,
    /// Congestion control.
    pub cc: &'static str,
    /// Bytes of a full packet on this link.
    pub frame: u32,
    /// Bytes of data in it.
    pub mss: u16,
    /// Round trip without queueing: propagation, forwarding, and the transmission of a full packet
    /// and of an acknowledgment on every link.
    pub rtt: f64,
    /// The part of the round trip until the data arrive.
    pub there: f64,
    /// The share of their packets that links on their way lose.
    pub loss: f64,
    /// The shortest retransmission timeout.
    pub min_rto: f64,
    /// Segments that one acknowledgment covers.
    pub every: u8,
    /// Whether windows grow by acknowledged bytes (RFC 3465), not by acknowledgments.
    pub by_bytes: bool,
    /// Largest window in full packets.
    pub max_window: f64,
}

/// Every link that an endless connection crosses with data.
pub fn loops(world: &WorldPlan) -> Vec<LoopLink> {
    let mut by_link: BTreeMap<u32, Crossing> = BTreeMap::new();
    for flow in &world.flows {
        let mut before = None;
        for &link in &world.routes[flow.route as usize] {
            let crossing = by_link.entry(link).or_default();
            match connection(world, flow, link) {
                None => crossing.others.push(flow.name.to_string()),
                Some(found) => crossing.add(found, before),
            }
            before = Some(link);
        }
    }
    by_link.retain(|_, crossing| !crossing.connections.is_empty());
    by_link
        .into_iter()
        .map(|(id, crossing)| link_of(world, id, crossing))
        .collect()
}

/// What crosses a link.
#[derive(Default)]
struct Crossing {
    connections: Vec<Connections>,
    others: Vec<String>,
    /// The links by which connections come to it.
    before: BTreeSet<u32>,
}

impl Crossing {
    fn add(&mut self, found: Connections, before: Option<u32>) {
        self.before.extend(before);
        match self.connections.iter_mut().find(|c| c.is_like(&found)) {
            Some(known) => known.count += 1,
            None => self.connections.push(found),
        }
    }
}

impl Connections {
    fn is_like(&self, other: &Self) -> bool {
        *self
            == Self {
                count: self.count,
                ..other.clone()
            }
    }
}

/// The switch of whose outputs a link is one, if packets wait at its inputs.
fn switch_of(world: &WorldPlan, id: u32) -> Option<&SwitchPlan> {
    let switch = world.switches().find(|s| s.outputs.contains(&id))?;
    Some(switch).filter(|s| s.recipe.queues_inputs())
}

fn switch(world: &WorldPlan, id: u32, plan: &SwitchPlan, before: &BTreeSet<u32>) -> LoopSwitch {
    let recipe = &plan.recipe;
    let output = world.links[id as usize].rate;
    let faster = recipe.line().bps() as f64 / output.bps() as f64;
    LoopSwitch {
        ports: recipe.ports(),
        speedup: recipe.speedup().as_f64() * faster,
        is_crossbar: recipe.is_crossbar(),
        nu: recipe.nu(),
        inputs: before.iter().filter(|l| plan.inputs.contains(l)).count(),
    }
}

fn link_of(world: &WorldPlan, id: u32, crossing: Crossing) -> LoopLink {
    let link = &world.links[id as usize];
    let plan = switch_of(world, id);
    let spec = link.discipline.policy().map(|p| p.spec);
    let fifo = spec.and_then(|s| match s {
        DisciplineSpec::Fifo(f) => Some(f),
        _ => None,
    });
    let aqm = fifo.and_then(|f| f.aqm.as_ref());
    let limit = fifo.map(|f| f.limit);
    LoopLink {
        name: link.name.clone(),
        rate: link.rate.bps(),
        varies: link.server.is_some(),
        discipline: spec.map(DisciplineSpec::kind),
        aqm: aqm.map(AqmSpec::kind),
        law: aqm.and_then(|a| a.control_law(link.rate)),
        limit_packets: limit.and_then(|l| match l {
            Limit::Packets(n) => Some(n),
            _ => None,
        }),
        limit_bytes: limit.and_then(|l| match l {
            Limit::Packets(_) => None,
            Limit::Bytes(n) => Some(n),
            Limit::Time(d) => Some(link.rate.bytes_in(d)),
        }),
        switch: plan
            .filter(|p| p.recipe.is_voq())
            .map(|p| switch(world, id, p, &crossing.before)),
        input_fifos: plan.is_some_and(|p| !p.recipe.is_voq()),
        connections: crossing.connections,
        others: crossing.others,
    }
}

/// An endless connection that crosses a link; none for other traffic.
fn connection(world: &WorldPlan, flow: &FlowPlan, link: u32) -> Option<Connections> {
    let Traffic::Tcp {
        config,
        application: Application::Greedy,
    } = &flow.traffic
    else {
        return None;
    };
    let packet = config.longest_packet();
    let there = passage(world, flow.route, packet);
    // An acknowledgment has the headers and options of a full packet.
    let back = passage(world, flow.back?, packet - config.mss);
    let way = world.routes[flow.route as usize].iter();
    let kept: f64 = way.map(|l| 1.0 - loss(&world.links[*l as usize])).product();
    Some(Connections {
        count: 1,
        class: world.classes[usize::from(flow.class)].clone(),
        cc: CcSpec::kind(&config.cc),
        frame: world.links[link as usize].overhead.wire_len(packet),
        mss: config.mss,
        rtt: (there + back).as_secs_f64(),
        there: there.as_secs_f64(),
        loss: 1.0 - kept,
        min_rto: config.min_rto.as_secs_f64(),
        every: config.delayed_ack.map_or(1, |d| d.every),
        by_bytes: config.abc_limit > 0,
        max_window: config.max_window as f64 / f64::from(config.mss),
    })
}

/// How long a packet is on its way where nothing waits.
fn passage(world: &WorldPlan, route: u32, bytes: u16) -> Dur {
    let links = &world.routes[route as usize];
    let mut time = Dur::ZERO;
    for (i, &id) in links.iter().enumerate() {
        let link = &world.links[id as usize];
        if i > 0 {
            time = time + world.passing(link.from);
        }
        time = time + link.delay + link.rate.tx_time(link.overhead.wire_len(bytes));
    }
    time
}
