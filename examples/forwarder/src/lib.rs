//! A bottleneck for real packets: a queue discipline of Spillgate, a server of a given rate, and a clock.
//!
//! The discipline is the one that simulations run. It sees records of packets, never bytes: these stay here, under the
//! number that a record carries. Time is that of the machine, but what was due between two calls is made up for at the times
//! at which it was due, so that a late wake delays packets and changes nothing else.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddrV4;
use std::sync::Arc;

use spillgate_core::{Drops, FlowKey, Packet, Rate, Rng, Time};
use spillgate_queueing::{Discipline, Recipe};

/// What a datagram takes beside its payload, in bytes: the headers of UDP and IPv4.
pub const HEADERS: usize = 28;

/// The bottleneck.
pub struct Bottleneck {
    discipline: Discipline,
    rate: Rate,
    rng: Rng,
    drops: Drops,
    /// When the server is free.
    free_at: Time,
    /// When the discipline was called last: its times do not decrease.
    called: Time,
    /// Payloads by number, and the numbers that are free.
    payloads: Vec<Vec<u8>>,
    vacant: Vec<usize>,
    flows: BTreeMap<FlowKey, u32>,
    /// What has been sent, with the time at which its last bit left.
    sent: VecDeque<(Time, Vec<u8>)>,
    /// Datagrams that were given up, and those that were sent.
    pub counts: (u64, u64),
}

impl Bottleneck {
    /// A bottleneck of this rate with a policy: the name of a discipline (`fq-codel`), or one with its parameters
    /// as JSON (`{"fq-codel": {"target": "10 ms"}}`).
    ///
    /// # Errors
    /// What is wrong with the policy, and what would be valid.
    pub fn new(policy: &str, rate: Rate) -> Result<Self, String> {
        let text = match policy.trim_start().starts_with('{') {
            true => policy.to_owned(),
            false => format!("{{\"{policy}\": {{}}}}"),
        };
        let spec = serde_json::from_str(&text).map_err(|e| format!("policy `{policy}`: {e}"))?;
        let policies = BTreeMap::from([("policy".to_owned(), spec)]);
        let (recipe, _) = Recipe::resolve("policy", &policies, rate).map_err(|e| e.to_string())?;
        Ok(Self {
            discipline: recipe.build(&Arc::from([])),
            rate,
            rng: Rng::from_key(1),
            drops: Drops::new(),
            free_at: Time::ZERO,
            called: Time::ZERO,
            payloads: Vec::new(),
            vacant: Vec::new(),
            flows: BTreeMap::new(),
            sent: VecDeque::new(),
            counts: (0, 0),
        })
    }

    /// A datagram has come at `now`.
    pub fn put(&mut self, now: Time, from: SocketAddrV4, to: SocketAddrV4, payload: Vec<u8>) {
        self.catch_up(now);
        let key = FlowKey {
            src: *from.ip(),
            dst: *to.ip(),
            protocol: 17,
            sport: from.port(),
            dport: to.port(),
        };
        let number = self.flows.len() as u32;
        let flow = *self.flows.entry(key).or_insert(number);
        if flow == number {
            let mut keys = vec![key; self.flows.len()];
            self.flows.iter().for_each(|(k, i)| keys[*i as usize] = *k);
            self.discipline.announce(&keys.into());
        }
        let len = u16::try_from(payload.len() + HEADERS).unwrap_or(u16::MAX);
        let place = self.vacant.pop().unwrap_or_else(|| {
            self.payloads.push(Vec::new());
            self.payloads.len() - 1
        });
        self.payloads[place] = payload;
        let mut packet = Packet::new(flow, 0, len);
        (packet.handle, packet.hash) = (place as u64, key.hash());
        (packet.sent, packet.arrived) = (now, now);
        self.called = now;
        self.discipline
            .enqueue(now, packet, &mut self.rng, &mut self.drops);
        self.give_up();
        self.catch_up(now);
    }

    /// The next datagram whose last bit has left by `now`.
    pub fn take(&mut self, now: Time) -> Option<Vec<u8>> {
        self.catch_up(now);
        let first = self.sent.front().filter(|(end, _)| *end <= now);
        first?;
        self.counts.1 += 1;
        self.sent.pop_front().map(|(_, payload)| payload)
    }

    /// When there may be something to take, if nothing comes.
    pub fn wake(&self) -> Option<Time> {
        let leaves = self.sent.front().map(|(end, _)| *end);
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
            let place = packet.handle as usize;
            self.vacant.push(place);
            let payload = std::mem::take(&mut self.payloads[place]);
            self.sent.push_back((self.free_at, payload));
        }
    }

    /// Forgets what the discipline has dropped.
    fn give_up(&mut self) {
        for lost in self.drops.as_slice() {
            self.payloads[lost.packet.handle as usize] = Vec::new();
            self.vacant.push(lost.packet.handle as usize);
            self.counts.0 += 1;
        }
        self.drops.clear();
    }
}
