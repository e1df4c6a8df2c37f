//! Where the packets of each link come from and go, and which links share a pipe for it.

use std::collections::BTreeMap;

use spillgate_core::Dur;
use spillgate_scenario::plan::WorldPlan;

use super::link::{Ahead, ExpressLink};
use crate::engine::Paths;

impl Paths {
    /// What can be done with the packets on each link before they are at its far end, where links
    /// do not fail.
    pub(super) fn aheads(&self, links: &[ExpressLink]) -> Vec<Ahead> {
        let mut found = vec![None; links.len()];
        for (link, to) in self.steps() {
            let Some(link) = link else { continue };
            let ahead = match to {
                Some(to) if links[to as usize].onward.single_feeder => Ahead::Offer(to),
                _ => Ahead::Nothing,
            };
            let known = found[link as usize].get_or_insert(ahead);
            if *known != ahead {
                *known = Ahead::PerPacket;
            }
        }
        let ahead = |(found, link): (Option<Ahead>, &ExpressLink)| match found {
            _ if link.onward.acks_at_once => Ahead::Receive,
            None => Ahead::Nothing,
            Some(ahead) => ahead,
        };
        found.into_iter().zip(links).map(ahead).collect()
    }

    /// Where the packets of each link come from; for ports whose departures are not computed, and
    /// where links fail, from anywhere; so do those of a link that does not pass its packets on.
    pub(super) fn feeders(&self, links: &[ExpressLink], passing: &[bool]) -> Vec<Feeder> {
        let mut feeders = vec![Feeder::None; links.len()];
        for (before, to) in self.steps() {
            let Some(to) = to else { continue };
            let from = match before {
                None => Feeder::Hosts,
                Some(link) if passing[link as usize] => Feeder::Link(link),
                Some(_) => Feeder::Several,
            };
            let feeder = &mut feeders[to as usize];
            *feeder = feeder.and(from);
        }
        for (link, feeder) in links.iter().zip(&mut feeders) {
            if !link.knows_departures() {
                *feeder = Feeder::Several;
            }
        }
        feeders
    }
}

/// What holds for two parts together: what holds for each, unless it is `none`, or else `mixed`.
fn both<T: PartialEq>(a: T, b: T, none: T, mixed: T) -> T {
    if a == none || a == b {
        b
    } else if b == none {
        a
    } else {
        mixed
    }
}

/// Where the packets of a link come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Feeder {
    /// None come.
    None,
    /// From hosts at its sending end.
    Hosts,
    /// All over one link.
    Link(u32),
    Several,
}

impl Feeder {
    /// Where the packets of both come from.
    pub(super) fn and(self, other: Self) -> Self {
        both(self, other, Self::None, Self::Several)
    }
}

/// Gives each link its pipe; how many there are.
///
/// Links share one if what they carry departs in about the order in which it is sent, and is as
/// long on the way: those that hosts feed, with one rate, delay and far end, and those behind
/// one link. Every link keeps a pipe of its own number for what does not fit in there; those
/// whose packets are mostly received before they arrive, and those that do not pass them on, have
/// no other.
pub(super) fn share_pipes(
    plan: &WorldPlan,
    links: &mut [ExpressLink],
    feeders: &[Feeder],
    passing: &[bool],
) -> usize {
    let mut groups: BTreeMap<(Feeder, Option<u32>, Dur, u64), Vec<usize>> = BTreeMap::new();
    let shares = |(i, l): &(usize, &ExpressLink)| !l.onward.acks_at_once && passing[*i];
    for (i, l) in links.iter().enumerate().filter(shares) {
        let (from, delay) = match feeders[i] {
            Feeder::None => continue,
            Feeder::Hosts => (Feeder::Hosts, l.onward.delay),
            Feeder::Several => (Feeder::Link(i as u32), Dur::ZERO),
            Feeder::Link(mut root) => {
                let mut delay = l.onward.delay;
                // Links do not feed themselves: paths have no loops.
                while let Feeder::Link(before) = feeders[root as usize] {
                    delay = delay + links[root as usize].onward.delay;
                    root = before;
                }
                // Longer than that of the link `root` itself, by a picosecond at least.
                let delay = delay + links[root as usize].onward.delay + Dur::from_ps(1);
                (Feeder::Link(root), delay)
            }
        };
        let to = (from == Feeder::Hosts).then_some(plan.links[i].to);
        let group = (from, to, delay, l.rate.bps());
        groups.entry(group).or_default().push(i);
    }
    let mut pipes = links.len();
    for members in groups.into_values() {
        for i in members {
            links[i].onward.pipe = pipes as u32;
        }
        pipes += 1;
    }
    pipes
}
