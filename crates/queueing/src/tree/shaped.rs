//! What a policy guarantees classes with shapers.

use spillgate_core::curve::{Curve, Exact, UNITS, time_of};

use super::Tree;
use super::guarantee::Served;
use crate::guarantee::{Load, Part, Reason, Service};

const VARIES: &str = "no guarantee of a shaper on a line whose rate varies is known";

impl Tree {
    /// Of the only class of a policy, with a shaper: its rate once a packet has left the line.
    ///
    /// A packet leaves when the tokens pay for it and the line is free. Tokens that are not
    /// negative pay for W bytes after W / R; while they fill the bucket, the line is late by a
    /// packet, which they make up for, as the bucket holds one. Of a choice of packets another one
    /// may have waited for its tokens, and a bucket that lends lacks a packet's.
    pub(super) fn behind_shaper(
        &self,
        class: u16,
        shaper: usize,
        load: &Load,
    ) -> Result<Served, Reason> {
        if load.line.is_some() {
            return Err(VARIES.into());
        }
        let bucket = &self.shapers[shaper];
        let least = load.stretch(self.counted).0;
        let slope =
            (least * i128::from(bucket.rate())).min(Exact::from_integer(load.rate.bps().into()));
        let lent = match self.pays_in_advance(class) {
            true => 0,
            false => 2 * self.longest(class, load),
        };
        let line = Service::line(load.rate);
        let ahead = line.curve().serves(load.ring_bytes())?;
        let shaped = Curve::line(Exact::from_integer(0), slope).after_bytes(lent)?;
        let drain = line
            .down_to(Part::Shaper, shaped.clone())
            .down_to(Part::Front, shaped.delayed(ahead)?);
        Ok(Served { drain, alone: None })
    }

    /// Whether the tokens of a class with a shaper are never negative, and suffice as long as its
    /// next packet waits once they have sufficed.
    fn pays_in_advance(&self, class: u16) -> bool {
        let owes = |s: u16| self.shapers[usize::from(s)].owes();
        let leaves = self.leaves_in(class);
        let in_order = |l: &u16| {
            let leaf = &self.leaves[usize::from(*l)];
            leaf.is_fifo() && !leaf.judges_departures()
        };
        !self.class(class).shaper.is_some_and(owes)
            && leaves.len() == 1
            && leaves.iter().all(in_order)
    }

    /// Of a class with a shaper beside others, of which `free` is guaranteed where the tokens
    /// suffice, at the rate g after the latency T.
    ///
    /// Let a be the last time at which the tokens come to suffice before a packet is sent, the last
    /// of x bytes since s. If no tokens are lost in a full bucket from s to a, the x' bytes sent by
    /// then, the next packet, and what was lacking at s have come in (x' + l) / R, and the rest
    /// leaves in T + (x - x') / g. While the bucket is full tokens are lost, but between that and
    /// the next lack it has paid for its depth B: from the first to the lack it gains (B - L) / R,
    /// and from there to the next time that it is full T + L / g pass at most beside what is sent.
    /// From one to the next B - L bytes are sent, or a packet, or in two of these times B.
    pub(super) fn held(&self, class: u16, free: &Service, load: &Load) -> Result<Served, Reason> {
        let Some(shaper) = self.class(class).shaper else {
            return Err("no guarantee of priority around a shaper is known".into());
        };
        if load.line.is_some() {
            return Err(VARIES.into());
        }
        let bucket = &self.shapers[usize::from(shaper)];
        let (zero, least) = (Exact::from_integer(0), load.stretch(self.counted).0);
        let rate = (least * i128::from(bucket.rate())).floor();
        let guaranteed = free.curve().final_slope().floor();
        let Some(latency) = free.curve().latency(guaranteed)?.filter(|_| rate > zero) else {
            return Err("what goes first leaves nothing for it".into());
        };
        let longest = Exact::from_integer(self.longest(class, load).into());
        let depth = (least * i128::from(bucket.burst())).floor();
        let exact = self.pays_in_advance(class);
        let gains = (depth - longest).max(zero);
        let turn = latency.ceil() + time_of(longest, guaranteed)?.ceil();
        let lost = (turn - time_of(gains, rate)?.floor()).max(zero);
        let packet = Exact::from_integer(self.shortest(class, load).into());
        let in_two = if exact { (depth / 2).floor() } else { zero };
        let between = gains.max(packet).max(in_two);
        let lacking = match (exact, guaranteed < rate || lost > zero) {
            (false, _) => 2,
            (true, true) => 1,
            (true, false) => 0,
        };
        let lacking = time_of(longest * lacking, rate)?.ceil();
        // The time of a bit.
        let each = rate.min(guaranteed).recip() + lost / (between * UNITS);
        let slope = each.recip().floor();
        let shaped = Curve::from_latency(turn + lost + lacking, slope)?;
        Ok(Served {
            drain: free.down_to(Part::Shaper, shaped),
            alone: None,
        })
    }
}
