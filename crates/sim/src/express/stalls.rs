//! Samples of time series show queues as they are at an instant, with all that happens then: what
//! is due later is not worked out before. A packet that might have been offered to the next port at
//! once, had no sample been to come, stays on its wire. Once the sample is taken, the first such
//! packet of a wire wakes as it would in the engine, and those behind it go on at once; until then
//! what follows on the same link stays behind them.

use std::collections::VecDeque;

use spillgate_core::{Packet, Time};
use spillgate_events::EventSet;

use super::feeders::Feeder;
use crate::engine::{ARRIVED, World};
use crate::link::{Link, Onward};

/// The packets that a sample holds up.
pub(super) struct Stalls {
    /// The link that alone feeds each solo port, or [`NONE`].
    feeder: Vec<u32>,
    /// How many are on each link.
    on_link: Vec<u32>,
    /// The sample for which some on each wire wait; [`Time::MAX`] if none does.
    of_pipe: Vec<Time>,
}

const NONE: u32 = u32::MAX;

impl Stalls {
    pub(super) fn new(links: &[Link], feeders: &[Feeder], pipes: usize) -> Self {
        let feeder = |f: &Feeder| match f {
            Feeder::Link(link) => *link,
            _ => NONE,
        };
        Self {
            feeder: feeders.iter().map(feeder).collect(),
            on_link: vec![0; links.len()],
            of_pipe: vec![Time::MAX; pipes],
        }
    }

    /// The link over which a packet comes that goes on to `port`, if it was held up there.
    fn link_to(&self, port: u32) -> Option<usize> {
        let feeder = *self.feeder.get(port as usize)?;
        (feeder != NONE).then_some(feeder as usize)
    }
}

impl<S: EventSet> World<S> {
    /// Whether packets on `link` are held up that what it sends now has to stay behind.
    #[inline(always)]
    pub(super) fn is_stalled(&self, link: usize) -> bool {
        match &self.lane.stalls {
            None => false,
            Some(stalls) => stalls.on_link[link] > 0,
        }
    }

    /// A packet comes onto the wire of `link` that has to wait for a sample, if it could go on
    /// without.
    #[cold]
    pub(super) fn stall(&mut self, link: usize, onward: Onward, packet: &Packet) {
        if self.next_ahead(link, onward.ahead, packet).is_none() {
            return;
        }
        let horizon = self.lane.lookahead_end;
        if let Some(stalls) = &mut self.lane.stalls {
            stalls.on_link[link] += 1;
            let of_pipe = &mut stalls.of_pipe[onward.pipe as usize];
            *of_pipe = horizon.min(*of_pipe);
        }
    }

    /// The port to which a packet goes on that a sample may have held up.
    fn next_single_feeder(&self, hop: usize) -> Option<u32> {
        let next = self.hops[hop];
        let single = next != ARRIVED && self.links.get(next as usize)?.onward.single_feeder;
        single.then_some(next)
    }

    /// The first packet on a wire is due.
    pub(super) fn stall_ends(&mut self, pipe: usize) {
        let Some(hop) = self.pipes.first(pipe).map(|p| p.hop()) else {
            return;
        };
        let next = self.next_single_feeder(hop);
        if let (Some(next), Some(stalls)) = (next, &mut self.lane.stalls) {
            if let Some(link) = stalls.link_to(next) {
                stalls.on_link[link] -= 1;
            }
        }
    }

    /// What is on a wire and was held up by a sample that is taken goes on.
    pub(super) fn go_on(&mut self, pipe: usize) {
        let horizon = self.lane.lookahead_end;
        match &mut self.lane.stalls {
            Some(stalls) if stalls.of_pipe[pipe] < horizon => stalls.of_pipe[pipe] = Time::MAX,
            _ => return,
        }
        let (mut stay, mut ahead) = (VecDeque::new(), Vec::new());
        let mut waits = false;
        for head in self.pipes.take(pipe) {
            match self.next_single_feeder(head.hop()) {
                Some(next) if head.due < horizon => ahead.push((head, next)),
                next => {
                    waits |= next.is_some();
                    stay.push_back(head);
                }
            }
        }
        self.pipes.put(pipe, stay);
        if let Some(stalls) = self.lane.stalls.as_mut().filter(|_| waits) {
            stalls.of_pipe[pipe] = horizon;
        }
        self.events.cancel(self.slots.pipes + pipe as u32);
        self.wake_pipe(pipe);
        for (head, next) in ahead {
            // One at a time: what these bring about must not get in front of the rest.
            if let Some(stalls) = &mut self.lane.stalls {
                if let Some(link) = stalls.link_to(next) {
                    stalls.on_link[link] -= 1;
                }
            }
            let mut packet = head.packet();
            self.count_ahead(head.due, head.tie, &packet);
            packet.handle += self.step;
            self.offer(next as usize, &mut packet, head.due);
        }
    }
}
