//! Numbers for what counts in whole packets, milliseconds or powers of two.

use spillgate_core::{Dur, Limit, Rate};

use crate::Here;

/// A full packet of Ethernet with its header, in bytes: what one of a limit in bytes is taken as.
pub(crate) const FULL_PACKET: u64 = 1514;

/// A limit for `kind`, which counts packets; none for a time where no rate is known. Bytes make
/// packets of [`FULL_PACKET`], and a note.
pub(crate) fn in_packets(
    limit: Limit,
    rate: Option<Rate>,
    kind: &str,
    notes: &mut Here<'_>,
) -> Option<u64> {
    let bytes = match (limit, rate) {
        (Limit::Packets(n), _) => return Some(n.into()),
        (Limit::Bytes(n), _) => n,
        (Limit::Time(d), Some(rate)) => rate.bytes_in(d),
        (Limit::Time(_), None) => {
            notes.add(format!("{kind} counts packets, and without a rate nobody knows how many the limit of {limit} is: it is left out"),
            );
            return None;
        }
    };
    let packets = bytes.div_ceil(FULL_PACKET).clamp(1, u64::from(u32::MAX));
    notes.add(format!(
        "{kind} counts packets: the limit of {limit} becomes {packets} packets of {FULL_PACKET} B"
    ));
    Some(packets)
}

/// A time in whole `unit`s, at least 1; a remainder is rounded and noted. `name`: of the unit,
/// `what` takes it.
pub(crate) fn in_whole(unit: Dur, name: &str, what: &str, time: Dur, notes: &mut Here<'_>) -> u64 {
    let one = unit.as_ps();
    let whole = ((time.as_ps() + one / 2) / one).max(1);
    if whole * one != time.as_ps() {
        notes.add(format!(
            "`{what}` is in whole {name}: {time} is written as {whole} {name}"
        ));
    }
    whole
}

/// The n, from 1 to `most`, whose 2^-n is nearest to a weight, by ratio.
pub(crate) fn weight_log(weight: f64, most: u32) -> u32 {
    let mut n = 1;
    let mut w = 0.5;
    while n < most && weight < w * std::f64::consts::FRAC_1_SQRT_2 {
        n += 1;
        w /= 2.0;
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_round_to_powers_of_two() {
        assert_eq!(
            [0.5, 0.002, 1.0 / 512.0, 0.0001].map(|w| weight_log(w, 30)),
            [1, 9, 9, 13]
        );
    }
}
