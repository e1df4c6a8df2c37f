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

/// From one line per kind: the spec enum, the runtime enum, the dispatch and the list of kinds.
macro_rules! sources {
    ($($kind:literal: $variant:ident($spec:ty) = $model:ty, $summary:literal;)+) => {
        /// What a flow sends. Rates count IP packets (the network layer), without link overhead.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        pub enum SourceSpec {
            $(
                #[doc = concat!($summary, ".")]
                #[serde(rename = $kind)]
                $variant($spec),
            )+
        }

        /// Every kind of source: its name in scenarios and a summary of one line.
        pub const KINDS: &[(&str, &str)] = &[$(($kind, $summary)),+];

        /// A running source: a small state machine, cloned to branch a run.
        #[derive(Clone, Debug)]
        pub struct Source(SourceState);

        #[derive(Clone, Debug)]
        enum SourceState {
            $($variant($model),)+
        }

        impl SourceSpec {
            /// The name of the kind in scenarios, one of [`KINDS`].
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $kind,)+
                }
            }

            /// Checks the ranges that the types do not express.
            ///
            /// # Errors
            /// The first value out of range, with its path below the source
            /// (`cbr.jitter`), what was found and what is valid.
            pub fn check(&self) -> Result<(), Problem> {
                match self {
                    $(Self::$variant(s) => <$model as Model>::check(s),)+
                }
                .map_err(|p| p.under(self.kind()))
            }
        }

        impl Source {
            /// A source that begins at `start`.
            ///
            /// Values that [`SourceSpec::check`] refuses are brought into range.
            pub fn new(spec: &SourceSpec, start: Time) -> Self {
                Self(match spec {
                    $(SourceSpec::$variant(s) => SourceState::$variant(Model::new(s, start)),)+
                })
            }

            /// The next packet, at or after the previous one and the start.
            ///
            /// None only when the source can never send again: its next packet
            /// would lie beyond [`Time::MAX`]. Draws from `rng` alone.
            #[inline]
            #[allow(clippy::should_implement_trait, reason = "an iterator has no stream")]
            pub fn next(&mut self, rng: &mut Rng) -> Option<Emission> {
                match &mut self.0 {
                    $(SourceState::$variant(m) => m.next(rng),)+
                }
            }

            /// The long-run mean rate of what `spec` describes, in bits per second of IP packets.
            pub fn mean_rate(spec: &SourceSpec) -> f64 {
                match spec {
                    $(SourceSpec::$variant(s) => <$model as Model>::mean_rate(s),)+
                }
            }

            /// What the IP packets of what `spec` describes hardly ever exceed.
            pub fn envelope(spec: &SourceSpec) -> Envelope {
                match spec {
                    $(SourceSpec::$variant(s) => <$model as Model>::envelope(s),)+
                }
            }

            /// What `spec` describes never exceeds, in bytes on a link; none where it may exceed
            /// everything.
            ///
            /// # Errors
            /// If its numbers are too large for a curve.
            pub fn arrivals(
                spec: &SourceSpec,
                occupied: Occupied<'_>,
            ) -> Option<Result<Curve, NoBound>> {
                match spec {
                    $(SourceSpec::$variant(s) => <$model as Model>::arrivals(s, occupied),)+
                }
            }

            /// What at most one of 10,000 IP packets of what `spec` describes is longer than, in
            /// bytes.
            pub fn usually_longest(spec: &SourceSpec) -> u16 {
                match spec {
                    $(SourceSpec::$variant(s) => <$model as Model>::usually_longest(s),)+
                }
            }

            /// A length that no IP packet of what `spec` describes is below, in bytes.
            pub fn shortest(spec: &SourceSpec) -> u16 {
                match spec {
                    $(SourceSpec::$variant(s) => <$model as Model>::shortest(s),)+
                }
            }

            /// The longest IP packet that what `spec` describes may send, in bytes.
            pub fn longest(spec: &SourceSpec) -> u16 {
                match spec {
                    $(SourceSpec::$variant(s) => <$model as Model>::longest(s),)+
                }
            }
        }
    };
}

sources! {
    "cbr": Cbr(CbrSpec) = cbr::Cbr, "Constant bit rate: packets on an exact grid, with phase and jitter";
    "poisson": Poisson(PoissonSpec) = poisson::Poisson, "Poisson arrivals: exponential gaps";
    "bernoulli": Bernoulli(BernoulliSpec) = bernoulli::Bernoulli, "Slotted Bernoulli arrivals: a packet in each slot of a line with a probability";
    "backlogged": Backlogged(BackloggedSpec) = backlogged::Backlogged, "Packets that always wait in a virtual output queue of a switch";
    "on-off": OnOff(OnOffSpec) = onoff::OnOff, "Constant bit rate during bursts of random length, silent between them";
    "mmpp": Mmpp(MmppSpec) = mmpp::Mmpp, "Poisson arrivals whose rate changes at random between two values (MMPP-2)";
    "voip": Voip(VoipSpec) = voip::Voip, "A telephone call: packets of a codec, with or without silence suppression";
    "video": Video(VideoSpec) = video::Video, "Video: frames of random sizes in a group of pictures, cut into packets";
}

const _: () = assert!(std::mem::size_of::<Source>() <= 128);
