//! SRED, stabilized RED.
//!
//! Source: T. J. Ott, T. V. Lakshman, L. H. Wong, "SRED: Stabilized RED", IEEE INFOCOM 1999.
//!
//! Idea: of a list of flows seen lately ("zombies") an arrival is compared with one chosen at
//! random. The share P of hits is about 1 over the number of active flows, without counting any of
//! them. The probability rises with the square of that number, which holds the queue at the same
//! length for any number of flows, and with the length in three steps. Full SRED drops more of
//! flows that hit.
//!
//! Equations, B being the limit: p(q) = max_p for q >= B/3, max_p / 4 for q >= B/6, 0 below;
//! p = p(q) min(1, 1 / (256 P)^2), by full SRED times 1 + hit/P.
//!
//! Deviations: none known. While the list fills nothing is dropped early. Numbers are drawn in this
//! order: the place in the list, whether a miss overwrites it, the drop. Cost: O(1), 8 B for each
//! entry of the list, two or three draws.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Limit, Packet, Problem, Rate, Time};

use super::chance::{ByChance, Chooser, Chosen};
use super::{Backlog, Draw, LeafFacts};
use crate::Thresholds;
use crate::evidence::{FactUnit, GoesBy};
use crate::leaf::Bound;
use crate::recipe::At;
use crate::stats::State;

/// Which of the two algorithms of the paper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SredMode {
    /// All packets have the same probability.
    Simple,
    /// Packets that hit have a higher one.
    #[default]
    Full,
}

spillgate_core::spec! {
    /// Parameters of SRED.
    pub struct SredSpec {
        /// Whether packets that hit have a higher probability. Default `full`.
        pub mode: SredMode = SredMode::Full,
        /// Entries of the list (M). Default 1000 (the paper).
        pub zombies: u32 = 1000,
        /// Probability with which a miss overwrites the entry. Default 0.25 (the paper).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub overwrite: f64 = 0.25,
        /// The highest probability of simple SRED, above 0 and at most 1. Default 0.15 (the paper).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub max_p: f64 = 0.15,
        /// Mark ECN-capable packets instead of dropping them. Default false.
        pub ecn: bool = false,
    }
}

/// The paper's 256: with more flows than that the probability rises no more.
const MOST_FLOWS: f64 = 256.0;

impl SredSpec {
    /// None on an average.
    pub(super) fn thresholds(&self, _: Limit, _: Rate) -> Vec<Thresholds> {
        Vec::new()
    }

    pub(super) fn resolve(
        &self,
        at: &mut At<'_>,
        leaf: &LeafFacts,
    ) -> Result<ByChance<Sred>, Problem> {
        at.check(
            (1..=1_000_000).contains(&self.zombies),
            "zombies",
            self.zombies,
            "the list has from 1 to 1,000,000 entries",
            "the usual value is 1000",
        )?;
        for (key, p, usual) in [
            ("overwrite", self.overwrite, "0.25"),
            ("max_p", self.max_p, "0.15"),
        ] {
            at.check(
                p > 0.0 && p <= 1.0,
                key,
                p,
                "a probability must be above 0 and at most 1",
                &format!("the usual value is {usual}"),
            )?;
        }
        let bytes = Bound::new(leaf.limit, leaf.rate).bytes;
        let sred = Sred {
            spec: self.clone(),
            in_bytes: leaf.max_packets.is_none(),
            limit: leaf.max_packets.map_or(bytes as f64, f64::from),
            // The paper: alpha = p / M.
            weight: self.overwrite / f64::from(self.zombies),
        };
        Ok(ByChance::new(sred, self.ecn))
    }
}

/// The law of SRED.
#[derive(Clone, Debug)]
pub(crate) struct Sred {
    spec: SredSpec,
    /// B, in packets or bytes.
    limit: f64,
    in_bytes: bool,
    /// Weight of an arrival in the share of hits.
    weight: f64,
}

/// The state of one queue.
#[derive(Clone, Debug)]
pub(crate) struct Vars {
    /// Flow and count of hits of each entry.
    zombies: Vec<(u32, u32)>,
    /// P.
    hits: f64,
}

impl Sred {
    /// An arrival of `flow`: whether it hits; none while the list fills.
    fn compare<D: Draw>(&self, v: &mut Vars, flow: u32, draw: &mut D) -> Option<bool> {
        let room = self.spec.zombies as usize;
        if v.zombies.len() < room {
            v.zombies.push((flow, 0));
            return None;
        }
        let at = ((draw.draw() * room as f64) as usize).min(room - 1);
        let zombie = &mut v.zombies[at];
        let hit = zombie.0 == flow;
        if hit {
            zombie.1 = zombie.1.saturating_add(1);
        } else if draw.draw() < self.spec.overwrite {
            *zombie = (flow, 0);
        }
        v.hits = (1.0 - self.weight) * v.hits + self.weight * f64::from(u8::from(hit));
        Some(hit)
    }

    /// The step of the probability at a length of the queue.
    fn step(&self, length: f64) -> f64 {
        if length >= self.limit / 3.0 {
            self.spec.max_p
        } else if length >= self.limit / 6.0 {
            self.spec.max_p / 4.0
        } else {
            0.0
        }
    }

    /// The probability at a length of the queue and a share of hits.
    fn probability(&self, length: f64, hits: f64, hit: bool) -> f64 {
        let flows = MOST_FLOWS * hits;
        let factor = if flows > 1.0 {
            1.0 / (flows * flows)
        } else {
            1.0
        };
        let simple = self.step(length) * factor;
        match hit && self.spec.mode == SredMode::Full {
            true => (simple * (1.0 + 1.0 / hits)).min(1.0),
            false => simple,
        }
    }
}

impl Chooser for Sred {
    type Vars = Vars;

    const TELLS_FLOWS: bool = true;

    fn vars(&self) -> Vars {
        Vars {
            zombies: Vec::new(),
            hits: 0.0,
        }
    }

    fn choose<D: Draw>(
        &self,
        v: &mut Vars,
        _: Time,
        backlog: &Backlog,
        packet: &Packet,
        draw: &mut D,
    ) -> Chosen {
        let length = match self.in_bytes {
            true => backlog.bytes as f64,
            false => backlog.packets.into(),
        };
        match self.compare(v, packet.flow, draw) {
            Some(hit) => Chosen::With(self.probability(length, v.hits, hit)),
            None => Chosen::With(0.0),
        }
    }

    fn goes_by(&self, v: &Vars) -> GoesBy {
        GoesBy::plain("hits", "a share of {} of arrivals hit the list of flows").and(
            "hits",
            v.hits,
            FactUnit::One,
        )
    }

    fn state(&self, v: &Vars, _: Time) -> State {
        vec![("sred_hits", v.hits)]
    }

    fn decides_by_packets(&self) -> bool {
        !self.in_bytes
    }
}

#[cfg(test)]
#[path = "sred_tests.rs"]
mod tests;
