//! A provider's MPLS network with layer-3 VPNs: which labels packets have, and what becomes of
//! their EXP bits.

mod plan;
mod resolve;
mod running;
mod spec;

pub use plan::{MplsPlan, Role, Tunnel};
pub use spec::{MplsModel, MplsSpec};
