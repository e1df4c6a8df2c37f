//! Blocks of a pcapng file, little-endian.

use std::io::{self, Write};

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const ENHANCED_PACKET: u32 = 6;

/// An option of a block.
const END: u16 = 0;
const COMMENT: u16 = 1;
const SHB_USERAPPL: u16 = 4;
const IF_NAME: u16 = 2;
const IF_DESCRIPTION: u16 = 3;
const IF_TSRESOL: u16 = 9;
const EPB_FLAGS: u16 = 2;

/// Link-layer types of interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(super) enum LinkType {
    Ethernet = 1,
    /// The packet begins with its IP header.
    Raw = 101,
}

/// Which way a packet goes at its interface (`epb_flags`, bits 0 and 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Direction {
    Unknown = 0,
    Inbound = 1,
    Outbound = 2,
}

/// A packet to write.
pub(super) struct Frame<'a> {
    pub(super) interface: u32,
    /// In units of the interface.
    pub(super) ticks: u64,
    /// Its first bytes.
    pub(super) headers: &'a [u8],
    /// How many of its bytes are kept; those after the headers are zero.
    pub(super) kept: u32,
    /// Its length.
    pub(super) len: u32,
    pub(super) direction: Direction,
    pub(super) comment: &'a str,
}

/// Writes blocks; each is put together in one buffer.
pub(super) struct Writer<W> {
    out: W,
    block: Vec<u8>,
}

impl<W: Write> Writer<W> {
    pub(super) fn new(out: W) -> Self {
        Self {
            out,
            block: Vec::with_capacity(1024),
        }
    }

    /// The header of the file's one section.
    pub(super) fn section(&mut self, program: &str, comment: &str) -> io::Result<()> {
        self.begin(SECTION_HEADER);
        self.u32(0x1a2b_3c4d);
        self.u16(1);
        self.u16(0);
        // The section's length is not told.
        self.block.extend([0xff; 8]);
        self.option(COMMENT, comment.as_bytes());
        self.option(SHB_USERAPPL, program.as_bytes());
        self.end()
    }

    /// An interface; they are numbered from 0. Times are in units of ten to the minus
    /// `resolution` of a second.
    pub(super) fn interface(
        &mut self,
        link: LinkType,
        snaplen: u32,
        resolution: u8,
        name: &str,
        description: &str,
    ) -> io::Result<()> {
        self.begin(INTERFACE);
        self.u16(link as u16);
        self.u16(0);
        self.u32(snaplen);
        self.option(IF_NAME, name.as_bytes());
        self.option(IF_DESCRIPTION, description.as_bytes());
        self.option(IF_TSRESOL, &[resolution]);
        self.end()
    }

    pub(super) fn packet(&mut self, f: &Frame<'_>) -> io::Result<()> {
        self.begin(ENHANCED_PACKET);
        self.u32(f.interface);
        self.u32((f.ticks >> 32) as u32);
        self.u32(f.ticks as u32);
        self.u32(f.kept);
        self.u32(f.len);
        let kept = f.kept as usize;
        let headers = &f.headers[..f.headers.len().min(kept)];
        self.block.extend_from_slice(headers);
        let after = self.block.len() - headers.len() + kept;
        self.block.resize(after, 0);
        self.pad();
        if f.direction != Direction::Unknown {
            self.option(EPB_FLAGS, &(f.direction as u32).to_le_bytes());
        }
        if !f.comment.is_empty() {
            self.option(COMMENT, f.comment.as_bytes());
        }
        self.end()
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn begin(&mut self, kind: u32) {
        self.block.clear();
        self.u32(kind);
        // The length comes when it is known.
        self.u32(0);
    }

    fn end(&mut self) -> io::Result<()> {
        self.option(END, &[]);
        let len = self.block.len() as u32 + 4;
        self.u32(len);
        self.block[4..8].copy_from_slice(&len.to_le_bytes());
        self.out.write_all(&self.block)
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        let value = &value[..value.len().min(usize::from(u16::MAX))];
        self.u16(code);
        self.u16(value.len() as u16);
        self.block.extend_from_slice(value);
        self.pad();
    }

    fn pad(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    fn u16(&mut self, n: u16) {
        self.block.extend(n.to_le_bytes());
    }

    fn u32(&mut self, n: u32) {
        self.block.extend(n.to_le_bytes());
    }
}
