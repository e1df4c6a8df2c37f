//! Shapers and policers.

use spillgate_queueing::spec::{ClassSpec, PoliceAction, PoliceActions, PoliceSpec, PolicingWhen};

use super::fits::TooLong;
use super::{Ask, When};
use crate::registry::rule_text;
use crate::view::{FULL, View, lengths, rate, seconds, time};

/// Seconds of a round trip that a policer's bucket should hold.
const ROUND_TRIP: f64 = 0.1;

pub(super) const ASKED: &[Ask] = &[
    Ask(
        &[&ABOVE_LINK, &INTERVAL, &SHAPER_PACKET],
        |v| each(v, shaper),
        When::Queued,
    ),
    Ask(&[&PRIORITY_PACKET], |v| each(v, priority), When::Queued),
    Ask(
        &[&BURST_PACKET, &BURST_RTT],
        |v| each(v, policer),
        When::Always,
    ),
    Ask(&[&OUTLASTS], |v| each(v, tokens), When::Always),
];

fn each(v: &mut View<'_>, look: fn(&mut View<'_>, usize)) {
    (0..v.classes.len()).for_each(|i| look(v, i));
}

rule_text! { OUTLASTS = "SG-S005", "tokens-outlast-warm-up", Warning, "The tokens that a policer or shaper begins with last longer than the warm-up";
    why "A bucket is full when a run begins. A class that is offered more than its rate uses the bucket up at the difference of the two; until then nothing is dropped, remarked or delayed. If that takes longer than the warm-up, part of what is measured, or all of it, is a state that lasts only once: losses come out lower than they are in the long run, and a longer measurement gives another number.\n\nThe larger the burst and the smaller the excess, the longer it takes: 50 kB at 10 kb/s above the rate last 40 s.";
    fix "Write a `warmup` longer than the tokens last, or measure the first seconds on purpose and say so.";
    from "RFC 2697, section 2: the token buckets are initially full; Tc(0) = CBS";
}

/// Buckets are full when a run begins: until a bucket is empty, no packet is dropped or delayed.
fn tokens(v: &mut View<'_>, i: usize) {
    let c = &v.classes[i];
    let Some(warmup) = v.warmup else { return };
    let offered: f64 = c.flows.iter().flatten().filter_map(|l| l.rate).sum();
    let whole = c.spec.police.as_ref().is_some_and(|p| !p.per_flow);
    let policed = c.division.police.filter(|_| whole && has_bucket(c.spec));
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

rule_text! { ABOVE_LINK = "SG-S001", "shaper-above-link", Warning, "A shaper's rate is not below the rate of what it shapes for";
    why "A parent policy shapes to the rate of the service behind a faster port, so that packets wait here, where the classes decide who waits. A shaper above the rate of the link never holds a packet: the queue forms in the hardware's first-in first-out buffer and the policy inside has no effect.";
    fix "Shape to slightly less than the rate of the service, layer-2 overhead included, or leave the shaper out.";
    from "Cisco IOS QoS configuration guide, hierarchical policies";
}

rule_text! { INTERVAL = "SG-S002", "shaper-interval", Warning, "A shaper's burst lasts less than 4 ms or more than 250 ms at its rate";
    why "The bucket of a shaper sets how far the traffic may run ahead of the rate: burst = rate × time. Below 4 ms a slow shaper cannot send a full-size packet in one go and the router's timer does not keep up. Above 250 ms the shaper lets through bursts that a policer at the other end of the contract drops.\n\nFor voice Cisco recommends 10 ms: a longer interval makes a voice packet wait for the next one.";
    fix "Leave the burst to the router, or choose it between 4 ms and 250 ms at the rate, 10 ms where voice passes.";
    from "Cisco IOS QoS configuration guide, traffic shaping: Tc is between 4 ms and 125 ms, two of them (Bc + Be) at most 250 ms";
}

rule_text! { SHAPER_PACKET = "SG-S006", "shaper-burst-below-packet", Error, "A shaper's burst is smaller than a packet that it is given";
    why "A shaper sends a packet when its bucket holds as many tokens as the packet has bytes. A bucket that is smaller than the packet never does, and the packet is dropped, every time, even on an idle link.\n\nWhat counts is what the packet occupies on its link, or what `policy_overhead` says: a bucket of 1600 B is enough for a packet of 1500 B on Ethernet, and not for its 1749 B of cells on an ADSL line. The default holds the longest packet of the link.";
    fix "Leave out `burst`, or write the longest packet as it is counted, or more.";
    from "RFC 2697, section 2: a burst size above 0 should be at least that of the largest packet";
}

fn shaper(v: &mut View<'_>, i: usize) {
    let c = &v.classes[i];
    let sizes = c
        .flows
        .as_ref()
        .and_then(|f| lengths(f, |l| l.shaped_sizes));
    let (Some(spec), Some((rate, burst))) = (&c.spec.shape, c.division.shape) else {
        return;
    };
    let name = c.spec.name.clone();
    let known = v.rate.is_some();
    let absolute = matches!(spec.rate, spillgate_core::RateOrPercent::Rate(_));
    let (written, waits_for_all) = (spec.burst.is_some(), spec.kind.is_none());
    if let Some(whole) = v.rate.filter(|whole| rate > *whole) {
        let message = format!(
            "class {name} is shaped to {rate}, above the {whole} of {}: nothing ever waits for the shaper",
            v.whose
        );
        v.hit(&ABOVE_LINK, Some(i), "shape", message);
    }
    let long = sizes.filter(|_| waits_for_all);
    if let Some(long) = long.and_then(|s| TooLong::than(burst, s)) {
        let message = format!(
            "the shaper of class {name} holds {burst} B: {}",
            long.say("is dropped", "are dropped")
        );
        v.hit(&SHAPER_PACKET, Some(i), "shape", message);
    }
    let lasts = seconds(burst, rate);
    if written && (known || absolute) && !(0.004..=0.25).contains(&lasts) {
        let message = format!("a burst of {burst} B is {} at {rate}", time(lasts));
        v.hit(&INTERVAL, Some(i), "shape", message);
    }
}

/// Whether its policer decides by a bucket: it neither drops everything nor measures the average
/// rate.
fn has_bucket(c: &ClassSpec) -> bool {
    let police = c.police.as_ref();
    police.is_some_and(|p| !p.drops_all() && p.window.is_none())
}

rule_text! { PRIORITY_PACKET = "SG-S007", "priority-burst-below-packet", Error, "The burst of a priority class is smaller than a packet that comes to it";
    why "The policer of a priority class lets a packet pass when its bucket holds as many tokens as the packet has bytes. A bucket that is smaller than the packet never does: while the port is congested every such packet is dropped, and with `police: always` at any time. The queue that was to protect the packets loses them, just when it is needed.\n\nWhat counts is the packet as its link counts it, or as `policy_overhead` says.";
    fix "Write a `burst` of several packets, or leave it out for 200 ms at the rate.";
    from "Cisco IOS QoS command reference, `priority`: the burst defaults to 200 ms of traffic at the bandwidth rate; RFC 2697, section 2";
}

fn priority(v: &mut View<'_>, i: usize) {
    let c = &v.classes[i];
    let sizes = c
        .flows
        .as_ref()
        .and_then(|f| lengths(f, |l| l.policed_sizes));
    let (Some((_, burst)), Some(spec), Some(sizes)) =
        (c.division.priority, &c.spec.priority, sizes)
    else {
        return;
    };
    if let Some(long) = TooLong::than(burst, sizes) {
        let when = match spec.police {
            PolicingWhen::Always => "",
            PolicingWhen::Conditional => " while the port is congested",
        };
        let message = format!(
            "the burst of class {} is {burst} B: {}{when}",
            c.spec.name,
            long.say("is dropped", "are dropped")
        );
        v.hit(&PRIORITY_PACKET, Some(i), "priority.burst", message);
    }
}

/// The fate of one packet that exceeds the first bucket, and of several, in words; `second`: they
/// fit into the second bucket.
fn fate(p: &PoliceSpec, second: bool) -> (&'static str, &'static str) {
    let actions = match &p.violate {
        Some(violate) if !second => violate,
        _ => &p.exceed,
    };
    if drops(actions) {
        ("is dropped", "are dropped")
    } else if second || !p.three_colors() {
        ("exceeds and never conforms", "exceed and never conform")
    } else {
        ("violates and never conforms", "violate and never conform")
    }
}

fn drops(actions: &PoliceActions) -> bool {
    actions.iter().any(|a| a == PoliceAction::Drop)
}

rule_text! { BURST_PACKET = "SG-S003", "policer-burst-below-packet", Error, "A policer's burst is smaller than a packet that comes to it";
    why "A packet conforms when the bucket holds as many tokens as it has bytes. A bucket that is smaller than the packet never does: every such packet exceeds, at any rate, even on an idle link. Where what exceeds is dropped and no packet is shorter, the class loses everything; where small packets pass, pings look fine.\n\nWhat counts is the packet as its link counts it, or as `policy_overhead` says. Of a configuration alone the packets are not known: packets of 1500 B are assumed where the class may have TCP.";
    fix "Give the policer a burst of several packets at least; the default is 250 ms at the rate.";
    from "RFC 2697, section 2: a burst size above 0 should be at least that of the largest packet";
}

rule_text! { BURST_RTT = "SG-S004", "policer-burst-below-rtt", Note, "A policer's burst is smaller than what TCP sends in a round trip";
    why "A policer has no queue. TCP sends a window in a burst and then waits a round trip for its acknowledgments; a bucket that does not hold what the rate brings in that time drops the end of every burst, and the connection stays far below the rate that was sold.";
    fix "Give the policer a burst of at least 100 ms at its rate, better several round-trip times; Cisco's formula for committed access rate takes 1.5 s.";
    from "Cisco IOS QoS command reference, `rate-limit`: normal burst = rate × 1 byte / 8 bits × 1.5 s; `police` without a burst takes 250 ms (CIR/32)";
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
    let sizes = match &c.flows {
        Some(flows) => lengths(flows, |l| l.policed_sizes),
        // Only full-size packets of connections are known.
        None if tcp => Some((FULL as u32, 0)),
        None => None,
    };
    if let Some(long) = sizes.and_then(|s| TooLong::than(burst, s)) {
        let second = c.division.police_excess;
        let second = second.is_some_and(|(_, excess)| excess >= u64::from(long.longest));
        let (one, many) = fate(spec, second);
        let what = match c.flows.is_some() {
            true => long.say(one, many),
            false => format!("a packet of {} B never conforms", long.longest),
        };
        let message = format!("the policer of class {name} holds {burst} B: {what}");
        v.hit(&BURST_PACKET, Some(i), "police", message);
    } else if tcp && seconds(burst, rate) < ROUND_TRIP {
        let message = format!(
            "the policer of class {name} holds {burst} B, {} at {rate}; TCP sends a round trip's worth at once",
            time(seconds(burst, rate))
        );
        v.hit(&BURST_RTT, Some(i), "police", message);
    }
}
