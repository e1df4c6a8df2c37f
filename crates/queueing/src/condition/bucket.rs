//! The token bucket that meters, policers and shapers share.

use spillgate_core::time::PS_PER_SEC;
use spillgate_core::{Rate, Time};

use crate::evidence::BucketLevel;

/// Token units per byte: at b bits per second one picosecond brings b units, so
/// a refill is exact for every rate and interval.
pub(super) const UNITS: u128 = 8 * PS_PER_SEC as u128;

/// The tokens that `bytes` cost.
#[inline]
fn tokens(bytes: u64) -> i128 {
    (u128::from(bytes) * UNITS) as i128
}

/// A bucket that fills at `rate` up to a burst and starts full.
#[derive(Clone, Debug)]
pub(crate) struct TokenBucket {
    /// Tokens at `at`; negative after a packet that was charged without a check.
    level: i128,
    full: i128,
    bps: u64,
    at: Time,
    /// Packets may leave while the tokens are not negative.
    owes: bool,
}

impl TokenBucket {
    pub(crate) fn new(rate: Rate, burst_bytes: u64) -> Self {
        let full = tokens(burst_bytes);
        Self {
            level: full,
            full,
            bps: rate.bps(),
            at: Time::ZERO,
            owes: false,
        }
    }

    /// A bucket that lets a packet go while its tokens are not negative (Linux `htb`).
    pub(crate) fn owing(rate: Rate, burst_bytes: u64) -> Self {
        Self {
            owes: true,
            ..Self::new(rate, burst_bytes)
        }
    }

    /// The rate at which it fills, in b/s.
    pub(crate) fn rate(&self) -> u64 {
        self.bps
    }

    /// How deep it is, in bytes.
    pub(crate) fn burst(&self) -> u64 {
        (self.full as u128 / UNITS) as u64
    }

    /// Whether packets leave while its tokens are not negative.
    pub(crate) fn owes(&self) -> bool {
        self.owes
    }

    /// The tokens that there must be before `len` bytes leave.
    #[inline]
    fn needed(&self, len: u32) -> i128 {
        if self.owes { 0 } else { tokens(len.into()) }
    }

    #[inline]
    fn level(&self, now: Time) -> i128 {
        let gained = u128::from(now.since(self.at).as_ps()) * u128::from(self.bps);
        (self.level + gained as i128).min(self.full)
    }

    /// Whether the tokens at `now` pay for `len` bytes.
    #[inline]
    pub(crate) fn conforms(&self, now: Time, len: u32) -> bool {
        self.level(now) >= self.needed(len)
    }

    /// Whether a shaper lets `len` bytes go at `now`. A packet longer than the burst, which was
    /// queued before the burst became smaller, needs a full bucket.
    #[inline]
    pub(crate) fn lets_go(&self, now: Time, len: u32) -> bool {
        self.level(now) >= self.needed(len).min(self.full)
    }

    /// Takes rate and burst of the same bucket at another rate; one that is full stays full.
    pub(crate) fn retune(&mut self, now: Time, fresh: &Self) {
        let level = self.level(now);
        let was_full = level == self.full;
        (self.full, self.bps) = (fresh.full, fresh.bps);
        self.level = if was_full {
            self.full
        } else {
            level.min(self.full)
        };
        self.at = self.at.max(now);
    }

    /// Pays for `len` bytes, down to zero.
    #[inline]
    pub(crate) fn take(&mut self, now: Time, len: u32) {
        self.level = (self.level(now) - tokens(len.into())).max(0);
        self.at = self.at.max(now);
    }

    /// Pays for `len` bytes that have left, on credit if there are too few tokens: an AQM may have
    /// dropped the packet for which they sufficed, and a longer packet behind it was sent.
    #[inline]
    pub(crate) fn charge(&mut self, now: Time, len: u32) {
        self.level = self.level(now) - tokens(len.into());
        self.at = self.at.max(now);
    }

    /// Pays for `len` bytes if the tokens suffice.
    #[inline]
    pub(crate) fn try_take(&mut self, now: Time, len: u32) -> bool {
        let ok = self.conforms(now, len);
        if ok {
            self.take(now, len);
        }
        ok
    }

    /// The first instant at which a shaper lets `len` bytes go.
    pub(crate) fn ready_at(&self, len: u32) -> Time {
        let need = self.needed(len).min(self.full);
        let missing = (need - self.level).max(0) as u128;
        let wait = match u64::try_from(missing) {
            Ok(m) => m.div_ceil(self.bps),
            Err(_) => u64::try_from(missing.div_ceil(u128::from(self.bps))).unwrap_or(u64::MAX),
        };
        self.at + spillgate_core::Dur::from_ps(wait)
    }

    /// How full it is at `now`.
    pub(crate) fn describe(&self, now: Time) -> BucketLevel {
        BucketLevel {
            tokens: self.bytes(now),
            burst: self.burst(),
            bps: self.bps,
        }
    }

    /// Tokens at `now` in whole bytes.
    pub(crate) fn bytes(&self, now: Time) -> u64 {
        (self.level(now).max(0) as u128 / UNITS) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spillgate_core::Dur;

    fn bytes_per_sec(b: u64) -> Rate {
        Rate::from_bps(8 * b).unwrap()
    }

    fn ms(n: u64) -> Time {
        Time::ZERO + Dur::from_ms(n)
    }

    /// The policer vector: 1000 B/s, 3000 B; 1500 B at 0, 0, 0, 1.5 s.
    #[test]
    fn a_policer_spends_its_burst_then_its_rate() {
        let mut b = TokenBucket::new(bytes_per_sec(1000), 3000);
        let got: Vec<_> = [0, 0, 0, 1500]
            .map(|t| (b.try_take(ms(t), 1500), b.bytes(ms(t))))
            .into();
        assert_eq!(got, [(true, 1500), (true, 0), (false, 0), (true, 0)]);
    }

    /// The vector of ns-3's TBF test: 5000 B/s, 5000 B, 1000 B every 0.1 s from 0.2 s.
    #[test]
    fn tokens_run_out_one_half_at_a_time() {
        let mut b = TokenBucket::new(bytes_per_sec(5000), 5000);
        let left: Vec<u64> = (2..=10)
            .map(|i| {
                assert!(b.try_take(ms(100 * i), 1000));
                b.bytes(ms(100 * i))
            })
            .collect();
        assert_eq!(left, [4000, 3500, 3000, 2500, 2000, 1500, 1000, 500, 0]);
        assert_eq!(b.bytes(ms(1100)), 500);
        assert!(!b.conforms(ms(1100), 1000));
        assert_eq!(b.ready_at(1000), ms(1200));
    }

    #[test]
    fn ready_is_the_first_conforming_picosecond() {
        // 3 b/s: one byte takes 8/3 s, which no whole number of picoseconds is.
        let mut b = TokenBucket::new(Rate::from_bps(3).unwrap(), 10);
        b.take(Time::ZERO, 10);
        let ready = b.ready_at(1);
        assert!(b.conforms(ready, 1));
        assert!(!b.conforms(Time::from_ps(ready.as_ps() - 1), 1));
        // More than the burst waits for a full bucket.
        assert_eq!(b.ready_at(11), b.ready_at(10));
        assert!(b.lets_go(b.ready_at(11), 11) && !b.lets_go(ready, 11));
    }

    /// 1000 B/s, 1500 B: the second packet finds 500 B, the third has to wait until 1500 B are paid
    /// back.
    #[test]
    fn htb_sends_while_tokens_are_not_negative() {
        let mut b = TokenBucket::owing(bytes_per_sec(1000), 1500);
        b.charge(ms(0), 1000);
        assert!(b.conforms(ms(0), 2000));
        b.charge(ms(0), 2000);
        assert!(!b.conforms(ms(1499), 1));
        assert_eq!(b.ready_at(9000), ms(1500));
        assert!(b.conforms(ms(1500), 9000));
    }

    #[test]
    fn a_long_wait_does_not_overflow() {
        let fast = Rate::from_bps(1_000_000_000_000_000).unwrap();
        let mut b = TokenBucket::new(fast, 1_000_000_000_000);
        b.take(Time::ZERO, u32::MAX);
        assert!(b.conforms(Time::MAX, u32::MAX));
    }
}
