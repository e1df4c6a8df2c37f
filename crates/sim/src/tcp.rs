//! TCP connections in the world: endpoints, the applications that write, and the segments in
//! flight.
//!
//! A connection is two flows, one for its data and one for its acknowledgments, each with its own
//! addresses, packets and wake. A packet carries the number of its segment in a slab, which grows
//! to the largest number of segments in flight.

use std::sync::Arc;

use spillgate_core::{Ecn, Table, Time, prefetch};
use spillgate_endpoints::tcp::{Flags, Receiver, Segment, Sender, State, TcpConfig};
use spillgate_measure::Volume;
use spillgate_scenario::plan::Application;

use crate::flow::OpenLoop;
use crate::transfers::ConnectionCounts;

/// Both ends of a connection. The fields that both ends use lie between them in memory.
#[repr(C)]
pub(crate) struct Connection {
    application: Writer,
    stop: Time,
    pub(crate) start: Time,
    pub(crate) sender: Sender,
    /// When the application acts next, [`Time::MAX`] for never.
    pub(crate) act_at: Time,
    /// The number of delivered bytes that the application at the receiver waits for, [`u64::MAX`]
    /// for none.
    pub(crate) awaited: u64,
    /// The flow of its data, and that of its acknowledgments.
    pub(crate) data: u32,
    pub(crate) acknowledgments: u32,
    /// The transfers it is counted with.
    pub(crate) transfers: u32,
    /// The session that it belongs to, or [`NO_SESSION`].
    pub(crate) session: u32,
    /// The number of its segments in flight. The place of a session is not reused before this is
    /// zero, since the segments would reach the next session (RFC 9293 §3.4.1 keeps TIME-WAIT for
    /// that).
    pub(crate) in_flight: u32,
    /// The connection is open: segments and timers are processed.
    pub(crate) alive: bool,
    pub(crate) receiver: Receiver,
}

/// In place of a session: the connection belongs to none.
pub(crate) const NO_SESSION: u32 = u32::MAX;

/// What the application at the sender does next.
enum Writer {
    /// Writes this many bytes at the start ([`u64::MAX`]: without end), then waits for its stop.
    Once(u64),
    /// Writes the length of each packet that a source emits; `due` bytes are written next.
    Source { source: Box<OpenLoop>, due: u64 },
    /// A session writes.
    Session,
    /// Writes no more; waits for its stop.
    Written,
}

impl Connection {
    /// A connection that opens at `start` and whose application stops at `stop`.
    pub(crate) fn new(config: &Arc<TcpConfig>, start: Time, stop: Time) -> Self {
        Self {
            sender: Sender::new(config, start),
            receiver: Receiver::new(config),
            data: 0,
            acknowledgments: 0,
            transfers: 0,
            session: NO_SESSION,
            in_flight: 0,
            alive: true,
            act_at: start,
            awaited: u64::MAX,
            start,
            application: Writer::Session,
            stop,
        }
    }

    /// Sets the application; `source` is the running source of [`Application::Source`].
    pub(crate) fn fed(mut self, application: &Application, source: Option<OpenLoop>) -> Self {
        self.application = match (application, source) {
            (Application::Bytes(n), _) => Writer::Once(*n),
            (_, Some(source)) => Writer::Source {
                source: Box::new(source),
                due: 0,
            },
            (Application::Greedy | Application::Source(_), None) => Writer::Once(u64::MAX),
        };
        self
    }

    /// A connection for the place of a session that has not begun.
    pub(crate) fn vacant(config: &Arc<TcpConfig>, session: u32) -> Self {
        Self {
            alive: false,
            act_at: Time::MAX,
            session,
            ..Self::new(config, Time::ZERO, Time::MAX)
        }
    }

    /// Resets the connection after its session.
    pub(crate) fn vacate(&mut self) {
        self.reopen(Time::ZERO);
        self.alive = false;
    }

    /// Opens the connection anew, for the next session.
    pub(crate) fn reopen(&mut self, now: Time) {
        self.sender.reset(now);
        self.receiver.reset();
        self.alive = true;
        self.awaited = u64::MAX;
        self.act_at = Time::MAX;
        self.start = now;
    }

    /// Handles a wake of the sender; returns whether the application of a session is due.
    pub(crate) fn on_sender_wake(&mut self, now: Time) -> bool {
        let due = now >= self.act_at;
        let session = due && self.session != NO_SESSION;
        if session {
            self.act_at = Time::MAX;
        } else if due {
            self.act(now);
        }
        self.sender.handle_timeout(now);
        session
    }

    /// Lets the application act at `now`.
    fn act(&mut self, now: Time) {
        if now >= self.stop {
            match self.application {
                // Bytes that a source has emitted are still sent; those that a greedy application
                // would write are not.
                Writer::Source { .. } => self.sender.close(now),
                _ => self.sender.finish(now),
            }
            self.application = Writer::Written;
            self.act_at = Time::MAX;
            return;
        }
        match &mut self.application {
            Writer::Once(bytes) => {
                self.sender.write(now, *bytes);
                if *bytes < u64::MAX {
                    self.sender.close(now);
                }
                self.application = Writer::Written;
                self.act_at = self.stop;
            }
            Writer::Source { source, due } => {
                if *due > 0 {
                    self.sender.write(now, *due);
                }
                match source.next() {
                    Some(e) => {
                        *due = e.len.into();
                        self.act_at = e.at.min(self.stop);
                    }
                    None => {
                        self.sender.close(now);
                        self.act_at = Time::MAX;
                    }
                }
            }
            Writer::Session | Writer::Written => self.act_at = Time::MAX,
        }
    }

    /// When the sender or its application wants to be woken, [`Time::MAX`] for never.
    #[inline]
    pub(crate) fn sender_wake(&self) -> Time {
        let timer = self.sender.poll_timeout();
        timer.unwrap_or(Time::MAX).min(self.act_at)
    }

    /// When the sender or its application wants to be woken, if it can send nothing before an
    /// event.
    #[inline]
    pub(crate) fn idle_until(&self) -> Option<Time> {
        self.sender.waits().then(|| self.sender_wake())
    }

    /// Whether neither the sender nor its application has anything to do up to and including `at`.
    #[inline(never)]
    pub(crate) fn sleeps_past(&self, at: Time) -> bool {
        at < self.sender_wake()
    }

    /// Whether the sender is done: all bytes are acknowledged, or it gave up.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        matches!(self.sender.state(), State::Done | State::Failed(_))
    }

    /// Whether the sender gave up.
    pub(crate) fn has_failed(&self) -> bool {
        matches!(self.sender.state(), State::Failed(_))
    }

    /// Lets the sender process an acknowledgment.
    #[inline]
    pub(crate) fn on_acknowledgment(&mut self, now: Time, segment: &Segment, ecn: Ecn) {
        if !self.sender.take_predicted(now, segment) {
            self.sender.handle_segment(now, segment, ecn);
        }
    }

    /// The flow in the other direction: that of acknowledgments for `data`, else that of data.
    #[inline]
    pub(crate) fn reverse_flow(&self, data: bool) -> u32 {
        if data {
            self.acknowledgments
        } else {
            self.data
        }
    }

    /// Prefetches the state that a segment touches at the sender.
    #[inline]
    pub(crate) fn prefetch_sender(&self) {
        prefetch(&self.sender);
        prefetch(&self.data);
    }

    /// Prefetches the state that a segment touches at the receiver.
    #[inline]
    pub(crate) fn prefetch_receiver(&self) {
        prefetch(&self.receiver);
        prefetch(&self.data);
    }

    /// Its counters since it opened.
    pub(crate) fn counts(&self) -> ConnectionCounts {
        let stats = self.sender.stats();
        ConnectionCounts {
            arrived: Volume::of(self.receiver.arrived_bytes()),
            retransmits: stats.retransmits,
            timeouts: stats.timeouts.into(),
        }
    }
}

/// A segment in a cache line of its own: it is read once, long after it was written.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct SegmentSlot(Segment);

/// The segments in flight, by number.
#[derive(Default)]
pub(crate) struct Segments {
    all: Table<SegmentSlot>,
    /// The number freed last is used next: its segment is still in the cache.
    free: Vec<u32>,
}

impl Segments {
    /// Stores a segment and returns its number.
    ///
    /// Always inlined, so that the segment is built where it is stored.
    #[inline(always)]
    pub(crate) fn put(&mut self, segment: Segment) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| self.grow());
        *self.get_mut(number) = segment;
        number
    }

    /// Adds a slot.
    #[cold]
    fn grow(&mut self) -> u32 {
        let number = self.all.len() as u32;
        self.all
            .push(SegmentSlot(Segment::bare(0, Flags::NONE, Time::ZERO)));
        number
    }

    /// A segment in flight, to be replaced by another.
    #[inline]
    pub(crate) fn get_mut(&mut self, number: u32) -> &mut Segment {
        &mut self.all[number as usize].0
    }

    /// Prefetches a segment.
    #[inline]
    pub(crate) fn prefetch(&self, number: u32) {
        if let Some(kept) = self.all.get(number as usize) {
            prefetch(kept);
        }
    }

    /// A segment in flight.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> &Segment {
        &self.all[number as usize].0
    }

    /// Takes a segment out; its slot holds it until another is stored.
    #[inline]
    pub(crate) fn take(&mut self, number: u32) -> &Segment {
        self.free.push(number);
        &self.all[number as usize].0
    }
}
