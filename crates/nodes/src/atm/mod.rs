//! ATM: circuits with contracts, lines that they share, switches with queues of cells at output
//! ports, and frames of AAL5 where they end.
//!
//! State machines like the rest of this crate: the driver tells them the time of each cell. A cell
//! has its frame, its virtual circuit, and whether it is the last of the frame: a switch sees no
//! more of AAL5.

mod category;
mod cells;
mod check;
mod circuit;
mod contract;
mod discard;
mod events;
mod frames;
mod gcra;
mod guarantee;
mod line;
mod network;
mod plan;
mod police;
mod port;
mod queue;
mod service;
mod shaper;
mod shared;
mod spec;
mod vc;
mod written;

pub use category::{CellPriority, Contract};
pub use cells::Cells;
pub use circuit::{AtmSpec, Carrier, CellPhase, Encapsulation};
pub use contract::{CbrSpec, ContractSpec, GfrSpec, UbrSpec, VbrSpec};
pub use frames::{Ended, Frames};
pub use gcra::Gcra;
pub use line::{CellLine, SentCell};
pub use plan::{AtmLinePlan, AtmLink, AtmPlan, AtmSwitchPlan};
pub use port::{Arrived, CellPort, PortCounts};
pub use shaper::CellShaper;
pub use spec::{
    AtmPortRecipe, AtmSwitchSpec, CellPolice, CellQueues, CellService, Discard, Reassembly,
};
pub use vc::VcSpec;
pub use written::{At, Entry, Flow, Report, Written};

/// A cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Its frame, by a number that no other frame has.
    pub frame: u64,
    /// Dense index of its virtual circuit.
    pub circuit: u32,
    /// It is the last of its frame (the user bit of the payload type, I.363.5).
    pub last: bool,
    /// Its loss priority (CLP) is 1: it is discarded first.
    pub tagged: bool,
}

/// Why a cell is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellLoss {
    /// The queue was full.
    Full,
    /// It was tagged, and the queue was above the threshold for such cells.
    Tagged,
    /// The queue was above the threshold of early packet discard when its frame began.
    Early,
    /// A cell of its frame was lost before.
    Rest,
    /// It did not conform to its contract.
    Policed,
}

impl CellLoss {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Full,
        Self::Tagged,
        Self::Early,
        Self::Rest,
        Self::Policed,
    ];
}
