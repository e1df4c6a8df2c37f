//! The bytes that the kernel counts of a packet.

use spillgate_core::{Cells, Overhead};

use crate::ios::fault::Fault;

use super::line::{Args, wrong};

/// Bytes that the kernel counts beside an IP packet: the header of Ethernet.
pub(super) const ETHERNET: i16 = 14;
/// The most bytes that a size table may add: the header of Ethernet comes on top.
const MOST_BESIDE: u16 = 900;

/// The bytes that a size table makes the kernel count (tc-stab(8)).
pub(super) fn stab(args: &mut Args<'_>) -> Result<Overhead, Fault> {
    let (mut overhead, mut mpu, mut cells) = (0_i16, 0_u16, Cells::None);
    loop {
        let mut ahead = args.clone();
        let Some(word) = ahead.next() else { break };
        match word.text.as_str() {
            "overhead" => {
                let within = |n: &i16| n.unsigned_abs() <= MOST_BESIDE;
                let read = |t: &str| t.parse().ok().filter(within);
                overhead = ahead.read("a number from -900 to 900", read)?;
            }
            "mpu" => {
                let read = |t: &str| t.parse().ok().filter(|n| *n <= MOST_BESIDE);
                mpu = ahead.read("a number from 0 to 900", read)?;
            }
            "mtu" | "tsize" => {
                ahead.value("a number")?;
            }
            "linklayer" => {
                let layer = ahead.value("a layer")?;
                cells = match layer.text.as_str() {
                    "atm" | "adsl" => Cells::Atm,
                    "ethernet" => Cells::None,
                    _ => return Err(wrong(layer, "is neither ethernet nor atm")),
                };
            }
            _ => break,
        }
        *args = ahead;
    }
    Ok(Overhead::new(ETHERNET + overhead, mpu, cells))
}
