//! The order in which ports are solved, and those whose bounds depend on each other.
//!
//! Source: R. L. Cruz, "A Calculus for Network Delay, Part II: Network Analysis", IEEE Transactions
//! on Information Theory 37, 1991; J.-Y. Le Boudec and P. Thiran, "Network Calculus", section
//! 6.3.2.
//!
//! Let F be what follows for the delays of the ports on a loop if each has at most the delays D.
//!
//! *From above.* Where queue limits bound D, all of F(D), F(F(D)), ... are bounds.
//!
//! *From below.* Without limits any D with F(D) <= D is a bound. Proof by time: that a packet's
//! delay is known when its transmission begins, which takes some time at least. If up to t all that
//! began had at most D, all arrivals up to a transmission later conform; were there no more of
//! them, delays would be at most F(D), and what begins by then has the same delay without them.

use std::collections::BTreeSet;

use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;
use spillgate_core::Dur;

use crate::ports::Ports;

/// The most rounds of a loop.
const ROUNDS: usize = 32;

/// Bounds that get less by less than one part of so many are kept as they are.
const PARTS: u64 = 1024;

/// A leaf of a port.
pub(crate) type Place = (usize, u16);

impl Ports<'_> {
    /// Finds the bounds of all ports, of those before them first.
    pub(crate) fn solve(&mut self) {
        let steps = self.dependencies();
        let links = u32::try_from(self.len()).unwrap_or(u32::MAX);
        let mut graph = DiGraph::<(), ()>::from_edges(steps);
        while graph.node_count() < links as usize {
            graph.add_node(());
        }
        // Each before those that depend on it.
        for of in kosaraju_scc(&graph) {
            if self.gave_up() {
                return;
            }
            let mut ports: Vec<usize> = of.into_iter().map(|n| n.index()).collect();
            ports.sort_unstable();
            self.begin(&ports);
            if ports.len() > 1 {
                self.lower(&ports);
                self.assume(&ports);
            }
        }
        self.begin_with(false);
    }

    /// Bounds without those of ports that depend on them.
    fn begin(&mut self, ports: &[usize]) {
        self.assumed.clear();
        self.begin_with(ports.len() > 1);
        ports.iter().for_each(|p| self.forget(*p));
        ports.iter().for_each(|p| self.find(*p));
    }

    /// Finds them anew as long as they get less.
    fn lower(&mut self, ports: &[usize]) {
        let mut before = self.delays(ports);
        for _ in 0..ROUNDS {
            ports.iter().for_each(|p| self.find(*p));
            let now = self.delays(ports);
            let mut both = before.iter().zip(&now);
            if !both.any(|(before, now)| gets_less(*before, *now)) {
                break;
            }
            before = now;
        }
    }

    /// Assumes delays where there is no bound, and keeps what then follows if it is no more.
    fn assume(&mut self, ports: &[usize]) {
        let steady: Vec<usize> = ports
            .iter()
            .copied()
            .filter(|p| self.is_steady(*p))
            .collect();
        let mut never = BTreeSet::new();
        loop {
            let places = self.places(&steady);
            let mut open = places.iter().filter(|(place, _)| !never.contains(place));
            if self.gave_up() || open.clone().all(|(_, bounded)| *bounded) {
                return;
            }
            // Bounds that follow from an assumption are none: all of them are assumed.
            let open: Vec<Place> = open.by_ref().map(|(place, _)| *place).collect();
            match self.grow(&steady, &open) {
                Ok(()) => {
                    self.assumed.clear();
                    return self.lower(ports);
                }
                // Those that have no bound under any assumption.
                Err(lost) => never.extend(lost),
            }
            self.begin(ports);
            self.lower(ports);
        }
    }

    /// From no delay at all up to delays of which no more follow; else the places without bound.
    fn grow(&mut self, ports: &[usize], open: &[Place]) -> Result<(), Vec<Place>> {
        let (mut last, mut now) = (vec![Dur::ZERO; open.len()], vec![Dur::ZERO; open.len()]);
        for round in 1..=ROUNDS {
            self.assumed = open.iter().copied().zip(now.iter().copied()).collect();
            ports.iter().for_each(|p| self.find(*p));
            let follow: Vec<Option<Dur>> =
                open.iter().map(|p| Some(self.bound(*p)?.delay)).collect();
            let lost = open.iter().zip(&follow).filter(|(_, d)| d.is_none());
            let lost: Vec<Place> = lost.map(|(p, _)| *p).collect();
            if !lost.is_empty() {
                return Err(lost);
            }
            let follow: Vec<Dur> = follow.into_iter().flatten().collect();
            if follow.iter().zip(&now).all(|(f, n)| f <= n) {
                return Ok(());
            }
            let next = |i: usize| match round % 4 {
                0 => beyond(last[i], now[i], follow[i]),
                _ => follow[i].max(now[i]),
            };
            let next = (0..open.len()).map(next).collect();
            last = std::mem::replace(&mut now, next);
        }
        Err(open.to_vec())
    }
}

fn gets_less(before: Option<Dur>, now: Option<Dur>) -> bool {
    let (Some(before), Some(now)) = (before, now) else {
        return before != now;
    };
    before.as_ps().saturating_sub(now.as_ps()) > before.as_ps() / PARTS
}

/// Where a sequence ends whose steps shrink evenly (Aitken), and a little beyond.
fn beyond(a: Dur, b: Dur, c: Dur) -> Dur {
    let (first, second) = (
        b.as_ps().saturating_sub(a.as_ps()),
        c.as_ps().saturating_sub(b.as_ps()),
    );
    let shrinks = first.saturating_sub(second);
    if shrinks == 0 {
        return c.max(b);
    }
    let more = u128::from(second) * u128::from(second) / u128::from(shrinks);
    let more = u64::try_from(more + more / 1024 + 2).unwrap_or(u64::MAX);
    Dur::from_ps(c.max(b).as_ps().saturating_add(more))
}
