//! Parameters of RED and of its variants.
//!
//! Sources of the variants: Floyd and Jacobson 1993, figure 2 (`floyd1993`); ns-2.35 `queue/red.cc`
//! and the defaults of `tcl/lib/ns-default.tcl` (`ns2`); Linux `include/net/red.h` and
//! `net/sched/sch_red.c`, `tc-red(8)` (`linux`); Cisco IOS QoS configuration guide, "Weighted
//! Random Early Detection", precedence 0 (`cisco`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Limit, Rate, Size};

use super::{LeafFacts, RedCurve, RedIdle, is_default};
use crate::Thresholds;
use crate::recipe::At;
use spillgate_core::Problem;

/// Parameters of RED.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RedSpec {
    /// The implementation whose defaults hold for all keys that are not written. Default: RED as
    /// Floyd advised in 1997 and 2000.
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    pub variant: Option<RedVariant>,
    /// Lower threshold of the average, in packets or bytes (`unit`). Default 5 packets (Floyd
    /// 1997).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_th: Option<f64>,
    /// Upper threshold of the average, in packets or bytes (`unit`). Default 15 packets, three
    /// times `min_th` (Floyd 1997).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_th: Option<f64>,
    /// Drop probability at `max_th`. Default 0.1 (Floyd 1997).
    #[schemars(range(min = 0.0, max = 1.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_p: Option<f64>,
    /// Weight of one sample in the average. Default 0.002 (1993).
    #[schemars(range(min = 0.0, max = 1.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Between `max_th` and twice that the probability rises to 1 instead of jumping (Floyd 2000).
    /// Default true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gentle: Option<bool>,
    /// How the probability rises between the thresholds. Default `linear` (1993).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curve: Option<RedShape>,
    /// Mark ECN-capable packets instead of dropping them early (RFC 3168). Default false.
    pub ecn: bool,
    /// The average up to which `ecn` marks. Default `below-certain` (RFC 3168).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marks: Option<RedMarks>,
    /// How drops are spread over packets. Default `per-packet` (1993).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<RedSpread>,
    /// Gaps between drops are longer by 1/p_b packets, at least that long (ns-2, ns-3): 1/p_b to
    /// 2/p_b - 1 instead of 1 to 1/p_b - 1, about a third as many drops. Default false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<bool>,
    /// The packet that takes the average to `min_th` passes and counts as one since the last drop
    /// (ns-2). Default false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_passes: Option<bool>,
    /// Nothing is dropped early while at most one packet waits, or one byte with `unit: bytes`
    /// (ns-2, ns-3). Default false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spare_short_queue: Option<bool>,
    /// What the average and both thresholds count. Default packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<RedUnit>,
    /// Whether a packet's length changes its drop probability. Default `none` (RFC 7141).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_scaling: Option<SizeScaling>,
    /// Length of the typical small packet by which an idle queue's average decays, the unit of
    /// `size_scaling: ns`, and of default thresholds in bytes. Default 500 B (ns-2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_packet: Option<Size>,
    /// The length at which `size_scaling: paper` leaves the probability alone. Default 1500 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_packet: Option<Size>,
    /// What the average does while the queue is idle. Default `decay` (1993).
    #[serde(skip_serializing_if = "is_default")]
    pub idle: RedIdle,
}

/// Implementations of RED.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RedVariant {
    /// The paper of 1993: not gentle, `max_p` 0.02, marks above `max_th` too.
    Floyd1993,
    /// ns-2.35 with its defaults: counts bytes, waits, scales by length, marks below `max_th` only.
    Ns2,
    /// Linux `red`: counts bytes, one random number per gap, with `ecn` marks above `max_th` too.
    Linux,
    /// Cisco, for one precedence: every packet by p_b alone, thresholds 20 and 40 packets.
    Cisco,
}

/// How RED spreads drops over packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RedSpread {
    /// By p_a = p_b / (1 - c p_b), a random number for each packet: gaps of 1 to 1/p_b - 1 packets
    /// (1993, figure 2).
    PerPacket,
    /// One random number R for each gap, which ends when c p_b reaches R: gaps of 1 to 1/p_b
    /// packets (1993, figure 17; Linux).
    PerGap,
    /// Not: every packet by p_b alone (Cisco).
    None,
}

/// How RED's drop probability rises from `min_th` to `max_th`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RedShape {
    /// In proportion, to `max_p` (1993).
    Linear,
    /// With the square, to 1.5 `max_p`, which gives as much on average: nonlinear RED (Zhou, Yeung
    /// and Li 2006).
    Quadratic,
}

/// The average up to which RED marks instead of dropping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RedMarks {
    /// Below `max_th` (ns-2's `mark_p_`; WRED).
    BelowMax,
    /// Where drops are random: below `max_th`, or twice that if `gentle` (RFC 3168; Linux
    /// `harddrop`).
    BelowCertain,
    /// Always, as far as the queue has room (1993; Linux `ecn` without `harddrop`).
    Always,
}

/// The unit of RED's average and thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RedUnit {
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
}

/// Whether RED's drop probability depends on the packet's length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SizeScaling {
    /// It does not.
    #[default]
    None,
    /// p_b is multiplied by length / `max_packet` before the gaps are spread (1993).
    Paper,
    /// p_a is multiplied by length / `mean_packet` after the gaps were spread, and c counts bytes
    /// in whole `mean_packet` (ns-2, ns-3).
    Ns,
}

/// Parameters of RED with the defaults of its variant filled in; see [`RedSpec`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "the keys of RedSpec")]
pub struct RedRules {
    pub min_th: f64,
    pub max_th: f64,
    pub max_p: f64,
    pub weight: f64,
    pub gentle: bool,
    pub curve: RedShape,
    pub ecn: bool,
    pub marks: RedMarks,
    pub spread: RedSpread,
    pub wait: bool,
    pub first_passes: bool,
    pub spare_short_queue: bool,
    pub unit: RedUnit,
    pub size_scaling: SizeScaling,
    pub mean_packet: Size,
    pub max_packet: Size,
    pub idle: RedIdle,
}

impl RedRules {
    /// RED as Floyd advised in 1997 and 2000, with thresholds in packets.
    pub(super) const FLOYD: Self = Self {
        min_th: 5.0,
        max_th: 15.0,
        max_p: 0.1,
        weight: 0.002,
        gentle: true,
        curve: RedShape::Linear,
        ecn: false,
        marks: RedMarks::BelowCertain,
        spread: RedSpread::PerPacket,
        wait: false,
        first_passes: false,
        spare_short_queue: false,
        unit: RedUnit::Packets,
        size_scaling: SizeScaling::None,
        mean_packet: Size(500),
        max_packet: Size(1500),
        idle: RedIdle::Decay,
    };

    /// The same, of which every packet is judged by itself.
    pub(super) const UNSPREAD: Self = Self {
        spread: RedSpread::None,
        ..Self::FLOYD
    };

    /// The defaults of a variant, with thresholds in packets.
    fn of(variant: Option<RedVariant>) -> Self {
        let floyd = Self::FLOYD;
        match variant {
            None => floyd,
            Some(RedVariant::Floyd1993) => Self {
                max_p: 0.02,
                gentle: false,
                marks: RedMarks::Always,
                ..floyd
            },
            Some(RedVariant::Ns2) => Self {
                marks: RedMarks::BelowMax,
                wait: true,
                first_passes: true,
                spare_short_queue: true,
                unit: RedUnit::Bytes,
                size_scaling: SizeScaling::Ns,
                ..floyd
            },
            Some(RedVariant::Linux) => Self {
                max_p: 0.02,
                gentle: false,
                marks: RedMarks::Always,
                spread: RedSpread::PerGap,
                unit: RedUnit::Bytes,
                mean_packet: Size(1000),
                ..floyd
            },
            Some(RedVariant::Cisco) => Self {
                min_th: 20.0,
                max_th: 40.0,
                weight: 1.0 / 512.0,
                gentle: false,
                marks: RedMarks::BelowMax,
                spread: RedSpread::None,
                ..floyd
            },
        }
    }

    /// The probability just below `max_th`.
    pub fn highest(&self) -> f64 {
        match self.curve {
            RedShape::Linear => self.max_p,
            RedShape::Quadratic => 1.5 * self.max_p,
        }
    }

    /// The thresholds, and the probability that a linear curve has between them.
    #[inline]
    pub(super) fn thresholds(&self) -> RedCurve {
        RedCurve {
            min_th: self.min_th,
            max_th: self.max_th,
            max_p: self.max_p,
        }
    }

    /// Whether thresholds are bytes.
    #[inline]
    pub fn in_bytes(&self) -> bool {
        self.unit == RedUnit::Bytes
    }
}

impl RedSpec {
    /// The rules in force: the keys that are written, and the defaults of the variant.
    pub fn rules(&self) -> RedRules {
        let base = RedRules::of(self.variant);
        let mean_packet = self.mean_packet.unwrap_or(base.mean_packet);
        let unit = self.unit.unwrap_or(base.unit);
        let threshold = |written: Option<f64>, packets: f64| match (written, unit) {
            (Some(written), _) => written,
            (None, RedUnit::Packets) => packets,
            (None, RedUnit::Bytes) => packets * mean_packet.0 as f64,
        };
        RedRules {
            min_th: threshold(self.min_th, base.min_th),
            max_th: threshold(self.max_th, base.max_th),
            max_p: self.max_p.unwrap_or(base.max_p),
            weight: self.weight.unwrap_or(base.weight),
            gentle: self.gentle.unwrap_or(base.gentle),
            curve: self.curve.unwrap_or(base.curve),
            ecn: self.ecn,
            marks: self.marks.unwrap_or(base.marks),
            spread: self.spread.unwrap_or(base.spread),
            wait: self.wait.unwrap_or(base.wait),
            first_passes: self.first_passes.unwrap_or(base.first_passes),
            spare_short_queue: self.spare_short_queue.unwrap_or(base.spare_short_queue),
            unit,
            size_scaling: self.size_scaling.unwrap_or(base.size_scaling),
            mean_packet,
            max_packet: self.max_packet.unwrap_or(base.max_packet),
            idle: self.idle,
        }
    }

    /// The thresholds, alike for all packets.
    pub(super) fn thresholds(&self, _: Limit, _: Rate) -> Vec<Thresholds> {
        let r = self.rules();
        vec![Thresholds {
            in_bytes: r.in_bytes(),
            probability: r.highest(),
            ..r.thresholds().shown(Vec::new())
        }]
    }

    /// The rules, checked.
    pub(super) fn checked(&self, at: &mut At<'_>, leaf: &LeafFacts) -> Result<RedRules, Problem> {
        let r = self.rules();
        r.thresholds().checked(at, leaf, r.unit)?;
        at.check(
            r.highest() <= 1.0,
            "max_p",
            r.max_p,
            "with `curve: quadratic` the probability rises to 1.5 times this, which must not exceed 1",
            "write at most 2/3",
        )?;
        at.check(
            !(r.wait && r.spread == RedSpread::None),
            "wait",
            r.wait,
            "there are no gaps to lengthen with `spread: none`",
            "write `spread: per-packet` or leave `wait` out",
        )?;
        at.packet("max_packet", r.max_packet)?;
        if r.in_bytes() && r.max_th < r.mean_packet.0 as f64 {
            at.warn(format!(
                "max_th of {} bytes is less than one packet of {}: `unit: bytes` counts bytes",
                r.max_th, r.mean_packet
            ));
        }
        Ok(r)
    }
}
