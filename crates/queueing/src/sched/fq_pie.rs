//! FQ-PIE: the scheduler of [`super::fq`] with hashed queues and PIE in each.
//!
//! Sources: T. Hoeiland-Joergensen and others, RFC 8290, 2018 (the scheduler); R. Pan and others,
//! RFC 8033, 2017; `tc-fq_pie(8)`. With `as: linux` it follows Linux 6.18
//! (net/sched/sch_fq_pie.c): PIE has the rules of Linux, and what arrives at the limit is dropped
//! before PIE sees it, where otherwise the longest queue gives.
//!
//! Every queue has its own probability, which goes on to be updated while the queue is empty.
//! Updates are computed when the next packet of the queue arrives or leaves, at the instants of a
//! timer that visits all queues; Linux visits 2048 of them in each of several callbacks at once.
//!
//! Deviations: the memory limit, which Linux counts and does not enforce, is left out.

use spillgate_core::{Dur, Limit, Rate, Size};

use super::flow_queue::{FlowQueue, FlowQueueSpec, Guard};
use super::fq::FqSpec;
use crate::aqm::{AqmSpec, PieSpec, PieVariant};
use crate::leaf::Bound;
use crate::line::Line;
use crate::recipe::At;
use spillgate_core::Problem;

spillgate_core::spec! {
    /// FQ-PIE.
    pub struct FqPieSpec {
        /// The implementation that is followed. Default: RFC 8290 with the PIE of RFC 8033.
        #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
        pub variant: Option<PieVariant> = None,
        /// Limit of all queues together. Default 10240 packets (Linux).
        pub limit: Limit = Limit::Packets(10_240),
        /// Number of queues into which flows are hashed, 1 to 65536. Default 1024 (Linux).
        #[schemars(range(min = 1, max = 65536))]
        pub flows: u32 = 1024,
        /// Bytes that a queue may send in its turn, 64 B to 1 MiB. Default 1514 B (RFC 8290
        /// §5.2), or the longest packet as the link counts it, whichever is more.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub quantum: Option<Size> = None,
        /// The target delay, as PIE's. Default 15 ms (RFC 8033 §4.2).
        pub target: Dur = Dur::from_ms(15),
        /// Time between updates of the probabilities, 1 ms to 10 s. Default 15 ms (RFC 8033 §4.2).
        pub update: Dur = Dur::from_ms(15),
        /// As PIE's. Default 0.125 (RFC 8033 §4.2).
        pub alpha: f64 = 0.125,
        /// As PIE's. Default 1.25 (RFC 8033 §4.2).
        pub beta: f64 = 1.25,
        /// The length of a burst of a flow in which nothing is dropped. Default 150 ms (RFC 8033
        /// §4.4).
        pub max_burst: Dur = Dur::from_ms(150),
        /// Mark ECN-capable packets instead of dropping them. Default false (Linux).
        pub ecn: bool = false,
        /// The probability up to which it marks; above, it drops, 0 to 1. Default 0.1 (RFC 8033
        /// §5.1; Linux `ecn_prob`).
        pub ecn_threshold: f64 = 0.1,
        /// Nothing of a queue is dropped while at most twice this many bytes wait in it. Default
        /// 1514 B (Linux).
        pub mean_packet: Size = Size(1514),
        /// De-randomize drops, as PIE. Default true.
        pub derandomize: bool = true,
        /// Take as delay the queued bytes divided by the rate at which the queue drains, as PIE.
        /// Default false (Linux).
        pub dq_rate_estimator: bool = false,
    }
}

impl FqPieSpec {
    /// Its PIE.
    pub fn pie(&self) -> PieSpec {
        PieSpec {
            variant: self.variant,
            target: self.target,
            update: self.update,
            alpha: self.alpha,
            beta: self.beta,
            max_burst: self.max_burst,
            ecn: self.ecn,
            ecn_threshold: self.ecn_threshold,
            mean_packet: self.mean_packet,
            derandomize: self.derandomize,
            dq_rate_estimator: self.dq_rate_estimator,
        }
    }

    /// Its scheduler, with PIE as the AQM.
    pub fn parts(&self) -> FqSpec {
        FqSpec {
            limit: self.limit,
            memory_limit: Size(u64::from(u32::MAX)),
            queues: Some(self.flows),
            quantum: self.quantum,
            aqm: Some(AqmSpec::Pie(self.pie())),
            guard: Guard::Flow,
            ..FqSpec::default()
        }
    }
}

impl FlowQueueSpec for FqPieSpec {
    fn resolve(&self, at: &mut At<'_>, line: &Line) -> Result<Box<dyn FlowQueue>, Problem> {
        let mut frame = self.parts().frame("fq-pie", "flows", at, line)?;
        if self.variant == Some(PieVariant::Linux) {
            frame.batch = 0;
        }
        Ok(frame.under(self.pie().running(at)?))
    }

    fn bound(&self, rate: Rate) -> Bound {
        Bound::new(self.limit, rate)
    }

    fn aqm(&self) -> Option<AqmSpec> {
        Some(AqmSpec::Pie(self.pie()))
    }

    fn is_one_with_aqm(&self) -> bool {
        true
    }

    fn limits(&self) -> Vec<(&'static str, Limit)> {
        vec![("limit", self.limit)]
    }

    fn quantum(&self) -> Option<Size> {
        self.quantum
    }
}
