//! What HFSC guarantees its leaves.
//!
//! Let S be the real-time curve of a leaf that is first in, first out, with slopes m1 for d
//! and m2, D its deadline curve, c its real-time work, L its longest packet and t0 the time that
//! the line takes for what was handed to it before. If all such curves together stay below the
//! line, a packet leaves by its deadline and t0 (Stoica, Zhang, Ng 1997, theorem 2).
//!
//! *While packets wait*, since s: the last real-time turn before s was eligible, so c(s) is at most
//! D(s) + L, of a convex curve at most D(s) + L + (m2 - m1) d. The deadline of what waits at t has
//! not passed at t - t0, so c(t) is more than D(t - t0) - L. D grows by at least m2: in all
//! m2 (t - s - t0) - 2 L, and (m2 - m1) d less of a convex one.
//!
//! *Since it was idle*: D is the least of the curves that began at some of the times s at which the
//! leaf was idle. For one of them S(t - t0 - s) is less than what came since s, if what waits at t
//! came with it. So delays and backlogs are those of S behind t0.

use spillgate_core::Dur;
use spillgate_core::curve::{Curve, Exact};

use super::Hierarchy;
use super::curve::Asked;
use super::hfsc::Hfsc;
use crate::guarantee::{Guarantee, Load, Part, Reason, Service};

impl Hierarchy<Hfsc> {
    pub(super) fn guaranteed(&self, leaf: u16, load: &Load) -> Result<Guarantee, Reason> {
        let queue = &self.leaves[usize::from(leaf)];
        let class = self.class_of[usize::from(leaf)];
        let Some(own) = class.and_then(|c| self.order.real_time(c)) else {
            return Err("it has no real-time curve, and link-sharing guarantees nothing".into());
        };
        if !queue.is_fifo() || queue.judges_departures() {
            let why = "deadlines are those of the next packet, which may change in its queue";
            return Err(why.into());
        }
        if self.counted.is_some_and(|c| c != load.overhead) {
            return Err("its curves count other bytes than the link".into());
        }
        if !self.order.fits(load.rate.bps()) {
            return Err("the real-time curves come to more than the line sends".into());
        }
        let line = Service::line(load.rate);
        let ahead = line.curve().serves(load.ring_bytes())?;
        let longest = load.leaves[usize::from(leaf)].longest;
        let least = own.slope().after_bytes(2 * u64::from(longest))?;
        let least = least.delayed(own.falls_behind())?;
        let whole = own.curve()?;
        let behind = |curve: &Curve| -> Result<Service, Reason> {
            let share = line.down_to(Part::Share, curve.clone());
            Ok(share.down_to(Part::Front, curve.delayed(ahead)?))
        };
        let drain = behind(&least)?;
        let alone = behind(&whole)?;
        let arrivals = load.leaves[usize::from(leaf)].arrivals.clone();
        Ok(Guarantee {
            alone: arrivals.clone().map(|a| (a, alone)),
            drain,
            arrivals,
            beside: vec![leaf],
            only_limits: queue.drops_only_at_limits(),
            shares: Vec::new(),
        })
    }
}

impl Asked {
    /// The line of its second slope.
    fn slope(self) -> Curve {
        Curve::line(Exact::from_integer(0), Exact::from_integer(self.m2.into()))
    }

    /// By how much a convex curve is later than that line in the long run.
    fn falls_behind(self) -> Dur {
        let missing = u128::from(self.m2.saturating_sub(self.m1)) * u128::from(self.d);
        Dur::from_ps(missing.div_ceil(self.m2.max(1).into()) as u64)
    }

    fn curve(self) -> Result<Curve, Reason> {
        let line = |value: i128, slope: u64| {
            Curve::line(
                Exact::from_integer(value),
                Exact::from_integer(slope.into()),
            )
        };
        if self.is_concave() {
            let later = i128::from(self.m1 - self.m2) * i128::from(self.d);
            return Ok(line(0, self.m1).min(&line(later, self.m2))?);
        }
        let steeper = line(0, self.m2 - self.m1);
        let steeper = steeper.delayed(Dur::from_ps(self.d))?;
        Ok(line(0, self.m1).plus(&steeper)?)
    }
}
