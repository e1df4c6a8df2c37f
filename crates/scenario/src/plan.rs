//! The validated form of a scenario, which the simulator runs: dense ids, resolved units, checked
//! references.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use spillgate_capture::{Clock, Opener, Selection, Survey};
use spillgate_core::{Dscp, Dur, Ecn, FlowKey, Overhead, Rate, Time};
use spillgate_endpoints::source::spec::{SourceSpec, VoipSpec};
use spillgate_endpoints::source::{Shares, Source};
use spillgate_endpoints::tcp::TcpConfig;
pub use spillgate_endpoints::workload::{ArrivalSpec, SessionSpec};
use spillgate_measure::Metric;
use spillgate_nodes::server::ServerPlan;
use spillgate_nodes::stage::Stages;
use spillgate_nodes::switch::SwitchPlan;
use spillgate_nodes::{Holdings, Names, NodePlan};
use spillgate_queueing::Recipe;
use spillgate_voice::Profile;

use crate::routes::{Edge, Routes};
use crate::schema::{Correction, Looks, LossSpec, ReorderSpec};
use crate::shift::Shift;

/// The name of the policy of a link without one, in reports.
pub const NO_POLICY: &str = "none";

/// All points of a scenario and how they are run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The scenario's title.
    pub name: String,
    /// Master seed.
    pub seed: u64,
    /// Independent runs of each variant, or the most of them.
    pub runs: u32,
    /// The axes that are varied beside the variants.
    pub axes: Vec<Axis>,
    /// How many points the scenario has: more than `variants` if some were
    /// [chosen](crate::Options::points).
    pub extent: usize,
    /// Which combinations of their values are points: `full` for all, or the name of a design.
    pub design: &'static str,
    /// When a point has enough runs; none: when it has [`Plan::runs`].
    pub replication: Option<ReplicationPlan>,
    /// The points of all axes. Variants are the first axis; of a full design the last axis changes
    /// fastest. At least one: a scenario without variants and axes has one point with the name of
    /// the scenario.
    pub variants: Vec<VariantPlan>,
    /// The requirements on the results, the same for every variant.
    pub sla: Vec<SlaPlan>,
    /// The correction for multiple verdicts.
    pub correction: Correction,
    /// The confidence level of verdicts in 0..1.
    pub level: f64,
    /// How often one may look at the verdicts.
    pub looks: Looks,
    /// For each point the index of the point that it is compared with: it has the same coordinates
    /// and another variant.
    pub against: Vec<usize>,
    /// Whether not only those are compared, but every two points with the same coordinates.
    pub pairs: bool,
    /// Warnings about the result, with file and line if there is one.
    pub warnings: Vec<String>,
    /// Configuration lines that are not modelled or not understood.
    pub unmodelled: Vec<Unmodelled>,
    /// The files that the scenario refers to, as written there.
    pub files: Vec<String>,
    /// The files among these that lie outside its folder.
    pub outside: Vec<String>,
    /// Hash of the canonical scenario with all its files, 32 hexadecimal digits.
    pub hash: String,
}

/// A configuration line that has no effect on the simulation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unmodelled {
    /// The configuration file.
    pub file: String,
    /// Line number, from 1.
    pub line: u32,
    /// The line's text.
    pub text: String,
    /// Why it has no effect.
    pub reason: String,
    /// Whether it was understood; otherwise it may be misspelt or an unknown command.
    pub understood: bool,
}

/// An axis of the points.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Axis {
    /// Its name.
    pub name: String,
    /// Its values as written.
    pub labels: Vec<String>,
    /// Base unit of the numbers: b/s, s, B, packets, ratio, or empty for plain numbers.
    pub unit: Option<&'static str>,
    /// The values in that unit, if all have the same kind.
    pub numbers: Option<Vec<f64>>,
    /// How many values the scenario lists; none of a range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listed: Option<usize>,
    /// Whether its values are failures; the first is none.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub failures: bool,
}

/// When a point has enough runs: as soon as all of `until` are known well enough.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplicationPlan {
    /// What is to be known.
    pub until: Vec<UntilPlan>,
    /// The confidence of the intervals, which hold however often one looks.
    pub level: f64,
    /// The runs before the first look, at least 2.
    pub first: u32,
}

/// How well the mean of a metric is to be known.
#[derive(Clone, Debug, PartialEq)]
pub struct UntilPlan {
    /// Class of service, by name.
    pub class: String,
    /// Its metric.
    pub metric: Metric,
    /// Half the width of its interval, relative to its mean.
    pub within: f64,
}

/// One point: a variant of the scenario with one value of each axis.
#[derive(Clone, Debug)]
pub struct VariantPlan {
    /// Its unique name: that of the variant, with the coordinates.
    pub name: String,
    /// Name of its variant alone; empty if the scenario has none.
    pub variant: String,
    /// Its place on each of [`Plan::axes`].
    pub coordinates: Vec<u32>,
    /// What runs.
    pub world: Arc<WorldPlan>,
    /// Index of an earlier point with the same world, whose outcomes are also those of this point:
    /// what fails here changes no path and no load.
    pub same: Option<usize>,
    /// What fails here compared with the point without that failure, on an axis of failures of a
    /// scenario that has no others.
    pub shift: Option<Shift>,
    /// Fingerprint of all that is written of it: the scenario without title, number of runs and
    /// requirements, and the files that it refers to.
    pub text: u128,
}

/// A topology with its traffic.
#[derive(Clone, Debug)]
pub struct WorldPlan {
    /// Node names; a node's id is its index.
    pub nodes: Vec<String>,
    /// Those that hold packets before they pass them on, by kind, then by id.
    pub holding: Holdings,
    /// Links; a link's id is its index.
    pub links: Vec<LinkPlan>,
    /// The distinct paths of the flows while every link is up: ids of links in order, at least one.
    pub routes: Vec<Box<[u32]>>,
    /// When links fail, by time, then link.
    pub failures: Vec<FailurePlan>,
    /// How long routes take to follow a failure or repair: detection and convergence.
    pub reroute: Dur,
    /// What packets pass at nodes at once.
    pub stages: Stages,
    /// Flows; a flow's id is its index.
    pub flows: Vec<FlowPlan>,
    /// The rows of traffic between groups or with a pattern: senders and receivers in words.
    pub patterns: Vec<PatternPlan>,
    /// Classes of service of the traffic, in order of first appearance.
    pub classes: Vec<String>,
    /// Groups of flows of a class at some nodes, for requirements.
    pub sites: Vec<SitePlan>,
    /// Packets sent before this time are not counted.
    pub warmup: Dur,
    /// Whether a pilot run finds the warm-up, which is 0 here.
    pub auto_warmup: bool,
    /// Length of the measured period.
    pub duration: Dur,
    /// How long the run waits for its packets and transfers afterwards, beside the propagation
    /// delay.
    pub grace: Dur,
    /// Period of the time series.
    pub interval: Dur,
    /// Links that have time series, by id.
    pub watched: Vec<u32>,
    /// Those of [`WorldPlan::holding`] that have time series of their own, by index.
    pub watched_nodes: Vec<u32>,
    /// Begin and end of the period in which the longest times between arrivals are measured; none:
    /// not measured.
    pub gaps: Option<(Time, Time)>,
    /// Whether percentiles of the backlog of queues are measured.
    pub backlog_percentiles: bool,
}

/// A link with the port that feeds it.
#[derive(Clone, Debug)]
pub struct LinkPlan {
    /// Its name.
    pub name: String,
    /// Id of the sending node.
    pub from: u32,
    /// Id of the receiving node.
    pub to: u32,
    /// Transmission rate.
    pub rate: Rate,
    /// What sends its packets; none: they leave at `rate`.
    pub server: Option<Arc<ServerPlan>>,
    /// Propagation delay.
    pub delay: Dur,
    /// Random loss.
    pub loss: Option<LossSpec>,
    /// Random additional delay of some packets.
    pub reorder: Option<ReorderSpec>,
    /// Its overhead beside a packet.
    pub overhead: Overhead,
    /// The longest IP packet that it carries, labels included, in bytes; [`u32::MAX`]: no limit.
    pub mtu: u32,
    /// Its cost for routing, at least 1.
    pub cost: u32,
    /// Name of its policy, for reports.
    pub policy: String,
    /// How to build its queue discipline.
    pub discipline: Recipe,
    /// The transmit ring behind it.
    pub tx_ring: RingPlan,
    /// Its frames carry an 802.1Q tag.
    pub dot1q: bool,
}

impl LinkPlan {
    /// The rate that its server keeps up.
    pub fn kept_rate(&self) -> Rate {
        let server = self.server.as_ref();
        server.and_then(|s| s.facts().rate).unwrap_or(self.rate)
    }
}

/// The transmit ring of a port: packets that have left the discipline and leave in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingPlan {
    /// The most packets in it, the one in transmission included; at least 1.
    pub packets: u32,
    /// Where the size comes from.
    pub from: RingFrom,
}

/// The source of the size of a transmit ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RingFrom {
    /// None: no source states a ring.
    Nothing,
    /// The scenario.
    Scenario,
    /// This line of a configuration: `ce.cfg:12`.
    Config(String),
    /// The default of this platform, and its source.
    Platform(&'static str, &'static str),
    /// No ring: the policy comes from a configuration, and its shapers are slower than the line, so
    /// that congestion is at the shapers.
    Shaped,
}

impl RingPlan {
    /// The ring of a port without one: the packet in transmission.
    pub const NONE: Self = Self {
        packets: 1,
        from: RingFrom::Nothing,
    };

    /// Whether it can hold packets beside the one in transmission.
    pub fn holds_packets(&self) -> bool {
        self.packets > 1
    }
}

impl fmt::Display for RingFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("none"),
            Self::Scenario => f.write_str("`tx_ring` of the scenario"),
            Self::Config(place) => write!(f, "`tx-ring-limit`, {place}"),
            Self::Platform(name, source) => {
                write!(
                    f,
                    "no `tx-ring-limit`; default of platform {name}: {source}"
                )
            }
            Self::Shaped => f.write_str("none: the shapers of its policy are what congests"),
        }
    }
}

impl WorldPlan {
    /// The longest delay of a packet after its transmission over these links in order: propagation,
    /// and the times of the nodes between them.
    pub fn way(&self, links: &[u32]) -> Dur {
        let links = links.iter().map(|l| &self.links[*l as usize]);
        let nodes = links.clone().skip(1).map(|l| self.passing(l.from));
        let delays = links.map(LinkPlan::longest_delay).chain(nodes);
        delays.fold(Dur::ZERO, |sum, d| sum + d)
    }

    /// The least time that a node takes to forward a packet.
    pub fn passing(&self, node: u32) -> Dur {
        self.holding
            .at(node)
            .map_or(Dur::ZERO, |h| h.declared.passing)
    }

    /// The switches with queues at their inputs.
    pub fn switches(&self) -> impl Iterator<Item = &SwitchPlan> {
        self.holding.iter().filter_map(|h| match &h.plan {
            NodePlan::Switch(switch) => Some(&**switch),
            _ => None,
        })
    }
}

impl Names for WorldPlan {
    fn node(&self, id: u32) -> &str {
        &self.nodes[id as usize]
    }

    fn link(&self, id: u32) -> &str {
        &self.links[id as usize].name
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }
}

impl LinkPlan {
    /// The longest delay of a packet after its transmission.
    pub fn longest_delay(&self) -> Dur {
        self.delay + self.reorder.as_ref().map_or(Dur::ZERO, |r| r.by)
    }
}

/// A link is down for a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FailurePlan {
    /// From here on.
    pub down: Time,
    /// Id of the link.
    pub link: u32,
    /// When it is repaired; [`Time::MAX`]: never.
    pub up: Time,
    /// In each run both are delayed by a time drawn between 0 and this.
    pub spread: Dur,
    /// Its number in the scenario: failures of the same number have the same delay.
    pub number: u32,
}

/// One flow, or one workload of sessions.
#[derive(Clone, Debug)]
pub struct FlowPlan {
    /// Its name, unique: the path of its random streams.
    pub name: Box<str>,
    /// Class of service: an index into [`WorldPlan::classes`].
    pub class: u16,
    /// Id of the sending node.
    pub from: u32,
    /// Id of the receiving node.
    pub to: u32,
    /// Its path: an index into [`WorldPlan::routes`].
    pub route: u32,
    /// The path of its answers, such as the ACKs of a connection; none for an open-loop source.
    pub back: Option<u32>,
    /// Addresses, ports, protocol.
    pub key: FlowKey,
    /// DSCP at the source.
    pub dscp: Dscp,
    /// ECN field at the source.
    pub ecn: Ecn,
    /// When it is active; shared by the flows of a row.
    pub lifetime: Arc<Lifetime>,
    /// Whether its gap counts from the start of the flow before it in the plan, which is of the
    /// same group.
    pub follows: bool,
    /// What it sends.
    pub traffic: Traffic,
    /// Its share of these packets, if other flows of a pattern have the others.
    pub split: Option<Split>,
    /// Codec and listener of its speech, if it carries speech.
    pub voice: Option<Arc<Profile>>,
}

/// What a flow sends.
#[derive(Clone, Debug)]
pub enum Traffic {
    /// Open-loop packets.
    Source(Arc<SourceSpec>),
    /// A TCP connection.
    Tcp {
        /// Its parameters.
        config: Arc<TcpConfig>,
        /// The data that it transfers, until the flow's stop at the latest.
        application: Application,
    },
    /// TCP connections that begin and end during the run.
    Sessions(Arc<SessionsPlan>),
    /// Packets of a capture.
    Replay(Arc<ReplayPlan>),
}

/// When a flow is active.
#[derive(Clone, Debug)]
pub struct Lifetime {
    /// When it starts.
    pub start: Time,
    /// Each run starts it uniformly within this time after `start`.
    pub start_spread: Dur,
    /// Each run starts it an exponential gap of this mean after `start`, or after the flow before
    /// it if it [follows](FlowPlan::follows); zero for no gap.
    pub start_gap: Dur,
    /// When it stops, [`Time::MAX`] for never.
    pub stop: Time,
}

/// The senders and receivers of a row of traffic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternPlan {
    /// The name of the row.
    pub name: String,
    /// Node or group that sends.
    pub from: String,
    /// Node or group that receives.
    pub to: String,
    /// How many flows it has.
    pub flows: u32,
    /// The pattern in words: `each packet to any receiver with the same probability`.
    pub pattern: String,
}

/// A part of a source whose packets have different receivers.
#[derive(Clone, Debug)]
pub struct Split {
    /// The name of the source: the path of its random streams. Flows with one have the same source.
    pub source: Arc<str>,
    /// The shares of the receivers.
    pub shares: Arc<Shares>,
    /// The index of the flow's share.
    pub receiver: u32,
}

impl FlowPlan {
    /// The flow's share of the packets of [`FlowPlan::traffic`], 0 to 1.
    pub fn share(&self) -> f64 {
        let of = |s: &Split| s.shares.share(s.receiver);
        self.split.as_ref().map_or(1.0, of)
    }

    /// The call that the flow is, with its codec, packetization and delays; none for other traffic.
    pub fn call(&self) -> Option<&VoipSpec> {
        match &self.traffic {
            Traffic::Source(source) => match &**source {
                SourceSpec::Voip(call) => Some(call),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Traffic {
    /// Whether the switch behind the sender decides when a packet is sent.
    pub fn is_backlogged(&self) -> bool {
        matches!(self, Self::Source(s) if matches!(**s, SourceSpec::Backlogged(_)))
    }

    /// Whether the receiver answers.
    pub fn is_closed_loop(&self) -> bool {
        !matches!(self, Self::Source(_) | Self::Replay(_))
    }

    /// The longest IP packets in bytes, of the flow and of its answers; 0 if there are none of
    /// relevant length.
    pub fn longest(&self) -> (u16, u16) {
        match self {
            Self::Source(source) => (Source::longest(source), 0),
            Self::Tcp {
                config,
                application,
            } => {
                let full = config.longest_packet();
                let spare = match application {
                    Application::Bytes(n) => u64::from(config.mss).saturating_sub(*n) as u16,
                    Application::Greedy | Application::Source(_) => 0,
                };
                (full - spare, 0)
            }
            Self::Sessions(s) => {
                let data = s.config.longest_packet();
                match s.session {
                    SessionSpec::RequestResponse(_) => (data, data),
                    SessionSpec::Transfer(_) | SessionSpec::Lifetime(_) => (data, 0),
                }
            }
            Self::Replay(r) => (r.survey.longest, 0),
        }
    }
}

/// The application that writes into a connection.
#[derive(Clone, Debug, PartialEq)]
pub enum Application {
    /// It always has data to send.
    Greedy,
    /// This many bytes at once; at least 1.
    Bytes(u64),
    /// It writes the bytes of each IP packet that the source emits.
    Source(Arc<SourceSpec>),
}

/// Connections that begin and end during the run.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionsPlan {
    /// Parameters of each connection.
    pub config: Arc<TcpConfig>,
    /// When sessions begin, counted from the flow's start; none begins from its stop on.
    pub arrivals: ArrivalSpec,
    /// What a session does.
    pub session: SessionSpec,
    /// The most open sessions; a session beyond is refused and counted. At least 1.
    pub active: u32,
}

impl SessionsPlan {
    /// The most open connections: a dialogue has one for each direction.
    pub fn connections(&self) -> usize {
        let each = match self.session {
            SessionSpec::RequestResponse(_) => 2,
            _ => 1,
        };
        each * self.active as usize
    }
}

/// A capture that is replayed. Its flows follow each other in [`WorldPlan::flows`], one for each
/// group of [`Survey::flows`].
#[derive(Clone, Debug)]
pub struct ReplayPlan {
    /// The file, for messages.
    pub file: String,
    /// How to open it.
    pub opener: Arc<dyn Opener>,
    /// The packets that are taken.
    pub selection: Arc<Selection>,
    /// What the file holds.
    pub survey: Arc<Survey>,
    /// When packets are sent, counted from the flows' start.
    pub clock: Clock,
    /// DSCP that replaces the packets' own.
    pub dscp: Option<Dscp>,
    /// Whether it repeats at its end.
    pub looped: bool,
}

/// The flows of a class that begin or end at some nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SitePlan {
    /// Its name in reports: `voice @ site-a`.
    pub name: String,
    /// Class of service: an index into [`WorldPlan::classes`].
    pub class: u16,
    /// Ids of the nodes.
    pub nodes: Vec<u32>,
}

impl SitePlan {
    /// Whether a flow belongs to it.
    pub fn has(&self, flow: &FlowPlan) -> bool {
        flow.class == self.class
            && (self.nodes.contains(&flow.from) || self.nodes.contains(&flow.to))
    }
}

/// One requirement.
#[derive(Clone, Debug, PartialEq)]
pub struct SlaPlan {
    /// Class of service, by name.
    pub class: String,
    /// The name of one of [`WorldPlan::sites`], if only flows at a site count.
    pub group: Option<String>,
    /// What the customer calls the site.
    pub site: Option<String>,
    /// The code point with which packets arrived or were lost, if only these count.
    pub dscp: Option<Dscp>,
    /// The customer.
    pub customer: Option<String>,
    /// The published objective behind it: preset, parameter, share.
    pub basis: Option<String>,
    /// The bounded metric.
    pub metric: Metric,
    /// Upper bound in the metric's base unit (seconds, ratio, bits per second).
    pub max: Option<f64>,
    /// Lower bound in the metric's base unit.
    pub min: Option<f64>,
    /// Whether it is to hold for certain, not in the mean of the runs.
    pub certain: bool,
    /// The place of its bound or of its preset.
    pub written: Written,
}

/// A place in a file of the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The file, as the user names it.
    pub file: String,
    /// Line, from 1; none where there is none.
    pub line: Option<u32>,
    /// Column in characters, from 1.
    pub column: Option<u32>,
    /// Length of the offending text in characters; 0 if unknown.
    pub width: u32,
    /// The keys that lead there, such as `sla[0].max`.
    pub path: String,
}

impl WorldPlan {
    /// The code points that policies and stages may give to packets.
    pub fn marks(&self) -> Vec<Dscp> {
        let stages = self.stages.iter().flat_map(|s| s.marks());
        let links = self.links.iter().flat_map(|l| l.discipline.marks());
        links.chain(stages).collect()
    }

    /// For each class of service a bit for each code point with which its packets are sent.
    pub fn sent_with(&self) -> Vec<u64> {
        let mut bits = vec![0; self.classes.len()];
        for flow in &self.flows {
            let of_class = &mut bits[usize::from(flow.class)];
            *of_class |= 1 << flow.dscp.value();
            if let Traffic::Replay(replay) = &flow.traffic {
                let own = replay.survey.flows.entries().iter().map(|e| e.dscp);
                for dscp in own.map(|own| replay.dscp.unwrap_or(own)) {
                    *of_class |= 1 << dscp.value();
                }
            }
        }
        bits
    }

    /// Whether packets of a class may arrive with a code point that is measured: one of its
    /// sources, or one that policies set.
    pub fn may_end_with(&self, class: &str, dscp: Dscp) -> bool {
        let marks = self.marks();
        let sent = self.classes.iter().zip(self.sent_with());
        let mut own = sent.filter(|(name, _)| *name == class);
        let has_own = own.any(|(_, bits)| bits >> dscp.value() & 1 != 0);
        !marks.is_empty() && (marks.contains(&dscp) || has_own)
    }

    /// Whether nodes note of packets that arrive the link and the tag of the frame.
    pub fn notes_arrivals(&self) -> bool {
        let looks = |l: &LinkPlan| l.discipline.looks_at_marks();
        self.stages.look_at_notes() || self.links.iter().any(looks)
    }

    /// Whether a link is inside the provider's MPLS network.
    pub fn carries_labels(&self, link: &LinkPlan) -> bool {
        let mpls = self.stages.mpls();
        mpls.is_some_and(|m| m.is_inside(link.from, link.to))
    }

    /// The distinct numbers of labels of packets on each link while all links are up, ascending;
    /// none for links that no flow takes through the MPLS network.
    pub fn label_depths(&self) -> Vec<Vec<u8>> {
        let mut depths = vec![Vec::new(); self.links.len()];
        let Some(mpls) = self.stages.mpls() else {
            return depths;
        };
        let ends = |l: u32| (self.links[l as usize].from, self.links[l as usize].to);
        for route in &self.routes {
            for (link, depth) in route.iter().zip(mpls.depths(route, ends)) {
                let known = &mut depths[*link as usize];
                if self.carries_labels(&self.links[*link as usize]) && !known.contains(&depth) {
                    known.push(depth);
                    known.sort_unstable();
                }
            }
        }
        depths
    }

    /// Routing with all links up; the caller tells it of failures.
    pub fn routing(&self) -> Routes {
        let edge = |l: &LinkPlan| Edge {
            from: l.from,
            to: l.to,
            cost: l.cost,
            // Where links fail there are no ATM switches.
            far_end: None,
            is_line: false,
        };
        Routes::new(self.nodes.len(), self.links.iter().map(edge).collect())
    }
}
