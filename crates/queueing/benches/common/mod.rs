//! What the benchmarks share: whole disciplines, and packets for them.

use std::collections::BTreeMap;
use std::sync::Arc;

use spillgate_core::{Drops, Dscp, Dur, FlowKey, Packet, Rate, Rng, Time};
use spillgate_queueing::{Discipline, Recipe};

/// The longest packet of most.
pub(crate) const MTU: u32 = 1500;

/// What is measured. Not an enumeration: telling its members apart would count as well.
pub(crate) trait Queue {
    fn offer(&mut self, packet: Packet);
    fn pop(&mut self) -> Option<Packet>;
}

/// The recipe of the policy `main` at a rate in b/s; none if it is no policy.
pub(crate) fn recipe(json: &str, bps: u64) -> Option<Recipe> {
    let policies: BTreeMap<_, _> = serde_json::from_str(json).ok()?;
    let rate = Rate::from_bps(bps)?;
    Some(Recipe::resolve("main", &policies, rate).ok()?.0)
}

/// A discipline with all that a driver holds.
pub(crate) struct Whole {
    discipline: Discipline,
    rng: Rng,
    drops: Drops,
    now: Time,
    /// How long a departure takes.
    step: Dur,
}

impl Whole {
    /// One for these flows, whose departures take so long each.
    pub(crate) fn new(recipe: &Recipe, flows: &Arc<[FlowKey]>, step: Dur) -> Self {
        Self {
            discipline: recipe.build(flows),
            rng: Rng::from_key(2),
            drops: Drops::new(),
            now: Time::ZERO,
            step,
        }
    }
}

impl Queue for Whole {
    fn offer(&mut self, mut packet: Packet) {
        self.now += Dur::from_ps(1);
        packet.arrived = self.now;
        self.discipline
            .enqueue(self.now, packet, &mut self.rng, &mut self.drops);
        self.drops.clear();
    }

    fn pop(&mut self) -> Option<Packet> {
        self.now += self.step;
        let (rng, drops) = (&mut self.rng, &mut self.drops);
        let mut packet = self.discipline.dequeue(self.now, rng, drops);
        while packet.is_none() && self.discipline.backlog_packets() > 0 {
            self.now = self.discipline.next_wake(self.now).expect("it wakes");
            packet = self.discipline.dequeue(self.now, rng, drops);
        }
        drops.clear();
        packet
    }
}

/// Packets offered so far.
pub(crate) struct Offers {
    pub(crate) rng: Rng,
    pub(crate) flows: u32,
    pub(crate) seq: u32,
    /// The longest, in bytes.
    pub(crate) mtu: u32,
}

impl Offers {
    pub(crate) fn packet(&mut self, flow: Option<u32>) -> Packet {
        self.seq = self.seq.wrapping_add(1);
        let flow = flow.unwrap_or_else(|| self.rng.below(self.flows));
        // From a third of the MTU to all of it.
        let len = self.mtu * (5 + self.seq % 11) / 15;
        Packet {
            hash: flow.wrapping_mul(0x9e37_79b9),
            dscp: Dscp::new(8 * (flow % 8) as u8).expect("a class selector"),
            ..Packet::new(flow, self.seq, len as u16)
        }
    }
}
