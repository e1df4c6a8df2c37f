//! Every stage: a line each, in the order in which a packet passes them.
//!
//! From this list follow the keys of `topology`, [`StagePlan`], and [`StagePlan::KINDS`], the list
//! for help texts. A stage that is written at links has its key there.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use super::input::InputPlan;
use super::mpls::MplsPlan;
use super::{Network, StageRecipe};

/// Calls a macro with every stage: what it is, its key, how it is written, how it runs.
#[macro_export]
macro_rules! with_stages {
    ($callback:path) => {
        $callback! {
            links {
                /// A policy polices and marks what arrives over a link.
                Input = input_policy => $crate::stage::input::InputPlan;
            }
            topology {
                /// The nodes of an MPLS network with layer-3 VPNs.
                Mpls = mpls, $crate::stage::mpls::MplsSpec => $crate::stage::mpls::MplsPlan;
                /// Links that rewrite the ECN field of what they carry, by name.
                RewriteEcn = rewrite_ecn, $crate::stage::ecn::RewriteEcnSpec => $crate::stage::ecn::RewriteEcnPlan;
            }
        }
    };
}

macro_rules! plans {
    (
        links { $($(#[doc = $at_link:literal])+ $here:ident = $link_key:ident => $link_plan:ty;)+ }
        topology { $($(#[doc = $doc:literal])+ $kind:ident = $key:ident, $spec:ty => $plan:ty;)+ }
    ) => {
        spillgate_core::family! {
            /// A validated stage: nothing is left that can fail.
            #[derive(Clone, Debug)]
            pub running enum StagePlan by stage;

            $($(#[doc = $at_link])+ $link_key = $here(Box<$link_plan>);)+
            $($(#[doc = $doc])+ $key = $kind(Box<$plan>);)+
        }
    };
}

with_stages!(plans);

impl Deref for StagePlan {
    type Target = dyn StageRecipe;

    fn deref(&self) -> &Self::Target {
        stage!(self, stage => &**stage)
    }
}

impl StagePlan {
    /// The policy that it is, if it is one.
    fn input(&self) -> Option<&InputPlan> {
        match self {
            Self::Input(input) => Some(input),
            _ => None,
        }
    }

    /// The MPLS network that it is, if it is one.
    pub fn mpls(&self) -> Option<&MplsPlan> {
        match self {
            Self::Mpls(mpls) => Some(mpls),
            _ => None,
        }
    }
}

/// All stages of a network, in the order of the registry.
#[derive(Clone, Debug, Default)]
pub struct Stages {
    all: Vec<StagePlan>,
    /// The policies where packets arrive, by link.
    inputs: BTreeMap<u32, usize>,
    arrivals: BTreeSet<u32>,
    ports: BTreeSet<u32>,
    notes: bool,
}

impl Stages {
    /// Stages in the order of the registry.
    pub fn new(all: Vec<StagePlan>, network: &Network<'_>) -> Self {
        let mut new = Self::default();
        for (i, stage) in all.iter().enumerate() {
            let acts = stage.declares(network);
            new.arrivals.extend(acts.arrivals);
            new.ports.extend(acts.ports);
            new.notes |= acts.notes;
            if let Some(input) = stage.input() {
                new.inputs.insert(input.link, i);
            }
        }
        Self { all, ..new }
    }

    /// Whether a stage acts on what arrives over a link.
    pub fn act_at_arrival(&self, link: u32) -> bool {
        self.arrivals.contains(&link)
    }

    /// Whether a stage acts on what goes to the port of a link.
    pub fn act_at_port(&self, link: u32) -> bool {
        self.ports.contains(&link)
    }

    /// Whether a stage looks at what nodes note of an arrival.
    pub fn look_at_notes(&self) -> bool {
        self.notes
    }

    /// The policy for what arrives over a link.
    pub fn input(&self, link: u32) -> Option<&InputPlan> {
        self.all.get(*self.inputs.get(&link)?)?.input()
    }

    /// The provider's MPLS network.
    pub fn mpls(&self) -> Option<&MplsPlan> {
        self.all.iter().find_map(StagePlan::mpls)
    }
}

impl Deref for Stages {
    type Target = [StagePlan];

    fn deref(&self) -> &Self::Target {
        &self.all
    }
}
