//! Where wires meet: a port takes what comes over several wires in batches.
//!
//! For some time nothing that is not on its way yet can [reach](super::reach) the port. The packets
//! on the wires that are due before that are all there will be, and if the port computes departures at
//! arrival they are taken through it at once, in the order of their arrivals: one wake for a batch
//! instead of one for each packet. It is the look-ahead of conservative parallel simulation (Chandy
//! and Misra 1979) within one process.

use std::collections::BTreeMap;

use spillgate_core::{Dur, Time};
use spillgate_events::{EventSet, Rank};

use super::race::{Head, MOST_WIRES, Race};
use super::ways::Next;
use crate::engine::Paths;
use crate::engine::World;
use crate::link::Link;

/// To look at so many wires takes about as long as one wake.
const LOOKS_IN_WAKE: u32 = 8;

/// After so many batches it is asked whether they are worth the looks.
const TRIAL: u32 = 512;

/// After so many wakes of wires for themselves batches are tried once more.
const ALONE: u32 = 1 << 18;

/// No confluence.
const NONE: u32 = u32::MAX;

/// The wires that lead to one port and nowhere else.
pub(super) struct Confluence {
    pub(super) port: u32,
    wires: Vec<u32>,
    /// The shortest delay of their links.
    pub(super) delay: Dur,
    /// When it wakes; [`Time::MAX`] for not.
    pub(super) wake: Time,
    /// All that is due before that has been taken.
    taken: Time,
    /// Packets that found no place on their wire and fly on that of their link. While there are
    /// any, each wire wakes for itself.
    strays: u32,
    /// Each wire wakes for itself, too, since batches were not worth it.
    apart: bool,
    /// Batches that were taken since it was asked whether they are worth it, or wakes without.
    turns: u32,
    /// Packets in these batches.
    packets: u32,
}

impl Confluence {
    fn new(port: u32, wires: Vec<u32>, delay: Dur) -> Self {
        Self {
            port,
            wires,
            delay,
            wake: Time::MAX,
            taken: Time::ZERO,
            strays: 0,
            apart: false,
            turns: 0,
            packets: 0,
        }
    }

    /// Whether each wire wakes for itself.
    #[inline]
    fn has_parted(&self) -> bool {
        self.strays > 0 || self.apart
    }

    /// A batch of so many packets was taken: whether each wire had better wake for itself.
    #[inline]
    fn is_idle(&mut self, packets: u32) -> bool {
        self.turns += 1;
        self.packets = self.packets.saturating_add(packets);
        if self.turns < TRIAL {
            return false;
        }
        let looks = self.wires.len() as u32 * std::mem::take(&mut self.turns);
        std::mem::take(&mut self.packets) < looks / LOOKS_IN_WAKE
    }

    /// A wire has woken for itself: whether batches are tried again from now on.
    #[inline]
    fn is_tried_again(&mut self) -> bool {
        self.turns += u32::from(self.apart);
        if self.turns < ALONE || self.strays > 0 {
            return false;
        }
        (self.turns, self.apart) = (0, false);
        true
    }
}

/// All confluences of a world.
#[derive(Default)]
pub(super) struct Confluences {
    pub(super) all: Vec<Confluence>,
    /// The confluence of each wire, or [`NONE`]; empty if there are none at all.
    of_wire: Vec<u32>,
}

impl Confluences {
    /// Those of links that have their wires, of which there are `wires`.
    pub(super) fn new(paths: &Paths, links: &[Link], nexts: &[Next], wires: usize) -> Self {
        Self::of_ports(meeting(paths, links, nexts, wires), wires)
    }

    /// Those of the ports with links that lead to them and nowhere else, each on its own wire.
    pub(super) fn of_own_wires<'a>(
        ports: impl Iterator<Item = (u32, &'a [u32])>,
        links: &[Link],
    ) -> Self {
        let shortest = |wires: &[u32]| wires.iter().map(|w| links[*w as usize].onward.delay).min();
        let met = ports
            .filter_map(|(port, wires)| Some((port, (wires.to_vec(), shortest(wires)?))))
            .filter(|(_, (_, delay))| !delay.is_zero());
        Self::of_ports(met.collect(), links.len())
    }

    /// Of the wires that lead to each port and the shortest delay of their links.
    fn of_ports(met: BTreeMap<u32, (Vec<u32>, Dur)>, number: usize) -> Self {
        let mut found = Self::default();
        for (port, (wires, delay)) in met {
            if wires.len() > MOST_WIRES {
                continue;
            }
            found.of_wire.resize(number, NONE);
            for wire in &wires {
                found.of_wire[*wire as usize] = found.all.len() as u32;
            }
            found.all.push(Confluence::new(port, wires, delay));
        }
        found
    }

    /// How many there are.
    pub(super) fn number(&self) -> usize {
        self.all.len()
    }

    /// The number of a wire's confluence.
    #[inline]
    pub(super) fn of(&self, wire: usize) -> Option<usize> {
        self.of_wire
            .get(wire)
            .filter(|c| **c != NONE)
            .map(|c| *c as usize)
    }
}

/// The wires of each confluence and the shortest delay of their links: the port computes departures,
/// no host feeds it, and nothing on the wires goes elsewhere.
fn meeting(
    paths: &Paths,
    links: &[Link],
    nexts: &[Next],
    wires: usize,
) -> BTreeMap<u32, (Vec<u32>, Dur)> {
    let mut next = vec![Next::None; wires];
    let mut delay = vec![Dur::MAX; wires];
    for (link, goes) in links.iter().zip(nexts) {
        if *goes != Next::None {
            let wire = link.onward.wire as usize;
            delay[wire] = delay[wire].min(link.onward.delay);
            next[wire] = next[wire].and(*goes);
        }
    }
    let mut refused = vec![false; links.len()];
    for (link, to) in paths.steps() {
        let Some(to) = to else { continue };
        let only = link.is_some_and(|link| {
            let wire = links[link as usize].onward.wire as usize;
            next[wire] == Next::Port(to) && !delay[wire].is_zero()
        });
        refused[to as usize] |= !only;
    }
    let mut ports: BTreeMap<u32, (Vec<u32>, Dur)> = BTreeMap::new();
    for ((wire, next), delay) in (0..).zip(next).zip(delay) {
        let Next::Port(port) = next else {
            continue;
        };
        if !refused[port as usize] {
            let (members, shortest) = ports.entry(port).or_insert((Vec::new(), Dur::MAX));
            members.push(wire);
            *shortest = delay.min(*shortest);
        }
    }
    ports
}

impl<S: EventSet> World<S> {
    /// The wake of a wire: its first packet arrives, and perhaps what comes after it.
    #[inline]
    pub(super) fn wire_woken(&mut self, wire: usize) {
        match self.lane.confluences.of(wire) {
            Some(c) => self.wire_alone_due(c, wire),
            None if self.lane.to_hosts.get(wire) == Some(&true) => self.reach_hosts(wire),
            None => {
                if self.lane.stalls.is_some() {
                    self.stall_ends(wire);
                }
                self.bring(wire);
                self.stray_left(wire);
                self.receive_rest(wire);
                if self.lane.stalls.is_some() {
                    self.go_on(wire);
                }
            }
        }
    }

    /// The first packet on a wire reaches the far end of its link.
    #[inline(always)]
    fn bring(&mut self, wire: usize) {
        let Some(first) = self.wires.pop(wire) else {
            return;
        };
        self.wake_wire(wire);
        if self.lane.large {
            self.look_ahead(wire);
        }
        self.arrive(wire, first);
    }

    /// Whether the confluence of a wire wakes for its first packet, which is due at `due`.
    #[inline]
    pub(super) fn confluence_wakes(&mut self, wire: usize, due: Time, tie: u64) -> bool {
        let Some(c) = self.lane.confluences.of(wire) else {
            return false;
        };
        let confluence = &mut self.lane.confluences.all[c];
        if confluence.has_parted() {
            return false;
        }
        if due < confluence.wake {
            confluence.wake = due;
            let slot = self.slots.confluences + c as u32;
            self.events.schedule_for(slot, due, Rank::Delivery, tie);
        }
        true
    }

    /// The wake of confluence `c`.
    #[inline(never)]
    pub(super) fn confluence_due(&mut self, c: usize) {
        let confluence = &mut self.lane.confluences.all[c];
        confluence.wake = Time::MAX;
        if confluence.has_parted() {
            return;
        }
        if confluence.taken > self.now {
            let port = confluence.port as usize;
            self.breach(port, self.now);
        }
        let until = self.reached_from(c);
        self.lane.confluences.all[c].taken = until;
        let packets = self.take_batch(c, until);
        self.wake_confluence(c);
        let confluence = &mut self.lane.confluences.all[c];
        if confluence.is_idle(packets) && !confluence.has_parted() {
            confluence.apart = true;
            self.part(c);
        }
    }

    /// The wake of one of the wires of confluence `c`, or what is left of it.
    #[inline(never)]
    fn wire_alone_due(&mut self, c: usize, wire: usize) {
        if !self.lane.confluences.all[c].has_parted() {
            return;
        }
        if self.wires.first(wire).is_some_and(|p| p.due <= self.now) {
            self.bring(wire);
        } else {
            self.wake_wire(wire);
        }
        if self.lane.confluences.all[c].is_tried_again() {
            self.wake_confluence(c);
        }
    }

    /// Takes all that arrives at the port of a confluence before `until`; how many packets.
    fn take_batch(&mut self, c: usize, until: Time) -> u32 {
        let confluence = &self.lane.confluences.all[c];
        let port = confluence.port as usize;
        // What is taken may send something that comes onto these wires, and sets their wakes.
        let mut wires = [0; MOST_WIRES];
        let wires = &mut wires[..confluence.wires.len()];
        wires.copy_from_slice(&confluence.wires);
        let from = self.now;
        let mut packets = 0;
        let (mut race, mut first) = self.race(wires, from, until);
        while first != Head::NONE {
            let mut i = first.wire();
            // What is taken may bring others onto the wire, but none that is due before the end.
            let next = self.wires.get(wires[i] as usize, 1);
            let next = next.map_or(Time::MAX, |p| p.due);
            let next = race.replace_first(i, Head::new(next, i, from, until));
            let at_once = next.is_at(first);
            if at_once {
                i = self.first_of(wires, first, from, until);
            }
            self.take_ahead(wires[i] as usize, port);
            packets += 1;
            first = next;
            if at_once {
                (race, first) = self.race(wires, from, until);
            }
        }
        packets
    }

    /// The race between the wires of a confluence in a batch from `from` to `until`.
    #[inline(never)]
    fn race(&self, wires: &[u32], from: Time, until: Time) -> (Race, Head) {
        let mut heads = [Head::NONE; MOST_WIRES];
        let heads = &mut heads[..wires.len()];
        for (i, head) in heads.iter_mut().enumerate() {
            *head = Head::new(self.head(wires[i] as usize), i, from, until);
        }
        Race::new(heads)
    }

    /// Which of the wires whose next packets are due at one instant, that of `at`, comes first.
    #[cold]
    fn first_of(&self, wires: &[u32], at: Head, from: Time, until: Time) -> usize {
        let head = |i: usize| Head::new(self.head(wires[i] as usize), i, from, until);
        let at_once = (0..wires.len()).filter(|i| head(*i).is_at(at));
        let first = at_once.reduce(|first, i| match self.is_first(wires[i], wires[first]) {
            true => i,
            false => first,
        });
        first.unwrap_or_else(|| at.wire())
    }

    /// When the first packet of a wire is due.
    #[inline]
    fn head(&self, wire: usize) -> Time {
        self.wires.first(wire).map_or(Time::MAX, |p| p.due)
    }

    /// Whether the first packet of a wire comes before that of another.
    fn is_first(&self, wire: u32, other: u32) -> bool {
        match (
            self.wires.first(wire as usize),
            self.wires.first(other as usize),
        ) {
            (Some(a), Some(b)) => !b.is_before(a),
            _ => false,
        }
    }

    /// The first packet of a wire arrives at `port`, perhaps ahead of the clock, and goes on.
    #[inline(always)]
    fn take_ahead(&mut self, wire: usize, port: usize) {
        let Some(first) = self.wires.pop(wire) else {
            return;
        };
        if self.lane.large {
            self.look_ahead(wire);
        }
        let mut packet = first.packet();
        self.count_ahead(first.due, first.tie, &packet);
        packet.handle += self.step;
        self.offer(port, &mut packet, first.due);
    }

    /// Sets the wake of a confluence to the first packet of all its wires.
    fn wake_confluence(&mut self, c: usize) {
        let wires = &self.lane.confluences.all[c].wires;
        let first = wires.iter().min_by_key(|w| self.head(**w as usize));
        if let Some(first) = first {
            self.wake_wire(*first as usize);
        }
    }

    /// A packet of `link` found no place on the wire that it shares: until it is through, each
    /// wire wakes for itself.
    #[cold]
    pub(super) fn strayed(&mut self, link: usize) {
        let Some(c) = self
            .lane
            .confluences
            .of(self.links[link].onward.wire as usize)
        else {
            return;
        };
        let confluence = &mut self.lane.confluences.all[c];
        let parts = !confluence.has_parted();
        confluence.strays += 1;
        if parts {
            self.part(c);
        }
    }

    /// From now on each wire of a confluence wakes for itself.
    #[cold]
    fn part(&mut self, c: usize) {
        self.lane.confluences.all[c].wake = Time::MAX;
        self.events.cancel(self.slots.confluences + c as u32);
        for i in 0..self.lane.confluences.all[c].wires.len() {
            self.wake_wire(self.lane.confluences.all[c].wires[i] as usize);
        }
    }

    /// A packet left a wire that may be a link's own.
    #[inline]
    fn stray_left(&mut self, wire: usize) {
        if self.lane.confluences.all.is_empty() || wire >= self.links.len() {
            return;
        }
        let Some(c) = self
            .lane
            .confluences
            .of(self.links[wire].onward.wire as usize)
        else {
            return;
        };
        let confluence = &mut self.lane.confluences.all[c];
        confluence.strays -= 1;
        if !confluence.has_parted() {
            self.wake_confluence(c);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_of_few_packets_are_not_worth_the_looks() {
        let confluence = |wires| Confluence::new(0, vec![0; wires], Dur::ZERO);
        let last = |wires, packets| {
            let mut c = confluence(wires);
            let early = (1..TRIAL).any(|_| c.is_idle(packets));
            assert!(!early, "it takes a trial");
            c.is_idle(packets)
        };
        assert!(last(9, 1) && last(64, 7));
        assert!(!last(8, 1) && !last(64, 8));
        let mut c = confluence(9);
        c.apart = true;
        assert!(
            !(1..ALONE).any(|_| c.is_tried_again()),
            "it takes some time"
        );
        c.strays = 1;
        assert!(!c.is_tried_again(), "a stray is on its way");
        c.strays = 0;
        assert!(c.is_tried_again() && !c.has_parted());
    }
}
