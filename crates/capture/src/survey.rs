//! One pass over a capture: what it holds, which flows, how long, and its fingerprint.

use std::io::Read;

use crate::counts::Counts;
use crate::decode::{Decoded, decode};
use crate::error::{CaptureError, Fault};
use crate::fingerprint::Fingerprint;
use crate::flows::{FlowTable, Grouping};
use crate::packet::IpPacket;
use crate::reader::{Format, Interface, Reader, Stamp};
use crate::remarks::remarks;
use crate::replay::Selection;

/// From the first to the last packet that was selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First, in picoseconds since the first record of the file.
    pub first: u64,
    /// Last.
    pub last: u64,
}

/// What a capture holds.
#[derive(Clone, Debug)]
pub struct Survey {
    /// Its format.
    pub format: Format,
    /// The interfaces of its last section.
    pub interfaces: Vec<Interface>,
    /// What was found, whether selected or not, as far as the selection reads.
    pub counts: Counts,
    /// The time of the first record; none if no record has a time.
    pub begin: Option<Stamp>,
    /// From the first record to the last, in picoseconds.
    pub length: u64,
    /// Packets that were selected.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes of the longest of them.
    pub longest: u16,
    /// When the first and the last of them are.
    pub span: Span,
    /// Their flows.
    pub flows: FlowTable,
    /// Some packets, for those who selected none.
    pub examples: Vec<IpPacket>,
    /// Where the file ends within a record, if it does.
    pub cut_short: Option<CaptureError>,
    /// Fingerprint of the whole file, 32 hexadecimal digits.
    pub fingerprint: String,
    /// Length of the file in bytes.
    pub file_len: u64,
}

impl Survey {
    /// What a person should know before believing what comes of it, one sentence each.
    pub fn remarks(&self) -> Vec<String> {
        remarks(&self.counts, self.cut_short.as_ref())
    }
}

/// Why a survey failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SurveyError {
    /// The file.
    Capture(CaptureError),
    /// More flows than allowed.
    TooManyFlows {
        /// How many are allowed.
        limit: u32,
        /// Packet records until there were more.
        records: u64,
        /// Picoseconds from the first record until then.
        at: u64,
    },
}

impl From<CaptureError> for SurveyError {
    fn from(e: CaptureError) -> Self {
        Self::Capture(e)
    }
}

/// The selected packets of a capture, in order and with times that never go back.
///
/// A file that ends within its last record ends there; [`Packets::cut_short`] tells.
pub struct Packets<R> {
    reader: Reader<R>,
    counts: Counts,
    begin: Option<Stamp>,
    /// Of the record that was read last, since the first.
    now: u64,
    cut_short: Option<CaptureError>,
    examples: Vec<IpPacket>,
}

impl<R: Read> Packets<R> {
    /// Reads the head of a capture.
    ///
    /// # Errors
    /// Those of [`Reader::new`].
    pub fn new(inner: R) -> Result<Self, CaptureError> {
        Ok(Self {
            reader: Reader::new(inner)?,
            counts: Counts::default(),
            begin: None,
            now: 0,
            cut_short: None,
            examples: Vec::new(),
        })
    }

    /// What was found so far, whether selected or not.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The time of the first record that has one.
    pub fn begin(&self) -> Option<Stamp> {
        self.begin
    }

    /// The time of the record that was read last, in picoseconds since the first.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Where the file ends within a record, once it has.
    pub fn cut_short(&self) -> Option<&CaptureError> {
        self.cut_short.as_ref()
    }

    /// The file's format.
    pub fn format(&self) -> Format {
        self.reader.format()
    }

    /// The interfaces that are known so far.
    pub fn interfaces(&self) -> &[Interface] {
        self.reader.interfaces()
    }

    /// The next selected packet with its time since the first record of the file, in picoseconds;
    /// none at the end of the file or of what is selected.
    ///
    /// # Errors
    /// A damaged file.
    #[inline]
    pub fn next(&mut self, selection: &Selection) -> Result<Option<(u64, IpPacket)>, CaptureError> {
        let end = selection.end();
        loop {
            let record = match self.reader.next() {
                Ok(Some(r)) => r,
                Ok(None) => return Ok(None),
                Err(e) if e.fault == Fault::CutShort => {
                    self.cut_short = Some(e);
                    return Ok(None);
                }
                Err(e) => return Err(e),
            };
            match record.time {
                None => self.counts.untimed += 1,
                Some(t) => {
                    let begin = *self.begin.get_or_insert(t);
                    let since = t.since(begin);
                    if since < self.now || t < begin {
                        self.counts.backwards += 1;
                        let back = begin.since(t).saturating_add(self.now - since);
                        self.counts.most_backwards = self.counts.most_backwards.max(back);
                    }
                    self.now = self.now.max(since);
                }
            }
            if self.now >= end {
                return Ok(None);
            }
            let decoded = decode(&record);
            self.counts.count(&record, &decoded);
            let Decoded::Ip(packet) = decoded else {
                continue;
            };
            let interface = record.interface;
            if selection.takes(self.now, &packet, interface, self.reader.interfaces()) {
                return Ok(Some((self.now, packet)));
            }
            if self.examples.len() < 3 && self.examples.iter().all(|e| e.key.src != packet.key.src)
            {
                self.examples.push(packet);
            }
        }
    }
}

/// Reads a capture to its end and numbers its flows, at most `limit` of them.
///
/// # Errors
/// A damaged file, or too many flows. A file that ends within its last record is no error.
pub fn survey(
    file: impl Read,
    selection: &Selection,
    grouping: Grouping,
    limit: u32,
) -> Result<Survey, SurveyError> {
    let mut print = Fingerprint::new(file);
    let mut packets = Packets::new(&mut print)?;
    let mut flows = FlowTable::new(grouping, limit);
    let mut span: Option<Span> = None;
    let (mut number, mut bytes, mut longest) = (0, 0, 0);
    while let Some((at, packet)) = packets.next(selection)? {
        if flows.number(&packet).is_err() {
            return Err(SurveyError::TooManyFlows {
                limit,
                records: packets.counts.records,
                at,
            });
        }
        number += 1;
        bytes += u64::from(packet.len);
        longest = packet.len.max(longest);
        span.get_or_insert(Span {
            first: at,
            last: at,
        })
        .last = at;
    }
    let Packets {
        mut reader,
        counts,
        begin,
        now,
        cut_short,
        examples,
    } = packets;
    // What the selection leaves out is part of the fingerprint.
    reader.drain()?;
    let (format, interfaces) = (reader.format(), reader.interfaces().to_vec());
    drop(reader);
    Ok(Survey {
        format,
        interfaces,
        counts,
        begin,
        length: now,
        packets: number,
        bytes,
        longest,
        span: span.unwrap_or_default(),
        flows,
        examples,
        cut_short,
        fingerprint: print.hex(),
        file_len: print.len(),
    })
}
