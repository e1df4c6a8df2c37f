//! Cells of ATM and how AAL5 cuts packets into them (ITU-T I.361, I.363.5; RFC 2684).
//!
//! A packet and what its encapsulation puts before it are the payload of AAL5, which adds a trailer
//! and fills up to whole cells.

/// Bytes of a cell (I.361).
pub const CELL: u32 = 53;
/// Bytes of a cell behind its header.
pub const CELL_PAYLOAD: u32 = 48;
/// Bytes of the trailer of AAL5: UU, CPI, length, CRC (I.363.5 section 9.2.1.1).
pub const TRAILER: u32 = 8;
/// Bytes of LLC and SNAP before a routed packet (RFC 2684 section 5.1); with VC multiplexing there
/// are none.
pub const LLC_SNAP: u32 = 8;
/// The longest payload of AAL5 in bytes: its length field has 16 bits.
pub const MAX_PAYLOAD: u32 = 65_535;

/// Cells that `bytes` fill, the last one perhaps in part.
#[inline]
pub const fn cells(bytes: u32) -> u32 {
    bytes.div_ceil(CELL_PAYLOAD)
}

/// Cells of an AAL5 frame with a payload of so many bytes, encapsulation included.
#[inline]
pub const fn cells_of_payload(payload: u32) -> u32 {
    cells(payload + TRAILER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_payload_gets_the_cells_that_hold_it_and_its_trailer() {
        for payload in 0..=MAX_PAYLOAD {
            let cells = cells_of_payload(payload);
            let (room, needed) = (48 * cells, payload + 8);
            assert!(room >= needed && room - needed < 48, "{payload}");
        }
        // An acknowledgment of TCP: one cell with VC multiplexing, two with LLC.
        assert_eq!(cells_of_payload(40), 1);
        assert_eq!(cells_of_payload(40 + LLC_SNAP), 2);
    }
}
