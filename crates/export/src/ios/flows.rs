//! Queues by flow that IOS does not have, as its flow-based WFQ.

use serde::Serialize;
use spillgate_core::{Limit, Rate};
use spillgate_queueing::Longest;
use spillgate_queueing::aqm::CodelSpec;
use spillgate_queueing::spec::{
    ClassSpec, DrrSpec, DualPi2Spec, FairQueueSpec, FairSpec, FanSpec, FifoSpec, FlowWeights,
    FqCodelSpec, FqPieSpec, FqSpec, SfqSpec, WfqSpec, WfqWeights,
};

use crate::Here;
use crate::limits::in_packets;
use crate::settings::{changed_after, no_admission, no_queue_of, shown};

/// Packets that one conversation may hold at most: no threshold.
const MOST: u32 = 4096;
/// Packets that `hold-queue` takes.
pub(super) const HOLD_QUEUE: std::ops::RangeInclusive<u32> = 1..=240_000;

/// Packets for `hold-queue`, if it can express the limit.
pub(super) fn hold_queue(limit: Limit, rate: Option<Rate>, notes: &mut Here<'_>) -> Option<u32> {
    let packets = in_packets(limit, rate, "hold-queue", notes)?;
    let packets = u32::try_from(packets).unwrap_or(u32::MAX);
    if !HOLD_QUEUE.contains(&packets) {
        let (least, most) = HOLD_QUEUE.into_inner();
        notes.add(format!(
            "hold-queue takes {least} to {most} packets, not {packets}"
        ));
    }
    Some(packets.clamp(*HOLD_QUEUE.start(), *HOLD_QUEUE.end()))
}

/// Conversations for flows, and a note on how they are sorted into them.
fn conversations(flows: Option<u32>, notes: &mut Here<'_>) -> u16 {
    let all = FairQueueSpec::default().queues;
    let Some(flows) = flows else {
        notes.add(format!(
            "flows are hashed into {all} conversations, where each had a queue of its own"
        ));
        return all;
    };
    let near = flows.clamp(16, 4096).next_power_of_two() as u16;
    if u32::from(near) != flows {
        notes.add(format!(
            "flows are hashed into {near} conversations, not into {flows} queues"
        ));
    }
    near
}

/// A fair queue of this limit in which no flow has a threshold of its own.
fn unthreatened(limit: Option<u32>) -> FairQueueSpec {
    let defaults = FairQueueSpec::default();
    let hold_queue = limit.unwrap_or(defaults.hold_queue);
    FairQueueSpec {
        threshold: hold_queue.min(MOST) as u16,
        hold_queue,
        ..defaults
    }
}

fn weights(weights: WfqWeights) -> FlowWeights {
    match weights {
        WfqWeights::Equal => FlowWeights::Equal,
        WfqWeights::Precedence => FlowWeights::Precedence,
    }
}

/// The parameters that are left out, after a semicolon.
fn without<T: Serialize + Default>(spec: &T, told: &[&str]) -> String {
    changed_after("; left out: ", spec, told)
}

/// For WFQ as PGPS.
pub(super) fn wfq(w: &WfqSpec, rate: Option<Rate>, notes: &mut Here<'_>) -> FairQueueSpec {
    notes.add("WFQ by flow as PGPS is not a queue of IOS: flow-based WFQ stands for it, in which a flow at its limit gives the packet of all that would leave last, not what arrives");
    let flow = in_packets(w.limit, rate, "fair-queue", notes);
    let threshold = flow.map_or(64, |n| n.min(MOST.into()) as u16);
    if flow.is_some_and(|n| n > MOST.into()) {
        notes.add(format!(
            "a conversation holds {MOST} packets at most, not {}",
            w.limit
        ));
    }
    FairQueueSpec {
        queues: conversations(None, notes),
        threshold,
        weights: weights(w.weights),
        ..unthreatened(hold_queue(w.hold_queue, rate, notes))
    }
}

/// For DRR.
pub(super) fn drr(d: &DrrSpec, rate: Option<Rate>, notes: &mut Here<'_>) -> FairQueueSpec {
    notes.add(format!(
        "IOS has no DRR: fair-queue stands for it{}",
        without(d, &["limit", "queues", "weights"])
    ));
    FairQueueSpec {
        queues: conversations(d.queues, notes),
        weights: weights(d.weights),
        ..unthreatened(hold_queue(d.limit, rate, notes))
    }
}

/// For a fair queue that serves new flows first.
pub(super) fn fq(f: &FqSpec, rate: Option<Rate>, notes: &mut Here<'_>) -> FairQueueSpec {
    notes.add(format!(
        "IOS has no fair queue that serves new flows first: fair-queue stands for it{}",
        without(f, &["limit", "queues"])
    ));
    FairQueueSpec {
        queues: conversations(f.queues, notes),
        weights: FlowWeights::Equal,
        ..unthreatened(hold_queue(f.limit, rate, notes))
    }
}

/// For the fair queue by flow of a class, if it has one that IOS lacks.
pub(super) fn of_class(
    c: &ClassSpec,
    rate: Option<Rate>,
    notes: &mut Here<'_>,
) -> Option<FairQueueSpec> {
    match c {
        ClassSpec { drr: Some(d), .. } => Some(drr(d, rate, notes)),
        ClassSpec { fair: Some(f), .. } => Some(fair(f, rate, notes)),
        ClassSpec { fq: Some(f), .. } => Some(fq(f, rate, notes)),
        ClassSpec {
            fq_codel: Some(f), ..
        } => Some(fq_codel(f, rate, notes)),
        ClassSpec { sfq: Some(s), .. } => Some(sfq(s, rate, notes)),
        ClassSpec {
            fq_pie: Some(f), ..
        } => Some(fq_pie(f, rate, notes)),
        _ => {
            if let Some(d) = &c.dualpi2 {
                notes.add(format!("{NO_DUALPI2}{}", without(d, &[])));
            } else if let Some(cake) = &c.cake {
                let stands = "IOS has no CAKE: one queue stands for it";
                notes.add(format!("{stands}{}", without(cake, &[])));
            } else if let Some(kind) = c.flow_queue_kind() {
                notes.add(no_queue_of("IOS", kind));
            }
            None
        }
    }
}

/// For FQ-CoDel.
pub(super) fn fq_codel(f: &FqCodelSpec, rate: Option<Rate>, notes: &mut Here<'_>) -> FairQueueSpec {
    notes.add(format!(
            "IOS has no FQ-CoDel: fair-queue stands for it, which drops at its limit only and knows no new flows{}",
            without(f, &["limit", "flows"])
        ));
    FairQueueSpec {
        queues: conversations(Some(f.flows), notes),
        weights: FlowWeights::Equal,
        ..unthreatened(hold_queue(f.limit, rate, notes))
    }
}

/// For FQ-PIE.
pub(super) fn fq_pie(f: &FqPieSpec, rate: Option<Rate>, notes: &mut Here<'_>) -> FairQueueSpec {
    notes.add(format!(
            "IOS has no FQ-PIE: fair-queue stands for it, which drops at its limit only and knows no new flows{}",
            without(f, &["limit", "flows"])
        ));
    FairQueueSpec {
        queues: conversations(Some(f.flows), notes),
        weights: FlowWeights::Equal,
        ..unthreatened(hold_queue(f.limit, rate, notes))
    }
}

/// For SFQ.
pub(super) fn sfq(s: &SfqSpec, rate: Option<Rate>, notes: &mut Here<'_>) -> FairQueueSpec {
    notes.add(format!(
        "fair-queue of IOS, in which the packet that would leave last gives, stands for SFQ{}",
        without(s, &["limit", "divisor"])
    ));
    FairQueueSpec {
        queues: conversations(Some(s.divisor), notes),
        weights: FlowWeights::Equal,
        ..unthreatened(hold_queue(s.limit, rate, notes))
    }
}

/// For packet fair queueing.
pub(super) fn fair(f: &FairSpec, rate: Option<Rate>, notes: &mut Here<'_>) -> FairQueueSpec {
    notes.add(format!(
        "fair-queue of IOS, which is SCFQ with thresholds, stands for `fair` ({}){}",
        f.scheduler.name(),
        without(f, &["limit", "queues", "weights", "scheduler"])
    ));
    FairQueueSpec {
        queues: conversations(f.queues, notes),
        weights: weights(f.weights),
        ..unthreatened(hold_queue(f.limit, rate, notes))
    }
}

/// For DualPI2: the queue that it is without its AQMs.
pub(super) fn dualpi2(d: &DualPi2Spec, notes: &mut Here<'_>) -> FifoSpec {
    notes.add(format!("{NO_DUALPI2}{}", without(d, &["limit"])));
    FifoSpec {
        limit: d.waiting_limit(),
        aqm: None,
        ..FifoSpec::default()
    }
}

const NO_DUALPI2: &str =
    "IOS has no DualPI2: one queue stands for it, which drops at its limit only";

/// For the fair queue of a cross-protect router.
pub(super) fn fan(f: &FanSpec, rate: Option<Rate>, notes: &mut Here<'_>) -> FairQueueSpec {
    notes.add(format!("IOS has {}", no_admission(f)));
    notes.add(format!(
            "flow-based WFQ stands for the fair queue behind the admission, scheduler {}: flows below the fair rate have no priority for `mtu` {} each",
            shown(&f.scheduler),
            f.unit(Longest::default())
        ));
    FairQueueSpec {
        queues: conversations(None, notes),
        weights: FlowWeights::Equal,
        ..unthreatened(hold_queue(f.limit, rate, notes))
    }
}

/// CoDel is left out.
pub(super) fn no_codel(c: &CodelSpec, notes: &mut Here<'_>) {
    notes.add(format!(
        "IOS has no CoDel: the queue drops at its limit only{}",
        without(c, &[])
    ));
}
