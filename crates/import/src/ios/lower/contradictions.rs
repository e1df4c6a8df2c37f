//! Removes lines that contradict others, before the rest is processed.
//!
//! A router takes commands one after the other and refuses the one that contradicts what it has: so
//! does this, in the order of the file, and says so of each. Nothing else is lost for it.

use spillgate_core::{Percent, RateOrPercent};
use spillgate_scenario::Platform;

use super::super::ast::{At, Class, Config, Origin, PolicyMap, Remaining, Test, Wred};
use super::super::fault::{Fault, code};
use super::super::platform::PlatformProfile;
use super::super::report::Report;
use super::{LEFT_OUT, graph};

/// The class that every policy-map has.
const DEFAULT: &str = "class-default";

/// Takes out the lines that a router refuses for what it already has.
pub(super) fn resolve(config: &mut Config<'_>, profile: &PlatformProfile, report: &mut Report<'_>) {
    class_circles(config, report);
    policy_circles(config, report);
    for (name, map) in &mut config.policy_maps {
        for class in &mut map.classes {
            let path = format!("policy-map.{name}.class.{}", class.name);
            exclusions(class, &path, profile, report);
        }
        percentages(name, map, report);
    }
}

/// Says of a line that it is left out.
fn leave_out(line: u32, path: &str, fault: Fault, report: &mut Report<'_>) {
    report.stand_in(code::LEFT_OUT, line, path, fault, LEFT_OUT);
}

/// `A -> B -> A`.
fn show_cycle<'n>(names: impl Iterator<Item = &'n str> + Clone) -> String {
    let first = names.clone().next();
    let all: Vec<&str> = names.chain(first).collect();
    all.join(" -> ")
}

/// The lines that close circles, each with its block and place there. `named`: what each line of
/// each block names, with where it stands.
fn circles<'a>(
    blocks: &[&'a str],
    named: &[Vec<(usize, &'a str, Origin<'a>)>],
    mut say: impl FnMut(&'a str, Origin<'a>, &'a str, String),
) -> Vec<(&'a str, usize)> {
    let target = |name: &str| blocks.binary_search(&name).ok();
    let known: Vec<Vec<(usize, usize, Origin<'a>)>> = named
        .iter()
        .map(|lines| {
            let found = lines
                .iter()
                .filter_map(|(i, n, at)| Some((target(n)?, *i, *at)));
            found.collect()
        })
        .collect();
    let edges: Vec<Vec<usize>> = known
        .iter()
        .map(|lines| lines.iter().map(|(to, ..)| *to).collect())
        .collect();
    let mut closing = Vec::new();
    for (from, edge, cycle) in graph::order(&edges).cycles {
        let (_, place, at) = known[from][edge];
        let shown = show_cycle(cycle.iter().map(|i| blocks[*i]));
        say(blocks[from], at, blocks[cycle[0]], shown);
        closing.push((blocks[from], place));
    }
    closing
}

/// Class-maps that match on themselves.
fn class_circles(config: &mut Config<'_>, report: &mut Report<'_>) {
    let blocks: Vec<&str> = config.class_maps.keys().copied().collect();
    let maps = config.class_maps.values();
    let named: Vec<Vec<_>> = maps
        .map(|m| {
            let lines = m.criteria.iter().enumerate();
            let nested = lines.filter_map(|(i, c)| match c.value.test {
                Test::ClassMap(name) => Some((i, name, c.origin)),
                _ => None,
            });
            nested.collect()
        })
        .collect();
    let mut closing = circles(&blocks, &named, |from, at, first, shown| {
        let message = format!("class-map `{from}` matches on itself: {shown}");
        let fault = Fault::new(code::CLASS_CYCLE, at.column, message).found(first);
        let hint = "take this criterion out of the circle";
        leave_out(
            at.line,
            &format!("class-map.{from}"),
            fault.hint(hint),
            report,
        );
    });
    // From the last line of each on, so that places stay what they are.
    closing.sort_unstable();
    for (name, place) in closing.into_iter().rev() {
        if let Some(map) = config.class_maps.get_mut(name) {
            map.criteria.remove(place);
        }
    }
}

/// Policy-maps that contain themselves.
fn policy_circles(config: &mut Config<'_>, report: &mut Report<'_>) {
    let blocks: Vec<&str> = config.policy_maps.keys().copied().collect();
    let maps = config.policy_maps.values();
    let named: Vec<Vec<_>> = maps
        .map(|m| {
            let classes = m.classes.iter().enumerate();
            let nested = classes.filter_map(|(i, c)| Some((i, c.policy?)));
            nested.map(|(i, p)| (i, p.value, p.origin)).collect()
        })
        .collect();
    let closing = circles(&blocks, &named, |from, at, first, shown| {
        let message = format!("policy-map `{from}` contains itself: {shown}");
        let fault = Fault::new(code::POLICY_CYCLE, at.column, message).found(first);
        let hint = "take this service-policy out of the circle";
        leave_out(
            at.line,
            &format!("policy-map.{from}"),
            fault.hint(hint),
            report,
        );
    });
    for (name, place) in closing {
        let map = config.policy_maps.get_mut(name);
        if let Some(class) = map.and_then(|m| m.classes.get_mut(place)) {
            class.policy = None;
        }
    }
}

/// Commands that the command line does not take beside `priority`.
fn exclusions(
    class: &mut Class<'_>,
    path: &str,
    profile: &PlatformProfile,
    report: &mut Report<'_>,
) {
    let Some(priority) = class.priority else {
        return;
    };
    if class.name == DEFAULT {
        let (at, message) = (priority.origin, "class-default cannot have priority");
        let fault = at.fault(code::CONFLICT, message);
        let hint = "put the packets that go first into a class of their own";
        leave_out(at.line, path, fault.hint(hint), report);
        class.priority = None;
        return;
    }
    // IOS XR shapes classes with priority (recalled from the QoS Command Reference for the ASR
    // 9000, `shape`).
    let shaped = class.shape.filter(|_| profile.platform != Platform::IosXr);
    let mut others = [
        ("bandwidth", class.bandwidth.map(|b| b.origin)),
        ("bandwidth remaining", class.remaining.map(|r| r.origin)),
        ("shape", shaped.map(|s| s.origin)),
        ("random-detect", class.wred.origin),
        ("fair-queue", class.fair_queue.map(|f| f.origin)),
    ];
    others.sort_by_key(|(_, origin)| origin.map(|o| o.line));
    for (what, other) in others {
        let Some(other) = other else { continue };
        let before = other.line < priority.origin.line;
        let (first, last) = match before {
            true => (other, priority.origin),
            false => (priority.origin, other),
        };
        let message = format!(
            "`priority` and `{what}` exclude each other in a class (line {})",
            first.line
        );
        let fault = last.fault(code::CONFLICT, message);
        let hint = format!("keep `priority` or `{what}`");
        leave_out(last.line, path, fault.hint(hint), report);
        if before {
            class.priority = None;
            return;
        }
        match what {
            "bandwidth" => class.bandwidth = None,
            "bandwidth remaining" => class.remaining = None,
            "shape" => class.shape = None,
            "random-detect" => class.wred = Wred::default(),
            _ => class.fair_queue = None,
        }
    }
}

/// Percentages of one policy-map may not sum to more than 100: the line that would is refused.
fn percentages(policy: &str, map: &mut PolicyMap<'_>, report: &mut Report<'_>) {
    let path = format!("policy-map.{policy}");
    let mut refuse = |what: &str, sum: &mut u64, p: Percent, at: Origin<'_>| {
        // The command line takes whole percentages only.
        let percent = (p.0 * 100.0).round() as u64;
        if *sum + percent <= 100 {
            *sum += percent;
            return false;
        }
        let message = format!(
            "percentages of {what} in policy-map `{policy}` reach {} % here",
            *sum + percent
        );
        let fault = at.fault(code::PERCENT_SUM, message);
        let hint = match 100 - *sum {
            0 => "lower other classes".to_owned(),
            left => format!("write at most {left} percent, or lower other classes"),
        };
        leave_out(at.line, &path, fault.hint(hint), report);
        true
    };
    let (mut guaranteed, mut rest) = (0, 0);
    for class in &mut map.classes {
        let percent = |r: RateOrPercent| match r {
            RateOrPercent::Percent(p) => Some(p),
            RateOrPercent::Rate(_) => None,
        };
        const BOTH: &str = "bandwidth and priority";
        class.bandwidth = class.bandwidth.filter(|b| {
            percent(b.value).is_none_or(|p| !refuse(BOTH, &mut guaranteed, p, b.origin))
        });
        class.priority = class.priority.filter(|at| {
            let rate = at.value.rate.and_then(percent);
            rate.is_none_or(|p| !refuse(BOTH, &mut guaranteed, p, at.origin))
        });
        class.remaining = class
            .remaining
            .filter(|at: &At<'_, Remaining>| match at.value {
                Remaining::Percent(p) => !refuse("bandwidth remaining", &mut rest, p, at.origin),
                Remaining::Ratio(_) => true,
            });
    }
}
