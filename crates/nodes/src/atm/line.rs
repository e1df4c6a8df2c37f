//! A line that virtual circuits of an edge share: the choice of a circuit for each slot.
//!
//! Each circuit has at most one packet in segmentation. A cell may leave when its circuit's shaper
//! permits. Each slot takes one of the cells that may leave when the slot begins: a cell of the
//! best [`CellPriority`], and among these the one that has waited longest. So circuits of one
//! priority take turns, cell by cell. A circuit makes up for the time that its cell waits for cells
//! of others, up to a slot for each other circuit: the shaper counts the cell as sent earlier by
//! that time. So each cell of a circuit leaves at most that time later than its contract permits,
//! and a circuit of high priority loses no rate to slots of the others. With one circuit no cell
//! waits, and cells leave at the times of [`CellShaper::send`].
//!
//! A circuit with a minimum rate is best effort, except for cells that are due by GCRA(1/MCR, τ),
//! which go before best effort. Due cells that higher categories delay stay due, until the circuit
//! pauses.
//!
//! A slot is decided when it is over ([`CellLine::next`]), since all candidates are known then.
//! O(log n) for each cell in the number of circuits that are sending.

use std::collections::BTreeSet;

use spillgate_core::{Dur, Time};

use super::{CellPriority, CellShaper, Contract, Gcra};
use crate::server::Run;

/// Number of priorities.
const PRIORITIES: usize = CellPriority::BestEffort as usize + 1;

/// A cell that has been sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentCell {
    /// Number of its circuit on the line.
    pub circuit: u32,
    /// When it began to leave.
    pub start: Time,
    /// When it has left.
    pub end: Time,
    /// It is the last of its packet.
    pub last: bool,
}

/// The next cells of circuits, in the order of the times at which they may leave.
type Order = BTreeSet<(Time, u32)>;

/// A circuit on the line.
#[derive(Clone, Debug)]
struct LineCircuit {
    priority: CellPriority,
    /// What is within its minimum rate: its next cell goes before best effort once it conforms.
    minimum: Option<Gcra>,
    shaper: CellShaper,
    /// Cells of its packet that have not been sent, and when the next of them may leave.
    left: u32,
    may: Time,
    /// Since when it waits for its turn.
    turn: Time,
}

/// A line with the circuits that share it.
#[derive(Clone, Debug)]
pub struct CellLine {
    slot: Dur,
    /// When the line has sent the last cell.
    free: Time,
    /// The part of a cell's wait that its circuit makes up for.
    made_up: Dur,
    circuits: Vec<LineCircuit>,
    /// How many circuits have cells.
    sending: usize,
    /// Cells by priority; the cell of a circuit with a minimum rate is in two sets.
    cells: [Order; PRIORITIES],
}

impl CellLine {
    /// An idle line with slots of length `slot`. Each circuit has a contract that gives its
    /// priority, and a contract to which its cells are shaped.
    pub fn new<'a>(
        slot: Dur,
        circuits: impl IntoIterator<Item = (&'a Contract, &'a Contract)>,
    ) -> Self {
        let circuit = |(contract, shape): (&Contract, &Contract)| LineCircuit {
            priority: match contract.priority() {
                CellPriority::Minimum => CellPriority::BestEffort,
                other => other,
            },
            minimum: contract.minimum(),
            shaper: CellShaper::new(shape, slot),
            left: 0,
            may: Time::ZERO,
            turn: Time::ZERO,
        };
        let circuits: Vec<LineCircuit> = circuits.into_iter().map(circuit).collect();
        Self {
            slot,
            free: Time::ZERO,
            made_up: Self::lateness(slot, circuits.len()),
            circuits,
            sending: 0,
            cells: Default::default(),
        }
    }

    /// The largest delay of a cell beyond its contract that costs a circuit no rate: a slot for
    /// each other circuit of the line.
    pub fn lateness(slot: Dur, circuits: usize) -> Dur {
        slot * (circuits as u64).saturating_sub(1)
    }

    /// A circuit begins with a packet of `cells` cells at `now`, when the first cell may leave
    /// ([`CellLine::ready`]).
    pub fn begin(&mut self, circuit: u32, now: Time, cells: u32) {
        let c = &mut self.circuits[circuit as usize];
        debug_assert!(c.left == 0, "one packet at a time");
        c.left = cells;
        if now > c.may {
            (c.may, c.turn) = (now, now);
            if let Some(minimum) = &mut c.minimum {
                minimum.forget(now);
            }
        }
        self.sending += 1;
        self.enter(circuit);
    }

    /// Where the next cell of a circuit stands.
    fn places(c: &LineCircuit) -> impl Iterator<Item = (CellPriority, Time)> + use<> {
        let due = |m: &Gcra| (CellPriority::Minimum, m.ready().max(c.may));
        let minimum = c.minimum.as_ref().map(due);
        std::iter::once((c.priority, c.turn)).chain(minimum)
    }

    fn enter(&mut self, circuit: u32) {
        for (class, from) in Self::places(&self.circuits[circuit as usize]) {
            self.cells[class as usize].insert((from, circuit));
        }
    }

    fn leave(&mut self, circuit: u32) {
        for (class, from) in Self::places(&self.circuits[circuit as usize]) {
            self.cells[class as usize].remove(&(from, circuit));
        }
    }

    /// When the first cell of a circuit's next packet may leave, after the last cell of the packet
    /// before.
    pub fn ready(&self, circuit: u32) -> Time {
        self.circuits[circuit as usize].may
    }

    /// When the next slot with a cell begins, if no packet arrives; none if no circuit has cells.
    fn next_start(&self) -> Option<Time> {
        let first = self.cells.iter().filter_map(|c| c.first()).min()?;
        Some(first.0.max(self.free))
    }

    /// When the next slot with a cell is over, if no packet arrives before it begins; none if no
    /// circuit has cells.
    pub fn next(&self) -> Option<Time> {
        Some(self.next_start()? + self.slot)
    }

    /// The cell of the next slot; none if no circuit has cells.
    pub fn send(&mut self) -> Option<SentCell> {
        let start = self.next_start()?;
        let first = |(class, cells): (usize, &Order)| {
            let (from, circuit) = *cells.first()?;
            (from <= start).then_some((class, circuit))
        };
        let (class, circuit) = self.cells.iter().enumerate().find_map(first)?;
        self.leave(circuit);
        self.free = start + self.slot;
        let c = &mut self.circuits[circuit as usize];
        // Not before the cell may leave, or the shaper would refuse it.
        let earlier = Time::ZERO + start.since(Time::ZERO + self.made_up);
        c.shaper.send_cell(c.may.max(earlier));
        c.left -= 1;
        c.may = self.free.max(c.shaper.ready());
        let within = class == CellPriority::Minimum as usize;
        if let Some(minimum) = c.minimum.as_mut().filter(|_| within) {
            minimum.count_due();
        }
        // A cell within the minimum rate takes no turn.
        if !within || c.may > self.free {
            c.turn = c.may;
        }
        let last = c.left == 0;
        match last {
            true => self.sending -= 1,
            false => self.enter(circuit),
        }
        Some(SentCell {
            circuit,
            start,
            end: self.free,
            last,
        })
    }

    /// The only circuit with cells, if there is exactly one; none if it has a minimum rate, since
    /// its cell is in two sets then.
    pub fn alone(&self) -> Option<u32> {
        let mut all = self.cells.iter().filter_map(Order::first);
        let (_, circuit) = *all.next().filter(|_| self.sending == 1)?;
        all.next().is_none().then_some(circuit)
    }

    /// Sends cells of the only circuit that has some, if they do not wait for the line and all
    /// leave by `until`: returns the first cell, their number, and the last. Equivalent to as many
    /// calls of [`CellLine::send`].
    pub fn send_alone(&mut self, until: Time) -> Option<(SentCell, u32, SentCell)> {
        let circuit = self.alone()?;
        let c = &self.circuits[circuit as usize];
        // Cheaper than the train.
        if c.may < self.free || c.may + self.slot * u64::from(c.left) > until {
            return None;
        }
        let (mut shaper, cells) = (c.shaper.clone(), c.left);
        let train = shaper.send(c.may, cells);
        let cell = |start| SentCell {
            circuit,
            start,
            end: start + self.slot,
            last: true,
        };
        let last = cell(train.runs().last()?.last());
        let first = SentCell {
            last: cells == 1,
            ..cell(train.runs().first()?.first)
        };
        if last.end > until {
            return None;
        }
        self.leave(circuit);
        self.sending = 0;
        self.free = last.end;
        let c = &mut self.circuits[circuit as usize];
        c.left = 0;
        c.may = shaper.ready();
        c.turn = c.may;
        c.shaper = shaper;
        Some((first, cells, last))
    }

    /// A lower bound on the time at which the packet of a circuit has been sent, whatever arrives;
    /// none if there is no packet. The bound is exact if no other circuit has cells meanwhile.
    pub fn sent_from(&self, circuit: u32) -> Option<Time> {
        let c = &self.circuits[circuit as usize];
        let train = c.shaper.clone().send(c.may, c.left);
        let alone = train.runs().last().map(Run::last)? + self.slot;
        Some(alone.max(self.free + self.slot * u64::from(c.left)))
    }

    /// Calls `see` with the last cell of each present packet, with its time if no other packet
    /// arrives.
    pub fn run_out(&self, mut see: impl FnMut(SentCell)) {
        let mut copy = self.clone();
        while let Some(cell) = copy.send() {
            if cell.last {
                see(cell);
            }
        }
    }
}
