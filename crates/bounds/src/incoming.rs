//! What comes to a port.
//!
//! *Lateness.* A packet is at most the bound D of a hop late there, and at least the time in which
//! the line sends the shortest one, so what comes to the next hop is what came to this one by up to
//! the difference earlier.
//!
//! *A line.* Packets of one link come to the next node no faster than the line sends them: of those
//! that come in a time t, all but the first were sent within it. Each takes the time of its bytes
//! on that link, and counts its bytes on this one, so they are at most a longest packet and t times
//! the largest ratio of the two. That holds for any part of them, whatever their sources, in
//! particular for those of a leaf; what of it is reordered, or held by a node, by up to a time J
//! comes by J earlier.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::rc::Rc;

use spillgate_core::curve::{Curve, Exact, Slope, UNITS};
use spillgate_core::{Dur, Rate};
use spillgate_queueing::{FlowLoad, LeafLoad, Load, Sends};

use crate::flows::Unit;
use crate::ports::Ports;

/// The flows of a leaf that come over one link.
struct Group {
    /// By the leaf of the port before, if that is known, and the class of a policer at the end of
    /// the link, if one bounds them, their curves together; none if that of one is unknown.
    sums: BTreeMap<(Option<u16>, Option<u16>), Option<Curve>>,
    /// By that leaf how late they may be behind the port; none if there is no bound.
    late: BTreeMap<Option<u16>, Option<Dur>>,
    /// Their packets.
    lengths: RangeInclusive<u16>,
    /// The least that they occupy on the link that they come over, and the most on this one.
    units: (Unit, Unit),
}

impl Group {
    fn with(
        &mut self,
        (leaf, class, late): (Option<u16>, Option<u16>, Option<Dur>),
        own: Option<&Curve>,
        lengths: &RangeInclusive<u16>,
        units: (Unit, Unit),
    ) {
        let sum = self
            .sums
            .entry((leaf, class))
            .or_insert_with(|| Some(Curve::zero()));
        *sum = plus(sum.take(), own);
        let most = self.late.entry(leaf).or_insert(late);
        *most = most.zip(late).map(|(a, b)| a.max(b));
        let short = *self.lengths.start().min(lengths.start());
        self.lengths = short..=*self.lengths.end().max(lengths.end());
        self.units = (self.units.0.min(units.0), self.units.1.max(units.1));
    }
}

fn plus(sum: Option<Curve>, own: Option<&Curve>) -> Option<Curve> {
    sum?.plus(own?).ok()
}

/// The sum of curves, if all are known.
fn sum(all: impl Iterator<Item = Option<Curve>>) -> Option<Curve> {
    let mut all = all;
    all.try_fold(Curve::zero(), |sum, own| sum.plus(&own?).ok())
}

/// The leaves that packets may come to, of so many.
fn leaves_of(known: Option<u16>, leaves: usize) -> std::ops::Range<usize> {
    match known {
        Some(leaf) => usize::from(leaf)..usize::from(leaf) + 1,
        None => 0..leaves,
    }
}

/// The smaller of two curves, as far as they are known.
fn smaller(a: Option<Curve>, b: Option<Curve>) -> Option<Curve> {
    match (a, b) {
        (Some(a), Some(b)) => a.min(&b).and_then(|c| c.rounded_up()).ok().or(Some(a)),
        (a, b) => a.or(b),
    }
}

/// Packets from one length to another on a line of a rate, as they count on it and on the next.
pub(crate) type Sent = (Rate, (Unit, Unit), (u16, u16));

/// The largest of the ratios of what packets count to the time that they take.
fn steepest(&(rate, units, (short, long)): &Sent) -> Option<Slope> {
    let of = |len: u16| {
        let time = rate.tx_time(units.0.of(len)).as_ps();
        let value = UNITS * i128::from(units.1.of(len));
        Slope::above(value, time.into()).ok()
    };
    (short..=long).try_fold(Slope::bps(0), |most, len| Some(most.max(of(len)?)))
}

impl Ports<'_> {
    /// A port and the packets that come to it, and by leaf the shortest one on the link.
    fn frame(&self, link: usize, leaves: usize) -> (Load, Vec<u32>) {
        let plan = &self.world.links[link];
        let zero = LeafLoad {
            longest: 0,
            arrivals: Some(Curve::zero()),
        };
        let mut load = Load {
            rate: plan.rate,
            line: self.line_service(link).and_then(Result::ok),
            ring: plan.tx_ring.packets,
            overhead: plan.overhead,
            lengths: 1..=1,
            lasts: self.world.warmup + self.world.duration,
            leaves: vec![zero; leaves],
            flows: Vec::new(),
        };
        let mut shortest = vec![u32::MAX; leaves];
        let (mut least, mut most) = (u16::MAX, 0);
        for (&(i, hop), known) in self.flows.over[link].iter().zip(&self.leaves[link]) {
            let flow = &self.flows.all[i];
            let (short, long) = (*flow.lengths.start(), *flow.lengths.end());
            let (unit, labels) = (self.unit(i, hop), self.flows.labels(i, hop));
            least = least.min(short.saturating_add(labels));
            most = most.max(long.saturating_add(labels));
            for leaf in leaves_of(*known, leaves) {
                let longest = &mut load.leaves[leaf].longest;
                *longest = unit.of(long).max(*longest).max(1);
                shortest[leaf] = shortest[leaf].min(unit.of(short)).max(1);
            }
        }
        load.lengths = least.min(most)..=most;
        (load, shortest)
    }

    /// What comes to a port, and by leaf the shortest packet on the link.
    pub(crate) fn load(&self, link: usize, leaves: usize) -> (Load, Vec<u32>) {
        let plan = &self.world.links[link];
        let (mut load, shortest) = self.frame(link, leaves);
        let mut groups = BTreeMap::<(usize, Option<u32>), Group>::new();
        for (&(i, hop), known) in self.flows.over[link].iter().zip(&self.leaves[link]) {
            let flow = &self.flows.all[i];
            let unit = self.unit(i, hop);
            let own = self.arrivals(i, hop);
            let over = hop.checked_sub(1).map(|h| self.world.routes[flow.route][h]);
            let (before, from) = match over {
                Some(over) => {
                    let (over, place) = (over as usize, self.flows.places[i][hop - 1]);
                    let class = self.policers.class(over, place);
                    let late = self.sends(over).iter().any(|s| s.at_arrival);
                    let late = late.then(|| self.late(i, hop - 1)).flatten();
                    (
                        self.unit(i, hop - 1),
                        (self.leaves[over][place], class, late),
                    )
                }
                None => (unit, (None, None, None)),
            };
            // Where it may be any, each of them gets a part.
            for leaf in leaves_of(*known, leaves) {
                let group = groups.entry((leaf, over)).or_insert_with(|| Group {
                    sums: BTreeMap::new(),
                    late: BTreeMap::new(),
                    lengths: flow.lengths.clone(),
                    units: (before, unit),
                });
                group.with(from, own.as_ref(), &flow.lengths, (before, unit));
            }
            load.flows.push(FlowLoad {
                leaf: *known,
                dscp: known.map(|_| flow.dscp),
                longest: unit.of(*flow.lengths.end()).max(1),
                shortest: unit.of(*flow.lengths.start()).max(1),
                numbers: flow.numbers,
                renewed: flow.renewed,
                arrivals: own,
            });
        }
        for ((leaf, over), group) in groups {
            let own = self.together(over.map(|l| l as usize), plan.from, &group);
            let at = &mut load.leaves[leaf].arrivals;
            *at = plus(at.take(), own.as_ref());
        }
        (load, shortest)
    }

    /// What a group never exceeds, as policers have let pass its classes, and as the port before
    /// and its line have sent it.
    fn together(&self, over: Option<usize>, node: u32, group: &Group) -> Option<Curve> {
        let Some(over) = over else {
            return sum(group.sums.values().cloned());
        };
        let mut classes = BTreeMap::<Option<u16>, Vec<Option<Curve>>>::new();
        for ((_, class), own) in &group.sums {
            classes.entry(*class).or_default().push(own.clone());
        }
        let of_class = |(class, own): (Option<u16>, Vec<Option<Curve>>)| {
            let passes = class.and_then(|c| {
                let passes = self
                    .policers
                    .passes(over, c, &group.lengths, group.units.1)?;
                passes.jittered(self.late_in(node)?).ok()
            });
            smaller(sum(own.into_iter()), passes)
        };
        let by_class = sum(classes.into_iter().map(of_class));
        let line = self.line(over, node, group);
        smaller(smaller(by_class, self.by_leaf(over, node, group)), line)
    }

    /// What of a group leaves the port before, by its leaves.
    fn by_leaf(&self, over: usize, node: u32, group: &Group) -> Option<Curve> {
        let mut parts: Vec<(Vec<Option<u16>>, Option<Curve>)> = Vec::new();
        for ((leaf, _), own) in &group.sums {
            match parts.last_mut().filter(|(of, _)| of.contains(leaf)) {
                Some((_, all)) => *all = plus(all.take(), own.as_ref()),
                None => parts.push((vec![*leaf], own.clone())),
            }
        }
        for limit in &*self.sends(over) {
            let has = |leaf: &Option<u16>| match leaf {
                Some(leaf) => limit.leaves.contains(leaf),
                None => limit.all,
            };
            // Of a policer that only some of the packets of others pass nothing follows.
            let apart = |(of, _): &(Vec<_>, _)| of.iter().any(has) && !of.iter().all(has);
            if parts.iter().any(apart) {
                continue;
            }
            let (inside, mut rest): (Vec<_>, Vec<_>) =
                parts.into_iter().partition(|(of, _)| of.iter().all(has));
            let leaves: Vec<Option<u16>> = inside.iter().flat_map(|(of, _)| of.clone()).collect();
            let own = sum(inside.into_iter().map(|(_, own)| own));
            if !leaves.is_empty() {
                let most = self.leaves_by(limit, over, node, group, &leaves);
                rest.push((leaves, smaller(own, most)));
            }
            parts = rest;
        }
        sum(parts.into_iter().map(|(_, own)| own))
    }

    /// What the port of a link sends at most of its leaves.
    fn sends(&self, over: usize) -> Rc<[Sends]> {
        let known = self.sends.borrow().get(&over).cloned();
        known.unwrap_or_else(|| {
            let discipline = &self.world.links[over].discipline;
            let (load, _) = self.frame(over, discipline.leaf_names().len());
            let mut sends = discipline.build(&self.flows.keys).sends(&load);
            let longest = load.leaves.iter().map(|l| l.longest).max();
            // The contract of its circuit.
            sends.extend(
                self.line_sends(over, longest.unwrap_or(0))
                    .map(|most| Sends {
                        leaves: (0..load.leaves.len() as u16).collect(),
                        all: true,
                        most,
                        at_arrival: false,
                    }),
            );
            let sends: Rc<[Sends]> = sends.into();
            self.sends.borrow_mut().insert(over, Rc::clone(&sends));
            sends
        })
    }

    /// What of some leaves of a group comes to a node over a link and leaves it, by such a limit.
    fn leaves_by(
        &self,
        limit: &Sends,
        over: usize,
        node: u32,
        group: &Group,
        leaves: &[Option<u16>],
    ) -> Option<Curve> {
        let reordered = self.world.links[over].reorder.as_ref();
        let mut late = reordered.map_or(Dur::ZERO, |r| r.by);
        if limit.at_arrival {
            // That of the port contains this.
            let mut of = leaves.iter().map(|l| group.late.get(l).copied().flatten());
            late = of.try_fold(Dur::ZERO, |most, own| Some(most.max(own?)))?;
        }
        let late = late + self.late_in(node)?;
        let ratio = |len| {
            let (before, now) = (group.units.0.of(len), group.units.1.of(len));
            Exact::new(now.into(), before.max(1).into())
        };
        let most = group.lengths.clone().map(ratio).max()?;
        let sent = limit.most.scaled(most).and_then(|c| c.rounded_up());
        sent.and_then(|c| c.jittered(late)).ok()
    }

    /// What of packets like these comes over a link to a node and leaves it.
    fn line(&self, over: usize, node: u32, group: &Group) -> Option<Curve> {
        let (rate, early) = self.fastest(over)?;
        let (short, long) = (*group.lengths.start(), *group.lengths.end());
        let sent = (rate, group.units, (short, long));
        let known = self.slopes.borrow().get(&sent).copied();
        let slope = known.unwrap_or_else(|| {
            let slope = steepest(&sent);
            self.slopes.borrow_mut().insert(sent, slope);
            slope
        })?;
        let burst = group.units.1.of(*group.lengths.end());
        let plan = &self.world.links[over];
        let reordered = plan.reorder.as_ref().map_or(Dur::ZERO, |r| r.by);
        let late = early + reordered + self.late_in(node)?;
        let burst = Exact::from_integer(UNITS * i128::from(burst));
        Curve::line(burst, slope.exact()).jittered(late).ok()
    }

    /// The rate that a line never exceeds from the end of one packet to that of the next, and the
    /// time by which an end may be sooner than that; none if several may leave together, or a node
    /// sends for it.
    pub(crate) fn fastest(&self, link: usize) -> Option<(Rate, Dur)> {
        let plan = &self.world.links[link];
        let holding = &self.world.holding;
        if holding.serve(link as u32) || holding.follow(link as u32) && self.takes(link) {
            return None;
        }
        match &plan.server {
            None => Some((plan.rate, Dur::ZERO)),
            Some(server) => server.peak(),
        }
    }

    /// By how much a packet of a flow may be late where it has left its port of a hop, more than
    /// another one; none if there is no bound.
    fn late(&self, i: usize, hop: usize) -> Option<Dur> {
        let link = self.world.routes[self.flows.all[i].route][hop] as usize;
        let plan = &self.world.links[link];
        let unit = self.unit(i, hop);
        let shortest = unit.of(*self.flows.all[i].lengths.start());
        let least = match (&plan.server, self.fastest(link)) {
            (None, Some((rate, _))) => rate.tx_time(shortest),
            _ => Dur::ZERO,
        };
        let most = self.delay_at(i, hop)?;
        let reordered = plan.reorder.as_ref().map_or(Dur::ZERO, |r| r.by);
        Some(Dur::from_ps(most.as_ps().saturating_sub(least.as_ps())) + reordered)
    }

    /// What a flow never exceeds where it comes to the node before a hop: what its source sends,
    /// and what policers on its way let pass, late by the bounds of the ports and nodes since.
    pub(crate) fn comes(&self, i: usize, hop: usize, unit: Unit) -> Option<Curve> {
        let flow = &self.flows.all[i];
        let own = Some(flow.of).filter(|_| !flow.answers);
        let mut least = own.and_then(|own| self.sources.arrivals(self.world, own, unit));
        for before in 0..hop {
            least = least.and_then(|c| c.jittered(self.late_before(i, before)?).ok());
            least = self.behind(least, i, before, unit);
        }
        least
    }

    /// The same behind the link of a hop, of what comes to its port.
    fn behind(&self, come: Option<Curve>, i: usize, hop: usize, unit: Unit) -> Option<Curve> {
        let flow = &self.flows.all[i];
        let link = self.world.routes[flow.route][hop] as usize;
        let least = come.and_then(|c| c.jittered(self.late(i, hop)?).ok());
        match self.policers.class(link, self.flows.places[i][hop]) {
            None => least,
            Some(class) => smaller(
                least,
                self.policers.passes(link, class, &flow.lengths, unit),
            ),
        }
    }

    /// What the packets of a flow occupy on the link of a hop.
    pub(crate) fn unit(&self, i: usize, hop: usize) -> Unit {
        let link = self.world.routes[self.flows.all[i].route][hop];
        let overhead = self.world.links[link as usize].overhead;
        Unit::Link(overhead, self.flows.labels(i, hop))
    }

    /// What a flow never exceeds where it comes to the port of a hop.
    pub(crate) fn arrivals(&self, i: usize, hop: usize) -> Option<Curve> {
        if let Some(known) = self.arrived.borrow().get(&(i, hop)) {
            return known.clone();
        }
        let unit = self.unit(i, hop);
        // Where packets count as at the hop before, only that is new.
        let before = hop.checked_sub(1).filter(|h| self.unit(i, *h) == unit);
        let before = before.and_then(|h| Some((h, self.arrived.borrow().get(&(i, h))?.clone())));
        let comes = match before {
            Some((before, come)) => self.behind(come, i, before, unit),
            None => self.comes(i, hop, unit),
        };
        let late = comes.and_then(|c| c.jittered(self.late_before(i, hop)?).ok());
        let mut arrived = self.arrived.borrow_mut();
        arrived.insert((i, hop), late.clone());
        late
    }
}
