//! Where a packet's delay went, and who dropped or marked one, in words.

use spillgate_core::show::whole;
use spillgate_core::{DropReason, Dscp, Dur, Overhead, Time};
use spillgate_queueing::{Color, Evidence};
use spillgate_sim::explain::{Conditioned, Fate, Hop, Journey, Lost, Relation, Transmission};
use spillgate_sim::tap::Place;

use super::causes::{self, duration, instant, packets};
use super::{Kept, Names};

/// What takes a packet's time, in the order of tables and figures: name and meaning.
pub const PARTS: [(&str, &str); 12] = [
    ("node", "forwarding by a node"),
    ("own", "own class"),
    ("priority", "classes with priority"),
    ("others", "other classes' turns"),
    ("wire", "rest of a packet on the wire"),
    ("tokens", "tokens of a shaper"),
    ("sending", "serialization"),
    ("link", "propagation"),
    ("input", "queue at the input of a switch"),
    ("fabric", "fabric of a switch"),
    ("cells", "queues of ATM switches"),
    ("ring", "packets in the transmit ring before it"),
];

/// What packets are about: flow, kind and number.
pub(super) fn packet(flow: &str, is_answer: bool, seq: u32) -> String {
    let kind = if is_answer { " acknowledgment" } else { "" };
    format!("{flow}{kind} #{seq}")
}

/// Why packets of one queue and class were sent while another waited.
struct Sent<'a> {
    relation: Relation,
    held: bool,
    packets: u64,
    time: Dur,
    /// Their class of service, with the queue where that is another and has another name.
    name: String,
    queue: &'a str,
}

/// What a packet waited for at a port.
struct Wait<'a> {
    link: &'a str,
    waited: Dur,
    sent: Vec<Sent<'a>>,
    /// Whose packet was on the wire, and its residual time.
    residual: Option<(String, Dur)>,
    tokens: Dur,
}

impl Wait<'_> {
    fn words(&self) -> String {
        let mut kinds: Vec<Vec<&Sent<'_>>> = Vec::new();
        for s in &self.sent {
            let same = |k: &&mut Vec<&Sent<'_>>| (k[0].relation, k[0].held) == (s.relation, s.held);
            match kinds.iter_mut().find(same) {
                Some(kind) => kind.push(s),
                None => kinds.push(vec![s]),
            }
        }
        let mut parts: Vec<(Dur, String)> = kinds.iter().map(|k| sent(k)).collect();
        if let Some((whose, time)) = &self.residual {
            parts.push((
                *time,
                format!("the rest of a packet of {whose} on the wire"),
            ));
        }
        if self.tokens > Dur::ZERO {
            let words = "tokens of its shaper while the line was idle".to_owned();
            parts.push((self.tokens, words));
        }
        parts.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
        let said: Vec<String> = parts
            .into_iter()
            .map(|(time, words)| format!("{words} ({})", duration(time)))
            .collect();
        let waited = duration(self.waited);
        format!("{waited} waiting at {}, for {}", self.link, and(&said))
    }
}

/// How long packets that stand to a waiting one in one way took, and which they were.
fn sent(members: &[&Sent<'_>]) -> (Dur, String) {
    let mut by_name: Vec<(&str, u64)> = Vec::new();
    for s in members {
        match by_name.iter_mut().find(|(name, _)| *name == s.name) {
            Some((_, n)) => *n += s.packets,
            None => by_name.push((&s.name, s.packets)),
        }
    }
    let n = packets(members.iter().map(|s| s.packets).sum());
    let (relation, queue) = (members[0].relation, members[0].queue);
    let mut words = if let [(name, _)] = by_name[..] {
        match relation {
            Relation::Ring => format!("{n} of {name} in the transmit ring before it"),
            Relation::Ahead => format!("{n} of {name} that came before it"),
            Relation::Overtook => format!("{n} of {name} that came after it and went first"),
            Relation::Priority => format!("{n} of {name}, which has priority"),
            Relation::Turn => format!("{n} of {name} in the scheduler's turns"),
        }
    } else {
        by_name.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let of = |(name, k): &(&str, u64)| format!("{} of {name}", whole(*k));
        let each = and(&by_name.iter().map(of).collect::<Vec<_>>());
        match relation {
            Relation::Ring => format!("{n} in the transmit ring before it: {each}"),
            Relation::Ahead => format!("{n} that came before it into its queue {queue}: {each}"),
            Relation::Overtook => {
                format!("{n} that came after it into its queue {queue} and went first: {each}")
            }
            Relation::Priority => format!("{n} of classes that have priority: {each}"),
            Relation::Turn => format!("{n} in the scheduler's turns: {each}"),
        }
    };
    if members[0].held {
        words += ", while its shaper had no tokens";
    }
    (members.iter().fold(Dur::ZERO, |sum, s| sum + s.time), words)
}

fn and(items: &[String]) -> String {
    match items {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => items.concat(),
    }
}

/// All of a delay: what the waits were for, what it took elsewhere, and the rest.
fn delay(name: &str, delay: Dur, elsewhere: &[(Dur, &str)], mut waits: Vec<Wait<'_>>) -> String {
    let kept = elsewhere
        .iter()
        .fold(Dur::ZERO, |sum, (time, _)| sum + *time);
    let waited = waits.iter().fold(Dur::ZERO, |sum, w| sum + w.waited);
    let head = format!("{name} took {}", duration(delay));
    if waits.is_empty() && kept == Dur::ZERO {
        return format!("{head} and waited nowhere: all of it is serialization and propagation.");
    }
    waits.sort_by_key(|w| std::cmp::Reverse(w.waited));
    // What is below a hundredth of all is in the table.
    let mut said: Vec<String> = waits
        .iter()
        .filter(|w| w.waited * 100 >= waited)
        .map(Wait::words)
        .collect();
    for (time, place) in elsewhere.iter().filter(|e| e.0 > Dur::ZERO) {
        said.push(format!("{} {place}", duration(*time)));
    }
    let known = (waited + kept).as_ps();
    let rest = Dur::from_ps(delay.as_ps().saturating_sub(known));
    said.push(format!("{} serialization and propagation", duration(rest)));
    format!("{head}: {}.", said.join("; "))
}

/// What the policy at the receiving end of a link found and changed.
fn conditioned(link: &str, c: &Conditioned) -> Vec<String> {
    let place = format!("the receiving end of {link}");
    let of_meter = |(class, color): &(String, Color)| {
        let verb = color.verb();
        format!("{place}: the meter of class {class} found that it {verb}")
    };
    let mut said: Vec<String> = c.metered.iter().map(of_meter).collect();
    let (before, after) = c.dscp;
    if before != after {
        said.push(format!("{place} changed its DSCP from {before} to {after}"));
    }
    said
}

impl Names<'_> {
    /// What took how long, in one or two sentences.
    pub(super) fn sentence(&self, j: &Journey) -> String {
        let name = packet(self.flow(j.flow).0, j.answers, j.seq);
        let received = match &j.fate {
            Fate::Lost(lost) => return self.drop_sentence(&name, lost),
            Fate::Underway => {
                return format!("{name} was still on the way at the end of the run.");
            }
            Fate::Received(t) => *t,
        };
        let waits = j.hops.iter().filter(|h| h.waited() > Dur::ZERO);
        let waits = waits.map(|h| self.wait(j, h)).collect();
        let kept = (0..j.hops.len()).map(|hop| self.kept(j, hop));
        let kept = kept.fold(Kept::default(), Kept::with);
        let queued = j.hops.iter().map(|h| self.last_part(h).waiting);
        let queued = queued.fold(Dur::ZERO, |sum, of| sum + of);
        let elsewhere = [
            (kept.forwarding, "in nodes that forward"),
            (kept.waiting, "waiting at inputs of switches"),
            (kept.crossing, "crossing switches"),
            (queued, "waiting in queues of ATM switches"),
        ];
        delay(&name, received.since(j.sent), &elsewhere, waits)
    }

    fn wait(&self, j: &Journey, h: &Hop) -> Wait<'_> {
        let own = self.flow(j.flow).1;
        let queue = self.queue(h.link, h.leaf).unwrap_or_default();
        let name = |leaf: u16, class: u16| {
            let (class, there) = (
                self.class(class),
                self.queue(h.link, leaf).unwrap_or_default(),
            );
            match there == queue {
                true if class == own => "its own class".to_owned(),
                true => class.to_owned(),
                false if there.to_lowercase() == class.to_lowercase() => there.to_owned(),
                false => format!("{class} (queue {there})"),
            }
        };
        let residual = h.residual.map(|r| {
            let whose = match self.class(r.class) {
                class if class == own => "its own class".to_owned(),
                class => format!("class {class}"),
            };
            (whose, r.time)
        });
        let sent = h.served.iter().map(|s| Sent {
            relation: s.relation,
            held: s.held,
            packets: s.packets.into(),
            time: s.time,
            name: name(s.leaf, s.class),
            queue,
        });
        Wait {
            link: self.link(h.link),
            waited: h.waited(),
            sent: sent.collect(),
            residual,
            tokens: h.idle,
        }
    }

    /// Who dropped a packet, and why.
    pub(super) fn drop_sentence(&self, name: &str, lost: &Lost) -> String {
        let marked = match lost.dscp {
            Dscp::DEFAULT => String::new(),
            dscp => format!(" ({dscp})"),
        };
        let what = format!("{name}{marked} was lost {} into the run", instant(lost.at));
        let why = |e: &Evidence| causes::drop(lost.reason, lost.len, e);
        let on_wire = |link: u32| {
            let why = match lost.reason {
                DropReason::LinkLoss => "at random",
                _ => "the link failed",
            };
            format!("{what} on the wire of {}: {why}.", self.link(link))
        };
        match &lost.place {
            Place::Node => format!("{what}: a node had no route to its destination."),
            Place::Wire(link) => on_wire(*link),
            Place::Kept(link, e) => {
                let node = self.node(&lost.place).unwrap_or_default();
                let link = self.link(*link);
                format!(
                    "{what} at node {node}, which it reached over {link}: {}.",
                    why(e)
                )
            }
            Place::Input(link, _, e) => {
                let class = self.input(&lost.place).unwrap_or_default();
                let link = self.link(*link);
                format!(
                    "{what} at the receiving end of {link}, class {class}: {}.",
                    why(e)
                )
            }
            Place::Port(link, e) => match self.queue(*link, lost.leaf) {
                Some(queue) => {
                    format!("{what} at {}, queue {queue}: {}.", self.link(*link), why(e))
                }
                None => on_wire(*link),
            },
        }
    }

    /// What became of a packet on its way beside its delay: what links counted, labels, marks,
    /// other transmissions.
    pub(super) fn notes(&self, j: &Journey) -> Vec<String> {
        let mut notes = Vec::new();
        let judged = |h: &Hop| !h.metered.is_empty() || h.conditioned.is_some();
        if j.dscp != Dscp::DEFAULT || j.hops.iter().any(judged) {
            notes.push(format!("it was sent with DSCP {}", j.dscp));
        }
        for h in &j.hops {
            let link = self.link(h.link);
            for (class, color) in &h.metered {
                let verb = color.verb();
                notes.push(format!(
                    "{link}: the meter of class {class} found that it {verb}"
                ));
            }
            let labels: Vec<String> = (h.labels.iter().flatten())
                .map(|(label, exp)| format!("{label} (EXP {exp})"))
                .collect();
            if !labels.is_empty() {
                let what = if labels.len() == 1 {
                    "the label"
                } else {
                    "the labels"
                };
                notes.push(format!(
                    "{link} carried it under {what} {}",
                    labels.join(", ")
                ));
            }
            let overhead = self.plan.links[h.link as usize].overhead;
            if overhead != Overhead::NONE {
                let (bytes, words) = (whole(h.len.into()), overhead.in_words());
                notes.push(format!("{link} counted {bytes} B for it: {words}"));
            }
            let in_ring = h.in_ring();
            if in_ring > Dur::ZERO && h.start < Time::MAX {
                notes.push(format!(
                    "{} of its wait at {link} it was in the transmit ring, which its class does not shorten",
                    duration(in_ring)
                ));
            }
            let (before, after) = (h.dscp.0.to_string(), h.dscp.1.to_string());
            if before != after {
                notes.push(format!("{link} changed its DSCP from {before} to {after}"));
            }
            notes.extend(h.conditioned.iter().flat_map(|c| conditioned(link, c)));
            if h.ecn.0 != h.ecn.1 {
                let why = h.mark.as_ref().map(|e| format!(": {}", causes::mark(e)));
                let why = why.unwrap_or_default();
                notes.push(format!("{link} marked it with congestion experienced{why}"));
            }
        }
        let Some(segment) = j.segment else {
            return notes;
        };
        if j.answers {
            notes.push(format!("it acknowledged {} B of data", whole(segment.ack)));
        } else if j.transmissions.len() > 1 {
            let said: Vec<String> = j.transmissions.iter().map(|t| self.sent_again(t)).collect();
            let (seq, n) = (segment.seq, said.len());
            notes.push(format!(
                "its segment {seq} was sent {n} times: {}",
                said.join(", ")
            ));
        }
        notes
    }

    fn sent_again(&self, t: &Transmission) -> String {
        let after = if t.after_timeout {
            " after a time-out"
        } else {
            ""
        };
        let lost = t.lost.map_or_else(String::new, |(_, link, why)| {
            let place = link.map_or_else(String::new, |l| format!(" at {}", self.link(l)));
            format!(" (lost{place}: {})", why.sentence())
        });
        format!("{}{after}{lost}", instant(t.sent))
    }
}

/// What a packet took on a hop, in picoseconds, in the order of [`PARTS`]; being sent, on links,
/// and in queues beyond the link are given.
pub(super) fn parts(h: &Hop, kept: Kept, [sending, link, beyond]: [Dur; 3]) -> [u64; PARTS.len()] {
    let of = |wanted: &[Relation]| -> u64 {
        let served = h.served.iter().filter(|s| wanted.contains(&s.relation));
        served.map(|s| s.time.as_ps()).sum()
    };
    [
        kept.forwarding.as_ps(),
        of(&[Relation::Ahead, Relation::Overtook]),
        of(&[Relation::Priority]),
        of(&[Relation::Turn]),
        h.residual.map_or(0, |r| r.time.as_ps()),
        h.idle.as_ps(),
        sending.as_ps(),
        link.as_ps(),
        kept.waiting.as_ps(),
        kept.crossing.as_ps(),
        beyond.as_ps(),
        of(&[Relation::Ring]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(n: u64) -> Dur {
        Dur::from_ps(n * 1_000_000)
    }

    fn served(name: &str, relation: Relation, packets: u64, time: u64) -> Sent<'static> {
        let name = name.to_owned();
        Sent {
            relation,
            held: false,
            packets,
            time: us(time),
            name,
            queue: "fifo",
        }
    }

    /// What is said of a packet that waited for these, and 100 µs for one of bulk.
    fn sentence(sent: Vec<Sent<'_>>) -> String {
        let waited = sent.iter().fold(us(100), |sum, s| sum + s.time);
        let residual = Some(("class bulk".to_owned(), us(100)));
        let wait = Wait {
            link: "wan",
            waited,
            sent,
            residual,
            tokens: Dur::ZERO,
        };
        delay("v #1", waited + us(1_016), &[], vec![wait])
    }

    #[test]
    fn what_took_longest_comes_first() {
        assert_eq!(
            sentence(vec![
                served("its own class", Relation::Ahead, 12, 1_900),
                served("BULK", Relation::Turn, 41, 5_900),
            ]),
            "v #1 took 8.92 ms: 7.9 ms waiting at wan, for 41 packets of BULK in the scheduler's turns (5.9 ms), 12 packets of \
             its own class that came before it (1.9 ms) and the rest of a packet of class bulk on the wire (100 µs); 1.02 ms \
             serialization and propagation."
        );
    }

    #[test]
    fn a_shared_queue_says_whose_packets_were_in_it() {
        let mut web = served("web (queue www)", Relation::Turn, 1, 400);
        web.held = true;
        assert_eq!(
            sentence(vec![
                served("its own class", Relation::Ahead, 2, 100),
                served("bulk", Relation::Ahead, 41, 5_900),
                web,
            ]),
            "v #1 took 7.52 ms: 6.5 ms waiting at wan, for 43 packets that came before it into its queue fifo: 41 of bulk and 2 \
             of its own class (6 ms), 1 packet of web (queue www) in the scheduler's turns, while its shaper had no tokens \
             (400 µs) and the rest of a packet of class bulk on the wire (100 µs); 1.02 ms serialization and propagation."
        );
    }

    #[test]
    fn a_packet_may_wait_nowhere() {
        assert_eq!(
            delay("v #1", us(5), &[], Vec::new()),
            "v #1 took 5 µs and waited nowhere: all of it is serialization and propagation."
        );
        let places = [(us(2), "here"), (Dur::ZERO, "there"), (us(1), "elsewhere")];
        assert_eq!(
            delay("v #1", us(5), &places, Vec::new()),
            "v #1 took 5 µs: 2 µs here; 1 µs elsewhere; 2 µs serialization and propagation."
        );
    }
}
