//! The protected flow list.
//!
//! A flow is [`spillgate_core::Packet::flow`], the dense number that the driver gives each
//! different key ([`spillgate_core::FlowKey`]), so a flow is found by its index, without a hash. 20
//! bytes of bookkeeping per flow: the time of the last packet, two links of the list by that time,
//! and a mark.
//!
//! A flow is marked while a link considers it elastic. All marked flows of a link are removed at
//! once ([`epochs`]); flows that have timed out are found in the [`order`] of last packets, or when
//! looked up.
//!
//! Several links may share a list. Each of them marks flows separately; a flow that two links have
//! marked is elastic at the one that marked it last.

mod epochs;
mod order;
mod records;

use spillgate_core::{Dur, Time};

use super::waits::Wait;
use epochs::{ABSENT, Epochs, LISTED};
use order::{ListEntry, NIL, Recency};
use records::{Record, Records};

/// How a flow has left the list, and which link counts it.
enum Gone {
    Removed(u16),
    TimedOut(u16),
}

/// A protected flow list.
#[derive(Clone, Debug)]
pub(crate) struct FlowList {
    timeout: Dur,
    /// Most flows on it.
    max: u32,
    entries: Vec<ListEntry>,
    order: Recency,
    /// When each flow was listed; empty if no mechanism needs it.
    added: Vec<Time>,
    /// The link that listed each flow; empty for a list of one link.
    by: Vec<u16>,
    /// The number of flows on the list, including those whose time-out has not been noticed.
    size: u32,
    epochs: Epochs,
    /// The records of each link.
    records: Vec<Records>,
    aged: bool,
    shared: bool,
    /// Removals of a mechanism are pending: time-outs are not searched for meanwhile.
    held: bool,
}

impl FlowList {
    pub(crate) fn new(timeout: Dur, max: Option<u32>, shared: bool) -> Self {
        Self {
            timeout,
            max: max.unwrap_or(u32::MAX),
            entries: Vec::new(),
            order: Recency::new(timeout, max.is_some()),
            added: Vec::new(),
            by: Vec::new(),
            size: 0,
            epochs: Epochs::default(),
            records: Vec::new(),
            aged: false,
            shared,
            held: false,
        }
    }

    /// Adds a link that uses the list, and returns its number. `aged`: it needs the times of
    /// listing.
    pub(crate) fn join(&mut self, aged: bool) -> u16 {
        self.records.push(Records::default());
        self.aged |= aged;
        self.expect_flows(self.entries.len());
        self.epochs.join()
    }

    /// Makes room for the flows `0..n`.
    pub(crate) fn expect_flows(&mut self, n: usize) {
        let n = n.max(self.entries.len());
        self.entries.resize(n, ListEntry::NEW);
        if self.aged {
            self.added.resize(n, Time::ZERO);
        }
        if self.shared {
            self.by.resize(n, 0);
        }
        for records in &mut self.records {
            records.expect_flows(n);
        }
    }

    /// Upper estimate of its memory in bytes for one link and so many flows.
    pub(crate) fn memory_bytes(&self, flows: usize) -> u64 {
        let entry = std::mem::size_of::<ListEntry>() + std::mem::size_of::<Record>();
        let more = 8 * usize::from(self.aged) + 2 * usize::from(self.shared);
        (flows as u64).saturating_mul((entry + more) as u64)
    }

    /// Whether the flow is on the list when a packet of it arrives at `now`; if so, restarts its
    /// time-out.
    #[inline]
    pub(crate) fn refresh(&mut self, now: Time, flow: u32) -> bool {
        let Some(entry) = self.entries.get_mut(flow as usize) else {
            return false;
        };
        let (mark, last) = (entry.mark, entry.last());
        if mark == ABSENT {
            return false;
        }
        if now.since(last) > self.timeout || self.epochs.is_closed(mark) {
            self.leave(flow, now);
            return false;
        }
        self.order.refresh(&mut self.entries, flow, last, now);
        true
    }

    /// Puts an unlisted flow on the list if there is room.
    pub(crate) fn insert(&mut self, now: Time, member: u16, flow: u32) -> bool {
        self.sweep(now, 2);
        if self.size >= self.max {
            // In a list of strict order only the first flows can have timed out. Flushed flows do
            // not count, and each is met here once.
            while self.order.head() != NIL {
                let head = self.order.head();
                if !self.epochs.is_closed(self.entries[head as usize].mark) {
                    break;
                }
                self.leave(head, now);
            }
            self.sweep(now, 1);
            if self.size >= self.max {
                return false;
            }
        }
        let i = flow as usize;
        if i >= self.entries.len() {
            self.expect_flows(i + 1);
        }
        self.entries[i].mark = LISTED;
        self.entries[i].set_last(now);
        if self.aged {
            self.added[i] = now;
        }
        if self.shared {
            self.by[i] = member;
        }
        self.size += 1;
        self.order.push(&mut self.entries, flow);
        self.record(member, flow).admissions += 1;
        true
    }

    /// Sets whether removals of a mechanism are pending.
    pub(crate) fn hold(&mut self, held: bool) {
        self.held = held;
    }

    /// Whether there is no room for another flow, counting those that have left unnoticed.
    pub(crate) fn is_full(&self) -> bool {
        self.size >= self.max
    }

    /// Removes up to `most` flows that have timed out.
    pub(crate) fn sweep(&mut self, now: Time, most: u32) {
        if self.held {
            return;
        }
        for _ in 0..most {
            let head = self.order.head();
            let Some(entry) = self.entries.get(head as usize) else {
                return;
            };
            if now.since(entry.last()) <= self.timeout && !self.epochs.is_closed(entry.mark) {
                return;
            }
            self.leave(head, now);
        }
    }

    /// Marks the flow as elastic at the link; returns whether it is listed and was not marked.
    #[inline]
    pub(crate) fn mark(&mut self, member: u16, flow: u32) -> bool {
        let own = self.epochs.own(member);
        match self.entries.get_mut(flow as usize) {
            Some(e) if e.mark != ABSENT && e.mark != own => {
                let before = std::mem::replace(&mut e.mark, own);
                self.epochs.lost(before);
                self.epochs.gained(member);
                true
            }
            _ => false,
        }
    }

    /// Takes the link's mark off a flow.
    pub(crate) fn unmark(&mut self, flow: u32) {
        let before = std::mem::replace(&mut self.entries[flow as usize].mark, LISTED);
        self.epochs.lost(before);
    }

    /// Whether the flow carries the mark of the link.
    #[inline]
    pub(crate) fn is_marked(&self, member: u16, flow: u32) -> bool {
        let own = self.epochs.own(member);
        self.entries
            .get(flow as usize)
            .is_some_and(|e| e.mark == own)
    }

    /// Flows that carry the mark of the link.
    pub(crate) fn marked(&self, member: u16) -> u32 {
        self.epochs.marked(member)
    }

    /// When a listed flow was listed; only in lists whose mechanisms need it.
    #[inline]
    pub(crate) fn added(&self, flow: u32) -> Time {
        self.added[flow as usize]
    }

    /// Removes all flows that carry the mark of the link.
    pub(crate) fn flush(&mut self, now: Time, member: u16) {
        self.size -= self.epochs.flush(now, member);
    }

    /// Removes a flow that carries the mark of a link and counts it there; false if it has timed
    /// out before.
    pub(crate) fn remove(&mut self, now: Time, member: u16, flow: u32) -> bool {
        let entry = self.entries[flow as usize];
        if now.since(entry.last()) > self.timeout {
            self.leave(flow, now);
            return false;
        }
        self.drop_entry(flow, entry.mark);
        self.record(member, flow).removals += 1;
        true
    }

    /// Unlinks a flow that was flushed or has timed out, and counts the cause.
    fn leave(&mut self, flow: u32, now: Time) {
        let mark = self.entries[flow as usize].mark;
        let gone = self.gone(flow, now);
        if self.epochs.is_closed(mark) {
            // The flush has counted it.
            self.order.unlink(&mut self.entries, flow);
            self.entries[flow as usize].mark = ABSENT;
        } else {
            self.drop_entry(flow, mark);
        }
        match gone {
            Some(Gone::Removed(m)) => self.record(m, flow).removals += 1,
            Some(Gone::TimedOut(m)) => self.record(m, flow).timeouts += 1,
            None => {}
        }
    }

    /// From now on the number belongs to another flow, which is not listed.
    pub(crate) fn renew(&mut self, now: Time, flow: u32) {
        match self.entries.get(flow as usize) {
            None => return,
            Some(entry) if entry.mark == ABSENT => {}
            Some(_) => self.leave(flow, now),
        }
        for records in &mut self.records {
            records.renew(flow);
        }
    }

    fn drop_entry(&mut self, flow: u32, mark: u32) {
        self.order.unlink(&mut self.entries, flow);
        self.epochs.lost(mark);
        self.entries[flow as usize].mark = ABSENT;
        self.size -= 1;
    }

    /// Whether a flow with an entry has left the list by `now`, and how.
    fn gone(&self, flow: u32, now: Time) -> Option<Gone> {
        let entry = self.entries.get(flow as usize)?;
        if entry.mark == ABSENT {
            return None;
        }
        let epoch = self.epochs.of(entry.mark);
        let closed = epoch.map_or(Time::MAX, |e| e.closed);
        // The earlier of the two counts.
        if now.min(closed).since(entry.last()) > self.timeout {
            let by = self.by.get(flow as usize).copied().unwrap_or_default();
            return Some(Gone::TimedOut(by));
        }
        epoch
            .filter(|_| closed < Time::MAX)
            .map(|e| Gone::Removed(e.member))
    }

    fn record(&mut self, member: u16, flow: u32) -> &mut Record {
        if flow as usize >= self.entries.len() {
            self.expect_flows(flow as usize + 1);
        }
        self.records[usize::from(member)].of(flow)
    }

    /// Notes that a packet of the flow reached a link's admission control and passed.
    pub(crate) fn passed(&mut self, now: Time, member: u16, flow: u32) {
        self.record(member, flow).passed(now);
    }

    /// Notes that a packet of the flow was refused by a link.
    pub(crate) fn refused(&mut self, now: Time, member: u16, flow: u32) {
        self.record(member, flow).refused(now);
    }

    /// The number of flows on the list at `now`. For gauges: scans all flows that have timed out
    /// since the last packets.
    pub(crate) fn listed(&self, now: Time) -> u32 {
        let Some(edge) = now.as_ps().checked_sub(self.timeout.as_ps()) else {
            return self.size;
        };
        let silent = self.order.before(&self.entries, Time::from_ps(edge));
        let silent = silent.filter(|e| now.since(e.last()) > self.timeout);
        // A flush has counted the flows of its epoch.
        self.size - silent.filter(|e| !self.epochs.is_closed(e.mark)).count() as u32
    }

    /// The results at a link for the flows that reached it until `now`, by flow and time.
    pub(crate) fn waits(&self, now: Time, member: u16) -> Vec<Wait> {
        self.records[usize::from(member)].waits(|wait| match self.gone(wait.flow, now) {
            Some(Gone::Removed(by)) if by == member => wait.removals += 1,
            Some(Gone::TimedOut(by)) if by == member => wait.timeouts += 1,
            _ => {}
        })
    }

    /// Entries unlinked or relinked so far.
    #[cfg(test)]
    pub(crate) fn work(&self) -> u64 {
        self.order.work
    }
}

#[cfg(test)]
mod tests;
