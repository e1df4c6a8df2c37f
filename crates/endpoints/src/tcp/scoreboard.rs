//! What is outstanding and what is known of it (RFC 6675 §3, RFC 8985 §5.2).
//!
//! One record per segment in a ring that grows to the largest window and
//! stays, the selectively acknowledged ranges, and three sums from which the
//! data in flight follow without a scan.
//!
//! What an acknowledgment costs does not depend on the window. Every position
//! from which a search goes on only moves forward until a timeout; what may go
//! back has a list of its own: copies in the order in which they left, and
//! what is to be sent again. Entries of these lists that events have overtaken
//! are passed over where they come up.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use spillgate_core::{Dur, Time};

use super::reassembly::Ranges;
use super::segment::Segment;

const SACKED: u8 = 1;
/// Deemed lost.
const LOST: u8 = 2;
/// Sent again and that copy not deemed lost.
const RESENT: u8 = 4;
/// Ever sent again: its acknowledgment is ambiguous.
const AMBIGUOUS: u8 = 8;

/// A segment in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) seq: u64,
    /// When it was sent last.
    pub(super) at: Time,
    /// Sequence numbers it takes, FIN included.
    pub(super) len: u16,
    flags: u8,
}

const _: () = assert!(std::mem::size_of::<Sent>() <= 24);

impl Sent {
    pub(super) fn end(&self) -> u64 {
        self.seq + u64::from(self.len)
    }

    fn is(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Whether it may still arrive: none if it left before `newest`, and `after` or longer ago,
    /// else when that is due ([`Time::MAX`] unless it left before).
    fn spared(&self, newest: (Time, u64), after: Dur, now: Time) -> Option<Time> {
        if (self.at, self.end()) >= newest {
            return Some(Time::MAX);
        }
        let due = self.at + after;
        (due > now).then_some(due)
    }
}

/// State of the delivery rate estimator when a segment was sent
/// (draft-cheng-iccrg-delivery-rate-estimation §3.1.2).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Snapshot {
    pub(super) delivered: u64,
    pub(super) delivered_at: Time,
    pub(super) first_sent: Time,
    pub(super) app_limited: bool,
}

/// What one acknowledgment newly delivered.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delivered {
    /// Bytes.
    pub(super) bytes: u64,
    /// The segment sent last among them: when, its end, and whether it was sent more than once.
    pub(super) newest: Option<(Time, u64, bool)>,
    /// When the last one among those sent only once was sent.
    pub(super) unambiguous: Option<Time>,
    /// The lowest end of a segment delivered that was sent only once.
    pub(super) lowest_first: Option<u64>,
    /// The estimator's state when the newest was sent.
    pub(super) snapshot: Snapshot,
    /// Whether something was reported twice (RFC 2883).
    pub(super) duplicate: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Scoreboard {
    ring: VecDeque<Sent>,
    /// Parallel to the ring where delivery rates are asked for, else empty.
    snapshots: VecDeque<Snapshot>,
    keep_snapshots: bool,
    sacked: Ranges,
    pub(super) sacked_bytes: u64,
    /// Lost, whether sent again or not.
    pub(super) lost_bytes: u64,
    /// Sent again, the copy in flight.
    pub(super) resent_bytes: u64,
    /// When copies left and where they begin, by time and then number; may hold stale entries.
    copies: VecDeque<(Time, u64)>,
    /// Where the segments begin that are lost and not yet sent again; may hold stale entries.
    to_resend: BinaryHeap<Reverse<u64>>,
    /// No original below is in flight.
    aged: u64,
    /// Below, everything that is not acknowledged has been marked lost.
    judged: u64,
    /// Between the one above and here everything has arrived or been sent again.
    hole_from: u64,
}

impl Scoreboard {
    pub(super) fn new(keep_snapshots: bool) -> Self {
        Self {
            keep_snapshots,
            ..Self::default()
        }
    }

    /// New data or FIN left.
    pub(super) fn push(&mut self, seq: u64, len: u16, at: Time, snapshot: Snapshot) {
        self.ring.push_back(Sent {
            seq,
            at,
            len,
            flags: 0,
        });
        if self.keep_snapshots {
            self.snapshots.push_back(snapshot);
        }
    }

    /// Segment `i` left again.
    pub(super) fn resent(&mut self, i: usize, at: Time, snapshot: Snapshot) {
        let s = &mut self.ring[i];
        if !s.is(RESENT) {
            self.resent_bytes += u64::from(s.len);
        }
        s.flags |= RESENT | AMBIGUOUS;
        s.at = at;
        let copy = (at, s.seq);
        // Time never goes back, so at most those that left at the same instant come after.
        let after = self.copies.iter().rev().take_while(|c| {
            step();
            **c > copy
        });
        let place = self.copies.len() - after.count();
        self.copies.insert(place, copy);
        if self.keep_snapshots {
            self.snapshots[i] = snapshot;
        }
    }

    /// When the first outstanding segment was sent last.
    pub(super) fn head_sent(&self) -> Option<Time> {
        self.ring.front().map(|s| s.at)
    }

    pub(super) fn get(&self, i: usize) -> Sent {
        self.ring[i]
    }

    pub(super) fn last(&self) -> Option<usize> {
        self.ring.len().checked_sub(1)
    }

    /// The last segment, unless it was delivered, sent again or deemed lost.
    pub(super) fn untouched_tail(&self) -> Option<usize> {
        let s = self.ring.back()?;
        (s.flags & (SACKED | RESENT | LOST) == 0).then(|| self.ring.len() - 1)
    }

    /// The segment that holds `n`, or the first beyond.
    fn index_of(&self, n: u64) -> usize {
        let Some(first) = self.ring.front().filter(|s| s.seq <= n) else {
            return 0;
        };
        // Nearly all segments are as long as the first.
        if first.len > 0 {
            let guess = ((n - first.seq) / u64::from(first.len)) as usize;
            if let Some(s) = self.ring.get(guess) {
                if s.seq <= n && n < s.end() {
                    return guess;
                }
            }
        }
        self.ring.partition_point(|s| s.end() <= n)
    }

    /// The highest number selectively acknowledged.
    pub(super) fn highest_sacked(&self) -> Option<u64> {
        self.sacked.end()
    }

    /// Takes in an acknowledgment while `max` is beyond what was ever sent.
    pub(super) fn update(&mut self, seg: &Segment, max: u64) -> Delivered {
        let mut d = Delivered::default();
        self.acknowledge(seg.ack, &mut d);
        let mut blocks = seg.sack.iter(seg.ack).peekable();
        let mut first = true;
        while let Some((start, end)) = blocks.next() {
            // RFC 2883 §4: below the acknowledgment, or inside the second block.
            let inner = std::mem::take(&mut first)
                && blocks.peek().is_some_and(|b| b.0 <= start && end <= b.1);
            if end <= seg.ack || inner {
                d.duplicate = true;
            } else {
                self.sack(start.max(seg.ack), end.min(max), &mut d);
            }
        }
        self.oldest_copy(); // lets go of what has arrived
        d
    }

    /// Takes what lies below `una` off the board.
    fn acknowledge(&mut self, una: u64, out: &mut Delivered) {
        while let Some(&s) = self.ring.front() {
            if s.end() > una {
                break;
            }
            step();
            self.ring.pop_front();
            let snapshot = self.snapshots.pop_front().unwrap_or_default();
            let len = u64::from(s.len);
            if s.is(SACKED) {
                self.sacked_bytes -= len;
                continue;
            }
            self.forget(s);
            note(out, s, snapshot);
        }
        self.sacked.drop_below(una);
    }

    /// A segment arrived: no copy of it counts as lost or in flight any more.
    fn forget(&mut self, s: Sent) {
        let len = u64::from(s.len);
        if s.is(LOST) {
            self.lost_bytes -= len;
        }
        if s.is(RESENT) {
            self.resent_bytes -= len;
        }
    }

    /// Marks what `start..end` covers completely as delivered.
    fn sack(&mut self, start: u64, end: u64, out: &mut Delivered) {
        let mut at = start;
        while at < end {
            step();
            if let Some((_, upto)) = self.sacked.containing(at) {
                at = upto;
                continue;
            }
            let i = self.index_of(at);
            let Some(&s) = self.ring.get(i) else { return };
            if s.seq >= at && s.end() <= end {
                self.forget(s);
                self.ring[i].flags = SACKED | (s.flags & AMBIGUOUS);
                self.sacked_bytes += u64::from(s.len);
                self.sacked.insert(s.seq, s.end());
                note(out, s, self.snapshots.get(i).copied().unwrap_or_default());
            }
            at = s.end();
        }
    }

    /// IsLost (RFC 6675 §4): marks what lies below `thresh` separate ranges or more than
    /// `thresh - 1` segments of acknowledged bytes.
    pub(super) fn judge(&mut self, thresh: u32, mss: u64) {
        let mut above = 0;
        let mut edge = 0;
        for (n, r) in self.sacked.iter().rev().enumerate() {
            above += r.1 - r.0;
            if n + 1 >= thresh as usize || above > u64::from(thresh - 1) * mss {
                edge = r.0;
                break;
            }
        }
        if edge <= self.judged {
            return;
        }
        let mut i = self.index_of(self.judged);
        while let Some(s) = self.ring.get(i) {
            if s.seq >= edge {
                break;
            }
            step();
            if !s.is(LOST) {
                self.lose(i);
            }
            i += 1;
        }
        self.judged = edge;
    }

    /// Marks segment `i` lost unless it arrived or already is; a lost copy counts anew.
    pub(super) fn lose(&mut self, i: usize) {
        let s = &mut self.ring[i];
        if s.is(SACKED) || s.flags & (LOST | RESENT) == LOST {
            return;
        }
        let len = u64::from(s.len);
        if s.is(RESENT) && s.is(LOST) {
            self.resent_bytes -= len;
            s.flags &= !RESENT;
        } else if !s.is(LOST) {
            self.lost_bytes += len;
            s.flags |= LOST;
        }
        if !s.is(RESENT) {
            self.to_resend.push(Reverse(s.seq));
        }
    }

    /// Marks the first outstanding segment lost.
    pub(super) fn lose_first(&mut self) {
        if let Some(s) = self.ring.front() {
            if !s.is(RESENT) {
                self.lose(0);
            }
        }
    }

    /// After a timeout everything that is not acknowledged is lost (RFC 6675 §5.1).
    pub(super) fn lose_all(&mut self) {
        self.copies.clear();
        self.to_resend.clear();
        for s in self.ring.iter_mut().filter(|s| !s.is(SACKED)) {
            let len = u64::from(s.len);
            if s.is(RESENT) {
                self.resent_bytes -= len;
            }
            if !s.is(LOST) {
                self.lost_bytes += len;
            }
            s.flags = (s.flags | LOST) & !RESENT;
            self.to_resend.push(Reverse(s.seq));
        }
        self.judged = self.ring.back().map_or(self.judged, Sent::end);
        self.aged = self.judged;
    }

    /// The first segment that is lost and was not sent again since.
    pub(super) fn next_lost(&mut self) -> Option<usize> {
        if self.lost_bytes == 0 {
            self.to_resend.clear();
        }
        while let Some(&Reverse(seq)) = self.to_resend.peek() {
            step();
            let i = self.index_of(seq);
            let s = self.ring.get(i);
            if s.is_some_and(|s| s.seq == seq && s.flags & (LOST | RESENT) == LOST) {
                return Some(i);
            }
            self.to_resend.pop();
        }
        None
    }

    /// The first segment below the highest selective acknowledgment that is
    /// not known to be lost and was not sent again: rule 3 of NextSeg (RFC 6675 §4).
    ///
    /// Not for use with [`Scoreboard::lose_older`], which also calls copies lost.
    pub(super) fn next_hole(&mut self) -> Option<usize> {
        let highest = self.highest_sacked()?;
        self.hole_from = self.hole_from.max(self.judged);
        let mut i = self.index_of(self.hole_from);
        while let Some(s) = self.ring.get(i).filter(|s| s.seq < highest) {
            step();
            if s.flags & (SACKED | RESENT) == 0 {
                return Some(i);
            }
            self.hole_from = s.end();
            i += 1;
        }
        None
    }

    /// Marks lost what was sent before the segment that left at `newest.0` and ends at `newest.1`,
    /// and `after` or longer ago; when the next one will be due, [`Time::MAX`] if none.
    ///
    /// Originals lie in the ring in the order in which they left, copies in a list of their own:
    /// each search ends with the first in flight that is too young.
    pub(super) fn lose_older(&mut self, newest: (Time, u64), after: Dur, now: Time) -> Time {
        let mut timer = Time::MAX;
        let mut i = self.index_of(self.aged);
        while let Some(&s) = self.ring.get(i) {
            step();
            if s.flags & (SACKED | LOST | AMBIGUOUS) == 0 {
                if let Some(due) = s.spared(newest, after, now) {
                    timer = due;
                    break;
                }
                self.lose(i);
            }
            self.aged = s.end();
            i += 1;
        }
        while let Some(i) = self.oldest_copy() {
            if let Some(due) = self.ring[i].spared(newest, after, now) {
                return timer.min(due);
            }
            self.lose(i);
            // A copy never deemed lost before is marked in two steps: original, then copy.
            if self.ring[i].is(RESENT) {
                self.lose(i);
            }
        }
        timer
    }

    /// The segment of which a copy has been in flight for longest.
    fn oldest_copy(&mut self) -> Option<usize> {
        while let Some(&(at, seq)) = self.copies.front() {
            step();
            let i = self.index_of(seq);
            let s = self.ring.get(i);
            if s.is_some_and(|s| (s.at, s.seq) == (at, seq) && s.is(RESENT)) {
                return Some(i);
            }
            self.copies.pop_front();
        }
        None
    }

    /// Forgets everything but keeps the memory.
    pub(super) fn clear(&mut self) {
        self.ring.clear();
        self.snapshots.clear();
        self.sacked.clear();
        (self.sacked_bytes, self.lost_bytes, self.resent_bytes) = (0, 0, 0);
        self.copies.clear();
        self.to_resend.clear();
        (self.aged, self.judged, self.hole_from) = (0, 0, 0);
    }
}

fn note(out: &mut Delivered, s: Sent, snapshot: Snapshot) {
    out.bytes += u64::from(s.len);
    let ambiguous = s.is(AMBIGUOUS);
    if out
        .newest
        .is_none_or(|(at, end, _)| (at, end) < (s.at, s.end()))
    {
        out.newest = Some((s.at, s.end(), ambiguous));
        out.snapshot = snapshot;
    }
    if !ambiguous {
        out.unambiguous = out.unambiguous.max(Some(s.at));
        if out.lowest_first.is_none_or(|e| s.end() < e) {
            out.lowest_first = Some(s.end());
        }
    }
}

/// One step of a search; tests count them.
#[inline]
fn step() {
    #[cfg(test)]
    tests::STEPS.with(|n| n.set(n.get() + 1));
}

#[cfg(test)]
#[path = "scoreboard_tests.rs"]
mod tests;
