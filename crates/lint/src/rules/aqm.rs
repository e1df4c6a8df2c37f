//! RED, WRED and CoDel.

use spillgate_core::math::{exp, ln};
use spillgate_core::{Dscp, Limit, Rate};
use spillgate_queueing::spec::{AqmSpec, CodelSpec, WredBy, WredProfile, WredSpec, WredUnit};

use crate::registry::{
    AF_ORDER, CODEL_TARGET, ECN_UNUSED, RED_MAX_P, RED_THRESHOLDS, RED_WEIGHT, WRED_ABOVE_LIMIT,
    WRED_DEAF,
};
use crate::view::{FULL, Hit, Spot, View, bytes, digits, time};

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

pub(super) fn check(v: &mut View<'_>) {
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
    let table = Table::of(v, i);
    let mut seen: Vec<WredProfile> = Vec::new();
    let mut profiles = Vec::new();
    let each = match wred.unit {
        WredUnit::Packets => 1.0,
        WredUnit::Bytes => FULL as f64,
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
