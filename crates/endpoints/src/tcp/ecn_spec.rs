//! Explicit congestion notification as a user writes it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::Problem;

use super::config::EcnMode;
use super::spec::TcpSpec;
use crate::cc::CcSpec;

/// Which notification of congestion to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcnSpec {
    /// None; the default except with `dctcp` and `prague`.
    Off,
    /// RFC 3168; with `dctcp` the feedback of RFC 8257.
    Classic,
    /// ECT(0) with accurate feedback (RFC 9768), answered as the congestion control does.
    Accurate,
    /// RFC 9331 with accurate feedback; the default with `prague`, which needs it.
    L4s,
}

/// Which feedback the receiver's host supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PeerEcn {
    /// None.
    Off,
    /// RFC 3168.
    Classic,
    /// RFC 9768, and RFC 3168 where the sender asks for that.
    Accurate,
}

impl TcpSpec {
    pub(super) fn resolve_ecn(&self, cc: &CcSpec) -> Result<EcnMode, Problem> {
        let fail = |found: &str, message: String, hint: &str| {
            Err(Problem::new("ecn", found, message, hint))
        };
        let own = cc.traits().ecn;
        match (self.ecn, own) {
            (None, own) => Ok(own),
            (Some(EcnSpec::L4s), EcnMode::L4s) => Ok(EcnMode::L4s),
            (Some(EcnSpec::L4s), _) => fail(
                "l4s",
                format!(
                    "`{}` does not respond to marks as RFC 9331 §4.3 demands of L4S senders",
                    cc.kind()
                ),
                "write classic, or cc: prague",
            ),
            (Some(other), EcnMode::L4s) => fail(
                match other {
                    EcnSpec::Off => "off",
                    EcnSpec::Classic => "classic",
                    EcnSpec::Accurate | EcnSpec::L4s => "accurate",
                },
                format!(
                    "`{}` sends ECT(1) and lives by accurate feedback",
                    cc.kind()
                ),
                "leave ecn out; what happens without that feedback shows peer_ecn",
            ),
            (Some(EcnSpec::Accurate), _) => Ok(EcnMode::Accurate),
            (Some(EcnSpec::Classic), EcnMode::Dctcp) => Ok(EcnMode::Dctcp),
            (Some(EcnSpec::Off), EcnMode::Dctcp) => {
                fail("off", "`dctcp` lives by marks".to_owned(), "leave ecn out")
            }
            (Some(EcnSpec::Classic), _) => Ok(EcnMode::Classic),
            (Some(EcnSpec::Off), _) => Ok(EcnMode::Off),
        }
    }

    pub(super) fn resolve_peer_ecn(&self, ecn: EcnMode) -> Result<EcnMode, Problem> {
        match (self.peer_ecn, ecn) {
            (Some(PeerEcn::Off), _) => Ok(EcnMode::Off),
            (None, own) => Ok(own),
            (Some(peer), EcnMode::Dctcp) => Err(Problem::new(
                "peer_ecn",
                match peer {
                    PeerEcn::Off => "off",
                    PeerEcn::Classic => "classic",
                    PeerEcn::Accurate => "accurate",
                },
                "RFC 8257 does not negotiate: a receiver with other feedback looks the same",
                "leave peer_ecn out, or write ecn: accurate",
            )),
            (Some(PeerEcn::Classic), _) => Ok(EcnMode::Classic),
            (Some(PeerEcn::Accurate), own) if own.is_accurate() => Ok(own),
            (Some(PeerEcn::Accurate), _) => Ok(EcnMode::Accurate),
        }
    }

    pub(super) fn resolve_ecn_option(&self, ecn: EcnMode) -> Result<bool, Problem> {
        match self.ecn_option {
            Some(on) if !ecn.is_accurate() => Err(Problem::new(
                "ecn_option",
                on,
                "only accurate feedback has an option",
                "leave ecn_option out, or write ecn: accurate",
            )),
            given => Ok(given.unwrap_or(true)),
        }
    }
}
