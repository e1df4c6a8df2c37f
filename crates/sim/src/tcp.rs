//! TCP connections in the world: endpoints, their wakes, and the segments on the way.
//!
//! A connection is two flows, one for its data and one for its acknowledgments, each with its own
//! addresses, packets and wake. A packet carries the number of its segment in a slab, which
//! grows to the largest number of packets on the way and stays.

use std::collections::VecDeque;
use std::sync::Arc;

use spillgate_core::{Ecn, Time};
use spillgate_endpoints::tcp::{Receiver, Segment, Sender, State, TcpConfig};

use crate::window::Window;

/// Both ends of a connection.
pub(crate) struct Connection {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) config: Arc<TcpConfig>,
    /// Bytes that the application hands over at `start`; none: without end.
    bytes: Option<u64>,
    start: Time,
    opened: bool,
    /// The flow of its data, and that of its acknowledgments.
    pub(crate) data: u32,
    pub(crate) acknowledgments: u32,
    /// When the last byte was acknowledged.
    pub(crate) finished: Option<Time>,
    /// Bytes delivered in order, and the sender's counts, at the begin of the window.
    at_start: Counts,
    /// The same, at its end.
    at_end: Counts,
}

/// What a connection has done so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) delivered: u64,
    pub(crate) retransmits: u64,
    pub(crate) timeouts: u64,
}

impl Connection {
    pub(crate) fn new(
        config: &Arc<TcpConfig>,
        bytes: Option<u64>,
        start: Time,
        data: u32,
        acknowledgments: u32,
    ) -> Self {
        Self {
            sender: Sender::new(config, start),
            receiver: Receiver::new(config),
            config: Arc::clone(config),
            bytes,
            start,
            opened: false,
            data,
            acknowledgments,
            finished: None,
            at_start: Counts::default(),
            at_end: Counts::default(),
        }
    }

    /// The sender's wake.
    pub(crate) fn on_sender_wake(&mut self, now: Time) {
        if !self.opened && now >= self.start {
            self.opened = true;
            self.sender.write(now, self.bytes.unwrap_or(u64::MAX));
            if self.bytes.is_some() {
                self.sender.close(now);
            }
        }
        self.sender.handle_timeout(now);
    }

    /// An acknowledgment reached the sender.
    pub(crate) fn on_acknowledgment(&mut self, now: Time, segment: &Segment, ecn: Ecn) {
        self.sender.handle_segment(now, segment, ecn);
        if self.finished.is_none() && self.sender.state() == State::Done {
            self.finished = Some(now);
        }
    }

    /// When the sender wants to be woken.
    pub(crate) fn sender_wake(&self) -> Option<Time> {
        if self.opened {
            self.sender.poll_timeout()
        } else {
            Some(self.start)
        }
    }

    fn counts(&self) -> Counts {
        let stats = self.sender.stats();
        Counts {
            delivered: self.receiver.delivered_bytes(),
            retransmits: stats.retransmits,
            timeouts: stats.timeouts.into(),
        }
    }

    /// The window begins, or ends.
    pub(crate) fn on_edge(&mut self, begins: bool) {
        let counts = self.counts();
        if begins {
            self.at_start = counts;
        } else {
            self.at_end = counts;
        }
    }

    /// What happened within the window.
    pub(crate) fn within(&self) -> Counts {
        let (a, b) = (self.at_start, self.at_end);
        Counts {
            delivered: b.delivered.saturating_sub(a.delivered),
            retransmits: b.retransmits.saturating_sub(a.retransmits),
            timeouts: b.timeouts.saturating_sub(a.timeouts),
        }
    }

    /// Seconds from start to the last acknowledgment, if the transfer began in the window.
    pub(crate) fn completion(&self, window: Window) -> Option<f64> {
        let finished = self.finished.filter(|_| window.contains(self.start))?;
        Some(finished.since(self.start).as_secs_f64())
    }
}

/// The segments that are on the way, by number.
#[derive(Default)]
pub(crate) struct Segments {
    all: Vec<Segment>,
    /// Taken in the order in which they became free: segments that leave one after the other
    /// lie one after the other, and mostly arrive so.
    free: VecDeque<u32>,
}

impl Segments {
    /// Keeps a segment; its number.
    #[inline]
    pub(crate) fn put(&mut self, segment: Segment) -> u32 {
        match self.free.pop_front() {
            Some(i) => {
                self.all[i as usize] = segment;
                i
            }
            None => {
                self.all.push(segment);
                self.all.len() as u32 - 1
            }
        }
    }

    /// Takes a segment out.
    #[inline]
    pub(crate) fn take(&mut self, number: u32) -> Segment {
        self.free.push_back(number);
        self.all[number as usize]
    }
}
