//! What a packet occupies on a link: the one definition, by which every rate, limit and burst
//! counts.
//!
//! To the IP packet (and its labels) come the bytes that the link adds; what is shorter than the
//! least unit is filled up to it; and the whole is cut into cells of ATM or coded as PTM does. The
//! order and the formulas are those of Linux (`cake_calc_overhead` of `net/sched/sch_cake.c`), so
//! that its keywords mean here what they mean there ([`words`]).

mod display;
pub mod words;

use crate::aal5;

pub use words::parse_overhead;

/// What a link does with a frame of so many bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cells {
    /// It sends the frame as it is.
    #[default]
    None,
    /// It cuts the frame into cells of ATM, 53 B for each 48 B or part of them.
    Atm,
    /// It sends one byte more for each 64 B or part of them: the 64B/65B code of IEEE 802.3 clause
    /// 61.3.3, as CAKE counts it.
    Ptm,
}

impl Cells {
    /// The keyword.
    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "noatm",
            Self::Atm => "atm",
            Self::Ptm => "ptm",
        }
    }
}

/// Bytes that the link adds to an IP packet, the shortest frame it sends, and its cells.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Overhead {
    /// Added to every packet; less than nothing where the link compresses headers.
    per_packet: i16,
    /// The shortest frame, and above [`SHIFT`] the number of [`Cells`]: four bytes in all, since
    /// they lie in a cache line of which every packet on a link needs each byte.
    least: u16,
}

const SHIFT: u32 = 14;

impl Overhead {
    /// Nothing: a link counts the IP packet.
    pub const NONE: Self = Self {
        per_packet: 0,
        least: 0,
    };
    /// Most bytes that may be added to a packet, and the most that a frame may be filled up to.
    pub const MOST: u16 = 1_000;

    /// `per_packet` bytes more (or less) than the IP packet, at least `mpu` bytes (minimum packet
    /// unit; at least 1 where `per_packet` is negative), in these cells.
    ///
    /// # Panics
    /// If either is beyond [`Self::MOST`].
    pub const fn new(per_packet: i16, mpu: u16, cells: Cells) -> Self {
        assert!(per_packet.unsigned_abs() <= Self::MOST && mpu <= Self::MOST);
        let least = if per_packet < 0 && mpu == 0 { 1 } else { mpu };
        Self {
            per_packet,
            least: least | ((cells as u16) << SHIFT),
        }
    }

    /// Bytes added to every packet.
    pub const fn per_packet(self) -> i16 {
        self.per_packet
    }

    /// The shortest frame in bytes, what is added included; before it is cut into cells.
    pub const fn mpu(self) -> u16 {
        self.least & ((1 << SHIFT) - 1)
    }

    /// What becomes of a frame.
    pub const fn cells(self) -> Cells {
        match self.least >> SHIFT {
            0 => Cells::None,
            1 => Cells::Atm,
            _ => Cells::Ptm,
        }
    }

    /// The bytes that a packet of `l3_len` occupies.
    #[inline]
    pub const fn wire_len(self, l3_len: u16) -> u32 {
        self.occupied(l3_len as i32)
    }

    /// The same with `labels` bytes of MPLS labels between the link's header and the IP packet.
    #[inline]
    pub const fn labelled_len(self, l3_len: u16, labels: u16) -> u32 {
        self.occupied(l3_len as i32 + labels as i32)
    }

    #[inline]
    const fn occupied(self, payload: i32) -> u32 {
        let frame = payload + self.per_packet as i32;
        // Without cells `least` is the shortest frame.
        if self.least >> SHIFT == 0 {
            let least = self.least as i32;
            return if frame < least { least } else { frame } as u32;
        }
        self.in_cells(frame)
    }

    #[inline(never)]
    const fn in_cells(self, frame: i32) -> u32 {
        let least = self.mpu() as i32;
        let frame = if frame < least { least } else { frame } as u32;
        match self.cells() {
            Cells::None => frame,
            Cells::Atm => aal5::cells(frame) * aal5::CELL,
            Cells::Ptm => frame + frame.div_ceil(64),
        }
    }
}
