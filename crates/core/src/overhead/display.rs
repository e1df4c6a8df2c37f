//! An overhead as text: as it may be written, and in words for people.

use std::fmt;

use super::{Cells, Overhead};

impl fmt::Debug for Overhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Overhead")
            .field("per_packet", &self.per_packet())
            .field("mpu", &self.mpu())
            .field("cells", &self.cells())
            .finish()
    }
}

/// The shortest text of the same meaning: `none`, bytes, or numbers with keywords.
impl fmt::Display for Overhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.per_packet();
        match (self.mpu(), self.cells()) {
            (0, Cells::None) if n == 0 => return f.write_str("none"),
            (0, Cells::None) => return write!(f, "{n} B"),
            _ => {}
        }
        write!(f, "overhead {n}")?;
        // The unit of 1 B comes with less than nothing.
        if self.mpu() > u16::from(n < 0) {
            write!(f, " mpu {}", self.mpu())?;
        }
        match self.cells() {
            Cells::None => Ok(()),
            cells => write!(f, " {}", cells.word()),
        }
    }
}

impl Overhead {
    /// What counts, for people, such as `IP packet + 40 B, cells of ATM (53 B for 48 B)`.
    pub fn in_words(self) -> String {
        let n = self.per_packet();
        let mut text = match n {
            0 => "IP packet".to_owned(),
            1.. => format!("IP packet + {n} B"),
            _ => format!("IP packet - {} B", n.unsigned_abs()),
        };
        if self.mpu() > u16::from(n < 0) {
            text.push_str(&format!(", at least {} B", self.mpu()));
        }
        text.push_str(match self.cells() {
            Cells::None => "",
            Cells::Atm => ", cells of ATM (53 B for 48 B)",
            Cells::Ptm => ", code of PTM (65 B for 64 B)",
        });
        text
    }
}
