//! A discipline on a link of its own, as a world drives it: at one instant the end of a
//! transmission comes before arrivals.

use std::collections::BTreeMap;
use std::sync::Arc;

use spillgate_core::{DropReason, Drops, Packet, Rate, Rng, Time};

use super::plain::Line;
use crate::evidence::{Cause, Refusal};
use crate::spec::{DisciplineSpec, FanSpec};
use crate::{AdmissionState, Discipline, Recipe, SharedLists, Wait};

pub(super) struct Link {
    pub(super) discipline: Discipline,
    rate: Rate,
    free_at: Time,
    down: bool,
    rng: Rng,
    drops: Drops,
    pub(super) ledger: Vec<Line>,
}

pub(super) fn recipe(spec: &FanSpec, rate: Rate) -> Recipe {
    let policies = BTreeMap::from([("main".to_owned(), DisciplineSpec::Fan(spec.clone()))]);
    let (recipe, _) = Recipe::resolve("main", &policies, rate).unwrap_or_else(|e| panic!("{e}"));
    recipe
}

impl Link {
    pub(super) fn new(spec: &FanSpec, rate: Rate) -> Self {
        Self::sharing(spec, rate, &mut SharedLists::new())
    }

    pub(super) fn sharing(spec: &FanSpec, rate: Rate, lists: &mut SharedLists) -> Self {
        Self {
            discipline: recipe(spec, rate).build_sharing(&Arc::from([]), lists),
            rate,
            free_at: Time::ZERO,
            down: false,
            rng: Rng::from_key(7),
            drops: Drops::new(),
            ledger: Vec::new(),
        }
    }

    /// The generator that a model must use to draw the same.
    pub(super) fn rng(&self) -> Rng {
        self.rng.clone()
    }

    fn collect(&mut self, now: Time) {
        let lost = self.drops.as_slice().iter();
        let lines = lost.map(|d| (now, d.packet.flow, d.packet.seq, d.reason.metric()));
        self.ledger.extend(lines);
        self.drops.clear();
    }

    fn send(&mut self, now: Time) {
        if let Some(p) = self.discipline.dequeue(now, &mut self.rng, &mut self.drops) {
            self.free_at = now + self.rate.tx_time(p.len);
            self.ledger.push((now, p.flow, p.seq, "sent"));
        }
    }

    /// When the next packet may leave, if one waits.
    pub(super) fn next_end(&self) -> Option<Time> {
        (self.discipline.backlog_packets() > 0).then_some(self.free_at)
    }

    pub(super) fn run_to(&mut self, now: Time) {
        while self.discipline.backlog_packets() > 0 && self.free_at <= now {
            self.send(self.free_at);
        }
    }

    pub(super) fn arrive(&mut self, now: Time, packet: Packet) {
        self.run_to(now);
        if self.down {
            self.discipline
                .refuse(now, packet, DropReason::LinkDown, &mut self.drops);
            return self.collect(now);
        }
        self.discipline
            .enqueue(now, packet, &mut self.rng, &mut self.drops);
        self.collect(now);
        if self.free_at <= now {
            self.send(now);
        }
    }

    /// Offers a packet; what was known if flow admission refused it.
    pub(super) fn why(&mut self, now: Time, packet: Packet) -> Option<Refusal> {
        self.discipline
            .enqueue(now, packet, &mut self.rng, &mut self.drops);
        let lost = self.drops.as_slice().first().copied();
        self.collect(now);
        match self.discipline.evidence(now, &lost?).cause {
            Cause::Admission(r) => Some(r),
            cause => panic!("{cause:?}"),
        }
    }

    pub(super) fn set_down(&mut self, now: Time, down: bool) {
        self.run_to(now);
        if down && !self.down {
            let from = self.ledger.len();
            self.discipline
                .flush(now, DropReason::LinkDown, &mut self.drops);
            self.collect(now);
            self.ledger[from..].sort_by_key(|(_, flow, ..)| *flow);
            self.free_at = self.free_at.min(now);
        }
        self.down = down;
    }

    pub(super) fn state(&mut self, now: Time) -> AdmissionState {
        self.run_to(now);
        self.discipline.admission(now).unwrap()
    }

    pub(super) fn waits(&mut self, now: Time) -> Vec<Wait> {
        self.run_to(now);
        self.discipline.waits(now)
    }
}
