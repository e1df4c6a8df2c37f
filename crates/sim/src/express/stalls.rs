//! Packets that stay in their pipes until the next sample of the time series.
//!
//! A sample shows queues as they are at an instant, so nothing due at that instant or later may be
//! offered to its next port before the sample is taken. Such a packet stays in the pipe of its
//! link, and packets that the link sends after it stay behind it, to keep their order. After the
//! sample the first of them wakes as in the engine; the others that are due before the following
//! sample are then offered at once.
//!
//! Without it runs with series would have no shortcuts: D50 takes 1.58 of its time, a parking lot
//! 1.28.

use std::collections::VecDeque;

use spillgate_core::{Packet, Time};
use spillgate_events::EventSet;

use super::feeders::Feeder;
use super::link::Onward;
use crate::engine::{ARRIVED, World};
use crate::pipes::Pipes;

/// The packets that wait in pipes for a sample.
pub(super) struct Stalls {
    /// By port: the only link that feeds it, or [`NONE`].
    feeder: Vec<u32>,
    /// By link: how many of its packets wait.
    on_link: Vec<u32>,
    /// By pipe: the sample for which its packets wait; [`Time::MAX`] if none waits.
    of_pipe: Vec<Time>,
}

const NONE: u32 = u32::MAX;

impl Stalls {
    pub(super) fn new(feeders: &[Feeder], pipes: usize) -> Self {
        let feeder = |f: &Feeder| match f {
            Feeder::Link(link) => *link,
            _ => NONE,
        };
        Self {
            feeder: feeders.iter().map(feeder).collect(),
            on_link: vec![0; feeders.len()],
            of_pipe: vec![Time::MAX; pipes],
        }
    }

    /// Whether packets of the only link that feeds `port` are in the own pipe of that link.
    fn overflows(&self, pipes: &Pipes, port: u32) -> bool {
        let feeder = self.feeder[port as usize];
        feeder != NONE && pipes.first(feeder as usize).is_some()
    }

    /// A waiting packet goes on to `port`.
    fn release(&mut self, port: u32) {
        let feeder = self.feeder[port as usize];
        if feeder != NONE {
            self.on_link[feeder as usize] -= 1;
        }
    }
}

impl<S: EventSet> World<S> {
    /// Whether packets of `link` wait for a sample: packets that it sends now stay behind them.
    #[inline(always)]
    pub(super) fn is_stalled(&self, link: usize) -> bool {
        match &self.lane.stalls {
            None => false,
            Some(stalls) => stalls.on_link[link] > 0,
        }
    }

    /// Counts a packet that enters the pipe of `link` as waiting, if it could go on but for the
    /// sample.
    #[cold]
    pub(super) fn stall(&mut self, link: usize, onward: Onward, packet: &Packet) {
        if self.next_ahead(onward.ahead, packet).is_none() {
            return;
        }
        let sample = self.lane.samples;
        if let Some(stalls) = &mut self.lane.stalls {
            stalls.on_link[link] += 1;
            let of_pipe = &mut stalls.of_pipe[onward.pipe as usize];
            *of_pipe = sample.min(*of_pipe);
        }
    }

    /// The next port of a packet at this hop, if only one link feeds it: such packets may have
    /// waited.
    fn next_single_feeder(&self, hop: usize) -> Option<u32> {
        let next = self.hops[hop];
        let single = next != ARRIVED && self.lane.links.get(next as usize)?.onward.single_feeder;
        single.then_some(next)
    }

    /// The first packet in a pipe is due: it waits no longer.
    pub(super) fn stall_ends(&mut self, pipe: usize) {
        let Some(hop) = self.pipes.first(pipe).map(|p| p.hop()) else {
            return;
        };
        let next = self.next_single_feeder(hop);
        if let (Some(next), Some(stalls)) = (next, &mut self.lane.stalls) {
            stalls.release(next);
        }
    }

    /// Offers the packets in a pipe that waited for a sample which is taken by now to their next
    /// ports.
    pub(super) fn go_on(&mut self, pipe: usize) {
        let sample = self.lane.samples;
        match &mut self.lane.stalls {
            Some(stalls) if stalls.of_pipe[pipe] < sample => stalls.of_pipe[pipe] = Time::MAX,
            _ => return,
        }
        let (mut stay, mut ahead) = (VecDeque::new(), Vec::new());
        let mut waits = false;
        for head in self.pipes.take(pipe) {
            // Packets that a link has put into its own pipe come before those that it has put into
            // this one since.
            let in_order = |next: &u32| {
                let stalls = self.lane.stalls.as_ref();
                !stalls.is_some_and(|s| s.overflows(&self.pipes, *next))
            };
            match self.next_single_feeder(head.hop()) {
                Some(next) if head.due < sample && in_order(&next) => ahead.push((head, next)),
                next => {
                    waits |= next.is_some();
                    stay.push_back(head);
                }
            }
        }
        self.pipes.put(pipe, stay);
        if let Some(stalls) = self.lane.stalls.as_mut().filter(|_| waits) {
            stalls.of_pipe[pipe] = sample;
        }
        self.events.cancel(self.slots.pipes + pipe as u32);
        self.wake_pipe(pipe);
        for (head, next) in ahead {
            // Only now: while later packets of the link wait, packets that it sends stay behind
            // them.
            if let Some(stalls) = &mut self.lane.stalls {
                stalls.release(next);
            }
            let mut packet = head.packet();
            self.count_hop(head.due, head.tie, packet.flow, packet.seq);
            packet.handle += 1 << 32;
            self.offer(next as usize, &mut packet, head.due);
        }
    }
}
