//! Shapers and policers.

use spillgate_queueing::spec::ClassSpec;

use crate::registry::{ABOVE_LINK, BURST_PACKET, BURST_RTT, INTERVAL, OUTLASTS};
use crate::view::{FULL, View, rate, seconds, time};

/// Seconds of a round trip that a policer's bucket should hold.
const ROUND_TRIP: f64 = 0.1;

pub(super) fn check(v: &mut View<'_>) {
    for i in 0..v.classes.len() {
        shaper(v, i);
        policer(v, i);
        tokens(v, i);
    }
}

/// Buckets are full when a run begins: until one is empty, nothing is dropped or held back.
fn tokens(v: &mut View<'_>, i: usize) {
    let c = &v.classes[i];
    let Some(warmup) = v.warmup else { return };
    let offered: f64 = c.flows.iter().flatten().filter_map(|l| l.rate).sum();
    let policed = c.division.police.filter(|_| has_bucket(c.spec));
    let buckets = [
        ("policer", "police", policed),
        ("priority policer", "priority.rate", c.division.priority),
        ("shaper", "shape", c.division.shape),
    ];
    let mut slow = Vec::new();
    for (what, key, bucket) in buckets {
        let Some((admitted, burst)) = bucket else {
            continue;
        };
        let excess = offered - admitted.bps() as f64;
        let lasts = burst as f64 * 8.0 / excess;
        if excess > 0.0 && lasts > warmup {
            let message = format!(
                "class {} is offered {}: the {burst} B that its {what} of {admitted} holds at the start last {}, {}",
                c.spec.name,
                rate(offered),
                time(lasts),
                match warmup {
                    0.0 => "and there is no warm-up".to_owned(),
                    warmup => format!("the warm-up {}", time(warmup)),
                }
            );
            slow.push((key, message));
        }
    }
    for (key, message) in slow {
        v.hit(&OUTLASTS, Some(i), key, message);
    }
}

fn shaper(v: &mut View<'_>, i: usize) {
    let c = &v.classes[i];
    let (Some(spec), Some((rate, burst))) = (&c.spec.shape, c.division.shape) else {
        return;
    };
    let name = c.spec.name.clone();
    let known = v.rate.is_some();
    let absolute = matches!(spec.rate, spillgate_core::RateOrPercent::Rate(_));
    let written = spec.burst.is_some();
    if let Some(whole) = v.rate.filter(|whole| rate > *whole) {
        let message = format!(
            "class {name} is shaped to {rate}, above the {whole} of {}: nothing ever waits for the shaper",
            v.whose
        );
        v.hit(&ABOVE_LINK, Some(i), "shape", message);
    }
    let lasts = seconds(burst, rate);
    if written && (known || absolute) && !(0.004..=0.25).contains(&lasts) {
        let message = format!("a burst of {burst} B is {} at {rate}", time(lasts));
        v.hit(&INTERVAL, Some(i), "shape", message);
    }
}

/// Whether its policer has a bucket that decides: not one that drops everything, nor one that measures the average rate.
fn has_bucket(c: &ClassSpec) -> bool {
    let police = c.police.as_ref();
    police.is_some_and(|p| !p.drops_all() && p.window.is_none())
}

fn policer(v: &mut View<'_>, i: usize) {
    let c = &v.classes[i];
    let Some((rate, burst)) = c.division.police else {
        return;
    };
    let Some(spec) = c.spec.police.as_ref().filter(|_| has_bucket(c.spec)) else {
        return;
    };
    let absolute = matches!(spec.rate, spillgate_core::RateOrPercent::Rate(_));
    if v.rate.is_none() && !absolute {
        return;
    }
    let name = c.spec.name.clone();
    let tcp = match &c.flows {
        Some(flows) => flows.iter().any(|l| l.reacts),
        None => {
            let speech = 1_u64 << 46 | 1 << 44;
            let set = c.set.as_ref();
            c.spec.priority.is_none()
                && set.is_none_or(|s| s.has_protocol(6) && s.dscps() & !speech != 0)
        }
    };
    let small = c.flows.as_ref().is_some_and(|_| !tcp) || c.spec.priority.is_some();
    if burst < FULL && !small {
        let message = format!(
            "the policer of class {name} holds {burst} B: a packet of {FULL} B never conforms"
        );
        v.hit(&BURST_PACKET, Some(i), "police", message);
    } else if tcp && seconds(burst, rate) < ROUND_TRIP {
        let message = format!(
            "the policer of class {name} holds {burst} B, {} at {rate}; TCP sends a round trip's worth at once",
            time(seconds(burst, rate))
        );
        v.hit(&BURST_RTT, Some(i), "police", message);
    }
}
