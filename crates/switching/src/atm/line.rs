//! A line that virtual circuits of an edge share: whose cell goes in each of its slots.
//!
//! Each circuit has at most one packet in segmentation. A cell may leave when its circuit's shaper lets it; in each slot, of the cells that
//! may leave when it begins, one of the best [`CellPriority`] goes, of these the one that has waited longest: circuits of a
//! priority take turns, cell by cell. What a cell waits for cells of others, up to a slot for each other circuit, its circuit
//! makes up for: the shaper counts the cell as sent by so much earlier. So the cells of a circuit are those of its contract, each by
//! up to that time later, and a circuit that goes first loses no rate to the slots of the others. With one circuit nothing
//! waits, and cells leave as [`CellShaper::send`] has them.
//!
//! A circuit with a minimum rate is best effort, but for the cells that GCRA(1/MCR, τ) has due, which go before: what higher categories
//! delay of them is owed, until the circuit pauses.
//!
//! A slot is decided when it is over ([`CellLine::next`]), when all that could go in it is known. O(log n) for each cell in the number of
//! circuits that are sending.

use std::collections::BTreeSet;

use spillgate_core::{Dur, Time};
use spillgate_queueing::{CellPriority, CellShaper, Contract, Gcra, Run};

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

/// The next cells of circuits, by when each may leave.
type Cells = BTreeSet<(Time, u32)>;

/// What is within a minimum rate.
#[derive(Clone, Copy, Debug)]
struct Minimum {
    increment: Dur,
    limit: Dur,
    /// The theoretical time of the next cell.
    tat: Time,
}

impl Minimum {
    fn new(gcra: &Gcra) -> Self {
        Self {
            increment: gcra.increment(),
            limit: gcra.limit(),
            tat: Time::ZERO,
        }
    }

    /// From when on the next cell goes before best effort.
    fn due(&self) -> Time {
        Time::ZERO + self.tat.since(Time::ZERO + self.limit)
    }
}

/// A circuit on the line.
#[derive(Clone, Debug)]
struct Circuit {
    priority: CellPriority,
    minimum: Option<Minimum>,
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
    /// How much of its wait a cell makes up for.
    made_up: Dur,
    circuits: Vec<Circuit>,
    /// How many circuits have cells.
    sending: usize,
    /// By priority; the cell of a circuit with a minimum rate stands in two places.
    cells: [Cells; PRIORITIES],
}

impl CellLine {
    /// An idle line on which a cell takes `slot`, for circuits with these contracts, which tell whose cells go first, and what their
    /// cells are shaped to.
    pub fn new<'a>(
        slot: Dur,
        circuits: impl IntoIterator<Item = (&'a Contract, &'a Contract)>,
    ) -> Self {
        let circuit = |(contract, shape): (&Contract, &Contract)| Circuit {
            priority: match contract.priority() {
                CellPriority::Minimum => CellPriority::BestEffort,
                other => other,
            },
            minimum: contract.minimum().as_ref().map(Minimum::new),
            shaper: CellShaper::new(shape, slot),
            left: 0,
            may: Time::ZERO,
            turn: Time::ZERO,
        };
        let circuits: Vec<Circuit> = circuits.into_iter().map(circuit).collect();
        Self {
            slot,
            free: Time::ZERO,
            made_up: Self::lateness(slot, circuits.len()),
            circuits,
            sending: 0,
            cells: Default::default(),
        }
    }

    /// By how much a cell on a line of so many circuits may be later than its contract has it without a loss of rate: by a slot for each
    /// of the others.
    pub fn lateness(slot: Dur, circuits: usize) -> Dur {
        slot * (circuits as u64).saturating_sub(1)
    }

    /// A circuit begins with a packet of so many cells at `now`, when its first may leave ([`CellLine::ready`]).
    pub fn begin(&mut self, circuit: u32, now: Time, cells: u32) {
        let c = &mut self.circuits[circuit as usize];
        debug_assert!(c.left == 0, "one packet at a time");
        c.left = cells;
        if now > c.may {
            (c.may, c.turn) = (now, now);
            if let Some(minimum) = &mut c.minimum {
                minimum.tat = minimum.tat.max(now);
            }
        }
        self.sending += 1;
        self.enter(circuit);
    }

    /// Where the next cell of a circuit stands.
    fn places(c: &Circuit) -> impl Iterator<Item = (CellPriority, Time)> + use<> {
        let minimum = c
            .minimum
            .map(|m| (CellPriority::Minimum, m.due().max(c.may)));
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

    /// When the first cell of the next packet of a circuit may leave, after the last of its last one.
    pub fn ready(&self, circuit: u32) -> Time {
        self.circuits[circuit as usize].may
    }

    /// When the next slot with a cell begins, if nothing new comes; none if no circuit has cells.
    fn next_start(&self) -> Option<Time> {
        let first = self.cells.iter().filter_map(|c| c.first()).min()?;
        Some(first.0.max(self.free))
    }

    /// When the next slot with a cell is over, if nothing new comes before it begins; none if no circuit has cells.
    pub fn next(&self) -> Option<Time> {
        Some(self.next_start()? + self.slot)
    }

    /// The cell of the next slot; none if no circuit has cells.
    pub fn send(&mut self) -> Option<SentCell> {
        let start = self.next_start()?;
        let first = |(class, cells): (usize, &Cells)| {
            let (from, circuit) = *cells.first()?;
            (from <= start).then_some((class, circuit))
        };
        let (class, circuit) = self.cells.iter().enumerate().find_map(first)?;
        self.leave(circuit);
        self.free = start + self.slot;
        let c = &mut self.circuits[circuit as usize];
        // Never before it might leave, or the shaper would not let it.
        let earlier = Time::ZERO + start.since(Time::ZERO + self.made_up);
        c.shaper.send_cell(c.may.max(earlier));
        c.left -= 1;
        c.may = self.free.max(c.shaper.ready());
        let within = class == CellPriority::Minimum as usize;
        if let Some(minimum) = c.minimum.as_mut().filter(|_| within) {
            minimum.tat += minimum.increment;
        }
        // What is within the minimum rate takes no turn.
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

    /// The circuit, if only one has cells; it has no minimum rate, with which it would stand in two places.
    pub fn alone(&self) -> Option<u32> {
        let mut all = self.cells.iter().filter_map(Cells::first);
        let (_, circuit) = *all.next().filter(|_| self.sending == 1)?;
        all.next().is_none().then_some(circuit)
    }

    /// The cells of the only circuit that has some, if they do not wait for the line and all have left by `until`: the first, how many, and
    /// the last. It is what as many calls of [`CellLine::send`] do.
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

    /// A time before which the packet of a circuit cannot have been sent, whatever comes; none if it has none. It has been then if no
    /// other circuit had cells meanwhile.
    pub fn sent_from(&self, circuit: u32) -> Option<Time> {
        let c = &self.circuits[circuit as usize];
        let train = c.shaper.clone().send(c.may, c.left);
        let alone = train.runs().last().map(Run::last)? + self.slot;
        Some(alone.max(self.free + self.slot * u64::from(c.left)))
    }

    /// When the cells of all present packets have been sent, if no other comes: calls `see` with the last cell of each.
    pub fn run_out(&self, mut see: impl FnMut(SentCell)) {
        let mut copy = self.clone();
        while let Some(cell) = copy.send() {
            if cell.last {
                see(cell);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use spillgate_core::{Rate, aal5::CELL};
    use spillgate_queueing::{CbrSpec, ContractSpec, Gcra, UbrSpec, VbrSpec};

    use super::*;

    const LINE: u64 = 42_400_000;
    const SLOT: Dur = Dur::from_us(10);

    fn rate(bps: u64) -> Rate {
        Rate::from_bps(bps).unwrap()
    }

    fn resolve(spec: &ContractSpec) -> Contract {
        spec.resolve(rate(LINE)).unwrap()
    }

    fn cbr(pcr: u64) -> Contract {
        resolve(&ContractSpec::Cbr(CbrSpec {
            pcr: rate(pcr),
            cdvt: Dur::ZERO,
        }))
    }

    fn ubr() -> Contract {
        resolve(&ContractSpec::Ubr(UbrSpec::default()))
    }

    fn line(contracts: &[Contract]) -> CellLine {
        CellLine::new(SLOT, contracts.iter().map(|c| (c, c)))
    }

    /// Sends until `end`; a circuit whose packet has left begins with another of so many cells at once.
    fn saturate(line: &mut CellLine, cells: &[u32], end: Time) -> Vec<SentCell> {
        for (circuit, cells) in (0..).zip(cells) {
            line.begin(circuit, Time::ZERO, *cells);
        }
        let mut sent = Vec::new();
        while line.next().is_some_and(|t| t <= end) {
            let cell = line.send().unwrap();
            if cell.last {
                let ready = line.ready(cell.circuit).max(cell.end);
                line.begin(cell.circuit, ready, cells[cell.circuit as usize]);
            }
            sent.push(cell);
        }
        sent
    }

    #[test]
    fn circuits_of_a_priority_take_turns() {
        let mut line = line(&[ubr(), ubr(), ubr()]);
        let sent = saturate(&mut line, &[32, 1, 7], Time::ZERO + SLOT * 300);
        assert!(
            sent.iter()
                .zip(0..)
                .all(|(c, i)| c.circuit == i % 3 && c.start == Time::ZERO + SLOT * u64::from(i))
        );
    }

    /// One cell in 2.5 slots: a slot that has begun ends, and the wait for it is made up for.
    #[test]
    fn what_goes_first_waits_for_a_slot_and_keeps_its_rate() {
        let mut line = line(&[ubr(), cbr(LINE * 2 / 5)]);
        let sent = saturate(&mut line, &[100, 4], Time::ZERO + SLOT * 1000);
        assert_eq!(sent.len(), 1000);
        let first: Vec<u64> = sent
            .iter()
            .filter(|c| c.circuit == 1)
            .map(|c| c.start.as_ps() / SLOT.as_ps())
            .collect();
        // Ideally at 0, 2.5, 5, ...
        let wanted: Vec<u64> = (0..400).map(|i: u64| (5 * i).div_ceil(2)).collect();
        assert_eq!(first, wanted);
    }

    /// A minimum rate is had behind a circuit that goes first and leaves 0.4 of the line, among two that take turns: a quarter of the line, and
    /// a third of what is left.
    #[test]
    fn a_minimum_rate_is_kept_among_best_effort() {
        let minimum = resolve(&ContractSpec::Ubr(UbrSpec {
            mdcr: Some(rate(LINE / 4)),
            ..UbrSpec::default()
        }));
        let mut line = line(&[ubr(), minimum, ubr(), cbr(LINE * 3 / 5)]);
        let sent = saturate(&mut line, &[7, 20, 32, 4], Time::ZERO + SLOT * 20_000);
        let cells = [0, 1, 2, 3].map(|n| sent.iter().filter(|c| c.circuit == n).count());
        let of = |share: f64| share * 20_000.0;
        let rest = (0.4 - 0.25) / 3.0;
        let wanted = [of(rest), of(0.25 + rest), of(rest), of(0.6)];
        for (cells, wanted) in cells.into_iter().zip(wanted) {
            // Turns differ by a cell, and so do minimum and constant rate at the end.
            assert!((cells as f64 - wanted).abs() <= 3.0, "{cells} {wanted}");
        }
    }

    fn contract() -> impl Strategy<Value = Contract> {
        let cdvt = prop_oneof![Just(0), 0_u64..200_000_000].prop_map(Dur::from_ps);
        (0..4_u8, 1_000_000..=LINE, 1_u64..=100, 1_u32..60, cdvt).prop_map(
            |(kind, pcr, percent, mbs, cdvt)| {
                let (pcr, scr) = (rate(pcr), rate(pcr * percent / 100));
                let vbr = VbrSpec {
                    pcr,
                    scr,
                    mbs,
                    cdvt,
                };
                resolve(&match kind {
                    0 => ContractSpec::Cbr(CbrSpec { pcr, cdvt }),
                    1 => ContractSpec::RtVbr(vbr),
                    2 => ContractSpec::NrtVbr(vbr),
                    _ => ContractSpec::Ubr(UbrSpec {
                        pcr: Some(pcr),
                        cdvt,
                        ..UbrSpec::default()
                    }),
                })
            },
        )
    }

    proptest! {
        /// Whatever the others do: cells conform to their contract and the lateness that is made up for, the line never sends two at once
        /// and never waits for nothing, a cell waits only for cells of no lower priority and one that had begun, and packets end no
        /// earlier than was foretold.
        #[test]
        fn cells_of_all_circuits_conform(
            contracts in prop::collection::vec(contract(), 1..6),
            packets in prop::collection::vec((0_u64..3_000_000_000, 1_u32..60), 1..200),
        ) {
            let mut line = line(&contracts);
            let lateness = CellLine::lateness(SLOT, contracts.len());
            let mut policers: Vec<Vec<Gcra>> = contracts.iter().map(|c| {
                let all = [c.peak()].into_iter().chain(c.sustained());
                all.map(|g| Gcra::new(g.increment(), g.limit() + lateness)).collect()
            }).collect();
            let mut packets = packets.into_iter();
            let mut waiting: Vec<Option<(Time, Time)>> = vec![None; contracts.len()];
            let mut next_packet = vec![Time::ZERO; contracts.len()];
            let (mut free, mut sent) = (Time::ZERO, 0);
            loop {
                // The circuit that can begin first does, if that is before the next slot begins.
                let idle = (0..contracts.len()).filter(|c| waiting[*c].is_none());
                let first = idle.min_by_key(|c| next_packet[*c].max(line.ready(*c as u32)));
                if let Some(c) = first {
                    let at = next_packet[c].max(line.ready(c as u32));
                    let slot = line.next().map_or(Time::MAX, |t| Time::ZERO + t.since(Time::ZERO + SLOT));
                    if at <= slot {
                        let Some((gap, cells)) = packets.next() else { break };
                        line.begin(c as u32, at, cells);
                        waiting[c] = Some((at, line.sent_from(c as u32).unwrap()));
                        next_packet[c] = at + Dur::from_ps(gap);
                        continue;
                    }
                }
                let cell = line.send().unwrap();
                let c = cell.circuit as usize;
                prop_assert!(cell.start >= free && cell.end == cell.start + SLOT);
                prop_assert!(policers[c].iter_mut().all(|p| p.police(cell.start)));
                for (other, w) in waiting.iter().enumerate().filter(|(_, w)| w.is_some()) {
                    let may = line.ready(other as u32);
                    // It may leave, but its priority is lower, or as high and it came later.
                    let is_behind = contracts[other].priority() >= contracts[c].priority();
                    prop_assert!(other == c || may > cell.start || is_behind, "{:?}", w);
                }
                free = cell.end;
                sent += 1;
                if cell.last {
                    let (_, foretold) = waiting[c].take().unwrap();
                    prop_assert!(cell.end >= foretold);
                }
            }
            let mut left = 0;
            line.run_out(|_| left += 1);
            prop_assert!(sent > 0 || left > 0);
        }

        /// Alone, cells leave as the shaper of the circuit has them.
        #[test]
        fn alone_it_is_its_shaper(
            contract in contract(),
            packets in prop::collection::vec((0_u64..2_000_000_000, 1_u32..200), 1..20),
        ) {
            let idle = cbr(LINE);
            for others in 0..3 {
                let contracts = [vec![contract.clone()], vec![idle.clone(); others]].concat();
                let (mut line, mut shaper) = (line(&contracts), CellShaper::new(&contract, SLOT));
                let mut now = Time::ZERO;
                for (gap, cells) in &packets {
                    now = (now + Dur::from_ps(*gap)).max(line.ready(0));
                    prop_assert_eq!(line.ready(0), shaper.ready());
                    line.begin(0, now, *cells);
                    let train = shaper.send(now, *cells);
                    let end = train.runs().last().unwrap().last() + SLOT;
                    prop_assert_eq!(line.sent_from(0), Some(end));
                    // At once, and one by one.
                    let mut copy = line.clone();
                    prop_assert_eq!(copy.send_alone(Time::from_ps(end.as_ps() - 1)), None);
                    let (first, number, last) = copy.send_alone(end).unwrap();
                    prop_assert!(first.start == now && number == *cells && last.end == end && last.last);
                    prop_assert!(copy.ready(0) == shaper.ready() && copy.next().is_none());
                    for at in train.times() {
                        prop_assert_eq!(line.send().unwrap().start, at);
                    }
                }
            }
        }
    }

    /// In the long run a sustainable rate is kept beside a circuit that fills the line and one that goes as early, within 0.1 %: of more than
    /// 100,000 cells MBS may be too many, and one too many or too few at the end. T is less than 1 ps too short.
    #[test]
    fn rates_are_kept_where_there_is_room() {
        let vbr = |pcr, scr, mbs| {
            resolve(&ContractSpec::NrtVbr(VbrSpec {
                pcr: rate(pcr),
                scr: rate(scr),
                mbs,
                cdvt: Dur::ZERO,
            }))
        };
        for (pcr, scr, mbs) in [
            (LINE / 2, LINE / 3, 100),
            (LINE, 7_777_777, 1),
            (LINE / 3, LINE / 3, 9),
        ] {
            let mut line = line(&[vbr(pcr, scr, mbs), ubr(), vbr(LINE / 2, LINE / 3, 50)]);
            let end = Time::ZERO + SLOT * 600_000;
            let sent = saturate(&mut line, &[30, 30, 30], end);
            let cells = sent.iter().filter(|c| c.circuit == 0).count() as f64;
            let got = cells * f64::from(CELL) * 8.0 / end.as_secs_f64();
            let most = f64::from(mbs + 2) / cells;
            let off = (got / scr as f64 - 1.0).abs();
            assert!(most < 1e-3 && off < most, "{got} {scr}");
        }
    }
}
