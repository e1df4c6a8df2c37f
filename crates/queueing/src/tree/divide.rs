//! The rates of the classes of a policy at a given rate, to explain a policy.

use spillgate_core::Rate;

use super::parts::{asks_for_queue, default_burst, shaper_depth, wants};
use super::policer::{policer_depth, second_bucket};
use super::resolve::DEFAULT;
use super::shares::{Share, Want, shares};
use crate::line::{Line, Longest};
use crate::spec::{ClassBasedSpec, ClassSpec};

/// The rates that enclose a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Enclosing {
    /// The rate that its classes divide: that of the port, or the rate to which the enclosing class
    /// is shaped or which it is guaranteed.
    pub rate: Rate,
    /// The largest rate at which it may send: that of the nearest enclosing shaper or policer, else
    /// that of the port. Percentages of its shapers and policers refer to this (Cisco IOS QoS
    /// command reference, `police (percent)` and `shape (percent)`, "Bandwidth and Hierarchical
    /// Policy Maps": `bandwidth` of a parent is not a maximum).
    pub most: Rate,
    /// The longest packet of the line, which default bursts hold.
    pub longest: Longest,
}

impl From<Line> for Enclosing {
    fn from(line: Line) -> Self {
        Self {
            rate: line.rate,
            most: line.rate,
            longest: line.longest,
        }
    }
}

impl From<Rate> for Enclosing {
    fn from(rate: Rate) -> Self {
        Line::from(rate).into()
    }
}

/// The rates of a class, given the rate that its policy divides; bursts in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Division {
    /// Whether it has a queue of its own; else its packets are queued with `class-default`.
    pub queued: bool,
    /// The rate at which it may send while all classes are backlogged; none if nothing is left for
    /// it. For a priority class the rate at which it may send while the port is congested, none if
    /// that is unlimited. None without a queue.
    pub guaranteed: Option<Rate>,
    /// Whether the other classes leave nothing for it, so that it is served only while they have
    /// nothing to send.
    pub spare: bool,
    /// Its place among the classes that go before all others, 1 first: the level of its priority,
    /// or behind those where the scheduler of the policy puts it.
    pub level: Option<u8>,
    /// Rate and burst of its shaper.
    pub shape: Option<(Rate, u64)>,
    /// Rate and burst of its policer.
    pub police: Option<(Rate, u64)>,
    /// Rate and burst of the second bucket of a policer with three colors: the peak rate, or with a
    /// single rate the committed rate.
    pub police_excess: Option<(Rate, u64)>,
    /// Rate and burst of the policer of its priority.
    pub priority: Option<(Rate, u64)>,
    /// The rates that enclose a policy inside it.
    pub inner: Enclosing,
}

impl ClassBasedSpec {
    /// The rates of each class, given the rate of the port or of the enclosing class, in the order
    /// of `classes`; `class-default` comes last if it is not among them. Errors of the policy are
    /// not checked here, but by [`crate::Recipe::resolve`].
    pub fn divide(&self, around: impl Into<Enclosing>) -> Vec<Division> {
        let around = around.into();
        let rate = around.rate;
        let added = ClassSpec {
            name: DEFAULT.to_owned(),
            ..ClassSpec::default()
        };
        let missing = self.classes.last().is_none_or(|c| c.name != DEFAULT);
        let classes: Vec<&ClassSpec> = self
            .classes
            .iter()
            .chain(missing.then_some(&added))
            .collect();
        let queued = |c: &ClassSpec| c.name == DEFAULT || asks_for_queue(c);
        let wants = wants(self, classes.iter().copied(), rate);
        let both = || classes.iter().zip(&wants);
        let dividing: Vec<Want> = both().filter(|(c, _)| queued(c)).map(|(_, w)| *w).collect();
        let mut shares = shares(&dividing, rate).into_iter();
        let levels = classes
            .iter()
            .filter_map(|c| Some(c.priority.as_ref()?.level));
        let mut last = levels.max().unwrap_or(0);
        both()
            .map(|(c, want)| {
                let share = queued(c).then(|| shares.next()).flatten();
                let own = c.priority.as_ref().map(|p| p.level);
                last = last.saturating_add(u8::from(*want == Want::First));
                let level = own.or_else(|| (*want == Want::First).then_some(last));
                Division {
                    level,
                    ..class(c, *want, around, share)
                }
            })
            .collect()
    }
}

fn class(c: &ClassSpec, wanted: Want, around: Enclosing, share: Option<Share>) -> Division {
    let Enclosing {
        rate,
        most,
        longest,
    } = around;
    let shape = c.shape.as_ref().map(|s| {
        let r = s.rate.of(most);
        (r, shaper_depth(s, r, longest))
    });
    let policed = c.police.as_ref().map(|p| {
        let r = p.rate.of(most);
        (r, policer_depth(p.burst, r, longest))
    });
    let police = c.police.as_ref();
    let police_excess = police.and_then(|p| second_bucket(p, most, longest));
    let priority = c.priority.as_ref().and_then(|p| {
        let r = p.rate?.of(rate);
        Some((
            r,
            p.burst
                .map_or_else(|| default_burst::priority(r, longest), |b| b.0),
        ))
    });
    let guaranteed = match wanted {
        Want::Priority(r) => r,
        Want::First => None,
        _ => share.and_then(|s| s.of(rate)),
    };
    let bounded = |r: Rate| shape.map_or(r, |(shaped, _)| r.min(shaped));
    let inner = match (shape, wanted) {
        (Some((shaped, _)), _) => shaped,
        (None, Want::Rest | Want::First) => rate,
        _ => guaranteed.unwrap_or(rate),
    };
    let inner = Enclosing {
        rate: inner,
        most: maximum(c, most),
        longest,
    };
    Division {
        queued: share.is_some(),
        guaranteed: guaranteed.map(bounded),
        spare: share.is_some_and(|s| s.rank > 0),
        level: None,
        shape,
        police: policed,
        police_excess,
        priority,
        inner,
    }
}

/// The largest rate at which the policy inside a class may send, `most` being that of the class's
/// own policy: the lower of its shaper and its policer.
pub(crate) fn maximum(c: &ClassSpec, most: Rate) -> Rate {
    let shaped = c.shape.as_ref().map(|s| s.rate.of(most));
    let policed = c.police.as_ref().filter(|p| !p.per_flow);
    let policed = policed.map(|p| p.rate.of(most));
    shaped.into_iter().chain(policed).min().unwrap_or(most)
}

#[cfg(test)]
mod tests {
    use spillgate_core::{Percent, RateOrPercent};

    use super::*;
    use crate::spec::{PrioritySpec, ShapeSpec};

    fn mbps(n: u64) -> Rate {
        Rate::from_bps(n * 1_000_000).unwrap()
    }

    fn named(name: &str) -> ClassSpec {
        ClassSpec {
            name: name.to_owned(),
            ..ClassSpec::default()
        }
    }

    /// 10 Mb/s, 20 % of priority, 50 % guaranteed and shaped to 1 Mb/s: 30 % are left.
    #[test]
    fn rates_and_bursts_are_those_of_the_tree() {
        let percent = |p| RateOrPercent::Percent(Percent(p));
        let spec = ClassBasedSpec {
            classes: vec![
                ClassSpec {
                    priority: Some(PrioritySpec {
                        rate: Some(percent(0.2)),
                        ..PrioritySpec::default()
                    }),
                    ..named("voice")
                },
                ClassSpec {
                    bandwidth: Some(percent(0.5)),
                    shape: Some(ShapeSpec {
                        kind: None,
                        rate: RateOrPercent::Rate(mbps(1)),
                        burst: None,
                        excess_burst: None,
                    }),
                    ..named("data")
                },
                named("marked"),
            ],
            ..ClassBasedSpec::default()
        };
        let got = spec.divide(mbps(10));
        assert_eq!(got.len(), 4);
        // 200 ms at 2 Mb/s.
        assert_eq!(got[0].priority, Some((mbps(2), 50_000)));
        assert_eq!(got[0].guaranteed, Some(mbps(2)));
        // 4 ms at 1 Mb/s are 500 B, less than the least burst.
        assert_eq!(got[1].shape, Some((mbps(1), 1600)));
        assert_eq!(
            (got[1].guaranteed, got[1].inner),
            (Some(mbps(1)), mbps(1).into())
        );
        assert!(!got[2].queued && got[2].guaranteed.is_none());
        assert_eq!(got[3].guaranteed, Some(mbps(3)));
        assert_eq!(got[3].inner, mbps(10).into());
    }
}
