//! Policy-maps as class-based disciplines.

use std::collections::BTreeSet;

use spillgate_core::{Dscp, Limit};
use spillgate_queueing::Sizes;
use spillgate_queueing::aqm::{AqmSpec, WredBy, WredDefaults, WredSpec, WredUnit};
use spillgate_queueing::spec::{
    ClassBasedSpec, ClassSpec, DisciplineSpec, FairQueueSpec, MatchSpec, OneOrMany, PoliceAction,
    PoliceActions, PoliceSpec, PolicingWhen, PrioritySpec, ShapeSpec,
};
use spillgate_scenario::{Imported, Platform};

use super::super::ast::{At, Class, Config, Origin, Police, PolicyMap, Remaining, Wred};
use super::super::fault::{Fault, code};
use super::super::platform::PlatformProfile;
use super::super::report::Report;
use super::defaults::Defaults;
use super::matching::ClassMaps;
use super::places;

/// The class that every policy-map has.
const DEFAULT: &str = "class-default";

/// Lowers all policy-maps.
pub(super) fn lower<'a>(
    config: &Config<'a>,
    defaults: &Defaults<'_, 'a>,
    classes: &mut ClassMaps<'a>,
    report: &mut Report<'_>,
    imported: &mut Imported,
) {
    for (name, map) in &config.policy_maps {
        let mut lowering = Lowering {
            config,
            defaults,
            classes,
            report,
        };
        let spec = lowering.policy_map(name, map);
        imported
            .policies
            .insert((*name).to_owned(), DisciplineSpec::ClassBased(spec));
        imported
            .places
            .insert((*name).to_owned(), places::policy(map, config));
    }
    check_sizes(config, report, imported);
}

/// Reports policy-maps that are too large with all that is nested in them, before anything walks
/// them; of those the innermost.
fn check_sizes(config: &Config<'_>, report: &mut Report<'_>, imported: &Imported) {
    let mut sizes = Sizes::new(&imported.policies);
    let mut too_large = BTreeSet::new();
    for name in config.policy_maps.keys() {
        if sizes.check(name).is_err() {
            too_large.insert(*name);
        }
    }
    for name in &too_large {
        let map = &config.policy_maps[name];
        let nested = map.classes.iter().filter_map(|c| c.policy);
        if nested.clone().any(|p| too_large.contains(p.value)) {
            continue;
        }
        let fault = Fault::new(
            code::TOO_LARGE,
            1,
            format!("policy-map `{name}` has too many classes with those nested in it"),
        );
        let fault = fault.found(*name).hint("nest fewer policy-maps");
        report.error(map.origin.line, format!("policy-map.{name}"), fault);
    }
}

struct Lowering<'c, 'a, 'r, 'f> {
    config: &'c Config<'a>,
    defaults: &'c Defaults<'c, 'a>,
    classes: &'r mut ClassMaps<'a>,
    report: &'r mut Report<'f>,
}

impl<'c, 'a> Lowering<'c, 'a, '_, '_> {
    fn policy_map(&mut self, name: &str, map: &PolicyMap<'a>) -> ClassBasedSpec {
        let mut specs = Vec::with_capacity(map.classes.len());
        let mut default = None;
        for class in &map.classes {
            let path = format!("policy-map.{name}.class.{}", class.name);
            let spec = self.class(class, name, &path);
            if class.name == DEFAULT {
                default = Some(spec);
            } else {
                specs.push(spec);
            }
        }
        specs.extend(default);
        ClassBasedSpec {
            classes: specs,
            ..ClassBasedSpec::default()
        }
    }

    fn class(&mut self, class: &Class<'a>, policy: &str, path: &str) -> ClassSpec {
        let mut spec = ClassSpec {
            // Results show nested classes as `PARENT/CHILD`.
            name: class.name.replace('/', "_"),
            bandwidth: class.bandwidth.map(|b| b.value),
            set_dscp: class.set_dscp.map(|d| d.value),
            set_exp: class.set_exp.map(|e| e.value),
            set_exp_imposition: class.set_exp_imposition.map(|e| e.value),
            set_cos: class.set_cos.map(|c| c.value),
            set_qos_group: class.set_qos_group.map(|g| g.value),
            ..ClassSpec::default()
        };
        if spec.name != class.name {
            let message = format!(
                "class `{}` is called `{}` in results",
                class.name, spec.name
            );
            let fault = Fault::new(code::RENAMED, class.origin.column, message);
            let hint = "`/` separates nested classes there";
            self.report
                .warn(class.origin.line, path, fault.found(class.name).hint(hint));
        }
        if class.name != DEFAULT {
            spec.matching = self.condition(class.name, class.origin, path);
        }
        let remaining = class.remaining.filter(|r| {
            if class.bandwidth.is_some() {
                let reason = "the class keeps its guaranteed bandwidth; a share of the rest beside it is not modelled";
                self.report.unmodelled(r.origin, reason);
            }
            class.bandwidth.is_none()
        });
        match remaining.map(|r| r.value) {
            Some(Remaining::Percent(p)) => spec.bandwidth_remaining = Some(p),
            Some(Remaining::Ratio(r)) => spec.bandwidth_remaining_ratio = Some(r),
            None => {}
        }
        let limit = class.queue_limit.map(|l| l.value);
        match class.priority.map(|p| p.value) {
            // A queue-limit bounds the priority queue of the class.
            Some(p) => {
                let defaults = PrioritySpec::default();
                let profile = self.defaults.profile;
                let default = self.defaults.priority(policy, p.rate);
                let police = if profile.always_polices {
                    PolicingWhen::Always
                } else {
                    defaults.police
                };
                spec.priority = Some(PrioritySpec {
                    level: p.level,
                    rate: p.rate,
                    burst: p.burst,
                    police,
                    limit: limit.or(default).unwrap_or(defaults.limit),
                });
            }
            None => spec.queue_limit = limit,
        }
        let values = |at: &At<'_, Limit>| at.value;
        let by_dscp = class.dscp_limits.iter();
        spec.queue_limit_dscp = by_dscp.map(|(d, l)| (*d, values(l))).collect();
        let by_precedence = class.precedence_limits.iter();
        spec.queue_limit_precedence = by_precedence.map(|(p, l)| (*p, values(l))).collect();
        spec.shape = class.shape.map(|s| ShapeSpec {
            kind: None,
            rate: s.value.rate,
            burst: s.value.burst,
            // IOS XR has one burst.
            excess_burst: s.value.excess.filter(|_| {
                let xr = self.defaults.profile.platform == Platform::IosXr;
                s.value.burst.is_some() || !xr
            }),
        });
        spec.police = class.police.as_ref().map(|p| self.police(p, path));
        if class.drop.is_some() {
            if let Some(police) = &class.police {
                let reason = "the class drops every packet: its policer has nothing to do";
                self.report.unmodelled(police.origin, reason);
            }
            spec.police = Some(PoliceSpec::dropping_all());
        }
        spec.fair_queue = class.fair_queue.map(|f| {
            let defaults = FairQueueSpec::default();
            FairQueueSpec {
                queues: f.value.queues.unwrap_or(defaults.queues),
                threshold: f.value.threshold.unwrap_or(defaults.threshold),
                weights: self.defaults.profile.weights,
                ..defaults
            }
        });
        spec.aqm = wred(&class.wred, self.defaults.profile, self.report);
        spec.policy = class.policy.map(|p| p.value.to_owned());
        self.reconcile_nesting(class, &mut spec);
        // Classes without a queue of their own share that of class-default.
        let here = !self.defaults.at_arrival.contains(policy);
        let queued = spec.name == DEFAULT && here
            || spec.bandwidth.is_some()
            || spec.bandwidth_remaining.is_some()
            || spec.bandwidth_remaining_ratio.is_some()
            || spec.shape.is_some()
            || spec.queue_limit.is_some()
            || !spec.queue_limit_dscp.is_empty()
            || !spec.queue_limit_precedence.is_empty()
            || spec.aqm.is_some()
            || spec.fair_queue.is_some();
        if queued && spec.priority.is_none() && spec.policy.is_none() {
            let fair = class.fair_queue.map(|f| f.value).unwrap_or_default();
            self.defaults
                .queue(&mut spec, policy, fair.queues, fair.threshold);
        }
        let limit = spec.waiting_limit();
        if let Some(AqmSpec::Wred(w)) = spec.aqm.as_mut().filter(|_| class.wred.unit.is_none()) {
            // Shares of a limit are in its unit.
            let packets = matches!(limit, Limit::Packets(_));
            if w.defaults == WredDefaults::IosXe && !packets {
                w.unit = WredUnit::Bytes;
            }
        }
        spec
    }

    /// A policer; its colors are those of [`super::super::police`].
    fn police(&mut self, at: &At<'a, Police<'a>>, path: &str) -> PoliceSpec {
        let p = &at.value;
        let actions = |list: &[PoliceAction]| {
            let some = !list.is_empty();
            some.then(|| PoliceActions(OneOrMany(list.to_vec())))
        };
        let mut spec = PoliceSpec {
            burst: p.burst,
            peak_rate: p.peak,
            excess_burst: p.excess,
            violate: actions(&p.violate),
            ..PoliceSpec::new(p.rate)
        };
        if let Some(conform) = actions(&p.conform) {
            spec.conform = conform;
        }
        if let Some(exceed) = actions(&p.exceed) {
            spec.exceed = exceed;
        }
        if spec.excess_burst.is_some() && !spec.three_colors() {
            spec.excess_burst = None;
            let reason = "the excess burst has no effect without a violate-action";
            self.report.unmodelled(at.origin, reason);
        }
        spec.conform_color = p.conform_color.and_then(|name| self.color(&name, path));
        spec.exceed_color = p
            .exceed_color
            .filter(|_| spec.conform_color.is_some())
            .and_then(|name| self.color(&name, path));
        spec
    }

    /// The packets of a class-map that `conform-color` names.
    fn color(&mut self, name: &At<'a, &'a str>, path: &str) -> Option<MatchSpec> {
        self.condition(name.value, name.origin, path)
    }

    /// The packets of a class-map.
    fn condition(&mut self, name: &'a str, origin: Origin<'a>, path: &str) -> Option<MatchSpec> {
        let map = self.config.class_maps.get(name)?;
        self.classes.condition(name, map, origin, path, self.report)
    }

    /// A class with a service-policy has the queues of that policy, and no other.
    fn reconcile_nesting(&mut self, class: &Class<'a>, spec: &mut ClassSpec) {
        let (Some(policy), Some(_)) = (class.policy, &spec.policy) else {
            return;
        };
        if spec.priority.is_some() {
            let reason = "a priority class has one queue: policies inside it are not modelled";
            self.report.unmodelled(policy.origin, reason);
            spec.policy = None;
            return;
        }
        (spec.queue_limit, spec.aqm, spec.fair_queue) = (None, None, None);
        spec.queue_limit_dscp.clear();
        spec.queue_limit_precedence.clear();
        let thresholds = class.dscp_limits.values();
        let thresholds = thresholds.chain(class.precedence_limits.values());
        let own = [
            class.queue_limit.map(|l| l.origin),
            class.wred.origin,
            class.fair_queue.map(|f| f.origin),
        ];
        let own = own.into_iter().flatten();
        for origin in own.chain(thresholds.map(|l| l.origin)) {
            let reason = "the queues of the class are those of its service-policy";
            self.report.unmodelled(origin, reason);
        }
    }
}

/// WRED of a class or interface; none if it is off.
pub(super) fn wred(
    wred: &Wred<'_>,
    profile: &PlatformProfile,
    report: &mut Report<'_>,
) -> Option<AqmSpec> {
    wred.origin?;
    let by = wred.by.unwrap_or(if wred.dscp.is_empty() {
        WredBy::Precedence
    } else {
        WredBy::Dscp
    });
    let mut spec = WredSpec {
        by,
        unit: wred.unit.unwrap_or_default(),
        defaults: profile.wred,
        ecn: wred.ecn,
        ..WredSpec::default()
    };
    // 9 is the default of both platforms.
    spec.exponential_weighting_constant = wred.weight.filter(|n| *n != 9);
    if let Some(rest) = wred.rest {
        match by {
            WredBy::Dscp => spec.dscp = (0..64).filter_map(Dscp::new).map(|d| (d, rest)).collect(),
            WredBy::Precedence => spec.precedence = (0..8).map(|p| (p, rest)).collect(),
        }
    }
    let idle = |at: Origin<'_>, report: &mut Report<'_>| {
        let reason = "profiles of this class go by the other field: this one has no effect";
        report.unmodelled(at, reason);
    };
    for (dscp, profile) in &wred.dscp {
        match by {
            WredBy::Dscp => {
                spec.dscp.insert(*dscp, profile.value);
            }
            WredBy::Precedence => idle(profile.origin, report),
        }
    }
    for (precedence, profile) in &wred.precedence {
        match by {
            WredBy::Precedence => {
                spec.precedence.insert(*precedence, profile.value);
            }
            WredBy::Dscp => idle(profile.origin, report),
        }
    }
    Some(AqmSpec::Wred(spec))
}
