//! The rate at which a queue drains, measured where its packets leave.
//!
//! Source: RFC 8033 §5.2; Linux 6.1, net/sched/sch_pie.c (`dq_rate_estimator`); ns-3.37,
//! pie-queue-disc.cc (`UseDequeueRateEstimator`).
//!
//! Idea: while enough is queued the server is always busy with this queue, so that the time in
//! which [`THRESHOLD`] bytes leave tells its rate, whoever it is shared with.

use spillgate_core::{Dur, Time};

/// A measurement begins while at least this many bytes are queued, and ends when as many have left
/// (RFC 8033 §5.2: 2^14 B).
const THRESHOLD: u64 = 1 << 14;

/// How measurements follow each other, and how they are averaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DrainRule {
    /// RFC 8033 §5.2: each begins with the departure of a packet, which counts, although its
    /// transmission was before. The times that they take are averaged, with a weight of a quarter.
    Rfc8033,
    /// Linux 6.1: each begins where the one before ended, as long as enough is queued. The rates
    /// are averaged, with a weight of an eighth.
    Linux,
    /// ns-3.37: each begins where the one before ended, as long as more than enough is queued. The
    /// rates are averaged, with a weight of a half.
    Ns3,
}

/// The drain rate of one queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DrainRate {
    /// When the measurement began; [`Time::MAX`] outside of one.
    since: Time,
    /// Bytes that have left in it.
    bytes: u64,
    /// Bytes a second; 0 before the first measurement has ended.
    average: f64,
}

impl DrainRate {
    /// Nothing measured yet.
    pub(crate) const UNKNOWN: Self = Self {
        since: Time::MAX,
        bytes: 0,
        average: 0.0,
    };

    /// Bytes a second; none before the first measurement has ended.
    #[inline]
    pub(crate) fn bytes_per_sec(&self) -> Option<f64> {
        (self.average > 0.0).then_some(self.average)
    }

    /// A packet of `len` bytes leaves the queue, with so many bytes `behind` it. Returns how long
    /// the measurement took that ends with it.
    pub(crate) fn left(
        &mut self,
        rule: DrainRule,
        now: Time,
        len: u32,
        behind: u64,
    ) -> Option<Dur> {
        if self.since == Time::MAX && behind >= THRESHOLD {
            (self.since, self.bytes) = (now, 0);
        }
        if self.since == Time::MAX {
            return None;
        }
        self.bytes += u64::from(len);
        let took = now.since(self.since);
        // Packets that leave together tell no rate.
        if self.bytes < THRESHOLD || took.is_zero() {
            return None;
        }
        let goes_on = match rule {
            DrainRule::Rfc8033 => false,
            DrainRule::Linux => behind >= THRESHOLD,
            DrainRule::Ns3 => behind > THRESHOLD,
        };
        self.average = self.averaged(rule, took.as_secs_f64());
        (self.since, self.bytes) = (if goes_on { now } else { Time::MAX }, 0);
        Some(took)
    }

    /// The average with a measurement that took so many seconds; the first is taken as it is.
    fn averaged(&self, rule: DrainRule, seconds: f64) -> f64 {
        let old = self.average;
        match rule {
            // The RFC averages the time for the threshold, however many bytes left in it.
            DrainRule::Rfc8033 => {
                let bytes = THRESHOLD as f64;
                match old > 0.0 {
                    true => bytes / (0.25 * seconds + 0.75 * (bytes / old)),
                    false => bytes / seconds,
                }
            }
            DrainRule::Linux | DrainRule::Ns3 => {
                let rate = self.bytes as f64 / seconds;
                let part = if rule == DrainRule::Ns3 { 2.0 } else { 8.0 };
                match old > 0.0 {
                    true => old - old / part + rate / part,
                    false => rate,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of 1024 B, one each ms: 1,024,000 B/s. The RFC counts the packet that begins a
    /// measurement, so that 16 of them take 15 ms; so does Linux in the first one alone.
    #[test]
    fn measurements_are_those_of_the_sources() {
        let at = |ms| Time::ZERO + Dur::from_ms(ms);
        let ends = |rule, until| {
            let mut drain = DrainRate::UNKNOWN;
            let steps = (1..=until).filter_map(|ms| {
                let took = drain.left(rule, at(ms), 1024, 20_000)?;
                Some((ms, took, drain.bytes_per_sec()?))
            });
            steps.collect::<Vec<_>>()
        };
        let (short, long) = (Dur::from_ms(15), Dur::from_ms(16));
        let biased = 16_384.0 / 0.015;
        assert_eq!(
            ends(DrainRule::Rfc8033, 40),
            [(16, short, biased), (32, short, biased)]
        );
        let mended = biased - biased / 8.0 + 1_024_000.0 / 8.0;
        assert_eq!(
            ends(DrainRule::Linux, 40),
            [(16, short, biased), (32, long, mended)]
        );
        let mean = f64::midpoint(biased, 1_024_000.0);
        assert_eq!(
            ends(DrainRule::Ns3, 40),
            [(16, short, biased), (32, long, mean)]
        );
    }

    /// The average of the RFC is one of times: 3/4 of 15 ms and 1/4 of 30 ms for 16,384 B.
    #[test]
    fn a_rate_that_halves_is_followed() {
        let mut drain = DrainRate::UNKNOWN;
        let mut now = Time::ZERO;
        for packet in 0..32 {
            now += Dur::from_ms(if packet < 16 { 1 } else { 2 });
            drain.left(DrainRule::Rfc8033, now, 1024, 20_000);
        }
        let average = drain.bytes_per_sec().unwrap();
        assert!((average - 16_384.0 / 0.018_75).abs() < 1e-6, "{average}");
    }

    /// None begins while little is queued; one that has begun ends.
    #[test]
    fn a_short_queue_is_not_measured() {
        for rule in [DrainRule::Rfc8033, DrainRule::Linux, DrainRule::Ns3] {
            let mut drain = DrainRate::UNKNOWN;
            for ms in 1..100 {
                let now = Time::ZERO + Dur::from_ms(ms);
                assert_eq!(drain.left(rule, now, 1024, THRESHOLD - 1), None);
            }
            for ms in 100..=115 {
                let behind = if ms == 100 { THRESHOLD } else { 0 };
                let took = drain.left(rule, Time::ZERO + Dur::from_ms(ms), 1024, behind);
                assert_eq!(took.is_some(), ms == 115, "{rule:?} {ms}");
            }
            let again = drain.left(rule, Time::from_secs_f64(1.0), 16_384, 0);
            assert_eq!(again, None);
        }
    }
}
