//! FQ-CoDel: the scheduler of [`super::fq`] with hashed queues and CoDel in each.
//!
//! Source: T. Hoeiland-Joergensen, P. McKenney, D. Taht, J. Gettys, E. Dumazet, RFC 8290, 2018.
//! Batches and the count after an overflow are those of Linux (`tc-fq_codel(8)`).

use spillgate_core::{Dur, Limit, Rate, Size};

use super::flow_queue::{FlowQueue, FlowQueueSpec, Guard};
use super::fq::FqSpec;
use crate::aqm::{AqmSpec, CodelSpec, CodelVariant, InverseSqrt};
use crate::leaf::Bound;
use crate::line::Line;
use crate::recipe::At;
use spillgate_core::Problem;

spillgate_core::spec! {
    /// FQ-CoDel.
    pub struct FqCodelSpec {
        /// The implementation of CoDel that is followed. Default: RFC 8289.
        #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
        pub variant: Option<CodelVariant> = None,
        /// Limit of all queues together. Default 10240 packets (RFC 8290 §5.2).
        pub limit: Limit = Limit::Packets(10_240),
        /// Limit of all queues together in bytes of packets, beside `limit`. Default 32 MiB
        /// (Linux).
        pub memory_limit: Size = Size(32 << 20),
        /// Number of queues into which flows are hashed, 1 to 65536. Default 1024 (RFC 8290
        /// §5.2).
        #[schemars(range(min = 1, max = 65536))]
        pub flows: u32 = 1024,
        /// Bytes that a queue may send in its turn, 64 B to 1 MiB. Default 1514 B (RFC 8290
        /// §5.2), or the longest packet as the link counts it, whichever is more.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub quantum: Option<Size> = None,
        /// Packets that the longest queue loses at most when there is no room. Default 64 (Linux).
        #[schemars(range(min = 1))]
        pub drop_batch: u32 = 64,
        /// The acceptable standing delay, as CoDel's. Default 5 ms.
        pub target: Dur = Dur::from_ms(5),
        /// The time for which delays have to stay above `target` before the first drop, as CoDel's.
        /// Default 100 ms.
        pub interval: Dur = Dur::from_ms(100),
        /// Mark ECN-capable packets instead of dropping them. Default true (RFC 8290 §5.2,
        /// Linux).
        pub ecn: bool = true,
        /// Mark every ECN-capable packet that waited longer, whatever `ecn` says. Default: none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub ce_threshold: Option<Dur> = None,
        /// CoDel drops nothing while at most this many bytes are queued. Default 1514 B.
        pub max_packet: Size = Size(1514),
        /// The backlog that is compared with `max_packet`.
        pub guard: Guard = Guard::Total,
        /// How the square root is computed. Default `exact`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub inverse_sqrt: Option<InverseSqrt> = None,
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
