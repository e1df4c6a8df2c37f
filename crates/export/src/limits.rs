//! Limits for what counts packets.

use spillgate_core::{Limit, Rate};

use crate::Notes;

/// A full packet of Ethernet with its header, in bytes: what one of a limit in bytes is taken as.
pub(crate) const FULL_PACKET: u64 = 1514;

/// A limit for `kind`, which counts packets; none for a time where no rate is known. Bytes make
/// packets of [`FULL_PACKET`], and a note.
pub(crate) fn in_packets(
    limit: Limit,
    rate: Option<Rate>,
    kind: &str,
    place: &str,
    notes: &mut Notes,
) -> Option<u64> {
    let bytes = match (limit, rate) {
        (Limit::Packets(n), _) => return Some(n.into()),
        (Limit::Bytes(n), _) => n,
        (Limit::Time(d), Some(rate)) => rate.bytes_in(d),
        (Limit::Time(_), None) => {
            notes.add(
                place,
                format!("{kind} counts packets, and without a rate nobody knows how many the limit of {limit} is: it is left out"),
            );
            return None;
        }
    };
    let packets = bytes.div_ceil(FULL_PACKET).clamp(1, u64::from(u32::MAX));
    notes.add(
        place,
        format!("{kind} counts packets: the limit of {limit} becomes {packets} packets of {FULL_PACKET} B"),
    );
    Some(packets)
}
