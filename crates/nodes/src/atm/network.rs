//! The ATM switches of a world: from circuits at edges through output ports to the edges where
//! frames end.
//!
//! When the server of a circuit begins to send a packet, it knows when each of its cells leaves.
//! The packet is handed over then, with these times, and comes back when its last cell has left the
//! last switch: on its way over the last link if all cells have come there, else as lost. Between
//! these times cells are taken in the order of their events, from a queue of their own: what one
//! circuit sends next, a line that has sent a cell, a cell that reaches the next switch.
//!
//! The engine need not know of each. It wakes the switches when something may happen that it must
//! know of, the arrival of the last cell of a frame at a switch or its departure from there; all
//! cells until then are taken in one go. Cells of a frame that meet nobody at a line are taken
//! together. On the plain engine the switches are woken for each cell, and none are taken together.
//! Both do the same things in the same order, and so have the same results.
//!
//! O(log n) for each cell in the number of circuits that are sending, O(1) for cells that meet
//! nobody.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use spillgate_core::aal5::CELL;
use spillgate_core::{DropReason, Dur, Packet, Rank, Time};
use spillgate_measure::table::{Metric, Scope};
use spillgate_measure::{Measures, Sampled, Samples, Volume, Window};

use super::plan::AtmPlan;
use super::police::Policer;
use super::shared::Lines;
use super::{CellPolice, CellPort, Contract, Frames, Reassembly};
use crate::server::Train;
use crate::{AtPort, Carried, Carries, Names, Node, Outbox, Passed, PortEvent, Put, Start};

/// An output port with its line.
pub(super) struct Output {
    pub(super) link: u32,
    pub(super) port: CellPort,
    pub(super) delay: Dur,
    /// Where frames end, if an edge is at the end of the line.
    pub(super) frames: Option<Frames>,
    pub(super) is_ideal: bool,
    pub(super) police: CellPolice,
    /// Lost packets by reason. A packet counts at the port where its first cell was lost, or where
    /// its frame was incomplete.
    pub(super) lost: [u64; DropReason::ALL.len()],
}

/// A virtual circuit: from the link of an edge to the port of the last switch.
pub(super) struct Circuit {
    /// The ports on its way.
    pub(super) ports: Vec<u32>,
    pub(super) policer: Policer,
}

/// A packet whose cells are on their way.
pub(super) struct Travel {
    /// A number in the upper half, the index of this record in the lower.
    pub(super) frame: u64,
    pub(super) packet: Packet,
    /// The link of the edge.
    pub(super) from: u32,
    pub(super) circuit: u32,
    /// The times at which its cells reach the first switch; empty if its line announces each cell.
    pub(super) train: Train,
    /// The next of them: run, and number in the run.
    pub(super) next: (usize, u32),
    pub(super) cells: u32,
    /// How many cells have reached the first switch, and how many the end of the circuit.
    pub(super) sent: u32,
    pub(super) received: u32,
    /// Why it is lost, and at which port.
    pub(super) lost: Option<(DropReason, u32)>,
}

/// An event of cells. The order is by time, then lines before cells, then by place. Ends of slots
/// at edges come first, as ends of service do elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    /// A slot of the line of an edge is over.
    Slot { line: u32 },
    /// The line of this port has sent its cell.
    Sent { port: u32 },
    /// The next cell of a packet arrives over the link of an edge.
    First { link: u32, travel: u32 },
    /// A cell arrives at this port over the line of another switch; `last` and `tagged`.
    Next {
        port: u32,
        frame: u64,
        circuit: u32,
        last: bool,
        tagged: bool,
    },
}

/// A limit of the events to take: before this time, and at this time only ends of slots of edges.
#[derive(Clone, Copy)]
pub(super) struct Until {
    pub(super) time: Time,
    pub(super) only_slots: bool,
}

impl Until {
    /// Whether an event at this time is taken; `is_slot`: it is the end of a slot.
    pub(super) fn includes(self, at: Time, is_slot: bool) -> bool {
        at < self.time || at == self.time && (is_slot || !self.only_slots)
    }
}

/// All ATM switches, and the shared lines at edges.
pub(super) struct Network {
    pub(super) exact: bool,
    pub(super) window: Window,
    pub(super) outputs: Vec<Output>,
    /// The port at which a link begins.
    pub(super) port_of: BTreeMap<u32, u32>,
    /// The circuits by the links at their ends.
    pub(super) known: BTreeMap<(u32, u32), u32>,
    pub(super) circuits: Vec<Circuit>,
    pub(super) travels: Vec<Option<Travel>>,
    pub(super) free: Vec<u32>,
    /// How many packets have begun.
    pub(super) frames: u32,
    pub(super) queue: BinaryHeap<Reverse<(Time, What)>>,
    /// When last cells come to switches.
    pub(super) lasts: BinaryHeap<Reverse<Time>>,
    pub(super) lines: Lines,
}

impl Network {
    pub(super) fn new(plan: &AtmPlan, start: &Start<'_>) -> Self {
        let window = start.window;
        let contracts: Vec<Contract> = plan.circuits.iter().map(|c| c.contract.clone()).collect();
        let outputs = plan.ports.iter().map(|p| {
            let mut port = CellPort::new(p.recipe, p.slot, &contracts);
            port.measure(window.start(), window.end());
            Output {
                link: p.link,
                port,
                delay: p.delay,
                frames: p.ends_frames.then(|| Frames::new(contracts.len())),
                is_ideal: p.reassembly == Reassembly::Ideal,
                police: p.police,
                lost: [0; DropReason::ALL.len()],
            }
        });
        let port_of = (0..).zip(&plan.ports).map(|(number, p)| (p.link, number));
        let known = (0..).zip(&plan.circuits);
        let circuits = plan.circuits.iter().map(|c| Circuit {
            ports: c.ports.clone(),
            policer: Policer::new(&c.contract, c.tolerated),
        });
        Self {
            exact: start.exact,
            window,
            outputs: outputs.collect(),
            port_of: port_of.collect(),
            known: known.map(|(number, c)| ((c.from, c.to), number)).collect(),
            circuits: circuits.collect(),
            travels: Vec::new(),
            free: Vec::new(),
            frames: 0,
            queue: BinaryHeap::new(),
            lasts: BinaryHeap::new(),
            lines: Lines::new(plan),
        }
    }

    /// Takes all events until `now`. The engine has given all wakes that were due.
    fn catch_up(&mut self, now: Time) {
        // Nothing that the engine must know of happens without a wake.
        let mut none = Outbox::default();
        let until = Until {
            time: now,
            only_slots: false,
        };
        self.advance(until, &mut none);
        debug_assert!(none.done.is_empty() && none.lost.is_empty());
        debug_assert!(none.hopped.is_empty() && none.sent.is_empty());
    }

    /// Adds a record for a packet whose cells begin to arrive over the link of an edge, and returns
    /// its index.
    pub(super) fn add_travel(
        &mut self,
        from: u32,
        circuit: u32,
        packet: Packet,
        cells: u32,
    ) -> u32 {
        self.frames = self.frames.wrapping_add(1);
        let index = self.free.pop().unwrap_or(self.travels.len() as u32);
        let travel = Some(Travel {
            frame: u64::from(self.frames) << 32 | u64::from(index),
            packet,
            from,
            circuit,
            train: Train::default(),
            next: (0, 0),
            cells,
            sent: 0,
            received: 0,
            lost: None,
        });
        match self.travels.get_mut(index as usize) {
            Some(free) => *free = travel,
            None => self.travels.push(travel),
        }
        index
    }

    /// The next time at which something may happen that the engine must know of, and whether it is
    /// the end of a slot of an edge.
    fn next(&self) -> Option<(Time, bool)> {
        if self.exact {
            let first = self.queue.peek()?;
            return Some((first.0.0, matches!(first.0.1, What::Slot { .. })));
        }
        let ports = self.outputs.iter().filter_map(|o| o.port.last_sent_from());
        let last = self.lasts.peek().map(|l| l.0);
        let others = ports.chain(last).min();
        match (self.lines.next(), others) {
            (Some(slot), others) if others.is_none_or(|o| slot <= o) => Some((slot, true)),
            (_, others) => Some((others?, false)),
        }
    }
}

/// The volume that a line carries while it is busy: one cell in each `slot`.
pub(super) fn volume(slot: Dur, busy: Dur) -> Volume {
    let slot = slot.as_ps();
    let (whole, part) = (busy.as_ps() / slot, busy.as_ps() % slot);
    let mut all = Volume::of(whole * u64::from(CELL));
    all += Volume::part_of(CELL, Dur::from_ps(part), Dur::from_ps(slot));
    all
}

impl Network {
    /// The last link that the cells of a packet take inside switches, and how many links there are,
    /// if its way leads into some.
    fn way(&self, way: &[u32]) -> Option<(u32, u32)> {
        let is_port = |l: &&u32| self.port_of.contains_key(*l);
        let links = way.iter().take_while(is_port).count();
        Some((*way.get(links.checked_sub(1)?)?, links as u32))
    }

    /// A packet begins to leave an edge in cells, which come to the first switch at these times.
    fn begin(&mut self, circuit: u32, train: Train, from: u32, packet: Packet) {
        let runs = train.runs();
        let (Some(first), Some(last)) = (runs.first(), runs.last()) else {
            return;
        };
        let (first, last) = (first.first, last.last());
        let cells = runs.iter().map(|r| r.parts).sum();
        let index = self.add_travel(from, circuit, packet, cells);
        if let Some(travel) = &mut self.travels[index as usize] {
            travel.train = train;
        }
        self.lasts.push(Reverse(last));
        let what = What::First {
            link: from,
            travel: index,
        };
        self.queue.push(Reverse((first, what)));
    }
}

impl Node for Network {
    fn arrive(&mut self, _: Time, _: u32, to: u32, packet: &Packet, out: &mut Outbox) {
        out.passed.push(Passed::plainly(to, *packet));
    }

    fn at_port(&mut self, now: Time, at: &AtPort<'_>, _: &mut Outbox) -> Option<Carries> {
        let PortEvent::Begins { put, way, delay } = at.event else {
            return None;
        };
        let way = self.way(way);
        let known = |(to, _)| self.known.get(&(at.link, to)).copied();
        let circuit = way.and_then(known);
        let links = way.map_or(0, |(_, links)| links);
        let mut packet = *at.packet;
        packet.skip_hops(links);
        let carries = Carries { links, part: CELL };
        match put {
            Put::Packet => None,
            Put::Parts(train) => {
                self.begin(circuit?, train.later(delay), at.link, packet);
                Some(carries)
            }
            Put::Turns(phase) => {
                self.begin_on_line(now, at.link, circuit, phase, packet);
                Some(carries)
            }
        }
    }

    fn next_wake(&self) -> Option<(Time, Rank)> {
        let (at, is_slot) = self.next()?;
        Some((
            at,
            if is_slot {
                Rank::Service
            } else {
                Rank::Control
            },
        ))
    }

    fn wake(&mut self, now: Time, out: &mut Outbox) {
        let only_slots = matches!(self.next(), Some((_, true)));
        let until = Until {
            time: now,
            only_slots,
        };
        while self
            .lasts
            .peek()
            .is_some_and(|l| until.includes(l.0, false))
        {
            self.lasts.pop();
        }
        let due = self.ends_due(now);
        self.advance(until, out);
        self.put_off(due);
    }

    fn edge(&mut self, edge: Time, carried: &mut Vec<Carried>) {
        // What happens at the edge itself belongs to what follows.
        if let Some(before) = edge.as_ps().checked_sub(1) {
            self.catch_up(Time::from_ps(before));
        }
        if edge < self.window.end() {
            return;
        }
        self.lines.passes_end(self.window);
        let of = |o: &Output| {
            let busy = o.port.counts(edge).busy;
            Carried {
                link: o.link,
                leaf: 0,
                volume: volume(o.port.slot(), busy),
                busy,
            }
        };
        carried.extend(self.outputs.iter().map(of));
        // What is still in transmission counts as if nothing else came.
        let window = self.window;
        carried.extend(self.lines.sharing().iter().map(|s| Carried {
            link: s.link,
            leaf: s.packet.leaf,
            volume: window.part(s.packet.len, s.start, s.end),
            busy: window.overlap(s.start, s.end),
        }));
    }

    fn sample(&mut self, now: Time, links: &[u32], names: &dyn Names, out: &mut Samples) {
        self.catch_up(now);
        for link in links {
            if let Some(port) = self.port_of.get(link) {
                let waiting = self.outputs[*port as usize].port.waiting();
                let mut of = out.of(|| names.link(*link));
                of.put(Sampled::BacklogCells, waiting);
            }
        }
    }

    fn measure(&self, now: Time, names: &dyn Names, out: &mut Measures) {
        let secs = self.window.len().as_secs_f64();
        let bits = |cells: u64| cells as f64 * f64::from(CELL) * 8.0 / secs;
        for output in &self.outputs {
            let counts = output.port.counts(now);
            let lost: u64 = counts.lost.iter().sum();
            let carried = volume(output.port.slot(), counts.busy);
            let waiting = counts.waited as f64 / self.window.len().as_ps() as f64;
            let mut of = out.of(Scope::AtmPort, || names.link(output.link));
            of.put(Metric::Offered, bits(counts.offered));
            of.put(Metric::Carried, carried.rate(self.window.len()));
            of.put(Metric::LossRatio, lost as f64 / counts.offered as f64);
            of.put(Metric::CellsOffered, counts.offered);
            of.put(Metric::CellsLost, lost);
            of.put(Metric::CellsTagged, counts.tagged);
            of.put(Metric::BacklogCellsMean, waiting);
            of.put(Metric::BacklogCellsMax, counts.most);
            of.put_lost(|why| output.lost[why.index()]);
        }
        self.lines.measure(self.window, out);
    }
}
