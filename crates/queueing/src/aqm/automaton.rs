//! What an algorithm of active queue management is to its queue.

use spillgate_core::{Packet, Rng, Time, Verdict};

use crate::evidence::{Cause, Odds};

/// A source of uniform numbers on [0, 1): the run's stream, or a script in tests.
pub trait Draw {
    /// The next number.
    fn draw(&mut self) -> f64;
}

impl Draw for Rng {
    #[inline]
    fn draw(&mut self) -> f64 {
        self.f64()
    }
}

/// What an AQM may know of its queue: what waits, without the packet that arrives or leaves
/// and without the one on the wire.
#[derive(Clone, Copy, Debug, Default)]
pub struct Backlog {
    /// Waiting packets.
    pub packets: u32,
    /// Their bytes.
    pub bytes: u64,
    /// When the first of them arrived; none if none waits, and where the AQM does not ask for it.
    pub head: Option<Time>,
}

impl Backlog {
    /// So much waits; since when is not asked.
    pub(crate) fn of(packets: u32, bytes: u64) -> Self {
        Self {
            packets,
            bytes,
            head: None,
        }
    }
}

/// What has happened in a departure before the packet that an automaton is asked for: after each
/// drop the next packet comes up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Nothing.
    #[default]
    First,
    /// A drop that began a period of dropping.
    Began,
    /// A drop within such a period.
    Dropped,
}

/// An algorithm with its parameters, and what it keeps of its last verdicts for whoever asks why.
/// What it remembers of a queue lies apart, so that one automaton serves many queues.
///
/// All hooks but the first three have defaults: they do nothing and promise nothing.
pub(crate) trait Automaton: Clone + std::fmt::Debug + Send + Sync + 'static {
    /// What it remembers of one queue.
    type Vars: Clone + std::fmt::Debug + Send + Sync;

    /// Whether it is to be asked when packets leave.
    const JUDGES_DEPARTURES: bool = false;
    /// Whether it is to be told since when the first packet waits.
    const ASKS_HEAD: bool = false;

    /// Of a queue in which nothing has waited yet.
    fn vars(&self) -> Self::Vars;
    /// The verdict on an arriving packet.
    fn arrival<D: Draw>(
        &mut self,
        vars: &mut Self::Vars,
        now: Time,
        backlog: &Backlog,
        packet: &Packet,
        draw: &mut D,
    ) -> Verdict;
    /// The verdict on a packet that was taken from the head of the queue, with what waits behind
    /// it. After a drop it is asked for the next one: it may drop all there are.
    fn departure<D: Draw>(
        &mut self,
        _vars: &mut Self::Vars,
        _turn: &mut Turn,
        _now: Time,
        _backlog: &Backlog,
        _packet: &Packet,
        _draw: &mut D,
    ) -> Verdict {
        Verdict::Pass
    }
    /// The hard limit refused the packet that was just passed.
    fn overflowed(&self, _: &mut Self::Vars) {}
    /// So many packets were dropped from the head of the queue since there was no room.
    fn pushed_out(&self, _: &mut Self::Vars, _packets: u32) {}
    /// The queue's last packet left; again, if it goes onto a wire, with when that falls idle.
    fn emptied(&self, _: &mut Self::Vars, _at: Time) {}
    /// A departure that began with a packet found no more, as all were dropped.
    fn exhausted(&self, _: &mut Self::Vars, _now: Time, _: Turn) {}
    /// The scheduler asked for a packet and there was none, or nothing waits at all.
    fn retired(&self, _: &mut Self::Vars) {}
    /// Whether it would do the same had it never seen the queue, which is empty.
    fn is_new(&self, _: &Self::Vars) -> bool {
        false
    }
    /// The average queue in packets, if it keeps one.
    fn average(&self, _: &Self::Vars) -> Option<f64> {
        None
    }
    /// Whether the packets that wait are all that it asks of the queue, and only when one arrives:
    /// then a FIFO may compute departures ahead.
    fn decides_by_packets(&self) -> bool {
        false
    }
    /// The odds of the drop or mark that it spoke last, if it has spoken one.
    fn odds(&self) -> Option<Odds> {
        None
    }
    /// Why it dropped or marked a packet in its last call.
    fn cause(&self, _: &Packet) -> Option<Cause> {
        self.odds().map(Cause::Aqm)
    }
}

/// An automaton with what it remembers of the one queue that it manages.
#[derive(Clone, Debug)]
pub(crate) struct Managed<A: Automaton> {
    pub(super) automaton: A,
    pub(super) vars: A::Vars,
}

impl<A: Automaton> Managed<A> {
    pub(crate) fn new(automaton: A) -> Self {
        let vars = automaton.vars();
        Self { automaton, vars }
    }

    #[inline]
    pub(crate) fn arrival<D: Draw>(
        &mut self,
        now: Time,
        backlog: &Backlog,
        packet: &Packet,
        draw: &mut D,
    ) -> Verdict {
        self.automaton
            .arrival(&mut self.vars, now, backlog, packet, draw)
    }

    #[inline]
    pub(crate) fn departure<D: Draw>(
        &mut self,
        turn: &mut Turn,
        now: Time,
        backlog: &Backlog,
        packet: &Packet,
        draw: &mut D,
    ) -> Verdict {
        self.automaton
            .departure(&mut self.vars, turn, now, backlog, packet, draw)
    }

    pub(crate) fn overflowed(&mut self) {
        self.automaton.overflowed(&mut self.vars);
    }

    #[inline]
    pub(crate) fn emptied(&mut self, at: Time) {
        self.automaton.emptied(&mut self.vars, at);
        self.automaton.retired(&mut self.vars);
    }

    pub(crate) fn exhausted(&mut self, now: Time, turn: Turn) {
        self.automaton.exhausted(&mut self.vars, now, turn);
    }

    pub(crate) fn average(&self) -> Option<f64> {
        self.automaton.average(&self.vars)
    }
}

/// None at all: every packet passes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unmanaged;

impl Automaton for Unmanaged {
    type Vars = ();

    fn vars(&self) {}

    #[inline]
    fn arrival<D: Draw>(
        &mut self,
        (): &mut (),
        _: Time,
        _: &Backlog,
        _: &Packet,
        _: &mut D,
    ) -> Verdict {
        Verdict::Pass
    }

    fn is_new(&self, (): &()) -> bool {
        true
    }
}
