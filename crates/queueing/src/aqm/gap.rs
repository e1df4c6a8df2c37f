//! Gaps between drops, spread as RED and its implementations spread them (Floyd and Jacobson 1993,
//! figures 2 and 17; ns-2; Linux).

use spillgate_core::{DropReason, Packet};

use super::Draw;
use super::curve::Region;
use super::red_spec::{RedRules, RedSpread, SizeScaling};

/// Why a packet is dropped, and what [`Odds`](crate::evidence::Odds) say of chance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fell {
    pub(super) reason: DropReason,
    pub(super) probability: f64,
    pub(super) count: Option<i64>,
    pub(super) draw: Option<f64>,
}

/// Arrivals since the last mark or drop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Gap {
    /// Packets; -1 while the average is below the lower threshold.
    pub(super) count: i32,
    /// Their bytes.
    bytes: u32,
    /// The random number of this gap, with [`RedSpread::PerGap`].
    random: f64,
}

impl Gap {
    pub(super) const NONE: Self = Self {
        count: -1,
        bytes: 0,
        random: 0.0,
    };

    #[inline]
    fn begin(&mut self, count: i32) {
        (self.count, self.bytes) = (count, 0);
    }

    /// After a drop.
    #[inline]
    pub(super) fn restart(&mut self) {
        self.begin(0);
    }

    /// Why this packet is dropped; none if it passes.
    ///
    /// Always inlined: most laws have constant rules, of which little is left then.
    #[inline(always)]
    pub(super) fn judge<D: Draw>(
        &mut self,
        rules: &RedRules,
        region: Region,
        packet: &Packet,
        draw: &mut D,
    ) -> Option<Fell> {
        let per_gap = rules.spread == RedSpread::PerGap;
        let mut p_b = match region {
            Region::Pass => {
                self.begin(-1);
                return None;
            }
            Region::Certain => {
                // Linux and figure 17 of 1993 start as after a short queue, figure 2 as after a
                // drop.
                self.begin(if per_gap { -1 } else { 0 });
                return Some(Fell {
                    reason: DropReason::Forced,
                    probability: 1.0,
                    count: None,
                    draw: None,
                });
            }
            Region::Random(p_b) => p_b,
        };
        let first = self.count < 0;
        self.count = self.count.saturating_add(1);
        if first && rules.first_passes {
            self.count = 1;
        }
        if self.count > 0 {
            self.bytes = self.bytes.saturating_add(packet.len);
        }
        if first && per_gap {
            self.random = draw.draw();
        }
        if first && rules.first_passes {
            return None;
        }
        let len = f64::from(packet.len);
        if rules.size_scaling == SizeScaling::Paper {
            p_b *= len / rules.max_packet.0 as f64;
        }
        let mut p_a = self.probability(rules, p_b);
        if rules.size_scaling == SizeScaling::Ns && p_a < 1.0 {
            p_a = (p_a * len / rules.mean_packet.0 as f64).min(1.0);
        }
        let (u, drops) = match per_gap {
            true => (self.random, p_a > 0.0),
            false => {
                let u = draw.draw();
                (u, u < p_a)
            }
        };
        if !drops {
            return None;
        }
        if per_gap {
            self.random = draw.draw();
        }
        let count = (rules.spread != RedSpread::None).then_some(self.count.into());
        self.restart();
        Some(Fell {
            reason: DropReason::Early,
            probability: p_a.min(1.0),
            count,
            draw: Some(u),
        })
    }

    /// The probability that this packet is dropped.
    #[inline]
    fn probability(&self, rules: &RedRules, p_b: f64) -> f64 {
        // Packets since the last drop, as gaps count them.
        let count = match rules.size_scaling {
            SizeScaling::Ns => (u64::from(self.bytes) / rules.mean_packet.0) as f64,
            _ => f64::from(self.count),
        };
        match rules.spread {
            RedSpread::PerPacket => spread(rules.wait, p_b, count),
            RedSpread::PerGap => {
                let end = self.random + f64::from(u8::from(rules.wait));
                f64::from(u8::from(self.count > 0 && count * p_b >= end))
            }
            RedSpread::None => p_b,
        }
    }
}

/// p_a: p_b with the gaps spread, `count` being packets since the last drop; with `wait` no gap is
/// shorter than 1/p_b.
#[inline]
pub(super) fn spread(wait: bool, p_b: f64, count: f64) -> f64 {
    let x = count * p_b - f64::from(u8::from(wait));
    if x < 0.0 {
        0.0
    } else if x < 1.0 {
        (p_b / (1.0 - x)).min(1.0)
    } else {
        1.0
    }
}
