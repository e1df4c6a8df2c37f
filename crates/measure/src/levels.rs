//! How long a queue holds how much: percentiles of a backlog by time.
//!
//! The backlog is a step function. At each step the time since the step before is added to the
//! weight of the level that held, so that a percentile is that of an instant drawn evenly from the
//! measured period, as a sampler with an ever shorter period would find it; levels that hold for no
//! time count for nothing. Levels are cut into buckets as the values of a
//! [`Histogram`](crate::Histogram); weights are whole picoseconds and their sums exact. Level 0 has
//! no weight of its own: it holds the rest of the period.
//!
//! O(1) for each packet; it allocates when it sees a level above or below all others.

use std::collections::VecDeque;

use spillgate_core::{Dur, Time};

use crate::histogram::{bounds, bucket_of, rank};

/// The levels of a queue within a period, in packets and bytes.
///
/// ```
/// use spillgate_core::Time;
/// use spillgate_measure::Levels;
///
/// let at = Time::from_ps;
/// let mut levels = Levels::new(8, at(100), at(200));
/// levels.set(at(90), 1, 500);
/// levels.set(at(160), 3, 1500);
/// levels.set(at(190), 0, 0);
/// levels.close();
/// // 10 ps empty, 60 ps at 1 packet, 30 ps at 3.
/// assert_eq!(levels.packets(0.1), 0.0);
/// assert_eq!(levels.packets(0.7), 1.0);
/// assert_eq!(levels.packets(0.71), 3.0);
/// ```
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Levels {
    // What a packet touches comes first: of most queues of a large network, at which one packet
    // now and then waits for another, nothing is in the cache.
    /// Until when time has been counted.
    last: Time,
    end: Time,
    packets: u64,
    bytes: u64,
    /// When the first packet will leave that has told so, and its bytes; [`Time::MAX`] for none.
    next: Time,
    next_bytes: u32,
    /// Times that are not in the buckets yet.
    recent: [Held; 2],
    /// The packets behind the first.
    behind: VecDeque<(Time, u32)>,
    by_packets: Weights,
    by_bytes: Weights,
    start: Time,
}

/// How long a level has held.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    packets: u64,
    bytes: u64,
    time: u64,
}

impl Levels {
    /// An empty queue, measured from `start` to `end`, with 2^`bits` buckets per octave (3..=10):
    /// levels below 2^(`bits` + 1) are exact, a percentile above is off by at most 2^-`bits` of
    /// itself.
    pub fn new(bits: u8, start: Time, end: Time) -> Self {
        Self {
            last: start,
            end,
            packets: 0,
            bytes: 0,
            next: Time::MAX,
            next_bytes: 0,
            recent: [Held::default(); 2],
            behind: VecDeque::new(),
            by_packets: Weights::new(bits),
            by_bytes: Weights::new(bits),
            start,
        }
    }

    /// From `now` on the backlog is this. `now` must not decrease.
    #[inline]
    pub fn set(&mut self, now: Time, packets: u64, bytes: u64) {
        self.hold(now);
        (self.packets, self.bytes) = (packets, bytes);
    }

    /// A packet of `bytes` comes at `now` and leaves at `until`, after those before it.
    #[inline]
    pub fn wait(&mut self, now: Time, until: Time, bytes: u32) {
        self.leave(now);
        self.set(now, self.packets + 1, self.bytes + u64::from(bytes));
        if self.next < Time::MAX {
            self.behind.push_back((until, bytes));
        } else {
            (self.next, self.next_bytes) = (until, bytes);
        }
    }

    /// All up to the end of the period is counted; percentiles are known then.
    pub fn close(&mut self) {
        self.leave(self.end);
        self.hold(self.end);
        for held in std::mem::take(&mut self.recent) {
            self.sort_in(held);
        }
    }

    /// The packets leave that are to leave by `now`.
    #[inline]
    fn leave(&mut self, now: Time) {
        while self.next <= now && self.next < Time::MAX {
            let left = self.bytes - u64::from(self.next_bytes);
            self.set(self.next, self.packets - 1, left);
            let behind = self.behind.pop_front();
            (self.next, self.next_bytes) = behind.unwrap_or((Time::MAX, 0));
        }
    }

    /// The present backlog has held until `now`.
    #[inline]
    fn hold(&mut self, now: Time) {
        let now = now.min(self.end);
        let time = now.since(self.last).as_ps();
        if time == 0 {
            return;
        }
        self.last = now;
        if self.packets == 0 {
            return;
        }
        // A queue alternates between two levels for a while.
        let held = &mut self.recent[(self.packets & 1) as usize];
        if (held.packets, held.bytes) == (self.packets, self.bytes) {
            held.time += time;
            return;
        }
        let (packets, bytes) = (self.packets, self.bytes);
        let before = std::mem::replace(
            held,
            Held {
                packets,
                bytes,
                time,
            },
        );
        self.sort_in(before);
    }

    fn sort_in(&mut self, held: Held) {
        if held.time > 0 {
            self.by_packets.add(held.packets, held.time);
            self.by_bytes.add(held.bytes, held.time);
        }
    }

    /// The smallest number of packets that was not exceeded in a share of `q` of the period, once
    /// it is [closed](Self::close).
    pub fn packets(&self, q: f64) -> f64 {
        self.by_packets.quantile(q, self.end.since(self.start))
    }

    /// The same of bytes.
    pub fn bytes(&self, q: f64) -> f64 {
        self.by_bytes.quantile(q, self.end.since(self.start))
    }
}

/// Levels above 0 in buckets, with weights.
#[derive(Clone, Debug)]
struct Weights {
    all: Vec<u64>,
    /// The bucket of `all[0]`.
    offset: u32,
    bits: u8,
}

impl Weights {
    /// Buckets for which room is made at once.
    const STEP: u32 = 16;

    fn new(bits: u8) -> Self {
        Self {
            all: Vec::new(),
            offset: 0,
            bits: bits.clamp(3, 10),
        }
    }

    #[inline]
    fn add(&mut self, level: u64, weight: u64) {
        let bucket = bucket_of(level, self.bits);
        // Below the offset this wraps to beyond the end.
        match self.all.get_mut(bucket.wrapping_sub(self.offset) as usize) {
            Some(w) => *w += weight,
            None => self.add_anew(bucket, weight),
        }
    }

    #[cold]
    fn add_anew(&mut self, bucket: u32, weight: u64) {
        let first = bucket - bucket % Self::STEP;
        if self.all.is_empty() {
            self.offset = first;
        }
        if first < self.offset {
            let more = (self.offset - first) as usize;
            self.all.splice(..0, std::iter::repeat_n(0, more));
            self.offset = first;
        }
        let need = (first + Self::STEP - self.offset) as usize;
        if need > self.all.len() {
            self.all.resize(need.max(self.all.len() * 3 / 2), 0);
        }
        self.all[(bucket - self.offset) as usize] += weight;
    }

    /// The `q`-quantile of the levels of a time of which level 0 has what is left; NaN for no time.
    fn quantile(&self, q: f64, time: Dur) -> f64 {
        let time = time.as_ps();
        if time == 0 {
            return f64::NAN;
        }
        let rank = rank(q, time);
        let mut below = time - self.all.iter().sum::<u64>();
        if rank <= below {
            return 0.0;
        }
        for (bucket, &weight) in (self.offset..).zip(&self.all) {
            if below + weight >= rank {
                let (low, width) = bounds(bucket, self.bits);
                let share = (rank - below) as f64 / weight as f64;
                return low as f64 + (width - 1) as f64 * share;
            }
            below += weight;
        }
        f64::NAN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ps: u64) -> Time {
        Time::from_ps(ps)
    }

    /// The `q`-quantile of a list with one level for each picosecond.
    fn of_list(mut levels: Vec<u64>, q: f64) -> u64 {
        levels.sort_unstable();
        levels[rank(q, levels.len() as u64) as usize - 1]
    }

    #[test]
    fn a_level_that_holds_for_no_time_does_not_count() {
        let mut levels = Levels::new(8, at(0), at(100));
        levels.set(at(40), 7, 7);
        levels.set(at(40), 0, 0);
        levels.close();
        assert_eq!(levels.packets(1.0), 0.0);
        assert!(Levels::new(8, at(5), at(5)).packets(0.5).is_nan());
    }

    proptest! {
        /// Packets come and leave in order, within the period, before and after it: as a list with
        /// the level of each picosecond says. Told of departures at arrival or at departure it is
        /// the same.
        #[test]
        fn percentiles_are_those_of_a_list(
            steps in prop::collection::vec((0..20_u64, 0..30_u64, 40..2000_u32), 1..60),
            start in 0..200_u64,
            length in 1..300_u64,
            percent in 0..=100_u32,
        ) {
            let (mut now, mut last) = (0, 0);
            let mut stays = Vec::new();
            for (gap, stay, bytes) in steps {
                now += gap;
                last = last.max(now + stay);
                stays.push((now, last, bytes));
            }
            let end = start + length;
            let mut told = Levels::new(8, at(start), at(end));
            for &(from, to, bytes) in &stays {
                told.wait(at(from), at(to), bytes);
            }
            told.close();
            let held = |t: u64| {
                let there = stays.iter().filter(move |s| s.0 <= t && t < s.1);
                there.fold((0, 0), |(n, sum), s| (n + 1, sum + u64::from(s.2)))
            };
            let mut seen = Levels::new(8, at(start), at(end));
            let mut changes: Vec<_> = stays.iter().flat_map(|s| [s.0, s.1]).collect();
            changes.sort_unstable();
            for t in changes {
                let (packets, bytes) = held(t);
                seen.set(at(t), packets, bytes);
            }
            seen.close();
            let q = f64::from(percent) / 100.0;
            let exact = of_list((start..end).map(|t| held(t).0).collect(), q);
            prop_assert_eq!(told.packets(q), exact as f64);
            prop_assert_eq!(seen.packets(q), exact as f64);
            let exact = of_list((start..end).map(|t| held(t).1).collect(), q) as f64;
            prop_assert!((told.bytes(q) - exact).abs() <= exact / 256.0, "{} {}", told.bytes(q), exact);
            prop_assert_eq!(told.bytes(q).to_bits(), seen.bytes(q).to_bits());
        }
    }
}
