//! Discarding cells of frames at a queue.
//!
//! Sources: A. Romanow, S. Floyd, "Dynamics of TCP traffic over ATM networks", IEEE Journal on
//! Selected Areas in Communications 13(4), 1995 (partial and early packet discard); R. Goyal and
//! others, "Providing rate guarantees to TCP over the ATM GFR service", LCN 1998 (double EPD: a
//! threshold for frames that are tagged, and a higher one for all); M. Casoni, "Early packet
//! discard with diverse management policies for EOM cells", IEEE BSS 1997 (last cells under EPD). A
//! frame begins with the cell after the last cell of the frame before. O(1) for each cell.
//!
//! The last cell of a frame ends all cells kept before it, of its own frame or of an earlier frame
//! whose last cell was lost. Partial packet discard keeps it if there is room. Early packet discard
//! loses whole frames; it keeps a last cell only if the cell kept before belongs to an unfinished
//! frame, which would otherwise be merged with the next frame.

use super::spec::AtmPortRecipe;
use super::{Cell, CellLoss, Contract};

/// The part of a circuit's incoming frame that is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Losing {
    #[default]
    Nothing,
    /// All further cells but for the last.
    Rest,
    /// The whole frame, except for a last cell that an earlier frame needs.
    All,
}

/// The state of a circuit's incoming frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameFilter {
    /// All cells of a frame are tagged, or none is (GFR).
    by_frame: bool,
    /// A frame has begun, and its last cell has not come.
    is_open: bool,
    losing: Losing,
    /// Some cell of the frame has been kept.
    kept: bool,
    /// The cell that was kept last is not the last cell of a frame.
    is_unended: bool,
}

impl FrameFilter {
    /// No frame has begun.
    pub(super) fn new(contract: &Contract) -> Self {
        Self {
            by_frame: contract.frames().is_some(),
            is_open: false,
            losing: Losing::Nothing,
            kept: false,
            is_unended: false,
        }
    }

    /// A frame begins.
    fn begin(&mut self) {
        (self.losing, self.kept) = (Losing::Nothing, false);
    }

    /// A cell is lost before the queue.
    pub(super) fn refuse(&mut self, cell: Cell) {
        if !self.is_open {
            self.begin();
        }
        self.is_open = !cell.last;
    }

    /// Why a cell that finds `waiting` cells is lost; none if it is kept.
    pub(super) fn judge(
        &mut self,
        recipe: &AtmPortRecipe,
        cell: Cell,
        waiting: u32,
    ) -> Option<CellLoss> {
        let is_tagged = cell.tagged && waiting >= recipe.tagged;
        // Double EPD: a frame that is tagged as a whole is lost as a whole or not at all.
        let by_frame = recipe.early != u32::MAX && self.by_frame;
        if !self.is_open {
            self.begin();
            if waiting >= recipe.early || by_frame && is_tagged {
                self.losing = Losing::All;
            }
        }
        self.is_open = !cell.last;
        let loss = match self.losing {
            Losing::All if !(cell.last && self.is_unended) => CellLoss::Early,
            Losing::Rest if !cell.last => CellLoss::Rest,
            _ if waiting >= recipe.buffer => CellLoss::Full,
            _ if is_tagged && !by_frame => CellLoss::Tagged,
            _ => {
                self.kept = true;
                self.is_unended = !cell.last;
                return None;
            }
        };
        if recipe.rest_is_lost && self.losing == Losing::Nothing {
            self.losing = Losing::Rest;
        }
        Some(loss)
    }

    /// Whether all further cells of the present frame are kept while the queue is empty.
    pub(super) fn passes(&self) -> bool {
        self.is_open && self.kept && self.losing == Losing::Nothing
    }
}
