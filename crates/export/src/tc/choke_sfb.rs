//! AQMs of Linux that tell flows apart: `choke` and `sfb`.

use spillgate_core::{Dur, Limit, Rate};
use spillgate_queueing::aqm::{ChokeSpec, RedIdle, SfbSpec};

use super::queue::{PACKET_BYTES, burst_of};
use crate::Here;
use crate::limits::{in_packets, in_whole, weight_log};

/// `choke` (tc-choke(8)).
pub(super) fn choke(c: &ChokeSpec, limit: Limit, rate: Rate, notes: &mut Here<'_>) -> String {
    if c.variant.is_none() {
        notes.add("choke spreads the gaps between drops over 1 to 1/p packets, and with `ecn` marks above its maximum, too (`as: linux`)");
    }
    if c.idle == RedIdle::None {
        notes.add("the average of choke decays while the queue is idle (`idle: none`)");
    }
    if c.mean_packet.0 != u64::from(PACKET_BYTES) {
        notes.add(format!(
            "choke takes a packet of an idle queue's decay as {PACKET_BYTES} B, not {} (`mean_packet`)",
            c.mean_packet
        ));
    }
    let mut whole = |key: &str, threshold: f64, least: u64| {
        let n = ((threshold + 0.5) as u64).max(least);
        if n as f64 != threshold {
            notes.add(format!(
                "`{key}` of choke is in whole packets: {threshold} is written as {n}"
            ));
        }
        n
    };
    let min = whole("min_th", c.min_th, 1);
    let max = whole("max_th", c.max_th, min + 1);
    let packets = in_packets(limit, Some(rate), "choke", notes).unwrap_or(1000);
    let wlog = weight_log(c.weight, 30);
    let power = 1.0 / f64::from(1_u32 << wlog);
    if (c.weight - power).abs() > c.weight * 1e-9 {
        notes.add(format!(
            "the weight {} of choke becomes a power of two, 1/{}",
            c.weight,
            1_u32 << wlog
        ));
    }
    let burst = burst_of(wlog, min * u64::from(PACKET_BYTES));
    let ecn = if c.ecn { " ecn" } else { "" };
    format!(
        "choke limit {packets} min {min} max {max} avpkt {PACKET_BYTES}b burst {burst} probability {} bandwidth {}bit{ecn}",
        c.max_p,
        rate.bps()
    )
}

/// One as SFB of Linux counts probabilities.
const SFB_ONE: f64 = 65535.0;

/// `sfb` (tc-sfb(8)).
pub(super) fn sfb(s: &SfbSpec, limit: Limit, rate: Rate, notes: &mut Here<'_>) -> String {
    let linux = SfbSpec::default();
    if (s.levels, s.bins) != (linux.levels, linux.bins) {
        notes.add(format!(
            "sfb has {} levels of {} bins, not {} of {} (`levels`, `bins`)",
            linux.levels, linux.bins, s.levels, s.bins
        ));
    }
    if !s.ecn {
        notes.add("sfb marks ECN-capable packets (`ecn: false`)");
    }
    let packets = in_packets(limit, Some(rate), "sfb", notes).unwrap_or(1000);
    let mut ms = |word: &str, time: Dur| match time.is_zero() {
        true => 0,
        false => in_whole(Dur::from_ms(1), "ms", word, time, notes),
    };
    let (rehash, warmup) = (ms("rehash", s.rehash), ms("warmup", s.warmup));
    let mut step = |key: &str, p: f64| {
        let n = (p * SFB_ONE + 0.5).floor().max(1.0);
        if (n / SFB_ONE - p).abs() > 1e-9 {
            notes.add(format!(
                "`{key}` of sfb is in whole 1/65535: {p} is written as {n}/65535"
            ));
        }
        // `tc` cuts off what is below a whole one.
        (n / SFB_ONE * 1e8).ceil() / 1e8
    };
    let (up, down) = (
        step("increment", s.increment),
        step("decrement", s.decrement),
    );
    format!(
        "sfb rehash {rehash} db {warmup} limit {packets} max {} target {} increment {up} decrement {down} penalty_rate {} penalty_burst {}",
        s.max, s.target, s.penalty_rate, s.penalty_burst
    )
}
