//! Priority, shares, and the lengths of queues.

use spillgate_core::Limit;
use spillgate_queueing::spec::{AqmSpec, PolicingWhen};

use super::fits::holds_none;
use super::{Ask, When};
use crate::registry::rule_text;
use crate::view::{FULL, Queue, View, bytes, bytes_of, limit_text, rate, seconds, time};

/// Segments of a new connection's first window (RFC 6928).
const FIRST_WINDOW: u64 = 10;

/// Seconds that a tail-drop queue may take to drain.
const DEEP: f64 = 0.1;

/// Seconds that a packet may keep a voice packet waiting.
const SERIAL: f64 = 0.01;

pub(super) const ASKED: &[Ask] = &[
    Ask(&[&UNLIMITED], unlimited, When::Queued),
    Ask(&[&PRIORITY_THIRD], third, When::Queued),
    Ask(&[&STARVED], starved, When::Queued),
    Ask(&[&SHORT_QUEUE, &DEEP_QUEUE], lengths, When::Queued),
    Ask(&[&SERIALIZATION], serialization, When::Queued),
    Ask(&[&OVERSUBSCRIBED], offered, When::Queued),
    Ask(&[&BREAKS_OBJECTIVE], objectives, When::Queued),
];

rule_text! { UNLIMITED = "SG-Q001", "priority-without-limit", Warning, "A strict-priority class without a rate or policer";
    why "A strict-priority queue is served before every other. Without a bound its traffic, or whatever carries its mark by mistake or on purpose, can take all of the link: the other classes get nothing for as long as it lasts, their guarantees included.\n\nA single host that marks a file transfer EF is enough.";
    fix "Give the class a rate (`priority percent 20`, `priority: {rate: 20 %}`) or a policer.";
    from "Cisco IOS QoS configuration guide, low latency queueing; RFC 2598, section 2, and RFC 3246, section 2.10 (a priority queue must limit the damage that EF traffic can do to others)";
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

rule_text! { PRIORITY_THIRD = "SG-Q003", "priority-above-third", Warning, "Priority classes together may take more than a third of the link";
    why "What is ahead of all other queues decides how the others behave. While priority traffic is below a third of the link the remaining classes keep enough bandwidth for their queues to drain between its bursts, and the priority queue itself stays short: at a load of one third it rarely holds more than a packet or two.\n\nAbove that the delay of priority packets grows with every further call, and TCP in the other classes sees a link whose rate jumps.";
    fix "Keep the sum of all priority classes at 33 % of the link or less; put video into a class with guaranteed bandwidth.";
    from "Cisco, Enterprise QoS Solution Reference Network Design Guide, version 3.3: the 33 percent LLQ rule";
}

fn third(v: &mut View<'_>) {
    let Some(whole) = v.rate else { return };
    let mut sum = 0_u64;
    let mut last = None;
    for c in v.classes.iter().filter(|c| c.spec.priority.is_some()) {
        let whole = c.spec.police.as_ref().is_some_and(|p| !p.per_flow);
        let policed = c.division.police.filter(|_| whole);
        let own = c.division.priority.or(policed);
        if let Some((r, _)) = own {
            sum = sum.saturating_add(r.bps());
            last = Some(c.index);
        }
    }
    // Percentages are whole numbers: the guidance says 33 %.
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

rule_text! { STARVED = "SG-Q004", "class-default-starved", Warning, "The classes leave class-default no more than 1 % of the link";
    why "Everything that no class names is in class-default: routing updates in some designs, management, name resolution, the traffic that nobody thought of. When the other classes are backlogged it gets what they leave.\n\nWith nothing left it is served only while no other class has a packet to send, which for TCP is a connection that does not open.";
    fix "Leave class-default a share: `bandwidth percent 25` is the usual recommendation, `bandwidth remaining` divides what is left.";
    from "Cisco, Enterprise QoS Solution Reference Network Design Guide, version 3.3: at least 25 percent for class-default";
}

fn starved(v: &mut View<'_>) {
    let Some(whole) = v.rate else { return };
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
    let i = default.index;
    let bps = default.division.guaranteed.map_or(0, |r| r.bps());
    let left = rate(bps as f64);
    let share = bps as f64 / whole.bps() as f64;
    if reserved && !asked && share <= 0.0101 {
        let message = format!(
            "the classes leave class-default {left}, {:.1} % of the {whole} of {}",
            share * 100.0,
            v.whose
        );
        v.hit(&STARVED, Some(i), "", message);
        return;
    }
    // The offered rate counts only where the link cannot carry everything.
    let load = |c: &crate::view::Class<'_>| -> Option<f64> {
        c.flows.as_ref()?.iter().map(|l| l.rate).sum()
    };
    let (Some(own), Some(all)) = (
        load(&v.classes[i]),
        v.classes.iter().map(load).sum::<Option<f64>>(),
    ) else {
        return;
    };
    if reserved && all > whole.bps() as f64 && own > bps as f64 * 2.0 {
        let message = format!(
            "class-default is offered {}, and the classes leave it {left} of the {whole} of {}",
            rate(own),
            v.whose
        );
        v.hit(&STARVED, Some(i), "", message);
    }
}

rule_text! { SHORT_QUEUE = "SG-Q005", "queue-below-burst", Warning, "A queue shorter than one initial window of TCP";
    why "A connection begins with a burst of ten full segments, and windows later leave in bursts of the same order. A queue that cannot hold one such burst drops part of it even when the link is idle: the connection loses packets before it has measured anything, and its first timeout may cost a second.\n\nThe loss shows at any load and does not go away with more bandwidth for the class.";
    fix "Give the queue at least ten packets of 1500 B, or their time at the class's rate.";
    from "RFC 6928: initial window of ten segments; RFC 7567, section 2 (queues are there to absorb bursts)";
}

rule_text! { DEEP_QUEUE = "SG-Q006", "queue-above-100-ms", Warning, "A tail-drop queue that takes more than 100 ms to drain at the link's rate";
    why "TCP fills whatever queue it is given. A tail-drop queue that takes more than 100 ms to drain adds that much to every packet behind it, and to the round-trip time of the very connections that fill it: they are no faster for it.\n\nThe time is computed at the rate of the link, the best that the queue can get; when other classes are backlogged it takes longer. Active queue management or a fair queue bounds the delay whatever the limit.";
    fix "Shorten the queue to 50 ms at its rate, or put WRED or a fair queue into it.";
    from "Gettys and Nichols, \"Bufferbloat\", ACM Queue 9(11), 2011; RFC 7567";
}

fn lengths(v: &mut View<'_>) {
    v.each_queue(length);
}

fn length(v: &mut View<'_>, q: &Queue<'_>) {
    let (Some(own), Some(best), Some((key, limit))) = (q.rate, q.best, q.limit()) else {
        return;
    };
    let priority = q
        .class
        .is_some_and(|i| v.classes[i].spec.priority.is_some());
    if priority || holds_none(q, limit) {
        return;
    }
    // Without known traffic nothing is known of a port, but the name of a class tells its purpose.
    let some = |flows: &Vec<&crate::traffic::Load>| flows.iter().any(|l| l.reacts);
    let tcp = q.flows.as_ref().map_or_else(|| q.class.is_some(), some);
    let held = bytes(limit, own);
    if held < FIRST_WINDOW * FULL && tcp {
        let message = match limit {
            Limit::Time(t) => format!(
                "{} at the {own} of {} are {held} B, less than ten packets of {FULL} B, the first burst of a connection",
                time(t.as_secs_f64()),
                q.what
            ),
            _ => format!(
                "{} holds {held} B, less than ten packets of {FULL} B, the first burst of a connection",
                q.what
            ),
        };
        v.hit(&SHORT_QUEUE, q.class, key, message);
        return;
    }
    // A limit in time refers to the class's rate; a queue that is alone drains at the full rate.
    let each = q.each();
    let held = bytes_of(limit, own, each);
    if q.place.aqm.is_none() && seconds(held, best) > DEEP {
        let shown = match limit {
            Limit::Packets(_) => limit,
            _ => Limit::Bytes(held),
        };
        let message = format!(
            "the queue of {} is deep: {}",
            q.what,
            limit_text(shown, best, each)
        );
        v.hit(&DEEP_QUEUE, q.class, key, message);
    }
}

rule_text! { SERIALIZATION = "SG-Q008", "serialization-on-slow-link", Warning, "On a slow link a full-size packet alone delays a voice packet by more than 10 ms";
    why "Strict priority does not interrupt a packet that is being sent. A voice packet that comes when a full-size packet has just begun waits until it is out: on a slow link that is a good part of the delay budget, and all of it is jitter.\n\nNo queueing policy mends that: only smaller packets do.";
    fix "Fragment and interleave (LFI, MLPPP, FRF.12), lower the MTU of the other classes, or use a link above 1.2 Mb/s.";
    from "Cisco, Enterprise QoS Solution Reference Network Design Guide, version 3.3: 10 ms of serialization, links below 768 kb/s";
}

fn serialization(v: &mut View<'_>) {
    let Some(whole) = v.rate else { return };
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

rule_text! { OVERSUBSCRIBED = "SG-Q007", "priority-oversubscribed", Warning, "A priority class is offered more than its policer admits";
    why "A policer of a priority class acts under congestion: while packets are queued in the port, which they are once its transmit ring (`tx_ring`, without one the packet in transmission) is full. Then the class may send at its rate and no faster; what exceeds it is dropped. Without congestion it loses nothing, whatever it is offered. With `police: always` the policer acts at any time, with nothing queued too. In either case packets of every call are lost, not those of the last call alone: one call too many spoils all of them.";
    fix "Raise the rate of the class, or admit fewer calls.";
    from "Cisco IOS QoS configuration guide, low latency queueing: the priority queue is policed under congestion; Cisco document 10107: congestion begins when the transmit ring is full";
}

fn offered(v: &mut View<'_>) {
    if v.rate.is_none() {
        return;
    }
    for i in 0..v.classes.len() {
        let c = &v.classes[i];
        let Some((admitted, _)) = c.division.priority else {
            continue;
        };
        let offered: f64 = c.flows.iter().flatten().filter_map(|l| l.policed).sum();
        if offered > admitted.bps() as f64 {
            let always = c.spec.priority.as_ref();
            let when = match always.map(|p| p.police) {
                Some(PolicingWhen::Always) => "at any time",
                _ => "while anything waits",
            };
            let message = format!(
                "class {} is offered {}, its policer admits {admitted} {when}",
                c.spec.name,
                rate(offered)
            );
            v.hit(&OVERSUBSCRIBED, Some(i), "priority.rate", message);
        }
    }
}

rule_text! { BREAKS_OBJECTIVE = "SG-Q010", "queue-breaks-objective", Warning, "A full queue of a class delays its packets more than their objective allows";
    why "At its guaranteed rate a full queue takes longer to drain than the requirement on the delay of its traffic allows. While the class is within its rate the queue is short and nothing shows; in an overload the requirement fails although not a packet is lost.\n\nDropping earlier would keep it: a packet that comes too late is worth no more than one that is lost.";
    fix "Shorten the queue to what the requirement allows at the class's rate, or guarantee the class more.";
    from "RFC 7567; ITU-T Y.1541 for the objectives";
}

fn objectives(v: &mut View<'_>) {
    v.each_queue(objective);
}

fn objective(v: &mut View<'_>, q: &Queue<'_>) {
    let (Some(own), Some((key, limit))) = (q.rate, q.limit()) else {
        return;
    };
    // A priority queue is policed and has small packets, so it does not fill. AQMs that control
    // delay keep their queues short.
    let priority = q
        .class
        .is_some_and(|i| v.classes[i].spec.priority.is_some());
    let by_delay = |a: &spillgate_queueing::PlacedAqm| {
        matches!(
            a.spec,
            AqmSpec::Codel(_) | AqmSpec::Cobalt(_) | AqmSpec::Pie(_) | AqmSpec::Pi2(_)
        )
    };
    if priority || q.place.aqm.as_ref().is_some_and(by_delay) {
        return;
    }
    let each = q.each();
    let full = seconds(bytes_of(limit, own, each), own);
    let required = q.flows.iter().flatten();
    let strictest = required
        .filter_map(|l| v.objectives.get(&l.service).map(|o| (o, &l.service)))
        .min_by(|a, b| a.0.0.total_cmp(&b.0.0));
    if let Some(((bound, metric), service)) = strictest.filter(|((b, _), _)| full > *b) {
        let message = format!(
            "a full queue of {} takes {}: {}; {metric} of {service} is to be at most {}",
            q.what,
            time(full),
            limit_text(limit, own, each),
            time(*bound)
        );
        v.hit(&BREAKS_OBJECTIVE, q.class, key, message);
    }
}
