//! A provider's MPLS network with layer-3 VPNs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::Dscp;

/// The nodes of a provider that carries IP packets of its customers under MPLS labels (RFC 4364).
///
/// A packet that comes to a provider edge and leaves the provider's network at another one gets a
/// label for its VPN, and above it one for the way there. Each label takes 4 bytes on every link
/// that it is on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MplsSpec {
    /// Provider edges: the nodes or groups of nodes that customers are attached to.
    pub pe: Vec<String>,
    /// Nodes or groups of nodes inside the provider's network, which have no customers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub p: Vec<String>,
    /// Penultimate-hop popping: the label for the way is removed one hop before its end, as Cisco
    /// IOS does unless told otherwise. False: the last link carries it too, as explicit null.
    /// Default true.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub php: bool,
    /// What becomes of EXP bits when a label is removed. Default `short-pipe`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub model: MplsModel,
    /// EXP bits (0..=7) that the labels of a packet get, by its DSCP. Default for each DSCP: its
    /// upper three bits, the IP precedence, as in Cisco IOS.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub imposition: BTreeMap<Dscp, u8>,
    /// With the uniform model, the DSCP that a packet gets if its EXP bits were changed on the way,
    /// by EXP bits. Default: the class selector `cs0` to `cs7` of the same value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub disposition: BTreeMap<u8, Dscp>,
    /// VPNs by name, each with the nodes (or groups of nodes) behind the provider edges that belong
    /// to it. No flow crosses from one to another. Default: all belong to one VPN.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub vpns: BTreeMap<String, Vec<String>>,
}

/// What becomes of EXP bits when a label is removed (RFC 3270 §2.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MplsModel {
    /// They are gone: below is what was there, and the provider edge queues for the customer by
    /// DSCP. What Cisco IOS does unless configured otherwise.
    #[default]
    ShortPipe,
    /// The same, but the provider edge queues for the customer by the EXP bits of the label that
    /// it removed.
    Pipe,
    /// They are copied to the label below, and if they were changed on the way, to the DSCP.
    Uniform,
}

fn yes() -> bool {
    true
}

// Serde wants a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_true(yes: &bool) -> bool {
    *yes
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_default(model: &MplsModel) -> bool {
    *model == MplsModel::default()
}
