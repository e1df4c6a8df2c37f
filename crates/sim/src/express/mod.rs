//! The express lane: shortcuts beside the engine, of the same results.
//!
//! The engine is what Spillgate computes; the lane computes the same sooner where it can, and is
//! entered only through what stands in this file: the hooks of [`World`] that begin with `lane_`,
//! and [`Lane`], what it knows. It relies on what is promised, and nothing is promised by default:
//! a FIFO that decides at arrival promises that departures are known then (served ports take the
//! way of the engine), a link without loss and reordering that all arrives in order after its
//! delay, a network in which nobody looks and no policy waits at arrival that nodes pass packets at
//! once, a host whose only link brings nothing for others that it acts at these times and at those
//! of its timers. Where a tap looks at every packet fewer ways are open; between the samples of
//! series all are. The results are the same.
//!
//! What each way brings is in `docs/adr/0025-two-engines.md`.

mod acks;
mod build;
mod feeders;
mod fifo;
mod fifo_queue;
mod header_prediction;
mod link;
mod net;
mod prefetch;
mod promises;
mod stalls;
mod uncontended;
mod waiting;

use spillgate_core::{Dur, Packet, Table, Time};
use spillgate_events::EventSet;

use crate::engine::World;
use crate::gauge::QueueMeter;
use crate::precedence::Precedences;
use acks::SynTimers;
use fifo_queue::FifoQueue;
use link::ExpressLink;
use stalls::Stalls;

pub(crate) use build::Known;
pub(crate) use link::Sample;
pub(crate) use promises::kept;
pub use promises::taken_plainly;

/// What the lane knows of a world.
#[derive(Default)]
pub(crate) struct Lane {
    /// Shortcuts are taken.
    open: bool,
    /// By link; none where the lane is closed.
    links: Table<ExpressLink>,
    /// The packets that wait at ports with known departures.
    fifos: Table<FifoQueue>,
    /// Packets that wait on their pipes for a sample to be taken; none if nobody takes any, and
    /// where links fail.
    stalls: Option<Stalls>,
    /// When a sample is taken next: what takes place from then on is not worked out yet.
    samples: Time,
    syn_timers: SynTimers,
    /// Some sender is sending: none handles acknowledgments ahead meanwhile.
    sending: bool,
    /// What packets need is loaded before they arrive.
    large: bool,
    /// Pipes, those that links share included.
    pipes: usize,
}

impl Lane {
    /// How many pipes there are.
    pub(crate) fn pipes(&self) -> usize {
        self.pipes
    }

    /// The meter of the queue of `link`, if the lane has its port.
    pub(crate) fn queue(&self, link: usize) -> Option<QueueMeter> {
        self.links.get(link)?.queue(&self.fifos)
    }

    /// Its packets by code point, if it tells them apart.
    pub(crate) fn precedences(&self, link: usize) -> Option<Option<Box<Precedences>>> {
        self.links.get(link)?.precedences(&self.fifos)
    }

    /// Time in the measured period during which `link` transmitted, if the lane has its port.
    pub(crate) fn busy(&self, link: usize) -> Option<Dur> {
        let link = self.links.get(link).filter(|l| l.knows_departures());
        link.map(|l| l.busy(&self.fifos))
    }

    /// What a sample shows of the port of `link` at `now`, if the lane has it.
    pub(crate) fn sample(&mut self, link: usize, now: Time) -> Option<Sample> {
        self.links.get(link)?.sample(&mut self.fifos, now)
    }
}

/// What the engine tells the lane, and asks of it. All answer `false` where the lane is closed.
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

    /// The first packet on a pipe is due: whether the lane has seen to it, and perhaps to others.
    #[inline(always)]
    pub(crate) fn lane_due(&mut self, pipe: usize) -> bool {
        if self.lane.open {
            self.pipe_woken(pipe);
        }
        self.lane.open
    }

    /// A segment reaches the receiver of connection `c` at `now`: whether the lane has answered it.
    #[inline(always)]
    pub(crate) fn lane_acked(&mut self, now: Time, c: usize, packet: &Packet) -> bool {
        self.lane.open && self.acknowledge(now, c, packet)
    }

    /// A segment reaches the sender of connection `c` at `now`: whether the lane has seen to it.
    #[inline(always)]
    pub(crate) fn lane_ack_processed(&mut self, now: Time, c: usize, packet: &Packet) -> bool {
        if self.lane.open {
            self.process_ack(now, c, packet);
        }
        self.lane.open
    }

    /// A sender begins to send, or has ended; whether others were sending before.
    #[inline(always)]
    pub(crate) fn lane_sending(&mut self, sending: bool) -> bool {
        std::mem::replace(&mut self.lane.sending, sending)
    }

    /// The timer for SYN-ACK of connection `c` was to be at `before`, and may have moved.
    #[inline(always)]
    pub(crate) fn lane_timer_moved(&mut self, c: usize, before: Time) {
        if self.lane.open {
            self.note_syn_timer(c, before);
        }
    }

    /// The measured period has begun, if `now` lies in it or behind it.
    pub(crate) fn lane_begins(&mut self, now: Time) {
        for link in &mut self.lane.links {
            link.begin_counting(now, &mut self.lane.fifos, self.window);
        }
    }

    /// The next sample is taken at `at`, with all that takes place at that instant; [`Time::MAX`]
    /// for none.
    pub(crate) fn lane_samples(&mut self, at: Time) {
        self.lane.samples = at;
    }
}
