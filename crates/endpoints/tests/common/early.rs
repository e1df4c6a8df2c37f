//! What the recorded kernel had at its bottleneck and Spillgate has not: RED with an adaptive probability, and PIE.
//! Only so much of them as the recordings need.

use std::collections::VecDeque;

use spillgate_core::{Dur, Packet, Rng, Time};

/// A FIFO with an algorithm that drops what arrives.
pub(crate) struct Early {
    pub(crate) waiting: VecDeque<Packet>,
    bytes: f64,
    law: Law,
}

enum Law {
    Red(Red),
    Pie(Pie),
}

/// RED in bytes (minimum 15000, maximum 45000, weight 1/16), whose probability at the maximum is adapted
/// every 500 ms so that the average comes between 27000 and 33000.
struct Red {
    average: f64,
    probability: f64,
    count: i64,
    /// Uniform number that decides the gap.
    chosen: f64,
    adapt: Time,
}

/// PIE (RFC 8033) with a target of 15 ms, from timestamps; the kernel's clock of 100 Hz makes 20 ms of the 15 ms
/// between updates.
struct Pie {
    probability: f64,
    sum: f64,
    delay: f64,
    former: f64,
    burst: f64,
    dequeued: Option<Time>,
    update: Time,
}

impl Early {
    pub(crate) fn adaptive_red() -> Self {
        Self::with(Law::Red(Red {
            average: 0.0,
            probability: 0.1,
            count: -1,
            chosen: 0.0,
            adapt: Time::ZERO,
        }))
    }

    pub(crate) fn pie() -> Self {
        Self::with(Law::Pie(Pie {
            probability: 0.0,
            sum: 0.0,
            delay: 0.0,
            former: 0.0,
            burst: 0.150,
            dequeued: None,
            update: Time::ZERO,
        }))
    }

    fn with(law: Law) -> Self {
        Self {
            waiting: VecDeque::new(),
            bytes: 0.0,
            law,
        }
    }

    /// Whether the packet is queued.
    pub(crate) fn enqueue(&mut self, now: Time, p: Packet, rng: &mut Rng) -> bool {
        let drop = match &mut self.law {
            Law::Red(red) => red.drops(now, self.bytes, rng),
            Law::Pie(pie) => {
                pie.catch_up(now, self.bytes);
                pie.drops(self.bytes, rng)
            }
        };
        if !drop {
            self.bytes += f64::from(p.len);
            self.waiting.push_back(p);
        }
        !drop
    }

    pub(crate) fn dequeue(&mut self, now: Time) -> Option<Packet> {
        let p = self.waiting.pop_front()?;
        self.bytes -= f64::from(p.len);
        if let Law::Pie(pie) = &mut self.law {
            pie.catch_up(now, self.bytes);
            pie.delay = now.since(p.arrived).as_secs_f64();
            if self.bytes == 0.0 {
                pie.delay = 0.0;
            }
            if let Some(at) = pie.dequeued.replace(now) {
                pie.burst = (pie.burst - now.since(at).as_secs_f64()).max(0.0);
            }
        }
        Some(p)
    }
}

impl Red {
    fn drops(&mut self, now: Time, bytes: f64, rng: &mut Rng) -> bool {
        while now >= self.adapt {
            if self.average > 33_000.0 && self.probability <= 0.5 {
                self.probability += (self.probability / 4.0).min(0.01);
            } else if self.average < 27_000.0 && self.probability >= 0.01 {
                self.probability *= 0.9;
            }
            self.adapt += Dur::from_ms(500);
        }
        self.average += (bytes - self.average) / 16.0;
        if self.average < 15_000.0 {
            self.count = -1;
            return false;
        }
        if self.average >= 45_000.0 {
            self.count = -1;
            return true;
        }
        self.count += 1;
        if self.count == 0 {
            self.chosen = rng.f64();
            return false;
        }
        let p = self.probability * (self.average - 15_000.0) / 30_000.0;
        if (self.count as f64) * p < self.chosen {
            return false;
        }
        self.count = 0;
        self.chosen = rng.f64();
        true
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
        if calm && self.probability == 0.0 {
            (self.burst, self.sum, self.dequeued) = (0.150, 0.0, None);
        }
    }
}
