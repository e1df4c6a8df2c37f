//! Links that are virtual circuits of ATM.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Overhead, aal5, overhead::Cells};
use spillgate_queueing::ContractSpec;

use super::LinkSpec;

/// The link is a virtual circuit of ATM: each packet becomes an AAL5 frame that leaves as cells, when the traffic contract
/// allows it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AtmSpec {
    /// What cells the circuit may send; they are shaped to it. The policy of the link is made for the rate that it can keep
    /// up. Default: unspecified bit rate, up to the rate of the link.
    pub contract: ContractSpec,
    /// What tells the protocols on the circuit apart (RFC 2684). Default `llc`, unless `overhead` says in cells what is added
    /// to a packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encapsulation: Option<Encapsulation>,
    /// When the line begins to send after a pause. Default `random`.
    pub phase: CellPhase,
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

/// When a line that was idle begins to send a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CellPhase {
    /// With its next slot, up to the time of a cell later, drawn at random: lines have clocks of their own.
    #[default]
    Random,
    /// At once.
    Aligned,
}

impl LinkSpec {
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
