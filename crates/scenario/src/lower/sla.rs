//! Requirements.

use std::collections::BTreeSet;

use spillgate_core::units::{UnitError, parse_dur, parse_percent, parse_rate, split_number};

use crate::codes;
use crate::ctx::Ctx;
use crate::error::Diagnostic;
use crate::node::{Node, steps};
use crate::plan::{SlaPlan, VariantPlan, WorldPlan};
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
            if s.metric.is_of_tcp() && !has_tcp(&plan.world, &s.class) {
                let d = Diagnostic::error(
                    codes::BAD_BOUND,
                    format!("class `{}` has no TCP traffic", s.class),
                )
                .hint("bound `throughput`, delays or losses, or add a flow with `tcp` or `sessions` to the class");
                ctx.error(d, root, &steps!["sla", i, "metric"]);
                break;
            }
            if s.metric.is_of_voice() && !has_voice(&plan.world, &s.class) {
                let d = Diagnostic::error(
                    codes::BAD_BOUND,
                    format!("class `{}` has no flow that carries speech", s.class),
                )
                .hint("say so under `voice`: a codec for the class, such as {codec: g711}");
                ctx.error(d, root, &steps!["sla", i, "metric"]);
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
            .hint("write `max` for delays, jitter and losses, `min` for a throughput or goodput");
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

/// Whether some flow of the class is a connection or a workload of them.
fn has_tcp(world: &WorldPlan, class: &str) -> bool {
    world
        .flows
        .iter()
        .any(|f| f.traffic.is_closed_loop() && world.classes[usize::from(f.class)] == class)
}

/// Whether some flow of the class is heard.
fn has_voice(world: &WorldPlan, class: &str) -> bool {
    world
        .flows
        .iter()
        .any(|f| f.voice.is_some() && world.classes[usize::from(f.class)] == class)
}

/// Seconds for times, a ratio for losses, bits per second for rates, a number of transfers.
fn in_base_unit(metric: SlaMetric, text: &str) -> Result<f64, UnitError> {
    use SlaMetric::{
        FctP50, FctP95, FctP99, Goodput, Jitter, LateRatio, LossRatio, Mos, MosMin, MouthToEar,
        OwdMax, OwdMean, OwdP50, OwdP95, OwdP99, OwdP999, Pdv, PdvP99999, RFactor, Throughput,
        TransfersFailed, TransfersRefused,
    };
    match metric {
        OwdMean | OwdP50 | OwdP95 | OwdP99 | OwdP999 | OwdMax | Jitter | Pdv | PdvP99999
        | MouthToEar | FctP50 | FctP95 | FctP99 => parse_dur(text).map(|d| d.as_secs_f64()),
        LossRatio | LateRatio => parse_percent(text),
        RFactor => parse_score(text, 0.0, 100.0),
        Mos | MosMin => parse_score(text, 1.0, 4.5),
        Throughput | Goodput => parse_rate(text).map(|r| r.bps() as f64),
        TransfersFailed | TransfersRefused => parse_transfers(text),
    }
}

/// A plain number within a scale.
fn parse_score(text: &str, low: f64, high: f64) -> Result<f64, UnitError> {
    let problem = match split_number(text) {
        Err(problem) => problem,
        Ok((n, "")) if (low..=high).contains(&n) => return Ok(n),
        Ok((n, "")) => format!("{n} is outside the scale"),
        Ok((_, unit)) => format!("`{unit}` is not a unit that fits here"),
    };
    Err(UnitError {
        found: text.to_owned(),
        problem,
        hint: format!("write a number from {low} to {high}, without a unit"),
    })
}

fn parse_transfers(text: &str) -> Result<f64, UnitError> {
    let problem = match split_number(text) {
        Err(problem) => problem,
        Ok((_, "")) => "the unit is missing".to_owned(),
        Ok((n, "transfers" | "transfer")) if n >= 0.0 && n.fract() == 0.0 => return Ok(n),
        Ok((_, "transfers" | "transfer")) => "it is no whole number from 0".to_owned(),
        Ok((_, unit)) => format!("`{unit}` is not a unit that fits here"),
    };
    Err(UnitError {
        found: text.to_owned(),
        problem,
        hint: "write a whole number of transfers such as 0 transfers".to_owned(),
    })
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
        assert_eq!(in_base_unit(SlaMetric::FctP95, "2 s"), Ok(2.0));
        assert_eq!(in_base_unit(SlaMetric::Goodput, "5 Mb/s"), Ok(5e6));
        let transfers = |text| in_base_unit(SlaMetric::TransfersFailed, text);
        assert_eq!(transfers("0 transfers"), Ok(0.0));
        assert_eq!(transfers("1 transfer"), Ok(1.0));
        assert_eq!(in_base_unit(SlaMetric::Mos, "3.6"), Ok(3.6));
        assert_eq!(in_base_unit(SlaMetric::RFactor, "70"), Ok(70.0));
        for wrong in ["0.9", "4.6", "3.6 MOS", "good"] {
            assert!(in_base_unit(SlaMetric::MosMin, wrong).is_err(), "{wrong}");
        }
        for wrong in ["0", "1.5 transfers", "-1 transfers", "1 %", "x"] {
            assert!(transfers(wrong).is_err(), "{wrong}");
        }
    }
}
