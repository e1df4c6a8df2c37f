//! Every kind of server: a line each.

use std::fmt;
use std::ops::Deref;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::Rate;

use super::{
    OnOff, OnOffSpec, Opportunities, ScheduleSpec, ServerReader, ServerRecipe, Steps, TraceSpec,
    on_off, opportunities, steps,
};
use crate::atm::Cells;

macro_rules! written {
    ($($(#[doc = $doc:literal])+ $kind:ident($spec:ty) by $resolve:path;)+) => {
        /// How the rate of a link's server varies. A change affects the packet in transmission at
        /// once.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum RateProcessSpec {
            $($(#[doc = $doc])+ $kind($spec),)+
        }

        impl RateProcessSpec {
            /// The server of a link of this rate; none after an error.
            pub fn resolve(&self, rate: Rate, reader: &mut dyn ServerReader) -> Option<ServerPlan> {
                Some(match self { $(Self::$kind(spec) => $resolve(spec, rate, reader)?.into(),)+ })
            }
        }
    };
}

macro_rules! running {
    ($($kind:ident),+) => {
        /// A server, validated: nothing is left that can fail.
        #[derive(Clone, PartialEq)]
        pub enum ServerPlan {
            $(#[doc = concat!("See [`", stringify!($kind), "`].")] $kind($kind),)+
        }

        impl Deref for ServerPlan {
            type Target = dyn ServerRecipe;

            fn deref(&self) -> &Self::Target {
                match self { $(Self::$kind(plan) => plan,)+ }
            }
        }

        $(impl From<$kind> for ServerPlan {
            fn from(plan: $kind) -> Self {
                Self::$kind(plan)
            }
        })+
    };
}

written! {
    /// Rates from given times on.
    Schedule(ScheduleSpec) by steps::schedule;
    /// Rates from a table: comma-separated values with the columns `time` and `rate`, such as
    /// `0.5 s, 12 Mb/s`, with increasing times. The last rate holds as long as the one before it.
    Trace(TraceSpec) by steps::trace;
    /// Delivery opportunities in the format of Mahimahi: each line is a time in whole milliseconds
    /// at which 1,500 bytes can leave; times do not decrease. The unused part of an opportunity is
    /// lost if no packet waits. The last line is the length of the trace.
    Mahimahi(TraceSpec) by opportunities::trace;
    /// Random: the link's rate and another rate alternate, for exponentially distributed times.
    OnOff(OnOffSpec) by on_off::random;
}

running! { Steps, Opportunities, OnOff, Cells }

impl fmt::Debug for ServerPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl fmt::Display for ServerPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}
