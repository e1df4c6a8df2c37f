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
use spillgate_core::Limit;

pub use class_based::{
    ClassBasedSpec, ClassSpec, PolicingWhen, PrioritySpec, ShapeSpec, ShaperKind,
};
pub use matching::{AclEntry, MatchSpec, NetSpec, PortRange, Protocol};
pub use phb::Phb;
pub use spillgate_core::OneOrMany;

pub use crate::aqm::{
    AqmSpec, CodelSpec, CodelVariant, InverseSqrt, PieSpec, PieVariant, RedMarks, RedRules,
    RedSpec, RedSpread, RedUnit, RedVariant, SizeScaling, WredBy, WredDefaults, WredProfile,
    WredSpec, WredUnit,
};
pub use crate::condition::{PoliceAction, PoliceActions, PoliceSpec};
pub use crate::fan::spec::{
    BasicSpec, EfmSpec, ElasticRule, FairRateSpec, FanMechanism, FanScheduler, FanSpec, PdrrMode,
    PdrrSpec, PfqSpec, PriorityLoadSpec, RaefSpec, RbaefSpec,
};
pub use crate::sched::drr::DrrSpec;
pub use crate::sched::flow_queue::Guard;
pub use crate::sched::flow_wfq::{CdtPolicy, FairQueueSpec, FlowWeights};
pub use crate::sched::fq::FqSpec;
pub use crate::sched::fq_codel::FqCodelSpec;
pub use crate::sched::pgps::{WfqSpec, WfqWeights};

use crate::engine::Engine;
use crate::leaf::{Bound, Leaf, Queue};
use crate::line::Line;
use crate::recipe::At;
use crate::registry::Kind;
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

/// Generates, from one line per kind, the specification enum and the list of kinds.
macro_rules! registry {
    (
        $($(#[doc = $doc:literal])+ $variant:ident = $kind:literal, $spec:ty;)+
        flow queues: $($(#[doc = $fdoc:literal])+ $flow:ident = $fkind:literal, $fspec:ty;)+
    ) => {
        /// The queue discipline of a port. Kinds may be added; code that matches on one of them
        /// must handle the others.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[non_exhaustive]
        pub enum DisciplineSpec {
            $($(#[doc = $doc])+ #[serde(rename = $kind)] $variant($spec),)+
            $($(#[doc = $fdoc])+ #[serde(rename = $fkind)] $flow($fspec),)+
        }

        /// Every discipline, in the order of the registry.
        pub(crate) const KINDS: &[Kind] = &[
            $(Kind { kind: $kind, summary: concat!($($doc),+).trim_ascii() },)+
            $(Kind { kind: $fkind, summary: concat!($($fdoc),+).trim_ascii() },)+
        ];

        impl DisciplineSpec {
            /// The key under which a scenario writes it.
            pub fn kind(&self) -> &'static str {
                match self { $(Self::$variant(_) => $kind,)+ $(Self::$flow(_) => $fkind,)+ }
            }

            /// The fair queue by flow that it is, if it is one.
            pub(crate) fn flow_queue(&self) -> Option<&dyn FlowQueueSpec> {
                match self { $(Self::$flow(s) => Some(s),)+ _ => None }
            }

            pub(crate) fn resolve(&self, at: &mut At<'_>, scope: &Scope<'_>) -> Result<Engine, Problem> {
                match self {
                    $(Self::$variant(s) => at.key($kind, |at| s.engine(at, scope)).map(Engine::from),)+
                    $(Self::$flow(s) => {
                        let queue = Queue::Flows(at.key($fkind, |at| s.resolve(at, &scope.line))?);
                        Ok(Leaf::new(queue, Bound::NONE, None).into())
                    })+
                }
            }
        }
    };
}

registry! {
    /// One queue, first in first out.
    Fifo = "fifo", FifoSpec;
    /// Weighted fair queueing by flow as packet-by-packet generalized processor sharing (PGPS).
    Wfq = "wfq", WfqSpec;
    /// Cisco's flow-based WFQ: sequence numbers, precedence weights, congestive discard threshold.
    FlowWfq = "flow-wfq", FairQueueSpec;
    /// Classes with priority, bandwidth, shaping and policing (CBWFQ and LLQ).
    ClassBased = "class-based", ClassBasedSpec;
    /// Flow-Aware Networking: admission of flows in front of a fair queue with implicit priority.
    Fan = "fan", FanSpec;

    flow queues:
    /// Deficit round robin by flow, pushing out from the longest queue.
    Drr = "drr", DrrSpec;
    /// Fair queueing with new flows first, the scheduler of FQ-CoDel, under any AQM (RFC 8290).
    Fq = "fq", FqSpec;
    /// FQ-CoDel: flow queues by deficit round robin with new flows first, each under CoDel (RFC
    /// 8290).
    FqCodel = "fq-codel", FqCodelSpec;
}

impl DisciplineSpec {
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
        Ok(Leaf::fifo(bound, aqm))
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

/// Parameters of a FIFO queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FifoSpec {
    /// Limit of the queue; a packet that would exceed it is dropped (tail drop). Default 40
    /// packets, the output hold queue of Cisco IOS.
    pub limit: Limit,
    /// Active queue management in front of the limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aqm: Option<AqmSpec>,
}

impl Default for FifoSpec {
    fn default() -> Self {
        Self {
            limit: Limit::Packets(40),
            aqm: None,
        }
    }
}
