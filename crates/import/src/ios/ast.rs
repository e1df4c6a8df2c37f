//! The queueing part of a configuration as written: names are not resolved, and nothing is checked
//! across lines.

use std::collections::{BTreeMap, BTreeSet};

use spillgate_core::{Burst, Dscp, Limit, Rate, RateOrPercent, Size};
use spillgate_nodes::atm::{ContractSpec, VcSpec};
use spillgate_queueing::aqm::{WredBy, WredProfile, WredUnit};
use spillgate_queueing::spec::{PoliceAction, PortRange};

use super::fault::Fault;
use super::lexer::{Line, Words};

/// Where something stands.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Origin<'a> {
    /// Line number, from 1.
    pub(crate) line: u32,
    /// Column of what matters in the line, from 1.
    pub(crate) column: u32,
    /// The line's text.
    pub(crate) text: &'a str,
}

impl<'a> Origin<'a> {
    pub(crate) fn new(line: Line<'a>, column: u32) -> Self {
        Self {
            line: line.number,
            column,
            text: line.text(),
        }
    }

    /// A value that stands here.
    pub(crate) fn at<T>(self, value: T) -> At<'a, T> {
        At {
            value,
            origin: self,
        }
    }

    /// Something wrong here.
    pub(crate) fn fault(&self, code: &'static str, message: impl Into<String>) -> Fault {
        Fault::new(code, self.column, message).found(self.text)
    }
}

/// A value and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At<'a, T> {
    pub(crate) value: T,
    pub(crate) origin: Origin<'a>,
}

/// Everything that was found.
#[derive(Debug, Default)]
pub(crate) struct Config<'a> {
    pub(crate) class_maps: BTreeMap<&'a str, ClassMap<'a>>,
    pub(crate) policy_maps: BTreeMap<&'a str, PolicyMap<'a>>,
    /// Policy-maps of other types (`type inspect` ...), which are not read.
    pub(crate) foreign_policies: BTreeSet<&'a str>,
    pub(crate) acls: BTreeMap<&'a str, Acl<'a>>,
    pub(crate) groups: BTreeMap<&'a str, ObjectGroup<'a>>,
    /// `vc-class atm`.
    pub(crate) vc_classes: BTreeMap<&'a str, CircuitLines<'a>>,
    pub(crate) interfaces: Vec<Interface<'a>>,
    /// Position in `interfaces` by name.
    pub(crate) interface_index: BTreeMap<String, usize>,
    /// The lines about queueing outside class-maps and lists, in the order of the file.
    pub(crate) said: Vec<Said<'a>>,
}

/// A line and where it belongs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said<'a> {
    pub(crate) line: u32,
    pub(crate) text: &'a str,
    pub(crate) owner: Owner<'a>,
}

/// The block that a line is of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Owner<'a> {
    /// A class of a policy-map.
    Class { policy: &'a str, class: &'a str },
    /// An interface by its position, or a circuit of it.
    Interface(usize, Option<usize>),
    /// A block that is skipped, by its first line.
    Block(&'a str),
    /// None: it stands alone.
    Nobody,
}

/// `class-map`.
#[derive(Debug)]
pub(crate) struct ClassMap<'a> {
    pub(crate) origin: Origin<'a>,
    /// `match-any`; else `match-all`, the default.
    pub(crate) any: bool,
    pub(crate) criteria: Vec<At<'a, Criterion<'a>>>,
}

/// One `match` line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Criterion<'a> {
    /// `match not`.
    pub(crate) negated: bool,
    pub(crate) test: Test<'a>,
}

/// What a `match` line tests.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Test<'a> {
    Any,
    Dscp(Vec<Dscp>),
    Precedence(Vec<u8>),
    /// EXP bits of the top label.
    Exp(Vec<u8>),
    /// An access list by name or number.
    Acl(&'a str),
    ClassMap(&'a str),
    /// A protocol of [`super::protocols`], by its index there.
    Protocol(&'static super::protocols::Known),
    /// Priorities of the 802.1Q tag.
    Cos(Vec<u8>),
    QosGroup(Vec<u16>),
    /// The full name of the interface over which packets come in.
    Input(String),
    /// UDP destination ports (`match ip rtp`).
    RtpPorts(PortRange),
    /// Something that simulated packets do not have. It was listed.
    Unmodelled,
}

/// `policy-map`.
#[derive(Debug)]
pub(crate) struct PolicyMap<'a> {
    pub(crate) origin: Origin<'a>,
    /// In the order in which they are tried.
    pub(crate) classes: Vec<Class<'a>>,
    /// Position in `classes` by name.
    pub(crate) index: BTreeMap<&'a str, usize>,
}

/// `class` of a policy-map.
#[derive(Debug, Default)]
pub(crate) struct Class<'a> {
    pub(crate) name: &'a str,
    pub(crate) origin: Origin<'a>,
    pub(crate) priority: Option<At<'a, Priority>>,
    pub(crate) bandwidth: Option<At<'a, RateOrPercent>>,
    pub(crate) remaining: Option<At<'a, Remaining>>,
    pub(crate) shape: Option<At<'a, Shaping>>,
    pub(crate) police: Option<At<'a, Police<'a>>>,
    /// `drop`.
    pub(crate) drop: Option<Origin<'a>>,
    pub(crate) queue_limit: Option<At<'a, Limit>>,
    /// `queue-limit dscp` and `queue-limit precedence`.
    pub(crate) dscp_limits: BTreeMap<Dscp, At<'a, Limit>>,
    pub(crate) precedence_limits: BTreeMap<u8, At<'a, Limit>>,
    /// Number of conversation queues and packets of each, where given.
    pub(crate) fair_queue: Option<At<'a, FairQueue>>,
    pub(crate) wred: Wred<'a>,
    pub(crate) set_dscp: Option<At<'a, Dscp>>,
    /// `set mpls experimental topmost`.
    pub(crate) set_exp: Option<At<'a, u8>>,
    /// `set mpls experimental imposition`.
    pub(crate) set_exp_imposition: Option<At<'a, u8>>,
    pub(crate) set_cos: Option<At<'a, u8>>,
    pub(crate) set_qos_group: Option<At<'a, u16>>,
    pub(crate) policy: Option<At<'a, &'a str>>,
}

impl<'a> Class<'a> {
    pub(crate) fn new(name: &'a str, origin: Origin<'a>) -> Self {
        Self {
            name,
            origin,
            ..Self::default()
        }
    }
}

/// `priority`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Priority {
    pub(crate) level: u8,
    pub(crate) rate: Option<RateOrPercent>,
    pub(crate) burst: Option<Size>,
}

/// `bandwidth remaining`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Remaining {
    Percent(spillgate_core::Percent),
    Ratio(u32),
}

/// `shape`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shaping {
    pub(crate) rate: RateOrPercent,
    /// Bc.
    pub(crate) burst: Option<Burst>,
    /// Be, unless it is 0.
    pub(crate) excess: Option<Burst>,
}

/// `police`.
#[derive(Clone, Debug)]
pub(crate) struct Police<'a> {
    pub(crate) rate: RateOrPercent,
    pub(crate) burst: Option<Burst>,
    /// The excess burst, or with a peak rate the peak burst.
    pub(crate) excess: Option<Burst>,
    /// The peak rate: the meter has two rates.
    pub(crate) peak: Option<RateOrPercent>,
    /// Actions by color; none where none were written.
    pub(crate) conform: Vec<PoliceAction>,
    pub(crate) exceed: Vec<PoliceAction>,
    pub(crate) violate: Vec<PoliceAction>,
    /// Class-maps of the packets that come as conforming and as exceeding.
    pub(crate) conform_color: Option<At<'a, &'a str>>,
    pub(crate) exceed_color: Option<At<'a, &'a str>>,
}

/// `fair-queue`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FairQueue {
    pub(crate) queues: Option<u16>,
    pub(crate) threshold: Option<u16>,
}

/// `random-detect`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wred<'a> {
    /// Any line of it was given, the first.
    pub(crate) origin: Option<Origin<'a>>,
    /// `random-detect`, `random-detect dscp-based` and the like.
    pub(crate) by: Option<WredBy>,
    pub(crate) weight: Option<u8>,
    pub(crate) ecn: bool,
    /// What the thresholds of its profiles count; none without profiles.
    pub(crate) unit: Option<WredUnit>,
    /// The profile of the values that have none of their own (`aggregate`); none: the default.
    pub(crate) rest: Option<WredProfile>,
    pub(crate) dscp: BTreeMap<Dscp, At<'a, WredProfile>>,
    pub(crate) precedence: BTreeMap<u8, At<'a, WredProfile>>,
}

/// An access list.
#[derive(Debug)]
pub(crate) struct Acl<'a> {
    pub(crate) kind: AclKind,
    /// By sequence number. Read only where a class-map names the list.
    pub(crate) lines: BTreeMap<u32, AclLine<'a>>,
}

/// Families of access lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AclKind {
    /// By source address.
    Standard,
    /// By addresses, protocol, ports and type of service.
    Extended,
    /// Not of IPv4; the family's name.
    Foreign(&'static str),
}

/// One line of an access list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AclLine<'a> {
    /// None for lines that neither permit nor deny (`evaluate`, `dynamic`).
    pub(crate) permit: Option<bool>,
    /// What follows the first keyword.
    pub(crate) rest: Words<'a>,
}

/// `object-group`.
#[derive(Debug)]
pub(crate) struct ObjectGroup<'a> {
    pub(crate) kind: GroupKind,
    /// Read only where an access list that counts names the group.
    pub(crate) lines: Vec<Words<'a>>,
}

/// What an object group holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GroupKind {
    /// IPv4 addresses.
    Network,
    /// Protocols and ports.
    Service,
}

/// `interface`.
#[derive(Debug, Default)]
pub(crate) struct Interface<'a> {
    pub(crate) name: String,
    pub(crate) origin: Origin<'a>,
    /// `bandwidth`.
    pub(crate) own_bandwidth: Option<At<'a, Rate>>,
    /// `speed` of an Ethernet port, not left to negotiation.
    pub(crate) speed: Option<At<'a, Rate>>,
    /// `bandwidth qos-reference`.
    pub(crate) qos_reference: Option<At<'a, Rate>>,
    /// `max-reserved-bandwidth`, in percent.
    pub(crate) max_reserved: Option<At<'a, u32>>,
    pub(crate) output_policy: Option<At<'a, &'a str>>,
    pub(crate) input_policy: Option<At<'a, &'a str>>,
    /// `encapsulation dot1q`, or a trunk of a switch.
    pub(crate) dot1q: Option<Origin<'a>>,
    /// The VLAN of its frames, where it is one.
    pub(crate) vlan: Option<u16>,
    pub(crate) queueing: Option<At<'a, InterfaceQueueing>>,
    pub(crate) hold_queue: Option<At<'a, u32>>,
    /// `tx-ring-limit`, in packets.
    pub(crate) tx_ring: Option<At<'a, u32>>,
    /// `mpls ip`.
    pub(crate) labels: Option<Origin<'a>>,
    pub(crate) wred: Wred<'a>,
    /// `pvc`, in the order of the file.
    pub(crate) circuits: Vec<Circuit<'a>>,
    /// `class-int`.
    pub(crate) vc_class: Option<At<'a, &'a str>>,
    /// What the frames of its circuits carry, where the interface says it (`atm route-bridged`,
    /// `bridge-group`, `pppoe enable`).
    pub(crate) inside: Option<At<'a, Inside>>,
}

impl<'a> Interface<'a> {
    /// What percentages of its policy are of, if it says so.
    pub(crate) fn bandwidth(&self) -> Option<At<'a, Rate>> {
        self.qos_reference.or(self.own_bandwidth)
    }
}

/// `pvc`.
#[derive(Debug)]
pub(crate) struct Circuit<'a> {
    pub(crate) vc: VcSpec,
    pub(crate) name: Option<&'a str>,
    pub(crate) origin: Origin<'a>,
    pub(crate) lines: CircuitLines<'a>,
    /// `class-vc`.
    pub(crate) class: Option<At<'a, &'a str>>,
}

/// What stands inside a `pvc` or a `vc-class atm`.
#[derive(Clone, Debug, Default)]
pub(crate) struct CircuitLines<'a> {
    pub(crate) contract: Option<At<'a, ContractSpec>>,
    pub(crate) encapsulation: Option<At<'a, Encapsulation>>,
    pub(crate) inside: Option<At<'a, Inside>>,
    pub(crate) output_policy: Option<At<'a, &'a str>>,
    pub(crate) input_policy: Option<At<'a, &'a str>>,
    /// `vc-hold-queue`, in packets.
    pub(crate) hold_queue: Option<At<'a, u32>>,
    /// `tx-ring-limit`, in packets.
    pub(crate) tx_ring: Option<At<'a, u32>>,
}

impl<'a> CircuitLines<'a> {
    /// Where its lines stand.
    pub(crate) fn origins(&self) -> impl Iterator<Item = Origin<'a>> {
        let policies = [self.output_policy, self.input_policy];
        let all = [
            self.contract.as_ref().map(|at| at.origin),
            self.encapsulation.map(|at| at.origin),
            self.inside.map(|at| at.origin),
            self.hold_queue.map(|at| at.origin),
            self.tx_ring.map(|at| at.origin),
        ];
        let policies = policies.map(|p| p.map(|at| at.origin));
        all.into_iter().chain(policies).flatten()
    }
}

/// `encapsulation` of a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encapsulation {
    Snap,
    /// `aal5mux`, and the protocol unless it is routed packets.
    Mux(Option<Inside>),
    CiscoPpp,
    Nlpid,
    Auto,
    Other,
}

/// What is in the frames of a circuit beside routed packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inside {
    Bridged,
    Ppp,
    Pppoe,
}

/// Queueing of an interface without a policy-map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InterfaceQueueing {
    /// `fair-queue`.
    Fair(FairQueue),
    /// `no fair-queue`.
    Fifo,
}
