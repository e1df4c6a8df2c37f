//! Reassembly of AAL5 frames (ITU-T I.363.5): a frame extends from the cell after a last cell to
//! the next last cell.

use super::Cell;

/// A frame that ended with its last cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// It contains cells of other frames whose last cell was lost, so its length and CRC are wrong.
    pub is_merged: bool,
}

/// The frames of circuits that end at a port.
#[derive(Clone, Debug)]
pub struct Frames {
    /// By circuit: the frame whose cells have arrived since the last frame ended, and whether cells
    /// of two frames have.
    open: Vec<(Option<u64>, bool)>,
}

impl Frames {
    /// Frames of circuits below `circuits`, before the first cell.
    pub fn new(circuits: usize) -> Self {
        Self {
            open: vec![(None, false); circuits],
        }
    }

    /// A cell has arrived; the frame that it ends, if it is a last cell.
    pub fn arrive(&mut self, cell: Cell) -> Option<Ended> {
        let (frame, is_merged) = &mut self.open[cell.circuit as usize];
        *is_merged |= frame.is_some_and(|f| f != cell.frame);
        *frame = Some(cell.frame);
        if !cell.last {
            return None;
        }
        *frame = None;
        Some(Ended {
            is_merged: std::mem::take(is_merged),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes frames as letters, with a capital for a last cell, and returns for each last cell
    /// whether the frame is whole.
    fn ends(cells: &str) -> Vec<bool> {
        let mut frames = Frames::new(1);
        let cell = |c: char| Cell {
            frame: c.to_ascii_lowercase() as u64,
            circuit: 0,
            last: c.is_ascii_uppercase(),
            tagged: false,
        };
        let ended = |c| frames.arrive(cell(c));
        cells
            .chars()
            .filter_map(ended)
            .map(|e| !e.is_merged)
            .collect()
    }

    #[test]
    fn a_frame_without_its_last_cell_takes_the_next_with_it() {
        assert_eq!(ends("aaAbB"), [true, true]);
        // Frame a lost its last cell, so b is not whole; c is.
        assert_eq!(ends("aabBcC"), [false, true]);
        // Both a and b lost theirs.
        assert_eq!(ends("aabcCdD"), [false, true]);
        // A frame without any cell leaves no trace.
        assert_eq!(ends("aAcC"), [true, true]);
        // Only the last cell of a arrived: the length in the trailer tells that the frame is too
        // short.
        assert_eq!(ends("AbB"), [true, true]);
    }
}
