//! Usage parameter control: whether cells of a circuit conform to its contract at the first switch.
//!
//! Cells of CBR, VBR and UBR are judged one by one. Those of GFR (ATM Forum TM 4.1, with F-GCRA in
//! its appendix VI) do not conform if they exceed the PCR, or if they make their frame longer than
//! MFS cells; they are lost, and with them what is left of their frame but for the last cell. Of
//! what conforms, whole frames are within the MCR or not, by F-GCRA: the first cell is judged, and
//! all cells of a frame that passes count. Those of other frames are tagged where the network tags
//! (GFR.2). The rules on PCR and MFS are from memory, not checked against the text of the standard.

use spillgate_core::{Dur, Time};

use super::{CellPolice, Contract, Gcra};

/// What becomes of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judged {
    Passes,
    Tagged,
    Lost,
}

/// The frames of GFR.
#[derive(Clone, Debug)]
struct FramePolicer {
    minimum: Gcra,
    /// MFS.
    longest: u32,
    /// How many cells of the present frame have come.
    came: u32,
    is_within: bool,
    loses: bool,
    /// Some cell of it has passed.
    passed: bool,
}

/// Judges the cells of a circuit.
#[derive(Clone, Debug)]
pub(super) struct Policer {
    cells: Vec<Gcra>,
    frames: Option<FramePolicer>,
}

impl Policer {
    /// A policer for a contract; `tolerated`: cells may be delayed by this time on their way.
    pub(super) fn new(contract: &Contract, tolerated: Dur) -> Self {
        let policer = |g: Gcra| Gcra::new(g.increment(), g.limit() + tolerated);
        let all = std::iter::once(contract.peak()).chain(contract.sustained());
        let frames = contract.minimum().zip(contract.frames());
        let frames = frames.map(|(minimum, (_, mfs))| FramePolicer {
            minimum: policer(minimum),
            longest: mfs,
            came: 0,
            is_within: false,
            loses: false,
            passed: false,
        });
        Self {
            cells: all.map(policer).collect(),
            frames,
        }
    }

    /// Judges a cell, which may be the last of its frame.
    pub(super) fn judge(&mut self, at: Time, is_last: bool, police: CellPolice) -> Judged {
        let conforms = self.cells.iter().all(|g| g.conforms(at));
        let tags = police == CellPolice::Tag;
        let judged = match &mut self.frames {
            Some(frames) => frames.judge(at, is_last, conforms, tags),
            None if conforms => Judged::Passes,
            None if tags => return Judged::Tagged,
            None => return Judged::Lost,
        };
        if judged != Judged::Lost {
            self.cells.iter_mut().for_each(|g| g.count(at));
        }
        judged
    }
}

impl FramePolicer {
    fn judge(&mut self, at: Time, is_last: bool, conforms: bool, tags: bool) -> Judged {
        if self.came == 0 {
            self.is_within = self.minimum.conforms(at);
            (self.loses, self.passed) = (false, false);
        }
        self.came += 1;
        let is_long = self.came >= self.longest && !is_last;
        self.loses |= is_long || !conforms;
        let ends_what_passed = is_last && self.passed && conforms;
        if is_last {
            self.came = 0;
        }
        if self.loses && !ends_what_passed {
            return Judged::Lost;
        }
        self.passed = true;
        if self.is_within {
            self.minimum.count(at);
        }
        match tags && !self.is_within {
            true => Judged::Tagged,
            false => Judged::Passes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ContractSpec;
    use super::*;
    use spillgate_core::Rate;

    /// GFR at 4.24 Mb/s, of which 424 kb/s are the minimum: a cell in 100 us, and one in 1 ms.
    fn policer(mbs: u32, mfs: u32) -> Policer {
        let spec = format!(
            r#"{{"gfr": {{"pcr": "4.24 Mb/s", "mcr": "424 kb/s", "mbs": {mbs}, "mfs": {mfs}}}}}"#
        );
        let spec: ContractSpec = serde_json::from_str(&spec).unwrap();
        let line = Rate::from_bps(42_400_000).unwrap();
        Policer::new(&spec.resolve(line).unwrap(), Dur::ZERO)
    }

    /// The fates of frames that begin at these times in us, with numbers of cells and gaps: `.`
    /// passes, `t` is tagged, `-` is lost.
    fn judged(policer: &mut Policer, police: CellPolice, frames: &[(u64, u64, u64)]) -> String {
        let letter = |judged| match judged {
            Judged::Passes => '.',
            Judged::Tagged => 't',
            Judged::Lost => '-',
        };
        let frame = |(start, cells, gap): &(u64, u64, u64)| -> String {
            let at = |i: u64| Time::ZERO + Dur::from_us(start + i * gap);
            let one = |i| letter(policer.judge(at(i), i + 1 == *cells, police));
            (0..*cells).map(one).collect()
        };
        frames.iter().map(frame).collect::<Vec<_>>().join(" ")
    }

    /// Each begins when the four cells of the one before are through. BT is 9 (1 ms - 100 us) =
    /// 8.1 ms: the first frames count 1 ms a cell, so that TAT is 4, 8 and 12 ms when the next
    /// begin at 0.4, 0.8 and 1.2 ms; the fourth is more than 8.1 ms early. At 4 ms it is not.
    #[test]
    fn whole_frames_are_within_the_minimum_or_not() {
        let mut gfr = policer(10, 4);
        let frames = [
            (0, 4, 100),
            (400, 4, 100),
            (800, 4, 100),
            (1200, 4, 100),
            (4000, 4, 100),
        ];
        assert_eq!(
            judged(&mut gfr, CellPolice::Tag, &frames),
            ".... .... .... tttt ...."
        );
        // GFR.1 promises nothing of the fourth, and does not lose it.
        let found = judged(&mut policer(10, 4), CellPolice::Discard, &frames);
        assert_eq!(found, ".... .... .... .... ....");
    }

    /// Beyond the PCR a cell is lost and the rest with it, but for the last one, which tells where
    /// the next frame begins; at the rate of the line the second is 90 us too early.
    #[test]
    fn what_exceeds_the_peak_is_lost() {
        let mut gfr = policer(100, 4);
        let frames = [(0, 4, 10), (1000, 4, 40), (2000, 1, 1), (2050, 2, 100)];
        // 30 us and 120 us after the first: the last of the second frame conforms.
        assert_eq!(judged(&mut gfr, CellPolice::Tag, &frames), ".--- .--. . --");
    }

    /// TM 4.1: the MFS-th cell conforms only if it is the last.
    #[test]
    fn longer_frames_than_the_maximum_do_not_conform() {
        let mut gfr = policer(100, 4);
        let frames = [(0, 4, 100), (1000, 5, 100), (2000, 7, 100)];
        assert_eq!(
            judged(&mut gfr, CellPolice::Tag, &frames),
            ".... ...-. ...---."
        );
    }
}
