//! Control laws of AQMs in numbers, for analysis: what of their parameters decides how the drop
//! probability follows the queue.

use serde::Serialize;
use spillgate_core::Rate;

use super::{AqmSpec, RedShape, RedSpread, SizeScaling};

/// How an AQM's probability follows the queue, with all defaults filled in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ControlLaw {
    /// RED; `max_p` of adaptive RED is its first.
    Red {
        /// Lower threshold of the average.
        min_th: f64,
        /// Upper threshold of the average.
        max_th: f64,
        /// Whether averages and thresholds are in bytes; else in packets.
        in_bytes: bool,
        /// Probability at `max_th`.
        max_p: f64,
        /// Weight of one sample in the average.
        weight: f64,
        /// Whether the probability rises to 1 between `max_th` and twice that.
        gentle: bool,
        /// How the probability rises to `max_p`, or 1.5 times that.
        curve: RedShape,
        /// How gaps between drops are spread.
        spread: RedSpread,
        /// Whether gaps are longer by 1/p_b.
        wait: bool,
        /// Whether a packet's length changes its probability.
        scaled: bool,
        /// Whether `max_p` follows the load by Floyd's rule.
        adaptive: bool,
    },
    /// Double-slope RED, in packets.
    Dsred {
        /// Lower threshold of the average.
        min_th: f64,
        /// Upper threshold of the average.
        max_th: f64,
        /// 1 - `gamma` is the probability in the middle.
        gamma: f64,
        /// Weight of one sample in the average.
        weight: f64,
        /// Whether gaps between drops are spread.
        spread: bool,
    },
    /// PIE.
    Pie {
        /// Target delay in seconds.
        target: f64,
        /// Seconds between updates.
        update: f64,
        /// Gain of the distance to the target, per second.
        alpha: f64,
        /// Gain of the change of the delay, per second.
        beta: f64,
        /// Whether drops are de-randomized.
        derandomize: bool,
    },
}

impl AqmSpec {
    /// Its control law in a queue with this guaranteed rate; none if it has another kind of law.
    pub fn control_law(&self, rate: Rate) -> Option<ControlLaw> {
        match self {
            Self::Red(s) => {
                let r = s.rules();
                Some(ControlLaw::Red {
                    min_th: r.min_th,
                    max_th: r.max_th,
                    in_bytes: r.in_bytes(),
                    max_p: r.max_p,
                    weight: r.weight,
                    gentle: r.gentle,
                    curve: r.curve,
                    spread: r.spread,
                    wait: r.wait,
                    scaled: r.size_scaling != SizeScaling::None,
                    adaptive: false,
                })
            }
            Self::AdaptiveRed(s) => {
                let curve = s.curve(rate);
                Some(ControlLaw::Red {
                    min_th: curve.min_th,
                    max_th: curve.max_th,
                    in_bytes: false,
                    max_p: curve.max_p,
                    weight: s.weight(rate),
                    gentle: s.gentle,
                    curve: RedShape::Linear,
                    spread: RedSpread::PerPacket,
                    wait: false,
                    scaled: false,
                    adaptive: true,
                })
            }
            Self::Dsred(s) => Some(ControlLaw::Dsred {
                min_th: s.min_th,
                max_th: s.max_th,
                gamma: s.gamma,
                weight: s.weight,
                spread: s.spread,
            }),
            Self::Pie(s) => Some(ControlLaw::Pie {
                target: s.target.as_secs_f64(),
                update: s.update.as_secs_f64(),
                alpha: s.alpha,
                beta: s.beta,
                derandomize: s.derandomize,
            }),
            _ => None,
        }
    }
}
