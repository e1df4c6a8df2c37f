//! Policers: the actions of a class on packets by their color, and the policer of a priority class
//! (LLQ).
//!
//! Sources: RFC 2697, RFC 2698 and RFC 2859 for the meters of three colors, a token bucket as in
//! RFC 2697 without its excess bucket for two colors; Cisco IOS `police` and `priority` commands
//! for defaults. Cisco does not define "under congestion": here it means that packets are queued in
//! the discipline.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{
    Burst, Cos, Dscp, Dur, FlowKey, Overhead, Packet, Percent, RateOrPercent, Time,
};

use super::TokenBucket;
use super::meter::{Color, Meter};
use super::put_into;
use crate::classify::Classifier;
use crate::line::bytes;
use crate::spec::{MatchSpec, OneOrMany};

/// A policer or marker.
///
/// Without `peak_rate` and `violate` it has one bucket and two colors. With `violate` it is the
/// single-rate three-color marker of RFC 2697, with `peak_rate` the two-rate three-color marker of
/// RFC 2698. With `window` it has no buckets: it measures the average rate, and chooses colors at
/// random.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoliceSpec {
    /// The committed information rate, or a percentage of the largest rate at which the policy may
    /// send: that of the nearest enclosing shaper or policer, else the port's. An enclosing
    /// `bandwidth` is not a maximum.
    pub rate: RateOrPercent,
    /// The committed burst, in bytes or in time at `rate`. Default 1500 B, the longest packet as it
    /// is counted, or 250 ms at `rate`, whichever is most (Cisco IOS: CIR/32 bytes). Above 0; at a
    /// single rate with three colors it may be 0 beside an `excess_burst` (RFC 2697 section 2):
    /// then no packet conforms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<Burst>,
    /// The peak information rate, at least `rate`: packets above it violate, those between the two
    /// exceed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_rate: Option<RateOrPercent>,
    /// The second bucket: with `peak_rate` the peak burst, by default as `burst` at the peak
    /// rate; without it the excess burst, which `rate` fills once the first bucket is full, default
    /// the committed burst.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excess_burst: Option<Burst>,
    /// Meters by the average rate in a time sliding window of this length (RFC 2859), instead of by
    /// buckets. Above `rate` packets exceed at random, with probability (average − `rate`) /
    /// average. With `peak_rate`, packets above it violate with probability (average − `peak_rate`)
    /// / average, and exceed with (`peak_rate` − `rate`) / average. Such a meter is color-blind and
    /// has no bursts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Dur>,
    /// Meters each flow by itself, with a bucket or an average of its own (microflow policing): all
    /// rates and bursts are those of one flow. Default false: the class as a whole.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub per_flow: bool,
    /// Action on a packet that conforms; one action or several. Default `transmit`.
    #[serde(default)]
    pub conform: PoliceActions,
    /// Action on a packet that exceeds. Default `drop`.
    #[serde(default = "PoliceActions::dropping")]
    pub exceed: PoliceActions,
    /// Action on a packet that violates. Default that of `exceed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub violate: Option<PoliceActions>,
    /// Makes the meter color-aware: only these packets may conform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conform_color: Option<MatchSpec>,
    /// Of the packets that `conform_color` does not name, these may exceed; all others violate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exceed_color: Option<MatchSpec>,
}

impl PoliceSpec {
    /// A policer of one bucket that transmits conforming packets and drops the rest.
    pub fn new(rate: RateOrPercent) -> Self {
        Self {
            rate,
            burst: None,
            peak_rate: None,
            excess_burst: None,
            window: None,
            per_flow: false,
            conform: PoliceActions::default(),
            exceed: PoliceActions::dropping(),
            violate: None,
            conform_color: None,
            exceed_color: None,
        }
    }

    /// A policer that drops every packet (`drop` of a class on a Cisco router).
    pub fn dropping_all() -> Self {
        // The rate has no effect.
        Self {
            conform: PoliceActions::dropping(),
            ..Self::new(RateOrPercent::Percent(Percent(1.0)))
        }
    }

    /// Whether it drops every packet.
    pub fn drops_all(&self) -> bool {
        let drops = |actions: &PoliceActions| actions.iter().all(|a| a == PoliceAction::Drop);
        drops(&self.conform) && drops(&self.exceed) && self.violate.as_ref().is_none_or(drops)
    }

    /// Whether it has three colors.
    pub fn three_colors(&self) -> bool {
        self.peak_rate.is_some() || self.violate.is_some()
    }
}

/// The action of a policer on a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PoliceAction {
    /// Send it on unchanged.
    #[default]
    Transmit,
    /// Discard it.
    Drop,
    /// Send it on with this DSCP.
    SetDscp(Dscp),
    /// Send it on with these EXP bits, 0..=7, in the top label, if it has one.
    SetExp(u8),
    /// Send it on; if it has no label, those that the next provider edge pushes get these EXP bits,
    /// 0..=7.
    SetExpImposition(u8),
    /// Send it on with this priority, 0..=7, in its 802.1Q tag (CoS).
    SetCos(u8),
    /// Send it on in this QoS group, 0..=511.
    SetQosGroup(u16),
}

/// The actions on packets of one color, in order; of several that set one field the last takes
/// effect. `drop` stands alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct PoliceActions(pub OneOrMany<PoliceAction>);

impl Default for PoliceActions {
    fn default() -> Self {
        PoliceAction::Transmit.into()
    }
}

impl From<PoliceAction> for PoliceActions {
    fn from(action: PoliceAction) -> Self {
        Self(OneOrMany(vec![action]))
    }
}

impl PoliceActions {
    fn dropping() -> Self {
        PoliceAction::Drop.into()
    }

    /// The actions in order.
    pub fn iter(&self) -> impl Iterator<Item = PoliceAction> {
        self.0.0.iter().copied()
    }

    /// Whether the packets are discarded.
    pub fn drops(&self) -> bool {
        self.iter().any(|a| a == PoliceAction::Drop)
    }

    pub(crate) fn treatment(&self) -> Treatment {
        let mut t = Treatment::default();
        for action in self.iter() {
            match action {
                PoliceAction::Transmit => {}
                PoliceAction::Drop => t.drop = true,
                PoliceAction::SetDscp(dscp) => t.dscp = Some(dscp),
                PoliceAction::SetExp(exp) => t.exp = Some(exp),
                PoliceAction::SetExpImposition(exp) => t.imposition = Some(exp),
                PoliceAction::SetCos(cos) => t.cos = Some(cos),
                PoliceAction::SetQosGroup(group) => t.qos_group = Some(group),
            }
        }
        t
    }
}

/// The actions of one color, resolved.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Treatment {
    drop: bool,
    dscp: Option<Dscp>,
    exp: Option<u8>,
    imposition: Option<u8>,
    cos: Option<u8>,
    qos_group: Option<u16>,
}

/// The color with which packets arrive, by their first matching condition.
#[derive(Clone, Debug)]
pub(crate) struct ColorRules(pub(crate) Box<Classifier>);

impl ColorRules {
    fn of(&mut self, packet: &Packet) -> Color {
        match self.0.route(packet) {
            0 => Color::Conform,
            1 => Color::Exceed,
            _ => Color::Violate,
        }
    }
}

/// What a meter has found of the packets of its class: those that conform, exceed and violate, in
/// this order. A meter of two colors finds none that violates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Colored {
    /// Packets by color.
    pub packets: [u64; 3],
    /// Their bytes, as the policer counts them.
    pub bytes: [u64; 3],
}

impl Colored {
    /// What came since `before`.
    pub fn since(&self, before: &Self) -> Self {
        let diff = |now: [u64; 3], then: [u64; 3]| std::array::from_fn(|i| now[i] - then[i]);
        Self {
            packets: diff(self.packets, before.packets),
            bytes: diff(self.bytes, before.bytes),
        }
    }
}

/// A running policer of a class.
#[derive(Clone, Debug)]
pub(crate) struct Policer {
    /// The name of its class, with those that enclose it.
    pub(crate) name: Arc<str>,
    pub(crate) meter: Meter,
    pub(crate) found: Colored,
    /// The color of the last packet.
    pub(crate) last: Color,
    /// By color.
    pub(crate) treatments: [Treatment; 3],
    /// None: color-blind.
    pub(crate) colors: Option<ColorRules>,
    /// What it counts; none: what the link adds.
    pub(crate) counted: Option<Overhead>,
}

impl Policer {
    /// The rate in b/s and the burst in bytes of the bucket that pays for all packets that pass, if
    /// it drops all others.
    pub(crate) fn only_passes(&self) -> Option<(u64, u64)> {
        let drops = |color| self.treatments[color as usize].drop;
        let (exceeding, violating) = (drops(Color::Exceed), drops(Color::Violate));
        let of = |bucket: &TokenBucket| (bucket.rate(), bucket.burst());
        match &self.meter {
            Meter::OneBucket(bucket) if exceeding => Some(of(bucket)),
            // What passes has paid from both of its buckets, or from that of the peak.
            Meter::TwoRate(m) if exceeding && violating => Some(of(&m.committed)),
            Meter::TwoRate(m) if violating => Some(of(&m.peak)),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn admits(&mut self, now: Time, packet: &mut Packet) -> bool {
        let before = match &mut self.colors {
            None => Color::Conform,
            Some(c) => c.of(packet),
        };
        let len = bytes(self.counted, packet);
        let color = self.meter.color(now, packet.flow, len, before);
        self.last = color;
        self.found.packets[color as usize] += 1;
        self.found.bytes[color as usize] += u64::from(len);
        let treatment = self.treatments[color as usize];
        if let Some(dscp) = treatment.dscp {
            packet.dscp = dscp;
        }
        if let Some(exp) = treatment.exp {
            packet.labels.set_top(exp);
        }
        if let Some(exp) = treatment.imposition {
            packet.labels.intend(exp);
        }
        if let Some(cos) = treatment.cos {
            packet.cos = Cos::of(cos);
        }
        if let Some(group) = treatment.qos_group {
            put_into(packet, group);
        }
        !treatment.drop
    }

    /// The code points that it may give to packets.
    pub(crate) fn marks(&self) -> impl Iterator<Item = Dscp> {
        self.treatments.iter().filter_map(|t| t.dscp)
    }

    pub(crate) fn attach(&mut self, flows: &Arc<[FlowKey]>) {
        if let Some(c) = &mut self.colors {
            c.0.attach(flows);
        }
    }

    pub(crate) fn add_flow(&mut self, key: FlowKey) {
        if let Some(c) = &mut self.colors {
            c.0.add_flow(key);
        }
    }

    pub(crate) fn looks_at_flow(&self) -> bool {
        self.colors.as_ref().is_some_and(|c| c.0.looks_at_flow())
    }

    pub(crate) fn attach_links(&mut self, names: &Arc<[String]>) {
        if let Some(c) = &mut self.colors {
            c.0.attach_links(names);
        }
    }

    /// Whether its colors look at metadata.
    pub(crate) fn looks_at_marks(&self) -> bool {
        self.colors.as_ref().is_some_and(|c| c.0.looks_at_marks())
    }
}

/// A running policer of a priority class.
#[derive(Clone, Debug)]
pub(crate) struct PriorityPolicer {
    pub(crate) bucket: TokenBucket,
    pub(crate) always: bool,
    /// What it counts; none: what the link adds.
    pub(crate) counted: Option<Overhead>,
}

impl PriorityPolicer {
    #[inline]
    pub(crate) fn admits(&mut self, now: Time, packet: &Packet, congested: bool) -> bool {
        let len = bytes(self.counted, packet);
        if self.always || congested {
            self.bucket.try_take(now, len)
        } else {
            // Not congested: take the tokens that there are, drop nothing.
            self.bucket.take(now, len);
            true
        }
    }
}
