//! How AAL5 puts frames together (ITU-T I.363.5): from the cell after a last one to the next last one.

use super::Cell;

/// A last cell has come, which ends a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Between the last cell before and this one came cells of other frames too, whose own last cell is lost: length and CRC are
    /// wrong.
    pub is_merged: bool,
}

/// The frames of circuits that end at a port.
#[derive(Clone, Debug)]
pub struct Frames {
    /// By circuit: the frame whose cells have come since the last one, and whether there were two.
    open: Vec<(Option<u64>, bool)>,
}

impl Frames {
    /// No cell has come, of circuits below `circuits`.
    pub fn new(circuits: usize) -> Self {
        Self {
            open: vec![(None, false); circuits],
        }
    }

    /// A cell has come; what it ends, if it is a last one.
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

    /// Frames by their cells, a capital for the last: which last cells end what is whole.
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
        // a lost its last cell: so b is not whole, and c is.
        assert_eq!(ends("aabBcC"), [false, true]);
        // Both a and b lost theirs.
        assert_eq!(ends("aabcCdD"), [false, true]);
        // Of a frame of which nothing came nothing is seen.
        assert_eq!(ends("aAcC"), [true, true]);
        // Only the last cell of a came: that it is too short the length says.
        assert_eq!(ends("AbB"), [true, true]);
    }
}
