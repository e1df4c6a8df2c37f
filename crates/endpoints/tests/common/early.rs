//! PIE with the rules of the recorded kernel, written apart from Spillgate's to compare with. Only
//! so much of it as the recordings need.

use std::collections::VecDeque;

use spillgate_core::{Dur, Packet, Rng, Time};

/// A FIFO with an algorithm that drops what arrives.
pub(crate) struct Early {
    pub(crate) waiting: VecDeque<Packet>,
    bytes: f64,
    pie: Pie,
}

/// PIE (RFC 8033) with a target of 15 ms, from timestamps; the kernel's clock of 100 Hz makes 20 ms
/// of the 15 ms between updates.
struct Pie {
    probability: f64,
    sum: f64,
    delay: f64,
    former: f64,
    burst: f64,
    dequeued: Option<Time>,
    update: Time,
    /// `dq_rate_estimator`.
    rate: Option<Estimator>,
}

/// The kernel's estimate of the rate at which the queue drains.
struct Estimator {
    /// Bytes that left since when; none while the queue is short.
    count: Option<(f64, Time)>,
    average: f64,
}

const NOTHING: Estimator = Estimator {
    count: None,
    average: 0.0,
};

impl Estimator {
    /// Returns the seconds that a measurement took.
    fn dequeue(&mut self, now: Time, len: f64, backlog: f64) -> Option<f64> {
        if backlog >= 16384.0 {
            self.count.get_or_insert((0.0, now));
        }
        let (count, since) = self.count.as_mut()?;
        *count += len;
        let took = now.since(*since).as_secs_f64();
        if *count < 16384.0 || took == 0.0 {
            return None;
        }
        let rate = *count / took;
        if self.average == 0.0 {
            self.average = rate;
        } else {
            self.average += (rate - self.average) / 8.0;
        }
        self.count = (backlog >= 16384.0).then_some((0.0, now));
        Some(took)
    }
}

impl Early {
    pub(crate) fn pie(estimates: bool) -> Self {
        Self {
            waiting: VecDeque::new(),
            bytes: 0.0,
            pie: Pie {
                probability: 0.0,
                sum: 0.0,
                delay: 0.0,
                former: 0.0,
                burst: 0.150,
                dequeued: None,
                update: Time::ZERO,
                rate: estimates.then_some(NOTHING),
            },
        }
    }

    /// Whether the packet is queued.
    pub(crate) fn enqueue(&mut self, now: Time, p: Packet, rng: &mut Rng) -> bool {
        self.pie.catch_up(now, self.bytes);
        let drop = self.pie.drops(self.bytes, rng);
        if !drop {
            self.bytes += f64::from(p.len);
            self.waiting.push_back(p);
        }
        !drop
    }

    pub(crate) fn dequeue(&mut self, now: Time) -> Option<Packet> {
        let p = self.waiting.pop_front()?;
        let pie = &mut self.pie;
        // Updates up to now found the packet waiting.
        pie.catch_up(now, self.bytes);
        self.bytes -= f64::from(p.len);
        if let Some(rate) = &mut pie.rate {
            if let Some(took) = rate.dequeue(now, f64::from(p.len), self.bytes) {
                pie.burst = (pie.burst - took).max(0.0);
            }
            return Some(p);
        }
        pie.delay = now.since(p.arrived).as_secs_f64();
        if self.bytes == 0.0 {
            pie.delay = 0.0;
        }
        if let Some(at) = pie.dequeued.replace(now) {
            pie.burst = (pie.burst - now.since(at).as_secs_f64()).max(0.0);
        }
        Some(p)
    }
}

impl Pie {
    const TARGET: f64 = 0.015;

    fn drops(&mut self, bytes: f64, rng: &mut Rng) -> bool {
        let quiet = self.delay < Self::TARGET / 2.0 && self.probability < 0.2;
        if self.burst > 0.0 || quiet || bytes < 3000.0 {
            return false;
        }
        self.sum = if self.probability == 0.0 {
            0.0
        } else {
            self.sum + self.probability
        };
        let drop = self.sum >= 8.5 || (self.sum >= 0.85 && rng.chance(self.probability));
        if drop {
            self.sum = 0.0;
        }
        drop
    }

    fn catch_up(&mut self, now: Time, bytes: f64) {
        while now >= self.update {
            self.step(bytes);
            self.update += Dur::from_ms(20);
        }
    }

    fn step(&mut self, bytes: f64) {
        if let Some(rate) = &self.rate {
            self.delay = match rate.average {
                0.0 => 0.0,
                average => bytes / average,
            };
        }
        let known = self.delay != 0.0 || bytes == 0.0;
        let mut scale = 1.0;
        if self.probability < 0.1 {
            scale /= 2.0;
            let mut power = 100.0;
            while self.probability < 1.0 / power && power <= 1e6 {
                scale /= 4.0;
                power *= 10.0;
            }
        }
        let mut delta =
            scale * (0.125 * (self.delay - Self::TARGET) + 1.25 * (self.delay - self.former));
        if delta > 0.02 && self.probability >= 0.1 {
            delta = 0.02;
        }
        if self.delay > 0.25 {
            delta += 0.02;
        }
        self.probability = (self.probability + delta).clamp(0.0, 1.0);
        if self.delay == 0.0 && self.former == 0.0 && known {
            self.probability -= self.probability / 64.0;
        }
        let calm = self.delay.max(self.former) < Self::TARGET / 2.0;
        self.former = self.delay;
        let unknown = self.rate.as_ref().is_some_and(|r| r.average == 0.0);
        if calm && self.probability == 0.0 && !unknown {
            (self.burst, self.sum, self.dequeued) = (0.150, 0.0, None);
            self.rate = self.rate.take().map(|_| NOTHING);
        }
    }
}
