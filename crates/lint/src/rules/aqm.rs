//! RED, WRED, CoDel and other AQMs, in any policy.

use spillgate_core::math::{exp, ln, pow};
use spillgate_core::show::rough_plain;
use spillgate_core::{Dscp, Limit, Rate};
use spillgate_queueing::PlacedAqm;
use spillgate_queueing::spec::{
    AqmSpec, CodelSpec, PoliceAction, WredBy, WredProfile, WredSpec, WredUnit,
};

use super::{Ask, When};
use crate::registry::rule_text;
use crate::view::{FULL, Queue, View, bytes, rate, time};

pub(super) const ASKED: &[Ask] = &[Ask(
    &[
        &AF_ORDER,
        &WRED_ABOVE_LIMIT,
        &RED_THRESHOLDS,
        &RED_MAX_P,
        &RED_WEIGHT,
        &WRED_DEAF,
        &ECN_UNUSED,
        &CODEL_TARGET,
        &BELOW_PACKET,
        &SHARED_MAXIMUM,
    ],
    check,
    When::Queued,
)];

/// Code points of traffic that does not slow down: EF, voice-admit, real-time, control.
const DEAF: [u8; 5] = [46, 44, 32, 48, 56];

/// A pair of thresholds and its place.
struct Profile {
    key: String,
    what: String,
    /// In packets; of full size if the thresholds are in bytes.
    min: f64,
    max: f64,
    /// Bytes of a full-size packet, if the thresholds are in bytes.
    each: Option<f64>,
    max_p: f64,
    /// Whether the user wrote it; defaults are not judged by recommendations.
    written: bool,
}

fn check(v: &mut View<'_>) {
    let queues = std::mem::take(&mut v.queues);
    for q in &queues {
        if let Some(aqm) = &q.place.aqm {
            look(v, q, aqm);
            if let AqmSpec::Wred(wred) = &aqm.spec {
                shared_maximum(v, &queues, q, aqm, wred);
            }
        }
    }
    v.queues = queues;
}

/// Every kind of AQM has an arm, so that whoever adds one decides which rules apply.
fn look(v: &mut View<'_>, q: &Queue<'_>, aqm: &PlacedAqm) {
    let mut profiles = Vec::new();
    let mut weight = None;
    match &aqm.spec {
        AqmSpec::Red(red) => {
            let red = red.rules();
            let each = full(red.in_bytes());
            profiles.push(Profile {
                key: aqm.prefix.trim_end_matches('.').to_owned(),
                what: "RED".to_owned(),
                min: red.min_th / each.unwrap_or(1.0),
                max: red.max_th / each.unwrap_or(1.0),
                each,
                max_p: red.max_p,
                written: true,
            });
            weight = Some(red.weight);
        }
        AqmSpec::Wred(wred) => {
            profiles = in_force(q, aqm, wred);
            let n = |rate| wred.weighting_constant(q.table_limit(), rate);
            weight = q.rate.map(|rate| pow(2.0, -f64::from(n(rate))));
            order(v, q, aqm, wred);
        }
        AqmSpec::Codel(codel) => target(v, q, codel, &aqm.prefix),
        // Their thresholds and probabilities adapt.
        _ => profiles = adaptive(q, aqm),
    }
    limits(v, q, &profiles);
    if matches!(aqm.spec, AqmSpec::Red(_) | AqmSpec::Wred(_)) {
        for p in profiles.iter().filter(|p| p.written) {
            guidance(v, q, p);
        }
    }
    if let (Some(weight), Some(rate), false) = (weight, q.rate, q.place.by_flow) {
        memory(v, q, &aqm.key, weight, rate);
    }
    below_packet(v, q, aqm);
    reaction(v, q, aqm);
}

/// Bytes of a packet of full size, where thresholds are in bytes.
fn full(in_bytes: bool) -> Option<f64> {
    in_bytes.then_some(FULL as f64)
}

/// The initial thresholds of AQMs that adapt them.
fn adaptive(q: &Queue<'_>, aqm: &PlacedAqm) -> Vec<Profile> {
    let Some(rate) = q.rate else {
        return Vec::new();
    };
    let all = aqm.spec.thresholds(q.table_limit(), rate).into_iter();
    all.map(|t| {
        let each = full(t.in_bytes);
        Profile {
            key: aqm.key.clone(),
            what: aqm.spec.kind().to_owned(),
            min: t.min / each.unwrap_or(1.0),
            max: t.max / each.unwrap_or(1.0),
            each,
            max_p: t.probability,
            written: t.written,
        }
    })
    .collect()
}

/// The base of default thresholds, if it is known.
fn table(q: &Queue<'_>, wred: &WredSpec) -> Option<(Limit, Rate)> {
    let by_rate = wred.unit == WredUnit::Ms;
    // Without times the rate does not matter.
    let rate = q
        .rate
        .or_else(|| Rate::from_bps(1_000_000_000).filter(|_| !by_rate));
    Some((q.table_limit(), rate?))
}

/// The profiles for packets of a queue, equal ones once.
fn in_force(q: &Queue<'_>, aqm: &PlacedAqm, wred: &WredSpec) -> Vec<Profile> {
    let dscps = q.set.as_ref().map(|s| s.dscps()).or_else(|| q.dscps());
    let (Some(dscps), Some((limit, rate))) = (dscps, table(q, wred)) else {
        return Vec::new();
    };
    let mut seen: Vec<WredProfile> = Vec::new();
    let mut profiles = Vec::new();
    let each = full(wred.unit.in_bytes());
    for dscp in (0..64).filter_map(Dscp::new) {
        if dscps >> dscp.value() & 1 == 0 {
            continue;
        }
        let profile = wred.profile(dscp, limit, rate);
        if seen.contains(&profile) {
            continue;
        }
        seen.push(profile);
        let prefix = &aqm.prefix;
        let (key, what, written) = match wred.by {
            WredBy::Dscp => (
                format!("{prefix}dscp.{dscp}"),
                format!("WRED of {dscp}"),
                wred.dscp.contains_key(&dscp),
            ),
            WredBy::Precedence => (
                format!("{prefix}precedence.{}", dscp.precedence()),
                format!("WRED of precedence {}", dscp.precedence()),
                wred.precedence.contains_key(&dscp.precedence()),
            ),
        };
        profiles.push(Profile {
            key,
            what,
            min: f64::from(profile.min) / each.unwrap_or(1.0),
            max: f64::from(profile.max) / each.unwrap_or(1.0),
            each,
            max_p: 1.0 / f64::from(profile.denominator),
            written,
        });
    }
    profiles
}

rule_text! { WRED_ABOVE_LIMIT = "SG-A002", "wred-above-queue-limit", Warning, "A RED or WRED maximum lies above the queue limit: tail drop comes first";
    why "Early detection works while the average queue is between the two thresholds. Where the queue limit is below the maximum, the queue is full before the drop probability has reached what was configured; where it is even below the minimum, nothing is ever dropped early.\n\nWhat remains is tail drop: losses come in bursts and hit all flows at once, connections back off together and recover together, and the drop precedences of the class count for nothing.";
    fix "Raise the queue limit above the maximum threshold (twice as much leaves room for bursts), or lower the thresholds.";
    from "Cisco IOS QoS configuration guide, WRED: the maximum threshold applies to the average queue, `queue-limit` to the queue; Floyd and Jacobson 1993, section 4";
}

fn limits(v: &mut View<'_>, q: &Queue<'_>, profiles: &[Profile]) {
    let packets = |(_, limit): &(String, Limit)| match (*limit, q.rate) {
        (Limit::Packets(n), _) => Some(f64::from(n)),
        (Limit::Bytes(n), _) => Some(n as f64 / FULL as f64),
        (Limit::Time(_), Some(rate)) => Some(bytes(*limit, rate) as f64 / FULL as f64),
        (Limit::Time(_), None) => None,
    };
    let Some(own) = q.place.limits.iter().filter_map(packets).reduce(f64::min) else {
        return;
    };
    let worst = profiles.iter().filter(|p| p.max > own);
    let Some(p) = worst.max_by(|a, b| a.max.total_cmp(&b.max)) else {
        return;
    };
    let effect = if p.min >= own {
        "nothing is dropped early"
    } else {
        "tail drop comes first"
    };
    let message = format!(
        "{} goes up to {} packets, the queue holds {}: {effect}",
        p.what,
        rough_plain(p.max),
        rough_plain(own)
    );
    v.hit(&WRED_ABOVE_LIMIT, q.class, &p.key, message);
}

rule_text! { RED_THRESHOLDS = "SG-A003", "red-thresholds-close", Note, "The maximum threshold of RED is below three times the minimum";
    why "Between the thresholds RED turns a growing average into a growing drop probability. The closer they are, the steeper that is: a small oscillation of the average then swings between no drops and the forced drops above the maximum, and connections are synchronized, which early detection is there to prevent.\n\nFloyd and Jacobson ask for a maximum of at least twice the minimum; Floyd's later notes recommend three times.";
    fix "Lower the minimum to a third of the maximum, or raise the maximum and the queue limit with it.";
    from "S. Floyd, \"RED: Discussions of Setting Parameters\", e-mail of November 1997 (icir.org/floyd/REDparameters.txt); Floyd and Jacobson, \"Random Early Detection Gateways\", 1993, section 6.3";
}

rule_text! { RED_MAX_P = "SG-A004", "red-probability", Note, "The drop probability of RED at the maximum threshold is far from 10 %";
    why "The probability at the maximum decides how strongly the gateway can push back before it drops everything. Below 1 % even a handful of long connections push the average through the maximum; above 50 % the first packets over the minimum already lose connections their windows, and the link runs empty.\n\nThe first paper used 2 %, Floyd's later recommendation is 10 %: a gateway whose steady loss has to be above that needs more capacity, not other parameters.";
    fix "Write `max_p: 0.1`, or a mark probability denominator of 10, unless a measurement says otherwise.";
    from "S. Floyd, \"RED: Discussions of Setting Parameters\", e-mail of November 1997 (icir.org/floyd/REDparameters.txt)";
}

fn guidance(v: &mut View<'_>, q: &Queue<'_>, p: &Profile) {
    if p.max < 3.0 * p.min {
        let written = |packets: f64| match p.each {
            Some(bytes) => format!("{} B", rough_plain(packets * bytes)),
            None => rough_plain(packets),
        };
        let message = format!(
            "{}: maximum {} is {} times minimum {}; the guidance is three times",
            p.what,
            written(p.max),
            rough_plain(p.max / p.min.max(1e-9)),
            written(p.min)
        );
        v.hit(&RED_THRESHOLDS, q.class, &p.key, message);
    }
    if !(0.01..=0.5).contains(&p.max_p) {
        let message = format!(
            "{}: {} % of the packets are dropped at the maximum; the guidance is 10 %",
            p.what,
            rough_plain(p.max_p * 100.0)
        );
        v.hit(&RED_MAX_P, q.class, &p.key, message);
    }
}

rule_text! { RED_WEIGHT = "SG-A005", "red-average-memory", Note, "The average of RED follows the queue within less than 10 ms or over more than 10 s";
    why "The weight of a sample decides how long the average remembers: about 1/weight packets, each of which takes a packet's time on the link. RED reacts to congestion that lasts several round-trip times and lets shorter bursts pass; round-trip times are between some milliseconds and some hundred.\n\nA memory below 10 ms makes the average the queue itself: bursts are dropped although the queue would have drained. A memory above 10 s is still empty when the queue has been full for seconds, and stays high long after the queue is gone.";
    fix "Choose the weight so that 1/weight packets take about one second, ten round-trip times of 100 ms: 1 - exp(-1/C) for C packets per second.";
    from "Floyd, Gummadi and Shenker, \"Adaptive RED\", 2001, section 4.3; Floyd and Jacobson 1993, section 6";
}

fn memory(v: &mut View<'_>, q: &Queue<'_>, key: &str, weight: f64, rate: Rate) {
    if !(weight > 0.0 && weight < 1.0) {
        return;
    }
    let packets_per_second = rate.bps() as f64 / (8 * FULL) as f64;
    let remembered = -1.0 / ln(1.0 - weight) / packets_per_second;
    if !(0.01..=10.0).contains(&remembered) {
        let advised = 1.0 - exp(-1.0 / packets_per_second);
        let message = format!(
            "the average of {} remembers {} at {rate}; a weight of {advised:.2e} (an exponential weighting constant of {:.0}) makes it 1 s",
            q.what,
            time(remembered),
            -ln(advised) / ln(2.0)
        );
        v.hit(&RED_WEIGHT, q.class, key, message);
    }
}

rule_text! { AF_ORDER = "SG-A001", "af-precedence-inverted", Warning, "WRED drops a lower drop precedence of an AF class earlier than a higher one";
    why "The three code points of an assured-forwarding class differ in one thing: what is dropped first. A node must not drop a packet of drop precedence 1 with a higher probability than one of precedence 2, nor that one with a higher probability than precedence 3. Policers upstream mark what exceeds a contract AFx2 or AFx3 and count on it.\n\nWith the thresholds inverted the excess survives and the traffic inside the contract is dropped in its place: a customer who stays below the committed rate pays for one who does not. Nothing shows it while the queue is short; under congestion the wrong packets go.";
    fix "Give AFx1 the highest minimum threshold and AFx3 the lowest; keep the maximum and the drop probability of AFx1 no stricter than those of AFx2 and AFx3.";
    from "RFC 2597, section 2: packets of lower drop precedence must not be dropped with larger probability";
}

/// A lower drop precedence must not be worse off than a higher one.
fn order(v: &mut View<'_>, q: &Queue<'_>, aqm: &PlacedAqm, wred: &WredSpec) {
    let Some((limit, rate)) = table(q, wred).filter(|_| wred.by == WredBy::Dscp) else {
        return;
    };
    let dscps = q.set.as_ref().map(|s| s.dscps()).or_else(|| q.dscps());
    let dscps = dscps.unwrap_or(0);
    for class in 1..=4_u8 {
        let af = |drop: u8| Dscp::new(8 * class + 2 * drop).filter(|d| dscps >> d.value() & 1 != 0);
        for (low, high) in [(1, 2), (1, 3), (2, 3)] {
            let (Some(low), Some(high)) = (af(low), af(high)) else {
                continue;
            };
            let (a, b) = (
                wred.profile(low, limit, rate),
                wred.profile(high, limit, rate),
            );
            let worse = a.min < b.min
                || a.max < b.max
                || (a.min == b.min && a.max == b.max && a.denominator < b.denominator);
            if worse {
                let shown = |p: WredProfile| format!("{} to {}, 1/{}", p.min, p.max, p.denominator);
                let message = format!(
                    "{low} ({}) is dropped before {high} ({})",
                    shown(a),
                    shown(b)
                );
                let key = [low, high]
                    .into_iter()
                    .find(|d| wred.dscp.contains_key(d))
                    .map_or_else(|| aqm.key.clone(), |d| format!("{}dscp.{d}", aqm.prefix));
                v.hit(&AF_ORDER, q.class, &key, message);
                break;
            }
        }
    }
}

rule_text! { CODEL_TARGET = "SG-A008", "codel-target-below-packet", Warning, "The target of CoDel is shorter than one packet takes at the queue's rate";
    why "CoDel calls a queue bad when packets have waited longer than `target` for a whole `interval`. Whoever finds one full-sized packet waiting waits for its transmission; at a low rate that alone is longer than the usual target of 5 ms: at 1 Mb/s it is 12 ms.\n\nThe queue is then bad as soon as two packets wait, however well the senders behave. CoDel drops more and more often, connections never keep the link busy, and throughput is lost without any queue that was worth draining.";
    fix "Write a `target` of one and a half packet times or more, and raise `interval` with it if round-trip times are longer than 100 ms.";
    from "RFC 8289 on the target and links of low rate; tc-fq_codel(8), `target`";
}

/// A packet that finds another one waits at least for its transmission.
fn target(v: &mut View<'_>, q: &Queue<'_>, codel: &CodelSpec, prefix: &str) {
    if let Some(message) = q.rate.and_then(|r| short_target(codel, r, &q.what)) {
        v.hit(&CODEL_TARGET, q.class, &format!("{prefix}target"), message);
    }
}

fn short_target(codel: &CodelSpec, rate: Rate, whose: &str) -> Option<String> {
    let one = (8 * FULL) as f64 / rate.bps() as f64;
    (codel.target.as_secs_f64() < one).then(|| {
        format!(
            "the target of {} is less than the {} that one packet of {FULL} B takes at the {rate} of {whose}",
            codel.target,
            time(one)
        )
    })
}

rule_text! { WRED_DEAF = "SG-A006", "wred-without-reaction", Warning, "Early drops hit traffic that does not slow down for them";
    why "Random early detection tells senders to slow down before the queue is full. It helps when the senders listen, as TCP does. Constant-rate speech, video over UDP and network control do not: every early drop is a lost packet that buys nothing, since the offered rate stays the same.\n\nFor such a class a short queue with tail drop, or a priority queue with a policer, loses fewer packets at the same delay.";
    fix "Take `random-detect` out of the class, or move the traffic that reacts into a class of its own.";
    from "RFC 7567, section 3 (flows that do not respond to congestion); RFC 3246: EF is served at a configured rate, with small buffers";
}

rule_text! { ECN_UNUSED = "SG-A007", "ecn-without-capable-traffic", Note, "ECN is on in a class whose traffic does not negotiate it";
    why "Marking in place of dropping needs senders that set ECT in the IP header (RFC 3168) and receivers that echo the mark. For packets without it the class drops as if `ecn` were not there.\n\nThe configuration then promises a loss-free class that it is not.";
    fix "Turn on ECN in the connections (`tcp: {ecn: classic}`), or leave `ecn` out.";
    from "RFC 3168, sections 5 and 6";
}

/// Which flows react to an early drop.
fn reaction(v: &mut View<'_>, q: &Queue<'_>, aqm: &PlacedAqm) {
    // RIO separates packets in profile from others, whatever their flow. CoDel in the queue of an
    // unresponsive flow drops no packets of others (RFC 8290, section 4.1).
    let apart = matches!(aqm.spec, AqmSpec::Rio(_) | AqmSpec::AdaptiveRio(_))
        || (matches!(aqm.spec, AqmSpec::Codel(_)) && q.place.by_flow);
    // A default of marking says nothing about the flows.
    let marks = match &aqm.spec {
        AqmSpec::Codel(codel) => {
            codel.ce_threshold.is_some() || (codel.ecn && aqm.key.ends_with("aqm"))
        }
        other => other.ecn(),
    };
    match &q.flows {
        Some(flows) if !flows.is_empty() => {
            let capable = flows.iter().any(|l| l.ecn);
            if !flows.iter().any(|l| l.reacts) {
                if !apart {
                    let message = match flows.len() {
                        1 => format!(
                            "the flow of {} does not slow down for an early drop",
                            q.what
                        ),
                        n => format!(
                            "none of the {n} flows of {} slows down for an early drop",
                            q.what
                        ),
                    };
                    v.hit(&WRED_DEAF, q.class, &aqm.key, message);
                }
            } else if marks && !capable {
                let message = format!("{} marks, but no flow of it negotiates ECN", q.what);
                v.hit(&ECN_UNUSED, q.class, &aqm.key, message);
            }
        }
        Some(_) => {}
        None => {
            let Some(set) = q.set.as_ref().filter(|s| !s.is_empty() && !apart) else {
                return;
            };
            let deaf = DEAF.iter().fold(0_u64, |bits, d| bits | 1 << d);
            let dscps = set.dscps();
            if (dscps != 0 && dscps & !deaf == 0) || !set.has_protocol(6) {
                let message = format!(
                    "{} has real-time or control traffic, which does not slow down for an early drop",
                    q.what
                );
                v.hit(&WRED_DEAF, q.class, &aqm.key, message);
            }
        }
    }
}

rule_text! { BELOW_PACKET = "SG-A009", "threshold-below-packet", Warning, "The maximum threshold of an AQM, in bytes, is below one of the packets that come";
    why "Thresholds in bytes are compared with the bytes that wait. A maximum below the length of one packet, as its link counts it, is passed as soon as a single packet waits for some time: from then on everything is dropped, and no queue ever forms that could be managed. Usually a number of packets was written where bytes are counted.";
    fix "Write the thresholds in bytes of several packets, or count packets (`unit: packets`).";
    from "Floyd and Jacobson, \"Random Early Detection Gateways\", 1993, sections 4 and 6: thresholds are averages of several packets";
}

/// Thresholds in bytes that are smaller than an arriving packet.
fn below_packet(v: &mut View<'_>, q: &Queue<'_>, aqm: &PlacedAqm) {
    let (Some((longest, _)), Some(rate)) = (q.lengths(), q.rate) else {
        return;
    };
    let dscps = q.dscps().unwrap_or(0);
    let met = |of: &[Dscp]| of.is_empty() || of.iter().any(|d| dscps >> d.value() & 1 != 0);
    let all = aqm.spec.thresholds(q.table_limit(), rate);
    let short = all.iter().filter(|t| t.in_bytes && met(&t.dscp));
    let least = short.map(|t| t.max).reduce(f64::min);
    if let Some(max) = least.filter(|max| *max < f64::from(longest)) {
        let key = match &aqm.spec {
            AqmSpec::Red(_) => format!("{}max_th", aqm.prefix),
            _ => aqm.key.clone(),
        };
        let message = format!(
            "the maximum of {} B is less than one packet: those that come to {} have up to {longest} B",
            rough_plain(max),
            q.what
        );
        v.hit(&BELOW_PACKET, q.class, &key, message);
    }
}

rule_text! { SHARED_MAXIMUM = "SG-A010", "wred-shared-maximum", Warning, "In an overload WRED drops every precedence of an AF class alike";
    why "Below the maximum threshold WRED drops at most what its probability says, a tenth by default, and more of AFx3 than of AFx1. When senders that do not slow down offer more than the queue can send, that is not enough: the average rises until it reaches the maximum. Where the drop precedences share one maximum, everything is dropped there, whatever its mark, and the traffic within the contract loses as much as the excess.\n\nSo it is with the defaults of Cisco IOS: AF11, AF12 and AF13 have minima of 32, 28 and 24 packets, and one maximum of 40.";
    fix "Give AFx3 the lowest maximum and AFx1 the highest, each above the next one's, so that the excess is gone before the rest is touched; or police the excess away.";
    from "RFC 2597, section 2: packets of lower drop precedence are kept in congestion; Cisco IOS QoS command reference, `random-detect dscp`, default thresholds";
}

/// The drop precedences of an AF class that share a maximum which the average reaches under this
/// load.
fn shared_maximum(
    v: &mut View<'_>,
    queues: &[Queue<'_>],
    q: &Queue<'_>,
    aqm: &PlacedAqm,
    wred: &WredSpec,
) {
    let (Some(flows), Some(own), Some(best), Some(whole)) = (&q.flows, q.rate, q.best, v.rate)
    else {
        return;
    };
    let Some((limit, rate_of_table)) = table(q, wred) else {
        return;
    };
    let sum = |flows: &[&crate::traffic::Load]| -> f64 {
        let deaf = flows.iter().filter(|l| !l.reacts);
        deaf.filter_map(|l| l.rate).sum()
    };
    let offered = sum(flows);
    // Packets that a policer drops before do not arrive here.
    let policed = q.class.and_then(|i| v.classes[i].spec.police.as_ref());
    if policed.is_some_and(|p| p.exceed.iter().any(|a| a == PoliceAction::Drop)) {
        return;
    }
    // A class has only its own share while others have packets to send.
    let elsewhere = queues.iter().filter(|o| o.class != q.class);
    let elsewhere: Vec<_> = elsewhere.flat_map(|o| o.flows.iter().flatten()).collect();
    let greedy = elsewhere.iter().any(|l| l.reacts && l.rate.is_none());
    let load: f64 = elsewhere.iter().filter_map(|l| l.rate).sum();
    let left = (whole.bps() as f64 - load).max(own.bps() as f64);
    let drains = if greedy { own.bps() as f64 } else { left }.min(best.bps() as f64);
    let dscps = q.dscps().unwrap_or(0);
    for class in 1..=4_u8 {
        let of = (1..=3_u8).filter_map(|drop| Dscp::new(8 * class + 2 * drop));
        let here: Vec<Dscp> = of.filter(|d| dscps >> d.value() & 1 != 0).collect();
        let profiles: Vec<WredProfile> = here
            .iter()
            .map(|d| wred.profile(*d, limit, rate_of_table))
            .collect();
        let Some(first) = profiles.first().filter(|_| here.len() > 1) else {
            continue;
        };
        let highest = profiles.iter().map(|p| 1.0 / f64::from(p.denominator));
        let highest = highest.reduce(f64::max).unwrap_or(1.0);
        // This share has to be dropped; below the maximum the probability is at most the highest
        // one.
        let excess = 1.0 - drains / offered.max(f64::MIN_POSITIVE);
        if excess <= highest || profiles.iter().any(|p| p.max != first.max) {
            continue;
        }
        let names: Vec<String> = here.iter().map(ToString::to_string).collect();
        let unit = if wred.unit.in_bytes() { "B" } else { "packets" };
        let message = format!(
            "{} share the maximum of {} {unit}, and flows that do not slow down offer {} {}, which can send {}: all of them lose alike",
            names.join(", "),
            first.max,
            q.what,
            rate(offered),
            rate(drains),
        );
        v.hit(&SHARED_MAXIMUM, q.class, &aqm.key, message);
    }
}
