//! Links that are virtual circuits of ATM.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Overhead, Rate, aal5, overhead::Cells as Counted};

use super::{Cells, ContractSpec, VcSpec};
use crate::words::words;
use spillgate_core::{Mistake, Problem};

/// The link is a virtual circuit of ATM: each packet becomes an AAL5 frame that leaves as cells,
/// when the traffic contract allows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AtmSpec {
    /// What cells the circuit may send; they are shaped to it. The policy of the link is made for
    /// the rate that it can keep up. Default: unspecified bit rate, up to the rate of the link.
    pub contract: ContractSpec,
    /// Whether the edge shapes cells to the contract. Default yes; otherwise they leave one after
    /// another, and an ATM switch that polices sees what exceeds it.
    pub shaped: bool,
    /// What tells the protocols on the circuit apart (RFC 2684). Default `llc`, unless `overhead`
    /// says in cells what is added to a packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encapsulation: Option<Encapsulation>,
    /// How the cells of a packet lie between those of other lines. Default `random`.
    pub phase: CellPhase,
    /// The physical line of the circuit: links from one node whose `line` is the same share it,
    /// cell by cell. All have its rate as their `rate`, and the same `phase`. Default: a line of
    /// its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// Which circuit of its line it is, as VPI/VCI: for reports, and to find two that are alike.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vc: Option<VcSpec>,
    /// The node behind ATM switches at which the circuit ends; packets go on from there, wherever
    /// they are bound. Default: wherever they leave the switches, as if there were a circuit to
    /// each node behind them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub far_end: Option<String>,
}

impl Default for AtmSpec {
    fn default() -> Self {
        Self {
            contract: ContractSpec::default(),
            shaped: true,
            encapsulation: None,
            phase: CellPhase::default(),
            line: None,
            vc: None,
            far_end: None,
        }
    }
}

words! {
    /// What comes before a routed packet in its AAL5 frame (RFC 2684).
    pub enum Encapsulation {
        /// LLC and SNAP, 8 bytes.
        #[default]
        Llc = "llc",
        /// Nothing: the circuit carries one protocol (VC multiplexing).
        VcMux = "vc-mux",
    }
}

impl Encapsulation {
    /// What it and the trailer of AAL5 add to a packet, in cells.
    pub fn overhead(self) -> Overhead {
        let header = match self {
            Self::Llc => aal5::LLC_SNAP,
            Self::VcMux => 0,
        };
        Overhead::new((header + aal5::TRAILER) as i16, 0, Counted::Atm)
    }
}

words! {
    /// How the cells of a packet lie between those of other lines.
    pub enum CellPhase {
        /// All come by the same time later, drawn for each packet between nothing and the time of a
        /// cell: lines have clocks of their own. Where they are policed, this is tolerated.
        #[default]
        Random = "random",
        /// They leave as soon as they may.
        Aligned = "aligned",
    }
}

/// A link that is written as a circuit.
pub struct Carrier {
    /// Transmission rate of its line.
    pub rate: Rate,
    /// What is written of the bytes that it adds to a packet.
    pub overhead: Overhead,
    /// The longest packet, if that is written.
    pub mtu: Option<u64>,
    /// Its rate varies.
    pub varies: bool,
    /// Packets overtake each other.
    pub reorders: bool,
}

impl AtmSpec {
    /// What a circuit adds to a packet, with this `overhead` of its link.
    pub fn counted(&self, overhead: Overhead) -> Overhead {
        match overhead.cells() {
            Counted::Atm => overhead,
            _ => self.encapsulation.unwrap_or_default().overhead(),
        }
    }

    /// The longest IP packet, labels included, of which a frame can be made.
    pub fn longest(&self, overhead: Overhead) -> u32 {
        let before = u32::from(self.counted(overhead).per_packet().unsigned_abs());
        aal5::MAX_PAYLOAD - before.saturating_sub(aal5::TRAILER)
    }

    /// The rate that its policies are made for, on a line of this rate.
    pub fn policy_rate(&self, line: Rate) -> Rate {
        let contract = self.contract.resolve(line).ok();
        contract.filter(|_| self.shaped).map_or(line, |c| c.rate())
    }

    /// The server of the link; none after an error. Paths begin below the link.
    pub fn resolve(&self, link: &Carrier, refuse: &mut dyn FnMut(Problem)) -> Option<Cells> {
        let mut fine = true;
        let mut refuse = |problem: Problem| {
            refuse(problem);
            fine = false;
        };
        if link.varies {
            let message = "the rate of a circuit is that of its contract";
            let hint = "leave out `rate_process` or `atm`";
            refuse(Problem::new("rate_process", "", message, hint));
        }
        if link.reorders {
            let message = "cells of a circuit stay in order (ITU-T I.150)";
            let hint = "leave out `reorder` or `atm`";
            refuse(Problem::new("reorder", "", message, hint));
        }
        let in_cells = link.overhead.cells() == Counted::Atm;
        if !in_cells && link.overhead != Overhead::NONE {
            let message = "a circuit carries AAL5 frames in cells";
            let hint = "leave out `overhead`, or write it in cells, such as `pppoe-llcsnap`";
            refuse(Problem::new("overhead", link.overhead, message, hint));
        }
        if let Some(encapsulation) = self.encapsulation.filter(|_| in_cells) {
            let (path, found) = ("atm.encapsulation", encapsulation.word());
            let message = format!(
                "`overhead: {}` says already what is added to a packet",
                link.overhead
            );
            let hint = "leave out `encapsulation` or `overhead`";
            refuse(Problem::new(path, found, message, hint));
        }
        let most = self.longest(link.overhead);
        if let Some(mtu) = link.mtu.filter(|m| *m > u64::from(most)) {
            let message = format!("an AAL5 frame carries 65535 B, here packets of up to {most} B");
            let hint = "write at most that, such as 9180 B (RFC 2225)";
            let problem = Problem::new("mtu", format!("{mtu} B"), message, hint);
            refuse(problem.of(Mistake::Range));
        }
        let contract = match self.contract.resolve(link.rate) {
            Ok(contract) => contract,
            Err(problem) => {
                refuse(problem.under("atm.contract"));
                return None;
            }
        };
        let mtu = link.mtu.and_then(|m| u16::try_from(m).ok());
        if let Some(((_, mfs), mtu)) = contract.frames().zip(mtu) {
            let cells = self.counted(link.overhead).wire_len(mtu) / aal5::CELL;
            if cells > mfs {
                let message =
                    format!("a packet of {mtu} B, the `mtu` of the link, takes {cells} cells");
                let hint = format!("write at least {cells}, or a smaller `mtu`");
                refuse(Problem::new("atm.contract.gfr.mfs", mfs, message, hint));
            }
        }
        fine.then(|| Cells {
            line: link.rate,
            category: self.contract.kind(),
            contract,
            shaped: self.shaped,
            phase: self.phase,
            shares: self.line.clone(),
            vc: self.vc,
            far_end: self.far_end.clone(),
        })
    }
}
