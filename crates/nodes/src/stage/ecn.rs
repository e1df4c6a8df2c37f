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
use spillgate_measure::table::{Metric, Scope};
use spillgate_measure::{Measures, Place, Window};

use super::{Acts, Leaving, Network, Stage, StagePlan, StageRecipe, StageSpec};
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
    fn build(&self, start: &Start<'_>, _: &Network<'_>) -> Box<dyn Stage> {
        let link = |(link, table): (&u32, &[Ecn; 4])| (*link, (*table, Rewritten::default()));
        Box::new(RewriteEcn {
            window: start.window,
            links: self.0.iter().map(link).collect(),
            classes: Vec::new(),
        })
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

/// The packets that were rewritten in the measured period.
#[derive(Clone, Copy, Debug, Default)]
struct Rewritten {
    all: u64,
    /// Of those: marked before.
    marked: u64,
}

impl Rewritten {
    fn count(&mut self, from: Ecn) {
        self.all += 1;
        self.marked += u64::from(from == Ecn::Ce);
    }

    fn measure(self, mut of: Place<'_>) {
        of.put(Metric::RewrittenEcn, self.all);
        of.put(Metric::MarksErased, self.marked);
    }
}

/// The running stage.
struct RewriteEcn {
    window: Window,
    links: BTreeMap<u32, ([Ecn; 4], Rewritten)>,
    /// By class of service, of all links.
    classes: Vec<Rewritten>,
}

impl Stage for RewriteEcn {
    fn leave(&mut self, at: Leaving, packet: &mut Packet) {
        let Some((table, of_link)) = self.links.get_mut(&at.link) else {
            return;
        };
        let from = packet.ecn;
        packet.ecn = table[usize::from(from as u8 & 3)];
        if from == packet.ecn || !self.window.contains(at.now) {
            return;
        }
        of_link.count(from);
        if let Some(class) = at.class.map(usize::from) {
            if self.classes.len() <= class {
                self.classes.resize(class + 1, Rewritten::default());
            }
            self.classes[class].count(from);
        }
    }

    fn measure(&self, names: &dyn Names, out: &mut Measures) {
        for (link, (_, found)) in &self.links {
            found.measure(out.of(Scope::Link, || names.link(*link)));
        }
        for (class, name) in names.classes().iter().enumerate() {
            let found = self.classes.get(class).copied().unwrap_or_default();
            found.measure(out.of(Scope::Class, || name));
        }
    }
}
