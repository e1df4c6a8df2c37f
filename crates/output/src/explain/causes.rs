//! Why a queue dropped or marked a packet, in words with the numbers that decided.

use spillgate_core::show::{general, rough, value, whole};
use spillgate_core::{DropReason, Dur, Time};
use spillgate_queueing::{
    BucketLevel, Cause, ChanceOdds, CoupledOdds, DelayOdds, Evidence, Fact, FactUnit, Odds,
    QueueLimit, Refusal, Refused, Waited,
};

/// A time of three significant digits.
pub(super) fn duration(d: Dur) -> String {
    rough(d.as_secs_f64(), "s")
}

/// An instant, in seconds since the start of the run.
pub(super) fn instant(t: Time) -> String {
    format!("{:.6} s", t.as_ps() as f64 / 1e12)
}

/// A number of packets.
pub(super) fn packets(n: u64) -> String {
    format!("{} packet{}", whole(n), if n == 1 { "" } else { "s" })
}

fn rate(bps: f64) -> String {
    value(bps, "b/s")
}

fn limit(l: QueueLimit) -> String {
    let in_packets = l.packets.map(|n| packets(n.into()));
    let in_bytes = l.bytes.map(|n| format!("{} B", whole(n)));
    let said: Vec<String> = in_packets.into_iter().chain(in_bytes).collect();
    said.join(" and ")
}

fn waiting(e: &Evidence) -> String {
    let (n, bytes) = (packets(e.queue_packets.into()), whole(e.queue_bytes));
    match limit(e.limit) {
        most if most.is_empty() => format!("{n} ({bytes} B) waited"),
        most => format!("{n} ({bytes} B) waited, of at most {most}"),
    }
}

/// The numbers that decided on a mark.
pub(super) fn mark(e: &Evidence) -> String {
    let waiting = waiting(e);
    match &e.cause {
        Cause::Waited(w) => format!("{}; {waiting}", waited(w)),
        Cause::Delay(o) => format!("{}; {waiting}", delay(o)),
        Cause::Chance(o) => format!("{}; {waiting}", chance(o)),
        Cause::Coupled(o) => format!("{}; {waiting}", coupled(o)),
        Cause::Aqm(o) => format!("{}; {waiting}", odds(o)),
        _ => waiting,
    }
}

/// The reason of the drop of a packet of `len` bytes, with the numbers that decided.
pub(super) fn drop(reason: DropReason, len: u32, e: &Evidence) -> String {
    let asked = e.counted.unwrap_or(len);
    let (said, waiting, bytes) = (reason.sentence(), waiting(e), whole(len.into()));
    let chosen = |draw: Option<f64>| match draw {
        Some(_) => format!("random {said}: "),
        None => String::new(),
    };
    match reason {
        DropReason::TooBig => {
            return format!("{said}: {bytes} B on the wire, labels and overhead included");
        }
        // How much waits does not matter.
        DropReason::LinkDown | DropReason::Cell | DropReason::Frame | DropReason::EarlyFrame => {
            return said.to_owned();
        }
        _ => {}
    }
    match &e.cause {
        Cause::Plain => format!("{said}; {waiting}"),
        Cause::Waited(w) => format!("{}; {waiting}", waited(w)),
        Cause::Delay(o) => format!("{}{}; {waiting}", chosen(o.draw), delay(o)),
        Cause::Chance(o) => format!("{}{}; {waiting}", chosen(o.draw), chance(o)),
        Cause::Coupled(o) => format!("{}{}; {waiting}", chosen(o.draw), coupled(o)),
        Cause::Aqm(o) => format!("{}{}; {waiting}", chosen(o.draw), odds(o)),
        Cause::Policer { committed, excess } => {
            let other = excess.map_or_else(String::new, |b| {
                let (tokens, burst) = (whole(b.tokens), whole(b.burst));
                format!("; {tokens} of {burst} B are in its other bucket")
            });
            format!("{}{other}", bucket(said, committed, asked))
        }
        Cause::PriorityPolicer(b) => bucket("the policer of the priority class", b, asked),
        Cause::Marker(m) => {
            let drawn = m
                .draw
                .map_or_else(String::new, |d| format!(" and {d:.4} was drawn"));
            let peak = m
                .peak
                .map_or_else(String::new, |p| format!(", peak {}", rate(p as f64)));
            format!(
                "{said}: the average rate of its class was {} (committed {}{peak}){drawn}",
                rate(m.average),
                rate(m.committed as f64)
            )
        }
        Cause::Threshold { dscp, limit: most } => format!(
            "the queue had no room for its DSCP: packets of {dscp} are queued up to {}; {waiting}",
            limit(*most)
        ),
        Cause::Admission(r) => refusal(said, r),
        Cause::Flow {
            packets: n,
            bytes,
            limit: most,
        } => {
            let there = format!("{} ({} B)", packets((*n).into()), whole(*bytes));
            if reason == DropReason::PushedOut {
                format!(
                    "{said}: its queue had the most bytes, and {there} are left of it; in all {waiting}"
                )
            } else if *most == spillgate_queueing::QueueLimit::default() {
                format!(
                    "its own flow's queue had reached the discard threshold, with {there}, and it would have left last; in all {waiting}"
                )
            } else {
                format!(
                    "its own flow's queue was full: {there}, of at most {}; in all {waiting}",
                    limit(*most)
                )
            }
        }
        Cause::LongerThanBurst(burst) => format!(
            "its {} B are more than the {} B of a shaper's burst: the tokens would never suffice",
            whole(asked.into()),
            whole(*burst)
        ),
    }
}

/// How long a packet had waited, and what CoDel's law made of that.
fn waited(w: &Waited) -> String {
    let (waited, target) = (duration(w.waited), duration(w.target));
    let (Some(count), Some(due)) = (w.count, w.due) else {
        return format!(
            "it had waited {waited}, more than the {target} from which on packets are marked"
        );
    };
    let nth = match count {
        0 | 1 => "the first".to_owned(),
        _ => format!("number {count} of this period"),
    };
    format!(
        "it had waited {waited}, and for {} packets had waited at least the target of {target} ({nth}, due {} into the run)",
        duration(w.interval),
        instant(due)
    )
}

/// The delay that PIE or PI2 knew, and by which chance the packet was chosen.
fn delay(o: &DelayOdds) -> String {
    let sums = o.sum.map_or_else(String::new, |sum| {
        format!(" and {sum:.2} in all since the last drop")
    });
    let drawn = match o.draw {
        Some(draw) => format!("and {draw:.4} was drawn"),
        None => "so that no number was drawn".to_owned(),
    };
    format!(
        "the queue's delay was {} at the last update (target {}), the probability {:.4}{sums}, {drawn}",
        duration(o.delay),
        duration(o.target),
        o.probability
    )
}

/// The probabilities of DualPI2's queues, and by which chance the packet was chosen.
fn coupled(o: &CoupledOdds) -> String {
    let queue = if o.l4s { "L4S" } else { "classic" };
    let native = match o.native {
        n if n > 0.0 => format!(" ({n:.4} for its own wait)"),
        _ => String::new(),
    };
    let drawn = match o.draw {
        Some(draw) => format!("and {draw:.4} was drawn"),
        None => "and no number was drawn".to_owned(),
    };
    format!(
        "it had waited {} in the {queue} queue; the queues' delay was {} at the last update (target {}), the base probability {:.4}, its own {:.4}{native}, {drawn}",
        duration(o.waited),
        duration(o.delay),
        duration(o.target),
        o.base,
        o.probability
    )
}

/// A number with what it counts.
fn fact(f: &Fact) -> String {
    let counted = |one: &str| match f.value {
        1.0 => format!("1 {one}"),
        n => format!("{} {one}s", general(n, 6)),
    };
    match f.unit {
        FactUnit::BitsPerSecond => rate(f.value),
        FactUnit::Seconds => rough(f.value, "s"),
        FactUnit::Packets => counted("packet"),
        FactUnit::Bytes => format!("{} B", whole(f.value.round_ties_even() as u64)),
        FactUnit::Flows => counted("flow"),
        FactUnit::One => general(f.value, 6),
    }
}

/// What the probability of an AQM follows, and by which chance the packet was chosen.
fn chance(o: &ChanceOdds) -> String {
    let known = o.by.facts().fold(o.by.words.to_owned(), |words, known| {
        words.replacen("{}", &fact(known), 1)
    });
    match o.draw {
        Some(draw) => format!(
            "{known}, the probability was {:.4}, and {draw:.4} was drawn",
            o.probability
        ),
        None => known,
    }
}

/// The average queue, and by which chance the packet was chosen.
fn odds(o: &Odds) -> String {
    let average = match o.in_bytes {
        true => format!("{} B", whole(o.average.round_ties_even() as u64)),
        false => format!("{:.2} packets", o.average),
    };
    let [min, max] = [o.min, o.max].map(|threshold| general(threshold, 6));
    let Some(draw) = o.draw else {
        return format!("the average queue was {average}, above the upper threshold of {max}");
    };
    let count = o
        .count
        .map_or_else(String::new, |n| format!(" and {n} since the last drop"));
    format!(
        "the average queue was {average}, between the thresholds {min} and {max}{count}, so the probability was {:.4}, \
         and {draw:.4} was drawn",
        o.probability
    )
}

/// What a token bucket had for a packet of so many bytes. One that sufficed gave the packet a color
/// that is dropped.
fn bucket(whose: &str, b: &BucketLevel, len: u32) -> String {
    let what = if b.tokens >= len.into() {
        "more than"
    } else {
        "not for"
    };
    format!(
        "{whose} had tokens for {} B, {what} its {} B (rate {}, burst {} B)",
        whole(b.tokens),
        whole(len.into()),
        rate(b.bps as f64),
        whole(b.burst)
    )
}

/// Why flow admission refused a packet.
fn refusal(said: &str, r: &Refusal) -> String {
    let why = match r.why {
        Refused::FairRate | Refused::PriorityLoad => {
            "the link was congested and its flow not on the protected list".to_owned()
        }
        Refused::ActiveFlows => {
            "the list of active flows was full and its flow not on the protected list".to_owned()
        }
        Refused::Quota => {
            "as many new flows as allowed were admitted since the last tick".to_owned()
        }
        Refused::Blocked { until } => {
            let end = match until < Time::MAX {
                true => format!(" until {}", instant(until)),
                false => String::new(),
            };
            format!("its flow was removed from the protected list and is blocked{end}")
        }
    };
    format!(
        "{said}: {why}; the fair rate was {} (at least {} to admit new flows) and the priority load {:.2} % (at most {} %); \
         mechanism {}",
        rate(r.fair_rate),
        rate(r.min_fair_rate),
        100.0 * r.priority_load,
        general(100.0 * r.max_priority_load, 6),
        r.mechanism
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use spillgate_queueing::{AverageRate, GoesBy};

    /// Why a packet of 1500 B was dropped where 31 of 64 packets wait.
    #[track_caller]
    fn says(reason: DropReason, cause: Cause, want: &str) {
        let said = drop(reason, 1500, &evidence(cause));
        assert_eq!(
            said.replace(
                "31 packets (46,500 B) waited, of at most 64 packets",
                "WAITING"
            ),
            want
        );
    }

    fn evidence(cause: Cause) -> Evidence {
        Evidence {
            queue_packets: 31,
            queue_bytes: 46_500,
            limit: QueueLimit {
                packets: Some(64),
                bytes: None,
            },
            counted: None,
            cause,
        }
    }

    #[test]
    fn durations_have_three_digits() {
        let said = [
            7_900_000_000,
            120_000_000,
            0,
            12,
            999_600_000_000,
            1_234_567,
        ]
        .map(|ps| duration(Dur::from_ps(ps)));
        assert_eq!(
            said,
            ["7.9 ms", "120 µs", "0 ms", "0.012 ns", "1 s", "1.23 µs"]
        );
        assert_eq!([1, 12_000].map(packets), ["1 packet", "12,000 packets"]);
    }

    #[test]
    fn queue_managers_say_their_odds() {
        let red = Odds {
            average: 33.25,
            min: 30.0,
            max: 40.0,
            in_bytes: false,
            probability: 0.0325,
            count: Some(7),
            draw: Some(0.0121),
        };
        says(
            DropReason::Early,
            Cause::Aqm(red),
            "random early drop: the average queue was 33.25 packets, between the thresholds 30 and 40 and 7 since the last \
             drop, so the probability was 0.0325, and 0.0121 was drawn; WAITING",
        );
        let waited = Waited {
            waited: Dur::from_ps(7_250_000_000),
            target: Dur::from_ms(5),
            interval: Dur::from_ms(100),
            count: Some(3),
            due: Some(Time::ZERO + Dur::from_ms(1_500)),
        };
        says(
            DropReason::Early,
            Cause::Waited(waited),
            "it had waited 7.25 ms, and for 100 ms packets had waited at least the target of 5 ms (number 3 of this period, \
             due 1.500000 s into the run); WAITING",
        );
        let threshold = Waited {
            count: None,
            due: None,
            ..waited
        };
        assert!(mark(&evidence(Cause::Waited(threshold))).starts_with(
            "it had waited 7.25 ms, more than the 5 ms from which on packets are marked; "
        ));
        let coupled = CoupledOdds {
            l4s: true,
            delay: Dur::from_ms(16),
            target: Dur::from_ms(15),
            base: 0.1,
            probability: 0.25,
            native: 0.25,
            waited: Dur::from_us(900),
            draw: None,
        };
        says(
            DropReason::Early,
            Cause::Coupled(coupled),
            "it had waited 900 µs in the L4S queue; the queues' delay was 16 ms at the last update (target 15 ms), the base \
             probability 0.1000, its own 0.2500 (0.2500 for its own wait), and no number was drawn; WAITING",
        );
        let pie = DelayOdds {
            delay: Dur::from_ms(21),
            target: Dur::from_ms(15),
            probability: 0.0123,
            sum: Some(0.9),
            draw: Some(0.0045),
        };
        let known = "the queue's delay was 21 ms at the last update (target 15 ms), the probability 0.0123 and 0.90 in all \
                     since the last drop, and 0.0045 was drawn; ";
        says(
            DropReason::Early,
            Cause::Delay(pie),
            &format!("random early drop: {known}WAITING"),
        );
        assert!(mark(&evidence(Cause::Delay(pie))).starts_with(known));
    }

    /// Numbers stand in the sentence in their order, each with what it counts.
    #[test]
    fn what_a_probability_follows_is_said_with_its_numbers() {
        let rates = GoesBy::plain("rate", "packets arrived at {} (target {})")
            .and("rate", 10_400_000.0, FactUnit::BitsPerSecond)
            .and("target", 9_700_000.0, FactUnit::BitsPerSecond);
        let flows = GoesBy::plain("flows", "{} with a round-trip time of {} shared the link")
            .and("flows", 12.0, FactUnit::Flows)
            .and("rtt", 0.1, FactUnit::Seconds);
        for (by, known) in [
            (rates, "packets arrived at 10.4 Mb/s (target 9.7 Mb/s)"),
            (
                flows,
                "12 flows with a round-trip time of 100 ms shared the link",
            ),
            (
                GoesBy::plain("events", "losses moved it"),
                "losses moved it",
            ),
        ] {
            let drawn = Cause::Chance(ChanceOdds {
                by,
                probability: 0.0123,
                draw: Some(0.0045),
            });
            let known = format!("{known}, the probability was 0.0123, and 0.0045 was drawn; ");
            let said = format!("random early drop: {known}WAITING");
            says(DropReason::Early, drawn, &said);
            assert!(mark(&evidence(drawn)).starts_with(&known));
        }
    }

    #[test]
    fn policers_and_limits_say_what_they_had() {
        let bucket = BucketLevel {
            tokens: 150,
            burst: 20_000,
            bps: 1_000_000,
        };
        says(
            DropReason::Policer,
            Cause::PriorityPolicer(bucket),
            "the policer of the priority class had tokens for 150 B, not for its 1,500 B (rate 1 Mb/s, burst 20,000 B)",
        );
        let marker = AverageRate {
            average: 2e6,
            committed: 1_000_000,
            peak: None,
            draw: Some(0.25),
        };
        says(
            DropReason::Policer,
            Cause::Marker(marker),
            "the policer: the average rate of its class was 2 Mb/s (committed 1 Mb/s) and 0.2500 was drawn",
        );
        let none = QueueLimit {
            packets: None,
            bytes: None,
        };
        says(
            DropReason::PushedOut,
            Cause::Flow {
                packets: 2,
                bytes: 3000,
                limit: none,
            },
            "pushed out for another packet: its queue had the most bytes, and 2 packets (3,000 B) are left of it; in all WAITING",
        );
        let twenty = QueueLimit {
            packets: Some(20),
            bytes: None,
        };
        says(
            DropReason::Tail,
            Cause::Threshold {
                dscp: "af33".parse().unwrap(),
                limit: twenty,
            },
            "the queue had no room for its DSCP: packets of af33 are queued up to 20 packets; WAITING",
        );
    }

    #[test]
    fn admission_says_what_it_measured() {
        let refusal = Refusal {
            why: Refused::FairRate,
            fair_rate: 4_992_000.0,
            min_fair_rate: 5e6,
            priority_load: 0.0162,
            max_priority_load: 0.7,
            mechanism: "efm",
        };
        let measured = "the fair rate was 4.992 Mb/s (at least 5 Mb/s to admit new flows) and the priority load 1.62 % (at \
                        most 70 %); mechanism efm";
        says(
            DropReason::Admission,
            Cause::Admission(refusal),
            &format!(
                "flow admission refused it: the link was congested and its flow not on the protected list; {measured}"
            ),
        );
        let until = Time::ZERO + Dur::from_ms(251_250);
        says(
            DropReason::Admission,
            Cause::Admission(Refusal {
                why: Refused::Blocked { until },
                ..refusal
            }),
            &format!(
                "flow admission refused it: its flow was removed from the protected list and is blocked until 251.250000 s; \
                 {measured}"
            ),
        );
    }
}
