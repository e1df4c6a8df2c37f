//! For tests and experiments: [`Contract`], what drivers rely on, checked; and [`Bench`], a server
//! in front of a discipline: a list of arrivals in, departures and drops out.
//!
//! ```
//! use std::sync::Arc;
//! use spillgate_core::{Packet, Rate, Time};
//! use spillgate_queueing::{Recipe, testkit::Bench};
//!
//! let rate = Rate::from_bps(8).unwrap(); // 1 B/s
//! let discipline = Recipe::default_fifo().build(&Arc::from([]));
//! let mut bench = Bench::new(discipline, rate);
//! bench.arrive(Time::from_secs_f64(0.0), Packet::new(1, 0, 100));
//! bench.arrive(Time::from_secs_f64(10.0), Packet::new(2, 0, 50));
//! let outcome = bench.run();
//! assert_eq!(outcome.departures[1].finish, Time::from_secs_f64(150.0));
//! ```

mod contract;

use spillgate_core::{
    Acknowledgment, DropReason, Dropped, Drops, Packet, Rate, Rng, Time, Verdict,
};

use crate::Discipline;
use crate::aqm::{Backlog, Custom, CustomAqm, Draw};
pub use crate::fan::BareFairQueue;
pub use contract::{Contract, Driver, Entry, Op, flows, packet, random_ops};

/// Random loss at departure.
#[derive(Clone, Debug)]
struct Lossy {
    /// The probability with which each packet is dropped.
    chance: f64,
}

impl CustomAqm for Lossy {
    fn departure(&mut self, _: Time, _: &Backlog, _: &Packet, draw: &mut dyn Draw) -> Verdict {
        match draw.draw() < self.chance {
            true => Verdict::Drop(DropReason::Early),
            false => Verdict::Pass,
        }
    }

    fn boxed(&self) -> Box<dyn CustomAqm> {
        Box::new(self.clone())
    }
}

/// Sets an AQM that drops packets at departure with this probability, and no other, for every queue
/// of a discipline that takes an AQM; the queues are empty. The contract allows an AQM to drop
/// several packets in a row, and the last.
pub fn lose_at_departure(discipline: &mut Discipline, chance: f64) {
    for leaf in discipline.leaves_mut() {
        leaf.manage(Custom::from(
            Box::new(Lossy { chance }) as Box<dyn CustomAqm>
        ));
    }
}

/// A packet that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// The start of its transmission.
    pub start: Time,
    /// The end of its transmission.
    pub finish: Time,
    /// The packet.
    pub packet: Packet,
}

/// The result of a [`Bench`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// In order of time.
    pub departures: Vec<Departure>,
    /// In order of time, with the instant of each drop.
    pub drops: Vec<(Time, Dropped)>,
}

impl Outcome {
    /// Bytes of departures that began in `from..to` and satisfy `of`.
    pub fn bytes(&self, from: Time, to: Time, of: impl Fn(&Packet) -> bool) -> u64 {
        self.departures
            .iter()
            .filter(|d| d.start >= from && d.start < to && of(&d.packet))
            .map(|d| u64::from(d.packet.len))
            .sum()
    }
}

/// A discipline, a server of constant rate, and arrivals to come.
///
/// A packet that arrives at the very instant at which the server takes the next packet takes part
/// in that choice. In a simulation it does not: there a packet that arrives is handled after the
/// service at that instant.
#[derive(Debug)]
pub struct Bench {
    discipline: Discipline,
    rate: Rate,
    arrivals: Vec<(Time, Packet, Option<Acknowledgment>)>,
    rng: Rng,
}

impl Bench {
    /// An idle server at time 0; random numbers come from a fixed stream.
    pub fn new(discipline: Discipline, rate: Rate) -> Self {
        Self {
            discipline,
            rate,
            arrivals: Vec::new(),
            rng: Rng::named(1, 0, "bench", "aqm"),
        }
    }

    /// Lets `packet` arrive at `at`; its [`Packet::arrived`] is set. Arrivals may be given in any
    /// order; simultaneous ones arrive in the order given.
    pub fn arrive(&mut self, at: Time, packet: Packet) {
        self.arrive_with(at, packet, None);
    }

    /// The same of a packet that acknowledges this.
    pub fn arrive_with(&mut self, at: Time, mut packet: Packet, ack: Option<Acknowledgment>) {
        packet.arrived = at;
        self.arrivals.push((at, packet, ack));
    }

    /// The discipline, for its counters.
    pub fn discipline(&self) -> &Discipline {
        &self.discipline
    }

    /// Runs until everything has left.
    pub fn run(&mut self) -> Outcome {
        let mut out = Outcome::default();
        let mut drops = Drops::new();
        let mut arrivals = std::mem::take(&mut self.arrivals);
        arrivals.sort_by_key(|(t, ..)| *t);
        let mut arrivals = arrivals.into_iter().peekable();
        let d = &mut self.discipline;
        let mut free = Time::ZERO;
        loop {
            // The next instant at which the server may take a packet.
            let ready = match d.next_wake(free) {
                Some(w) => w.max(free),
                None => free,
            };
            let next = arrivals.peek().map(|(t, ..)| *t);
            let waiting = d.backlog_packets() > 0;
            match next {
                Some(t) if !waiting || t <= ready => {
                    if let Some((t, packet, ack)) = arrivals.next() {
                        d.enqueue_with(t, packet, ack.as_ref(), &mut self.rng, &mut drops);
                        out.drops.extend(drops.as_slice().iter().map(|x| (t, *x)));
                        drops.clear();
                        free = free.max(t);
                    }
                }
                _ if waiting => {
                    let left = d.dequeue(ready, &mut self.rng, &mut drops);
                    out.drops
                        .extend(drops.as_slice().iter().map(|x| (ready, *x)));
                    let lost = !drops.is_empty();
                    drops.clear();
                    let Some(packet) = left else {
                        match lost {
                            // Its AQM dropped all that might have left.
                            true => continue,
                            false => break,
                        }
                    };
                    let finish = ready + self.rate.tx_time(packet.len);
                    d.transmits_until(packet.leaf, finish);
                    out.departures.push(Departure {
                        start: ready,
                        finish,
                        packet,
                    });
                    free = finish;
                }
                _ => break,
            }
        }
        out
    }
}
