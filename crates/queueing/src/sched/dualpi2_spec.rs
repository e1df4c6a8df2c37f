//! Parameters of DualPI2, and its law: the probabilities of both queues.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dur, Limit, Problem, Rate, Size};

use super::dualpi2::DualPi2;
use super::flow_queue::{FlowQueue, FlowQueueSpec};
use crate::aqm::{AqmSpec, Base, Pi, Pi2Spec, check_coupling};
use crate::leaf::Bound;
use crate::line::Line;
use crate::recipe::At;

/// Implementations of DualPI2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DualPi2Variant {
    /// Linux 6.18: a step, random decisions, updates at multiples of `update`, a limit in packets,
    /// and nothing coupled while less than two packets of `mtu` wait.
    Linux,
}

/// How it is decided which packets are dropped or marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Decide {
    /// Without randomness: probabilities are added up, and a packet with which they exceed 1 is
    /// chosen (`recur` of RFC 9332).
    Recur,
    /// By a random number, in the queue C by two of which both have to be below p', the second
    /// being drawn only if the first is.
    Draw,
}

spillgate_core::spec! {
    /// DualPI2.
    pub struct DualPi2Spec {
        /// The implementation whose rules hold, and whose defaults for all keys that are not
        /// written. Default: RFC 9332.
        #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
        pub variant: Option<DualPi2Variant> = None,
        /// Limit of both queues together. In bytes or time, a packet shorter than `mtu` needs as
        /// much room. Default 250 ms (RFC 9332 A.1), at least the longest packet; `linux`: 10000
        /// packets.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub limit: Option<Limit> = None,
        /// The target delay of the classic queue. Default 15 ms.
        pub target: Dur = Dur::from_ms(15),
        /// Time between updates of the base probability, 1 ms to 10 s. Default 16 ms.
        pub update: Dur = Dur::from_ms(16),
        /// Increase of the base probability at each update for a second of delay above `target`.
        /// Default 0.16.
        pub alpha: f64 = 0.16,
        /// Increase of the base probability at each update for a second by which the delay has
        /// grown. Default 3.2.
        pub beta: f64 = 3.2,
        /// The coupling factor k. Default 2 (RFC 9332 §2.5.2.1).
        pub coupling: f64 = 2.0,
        /// How long a packet has to wait in the queue L to be marked by that alone, at first with
        /// probability 0. Default 800 us (RFC 9332 A.1); `linux`: 1 ms.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub threshold: Option<Dur> = None,
        /// From `threshold` on the probability rises to 1 over this time; 0: a step. Default 400 us
        /// (RFC 9332 A.1); `linux`: 0.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub range: Option<Dur> = None,
        /// Packets that have to wait behind one in the queue L for its wait to mark it are more
        /// than this; `linux`: a packet that finds fewer is not marked for its wait. Default 1 (RFC
        /// 9332 A.1); `linux`: 0.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub min_packets: Option<u32> = None,
        /// Weighted round robin: the part of the rate that the classic queue gets at least, between
        /// 0 and 1. Default 0.1 (Linux).
        #[serde(skip_serializing_if = "Option::is_none")]
        pub classic_share: Option<f64> = None,
        /// Time-shifted FIFO in place of weighted round robin: the packet goes first that has
        /// waited longest, those of the queue L by so much longer (RFC 9332 A.1, where it is 50
        /// ms).
        #[serde(skip_serializing_if = "Option::is_none")]
        pub time_shift: Option<Dur> = None,
        /// Drop from both queues with p_C when p_CL reaches 1; else p' ends there, and the limit
        /// decides. Default true.
        pub drop_on_overload: bool = true,
        /// The longest packet: for the first turns of weighted round robin, and for `limit`.
        /// Default 1514 B.
        pub mtu: Size = Size(1514),
        /// How it is decided which packets are hit. Default `recur` (RFC 9332); `linux`: `draw`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub decide: Option<Decide> = None,
    }
}

impl DualPi2Spec {
    /// Its limit.
    pub fn waiting_limit(&self) -> Limit {
        let default = match self.variant {
            None => Limit::Time(Dur::from_ms(250)),
            Some(DualPi2Variant::Linux) => Limit::Packets(10_000),
        };
        self.limit.unwrap_or(default)
    }

    /// The default limit at a rate, which holds a packet of this length.
    fn holding(&self, rate: Rate, longest: u32) -> Bound {
        let bound = Bound::new(self.waiting_limit(), rate);
        let least = self.mtu.0.max(longest.into());
        Bound {
            bytes: bound.bytes.max(least),
            ..bound
        }
    }

    /// From which wait on the queue L is marked by it, and over which range.
    pub fn ramp(&self) -> (Dur, Dur) {
        let (threshold, range) = match self.variant {
            None => (Dur::from_us(800), Dur::from_us(400)),
            Some(DualPi2Variant::Linux) => (Dur::from_ms(1), Dur::ZERO),
        };
        (
            self.threshold.unwrap_or(threshold),
            self.range.unwrap_or(range),
        )
    }

    /// The least number of packets in the queue L.
    pub fn least_packets(&self) -> u32 {
        let default = u32::from(self.variant.is_none());
        self.min_packets.unwrap_or(default)
    }

    /// The part of the rate that the classic queue gets at least.
    pub fn protected_share(&self) -> f64 {
        self.classic_share.unwrap_or(0.1)
    }

    /// How it is decided which packets are hit.
    pub fn decides(&self) -> Decide {
        let default = match self.variant {
            None => Decide::Recur,
            Some(DualPi2Variant::Linux) => Decide::Draw,
        };
        self.decide.unwrap_or(default)
    }

    /// Its scheduler, in millionths of the rate.
    fn scheduler(&self, at: &At<'_>) -> Result<Scheduler, Problem> {
        if let Some(shift) = self.time_shift {
            let beside = "`time_shift` takes the place of weighted round robin";
            let told = self.classic_share.unwrap_or_default();
            let alone = self.classic_share.is_none();
            at.check(alone, "classic_share", told, beside, "keep one of them")?;
            return Ok(Scheduler::Shifted(shift));
        }
        let share = self.protected_share();
        let classic = (share * MILLION as f64 + 0.5) as i64;
        at.check(
            share.is_finite() && 0 < classic && classic < MILLION,
            "classic_share",
            share,
            "a share must be above 0 and below 1",
            "the usual value is 0.1",
        )?;
        Ok(Scheduler::RoundRobin(classic))
    }

    pub(super) fn law(&self, at: &mut At<'_>) -> Result<Law, Problem> {
        check_coupling(at, self.coupling)?;
        let is_linux = self.variant == Some(DualPi2Variant::Linux);
        let pi = Pi {
            target: self.target,
            update: self.update,
            alpha: self.alpha,
            beta: self.beta,
            most: match self.drop_on_overload {
                true => 1.0,
                false => (1.0 / self.coupling).min(1.0),
            },
            on_grid: is_linux,
        };
        pi.check(at)?;
        at.packet("mtu", self.mtu)?;
        let mtu = u32::try_from(self.mtu.0).ok();
        let mtu = mtu.filter(|b| *b <= MILLION as u32).ok_or_else(|| {
            let hint = "the usual value is 1514 B";
            at.error("mtu", self.mtu, "no packet is longer than 1 MB", hint)
        })?;
        let (threshold, range) = self.ramp();
        if threshold >= self.target {
            at.warn(format_args!(
                "`threshold` {threshold} is not below `target` {}: the queue L waits as long as the classic one before it marks by itself (RFC 9332, appendix A.1: 800 us against 15 ms)",
                self.target
            ));
        }
        Ok(Law {
            pi,
            k: self.coupling,
            threshold,
            range,
            min_packets: self.least_packets(),
            scheduler: self.scheduler(at)?,
            drop_on_overload: self.drop_on_overload,
            mtu,
            decide: self.decides(),
            is_linux,
        })
    }
}

impl FlowQueueSpec for DualPi2Spec {
    fn resolve(&self, at: &mut At<'_>, line: &Line) -> Result<Box<dyn FlowQueue>, Problem> {
        let bound = match self.limit {
            Some(limit) => at.bound("limit", limit, line.rate)?,
            None => self.holding(line.rate, line.longest.occupied),
        };
        let law = self.law(at)?;
        at.check(
            law.is_linux || bound.bytes >= law.mtu.into(),
            "limit",
            self.waiting_limit(),
            &format!("a packet of `mtu` {} does not fit into it", self.mtu),
            "write a longer time, or packets",
        )?;
        Ok(Box::new(DualPi2::new(law, bound)))
    }

    fn bound(&self, rate: Rate) -> Bound {
        match self.limit {
            Some(limit) => Bound::new(limit, rate),
            None => self.holding(rate, 0),
        }
    }

    fn aqm(&self) -> Option<AqmSpec> {
        Some(AqmSpec::Pi2(Pi2Spec {
            target: self.target,
            update: self.update,
            alpha: self.alpha,
            beta: self.beta,
            coupling: Some(self.coupling),
            ..Pi2Spec::default()
        }))
    }

    fn is_one_with_aqm(&self) -> bool {
        true
    }

    fn by_flow(&self) -> bool {
        false
    }

    fn limits(&self) -> Vec<(&'static str, Limit)> {
        vec![("limit", self.waiting_limit())]
    }

    fn quantum(&self) -> Option<Size> {
        None
    }
}

/// Weights are in millionths.
pub(super) const MILLION: i64 = 1_000_000;

/// Which queue goes first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scheduler {
    /// Weighted round robin with this weight of C, in millionths.
    RoundRobin(i64),
    /// The packet that has waited longest, those of L by so much longer.
    Shifted(Dur),
}

/// The parameters, resolved.
#[derive(Clone, Debug)]
pub(super) struct Law {
    pub(super) pi: Pi,
    pub(super) k: f64,
    pub(super) threshold: Dur,
    pub(super) range: Dur,
    pub(super) min_packets: u32,
    pub(super) scheduler: Scheduler,
    pub(super) drop_on_overload: bool,
    pub(super) mtu: u32,
    pub(super) decide: Decide,
    pub(super) is_linux: bool,
}

impl Law {
    /// p_C: the probability of the classic queue.
    pub(super) fn classic(&self, base: &Base) -> f64 {
        base.p * base.p
    }

    /// p_CL: the probability by which C couples L; may be above 1.
    pub(super) fn coupled(&self, base: &Base) -> f64 {
        self.k * base.p
    }

    /// p'_L: the probability of the queue L by its own delay (`laqm`).
    pub(super) fn native(&self, waited: Dur) -> f64 {
        if self.is_linux && self.range.is_zero() {
            return f64::from(u8::from(waited > self.threshold));
        }
        if waited >= self.threshold + self.range {
            1.0
        } else if waited > self.threshold {
            let above = waited - self.threshold;
            above.as_ps() as f64 / self.range.as_ps() as f64
        } else {
            0.0
        }
    }

    /// Whether marks do not suffice any more (RFC 9332 A.2).
    pub(super) fn overloaded(&self, base: &Base) -> bool {
        let coupled = self.coupled(base);
        self.drop_on_overload && (coupled > 1.0 || coupled >= 1.0 && !self.is_linux)
    }

    /// The credit of C before anything was sent.
    pub(super) fn first_credit(&self) -> i64 {
        match self.scheduler {
            Scheduler::RoundRobin(classic) => i64::from(self.mtu) * (2 * classic - MILLION),
            Scheduler::Shifted(_) => 0,
        }
    }
}
