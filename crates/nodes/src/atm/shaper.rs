//! A shaper of cells: when the cells of a packet may leave at the earliest under a traffic
//! contract.
//!
//! The cells of a packet leave in at most three runs of even steps: at the rate of the line while
//! the tolerance of the peak lasts, at the peak cell rate while the burst lasts, then at the
//! sustainable rate. O(1) for each packet.

use spillgate_core::{Dur, Time};

use super::category::Contract;
use super::gcra::Gcra;
use crate::server::{Run, Train};

/// Lets cells leave as early as their contract and the line allow.
#[derive(Clone, Debug)]
pub struct CellShaper {
    /// What a cell takes on the line.
    slot: Dur,
    /// When the line has sent the last cell.
    free: Time,
    peak: Gcra,
    sustained: Option<Gcra>,
}

impl CellShaper {
    /// The shaper of a contract, on a line on which a cell takes `slot`.
    pub fn new(contract: &Contract, slot: Dur) -> Self {
        Self {
            slot,
            free: Time::ZERO,
            peak: contract.peak(),
            sustained: contract.sustained(),
        }
    }

    /// When the next cell may leave at the earliest.
    #[inline]
    pub fn ready(&self) -> Time {
        let sustained = self.sustained.as_ref().map_or(Time::ZERO, Gcra::ready);
        self.free.max(self.peak.ready()).max(sustained)
    }

    /// When the line has sent the last cell.
    pub fn free_at(&self) -> Time {
        self.free
    }

    /// The line is free from `now` on: what it was sending is cut off. Cells that were to follow
    /// count as sent.
    pub fn cut(&mut self, now: Time) {
        self.free = self.free.min(now);
    }

    /// Sends a cell at `now` or as soon as it may leave, and returns when it begins to leave.
    pub fn send_cell(&mut self, now: Time) -> Time {
        let at = now.max(self.ready());
        for gcra in self.buckets() {
            gcra.count(at);
        }
        self.free = at + self.slot;
        at
    }

    /// Sends the cells of a packet, the first at `now` or as soon as it may leave, and each other
    /// as early as it may.
    pub fn send(&mut self, now: Time, cells: u32) -> Train {
        let mut train = Train::default();
        let Some(mut left) = cells.checked_sub(1) else {
            return train;
        };
        train.add(Run {
            first: self.send_cell(now),
            gap: Dur::ZERO,
            parts: 1,
        });
        while left > 0 {
            let run = self.run(left);
            left -= run.parts;
            train.add(run);
        }
        train
    }

    /// Sends cells as early as they may, at most `most` and as long as their steps are even.
    fn run(&mut self, most: u32) -> Run {
        // What lets the next cell go last also sets the step, until another with a longer one does.
        let mut next = (self.free, self.slot);
        for gcra in self.buckets() {
            next = next.max((gcra.ready(), gcra.increment()));
        }
        let (first, gap) = next;
        let mut cells = u64::from(most);
        for gcra in self.buckets().filter(|g| g.increment() > gap) {
            cells = cells.min(1 + gcra.more_at(first, gap));
        }
        let run = Run {
            first,
            gap,
            parts: cells as u32,
        };
        let last = run.last();
        for gcra in self.buckets() {
            gcra.count_run(first, last, run.parts);
        }
        self.free = last + self.slot;
        run
    }

    fn buckets(&mut self) -> impl Iterator<Item = &mut Gcra> {
        std::iter::once(&mut self.peak).chain(&mut self.sustained)
    }
}

#[cfg(test)]
mod tests {
    use super::super::contract::{CbrSpec, ContractSpec, VbrSpec};
    use super::*;
    use proptest::prelude::*;
    use spillgate_core::Rate;

    const LINE: u64 = 155_520_000;

    fn rate(bps: u64) -> Rate {
        Rate::from_bps(bps).unwrap()
    }

    fn slot() -> Dur {
        rate(LINE).tx_time(53)
    }

    fn vbr(pcr: u64, scr: u64, mbs: u32, cdvt: u64) -> Contract {
        let spec = VbrSpec {
            pcr: rate(pcr),
            scr: rate(scr),
            mbs,
            cdvt: Dur::from_ps(cdvt),
        };
        ContractSpec::NrtVbr(spec).resolve(rate(LINE)).unwrap()
    }

    /// The contract of the paper: OC-1, half of it sustained, 200 cells.
    #[test]
    fn a_burst_leaves_at_the_peak_and_the_rest_at_the_sustainable_rate() {
        let (peak, sustained) = (rate(51_840_000).tx_time(53), rate(25_920_000).tx_time(53));
        let contract = vbr(51_840_000, 25_920_000, 200, 0);
        let mut shaper = CellShaper::new(&contract, slot());
        let start = Time::ZERO + Dur::from_ms(3);
        let train = shaper.send(start, 1000);
        let second = start + peak * 199 + sustained;
        let run = |first, gap, parts| Run { first, gap, parts };
        assert_eq!(
            train.runs(),
            [run(start, peak, 200), run(second, sustained, 800)]
        );
        // MBS cells are there again once the bucket has run empty: after MBS - 1 cells at the
        // sustainable rate without their time at the peak.
        let empty = second + sustained * 800 + (sustained - peak) * 199;
        assert_eq!(shaper.send(empty, 200).runs(), [run(empty, peak, 200)]);
    }

    /// I.371: at the rate of the line ⌊1 + τ / (T − δ)⌋ cells follow one another.
    #[test]
    fn a_tolerance_lets_cells_clump() {
        let pcr = rate(LINE / 4);
        let (t, d) = (pcr.tx_time(53), slot());
        for clump in 1..10_u64 {
            let cdvt = (t - d) * (clump - 1);
            let spec = CbrSpec { pcr, cdvt };
            let contract = ContractSpec::Cbr(spec).resolve(rate(LINE)).unwrap();
            let train = CellShaper::new(&contract, d).send(Time::ZERO, 100);
            let times: Vec<Time> = train.times().collect();
            let steps: Vec<Dur> = times.windows(2).map(|w| w[1].since(w[0])).collect();
            let (clumped, after) = steps.split_at(clump as usize - 1);
            assert!(clumped.iter().all(|s| *s == d) && after.iter().all(|s| *s == t));
        }
    }

    #[test]
    fn in_the_long_run_the_rate_is_the_sustainable_rate() {
        for (pcr, scr, mbs) in [
            (51_840_000, 25_920_000, 200),
            (LINE, 353_207, 1000),
            (10_000_000, 9_999_999, 1),
            (LINE, LINE, 50),
        ] {
            let mut shaper = CellShaper::new(&vbr(pcr, scr, mbs, 0), slot());
            // The burst brings at most MBS cells more than the rate, and T is less than 1 ps too
            // short: with 4,000 MBS cells the first is 0.025 %, and the second below 1e-6 for all
            // these.
            let cells = 4_000 * mbs;
            let end = shaper.send(Time::ZERO, cells).runs().last().unwrap().last();
            let got = f64::from(cells - 1) * 424.0 / end.as_secs_f64();
            assert!((got / scr as f64 - 1.0).abs() < 1e-3, "{got} {scr}");
        }
    }

    fn contract() -> impl Strategy<Value = Contract> {
        let rates = (1_000_000..=LINE, 1_u64..=100);
        (rates, 1_u32..300, prop_oneof![Just(0), 0_u64..50_000_000]).prop_map(
            |((pcr, percent), mbs, cdvt)| vbr(pcr, (pcr * percent / 100).max(1), mbs, cdvt),
        )
    }

    proptest! {
        /// Whole packets at once, cell by cell, and as a policer sees them; and no cell could have
        /// left earlier.
        #[test]
        fn shaped_cells_conform_and_are_as_early_as_can_be(
            contract in contract(),
            packets in prop::collection::vec((0_u64..2_000_000_000, 1_u32..400), 1..30),
        ) {
            let mut whole = CellShaper::new(&contract, slot());
            let mut by_cell = whole.clone();
            let mut policers: Vec<Gcra> = [contract.peak()].into_iter().chain(contract.sustained()).collect();
            let (mut now, mut free) = (0, Time::ZERO);
            for (gap, cells) in packets {
                now += gap;
                let mut asked = Time::from_ps(now);
                let train = whole.send(asked, cells);
                prop_assert!(train.runs().len() <= Train::MOST);
                let mut sent = 0;
                for at in train.times() {
                    prop_assert_eq!(at, by_cell.send_cell(asked));
                    let as_early = |t: Time| t >= asked.max(free) && policers.iter().all(|p| p.conforms(t));
                    prop_assert!(as_early(at));
                    prop_assert!(at == Time::ZERO || !as_early(Time::from_ps(at.as_ps() - 1)));
                    prop_assert!(policers.iter_mut().all(|p| p.police(at)));
                    free = at + slot();
                    asked = at;
                    sent += 1;
                }
                prop_assert_eq!(sent, cells);
                prop_assert_eq!(whole.ready(), by_cell.ready());
            }
        }
    }
}
