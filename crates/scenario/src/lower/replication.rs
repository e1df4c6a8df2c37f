//! When the points of a study have enough runs.

use spillgate_core::suggest::{did_you_mean, list};

use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::lower::sla::unmeasured;
use crate::node::{Node, Step, steps};
use crate::plan::{ReplicationPlan, UntilPlan, VariantPlan};
use crate::schema::Scenario;

fn at(more: &[Step]) -> Vec<Step> {
    [&steps!["study", "replication"], more].concat()
}

/// The rule by which points have enough runs; none without one, or after an error.
pub(crate) fn replication(
    ctx: &mut Ctx<'_>,
    scenario: &Scenario,
    root: &Node,
    points: &[VariantPlan],
) -> Option<ReplicationPlan> {
    let spec = scenario.study.as_ref()?.replication.as_ref()?;
    let mut refuse = |message: String, hint: String, path: &[Step]| {
        let d = Diagnostic::error(codes::BAD_STUDY, message).hint(hint);
        ctx.error(d, root, &at(path));
    };
    if spec.until.is_empty() {
        let hint = "write a class, a metric and how well it is to be known: `until: [{class: voice, metric: owd_p99, within: 2 %}]`";
        refuse(
            "nothing says when runs are enough".to_owned(),
            hint.to_owned(),
            &steps!["until"],
        );
    }
    if spec.first < 2 {
        let hint = "write at least 2: one run has no interval".to_owned();
        refuse(
            format!("{} runs before the first look", spec.first),
            hint,
            &steps!["first"],
        );
    }
    if spec.first > scenario.runs.count {
        let message = format!(
            "{} runs before the first look, of {} at most",
            spec.first, scenario.runs.count
        );
        let hint = "write fewer, or a larger `runs.count`: the most that a point gets";
        refuse(message, hint.to_owned(), &steps!["first"]);
    }
    if !(spec.confidence.0 > 0.0 && spec.confidence.0 < 1.0) {
        let hint = "write a percentage above 0 % and below 100 %, such as 95 %";
        refuse(
            format!("a confidence of {}", spec.confidence),
            hint.to_owned(),
            &steps!["confidence"],
        );
    }
    let mut until = Vec::new();
    for (i, one) in spec.until.iter().enumerate() {
        let metric = one.metric.metric();
        let has = |p: &&VariantPlan| p.world.classes.contains(&one.class);
        if let Some(point) = points.iter().find(|p| !has(p)) {
            let classes = || point.world.classes.iter().map(String::as_str);
            let near = did_you_mean(&one.class, classes());
            let d = Diagnostic::error(
                codes::UNKNOWN_CLASS,
                format!("no flow is of class `{}`{near}", one.class),
            )
            .hint(format!("classes: {}", list(classes())));
            ctx.error(d, root, &at(&steps!["until", i, "class"]));
            continue;
        }
        if let Some(d) = unmeasured(points, &one.class, None, metric) {
            ctx.error(d, root, &at(&steps!["until", i, "metric"]));
            continue;
        }
        if one.within.0 <= 0.0 {
            let d = Diagnostic::error(codes::BAD_STUDY, "a half-width of 0 %")
                .hint("write a percentage above 0 %, such as 2 %");
            ctx.error(d, root, &at(&steps!["until", i, "within"]));
            continue;
        }
        until.push(UntilPlan {
            class: one.class.clone(),
            metric,
            within: one.within.0,
        });
    }
    Some(ReplicationPlan {
        until,
        level: spec.confidence.0,
        first: spec.first,
    })
}
