//! The feeders and the next ports of links, and the links that can share a pipe.
//!
//! If one link alone feeds a port, a packet goes through the port when it is sent on that link:
//! without that a parking lot takes 1.53 of its time, D50 1.45. Without shared pipes D10k takes
//! 1.69, D1k 1.44.

use std::collections::BTreeMap;

use spillgate_core::Dur;
use spillgate_scenario::plan::WorldPlan;

use super::link::{Ahead, ExpressLink};
use crate::engine::Paths;

impl Paths {
    /// What can be done ahead with packets on each link, where links do not fail.
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

    /// The feeder of each link. It is unknown for ports without known departures, where links fail,
    /// and for links that do not pass their packets on.
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

/// Joins two values: the common value, or the one that is not `none`, or else `mixed`.
fn both<T: PartialEq>(a: T, b: T, none: T, mixed: T) -> T {
    if a == none || a == b {
        b
    } else if b == none {
        a
    } else {
        mixed
    }
}

/// The feeder of a link.
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
    /// The feeder of the packets of both.
    pub(super) fn and(self, other: Self) -> Self {
        both(self, other, Self::None, Self::Several)
    }
}

/// Gives each link its pipe, and returns the number of pipes.
///
/// Links share a pipe if their packets depart about in the order in which they are sent and have
/// the same delay: links that hosts feed, with the same rate, delay and far end, and links behind
/// one link. Every link keeps a pipe of its own number for packets that overflow. Links whose
/// packets are mostly received ahead, and links that do not pass their packets on, have only their
/// own.
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
                // Paths have no loops, so no link feeds itself.
                while let Feeder::Link(before) = feeders[root as usize] {
                    delay = delay + links[root as usize].onward.delay;
                    root = before;
                }
                // The sum exceeds the delay of the link `root` by at least a picosecond.
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
