//! AVQ, the adaptive virtual queue.
//!
//! Source: S. Kunniyur, R. Srikant, "Analysis and Design of an Adaptive Virtual Queue (AVQ)
//! Algorithm for Active Queue Management", ACM SIGCOMM 2001; "An Adaptive Virtual Queue (AVQ)
//! Algorithm for Active Queue Management", IEEE/ACM ToN 12(2), 2004; ns-2.35, queue/vq.cc.
//!
//! Idea: a queue of numbers beside the real one is served at a virtual capacity below that of the
//! link. A packet that would not fit into the virtual queue is marked or dropped, so that the real
//! one hardly grows. The virtual capacity falls with every arrival and rises with time, until
//! arrivals come at the wanted share of the link's rate: d C~/dt = alpha (gamma C - lambda).
//!
//! Deviations: at an arrival of b bytes the virtual capacity first rises, C at most, and then falls
//! by alpha b, as in the paper's figure; ns-2 limits it after both, and leaves it where it is at an
//! arrival that is lost. With `as: ns2` both are as there. Cost: O(1), no draws.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Limit, Packet, Problem, Rate, Size, Time};

use super::chance::{ByChance, Chooser, Chosen};
use super::{Backlog, Draw, LeafFacts};
use crate::Thresholds;
use crate::evidence::{FactUnit, GoesBy};
use crate::recipe::At;
use crate::stats::State;

/// Implementations of AVQ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AvqVariant {
    /// ns-2.35: the virtual capacity is limited to that of the link after it was lowered, an
    /// arrival that AVQ drops does not lower it, and it begins with 0.8 of that of the link.
    Ns2,
}

spillgate_core::spec! {
    /// Parameters of AVQ.
    pub struct AvqSpec {
        /// The implementation that is followed. Default: the paper.
        #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
        pub variant: Option<AvqVariant> = None,
        /// The share of the link's rate that arrivals are to have, above 0 and at most 1 (gamma).
        /// Default 0.98 (the paper).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub utilization: f64 = 0.98,
        /// How fast the virtual capacity follows: by this part of the excess rate in a second
        /// (alpha). Default 0.15 (the paper).
        pub alpha: f64 = 0.15,
        /// The length of the virtual queue in bytes (B). Default: the limit of the queue, packets
        /// counting `mean_packet`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub buffer: Option<Size> = None,
        /// What a packet of a limit in packets counts. Default 1000 B.
        pub mean_packet: Size = Size(1000),
        /// Mark ECN-capable packets instead of dropping them. Default false.
        pub ecn: bool = false,
    }
}

impl AvqSpec {
    /// None: what it judges by is not the queue.
    pub(super) fn thresholds(&self, _: Limit, _: Rate) -> Vec<Thresholds> {
        Vec::new()
    }

    pub(super) fn resolve(
        &self,
        at: &mut At<'_>,
        leaf: &LeafFacts,
    ) -> Result<ByChance<Avq>, Problem> {
        at.check(
            self.utilization > 0.0 && self.utilization <= 1.0,
            "utilization",
            self.utilization,
            "a share of the link's rate is above 0 and at most 1",
            "the usual value is 0.98",
        )?;
        at.check(
            self.alpha.is_finite() && self.alpha > 0.0,
            "alpha",
            self.alpha,
            "a gain must be a finite number above 0",
            "the usual value is 0.15",
        )?;
        at.packet("mean_packet", self.mean_packet)?;
        let bound = crate::leaf::Bound::new(leaf.limit, leaf.rate);
        let by_limit = match leaf.max_packets {
            Some(packets) => u64::from(packets).saturating_mul(self.mean_packet.0),
            None => bound.bytes,
        };
        let buffer = self.buffer.map_or(by_limit, |size| size.0);
        at.check(
            buffer > 0,
            "buffer",
            Size(buffer),
            "no packet fits into the virtual queue",
            "the default is the limit of the queue",
        )?;
        if buffer > by_limit {
            at.warn(format_args!(
                "`buffer` {} is above the limit of the queue, {}: the queue overflows before the virtual one (Kunniyur and Srikant 2001 take them equal)",
                Size(buffer),
                Size(by_limit)
            ));
        } else if buffer < self.mean_packet.0 {
            at.warn(format_args!(
                "`buffer` {} is below `mean_packet` {}: no such packet fits into the virtual queue, and all are hit",
                Size(buffer),
                self.mean_packet
            ));
        }
        let avq = Avq {
            variant: self.variant,
            capacity: leaf.rate.bytes_per_sec(),
            utilization: self.utilization,
            alpha: self.alpha,
            buffer: buffer as f64,
            ecn: self.ecn,
        };
        Ok(ByChance::new(avq, self.ecn))
    }
}

/// The law of AVQ.
#[derive(Clone, Debug)]
pub(crate) struct Avq {
    variant: Option<AvqVariant>,
    /// C in bytes a second.
    capacity: f64,
    utilization: f64,
    alpha: f64,
    /// B in bytes.
    buffer: f64,
    ecn: bool,
}

/// The state of one queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Vars {
    /// The virtual capacity in bytes a second.
    capacity: f64,
    /// The virtual queue in bytes.
    queue: f64,
    /// When a packet arrived last.
    last: Time,
    /// When the virtual capacity changed last.
    adapted: Time,
}

const _: () = assert!(size_of::<Vars>() <= 32);

impl Avq {
    /// A packet of so many bytes arrives: whether it fits into the virtual queue.
    fn fits(&self, v: &mut Vars, now: Time, bytes: f64) -> bool {
        let gap = now.since(v.last).as_secs_f64();
        v.last = now;
        v.queue = (v.queue - v.capacity * gap).max(0.0);
        let fits = v.queue + bytes <= self.buffer;
        if fits {
            v.queue += bytes;
        }
        fits
    }

    /// The virtual capacity after an arrival of so many bytes.
    fn adapt(&self, v: &mut Vars, now: Time, bytes: f64) {
        let gap = now.since(v.adapted).as_secs_f64();
        v.adapted = now;
        let risen = v.capacity + self.alpha * self.utilization * self.capacity * gap;
        let lowered = match self.variant {
            None => risen.min(self.capacity) - self.alpha * bytes,
            Some(AvqVariant::Ns2) => (risen - self.alpha * bytes).min(self.capacity),
        };
        v.capacity = lowered.max(0.0);
    }
}

impl Chooser for Avq {
    type Vars = Vars;

    fn vars(&self) -> Vars {
        let share = match self.variant {
            None => 1.0,
            Some(AvqVariant::Ns2) => 0.8,
        };
        Vars {
            capacity: share * self.capacity,
            queue: 0.0,
            last: Time::ZERO,
            adapted: Time::ZERO,
        }
    }

    #[inline]
    fn choose<D: Draw>(
        &self,
        v: &mut Vars,
        now: Time,
        _: &Backlog,
        packet: &Packet,
        _: &mut D,
    ) -> Chosen {
        let bytes = f64::from(packet.len);
        let fits = self.fits(v, now, bytes);
        let marked = self.ecn && packet.ecn.is_capable();
        if fits || marked || self.variant.is_none() {
            self.adapt(v, now, bytes);
        }
        match fits {
            true => Chosen::With(0.0),
            false => Chosen::Certainly,
        }
    }

    fn goes_by(&self, v: &Vars) -> GoesBy {
        GoesBy::plain(
            "virtual-queue",
            "it would not have fitted into the virtual queue, which held {} at a virtual capacity of {}",
        )
        .and("virtual_queue", v.queue, FactUnit::Bytes)
        .and("virtual_capacity", 8.0 * v.capacity, FactUnit::BitsPerSecond)
    }

    fn state(&self, v: &Vars, _: Time) -> State {
        vec![("avq_capacity", 8.0 * v.capacity), ("avq_queue", v.queue)]
    }

    fn decides_by_packets(&self) -> bool {
        true
    }
}

#[cfg(test)]
#[path = "avq_tests.rs"]
mod tests;
