//! The express lane: short ways beside the engine, of the same results.
//!
//! The engine is what Spillgate computes; the lane computes the same sooner where it can, and is entered only through what
//! stands in this file: the hooks of [`World`] that begin with `lane_`, and [`Lane`], what it knows. It relies on what
//! is promised, and nothing is promised by default: a FIFO that decides at arrival promises that departures are known then (served ports
//! take the way of the engine), a link without loss and reordering that all arrives in order after its delay, a network in which nobody looks and no
//! policy waits at arrival that nodes pass packets at once, a host whose only link brings nothing for others that it acts at these
//! times and at those of its timers. Where a tap looks at every
//! packet fewer ways are open; between the samples of series all are. The results are the same.
//!
//! What each way brings is in `docs/adr/0025-two-engines.md`.

mod ahead;
mod answers;
mod between;
mod build;
mod confluence;
mod ends;
mod fifo;
mod hosts;
mod line;
mod link;
mod net;
mod promises;
mod race;
mod reach;
mod stalls;
mod straight;
mod waiting;
mod ways;

use spillgate_core::{Packet, Table, Time};
use spillgate_events::EventSet;

use crate::engine::World;
use crate::port::Port;
use answers::SynTimers;
use between::Between;
use confluence::Confluences;
use reach::Reach;
use stalls::Stalls;

pub(crate) use build::Known;
pub(crate) use fifo::FifoPort;
pub(crate) use line::Line;
pub(crate) use promises::Promises;
pub use promises::taken_plainly;
pub(crate) use straight::Straight;

/// What the lane knows of a world.
#[derive(Default)]
pub(crate) struct Lane {
    /// Short ways are taken.
    open: bool,
    /// The packets that wait at computed ports.
    lines: Table<Line>,
    confluences: Confluences,
    reach: Reach,
    /// Whether each wire leads to hosts that take packets in batches; empty if somebody looks.
    to_hosts: Vec<bool>,
    /// None where links do not fail, and if somebody looks.
    between: Option<Box<Between>>,
    /// Packets that wait on their wires for a sample to be taken; none if nobody takes any, and where links fail.
    stalls: Option<Stalls>,
    /// When links or routes change next.
    changes: Time,
    /// When a sample is taken next.
    samples: Time,
    /// The sooner of these: what takes place from then on is not worked out yet.
    horizon: Time,
    /// What arrives before that at hosts that answer at once can be received ahead.
    answer_until: Time,
    syn_timers: SynTimers,
    /// Some sender is sending: none heeds ahead meanwhile.
    pumps: bool,
    /// What packets need is loaded before they arrive.
    large: bool,
    /// Wires, those that links share included.
    wires: usize,
    /// Slots of the event set that it may need.
    slots: usize,
}

impl Lane {
    /// How many wires there are.
    pub(crate) fn wires(&self) -> usize {
        self.wires
    }

    /// How many slots of the event set it needs for itself.
    pub(crate) fn slots(&self) -> usize {
        self.slots
    }

    /// What waits at computed ports.
    pub(crate) fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The same, to be looked at: that forgets what has left since.
    pub(crate) fn lines_mut(&mut self) -> &mut [Line] {
        &mut self.lines
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

    /// Whether a computed `link` fails before the packet whose transmission is to end at `end` has reached
    /// its far end at `due`: then the packet is lost.
    pub(crate) fn lane_cuts(&mut self, link: usize, packet: &Packet, end: Time, due: Time) -> bool {
        self.lane.open && self.is_cut_off(link, packet, end, due)
    }

    /// The first packet on a wire is due: whether the lane has seen to it, and perhaps to others.
    #[inline(always)]
    pub(crate) fn lane_due(&mut self, wire: usize) -> bool {
        if self.lane.open {
            self.wire_woken(wire);
        }
        self.lane.open
    }

    /// The first packet on a wire is due at `due`: whether the lane wakes for it.
    #[inline(always)]
    pub(crate) fn lane_wakes(&mut self, wire: usize, due: Time, tie: u64) -> bool {
        self.lane.open && self.confluence_wakes(wire, due, tie)
    }

    /// The wake of slot `number` of those that the lane has for itself.
    pub(crate) fn lane_woken(&mut self, number: usize) {
        self.confluence_due(number);
    }

    /// A segment reaches the receiver of connection `c` at `now`: whether the lane has answered it.
    #[inline(always)]
    pub(crate) fn lane_answered(&mut self, now: Time, c: usize, packet: &Packet) -> bool {
        self.lane.open && self.answer(now, c, packet)
    }

    /// A segment reaches the sender of connection `c` at `now`: whether the lane has seen to it.
    #[inline(always)]
    pub(crate) fn lane_heeded(&mut self, now: Time, c: usize, packet: &Packet) -> bool {
        if self.lane.open {
            self.heed(now, c, packet);
        }
        self.lane.open
    }

    /// A sender begins to send, or has ended; whether others were sending before.
    #[inline(always)]
    pub(crate) fn lane_pumps(&mut self, pumps: bool) -> bool {
        std::mem::replace(&mut self.lane.pumps, pumps)
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
        self.find_answer_until();
    }

    /// The measured period has begun, if `now` lies in it or behind it.
    pub(crate) fn lane_begins(&mut self, now: Time) {
        for link in &mut self.links {
            link.begin_counting(now, &mut self.lane.lines, self.window);
        }
    }

    /// Routes have changed.
    pub(crate) fn lane_rerouted(&mut self) {
        self.find_feeders();
    }

    /// No link and no route changes before `until`.
    pub(crate) fn lane_sees_until(&mut self, until: Time) {
        self.lane.changes = until;
        self.look_on();
    }

    /// The next sample is taken at `at`, with all that takes place at that instant; [`Time::MAX`] for none.
    pub(crate) fn lane_samples(&mut self, at: Time) {
        self.lane.samples = at;
        self.look_on();
    }

    /// `link` has failed: whether it has a computed port, of which nothing more is to be said.
    pub(crate) fn lane_failed(&mut self, link: usize) -> bool {
        let (now, window) = (self.now, self.window);
        let l = &mut self.links[link];
        let computed = l.is_computed();
        if computed {
            l.fail(now, &mut self.lane.lines, window);
        }
        computed
    }

    /// `link` is up until `next`.
    pub(crate) fn lane_repaired(&mut self, link: usize, next: Time) {
        self.links[link].repair(next, &mut self.lane.lines, self.window);
    }

    /// When the transmissions of `link` that are known now end, if it fails; [`Time::MAX`] for a served port, whose
    /// failure takes back what was too much.
    pub(crate) fn lane_fails(&mut self, link: usize) -> Time {
        match &self.links[link].port {
            Port::Fifo(fifo) => fifo.fails(&mut self.lane.lines),
            Port::Queued(_) => Time::MAX,
        }
    }

    /// Where a packet at the far end of `link`, or at its source, goes by the routes of now, if that is known.
    pub(crate) fn lane_way(&self, link: Option<usize>, packet: &Packet) -> Way {
        match link {
            Some(link) => self.way_from(link),
            None => self.first_port(packet).map_or(Way::Unknown, Way::Port),
        }
    }
}

/// Where a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// That has to be looked up.
    Unknown,
    /// To the port of this link.
    Port(usize),
    /// To nobody: it is at its destination.
    End,
}
