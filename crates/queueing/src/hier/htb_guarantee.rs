//! What HTB guarantees its leaves: their rates.
//!
//! Let a leaf have the rate r, at most its ceiling, let b be the lesser of its burst and cburst, L
//! its longest packet, and let it wait. As long as both buckets are not below zero it stands in the
//! lowest row, which sends before all that borrows. Beside it there send, of leaves of its priority
//! and of better ones, their bursts, a packet and what their rates bring; or, of its own priority,
//! their turns. Let β be what this leaves it of the line, which the classes around it do not
//! change, and θ its latency at the rate r: in a time t it sends r (t - θ) at least.
//!
//! Claim: if r θ <= b, it sends r (t - θ) - L at least in any time t in which it waits. Let a be
//! the last time at which a bucket was below zero. From a on it sends r (t - a - θ). If that bucket
//! was full at some u before a, it has paid for all that came since and for its depth: r (a - u) +
//! b, and the claim holds up to u by induction. If not, at the beginning it lacked L at most. The
//! same holds of any lower rate r' with r' θ <= b: what comes while the bucket is full is lost.
//!
//! The timer makes θ longer by a tick. With hysteresis a bucket may lack its depth more.

use spillgate_core::curve::{Curve, Exact, UNITS};
use spillgate_core::time::PS_PER_SEC;

use super::Hierarchy;
use super::htb::{Htb, LONGEST_WAIT, Terms};
use crate::guarantee::{Guarantee, Load, Part, Reason, Service, limit};
use crate::share::{Whole, shares};

impl Hierarchy<Htb> {
    pub(super) fn guaranteed(&self, leaf: u16, load: &Load) -> Result<Guarantee, Reason> {
        if self.counted.is_some_and(|c| c != load.overhead) {
            return Err("its rates count other bytes than the link".into());
        }
        let queue = &self.leaves[usize::from(leaf)];
        let drain = match self.class_of[usize::from(leaf)] {
            Some(class) => self.has_rate(leaf, class, load)?,
            // It goes before all classes.
            None => Service::line(load.rate).after(load.ring_bytes())?,
        };
        let arrivals = load.leaves[usize::from(leaf)].arrivals.clone();
        let whole = Whole {
            service: &drain,
            own_in_front: false,
            bare: false,
        };
        let mut shares = match queue.fairness() {
            Some(of) => shares(of, leaf, load, &whole, |f| f.dscp)?,
            None => Vec::new(),
        };
        limit(&mut shares, queue);
        Ok(Guarantee {
            alone: arrivals.clone().map(|a| (a, drain.clone())),
            drain,
            arrivals,
            beside: vec![leaf],
            only_limits: queue.drops_only_at_limits(),
            shares,
        })
    }

    fn has_rate(&self, leaf: u16, class: u16, load: &Load) -> Result<Service, Reason> {
        let own = self.order.terms(class);
        let longest = u64::from(load.leaves[usize::from(leaf)].longest);
        let first = self.in_lowest_row(leaf, own, longest, load)?;
        // A ceiling below the rate is never exceeded. More than a minute's tokens are never
        // counted.
        let most = own.rate.min(own.ceil);
        let minute = sent_in_minute(most).saturating_sub(longest);
        let depth = own.burst.min(own.cburst).min(minute);
        let asked = Exact::from_integer(most.into());
        let no_rate = || -> Reason {
            let (rate, left) = (most, first.final_slope().floor().to_integer());
            format!(
                "the rates of the leaves beside it leave {left} b/s, not its rate of {rate} b/s"
            )
            .into()
        };
        let latency = first.latency(asked)?.ok_or_else(no_rate)?;
        let tick = i128::from(self.order.granularity().as_ps());
        let latency = latency.ceil() + Exact::from_integer(tick);
        // What its bucket holds in that time.
        let kept = Exact::from_integer(UNITS * i128::from(depth)) / latency;
        let rate = asked.min(kept.floor());
        if rate <= Exact::from_integer(0) {
            return Err(
                "its burst or cburst is 0: all that it gains while others send is lost".into(),
            );
        }
        let lacks = match self.order.has_hysteresis() {
            true => longest.saturating_add(own.burst.max(own.cburst)),
            false => longest,
        };
        let lacking = Exact::from_integer(UNITS * i128::from(lacks)) / rate;
        let sent = Curve::from_latency(latency + lacking.ceil(), rate)?;
        let line = Service::line(load.rate);
        let ahead = line.curve().serves(load.ring_bytes())?;
        let share = line.down_to(Part::Share, sent.clone());
        Ok(share.down_to(Part::Front, sent.delayed(ahead)?))
    }

    /// What a leaf is served as long as its buckets are not below zero.
    fn in_lowest_row(
        &self,
        leaf: u16,
        own: Terms,
        longest: u64,
        load: &Load,
    ) -> Result<Curve, Reason> {
        let line = Curve::rate(load.rate).after_bytes(load.ring_bytes())?;
        let (mut better, mut alike) = (Curve::zero(), Vec::new());
        for (other, of) in (0_u16..).zip(&load.leaves).filter(|(_, l)| l.longest > 0) {
            if other == leaf {
                continue;
            }
            let Some(class) = self.class_of[usize::from(other)] else {
                let Some(come) = &of.arrivals else {
                    return Err("packets outside of all classes go first, and nothing bounds what comes of them".into());
                };
                better = better.plus(&come.deconvolve(&line)?)?;
                continue;
            };
            let terms = self.order.terms(class);
            match terms.prio.cmp(&own.prio) {
                std::cmp::Ordering::Less => {
                    better = better.plus(&self.sends_at_rate(terms, of.longest))?;
                }
                std::cmp::Ordering::Equal => alike.push((terms, u64::from(of.longest))),
                std::cmp::Ordering::Greater => {}
            }
        }
        let left = line.left_over(&better)?;
        let mut beside = Curve::zero();
        for (terms, longest) in &alike {
            beside = beside.plus(&self.sends_at_rate(*terms, *longest as u32))?;
        }
        let by_rates = left.left_over(&beside)?;
        if u64::from(own.quantum) < longest || alike.is_empty() {
            return Ok(by_rates);
        }
        // Of n turns of its own, which it sends n quanta in but one, others have n + 3.
        let turn = |(t, longest): &(Terms, u64)| u64::from(t.quantum).max(*longest);
        let turns: u64 = alike.iter().map(turn).sum();
        let ahead = |a: &(Terms, u64)| 3 * turn(a) + u64::from(a.0.quantum);
        let ahead: u64 = alike.iter().map(ahead).sum();
        let quantum = i128::from(own.quantum);
        let share = Exact::new(quantum, quantum + i128::from(turns));
        Ok(by_rates.max(&left.after_bytes(ahead)?.scaled(share)?)?)
    }

    /// What a leaf sends at most without borrowing.
    fn sends_at_rate(&self, terms: Terms, longest: u32) -> Curve {
        // It lacks a minute's tokens at most.
        let in_minute = Exact::new(i128::from(longest) * 8, 60).ceil();
        let rate = Exact::from_integer(terms.rate.into()).max(in_minute);
        let tick = self.order.granularity().as_ps();
        let missed = (u128::from(tick) * u128::from(terms.rate)).div_ceil(UNITS as u128);
        let depth = u128::from(terms.burst).max(missed);
        let lent = u128::from(if self.order.has_hysteresis() {
            terms.burst
        } else {
            0
        });
        let burst = depth + lent + u128::from(longest);
        let burst = Exact::from_integer(UNITS) * i128::try_from(burst).unwrap_or(i128::MAX >> 64);
        Curve::line(burst, rate)
    }
}

/// Bytes that a rate sends in the longest time that buckets count.
fn sent_in_minute(bps: u64) -> u64 {
    let seconds = LONGEST_WAIT / PS_PER_SEC;
    bps.saturating_mul(seconds) / 8
}
