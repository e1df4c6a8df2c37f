//! Every kind of node that holds packets: a line each.
//!
//! From this list follow the keys of a node in a scenario, [`NodePlan`], and [`NodePlan::KINDS`],
//! the list for help texts.

use std::ops::Deref;

use crate::Recipe;

/// Calls a macro with every kind: what it is, its key, how it is written, how it runs.
#[macro_export]
macro_rules! with_node_kinds {
    ($callback:path) => {
        $callback! {
            /// What it takes to pass packets on from one link to the next. Default: nothing, at
            /// once.
            Software = forwarding, $crate::software::ForwardingSpec => $crate::software::SoftwarePlan;
            /// The node is a switch, with queues at its inputs. Default: it is none, and packets
            /// are queued at ports only.
            Switch = switch, $crate::switch::SwitchSpec => $crate::switch::SwitchPlan;
            /// The node is an ATM switch, with queues of cells at its outputs. Default: it is none.
            Atm = atm_switch, $crate::atm::AtmSwitchSpec => $crate::atm::AtmPlan;
        }
    };
}

macro_rules! plans {
    ($($(#[doc = $doc:literal])+ $kind:ident = $key:ident, $spec:ty => $plan:ty;)+) => {
        spillgate_core::family! {
            /// A node that holds packets, validated: nothing is left that can fail.
            #[derive(Clone, Debug)]
            pub running enum NodePlan by plan;

            $($(#[doc = $doc])+ $key = $kind(Box<$plan>);)+
        }
    };
}

with_node_kinds!(plans);

impl Deref for NodePlan {
    type Target = dyn Recipe;

    fn deref(&self) -> &Self::Target {
        plan!(self, plan => &**plan)
    }
}
