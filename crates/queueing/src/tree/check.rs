//! Checks of a class-based policy before it is built.

use spillgate_core::{Rate, RateOrPercent};

use super::parts::positive;
use super::policer::{check_cos, check_exp, check_group};
use super::resolve::DEFAULT;
use super::shares::{ROUNDING, Want};
use crate::recipe::At;
use crate::spec::{ClassBasedSpec, ClassScheduler, ClassSpec, MatchSpec};
use spillgate_core::Problem;

/// The largest number of classes of one policy.
const MAX_CLASSES: usize = 250;

/// Names are given, unique, and end with `class-default`.
pub(crate) fn check_names(classes: &[ClassSpec], at: &mut At<'_>) -> Result<(), Problem> {
    at.check(
        classes.len() <= MAX_CLASSES,
        "classes",
        format!("{} classes", classes.len()),
        "a policy has at most 250 classes, class-default included",
        "nest policies to divide further",
    )?;
    for (i, c) in classes.iter().enumerate() {
        at.index("classes", i, |at| {
            at.check(
                !c.name.trim().is_empty(),
                "name",
                &c.name,
                "a class needs a name",
                "give it the name under which results should show it",
            )?;
            at.check(
                !c.name.contains('/'),
                "name",
                &c.name,
                "a class name must not contain `/`, which separates nested classes",
                "use `-` or `_` instead",
            )?;
            at.check(
                classes[..i].iter().all(|o| o.name != c.name),
                "name",
                &c.name,
                "there is a class of this name above",
                "names of classes are unique in a policy",
            )?;
            at.check(
                c.name != DEFAULT || i + 1 == classes.len(),
                "name",
                &c.name,
                "classes follow that could never match, as class-default matches every packet",
                "move class-default to the end",
            )
        })?;
    }
    Ok(())
}

/// Checks that the statements of a class are compatible.
pub(crate) fn check_class(c: &ClassSpec, at: &mut At<'_>) -> Result<(), Problem> {
    match &c.matching {
        None => at
            .check(
                c.name == DEFAULT,
                "match",
                &c.name,
                "the class does not say which packets belong to it",
                "add a `match` such as {dscp: ef}; `match: {}` matches every packet",
            )
            .map_err(Problem::misfit)?,
        Some(m) => {
            at.check(
                c.name != DEFAULT,
                "match",
                &c.name,
                "class-default matches every packet",
                "leave out its `match`, or give the class another name",
            )
            .map_err(Problem::misfit)?;
            at.key("match", |at| check_match(m, at))
                .map_err(Problem::misfit)?;
        }
    }
    check_exclusions(c, at)?;
    if let Some(p) = &c.priority {
        at.check(
            (1..=16).contains(&p.level),
            "priority.level",
            p.level,
            "priority levels are 1 to 16, 1 being served first",
            "the default is 1",
        )?;
    }
    if let Some(n) = c.bandwidth_remaining_ratio {
        at.check(
            (1..=1000).contains(&n),
            "bandwidth_remaining_ratio",
            n,
            "a ratio must be between 1 and 1000",
            "classes without any bandwidth statement have ratio 1",
        )?;
    }
    if let Some(p) = c.bandwidth_remaining {
        at.check(
            p.0 > 0.0,
            "bandwidth_remaining",
            p,
            "a share must be above 0 %",
            "write 1 % to 100 %",
        )?;
    }
    Ok(())
}

/// Checks that the scheduler of a policy, its parameters and the shares of its classes fit.
pub(crate) fn check_scheduler(
    spec: &ClassBasedSpec,
    classes: &[ClassSpec],
    wants: &[Want],
    at: &mut At<'_>,
) -> Result<(), Problem> {
    let name = spec.scheduler.name();
    let in_turns = matches!(spec.scheduler, ClassScheduler::Drr | ClassScheduler::Ets);
    if let Some(quantum) = spec.quantum.filter(|_| !in_turns) {
        return Err(at.error(
            "quantum",
            quantum,
            format!("with `scheduler: {name}` no class sends bytes in turns"),
            "leave it out, or use `drr` or `ets`",
        ));
    }
    let ets = spec.scheduler == ClassScheduler::Ets;
    at.check(
        ets == spec.strict.is_some() && spec.strict != Some(0),
        "strict",
        spec.strict.map_or_else(|| "nothing".to_owned(), |n| n.to_string()),
        "`scheduler: ets`, and no other, says how many classes go first",
        "write `strict: 1` with `ets`; without classes that go first it is `drr`, with all of them `strict`",
    )?;
    let first = wants.iter().filter(|w| **w == Want::First).count();
    if let Some(strict) = spec.strict.filter(|n| *n as usize > first) {
        return Err(at.error(
            "strict",
            strict,
            format!("the policy has {first} classes with queues and without priority"),
            "name at most as many",
        ));
    }
    for (i, (class, _)) in (0..)
        .zip(classes.iter().zip(wants))
        .filter(|(_, (_, w))| **w == Want::First)
    {
        let mut bandwidth = class
            .queueing_keys()
            .filter(|(k, on)| *on && k.starts_with("bandwidth"));
        if let Some((key, _)) = bandwidth.next() {
            return at.index("classes", i, |at| {
                Err(at.error(
                    key,
                    &class.name,
                    format!("with `scheduler: {name}` the class goes before all that follow it, and shares nothing"),
                    "leave its bandwidth out; `shape` or `police` keep it from taking all",
                ))
            });
        }
    }
    Ok(())
}

/// Warns of classes without a queue of their own: of one at its place, of several at once.
pub(crate) fn warn_unqueued(classes: &[ClassSpec], queued: &[bool], at: &mut At<'_>) {
    const SHOWN: usize = 8;
    let without = classes.iter().zip(queued).enumerate();
    let without: Vec<(usize, &str)> = without
        .filter(|(_, (_, queued))| !**queued)
        .map(|(i, (c, _))| (i, c.name.as_str()))
        .collect();
    match &without[..] {
        [] => {}
        [(i, name)] => at.index("classes", *i, |at| {
            at.warn(format!(
                "class {name} asks for no queue of its own: its packets wait in class-default's queue"
            ));
        }),
        several => {
            let mut names: Vec<&str> = several.iter().take(SHOWN).map(|(_, n)| *n).collect();
            let more = format!("{} more", several.len().saturating_sub(SHOWN));
            if several.len() > SHOWN {
                names.push(&more);
            }
            at.key("classes", |at| {
                at.warn(format!(
                    "classes {} ask for no queues of their own: their packets wait in class-default's queue",
                    names.join(", ")
                ));
            });
        }
    }
}

/// Checks for keys of a class that exclude each other.
fn check_exclusions(c: &ClassSpec, at: &At<'_>) -> Result<(), Problem> {
    let policy = ("policy", c.policy.is_some());
    let has = c.queueing_keys().chain([policy]);
    let exclude = |key: &str, others: &[&str], why: &str, hint: &str| {
        let set = |k: &str| has.clone().any(|(n, on)| n == k && on);
        match others.iter().find(|o| set(key) && set(o)) {
            Some(other) => Err(at.error(other, &c.name, why.replace("{}", other), hint)),
            None => Ok(()),
        }
    };
    let flows: Vec<&str> = c.flow_queues().map(|(key, _)| key).collect();
    let own = [
        "bandwidth",
        "bandwidth_remaining",
        "bandwidth_remaining_ratio",
        "queue_limit",
        "aqm",
        "fair_queue",
    ];
    exclude(
        "priority",
        &[&own[..], &flows, &["policy"]].concat(),
        "a priority class cannot have `{}`",
        "use `priority.rate`, `priority.burst` and `priority.limit`, or drop `priority`",
    )?;
    exclude(
        "bandwidth",
        &["bandwidth_remaining", "bandwidth_remaining_ratio"],
        "a class has one bandwidth statement: `bandwidth` and `{}` exclude each other",
        "keep one of them",
    )?;
    exclude(
        "bandwidth_remaining",
        &["bandwidth_remaining_ratio"],
        "a class has one bandwidth statement: `bandwidth_remaining` and `{}` exclude each other",
        "keep one of them",
    )?;
    let exclude_beside = |key: &str, others: &[&str]| {
        exclude(
            key,
            others,
            &format!("`{key}` has its own queues, limit and drops: `{{}}` cannot stand beside it"),
            "keep one of them",
        )
        .map_err(Problem::misfit)
    };
    exclude_beside("fair_queue", &flows)?;
    for (i, key) in flows.iter().enumerate() {
        exclude_beside(key, &[&flows[i + 1..], &["queue_limit"]].concat())?;
    }
    for whole in ["fq_codel", "fq_pie", "dualpi2", "cake"] {
        exclude_beside(whole, &["aqm"])?;
    }
    let own = [
        "queue_limit",
        "queue_limit_dscp",
        "queue_limit_precedence",
        "aqm",
        "fair_queue",
    ];
    exclude(
        "policy",
        &[&own[..], &flows].concat(),
        "with a nested policy the class has no queue of its own for `{}`",
        "put it into a class of the nested policy",
    )
    .map_err(Problem::misfit)?;
    if let Some(aqm) = &c.aqm {
        at.check(
            !aqm.judges_departures() || !c.has_flow_queues(),
            "aqm",
            aqm.kind(),
            "it looks at how long the packets of one queue waited, and a fair queue makes many",
            "write it as `aqm` of `fq`, `drr` or `fair`, or use RED or WRED in front of the fair queue",
        )
        .map_err(Problem::misfit)?;
        if let Some((key, other)) = c.flow_queue().and_then(|(k, s)| Some((k, s.aqm()?))) {
            return Err(at
                .error(
                    "aqm",
                    aqm.kind(),
                    format!("`{key}` has its own AQM, {}", other.kind()),
                    "keep one of them",
                )
                .misfit());
        }
    }
    at.check(
        c.name != DEFAULT || c.priority.is_none(),
        "priority",
        &c.name,
        "class-default cannot have priority",
        "put the packets that should go first into a class of their own",
    )
}

pub(crate) fn check_match(m: &MatchSpec, at: &mut At<'_>) -> Result<(), Problem> {
    let empty = [
        ("dscp", m.dscp.as_ref().is_some_and(|l| l.0.is_empty())),
        (
            "precedence",
            m.precedence.as_ref().is_some_and(|l| l.0.is_empty()),
        ),
        ("exp", m.exp.as_ref().is_some_and(|l| l.0.is_empty())),
        ("cos", m.cos.as_ref().is_some_and(|l| l.0.is_empty())),
        (
            "qos_group",
            m.qos_group.as_ref().is_some_and(|l| l.0.is_empty()),
        ),
        ("input", m.input.as_ref().is_some_and(|l| l.0.is_empty())),
        ("src", m.src.as_ref().is_some_and(|l| l.0.is_empty())),
        ("dst", m.dst.as_ref().is_some_and(|l| l.0.is_empty())),
        (
            "protocol",
            m.protocol.as_ref().is_some_and(|l| l.0.is_empty()),
        ),
        ("sport", m.sport.as_ref().is_some_and(|l| l.0.is_empty())),
        ("dport", m.dport.as_ref().is_some_and(|l| l.0.is_empty())),
        ("any", m.any.as_ref().is_some_and(Vec::is_empty)),
    ];
    for (key, empty) in empty {
        at.check(
            !empty,
            key,
            "[]",
            "an empty list matches no packet",
            "name at least one value, or leave the key out",
        )?;
    }
    for p in m.precedence.iter().flat_map(|l| &l.0) {
        at.check(
            *p <= 7,
            "precedence",
            p,
            "an IP precedence is between 0 and 7",
            "write 0 to 7, or use `dscp`",
        )?;
    }
    for exp in m.exp.iter().flat_map(|l| &l.0) {
        check_exp("exp", *exp, at)?;
    }
    for cos in m.cos.iter().flat_map(|l| &l.0) {
        check_cos("cos", *cos, at)?;
    }
    for group in m.qos_group.iter().flat_map(|l| &l.0) {
        check_group("qos_group", *group, at)?;
    }
    for (key, list) in [("any", &m.any), ("all", &m.all)] {
        for (i, inner) in list.iter().flatten().enumerate() {
            at.index(key, i, |at| check_match(inner, at))?;
        }
    }
    if let Some(inner) = &m.not {
        at.key("not", |at| check_match(inner, at))?;
    }
    for (i, line) in m.acl.iter().flatten().enumerate() {
        at.index("acl", i, |at| {
            at.key("match", |at| check_match(&line.matching, at))
        })?;
    }
    Ok(())
}

/// Checks that guarantees fit into the enclosing rate, and remaining shares into 100 %.
pub(crate) fn check_sums(
    classes: &[ClassSpec],
    wants: &[Want],
    rate: Rate,
    at: &mut At<'_>,
) -> Result<(), Problem> {
    let mut sum = 0_u64;
    let mut remaining = 0.0;
    let mut in_rates = false;
    let mut in_percents = false;
    for (i, (c, w)) in classes.iter().zip(wants).enumerate() {
        let (key, written) = match &c.priority {
            Some(p) => ("priority.rate", p.rate),
            None => ("bandwidth", c.bandwidth),
        };
        if let Some(written) = written {
            let r = at.index("classes", i, |at| positive(written, rate, key, at))?;
            // A priority class may use another unit (Cisco IOS QoS command reference, `bandwidth
            // (policy-map class)`).
            match written {
                _ if c.priority.is_some() || c.has_scraps() => {}
                RateOrPercent::Rate(_) => in_rates = true,
                RateOrPercent::Percent(_) => in_percents = true,
            }
            sum = sum.saturating_add(r.bps());
            // Percentages are rounded to whole bits per second, one per class.
            if sum > rate.bps().saturating_add(i as u64 + 1) {
                let total = Rate::from_bps(sum).unwrap_or(rate);
                let percent = sum as f64 / rate.bps() as f64 * 100.0;
                return at.index("classes", i, |at| {
                    Err(at.error(
                        key,
                        written,
                        format!(
                            "with the classes above it the guarantees come to {total}, {percent:.1} % of the enclosing rate of {rate}"
                        ),
                        "guarantees of priority and bandwidth may come to 100 % at most",
                    ))
                });
            }
        }
        if let Want::RemainingPercent(p) = w {
            remaining += p;
            if remaining > 1.0 + ROUNDING {
                return at.index("classes", i, |at| {
                    Err(at.error(
                        "bandwidth_remaining",
                        spillgate_core::Percent(*p),
                        format!(
                            "with the classes above it the remaining shares come to {:.1} %",
                            remaining * 100.0
                        ),
                        "shares of the remaining bandwidth may come to 100 % at most",
                    ))
                });
            }
        }
    }
    let by_ratio = wants.iter().any(|w| matches!(w, Want::RemainingRatio(_)));
    if by_ratio && remaining > 0.0 {
        return Err(at.error(
            "classes",
            "bandwidth_remaining and bandwidth_remaining_ratio",
            "a policy divides what remains by percentages or by ratios, not by both",
            "use one of them in all classes",
        ));
    }
    if in_rates && in_percents {
        at.warn("`bandwidth` of the classes mixes rates and percentages, which Cisco IOS does not allow");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::test_at;

    /// Whatever fair queue a class can have, it stands beside no other queue of the class.
    #[test]
    fn every_fair_queue_excludes_other_queues() {
        let keys: Vec<&str> = ClassSpec::default().flow_queues().map(|(k, _)| k).collect();
        assert!(keys.contains(&"drr"));
        for (i, key) in keys.iter().enumerate() {
            let others = keys[i + 1..].iter().map(|k| (*k, "{}"));
            for (other, value) in others.chain([
                ("priority", "{}"),
                ("fair_queue", "{}"),
                ("queue_limit", "\"9 packets\""),
                ("policy", "\"inner\""),
            ]) {
                let text = format!(r#"{{"name": "a", "{key}": {{}}, "{other}": {value}}}"#);
                let class: ClassSpec = serde_json::from_str(&text).unwrap();
                let error = test_at(|at| check_exclusions(&class, at)).unwrap_err();
                assert_eq!(error.found, "a", "{key} {other}: {error}");
            }
        }
    }
}
