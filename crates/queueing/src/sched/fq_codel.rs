//! FQ-CoDel: the scheduler of [`super::fq`] with hashed queues and CoDel in each.
//!
//! Source: T. Hoeiland-Joergensen, P. McKenney, D. Taht, J. Gettys, E. Dumazet, RFC 8290, 2018.
//! Batches and the count after an overflow are those of Linux (`tc-fq_codel(8)`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dur, Limit, Rate, Size};

use super::flow_queue::{FlowQueue, FlowQueueSpec, Guard};
use super::fq::FqSpec;
use crate::aqm::{AqmSpec, CodelSpec, CodelVariant, InverseSqrt};
use crate::leaf::Bound;
use crate::line::Line;
use crate::recipe::At;
use spillgate_core::Problem;

/// FQ-CoDel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FqCodelSpec {
    /// The implementation of CoDel that is followed. Default: RFC 8289.
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    pub variant: Option<CodelVariant>,
    /// Limit of all queues together. Default 10240 packets (RFC 8290 §5.2.4).
    pub limit: Limit,
    /// Limit of all queues together in bytes of packets, beside `limit`. Default 32 MiB (Linux).
    pub memory_limit: Size,
    /// Number of queues into which flows are hashed, 1 to 65536. Default 1024 (RFC 8290 §5.2.3).
    #[schemars(range(min = 1, max = 65536))]
    pub flows: u32,
    /// Bytes that a queue may send in its turn, 64 B to 1 MiB. Default 1514 B (RFC 8290 §5.2.2), or
    /// the longest packet as the link counts it, whichever is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantum: Option<Size>,
    /// Packets that the longest queue loses at most when there is no room. Default 64 (Linux).
    #[schemars(range(min = 1))]
    pub drop_batch: u32,
    /// The acceptable standing delay, as CoDel's. Default 5 ms.
    pub target: Dur,
    /// The time for which delays have to stay above `target` before the first drop, as CoDel's.
    /// Default 100 ms.
    pub interval: Dur,
    /// Mark ECN-capable packets instead of dropping them. Default true (RFC 8290 §5.2.7, Linux).
    pub ecn: bool,
    /// Mark every ECN-capable packet that waited longer, whatever `ecn` says. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ce_threshold: Option<Dur>,
    /// CoDel drops nothing while at most this many bytes are queued. Default 1514 B.
    pub max_packet: Size,
    /// The backlog that is compared with `max_packet`.
    pub guard: Guard,
    /// How the square root is computed. Default `exact`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inverse_sqrt: Option<InverseSqrt>,
}

impl Default for FqCodelSpec {
    fn default() -> Self {
        let codel = CodelSpec::default();
        Self {
            variant: None,
            limit: Limit::Packets(10_240),
            memory_limit: Size(32 << 20),
            flows: 1024,
            quantum: None,
            drop_batch: 64,
            target: codel.target,
            interval: codel.interval,
            ecn: true,
            ce_threshold: None,
            max_packet: codel.max_packet,
            guard: Guard::Total,
            inverse_sqrt: codel.inverse_sqrt,
        }
    }
}

impl FqCodelSpec {
    /// Its CoDel.
    pub fn codel(&self) -> CodelSpec {
        CodelSpec {
            variant: self.variant,
            target: self.target,
            interval: self.interval,
            ecn: self.ecn,
            ce_threshold: self.ce_threshold,
            max_packet: self.max_packet,
            inverse_sqrt: self.inverse_sqrt,
        }
    }

    /// FQ-CoDel with the parameters of this CoDel, else defaults.
    pub fn under(codel: &CodelSpec) -> Self {
        Self {
            variant: codel.variant,
            target: codel.target,
            interval: codel.interval,
            ecn: codel.ecn,
            ce_threshold: codel.ce_threshold,
            max_packet: codel.max_packet,
            inverse_sqrt: codel.inverse_sqrt,
            ..Self::default()
        }
    }

    /// Its scheduler, with CoDel as the AQM.
    pub fn parts(&self) -> FqSpec {
        FqSpec {
            limit: self.limit,
            memory_limit: self.memory_limit,
            queues: Some(self.flows),
            quantum: self.quantum,
            drop_batch: self.drop_batch,
            aqm: Some(AqmSpec::Codel(self.codel())),
            guard: self.guard,
        }
    }
}

impl FlowQueueSpec for FqCodelSpec {
    fn resolve(&self, at: &mut At<'_>, line: &Line) -> Result<Box<dyn FlowQueue>, Problem> {
        let frame = self.parts().frame("fq-codel", "flows", at, line)?;
        Ok(frame.under(self.codel().running(at)?))
    }

    fn bound(&self, rate: Rate) -> Bound {
        self.parts().bound(rate)
    }

    fn aqm(&self) -> Option<AqmSpec> {
        Some(AqmSpec::Codel(self.codel()))
    }

    fn is_one_with_aqm(&self) -> bool {
        true
    }

    fn limits(&self) -> Vec<(&'static str, Limit)> {
        self.parts().limits()
    }

    fn quantum(&self) -> Option<Size> {
        self.quantum
    }
}

#[cfg(test)]
#[path = "fq_codel_tests.rs"]
mod tests;
