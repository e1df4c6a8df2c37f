//! Queue disciplines as a user writes them.
//!
//! A link's `policy` names a [`DisciplineSpec`]. Router configurations become the same types, so an
//! inline policy and an imported one cannot behave differently.

mod class_based;
mod matching;
mod phb;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Kind, Limit};

pub use class_based::{
    ClassBasedSpec, ClassScheduler, ClassSpec, PolicingWhen, PrioritySpec, ShapeSpec, ShaperKind,
};
pub use matching::{AclEntry, MatchSpec, NetSpec, PortRange, Protocol};
pub use phb::Phb;
pub use spillgate_core::OneOrMany;

pub use crate::aqm::{
    AqmSpec, CobaltSpec, CobaltVariant, CodelSpec, CodelVariant, InverseSqrt, OwnAqmSpec, Pi2Spec,
    PieSpec, PieVariant, RedMarks, RedRules, RedSpec, RedSpread, RedUnit, RedVariant, SizeScaling,
    StepSpec, WredBy, WredDefaults, WredProfile, WredSpec, WredUnit,
};
pub use crate::condition::{PoliceAction, PoliceActions, PoliceSpec};
pub use crate::fan::spec::{
    BasicSpec, EfmSpec, ElasticRule, FairRateSpec, FanMechanism, FanScheduler, FanSpec, PdrrMode,
    PdrrSpec, PfqSpec, PriorityLoadSpec, RaefSpec, RbaefSpec,
};
pub use crate::hier::{ClassKeys, CurveSpec, HfscClassSpec, HfscSpec, HtbClassSpec, HtbSpec};
pub use crate::leaf::WhenFull;
pub use crate::own::OwnSchedulerSpec;
pub use crate::sched::cake::{CakeAckFilter, CakeDelays, CakeIsolation, CakeSpec, CakeTins};
pub use crate::sched::drr::DrrSpec;
pub use crate::sched::dualpi2_spec::{Decide, DualPi2Spec, DualPi2Variant};
pub use crate::sched::fair::{FairSpec, FlowScheduler};
pub use crate::sched::flow_queue::Guard;
pub use crate::sched::flow_wfq::{CdtPolicy, FairQueueSpec, FlowWeights};
pub use crate::sched::fq::FqSpec;
pub use crate::sched::fq_codel::FqCodelSpec;
pub use crate::sched::fq_pie::FqPieSpec;
pub use crate::sched::pgps::{WfqSpec, WfqWeights};
pub use crate::sched::sfq::{SfqSpec, SfqVariant};

use crate::engine::Engine;
use crate::leaf::{Bound, Leaf, Queue};
use crate::line::Line;
use crate::recipe::At;
use crate::sched::flow_queue::FlowQueueSpec;
use crate::sched::pgps::Pgps;
use crate::tree::Tree;
use spillgate_core::Problem;

/// The context in which a discipline is resolved.
pub(crate) struct Scope<'a> {
    /// All policies by name.
    pub(crate) policies: &'a BTreeMap<String, DisciplineSpec>,
    /// The name of the one being resolved.
    pub(crate) name: &'a str,
    /// The port's line.
    pub(crate) line: Line,
}

spillgate_core::family! {
    /// The queue discipline of a port. Kinds may be added; code that matches on one of them must
    /// handle the others.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[non_exhaustive]
    pub written enum DisciplineSpec by spec;

    /// One queue, first in first out.
    "fifo": Fifo(FifoSpec);
    /// Weighted fair queueing by flow as packet-by-packet generalized processor sharing, PGPS
    /// (Parekh and Gallager 1993).
    "wfq": Wfq(WfqSpec);
    /// Flow-based WFQ: sequence numbers, precedence weights, congestive discard threshold (Cisco
    /// IOS).
    "flow-wfq": FlowWfq(FairQueueSpec);
    /// Classes with priority, bandwidth, shaping and policing: CBWFQ and LLQ (Cisco IOS).
    "class-based": ClassBased(ClassBasedSpec);
    /// The hierarchical token bucket of Linux: classes with guaranteed rates that borrow (tc-htb).
    "htb": Htb(HtbSpec);
    /// The hierarchical fair service curve: classes with real-time, link-sharing and upper-limit
    /// curves (tc-hfsc).
    "hfsc": Hfsc(HfscSpec);
    /// Flow-Aware Networking: admission of flows in front of a fair queue with implicit priority
    /// (Kortebi, Oueslati and Roberts 2004).
    "fan": Fan(FanSpec);
    /// Deficit round robin by flow, pushing out from the longest queue (Shreedhar and Varghese
    /// 1996).
    "drr": Drr(DrrSpec);
    /// Packet fair queueing by flow: SCFQ, start-time FQ, WF2Q+, virtual clock, QFQ or weighted
    /// round robin.
    "fair": Fair(FairSpec);
    /// Fair queueing with new flows first, the scheduler of FQ-CoDel, under any AQM (RFC 8290).
    "fq": Fq(FqSpec);
    /// FQ-CoDel: flow queues by deficit round robin with new flows first, each under CoDel (RFC
    /// 8290).
    "fq-codel": FqCodel(FqCodelSpec);
    /// FQ-PIE: flow queues by deficit round robin with new flows first, each under PIE
    /// (Ramakrishnan and others 2019).
    "fq-pie": FqPie(FqPieSpec);
    /// Stochastic fairness queueing: hashed queues that take turns, as Linux has it (tc-sfq).
    "sfq": Sfq(SfqSpec);
    /// DualPI2: two queues with coupled AQMs, for scalable (L4S) and for classic senders (RFC
    /// 9332).
    "dualpi2": DualPi2(DualPi2Spec);
    /// CAKE: a shaper, tins by code point, and queues that share by host and by flow, each under
    /// COBALT (tc-cake).
    "cake": Cake(CakeSpec);
    /// A scheduler of one's own, given beside the scenario.
    "own": Own(OwnSchedulerSpec);
}

impl DisciplineSpec {
    /// The fair queue by flow that it is, if it is one.
    pub(crate) fn flow_queue(&self) -> Option<&dyn FlowQueueSpec> {
        match self {
            Self::Drr(s) => Some(s),
            Self::Fair(s) => Some(s),
            Self::Fq(s) => Some(s),
            Self::FqCodel(s) => Some(s),
            Self::FqPie(s) => Some(s),
            Self::Sfq(s) => Some(s),
            Self::DualPi2(s) => Some(s),
            Self::Cake(s) => Some(s),
            _ => None,
        }
    }

    /// The classes of a tree of classes (`htb`, `hfsc`), in the order of the list; none of other
    /// disciplines.
    pub fn tree_classes(&self) -> Vec<&dyn ClassKeys> {
        match self {
            Self::Htb(s) => s.classes.iter().map(|c| c as _).collect(),
            Self::Hfsc(s) => s.classes.iter().map(|c| c as _).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether it has rates of its own, which count bytes.
    pub fn has_rates(&self) -> bool {
        matches!(self, Self::ClassBased(_) | Self::Htb(_) | Self::Hfsc(_))
    }

    /// Every AQM that it writes, to be changed.
    pub fn aqms_mut(&mut self) -> Vec<&mut AqmSpec> {
        match self {
            Self::Fifo(s) => s.aqm.iter_mut().collect(),
            Self::Drr(s) => s.aqm.iter_mut().collect(),
            Self::Fair(s) => s.aqm.iter_mut().collect(),
            Self::Fq(s) => s.aqm.iter_mut().collect(),
            Self::ClassBased(s) => s.classes.iter_mut().flat_map(ClassSpec::aqms_mut).collect(),
            Self::Htb(s) => {
                let queues = s.classes.iter_mut().filter_map(|c| c.queue.as_mut());
                queues.flat_map(Self::aqms_mut).collect()
            }
            Self::Hfsc(s) => {
                let queues = s.classes.iter_mut().filter_map(|c| c.queue.as_mut());
                queues.flat_map(Self::aqms_mut).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether it is one queue, which may stand in a class.
    pub(crate) fn single_queue(&self) -> bool {
        matches!(self, Self::Fifo(_) | Self::FlowWfq(_)) || self.flow_queue().is_some()
    }

    /// Where the discipline of this kind was published; `_` in a key stands for `-`.
    pub(crate) fn source(kind: &str) -> Option<&'static str> {
        Kind::find(Self::KINDS, &kind.replace('_', "-"))?.source()
    }

    pub(crate) fn resolve(&self, at: &mut At<'_>, scope: &Scope<'_>) -> Result<Engine, Problem> {
        spec!(self, s => at
            .key(self.kind(), |at| s.engine(at, scope))
            .map(Into::into)
            .map_err(|problem| problem.cite(Self::source(self.kind()))))
    }

    /// The policies that its classes queue inside them.
    pub fn nested(&self) -> impl Iterator<Item = &str> {
        let classes = match self {
            Self::ClassBased(spec) => &spec.classes[..],
            _ => &[],
        };
        classes.iter().filter_map(|c| c.policy.as_deref())
    }
}

impl FifoSpec {
    fn engine(&self, at: &mut At<'_>, scope: &Scope<'_>) -> Result<Leaf, Problem> {
        let bound = at.bound("limit", self.limit, scope.line.rate)?;
        let facts = crate::aqm::LeafFacts {
            rate: scope.line.rate,
            max_packets: bound.max_packets(),
            limit: bound.as_limit(),
        };
        let aqm = match &self.aqm {
            Some(a) => Some(at.key("aqm", |at| a.resolve(at, &facts))?),
            None => None,
        };
        let mut leaf = Leaf::fifo(bound, aqm);
        leaf.full = self.full;
        Ok(leaf)
    }
}

impl WfqSpec {
    fn engine(&self, at: &mut At<'_>, scope: &Scope<'_>) -> Result<Pgps, Problem> {
        at.bound("limit", self.limit, scope.line.rate)?;
        at.bound("hold_queue", self.hold_queue, scope.line.rate)?;
        Ok(Pgps::new(self, scope.line.rate))
    }
}

impl FairQueueSpec {
    fn engine(&self, at: &mut At<'_>, _: &Scope<'_>) -> Result<Leaf, Problem> {
        let queue = Queue::Fair(self.resolve(at)?.into());
        Ok(Leaf::new(queue, Bound::NONE, None))
    }
}

impl ClassBasedSpec {
    fn engine(&self, at: &mut At<'_>, scope: &Scope<'_>) -> Result<Tree, Problem> {
        crate::tree::resolve(self, at, scope)
    }
}

spillgate_core::spec! {
    /// Parameters of a FIFO queue.
    pub struct FifoSpec {
        /// Limit of the queue; what would exceed it makes the queue drop (`full`). Default 40
        /// packets, the output hold queue of Cisco IOS.
        pub limit: Limit = Limit::Packets(40),
        /// What is dropped where a packet would exceed the limit: it, as many as need be from the
        /// front of the queue, or others chosen at random. Default `tail`.
        #[serde(skip_serializing_if = "crate::aqm::is_default")]
        pub full: WhenFull = WhenFull::Tail,
        /// Active queue management in front of the limit.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub aqm: Option<AqmSpec> = None,
    }
}
