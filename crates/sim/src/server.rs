//! The server of a port, beside what it was told of its last packet.

use std::ops::Deref;

use spillgate_core::Time;
use spillgate_nodes::server::Server;

/// A server at work.
pub(crate) struct Serving {
    server: Box<dyn Server>,
    /// The start and the end of its last transmission.
    pub(crate) last: (Time, Time),
    /// When it can begin next, as a node says that has its line; [`Time::MAX`] until it does.
    told: Time,
}

impl Serving {
    pub(crate) fn new(server: Box<dyn Server>) -> Self {
        Self {
            server,
            last: (Time::ZERO, Time::ZERO),
            told: Time::ZERO,
        }
    }

    /// When it can begin with a packet; `waited`: the packet was there before `now`.
    pub(crate) fn begins(&mut self, now: Time, waited: bool) -> Time {
        self.server.begins(now, waited).max(self.told)
    }

    /// When it can begin with the next packet after its last one.
    pub(crate) fn free_at(&self) -> Time {
        self.server.next(self.last.1).max(self.told)
    }

    /// Sends a packet from `start` on, and returns when it has left, if that is known.
    pub(crate) fn send(&mut self, start: Time, bytes: u32) -> Time {
        let end = self.server.send(start, bytes);
        self.last = (start, end);
        if end == Time::MAX {
            self.told = end;
        }
        end
    }

    /// The last packet has left at `end`; the next one can from `ready` on.
    pub(crate) fn sent(&mut self, end: Time, ready: Time) {
        self.last.1 = end;
        self.told = ready;
    }

    /// Its transmission is cut off at `now`.
    pub(crate) fn cut(&mut self, now: Time) {
        self.last.1 = self.last.1.min(now);
        self.server.cut(now);
    }
}

impl Deref for Serving {
    type Target = dyn Server;

    fn deref(&self) -> &Self::Target {
        &*self.server
    }
}
