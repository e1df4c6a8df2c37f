//! Captures are surveyed before anything runs.

use std::sync::Arc;

use spillgate_capture::{Clock, Grouping, Selection, Survey, SurveyError, survey};
use spillgate_core::{Dscp, Dur, FlowKey};

use crate::codes;
use crate::ctx::{Capture, Ctx};
use crate::error::Diagnostic;
use crate::node::{Node, Step, steps};
use crate::plan::ReplayPlan;
use crate::schema::{CaptureSpec, FlowSpec};
use spillgate_core::suggest::list;

/// Most five-tuples of a capture.
const MAX_FLOWS: u32 = 1_000_000;

/// A surveyed capture.
pub(super) struct Replayed {
    spec: CaptureSpec,
    plan: Arc<ReplayPlan>,
    groups: Vec<Group>,
}

/// Packets that are reported as one flow.
pub(super) struct Group {
    pub(super) name: String,
    pub(super) class: String,
    pub(super) key: FlowKey,
    pub(super) dscp: Dscp,
}

impl Replayed {
    /// What every kind of traffic has.
    pub(super) fn common(&self) -> FlowSpec {
        let s = &self.spec;
        FlowSpec {
            count: self.groups.len() as u32,
            class: s.class.clone(),
            start: s.start,
            start_spread: s.start_spread,
            stop: s.stop,
            ..FlowSpec::between(s.name.clone(), s.from.clone(), s.to.clone())
        }
    }

    /// The flows that are reported, at least one.
    pub(super) fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// How long after the start the last packet is sent; none if the capture repeats.
    pub(super) fn ends(&self) -> Option<Dur> {
        let last = self.plan.clock.last(&self.plan.survey);
        (!self.plan.looped).then(|| Dur::from_ps(last))
    }

    pub(super) fn plan(&self) -> Arc<ReplayPlan> {
        Arc::clone(&self.plan)
    }
}

/// Surveys the capture that entry `index` of the traffic names; none after an error.
pub(super) fn read(
    ctx: &mut Ctx<'_>,
    spec: &CaptureSpec,
    root: &Node,
    index: usize,
) -> Option<Replayed> {
    let base = steps!["traffic", index, "capture"];
    let at = |key: &str| [&base[..], &steps![key][..]].concat();
    let classes = classes(ctx, spec, root, &base);
    let mut fine = classes.is_some();
    let mut refuse = |ctx: &mut Ctx<'_>, key: &str, message: String, hint: &str| {
        let d = Diagnostic::error(codes::OUT_OF_RANGE, message).hint(hint);
        ctx.error(d, root, &at(key));
        fine = false;
    };
    if !spec.has_valid_speed() {
        let message = format!("a speed of {}", spec.speed);
        refuse(
            ctx,
            "speed",
            message,
            "write a factor such as 2, from 1e-6 to 1e6",
        );
    }
    if !(1..=MAX_FLOWS).contains(&spec.max_flows) {
        let message = format!("a limit of {} flows", spec.max_flows);
        refuse(
            ctx,
            "max_flows",
            message,
            "write a whole number from 1 to 1000000",
        );
    }
    if spec.take.is_some_and(|t| t.is_zero()) {
        let hint = "write a time above 0 s, or leave `take` out for all of the capture";
        refuse(ctx, "take", "none of the capture is taken".to_owned(), hint);
    }
    let file = ctx.capture(&spec.file, root, &at("file"))?;
    if !fine {
        return None;
    }
    let selection = Selection {
        only: spec.only.as_ref().map(Into::into).unwrap_or_default(),
        except: spec.except.as_ref().map(Into::into),
        skip: spec.skip.as_ps(),
        take: spec.take.map(|t| t.as_ps()),
    };
    let grouping = Grouping::from(spec.group);
    let asked = format!("{selection:?} {grouping:?} {}", spec.max_flows);
    let found = ctx.survey(&spec.file, &asked, |ctx| {
        look(ctx, spec, &file, &selection, root, &base)
    })?;
    if found.packets == 0 {
        nothing(ctx, spec, &file, &found, root, &base);
        return None;
    }
    if found.begin.is_none() {
        let message = format!("the packets of `{}` have no times", file.name);
        let d = Diagnostic::error(codes::NO_PACKETS, message)
            .hint("simple packet blocks have none; capture with tcpdump or dumpcap");
        ctx.error(d, root, &at("file"));
        return None;
    }
    for remark in found.remarks() {
        let d = Diagnostic::warning(codes::W_CAPTURE, format!("`{}`: {remark}", file.name));
        ctx.warn(d, root, &at("file"));
    }
    let groups = groups(spec, &found, classes.unwrap_or_default());
    Some(Replayed {
        plan: Arc::new(ReplayPlan {
            file: file.name,
            opener: file.opener,
            clock: Clock::new(&selection, &found, spec.speed, spec.looped),
            selection: Arc::new(selection),
            survey: found,
            dscp: spec.dscp,
            looped: spec.looped,
        }),
        groups,
        spec: spec.clone(),
    })
}

/// `classes` with its keys read; none after an error.
fn classes(
    ctx: &mut Ctx<'_>,
    spec: &CaptureSpec,
    root: &Node,
    base: &[Step],
) -> Option<Vec<(Dscp, String)>> {
    let mut all = Vec::new();
    let mut fine = true;
    for (key, class) in &spec.classes {
        let path = [base, &steps!["classes", key][..]].concat();
        let d = match key.parse() {
            Ok(dscp) if !class.trim().is_empty() => {
                all.push((dscp, class.clone()));
                continue;
            }
            Ok(_) => Diagnostic::error(codes::BAD_NAME, "the name of this class is empty")
                .hint("write a name such as `voice`"),
            Err(problem) => Diagnostic::error(codes::BAD_VALUE, problem)
                .hint("write DSCPs on the left: {ef: voice, af41: video}"),
        };
        ctx.error(d, root, &path);
        fine = false;
    }
    fine.then_some(all)
}

/// Reads the file; none after an error.
fn look(
    ctx: &mut Ctx<'_>,
    spec: &CaptureSpec,
    file: &Capture,
    selection: &Selection,
    root: &Node,
    base: &[Step],
) -> Option<Survey> {
    let at = |key: &str| [base, &steps![key][..]].concat();
    let name = &file.name;
    let stream = match file.opener.open() {
        Ok(stream) => stream,
        Err(e) => {
            let message = format!("cannot read `{name}`: {}", crate::ctx::reason(&e));
            let d = Diagnostic::error(codes::UNREADABLE, message);
            ctx.error(d, root, &at("file"));
            return None;
        }
    };
    match survey(stream, selection, spec.group.into(), spec.max_flows) {
        Ok(found) => Some(found),
        Err(SurveyError::Capture(e)) => {
            let d = Diagnostic::error(codes::BAD_CAPTURE, format!("`{name}`: {e}")).hint(e.hint);
            ctx.error(d, root, &at("file"));
            None
        }
        Err(SurveyError::TooManyFlows {
            limit,
            records,
            at: ps,
        }) => {
            let message = format!(
                "`{name}` has more than {limit} flows within its first {records} records ({:.3} s)",
                ps as f64 / 1e12
            );
            let d = Diagnostic::error(codes::TOO_MANY_FLOWS, message).hint(format!(
                "raise `max_flows` (at most {MAX_FLOWS}; each takes some hundred bytes), or take less with `only`, `except` and `take`"
            ));
            ctx.error(d, root, &at("max_flows"));
            None
        }
    }
}

/// Reports that no packet was selected, and which packets the file has.
fn nothing(
    ctx: &mut Ctx<'_>,
    spec: &CaptureSpec,
    file: &Capture,
    found: &Survey,
    root: &Node,
    base: &[Step],
) {
    let (name, counts) = (&file.name, &found.counts);
    let seen: Vec<String> = found
        .examples
        .iter()
        .map(|p| format!("{} {}", p.key, p.dscp))
        .collect();
    let length = found.length as f64 / 1e12;
    let (key, message, hint) = if counts.ip > 0 && !seen.is_empty() {
        let (key, what) = match (&spec.only, &spec.except) {
            (None, None) => ("take", "is within `skip` and `take`"),
            (None, _) => ("except", "is left by `except`"),
            _ => ("only", "fits"),
        };
        let message = format!("none of the {} IP packets of `{name}` {what}", counts.ip);
        let seen = list(seen.iter().map(String::as_str));
        (
            key,
            message,
            format!("it has packets such as {seen}, and is {length:.3} s long"),
        )
    } else if counts.records > 0 {
        let kinds: Vec<_> = counts.others().map(|(k, n)| format!("{n} {k}")).collect();
        let message = format!("`{name}` has no IP packets there: {}", kinds.join(", "));
        ("file", message, format!("it is {length:.3} s long"))
    } else {
        let message = format!("`{name}` has no packets there");
        (
            "file",
            message,
            "capture again; `spillgate profile` tells what a file holds".to_owned(),
        )
    };
    let d = Diagnostic::error(codes::NO_PACKETS, message).hint(hint);
    ctx.error(d, root, &[base, &steps![key][..]].concat());
}

/// The flows that are reported, in the order of their numbers.
fn groups(spec: &CaptureSpec, found: &Survey, classes: Vec<(Dscp, String)>) -> Vec<Group> {
    let leaders = found.flows.leaders();
    let one = |e: &spillgate_capture::Entry| {
        let label = found.flows.label(e);
        let name = match found.flows.grouping() {
            Grouping::All => spec.name.clone(),
            Grouping::Dscp => format!("{}-{label}", spec.name),
            Grouping::Flow => format!("{} {label}", spec.name),
        };
        // The class follows from the DSCP in the capture, even where the scenario sets another
        // DSCP.
        let by_dscp = match found.flows.grouping() {
            Grouping::All => None,
            _ => classes.iter().find(|(d, _)| *d == e.dscp).map(|(_, c)| c),
        };
        let class = by_dscp.or(spec.class.as_ref()).cloned();
        let class = class.unwrap_or_else(|| match found.flows.grouping() {
            Grouping::Dscp => name.clone(),
            _ => spec.name.clone(),
        });
        Group {
            name,
            class,
            key: e.key.flow_key(),
            dscp: spec.dscp.unwrap_or(e.dscp),
        }
    };
    leaders.iter().map(one).collect()
}
