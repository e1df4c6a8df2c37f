//! What a packet's comment says: `key=value` words, so that filters find them.

use std::fmt::Write;

use spillgate_core::{Dropped, Packet, Time};
use spillgate_queueing::{BucketLevel, Cause, Evidence, Refused};
use spillgate_sim::tap::Place;

/// Names that stand in comments.
pub(super) struct CommentNames<'a> {
    pub(super) flow: &'a str,
    pub(super) class: &'a str,
    /// Name of the link.
    pub(super) link: &'a str,
    /// Name of the leaf, if the packet has come that far.
    pub(super) leaf: Option<&'a str>,
}

/// `flow=voice-3 packet=17 class=voice queue=wan/VOICE`.
pub(super) fn begin(out: &mut String, w: &CommentNames<'_>, packet: &Packet, answers: bool) {
    out.clear();
    let ack = if answers { "/ack" } else { "" };
    let _ = write!(
        out,
        "flow={}{ack} packet={} class={}",
        w.flow, packet.seq, w.class
    );
    if let Some(leaf) = w.leaf {
        let _ = write!(out, " queue={}/{leaf}", w.link);
    }
}

/// How long it waited.
pub(super) fn waited(out: &mut String, packet: &Packet, now: Time) {
    let us = now.since(packet.arrived).as_ps() as f64 / 1e6;
    let _ = write!(out, " waited_us={us:.3}");
}

/// What waits in its queue.
pub(super) fn queue(out: &mut String, packets: u32, bytes: u64) {
    let _ = write!(out, " queue_packets={packets} queue_bytes={bytes}");
}

/// Why it was dropped.
pub(super) fn lost(out: &mut String, place: &Place, dropped: &Dropped) {
    let _ = write!(out, " drop={}", dropped.reason.metric());
    match place {
        Place::Port(_, e) => evidence(out, e),
        Place::Input(_, _, e) => {
            out.push_str(" on=arrival");
            cause(out, e);
        }
        Place::Kept(_, e) => {
            out.push_str(" on=node");
            evidence(out, e);
        }
        Place::Wire(_) => out.push_str(" on=wire"),
        Place::Node => {}
    }
}

fn evidence(out: &mut String, e: &Evidence) {
    queue(out, e.queue_packets, e.queue_bytes);
    if let Some(n) = e.limit.packets {
        let _ = write!(out, " limit_packets={n}");
    }
    if let Some(n) = e.limit.bytes {
        let _ = write!(out, " limit_bytes={n}");
    }
    cause(out, e);
}

/// What decided beside the queue.
fn cause(out: &mut String, e: &Evidence) {
    match e.cause {
        Cause::Plain => {}
        Cause::Aqm(o) => {
            let _ = write!(
                out,
                " average={:.6} min={} max={} probability={:.6}",
                o.average, o.min, o.max, o.probability
            );
            if let Some(count) = o.count {
                let _ = write!(out, " count={count}");
            }
            if let Some(draw) = o.draw {
                let _ = write!(out, " draw={draw:.6}");
            }
        }
        Cause::Delay(o) => {
            let _ = write!(
                out,
                " delay={:.12} target={:.12} probability={:.6}",
                o.delay.as_secs_f64(),
                o.target.as_secs_f64(),
                o.probability
            );
            if let Some(sum) = o.sum {
                let _ = write!(out, " sum={sum:.6}");
            }
            if let Some(draw) = o.draw {
                let _ = write!(out, " draw={draw:.6}");
            }
        }
        Cause::Coupled(o) => {
            let _ = write!(
                out,
                " l4s={} delay={:.12} target={:.12} base={:.6} probability={:.6} native={:.6} waited={:.12}",
                o.l4s,
                o.delay.as_secs_f64(),
                o.target.as_secs_f64(),
                o.base,
                o.probability,
                o.native,
                o.waited.as_secs_f64()
            );
            if let Some(draw) = o.draw {
                let _ = write!(out, " draw={draw:.6}");
            }
        }
        Cause::Chance(o) => {
            for fact in o.by.facts() {
                let _ = write!(out, " {}={:.6}", fact.key, fact.value);
            }
            let _ = write!(out, " probability={:.6}", o.probability);
            if let Some(draw) = o.draw {
                let _ = write!(out, " draw={draw:.6}");
            }
        }
        Cause::Waited(w) => {
            let _ = write!(
                out,
                " waited={:.12} target={:.12}",
                w.waited.as_secs_f64(),
                w.target.as_secs_f64()
            );
            if let Some(count) = w.count {
                let _ = write!(out, " count={count}");
            }
            if let Some(due) = w.due {
                let _ = write!(out, " due={:.12}", due.as_secs_f64());
            }
        }
        Cause::Policer { committed, excess } => {
            out.push_str(" policer=class");
            bucket(out, "", committed);
            if let Some(b) = excess {
                bucket(out, "excess_", b);
            }
        }
        Cause::Marker(m) => {
            let _ = write!(
                out,
                " policer=window average={:.6} rate={}",
                m.average, m.committed
            );
            if let Some(peak) = m.peak {
                let _ = write!(out, " peak_rate={peak}");
            }
            if let Some(draw) = m.draw {
                let _ = write!(out, " draw={draw:.6}");
            }
        }
        Cause::PriorityPolicer(b) => {
            out.push_str(" policer=priority");
            bucket(out, "", b);
        }
        Cause::LongerThanBurst(burst) => {
            let _ = write!(out, " shaper_burst={burst}");
        }
        Cause::Threshold { dscp, limit } => {
            let _ = write!(out, " threshold_dscp={dscp}");
            if let Some(n) = limit.packets {
                let _ = write!(out, " threshold_packets={n}");
            }
            if let Some(n) = limit.bytes {
                let _ = write!(out, " threshold_bytes={n}");
            }
        }
        Cause::Flow { packets, bytes, .. } => {
            let _ = write!(out, " flow_packets={packets} flow_bytes={bytes}");
        }
        Cause::Admission(r) => {
            let _ = write!(
                out,
                " refused={} mechanism={} fair_rate={} min_fair_rate={} priority_load={:.6} max_priority_load={:.6}",
                r.why.name(),
                r.mechanism,
                r.fair_rate,
                r.min_fair_rate,
                r.priority_load,
                r.max_priority_load
            );
            if let Refused::Blocked { until } = r.why {
                let _ = write!(out, " blocked_until={:.12}", until.as_secs_f64());
            }
        }
    }
}

fn bucket(out: &mut String, prefix: &str, b: BucketLevel) {
    let _ = write!(
        out,
        " {prefix}tokens={} {prefix}burst={} {prefix}rate={}",
        b.tokens, b.burst, b.bps
    );
}
