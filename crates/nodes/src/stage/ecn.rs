//! Links that rewrite the ECN field, as old routers and tunnels do that take it for a part of the
//! type of service.
//!
//! Source: RFC 9768, section 3.2.2.3, which has an end look for it.
//!
//! What goes to the port of such a link is rewritten before it waits there, so that the marks of
//! the links before are lost, and the queue of this one sees the new codepoint. Cost: O(1) a
//! packet.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dscp, Ecn, Mistake, Packet, Problem};
use spillgate_measure::Measures;

use super::{Acts, Network, Stage, StagePlan, StageRecipe, StageSpec};
use crate::{Around, Names, Reader, Start};

/// Links that rewrite the ECN field, by name; a group stands for all its members.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct RewriteEcnSpec(BTreeMap<String, RewriteSpec>);

/// What becomes of each codepoint. All to Not-ECT is bleaching.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RewriteSpec {
    /// Instead of Not-ECT. Default: as it is.
    #[serde(rename = "not-ect", skip_serializing_if = "Option::is_none")]
    pub not_ect: Option<Ecn>,
    /// Instead of ECT(0). Default: as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ect0: Option<Ecn>,
    /// Instead of ECT(1). Default: as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ect1: Option<Ecn>,
    /// Instead of CE. Default: as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ce: Option<Ecn>,
}

impl RewriteSpec {
    /// The new codepoint of each, by its two bits.
    fn table(&self) -> [Ecn; 4] {
        let becomes = |from: Ecn| {
            let written = match from {
                Ecn::NotEct => self.not_ect,
                Ecn::Ect0 => self.ect0,
                Ecn::Ect1 => self.ect1,
                Ecn::Ce => self.ce,
            };
            written.unwrap_or(from)
        };
        std::array::from_fn(|bits| becomes(Ecn::from_bits(bits as u8)))
    }
}

impl StageSpec for RewriteEcnSpec {
    fn resolve(&self, _: &Around<'_>, reader: &mut dyn Reader) -> Option<StagePlan> {
        let mut tables = BTreeMap::new();
        for (name, spec) in &self.0 {
            if spec.table() == RewriteSpec::default().table() {
                let hint = "write what becomes of a codepoint, such as {ce: ect0}";
                reader.warn(Problem::new(name, "", "nothing is rewritten", hint));
            }
            for link in reader.links(name, name)? {
                if tables.insert(link, spec.table()).is_some() {
                    let hint = "write a link by itself or in its group";
                    let text = "a link that is rewritten already";
                    reader.refuse(Problem::new(name, name, text, hint).of(Mistake::Twice));
                }
            }
        }
        Some(Box::new(RewriteEcnPlan(tables)).into())
    }
}

/// The new codepoints by link.
#[derive(Clone, Debug)]
pub struct RewriteEcnPlan(BTreeMap<u32, [Ecn; 4]>);

impl StageRecipe for RewriteEcnPlan {
    fn build(&self, _: &Start<'_>, _: &Network<'_>) -> Box<dyn Stage> {
        Box::new(RewriteEcn(self.0.clone()))
    }

    fn path(&self) -> String {
        "rewrite_ecn".to_owned()
    }

    fn declares(&self, _: &Network<'_>) -> Acts {
        Acts {
            ports: self.0.keys().copied().collect(),
            ..Acts::default()
        }
    }

    fn marks(&self) -> Vec<Dscp> {
        Vec::new()
    }

    fn write_identity(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        write!(out, "{:?}", self.0)
    }
}

/// The running stage.
struct RewriteEcn(BTreeMap<u32, [Ecn; 4]>);

impl Stage for RewriteEcn {
    fn leave(&mut self, link: u32, packet: &mut Packet) {
        if let Some(table) = self.0.get(&link) {
            packet.ecn = table[usize::from(packet.ecn as u8 & 3)];
        }
    }

    fn measure(&self, _: &dyn Names, _: &mut Measures) {}
}
