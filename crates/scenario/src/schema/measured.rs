//! Traffic from measurements or plans of others.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dscp, Size};
use spillgate_endpoints::source::spec::PacketSizeSpec;

use super::Literal;

/// A traffic matrix: a table of rates between nodes.
///
/// Comma-separated values. The long form has the columns `from`, `to` and `rate`, and any other
/// column of a table of flows. The wide form has a line for each sender and a column for each
/// receiver, whose names are in the first line; the first cell of that line is ignored. A cell that
/// is empty, `-` or 0 makes no flow. Sources are Poisson with packets of the simple IMIX unless
/// `defaults` say otherwise. Flows are named `from:to`, after the class, code point or codec of the
/// long form. A row of the long form with a `codec` is `count` calls; with a codec among the
/// `defaults` the cells of the wide form are numbers of calls. A row with `fps` is a video of its
/// rate, and so is each cell with `fps` among the `defaults`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MatrixSpec {
    /// Path, relative to the scenario file.
    pub file: String,
    /// A factor above 0 for all rates and numbers of calls. Default 1.
    #[serde(default = "one")]
    pub scale: f64,
    /// Unit of rates that are written without one, such as `Mb/s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Literal>,
    /// A prefix of the names of the flows: `prefix:from:to`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// Values for columns that the matrix lacks or leaves empty, as for a table of flows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub defaults: BTreeMap<String, Literal>,
}

fn one() -> f64 {
    1.0
}

/// Counters of a router: the output of `show policy-map interface` (IOS, IOS XE, IOS XR).
///
/// One flow for each class that has an offered rate and no policy of its own. The flow has the
/// offered rate and the mean packet size of the class, the code point that the class matches, and
/// its name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowPolicyMapSpec {
    /// Path of the saved output, relative to the scenario file.
    pub file: String,
    /// The interface of the policy, if the output has several; it may be abbreviated as on the
    /// router. For an ATM circuit VPI/VCI follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    /// The direction of the policy. Default `output`.
    #[serde(default)]
    pub direction: Direction,
    /// Node that sends.
    pub from: String,
    /// Node that receives.
    pub to: String,
    /// A factor above 0 for all rates. Default 1.
    #[serde(default = "one")]
    pub scale: f64,
    /// The arrival process of the packets, which the router does not report. Default `poisson`.
    #[serde(default)]
    pub source: MeasuredSource,
    /// Packet sizes of classes that have not counted packets. Default the simple IMIX.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<PacketSizeSpec>,
    /// Bytes that the router counts beside each IP packet; they are subtracted from rates and
    /// sizes. Default 14 B on Ethernet (18 B on a sub-interface), 4 B on serial lines, else 0 B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub framing: Option<Size>,
    /// A prefix of the names of the flows: `prefix:class`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// Facts about classes that the output lacks, by name of the class.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub classes: BTreeMap<String, MeasuredClassSpec>,
}

/// Facts about a class in place of those of the router.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeasuredClassSpec {
    /// Code point of its packets. Default the first that the class matches, else `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dscp: Option<Dscp>,
    /// Packet sizes in place of the mean that the router has counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<PacketSizeSpec>,
    /// The arrival process of its packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<MeasuredSource>,
    /// Class of service under which results are reported. Default the flow's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Leaves the class out, for example if its traffic is written as separate flows.
    #[serde(default)]
    pub skip: bool,
}

/// Side of an interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// What it sends.
    #[default]
    Output,
    /// What it receives.
    Input,
}

impl Direction {
    /// Its name in scenarios.
    pub fn name(self) -> &'static str {
        match self {
            Self::Output => "output",
            Self::Input => "input",
        }
    }
}

/// The arrival process of packets of which only the rate is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MeasuredSource {
    /// Poisson arrivals.
    #[default]
    Poisson,
    /// Equal gaps between packets.
    Cbr,
}
