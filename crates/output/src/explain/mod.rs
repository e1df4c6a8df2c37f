//! Explanations of packets and drops as JSON, with names instead of numbers, and in words.
//!
//! Times are in picoseconds, as the simulator counts them, so that sums are exact; rates in bits a
//! second.

mod causes;
mod words;

pub use words::PARTS;

use serde_json::{Map, Value, json};
use spillgate_core::{Dur, Time};
use spillgate_queueing::{BucketLevel, Cause, Color, Evidence, FactUnit, QueueLimit, Refused};
use spillgate_scenario::plan::{LinkPlan, WorldPlan};
use spillgate_sim::explain::{
    Answer, DropGroup, DroppedPacket, Fate, Hop, Journey, Lost, MarkGroup, MarkedPacket, Relation,
    Served, Transmission,
};
use spillgate_sim::tap::Place;

/// How long a node kept a packet.
#[derive(Clone, Copy, Default)]
struct Kept {
    /// A router that forwards in software.
    forwarding: Dur,
    /// At the input of a switch.
    waiting: Dur,
    /// In the fabric of a switch.
    crossing: Dur,
}

impl Kept {
    fn with(self, other: Self) -> Self {
        Self {
            forwarding: self.forwarding + other.forwarding,
            waiting: self.waiting + other.waiting,
            crossing: self.crossing + other.crossing,
        }
    }

    fn all(self) -> Dur {
        self.forwarding + self.waiting + self.crossing
    }
}

/// What a packet's last part took over the lines of a node behind a link, up to the end of the last
/// one.
#[derive(Clone, Copy, Default)]
struct LastPart {
    /// In queues of the node, also behind other parts of its packet.
    waiting: Dur,
    sending: Dur,
    /// On lines.
    lines: Dur,
}

/// Names of what an explanation is about.
struct Names<'a> {
    plan: &'a WorldPlan,
    /// By link, then leaf.
    leaves: Vec<Vec<String>>,
}

/// The answer to a question about groups of flows, which have these names.
pub fn explanation(plan: &WorldPlan, groups: &[String], answer: &Answer) -> Value {
    let names = Names {
        plan,
        leaves: plan
            .links
            .iter()
            .map(|l| l.discipline.leaf_names())
            .collect(),
    };
    let parts = answer.packets.iter().zip(&answer.drops).zip(&answer.marks);
    let groups: Vec<Value> = groups
        .iter()
        .zip(parts)
        .map(|(name, ((packets, drops), marks))| {
            json!({
                "name": name,
                "packets": packets.iter().map(|j| names.journey(j)).collect::<Vec<_>>(),
                "drops": drops.iter().map(|d| names.drops(d)).collect::<Vec<_>>(),
                "marks": marks.iter().map(|m| names.marks(m)).collect::<Vec<_>>(),
            })
        })
        .collect();
    json!({"digest": answer.digest, "groups": groups})
}

fn ps(d: Dur) -> u64 {
    d.as_ps()
}

fn at(t: Time) -> Option<u64> {
    (t < Time::MAX).then_some(t.as_ps())
}

fn limit(l: QueueLimit) -> Value {
    json!({"packets": l.packets, "bytes": l.bytes})
}

fn bucket(kind: &str, b: BucketLevel) -> Value {
    json!({"kind": kind, "tokens": b.tokens, "burst": b.burst, "rate": b.bps})
}

/// What meters found, by their classes.
fn metered(found: &[(String, Color)]) -> Vec<Value> {
    let one = |(class, color): &(String, Color)| json!({"class": class, "color": color.as_str()});
    found.iter().map(one).collect()
}

/// Numbers behind a drop.
pub(crate) fn evidence(e: &Evidence) -> Value {
    let cause = match e.cause {
        Cause::Plain => Value::Null,
        Cause::Aqm(o) => json!({
            "kind": "aqm", "average": o.average, "min": o.min, "max": o.max,
            "unit": if o.in_bytes { "B" } else { "packets" },
            "probability": o.probability, "count": o.count, "draw": o.draw,
        }),
        Cause::Delay(o) => json!({
            "kind": "delay", "delay": ps(o.delay), "target": ps(o.target),
            "probability": o.probability, "sum": o.sum, "draw": o.draw,
        }),
        Cause::Coupled(o) => json!({
            "kind": "coupled", "l4s": o.l4s, "delay": ps(o.delay), "target": ps(o.target),
            "base": o.base, "probability": o.probability, "native": o.native,
            "waited": ps(o.waited), "draw": o.draw,
        }),
        Cause::Chance(o) => {
            let mut said = json!({"kind": o.by.kind, "probability": o.probability, "draw": o.draw});
            for fact in o.by.facts() {
                said[fact.key] = match fact.unit {
                    FactUnit::Seconds => ps(Dur::from_secs_f64(fact.value)).into(),
                    _ => fact.value.into(),
                };
            }
            said
        }
        Cause::Waited(w) => json!({
            "kind": "waited", "waited": ps(w.waited), "target": ps(w.target),
            "interval": ps(w.interval), "count": w.count, "due": w.due.and_then(at),
        }),
        Cause::Policer { committed, excess } => {
            let mut said = bucket("policer", committed);
            said["excess"] = excess.map(|b| bucket("excess", b)).into();
            said
        }
        Cause::Marker(m) => json!({
            "kind": "marker", "average": m.average, "rate": m.committed, "peak_rate": m.peak,
            "draw": m.draw,
        }),
        Cause::PriorityPolicer(b) => bucket("priority-policer", b),
        Cause::LongerThanBurst(burst) => json!({"kind": "longer-than-burst", "burst": burst}),
        Cause::Threshold { dscp, limit: l } => {
            json!({"kind": "threshold", "dscp": dscp.to_string(), "limit": limit(l)})
        }
        Cause::Flow {
            packets,
            bytes,
            limit: l,
        } => json!({"kind": "flow", "packets": packets, "bytes": bytes, "limit": limit(l)}),
        Cause::Admission(r) => {
            let until = match r.why {
                Refused::Blocked { until } => at(until),
                _ => None,
            };
            json!({
                "kind": "admission", "why": r.why.name(), "mechanism": r.mechanism,
                "fair_rate": r.fair_rate, "min_fair_rate": r.min_fair_rate,
                "priority_load": r.priority_load, "max_priority_load": r.max_priority_load,
                "blocked_until": until,
            })
        }
    };
    json!({
        "queue_packets": e.queue_packets,
        "queue_bytes": e.queue_bytes,
        "limit": limit(e.limit),
        "cause": cause,
    })
}

impl Names<'_> {
    fn link(&self, link: u32) -> &str {
        &self.plan.links[link as usize].name
    }

    fn queue(&self, link: u32, leaf: u16) -> Option<&str> {
        let leaves = self.leaves.get(link as usize)?;
        leaves.get(usize::from(leaf)).map(String::as_str)
    }

    fn class(&self, class: u16) -> &str {
        &self.plan.classes[usize::from(class)]
    }

    fn flow(&self, flow: u32) -> (&str, &str) {
        let f = &self.plan.flows[flow as usize];
        (&f.name, self.class(f.class))
    }

    fn journey(&self, j: &Journey) -> Value {
        let (flow, class) = self.flow(j.flow);
        let received = match j.fate {
            Fate::Received(t) => Some(t),
            _ => None,
        };
        let lost = match &j.fate {
            Fate::Lost(lost) => self.lost(lost),
            _ => Value::Null,
        };
        let segment = j.segment.map(|s| {
            json!({
                "seq": s.seq, "len": s.len, "ack": s.ack,
                "transmissions": j.transmissions.iter().map(|t| self.transmission(t)).collect::<Vec<_>>(),
            })
        });
        json!({
            "sentence": self.sentence(j),
            "notes": self.notes(j),
            "flow": flow,
            "class": class,
            "seq": j.seq,
            "acknowledgment": j.answers,
            "stream": j.stream,
            "sent": j.sent.as_ps(),
            "received": received.map(Time::as_ps),
            "delay": received.map(|t| ps(t.since(j.sent))),
            "bytes": j.l3_len,
            "dscp": j.dscp.to_string(),
            "hops": (0..j.hops.len()).map(|i| self.hop(j, i)).collect::<Vec<_>>(),
            "lost": lost,
            "segment": segment,
        })
    }

    fn transmission(&self, t: &Transmission) -> Value {
        let lost = t.lost.map(|(when, link, why)| {
            json!({
                "at": when.as_ps(), "link": link.map(|l| self.link(l)), "reason": why.metric(),
            })
        });
        json!({
            "sent": t.sent.as_ps(), "seq": t.seq, "after_timeout": t.after_timeout, "lost": lost,
        })
    }

    /// What a packet took on a link beyond its delay: late there, or kept by the node behind it.
    fn beyond(&self, j: &Journey, hop: usize) -> Dur {
        let h = &j.hops[hop];
        let next = match (j.hops.get(hop + 1), &j.fate) {
            (Some(next), _) => next.arrived,
            (None, Fate::Received(at)) => *at,
            _ => return Dur::ZERO,
        };
        let (left, link) = match h
            .beyond
            .as_ref()
            .and_then(|b| Some((b.left, *b.lines.last()?)))
        {
            Some((left, line)) => (left, line),
            None => (h.end, h.link),
        };
        let delay = self.plan.links[link as usize].delay;
        if left < Time::MAX {
            next.since(left + delay)
        } else {
            Dur::ZERO
        }
    }

    /// What the last part of a packet took over the lines behind a hop.
    fn last_part(&self, h: &Hop) -> LastPart {
        let Some(beyond) = h.beyond.as_ref().filter(|b| b.left < Time::MAX) else {
            return LastPart::default();
        };
        let link = |l: &u32| &self.plan.links[*l as usize];
        let sum = |of: &dyn Fn(&LinkPlan) -> Dur| {
            let all = beyond.lines.iter().map(link);
            all.fold(Dur::ZERO, |sum, l| sum + of(l))
        };
        let (sending, lines) = (sum(&|l| l.rate.tx_time(beyond.part)), sum(&|l| l.delay));
        let through = (beyond.left + beyond.lines.last().map_or(Dur::ZERO, |l| link(l).delay))
            .since(h.end + link(&h.link).delay);
        LastPart {
            waiting: through - (sending + lines),
            sending,
            lines,
        }
    }

    /// Whether the node behind a hop kept the packet, which went on.
    fn is_kept_behind(&self, j: &Journey, hop: usize) -> bool {
        let Some(next) = j.hops.get(hop + 1) else {
            return false;
        };
        let hop = &j.hops[hop];
        let lines = hop.beyond.iter().flat_map(|b| &b.lines);
        let last = lines.last().unwrap_or(&hop.link);
        let node = self.plan.links[*last as usize].to;
        let holding = self.plan.holding.at(node);
        next.crossed_since.is_some() || holding.is_some_and(|h| h.declared.inputs.contains(last))
    }

    /// How long the node before a hop kept a packet.
    fn kept(&self, j: &Journey, hop: usize) -> Kept {
        let h = &j.hops[hop];
        let time = match hop.checked_sub(1) {
            Some(before) if self.is_kept_behind(j, before) => self.beyond(j, before),
            // Packets of backlogged sources begin at the input of the switch.
            None if h.crossed_since.is_some() => h.arrived.since(j.sent),
            _ => return Kept::default(),
        };
        match h.crossed_since {
            None => Kept {
                forwarding: time,
                ..Kept::default()
            },
            Some(since) => {
                let crossing = h.arrived.since(since);
                Kept {
                    waiting: Dur::from_ps(time.as_ps().saturating_sub(crossing.as_ps())),
                    crossing,
                    ..Kept::default()
                }
            }
        }
    }

    fn hop(&self, j: &Journey, hop: usize) -> Value {
        let h = &j.hops[hop];
        let link = &self.plan.links[h.link as usize];
        let kept = self.kept(j, hop);
        let last = self.last_part(h);
        let late = match self.is_kept_behind(j, hop) {
            true => Dur::ZERO,
            false => self.beyond(j, hop),
        };
        let begun = h.start < Time::MAX;
        let sending = h.end.since(h.start) + last.sending;
        let propagation = link.delay + late + last.lines;
        let parts = begun.then(|| {
            let parts = words::parts(h, kept, [sending, propagation, last.waiting]);
            let named = PARTS.iter().zip(parts);
            named
                .map(|((name, _), time)| ((*name).to_owned(), time.into()))
                .collect::<Map<_, _>>()
        });
        let changed = |a: String, b: String| (a != b).then(|| json!([a, b]));
        json!({
            "link": link.name,
            "policy": link.policy,
            "queue": self.queue(h.link, h.leaf),
            "arrived": h.arrived.as_ps(),
            "kept": ps(kept.all()),
            "started": at(h.start),
            "bytes": h.len,
            "labels": h.labels.iter().flatten().map(|(label, exp)| json!({"label": label, "exp": exp})).collect::<Vec<_>>(),
            "rate": link.rate.bps(),
            "found": {"packets": h.found.0, "bytes": h.found.1},
            "limit": limit(h.limit),
            "parts": parts,
            "waited": begun.then(|| ps(h.waited())),
            "residual": h.residual.map(|r| json!({
                "queue": self.queue(h.link, r.leaf), "class": self.class(r.class),
                "bytes": r.bytes, "time": ps(r.time),
            })),
            "served": h.served.iter().map(|s| self.served(h.link, s)).collect::<Vec<_>>(),
            "tokens": ps(h.idle),
            "in_ring": begun.then(|| ps(h.in_ring())),
            "cells": ps(last.waiting),
            "serialization": begun.then(|| ps(sending)),
            "propagation": begun.then(|| ps(propagation)),
            "dscp": changed(h.dscp.0.to_string(), h.dscp.1.to_string()),
            "metered": metered(&h.metered),
            "conditioned": h.conditioned.as_ref().map(|c| json!({
                "dscp": [c.dscp.0.to_string(), c.dscp.1.to_string()],
                "metered": metered(&c.metered),
            })),
            "marked_ce": h.ecn.0 != h.ecn.1,
            "mark": h.mark.as_ref().map(evidence),
        })
    }

    fn served(&self, link: u32, s: &Served) -> Value {
        let relation = match s.relation {
            Relation::Ring => "ring",
            Relation::Ahead => "ahead",
            Relation::Overtook => "overtook",
            Relation::Priority => "priority",
            Relation::Turn => "turn",
        };
        json!({
            "queue": self.queue(link, s.leaf), "class": self.class(s.class), "relation": relation, "without_tokens": s.held,
            "packets": s.packets, "bytes": s.bytes, "time": ps(s.time),
        })
    }

    fn lost(&self, l: &Lost) -> Value {
        let (link, queue, numbers) = match &l.place {
            Place::Port(link, e) => (Some(*link), self.queue(*link, l.leaf), evidence(e)),
            Place::Input(link, _, e) => (Some(*link), None, evidence(e)),
            Place::Kept(link, e) => (Some(*link), None, evidence(e)),
            Place::Wire(link) => (Some(*link), None, Value::Null),
            Place::Node => (None, None, Value::Null),
        };
        json!({
            "at": l.at.as_ps(), "link": link.map(|l| self.link(l)), "queue": queue,
            "input": self.input(&l.place),
            "node": self.node(&l.place),
            "reason": l.reason.metric(), "dscp": l.dscp.to_string(), "bytes": l.len,
            "evidence": numbers,
        })
    }

    /// The class of the policy at a link's receiving end that refused a packet.
    fn input(&self, place: &Place) -> Option<&str> {
        let Place::Input(link, class, _) = place else {
            return None;
        };
        let input = self.plan.stages.input(*link)?;
        input.recipe.class_names().nth(usize::from(*class))
    }

    /// The node that had no room to keep a packet.
    fn node(&self, place: &Place) -> Option<&str> {
        let Place::Kept(link, _) = place else {
            return None;
        };
        let node = self.plan.links[*link as usize].to;
        Some(&self.plan.nodes[node as usize])
    }

    fn drops(&self, d: &DropGroup) -> Value {
        let link = d.link.map_or("nodes", |l| self.link(l));
        let queue = d.link.and_then(|l| self.queue(l, d.leaf));
        let queue = queue.map_or_else(String::new, |q| format!("/{q}"));
        let (count, why) = (causes::packets(d.packets), d.reason.sentence());
        json!({
            "sentence": format!("{link}{queue}: {count}, {why} ({})", d.reason.metric()),
            "link": d.link.map(|l| self.link(l)),
            "queue": d.link.and_then(|l| self.queue(l, d.leaf)),
            "reason": d.reason.metric(),
            "packets": d.packets,
            "first": d.first.iter().map(|p| self.dropped(p)).collect::<Vec<_>>(),
        })
    }

    fn dropped(&self, p: &DroppedPacket) -> Value {
        let (flow, class) = self.flow(p.flow);
        let name = words::packet(flow, p.answers, p.seq);
        json!({
            "sentence": self.drop_sentence(&name, &p.lost),
            "flow": flow, "class": class, "seq": p.seq, "acknowledgment": p.answers,
            "sent": p.sent.as_ps(), "lost": self.lost(&p.lost),
        })
    }

    fn marks(&self, m: &MarkGroup) -> Value {
        let (link, count) = (self.link(m.link), causes::packets(m.packets));
        let queue = self.queue(m.link, m.leaf).unwrap_or_default();
        json!({
            "sentence": format!("{link}/{queue}: {count}, congestion experienced (marks_ce)"),
            "link": self.link(m.link),
            "queue": self.queue(m.link, m.leaf),
            "packets": m.packets,
            "first": m.first.iter().map(|p| self.marked(m, p)).collect::<Vec<_>>(),
        })
    }

    fn marked(&self, group: &MarkGroup, p: &MarkedPacket) -> Value {
        let (flow, class) = self.flow(p.flow);
        json!({
            "sentence": format!(
                "{} was marked {} into the run at {}, queue {}: {}.",
                words::packet(flow, p.answers, p.seq),
                causes::instant(p.at),
                self.link(group.link),
                self.queue(group.link, group.leaf).unwrap_or_default(),
                causes::mark(&p.why)
            ),
            "flow": flow, "class": class, "seq": p.seq, "acknowledgment": p.answers,
            "sent": p.sent.as_ps(), "at": p.at.as_ps(), "link": self.link(group.link),
            "queue": self.queue(group.link, group.leaf), "evidence": evidence(&p.why),
        })
    }
}
