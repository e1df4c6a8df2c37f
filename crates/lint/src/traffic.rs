//! The traffic of a scenario, as classes see it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use spillgate_core::{Dscp, Ecn, FlowKey, Overhead};
use spillgate_endpoints::cc::CcSpec;
use spillgate_endpoints::source::Source;
use spillgate_endpoints::source::spec::SourceSpec;
use spillgate_endpoints::tcp::config::EcnMode;
use spillgate_queueing::spec::{ClassBasedSpec, ClassSpec, DisciplineSpec, PoliceAction};
use spillgate_queueing::{Counting, Metadata, View};
use spillgate_scenario::plan::{Application, FlowPlan, LinkPlan, Traffic, WorldPlan};

use crate::objectives::along;

/// The deepest nesting of policies.
const MAX_DEPTH: usize = 8;

/// The most combinations of marks; with more, every class may get the packets.
const MAX_MARKS: usize = 1 << 12;

/// The shortest packet of a connection: an acknowledgment without options.
const ACK: u16 = 40;

/// Where packets meet a policy.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Attachment {
    /// The port that feeds a link.
    Port(u32),
    /// The receiving end of a link.
    Arrival(u32),
    /// A switch that packets cross from one link to another.
    Crossing(u32, u32),
}

impl Attachment {
    /// The link whose overhead counts.
    fn link(self) -> u32 {
        match self {
            Self::Port(l) | Self::Arrival(l) | Self::Crossing(l, _) => l,
        }
    }

    /// How many links of a path lie before this place; none if the path does not lead here.
    fn on(self, path: &[u32]) -> Option<usize> {
        let at = path.iter().position(|l| *l == self.link())?;
        match self {
            Self::Port(_) => Some(at),
            Self::Arrival(_) => Some(at + 1),
            Self::Crossing(_, out) => (path.get(at + 1) == Some(&out)).then_some(at + 1),
        }
    }
}

/// The marks of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Marked {
    dscp: Dscp,
    cos: Option<u8>,
    group: Option<u16>,
}

/// Marks that packets may have.
#[derive(Clone, Debug)]
struct Possible {
    dscps: u64,
    coses: Vec<Option<u8>>,
    groups: Vec<Option<u16>>,
}

impl Possible {
    fn add(&mut self, more: &Self) {
        self.dscps |= more.dscps;
        for cos in &more.coses {
            if !self.coses.contains(cos) {
                self.coses.push(*cos);
            }
        }
        for group in &more.groups {
            if !self.groups.contains(group) {
                self.groups.push(*group);
            }
        }
    }
}

/// Lengths of packets in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// The longest packet, or the 0.9999 quantile if lengths have no bound; 0 if it is not known.
    pub(crate) longest: u32,
    /// The shortest packet; 0 if it is not known.
    pub(crate) shortest: u32,
}

/// The way in which bytes count at a policy.
#[derive(Clone, Copy)]
struct Counted {
    link: Overhead,
    policers: Overhead,
    shapers: Overhead,
}

impl Counted {
    /// At a place of a link.
    fn at(spot: Attachment, world: &WorldPlan, link: &LinkPlan) -> Self {
        let line = match spot {
            Attachment::Port(_) => link.discipline.line(),
            Attachment::Arrival(id) => world.stages.input(id).map(|i| i.recipe.line()),
            // A fabric carries IP packets without the overhead of links.
            Attachment::Crossing(..) => {
                let none = Overhead::NONE;
                return Self {
                    link: none,
                    policers: none,
                    shapers: none,
                };
            }
        };
        let Counting { policers, queues } = line.map(|l| l.counting).unwrap_or_default();
        Self {
            link: link.overhead,
            policers: policers.unwrap_or(link.overhead),
            shapers: queues.unwrap_or(link.overhead),
        }
    }
}

/// A flow where it meets a policy.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    /// Class of service that results show it under.
    pub(crate) service: String,
    key: FlowKey,
    /// Name of the link over which it came to the node.
    input: Option<String>,
    /// The marks of conforming packets after the policies before.
    own: Marked,
    /// All marks that its packets may have here.
    possible: Possible,
    /// Long-run rate in bits per second as its link counts; none if the rate depends on the
    /// network.
    pub(crate) rate: Option<f64>,
    /// The same as policers of the policy count.
    pub(crate) policed: Option<f64>,
    /// Lengths of packets as they occupy the link, labels apart.
    pub(crate) sizes: Sizes,
    /// Lengths as policers of the policy count.
    pub(crate) policed_sizes: Sizes,
    /// Lengths as its shapers count.
    pub(crate) shaped_sizes: Sizes,
    /// Whether it slows down for losses.
    pub(crate) reacts: bool,
    /// Whether its packets may be marked.
    pub(crate) ecn: bool,
    /// Seconds of its round trip without queueing, if it is a connection without end whose window
    /// grows and falls as Reno's does, and this is the direction of its data.
    pub(crate) endless: Option<f64>,
}

impl Load {
    /// Its DSCP, if it conforms to every policer before.
    pub(crate) fn dscp(&self) -> Dscp {
        self.own.dscp
    }

    /// Every DSCP that its packets may have here, a bit each.
    pub(crate) fn dscps(&self) -> u64 {
        self.possible.dscps
    }

    fn class_of(&self, marked: Marked, classes: &[ClassSpec]) -> usize {
        let metadata = Metadata {
            cos: marked.cos,
            qos_group: marked.group,
            input: self.input.as_deref(),
        };
        class_of(&self.key, marked.dscp, &metadata, classes)
    }

    /// The class of its packets that conform to every policer before; the number of classes for the
    /// implicit class-default.
    pub(crate) fn class(&self, spec: &ClassBasedSpec) -> usize {
        self.class_of(self.own, &spec.classes)
    }

    /// Whether each class may get packets of it, with any marks by policies before.
    pub(crate) fn reaches(&self, spec: &ClassBasedSpec) -> Vec<bool> {
        let Possible {
            dscps,
            coses,
            groups,
        } = &self.possible;
        let many = dscps.count_ones() as usize * coses.len() * groups.len() > MAX_MARKS;
        let mut reached = vec![many; spec.classes.len()];
        if many {
            return reached;
        }
        let all = (0..64).filter_map(Dscp::new);
        for dscp in all.filter(|d| dscps >> d.value() & 1 != 0) {
            for cos in coses.iter().copied() {
                for group in groups.iter().copied() {
                    let class = self.class_of(Marked { dscp, cos, group }, &spec.classes);
                    if let Some(reached) = reached.get_mut(class) {
                        *reached = true;
                    }
                }
            }
        }
        reached
    }
}

fn class_of(key: &FlowKey, dscp: Dscp, metadata: &Metadata<'_>, classes: &[ClassSpec]) -> usize {
    let view = View::Ip { key, dscp };
    let takes = |c: &ClassSpec| match &c.matching {
        Some(m) => m.matches_with(view, metadata),
        None => true,
    };
    classes.iter().position(takes).unwrap_or(classes.len())
}

/// The flows at a policy, and their answers; none where packets have labels, which hide the fields
/// of conditions.
pub(crate) fn at(
    world: &WorldPlan,
    spot: Attachment,
    policies: &BTreeMap<String, DisciplineSpec>,
) -> Option<Vec<Load>> {
    let plan = world.links.get(spot.link() as usize)?;
    if world.carries_labels(plan) {
        return None;
    }
    let markers = Markers {
        policies,
        known: RefCell::default(),
    };
    let mut loads = Vec::new();
    for flow in &world.flows {
        let ways = [
            (Some(flow.route), flow.key, true),
            (flow.back, flow.key.reversed(), false),
        ];
        for (route, key, forth) in ways {
            let Some(path) = route.and_then(|r| world.routes.get(r as usize)) else {
                continue;
            };
            let Some(left) = spot.on(path) else { continue };
            let mut walk = Walk {
                key,
                input: None,
                own: Marked {
                    dscp: flow.dscp,
                    cos: None,
                    group: None,
                },
                possible: Possible {
                    dscps: 1 << flow.dscp.value(),
                    coses: vec![None],
                    groups: vec![None],
                },
            };
            for (i, link) in path[..left].iter().enumerate() {
                // The policy of this place itself is not applied.
                let arrives = matches!(spot, Attachment::Arrival(_)) && i + 1 == left;
                walk.over(world, *link, &markers, !arrives);
            }
            loads.push(walk.load(world, flow, (Counted::at(spot, world, plan), forth)));
        }
    }
    Some(loads)
}

/// A lower bound on the rate in b/s that a source needs of a link with this overhead: the overhead
/// is relatively smallest for the longest packets.
fn occupied(source: &SourceSpec, overhead: Overhead) -> f64 {
    let rate = Source::mean_rate(source);
    if overhead == Overhead::NONE {
        return rate;
    }
    let longest = Source::longest(source).max(1);
    rate * f64::from(overhead.wire_len(longest)) / f64::from(longest)
}

/// The lengths of IP packets, shortest and usually longest, forth and back; 0 if not known.
pub(crate) fn lengths(traffic: &Traffic, forth: bool) -> (u16, u16) {
    let (longest, back) = traffic.longest();
    match traffic {
        _ if !forth => (ACK.min(back), back),
        Traffic::Source(source) => (Source::shortest(source), Source::usually_longest(source)),
        Traffic::Replay(_) => (0, longest),
        Traffic::Tcp { .. } | Traffic::Sessions(_) => (ACK.min(longest), longest),
    }
}

/// A packet on its path.
struct Walk {
    key: FlowKey,
    input: Option<String>,
    own: Marked,
    possible: Possible,
}

impl Walk {
    /// The packet leaves by a link and arrives; `enter`: an input policy at the link's end acts,
    /// too.
    fn over(&mut self, world: &WorldPlan, id: u32, markers: &Markers<'_>, enter: bool) {
        let Some(link) = world.links.get(id as usize) else {
            return;
        };
        // Where packets have labels, classes do not see the IP header.
        self.pass(&link.policy, markers, !world.carries_labels(link));
        let arrived = |cos: Option<u8>| link.dot1q.then(|| cos.unwrap_or(0));
        self.own = Marked {
            cos: arrived(self.own.cos),
            group: None,
            ..self.own
        };
        let coses = std::mem::take(&mut self.possible.coses);
        self.possible.add(&Possible {
            dscps: 0,
            coses: coses.into_iter().map(arrived).collect(),
            groups: Vec::new(),
        });
        self.possible.groups = vec![None];
        self.input = Some(link.name.clone());
        if let Some(input) = world.stages.input(id).filter(|_| enter) {
            self.pass(&input.policy, markers, true);
        }
    }

    fn pass(&mut self, policy: &str, markers: &Markers<'_>, seen: bool) {
        let marks = markers.gives(policy);
        if marks.dscps == 0 && marks.coses.is_empty() && marks.groups.is_empty() {
            return;
        }
        self.possible.add(&marks);
        if seen {
            self.own = markers.after(policy, self, self.own, 0);
        }
    }

    /// `forth`: it is in the direction of the flow, not an answer.
    fn load(self, world: &WorldPlan, flow: &FlowPlan, (counted, forth): (Counted, bool)) -> Load {
        let mut policed = None;
        let (rate, reacts, mut ecn) = match &flow.traffic {
            Traffic::Source(_) if flow.traffic.is_backlogged() => (None, false, false),
            Traffic::Source(source) => {
                let share = flow.share();
                policed = Some(share * occupied(source, counted.policers));
                (Some(share * occupied(source, counted.link)), false, false)
            }
            Traffic::Replay(_) => (None, false, false),
            Traffic::Tcp {
                config,
                application,
            } => {
                let rate = match application {
                    Application::Source(source) => Some(Source::mean_rate(source)),
                    Application::Greedy | Application::Bytes(_) => None,
                };
                (rate, true, config.ecn != EcnMode::Off)
            }
            Traffic::Sessions(s) => (None, true, s.config.ecn != EcnMode::Off),
        };
        ecn |= flow.ecn != Ecn::NotEct;
        let (shortest, longest) = lengths(&flow.traffic, forth);
        let sizes = |overhead: Overhead| {
            let counted = |len: u16| match len {
                0 => 0,
                len => overhead.wire_len(len),
            };
            Sizes {
                longest: counted(longest),
                shortest: counted(shortest),
            }
        };
        Load {
            service: world.classes[usize::from(flow.class)].clone(),
            key: self.key,
            input: self.input,
            own: self.own,
            possible: self.possible,
            // ACKs take little, and as much as the connection's data permits.
            rate: if forth { rate } else { Some(0.0) },
            policed: if forth { policed.or(rate) } else { Some(0.0) },
            sizes: sizes(counted.link),
            policed_sizes: sizes(counted.policers),
            shaped_sizes: sizes(counted.shapers),
            reacts,
            ecn,
            endless: endless(world, flow).filter(|_| forth),
        }
    }
}

/// Seconds of the round trip of a connection without end that halves its window, or nearly, for a
/// loss or a mark; none of other traffic.
fn endless(world: &WorldPlan, flow: &FlowPlan) -> Option<f64> {
    let Traffic::Tcp {
        config,
        application: Application::Greedy,
    } = &flow.traffic
    else {
        return None;
    };
    let halves = matches!(
        config.cc,
        CcSpec::Tahoe(_) | CcSpec::Reno(_) | CcSpec::NewReno(_) | CcSpec::Cubic(_)
    );
    let packet = config.longest_packet();
    let back = along(world, flow.back?, packet - config.mss);
    halves.then(|| along(world, flow.route, packet) + back)
}

/// The effect of policies on the marks of packets.
struct Markers<'p> {
    policies: &'p BTreeMap<String, DisciplineSpec>,
    /// The marks that each policy may set.
    known: RefCell<BTreeMap<String, Rc<Possible>>>,
}

impl Markers<'_> {
    fn classes(&self, policy: &str, depth: usize) -> &[ClassSpec] {
        match self.policies.get(policy).filter(|_| depth < MAX_DEPTH) {
            Some(DisciplineSpec::ClassBased(spec)) => &spec.classes,
            _ => &[],
        }
    }

    /// The marks after a policy of packets that conform to its policers.
    fn after(&self, policy: &str, walk: &Walk, before: Marked, depth: usize) -> Marked {
        let classes = self.classes(policy, depth);
        let metadata = Metadata {
            cos: before.cos,
            qos_group: before.group,
            input: walk.input.as_deref(),
        };
        let class = class_of(&walk.key, before.dscp, &metadata, classes);
        let Some(class) = classes.get(class) else {
            return before;
        };
        let mut marked = match &class.policy {
            Some(inner) => self.after(inner, walk, before, depth + 1),
            None => before,
        };
        marked.dscp = class.set_dscp.unwrap_or(marked.dscp);
        marked.cos = class.set_cos.or(marked.cos);
        marked.group = class.set_qos_group.or(marked.group);
        for action in class.police.iter().flat_map(|p| p.conform.iter()) {
            match action {
                PoliceAction::SetDscp(dscp) => marked.dscp = dscp,
                PoliceAction::SetCos(cos) => marked.cos = Some(cos),
                PoliceAction::SetQosGroup(group) => marked.group = Some(group),
                PoliceAction::Transmit
                | PoliceAction::Drop
                | PoliceAction::SetExp(_)
                | PoliceAction::SetExpImposition(_) => {}
            }
        }
        marked
    }

    fn gives(&self, policy: &str) -> Rc<Possible> {
        if let Some(known) = self.known.borrow().get(policy) {
            return Rc::clone(known);
        }
        let given = Rc::new(self.given(policy, 0));
        let mut known = self.known.borrow_mut();
        known.insert(policy.to_owned(), Rc::clone(&given));
        given
    }

    /// Marks that a policy may give to packets.
    fn given(&self, policy: &str, depth: usize) -> Possible {
        let mut given = Possible {
            dscps: 0,
            coses: Vec::new(),
            groups: Vec::new(),
        };
        for class in self.classes(policy, depth) {
            given.dscps |= class.set_dscp.map_or(0, |d| 1 << d.value());
            given.coses.extend(class.set_cos.map(Some));
            given.groups.extend(class.set_qos_group.map(Some));
            if let Some(p) = &class.police {
                let all = [Some(&p.conform), Some(&p.exceed), p.violate.as_ref()];
                for action in all.into_iter().flatten().flat_map(|a| a.iter()) {
                    match action {
                        PoliceAction::SetDscp(d) => given.dscps |= 1 << d.value(),
                        PoliceAction::SetCos(cos) => given.coses.push(Some(cos)),
                        PoliceAction::SetQosGroup(group) => given.groups.push(Some(group)),
                        PoliceAction::Transmit
                        | PoliceAction::Drop
                        | PoliceAction::SetExp(_)
                        | PoliceAction::SetExpImposition(_) => {}
                    }
                }
            }
            if let Some(inner) = &class.policy {
                given.add(&self.given(inner, depth + 1));
            }
        }
        given
    }
}
