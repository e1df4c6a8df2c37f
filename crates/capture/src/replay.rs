//! The packets of a capture, when they are to be sent.
//!
//! A packet that stands `t` after the first record of the file is sent at `start + (t - skip) /
//! speed`, whatever the filter leaves out, so that several replays of one file stay in step. Speeds
//! are kept as a multiple of 2⁻⁴⁰: halving and doubling is exact to the picosecond, and no error
//! accumulates. A replay that loops begins again one mean gap after the last record of its window,
//! or when the window that `take` gives is over.

use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;

use spillgate_core::{Dscp, Ecn, Time};

use crate::error::{CaptureError, Fault};
use crate::filter::Filter;
use crate::flows::FlowTable;
use crate::packet::IpPacket;
use crate::reader::Interface;
use crate::survey::{Packets, Survey};

/// Opens a capture anew, at its first byte.
pub trait Opener: Send + Sync + fmt::Debug {
    /// A stream of the file's bytes.
    ///
    /// # Errors
    /// What the operating system says.
    fn open(&self) -> io::Result<Box<dyn Read + Send>>;
}

/// Bytes in memory.
impl Opener for Arc<[u8]> {
    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(io::Cursor::new(Self::clone(self))))
    }
}

/// Which packets of a file are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// What must hold of a packet.
    pub only: Filter,
    /// What must not hold.
    pub except: Option<Filter>,
    /// What is left out at the beginning, in picoseconds from the first record.
    pub skip: u64,
    /// How much is taken from there on, in picoseconds; none for all.
    pub take: Option<u64>,
}

impl Selection {
    /// Where it ends, in picoseconds from the first record.
    #[inline]
    pub fn end(&self) -> u64 {
        self.take.map_or(u64::MAX, |t| self.skip.saturating_add(t))
    }

    #[inline]
    pub(crate) fn takes(&self, at: u64, p: &IpPacket, number: u32, known: &[Interface]) -> bool {
        at >= self.skip
            && self.only.matches(p, number, known)
            && !self
                .except
                .as_ref()
                .is_some_and(|e| e.matches(p, number, known))
    }
}

/// From the time of a capture to that of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// What 2⁴⁰ picoseconds of the capture become.
    scale: u64,
    /// Picoseconds of the capture after which it repeats; 0 if it does not.
    period: u64,
    skip: u64,
}

impl Clock {
    /// The slowest speed.
    pub const MIN_SPEED: f64 = 1e-6;
    /// The fastest speed.
    pub const MAX_SPEED: f64 = 1e6;

    /// `speed` times as fast as it was captured, brought into the range from
    /// [`Clock::MIN_SPEED`] to [`Clock::MAX_SPEED`]; again and again if `looped`.
    pub fn new(selection: &Selection, survey: &Survey, speed: f64, looped: bool) -> Self {
        let speed = match speed.is_finite() {
            true => speed.clamp(Self::MIN_SPEED, Self::MAX_SPEED),
            false => 1.0,
        };
        let records = survey.counts.records.max(2) - 1;
        let length = survey.length.saturating_sub(selection.skip);
        let period = match (looped, selection.take) {
            (false, _) => 0,
            (true, Some(take)) => take.max(1),
            (true, None) => (length + length / records).max(1),
        };
        Self {
            scale: (((1_u64 << 40) as f64 / speed) + 0.5) as u64,
            period,
            skip: selection.skip,
        }
    }

    /// Picoseconds of the run after which it repeats; none if it does not.
    pub fn period(&self) -> Option<u64> {
        (self.period > 0).then(|| self.scaled(u128::from(self.period)))
    }

    /// Picoseconds of the run from the start to the last packet of the first pass.
    pub fn last(&self, survey: &Survey) -> u64 {
        self.time(survey.span.last, 0)
    }

    #[inline]
    fn scaled(&self, ps: u128) -> u64 {
        // Below 2^64 * 2^60 for a single pass; what saturates is beyond the end of any run.
        let product = ps.saturating_mul(u128::from(self.scale)) >> 40;
        u64::try_from(product).unwrap_or(u64::MAX)
    }

    /// When a packet at `at` of the file is sent in pass `pass`, counted from the start.
    #[inline]
    fn time(&self, at: u64, pass: u64) -> u64 {
        let since = u128::from(at - self.skip.min(at));
        self.scaled(since + u128::from(pass) * u128::from(self.period))
    }
}

/// A packet that is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When, never before the previous one.
    pub at: Time,
    /// Its flow, an index into [`FlowTable::entries`].
    pub flow: u32,
    /// Length of the IP packet in bytes.
    pub len: u16,
    /// Its DSCP.
    pub dscp: Dscp,
    /// Its ECN field.
    pub ecn: Ecn,
}

/// A capture being replayed: a bounded buffer, no allocation per packet.
pub struct Replay {
    opener: Arc<dyn Opener>,
    selection: Arc<Selection>,
    survey: Arc<Survey>,
    clock: Clock,
    start: Time,
    pass: u64,
    /// Packets of this pass so far.
    sent: u64,
    packets: Option<Packets<Box<dyn Read + Send>>>,
}

impl Replay {
    /// Replays what `survey` found in the file that `opener` opens, from `start` on.
    pub fn new(
        opener: Arc<dyn Opener>,
        selection: Arc<Selection>,
        survey: Arc<Survey>,
        clock: Clock,
        start: Time,
    ) -> Self {
        Self {
            opener,
            selection,
            survey,
            clock,
            start,
            pass: 0,
            sent: 0,
            packets: None,
        }
    }

    /// The next packet; none when the capture is over or time is exhausted.
    ///
    /// # Errors
    /// If the file cannot be read or is no longer what was surveyed.
    #[allow(clippy::should_implement_trait, reason = "it may fail")]
    pub fn next(&mut self) -> Result<Option<Arrival>, CaptureError> {
        loop {
            let packets = match &mut self.packets {
                Some(p) => p,
                None => {
                    let file = self.opener.open().map_err(|e| CaptureError::from_io(&e))?;
                    self.packets.insert(Packets::new(file)?)
                }
            };
            if let Some((at, packet)) = packets.next(&self.selection)? {
                self.sent += 1;
                let Some(flow) = self.survey.flows.find(&packet) else {
                    return Err(self.changed());
                };
                let since = self.clock.time(at, self.pass);
                let Some(ps) = self
                    .start
                    .as_ps()
                    .checked_add(since)
                    .filter(|t| *t < u64::MAX)
                else {
                    return Ok(None);
                };
                return Ok(Some(Arrival {
                    at: Time::from_ps(ps),
                    flow,
                    len: packet.len,
                    dscp: packet.dscp,
                    ecn: packet.ecn,
                }));
            }
            if self.sent != self.survey.packets {
                return Err(self.changed());
            }
            if self.clock.period == 0 || self.sent == 0 {
                return Ok(None);
            }
            self.packets = None;
            self.pass += 1;
            self.sent = 0;
        }
    }

    /// The flows of what is replayed.
    pub fn flows(&self) -> &FlowTable {
        &self.survey.flows
    }

    #[cold]
    fn changed(&self) -> CaptureError {
        CaptureError::new(
            Fault::Io,
            0,
            "file",
            "the file is not what it was when the scenario was read",
            "run again once nothing writes to it",
        )
    }
}
