//! What an ATM traffic contract lets a virtual circuit send, and what it promises it, by service
//! category.
//!
//! Source: ATM Forum TM 4.1 sections 2 and 4, ITU-T I.371. Rates count cells of 53 bytes.

use spillgate_core::{Dur, Rate, aal5::CELL};

use super::gcra::Gcra;

/// Whose cells a port sends first, if it tells circuits apart by their service category.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CellPriority {
    /// Constant bit rate.
    Cbr,
    /// Variable bit rate in real time.
    RtVbr,
    /// Variable bit rate for everything else.
    NrtVbr,
    /// What is within the minimum rate of GFR, or of UBR.
    Minimum,
    /// Everything else.
    BestEffort,
}

/// What a contract promises beside its peak.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Promise {
    /// Constant bit rate: the peak.
    Peak,
    Sustained {
        scr: Rate,
        mbs: u32,
        is_rt: bool,
    },
    /// Unspecified bit rate.
    Desired(Option<Rate>),
    /// Guaranteed frame rate.
    Frames {
        mcr: Rate,
        mbs: u32,
        mfs: u32,
    },
}

impl Promise {
    /// The sustainable cell rate and the maximum burst size in cells.
    pub(super) fn burst(self) -> Option<(Rate, u32)> {
        match self {
            Self::Sustained { scr, mbs, .. } => Some((scr, mbs)),
            _ => None,
        }
    }

    /// The minimum cell rate of GFR, or the minimum desired cell rate of UBR.
    pub(super) fn minimum(self) -> Option<Rate> {
        match self {
            Self::Desired(mdcr) => mdcr,
            Self::Frames { mcr, .. } => Some(mcr),
            _ => None,
        }
    }
}

/// A contract with its algorithms.
#[derive(Clone, Debug, PartialEq)]
pub struct Contract {
    pub(super) pcr: Rate,
    pub(super) cdvt: Dur,
    pub(super) promise: Promise,
}

impl Contract {
    /// A contract that never delays a cell on a line of this rate.
    pub fn whole(line: Rate) -> Self {
        Self {
            pcr: line,
            cdvt: Dur::ZERO,
            promise: Promise::Desired(None),
        }
    }

    /// What of its cells that the contract has a guarantee for is sent before.
    pub fn priority(&self) -> CellPriority {
        match self.promise {
            Promise::Peak => CellPriority::Cbr,
            Promise::Sustained { is_rt: true, .. } => CellPriority::RtVbr,
            Promise::Sustained { .. } => CellPriority::NrtVbr,
            Promise::Desired(None) => CellPriority::BestEffort,
            Promise::Desired(Some(_)) | Promise::Frames { .. } => CellPriority::Minimum,
        }
    }

    /// The rate that the network sets aside: the PCR of CBR, the SCR of VBR, the minimum of UBR and
    /// GFR.
    pub fn guaranteed(&self) -> Option<Rate> {
        match self.promise {
            Promise::Peak => Some(self.pcr),
            Promise::Sustained { scr, .. } => Some(scr),
            Promise::Desired(_) | Promise::Frames { .. } => self.minimum_rate(),
        }
    }

    /// The minimum cell rate of GFR, or the minimum desired cell rate of UBR.
    pub fn minimum_rate(&self) -> Option<Rate> {
        self.promise.minimum()
    }

    /// GCRA(1/MCR, BT + CDVT), which tells what the minimum rate covers; BT = (MBS − 1)(1/MCR −
    /// 1/PCR), and 0 with UBR. With GFR it is applied to frames, as F-GCRA.
    pub fn minimum(&self) -> Option<Gcra> {
        let mbs = self.frames().map_or(1, |(mbs, _)| mbs);
        Some(self.slower(self.minimum_rate()?, mbs))
    }

    /// The maximum burst size and the maximum frame size of GFR, in cells.
    pub fn frames(&self) -> Option<(u32, u32)> {
        match self.promise {
            Promise::Frames { mbs, mfs, .. } => Some((mbs, mfs)),
            _ => None,
        }
    }

    /// GCRA(1/rate, BT + CDVT) with the burst tolerance BT = (MBS − 1)(1/rate − 1/PCR).
    fn slower(&self, rate: Rate, mbs: u32) -> Gcra {
        let (slow, fast) = (rate.tx_time(CELL), self.pcr.tx_time(CELL));
        let tolerance = (slow - fast) * u64::from(mbs.saturating_sub(1));
        Gcra::new(slow, tolerance + self.cdvt)
    }

    /// The peak cell rate.
    pub fn pcr(&self) -> Rate {
        self.pcr
    }

    /// The rate that it can keep up: the sustainable rate, or the peak if there is none.
    pub fn rate(&self) -> Rate {
        self.burst().map_or(self.pcr, |(scr, _)| scr)
    }

    /// The sustainable cell rate and the maximum burst size in cells, if there are any.
    pub fn burst(&self) -> Option<(Rate, u32)> {
        self.promise.burst()
    }

    /// GCRA(1/PCR, CDVT), which every cell must conform to.
    pub fn peak(&self) -> Gcra {
        Gcra::new(self.pcr.tx_time(CELL), self.cdvt)
    }

    /// GCRA(1/SCR, BT + CDVT) with the burst tolerance BT = (MBS − 1)(1/SCR − 1/PCR), if there is a
    /// sustainable rate.
    pub fn sustained(&self) -> Option<Gcra> {
        let (scr, mbs) = self.burst()?;
        Some(self.slower(scr, mbs))
    }
}
