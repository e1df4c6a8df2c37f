//! Packet fair queueing by flow: one discipline for the schedulers that approximate a fluid server.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Limit, Problem, Rate, Size};

use super::drr::{Rounds, check_queues};
use super::flow_queue::{FlowQueue, FlowQueueSpec, Frame, Guard, Order, managed};
use super::flows::Sorting;
use super::pgps::WfqWeights;
use super::qfq::Qfq;
use super::tags::{TagRule, Tags};
use crate::aqm::AqmSpec;
use crate::leaf::Bound;
use crate::line::Line;
use crate::recipe::At;

/// Which flow sends next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowScheduler {
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
    /// The packet that would leave first if each flow had a line of its own (L. Zhang 1990). A flow
    /// that used what others left is behind them later.
    VirtualClock,
    /// Quick fair queueing: WF2Q+ with rounded tags, at constant cost (Checconi, Rizzo and Valente
    /// 2013).
    Qfq,
    /// Weighted round robin: flows send whole packets in turns, whatever their length.
    Wrr,
}

impl FlowScheduler {
    /// Its name, as scenarios write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scfq => "scfq",
            Self::StartTime => "start-time",
            Self::Wf2qPlus => "wf2q+",
            Self::VirtualClock => "virtual-clock",
            Self::Qfq => "qfq",
            Self::Wrr => "wrr",
        }
    }

    /// Where it was published.
    pub(crate) fn source(self) -> Option<&'static str> {
        super::source(self.name())
    }

    /// Whether the sum of weights counts.
    const fn sums_weights(self) -> bool {
        matches!(self, Self::Wf2qPlus | Self::VirtualClock | Self::Qfq)
    }
}

spillgate_core::spec! {
    /// Packet fair queueing by flow.
    pub struct FairSpec {
        /// Which flow sends next.
        pub scheduler: FlowScheduler = FlowScheduler::Scfq,
        /// The weight of a flow, which it keeps while it has packets and until virtual time has
        /// passed its last tag.
        pub weights: WfqWeights = WfqWeights::Equal,
        /// With `wf2q+` and `qfq` the least sum of weights by which virtual time grows, 1 to
        /// 1000000; default: that of the flows that have packets or have had some just before. With
        /// `virtual-clock`, which needs it, a flow has its weight divided by this of the rate.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1, max = 1_000_000))]
        pub weight_sum: Option<u32> = None,
        /// Limit of all queues together. Default 1000 packets.
        pub limit: Limit = Limit::Packets(1000),
        /// Number of queues, 1 to 65536, into which flows are hashed by addresses, ports and
        /// protocol. Default: each flow has its own.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1, max = 65536))]
        pub queues: Option<u32> = None,
        /// Active queue management of each queue. Default: none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub aqm: Option<AqmSpec> = None,
    }
}

impl FairSpec {
    fn check_sum(&self, at: &At<'_>) -> Result<u64, Problem> {
        let name = self.scheduler.name();
        let Some(sum) = self.weight_sum else {
            at.check(
                self.scheduler != FlowScheduler::VirtualClock,
                "weight_sum",
                name,
                "a virtual clock needs the rate of each flow, which is its weight's part of this sum (L. Zhang 1990)",
                "write the number of flows, if their weights are equal",
            )?;
            return Ok(0);
        };
        if !self.scheduler.sums_weights() {
            return Err(at.error(
                "weight_sum",
                sum,
                format!("`{name}` compares weights, and needs no sum of them"),
                "leave it out, or use `wf2q+`, `qfq` or `virtual-clock`",
            ));
        }
        at.check(
            (1..=1_000_000).contains(&sum),
            "weight_sum",
            sum,
            "the sum of weights must be from 1 to 1000000",
            "write the number of flows, if their weights are equal",
        )?;
        Ok(sum.into())
    }

    fn with<O: Order>(
        &self,
        order: O,
        at: &mut At<'_>,
        line: &Line,
    ) -> Result<Box<dyn FlowQueue>, Problem> {
        let bound = at.bound("limit", self.limit, line.rate)?;
        let frame = Frame {
            name: "fair",
            order,
            sorting: Sorting::into_queues(self.queues),
            bound: bound.in_4_gib(),
            batch: 1,
            guard: Guard::Flow,
        };
        managed(frame, self.aqm.as_ref(), at, line.rate)
    }
}

impl FlowQueueSpec for FairSpec {
    fn resolve(&self, at: &mut At<'_>, line: &Line) -> Result<Box<dyn FlowQueue>, Problem> {
        let sum = self
            .check_sum(at)
            .map_err(|problem| problem.cite(self.scheduler.source()))?;
        if let Some(queues) = self.queues {
            check_queues(queues, "queues", at)?;
        }
        let rule = match self.scheduler {
            FlowScheduler::Qfq => {
                let order = Qfq::new(self.weights, sum, line.longest.occupied);
                return self.with(order, at, line);
            }
            FlowScheduler::Wrr => {
                return self.with(Rounds::<true>::new(1, self.weights), at, line);
            }
            FlowScheduler::Scfq => TagRule::Finish,
            FlowScheduler::StartTime => TagRule::Start,
            FlowScheduler::Wf2qPlus => TagRule::Eligible,
            FlowScheduler::VirtualClock => TagRule::Clock,
        };
        self.with(Tags::new(rule, self.weights, sum, line.rate), at, line)
    }

    fn bound(&self, rate: Rate) -> Bound {
        Bound::new(self.limit, rate)
    }

    fn aqm(&self) -> Option<AqmSpec> {
        self.aqm.clone()
    }

    fn limits(&self) -> Vec<(&'static str, Limit)> {
        vec![("limit", self.limit)]
    }

    fn quantum(&self) -> Option<Size> {
        None
    }
}
