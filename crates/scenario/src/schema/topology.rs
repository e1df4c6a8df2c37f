//! Nodes, links, and how they fail.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dur, OneOrMany, Or, Overhead, Packets, Rate, quantity::Size};
use spillgate_nodes::NodeSpec as Kind;
use spillgate_nodes::atm::AtmSpec;
use spillgate_nodes::server::RateProcessSpec;
use spillgate_nodes::stage::StageSpec;
use spillgate_queueing::Counting;

use super::counting::PolicyOverhead;
use super::{LossSpec, ReorderSpec};

macro_rules! topology {
    (
        links { $($_:tt)+ }
        topology { $($(#[doc = $doc:literal])+ $kind:ident = $key:ident, $spec:ty => $plan:ty;)+ }
    ) => {
        /// Nodes and links.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct Topology {
            /// The nodes: names, and groups of nodes.
            pub nodes: Vec<NodeSpec>,
            /// The links by name.
            pub links: BTreeMap<String, LinkSpec>,
            /// Links that fail during a run.
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            pub failures: Vec<FailureSpec>,
            /// How fast routes follow failures and repairs.
            #[serde(default, skip_serializing_if = "RoutingSpec::is_instant")]
            pub routing: RoutingSpec,
            $(
                $(#[doc = $doc])+
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $key: Option<$spec>,
            )+
        }

        impl Topology {
            /// The stages that are written here, by key, in the order of the registry.
            pub fn stages(&self) -> impl Iterator<Item = (&'static str, &dyn StageSpec)> {
                let all = [$((stringify!($key), self.$key.as_ref().map(|s| s as &dyn StageSpec))),+];
                all.into_iter().filter_map(|(key, stage)| Some((key, stage?)))
            }
        }
    };
}

spillgate_nodes::with_stages!(topology);

/// A node by its name, or with more about it, or many alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, from = "Or<String, DescribedSpec>")]
pub enum NodeSpec {
    /// One node, which passes packets on at once.
    Name(String),
    /// A node, or a group of nodes.
    Described(DescribedSpec),
}

impl From<Or<String, DescribedSpec>> for NodeSpec {
    fn from(written: Or<String, DescribedSpec>) -> Self {
        match written {
            Or::Short(name) => Self::Name(name),
            Or::Full(more) => Self::Described(more),
        }
    }
}

macro_rules! described {
    ($($(#[doc = $doc:literal])+ $kind:ident = $key:ident, $spec:ty => $plan:ty;)+) => {
        /// A node, or with `count` a group of nodes `name-0`, `name-1` and so on.
        ///
        /// A link from or to a group is one link per member, called `link-0`, `link-1` and so on;
        /// between two groups of the same count it joins member i to member i. The flows of an
        /// entry of the traffic that begin or end at the group are assigned to its members
        /// round-robin.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct DescribedSpec {
            /// The name of the node or of the group.
            pub name: String,
            /// How many nodes the group has. Default: one node, no group.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            #[schemars(range(min = 1, max = 100_000))]
            pub count: Option<u32>,
            $(
                $(#[doc = $doc])+
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $key: Option<Box<$spec>>,
            )+
        }

        impl DescribedSpec {
            /// What it does with packets that it holds, by key: at most one in a valid scenario.
            fn kinds(&self) -> impl Iterator<Item = (&'static str, &dyn Kind)> {
                let all = [$((stringify!($key), self.$key.as_deref().map(|k| k as &dyn Kind))),+];
                all.into_iter().filter_map(|(key, kind)| Some((key, kind?)))
            }
        }
    };
}

spillgate_nodes::with_node_kinds!(described);

impl NodeSpec {
    /// The name as written.
    pub fn name(&self) -> &str {
        match self {
            Self::Name(name) => name,
            Self::Described(d) => &d.name,
        }
    }

    /// How many nodes, if it is a group.
    pub fn count(&self) -> Option<u32> {
        match self {
            Self::Name(_) => None,
            Self::Described(d) => d.count,
        }
    }

    /// What it does with packets that it holds, by key: at most one in a valid scenario.
    pub fn kinds(&self) -> impl Iterator<Item = (&'static str, &dyn Kind)> {
        let described = match self {
            Self::Name(_) => None,
            Self::Described(d) => Some(d),
        };
        described.into_iter().flat_map(DescribedSpec::kinds)
    }

    /// How it switches cells, if it is an ATM switch.
    pub fn atm_switch(&self) -> Option<&spillgate_nodes::atm::AtmSwitchSpec> {
        match self {
            Self::Name(_) => None,
            Self::Described(d) => d.atm_switch.as_deref(),
        }
    }
}

/// A link and the port that feeds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// Node at the sending end, or a group for one link from each member.
    pub from: String,
    /// Node at the receiving end, or a group for one link to each member.
    pub to: String,
    /// Transmission rate.
    pub rate: Rate,
    /// How the rate of the server really varies, as on a radio link. Policies are resolved for
    /// `rate` and do not know it. Default: it is always `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_process: Option<RateProcessSpec>,
    /// Propagation delay; for the links of a group also a list that is assigned to them
    /// round-robin. Default 0 s: a packet then takes its transmission time only.
    #[serde(default = "at_once")]
    pub delay: OneOrMany<Dur>,
    /// Packets that are lost at random on the link after it has sent them (`drops_link_loss`).
    /// Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossSpec>,
    /// Packets with an additional delay, so that later packets overtake them. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reorder: Option<ReorderSpec>,
    /// The overhead of the link beside the IP packet: bytes, or a sequence of keywords of CAKE,
    /// which act in order (`ethernet ether-vlan`, `pppoe-llcsnap`, `overhead 44 mpu 64 atm`). It
    /// counts for the link's rate and for every rate, limit and burst of its policy. Default
    /// `none`.
    #[serde(default)]
    pub overhead: Overhead,
    /// The overhead that rates and bursts of class-based policies at the link count, if it differs
    /// from that of the link: the words of `overhead`, or `{police: .., queue: ..}` if policers and
    /// queues count differently. It does not affect limits of queues in bytes. Default: the
    /// overhead of the link; with a policy of a router configuration that of its platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_overhead: Option<PolicyOverhead>,
    /// The link is a virtual circuit of ATM, `rate` that of its line in bits of cells of 53 bytes.
    /// Default: it sends packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub atm: Option<Box<AtmSpec>>,
    /// The longest IP packet that the link carries, its MPLS labels included (RFC 3032
    /// section 3.3), 68 to 65535 bytes. Longer packets are lost (`drops_too_big`): packets are
    /// never fragmented. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<Size>,
    /// Queue discipline of the sending port: a name in `policies` or a policy-map of `configs`.
    /// Default: a FIFO that never overflows in practice (1 GB).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// The transmit ring of the sending port, a FIFO behind the queues, 1 to 1000000 packets with
    /// the one in transmission; `tx-ring-limit` of IOS. While it has room no packet is queued, so
    /// that no class is congested. Default 1 packet; with a policy of `configs` the ring of the
    /// configuration, else the default of its platform at this rate, unless all packets go through
    /// shapers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_ring: Option<Packets>,
    /// Policing and marking of packets that arrive over the link, at its receiving end, before
    /// anything else: a class-based policy in `policies` or a policy-map of `configs`. It has no
    /// queues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_policy: Option<String>,
    /// Frames carry an 802.1Q tag: its priority (CoS) reaches the receiving node, 0 if no policy
    /// has set it. Default: frames have no tag, and a CoS is lost. The four bytes of the tag count
    /// only if `overhead` has them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dot1q: bool,
    /// Also creates the same link in the other direction, named `name.reverse`, without a policy
    /// and a transmit ring: its queue is a FIFO of 1 GB.
    #[serde(default)]
    pub duplex: bool,
    /// Cost for shortest-path routing. Default 1.
    #[serde(default = "super::one")]
    #[schemars(range(min = 1))]
    pub cost: u32,
}

impl LinkSpec {
    /// What the rates of its policies count; none: what it adds, or what a router counts.
    pub fn counting(&self) -> Option<Counting> {
        self.policy_overhead.map(|o| o.0)
    }

    /// What the link adds to a packet.
    pub fn counted(&self) -> Overhead {
        match &self.atm {
            Some(atm) => atm.counted(self.overhead),
            None => self.overhead,
        }
    }

    /// The rate that its policies are made for.
    pub fn policy_rate(&self) -> Rate {
        match &self.atm {
            Some(atm) => atm.policy_rate(self.rate),
            None => self.rate,
        }
    }
}

fn at_once() -> OneOrMany<Dur> {
    OneOrMany(vec![Dur::ZERO])
}

/// A failure of a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailureSpec {
    /// The link: of a `duplex` link both directions fail, `name.reverse` alone only the reverse
    /// link; of a group's links all, or the member that is named.
    pub link: String,
    /// When it fails, from the beginning of the run. Packets on it and in its queue are lost.
    pub at: Dur,
    /// When it is repaired, from the beginning of the run. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair: Option<Dur>,
    /// In each run the failure and its repair are delayed by a time drawn between 0 and this, the
    /// same for all links named here. Default 0 s. Useful if results depend on the phase of
    /// something periodic at the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Dur>,
}

/// How fast routes follow failures and repairs: after the sum of both times every node has the
/// shortest paths without the links that are down. Until then packets take the old paths.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RoutingSpec {
    /// Time until the neighbors notice. Default 0 s; 30 ms to 150 ms with BFD (RFC 5880), 40 s with
    /// the hellos of OSPF alone (RFC 2328 appendix C.3).
    pub detection: Dur,
    /// Time until all nodes have new routes. Default 0 s; 50 ms to some seconds with link-state
    /// routing, most of it the delay before paths are computed (RFC 8405).
    pub convergence: Dur,
}

impl RoutingSpec {
    fn is_instant(&self) -> bool {
        *self == Self::default()
    }
}
