//! Token buckets that are full when a run begins and drain so slowly that they are not empty when
//! the measured period begins. Until they are empty, their policers drop nothing and their shapers
//! delay nothing.

use serde::{Deserialize, Serialize};
use spillgate_core::{Dur, Time};
use spillgate_queueing::BucketLevel;
use spillgate_scenario::plan::WorldPlan;

use crate::link::Link;
use crate::node::Stages;

/// About this many samples in a run.
const SAMPLES: u64 = 64;
/// Fewer samples are not evaluated.
const MIN_SAMPLES: usize = 8;

/// A bucket that drains through the warm-up. Stored runs have it in this form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Draining {
    /// The link at whose port, or at whose far end, the bucket is.
    pub link: u32,
    /// Its name: `wan/voice`, or `wan/input/voice` in an input policy.
    #[serde(rename = "where")]
    pub place: String,
    /// Its depth in bytes.
    pub burst: u64,
    /// How long it takes to drain, from the start of the run.
    #[serde(with = "spillgate_core::stored::ps")]
    pub lasts: Dur,
}

/// Samples all buckets.
#[derive(Clone, Debug)]
pub(crate) struct Tokens {
    every: Dur,
    next: Time,
    /// The time, and the tokens in each bucket.
    samples: Vec<(Time, Vec<u64>)>,
}

impl Tokens {
    pub(crate) fn new(plan: &WorldPlan) -> Self {
        let run = plan.warmup + plan.duration;
        Self {
            every: Dur::from_ps(run.as_ps() / SAMPLES),
            next: Time::ZERO,
            samples: Vec::new(),
        }
    }

    /// Takes a sample if it is time.
    pub(crate) fn sample<'b>(&mut self, now: Time, buckets: impl FnOnce() -> Vec<Bucket<'b>>) {
        if now >= self.next {
            self.next = now + self.every;
            self.samples
                .push((now, buckets().iter().map(|b| b.level.tokens).collect()));
        }
    }

    /// The buckets that drain for longer than the warm-up.
    pub(crate) fn draining(&self, plan: &WorldPlan, buckets: &[Bucket<'_>]) -> Vec<Draining> {
        let drains = |(i, bucket): (usize, &Bucket<'_>)| {
            let burst = bucket.level.burst;
            let levels = self.samples.iter().map(|(at, levels)| (*at, levels[i]));
            let lasts = lasts(burst, &levels.collect::<Vec<_>>())?;
            let link = &plan.links[bucket.link as usize];
            let place = match bucket.of {
                Of::Leaf(leaf) => format!("{}/{}", link.name, link.discipline.leaf_names()[leaf]),
                Of::Stage(class) => format!("{}/input/{class}", link.name),
            };
            (lasts > plan.warmup).then_some(Draining {
                link: bucket.link,
                place,
                burst,
                lasts,
            })
        };
        buckets.iter().enumerate().filter_map(drains).collect()
    }
}

/// How long a bucket that was full at the start of the run takes to drain, if it drains evenly.
///
/// Evenly means: it loses at least a fifth of its depth, and in each quarter of the time until it
/// is empty, or until the run ends, at least half of a quarter of what it loses in all. A bucket
/// whose level goes up and down does not qualify.
fn lasts(burst: u64, levels: &[(Time, u64)]) -> Option<Dur> {
    let empty = levels.iter().position(|(_, tokens)| *tokens < burst / 20);
    let levels = &levels[..empty.map_or(levels.len(), |i| i + 1)];
    let n = levels.len();
    let (end, left) = *levels.last().filter(|_| n >= MIN_SAMPLES)?;
    let gone = burst.saturating_sub(left);
    let mut before = burst;
    for quarter in 1..=4 {
        let (_, tokens) = levels[n * quarter / 4 - 1];
        if before.saturating_sub(tokens) < gone / 8 {
            return None;
        }
        before = tokens;
    }
    let seconds = end.as_secs_f64() * burst as f64 / gone as f64;
    (gone >= burst / 5 && gone > 0).then(|| Dur::from_secs_f64(seconds))
}

/// A bucket and where it is.
pub(crate) struct Bucket<'a> {
    link: u32,
    of: Of<'a>,
    level: BucketLevel,
}

/// What a bucket is part of.
enum Of<'a> {
    /// The leaf of this number.
    Leaf(usize),
    /// This class of a stage where packets arrive.
    Stage(&'a str),
}

/// All buckets at `now`, in a fixed order.
pub(crate) fn buckets<'a>(
    now: Time,
    links: &[Link],
    stages: Option<&'a Stages>,
) -> Vec<Bucket<'a>> {
    let mut found = Vec::new();
    for (link, l) in (0..).zip(links) {
        if let Some(port) = &l.port {
            let of = port.discipline.buckets(now).into_iter();
            found.extend(of.map(|(leaf, level)| Bucket {
                link,
                of: Of::Leaf(leaf.into()),
                level,
            }));
        }
    }
    let stages = stages.into_iter().flat_map(|s| s.buckets(now));
    found.extend(stages.map(|(link, class, level)| Bucket {
        link,
        of: Of::Stage(class),
        level,
    }));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Levels at each second.
    fn seconds(levels: impl IntoIterator<Item = u64>) -> Vec<(Time, u64)> {
        let at = |i: u64| Time::ZERO + Dur::from_secs(i);
        (1..).map(at).zip(levels).collect()
    }

    #[test]
    fn an_even_drain_is_extrapolated() {
        let drain = seconds((1..=20).map(|i| 10_000 - 200 * i));
        assert_eq!(lasts(10_000, &drain), Some(Dur::from_secs(50)));
    }

    #[test]
    fn what_is_empty_on_the_way_lasts_until_then() {
        let drain = seconds((1..=40_u64).map(|i| 10_000_u64.saturating_sub(500 * i)));
        assert_eq!(lasts(10_000, &drain), Some(Dur::from_secs(20)));
    }

    #[test]
    fn what_comes_and_goes_does_not_drain() {
        assert_eq!(lasts(10_000, &seconds([10_000; 40])), None);
        let swings = (0..40).map(|i| if i % 8 < 4 { 9_000 } else { 4_000 });
        assert_eq!(lasts(10_000, &seconds(swings)), None);
        assert_eq!(lasts(10_000, &seconds((1..=5).map(|i| 10_000 - i))), None);
        assert_eq!(lasts(0, &seconds([0; 40])), None);
    }
}
