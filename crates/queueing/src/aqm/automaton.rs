//! The interface between an AQM and its queue.

use spillgate_core::{Dur, Packet, Rng, Time, Verdict};

use super::upstream::{Upstream, UpstreamUse};
use crate::evidence::{Cause, Odds};
use crate::stats::State;

/// A source of uniform numbers on [0, 1): the run's stream, or a script in tests.
pub trait Draw {
    /// The next number.
    fn draw(&mut self) -> f64;
    /// The stream that they come from, for who draws by other means; none if there is none.
    fn stream(&mut self) -> Option<&mut Rng> {
        None
    }
}

impl Draw for Rng {
    #[inline]
    fn draw(&mut self) -> f64 {
        self.f64()
    }

    fn stream(&mut self) -> Option<&mut Rng> {
        Some(self)
    }
}

/// The backlog that an AQM sees, without the packet that arrives or leaves and without the one in
/// transmission.
#[derive(Clone, Copy, Debug, Default)]
pub struct Backlog {
    /// Waiting packets.
    pub packets: u32,
    /// Their bytes.
    pub bytes: u64,
    /// When the first of them arrived; none if none is queued, or if the AQM does not need it.
    pub head: Option<Time>,
    /// The rate at which the queue drains in bytes a second, measured while 16,384 B and more were
    /// queued; none before that, or if the AQM does not need it.
    pub drain_rate: Option<f64>,
    /// What waits in front of the queue, at the inputs of a switch.
    pub upstream: Upstream,
}

impl Backlog {
    /// A backlog of which no more is known.
    pub(crate) fn of(packets: u32, bytes: u64) -> Self {
        Self {
            packets,
            bytes,
            ..Self::default()
        }
    }

    /// The length in packets by which AQMs judge: the waiting packets, and the weighted ones in
    /// front of the queue.
    #[inline]
    pub fn measure_packets(&self) -> f64 {
        f64::from(self.packets) + self.upstream.packets
    }

    /// The length in bytes by which AQMs judge.
    #[inline]
    pub fn measure_bytes(&self) -> f64 {
        self.bytes as f64 + self.upstream.bytes
    }

    /// The backlog with this packet at its head, from which it was taken.
    #[inline]
    pub(crate) fn with(&self, packet: &Packet) -> Self {
        Self {
            packets: self.packets + 1,
            bytes: self.bytes + u64::from(packet.len),
            head: Some(packet.arrived),
            ..*self
        }
    }

    /// How long what counts as waiting takes to leave at the drain rate (Little's law); none while
    /// the rate is unknown.
    pub fn drains_in(&self) -> Option<Dur> {
        let seconds = self.measure_bytes() / self.drain_rate?;
        Some(Dur::from_secs_f64(seconds))
    }
}

/// The stage of dropping within one departure. After each drop the automaton is asked about the
/// next packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DropStage {
    /// No drop yet.
    #[default]
    First,
    /// A drop that began a period of dropping.
    Began,
    /// A drop within such a period.
    Dropped,
}

/// An algorithm with its parameters, and the evidence of its last verdicts. The state of a queue is
/// separate, so that one automaton serves many queues.
///
/// All hooks but the first three have defaults, which do nothing and promise nothing.
pub(crate) trait Automaton: Clone + std::fmt::Debug + Send + Sync + 'static {
    /// Its state of one queue.
    type Vars: Clone + std::fmt::Debug + Send + Sync;

    /// Whether it decides when packets leave.
    const JUDGES_DEPARTURES: bool = false;
    /// Whether it needs the arrival time of the first queued packet.
    const ASKS_HEAD: bool = false;
    /// Whether a FIFO that computes departures at arrival has to tell it of each
    /// ([`Automaton::begins`]).
    const FORESEES: bool = false;
    /// Whether it treats packets of one queue by their code points.
    const TELLS_PRECEDENCES: bool = false;
    /// Whether it compares an arrival with a queued packet before it judges it
    /// ([`Automaton::picks`]).
    const PICKS: bool = false;
    /// Whether it compares packets by their flows, which makes no sense in a queue of one flow.
    const TELLS_FLOWS: bool = false;

    /// The state of a queue that has never held a packet.
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
    /// The verdict on a packet that was taken from the head of the queue, with the backlog behind
    /// it. After a drop it is asked about the next packet; it may drop all of them.
    fn departure<D: Draw>(
        &mut self,
        _vars: &mut Self::Vars,
        _stage: &mut DropStage,
        _now: Time,
        _backlog: &Backlog,
        _packet: &Packet,
        _draw: &mut D,
    ) -> Verdict {
        Verdict::Pass
    }
    /// The place, from the head of the queue, of the packet with which an arriving one is compared;
    /// if both are of one flow they are dropped, else the arriving one is judged. Asked about every
    /// arrival, and only if [`Automaton::PICKS`].
    fn picks<D: Draw>(
        &mut self,
        _: &mut Self::Vars,
        _now: Time,
        _: &Backlog,
        _: &mut D,
    ) -> Option<u32> {
        None
    }
    /// The packet that it picked is of the flow of the arriving one.
    fn matched(&mut self) {}
    /// The hard limit refused the packet that was just passed.
    fn overflowed(&self, _: &mut Self::Vars) {}
    /// That many packets were dropped from the head of the queue to make room.
    fn pushed_out(&self, _: &mut Self::Vars, _packets: u32) {}
    /// This packet, which was `at` in the queue, was dropped to make room for another one.
    fn evicted(&self, _: &mut Self::Vars, _at: u32, _: &Packet) {}
    /// The queue's last packet left. Called a second time when the end of its transmission is
    /// known, with that time.
    fn emptied(&self, _: &mut Self::Vars, _at: Time) {}
    /// A departure found no packet to send, since all were dropped.
    fn exhausted(&self, _: &mut Self::Vars, _now: Time, _: DropStage) {}
    /// The scheduler asked for a packet and there was none, or the discipline is empty.
    fn retired(&self, _: &mut Self::Vars) {}
    /// Whether the state of this queue, which is empty, is equivalent to a new one.
    fn is_new(&self, _: &Self::Vars) -> bool {
        false
    }
    /// The average queue, if it keeps one: in packets, or in bytes if it counts those.
    fn average(&self, _: &Self::Vars) -> Option<f64> {
        None
    }
    /// Whether its average is in bytes.
    fn averages_bytes(&self) -> bool {
        false
    }
    /// The probability with which it would drop or mark a packet by this average, before drops are
    /// spread; none if it depends on the packet, or [`Automaton::state`] tells it.
    fn probability(&self, _: &Self::Vars) -> Option<f64> {
        None
    }
    /// What time series show of it beside the average, at `now`: always the same names, each that
    /// of a series in the catalog of `spillgate-measure`.
    fn state(&self, _: &Self::Vars, _now: Time) -> State {
        State::new()
    }
    /// The drain rate of this queue in bytes a second, if it measures one and knows it.
    fn drain_rate(&self, _: &Self::Vars) -> Option<f64> {
        None
    }
    /// What it takes into account of queues in front of this one.
    fn upstream_use(&self) -> UpstreamUse {
        UpstreamUse::Nothing
    }
    /// `bytes` arrived in front of this queue, whether they were lost there or not.
    fn upstream_arrival(&self, _: &mut Self::Vars, _now: Time, _: &Upstream, _bytes: u32) {}
    /// The transmission of the packet that was let in last begins at `start`, now or later: said in
    /// place of asking at departures, and only if [`Automaton::FORESEES`].
    fn begins(&self, _: &mut Self::Vars, _start: Time, _packet: &Packet) {}
    /// Whether it needs nothing but the number of queued packets when a packet arrives, and when
    /// those that it let in begin to leave; then a FIFO may compute departures at arrival.
    fn decides_by_packets(&self) -> bool {
        false
    }
    /// The odds of its last verdict that was a drop or a mark, if any.
    fn odds(&self) -> Option<Odds> {
        None
    }
    /// Why it dropped or marked a packet in its last call.
    fn cause(&self, _: &Packet) -> Option<Cause> {
        self.odds().map(Cause::Aqm)
    }
}

/// An automaton with the state of the one queue that it manages.
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
        stage: &mut DropStage,
        now: Time,
        backlog: &Backlog,
        packet: &Packet,
        draw: &mut D,
    ) -> Verdict {
        self.automaton
            .departure(&mut self.vars, stage, now, backlog, packet, draw)
    }

    pub(crate) fn overflowed(&mut self) {
        self.automaton.overflowed(&mut self.vars);
    }

    #[inline]
    pub(crate) fn emptied(&mut self, at: Time) {
        self.automaton.emptied(&mut self.vars, at);
        self.automaton.retired(&mut self.vars);
    }

    pub(crate) fn exhausted(&mut self, now: Time, stage: DropStage) {
        self.automaton.exhausted(&mut self.vars, now, stage);
    }

    #[inline]
    pub(crate) fn average(&self) -> Option<f64> {
        self.automaton.average(&self.vars)
    }
}

/// No AQM: every packet passes.
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
