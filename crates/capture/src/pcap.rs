//! The pcap format (draft-ietf-opsawg-pcap): a file header and records, in either byte order, with
//! microseconds or nanoseconds; the modified format of Kuznetzov has eight more bytes in a record.

use std::io::Read;

use crate::buffer::Buffer;
use crate::error::{CaptureError, Fault};
use crate::link::LinkType;
use crate::reader::{Format, Interface, Order, Raw, Stamp, Ticks};

const HEADER: usize = 24;
/// What libpcap takes for the longest packet (MAXIMUM_SNAPLEN).
const MAX_CAPTURED: u32 = 262_144;
const RECORD: &str = "packet record";
const HEAD: &str = "file header";

pub(crate) struct PcapReader {
    order: Order,
    nanoseconds: bool,
    record_header: usize,
    pub(crate) interface: Interface,
}

impl PcapReader {
    /// Reads the file header; none if this is not pcap.
    pub(crate) fn read<R: Read>(buffer: &mut Buffer<R>) -> Result<Option<Self>, CaptureError> {
        let magic = buffer.data().get(..4).unwrap_or_default();
        let (big_endian, nanoseconds, record_header) = match magic {
            [0xd4, 0xc3, 0xb2, 0xa1] => (false, false, 16),
            [0xa1, 0xb2, 0xc3, 0xd4] => (true, false, 16),
            [0x4d, 0x3c, 0xb2, 0xa1] => (false, true, 16),
            [0xa1, 0xb2, 0x3c, 0x4d] => (true, true, 16),
            [0x34, 0xcd, 0xb2, 0xa1] => (false, false, 24),
            [0xa1, 0xb2, 0xcd, 0x34] => (true, false, 24),
            _ => return Ok(None),
        };
        let there = buffer.want(HEADER)?;
        if there < HEADER {
            return Err(CaptureError::cut(0, HEAD, HEADER as u64, there as u64));
        }
        let order = Order { big_endian };
        let head = buffer.data();
        let (major, minor) = (order.u16(head, 4), order.u16(head, 6));
        if major != 2 {
            return Err(CaptureError::new(
                Fault::Unknown,
                0,
                HEAD,
                format!("version {major}.{minor} of the pcap format is not known"),
                "this program reads version 2; if the number is absurd, the file is damaged",
            ));
        }
        let snaplen = order.u32(head, 16);
        // The upper bits tell the length of the frame check sequence.
        let link = LinkType(order.u32(head, 20) as u16);
        buffer.consume(HEADER);
        Ok(Some(Self {
            order,
            nanoseconds,
            record_header,
            interface: Interface {
                link,
                name: String::new(),
                snaplen,
                clock: Ticks::MICROSECONDS,
            },
        }))
    }

    pub(crate) fn format(&self) -> Format {
        Format::Pcap {
            big_endian: self.order.big_endian,
            nanoseconds: self.nanoseconds,
        }
    }

    #[inline]
    pub(crate) fn next<R: Read>(
        &mut self,
        buffer: &mut Buffer<R>,
    ) -> Result<Option<Raw>, CaptureError> {
        let header = self.record_header;
        let there = buffer.want(header)?;
        let at = buffer.offset();
        if there < header {
            return match there {
                0 => Ok(None),
                _ => Err(CaptureError::cut(at, RECORD, header as u64, there as u64)),
            };
        }
        let head = buffer.data();
        let order = self.order;
        let (seconds, fraction) = (order.u32(head, 0), order.u32(head, 4));
        let (captured, original) = (order.u32(head, 8), order.u32(head, 12));
        if captured > MAX_CAPTURED {
            return Err(CaptureError::corrupt(
                at,
                RECORD,
                format!("it says that {captured} bytes were captured, the most is {MAX_CAPTURED}"),
            ));
        }
        let (per_second, ps) = match self.nanoseconds {
            true => (1_000_000_000, 1_000),
            false => (1_000_000, 1_000_000),
        };
        if fraction >= per_second {
            return Err(CaptureError::corrupt(
                at,
                RECORD,
                format!("its time has {fraction} of {per_second} parts of a second"),
            ));
        }
        let whole = header + captured as usize;
        let there = buffer.want(whole)?;
        if there < whole {
            return Err(CaptureError::cut(at, RECORD, whole as u64, there as u64));
        }
        buffer.consume(whole);
        let time = i128::from(seconds) * 1_000_000_000_000 + i128::from(fraction) * ps;
        Ok(Some(Raw {
            time: Some(Stamp(time)),
            interface: 0,
            wire_len: original.max(captured),
            direction: None,
            back: captured as usize,
            captured: captured as usize,
        }))
    }
}
