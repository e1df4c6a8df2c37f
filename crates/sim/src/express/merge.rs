//! Where pipes meet: a port takes what comes over several pipes in batches.
//!
//! For some time nothing that is not on its way yet can [reach](super::lookahead) the port. The packets
//! on the pipes that are due before that are all there will be, and if the port computes departures
//! at arrival they are taken through it at once, in the order of their arrivals: one wake for a
//! batch instead of one for each packet. It is the look-ahead of conservative parallel simulation
//! (Chandy and Misra 1979) within one process.

use std::collections::BTreeMap;

use spillgate_core::{Dur, Time};
use spillgate_events::{EventSet, Rank};

use super::feeders::Next;
use super::loser_tree::{Head, LoserTree, MOST_PIPES};
use crate::engine::Paths;
use crate::engine::World;
use crate::link::Link;

/// To look at so many pipes takes about as long as one wake.
const LOOKS_IN_WAKE: u32 = 8;

/// After so many batches it is asked whether they are worth the looks.
const TRIAL: u32 = 512;

/// After so many wakes of pipes for themselves batches are tried once more.
const ALONE: u32 = 1 << 18;

/// No merge point.
const NONE: u32 = u32::MAX;

/// The pipes that lead to one port and nowhere else.
pub(super) struct MergePoint {
    pub(super) port: u32,
    pipes: Vec<u32>,
    /// The shortest delay of their links.
    pub(super) delay: Dur,
    /// When it wakes; [`Time::MAX`] for not.
    pub(super) wake: Time,
    /// All that is due before that has been taken.
    taken: Time,
    /// Packets that found no place on their pipe and fly on that of their link. While there are
    /// any, each pipe wakes for itself.
    overflow: u32,
    /// Each pipe wakes for itself, too, since batches were not worth it.
    apart: bool,
    /// Batches that were taken since it was asked whether they are worth it, or wakes without.
    turns: u32,
    /// Packets in these batches.
    packets: u32,
}

impl MergePoint {
    fn new(port: u32, pipes: Vec<u32>, delay: Dur) -> Self {
        Self {
            port,
            pipes,
            delay,
            wake: Time::MAX,
            taken: Time::ZERO,
            overflow: 0,
            apart: false,
            turns: 0,
            packets: 0,
        }
    }

    /// Whether each pipe wakes for itself.
    #[inline]
    fn has_parted(&self) -> bool {
        self.overflow > 0 || self.apart
    }

    /// A batch of so many packets was taken: whether each pipe had better wake for itself.
    #[inline]
    fn is_idle(&mut self, packets: u32) -> bool {
        self.turns += 1;
        self.packets = self.packets.saturating_add(packets);
        if self.turns < TRIAL {
            return false;
        }
        let looks = self.pipes.len() as u32 * std::mem::take(&mut self.turns);
        std::mem::take(&mut self.packets) < looks / LOOKS_IN_WAKE
    }

    /// A pipe has woken for itself: whether batches are tried again from now on.
    #[inline]
    fn is_tried_again(&mut self) -> bool {
        self.turns += u32::from(self.apart);
        if self.turns < ALONE || self.overflow > 0 {
            return false;
        }
        (self.turns, self.apart) = (0, false);
        true
    }
}

/// All merge points of a world.
#[derive(Default)]
pub(super) struct MergePoints {
    pub(super) all: Vec<MergePoint>,
    /// The merge point of each pipe, or [`NONE`]; empty if there are none at all.
    of_pipe: Vec<u32>,
}

impl MergePoints {
    /// Those of links that have their pipes, of which there are `pipes`.
    pub(super) fn new(paths: &Paths, links: &[Link], nexts: &[Next], pipes: usize) -> Self {
        Self::of_ports(meeting(paths, links, nexts, pipes), pipes)
    }

    /// Those of the ports with links that lead to them and nowhere else, each on its own pipe.
    pub(super) fn of_own_pipes<'a>(
        ports: impl Iterator<Item = (u32, &'a [u32])>,
        links: &[Link],
    ) -> Self {
        let shortest = |pipes: &[u32]| pipes.iter().map(|w| links[*w as usize].onward.delay).min();
        let met = ports
            .filter_map(|(port, pipes)| Some((port, (pipes.to_vec(), shortest(pipes)?))))
            .filter(|(_, (_, delay))| !delay.is_zero());
        Self::of_ports(met.collect(), links.len())
    }

    /// Of the pipes that lead to each port and the shortest delay of their links.
    fn of_ports(met: BTreeMap<u32, (Vec<u32>, Dur)>, number: usize) -> Self {
        let mut found = Self::default();
        for (port, (pipes, delay)) in met {
            if pipes.len() > MOST_PIPES {
                continue;
            }
            found.of_pipe.resize(number, NONE);
            for pipe in &pipes {
                found.of_pipe[*pipe as usize] = found.all.len() as u32;
            }
            found.all.push(MergePoint::new(port, pipes, delay));
        }
        found
    }

    /// How many there are.
    pub(super) fn number(&self) -> usize {
        self.all.len()
    }

    /// The number of a pipe's merge point.
    #[inline]
    pub(super) fn of(&self, pipe: usize) -> Option<usize> {
        self.of_pipe
            .get(pipe)
            .filter(|c| **c != NONE)
            .map(|c| *c as usize)
    }
}

/// The pipes of each merge point and the shortest delay of their links: the port computes
/// departures, no host feeds it, and nothing on the pipes goes elsewhere.
fn meeting(
    paths: &Paths,
    links: &[Link],
    nexts: &[Next],
    pipes: usize,
) -> BTreeMap<u32, (Vec<u32>, Dur)> {
    let mut next = vec![Next::None; pipes];
    let mut delay = vec![Dur::MAX; pipes];
    for (link, goes) in links.iter().zip(nexts) {
        if *goes != Next::None {
            let pipe = link.onward.pipe as usize;
            delay[pipe] = delay[pipe].min(link.onward.delay);
            next[pipe] = next[pipe].and(*goes);
        }
    }
    let mut refused = vec![false; links.len()];
    for (link, to) in paths.steps() {
        let Some(to) = to else { continue };
        let only = link.is_some_and(|link| {
            let pipe = links[link as usize].onward.pipe as usize;
            next[pipe] == Next::Port(to) && !delay[pipe].is_zero()
        });
        refused[to as usize] |= !only;
    }
    let mut ports: BTreeMap<u32, (Vec<u32>, Dur)> = BTreeMap::new();
    for ((pipe, next), delay) in (0..).zip(next).zip(delay) {
        let Next::Port(port) = next else {
            continue;
        };
        if !refused[port as usize] {
            let (members, shortest) = ports.entry(port).or_insert((Vec::new(), Dur::MAX));
            members.push(pipe);
            *shortest = delay.min(*shortest);
        }
    }
    ports
}

impl<S: EventSet> World<S> {
    /// The wake of a pipe: its first packet arrives, and perhaps what comes after it.
    #[inline]
    pub(super) fn pipe_woken(&mut self, pipe: usize) {
        match self.lane.merge_points.of(pipe) {
            Some(c) => self.lone_pipe_due(c, pipe),
            None if self.lane.to_hosts.get(pipe) == Some(&true) => self.deliver_to_hosts(pipe),
            None => {
                if self.lane.stalls.is_some() {
                    self.stall_ends(pipe);
                }
                self.bring(pipe);
                self.overflow_left(pipe);
                self.receive_rest(pipe);
                if self.lane.stalls.is_some() {
                    self.go_on(pipe);
                }
            }
        }
    }

    /// The first packet on a pipe reaches the far end of its link.
    #[inline(always)]
    fn bring(&mut self, pipe: usize) {
        let Some(first) = self.pipes.pop(pipe) else {
            return;
        };
        self.wake_pipe(pipe);
        if self.lane.large {
            self.prefetch_behind(pipe);
        }
        self.arrive(pipe, first);
    }

    /// Whether the merge point of a pipe wakes for its first packet, which is due at `due`.
    #[inline]
    pub(super) fn merge_point_wakes(&mut self, pipe: usize, due: Time, tie: u64) -> bool {
        let Some(c) = self.lane.merge_points.of(pipe) else {
            return false;
        };
        let merge_point = &mut self.lane.merge_points.all[c];
        if merge_point.has_parted() {
            return false;
        }
        if due < merge_point.wake {
            merge_point.wake = due;
            let slot = self.slots.merge_points + c as u32;
            self.events.schedule_for(slot, due, Rank::Delivery, tie);
        }
        true
    }

    /// The wake of merge point `c`.
    #[inline(never)]
    pub(super) fn merge_point_due(&mut self, c: usize) {
        let merge_point = &mut self.lane.merge_points.all[c];
        merge_point.wake = Time::MAX;
        if merge_point.has_parted() {
            return;
        }
        if merge_point.taken > self.now {
            let port = merge_point.port as usize;
            self.breach(port, self.now);
        }
        let until = self.lower_bound(c);
        self.lane.merge_points.all[c].taken = until;
        let packets = self.take_batch(c, until);
        self.wake_merge_point(c);
        let merge_point = &mut self.lane.merge_points.all[c];
        if merge_point.is_idle(packets) && !merge_point.has_parted() {
            merge_point.apart = true;
            self.part(c);
        }
    }

    /// The wake of one of the pipes of merge point `c`, or what is left of it.
    #[inline(never)]
    fn lone_pipe_due(&mut self, c: usize, pipe: usize) {
        if !self.lane.merge_points.all[c].has_parted() {
            return;
        }
        if self.pipes.first(pipe).is_some_and(|p| p.due <= self.now) {
            self.bring(pipe);
        } else {
            self.wake_pipe(pipe);
        }
        if self.lane.merge_points.all[c].is_tried_again() {
            self.wake_merge_point(c);
        }
    }

    /// Takes all that arrives at the port of a merge point before `until`; how many packets.
    fn take_batch(&mut self, c: usize, until: Time) -> u32 {
        let merge_point = &self.lane.merge_points.all[c];
        let port = merge_point.port as usize;
        // What is taken may send something that comes onto these pipes, and sets their wakes.
        let mut pipes = [0; MOST_PIPES];
        let pipes = &mut pipes[..merge_point.pipes.len()];
        pipes.copy_from_slice(&merge_point.pipes);
        let from = self.now;
        let mut packets = 0;
        let (mut tree, mut first) = self.loser_tree(pipes, from, until);
        while first != Head::NONE {
            let mut i = first.pipe();
            // What is taken may bring others onto the pipe, but none that is due before the end.
            let next = self.pipes.get(pipes[i] as usize, 1);
            let next = next.map_or(Time::MAX, |p| p.due);
            let next = tree.replace_first(i, Head::new(next, i, from, until));
            let at_once = next.is_at(first);
            if at_once {
                i = self.first_of(pipes, first, from, until);
            }
            self.take_ahead(pipes[i] as usize, port);
            packets += 1;
            first = next;
            if at_once {
                (tree, first) = self.loser_tree(pipes, from, until);
            }
        }
        packets
    }

    /// The tree between the pipes of a merge point in a batch from `from` to `until`.
    #[inline(never)]
    fn loser_tree(&self, pipes: &[u32], from: Time, until: Time) -> (LoserTree, Head) {
        let mut heads = [Head::NONE; MOST_PIPES];
        let heads = &mut heads[..pipes.len()];
        for (i, head) in heads.iter_mut().enumerate() {
            *head = Head::new(self.head(pipes[i] as usize), i, from, until);
        }
        LoserTree::new(heads)
    }

    /// Which of the pipes whose next packets are due at one instant, that of `at`, comes first.
    #[cold]
    fn first_of(&self, pipes: &[u32], at: Head, from: Time, until: Time) -> usize {
        let head = |i: usize| Head::new(self.head(pipes[i] as usize), i, from, until);
        let at_once = (0..pipes.len()).filter(|i| head(*i).is_at(at));
        let first = at_once.reduce(|first, i| match self.is_first(pipes[i], pipes[first]) {
            true => i,
            false => first,
        });
        first.unwrap_or_else(|| at.pipe())
    }

    /// When the first packet of a pipe is due.
    #[inline]
    fn head(&self, pipe: usize) -> Time {
        self.pipes.first(pipe).map_or(Time::MAX, |p| p.due)
    }

    /// Whether the first packet of a pipe comes before that of another.
    fn is_first(&self, pipe: u32, other: u32) -> bool {
        match (
            self.pipes.first(pipe as usize),
            self.pipes.first(other as usize),
        ) {
            (Some(a), Some(b)) => !b.is_before(a),
            _ => false,
        }
    }

    /// The first packet of a pipe arrives at `port`, perhaps ahead of the clock, and goes on.
    #[inline(always)]
    fn take_ahead(&mut self, pipe: usize, port: usize) {
        let Some(first) = self.pipes.pop(pipe) else {
            return;
        };
        if self.lane.large {
            self.prefetch_behind(pipe);
        }
        let mut packet = first.packet();
        self.count_ahead(first.due, first.tie, &packet);
        packet.handle += self.step;
        self.offer(port, &mut packet, first.due);
    }

    /// Sets the wake of a merge point to the first packet of all its pipes.
    fn wake_merge_point(&mut self, c: usize) {
        let pipes = &self.lane.merge_points.all[c].pipes;
        let first = pipes.iter().min_by_key(|w| self.head(**w as usize));
        if let Some(first) = first {
            self.wake_pipe(*first as usize);
        }
    }

    /// A packet of `link` found no place on the pipe that it shares: until it is through, each
    /// pipe wakes for itself.
    #[cold]
    pub(super) fn overflowed_pipe(&mut self, link: usize) {
        let Some(c) = self
            .lane
            .merge_points
            .of(self.links[link].onward.pipe as usize)
        else {
            return;
        };
        let merge_point = &mut self.lane.merge_points.all[c];
        let parts = !merge_point.has_parted();
        merge_point.overflow += 1;
        if parts {
            self.part(c);
        }
    }

    /// From now on each pipe of a merge point wakes for itself.
    #[cold]
    fn part(&mut self, c: usize) {
        self.lane.merge_points.all[c].wake = Time::MAX;
        self.events.cancel(self.slots.merge_points + c as u32);
        for i in 0..self.lane.merge_points.all[c].pipes.len() {
            self.wake_pipe(self.lane.merge_points.all[c].pipes[i] as usize);
        }
    }

    /// A packet left a pipe that may be a link's own.
    #[inline]
    fn overflow_left(&mut self, pipe: usize) {
        if self.lane.merge_points.all.is_empty() || pipe >= self.links.len() {
            return;
        }
        let Some(c) = self
            .lane
            .merge_points
            .of(self.links[pipe].onward.pipe as usize)
        else {
            return;
        };
        let merge_point = &mut self.lane.merge_points.all[c];
        merge_point.overflow -= 1;
        if !merge_point.has_parted() {
            self.wake_merge_point(c);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_of_few_packets_are_not_worth_the_looks() {
        let merge_point = |pipes| MergePoint::new(0, vec![0; pipes], Dur::ZERO);
        let last = |pipes, packets| {
            let mut c = merge_point(pipes);
            let early = (1..TRIAL).any(|_| c.is_idle(packets));
            assert!(!early, "it takes a trial");
            c.is_idle(packets)
        };
        assert!(last(9, 1) && last(64, 7));
        assert!(!last(8, 1) && !last(64, 8));
        let mut c = merge_point(9);
        c.apart = true;
        assert!(
            !(1..ALONE).any(|_| c.is_tried_again()),
            "it takes some time"
        );
        c.overflow = 1;
        assert!(!c.is_tried_again(), "a stray is on its way");
        c.overflow = 0;
        assert!(c.is_tried_again() && !c.has_parted());
    }
}
