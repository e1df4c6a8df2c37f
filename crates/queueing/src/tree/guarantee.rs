//! What a class-based policy guarantees its classes.
//!
//! Source: J.-Y. Le Boudec and P. Thiran, "Network Calculus", 2001, section 6.2 (what priority
//! leaves).
//!
//! How much of what a policy sends is a class's own, by its scheduler, is derived in `beside.rs`.
//! What is in transmission when a class begins to wait comes first. Priority classes send what may
//! come to them. What of theirs waits then came since the first of it waited, and the line has sent
//! at its rate since: the deconvolution of their arrival curve by the line's rate bounds what they
//! send.

use spillgate_core::curve::Curve;

use super::rule::Rule;
use super::{ClassState, Content, Tree};
use crate::guarantee::{FlowLoad, Guarantee, Load, Reason, Service, limit};
use crate::share::{Whole, by_limit, shares};

/// A service in any time in which packets wait, and one from where none is in transmission either.
pub(super) struct Served {
    pub(super) drain: Service,
    pub(super) alone: Option<Service>,
}

impl Tree {
    pub(super) fn guaranteed(&self, leaf: u16, load: &Load) -> Result<Guarantee, Reason> {
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
        // Of a priority class all of its level are first in, first out, but for those with shapers.
        let ClassState { level, gated, .. } = *self.class(own);
        let beside: Vec<u16> = match (level, gated) {
            (0, _) | (_, true) => vec![leaf],
            _ => self.leaves_at(own, |c| c.level == level && !c.gated, load),
        };
        let arrivals = self.arrivals_of(&beside, load, true)?;
        let plain = self.arrivals_of(&beside, load, false)?;
        let queue = &self.leaves[usize::from(leaf)];
        let whole = Whole {
            service: &served.drain,
            own_in_front: false,
            bare: false,
        };
        // Marks of classes change code points before packets are queued.
        let marks = !self.marks().is_empty();
        let dscp = |f: &FlowLoad| f.dscp.filter(|_| !marks);
        let mut shares = match queue.fairness() {
            Some(of) => shares(of, leaf, load, &whole, dscp)?,
            None if beside.len() == 1 => {
                let services = (&served.drain, served.alone.as_ref());
                by_limit(queue, leaf, load, services, dscp)
            }
            None => Vec::new(),
        };
        limit(&mut shares, queue);
        let only_limits = beside.iter().all(|l| self.drops_only_at_limits(*l, load));
        Ok(Guarantee {
            drain: served.drain,
            arrivals,
            alone: plain.zip(served.alone),
            beside,
            only_limits,
            shares,
        })
    }

    pub(super) fn class(&self, class: u16) -> &ClassState {
        &self.classes[usize::from(class)]
    }

    pub(super) fn node_of(&self, class: u16) -> &super::Node {
        &self.nodes[usize::from(self.class(class).node)]
    }

    /// The classes beside one, itself included, to which packets come.
    pub(super) fn siblings(&self, class: u16, load: &Load) -> impl Iterator<Item = u16> {
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

    pub(super) fn leaves_in(&self, class: u16) -> Vec<u16> {
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
    pub(super) fn longest(&self, class: u16, load: &Load) -> u64 {
        let of = |leaf: &u16| load.leaves[usize::from(*leaf)].longest;
        self.leaves_in(class)
            .iter()
            .map(of)
            .max()
            .unwrap_or(0)
            .into()
    }

    /// The shortest packet that may come to a class.
    pub(super) fn shortest(&self, class: u16, load: &Load) -> u64 {
        let leaves = self.leaves_in(class);
        let comes = |l: &Option<u16>| l.is_none_or(|l| leaves.contains(&l));
        let own = load.flows.iter().filter(|f| comes(&f.leaf));
        own.map(|f| f.shortest).min().unwrap_or(1).max(1).into()
    }

    /// Whether an AQM in a class may drop the packet that is to leave.
    pub(super) fn judges(&self, class: u16) -> bool {
        let leaves = self.leaves_in(class);
        let mut queues = leaves.iter().map(|l| &self.leaves[usize::from(*l)]);
        queues.any(crate::leaf::Leaf::judges_departures)
    }

    /// The longest packet of some of the classes beside one.
    pub(super) fn longest_of(
        &self,
        class: u16,
        of: impl Fn(&ClassState) -> bool,
        load: &Load,
    ) -> u64 {
        let chosen = self.siblings(class, load).filter(|c| of(self.class(*c)));
        chosen.map(|c| self.longest(c, load)).max().unwrap_or(0)
    }

    /// Of a priority class: what those of lower levels, which go first, leave.
    fn priority(
        &self,
        class: u16,
        whole: &Service,
        outermost: bool,
        load: &Load,
    ) -> Result<Served, Reason> {
        let own = self.class(class);
        let beside = self.siblings(class, load).filter(|c| *c != class);
        // Of its own level those with shapers may overtake, and others one that has a shaper.
        let first = |c: &u16| {
            let c = self.class(*c);
            let passes = c.level == own.level && (c.gated || own.gated);
            c.level > 0 && (c.level < own.level || passes)
        };
        let before: Vec<u16> = beside.filter(first).collect();
        let Some(sent) = self.sends(&before, whole.curve(), load, true)? else {
            return Err(self.unpoliced(&before, load));
        };
        let ring = if outermost { load.ring_bytes() } else { 0 };
        let drain = whole.behind(&sent)?.after(ring)?;
        if own.gated {
            return self.held(class, &drain, load);
        }
        let alone = match self.sends(&before, whole.curve(), load, false)? {
            Some(sent) if outermost && load.ring == 1 => {
                let behind = |c: &ClassState| c.level == 0 || c.level > own.level;
                let behind = self.longest_of(class, behind, load);
                Some(whole.behind(&sent)?.after(behind)?)
            }
            _ => None,
        };
        Ok(Served { drain, alone })
    }

    /// Of a class that shares what priority and classes of lower ranks leave.
    fn shared(
        &self,
        class: u16,
        whole: &Service,
        outermost: bool,
        load: &Load,
    ) -> Result<Served, Reason> {
        let state = self.class(class);
        let others = self.siblings(class, load).filter(|c| *c != class);
        let others: Vec<u16> = others.collect();
        if let (Some(shaper), true, []) = (state.shaper, outermost, &others[..]) {
            return self.behind_shaper(class, usize::from(shaper), load);
        }
        let first = |c: &ClassState| c.level > 0 || c.rank < state.rank;
        let before = others.iter().filter(|c| first(self.class(**c)));
        let before: Vec<u16> = before.copied().collect();
        let Some(sent) = self.sends(&before, whole.curve(), load, true)? else {
            return Err(match before.iter().all(|c| self.class(*c).level > 0) {
                true => self.unpoliced(&before, load),
                false => "it is served only while others have nothing to send, and nothing bounds what comes to them".into(),
            });
        };
        let beside = |c: &&u16| self.class(**c).level == 0 && self.class(**c).rank == state.rank;
        let others: Vec<u16> = others.iter().filter(beside).copied().collect();
        if self.node_of(class).rule == Rule::Clock && !others.is_empty() {
            // A packet with a later deadline is in the ring.
            let late = self.longest_of(class, |_| true, load);
            let late = if outermost { load.ring_bytes() } else { late };
            let left = whole.behind(&sent)?.after(late)?;
            return self.by_clock(class, &others, &left, load);
        }
        let (share, ahead) = self.beside(class, &others, load)?;
        let (mut waits, mut begins) = (ahead, ahead);
        if outermost {
            let spare = |c: &ClassState| c.level == 0 && c.rank > state.rank;
            let spare = self.longest_of(class, spare, load);
            let sends = self.longest_of(class, first, load).max(spare);
            let last = self.longest(class, load).max(sends);
            waits = waits.saturating_add(last + load.ring_bytes() - load.longest());
            begins = begins.saturating_add(spare);
        }
        let leaves = |sent: &Curve, ahead| whole.behind(sent)?.after(ahead)?.share(share);
        let drain = leaves(&sent, waits)?;
        if state.shaper.is_some() {
            return self.held(class, &drain, load);
        }
        let alone = match self.sends(&before, whole.curve(), load, false)? {
            Some(sent) if outermost && load.ring == 1 => Some(leaves(&sent, begins)?),
            _ => None,
        };
        Ok(Served { drain, alone })
    }
}
