//! A port whose worst case is sought, and the arrivals that are tried first.
//!
//! A worst case has three parts: what the line is busy with when the burst comes, the burst, and
//! what others send meanwhile. Flows with a curve are greedy from one instant on; others send as
//! much as their queue takes, and go on faster than the line.

use spillgate_bounds::Feed;
use spillgate_core::{Ecn, Overhead, Rate};
use spillgate_queueing::{Discipline, QueueLimit};

use super::greedy::greedy;
use super::trial::{Passed, Sent};

/// Most packets of one try.
const MOST: usize = 150_000;
/// Most flows that always have packets.
const MOST_FLOWS: usize = 64;
/// Most packets of one queue at once.
const MOST_AT_ONCE: u64 = 50_000;

/// The port of the queue.
pub(super) struct Stage<'a> {
    pub(super) feeds: &'a [Feed],
    pub(super) leaf: u16,
    /// The flow whose own queue it is about; none: all of the leaf are first in, first out.
    pub(super) flow: Option<usize>,
    pub(super) overhead: Overhead,
    /// By flow the ECN field of its packets.
    pub(super) ecn: Vec<Ecn>,
    /// By flow the hash of its packets in the run that is tried.
    pub(super) hash: Vec<u32>,
    pub(super) rate: Rate,
    pub(super) ring: u32,
    /// The bound in picoseconds.
    pub(super) bound: u64,
    /// By leaf.
    pub(super) limits: Vec<QueueLimit>,
    /// By flow its longest packet on the link, in bytes.
    pub(super) wire: Vec<u32>,
    /// By flow the rate of the slowest link before the port.
    pub(super) access: Vec<Option<Rate>>,
    /// What the port runs, without packets.
    pub(super) discipline: Discipline,
}

impl Stage<'_> {
    pub(super) fn is_own(&self, feed: usize) -> bool {
        match self.flow {
            Some(own) => feed == own,
            None => self.feeds[feed].leaf == self.leaf,
        }
    }

    /// Whether a packet is of the queue.
    pub(super) fn has(&self, p: &Passed) -> bool {
        p.leaf == self.leaf && self.flow.is_none_or(|own| p.feed == own)
    }

    fn time(&self, bytes: u32) -> u64 {
        self.rate.tx_time(bytes).as_ps()
    }

    /// The flows without a curve that stand for all of their queue: of those that begin here the
    /// one with the longest packet; of each link before the port, too.
    pub(super) fn free(&self) -> Vec<usize> {
        let mut chosen: Vec<usize> = Vec::new();
        for (i, f) in self.feeds.iter().enumerate() {
            if f.curve.is_some() {
                continue;
            }
            let from = |j: usize| {
                let g = &self.feeds[j];
                (g.leaf, g.path.len() > 1, g.path[0])
            };
            let at_source = f.path.len() == 1;
            let shares = self.flow.is_some() && f.leaf == self.leaf;
            let same = chosen.iter().position(|j| {
                let (leaf, late, first) = from(*j);
                !shares && leaf == f.leaf && late != at_source && (at_source || first == f.path[0])
            });
            match same {
                Some(at) if self.wire[i] > self.wire[chosen[at]] => chosen[at] = i,
                Some(_) => {}
                None => chosen.push(i),
            }
        }
        // Where a flow begins here, those over other links add nothing.
        let here = |leaf| {
            let mut of = chosen.iter().map(|j| &self.feeds[*j]);
            of.any(|f| f.leaf == leaf && f.path.len() == 1)
        };
        let kept = chosen.iter().copied().filter(|j| {
            let f = &self.feeds[*j];
            f.path.len() == 1 || !here(f.leaf) || self.flow == Some(*j)
        });
        kept.take(MOST_FLOWS).collect()
    }

    /// The flows whose packet may be in front: of each queue those with the longest packets, with
    /// and without a curve.
    pub(super) fn fronts(&self) -> Vec<usize> {
        let mut best: Vec<usize> = Vec::new();
        for (i, f) in self.feeds.iter().enumerate() {
            let same = best.iter().position(|j| {
                let g = &self.feeds[*j];
                (g.leaf, g.curve.is_some()) == (f.leaf, f.curve.is_some())
            });
            match same {
                Some(at) if self.wire[i] > self.wire[best[at]] => best[at] = i,
                Some(_) => {}
                None => best.push(i),
            }
        }
        best.sort_by_key(|i| std::cmp::Reverse(self.wire[*i]));
        best.truncate(8);
        best
    }

    /// The packets that fill the queue of a flow, and those that it would send at the rate of the
    /// line while the worst packet waits: whichever are fewer.
    pub(super) fn at_once(&self, feed: usize) -> u64 {
        let len = u64::from(self.wire[feed].max(1));
        let limit = self.limits[usize::from(self.feeds[feed].leaf)];
        let line = self.bound / self.time(self.wire[feed]).max(1) + 2;
        let bytes = limit.bytes.map(|b| b / len + 1);
        let packets = limit.packets.map(u64::from);
        let own = [bytes, packets].into_iter().flatten().min();
        let shares = self.flow.is_some() && self.feeds[feed].leaf == self.leaf;
        let most = match self.is_own(feed) {
            // Others in the same leaf leave it room.
            false if shares => 2,
            true => own.unwrap_or(line),
            false => own.unwrap_or(line).min(line),
        };
        // Over a link before this one they come one by one, and leave meanwhile.
        let (rate, line) = (self.access[feed], self.rate.bps());
        let more = match rate {
            Some(r) if r.bps() > line => {
                u128::from(r.bps()) * u128::from(most) / u128::from(r.bps() - line)
            }
            _ => most.into(),
        };
        u64::try_from(more).unwrap_or(u64::MAX).min(MOST_AT_ONCE)
    }

    /// A packet that fills the rest of a limit in bytes, where the flow's lengths are free.
    fn rest(&self, feed: usize) -> Option<u16> {
        let f = &self.feeds[feed];
        let bytes = self.limits[usize::from(f.leaf)].bytes?;
        let rest = bytes % u64::from(self.wire[feed].max(1));
        let more = self.wire[feed] - u32::from(*f.lengths.end());
        let len = u16::try_from(rest.checked_sub(u64::from(more))?).ok()?;
        (f.lengths.contains(&len) && len > 0 && len < *f.lengths.end()).then_some(len)
    }

    fn send(&self, out: &mut Vec<Sent>, feed: usize, at: u64) {
        let len = *self.feeds[feed].lengths.end();
        out.push(Sent { feed, at, len });
    }

    /// What a flow without a curve sends at once from `at` on.
    fn burst(&self, out: &mut Vec<Sent>, feed: usize, at: u64, fit: bool) -> u64 {
        let count = self.at_once(feed);
        let rest = self.rest(feed).filter(|_| fit);
        if let Some(len) = rest {
            out.push(Sent { feed, at, len });
        }
        let first = u64::from(rest.is_some());
        (0..count).for_each(|n| self.send(out, feed, at + first + n));
        count + first
    }

    /// A flow always has packets: from `from` to `until`, `often` in the time that one takes.
    fn saturate(&self, out: &mut Vec<Sent>, feed: usize, from: u64, until: u64, often: u64) {
        let gap = (self.time(self.wire[feed]) / often).max(1);
        let gap = gap.max((until - from.min(until)) / (MOST as u64 / 16));
        let mut at = from;
        while at < until && out.len() < MOST {
            self.send(out, feed, at);
            at += gap;
        }
    }

    /// A burst on an empty port: the longest packets of the flow `front` fill line and ring, and
    /// others come right before the queue's own or right after, and go on.
    pub(super) fn packets(&self, front: Option<usize>, others_first: bool) -> Vec<Sent> {
        let mut out = Vec::new();
        let free = self.free();
        let (own, others): (Vec<usize>, Vec<usize>) = free.iter().partition(|i| self.is_own(**i));
        let (burst, until) = (1_000_000_000, 1_000_000_000 + self.bound);
        // One of a flow with a curve is its first.
        let paced_front = front.filter(|f| self.feeds[*f].curve.is_some());
        if let (Some(f), None) = (front, paced_front) {
            let first = burst - u64::from(self.ring) - 1;
            (first..burst - 1).for_each(|at| self.send(&mut out, f, at));
        }
        for f in &others {
            self.saturate(&mut out, *f, burst + 1_000, until, 8);
        }
        let mut at = burst;
        for is_own in [!others_first, others_first] {
            for f in if is_own { &own } else { &others } {
                at += self.burst(&mut out, *f, at, is_own);
            }
            // Those with a curve, the longest last.
            let mut paced: Vec<usize> = (0..self.feeds.len())
                .filter(|i| self.feeds[*i].curve.is_some() && self.is_own(*i) == is_own)
                .collect();
            paced.sort_by_key(|i| self.wire[*i]);
            for f in paced {
                let first = if paced_front == Some(f) {
                    burst - 2
                } else {
                    at
                };
                let Some(curve) = &self.feeds[f].curve else {
                    continue;
                };
                for t in greedy(curve, self.wire[f], until - burst) {
                    if out.len() < MOST {
                        self.send(&mut out, f, first + t);
                    }
                }
                at += 1;
            }
        }
        out.sort_by_key(|s| s.at);
        out
    }

    /// The same packets without those that were dropped or came after the worst, each of the queue
    /// at the moment from which there was room for it. `only_sent`: without those that still waited
    /// when the worst had been sent.
    pub(super) fn tightened(
        &self,
        sent: &[Sent],
        passed: &[Passed],
        worst: &Passed,
        (shift, only_sent): (bool, bool),
    ) -> Vec<Sent> {
        let left = worst.end.unwrap_or(u64::MAX);
        let mut by_feed: Vec<Vec<Sent>> = vec![Vec::new(); self.feeds.len()];
        sent.iter().for_each(|s| by_feed[s.feed].push(*s));
        let mut room: Vec<u64> = passed
            .iter()
            .filter(|p| self.has(p))
            .filter_map(|p| p.taken)
            .collect();
        room.sort_unstable();
        let (mut out, mut last) = (Vec::new(), 0);
        for p in passed.iter().filter(|p| p.end.is_some()) {
            let Some(s) = by_feed[p.feed].get(p.seq as usize) else {
                continue;
            };
            let own = self.has(p);
            let waits = only_sent && p.end.is_none_or(|end| end > left);
            if waits || p.arrived > left || own && p.arrived > worst.arrived {
                continue;
            }
            let mut at = s.at;
            if shift && own && self.feeds[p.feed].curve.is_none() {
                // The line took a packet of the queue before this one came.
                let taken = room.partition_point(|t| *t < p.arrived);
                let free = taken.checked_sub(1).map(|i| room[i] + 1);
                at = free.unwrap_or(at).max(last + 1).min(at);
                last = at;
            }
            out.push(Sent { at, ..*s });
        }
        out.sort_by_key(|s| s.at);
        out
    }
}
