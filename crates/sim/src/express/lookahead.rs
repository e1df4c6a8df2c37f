//! How soon what happens elsewhere can reach a port where pipes meet.
//!
//! Whatever comes to such a port comes over one of the links that lead to it, and is sent on that
//! from a wake on. What is not on its way yet gets there no sooner than the first wake and the
//! shortest delay of these links. Of the packets that wait at another merge point, and of what has
//! gone through the port itself, more is known: they have to go all the way round to one of these
//! links, and so does what their receivers answer. Only a dialogue may end at both ends at once,
//! however far apart.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use spillgate_core::{Dur, Time};
use spillgate_events::EventSet;
use spillgate_scenario::plan::WorldPlan;

use super::loser_tree::LONGEST_BATCH;
use super::merge::MergePoints;
use crate::engine::World;
use crate::flow::Origin;
use crate::link::Link;
use crate::session::Session;

/// Of more merge points the ways between all pairs are not looked for.
const MOST: usize = 32;

/// How long packets take from one merge point to another at least.
#[derive(Default)]
pub(super) struct Lookahead {
    /// By the merge point that is reached, from each in turn; empty if nobody knows.
    rows: Vec<Dur>,
    number: usize,
}

impl Lookahead {
    /// Between the merge points of a plan, with its links and sessions.
    pub(super) fn new(
        plan: &WorldPlan,
        links: &[Link],
        sessions: &[Session],
        merge_points: &MergePoints,
    ) -> Self {
        let number = merge_points.number();
        if number == 0 || number > MOST || sessions.iter().any(|s| s.back.is_some()) {
            return Self::default();
        }
        let to = |link: &Link| merge_points.of(link.onward.pipe as usize);
        let mut into = vec![Vec::new(); plan.nodes.len()];
        for link in &plan.links {
            into[link.to as usize].push((link.from, link.delay));
        }
        let mut rows = Vec::with_capacity(number * number);
        for c in 0..number {
            let lead_to = plan.links.iter().zip(links);
            let last = lead_to.filter(|(_, link)| to(link) == Some(c));
            let far = distances(&into, last.map(|(plan, _)| (plan.from, plan.delay)));
            rows.extend(merge_points.all.iter().map(|from| {
                let link = &plan.links[from.port as usize];
                match to(&links[from.port as usize]) == Some(c) {
                    true => link.delay,
                    false => link.delay.saturating_add(far[link.to as usize]),
                }
            }));
        }
        Self { rows, number }
    }

    /// From each merge point to `to`; none if nobody knows.
    #[inline]
    fn to(&self, to: usize) -> Option<&[Dur]> {
        self.rows.chunks_exact(self.number.max(1)).nth(to)
    }
}

/// How long packets take from each node over one of the `last` links at least, whatever the routes:
/// the sum of delays. Of each node the links into it; of links from where they lead, and their
/// delays.
fn distances(into: &[Vec<(u32, Dur)>], last: impl Iterator<Item = (u32, Dur)>) -> Vec<Dur> {
    let mut far = vec![Dur::MAX; into.len()];
    let mut next: BinaryHeap<_> = last.map(|(from, delay)| (Reverse(delay), from)).collect();
    while let Some((Reverse(distance), node)) = next.pop() {
        if distance >= far[node as usize] {
            continue;
        }
        far[node as usize] = distance;
        let before = into[node as usize].iter();
        next.extend(before.map(|&(from, delay)| (Reverse(distance.saturating_add(delay)), from)));
    }
    far
}

impl<S: EventSet> World<S> {
    /// Until when nothing that is not on its way to merge point `c` yet can reach it, while its wake
    /// is handled.
    pub(super) fn lower_bound(&mut self, c: usize) -> Time {
        let now = self.now;
        let delay = self.lane.merge_points.all[c].delay;
        let mut until = self.lane.lookahead_end;
        match self.lane.lookahead.to(c) {
            None => until = until.min(now + delay),
            Some(far) => {
                let others = self.lane.merge_points.all.iter().zip(far).enumerate();
                for (i, (other, far)) in others {
                    let from = if i == c { now } else { other.wake };
                    until = until.min(from + *far);
                }
            }
        }
        while let Some((at, slot)) = self.events.first_other() {
            if at + delay >= until {
                break;
            }
            if !self.moves_on(slot, at) {
                until = at + delay;
            }
        }
        // What is due now arrives in any case.
        until.clamp(now + Dur::from_ps(1), now + LONGEST_BATCH)
    }

    /// Whether the wake of `slot` at `at` is that of a sender whose timers have moved on: it
    /// follows them.
    #[inline]
    fn moves_on(&mut self, slot: u32, at: Time) -> bool {
        if slot >= self.slots.pipes {
            return false;
        }
        let flow = &mut self.flows[slot as usize];
        let Origin::Data(c) = flow.origin else {
            return false;
        };
        let c = c as usize;
        if !self.tcp[c].alive || !self.tcp[c].sleeps_past(at) {
            return false;
        }
        flow.wake = Time::MAX;
        self.wake_sender(c);
        if self.flows[slot as usize].wake == Time::MAX {
            self.events.cancel(slot);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// What Bellman and Ford say.
        #[test]
        fn distances_are_the_shortest(
            links in prop::collection::vec((0_u32..7, 0_u32..7, 0_u64..20), 0..25)
        ) {
            let mut into = vec![Vec::new(); 7];
            let mut expected = [Dur::MAX; 7];
            for &(from, to, delay) in &links {
                into[to as usize].push((from, Dur::from_ps(delay)));
            }
            let last: Vec<_> = links.iter().take(3).map(|&(from, _, delay)| (from, Dur::from_ps(delay))).collect();
            for &(from, delay) in &last {
                let known = &mut expected[from as usize];
                *known = delay.min(*known);
            }
            for _ in 0..7 {
                for &(from, to, delay) in &links {
                    let over = expected[to as usize].saturating_add(Dur::from_ps(delay));
                    let known = &mut expected[from as usize];
                    *known = over.min(*known);
                }
            }
            prop_assert_eq!(distances(&into, last.into_iter()), expected);
        }
    }
}
