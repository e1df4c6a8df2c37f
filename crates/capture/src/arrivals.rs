//! What a replayed capture never exceeds: the least concave curve above its packets.
//!
//! For a rate r the least burst b with which b + r t bounds every time t is the most that a bucket
//! ever holds which leaks at r and into which the packets fall (Le Boudec and Thiran, proposition
//! 1.2.3). One pass over the packets gives it exactly, so each line of the curve touches what the
//! capture sends. O(packets) for each line, 16 B for each packet.
//!
//! Of a capture that repeats, two rounds are looked at: at its mean rate or above, a time longer
//! than a round holds no more than one that is a round shorter and what the rate makes of a round.

use std::sync::Arc;

use spillgate_core::Time;
use spillgate_core::curve::{Curve, NoBound, Slope, Tangent};

use crate::error::CaptureError;
use crate::replay::{Clock, Opener, Replay, Selection};
use crate::survey::Survey;

/// Most packets of which a curve is made.
const MOST_PACKETS: u64 = 10_000_000;
/// Most lines of the curves of a capture together, and of each.
const LINES: usize = 4096;
const LINES_OF_EACH: usize = 24;

/// The packets of a capture as they are sent.
#[derive(Clone, Debug)]
pub struct Sent {
    /// By group of [`Survey::flows`]: when, in ps from the start, and the length of the IP packet.
    groups: Vec<Vec<(u64, u16)>>,
    /// Picoseconds after which they are sent again.
    period: Option<u64>,
}

impl Sent {
    /// Reads the packets; none if they are too many.
    ///
    /// # Errors
    /// If the file cannot be read or is no longer what was surveyed.
    pub fn read(
        opener: &Arc<dyn Opener>,
        selection: &Arc<Selection>,
        survey: &Arc<Survey>,
        clock: Clock,
    ) -> Result<Option<Self>, CaptureError> {
        if survey.packets > MOST_PACKETS {
            return Ok(None);
        }
        let mut replay = Replay::new(
            Arc::clone(opener),
            Arc::clone(selection),
            Arc::clone(survey),
            clock,
            Time::ZERO,
        );
        let mut groups = vec![Vec::new(); survey.flows.groups() as usize];
        let entries = survey.flows.entries();
        for _ in 0..survey.packets {
            let Some(packet) = replay.next()? else { break };
            let group = entries[packet.flow as usize].group as usize;
            groups[group].push((packet.at.since(Time::ZERO).as_ps(), packet.len));
        }
        Ok(Some(Self {
            groups,
            period: clock.period(),
        }))
    }

    /// What the packets of a group never exceed, in bytes on a link.
    ///
    /// # Errors
    /// If a number is too large.
    pub fn arrivals(&self, group: usize, occupied: &dyn Fn(u16) -> u32) -> Result<Curve, NoBound> {
        let packets = &self.groups[group];
        let Some((first, _)) = packets.first() else {
            return Ok(Curve::zero());
        };
        let wire: Vec<u64> = (0..=u16::MAX).map(|len| occupied(len).into()).collect();
        let bytes = |len: u16| wire[usize::from(len)];
        let (mut before, mut gaps) = (*first, Vec::with_capacity(packets.len()));
        for (at, len) in packets {
            gaps.push((at - before, bytes(*len)));
            before = *at;
        }
        let all: u64 = gaps.iter().map(|(_, bytes)| bytes).sum();
        let (rounds, last) = match self.period {
            None => (1, Slope::bps(0)),
            Some(period) => {
                // From the last packet of a round to the first of the next.
                gaps[0].0 = (first + period.max(before - first)) - before;
                let mean = Slope::above(value(all), period.into())?;
                (2, mean)
            }
        };
        let lines = (LINES / self.groups.len()).clamp(4, LINES_OF_EACH);
        let curve = Curve::hull(at_once(&gaps), last, lines, |slope| {
            tangent(&gaps, rounds, slope)
        })?;
        // Of a later round each time is rounded down to a picosecond by itself.
        let apart = u64::from(self.period.is_some());
        curve.jittered(spillgate_core::Dur::from_ps(apart))
    }
}

fn value(bytes: u64) -> i128 {
    i128::from(bytes) * spillgate_core::curve::UNITS
}

/// The most bytes at one time, in parts of a value.
fn at_once(gaps: &[(u64, u64)]) -> i128 {
    let (mut now, mut most) = (0, 0);
    for (gap, bytes) in gaps {
        now = if *gap == 0 { now + bytes } else { *bytes };
        most = now.max(most);
    }
    Slope::bytes(most)
}

/// The least line of a slope above what packets bring in each time.
fn tangent(gaps: &[(u64, u64)], rounds: usize, slope: Slope) -> Tangent {
    // What is in the bucket, and for how long there has been something in it.
    let (mut level, mut since) = (0, 0);
    let mut most = Tangent { burst: 0, at: 0 };
    for (gap, bytes) in std::iter::repeat_n(gaps, rounds).flatten() {
        level -= slope.over(*gap);
        since += gap;
        if level <= 0 {
            (level, since) = (0, 0);
        }
        level += Slope::bytes(*bytes);
        if level > most.burst {
            most = Tangent {
                burst: level,
                at: since,
            };
        }
    }
    most
}
