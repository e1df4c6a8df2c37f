//! SFB, stochastic fair BLUE.
//!
//! Source: W. Feng, D. D. Kandlur, D. Saha, K. G. Shin, "Stochastic Fair Blue: A Queue Management
//! Algorithm for Enforcing Fairness", IEEE INFOCOM 2001; Linux 6.18, net/sched/sch_sfb.c.
//!
//! Idea: a flow is hashed into one bin of each of several levels. Each bin counts its packets in
//! the queue and has a probability as BLUE, which rises while it holds many and falls while it
//! holds none. A packet is marked with the least probability of its bins: a flow that slows down
//! shares all of its bins with one that does not only rarely. A flow whose probability is 1 does
//! not slow down, and gets no more than the penalty box lets through.
//!
//! Deviations: as in Linux probabilities change at every arrival, without the paper's `freeze`. The
//! limit of the queue comes last, not first. The bins of a hash begin at 0 when its warming up
//! begins; Linux leaves in them what they held. Cost: O(levels) for each packet, 16 B for each bin
//! and each packet; one draw while the probability is above 0.

use std::collections::VecDeque;

use spillgate_core::{Dur, Limit, Packet, Problem, Rate, Time};

use super::blue::check_step;
use super::chance::{ByChance, Chooser, Chosen};
use super::pi::warn_of_target;
use super::{Backlog, Draw, LeafFacts};
use crate::Thresholds;
use crate::evidence::{FactUnit, GoesBy};
use crate::recipe::At;
use crate::stats::State;

spillgate_core::spec! {
    /// Parameters of SFB.
    pub struct SfbSpec {
        /// Levels, each with a hash of its own, 1 to 16. Default 8 (Linux; the paper 2).
        pub levels: u32 = 8,
        /// Bins of a level, 2 to 65,536. Default 16 (Linux; the paper 23).
        pub bins: u32 = 16,
        /// Packets in a bin from which on its probability rises. Default 20 (Linux).
        pub target: u32 = 20,
        /// Packets in each of its bins from which on a packet is dropped, above `target`. Default
        /// 25 (Linux).
        pub max: u32 = 25,
        /// A probability rises by this, above 0 and at most 1. Default 66/65535 (Linux).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub increment: f64 = 66.0 / 65535.0,
        /// It falls by this, above 0 and at most 1. Default 11/65535 (Linux).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub decrement: f64 = 11.0 / 65535.0,
        /// Time between changes of the hash; 0: it never changes. Default 600 s (Linux).
        pub rehash: Dur = Dur::from_secs(600),
        /// How long the bins of the next hash warm up before, at most `rehash`. Default 60 s
        /// (Linux).
        pub warmup: Dur = Dur::from_secs(60),
        /// Packets a second of flows that do not slow down that are let in; 0: none. Default 10
        /// (Linux).
        pub penalty_rate: u32 = 10,
        /// How many of them may come together. Default 20 (Linux).
        pub penalty_burst: u32 = 20,
        /// Mark ECN-capable packets instead of dropping them. Default true (Linux).
        pub ecn: bool = true,
    }
}

/// Time for which tokens of the penalty box gather at most (Linux).
const LONGEST_PENALTY: Dur = Dur::from_secs(10);

impl SfbSpec {
    /// None on an average.
    pub(super) fn thresholds(&self, _: Limit, _: Rate) -> Vec<Thresholds> {
        Vec::new()
    }

    pub(super) fn resolve(
        &self,
        at: &mut At<'_>,
        leaf: &LeafFacts,
    ) -> Result<ByChance<Sfb>, Problem> {
        for (key, n, range) in [
            ("levels", self.levels, 1..=16),
            ("bins", self.bins, 2..=65_536),
            ("target", self.target, 1..=u32::MAX),
        ] {
            at.check(
                range.contains(&n),
                key,
                n,
                &format!("it must be from {} to {}", range.start(), range.end()),
                "Linux has 8 levels of 16 bins, and a target of 20",
            )?;
        }
        at.check(
            self.max > self.target,
            "max",
            self.max,
            &format!(
                "it must be above the target, {}: else no probability rises before packets are dropped",
                self.target
            ),
            "the usual values are 20 and 25",
        )?;
        check_step(at, "increment", self.increment, "0.001")?;
        check_step(at, "decrement", self.decrement, "0.00017")?;
        at.check(
            self.rehash.is_zero() || self.warmup <= self.rehash,
            "warmup",
            self.warmup,
            &format!(
                "it must be at most the time between hashes, {}",
                self.rehash
            ),
            "the usual values are 600 s and 60 s",
        )?;
        warn_of_target(at, self.target.into(), leaf);
        Ok(ByChance::new(Sfb(self.clone()), self.ecn))
    }
}

/// The law of SFB.
#[derive(Clone, Debug)]
pub(crate) struct Sfb(SfbSpec);

/// One bin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Bin {
    probability: f64,
    /// Its packets in the queue.
    packets: u32,
}

/// The bins of one hash.
#[derive(Clone, Debug)]
struct Set {
    /// What makes the hash, and the set after a rehash another.
    salt: u64,
    /// Level by level.
    bins: Vec<Bin>,
}

/// With which salts a queued packet is counted in each set; 0: it is not.
type Counted = [u64; 2];

/// The state of one queue.
#[derive(Clone, Debug)]
pub(crate) struct Vars {
    sets: [Set; 2],
    /// The set that decides.
    active: usize,
    /// Whether the other one warms up.
    warms: bool,
    /// When the active set began to decide.
    since: Time,
    /// Of each queued packet, in their order.
    queued: VecDeque<Counted>,
    /// How the packet that was judged last is to be counted, and its flow.
    judged: Counted,
    flow: u32,
    tokens: u32,
    /// When tokens were given last.
    given: Time,
    /// The shortest of the bins of the packet that was judged last.
    shortest: u32,
}

/// A hash of 64 bits (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators").
fn mixed(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

impl Sfb {
    fn fresh(&self, salt: u64) -> Set {
        let bins = vec![Bin::default(); (self.0.levels * self.0.bins) as usize];
        Set { salt, bins }
    }

    /// The bins of a flow: one of each level.
    fn places(&self, salt: u64, flow: u32) -> impl Iterator<Item = usize> + use<> {
        let bins = u64::from(self.0.bins);
        (0..u64::from(self.0.levels)).map(move |level| {
            let key = mixed(salt ^ (u64::from(flow) << 8) ^ level);
            (level * bins + key % bins) as usize
        })
    }

    /// Moves the probabilities of a flow's bins, and tells the least of them and the shortest.
    fn moves(&self, set: &mut Set, flow: u32) -> (f64, u32) {
        let p = &self.0;
        let (mut least, mut shortest) = (1.0_f64, u32::MAX);
        for place in self.places(set.salt, flow) {
            let bin = &mut set.bins[place];
            if bin.packets == 0 {
                bin.probability = (bin.probability - p.decrement).max(0.0);
            } else if bin.packets >= p.target {
                bin.probability = (bin.probability + p.increment).min(1.0);
            }
            least = least.min(bin.probability);
            shortest = shortest.min(bin.packets);
        }
        (least, shortest)
    }

    /// Counts a packet of `flow` in the sets in which it is, or takes it out.
    fn count(&self, v: &mut Vars, counted: Counted, flow: u32, enters: bool) {
        for (set, salt) in v.sets.iter_mut().zip(counted) {
            // A hash that is gone has no bins.
            if salt == 0 || salt != set.salt {
                continue;
            }
            for place in self.places(salt, flow) {
                let n = &mut set.bins[place].packets;
                *n = if enters { *n + 1 } else { n.saturating_sub(1) };
            }
        }
    }

    /// Changes the hash if it is time, and begins to warm up the next one.
    fn rehash<D: Draw>(&self, v: &mut Vars, now: Time, draw: &mut D) {
        // Not 0, which stands for no salt.
        let mut salt = || (draw.draw() * (1_u64 << 53) as f64) as u64 | (1 << 60);
        if v.sets[v.active].salt == 0 {
            v.sets[v.active].salt = salt();
        }
        let p = &self.0;
        if p.rehash.is_zero() {
            return;
        }
        let lasted = now.since(v.since);
        if lasted >= p.rehash {
            if !v.warms {
                v.sets[1 - v.active] = self.fresh(salt());
            }
            v.active = 1 - v.active;
            (v.since, v.warms) = (now, false);
        } else if !v.warms && !p.warmup.is_zero() && lasted + p.warmup >= p.rehash {
            v.sets[1 - v.active] = self.fresh(salt());
            v.warms = true;
        }
    }

    /// Whether the penalty box lets a packet through.
    fn forgives(&self, v: &mut Vars, now: Time) -> bool {
        let p = &self.0;
        if v.tokens == 0 {
            let age = now.since(v.given).min(LONGEST_PENALTY);
            v.tokens =
                ((age.as_secs_f64() * f64::from(p.penalty_rate)) as u32).min(p.penalty_burst);
            v.given = now;
        }
        let lets = v.tokens > 0;
        v.tokens -= u32::from(lets);
        lets
    }
}

impl Chooser for Sfb {
    type Vars = Vars;

    const FOLLOWS: bool = true;
    const TELLS_FLOWS: bool = true;

    fn vars(&self) -> Vars {
        Vars {
            sets: [self.fresh(0), self.fresh(0)],
            active: 0,
            warms: false,
            since: Time::ZERO,
            queued: VecDeque::new(),
            judged: [0; 2],
            flow: 0,
            tokens: match self.0.penalty_rate {
                0 => 0,
                _ => self.0.penalty_burst,
            },
            given: Time::ZERO,
            shortest: 0,
        }
    }

    fn choose<D: Draw>(
        &self,
        v: &mut Vars,
        now: Time,
        backlog: &Backlog,
        packet: &Packet,
        draw: &mut D,
    ) -> Chosen {
        if backlog.packets == 0 && !v.queued.is_empty() {
            // They were flushed.
            v.queued.clear();
            let bins = v.sets.iter_mut().flat_map(|set| &mut set.bins);
            bins.for_each(|bin| bin.packets = 0);
        }
        self.rehash(v, now, draw);
        v.flow = packet.flow;
        let active = v.active;
        let (least, shortest) = self.moves(&mut v.sets[active], packet.flow);
        v.shortest = shortest;
        v.judged = [0; 2];
        v.judged[active] = v.sets[active].salt;
        if shortest >= self.0.max {
            return Chosen::Lost;
        }
        if least < 1.0 {
            return Chosen::With(least);
        }
        if v.warms {
            // Linux: the next hash learns of flows that do not slow down only.
            self.moves(&mut v.sets[1 - active], packet.flow);
            v.judged[1 - active] = v.sets[1 - active].salt;
        }
        match self.forgives(v, now) {
            true => Chosen::With(0.0),
            false => Chosen::Lost,
        }
    }

    /// Linux: above one half twice the excess is dropped, so that at 1 nothing is marked.
    #[inline]
    fn marks(&self, probability: f64, draw: f64) -> bool {
        draw >= 2.0 * (probability - 0.5)
    }

    fn let_in(&self, v: &mut Vars, _: Time, packet: &Packet) {
        v.queued.push_back(v.judged);
        self.count(v, v.judged, packet.flow, true);
    }

    fn departs(&self, v: &mut Vars, _: Time, _: &Backlog, packet: &Packet) {
        if let Some(counted) = v.queued.pop_front() {
            self.count(v, counted, packet.flow, false);
        }
    }

    fn overflowed(&self, v: &mut Vars) {
        if let Some(counted) = v.queued.pop_back() {
            self.count(v, counted, v.flow, false);
        }
    }

    fn evicted(&self, v: &mut Vars, at: u32, packet: &Packet) {
        if let Some(counted) = v.queued.remove(at as usize) {
            self.count(v, counted, packet.flow, false);
        }
    }

    fn goes_by(&self, v: &Vars) -> GoesBy {
        GoesBy::plain(
            "bins",
            "the shortest of the bins of its flow held {} (dropped from {} on)",
        )
        .and("bin", v.shortest.into(), FactUnit::Packets)
        .and("max", self.0.max.into(), FactUnit::Packets)
    }

    fn state(&self, v: &Vars, _: Time) -> State {
        let level = &v.sets[v.active].bins[..self.0.bins as usize];
        let highest = level.iter().map(|bin| bin.probability).fold(0.0, f64::max);
        vec![("sfb_probability", highest)]
    }
}

#[cfg(test)]
#[path = "sfb_tests.rs"]
mod tests;
