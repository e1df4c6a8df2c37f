//! One face for both formats.

use std::io::Read;

use crate::buffer::Buffer;
use crate::error::{CaptureError, Fault};
use crate::link::LinkType;
use crate::{pcap, pcapng};

/// The file's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// pcap, as libpcap writes it.
    Pcap {
        /// Whether numbers are big-endian.
        big_endian: bool,
        /// Whether times are nanoseconds, not microseconds.
        nanoseconds: bool,
    },
    /// pcapng.
    PcapNg,
}

impl Format {
    /// What people call it: `pcap (nanoseconds)`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pcap {
                nanoseconds: false, ..
            } => "pcap (microseconds)",
            Self::Pcap {
                nanoseconds: true, ..
            } => "pcap (nanoseconds)",
            Self::PcapNg => "pcapng",
        }
    }
}

/// An instant, in picoseconds since 1970-01-01 00:00 UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp(pub i128);

impl Stamp {
    /// Picoseconds since `earlier`; 0 if that is later, [`u64::MAX`] if it is 213 days ago or more.
    #[inline]
    pub fn since(self, earlier: Self) -> u64 {
        (self.0 - earlier.0).clamp(0, i128::from(u64::MAX)) as u64
    }

    /// Seconds since 1970.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e12
    }
}

/// Which way a packet went through the capturing interface, where the file says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Received.
    In,
    /// Sent.
    Out,
}

/// An interface on which packets were captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its link-layer type.
    pub link: LinkType,
    /// Its name, empty where the file has none.
    pub name: String,
    /// Most bytes that are kept of a packet; 0 for no limit.
    pub snaplen: u32,
    pub(crate) clock: Ticks,
}

/// What a tick of an interface's times is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticks {
    /// Picoseconds in a tick, where that is a whole number.
    pub(crate) ps: u64,
    /// Else ticks in a second.
    pub(crate) per_second: u128,
    /// Added, in seconds.
    pub(crate) offset: i64,
}

impl Ticks {
    pub(crate) const MICROSECONDS: Self = Self {
        ps: 1_000_000,
        per_second: 1_000_000,
        offset: 0,
    };

    #[inline]
    pub(crate) fn stamp(&self, ticks: u64) -> Stamp {
        let since = match self.ps {
            0 => {
                let ticks = u128::from(ticks);
                let (whole, rest) = (ticks / self.per_second, ticks % self.per_second);
                // The rest is below 2^64, its product below 2^104.
                whole as i128 * 1_000_000_000_000
                    + (rest * 1_000_000_000_000 / self.per_second) as i128
            }
            ps => i128::from(ticks) * i128::from(ps),
        };
        Stamp(since + i128::from(self.offset) * 1_000_000_000_000)
    }
}

/// A captured packet.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// When; none where the file does not say (simple packet blocks).
    pub time: Option<Stamp>,
    /// Which of [`Reader::interfaces`] captured it.
    pub interface: u32,
    /// Link-layer type of that interface.
    pub link: LinkType,
    /// Length on the wire in bytes, link headers included.
    pub wire_len: u32,
    /// Which way it went, where the record says so.
    pub direction: Option<Direction>,
    /// What was captured of it.
    pub data: &'a [u8],
}

/// What both formats tell of a record that has just been consumed from the buffer.
pub(crate) struct Raw {
    pub(crate) time: Option<Stamp>,
    pub(crate) interface: u32,
    pub(crate) wire_len: u32,
    pub(crate) direction: Option<Direction>,
    /// Bytes back from the buffer's place to the data, and the data's length.
    pub(crate) back: usize,
    pub(crate) captured: usize,
}

enum State {
    Pcap(pcap::PcapReader),
    PcapNg(pcapng::PcapNgReader),
}

/// A stream of the packet records of a capture.
pub struct Reader<R> {
    buffer: Buffer<R>,
    state: State,
    records: u64,
    failed: Option<CaptureError>,
}

/// First bytes of what is often put around a capture.
const COMPRESSED: [(&[u8], &str); 5] = [
    (&[0x1f, 0x8b], "gzip"),
    (&[0x28, 0xb5, 0x2f, 0xfd], "zstd"),
    (&[0xfd, b'7', b'z', b'X', b'Z'], "xz"),
    (b"BZh", "bzip2"),
    (&[0x04, 0x22, 0x4d, 0x18], "lz4"),
];

impl<R: Read> Reader<R> {
    /// Reads the head of a capture; the bytes decide which format it is, not a file name.
    ///
    /// # Errors
    /// What keeps the file from being read: it is empty, compressed, something else, or damaged.
    pub fn new(inner: R) -> Result<Self, CaptureError> {
        let mut buffer = Buffer::new(inner);
        let there = buffer.want(4)?;
        let head = buffer.data();
        if there == 0 {
            return Err(CaptureError::new(
                Fault::Empty,
                0,
                "file header",
                "the file is empty",
                "capture with tcpdump -w or dumpcap, and wait until it has ended",
            ));
        }
        if let Some((_, name)) = COMPRESSED.iter().find(|(magic, _)| head.starts_with(magic)) {
            return Err(CaptureError::new(
                Fault::Compressed,
                0,
                "file header",
                format!("the file is compressed with {name}"),
                "decompress it first (gunzip, zstd -d, unxz, bunzip2, lz4 -d)",
            ));
        }
        let state = if there < 4 {
            return Err(CaptureError::cut(0, "file header", 24, there as u64));
        } else if let Some(state) = pcap::PcapReader::read(&mut buffer)? {
            State::Pcap(state)
        } else if let Some(state) = pcapng::PcapNgReader::read(&mut buffer)? {
            State::PcapNg(state)
        } else {
            let head = &buffer.data()[..4];
            // What a text says is nobody's business.
            let is_text = |b: &u8| matches!(b, b' '..=b'~' | b'\t' | b'\r' | b'\n');
            let begin = match head.iter().all(is_text) {
                true => "text".to_owned(),
                false => format!(
                    "{:02x} {:02x} {:02x} {:02x}",
                    head[0], head[1], head[2], head[3]
                ),
            };
            return Err(CaptureError::new(
                Fault::Unknown,
                0,
                "file header",
                format!("this is not a pcap or pcapng file: it begins with {begin}"),
                "convert other formats with editcap -F pcapng IN OUT",
            ));
        };
        Ok(Self {
            buffer,
            state,
            records: 0,
            failed: None,
        })
    }

    /// The next packet record; none at the end of the file.
    ///
    /// # Errors
    /// The same error at every call once the file is found damaged or cut short.
    #[inline]
    #[allow(
        clippy::should_implement_trait,
        reason = "records borrow from the reader"
    )]
    pub fn next(&mut self) -> Result<Option<Record<'_>>, CaptureError> {
        if let Some(e) = &self.failed {
            return Err(e.clone());
        }
        let raw = match &mut self.state {
            State::Pcap(s) => s.next(&mut self.buffer),
            State::PcapNg(s) => s.next(&mut self.buffer),
        };
        match raw {
            Ok(None) => Ok(None),
            Ok(Some(raw)) => {
                self.records += 1;
                let link = match &self.state {
                    State::Pcap(s) => s.interface.link,
                    State::PcapNg(s) => s.interfaces[raw.interface as usize].link,
                };
                Ok(Some(Record {
                    time: raw.time,
                    interface: raw.interface,
                    link,
                    wire_len: raw.wire_len,
                    direction: raw.direction,
                    data: &self.buffer.consumed(raw.back)[..raw.captured],
                }))
            }
            Err(mut e) => {
                e.records = self.records;
                self.failed = Some(e.clone());
                Err(e)
            }
        }
    }

    /// Reads the rest of the file without looking at it.
    ///
    /// # Errors
    /// If the operating system cannot.
    pub fn drain(&mut self) -> Result<(), CaptureError> {
        self.buffer.skip(u64::MAX).map(drop)
    }

    /// The interfaces that are known so far; those of a former section of the file are no longer.
    pub fn interfaces(&self) -> &[Interface] {
        match &self.state {
            State::Pcap(s) => std::slice::from_ref(&s.interface),
            State::PcapNg(s) => &s.interfaces,
        }
    }

    /// The file's format.
    pub fn format(&self) -> Format {
        match &self.state {
            State::Pcap(s) => s.format(),
            State::PcapNg(_) => Format::PcapNg,
        }
    }

    /// Packet records so far.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Bytes of the file that were read so far.
    pub fn offset(&self) -> u64 {
        self.buffer.offset()
    }
}

/// Numbers in the file's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) big_endian: bool,
}

impl Order {
    /// The number at `at`, 0 beyond the end: callers make sure that it is there.
    #[inline]
    pub(crate) fn u32(self, data: &[u8], at: usize) -> u32 {
        let four = data
            .get(at..at + 4)
            .and_then(|s| <[u8; 4]>::try_from(s).ok());
        match self.big_endian {
            true => u32::from_be_bytes(four.unwrap_or_default()),
            false => u32::from_le_bytes(four.unwrap_or_default()),
        }
    }

    /// The same of 16 bits.
    #[inline]
    pub(crate) fn u16(self, data: &[u8], at: usize) -> u16 {
        let two = data
            .get(at..at + 2)
            .and_then(|s| <[u8; 2]>::try_from(s).ok());
        match self.big_endian {
            true => u16::from_be_bytes(two.unwrap_or_default()),
            false => u16::from_le_bytes(two.unwrap_or_default()),
        }
    }
}
