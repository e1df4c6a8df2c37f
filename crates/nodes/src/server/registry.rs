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

spillgate_core::family! {
    /// How the rate of a link's server varies. A change affects the packet in transmission at once.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    pub written enum RateProcessSpec by spec;

    /// Rates from given times on.
    "schedule": Schedule(ScheduleSpec);
    /// Rates from a table: comma-separated values with the columns `time` and `rate`, such as
    /// `0.5 s, 12 Mb/s`, with increasing times. The last rate holds as long as the one before it.
    "trace": Trace(TraceSpec);
    /// Delivery opportunities in the format of Mahimahi: each line is a time in whole milliseconds
    /// at which 1,500 bytes can leave; times do not decrease. The unused part of an opportunity is
    /// lost if no packet waits. The last line is the length of the trace.
    "mahimahi": Mahimahi(TraceSpec);
    /// Random: the link's rate and another rate alternate, for exponentially distributed times.
    "on-off": OnOff(OnOffSpec);
}

spillgate_core::family! {
    /// A server, validated: nothing is left that can fail.
    #[derive(Clone, PartialEq)]
    pub running enum ServerPlan by plan;

    /// See [`Steps`].
    Steps(Steps);
    /// See [`Opportunities`].
    Opportunities(Opportunities);
    /// See [`OnOff`].
    OnOff(OnOff);
    /// See [`Cells`].
    Cells(Cells);
}

impl RateProcessSpec {
    /// The server of a link of this rate; none after an error.
    pub fn resolve(&self, rate: Rate, reader: &mut dyn ServerReader) -> Option<ServerPlan> {
        Some(match self {
            Self::Schedule(spec) => steps::schedule(spec, rate, reader)?.into(),
            Self::Trace(spec) => steps::trace(spec, rate, reader)?.into(),
            Self::Mahimahi(spec) => opportunities::trace(spec, rate, reader)?.into(),
            Self::OnOff(spec) => on_off::random(spec, rate, reader)?.into(),
        })
    }
}

impl Deref for ServerPlan {
    type Target = dyn ServerRecipe;

    fn deref(&self) -> &Self::Target {
        plan!(self, plan => plan)
    }
}

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
