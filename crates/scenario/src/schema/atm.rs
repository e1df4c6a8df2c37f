//! Links that are virtual circuits of ATM.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Overhead, aal5, overhead::Cells};
use spillgate_queueing::{ContractSpec, Counting};

use super::{LinkSpec, VcSpec};

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

/// What comes before a routed packet in its AAL5 frame (RFC 2684).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Encapsulation {
    /// LLC and SNAP, 8 bytes.
    Llc,
    /// Nothing: the circuit carries one protocol (VC multiplexing).
    VcMux,
}

impl Encapsulation {
    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Self::Llc => "llc",
            Self::VcMux => "vc-mux",
        }
    }

    /// What it and the trailer of AAL5 add to a packet, in cells.
    pub fn overhead(self) -> Overhead {
        let header = match self {
            Self::Llc => aal5::LLC_SNAP,
            Self::VcMux => 0,
        };
        Overhead::new((header + aal5::TRAILER) as i16, 0, Cells::Atm)
    }
}

/// How the cells of a packet lie between those of other lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CellPhase {
    /// All come by the same time later, drawn for each packet between nothing and the time of a
    /// cell: lines have clocks of their own. Where they are policed, this is tolerated.
    #[default]
    Random,
    /// They leave as soon as they may.
    Aligned,
}

impl LinkSpec {
    /// What the rates of its policies count; none: what it adds, or what a router counts.
    pub fn counting(&self) -> Option<Counting> {
        self.policy_overhead.map(|o| o.0)
    }

    /// What the link adds to a packet.
    pub fn counted(&self) -> Overhead {
        match &self.atm {
            Some(atm) if self.overhead.cells() != Cells::Atm => {
                atm.encapsulation.unwrap_or(Encapsulation::Llc).overhead()
            }
            _ => self.overhead,
        }
    }
}

impl CellPhase {
    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Aligned => "aligned",
        }
    }
}
