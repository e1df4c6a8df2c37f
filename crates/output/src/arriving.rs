//! What comes to each port and how long it is there, for formulas that need no run.

mod lengths;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use spillgate_core::{Dur, FlowKey, Overhead, Packet, Time};
use spillgate_endpoints::source::Source;
use spillgate_endpoints::source::spec::{PacketSizeSpec, SourceSpec};
use spillgate_endpoints::workload::{ArrivalSpec, SessionSpec};
use spillgate_queueing::Discipline;
use spillgate_scenario::plan::{FlowPlan, LinkPlan, Traffic, WorldPlan};
use spillgate_scenario::schema::LossSpec;

use lengths::{Length, lengths};

/// The ports of a world with what comes to them. Times in seconds, rates in b/s.
#[derive(Clone, Debug, Serialize)]
pub struct Arriving {
    /// Begin of the measured period.
    warmup: f64,
    /// Its length.
    duration: f64,
    /// By link.
    ports: Vec<Port>,
    /// Flows of one class with one path, and of how many packets a second each; none where the
    /// network decides that.
    paths: Vec<Path>,
    /// Sessions that come at random and stay for a time of their own.
    sessions: Vec<Sessions>,
}

#[derive(Clone, Debug, Serialize)]
struct Port {
    link: String,
    rate: u64,
    delay: f64,
    /// Packets that have left the discipline, the one in transmission included.
    ring: u32,
    /// The probability that the link loses a packet.
    loss: f64,
    /// Its queues.
    leaves: Vec<String>,
    /// What is out of the ordinary, each the end of a sentence that begins with the link.
    odd: Vec<&'static str>,
    streams: Vec<Stream>,
}

/// Flows that are alike at a port.
#[derive(Clone, Debug, Serialize)]
struct Stream {
    class: String,
    /// The first of them.
    flow: String,
    count: u32,
    /// The queue that they come to; none if it is not known before the packets are.
    leaf: Option<u16>,
    /// Kind of the source; `tcp`, `acknowledgments`, `sessions` or `replay`.
    kind: &'static str,
    /// The link by which they come, by number; none if they begin here.
    before: Option<u32>,
    /// Packets a second of one of them.
    packets: Option<f64>,
    /// Lengths on the link.
    lengths: Vec<Length>,
    /// Each length is drawn independently of the others.
    independent: bool,
    /// They send from before the measured period until after it.
    throughout: bool,
}

#[derive(Clone, Debug, Serialize)]
struct Path {
    class: String,
    count: u32,
    links: Vec<u32>,
    packets: Option<f64>,
    /// What nodes take to pass packets on.
    passing: f64,
}

#[derive(Clone, Debug, Serialize)]
struct Sessions {
    class: String,
    name: String,
    /// Mean time from the start of a session to that of the next.
    gap: f64,
    /// They come as a Poisson process without end.
    poisson: bool,
    /// Mean lifetime; none where the network decides it.
    lifetime: Option<f64>,
    /// The most open sessions.
    active: u32,
    throughout: bool,
}

/// What comes to each port of a world.
pub fn arriving(world: &WorldPlan) -> Arriving {
    let keys: Arc<[FlowKey]> = world.flows.iter().map(|f| f.key).collect();
    let mut over: Vec<Vec<(usize, usize)>> = vec![Vec::new(); world.links.len()];
    let mut answers = vec![false; world.links.len()];
    for (i, flow) in world.flows.iter().enumerate() {
        for (hop, link) in world.routes[flow.route as usize].iter().enumerate() {
            over[*link as usize].push((i, hop));
        }
        for link in flow.back.iter().flat_map(|r| &world.routes[*r as usize]) {
            answers[*link as usize] = true;
        }
    }
    // Asked of all links, so once.
    let marked = !world.marks().is_empty();
    let fails: Vec<u32> = world.failures.iter().map(|f| f.link).collect();
    let ports = world.links.iter().enumerate().map(|(id, link)| {
        let mut odd = odd(world, id as u32, link);
        let longest = over[id]
            .iter()
            .map(|(i, _)| world.flows[*i].traffic.longest().0);
        if longest.max().is_some_and(|len| u32::from(len) > link.mtu) {
            odd.push("loses packets longer than its MTU");
        }
        if fails.contains(&(id as u32)) {
            odd.push("fails");
        }
        Port {
            link: link.name.clone(),
            rate: link.rate.bps(),
            delay: link.delay.as_secs_f64(),
            ring: link.tx_ring.packets,
            loss: loss(link),
            leaves: link.discipline.leaf_names(),
            odd,
            streams: streams(world, link, &keys, &over[id], (answers[id], marked)),
        }
    });
    Arriving {
        warmup: world.warmup.as_secs_f64(),
        duration: world.duration.as_secs_f64(),
        ports: ports.collect(),
        paths: paths(world),
        sessions: world
            .flows
            .iter()
            .filter_map(|f| sessions(world, f))
            .collect(),
    }
}

/// More links than these take longer to look at than a table may.
const FEW: usize = 500;

/// Whether a world is small, and has Poisson sources that formulas of queues may be for.
pub fn has_formulas(world: &WorldPlan) -> bool {
    let poisson = |f: &FlowPlan| match &f.traffic {
        Traffic::Source(source) => matches!(**source, SourceSpec::Poisson(_)),
        _ => false,
    };
    world.links.len() <= FEW && world.flows.len() <= 20 * FEW && world.flows.iter().any(poisson)
}

/// What no formula knows of a port.
fn odd(world: &WorldPlan, id: u32, link: &LinkPlan) -> Vec<&'static str> {
    let said = [
        (
            link.server.is_some(),
            "has a rate that varies, or sends cells",
        ),
        (world.holding.serve(id), "is served by a node itself"),
        (
            world.holding.at(link.from).is_some(),
            "follows a node that holds packets",
        ),
        (world.carries_labels(link), "carries MPLS labels"),
        (link.reorder.is_some(), "reorders packets"),
        (
            world.stages.act_at_arrival(id) || world.stages.act_at_port(id),
            "has a policy or a stage where packets come or go",
        ),
    ];
    said.into_iter()
        .filter_map(|(is, what)| is.then_some(what))
        .collect()
}

/// The share of packets that a link loses.
pub(crate) fn loss(link: &LinkPlan) -> f64 {
    match &link.loss {
        None => 0.0,
        Some(LossSpec::Bernoulli(p)) => p.0,
        Some(LossSpec::GilbertElliott(g)) => {
            let bad = g.to_bad.0 / (g.to_bad.0 + g.to_good.0);
            bad * g.bad.0 + (1.0 - bad) * g.good.0
        }
    }
}

fn throughout(world: &WorldPlan, flow: &FlowPlan) -> bool {
    let life = &flow.lifetime;
    life.start + life.start_spread <= Time::ZERO + world.warmup
        && life.start_gap.is_zero()
        && life.stop >= Time::ZERO + world.warmup + world.duration
}

/// The sizes of the IP packets of a source, where they are drawn packet by packet.
fn sizes(source: &SourceSpec) -> Option<PacketSizeSpec> {
    match source {
        SourceSpec::Cbr(s) => Some(s.packet.clone()),
        SourceSpec::Poisson(s) => Some(s.packet.clone()),
        SourceSpec::OnOff(s) => Some(s.packet.clone()),
        SourceSpec::Mmpp(s) => Some(s.packet.clone()),
        SourceSpec::Bernoulli(s) => Some(PacketSizeSpec::Fixed(s.packet)),
        SourceSpec::Voip(_) if Source::shortest(source) == Source::longest(source) => {
            let len = Source::longest(source);
            Some(PacketSizeSpec::Fixed(spillgate_core::Size(len.into())))
        }
        _ => None,
    }
}

/// Packets a second of a flow, where the network does not decide that.
fn packets(flow: &FlowPlan) -> Option<f64> {
    let Traffic::Source(source) = &flow.traffic else {
        return None;
    };
    let sizes = sizes(source)?;
    Some(Source::mean_rate(source) * flow.share() / (8.0 * sizes.mean()))
}

fn streams(
    world: &WorldPlan,
    link: &LinkPlan,
    keys: &Arc<[FlowKey]>,
    over: &[(usize, usize)],
    (answers, marked): (bool, bool),
) -> Vec<Stream> {
    // A discipline is built of all flows, so only where there are queues to choose from.
    let several = link.discipline.leaf_names().len() > 1;
    let mut discipline = several.then(|| link.discipline.build(keys));
    let hidden = link.discipline.looks_at_marks() || world.carries_labels(link);
    let mut found: BTreeMap<Kin, Stream> = BTreeMap::new();
    for &(i, hop) in over {
        let flow = &world.flows[i];
        let alike = !hidden && (hop == 0 || !marked) && !matches!(flow.traffic, Traffic::Replay(_));
        let leaf = match &mut discipline {
            Some(discipline) => alike.then(|| leaf(discipline, i, flow)),
            None => Some(0),
        };
        let before = hop
            .checked_sub(1)
            .map(|h| world.routes[flow.route as usize][h]);
        let kin = Kin {
            class: flow.class,
            leaf,
            before,
            traffic: text(flow),
            throughout: throughout(world, flow),
        };
        let alike = found.entry(kin).or_insert_with_key(|kin| Stream {
            class: world.classes[usize::from(flow.class)].clone(),
            flow: flow.name.to_string(),
            count: 0,
            leaf,
            kind: kind(&flow.traffic),
            before,
            packets: packets(flow),
            lengths: lengths_of(flow, link.overhead),
            independent: !is_in_order(flow),
            throughout: kin.throughout,
        });
        alike.count += 1;
    }
    let mut streams: Vec<Stream> = found.into_values().collect();
    if answers {
        streams.push(Stream {
            class: String::new(),
            flow: String::new(),
            count: 1,
            leaf: None,
            kind: "acknowledgments",
            before: None,
            packets: None,
            lengths: Vec::new(),
            independent: false,
            throughout: true,
        });
    }
    streams
}

/// What flows have in common that are alike at a port.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Kin {
    class: u16,
    leaf: Option<u16>,
    before: Option<u32>,
    traffic: String,
    throughout: bool,
}

/// What flows of the same traffic have alike.
fn text(flow: &FlowPlan) -> String {
    match &flow.traffic {
        Traffic::Source(source) => format!("{source:?} {}", flow.share()),
        others => kind(others).to_owned(),
    }
}

fn leaf(discipline: &mut Discipline, i: usize, flow: &FlowPlan) -> u16 {
    let mut packet = Packet::new(i as u32, 0, flow.traffic.longest().0);
    packet.dscp = flow.dscp;
    discipline.leaf_of(&packet)
}

fn kind(traffic: &Traffic) -> &'static str {
    match traffic {
        Traffic::Source(source) => source.kind(),
        Traffic::Tcp { .. } => "tcp",
        Traffic::Sessions(_) => "sessions",
        Traffic::Replay(_) => "replay",
    }
}

/// Whether the lengths of its packets follow each other in a fixed order.
fn is_in_order(flow: &FlowPlan) -> bool {
    let Traffic::Source(source) = &flow.traffic else {
        return true;
    };
    matches!(sizes(source), None | Some(PacketSizeSpec::Genome(_)))
}

fn lengths_of(flow: &FlowPlan, overhead: Overhead) -> Vec<Length> {
    match &flow.traffic {
        Traffic::Source(source) => sizes(source).map_or_else(Vec::new, |s| lengths(&s, overhead)),
        _ => Vec::new(),
    }
}

fn paths(world: &WorldPlan) -> Vec<Path> {
    let mut found: BTreeMap<(u16, u32, u64), Path> = BTreeMap::new();
    for flow in &world.flows {
        let packets = packets(flow);
        let route = &world.routes[flow.route as usize];
        let key = (
            flow.class,
            flow.route,
            packets.map_or(u64::MAX, f64::to_bits),
        );
        let passing = route
            .iter()
            .skip(1)
            .map(|l| world.passing(world.links[*l as usize].from));
        found.entry(key).or_insert_with(|| Path {
            class: world.classes[usize::from(flow.class)].clone(),
            count: 0,
            links: route.to_vec(),
            packets,
            passing: passing.fold(Dur::ZERO, |sum, d| sum + d).as_secs_f64(),
        });
        if let Some(path) = found.get_mut(&key) {
            path.count += 1;
        }
    }
    found.into_values().collect()
}

fn sessions(world: &WorldPlan, flow: &FlowPlan) -> Option<Sessions> {
    let Traffic::Sessions(plan) = &flow.traffic else {
        return None;
    };
    let (gap, poisson) = match &plan.arrivals {
        ArrivalSpec::Poisson(p) => (p.gap, p.count.is_none()),
        ArrivalSpec::Fixed(f) => (f.gap, false),
    };
    Some(Sessions {
        class: world.classes[usize::from(flow.class)].clone(),
        name: flow.name.to_string(),
        gap: gap.as_secs_f64(),
        poisson,
        lifetime: match &plan.session {
            SessionSpec::Lifetime(l) => Some(l.mean.as_secs_f64()),
            _ => None,
        },
        active: plan.active,
        throughout: throughout(world, flow),
    })
}
