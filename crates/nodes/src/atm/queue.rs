//! Cells that wait, first in, first out.

use std::collections::VecDeque;

use super::Cell;

/// A queue, and the positions of its last cells, counted from the first cell that was ever queued.
#[derive(Clone, Debug, Default)]
pub(super) struct CellQueue {
    cells: VecDeque<Cell>,
    taken: u64,
    lasts: VecDeque<u64>,
}

impl CellQueue {
    /// A cell waits.
    pub(super) fn push(&mut self, cell: Cell) {
        if cell.last {
            self.lasts.push_back(self.taken + self.cells.len() as u64);
        }
        self.cells.push_back(cell);
    }

    /// The cell that has waited longest.
    pub(super) fn pop(&mut self) -> Option<Cell> {
        let cell = self.cells.pop_front()?;
        self.taken += 1;
        if cell.last {
            self.lasts.pop_front();
        }
        Some(cell)
    }

    /// How many wait.
    pub(super) fn len(&self) -> u32 {
        self.cells.len() as u32
    }

    pub(super) fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// How many cells wait before the first last cell, if there is one.
    pub(super) fn before_last(&self) -> Option<u64> {
        Some(self.lasts.front()? - self.taken)
    }
}
