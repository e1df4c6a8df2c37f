//! The events of cells: they arrive from edges, wait for lines, go on to other switches, and leave.

use std::cmp::Reverse;

use spillgate_core::{DropReason, Dropped, Time};
use spillgate_queueing::Evidence;

use super::network::{Network, Until, What};
use super::police::Judged;
use super::{Arrived, Cell, CellLoss, CellPolice};
use crate::Outbox;

fn reason(loss: CellLoss) -> DropReason {
    match loss {
        CellLoss::Full | CellLoss::Tagged | CellLoss::Rest => DropReason::Cell,
        CellLoss::Early => DropReason::EarlyFrame,
        CellLoss::Policed => DropReason::Policer,
    }
}

impl Network {
    /// Takes what happens until some time.
    pub(super) fn advance(&mut self, until: Until, out: &mut Outbox) {
        while let Some(Reverse((at, what))) = self.queue.peek().copied() {
            if !until.includes(at, matches!(what, What::Slot { .. })) {
                break;
            }
            self.queue.pop();
            match what {
                What::Slot { line } => self.slot_over(at, line, until, out),
                What::Sent { port } => self.line_has_sent(at, port, out),
                What::First { link, travel } => self.first(at, link, travel, until.time, out),
                What::Next {
                    port,
                    frame,
                    circuit,
                    last,
                    tagged,
                } => {
                    let cell = Cell {
                        frame,
                        circuit,
                        last,
                        tagged,
                    };
                    self.enter(at, port, cell, out);
                }
            }
        }
    }

    /// The next cell of a packet arrives at its first switch; several cells are taken if they
    /// arrive until `now`.
    fn first(&mut self, at: Time, link: u32, index: u32, now: Time, out: &mut Outbox) {
        let Some(Some(travel)) = self.travels.get_mut(index as usize) else {
            return;
        };
        let circuit = &mut self.circuits[travel.circuit as usize];
        let port = circuit.ports[0];
        let output = &mut self.outputs[port as usize];
        let (run, number) = travel.next;
        let train = travel.train.runs().get(run).copied();
        let of = train.unwrap_or_default();
        let mut taken = 1;
        if !self.exact && train.is_some() && output.police == CellPolice::None {
            // No cell of them waits, and no other event lies between.
            let next = self.queue.peek().map_or(Time::MAX, |e| e.0.0);
            let edges = [self.window.start(), self.window.end()];
            let edge = edges.into_iter().find(|e| *e > at).unwrap_or(Time::MAX);
            let until = next.min(edge).min(now);
            let slot = output.port.slot();
            let is_alone = output.port.is_idle() && of.gap >= slot && output.frames.is_some();
            if is_alone && output.port.passes(travel.circuit) && until > at + slot {
                let fit = until.since(at + slot).as_ps() / of.gap.as_ps() + 1;
                // The last cell of the frame is taken alone.
                let before_last = (travel.cells - travel.sent).saturating_sub(1);
                let most = u64::from((of.parts - number).min(before_last));
                taken = fit.min(most) as u32;
            }
        }
        let mut cell = Cell {
            frame: travel.frame,
            circuit: travel.circuit,
            last: travel.sent + 1 == travel.cells,
            tagged: false,
        };
        let alone = taken > 1;
        travel.sent += taken.max(1);
        travel.next = match number + taken.max(1) {
            n if n < of.parts => (run, n),
            _ => (run + 1, 0),
        };
        if let Some(next) = travel.train.runs().get(travel.next.0) {
            let due = next.first + next.gap * u64::from(travel.next.1);
            self.queue.push(Reverse((
                due,
                What::First {
                    link,
                    travel: index,
                },
            )));
        }
        if cell.last {
            out.hopped
                .push((link, travel.packet.flow, travel.packet.seq));
        }
        if alone {
            output.port.pass(at, cell.circuit, taken);
            travel.received += taken;
            // As the first of them does.
            if let Some(frames) = &mut output.frames {
                frames.arrive(cell);
            }
            return;
        }
        if output.police != CellPolice::None {
            let judged = circuit.policer.judge(at, cell.last, output.police);
            cell.tagged = judged == Judged::Tagged;
            if judged == Judged::Lost {
                output.port.refuse(at, cell);
                return self.lose(at, port, cell, CellLoss::Policed, out);
            }
        }
        self.enter(at, port, cell, out);
    }

    /// A cell comes to a port.
    fn enter(&mut self, at: Time, port: u32, cell: Cell, out: &mut Outbox) {
        match self.outputs[port as usize].port.arrive(at, cell) {
            Arrived::Sent(until) => self.queue.push(Reverse((until, What::Sent { port }))),
            Arrived::Waits => {}
            Arrived::Lost(loss) => self.lose(at, port, cell, loss, out),
        }
    }

    /// The packet of a cell, if its last cell has not been accounted for.
    fn travel(&self, cell: Cell) -> Option<u32> {
        let index = cell.frame as u32;
        let travel = self.travels.get(index as usize)?.as_ref()?;
        (travel.frame == cell.frame).then_some(index)
    }

    /// A cell is lost at a port.
    fn lose(&mut self, at: Time, port: u32, cell: Cell, loss: CellLoss, out: &mut Outbox) {
        let Some(index) = self.travel(cell) else {
            return;
        };
        if let Some(travel) = &mut self.travels[index as usize] {
            let why = (reason(loss), port);
            travel.lost.get_or_insert(why);
        }
        if cell.last {
            self.give_up(at, index, out);
        }
    }

    /// A packet is lost, and its last cell has been accounted for.
    fn give_up(&mut self, at: Time, index: u32, out: &mut Outbox) {
        let Some(travel) = self.travels[index as usize].take() else {
            return;
        };
        self.free.push(index);
        let (reason, port) = travel.lost.unwrap_or((DropReason::Cell, 0));
        let output = &mut self.outputs[port as usize];
        if self.window.contains(at) {
            output.lost[reason.index()] += 1;
        }
        let dropped = Dropped {
            packet: travel.packet,
            reason,
        };
        out.lost.push((travel.from, Evidence::default(), dropped));
    }

    /// The line of a port has sent its cell.
    fn line_has_sent(&mut self, at: Time, port: u32, out: &mut Outbox) {
        let output = &mut self.outputs[port as usize];
        let Some((cell, until)) = output.port.sent(at) else {
            return;
        };
        if let Some(until) = until {
            self.queue.push(Reverse((until, What::Sent { port })));
        }
        let output = &mut self.outputs[port as usize];
        let Some(frames) = &mut output.frames else {
            return self.pass_on(at, port, cell);
        };
        let ended = frames.arrive(cell);
        let (link, is_ideal) = (output.link, output.is_ideal);
        let Some(index) = self.travel(cell) else {
            return;
        };
        let Some(travel) = &mut self.travels[index as usize] else {
            return;
        };
        travel.received += 1;
        let Some(ended) = ended else {
            return;
        };
        let is_whole = travel.received == travel.cells;
        if is_whole && (is_ideal || !ended.is_merged) {
            out.done.push((link, travel.packet));
            self.travels[index as usize] = None;
            self.free.push(index);
            return;
        }
        if is_whole {
            travel.lost = Some((DropReason::Frame, port));
        }
        self.give_up(at, index, out);
    }

    /// A cell goes on to the next switch.
    fn pass_on(&mut self, at: Time, port: u32, cell: Cell) {
        let ports = &self.circuits[cell.circuit as usize].ports;
        let here = ports.iter().position(|p| *p == port);
        let Some(next) = here.and_then(|i| ports.get(i + 1)).copied() else {
            return;
        };
        let due = at + self.outputs[port as usize].delay;
        if cell.last {
            self.lasts.push(Reverse(due));
        }
        let Cell {
            frame,
            circuit,
            last,
            tagged,
        } = cell;
        let what = What::Next {
            port: next,
            frame,
            circuit,
            last,
            tagged,
        };
        self.queue.push(Reverse((due, what)));
    }
}
