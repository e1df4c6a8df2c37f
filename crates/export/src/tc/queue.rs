//! The queues of classes as queueing disciplines of Linux.

use std::fmt::Write as _;

use spillgate_core::{Dur, Limit, Rate, math};
use spillgate_queueing::aqm::{
    AqmSpec, CodelSpec, InverseSqrt, RedSpec, SizeScaling, WredProfile, WredSpec,
};
use spillgate_queueing::spec::{ClassSpec, DrrSpec, FairQueueSpec, FqCodelSpec, Guard};

use crate::Notes;

/// What one packet of a threshold counts in bytes, as `avpkt` of `tc red`.
pub const PACKET_BYTES: u32 = 1000;

/// The queueing discipline of a leaf, kind and arguments. `rate` is what it is guaranteed, `dscps`
/// which packets may come to it.
pub(super) fn leaf(
    class: &ClassSpec,
    rate: Rate,
    dscps: u64,
    place: &str,
    notes: &mut Notes,
) -> String {
    let limit = match &class.priority {
        Some(p) => Some(p.limit),
        None => class.queue_limit,
    };
    if !class.queue_limit_dscp.is_empty() || !class.queue_limit_precedence.is_empty() {
        notes.add(
            place,
            "limits of the queue by DSCP are left out: no queueing discipline has them without random drops",
        );
    }
    if let Some(fair) = &class.fair_queue {
        if class.aqm.is_some() {
            notes.add(
                place,
                "random early detection in front of a fair queue is left out",
            );
        }
        return sfq(fair, limit, place, notes);
    }
    if let Some(d) = &class.drr {
        if class.aqm.is_some() {
            notes.add(
                place,
                "random early detection in front of a fair queue is left out",
            );
        }
        return drr(d, rate, place, notes);
    }
    if let Some(f) = &class.fq_codel {
        return fq_codel(f, rate, place, notes);
    }
    let limit = limit.unwrap_or(Limit::Packets(64));
    match &class.aqm {
        None => fifo(limit, rate),
        Some(aqm) => managed(aqm, limit, rate, dscps, place, notes),
    }
}

/// `pfifo` or `bfifo`; a time is the bytes that `rate` sends in it.
pub(super) fn fifo(limit: Limit, rate: Rate) -> String {
    match limit {
        Limit::Packets(n) => format!("pfifo limit {n}"),
        Limit::Bytes(n) => format!("bfifo limit {n}b"),
        Limit::Time(d) => format!("bfifo limit {}b", rate.bytes_in(d).max(1)),
    }
}

/// `sfq`, the fair queue without AQM. Its depth is at most 127 packets.
pub(super) fn sfq(
    fair: &FairQueueSpec,
    limit: Option<Limit>,
    place: &str,
    notes: &mut Notes,
) -> String {
    const DEPTH: u16 = 127;
    notes.add(
        place,
        "sfq stands for the fair queue: all flows weigh the same, and the longest gives when it is full",
    );
    if fair.threshold > DEPTH {
        notes.add(
            place,
            format!(
                "a flow of sfq holds {DEPTH} packets at most, not {}",
                fair.threshold
            ),
        );
    }
    let packets = match limit {
        Some(Limit::Packets(n)) => n.min(fair.hold_queue),
        Some(other) => {
            notes.add(
                place,
                format!("sfq counts packets: the limit of {other} is left out"),
            );
            fair.hold_queue
        }
        None => fair.hold_queue,
    };
    format!(
        "sfq limit {packets} depth {} divisor {}",
        fair.threshold.min(DEPTH),
        fair.queues
    )
}

/// `fq_codel`.
pub(super) fn fq_codel(f: &FqCodelSpec, rate: Rate, place: &str, notes: &mut Notes) -> String {
    let packets = in_packets(f.limit, rate, "fq_codel", place, notes);
    if f.guard == Guard::Flow {
        notes.add(
            place,
            "CoDel of fq_codel looks at the backlog of all flows, not of the packet's own",
        );
    }
    let delays = delays(&f.codel(), place, notes);
    let ecn = if f.ecn { "ecn" } else { "noecn" };
    format!(
        "fq_codel limit {packets} flows {} quantum {}{delays} memory_limit {}b drop_batch {} {ecn}",
        f.flows, f.quantum.0, f.memory_limit.0, f.drop_batch
    )
}

/// `sfq` for DRR: Linux's `drr` has classes, not flows, and `sfq` turns by deficit.
pub(super) fn drr(d: &DrrSpec, rate: Rate, place: &str, notes: &mut Notes) -> String {
    notes.add(
        place,
        "sfq stands for DRR by flow (the classes of Linux's drr would each need a filter): all flows weigh the same, a flow holds 127 packets at most",
    );
    let packets = in_packets(d.limit, rate, "sfq", place, notes);
    let queues = d.queues.unwrap_or(1024).next_power_of_two();
    format!(
        "sfq limit {packets} quantum {} depth 127 divisor {queues}",
        d.quantum.0
    )
}

/// `red` or `codel`.
pub(super) fn managed(
    aqm: &AqmSpec,
    limit: Limit,
    rate: Rate,
    dscps: u64,
    place: &str,
    notes: &mut Notes,
) -> String {
    let red_of = |r, notes: &mut Notes| red(r, limit, rate, place, notes);
    match aqm {
        AqmSpec::Red(r) => {
            if r.gentle {
                notes.add(
                    place,
                    "red is not gentle: above the maximum it drops every packet",
                );
            }
            if r.size_scaling != SizeScaling::None {
                notes.add(place, "red does not scale probabilities by length");
            }
            red_of(r, notes)
        }
        AqmSpec::Wred(w) => red_of(&one_profile(w, dscps, place, notes), notes),
        AqmSpec::Codel(c) => codel(c, limit, rate, place, notes),
    }
}

/// `codel`.
fn codel(c: &CodelSpec, limit: Limit, rate: Rate, place: &str, notes: &mut Notes) -> String {
    let packets = in_packets(limit, rate, "codel", place, notes);
    let ecn = if c.ecn { " ecn" } else { " noecn" };
    let delays = delays(c, place, notes);
    format!("codel limit {packets}{delays}{ecn}")
}

/// The words of `codel` and `fq_codel` for what packets may wait.
fn delays(c: &CodelSpec, place: &str, notes: &mut Notes) -> String {
    if c.inverse_sqrt == InverseSqrt::Exact {
        notes.add(place, "Linux computes the square root of CoDel in 16 bits: drops come closer after one another at first");
    }
    if c.max_packet != CodelSpec::default().max_packet {
        notes.add(
            place,
            "below the device's largest packet nothing is dropped, whatever `max_packet` is",
        );
    }
    let mut words = format!(
        " target {} interval {}",
        micros(c.target),
        micros(c.interval)
    );
    if let Some(threshold) = c.ce_threshold {
        let _ = write!(words, " ce_threshold {}", micros(threshold));
    }
    words
}

/// A time for `tc`, which counts microseconds.
fn micros(d: Dur) -> String {
    format!("{}us", (d.as_ps() + 500_000) / 1_000_000)
}

/// A limit for a discipline that counts packets: bytes make packets of 1514 B.
fn in_packets(limit: Limit, rate: Rate, kind: &str, place: &str, notes: &mut Notes) -> u64 {
    let bytes = match limit {
        Limit::Packets(n) => return n.into(),
        Limit::Bytes(n) => n,
        Limit::Time(d) => rate.bytes_in(d),
    };
    let packets = bytes.div_ceil(1514).max(1);
    notes.add(
        place,
        format!("{kind} counts packets: the limit of {limit} becomes {packets} packets"),
    );
    packets
}

/// `red`.
fn red(r: &RedSpec, limit: Limit, rate: Rate, place: &str, notes: &mut Notes) -> String {
    let bytes = |packets: f64| (packets * f64::from(PACKET_BYTES) + 0.5) as u64;
    let min = bytes(r.min_th).max(u64::from(PACKET_BYTES));
    let max = bytes(r.max_th).max(min + 1);
    let hard = match limit {
        Limit::Packets(n) => u64::from(n) * u64::from(PACKET_BYTES),
        Limit::Bytes(n) => n,
        Limit::Time(d) => rate.bytes_in(d),
    };
    let wlog = weight_log(r.weight);
    let burst = burst_of(wlog, min);
    if (r.weight - 1.0 / f64::from(1_u32 << wlog)).abs() > r.weight * 1e-9 {
        notes.add(
            place,
            format!(
                "the weight {} of red becomes a power of two, 1/{}",
                r.weight,
                1_u32 << wlog
            ),
        );
    }
    let ecn = if r.ecn { " ecn harddrop" } else { "" };
    format!(
        "red limit {}b min {min}b max {max}b avpkt {PACKET_BYTES}b burst {burst} probability {} bandwidth {}bit{ecn}",
        hard.max(max + 1),
        r.max_p,
        rate.bps()
    )
}

/// The profile of WRED that stands for all.
fn one_profile(w: &WredSpec, dscps: u64, place: &str, notes: &mut Notes) -> RedSpec {
    let mut found: Vec<WredProfile> = Vec::new();
    for d in (0..64_u8).filter(|d| dscps >> d & 1 == 1) {
        let profile = w.profile(spillgate_core::Dscp::new(d).unwrap_or_default());
        if !found.contains(&profile) {
            found.push(profile);
        }
    }
    let first = found
        .first()
        .copied()
        .unwrap_or_else(|| w.profile(spillgate_core::Dscp::DEFAULT));
    if found.len() > 1 {
        notes.add(
            place,
            format!(
                "red has one drop profile: {} {} {} of the lowest DSCP stands for {} of WRED",
                first.min,
                first.max,
                first.denominator,
                found.len()
            ),
        );
    }
    RedSpec {
        min_th: f64::from(first.min),
        max_th: f64::from(first.max.max(first.min + 1)),
        max_p: 1.0 / f64::from(first.denominator),
        weight: 1.0 / f64::from(1_u32 << w.exponential_weighting_constant.min(31)),
        gentle: false,
        ecn: w.ecn,
        ..RedSpec::default()
    }
}

/// The n whose 2^-n is nearest to the weight, by ratio.
fn weight_log(weight: f64) -> u32 {
    let mut n = 1;
    let mut w = 0.5;
    while n < 30 && weight < w * std::f64::consts::FRAC_1_SQRT_2 {
        n += 1;
        w /= 2.0;
    }
    n
}

/// The `burst` from which `tc red` computes 2^-n as its weight: the smallest that does, or comes
/// nearest. It takes the first n with b + 1 - min / avpkt <= (1 - (1 - 2^-n)^b) 2^n (tc-red(8)).
fn burst_of(n: u32, min: u64) -> u64 {
    let packets = min as f64 / f64::from(PACKET_BYTES);
    let computed = |burst: u64| {
        let asked = burst as f64 + 1.0 - packets;
        (1..32).find(|n| {
            let w = 1.0 / f64::from(1_u32 << n);
            asked <= (1.0 - math::pow(1.0 - w, burst as f64)) / w
        })
    };
    // Longer bursts want smaller weights.
    let (mut low, mut high) = (packets as u64 + 1, 1_u64 << 30);
    while low < high {
        let middle = low + (high - low) / 2;
        if computed(middle).unwrap_or(32) < n {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `tc` computes back the weight that was meant.
    #[test]
    fn the_burst_gives_the_weight_back() {
        for min in [1, 5, 20, 36, 400] {
            for n in 2..=16 {
                let burst = burst_of(n, min * u64::from(PACKET_BYTES));
                let asked = burst as f64 + 1.0 - min as f64;
                let holds = |n: u32| {
                    let w = 1.0 / f64::from(1_u32 << n);
                    asked <= (1.0 - math::pow(1.0 - w, burst as f64)) / w
                };
                let smallest = (1..32).find(|n| holds(*n)).unwrap();
                // A burst of one packet above the threshold may need a smaller weight already.
                assert!(
                    smallest >= n && (smallest == n || burst == min + 1),
                    "{min} {n} {burst}"
                );
            }
        }
    }

    #[test]
    fn weights_round_to_powers_of_two() {
        assert_eq!(
            [0.5, 0.002, 1.0 / 512.0, 0.0001].map(weight_log),
            [1, 9, 9, 13]
        );
    }
}
