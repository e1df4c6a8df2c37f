//! The parts of a class: its share, shaper, queue and marks.

use std::collections::VecDeque;

use spillgate_core::{Dscp, Limit, Problem, Rate, RateOrPercent};

use super::divide::Enclosing;
use super::policer::{check_cos, check_exp, check_group, policer};
use super::resolve::DEFAULT;
use super::shares::Want;
use crate::aqm::LeafFacts;
use crate::condition::{PriorityPolicer, Step, TokenBucket};
use crate::leaf::{Bound, DscpBounds, Leaf, Queue};
use crate::line::{Counting, Line, Longest};
use crate::recipe::At;
use crate::spec::{
    ClassBasedSpec, ClassSpec, DisciplineSpec, PolicingWhen, PrioritySpec, ShapeSpec,
};

/// Default bursts, in bytes; the specifications name their sources. All hold the longest packet of
/// the line.
pub(crate) mod default_burst {
    use spillgate_core::{Dur, Rate};

    use crate::line::Longest;

    pub(crate) fn shape(rate: Rate, longest: Longest) -> u64 {
        let least = longest.shaped.max(1600);
        rate.bytes_in(Dur::from_ms(4)).max(least.into())
    }

    pub(crate) fn police(rate: Rate, longest: Longest) -> u64 {
        let least = longest.policed.max(1500);
        rate.bytes_in(Dur::from_ms(250)).max(least.into())
    }

    pub(crate) fn priority(rate: Rate, longest: Longest) -> u64 {
        rate.bytes_in(Dur::from_ms(200)).max(longest.policed.into())
    }
}

/// Whether a class limits its queue by DSCP or precedence.
pub(crate) fn has_thresholds(c: &ClassSpec) -> bool {
    !c.queue_limit_dscp.is_empty() || !c.queue_limit_precedence.is_empty()
}

/// Whether a class has a queue of its own.
pub(crate) fn asks_for_queue(c: &ClassSpec) -> bool {
    c.queueing_keys().any(|(_, set)| set) || c.policy.is_some()
}

/// The shares of the enclosing rate that classes ask for.
pub(super) fn wants<'a>(
    spec: &ClassBasedSpec,
    classes: impl Iterator<Item = &'a ClassSpec>,
    rate: Rate,
) -> Vec<Want> {
    let mut first = spec.strictly();
    let own = classes.map(|c| match (want(c, rate), asks_for_queue(c)) {
        (want @ Want::Priority(_), _) => want,
        (_, queued) if first > 0 && (queued || c.name == DEFAULT) => {
            first -= 1;
            Want::First
        }
        (want, _) => want,
    });
    own.collect()
}

/// The share of the enclosing rate that a class asks for by itself.
fn want(c: &ClassSpec, rate: Rate) -> Want {
    if let Some(p) = &c.priority {
        Want::Priority(p.rate.map(|r| r.of(rate)))
    } else if let Some(b) = c.bandwidth {
        Want::Rate(b.of(rate))
    } else if let Some(p) = c.bandwidth_remaining {
        Want::RemainingPercent(p.0)
    } else if let Some(n) = c.bandwidth_remaining_ratio {
        Want::RemainingRatio(n)
    } else {
        Want::Rest
    }
}

/// Tag units per byte of a class with this share of its node.
pub(crate) fn per_byte(share: f64) -> u64 {
    // 2^20 / share, at most 2^42: with packets below 2^17 B a tag step stays below 2^59.
    let units = (1_u64 << 20) as f64 / share.clamp(1e-6, 1.0);
    (units + 0.5) as u64
}

/// A rate above 0, `rate` being the whole.
pub(crate) fn positive(
    r: RateOrPercent,
    rate: Rate,
    key: &str,
    at: &At<'_>,
) -> Result<Rate, Problem> {
    let zero = matches!(r, RateOrPercent::Percent(p) if p.0 <= 0.0);
    at.check(
        !zero,
        key,
        r,
        "a rate must be above 0",
        "write a percentage from 1 % to 100 %, or a rate",
    )?;
    Ok(r.of(rate))
}

/// Rate and burst of a shaper.
pub(crate) fn shaper(
    s: &ShapeSpec,
    rate: Rate,
    longest: Longest,
    at: &mut At<'_>,
) -> Result<(Rate, u64), Problem> {
    let shaped = positive(s.rate, rate, "rate", at)?;
    if shaped > rate {
        at.warn(format!(
            "the shaped rate of {shaped} is above the enclosing rate of {rate}: it never binds"
        ));
    }
    let burst = shaper_depth(s, shaped, longest);
    at.check(
        burst > 0,
        "burst",
        "0 B",
        "no packet could ever leave",
        "leave it out for 4 ms at the rate",
    )?;
    Ok((shaped, burst))
}

/// The depth of the bucket of a shaper of this rate, in bytes: Bc + Be.
pub(crate) fn shaper_depth(s: &ShapeSpec, shaped: Rate, longest: Longest) -> u64 {
    let excess = s.excess_burst.map_or(0, |b| b.bytes(shaped));
    s.committed(shaped, longest).saturating_add(excess)
}

/// The queue of a priority class.
pub(crate) fn priority_leaf(
    p: &PrioritySpec,
    rate: Rate,
    at: &mut At<'_>,
) -> Result<Leaf, Problem> {
    let own = p.rate.map_or(rate, |r| r.of(rate));
    Ok(Leaf::fifo(at.bound("limit", p.limit, own)?, None))
}

/// The queue of any other class.
pub(crate) fn leaf(c: &ClassSpec, line: &Line, at: &mut At<'_>) -> Result<Leaf, Problem> {
    let guaranteed = line.rate;
    let (queue, default) = if let Some(f) = &c.fair_queue {
        let queue = at
            .key("fair_queue", |at| f.resolve(at))
            .map_err(|problem| problem.cite(DisciplineSpec::source("flow-wfq")))?;
        (Queue::Fair(queue.into()), Bound::NONE)
    } else if let Some((key, flows)) = c.flow_queue() {
        let queue = at
            .key(key, |at| flows.resolve(at, line))
            .map_err(|problem| problem.cite(DisciplineSpec::source(key)))?;
        (Queue::Flows(queue), Bound::NONE)
    } else {
        let bound = Bound::new(Limit::Packets(64), guaranteed);
        (Queue::Ring(VecDeque::new()), bound)
    };
    let bound = match c.queue_limit {
        Some(l) => at.bound("queue_limit", l, guaranteed)?,
        None => default,
    };
    let hold = match &queue {
        Queue::Fair(f) => Some(f.hold_queue()),
        Queue::Flows(f) => f.bound().max_packets(),
        Queue::Ring(_) | Queue::Judged(_) => None,
    };
    let facts = LeafFacts {
        rate: guaranteed,
        max_packets: bound.max_packets().into_iter().chain(hold).min(),
        limit: match hold {
            Some(n) if bound == Bound::NONE => Limit::Packets(n),
            _ => bound.as_limit(),
        },
    };
    let aqm = match &c.aqm {
        Some(a) => Some(at.key("aqm", |at| a.resolve(at, &facts))?),
        None => None,
    };
    Ok(Leaf::new(queue, bound, aqm))
}

/// The limits of a class's queue by DSCP, with times converted at `rate`; none if it has none.
pub(crate) fn thresholds(
    c: &ClassSpec,
    rate: Rate,
    at: &mut At<'_>,
) -> Result<Option<DscpBounds>, Problem> {
    if !has_thresholds(c) {
        return Ok(None);
    }
    let mut by_precedence = [Bound::NONE; 8];
    for (precedence, limit) in &c.queue_limit_precedence {
        let key = format!("queue_limit_precedence.{precedence}");
        let Some(own) = by_precedence.get_mut(usize::from(*precedence)) else {
            return Err(at.error(
                &key,
                precedence,
                "an IP precedence is between 0 and 7",
                "write 0 to 7, or use `queue_limit_dscp`",
            ));
        };
        *own = at.bound(&key, *limit, rate)?;
    }
    let mut by_dscp = std::collections::BTreeMap::new();
    for (dscp, limit) in &c.queue_limit_dscp {
        let bound = at.bound(&format!("queue_limit_dscp.{dscp}"), *limit, rate)?;
        by_dscp.insert(*dscp, bound);
    }
    let of = |dscp: Dscp| {
        let precedence = by_precedence[usize::from(dscp.precedence() & 7)];
        by_dscp.get(&dscp).copied().unwrap_or(precedence)
    };
    Ok(Some(DscpBounds::new(of)))
}

/// The conditioning of the class `name` (with the enclosing classes), in the order in which it is
/// applied.
pub(crate) fn steps(
    class: &ClassSpec,
    name: &str,
    around: Enclosing,
    counting: Counting,
    at: &mut At<'_>,
) -> Result<Vec<Step>, Problem> {
    let line = Line {
        rate: around.most,
        longest: around.longest,
        counting,
    };
    let mut steps = Vec::new();
    if let Some(dscp) = class.set_dscp {
        steps.push(Step::Set(dscp));
    }
    for (exp, key, step) in [
        (class.set_exp, "set_exp", Step::SetExp as fn(u8) -> Step),
        (
            class.set_exp_imposition,
            "set_exp_imposition",
            Step::SetImposition,
        ),
    ] {
        if let Some(exp) = exp {
            check_exp(key, exp, at)?;
            steps.push(step(exp));
        }
    }
    if let Some(cos) = class.set_cos {
        check_cos("set_cos", cos, at)?;
        steps.push(Step::SetCos(cos));
    }
    if let Some(group) = class.set_qos_group {
        check_group("set_qos_group", group, at)?;
        steps.push(Step::SetQosGroup(group));
    }
    if let Some(p) = &class.police {
        steps.push(Step::Police(
            at.key("police", |at| policer(p, name, &line, at))?,
        ));
    }
    if let Some((p, policed)) = class.priority.as_ref().and_then(|p| Some((p, p.rate?))) {
        let r = positive(policed, around.rate, "priority.rate", at)?;
        let burst = match p.burst {
            Some(b) => b.0,
            None => default_burst::priority(r, line.longest),
        };
        at.check(
            burst > 0,
            "priority.burst",
            "0 B",
            "no packet would ever conform",
            "leave it out for 200 ms at the rate",
        )?;
        steps.push(Step::Priority(PriorityPolicer {
            bucket: TokenBucket::new(r, burst),
            always: p.police == PolicingWhen::Always,
            counted: counting.policers,
        }));
    }
    Ok(steps)
}
