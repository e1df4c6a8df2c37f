//! The default queues of classes, by platform.

use std::collections::BTreeSet;

use spillgate_core::{Limit, RateOrPercent};
use spillgate_queueing::aqm::{AqmSpec, WredUnit};
use spillgate_queueing::spec::CdtPolicy;
use spillgate_queueing::spec::ClassSpec;

use super::super::platform::{DefaultLimit, FairDefaults, PlatformProfile};
use super::rates::Rates;

/// The source of defaults of a class.
pub(super) struct Defaults<'c, 'a> {
    pub(super) profile: &'c PlatformProfile,
    /// Rates that policy-maps divide, where they are known.
    pub(super) rates: &'c Rates<'a>,
    /// Policy-maps that act only where packets arrive: nothing waits in them.
    pub(super) at_arrival: &'c BTreeSet<&'a str>,
}

impl Defaults<'_, '_> {
    /// The limit of the queue of a priority class with this rate in `policy`; none: the engine's
    /// own.
    pub(super) fn priority(&self, policy: &str, own: Option<RateOrPercent>) -> Option<Limit> {
        self.limit_in(self.profile.priority_limit, policy, own, WredUnit::Packets)
    }

    fn limit_in(
        &self,
        default: DefaultLimit,
        policy: &str,
        own: Option<RateOrPercent>,
        unit: WredUnit,
    ) -> Option<Limit> {
        match default {
            DefaultLimit::Engine => None,
            DefaultLimit::Fixed(limit) => Some(limit),
            // The engine takes a time at the rate of the class if it has one.
            DefaultLimit::Around(time) => Some(match self.rates.get(policy) {
                Some(rate) if own.is_some() => Limit::Bytes(rate.bytes_in(time)),
                _ => Limit::Time(time),
            }),
            DefaultLimit::Enclosing { time, least } => {
                let around = self.rates.get(policy).copied();
                let rate = match (own, around) {
                    (Some(RateOrPercent::Rate(own)), _) => Some(around.map_or(own, |r| r.min(own))),
                    (Some(own), Some(rate)) => Some(own.of(rate)),
                    (_, around) => around,
                };
                let bytes = rate.map_or(0, |r| r.bytes_in(time));
                Some(match unit {
                    WredUnit::Packets => {
                        let packets = u32::try_from(bytes / 1500).unwrap_or(u32::MAX);
                        Limit::Packets(packets.max(least))
                    }
                    WredUnit::Bytes | WredUnit::Ms => {
                        Limit::Bytes(bytes.max(u64::from(least) * 1500))
                    }
                })
            }
        }
    }

    /// Fills in the queue of a class of `policy` that has one.
    pub(super) fn queue(
        &self,
        spec: &mut ClassSpec,
        policy: &str,
        queues: Option<u16>,
        own: Option<u16>,
    ) {
        let unit = match &spec.aqm {
            Some(AqmSpec::Wred(w)) => w.unit,
            _ => WredUnit::Packets,
        };
        let shaped = spec.shape.as_ref().map(|s| s.rate);
        if spec.queue_limit.is_none() {
            spec.queue_limit = match spec.fair_queue {
                // Its limits are those of the conversations.
                Some(_) if matches!(self.profile.fair, FairDefaults::Conversations { .. }) => None,
                Some(_) => self
                    .limit_in(self.profile.queue_limit, policy, shaped, unit)
                    .or(Some(Limit::Packets(64))),
                None => self.limit_in(self.profile.queue_limit, policy, shaped, unit),
            };
        }
        let Some(fair) = &mut spec.fair_queue else {
            return;
        };
        match self.profile.fair {
            FairDefaults::Conversations { queues: n } => fair.queues = queues.unwrap_or(n),
            FairDefaults::QuarterOfLimit { queues: n } => {
                fair.queues = queues.unwrap_or(n);
                fair.cdt_policy = CdtPolicy::TailDrop;
                if let (None, Some(Limit::Packets(limit))) = (own, spec.queue_limit) {
                    fair.threshold = u16::try_from(limit / 4).unwrap_or(4096).clamp(1, 4096);
                    fair.hold_queue = limit.max(1);
                }
            }
        }
    }
}
