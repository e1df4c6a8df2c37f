//! Servers of ports: when a packet leaves, and what is put on the line for it.
//!
//! A port whose link has a constant rate needs none. A kind of server is a file and a line in
//! [`registry`]: how it is written and checked, what it is made of once that is checked
//! ([`ServerRecipe`]), and what it does ([`Server`]). Servers whose packets leave in parts that
//! nodes look at stand beside these nodes.

mod least;
mod on_off;
mod opportunities;
mod registry;
mod steps;
mod train;

use std::fmt::{Debug, Display};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::curve::Curve;
use spillgate_core::{Dur, Rate, Rng, Time};
use spillgate_queueing::{Reason, Service};

use crate::Put;
use spillgate_core::Problem;

pub use on_off::{OnOff, OnOffSpec};
pub use opportunities::Opportunities;
pub use registry::{RateProcessSpec, ServerPlan};
pub use steps::{ScheduleSpec, StepSpec, Steps};
pub use train::{Run, Train};

/// A server that sends one packet after another, each at a time that it is told.
pub trait Server: Send {
    /// When it can begin with a packet, at `now` or later; `waited`: the packet was there before
    /// `now`.
    fn begins(&mut self, now: Time, _waited: bool) -> Time {
        now
    }

    /// Sends a packet of `bytes` from `start` on, and returns when it has left; [`Time::MAX`] if a
    /// node tells that later ([`Outbox::sent`](crate::Outbox::sent)).
    fn send(&mut self, start: Time, bytes: u32) -> Time;

    /// What it has put on the line for its last packet.
    fn put(&self) -> Put {
        Put::Packet
    }

    /// When it can begin with the next packet, if the last one leaves at `end`.
    fn next(&self, end: Time) -> Time {
        end
    }

    /// Its transmission is cut off at `now`.
    fn cut(&mut self, _now: Time) {}

    /// How many bits it could send between two times. It must not have been used later than `from`.
    fn capacity(&self, from: Time, to: Time) -> f64;
}

/// A server, validated. Its debugging text is its identity, its other text is for people.
pub trait ServerRecipe: Debug + Display {
    /// The server at its start; `stream`: its random numbers for a purpose.
    fn build(&self, stream: &dyn Fn(&str) -> Rng) -> Box<dyn Server>;

    /// What others may know of it.
    fn facts(&self) -> ServerFacts;

    /// What it sends at least in any time in which packets wait, in bytes on the link that have
    /// left.
    ///
    /// # Errors
    /// Why nothing is guaranteed.
    fn serves(&self) -> Result<Service, Reason> {
        Err("no guarantee of this line is known".into())
    }

    /// What leaves at most, in bytes on the link, of packets of up to `longest` of these, each of
    /// which counts when it has left; none if that is only what its line sends.
    fn sends(&self, _longest: u32) -> Option<Curve> {
        None
    }

    /// From the end of one packet to that of the next, it takes at least the time of that at this
    /// rate, less this time; none if several may leave together.
    fn peak(&self) -> Option<(Rate, Dur)> {
        None
    }
}

/// What others may know of a server.
#[derive(Clone, Copy, Debug)]
pub struct ServerFacts {
    /// The rate that it keeps up, if that is not the rate of its link.
    pub rate: Option<Rate>,
    /// What it puts on the line are parts of packets.
    pub in_parts: bool,
    /// Why it serves packets one by one.
    pub why: &'static str,
}

impl ServerFacts {
    /// Of a server whose rate varies.
    const VARIES: Self = Self {
        rate: None,
        in_parts: false,
        why: "the rate varies, so packets are served one by one",
    };
}

/// Rising times, and the rates from then on; none for 0.
pub type Rates = Vec<(Dur, Option<Rate>)>;

/// Who reads a process of a rate: finds what it names, and is told what is wrong. Paths begin with
/// the key of the kind.
pub trait ServerReader {
    /// The times and rates of a table, and the name of its file; none after an error. The times
    /// rise from 0.
    fn rates(&mut self, path: &str, file: &str) -> Option<(Rates, String)>;
    /// The times of a file, which do not fall, and its name; none after an error.
    fn times(&mut self, path: &str, file: &str) -> Option<(Vec<Dur>, String)>;
    /// The end of the measured period.
    fn end(&self) -> Dur;
    /// Something is wrong.
    fn refuse(&mut self, problem: Problem);
}

/// A recorded trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceSpec {
    /// The file, relative to the scenario file.
    pub file: String,
    /// Whether the trace may repeat. Default: no; it must then cover the warm-up and the measured
    /// period. After these it repeats in any case.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeat: bool,
}

impl TraceSpec {
    /// Reports a trace of this length that ends before the run.
    fn check_length(&self, path: &str, length: Dur, reader: &mut dyn ServerReader) -> Option<()> {
        let end = reader.end();
        if self.repeat || length >= end {
            return Some(());
        }
        let message = format!(
            "the trace `{}` ends after {length}, before the measured period, which ends at {end}",
            self.file
        );
        let hint = "write `repeat: true` to have it begin again, or measure for a shorter time";
        reader.refuse(Problem::new(path, "", message, hint));
        None
    }
}

/// A rate, none for zero, and until when it holds.
type Segment = (Option<Rate>, Time);

/// When the transmission of a packet of `bytes` that begins at `start` ends: when the integral of
/// the rate is its length, rounded down to a picosecond as at a constant rate. A change of rate
/// affects the packet in transmission at once.
fn finish(start: Time, bytes: u32, mut segment: impl FnMut(Time) -> Segment) -> Time {
    // A bit in units of rate times time is a second.
    let (mut at, mut left) = (start, u128::from(bytes) * 8 * 1_000_000_000_000);
    loop {
        let (rate, end) = segment(at);
        let Some(rate) = rate else {
            at = end;
            continue;
        };
        let rate = u128::from(rate.bps());
        let fits = rate * u128::from(end.since(at).as_ps());
        if left <= fits {
            let ps = u64::try_from(left / rate).unwrap_or(u64::MAX);
            let done = at + Dur::from_ps(ps);
            return done.max(start + Dur::from_ps(1));
        }
        left -= fits;
        at = end;
    }
}

/// The integral of the rate between two times, in bits.
fn integral(from: Time, to: Time, mut segment: impl FnMut(Time) -> Segment) -> f64 {
    let (mut at, mut sum) = (from, 0.0);
    while at < to {
        let (rate, end) = segment(at);
        let end = end.min(to);
        sum += rate.map_or(0.0, |r| r.bps() as f64) * end.since(at).as_secs_f64();
        at = end;
    }
    sum
}
