//! What sources never exceed where they are sent.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use spillgate_capture::Sent;
use spillgate_core::curve::Curve;
use spillgate_endpoints::source::Source;
use spillgate_scenario::plan::{FlowPlan, Traffic, WorldPlan};

use crate::flows::Unit;

/// What is sent: the place of its description, and the group of a capture.
type What = (usize, usize);

/// The curves that were asked for: flows of a row have one description.
pub(crate) struct Sources {
    /// By flow of the plan its group, if it is of a capture.
    groups: Vec<usize>,
    known: RefCell<BTreeMap<(What, Unit), Option<Curve>>>,
    /// The packets of captures, by the place of the plan.
    captures: RefCell<BTreeMap<usize, Option<Arc<Sent>>>>,
}

impl Sources {
    pub(crate) fn of(world: &WorldPlan) -> Self {
        Self {
            groups: groups(world),
            known: RefCell::default(),
            captures: RefCell::default(),
        }
    }

    /// What a flow of the plan never exceeds; none if it may.
    pub(crate) fn arrivals(&self, world: &WorldPlan, flow: usize, unit: Unit) -> Option<Curve> {
        let what = match &world.flows[flow].traffic {
            Traffic::Source(source) => (Arc::as_ptr(source) as usize, 0),
            Traffic::Replay(replay) => (Arc::as_ptr(replay) as usize, self.groups[flow]),
            Traffic::Tcp { .. } | Traffic::Sessions(_) => return None,
        };
        if let Some(known) = self.known.borrow().get(&(what, unit)) {
            return known.clone();
        }
        let occupied = |len| unit.of(len);
        let curve = match &world.flows[flow].traffic {
            Traffic::Source(source) => Source::arrivals(source, &occupied).and_then(Result::ok),
            _ => {
                let sent = self.capture(world, flow);
                sent.and_then(|sent| sent.arrivals(what.1, &occupied).ok())
            }
        };
        let curve = curve.and_then(|c| c.rounded_up().ok());
        let known = &mut self.known.borrow_mut();
        known.insert((what, unit), curve.clone());
        curve
    }

    /// The packets of a capture, read when they are first asked for.
    fn capture(&self, world: &WorldPlan, flow: usize) -> Option<Arc<Sent>> {
        let Traffic::Replay(plan) = &world.flows[flow].traffic else {
            return None;
        };
        let read = || {
            let sent = Sent::read(&plan.opener, &plan.selection, &plan.survey, plan.clock);
            // What cannot be read is told by a run.
            sent.ok().flatten().map(Arc::new)
        };
        let captures = &mut self.captures.borrow_mut();
        let place = Arc::as_ptr(plan) as usize;
        captures.entry(place).or_insert_with(read).clone()
    }
}

/// The groups of the flows of captures: the places among the flows of the same capture, which
/// follow each other.
fn groups(world: &WorldPlan) -> Vec<usize> {
    let mut last = (std::ptr::null(), 0);
    let group = |flow: &FlowPlan| {
        let plan = match &flow.traffic {
            Traffic::Replay(replay) => Arc::as_ptr(replay),
            _ => std::ptr::null(),
        };
        last = (plan, if plan == last.0 { last.1 + 1 } else { 0 });
        last.1
    };
    world.flows.iter().map(group).collect()
}
