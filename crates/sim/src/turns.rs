//! Whose turn it is: which run of a campaign a thread makes next.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::campaign::RunInfo;
use crate::replication::Replication;

/// How long a thread waits before it looks whether the campaign was cancelled.
const PATIENCE: Duration = Duration::from_millis(50);

/// Hands out places in a queue of runs.
pub(crate) enum Turns {
    /// All of them, in order: the next one, and how many there are.
    All(AtomicUsize, usize),
    /// Of each point as many as it needs.
    AsNeeded(AsNeeded),
}

/// Hands out the runs of each point up to its next look, then those up to the one after it, until
/// they are enough. Which are made does not depend on the order in which they are finished.
pub(crate) struct AsNeeded {
    rule: Replication,
    /// For each point the places of its runs in the queue, by their numbers.
    places: Vec<Vec<usize>>,
    state: Mutex<State>,
    wake: Condvar,
}

struct State {
    ready: VecDeque<usize>,
    /// Places that are ready or being made.
    outstanding: usize,
    points: Vec<Point>,
}

#[derive(Default)]
struct Point {
    /// How many of its runs were handed out, or are ready.
    open: usize,
    /// How many of them are not finished.
    missing: usize,
    /// What is to be known of each run; none if it failed, or is not finished.
    values: Vec<Option<Vec<f64>>>,
}

impl Turns {
    /// The turns of this queue.
    pub(crate) fn new(rule: Option<Replication>, runs: &[RunInfo], points: usize) -> Self {
        let all = || Self::All(AtomicUsize::new(0), runs.len());
        let Some(rule) = rule else {
            return all();
        };
        let mut places = vec![Vec::new(); points];
        for (place, info) in runs.iter().enumerate() {
            places[info.variant].push(place);
        }
        for of in &mut places {
            of.sort_by_key(|place| runs[*place].run);
        }
        // Only runs from the first on can be judged.
        let begins = |of: &Vec<usize>| {
            let mut numbers = (0_u32..).zip(of);
            numbers.all(|(n, place)| runs[*place].run == n)
        };
        if !places.iter().all(begins) {
            return all();
        }
        let mut state = State {
            ready: VecDeque::new(),
            outstanding: 0,
            points: Vec::new(),
        };
        let first = rule.next_look(0) as usize;
        for of in &places {
            let open = first.min(of.len());
            state.points.push(Point {
                open,
                missing: open,
                values: vec![None; of.len()],
            });
        }
        // The first runs of all points, then the second ones, as without a rule.
        for run in 0..first {
            state
                .ready
                .extend(places.iter().filter_map(|of| of.get(run)));
        }
        state.outstanding = state.ready.len();
        Self::AsNeeded(AsNeeded {
            rule,
            places,
            state: Mutex::new(state),
            wake: Condvar::new(),
        })
    }

    /// The rule, if it decides.
    pub(crate) fn rule(&self) -> Option<&Replication> {
        match self {
            Self::All(..) => None,
            Self::AsNeeded(needed) => Some(&needed.rule),
        }
    }

    /// The place of the next run; none if there is none left. Waits if that is not known yet.
    pub(crate) fn take(&self, cancelled: impl Fn() -> bool) -> Option<usize> {
        let needed = match self {
            Self::All(next, count) => {
                let place = next.fetch_add(1, Ordering::Relaxed);
                return (place < *count && !cancelled()).then_some(place);
            }
            Self::AsNeeded(needed) => needed,
        };
        let mut state = needed.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if cancelled() {
                return None;
            }
            if let Some(place) = state.ready.pop_front() {
                return Some(place);
            }
            if state.outstanding == 0 {
                return None;
            }
            let waited = needed.wake.wait_timeout(state, PATIENCE);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Takes note of a run that was made, with its values, or that failed; the places of runs that
    /// its point does not need.
    pub(crate) fn finished(
        &self,
        place: usize,
        info: RunInfo,
        values: Option<Vec<f64>>,
    ) -> Vec<usize> {
        let Self::AsNeeded(needed) = self else {
            return Vec::new();
        };
        let places = &needed.places[info.variant];
        let Some(at) = places.iter().position(|p| *p == place) else {
            return Vec::new();
        };
        let mut state = needed.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State {
            ready,
            outstanding,
            points,
        } = &mut *state;
        let point = &mut points[info.variant];
        point.values[at] = values;
        point.missing -= 1;
        *outstanding -= 1;
        let mut left = Vec::new();
        if point.missing == 0 {
            let seen: Vec<Vec<f64>> = point.values[..point.open]
                .iter()
                .flatten()
                .cloned()
                .collect();
            if needed.rule.is_enough(&seen) {
                left.extend(&places[point.open..]);
            } else {
                let next = needed.rule.next_look(point.open as u32) as usize;
                let more = &places[point.open..next.clamp(point.open, places.len())];
                ready.extend(more);
                *outstanding += more.len();
                point.open += more.len();
                point.missing = more.len();
            }
        }
        drop(state);
        needed.wake.notify_all();
        left
    }
}
