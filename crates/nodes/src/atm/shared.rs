//! Shared lines at edges: packets in segmentation, cell by cell.
//!
//! The component wakes when a packet's last cell may have left at the earliest, and works out then
//! how the cells before took turns. An early wake does no harm: another one follows, after half of
//! the remaining cells if two circuits take turns.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use spillgate_core::aal5::CELL;
use spillgate_core::{Dur, Packet, Time};
use spillgate_measure::table::{Metric, Scope};
use spillgate_measure::{Measures, Window};

use super::network::{Network, Until, What, volume};
use super::plan::{AtmPlan, EdgePlan};
use super::{CellLine, SentCell};
use crate::{Outbox, Sent};

/// A packet in segmentation.
struct Sending {
    packet: Packet,
    start: Time,
    /// The phase that the line takes with the first cell; none once that cell has been sent.
    phase: Option<Dur>,
    /// Its record, if it is on its way to an ATM switch.
    travel: Option<u32>,
}

/// A circuit at its edge.
struct Edge {
    link: u32,
    delay: Dur,
    sending: Option<Sending>,
}

/// A line at an edge.
pub(super) struct Line {
    name: String,
    cells: CellLine,
    edges: Vec<Edge>,
    slot: Dur,
    /// The present phase of the line's clock: the delay of its cells.
    phase: Dur,
    /// When its event is due, [`Time::MAX`] for never.
    due: Time,
    /// How long it was busy in the measured period, which is over if `counted`.
    busy: Dur,
    counted: bool,
}

/// The lines of a world, and what is on them.
pub(super) struct Lines {
    all: Vec<Line>,
    /// Line and circuit of a link.
    of_link: BTreeMap<u32, (u32, u32)>,
    /// The earliest times at which packets may have left, with line and circuit.
    ends: std::collections::BinaryHeap<Reverse<(Time, u32, u32)>>,
}

impl Line {
    fn new(name: &str, edges: &[EdgePlan]) -> Self {
        let slot = edges.first().map_or(Dur::ZERO, |e| e.slot);
        let edge = |e: &EdgePlan| Edge {
            link: e.link,
            delay: e.delay,
            sending: None,
        };
        Self {
            name: name.to_owned(),
            cells: CellLine::new(slot, edges.iter().map(|e| (&e.contract, &e.shape))),
            edges: edges.iter().map(edge).collect(),
            slot,
            phase: Dur::ZERO,
            due: Time::MAX,
            busy: Dur::ZERO,
            counted: false,
        }
    }

    fn count(&mut self, busy: Dur) {
        if !self.counted {
            self.busy = self.busy + busy;
        }
    }

    /// Sends the next cell, or all remaining cells of the only packet if their times need not be
    /// known and all leave by a given time. Returns the last of these cells.
    fn send(&mut self, window: Window, by: Option<Time>) -> Option<SentCell> {
        let leads_on = |c: &u32| {
            let sending = self.edges[*c as usize].sending.as_ref();
            sending.is_some_and(|s| s.travel.is_some())
        };
        let alone = self.cells.alone().filter(|c| !leads_on(c));
        let all = by.filter(|_| alone.is_some());
        let Some((first, cells, last)) = all.and_then(|by| self.cells.send_alone(by)) else {
            let cell = self.cells.send()?;
            self.count(window.overlap(cell.start, cell.end));
            return Some(cell);
        };
        self.count(window.overlap(first.start, first.end));
        // No edge of the measured period is between the others.
        if window.contains(last.start) {
            self.count(self.slot * u64::from(cells - 1));
        }
        Some(last)
    }

    fn sent(&self, circuit: u32, sending: &Sending, end: Time) -> Sent {
        Sent {
            link: self.edges[circuit as usize].link,
            packet: sending.packet,
            start: sending.start,
            end,
            ready: self.cells.ready(circuit),
            is_taken: sending.travel.is_some(),
        }
    }
}

impl Lines {
    pub(super) fn new(plan: &AtmPlan) -> Self {
        let lines = plan.lines.iter().zip(&plan.edges);
        let all: Vec<Line> = lines.map(|(l, edges)| Line::new(&l.name, edges)).collect();
        let circuits = (0..).zip(&all).flat_map(|(line, l)| {
            let numbered = (0..).zip(&l.edges);
            numbered.map(move |(circuit, e)| (e.link, (line, circuit)))
        });
        Self {
            of_link: circuits.collect(),
            all,
            ends: Default::default(),
        }
    }

    /// When a packet may have left next, at the earliest.
    pub(super) fn next(&self) -> Option<Time> {
        self.ends.peek().map(|e| e.0.0)
    }

    /// Puts what they have measured.
    pub(super) fn measure(&self, window: Window, out: &mut Measures) {
        for line in &self.all {
            let carried = volume(line.slot, line.busy).rate(window.len());
            let used = line.busy.as_secs_f64() / window.len().as_secs_f64();
            let mut of = out.of(Scope::AtmLine, || &*line.name);
            of.put(Metric::Carried, carried);
            of.put(Metric::Utilization, used);
        }
    }

    /// The measured period ends: the number of cells sent by then is known, even if their circuits
    /// are not.
    pub(super) fn passes_end(&mut self, window: Window) {
        for line in &mut self.all {
            if let Some(end) = line.cells.next() {
                line.count(window.overlap(Time::ZERO + end.since(Time::ZERO + line.slot), end));
            }
            line.counted = true;
        }
    }

    /// The packets in segmentation, each with its end if no other packet arrives.
    pub(super) fn sharing(&self) -> Vec<Sent> {
        let mut all = Vec::new();
        for line in &self.all {
            let mut phase = line.phase;
            let mut begun = vec![false; line.edges.len()];
            line.cells.run_out(|cell| {
                let Some(sending) = &line.edges[cell.circuit as usize].sending else {
                    return;
                };
                if !std::mem::replace(&mut begun[cell.circuit as usize], true) {
                    phase = sending.phase.unwrap_or(phase);
                }
                if cell.last {
                    all.push(line.sent(cell.circuit, sending, cell.end + phase));
                }
            });
        }
        all
    }
}

impl Network {
    /// A packet of the circuit `link` begins to leave over its line, and goes `onward` as that
    /// circuit through switches.
    pub(super) fn begin_on_line(
        &mut self,
        now: Time,
        link: u32,
        onward: Option<u32>,
        phase: Dur,
        packet: Packet,
    ) {
        let Some((number, circuit)) = self.lines.of_link.get(&link).copied() else {
            return;
        };
        let cells = (packet.len / CELL).max(1);
        let travel = onward.map(|c| self.add_travel(link, c, packet, cells));
        let line = &mut self.lines.all[number as usize];
        line.edges[circuit as usize].sending = Some(Sending {
            packet,
            start: now,
            phase: Some(phase),
            travel,
        });
        line.cells.begin(circuit, now, cells);
        if let Some(end) = line.cells.sent_from(circuit) {
            self.lines.ends.push(Reverse((end, number, circuit)));
        }
        self.plan_line(number);
    }

    /// Sets the event of a line.
    fn plan_line(&mut self, number: u32) {
        let line = &mut self.lines.all[number as usize];
        let next = line.cells.next().unwrap_or(Time::MAX);
        if std::mem::replace(&mut line.due, next) != next && next < Time::MAX {
            self.queue
                .push(Reverse((next, What::Slot { line: number })));
        }
    }

    /// A slot of a line is over, and until some time perhaps others.
    pub(super) fn slot_over(&mut self, at: Time, number: u32, until: Until, out: &mut Outbox) {
        let line = &mut self.lines.all[number as usize];
        if line.due != at {
            return;
        }
        let by = (!self.exact).then_some(until.time);
        while let Some(cell) = line.send(self.window, by) {
            let edge = &mut line.edges[cell.circuit as usize];
            let Some(sending) = &mut edge.sending else {
                break;
            };
            line.phase = sending.phase.take().unwrap_or(line.phase);
            let left = cell.end + line.phase;
            if let Some(travel) = sending.travel {
                let (link, comes) = (edge.link, left + edge.delay);
                self.queue
                    .push(Reverse((comes, What::First { link, travel })));
                if cell.last {
                    self.lasts.push(Reverse(comes));
                }
            }
            if cell.last {
                if let Some(sending) = edge.sending.take() {
                    out.sent.push(line.sent(cell.circuit, &sending, left));
                }
                break;
            }
            // Without other events meanwhile the next slot follows at once.
            let next = line.cells.next().unwrap_or(Time::MAX);
            let other = self.queue.peek().map_or(Time::MAX, |e| e.0.0);
            if self.exact || next >= other || !until.includes(next, true) {
                break;
            }
        }
        self.plan_line(number);
    }

    /// The earliest ends of these packets are reached: returns the packets that may have left.
    pub(super) fn ends_due(&mut self, now: Time) -> Vec<(u32, u32)> {
        let mut due = Vec::new();
        while let Some(Reverse((at, line, circuit))) = self.lines.ends.peek().copied() {
            if at > now {
                break;
            }
            self.lines.ends.pop();
            due.push((line, circuit));
        }
        due
    }

    /// Sets new earliest ends for packets that have not left by now.
    pub(super) fn put_off(&mut self, due: Vec<(u32, u32)>) {
        for (number, circuit) in due {
            let line = &self.lines.all[number as usize];
            let is_sending = line.edges[circuit as usize].sending.is_some();
            if let Some(end) = line.cells.sent_from(circuit).filter(|_| is_sending) {
                self.lines.ends.push(Reverse((end, number, circuit)));
            }
        }
    }
}
