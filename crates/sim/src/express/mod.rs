//! The express lane: shortcuts beside the engine, with the same results.
//!
//! The lane has a link and a port of its own ([`link`], [`port`], [`fifo`]), chosen when a world is
//! built by what its components promise ([`promises`]); nothing is promised by default. The engine
//! tells the lane what happens through the methods of [`World`] in this file, which begin with
//! `lane_`, and asks nothing of it. A method that returns `true` has taken the packet over.
//!
//! - [`net`]: a packet goes through a port when it comes, and on to the next port when it is sent.
//! - [`uncontended`], [`waiting`]: what a port holds and counts.
//! - [`acks`], [`header_prediction`]: hosts that answer at once, and the common case of TCP.
//! - [`feeders`]: where packets come from, and which links share a pipe.
//! - [`stalls`]: packets that wait for a sample. [`prefetch`]: memory loaded in advance.
//!
//! The gain of each shortcut is in `docs/adr/0041-shortcuts-that-pay.md`.

mod acks;
mod build;
mod feeders;
mod fifo;
mod header_prediction;
mod link;
mod net;
mod port;
mod prefetch;
mod promises;
mod stalls;
mod uncontended;
mod waiting;

use spillgate_core::{Dur, Packet, Table, Time};
use spillgate_events::EventSet;

use crate::engine::World;
use crate::precedence::Precedences;
use acks::SynTimers;
use link::ExpressLink;
use spillgate_measure::QueueMeter;
use stalls::Stalls;

pub(crate) use build::Known;
pub(crate) use link::Sample;
pub(crate) use promises::kept;
pub use promises::taken_plainly;

/// The state of the lane of a world.
#[derive(Default)]
pub(crate) struct Lane {
    /// Shortcuts are taken.
    open: bool,
    /// By link; none where the lane is closed.
    links: Table<ExpressLink>,
    /// Packets that wait in their pipes for a sample; none in runs without samples, and where links
    /// fail.
    stalls: Option<Stalls>,
    /// When the next sample is taken: nothing from that time on is computed yet.
    samples: Time,
    syn_timers: SynTimers,
    /// A sender is sending: no ACK is processed ahead meanwhile.
    sending: bool,
    /// The memory that packets will touch is prefetched.
    large: bool,
    /// The number of pipes, shared ones included.
    pipes: usize,
}

impl Lane {
    /// How many pipes there are.
    pub(crate) fn pipes(&self) -> usize {
        self.pipes
    }

    /// The meter of the queue of `link`, if the lane has its port.
    pub(crate) fn queue(&self, link: usize) -> Option<QueueMeter> {
        self.links.get(link)?.queue()
    }

    /// Its packets by code point, if it distinguishes them.
    pub(crate) fn precedences(&self, link: usize) -> Option<Option<Box<Precedences>>> {
        self.links.get(link)?.precedences()
    }

    /// Time in the measured period during which `link` transmitted, if the lane has its port.
    pub(crate) fn busy(&self, link: usize) -> Option<Dur> {
        let link = self.links.get(link).filter(|l| l.knows_departures());
        link.map(|l| l.busy())
    }

    /// The sample of the port of `link` at `now`, if the lane has it.
    pub(crate) fn sample(&mut self, link: usize, now: Time) -> Option<Sample> {
        self.links.get_mut(link)?.sample(now)
    }
}

/// The hooks of the engine. All return `false` where the lane is closed.
impl<S: EventSet> World<S> {
    /// A packet arrives at the port of `link` at `now`: whether the lane has taken it.
    #[inline(always)]
    pub(crate) fn lane_offered(&mut self, link: usize, packet: &mut Packet, now: Time) -> bool {
        if self.lane.open {
            self.offer_ahead(link, packet, now);
        }
        self.lane.open
    }

    /// A served port sends a packet from `start` to `end`: whether the lane has taken it.
    #[inline(always)]
    pub(crate) fn lane_sent(
        &mut self,
        link: usize,
        packet: &mut Packet,
        start: Time,
        end: Time,
    ) -> bool {
        if self.lane.open {
            let onward = self.lane.links[link].onward;
            if let Some((next, due)) = self.send_off(link, onward, packet, start, end) {
                self.offer_ahead(next, packet, due);
            }
        }
        self.lane.open
    }

    /// The first packet on a pipe is due: whether the lane has handled it, and perhaps others.
    #[inline(always)]
    pub(crate) fn lane_due(&mut self, pipe: usize) -> bool {
        if self.lane.open {
            self.pipe_woken(pipe);
        }
        self.lane.open
    }

    /// A segment reaches the receiver of connection `c` at `now` with `data`, or its sender with an
    /// acknowledgment: whether the lane has processed it.
    #[inline(always)]
    pub(crate) fn lane_received(
        &mut self,
        now: Time,
        c: usize,
        data: bool,
        packet: &Packet,
    ) -> bool {
        if !self.lane.open {
            return false;
        }
        match data {
            true => self.acknowledge(now, c, packet),
            false => self.process_ack(now, c, packet),
        }
        true
    }

    /// A sender begins or ends sending; returns whether another one was sending before.
    #[inline(always)]
    pub(crate) fn lane_sending(&mut self, sending: bool) -> bool {
        std::mem::replace(&mut self.lane.sending, sending)
    }

    /// Begins counting if `now` is not before the measured period.
    pub(crate) fn lane_begins(&mut self, now: Time) {
        for link in &mut self.lane.links {
            link.begin_counting(now, self.window);
        }
    }

    /// The next sample is taken at `at`, including the events of that instant; [`Time::MAX`] for
    /// none.
    pub(crate) fn lane_samples(&mut self, at: Time) {
        self.lane.samples = at;
    }
}
