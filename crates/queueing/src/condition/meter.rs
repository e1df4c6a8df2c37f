//! Meters: the color of a packet. The meters of this file have token buckets, that of `window` an
//! average rate.
//!
//! Sources: RFC 2697 section 3 (single rate, three colors), RFC 2698 section 3 (two rates, three
//! colors), both in their color-blind and color-aware modes. Tokens are exact for every rate and
//! interval; a refill is computed when a packet arrives.

use std::collections::BTreeMap;

use spillgate_core::{Rate, Rng, Time};

use super::TokenBucket;
use super::bucket::UNITS;
use super::window::SlidingWindow;
use crate::evidence::{BucketLevel, Cause};

/// The color of a packet: green, yellow and red of the RFCs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Color {
    /// Within the committed rate.
    #[default]
    Conform,
    /// Beyond it, within the excess burst or the peak rate.
    Exceed,
    /// Beyond these.
    Violate,
}

impl Color {
    /// `conform`, `exceed` or `violate`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Conform => "conform",
            Self::Exceed => "exceed",
            Self::Violate => "violate",
        }
    }

    /// What a packet of this color does.
    pub const fn verb(self) -> &'static str {
        match self {
            Self::Conform => "conforms",
            Self::Exceed => "exceeds",
            Self::Violate => "violates",
        }
    }
}

/// A running meter.
#[derive(Clone, Debug)]
pub(crate) enum Meter {
    /// One bucket, two colors.
    OneBucket(TokenBucket),
    SingleRate(SingleRate),
    TwoRate(TwoRate),
    /// An average rate, and colors at random (RFC 2859).
    Window(SlidingWindow),
    /// One of the others for each flow.
    PerFlow(Box<PerFlow>),
}

impl Meter {
    /// The color of a packet of `flow` with `len` bytes that arrives with the color `before`
    /// ([`Color::Conform`] for a color-blind meter). Takes the tokens for it.
    #[inline]
    pub(crate) fn color(&mut self, now: Time, flow: u32, len: u32, before: Color) -> Color {
        match self {
            Self::OneBucket(b) => {
                if before == Color::Conform && b.try_take(now, len) {
                    Color::Conform
                } else {
                    Color::Exceed
                }
            }
            Self::SingleRate(m) => m.color(now, len, before),
            Self::TwoRate(m) => m.color(now, len, before),
            Self::Window(m) => m.color(now, len),
            Self::PerFlow(m) => m.of(flow, now).color(now, flow, len, before),
        }
    }
}

impl Meter {
    /// Takes rates and bursts of the same meter at another rate of the port.
    pub(crate) fn retune(&mut self, now: Time, fresh: &Self) {
        match (self, fresh) {
            (Self::OneBucket(b), Self::OneBucket(f)) => b.retune(now, f),
            (Self::SingleRate(m), Self::SingleRate(f)) => m.retune(now, f),
            (Self::TwoRate(m), Self::TwoRate(f)) => {
                m.committed.retune(now, &f.committed);
                m.peak.retune(now, &f.peak);
            }
            (Self::Window(m), Self::Window(f)) => m.retune(f),
            (Self::PerFlow(m), Self::PerFlow(f)) => m.retune(now, f),
            _ => debug_assert!(false, "a meter does not change its kind"),
        }
    }

    /// How full its committed bucket is at `now`, if it has one for all flows.
    pub(crate) fn bucket(&self, now: Time) -> Option<BucketLevel> {
        match (self, self.evidence(now)) {
            (Self::PerFlow(_), _) => None,
            (_, Cause::Policer { committed, .. }) => Some(committed),
            _ => None,
        }
    }

    /// Its state at `now`, directly after a packet arrived: the committed bucket, and the excess or
    /// peak bucket; or the average rate.
    pub(crate) fn evidence(&self, now: Time) -> Cause {
        let (committed, excess) = match self {
            Self::OneBucket(b) => (b.describe(now), None),
            Self::SingleRate(m) => m.describe(now),
            Self::TwoRate(m) => (m.committed.describe(now), Some(m.peak.describe(now))),
            Self::Window(m) => return Cause::Marker(m.describe()),
            Self::PerFlow(m) => return m.last().evidence(now),
        };
        Cause::Policer { committed, excess }
    }

    /// Sets its stream of random numbers, by the name of its class, if it draws.
    pub(crate) fn seed(&mut self, stream: &dyn Fn(&str) -> Rng) {
        match self {
            Self::Window(m) => m.seed(stream),
            Self::PerFlow(m) => m.fresh.seed(stream),
            _ => {}
        }
    }
}

/// A meter for each flow, made when its first packet comes.
#[derive(Clone, Debug)]
pub(crate) struct PerFlow {
    /// What each of them begins as.
    fresh: Meter,
    flows: BTreeMap<u32, Meter>,
    /// The flow of the last packet.
    last: u32,
}

impl PerFlow {
    /// One such meter for each flow.
    pub(crate) fn new(each: Meter) -> Self {
        Self {
            fresh: each,
            flows: BTreeMap::new(),
            last: 0,
        }
    }

    fn of(&mut self, flow: u32, now: Time) -> &mut Meter {
        self.last = flow;
        let fresh = &self.fresh;
        self.flows.entry(flow).or_insert_with(|| match fresh {
            Meter::Window(m) => Meter::Window(m.of_flow(flow, now)),
            other => other.clone(),
        })
    }

    /// That of the last packet.
    fn last(&self) -> &Meter {
        self.flows.get(&self.last).unwrap_or(&self.fresh)
    }

    fn retune(&mut self, now: Time, other: &Self) {
        for meter in self.flows.values_mut() {
            meter.retune(now, &other.fresh);
        }
        // It keeps its stream of random numbers, and a bucket that has not begun stays full.
        self.fresh.retune(now, &other.fresh);
    }
}

/// The single-rate three-color meter (RFC 2697): tokens that overflow the committed bucket fill the
/// excess bucket.
#[derive(Clone, Debug)]
pub(crate) struct SingleRate {
    committed: u128,
    excess: u128,
    committed_full: u128,
    excess_full: u128,
    bps: u64,
    at: Time,
}

impl SingleRate {
    /// Both buckets start full; bursts in bytes.
    pub(crate) fn new(rate: Rate, committed: u64, excess: u64) -> Self {
        let (committed, excess) = (u128::from(committed) * UNITS, u128::from(excess) * UNITS);
        Self {
            committed,
            excess,
            committed_full: committed,
            excess_full: excess,
            bps: rate.bps(),
            at: Time::ZERO,
        }
    }

    /// The tokens of both buckets at `now`.
    fn levels(&self, now: Time) -> (u128, u128) {
        let gained = u128::from(now.since(self.at).as_ps()) * u128::from(self.bps);
        let filled = self.committed + gained;
        let committed = filled.min(self.committed_full);
        let excess = (self.excess + (filled - committed)).min(self.excess_full);
        (committed, excess)
    }

    fn retune(&mut self, now: Time, fresh: &Self) {
        let (committed, excess) = self.levels(now);
        let kept = |level: u128, full: u128, most: u128| match level == full {
            true => most,
            false => level.min(most),
        };
        *self = Self {
            committed: kept(committed, self.committed_full, fresh.committed_full),
            excess: kept(excess, self.excess_full, fresh.excess_full),
            at: self.at.max(now),
            ..fresh.clone()
        };
    }

    fn describe(&self, now: Time) -> (BucketLevel, Option<BucketLevel>) {
        let (committed, excess) = self.levels(now);
        let level = |tokens: u128, full: u128| BucketLevel {
            tokens: (tokens / UNITS) as u64,
            burst: (full / UNITS) as u64,
            bps: self.bps,
        };
        (
            level(committed, self.committed_full),
            Some(level(excess, self.excess_full)),
        )
    }

    fn color(&mut self, now: Time, len: u32, before: Color) -> Color {
        (self.committed, self.excess) = self.levels(now);
        self.at = self.at.max(now);
        let need = u128::from(len) * UNITS;
        if before == Color::Conform && self.committed >= need {
            self.committed -= need;
            Color::Conform
        } else if before <= Color::Exceed && self.excess >= need {
            self.excess -= need;
            Color::Exceed
        } else {
            Color::Violate
        }
    }
}

/// The two-rate three-color meter (RFC 2698).
#[derive(Clone, Debug)]
pub(crate) struct TwoRate {
    pub(crate) committed: TokenBucket,
    pub(crate) peak: TokenBucket,
}

impl TwoRate {
    fn color(&mut self, now: Time, len: u32, before: Color) -> Color {
        if before == Color::Violate || !self.peak.conforms(now, len) {
            return Color::Violate;
        }
        self.peak.take(now, len);
        if before == Color::Exceed || !self.committed.try_take(now, len) {
            Color::Exceed
        } else {
            Color::Conform
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spillgate_core::Dur;

    fn bytes_per_sec(b: u64) -> Rate {
        Rate::from_bps(8 * b).unwrap()
    }

    /// Without tokens in between, the excess bucket fills only once the committed one is full.
    #[test]
    fn excess_tokens_are_what_overflows() {
        let mut m = SingleRate::new(bytes_per_sec(100), 200, 300);
        let at = |s| Time::ZERO + Dur::from_secs(s);
        let mut see = |s, len| m.color(at(s), len, Color::Conform);
        use Color::{Conform, Exceed, Violate};
        assert_eq!(
            [see(0, 200), see(0, 300), see(0, 1)],
            [Conform, Exceed, Violate]
        );
        // 300 B have come: 200 to the committed bucket, 100 over.
        assert_eq!(
            [see(3, 200), see(3, 101), see(3, 100)],
            [Conform, Violate, Exceed]
        );
    }

    /// Many small steps fill as one long one does.
    #[test]
    fn refills_do_not_depend_on_when_they_are_computed() {
        let slow = Rate::from_bps(7).unwrap();
        let (mut often, mut once) = (SingleRate::new(slow, 3, 5), SingleRate::new(slow, 3, 5));
        for m in [&mut often, &mut once] {
            assert_eq!(m.color(Time::ZERO, 3, Color::Conform), Color::Conform);
            assert_eq!(m.color(Time::ZERO, 5, Color::Conform), Color::Exceed);
        }
        let end = 4_123_456_789_123;
        for i in 0..1000 {
            // Too long for any bucket: only the refill remains.
            often.color(Time::from_ps(end / 1000 * i), 1000, Color::Conform);
        }
        often.color(Time::from_ps(end), 1000, Color::Conform);
        once.color(Time::from_ps(end), 1000, Color::Conform);
        assert_eq!(
            (often.committed, often.excess),
            (once.committed, once.excess)
        );
    }

    #[test]
    fn a_long_wait_does_not_overflow() {
        let fast = Rate::from_bps(1_000_000_000_000_000).unwrap();
        let mut m = SingleRate::new(fast, 1_000_000_000_000, 1_000_000_000_000);
        m.color(Time::ZERO, u32::MAX, Color::Conform);
        assert_eq!(m.color(Time::MAX, u32::MAX, Color::Conform), Color::Conform);
    }
}
