//! An output port of an ATM switch: one queue of cells, or one for each circuit, and a line. O(1)
//! for each cell, beside its [`Service`].

use spillgate_core::{Dur, Time};

use super::discard::FrameFilter;
use super::queue::CellQueue;
use super::service::Service;
use super::spec::AtmPortRecipe;
use super::{Cell, CellLoss, Contract};

/// The counters of a port, from [`CellPort::measure`] on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounts {
    /// Cells that came.
    pub offered: u64,
    /// Cells that were lost, in the order of [`CellLoss::ALL`].
    pub lost: [u64; CellLoss::ALL.len()],
    /// Cells that came tagged.
    pub tagged: u64,
    /// The time that its line was sending.
    pub busy: Dur,
    /// Waiting cells times picoseconds.
    pub waited: u128,
    /// Most cells that waited at once.
    pub most: u32,
}

/// What becomes of a cell that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrived {
    /// The line was idle: the cell's transmission ends then.
    Sent(Time),
    /// It waits.
    Waits,
    /// It is lost.
    Lost(CellLoss),
}

/// An output port.
#[derive(Clone, Debug)]
pub struct CellPort {
    recipe: AtmPortRecipe,
    slot: Dur,
    circuits: Vec<FrameFilter>,
    queues: Vec<CellQueue>,
    service: Service,
    waiting: u32,
    /// Last cells among them.
    lasts: u32,
    sending: Option<Cell>,
    free: Time,
    counts: PortCounts,
    /// The measured period, and the time until which waiting cells have been counted.
    window: (Time, Time),
    counted: Time,
}

impl CellPort {
    /// A port with an idle line on which a cell takes `slot`, for circuits with these contracts.
    pub fn new(recipe: AtmPortRecipe, slot: Dur, contracts: &[Contract]) -> Self {
        let queues = if recipe.per_circuit {
            contracts.len()
        } else {
            1
        };
        let service = match recipe.by_category {
            true => Service::by_category(contracts),
            false => Service::in_turn(queues),
        };
        Self {
            recipe,
            slot,
            circuits: contracts.iter().map(FrameFilter::new).collect(),
            queues: vec![CellQueue::default(); queues],
            service,
            waiting: 0,
            lasts: 0,
            sending: None,
            free: Time::ZERO,
            counts: PortCounts::default(),
            window: (Time::ZERO, Time::MAX),
            counted: Time::ZERO,
        }
    }

    /// PortCounts events from `start` on and before `end`.
    pub fn measure(&mut self, start: Time, end: Time) {
        self.window = (start, end);
        self.counts = PortCounts::default();
        self.counted = start;
    }

    /// What it has counted until `now`.
    pub fn counts(&self, now: Time) -> PortCounts {
        let mut all = self.counts;
        let (_, end) = self.window;
        if self.counted < now.min(end) {
            all.most = all.most.max(self.waiting);
        }
        all.waited +=
            u128::from(self.waiting) * u128::from(now.min(end).since(self.counted).as_ps());
        all
    }

    fn is_counted(&self, now: Time) -> bool {
        self.window.0 <= now && now < self.window.1
    }

    /// Cells that wait.
    pub fn waiting(&self) -> u32 {
        self.waiting
    }

    /// Whether the line is idle and no cell waits.
    pub fn is_idle(&self) -> bool {
        self.sending.is_none()
    }

    /// How long a cell takes.
    pub fn slot(&self) -> Dur {
        self.slot
    }

    /// A lower bound on the time at which the next last cell of a frame has been sent; none if
    /// there is no such cell. Exact with one queue. With several queues a cell still follows the
    /// cells before it in its own queue.
    pub fn last_sent_from(&self) -> Option<Time> {
        if self.sending.is_some_and(|c| c.last) {
            return Some(self.free);
        }
        if self.lasts == 0 {
            return None;
        }
        let before = self
            .queues
            .iter()
            .filter_map(CellQueue::before_last)
            .min()?;
        Some(self.free + self.slot * (before + 1))
    }

    /// A nonconforming cell is lost before the queue.
    pub fn refuse(&mut self, now: Time, cell: Cell) {
        self.circuits[cell.circuit as usize].refuse(cell);
        if self.is_counted(now) {
            self.counts.offered += 1;
            self.counts.lost[CellLoss::Policed as usize] += 1;
        }
    }

    /// A cell arrives.
    pub fn arrive(&mut self, now: Time, cell: Cell) -> Arrived {
        let counted = self.is_counted(now);
        self.counts.offered += u64::from(counted);
        self.counts.tagged += u64::from(counted && cell.tagged);
        let queue = if self.recipe.per_circuit {
            cell.circuit
        } else {
            0
        };
        let waiting = self.queues[queue as usize].len();
        let circuit = &mut self.circuits[cell.circuit as usize];
        if let Some(loss) = circuit.judge(&self.recipe, cell, waiting) {
            self.counts.lost[loss as usize] += u64::from(counted);
            return Arrived::Lost(loss);
        }
        if self.sending.is_none() {
            return Arrived::Sent(self.send(now, cell));
        }
        self.level(now, 1);
        self.lasts += u32::from(cell.last);
        let queue_of = &mut self.queues[queue as usize];
        let is_first = queue_of.is_empty();
        queue_of.push(cell);
        if is_first {
            self.service.begin(now, queue);
        }
        Arrived::Waits
    }

    fn send(&mut self, now: Time, cell: Cell) -> Time {
        self.sending = Some(cell);
        self.free = now + self.slot;
        let (start, end) = self.window;
        let within = self.free.min(end).since(now.max(start));
        self.counts.busy = self.counts.busy + within;
        self.free
    }

    /// The number of waiting cells changes.
    fn level(&mut self, now: Time, by: i32) {
        let (start, end) = self.window;
        let to = now.min(end);
        if self.counted < to {
            // The cells may have waited when the period began.
            self.counts.most = self.counts.most.max(self.waiting);
        }
        self.counts.waited += u128::from(self.waiting) * u128::from(to.since(self.counted).as_ps());
        self.counted = self.counted.max(to);
        self.waiting = self.waiting.wrapping_add_signed(by);
        if start <= now && now < end {
            self.counts.most = self.counts.most.max(self.waiting);
        }
    }

    /// The line has sent its cell: returns that cell, and when the transmission of the next one
    /// ends, if a cell waits.
    pub fn sent(&mut self, now: Time) -> Option<(Cell, Option<Time>)> {
        let cell = self.sending.take()?;
        let Some(queue) = self.service.next(now) else {
            return Some((cell, None));
        };
        let queue_of = &mut self.queues[queue as usize];
        let next = queue_of.pop();
        self.lasts -= u32::from(next.is_some_and(|c| c.last));
        self.service.served(queue, !queue_of.is_empty());
        self.level(now, -1);
        let until = next.map(|next| self.send(now, next));
        Some((cell, until))
    }

    /// Cells of a frame pass an idle line one after another, the first at `now`. A cell of the
    /// frame has been kept before, the last cell is not among them, and no edge of the measured
    /// period lies between their arrivals and departures.
    pub fn pass(&mut self, now: Time, circuit: u32, cells: u32) {
        debug_assert!(self.is_idle() && self.passes(circuit));
        if self.is_counted(now) {
            self.counts.offered += u64::from(cells);
            self.counts.busy = self.counts.busy + self.slot * u64::from(cells);
        }
    }

    /// Whether all cells that come of the present frame of a circuit are kept while the queue is
    /// empty.
    pub fn passes(&self, circuit: u32) -> bool {
        self.circuits[circuit as usize].passes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{AtmSwitchSpec, CellQueues, ContractSpec, Discard, Frames};
    use super::*;
    use spillgate_core::Rate;

    const SLOT: Dur = Dur::from_ps(10);

    fn port(spec: AtmSwitchSpec) -> CellPort {
        let contract = Contract::whole(Rate::from_bps(1_000_000).unwrap());
        CellPort::new(spec.recipe().unwrap(), SLOT, &vec![contract; 4])
    }

    fn cell(circuit: u32, frame: u64, last: bool) -> Cell {
        Cell {
            frame,
            circuit,
            last,
            tagged: false,
        }
    }

    /// The fates of cells that all arrive at 0 while another cell is sent: `.` waits, other letters
    /// give the reason of the loss.
    fn fates(port: &mut CellPort, cells: &[Cell]) -> String {
        let fate = |c: &Cell| match port.arrive(Time::ZERO, *c) {
            Arrived::Sent(_) => '>',
            Arrived::Waits => '.',
            Arrived::Lost(CellLoss::Full) => 'f',
            Arrived::Lost(CellLoss::Tagged) => 't',
            Arrived::Lost(CellLoss::Early) => 'e',
            Arrived::Lost(CellLoss::Rest) => 'r',
            Arrived::Lost(CellLoss::Policed) => 'p',
        };
        cells.iter().map(fate).collect()
    }

    fn frame(circuit: u32, number: u64, cells: u32) -> Vec<Cell> {
        (1..=cells)
            .map(|i| cell(circuit, number, i == cells))
            .collect()
    }

    #[test]
    fn what_each_way_of_discarding_loses() {
        let arrivals = [frame(0, 0, 3), frame(1, 1, 5), frame(0, 2, 2)].concat();
        for (discard, wanted) in [
            // The line has one cell, the queue four.
            (Discard::Tail, ">....fffff"),
            // The last cells of the second and the third frame do not fit either.
            (Discard::Ppd, ">....frfff"),
            // Three wait when the third begins.
            (Discard::Epd, ">....frfee"),
        ] {
            let mut port = port(AtmSwitchSpec {
                buffer: 4,
                discard,
                ..AtmSwitchSpec::default()
            });
            assert_eq!(fates(&mut port, &arrivals), wanted, "{discard:?}");
        }
    }

    #[test]
    fn the_last_cell_of_a_partly_discarded_frame_is_kept() {
        let mut port = port(AtmSwitchSpec {
            buffer: 2,
            discard: Discard::Ppd,
            ..AtmSwitchSpec::default()
        });
        assert_eq!(fates(&mut port, &frame(0, 0, 6)[..5]), ">..fr");
        assert_eq!(
            port.sent(Time::from_ps(10)).unwrap().1,
            Some(Time::from_ps(20))
        );
        assert_eq!(fates(&mut port, &[cell(0, 0, true)]), ".");
        // No cell of the frame is kept but its last cell, since there is room again.
        assert_eq!(fates(&mut port, &frame(1, 1, 3)[..2]), "fr");
        port.sent(Time::from_ps(20));
        assert_eq!(fates(&mut port, &[cell(1, 1, true)]), ".");
    }

    /// A cell that is lost before the queue still begins or ends its frame: early packet discard
    /// judges a frame by its first cell, and the cell after a last cell begins another frame.
    #[test]
    fn a_frame_begins_and_ends_with_cells_that_do_not_conform() {
        let mut port = port(AtmSwitchSpec {
            buffer: 9,
            discard: Discard::Epd,
            epd_threshold: Some(2),
            ..AtmSwitchSpec::default()
        });
        port.refuse(Time::ZERO, cell(0, 0, false));
        assert_eq!(fates(&mut port, &frame(1, 1, 3)), ">..");
        // Two cells wait: a frame that began now would be lost.
        assert_eq!(fates(&mut port, &frame(0, 0, 4)[1..3]), "..");
        port.refuse(Time::ZERO, cell(0, 0, true));
        // The last cell ends the kept part of the frame before.
        assert_eq!(fates(&mut port, &frame(0, 2, 2)), "e.");
    }

    /// Only events within the measured period count: the longest queue was before it, and waiting
    /// cells wait on after it.
    #[test]
    fn counts_end_with_the_measured_period() {
        let ps = Time::from_ps;
        let mut port = port(AtmSwitchSpec::default());
        port.measure(ps(15), ps(35));
        fates(&mut port, &frame(0, 0, 4));
        for t in [10, 20] {
            port.sent(ps(t));
        }
        let counts = port.counts(ps(35));
        // Two waited from 15 to 20, one from then on.
        assert_eq!(
            (counts.offered, counts.waited, counts.most),
            (0, 2 * 5 + 15, 2)
        );
        assert_eq!(port.counts(ps(50)), counts);
    }

    /// The last cell of frame 0 finds no room. That of frame 1, of which nothing else is kept, ends
    /// it, so that frame 2 is whole (I.363.5). Nothing needs that of frame 3: partial packet
    /// discard keeps it where there is room, early does not.
    #[test]
    fn a_last_cell_is_kept_for_the_frame_before() {
        for (discard, wanted, ends) in [
            (Discard::Ppd, [">..f", "fr", ">", "..", "f", "."], 3),
            (Discard::Epd, [">..f", "ee", ">", "..", "e", "e"], 2),
        ] {
            let mut port = port(AtmSwitchSpec {
                buffer: 2,
                discard,
                epd_threshold: (discard == Discard::Epd).then_some(2),
                ..AtmSwitchSpec::default()
            });
            let (mut now, mut left) = (Time::ZERO, Vec::new());
            let mut run = |cells: &[Cell], sent: u32| {
                let fates = fates(&mut port, cells);
                for _ in 0..sent {
                    now += SLOT;
                    left.extend(port.sent(now).map(|(cell, _)| cell));
                }
                fates
            };
            let fates = [
                run(&frame(0, 0, 4), 0),
                run(&frame(0, 1, 3)[..2], 3),
                run(&[cell(0, 1, true)], 0),
                run(&frame(0, 2, 2), 0),
                run(&frame(0, 3, 2)[..1], 1),
                run(&[cell(0, 3, true)], 3),
            ];
            assert_eq!(fates, wanted, "{discard:?}");
            let mut frames = Frames::new(1);
            let merged: Vec<_> = left
                .iter()
                .filter_map(|c| Some((c.frame, frames.arrive(*c)?.is_merged)))
                .collect();
            assert_eq!(
                merged,
                [(1, true), (2, false), (3, false)][..ends],
                "{discard:?}"
            );
        }
    }

    #[test]
    fn tagged_cells_are_lost_first() {
        let mut port = port(AtmSwitchSpec {
            buffer: 4,
            clp_threshold: Some(2),
            ..AtmSwitchSpec::default()
        });
        let mut cells = frame(0, 0, 6);
        (cells[1].tagged, cells[3].tagged, cells[5].tagged) = (true, true, true);
        assert_eq!(fates(&mut port, &cells), ">..t.t");
        let counts = port.counts(Time::ZERO);
        assert_eq!((counts.offered, counts.tagged, counts.most), (6, 3, 3));
    }

    /// Double EPD: of a frame of GFR all cells are tagged. With other contracts each cell has its
    /// tag.
    #[test]
    fn tagged_frames_of_gfr_are_lost_as_a_whole() {
        let gfr: ContractSpec =
            serde_json::from_str(r#"{"gfr": {"mcr": "1 Mb/s", "mbs": 9, "mfs": 9}}"#).unwrap();
        let line = Rate::from_bps(1_000_000).unwrap();
        let contracts = [gfr.resolve(line).unwrap(), Contract::whole(line)];
        let spec = AtmSwitchSpec {
            buffer: 9,
            discard: Discard::Epd,
            epd_threshold: Some(6),
            clp_threshold: Some(3),
            ..AtmSwitchSpec::default()
        };
        let tagged = |mut cells: Vec<Cell>| {
            cells.iter_mut().for_each(|c| c.tagged = true);
            cells
        };
        for (circuit, wanted) in [(0, ">....eee..e"), (1, ">...ttrt...")] {
            let mut port = CellPort::new(spec.recipe().unwrap(), SLOT, &contracts);
            // The first begins below the threshold for tagged frames, the second does not, the
            // third is not tagged, the fourth comes above that of all.
            let cells = [
                tagged(frame(circuit, 0, 5)),
                tagged(frame(circuit, 1, 3)),
                frame(circuit, 2, 2),
                frame(circuit, 3, 1),
            ];
            assert_eq!(fates(&mut port, &cells.concat()), wanted, "{circuit}");
        }
    }

    #[test]
    fn circuits_with_queues_of_their_own_take_turns() {
        let mut port = port(AtmSwitchSpec {
            buffer: 3,
            queues: CellQueues::PerVc,
            ..AtmSwitchSpec::default()
        });
        let cells = [frame(0, 0, 5), frame(1, 1, 2), frame(2, 2, 1)].concat();
        assert_eq!(fates(&mut port, &cells), ">...f...");
        // The last cell of circuit 2 could be next; it is once 0 and 1 had their turns.
        assert_eq!(port.last_sent_from(), Some(Time::from_ps(20)));
        let mut order = Vec::new();
        let mut now = Time::ZERO + SLOT;
        while let Some((cell, next)) = port.sent(now) {
            order.push((cell.circuit, now));
            now = next.unwrap_or(now);
        }
        let circuits: Vec<u32> = order.iter().map(|(c, _)| *c).collect();
        assert_eq!(circuits, [0, 0, 1, 2, 0, 1, 0]);
        assert_eq!(now, Time::from_ps(70));
        // 6, 5, ... cells for 10 ps each.
        assert_eq!(port.counts(now).waited, (6 + 5 + 4 + 3 + 2 + 1) * 10);
        assert_eq!(port.counts(now).busy, SLOT * 7);
    }

    #[test]
    fn with_one_queue_it_is_known_when_a_frame_ends() {
        let mut port = port(AtmSwitchSpec::default());
        fates(&mut port, &frame(0, 0, 3)[..2]);
        assert_eq!(port.last_sent_from(), None);
        fates(&mut port, &[cell(0, 0, true), cell(1, 1, true)]);
        assert_eq!(port.last_sent_from(), Some(Time::from_ps(30)));
        for t in [10, 20, 30] {
            port.sent(Time::from_ps(t));
        }
        assert_eq!(port.last_sent_from(), Some(Time::from_ps(40)));
    }
}
