//! What is wrong with a capture file, and where.

use std::fmt;
use std::io;

/// Why a capture cannot be read further.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureError {
    /// What kind of trouble it is.
    pub fault: Fault,
    /// Offset in bytes of the record or block in which it was found, from the start of the file.
    pub offset: u64,
    /// Packet records that were read before it.
    pub records: u64,
    /// What was being read: `file header`, `packet record`, `enhanced packet block`, ...
    pub block: &'static str,
    /// What is wrong, one sentence without a full stop.
    pub message: String,
    /// What to do about it.
    pub hint: &'static str,
}

/// Kinds of trouble with a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The operating system could not read the file.
    Io,
    /// The file has no content.
    Empty,
    /// The file is compressed.
    Compressed,
    /// The file is no capture that this program reads.
    Unknown,
    /// The file ends within a record: a capture that was interrupted. All that stands before is
    /// whole.
    CutShort,
    /// The framing contradicts itself.
    Corrupt,
}

impl CaptureError {
    /// The file cannot be opened.
    pub fn from_io(e: &io::Error) -> Self {
        Self::io(0, e)
    }

    pub(crate) fn new(
        fault: Fault,
        offset: u64,
        block: &'static str,
        message: impl Into<String>,
        hint: &'static str,
    ) -> Self {
        Self {
            fault,
            offset,
            records: 0,
            block,
            message: message.into(),
            hint,
        }
    }

    pub(crate) fn corrupt(offset: u64, block: &'static str, message: impl Into<String>) -> Self {
        Self::new(
            Fault::Corrupt,
            offset,
            block,
            message,
            "the file is damaged from here on; capture again, or cut it before this place (editcap, tcpdump -c)",
        )
    }

    pub(crate) fn cut(offset: u64, block: &'static str, wanted: u64, there: u64) -> Self {
        Self::new(
            Fault::CutShort,
            offset,
            block,
            format!("the file ends {there} bytes into it, it is {wanted} bytes long"),
            "the capture was interrupted or only partly copied; what stands before is whole",
        )
    }

    pub(crate) fn io(offset: u64, e: &io::Error) -> Self {
        Self::new(
            Fault::Io,
            offset,
            "file",
            format!("cannot read it: {e}"),
            "check the file and the disk",
        )
    }
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "byte {}, {}: {} ({} packet records before it)",
            self.offset, self.block, self.message, self.records
        )
    }
}

impl std::error::Error for CaptureError {}
