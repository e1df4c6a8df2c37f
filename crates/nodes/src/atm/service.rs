//! The choice of the circuit whose cell a port sends next.
//!
//! Circuits take turns: all circuits, or those of each service category, where the first category
//! with cells goes first. A circuit with a minimum rate is in two classes. Cells that are due by
//! GCRA(1/MCR, τ) go before all best effort, in the order in which they became due. The circuit
//! also takes its turns in best effort. The GCRA counts from when cells wait, not from when they
//! are sent: the circuit makes up for delays by higher categories, so that in the long run it has
//! its minimum rate and its share of the remainder. O(log n) for each cell of circuits with a
//! minimum rate, else O(1).

use std::collections::{BTreeSet, VecDeque};

use spillgate_core::Time;

use super::{CellPriority, Contract, Gcra};

/// The place of a queue of cells in the order of service.
#[derive(Clone, Debug)]
struct Entry {
    /// Its class, an index of `turns`.
    class: usize,
    /// What is within its minimum rate: its next cell goes before best effort once it conforms.
    minimum: Option<Gcra>,
    waits: bool,
    /// It is in `turns`, perhaps still from the last time that it had cells.
    has_turn: bool,
}

/// The order of the queues of a port.
#[derive(Clone, Debug)]
pub(super) struct Service {
    entries: Vec<Entry>,
    /// The queues of each class in the order of their turns; the last one is that of best effort.
    turns: Vec<VecDeque<u32>>,
    /// The queues with a minimum rate that have cells, in the order of when their next cell is due.
    due: BTreeSet<(Time, u32)>,
}

impl Service {
    /// So many queues that take turns.
    pub(super) fn in_turn(queues: usize) -> Self {
        let entry = Entry {
            class: 0,
            minimum: None,
            waits: false,
            has_turn: false,
        };
        Self {
            entries: vec![entry; queues],
            turns: vec![VecDeque::new()],
            due: BTreeSet::new(),
        }
    }

    /// A queue for each contract, served by category.
    pub(super) fn by_category(contracts: &[Contract]) -> Self {
        let entry = |contract: &Contract| Entry {
            class: match contract.priority() {
                CellPriority::Cbr => 0,
                CellPriority::RtVbr => 1,
                CellPriority::NrtVbr => 2,
                CellPriority::Minimum | CellPriority::BestEffort => 3,
            },
            minimum: contract.minimum(),
            waits: false,
            has_turn: false,
        };
        Self {
            entries: contracts.iter().map(entry).collect(),
            turns: vec![VecDeque::new(); 4],
            due: BTreeSet::new(),
        }
    }

    /// A queue has its first cell.
    pub(super) fn begin(&mut self, now: Time, queue: u32) {
        let entry = &mut self.entries[queue as usize];
        entry.waits = true;
        if let Some(minimum) = &mut entry.minimum {
            minimum.forget(now);
            self.due.insert((minimum.ready(), queue));
        }
        self.take_place(queue);
    }

    fn take_place(&mut self, queue: u32) {
        let entry = &mut self.entries[queue as usize];
        if !entry.has_turn {
            entry.has_turn = true;
            self.turns[entry.class].push_back(queue);
        }
    }

    /// The queue whose first cell is sent now; [`Self::served`] must follow.
    pub(super) fn next(&mut self, now: Time) -> Option<u32> {
        let (best_effort, classes) = self.turns.split_last_mut()?;
        if let Some(queue) = classes.iter_mut().find_map(VecDeque::pop_front) {
            self.entries[queue as usize].has_turn = false;
            return Some(queue);
        }
        if let Some((_, queue)) = self.due.first().copied().filter(|(due, _)| *due <= now) {
            self.due.pop_first();
            if let Some(minimum) = &mut self.entries[queue as usize].minimum {
                minimum.count_due();
            }
            return Some(queue);
        }
        loop {
            let queue = best_effort.pop_front()?;
            let entry = &mut self.entries[queue as usize];
            entry.has_turn = false;
            if entry.waits {
                return Some(queue);
            }
        }
    }

    /// The queue has sent a cell; `has_more`: it has further cells.
    pub(super) fn served(&mut self, queue: u32, has_more: bool) {
        let entry = &mut self.entries[queue as usize];
        entry.waits = has_more;
        if let Some(minimum) = &entry.minimum {
            let place = (minimum.ready(), queue);
            match has_more {
                true => self.due.insert(place),
                false => self.due.remove(&place),
            };
        }
        if has_more {
            self.take_place(queue);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ContractSpec;
    use super::*;
    use spillgate_core::{Rate, aal5::CELL};

    const LINE: u64 = 149_760_000;

    fn contract(json: &str) -> Contract {
        let spec: ContractSpec = serde_json::from_str(json).unwrap();
        spec.resolve(Rate::from_bps(LINE).unwrap()).unwrap()
    }

    /// How many cells each queue sends in so many slots. Those with a minimum and of best effort
    /// always have cells; each other one has `burst` of them at once in each period.
    fn sent(
        service: &mut Service,
        bursts: &[Option<(u64, u64)>],
        slots: std::ops::Range<u64>,
    ) -> Vec<u64> {
        let slot = Rate::from_bps(LINE).unwrap().tx_time(CELL);
        let mut waiting: Vec<u64> = vec![0; bursts.len()];
        let mut sent = vec![0; bursts.len()];
        for n in slots {
            let now = Time::ZERO + slot * n;
            for (queue, burst) in (0..).zip(bursts) {
                let left = &mut waiting[queue as usize];
                let come = match burst {
                    Some((cells, period)) if n % period == 0 => *cells,
                    None if *left == 0 => u64::MAX,
                    _ => 0,
                };
                if *left == 0 && come > 0 {
                    service.begin(now, queue);
                }
                *left += come;
            }
            if let Some(queue) = service.next(now) {
                let left = &mut waiting[queue as usize];
                *left -= 1;
                service.served(queue, *left > 0);
                sent[queue as usize] += 1;
            }
        }
        sent
    }

    /// The order in which queues send that have so many cells each at first.
    fn order(mut service: Service, cells: &[u32]) -> Vec<u32> {
        let (mut left, mut order) = (cells.to_vec(), Vec::new());
        (0..)
            .zip(cells)
            .for_each(|(queue, _)| service.begin(Time::ZERO, queue));
        while let Some(queue) = service.next(Time::ZERO) {
            order.push(queue);
            left[queue as usize] -= 1;
            service.served(queue, left[queue as usize] > 0);
        }
        order
    }

    /// All at one time: of the MBS of GFR two cells are due, the third not before the PCR has it;
    /// so it takes turns.
    #[test]
    fn a_category_goes_after_those_above_it() {
        let contracts = [
            contract(r#"{"ubr": {}}"#),
            contract(r#"{"gfr": {"mcr": "1 Mb/s", "mbs": 3, "mfs": 9}}"#),
            contract(r#"{"nrt-vbr": {"pcr": "2 Mb/s", "scr": "1 Mb/s", "mbs": 9}}"#),
            contract(r#"{"rt-vbr": {"pcr": "2 Mb/s", "scr": "1 Mb/s", "mbs": 9}}"#),
            contract(r#"{"cbr": {"pcr": "1 Mb/s"}}"#),
            contract(r#"{"cbr": {"pcr": "1 Mb/s"}}"#),
        ];
        let cells = [3, 5, 2, 2, 2, 1];
        let found = order(Service::by_category(&contracts), &cells);
        assert_eq!(found, [4, 5, 4, 3, 3, 2, 2, 1, 1, 0, 1, 0, 1, 0, 1]);
        let found = order(Service::in_turn(6), &cells);
        assert_eq!(found, [0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 0, 1, 1, 1]);
    }

    /// A circuit that was silent for 100,000 slots has its burst, its minimum rate and its turns
    /// from then on, and nothing of what it left to others: of 1,000 slots a fifth is due, and of
    /// the rest it has a half.
    #[test]
    fn no_minimum_rate_is_saved_while_a_circuit_is_silent() {
        let contracts = [
            contract(r#"{"gfr": {"mcr": "29.952 Mb/s", "mbs": 3, "mfs": 9}}"#),
            contract(r#"{"ubr": {}}"#),
        ];
        let mut service = Service::by_category(&contracts);
        let found = sent(&mut service, &[None, None], 100_000..101_000);
        // MBS cells at once, and one turn.
        assert!(found[0].abs_diff(600) <= 4, "{found:?}");
    }

    /// Of 1,000 slots CBR has 100, one in ten, and VBR 200 in a burst, which starves all others for
    /// longer than their tolerances; 350 are the minima of three circuits, and of the rest each of
    /// five has a fifth.
    #[test]
    fn minimum_rates_are_kept_whatever_best_effort_does() {
        let contracts = [
            contract(r#"{"cbr": {"pcr": "14.976 Mb/s"}}"#),
            contract(r#"{"nrt-vbr": {"pcr": "149.76 Mb/s", "scr": "29.952 Mb/s", "mbs": 20000}}"#),
            contract(r#"{"gfr": {"mcr": "29.952 Mb/s", "mbs": 64, "mfs": 32}}"#),
            contract(
                r#"{"gfr": {"mcr": "14.976 Mb/s", "mbs": 400, "mfs": 192, "pcr": "75 Mb/s"}}"#,
            ),
            contract(r#"{"ubr": {"mdcr": "7.488 Mb/s"}}"#),
            contract(r#"{"ubr": {}}"#),
            contract(r#"{"ubr": {}}"#),
        ];
        let bursts = [
            Some((1, 10)),
            Some((20_000, 100_000)),
            None,
            None,
            None,
            None,
            None,
        ];
        let slots = 4_000_000;
        let found = sent(&mut Service::by_category(&contracts), &bursts, 0..slots);
        let wanted = [100.0, 200.0, 270.0, 170.0, 120.0, 70.0, 70.0];
        for (queue, (found, thousandths)) in found.iter().zip(wanted).enumerate() {
            let wanted: f64 = thousandths / 1000.0 * slots as f64;
            // MBS cells and one turn more or less are at most 401 of 680,000, 65 of 1,080,000, 2 of
            // all others; and 1/MCR is less than 1 ps in 14 us too short.
            let off = *found as f64 / wanted - 1.0;
            assert!(off.abs() < 1e-3, "{queue}: {found} {wanted}");
        }
    }
}
