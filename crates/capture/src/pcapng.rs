//! The pcapng format (draft-ietf-opsawg-pcapng): blocks with a type and a length at both ends.
//!
//! Sections may differ in byte order, and each has interfaces of its own. Packets are in enhanced
//! packet blocks, simple packet blocks and the obsolete packet blocks; blocks of other types are
//! skipped by their length, without being held.

use std::io::Read;

use crate::buffer::Buffer;
use crate::error::{CaptureError, Fault};
use crate::link::LinkType;
use crate::reader::{Direction, Interface, Order, Raw, Ticks};

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const PACKET: u32 = 2;
const SIMPLE: u32 = 3;
const ENHANCED: u32 = 6;
/// A block that is held whole is at most this long; packets and their options are far shorter.
const MAX_BLOCK: u32 = 16 * 1024 * 1024;
/// Interfaces of one section.
const MAX_INTERFACES: usize = 65_536;

pub(crate) struct PcapNgReader {
    order: Order,
    pub(crate) interfaces: Vec<Interface>,
}

impl PcapNgReader {
    /// Checks the first block's type; none if this is not pcapng.
    pub(crate) fn read<R: Read>(buffer: &mut Buffer<R>) -> Result<Option<Self>, CaptureError> {
        if !buffer.data().starts_with(&SECTION.to_be_bytes()) {
            return Ok(None);
        }
        let mut state = Self {
            order: Order { big_endian: false },
            interfaces: Vec::new(),
        };
        state.section(buffer)?;
        Ok(Some(state))
    }

    /// The next packet.
    #[inline]
    pub(crate) fn next<R: Read>(
        &mut self,
        buffer: &mut Buffer<R>,
    ) -> Result<Option<Raw>, CaptureError> {
        loop {
            let there = buffer.want(12)?;
            let at = buffer.offset();
            if there < 12 {
                return match there {
                    0 => Ok(None),
                    _ => Err(CaptureError::cut(at, "block", 12, there as u64)),
                };
            }
            let kind = self.order.u32(buffer.data(), 0);
            // The same number in both byte orders.
            if kind == SECTION {
                self.section(buffer)?;
                continue;
            }
            let name = name(kind);
            let len = self.order.u32(buffer.data(), 4);
            check_length(at, name, len)?;
            if !matches!(kind, INTERFACE | PACKET | SIMPLE | ENHANCED) {
                skip(buffer, self.order, at, len)?;
                continue;
            }
            if len > MAX_BLOCK {
                return Err(CaptureError::corrupt(
                    at,
                    name,
                    format!("it says that it is {len} bytes long, no packet is"),
                ));
            }
            let whole = len as usize;
            let there = buffer.want(whole)?;
            if there < whole {
                return Err(CaptureError::cut(at, name, whole as u64, there as u64));
            }
            let block = &buffer.data()[..whole];
            check_trailer(at, name, len, self.order.u32(block, whole - 4))?;
            if kind == INTERFACE {
                let interface = interface(self.order, block, at)?;
                if self.interfaces.len() >= MAX_INTERFACES {
                    let message = format!("the section has more than {MAX_INTERFACES} interfaces");
                    return Err(CaptureError::corrupt(at, name, message));
                }
                self.interfaces.push(interface);
                buffer.consume(whole);
                continue;
            }
            let raw = packet(kind, self.order, &self.interfaces, block, at)?;
            buffer.consume(whole);
            return Ok(Some(raw));
        }
    }

    /// A section header block: the byte order and the interfaces begin anew.
    fn section<R: Read>(&mut self, buffer: &mut Buffer<R>) -> Result<(), CaptureError> {
        const NAME: &str = "section header block";
        let at = buffer.offset();
        let there = buffer.want(28)?;
        if there < 28 {
            return Err(CaptureError::cut(at, NAME, 28, there as u64));
        }
        let head = buffer.data();
        let big_endian = match &head[8..12] {
            [0x1a, 0x2b, 0x3c, 0x4d] => true,
            [0x4d, 0x3c, 0x2b, 0x1a] => false,
            other => {
                let message = format!("its byte-order magic is {other:02x?}");
                return Err(CaptureError::corrupt(at, NAME, message));
            }
        };
        let order = Order { big_endian };
        let len = order.u32(head, 4);
        check_length(at, NAME, len)?;
        if len < 28 {
            let message = format!("it says that it is {len} bytes long, the least is 28");
            return Err(CaptureError::corrupt(at, NAME, message));
        }
        let (major, minor) = (order.u16(head, 12), order.u16(head, 14));
        if major != 1 {
            return Err(CaptureError::new(
                Fault::Unknown,
                at,
                NAME,
                format!("version {major}.{minor} of the pcapng format is not known"),
                "this program reads version 1; if the number is absurd, the file is damaged",
            ));
        }
        self.order = order;
        self.interfaces.clear();
        skip(buffer, order, at, len)
    }
}

/// What a block is called in messages.
fn name(kind: u32) -> &'static str {
    match kind {
        INTERFACE => "interface description block",
        PACKET => "packet block",
        SIMPLE => "simple packet block",
        ENHANCED => "enhanced packet block",
        4 => "name resolution block",
        5 => "interface statistics block",
        10 => "decryption secrets block",
        _ => "block of another type",
    }
}

fn check_length(at: u64, name: &'static str, len: u32) -> Result<(), CaptureError> {
    if len < 12 || len % 4 != 0 {
        let message =
            format!("it says that it is {len} bytes long: blocks are a multiple of 4, 12 at least");
        return Err(CaptureError::corrupt(at, name, message));
    }
    Ok(())
}

fn check_trailer(at: u64, name: &'static str, len: u32, trailer: u32) -> Result<(), CaptureError> {
    if trailer != len {
        let message = format!("its length is {len} at the beginning and {trailer} at the end");
        return Err(CaptureError::corrupt(at, name, message));
    }
    Ok(())
}

/// Goes on behind a block without holding it.
fn skip<R: Read>(
    buffer: &mut Buffer<R>,
    order: Order,
    at: u64,
    len: u32,
) -> Result<(), CaptureError> {
    let name = name(order.u32(buffer.data(), 0));
    let missing = buffer.skip(u64::from(len) - 4)?;
    let there = buffer.want(4)?;
    if missing > 0 || there < 4 {
        let had = buffer.offset() - at + there as u64;
        return Err(CaptureError::cut(at, name, u64::from(len), had));
    }
    let trailer = order.u32(buffer.data(), 0);
    buffer.consume(4);
    check_trailer(at, name, len, trailer)
}

/// An interface description block (draft §4.2).
fn interface(order: Order, block: &[u8], at: u64) -> Result<Interface, CaptureError> {
    const NAME: &str = "interface description block";
    if block.len() < 20 {
        let message = format!("it is {} bytes long, the least is 20", block.len());
        return Err(CaptureError::corrupt(at, NAME, message));
    }
    let mut interface = Interface {
        link: LinkType(order.u16(block, 8)),
        name: String::new(),
        snaplen: order.u32(block, 12),
        clock: Ticks::MICROSECONDS,
    };
    let mut fault = None;
    options(order, &block[16..block.len() - 4], |code, value| {
        match (code, value) {
            // if_name
            (2, name) => interface.name = String::from_utf8_lossy(name).into_owned(),
            // if_tsresol
            (9, [resolution, ..]) => match ticks(*resolution) {
                Some(t) => {
                    interface.clock = Ticks {
                        offset: interface.clock.offset,
                        ..t
                    }
                }
                None => fault = Some(*resolution),
            },
            // if_tsoffset
            (14, value) if value.len() == 8 => {
                let (a, b) = (
                    u64::from(order.u32(value, 0)),
                    u64::from(order.u32(value, 4)),
                );
                let bits = if order.big_endian {
                    a << 32 | b
                } else {
                    b << 32 | a
                };
                interface.clock.offset = bits as i64;
            }
            _ => {}
        }
    });
    match fault {
        None => Ok(interface),
        Some(r) => {
            let message =
                format!("its resolution of time, {r:#04x}, is finer than 64 bits can count");
            Err(CaptureError::corrupt(at, NAME, message))
        }
    }
}

/// The resolution of times: ten to the minus `r`, or two to the minus the lower bits if the upper
/// one is set.
fn ticks(r: u8) -> Option<Ticks> {
    let exponent = u32::from(r & 0x7f);
    let per_second = match r & 0x80 {
        0 => 10_u128.checked_pow(exponent)?,
        _ => 1_u128.checked_shl(exponent)?,
    };
    // 64 bits of finer ticks would not make a second.
    if per_second > u128::from(u64::MAX) {
        return None;
    }
    let ps = match 1_000_000_000_000 % per_second {
        0 => (1_000_000_000_000 / per_second) as u64,
        _ => 0,
    };
    Some(Ticks {
        ps,
        per_second,
        offset: 0,
    })
}

/// Calls `f` for each option until they end, or make no sense.
fn options<'a>(order: Order, mut rest: &'a [u8], mut f: impl FnMut(u16, &'a [u8])) {
    while rest.len() >= 4 {
        let (code, len) = (order.u16(rest, 0), usize::from(order.u16(rest, 2)));
        let Some(value) = rest.get(4..4 + len) else {
            return;
        };
        if code == 0 {
            return;
        }
        f(code, value);
        rest = rest.get(4 + len.next_multiple_of(4)..).unwrap_or_default();
    }
}

/// A packet of one of the three blocks that have them.
#[inline]
fn packet(
    kind: u32,
    order: Order,
    interfaces: &[Interface],
    block: &[u8],
    at: u64,
) -> Result<Raw, CaptureError> {
    let name = name(kind);
    // Where the data begins, and the least length of the block.
    let head = if kind == SIMPLE { 12 } else { 28 };
    if block.len() < head + 4 {
        let message = format!(
            "it is {} bytes long, the least is {}",
            block.len(),
            head + 4
        );
        return Err(CaptureError::corrupt(at, name, message));
    }
    let id = match kind {
        SIMPLE => 0,
        PACKET => u32::from(order.u16(block, 8)),
        _ => order.u32(block, 8),
    };
    let Some(interface) = interfaces.get(id as usize) else {
        let message = format!(
            "it is of interface {id}, the section has described {} so far",
            interfaces.len()
        );
        return Err(CaptureError::corrupt(at, name, message));
    };
    let room = block.len() - head - 4;
    if kind == SIMPLE {
        let original = order.u32(block, 8);
        let limit = match interface.snaplen {
            0 => original,
            most => original.min(most),
        };
        let captured = room.min(limit as usize);
        return Ok(Raw {
            time: None,
            interface: id,
            wire_len: original,
            direction: None,
            back: block.len() - head,
            captured,
        });
    }
    let (high, low) = (order.u32(block, 12), order.u32(block, 16));
    let (captured, original) = (order.u32(block, 20), order.u32(block, 24));
    if captured as usize > room {
        let message =
            format!("it says that {captured} bytes were captured, it has room for {room}");
        return Err(CaptureError::corrupt(at, name, message));
    }
    let behind = head + (captured as usize).next_multiple_of(4);
    let mut direction = None;
    if let Some(rest) = block.get(behind..block.len() - 4).filter(|r| r.len() >= 8) {
        options(order, rest, |code, value| {
            // epb_flags; the obsolete block has the same.
            if code == 2 && value.len() == 4 {
                direction = match order.u32(value, 0) & 3 {
                    1 => Some(Direction::In),
                    2 => Some(Direction::Out),
                    _ => None,
                };
            }
        });
    }
    Ok(Raw {
        time: Some(
            interface
                .clock
                .stamp(u64::from(high) << 32 | u64::from(low)),
        ),
        interface: id,
        wire_len: original.max(captured),
        direction,
        back: block.len() - head,
        captured: captured as usize,
    })
}
