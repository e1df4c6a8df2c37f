//! What circuits of a line are guaranteed, and what they send at most.
//!
//! δ is the time of a cell, T the longest increment of a circuit's GCRAs, at least δ, E the delay
//! for which the line makes up (see `line`): δ for each other circuit. A cell that may leave waits
//! for the rest of one slot, for a cell of each other circuit of its class at most, since the
//! earlier turn goes first, and for cells of the classes before it. Let q be the others of its
//! class, w = (q + 1) δ, or q δ if all circuits are of its class; so w <= E.
//!
//! *Turns.* Let packets wait from s on, and H cells of classes before it begin until the k-th cell
//! of the circuit. That cell may leave at s + T + (k - 1) T' + H δ, T' = max(T, w + δ), and begins
//! by w later. By induction: the first may leave by s + T, as the theoretical arrival time is at
//! most T and the tolerance after any cell. The next one may leave once the slot is over, by w + δ
//! later, or T after the time that the shaper counts, which is E before the cell begins if not the
//! time from which the cell could leave, and so no later than the latter is in this bound. A
//! circuit that is never held by its shaper (T = δ) finds no slot of a lower class begun, except at
//! first: its k-th cell begins by s + k (q + 1) δ + H δ.
//!
//! *Categories.* Cells of a circuit begin as its contract allows, with E more of tolerance, so that
//! they bound H.
//!
//! *Minimum rates.* Cells that are due are a class by themselves, in the order in which they may
//! go: the same holds with the increment of the minimum rate for T. Best effort is behind them.
//! They are no more than the circuit sends by its contract. If no shaper holds it, they are no more
//! than GCRA(1/MCR, τ) lets pass, late by the longest time Y in which the line sends nothing but a
//! slot, cells of classes before, and due cells: at its begin, none of these is overdue. Such a
//! circuit also takes turns, with a place that it may have had before a due cell. So the slot that
//! has begun may be another one of a circuit that is still ahead: if that makes w more than E, T'
//! is that much more.
//!
//! *Cells that have left.* What has begun in t is at least (t - B) / T' cells, where the k-th one
//! begins by B + (k - 1) T'. It has left by a slot and the phase of the line later; where two slots
//! are more than T', the curve is that much later, so that it reaches k cells no sooner.

use std::borrow::Cow;

use spillgate_core::curve::{Curve, Exact, NoBound, Slope, UNITS};
use spillgate_core::{Dur, aal5::CELL};
use spillgate_queueing::{Part, Reason, Service};

use super::plan::EdgePlan;
use super::{CellLine, CellPriority, Cells, Contract, Gcra};

/// What a cell counts.
const CELL_UNITS: i128 = UNITS * CELL as i128;

/// A circuit of a line.
pub(super) struct Circuit<'a> {
    /// The link that it is.
    pub(super) link: u32,
    pub(super) contract: &'a Contract,
    /// What its cells are shaped to.
    pub(super) shape: Cow<'a, Contract>,
}

impl Circuit<'_> {
    fn increments(&self) -> impl Iterator<Item = Gcra> {
        [Some(self.shape.peak()), self.shape.sustained()]
            .into_iter()
            .flatten()
    }

    fn category(&self) -> CellPriority {
        self.contract.priority()
    }
}

/// The circuits of a line that packets come to.
pub(super) struct Sharers<'a> {
    /// The time of a cell.
    pub(super) slot: Dur,
    /// The longest phase of the line.
    pub(super) drift: Dur,
    /// The delay for which it makes up.
    pub(super) made_up: Dur,
    pub(super) circuits: Vec<Circuit<'a>>,
}

/// So many cells each time.
fn every(time: Dur, burst: i128) -> Result<Curve, NoBound> {
    let slope = Slope::above(CELL_UNITS, time.as_ps().into())?;
    Ok(Curve::line(Exact::from_integer(burst), slope.exact()))
}

/// What a GCRA lets pass in any time, if cells may be so late.
fn conforming(gcra: &Gcra, late: Dur) -> Result<Curve, NoBound> {
    let early = i128::from((gcra.limit() + late).as_ps());
    let each = i128::from(gcra.increment().as_ps().max(1));
    let burst = (CELL_UNITS * early + each - 1) / each;
    every(gcra.increment(), CELL_UNITS + burst)
}

/// The largest of the lines of a convex curve with short numbers, each no higher than it is.
fn rounded_down(curve: &Curve) -> Result<Curve, NoBound> {
    let mut below = Curve::zero();
    for p in curve.pieces().iter().filter(|p| *p.slope.numer() > 0) {
        let slope = Slope::below(*p.slope.numer(), *p.slope.denom())?;
        let from = (p.from - p.value / p.slope).ceil();
        below = below.max(&Curve::from_latency(from, slope.exact())?)?;
    }
    Ok(below)
}

/// How a circuit gets cells of its line beside others.
struct Turns {
    /// Between two of its cells.
    each: Dur,
    /// Before the first one.
    first: Dur,
}

impl Sharers<'_> {
    /// Of a circuit with a line of its own.
    pub(super) fn alone(cells: &Cells) -> Sharers<'_> {
        Sharers {
            slot: cells.line.tx_time(CELL),
            drift: cells.drift(),
            made_up: Dur::ZERO,
            circuits: vec![Circuit {
                link: 0,
                contract: &cells.contract,
                shape: Cow::Owned(cells.shape()),
            }],
        }
    }

    /// T: the longest time from one cell of a circuit to that of the next, if it is alone.
    fn each(&self, circuit: &Circuit<'_>) -> Dur {
        circuit
            .increments()
            .fold(self.slot, |most, g| most.max(g.increment()))
    }

    /// What one of the circuits sends at least in any time in which packets of it wait, with the
    /// names of links.
    ///
    /// # Errors
    /// Why there is nothing.
    pub(super) fn serves(
        &self,
        own: usize,
        name: &dyn Fn(u32) -> String,
    ) -> Result<Service, Reason> {
        let circuit = &self.circuits[own];
        let (each, category) = (self.each(circuit), circuit.category());
        let line = Curve::line(Exact::from_integer(0), self.line()?);
        let alone = self.steady(&Turns { each, first: each })?;
        let service = Service::of(line).down_to(Part::Shaper, alone);
        let of_class = |each, class| {
            let before: Vec<_> = self.others(own, |c| c < class).collect();
            let sent = self.sent(&before, &[], name)?;
            let beside = self.others(own, |c| c == class).count();
            let lower = before.len() + beside + 1 < self.circuits.len() || !before.is_empty();
            self.behind(&service, &self.turns(each, beside, lower), &sent)
        };
        if category < CellPriority::Minimum {
            return of_class(each, category);
        }
        let shares = self.best_effort(own, &service, name);
        let Some(minimum) = circuit.contract.minimum() else {
            return shares;
        };
        let due = of_class(each.max(minimum.increment()), CellPriority::Minimum)?;
        let both = match shares {
            Ok(shares) => due.curve().max(shares.curve())?,
            Err(_) => return Ok(due),
        };
        Ok(service.down_to(Part::Share, both))
    }

    /// What is left to best effort by turns.
    fn best_effort(
        &self,
        own: usize,
        service: &Service,
        name: &dyn Fn(u32) -> String,
    ) -> Result<Service, Reason> {
        let is_minimum = |c| c == CellPriority::Minimum;
        // What no shaper holds takes turns, beside what is due of it.
        let (free, slow): (Vec<_>, Vec<_>) = self
            .others(own, is_minimum)
            .partition(|c| self.each(c) <= self.slot);
        let before = self.others(own, |c| c < CellPriority::Minimum);
        let before: Vec<_> = before.chain(slow).collect();
        let beside = self.others(own, |c| c == CellPriority::BestEffort).count() + free.len();
        let sent = self.sent(&before, &free, name)?;
        let lower = !before.is_empty() || !free.is_empty();
        let each = self.each(&self.circuits[own]);
        self.behind(service, &self.turns(each, beside, lower), &sent)
    }

    /// The slope of its line, rounded down.
    fn line(&self) -> Result<Exact, NoBound> {
        Ok(Slope::below(CELL_UNITS, self.slot.as_ps().into())?.exact())
    }

    fn others(
        &self,
        own: usize,
        of: impl Fn(CellPriority) -> bool,
    ) -> impl Iterator<Item = &Circuit<'_>> {
        let others = self.circuits.iter().enumerate();
        let others = others.filter(move |(i, c)| *i != own && of(c.category()));
        others.map(|(_, c)| c)
    }

    /// With a class of so many others, where slots of other classes may have begun.
    fn turns(&self, each: Dur, beside: usize, lower: bool) -> Turns {
        if each <= self.slot {
            let each = self.slot * (beside as u64 + 1);
            return Turns { each, first: each };
        }
        let wait = self.slot * (beside as u64 + u64::from(lower));
        let beyond = wait.as_ps().saturating_sub(self.made_up.as_ps());
        Turns {
            each: (each + Dur::from_ps(beyond)).max(wait + self.slot),
            first: each + wait,
        }
    }

    /// When what begins so has left.
    fn steady(&self, turns: &Turns) -> Result<Curve, NoBound> {
        let slope = Slope::below(CELL_UNITS, turns.each.as_ps().into())?;
        Curve::line(Exact::from_integer(0), slope.exact()).delayed(self.latency(turns))
    }

    fn latency(&self, turns: &Turns) -> Dur {
        let leaves = (self.slot + self.drift).as_ps();
        let beyond = leaves.saturating_sub(turns.each.as_ps());
        turns.first + Dur::from_ps(beyond)
    }

    /// With its turns, behind what is sent before.
    fn behind(&self, service: &Service, turns: &Turns, sent: &Curve) -> Result<Service, Reason> {
        let steady = self.steady(turns)?;
        let beside = service.down_to(Part::Share, steady);
        if *sent == Curve::zero() {
            return Ok(beside);
        }
        let line = self.line()?;
        let part = Exact::new(self.slot.as_ps().into(), turns.each.as_ps().into());
        let first = (line * i128::from(self.latency(turns).as_ps())).ceil();
        let first = Curve::line(first, Exact::from_integer(0));
        let left = Curve::line(Exact::from_integer(0), line).left_over(&sent.plus(&first)?)?;
        let left = rounded_down(&left.scaled(part)?)?;
        Ok(beside.down_to(Part::Priority, left))
    }

    /// What goes first at most: some circuits, and what is due of others that no shaper holds.
    fn sent(
        &self,
        before: &[&Circuit<'_>],
        due: &[&Circuit<'_>],
        name: &dyn Fn(u32) -> String,
    ) -> Result<Curve, Reason> {
        let line = Curve::line(Exact::from_integer(0), self.line()?);
        let (mut all, mut minima) = (Curve::zero(), Curve::zero());
        for circuit in before {
            all = all.plus(&self.conforms(circuit, self.made_up)?)?;
        }
        for minimum in due.iter().filter_map(|c| c.contract.minimum()) {
            minima = minima.plus(&conforming(&minimum, Dur::ZERO)?)?;
        }
        let both = all.plus(&minima)?;
        if both.final_slope() >= line.final_slope() {
            let names = before
                .iter()
                .chain(due)
                .map(|c| format!("`{}`", name(c.link)));
            let names: Vec<_> = names.collect();
            return Err(format!(
                "cells of {} go first on its line, and may take all of it",
                names.join(", ")
            )
            .into());
        }
        if due.is_empty() {
            return Ok(all);
        }
        let busy = line.left_over(&both)?.serves(CELL.into())?;
        Ok(all.plus(&minima.jittered(busy)?)?)
    }

    /// What a circuit sends at most, if its cells may be so late.
    fn conforms(&self, circuit: &Circuit<'_>, late: Dur) -> Result<Curve, NoBound> {
        let mut least: Option<Curve> = None;
        for gcra in circuit.increments() {
            let own = conforming(&gcra, late)?;
            least = Some(match least {
                Some(least) => least.min(&own)?.rounded_up()?,
                None => own,
            });
        }
        Ok(least.unwrap_or_else(Curve::zero))
    }

    /// What leaves of one of the circuits at most, in packets of up to so many bytes on the link,
    /// each of which counts as a whole when its last cell has left.
    ///
    /// Of the first packet only the last cell need be sent in that time. Cells leave by a slot and
    /// the phase after they began.
    pub(super) fn sends(&self, own: usize, longest: u32) -> Result<Curve, NoBound> {
        let cells = self.conforms(&self.circuits[own], self.made_up + self.drift)?;
        cells.packetized(longest.saturating_sub(CELL).into())
    }
}

impl<'a> Sharers<'a> {
    /// Of a line with these circuits, some of them.
    pub(super) fn of(line: &[EdgePlan], some: impl Iterator<Item = &'a EdgePlan>) -> Self {
        let circuit = |e: &'a EdgePlan| Circuit {
            link: e.link,
            contract: &e.contract,
            shape: Cow::Borrowed(&e.shape),
        };
        // All have the same line.
        let (slot, drift) = (line[0].slot, line[0].drift);
        Self {
            slot,
            drift,
            made_up: CellLine::lateness(slot, line.len()),
            circuits: some.map(circuit).collect(),
        }
    }
}
