//! The queues of classes as queueing disciplines of Linux.

use std::fmt::Write as _;

use spillgate_core::{Dur, Limit, Rate};
use spillgate_import::tc::red_weight;
use spillgate_queueing::Line;
use spillgate_queueing::aqm::{
    AqmSpec, CodelSpec, InverseSqrt, PieSpec, PieVariant, RedIdle, RedMarks, RedShape, RedSpec,
    RedSpread, RedUnit, SizeScaling, WredProfile, WredSpec, WredUnit,
};
use spillgate_queueing::spec::{ClassSpec, FifoSpec, WhenFull};

use super::{choke_sfb, flows};
use crate::Here;
use crate::limits::{in_packets, in_whole, weight_log};
use crate::settings::{changed_after, drops_others, no_aqm_of, no_queue_of, shown};

/// One as PIE of Linux counts its gains.
const PIE_ONE: f64 = 16.0;
/// What one packet of a threshold counts in bytes, as `avpkt` of `tc red`.
pub const PACKET_BYTES: u32 = 1000;

/// The queueing discipline of a leaf, kind and arguments. `rate` is what it is guaranteed, `dscps`
/// which packets may come to it.
pub(super) fn leaf(class: &ClassSpec, line: Line, dscps: u64, notes: &mut Here<'_>) -> String {
    let rate = line.rate;
    let limit = match &class.priority {
        Some(p) => Some(p.limit),
        None => class.queue_limit,
    };
    for (by, limits) in [
        ("DSCP", shown(&class.queue_limit_dscp)),
        ("precedence", shown(&class.queue_limit_precedence)),
    ] {
        if !limits.is_empty() {
            notes.add(format!("limits of the queue by {by} {limits} are left out: no queueing discipline has them without random drops"));
        }
    }
    if let Some(fair) = &class.fair_queue {
        no_aqm(class, notes);
        return flows::fair(fair, limit, rate, notes);
    }
    if let Some(d) = &class.drr {
        no_aqm(class, notes);
        return flows::drr(d, line, notes);
    }
    if let Some(f) = &class.fair {
        no_aqm(class, notes);
        return flows::packet_fair(f, line, notes);
    }
    if let Some(f) = &class.fq {
        no_aqm(class, notes);
        return flows::fq(f, line, notes);
    }
    if let Some(f) = &class.fq_codel {
        return flows::fq_codel(f, line, notes);
    }
    if let Some(s) = &class.sfq {
        no_aqm(class, notes);
        return flows::sfq(s, line, notes);
    }
    if let Some(f) = &class.fq_pie {
        return flows::fq_pie(f, line, notes);
    }
    if let Some(d) = &class.dualpi2 {
        return flows::dualpi2(d, line, notes);
    }
    if let Some(c) = &class.cake {
        return flows::cake(c, notes);
    }
    if let Some(kind) = class.flow_queue_kind() {
        notes.add(no_queue_of("tc", kind));
    }
    let limit = limit.unwrap_or(Limit::Packets(64));
    match &class.aqm {
        None => fifo(limit, rate),
        Some(aqm) => managed(aqm, limit, rate, dscps, notes),
    }
}

/// Says that nothing drops early in front of a fair queue.
fn no_aqm(class: &ClassSpec, notes: &mut Here<'_>) {
    if let Some(aqm) = &class.aqm {
        notes.add(format!(
            "{} in front of a fair queue is left out",
            aqm.kind()
        ));
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

/// A FIFO of a port: `pfifo_head_drop` where it drops from its front.
pub(super) fn whole_fifo(f: &FifoSpec, rate: Rate, dscps: u64, notes: &mut Here<'_>) -> String {
    match (&f.aqm, f.full) {
        (None, WhenFull::Front) => {
            let packets = in_packets(f.limit, Some(rate), "pfifo_head_drop", notes);
            format!("pfifo_head_drop limit {}", packets.unwrap_or(1000))
        }
        (aqm, _) => {
            if let Some(note) = drops_others(f) {
                notes.add(note);
            }
            match aqm {
                None => fifo(f.limit, rate),
                Some(aqm) => managed(aqm, f.limit, rate, dscps, notes),
            }
        }
    }
}

/// `red`, `codel`, `pie`, `choke` or `sfb`.
pub(super) fn managed(
    aqm: &AqmSpec,
    limit: Limit,
    rate: Rate,
    dscps: u64,
    notes: &mut Here<'_>,
) -> String {
    match aqm {
        AqmSpec::Red(r) => {
            for line in unlike(r) {
                notes.add(line);
            }
            red(r, limit, rate, notes)
        }
        AqmSpec::Wred(w) => {
            let drops = "red spreads its drops over 1 to 1/p packets, which makes them up to twice as many as those of WRED";
            notes.add(match w.unit {
                    WredUnit::Packets => drops.to_owned(),
                    WredUnit::Bytes => format!("{drops}; both count bytes"),
                    WredUnit::Ms => format!(
                        "{drops}; both count bytes, those of a time (`unit: ms`) at the rate of the queue"
                    ),
                },
            );
            let one = one_profile(w, limit, rate, dscps, notes);
            red(&one, limit, rate, notes)
        }
        AqmSpec::Codel(c) => codel(c, limit, rate, notes),
        AqmSpec::Pie(p) => pie(p, limit, rate, notes),
        AqmSpec::Choke(c) => choke_sfb::choke(c, limit, rate, notes),
        AqmSpec::Sfb(s) => choke_sfb::sfb(s, limit, rate, notes),
        other => {
            notes.add(no_aqm_of("tc", other));
            fifo(limit, rate)
        }
    }
}

/// `codel`.
fn codel(c: &CodelSpec, limit: Limit, rate: Rate, notes: &mut Here<'_>) -> String {
    let packets = in_packets(limit, Some(rate), "codel", notes).unwrap_or(1000);
    let ecn = if c.ecn { " ecn" } else { " noecn" };
    let delays = delays(c, notes);
    format!("codel limit {packets}{delays}{ecn}")
}

/// `pie` (tc-pie(8)).
fn pie(p: &PieSpec, limit: Limit, rate: Rate, notes: &mut Here<'_>) -> String {
    let linux = PieSpec::default();
    match p.variant {
        None => notes.add("pie takes the delay of the packet that left last (`as: linux`)"),
        Some(PieVariant::Ns3) => notes.add(flows::NOT_NS3),
        Some(PieVariant::Linux) => {}
    }
    let fixed = changed_after(
        "pie of Linux has no word for ",
        p,
        &[
            "as",
            "target",
            "update",
            "alpha",
            "beta",
            "ecn",
            "dq_rate_estimator",
        ],
    );
    if !fixed.is_empty() {
        notes.add(fixed);
    }
    let packets = in_packets(limit, Some(rate), "pie", notes).unwrap_or(1000);
    let mut gain = |key: &str, gain: f64| {
        let sixteenths = (gain * PIE_ONE).round().clamp(1.0, 32.0);
        if sixteenths / PIE_ONE != gain {
            notes.add(format!(
                "`{key}` of pie is 1 to 32 sixteenths: {gain} is written as {sixteenths}"
            ));
        }
        sixteenths
    };
    let (alpha, beta) = (gain("alpha", p.alpha), gain("beta", p.beta));
    let mut micros = |what: &str, time| in_whole(Dur::from_us(1), "us", what, time, notes);
    let (target, update) = (micros("target", p.target), micros("update", p.update));
    let ecn = if p.ecn { " ecn" } else { " noecn" };
    let estimator = match p.dq_rate_estimator == linux.dq_rate_estimator {
        true => "",
        false => " dq_rate_estimator",
    };
    format!(
        "pie limit {packets} target {target}us tupdate {update}us alpha {alpha} beta {beta}{ecn}{estimator}"
    )
}

/// The words of `codel` and `fq_codel` for what packets may wait.
pub(super) fn delays(c: &CodelSpec, notes: &mut Here<'_>) -> String {
    if c.root() == InverseSqrt::Exact {
        notes.add("Linux computes the square root of CoDel in 16 bits (`inverse_sqrt: newton16`): drops come closer after one another at first");
    }
    if c.max_packet != CodelSpec::default().max_packet {
        notes.add(format!(
                "CoDel drops nothing while no more than the device's largest packet waits, whatever `max_packet` is ({})",
                c.max_packet
            ));
    }
    let mut words = String::new();
    for (word, time) in [
        ("target", Some(c.target)),
        ("interval", Some(c.interval)),
        ("ce_threshold", c.ce_threshold),
    ] {
        if let Some(time) = time {
            let _ = write!(
                words,
                " {word} {}us",
                in_whole(Dur::from_us(1), "us", word, time, notes)
            );
        }
    }
    words
}

/// What of RED is not as in Linux, which counts bytes, drops all above the maximum and has one
/// random number for each gap.
fn unlike(spec: &RedSpec) -> Vec<String> {
    let r = spec.rules();
    let mut all = Vec::new();
    if r.gentle {
        all.push("red is not `gentle`: above the maximum it drops every packet".to_owned());
    }
    if r.curve == RedShape::Quadratic {
        all.push(
            "red raises its probability in proportion, not with the square (`curve: quadratic`)"
                .to_owned(),
        );
    }
    if r.wait {
        all.push("red spreads the gaps between drops over 1 to 1/p packets, not over 1/p to 2/p - 1 (`wait`)".to_owned());
    }
    match r.spread {
        RedSpread::None => all.push(
            "red spreads the gaps between drops over 1 to 1/p packets (`spread: none`)".to_owned(),
        ),
        RedSpread::PerPacket if !r.wait => all.push(
            "red spreads the gaps between drops over 1 to 1/p packets, not 1 to 1/p - 1 (`spread: per-packet`)"
                .to_owned(),
        ),
        RedSpread::PerPacket | RedSpread::PerGap => {}
    }
    if r.ecn && r.gentle && r.marks == RedMarks::BelowCertain {
        all.push("red marks below its maximum only (`marks: below-max`)".to_owned());
    }
    if r.first_passes {
        all.push(
            "red counts from the packet behind the first above the minimum (`first_passes`)"
                .to_owned(),
        );
    }
    if r.spare_short_queue {
        all.push("red drops at a short queue too (`spare_short_queue`)".to_owned());
    }
    let scaled = match r.size_scaling {
        SizeScaling::None => None,
        SizeScaling::Paper => Some(("max_packet", r.max_packet)),
        SizeScaling::Ns => Some(("mean_packet", r.mean_packet)),
    };
    if let Some((key, size)) = scaled {
        all.push(format!(
            "red does not scale probabilities by length (`size_scaling: {}`, `{key}` {size})",
            shown(&r.size_scaling)
        ));
    }
    all
}

/// `red`.
fn red(spec: &RedSpec, limit: Limit, rate: Rate, notes: &mut Here<'_>) -> String {
    let r = spec.rules();
    let (hard, counted) = match limit {
        Limit::Packets(n) => (u64::from(n) * u64::from(PACKET_BYTES), true),
        Limit::Bytes(n) => (n, false),
        Limit::Time(d) => (rate.bytes_in(d), false),
    };
    let decay = match r.mean_packet.0 == u64::from(PACKET_BYTES) {
        true => String::new(),
        false => format!(", not {} (`mean_packet`)", r.mean_packet),
    };
    let mut taken = vec!["of an idle queue's decay"];
    if counted {
        taken.insert(0, "of the limit");
    }
    if !r.in_bytes() {
        taken.insert(0, "of the thresholds");
    }
    let last = taken.pop().unwrap_or_default();
    let before = match taken.is_empty() {
        true => String::new(),
        false => format!("{} and ", taken.join(", ")),
    };
    notes.add(format!(
        "red counts bytes: a packet {before}{last} is taken as {PACKET_BYTES} B{decay}"
    ));
    if r.idle == RedIdle::None {
        notes.add("the average of red decays while the queue is idle (`idle: none`)");
    }
    let (max, words) = red_words(spec, notes);
    if hard <= max {
        notes.add(format!(
            "the limit of red must be above its maximum: {limit} becomes {} B",
            max + 1
        ));
    }
    let (average, ecn) = words;
    format!(
        "red limit {}b{average} bandwidth {}bit{ecn}",
        hard.max(max + 1),
        rate.bps()
    )
}

/// RED of the queues of `sfq`.
pub(super) fn red_of_sfq(spec: &RedSpec, notes: &mut Here<'_>) -> String {
    for line in unlike(spec) {
        notes.add(line);
    }
    let r = spec.rules();
    if !r.in_bytes() {
        notes.add(format!(
            "red counts bytes: a packet of the thresholds is taken as {PACKET_BYTES} B"
        ));
    }
    if r.mean_packet.0 != u64::from(PACKET_BYTES) && spec.mean_packet.is_some() {
        notes.add(format!(
            "`avpkt` is {PACKET_BYTES} B, not {} (`mean_packet`), which changes `burst` alone",
            r.mean_packet
        ));
    }
    let (max, (average, ecn)) = red_words(spec, notes);
    // A queue has no limit in bytes: this one makes thresholds where there are none.
    format!(" redflowlimit {}b{average}{ecn}", 4 * max)
}

/// The upper threshold in bytes, and words for the average and for marks.
fn red_words(spec: &RedSpec, notes: &mut Here<'_>) -> (u64, (String, &'static str)) {
    let r = spec.rules();
    let bytes = |threshold: f64| match r.unit {
        RedUnit::Packets => (threshold * f64::from(PACKET_BYTES) + 0.5) as u64,
        RedUnit::Bytes => (threshold + 0.5) as u64,
    };
    let least = match r.unit {
        RedUnit::Packets => u64::from(PACKET_BYTES),
        RedUnit::Bytes => 1,
    };
    let min = bytes(r.min_th).max(least);
    let max = bytes(r.max_th).max(min + 1);
    if bytes(r.min_th) != min {
        let one = if r.in_bytes() { "byte" } else { "packet" };
        notes.add(format!(
            "the least threshold of red is a {one}, not {}",
            r.min_th
        ));
    }
    let wlog = weight_log(r.weight, 30);
    let burst = burst_of(wlog, min);
    if (r.weight - 1.0 / f64::from(1_u32 << wlog)).abs() > r.weight * 1e-9 {
        notes.add(format!(
            "the weight {} of red becomes a power of two, 1/{}",
            r.weight,
            1_u32 << wlog
        ));
    }
    let ecn = match (r.ecn, r.marks) {
        (false, _) => "",
        (true, RedMarks::Always) => " ecn",
        (true, RedMarks::BelowMax | RedMarks::BelowCertain) => " ecn harddrop",
    };
    let average = format!(
        " min {min}b max {max}b avpkt {PACKET_BYTES}b burst {burst} probability {}",
        r.max_p
    );
    (max, (average, ecn))
}

/// The profile of WRED that stands for all.
fn one_profile(
    w: &WredSpec,
    limit: Limit,
    rate: Rate,
    dscps: u64,
    notes: &mut Here<'_>,
) -> RedSpec {
    let profile = |dscp| w.profile(dscp, limit, rate);
    // `red` counts bytes, a packet being so many.
    let packets = |threshold: u32| match w.unit {
        WredUnit::Packets => f64::from(threshold),
        WredUnit::Bytes | WredUnit::Ms => f64::from(threshold) / f64::from(PACKET_BYTES),
    };
    let mut found: Vec<WredProfile> = Vec::new();
    for d in (0..64_u8).filter(|d| dscps >> d & 1 == 1) {
        let profile = profile(spillgate_core::Dscp::new(d).unwrap_or_default());
        if !found.contains(&profile) {
            found.push(profile);
        }
    }
    let first = found
        .first()
        .copied()
        .unwrap_or_else(|| profile(spillgate_core::Dscp::DEFAULT));
    if found.len() > 1 {
        let told = [
            "ecn",
            "exponential_weighting_constant",
            "mean_packet",
            "idle",
        ];
        let written = changed_after(" with ", w, &told);
        notes.add(format!(
            "red has one drop profile: {} {} {} of the lowest DSCP stands for {} of WRED{written}",
            first.min,
            first.max,
            first.denominator,
            found.len()
        ));
    }
    RedSpec {
        min_th: Some(packets(first.min)),
        max_th: Some(packets(first.max.max(first.min.saturating_add(1)))),
        max_p: Some(1.0 / f64::from(first.denominator)),
        weight: Some(1.0 / f64::from(1_u32 << w.weighting_constant(limit, rate).min(31))),
        gentle: Some(false),
        ecn: w.ecn,
        mean_packet: Some(w.mean_packet),
        idle: w.idle,
        ..RedSpec::default()
    }
}

/// The `burst` from which `tc red` computes 2^-n as its weight: the smallest that does, or comes
/// nearest.
pub(super) fn burst_of(n: u32, min: u64) -> u64 {
    let packet = u64::from(PACKET_BYTES);
    let wanted = 1.0 / f64::from(1_u32 << n);
    // Longer bursts want smaller weights.
    let (mut low, mut high) = (min / packet + 1, 1_u64 << 30);
    while low < high {
        let middle = low + (high - low) / 2;
        if red_weight(middle, min, packet).is_some_and(|w| w > wanted) {
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
                let weight = red_weight(burst, min * u64::from(PACKET_BYTES), 1000);
                let smallest = weight_log(weight.unwrap(), 31);
                // A burst of one packet above the threshold may need a smaller weight already.
                assert!(
                    smallest >= n && (smallest == n || burst == min + 1),
                    "{min} {n} {burst}"
                );
            }
        }
    }
}
