//! Waiting packets at a port with known departures.
//!
//! Packets of one length that wait are counted together: without that D50 takes 1.15 of its
//! instructions, a parking lot 1.12.

use std::collections::VecDeque;

use spillgate_core::{Dur, Time};

/// The packets that wait, in runs of equal lengths.
///
/// A busy server takes packets of one run a transmission time apart, so the time when it is free
/// tells how many of the last run still wait, without a record of any packet. Packets of one length
/// are a single run, and earlier runs are stored elsewhere: at most ports of a large network
/// packets wait seldom, and nothing is in the cache.
pub(super) struct Waiting {
    /// How long the link takes to send each packet of the last run.
    tx: Dur,
    /// When the first packet of the last run that had to wait is served; [`Time::MAX`] if none had
    /// to.
    since: Time,
    before: Option<Box<Before>>,
    max_bytes: u64,
    max_packets: u32,
    /// Bytes of each packet of the last run.
    len: u32,
}

/// Earlier runs with packets that may still wait.
#[derive(Default)]
struct Before {
    runs: VecDeque<Run>,
    /// When their first packet is served; any time if there is none.
    next: Time,
    packets: u32,
    bytes: u64,
}

/// Packets of one length that wait one behind the other.
struct Run {
    tx: Dur,
    len: u32,
    packets: u32,
}

impl Waiting {
    /// An empty queue with room for this many packets and bytes; packets have `len` bytes and take
    /// `tx` to send.
    pub(super) fn new((max_packets, max_bytes): (u32, u64), len: u32, tx: Dur) -> Self {
        Self {
            tx,
            since: Time::MAX,
            before: None,
            max_bytes,
            max_packets,
            len,
        }
    }

    /// At `now`, while the server is busy until `free_at`, packets of `len` bytes begin, which take
    /// `tx` to send. Returns whether they are another run.
    pub(super) fn turn(&mut self, now: Time, free_at: Time, len: u32, tx: Dur) -> bool {
        if len == self.len {
            return false;
        }
        let packets = self.packets_of_last(now, free_at);
        if packets > 0 {
            let run = Run {
                tx: self.tx,
                len: self.len,
                packets,
            };
            let before = self.before.get_or_insert_default();
            // No earlier packet is left once one of the last run is served.
            before.forget(now);
            before.push(run, free_at);
        }
        (self.len, self.tx, self.since) = (len, tx, Time::MAX);
        true
    }

    /// A packet as long as the others of the last run is served at `start`.
    #[inline]
    pub(super) fn push(&mut self, start: Time) {
        self.since = self.since.min(start);
    }

    /// Packets and bytes that wait at `now`, while the server is busy until `free_at`.
    #[inline]
    pub(super) fn backlog(&mut self, now: Time, free_at: Time) -> (u32, u64) {
        let packets = self.packets_of_last(now, free_at);
        let bytes = u64::from(packets) * u64::from(self.len);
        match &mut self.before {
            None => (packets, bytes),
            Some(before) => {
                before.forget(now);
                (packets + before.packets, bytes + before.bytes)
            }
        }
    }

    /// Whether there is room for a packet of `len` bytes behind this backlog.
    #[inline]
    pub(super) fn has_room(&self, (packets, bytes): (u32, u64), len: u32) -> bool {
        packets < self.max_packets && bytes.saturating_add(len.into()) <= self.max_bytes
    }

    /// The longest wait with which a packet still finds room, if all are of [one
    /// run](Self::is_one_run).
    pub(super) fn room(&self) -> Dur {
        // It finds one packet for each transmission that begins after its arrival.
        let packets = u64::from(self.max_packets).min(self.max_bytes / u64::from(self.len.max(1)));
        Dur::from_ps(packets.saturating_mul(self.tx.as_ps()))
    }

    /// Whether all packets that wait at `now`, or will wait while lengths do not change, are of one
    /// run, and no other packet is in transmission.
    #[inline]
    pub(super) fn is_one_run(&self, now: Time) -> bool {
        self.since <= now
    }

    /// Bytes of each packet of the last run.
    pub(super) fn len(&self) -> u32 {
        self.len
    }

    /// How many of the last run are served after `now`.
    #[inline]
    fn packets_of_last(&self, now: Time, free_at: Time) -> u32 {
        // At one instant departures precede arrivals.
        let first = self.since.as_ps().max(now.as_ps().saturating_add(1));
        let span = free_at.as_ps().saturating_sub(first);
        if span < self.tx.as_ps() {
            return 0;
        }
        (span / self.tx.as_ps()) as u32
    }
}

impl Before {
    /// Adds a run whose last packet is sent by `end`.
    fn push(&mut self, run: Run, end: Time) {
        if self.runs.is_empty() {
            let all = run.tx * u64::from(run.packets);
            self.next = Time::ZERO + end.since(Time::ZERO + all);
        }
        self.packets += run.packets;
        self.bytes += u64::from(run.packets) * u64::from(run.len);
        self.runs.push_back(run);
    }

    /// Forgets the packets that are served by `now`.
    #[inline]
    fn forget(&mut self, now: Time) {
        if self.next <= now && self.packets > 0 {
            self.forget_some(now);
        }
    }

    #[inline(never)]
    fn forget_some(&mut self, now: Time) {
        while self.next <= now {
            let Some(run) = self.runs.front_mut() else {
                return;
            };
            let others = run.tx * u64::from(run.packets - 1);
            let started = if self.next + others <= now {
                run.packets
            } else {
                1 + (now.since(self.next).as_ps() / run.tx.as_ps()) as u32
            };
            self.next += run.tx * u64::from(started);
            self.packets -= started;
            self.bytes -= u64::from(started) * u64::from(run.len);
            run.packets -= started;
            if run.packets == 0 {
                self.runs.pop_front();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// It agrees with a queue that has a record of each packet, at every arrival and at some,
        /// including refused packets.
        #[test]
        fn it_is_a_queue(
            steps in prop::collection::vec((0..3_u32, 0..30_u64, 0..4_u8, any::<bool>()), 1..200)
        ) {
            let of = |len: u32| Dur::from_ps(5 * u64::from(len) + 3);
            let mut waiting = Waiting::new((u32::MAX, u64::MAX), 0, of(0));
            let (mut queue, mut now, mut free_at) = (VecDeque::new(), Time::ZERO, Time::ZERO);
            for (len, step, refused, look) in steps {
                now += Dur::from_ps(step);
                while queue.front().is_some_and(|&(start, _)| start <= now) {
                    queue.pop_front();
                }
                waiting.turn(now, free_at, len, of(len));
                let others = queue.iter().any(|&(_, l)| l != len);
                prop_assert!(!others || !waiting.is_one_run(now));
                if look {
                    let bytes = queue.iter().map(|&(_, l)| u64::from(l)).sum();
                    let expected = (queue.len() as u32, bytes);
                    prop_assert_eq!(waiting.backlog(now, free_at), expected);
                }
                if refused == 0 {
                    continue;
                }
                if free_at > now {
                    waiting.push(free_at);
                    queue.push_back((free_at, len));
                }
                free_at = free_at.max(now) + of(len);
            }
        }
    }
}
