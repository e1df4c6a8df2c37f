//! The kinds of sources, one line each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::curve::{Curve, NoBound};
use spillgate_core::{Rng, Time};

use super::spec::{
    BackloggedSpec, BernoulliSpec, CbrSpec, MmppSpec, OnOffSpec, PoissonSpec, VideoSpec, VoipSpec,
};
use super::{
    Emission, Envelope, Model, Occupied, backlogged, bernoulli, cbr, mmpp, onoff, poisson, video,
    voip,
};
use spillgate_core::Problem;

spillgate_core::family! {
    /// What a flow sends. Rates count IP packets (the network layer), without link overhead.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    pub written enum SourceSpec by spec;
    #[derive(Clone, Debug)]
    running enum SourceState by each;

    /// Constant bit rate: packets on an exact grid, with phase and jitter.
    "cbr": Cbr(CbrSpec) => cbr::Cbr;
    /// Poisson arrivals: exponential gaps.
    "poisson": Poisson(PoissonSpec) => poisson::Poisson;
    /// Slotted Bernoulli arrivals: a packet in each slot of a line with a probability.
    "bernoulli": Bernoulli(BernoulliSpec) => bernoulli::Bernoulli;
    /// Packets that always wait in a virtual output queue of a switch.
    "backlogged": Backlogged(BackloggedSpec) => backlogged::Backlogged;
    /// Constant bit rate during bursts of random length, silent between them.
    "on-off": OnOff(OnOffSpec) => onoff::OnOff;
    /// Poisson arrivals whose rate changes at random between two values (MMPP-2).
    "mmpp": Mmpp(MmppSpec) => mmpp::Mmpp;
    /// A telephone call: packets of a codec, with or without silence suppression.
    "voip": Voip(VoipSpec) => voip::Voip;
    /// Video: frames of random sizes in a group of pictures, cut into packets.
    "video": Video(VideoSpec) => video::Video;
}

impl SourceSpec {
    /// Checks the ranges that the types do not express.
    ///
    /// # Errors
    /// The first value out of range, with its path below the source (`cbr.jitter`), what was found
    /// and what is valid.
    pub fn check(&self) -> Result<(), Problem> {
        spec!(self, s: M => M::check(s)).map_err(|p| p.under(self.kind()))
    }
}

/// A running source: a small state machine, cloned to branch a run.
#[derive(Clone, Debug)]
pub struct Source(SourceState);

impl Source {
    /// A source of this kind that begins at `start`.
    ///
    /// Values that [`SourceSpec::check`] refuses are brought into range.
    pub fn new(spec: &SourceSpec, start: Time) -> Self {
        Self(spec!(spec, s: M => M::new(s, start).into()))
    }

    /// The next packet, at or after the previous one and the start.
    ///
    /// None only when the source can never send again: its next packet would lie beyond
    /// [`Time::MAX`]. Draws from `rng` alone.
    #[inline]
    #[allow(clippy::should_implement_trait, reason = "an iterator has no stream")]
    pub fn next(&mut self, rng: &mut Rng) -> Option<Emission> {
        each!(&mut self.0, m => m.next(rng))
    }

    /// The long-run mean rate of what `spec` describes, in bits per second of IP packets.
    pub fn mean_rate(spec: &SourceSpec) -> f64 {
        spec!(spec, s: M => M::mean_rate(s))
    }

    /// What the IP packets of what `spec` describes hardly ever exceed.
    pub fn envelope(spec: &SourceSpec) -> Envelope {
        spec!(spec, s: M => M::envelope(s))
    }

    /// What `spec` describes never exceeds, in bytes on a link; none where it may exceed
    /// everything.
    ///
    /// # Errors
    /// If its numbers are too large for a curve.
    pub fn arrivals(spec: &SourceSpec, occupied: Occupied<'_>) -> Option<Result<Curve, NoBound>> {
        spec!(spec, s: M => M::arrivals(s, occupied))
    }

    /// What at most one of 10,000 IP packets of what `spec` describes is longer than, in bytes.
    pub fn usually_longest(spec: &SourceSpec) -> u16 {
        spec!(spec, s: M => M::usually_longest(s))
    }

    /// A length that no IP packet of what `spec` describes is below, in bytes.
    pub fn shortest(spec: &SourceSpec) -> u16 {
        spec!(spec, s: M => M::shortest(s))
    }

    /// The longest IP packet that what `spec` describes may send, in bytes.
    pub fn longest(spec: &SourceSpec) -> u16 {
        spec!(spec, s: M => M::longest(s))
    }
}

const _: () = assert!(std::mem::size_of::<Source>() <= 128);
