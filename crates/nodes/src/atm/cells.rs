//! Servers of circuits: the cells of a packet leave as early as their contract and their line
//! allow. O(1) for each packet.

use std::fmt;

use spillgate_core::curve::Curve;
use spillgate_core::{Dur, Rate, Rng, Time, aal5::CELL};
use spillgate_queueing::{Reason, Service};

use super::guarantee::Sharers;
use super::{CellPhase, CellShaper, Contract, VcSpec};
use crate::Put;
use crate::server::{Run, Server, ServerFacts, ServerRecipe, Train};

/// A link that is a circuit, validated.
#[derive(Clone, Debug, PartialEq)]
pub struct Cells {
    /// The rate of the line.
    pub line: Rate,
    /// The key of the contract.
    pub category: &'static str,
    /// What it allows.
    pub contract: Contract,
    /// Whether cells wait until it does.
    pub shaped: bool,
    /// When the line begins to send after a pause.
    pub phase: CellPhase,
    /// The name of the line, at the sending node, that it shares with other circuits; none: its
    /// own.
    pub shares: Option<String>,
    /// Which circuit it is.
    pub vc: Option<VcSpec>,
    /// The name of the node behind ATM switches at which it ends; none: wherever packets leave the
    /// switches.
    pub far_end: Option<String>,
}

impl Cells {
    /// What its cells are shaped to.
    pub(super) fn shape(&self) -> Contract {
        match self.shaped {
            true => self.contract.clone(),
            false => Contract::whole(self.line),
        }
    }

    /// By how much cells of a packet may leave later than the contract has them, at most.
    pub(super) fn drift(&self) -> Dur {
        match self.phase {
            CellPhase::Random => self.line.tx_time(CELL),
            CellPhase::Aligned => Dur::ZERO,
        }
    }
}

impl ServerRecipe for Cells {
    fn build(&self, stream: &dyn Fn(&str) -> Rng) -> Box<dyn Server> {
        let phase = Phase {
            line: self.line,
            slot: self.line.tx_time(CELL),
            rng: (self.phase == CellPhase::Random).then(|| stream("phase")),
        };
        match self.shares {
            Some(_) => Box::new(Sharing {
                phase,
                drawn: Dur::ZERO,
            }),
            None => Box::new(Alone {
                shaper: CellShaper::new(&self.shape(), phase.slot),
                train: Train::default(),
                phase,
            }),
        }
    }

    fn facts(&self) -> ServerFacts {
        ServerFacts {
            rate: self.shaped.then(|| self.contract.rate()),
            in_parts: true,
            why: "cells are shaped to a contract, so packets are served one by one",
        }
    }

    /// The node of its line knows what others leave to a circuit that shares one.
    fn serves(&self) -> Result<Service, Reason> {
        if self.shares.is_some() {
            return Err("no guarantee of this circuit beside others is known".into());
        }
        Sharers::alone(self).serves(0, &|_| String::new())
    }

    fn sends(&self, longest: u32) -> Option<Curve> {
        let alone = self.shares.is_none().then(|| Sharers::alone(self));
        alone.and_then(|s| s.sends(0, longest).ok())
    }

    /// The phases of two packets differ by less than a slot.
    fn peak(&self) -> Option<(Rate, Dur)> {
        Some((self.line, self.line.tx_time(CELL)))
    }
}

impl fmt::Display for Cells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = if self.shaped { "" } else { "not shaped to " };
        f.write_str("ATM")?;
        self.vc.iter().try_for_each(|vc| write!(f, " {vc}"))?;
        self.shares.iter().try_for_each(|l| write!(f, " on {l}"))?;
        self.far_end.iter().try_for_each(|n| write!(f, " to {n}"))?;
        let contract = &self.contract;
        write!(f, ", {how}{}, PCR {}", self.category, contract.pcr())?;
        if let Some((scr, mbs)) = contract.burst() {
            write!(f, ", SCR {scr}, MBS {mbs} cells")?;
        }
        match (contract.minimum_rate(), contract.frames()) {
            (Some(mcr), Some((mbs, mfs))) => {
                write!(f, ", MCR {mcr}, MBS {mbs} cells, MFS {mfs} cells")
            }
            (Some(mdcr), None) => write!(f, ", MDCR {mdcr}"),
            _ => Ok(()),
        }
    }
}

/// The phase of each packet on a line.
struct Phase {
    line: Rate,
    /// The time of a cell on the line.
    slot: Dur,
    /// None: cells leave as soon as they may.
    rng: Option<Rng>,
}

impl Phase {
    /// How much later the cells of a packet leave, less than the time of a cell.
    fn draw(&mut self) -> Dur {
        let slot = self.slot.as_ps() as f64;
        Dur::from_ps(self.rng.as_mut().map_or(0.0, |rng| rng.f64() * slot) as u64)
    }

    fn capacity(&self, from: Time, to: Time) -> f64 {
        self.line.bps() as f64 * to.since(from).as_secs_f64()
    }
}

/// A circuit with a line of its own.
struct Alone {
    phase: Phase,
    shaper: CellShaper,
    /// When each cell of the last packet has left.
    train: Train,
}

impl Server for Alone {
    fn begins(&mut self, now: Time, _: bool) -> Time {
        self.shaper.ready().max(now)
    }

    fn send(&mut self, start: Time, bytes: u32) -> Time {
        // Packets stay in order: their phases differ by less than a cell.
        let late = self.phase.slot + self.phase.draw();
        self.train = self.shaper.send(start, (bytes / CELL).max(1)).later(late);
        self.train.runs().last().map_or(start, Run::last)
    }

    fn put(&self) -> Put {
        Put::Parts(self.train)
    }

    fn next(&self, _: Time) -> Time {
        self.shaper.ready()
    }

    fn cut(&mut self, now: Time) {
        self.shaper.cut(now);
    }

    fn capacity(&self, from: Time, to: Time) -> f64 {
        self.phase.capacity(from, to)
    }
}

/// A circuit that shares its line: when its cells leave depends on the others.
struct Sharing {
    phase: Phase,
    /// The phase of the last packet.
    drawn: Dur,
}

impl Server for Sharing {
    fn send(&mut self, _: Time, _: u32) -> Time {
        self.drawn = self.phase.draw();
        Time::MAX
    }

    fn put(&self) -> Put {
        Put::Turns(self.drawn)
    }

    /// When the line says.
    fn next(&self, _: Time) -> Time {
        Time::ZERO
    }

    fn capacity(&self, from: Time, to: Time) -> f64 {
        self.phase.capacity(from, to)
    }
}
