//! The parts of a class: its share, conditioners, shaper and queue.

use std::collections::VecDeque;

use spillgate_core::marks::MAX_QOS_GROUP;
use spillgate_core::{Burst, Dscp, Dur, Limit, Rate, RateOrPercent};

use super::check::check_match;
use super::divide::Enclosing;
use super::shares::Want;
use crate::aqm::LeafFacts;
use crate::classify::{Classifier, Entry, Rules, Target};
use crate::condition::{
    Color, ColorRules, Colored, Meter, PerFlow, PoliceAction, PoliceActions, PoliceSpec, Policer,
    PriorityPolicer, SingleRate, SlidingWindow, Step, TokenBucket, TwoRate,
};
use crate::leaf::{Bound, DscpBounds, Leaf, Queue};
use crate::line::{Counting, Line, Longest};
use crate::recipe::At;
use crate::spec::{ClassSpec, PolicingWhen, PrioritySpec, ShapeSpec};
use spillgate_core::Problem;

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

/// The share of the enclosing rate that it asks for.
pub(crate) fn want(c: &ClassSpec, rate: Rate) -> Want {
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

/// A burst of a policer in bytes.
pub(crate) fn policer_depth(burst: Option<Burst>, rate: Rate, longest: Longest) -> u64 {
    burst.map_or_else(|| default_burst::police(rate, longest), |b| b.bytes(rate))
}

/// Rate and depth of the second bucket of a policer of three colors that has buckets.
pub(crate) fn second_bucket(p: &PoliceSpec, rate: Rate, longest: Longest) -> Option<(Rate, u64)> {
    if p.window.is_some() {
        return None;
    }
    let cir = p.rate.of(rate);
    match p.peak_rate {
        Some(peak) => {
            let peak = peak.of(rate);
            Some((peak, policer_depth(p.excess_burst, peak, longest)))
        }
        None if p.three_colors() => {
            let committed = policer_depth(p.burst, cir, longest);
            let excess = p.excess_burst.map_or(committed, |b| b.bytes(cir));
            Some((cir, excess))
        }
        None => None,
    }
}

/// The policer of a class.
fn policer(p: &PoliceSpec, name: &str, line: &Line, at: &mut At<'_>) -> Result<Policer, Problem> {
    let rate = line.rate;
    let cir = positive(p.rate, rate, "rate", at)?;
    if let Some(peak) = p.peak_rate.map(|r| r.of(rate)) {
        at.check(
            peak >= cir,
            "peak_rate",
            peak,
            &format!("the peak rate is below the committed rate of {cir}"),
            "RFC 2698 and RFC 2859: the peak rate is at least the committed rate",
        )?;
    }
    let meter = match p.window {
        Some(window) => sliding_window(p, window, name, rate, at)?,
        None => buckets(p, line, at)?,
    };
    let meter = match p.per_flow {
        true => Meter::PerFlow(Box::new(PerFlow::new(meter))),
        false => meter,
    };
    if p.excess_burst.is_some() && !p.three_colors() {
        at.warn("the excess burst has no effect without `violate`");
    }
    let violate = p.violate.as_ref().unwrap_or(&p.exceed);
    for (key, actions) in [
        ("conform", &p.conform),
        ("exceed", &p.exceed),
        ("violate", violate),
    ] {
        check_actions(key, actions, at)?;
    }
    Ok(Policer {
        name: name.into(),
        meter,
        found: Colored::default(),
        last: Color::Conform,
        treatments: [&p.conform, &p.exceed, violate].map(PoliceActions::treatment),
        colors: colors(p, at)?,
        counted: line.counting.policers,
    })
}

/// The meter of a policer without a window.
fn buckets(p: &PoliceSpec, line: &Line, at: &At<'_>) -> Result<Meter, Problem> {
    let (rate, longest) = (line.rate, line.longest);
    let cir = p.rate.of(rate);
    let burst = policer_depth(p.burst, cir, longest);
    let second = second_bucket(p, rate, longest);
    match second {
        // RFC 2697 section 2: CBS or EBS must be above 0. With a CBS of 0 what does not exceed
        // violates.
        Some((_, excess)) if p.peak_rate.is_none() => at.check(
            burst > 0 || excess > 0,
            "burst",
            "0 B",
            "every packet would violate: of `burst` and `excess_burst` one must be above 0",
            "leave it out for 250 ms at the rate, or write an `excess_burst`, which is as large as `burst` by default",
        )?,
        _ => at.check(
            burst > 0,
            "burst",
            "0 B",
            "no packet would ever conform",
            "leave it out for 250 ms at the rate",
        )?,
    }
    Ok(match second {
        None => Meter::OneBucket(TokenBucket::new(cir, burst)),
        Some((peak, depth)) if p.peak_rate.is_some() => {
            at.check(
                depth > 0,
                "excess_burst",
                "0 B",
                "every packet would violate",
                "leave it out for 250 ms at the peak rate",
            )?;
            Meter::TwoRate(TwoRate {
                committed: TokenBucket::new(cir, burst),
                peak: TokenBucket::new(peak, depth),
            })
        }
        Some((_, excess)) => Meter::SingleRate(SingleRate::new(cir, burst, excess)),
    })
}

/// The meter of a policer with a window (RFC 2859).
fn sliding_window(
    p: &PoliceSpec,
    window: Dur,
    name: &str,
    rate: Rate,
    at: &At<'_>,
) -> Result<Meter, Problem> {
    at.check(
        window > Dur::ZERO,
        "window",
        window,
        "an average needs time",
        "write a window such as 1 s",
    )?;
    let without = "leave it out, or `window` for token buckets";
    for (key, set, message) in [
        ("burst", p.burst.is_some(), "an average rate has no burst"),
        (
            "excess_burst",
            p.excess_burst.is_some(),
            "an average rate has no burst",
        ),
        (
            "conform_color",
            p.conform_color.is_some(),
            "the markers of RFC 2859 are color-blind",
        ),
        (
            "exceed_color",
            p.exceed_color.is_some(),
            "the markers of RFC 2859 are color-blind",
        ),
    ] {
        at.check(!set, key, key, message, without)?;
    }
    at.check(
        p.violate.is_none() || p.peak_rate.is_some(),
        "violate",
        "violate",
        "without a peak rate no packet violates",
        "write a `peak_rate` (RFC 2859), or leave `violate` out",
    )?;
    let peak = p.peak_rate.map(|r| r.of(rate));
    let cir = p.rate.of(rate);
    Ok(Meter::Window(SlidingWindow::new(cir, peak, window, name)))
}

fn check_actions(key: &str, actions: &PoliceActions, at: &At<'_>) -> Result<(), Problem> {
    at.check(
        actions.iter().next().is_some(),
        key,
        "[]",
        "there is no action",
        "write transmit, drop or set-dscp",
    )?;
    at.check(
        !actions.drops() || actions.iter().count() == 1,
        key,
        "drop",
        "a packet that is dropped cannot be treated otherwise",
        "keep `drop` or the other actions",
    )?;
    for action in actions.iter() {
        match action {
            PoliceAction::SetExp(exp) | PoliceAction::SetExpImposition(exp) => at.check(
                exp <= 7,
                key,
                exp,
                "the EXP bits of a label are between 0 and 7",
                "write 0 to 7",
            )?,
            PoliceAction::SetCos(cos) => check_cos(key, cos, at)?,
            PoliceAction::SetQosGroup(group) => check_group(key, group, at)?,
            PoliceAction::Transmit | PoliceAction::Drop | PoliceAction::SetDscp(_) => {}
        }
    }
    Ok(())
}

pub(crate) fn check_cos(key: &str, cos: u8, at: &At<'_>) -> Result<(), Problem> {
    at.check(
        cos <= 7,
        key,
        cos,
        "the priority of an 802.1Q tag is between 0 and 7",
        "write 0 to 7",
    )
}

pub(crate) fn check_group(key: &str, group: u16, at: &At<'_>) -> Result<(), Problem> {
    at.check(
        group <= MAX_QOS_GROUP,
        key,
        group,
        "a QoS group is between 0 and 511",
        "write 0 to 99, as Cisco IOS has them, or up to 511",
    )
}

/// The colors with which packets arrive, for a color-aware policer.
fn colors(p: &PoliceSpec, at: &mut At<'_>) -> Result<Option<ColorRules>, Problem> {
    let Some(conform) = &p.conform_color else {
        at.check(
            p.exceed_color.is_none(),
            "exceed_color",
            "exceed_color",
            "without `conform_color` the policer is color-blind",
            "say which packets may conform",
        )?;
        return Ok(None);
    };
    at.key("conform_color", |at| check_match(conform, at))?;
    if let Some(exceed) = &p.exceed_color {
        at.key("exceed_color", |at| check_match(exceed, at))?;
    }
    let entry = |matching, route| Entry {
        matching,
        then: Target::Route(route),
    };
    let mut entries = vec![entry(Some(conform.clone()), 0)];
    entries.extend(p.exceed_color.clone().map(|m| entry(Some(m), 1)));
    entries.push(entry(None, 2));
    let rules = Rules {
        nodes: vec![entries],
    };
    Ok(Some(ColorRules(Box::new(Classifier::new(rules)))))
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
        let queue = at.key("fair_queue", |at| f.resolve(at))?;
        (Queue::Fair(queue.into()), Bound::NONE)
    } else if let Some((key, flows)) = c.flow_queue() {
        let queue = at.key(key, |at| flows.resolve(at, line))?;
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
            at.check(
                exp <= 7,
                key,
                exp,
                "the EXP bits of a label are between 0 and 7",
                "write 0 to 7",
            )?;
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
