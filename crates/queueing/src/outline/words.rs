//! Sentences about policies and their classes, made here once for every face.

use spillgate_core::{Limit, Rate, RateOrPercent, show};

use super::condition::{condition, does};
use super::{AdmissionLimits, Bucket, Class, Thresholds};
use crate::leaf::Bound;
use crate::sched::flow_wfq::{CdtPolicy, FlowWeights};
use crate::spec::{
    ClassBasedSpec, ClassScheduler, ClassSpec, FairQueueSpec, MatchSpec, PoliceSpec, PolicingWhen,
};

fn rate(bps: f64) -> String {
    show::value(bps, "b/s")
}

fn size(bytes: u64) -> String {
    show::value(bytes as f64, "B")
}

/// A limit as written, a time with its bytes.
pub(super) fn limit(limit: Limit, rate: Option<Rate>) -> String {
    match (limit, rate) {
        (Limit::Time(t), Some(rate)) => format!("{limit} ({})", size(rate.bytes_in(t))),
        _ => limit.to_string(),
    }
}

pub(super) fn bound(bound: &Bound) -> String {
    let packets = bound.max_packets().map(|n| format!("{n} packets"));
    let bytes = (bound.bytes < u64::MAX).then(|| size(bound.bytes));
    let parts: Vec<String> = packets.into_iter().chain(bytes).collect();
    parts.join(", ")
}

pub(super) fn fair_queue(f: &FairQueueSpec) -> String {
    let alike = match f.weights {
        FlowWeights::Equal => ", all flows alike",
        FlowWeights::Precedence => "",
    };
    let (queues, each, all) = (f.queues, f.threshold, f.hold_queue);
    let at_threshold = match f.cdt_policy {
        CdtPolicy::WorstSn => format!(
            "from {each} on one takes only places of others' packets that would leave later"
        ),
        CdtPolicy::BlockQuarter => {
            format!("each at most {each}, and then none until a quarter is left")
        }
        CdtPolicy::TailDrop => format!("each at most {each}"),
    };
    format!("{queues} conversations, {all} packets in all; {at_threshold}{alike}")
}

/// Which packets belong to a class.
pub(super) fn packets(class: &Class<'_>) -> String {
    match &class.spec.matching {
        _ if class.is_default() => "everything else".to_owned(),
        Some(m) => condition(m),
        None => condition(&MatchSpec::default()),
    }
}

/// What a class writes into its packets, and whether it drops them all.
pub(super) fn marks(c: &ClassSpec) -> Vec<String> {
    let found = "after the class is found";
    let all = [
        c.set_dscp.map(|d| format!("set dscp {d}, {found}")),
        c.set_exp
            .map(|n| format!("set exp {n} of the top label, {found}")),
        c.set_exp_imposition
            .map(|n| format!("set exp {n} of labels that are put on later")),
        c.set_cos.map(|n| format!("set cos {n} of the 802.1Q tag")),
        c.set_qos_group
            .map(|n| format!("set qos-group {n}, until it leaves the router")),
        c.police
            .as_ref()
            .filter(|p| p.drops_all())
            .map(|_| "drops every packet".to_owned()),
    ];
    all.into_iter().flatten().collect()
}

/// What the packets of a class are promised.
pub(super) fn promise(class: &Class<'_>) -> String {
    if !class.division.queued {
        return "no queue of its own: waits with class-default".to_owned();
    }
    let own = class.guaranteed().map(|r| rate(r.bps() as f64));
    let Some(p) = &class.spec.priority else {
        if let Some(level) = class.division.level {
            return format!("goes before all that follow, level {level}, without a bound");
        }
        return match own {
            _ if class.division.spare && class.around.is_some() => {
                "gets nothing while the others wait, which are promised everything".to_owned()
            }
            Some(own) => format!("gets {own} while all wait"),
            None => "gets a share of an unknown rate".to_owned(),
        };
    };
    let when = match p.police {
        PolicingWhen::Conditional => " while anything waits",
        PolicingWhen::Always => "",
    };
    let police = class.spec.police.as_ref();
    let bound = match own {
        Some(own) => format!("up to {own}{when}"),
        None if p.rate.is_some() => format!("up to a share of an unknown rate{when}"),
        None if police.is_some_and(|p| !p.drops_all()) => "bounded by the policer alone".to_owned(),
        None => "without a bound".to_owned(),
    };
    format!("strict priority, level {}, {bound}", p.level)
}

/// How the classes of a policy share; empty where that is as a router does it.
pub(super) fn sharing(spec: &ClassBasedSpec) -> String {
    match spec.scheduler {
        ClassScheduler::Scfq => String::new(),
        other => format!("shares by {}", other.name()),
    }
}

/// The share that a class asks for.
pub(super) fn asked(c: &ClassSpec) -> String {
    if let Some(p) = &c.priority {
        let rate = p.rate.map(|r| format!(" {r}")).unwrap_or_default();
        return format!("priority{rate}");
    }
    if let Some(b) = c.bandwidth {
        return format!("bandwidth {b}");
    }
    if let Some(p) = c.bandwidth_remaining {
        return format!("{p} of the rest");
    }
    match c.bandwidth_remaining_ratio {
        Some(1) => "1 part of the rest".to_owned(),
        Some(n) => format!("{n} parts of the rest"),
        None => String::new(),
    }
}

/// A token bucket of what is asked for.
pub(super) fn bucket(b: &Bucket, asked: RateOrPercent) -> String {
    let mut text = match (asked, b.rate) {
        (RateOrPercent::Percent(_), Some(bps)) => format!("{} ({asked})", rate(bps as f64)),
        _ => asked.to_string(),
    };
    if let Some(burst) = b.burst {
        text += &format!(", burst {burst} B");
    }
    if let Some(peak) = b.peak_rate {
        text += &format!(", peak {}", rate(peak as f64));
    }
    if let Some(burst) = b.excess_burst {
        let which = if b.peak_rate.is_some() {
            "peak"
        } else {
            "excess"
        };
        text += &format!(", {which} burst {burst} B");
    }
    text
}

pub(super) fn policer(b: &Bucket, p: &PoliceSpec) -> String {
    let whose = if p.per_flow {
        "police each flow to"
    } else {
        "police"
    };
    format!("{whose} {}: {}", bucket(b, p.rate), does(p))
}

pub(super) fn priority_policer(b: &Bucket, asked: RateOrPercent, when: PolicingWhen) -> String {
    let when = match when {
        PolicingWhen::Conditional => " while anything waits",
        PolicingWhen::Always => "",
    };
    format!("policer {}: drops what exceeds it{when}", bucket(b, asked))
}

/// Thresholds of packets that are named after `by`, if they need a name.
pub(super) fn thresholds(t: &Thresholds, by: Option<&str>) -> String {
    let mut names: Vec<String> = match by {
        Some("precedence") => t.dscp.iter().map(|d| d.precedence().to_string()).collect(),
        _ => t.dscp.iter().map(ToString::to_string).collect(),
    };
    names.dedup();
    let of = match by {
        Some(by) if !names.is_empty() => format!("{by} {}: ", names.join(", ")),
        _ => String::new(),
    };
    let unit = if t.in_bytes { "B" } else { "packets" };
    let ends = match t.min.is_nan() {
        true => "unknown: times, or shares of one, at an unknown rate".to_owned(),
        false if t.min >= t.max => format!(
            "{} % above {} {unit}",
            show::plain(100.0 * t.probability),
            show::plain(t.max)
        ),
        false => format!(
            "{} to {} {unit}, up to {} %",
            show::plain(t.min),
            show::plain(t.max),
            show::plain(100.0 * t.probability)
        ),
    };
    let default = if t.written { "" } else { " (default)" };
    format!("{of}{ends}{default}")
}

/// When new flows are admitted.
pub(super) fn admission(a: &AdmissionLimits) -> String {
    let shared = a
        .protected_list
        .as_ref()
        .map(|list| format!(", protected list {list}"));
    format!(
        "admission of flows ({}) at a fair rate of at least {} and a priority load of at most {} %{}",
        a.mechanism,
        rate(a.min_fair_rate),
        show::plain(100.0 * a.max_priority_load),
        shared.unwrap_or_default()
    )
}
