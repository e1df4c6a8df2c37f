//! DCTCP (RFC 8257): Reno that answers marks in proportion to their share.

use super::alpha::{Growth, Proportional};
use super::window::no_parameters;
use super::{AckSample, Traits};
use crate::tcp::config::EcnMode;

no_parameters! {
    /// DCTCP has no parameters: g is 1/16 (RFC 8257 §4.2).
    DctcpSpec
}

/// As in RFC 5681, but not on ECN echo (RFC 3168 §6.1.2).
#[derive(Clone, Debug)]
pub struct Unechoed;

impl Growth for Unechoed {
    type Spec = DctcpSpec;
    const TRAITS: Traits = Traits {
        ecn: EcnMode::Dctcp,
        ..Traits::MODERN
    };

    fn countable(ack: &AckSample) -> u64 {
        if ack.ece { 0 } else { ack.acked }
    }
}

/// State of DCTCP.
pub(super) type Dctcp = Proportional<Unechoed>;
