//! Evidence: the values by which a drop or a mark was decided.
//!
//! A discipline keeps on its drop path the values that would otherwise be lost (above all the
//! random draw), so that reading them changes nothing and packets that are not dropped cost
//! nothing. They are valid directly after the call that dropped the packet, before the next call.

use spillgate_core::{Dscp, Dur, Time};

use crate::condition::AverageRate;

/// The odds by which RED or WRED dropped or marked a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Odds {
    /// The average queue that the arrival saw, in packets or bytes.
    pub average: f64,
    /// Lower threshold, in the same unit.
    pub min: f64,
    /// Upper threshold, in the same unit.
    pub max: f64,
    /// Whether these are in bytes; else in packets.
    pub in_bytes: bool,
    /// Probability with which the packet was to be dropped or marked, 0 to 1; 1 above the
    /// thresholds.
    pub probability: f64,
    /// RED's packets since the last drop, this one counted; none where the algorithm has no count
    /// or chance did not decide.
    pub count: Option<i64>,
    /// The uniform number on [0, 1) that fell below the probability; none where chance did not
    /// decide.
    pub draw: Option<f64>,
}

/// The sojourn time for which CoDel dropped or marked a packet at departure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waited {
    /// How long it waited.
    pub waited: Dur,
    /// The time that it exceeded: CoDel's target, or the threshold of its marks.
    pub target: Dur,
    /// CoDel's interval: for this long packets have to wait longer than the target before the first
    /// drop.
    pub interval: Dur,
    /// CoDel's count of drops and marks in the present period of dropping, this one included; 1 for
    /// the drop that begins a period, even if the count resumes from the period before. None where
    /// the threshold of marks decided.
    pub count: Option<u32>,
    /// When the drop fell due; none where the threshold of marks decided.
    pub due: Option<Time>,
}

/// The delay and the probability by which PIE or PI2 dropped or marked a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelayOdds {
    /// The delay at the last update of the probability.
    pub delay: Dur,
    /// The target delay.
    pub target: Dur,
    /// Probability with which the packet was to be dropped or marked, 0 to 1.
    pub probability: f64,
    /// Sum of the probabilities since the last drop, this one included; none without
    /// de-randomization.
    pub sum: Option<f64>,
    /// The uniform number on [0, 1) that fell below the probability; none where the sum decided.
    pub draw: Option<f64>,
}

/// The probabilities by which DualPI2 dropped or marked a packet that was to leave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoupledOdds {
    /// It was in the queue of scalable senders, not in the classic one.
    pub l4s: bool,
    /// The delay at the last update of the base probability.
    pub delay: Dur,
    /// The target delay.
    pub target: Dur,
    /// The base probability p', 0 to 1.
    pub base: f64,
    /// Probability with which the packet was to be dropped or marked, 0 to 1.
    pub probability: f64,
    /// The part of it that is due to the packet's own wait, 0 to 1; 0 in the classic queue.
    pub native: f64,
    /// How long the packet waited.
    pub waited: Dur,
    /// The uniform number on [0, 1) that was drawn last; none where none was.
    pub draw: Option<f64>,
}

/// What a [`Fact`] counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactUnit {
    /// Bits a second.
    BitsPerSecond,
    /// Seconds.
    Seconds,
    /// Packets, or a part of one.
    Packets,
    /// Bytes.
    Bytes,
    /// Flows.
    Flows,
    /// Nothing: a bare number.
    One,
}

/// A number that decided on a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fact {
    /// Its name for programs; empty if there is none.
    pub key: &'static str,
    /// The number.
    pub value: f64,
    /// What it counts.
    pub unit: FactUnit,
}

impl Fact {
    const NONE: Self = Self {
        key: "",
        value: 0.0,
        unit: FactUnit::One,
    };
}

/// What the probability of an AQM follows that chooses packets by chance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GoesBy {
    /// Its name for programs.
    pub kind: &'static str,
    /// The sentence that says it, with `{}` for each of the numbers.
    pub words: &'static str,
    facts: [Fact; 2],
}

impl GoesBy {
    /// What is said in `words` without numbers.
    pub const fn plain(kind: &'static str, words: &'static str) -> Self {
        let facts = [Fact::NONE; 2];
        Self { kind, words, facts }
    }

    /// The same with one number more, two at most.
    pub const fn and(mut self, key: &'static str, value: f64, unit: FactUnit) -> Self {
        let free = if self.facts[0].key.is_empty() { 0 } else { 1 };
        self.facts[free] = Fact { key, value, unit };
        self
    }

    /// The numbers, in the order of `words`.
    pub fn facts(&self) -> impl Iterator<Item = &Fact> {
        self.facts.iter().filter(|fact| !fact.key.is_empty())
    }
}

/// The probability by which an AQM dropped or marked a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChanceOdds {
    /// What it follows.
    pub by: GoesBy,
    /// Probability with which the packet was to be dropped or marked, 0 to 1.
    pub probability: f64,
    /// The uniform number on [0, 1) that fell below the probability; none where chance did not
    /// decide.
    pub draw: Option<f64>,
}

/// A token bucket at the instant at which a packet was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketLevel {
    /// Whole bytes of tokens in it.
    pub tokens: u64,
    /// Its depth in bytes.
    pub burst: u64,
    /// The rate at which it fills, in bit/s.
    pub bps: u64,
}

/// Why flow admission refused a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The fair rate is below its threshold.
    FairRate,
    /// The priority load is above its threshold.
    PriorityLoad,
    /// The scheduler's list of active flows is full.
    ActiveFlows,
    /// As many flows as allowed were admitted since the last tick of the fair rate.
    Quota,
    /// The congestion control mechanism removed the flow and blocks it.
    Blocked {
        /// When its packets are admitted or refused anew.
        until: Time,
    },
}

impl Refused {
    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FairRate => "fair-rate",
            Self::PriorityLoad => "priority-load",
            Self::ActiveFlows => "active-flows",
            Self::Quota => "quota",
            Self::Blocked { .. } => "blocked",
        }
    }
}

/// The state of flow admission when it refused a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refusal {
    /// What decided.
    pub why: Refused,
    /// The fair rate in b/s.
    pub fair_rate: f64,
    /// The least fair rate at which flows are admitted, in b/s.
    pub min_fair_rate: f64,
    /// The priority load as a share of the link.
    pub priority_load: f64,
    /// The highest priority load at which flows are admitted, as a share of the link.
    pub max_priority_load: f64,
    /// Kind of the congestion control mechanism.
    pub mechanism: &'static str,
}

/// The cause of a drop or mark beside the length of the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Cause {
    /// None beside the reason of the drop.
    #[default]
    Plain,
    /// Active queue management.
    Aqm(Odds),
    /// PIE or PI2: the delay of the queue.
    Delay(DelayOdds),
    /// A probability that something else than an average queue or a delay sets.
    Chance(ChanceOdds),
    /// DualPI2: the coupled probabilities.
    Coupled(CoupledOdds),
    /// CoDel: it waited too long.
    Waited(Waited),
    /// The policer of a class, its buckets as after the decision.
    Policer {
        /// The committed bucket.
        committed: BucketLevel,
        /// The excess bucket (RFC 2697) or the peak bucket (RFC 2698), where it has two.
        excess: Option<BucketLevel>,
    },
    /// A marker that measures the average rate (RFC 2859): it chose a color that is dropped.
    Marker(AverageRate),
    /// The policer of a priority class.
    PriorityPolicer(BucketLevel),
    /// It is longer than a shaper's burst in bytes: the tokens would never suffice.
    LongerThanBurst(u64),
    /// The limit of the queue for packets of its DSCP (weighted tail drop); the queue itself had
    /// room.
    Threshold {
        /// The DSCP by which the queue treated it.
        dscp: Dscp,
        /// The limit, which counts queued packets of all DSCPs.
        limit: QueueLimit,
    },
    /// The limit of its flow or conversation.
    Flow {
        /// Queued packets of the flow.
        packets: u32,
        /// Queued bytes of the flow.
        bytes: u64,
        /// The limits of the flow; none where it was at the discard threshold of a fair queue and
        /// its packet would have left last.
        limit: QueueLimit,
    },
    /// Admission of flows (FAN).
    Admission(Refusal),
}

/// The limit of a queue; none where unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueLimit {
    /// In packets.
    pub packets: Option<u32>,
    /// In bytes.
    pub bytes: Option<u64>,
}

impl QueueLimit {
    /// Both limits.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            packets: self.packets.into_iter().chain(other.packets).min(),
            bytes: self.bytes.into_iter().chain(other.bytes).min(),
        }
    }

    /// The most bytes of packets of up to `longest` bytes; none where unlimited.
    pub fn most_bytes(self, longest: u64) -> Option<u64> {
        let packets = self.packets.map(|n| u64::from(n).saturating_mul(longest));
        packets.into_iter().chain(self.bytes).min()
    }
}

/// Why a packet was dropped, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Queued packets of the leaf after the drop, without the dropped one.
    pub queue_packets: u32,
    /// Their bytes.
    pub queue_bytes: u64,
    /// The limit of the leaf.
    pub limit: QueueLimit,
    /// The bytes for which tokens were asked, where they are not those that the packet occupies on
    /// the link.
    pub counted: Option<u32>,
    /// What decided.
    pub cause: Cause,
}
