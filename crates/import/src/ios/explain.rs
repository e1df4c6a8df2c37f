//! From a configuration and what it became to what was understood.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use spillgate_core::{Dscp, Limit, Rate};
use spillgate_queueing::aqm::{AqmSpec, WredBy, WredDefaults};
use spillgate_queueing::spec::{ClassSpec, DisciplineSpec, MatchSpec, PoliceSpec, PolicingWhen};
use spillgate_queueing::{Division, Enclosing};
use spillgate_scenario::{Diagnostic, Diagnostics, Imported};

use super::args::nearest;
use super::ast::{ClassMap, Config, Test};
use super::condition_text::{condition, police};
use super::fault::code;
use super::interface_words::canonical;
use super::lower::rates::{Source, reference};
use super::platform::{Profile, Reference};
use super::understood::{
    Bucket, ClassTree, FieldLimit, InterfaceTree, PlatformFacts, PolicyTree, QueueFacts,
    Understood, WredThresholds, WrittenLine,
};

/// Policies nested deeper than the queueing engine takes are not shown.
const MAX_DEPTH: usize = 8;
/// Classes of an interface's policy with all that is nested in it; the queueing engine takes no more.
const MAX_CLASSES: usize = 4096;

/// Builds the explanation, of `interface` only if one is given.
pub(super) fn explain(
    file: &str,
    config: &Config<'_>,
    profile: &Profile,
    imported: Imported,
    interface: Option<&str>,
) -> Result<Understood, Diagnostics> {
    let chosen = match interface {
        None => None,
        Some(asked) => Some(choose(file, config, asked)?),
    };
    let shown = imported.interfaces.iter().filter(|(name, i)| {
        chosen.as_ref().map_or_else(
            || i.output_policy.is_some() || i.input_policy.is_some(),
            |c| c == *name,
        )
    });
    let mut trees = Trees {
        config,
        imported: &imported,
        left: chosen.as_ref().map(|_| MAX_CLASSES + 1),
    };
    let interfaces = shown
        .map(|(name, i)| {
            let index = config.interface_index.get(name);
            let written = index.and_then(|i| config.interfaces.get(*i));
            let known = written.and_then(|w| reference(config, w, profile));
            let rate = known.map(|(r, _)| r);
            let policy = i.output_policy.as_ref();
            let input = i.input_policy.as_ref();
            InterfaceTree {
                name: name.clone(),
                line: i.line,
                rate: rate.map(Rate::bps),
                rate_from: from(known.map(|(_, s)| s), profile),
                counted_bytes: i.counted.map(|c| c.per_packet),
                policy: policy.map(|(p, _)| trees.policy(p, rate.map(Enclosing::from), 0)),
                input: input.map(|(p, _)| trees.policy(p, rate.map(Enclosing::from), 0)),
            }
        })
        .collect();
    if trees.left == Some(0) {
        let message =
            format!("the policy has more than {MAX_CLASSES} classes with those nested in it");
        let d = Diagnostic::error(code::TOO_LARGE, message);
        return Err(d.in_file(file).hint("nest fewer policies").into());
    }
    let attached = imported.interfaces.values();
    let mut used: BTreeSet<&str> = attached
        .flat_map(|i| [i.output_policy.as_ref(), i.input_policy.as_ref()])
        .flatten()
        .map(|(p, _)| p.as_str())
        .collect();
    for spec in imported.policies.values() {
        if let DisciplineSpec::ClassBased(spec) = spec {
            used.extend(spec.classes.iter().filter_map(|c| c.policy.as_deref()));
        }
    }
    let unattached = imported.places.keys();
    let unattached: Vec<&String> = unattached
        .filter(|name| !used.contains(name.as_str()))
        .collect();
    // Of a large configuration the first are shown with their classes, the rest by name.
    trees.left = Some(MAX_CLASSES + 1);
    let unattached = unattached
        .into_iter()
        .map(|name| {
            if trees.left == Some(0) {
                trees.left = None;
            }
            trees.policy(name, None, 0)
        })
        .collect();
    Ok(Understood {
        file: file.to_owned(),
        platform: PlatformFacts {
            name: profile.platform.name(),
            summary: profile.summary,
            sources: profile.sources,
        },
        interfaces,
        unattached,
        unmodelled: imported.unmodelled,
        warnings: imported.warnings,
    })
}

/// The full name of the interface that the user means.
fn choose(file: &str, config: &Config<'_>, asked: &str) -> Result<String, Diagnostics> {
    let name = canonical(asked);
    if config.interface_index.contains_key(&name) {
        return Ok(name);
    }
    let all = || config.interface_index.keys().map(String::as_str);
    let with_policy = all().filter(|n| {
        let index = config.interface_index.get(*n);
        let interface = index.and_then(|i| config.interfaces.get(*i));
        interface.is_some_and(|i| i.output_policy.is_some() || i.input_policy.is_some())
    });
    let listed: Vec<&str> = with_policy.take(20).collect();
    let hint = match nearest(&name, all()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if listed.is_empty() => "no interface has a service-policy".to_owned(),
        None => format!("interfaces with a service-policy: {}", listed.join(", ")),
    };
    let d = Diagnostic::error(
        code::NO_INTERFACE,
        format!("there is no interface `{name}`"),
    );
    Err(d.in_file(file).found(asked).hint(hint).into())
}

fn from(source: Option<Source>, profile: &Profile) -> &'static str {
    match source {
        Some(Source::Bandwidth) => "its bandwidth command",
        Some(Source::Parent) => "the bandwidth command of the main interface",
        Some(Source::Speed) => "the speed of its port",
        Some(Source::Type) if profile.reference == Reference::Line => "the line rate of its type",
        Some(Source::Type) => "no bandwidth command; the default of its type",
        None => "no bandwidth command, and its type has no default",
    }
}

/// Policies as trees.
struct Trees<'t, 'a> {
    config: &'t Config<'a>,
    imported: &'t Imported,
    /// Classes that may still be shown; none: policies are shown without.
    left: Option<usize>,
}

impl Trees<'_, '_> {
    fn policy(&mut self, name: &str, around: Option<Enclosing>, depth: usize) -> PolicyTree {
        let mut tree = PolicyTree {
            name: name.to_owned(),
            line: self.imported.places.get(name).map_or(0, |p| p.spot.line),
            kind: "",
            rate: around.map(|a| a.rate.bps()),
            classes: Vec::new(),
            queue: None,
        };
        let Some(spec) = self.imported.policies.get(name) else {
            return tree;
        };
        tree.kind = spec.kind();
        match spec {
            DisciplineSpec::ClassBased(spec) if self.left.is_some() => {
                // What is relative stays unknown without a rate.
                let Some(nominal) =
                    around.or_else(|| Rate::from_bps(1_000_000_000).map(Enclosing::from))
                else {
                    return tree;
                };
                let added = ClassSpec {
                    name: "class-default".to_owned(),
                    ..ClassSpec::default()
                };
                let classes = spec.classes.iter().chain([&added]);
                for (class, division) in classes.zip(spec.divide(nominal)) {
                    self.left = self.left.map(|n| n.saturating_sub(1));
                    if self.left == Some(0) {
                        break;
                    }
                    tree.classes
                        .push(self.class(class, &division, around.is_some(), depth));
                }
            }
            DisciplineSpec::Fifo(fifo) => {
                tree.queue = Some(QueueFacts {
                    limit: fifo.limit.to_string(),
                    dscp_limits: Vec::new(),
                    precedence_limits: Vec::new(),
                    fair_queue: None,
                    thresholds: thresholds(fifo.aqm.as_ref(), fifo.limit, around.map(|a| a.rate)),
                    aqm: fifo.aqm.clone(),
                });
            }
            DisciplineSpec::FlowWfq(fair) => {
                tree.queue = Some(QueueFacts {
                    limit: String::new(),
                    dscp_limits: Vec::new(),
                    precedence_limits: Vec::new(),
                    fair_queue: Some(fair.clone()),
                    aqm: None,
                    thresholds: Vec::new(),
                });
            }
            _ => {}
        }
        tree
    }

    fn class(
        &mut self,
        class: &ClassSpec,
        division: &Division,
        known: bool,
        depth: usize,
    ) -> ClassTree {
        // `/` of a class's name is `_` in the specification.
        let written = self
            .config
            .class_maps
            .iter()
            .find(|(n, _)| n.replace('/', "_") == class.name)
            .map(|(_, m)| m);
        let bucket = |asked: String, b: Option<(Rate, u64)>, does: String| {
            let b = b.filter(|_| known);
            Bucket {
                rate: b.map(|(r, _)| r.bps()),
                asked,
                burst: b.map(|(_, n)| n),
                peak_rate: None,
                excess_burst: None,
                does,
            }
        };
        let inner = class.policy.as_ref().filter(|_| depth < MAX_DEPTH);
        let queue = (division.queued && class.policy.is_none())
            .then(|| queue(class, division.guaranteed.filter(|_| known)));
        let unnamed = class.name == "class-default";
        ClassTree {
            name: class.name.clone(),
            criteria: written
                .filter(|_| !unnamed)
                .map(criteria)
                .unwrap_or_default(),
            any: written.is_some_and(|m| m.any),
            condition: match &class.matching {
                _ if unnamed => "everything else".to_owned(),
                Some(m) => condition(m),
                None => condition(&MatchSpec::default()),
            },
            queued: division.queued,
            asked: asked(class),
            priority: class.priority.as_ref().map(|p| p.level),
            guaranteed: division.guaranteed.filter(|_| known).map(Rate::bps),
            priority_policer: class.priority.as_ref().and_then(|p| {
                let when = match p.police {
                    PolicingWhen::Conditional => "drops what exceeds it while anything waits",
                    PolicingWhen::Always => "drops what exceeds it",
                };
                Some(bucket(
                    p.rate?.to_string(),
                    division.priority,
                    when.to_owned(),
                ))
            }),
            drops: class.police.as_ref().is_some_and(PoliceSpec::drops_all),
            police: class.police.as_ref().filter(|p| !p.drops_all()).map(|p| {
                let second = division.police_excess.filter(|_| known);
                let two_rates = p.peak_rate.is_some();
                Bucket {
                    peak_rate: second.filter(|_| two_rates).map(|(r, _)| r.bps()),
                    excess_burst: second.map(|(_, n)| n),
                    ..bucket(p.rate.to_string(), division.police, police(p))
                }
            }),
            shape: class
                .shape
                .as_ref()
                .map(|s| bucket(s.rate.to_string(), division.shape, String::new())),
            set_dscp: class.set_dscp.map(|d| d.to_string()),
            set_exp: class.set_exp,
            set_exp_imposition: class.set_exp_imposition,
            set_cos: class.set_cos,
            set_qos_group: class.set_qos_group,
            queue,
            policy: inner.map(|name| {
                let around = known.then_some(division.inner);
                let around = around.or_else(|| absolute(class).map(Enclosing::from));
                Box::new(self.policy(name, around, depth + 1))
            }),
        }
    }
}

/// A shaped rate that does not depend on what is around it.
fn absolute(class: &ClassSpec) -> Option<Rate> {
    match class.shape.as_ref()?.rate {
        spillgate_core::RateOrPercent::Rate(r) => Some(r),
        spillgate_core::RateOrPercent::Percent(_) => None,
    }
}

fn criteria(map: &ClassMap<'_>) -> Vec<WrittenLine> {
    let lines = map.criteria.iter();
    lines
        .map(|c| WrittenLine {
            line: c.origin.line,
            text: c.origin.text.to_owned(),
            modelled: c.value.test != Test::Unmodelled,
        })
        .collect()
}

fn asked(class: &ClassSpec) -> String {
    if let Some(p) = &class.priority {
        return match p.rate {
            Some(r) => format!("priority {r}"),
            None => "priority".to_owned(),
        };
    }
    if let Some(b) = class.bandwidth {
        return format!("bandwidth {b}");
    }
    if let Some(p) = class.bandwidth_remaining {
        return format!("{p} of the rest");
    }
    match class.bandwidth_remaining_ratio {
        Some(1) => "1 part of the rest".to_owned(),
        Some(n) => format!("{n} parts of the rest"),
        None => String::new(),
    }
}

fn queue(class: &ClassSpec, guaranteed: Option<Rate>) -> QueueFacts {
    let own = class.priority.as_ref().map(|p| p.limit);
    let limit = own.or(class.queue_limit).or(match class.fair_queue {
        Some(_) => None,
        None => Some(Limit::Packets(64)),
    });
    QueueFacts {
        limit: limit.map_or_else(String::new, |l| l.to_string()),
        dscp_limits: field_limits(&class.queue_limit_dscp),
        precedence_limits: field_limits(&class.queue_limit_precedence),
        fair_queue: class.fair_queue.clone(),
        aqm: class.aqm.clone(),
        thresholds: thresholds(class.aqm.as_ref(), class.waiting_limit(), guaranteed),
    }
}

/// The thresholds of WRED in force in a queue of this limit, alike ones together; `rate` is what the
/// queue is guaranteed, if that is known.
fn thresholds(aqm: Option<&AqmSpec>, limit: Limit, rate: Option<Rate>) -> Vec<WredThresholds> {
    let Some(AqmSpec::Wred(wred)) = aqm else {
        return Vec::new();
    };
    // A share of a limit in time needs the rate.
    let known = rate.is_some() || !matches!(limit, Limit::Time(_));
    let Some(rate) = rate.or(Rate::from_bps(1_000_000_000)) else {
        return Vec::new();
    };
    let mut all: Vec<WredThresholds> = Vec::new();
    let step = match wred.by {
        WredBy::Dscp => 1,
        WredBy::Precedence => 8,
    };
    for dscp in (0..64).step_by(step).filter_map(Dscp::new) {
        let (value, written) = match wred.by {
            WredBy::Dscp => (dscp.to_string(), wred.dscp.contains_key(&dscp)),
            WredBy::Precedence => {
                let precedence = dscp.precedence();
                (
                    precedence.to_string(),
                    wred.precedence.contains_key(&precedence),
                )
            }
        };
        let profile = wred.profile(dscp, limit, rate);
        let known = known || written || wred.defaults == WredDefaults::Ios;
        let one = WredThresholds {
            values: Vec::new(),
            min: Some(profile.min).filter(|_| known),
            max: Some(profile.max).filter(|_| known),
            unit: wred.unit.symbol(),
            denominator: profile.denominator,
            written,
        };
        let alike = |t: &&mut WredThresholds| {
            (t.min, t.max, t.denominator, t.written)
                == (one.min, one.max, one.denominator, one.written)
        };
        match all.iter_mut().find(alike) {
            Some(t) => t.values.push(value),
            None => all.push(WredThresholds {
                values: vec![value],
                ..one
            }),
        }
    }
    all
}

fn field_limits<V: Display>(limits: &BTreeMap<V, Limit>) -> Vec<FieldLimit> {
    let shown = limits.iter().map(|(value, limit)| FieldLimit {
        value: value.to_string(),
        limit: limit.to_string(),
    });
    shown.collect()
}
