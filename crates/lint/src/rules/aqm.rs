//! RED, WRED and CoDel.

use spillgate_core::math::{exp, ln};
use spillgate_core::{Dscp, Limit, Rate};
use spillgate_queueing::spec::{AqmSpec, CodelSpec, WredBy, WredProfile, WredSpec, WredUnit};

use super::Ask;
use crate::registry::rule_text;
use crate::view::{FULL, Hit, Spot, View, bytes, digits, time};

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
    ],
    check,
)];

/// Code points of traffic that does not slow down: EF, voice-admit, real-time, control.
const DEAF: [u8; 5] = [46, 44, 32, 48, 56];

/// A pair of thresholds with where it was written.
struct Profile {
    key: String,
    what: String,
    /// In packets, of full size if the thresholds are in bytes.
    min: f64,
    max: f64,
    max_p: f64,
    /// Whether the user wrote it; defaults are not judged by taste.
    written: bool,
}

/// What default thresholds may be shares of.
struct Table {
    limit: Limit,
    rate: Rate,
}

impl Table {
    fn of(v: &View<'_>, i: usize) -> Self {
        let c = &v.classes[i];
        Self {
            limit: c.spec.waiting_limit(),
            rate: c.division.guaranteed.unwrap_or(c.division.inner.rate),
        }
    }
}

fn check(v: &mut View<'_>) {
    for i in 0..v.classes.len() {
        let spec = v.classes[i].spec;
        if let Some((key, AqmSpec::Codel(codel))) = &spec.managed_by() {
            target(v, i, codel, &format!("{key}target"));
        }
        // Thresholds are of the whole queue.
        let Some(aqm) = spec.aqm.clone() else {
            continue;
        };
        let (profiles, weight, ecn) = match &aqm {
            AqmSpec::Red(red) => {
                let red = red.rules();
                let profile = Profile {
                    key: "aqm.red".to_owned(),
                    what: "RED".to_owned(),
                    min: red.min_th,
                    max: red.max_th,
                    max_p: red.max_p,
                    written: true,
                };
                (vec![profile], red.weight, red.ecn)
            }
            AqmSpec::Wred(wred) => {
                let n = i32::from(wred.exponential_weighting_constant);
                (
                    in_force(v, i, wred),
                    spillgate_core::math::pow(2.0, -f64::from(n)),
                    wred.ecn,
                )
            }
            AqmSpec::Codel(codel) => {
                reaction(v, i, codel.ecn || codel.ce_threshold.is_some());
                continue;
            }
            _ => continue,
        };
        limits(v, i, &profiles);
        for p in profiles.iter().filter(|p| p.written) {
            guidance(v, i, p);
        }
        if let Some(rate) = v.classes[i]
            .division
            .guaranteed
            .filter(|_| v.rate.is_some())
        {
            memory(v, i, weight, rate);
        }
        if let AqmSpec::Wred(wred) = &aqm {
            order(v, i, wred);
        }
        reaction(v, i, ecn);
    }
}

/// The profiles that packets of a class meet, alike ones once.
fn in_force(v: &View<'_>, i: usize, wred: &WredSpec) -> Vec<Profile> {
    let Some(set) = &v.classes[i].set else {
        return Vec::new();
    };
    if wred.unit == WredUnit::Ms && v.rate.is_none() {
        return Vec::new();
    }
    let table = Table::of(v, i);
    let mut seen: Vec<WredProfile> = Vec::new();
    let mut profiles = Vec::new();
    let each = if wred.unit.in_bytes() {
        FULL as f64
    } else {
        1.0
    };
    for dscp in (0..64).filter_map(Dscp::new) {
        if set.dscps() >> dscp.value() & 1 == 0 {
            continue;
        }
        let profile = wred.profile(dscp, table.limit, table.rate);
        if seen.contains(&profile) {
            continue;
        }
        seen.push(profile);
        let (key, what, written) = match wred.by {
            WredBy::Dscp => (
                format!("aqm.wred.dscp.{dscp}"),
                format!("WRED of {dscp}"),
                wred.dscp.contains_key(&dscp),
            ),
            WredBy::Precedence => (
                format!("aqm.wred.precedence.{}", dscp.precedence()),
                format!("WRED of precedence {}", dscp.precedence()),
                wred.precedence.contains_key(&dscp.precedence()),
            ),
        };
        profiles.push(Profile {
            key,
            what,
            min: f64::from(profile.min) / each,
            max: f64::from(profile.max) / each,
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

fn limits(v: &mut View<'_>, i: usize, profiles: &[Profile]) {
    let c = &v.classes[i];
    let Some(limit) = c.limit() else { return };
    let own = match (limit, v.rate) {
        (Limit::Packets(n), _) => f64::from(n),
        (Limit::Bytes(n), _) => n as f64 / FULL as f64,
        (Limit::Time(_), Some(whole)) => {
            bytes(limit, c.division.guaranteed.unwrap_or(whole)) as f64 / FULL as f64
        }
        (Limit::Time(_), None) => return,
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
        digits(p.max),
        digits(own)
    );
    v.hit(&WRED_ABOVE_LIMIT, Some(i), &p.key, message);
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

fn guidance(v: &mut View<'_>, i: usize, p: &Profile) {
    if p.max < 3.0 * p.min {
        let message = format!(
            "{}: maximum {} is {} times minimum {}; the guidance is three times",
            p.what,
            digits(p.max),
            digits(p.max / p.min.max(1e-9)),
            digits(p.min)
        );
        v.hit(&RED_THRESHOLDS, Some(i), &p.key, message);
    }
    if !(0.01..=0.5).contains(&p.max_p) {
        let message = format!(
            "{}: {} % of the packets are dropped at the maximum; the guidance is 10 %",
            p.what,
            digits(p.max_p * 100.0)
        );
        v.hit(&RED_MAX_P, Some(i), &p.key, message);
    }
}

rule_text! { RED_WEIGHT = "SG-A005", "red-average-memory", Note, "The average of RED follows the queue within less than 10 ms or over more than 10 s";
    why "The weight of a sample decides how long the average remembers: about 1/weight packets, each of which takes a packet's time on the link. RED reacts to congestion that lasts several round-trip times and lets shorter bursts pass; round-trip times are between some milliseconds and some hundred.\n\nA memory below 10 ms makes the average the queue itself: bursts are dropped although the queue would have drained. A memory above 10 s is still empty when the queue has been full for seconds, and stays high long after the queue is gone.";
    fix "Choose the weight so that 1/weight packets take about one second, ten round-trip times of 100 ms: 1 - exp(-1/C) for C packets per second.";
    from "Floyd, Gummadi and Shenker, \"Adaptive RED\", 2001, section 4.3; Floyd and Jacobson 1993, section 6";
}

fn memory(v: &mut View<'_>, i: usize, weight: f64, rate: Rate) {
    if !(weight > 0.0 && weight < 1.0) {
        return;
    }
    let packets_per_second = rate.bps() as f64 / (8 * FULL) as f64;
    let remembered = -1.0 / ln(1.0 - weight) / packets_per_second;
    if !(0.01..=10.0).contains(&remembered) {
        let advised = 1.0 - exp(-1.0 / packets_per_second);
        let message = format!(
            "the average of class {} remembers {} at {rate}; a weight of {advised:.2e} (an exponential weighting constant of {:.0}) makes it 1 s",
            v.classes[i].spec.name,
            time(remembered),
            -ln(advised) / ln(2.0)
        );
        v.hit(&RED_WEIGHT, Some(i), "aqm", message);
    }
}

rule_text! { AF_ORDER = "SG-A001", "af-precedence-inverted", Warning, "WRED drops a lower drop precedence of an AF class earlier than a higher one";
    why "The three code points of an assured-forwarding class differ in one thing: what is dropped first. A node must not drop a packet of drop precedence 1 with a higher probability than one of precedence 2, nor that one with a higher probability than precedence 3. Policers upstream mark what exceeds a contract AFx2 or AFx3 and count on it.\n\nWith the thresholds inverted the excess survives and the traffic inside the contract is dropped in its place: a customer who stays below the committed rate pays for one who does not. Nothing shows it while the queue is short; under congestion the wrong packets go.";
    fix "Give AFx1 the highest minimum threshold and AFx3 the lowest; keep the maximum and the drop probability of AFx1 no stricter than those of AFx2 and AFx3.";
    from "RFC 2597, section 2: packets of lower drop precedence must not be dropped with larger probability";
}

/// A lower drop precedence must not be worse off than a higher one.
fn order(v: &mut View<'_>, i: usize, wred: &WredSpec) {
    if wred.by != WredBy::Dscp {
        return;
    }
    let table = Table::of(v, i);
    let dscps = v.classes[i].set.as_ref().map_or(0, |s| s.dscps());
    for class in 1..=4_u8 {
        let af = |drop: u8| Dscp::new(8 * class + 2 * drop).filter(|d| dscps >> d.value() & 1 != 0);
        for (low, high) in [(1, 2), (1, 3), (2, 3)] {
            let (Some(low), Some(high)) = (af(low), af(high)) else {
                continue;
            };
            let (a, b) = (
                wred.profile(low, table.limit, table.rate),
                wred.profile(high, table.limit, table.rate),
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
                    .map_or_else(|| "aqm".to_owned(), |d| format!("aqm.wred.dscp.{d}"));
                v.hit(&AF_ORDER, Some(i), &key, message);
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

/// A packet that finds one other waits for that one's transmission at least.
fn target(v: &mut View<'_>, i: usize, codel: &CodelSpec, key: &str) {
    let Some(rate) = v.classes[i]
        .division
        .guaranteed
        .filter(|_| v.rate.is_some())
    else {
        return;
    };
    let whose = format!("class {}", v.classes[i].spec.name);
    if let Some(message) = short_target(codel, rate, &whose) {
        v.hit(&CODEL_TARGET, Some(i), key, message);
    }
}

/// The same for the only queue of a link.
pub(crate) fn target_of_link(
    name: &str,
    codel: &CodelSpec,
    key: &str,
    rate: Option<Rate>,
    whose: &str,
    hits: &mut Vec<Hit>,
) {
    if let Some(message) = rate.and_then(|r| short_target(codel, r, whose)) {
        hits.push(Hit {
            rule: &CODEL_TARGET,
            spot: Spot {
                policy: name.to_owned(),
                class: None,
                key: key.to_owned(),
            },
            message,
        });
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

/// Who hears an early drop.
fn reaction(v: &mut View<'_>, i: usize, ecn: bool) {
    let c = &v.classes[i];
    let name = c.spec.name.clone();
    match &c.flows {
        Some(flows) if !flows.is_empty() => {
            let capable = flows.iter().any(|l| l.ecn);
            if !flows.iter().any(|l| l.reacts) {
                let message = format!(
                    "none of the {} flows of class {name} slows down for an early drop",
                    flows.len()
                );
                v.hit(&WRED_DEAF, Some(i), "aqm", message);
            } else if ecn && !capable {
                let message = format!("class {name} marks, but no flow of it negotiates ECN");
                v.hit(&ECN_UNUSED, Some(i), "aqm", message);
            }
        }
        Some(_) => {}
        None => {
            let Some(set) = c.set.as_ref().filter(|s| !s.is_empty()) else {
                return;
            };
            let deaf = DEAF.iter().fold(0_u64, |bits, d| bits | 1 << d);
            let dscps = set.dscps();
            if (dscps != 0 && dscps & !deaf == 0) || !set.has_protocol(6) {
                let message = format!(
                    "class {name} has real-time or control traffic, which does not slow down for an early drop"
                );
                v.hit(&WRED_DEAF, Some(i), "aqm", message);
            }
        }
    }
}
