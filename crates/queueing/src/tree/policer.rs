//! The policer of a class.

use spillgate_core::marks::MAX_QOS_GROUP;
use spillgate_core::{Burst, Dur, Problem, Rate};

use super::check::check_match;
use super::parts::{default_burst, positive};
use crate::classify::{Classifier, Entry, Rules, Target};
use crate::condition::{
    Color, ColorRules, Colored, Meter, PerFlow, PoliceAction, PoliceActions, PoliceSpec, Policer,
    SingleRate, SlidingWindow, TokenBucket, TwoRate,
};
use crate::line::{Line, Longest};
use crate::recipe::At;

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
pub(super) fn policer(
    p: &PoliceSpec,
    name: &str,
    line: &Line,
    at: &mut At<'_>,
) -> Result<Policer, Problem> {
    let rate = line.rate;
    let cir = positive(p.rate, rate, "rate", at)?;
    if let Some(peak) = p.peak_rate.map(|r| r.of(rate)) {
        at.check(
            peak >= cir,
            "peak_rate",
            peak,
            &format!("the peak rate is below the committed rate of {cir}"),
            "RFC 2698 and RFC 2859: the peak rate is at least the committed rate",
        )
        .map_err(|problem| problem.cite(Some("RFC 2698")))?;
    }
    let meter = match p.window {
        Some(window) => sliding_window(p, window, name, rate, at)
            .map_err(|problem| problem.cite(Some("RFC 2859")))?,
        None => buckets(p, line, at).map_err(|problem| problem.cite(Some(rfc(p))))?,
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
        check_actions(key, actions, at).map_err(Problem::misfit)?;
    }
    Ok(Policer {
        name: name.into(),
        meter,
        found: Colored::default(),
        last: Color::Conform,
        treatments: [&p.conform, &p.exceed, violate].map(PoliceActions::treatment),
        colors: colors(p, at).map_err(Problem::misfit)?,
        counted: line.counting.policers,
    })
}

/// Where the token buckets of a policer were published.
fn rfc(p: &PoliceSpec) -> &'static str {
    match p.peak_rate {
        Some(_) => "RFC 2698",
        None => "RFC 2697",
    }
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
    let no_burst = "an average rate has no burst";
    let blind = "the markers of RFC 2859 are color-blind";
    for (key, set, message) in [
        ("burst", p.burst.is_some(), no_burst),
        ("excess_burst", p.excess_burst.is_some(), no_burst),
        ("conform_color", p.conform_color.is_some(), blind),
        ("exceed_color", p.exceed_color.is_some(), blind),
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
            PoliceAction::SetExp(exp) | PoliceAction::SetExpImposition(exp) => {
                check_exp(key, exp, at)?;
            }
            PoliceAction::SetCos(cos) => check_cos(key, cos, at)?,
            PoliceAction::SetQosGroup(group) => check_group(key, group, at)?,
            PoliceAction::Transmit | PoliceAction::Drop | PoliceAction::SetDscp(_) => {}
        }
    }
    Ok(())
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

pub(crate) fn check_exp(key: &str, exp: u8, at: &At<'_>) -> Result<(), Problem> {
    let message = "the EXP bits of a label are between 0 and 7";
    at.check(exp <= 7, key, exp, message, "write 0 to 7")
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
