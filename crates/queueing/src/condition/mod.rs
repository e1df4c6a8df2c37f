//! Conditioners act on a packet when it arrives, before it is queued.
//!
//! Order within a class: set DSCP and EXP, police, police the priority class. A nested class comes
//! before the class that contains it, so that a container meters what its members admit.

mod bucket;
mod input;
mod meter;
mod police;
mod window;

pub(crate) use bucket::TokenBucket;
pub use input::{Conditioner, InputRecipe, Passes};
pub use meter::Color;
pub(crate) use meter::{Meter, PerFlow, SingleRate, TwoRate};
pub(crate) use police::{ColorRules, Policer, PriorityPolicer};
pub use police::{Colored, PoliceAction, PoliceActions, PoliceSpec};
pub use window::AverageRate;
pub(crate) use window::{SlidingRate, SlidingWindow};

use std::sync::Arc;

use spillgate_core::{Cos, Dscp, FlowKey, Overhead, Packet, Rng, Time};

use crate::evidence::{BucketLevel, Cause};

/// Puts a packet into a QoS group.
fn put_into(packet: &mut Packet, group: u16) {
    let mut marks = packet.marks();
    marks.set_qos_group(group);
    packet.set_marks(marks);
}

/// The meters among the steps of a packet's class, and the color that each gave to it, up to the
/// step that refused it.
pub(crate) fn colors<'a>(
    steps: &'a [Step],
    of_class: &'a [u16],
    refused_by: Option<u16>,
) -> Vec<(&'a str, Color)> {
    let end = of_class.iter().position(|s| Some(*s) == refused_by);
    let passed = &of_class[..end.map_or(of_class.len(), |i| i + 1)];
    let of = |s: &u16| steps[usize::from(*s)].last_color();
    passed.iter().filter_map(of).collect()
}

/// One step of conditioning.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// Sets the DSCP.
    Set(Dscp),
    /// Sets the EXP bits of the top label.
    SetExp(u8),
    /// Sets the EXP bits of labels that are pushed later.
    SetImposition(u8),
    /// Sets the priority of the 802.1Q tag.
    SetCos(u8),
    /// Puts packets into a QoS group.
    SetQosGroup(u16),
    /// The policer of a class.
    Police(Policer),
    /// The policer of a priority class.
    Priority(PriorityPolicer),
}

impl Step {
    /// Takes rates and bursts of the same step at another rate of the port.
    pub(crate) fn retune(&mut self, now: Time, fresh: &Self) {
        match (self, fresh) {
            (Self::Police(p), Self::Police(f)) => p.meter.retune(now, &f.meter),
            (Self::Priority(p), Self::Priority(f)) => p.bucket.retune(now, &f.bucket),
            _ => {}
        }
    }

    /// The meter of a policer: the name of its class, and what it has found.
    pub(crate) fn meter(&self) -> Option<(&str, &Colored)> {
        match self {
            Self::Police(p) => Some((&p.name, &p.found)),
            _ => None,
        }
    }

    /// The meter of a policer: the name of its class, and the color of its last packet.
    fn last_color(&self) -> Option<(&str, Color)> {
        match self {
            Self::Police(p) => Some((&p.name, p.last)),
            _ => None,
        }
    }

    /// The code points that it may give to packets.
    pub(crate) fn marks(&self) -> Vec<Dscp> {
        match self {
            Self::Set(dscp) => vec![*dscp],
            Self::Police(p) => p.marks().collect(),
            _ => Vec::new(),
        }
    }

    /// Sets the flows, for meters that look at addresses.
    pub(crate) fn attach(&mut self, flows: &Arc<[FlowKey]>) {
        if let Self::Police(p) = self {
            p.attach(flows);
        }
    }

    /// Sets the names of the links, by number, for meters that look at the link of arrival.
    pub(crate) fn attach_links(&mut self, names: &Arc<[String]>) {
        if let Self::Police(p) = self {
            p.attach_links(names);
        }
    }

    /// Adds a flow, with the next number.
    pub(crate) fn add_flow(&mut self, key: FlowKey) {
        if let Self::Police(p) = self {
            p.add_flow(key);
        }
    }

    /// Whether it looks at addresses, protocol or ports.
    pub(crate) fn looks_at_flow(&self) -> bool {
        matches!(self, Self::Police(p) if p.looks_at_flow())
    }

    /// Gives each meter that draws random numbers a stream, by the name of its class.
    pub(crate) fn seed(&mut self, stream: &dyn Fn(&str) -> Rng) {
        if let Self::Police(p) = self {
            p.meter.seed(stream);
        }
    }

    /// Whether it looks at metadata.
    pub(crate) fn looks_at_marks(&self) -> bool {
        matches!(self, Self::Police(p) if p.looks_at_marks())
    }

    /// Conditions a packet, and returns false if it must be dropped. `congested`: packets are
    /// queued in the discipline.
    #[inline]
    pub(crate) fn admits(&mut self, now: Time, packet: &mut Packet, congested: bool) -> bool {
        match self {
            Self::Set(dscp) => {
                packet.dscp = *dscp;
                true
            }
            Self::SetExp(exp) => {
                packet.labels.set_top(*exp);
                true
            }
            Self::SetImposition(exp) => {
                packet.labels.intend(*exp);
                true
            }
            Self::SetCos(cos) => {
                packet.cos = Cos::of(*cos);
                true
            }
            Self::SetQosGroup(group) => {
                put_into(packet, *group);
                true
            }
            Self::Police(p) => p.admits(now, packet),
            Self::Priority(p) => p.admits(now, packet, congested),
        }
    }

    /// The committed bucket of a meter at `now`.
    pub(crate) fn bucket(&self, now: Time) -> Option<BucketLevel> {
        match self {
            Self::Police(p) => p.meter.bucket(now),
            Self::Priority(p) => Some(p.bucket.describe(now)),
            _ => None,
        }
    }

    /// What its tokens count; none: what the link adds.
    pub(crate) fn counted(&self) -> Option<Overhead> {
        match self {
            Self::Police(p) => p.counted,
            Self::Priority(p) => p.counted,
            _ => None,
        }
    }

    /// Why it refused a packet at `now`.
    pub(crate) fn evidence(&self, now: Time) -> Cause {
        match self {
            Self::Set(_)
            | Self::SetExp(_)
            | Self::SetImposition(_)
            | Self::SetCos(_)
            | Self::SetQosGroup(_) => Cause::Plain,
            Self::Police(p) => p.meter.evidence(now),
            Self::Priority(p) => Cause::PriorityPolicer(p.bucket.describe(now)),
        }
    }
}
