//! A tin of CAKE: its queues, the rounds that they take, and the hosts that share it.

use spillgate_core::Packet;

use crate::aqm::CobaltParams;
use crate::aqm::CobaltVars;
use crate::sched::slab::{List, Slab};

/// Queues of a tin.
pub(super) const QUEUES: usize = 1024;
/// Queues among which a flow has its own: an associative set.
const WAYS: usize = 8;
const NONE: u16 = u16::MAX;

/// The state of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Set {
    /// It is in no round.
    #[default]
    None,
    /// It has not used up its first turn since it was empty.
    Sparse,
    /// It is empty, counts as sparse, and has a turn among the bulk queues.
    SparseWait,
    /// It takes turns.
    Bulk,
    /// It is empty, and its COBALT comes to rest.
    Decaying,
}

/// The rounds, by the order in which they are served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Round {
    #[default]
    New,
    Old,
    Decaying,
}

/// A queue.
#[derive(Clone, Debug)]
pub(super) struct CakeFlow {
    pub(super) vars: CobaltVars,
    pub(super) queue: List,
    /// Bytes that it may send.
    deficit: i32,
    pub(super) bytes: u32,
    pub(super) packets: u32,
    /// The part of a byte that its turns were short of, in 1/65536.
    rest: u16,
    /// The hosts that share the tin, by place.
    hosts: [u16; 2],
    before: u16,
    after: u16,
    set: Set,
    round: Round,
}

const _: () = assert!(size_of::<CakeFlow>() <= 72);

/// A host as a source and another one as a destination, which share a place.
#[derive(Clone, Copy, Debug, Default)]
struct Host {
    tags: [u32; 2],
    /// Bulk queues of it.
    bulk: [u16; 2],
}

/// The addresses of a packet, hashed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Addressed {
    pub(super) flow: u32,
    pub(super) hosts: [u32; 2],
}

#[derive(Clone, Copy, Debug)]
struct Ends {
    first: u16,
    last: u16,
}

/// Counts of queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) sparse: u32,
    pub(super) bulk: u32,
    pub(super) decaying: u32,
}

/// A tin. Its queues are made with its first packet.
#[derive(Clone, Debug)]
pub(super) struct Tin {
    pub(super) flows: Vec<CakeFlow>,
    tags: Vec<u32>,
    hosts: Vec<Host>,
    rounds: [Ends; 3],
    pub(super) counts: Counts,
    pub(super) packets: u32,
    /// Whether source and destination hosts share evenly.
    shares: [bool; 2],
}

impl Tin {
    pub(super) fn new(shares: [bool; 2]) -> Self {
        let empty = Ends {
            first: NONE,
            last: NONE,
        };
        Self {
            flows: Vec::new(),
            tags: Vec::new(),
            hosts: Vec::new(),
            rounds: [empty; 3],
            counts: Counts::default(),
            packets: 0,
            shares,
        }
    }

    /// Bytes of memory once it has had a packet.
    pub(super) const MEMORY: usize =
        QUEUES * (size_of::<CakeFlow>() + size_of::<u32>() + size_of::<Host>());

    /// Makes the queues.
    #[cold]
    fn build(&mut self, cobalt: &CobaltParams) {
        let flow = CakeFlow {
            vars: CobaltVars::new(cobalt),
            queue: List::EMPTY,
            deficit: 0,
            bytes: 0,
            packets: 0,
            rest: 0,
            hosts: [0; 2],
            before: NONE,
            after: NONE,
            set: Set::None,
            round: Round::New,
        };
        self.flows = vec![flow; QUEUES];
        self.tags = vec![0; QUEUES];
        if self.shares != [false; 2] {
            self.hosts = vec![Host::default(); QUEUES];
        }
    }

    /// Whether a queue has a turn or may have one.
    #[inline]
    pub(super) fn is_active(&self) -> bool {
        self.counts.sparse + self.counts.bulk > 0
    }

    /// The queues that a hash may have, the first of which it has if that is free.
    fn ways(hash: u32) -> impl Iterator<Item = usize> {
        let own = hash as usize % QUEUES;
        let set = own - own % WAYS;
        (0..WAYS).map(move |i| set + (own + i) % WAYS)
    }

    /// The queue of a flow, if it has one.
    pub(super) fn find(&self, flow: u32) -> Option<usize> {
        Self::ways(flow).find(|at| self.tags.get(*at) == Some(&flow))
    }

    /// The queue for a packet.
    #[inline]
    pub(super) fn sort(&mut self, to: &Addressed, cobalt: &CobaltParams) -> usize {
        if self.flows.is_empty() {
            self.build(cobalt);
        }
        let own = to.flow as usize % QUEUES;
        if self.tags[own] == to.flow && self.flows[own].set != Set::None {
            return own;
        }
        self.sort_into_set(to, own)
    }

    fn sort_into_set(&mut self, to: &Addressed, own: usize) -> usize {
        let known = Self::ways(to.flow).find(|at| self.tags[*at] == to.flow);
        if let Some(at) = known.filter(|at| self.flows[*at].set != Set::None) {
            return at;
        }
        let idle = || Self::ways(to.flow).find(|at| self.flows[*at].set == Set::None);
        // With no free queue, flows share their own.
        let at = known.or_else(idle).unwrap_or(own);
        let bulk = self.flows[at].set == Set::Bulk;
        if bulk {
            self.leaves_bulk(at);
        }
        self.tags[at] = to.flow;
        for side in 0..2 {
            if self.shares[side] {
                self.flows[at].hosts[side] = self.host(side, to.hosts[side]);
            }
        }
        if bulk {
            self.joins_bulk(at);
        }
        at
    }

    /// The place of a host.
    fn host(&mut self, side: usize, tag: u32) -> u16 {
        let known = Self::ways(tag).find(|at| self.hosts[*at].tags[side] == tag);
        let idle = || Self::ways(tag).find(|at| self.hosts[*at].bulk[side] == 0);
        let at = known.or_else(idle).unwrap_or(tag as usize % QUEUES);
        self.hosts[at].tags[side] = tag;
        at as u16
    }

    fn joins_bulk(&mut self, at: usize) {
        for side in 0..2 {
            if self.shares[side] {
                let host = &mut self.hosts[usize::from(self.flows[at].hosts[side])];
                host.bulk[side] = (host.bulk[side] + 1).min(QUEUES as u16);
            }
        }
    }

    fn leaves_bulk(&mut self, at: usize) {
        for side in 0..2 {
            if self.shares[side] {
                let host = &mut self.hosts[usize::from(self.flows[at].hosts[side])];
                host.bulk[side] = host.bulk[side].saturating_sub(1);
            }
        }
    }

    /// Bulk queues of the host that has most of them, of the hosts of this queue.
    fn load(&self, at: usize) -> u32 {
        let of = |side: usize| match self.shares[side] {
            true => self.hosts[usize::from(self.flows[at].hosts[side])].bulk[side],
            false => 0,
        };
        u32::from(of(0).max(of(1)).max(1))
    }

    /// A turn of a queue in bytes, and the rest in 1/65536 B.
    #[inline]
    fn turn(&mut self, at: usize, quantum: u32) -> i32 {
        // A quantum is at most 1514 B. Division is what a round costs most.
        let exact = (quantum << 16) / self.load(at);
        let flow = &mut self.flows[at];
        let all = exact + u32::from(flow.rest);
        flow.rest = all as u16;
        (all >> 16) as i32
    }

    /// The first queue of a round.
    #[inline]
    fn first(&self, round: Round) -> Option<usize> {
        let first = self.rounds[round as usize].first;
        (first != NONE).then_some(first.into())
    }

    /// Puts a queue, which is in no round, behind all others of one.
    #[inline]
    fn push(&mut self, at: usize, round: Round) {
        let ends = &mut self.rounds[round as usize];
        let last = std::mem::replace(&mut ends.last, at as u16);
        let flow = &mut self.flows[at];
        (flow.before, flow.after, flow.round) = (last, NONE, round);
        match last {
            NONE => ends.first = at as u16,
            last => self.flows[usize::from(last)].after = at as u16,
        }
    }

    /// Takes a queue out of its round.
    #[inline]
    fn unlink(&mut self, at: usize) {
        let flow = &self.flows[at];
        let (before, after, round) = (flow.before, flow.after, flow.round);
        let ends = &mut self.rounds[round as usize];
        match before {
            NONE => ends.first = after,
            before => self.flows[usize::from(before)].after = after,
        }
        match after {
            NONE => ends.last = before,
            after => self.flows[usize::from(after)].before = before,
        }
    }

    /// A packet was appended to a queue.
    #[inline]
    pub(super) fn joined(&mut self, at: usize, quantum: u32) {
        match self.flows[at].set {
            Set::Sparse | Set::Bulk => {}
            Set::SparseWait => {
                self.flows[at].set = Set::Bulk;
                self.counts.sparse -= 1;
                self.counts.bulk += 1;
                self.joins_bulk(at);
            }
            set => {
                if set == Set::Decaying {
                    self.counts.decaying -= 1;
                    self.unlink(at);
                }
                self.push(at, Round::New);
                self.counts.sparse += 1;
                self.flows[at].deficit = self.turn(at, quantum);
                self.flows[at].set = Set::Sparse;
            }
        }
    }

    /// The queue whose turn it is, perhaps one without packets; `is_first`: one that decays goes
    /// before all others.
    #[inline]
    pub(super) fn next(&mut self, mut is_first: bool, quantum: u32) -> Option<usize> {
        loop {
            let decaying = self.first(Round::Decaying);
            let served = || self.first(Round::New).or_else(|| self.first(Round::Old));
            let at = match is_first {
                true => decaying.or_else(served),
                false => served().or(decaying),
            }?;
            is_first = false;
            let flow = &mut self.flows[at];
            if flow.deficit > 0 {
                return Some(at);
            }
            if flow.set == Set::Sparse {
                if flow.packets > 0 {
                    flow.set = Set::Bulk;
                    self.counts.sparse -= 1;
                    self.counts.bulk += 1;
                    self.joins_bulk(at);
                } else {
                    flow.set = Set::SparseWait;
                }
            }
            self.flows[at].deficit += self.turn(at, quantum);
            self.unlink(at);
            self.push(at, Round::Old);
        }
    }

    /// A queue that was found empty leaves its round; it decays unless its COBALT `rests`.
    pub(super) fn leave(&mut self, at: usize, rests: bool) {
        match self.flows[at].set {
            Set::Bulk => {
                self.counts.bulk -= 1;
                self.leaves_bulk(at);
            }
            Set::Sparse | Set::SparseWait => self.counts.sparse -= 1,
            Set::Decaying | Set::None => self.counts.decaying -= 1,
        }
        self.unlink(at);
        if rests {
            self.flows[at].set = Set::None;
        } else {
            self.counts.decaying += 1;
            self.flows[at].set = Set::Decaying;
            self.push(at, Round::Decaying);
        }
    }

    #[inline]
    pub(super) fn charge(&mut self, at: usize, bytes: u32) {
        let deficit = &mut self.flows[at].deficit;
        *deficit = deficit.saturating_sub_unsigned(bytes);
    }

    /// The packet that leaves next, if no queue changes before and nothing drops it.
    pub(super) fn head<'p>(&self, packets: &'p Slab, quantum: u32) -> Option<&'p Packet> {
        let (mut least, mut found) = (i32::MAX, None);
        for round in [Round::New, Round::Old] {
            let mut next = self.first(round);
            while let Some(at) = next {
                let flow = &self.flows[at];
                next = (flow.after != NONE).then_some(flow.after.into());
                let Some(head) = packets.first(&flow.queue) else {
                    continue;
                };
                if flow.deficit > 0 {
                    return Some(head);
                }
                let turn = (quantum / self.load(at)).max(1) as i32;
                let rounds = (-flow.deficit).div_euclid(turn) + 1;
                if rounds < least {
                    (least, found) = (rounds, Some(head));
                }
            }
        }
        found
    }

    /// Queues that hold packets.
    pub(super) fn backlogged(&self) -> usize {
        self.flows.iter().filter(|f| f.packets > 0).count()
    }
}
