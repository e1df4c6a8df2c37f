//! What is left to a class where the least deadline is sent first: WF2Q+ and virtual clock.
//!
//! Sources: J. C. R. Bennett, H. Zhang, "Hierarchical Packet Fair Queueing Algorithms", IEEE/ACM
//! ToN 5(5), 1997, theorem 4; P. Goyal, S. S. Lam, H. M. Vin, "Determining End-to-End Delay Bounds
//! in Heterogeneous Networks", Multimedia Systems 5(3), 1997; D. Stiliadis, A. Varma, "Latency-Rate
//! Servers", IEEE/ACM ToN 6(5), 1998.
//!
//! Both send packets in the order of deadlines, each class no more than its share between two of
//! them, and shares that come to 1. What is sent before a deadline F since the last packet of a
//! later one, at V0, had not started at V0 or came later. It fits into F - V0, so that a packet is
//! late by that one packet at most. Where the head of a queue may be replaced by another packet,
//! the queue may have had a packet that was too late at V0: a packet more of it.
//!
//! *WF2Q+*, of the part w of what is sent: a class that waits from s on begins at S <= V, and so
//! has its next start at most L / w - L behind V when its packet has been sent. The last of x bytes
//! has the deadline V + (x + L) / w - L. So the others send x (1 - w) / w + L (1 - w) / w and a
//! packet. Where other classes get nothing, V may run ahead of what is sent. Then each other class
//! is compared with it: j sends only what starts before F, and its next packet starts a packet and
//! its lateness before V at most, since it is not later than that itself.
//!
//! *Virtual clock*, at the rate r: F is max(a_j + W_jk / r), over the packets j up to k, where W_jk
//! are the bytes from j to k. So the delay is that of a server with the rate r behind what
//! lateness takes: T, by which what is left of the line is behind the sum of the rates. There is no
//! such service in any time in which packets wait: a class that used what others left waits until
//! its clock has passed.

use spillgate_core::Dur;
use spillgate_core::curve::{Curve, Exact};

use super::guarantee::Served;
use super::{Content, Tree};
use crate::guarantee::{Load, Part, Reason, Service};

/// Tag units of a byte of the whole.
const ONE: u128 = 1 << 20;

const HELD: &str = "no guarantee beside shapers, which let packets pass their deadlines, is known";

impl Tree {
    /// Of WF2Q+ the share of a class among `others`, and the bytes that these send before.
    pub(super) fn by_eligibility(
        &self,
        class: u16,
        others: &[u16],
        load: &Load,
    ) -> Result<(Exact, u64), Reason> {
        if others.iter().chain([&class]).any(|c| self.class(*c).gated) {
            return Err(HELD.into());
        }
        let (least, most) = load.stretch(self.counted);
        let tags = |c: u16| u128::from(self.class(c).per_byte).max(1);
        let longest = |c: u16| u128::from(self.longest(c, load));
        let own = tags(class);
        let late = self.late(class, others, load);
        // How much of all each sends, and what V lacks if that is more than there is.
        let part = |c: &u16| (ONE * ONE * ONE).div_ceil(tags(*c));
        let shared: u128 = others.iter().chain([&class]).map(part).sum();
        let all = ONE * ONE;
        let sent = u128::from(load.rate.bps()) * u128::from(load.lasts.as_ps()) / 8_000_000_000_000;
        let whole = sent + own * longest(class) / ONE;
        let drift = (shared.saturating_sub(all) * (2 * whole)).div_ceil(all) + 1;
        let late = late + drift;
        // Its deadline may be that of a longer packet than the one that is sent.
        let spread = match self.keeps_heads(class, load) {
            true => 0,
            false => longest(class),
        };
        let (parts, ahead) = if shared + all / 1000 >= all {
            let ahead = ((own - ONE.min(own)) * longest(class) + own * spread).div_ceil(ONE);
            (own.saturating_sub(ONE), ahead + late)
        } else {
            let before = |c: &u16| {
                let other = tags(*c);
                let tags = own * (longest(class) + spread) + ONE * late;
                tags.div_ceil(other) + 2 * longest(*c)
            };
            let ahead = others.iter().map(before).sum();
            (
                others.iter().map(|c| (own * ONE).div_ceil(tags(*c))).sum(),
                ahead,
            )
        };
        let exact = |n: u128| i128::try_from(n).unwrap_or(i128::MAX >> 40);
        let share = (Exact::new(exact(parts), exact(ONE)) * (most / least) + 1).recip();
        let ahead = (most / least * exact(ahead)).ceil().to_integer();
        Ok((share, u64::try_from(ahead).unwrap_or(u64::MAX)))
    }

    /// The bytes by which packets of a class, or of others of its rank, may be late: a packet with
    /// a later deadline, those that have come to a head in the place of such ones, and what shares
    /// while a packet of a higher rank is sent. With a ring, V has passed what is in it.
    fn late(&self, class: u16, others: &[u16], load: &Load) -> u128 {
        let longest = |c: &u16| u128::from(self.longest(*c, load));
        let all = || others.iter().chain([&class]);
        let one = all().map(longest).max().unwrap_or(0);
        let replaced: u128 = all()
            .filter(|c| !self.keeps_heads(**c, load))
            .map(longest)
            .sum();
        let rank = self.class(class).rank;
        let spare = self.longest_of(class, |c| c.level == 0 && c.rank > rank, load);
        let in_ring = if load.ring > 1 { one } else { 0 };
        one + replaced + u128::from(spare) + in_ring
    }

    /// Whether the next packet of a class stays the next one until it is sent.
    fn keeps_heads(&self, class: u16, load: &Load) -> bool {
        let keeps = |leaf: u16| {
            let queue = &self.leaves[usize::from(leaf)];
            let alike = self.longest(class, load) == self.shortest(class, load);
            queue.is_fifo() && (alike || !queue.judges_departures() && queue.loses_last())
        };
        match self.class(class).content {
            Content::Leaf(leaf) => keeps(leaf),
            Content::Node(_) => false,
        }
    }

    /// Of a virtual clock what a class is served of what is `left` of the line to all of its rank
    /// from the first packet on that is not late.
    pub(super) fn by_clock(
        &self,
        class: u16,
        others: &[u16],
        left: &Service,
        load: &Load,
    ) -> Result<Served, Reason> {
        let all = || others.iter().chain([&class]);
        if all().any(|c| self.class(*c).gated) {
            return Err(HELD.into());
        }
        let in_order = |c: &u16| match self.class(*c).content {
            Content::Leaf(leaf) => self.leaves[usize::from(leaf)].is_fifo(),
            Content::Node(_) => false,
        };
        if !all().all(in_order) {
            return Err(
                "no guarantee of a virtual clock with queues inside its classes is known".into(),
            );
        }
        let (least, most) = load.stretch(self.counted);
        let rate = |c: &u16| Exact::from_integer(self.class(*c).per_byte.into());
        let sum: Exact = all().map(rate).fold(Exact::from_integer(0), |a, b| a + b);
        let rates = Curve::line(Exact::from_integer(0), (sum * most).ceil());
        let replaced = others.iter().filter(|c| !self.keeps_heads(**c, load));
        let replaced: u64 = replaced.map(|c| self.longest(*c, load)).sum();
        let left = left.after(replaced)?;
        if rates.final_slope() > left.curve().final_slope() {
            return Err("its rate and those of the classes beside it come to more than what goes first leaves".into());
        }
        // Deadlines are rounded down to a picosecond, each.
        let rounded = Dur::from_ps(u64::try_from(load.drift().1).unwrap_or(u64::MAX));
        let late = rates.horizontal(left.curve())? + rounded;
        let own = Curve::line(Exact::from_integer(0), (rate(&class) * least).floor());
        let alone = left.down_to(Part::Share, own.delayed(late)?);
        Ok(Served {
            drain: left.down_to(Part::Share, Curve::zero()),
            alone: Some(alone),
        })
    }
}
