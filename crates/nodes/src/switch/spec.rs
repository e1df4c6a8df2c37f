//! A switch as a scenario describes it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::textual;
use spillgate_core::units::parse_size;
use spillgate_core::{Limit, Rate};

use crate::switch::matcher::{IslipSpec, MatchingSpec};

/// A switch: a node that queues packets where they arrive, and carries them through a fabric to the
/// ports that they leave by.
///
/// It is about packets that come over a link and leave over another one; what begins or ends at the
/// node is not. The queue of an output is the policy of the link that leaves there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchSpec {
    /// Where packets are queued.
    pub architecture: Architecture,
    /// How many times faster than a line the fabric is, 1 to the number of ports, such as 1.5 or
    /// 4/3. Default 1. Only `input-queued` and `cioq` have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speedup: Option<Speedup>,
    /// The fabric, which carries packets from inputs to outputs. Default: a crossbar with iSLIP and
    /// cells of 64 B. An `output-queued` switch has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fabric: Option<FabricSpec>,
    /// The rate of a line, to which speedup refers. Default: that of the fastest link at a port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_rate: Option<Rate>,
    /// The limit of the queues at the inputs. Default: no limit, or that of the `policy`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<BufferSpec>,
    /// The policy of each virtual output queue, such as a FIFO with an AQM. Default: first in,
    /// first out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// The length of the queue as seen by AQMs at the outputs. Default: the output queue alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion_measure: Option<CongestionMeasureSpec>,
    /// The links that end at the switch, in the order of its inputs; of a group all, in order.
    /// Packets from other links bypass the switch. Default: all, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Vec<String>>,
    /// The links that leave the switch, in the order of its outputs; of a group all, in order.
    /// Packets to other links bypass the switch. Default: all, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outputs: Option<Vec<String>>,
}

/// Where a switch queues packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Architecture {
    /// At the outputs only: the fabric carries packets at once, as if n times faster than a line.
    OutputQueued,
    /// In one FIFO at each input, and at the outputs if the fabric is faster than a line.
    InputQueued,
    /// In one queue for each output at each input (virtual output queues), at speedup 1.
    Voq,
    /// In virtual output queues at the inputs, and at the outputs (combined input and output
    /// queueing).
    Cioq,
}

impl Architecture {
    /// The word that a scenario writes.
    pub fn name(self) -> &'static str {
        match self {
            Self::OutputQueued => "output-queued",
            Self::InputQueued => "input-queued",
            Self::Voq => "voq",
            Self::Cioq => "cioq",
        }
    }
}

/// What carries packets from inputs to outputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum FabricSpec {
    /// A crossbar: at any time each input sends to one output, and each output receives from one
    /// input.
    #[serde(rename = "crossbar")]
    Crossbar(CrossbarSpec),
    /// An internal link from each input to each output, of speedup / n times the rate of a line: an
    /// approximation of round robin that needs no matching.
    #[serde(rename = "parallel")]
    Parallel(ParallelSpec),
}

impl Default for FabricSpec {
    fn default() -> Self {
        Self::Crossbar(CrossbarSpec::default())
    }
}

/// Parameters of a crossbar.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CrossbarSpec {
    /// How it chooses the pairs that it connects. Default iSLIP.
    pub matching: MatchingSpec,
    /// What crosses in one slot: a cell of this size, 1 B to 65535 B, into which packets are cut,
    /// or `packets` of any length, each of which holds its pair of ports as long as it takes.
    /// Default 64 B.
    pub cell: SlotSize,
}

impl Default for CrossbarSpec {
    fn default() -> Self {
        Self {
            matching: MatchingSpec::Islip(IslipSpec::default()),
            cell: SlotSize::Bytes(64),
        }
    }
}

/// Parallel links have no parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ParallelSpec {}

/// The buffer at the inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BufferSpec {
    /// Waiting packets or bytes. A packet that crosses is not counted, and one that can cross at
    /// once, over an idle link of a parallel fabric or between free ports of a crossbar for whole
    /// packets, needs no place.
    pub limit: Limit,
    /// What the limit is of. Default `queue`.
    #[serde(default)]
    pub per: Share,
    /// With `per: shared`, the multiple of the free space that a queue may hold (dynamic threshold:
    /// Choudhury and Hahne 1998), above 0. Default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
}

/// What a limit of a buffer is of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Share {
    /// Each queue: a virtual output queue, or the FIFO of an input.
    #[default]
    Queue,
    /// All queues of an input.
    Input,
    /// All queues of the switch, with a dynamic threshold for each.
    Shared,
}

impl Share {
    /// The unit of a limit in words, after its number: `a queue`.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Queue => "a queue",
            Self::Input => "an input",
            Self::Shared => "shared",
        }
    }
}

/// The congestion measure of the outputs: length of the output's queue + nu times the lengths of
/// all virtual output queues for that output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CongestionMeasureSpec {
    /// Weight of what waits at the inputs, 0 or more.
    #[schemars(range(min = 0))]
    pub nu: f64,
}

/// A speedup as an exact fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speedup {
    numerator: u32,
    denominator: u32,
}

impl Speedup {
    /// As fast as a line.
    pub const ONE: Self = Self {
        numerator: 1,
        denominator: 1,
    };

    /// `numerator / denominator` in lowest terms; none if one of them is 0.
    pub fn new(numerator: u32, denominator: u32) -> Option<Self> {
        if numerator == 0 || denominator == 0 {
            return None;
        }
        let (mut a, mut b) = (numerator, denominator);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        Some(Self {
            numerator: numerator / a,
            denominator: denominator / a,
        })
    }

    /// Numerator and denominator in lowest terms.
    pub fn fraction(self) -> (u32, u32) {
        (self.numerator, self.denominator)
    }

    /// The nearest number.
    pub fn as_f64(self) -> f64 {
        f64::from(self.numerator) / f64::from(self.denominator)
    }

    /// The number of phases of a slot that follow `slots` whole ones, so that none is lost: after t
    /// slots there were floor(t speedup) phases.
    pub fn phases_in(self, slot: u64) -> u64 {
        let phases = |slots: u64| {
            u128::from(slots) * u128::from(self.numerator) / u128::from(self.denominator)
        };
        (phases(slot + 1) - phases(slot)) as u64
    }

    /// Reads 2, 1.5 or 4/3, with at most six decimals.
    fn parse(text: &str) -> Option<Self> {
        if let Some((a, b)) = text.split_once('/') {
            return Self::new(a.trim().parse().ok()?, b.trim().parse().ok()?);
        }
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        if decimals.len() > 6 || !decimals.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let scale = 10_u32.pow(decimals.len() as u32);
        let part: u32 = if decimals.is_empty() {
            0
        } else {
            decimals.parse().ok()?
        };
        let whole: u32 = whole.parse().ok()?;
        Self::new(whole.checked_mul(scale)?.checked_add(part)?, scale)
    }
}

impl fmt::Display for Speedup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimal = self.as_f64();
        if Self::parse(&decimal.to_string()) == Some(*self) {
            write!(f, "{decimal}")
        } else {
            write!(f, "{}/{}", self.numerator, self.denominator)
        }
    }
}

/// A cell, or whole packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotSize {
    /// Cells of so many bytes.
    Bytes(u64),
    /// Whole packets.
    Packets,
}

impl fmt::Display for SlotSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(n) => write!(f, "{n} B"),
            Self::Packets => f.write_str("packets"),
        }
    }
}

textual!(
    Speedup,
    "Speedup",
    "a number or a fraction, such as 2, 1.5 or 4/3",
    |text: &str| {
        Speedup::parse(text).ok_or_else(|| format!(
        "`{text}`: not a speedup; write a number above 0 with at most six decimals or a fraction, such as 1.5 or 4/3"
    ))
    },
    {"type": ["number", "string"]}
);

textual!(
    SlotSize,
    "Cell",
    "a size, such as 64 B, or `packets`",
    |text: &str| match text {
        "packets" => Ok(SlotSize::Packets),
        size => parse_size(size)
            .map(SlotSize::Bytes)
            .map_err(|e| e.to_string()),
    },
    {"type": "string"}
);
