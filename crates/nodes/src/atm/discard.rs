//! What is lost of frames at a queue of cells.
//!
//! Sources: A. Romanow, S. Floyd, "Dynamics of TCP traffic over ATM networks", IEEE Journal on Selected Areas in
//! Communications 13(4), 1995 (partial and early packet discard); R. Goyal and others, "Providing rate guarantees to TCP over the
//! ATM GFR service", LCN 1998 (double EPD: a threshold for frames that are tagged, and a higher one for all); M. Casoni, "Early
//! packet discard with diverse management policies for EOM cells", IEEE BSS 1997 (last cells under EPD). A frame begins with the
//! cell after a last one. O(1) for each cell.
//!
//! A last cell ends what was kept before it, of its own frame or of an earlier one whose last cell was lost. Partial packet discard
//! keeps it where there is room. Early packet discard, which loses frames whole, keeps it if the last cell that was kept ended no frame:
//! that frame would otherwise take the next one with it.

use spillgate_queueing::Contract;

use super::spec::AtmPortRecipe;
use super::{Cell, CellLoss};

/// What is lost of the frame of a circuit that is coming in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Losing {
    #[default]
    Nothing,
    /// All further cells but for the last.
    Rest,
    /// All of it, but for a last cell that an earlier frame needs.
    All,
}

/// What a port knows of the frame of a circuit that is coming in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circuit {
    /// All cells of a frame are tagged, or none is (GFR).
    by_frame: bool,
    /// A frame has begun, and its last cell has not come.
    is_open: bool,
    losing: Losing,
    /// Some cell of the frame has been kept.
    kept: bool,
    /// The cell that was kept last, of whatever frame, ends none.
    is_unended: bool,
}

impl Circuit {
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

    /// Why a cell is lost that finds so many waiting; none if it is kept.
    pub(super) fn judge(
        &mut self,
        recipe: &AtmPortRecipe,
        cell: Cell,
        waiting: u32,
    ) -> Option<CellLoss> {
        let is_tagged = cell.tagged && waiting >= recipe.tagged;
        // Double EPD: frames that are tagged as a whole are lost as a whole, or not at all.
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

    /// Whether all cells that come of the present frame are kept while the queue is empty.
    pub(super) fn passes(&self) -> bool {
        self.is_open && self.kept && self.losing == Losing::Nothing
    }
}
