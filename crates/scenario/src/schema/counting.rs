//! The bytes that rates of a link's policies count.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Or, Overhead};
use spillgate_queueing::Counting;

/// The overhead that rates of a link's policies count beside the IP packet: one for all rates, or
/// one for policers and one for queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "Or<Overhead, PartsSpec>", into = "Or<Overhead, PartsSpec>")]
pub struct PolicyOverhead(pub Counting);

/// The overhead that each part of a policy counts.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartsSpec {
    /// The overhead for `police` and the policer of `priority`. Default: that of the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub police: Option<Overhead>,
    /// The overhead for `shape` and the shares of classes (`bandwidth`). Default: that of the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Overhead>,
}

impl From<Or<Overhead, PartsSpec>> for PolicyOverhead {
    fn from(written: Or<Overhead, PartsSpec>) -> Self {
        let (policers, queues) = match written {
            Or::Short(all) => (Some(all), Some(all)),
            Or::Full(parts) => (parts.police, parts.queue),
        };
        Self(Counting { policers, queues })
    }
}

impl From<PolicyOverhead> for Or<Overhead, PartsSpec> {
    fn from(PolicyOverhead(Counting { policers, queues }): PolicyOverhead) -> Self {
        match policers {
            Some(all) if policers == queues => Self::Short(all),
            _ => Self::Full(PartsSpec {
                police: policers,
                queue: queues,
            }),
        }
    }
}
