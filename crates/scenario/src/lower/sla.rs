//! Requirements.

use std::collections::BTreeSet;

use spillgate_core::units::{UnitError, parse_dur, parse_percent, parse_rate};

use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, steps};
use crate::plan::{SlaPlan, VariantPlan};
use crate::schema::{Bound, Scenario, SlaMetric};
use crate::suggest::{did_you_mean, list};

/// The requirements with bounds in base units; those with an error are left out.
pub(crate) fn sla(
    ctx: &mut Ctx<'_>,
    scenario: &Scenario,
    root: &Node,
    plans: &[VariantPlan],
) -> Vec<SlaPlan> {
    let mut seen = BTreeSet::new();
    let mut out = Vec::with_capacity(scenario.sla.len());
    for (i, s) in scenario.sla.iter().enumerate() {
        for plan in plans {
            let classes = || plan.world.classes.iter().map(String::as_str);
            if !classes().any(|c| c == s.class) {
                let near = did_you_mean(&s.class, classes());
                let of = if plans.len() > 1 {
                    format!(" in variant `{}`", plan.name)
                } else {
                    String::new()
                };
                let d = Diagnostic::error(
                    codes::UNKNOWN_CLASS,
                    format!("no flow belongs to a class `{}`{of}{near}", s.class),
                )
                .hint(format!("classes of the traffic: {}", list(classes())));
                ctx.error(d, root, &steps!["sla", i, "class"]);
                break;
            }
        }
        if !seen.insert((&s.class, s.metric)) {
            let d = Diagnostic::error(
                codes::BAD_BOUND,
                format!("a second bound for the same metric of class `{}`", s.class),
            )
            .hint("write one bound for a class and metric");
            ctx.error(d, root, &steps!["sla", i, "metric"]);
        }
        if s.max.is_some() == s.min.is_some() {
            let which = if s.max.is_some() {
                "both `max` and `min`"
            } else {
                "neither `max` nor `min`"
            };
            let d = Diagnostic::error(
                codes::BAD_BOUND,
                format!("{which}: a requirement has one bound"),
            )
            .found(which)
            .hint("write `max` for delays, jitter and losses, `min` for a throughput");
            ctx.error(d, root, &steps!["sla", i]);
            continue;
        }
        let mut bound = |b: &Option<Bound>, key: &str| {
            let Bound(text) = b.as_ref()?;
            match in_base_unit(s.metric, text) {
                Ok(value) => Some(value),
                Err(e) => {
                    let d = Diagnostic::error(codes::BAD_BOUND, e.problem)
                        .found(e.found)
                        .hint(e.hint);
                    ctx.error(d, root, &steps!["sla", i, key]);
                    None
                }
            }
        };
        let (max, min) = (bound(&s.max, "max"), bound(&s.min, "min"));
        out.push(SlaPlan {
            class: s.class.clone(),
            metric: s.metric,
            max,
            min,
        });
    }
    out
}

/// Seconds for delays, a ratio for losses, bits per second for rates.
fn in_base_unit(metric: SlaMetric, text: &str) -> Result<f64, UnitError> {
    use SlaMetric::{
        Jitter, LossRatio, OwdMax, OwdMean, OwdP50, OwdP95, OwdP99, OwdP999, Pdv, Throughput,
    };
    match metric {
        OwdMean | OwdP50 | OwdP95 | OwdP99 | OwdP999 | OwdMax | Jitter | Pdv => {
            parse_dur(text).map(|d| d.as_secs_f64())
        }
        LossRatio => parse_percent(text),
        Throughput => parse_rate(text).map(|r| r.bps() as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_come_in_the_unit_of_their_metric() {
        assert_eq!(in_base_unit(SlaMetric::OwdP99, "20 ms"), Ok(0.02));
        assert_eq!(in_base_unit(SlaMetric::LossRatio, "50 %"), Ok(0.5));
        assert_eq!(in_base_unit(SlaMetric::Throughput, "1.5 Mb/s"), Ok(1.5e6));
        assert!(in_base_unit(SlaMetric::Jitter, "1 %").is_err());
        assert!(in_base_unit(SlaMetric::LossRatio, "0.1").is_err());
    }
}
