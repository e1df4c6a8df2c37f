//! Class-based policies: the modular QoS model of Cisco IOS.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Burst, Dscp, Limit, Percent, Rate, RateOrPercent, Size};

use super::{
    CakeSpec, DrrSpec, DualPi2Spec, FairQueueSpec, FairSpec, FqCodelSpec, FqPieSpec, FqSpec,
    MatchSpec, Phb, PoliceSpec, SfqSpec,
};
use crate::aqm::AqmSpec;
use crate::line::Longest;
use crate::sched::flow_queue::FlowQueueSpec;
use crate::tree::parts::default_burst;

/// A policy of classes, tried in order. Packets that no class matches go to `class-default`, which
/// is added when it is not written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassBasedSpec {
    /// Which of the classes without `priority` sends next. Default `scfq`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub scheduler: ClassScheduler,
    /// Bytes that the class with the smallest share may send in its turn, 64 B to 1 MiB; the others
    /// send more in proportion. Of `drr` and `ets`. Default 1514 B, or the longest packet as the
    /// link counts it, whichever is more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantum: Option<Size>,
    /// How many classes go first, one after another in the order of the list, before those that
    /// take turns. Of `ets`, which needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub strict: Option<u32>,
    /// The classes, in the order in which they are tried.
    #[serde(deserialize_with = "super::phb::classes")]
    pub classes: Vec<ClassSpec>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Which of the classes without priority sends next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ClassScheduler {
    /// Self-clocked fair queueing: the packet that finishes first in virtual time, which is the
    /// finish of the packet in service (Golestani 1994).
    #[default]
    Scfq,
    /// Start-time fair queueing: the packet that starts first in virtual time, which is the start
    /// of the packet in service (Goyal, Vin and Cheng 1997).
    StartTime,
    /// Of the packets that have started in a fluid server, the one that finishes first (Bennett and
    /// Zhang 1997).
    #[serde(rename = "wf2q+")]
    Wf2qPlus,
    /// The packet that would leave first if each class had a line of its own at its guaranteed rate
    /// (L. Zhang 1990). A class that used what others left is behind them later.
    VirtualClock,
    /// Deficit round robin: classes send bytes in turns (Shreedhar and Varghese 1996).
    Drr,
    /// Weighted round robin: classes send whole packets in turns, whatever their length.
    Wrr,
    /// Each class goes before those that follow it in the list.
    Strict,
    /// Enhanced transmission selection (IEEE 802.1Qaz): the first `strict` classes go first, one
    /// after another, and the others take turns as with `drr`.
    Ets,
}

impl ClassScheduler {
    /// Its name, as scenarios write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scfq => "scfq",
            Self::StartTime => "start-time",
            Self::Wf2qPlus => "wf2q+",
            Self::VirtualClock => "virtual-clock",
            Self::Drr => "drr",
            Self::Wrr => "wrr",
            Self::Strict => "strict",
            Self::Ets => "ets",
        }
    }

    /// Where it was published.
    pub(crate) fn source(self) -> Option<&'static str> {
        crate::sched::source(self.name())
    }
}

impl ClassBasedSpec {
    /// How many of its classes, those with priority aside, go before all that follow them.
    pub fn strictly(&self) -> usize {
        match self.scheduler {
            ClassScheduler::Strict => usize::MAX,
            ClassScheduler::Ets => self.strict.unwrap_or(0) as usize,
            _ => 0,
        }
    }
}

/// One class of a policy.
///
/// A class that asks for no queue of its own (no priority, bandwidth, shape, queue limit of any
/// kind, AQM, fair queue or policy) only conditions its packets: they are queued with those of
/// `class-default`, as on a Cisco router.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ClassSpec {
    /// Its name, unique in the policy. `class-default` matches everything and comes last.
    pub name: String,
    /// Which packets belong to it. Required, except for `class-default` and with a
    /// `phb`.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub matching: Option<MatchSpec>,
    /// Its per-hop behavior: `default`, `le`, `ef`, `af1` .. `af4` or `cs1` .. `cs7`. Shorthand for
    /// a `match` of the behavior's code points and for a queue that fits it; what the class says
    /// itself stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phb: Option<Phb>,
    /// Strict priority (LLQ). Excludes `bandwidth`, `queue_limit` and `aqm`; beside `shape` the
    /// class is first as long as it has tokens (IOS XR).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<PrioritySpec>,
    /// Guaranteed bandwidth: a rate, or a percentage of the enclosing rate. Classes without any
    /// bandwidth statement share the rest equally; if nothing is left, they are served only while
    /// no class with a share can send.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<RateOrPercent>,
    /// Share of the rate that priority and guaranteed classes leave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth_remaining: Option<Percent>,
    /// Share of the rate that priority and guaranteed classes leave, as a ratio 1..=1000 to the
    /// other classes' ratios; classes without any bandwidth statement then have ratio 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub bandwidth_remaining_ratio: Option<u32>,
    /// Upper bound on the class's rate; excess packets are queued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<ShapeSpec>,
    /// Upper bound on the class's rate; excess packets are dropped or re-marked on arrival.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub police: Option<PoliceSpec>,
    /// Limit of the class's queue. Default 64 packets; with `fair_queue`, no limit beside the fair
    /// queue's own. Time is counted at the class's guaranteed rate, at the enclosing rate if it has
    /// none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_limit: Option<Limit>,
    /// Weighted tail drop: a packet of one of these DSCPs is dropped on arrival unless it fits
    /// under this limit, too. All queued packets of the class count, whatever their DSCP. Time is
    /// counted as in `queue_limit`. Of a labelled packet the class selector of its EXP bits counts
    /// as its DSCP.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub queue_limit_dscp: BTreeMap<Dscp, Limit>,
    /// Weighted tail drop for every DSCP of these IP precedences, 0..=7, that `queue_limit_dscp`
    /// does not name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub queue_limit_precedence: BTreeMap<u8, Limit>,
    /// Active queue management of the class's queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aqm: Option<AqmSpec>,
    /// A fair queue by flow inside the class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fair_queue: Option<FairQueueSpec>,
    /// Deficit round robin by flow inside the class, in place of `queue_limit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drr: Option<DrrSpec>,
    /// Packet fair queueing by flow inside the class, in place of `queue_limit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fair: Option<FairSpec>,
    /// Fair queueing with new flows first inside the class, in place of `queue_limit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fq: Option<FqSpec>,
    /// FQ-CoDel inside the class, in place of `queue_limit` and `aqm`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fq_codel: Option<FqCodelSpec>,
    /// FQ-PIE inside the class, in place of `queue_limit` and `aqm`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fq_pie: Option<FqPieSpec>,
    /// Stochastic fairness queueing inside the class, in place of `queue_limit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sfq: Option<SfqSpec>,
    /// DualPI2 inside the class, in place of `queue_limit` and `aqm`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dualpi2: Option<DualPi2Spec>,
    /// CAKE inside the class, without its shaper, in place of `queue_limit` and `aqm`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cake: Option<CakeSpec>,
    /// Sets the DSCP of every packet of the class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_dscp: Option<Dscp>,
    /// Sets the EXP bits, 0..=7, of the top label of every labelled packet of the class.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 7))]
    pub set_exp: Option<u8>,
    /// Sets the EXP bits, 0..=7, of the labels that a packet without labels gets at the next
    /// provider edge, in place of those of `mpls.imposition` of the topology.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 7))]
    pub set_exp_imposition: Option<u8>,
    /// Sets the priority, 0..=7, of the 802.1Q tag (CoS) of every packet of the class. Links
    /// without `dot1q` carry none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 7))]
    pub set_cos: Option<u8>,
    /// Puts every packet of the class into this QoS group, 0..=511, until it leaves the node: for
    /// input policies (`input_policy` of a link).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 511))]
    pub set_qos_group: Option<u16>,
    /// Name of a class-based policy that queues inside this class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
}

impl ClassSpec {
    /// The limit of its queue, to which WRED's default thresholds may refer: its own limit, that of
    /// its fair queue, or 64 packets.
    pub fn waiting_limit(&self) -> Limit {
        let fair = self.fair_queue.as_ref().map(|f| f.hold_queue);
        let own = match &self.priority {
            Some(p) => Some(p.limit),
            None => self.queue_limit,
        };
        own.unwrap_or_else(|| Limit::Packets(fair.unwrap_or(64)))
    }

    /// Every AQM that it writes, to be changed.
    pub(crate) fn aqms_mut(&mut self) -> impl Iterator<Item = &mut AqmSpec> {
        let drr = self.drr.iter_mut().flat_map(|q| &mut q.aqm);
        let fair = self.fair.iter_mut().flat_map(|q| &mut q.aqm);
        let fq = self.fq.iter_mut().flat_map(|q| &mut q.aqm);
        self.aqm.iter_mut().chain(drr).chain(fair).chain(fq)
    }

    /// The fair queues by flow that it may have, by key.
    pub(crate) fn flow_queues(
        &self,
    ) -> impl Iterator<Item = (&'static str, Option<&dyn FlowQueueSpec>)> + Clone {
        fn spec<S: FlowQueueSpec>(s: &Option<S>) -> Option<&dyn FlowQueueSpec> {
            s.as_ref().map(|s| s as _)
        }
        [
            ("drr", spec(&self.drr)),
            ("fair", spec(&self.fair)),
            ("fq", spec(&self.fq)),
            ("fq_codel", spec(&self.fq_codel)),
            ("fq_pie", spec(&self.fq_pie)),
            ("sfq", spec(&self.sfq)),
            ("dualpi2", spec(&self.dualpi2)),
            ("cake", spec(&self.cake)),
        ]
        .into_iter()
    }

    /// The fair queue by flow that it has, with its key.
    pub(crate) fn flow_queue(&self) -> Option<(&'static str, &dyn FlowQueueSpec)> {
        self.flow_queues()
            .find_map(|(key, spec)| Some((key, spec?)))
    }

    /// The key of the fair queue by flow that it has; `fair_queue` is apart.
    pub fn flow_queue_kind(&self) -> Option<&'static str> {
        self.flow_queue().map(|(key, _)| key)
    }

    /// The keys of all fair queues by flow that a class may have.
    pub fn flow_queue_kinds() -> Vec<&'static str> {
        let none = Self::default();
        none.flow_queues().map(|(key, _)| key).collect()
    }

    /// Whether its flows have queues of their own.
    pub fn has_flow_queues(&self) -> bool {
        self.fair_queue.is_some() || self.flow_queue().is_some()
    }

    /// The keys that make or shape a queue of its own, and whether each is set.
    pub(crate) fn queueing_keys(&self) -> impl Iterator<Item = (&'static str, bool)> + Clone {
        let own = [
            ("priority", self.priority.is_some()),
            ("bandwidth", self.bandwidth.is_some()),
            ("bandwidth_remaining", self.bandwidth_remaining.is_some()),
            (
                "bandwidth_remaining_ratio",
                self.bandwidth_remaining_ratio.is_some(),
            ),
            ("shape", self.shape.is_some()),
            ("queue_limit", self.queue_limit.is_some()),
            ("queue_limit_dscp", !self.queue_limit_dscp.is_empty()),
            (
                "queue_limit_precedence",
                !self.queue_limit_precedence.is_empty(),
            ),
            ("aqm", self.aqm.is_some()),
            ("fair_queue", self.fair_queue.is_some()),
        ];
        let flows = self.flow_queues().map(|(key, spec)| (key, spec.is_some()));
        own.into_iter().chain(flows)
    }
}

spillgate_core::spec! {
    /// Strict priority with an optional policer (LLQ).
    pub struct PrioritySpec {
        /// 1 is served first. Default 1.
        #[schemars(range(min = 1, max = 16))]
        pub level: u8 = 1,
        /// The rate at which the class may send when the port is congested. None: it is never
        /// policed.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub rate: Option<RateOrPercent> = None,
        /// The policer's burst. Default 200 ms at `rate` (Cisco IOS), at least the longest packet
        /// as it is counted.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub burst: Option<Size> = None,
        /// When the policer acts.
        pub police: PolicingWhen = PolicingWhen::Conditional,
        /// Limit of the class's queue. Default 64 packets.
        pub limit: Limit = Limit::Packets(64),
    }
}

/// When the policer of a priority class acts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PolicingWhen {
    /// Only while packets are queued in the port.
    #[default]
    Conditional,
    /// On every packet.
    Always,
}

/// The token rule of a shaper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ShaperKind {
    /// Linux `htb`: it sends while the tokens are not negative, and pays for the rest of a long
    /// packet with later tokens. Packets of any length leave.
    Htb,
}

/// A token-bucket shaper. It sends a packet when there are tokens for all of it. A packet that is
/// longer than the bucket is deep can never leave; it is dropped on arrival and counted as a
/// policer drop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShapeSpec {
    /// The token rule. Default: tokens for the whole packet.
    #[serde(rename = "as", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ShaperKind>,
    /// The average rate, or a percentage of the largest rate at which the policy may send: that of
    /// the nearest enclosing shaper or policer, else the port's. An enclosing `bandwidth` is not a
    /// maximum.
    pub rate: RateOrPercent,
    /// The bucket's depth, in bytes or in time at `rate` (Bc). Default 4 ms (Cisco IOS), at least
    /// 1600 B and the longest packet as it is counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<Burst>,
    /// The excess burst, by which the bucket is deeper, in bytes or in time at `rate` (Be). Default
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excess_burst: Option<Burst>,
}

impl ShapeSpec {
    /// The depth of the bucket without the excess burst (Bc) at a rate in b/s, in bytes.
    pub fn committed(&self, rate: Rate, longest: Longest) -> u64 {
        self.burst
            .map_or_else(|| default_burst::shape(rate, longest), |b| b.bytes(rate))
    }
}
