//! The protected flow list.
//!
//! A flow is [`spillgate_core::Packet::flow`], the dense number that the driver
//! gives each different key ([`spillgate_core::FlowKey`]), so a flow is found by
//! its index, never by a hash. 20 bytes of bookkeeping per flow: the time of the
//! last packet, two links of the list by that time, and a mark.
//!
//! A flow is marked while a link holds it to be elastic. A mark names an epoch
//! of that link. A flush closes the epoch: from then on each flow that carries
//! it counts as unlisted, and is unlinked when next met. So a flush costs the
//! same for one flow and for a million.
//!
//! The list by time serves no decision but that of a full list; a flow that has
//! been silent for too long is recognized when it is looked up. Without
//! `pfl_max` the order is therefore kept to a sixteenth of the time-out only,
//! which spares most packets the relinking.
//!
//! Several links may share a list. Each of them marks flows on its own; a flow
//! that two have marked is elastic at the one that did last.

use spillgate_core::{Dur, Time};

use super::waits::Wait;

/// No flow.
const NIL: u32 = u32::MAX;
/// Marks: not on the list, on it, and from here on the number of an epoch.
const ABSENT: u32 = 0;
const LISTED: u32 = 1;
const EPOCHS: u32 = 2;

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Time of the last packet, in halves that need no alignment.
    last: [u32; 2],
    prev: u32,
    next: u32,
    mark: u32,
}

const _: () = assert!(std::mem::size_of::<Entry>() == 20);

impl Entry {
    const NEW: Self = Self {
        last: [0; 2],
        prev: NIL,
        next: NIL,
        mark: ABSENT,
    };

    #[inline]
    fn last(&self) -> Time {
        Time::from_ps(u64::from(self.last[0]) | u64::from(self.last[1]) << 32)
    }

    #[inline]
    fn set_last(&mut self, at: Time) {
        self.last = [at.as_ps() as u32, (at.as_ps() >> 32) as u32];
    }
}

/// A time between two flushes of a link that removed something.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    member: u16,
    /// [`Time::MAX`] for the present one.
    closed: Time,
}

/// A link that uses the list.
#[derive(Clone, Debug)]
struct Member {
    /// Its present epoch.
    epoch: u32,
    /// Flows that carry its mark.
    marked: u32,
    records: Vec<Record>,
    /// Those of flows whose number another flow has now.
    past: Vec<(u32, Record)>,
}

/// What a link has done to a flow.
#[derive(Clone, Copy, Debug)]
struct Record {
    /// [`Time::MAX`] for never.
    offered: Time,
    /// [`Time::MAX`] for never.
    admitted: Time,
    refused: u64,
    refused_total: u64,
    admissions: u32,
    removals: u32,
    timeouts: u32,
}

impl Record {
    const NEW: Self = Self {
        offered: Time::MAX,
        admitted: Time::MAX,
        refused: 0,
        refused_total: 0,
        admissions: 0,
        removals: 0,
        timeouts: 0,
    };
}

/// How a flow has left the list, and on which link's account.
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
    /// The order by time counts in 2^shift ps.
    shift: u32,
    entries: Vec<Entry>,
    /// When each flow was listed; empty if no mechanism asks.
    added: Vec<Time>,
    /// The link that listed each flow; empty for a list of one link.
    by: Vec<u16>,
    head: u32,
    tail: u32,
    /// Flows on the list, those included whose silence nobody has noticed yet.
    size: u32,
    epochs: Vec<Epoch>,
    members: Vec<Member>,
    aged: bool,
    shared: bool,
    /// A mechanism is behind with removals: who has fallen silent since is not looked for.
    held: bool,
    /// Entries unlinked or relinked so far.
    #[cfg(test)]
    pub(crate) work: u64,
}

impl FlowList {
    pub(crate) fn new(timeout: Dur, max: Option<u32>, shared: bool) -> Self {
        let grain = timeout.as_ps() / 16;
        Self {
            timeout,
            max: max.unwrap_or(u32::MAX),
            shift: match max {
                Some(_) => 0,
                None => grain.max(1).ilog2(),
            },
            entries: Vec::new(),
            added: Vec::new(),
            by: Vec::new(),
            head: NIL,
            tail: NIL,
            size: 0,
            epochs: Vec::new(),
            members: Vec::new(),
            aged: false,
            shared,
            held: false,
            #[cfg(test)]
            work: 0,
        }
    }

    /// One more link uses the list; its number. `aged`: it asks when flows were listed.
    pub(crate) fn join(&mut self, aged: bool) -> u16 {
        let member = self.members.len() as u16;
        let epoch = self.open(member);
        self.members.push(Member {
            epoch,
            marked: 0,
            records: Vec::new(),
            past: Vec::new(),
        });
        self.aged |= aged;
        self.expect_flows(self.entries.len());
        member
    }

    fn open(&mut self, member: u16) -> u32 {
        self.epochs.push(Epoch {
            member,
            closed: Time::MAX,
        });
        self.epochs.len() as u32 - 1
    }

    /// Makes room for the flows `0..n`.
    pub(crate) fn expect_flows(&mut self, n: usize) {
        let n = n.max(self.entries.len());
        self.entries.resize(n, Entry::NEW);
        if self.aged {
            self.added.resize(n, Time::ZERO);
        }
        if self.shared {
            self.by.resize(n, 0);
        }
        for m in &mut self.members {
            m.records.resize(n, Record::NEW);
        }
    }

    /// Upper estimate of its memory in bytes for one link and so many flows.
    pub(crate) fn memory_bytes(&self, flows: usize) -> u64 {
        let entry = std::mem::size_of::<Entry>() + std::mem::size_of::<Record>();
        let more = 8 * usize::from(self.aged) + 2 * usize::from(self.shared);
        (flows as u64).saturating_mul((entry + more) as u64)
    }

    #[inline]
    fn is_closed(&self, mark: u32) -> bool {
        mark >= EPOCHS && self.epochs[(mark - EPOCHS) as usize].closed < Time::MAX
    }

    #[inline]
    fn slot(&self, at: Time) -> u64 {
        at.as_ps() >> self.shift
    }

    /// Whether a packet of the flow at `now` finds it on the list; if so, its silence ends.
    #[inline]
    pub(crate) fn refresh(&mut self, now: Time, flow: u32) -> bool {
        let Some(entry) = self.entries.get_mut(flow as usize) else {
            return false;
        };
        let (mark, last) = (entry.mark, entry.last());
        if mark == ABSENT {
            return false;
        }
        if now.since(last) > self.timeout || self.is_closed(mark) {
            self.leave(flow, now);
            return false;
        }
        self.entries[flow as usize].set_last(now);
        if self.slot(now) != self.slot(last) && self.tail != flow {
            self.unlink(flow);
            self.push(flow);
        }
        true
    }

    /// Puts an unlisted flow on the list if there is room.
    pub(crate) fn insert(&mut self, now: Time, member: u16, flow: u32) -> bool {
        self.sweep(now, 2);
        if self.size >= self.max {
            // In a list of strict order the first flow is silent for too long, or none is. Flushed
            // ones do not count, and each is met here once.
            while self.head != NIL && self.is_closed(self.entries[self.head as usize].mark) {
                self.leave(self.head, now);
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
        self.push(flow);
        self.record(member, flow).admissions += 1;
        true
    }

    /// Whether flows may be listed that have left, of which their mechanism will tell.
    pub(crate) fn hold(&mut self, held: bool) {
        self.held = held;
    }

    /// Whether one more flow finds no room, those included that have left unnoticed.
    pub(crate) fn is_full(&self) -> bool {
        self.size >= self.max
    }

    /// Takes up to `most` flows off the list that have been silent for too long.
    pub(crate) fn sweep(&mut self, now: Time, most: u32) {
        if self.held {
            return;
        }
        for _ in 0..most {
            let Some(entry) = self.entries.get(self.head as usize) else {
                return;
            };
            if now.since(entry.last()) <= self.timeout && !self.is_closed(entry.mark) {
                return;
            }
            self.leave(self.head, now);
        }
    }

    /// Notes that the link holds the flow to be elastic; true if it is listed and was not marked.
    #[inline]
    pub(crate) fn mark(&mut self, member: u16, flow: u32) -> bool {
        let own = EPOCHS + self.members[usize::from(member)].epoch;
        match self.entries.get_mut(flow as usize) {
            Some(e) if e.mark != ABSENT && e.mark != own => {
                let before = std::mem::replace(&mut e.mark, own);
                self.unmarked(before);
                self.members[usize::from(member)].marked += 1;
                true
            }
            _ => false,
        }
    }

    /// Takes the link's mark off a flow.
    pub(crate) fn unmark(&mut self, flow: u32) {
        let before = std::mem::replace(&mut self.entries[flow as usize].mark, LISTED);
        self.unmarked(before);
    }

    fn unmarked(&mut self, mark: u32) {
        if mark >= EPOCHS {
            let member = self.epochs[(mark - EPOCHS) as usize].member;
            self.members[usize::from(member)].marked -= 1;
        }
    }

    /// Whether the flow carries the mark of the link.
    #[inline]
    pub(crate) fn is_marked(&self, member: u16, flow: u32) -> bool {
        let own = EPOCHS + self.members[usize::from(member)].epoch;
        self.entries
            .get(flow as usize)
            .is_some_and(|e| e.mark == own)
    }

    /// Flows that carry the mark of the link.
    pub(crate) fn marked(&self, member: u16) -> u32 {
        self.members[usize::from(member)].marked
    }

    /// When a listed flow was listed; only in lists whose mechanisms ask.
    #[inline]
    pub(crate) fn added(&self, flow: u32) -> Time {
        self.added[flow as usize]
    }

    /// Removes all flows that carry the mark of the link.
    pub(crate) fn flush(&mut self, now: Time, member: u16) {
        let m = usize::from(member);
        if self.members[m].marked == 0 {
            return;
        }
        self.size -= self.members[m].marked;
        self.members[m].marked = 0;
        self.epochs[self.members[m].epoch as usize].closed = now;
        self.members[m].epoch = self.open(member);
    }

    /// Removes a flow that carries the mark of a link, on its account; false if its silence has
    /// done so before.
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

    /// Takes a flow off the list that was flushed, or silent for too long, and says why.
    fn leave(&mut self, flow: u32, now: Time) {
        let mark = self.entries[flow as usize].mark;
        let gone = self.gone(flow, now);
        if self.is_closed(mark) {
            // Its flush has counted it.
            self.unlink(flow);
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

    /// From here on the number belongs to another flow, which nobody knows.
    pub(crate) fn renew(&mut self, now: Time, flow: u32) {
        let i = flow as usize;
        match self.entries.get(i) {
            None => return,
            Some(entry) if entry.mark == ABSENT => {}
            Some(_) => self.leave(flow, now),
        }
        for m in &mut self.members {
            let record = std::mem::replace(&mut m.records[i], Record::NEW);
            if record.offered < Time::MAX {
                m.past.push((flow, record));
            }
        }
    }

    fn drop_entry(&mut self, flow: u32, mark: u32) {
        self.unlink(flow);
        self.unmarked(mark);
        self.entries[flow as usize].mark = ABSENT;
        self.size -= 1;
    }

    /// Whether a flow with an entry has left the list by `now`, and how.
    fn gone(&self, flow: u32, now: Time) -> Option<Gone> {
        let entry = self.entries.get(flow as usize)?;
        let epoch = match entry.mark {
            ABSENT => return None,
            LISTED => None,
            mark => Some(self.epochs[(mark - EPOCHS) as usize]),
        };
        let closed = epoch.map_or(Time::MAX, |e| e.closed);
        // What came first counts.
        if now.min(closed).since(entry.last()) > self.timeout {
            let by = self.by.get(flow as usize).copied().unwrap_or_default();
            return Some(Gone::TimedOut(by));
        }
        epoch
            .filter(|_| closed < Time::MAX)
            .map(|e| Gone::Removed(e.member))
    }

    fn push(&mut self, flow: u32) {
        let entry = &mut self.entries[flow as usize];
        entry.prev = self.tail;
        entry.next = NIL;
        match self.entries.get_mut(self.tail as usize) {
            Some(tail) => tail.next = flow,
            None => self.head = flow,
        }
        self.tail = flow;
    }

    fn unlink(&mut self, flow: u32) {
        #[cfg(test)]
        {
            self.work += 1;
        }
        let Entry { prev, next, .. } = self.entries[flow as usize];
        match self.entries.get_mut(prev as usize) {
            Some(e) => e.next = next,
            None => self.head = next,
        }
        match self.entries.get_mut(next as usize) {
            Some(e) => e.prev = prev,
            None => self.tail = prev,
        }
    }

    fn record(&mut self, member: u16, flow: u32) -> &mut Record {
        let i = flow as usize;
        if i >= self.entries.len() {
            self.expect_flows(i + 1);
        }
        &mut self.members[usize::from(member)].records[i]
    }

    /// Notes that a packet of the flow reached a link's admission control and passed.
    pub(crate) fn passed(&mut self, now: Time, member: u16, flow: u32) {
        let r = self.record(member, flow);
        r.offered = r.offered.min(now);
        r.admitted = r.admitted.min(now);
    }

    /// Notes that a packet of the flow was refused by a link.
    pub(crate) fn refused(&mut self, now: Time, member: u16, flow: u32) {
        let r = self.record(member, flow);
        r.offered = r.offered.min(now);
        r.refused_total += 1;
        r.refused += u64::from(r.admitted == Time::MAX);
    }

    /// Flows on the list at `now`. For gauges: it looks at all flows that have fallen silent since
    /// the last packets.
    pub(crate) fn listed(&self, now: Time) -> u32 {
        let Some(edge) = now.as_ps().checked_sub(self.timeout.as_ps()) else {
            return self.size;
        };
        let edge = self.slot(Time::from_ps(edge));
        let (mut size, mut at) = (self.size, self.head);
        while let Some(entry) = self.entries.get(at as usize) {
            if self.slot(entry.last()) > edge {
                break;
            }
            let silent = now.since(entry.last()) > self.timeout;
            size -= u32::from(silent && !self.is_closed(entry.mark));
            at = entry.next;
        }
        size
    }

    /// What a link has done to the flows that reached it until `now`, by flow and time.
    pub(crate) fn waits(&self, now: Time, member: u16) -> Vec<Wait> {
        let m = &self.members[usize::from(member)];
        let wait = |flow: u32, r: &Record| Wait {
            flow,
            offered: r.offered,
            admitted: (r.admitted < Time::MAX).then_some(r.admitted),
            refused: r.refused,
            refused_total: r.refused_total,
            admissions: r.admissions,
            removals: r.removals,
            timeouts: r.timeouts,
        };
        let known = (0..).zip(&m.records).filter(|(_, r)| r.offered < Time::MAX);
        let present = known.map(|(flow, r)| {
            let gone = self.gone(flow, now);
            let removed = matches!(gone, Some(Gone::Removed(by)) if by == member);
            let timed_out = matches!(gone, Some(Gone::TimedOut(by)) if by == member);
            let mut found = wait(flow, r);
            found.removals += u32::from(removed);
            found.timeouts += u32::from(timed_out);
            found
        });
        let past = m.past.iter().map(|(flow, r)| wait(*flow, r));
        let mut all: Vec<Wait> = past.chain(present).collect();
        all.sort_by_key(|w| (w.flow, w.offered));
        all
    }
}

#[cfg(test)]
mod tests;
