//! The measured period, and the number of runs.

use spillgate_core::{Dur, Time};

use super::horizon;
use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, steps};
use crate::schema::{Percentiles, Scenario, Warmup};

/// The most points of a time series.
const MAX_POINTS: u64 = 1_000_000;

/// The periods of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) warmup: Dur,
    /// Whether a pilot run finds the warm-up.
    pub(super) auto: bool,
    pub(super) duration: Dur,
    pub(super) grace: Dur,
    pub(super) interval: Dur,
    /// Begin and end of the period in which gaps between arrivals are measured.
    pub(super) gaps: Option<(Time, Time)>,
    /// Whether percentiles of backlogs are measured.
    pub(super) backlog_percentiles: bool,
}

impl Times {
    /// The end of a run.
    pub(super) fn end(&self) -> Dur {
        self.warmup + self.duration
    }
}

/// The default grace: longer than usual queueing delays, and a small part of the run.
fn usual_grace(duration: Dur) -> Dur {
    let half = Dur::from_ps(duration.as_ps() / 2);
    Dur::from_ps(duration.as_ps() / 10).max(half.min(Dur::from_secs(1)))
}

/// Checks the measurement; none after an error.
pub(super) fn measurement(ctx: &mut Ctx<'_>, scenario: &Scenario, root: &Node) -> Option<Times> {
    let m = &scenario.measurement;
    // A placeholder until the pilot run has found the warm-up.
    let (warmup, auto) = match m.warmup {
        Warmup::For(warmup) => (warmup, false),
        Warmup::Auto => (Dur::ZERO, true),
    };
    let mut fine = true;
    let mut error = |key: &str, message: String, hint: &str| {
        let d = Diagnostic::error(codes::BAD_PERIOD, message).hint(hint);
        ctx.error(d, root, &steps!["measurement", key]);
        fine = false;
    };
    if m.duration.is_zero() {
        error(
            "duration",
            "a measured period of 0 s".to_owned(),
            "write a time such as 60 s",
        );
    }
    if m.interval.is_zero() {
        error(
            "interval",
            "an interval of 0 s".to_owned(),
            "write a time such as 1 s",
        );
    } else if m.interval > m.duration && !m.duration.is_zero() {
        error(
            "interval",
            format!("the interval is longer than the measured {}", m.duration),
            "write an interval that fits into the duration several times",
        );
    } else if (warmup + m.duration).as_ps() / m.interval.as_ps() > MAX_POINTS {
        error(
            "interval",
            format!(
                "the time series would have {} points",
                (warmup + m.duration).as_ps() / m.interval.as_ps()
            ),
            "write a longer interval: up to 1000000 points are kept",
        );
    }
    if auto && !scenario.topology.failures.is_empty() {
        error(
            "warmup",
            "a pilot run cannot tell a failure, which has its time, from a run that has not settled"
                .to_owned(),
            "write the warm-up, such as 10 s, before the first failure",
        );
    }
    let end = warmup + m.duration;
    let gaps = m
        .gaps
        .map(|g| (g.from.unwrap_or(warmup), g.to.unwrap_or(end)));
    if let Some((from, to)) = gaps {
        let (key, found) = if to > end {
            ("to", to)
        } else if from >= to {
            ("from", from)
        } else {
            ("", from)
        };
        if !key.is_empty() {
            let message = match key {
                "to" => format!("the period of gaps ends after the run, which ends at {end}"),
                _ => format!("the period of gaps begins at {from} and ends at {to}"),
            };
            let d = Diagnostic::error(codes::BAD_PERIOD, message)
                .found(found.to_string())
                .hint(format!(
                    "write times from the beginning of the run, such as {{from: {}, to: {end}}}",
                    warmup
                ));
            ctx.error(d, root, &steps!["measurement", "gaps", key]);
            fine = false;
        }
    }
    if warmup.is_zero() && !auto {
        let d = Diagnostic::warning(
            codes::W_WARMUP,
            "no warm-up: empty queues at the start count in every mean",
        )
        .hint("write `warmup: 5 s` unless the start is what you study");
        ctx.warn(d, root, &steps!["measurement", "warmup"]);
    }
    let times = Times {
        warmup,
        auto,
        duration: m.duration,
        grace: m.grace.unwrap_or_else(|| usual_grace(m.duration)),
        interval: m.interval,
        gaps: gaps.map(|(from, to)| (Time::ZERO + from, Time::ZERO + to)),
        backlog_percentiles: m.percentiles.contains(&Percentiles::Backlog),
    };
    fine &= horizon::check_grace(ctx, root, &times);
    fine.then_some(times)
}

/// Checks the number of runs; `given`: it comes from the command line.
pub(crate) fn runs(ctx: &mut Ctx<'_>, scenario: &Scenario, root: &Node, given: bool) {
    let count = scenario.runs.count;
    if !(1..=100_000).contains(&count) {
        let d = Diagnostic::error(codes::BAD_RUNS, format!("{count} runs"))
            .found(count.to_string())
            .hint("write a number of runs from 1 to 100000");
        if given {
            ctx.report(d.in_file("--runs"));
        } else {
            ctx.error(d, root, &steps!["runs", "count"]);
        }
    }
    if count == 1 && !scenario.sla.is_empty() {
        let d = Diagnostic::warning(
            codes::W_RUNS,
            "one run gives no interval: no requirement can be decided",
        )
        .hint("run at least twice, better ten times");
        ctx.warn(d, root, &steps!["runs", "count"]);
    }
}
