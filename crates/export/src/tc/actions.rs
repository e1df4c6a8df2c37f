//! Markers and policers as actions of filters.

use std::fmt::Write as _;

use spillgate_core::{Dscp, Rate};
use spillgate_queueing::Division;
use spillgate_queueing::spec::{ClassSpec, PoliceAction, PoliceActions, PoliceSpec, PolicingWhen};

use crate::Here;

/// One action on the packets of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Sets the DSCP.
    Mark(Dscp),
    /// A policer, defined once and shared by all filters of its class, that drops what exceeds.
    Drop(u32),
    /// One that sets the DSCP of what exceeds. What conforms has been treated.
    Exceeding(u32, Dscp),
}

/// The policers of a port.
pub(super) struct Actions {
    /// The commands that define them.
    pub(super) lines: Vec<String>,
    next: u32,
}

/// Policers of a port; more are numbered among those of the next.
const EACH: u32 = 100;
/// No packet is too long for a policer.
const MTU: u32 = 65_535;

/// Whether a policer of the class's priority is an action, and not the class's own rate.
pub(super) fn polices(class: &ClassSpec) -> bool {
    let always = |p: &spillgate_queueing::spec::PrioritySpec| p.police == PolicingWhen::Always;
    class.priority.as_ref().is_some_and(always)
}

impl Actions {
    pub(super) fn new(port: u32) -> Self {
        Self {
            lines: Vec::new(),
            next: port.saturating_mul(EACH) + 1,
        }
    }

    fn policer(&mut self, (rate, burst): (Rate, u64), control: &str) -> u32 {
        let index = self.next;
        self.next += 1;
        self.lines.push(format!(
            "tc actions replace action police rate {}bit burst {burst}b mtu {MTU}b conform-exceed {control} index {index}",
            rate.bps()
        ));
        index
    }

    /// The actions of a class, in their order: set the DSCP, police, police the priority.
    pub(super) fn steps(
        &mut self,
        class: &ClassSpec,
        division: &Division,
        notes: &mut Here<'_>,
    ) -> Vec<Step> {
        let acts = class.police.iter().flat_map(|p| {
            let violate = p.violate.iter().flat_map(PoliceActions::iter);
            p.conform.iter().chain(p.exceed.iter()).chain(violate)
        });
        let (mut labels, mut frames) = (Vec::new(), Vec::new());
        for (key, value) in [
            ("set_exp", class.set_exp),
            ("set_exp_imposition", class.set_exp_imposition),
        ] {
            labels.extend(value.map(|v| format!("{key} {v}")));
        }
        for (key, value) in [
            ("set_cos", class.set_cos.map(u16::from)),
            ("set_qos_group", class.set_qos_group),
        ] {
            frames.extend(value.map(|v| format!("{key} {v}")));
        }
        for act in acts {
            match act {
                PoliceAction::SetExp(e) => labels.push(format!("set-exp {e}")),
                PoliceAction::SetExpImposition(e) => {
                    labels.push(format!("set-exp-imposition {e}"));
                }
                PoliceAction::SetCos(c) => frames.push(format!("set-cos {c}")),
                PoliceAction::SetQosGroup(g) => frames.push(format!("set-qos-group {g}")),
                PoliceAction::Transmit | PoliceAction::Drop | PoliceAction::SetDscp(_) => {}
            }
        }
        if !labels.is_empty() {
            let left = labels.join(", ");
            notes.add(format!(
                "packets have no labels here: EXP bits are not set ({left})"
            ));
        }
        if !frames.is_empty() {
            let left = frames.join(", ");
            notes.add(format!("CoS and QoS groups are not set ({left})"));
        }
        let mut steps: Vec<Step> = class.set_dscp.map(Step::Mark).into_iter().collect();
        if let (Some(p), Some(first)) = (&class.police, division.police) {
            self.police(p, first, division.police_excess, &mut steps, notes);
        }
        if let Some(bucket) = division.priority.filter(|_| polices(class)) {
            steps.push(Step::Drop(self.policer(bucket, "drop/pipe")));
        }
        steps
    }

    fn police(
        &mut self,
        p: &PoliceSpec,
        first: (Rate, u64),
        second: Option<(Rate, u64)>,
        steps: &mut Vec<Step>,
        notes: &mut Here<'_>,
    ) {
        if p.window.is_some() {
            notes.add("police of tc meters by a token bucket, not by the average rate in a window (`window`): the policer is left out");
            return;
        }
        if p.per_flow {
            notes.add("police of tc meters a class as a whole, not each flow (`per_flow`): the policer is left out");
            return;
        }
        if p.conform_color.is_some() {
            let and = if p.exceed_color.is_some() {
                " and `exceed_color`"
            } else {
                ""
            };
            notes.add(format!("police of tc knows no colors: the policer is color-blind, without `conform_color`{and}"));
        }
        let violate = p.violate.as_ref().unwrap_or(&p.exceed);
        match second {
            Some(peak) if p.peak_rate.is_some() && violate.drops() && !p.exceed.drops() => {
                // Behind a policer of the peak rate all that is left conforms or exceeds
                // (RFC 2698).
                steps.push(Step::Drop(self.policer(peak, "drop/pipe")));
            }
            Some((rate, burst))
                if p.peak_rate.is_some() && violate == &p.exceed && p.exceed.drops() =>
            {
                notes.add(format!("what exceeds the peak rate is dropped with what exceeds the committed rate: the peak rate of {rate} (`excess_burst` {burst} B) is left out"));
            }
            Some((rate, burst)) if p.peak_rate.is_some() => {
                notes.add(format!("police of tc has two outcomes: what violates meets the exceed action, and the peak rate of {rate} (`excess_burst` {burst} B) is left out"));
            }
            Some(excess) if first.1 == 0 => {
                // Nothing conforms: what exceeds is what conforms to the other bucket (RFC 2697).
                self.two_colors(&p.exceed, violate, excess, steps);
                return;
            }
            Some(_) if violate == &p.exceed => {}
            Some((rate, excess)) if marks(&p.exceed) == marks(&p.conform) && !p.exceed.drops() => {
                // What conforms and what exceeds are treated alike: one bucket of both depths.
                notes.add("two buckets of one rate become one of both bursts");
                let both = (rate, first.1.saturating_add(excess));
                self.two_colors(&p.conform, violate, both, steps);
                return;
            }
            Some((_, excess)) => {
                notes.add(format!("police of tc has one bucket and two outcomes: what exceeds meets the violate action, and the excess burst (`excess_burst`) of {excess} B is left out"));
                self.two_colors(&p.conform, violate, first, steps);
                return;
            }
            None => {}
        }
        self.two_colors(&p.conform, &p.exceed, first, steps);
    }

    fn two_colors(
        &mut self,
        conform: &PoliceActions,
        exceed: &PoliceActions,
        bucket: (Rate, u64),
        steps: &mut Vec<Step>,
    ) {
        if conform.drops() {
            // Only what exceeds is left, if anything.
            let control = if exceed.drops() {
                "drop/drop"
            } else {
                "pipe/drop"
            };
            let index = self.policer(bucket, control);
            steps.push(Step::Drop(index));
            steps.extend(marks(exceed).map(Step::Mark));
            return;
        }
        if exceed.drops() {
            steps.push(Step::Drop(self.policer(bucket, "drop/pipe")));
            steps.extend(marks(conform).map(Step::Mark));
            return;
        }
        steps.extend(marks(conform).map(Step::Mark));
        if let Some(dscp) = marks(exceed) {
            let index = self.policer(bucket, "pipe/pass");
            steps.push(Step::Exceeding(index, dscp));
        }
    }
}

/// The DSCP that actions set.
fn marks(actions: &PoliceActions) -> Option<Dscp> {
    actions
        .iter()
        .filter_map(|a| match a {
            PoliceAction::SetDscp(d) => Some(d),
            _ => None,
        })
        .last()
}

/// The actions of a filter, with a space before them; nothing if there are none.
pub(super) fn text(steps: &[Step], notes: &mut Here<'_>) -> String {
    let mut text = String::new();
    let mark = |text: &mut String, dscp: Dscp| {
        let tos = dscp.value() << 2;
        let _ = write!(
            text,
            " action pedit ex munge ip tos set 0x{tos:02x} retain 0xfc pipe action csum ip4h pipe"
        );
    };
    for (i, step) in steps.iter().enumerate() {
        match step {
            Step::Mark(dscp) => mark(&mut text, *dscp),
            Step::Drop(index) => {
                let _ = write!(text, " action police index {index}");
            }
            Step::Exceeding(index, dscp) => {
                let _ = write!(text, " action police index {index}");
                mark(&mut text, *dscp);
                if i + 1 < steps.len() {
                    notes.add("what conforms is sent before the policers around it see it");
                }
            }
        }
    }
    text
}
