//! What a class-based policy guarantees its classes.
//!
//! Sources: S. J. Golestani, "A Self-Clocked Fair Queueing Scheme for Broadband Applications",
//! INFOCOM 1994 (a packet of every other class at line rate); J.-Y. Le Boudec and P. Thiran,
//! "Network Calculus", 2001, section 6.2 (what priority leaves).
//!
//! Let a class with the share w wait from s on, F - V be what its tags advance for W bytes, and a
//! class j have the share w_j. Its next packet would finish at V or later when V was last set, so
//! until F it sends w_j (F - V) and a packet more at most; W is w (F - V). What is in transmission
//! at s comes first; if it belongs to another class of this rank, V is its own finish, and it
//! stands for the packet more of that class. Priority classes send what may come to them. What of
//! theirs waits at s came since the first of it waited, and the line has sent at its rate since
//! then: the deconvolution of their arrival curve by the line's rate bounds what they send after s.
//!
//! A policer that acts while packets wait (LLQ) lets at most one packet more pass: the first, which
//! nothing waits before, takes what tokens there are. So it counts only in a time in which packets
//! wait.

use spillgate_core::curve::{Curve, Exact, UNITS};

use super::{ClassState, Content, Tree};
use crate::condition::Step;
use crate::guarantee::{Guarantee, LeafLoad, Load, Part, Reason, Service};

/// Shares are compared in parts of this, rounded to the safe side.
const PARTS: i128 = 1 << 20;

/// A service in any time in which packets wait, and one from where none is in transmission either.
struct Served {
    drain: Service,
    alone: Option<Service>,
}

impl Tree {
    pub(super) fn guaranteed(&self, leaf: u16, load: &Load) -> Result<Guarantee, Reason> {
        if !self.leaves[usize::from(leaf)].is_fifo() {
            return Err("no guarantee of a fair queue inside a class is known".into());
        }
        let own = self.places[usize::from(leaf)].class;
        let mut path = vec![own];
        while let Some(parent) = self.node_of(path[path.len() - 1]).parent {
            path.push(parent);
        }
        let mut served = Served {
            drain: load.service(),
            alone: None,
        };
        for (depth, class) in path.iter().rev().enumerate() {
            served = match self.class(*class).level {
                0 => self.shared(*class, &served.drain, depth == 0, load)?,
                _ => self.priority(*class, &served.drain, depth == 0, load)?,
            };
        }
        let level = self.class(own).level;
        let beside: Vec<u16> = match level {
            0 => vec![leaf],
            _ => self.leaves_at(own, |c| c.level == level, load),
        };
        let arrivals = self.arrivals_of(&beside, load, true)?;
        let plain = self.arrivals_of(&beside, load, false)?;
        let only_limits = beside.iter().all(|l| self.drops_only_at_limits(*l, load));
        Ok(Guarantee {
            drain: served.drain,
            arrivals,
            alone: plain.zip(served.alone),
            beside,
            only_limits,
        })
    }

    fn class(&self, class: u16) -> &ClassState {
        &self.classes[usize::from(class)]
    }

    fn node_of(&self, class: u16) -> &super::Node {
        &self.nodes[usize::from(self.class(class).node)]
    }

    /// The classes beside one, itself included, to which packets come.
    fn siblings(&self, class: u16, load: &Load) -> impl Iterator<Item = u16> {
        let node = self.node_of(class);
        let comes = |c: &u16| self.longest(*c, load) > 0;
        (node.first..node.end)
            .filter(comes)
            .collect::<Vec<_>>()
            .into_iter()
    }

    /// The leaves of some of the classes beside one.
    fn leaves_at(&self, class: u16, of: impl Fn(&ClassState) -> bool, load: &Load) -> Vec<u16> {
        let chosen = self.siblings(class, load).filter(|c| of(self.class(*c)));
        let mut leaves: Vec<u16> = chosen.flat_map(|c| self.leaves_in(c)).collect();
        if let Content::Leaf(own) = self.class(class).content {
            if of(self.class(class)) && !leaves.contains(&own) {
                leaves.push(own);
            }
        }
        leaves
    }

    fn leaves_in(&self, class: u16) -> Vec<u16> {
        match self.class(class).content {
            Content::Leaf(leaf) => vec![leaf],
            Content::Node(node) => {
                let node = &self.nodes[usize::from(node)];
                (node.first..node.end)
                    .flat_map(|c| self.leaves_in(c))
                    .collect()
            }
        }
    }

    /// The longest packet of a class, in bytes on the link.
    fn longest(&self, class: u16, load: &Load) -> u64 {
        let of = |leaf: &u16| load.leaves[usize::from(*leaf)].longest;
        self.leaves_in(class)
            .iter()
            .map(of)
            .max()
            .unwrap_or(0)
            .into()
    }

    /// The longest packet of some of the classes beside one.
    fn longest_of(&self, class: u16, of: impl Fn(&ClassState) -> bool, load: &Load) -> u64 {
        let chosen = self.siblings(class, load).filter(|c| of(self.class(*c)));
        chosen.map(|c| self.longest(c, load)).max().unwrap_or(0)
    }

    /// What may come to some leaves, after policers that act always, and where packets `wait` after
    /// those that act then; none if that is unknown.
    fn arrivals_of(
        &self,
        leaves: &[u16],
        load: &Load,
        wait: bool,
    ) -> Result<Option<Curve>, Reason> {
        let mut sum = Curve::zero();
        for leaf in leaves {
            let Some(own) = self.arrivals(*leaf, load, wait)? else {
                return Ok(None);
            };
            sum = sum.plus(&own)?;
        }
        Ok(Some(sum))
    }

    fn arrivals(&self, leaf: u16, load: &Load, wait: bool) -> Result<Option<Curve>, Reason> {
        let LeafLoad { longest, arrivals } = &load.leaves[usize::from(leaf)];
        if *longest == 0 {
            return Ok(Some(Curve::zero()));
        }
        let mut least = arrivals.clone();
        for step in self.steps_of_all(leaf) {
            let (bucket, always) = match step {
                Step::Police(p) => (p.only_passes(), true),
                Step::Priority(p) => (Some((p.bucket.rate(), p.bucket.burst())), p.always),
                _ => continue,
            };
            let Some((rate, burst)) = bucket.filter(|_| always || wait) else {
                continue;
            };
            let most = load.stretch(step.counted()).1;
            let burst = most * (UNITS * i128::from(burst));
            let first = if always { 0 } else { *longest };
            let least_burst = Exact::from_integer(UNITS * i128::from(first));
            let curve = Curve::line(burst.max(least_burst), most * i128::from(rate));
            least = Some(match least {
                Some(least) => least.min(&curve)?,
                None => curve,
            });
        }
        Ok(least)
    }

    /// The steps that all packets of a leaf pass.
    fn steps_of_all(&self, leaf: u16) -> impl Iterator<Item = &Step> {
        let steps = |r: &super::Route| {
            &self.route_steps[usize::from(r.first_step)..usize::from(r.end_step)]
        };
        let mut routes = self
            .routes
            .iter()
            .filter(move |r| r.leaf == leaf)
            .map(steps);
        let first = routes.next().unwrap_or_default();
        let others: Vec<&[u16]> = routes.collect();
        let in_all = move |s: &&u16| others.iter().all(|o| o.contains(s));
        first
            .iter()
            .filter(in_all)
            .map(|s| &self.steps[usize::from(*s)])
    }

    fn drops_only_at_limits(&self, leaf: u16, load: &Load) -> bool {
        let routes = self.routes.iter().filter(|r| r.leaf == leaf);
        let mut steps = routes
            .flat_map(|r| &self.route_steps[usize::from(r.first_step)..usize::from(r.end_step)]);
        let polices = |s: &u16| {
            matches!(
                self.steps[usize::from(*s)],
                Step::Police(_) | Step::Priority(_)
            )
        };
        let place = &self.places[usize::from(leaf)];
        // A shaper's bucket may count other bytes than the link: fewer than twice as many.
        let fits =
            u64::from(place.longest) >= 2 * u64::from(load.leaves[usize::from(leaf)].longest);
        !steps.any(polices) && fits && self.leaves[usize::from(leaf)].drops_only_at_limits()
    }

    /// What some leaves of priority classes may send in any time, of which packets `wait` in all.
    fn sends(
        &self,
        leaves: &[u16],
        whole: &Curve,
        load: &Load,
        wait: bool,
    ) -> Result<Option<Curve>, Reason> {
        let Some(all) = self.arrivals_of(leaves, load, wait)? else {
            return Ok(None);
        };
        if leaves.is_empty() {
            return Ok(Some(all));
        }
        if all.final_slope() >= whole.final_slope() {
            return Err("the priority classes before it may take all".into());
        }
        Ok(Some(if wait { all.deconvolve(whole)? } else { all }))
    }

    /// Of a priority class: what those of lower levels, which go first, leave.
    fn priority(
        &self,
        class: u16,
        whole: &Service,
        outermost: bool,
        load: &Load,
    ) -> Result<Served, Reason> {
        let own = self.class(class).level;
        if self
            .siblings(class, load)
            .any(|c| self.class(c).level > 0 && self.class(c).gated)
        {
            return Err("no guarantee of priority with a shaper is known".into());
        }
        let first = |c: &ClassState| c.level > 0 && c.level < own;
        let before = self.leaves_at(class, first, load);
        let sent = self.sends(&before, whole.curve(), load, true)?;
        let Some(sent) = sent else {
            return Err(self.unpoliced(&before, load));
        };
        let ring = if outermost { load.ring_bytes() } else { 0 };
        let drain = whole.behind(&sent)?.after(ring)?;
        let alone = match self.sends(&before, whole.curve(), load, false)? {
            Some(sent) if outermost && load.ring == 1 => {
                let behind = self.longest_of(class, |c| c.level == 0 || c.level > own, load);
                Some(whole.behind(&sent)?.after(behind)?)
            }
            _ => None,
        };
        Ok(Served { drain, alone })
    }

    /// Of a class that shares what priority leaves.
    fn shared(
        &self,
        class: u16,
        whole: &Service,
        outermost: bool,
        load: &Load,
    ) -> Result<Served, Reason> {
        let state = self.class(class);
        if state.rank > 0 {
            return Err("it is served only while others have nothing to send".into());
        }
        if let Some(shaper) = state.shaper {
            return self.behind_shaper(class, usize::from(shaper), outermost, load);
        }
        let before = self.leaves_at(class, |c| c.level > 0, load);
        let Some(sent) = self.sends(&before, whole.curve(), load, true)? else {
            return Err(self.unpoliced(&before, load));
        };
        let others = self.siblings(class, load).filter(|c| *c != class);
        let others: Vec<u16> = others.filter(|c| self.shares(*c)).collect();
        // For each part of its own the others send so many.
        let part = |c: &u16| {
            let (own, other) = (
                i128::from(state.per_byte),
                i128::from(self.class(*c).per_byte),
            );
            (own * PARTS + other - 1) / other.max(1)
        };
        let (least, most) = load.stretch(self.counted);
        let parts = Exact::new(others.iter().map(part).sum(), PARTS) * (most / least);
        let share = (parts + 1).recip();
        let ahead: u64 = others.iter().map(|c| self.longest(*c, load)).sum();
        let (mut waits, mut begins) = (ahead, ahead);
        if outermost {
            let spare = self.longest_of(class, |c| c.level == 0 && c.rank > 0, load);
            let sends = self.longest_of(class, |c| c.level > 0, load).max(spare);
            waits += self.longest(class, load).max(sends);
            waits += load.ring_bytes() - load.longest();
            begins += spare;
        }
        let leaves = |sent: &Curve, ahead| whole.behind(sent)?.after(ahead)?.share(share);
        let alone = match self.sends(&before, whole.curve(), load, false)? {
            Some(sent) if outermost && load.ring == 1 => Some(leaves(&sent, begins)?),
            _ => None,
        };
        Ok(Served {
            drain: leaves(&sent, waits)?,
            alone,
        })
    }

    fn shares(&self, class: u16) -> bool {
        let class = self.class(class);
        class.level == 0 && class.rank == 0
    }

    /// Of the only class of a policy, with a shaper: its rate once a packet has left the line.
    ///
    /// A packet leaves when the tokens pay for it and the line is free. Tokens that are not
    /// negative pay for W bytes after W / R; while they fill the bucket, the line is late by a
    /// packet, which they make up for, as the bucket holds one. Of a choice of packets another one
    /// may have waited for its tokens, and a bucket that lends lacks a packet's.
    fn behind_shaper(
        &self,
        class: u16,
        shaper: usize,
        outermost: bool,
        load: &Load,
    ) -> Result<Served, Reason> {
        if !outermost || self.siblings(class, load).any(|c| c != class) {
            return Err("no guarantee of a shaped class beside others is known".into());
        }
        if load.line.is_some() {
            return Err("no guarantee of a shaper on a line whose rate varies is known".into());
        }
        let bucket = &self.shapers[shaper];
        let least = load.stretch(self.counted).0;
        let slope =
            (least * i128::from(bucket.rate())).min(Exact::from_integer(load.rate.bps().into()));
        let leaves = self.leaves_in(class);
        let exact = !bucket.owes() && leaves.len() == 1 && {
            let leaf = &self.leaves[usize::from(leaves[0])];
            leaf.drops_only_at_limits()
        };
        let lent = if exact {
            0
        } else {
            2 * self.longest(class, load)
        };
        let line = Service::line(load.rate);
        let ahead = line.curve().serves(load.ring_bytes())?;
        let shaped = Curve::line(Exact::from_integer(0), slope).after_bytes(lent)?;
        let drain = line
            .down_to(Part::Shaper, shaped.clone())
            .down_to(Part::Front, shaped.delayed(ahead)?);
        Ok(Served { drain, alone: None })
    }

    /// Which priority class may take all.
    fn unpoliced(&self, leaves: &[u16], load: &Load) -> Reason {
        let unknown = |l: &&u16| matches!(self.arrivals(**l, load, true), Ok(None));
        let names = leaves
            .iter()
            .filter(unknown)
            .map(|l| format!("`{}`", self.names[usize::from(*l)]));
        let names: Vec<String> = names.collect();
        format!(
            "{} goes first, has no policer, and nothing bounds what comes to it: the classes behind it can wait for ever",
            names.join(", ")
        )
        .into()
    }
}
