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
mod between;
mod build;
mod feeders;
mod fifo;
mod fifo_queue;
mod header_prediction;
mod hosts;
mod link;
mod lookahead;
mod loser_tree;
mod merge;
mod net;
mod prefetch;
mod promises;
mod stalls;
mod uncontended;
mod waiting;

use spillgate_core::{Packet, Table, Time};
use spillgate_events::EventSet;

use crate::engine::World;
use crate::port::Port;
use acks::SynTimers;
use between::Between;
use lookahead::Lookahead;
use merge::MergePoints;
use stalls::Stalls;

pub(crate) use build::Known;
pub(crate) use fifo::FifoPort;
pub(crate) use fifo_queue::FifoQueue;
pub(crate) use promises::Promises;
pub use promises::taken_plainly;
pub(crate) use uncontended::Uncontended;

/// What the lane knows of a world.
#[derive(Default)]
pub(crate) struct Lane {
    /// Shortcuts are taken.
    open: bool,
    /// The packets that wait at computed ports.
    fifos: Table<FifoQueue>,
    merge_points: MergePoints,
    lookahead: Lookahead,
    /// Whether each pipe leads to hosts that take packets in batches; empty if somebody looks.
    to_hosts: Vec<bool>,
    /// None where links do not fail, and if somebody looks.
    between: Option<Box<Between>>,
    /// Packets that wait on their pipes for a sample to be taken; none if nobody takes any, and
    /// where links fail.
    stalls: Option<Stalls>,
    /// When links or routes change next.
    changes: Time,
    /// When a sample is taken next.
    samples: Time,
    /// The sooner of these: what takes place from then on is not worked out yet.
    lookahead_end: Time,
    /// What arrives before that at hosts that answer at once can be received ahead.
    receive_until: Time,
    syn_timers: SynTimers,
    /// Some sender is sending: none handles acknowledgments ahead meanwhile.
    sending: bool,
    /// What packets need is loaded before they arrive.
    large: bool,
    /// Pipes, those that links share included.
    pipes: usize,
    /// Slots of the event set that it may need.
    slots: usize,
}

impl Lane {
    /// How many pipes there are.
    pub(crate) fn pipes(&self) -> usize {
        self.pipes
    }

    /// How many slots of the event set it needs for itself.
    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    /// What waits at computed ports.
    pub(crate) fn fifos(&self) -> &[FifoQueue] {
        &self.fifos
    }

    /// The same, to be looked at: that forgets what has left since.
    pub(crate) fn fifos_mut(&mut self) -> &mut [FifoQueue] {
        &mut self.fifos
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
            let onward = self.links[link].onward;
            if let Some((next, due)) = self.send_off(link, onward, packet, start, end) {
                self.offer_ahead(next, packet, due);
            }
        }
        self.lane.open
    }

    /// Whether a computed `link` fails before the packet whose transmission is to end at `end` has
    /// reached its far end at `due`: then the packet is lost.
    pub(crate) fn lane_cuts(&mut self, link: usize, packet: &Packet, end: Time, due: Time) -> bool {
        self.lane.open && self.is_cut_off(link, packet, end, due)
    }

    /// The first packet on a pipe is due: whether the lane has seen to it, and perhaps to others.
    #[inline(always)]
    pub(crate) fn lane_due(&mut self, pipe: usize) -> bool {
        if self.lane.open {
            self.pipe_woken(pipe);
        }
        self.lane.open
    }

    /// The first packet on a pipe is due at `due`: whether the lane wakes for it.
    #[inline(always)]
    pub(crate) fn lane_wakes(&mut self, pipe: usize, due: Time, tie: u64) -> bool {
        self.lane.open && self.merge_point_wakes(pipe, due, tie)
    }

    /// The wake of slot `number` of those that the lane has for itself.
    pub(crate) fn lane_woken(&mut self, number: usize) {
        self.merge_point_due(number);
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

    /// An edge of the measured period is the next one from now on.
    pub(crate) fn lane_edge_passed(&mut self) {
        self.find_receive_until();
    }

    /// The measured period has begun, if `now` lies in it or behind it.
    pub(crate) fn lane_begins(&mut self, now: Time) {
        for link in &mut self.links {
            link.begin_counting(now, &mut self.lane.fifos, self.window);
        }
    }

    /// Routes have changed.
    pub(crate) fn lane_rerouted(&mut self) {
        self.find_feeders();
    }

    /// No link and no route changes before `until`.
    pub(crate) fn lane_sees_until(&mut self, until: Time) {
        self.lane.changes = until;
        self.extend_lookahead();
    }

    /// The next sample is taken at `at`, with all that takes place at that instant; [`Time::MAX`]
    /// for none.
    pub(crate) fn lane_samples(&mut self, at: Time) {
        self.lane.samples = at;
        self.extend_lookahead();
    }

    /// `link` has failed: whether it has a computed port, of which nothing more is to be said.
    pub(crate) fn lane_failed(&mut self, link: usize) -> bool {
        let (now, window) = (self.now, self.window);
        let l = &mut self.links[link];
        let known = l.knows_departures();
        if known {
            l.fail(now, &mut self.lane.fifos, window);
        }
        known
    }

    /// `link` is up until `next`.
    pub(crate) fn lane_repaired(&mut self, link: usize, next: Time) {
        self.links[link].repair(next, &mut self.lane.fifos, self.window);
    }

    /// When the transmissions of `link` that are known now end, if it fails; [`Time::MAX`] for a
    /// served port, whose failure takes back what was too much.
    pub(crate) fn lane_fails(&mut self, link: usize) -> Time {
        match &self.links[link].port {
            Port::Fifo(fifo) => fifo.fails(&mut self.lane.fifos),
            Port::Queued(_) => Time::MAX,
        }
    }

    /// Where a packet at the far end of `link`, or at its source, goes by the routes of now, if
    /// that is known.
    pub(crate) fn lane_next_hop(&self, link: Option<usize>, packet: &Packet) -> NextHop {
        match link {
            Some(link) => self.next_hop_from(link),
            None => self
                .first_port(packet)
                .map_or(NextHop::Unknown, NextHop::Port),
        }
    }
}

/// Where a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextHop {
    /// That has to be looked up.
    Unknown,
    /// To the port of this link.
    Port(usize),
    /// To nobody: it is at its destination.
    End,
}
