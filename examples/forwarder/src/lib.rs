//! A bottleneck for real packets: a queue discipline of Spillgate, a server of a given rate, and a
//! clock.
//!
//! The discipline is the one that simulations run. It sees records of packets, never bytes: these
//! stay here, under the number that a record carries. Time is that of the machine, but what was due
//! between two calls is made up for at the times at which it was due, so that a late wake delays
//! packets and changes nothing else.

use std::collections::VecDeque;
use std::sync::Arc;

use spillgate_core::{Drops, Ecn, Packet, Rate, Rng, Time};
use spillgate_queueing::{Discipline, FlowNumbers, Recipe};

pub mod ip;

pub use ip::Header;

/// The bottleneck.
pub struct Bottleneck {
    discipline: Discipline,
    flows: FlowNumbers,
    rate: Rate,
    rng: Rng,
    drops: Drops,
    /// When the server is free.
    free_at: Time,
    /// When the discipline was called last: its times do not decrease.
    called: Time,
    /// Bytes of packets by number, and the numbers that are free.
    bytes: Vec<Vec<u8>>,
    vacant: Vec<usize>,
    /// What has been sent, with the time at which its last bit left.
    sent: VecDeque<(Time, Ecn, Vec<u8>)>,
    /// Packets that were given up, and those that were sent.
    pub counts: (u64, u64),
}

impl Bottleneck {
    /// A bottleneck of this rate with a policy: the name of a discipline (`fq-codel`), one with its
    /// parameters as JSON (`{"fq-codel": {"target": "10 ms"}}`), or a file `NAME.json` that holds
    /// it.
    ///
    /// # Errors
    /// What is wrong with the policy, in which file, and what would be valid.
    pub fn new(policy: &str, rate: Rate) -> Result<Self, String> {
        let trimmed = policy.trim();
        let (origin, text) = if trimmed.starts_with('{') {
            ("policy", trimmed.to_owned())
        } else if trimmed.ends_with(".json") {
            let text = std::fs::read_to_string(trimmed).map_err(|e| format!("{trimmed}: {e}"))?;
            (trimmed, text)
        } else {
            ("policy", format!("{{\"{trimmed}\": {{}}}}"))
        };
        let spec = serde_json::from_str(&text).map_err(|e| format!("{origin}: {e}"))?;
        let (recipe, warnings) = Recipe::of(spec, rate).map_err(|e| format!("{origin}: {e}"))?;
        for warning in warnings {
            eprintln!("warning: {origin}: {warning}");
        }
        Ok(Self {
            discipline: recipe.build(&Arc::from([])),
            flows: FlowNumbers::new(),
            rate,
            rng: Rng::from_key(1),
            drops: Drops::new(),
            free_at: Time::ZERO,
            called: Time::ZERO,
            bytes: Vec::new(),
            vacant: Vec::new(),
            sent: VecDeque::new(),
            counts: (0, 0),
        })
    }

    /// A packet has come at `now`.
    pub fn put(&mut self, now: Time, header: &Header, bytes: Vec<u8>) {
        self.catch_up(now);
        let place = self.vacant.pop().unwrap_or_else(|| {
            self.bytes.push(Vec::new());
            self.bytes.len() - 1
        });
        self.bytes[place] = bytes;
        let mut packet = Packet {
            handle: place as u64,
            sent: now,
            arrived: now,
            dscp: header.dscp,
            ecn: header.ecn,
            ..Packet::new(0, 0, header.len)
        };
        let (flows, discipline) = (&mut self.flows, &mut self.discipline);
        flows.label(&mut packet, header.key, discipline);
        self.called = now;
        discipline.enqueue(now, packet, &mut self.rng, &mut self.drops);
        self.give_up();
        self.catch_up(now);
    }

    /// The next packet whose last bit has left by `now`, with the ECN field that it is to carry.
    pub fn take(&mut self, now: Time) -> Option<(Ecn, Vec<u8>)> {
        self.catch_up(now);
        let first = self.sent.front().filter(|(end, ..)| *end <= now);
        first?;
        self.counts.1 += 1;
        self.sent.pop_front().map(|(_, ecn, bytes)| (ecn, bytes))
    }

    /// When there may be something to take, if nothing comes.
    pub fn wake(&self) -> Option<Time> {
        let leaves = self.sent.front().map(|(end, ..)| *end);
        leaves.or_else(|| self.next_service())
    }

    /// Packets and bytes that wait.
    pub fn backlog(&self) -> (u32, u64) {
        let d = &self.discipline;
        (d.backlog_packets(), d.backlog_bytes())
    }

    /// When the server may take the next packet.
    fn next_service(&self) -> Option<Time> {
        if self.discipline.backlog_packets() == 0 {
            return None;
        }
        let free = self.free_at.max(self.called);
        Some(match self.discipline.next_wake(self.called) {
            Some(at) => at.max(free),
            None => free,
        })
    }

    /// Serves what was to be served up to `now`, at its times.
    fn catch_up(&mut self, now: Time) {
        while let Some(at) = self.next_service().filter(|at| *at <= now) {
            let before = self.called;
            self.called = at;
            let served = self.discipline.dequeue(at, &mut self.rng, &mut self.drops);
            self.give_up();
            let Some(packet) = served else {
                // A shaper holds it back: later than it said before.
                if at == before {
                    break;
                }
                continue;
            };
            self.free_at = at + self.rate.tx_time(packet.len);
            self.discipline.transmits_until(packet.leaf, self.free_at);
            let bytes = self.bytes_of(&packet);
            self.sent.push_back((self.free_at, packet.ecn, bytes));
        }
    }

    /// Forgets what the discipline has dropped.
    fn give_up(&mut self) {
        let mut drops = std::mem::take(&mut self.drops);
        for lost in drops.as_slice() {
            self.bytes_of(&lost.packet);
            self.counts.0 += 1;
        }
        drops.clear();
        self.drops = drops;
    }

    /// The bytes of a packet that is kept no longer.
    fn bytes_of(&mut self, packet: &Packet) -> Vec<u8> {
        let place = packet.handle as usize;
        self.vacant.push(place);
        std::mem::take(&mut self.bytes[place])
    }
}
