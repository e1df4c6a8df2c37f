//! WRED's default thresholds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::Dscp;

use super::wred::{WredBy, WredProfile};

/// Default thresholds, where no profile gives any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WredDefaults {
    /// Those of Cisco IOS: minima of 20 to 36 and a maximum of 40 packets, whatever the queue's
    /// limit; in bytes 1000 B for each.
    #[default]
    Ios,
    /// Those of Cisco IOS XE: shares of the queue's limit. The maximum is half of it, the minimum
    /// (8 + p)/32 of it for precedence p and class selector p, 12.8/32, 11.2/32 and 9.6/32 for drop
    /// precedence 1, 2 and 3 of assured forwarding, 14.4/32 for EF, a quarter for all others,
    /// rounded down. A packet of the limit counts 1500 B in bytes.
    IosXe,
    /// Shares of the queue's limit that do not overlap, so that what is in profile is dropped only
    /// once everything else is: drop precedence 1 of assured forwarding from three quarters of it
    /// to the whole, 2 from a quarter to a half, 3 from an eighth to a quarter. EF and CS1 .. CS7
    /// are treated as drop precedence 1, all others as 3. For `by: dscp` only.
    Staggered,
}

/// What a code point stands for (RFC 2474, RFC 2597, RFC 3246).
enum Behavior {
    Expedited,
    /// Assured forwarding with this drop precedence, 1 to 3.
    Assured(u32),
    /// The class selector of this precedence, 1 to 7.
    Selector(u32),
    Other,
}

impl Behavior {
    fn of(dscp: Dscp) -> Self {
        let v = u32::from(dscp.value());
        match (v, v % 8) {
            (46, _) => Self::Expedited,
            (10..=38, 2 | 4 | 6) => Self::Assured(v % 8 / 2),
            (8..=56, 0) => Self::Selector(v / 8),
            _ => Self::Other,
        }
    }
}

/// `n` of `parts` parts of a limit, at least 1.
fn share(limit: u64, n: u32, parts: u64) -> u32 {
    let share = limit.saturating_mul(n.into()) / parts;
    u32::try_from(share).unwrap_or(u32::MAX).max(1)
}

impl WredProfile {
    const fn up_to(min: u32, max: u32) -> Self {
        Self {
            min,
            max,
            denominator: 10,
        }
    }

    /// The default profile of a DSCP on IOS.
    pub fn default_for_dscp(dscp: Dscp) -> Self {
        let min = match Behavior::of(dscp) {
            Behavior::Expedited => 36,
            Behavior::Assured(precedence) => 36 - 4 * precedence,
            Behavior::Selector(class) => 20 + 2 * class,
            Behavior::Other => 20,
        };
        Self::up_to(min, 40)
    }

    /// The default profile of an IP precedence on IOS (only the lower three bits count).
    pub fn default_for_precedence(precedence: u8) -> Self {
        Self::up_to(20 + 20 * u32::from(precedence & 7) / 9, 40)
    }

    /// The staggered profile of a DSCP where the queue's limit is `limit`.
    pub(super) fn staggered(limit: u64, dscp: Dscp) -> Self {
        let (min, max) = match Behavior::of(dscp) {
            Behavior::Expedited | Behavior::Selector(_) | Behavior::Assured(1) => (6, 8),
            Behavior::Assured(2) => (2, 4),
            Behavior::Assured(_) | Behavior::Other => (1, 2),
        };
        Self::up_to(share(limit, min, 8), share(limit, max, 8))
    }

    /// The default profile on IOS XE of a DSCP, or of its precedence, where the queue's limit is
    /// `limit`.
    pub(super) fn share_of(limit: u64, by: WredBy, dscp: Dscp) -> Self {
        // Tenths of a 32nd of the limit above the quarter.
        let above = match (by, Behavior::of(dscp)) {
            (WredBy::Precedence, _) => 10 * u32::from(dscp.precedence()),
            // The shares of IOS's table, 20 to 40 packets, between a quarter and a half.
            (WredBy::Dscp, Behavior::Expedited) => 64,
            (WredBy::Dscp, Behavior::Assured(precedence)) => 64 - 16 * precedence,
            (WredBy::Dscp, Behavior::Selector(class)) => 10 * class,
            (WredBy::Dscp, Behavior::Other) => 0,
        };
        Self::up_to(share(limit, 80 + above, 320), share(limit, 160, 320))
    }
}
