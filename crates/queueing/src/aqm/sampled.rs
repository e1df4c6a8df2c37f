//! Probabilities that are computed anew at fixed intervals from the length of the queue.
//!
//! What is computed is a [`Sampler`]; [`Sampled`] keeps its clock.

use std::fmt::Debug;

use spillgate_core::{Dur, Packet, Time};

use super::chance::{Chooser, Chosen};
use super::clock::Clocked;
use super::{Backlog, Draw};
use crate::evidence::GoesBy;
use crate::stats::State;

/// A law that samples the queue.
pub(crate) trait Sampler: Clone + Debug + Send + Sync + 'static {
    /// What it keeps of one queue.
    type State: Copy + Debug + PartialEq + Send + Sync;

    /// Of a queue that has never held a packet.
    fn new_state(&self) -> Self::State;
    /// Takes a sample.
    fn sample(&self, state: &mut Self::State, queue: &Backlog);
    /// A packet arrives.
    #[inline]
    fn counts(&self, _: &mut Self::State, _: &Packet) {}
    /// The probability with which a packet is dropped or marked that arrives behind this backlog.
    fn probability(&self, state: &Self::State, queue: &Backlog) -> f64;
    /// What the probability follows.
    fn goes_by(&self, state: &Self::State) -> GoesBy;
    /// What time series show of it.
    fn shows(&self, state: &Self::State) -> State;
}

/// A sampler with the time between its samples.
#[derive(Clone, Debug)]
pub(crate) struct Sampled<S> {
    pub(super) law: S,
    pub(super) period: Dur,
}

/// The state of one queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Vars<S> {
    pub(super) state: S,
    /// The next sample; [`Time::MAX`] while the queue is as new.
    next: Time,
}

impl<S: Sampler> Clocked for Sampled<S> {
    type Vars = Vars<S::State>;

    fn period(&self) -> Dur {
        self.period
    }

    #[inline]
    fn next(v: &mut Self::Vars) -> &mut Time {
        &mut v.next
    }

    fn update(&self, v: &mut Self::Vars, queue: &Backlog) {
        self.law.sample(&mut v.state, queue);
    }

    fn rests(&self, v: &Self::Vars) -> bool {
        v.state == self.law.new_state()
    }
}

impl<S: Sampler> Chooser for Sampled<S> {
    type Vars = Vars<S::State>;

    const FOLLOWS: bool = true;

    fn vars(&self) -> Self::Vars {
        Vars {
            state: self.law.new_state(),
            next: Time::MAX,
        }
    }

    #[inline]
    fn choose<D: Draw>(
        &self,
        v: &mut Self::Vars,
        now: Time,
        backlog: &Backlog,
        packet: &Packet,
        _: &mut D,
    ) -> Chosen {
        self.arrives(v, now, backlog);
        self.law.counts(&mut v.state, packet);
        Chosen::With(self.law.probability(&v.state, backlog))
    }

    #[inline]
    fn departs(&self, v: &mut Self::Vars, now: Time, before: &Backlog, _: &Packet) {
        self.advance(v, now, before);
    }

    fn goes_by(&self, v: &Self::Vars) -> GoesBy {
        self.law.goes_by(&v.state)
    }

    fn is_new(&self, v: &Self::Vars) -> bool {
        v.next == Time::MAX
    }

    fn state(&self, v: &Self::Vars, _: Time) -> State {
        self.law.shows(&v.state)
    }
}
