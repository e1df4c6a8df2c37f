//! AQMs that drop or mark what arrives with some probability.
//!
//! What the probability follows is a [`Chooser`]; [`ByChance`] asks it, draws, and marks or drops.

use std::fmt::Debug;

use spillgate_core::{DropReason, Packet, Time, Verdict};

use super::automaton::DropStage;
use super::{Automaton, Backlog, Draw, Upstream, UpstreamUse};
use crate::evidence::{Cause, ChanceOdds, GoesBy};
use crate::stats::State;

/// Marks an ECN-capable packet, if that is wanted, and drops any other (RFC 3168 section 5).
#[inline]
pub(super) fn signal(marks: bool, packet: &Packet, reason: DropReason) -> Verdict {
    match marks && packet.ecn.is_capable() {
        true => Verdict::Mark,
        false => Verdict::Drop(reason),
    }
}

/// What is to become of an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Chosen {
    /// It is signaled with this probability; at 0 nothing is drawn.
    With(f64),
    /// It is signaled for certain, without a draw.
    Certainly,
    /// It is dropped for certain, ECN-capable or not.
    Lost,
}

/// Gives what arrives a probability.
///
/// All hooks but the first three have defaults, which do nothing and promise nothing.
pub(crate) trait Chooser: Clone + Debug + Send + Sync + 'static {
    /// Its state of one queue.
    type Vars: Clone + Debug + Send + Sync;

    /// Whether it has to see departures ([`Chooser::departs`]).
    const FOLLOWS: bool = false;
    /// Whether it compares packets of one queue by their flows.
    const TELLS_FLOWS: bool = false;

    /// The state of a queue that has never held a packet.
    fn vars(&self) -> Self::Vars;
    /// What is to become of a packet that arrives behind this backlog.
    fn choose<D: Draw>(
        &self,
        vars: &mut Self::Vars,
        now: Time,
        backlog: &Backlog,
        packet: &Packet,
        draw: &mut D,
    ) -> Chosen;
    /// What the last choice went by.
    fn goes_by(&self, vars: &Self::Vars) -> GoesBy;
    /// Whether a packet for which `draw` fell below `probability` may be marked.
    #[inline]
    fn marks(&self, _probability: f64, _draw: f64) -> bool {
        true
    }
    /// The packet was let in, as far as the limit of the queue allows.
    #[inline]
    fn let_in(&self, _: &mut Self::Vars, _now: Time, _: &Packet) {}
    /// A packet leaves; `before` is the backlog with it.
    #[inline]
    fn departs(&self, _: &mut Self::Vars, _now: Time, _before: &Backlog, _: &Packet) {}
    /// The hard limit refused the packet that was let in last.
    fn overflowed(&self, _: &mut Self::Vars) {}
    /// Packets are dropped from the queue to make room.
    fn pushed_out(&self, _: &mut Self::Vars) {}
    /// See [`Automaton::evicted`].
    fn evicted(&self, _: &mut Self::Vars, _at: u32, _: &Packet) {}
    /// See [`Automaton::emptied`].
    fn emptied(&self, _: &mut Self::Vars, _at: Time) {}
    /// See [`Automaton::is_new`].
    fn is_new(&self, _: &Self::Vars) -> bool {
        false
    }
    /// See [`Automaton::state`].
    fn state(&self, vars: &Self::Vars, now: Time) -> State;
    /// See [`Automaton::decides_by_packets`].
    fn decides_by_packets(&self) -> bool {
        false
    }
    /// See [`Automaton::upstream_use`].
    fn upstream_use(&self) -> UpstreamUse {
        UpstreamUse::Nothing
    }
    /// See [`Automaton::upstream_arrival`].
    fn upstream_arrival(&self, _: &mut Self::Vars, _now: Time, _: &Upstream, _bytes: u32) {}
}

/// A running AQM that drops or marks by chance.
#[derive(Clone, Debug)]
pub(crate) struct ByChance<C> {
    pub(super) chooser: C,
    /// Whether it marks packets that are capable of ECN.
    ecn: bool,
    /// The odds of the last drop or mark.
    odds: Option<ChanceOdds>,
}

impl<C: Chooser> ByChance<C> {
    pub(super) fn new(chooser: C, ecn: bool) -> Self {
        Self {
            chooser,
            ecn,
            odds: None,
        }
    }
}

impl<C: Chooser> Automaton for ByChance<C> {
    type Vars = C::Vars;

    const JUDGES_DEPARTURES: bool = C::FOLLOWS;
    const TELLS_FLOWS: bool = C::TELLS_FLOWS;

    fn vars(&self) -> C::Vars {
        self.chooser.vars()
    }

    #[inline]
    fn arrival<D: Draw>(
        &mut self,
        v: &mut C::Vars,
        now: Time,
        backlog: &Backlog,
        packet: &Packet,
        draw: &mut D,
    ) -> Verdict {
        let chosen = self.chooser.choose(v, now, backlog, packet, draw);
        let (probability, drawn) = match chosen {
            Chosen::With(p) if p > 0.0 => (p, Some(draw.draw())),
            Chosen::With(p) => (p, None),
            Chosen::Certainly | Chosen::Lost => (1.0, None),
        };
        if drawn.is_some_and(|u| u >= probability) || chosen == Chosen::With(0.0) {
            self.chooser.let_in(v, now, packet);
            return Verdict::Pass;
        }
        let marks =
            chosen != Chosen::Lost && drawn.is_none_or(|u| self.chooser.marks(probability, u));
        self.odds = Some(ChanceOdds {
            by: self.chooser.goes_by(v),
            probability,
            draw: drawn,
        });
        let verdict = signal(self.ecn && marks, packet, DropReason::Early);
        if verdict == Verdict::Mark {
            self.chooser.let_in(v, now, packet);
        }
        verdict
    }

    #[inline]
    fn departure<D: Draw>(
        &mut self,
        v: &mut C::Vars,
        _: &mut DropStage,
        now: Time,
        backlog: &Backlog,
        packet: &Packet,
        _: &mut D,
    ) -> Verdict {
        let before = backlog.with(packet);
        self.chooser.departs(v, now, &before, packet);
        Verdict::Pass
    }

    fn overflowed(&self, v: &mut C::Vars) {
        self.chooser.overflowed(v);
    }

    fn pushed_out(&self, v: &mut C::Vars, _: u32) {
        self.chooser.pushed_out(v);
    }

    fn evicted(&self, v: &mut C::Vars, at: u32, packet: &Packet) {
        self.chooser.evicted(v, at, packet);
    }

    fn emptied(&self, v: &mut C::Vars, at: Time) {
        self.chooser.emptied(v, at);
    }

    fn is_new(&self, v: &C::Vars) -> bool {
        self.chooser.is_new(v)
    }

    fn state(&self, v: &C::Vars, now: Time) -> State {
        self.chooser.state(v, now)
    }

    fn decides_by_packets(&self) -> bool {
        self.chooser.decides_by_packets()
    }

    fn upstream_use(&self) -> UpstreamUse {
        self.chooser.upstream_use()
    }

    fn upstream_arrival(&self, v: &mut C::Vars, now: Time, upstream: &Upstream, bytes: u32) {
        self.chooser.upstream_arrival(v, now, upstream, bytes);
    }

    fn cause(&self, _: &Packet) -> Option<Cause> {
        self.odds.map(Cause::Chance)
    }
}
