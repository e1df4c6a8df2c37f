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
//! cells until then are taken in one go (`cells: merged`). Cells of a frame that meet nobody at a
//! line are taken together. With `cells: exact` the engine wakes the switches for each cell, and
//! none are taken together. Both do the same things in the same order, and so have the same
//! results.
//!
//! O(log n) for each cell in the number of circuits that are sending, O(1) for cells that meet
//! nobody.

mod events;
mod lines;
mod police;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use spillgate_core::aal5::CELL;
use spillgate_core::{DropReason, Dur, Packet, Time};
use spillgate_events::Rank;
use spillgate_measure::table::{Metric, Scope};
use spillgate_measure::{Measures, Sampled, Samples, Volume};
use spillgate_queueing::{Contract, Train};
use spillgate_scenario::plan::{CellSwitchPlan, RateProcess, WorldPlan};
use spillgate_scenario::schema::CellPhase;
use spillgate_switching::atm::{CellPolice, CellPort, Frames, Reassembly};

use self::police::Policer;
use super::holding::{Node, Outbox};
use super::lines::{SentOver, Shared};
use crate::window::Window;
use lines::Lines;

/// An output port with its line.
struct Output {
    link: u32,
    port: CellPort,
    delay: Dur,
    /// Where frames end, if an edge is at the end of the line.
    frames: Option<Frames>,
    is_ideal: bool,
    police: CellPolice,
    /// Packets that were lost, by reason: where their first cell was, or where their frame was not
    /// whole.
    lost: [u64; DropReason::ALL.len()],
}

/// A virtual circuit: from the link of an edge to the port of the last switch.
struct Circuit {
    /// The ports on its way.
    ports: Vec<u32>,
    contract: Contract,
    policer: Policer,
}

/// A packet whose cells are on their way.
struct Travel {
    /// A number in the upper half, the index of this record in the lower.
    frame: u64,
    packet: Packet,
    /// The link of the edge.
    from: u32,
    circuit: u32,
    /// When its cells reach the first switch; empty if its line tells of each.
    train: Train,
    /// The next of them: run, and number in the run.
    next: (usize, u32),
    cells: u32,
    /// How many have come to the first switch, and how many to the end of the circuit.
    sent: u32,
    received: u32,
    /// Why it is lost, and at which port.
    lost: Option<(DropReason, u32)>,
}

/// What happens next somewhere, in order: by time, then lines before cells, then by place. Slots of
/// edges come first: ports send what follows among other services.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// A slot of the line of an edge is over.
    Slot { line: u32 },
    /// The line of this port has sent its cell.
    Sent { port: u32 },
    /// The next cell of a packet comes over the link of an edge.
    First { link: u32, travel: u32 },
    /// A cell comes to this port over the line of another; `last` and `tagged`.
    Next {
        port: u32,
        frame: u64,
        circuit: u32,
        last: bool,
        tagged: bool,
    },
}

/// Until when events are taken: until this time, at that time only slots of edges.
#[derive(Clone, Copy)]
struct Until {
    time: Time,
    only_slots: bool,
}

impl Until {
    /// Whether what happens then, the end of a slot or something else, is taken.
    fn includes(self, at: Time, is_slot: bool) -> bool {
        at < self.time || at == self.time && (is_slot || !self.only_slots)
    }
}

/// All ATM switches, and the lines at edges that circuits share.
pub(crate) struct CellSwitches {
    exact: bool,
    window: Window,
    outputs: Vec<Output>,
    /// The port of a link, if it begins at one.
    port_of: Vec<Option<u32>>,
    /// The circuits by the links at their ends.
    known: BTreeMap<(u32, u32), u32>,
    circuits: Vec<Circuit>,
    travels: Vec<Option<Travel>>,
    free: Vec<u32>,
    /// How many packets have begun.
    frames: u32,
    queue: BinaryHeap<Reverse<(Time, What)>>,
    /// When last cells come to switches.
    lasts: BinaryHeap<Reverse<Time>>,
    lines: Lines,
}

impl CellSwitches {
    pub(super) fn new(plan: &WorldPlan, window: Window) -> Self {
        let mut new = Self {
            exact: plan.cell_switches.iter().any(|s| s.exact),
            window,
            outputs: Vec::new(),
            port_of: vec![None; plan.links.len()],
            known: BTreeMap::new(),
            circuits: Vec::new(),
            travels: Vec::new(),
            free: Vec::new(),
            frames: 0,
            queue: BinaryHeap::new(),
            lasts: BinaryHeap::new(),
            lines: Lines::new(plan),
        };
        for (number, (link, _)) in (0..).zip(ports(plan)) {
            new.port_of[link as usize] = Some(number);
        }
        for route in &plan.routes {
            new.add_circuits(plan, route);
        }
        let contracts: Vec<Contract> = new.circuits.iter().map(|c| c.contract.clone()).collect();
        let circuits = contracts.len();
        let is_switch = |node: u32| plan.cell_switches.iter().any(|s| s.node == node);
        let output = |(number, switch): (u32, &CellSwitchPlan)| {
            let link = &plan.links[number as usize];
            let mut port = CellPort::new(switch.recipe, link.rate.tx_time(CELL), &contracts);
            port.measure(window.start(), window.end());
            Output {
                link: number,
                port,
                delay: link.delay,
                frames: (!is_switch(link.to)).then(|| Frames::new(circuits)),
                is_ideal: switch.reassembly == Reassembly::Ideal,
                police: switch.police,
                lost: [0; DropReason::ALL.len()],
            }
        };
        new.outputs = ports(plan).map(output).collect();
        new
    }

    /// The circuits of a route.
    fn add_circuits(&mut self, plan: &WorldPlan, route: &[u32]) {
        let mut rest = route;
        while let [from, after @ ..] = rest {
            rest = after;
            if self.port_of[*from as usize].is_some() {
                continue;
            }
            let ports: Vec<u32> = after
                .iter()
                .map_while(|l| self.port_of[*l as usize])
                .collect();
            let Some(last) = after.get(ports.len().wrapping_sub(1)) else {
                continue;
            };
            let number = self.circuits.len() as u32;
            if *self.known.entry((*from, *last)).or_insert(number) != number {
                continue;
            }
            let edge = &plan.links[*from as usize];
            let (contract, tolerated) = match edge.process.as_deref() {
                Some(RateProcess::Cells {
                    contract,
                    phase: CellPhase::Random,
                    line,
                    ..
                }) => (contract.clone(), line.tx_time(CELL)),
                Some(RateProcess::Cells { contract, .. }) => (contract.clone(), Dur::ZERO),
                _ => (Contract::whole(edge.rate), Dur::ZERO),
            };
            let tolerated = tolerated + self.lines.lateness(*from);
            self.circuits.push(Circuit {
                ports,
                policer: Policer::new(&contract, tolerated),
                contract,
            });
        }
    }

    /// Takes what happens until `now`, for which the engine has given all wakes that are due.
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

    /// Notes a packet whose cells begin to come over the link of an edge, and returns the index of
    /// its record.
    fn add_travel(&mut self, from: u32, circuit: u32, packet: Packet, cells: u32) -> u32 {
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

    /// When something may happen that the engine must know of, and whether that is the end of a
    /// slot of an edge.
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

/// What a line on which a cell takes `slot` carries in some time: a cell in each slot.
fn volume(slot: Dur, busy: Dur) -> Volume {
    let slot = slot.as_ps();
    let (whole, part) = (busy.as_ps() / slot, busy.as_ps() % slot);
    let mut all = Volume::of(whole * u64::from(CELL));
    all += Volume::part_of(CELL, Dur::from_ps(part), Dur::from_ps(slot));
    all
}

/// The links that begin at ATM switches, with these, in order.
fn ports(plan: &WorldPlan) -> impl Iterator<Item = (u32, &CellSwitchPlan)> {
    let of = |s| move |l: &u32| (*l, s);
    plan.cell_switches
        .iter()
        .flat_map(move |s| s.outputs.iter().map(of(s)))
}

impl Node for CellSwitches {
    fn arrive(&mut self, _: Time, _: u32, _: u32, _: &Packet, _: &mut Outbox) {
        // Packets come as cells.
    }

    fn way(&self, hops: &[u32]) -> Option<(u32, u32)> {
        let is_port = |l: &&u32| {
            let port = self.port_of.get(**l as usize);
            port.is_some_and(Option::is_some)
        };
        let links = hops.iter().take_while(is_port).count();
        Some((*hops.get(links.checked_sub(1)?)?, links as u32))
    }

    fn begin(&mut self, (from, to): (u32, u32), train: Train, packet: Packet) {
        let Some(circuit) = self.known.get(&(from, to)).copied() else {
            return;
        };
        let runs = train.runs();
        let (Some(first), Some(last)) = (runs.first(), runs.last()) else {
            return;
        };
        let (first, last) = (first.first, last.last());
        let cells = runs.iter().map(|r| r.cells).sum();
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

    fn carried(&self) -> Vec<(u32, Volume, Dur)> {
        let of = |o: &Output| {
            let busy = o.port.counts(self.window.end()).busy;
            (o.link, volume(o.port.slot(), busy), busy)
        };
        self.outputs.iter().map(of).collect()
    }

    fn share(&mut self, now: Time, shared: Shared) {
        self.begin_on_line(now, &shared);
    }

    fn sharing(&self) -> Vec<SentOver> {
        self.lines.sharing()
    }

    fn next_wake(&self) -> Option<Time> {
        self.next().map(|(at, _)| at)
    }

    fn wake(&mut self, now: Time, out: &mut Outbox) {
        let only_slots = self.rank() == Rank::Service;
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

    fn rank(&self) -> Rank {
        match self.next() {
            Some((_, true)) => Rank::Service,
            _ => Rank::Control,
        }
    }

    fn sample(&mut self, now: Time, plan: &WorldPlan, out: &mut Samples) {
        self.catch_up(now);
        for link in &plan.watched {
            let Some(port) = self.port_of[*link as usize] else {
                continue;
            };
            let mut of = out.of(|| &*plan.links[*link as usize].name);
            let waiting = self.outputs[port as usize].port.waiting();
            of.put(Sampled::BacklogCells, waiting);
        }
    }

    fn passes_edge(&mut self, edge: Time) {
        // What happens at the edge itself belongs to what follows.
        if let Some(before) = edge.as_ps().checked_sub(1) {
            self.catch_up(Time::from_ps(before));
        }
        if edge == self.window.end() {
            self.lines.passes_end(self.window);
        }
    }

    fn measure(&self, now: Time, plan: &WorldPlan, out: &mut Measures) {
        let secs = self.window.len().as_secs_f64();
        for ((link, _), output) in ports(plan).zip(&self.outputs) {
            let counts = output.port.counts(now);
            let lost: u64 = counts.lost.iter().sum();
            let mut of = out.of(Scope::AtmPort, || &*plan.links[link as usize].name);
            let offered = counts.offered as f64 * f64::from(CELL) * 8.0 / secs;
            of.put(Metric::Offered, offered);
            let carried = volume(output.port.slot(), counts.busy);
            of.put(Metric::Carried, carried.rate(self.window.len()));
            of.put(Metric::LossRatio, lost as f64 / counts.offered as f64);
            of.put(Metric::CellsOffered, counts.offered);
            of.put(Metric::CellsLost, lost);
            of.put(Metric::CellsTagged, counts.tagged);
            let waiting = counts.waited as f64 / self.window.len().as_ps() as f64;
            of.put(Metric::BacklogCellsMean, waiting);
            of.put(Metric::BacklogCellsMax, counts.most);
            of.put_lost(|why| output.lost[why.index()]);
        }
        self.lines.measure(self.window, plan, out);
    }
}
