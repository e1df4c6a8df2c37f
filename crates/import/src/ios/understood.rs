//! What was understood of a configuration, for people and programs.

use serde::Serialize;
use spillgate_core::Rate;
use spillgate_queueing::Outline;
use spillgate_scenario::Diagnostic;
use spillgate_scenario::import::ImportedCircuit;
use spillgate_scenario::plan::{RingPlan, Unmodelled};

/// What was understood of a configuration. Rates are in b/s, bursts in bytes.
#[derive(Debug, Serialize)]
pub struct Understood {
    /// The file, as the user named it.
    pub file: String,
    /// Whose meaning the commands were given.
    pub platform: PlatformFacts,
    /// Interfaces with a policy, the policies without their classes; or the one that was
    /// asked for, with them.
    pub interfaces: Vec<InterfaceTree>,
    /// Policies that no interface has, neither directly nor inside another, with their classes;
    /// their rates are unknown.
    pub unattached: Vec<Outline>,
    /// Lines without effect on the simulation, or with less than on the router.
    pub unmodelled: Vec<Unmodelled>,
    /// What the user should know.
    pub warnings: Vec<Diagnostic>,
}

/// A platform's semantics, and where they are from.
#[derive(Debug, Serialize)]
pub struct PlatformFacts {
    /// Its name on the command line.
    pub name: &'static str,
    /// In a few words.
    pub summary: &'static str,
    /// Which bytes rates count, in words.
    pub counts: String,
    /// One line a fact or assumption.
    pub sources: &'static [&'static str],
}

/// An interface and what queues on it.
#[derive(Debug, Serialize)]
pub struct InterfaceTree {
    /// Its full name.
    pub name: String,
    /// Line of its `interface` command, from 1.
    pub line: u32,
    /// What percentages of its policy are of, in b/s, if it is known.
    pub rate: Option<u64>,
    /// Where that is from.
    pub rate_from: &'static str,
    /// Bytes that policers count beside each IP packet, where they are known.
    pub counted_bytes: Option<i16>,
    /// Which bytes its rates count, in words.
    pub counts: String,
    /// The circuit of ATM that it is, or that is its only one.
    pub circuit: Option<CircuitFacts>,
    /// The transmit ring behind its output policy; none without one, and where its rate is unknown.
    pub ring: Option<RingFacts>,
    /// Its output policy; none if it has none that is modelled.
    pub policy: Option<Outline>,
    /// What polices and marks the packets that arrive by it; queues in it have no effect.
    pub input: Option<Outline>,
}

/// A transmit ring.
#[derive(Debug, Serialize)]
pub struct RingFacts {
    /// Its packets, the one in transmission included.
    pub packets: u32,
    /// Where that is from, in words.
    pub from: String,
}

impl From<RingPlan> for RingFacts {
    fn from(ring: RingPlan) -> Self {
        Self {
            packets: ring.packets,
            from: ring.from.to_string(),
        }
    }
}

/// A circuit of ATM. Rates are in b/s and count cells of 53 bytes.
#[derive(Debug, Serialize)]
pub struct CircuitFacts {
    /// Its virtual path and channel, such as `1/32`.
    pub vc: String,
    /// The name that the configuration gives it.
    pub name: Option<String>,
    /// Line of its `pvc` command, from 1.
    pub line: u32,
    /// The category of its contract: `cbr`, `rt-vbr`, `nrt-vbr`, `ubr` or `gfr`.
    pub category: &'static str,
    /// The peak cell rate; none if it is that of the line.
    pub pcr: Option<u64>,
    /// The minimum cell rate, of `ubr+`.
    pub mcr: Option<u64>,
    /// The sustainable cell rate, of VBR.
    pub scr: Option<u64>,
    /// Cells that may leave at the peak cell rate, of VBR.
    pub mbs: Option<u32>,
    /// What is in its frames, by the word of `atm.encapsulation` or of `overhead` in a scenario.
    pub encapsulation: &'static str,
}

impl CircuitFacts {
    pub(super) fn of(circuit: &ImportedCircuit) -> Self {
        let contract = circuit.contract.as_ref().map(|(c, _)| c.clone());
        let contract = contract.unwrap_or_default();
        Self {
            vc: circuit.vc.to_string(),
            name: circuit.name.clone(),
            line: circuit.spot.line,
            category: contract.kind(),
            pcr: contract.pcr().map(Rate::bps),
            mcr: contract.minimum_rate().map(Rate::bps),
            scr: contract.burst().map(|(scr, _)| scr.bps()),
            mbs: contract.burst().map(|(_, mbs)| mbs),
            encapsulation: circuit.framing.0.word(),
        }
    }
}
