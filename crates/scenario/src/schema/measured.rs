//! Traffic as others have measured or planned it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dscp, Size};
use spillgate_endpoints::source::spec::PacketSizeSpec;

use super::CellText;

/// A traffic matrix: a table of rates between nodes.
///
/// Comma-separated values. The long form has the columns `from`, `to` and `rate`, and any other
/// column of a table of flows. The wide form has a line for each sender and a column for each
/// receiver, whose names are the first line; its first cell is free. No flow where a cell is empty,
/// `-` or 0. Sources are Poisson with packets of the simple IMIX unless `defaults` say otherwise.
/// Flows are called `from:to`, with the class, code point or codec of the long form in front. A row
/// of the long form with a `codec` is `count` calls; with a codec among the `defaults` the cells of
/// the wide form are numbers of calls. A row with `fps` is a video of its rate, and so is each cell
/// with `fps` among the `defaults`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MatrixSpec {
    /// Path, relative to the scenario file.
    pub file: String,
    /// All rates, and numbers of calls, are multiplied by this, above 0. Default 1.
    #[serde(default = "one")]
    pub scale: f64,
    /// Unit of rates that are written without one, such as `Mb/s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<CellText>,
    /// Begins the names of the flows: `prefix:from:to`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// Values for columns that the matrix lacks or leaves empty, as for a table of flows.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub defaults: BTreeMap<String, CellText>,
}

fn one() -> f64 {
    1.0
}

/// What a router has measured: the output of `show policy-map interface` (IOS, IOS XE, IOS XR).
///
/// One flow for each class without a policy of its own that offers something: the class's offered
/// rate, its mean packet size, and the code point that it matches. Flows are called like their
/// classes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowPolicyMapSpec {
    /// Path of the saved output, relative to the scenario file.
    pub file: String,
    /// Which interface's policy, if the output has several; abbreviated as on the router. Of a
    /// circuit of ATM with VPI/VCI behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    /// Which of the interface's policies. Default `output`.
    #[serde(default)]
    pub direction: Direction,
    /// Node that sends.
    pub from: String,
    /// Node that receives.
    pub to: String,
    /// All rates are multiplied by this, above 0. Default 1.
    #[serde(default = "one")]
    pub scale: f64,
    /// How the packets come: the router does not say. Default `poisson`.
    #[serde(default)]
    pub source: MeasuredSource,
    /// Packet sizes of classes that have not counted packets. Default the simple IMIX.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<PacketSizeSpec>,
    /// Bytes that the router counts beside each IP packet; they are taken off rates and sizes.
    /// Default 14 B on Ethernet (18 B on a sub-interface), 4 B on serial lines, else 0 B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub framing: Option<Size>,
    /// Begins the names of the flows: `prefix:class`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// What the output does not know of a class, by its name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub classes: BTreeMap<String, MeasuredClassSpec>,
}

/// What the user knows of a class better than the router.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeasuredClassSpec {
    /// Code point of its packets. Default the first that the class matches, else `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dscp: Option<Dscp>,
    /// Packet sizes in place of the mean that the router has counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<PacketSizeSpec>,
    /// How its packets come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<MeasuredSource>,
    /// Class of service under which results are reported. Default the flow's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Leaves the class out, where its traffic is written as flows of its own.
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

/// How packets come of which only the rate is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MeasuredSource {
    /// At random.
    #[default]
    Poisson,
    /// One after the other.
    Cbr,
}
