//! Priority, shares, and the lengths of queues.

use spillgate_core::{Limit, Rate};
use spillgate_queueing::spec::FifoSpec;

use crate::registry::{
    BREAKS_OBJECTIVE, DEEP_QUEUE, OVERSUBSCRIBED, PRIORITY_THIRD, SERIALIZATION, SHORT_QUEUE,
    STARVED, UNLIMITED,
};
use crate::view::{FULL, Hit, Spot, View, bytes, limit_text, rate, seconds, time};

/// Segments of a new connection's first window (RFC 6928).
const FIRST_WINDOW: u64 = 10;

/// Seconds that a tail-drop queue may take to drain.
const DEEP: f64 = 0.1;

/// Seconds that a packet may keep a voice packet waiting.
const SERIAL: f64 = 0.01;

pub(super) fn check(v: &mut View<'_>) {
    unlimited(v);
    if let Some(r) = v.rate {
        third(v, r);
        starved(v, r);
        lengths(v, r);
        serialization(v, r);
        offered(v);
        objectives(v);
    }
}

fn unlimited(v: &mut View<'_>) {
    let open = |c: &&crate::view::Class<'_>| {
        let p = c.spec.priority.as_ref();
        p.is_some_and(|p| p.rate.is_none()) && c.spec.police.is_none()
    };
    let found: Vec<_> = v.classes.iter().filter(open).map(|c| c.index).collect();
    for i in found {
        let name = &v.classes[i].spec.name;
        let whole = match v.rate {
            Some(r) => format!("all {r} of {}", v.whose),
            None => "the whole link".to_owned(),
        };
        let message =
            format!("class {name} has strict priority without a limit: it may take {whole}");
        v.hit(&UNLIMITED, Some(i), "priority", message);
    }
}

fn third(v: &mut View<'_>, whole: Rate) {
    let mut sum = 0_u64;
    let mut last = None;
    for c in v.classes.iter().filter(|c| c.spec.priority.is_some()) {
        let own = c.division.priority.or(c.division.police);
        if let Some((r, _)) = own {
            sum = sum.saturating_add(r.bps());
            last = Some(c.index);
        }
    }
    // Percentages are written whole: 33 % is what the guidance says.
    if sum as f64 > whole.bps() as f64 * 0.3334 {
        let percent = sum as f64 * 100.0 / whole.bps() as f64;
        let message = format!(
            "priority classes may take {}, {percent:.0} % of the {whole} of {}; the guidance is a third",
            rate(sum as f64),
            v.whose
        );
        v.hit(&PRIORITY_THIRD, last, "priority", message);
    }
}

fn starved(v: &mut View<'_>, whole: Rate) {
    let reserved = v
        .classes
        .iter()
        .any(|c| !c.is_default() && c.division.queued);
    let Some(default) = v.classes.iter().find(|c| c.is_default()) else {
        return;
    };
    let asked = default.spec.bandwidth.is_some()
        || default.spec.bandwidth_remaining.is_some()
        || default.spec.bandwidth_remaining_ratio.is_some();
    let (i, Some(left)) = (default.index, default.division.guaranteed) else {
        return;
    };
    let share = left.bps() as f64 / whole.bps() as f64;
    if reserved && !asked && share <= 0.0101 {
        let message = format!(
            "the classes leave class-default {left}, {:.1} % of the {whole} of {}",
            share * 100.0,
            v.whose
        );
        v.hit(&STARVED, Some(i), "", message);
        return;
    }
    // What is offered counts only where the link cannot carry everything.
    let load = |c: &crate::view::Class<'_>| -> Option<f64> {
        c.flows.as_ref()?.iter().map(|l| l.rate).sum()
    };
    let (Some(own), Some(all)) = (
        load(&v.classes[i]),
        v.classes.iter().map(load).sum::<Option<f64>>(),
    ) else {
        return;
    };
    if reserved && all > whole.bps() as f64 && own > left.bps() as f64 * 2.0 {
        let message = format!(
            "class-default is offered {}, and the classes leave it {left} of the {whole} of {}",
            rate(own),
            v.whose
        );
        v.hit(&STARVED, Some(i), "", message);
    }
}

fn lengths(v: &mut View<'_>, whole: Rate) {
    for i in 0..v.classes.len() {
        let c = &v.classes[i];
        let Some(limit) = c.limit() else { continue };
        if c.spec.priority.is_some() {
            continue;
        }
        let own = c.division.guaranteed.unwrap_or(whole);
        let best = c.division.shape.map_or(whole, |(r, _)| r.min(whole));
        let deaf = c
            .flows
            .as_ref()
            .is_some_and(|f| !f.iter().any(|l| l.reacts));
        let held = bytes(limit, own);
        if held < FIRST_WINDOW * FULL && !deaf && !c.has_flow_queues() {
            let message = match limit {
                Limit::Time(t) => format!(
                    "{} at the {own} of class {} are {held} B, less than ten packets of {FULL} B, the first burst of a connection",
                    time(t.as_secs_f64()),
                    c.spec.name
                ),
                _ => format!(
                    "class {} holds {held} B, less than ten packets of {FULL} B, the first burst of a connection",
                    c.spec.name
                ),
            };
            v.hit(&SHORT_QUEUE, Some(i), "queue_limit", message);
            continue;
        }
        let managed = c.spec.aqm.is_some() || c.has_flow_queues();
        // A limit in time is of the class's rate, a queue that is alone drains at the whole.
        if !managed && seconds(held, best) > DEEP {
            let message = format!(
                "the queue of class {} is deep: {}",
                c.spec.name,
                limit_text(Limit::Bytes(held), best).replace(
                    &format!("{held} B are"),
                    &match limit {
                        Limit::Packets(n) => format!("{n} packets of {FULL} B are"),
                        _ => format!("{held} B are"),
                    }
                )
            );
            v.hit(&DEEP_QUEUE, Some(i), "queue_limit", message);
        }
    }
}

/// A single queue.
pub(crate) fn fifo(
    name: &str,
    spec: &FifoSpec,
    rate: Option<Rate>,
    whose: &str,
    hits: &mut Vec<Hit>,
) {
    let Some(r) = rate.filter(|_| spec.aqm.is_none()) else {
        return;
    };
    if seconds(bytes(spec.limit, r), r) > DEEP {
        hits.push(Hit {
            rule: &DEEP_QUEUE,
            spot: Spot {
                policy: name.to_owned(),
                class: None,
                key: "limit".to_owned(),
            },
            message: format!(
                "the queue of {whose} is deep: {}",
                limit_text(spec.limit, r)
            ),
        });
    }
}

fn serialization(v: &mut View<'_>, whole: Rate) {
    let wait = seconds(FULL, whole);
    let priority = v.classes.iter().find(|c| c.spec.priority.is_some());
    let others = v.classes.iter().any(|c| {
        let some = c.flows.as_ref().is_none_or(|f| f.iter().any(|l| l.reacts));
        c.spec.priority.is_none() && some
    });
    let Some(i) = priority
        .map(|c| c.index)
        .filter(|_| wait > SERIAL && others)
    else {
        return;
    };
    let message = format!(
        "a packet of {FULL} B takes {} at the {whole} of {}: class {} waits that long behind it",
        time(wait),
        v.whose,
        v.classes[i].spec.name
    );
    v.hit(&SERIALIZATION, Some(i), "priority", message);
}

fn offered(v: &mut View<'_>) {
    for i in 0..v.classes.len() {
        let c = &v.classes[i];
        let Some((admitted, _)) = c.division.priority else {
            continue;
        };
        let offered: f64 = c.flows.iter().flatten().filter_map(|l| l.rate).sum();
        if offered > admitted.bps() as f64 {
            let message = format!(
                "class {} is offered {}, its policer admits {admitted} while anything waits",
                c.spec.name,
                rate(offered)
            );
            v.hit(&OVERSUBSCRIBED, Some(i), "priority.rate", message);
        }
    }
}

fn objectives(v: &mut View<'_>) {
    for i in 0..v.classes.len() {
        let c = &v.classes[i];
        let (Some(limit), Some(own)) = (c.limit(), c.division.guaranteed) else {
            continue;
        };
        // A priority queue is policed, and its packets are small: it does not fill.
        if c.spec.priority.is_some() {
            continue;
        }
        let full = seconds(bytes(limit, own), own);
        let required = c.flows.iter().flatten();
        let strictest = required
            .filter_map(|l| v.objectives.get(&l.service).map(|o| (o, &l.service)))
            .min_by(|a, b| a.0.0.total_cmp(&b.0.0));
        if let Some(((bound, metric), service)) = strictest.filter(|((b, _), _)| full > *b) {
            let message = format!(
                "a full queue of class {} takes {}: {}; {metric} of {service} is to be at most {}",
                c.spec.name,
                time(full),
                limit_text(limit, own),
                time(*bound)
            );
            v.hit(&BREAKS_OBJECTIVE, Some(i), "queue_limit", message);
        }
    }
}
