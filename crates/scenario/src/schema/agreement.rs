//! Traffic-conditioning agreements of customers.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Literal;

/// Traffic-conditioning agreements (RFC 2475) as a table: each line becomes a class of a
/// class-based policy, which meters, marks, polices or shapes the packets of one customer and has
/// the customer's name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgreementsSpec {
    /// The class-based policy that gets the classes, after its own and before `class-default`. It
    /// is created if `policies` has none of this name. Links refer to it by `input_policy` or
    /// `policy`.
    pub policy: String,
    /// Path of the table (CSV), relative to the scenario file.
    pub file: String,
    /// Values for columns that the table lacks or leaves empty, by column name, written as in a
    /// cell. If the meter or action is chosen here, cells for other meters or actions are ignored.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub defaults: BTreeMap<String, Literal>,
}
