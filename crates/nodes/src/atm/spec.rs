//! How an ATM switch is written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Problem;

/// An ATM switch: cells wait at its output ports. Links that end there are circuits from edges (`atm`), or come from other
/// ATM switches; those that begin there are lines that all circuits through the port share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AtmSwitchSpec {
    /// Cells that a queue holds, beside the one that is being sent; 1 to 10,000,000. Default 1000.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub buffer: u32,
    /// Which cells wait in one queue. Default `shared`.
    pub queues: CellQueues,
    /// With `queues: per-vc`: whose cell goes next. Default `round-robin`.
    pub service: CellService,
    /// What is lost when a queue is full, or nearly. Default `tail`.
    pub discard: Discard,
    /// With `discard: epd`: waiting cells from which on frames that begin are lost as a whole. Default 80 % of `buffer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epd_threshold: Option<u32>,
    /// Waiting cells from which on tagged cells (CLP 1) are lost; with `discard: epd` whole frames of GFR, whose cells are tagged
    /// all or none, by their first cell (double EPD). Default `buffer`: they are treated as all others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clp_threshold: Option<u32>,
    /// What becomes of cells from edges that do not conform to the contract of their circuit. Default `none`.
    pub police: CellPolice,
    /// How the frames that leave for an edge are put together there. Default `aal5`.
    pub reassembly: Reassembly,
}

impl Default for AtmSwitchSpec {
    fn default() -> Self {
        Self {
            buffer: 1000,
            queues: CellQueues::default(),
            service: CellService::default(),
            discard: Discard::default(),
            epd_threshold: None,
            clp_threshold: None,
            police: CellPolice::default(),
            reassembly: Reassembly::default(),
        }
    }
}

/// Which cells of an output port wait in one queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CellQueues {
    /// All, first in, first out.
    #[default]
    Shared,
    /// Those of a circuit. Buffer and thresholds are those of each queue.
    PerVc,
}

/// Which of the queues of circuits sends the next cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CellService {
    /// Circuits take turns, cell by cell.
    #[default]
    RoundRobin,
    /// By service category: CBR, then rt-VBR, then nrt-VBR, then what is within the minimum rate of GFR and UBR, then
    /// everything else; circuits of one category take turns, cell by cell.
    Priority,
}

/// What is lost when there is no room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Discard {
    /// The cell that finds no room.
    #[default]
    Tail,
    /// Partial packet discard (PPD): also the rest of its frame, but for the last cell, which tells where the next frame
    /// begins; it is kept where there is room, even if nothing else of the frame is.
    Ppd,
    /// Early packet discard (EPD): whole frames from a threshold on, and PPD. The last cell of such a frame is kept, where there is
    /// room, only if the cell of the circuit that was kept last ended no frame.
    Epd,
}

/// What becomes of cells that do not conform (usage parameter control). Cells of GFR that exceed the PCR, or make their frame longer
/// than the MFS, are lost in both cases, and with them what is left of their frame but for the last cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CellPolice {
    /// Nothing: nobody looks.
    #[default]
    None,
    /// Their loss priority is set (CLP 1); of GFR that of all cells of frames beyond the minimum rate (GFR.2).
    Tag,
    /// They are lost. Frames of GFR beyond the minimum rate are not (GFR.1).
    Discard,
}

/// What a lost cell does to frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reassembly {
    /// As AAL5 does: a frame that lost a cell is lost, and if it was the last one, so is the next frame, which is taken for a
    /// part of it.
    #[default]
    Aal5,
    /// Frames are told apart even where their last cell is lost.
    Ideal,
}

impl CellQueues {
    /// As it is written.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::PerVc => "per-vc",
        }
    }
}

impl CellService {
    /// As it is written.
    pub const fn word(self) -> &'static str {
        match self {
            Self::RoundRobin => "round-robin",
            Self::Priority => "priority",
        }
    }
}

impl CellPolice {
    /// As it is written.
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Tag => "tag",
            Self::Discard => "discard",
        }
    }
}

impl Reassembly {
    /// As it is written.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Aal5 => "aal5",
            Self::Ideal => "ideal",
        }
    }
}

/// How to build the ports of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtmPortRecipe {
    pub(super) buffer: u32,
    pub(super) per_circuit: bool,
    pub(super) by_category: bool,
    pub(super) rest_is_lost: bool,
    /// [`u32::MAX`]: none.
    pub(super) early: u32,
    /// [`u32::MAX`]: none.
    pub(super) tagged: u32,
}

impl AtmPortRecipe {
    /// Whether cells go by the service category of their circuit.
    pub fn goes_by_category(&self) -> bool {
        self.by_category
    }

    /// Bytes of memory that the full queues of a port take, with so many circuits.
    pub fn memory_bytes(&self, circuits: usize) -> u64 {
        let queues = if self.per_circuit { circuits } else { 1 };
        // Rings double as they grow.
        2 * size_of::<super::Cell>() as u64 * u64::from(self.buffer) * queues as u64
    }
}

/// Most cells of a queue.
const MOST: u32 = 10_000_000;

impl AtmSwitchSpec {
    /// Waiting cells from which on early packet discard loses frames that begin.
    fn early(&self) -> u32 {
        let most_of_it = (self.buffer * 4 / 5).max(1);
        self.epd_threshold.unwrap_or(most_of_it)
    }

    /// In which order cells go.
    pub fn service_in_words(&self) -> &'static str {
        match self.queues {
            CellQueues::Shared => "fifo",
            CellQueues::PerVc => self.service.word(),
        }
    }

    /// What is lost, and from when on.
    pub fn discard_in_words(&self) -> String {
        let frames = match self.discard {
            Discard::Tail => "tail".to_owned(),
            Discard::Ppd => "ppd".to_owned(),
            Discard::Epd => format!("epd from {} cells", self.early()),
        };
        match self.clp_threshold {
            Some(cells) => format!("{frames}, tagged from {cells} cells"),
            None => frames,
        }
    }

    /// The recipe of its ports.
    ///
    /// # Errors
    /// If a number is out of range, or a threshold has no effect.
    pub fn recipe(&self) -> Result<AtmPortRecipe, Problem> {
        Problem::check(
            (1..=MOST).contains(&self.buffer),
            "buffer",
            self.buffer,
            "a queue of 1 to 10,000,000 cells is possible",
            "usual values are 256 to 8000",
        )?;
        let (per_circuit, by_category) = (
            self.queues == CellQueues::PerVc,
            self.service == CellService::Priority,
        );
        Problem::check(
            per_circuit || !by_category,
            "service",
            self.service.word(),
            "all circuits wait in one queue, first in, first out",
            "write `queues: per-vc`, or leave it out",
        )?;
        let is_epd = self.discard == Discard::Epd;
        if let Some(threshold) = self.epd_threshold {
            Problem::check(
                is_epd,
                "epd_threshold",
                threshold,
                "a threshold of early packet discard without it",
                "write `discard: epd`, or leave it out",
            )?;
        }
        let thresholds = [
            ("epd_threshold", self.epd_threshold),
            ("clp_threshold", self.clp_threshold),
        ];
        for (key, threshold) in thresholds {
            if let Some(cells) = threshold.filter(|t| !(1..=self.buffer).contains(t)) {
                let message = format!("the queue holds {} cells", self.buffer);
                let hint = format!("write 1 to {}", self.buffer);
                return Err(Problem::new(key, cells, message, hint));
            }
        }
        Ok(AtmPortRecipe {
            buffer: self.buffer,
            per_circuit,
            by_category,
            rest_is_lost: self.discard != Discard::Tail,
            early: if is_epd { self.early() } else { u32::MAX },
            tagged: self.clp_threshold.unwrap_or(u32::MAX),
        })
    }
}
