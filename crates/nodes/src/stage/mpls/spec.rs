//! A provider's MPLS network with layer-3 VPNs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::Dscp;

/// The nodes of a provider that carries IP packets of its customers under MPLS labels (RFC 4364).
///
/// A packet that enters the provider's network at one provider edge and leaves it at another gets a
/// label for its VPN, and above it a label for the path. Each label takes 4 bytes on every link
/// where the packet has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MplsSpec {
    /// Provider edges: the nodes or groups of nodes that customers are attached to.
    pub pe: Vec<String>,
    /// Nodes or groups of nodes inside the provider's network, which have no customers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub p: Vec<String>,
    /// Penultimate-hop popping: the label of the path is removed one hop before its end, as in
    /// Cisco IOS by default. False: the last link carries it too, as explicit null. Default true.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub php: bool,
    /// The treatment of EXP bits when a label is removed. Default `short-pipe`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub model: MplsModel,
    /// EXP bits (0..=7) that the labels of a packet get, by its DSCP. Default for each DSCP: its
    /// upper three bits, the IP precedence, as in Cisco IOS.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub imposition: BTreeMap<Dscp, u8>,
    /// With the uniform model, the DSCP of a packet whose EXP bits were changed in the network, by
    /// EXP bits. Default: the class selector `cs0` to `cs7` of the same value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub disposition: BTreeMap<u8, Dscp>,
    /// VPNs by name, each with the nodes (or groups of nodes) behind the provider edges that belong
    /// to it. No flow crosses from one to another. Default: all belong to one VPN.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub vpns: BTreeMap<String, Vec<String>>,
}

/// The treatment of EXP bits when a label is removed (RFC 3270 §2.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MplsModel {
    /// They are discarded, and the DSCP below is unchanged. The provider edge queues packets to the
    /// customer by DSCP. This is the default of Cisco IOS.
    #[default]
    ShortPipe,
    /// They are discarded as well, but the provider edge queues packets to the customer by the EXP
    /// bits of the label that it removed.
    Pipe,
    /// They are copied to the label below and, if they were changed in the network, to the DSCP.
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
