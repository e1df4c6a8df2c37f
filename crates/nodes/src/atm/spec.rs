//! How an ATM switch is written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::words;
use spillgate_core::Problem;

/// An ATM switch: cells wait at its output ports. Links that end there are circuits from edges
/// (`atm`), or come from other ATM switches; those that begin there are lines that all circuits
/// through the port share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AtmSwitchSpec {
    /// The limit of a queue in cells, without the cell in transmission; 1 to 10,000,000. Default
    /// 1000.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub buffer: u32,
    /// The queues of an output port. Default `shared`.
    pub queues: CellQueues,
    /// With `queues: per-vc`: the choice of the circuit that sends next. Default `round-robin`.
    pub service: CellService,
    /// The discard policy of a full or nearly full queue. Default `tail`.
    pub discard: Discard,
    /// With `discard: epd`: the number of waiting cells from which on new frames are lost as a
    /// whole. Default 80 % of `buffer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epd_threshold: Option<u32>,
    /// The number of waiting cells from which on tagged cells (CLP 1) are lost. With `discard: epd`
    /// this decides about whole frames of GFR at their first cell, since all their cells are tagged
    /// or none (double EPD). Default `buffer`: tagged cells are treated like others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clp_threshold: Option<u32>,
    /// The treatment of cells from edges that do not conform to the contract of their circuit.
    /// Default `none`.
    pub police: CellPolice,
    /// The reassembly of frames at the edge where they leave the ATM network. Default `aal5`.
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

words! {
    /// The queues of an output port.
    pub enum CellQueues {
        /// All, first in, first out.
        #[default]
        Shared = "shared",
        /// One queue for each circuit. Buffer and thresholds apply to each queue.
        PerVc = "per-vc",
    }
}

words! {
    /// The queue of a circuit that sends the next cell.
    pub enum CellService {
        /// Circuits take turns, cell by cell.
        #[default]
        RoundRobin = "round-robin",
        /// By service category: CBR, rt-VBR, nrt-VBR, cells within the minimum rate of GFR and UBR,
        /// then all other cells. Circuits of one category take turns, cell by cell.
        Priority = "priority",
    }
}

words! {
    /// What is lost when there is no room.
    pub enum Discard {
        /// The cell that finds no room.
        #[default]
        Tail = "tail",
        /// Partial packet discard (PPD): after a loss the remainder of the frame is lost too,
        /// except for the last cell, which tells where the next frame begins. The last cell is kept
        /// if there is room, even if it is the only cell of its frame.
        Ppd = "ppd",
        /// Early packet discard (EPD): above a threshold new frames are lost as a whole; otherwise
        /// like PPD. The last cell of such a frame is kept, if there is room, only if the last kept
        /// cell of the circuit did not end a frame.
        Epd = "epd",
    }
}

words! {
    /// The treatment of nonconforming cells (usage parameter control). Cells of GFR that exceed the
    /// PCR, or that make their frame longer than the MFS, are lost with either policy, and so is
    /// the remainder of their frame except for the last cell.
    pub enum CellPolice {
        /// Nothing: nobody looks.
        #[default]
        None = "none",
        /// They are tagged (CLP 1). For GFR all cells of frames beyond the minimum rate are tagged
        /// (GFR.2).
        Tag = "tag",
        /// They are lost, but frames of GFR beyond the minimum rate are not (GFR.1).
        Discard = "discard",
    }
}

words! {
    /// What a lost cell does to frames.
    pub enum Reassembly {
        /// As in AAL5: a frame that lost a cell is lost. If the lost cell was its last one, the
        /// next frame is merged with it and lost too.
        #[default]
        Aal5 = "aal5",
        /// Frames are separated correctly even if a last cell is lost.
        Ideal = "ideal",
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
    /// The number of waiting cells from which on early packet discard loses new frames.
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
