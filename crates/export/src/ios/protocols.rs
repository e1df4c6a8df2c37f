//! Protocols by name.
//!
//! Only those that are known by their number: for one that is known by its ports `match protocol`
//! asks NBAR, which looks into packets, and `match ip rtp` takes the even ports of its range.
//! Conditions on ports are access lists, which match the same packets on every router.

use spillgate_import::protocol_name;
use spillgate_queueing::spec::MatchSpec;
use spillgate_scenario::Platform;

/// What stands behind `match` for a condition on the protocol only; it is taken out. IOS XR has no
/// such line for most.
pub(super) fn take_protocol(m: &mut MatchSpec, platform: Platform) -> Option<String> {
    let ports = m.sport.is_some() || m.dport.is_some() || m.src.is_some() || m.dst.is_some();
    if ports || m.any.is_some() || platform == Platform::IosXr {
        return None;
    }
    let name = protocol_name(&MatchSpec::protocol(m.protocol.clone()?))?;
    m.protocol = None;
    Some(format!("protocol {name}"))
}
